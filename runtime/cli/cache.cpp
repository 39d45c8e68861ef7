// tilewright cache
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "runtime/cli/command.h"
#include "runtime/cli/ledger.h"
#include "runtime/cli/ptx_histogram.h"

namespace tilewright::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string place_of(const cache::DiskCache& disk) { return disk.settings().folder.string() + " (" + disk.settings().origin + ")"; }

/// What a row of the ledger, or a column of a difference, says of resources; zeros for a kernel without a cubin.
assemble::ResourceReport resources_of(const LedgerEntry& entry) {
  return entry.kernel.kernels.empty() ? assemble::ResourceReport() : entry.kernel.kernels[0];
}

unsigned spills_of(const assemble::ResourceReport& r) { return r.spill_store_bytes + r.spill_load_bytes; }

Json json_of(const LedgerEntry& entry) {
  const auto r = resources_of(entry);
  Json steps = Json::object();
  for (const auto& [name, milliseconds] : entry.kernel.making.steps) steps[name] = milliseconds;
  Json json{{"entry", entry.status.key.text()}, {"kernel", entry.kernel.name}, {"configuration", entry.kernel.making.configuration}, {"made", entry.kernel.making.at},
            {"milliseconds", steps},      {"assembler", entry.kernel.assembler}};
  json["resources"] = entry.kernel.kernels.empty()
                          ? Json()
                          : Json{{"registers", r.registers}, {"spill_bytes", spills_of(r)}, {"stack_bytes", r.stack_bytes},
                                 {"shared_bytes", r.shared_bytes + entry.kernel.dynamic_shared_bytes}, {"barriers", r.barriers}};
  json["bytes"] = entry.status.bytes;
  json["uses"] = entry.status.uses;
  json["last_used"] = entry.status.last_used / 1'000'000'000;
  return json;
}

