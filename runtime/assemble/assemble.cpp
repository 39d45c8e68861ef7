// PTX -> cubin by ptxas.
#include "runtime/assemble/assemble.h"

#include <optional>
#include <regex>
#include <sstream>

#include "runtime/assemble/author_location.h"
#include "runtime/assemble/process.h"
#include "runtime/assemble/tools.h"
#include "tilewright/error.h"

namespace tilewright::assemble {
namespace {

/// ptxas' errors, each with the author's line and the line of PTX it is about.
std::string refusal(const std::string& assembler, const std::string& log, std::string_view ptx) {
  static const std::regex error(R"(line (\d+); (?:error|fatal)\s*: (.*))");
  std::string text = assembler + " refused the PTX:";
  bool found = false;
  std::istringstream stream(log);
  for (std::string line; std::getline(stream, line);) {
    std::smatch match;
    if (!std::regex_search(line, match, error)) continue;
    found = true;
    const auto number = static_cast<unsigned>(std::stoul(match[1]));
    text += "\n  ";
    if (const auto location = author_location(ptx, number)) text += location->text() + ": ";
    text += match[2].str() + " (PTX line " + match[1].str() + ": " + std::string(line_of(ptx, number)) + ")";
  }
  if (!found) text += "\n" + log;
  while (text.ends_with('\n')) text.pop_back();
  if (log.find("Unsupported .version") != std::string::npos)
    text += "\n  PTX 8.7 needs ptxas 12.8 or newer: set TILEWRIGHT_PTXAS to one, or run scripts/setup.sh";
  return text;
}

}  // namespace

std::vector<std::string> ptxas_flags(const AssembleOptions& options) {
  std::vector<std::string> flags{"-v", "-O3", "-arch=" + options.target};
  if (options.line_info) flags.push_back("-lineinfo");
  return flags;
}

Assembled assemble(std::string_view ptx, const AssembleOptions& options) {
  Assembled result;
  std::filesystem::path ptxas = options.ptxas;
  if (ptxas.empty()) {
    const std::optional<FoundTool> found = find_tool(Tool::ptxas);
    if (!found) {
      result.assembler = "driver";
      return result;
    }
    ptxas = found->path;
  }
  ptxas = std::filesystem::absolute(ptxas);
  result.assembler = "ptxas " + version_of(ptxas);

  const TemporaryFolder folder;
  write_file(folder.path() / "kernel.ptx", ptx);
  std::vector<std::string> command = ptxas_flags(options);
  command.insert(command.begin(), ptxas.string());
  command.insert(command.end(), {"kernel.ptx", "-o", "kernel.cubin"});
  const ProcessResult run = run_process(command, {folder.path(), options.timeout});
  result.log = run.error + run.out;
  if (run.timed_out)
    throw Error(result.assembler + " did not finish within " + std::to_string(options.timeout.count()) + " ms");
  if (run.exit_code != 0)
    throw Error(refusal(result.assembler, result.log.empty() ? run.describe() : result.log, ptx));
  const std::string cubin = read_file(folder.path() / "kernel.cubin");
  result.cubin.assign(cubin.begin(), cubin.end());
  result.kernels = parse_ptxas_report(result.log, result.assembler);
  check_contract(result.kernels, options.contract, ptx);
  return result;
}

}  // namespace tilewright::assemble
