// What the evaluator keeps of a CTA and its roles.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "compiler/evaluate/evaluate.h"
#include "dialect/tile/Tile.h"
#include "mlir/IR/BuiltinOps.h"

namespace tilewright::evaluate {

/// A scalar: one word for all threads of the role, or one for each. Truth values are 0, 1, or 2 where it cannot be known.
using Lanes = std::vector<Word>;
constexpr std::int64_t kUnknown = 2;
inline const Word& lane(const Lanes& x, std::size_t i) { return x.size() == 1 ? x[0] : x[i]; }

[[noreturn]] void undefined(mlir::Operation* op, const std::string& what);
std::string name_of(mlir::Type element);
Word never_written(mlir::Type element);
/// The value as an element of this type holds it.
Word stored(Word value, mlir::Type element);

/// A scalar operation (arith, and the tile dialect's functions of numbers) on `count` lanes; false where the op is none.
using Get = std::function<const Lanes&(mlir::Value)>;
bool compute(mlir::Operation* op, const Get& get, Lanes& out);

struct Tile {
  mlir::Type element;
  std::int64_t rows, cols;
  std::vector<Word> values;  // stage, row, column
};

/// A stage or view of a tile; its origin may differ from warp to warp.
struct Place {
  Tile* tile;
  Lanes stage, row, col;
  std::int64_t rows, cols;
};

/// A fragment: for each warp its 16 rows, or 1 (a vector along the columns, which each warp has for itself).
struct Fragment {
  mlir::Type element;
  int warps, rows, cols;  // of one warp
  bool warp_scope;        // rows count within the warp
  std::vector<Word> values;
};
struct Part {
  Fragment* fragment;
  int first, cols;
  Word& at(int warp, int row, int col) const {
    const Fragment& f = *fragment;
    return fragment->values[(static_cast<std::size_t>(warp) * f.rows + (f.rows == 1 ? 0 : row)) * f.cols + (f.cols == 1 ? 0 : first + col)];
  }
  /// Row of the whole fragment.
  std::int64_t row(int warp, int r) const { return fragment->rows == 1 ? 0 : fragment->warp_scope ? r : 16 * warp + r; }
};

struct RingState {
  std::int64_t stages = 0, bytes = 0, acquired = 0;
  bool commits = false;
  std::vector<std::int64_t> landed;
  std::vector<bool> committed;
  std::map<std::string, std::int64_t> waited;
  std::map<std::string, std::vector<std::int64_t>> released;
};
struct BarrierState {
  std::map<std::string, std::int64_t> arrived, waited;
};

struct Cta {
  tile::KernelOp kernel;
  Arguments* arguments;
  std::array<std::int64_t, 3> index;
  std::deque<Tile> tiles;
  llvm::DenseMap<mlir::Value, Place> places;
  llvm::DenseMap<mlir::Value, Lanes> scalars;
  llvm::DenseMap<mlir::Value, RingState> rings;
  llvm::DenseMap<mlir::Value, BarrierState> barriers;
  std::map<std::string, std::map<std::string, std::int64_t>> meetings;

  Tensor& tensor(mlir::Value argument);
  void declare(mlir::Operation& op);
};

/// A loop, branch or body that is being run.
struct Frame {
  mlir::Block* block;
  mlir::Block::iterator at;
  mlir::Operation* owner;
  std::vector<std::uint8_t> mask;  // threads that run it
  Lanes index, to, step;           // of a for loop
};

class Role {
 public:
  Role(Cta& cta, tile::RoleOp op);
  /// Goes on until the role ends or must wait. False where it could not do anything.
  bool run();
  bool finished() const { return frames_.empty(); }
  /// What the role waits for.
  std::string position();

 private:
  bool step();             // false: must wait
  void leave();            // the end of a block
  bool execute(mlir::Operation& op);
  bool synchronise(mlir::Operation& op, bool& done);
  bool control(mlir::Operation& op);
  bool element_access(mlir::Operation& op);
  bool copy(mlir::Operation& op);
  bool fragments(mlir::Operation& op);

  // scalars
  const Lanes& get(mlir::Value v);
  void set(mlir::Value v, Lanes x) { scalars_[v] = std::move(x); }
  bool active(int thread) const { return frames_.back().mask[thread]; }
  std::vector<int> active_threads() const;
  /// Warps that run this; all lanes or none.
  std::vector<int> active_warps(mlir::Operation& op) const;
  void whole_role(mlir::Operation& op) const;
  /// The value that all lanes of the warp hold; of the role.
  Word of_warp(mlir::Operation& op, const Lanes& x, int warp) const;
  Word of_role(mlir::Operation& op, const Lanes& x) const;
  bool truth(mlir::Operation& op, const Word& w) const;

  // memory
  const Place& place(mlir::Value v);
  Word& element(mlir::Operation& op, const Place& p, std::int64_t stage, std::int64_t row, std::int64_t col);
  Word& tile_element(mlir::Operation& op, const Place& p, int warp, std::int64_t row, std::int64_t col);
  Word& tensor_element(mlir::Operation& op, mlir::Value tensor, const std::vector<std::int64_t>& at);
  Word& accessed(mlir::Operation& op, mlir::Value where, mlir::ValueRange coords, int thread);
  void box(mlir::Operation& op, mlir::Value tensor, mlir::ValueRange coords, mlir::ValueRange ragged, llvm::ArrayRef<std::int64_t> extents, mlir::Value tile, int thread,
           bool store, bool add);
  void bulk(mlir::Operation& op, mlir::Value tensor, mlir::ValueRange coords, mlir::Value tile, int thread, bool store);
  void landed(mlir::Value ring, mlir::Value stage, mlir::Value tile);

  // fragments
  Part part(mlir::Value v) { return parts_.lookup(v); }
  void map(tile::MapOp op);
  void move(mlir::Operation& op, mlir::Value frag, mlir::Value tile, bool transposed, bool store);
  void move_global(mlir::Operation& op, mlir::Value frag, mlir::Value tensor, mlir::ValueRange coords, unsigned row_axis, unsigned col_axis, bool store);
  void reduce(tile::ReduceOp op);
  void scan(tile::ScanOp op);
  void product(mlir::Operation& op, mlir::Value acc, mlir::Value a, bool trans_a, mlir::Value b, bool trans_b, bool zero, mlir::Value accumulate);

  Cta& cta_;
  tile::RoleOp op_;
  int threads_, warps_;
  llvm::DenseMap<mlir::Value, Lanes> scalars_, vars_;
  llvm::DenseMap<mlir::Value, Place> places_;
  llvm::DenseMap<mlir::Value, Part> parts_;
  std::deque<Fragment> fragments_;
  std::vector<Frame> frames_;
  std::int64_t steps_ = 0;
};

}  // namespace tilewright::evaluate
