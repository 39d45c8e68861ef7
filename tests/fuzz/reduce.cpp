#include "tests/fuzz/reduce.h"

#include <algorithm>
#include <set>

#include "tests/fuzz/expression.h"

namespace tilewright::fuzz {
namespace {

void drop_tiles(Program& p, const std::function<bool(std::size_t)>& dropped) {
  std::vector<int> moved(p.tiles.size(), -1);
  std::vector<Tile> kept;
  for (std::size_t t = 0; t < p.tiles.size(); ++t)
    if (!dropped(t)) moved[t] = static_cast<int>(kept.size()), kept.push_back(p.tiles[t]);
  p.tiles = std::move(kept);
  for (Role& role : p.roles)
    for (Statement& s : role.body)
      for (int& t : s.tiles) t = moved[t];
}

/// Removes statements that use what is gone (tile -1, fragments that nobody makes).
void drop_dangling(Program& p) {
  for (Role& role : p.roles) {
    std::set<int> made;
    std::vector<Statement> kept;
    for (const Statement& s : role.body) {
      bool whole = std::all_of(s.tiles.begin(), s.tiles.end(), [](int t) { return t >= 0; });
      for (int v : s.in) whole &= made.count(v) != 0;
      if (!whole) continue;
      if (s.makes) made.insert(s.id);
      kept.push_back(s);
    }
    role.body = std::move(kept);
  }
}

std::optional<Program> without_ring(Program p, std::size_t ring) {
  drop_tiles(p, [&](std::size_t t) { return p.tiles[t].ring == static_cast<int>(ring); });
  for (Tile& t : p.tiles)
    if (t.ring > static_cast<int>(ring)) --t.ring;
  p.rings.erase(p.rings.begin() + static_cast<std::ptrdiff_t>(ring));
  drop_dangling(p);
  return p;
}

std::optional<Program> without_role(Program p, std::size_t role) {
  if (p.roles.size() == 1) return std::nullopt;
  for (std::size_t r = p.rings.size(); r-- > 0;) {
    auto& consumers = p.rings[r].consumers;
    consumers.erase(std::remove(consumers.begin(), consumers.end(), static_cast<int>(role)), consumers.end());
    if (consumers.empty() || p.rings[r].producer == static_cast<int>(role)) p = *without_ring(p, r);
  }
  p.roles.erase(p.roles.begin() + static_cast<std::ptrdiff_t>(role));
  for (Ring& ring : p.rings) {
    if (ring.producer > static_cast<int>(role)) --ring.producer;
    for (int& c : ring.consumers)
      if (c > static_cast<int>(role)) --c;
  }
  return p;
}

/// What each expression of the program can become: one of its parts.
void smaller_expressions(const Program& p, std::vector<Program>& out) {
  for (std::size_t r = 0; r < p.roles.size(); ++r)
    for (std::size_t i = 0; i < p.roles[r].body.size(); ++i) {
      const Statement& s = p.roles[r].body[i];
      if (s.op != "map" && s.op != "update" && s.op != "scalar") continue;
      const auto tokens = tokens_of(s.text);
      for (std::size_t begin = 1; begin < tokens.size(); ++begin) {
        std::string part;
        for (std::size_t at = begin; at < end_of(tokens, begin); ++at) part += (part.empty() ? "" : " ") + tokens[at];
        Program q = p;
        q.roles[r].body[i].text = part;
        out.push_back(std::move(q));
      }
    }
}

}  // namespace

Program without(const Program& program, std::size_t role, std::size_t first, std::size_t count) {
  Program p = program;
  auto& body = p.roles[role].body;
  body.erase(body.begin() + static_cast<std::ptrdiff_t>(first), body.begin() + static_cast<std::ptrdiff_t>(first + count));
  drop_dangling(p);
  return p;
}

std::vector<Program> smaller(const Program& p) {
  std::vector<Program> out;
  const auto change = [&](auto f) {
    Program q = p;
    f(q);
    if (nlohmann::json(q) != nlohmann::json(p)) out.push_back(std::move(q));
  };
  for (std::size_t r = p.roles.size(); r-- > 0;)
    if (auto q = without_role(p, r)) out.push_back(std::move(*q));
  for (std::size_t r = p.rings.size(); r-- > 0;) out.push_back(*without_ring(p, r));
  change([](Program& q) { q.items = q.grid = 1, q.tickets = false; });
  change([](Program& q) { q.tickets = false; });
  change([](Program& q) { q.trips = std::min(q.trips, 1); });
  change([](Program& q) { q.trips = std::min(q.trips, 2); });
  change([](Program& q) { q.trips = std::max(0, q.trips - 1); });
  change([](Program& q) { q.trip_form = 0; });
  change([](Program& q) { for (Role& r : q.roles) r.meets = false; });
  change([](Program& q) { for (Ring& r : q.rings) r.by_hand = false; });
  change([](Program& q) { for (Tile& t : q.tiles) t.deferred = false; });
  for (std::size_t r = 0; r < p.roles.size(); ++r) {
    const std::size_t n = p.roles[r].body.size();
    for (std::size_t chunk = n; chunk >= 1; chunk /= 2)
      for (std::size_t first = 0; first + chunk <= n; first += chunk) out.push_back(without(p, r, n - first - chunk, chunk));
  }
  for (std::size_t r = 0; r < p.rings.size(); ++r) {
    if (p.rings[r].by_hand) continue;
    change([&](Program& q) { q.rings[r].stages = 1; });
    change([&](Program& q) { q.rings[r].stages = std::max(1, q.rings[r].stages - 1); });
    change([&](Program& q) { q.rings[r].late = false; });
    if (p.rings[r].consumers.size() > 1)
      for (std::size_t c = 0; c < p.rings[r].consumers.size(); ++c) change([&](Program& q) { q.rings[r].consumers.erase(q.rings[r].consumers.begin() + static_cast<std::ptrdiff_t>(c)); });
  }
  for (std::size_t t = p.tiles.size(); t-- > 0;) {
    bool used = false;
    for (const Role& role : p.roles)
      for (const Statement& s : role.body) used |= std::find(s.tiles.begin(), s.tiles.end(), static_cast<int>(t)) != s.tiles.end();
    const bool last = p.tiles[t].ring >= 0 && std::count_if(p.tiles.begin(), p.tiles.end(), [&](const Tile& o) { return o.ring == p.tiles[t].ring; }) == 1;
    if (!used && !last) change([&](Program& q) { drop_tiles(q, [&](std::size_t x) { return x == t; }); });
    change([&](Program& q) { q.tiles[t].pad = 0; });
    if (p.tiles[t].fill == "ragged" || p.tiles[t].fill == "slots" || p.tiles[t].fill == "async")
      change([&](Program& q) { q.tiles[t].fill = "tma", q.tiles[t].n = {q.tiles[t].rows, q.tiles[t].cols, 0, 0}, q.tiles[t].pad = 0; });
    if (p.tiles[t].n.size() == 4) change([&](Program& q) { q.tiles[t].n = {q.tiles[t].rows, q.tiles[t].cols, 0, 0}; });
  }
  for (std::size_t r = 0; r < p.roles.size(); ++r) {
    change([&](Program& q) { q.roles[r].turns = 1, q.roles[r].turn = 0; });
    if (p.roles[r].warps > 4) change([&](Program& q) { q.roles[r].warps = 4; });
    for (std::size_t i = 0; i < p.roles[r].body.size(); ++i) {
      const Statement& s = p.roles[r].body[i];
      if (s.makes && !s.in.empty())  // what it makes is what it takes
        for (int from : s.in)
          for (const Statement& maker : p.roles[r].body)
            if (maker.id == from && maker.makes && maker.type == s.type)
              change([&](Program& q) {
                for (Statement& user : q.roles[r].body)
                  if (user.id != s.id)
                    for (int& v : user.in)
                      if (v == s.id) v = from;
                q = without(q, r, i, 1);
              });
      if (s.op == "gemm" && s.n[8]) change([&](Program& q) { q.roles[r].body[i].n[8] = 0; });
      if (s.op == "gemm" && s.n[2]) change([&](Program& q) { q.roles[r].body[i].n[2] = 0; });
      if ((s.op == "store_global" || s.op == "load_global") && (s.n[0] || s.n[1])) change([&](Program& q) { q.roles[r].body[i].n = {0, 0, 0}; });
      if (s.op == "load" && (s.n[1] || s.n[2])) change([&](Program& q) { q.roles[r].body[i].n = {s.n[0], 0, 0}; });
    }
  }
  smaller_expressions(p, out);
  return out;
}

Program reduce(Program program, const std::function<bool(const Program&)>& fails, int tries) {
  std::vector<Program> all = smaller(program);
  std::size_t at = 0, in_vain = 0;
  while (tries-- > 0 && in_vain < all.size()) {  // goes on behind what helped last
    at %= all.size();
    if (!fails(all[at])) {
      ++at, ++in_vain;
      continue;
    }
    program = std::move(all[at]);
    all = smaller(program);
    in_vain = 0;
  }
  return program;
}

}  // namespace tilewright::fuzz
