// Random statements. Each function adds one, or says that this role has no place for it.
#include <algorithm>
#include <cmath>

#include "tests/fuzz/generate.h"

namespace tilewright::fuzz {
namespace {
const std::vector<std::string> kKinds = {"add", "max", "min"};
}

Statement& RoleWriter::add(const std::string& op) {
  Statement s;
  s.id = next_id_++;
  s.op = op;
  s.phase = phase_;
  p_.roles[index_].body.push_back(s);
  return p_.roles[index_].body.back();
}
Known& RoleWriter::made(Statement& s, const Type& type, double bound) {
  s.makes = true;
  s.type = type;
  known_.push_back({s.id, type, bound, phase_});
  return known_.back();
}
Known* RoleWriter::pick(const std::function<bool(const Known&)>& wanted) {
  std::vector<Known*> all;
  for (Known& k : known_)
    if (wanted(k)) all.push_back(&k);
  if (all.empty()) return nullptr;
  if (all.size() > 1 && random_.one_in(2)) return all.back();
  return random_.of(all);
}

std::vector<int> RoleWriter::readable() const {
  std::vector<int> out = written_;
  if (phase_ != kLoop) return out;
  for (std::size_t t = 0; t < p_.tiles.size(); ++t) {
    if (p_.tiles[t].ring < 0) continue;
    const auto& c = p_.rings[p_.tiles[t].ring].consumers;
    if (std::find(c.begin(), c.end(), index_) != c.end()) out.push_back(static_cast<int>(t));
  }
  return out;
}

bool RoleWriter::can_multiply(int t) const {
  const Tile& tile = p_.tiles[t];
  for (const Role& r : p_.roles)
    for (const Statement& s : r.body)
      if (s.op == "tile_out" && s.text == "bulk" && s.tiles[0] == t) return false;
  return tile.element != "i32" && tile.pad == 0 && tile.rows % 8 == 0 && tile.cols * bytes_of(tile.element) % 128 == 0 && tile.fill != "bulk";
}
/// Whether the tile has a swizzled layout.
bool RoleWriter::multiplied(int t) const {
  for (const Role& r : p_.roles)
    for (const Statement& s : r.body)
      if (s.op == "gemm" && std::find(s.tiles.begin(), s.tiles.end(), t) != s.tiles.end()) return true;
  return false;
}

/// A tile of the role's own for a matrix that is about to be written.
int RoleWriter::own_tile(const std::string& element, int rows, int cols) {
  for (int t : own_)
    if (p_.tiles[t].element == element && p_.tiles[t].rows == rows && p_.tiles[t].cols == cols && random_.one_in(2)) return t;
  if (own_.size() >= 3) return -1;
  Tile t;
  t.element = element, t.rows = rows, t.cols = cols, t.role = index_;
  if (random_.one_in(4)) t.pad = element == "f32" ? random_.of(std::vector<int>{4, 8, 16, 32}) : 16;
  t.deferred = random_.one_in(8);
  p_.tiles.push_back(t);
  tile_bounds_.push_back(0);
  own_.push_back(static_cast<int>(p_.tiles.size()) - 1);
  return own_.back();
}

/// A part of a readable tile that holds [rows, cols] (of each warp: all warps' rows), or its transpose.
bool RoleWriter::view_for(int rows, int cols, bool of_warp, bool transposed, const std::string& element, View& v) {
  const int down = transposed ? cols : of_warp ? 16 * warps_ : rows, across = transposed ? (of_warp ? 16 * warps_ : rows) : cols;
  std::vector<int> fits;
  for (int t : readable())
    if (p_.tiles[t].element == element && p_.tiles[t].rows >= down && p_.tiles[t].cols >= across) fits.push_back(t);
  if (fits.empty()) return false;
  v.tile = random_.of(fits);
  const Tile& tile = p_.tiles[v.tile];
  const int step = bytes_of(element) == 2 && rows != 1 && cols != 1 ? 8 : random_.one_in(2) ? 2 : 1;
  v.row = random_.one_in(2) ? 0 : random_.between(0, tile.rows - down);
  v.col = random_.one_in(2) ? 0 : random_.between(0, (tile.cols - across) / step) * step;
  return true;
}

bool RoleWriter::fill() {
  Type t{"f32", 0, random_.of(std::vector<int>{8, 16, 24, 32, 64, 64, 96, 128}), random_.one_in(4), false};
  if (random_.one_in(5)) t.kind = 1, t.warp = false;
  Statement& s = add("fill");
  const int v = random_.between(-3, 3);
  s.text = std::to_string(v) + ".0";
  made(s, t, std::abs(v));
  return true;
}

bool RoleWriter::load_global() {
  Type t;
  t.element = random_.of(std::vector<std::string>{"f32", "bf16", "f16"});
  t.kind = random_.weighted({5, 1, 1});
  t.cols = random_.of(std::vector<int>{8, 16, 24, 32, 40, 64, 64, 96, 128});
  t.warp = t.kind != 1 && random_.one_in(4);
  if (t.kind == 2) t.cols = 1;
  Statement& s = add("load_global");
  const int more = random_.one_in(2) ? 0 : random_.between(1, 9);
  s.n = {random_.one_in(3), more, more ? random_.between(0, more) : 0};
  made(s, t, 3);
  return true;
}

bool RoleWriter::load() {
  const auto tiles = readable();
  if (tiles.empty()) return false;
  const Tile& tile = p_.tiles[random_.of(tiles)];
  if (tile.element == "i32") return false;
  Type t;
  t.element = tile.element;
  const bool transposed = random_.one_in(3);
  t.kind = tile.rows < 16 || tile.cols < 8 ? random_.of(std::vector<int>{1, 2}) : random_.weighted({6, 1, 1});
  t.warp = t.kind != 1 && random_.one_in(4);
  const int room = transposed ? tile.rows : tile.cols;
  if (t.kind != 2 && room < 8) return false;
  t.cols = t.kind == 2 ? 1 : random_.one_in(2) ? std::min(room / 8 * 8, 128) : 8 * random_.between(1, std::min(room / 8, 16));
  View v;
  const int rows = t.kind == 1 ? 1 : t.warp ? 16 : 16 * warps_;
  if (!view_for(rows, t.cols, t.warp, transposed, t.element, v)) return false;
  Statement& s = add("load");
  s.tiles = {v.tile};
  s.n = {transposed, v.row, v.col};
  made(s, t, tile_bounds_[v.tile]);
  return true;
}

std::string RoleWriter::integer_expression(int depth) {
  if (depth == 0 || random_.one_in(5)) {
    const int which = random_.below(6);
    return which == 5 ? "k" + std::to_string(random_.between(-7, 40)) : std::vector<std::string>{"t", "w", "l", "i", "item"}[which];
  }
  switch (random_.below(10)) {
    case 0: return "add " + integer_expression(depth - 1) + " " + integer_expression(depth - 1);
    case 1: return "sub " + integer_expression(depth - 1) + " " + integer_expression(depth - 1);
    case 2: return "mul " + integer_expression(depth - 1) + " " + integer_expression(depth - 1);
    case 3: return random_.of(std::vector<std::string>{"div ", "rem "}) + integer_expression(depth - 1) + " k" + std::to_string(random_.between(1, 9) * (random_.one_in(4) ? -1 : 1));
    case 4: return random_.of(std::vector<std::string>{"and ", "or ", "xor "}) + integer_expression(depth - 1) + " " + integer_expression(depth - 1);
    case 5: return random_.of(std::vector<std::string>{"shl ", "shr "}) + integer_expression(depth - 1) + " k" + std::to_string(random_.between(0, 5));
    case 6: return random_.of(std::vector<std::string>{"min ", "max "}) + integer_expression(depth - 1) + " " + integer_expression(depth - 1);
    case 7: return "sel " + random_.of(std::vector<std::string>{"lt", "le", "gt", "ge", "eq", "ne"}) + " " + integer_expression(depth - 1) + " " + integer_expression(depth - 1) + " " +
                   integer_expression(depth - 1) + " " + integer_expression(depth - 1);
    case 8: return p_.roles[index_].single ? "l" : "shx " + integer_expression(depth - 1) + " k" + std::to_string(1 << random_.below(5));
    default: return "uni " + random_.of(std::vector<std::string>{"w", "i", "item", "add w i"});
  }
}

std::string RoleWriter::expression(int depth, const std::vector<double>& inputs, double& bound) {
  const int which = depth == 0 ? random_.below(3) : random_.between(0, 15);
  double a = 0, b = 0;
  const auto sub = [&](double& x) { return expression(depth - 1, inputs, x); };
  if (which <= 1 && !inputs.empty()) {
    const int j = random_.below(static_cast<int>(inputs.size()));
    return bound = inputs[j], "x" + std::to_string(j);
  }
  if (which <= 2) {
    if (random_.one_in(2)) return bound = 128, random_.of(std::vector<std::string>{"real r", "real c", "real sub r c", "real rem add r c k5", "real i"});
    const int v = random_.between(-4, 4);
    return bound = std::abs(v), "k" + std::to_string(v);
  }
  if (which <= 5) {
    const std::string x = sub(a), y = sub(b);
    return bound = a + b, random_.of(std::vector<std::string>{"add ", "sub "}) + x + " " + y;
  }
  if (which <= 7) {
    const std::string x = sub(a), y = sub(b);
    if (a * b > 0x1p20) return bound = std::max(a, b), "max " + x + " " + y;
    return bound = a * b, "mul " + x + " " + y;
  }
  if (which <= 9) {
    const std::string x = sub(a), y = sub(b);
    return bound = std::max(a, b), random_.of(std::vector<std::string>{"min ", "max "}) + x + " " + y;
  }
  if (which <= 11) {
    const std::string op = random_.of(std::vector<std::string>{"lt", "le", "gt", "ge", "eq", "ne"}), x = sub(a), y = sub(b);
    bound = std::max(a, b);
    return "sel " + op + " " + random_.of(std::vector<std::string>{"r c", "c r", "c k8", "r k20", "i k1", "add r c k40", "rem c k3 k1"}) + " " + x + " " + y;
  }
  if (which == 12) {
    double c = 0, d = 0;
    const std::string op = random_.of(std::vector<std::string>{"lt", "le", "gt", "ge", "eq", "ne"}), x = sub(a), y = sub(b), u = sub(c), v = sub(d);
    return bound = std::max(c, d), "selx " + op + " " + x + " " + y + " " + u + " " + v;
  }
  const std::string x = sub(a);
  bound = a;
  if (which <= 14) return random_.of(std::vector<std::string>{"neg ", "abs ", "floor ", "bf ", "hf ", "tf ", "floor half "}) + x;
  if (!random_.one_in(3)) return "half " + x;
  switch (random_.below(3)) {  // numbers that are no longer exact
    case 0: return bound = 16, "exp2 min k4 " + x;
    case 1: return bound = 1, "rcp add k1 abs " + x;
    default: return bound = std::sqrt(a) + 1, "sqrt abs " + x;
  }
}

std::string RoleWriter::bounded_expression(const std::vector<double>& inputs, double most, double& bound) {
  std::string e = expression(random_.between(1, 3), inputs, bound);
  if (bound <= most) return e;
  bound = most;
  const std::string m = std::to_string(static_cast<int>(most));
  return "max k-" + m + " min k" + m + " " + e;
}

bool RoleWriter::map() {
  Known* first = pick([](const Known&) { return true; });
  if (!first) return false;
  Type t = first->type;
  std::vector<Known*> inputs{first};
  const int more = random_.below(3);
  for (int i = 0; i < more; ++i) {
    Known* k = pick([&](const Known& o) {
      if (o.type.kind == 1) return (t.kind == 1 || t.kind == 0) && o.type.cols == t.cols;
      if (t.kind == 1) return false;
      return o.type.warp == t.warp && (o.type.kind == 2 || (t.kind == 0 && o.type.cols == t.cols));
    });
    if (k) inputs.push_back(k);
  }
  std::vector<double> bounds;
  std::vector<int> ids, tiles, origin;
  for (Known* k : inputs) bounds.push_back(k->bound), ids.push_back(k->id), k->used = true, t.varies |= k->type.varies;
  if (t.kind != 1) t.varies = false;
  if (random_.one_in(3)) {  // a vector in shared memory
    const auto all = readable();
    const int i = all.empty() ? -1 : random_.of(all), rows = t.warp ? 16 : 16 * warps_;
    const bool row = i >= 0 && t.kind != 2 && p_.tiles[i].cols >= t.cols && p_.tiles[i].element != "i32";
    const bool column = i >= 0 && !row && t.kind != 1 && p_.tiles[i].rows >= rows && p_.tiles[i].element == "f32" && (!t.warp || warps_ == 1);
    if (row || column) {
      tiles = {i};
      origin = {random_.below(p_.tiles[i].rows - (row ? 0 : rows - 1)), random_.one_in(2) ? 0 : random_.between(0, p_.tiles[i].cols - (row ? t.cols : 1)), row};
      bounds.push_back(tile_bounds_[i]);
    }
  }
  t.element = random_.of(std::vector<std::string>{"f32", "f32", "bf16", "f16"});
  double bound = 0;
  const std::string e = bounded_expression(bounds, std::vector<double>{8, 1000, 20000}[random_.weighted({4, 1, 1})], bound);  // the larger ones are rounded in 16 bits
  Statement& s = add("map");
  s.in = ids, s.tiles = tiles, s.text = e, s.n = origin;
  made(s, t, bound);
  return true;
}

/// A fragment changed in place, all of it or some columns.
bool RoleWriter::update() {
  Known* k = pick([](const Known& o) { return o.type.element == "f32" || o.type.element == "bf16"; });
  if (!k) return false;
  std::vector<double> bounds{k->bound};
  std::vector<int> ids{k->id};
  Known* v = pick([&](const Known& o) {
    return o.id != k->id && ((o.type.kind == 1 && k->type.kind != 2 && o.type.cols == k->type.cols && (k->type.kind == 0 || k->type.varies || !o.type.varies)) ||
                             (o.type.kind == 2 && k->type.kind != 1 && o.type.warp == k->type.warp));
  });
  if (v && random_.one_in(2)) bounds.push_back(v->bound), ids.push_back(v->id), v->used = true;
  double bound = 0;
  const std::string e = bounded_expression(bounds, 8, bound);
  k->bound = std::max(k->bound, bound);
  k->used = false;
  int first = 0, count = 0;
  if (k->type.kind != 2 && k->type.cols >= 16 && random_.one_in(2)) {
    count = 8 * random_.between(1, k->type.cols / 8 - 1);
    first = 8 * random_.between(0, (k->type.cols - count) / 8);
  }
  Statement& s = add("update");
  s.in = ids, s.text = e, s.n = {first, count};
  return true;
}

bool RoleWriter::cast() {
  Known* k = pick([](const Known& o) { return o.type.element == "f32"; });
  if (!k) return false;
  Type t = k->type;
  t.element = random_.of(std::vector<std::string>{"bf16", "f16"});
  k->used = true;
  double bound = k->bound;
  Statement& s = add("map");
  s.in = {k->id};
  s.text = bound > 30000 ? "max k-8 min k8 x0" : "x0";
  made(s, t, bound > 30000 ? 8 : bound);
  return true;
}

bool RoleWriter::reduce() {
  Known* k = pick([](const Known& o) { return o.type.element == "f32" && o.type.kind == 0; });
  if (!k) return false;
  const bool whole = !k->type.warp || warps_ == 1;
  const int axis = random_.below(whole && phase_ != kAfter ? 3 : 2);
  Type t = k->type;
  t.kind = axis == 0 ? 2 : 1;
  t.varies = axis == 1 && warps_ > 1;
  if (axis == 0) t.cols = 1;
  else t.warp = false;
  k->used = true;
  const double bound = k->bound;
  Statement& s = add("reduce");
  s.in = {k->id};
  s.text = random_.of(kKinds);
  s.n = {axis};
  made(s, t, s.text == "add" ? bound * 128 : bound);
  return true;
}

bool RoleWriter::scan() {
  Known* k = pick([](const Known& o) { return o.type.element == "f32" && o.type.kind != 2; });
  if (!k) return false;
  const bool whole = k->type.kind == 0 && (!k->type.warp || warps_ == 1);
  const int axis = k->type.kind == 1 ? 0 : random_.below(whole ? 3 : 2);
  k->used = true;
  const double bound = k->bound;
  const Type t = k->type;
  Statement& s = add("scan");
  s.in = {k->id};
  s.text = random_.of(kKinds);
  s.n = {axis, random_.one_in(2), random_.one_in(2)};
  made(s, t, s.text == "add" ? bound * 128 : std::max(bound, 1000.0));
  return true;
}

}  // namespace tilewright::fuzz
