// From a line of PTX back to the line of C++ that asked for it.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace tilewright::assemble {

struct AuthorLocation {
  std::string file;
  unsigned line = 0, column = 0;
  /// "file:line"
  std::string text() const { return file + ":" + std::to_string(line); }
};

/// The location in force at a line of PTX (counted from 1): the last .loc directive at or before it within the same
/// function, resolved through the .file directives. Nothing when there is none.
std::optional<AuthorLocation> author_location(std::string_view ptx, unsigned line);

/// One line of the text, counted from 1, without surrounding white space; empty past the end.
std::string_view line_of(std::string_view text, unsigned line);

}  // namespace tilewright::assemble
