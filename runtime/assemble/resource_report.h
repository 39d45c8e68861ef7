// What ptxas says of each kernel, and the contract that a kernel keeps by default.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::assemble {

struct ResourceReport {
  std::string name;                           // entry
  unsigned registers = 0;                     // per thread
  unsigned spill_store_bytes = 0, spill_load_bytes = 0;
  unsigned stack_bytes = 0;                   // frame per thread
  unsigned shared_bytes = 0;                  // static; whoever knows the launch adds the dynamic bytes
  unsigned barriers = 0;                      // named barriers, barrier 0 included
  std::vector<std::string> performance_loss;  // ptxas' own words, one entry a line
  std::string assembler;                      // "ptxas 12.8.93"
};

/// One report for each entry function in the output of `ptxas -v`, in its order. A performance-loss line is one with
/// "Potential Performance Loss" or a message number C75xx; it goes to the function that it names, else to all.
std::vector<ResourceReport> parse_ptxas_report(std::string_view log, const std::string& assembler);

/// What a kernel may do all the same. By default nothing: each of these costs a warp-specialised kernel factors.
struct ResourceContract {
  bool allow_spills = false;
  bool allow_stack = false;
  bool allow_performance_loss = false;
};

/// Throws Error that names every breach of the contract, the author's line where ptxas names a line of PTX, and the
/// option that permits it. The frame that spills bring with them counts as spills only.
void check_contract(const std::vector<ResourceReport>&, const ResourceContract&, std::string_view ptx);

}  // namespace tilewright::assemble
