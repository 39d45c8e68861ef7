#include "runtime/sim/tensor_map.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "runtime/sim/observer.h"
#include "runtime/sim/numeric.h"
#include "tilewright/error.h"

namespace tilewright::runtime::sim {
namespace {

constexpr std::uint64_t magic = 0x7469'6c65'0000'0000ull;   // upper half of word 0
constexpr std::uint64_t magic_mask = 0xffff'ffff'0000'0000ull;

unsigned span(MapSwizzle s) {
  switch (s) {
    case MapSwizzle::b32: return 32;
    case MapSwizzle::b64: return 64;
    case MapSwizzle::b128: return 128;
    default: return 0;
  }
}

[[noreturn]] void refuse(const std::string& what) { throw Error("tensor map: " + what); }

}  // namespace

EncodedTensorMap encode_tensor_map(const TensorMapSpec& s) {
  if (s.rank < 1 || s.rank > 5) refuse("rank " + std::to_string(s.rank) + "; expected 1 to 5");
  if (s.address % 16) refuse("address " + hex(s.address) + "; expected a multiple of 16 bytes");
  for (unsigned d = 0; d < s.rank; ++d) {
    const std::string dim = " of dimension " + std::to_string(d);
    if (s.extents[d] == 0 || s.extents[d] > 1ull << 32) refuse("extent " + std::to_string(s.extents[d]) + dim + "; expected 1 to 2^32");
    if (s.box[d] == 0 || s.box[d] > 256) refuse("box of " + std::to_string(s.box[d]) + " elements" + dim + "; expected 1 to 256");
    if (d > 0 && s.strides[d] % 16) refuse("stride of " + std::to_string(s.strides[d]) + " bytes" + dim + "; expected a multiple of 16");
    if (d > 0 && s.strides[d] >= 1ull << 40) refuse("stride of " + std::to_string(s.strides[d]) + " bytes" + dim + "; expected less than 2^40");
  }
  const unsigned inner = s.box[0] * size_of(s.element);
  if (inner % 16) refuse("inner box of " + std::to_string(inner) + " bytes; expected a multiple of 16");
  if (const unsigned most = span(s.swizzle); most && inner > most)
    refuse("inner box of " + std::to_string(inner) + " bytes with a swizzle of " + std::to_string(most) + " bytes; expected at most the swizzle's span");
  EncodedTensorMap m;
  m.words[0] = magic | s.rank | static_cast<std::uint64_t>(s.element) << 8 | static_cast<std::uint64_t>(s.swizzle) << 16;
  m.words[1] = s.address;
  for (unsigned d = 0; d < s.rank; ++d) {
    m.words[2 + d] = s.extents[d];
    if (d > 0) m.words[6 + d] = s.strides[d];
    m.words[11 + d] = s.box[d];
  }
  return m;
}

TensorMapSpec decode_tensor_map(const std::byte* bytes, int lane) {
  EncodedTensorMap m;
  std::memcpy(m.words.data(), bytes, sizeof m.words);
  if ((m.words[0] & magic_mask) != magic) throw Fault{"the address does not hold a tensor map encoded by this device", lane};
  TensorMapSpec s;
  s.rank = static_cast<unsigned>(m.words[0] & 0xff);
  s.element = static_cast<MapElement>(m.words[0] >> 8 & 0xff);
  s.swizzle = static_cast<MapSwizzle>(m.words[0] >> 16 & 0xff);
  s.address = m.words[1];
  for (unsigned d = 0; d < 5; ++d) {
    s.extents[d] = d < s.rank ? m.words[2 + d] : 1;
    s.strides[d] = d > 0 && d < s.rank ? m.words[6 + d] : 0;
    s.box[d] = d < s.rank ? static_cast<std::uint32_t>(m.words[11 + d]) : 1;
  }
  return s;
}

std::uint32_t box_bytes(const TensorMapSpec& s) {
  std::uint32_t n = size_of(s.element);
  for (unsigned d = 0; d < s.rank; ++d) n *= s.box[d];
  return n;
}

namespace {

std::uint64_t swizzled(std::uint64_t address, MapSwizzle s) {
  const unsigned bytes = span(s);
  return bytes ? address ^ ((address >> 3) & (bytes - 16)) : address;
}

// Calls row(shared address of the row, global address of its first element, first and one past the last element inside).
template <class F>
void each_row(const TensorMapSpec& s, const std::array<std::int32_t, 5>& at, std::uint64_t shared, F&& row) {
  const std::uint64_t pitch = std::uint64_t{s.box[0]} * size_of(s.element);
  const std::int64_t inner = static_cast<std::int64_t>(s.extents[0]);
  const auto first = std::clamp<std::int64_t>(-std::int64_t{at[0]}, 0, s.box[0]);
  const auto last = std::clamp<std::int64_t>(inner - at[0], first, s.box[0]);
  std::array<std::uint32_t, 5> n{};
  std::uint64_t number = 0;
  for (n[4] = 0; n[4] < s.box[4]; ++n[4])
    for (n[3] = 0; n[3] < s.box[3]; ++n[3])
      for (n[2] = 0; n[2] < s.box[2]; ++n[2])
        for (n[1] = 0; n[1] < s.box[1]; ++n[1], ++number) {
          bool inside = true;
          std::uint64_t global = s.address + static_cast<std::uint64_t>(std::int64_t{at[0]}) * size_of(s.element);
          for (unsigned d = 1; d < 5; ++d) {
            const std::int64_t c = std::int64_t{at[d]} + n[d];
            inside &= c >= 0 && static_cast<std::uint64_t>(c) < s.extents[d];
            global += static_cast<std::uint64_t>(c) * s.strides[d];
          }
          row(shared + number * pitch, global, inside ? first : 0, inside ? last : 0);
        }
}

// Calls piece(place in shared memory, byte of the row, bytes) for the parts of a row that lie together.
template <class F>
void each_piece(Cta& cta, const TensorMapSpec& s, std::uint64_t row, std::int64_t first, std::int64_t last, F&& piece) {
  for (std::int64_t x = first; x < last;) {
    const std::int64_t n = std::min(last, x / 16 * 16 + 16) - x;
    piece(cta.shared.data() + swizzled(row + static_cast<std::uint64_t>(x / 16 * 16), s.swizzle) + x % 16, x, n);
    x += n;
  }
}

void check_target(Cta& cta, const TensorMapSpec& s, std::uint64_t shared, int lane, const char* what) {
  cta.shared_at(shared, box_bytes(s), 128, lane, what);
  if (s.swizzle != MapSwizzle::none && span(s.swizzle) != s.box[0] * size_of(s.element) && box_bytes(s) > s.box[0] * size_of(s.element))
    throw Fault{"an inner box of " + std::to_string(s.box[0] * size_of(s.element)) + " bytes with a swizzle of " + std::to_string(span(s.swizzle)) +
                    " bytes; expected rows as long as the swizzle's span", lane};
}

}  // namespace

void each_box_row(const TensorMapSpec& s, const std::array<std::int32_t, 5>& at, std::uint64_t shared, const std::function<void(const BoxRow&)>& f) {
  each_row(s, at, shared, [&](std::uint64_t to, std::uint64_t global, std::int64_t first, std::int64_t last) { f({to, global, first, last}); });
}

void load_box(Cta& cta, const TensorMapSpec& s, const std::array<std::int32_t, 5>& at, std::uint64_t shared, int lane) {
  check_target(cta, s, shared, lane, "TMA load");
  const unsigned size = size_of(s.element);
  const std::int64_t pitch = std::int64_t{s.box[0]} * size;
  each_row(s, at, shared, [&](std::uint64_t to, std::uint64_t global, std::int64_t first, std::int64_t last) {
    alignas(16) std::byte line[1024] = {};
    if (last > first) {
      const std::byte* from = cta.global(global + static_cast<std::uint64_t>(first * size), static_cast<std::uint64_t>((last - first) * size), 1, lane, "TMA load");
      std::memcpy(line + first * size, from, static_cast<std::size_t>((last - first) * size));
    }
    for (std::int64_t x = 0; x < pitch; x += 16) std::memcpy(cta.shared.data() + swizzled(to + static_cast<std::uint64_t>(x), s.swizzle), line + x, 16);
    if (!cta.observer) return;
    each_piece(cta, s, to, 0, pitch, [&](std::byte* place, std::int64_t x, std::int64_t n) {
      const std::int64_t least = std::clamp(first * size - x, std::int64_t{0}, n), most = std::clamp(last * size - x, least, n);
      cta.observer->copied(place, nullptr, static_cast<std::size_t>(n));
      if (most > least) cta.observer->copied(place + least, reinterpret_cast<const std::byte*>(global + static_cast<std::uint64_t>(x + least)), static_cast<std::size_t>(most - least));
    });
  });
}

void store_box(Cta& cta, const TensorMapSpec& s, const std::array<std::int32_t, 5>& at, std::uint64_t shared, Reduction r, int lane) {
  check_target(cta, s, shared, lane, "TMA store");
  const unsigned size = size_of(s.element);
  const std::int64_t pitch = std::int64_t{s.box[0]} * size;
  each_row(s, at, shared, [&](std::uint64_t from, std::uint64_t global, std::int64_t first, std::int64_t last) {
    if (last <= first) return;
    alignas(16) std::byte line[1024];
    for (std::int64_t x = 0; x < pitch; x += 16) std::memcpy(line + x, cta.shared.data() + swizzled(from + static_cast<std::uint64_t>(x), s.swizzle), 16);
    const auto bytes = static_cast<std::size_t>((last - first) * size);
    std::byte* to = cta.global(global + static_cast<std::uint64_t>(first * size), bytes, 1, lane, "TMA store");
    std::byte before[1024];
    if (cta.observer) std::memcpy(before, to, bytes);
    if (r == Reduction::none) std::memcpy(to, line + first * size, bytes);
    else reduce_elements(to, line + first * size, bytes, s.element, r, lane);
    if (!cta.observer) return;
    each_piece(cta, s, from, first * size, last * size, [&](std::byte* place, std::int64_t x, std::int64_t n) {
      const std::int64_t at_row = x - first * size;
      if (r == Reduction::none) cta.observer->copied(to + at_row, place, static_cast<std::size_t>(n));
      else cta.observer->reduced(to + at_row, before + at_row, place, static_cast<std::size_t>(n), s.element, r);
    });
  });
}

namespace {

template <class T>
T combine(T a, T b, Reduction r) {
  switch (r) {
    case Reduction::add: return static_cast<T>(a + b);
    case Reduction::min: return b < a ? b : a;
    case Reduction::max: return b > a ? b : a;
    default: break;
  }
  if constexpr (std::is_integral_v<T>) {
    if (r == Reduction::bit_and) return a & b;
    if (r == Reduction::bit_or) return a | b;
    if (r == Reduction::bit_xor) return a ^ b;
  }
  throw Fault{"a bulk reduction with this operation and element type does not exist"};
}

template <class T>
void reduce_as(std::byte* to, const std::byte* from, std::size_t bytes, Reduction r) {
  for (std::size_t n = 0; n < bytes; n += sizeof(T)) {
    T a, b;
    std::memcpy(&a, to + n, sizeof(T));
    std::memcpy(&b, from + n, sizeof(T));
    a = combine(a, b, r);
    std::memcpy(to + n, &a, sizeof(T));
  }
}

template <class Type>
void reduce_half(std::byte* to, const std::byte* from, std::size_t bytes, Reduction r) {
  for (std::size_t n = 0; n < bytes; n += 2) {
    std::uint16_t a, b;
    std::memcpy(&a, to + n, 2);
    std::memcpy(&b, from + n, 2);
    const double x = Type::widen(a), y = Type::widen(b);
    a = Type::narrow(r == Reduction::add ? fused(x, 1.0, y) : combine(x, y, r));
    std::memcpy(to + n, &a, 2);
  }
}

}  // namespace

void reduce_elements(std::byte* to, const std::byte* from, std::size_t bytes, MapElement e, Reduction r, int) {
  switch (e) {
    case MapElement::f32: return reduce_as<float>(to, from, bytes, r);
    case MapElement::i32: return reduce_as<std::int32_t>(to, from, bytes, r);
    case MapElement::u8: return reduce_as<std::uint8_t>(to, from, bytes, r);
    case MapElement::f16: return reduce_half<Half>(to, from, bytes, r);
    case MapElement::bf16: return reduce_half<Bfloat>(to, from, bytes, r);
  }
}

}  // namespace tilewright::runtime::sim
