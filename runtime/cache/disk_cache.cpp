#include "runtime/cache/disk_cache.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "runtime/cache/files.h"
#include "tilewright/error.h"

namespace tilewright::cache {
namespace {

namespace fs = std::filesystem;
constexpr const char* kEntry = ".entry";
constexpr const char* kUses = ".uses";    // one byte for each use; its time of change is the last use
constexpr const char* kFolder = "v1";     // of this format; other versions lie beside it
constexpr std::chrono::nanoseconds kAbandoned = std::chrono::minutes(1);  // nobody takes so long to write a file

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Calls visit(path) for each file of the folder; no folder, no calls.
template <class Visit>
void for_each_file(const fs::path& folder, Visit&& visit) {
  std::error_code failure;
  for (fs::directory_iterator file(folder, failure), end; !failure && file != end; file.increment(failure)) visit(file->path());
}

}  // namespace

DiskCache::DiskCache(Settings settings, Warn warn)
    : settings_(std::move(settings)), entries_folder_(settings_.folder / kFolder), warn_(std::move(warn)) {}

fs::path DiskCache::path_of(const Key& key, const char* extension) const { return entries_folder_ / (key.text() + extension); }

void DiskCache::report(const std::string& text) {
  const std::lock_guard lock(mutex_);
  warn_("cache: " + text);
}

void DiskCache::trouble(const std::string& what, int failure) {
  if (in_trouble_.exchange(true)) return;
  report(what + " (" + settings_.origin + "): " + std::system_category().message(failure) +
         "; going on without it. TILEWRIGHT_CACHE_DIR names another folder, or 'off'");
}

std::optional<Record> DiskCache::read(const Key& key) {
  if (!enabled()) return std::nullopt;
  const fs::path path = path_of(key, kEntry);
  std::string file, why;
  if (const int failure = read_file(path, file); failure != 0) {
    if (failure == ENOTDIR) open_folder();  // says what is in the way
    else if (failure == EFBIG) discard(key, "it is larger than any kernel");
    else if (failure != ENOENT) trouble("cannot read " + path.string(), failure);
    return std::nullopt;
  }
  Record record;
  if (decode(file, key, record, why)) return record;
  discard(key, why);
  return std::nullopt;
}

std::optional<Record> DiskCache::peek(const Key& key) { return read(key); }

std::optional<Record> DiskCache::load(const Key& key) {
  std::optional<Record> record = read(key);
  // In a folder that is for reading only, uses are not counted.
  if (record && !in_trouble_) append_byte(path_of(key, kUses));
  return record;
}

void DiskCache::discard(const Key& key, const std::string& why) {
  const fs::path path = path_of(key, kEntry);
  const int failure = remove_file(path);
  report("the entry " + path.string() + " is damaged: " + why +
         (failure == 0 ? "; it is replaced" : "; it cannot be removed: " + std::system_category().message(failure)));
}

int DiskCache::open_folder() {
  const int failure = make_folders(entries_folder_);
  if (failure != 0) {
    // Name the part of the path that is in the way.
    fs::path part = entries_folder_;
    for (std::error_code ignored; part.has_parent_path() && part != part.parent_path() && !fs::exists(part, ignored);) part = part.parent_path();
    std::error_code ignored;
    const bool file = fs::exists(part, ignored) && !fs::is_directory(part, ignored);
    trouble(file ? part.string() + " is a file, expected a folder" : "cannot make the folder " + entries_folder_.string(), failure);
  }
  return failure;
}

void DiskCache::store(const Key& key, const Record& record) {
  if (!enabled() || in_trouble_) return;
  const std::string file = encode(key, record);
  if (file.size() > settings_.most_bytes) {
    trouble("an entry of " + std::to_string(file.size()) + " bytes does not fit the cache's limit of " +
                std::to_string(settings_.most_bytes) + " (TILEWRIGHT_CACHE_SIZE)", EFBIG);
    return;
  }
  if (open_folder() != 0) return;
  const fs::path path = path_of(key, kEntry);
  if (const int failure = replace_file(path, file); failure != 0) return trouble("cannot write " + path.string(), failure);
  make_room(file.size(), key);
}

KeyLock DiskCache::lock(const Key& key, std::chrono::milliseconds most) {
  if (!enabled() || in_trouble_ || open_folder() != 0) return {};
  return KeyLock(entries_folder_ / "lock", key, most);
}

std::vector<EntryStatus> DiskCache::entries() {
  std::vector<EntryStatus> found;
  if (!enabled()) return found;
  for_each_file(entries_folder_, [&](const fs::path& path) {
    const std::optional<Key> key = path.extension() == kEntry ? Key::parse(path.stem().string()) : std::nullopt;
    FileStatus entry, uses;
    if (!key || status_of(path, entry) != 0) return;  // gone meanwhile
    if (status_of(path_of(*key, kUses), uses) != 0) uses = {0, entry.changed};
    found.push_back({*key, entry.bytes, entry.changed, std::max(uses.changed, entry.changed), uses.bytes});
  });
  std::sort(found.begin(), found.end(), [](const EntryStatus& a, const EntryStatus& b) {
    return a.last_used != b.last_used ? a.last_used > b.last_used : a.key < b.key;
  });
  return found;
}

void DiskCache::make_room(std::uint64_t stored_bytes, const Key& keep) {
  {
    const std::lock_guard lock(mutex_);
    // The folder is looked through at this process's first store, and when what is known says that it is full.
    if (total_bytes_ && *total_bytes_ + stored_bytes <= settings_.most_bytes) {
      *total_bytes_ += stored_bytes;
      return;
    }
  }
  std::vector<EntryStatus> all = entries();
  std::uint64_t total = 0;
  for (const EntryStatus& entry : all) total += entry.bytes;
  // A tenth more than needed, so that the next stores need not look again.
  const std::uint64_t wanted = total > settings_.most_bytes ? settings_.most_bytes - settings_.most_bytes / 10 : settings_.most_bytes;
  for (; total > wanted && !all.empty(); all.pop_back()) {
    const EntryStatus& oldest = all.back();
    if (oldest.key == keep) continue;
    if (remove_file(path_of(oldest.key, kEntry)) != 0) continue;
    remove_file(path_of(oldest.key, kUses));
    total -= oldest.bytes;
  }
  remove_left_behind();
  const std::lock_guard lock(mutex_);
  total_bytes_ = total;
}

void DiskCache::remove_left_behind() {
  for_each_file(entries_folder_, [&](const fs::path& path) {
    FileStatus status, entry;
    const bool orphan = path.extension() == kUses && status_of(fs::path(path).replace_extension(kEntry), entry) != 0;
    if ((is_unfinished(path) || orphan) && status_of(path, status) == 0 && now() - status.changed >= kAbandoned.count()) remove_file(path);
  });
}

bool DiskCache::remove(const Key& key) {
  FileStatus status;
  const fs::path path = path_of(key, kEntry);
  if (!enabled() || status_of(path, status) != 0) return false;
  if (const int failure = remove_file(path)) throw Error("cannot remove " + path.string() + ": " + std::system_category().message(failure));
  remove_file(path_of(key, kUses));
  return true;
}

std::size_t DiskCache::clear() {
  std::size_t removed = 0;
  for (const EntryStatus& entry : entries()) removed += remove(entry.key);
  if (enabled()) remove_left_behind();
  return removed;
}

std::string DiskCache::try_out() {
  if (const int failure = make_folders(entries_folder_))
    return "cannot make the folder " + entries_folder_.string() + ": " + std::system_category().message(failure);
  const fs::path path = entries_folder_ / ("try." + std::to_string(now()));
  std::string read;
  int failure = replace_file(path, "try");
  if (failure == 0) failure = read_file(path, read);
  if (failure == 0) failure = remove_file(path);
  return failure == 0 ? "" : "cannot write " + path.string() + ": " + std::system_category().message(failure);
}

DiskCache& process_cache() {
  static DiskCache& cache = [&]() -> DiskCache& {
    const Warn warn = [](const std::string& text) { std::fprintf(stderr, "tilewright: warning: %s\n", text.c_str()); };
    return *new DiskCache(settings_from_environment(warn), warn);  // never destroyed: threads may outlive main()
  }();
  return cache;
}

}  // namespace tilewright::cache
