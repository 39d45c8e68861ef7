// From a recorded program to PTX.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/dsl/kernel.h"

namespace tilewright::compiler {

/// One mistake that compile() can plant in a kernel, to see who finds it; mutations() lists them.
struct Mutation {
  enum class Stage { tile, hopper };
  Stage stage = Stage::tile;  ///< of the IR that is changed: before or after roles become threads
  std::string kind;           ///< "release.delete", "parity.flip"; empty: nothing is changed, but all checks of mutants run
  std::string place;          ///< the author's file and line
  unsigned ordinal = 0;       ///< among those of its kind in the kernel, in program order
  std::string what;           ///< for people
};

struct Options {
  bool source_lines = true;  ///< the author's file and line reach the PTX as .loc
  bool keep_stages = true;   ///< keep the text of every stage for inspection
  bool trace = false;          ///< a kernel that notes when its roles pass stamps and waits, in a variable that the sidecar describes
  bool protocol = true;        ///< tile-verify-protocol runs; tests of what finds mistakes later turn it off
  bool record_passes = false;  ///< keep the text after every pass, and its time
  std::optional<Mutation> mutation;  ///< spoil the kernel: after fence insertion, and verify it anew; or after lowering
};

/// One pass, or one step of the code generator.
struct PassRecord {
  std::string name;       ///< as tile-opt and hopper-opt know it
  double milliseconds = 0;
  std::string extension;  ///< of a file with the text: mlir, ll or ptx
  std::string text;       ///< the kernel after it; empty where a step has no text
};

/// What the compiler makes of a Program. `sidecar` is JSON: parameters, grid, roles, barriers, shared-memory map.
struct Compiled {
  std::string name;
  std::string tile_ir;
  std::string hopper_ir;
  std::string llvm_ir;
  std::string ptx;
  std::string sidecar;
  bool calls_cuda = false;         ///< a part of the PTX is NVRTC's
  std::vector<PassRecord> passes;  ///< with record_passes, in the order in which they ran
  double milliseconds = 0;
};

/// The steps of compile(), in order.
inline constexpr const char* kSteps[] = {"tile passes", "hopper passes", "code generation"};
/// Takes the name of each step as it begins.
using StepHook = std::function<void(const char* step)>;

/// Compiles for sm_90a. Throws CompileError with the author's file and line. The program is left as it was.
Compiled compile(const Program& program, const Options& options = {}, const StepHook& step = {});

/// Every mutation that the program offers, in program order. Throws CompileError, as compile().
std::vector<Mutation> mutations(const Program& program);

/// The program as text: equal texts mean equal PTX and sidecars, from the same compiler with the same options (and the same NVRTC and
/// headers, where the program calls CUDA functions).
std::string text_of(const Program& program, const Options& options);

/// Which build of the compiler this is: the build ids of the files that hold it, LLVM and MLIR. A file without a build id is known by its
/// path, size and time of change. Empty when that says nothing either.
const std::string& identity();

}  // namespace tilewright::compiler
