// Branches, ends, and instructions that only order or hint.
#include "runtime/sim/control.h"

#include <algorithm>

#include "runtime/sim/access.h"
#include "runtime/sim/check/hooks.h"

namespace tilewright::runtime::sim {

Step exit_lanes(Warp& w, const Instruction&, LaneMask m) {
  Group& g = w.group();
  w.live &= ~m;
  g.mask &= ~m;
  ++w.cta->effects;
  if (g.mask == 0) {
    w.cta->pool_free += w.live == 0 ? w.held_registers : 0;
    if (w.live == 0) w.held_registers = 0;
    if (w.live == 0 && w.cta->check) check::note_exit(w);
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

// Fences order what the checks see; the simulator's agents see each other's writes at once in any case.
Step thread_fence(Warp& w, const Instruction& i, LaneMask) {
  if (w.cta->check) check::note_fence(w, i.scope);
  return Step::next;
}

Step proxy_fence(Warp& w, const Instruction&, LaneMask) {
  if (w.cta->check) check::note_proxy_fence(w);
  return Step::next;
}

Step init_fence(Warp& w, const Instruction&, LaneMask) {
  if (w.cta->check) check::note_init_fence(w);
  return Step::next;
}

void decode_fence(Decode& d) {
  Instruction& i = d.instruction();
  i.group = InstructionClass::barrier;
  const bool init = d.take("mbarrier_init"), proxy = d.take("proxy"), async = d.take_any({"async", "async::generic"}) != "";
  while (!d.take_any({"sc", "acq_rel", "acquire", "release", "alias", "global", "shared::cta", "shared::cluster", "tensormap::generic",
                      "sync_restrict::shared::cta", "sync_restrict::shared::cluster"}).empty()) {}
  i.scope = d.take("gl") ? MemoryScope::gpu : take_memory_scope(d);
  i.exec = init ? init_fence : !proxy ? thread_fence : async ? proxy_fence : nothing;
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

Step grid_wait(Warp& w, const Instruction&, LaneMask) {
  if (w.cta->check) check::note_grid_wait(w);
  return Step::next;
}

void decode_griddepcontrol(Decode& d) {
  const std::string_view what = d.take_any({"wait", "launch_dependents"});
  if (what.empty()) d.unsupported();
  d.instruction().group = InstructionClass::other;
  d.instruction().exec = what == "wait" ? grid_wait : nothing;
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
