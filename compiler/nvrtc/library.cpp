#include "compiler/nvrtc/library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include "tilewright/error.h"

namespace tilewright::nvrtc {
namespace {

namespace fs = std::filesystem;

// The part of nvrtc.h that is used here; the ABI has been the same since CUDA 8.
using Program = struct OpaqueProgram*;
struct Functions {
  int (*version)(int* major, int* minor);
  int (*create)(Program*, const char* text, const char* name, int headers, const char* const* header_texts, const char* const* header_names);
  int (*destroy)(Program*);
  int (*compile)(Program, int options, const char* const* option_texts);
  int (*ptx_size)(Program, std::size_t*);
  int (*ptx)(Program, char*);
  int (*log_size)(Program, std::size_t*);
  int (*log)(Program, char*);
  const char* (*error_text)(int);
};
constexpr int kGood = 0, kCompilation = 6;   // NVRTC_SUCCESS, NVRTC_ERROR_COMPILATION

struct Library {
  Functions call{};
  Found found;
};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

void* open(const std::string& path) { return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); }

/// The file that was loaded for the address of one of its functions.
std::string path_of(const void* function, const std::string& asked) {
  Dl_info info{};
  return dladdr(function, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : asked;
}

/// NVRTC loads its built-in functions by name when it first compiles, which finds the file beside it only where the loader looks there
/// (it does not below a sanitizer, nor for a wheel's files without a run path). Loaded before, it is found by its name.
void load_builtins(const fs::path& folder) {
  std::error_code none;
  for (const auto& file : fs::directory_iterator(folder, none))
    if (file.path().filename().string().starts_with("libnvrtc-builtins.so")) open(file.path());
}

std::vector<std::string> candidates() {
  std::vector<std::string> paths;
  const std::string named = environment("TILEWRIGHT_TOOLS");
  const fs::path tools = named.empty() ? fs::path(TILEWRIGHT_TOOLS_DIR) : fs::path(named);
  paths.push_back(tools / "cuda-12.8/lib/libnvrtc.so.12");
  if (const std::string home = environment("CUDA_HOME"); !home.empty())
    for (const char* file : {"libnvrtc.so.12", "libnvrtc.so.13"}) paths.push_back(fs::path(home) / "lib64" / file);
  for (const char* file : {"libnvrtc.so.12", "libnvrtc.so.13"}) paths.emplace_back(file);
  return paths;
}

Library load() {
  Library library;
  void* handle = nullptr;
  if (const std::string named = environment("TILEWRIGHT_NVRTC"); !named.empty()) {
    handle = open(named);
    if (handle == nullptr)
      throw Error("TILEWRIGHT_NVRTC names '" + named + "', which cannot be loaded (" + dlerror() + "); expected the path of libnvrtc.so.12 or newer");
    library.found.path = named;
  }
  std::string looked_at;
  for (const std::string& path : candidates()) {
    if (handle != nullptr) break;
    if ((handle = open(path)) != nullptr) library.found.path = path;
    looked_at += (looked_at.empty() ? "" : ", ") + path;
  }
  if (handle == nullptr)
    throw Error("a CUDA function needs NVRTC, which is not there: looked at TILEWRIGHT_NVRTC (not set), " + looked_at +
                "; run scripts/setup.sh, or install the wheel nvidia-cuda-nvrtc-cu12==12.8.93 and set TILEWRIGHT_NVRTC to its libnvrtc.so.12");
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    if (function == nullptr) throw Error(library.found.path + " is no NVRTC: it has no function " + name);
  };
  find(library.call.version, "nvrtcVersion");
  find(library.call.create, "nvrtcCreateProgram");
  find(library.call.destroy, "nvrtcDestroyProgram");
  find(library.call.compile, "nvrtcCompileProgram");
  find(library.call.ptx_size, "nvrtcGetPTXSize");
  find(library.call.ptx, "nvrtcGetPTX");
  find(library.call.log_size, "nvrtcGetProgramLogSize");
  find(library.call.log, "nvrtcGetProgramLog");
  find(library.call.error_text, "nvrtcGetErrorString");
  library.found.path = path_of(reinterpret_cast<const void*>(library.call.version), library.found.path);
  load_builtins(fs::path(library.found.path).parent_path());
  int major = 0, minor = 0;
  library.call.version(&major, &minor);
  library.found.version = std::to_string(major) + "." + std::to_string(minor);
  return library;
}

/// Loaded once; tried anew after a failure, which the user may have mended.
const Library& library() {
  static const Library instance = load();
  return instance;
}

}  // namespace

Found require() { return library().found; }

Result run(const std::string& text, const std::string& name, const std::vector<std::string>& options) {
  const Library& nvrtc = library();
  const auto check = [&](int status, const char* what) {
    if (status != kGood) throw Error("NVRTC " + nvrtc.found.version + " (" + nvrtc.found.path + "): " + what + ": " + nvrtc.call.error_text(status));
  };
  struct Owner {
    const Functions& call;
    Program program = nullptr;
    ~Owner() {
      if (program != nullptr) call.destroy(&program);
    }
  } owner{nvrtc.call};
  check(nvrtc.call.create(&owner.program, text.c_str(), name.c_str(), 0, nullptr, nullptr), "nvrtcCreateProgram");
  std::vector<const char*> option_texts;
  for (const std::string& option : options) option_texts.push_back(option.c_str());
  const int status = nvrtc.call.compile(owner.program, static_cast<int>(option_texts.size()), option_texts.data());
  if (status != kCompilation) check(status, "nvrtcCompileProgram");
  const auto read = [&](auto size_of, auto text_of) {
    std::size_t size = 0;
    check(size_of(owner.program, &size), "reading a result");
    std::string result(size, 0);
    check(text_of(owner.program, result.data()), "reading a result");
    while (!result.empty() && result.back() == 0) result.pop_back();
    return result;
  };
  Result result;
  result.good = status == kGood;
  result.log = read(nvrtc.call.log_size, nvrtc.call.log);
  if (result.good) result.ptx = read(nvrtc.call.ptx_size, nvrtc.call.ptx);
  return result;
}

}  // namespace tilewright::nvrtc
