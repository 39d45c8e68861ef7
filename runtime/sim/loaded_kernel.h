// A kernel that the simulated device has loaded: its program, its shape, and the module's variables in global memory.
#pragma once
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "runtime/device/device.h"
#include "runtime/sim/decode.h"
#include "runtime/sim/machine.h"

namespace tilewright::runtime::sim {

constexpr unsigned most_shared = 227 * 1024;
constexpr unsigned register_file = 65536;
constexpr unsigned most_cluster = 8;   // that every card runs

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

}  // namespace tilewright::runtime::sim
