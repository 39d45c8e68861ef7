// Calls of gdn-forward for mutate.
#include <fmt/ranges.h>

#include <cmath>
#include <memory>

#include "kernels/gdn/reference.h"
#include "runtime/cli/guarded_buffer.h"
#include "runtime/cli/mutation_case.h"
#include "runtime/ops/gdn_forward.h"

namespace tilewright::cli {
namespace {

constexpr std::size_t kWidth = 128, kState = kWidth * kWidth;

/// What a call asks for.
struct Call {
  std::vector<std::int64_t> lens{};
  int hk = 1, hv = 1;
  gdn::Form form = gdn::Form::full;
  bool states = true;              ///< an initial and a final state
  std::vector<std::int32_t> read{}, write{};  ///< rows of the states; empty: row n of sequence n
  std::int64_t checkpoint_every = 0;
  bool l2norm = false;
};

/// The first `length` tokens of sequence n as a call of its own.
gdn::Inputs beginning(const gdn::Inputs& in, std::size_t n, std::int64_t length) {
  gdn::Inputs part = in;
  const auto first = std::ptrdiff_t(in.offsets()[n]), rows = std::ptrdiff_t(length), hk = std::ptrdiff_t(in.hk), hv = std::ptrdiff_t(in.hv);
  const auto cut = [&](auto& values, std::ptrdiff_t width) { values = {values.begin() + first * width, values.begin() + (first + rows) * width}; };
  part.lens = {length};
  cut(part.q, hk * in.dk), cut(part.k, hk * in.dk), cut(part.v, hv * in.dv), cut(part.g, hv), cut(part.beta, hv);
  const std::ptrdiff_t state = hv * in.dk * in.dv, at = std::ptrdiff_t(n) * state;
  if (!in.initial_state.empty()) part.initial_state = {in.initial_state.begin() + at, in.initial_state.begin() + at + state};
  return part;
}

/// Inputs and what must come out, computed once; runs may share it.
class Problem {
 public:
  explicit Problem(Call call) : call_(std::move(call)) {
    gdn::InputShape shape;
    shape.lens = call_.lens, shape.hk = call_.hk, shape.hv = call_.hv, shape.initial_state = call_.states;
    in_ = gdn::generate(shape, gdn::Kind::ordinary, 1);
    pool_ = in_.initial_state;
    const std::size_t row = static_cast<std::size_t>(in_.hv) * kState;
    for (std::size_t n = 0; n < call_.read.size(); ++n)
      for (std::size_t i = 0; i < row; ++i)
        in_.initial_state[n * row + i] = call_.read[n] < 0 ? 0.0f : pool_[static_cast<std::size_t>(call_.read[n]) * row + i];
    expected_ = gdn::chunked(in_);
    for (std::size_t n = 0; n < in_.lens.size() && call_.checkpoint_every != 0; ++n) {
      starts_.push_back(static_cast<std::int32_t>(checkpoints_.size() / row));
      for (std::int64_t length = call_.checkpoint_every; length <= in_.lens[n]; length += call_.checkpoint_every) {
        const gdn::Outputs part = gdn::chunked(beginning(in_, n, length));
        checkpoints_.insert(checkpoints_.end(), part.final_state.begin(), part.final_state.end());
      }
    }
  }

  std::string run(runtime::Device& device, const ops::BuildOptions& build) const;

 private:
  template <class Value>
  GuardedBuffer uploaded(runtime::Device& device, const std::vector<Value>& values) const {
    GuardedBuffer buffer(device, values.size() * sizeof(Value));
    buffer.upload(values.data());
    return buffer;
  }
  std::string fault_of(const std::vector<std::uint16_t>& o, const std::vector<float>& finals, const std::vector<float>& checkpoints) const;

