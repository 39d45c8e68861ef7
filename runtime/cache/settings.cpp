#include "runtime/cache/settings.h"

#include <charconv>
#include <cstdlib>

namespace tilewright::cache {

std::uint64_t parse_size(const std::string& text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc()) return 0;
  const std::string_view suffix(rest, end);
  unsigned shift = 0;
  if (suffix == "K" || suffix == "k") shift = 10;
  else if (suffix == "M" || suffix == "m") shift = 20;
  else if (suffix == "G" || suffix == "g") shift = 30;
  else if (!suffix.empty()) return 0;
  return value << shift >> shift == value ? value << shift : 0;
}

Settings settings_from_environment(const Warn& warn) {
  Settings settings;
  const char* named = std::getenv("TILEWRIGHT_CACHE_DIR");
  const char* xdg = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  if (named != nullptr) {
    settings.origin = "TILEWRIGHT_CACHE_DIR";
    if (*named != '\0' && std::string_view(named) != "off") settings.folder = named;
  } else if (xdg != nullptr && *xdg == '/') {  // the XDG specification: a relative path is ignored
    settings.origin = "XDG_CACHE_HOME";
    settings.folder = std::filesystem::path(xdg) / "tilewright";
  } else if (home != nullptr && *home != '\0') {
    settings.origin = "HOME";
    settings.folder = std::filesystem::path(home) / ".cache" / "tilewright";
  } else {
    settings.origin = "HOME is not set";
  }
  if (!settings.folder.empty()) {
    std::error_code ignored;  // without a current folder the path stays relative
    if (auto absolute = std::filesystem::absolute(settings.folder, ignored); !ignored) settings.folder = std::move(absolute);
  }
  if (const char* size = std::getenv("TILEWRIGHT_CACHE_SIZE"); size != nullptr && *size != '\0') {
    if (const std::uint64_t bytes = parse_size(size)) settings.most_bytes = bytes;
    else warn("TILEWRIGHT_CACHE_SIZE is '" + std::string(size) + "', expected a positive number of bytes, or one with K, M or G; using 1G");
  }
  return settings;
}

}  // namespace tilewright::cache
