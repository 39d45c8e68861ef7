// Names of entries: SHA-256 of all that an entry depends on.
#pragma once
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tilewright::cache {

/// SHA-256 (FIPS 180-4) of what the key was made of.
struct Key {
  std::array<std::uint8_t, 32> bytes{};

  /// 64 lower-case hexadecimal digits.
  std::string text() const;
  /// The reverse of text(); nothing when it is not 64 such digits.
  static std::optional<Key> parse(std::string_view text);
  auto operator<=>(const Key&) const = default;
};

/// Collects named parts. The key depends on every name, every value and their order; no two lists of parts run into
/// each other, since lengths are hashed too.
class KeyBuilder {
 public:
  KeyBuilder();
  KeyBuilder& add(std::string_view name, std::string_view value);
  KeyBuilder& add(std::string_view name, std::uint64_t value);
  Key finish();

 private:
  void append(std::string_view bytes);
  void block(const std::uint8_t* bytes);
  std::array<std::uint32_t, 8> state_;
  std::array<std::uint8_t, 64> buffer_{};
  std::uint64_t length_ = 0;  // bytes appended
};

}  // namespace tilewright::cache
