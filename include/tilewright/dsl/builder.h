// The narrow waist under the DSL's handles: every handle calls one of these functions, which check what the author
// gave and append one operation to the kernel. No MLIR type is visible here.
#pragma once
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tilewright/error.h"

namespace tilewright {

using Where = std::source_location;

/// A mistake in a kernel, reported at the author's file and line.
class CompileError : public Error {
 public:
  using Error::Error;
};

/// Element types of tensors, tiles and fragments.
enum class Element : std::uint8_t { f32, bf16, f16, i32, i64 };

}  // namespace tilewright

namespace tilewright::dsl {

/// A name, with the place where it was written.
struct Named {
  std::string_view text;
  Where where;
  template <class S>
    requires std::is_convertible_v<const S&, std::string_view>
  Named(const S& s, Where w = Where::current()) : text(s), where(w) {}
};

/// A value of the kernel under construction.
using Id = int;
using Ids = std::vector<Id>;
using Extents = std::vector<std::int64_t>;

enum class Arith : std::uint8_t { add, sub, mul, div, rem, min, max, and_, or_, xor_, shl, shr };
enum class Compare : std::uint8_t { eq, ne, lt, le, gt, ge };
enum class Unary : std::uint8_t { exp2, log2, rcp, neg };

/// A tensor's box: coordinates, extents and, for packed sequences, first row and number of rows.
struct Box {
  Id tensor;
  Ids coords;
  Extents extents;
  Ids ragged;
};

class Builder {
 public:
  Builder(std::string_view kernel_name, const Where& where);
  ~Builder();
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  struct Impl;
  Impl& impl() { return *impl_; }

  /// The place that errors of the next operations name.
  void at(const Where& where);

  // declarations
  Id dim(std::string_view name);
  Id scalar(std::string_view name, Element type);
  /// `shape` holds extent expressions as JSON text; `role` is in, out or inout.
  Id tensor(std::string_view name, Element type, const std::vector<std::string>& shape, std::string_view role, bool optional);
  void grid(const std::vector<std::string>& extents);
  void allow(std::string_view what);
  Id shared(std::string_view name, Element type, std::int64_t rows, std::int64_t cols, int stages, int pad_bytes);
  void overlay(Id tile, Id under);
  void ctas_per_sm(int count);
  Id ring(std::string_view name, int stages, std::string_view producer, const std::vector<std::string>& consumers, const Ids& tiles);
  void role(std::string_view name, int warps, int registers, bool single_thread, const std::function<void()>& body);
  Id frag(std::string_view name, Element type, std::int64_t rows, std::int64_t cols);

  // scalars
  Id constant(std::int64_t value, Element type);
  Id constant(float value);
  Id arith(Arith op, Id a, Id b);
  Id compare(Compare op, Id a, Id b);
  Id logical(Arith op, Id a, Id b);
  Id invert(Id pred);
  Id select(Id pred, Id a, Id b);
  Id unary(Unary op, Id a);
  Id convert(Id a, Element to);
  Id block_index(int dim);
  Id thread();
  Id lane();
  Id warp();
  Id uniform(Id a);
  Id shuffle(Id a, Id lane, std::string_view mode);
  Id var(Id init);
  Id get(Id var);
  void set(Id var, Id value);

  // control
  void for_loop(Id from, Id to, Id step, const std::function<void(Id)>& body);
  void if_else(Id pred, const std::function<void()>& then, const std::function<void()>& otherwise);

  // synchronisation
  Id acquire(Id ring);
  Id wait(Id ring);
  void commit(Id ring, Id stage);
  void release(Id ring, Id stage);
  void sync();
  void warp_sync();
  void fence_async();
  void grid_wait();
  void grid_launch();

  // tiles
  Id stage_of(Id tile, Id stage);
  Id view(Id tile, Id row, Id col, std::int64_t rows, std::int64_t cols);
  void tma_load(const Box& from, Id tile, Id ring, Id stage);
  void tma_store(Id tile, const Box& to);
  void store_wait(int pending, bool complete);
  void load(Id tile, Id frag, bool transposed);
  void store(Id frag, Id tile, bool transposed);
  void load_global(Id tensor, const Ids& coords, Id frag, int row_axis, int col_axis);
  void store_global(Id frag, Id tensor, const Ids& coords, int row_axis, int col_axis);
  Id read(Id from, const Ids& coords);
  void write(Id value, Id to, const Ids& coords);
  Id extent(Id tensor, int axis);
  Id is_present(Id tensor);

  // computation
  /// accumulate: -1 none (always adds), else the predicate; zero ignores the old accumulator.
  void gemm(Id acc, Id a, bool trans_a, Id b, bool trans_b, bool zero, Id accumulate);
  Id batch();
  void settle(Id batch);
  void settle_pending(int pending);
  void mma(Id acc, Id a, Id b);
  void map(const Ids& inputs, const Ids& outputs, const std::function<Ids(Id row, Id col, const Ids& values)>& body);
  /// Reports a map whose function takes another number of values than there are inputs.
  [[noreturn]] void wrong_map(std::size_t taken, std::size_t given);
  void fill(Id frag, Id value);
  void reduce(Id input, Id output, std::string_view kind);

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilewright::dsl
