// Warp-level matrix instructions: mma.sync, ldmatrix, stmatrix.
#include <cstring>

#include "runtime/sim/access.h"
#include "runtime/sim/check/hooks.h"
#include "runtime/sim/matrix_product.h"
#include "runtime/sim/numeric.h"

namespace tilewright::runtime::sim {

using ptx::Operand;
using ptx::ScalarType;

namespace {

// list: D, A, B, C registers; extra: 0 k, 1 element, 2 half accumulator, 3 registers of D, 4 of A, 5 of B
Step mma(Warp& w, const Instruction& i, LaneMask m) {
  if (!w.converged(all_lanes, m)) return Step::blocked;
  const auto k = static_cast<unsigned>(i.extra[0]);
  const auto e = static_cast<MatrixElement>(i.extra[1]);
  const Ref* list = w.cta->launch.program->lists.data() + i.list;
  const Ref* a_list = list + i.extra[3];
  const Ref* b_list = a_list + i.extra[4];
  const Ref* c_list = b_list + i.extra[5];
  float a[16 * 16], b[16 * 8], sums[16 * 8];
  const bool wide = e == MatrixElement::tf32;
  for (int j = 0; j < i.extra[4]; ++j) {
    const auto* v = w.in<std::uint32_t>(a_list[j]);
    for (unsigned l = 0; l < warp_lanes; ++l) {
      const unsigned row = l / 4 + 8 * (static_cast<unsigned>(j) & 1), part = static_cast<unsigned>(j) >> 1;
      widen(e, v[l], a + row * k + (wide ? l % 4 + 4 * part : 2 * (l % 4) + 8 * part));
    }
  }
  for (int j = 0; j < i.extra[5]; ++j) {
    const auto* v = w.in<std::uint32_t>(b_list[j]);
    for (unsigned l = 0; l < warp_lanes; ++l) {
      float x[2];
      widen(e, v[l], x);
      const unsigned column = l / 4, first = wide ? l % 4 + 4 * static_cast<unsigned>(j) : 2 * (l % 4) + 8 * static_cast<unsigned>(j);
      b[first * 8 + column] = x[0];
      if (!wide) b[(first + 1) * 8 + column] = x[1];
    }
  }
  multiply(sums, a, b, 16, 8, k);
  for (int r = 0; r < i.extra[3]; ++r) {
    if (i.extra[2]) {
      const auto* c = w.in<std::uint32_t>(c_list[r]);
      auto* d = w.out<std::uint32_t>(list[r]);
      for (unsigned l = 0; l < warp_lanes; ++l) {
        const float* s = sums + (l / 4 + 8 * static_cast<unsigned>(r)) * 8 + 2 * (l % 4);
        d[l] = static_cast<std::uint32_t>(float_to_half(half_to_float(static_cast<std::uint16_t>(c[l])) + s[0])) |
               static_cast<std::uint32_t>(float_to_half(half_to_float(static_cast<std::uint16_t>(c[l] >> 16)) + s[1])) << 16;
      }
    } else {
      const float* c = w.in<float>(c_list[r]);
      float* d = w.out<float>(list[r]);
      for (unsigned l = 0; l < warp_lanes; ++l)
        d[l] = c[l] + sums[(l / 4 + 8 * (static_cast<unsigned>(r) >> 1)) * 8 + 2 * (l % 4) + (static_cast<unsigned>(r) & 1)];
    }
  }
  w.cta->statistics.tensor_flops += 2ull * 16 * 8 * k;
  return Step::next;
}

void push_vector(Decode& d, const Operand& o, std::size_t count, ScalarType t, bool target) {
  if (o.kind != Operand::Kind::vector || o.elements.size() != count) d.wrong("expected " + std::to_string(count) + " registers");
  for (const Operand& e : o.elements) d.push_list(target ? d.out(e, t) : d.in(e, t));
}

void decode_mma(Decode& d) {
  Instruction& i = d.instruction();
  i.group = InstructionClass::matrix;
  if (!d.take("sync") || !d.take("aligned")) d.unsupported();
  const std::string_view shape = d.next_modifier();
  if (!d.take("row") || !d.take("col")) d.unsupported();
  const ScalarType dt = d.type(), at = d.type(), bt = d.type(), ct = d.type();
  const unsigned k = shape == "m16n8k16" ? 16 : shape == "m16n8k8" ? 8 : shape == "m16n8k4" ? 4 : 0;
  const bool wide = at == ScalarType::tf32, half = dt == ScalarType::f16;
  if (at != bt || dt != ct || (dt != ScalarType::f32 && !half) || (!wide && at != ScalarType::f16 && at != ScalarType::bf16)) d.unsupported();
  if (k == 0 || (wide ? k == 16 : k == 4) || (half && at != ScalarType::f16)) d.unsupported();
  d.expect_operands(4, 4);
  i.extra = {static_cast<int>(k), static_cast<int>(wide ? MatrixElement::tf32 : at == ScalarType::f16 ? MatrixElement::f16 : MatrixElement::bf16), half,
             half ? 2 : 4, static_cast<int>(wide ? k / 2 : k / 4), static_cast<int>(wide ? k / 4 : k / 8)};
  d.begin_list();
  const ScalarType accumulator = half ? ScalarType::b32 : ScalarType::f32;
  push_vector(d, d.operand(0), static_cast<std::size_t>(i.extra[3]), accumulator, true);
  push_vector(d, d.operand(1), static_cast<std::size_t>(i.extra[4]), ScalarType::b32, false);
  push_vector(d, d.operand(2), static_cast<std::size_t>(i.extra[5]), ScalarType::b32, false);
  push_vector(d, d.operand(3), static_cast<std::size_t>(i.extra[3]), accumulator, false);
  i.exec = mma;
}

}  // namespace

// extra: 0 wide address, 1 count, 2 transposed
std::byte* matrix_row(Warp& w, const Instruction& i, unsigned lane, const char* what) {
  const std::uint64_t a = lane_address(w, i, 0, i.extra[0], lane);
  if (i.space == MemorySpace::generic) return generic_at(w, a, 16, 16, lane, what);
  return w.cta->shared_at(shared_address(a), 16, 16, static_cast<int>(lane), what);
}

namespace {

Step load_matrix(Warp& w, const Instruction& i, LaneMask m) {
  if (!w.converged(all_lanes, m)) return Step::blocked;
  if (w.cta->check) check::note_rows(w, i, 8 * static_cast<unsigned>(i.extra[1]), check::Use::load);
  const Ref* list = w.cta->launch.program->lists.data() + i.list;
  std::uint16_t values[4][8][8];
  for (int n = 0; n < i.extra[1]; ++n)
    for (unsigned r = 0; r < 8; ++r) std::memcpy(values[n][r], matrix_row(w, i, 8 * static_cast<unsigned>(n) + r, "ldmatrix"), 16);
  for (int n = 0; n < i.extra[1]; ++n) {
    auto* d = w.out<std::uint32_t>(list[n]);
    for (unsigned l = 0; l < warp_lanes; ++l) {
      const unsigned r = l / 4, c = 2 * (l % 4);
      d[l] = i.extra[2] ? values[n][c][r] | static_cast<std::uint32_t>(values[n][c + 1][r]) << 16
                        : values[n][r][c] | static_cast<std::uint32_t>(values[n][r][c + 1]) << 16;
    }
  }
  return Step::next;
}

Step store_matrix(Warp& w, const Instruction& i, LaneMask m) {
  if (!w.converged(all_lanes, m)) return Step::blocked;
  if (w.cta->check) check::note_rows(w, i, 8 * static_cast<unsigned>(i.extra[1]), check::Use::store);
  const Ref* list = w.cta->launch.program->lists.data() + i.list;
  for (int n = 0; n < i.extra[1]; ++n) {
    std::uint16_t values[8][8];
    const auto* s = w.in<std::uint32_t>(list[n]);
    for (unsigned l = 0; l < warp_lanes; ++l) {
      const unsigned r = l / 4, c = 2 * (l % 4);
      (i.extra[2] ? values[c][r] : values[r][c]) = static_cast<std::uint16_t>(s[l]);
      (i.extra[2] ? values[c + 1][r] : values[r][c + 1]) = static_cast<std::uint16_t>(s[l] >> 16);
    }
    for (unsigned r = 0; r < 8; ++r) std::memcpy(matrix_row(w, i, 8 * static_cast<unsigned>(n) + r, "stmatrix"), values[r], 16);
  }
  ++w.cta->effects;
  return Step::next;
}

void decode_matrix_move(Decode& d) {
  Instruction& i = d.instruction();
  const bool load = d.statement().parts[0] == "ldmatrix";
  i.group = class_of(MemorySpace::shared, load);
  if (!d.take("sync") || !d.take("aligned") || !d.take("m8n8")) d.unsupported();
  const std::string_view count = d.take_any({"x1", "x2", "x4"});
  if (count.empty()) d.unsupported();
  i.extra[1] = count[1] - '0';
  i.extra[2] = d.take("trans");
  i.space = take_space(d);
  if (d.type() != ScalarType::b16) d.unsupported();
  d.expect_operands(2, 2);
  const Operand& values = d.operand(load ? 0 : 1);
  d.address(d.operand(load ? 1 : 0), 0, 0);
  d.begin_list();
  if (values.kind == Operand::Kind::vector) push_vector(d, values, static_cast<std::size_t>(i.extra[1]), ScalarType::b32, load);
  else if (i.extra[1] == 1) d.push_list(load ? d.out(values, ScalarType::b32) : d.in(values, ScalarType::b32));
  else d.wrong("expected a vector of registers");
  i.exec = load ? load_matrix : store_matrix;
}

}  // namespace

void add_matrix_family(DecoderTable& t) {
  t["mma"] = decode_mma;
  t["ldmatrix"] = decode_matrix_move;
  t["stmatrix"] = decode_matrix_move;
}

}  // namespace tilewright::runtime::sim
