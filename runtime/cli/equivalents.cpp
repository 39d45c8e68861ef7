#include "runtime/cli/equivalents.h"

#include <charconv>
#include <fstream>

#include "tilewright/error.h"

namespace tilewright::cli {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == text.npos ? "" : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

std::vector<Equivalent> read_equivalents(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error("equivalent mutants: cannot read '" + path + "'");
  std::vector<Equivalent> all;
  std::string line;
  for (unsigned number = 1; std::getline(file, line); ++number) {
    if (trimmed(line).empty() || line.front() == '#') continue;
    std::string part[5];
    std::size_t at = 0;
    for (int i = 0; i < 5; ++i) {
      const std::size_t bar = i < 4 ? line.find('|', at) : line.npos;
      part[i] = trimmed(line.substr(at, bar - at));
      at = bar == line.npos ? line.size() : bar + 1;
    }
    Equivalent e{part[0], part[1], 0, part[3], part[4]};
    const std::string& number_of = part[2];
    const auto [end, error] = std::from_chars(number_of.data(), number_of.data() + number_of.size(), e.ordinal);
    if (error != std::errc() || end != number_of.data() + number_of.size() || e.reason.empty())
      throw Error(path + ":" + std::to_string(number) + ": expected 'kernel | kind | ordinal | what | reason', found '" + line + "'");
    all.push_back(std::move(e));
  }
  return all;
}

}  // namespace tilewright::cli
