// What the cache keeps, what it finds again, and what it does about damage.
#include "runtime/cache/disk_cache.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>

#include "tests/unit/cache/folder.h"

namespace tilewright::cache::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Sets a file's time of change back.
void make_older(const std::filesystem::path& path, std::chrono::seconds by) {
  std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) - by);
}

std::vector<Key> keys_of(DiskCache& cache) {
  std::vector<Key> keys;
  for (const EntryStatus& entry : cache.entries()) keys.push_back(entry.key);
  return keys;
}

TEST_F(CacheTest, FindsWhatWasStored) {
  DiskCache writer = open(), reader = open();
  EXPECT_EQ(writer.load(key("a")), std::nullopt);
  writer.store(key("a"), record("one"));
  writer.store(key("b"), Record());
  EXPECT_EQ(reader.load(key("a")), record("one"));
  EXPECT_EQ(*reader.load(key("a"))->find("text"), "one");
  EXPECT_EQ(reader.load(key("a"))->find("other"), nullptr);
  EXPECT_EQ(reader.load(key("b")), Record());
  EXPECT_EQ(reader.load(key("c")), std::nullopt);
  writer.store(key("a"), record("two"));
  EXPECT_EQ(reader.load(key("a")), record("two"));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(CacheTest, CountsUses) {
  DiskCache cache = open();
  cache.store(key("a"), record("one"));
  cache.store(key("b"), record("two"));
  make_older(file_of(key("a")), std::chrono::seconds(100));
  make_older(file_of(key("b")), std::chrono::seconds(50));
  EXPECT_THAT(keys_of(cache), ElementsAre(key("b"), key("a")));
  cache.peek(key("b"));
  for (int i = 0; i < 3; ++i) open().load(key("a"));
  const std::vector<EntryStatus> entries = cache.entries();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].key, key("a"));
  EXPECT_EQ(entries[0].uses, 3u);
  EXPECT_GT(entries[0].last_used, entries[0].stored);
  EXPECT_EQ(entries[1].uses, 0u);
  EXPECT_EQ(entries[1].last_used, entries[1].stored);
  EXPECT_EQ(entries[0].bytes, std::filesystem::file_size(file_of(key("a"))));
}

TEST_F(CacheTest, EveryFlippedBitIsFound) {
  DiskCache cache = open();
  cache.store(key("a"), record("one", 20));
  const std::string good = contents(file_of(key("a")));
  for (std::size_t i = 0; i < good.size(); ++i)
    for (int bit = 0; bit < 8; bit += i < 64 ? 1 : 3) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ 1 << bit);
      overwrite(file_of(key("a")), bad);
      warnings_.clear();
      ASSERT_EQ(cache.load(key("a")), std::nullopt) << i << "." << bit;
      ASSERT_THAT(warnings_, ElementsAre(AllOf(HasSubstr("cache: the entry " + file_of(key("a")).string() + " is damaged: "), HasSubstr("it is replaced")))) << i;
      ASSERT_EQ(cache.load(key("a")), std::nullopt);  // said once
      ASSERT_EQ(warnings_.size(), 1u);
    }
  cache.store(key("a"), record("one", 20));
  EXPECT_EQ(contents(file_of(key("a"))), good);
}

TEST_F(CacheTest, EveryTruncationIsFound) {
  DiskCache cache = open();
  cache.store(key("a"), record("one", 20));
  const std::string good = contents(file_of(key("a")));
  for (std::size_t length = 0; length < good.size(); ++length) {
    overwrite(file_of(key("a")), good.substr(0, length));
    ASSERT_EQ(cache.load(key("a")), std::nullopt) << length;
  }
  EXPECT_EQ(warnings_.size(), good.size());
  overwrite(file_of(key("a")), good + "more");
  EXPECT_EQ(cache.load(key("a")), std::nullopt);
}

