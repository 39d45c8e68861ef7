// Products: exact where sums of exact products are, bounded elsewhere.
#include <algorithm>
#include <cmath>

#include "compiler/evaluate/State.h"

using namespace mlir;

namespace tilewright::evaluate {
namespace {

/// Bits of the sums that tensor cores keep for certain, and how often an instruction of `step` terms may cut one.
constexpr int kExactBits = 22;
double cuts(std::int64_t k, bool wide) { return 4 + 2.0 * static_cast<double>(k) / (wide ? 8 : 16); }

/// One operand, rows of K contiguous.
struct Operand {
  std::vector<Interval> values;
  bool exact = true;
  int lowest = 1000;

  void note(Interval x) {
    values.push_back(x);
    exact &= x.exact() && std::isfinite(x.lo);
    lowest = std::min(lowest, lowest_bit(x.lo));
  }
};

}  // namespace

/// acc (+)= A B for the rows of each warp, as if it were complete on return.
void Role::product(Operation& op, Value acc_value, Value a_value, bool trans_a, Value b_value, bool trans_b, bool zero, Value accumulate) {
  const Part acc = part(acc_value);
  const int n = acc.cols;
  auto b_type = cast<tile::SharedType>(b_value.getType());
  const bool wide = b_type.getElementType().isF32(), at_once = isa<tile::GemmOp>(op);
  const std::int64_t k = b_type.getShape()[trans_b ? 1 : 0];
  const Place b_place = place(b_value);
  for (int w : active_warps(op)) {
    Operand a, b;
    for (int r = 0; r < 16; ++r)
      for (int i = 0; i < k; ++i) {
        if (isa<tile::FragType>(a_value.getType())) {
          const Interval x = part(a_value).at(w, r, i).real;
          a.note(wide ? rounded(x, "tf32") : x);
          continue;
        }
        const Place& p = place(a_value);
        const std::int64_t row = acc.row(w, r);
        const Interval x = tile_element(op, p, w, trans_a ? i : row, trans_a ? row : i).real;
        a.note(!wide ? x : at_once ? cut_to_tf32(x) : rounded(x, "tf32"));
      }
    for (int c = 0; c < n; ++c)
      for (int i = 0; i < k; ++i) {
        const Interval x = tile_element(op, b_place, w, trans_b ? c : i, trans_b ? i : c).real;
        b.note(!wide ? x : at_once ? cut_to_tf32(x) : rounded(x, "tf32"));
      }
    const Interval clear{0, 0};
    const bool keep = !zero && (!accumulate || truth(op, of_warp(op, get(accumulate), w)));
    for (int r = 0; r < 16; ++r)
      for (int c = 0; c < n; ++c) {
        Word& to = acc.at(w, r, c);
        Sum sum;
        sum.add(keep ? to.real : clear);
        const Interval *x = &a.values[r * k], *y = &b.values[c * k];
        if (a.exact && b.exact) {
          double total = 0, magnitude = 0;
          for (std::int64_t i = 0; i < k; ++i) {
            const double product = double(x[i].lo) * y[i].lo;
            total += product;
            magnitude += std::abs(product);
          }
          if (magnitude != 0) sum.add_products(total, magnitude, a.lowest + b.lowest);
        } else {
          for (std::int64_t i = 0; i < k; ++i) sum.add(multiply(x[i], y[i]));
        }
        to = Word(sum.value(kExactBits, cuts(k, wide)));
      }
  }
}

}  // namespace tilewright::evaluate
