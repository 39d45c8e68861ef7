// PTX -> cubin.
#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/assemble/resource_report.h"

namespace tilewright::assemble {

struct AssembleOptions {
  std::filesystem::path ptxas;           // empty: found by find_tool
  std::string target = "sm_90a";
  bool line_info = true;                 // the author's lines in the cubin, for nvdisasm, profilers and sanitizers
  ResourceContract contract;
  std::chrono::milliseconds timeout{120'000};
};

struct Assembled {
  std::vector<std::uint8_t> cubin;       // empty: no ptxas was found, the driver assembles the PTX when it loads it
  std::vector<ResourceReport> kernels;   // one for each entry; empty with an empty cubin
  std::string assembler;                 // "ptxas 12.8.93" or "driver"
  std::string log;                       // all that ptxas said
};

/// What ptxas is told, but for file names.
std::vector<std::string> ptxas_flags(const AssembleOptions&);

/// Assembles PTX with ptxas and checks the resource contract. Without any ptxas the result has no cubin; ask
/// require_tool(Tool::ptxas) beforehand where a report is wanted.
/// Throws Error with ptxas' text and the author's file:line when the PTX is refused, when the contract is broken, when
/// ptxas does not finish in time.
Assembled assemble(std::string_view ptx, const AssembleOptions& = {});

/// SASS of a cubin as nvdisasm prints its code sections; with `lines` each author's line goes before its instructions.
/// Throws Error when there is no nvdisasm or it refuses the cubin.
std::string disassemble(const std::vector<std::uint8_t>& cubin, bool lines = false);

}  // namespace tilewright::assemble
