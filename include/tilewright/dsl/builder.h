// The narrow waist under the DSL's handles: every handle calls one of these methods, which records one operation of the same
// name through tilewright_program_record. The library checks what the author gave.
#pragma once
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <new>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tilewright/error.h"
#include "tilewright/program.h"

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
using Id = std::int32_t;
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

/// One operation being put together: its name and, in the order in which the library reads them, what it takes.
class Call {
 public:
  explicit Call(const char* name) : name_(name) {}
  Call&& value(Id id) && { return values_.push_back(id), std::move(*this); }
  Call&& values(const Ids& ids) && { return values_.insert(values_.end(), ids.begin(), ids.end()), std::move(*this); }
  /// A list of values whose length the library must know.
  Call&& list(const Ids& ids) && { return integers_.push_back(std::int64_t(ids.size())), std::move(*this).values(ids); }
  template <class T>
  Call&& integer(T x) && { return integers_.push_back(static_cast<std::int64_t>(x)), std::move(*this); }
  Call&& integers(const Extents& xs) && { return integers_.insert(integers_.end(), xs.begin(), xs.end()), std::move(*this); }
  Call&& text(std::string_view s) && { return texts_.emplace_back(s), std::move(*this); }
  Call&& texts(const std::vector<std::string>& s) && { return texts_.insert(texts_.end(), s.begin(), s.end()), std::move(*this); }
  Call&& real(double x) && { return real_ = x, std::move(*this); }

 private:
  friend class Builder;
  const char* name_;
  Ids values_;
  Extents integers_;
  std::vector<std::string> texts_;
  double real_ = 0;
};

class Builder {
 public:
  Builder(std::string_view kernel_name, const Where& where) : where_(where) {
    const tilewright_status status =
        tilewright_program_create(std::string(kernel_name).c_str(), where.file_name(), where.line(), where.column(), &program_);
    if (status != TILEWRIGHT_OK) throw InternalError("a kernel could not be begun");
  }
  ~Builder() {
    if (owned_) tilewright_program_destroy(program_);
  }
  /// A builder of a program that somebody else owns.
  static std::shared_ptr<Builder> borrow(tilewright_program* program) {
    std::shared_ptr<Builder> b(new Builder);
    b->program_ = program;
    b->owned_ = false;
    return b;
  }
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  tilewright_program* program() const { return program_; }

  /// The place that errors of the next operations name.
  void at(const Where& where) { where_ = where; }

  // declarations
  Id dim(std::string_view name) { return one(Call("dim").text(name)); }
  Id scalar(std::string_view name, Element type) { return one(Call("scalar").text(name).integer(type)); }
  /// `shape` holds extent expressions as JSON text; `role` is in, out or inout.
  Id tensor(std::string_view name, Element type, const std::vector<std::string>& shape, std::string_view role, bool optional) {
    return one(Call("tensor").text(name).text(role).texts(shape).integer(type).integer(optional));
  }
  void grid(const std::vector<std::string>& extents) { none(Call("grid").texts(extents)); }
  void allow(std::string_view what) { none(Call("allow").text(what)); }
  Id shared(std::string_view name, Element type, std::int64_t rows, std::int64_t cols, int stages, int pad_bytes) {
    return one(Call("shared").text(name).integer(type).integer(rows).integer(cols).integer(stages).integer(pad_bytes));
  }
  void overlay(Id tile, Id under) { none(Call("overlay").value(tile).value(under)); }
  void ctas_per_sm(int count) { none(Call("ctas_per_sm").integer(count)); }
  Id ring(std::string_view name, int stages, std::string_view producer, const std::vector<std::string>& consumers, const Ids& tiles) {
    return one(Call("ring").text(name).text(producer).texts(consumers).integer(stages).values(tiles));
  }
  void role(std::string_view name, int warps, int registers, bool single_thread, const std::function<void()>& body) {
    none(Call("role_begin").text(name).integer(warps).integer(registers).integer(single_thread));
    warps_ = warps;
    body();
    end();
  }
  /// Warps of the role under construction.
  int warps() const { return warps_; }
  Id frag(std::string_view name, Element type, std::int64_t rows, std::int64_t cols) {
    return one(Call("frag").text(name).integer(type).integer(rows).integer(cols));
  }

