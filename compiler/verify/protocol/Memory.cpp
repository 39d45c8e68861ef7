// Accesses to shared tiles: which may meet, and what orders them.
#include "compiler/verify/protocol/Machine.h"

#include <algorithm>

using namespace mlir;

namespace tilewright::verify::protocol {

namespace {

std::string quoted(const std::string& s) { return "\"" + s + "\""; }

bool boxes_overlap(const Access& x, const Access& y) {
  return x.row < y.row + y.rows && y.row < x.row + x.rows && x.column < y.column + y.columns && y.column < x.column + x.columns;
}
bool contains(const Access& outer, const Access& inner) {
  return outer.row <= inner.row && inner.row + inner.rows <= outer.row + outer.rows && outer.column <= inner.column &&
         inner.column + inner.columns <= outer.column + outer.columns;
}

/// Whether lanes of two accesses meet in one element.
bool elements_meet(const Elements& x, const Elements& y) {
  for (auto i = x.sorted.begin(), j = y.sorted.begin(); i != x.sorted.end() && j != y.sorted.end();) {
    if (*i == *j) return true;
    *i < *j ? ++i : ++j;
  }
  return false;
}
/// Whether different lanes do.
bool other_lanes_meet(const Access& x, const Access& y) {
  for (unsigned i = 0; i < 32; ++i) {
    if (!(x.mask >> i & 1)) continue;
    for (unsigned j = 0; j < 32; ++j)
      if ((y.mask >> j & 1) && i != j && x.lanes->of[i] == y.lanes->of[j]) return true;
  }
  return false;
}

}  // namespace

bool Machine::overlap(const Access& x, const Access& y) const {
  if (x.tile != y.tile) return x.first_byte < y.last_byte && y.first_byte < x.last_byte;
  if (x.stage != y.stage || !boxes_overlap(x, y)) return false;
  return !x.lanes || !y.lanes || elements_meet(*x.lanes, *y.lanes);
}

/// When the access was over, on the clock of its component; kNever while it is in flight.
std::uint32_t Machine::end_of(const Access& x) const {
  if (x.group < 0) return x.end;
  const Actor& a = actors_[static_cast<std::size_t>(x.actor)];
  const auto& times = x.product ? a.settle_times : a.store_times;
  return static_cast<std::size_t>(x.group) < times.size() ? times[static_cast<std::size_t>(x.group)] : kNever;
}

/// Fills in where the access lies; false where the warp has no part in it.
bool Machine::locate(Actor& a, const TileUse& use, Access& access) {
  const Tile& tile = program_.tiles[static_cast<std::size_t>(use.place.tile)];
  access.tile = use.place.tile;
  access.write = use.write, access.async = use.async, access.atomic = use.atomic, access.mask = a.mask;
  access.shared = use.footprint == Footprint::shared;
  access.guess = a.maybe > 0;
  if (use.place.stage >= 0) {
    Val stage = a.scalars[static_cast<std::size_t>(use.place.stage)];
    if (!stage.is(Val::number) || stage.x < 0 || stage.x >= tile.stages) access.guess = true;
    else access.stage = static_cast<int>(stage.x);
  }
  // The origin of the view: a number, a number for each lane, or unknown.
  std::optional<Lanes> origin[2];
  bool split[2] = {false, false};
  const auto place = [&](int axis, std::int64_t known, const std::vector<int>& open, int element) {
    Val v = Val::of(known);
    for (int n : open) v = values_.apply(Op::add, v, a.scalars[static_cast<std::size_t>(n)]);
    if (element >= 0) v = values_.apply(Op::add, v, a.scalars[static_cast<std::size_t>(element)]);
    split[axis] = v.is(Val::lanes);
    if (v.is(Val::lanes)) {
      origin[axis] = values_.lanes_of(v);
    } else if (v.is(Val::number)) {
      origin[axis].emplace();
      origin[axis]->fill(v.x);
    }
  };
  place(0, use.place.row, use.place.rows, use.row);
  place(1, use.place.column, use.place.columns, use.column);
  std::int64_t begin[2], extent[2] = {use.place.height, use.place.width};
  const std::int64_t whole[2] = {tile.rows, tile.columns};
  const bool element = use.footprint == Footprint::element;
  for (int axis = 0; axis < 2; ++axis) {
    if (!origin[axis] || (split[axis] && !element)) {
      begin[axis] = 0, extent[axis] = whole[axis];
      access.guess = true;
    } else if (element) {
      std::int64_t low = kNever, high = -1;
      for (unsigned lane = 0; lane < 32; ++lane)
        if (a.mask >> lane & 1) low = std::min(low, (*origin[axis])[lane]), high = std::max(high, (*origin[axis])[lane]);
      begin[axis] = low, extent[axis] = high - low + 1;
    } else {
      begin[axis] = (*origin[axis])[0];
    }
  }
  if (element && origin[0] && origin[1]) {
    auto lanes = std::make_shared<Elements>();
    for (unsigned lane = 0; lane < 32; ++lane) {
      lanes->of[lane] = {static_cast<int>((*origin[0])[lane]), static_cast<int>((*origin[1])[lane])};
      if (a.mask >> lane & 1) lanes->sorted.push_back(lanes->of[lane]);
    }
    std::sort(lanes->sorted.begin(), lanes->sorted.end());
    lanes->sorted.erase(std::unique(lanes->sorted.begin(), lanes->sorted.end()), lanes->sorted.end());
    access.lanes = std::move(lanes);
  }
  const int group = a.warp / 4;
  switch (use.footprint) {
    case Footprint::rows: begin[0] += 16 * a.warp, extent[0] = 16; break;
    case Footprint::columns: begin[1] += 16 * a.warp, extent[1] = 16; break;
    case Footprint::group: begin[0] += 64 * group, extent[0] = std::min<std::int64_t>(64, extent[0]); break;
    case Footprint::group_columns: begin[1] += 64 * group, extent[1] = std::min<std::int64_t>(64, extent[1]); break;
    default: break;
  }
  access.row = begin[0], access.rows = extent[0], access.column = begin[1], access.columns = extent[1];
  const std::int64_t start = tile.offset + tile.stride * access.stage;
  access.first_byte = start, access.last_byte = start + tile.rows * tile.row_bytes;
  if (tile.row_major) access.first_byte = start + access.row * tile.row_bytes, access.last_byte = access.first_byte + access.rows * tile.row_bytes;
  return true;
}

void Machine::touch(Actor& a, const Instr& i, const TileUse& use, int cta, Access access) {
  access.instr = &i, access.actor = a.number, access.begin = a.clock.seen[static_cast<std::size_t>(a.number)];
  if (!locate(a, use, access)) return;
  const Tile& tile = program_.tiles[static_cast<std::size_t>(use.place.tile)];
  const int memory = tile.memory + (tile.overlaid ? 0 : access.stage);
  auto& list = memory_[static_cast<std::size_t>(cta * program_.memories + memory)];
  list.written |= access.write;
  if (!list.written && tile.ring >= 0)
    return void(report(a, i, "unwritten", tile.name, who(a) + " reads tile " + quoted(tile.name) + " of ring " + quoted(program_.rings[static_cast<std::size_t>(tile.ring)].name) + ", which nobody has filled",
                  "let the producer copy or write it in every stage, before the stage is full"));
  for (const Access& old : list.accesses) {
    if (!old.write && !access.write) continue;
    compare(a, old, access);
    if (finding_) return;
  }
  if (tile.control) {
    if (access.write) write_element(a, i, access);
    else if (i.result >= 0) a.scalars[static_cast<std::size_t>(i.result)] = read_element(a, i, access);
  } else if (i.result >= 0) {
    a.scalars[static_cast<std::size_t>(i.result)] = {};
  }
  const bool covers = access.write && !access.lanes && !access.guess;
  list.accesses.erase(std::remove_if(list.accesses.begin(), list.accesses.end(),
                                     [&](const Access& old) {
                                       if (!covers && (old.instr != access.instr || old.actor != access.actor)) return false;
                                       if (old.tile != access.tile || old.stage != access.stage || !contains(access, old)) return false;
                                       return covers || (contains(old, access) && old.mask == access.mask);
                                     }),
                      list.accesses.end());
  list.accesses.push_back(std::move(access));
  if (list.accesses.size() > list.limit) forget(list);
}

/// Drops accesses that lie before whatever may come, for every warp that still runs.
void Machine::forget(History& list) {
  const auto past = [&](const Access& old) {
    const std::uint32_t end = end_of(old);
    const auto component = static_cast<std::size_t>(old.component);
    return std::all_of(actors_.begin(), actors_.end(), [&](const Actor& a) {
      if (a.ended) return true;
      if (a.number == old.actor && !old.async && old.begin > a.converged) return false;
      return a.clock.seen[component] >= end && (!old.write || old.async || !program_.tiles[static_cast<std::size_t>(old.tile)].fenced || a.clock.fenced[component] >= end);
    });
  };
  list.accesses.erase(std::remove_if(list.accesses.begin(), list.accesses.end(), past), list.accesses.end());
  list.limit = 2 * list.accesses.size() + 32;
}

void Machine::touch(Actor& a, const Instr& i) {
  for (const TileUse& use : i.uses) {
    Access access;
    access.component = a.number;
    access.end = a.clock.seen[static_cast<std::size_t>(a.number)];
    int cta = a.cta;
    if (i.number) {  // of another CTA of the cluster
      Val rank = in(a, i);
      auto which = values_.force(rank, {i.at});
      if (!which || *which < 0 || *which >= ctas_)
        return void(report(a, i, "race", program_.tiles[static_cast<std::size_t>(use.place.tile)].name, "cannot be decided: which CTA's shared memory this is",
                      "give a rank that is the same in all lanes", true));
      cta = static_cast<int>(*which);
    }
    touch(a, i, use, cta, access);
    if (finding_) return;
    if (use.atomic && i.result >= 0) a.scalars[static_cast<std::size_t>(i.result)] = {};
  }
}

void Machine::compare(Actor& a, const Access& old, const Access& now) {
  if (old.atomic && now.atomic) return;
  const Actor& other = actors_[static_cast<std::size_t>(old.actor)];
  const bool same_role = other.role == a.role && other.cta == a.cta, same_warp = old.actor == a.number;
  // Threads that write one element by one operation write one value; a shared copy always gives an element to the same thread.
  if (old.instr == now.instr && same_role && !same_warp && old.write && now.write && !now.async) return;
  const std::uint32_t end = end_of(old);
  const auto component = static_cast<std::size_t>(old.component);
  const bool ordered = end != kNever && a.clock.seen[component] >= end;
  const bool fresh_lanes = same_warp && !old.async && a.lanes != 1 && old.begin > a.converged;
  const bool unfenced = now.async && old.write && !old.async && (old.tile == now.tile || now.write) && a.clock.fenced[component] < end;
  if (ordered && !unfenced) {  // nothing left to find but lanes of this warp that meet
    if (!fresh_lanes || now.product || old.tile != now.tile || old.stage != now.stage || !boxes_overlap(old, now)) return;
  } else if (!overlap(old, now)) {
    return;
  }
  // Where two warps run the same role, the later one in its text is to blame.
  if (!ordered && !old.async && other.role == a.role && !same_warp && old.instr > now.instr) return blame(actors_[static_cast<std::size_t>(old.actor)], now, old, ordered, fresh_lanes);
  blame(a, old, now, ordered, fresh_lanes);
}

/// Reports two accesses that meet, at the second.
void Machine::blame(Actor& a, const Access& old, const Access& now, bool ordered, bool fresh_lanes) {
  const Actor& other = actors_[static_cast<std::size_t>(old.actor)];
  const bool same_warp = old.actor == a.number, same_role = other.role == a.role && other.cta == a.cta;
  const std::string& tile = program_.tiles[static_cast<std::size_t>(now.tile)].name;
  const std::string verb = now.write ? "writes" : "reads", what = "tile " + quoted(tile);
  const auto found = [&](const char* property, const std::string& text, const std::string& hint) {
    report(a, *now.instr, property, tile, text, hint, now.guess || old.guess);
    if (finding_) finding_->steps.insert(finding_->steps.end() - 1, {old.instr->at, who(other) + ": " + doing(*old.instr)});
  };
  if (!ordered) {
    if (old.product) return found("race", who(a) + " " + verb + " " + what + " while a product that reads it may be in flight" + (same_warp ? "" : " in " + who(other)),
                                  "settle the product's batch before the tile is given back or overwritten");
    if (old.async && !old.write) return found("race", who(a) + " " + verb + " " + what + " while a copy out of it may be in flight", "call k.store_wait(0) by the thread that started the copy, then pass it on");
    if (old.async) return found("race", who(a) + " " + verb + " " + what + " while a copy into it may be in flight", "wait for the ring's stage first");
    if (same_role) return found("race", "warps of " + who(a) + " meet in " + what + ": one " + verb + " what another " + (old.write ? "writes" : "reads") + ", and nothing orders them",
                                "call k.sync() between the two");
    return found("race", who(a) + " " + verb + " " + what + ", which " + who(other) + (old.write ? " writes" : " reads") + "; nothing orders the two",
                 old.write || !now.async ? "hand the tile over through a ring or a barrier" : "release the stage after its last use, not before");
  }
  if (fresh_lanes && !now.product) {
    const bool meet = now.async ? old.mask != now.mask : old.lanes && now.lanes ? elements_meet(*old.lanes, *now.lanes) && other_lanes_meet(old, now) : bool(old.lanes) != bool(now.lanes);
    if (meet) return found("race", "lanes of a warp of " + who(a) + " meet in " + what + ": one " + verb + " what another " + (old.write ? "writes" : "reads") + ", and nothing orders them",
                           "call k.warp_sync() or k.sync() between the two");
  }
  if (now.async && old.write && !old.async && a.clock.fenced[static_cast<std::size_t>(old.component)] < end_of(old))
    found("fence", "ordinary writes of " + what + " by " + who(other) + " reach this " + (now.product ? "product" : "copy") + " without a fence for the async proxy",
          "call k.fence_async() between the writes and what publishes them, or leave the fences to the compiler");
}

/// What a tile holds where its elements steer control flow; equal for all who read the same contents.
Val Machine::read_element(Actor& a, const Instr&, const Access& at) {
  if (at.guess || at.rows != 1 || at.columns != 1) return {};
  auto known = elements_.find({a.cta, at.tile, at.stage, at.row, at.column});
  if (known != elements_.end()) return known->second;
  return values_.atom({-5, a.cta, at.tile, at.stage, at.row, at.column, versions_[{a.cta, at.tile, at.stage}]});
}

void Machine::write_element(Actor& a, const Instr& i, const Access& at) {
  const int cta = at.component < static_cast<int>(actors_.size()) ? a.cta : a.cta;
  if (!at.guess && at.lanes && at.rows == 1 && at.columns == 1 && !i.in.empty() && !at.atomic && !i.number) {
    Val v = in(a, i);
    elements_[{cta, at.tile, at.stage, at.row, at.column}] = v.is(Val::varying) || v.is(Val::lanes) ? values_.lane0(v) : v;
    return;
  }
  ++versions_[{cta, at.tile, at.stage}];
  for (auto e = elements_.lower_bound({cta, at.tile, at.stage, INT64_MIN, INT64_MIN}); e != elements_.end() && e->first[0] == cta && e->first[1] == at.tile && e->first[2] == at.stage;)
    e = elements_.erase(e);
}

}  // namespace tilewright::verify::protocol
