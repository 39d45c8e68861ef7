// Where the external programs are: ptxas makes a cubin of PTX, nvdisasm makes text of a cubin.
#pragma once
#include <compare>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tilewright::assemble {

enum class Tool { ptxas, nvdisasm };

struct FoundTool {
  std::filesystem::path path;
  std::string origin;  // who named it: "TILEWRIGHT_PTXAS", "tools folder", "CUDA_HOME" or "PATH"
};

/// The folder that holds cuda-12.8/bin/ptxas, cuda-13.0/bin/ptxas and nvdisasm/bin/nvdisasm: the environment variable
/// TILEWRIGHT_TOOLS where set, else the one chosen when Tilewright was configured (CMake TILEWRIGHT_TOOLS_DIR).
std::filesystem::path tools_folder();

/// Looks in TILEWRIGHT_PTXAS (TILEWRIGHT_NVDISASM), the tools folder (12.8 before 13.0), CUDA_HOME/bin and PATH, in
/// this order. Throws Error when the environment variable names a file that is not an executable.
std::optional<FoundTool> find_tool(Tool);

/// find_tool, or an Error that lists the places looked at and how to get the tool.
FoundTool require_tool(Tool);

/// Every ptxas of the tools folder, oldest first: resource contracts must hold with each of them.
std::vector<FoundTool> contract_assemblers();

/// What tells a program file from another without reading it.
struct ToolFile {
  std::filesystem::path path;
  std::uint64_t bytes = 0;
  std::int64_t changed = 0;  // nanoseconds since 1970
  auto operator<=>(const ToolFile&) const = default;
};
/// Throws Error when there is no such file.
ToolFile file_of(const std::filesystem::path& tool);

/// "12.8.93": what `<tool> --version` says of itself. Remembered for the life of the process.
/// Throws Error when the program does not run.
std::string version_of(const std::filesystem::path& tool);

/// Spares version_of() the start of the program: somebody asked this file before.
void remember_version(const ToolFile&, const std::string& version);
/// The remembered version of a file.
std::optional<std::string> remembered_version(const ToolFile&);

}  // namespace tilewright::assemble
