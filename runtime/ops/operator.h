// What operators share: building kernels, loading them on a device, laying out a workspace, remembering bound launches.
#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/assemble/assemble.h"
#include "runtime/device/device.h"
#include "runtime/ops/errors.h"
#include "runtime/program/program.h"
#include "tilewright/compile.h"

namespace tilewright::ops {

/// A kernel to be built. Equal keys mean equal kernels: the key names the kernel and everything fixed when it is compiled.
struct Source {
  std::string key;
  std::function<tilewright::Program()> make;
};

struct BuildOptions {
  bool assemble = true;           ///< make a cubin; without it the device takes the PTX
  bool enforce_contract = true;   ///< spills, stack frames and ptxas' performance warnings are errors
  bool keep_stages = false;       ///< keep the text of every stage of the compiler
  std::filesystem::path ptxas;    ///< empty: where find_tool finds it
};

/// A kernel with all that was made of it.
struct Built {
  CompiledKernel stages;
  assemble::Assembled assembled;  ///< empty unless BuildOptions::assemble
  program::Program program;
};
using BuiltPointer = std::shared_ptr<const Built>;

/// Compiles and assembles each source on a thread of its own. What was built once with the same options is kept for the
/// life of the process. Throws BuildError naming the kernel, with the compiler's or ptxas' words.
std::vector<BuiltPointer> build(const std::vector<Source>& sources, const BuildOptions& options = {});

/// Offsets of the parts of a workspace, each aligned to 256 bytes.
class WorkspaceLayout {
 public:
  static constexpr std::uint64_t kAlignment = 256;
  /// Reserves a part; returns its offset.
  std::uint64_t add(std::uint64_t bytes) {
    const std::uint64_t offset = bytes_;
    bytes_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return offset;
  }
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::uint64_t bytes_ = 0;
};

/// A kernel on a device.
struct Loaded {
  BuiltPointer built;
  std::unique_ptr<runtime::LoadedKernel> kernel;
};

/// The kernels of an operator on one device; may be used by several threads.
class LoadedPrograms {
 public:
  explicit LoadedPrograms(runtime::Device& device, BuildOptions options = {});
  /// The kernels of these sources, in order. Builds and loads what is not there yet.
  std::vector<std::shared_ptr<const Loaded>> get(const std::vector<Source>& sources);
  runtime::Device& device() const { return device_; }

 private:
  runtime::Device& device_;
  BuildOptions options_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Loaded>> loaded_;
};

/// One launch of a sequence: a kernel and its packed arguments.
struct Step {
  std::shared_ptr<const Loaded> program;
  program::BoundProgram bound;
  bool programmatic = false;  ///< may start before the previous kernel of the stream ends; the kernel itself waits
};
using Steps = std::vector<Step>;

/// Binds a kernel to arguments.
Step bind_step(runtime::Device& device, std::shared_ptr<const Loaded> program, const program::TensorArguments& tensors,
          const program::Scalars& scalars, bool programmatic = false);

/// Enqueues the steps on a stream.
void launch_steps(runtime::Device& device, const Steps& steps, void* stream);

/// The last few calls of an operator and their bound steps: a repeated call costs its launches only.
template <class Arguments>
class CallCache {
 public:
  /// The steps of an equal call, or null.
  std::shared_ptr<const Steps> find(const Arguments& arguments) {
    const std::lock_guard lock(mutex_);
    for (const Entry& entry : entries_)
      if (entry.steps && entry.arguments == arguments) return entry.steps;
    return nullptr;
  }
  void put(const Arguments& arguments, std::shared_ptr<const Steps> steps) {
    const std::lock_guard lock(mutex_);
    entries_[next_] = {arguments, std::move(steps)};
    next_ = (next_ + 1) % entries_.size();
  }

 private:
  struct Entry {
    Arguments arguments;
    std::shared_ptr<const Steps> steps;
  };
  std::mutex mutex_;
  std::array<Entry, 32> entries_;
  std::size_t next_ = 0;
};

/// A contiguous tensor argument.
program::TensorArgument tensor(runtime::DeviceAddress address, std::vector<std::int64_t> shape, std::string element);

}  // namespace tilewright::ops
