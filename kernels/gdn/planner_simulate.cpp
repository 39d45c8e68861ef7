#include <algorithm>
#include <functional>
#include <queue>

#include "kernels/gdn/planner_reference.h"

namespace tilewright::gdn {
namespace {

/// When the records of a chain are there.
struct Records {
  std::vector<double> written;
  explicit Records(int count) : written(std::size_t(count), 0.0) {}
  double ready(int base, int count) const {
    const auto from = written.begin() + base;
    return count > 0 ? *std::max_element(from, from + count) : 0.0;
  }
};

}  // namespace

Timeline simulate(const SegmentPlan& plan, const std::vector<std::int32_t>& chunks, const std::vector<std::int32_t>& erase,
                  const CostModel& c, int sms, int splits) {
  using Free = std::pair<double, int>;
  std::priority_queue<Free, std::vector<Free>, std::greater<>> free;
  for (int sm = 0; sm < sms; ++sm) free.push({0.0, sm});
  Records records(plan.records);
  Timeline t;
  const auto run = [&](int number, const SegmentItem& item, double work, double ready_at) {
    double last = 0;
    for (int split = 0; split < splits; ++split) {
      const auto [begin, sm] = free.top();
      free.pop();
      const double ready = std::max(begin, ready_at), end = ready + c.start + work;
      t.spans.push_back({sm, number, begin, ready, end, item});
      t.makespan = std::max(t.makespan, end);
      last = std::max(last, end);
      free.push({end, sm});
    }
    return last;
  };
  for (std::size_t i = 0; i < plan.items.size(); ++i) {
    const SegmentItem& item = plan.items[i];
    const int j = item.segment;
    if (item.kind != SegmentKind::final) {
      double& written = records.written[std::size_t(item.base + j)];
      written = std::max(written, run(static_cast<int>(i), item, item.chunks * c.state_step, 0.0));
    } else if (item.base >= 0) {
      run(static_cast<int>(i), item, item.chunks * c.full_step + std::max(0, j - 1) * c.hop, records.ready(item.base, j));
    } else {
      const int warm = j == 0 ? 0 : std::min(item.first, erase[std::size_t(item.head)]);
      run(static_cast<int>(i), item, item.chunks * c.full_step + warm * c.state_step, 0.0);
    }
  }
  int behind = 0;
  for (int n = 0; n < static_cast<int>(chunks.size()); ++n)
    for (int h = 0; h < static_cast<int>(erase.size()) && chunks[std::size_t(n)] <= plan.longest_whole; ++h)
      run(-1 - behind++, {n, h, 0, chunks[std::size_t(n)], SegmentKind::final, -1, 0}, chunks[std::size_t(n)] * c.full_step, 0.0);
  return t;
}

}  // namespace tilewright::gdn
