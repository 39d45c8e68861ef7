// From the model to the calls of the DSL and, beside them, the C++ text that makes the same calls.
#pragma once
#include <string>
#include <vector>

#include "compiler/evaluate/evaluate.h"
#include "tests/fuzz/model.h"
#include "tilewright/dsl.h"

namespace tilewright::fuzz {

/// A tensor of the launch. Inputs and tensors that are added to begin with small integers, outputs unwritten.
struct Argument {
  std::string name, element, role;  // in, out, inout
  std::vector<std::int64_t> shape;
};

struct Emitted {
  tilewright::Program program;
  std::vector<Argument> tensors;
  std::string text;  // a standalone function that builds the same program
};

/// Throws CompileError where the DSL refuses a statement; `text` then holds what came before it.
Emitted emit(const Program& program, std::string* text = nullptr);

/// A fragment of the role being emitted.
struct Value {
  dsl::Id id = -1;
  Type type;
  Shape2 shape{0, 0};
  std::string name;
};

class Emitter {
 public:
  Emitter(const Program& p, Kernel& k, dsl::Builder& b, std::string& text, std::vector<Argument>& tensors) : p_(p), k_(k), b_(b), text_(text), tensors_(tensors) {}
  void kernel();

 private:
  // emit.cpp
  void declare();
  void role(int index);
  void items(int index);
  void one_item(int index, Index item);
  void trips(int index, Index item);
  void one_trip(int index, Index item, Index i);
  void fetch_tickets();
  void load_stage(int ring, Index item, Index i);
  void acquire(int ring);
  void commit(int ring);
  void release(int ring);
  void statement(const Statement& s, Index item, Index i);
  void wait_for(int ring);  // where that is still to be done in this round
  void wait_for_tile(int tile);

  // emit_fragments.cpp
  void fragment_statement(const Statement& s, Index item, Index i);
  void map(const Statement& s, Index item, Index i);
  void product(const Statement& s, Index i);
  void sums(const Statement& s);
  void global(const Statement& s, Index item, Index i, bool store);
  void tile_move(const Statement& s, bool store);
  void tile_out(const Statement& s, Index item, Index i);
  void settle_before(const std::vector<int>& reads, const std::vector<int>& writes, const std::vector<int>& tiles);
  void settle_all();

  // emit_threads.cpp
  void thread_statement(const Statement& s, Index item, Index i);
  void tally(const Statement& s);  // the variable's declaration
  void tally_out(const Statement& s, Index item);

  // helpers
  void line(const std::string& s) { text_ += std::string(2 * depth_, ' ') + s + "\n"; }
  template <class F>
  void block(const std::string& begin, const std::string& end, F&& body) {
    line(begin);
    ++depth_;
    body();
    --depth_;
    line(end);
  }
  Value& value(int id) { return values_.at(id); }
  Value& make(const Statement& s);
  /// The tile in its current stage, and its name.
  dsl::Id tile_id(int t) { return p_.tiles[t].ring < 0 ? tile_ids_[t] : stage_ids_[t]; }
  std::string tile_name(int t) const;
  dsl::Id tensor(const std::string& name, const std::string& element, const std::vector<std::int64_t>& shape, const std::string& role);
  Index warp_rows() { return k_.warp() * 16; }

  struct Pending {
    dsl::Id batch;
    std::string name;
    std::vector<int> accumulators, operands, tiles;
    std::vector<int> shape;   // of the product: the accumulator's first column, columns, whether the operands are f32
  };

  const Program& p_;
  Kernel& k_;
  dsl::Builder& b_;
  std::string& text_;
  std::vector<Argument>& tensors_;
  int depth_ = 1, index_ = 0, batches_ = 0;
  std::vector<dsl::Id> tile_ids_, stage_ids_, ring_ids_;
  std::vector<dsl::Id> ring_stage_;
  std::map<int, Barrier> full_, empty_;   // of rings by hand
  std::map<int, Var<Index>> taken_;       // stages of them that this role has had
  std::vector<char> waited_;
  std::map<std::string, dsl::Id> tensor_ids_, scratch_ids_;
  std::vector<tilewright::Role> handles_;
  dsl::Id ticket_ring_ = -1, ticket_tile_ = -1;
  std::array<Index, 3> cta_;
  Index n_;
  std::map<int, Value> values_;
  std::map<int, dsl::Id> vars_;
  std::vector<Pending> pending_;
};

/// f(tag) for the element type with this name.
template <class F>
auto with_element(const std::string& element, F&& f) {
  if (element == "f32") return f(f32{});
  if (element == "bf16") return f(bf16{});
  if (element == "f16") return f(f16{});
  throw Error("fuzz: no fragment holds " + element);
}
template <class F>
auto with_any_element(const std::string& element, F&& f) {
  if (element == "i32") return f(i32{});
  return with_element(element, f);
}
inline Element element_of(const std::string& s) {
  return s == "f32" ? Element::f32 : s == "bf16" ? Element::bf16 : s == "f16" ? Element::f16 : s == "i32" ? Element::i32 : Element::i64;
}

}  // namespace tilewright::fuzz
