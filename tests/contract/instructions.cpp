#include "tests/contract/instructions.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tilewright/error.h"

namespace tilewright::test {
namespace {

/// Beginnings of SASS names; the first that fits counts.
constexpr std::pair<std::string_view, std::string_view> classes[] = {
    {"HGMMA", "tensor"}, {"QGMMA", "tensor"}, {"IGMMA", "tensor"}, {"HMMA", "tensor"}, {"IMMA", "tensor"}, {"DMMA", "tensor"},
    {"UTMA", "copy"}, {"UBLK", "copy"}, {"LDGSTS", "copy"},
    {"BAR", "barrier"}, {"SYNCS", "barrier"}, {"WARPSYNC", "barrier"}, {"WARPGROUP", "barrier"}, {"MEMBAR", "barrier"}, {"FENCE", "barrier"},
    {"DEPBAR", "barrier"}, {"LDGDEPBAR", "barrier"}, {"ARRIVES", "barrier"}, {"UCGABAR", "barrier"}, {"ERRBAR", "barrier"}, {"ACQBULK", "barrier"},
    {"PREEXIT", "barrier"}, {"USETMAXREG", "barrier"},
    {"LDSM", "shared"}, {"STSM", "shared"}, {"LDS", "shared"}, {"STS", "shared"}, {"ATOMS", "shared"},
    {"LDG", "global"}, {"STG", "global"}, {"ATOM", "global"}, {"RED", "global"}, {"CCTL", "global"},
    {"LDL", "local"}, {"STL", "local"}, {"LDC", "constant"}, {"ULDC", "constant"},
    {"MUFU", "special function"},
    {"F2", "conversion"}, {"I2", "conversion"}, {"FRND", "conversion"},
    {"FFMA", "float"}, {"FMUL", "float"}, {"FADD", "float"}, {"FSEL", "float"}, {"FMNMX", "float"}, {"FSET", "float"}, {"FCHK", "float"},
    {"HADD", "float"}, {"HMUL", "float"}, {"HFMA", "float"}, {"HMNMX", "float"}, {"HSET", "float"}, {"DADD", "float"}, {"DMUL", "float"}, {"DFMA", "float"},
    {"BRA", "control"}, {"BRX", "control"}, {"EXIT", "control"}, {"BSSY", "control"}, {"BSYNC", "control"}, {"CALL", "control"}, {"RET", "control"},
    {"BREAK", "control"}, {"WARP", "control"}, {"NANOSLEEP", "control"}, {"ELECT", "control"}, {"VOTE", "control"},
    {"SHFL", "exchange"}, {"REDUX", "exchange"}, {"MATCH", "exchange"},
    {"U", "uniform"}};

constexpr std::string_view exact[] = {"tensor", "copy", "barrier", "local"};

std::string_view class_of(std::string_view name) {
  for (const auto& [beginning, group] : classes)
    if (name.starts_with(beginning)) return group;
  return "integer";   // and moves
}

}  // namespace

Histogram sass_histogram(std::string_view sass) {
  Histogram counts;
  while (!sass.empty()) {
    const std::size_t end = std::min(sass.find('\n'), sass.size());
    std::string_view line = sass.substr(0, end);
    sass.remove_prefix(std::min(end + 1, sass.size()));
    const auto skip_blanks = [&] { line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size())); };
    skip_blanks();
    const std::size_t close = line.find("*/");   // /*01a0*/  @P0 LDS.128 ...
    if (!line.starts_with("/*") || close == line.npos || line.find(';') == line.npos) continue;
    line.remove_prefix(close + 2);
    skip_blanks();
    if (line.starts_with('@')) {
      line.remove_prefix(std::min(line.find(' '), line.size()));
      skip_blanks();
    }
    const std::string_view name = line.substr(0, line.find_first_of(" .;"));
    if (!name.empty() && name != "NOP") ++counts[std::string(class_of(name))];
  }
  return counts;
}

std::vector<std::string> differences(const Histogram& expected, const Histogram& actual) {
  std::vector<std::string> lines;
  Histogram all = expected;
  all.insert(actual.begin(), actual.end());
  for (const auto& [group, ignored] : all) {
    const auto count = [&, &name = group](const Histogram& h) { return h.contains(name) ? h.at(name) : 0u; };
    const unsigned before = count(expected), now = count(actual);
    const unsigned apart = std::max(before, now) - std::min(before, now);
    const unsigned allowed = std::find(std::begin(exact), std::end(exact), group) != std::end(exact) ? 0 : std::max(8u, before / 10);
    if (apart > allowed) lines.push_back(group + ": " + std::to_string(now) + " instructions, " + std::to_string(before) + " are written down");
  }
  return lines;
}

InstructionContract::InstructionContract(std::filesystem::path file) : file_(std::move(file)) {
  std::ifstream in(file_);
  if (in) all_ = nlohmann::json::parse(in).get<decltype(all_)>();
}

const Histogram* InstructionContract::expected(const std::string& kernel, const std::string& ptxas) const {
  const auto k = all_.find(kernel);
  if (k == all_.end()) return nullptr;
  const auto version = k->second.find(ptxas);
  return version == k->second.end() ? nullptr : &version->second;
}

void InstructionContract::set(const std::string& kernel, const std::string& ptxas, const Histogram& h) { all_[kernel][ptxas] = h; }

void InstructionContract::save() const {
  std::string text = "{\n";   // a line for each kernel and assembler
  bool first = true;
  for (const auto& [kernel, versions] : all_)
    for (const auto& [ptxas, histogram] : versions) {
      const bool opens = &histogram == &versions.begin()->second, closes = &histogram == &versions.rbegin()->second;
      if (opens) text += std::string(first ? "" : ",\n") + "  " + nlohmann::json(kernel).dump() + ": {\n";
      first = false;
      text += "    " + nlohmann::json(ptxas).dump() + ": " + nlohmann::json(histogram).dump() + (closes ? "\n  }" : ",\n");
    }
  std::ofstream out(file_);
  out << text << "\n}\n";
  out.close();
  if (!out) throw Error("cannot write " + file_.string());
}

}  // namespace tilewright::test
