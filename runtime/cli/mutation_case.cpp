#include "runtime/cli/mutation_case.h"

#include <fmt/format.h>

#include <map>
#include <memory>

namespace tilewright::cli {
namespace {

/// Sizes of the kernels that are not operators: many rounds, so that an arrival too few adds up to a phase too many; and a single one.
const std::map<std::string, std::vector<std::string>>& shapes() {
  static const std::map<std::string, std::vector<std::string>> all{
      {"gemm", {"128x256x448", "136x8x64", "128x8x1472"}},
      {"gemm-two-roles", {"64x128x448", "72x8x64", "64x8x896"}},
      {"gemm-one-role", {"64x128x192", "64x8x512"}},
      {"gemm-gelu", {"128x128x576", "136x8x64", "128x8x2496"}},
      {"copy", {"300"}},
      {"softmax", {"70x200"}},
      {"linear-attention", {"1x200", "1x1", "1x600"}},
  };
  return all;
}

std::string fault_of(const std::vector<OutputResult>& results) {
  for (const OutputResult& r : results)
    if (!r.passed)
      return fmt::format("wrong result: {}: rms {:.1e}, {} elements unwritten, guards {}", r.name, r.rms, r.unwritten, r.guards_intact ? "intact" : "overwritten");
  return "";
}

}  // namespace

std::vector<MutationCase> mutation_cases(const Entry& entry) {
  if (!entry.host_case) return gdn_mutation_cases();
  const auto known = shapes().find(entry.name);
  if (known == shapes().end()) throw Error("mutate: no sizes are given for " + entry.name);
  std::vector<MutationCase> cases;
  for (const std::string& shape : known->second) {
    Options o;
    o.shapes = {shape};
    const auto host = std::make_shared<const HostCase>(entry.host_case(o));
    const ops::Source source = entry.sources(o)[0];
    cases.push_back({entry.name + " " + shape, {source}, [host, source](runtime::Device& device, const ops::BuildOptions& options) {
                       return fault_of(run_case(device, source, options, *host, /*twice=*/false));
                     }});
  }
  return cases;
}

}  // namespace tilewright::cli
