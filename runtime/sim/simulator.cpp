// The Device that runs PTX text on the CPU: memory, loading, launches over host threads.
#include "runtime/sim/simulator.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>

#include "runtime/sim/check/checker.h"
#include "runtime/sim/cluster.h"
#include "runtime/sim/loaded_kernel.h"
#include "runtime/sim/observer.h"
#include "runtime/sim/tensor_map.h"
#include "tilewright/error.h"

namespace tilewright::runtime::sim {
namespace {

constexpr unsigned thread_slots = 2048;                    // of a multiprocessor
constexpr unsigned most_resident = 32;                     // CTAs of a multiprocessor
constexpr std::size_t side_by_side = 12;                   // clusters that a seed mixes
constexpr std::uint64_t most_shuffled = 1u << 16;          // clusters whose order a seed decides
constexpr std::uint64_t patience = 20'000;                 // warp instructions that a cluster polls before another one begins beside it

class SimulatedDevice final : public Device {
 public:
  explicit SimulatedDevice(SimulatorOptions options) : options_(std::move(options)), memory_(std::make_shared<GlobalMemory>()) {}

  std::string_view kind() const override { return "sim"; }
  unsigned multiprocessors() const override { return options_.multiprocessors; }
  std::string description() const override { return "simulated Hopper (PTX sm_90a on the CPU)"; }

  DeviceAddress allocate(std::size_t bytes) override {
    const std::lock_guard lock(mutex_);
    return memory_->allocate(bytes);
  }
  void release(DeviceAddress address) override {
    const std::lock_guard lock(mutex_);
    memory_->release(address);
  }
  void copy_to_device(DeviceAddress to, const void* from, std::size_t bytes) override {
    if (auto* place = checked(to, bytes, "copy to the device"); bytes) std::memcpy(place, from, bytes), memory_->mark_written(to, bytes);
  }
  void copy_to_host(void* to, DeviceAddress from, std::size_t bytes) override {
    if (auto* place = checked(from, bytes, "copy to the host"); bytes) std::memcpy(to, place, bytes);
  }
  void fill(DeviceAddress to, std::uint8_t value, std::size_t bytes) override {
    if (auto* place = checked(to, bytes, "fill"); bytes) std::memset(place, value, bytes), memory_->mark_written(to, bytes);
  }
  EncodedTensorMap encode(const TensorMapSpec& s) override { return encode_tensor_map(s); }
  std::unique_ptr<LoadedKernel> load(const KernelImage& image) override {
    const std::lock_guard lock(mutex_);
    return std::make_unique<SimulatedKernel>(memory_, image);
  }
  DeviceVariable variable(LoadedKernel& loaded, const std::string& name) override {
    auto* kernel = dynamic_cast<SimulatedKernel*>(&loaded);
    if (!kernel) throw Error("variable '" + name + "' of a kernel that was loaded by another device than the simulated one");
    return kernel->variable(name);
  }
  void launch(LoadedKernel&, const LaunchGeometry&, std::span<const KernelParameter>) override;
  void synchronize() override {}

  SimulatorStatistics statistics() const {
    const std::lock_guard lock(mutex_);
    return statistics_;
  }
  void add_names(const std::vector<RoleName>& roles, const std::vector<BarrierName>& barriers) {
    const std::lock_guard lock(mutex_);
    options_.roles.insert(options_.roles.end(), roles.begin(), roles.end());
    options_.barriers.insert(options_.barriers.end(), barriers.begin(), barriers.end());
  }
  void watch(std::shared_ptr<Instrument> instrument) {
    const std::lock_guard lock(mutex_);
    instrument_ = std::move(instrument);
  }
  void set_schedule(std::uint64_t seed) {
    const std::lock_guard lock(mutex_);
    options_.schedule = seed;
    launches_ = 0;
  }
  void set_checks(bool on) {
    const std::lock_guard lock(mutex_);
    options_.checks = on;
  }
  void lend(const GlobalMemory::Range& range) {
    const std::lock_guard lock(mutex_);
    memory_->lend(range);
  }
  void take_back(const GlobalMemory::Range& range) {
    const std::lock_guard lock(mutex_);
    memory_->take_back(range);
  }
  void reset() {
    const std::lock_guard lock(mutex_);
    statistics_ = {};
  }

