// Runs of a kernel under several schedules of the simulated device.
#pragma once
#include <iosfwd>
#include <memory>

#include "runtime/cli/command.h"
#include "runtime/device/device.h"

namespace tilewright::cli {

/// The device of --device, with --schedule and --no-checks where it is simulated. Throws UsageError where a card is asked for one of them.
std::unique_ptr<runtime::Device> device_of(const Options&);

/// Runs the seeds from --schedule (or 1) on, as many as --schedules says; stops at the first that fails and names it.
int run_schedules(const Options&, std::ostream& out);

}  // namespace tilewright::cli
