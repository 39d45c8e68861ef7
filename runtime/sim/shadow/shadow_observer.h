// Executes instructions together with their shadows.
#pragma once
#include <vector>

#include "runtime/sim/shadow/shadow.h"
#include "runtime/sim/shadow/shadow_plan.h"

namespace tilewright::runtime::sim {

/// A number as it is, and without rounding.
struct Shadowed {
  double actual = 0, shadow = 0;
};

class ShadowObserver final : public Observer {
 public:
  ShadowObserver(const Launch&, ShadowMemory&);
  /// Forgets what lay in the registers and the shared memory of CTAs that are no more.
  ~ShadowObserver() override;

  void begin(Cta&) override;
  Step execute(Warp&, const Instruction&, LaneMask) override;
  void copied(std::byte* to, const std::byte* from, std::size_t bytes) override;
  void reduced(std::byte* to, const std::byte* before, const std::byte* from, std::size_t bytes, MapElement, Reduction) override;
  void product_begins(Cta&, unsigned group, const WgmmaRecord&) override;
  void product_ended(Cta&, unsigned group, const WgmmaRecord&) override;

  std::vector<std::string> roles;
  std::vector<std::vector<Shadow::Sums>> sums;   // by role and instruction

 private:
  /// A result on its way: known before the instruction runs, but for its bits.
  struct Result {
    std::byte* to = nullptr;
    double shadow = 0, exact = 0;   // exact: in fp64 on the operands as they are
  };
  /// Bytes that keep their shadows while they move.
  struct Move {
    const std::byte* from;
    std::byte* to;
    unsigned bytes;
  };

  Shadowed number(const std::byte*, ptx::ScalarType);
  Shadow::Sums& sums_of(const Warp&, const Instruction&);
  void record(Shadow::Sums&, const Result&, ptx::ScalarType, bool sum);
  void note_operand(Shadow::Sums&, unsigned n, const Shadowed&);
  Step finish(Warp&, const Instruction&, LaneMask, ptx::ScalarType result, bool sum);

  // shadow_arithmetic.cpp
  Step arithmetic(Warp&, const Instruction&, LaneMask, const ShadowPlan&);
  Step convert(Warp&, const Instruction&, LaneMask, const ShadowPlan&);
  Step convert_pair(Warp&, const Instruction&, LaneMask, const ShadowPlan&);
  Step widen(Warp&, const Instruction&, LaneMask, ShadowKind);
  Step add_atomically(Warp&, const Instruction&, LaneMask, const ShadowPlan&);
  // shadow_moves.cpp
  Step move(Warp&, const Instruction&, LaneMask, const ShadowPlan&);
  void list_moves(Warp&, const Instruction&, LaneMask, const ShadowPlan&);
  void list_matrix_moves(Warp&, const Instruction&, bool load);
  // shadow_products.cpp
  Step warp_product(Warp&, const Instruction&, LaneMask);

  const Program& program_;
  const Instruction* code_;
  ShadowMemory& memory_;
  std::vector<ShadowPlan> plans_;                // by instruction
  std::vector<unsigned> role_of_;                // by warp: index in roles
  std::vector<Result> results_;                  // of the instruction that runs
  std::vector<Result> product_results_;          // of the wgmma that runs
  std::vector<Move> moves_;
  std::vector<ShadowCell> cells_;
  std::map<const std::byte*, std::size_t> ranges_;   // registers and shared memory that CTAs began with
};

/// The number of a type at a place; tf32 as a whole float.
double value_of(const std::byte*, ptx::ScalarType);

/// The place of a lane's memory operand of `bytes` bytes; Fault as the instruction gives it.
std::byte* operand_place(Warp&, const Instruction&, unsigned bytes, unsigned lane, const char* what);

}  // namespace tilewright::runtime::sim
