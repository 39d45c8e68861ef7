// The kernel's skeleton: tensors, tiles, rings, roles and their loops.
#include "tests/fuzz/emit.h"

#include <algorithm>

#include <fmt/format.h>

namespace tilewright::fuzz {
namespace {

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string s;
  for (auto e : shape) s += (s.empty() ? "" : ", ") + std::to_string(e);
  return s;
}

std::vector<std::string> extent_texts(const std::vector<std::int64_t>& shape) {
  std::vector<std::string> out;
  for (auto e : shape) out.push_back(std::to_string(e));
  return out;
}

}  // namespace

dsl::Id Emitter::tensor(const std::string& name, const std::string& element, const std::vector<std::int64_t>& shape, const std::string& role) {
  if (const auto it = tensor_ids_.find(name); it != tensor_ids_.end()) return it->second;
  const dsl::Id id = b_.tensor(name, element_of(element), extent_texts(shape), role, false);
  line(fmt::format("auto {} = k.{}<{}>(\"{}\", {{{}}});", name, role, element, name, shape_text(shape)));
  tensors_.push_back({name, element, role, shape});
  return tensor_ids_[name] = id;
}

std::string Emitter::tile_name(int t) const { return p_.tiles[t].ring < 0 || p_.rings[p_.tiles[t].ring].by_hand ? fmt::format("t{}", t) : fmt::format("t{}[s{}]", t, p_.tiles[t].ring); }

