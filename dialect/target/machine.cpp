#include "dialect/target/machine.h"

#include <algorithm>

namespace tilewright::target {

using std::to_string;

int registersAtEntry(int threads) {
  int registers = kRegisterFile / threads / kBudgetStep * kBudgetStep;
  return std::min(registers, kMaxThreadRegisters / kBudgetStep * kBudgetStep);
}

std::optional<std::string> threadCountProblem(int threads) {
  if (threads < kWarpThreads || threads > kMaxThreads || threads % kWarpThreads != 0)
    return "a CTA has " + to_string(threads) + " threads, expected a multiple of 32 in 32..1024";
  return std::nullopt;
}

std::optional<std::string> registerBudgetProblem(int budget) {
  if (budget % kBudgetStep != 0 || budget < kMinBudget || budget > kMaxBudget)
    return "register budget " + to_string(budget) + ", expected a multiple of 8 in 24..256";
  return std::nullopt;
}

std::optional<std::string> registerPoolProblem(std::span<const int> budgets) {
  int groups = static_cast<int>(budgets.size());
  if (groups == 0)
    return std::nullopt;
  if (auto problem = threadCountProblem(groups * kWarpgroupThreads))
    return problem;
  int sum = 0;
  std::string terms;
  for (int budget : budgets) {
    if (auto problem = registerBudgetProblem(budget))
      return problem;
    sum += budget;
    terms += (terms.empty() ? "" : " + ") + to_string(budget);
  }
  int entry = registersAtEntry(groups * kWarpgroupThreads);
  if (sum > entry * groups)
    return "register budgets " + terms + " = " + to_string(sum) + " exceed the pool of " + to_string(groups) +
           " warpgroups x " + to_string(entry) + " registers at entry = " + to_string(entry * groups) +
           "; the kernel would wait for ever";
  return std::nullopt;
}

std::optional<std::string> sharedMemoryProblem(std::int64_t bytes) {
  if (bytes < 0 || bytes > kMaxSharedBytes)
    return to_string(bytes) + " bytes of shared memory, a CTA has at most " + to_string(kMaxSharedBytes) + " (227 KiB)";
  return std::nullopt;
}

std::optional<std::string> namedBarrierProblem(int id, int threads) {
  if (id < 1 || id >= kNamedBarriers)
    return "named barrier " + to_string(id) + ", expected an id in 1..15 (0 is the barrier of the whole CTA)";
  if (threads < kWarpThreads || threads > kMaxThreads || threads % kWarpThreads != 0)
    return "named barrier of " + to_string(threads) + " threads, expected a multiple of 32 in 32..1024";
  return std::nullopt;
}

} // namespace tilewright::target
