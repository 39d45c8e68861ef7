// A wide search over simple plans, beside which the planner is judged: every chain of an erasing head in one number of segments that end together, every
// other one in another number of equal segments, both in proportion to the sequence's length; with matrices' prepasses first, then the longest items.
#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <vector>

#include "kernels/gdn/planner_rules.h"

namespace tilewright::gdn::testing {

struct SimplePlans {
  std::vector<std::int32_t> chunks;
  int heads, matrix_heads, erase, sms, splits;
  CostModel costs;

  /// The least time among all numbers of segments of the longest sequence, microseconds.
  double best() const {
    double least = std::numeric_limits<double>::infinity();
    for (const int erasing : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 18, 20, 22, 24, 28, 32})
      for (const int matrix : {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 18, 20, 24, 28, 32}) least = std::min(least, time(erasing, matrix));
    return least;
  }

 private:
  int segments(int n, int most) const {
    const double longest = *std::max_element(chunks.begin(), chunks.end());
    return std::clamp(static_cast<int>(std::lround(most * n / longest)), 1, std::max(n, 1));
  }
  double time(int erasing, int matrix) const {
    std::priority_queue<double, std::vector<double>, std::greater<>> free(std::greater<>(), std::vector<double>(std::size_t(sms), 0.0));
    double makespan = 0;
    const auto run = [&](double duration, double ready) {
      double end = 0;
      for (int split = 0; split < splits; ++split) {
        end = std::max(free.top(), ready) + duration;
        free.pop();
        free.push(end);
        makespan = std::max(makespan, end);
      }
      return end;
    };
    const auto length = [](int n, int parts, int j) { return n * (j + 1) / parts - n * j / parts; };
    std::vector<std::vector<double>> written;  // of each chain with matrices: when its records are there
    for (const int n : chunks)
      for (int h = 0; h < matrix_heads; ++h) {
        const int parts = segments(n, matrix);
        written.emplace_back(std::size_t(parts), 0.0);
        for (int j = 0; j + 1 < parts; ++j)
          for (int kind = 0; kind < (j > 0 ? 2 : 1); ++kind) {
            double& at = written.back()[std::size_t(j)];
            at = std::max(at, run(costs.start + length(n, parts, j) * costs.state_step, 0));
          }
      }
    std::vector<double> pieces;
    for (const int n : chunks) {
      const int parts = segments(n, erasing);
      const double share = (n + (parts - 1.0) * erase) / parts;
      for (int j = 0; j < parts; ++j) {
        const int from = j > 0 ? static_cast<int>(std::lround(j * (share - erase) + erase)) : 0;
        const int to = j + 1 < parts ? static_cast<int>(std::lround((j + 1) * (share - erase) + erase)) : n;
        pieces.insert(pieces.end(), std::size_t(heads - matrix_heads), costs.start + (to - from) * costs.full_step + std::min(from, erase) * costs.state_step);
      }
    }
    std::sort(pieces.rbegin(), pieces.rend());
    for (const double duration : pieces) run(duration, 0);
    for (std::size_t chain = 0; chain < written.size(); ++chain) {
      const int n = chunks[chain / std::size_t(matrix_heads)], parts = static_cast<int>(written[chain].size());
      for (int j = parts - 1; j >= 0; --j)
        run(costs.start + length(n, parts, j) * costs.full_step + std::max(0, j - 1) * costs.hop, j > 0 ? *std::max_element(written[chain].begin(), written[chain].begin() + j) : 0.0);
    }
    return makespan;
  }
};

}  // namespace tilewright::gdn::testing
