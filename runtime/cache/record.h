// What lies under a key: byte strings by name. Its form on disk is described in docs/cache.md.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/cache/key.h"

namespace tilewright::cache {

class Record {
 public:
  /// Appends a section; the name is new.
  void add(std::string name, std::string bytes) { sections_.emplace_back(std::move(name), std::move(bytes)); }
  /// The bytes of a section, null when there is none of this name.
  const std::string* find(std::string_view name) const;
  const std::vector<std::pair<std::string, std::string>>& sections() const { return sections_; }
  bool operator==(const Record&) const = default;

 private:
  std::vector<std::pair<std::string, std::string>> sections_;
};

/// The bytes of an entry's file.
std::string encode(const Key& key, const Record& record);

/// Reads an entry's file. Returns false, and says in `why` what is wrong, when the bytes are not what encode() wrote for this key.
bool decode(std::string_view file, const Key& key, Record& record, std::string& why);

}  // namespace tilewright::cache
