// Runs of kernels whose results are known: what a mutated kernel is tried on.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "runtime/cli/registry.h"

namespace tilewright::cli {

struct MutationCase {
  std::string name;                  ///< "gdn-forward, 130+0+1+64"
  std::vector<ops::Source> kernels;  ///< those that the case is there to try
  /// Runs on the device and says what is wrong with the results; empty where they are right. Throws Error for what the device reports.
  std::function<std::string(runtime::Device&, const ops::BuildOptions&)> run;
  unsigned multiprocessors = 132;    ///< of the simulated device: with one, the CTAs of persistent kernels go round
};

/// Small runs that together take every path of the kernel's protocol: no round, one, and more than its rings have stages.
std::vector<MutationCase> mutation_cases(const Entry&);
/// Those of gdn-forward: both forms, ragged and empty sequences, states, slots, checkpoints, norms.
std::vector<MutationCase> gdn_mutation_cases();

}  // namespace tilewright::cli
