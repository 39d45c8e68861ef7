// Fragments: moves, maps, reductions, scans.
#include <algorithm>
#include <limits>

#include "compiler/evaluate/State.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tilewright::evaluate {

/// Elementwise, all elements of all warps as the lanes of one evaluation of the body.
void Role::map(tile::MapOp op) {
  const Part first = part(op.getOutputs()[0]);
  const int rows = first.fragment->rows, cols = first.fragment->cols == 1 ? 1 : first.cols;
  const std::vector<int> warps = active_warps(*op);
  const std::size_t in_warp = static_cast<std::size_t>(rows) * cols, count = warps.size() * in_warp;
  if (count == 0) return;
  std::map<void*, Lanes> local;  // references stay valid
  const auto fill = [&](Value v, auto&& f) {
    Lanes x(count);
    std::size_t i = 0;
    for (int w : warps)
      for (int r = 0; r < rows; ++r)
        for (int c = 0; c < cols; ++c) x[i++] = f(w, r, c);
    local[v.getAsOpaquePointer()] = std::move(x);
  };
  Block& body = op.getBody().front();
  fill(body.getArgument(0), [&](int w, int r, int) { return Word(first.row(w, r)); });
  fill(body.getArgument(1), [](int, int, int c) { return Word(std::int64_t{c}); });
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    if (isa<tile::FragType>(input.getType())) {
      const Part in = part(input);
      fill(body.getArgument(2 + i), [&](int w, int r, int c) { return in.at(w, r, c); });
      continue;
    }
    const Place& p = place(input);  // a vector in shared memory
    fill(body.getArgument(2 + i), [&](int w, int r, int c) { return tile_element(*op, p, w, p.rows == 1 ? 0 : first.row(w, r), p.cols == 1 ? 0 : c); });
  }
  const Get get_local = [&](Value v) -> const Lanes& {
    if (auto it = local.find(v.getAsOpaquePointer()); it != local.end()) return it->second;
    const Lanes& outer = get(v);
    if (outer.size() == 1) return outer;
    fill(v, [&](int w, int, int) { return of_warp(*op, outer, w); });
    return local[v.getAsOpaquePointer()];
  };
  for (Operation& inner : body.without_terminator()) {
    Lanes out;
    if (auto o = dyn_cast<tile::GetOp>(inner)) {
      const Lanes held = vars_[o.getVar()];
      fill(o.getValue(), [&](int w, int, int) { return of_warp(*op, held, w); });
    } else if (auto o = dyn_cast<tile::ReadOp>(inner); o && isa<tile::GlobalType>(o.getFrom().getType())) {
      out.resize(count);
      for (std::size_t i = 0; i < count; ++i) {
        std::vector<std::int64_t> at;
        for (Value c : o.getCoords()) at.push_back(lane(get_local(c), i).integer);
        out[i] = tensor_element(inner, o.getFrom(), at);
      }
      local[o.getValue().getAsOpaquePointer()] = std::move(out);
    } else if (compute(&inner, get_local, out)) {
      local[inner.getResult(0).getAsOpaquePointer()] = std::move(out);
    } else {
      undefined(&inner, "an operation in a map that has no meaning here");
    }
  }
  auto yield = cast<tile::YieldOp>(body.getTerminator());
  for (auto [value, output] : llvm::zip(yield.getValues(), op.getOutputs())) {
    const Part out = part(output);
    const Lanes x = get_local(value);
    std::size_t i = 0;
    for (int w : warps)
      for (int r = 0; r < rows; ++r)
        for (int c = 0; c < cols; ++c, ++i) out.at(w, r, c) = stored(lane(x, i), out.fragment->element);
  }
}

void Role::move(Operation& op, Value frag, Value tile, bool transposed, bool store) {
  const Part f = part(frag);
  const Place p = place(tile);
  const int cols = f.fragment->cols == 1 ? 1 : f.cols;
  for (int w : active_warps(op))
    for (int r = 0; r < f.fragment->rows; ++r)
      for (int c = 0; c < cols; ++c) {
        const std::int64_t row = f.row(w, r);
        Word& there = tile_element(op, p, w, transposed ? c : row, transposed ? row : c);
        if (store) there = f.at(w, r, c);
        else f.at(w, r, c) = there;
      }
}

void Role::move_global(Operation& op, Value frag, Value tensor, ValueRange coords, unsigned row_axis, unsigned col_axis, bool store) {
  const Part f = part(frag);
  const int cols = f.fragment->cols == 1 ? 1 : f.cols;
  for (int w : active_warps(op)) {
    std::vector<std::int64_t> origin;
    for (Value c : coords) origin.push_back(of_warp(op, get(c), w).integer);
    for (int r = 0; r < f.fragment->rows; ++r)
      for (int c = 0; c < cols; ++c) {
        std::vector<std::int64_t> at = origin;
        at[row_axis] += f.row(w, r);
        at[col_axis] += c;
        Word& there = tensor_element(op, tensor, at);
        if (store) there = f.at(w, r, c);
        else f.at(w, r, c) = there;
      }
  }
}

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// What elements come to in any order.
struct Combination {
  StringRef kind;
  Sum sum;
  Interval most;
  double terms = 0;
  explicit Combination(StringRef k) : kind(k), most(k == "max" ? Interval{-kInfinity, -kInfinity} : Interval{kInfinity, kInfinity}) {}
  void add(Interval x) {
    ++terms;
    if (kind == "add") sum.add(x);
    else most = kind == "max" ? maximum(most, x) : minimum(most, x);
  }
  Interval value() const { return kind == "add" ? sum.value(24, terms) : most; }
};

}  // namespace