/// Everything that has a name in the whole kernel.
void Emitter::declare() {
  line(fmt::format("auto cta = k.grid({});", p_.grid));
  cta_ = k_.grid(p_.grid);
  if (p_.trip_form != 0) {
    line("Index n = k.scalar_i32(\"n\");");
    n_ = k_.scalar_i32("n");
  } else {
    line(fmt::format("Index n = k.index({});", p_.trips));
    n_ = k_.index(p_.trips);
  }
  const std::int64_t items = p_.items, most = most_trips(p_);
  for (std::size_t t = 0; t < p_.tiles.size(); ++t) {
    const Tile& tile = p_.tiles[t];
    const std::string name = fmt::format("a{}", t);
    if (tile.fill == "tma" || tile.fill == "async" || tile.fill == "slots") tensor(name, tile.element, {2, tile.n[0], tile.n[1]}, "in");
    if (tile.fill == "ragged") tensor(name, tile.element, {tile.n[0], tile.n[1]}, "in");
    if (tile.fill == "bulk") tensor(name, tile.element, {2, std::int64_t{tile.rows} * tile.cols}, "in");
  }
  if (p_.tickets) tensor("next", "i32", {1}, "inout");
  for (const Role& r : p_.roles)
    for (const Statement& s : r.body) {
      const std::string x = fmt::format("x{}", s.id), y = fmt::format("y{}", s.id);
      const std::int64_t threads = r.single ? 1 : 32 * r.warps;
      if (s.op == "load_global" || s.op == "store_global") {
        const Type& type = s.type;
        std::int64_t rows = type.kind == 1 ? (s.op == "store_global" && type.varies ? r.warps : 1) : 16 * r.warps, cols = cols_of(type) + s.n[1];
        if (s.n[0]) std::swap(rows, cols);
        if (s.op == "load_global") tensor(x, type.element, {2, rows, cols}, "in");
        else tensor(y, type.element, {items, s.phase == kLoop ? most : 1, rows, cols}, "out");
      } else if (s.op == "tile_out") {
        const Tile& tile = p_.tiles[s.tiles[0]];
        if (s.text == "reduce") tensor(y, tile.element, {s.n[0], s.n[1]}, "inout");
        else if (s.text == "bulk") tensor(y, tile.element, {items, s.phase == kLoop ? most : 1, std::int64_t{tile.rows} * tile.cols}, "out");
        else tensor(y, tile.element, {items, s.phase == kLoop ? most : 1, s.n[0], s.n[1]}, "out");
      } else if (s.op == "fill_tile") {
        const Tile& tile = p_.tiles[s.tiles[0]];
        tensor(x, tile.element, {tile.rows, tile.cols}, "in");
      } else if (s.op == "dump_tile") {
        const Tile& tile = p_.tiles[s.tiles[0]];
        tensor(y, tile.element, {items, s.phase == kLoop ? most : 1, tile.rows, tile.cols}, "out");
      } else if (s.op == "tally") {
        tensor(y, "f32", {items, threads}, "out");
      } else if (s.op == "scalar") {
        tensor(y, "i32", {items, s.phase == kLoop ? most : 1, threads}, "out");
      } else if (s.op == "atomic") {
        tensor(y, s.type.element, {s.n[0]}, "inout");
        if (s.text == "ticket") tensor(fmt::format("z{}", s.id), s.type.element, {1}, "inout");
      }
    }
  for (std::size_t t = 0; t < p_.tiles.size(); ++t) {
    const Tile& tile = p_.tiles[t];
    const int stages = tile.ring < 0 ? 1 : p_.rings[tile.ring].stages;
    tile_ids_.push_back(b_.shared(fmt::format("t{}", t), element_of(tile.element), tile.rows, tile.cols, stages, tile.pad));
    const bool alone = tile.ring < 0 || p_.rings[tile.ring].by_hand;
    line(fmt::format("auto t{} = k.{}<{}>(\"t{}\", {}{{{}, {}}}, {});", t, alone ? "shared" : "staged", tile.element, t, alone ? "" : std::to_string(stages) + ", ", tile.rows,
                     tile.cols, tile.pad));
    if (tile.deferred) line(fmt::format("k.defer_fences(t{});", t)), b_.none(dsl::Call("defer_fence").value(tile_ids_.back()));
  }
  for (std::size_t r = 0; r < p_.roles.size(); ++r)
    for (const Statement& s : p_.roles[r].body)
      if ((s.op == "reduce" || s.op == "scan") && s.n[0] == 2) {
        const std::string name = fmt::format("scratch{}", s.id);
        scratch_ids_[name] = b_.shared(name, Element::f32, p_.roles[r].warps, s.type.cols, 1, 0);
        line(fmt::format("auto {} = k.shared<f32>(\"{}\", {{{}, {}}});", name, name, p_.roles[r].warps, s.type.cols));
      }
  if (p_.tickets) {
    ticket_tile_ = b_.shared("item", Element::i32, 1, 1, 2, 0);
    line("auto item_tile = k.staged<i32>(\"item\", 2, {1, 1});");
  }
  std::vector<std::string> all;
  for (std::size_t r = 0; r < p_.roles.size(); ++r) {
    const Role& role = p_.roles[r];
    const std::string w = role.single ? "one_thread()" : role.warps % 4 ? fmt::format("warps({})", role.warps) : fmt::format("warpgroups({})", role.warps / 4);
    line(fmt::format("Role role{} = k.role(\"role{}\", {});", r, r, w));
    handles_.push_back(k_.role(fmt::format("role{}", r), role.single ? one_thread() : role.warps % 4 ? warps(role.warps) : warpgroups(role.warps / 4)));
    all.push_back(fmt::format("role{}", r));
  }
  for (std::size_t r = 0; r < p_.rings.size(); ++r) {
    const Ring& ring = p_.rings[r];
    if (ring.by_hand) {
      std::vector<tilewright::Role> producer{handles_[ring.producer]}, takers;
      std::string roles;
      for (int c : ring.consumers) takers.push_back(handles_[c]), roles += fmt::format("{}role{}", roles.empty() ? "" : ", ", c);
      full_.emplace(r, k_.barrier(fmt::format("full{}", r), producer, takers));
      empty_.emplace(r, k_.barrier(fmt::format("empty{}", r), takers, producer));
      line(fmt::format("Barrier full{0} = k.barrier(\"full{0}\", {{role{1}}}, {{{2}}}), empty{0} = k.barrier(\"empty{0}\", {{{2}}}, {{role{1}}});", r, ring.producer, roles));
      ring_ids_.push_back(-1);
      continue;
    }
    std::vector<std::string> consumers;
    std::string names, tiles;
    dsl::Ids ids;
    for (int c : ring.consumers) consumers.push_back(fmt::format("role{}", c)), names += (names.empty() ? "" : ", ") + consumers.back();
    for (std::size_t t = 0; t < p_.tiles.size(); ++t)
      if (p_.tiles[t].ring == static_cast<int>(r)) ids.push_back(tile_ids_[t]), tiles += fmt::format(", t{}", t);
    ring_ids_.push_back(b_.ring(fmt::format("ring{}", r), ring.stages, fmt::format("role{}", ring.producer), consumers, ids));
    line(fmt::format("Ring ring{} = k.ring(\"ring{}\", {}, role{}, {{{}}}{});", r, r, ring.stages, ring.producer, names, tiles));
  }
  if (p_.tickets) {
    ticket_ring_ = b_.ring("tickets", 2, "fetch", all, {ticket_tile_});
    std::string names;
    for (auto& a : all) names += (names.empty() ? "" : ", ") + a;
    line("Role fetch = k.role(\"fetch\", one_thread());");
    line(fmt::format("Ring tickets = k.ring(\"tickets\", 2, fetch, {{{}}}, item_tile);", names));
  }
  stage_ids_.resize(p_.tiles.size(), -1);
  ring_stage_.resize(p_.rings.size(), -1);
}

