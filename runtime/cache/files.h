// File operations of the cache. They return 0 or an errno value: a cache that cannot work is no error of its user.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace tilewright::cache {

/// A whole file.
int read_file(const std::filesystem::path&, std::string& bytes);

/// Puts a file in place in one step: readers see the old file, the new one or none, also when this process is killed. Not
/// synchronised with the disk: after a crash of the machine the checksum tells.
int replace_file(const std::filesystem::path&, std::string_view bytes);

/// Makes a file one byte longer, creating it where needed. Several processes may do so at once.
int append_byte(const std::filesystem::path&);

/// The folder and those above it; new ones are for this user alone.
int make_folders(const std::filesystem::path&);

/// Removes a file; an absent one is no failure.
int remove_file(const std::filesystem::path&);

struct FileStatus {
  std::uint64_t bytes = 0;
  std::int64_t changed = 0;  // nanoseconds since 1970
};
int status_of(const std::filesystem::path&, FileStatus&);

/// True for the names that replace_file gives its unfinished files.
bool is_unfinished(const std::filesystem::path&);

}  // namespace tilewright::cache
