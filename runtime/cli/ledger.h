// The kernels in the cache, as the subcommands of `tilewright cache` show them.
#pragma once
#include <string>
#include <vector>

#include "runtime/cache/disk_cache.h"
#include "runtime/ops/stored_kernel.h"

namespace tilewright::cli {

/// A kernel of the cache.
struct LedgerEntry {
  cache::EntryStatus status;
  ops::KernelSummary kernel;
  std::string ptx;
  /// The first digits of the key, as many as the command prints.
  std::string id() const { return status.key.text().substr(0, 12); }
};

/// All of them, the last used first. `damaged` counts entries that could not be read; they are reported and removed.
std::vector<LedgerEntry> read_ledger(cache::DiskCache&, std::size_t* damaged = nullptr);

/// The entry whose key begins with `name`, or the last used one of this configuration. Throws Error when there is none, or several.
const LedgerEntry& find_in_ledger(const std::vector<LedgerEntry>&, const std::string& name);

/// "2026-11-30 07:55" in local time.
std::string time_text(std::int64_t seconds);
/// "12.3 MiB"
std::string bytes_text(std::uint64_t bytes);

}  // namespace tilewright::cli
