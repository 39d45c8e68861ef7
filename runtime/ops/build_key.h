// What a built kernel depends on.
#pragma once
#include <optional>
#include <string>

#include "runtime/assemble/tools.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/ops/build.h"

namespace tilewright::ops {

/// The assembler that a build uses. Nothing: the driver assembles, or nobody does.
struct Assembler {
  assemble::ToolFile file;
  std::string version;
};

/// Finds the assembler; its version comes from the cache where the same file was asked before, by its path, size and time of change.
/// Throws Error when the file is absent or says no version.
std::optional<Assembler> find_assembler(const BuildOptions&, cache::DiskCache&);

/// The key of a kernel on disk. `part` says what `value` is: "configuration", a Source::key, or "program", its text. Nothing when this
/// build of the compiler cannot be told from others.
std::optional<cache::Key> key_of(const char* part, const std::string& value, const BuildOptions&, const std::optional<Assembler>&);

}  // namespace tilewright::ops