void Emitter::kernel() {
  if (p_.waived) {
    k_.waive("kernel", "starvation", "its rounds are alike");
    line("k.waive(\"kernel\", \"starvation\", \"its rounds are alike\");");
  }
  declare();
  if (p_.tickets) fetch_tickets();
  for (std::size_t r = 0; r < p_.roles.size(); ++r) role(static_cast<int>(r));
}

void Emitter::fetch_tickets() {
  block("fetch([&] {", "});", [&] {
    k_.role("fetch", one_thread())([&] {
      Var<Index> drawn(k_.index(0));
      line("Var<Index> drawn(k.index(0));");
      block("k.while_([&] { return drawn.get() >= 0; }, [&] {", "});", [&] {
        k_.while_([&] { return drawn.get() >= 0; }, [&] {
          Tensor<i32> next(&b_, tensor_ids_.at("next"));
          Index ticket = fetch_add(next, {0}, 1);
          drawn.set(select(ticket < p_.items, ticket, -1));
          const dsl::Id s = b_.acquire(ticket_ring_);
          Shared<i32>(&b_, b_.stage_of(ticket_tile_, s), {1, 1}).write(0, 0, drawn.get());
          b_.commit(ticket_ring_, s);
          line("Index ticket = fetch_add(next, {0}, 1);");
          line(fmt::format("drawn.set(select(ticket < {}, ticket, -1));", p_.items));
          line("Stage s = tickets.acquire();");
          line("item_tile[s].write(0, 0, drawn.get());");
          line("tickets.commit(s);");
        });
      });
    });
  });
}

void Emitter::role(int index) {
  index_ = index;
  values_.clear(), vars_.clear(), pending_.clear();
  block(fmt::format("role{}([&] {{", index), "});", [&] {
    handles_[index]([&] {
      taken_.clear();
      for (std::size_t r = 0; r < p_.rings.size(); ++r)
        if (p_.rings[r].by_hand && p_.rings[r].producer == index) taken_.emplace(r, Var<Index>(k_.index(0))), line(fmt::format("Var<Index> taken{}(k.index(0));", r));
      items(index);
    });
  });
}

void Emitter::items(int index) {
  if (p_.tickets) {
    Var<Index> drawn(k_.index(0));
    line("Var<Index> drawn(k.index(0));");
    block("k.while_([&] { return drawn.get() >= 0; }, [&] {", "});", [&] {
      k_.while_([&] { return drawn.get() >= 0; }, [&] {
        const dsl::Id s = b_.wait(ticket_ring_);
        drawn.set(Shared<i32>(&b_, b_.stage_of(ticket_tile_, s), {1, 1}).read(0, 0));
        b_.release(ticket_ring_, s);
        line("Stage ticket = tickets.wait();");
        line("drawn.set(item_tile[ticket].read(0, 0));");
        line("tickets.release(ticket);");
        block("if_(drawn.get() >= 0, [&] {", "});", [&] {
          if_(drawn.get() >= 0, [&] {
            line("Index item = k.uniform(drawn.get());");
            one_item(index, k_.uniform(drawn.get()));
          });
        });
      });
    });
  } else if (p_.items != p_.grid) {
    block(fmt::format("for_range(cta[0], k.index({}), {}, [&](Index item) {{", p_.items, p_.grid), "});",
          [&] { for_range(cta_[0], k_.index(p_.items), p_.grid, [&](Index item) { one_item(index, item); }); });
  } else {
    line("Index item = cta[0];");
    one_item(index, cta_[0]);
  }
}

void Emitter::one_item(int index, Index item) {
  const Role& role = p_.roles[index];
  const Index zero = k_.index(0);
  for (const Statement& s : role.body) {
    if (s.op == "tally") tally(s);
    else if (s.phase == kBefore) statement(s, item, zero);
  }
  settle_all();
  trips(index, item);
  for (const Statement& s : role.body) {
    if (s.op == "tally") tally_out(s, item);
    else if (s.phase == kAfter) statement(s, item, zero);
  }
  settle_all();
}

