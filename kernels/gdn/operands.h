// Arguments that come in several forms, chosen at launch.
#pragma once
#include <string>

#include "kernels/gdn/config.h"

namespace tilewright::gdn {

/// A matrix of numbers in fp32, bf16 or fp16, whichever of three tensors the caller gave: `name`, `name_bf16` or `name_f16`. Element
/// (row, column) lies row * `name_pitch` + column * `name_step` elements behind the first.
class Numbers {
 public:
  Numbers(Kernel& k, const std::string& name, const Extent& rows) : Numbers(k, name, rows, k.dim(name + "_pitch")) {}

  /// The element, or `otherwise` where none of the three tensors is given. Called inside a role.
  Real read(Kernel& k, Index row, Index column, double otherwise) const {
    Var<Real> x(k.real(otherwise));
    Index at = column * step_;
    if_(wide_.present(), [&] { x.set(wide_.read({row, at})); }, [&] {
      if_(brain_.present(), [&] { x.set(brain_.read({row, at})); }, [&] {
        if_(half_.present(), [&] { x.set(half_.read({row, at})); });
      });
    });
    return x.get();
  }

 private:
  Numbers(Kernel& k, const std::string& name, const Extent& rows, const Dim& pitch)
      : wide_(k.optional_in<f32>(name, {rows, pitch})), brain_(k.optional_in<bf16>(name + "_bf16", {rows, pitch})),
        half_(k.optional_in<f16>(name + "_f16", {rows, pitch})), step_(k.scalar_i32(name + "_step")) {}

  Tensor<f32> wide_;
  Tensor<bf16> brain_;
  Tensor<f16> half_;
  Index step_;
};

/// As Numbers, of one element type, which is fixed when the kernel is compiled: less to decide where the reads are many.
class TypedNumbers {
 public:
  TypedNumbers(Kernel& k, const std::string& name, const Extent& rows, Element element) : TypedNumbers(k, name, rows, k.dim(name + "_pitch"), element) {}

  Pred present() const { return Tensor<f32>(builder_, id_).present(); }
  /// The element of a tensor that is given. Called inside a role.
  Real read(Index row, Index column) const {
    const auto at = [&](auto tensor) { return tensor.read({row, column * step_}); };
    if (element_ == Element::bf16) return at(Tensor<bf16>(builder_, id_));
    return element_ == Element::f16 ? at(Tensor<f16>(builder_, id_)) : at(Tensor<f32>(builder_, id_));
  }

 private:
  TypedNumbers(Kernel& k, const std::string& name, const Extent& rows, const Dim& pitch, Element element) : element_(element), step_(k.scalar_i32(name + "_step")) {
    const auto declare = [&]<class T>(T, const char* suffix) {
      const Tensor<T> t = k.optional_in<T>(name + suffix, {rows, pitch});
      builder_ = t.builder, id_ = t.id;
    };
    if (element == Element::bf16) declare(bf16{}, "_bf16");
    else if (element == Element::f16) declare(f16{}, "_f16");
    else declare(f32{}, "");
  }

  Element element_;
  Index step_;
  dsl::Builder* builder_ = nullptr;
  dsl::Id id_ = -1;
};

/// A list of numbers below 2^31, or -1, as 32-bit words: `name`, `name_words` words for each (1 for int32, 2 for int64).
class Numbering {
 public:
  Numbering(Kernel& k, const std::string& name)
      : words_of_(k.optional_in<i32>(name, {k.dim(name + "_size")})), words_(k.scalar_i32(name + "_words")) {}

  /// Entry i, or i itself where the list is not given. Called inside a role.
  Index at(Index i) const {
    Var<Index> x(i);
    if_(words_of_.present(), [&] { x.set(words_of_.read({i * words_})); });
    return x.get();
  }

 private:
  Tensor<i32> words_of_;
  Index words_;
};

/// Rows of states in one of three element types. A row is contiguous; rows lie `name_pitch` times the inner width apart.
class States {
 public:
  enum class Use { in, out };
  States(Kernel& k, const std::string& name, Use use, Element element, const ForwardConfig& c)
      : element_(element), v_first_(c.state_v_first), dk_(c.dk), dv_(c.dv) {
    const std::vector<Extent> shape{k.dim(name + "_rows"), k.dim(name + "_pitch"), v_first_ ? c.dk : c.dv};
    const auto declare = [&]<class T>(T) {
      const Tensor<T> t = use == Use::in ? k.optional_in<T>(name, shape) : k.optional_out<T>(name, shape);
      builder_ = t.builder, id_ = t.id;
    };
    with_element(declare);
  }

  Pred present() const { return Tensor<f32>(builder_, id_).present(); }
  /// Columns `column`.. of V of a head's state: S^T = row.
  void load(Kernel& k, const Frag<f32>& St, Index row, Index head, Index column) const {
    with_element([&]<class T>(T) {
      if constexpr (std::is_same_v<T, f32>) {
        at_place<T>(row, head, column, [&](const Tensor<T>& t, auto at, int v, int key) { load_global(St, t, at, v, key); });
      } else {
        auto narrow = k.frag<T>(St.shape, "state as stored");
        at_place<T>(row, head, column, [&](const Tensor<T>& t, auto at, int v, int key) { load_global(narrow, t, at, v, key); });
        map_to(St, [](Real x) { return x; }, narrow);
      }
    });
  }
  /// Row = S^T, which is given in fp32 and, as `rounded`, in the type of the products' operands or in fp32 again.
  template <class T>
  void store(const Frag<f32>& St, const Frag<T>& rounded, Index row, Index head, Index column) const {
    with_element([&]<class E>(E) {
      const auto put = [&](const Frag<E>& frag) {
        at_place<E>(row, head, column, [&](const Tensor<E>& t, auto at, int v, int key) { store_global(t, at, frag, v, key); });
      };
      if constexpr (std::is_same_v<E, f32>) put(St);
      else if constexpr (std::is_same_v<E, T>) put(rounded);
      else put(cast<E>(St));
    });
  }

 private:
  template <class F>
  void with_element(F&& f) const {
    if (element_ == Element::f32) f(f32{});
    else if (element_ == Element::bf16) f(bf16{});
    else f(f16{});
  }
  /// f(tensor, coordinates, axis of V, axis of K).
  template <class T, class F>
  void at_place(Index row, Index head, Index column, F&& f) const {
    const Tensor<T> t(builder_, id_);
    if (v_first_) f(t, std::initializer_list<IndexOperand>{row, head * dv_ + column, 0}, 1, 2);
    else f(t, std::initializer_list<IndexOperand>{row, head * dk_, column}, 2, 1);
  }

  Element element_;
  bool v_first_;
  int dk_, dv_;
  dsl::Builder* builder_ = nullptr;
  dsl::Id id_ = -1;
};

}  // namespace tilewright::gdn
