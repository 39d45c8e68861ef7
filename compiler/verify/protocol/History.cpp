#include "compiler/verify/protocol/History.h"

#include <algorithm>

namespace tilewright::verify::protocol {

namespace {
constexpr std::size_t kManySegments = 128;
}

void Elements::sort(std::uint32_t mask) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!(mask >> lane & 1)) continue;
    const Box one{of[lane].first, of[lane].second, 1, 1};
    sorted.push_back(of[lane]);
    some_rows |= std::uint64_t{1} << (one.row & 63), some_columns |= std::uint64_t{1} << (one.column & 63);
    box = sorted.size() == 1 ? one : box.joined(one);
  }
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
}

bool elements_meet(const Elements& x, const Elements& y) {
  if (!(x.some_rows & y.some_rows) || !(x.some_columns & y.some_columns)) return false;
  for (auto i = x.sorted.begin(), j = y.sorted.begin(); i != x.sorted.end() && j != y.sorted.end();) {
    if (*i == *j) return true;
    *i < *j ? ++i : ++j;
  }
  return false;
}

bool other_lanes_meet(const Access& x, const Access& y) {
  if (x.async || y.async) return x.mask != y.mask;
  if (x.element != y.element) return true;
  if (!x.element) {
    if (x.shared && y.shared) return false;
    return !x.spread || x.spread != y.spread || x.guess || y.guess || (x.box.row - y.box.row) % 8 != 0 || (x.box.column - y.box.column) % 8 != 0;
  }
  if (!x.lanes || !y.lanes || !elements_meet(*x.lanes, *y.lanes)) return false;
  for (unsigned i = 0; i < 32; ++i) {
    if (!(x.mask >> i & 1)) continue;
    for (unsigned j = 0; j < 32; ++j)
      if ((y.mask >> j & 1) && i != j && x.lanes->of[i] == y.lanes->of[j]) return true;
  }
  return false;
}

Box Box::joined(const Box& o) const {
  Box out{std::min(row, o.row), std::min(column, o.column)};
  out.rows = std::max(row + rows, o.row + o.rows) - out.row, out.columns = std::max(column + columns, o.column + o.columns) - out.column;
  return out;
}

void Segment::cover(const Access& a) {
  begin = std::max(begin, a.begin), end = std::max(end, a.end), group = std::max(group, a.group);
  box = box.joined(a.box);
  first_byte = std::min(first_byte, a.first_byte), last_byte = std::max(last_byte, a.last_byte);
}

void Segment::add(const Access& a) {
  auto at = std::lower_bound(accesses.begin(), accesses.end(), a.instr, [](const Access& x, const Instr* i) { return x.instr < i; });
  for (; at != accesses.end() && at->instr == a.instr; ++at)
    if (at->box == a.box && at->mask == a.mask && at->lanes == a.lanes) break;
  if (at != accesses.end() && at->instr == a.instr) *at = a;
  else accesses.insert(at, a);
  cover(a);
}

void History::add(const Access& a) {
  if (a.write && !a.lanes && !a.guess) {
    const auto overwritten = [&](const Access& old) { return old.tile == a.tile && old.stage == a.stage && a.box.contains(old.box); };
    const bool any = std::any_of(segments.begin(), segments.end(), [&](const Segment& s) { return s.tile == a.tile && s.stage == a.stage && s.box.overlaps(a.box); });
    if (any) drop(overwritten);
  }
  // Accesses far apart in place or time are kept apart, as long as that makes few segments.
  const auto near = [&](const Segment& s) {
    return segments.size() >= kManySegments || (s.epoch == a.epoch && s.box.joined(a.box).area() <= 2 * (s.box.area() + a.box.area()));
  };
  auto s = std::find_if(segments.begin(), segments.end(), [&](const Segment& x) { return x.takes(a) && near(x); });
  if (s == segments.end()) {
    Segment made;
    made.actor = a.actor, made.component = a.component, made.tile = a.tile, made.stage = a.stage, made.write = a.write, made.async = a.async, made.product = a.product;
    made.epoch = a.epoch, made.box = a.box, made.first_byte = a.first_byte, made.last_byte = a.last_byte;
    s = segments.insert(segments.end(), std::move(made));
  }
  count -= s->accesses.size();
  s->add(a);
  count += s->accesses.size();
}

}  // namespace tilewright::verify::protocol
