// wgmma: products of a warpgroup, queued when issued and executed when a wait needs them, operands read at that time.
#include <algorithm>
#include <bit>
#include <cstring>

#include "runtime/sim/check/hooks.h"
#include "runtime/sim/cluster.h"
#include "runtime/sim/control.h"
#include "runtime/sim/decode.h"
#include "runtime/sim/numeric.h"
#include "runtime/sim/observer.h"
#include "runtime/sim/wgmma_operands.h"

namespace tilewright::runtime::sim {

using ptx::Operand;
using ptx::ScalarType;

namespace {

// Reads a matrix of `rows` rows (m or n) and k columns as floats: out[r * row_step + k * k_step].
template <MatrixElement e>
void read_shared(Cta& cta, std::uint64_t descriptor, bool mn_major, unsigned rows, unsigned k, float* out, unsigned row_step, unsigned k_step, const char* what) {
  constexpr unsigned count = e == MatrixElement::tf32 ? 4 : 8;
  const unsigned step = mn_major ? row_step : k_step;
  each_chunk(cta, descriptor, e, mn_major, rows, k, what, [&](unsigned r, unsigned kk, const std::byte* p) {
    std::uint32_t words[4];
    float values[8];
    std::memcpy(words, p, sizeof words);
    for (unsigned n = 0; n < 4; ++n) widen(e, words[n], values + n * count / 4);
    float* to = out + r * row_step + kk * k_step;
    for (unsigned n = 0; n < count; ++n) to[n * step] = values[n];
  });
}

void read_shared(Cta& cta, std::uint64_t descriptor, MatrixElement e, bool mn_major, unsigned rows, unsigned k, float* out,
                 unsigned row_step, unsigned k_step, const char* what) {
  switch (e) {
    case MatrixElement::bf16: return read_shared<MatrixElement::bf16>(cta, descriptor, mn_major, rows, k, out, row_step, k_step, what);
    case MatrixElement::f16: return read_shared<MatrixElement::f16>(cta, descriptor, mn_major, rows, k, out, row_step, k_step, what);
    case MatrixElement::tf32: return read_shared<MatrixElement::tf32>(cta, descriptor, mn_major, rows, k, out, row_step, k_step, what);
  }
}

void read_registers(Warp& w, const Ref* list, MatrixElement e, unsigned k, float* out) {
  for (unsigned j = 0; j < 4; ++j) {
    const auto* v = w.in<std::uint32_t>(list[j]);
    for (unsigned l = 0; l < warp_lanes; ++l) {
      const unsigned row = l / 4 + 8 * (j & 1);
      if (e == MatrixElement::tf32) widen(e, v[l], out + row * k + l % 4 + 4 * (j >> 1));
      else widen(e, v[l], out + row * k + 2 * (l % 4) + 8 * (j >> 1));
    }
  }
}

void mark(Warp& w, const Instruction& i, int by) {
  const Ref* list = w.cta->launch.program->lists.data() + i.list;
  for (unsigned n = 0; n < i.list_count; ++n)
    if (list[n] >= 0) w.inflight[static_cast<std::size_t>(list[n]) / slot_unit] = static_cast<std::uint8_t>(w.inflight[static_cast<std::size_t>(list[n]) / slot_unit] + by);
}

void accumulate(Warp& w, const Instruction& i, const float* sums, bool keep) {
  const auto n = static_cast<unsigned>(i.extra[0]);
  const auto registers = static_cast<unsigned>(i.extra[3]);
  const Ref* list = w.cta->launch.program->lists.data() + i.list;
  if (!(i.extra[2] & half_accumulator)) return add_to_fragment(w.registers, list, sums, n, keep);
  for (unsigned r = 0; r < registers; ++r) {
    auto* d = w.out<std::uint32_t>(list[r]);
    for (unsigned l = 0; l < warp_lanes; ++l) {
      const float* s = sums + (l / 4 + 8 * (r & 1)) * n + 8 * (r / 2) + 2 * (l % 4);
      const float low = keep ? half_to_float(static_cast<std::uint16_t>(d[l])) : 0.0f;
      const float high = keep ? half_to_float(static_cast<std::uint16_t>(d[l] >> 16)) : 0.0f;
      d[l] = static_cast<std::uint32_t>(float_to_half(low + s[0])) | static_cast<std::uint32_t>(float_to_half(high + s[1])) << 16;
    }
  }
}

void execute(Cta& cta, unsigned group) {
  Warpgroup& g = cta.warpgroups[group];
  const WgmmaRecord first = g.issued[0].front();
  const Instruction& i = *first.instruction;
  const auto n = static_cast<unsigned>(i.extra[0]);
  const auto e = static_cast<MatrixElement>(i.extra[1]);
  const unsigned k = e == MatrixElement::tf32 ? 8 : 16;
  alignas(64) float a[64 * 16], b[16 * 256], sums[64 * 256];
  Warp* warps = &cta.warps[group * 4];
  for (unsigned w = 1; w < 4; ++w) {
    const WgmmaRecord& r = g.issued[w].front();
    if (r.instruction != first.instruction || r.b != first.b || (!(i.extra[2] & a_in_registers) && r.a != first.a) || r.accumulate != first.accumulate)
      cta.fail(warps[w], *r.instruction, -1, "the warps of the warpgroup issued different wgmma operations; the first warp: " + cta.launch.program->describe(i));
  }
  try {
    if (i.extra[2] & a_in_registers) {
      for (unsigned w = 0; w < 4; ++w)
        read_registers(warps[w], cta.launch.program->lists.data() + i.list + i.extra[3], e, k, a + w * 16 * k);
    } else {
      read_shared(cta, first.a, e, i.extra[2] & transpose_a, 64, k, a, k, 1, "wgmma A");
    }
    read_shared(cta, first.b, e, i.extra[2] & transpose_b, n, k, b, 1, n, "wgmma B");
  } catch (const Fault& f) {
    cta.fail(warps[0], i, -1, f.what);
  }
  if (((i.extra[2] & negate_a) != 0) != ((i.extra[2] & negate_b) != 0))
    for (unsigned x = 0; x < 64 * k; ++x) a[x] = -a[x];
  multiply(sums, a, b, 64, n, k);
  if (cta.observer) cta.observer->product_begins(cta, group, first);
  for (unsigned w = 0; w < 4; ++w) {
    accumulate(warps[w], i, sums + w * 16 * n, first.accumulate);
    mark(warps[w], i, -1);
    g.issued[w].pop_front();
  }
  ++g.executed;
  if (cta.observer) cta.observer->product_ended(cta, group, first);
  cta.statistics.tensor_flops += 2ull * 64 * n * k;
}

// Executes the group's operations up to the count; false when a warp has not issued them yet.
bool complete_until(Cta& cta, unsigned group, std::uint64_t count) {
  Warpgroup& g = cta.warpgroups[group];
  while (g.executed < count) {
    for (const auto& queue : g.issued)
      if (queue.empty()) return false;
    execute(cta, group);
  }
  return true;
}

void check_warpgroup(Warp& w, LaneMask m) {
  if (m != all_lanes) throw Fault{"wgmma with lanes " + hex(m) + " of the warp; expected all"};
  if ((w.index / 4 + 1) * 4 > w.cta->warps.size())
    throw Fault{"wgmma in a warpgroup of less than four warps: the CTA has " + std::to_string(w.cta->warps.size()) + " warps"};
}

/// The ranges of shared memory that a product reads.
check::Ranges operands(const Cta& cta, const Instruction& i, const WgmmaRecord& r) {
  constexpr unsigned chunk = SharedMatrix::chunk;
  const std::uint64_t chunks = cta.shared.size() / chunk;
  std::vector<std::uint64_t> read(chunks / 64 + 1);   // a bit a chunk
  const unsigned k = static_cast<MatrixElement>(i.extra[1]) == MatrixElement::tf32 ? 8 : 16;
  const auto matrix = [&](std::uint64_t descriptor, bool mn_major, unsigned rows) {
    const SharedMatrix m(descriptor);
    for (unsigned row = 0; row < rows; row += mn_major ? 8 : 1)
      for (unsigned part = 0; part < (mn_major ? k : 2); ++part) {
        const std::uint64_t n = (mn_major ? m.mn_major(row, part) : m.k_major(row, part)) / chunk;
        if (n < chunks) read[n / 64] |= 1ull << n % 64;   // execution reports what lies outside
      }
  };
  if (!(i.extra[2] & a_in_registers)) matrix(r.a, i.extra[2] & transpose_a, 64);
  matrix(r.b, i.extra[2] & transpose_b, static_cast<unsigned>(i.extra[0]));
  check::Ranges ranges;
  for (std::uint64_t word = 0; word < read.size(); ++word)
    for (std::uint64_t left = read[word]; left; left &= left - 1) {
      const std::uint64_t begin = (word * 64 + static_cast<unsigned>(std::countr_zero(left))) * chunk;
      if (!ranges.empty() && ranges.back().second == begin) ranges.back().second += chunk;
      else ranges.emplace_back(begin, begin + chunk);
    }
  return ranges;
}

Step issue(Warp& w, const Instruction& i, LaneMask m) {
  if (!w.converged(all_lanes, m)) return Step::blocked;
  check_warpgroup(w, m);
  WgmmaRecord r;
  r.instruction = &i;
  if (!(i.extra[2] & a_in_registers)) r.a = w.in<std::uint64_t>(i.in[0])[0];
  r.b = w.in<std::uint64_t>(i.in[1])[0];
  r.accumulate = i.extra[2] & constant_scale ? i.extra[4] != 0 : (w.predicates[static_cast<std::size_t>(i.in[2])] & 1) != 0;
  if (w.cta->check) check::note_product(w, i, [&] { return operands(*w.cta, i, r); });
  mark(w, i, 1);
  w.cta->warpgroups[w.index / 4].issued[w.index % 4].push_back(r);
  ++w.wgmma_issued;
  ++w.cta->effects;
  if (w.cta->cluster.schedule.product_is_early()) complete_until(*w.cta, w.index / 4, w.wgmma_issued);
  return Step::next;
}

Step commit(Warp& w, const Instruction&, LaneMask m) {
  if (!w.converged(all_lanes, m)) return Step::blocked;
  w.wgmma_commits.push_back(w.wgmma_issued);
  if (w.cta->check) check::note_product_commit(w);
  return Step::next;
}

Step wait_group(Warp& w, const Instruction& i, LaneMask m) {
  if (!w.converged(all_lanes, m)) return Step::blocked;
  const auto keep = static_cast<std::size_t>(i.extra[0]);
  auto& commits = w.wgmma_commits;
  if (commits.size() <= keep) return Step::next;
  if (!complete_until(*w.cta, w.index / 4, commits[commits.size() - 1 - keep])) return w.block(Block::Kind::wgmma);
  commits.erase(commits.begin(), commits.end() - static_cast<std::ptrdiff_t>(keep));
  if (w.cta->check) check::note_product_wait(w, keep);
  return Step::next;
}

Step fence(Warp& w, const Instruction&, LaneMask m) {
  if (!w.converged(all_lanes, m)) return Step::blocked;
  if (w.cta->check) check::note_product_fence(w);
  return Step::next;
}

unsigned shape_n(Decode& d, unsigned k) {
  const std::string_view shape = d.next_modifier();
  const std::string text(shape);
  const std::size_t at = text.find('k');
  if (!text.starts_with("m64n") || at == std::string::npos || text.substr(at) != "k" + std::to_string(k)) d.unsupported("shape '" + text + "'");
  const unsigned n = static_cast<unsigned>(std::atoi(text.c_str() + 4));
  if (n < 8 || n > 256 || n % 8) d.unsupported("shape '" + text + "'");
  return n;
}

int sign(Decode& d, const Operand& o, int flag) {
  const auto v = static_cast<std::int64_t>(d.immediate(o));
  if (v != 1 && v != -1) d.wrong("a scale of an operand must be 1 or -1");
  return v < 0 ? flag : 0;
}

void decode_mma(Decode& d) {
  Instruction& i = d.instruction();
  const auto& parts = d.statement().parts;
  const std::string_view element = parts.back();
  const auto e = element == "bf16" ? MatrixElement::bf16 : element == "f16" ? MatrixElement::f16 : MatrixElement::tf32;
  const unsigned n = shape_n(d, e == MatrixElement::tf32 ? 8 : 16);
  const ScalarType accumulator = d.type(), a_type = d.type(), b_type = d.type();
  if (a_type != b_type || (a_type != ScalarType::bf16 && a_type != ScalarType::f16 && a_type != ScalarType::tf32)) d.unsupported();
  const bool half = accumulator == ScalarType::f16;
  if (!half && accumulator != ScalarType::f32) d.unsupported();
  if (half && e != MatrixElement::f16) d.unsupported();
  const unsigned registers = half ? n / 4 : n / 2;
  const Operand& target = d.operand(0);
  const Operand& a = d.operand(1);
  if (target.kind != Operand::Kind::vector || target.elements.size() != registers) d.wrong("expected " + std::to_string(registers) + " accumulator registers");
  const bool rs = a.kind == Operand::Kind::vector;
  int flags = (rs ? a_in_registers : 0) | (half ? half_accumulator : 0);
  std::vector<Ref> refs;
  for (const Operand& o : target.elements) refs.push_back(d.out(o, half ? ScalarType::b32 : ScalarType::f32));
  if (rs) {
    if (a.elements.size() != 4) d.wrong("expected four registers of A");
    for (const Operand& o : a.elements) refs.push_back(d.in(o, ScalarType::b32));
  } else {
    i.in[0] = d.in(a, ScalarType::b64);
  }
  i.in[1] = d.in(2, ScalarType::b64);
  const bool sixteen = e != MatrixElement::tf32;
  const std::size_t expected = 6 + (sixteen ? (rs ? 1 : 2) : 0);
  d.expect_operands(expected, expected);
  const Operand& scale = d.operand(3);
  if (scale.kind == Operand::Kind::integer) {
    flags |= constant_scale;
    i.extra[4] = scale.value != 0;
  } else {
    i.in[2] = d.predicate(scale);
  }
  flags |= sign(d, d.operand(4), negate_a) | sign(d, d.operand(5), negate_b);
  if (sixteen && !rs) flags |= d.immediate(d.operand(6)) ? transpose_a : 0;
  if (sixteen) flags |= d.immediate(d.operand(rs ? 6 : 7)) ? transpose_b : 0;
  d.begin_list();
  for (const Ref r : refs) {
    d.push_list(r);
    d.builder().watch(r);
  }
  i.extra[0] = static_cast<int>(n);
  i.extra[1] = static_cast<int>(e);
  i.extra[2] = flags;
  i.extra[3] = static_cast<int>(registers);
  i.exec = issue;
}

void decode_wgmma(Decode& d) {
  Instruction& i = d.instruction();
  i.group = InstructionClass::wgmma;
  const std::string_view what = d.next_modifier();
  if (!d.take("sync") || !d.take("aligned")) d.unsupported();
  if (what == "mma_async") return decode_mma(d);
  if (what == "fence") i.exec = fence;
  else if (what == "commit_group") i.exec = commit;
  else if (what == "wait_group") {
    d.expect_operands(1, 1);
    i.extra[0] = static_cast<int>(d.immediate(d.operand(0)));
    i.exec = wait_group;
  } else {
    d.unsupported();
  }
}

}  // namespace

bool settle_wgmma(Warp& w, const Instruction& i) {
  if (w.cta->warpgroups[w.index / 4].executed < w.wgmma_issued) {
    const auto busy = [&](Ref r) { return r >= 0 && static_cast<std::size_t>(r) / slot_unit < w.inflight.size() && w.inflight[static_cast<std::size_t>(r) / slot_unit] != 0; };
    bool hit = std::any_of(i.in.begin(), i.in.end(), busy) || std::any_of(i.out.begin(), i.out.end(), busy);
    const Ref* list = w.cta->launch.program->lists.data() + i.list;
    hit = hit || std::any_of(list, list + i.list_count, busy);
    return !hit || complete_until(*w.cta, w.index / 4, w.wgmma_issued);
  }
  return true;
}

Step settle_wgmma_then(Warp& w, const Instruction& i, LaneMask m) {
  if (!settle_wgmma(w, i)) return w.block(Block::Kind::wgmma);
  if (w.cta->check) check::note_registers(w, i);
  return i.inner(w, i, m);
}

void add_wgmma_family(DecoderTable& t) { t["wgmma"] = decode_wgmma; }

}  // namespace tilewright::runtime::sim
