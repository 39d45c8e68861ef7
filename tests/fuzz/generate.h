// Draws programs. Everything that a program does is defined and race-free by the way it is put together.
#pragma once
#include <functional>

#include "tests/fuzz/model.h"

namespace tilewright::fuzz {

/// A stream of numbers that is the same everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) { state_ = next() ^ seed; }  // so that neighbouring seeds share nothing
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  int below(int n) { return n <= 1 ? 0 : static_cast<int>(next() % static_cast<std::uint64_t>(n)); }
  int between(int low, int high) { return low + below(high - low + 1); }
  bool one_in(int n) { return below(n) == 0; }
  template <class T>
  const T& of(const std::vector<T>& all) { return all[below(static_cast<int>(all.size()))]; }
  int weighted(const std::vector<int>& weights);

 private:
  std::uint64_t state_;
};

/// A fragment, and what its elements are at most.
struct Known {
  int id;
  Type type;
  double bound;
  int phase;
  bool used = false;
};

/// Draws the statements of one role.
class RoleWriter {
 public:
  RoleWriter(Random& random, Program& p, int role, int& next_id, std::vector<double>& tile_bounds)
      : random_(random), p_(p), index_(role), warps_(p.roles[role].warps), next_id_(next_id), tile_bounds_(tile_bounds) {}
  void write();

 private:
  void phase(int which, int statements);
  bool draw();
  Statement& add(const std::string& op);
  Known& made(Statement& s, const Type& type, double bound);
  Known* pick(const std::function<bool(const Known&)>& wanted);
  /// Tiles that the role may read now.
  std::vector<int> readable() const;
  bool multiplied(int tile) const;
  bool can_multiply(int tile) const;
  int own_tile(const std::string& element, int rows, int cols);

  std::string expression(int depth, const std::vector<double>& inputs, double& bound);
  std::string bounded_expression(const std::vector<double>& inputs, double most, double& bound);
  std::string integer_expression(int depth);

  bool fill();
  bool load_global();
  bool load();
  bool map();
  bool update();
  bool cast();
  bool reduce();
  bool scan();
  bool gemm();
  bool mma();
  /// How a product of the warpgroups (gemm) differs from one of a warp (mma): orientations, and where views begin.
  struct ProductRules {
    bool warpgroup, transposed_b, transposed_a;
    int row_step, column_step;
  };
  bool product(const std::vector<int>& tiles, int b_tile, const ProductRules& rules);
  bool put();
  bool tile_out();
  bool fill_tile();
  bool dump_tile();
  bool tally();
  bool scalar();
  bool atomic();
  void store(Known& k);
  void fill_made_tiles();
  struct View { int tile, row, col; };
  bool view_for(int rows, int cols, bool of_warp, bool transposed, const std::string& element, View& v);

  Random& random_;
  Program& p_;
  int index_, warps_;
  int& next_id_;
  std::vector<double>& tile_bounds_;
  std::vector<Known> known_;
  std::vector<int> own_, written_;  // tiles of this role; those that have been written from the first statement on
  int phase_ = kBefore;
};

}  // namespace tilewright::fuzz
