#include "runtime/ops/loaded_programs.h"

#include "runtime/ops/simulator_names.h"

namespace tilewright::ops {
namespace {

/// The kernel of a key, or null.
template <class Table, class Key>
std::shared_ptr<const Loaded> found_in(const Table& table, const Key& key) {
  const auto found = table.find(key);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace

LoadedPrograms::LoadedPrograms(runtime::Device& device, BuildOptions options, Builder& builder)
    : device_(device), options_(std::move(options)), builder_(builder) {
  // The simulated device runs the PTX itself.
  if (device.kind() != "cuda") options_.assemble = false;
}

Kernels LoadedPrograms::get(const std::vector<Source>& sources) {
  Kernels result(sources.size());
  std::vector<Source> missing;
  std::vector<std::size_t> places;
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const auto known = loaded_.find(sources[i].key);
      if (!sources[i].key.empty() && known != loaded_.end()) {
        result[i] = known->second;
      } else {
        missing.push_back(sources[i]);
        places.push_back(i);
      }
    }
  }
  if (missing.empty()) return result;
  // Without the lock: others are not to wait for this configuration. Two threads that want the same kernel share one build.
  const std::vector<BuiltPointer> built = builder_.build(missing, options_);
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < missing.size(); ++i) {
    const bool named = !missing[i].key.empty();
    std::shared_ptr<const Loaded> kernel = named ? found_in(loaded_, missing[i].key) : found_in(programs_, built[i].get());
    if (!kernel) {
      kernel = std::make_shared<const Loaded>(Loaded{built[i], device_.load(built[i]->program.image())});  // may throw: nothing is kept then
      (named ? loaded_[missing[i].key] : programs_[built[i].get()]) = kernel;
      name_for_reports(device_, built[i]->program);
    }
    result[places[i]] = kernel;
  }
  return result;
}

}  // namespace tilewright::ops
