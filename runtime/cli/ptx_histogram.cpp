#include "runtime/cli/ptx_histogram.h"

#include <cctype>

namespace tilewright::cli {
namespace {

/// The text with comments replaced by spaces.
std::string without_comments(std::string_view ptx) {
  std::string text;
  text.reserve(ptx.size());
  for (std::size_t at = 0; at < ptx.size();) {
    std::size_t end = at;
    if (ptx.substr(at, 2) == "//") end = std::min(ptx.find('\n', at), ptx.size());
    else if (ptx.substr(at, 2) == "/*") end = ptx.find("*/", at + 2) == ptx.npos ? ptx.size() : ptx.find("*/", at + 2) + 2;
    if (end != at) text += ' ';
    else text += ptx[end++];
    at = end;
  }
  return text;
}

/// Takes white space, braces, labels and the predicate off the front of a statement.
std::string_view instruction_of(std::string_view s) {
  for (;;) {
    while (!s.empty() && (std::isspace(static_cast<unsigned char>(s[0])) != 0 || s[0] == '{' || s[0] == '}')) s.remove_prefix(1);
    const std::size_t word = s.find_first_of(" \t\r\n;{");
    const std::string_view first = s.substr(0, word);
    if (first.starts_with('@') || first.ends_with(':')) s.remove_prefix(first.size());
    else return s;
  }
}

}  // namespace

std::map<std::string, unsigned> ptx_histogram(std::string_view ptx) {
  std::map<std::string, unsigned> counts;
  const std::string text = without_comments(ptx);
  // Directives before the first body end with a line, not with a semicolon; within a body every statement but .loc ends with one.
  std::string_view rest = text;
  while (!rest.empty()) {
    rest = instruction_of(rest);
    if (rest.empty()) break;
    if (rest.starts_with('.')) {
      const bool line = rest.starts_with(".loc") || rest.starts_with(".file") || rest.starts_with(".version") || rest.starts_with(".target") ||
                        rest.starts_with(".address_size");
      const std::size_t end = rest.find_first_of(line ? "\n" : ";{");
      rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
      continue;
    }
    const std::size_t end = rest.find(';');
    if (end == rest.npos) break;
    const std::string_view statement = rest.substr(0, end);
    ++counts[std::string(statement.substr(0, statement.find_first_of(" \t\r\n")))];
    rest.remove_prefix(end + 1);
  }
  return counts;
}

}  // namespace tilewright::cli
