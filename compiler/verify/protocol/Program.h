// A kernel as the abstract machine runs it: for each role the operations that synchronise or touch shared memory, the control flow
// around them, and the scalars that both need. All else is left out.
#pragma once
#include <string>
#include <vector>

#include "compiler/verify/Launch.h"
#include "compiler/verify/protocol/Values.h"

namespace tilewright::verify::protocol {

/// Which part of a tile's place a warp touches.
enum class Footprint : std::uint8_t {
  whole,      ///< all of it, in every warp
  shared,     ///< all of it, each element by the same thread in every execution (copies shared among the threads)
  rows,       ///< 16 rows a warp
  columns,    ///< 16 columns a warp
  group,      ///< 64 rows a warpgroup
  group_columns,
  element,    ///< one element a lane
};

/// Which lane of its warp touches an element: one whose row and column, in the view, are the same modulo 8 (dialect/layout: fragments).
enum class Spread : std::uint8_t { other, fragment, transposed };

/// A tile, stage and view.
struct Place {
  int tile = -1;
  int stage = -1;                        // scalar
  std::int64_t row = 0, column = 0;      // known part of the origin
  std::vector<int> rows, columns;        // scalars to be added to it
  int height = 0, width = 0;
};

/// What an operation does to a tile.
struct TileUse {
  Place place;
  Footprint footprint = Footprint::whole;
  Spread spread = Spread::other;
  bool write = false, async = false, atomic = false;
  int row = -1, column = -1;             // of an element: scalars
};

enum class Code : std::uint8_t {
  constant, atom, arith, select, copy, uniform, thread, lane, warp, rank, get, set, read_tensor, fresh,  // scalars
  loop, next, branch, otherwise, join, repeat, test, again, end,                                               // control
  acquire, wait, commit, release, arrive, wait_for, sync, warp_sync, meet, cluster_arrive, cluster_wait,
  load_bytes, copy_async, store_bytes, store_wait, gemm, batch, settle, settle_pending,
  fence_async, fence, access, opaque,
};

struct Instr {
  Code code = Code::end;
  Op op = Op::add;
  int result = -1;
  std::vector<int> in;             // scalars
  int target = -1;                 // of jumps; ring, barrier or tensor of an effect
  std::int64_t number = 0;         // constants, keys, pending groups
  std::int64_t many = 0;           // trips that reach the steady state
  mlir::Operation* at = nullptr;
  std::vector<TileUse> uses;
  int again = -1;                  // a branch that is taken where the loop that begins there goes round again
  bool quiet = false;              // a branch that only touches memory: not to take it leaves accesses out
  bool acquires = false, releases = false, polls = false, flag = false;  // strong accesses of tensors: in a loop's condition; of a tensor that is polled
  bool strong_load = false, exchange = false, ordinary_write = false;    // what an access is
};

struct Tile {
  tile::SharedOp op;
  std::string name;
  int rows = 0, columns = 0, stages = 1, element_bytes = 0;
  int memory = 0;                  // of stage 0; the stages of an overlaid tile share one
  bool overlaid = false;
  std::int64_t offset = 0, stride = 0, row_bytes = 0;
  bool row_major = true;
  int ring = -1;                   // that hands it over
  bool control = false;            // its elements steer control flow
  bool fenced = false;             // a product or copy may meet its ordinary writes
};

struct RingInfo {
  tile::RingOp op;
  std::string name;
  int stages = 0, full_arrivals = 0, empty_arrivals = 0, ctas = 1;
  std::int64_t bytes = 0;
  bool committed = false;
};
struct BarrierInfo {
  tile::BarrierOp op;
  std::string name;
  int arrivals = 0;
  bool cluster = false;
};
struct RoleCode {
  tile::RoleOp op;
  std::string name;
  RolePlace place;
  std::vector<Instr> code;
};

struct Program {
  tile::KernelOp kernel;
  LaunchPlan launch;
  std::vector<Tile> tiles;
  std::vector<RingInfo> rings;
  std::vector<BarrierInfo> barriers;
  std::vector<std::vector<std::string>> meetings;
  std::vector<RoleCode> roles;
  int scalars = 0, memories = 0;
  /// Tensors with ordinary writes that TMA reads, or that flags publish: index of the argument.
  llvm::DenseMap<mlir::Value, int> tensors;
  bool flags = false;
};

/// Needs: verified structure, placed tiles.
Program compile(tile::KernelOp kernel);

/// Fill in the tables of the program.
void describe_tiles(Program& program, const llvm::DenseSet<mlir::Value>& control_tiles);
void describe_rings(Program& program);

/// The uses of shared tiles by an operation, without the scalars of their places.
struct RawUse {
  mlir::Value tile;
  Footprint footprint;
  bool write, async, atomic = false;
  mlir::ValueRange coords = {};
  Spread spread = Spread::other;
};
llvm::SmallVector<RawUse, 4> tile_uses(mlir::Operation* op, int warps);

/// What of a kernel steers its protocol.
struct Slice {
  llvm::DenseSet<mlir::Operation*> relevant;  // effects, control flow around them, sets of mutable scalars that are needed
  llvm::DenseSet<mlir::Value> needed;         // scalars
  llvm::DenseSet<mlir::Value> control_tiles;
};
Slice slice(tile::KernelOp kernel, const llvm::DenseMap<mlir::Value, int>& tensors, bool flags);
/// Tensors that need watching, see Program.
llvm::DenseMap<mlir::Value, int> watched_tensors(tile::KernelOp kernel, bool flags);
bool has_flags(tile::KernelOp kernel);

}  // namespace tilewright::verify::protocol