void Emitter::trips(int index, Index item) {
  if (p_.trip_form == 3) {
    block("for_(k.index(2), [&](Index half) {", "});", [&] {
      for_(k_.index(2), [&](Index half) {
        block("for_(n, [&](Index inner) {", "});", [&] {
          for_(n_, [&](Index inner) {
            line("Index i = half * n + inner;");
            one_trip(index, item, half * n_ + inner);
          });
        });
      });
    });
    return;
  }
  const bool by_item = p_.trip_form == 2;
  block(by_item ? "for_(n + item % 2, [&](Index i) {" : "for_(n, [&](Index i) {", "});",
        [&] { for_(by_item ? n_ + item % 2 : n_, [&](Index i) { one_trip(index, item, i); }); });
}

/// One stage of every ring that the role has to do with.
void Emitter::one_trip(int index, Index item, Index i) {
  const Role& role = p_.roles[index];
  std::vector<int> filled, consumed;
  for (std::size_t r = 0; r < p_.rings.size(); ++r) {
    if (p_.rings[r].producer == index) filled.push_back(static_cast<int>(r));
    if (std::find(p_.rings[r].consumers.begin(), p_.rings[r].consumers.end(), index) != p_.rings[r].consumers.end()) consumed.push_back(static_cast<int>(r));
  }
  waited_.assign(p_.rings.size(), 0);
  if (role.meets) {
    std::vector<tilewright::Role> all;
    std::string names;
    for (std::size_t r = 0; r < p_.roles.size(); ++r)
      if (p_.roles[r].meets) all.push_back(handles_[r]), names += fmt::format("{}role{}", names.empty() ? "" : ", ", r);
    if (all.size() > 1) line("k.meet({" + names + "});"), k_.meet(all);
  }
  const auto own = [&](int r) { return std::find(consumed.begin(), consumed.end(), r) != consumed.end(); };
  std::vector<int> to_commit;
  for (int r : filled) {
    load_stage(r, item, i);
    bool by_threads = false;
    for (const Tile& t : p_.tiles) by_threads |= t.ring == r && (t.fill == "async" || t.fill == "made");
    if (!by_threads) continue;
    if (own(r)) {  // a role that fills a ring for itself commits before it waits
      commit(r);
    } else {
      to_commit.push_back(r);
    }
  }
  for (int r : consumed)
    if (!p_.rings[r].late || role.turns > 1) wait_for(r);
  const auto body = [&] {
    for (const Statement& s : role.body)
      if (s.phase == kLoop || s.op == "tally") statement(s, item, i);
    settle_all();
  };
  if (role.turns > 1) {
    block(fmt::format("if_(i % {} == {}, [&] {{", role.turns, role.turn), "});", [&] { if_(i % role.turns == role.turn, body); });
  } else {
    body();
  }
  for (int r : to_commit) commit(r);
  for (int r : consumed) {
    wait_for(r);
    release(r);
  }
}

void Emitter::acquire(int r) {
  if (!p_.rings[r].by_hand) {
    line(fmt::format("Stage s{} = ring{}.acquire();", r, r));
    ring_stage_[r] = b_.acquire(ring_ids_[r]);
    return;
  }
  line(fmt::format("if_(taken{0}.get() > 0, [&] {{ empty{0}.wait(); }});", r));
  line(fmt::format("taken{0}.set(taken{0}.get() + 1);", r));
  if_(taken_.at(r).get() > 0, [&] { empty_.at(r).wait(); });
  taken_.at(r).set(taken_.at(r).get() + 1);
}
void Emitter::commit(int r) {
  line(p_.rings[r].by_hand ? fmt::format("full{}.arrive();", r) : fmt::format("ring{0}.commit(s{0});", r));
  if (p_.rings[r].by_hand) full_.at(r).arrive();
  else b_.commit(ring_ids_[r], ring_stage_[r]);
}
void Emitter::release(int r) {
  line(p_.rings[r].by_hand ? fmt::format("empty{}.arrive();", r) : fmt::format("ring{0}.release(s{0});", r));
  if (p_.rings[r].by_hand) empty_.at(r).arrive();
  else b_.release(ring_ids_[r], ring_stage_[r]);
}

