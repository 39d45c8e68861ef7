#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::runtime::sim::ptx {

struct Token {
  enum class Kind : unsigned char { word, number, string, punctuation, end };
  Kind kind = Kind::end;
  std::string_view text;
  unsigned line = 0;
};

/// Splits PTX text into tokens; comments vanish. A word may hold '.', '$', '%' and '::'.
/// The views point into `text`. The last token is `end`.
std::vector<Token> tokenize(std::string_view text);

}  // namespace tilewright::runtime::sim::ptx
