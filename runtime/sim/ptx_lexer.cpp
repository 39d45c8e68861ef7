#include "runtime/sim/ptx_lexer.h"

#include <cctype>

#include "tilewright/error.h"

namespace tilewright::runtime::sim::ptx {
namespace {

bool starts_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%' || c == '.'; }
bool in_word(char c) { return starts_word(c) || std::isdigit(static_cast<unsigned char>(c)); }

std::size_t word_end(std::string_view t, std::size_t p) {
  while (p < t.size()) {
    if (in_word(t[p])) {
      ++p;
    } else if (t.substr(p, 2) == "::" && p + 2 < t.size() && std::isalpha(static_cast<unsigned char>(t[p + 2]))) {
      p += 2;
    } else {
      break;
    }
  }
  return p;
}

std::size_t number_end(std::string_view t, std::size_t p) {
  const std::size_t begin = p;
  const bool prefixed = t[p] == '0' && p + 1 < t.size() && std::isalpha(static_cast<unsigned char>(t[p + 1]));
  bool point = false;
  while (p < t.size()) {
    if (std::isalnum(static_cast<unsigned char>(t[p]))) {
      ++p;
    } else if (t[p] == '.' && !point) {
      point = true;
      ++p;
    } else if ((t[p] == '+' || t[p] == '-') && point && !prefixed && p > begin && (t[p - 1] == 'e' || t[p - 1] == 'E')) {
      ++p;
    } else {
      break;
    }
  }
  return p;
}

}  // namespace

std::vector<Token> tokenize(std::string_view t) {
  std::vector<Token> out;
  out.reserve(t.size() / 5);
  unsigned line = 1;
  std::size_t p = 0;
  const auto push = [&](Token::Kind k, std::size_t end) {
    out.push_back({k, t.substr(p, end - p), line});
    p = end;
  };
  while (p < t.size()) {
    const char c = t[p];
    if (c == '\n') {
      ++line;
      ++p;
    } else if (std::isspace(static_cast<unsigned char>(c)) || c == '\0') {
      ++p;
    } else if (t.substr(p, 2) == "//") {
      while (p < t.size() && t[p] != '\n') ++p;
    } else if (t.substr(p, 2) == "/*") {
      const std::size_t end = t.find("*/", p + 2);
      if (end == std::string_view::npos) throw Error("PTX line " + std::to_string(line) + ": comment without an end");
      for (; p < end + 2; ++p) line += t[p] == '\n';
    } else if (c == '"') {
      std::size_t end = p + 1;
      while (end < t.size() && t[end] != '"') end += t[end] == '\\' ? 2 : 1;
      if (end >= t.size()) throw Error("PTX line " + std::to_string(line) + ": string without an end");
      push(Token::Kind::string, end + 1);
    } else if (std::isdigit(static_cast<unsigned char>(c))) {
      push(Token::Kind::number, number_end(t, p));
    } else if (starts_word(c)) {
      push(Token::Kind::word, word_end(t, p));
    } else {
      push(Token::Kind::punctuation, p + 1);
    }
  }
  out.push_back({Token::Kind::end, {}, line});
  return out;
}

}  // namespace tilewright::runtime::sim::ptx
