// Accesses to shared tiles that later ones are compared with.
#pragma once
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace tilewright::verify::protocol {

struct Instr;

struct Box {
  std::int64_t row = 0, column = 0, rows = 0, columns = 0;
  bool overlaps(const Box& o) const { return row < o.row + o.rows && o.row < row + rows && column < o.column + o.columns && o.column < column + columns; }
  bool contains(const Box& o) const {
    return row <= o.row && o.row + o.rows <= row + rows && column <= o.column && o.column + o.columns <= column + columns;
  }
  std::int64_t area() const { return rows * columns; }
  Box joined(const Box& o) const;
  bool operator==(const Box&) const = default;
};

/// Single elements, one a lane.
struct Elements {
  std::array<std::pair<int, int>, 32> of;      // (row, column)
  std::vector<std::pair<int, int>> sorted;     // of the lanes that are here
  Box box;                                     // around those
  std::uint64_t some_rows = 0, some_columns = 0;  // bit n: one of those whose number is n modulo 64

  /// Fills in what follows from `of`, with the lanes of `mask` (at least one).
  void sort(std::uint32_t mask);
};
/// Whether lanes of two accesses meet in one element.
bool elements_meet(const Elements& x, const Elements& y);

struct Access {
  const Instr* instr = nullptr;
  int actor = 0, component = 0;
  std::uint32_t begin = 0, end = 0;          // end 0: that of `group`
  std::uint32_t epoch = 0;                   // when the warp's lanes had last met
  std::int64_t group = -1;                   // batch of products or group of stores
  std::uint32_t mask = 0;
  int tile = 0, stage = 0;
  Box box;
  std::int64_t first_byte = 0, last_byte = 0;
  bool write = false, async = false, atomic = false, product = false, guess = false, shared = false, element = false;
  std::uint8_t spread = 0;                   // a Spread
  const Elements* lanes = nullptr;           // of an element
};
/// Whether different lanes of two accesses to overlapping places of a warp may meet.
bool other_lanes_meet(const Access& x, const Access& y);

/// Accesses that mostly need no look at each: what one component did to a part of a tile's stage, all reads or all writes.
struct Segment {
  int actor = 0, component = 0, tile = 0, stage = 0;
  bool write = false, async = false, product = false;
  std::uint32_t begin = 0, end = 0;          // latest of all
  std::uint32_t epoch = 0;                   // of the first
  std::int64_t group = -1;
  Box box;                                   // around all
  std::int64_t first_byte = 0, last_byte = 0;
  std::vector<Access> accesses;              // by instruction

  bool takes(const Access& a) const {
    return actor == a.actor && component == a.component && tile == a.tile && stage == a.stage && write == a.write && async == a.async && product == a.product;
  }
  void add(const Access& a);
  /// Drops what `gone` says.
  template <class F>
  void drop(F gone);

 private:
  void cover(const Access& a);
};

/// Of one stage, or of tiles that overlay each other.
struct History {
  std::vector<Segment> segments;
  std::size_t count = 0, limit = 32;
  bool written = false;

  /// Takes an access in, for those it makes needless: its own older ones in the same place, or, where it overwrites all of its place, any.
  void add(const Access& a);
  /// Drops accesses of which `gone` is true.
  template <class F>
  void drop(F gone);
};

template <class F>
void Segment::drop(F gone) {
  const std::size_t before = accesses.size();
  std::erase_if(accesses, gone);
  if (accesses.size() == before) return;
  begin = end = 0, group = -1;
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    if (i == 0) box = accesses[0].box, first_byte = accesses[0].first_byte, last_byte = accesses[0].last_byte;
    cover(accesses[i]);
  }
}

template <class F>
void History::drop(F gone) {
  for (Segment& s : segments) {
    count -= s.accesses.size();
    s.drop(gone);
    count += s.accesses.size();
  }
  std::erase_if(segments, [](const Segment& s) { return s.accesses.empty(); });
}

}  // namespace tilewright::verify::protocol
