// From times of calls to Costs: which calls say something of a cost, and what their times say.
#pragma once
#include <vector>

#include "kernels/gdn/costs.h"
#include "kernels/gdn/plan.h"

namespace tilewright::gdn {

/// What the time of a call says, by how it grows with Probe::at. The first five are times of the chain kernel, the others of the prologue.
enum class Quantity {
  whole,     ///< chunks of whole chains: a full step each
  erasing,   ///< chunks of chains in two segments, the second from zero one chunk further back: half a full step each
  keeping,   ///< the same where the second starts at the chain's beginning: half a full step and half a state step each
  items,     ///< items of an SM that have the same chunks altogether: a start and a silent chunk each
  records,   ///< segments with records, each as long: a hop each
  prologue,  ///< chunks of all heads
  planner,   ///< chains, in calls so short that the planner takes longer than the prologue beside it
  beside,    ///< the same calls without a planner
};
constexpr const char* name_of(Quantity q) {
  constexpr const char* names[]{"whole", "erasing", "keeping", "items", "records", "prologue", "planner", "beside"};
  return names[static_cast<int>(q)];
}
constexpr bool of_the_chain(Quantity q) { return q <= Quantity::records; }

/// How fast heads forget: as heads in models do, within a chunk, or never.
enum class Memory { usual, brief, endless };

/// A call of one sequence.
struct Probe {
  Quantity quantity;
  double at;
  Form form;
  int heads, chunks;  ///< value heads; chunks of the sequence
  int group = 1;      ///< value heads of a key head
  int cp = 1;         ///< 0: as the planner decides, 1: no segments, N: segments of a chain
  HeadClass classes = HeadClass::chosen;
  Memory memory = Memory::usual;
};

/// The calls by which costs of a device are found. Throws Error for one with too few multiprocessors to have a chain with records on SMs of its own.
std::vector<Probe> probes(int sms);

/// What the probes' calls reckon with: costs beside which nothing else that the host knows of lists counts, so that whether a call has a planner does not
/// depend on what is to be measured.
Costs probing_costs(const Costs& shipped);

struct Measured {
  Probe probe;
  double us;  ///< of the kernel that the quantity is about; what all calls have in common does not matter but for prologue and planner
};

/// The costs that the times of all probes say. Slopes are medians over pairs of calls, so one bad time in five does no harm.
/// Throws Error, which names the cost, its value and what was expected, where times make no sense.
Costs calibrate(const std::vector<Measured>& times, int sms);

}  // namespace tilewright::gdn