 private:
  void* checked(DeviceAddress address, std::size_t bytes, const char* what) const {
    const std::lock_guard lock(mutex_);
    if (bytes && memory_->find(address, bytes).begin > memory_->find(address, bytes).end)
      throw Error(std::string(what) + " of " + std::to_string(bytes) + " bytes at " + hex(address) + " is out of bounds: " + memory_->describe(address, bytes));
    return reinterpret_cast<void*>(address);
  }
  void run(const Launch&, std::uint64_t clusters);

  SimulatorOptions options_;
  std::shared_ptr<GlobalMemory> memory_;
  mutable std::mutex mutex_;
  SimulatorStatistics statistics_;
  std::shared_ptr<Instrument> instrument_;
  std::uint64_t grids_ = 0;
  std::uint64_t launches_ = 0;   // since the schedule was set
  std::shared_ptr<check::GlobalShadow> last_shadow_;   // of the launch before
};

std::vector<std::byte> parameter_bytes(const ptx::Function& f, std::span<const KernelParameter> given) {
  if (given.size() != f.params.size())
    throw Error("kernel '" + f.name + "' is given " + std::to_string(given.size()) + " parameters, expected " + std::to_string(f.params.size()));
  std::vector<std::byte> out((f.param_bytes + 127) / 64 * 64);
  for (std::size_t n = 0; n < given.size(); ++n) {
    if (given[n].size() != f.params[n].bytes)
      throw Error("kernel '" + f.name + "', parameter " + std::to_string(n) + " has " + std::to_string(given[n].size()) + " bytes, expected " +
                  std::to_string(f.params[n].bytes));
    if (!given[n].empty()) std::memcpy(out.data() + f.param_offsets[n], given[n].data(), given[n].size());
  }
  return out;
}

void SimulatedDevice::launch(LoadedKernel& loaded, const LaunchGeometry& geometry, std::span<const KernelParameter> parameters) {
  auto* kernel = dynamic_cast<SimulatedKernel*>(&loaded);
  if (!kernel) throw Error("the kernel was loaded by another device than the simulated one");
  const Program& p = kernel->program();
  Launch l;
  l.program = &p;
  l.grid = geometry.grid;
  const std::uint64_t ctas = std::uint64_t{l.grid[0]} * l.grid[1] * l.grid[2];
  if (ctas == 0 || l.grid[0] > 0x7fffffffu || l.grid[1] > 65535 || l.grid[2] > 65535)
    throw Error("kernel '" + p.function->name + "' is launched on a grid of " + std::to_string(l.grid[0]) + " x " + std::to_string(l.grid[1]) + " x " +
                std::to_string(l.grid[2]) + " CTAs; expected 1 to 2^31 - 1, 65535 and 65535");
  l.cluster = kernel->cluster();
  for (unsigned axis = 0; axis < 3; ++axis)
    if (l.grid[axis] % l.cluster[axis])
      throw Error("kernel '" + p.function->name + "' is launched on a grid of " + place_of(l.grid) + " CTAs; expected multiples of its cluster " + place_of(l.cluster));
  l.block = kernel->block();
  l.threads = l.block[0] * l.block[1] * l.block[2];
  l.dynamic_shared = kernel->dynamic_shared();
  l.entry_registers = kernel->entry_registers();
  l.params = parameter_bytes(*p.function, parameters);
  const std::lock_guard lock(mutex_);
  l.memory = memory_.get();
  l.options = &options_;
  l.grid_id = ++grids_;
  l.stream = launches_++;
  const unsigned together = l.cluster[0] * l.cluster[1] * l.cluster[2];
  const std::uint64_t bytes = std::uint64_t{p.dynamic_shared} + l.dynamic_shared;   // with the KiB of the system
  const std::uint64_t each = std::min<std::uint64_t>({most_resident, thread_slots / ((l.threads + 31) / 32 * 32), (most_shared + shared_base) / bytes});
  l.multiprocessors = multiprocessors();
  l.resident = std::max<std::uint64_t>(1, l.multiprocessors * std::max<std::uint64_t>(1, each) / together);
  std::optional<check::LaunchChecker> checks;
  if (options_.checks) {
    checks.emplace(p.global_granule, geometry.programmatic ? std::move(last_shadow_) : nullptr, geometry.programmatic);
    l.checks = &*checks;
  }
  last_shadow_.reset();
  run(l, ctas / together);
  if (checks) last_shadow_ = checks->shadow;
}

/// Takes clusters from `next` and runs them one after the other. One that polls for what another writes stays, and the next one
/// begins beside it, as on a card that has room; when all that are there poll and nothing moves anywhere, that is an error.
class Worker {
 public:
  Worker(const Launch& l, std::atomic<std::uint64_t>& next, std::uint64_t count, Observer* observer) : launch_(l), next_(next), count_(count), observer_(observer) {}

