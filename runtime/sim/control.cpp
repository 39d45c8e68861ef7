// Branches, ends, and instructions that only order or hint.
#include "runtime/sim/control.h"

#include <algorithm>

#include "runtime/sim/decode.h"
#include "runtime/sim/machine.h"

namespace tilewright::runtime::sim {

Step exit_lanes(Warp& w, const Instruction&, LaneMask m) {
  Group& g = w.group();
  w.live &= ~m;
  g.mask &= ~m;
  ++w.cta->effects;
  if (g.mask == 0) {
    w.cta->pool_free += w.live == 0 ? w.held_registers : 0;
    if (w.live == 0) w.held_registers = 0;
    w.groups.erase(w.groups.begin() + static_cast<std::ptrdiff_t>(w.current));
    return Step::jumped;
  }
  return Step::next;
}

namespace {

Step branch(Warp& w, const Instruction& i, LaneMask m) {
  Group& g = w.group();
  if (m == g.mask) {
    g.pc = i.target;
    return Step::jumped;
  }
  Group taken{i.target, m, {}};
  g.mask &= ~m;
  g.block = {};
  ++g.pc;
  w.groups.push_back(taken);
  return Step::jumped;
}

Step trap(Warp&, const Instruction&, LaneMask m) { throw Fault{"the kernel trapped", std::countr_zero(m)}; }

Step nothing(Warp&, const Instruction&, LaneMask) { return Step::next; }

// setmaxnreg: the CTA's pool is what the launch gave its warps; inc waits until enough has been given back.
Step set_registers(Warp& w, const Instruction& i, LaneMask m) {
  if (!w.converged(all_lanes, m)) return Step::blocked;
  const auto wanted = static_cast<unsigned>(i.extra[0]);
  const bool increase = i.extra[1];
  Cta& cta = *w.cta;
  if (increase) {
    if (wanted < w.held_registers)
      throw Fault{"setmaxnreg.inc to " + std::to_string(wanted) + " registers, but the warp holds " + std::to_string(w.held_registers)};
    const unsigned more = wanted - w.held_registers;
    if (more > cta.pool_free) return w.block(Block::Kind::register_pool, 0, wanted);
    cta.pool_free -= more;
  } else {
    if (wanted > w.held_registers)
      throw Fault{"setmaxnreg.dec to " + std::to_string(wanted) + " registers, but the warp holds " + std::to_string(w.held_registers)};
    cta.pool_free += w.held_registers - wanted;
  }
  w.held_registers = wanted;
  ++cta.effects;
  return Step::next;
}

void decode_bra(Decode& d) {
  Instruction& i = d.instruction();
  i.group = InstructionClass::control;
  d.take("uni");
  d.expect_operands(1, 1);
  if (d.operand(0).kind != ptx::Operand::Kind::name) d.wrong("expected a label");
  i.target = d.builder().label(d.statement(), d.operand(0).name);
  i.exec = branch;
}

void decode_end(Decode& d) {
  d.instruction().group = InstructionClass::control;
  d.take("uni");
  d.expect_operands(0, 0);
  d.instruction().exec = exit_lanes;
}

void decode_trap(Decode& d) {
  d.instruction().group = InstructionClass::control;
  d.instruction().exec = trap;
}

// Orders that the simulator keeps anyway: its agents see each other's writes at once.
void decode_fence(Decode& d) {
  d.instruction().group = InstructionClass::barrier;
  d.take("mbarrier_init");
  d.take("proxy");
  while (!d.take_any({"sc", "acq_rel", "acquire", "release", "alias", "async", "global", "shared::cta", "shared::cluster", "tensormap::generic",
                      "cta", "cluster", "gpu", "sys", "gl", "async::generic", "sync_restrict::shared::cta", "sync_restrict::shared::cluster"}).empty()) {}
  d.instruction().exec = nothing;
}

void decode_hint(Decode& d) {
  while (!d.next_modifier().empty()) {}
  d.instruction().group = InstructionClass::other;
  d.instruction().exec = nothing;
}

// Lets the other warps go on; how long the sleep would be does not matter here.
Step sleep(Warp&, const Instruction&, LaneMask) { return Step::yielded; }

void decode_nanosleep(Decode& d) {
  Instruction& i = d.instruction();
  d.take("u32");
  d.expect_operands(1, 1);
  i.in[0] = d.in(0, ptx::ScalarType::u32);
  i.group = InstructionClass::control;
  i.exec = sleep;
}

void decode_griddepcontrol(Decode& d) {
  if (d.take_any({"wait", "launch_dependents"}).empty()) d.unsupported();
  d.instruction().group = InstructionClass::other;
  d.instruction().exec = nothing;
}

void decode_setmaxnreg(Decode& d) {
  Instruction& i = d.instruction();
  i.group = InstructionClass::other;
  const bool increase = d.take("inc");
  if (!increase && !d.take("dec")) d.unsupported();
  d.take("sync");
  d.take("aligned");
  d.take("u32");
  d.expect_operands(1, 1);
  const std::uint64_t n = d.immediate(d.operand(0));
  if (n < 24 || n > 256 || n % 8) d.wrong("register count " + std::to_string(n) + "; expected a multiple of 8 from 24 to 256");
  i.extra = {static_cast<int>(n), increase};
  i.exec = set_registers;
}

}  // namespace

void add_control_family(DecoderTable& t) {
  t["bra"] = decode_bra;
  t["ret"] = decode_end;
  t["exit"] = decode_end;
  t["trap"] = decode_trap;
  t["membar"] = decode_fence;
  t["fence"] = decode_fence;
  t["griddepcontrol"] = decode_griddepcontrol;
  t["nanosleep"] = decode_nanosleep;
  t["setmaxnreg"] = decode_setmaxnreg;
  for (const char* hint : {"prefetch", "prefetchu", "pmevent", "applypriority"}) t[hint] = decode_hint;
}

}  // namespace tilewright::runtime::sim
