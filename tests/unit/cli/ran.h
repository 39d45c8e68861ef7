// The command as a user types it.
#pragma once
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/cli/command.h"

namespace tilewright::cli {

struct Ran {
  int status;
  std::string out, err;
  nlohmann::json json() const { return nlohmann::json::parse(out); }
};

/// Runs `tilewright LINE` in this process.
inline Ran ran(const std::string& line) {
  std::istringstream words(line);
  std::vector<std::string> arguments{"tilewright"};
  for (std::string word; words >> word;) arguments.push_back(word);
  std::vector<const char*> argv;
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  std::ostringstream out, err;
  const int status = command(static_cast<int>(argv.size()), argv.data(), out, err);
  return {status, out.str(), err.str()};
}

}  // namespace tilewright::cli