TEST_F(CacheTest, SaysWhatIsDamaged) {
  DiskCache cache = open();
  cache.store(key("a"), record("one"));
  const std::string good = contents(file_of(key("a")));
  const auto warning_of = [&](const std::string& bytes) {
    overwrite(file_of(key("a")), bytes);
    warnings_.clear();
    cache.load(key("a"));
    return warnings_.size() == 1 ? warnings_[0] : "";
  };
  EXPECT_THAT(warning_of("short"), HasSubstr("it has 5 bytes, fewer than a header"));
  EXPECT_THAT(warning_of("x" + good.substr(1)), HasSubstr("it does not begin as an entry does"));
  std::string other = good;
  other[8] = 2;
  EXPECT_THAT(warning_of(other), HasSubstr("its format is 2, expected 1"));
  EXPECT_THAT(warning_of(good.substr(0, good.size() - 3)), HasSubstr("bytes after the header, expected"));
  other = good;
  other.back() ^= 1;
  EXPECT_THAT(warning_of(other), HasSubstr("its checksum differs"));
  EXPECT_THAT(warning_of(encode(key("b"), record("one"))), HasSubstr("it was written for another key"));
  cache.store(key("a"), record("one"));
  warnings_.clear();
  cache.discard(key("a"), "its reader does not like it");
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("is damaged: its reader does not like it")));
  EXPECT_EQ(cache.load(key("a")), std::nullopt);
}

TEST_F(CacheTest, TheLongestUnusedMakeRoom) {
  const std::uint64_t bytes = encode(key("a"), record("0", 1000)).size();
  DiskCache cache = open(5 * bytes);
  for (int i = 0; i < 5; ++i) {
    cache.store(key(std::to_string(i)), record("0", 1000));
    make_older(file_of(key(std::to_string(i))), std::chrono::seconds(100 - i));
  }
  EXPECT_EQ(cache.entries().size(), 5u);
  cache.load(key("0"));  // now 1 is the one not used for the longest time
  cache.store(key("5"), record("0", 1000));
  std::vector<Key> left = keys_of(cache);
  const auto has = [&](const char* name) { return std::count(left.begin(), left.end(), key(name)) == 1; };
  EXPECT_TRUE(has("0"));
  EXPECT_FALSE(has("1"));
  EXPECT_FALSE(has("2"));  // a tenth below the limit
  EXPECT_TRUE(has("4"));
  EXPECT_TRUE(has("5"));
  EXPECT_FALSE(std::filesystem::exists(file_of(key("1"), ".uses")));
  // Another process sees the limit at its first store.
  open(2 * bytes).store(key("6"), record("0", 1000));
  left = keys_of(cache);
  EXPECT_TRUE(has("6"));
  EXPECT_EQ(left.size(), 1u);
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(CacheTest, AnEntryBeyondTheLimitIsNotKept) {
  DiskCache cache = open(500);
  cache.store(key("a"), record("0", 1000));
  EXPECT_EQ(cache.load(key("a")), std::nullopt);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("does not fit the cache's limit of 500 (TILEWRIGHT_CACHE_SIZE)")));
}

TEST_F(CacheTest, RemoveAndClear) {
  DiskCache cache = open();
  for (const char* name : {"a", "b", "c"}) cache.store(key(name), record(name));
  cache.load(key("a"));
  EXPECT_TRUE(cache.remove(key("a")));
  EXPECT_FALSE(cache.remove(key("a")));
  EXPECT_FALSE(std::filesystem::exists(file_of(key("a"), ".uses")));
  const auto left_behind = file_of(key("b"), ".entry.1.2.3.unfinished"), fresh = file_of(key("c"), ".entry.1.2.4.unfinished");
  overwrite(left_behind, "half");
  overwrite(fresh, "half");
  make_older(left_behind, std::chrono::minutes(2));
  overwrite(file_of(key("b")).parent_path() / "someone elses file", "stays");
  EXPECT_EQ(cache.clear(), 2u);
  EXPECT_THAT(cache.entries(), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(left_behind));
  EXPECT_TRUE(std::filesystem::exists(fresh));  // someone may be writing it
  EXPECT_TRUE(std::filesystem::exists(file_of(key("b")).parent_path() / "someone elses file"));
}

TEST_F(CacheTest, SwitchedOff) {
  DiskCache cache = open_at("");
  EXPECT_FALSE(cache.enabled());
  cache.store(key("a"), record("one"));
  EXPECT_EQ(cache.load(key("a")), std::nullopt);
  EXPECT_FALSE(cache.lock(key("a"), std::chrono::seconds(1)).held());
  EXPECT_THAT(cache.entries(), IsEmpty());
  EXPECT_EQ(cache.clear(), 0u);
  EXPECT_FALSE(cache.remove(key("a")));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(CacheTest, NewFoldersAreForTheUserAlone) {
  DiskCache cache = open_at(folder_ / "a" / "b");
  cache.store(key("a"), record("one"));
  struct stat status {};
  ASSERT_EQ(stat((folder_ / "a" / "b" / "v1").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 077, 0u);
  EXPECT_EQ(cache.try_out(), "");
}

}  // namespace
}  // namespace tilewright::cache::test
