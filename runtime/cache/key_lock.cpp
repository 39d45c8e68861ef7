#include "runtime/cache/key_lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

namespace tilewright::cache {

KeyLock::KeyLock(const std::filesystem::path& file, const Key& key, std::chrono::milliseconds most) {
  using Clock = std::chrono::steady_clock;
  // Open file description locks: unlike POSIX locks they also exclude threads of one process, and closing another
  // descriptor of the file does not drop them.
  fd_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd_ < 0) return;
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  std::uint64_t offset = 0;
  std::memcpy(&offset, key.bytes.data(), sizeof offset);
  lock.l_start = static_cast<off_t>(offset >> 2);
  lock.l_len = 1;
  const auto deadline = Clock::now() + most;
  for (auto pause = std::chrono::milliseconds(1);; pause = std::min(pause * 2, std::chrono::milliseconds(20))) {
    if (fcntl(fd_, F_OFD_SETLK, &lock) == 0) return;
    const bool busy = errno == EAGAIN || errno == EACCES || errno == EINTR;
    if (!busy || Clock::now() >= deadline) break;
    std::this_thread::sleep_for(pause);
  }
  close(fd_);
  fd_ = -1;
}

KeyLock::~KeyLock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace tilewright::cache
