// Names of roles and barriers for the simulated device's reports.
#pragma once
#include <string>

#include "runtime/device/device.h"
#include "runtime/program/program.h"

namespace tilewright::ops {

/// Tells a simulated device how the author calls a kernel's warps and mbarriers, so that a report of a deadlock says
/// "role load waits for in.empty[1]". Does nothing on another device.
void name_for_reports(runtime::Device& device, const program::Program& program);

}  // namespace tilewright::ops
