// Look-up of external programs.
#include "runtime/assemble/tools.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <regex>

#include "runtime/assemble/process.h"
#include "tilewright/error.h"

namespace tilewright::assemble {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool is_executable(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

struct Names {
  const char* file;
  const char* variable;
  std::vector<const char*> in_folder;  // below the tools folder, preferred first
  const char* wheel;
};

const Names& names_of(Tool tool) {
  static const Names ptxas{"ptxas", "TILEWRIGHT_PTXAS", {"cuda-12.8/bin/ptxas", "cuda-13.0/bin/ptxas"},
                           "nvidia-cuda-nvcc-cu12==12.8.93"};
  static const Names nvdisasm{"nvdisasm", "TILEWRIGHT_NVDISASM", {"nvdisasm/bin/nvdisasm"},
                              "nvidia-cuda-nvdisasm==13.2.78"};
  return tool == Tool::ptxas ? ptxas : nvdisasm;
}

struct KnownVersions {
  std::mutex mutex;
  std::map<ToolFile, std::string> versions;
};

KnownVersions& known_versions() {
  static KnownVersions instance;
  return instance;
}

}  // namespace

fs::path tools_folder() {
  const std::string named = environment("TILEWRIGHT_TOOLS");
  return named.empty() ? fs::path(TILEWRIGHT_TOOLS_DIR) : fs::path(named);
}

std::optional<FoundTool> find_tool(Tool tool) {
  const Names& names = names_of(tool);
  if (const std::string named = environment(names.variable); !named.empty()) {
    if (!is_executable(named))
      throw Error(std::string(names.variable) + " names '" + named + "', which is not an executable file: expected the path of " +
                  names.file);
    return FoundTool{fs::absolute(named), names.variable};
  }
  for (const char* below : names.in_folder)
    if (fs::path path = tools_folder() / below; is_executable(path)) return FoundTool{fs::absolute(path), "tools folder"};
  if (const std::string home = environment("CUDA_HOME"); !home.empty())
    if (fs::path path = fs::path(home) / "bin" / names.file; is_executable(path))
      return FoundTool{fs::absolute(path), "CUDA_HOME"};
  const std::string search = environment("PATH");
  for (std::size_t begin = 0; begin < search.size();) {
    const std::size_t end = std::min(search.find(':', begin), search.size());
    const fs::path folder = search.substr(begin, end - begin);
    if (!folder.empty() && is_executable(folder / names.file))
      return FoundTool{fs::absolute(folder / names.file), "PATH"};
    begin = end + 1;
  }
  return std::nullopt;
}

FoundTool require_tool(Tool tool) {
  if (std::optional<FoundTool> found = find_tool(tool)) return *found;
  const Names& names = names_of(tool);
  const std::string home = environment("CUDA_HOME");
  throw Error("no " + std::string(names.file) + ": looked at " + names.variable + " (not set), the tools folder " +
              tools_folder().string() + ", CUDA_HOME (" + (home.empty() ? "not set" : home) +
              ") and PATH; run scripts/setup.sh, or install the wheel " + names.wheel + " and set " + names.variable);
}

std::vector<FoundTool> contract_assemblers() {
  std::vector<FoundTool> found;
  for (const char* below : names_of(Tool::ptxas).in_folder)
    if (fs::path path = tools_folder() / below; is_executable(path))
      found.push_back({fs::absolute(path), "tools folder"});
  return found;
}

ToolFile file_of(const fs::path& tool) {
  struct stat status {};
  if (stat(tool.c_str(), &status) != 0) throw Error("cannot find " + tool.string() + ": " + std::strerror(errno));
  return {tool, static_cast<std::uint64_t>(status.st_size), std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec};
}

std::optional<std::string> remembered_version(const ToolFile& file) {
  KnownVersions& known = known_versions();
  const std::lock_guard lock(known.mutex);
  const auto entry = known.versions.find(file);
  return entry == known.versions.end() ? std::nullopt : std::optional(entry->second);
}

void remember_version(const ToolFile& file, const std::string& version) {
  KnownVersions& known = known_versions();
  const std::lock_guard lock(known.mutex);
  known.versions[file] = version;
}

std::string version_of(const fs::path& tool) {
  const ToolFile file = file_of(tool);
  if (const auto known = remembered_version(file)) return *known;
  const ProcessResult result = run_process({tool.string(), "--version"}, {});
  static const std::regex pattern(R"(\bV(\d+\.\d+\.\d+))");
  std::smatch match;
  if (result.exit_code != 0 || !std::regex_search(result.out, match, pattern))
    throw Error(tool.string() + " --version says no version: " + result.describe() +
                "; expected a CUDA tool of version 12.8 or newer");
  remember_version(file, match[1]);
  return match[1];
}

}  // namespace tilewright::assemble
