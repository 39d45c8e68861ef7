// Programmatic dependent launch between small kernels of a chain, each of which reads what the one before it wrote.
#include <cmath>

#include "benchmarks/machine/bench.h"
#include "runtime/cuda/timing.h"

namespace tilewright::machine {
namespace {

constexpr int kThreads = 128, kShift = 61;

/// y[c, t] = f^rounds(x[(c + 61) mod C, t]), f(v) = 1/8 - v, exact for the inputs here: one dependent addition a round. The next
/// kernel is let in at the start, or just before the result is written.
Program step(bool early) {
  return kernel(early ? "step_early" : "step_late", [=](Kernel& k) {
    Dim C = k.dim("C");
    auto x = k.in<f32>("x", {C, kThreads}), y = k.out<f32>("y", {C, kThreads});
    Index rounds = k.scalar_i32("rounds");
    auto [cta, unused1, unused2] = k.grid(C);
    Role all = k.role("all", warps(kThreads / 32));
    all([&] {
      if (early) k.grid_launch();
      k.grid_wait();
      Var<Real> v(x.read({(cta + kShift) % C.index(), k.thread()}));
      for_(rounds, [&](Index) { v.set(-v.get() + 0.125); });
      if (!early) k.grid_launch();
      y.write({cta, k.thread()}, v.get());
    });
  });
}

/// A chain of kernels over length + 1 buffers.
class Chain {
 public:
  Chain(Setup& setup, bool early, int length, std::int64_t rounds) : setup_(setup), rounds_(rounds) {
    loaded_ = load(setup.target_programs, early ? "step early" : "step late", [=] { return step(early); });
    for (int i = 0; i <= length; ++i) buffers_.push_back(std::make_unique<Buffer>(setup.target, std::size_t(ctas() * kThreads) * 4));
    for (int i = 0; i < length; ++i)
      steps_.emplace_back(loaded_->built->program, setup.target, program::TensorArguments{{"x", tensor(i)}, {"y", tensor(i + 1)}}, program::Scalars{{"rounds", rounds}});
  }
  std::int64_t ctas() const { return 132; }
  /// New input; everything behind it is NaN.
  void prepare(std::uint64_t seed) {
    input_.resize(std::size_t(ctas() * kThreads));
    for (std::size_t i = 0; i < input_.size(); ++i) input_[i] = float(std::round(1024 * Random{seed}.bell(i)) / 1024);
    setup_.target.copy_to_device(buffers_[0]->address(), input_.data(), buffers_[0]->bytes());
    for (std::size_t i = 1; i < buffers_.size(); ++i) buffers_[i]->poison();
  }
  void launch(void* stream, bool programmatic) const {
    for (std::size_t i = 0; i < steps_.size(); ++i) steps_[i].launch(setup_.target, *loaded_->kernel, stream, programmatic && i > 0);
  }
  /// Largest difference from the same chain on the host; NaN where something was read before it was written.
  double error() const {
    const auto result = buffers_.back()->host<float>();
    double worst = 0;
    for (std::int64_t c = 0; c < ctas(); ++c)
      for (std::int64_t t = 0; t < kThreads; ++t) {
        const std::int64_t from = (c + kShift * std::int64_t(steps_.size())) % ctas();
        const double given = double(input_[std::size_t(from * kThreads + t)]);
        const double expected = rounds_ * std::int64_t(steps_.size()) % 2 == 0 ? given : 0.125 - given;
        const double difference = std::abs(double(result[std::size_t(c * kThreads + t)]) - expected);
        if (std::isnan(difference)) return difference;
        worst = std::max(worst, difference);
      }
    return worst;
  }

 private:
  program::TensorArgument tensor(int i) const { return ops::tensor(buffers_[std::size_t(i)]->address(), {ctas(), kThreads}, "f32"); }
  Setup& setup_;
  std::int64_t rounds_;
  std::shared_ptr<const ops::Loaded> loaded_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<program::BoundProgram> steps_;
  std::vector<float> input_;
};

struct Mode {
  const char* name;
  bool early, programmatic;
};

}  // namespace

Json dependent_launches(Setup& setup) {
  bool passed = true;
  Json rows = Json::array();
  std::uint64_t seed = setup.seed;
  for (std::int64_t rounds : setup.small ? std::vector<std::int64_t>{3} : std::vector<std::int64_t>{0, 1000, 2500})
    for (int length : {2, 3, 24})
      for (const bool graph : {false, true}) {
        double plain = 0;
        for (Mode mode : {Mode{"plain", true, false}, Mode{"programmatic, let in at the start", true, true},
                          Mode{"programmatic, let in before the result", false, true}}) {
          Chain chain(setup, mode.early, length, rounds);
          Json row{{"rounds", rounds}, {"kernels", length}, {"replay", graph ? "graph" : "stream"}, {"mode", mode.name}};
          double error = 0;
          for (int repeat = 0; repeat < 3 && !std::isnan(error); ++repeat) {
            chain.prepare(++seed);
            setup.target.synchronize();
            if (setup.card) cuda::time_each_launch_ms(setup.target, [&](void* stream) { chain.launch(stream, mode.programmatic); }, {.warmups = 0, .runs = 1, .graph = graph});
            else chain.launch(nullptr, mode.programmatic);
            setup.target.synchronize();
            const double e = chain.error();
            error = std::isnan(e) ? e : std::max(e, error);
          }
          row["error"] = std::isnan(error) ? Json("NaN") : Json(error);
          passed = passed && error == 0;
          if (setup.card) {
            const auto times = cuda::time_each_launch_ms(setup.target, [&](void* stream) { chain.launch(stream, mode.programmatic); },
                                                         {.warmups = 10, .runs = 150, .flush_bytes = std::size_t{64} << 20, .graph = graph});
            row.update(spread_us(times));
            const double median = row["median_us"];
            if (!mode.programmatic) plain = median;
            else row["saved_per_edge_us"] = (plain - median) / (length - 1);
          }
          rows.push_back(row);
        }
      }
  return {{"pass", passed}, {"ctas", 132}, {"threads", kThreads}, {"rows", rows}};
}

}  // namespace tilewright::machine
