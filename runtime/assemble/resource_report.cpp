// What ptxas says of each kernel, and the contract that a kernel keeps by default.
#include "runtime/assemble/resource_report.h"

#include <algorithm>
#include <regex>
#include <sstream>
#include <utility>

#include "runtime/assemble/author_location.h"
#include "tilewright/error.h"

namespace tilewright::assemble {
namespace {

unsigned number(const std::string& text) { return static_cast<unsigned>(std::stoul(text)); }

/// The number before (or after) a phrase in a line, 0 where the phrase is absent.
unsigned number_at(const std::string& line, const std::regex& pattern) {
  std::smatch match;
  return std::regex_search(line, match, pattern) ? number(match[1]) : 0;
}

const std::regex kEntry(R"(Compiling entry function '([^']+)')");
const std::regex kProperties(R"(Function properties for '?([^'\s]+)'?)");
const std::regex kStack(R"((\d+) bytes stack frame)");
const std::regex kStores(R"((\d+) bytes spill stores)");
const std::regex kLoads(R"((\d+) bytes spill loads)");
const std::regex kRegisters(R"(Used (\d+) registers)");
const std::regex kBarriers(R"(used (\d+) barriers)");
const std::regex kShared(R"((\d+) bytes smem)");
const std::regex kLoss(R"(\(C75\d\d\)|Potential Performance Loss)");
const std::regex kFunction(R"(function '([^']+)')");
const std::regex kLine(R"(\bline (\d+))");

/// "ptxas info    : (C7519) ..." without its first part.
std::string message_of(const std::string& line) {
  const std::size_t colon = line.find(": ");
  return line.starts_with("ptxas") && colon != std::string::npos ? line.substr(colon + 2) : line;
}

/// "file:line: " of the kernel's first instruction that has a place; empty where none has.
std::string place_of(const std::string& kernel, std::string_view ptx) {
  std::size_t at = ptx.find(".entry " + kernel + "(");
  if (at == ptx.npos) return "";
  const std::size_t end = ptx.find(".entry ", at + 1);
  at = std::min(ptx.find(".loc ", at), ptx.find(".loc\t", at));
  if (at >= end) return "";
  const auto line = 1 + std::count(ptx.begin(), ptx.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  const auto place = author_location(ptx, static_cast<unsigned>(line));
  return place ? place->text() + ": " : "";
}

}  // namespace

std::vector<ResourceReport> parse_ptxas_report(std::string_view log, const std::string& assembler) {
  std::vector<ResourceReport> reports;
  std::vector<std::pair<std::string, std::string>> losses;  // function or empty, message
  std::istringstream stream{std::string(log)};
  std::smatch match;
  for (std::string line; std::getline(stream, line);) {
    if (std::regex_search(line, kLoss)) {
      std::string message = message_of(line);
      losses.emplace_back(std::regex_search(message, match, kFunction) ? match[1].str() : "", message);
      continue;
    }
    if (std::regex_search(line, match, kEntry)) {
      reports.emplace_back();
      reports.back().name = match[1];
      reports.back().assembler = assembler;
      continue;
    }
    if (reports.empty()) continue;
    ResourceReport& report = reports.back();
    // A device function's frame and spills count for the kernel that calls it.
    report.stack_bytes += number_at(line, kStack);
    report.spill_store_bytes += number_at(line, kStores);
    report.spill_load_bytes += number_at(line, kLoads);
    if (std::regex_search(line, kRegisters)) {
      report.registers = number_at(line, kRegisters);
      report.barriers = number_at(line, kBarriers);
      report.shared_bytes = number_at(line, kShared);
    }
  }
  for (const auto& [function, message] : losses) {
    bool placed = false;
    for (ResourceReport& report : reports)
      if (report.name == function) {
        report.performance_loss.push_back(message);
        placed = true;
      }
    if (!placed)
      for (ResourceReport& report : reports) report.performance_loss.push_back(message);
  }
  return reports;
}

void check_contract(const std::vector<ResourceReport>& reports, const ResourceContract& contract, std::string_view ptx) {
  std::string text;
  for (const ResourceReport& report : reports) {
    const unsigned spills = report.spill_store_bytes + report.spill_load_bytes;
    const std::string kernel = "kernel '" + report.name + "' (" + report.assembler + "): ", place = place_of(report.name, ptx);
    if (spills > 0 && !contract.allow_spills)
      text += place + kernel + "spills registers, " + std::to_string(report.spill_store_bytes) + " bytes of stores and " +
              std::to_string(report.spill_load_bytes) + " bytes of loads at " + std::to_string(report.registers) +
              " registers a thread, expected none; keep less in fragments, split a role, or permit it with allow(\"spills\")\n";
    if (spills == 0 && report.stack_bytes > 0 && !contract.allow_stack)
      text += place + kernel + "has a stack frame of " + std::to_string(report.stack_bytes) +
              " bytes a thread, expected none; a fragment, or an array in a CUDA function (sinf has one), is indexed with a run-time value; or permit it with allow(\"stack\")\n";
    if (contract.allow_performance_loss) continue;
    for (const std::string& message : report.performance_loss) {
      std::smatch match;
      if (std::regex_search(message, match, kLine)) {
        const unsigned line = number(match[1]);
        if (const auto location = author_location(ptx, line)) text += location->text() + ": ";
      }
      text += kernel + message + "; expected no such message, permit it with allow(\"performance_loss\")\n";
    }
  }
  if (text.empty()) return;
  text.pop_back();
  throw Error(text);
}

}  // namespace tilewright::assemble
