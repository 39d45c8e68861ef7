#pragma once
#include <vector>

#include "kernels/gdn/inputs.h"
#include "kernels/gdn/reference.h"

/// One (sequence, value head) of a call, widened to fp64 token by token: what both forms of the reference work on.
namespace tilewright::gdn {

struct Problem {
  const Inputs &in;
  Outputs &out;
  std::int64_t sequence, first_token, length;
  int head, key_head;

  void key(std::int64_t t, double *to) const { row(in.k, t, in.hk, in.dk, key_head, to); }
  void query(std::int64_t t, double *to) const { row(in.q, t, in.hk, in.dk, key_head, to); }
  void value(std::int64_t t, double *to) const { row(in.v, t, in.hv, in.dv, head, to); }
  double g(std::int64_t t) const { return in.g[gate(t)]; }
  double beta(std::int64_t t) const { return in.beta[gate(t)]; }
  double *o(std::int64_t t) const { return out.o.data() + gate(t) * size_t(in.dv); }

  /// State as [dk][dv], whatever the order of the inputs.
  std::vector<double> initial_state() const;
  void final_state(const std::vector<double> &state) const;

private:
  size_t gate(std::int64_t t) const { return size_t((first_token + t) * in.hv + head); }
  size_t matrix() const { return size_t(sequence * in.hv + head) * size_t(in.dk) * size_t(in.dv); }
  void row(const std::vector<std::uint16_t> &from, std::int64_t t, int heads, int width, int h, double *to) const {
    const std::uint16_t *bits = from.data() + size_t((first_token + t) * heads + h) * size_t(width);
    for (int c = 0; c < width; ++c)
      to[c] = decode(bits[c], in.dtype);
  }
};

/// Checks the inputs, sizes the outputs, and calls solve(problem) for each sequence and value head on several threads.
template <class Solve> Outputs for_each_problem(const Inputs &in, int threads, Solve &&solve);

} // namespace tilewright::gdn

#include "kernels/gdn/parallel.h"

namespace tilewright::gdn {

template <class Solve> Outputs for_each_problem(const Inputs &in, int threads, Solve &&solve) {
  in.check();
  Outputs out;
  out.o.resize(in.v.size());
  out.final_state.resize(size_t(in.sequences() * in.hv) * size_t(in.dk) * size_t(in.dv));
  const std::vector<std::int64_t> offsets = in.offsets();
  parallel_for(in.sequences() * in.hv, threads, [&](std::int64_t i) {
    std::int64_t n = i / in.hv;
    int head = int(i % in.hv);
    solve(Problem{in, out, n, offsets[size_t(n)], in.lens[size_t(n)], head, head / (in.hv / in.hk)});
  });
  return out;
}

} // namespace tilewright::gdn
