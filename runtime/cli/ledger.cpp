#include "runtime/cli/ledger.h"

#include <fmt/format.h>

#include <ctime>

#include "tilewright/error.h"

namespace tilewright::cli {

std::vector<LedgerEntry> read_ledger(cache::DiskCache& disk, std::size_t* damaged) {
  std::vector<LedgerEntry> ledger;
  for (const cache::EntryStatus& status : disk.entries()) {
    const auto record = disk.peek(status.key);
    if (!record) {
      if (damaged != nullptr) ++*damaged;
      continue;
    }
    try {
      auto kernel = ops::summary_of(*record);
      if (!kernel) continue;  // what else is remembered
      const std::string* ptx = record->find("ptx");
      ledger.push_back({status, std::move(*kernel), ptx != nullptr ? *ptx : ""});
    } catch (const Error& error) {
      disk.discard(status.key, error.what());
      if (damaged != nullptr) ++*damaged;
    }
  }
  return ledger;
}

const LedgerEntry& find_in_ledger(const std::vector<LedgerEntry>& ledger, const std::string& name) {
  std::vector<const LedgerEntry*> by_key;
  for (const LedgerEntry& entry : ledger) {
    if (entry.kernel.making.configuration == name) return entry;
    if (!name.empty() && entry.status.key.text().starts_with(name)) by_key.push_back(&entry);
  }
  if (by_key.size() == 1) return *by_key[0];
  if (by_key.empty()) throw Error("the cache has no kernel '" + name + "'; expected the beginning of an entry or a configuration, as `tilewright cache list` shows them (`tilewright compile` puts a kernel there)");
  throw Error(std::to_string(by_key.size()) + " entries of the cache begin with '" + name + "': " + by_key[0]->id() + ", " + by_key[1]->id() + "; give more digits");
}

std::string time_text(std::int64_t seconds) {
  const std::time_t time = seconds;
  std::tm local{};
  localtime_r(&time, &local);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}", local.tm_year + 1900, local.tm_mon + 1, local.tm_mday, local.tm_hour, local.tm_min);
}

std::string bytes_text(std::uint64_t bytes) {
  double value = static_cast<double>(bytes);
  const char* unit = "B";
  for (const char* next : {"KiB", "MiB", "GiB"}) {
    if (value < 1024) break;
    value /= 1024;
    unit = next;
  }
  return *unit == 'B' ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, unit);
}

}  // namespace tilewright::cli