int list(const Options& o, cache::DiskCache& disk, std::ostream& out) {
  const std::vector<LedgerEntry> ledger = read_ledger(disk);
  std::uint64_t bytes = 0;
  for (const LedgerEntry& entry : ledger) bytes += entry.status.bytes;
  if (o.json) {
    Json kernels = Json::array();
    for (const LedgerEntry& entry : ledger) kernels.push_back(json_of(entry));
    out << Json{{"folder", disk.settings().folder.string()}, {"bytes", bytes}, {"most_bytes", disk.settings().most_bytes}, {"kernels", kernels}}.dump(2) << "\n";
    return 0;
  }
  const auto row = [&](const auto&... cells) { out << fmt::format("{:<12}  {:<36} {:>7} {:>6} {:>6} {:>7} {:>6} {:>10} {:>5} {:>8} {:>5}  {}\n", cells...); };
  if (!ledger.empty()) row("entry", "configuration", "program", "tile", "hopper", "codegen", "ptxas", "registers", "spill", "shared", "uses", "last used");
  for (const LedgerEntry& entry : ledger) {
    const auto& making = entry.kernel.making;
    const auto ms = [&](std::size_t step) { return step < making.steps.size() ? fmt::format("{:.0f}", making.steps[step].second) : "-"; };
    const auto r = resources_of(entry);
    row(entry.id(), making.configuration, ms(0), ms(1), ms(2), ms(3), ms(4), r.registers != 0 ? std::to_string(r.registers) : "-", spills_of(r),
        r.shared_bytes + entry.kernel.dynamic_shared_bytes, entry.status.uses, time_text(entry.status.last_used / 1'000'000'000));
  }
  if (!ledger.empty()) out << "(program to ptxas: milliseconds when the kernel was made)\n";
  out << fmt::format("{} kernel{}, {} of at most {} in {}\n", ledger.size(), ledger.size() == 1 ? "" : "s", bytes_text(bytes), bytes_text(disk.settings().most_bytes), place_of(disk));
  return 0;
}

int clear(cache::DiskCache& disk, std::ostream& out) {
  const std::size_t removed = disk.clear();
  out << fmt::format("{} entr{} removed from {}\n", removed, removed == 1 ? "y" : "ies", place_of(disk));
  return 0;
}

int verify(cache::DiskCache& disk, std::ostream& out) {
  std::size_t damaged = 0;
  const std::size_t before = disk.entries().size();
  read_ledger(disk, &damaged);
  out << fmt::format("{} of {} entries sound in {}\n", before - damaged, before, place_of(disk));
  return damaged == 0 ? 0 : 1;
}

struct Row {
  std::string name, a, b;
};

Json difference_json(const LedgerEntry& a, const LedgerEntry& b) {
  Json instructions = Json::object();
  const auto in_a = ptx_histogram(a.ptx), in_b = ptx_histogram(b.ptx);
  auto all = in_a;
  all.insert(in_b.begin(), in_b.end());
  for (const auto& [opcode, unused] : all) {
    const unsigned left = in_a.contains(opcode) ? in_a.at(opcode) : 0, right = in_b.contains(opcode) ? in_b.at(opcode) : 0;
    if (left != right) instructions[opcode] = {left, right};
  }
  return {{"a", json_of(a)}, {"b", json_of(b)}, {"instructions", instructions}};
}

int diff(const Options& o, cache::DiskCache& disk, std::ostream& out) {
  const std::vector<LedgerEntry> ledger = read_ledger(disk);
  const LedgerEntry &a = find_in_ledger(ledger, o.first), &b = find_in_ledger(ledger, o.second);
  const Json difference = difference_json(a, b);
  if (o.json) {
    out << difference.dump(2) << "\n";
    return 0;
  }
  std::vector<Row> rows{{"entry", a.id(), b.id()}, {"configuration", a.kernel.making.configuration, b.kernel.making.configuration},
                        {"made", time_text(a.kernel.making.at), time_text(b.kernel.making.at)}, {"assembler", a.kernel.assembler, b.kernel.assembler}};
  const std::size_t steps = std::max(a.kernel.making.steps.size(), b.kernel.making.steps.size());
  for (std::size_t i = 0; i < steps; ++i) {
    const auto ms = [&](const LedgerEntry& entry) { return i < entry.kernel.making.steps.size() ? fmt::format("{:.1f} ms", entry.kernel.making.steps[i].second) : "-"; };
    rows.push_back({(a.kernel.making.steps.size() > i ? a : b).kernel.making.steps[i].first, ms(a), ms(b)});
  }
  for (const char* name : {"registers", "spill_bytes", "stack_bytes", "shared_bytes", "barriers"}) {
    const auto value = [&](const char* side) { return difference[side]["resources"].is_null() ? "-" : difference[side]["resources"][name].dump(); };
    rows.push_back({name, value("a"), value("b")});
  }
  const auto count = [](const LedgerEntry& entry) {
    unsigned total = 0;
    for (const auto& [opcode, n] : ptx_histogram(entry.ptx)) total += n;
    return std::to_string(total);
  };
  rows.push_back({"PTX instructions", count(a), count(b)});
  for (const Row& row : rows) out << fmt::format("{:<18} {:<36} {:<36}{}\n", row.name, row.a, row.b, row.a == row.b ? "" : "*");

  std::vector<std::pair<std::string, Json>> instructions;
  for (const auto& [opcode, counts] : difference["instructions"].items()) instructions.emplace_back(opcode, counts);
  const auto change = [](const Json& counts) { return counts[1].get<int>() - counts[0].get<int>(); };
  std::stable_sort(instructions.begin(), instructions.end(), [&](const auto& x, const auto& y) { return std::abs(change(x.second)) > std::abs(change(y.second)); });
  out << (instructions.empty() ? "every PTX instruction occurs equally often in both\n" : "PTX instructions that do not occur equally often in both:\n");
  for (const auto& [opcode, counts] : instructions)
    out << fmt::format("  {:>6} {:>6} {:>+6}  {}\n", counts[0].get<int>(), counts[1].get<int>(), change(counts), opcode);
  return 0;
}

}  // namespace

int cache_command(const Options& o, std::ostream& out) {
  cache::DiskCache& disk = cache::process_cache();
  if (!disk.enabled()) throw Error("there is no cache: TILEWRIGHT_CACHE_DIR switches it off, or neither XDG_CACHE_HOME nor HOME is set");
  if (o.action == "list") return list(o, disk, out);
  if (o.action == "clear") return clear(disk, out);
  if (o.action == "verify") return verify(disk, out);
  return diff(o, disk, out);
}

}  // namespace tilewright::cli
