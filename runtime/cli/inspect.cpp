// tilewright inspect
#include <fstream>
#include <ostream>

#include "runtime/assemble/tools.h"
#include "runtime/cli/plan.h"
#include "runtime/cli/registry.h"
#include "runtime/cli/stages.h"
#include "runtime/cli/watched.h"

namespace tilewright::cli {
namespace {

nlohmann::json sidecar_of(const ops::Built& built) { return nlohmann::json::parse(built.stages.sidecar); }

std::string stage_text(const ops::Built& built, const std::string& stage) {
  if (stage == "plan") return plan_text(sidecar_of(built));
  if (stage == "tile") return built.stages.tile_ir;
  if (stage == "hopper") return built.stages.hopper_ir;
  if (stage == "llvm") return built.stages.llvm_ir;
  if (stage == "ptx") return built.stages.ptx;
  if (stage == "sidecar") return built.stages.sidecar + "\n";
  return assemble::disassemble(built.assembled.cubin, /*lines=*/true);
}

void check_options(const Options& o, const std::string& stage) {
  if (o.json && stage != "resources" && stage != "passes" && stage != "conflicts") throw UsageError("inspect: --json goes with --stage resources, passes and conflicts");
  if ((stage == "layout") != !o.tensor.empty()) throw UsageError("inspect: --stage layout and --tensor NAME go together");
  if (stage != "layout" && !o.svg.empty()) throw UsageError("inspect: --svg goes with --stage layout");
}

/// Prints the layout, from the first kernel that has something of the name.
void draw(const Options& o, const std::vector<ops::BuiltPointer>& kernels, std::ostream& out) {
  std::string names;
  for (const auto& built : kernels) {
    const nlohmann::json sidecar = sidecar_of(*built);
    if (const auto picture = layout_picture(sidecar, o.tensor)) {
      out << picture->text;
      if (o.svg.empty()) return;
      std::ofstream file(o.svg);
      file << picture->svg;
      file.close();
      if (!file) throw Error("cannot write " + o.svg);
      return;
    }
    names += (names.empty() ? "" : "; ") + built->stages.name + " has ";
    const std::vector<std::string> all = drawable(sidecar);
    for (std::size_t i = 0; i < all.size(); ++i) names += (i ? ", " : "") + all[i];
  }
  throw UsageError("inspect: no tile and no matrix fragment '" + o.tensor + "': " + names);
}

}  // namespace

int inspect(const Options& o, std::ostream& out) {
  const std::string stage = o.stage.empty() && o.all.empty() ? "plan" : o.stage;
  check_options(o, stage);
  if (stage == "conflicts") {
    auto kernels = counted(o);
    if (!o.only.empty()) std::erase_if(kernels, [&](const auto& k) { return k.kernel != o.only; });
    if (kernels.empty()) throw UsageError("inspect: " + o.kernel + " ran no kernel '" + o.only + "'");
    out << (o.json ? counts_json(kernels).dump(2) + "\n" : conflict_table(kernels));
    return 0;
  }
  ops::BuildOptions options = build_options_of(o);
  // What the disk keeps of a kernel need not be made again.
  options.keep_stages = !o.all.empty() || stage == "tile" || stage == "hopper" || stage == "llvm";
  options.record_passes = !o.all.empty() || stage == "passes";
  options.enforce_contract = false;  // a kernel that breaks its contract is what one wants to look at
  options.assemble = !o.all.empty() || stage == "sass" || stage == "resources";
  if (options.assemble && options.ptxas.empty()) options.ptxas = assemble::require_tool(assemble::Tool::ptxas).path;

  std::vector<ops::BuiltPointer> kernels = ops::build(find(o.kernel).sources(o), options);
  std::string names;
  for (const auto& built : kernels) names += (names.empty() ? "" : ", ") + built->stages.name;
  if (!o.only.empty()) std::erase_if(kernels, [&](const auto& built) { return built->stages.name != o.only; });
  if (kernels.empty()) throw UsageError("inspect: " + o.kernel + " has no kernel '" + o.only + "'; expected one of " + names);

  if (!o.all.empty()) {
    for (const auto& path : write_stages(kernels, o.all)) out << path.string() << "\n";
    for (const auto& path : write_passes(kernels, o.all)) out << path.string() << "\n";
  } else if (stage == "layout") {
    draw(o, kernels, out);
  } else if (stage == "resources") {
    out << (o.json ? resources_json(kernels).dump(2) + "\n" : resources_table(kernels));
  } else if (stage == "passes") {
    out << (o.json ? timing_json(kernels).dump(2) + "\n" : timing_table(kernels));
  } else {
    for (const auto& built : kernels) {
      if (kernels.size() > 1 && stage != "plan") out << "// ---- " << built->stages.name << "\n";
      out << stage_text(*built, stage);
    }
  }
  return 0;
}

}  // namespace tilewright::cli