  // scalars
  Id constant(std::int64_t value, Element type) { return one(Call("constant").integer(type).integer(value)); }
  Id constant(float value) { return one(Call("constant_real").real(value)); }
  Id arith(Arith op, Id a, Id b) { return one(Call("arith").integer(op).value(a).value(b)); }
  Id compare(Compare op, Id a, Id b) { return one(Call("compare").integer(op).value(a).value(b)); }
  Id logical(Arith op, Id a, Id b) { return arith(op, a, b); }
  Id invert(Id pred) { return one(Call("invert").value(pred)); }
  Id select(Id pred, Id a, Id b) { return one(Call("select").value(pred).value(a).value(b)); }
  Id unary(Unary op, Id a) { return one(Call("unary").integer(op).value(a)); }
  Id convert(Id a, Element to) { return one(Call("convert").integer(to).value(a)); }
  Id block_index(int dim) { return one(Call("block_index").integer(dim)); }
  Id thread() { return one(Call("thread")); }
  Id lane() { return one(Call("lane")); }
  Id warp() { return one(Call("warp")); }
  Id uniform(Id a) { return one(Call("uniform").value(a)); }
  Id shuffle(Id a, Id lane, std::string_view mode) { return one(Call("shuffle").text(mode).value(a).value(lane)); }
  Id var(Id init) { return one(Call("var").value(init)); }
  Id get(Id var) { return one(Call("get").value(var)); }
  void set(Id var, Id value) { none(Call("set").value(var).value(value)); }

  // control
  void for_loop(Id from, Id to, Id step, const std::function<void(Id)>& body) {
    const Id index = one(Call("for_begin").value(from).value(to).value(step));
    body(index);
    end();
  }
  void if_else(Id pred, const std::function<void()>& then, const std::function<void()>& otherwise) {
    none(Call("if_begin").value(pred).integer(static_cast<bool>(otherwise)));
    then();
    if (otherwise) {
      none(Call("else"));
      otherwise();
    }
    end();
  }

  // synchronisation
  Id acquire(Id ring) { return one(Call("acquire").value(ring)); }
  Id wait(Id ring) { return one(Call("wait").value(ring)); }
  void commit(Id ring, Id stage) { none(Call("commit").value(ring).value(stage)); }
  void release(Id ring, Id stage) { none(Call("release").value(ring).value(stage)); }
  void sync() { none(Call("sync")); }
  void warp_sync() { none(Call("warp_sync")); }
  void fence_async() { none(Call("fence_async")); }
  void grid_wait() { none(Call("grid_wait")); }
  void grid_launch() { none(Call("grid_launch")); }

  // tiles
  Id stage_of(Id tile, Id stage) { return one(Call("stage_of").value(tile).value(stage)); }
  Id view(Id tile, Id row, Id col, std::int64_t rows, std::int64_t cols) {
    return one(Call("view").value(tile).value(row).value(col).integer(rows).integer(cols));
  }
  void tma_load(const Box& from, Id tile, Id ring, Id stage) {
    none(box(Call("tma_load").value(tile).value(ring).value(stage), from));
  }
  void tma_store(Id tile, const Box& to) { none(box(Call("tma_store").value(tile), to)); }
  void store_wait(int pending, bool complete) { none(Call("store_wait").integer(pending).integer(complete)); }
  void load(Id tile, Id frag, bool transposed) { none(Call("load").value(tile).value(frag).integer(transposed)); }
  void store(Id frag, Id tile, bool transposed) { none(Call("store").value(frag).value(tile).integer(transposed)); }
  void load_global(Id tensor, const Ids& coords, Id frag, int row_axis, int col_axis) {
    none(Call("load_global").value(tensor).value(frag).integer(row_axis).integer(col_axis).list(coords));
  }
  void store_global(Id frag, Id tensor, const Ids& coords, int row_axis, int col_axis) {
    none(Call("store_global").value(frag).value(tensor).integer(row_axis).integer(col_axis).list(coords));
  }
  Id read(Id from, const Ids& coords) { return one(Call("read").value(from).list(coords)); }
  void write(Id value, Id to, const Ids& coords) { none(Call("write").value(value).value(to).list(coords)); }
  Id extent(Id tensor, int axis) { return one(Call("extent").value(tensor).integer(axis)); }
  Id is_present(Id tensor) { return one(Call("is_present").value(tensor)); }