void Emitter::wait_for(int r) {
  const Ring& ring = p_.rings[r];
  if (waited_[r] || std::find(ring.consumers.begin(), ring.consumers.end(), index_) == ring.consumers.end()) return;
  waited_[r] = 1;
  if (ring.by_hand) {
    line(fmt::format("full{}.wait();", r));
    full_.at(r).wait();
    for (std::size_t t = 0; t < p_.tiles.size(); ++t)
      if (p_.tiles[t].ring == r) stage_ids_[t] = tile_ids_[t];
    return;
  }
  const bool again = ring.producer == index_;
  line(fmt::format("{}s{} = ring{}.wait();", again ? "" : "Stage ", r, r));
  ring_stage_[r] = b_.wait(ring_ids_[r]);
  for (std::size_t t = 0; t < p_.tiles.size(); ++t)
    if (p_.tiles[t].ring == r) stage_ids_[t] = b_.stage_of(tile_ids_[t], ring_stage_[r]);
}

/// Acquires a stage and starts the copies into it.
void Emitter::load_stage(int r, Index item, Index i) {
  acquire(r);
  const dsl::Id s = ring_stage_[r];
  const tilewright::Ring ring(&b_, ring_ids_[r]);
  const Stage stage{{&b_, s}};
  for (std::size_t t = 0; t < p_.tiles.size(); ++t) {
    const Tile& tile = p_.tiles[t];
    if (tile.ring != r) continue;
    stage_ids_[t] = p_.rings[r].by_hand ? tile_ids_[t] : b_.stage_of(tile_ids_[t], s);
    if (tile.fill == "made") continue;
    with_any_element(tile.element, [&](auto tag) {
      using T = decltype(tag);
      const Staged<T> to(&b_, tile_ids_[t], {tile.rows, tile.cols});
      const Tensor<T> from(&b_, tensor_ids_.at(fmt::format("a{}", t)));
      const Index slot = tile.fill == "slots" ? i % 3 - 1 : (item + i) % 2;
      const std::string slot_text = tile.fill == "slots" ? "i % 3 - 1" : "(item + i) % 2";
      if (tile.fill == "bulk") {
        ring.bulk_load(stage, to, from, {slot, 0});
        line(fmt::format("ring{}.bulk_load(s{}, t{}, a{}, {{{}, 0}});", r, r, t, t, slot_text));
      } else if (tile.fill == "ragged") {
        ring.tma_load(stage, to, from.ragged_tile(k_.index(tile.n[2]), k_.index(tile.n[4]), {i % 2 * 3, tile.n[3]}, {tile.rows, tile.cols}));
        line(fmt::format("ring{}.tma_load(s{}, t{}, a{}.ragged_tile(k.index({}), k.index({}), {{i % 2 * 3, {}}}, {{{}, {}}}));", r, r, t, t, tile.n[2], tile.n[4], tile.n[3],
                         tile.rows, tile.cols));
      } else if (tile.fill == "slots") {
        ring.tma_load(stage, to, from.tile_at(slot, {tile.n[2], tile.n[3]}, {tile.rows, tile.cols}));
        line(fmt::format("ring{}.tma_load(s{}, t{}, a{}.tile_at({}, {{{}, {}}}, {{{}, {}}}));", r, r, t, t, slot_text, tile.n[2], tile.n[3], tile.rows, tile.cols));
      } else {
        const auto box = from.tile({slot, tile.n[2], tile.n[3]}, {1, tile.rows, tile.cols});
        if (tile.fill == "async") ring.copy_async(stage, to, box);
        else ring.tma_load(stage, to, box);
        line(fmt::format("ring{}.{}(s{}, t{}, a{}.tile({{{}, {}, {}}}, {{1, {}, {}}}));", r, tile.fill == "async" ? "copy_async" : "tma_load", r, t, t, slot_text, tile.n[2],
                         tile.n[3], tile.rows, tile.cols));
      }
    });
  }
}

Emitted emit(const Program& program, std::string* text) {
  std::vector<Argument> tensors;
  std::string own;
  std::string& out = text ? *text : own;
  out = fmt::format("// seed {}: {} CTAs, {} items, n = {}\nProgram p = kernel(\"fuzz\", [](Kernel& k) {{\n", program.seed, program.grid, program.items, program.trips);
  auto built = tilewright::kernel("fuzz", [&](Kernel& k) {
    dsl::Builder& b = *k.real(0.0).builder;
    Emitter(program, k, b, out, tensors).kernel();
  });
  out += "});\n";
  return {std::move(built), std::move(tensors), out};
}

}  // namespace tilewright::fuzz
