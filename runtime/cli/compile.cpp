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
  options.record_passes = o.every_pass || o.timing;
  if (options.ptxas.empty()) options.ptxas = assemble::require_tool(assemble::Tool::ptxas).path;
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<ops::BuiltPointer> kernels = ops::build(sources, options);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  auto paths = write_stages(kernels, o.out);
  if (o.every_pass)
    for (auto& path : write_passes(kernels, o.out)) paths.push_back(std::move(path));
  out << resources_table(kernels);
  if (o.timing) out << timing_table(kernels);
  out << fmt::format("compiled and assembled in {:.2f} s; wrote\n", seconds);
  for (const auto& path : paths) out << "  " << path.string() << "\n";
  return 0;
}

}  // namespace tilewright::cli
