// From CUDA C++ text to PTX, and NVRTC's messages to the author's lines.
#include "compiler/nvrtc/cuda_function.h"

#include <cstdlib>
#include <map>
#include <mutex>
#include <regex>
#include <sstream>

#include "compiler/nvrtc/library.h"
#include "tilewright/dsl/builder.h"

namespace tilewright::nvrtc {
namespace {

/// What stands for the place of the wrapper in NVRTC's messages.
constexpr const char* kWrapper = "<call>";

std::string list(const std::vector<std::string>& types, const char* prefix = nullptr) {
  std::string text;
  for (std::size_t i = 0; i < types.size(); ++i)
    text += (i ? ", " : "") + (prefix == nullptr ? types[i] : (prefix == std::string("type") ? types[i] + " " : "") + "a" + std::to_string(i));
  return text;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out + "\"";
}

/// The author's text at its lines, then a function of C linkage that calls the author's: its pointer has exactly the type wanted.
std::string wrapped(const CudaFunction& f) {
  const std::string pointer = f.result + " (*const function)(" + list(f.arguments) + ")";
  return "#line " + std::to_string(f.line) + " " + quoted(f.file) + "\n" + f.text + "\n#line 1 \"" + kWrapper + "\"\n" + "extern \"C\" __device__ " + f.result + " " +
         f.symbol + "(" + list(f.arguments, "type") + ") { " + pointer + " = " + f.function + "; return function(" + list(f.arguments, "") + "); }\n";
}

/// NVRTC's "file(line): error: ...", with the lines that show the place, as "file:line: error: ...". Errors of the wrapper say that
/// the function is not what the call wants; they count only where the text itself has none.
std::string messages(const CudaFunction& f, const std::string& log) {
  static const std::regex head(R"((.*)\((\d+)\): (?:catastrophic )?error(?: #[0-9-]+D?)?: (.*))");
  const std::string here = f.file + ":" + std::to_string(f.line) + ": error: CUDA function '" + f.function + "': ";
  std::string in_text, in_wrapper, line;
  std::string* shown = nullptr;
  std::istringstream lines(log);
  while (std::getline(lines, line)) {
    std::smatch match;
    if (std::regex_match(line, match, head)) {
      const bool wrapper = match[1] == kWrapper;
      std::string& out = wrapper ? in_wrapper : in_text;
      out += out.empty() ? "" : "\n";
      if (wrapper) out += here + match[3].str() + "; expected " + f.result + " " + f.function + "(" + list(f.arguments) + ")";
      else out += match[1].str() + ":" + match[2].str() + ": error: " + match[3].str();
      shown = wrapper ? nullptr : &in_text;
    } else if (line.empty() || line.find("): ") != std::string::npos || line.find("detected in the compilation") != std::string::npos) {
      shown = nullptr;
    } else if (shown != nullptr) {
      *shown += "\n  " + line;
    }
  }
  if (!in_text.empty()) return in_text;
  return in_wrapper.empty() ? here + "NVRTC says " + log : in_wrapper;
}

std::string compile_now(const CudaFunction& f) {
  std::vector<std::string> options{"-arch=compute_90a", "-std=c++17", "-rdc=true", "-default-device"};
  if (const char* home = std::getenv("CUDA_HOME"); home != nullptr && *home != 0) options.push_back("-I" + std::string(home) + "/include");
  const Result result = run(wrapped(f), "text", options);
  if (!result.good) throw CompileError(messages(f, result.log));
  try {
    return reachable(result.ptx, f.symbol);
  } catch (const Error& error) {
    throw CompileError(f.file + ":" + std::to_string(f.line) + ": error: CUDA function '" + f.function + "': " + error.what());
  }
}

}  // namespace

std::string compile(const CudaFunction& f) {
  static std::mutex mutex;
  static std::map<std::string, std::string> known;
  const std::string key = wrapped(f);
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(key); found != known.end()) return found->second;
  }
  std::string ptx = compile_now(f);
  const std::lock_guard lock(mutex);
  return known.try_emplace(key, std::move(ptx)).first->second;
}

}  // namespace tilewright::nvrtc
