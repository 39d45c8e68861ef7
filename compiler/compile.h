// From a recorded program to PTX.
#pragma once
#include <string>

#include "tilewright/dsl/kernel.h"

namespace tilewright::compiler {

struct Options {
  bool source_lines = true;  ///< the author's file and line reach the PTX as .loc
  bool keep_stages = true;   ///< keep the text of every stage for inspection
};

/// What the compiler makes of a Program. `sidecar` is JSON: parameters, grid, roles, barriers, shared-memory map.
struct Compiled {
  std::string name;
  std::string tile_ir;
  std::string hopper_ir;
  std::string llvm_ir;
  std::string ptx;
  std::string sidecar;
  double milliseconds = 0;
};

/// Compiles for sm_90a. Throws CompileError with the author's file and line. The program is left as it was.
Compiled compile(const Program& program, const Options& options = {});

}  // namespace tilewright::compiler
