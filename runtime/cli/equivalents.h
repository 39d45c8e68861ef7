// Mutants that change nothing anybody could see, with the reason.
#pragma once
#include <string>
#include <vector>

#include "compiler/compile.h"

namespace tilewright::cli {

struct Equivalent {
  std::string kernel;   ///< ops::Source::key, or * for every kernel
  std::string kind;     ///< this and the next two: of the compiler::Mutation
  unsigned ordinal = 0;
  std::string what;
  std::string reason;
  bool is(const std::string& of_kernel, const compiler::Mutation& m) const {
    return (kernel == of_kernel || kernel == "*") && kind == m.kind && ordinal == m.ordinal && what == m.what;
  }
};

/// Reads lines `kernel | kind | ordinal | what | reason`; empty lines and those that begin with # say nothing. Throws Error that
/// names the file and line of what cannot be read.
std::vector<Equivalent> read_equivalents(const std::string& path);

}  // namespace tilewright::cli
