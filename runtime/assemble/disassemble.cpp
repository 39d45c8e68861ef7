// cubin -> text by nvdisasm.
#include "runtime/assemble/assemble.h"
#include "runtime/assemble/process.h"
#include "runtime/assemble/tools.h"
#include "tilewright/error.h"

namespace tilewright::assemble {

std::string disassemble(const std::vector<std::uint8_t>& cubin, bool lines) {
  const FoundTool tool = require_tool(Tool::nvdisasm);
  const TemporaryFolder folder;
  write_file(folder.path() / "kernel.cubin", {reinterpret_cast<const char*>(cubin.data()), cubin.size()});
  std::vector<std::string> command{tool.path.string(), "-c"};
  if (lines) command.push_back("-g");
  command.push_back("kernel.cubin");
  ProcessResult run = run_process(command, {folder.path(), std::chrono::minutes(1)});
  if (run.timed_out || run.exit_code != 0)
    throw Error("nvdisasm (" + tool.path.string() + ") refused a cubin of " + std::to_string(cubin.size()) +
                " bytes: " + run.describe());
  return std::move(run.out);
}

}  // namespace tilewright::assemble
