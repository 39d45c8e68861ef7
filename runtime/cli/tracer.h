// Reads the time stamps of the kernels of a run.
#pragma once
#include <vector>

#include "runtime/cli/timeline.h"
#include "runtime/cli/watcher.h"

namespace tilewright::cli {

class Tracer final : public Watcher {
 public:
  /// Traces the CTA of this number in each grid: x + grid.x (y + grid.y z).
  explicit Tracer(unsigned cta) : cta_(cta) {}
  /// Before the launch of `steps`, kernels that were built with BuildOptions::trace. Throws Error for others.
  void begin(runtime::Device&, const ops::Steps& steps) override;
  /// After it, when the device is idle: one time line for each step.
  void end(runtime::Device&, const ops::Steps& steps) override;
  const std::vector<Timeline>& timelines() const { return timelines_; }

 private:
  unsigned cta_;
  std::vector<Timeline> timelines_;
};

}  // namespace tilewright::cli
