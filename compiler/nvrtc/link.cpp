// PTX as text: the items of a module, which of them a function reaches, and one module out of two.
#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

#include "compiler/nvrtc/cuda_function.h"
#include "tilewright/error.h"

namespace tilewright::nvrtc {
namespace {

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%' || c == '.'; }

/// A function or a variable of a module.
struct Item {
  std::string text, name;
  bool external = false;  // a declaration of what the machine's system offers
};

std::string without_comments(const std::string& ptx) {
  std::string out;
  for (std::size_t at = 0; at < ptx.size();) {
    const bool comment = ptx.compare(at, 2, "//") == 0;
    const std::size_t end = comment ? std::min(ptx.find('\n', at), ptx.size()) : at + 1;
    if (!comment) out += ptx[at];
    at = end;
  }
  return out;
}

/// Behind the bracket that closes the one at `open`.
std::size_t behind(const std::string& text, std::size_t open, char opening, char closing) {
  int depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    depth += text[at] == opening ? 1 : text[at] == closing ? -1 : 0;
    if (depth == 0) return at + 1;
  }
  throw InternalError("NVRTC's PTX has an open bracket");
}

std::size_t skip_blanks(const std::string& text, std::size_t at) { return std::min(text.find_first_not_of(" \t\r\n", at), text.size()); }

std::string name_at(const std::string& text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && in_name(text[end])) ++end;
  return text.substr(at, end - at);
}

/// The name of an item: behind .func and its result, or before the extents, the value or the end of a variable.
std::string name_of(const std::string& item) {
  if (const std::size_t function = item.find(".func"); function != std::string::npos) {
    std::size_t at = skip_blanks(item, function + 5);
    if (item[at] == '(') at = skip_blanks(item, behind(item, at, '(', ')'));
    return name_at(item, at);
  }
  std::size_t end = item.find_first_of("[=;");
  while (end > 0 && !in_name(item[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && in_name(item[begin - 1])) --begin;
  return item.substr(begin, end - begin);
}

std::vector<Item> items_of(const std::string& ptx) {
  const std::string text = without_comments(ptx);
  std::vector<Item> items;
  for (std::size_t at = skip_blanks(text, 0); at < text.size(); at = skip_blanks(text, at)) {
    const std::string word = name_at(text, at);
    if (word == ".version" || word == ".target" || word == ".address_size") {
      at = text.find('\n', at);
      continue;
    }
    std::size_t end = text.find_first_of("{;", at);
    if (end == std::string::npos) throw InternalError("NVRTC's PTX ends inside a declaration");
    const bool function = text.substr(at, end - at).find(".func") != std::string::npos;
    if (text[end] == '{') {
      end = behind(text, end, '{', '}');
      if (!function) end = text.find(';', end) + 1;   // the value of a variable
    } else {
      ++end;
    }
    Item item{text.substr(at, end - at), {}, word == ".extern"};
    item.name = name_of(item.text);
    items.push_back(std::move(item));
    at = end;
  }
  return items;
}

/// Calls f(name) for every name in the text; what it returns replaces the name.
template <class F>
std::string each_name(const std::string& text, F f) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (!in_name(text[at])) {
      out += text[at++];
      continue;
    }
    const std::string name = name_at(text, at);
    out += f(name);
    at += name.size();
  }
  return out;
}

/// Items of the kernel's own module are seen by nobody outside.
std::string local(std::string text) {
  for (const std::string_view linkage : {".visible ", ".weak "})
    if (text.starts_with(linkage)) text.erase(0, linkage.size());
  return text;
}

}  // namespace

std::string reachable(const std::string& ptx, const std::string& symbol) {
  const std::vector<Item> items = items_of(ptx);
  std::map<std::string, bool> wanted;
  for (const Item& item : items) wanted[item.name] = item.name == symbol;
  if (!wanted.contains(symbol)) throw InternalError("NVRTC's PTX has no function " + symbol);
  for (bool grown = true; grown;) {
    grown = false;
    for (const Item& item : items)
      if (wanted.at(item.name))
        each_name(item.text, [&](const std::string& name) {
          if (const auto found = wanted.find(name); found != wanted.end() && !found->second) grown = found->second = true;
          return std::string();
        });
  }
  std::string out;
  for (const Item& item : items) {
    if (!wanted.at(item.name)) continue;
    if (name_at(item.text, 0) == ".shared" || item.text.starts_with(".extern .shared"))
      throw Error("the text has a __shared__ variable, which the kernel's plan of shared memory does not know; use a tile of the kernel");
    out += each_name(local(item.text), [&](const std::string& name) {
      const auto found = std::find_if(items.begin(), items.end(), [&](const Item& i) { return i.name == name; });
      return found == items.end() || found->external || name == symbol ? name : symbol + "_" + name;
    });
    out += "\n";
  }
  return out;
}

std::string link(const std::string& kernel_ptx, const std::vector<CudaFunction>& functions) {
  constexpr std::string_view header = ".address_size 64\n";
  const std::size_t end = kernel_ptx.find(header);
  if (end == std::string::npos) throw InternalError("the kernel's PTX has no .address_size");
  std::string declared;   // of what the system offers: one declaration of each is enough
  for (std::size_t at = kernel_ptx.find(".extern"); at != std::string::npos; at = kernel_ptx.find(".extern", at + 1))
    declared += kernel_ptx.substr(at, kernel_ptx.find(';', at) - at) + ";";
  std::string text = "\n";
  for (const CudaFunction& f : functions)
    for (const Item& item : items_of(compile(f))) {
      if (item.external) {
        bool known = false;
        each_name(declared, [&](const std::string& name) { return known |= name == item.name, std::string(); });
        if (known) continue;
        declared += item.text;
      }
      text += item.text + "\n";
    }
  return kernel_ptx.substr(0, end + header.size()) + text + kernel_ptx.substr(end + header.size());
}

}  // namespace tilewright::nvrtc
