// Scalars of an abstract run: numbers, linear forms over what is known only at launch, and values that differ between lanes.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "compiler/verify/protocol/Choices.h"
#include "llvm/ADT/DenseMap.h"

namespace tilewright::verify::protocol {

/// A scalar as one warp sees it. `form`: index of a linear form; `lanes`: index of 32 numbers; `varying`: other values in other lanes,
/// of which, with x >= 0, lane 0's may be known, and what they are computed from.
struct Val {
  enum Kind : std::uint8_t { number, form, lanes, varying } kind = varying;
  std::int64_t x = -1;
  static Val of(std::int64_t n) { return {number, n}; }
  bool is(Kind k) const { return kind == k; }
  bool operator==(const Val&) const = default;
};

enum class Op : std::uint8_t { add, sub, mul, div, rem, min, max, and_, or_, xor_, shl, shr, eq, ne, lt, le, gt, ge, ult, ule, ugt, uge, select };

using Lanes = std::array<std::int64_t, 32>;

/// Atoms stand for values that the compiler does not know (a parameter, what a load gives) or that follow from such by an operation
/// that is not linear. Equal keys are equal values: that is what makes the roles agree on a trip count. An atom gets a number when
/// control flow asks for it.
class Values {
 public:
  explicit Values(Choices& choices) : choices_(choices) {}
  /// Forgets everything but what numbers lanes have; the choices' next run begins.
  void reset();

  static Val number(std::int64_t n) { return Val::of(n); }
  Val lanes(const Lanes& l);
  const Lanes& lanes_of(Val v) const { return lanes_[static_cast<std::size_t>(v.x)]; }
  /// A varying scalar; with a key, equal to those of the same key.
  Val varying(Val lane0, const std::vector<std::int64_t>& key = {});
  Val lane0(Val v) const;
  /// Lane 0's value, for all lanes.
  Val uniform(Val v);
  /// The atom of a key; `truth` says that it is 0 or 1.
  Val atom(const std::vector<std::int64_t>& key, bool truth = false);
  Val fresh(bool truth = false) { return atom({-1, ++fresh_}, truth); }
  /// A part of a key that names the scalar; empty where nothing tells what it is.
  std::optional<std::array<std::int64_t, 2>> key_of(Val v);
  Val apply(Op op, Val a, Val b);
  Val select(Val p, Val a, Val b);
  /// A number for a scalar that is the same in all lanes, chosen where nothing decides it.
  std::optional<std::int64_t> force(Val v, Context context);
  /// What has been given numbers so far; and back to that.
  struct Mark {
    std::size_t atoms, sums;
    bool operator==(const Mark&) const = default;
  };
  Mark mark() const { return {assigned_.size(), assigned_sums_.size()}; }
  void rollback(Mark to);
  /// The truth of a condition; where it is open, `wanted` if that is possible.
  std::optional<bool> decide(Val v, Context context, bool wanted);
  /// The lanes' numbers; none where they are not known.
  std::optional<Lanes> force_lanes(Val v, Context context);

 private:
  struct Form {
    std::int64_t constant = 0;
    std::vector<std::pair<int, std::int64_t>> terms;  // atom, coefficient; by atom
    bool operator<(const Form& o) const { return std::tie(constant, terms) < std::tie(o.constant, o.terms); }
  };
  struct Atom {
    bool derived = false, truth = false;
    Op op = Op::add;
    std::array<Val, 3> operands;
    std::optional<std::int64_t> value;
    int choice = -1;
  };
  Form form_of(Val v) const;
  Val of(Form f);
  Val combine(Val a, Val b, std::int64_t factor);
  Val derived(Op op, Val a, Val b, Val c = Val{Val::number, 0});
  std::int64_t force_form(const Form& f, Context& context);
  std::int64_t force_atom(int atom, Context& context);

  Choices& choices_;
  std::vector<Form> forms_;
  std::map<Form, std::int64_t> form_numbers_;
  std::vector<Atom> atoms_;
  std::map<std::vector<std::int64_t>, int> atom_numbers_;
  /// What sums of several atoms were given, and by which choice. A sum keeps its number when its atoms get theirs.
  std::map<std::vector<std::pair<int, std::int64_t>>, std::pair<std::int64_t, int>> sums_;
  struct Varying {
    Val lane0;
    std::int64_t key = -1;
    bool made = false;  // by `op` from two scalars
    Op op = Op::add;
    Val a, b;
  };
  std::vector<Lanes> lanes_;
  std::map<Lanes, std::int64_t> lane_numbers_;
  llvm::DenseMap<std::tuple<unsigned, std::int64_t, std::int64_t>, Val> lane_results_;  // by operation and kinds, operands
  std::vector<Varying> varying_;
  std::map<std::vector<std::int64_t>, std::int64_t> keys_;
  std::vector<int> assigned_;  // atoms, in order
  std::vector<std::vector<std::pair<int, std::int64_t>>> assigned_sums_;
  std::int64_t fresh_ = 0;
};

}  // namespace tilewright::verify::protocol
