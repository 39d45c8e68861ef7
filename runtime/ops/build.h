// Building kernels: from memory, from the disk, or by the compiler and ptxas.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/compile.h"
#include "runtime/assemble/assemble.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/ops/errors.h"
#include "runtime/program/program.h"

namespace tilewright::ops {

/// A kernel to be built. Equal keys mean equal kernels of one build of this library: the key names the kernel and everything fixed
/// when it is compiled. A program that comes from outside the library has no key; then its text is the key.
struct Source {
  std::string key;
  std::function<tilewright::Program()> make;
};

/// Where a build stands. The strings live until the hook returns.
struct Progress {
  const char* kernel;      ///< Source::key; "a program" for one without
  const char* step;        ///< "program", the steps of compiler::compile, "ptxas"; then "done", or "cache" where the kernel was there
  unsigned done, total;    ///< steps, of all kernels of the build
};
/// Called as each step begins and as each kernel is there, by one thread at a time, not always the same.
using ProgressHook = void (*)(void* user, const Progress&);

struct Built;
using BuiltPointer = std::shared_ptr<const Built>;

struct BuildOptions {
  bool assemble = true;           ///< make a cubin; without it the device takes the PTX
  bool enforce_contract = true;   ///< spills, stack frames and ptxas' performance warnings are errors
  bool keep_stages = false;       ///< keep the text of every stage of the compiler; the disk has none, so it is not asked
  bool trace = false;             ///< compile for a trace (compiler::Options); the disk does not keep such kernels
  bool record_passes = false;     ///< keep text and time of every pass, as well
  std::filesystem::path ptxas;    ///< empty: where find_tool finds it
  std::map<std::string, BuiltPointer> instead;  ///< kernels to use in place of those with these keys; neither memory nor disk keeps them
  ProgressHook progress = nullptr;
  void* progress_user = nullptr;
};

/// How a kernel was made.
struct Making {
  std::string configuration;      ///< Source::key, or "program <name>"
  std::vector<std::pair<std::string, double>> steps;  ///< milliseconds of each step, when it was made
  std::int64_t at = 0;            ///< seconds since 1970
  bool from_disk = false;         ///< somebody made it before
  cache::Key key;                 ///< where the disk has it
};

/// A kernel with all that was made of it.
struct Built {
  compiler::Compiled stages;          ///< from the disk: without the text of the stages before PTX
  assemble::Assembled assembled;  ///< empty unless BuildOptions::assemble
  program::Program program;
  Making making;
};

/// Builds kernels, and keeps what it built with the same options. May be used by several threads: the same kernel is made once.
class Builder {
 public:
  explicit Builder(cache::DiskCache& disk) : disk_(disk) {}
  /// Each source on a thread of its own. Throws BuildError naming the kernel, with the compiler's or ptxas' words.
  std::vector<BuiltPointer> build(const std::vector<Source>& sources, const BuildOptions& options = {});

 private:
  /// One kernel; locked while it is made.
  struct Place {
    std::mutex mutex;
    BuiltPointer built;
  };
  class Job;
  std::shared_ptr<Place> place_of(const std::string& key);

  cache::DiskCache& disk_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<Place>> places_;
};

/// The builder of this process, over cache::process_cache().
Builder& process_builder();

/// process_builder().build.
std::vector<BuiltPointer> build(const std::vector<Source>& sources, const BuildOptions& options = {});

}  // namespace tilewright::ops
