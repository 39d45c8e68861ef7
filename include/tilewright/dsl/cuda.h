// CUDA C++ inside a kernel: a device function of the author's own, called for scalars.
#pragma once
#include "tilewright/dsl/scalar.h"

namespace tilewright {

namespace dsl {

/// What a function may take and give: a Real (float) or an Index (int).
template <class T>
concept CudaScalar = std::is_same_v<T, Real> || std::is_same_v<T, Index>;
template <CudaScalar T>
using CudaOperand = std::conditional_t<std::is_same_v<T, Real>, RealOperand, IndexOperand>;

}  // namespace dsl

/// A device function, made by Kernel::cuda_function. Every thread that is at the call calls it with its own values; it may use
/// registers and local memory, but no __shared__ variables.
template <class Signature>
class CudaFunction;

template <dsl::CudaScalar Result, dsl::CudaScalar... Arguments>
class CudaFunction<Result(Arguments...)> {
 public:
  CudaFunction(dsl::Builder* b, dsl::Id id) : builder_(b), id_(id) {}
  /// Arguments are run-time values or constants.
  Result operator()(dsl::CudaOperand<Arguments>... arguments, Where where = Where::current()) const {
    const dsl::Ids values{arguments.in(*builder_)...};
    builder_->at(where);
    return {{builder_, builder_->call(id_, values)}};
  }
  /// Element types of the result and the arguments.
  static std::vector<Element> types() {
    return {element<Result>(), element<Arguments>()...};
  }

 private:
  template <class T>
  static Element element() { return std::is_same_v<T, Real> ? Element::f32 : Element::i32; }
  dsl::Builder* builder_;
  dsl::Id id_;
};

}  // namespace tilewright
