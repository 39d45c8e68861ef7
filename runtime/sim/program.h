// The decoded form of one kernel: compact instructions with resolved operands.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/sim/ptx.h"
#include "runtime/sim/simulator.h"

namespace tilewright::runtime::sim {

using LaneMask = std::uint32_t;
constexpr unsigned warp_lanes = 32;
constexpr LaneMask all_lanes = ~LaneMask{0};
constexpr unsigned slot_unit = 64;       // registers are 32 lanes of 2, 4 or 8 bytes: one, two or four units
constexpr unsigned shared_base = 1024;   // the first KiB of the shared window belongs to the system, as on the card

struct Warp;
struct Instruction;

/// What an executed instruction does to its warp's program counter.
enum class Step : std::uint8_t {
  next,      // go on behind the instruction
  jumped,    // the instruction has set the program counter
  blocked,   // not done: execute it again on the warp's next turn
  yielded    // done, and the warp's turn ends
};

using Execute = Step (*)(Warp&, const Instruction&, LaneMask active);

/// A register or a constant: >= 0 byte offset in the warp's registers, < 0 the constant number ~ref in slot units.
using Ref = std::int32_t;

/// How a memory instruction orders others: `volatile` counts as relaxed.
enum class MemoryOrder : std::uint8_t { weak, relaxed, acquire, release, acq_rel };
/// Whom a strong access or a fence reaches.
enum class MemoryScope : std::uint8_t { none, cta, cluster, gpu, sys };
enum class MemorySpace : std::uint8_t { generic, global, shared, cluster, local, param };

struct Instruction {
  Execute exec = nullptr;
  Execute inner = nullptr;               // what exec wraps, where it wraps something
  std::int32_t guard = -1;               // predicate number
  bool guard_negated = false;
  InstructionClass group = InstructionClass::other;
  MemorySpace space = MemorySpace::generic;
  std::uint8_t bytes = 0;                // of one element in memory
  std::uint8_t elements = 1;
  MemoryOrder order = MemoryOrder::weak;
  MemoryScope scope = MemoryScope::none;
  std::array<Ref, 5> in{};
  std::array<Ref, 2> out{};
  std::int64_t offset = 0;               // of an address
  std::array<std::int64_t, 2> more_offsets{};   // of further addresses of a copy
  std::uint32_t target = 0;              // branch
  std::uint32_t list = 0;                // operands beyond in/out: program.lists[list, list + list_count)
  std::uint32_t list_count = 0;
  std::uint32_t list_outputs = 0;        // of them, from the first on, written by an instruction on registers that some wgmma uses
  bool copies_register = false;          // such an instruction that moves a register or a constant as it is
  std::array<std::int32_t, 6> extra{};   // meaning belongs to the family
  std::uint32_t statement = 0;           // its PTX
};

enum class SpecialRegister : std::uint8_t {
  tid_x, tid_y, tid_z, ntid_x, ntid_y, ntid_z, ctaid_x, ctaid_y, ctaid_z, nctaid_x, nctaid_y, nctaid_z,
  laneid, warpid, nwarpid, smid, nsmid, gridid, lanemask_eq, lanemask_lt, lanemask_le, lanemask_gt, lanemask_ge,
  dynamic_smem_size, total_smem_size, clusterid_x, clusterid_y, clusterid_z, nclusterid_x, nclusterid_y, nclusterid_z,
  cluster_ctaid_x, cluster_ctaid_y, cluster_ctaid_z, cluster_nctaid_x, cluster_nctaid_y, cluster_nctaid_z, cluster_ctarank, cluster_nctarank
};

struct Program {
  std::shared_ptr<const ptx::Module> module;
  const ptx::Function* function = nullptr;
  std::vector<Instruction> code;                   // ends with a return
  std::vector<Ref> lists;
  std::vector<std::uint64_t> constants;            // lane-replicated values
  std::vector<std::pair<SpecialRegister, Ref>> special;
  std::uint32_t register_bytes = 0;
  std::uint32_t predicates = 0;
  std::uint32_t static_shared = 0;                 // bytes from shared_base
  std::uint32_t dynamic_shared = shared_base;      // where extern shared memory begins, in the shared window
  std::uint32_t local_bytes = 0;                   // per thread
  std::uint32_t local_base = 16;
  unsigned shared_granule = 4, global_granule = 4; // least bytes of an access, 1 to 4
  bool ordered = false;                            // CTAs talk through global memory: one host thread runs them, since their order may show

  const ptx::Statement& statement(const Instruction& i) const { return function->statements[i.statement]; }
  /// "PTX line 12 `add.s32 ...;` (kernel.cpp:34)".
  std::string describe(const Instruction&) const;
  /// The author's file and line, "kernel.cpp:34"; empty where there is none.
  std::string source_of(const Instruction&) const;
};

}  // namespace tilewright::runtime::sim
