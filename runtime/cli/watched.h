// What the simulator counts, and how accurate it finds each instruction: tables and JSON.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/cli/command.h"
#include "runtime/sim/count/counting.h"
#include "runtime/sim/shadow/shadow.h"

namespace tilewright::cli {

/// Runs the kernel with --count or --shadow and prints what was seen behind the result.
int run_watched(const Options&, std::ostream& out);
/// Runs the kernel's host case on the simulator; the counts of its kernels.
std::vector<runtime::sim::KernelCounts> counted(const Options&);

/// Warp instructions by class and role, and bytes by kind.
std::string count_table(const std::vector<runtime::sim::KernelCounts>&);
/// The accesses to shared memory, those that lose most passes first.
std::string conflict_table(const std::vector<runtime::sim::KernelCounts>&);
/// [{kernel, launches, classes: {class: {role: n}}, bytes: {kind: n}, sites: [{source, role, opcode, ptx_line, executed, ...}]}]
nlohmann::ordered_json counts_json(const std::vector<runtime::sim::KernelCounts>&);

/// An output beside its shadow.
struct ShadowedOutput {
  std::string name;
  runtime::sim::ShadowedArray array;
};
std::string shadow_table(const std::vector<runtime::sim::ShadowLine>&, const std::vector<ShadowedOutput>&);
nlohmann::ordered_json shadow_json(const std::vector<runtime::sim::ShadowLine>&, const std::vector<ShadowedOutput>&);

}  // namespace tilewright::cli
