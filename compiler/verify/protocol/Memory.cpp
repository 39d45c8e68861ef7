// Accesses to shared tiles: which may meet, and what orders them.
#include "compiler/verify/protocol/Machine.h"

#include <algorithm>

using namespace mlir;

namespace tilewright::verify::protocol {

namespace {

std::string quoted(const std::string& s) { return "\"" + s + "\""; }

}  // namespace

bool Machine::overlap(const Access& x, const Access& y) const {
  if (x.tile != y.tile) return x.first_byte < y.last_byte && y.first_byte < x.last_byte;
  if (x.stage != y.stage || !x.box.overlaps(y.box)) return false;
  return !x.lanes || !y.lanes || elements_meet(*x.lanes, *y.lanes);
}

/// When an access was over, on the clock of its component; kNever while it is in flight.
std::uint32_t Machine::end_of(int actor, bool product, std::int64_t group, std::uint32_t end) const {
  if (group < 0) return end;
  const Actor& a = actors_[static_cast<std::size_t>(actor)];
  const auto& times = product ? a.settle_times : a.store_times;
  return static_cast<std::size_t>(group) < times.size() ? times[static_cast<std::size_t>(group)] : kNever;
}

/// Whether all accesses of the segment lie before this one, or apart from it.
bool Machine::nothing_to_find(const Actor& a, const Segment& old, const Access& now) const {
  if (old.tile != now.tile ? old.first_byte >= now.last_byte || now.first_byte >= old.last_byte : old.stage != now.stage || !old.box.overlaps(now.box)) return true;
  const std::uint32_t end = end_of(old.actor, old.product, old.group, old.end);
  const auto component = static_cast<std::size_t>(old.component);
  if (end == kNever || a.clock.seen[component] < end) return false;
  if (old.actor == a.number && !old.async && a.lanes != 1 && old.begin > a.converged) return false;
  return !now.async || !old.write || old.async || a.clock.fenced[component] >= end;
}

/// What the lanes of `mask` name with their rows and columns: numbers, or a number for each lane.
const Elements* Machine::elements(Val row, Val column, std::uint32_t mask) {
  auto [at, made] = known_elements_.try_emplace({std::uint64_t{mask} << 4 | row.kind << 2 | column.kind, row.x, column.x});
  if (made) {
    Elements e;
    const auto number = [&](Val v, std::size_t lane) { return static_cast<int>(v.is(Val::number) ? v.x : values_.lanes_of(v)[lane]); };
    for (std::size_t lane = 0; lane < 32; ++lane) e.of[lane] = {number(row, lane), number(column, lane)};
    e.sort(mask);
    at->second = &element_sets_.emplace_back(std::move(e));
  }
  return at->second;
}

/// Fills in where the access lies; false where the warp has no part in it.
bool Machine::locate(Actor& a, const TileUse& use, Access& access) {
  const Tile& tile = program_.tiles[static_cast<std::size_t>(use.place.tile)];
  access.tile = use.place.tile;
  access.write = use.write, access.async = use.async, access.atomic = use.atomic, access.mask = a.mask;
  access.shared = use.footprint == Footprint::shared, access.element = use.footprint == Footprint::element, access.spread = static_cast<std::uint8_t>(use.spread);
  access.guess = a.maybe > 0;
  if (use.place.stage >= 0) {
    Val stage = a.scalars[static_cast<std::size_t>(use.place.stage)];
    if (!stage.is(Val::number) || stage.x < 0 || stage.x >= tile.stages) access.guess = true;
    else access.stage = static_cast<int>(stage.x);
  }
  // The origin: a number, a number for each lane, or unknown.
  const bool element = use.footprint == Footprint::element;
  const auto origin = [&](std::int64_t begin, const std::vector<int>& open, int of_element) {
    Val v = Val::of(begin);
    for (int n : open) v = values_.apply(Op::add, v, a.scalars[static_cast<std::size_t>(n)]);
    if (element) v = values_.apply(Op::add, v, a.scalars[static_cast<std::size_t>(of_element)]);
    access.guess |= !(v.is(Val::number) || (element && v.is(Val::lanes)));
    return v;
  };
  const Val row = origin(use.place.row, use.place.rows, use.row), column = origin(use.place.column, use.place.columns, use.column);
  const auto known = [&](Val v) { return v.is(Val::number) || (element && v.is(Val::lanes)); };
  Box& box = access.box;
  if (element) {
    const Val zero = Val::of(0);
    const Elements* at = elements(known(row) ? row : zero, known(column) ? column : zero, a.mask);
    if (known(row) && known(column)) access.lanes = at;
    box = at->box;
  } else {
    box = {row.x, column.x, use.place.height, use.place.width};
  }
  if (!known(row)) box.row = 0, box.rows = tile.rows;
  if (!known(column)) box.column = 0, box.columns = tile.columns;
  const int group = a.warp / 4;
  switch (use.footprint) {
    case Footprint::rows: box.row += 16 * a.warp, box.rows = 16; break;
    case Footprint::columns: box.column += 16 * a.warp, box.columns = 16; break;
    case Footprint::group: box.row += 64 * group, box.rows = std::min<std::int64_t>(64, box.rows); break;
    case Footprint::group_columns: box.column += 64 * group, box.columns = std::min<std::int64_t>(64, box.columns); break;
    default: break;
  }
  const std::int64_t start = tile.offset + tile.stride * access.stage;
  access.first_byte = start, access.last_byte = start + tile.rows * tile.row_bytes;
  if (tile.row_major) access.first_byte = start + box.row * tile.row_bytes, access.last_byte = access.first_byte + box.rows * tile.row_bytes;
  return true;
}

void Machine::touch(Actor& a, const Instr& i, const TileUse& use, int cta, Access access) {
  access.instr = &i, access.actor = a.number, access.begin = a.clock.seen[static_cast<std::size_t>(a.number)], access.epoch = a.converged;
  if (!locate(a, use, access)) return;
  const Tile& tile = program_.tiles[static_cast<std::size_t>(use.place.tile)];
  const int memory = tile.memory + (tile.overlaid ? 0 : access.stage);
  auto& list = memory_[static_cast<std::size_t>(cta * program_.memories + memory)];
  list.written |= access.write;
  if (!list.written && tile.ring >= 0)
    return void(report(a, i, "unwritten", tile.name, who(a) + " reads tile " + quoted(tile.name) + " of ring " + quoted(program_.rings[static_cast<std::size_t>(tile.ring)].name) + ", which nobody has filled",
                  "let the producer copy or write it in every stage, before the stage is full"));
  for (const Segment& old : list.segments) {
    if ((!old.write && !access.write) || nothing_to_find(a, old, access)) continue;
    compared_ += static_cast<std::int64_t>(old.accesses.size());
    for (const Access& one : old.accesses) {
      compare(a, one, access);
      if (finding_) return;
    }
  }
  if (tile.control) {
    if (access.write) write_element(a, i, access);
    else if (i.result >= 0) a.scalars[static_cast<std::size_t>(i.result)] = read_element(a, i, access);
  } else if (i.result >= 0) {
    a.scalars[static_cast<std::size_t>(i.result)] = {};
  }
  list.add(access);
  if (list.count > list.limit) forget(list);
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
  list.drop(past);
  list.limit = 2 * list.count + 32;
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
    if (!fresh_lanes || now.product || old.tile != now.tile || old.stage != now.stage || !old.box.overlaps(now.box)) return;
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
  const bool lanes_meet = ordered && fresh_lanes && !now.product && other_lanes_meet(old, now);
  const bool unfenced = now.async && old.write && !old.async && a.clock.fenced[static_cast<std::size_t>(old.component)] < end_of(old);
  if (ordered && !lanes_meet && !unfenced) return;
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
  if (lanes_meet) found("race", "lanes of a warp of " + who(a) + " meet in " + what + ": one " + verb + " what another " + (old.write ? "writes" : "reads") + ", and nothing orders them",
                        "call k.warp_sync() or k.sync() between the two");
  if (unfenced && !finding_)
    found("fence", "ordinary writes of " + what + " by " + who(other) + " reach this " + (now.product ? "product" : "copy") + " without a fence for the async proxy",
          "call k.fence_async() between the writes and what publishes them, or leave the fences to the compiler");
}

/// What a tile holds where its elements steer control flow; equal for all who read the same contents.
Val Machine::read_element(Actor& a, const Instr&, const Access& at) {
  if (at.guess || at.box.rows != 1 || at.box.columns != 1) return {};
  auto known = elements_.find({a.cta, at.tile, at.stage, at.box.row, at.box.column});
  if (known != elements_.end()) return known->second;
  return values_.atom({-5, a.cta, at.tile, at.stage, at.box.row, at.box.column, versions_[{a.cta, at.tile, at.stage}]});
}

void Machine::write_element(Actor& a, const Instr& i, const Access& at) {
  const int cta = at.component < static_cast<int>(actors_.size()) ? a.cta : a.cta;
  if (!at.guess && at.lanes && at.box.rows == 1 && at.box.columns == 1 && !i.in.empty() && !at.atomic && !i.number) {
    Val v = in(a, i);
    elements_[{cta, at.tile, at.stage, at.box.row, at.box.column}] = v.is(Val::varying) || v.is(Val::lanes) ? values_.lane0(v) : v;
    return;
  }
  ++versions_[{cta, at.tile, at.stage}];
  for (auto e = elements_.lower_bound({cta, at.tile, at.stage, INT64_MIN, INT64_MIN}); e != elements_.end() && e->first[0] == cta && e->first[1] == at.tile && e->first[2] == at.stage;)
    e = elements_.erase(e);
}

}  // namespace tilewright::verify::protocol