  void run() {
    if (launch_.program->ordered && launch_.options->schedule) return run_mixed();
    while (admit()) {
      for (std::uint64_t waited = 0; !running_.empty();) {
        const std::uint64_t before = launch_.effects.load(std::memory_order_relaxed);
        const std::size_t ended = visit_all();
        if (ended || running_.empty() || admit() || launch_.effects.load(std::memory_order_relaxed) != before) {
          waited = 0;
          continue;
        }
        waited += polled_ ? patience_ / 64 + 1 : patience_;
        if (waited > launch_.options->step_limit) give_up(waited);
        std::this_thread::yield();
      }
    }
  }
  SimulatorStatistics statistics() const {
    SimulatorStatistics all;
    for (const auto* set : {&running_, &idle_})
      for (const auto& cluster : *set)
        for (const auto& cta : cluster->ctas) all.add(cta->statistics);
    return all;
  }
  /// Where an error happened: the number of the cluster that ran last.
  std::uint64_t at() const { return at_; }

 private:
  // CTAs that talk, under a seed: a few side by side, begun in any order and for as long as the schedule says.
  void run_mixed() {
    Schedule schedule(launch_.options->schedule, launch_.stream << 32 | 0xffffffffu);
    for (std::uint32_t n = 0; n < std::min<std::uint64_t>(count_, most_shuffled); ++n) order_.push_back(n);
    for (std::size_t n = order_.size(); n > 1; --n) std::swap(order_[n - 1], order_[schedule.below(static_cast<std::uint32_t>(n))]);
    for (std::uint64_t waited = 0;;) {
      while (running_.size() < side_by_side && admit()) {}
      if (running_.empty()) return;
      const std::uint64_t before = launch_.effects.load(std::memory_order_relaxed);
      const std::size_t n = schedule.below(static_cast<std::uint32_t>(running_.size()));
      const std::uint64_t executed = running_[n]->executed();
      const Cluster::State state = running_[n]->run(patience_, 1 + schedule.below(1u << schedule.below(9)));
      waited += running_[n]->executed() - executed;
      if (state == Cluster::State::ended) end(n);
      if (state == Cluster::State::ended || launch_.effects.load(std::memory_order_relaxed) != before) waited = 0;
      else if (waited > patience_ * running_.size() && admit()) waited = 0;
      else if (waited > launch_.options->step_limit) give_up(waited);
    }
  }
  bool admit() {
    if (running_.size() >= launch_.resident) return false;
    std::uint64_t n = next_.fetch_add(1);
    if (n >= count_) return false;
    if (n < order_.size()) n = order_[n];
    if (idle_.empty()) idle_.push_back(std::make_unique<Cluster>(launch_));
    running_.push_back(std::move(idle_.back()));
    idle_.pop_back();
    at_ = n;
    for (const auto& cta : running_.back()->ctas) cta->observer = observer_;
    running_.back()->start(n);
    return true;
  }
  std::size_t visit_all() {
    std::size_t ended = 0;
    for (std::size_t n = 0; n < running_.size();) {
      // One that polled before is asked shortly: another one must move first.
      const bool asked = n < polled_;
      if (running_[n]->run(asked ? patience_ / 64 + 1 : patience_) == Cluster::State::polling) {
        ++n;
        polled_ = std::max(polled_, n);
        continue;
      }
      end(n);
      ++ended;
    }
    return ended;
  }
  void end(std::size_t n) {
    idle_.push_back(std::move(running_[n]));
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(n));
    polled_ = 0;
  }
  [[noreturn]] void give_up(std::uint64_t waited) const {
    throw Error("no forward progress: kernel '" + launch_.program->function->name + "', " + running_.front()->name() + " executed " + std::to_string(waited) +
                " warp instructions without a store, an arrival or an end; it polls for what nobody writes (another CTA, perhaps)\n" +
                (running_.size() >= launch_.resident && next_.load() < count_
                     ? "  all " + std::to_string(running_.size()) + " CTAs or clusters that a card of " + std::to_string(launch_.multiprocessors) +
                           " multiprocessors holds at a time poll; " + std::to_string(count_ - next_.load()) + " more cannot begin before one ends\n"
                     : "") +
                running_.front()->blocked_report());
  }