  // computation
  /// accumulate: -1 none (always adds), else the predicate; zero ignores the old accumulator.
  void gemm(Id acc, Id a, bool trans_a, Id b, bool trans_b, bool zero, Id accumulate) {
    none(Call("gemm").value(acc).value(a).value(b).value(accumulate).integer(trans_a).integer(trans_b).integer(zero));
  }
  Id batch() { return one(Call("batch")); }
  void settle(Id batch) { none(Call("settle").value(batch)); }
  void settle_pending(int pending) { none(Call("settle_pending").integer(pending)); }
  void mma(Id acc, Id a, bool trans_a, Id b, bool trans_b) {
    none(Call("mma").value(acc).value(a).value(b).integer(trans_a).integer(trans_b));
  }
  /// The body gets row, column and the inputs' elements, and returns the outputs'.
  void map(const Ids& inputs, const Ids& outputs, const std::function<Ids(Id row, Id col, const Ids& values)>& body) {
    const Ids made = record(Call("map_begin").list(inputs).list(outputs), 2 + inputs.size());
    none(Call("map_end").values(body(made[0], made[1], Ids(made.begin() + 2, made.end()))));
  }
  /// Reports a map whose function takes another number of values than there are inputs.
  [[noreturn]] void wrong_map(std::size_t taken, std::size_t given) {
    none(Call("wrong_map").integer(taken).integer(given));
    throw InternalError("wrong_map was accepted");
  }
  void fill(Id frag, Id value) { none(Call("fill").value(frag).value(value)); }
  void reduce(Id input, Id output, std::string_view kind) { none(Call("reduce").value(input).value(output).text(kind)); }
  void scan(Id input, Id output, std::string_view kind, bool down, bool exclusive, bool reverse) {
    none(Call("scan").value(input).value(output).text(kind).integer(down).integer(exclusive).integer(reverse));
  }
  /// Columns of a fragment, from `column` on.
  Id frag_view(Id frag, std::int64_t column, std::int64_t columns) {
    return one(Call("frag_view").value(frag).integer(column).integer(columns));
  }
  /// sqrt, rsqrt, tanh, abs or floor of an fp32 number.
  Id math(std::string_view function, Id x) { return one(Call("math").text(function).value(x)); }
  /// An fp32 number rounded to what a bf16, f16 or tf32 number holds.
  Id round(Id x, std::string_view to) { return one(Call("round").text(to).value(x)); }
  /// Reports a mistake that the headers have found.
  [[noreturn]] void mistake(const std::string& message) {
    none(Call("mistake").text(message));
    throw InternalError("a mistake was accepted");
  }

  void stamp(std::string_view name) { none(Call("stamp").text(name)); }

  // CUDA C++
  /// `types` holds the result's element, then the arguments'.
  Id cuda_function(std::string_view text, std::string_view name, const std::vector<Element>& types) {
    Extents elements;
    for (Element t : types) elements.push_back(static_cast<std::int64_t>(t));
    return one(Call("cuda_function").text(text).text(name).integers(elements));
  }
  Id call(Id function, const Ids& values) { return one(Call("call").value(function).values(values)); }

  /// Records an operation that makes `results` values.
  Ids record(const Call& o, std::size_t results) {
    std::vector<const char*> texts;
    for (const std::string& s : o.texts_) texts.push_back(s.c_str());
    Ids made(results);
    tilewright_operation c{};
    c.size = sizeof c;
    c.name = o.name_;
    c.file = where_.file_name();
    c.line = where_.line();
    c.column = where_.column();
    c.values = o.values_.data();
    c.value_count = o.values_.size();
    c.integers = o.integers_.data();
    c.integer_count = o.integers_.size();
    c.texts = texts.data();
    c.text_count = texts.size();
    c.real = o.real_;
    c.results = made.data();
    c.result_count = made.size();
    const tilewright_status status = tilewright_program_record(program_, &c);
    if (status == TILEWRIGHT_OK) return made;
    const std::string message = tilewright_program_message(program_);
    if (status == TILEWRIGHT_COMPILE_FAILED) throw CompileError(message);
    if (status == TILEWRIGHT_UNSUPPORTED) throw Error(message);
    throw InternalError(message);
  }
  Id one(const Call& o) { return record(o, 1)[0]; }
  void none(const Call& o) { record(o, 0); }

 private:
  static Call&& box(Call&& o, const Box& box) {
    return std::move(o).value(box.tensor).list(box.coords).list(box.ragged).integers(box.extents);
  }
  /// Ends the innermost role, loop or branch.
  void end() { none(Call("end")); }

  Builder() = default;

  tilewright_program* program_ = nullptr;
  bool owned_ = true;
  Where where_;
  int warps_ = 0;
};

}  // namespace tilewright::dsl
