// Tries mutants: compiles each, and runs those that the compiler lets pass.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "runtime/cli/mutation_case.h"

namespace tilewright::cli {

/// Who found a mutant first.
enum class Finder { verifier, simulator, result, nobody };
std::string_view name_of(Finder);

struct Verdict {
  Finder finder = Finder::nobody;
  std::string report;      ///< its first line, with the author's place
  std::string on;          ///< the case that showed it
  unsigned schedule = 0;   ///< the first of the schedules that showed it
  double seconds = 0;
};

/// One kernel that is spoilt, and the cases that run it.
struct MutatedKernel {
  ops::Source source;
  std::vector<const MutationCase*> cases;
};

/// Compiles the kernel with the mutation, and runs its cases under schedules 0, 1, ... until somebody finds it. A mutation without a
/// kind is none: then whatever is found is a false alarm. May be used by several threads.
Verdict try_mutant(const MutatedKernel&, const compiler::Mutation&, unsigned schedules);

}  // namespace tilewright::cli
