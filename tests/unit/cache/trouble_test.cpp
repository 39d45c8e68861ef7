// Folders that cannot be written, full disks, killed processes, many processes and threads at once.
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "tests/unit/cache/folder.h"

namespace tilewright::cache::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr auto kNoWait = std::chrono::milliseconds(0);
constexpr int kNotPermitted = 77;

/// Runs `body` in a child process; its return value is the child's exit status.
pid_t start(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  return child;
}

int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// In a mount namespace of this process alone, a small file system lies over `folder`.
bool mount_small(const std::filesystem::path& folder, const char* options, unsigned long flags = 0) {
  return unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("small", folder.c_str(), "tmpfs", flags, options) == 0;
}

/// Everything that a user of the cache does; nothing of it may throw, and nothing is found.
void use(DiskCache& cache) {
  for (const char* name : {"a", "b"}) {
    EXPECT_EQ(cache.load(key(name)), std::nullopt);
    const KeyLock lock = cache.lock(key(name), kNoWait);
    cache.store(key(name), record("one", 100'000));
    EXPECT_EQ(cache.load(key(name)), std::nullopt);
  }
  EXPECT_THAT(cache.entries(), IsEmpty());
}

TEST_F(CacheTest, AFolderThatIsAFile) {
  overwrite(folder_ / "cache", "a file");
  DiskCache cache = open();
  use(cache);
  EXPECT_THAT(warnings_, ElementsAre(AllOf(HasSubstr("cache: " + (folder_ / "cache").string() + " is a file, expected a folder (TILEWRIGHT_CACHE_DIR)"),
                                           HasSubstr("going on without it"))));
  EXPECT_THAT(cache.try_out(), HasSubstr("Not a directory"));
  EXPECT_EQ(contents(folder_ / "cache"), "a file");
}

TEST_F(CacheTest, AFolderBelowAFile) {
  overwrite(folder_ / "file", "a file");
  DiskCache cache = open_at(folder_ / "file" / "deep" / "below");
  use(cache);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr((folder_ / "file").string() + " is a file, expected a folder")));
}

TEST_F(CacheTest, AFolderThatCannotBeMade) {
  DiskCache cache = open_at("/proc/tilewright");  // not even for root
  use(cache);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("cannot make the folder /proc/tilewright/v1 (TILEWRIGHT_CACHE_DIR)")));
}

TEST_F(CacheTest, AFolderThatIsAnEntry) {
  std::filesystem::create_directories(file_of(key("a")));
  DiskCache cache = open();
  EXPECT_EQ(cache.load(key("a")), std::nullopt);
  cache.store(key("a"), record("one"));
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("cannot read " + file_of(key("a")).string())));
}

TEST_F(CacheTest, AnEntryThatIsAPipeKeepsNobodyWaiting) {
  std::filesystem::create_directories(folder_ / "cache" / "v1");
  for (const char* extension : {".entry", ".uses"}) ASSERT_EQ(mkfifo(file_of(key("a"), extension).c_str(), 0600), 0);
  DiskCache cache = open();
  EXPECT_EQ(cache.load(key("a")), std::nullopt);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("cannot read " + file_of(key("a")).string())));
  DiskCache other = open();
  other.store(key("a"), record("one"));
  EXPECT_EQ(other.load(key("a")), record("one"));
}

TEST_F(CacheTest, AnEntryOfATerabyteIsDamaged) {
  DiskCache cache = open();
  cache.store(key("a"), record("one"));
  std::filesystem::resize_file(file_of(key("a")), std::uintmax_t{1} << 40);
  EXPECT_EQ(cache.load(key("a")), std::nullopt);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("is damaged: it is larger than any kernel; it is replaced")));
  cache.store(key("a"), record("two"));
  EXPECT_EQ(cache.load(key("a")), record("two"));
}

TEST_F(CacheTest, AReadOnlyFolderIsRead) {
  const int status = status_of(start([&] {
    std::filesystem::create_directories(folder_ / "cache");
    if (!mount_small(folder_ / "cache", "size=1m")) return kNotPermitted;
    open().store(key("a"), record("one"));
    if (mount("small", (folder_ / "cache").c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) != 0) return kNotPermitted;
    DiskCache cache = open();
    EXPECT_EQ(cache.load(key("a")), record("one"));
    EXPECT_THAT(warnings_, IsEmpty());
    for (const char* name : {"b", "c"}) {
      const KeyLock lock = cache.lock(key(name), kNoWait);
      cache.store(key(name), record("two"));
      EXPECT_EQ(cache.load(key(name)), std::nullopt);
    }
    EXPECT_EQ(cache.load(key("a")), record("one"));
    EXPECT_THAT(warnings_, ElementsAre(AllOf(HasSubstr("cannot write " + file_of(key("b")).string()), HasSubstr("Read-only file system"))));
    EXPECT_THAT(cache.try_out(), HasSubstr("Read-only file system"));
    return HasFailure() ? 1 : 0;
  }));
  if (status == kNotPermitted) GTEST_SKIP() << "mounting is not permitted here";
  EXPECT_EQ(status, 0);
}

