// Random products, statements on tiles and on threads, and the order in which a role draws them.
#include <algorithm>

#include "tests/fuzz/generate.h"

namespace tilewright::fuzz {

bool RoleWriter::gemm() {
  if (warps_ % 4) return false;
  std::vector<int> tiles;
  for (int t : readable())
    if (can_multiply(t)) tiles.push_back(t);
  if (tiles.empty()) return false;
  const int b = random_.of(tiles);
  const bool wide = p_.tiles[b].element == "f32";
  // origins: rows at a multiple of 8, columns at whole panels
  return product(tiles, b, {true, wide || random_.one_in(2), !wide, 8, wide ? 32 : 64});
}

bool RoleWriter::mma() {
  std::vector<int> tiles;
  for (int t : readable())
    if (p_.tiles[t].element != "i32" && (bytes_of(p_.tiles[t].element) == 4 || (p_.tiles[t].cols * 2 + p_.tiles[t].pad) % 16 == 0)) tiles.push_back(t);
  if (tiles.empty() || p_.roles[index_].single) return false;
  const int b = random_.of(tiles);
  return product(tiles, b, {false, random_.one_in(2), true, 1, p_.tiles[b].element == "f32" ? 2 : 8});
}

bool RoleWriter::product(const std::vector<int>& tiles, int b_tile, const ProductRules& rules) {
  const Tile& b = p_.tiles[b_tile];
  const bool tb = rules.transposed_b;
  const int M = 16 * warps_, unit = b.element == "f32" ? 8 : 16, b_depth = tb ? b.cols : b.rows;
  const auto matrix = [&](const Known& o, const std::string& element) {
    return o.type.element == element && o.type.kind == 0 && (o.type.warp != rules.warpgroup || warps_ == 1);
  };
  // K from A, N from B
  Known* a = pick([&](const Known& o) { return matrix(o, b.element) && o.type.cols % unit == 0; });
  int K = 0, ar = 0, ac = 0, a_tile = -1, a_first = 0;
  bool ta = false;
  if (a && random_.one_in(2)) {
    K = std::min(a->type.cols, b_depth) / unit * unit;
    if (K < unit) return false;
    if (K > unit && random_.one_in(3)) K = unit * random_.between(1, K / unit);
    a_first = 8 * random_.between(0, (a->type.cols - K) / 8);
  } else {
    a = nullptr;
    std::vector<std::pair<int, bool>> fits;
    for (int t : tiles) {
      const Tile& at = p_.tiles[t];
      if (at.element != b.element) continue;
      if (at.rows >= M && at.cols >= unit) fits.push_back({t, false});
      if (rules.transposed_a && at.cols >= M && at.rows >= unit) fits.push_back({t, true});
    }
    if (fits.empty()) return false;
    std::tie(a_tile, ta) = random_.of(fits);
    const Tile& at = p_.tiles[a_tile];
    const int room = std::min(b_depth, ta ? at.rows : at.cols) / unit * unit;
    if (room < unit) return false;
    K = random_.one_in(2) ? room : unit * random_.between(1, room / unit);
    ar = rules.row_step * random_.between(0, (at.rows - (ta ? K : M)) / rules.row_step);
    ac = rules.column_step * random_.between(0, (at.cols - (ta ? M : K)) / rules.column_step);
  }
  const int n_room = std::min(tb ? b.rows : b.cols, 128) / 8 * 8;
  if (n_room < 8) return false;
  int N = random_.one_in(2) ? n_room : 8 * random_.between(1, n_room / 8);
  Known* acc = pick([&](const Known& o) { return matrix(o, "f32") && (!a || o.id != a->id); });
  const bool again = acc && random_.one_in(2);
  int first = 0;
  if (again) {
    N = std::min(acc->type.cols, N);
    first = 8 * random_.between(0, (acc->type.cols - N) / 8);
  }
  const int br = rules.row_step * random_.between(0, (b.rows - (tb ? N : K)) / rules.row_step);
  const int bc = rules.column_step * random_.between(0, (b.cols - (tb ? K : N)) / rules.column_step);
  const double bound = tile_bounds_[b_tile] * (a ? a->bound : tile_bounds_[a_tile]) * K * most_trips(p_) * 2;
  int acc_id = again ? acc->id : -1;
  if (a) a->used = true;
  const int a_id = a ? a->id : -1;
  const int mode = rules.warpgroup ? random_.weighted({2, again ? 4 : 1, phase_ == kLoop && again && acc->phase == kBefore ? 2 : 0, again ? 1 : 0}) : 1;
  if (again) {
    acc->bound += bound;
    acc->used = false;
  } else {  // an accumulator of its own
    Statement& f = add("fill");
    f.text = rules.warpgroup ? "0.0" : "1.0";
    made(f, {"f32", 0, N, !rules.warpgroup && warps_ > 1, false}, bound);
    acc_id = f.id;
  }
  Statement& s = add(rules.warpgroup ? "gemm" : "mma");
  s.in = {acc_id};
  if (a_id >= 0) s.in.push_back(a_id);
  else s.tiles.push_back(a_tile);
  s.tiles.push_back(b_tile);
  s.n = {ta, tb, mode, ar, ac, br, bc, K, rules.warpgroup && random_.one_in(2), N, first, a_first};
  return true;
}

/// A fragment into a tile of the role's own, whole.
bool RoleWriter::put() {
  Known* k = pick([&](const Known& o) { return !o.type.varies && !(o.type.kind == 0 && o.type.cols < 8) && o.bound < 60000; });
  if (!k) return false;
  const bool transposed = random_.one_in(3);
  int rows = k->type.kind == 1 ? 1 : 16 * warps_, cols = cols_of(k->type);
  if (transposed) std::swap(rows, cols);
  if (k->type.element != "f32" && k->type.kind == 0 && cols % 8) return false;
  const int t = own_tile(k->type.element, rows, cols);
  if (t < 0) return false;
  k->used = true;
  const double bound = k->bound;
  Statement& s = add("put");
  s.in = {k->id};
  s.type = k->type;
  s.tiles = {t};
  s.n = {transposed, 0, 0};
  tile_bounds_[t] = std::max(tile_bounds_[t], bound);
  if (std::find(written_.begin(), written_.end(), t) == written_.end()) written_.push_back(t);
  return true;
}

bool RoleWriter::tile_out() {
  const auto tiles = readable();
  if (tiles.empty()) return false;
  const int t = random_.of(tiles);
  const Tile& tile = p_.tiles[t];
  const int bytes = bytes_of(tile.element), unit = 16 / bytes;
  if (tile.cols * bytes % 16) return false;
  const bool bulk_able = !multiplied(t) && tile.pad == 0 && tile.rows * tile.cols * bytes % 16 == 0;
  const bool tma_able = tile.pad == 0 && tile.cols <= 256;
  const int which = random_.weighted({tma_able ? 4 : 0, tma_able && tile.element != "i32" ? 2 : 0, bulk_able ? 2 : 0, p_.roles[index_].single || tile.pad % 16 ? 0 : 2});
  if (which == 0 && !tma_able) return false;
  if (which == 3 && (p_.roles[index_].single || tile.pad % 16)) return false;
  Statement& s = add("tile_out");
  s.text = std::vector<std::string>{"tma", "reduce", "bulk", "copy"}[which];
  s.tiles = {t};
  const int clipped = random_.one_in(2) ? 0 : random_.between(1, 5);
  s.n = {std::max(1, tile.rows - clipped + random_.below(3)), tile.cols + unit * (random_.one_in(2) ? 0 : random_.between(-1, 2)), random_.one_in(2) ? 0 : random_.between(0, 3),
         random_.one_in(2) ? 0 : unit * random_.between(0, 1)};
  s.n[1] = std::max(unit, s.n[1] / unit * unit);
  return true;
}

bool RoleWriter::fill_tile() {
  if (own_.size() >= 3 || phase_ == kAfter) return false;
  const std::string element = random_.of(std::vector<std::string>{"f32", "bf16", "f16", "bf16", "i32"});
  const int t = own_tile(element, random_.of(std::vector<int>{1, 8, 16, 32, 64, 64, 128}), random_.of(std::vector<int>{8, 16, 32, 64, 64, 128}));
  if (t < 0) return false;
  Statement& s = add("fill_tile");
  s.tiles = {t};
  tile_bounds_[t] = std::max(tile_bounds_[t], 3.0);
  if (std::find(written_.begin(), written_.end(), t) == written_.end()) written_.push_back(t);
  return true;
}
bool RoleWriter::dump_tile() {
  const auto tiles = readable();
  if (tiles.empty()) return false;
  Statement& s = add("dump_tile");
  s.tiles = {random_.of(tiles)};
  return true;
}
bool RoleWriter::tally() {
  if (phase_ != kLoop) return false;
  std::vector<int> tiles;
  for (int t : readable())
    if (p_.tiles[t].element != "i32") tiles.push_back(t);
  if (tiles.empty()) return false;
  Statement& s = add("tally");
  s.tiles = {random_.of(tiles)};
  s.text = random_.of(std::vector<std::string>{"add", "max", "columns"});
  if (s.text == "columns" && p_.tiles[s.tiles[0]].cols < 4) s.text = "add";
  const Tile& tile = p_.tiles[s.tiles[0]];
  s.n = {s.text == "columns" ? random_.below(tile.cols - 3) : random_.below(tile.rows)};
  return true;
}
bool RoleWriter::scalar() {
  Statement& s = add("scalar");
  s.text = integer_expression(random_.between(1, 4));
  return true;
}
bool RoleWriter::atomic() {
  Statement& s = add("atomic");
  s.type.element = random_.of(std::vector<std::string>{"i32", "i64", "f32"});
  s.text = s.type.element == "f32" ? "add" : random_.of(std::vector<std::string>{"add", "max", "min", "ticket"});
  s.n = {random_.between(1, 40), random_.between(1, 7)};
  return true;
}

void RoleWriter::store(Known& k) {
  Statement& s = add("store_global");
  const int more = random_.one_in(2) ? 0 : random_.between(1, 7);
  s.in = {k.id};
  s.type = k.type;
  s.n = {random_.one_in(4), more, more ? random_.between(0, more) : 0};
  k.used = true;
}

/// The tiles of rings that this role writes.
void RoleWriter::fill_made_tiles() {
  for (std::size_t t = 0; t < p_.tiles.size(); ++t) {
    const Tile tile = p_.tiles[t];
    if (tile.ring < 0 || tile.fill != "made" || p_.rings[tile.ring].producer != index_) continue;
    Type type{tile.element, tile.rows == 1 ? 1 : 0, tile.rows == 1 || tile.rows == 16 * warps_ ? tile.cols : tile.rows, false, false};
    const bool transposed = tile.rows != 1 && tile.rows != 16 * warps_;
    Known* k = pick([&](const Known& o) {
      return o.type.kind == type.kind && o.type.cols == type.cols && (o.type.warp == false || warps_ == 1) && !o.type.varies && o.phase != kAfter;
    });
    if (!k) {
      Statement& s = add("load_global");
      s.n = {0, 0, 0};
      k = &made(s, type, 3);
    }
    k->used = true;
    if (k->type.element != tile.element || k->bound > 30000) {
      const int from = k->id;
      const bool big = k->bound > 30000;
      Statement& s = add("map");
      s.in = {from};
      s.text = big ? "max k-8 min k8 x0" : "x0";
      k = &made(s, type, big ? 8 : k->bound);
      k->used = true;
    }
    tile_bounds_[t] = k->bound;
    Statement& s = add("made");
    s.in = {k->id};
    s.type = type;
    s.tiles = {static_cast<int>(t)};
    s.n = {transposed, 0, 0};
  }
}

bool RoleWriter::draw() {
  if (p_.roles[index_].single) {
    switch (random_.below(5)) {
      case 0: return tile_out();
      case 1: return scalar();
      case 2: return atomic();
      case 3: return dump_tile();
      default: return tally();
    }
  }
  switch (random_.weighted({2, 3, 7, 6, 3, 3, 3, 3, 24, 8, 4, 3, 3, 1, 2, 1, 1})) {
    case 0: return fill();
    case 1: return load_global();
    case 2: return load();
    case 3: return map();
    case 4: return update();
    case 5: return cast();
    case 6: return reduce();
    case 7: return scan();
    case 8: return gemm();
    case 9: return mma();
    case 10: return put();
    case 11: return tile_out();
    case 12: return fill_tile();
    case 13: return dump_tile();
    case 14: return tally();
    case 15: return scalar();
    default: return atomic();
  }
}

void RoleWriter::phase(int which, int statements) {
  phase_ = which;
  for (int tries = 0; statements > 0 && tries < 40; ++tries) statements -= draw();
}

void RoleWriter::write() {
  known_.reserve(64);
  phase(kBefore, random_.below(4));
  const std::vector<int> lasting = written_;
  phase(kLoop, random_.between(2, 8));
  fill_made_tiles();
  const auto store_unused = [&](int made_in) {
    for (std::size_t i = 0; i < known_.size(); ++i)
      if (known_[i].phase == made_in && !known_[i].used && !random_.one_in(8)) store(known_[i]);
  };
  store_unused(kLoop);
  known_.erase(std::remove_if(known_.begin(), known_.end(), [](const Known& k) { return k.phase == kLoop; }), known_.end());
  written_ = lasting;
  phase(kAfter, random_.below(3));
  store_unused(kBefore);
  store_unused(kAfter);
}

}  // namespace tilewright::fuzz
