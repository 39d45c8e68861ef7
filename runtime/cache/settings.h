// Where the cache lies and how large it may become.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace tilewright::cache {

/// Takes a warning: one line, without a newline.
using Warn = std::function<void(const std::string&)>;

struct Settings {
  std::filesystem::path folder;                              ///< empty: no cache
  std::string origin;                                        ///< what named the folder, for messages
  std::uint64_t most_bytes = std::uint64_t{1} << 30;         ///< of all entries together
};

/// TILEWRIGHT_CACHE_DIR (empty or "off": no cache), else XDG_CACHE_HOME/tilewright, else HOME/.cache/tilewright, else no cache.
/// TILEWRIGHT_CACHE_SIZE: bytes, or with a suffix K, M or G (2^10, 2^20, 2^30); what is no such size is warned of and ignored.
Settings settings_from_environment(const Warn&);

/// "512M" -> 536870912; 0 when it is not a positive size.
std::uint64_t parse_size(const std::string&);

}  // namespace tilewright::cache
