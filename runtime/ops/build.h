// Building the kernels of operators and loading them on a device.
#pragma once
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
#include "compiler/compile.h"

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
  compiler::Compiled stages;
  assemble::Assembled assembled;  ///< empty unless BuildOptions::assemble
  program::Program program;
};
using BuiltPointer = std::shared_ptr<const Built>;

/// Compiles and assembles each source on a thread of its own. What was built once with the same options is kept for the
/// life of the process. Throws BuildError naming the kernel, with the compiler's or ptxas' words.
std::vector<BuiltPointer> build(const std::vector<Source>& sources, const BuildOptions& options = {});

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

}  // namespace tilewright::ops
