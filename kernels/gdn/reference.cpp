// The token recurrence, and the measure of error.
#include "kernels/gdn/reference.h"

#include <cmath>

#include "kernels/gdn/problem.h"
#include "tilewright/error.h"

namespace tilewright::gdn {

std::vector<double> Problem::initial_state() const {
  const size_t dk = size_t(in.dk), dv = size_t(in.dv);
  std::vector<double> state(dk * dv, 0.0);
  if (in.initial_state.empty())
    return state;
  const float *from = in.initial_state.data() + matrix();
  for (size_t key = 0; key < dk; ++key)
    for (size_t value = 0; value < dv; ++value)
      state[key * dv + value] = from[in.state_order == StateOrder::k_first ? key * dv + value : value * dk + key];
  return state;
}

void Problem::final_state(const std::vector<double> &state) const {
  const size_t dk = size_t(in.dk), dv = size_t(in.dv);
  double *to = out.final_state.data() + matrix();
  for (size_t key = 0; key < dk; ++key)
    for (size_t value = 0; value < dv; ++value)
      to[in.state_order == StateOrder::k_first ? key * dv + value : value * dk + key] = state[key * dv + value];
}

Outputs recurrence(const Inputs &inputs, int threads) {
  return for_each_problem(inputs, threads, [](const Problem &p) {
    const size_t dk = size_t(p.in.dk), dv = size_t(p.in.dv);
    std::vector<double> state = p.initial_state(), q(dk), k(dk), v(dv), delta(dv);
    for (std::int64_t t = 0; t < p.length; ++t) {
      p.query(t, q.data()), p.key(t, k.data()), p.value(t, v.data());
      const double decay = std::exp(p.g(t)), beta = p.beta(t), scale = p.in.scale;
      delta.assign(dv, 0.0);
      for (size_t i = 0; i < dk; ++i)
        for (size_t j = 0; j < dv; ++j)
          delta[j] += k[i] * (state[i * dv + j] *= decay);
      for (size_t j = 0; j < dv; ++j)
        delta[j] = beta * (v[j] - delta[j]);
      double *o = p.o(t);
      std::fill(o, o + dv, 0.0);
      for (size_t i = 0; i < dk; ++i)
        for (size_t j = 0; j < dv; ++j)
          o[j] += scale * q[i] * (state[i * dv + j] += k[i] * delta[j]);
    }
    p.final_state(state);
  });
}

namespace {

template <class Value> double ratio(size_t given, std::span<const double> expected, Value value) {
  if (given != expected.size())
    throw Error("rms_ratio: the result has " + std::to_string(given) + " elements, expected " +
                std::to_string(expected.size()));
  double error = 0, norm = 0;
  for (size_t i = 0; i < given; ++i) {
    double difference = value(i) - expected[i];
    error += difference * difference;
    norm += expected[i] * expected[i];
  }
  if (error == 0)
    return 0;
  return std::sqrt(error / double(given)) / std::max(std::sqrt(norm / double(given)), 1e-30);
}

} // namespace

double rms_ratio(std::span<const double> result, std::span<const double> expected) {
  return ratio(result.size(), expected, [&](size_t i) { return result[i]; });
}

double rms_ratio(std::span<const float> result, std::span<const double> expected) {
  return ratio(result.size(), expected, [&](size_t i) { return double(result[i]); });
}

double rms_ratio(std::span<const std::uint16_t> result, DType dtype, std::span<const double> expected) {
  return ratio(result.size(), expected, [&](size_t i) { return double(decode(result[i], dtype)); });
}

} // namespace tilewright::gdn
