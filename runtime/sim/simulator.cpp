// The Device that runs PTX text on the CPU: memory, loading, launches over host threads.
#include "runtime/sim/simulator.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <thread>

#include "runtime/sim/cluster.h"
#include "runtime/sim/decode.h"
#include "runtime/sim/observer.h"
#include "runtime/sim/tensor_map.h"
#include "tilewright/error.h"

namespace tilewright::runtime::sim {
namespace {

constexpr unsigned most_shared = 227 * 1024;
constexpr unsigned register_file = 65536;
constexpr unsigned most_cluster = 8;                       // that every card runs
constexpr std::uint64_t patience = 20'000;                 // warp instructions that a cluster polls before another one begins beside it

class SimulatedKernel final : public LoadedKernel {
 public:
  SimulatedKernel(std::shared_ptr<GlobalMemory> memory, const KernelImage& image) : memory_(std::move(memory)) {
    auto module = std::make_shared<ptx::Module>(ptx::parse(image.ptx));
    const auto f = std::find_if(module->entries.begin(), module->entries.end(), [&](const auto& e) { return e.name == image.name; });
    if (f == module->entries.end()) {
      std::string known;
      for (const auto& e : module->entries) known += (known.empty() ? "" : ", ") + e.name;
      throw Error("the PTX has no kernel '" + image.name + "'; it has: " + (known.empty() ? "none" : known));
    }
    shape(*f, image);
    try {
      program_ = ProgramBuilder(module, *f, *memory_, variables_).build();
    } catch (...) {
      release_variables();
      throw;
    }
    dynamic_shared_ = image.dynamic_shared_bytes;
    const std::uint64_t shared = std::uint64_t{program_->dynamic_shared} - shared_base + dynamic_shared_;
    if (shared > most_shared) {
      release_variables();
      throw Error("kernel '" + image.name + "' asks for " + std::to_string(shared) + " bytes of shared memory; a CTA has at most " + std::to_string(most_shared));
    }
  }
  ~SimulatedKernel() override { release_variables(); }

  const Program& program() const { return *program_; }
  std::array<unsigned, 3> block() const { return block_; }
  std::array<unsigned, 3> cluster() const { return cluster_; }
  unsigned dynamic_shared() const { return dynamic_shared_; }
  unsigned entry_registers() const { return entry_registers_; }
  DeviceVariable variable(const std::string& name) const {
    const auto& all = program_->module->variables;
    for (const auto& [index, address] : variables_)
      if (all[index].name == name) return {address, static_cast<std::size_t>(all[index].bytes)};
    throw Error("kernel '" + program_->function->name + "' uses no variable '" + name + "' in global memory");
  }

 private:
  void shape(const ptx::Function& f, const KernelImage& image) {
    const auto product = [](const std::array<unsigned, 3>& n) { return n[0] * n[1] * n[2]; };
    block_ = product(f.required_threads) ? f.required_threads : std::array<unsigned, 3>{image.threads ? image.threads : product(f.maximum_threads), 1, 1};
    const unsigned threads = product(block_);
    if (threads == 0 || threads > 1024) throw Error("kernel '" + image.name + "' with " + std::to_string(threads) + " threads a CTA; expected 1 to 1024");
    if (image.threads && image.threads != threads)
      throw Error("kernel '" + image.name + "' is given " + std::to_string(image.threads) + " threads a CTA, its PTX requires " + std::to_string(threads));
    if (const unsigned most = product(f.maximum_threads); most && threads > most)
      throw Error("kernel '" + image.name + "' with " + std::to_string(threads) + " threads a CTA, its PTX allows at most " + std::to_string(most));
    cluster_ = product(f.required_cluster) ? f.required_cluster : image.cluster;
    if (product(f.required_cluster) && product(image.cluster) > 1 && image.cluster != f.required_cluster)
      throw Error("kernel '" + image.name + "' is given clusters of " + place_of(image.cluster) + " CTAs, its PTX requires " + place_of(f.required_cluster));
    if (product(cluster_) == 0 || product(cluster_) > most_cluster)
      throw Error("kernel '" + image.name + "' with clusters of " + std::to_string(product(cluster_)) + " CTAs; expected 1 to " + std::to_string(most_cluster));
    const unsigned warps = (threads + warp_lanes - 1) / warp_lanes;
    unsigned registers = std::min(256u, register_file / (warps * warp_lanes * std::max(1u, f.minimum_ctas)) / 8 * 8);
    if (f.maximum_registers) registers = std::min(registers, (f.maximum_registers + 7) / 8 * 8);
    entry_registers_ = registers;
  }
  void release_variables() {
    for (const auto& [index, address] : variables_) memory_->release(address);
    variables_.clear();
  }

