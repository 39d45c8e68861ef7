#include "runtime/cli/schedules.h"

#include <fmt/format.h>

#include <chrono>
#include <ostream>
#include <sstream>

#include "runtime/sim/simulator.h"

namespace tilewright::cli {

std::unique_ptr<runtime::Device> device_of(const Options& o) {
  auto device = runtime::make_device(o.device);
  if (device->kind() == "sim") {
    runtime::sim::set_schedule(*device, o.schedule);
    if (o.no_checks) runtime::sim::set_checks(*device, false);
  } else if (o.schedule != 0 || o.no_checks) {
    throw UsageError("run: --schedule, --schedules and --no-checks are options of the simulated device, given '" + std::string(device->kind()) +
                     "'; add --device sim");
  }
  return device;
}

int run_schedules(const Options& o, std::ostream& out) {
  if (o.json || o.watcher) throw UsageError("run: --schedules prints a line of its own; it takes no --json and no trace");
  const std::uint64_t first = o.schedule ? o.schedule : 1;
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t seed = first; seed < first + o.schedules; ++seed) {
    Options one = o;
    one.schedule = seed;
    one.schedules = 0;
    std::ostringstream text;
    try {
      if (const int status = run(one, text); status != 0) {
        out << text.str() << fmt::format("schedule {} fails; --schedule {} repeats it\n", seed, seed);
        return status;
      }
    } catch (const UsageError&) {
      throw;
    } catch (const Error& e) {
      throw Error(fmt::format("schedule {}: {}", seed, e.what()));
    }
    if (seed + 1 == first + o.schedules) out << text.str();
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  out << fmt::format("schedules {} to {}: all {} passed, {:.1f} s\n", first, first + o.schedules - 1, o.schedules, seconds);
  return 0;
}

}  // namespace tilewright::cli
