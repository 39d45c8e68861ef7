#include "runtime/cli/registry.h"

#include "examples/copy.h"
#include "examples/gemm_gelu.h"
#include "examples/linear_attention.h"
#include "examples/softmax.h"
#include "runtime/cli/cases.h"
#include "runtime/ops/gdn_forward.h"
#include "runtime/ops/gemm.h"

namespace tilewright::cli {
namespace {

std::vector<ops::Source> gdn_forward_sources(const Options& o) {
  const gdn::HeadCounts heads = heads_of(o);
  ops::GdnForwardKernels c;
  c.segments = cp_of(o) > 1 ? 1 : 0;
  c.dtype = ops::dtype_of(gdn::parse_dtype(o.dtype));
  c.dk = static_cast<std::int16_t>(o.dk), c.dv = static_cast<std::int16_t>(o.dv);
  c.pack = ops::gdn_prologue_pack(heads.hv / heads.hk);
  c.state_v_first = state_order_of(o) == gdn::StateOrder::v_first;
  std::vector<ops::Source> sources{ops::gdn_prologue_source(c)};
  for (const gdn::Form form : {gdn::Form::full, gdn::Form::split}) {
    if (form == gdn::Form::split && !gdn::can_split(o.dv)) continue;
    c.form = form;
    if (form_of(o).value_or(form) == form) sources.push_back(ops::gdn_forward_source(c));
  }
  return sources;
}

/// A kernel without configuration.
auto only(const char* key, std::function<tilewright::Program()> make) {
  return [source = ops::Source{key, std::move(make)}](const Options&) { return std::vector<ops::Source>{source}; };
}

auto rung(ops::GemmRung which) {
  return [which](const Options&) { return std::vector<ops::Source>{ops::gemm_source(which)}; };
}

}  // namespace

const std::vector<Entry>& registry() {
  static const std::vector<Entry> entries{
      {"gdn-forward", "Gated Delta Net, forward: prologue and chain kernel",
       "dtype; widths of heads (64, 128); heads of a CTA of the prologue (1 to 4); halves of V or not; order and dtypes of states; checkpoints, with prefixes or not; l2norm", gdn_forward_sources, nullptr},
      {"gemm", "C = A B^T, bf16: the fast rung", "nothing", rung(ops::GemmRung::fast), gemm_case},
      {"gemm-two-roles", "C = A B^T, bf16: a producer and a consumer", "nothing", rung(ops::GemmRung::two_roles), gemm_case},
      {"gemm-one-role", "C = A B^T, bf16: one role", "nothing", rung(ops::GemmRung::one_role), gemm_case},
      {"gemm-gelu", "C = gelu(A B^T), bf16: the elementwise step in CUDA C++", "nothing", only("gemm_gelu", [] { return examples::gemm_gelu<bf16>({}); }), gemm_gelu_case},
      {"copy", "y = x by TMA: the smallest kernel with two roles", "nothing", only("copy", [] { return examples::copy({}); }), copy_case},
      {"softmax", "y = softmax of the rows of x", "nothing", only("softmax", [] { return examples::softmax<bf16>({}); }), softmax_case},
      {"linear-attention", "causal linear attention in chunks", "nothing", only("linear_attention", [] { return examples::linear_attention<bf16>({}); }),
       linear_attention_case},
  };
  return entries;
}

const Entry& find(const std::string& name) {
  std::string names;
  for (const Entry& entry : registry()) {
    if (entry.name == name) return entry;
    names += (names.empty() ? "" : ", ") + entry.name;
  }
  throw UsageError("no kernel '" + name + "'; expected one of " + names);
}

}  // namespace tilewright::cli
