// The command as a process of its own, with a cache of its own.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/assemble/process.h"

namespace tilewright::cli::test {

struct Started {
  int status;
  std::string out, err;
  nlohmann::json json() const { return nlohmann::json::parse(out); }
};

/// A folder with a cache, for processes that are started one after the other.
class Shell {
 public:
  std::filesystem::path folder() const { return folder_.path(); }
  std::filesystem::path cache() const { return folder_.path() / "cache"; }
  /// Adds "NAME=value" to the environment, in place of an earlier one.
  void set(const std::string& variable) { variables_.push_back(variable); }
  /// Runs `tilewright <words of line>`.
  Started run(const std::string& line) const {
    std::istringstream words(line);
    std::vector<std::string> rest;
    for (std::string word; words >> word;) rest.push_back(word);
    return run(rest);
  }
  Started run(const std::vector<std::string>& arguments) const {
    std::vector<std::string> command{"/usr/bin/env", "TILEWRIGHT_CACHE_DIR=" + cache().string()};
    command.insert(command.end(), variables_.begin(), variables_.end());
    command.push_back(TILEWRIGHT_COMMAND);
    command.insert(command.end(), arguments.begin(), arguments.end());
    assemble::ProcessResult result = assemble::run_process(command, {});
    return {result.exit_code, result.out, result.error};
  }

 private:
  assemble::TemporaryFolder folder_;
  std::vector<std::string> variables_;
};

}  // namespace tilewright::cli::test
