// The kernels that the command knows by name.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "runtime/cli/command.h"
#include "runtime/cli/host_case.h"
#include "runtime/ops/operator.h"

namespace tilewright::cli {

struct Entry {
  std::string name;
  std::string summary;
  std::string compile_time;  ///< what its kernels have fixed when they are compiled; docs/compile_time.md
  /// The kernels for a configuration.
  std::function<std::vector<ops::Source>(const Options&)> sources;
  /// Inputs and expected outputs of one kernel; empty for operators, which have a runner of their own.
  std::function<HostCase(const Options&)> host_case;
};

const std::vector<Entry>& registry();
/// Throws UsageError that lists the names.
const Entry& find(const std::string& name);

}  // namespace tilewright::cli