void Role::reduce(tile::ReduceOp op) {
  const Part in = part(op.getInput()), out = part(op.getOutput());
  const bool along_row = out.fragment->cols == 1;
  const int rows = in.fragment->rows, cols = in.cols;
  for (int w : active_warps(*op))
    for (int o = 0; o < (along_row ? rows : cols); ++o) {
      Combination all(op.getKind());
      for (int i = 0; i < (along_row ? cols : rows); ++i) all.add((along_row ? in.at(w, o, i) : in.at(w, i, o)).real);
      (along_row ? out.at(w, o, 0) : out.at(w, 0, o)) = Word(all.value());
    }
}

void Role::scan(tile::ScanOp op) {
  const Part in = part(op.getInput()), out = part(op.getOutput());
  const int rows = in.fragment->rows, cols = in.fragment->cols == 1 ? 1 : in.cols;
  const int lines = op.getDown() ? cols : rows, length = op.getDown() ? rows : cols;
  for (int w : active_warps(*op))
    for (int l = 0; l < lines; ++l) {
      std::vector<Interval> result(length);
      Combination all(op.getKind());
      for (int n = 0; n < length; ++n) {
        const int i = op.getReverse() ? length - 1 - n : n;
        const Interval before = n == 0 ? Combination(op.getKind()).value() : all.value();
        all.add((op.getDown() ? in.at(w, i, l) : in.at(w, l, i)).real);
        result[i] = op.getExclusive() ? before : all.value();
      }
      for (int i = 0; i < length; ++i) (op.getDown() ? out.at(w, i, l) : out.at(w, l, i)) = Word(result[i]);
    }
}

bool Role::fragments(Operation& op) {
  if (auto o = dyn_cast<tile::FragOp>(op)) {
    auto shape = o.getFrag().getType().getShape();
    Fragment f{o.getFrag().getType().getElementType(), warps_, shape[0] == 1 ? 1 : 16, static_cast<int>(shape[1]), shape[0] == 16, {}};
    f.values.assign(static_cast<std::size_t>(f.warps) * f.rows * f.cols, never_written(f.element));
    if (Part known = part(o.getFrag()); known.fragment) return *known.fragment = f, true;  // once more in a loop
    fragments_.push_back(std::move(f));
    parts_[o.getFrag()] = {&fragments_.back(), 0, fragments_.back().cols};
  } else if (auto o = dyn_cast<tile::FragViewOp>(op)) {
    Part from = part(o.getFrag());
    parts_[o.getResult()] = {from.fragment, from.first + static_cast<int>(o.getColumn()), static_cast<int>(o.getResult().getType().getShape()[1])};
  } else if (auto o = dyn_cast<tile::FillOp>(op)) {
    const Part f = part(o.getFrag());
    for (int w : active_warps(op))
      for (int r = 0; r < f.fragment->rows; ++r)
        for (int c = 0; c < (f.fragment->cols == 1 ? 1 : f.cols); ++c) f.at(w, r, c) = stored(of_warp(op, get(o.getValue()), w), f.fragment->element);
  } else if (auto o = dyn_cast<tile::MapOp>(op)) {
    map(o);
  } else if (auto o = dyn_cast<tile::LoadOp>(op)) {
    move(op, o.getFrag(), o.getTile(), o.getTransposed(), false);
  } else if (auto o = dyn_cast<tile::StoreOp>(op)) {
    move(op, o.getFrag(), o.getTile(), o.getTransposed(), true);
  } else if (auto o = dyn_cast<tile::LoadGlobalOp>(op)) {
    move_global(op, o.getFrag(), o.getTensor(), o.getCoords(), o.getRowAxis(), o.getColAxis(), false);
  } else if (auto o = dyn_cast<tile::StoreGlobalOp>(op)) {
    move_global(op, o.getFrag(), o.getTensor(), o.getCoords(), o.getRowAxis(), o.getColAxis(), true);
  } else if (auto o = dyn_cast<tile::ReduceOp>(op)) {
    reduce(o);
  } else if (auto o = dyn_cast<tile::ScanOp>(op)) {
    scan(o);
  } else if (auto o = dyn_cast<tile::GemmOp>(op)) {
    product(op, o.getAcc(), o.getA(), o.getTransA(), o.getB(), o.getTransB(), o.getZero(), o.getAccumulate());
  } else if (auto o = dyn_cast<tile::MmaOp>(op)) {
    product(op, o.getAcc(), o.getA(), o.getTransA(), o.getB(), o.getTransB(), false, {});
  } else {
    return isa<tile::BatchOp, tile::SettleOp, tile::SettlePendingOp>(op);
  }
  return true;
}

}  // namespace tilewright::evaluate
