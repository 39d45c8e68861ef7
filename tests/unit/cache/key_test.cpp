// Keys, checksums and settings.
#include "runtime/cache/key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <set>

#include "runtime/cache/checksum.h"
#include "runtime/cache/settings.h"

namespace tilewright::cache {
namespace {

TEST(Key, IsSha256) {
  // KeyBuilder hashes "1:3:" + name + value; sums from sha256sum.
  EXPECT_EQ(KeyBuilder().add("a", "bcd").finish().text(), "7a428d8a008d3e60a7f09b0eea575f426f2d316a08ddb1c1c1f2bf9f6a98abaa");
  EXPECT_EQ(KeyBuilder().finish().text(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  // Lengths around the block of 64 bytes and its padding.
  EXPECT_EQ(KeyBuilder().add("n", std::string(49, 'x')).finish().text(), "c81804e9b4577725095f97bfb96fdf4c649a34dfe270488350a58e02547d81e4");
  EXPECT_EQ(KeyBuilder().add("n", std::string(50, 'x')).finish().text(), "8ea0f67fc142c46464c8a0ef3d2fa3c968826e71fe43906199e4718436e627d1");
  EXPECT_EQ(KeyBuilder().add("n", std::string(58, 'x')).finish().text(), "471de94027c472685ed3c7d5983f10f7dc2b4ac951618cf9ad889e76a30e5ce9");
  EXPECT_EQ(KeyBuilder().add("n", std::string(1000, 'x')).finish().text(), "37b05a74281f0d7fef8ceb74ae755eacf5ab0cf4c0fa16d70f8415ea69b3f820");
}

TEST(Key, DependsOnEveryPart) {
  std::set<Key> keys;
  keys.insert(KeyBuilder().add("a", "b").finish());
  keys.insert(KeyBuilder().add("a", "c").finish());
  keys.insert(KeyBuilder().add("b", "b").finish());
  keys.insert(KeyBuilder().add("ab", "").finish());
  keys.insert(KeyBuilder().add("", "ab").finish());
  keys.insert(KeyBuilder().add("a", "b").add("c", "d").finish());
  keys.insert(KeyBuilder().add("c", "d").add("a", "b").finish());
  keys.insert(KeyBuilder().add("a", "b1:1:cd").finish());
  keys.insert(KeyBuilder().add("a", 12).finish());
  EXPECT_EQ(keys.size(), 9u);
  EXPECT_EQ(KeyBuilder().add("a", 12).finish(), KeyBuilder().add("a", "12").finish());
}

TEST(Key, TextIsReadBack) {
  const Key key = KeyBuilder().add("a", "b").finish();
  EXPECT_EQ(Key::parse(key.text()), key);
  EXPECT_EQ(Key::parse(key.text().substr(1)), std::nullopt);
  EXPECT_EQ(Key::parse(std::string(64, 'g')), std::nullopt);
  EXPECT_EQ(Key::parse(std::string(64, 'A')), std::nullopt);
}

TEST(Checksum, IsCrc64OfXz) {
  EXPECT_EQ(checksum("123456789"), 0x995dc9bbdf1939fau);
  EXPECT_EQ(checksum(""), 0u);
  const std::string text = "a text that is longer than a step of eight bytes";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) EXPECT_EQ(checksum(text.substr(cut), checksum(text.substr(0, cut))), checksum(text));
}

TEST(Settings, Sizes) {
  EXPECT_EQ(parse_size("1000"), 1000u);
  EXPECT_EQ(parse_size("2K"), 2048u);
  EXPECT_EQ(parse_size("512M"), 512u << 20);
  EXPECT_EQ(parse_size("3g"), std::uint64_t{3} << 30);
  for (const char* wrong : {"", "0", "-1", "1.5G", "G", "12 M", "12MB", "99999999999999999999", "99999999999G"}) EXPECT_EQ(parse_size(wrong), 0u) << wrong;
}

/// Sets variables for one scope.
class Environment {
 public:
  explicit Environment(std::initializer_list<std::pair<const char*, const char*>> values) {
    for (const char* name : kNames) {
      const char* old = std::getenv(name);
      before_.push_back(old != nullptr ? std::optional<std::string>(old) : std::nullopt);
      unsetenv(name);
    }
    for (const auto& [name, value] : values) setenv(name, value, 1);
  }
  ~Environment() {
    for (std::size_t i = 0; i < before_.size(); ++i) before_[i] ? setenv(kNames[i], before_[i]->c_str(), 1) : unsetenv(kNames[i]);
  }

 private:
  static constexpr const char* kNames[] = {"TILEWRIGHT_CACHE_DIR", "TILEWRIGHT_CACHE_SIZE", "XDG_CACHE_HOME", "HOME"};
  std::vector<std::optional<std::string>> before_;
};

TEST(Settings, ComeFromTheEnvironment) {
  std::vector<std::string> warnings;
  const auto settings = [&](std::initializer_list<std::pair<const char*, const char*>> values) {
    const Environment environment(values);
    return settings_from_environment([&](const std::string& text) { warnings.push_back(text); });
  };
  EXPECT_EQ(settings({{"HOME", "/home/u"}}).folder, "/home/u/.cache/tilewright");
  EXPECT_EQ(settings({{"HOME", "/home/u"}, {"XDG_CACHE_HOME", "/x"}}).folder, "/x/tilewright");
  EXPECT_EQ(settings({{"HOME", "/home/u"}, {"XDG_CACHE_HOME", "relative"}}).folder, "/home/u/.cache/tilewright");
  EXPECT_EQ(settings({{"HOME", "/home/u"}, {"TILEWRIGHT_CACHE_DIR", "/t"}}).folder, "/t");
  EXPECT_EQ(settings({{"HOME", "/home/u"}, {"TILEWRIGHT_CACHE_DIR", ""}}).folder, "");
  EXPECT_EQ(settings({{"HOME", "/home/u"}, {"TILEWRIGHT_CACHE_DIR", "off"}}).folder, "");
  EXPECT_EQ(settings({}).folder, "");
  EXPECT_TRUE(settings({{"TILEWRIGHT_CACHE_DIR", "here"}}).folder.is_absolute());
  EXPECT_EQ(settings({}).most_bytes, std::uint64_t{1} << 30);
  EXPECT_EQ(settings({{"TILEWRIGHT_CACHE_SIZE", "20M"}}).most_bytes, 20u << 20);
  EXPECT_TRUE(warnings.empty());
  EXPECT_EQ(settings({{"TILEWRIGHT_CACHE_SIZE", "much"}}).most_bytes, std::uint64_t{1} << 30);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0], testing::HasSubstr("TILEWRIGHT_CACHE_SIZE is 'much', expected a positive number of bytes"));
}

}  // namespace
}  // namespace tilewright::cache
