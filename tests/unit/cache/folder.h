// A folder for one test, and a cache in it whose warnings are kept.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "runtime/cache/disk_cache.h"

namespace tilewright::cache::test {

class CacheTest : public testing::Test {
 protected:
  CacheTest() {
    std::string name = (std::filesystem::temp_directory_path() / "tilewright-cache-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder " + name);
    folder_ = name;
  }
  ~CacheTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  /// A cache in the folder (or another), as a process of its own would have it.
  DiskCache open(std::uint64_t most_bytes = 1 << 20) { return open_at(folder_ / "cache", most_bytes); }
  DiskCache open_at(const std::filesystem::path& folder, std::uint64_t most_bytes = 1 << 20) {
    return DiskCache({folder, "TILEWRIGHT_CACHE_DIR", most_bytes}, [this](const std::string& text) { warnings_.push_back(text); });
  }
  std::filesystem::path file_of(const Key& key, const char* extension = ".entry") const {
    return folder_ / "cache" / "v1" / (key.text() + extension);
  }

  std::filesystem::path folder_;
  std::vector<std::string> warnings_;
};

inline Key key(const std::string& name) { return KeyBuilder().add("name", name).finish(); }

inline Record record(const std::string& text, std::size_t bytes = 100) {
  Record r;
  r.add("text", text);
  r.add("bytes", std::string(bytes, 'x'));
  return r;
}

inline std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void overwrite(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace tilewright::cache::test