  Call call_;
  gdn::Inputs in_;
  std::vector<float> pool_;                ///< rows of initial states
  std::vector<std::int32_t> starts_;
  gdn::Outputs expected_;
  std::vector<double> checkpoints_;        ///< expected
};

std::string Problem::run(runtime::Device& device, const ops::BuildOptions& build) const {
  const ops::Dtype half = ops::dtype_of(in_.dtype), f32 = ops::Dtype::f32, i32 = ops::Dtype::i32;
  std::vector<std::int32_t> offsets;
  for (const std::int64_t offset : in_.offsets()) offsets.push_back(static_cast<std::int32_t>(offset));
  const GuardedBuffer q = uploaded(device, in_.q), k = uploaded(device, in_.k), v = uploaded(device, in_.v), g = uploaded(device, in_.g), beta = uploaded(device, in_.beta);
  const GuardedBuffer cu = uploaded(device, offsets), pool = uploaded(device, pool_), read = uploaded(device, call_.read), write = uploaded(device, call_.write),
                      starts = uploaded(device, starts_);
  GuardedBuffer o(device, in_.v.size() * 2), finals(device, pool_.size() * 4), checkpoints(device, checkpoints_.size() * 4);

  ops::GdnForwardArguments a;
  a.q = {q.address(), {}, half}, a.k = {k.address(), {}, half}, a.v = {v.address(), {}, half}, a.o = {o.address(), {}, half};
  a.g = {g.address(), {}, f32}, a.beta = {beta.address(), {}, f32}, a.cu_seqlens = {cu.address(), {}, i32};
  a.hk = in_.hk, a.hv = in_.hv, a.scale = in_.scale, a.N = in_.sequences(), a.T = in_.tokens(), a.l2norm = call_.l2norm ? 1 : 0;
  if (call_.states) a.initial_state = {pool.address(), {}, f32}, a.final_state = {finals.address(), {}, f32};
  if (!call_.read.empty()) a.initial_rows = a.final_rows = a.N, a.read_slots = {read.address(), {}, i32}, a.write_slots = {write.address(), {}, i32};
  if (call_.checkpoint_every != 0) {
    a.checkpoints = {checkpoints.address(), {}, f32}, a.checkpoint_starts = {starts.address(), {}, i32};
    a.checkpoint_every = call_.checkpoint_every;
    a.checkpoint_rows = static_cast<std::int64_t>(checkpoints_.size() / (static_cast<std::size_t>(in_.hv) * kState));
  }
  a.workspace_bytes = ops::GdnForward::workspace_bytes(a);
  GuardedBuffer workspace(device, a.workspace_bytes);
  workspace.poison(), o.poison(), finals.poison(), checkpoints.poison();
  a.workspace = workspace.address();
  ops::GdnForward(device, {call_.form, build}).run(a);
  device.synchronize();
  if (!o.intact() || !finals.intact() || !checkpoints.intact() || !workspace.intact()) return "wrong result: bytes beside an output are overwritten";
  return fault_of(o.download<std::uint16_t>(), finals.download<float>(), checkpoints.download<float>());
}

std::string Problem::fault_of(const std::vector<std::uint16_t>& o, const std::vector<float>& finals, const std::vector<float>& checkpoints) const {
  constexpr double kBar = 1.0e-2;  // roundings alone come close to 4e-3; what is missing or stale is far beyond
  const auto wrong = [&](const char* name, double rms) { return fmt::format("wrong result: {}: rms {:.1e} (bar {:.1e})", name, rms, kBar); };
  // NaN is no pass.
  if (const double rms = gdn::rms_ratio(o, in_.dtype, expected_.o); !(rms <= kBar)) return wrong("o", rms);
  if (const double rms = gdn::rms_ratio(checkpoints, checkpoints_); !(rms <= kBar)) return wrong("checkpoints", rms);
  if (!call_.states) return "";
  const std::size_t row = static_cast<std::size_t>(in_.hv) * kState;
  std::vector<bool> written(in_.lens.size());
  for (std::size_t n = 0; n < in_.lens.size(); ++n) {
    const std::int64_t to = call_.write.empty() ? std::int64_t(n) : call_.write[n];
    if (to < 0) continue;
    written[static_cast<std::size_t>(to)] = true;
    const double rms = gdn::rms_ratio(std::span(finals).subspan(static_cast<std::size_t>(to) * row, row), std::span(expected_.final_state).subspan(n * row, row));
    if (!(rms <= kBar)) return wrong("final_state", rms);
  }
  for (std::size_t i = 0; i < finals.size(); ++i)
    if (!written[i / row] && std::bit_cast<std::uint32_t>(finals[i]) != 0xffffffffu) return "wrong result: a row of final_state that no slot names is written";
  return "";
}

}  // namespace

std::vector<MutationCase> gdn_mutation_cases() {
  const auto kernels = [](gdn::Form form, int pack, bool l2norm, bool checkpoints) {
    ops::GdnForwardKernels c;
    c.form = form, c.pack = pack, c.l2norm = l2norm ? 1 : 0, c.checkpoints = checkpoints ? 1 : 0;
    return c;
  };
  const auto full = kernels(gdn::Form::full, 1, false, false), split = kernels(gdn::Form::split, 1, true, true), packed = kernels(gdn::Form::split, 4, true, false);
  const std::vector<ops::Source> plain{ops::gdn_prologue_source(full), ops::gdn_forward_source(full)};
  std::vector<MutationCase> cases;
  const auto add = [&](const char* name, std::vector<ops::Source> sources, Call call, unsigned multiprocessors = 1) {
    std::string title = std::string("gdn-forward ") + name + fmt::format("{}", fmt::join(call.lens, "+"));
    const auto problem = std::make_shared<const Problem>(std::move(call));
    cases.push_back({std::move(title), std::move(sources),
                     [problem](runtime::Device& device, const ops::BuildOptions& build) { return problem->run(device, build); },
                     multiprocessors});
  };
  add("full, ", plain, {.lens = {260, 0, 1}}, 132);
  add("full, slots, ", plain, {.lens = {65, 0, 64}, .read = {2, -1, 0}, .write = {1, 2, -1}});
  add("full, no states, ", plain, {.lens = {1}, .states = false});
  add("full, ", plain, {.lens = {1000}, .states = false});
  for (const std::int64_t length : {200, 800})
    add("split, norms and checkpoints, ", {ops::gdn_forward_source(split)},
        {.lens = {length, 1}, .form = gdn::Form::split, .checkpoint_every = 64, .l2norm = true});
  for (const std::int64_t length : {70, 1100})
    add("split, norms, four heads, ", {ops::gdn_prologue_source(packed)}, {.lens = {length}, .hv = 4, .form = gdn::Form::split, .l2norm = true});
  return cases;
}

}  // namespace tilewright::cli
