// One process at a time makes an entry; the others wait for it.
#pragma once
#include <chrono>
#include <filesystem>

#include "runtime/cache/key.h"

namespace tilewright::cache {

/// A lock on one key, among processes and threads. It ends with its owner, a killed process included. It only saves work: where it
/// cannot be had (no locks on this file system, a read-only folder, a holder that takes too long) two may make the same entry.
class KeyLock {
 public:
  KeyLock() = default;
  /// Waits at most `most` for the lock. `file` is the lock file of the cache, of which the key chooses one byte.
  KeyLock(const std::filesystem::path& file, const Key& key, std::chrono::milliseconds most);
  ~KeyLock();
  KeyLock(KeyLock&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  KeyLock& operator=(KeyLock&&) = delete;
  bool held() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

}  // namespace tilewright::cache
