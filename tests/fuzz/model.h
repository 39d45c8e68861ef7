// A random program as data: what the generator draws, the emitter turns into calls of the DSL and into text, and the reducer shrinks.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace tilewright::fuzz {

/// A fragment's type. A matrix has the role's rows (16 a warp), or, with `warp`, 16 rows of each warp alone.
struct Type {
  std::string element = "f32";
  int kind = 0;          // 0 a matrix, 1 a vector [1, cols], 2 a vector [rows, 1]
  int cols = 8;
  bool warp = false;
  bool varies = false;   // a vector [1, cols] that differs from warp to warp
  friend bool operator==(const Type&, const Type&) = default;
};

/// When a statement runs: before the loop over the rings' stages, in it, or behind it.
enum Phase : int { kBefore = 0, kLoop = 1, kAfter = 2 };

/// One statement; what its fields mean depends on `op` (see emit_*.cpp).
struct Statement {
  int id = 0;              // names what it makes: fragment "v<id>", tensors "x<id>", "y<id>"
  std::string op;
  int phase = kLoop;
  bool makes = false;      // a fragment of type `type`
  Type type;
  std::vector<int> in;     // ids of fragments
  std::vector<int> tiles;  // indices of Program::tiles
  std::vector<int> n;
  std::string text;        // an expression, or the kind of a reduction
};

struct Role {
  int warps = 1;
  bool single = false;
  int turns = 1, turn = 0;  // of every `turns` stages this role works on one, and only releases the others
  bool meets = false;       // at the beginning of each trip, all other roles that do
  std::vector<Statement> body;
};

struct Ring {
  int stages = 1;
  int producer = 0;
  std::vector<int> consumers;
  bool late = false;     // consumers wait where they first use a tile
  bool by_hand = false;  // one stage of tiles that two barriers guard
};

/// A tile of a ring, or (ring -1) of one role.
struct Tile {
  std::string element = "bf16";
  int rows = 8, cols = 8, pad = 0, ring = -1, role = 0;
  bool deferred = false;   // its readers fence
  std::string fill;        // of a ring's tile: tma, ragged, slots, bulk, async or made
  std::vector<int> n;      // tensor's rows and columns, the box's origin
};

struct Program {
  std::uint64_t seed = 0;
  int grid = 1, items = 1;   // CTAs, and what they work on; more items than CTAs make the kernel persistent
  int trips = 1;             // stages that each item takes from every ring
  int trip_form = 0;         // 0 a constant, 1 known at launch, 2 another number for each item, 3 nested loops
  bool tickets = false;      // the items are drawn from a counter and handed through a ring
  std::vector<Role> roles;
  std::vector<Ring> rings;
  std::vector<Tile> tiles;
  std::string rejection;     // the compiler must refuse the program with this in its message
  bool waived = false;       // the verifier need not follow all of its rounds
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Type, element, kind, cols, warp, varies)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Statement, id, op, phase, makes, type, in, tiles, n, text)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Role, warps, single, turns, turn, meets, body)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Ring, stages, producer, consumers, late, by_hand)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Tile, element, rows, cols, pad, ring, role, deferred, fill, n)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Program, seed, grid, items, trips, trip_form, tickets, roles, rings, tiles, rejection, waived)

/// Rows of a fragment in a role of so many warps.
inline int rows_of(const Type& t, int warps) { return t.kind == 1 ? 1 : t.warp ? 16 : 16 * warps; }
inline int cols_of(const Type& t) { return t.kind == 2 ? 1 : t.cols; }
inline int bytes_of(const std::string& element) { return element == "i64" ? 8 : element == "f32" || element == "i32" ? 4 : 2; }
/// The most trips that an item has.
inline int most_trips(const Program& p) {
  const int n = p.trip_form == 2 ? p.trips + 1 : p.trip_form == 3 ? 2 * p.trips : p.trips;
  return n < 1 ? 1 : n;
}

/// The program with this seed.
Program generate(std::uint64_t seed);
/// Statements by what they do, for the count of what has been covered.
std::vector<std::string> features(const Program& program);

}  // namespace tilewright::fuzz
