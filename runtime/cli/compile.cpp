// tilewright compile
#include <fmt/format.h>

#include <chrono>
#include <ostream>

#include "runtime/assemble/tools.h"
#include "runtime/cli/registry.h"
#include "runtime/cli/stages.h"

namespace tilewright::cli {

int compile(const Options& o, std::ostream& out) {
  const std::vector<ops::Source> sources = find(o.kernel).sources(o);
  ops::BuildOptions options = build_options_of(o);
  options.keep_stages = true;
  if (options.ptxas.empty()) options.ptxas = assemble::require_tool(assemble::Tool::ptxas).path;
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<ops::BuiltPointer> kernels = ops::build(sources, options);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const auto paths = write_stages(kernels, o.out);
  out << resources_table(kernels) << fmt::format("compiled and assembled in {:.2f} s; wrote\n", seconds);
  for (const auto& path : paths) out << "  " << path.string() << "\n";
  return 0;
}

}  // namespace tilewright::cli
