// Runs a program without a shell, with a time limit, in a private folder.
#pragma once
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::assemble {

struct ProcessResult {
  int exit_code = -1;      // 128 + n when signal n ended it
  bool timed_out = false;
  std::string out, error;  // what it wrote to standard output and standard error

  /// "exit status 1, ...": for messages.
  std::string describe() const;
};

struct ProcessOptions {
  std::filesystem::path working_folder;  // empty: the caller's
  std::chrono::milliseconds timeout{120'000};
};

/// Runs arguments[0] (a path) with these arguments and no standard input, and waits. A program that outlasts the
/// timeout is killed with its children. Throws Error when it cannot be started.
ProcessResult run_process(const std::vector<std::string>& arguments, const ProcessOptions&);

/// A new folder that only this user can enter, removed with everything in it at the end of the scope.
class TemporaryFolder {
 public:
  /// Throws Error naming the parent (TMPDIR, else the system's) when it cannot be made.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Writes or reads a whole file; Error naming it when that fails.
void write_file(const std::filesystem::path&, std::string_view bytes);
std::string read_file(const std::filesystem::path&);

}  // namespace tilewright::assemble