  std::shared_ptr<GlobalMemory> memory_;
  std::map<std::uint32_t, std::uint64_t> variables_;   // the module's global and constant memory
  std::unique_ptr<Program> program_;
  std::array<unsigned, 3> block_{1, 1, 1};
  std::array<unsigned, 3> cluster_{1, 1, 1};
  unsigned dynamic_shared_ = 0;
  unsigned entry_registers_ = 0;
};

class SimulatedDevice final : public Device {
 public:
  explicit SimulatedDevice(SimulatorOptions options) : options_(std::move(options)), memory_(std::make_shared<GlobalMemory>()) {}

  std::string_view kind() const override { return "sim"; }
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
    if (auto* place = checked(to, bytes, "copy to the device"); bytes) std::memcpy(place, from, bytes);
  }
  void copy_to_host(void* to, DeviceAddress from, std::size_t bytes) override {
    if (auto* place = checked(from, bytes, "copy to the host"); bytes) std::memcpy(to, place, bytes);
  }
  void fill(DeviceAddress to, std::uint8_t value, std::size_t bytes) override {
    if (auto* place = checked(to, bytes, "fill"); bytes) std::memset(place, value, bytes);
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
  run(l, ctas / (std::uint64_t{l.cluster[0]} * l.cluster[1] * l.cluster[2]));
}

/// Takes clusters from `next` and runs them one after the other. One that polls for what another writes stays, and the next one
/// begins beside it, as on a card that has room; when all that are there poll and nothing moves anywhere, that is an error.
class Worker {
 public:
  Worker(const Launch& l, std::atomic<std::uint64_t>& next, std::uint64_t count, Observer* observer) : launch_(l), next_(next), count_(count), observer_(observer) {}

  void run() {
    while (admit()) {
      for (std::uint64_t waited = 0; !running_.empty();) {
        const std::uint64_t before = launch_.effects.load(std::memory_order_relaxed);
        const std::size_t ended = visit_all();
        if (ended || running_.empty() || admit() || launch_.effects.load(std::memory_order_relaxed) != before) {
          waited = 0;
          continue;
        }
        waited += patience_;
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
  bool admit() {
    const std::uint64_t n = next_.fetch_add(1);
    if (n >= count_) return false;
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
      if (running_[n]->run(patience_) == Cluster::State::polling) {
        ++n;
        continue;
      }
      idle_.push_back(std::move(running_[n]));
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(n));
      ++ended;
    }
    return ended;
  }
  [[noreturn]] void give_up(std::uint64_t waited) const {
    throw Error("no forward progress: kernel '" + launch_.program->function->name + "', " + running_.front()->name() + " executed " + std::to_string(waited) +
                " warp instructions without a store, an arrival or an end; it polls for what nobody writes (another CTA, perhaps)\n" +
                running_.front()->blocked_report());
  }

  const Launch& launch_;
  std::atomic<std::uint64_t>& next_;
  const std::uint64_t count_;
  Observer* const observer_;
  const std::uint64_t patience_ = std::min(patience, launch_.options->step_limit);
  std::uint64_t at_ = 0;
  std::vector<std::unique_ptr<Cluster>> running_, idle_;
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
