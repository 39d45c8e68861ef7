// Elements of tensors and tiles, copies of boxes, atomics.
#include <algorithm>

#include "compiler/evaluate/State.h"

using namespace mlir;

namespace tilewright::evaluate {

std::string name_of(Type element) {
  return element.isF32() ? "f32" : element.isBF16() ? "bf16" : element.isF16() ? "f16" : element.isInteger(64) ? "i64" : "i32";
}
Word never_written(Type element) {
  if (element.isInteger()) return Word(std::int64_t{-1});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  return Word(Interval{nan, nan});
}
Word stored(Word value, Type element) { return element.isInteger() ? value : Word(rounded(value.real, name_of(element))); }

const Place& Role::place(Value v) {
  if (auto it = places_.find(v); it != places_.end()) return it->second;
  return cta_.places[v];
}

Word& Role::element(Operation& op, const Place& p, std::int64_t stage, std::int64_t row, std::int64_t col) {
  Tile& t = *p.tile;
  if (row < 0 || row >= t.rows || col < 0 || col >= t.cols)
    undefined(&op, "element [" + std::to_string(row) + ", " + std::to_string(col) + "] of a tile of [" + std::to_string(t.rows) + ", " + std::to_string(t.cols) + "]");
  return t.values[(stage * t.rows + row) * t.cols + col];
}
Word& Role::tile_element(Operation& op, const Place& p, int warp, std::int64_t row, std::int64_t col) {
  return element(op, p, of_warp(op, p.stage, warp).integer, of_warp(op, p.row, warp).integer + row, of_warp(op, p.col, warp).integer + col);
}
Word& Role::tensor_element(Operation& op, Value tensor, const std::vector<std::int64_t>& at) {
  Tensor& t = cta_.tensor(tensor);
  std::int64_t offset = 0;
  for (std::size_t axis = 0; axis < at.size(); ++axis) {
    if (at[axis] < 0 || at[axis] >= t.shape[axis])
      undefined(&op, "coordinate " + std::to_string(at[axis]) + " of axis " + std::to_string(axis) + ", whose extent is " + std::to_string(t.shape[axis]));
    offset = offset * t.shape[axis] + at[axis];
  }
  return t.values[offset];
}

/// The element that one thread names.
Word& Role::accessed(Operation& op, Value where, ValueRange coords, int thread) {
  if (isa<tile::SharedType>(where.getType())) {
    const Place& p = place(where);
    return element(op, p, lane(p.stage, thread).integer, lane(p.row, thread).integer + lane(get(coords[0]), thread).integer,
                   lane(p.col, thread).integer + lane(get(coords[1]), thread).integer);
  }
  std::vector<std::int64_t> at;
  for (Value c : coords) at.push_back(lane(get(c), thread).integer);
  return tensor_element(op, where, at);
}

namespace {

Type element_type(Value where) {
  if (auto shared = dyn_cast<tile::SharedType>(where.getType())) return shared.getElementType();
  return cast<tile::GlobalType>(where.getType()).getElementType();
}

Word combined(StringRef kind, Word a, Word b, Type element) {
  if (!element.isInteger()) return stored(Word(add(a.real, b.real)), element);
  const std::int64_t x = a.integer, y = b.integer;
  if (kind == "min") return Word(std::min(x, y));
  if (kind == "max") return Word(std::max(x, y));
  if (kind == "and") return Word(x & y);
  if (kind == "or") return Word(x | y);
  if (kind == "xor") return Word(x ^ y);
  if (kind == "exch") return b;
  const std::int64_t sum = x + y;
  return Word(element.isInteger(32) ? std::int64_t{static_cast<std::int32_t>(sum)} : sum);
}

}  // namespace

/// Reads, writes and atomics of single elements, thread after thread.
bool Role::element_access(Operation& op) {
  const auto read = [&](Value from, ValueRange coords) {
    Lanes out(threads_);
    for (int t : active_threads()) out[t] = accessed(op, from, coords, t);
    set(op.getResult(0), std::move(out));
    return true;
  };
  const auto write = [&](Value value, Value to, ValueRange coords) {
    const Lanes& v = get(value);
    for (int t : active_threads()) accessed(op, to, coords, t) = stored(lane(v, t), element_type(to));
    return true;
  };
  if (auto o = dyn_cast<tile::ReadOp>(op)) return read(o.getFrom(), o.getCoords());
  if (auto o = dyn_cast<tile::LoadStrongOp>(op)) return read(o.getTensor(), o.getCoords());
  if (auto o = dyn_cast<tile::WriteOp>(op)) return write(o.getValue(), o.getTo(), o.getCoords());
  if (auto o = dyn_cast<tile::StoreStrongOp>(op)) return write(o.getValue(), o.getTensor(), o.getCoords());
  if (auto o = dyn_cast<tile::AtomicOp>(op)) {
    const Lanes& v = get(o.getValue());
    Lanes old(threads_);
    for (int t : active_threads()) {
      Word& at = accessed(op, o.getTo(), o.getCoords(), t);
      old[t] = at;
      at = combined(o.getKind(), at, lane(v, t), element_type(o.getTo()));
    }
    set(o.getOld(), std::move(old));
    return true;
  }
  if (auto o = dyn_cast<tile::AtomicCasOp>(op)) {
    Lanes old(threads_);
    for (int t : active_threads()) {
      Word& at = accessed(op, o.getTo(), o.getCoords(), t);
      old[t] = at;
      if (at.integer == lane(get(o.getCompare()), t).integer) at = lane(get(o.getValue()), t);
    }
    set(o.getOld(), std::move(old));
    return true;
  }
  if (auto o = dyn_cast<tile::RedOp>(op)) {
    for (int t : active_threads())
      for (std::size_t i = 0; i < o.getValues().size(); ++i) {
        Word* at = &accessed(op, o.getTo(), o.getCoords(), t) + i;
        *at = combined(o.getKind(), *at, lane(get(o.getValues()[i]), t), element_type(o.getTo()));
      }
    return true;
  }
  return false;
}

/// A box of a tensor to or from a tile, in row-major order of both.
void Role::box(Operation& op, Value tensor, ValueRange coords, ValueRange ragged, ArrayRef<std::int64_t> extents, Value tile, int thread, bool store, bool sum) {
  Tensor& t = cta_.tensor(tensor);
  const Type element = element_type(tensor);
  const Place& p = place(tile);
  std::vector<std::int64_t> origin, position(extents.size(), 0);
  for (Value c : coords) origin.push_back(lane(get(c), thread).integer);
  std::int64_t total = 1, stage = lane(p.stage, thread).integer;
  for (std::int64_t e : extents) total *= e;
  for (std::int64_t n = 0; n < total; ++n) {
    bool inside = true;
    std::vector<std::int64_t> at(extents.size());
    for (std::size_t axis = 0; axis < extents.size(); ++axis) {
      at[axis] = origin[axis] + position[axis];
      const bool bounded = axis == 0 && !ragged.empty();
      inside &= at[axis] >= 0 && at[axis] < (bounded ? lane(get(ragged[1]), thread).integer : t.shape[axis]);
      if (bounded) at[axis] += lane(get(ragged[0]), thread).integer;
    }
    Word& here = this->element(op, p, stage, lane(p.row, thread).integer + n / p.cols, lane(p.col, thread).integer + n % p.cols);
    if (inside && store) {
      Word& there = tensor_element(op, tensor, at);
      there = sum ? combined("add", there, here, element) : here;
    } else if (!store) {
      here = inside ? tensor_element(op, tensor, at) : element.isInteger() ? Word(std::int64_t{0}) : Word(Interval{0, 0});
    }
    for (std::size_t axis = extents.size(); axis-- > 0 && ++position[axis] == extents[axis];) position[axis] = 0;
  }
}

void Role::bulk(Operation& op, Value tensor, ValueRange coords, Value tile, int thread, bool store) {
  Tensor& t = cta_.tensor(tensor);
  const Place& p = place(tile);
  std::int64_t offset = 0;
  for (std::size_t axis = 0; axis < coords.size(); ++axis) offset = offset * t.shape[axis] + lane(get(coords[axis]), thread).integer;
  if (offset < 0 || offset + p.rows * p.cols > static_cast<std::int64_t>(t.values.size())) undefined(&op, "a bulk copy reaches outside of the tensor");
  for (std::int64_t n = 0; n < p.rows * p.cols; ++n) {
    Word& here = element(op, p, lane(p.stage, thread).integer, lane(p.row, thread).integer + n / p.cols, lane(p.col, thread).integer + n % p.cols);
    if (store) t.values[offset + n] = here;
    else here = t.values[offset + n];
  }
}

void Role::landed(Value ring, Value stage, Value tile) {
  const Place& p = place(tile);
  cta_.rings[ring].landed[lane(get(stage), 0).integer] += p.rows * p.cols * tile::element_bytes(p.tile->element);
}

bool Role::copy(Operation& op) {
  const auto leader = [&] { return whole_role(op), 0; };
  if (auto o = dyn_cast<tile::TmaLoadOp>(op)) {
    if (o.getMulticast()) undefined(&op, "clusters have no meaning here");
    box(op, o.getTensor(), o.getCoords(), o.getRagged(), o.getBox(), o.getTile(), leader(), false, false);
    landed(o.getRing(), o.getStage(), o.getTile());
  } else if (auto o = dyn_cast<tile::BulkLoadOp>(op)) {
    bulk(op, o.getTensor(), o.getCoords(), o.getTile(), leader(), false);
    landed(o.getRing(), o.getStage(), o.getTile());
  } else if (auto o = dyn_cast<tile::CopyAsyncOp>(op)) {
    box(op, o.getTensor(), o.getCoords(), o.getRagged(), o.getBox(), o.getTile(), leader(), false, false);
  } else if (auto o = dyn_cast<tile::CopyInOp>(op)) {
    box(op, o.getTensor(), o.getCoords(), o.getRagged(), o.getBox(), o.getTile(), leader(), false, false);
  } else if (auto o = dyn_cast<tile::CopyOutOp>(op)) {
    box(op, o.getTensor(), o.getCoords(), o.getRagged(), o.getBox(), o.getTile(), leader(), true, false);
  } else if (auto o = dyn_cast<tile::TmaStoreOp>(op)) {
    for (int t : active_threads()) box(op, o.getTensor(), o.getCoords(), o.getRagged(), o.getBox(), o.getTile(), t, true, o.getReduce().has_value());
  } else if (auto o = dyn_cast<tile::BulkStoreOp>(op)) {
    for (int t : active_threads()) bulk(op, o.getTensor(), o.getCoords(), o.getTile(), t, true);
  } else {
    return isa<tile::StoreWaitOp>(op);
  }
  return true;
}

}  // namespace tilewright::evaluate
