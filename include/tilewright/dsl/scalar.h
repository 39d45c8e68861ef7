// Run-time scalars: Index (i32), Real (f32), Pred (i1) and Long (i64). They have no conversion to C++ bool or numbers: a
// run-time value in a C++ `if` does not compile; use if_, select and for_.
#pragma once
#include <concepts>
#include <type_traits>

#include "tilewright/dsl/builder.h"

namespace tilewright {

namespace dsl {

struct Value {
  Builder* builder = nullptr;
  Id id = -1;
};

}  // namespace dsl

/// Run-time 32-bit integer.
struct Index : dsl::Value {};
/// Run-time fp32 number.
struct Real : dsl::Value {};
/// Run-time truth value.
struct Pred : dsl::Value {
  explicit operator bool() const = delete;  // known at run time: if_(p, ...), select(p, a, b) or k.while_, not a C++ if, ?: or while
};
/// Run-time 64-bit integer (tensor elements of type i64).
struct Long : dsl::Value {
  Index index(Where where = Where::current()) const {
    builder->at(where);
    return {{builder, builder->convert(id, Element::i32)}};
  }
};

namespace dsl {

/// The right operand of an operator: a run-time value or a constant, with the place where it was written.
template <class T, class Constant>
struct Operand {
  Builder* builder;
  Id id;
  Constant constant{};
  Where where;
  Operand(T v, Where w = Where::current()) : builder(v.builder), id(v.id), where(w) {}
  Operand(Constant c, Where w = Where::current()) : builder(nullptr), id(-1), constant(c), where(w) {}
  /// What converts to a run-time value (a Dim is an Index).
  template <class U>
    requires(!std::is_same_v<U, T> && !std::is_arithmetic_v<U> && std::is_convertible_v<const U&, T>)
  Operand(const U& u, Where w = Where::current()) : Operand(static_cast<T>(u), w) {}
  Id in(Builder& b) const {
    b.at(where);
    if (id >= 0) return id;
    if constexpr (std::is_same_v<T, Index>) return b.constant(static_cast<std::int64_t>(constant), Element::i32);
    else if constexpr (std::is_same_v<T, Long>) return b.constant(static_cast<std::int64_t>(constant), Element::i64);
    else return b.constant(static_cast<float>(constant));
  }
};

template <class R, class L, class O>
R binary(Arith op, L a, const O& b) {
  Id right = b.in(*a.builder);
  return R{{a.builder, a.builder->arith(op, a.id, right)}};
}
template <class L, class O>
Pred comparison(Compare op, L a, const O& b) {
  Id right = b.in(*a.builder);
  return Pred{{a.builder, a.builder->compare(op, a.id, right)}};
}

}  // namespace dsl

using IndexOperand = dsl::Operand<Index, int>;
using RealOperand = dsl::Operand<Real, double>;
using LongOperand = dsl::Operand<Long, std::int64_t>;

inline Index operator+(Index a, IndexOperand b) { return dsl::binary<Index>(dsl::Arith::add, a, b); }
inline Index operator-(Index a, IndexOperand b) { return dsl::binary<Index>(dsl::Arith::sub, a, b); }
inline Index operator*(Index a, IndexOperand b) { return dsl::binary<Index>(dsl::Arith::mul, a, b); }
inline Index operator/(Index a, IndexOperand b) { return dsl::binary<Index>(dsl::Arith::div, a, b); }
inline Index operator%(Index a, IndexOperand b) { return dsl::binary<Index>(dsl::Arith::rem, a, b); }
inline Index operator&(Index a, IndexOperand b) { return dsl::binary<Index>(dsl::Arith::and_, a, b); }
inline Index operator|(Index a, IndexOperand b) { return dsl::binary<Index>(dsl::Arith::or_, a, b); }
inline Index operator^(Index a, IndexOperand b) { return dsl::binary<Index>(dsl::Arith::xor_, a, b); }
inline Index operator<<(Index a, IndexOperand b) { return dsl::binary<Index>(dsl::Arith::shl, a, b); }
inline Index operator>>(Index a, IndexOperand b) { return dsl::binary<Index>(dsl::Arith::shr, a, b); }
inline Index min(Index a, IndexOperand b) { return dsl::binary<Index>(dsl::Arith::min, a, b); }
inline Index max(Index a, IndexOperand b) { return dsl::binary<Index>(dsl::Arith::max, a, b); }
inline Pred operator==(Index a, IndexOperand b) { return dsl::comparison(dsl::Compare::eq, a, b); }
// Two run-time values: exact, so that the reversed forms of the operators above are no rivals.
inline Pred operator==(Index a, Index b) { return {{a.builder, a.builder->compare(dsl::Compare::eq, a.id, b.id)}}; }
inline Pred operator!=(Index a, Index b) { return {{a.builder, a.builder->compare(dsl::Compare::ne, a.id, b.id)}}; }
inline Pred operator!=(Index a, IndexOperand b) { return dsl::comparison(dsl::Compare::ne, a, b); }
inline Pred operator<(Index a, IndexOperand b) { return dsl::comparison(dsl::Compare::lt, a, b); }
inline Pred operator<=(Index a, IndexOperand b) { return dsl::comparison(dsl::Compare::le, a, b); }
inline Pred operator>(Index a, IndexOperand b) { return dsl::comparison(dsl::Compare::gt, a, b); }
inline Pred operator>=(Index a, IndexOperand b) { return dsl::comparison(dsl::Compare::ge, a, b); }

inline Real operator+(Real a, RealOperand b) { return dsl::binary<Real>(dsl::Arith::add, a, b); }
inline Real operator-(Real a, RealOperand b) { return dsl::binary<Real>(dsl::Arith::sub, a, b); }
inline Real operator*(Real a, RealOperand b) { return dsl::binary<Real>(dsl::Arith::mul, a, b); }
inline Real operator/(Real a, RealOperand b) { return dsl::binary<Real>(dsl::Arith::div, a, b); }
inline Real min(Real a, RealOperand b) { return dsl::binary<Real>(dsl::Arith::min, a, b); }
inline Real max(Real a, RealOperand b) { return dsl::binary<Real>(dsl::Arith::max, a, b); }
inline Pred operator<(Real a, RealOperand b) { return dsl::comparison(dsl::Compare::lt, a, b); }
inline Pred operator>(Real a, RealOperand b) { return dsl::comparison(dsl::Compare::gt, a, b); }
inline Pred operator<=(Real a, RealOperand b) { return dsl::comparison(dsl::Compare::le, a, b); }
inline Pred operator>=(Real a, RealOperand b) { return dsl::comparison(dsl::Compare::ge, a, b); }
inline Pred operator==(Real a, RealOperand b) { return dsl::comparison(dsl::Compare::eq, a, b); }
inline Pred operator==(Real a, Real b) { return {{a.builder, a.builder->compare(dsl::Compare::eq, a.id, b.id)}}; }
inline Pred operator!=(Real a, Real b) { return {{a.builder, a.builder->compare(dsl::Compare::ne, a.id, b.id)}}; }
inline Pred operator!=(Real a, RealOperand b) { return dsl::comparison(dsl::Compare::ne, a, b); }

// Constants on the left. The types are exact, so that a Dim, which converts to Index, stays an extent.
template <class N, std::same_as<Index> I>
  requires std::is_integral_v<N>
Index operator+(N a, I b) { return b + static_cast<int>(a); }
template <class N, std::same_as<Index> I>
  requires std::is_integral_v<N>
Index operator*(N a, I b) { return b * static_cast<int>(a); }
template <class N, std::same_as<Index> I>
  requires std::is_integral_v<N>
Index operator-(N a, I b) { return dsl::binary<Index>(dsl::Arith::sub, Index{{b.builder, b.builder->constant(static_cast<std::int64_t>(a), Element::i32)}}, IndexOperand(b)); }
template <class N, std::same_as<Real> R>
  requires std::is_arithmetic_v<N>
Real operator+(N a, R b) { return b + static_cast<double>(a); }
template <class N, std::same_as<Real> R>
  requires std::is_arithmetic_v<N>
Real operator*(N a, R b) { return b * static_cast<double>(a); }
template <class N, std::same_as<Real> R>
  requires std::is_arithmetic_v<N>
Real operator-(N a, R b) { return dsl::binary<Real>(dsl::Arith::sub, Real{{b.builder, b.builder->constant(static_cast<float>(a))}}, RealOperand(b)); }
template <class N, std::same_as<Real> R>
  requires std::is_arithmetic_v<N>
Real operator/(N a, R b) { return dsl::binary<Real>(dsl::Arith::div, Real{{b.builder, b.builder->constant(static_cast<float>(a))}}, RealOperand(b)); }

inline Long operator+(Long a, LongOperand b) { return dsl::binary<Long>(dsl::Arith::add, a, b); }
inline Long operator-(Long a, LongOperand b) { return dsl::binary<Long>(dsl::Arith::sub, a, b); }
inline Long operator*(Long a, LongOperand b) { return dsl::binary<Long>(dsl::Arith::mul, a, b); }
inline Pred operator<(Long a, LongOperand b) { return dsl::comparison(dsl::Compare::lt, a, b); }
inline Pred operator>(Long a, LongOperand b) { return dsl::comparison(dsl::Compare::gt, a, b); }
inline Pred operator==(Long a, Long b) { return {{a.builder, a.builder->compare(dsl::Compare::eq, a.id, b.id)}}; }

inline Pred operator&(Pred a, Pred b) { return {{a.builder, a.builder->logical(dsl::Arith::and_, a.id, b.id)}}; }
inline Pred operator|(Pred a, Pred b) { return {{a.builder, a.builder->logical(dsl::Arith::or_, a.id, b.id)}}; }
inline Pred operator!(Pred a) { return {{a.builder, a.builder->invert(a.id)}}; }

inline Real operator-(Real a) { return {{a.builder, a.builder->unary(dsl::Unary::neg, a.id)}}; }

/// p ? a : b, both evaluated.
inline Real select(Pred p, RealOperand a, RealOperand b) {
  dsl::Id x = a.in(*p.builder), y = b.in(*p.builder);
  return {{p.builder, p.builder->select(p.id, x, y)}};
}
inline Index select(Pred p, Index a, IndexOperand b) { return {{p.builder, p.builder->select(p.id, a.id, b.in(*p.builder))}}; }
/// 32 to 64 bits.
inline Long to_long(Index x) { return {{x.builder, x.builder->convert(x.id, Element::i64)}}; }
/// Integer to fp32.
inline Real to_real(Index x) { return {{x.builder, x.builder->convert(x.id, Element::f32)}}; }

/// fp32 to integer, toward zero.
inline Index to_index(Real x) { return {{x.builder, x.builder->convert(x.id, Element::i32)}}; }

/// A mutable scalar of a role.
template <class T>
class Var {
 public:
  Var(T init) : builder_(init.builder), id_(builder_->var(init.id)) {}
  T get() const { return T{{builder_, builder_->get(id_)}}; }
  void set(T value) { builder_->set(id_, value.id); }

 private:
  dsl::Builder* builder_;
  dsl::Id id_;
};

}  // namespace tilewright