  const Launch& launch_;
  std::atomic<std::uint64_t>& next_;
  const std::uint64_t count_;
  Observer* const observer_;
  const std::uint64_t patience_ = std::min(patience, launch_.options->step_limit);
  std::uint64_t at_ = 0;
  std::vector<std::unique_ptr<Cluster>> running_, idle_;
  std::size_t polled_ = 0;             // the first of those that run that have polled
  std::vector<std::uint32_t> order_;   // in which the first clusters begin, where a seed decides it
};

void SimulatedDevice::run(const Launch& l, std::uint64_t clusters) {
  std::atomic<std::uint64_t> next{0};
  std::mutex mutex;
  std::uint64_t failed = ~0ull;
  std::exception_ptr failure;
  const auto work = [&] {
    const auto observer = instrument_ ? instrument_->observe(l) : nullptr;
    Worker worker(l, next, clusters, observer.get());
    try {
      worker.run();
    } catch (...) {
      const std::lock_guard hold(mutex);
      next = clusters;
      if (worker.at() < failed) {
        failed = worker.at();
        failure = std::current_exception();
      }
    }
    const std::lock_guard hold(mutex);
    statistics_.add(worker.statistics());
    if (observer) instrument_->finish(l, *observer);
  };
  const unsigned wanted = options_.threads ? options_.threads : std::clamp(std::thread::hardware_concurrency(), 1u, 8u);
  const auto count = static_cast<unsigned>(l.program->ordered || (instrument_ && instrument_->one_thread()) ? 1 : std::min<std::uint64_t>(wanted, clusters));
  std::vector<std::thread> others;
  for (unsigned n = 1; n < count; ++n) others.emplace_back(work);
  work();
  for (std::thread& t : others) t.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

std::unique_ptr<Device> make_simulated_device(const SimulatorOptions& options) { return std::make_unique<SimulatedDevice>(options); }

namespace {

template <class D>   // Device or const Device
auto& simulated(D& device) {
  using Target = std::conditional_t<std::is_const_v<D>, const SimulatedDevice, SimulatedDevice>;
  auto* d = dynamic_cast<Target*>(&device);
  if (!d) throw Error("device '" + std::string(device.kind()) + "' is not a simulated one");
  return *d;
}

}  // namespace

SimulatorStatistics statistics(const Device& device) { return simulated(device).statistics(); }
void reset_statistics(Device& device) { simulated(device).reset(); }
void watch(Device& device, std::shared_ptr<Instrument> instrument) { simulated(device).watch(std::move(instrument)); }
void set_schedule(Device& device, std::uint64_t seed) { simulated(device).set_schedule(seed); }
void set_checks(Device& device, bool on) { simulated(device).set_checks(on); }
void add_names(Device& device, const std::vector<RoleName>& roles, const std::vector<BarrierName>& barriers) { simulated(device).add_names(roles, barriers); }

LentMemory::LentMemory(Device& device, std::vector<Range> ranges) : device_(device) {
  auto* simulated = dynamic_cast<SimulatedDevice*>(&device);
  if (!simulated) return;
  ranges_ = std::move(ranges);
  for (const Range& r : ranges_) simulated->lend({r.address, r.address + r.bytes});
}

LentMemory::~LentMemory() {
  if (ranges_.empty()) return;
  for (const Range& r : ranges_) simulated(device_).take_back({r.address, r.address + r.bytes});
}

}  // namespace tilewright::runtime::sim

namespace tilewright::runtime {

std::unique_ptr<Device> make_simulated_device() { return sim::make_simulated_device(sim::SimulatorOptions{}); }

}  // namespace tilewright::runtime
