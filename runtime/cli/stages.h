// The stages of a built kernel as text and files.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/ops/operator.h"

namespace tilewright::cli {

/// {"kernels": [{name, registers, spill_bytes, stack_bytes, shared_bytes, barriers, performance_loss, ptxas}]}
nlohmann::ordered_json resources_json(const std::vector<ops::BuiltPointer>&);
/// The same as a table.
std::string resources_table(const std::vector<ops::BuiltPointer>&);
/// Milliseconds of every pass of each, and of the steps of its build. Needs BuildOptions::record_passes.
std::string timing_table(const std::vector<ops::BuiltPointer>&);
/// The same as {"kernels": [{name, passes: [{name, ms}], steps: [{name, ms}]}]}
nlohmann::ordered_json timing_json(const std::vector<ops::BuiltPointer>&);
/// Writes NAME.passes/00-recorded.mlir, 01-PASS.mlir, ..., in the order of the pipeline; returns the paths.
/// Throws Error naming the file.
std::vector<std::filesystem::path> write_passes(const std::vector<ops::BuiltPointer>&, const std::filesystem::path& folder);
/// Writes NAME.tile.mlir, NAME.hopper.mlir, NAME.ll, NAME.ptx, NAME.cubin, NAME.json of each and resources.json; returns the paths.
/// Throws Error naming the file.
std::vector<std::filesystem::path> write_stages(const std::vector<ops::BuiltPointer>&, const std::filesystem::path& folder);

}  // namespace tilewright::cli
