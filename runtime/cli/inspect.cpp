// tilewright inspect
#include <ostream>

#include "runtime/assemble/tools.h"
#include "runtime/cli/registry.h"
#include "runtime/cli/stages.h"

namespace tilewright::cli {
namespace {

std::string stage_text(const ops::Built& built, const std::string& stage) {
  if (stage == "tile") return built.stages.tile_ir;
  if (stage == "hopper") return built.stages.hopper_ir;
  if (stage == "llvm") return built.stages.llvm_ir;
  if (stage == "ptx") return built.stages.ptx;
  if (stage == "sidecar") return built.stages.sidecar + "\n";
  return assemble::disassemble(built.assembled.cubin, /*lines=*/true);
}

}  // namespace

int inspect(const Options& o, std::ostream& out) {
  if (o.stage.empty() && o.all.empty()) throw UsageError("inspect: give --stage or --all");
  if (o.json && o.stage != "resources") throw UsageError("inspect: --json goes with --stage resources");
  ops::BuildOptions options = build_options_of(o);
  // What the disk keeps of a kernel need not be made again.
  options.keep_stages = o.stage.empty() || o.stage == "tile" || o.stage == "hopper" || o.stage == "llvm";
  options.enforce_contract = false;  // a kernel that breaks its contract is what one wants to look at
  options.assemble = o.stage.empty() || o.stage == "sass" || o.stage == "resources";
  if (options.assemble && options.ptxas.empty()) options.ptxas = assemble::require_tool(assemble::Tool::ptxas).path;

  std::vector<ops::BuiltPointer> kernels = ops::build(find(o.kernel).sources(o), options);
  std::string names;
  for (const auto& built : kernels) names += (names.empty() ? "" : ", ") + built->stages.name;
  if (!o.only.empty()) std::erase_if(kernels, [&](const auto& built) { return built->stages.name != o.only; });
  if (kernels.empty()) throw UsageError("inspect: " + o.kernel + " has no kernel '" + o.only + "'; expected one of " + names);

  if (!o.all.empty()) {
    for (const auto& path : write_stages(kernels, o.all)) out << path.string() << "\n";
    return 0;
  }
  if (o.stage == "resources") {
    out << (o.json ? resources_json(kernels).dump(2) + "\n" : resources_table(kernels));
    return 0;
  }
  for (const auto& built : kernels) {
    if (kernels.size() > 1) out << "// ---- " << built->stages.name << "\n";
    out << stage_text(*built, o.stage);
  }
  return 0;
}

}  // namespace tilewright::cli
