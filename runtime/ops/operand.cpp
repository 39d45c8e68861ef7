#include "runtime/ops/operand.h"

#include <algorithm>

#include "runtime/ops/errors.h"

namespace tilewright::ops {
namespace {

std::string list(const std::int64_t* values, unsigned count) {
  std::string text = "[";
  for (unsigned i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + std::to_string(values[i]);
  return text + "]";
}

std::string list(const std::vector<Dtype>& dtypes) {
  std::string text;
  for (std::size_t i = 0; i < dtypes.size(); ++i) text += (i == 0 ? "" : i + 1 == dtypes.size() ? " or " : ", ") + std::string(name_of(dtypes[i]));
  return text;
}

/// An extent of at most 1 has no stride of its own.
bool free_axis(const Tensor& t, unsigned axis) { return t.shape[axis] <= 1; }

void make_dense(Tensor& t) {
  std::int64_t dense = 1;
  for (unsigned axis = t.rank; axis-- > 0; dense *= std::max<std::int64_t>(t.shape[axis], 1)) t.strides[axis] = dense;
}

/// Sizes and strides may be large each and still be of some tensor; Tensor::bytes must not overflow.
void check_span(const std::string& who, const Tensor& t) {
  constexpr std::int64_t most = std::int64_t{1} << 62;
  std::int64_t last = 0, step = 0;
  bool fits = true;
  for (unsigned axis = 0; axis < t.rank; ++axis)
    fits = fits && (free_axis(t, axis) || !__builtin_mul_overflow(t.shape[axis] - 1, t.strides[axis], &step)) &&
           (free_axis(t, axis) || !__builtin_add_overflow(last, step, &last));
  if (!fits || last >= most / bytes_of(t.dtype))
    throw ArgumentError(who + t.name + " is " + list(t.shape.data(), t.rank) + " with strides " + list(t.strides.data(), t.rank) + ", expected a tensor of less than 2^62 bytes");
}

void check_strides(const std::string& who, const Tensor& t, const Expected& e) {
  const auto refuse = [&](unsigned axis, const std::string& expected) {
    throw ArgumentError(who + t.name + ".strides[" + std::to_string(axis) + "] is " + std::to_string(t.strides[axis]) + ", expected " + expected);
  };
  const unsigned bytes = bytes_of(t.dtype);
  std::int64_t dense = 1;
  for (unsigned axis = t.rank; axis-- > 0; dense *= std::max<std::int64_t>(t.shape[axis], 1)) {
    if (free_axis(t, axis)) continue;
    const std::int64_t stride = t.strides[axis];
    if (stride < 0) refuse(axis, "0 or more elements");
    const bool last = axis + 1 == t.rank, outermost = axis == 0;
    switch (e.layout) {
      case Layout::contiguous:
      case Layout::list:
        if (stride != dense) refuse(axis, std::to_string(dense) + ": this tensor is contiguous");
        break;
      case Layout::rows:
        if (last && stride != 1) refuse(axis, "1: the last axis is contiguous");
        if (!last && (stride == 0 || stride * bytes % 16 != 0)) refuse(axis, "a positive multiple of " + std::to_string(16 / bytes) + " elements (16 bytes)");
        if (!last && stride >= (std::int64_t{1} << 34) / bytes) refuse(axis, "less than 2^34 bytes");
        break;
      case Layout::any: break;
      case Layout::states:
        if (!outermost && stride != dense) refuse(axis, std::to_string(dense) + ": a row is contiguous");
        if (outermost && (stride < dense || stride % e.unit != 0))
          refuse(axis, "a multiple of " + std::to_string(e.unit) + " elements, at least a row of " + std::to_string(dense));
        break;
    }
    // An output's elements are places of their own: each axis steps over what lies inside of it.
    if (t.output && e.layout != Layout::states) {
      std::int64_t inside = 1;
      for (unsigned inner = 0; inner < t.rank; ++inner)
        if (inner != axis && !free_axis(t, inner) && t.strides[inner] <= stride && (t.strides[inner] < stride || inner > axis))
          inside += (t.shape[inner] - 1) * t.strides[inner];
      if (stride < inside) refuse(axis, "at least " + std::to_string(inside) + ": elements of an output do not overlap");
    }
  }
  if (e.batched && !free_axis(t, 0) && !free_axis(t, 1) && t.strides[0] != t.shape[1] * t.strides[1])
    throw UnsupportedError(who + t.name + ".strides[0] is " + std::to_string(t.strides[0]) + ", expected T strides[1] = " +
                           std::to_string(t.shape[1] * t.strides[1]) + ": no kernel has a batch axis of its own stride (pass cu_seqlens)");
}

}  // namespace

unsigned bytes_of(Dtype dtype) { return dtype == Dtype::i64 ? 8 : dtype == Dtype::f32 || dtype == Dtype::i32 ? 4 : 2; }

const char* name_of(Dtype dtype) {
  constexpr std::array names{"bf16", "f16", "f32", "i32", "i64"};
  const auto index = static_cast<std::size_t>(dtype);
  return index < names.size() ? names[index] : "unknown";
}

bool Tensor::empty() const {
  return std::any_of(shape.begin(), shape.begin() + rank, [](std::int64_t extent) { return extent == 0; });
}

std::uint64_t Tensor::bytes() const {
  if (empty()) return 0;
  std::int64_t last = 0;
  for (unsigned axis = 0; axis < rank; ++axis) last += (shape[axis] - 1) * strides[axis];
  return static_cast<std::uint64_t>(last + 1) * bytes_of(dtype);
}

Tensor tensor_of(const std::string& who, const Operand& operand, const Expected& e) {
  Tensor t;
  t.name = e.name;
  t.address = operand.address;
  t.dtype = operand.dtype;
  t.rank = static_cast<unsigned>(e.shape.size());
  t.output = e.output;
  if (e.layout == Layout::list || e.layout == Layout::any) t.alignment = bytes_of(operand.dtype);
  std::copy(e.shape.begin(), e.shape.end(), t.shape.begin());
  t.given = operand.address != 0;
  const std::string shape = list(t.shape.data(), t.rank);
  if (!t.given && t.empty() && e.required) {  // nothing to point at; the kernel sees an empty tensor
    t.given = true;
    t.dtype = e.dtypes.front();
  }
  if (!t.given) {
    if (e.required) throw ArgumentError(who + e.name + " is NULL, expected " + shape + " of " + list(e.dtypes) + " in device memory");
    return t;
  }
  if (std::find(e.dtypes.begin(), e.dtypes.end(), t.dtype) == e.dtypes.end())
    throw ArgumentError(who + e.name + ".dtype is " + std::to_string(static_cast<int>(t.dtype)) + " (" + name_of(t.dtype) + "), expected " + list(e.dtypes));
  // Strides of a tensor without elements lead nowhere: whatever the caller's framework wrote there will do.
  if (operand.strides == std::array<std::int64_t, 4>{} || t.empty()) {
    make_dense(t);
    check_span(who, t);
    return t;
  }
  t.strides = operand.strides;
  for (unsigned axis = t.rank; axis < 4; ++axis)
    if (t.strides[axis] != 0)
      throw ArgumentError(who + e.name + ".strides[" + std::to_string(axis) + "] is " + std::to_string(t.strides[axis]) + ", expected 0: the tensor is " + shape);
  check_strides(who, t, e);
  check_span(who, t);
  return t;
}

bool same_places(const Tensor& a, const Tensor& b) {
  if (a.address != b.address || a.dtype != b.dtype || a.rank != b.rank) return false;
  for (unsigned axis = 0; axis < a.rank; ++axis)
    if (!free_axis(a, axis) && !free_axis(b, axis) && a.strides[axis] != b.strides[axis]) return false;
  return true;
}

void check_alignment(const std::string& who, const Tensor& t) {
  if (t.address % t.alignment != 0)
    throw ArgumentError(who + t.name + " is at address " + std::to_string(t.address) + ", expected a multiple of " + std::to_string(t.alignment) + " bytes");
}

bool overlap(const Tensor& a, const Tensor& b) {
  const std::uint64_t a_bytes = a.bytes(), b_bytes = b.bytes();
  if (a.address == 0 || b.address == 0 || a_bytes == 0 || b_bytes == 0) return false;
  if (a.address >= b.address + b_bytes || b.address >= a.address + a_bytes) return false;
  // Slices of one buffer lie beside each other: modulo a stride that both share, each takes up a range of its own.
  const auto row_of = [](const Tensor& t, std::uint64_t step) {
    std::uint64_t inside = bytes_of(t.dtype);
    for (unsigned axis = 0; axis < t.rank; ++axis) {
      const std::uint64_t stride = static_cast<std::uint64_t>(t.strides[axis]) * bytes_of(t.dtype);
      if (t.shape[axis] > 1 && stride % step != 0) inside += static_cast<std::uint64_t>(t.shape[axis] - 1) * stride;
    }
    return inside;
  };
  for (unsigned axis = 0; axis + 1 < a.rank; ++axis) {
    const std::uint64_t step = static_cast<std::uint64_t>(a.strides[axis]) * bytes_of(a.dtype);
    if (a.shape[axis] <= 1 || step == 0) continue;
    const std::uint64_t a_row = row_of(a, step), b_row = row_of(b, step);
    if (a_row > step || b_row > step) continue;
    const std::uint64_t shift = ((b.address % step) + step - a.address % step) % step;
    if (shift >= a_row && shift + b_row <= step) return false;
  }
  return true;
}

}  // namespace tilewright::ops