TEST_F(CacheTest, AFullDisk) {
  const int status = status_of(start([&] {
    std::filesystem::create_directories(folder_ / "cache");
    if (!mount_small(folder_ / "cache", "size=64k")) return kNotPermitted;
    DiskCache cache = open();
    cache.store(key("small"), record("one", 10'000));
    cache.store(key("large"), record("two", 100'000));
    cache.store(key("other"), record("three", 100'000));
    EXPECT_THAT(warnings_, ElementsAre(AllOf(HasSubstr("cannot write " + file_of(key("large")).string()), HasSubstr("No space left on device"))));
    EXPECT_EQ(cache.load(key("small")), record("one", 10'000));
    EXPECT_EQ(cache.load(key("large")), std::nullopt);
    // Nothing half written is left.
    std::size_t files = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder_ / "cache" / "v1")) files += file.path().extension() == ".unfinished";
    EXPECT_EQ(files, 0u);
    return HasFailure() ? 1 : 0;
  }));
  if (status == kNotPermitted) GTEST_SKIP() << "mounting is not permitted here";
  EXPECT_EQ(status, 0);
}

TEST_F(CacheTest, AFileSizeLimit) {
  EXPECT_EQ(status_of(start([&] {
    const rlimit limit{50'000, 50'000};
    setrlimit(RLIMIT_FSIZE, &limit);  // past it, SIGXFSZ would end the process
    DiskCache cache = open();
    cache.store(key("small"), record("one", 10'000));
    for (const char* name : {"a", "b"}) cache.store(key(name), record("two", 100'000));
    EXPECT_EQ(cache.load(key("a")), std::nullopt);
    EXPECT_THAT(warnings_, ElementsAre(AllOf(HasSubstr("cannot write " + file_of(key("a")).string()), HasSubstr("File too large"))));
    return HasFailure() ? 1 : 0;
  })), 0);
  DiskCache cache = open();
  EXPECT_EQ(cache.load(key("small")), record("one", 10'000));
  EXPECT_EQ(cache.load(key("a")), std::nullopt);
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(CacheTest, AProcessKilledWhileItWrites) {
  for (int round = 0; round < 40; ++round) {
    const pid_t child = start([&] {
      DiskCache cache = open();
      for (int i = 0;; ++i) {
        const KeyLock lock = cache.lock(key("a"), std::chrono::seconds(1));
        cache.store(key("a"), record("text " + std::to_string(i % 2), 200'000));
      }
      return 0;
    });
    std::this_thread::sleep_for(std::chrono::microseconds(500 + 311 * round));
    kill(child, SIGKILL);
    EXPECT_EQ(status_of(child), 128 + SIGKILL);
    DiskCache cache = open();
    const std::optional<Record> found = cache.load(key("a"));
    EXPECT_TRUE(!found || found == record("text 0", 200'000) || found == record("text 1", 200'000));
    EXPECT_TRUE(cache.lock(key("a"), kNoWait).held());  // the dead hold no locks
  }
  DiskCache cache = open();
  cache.store(key("a"), record("text"));
  EXPECT_EQ(cache.load(key("a")), record("text"));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(CacheTest, OneProcessAtATimeHoldsAKey) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = start([&] {
    DiskCache cache = open();
    const KeyLock lock = cache.lock(key("a"), kNoWait);
    if (write(ready[1], lock.held() ? "y" : "n", 1) != 1) return 1;
    pause();
    return 0;
  });
  char held = 0;
  ASSERT_EQ(read(ready[0], &held, 1), 1);
  EXPECT_EQ(held, 'y');
  DiskCache cache = open();
  EXPECT_FALSE(cache.lock(key("a"), kNoWait).held());
  EXPECT_TRUE(cache.lock(key("b"), kNoWait).held());
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(cache.lock(key("a"), std::chrono::milliseconds(60)).held());
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(60));
  std::thread killer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    kill(child, SIGKILL);
  });
  EXPECT_TRUE(cache.lock(key("a"), std::chrono::seconds(20)).held());
  killer.join();
  status_of(child);
}

TEST_F(CacheTest, ALockExcludesThreadsToo) {
  DiskCache cache = open();
  const KeyLock first = cache.lock(key("a"), kNoWait);
  EXPECT_TRUE(first.held());
  EXPECT_FALSE(cache.lock(key("a"), kNoWait).held());
}

TEST_F(CacheTest, ManyProcessesAtOnce) {
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child)
    children.push_back(start([&, child] {
      DiskCache cache = open(400'000);  // room for some of the entries only
      for (int i = 0; i < 150; ++i) {
        const std::string name = std::to_string((i + child * 7) % 8);
        cache.store(key(name), record(name, 60'000 + 10 * child));
        const std::optional<Record> found = cache.load(key(name));
        if (found && *found->find("text") != name) return 1;
      }
      return warnings_.empty() ? 0 : 2;
    }));
  for (const pid_t child : children) EXPECT_EQ(status_of(child), 0);
  DiskCache cache = open();
  std::uint64_t total = 0;
  for (const EntryStatus& entry : cache.entries()) {
    EXPECT_NE(cache.load(entry.key), std::nullopt);
    total += entry.bytes;
  }
  EXPECT_LE(total, 8 * 60'200u);
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(CacheTest, ManyThreadsAtOnce) {
  DiskCache cache = open(400'000);
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 6; ++thread)
      threads.emplace_back([&, thread] {
        for (int i = 0; i < 40; ++i) {
          const std::string name = std::to_string((i + thread * 3) % 8);
          const KeyLock lock = cache.lock(key(name), std::chrono::seconds(20));
          cache.store(key(name), record(name, 60'000));
          const std::optional<Record> found = cache.load(key(name));
          if (!lock.held() || (found && found != record(name, 60'000))) ++wrong;
          if (i % 16 == 0) cache.entries();
          if (thread == 0 && i % 20 == 0) cache.clear();
        }
      });
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(CacheTest, TroubleInManyThreadsIsSaidOnce) {
  overwrite(folder_ / "cache", "a file");
  DiskCache cache = open();
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) threads.emplace_back([&] { cache.store(key("a"), record("one")); });
  }
  EXPECT_EQ(warnings_.size(), 1u);
}

}  // namespace
}  // namespace tilewright::cache::test
