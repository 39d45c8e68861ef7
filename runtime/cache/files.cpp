#include "runtime/cache/files.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <ctime>

namespace tilewright::cache {
namespace {

namespace fs = std::filesystem;
constexpr const char* kUnfinished = ".unfinished";
constexpr off_t kMostFile = off_t{1} << 30;  // no kernel is so large: a damaged file must not take all memory

/// An open file, closed with the scope.
struct Descriptor {
  int fd;
  Descriptor(const fs::path& path, int flags, mode_t mode = 0) : fd(open(path.c_str(), flags | O_CLOEXEC, mode)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
  /// Closes now; the last write errors of some file systems show here.
  int finish() {
    const int result = close(fd);
    fd = -1;
    return result == 0 ? 0 : errno;
  }
};

/// While it lives, writing past the process's file size limit fails with EFBIG instead of ending the process.
class FileSizeSignalBlocked {
 public:
  FileSizeSignalBlocked() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~FileSizeSignalBlocked() {
    if (sigismember(&before_, SIGXFSZ) == 1) return;
    const timespec now{};
    while (sigtimedwait(&signal_, nullptr, &now) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  FileSizeSignalBlocked(const FileSizeSignalBlocked&) = delete;
  FileSizeSignalBlocked& operator=(const FileSizeSignalBlocked&) = delete;

 private:
  sigset_t signal_, before_;
};

int write_all(int fd, std::string_view bytes) {
  const FileSizeSignalBlocked blocked;
  while (!bytes.empty()) {
    const ssize_t count = write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    if (count == 0) return ENOSPC;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

}  // namespace

int read_file(const fs::path& path, std::string& bytes) {
  Descriptor file(path, O_RDONLY | O_NONBLOCK);  // a pipe of this name keeps nobody waiting
  struct stat status {};
  if (file.fd < 0 || fstat(file.fd, &status) != 0) return errno;
  if (!S_ISREG(status.st_mode)) return S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
  if (status.st_size > kMostFile) return EFBIG;
  bytes.resize(static_cast<std::size_t>(status.st_size));
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t count = read(file.fd, bytes.data() + have, bytes.size() - have);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    if (count == 0) break;  // it became shorter meanwhile
    have += static_cast<std::size_t>(count);
  }
  bytes.resize(have);
  return 0;
}

int replace_file(const fs::path& path, std::string_view bytes) {
  static std::atomic<unsigned> counter{0};
  // The time keeps apart what processes of the same number on several machines write to a shared folder.
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const fs::path unfinished = path.string() + "." + std::to_string(getpid()) + "." + std::to_string(now.tv_nsec) + "." +
                              std::to_string(counter++) + kUnfinished;
  Descriptor file(unfinished, O_WRONLY | O_CREAT | O_EXCL, 0666);
  if (file.fd < 0) return errno;
  int failure = write_all(file.fd, bytes);
  if (const int last = file.finish(); failure == 0) failure = last;
  if (failure == 0 && rename(unfinished.c_str(), path.c_str()) != 0) failure = errno;
  if (failure != 0) unlink(unfinished.c_str());
  return failure;
}

int append_byte(const fs::path& path) {
  Descriptor file(path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK, 0666);
  return file.fd < 0 ? errno : write_all(file.fd, "+");
}

int make_folders(const fs::path& path) {
  if (mkdir(path.c_str(), 0700) == 0) return 0;
  if (errno == EEXIST) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) return errno;
    return S_ISDIR(status.st_mode) ? 0 : ENOTDIR;
  }
  if (errno != ENOENT || !path.has_parent_path() || path.parent_path() == path) return errno;
  if (const int failure = make_folders(path.parent_path())) return failure;
  return mkdir(path.c_str(), 0700) == 0 || errno == EEXIST ? 0 : errno;
}

int remove_file(const fs::path& path) { return unlink(path.c_str()) == 0 || errno == ENOENT ? 0 : errno; }

int status_of(const fs::path& path, FileStatus& out) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return errno;
  out.bytes = static_cast<std::uint64_t>(status.st_size);
  out.changed = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  return 0;
}

bool is_unfinished(const fs::path& path) { return path.extension() == kUnfinished; }

}  // namespace tilewright::cache
