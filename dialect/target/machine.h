#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace tilewright::target {

/// Threads of a warp, of a warpgroup (the unit of wgmma and of register budgets), and the most of a CTA.
inline constexpr int kWarpThreads = 32;
inline constexpr int kWarpgroupThreads = 128;
inline constexpr int kMaxThreads = 1024;

/// Dynamic shared memory of one CTA in bytes: 227 KiB (cudaDevAttrMaxSharedMemoryPerBlockOptin of sm_90).
inline constexpr int kMaxSharedBytes = 232448;

/// Hardware barriers of a CTA. Barrier 0 is the CTA's own (bar.sync 0); a named barrier is one of 1..15.
inline constexpr int kNamedBarriers = 16;

/// Arrivals that one mbarrier phase can count (20 bits), and bytes it can expect.
inline constexpr int kMaxMbarrierCount = (1 << 20) - 1;

/// CTAs of a cluster that every card of the architecture runs.
inline constexpr int kMaxClusterSize = 8;

/// The most asynchronous groups a wait may leave pending (wgmma.wait_group, cp.async.bulk.wait_group).
inline constexpr int kMaxPendingGroups = 7;

/// 32-bit registers of one SM.
inline constexpr int kRegisterFile = 65536;
/// The most registers of one thread.
inline constexpr int kMaxThreadRegisters = 255;

/// Budgets that setmaxnreg accepts: multiples of 8 in 24..256 (PTX ISA, setmaxnreg).
inline constexpr int kMinBudget = 24;
inline constexpr int kMaxBudget = 256;
inline constexpr int kBudgetStep = 8;

/// Registers a thread has at entry when one CTA of `threads` threads owns the SM: 65536 / threads, rounded down
/// to a multiple of 8, at most 248 (a thread addresses 255). `threads` is in 1..1024.
int registersAtEntry(int threads);

/// What is wrong with `threads` as the size of a CTA of whole warps; nothing when it is legal.
std::optional<std::string> threadCountProblem(int threads);

/// What is wrong with `budgets`, the registers a thread of each warpgroup asks for with setmaxnreg; nothing when
/// the pool can serve them: each a multiple of 8 in 24..256, and their sum at most (registers at entry) x
/// (warpgroups). The pool is what the launch got, not the register file: a sum above it waits for ever.
std::optional<std::string> registerPoolProblem(std::span<const int> budgets);

/// What is wrong with `bytes` of dynamic shared memory for one CTA; nothing when they fit.
std::optional<std::string> sharedMemoryProblem(std::int64_t bytes);

/// What is wrong with named barrier `id` of `threads` threads; nothing when it is legal: id in 1..15, whole warps.
std::optional<std::string> namedBarrierProblem(int id, int threads);

/// What is wrong with one setmaxnreg value; nothing when it is legal.
std::optional<std::string> registerBudgetProblem(int budget);

} // namespace tilewright::target
