// From a line of PTX back to the line of C++ that asked for it.
#include "runtime/assemble/author_location.h"

#include <cstdio>

namespace tilewright::assemble {
namespace {

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// Calls visit(number, trimmed line) until it returns false.
template <class Visit>
void each_line(std::string_view text, Visit visit) {
  unsigned number = 1;
  for (std::size_t begin = 0; begin <= text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (!visit(number, trim(text.substr(begin, end - begin)))) return;
    begin = end + 1;
  }
}

}  // namespace

std::optional<AuthorLocation> author_location(std::string_view ptx, unsigned line) {
  std::optional<AuthorLocation> found;
  unsigned file = 0;
  each_line(ptx, [&](unsigned number, std::string_view text) {
    if (number > line) return false;
    if (text.find(".entry ") != std::string_view::npos || text.find(".func ") != std::string_view::npos) found.reset();
    if (text.starts_with(".loc")) {
      AuthorLocation location;
      if (std::sscanf(std::string(text).c_str(), ".loc %u %u %u", &file, &location.line, &location.column) == 3)
        found = location;
    }
    return true;
  });
  if (!found) return found;
  // .file directives may stand anywhere, LLVM writes them behind the functions.
  each_line(ptx, [&](unsigned, std::string_view text) {
    unsigned index = 0;
    if (text.starts_with(".file") && std::sscanf(std::string(text).c_str(), ".file %u", &index) == 1 && index == file) {
      const std::size_t begin = text.find('"'), end = text.rfind('"');
      if (begin != std::string_view::npos && end > begin) found->file = text.substr(begin + 1, end - begin - 1);
    }
    return found->file.empty();
  });
  if (found->file.empty()) found.reset();
  return found;
}

std::string_view line_of(std::string_view text, unsigned line) {
  std::string_view found;
  each_line(text, [&](unsigned number, std::string_view one) {
    if (number == line) found = one;
    return number < line;
  });
  return found;
}

}  // namespace tilewright::assemble
