// A content-addressed cache on disk, shared by processes. What it promises, and the form of its files: docs/cache.md.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/cache/key.h"
#include "runtime/cache/key_lock.h"
#include "runtime/cache/record.h"
#include "runtime/cache/settings.h"

namespace tilewright::cache {

/// An entry as the folder shows it.
struct EntryStatus {
  Key key;
  std::uint64_t bytes = 0;
  std::int64_t stored = 0, last_used = 0;  ///< nanoseconds since 1970; an entry that was never used: when it was stored
  std::uint64_t uses = 0;                  ///< how often load() found it
};

/// May be used by several threads. What the disk cannot do is no error: it is warned of once, and the cache does without.
class DiskCache {
 public:
  /// `warn` may be called by several threads, one at a time.
  DiskCache(Settings settings, Warn warn);
  DiskCache(const DiskCache&) = delete;
  DiskCache& operator=(const DiskCache&) = delete;

  /// False: nothing is ever found or stored.
  bool enabled() const { return !settings_.folder.empty(); }
  const Settings& settings() const { return settings_; }

  /// What was stored under the key, counted as a use. A damaged entry is reported, removed, and not found.
  std::optional<Record> load(const Key& key);
  /// The same without counting; for those who look at the cache.
  std::optional<Record> peek(const Key& key);
  /// Stores a record, in place of an older one. Entries that were not used for the longest time make room.
  void store(const Key& key, const Record& record);
  /// Reports an entry whose content its reader could not use, and removes it.
  void discard(const Key& key, const std::string& why);

  /// A lock for whoever makes the entry, waited for at most this long. See KeyLock.
  KeyLock lock(const Key& key, std::chrono::milliseconds most);

  /// All entries, the last used first.
  std::vector<EntryStatus> entries();
  /// Removes one entry, or all and whatever processes that were killed left behind. Return whether, or how many, were removed.
  /// Throw Error naming the file that cannot be removed.
  bool remove(const Key& key);
  std::size_t clear();

  /// Stores, reads and removes a small entry. Empty when that works, else what does not.
  std::string try_out();

 private:
  std::filesystem::path path_of(const Key& key, const char* extension) const;
  std::optional<Record> read(const Key& key);
  void trouble(const std::string& what, int failure);
  void report(const std::string& text);
  int open_folder();
  void make_room(std::uint64_t stored_bytes, const Key& keep);
  void remove_left_behind();

  const Settings settings_;
  const std::filesystem::path entries_folder_;
  const Warn warn_;
  std::mutex mutex_;                     // of warn_ and the sizes
  std::atomic<bool> in_trouble_{false};  // warned: nothing is stored any more
  std::optional<std::uint64_t> total_bytes_;  // of all entries, as far as this process knows
};

/// The cache of this process, by the environment as it is at the first call. It warns on standard error.
DiskCache& process_cache();

}  // namespace tilewright::cache
