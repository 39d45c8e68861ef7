// Roles, rings, tiles and loops of a random program.
#include "tests/fuzz/generate.h"

#include <algorithm>
#include <set>

namespace tilewright::fuzz {

int Random::weighted(const std::vector<int>& weights) {
  int total = 0;
  for (int w : weights) total += w;
  int at = below(total);
  for (std::size_t i = 0; i < weights.size(); ++i)
    if ((at -= weights[i]) < 0) return static_cast<int>(i);
  return 0;
}

namespace {

const std::vector<int> kRows = {1, 8, 16, 24, 32, 40, 64, 64, 64, 72, 80, 96, 128, 128}, kCols = {8, 16, 24, 32, 40, 64, 64, 64, 72, 80, 96, 128, 128};

/// A tile that `fill` writes, with the tensor and the box's place in it.
Tile ring_tile(Random& r, int ring, const std::string& fill, int rows_wanted) {
  Tile t;
  t.ring = ring;
  t.fill = fill;
  t.element = std::vector<std::string>{"bf16", "bf16", "bf16", "f16", "f16", "f32", "f32", "i32"}[r.below(8)];
  t.rows = r.one_in(2) ? rows_wanted : r.of(kRows);
  t.cols = r.of(kCols);
  if (r.one_in(6)) t.rows = 1;
  else if (r.one_in(2)) t.cols = r.of(std::vector<int>{64, 64, 128});
  if (t.element == "f32" && t.rows > 64 && t.cols > 64) t.cols = 64;
  const int unit = 16 / bytes_of(t.element);
  if (fill == "made" || fill == "bulk") {
    if (t.element == "i32") t.element = "f32";
    return t;
  }
  if (fill == "async" && r.one_in(3)) t.pad = 16;
  const auto around = [&](int extent, int step, int& at) {  // a tensor's extent, and where the box begins
    const int kind = r.below(4);
    if (kind <= 1) return at = 0, (extent + step - 1) / step * step;
    if (kind == 2) return at = step * r.between(0, 2), (extent + at + step * r.between(0, 2) + step - 1) / step * step;
    at = step * r.between(-2, 2);  // some of the box lies outside
    return std::max(step, (extent - step * r.between(1, 3)) / step * step);
  };
  t.n = {0, 0, 0, 0};
  t.n[0] = around(t.rows, 1, t.n[2]);
  t.n[1] = around(t.cols, unit, t.n[3]);
  if (fill == "ragged") {
    t.n[0] = t.rows + r.between(1, 9);
    t.n[2] = r.between(0, 4);
    t.n.push_back(std::min(t.n[0] - t.n[2], r.between(0, t.rows + 4)));
  }
  return t;
}

int shared_bytes(const Program& p) {
  int sum = 4096;
  for (const Tile& t : p.tiles) sum += ((t.cols * bytes_of(t.element) + t.pad) * t.rows + 1023) / 1024 * 1024 * (t.ring < 0 ? 1 : p.rings[t.ring].stages);
  for (const Role& r : p.roles)
    for (const Statement& s : r.body)
      if ((s.op == "reduce" || s.op == "scan") && s.n[0] == 2) sum += r.warps * s.type.cols * 4 + 1024;
  return sum;
}

}  // namespace

/// One mistake, where the program has a place for it.
void break_rule(Random& r, Program& p) {
  const int kind = r.below(5);
  if (kind == 4) {
    for (Tile& t : p.tiles) {
      if (t.fill != "tma" || t.n.size() != 4) continue;
      t.n[3] += 1;
      p.rejection = "bytes into a row; TMA needs a multiple of 16";
      return;
    }
  }
  if (kind == 3) {
    if (p.rings.empty() || p.tiles.empty() || p.tiles[0].ring < 0) return;
    p.rings[p.tiles[0].ring].stages = 240 * 1024 / (p.tiles[0].rows * p.tiles[0].cols * bytes_of(p.tiles[0].element)) + 1;
    p.rejection = "bytes of shared memory";
    return;
  }
  for (Role& role : p.roles)
    for (Statement& s : role.body) {
      if (kind == 0 && s.op == "gemm" && p.tiles[s.tiles.back()].pad == 0) {
        p.tiles[s.tiles.back()].pad = 16;
        p.rejection = "is an operand of a product; such a tile has no padding";
        return;
      }
      if (kind == 1 && (s.op == "load" || s.op == "put") && s.type.kind == 0 && bytes_of(s.type.element) == 2 && p.tiles[s.tiles[0]].ring < 0) {
        bool only_moved = true;
        for (const Statement& other : role.body) only_moved &= (other.op != "gemm" && other.op != "tile_out") || std::find(other.tiles.begin(), other.tiles.end(), s.tiles[0]) == other.tiles.end();
        if (!only_moved) continue;
        p.tiles[s.tiles[0]].pad = 4;
        p.rejection = "matrices of 16-bit elements move in rows of 16 bytes";
        return;
      }
      if (kind == 2 && s.op == "tile_out" && s.text == "tma") {
        s.n[3] = -8;
        p.rejection = "TMA stores nothing before the first element";
        return;
      }
    }
}

tilewright::fuzz::Program generate(std::uint64_t seed) {
  Random r(seed);
  Program p;
  p.seed = seed;
  p.items = 1 + r.weighted({5, 2, 1, 1});
  p.grid = r.one_in(2) ? p.items : 1 + r.below(p.items);
  p.tickets = p.items > 1 && r.one_in(4);
  p.trip_form = r.weighted({3, 4, 1, 1});
  const int computing = 1 + r.weighted({6, 4, 1});
  for (int i = 0; i < computing; ++i) {
    Role role;
    const int kind = r.weighted({1, 4, 8, 1});
    role.single = kind == 0;
    role.warps = kind <= 1 ? 1 : kind == 2 ? 4 : 8;
    p.roles.push_back(role);
  }
  const int loaded = r.weighted({1, 6, 3}), rows_wanted = 16 * p.roles[r.below(computing)].warps;
  for (int i = 0; i < loaded; ++i) {
    Ring ring;
    ring.stages = 1 + r.weighted({3, 4, 2, 1});
    ring.late = r.one_in(3);
    std::set<int> consumers{r.below(computing)};
    for (int c = 0; c < computing; ++c)
      if (r.one_in(2)) consumers.insert(c);
    ring.consumers.assign(consumers.begin(), consumers.end());
    const int by = r.weighted({5, 2, 2});
    if (by == 0 || ring.consumers.size() > 1) {  // a role of its own, or one that fills another ring already
      if (static_cast<int>(p.roles.size()) > computing && r.one_in(2)) {
        ring.producer = static_cast<int>(p.roles.size()) - 1;
      } else {
        Role role;
        // One warp: of a role of several only the one that starts the copies sees every phase, and the verifier says so.
        role.single = r.weighted({5, 4}) == 0;
        ring.producer = static_cast<int>(p.roles.size());
        p.roles.push_back(role);
      }
    } else {
      ring.producer = ring.consumers[0];
    }
    const int number = static_cast<int>(p.rings.size());
    const bool alone = p.roles[ring.producer].single;
    const int tiles = 1 + r.weighted({4, 2});
    for (int t = 0; t < tiles; ++t)
      p.tiles.push_back(ring_tile(r, number, std::vector<std::string>{"tma", "ragged", "slots", "bulk", "async"}[r.weighted({8, 2, 1, 2, alone ? 0 : 3})], rows_wanted));
    p.rings.push_back(ring);
  }
  for (int a = 0; a + 1 < computing; ++a) {  // what one computes, others take
    if (p.roles[a].single || !r.one_in(2)) continue;
    Ring ring;
    ring.stages = 1 + r.weighted({3, 4, 2});
    ring.producer = a;
    ring.late = r.one_in(3);
    for (int c = a + 1; c < computing; ++c)
      if (c == a + 1 || r.one_in(2)) ring.consumers.push_back(c);
    Tile t = ring_tile(r, static_cast<int>(p.rings.size()), "made", 16 * p.roles[a].warps);
    if (r.one_in(3)) t.rows = 1;  // a vector
    else if (r.one_in(3)) t.rows = r.of(std::vector<int>{8, 16, 32, 64}), t.cols = 16 * p.roles[a].warps;  // stored transposed
    else t.rows = 16 * p.roles[a].warps;
    if (t.rows == 1 && t.element != "f32" && r.one_in(2)) t.element = "f32";
    p.tiles.push_back(t);
    p.rings.push_back(ring);
  }
  while (shared_bytes(p) > 170 * 1024) {
    auto most = std::max_element(p.rings.begin(), p.rings.end(), [](const Ring& x, const Ring& y) { return x.stages < y.stages; });
    if (most == p.rings.end() || most->stages == 1) break;
    --most->stages;
  }
  int depth = 1;
  for (const Ring& ring : p.rings) depth = std::max(depth, ring.stages);
  p.trips = r.of(std::vector<int>{0, 1, depth - 1, depth, depth + 1, 2 * depth + 1, 2});
  if (p.trip_form == 3) p.trips = (p.trips + 1) / 2;
  for (int i = 0; i < computing; ++i) {  // helpers that take turns
    bool fills = false, takes = false;
    for (const Ring& ring : p.rings) fills |= ring.producer == i, takes |= std::find(ring.consumers.begin(), ring.consumers.end(), i) != ring.consumers.end();
    if (fills || !takes || !r.one_in(6)) continue;
    p.roles[i].turns = r.between(2, 3);
    p.roles[i].turn = r.below(p.roles[i].turns);
  }
  if (computing > 1 && r.one_in(5))
    for (int i = 0; i < computing; ++i) p.roles[i].meets = !p.roles[i].single;
  for (std::size_t i = 0; i < p.rings.size(); ++i) {
    bool made = false;
    for (const Tile& t : p.tiles) made |= t.ring == static_cast<int>(i) && t.fill == "made";
    if (made && r.one_in(4)) p.rings[i].by_hand = true, p.rings[i].stages = 1;
  }
  for (Tile& t : p.tiles) t.deferred = t.fill == "made" && r.one_in(5);
  int id = 0;
  std::vector<double> bounds(p.tiles.size(), 3);
  for (int i = 0; i < computing; ++i) RoleWriter(r, p, i, id, bounds).write();
  if (shared_bytes(p) > 220 * 1024) return generate(seed ^ 0x5851F42D4C957F2Dull);
  p.seed = seed;
  if (r.one_in(30)) break_rule(r, p);
  return p;
}

std::vector<std::string> features(const Program& p) {
  std::set<std::string> out;
  for (const Role& role : p.roles) {
    if (role.turns > 1) out.insert("turns");
    if (role.single) out.insert("role: one thread");
    for (const Statement& s : role.body) {
      std::string name = s.op;
      if (s.op == "gemm" || s.op == "mma") {
        name += " " + p.tiles[s.tiles.back()].element + (s.in.size() > 1 ? " A in registers" : s.n[0] ? " A^T" : " A") + (s.n[1] ? " B^T" : " B");
      } else if (s.op == "tile_out" || s.op == "atomic" || s.op == "tally") {
        name += " " + s.text;
      } else if (s.op == "scan" || s.op == "reduce") {
        name += " " + s.text + " axis " + std::to_string(s.n[0]);
      } else if (s.op == "load" || s.op == "put" || s.op == "made") {
        name += s.n[0] ? " transposed" : "";
      }
      out.insert(name);
    }
  }
  for (const Tile& t : p.tiles)
    if (!t.fill.empty()) out.insert("fill: " + t.fill);
  for (const Ring& ring : p.rings) out.insert("ring of " + std::to_string(ring.stages) + (ring.consumers.size() > 1 ? ", several consumers" : ""));
  out.insert(p.tickets ? "tickets" : p.items != p.grid ? "persistent" : "one item a CTA");
  out.insert("trips: form " + std::to_string(p.trip_form));
  return {out.begin(), out.end()};
}

}  // namespace tilewright::fuzz
