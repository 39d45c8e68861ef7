// Shadows of the matrix instructions: products and sums in fp64, once on shadows and once on the operands as they are.
#include <array>

#include "runtime/sim/shadow/shadow_observer.h"
#include "runtime/sim/wgmma_operands.h"

namespace tilewright::runtime::sim {

using ptx::ScalarType;

namespace {

ScalarType type_of(MatrixElement e) { return e == MatrixElement::bf16 ? ScalarType::bf16 : e == MatrixElement::f16 ? ScalarType::f16 : ScalarType::tf32; }

/// A matrix in both forms, row by row.
struct Both {
  unsigned columns;
  std::vector<double> actual, shadow;
  Both(unsigned rows, unsigned n) : columns(n), actual(rows * n), shadow(rows * n) {}
  void set(unsigned row, unsigned column, const Shadowed& x) { actual[row * columns + column] = x.actual, shadow[row * columns + column] = x.shadow; }
  Shadowed at(unsigned row, unsigned column) const { return {actual[row * columns + column], shadow[row * columns + column]}; }
};

void multiply_into(std::vector<double>& c, const std::vector<double>& a, const std::vector<double>& b, unsigned rows, unsigned n, unsigned k) {
  for (unsigned m = 0; m < rows; ++m)
    for (unsigned kk = 0; kk < k; ++kk) {
      const double x = a[m * k + kk];
      for (unsigned j = 0; j < n; ++j) c[m * n + j] += x * b[kk * n + j];
    }
}

Both product(const Both& a, const Both& b, unsigned rows) {
  Both c(rows, b.columns);
  multiply_into(c.actual, a.actual, b.actual, rows, b.columns, a.columns);
  multiply_into(c.shadow, a.shadow, b.shadow, rows, b.columns, a.columns);
  return c;
}

/// Calls f(lane, byte within the register's lane, row, column) for what register j of a fragment of A holds.
template <class F>
void each_of_a(unsigned j, bool wide, F&& f) {
  for (unsigned l = 0; l < warp_lanes; ++l)
    for (unsigned half = 0; half < (wide ? 1u : 2u); ++half) f(l, 2 * half, l / 4 + 8 * (j & 1), wide ? l % 4 + 4 * (j >> 1) : 2 * (l % 4) + 8 * (j >> 1) + half);
}

/// The same for register r of an accumulator, of f32 or of packed f16.
template <class F>
void each_of_accumulator(unsigned r, bool halves, F&& f) {
  for (unsigned l = 0; l < warp_lanes; ++l) {
    if (!halves) f(l, 0u, l / 4 + 8 * ((r >> 1) & 1), 8 * (r / 4) + 2 * (l % 4) + (r & 1));
    else for (unsigned half = 0; half < 2; ++half) f(l, 2 * half, l / 4 + 8 * (r & 1), 8 * (r / 2) + 2 * (l % 4) + half);
  }
}

}  // namespace

// list: D, A, B, C registers; extra: 0 k, 1 element, 2 half accumulator, 3 registers of D, 4 of A, 5 of B
Step ShadowObserver::warp_product(Warp& w, const Instruction& i, LaneMask m) {
  if (!w.converged(all_lanes, m)) return Step::blocked;
  const auto k = static_cast<unsigned>(i.extra[0]);
  const auto e = static_cast<MatrixElement>(i.extra[1]);
  const bool wide = e == MatrixElement::tf32, halves = i.extra[2];
  const Ref* d_list = program_.lists.data() + i.list;
  const Ref *a_list = d_list + i.extra[3], *b_list = a_list + i.extra[4], *c_list = b_list + i.extra[5];
  Shadow::Sums& s = sums_of(w, i);
  Both a(16, k), b(k, 8);
  for (unsigned j = 0; j < static_cast<unsigned>(i.extra[4]); ++j)
    each_of_a(j, wide, [&](unsigned l, unsigned byte, unsigned row, unsigned column) { a.set(row, column, number(w.in<std::byte>(a_list[j]) + l * 4 + byte, type_of(e))); });
  for (unsigned j = 0; j < static_cast<unsigned>(i.extra[5]); ++j)
    for (unsigned l = 0; l < warp_lanes; ++l)
      for (unsigned half = 0; half < (wide ? 1u : 2u); ++half)
        b.set(wide ? l % 4 + 4 * j : 2 * (l % 4) + 8 * j + half, l / 4, number(w.in<std::byte>(b_list[j]) + l * 4 + 2 * half, type_of(e)));
  const Both sums_of_products = product(a, b, 16);
  const ScalarType accumulator = halves ? ScalarType::f16 : ScalarType::f32;
  for (unsigned n = 0; n < 16 * k; ++n) note_operand(s, 0, {a.actual[n], a.shadow[n]});
  for (unsigned n = 0; n < 8 * k; ++n) note_operand(s, 1, {b.actual[n], b.shadow[n]});
  results_.clear();
  for (unsigned r = 0; r < static_cast<unsigned>(i.extra[3]); ++r)
    each_of_accumulator(r, halves, [&](unsigned l, unsigned byte, unsigned row, unsigned column) {
      const Shadowed c = number(w.in<std::byte>(c_list[r]) + l * 4 + byte, accumulator), x = sums_of_products.at(row, column);
      note_operand(s, 2, c);
      results_.push_back({w.out<std::byte>(d_list[r]) + l * 4 + byte, c.shadow + x.shadow, c.actual + x.actual});
    });
  return finish(w, i, m, accumulator, false);
}

void ShadowObserver::product_begins(Cta& cta, unsigned group, const WgmmaRecord& record) {
  const Instruction& i = *record.instruction;
  const auto n = static_cast<unsigned>(i.extra[0]);
  const auto e = static_cast<MatrixElement>(i.extra[1]);
  const ScalarType t = type_of(e);
  const bool wide = e == MatrixElement::tf32;
  const unsigned k = wide ? 8 : 16, count = wide ? 4 : 8, size = wide ? 4 : 2;
  Warp* warps = &cta.warps[group * 4];
  const Ref* list = program_.lists.data() + i.list;
  const auto read_shared = [&](std::uint64_t descriptor, bool mn_major, unsigned rows, const char* what, auto&& set) {
    each_chunk(cta, descriptor, e, mn_major, rows, k, what, [&](unsigned r, unsigned kk, const std::byte* p) {
      for (unsigned x = 0; x < count; ++x) set(mn_major ? r + x : r, mn_major ? kk : kk + x, number(p + x * size, t));
    });
  };
  Both a(64, k), b(k, n);
  if (i.extra[2] & a_in_registers) {
    for (unsigned w = 0; w < 4; ++w)
      for (unsigned j = 0; j < 4; ++j)
        each_of_a(j, wide, [&](unsigned l, unsigned byte, unsigned row, unsigned column) {
          a.set(16 * w + row, column, number(warps[w].in<std::byte>(list[static_cast<unsigned>(i.extra[3]) + j]) + l * 4 + byte, t));
        });
  } else {
    read_shared(record.a, i.extra[2] & transpose_a, 64, "wgmma A", [&](unsigned r, unsigned kk, const Shadowed& x) { a.set(r, kk, x); });
  }
  read_shared(record.b, i.extra[2] & transpose_b, n, "wgmma B", [&](unsigned r, unsigned kk, const Shadowed& x) { b.set(kk, r, x); });
  Shadow::Sums& s = sums_of(warps[0], i);
  for (unsigned x = 0; x < 64 * k; ++x) note_operand(s, 0, {a.actual[x], a.shadow[x]});
  for (unsigned x = 0; x < n * k; ++x) note_operand(s, 1, {b.actual[x], b.shadow[x]});
  const double sign = ((i.extra[2] & negate_a) != 0) != ((i.extra[2] & negate_b) != 0) ? -1 : 1;
  const Both sums_of_products = product(a, b, 64);
  const bool halves = i.extra[2] & half_accumulator;
  product_results_.clear();
  for (unsigned w = 0; w < 4; ++w)
    for (unsigned r = 0; r < static_cast<unsigned>(i.extra[3]); ++r)
      each_of_accumulator(r, halves, [&](unsigned l, unsigned byte, unsigned row, unsigned column) {
        std::byte* place = warps[w].out<std::byte>(list[r]) + l * 4 + byte;
        const Shadowed c = record.accumulate ? number(place, halves ? ScalarType::f16 : ScalarType::f32) : Shadowed{};
        const Shadowed x = sums_of_products.at(16 * w + row, column);
        if (record.accumulate) note_operand(s, 2, c);
        product_results_.push_back({place, c.shadow + sign * x.shadow, c.actual + sign * x.actual});
      });
}

void ShadowObserver::product_ended(Cta& cta, unsigned group, const WgmmaRecord& ended) {
  const Instruction& i = *ended.instruction;
  Shadow::Sums& s = sums_of(cta.warps[group * 4], i);
  for (const Result& r : product_results_) record(s, r, i.extra[2] & half_accumulator ? ScalarType::f16 : ScalarType::f32, false);
}

}  // namespace tilewright::runtime::sim
