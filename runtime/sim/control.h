// Executors that other rooms of the simulator need by name.
#pragma once
#include "runtime/sim/program.h"

namespace tilewright::runtime::sim {

struct Cta;

/// ret and exit: the active lanes end.
Step exit_lanes(Warp&, const Instruction&, LaneMask active);

/// Settles any wgmma in flight that the instruction's registers take part in; false when a warp has not issued it yet.
bool settle_wgmma(Warp&, const Instruction&);

/// Runs `inner` after settling any wgmma in flight that the instruction's registers take part in.
Step settle_wgmma_then(Warp&, const Instruction&, LaneMask active);

}  // namespace tilewright::runtime::sim
