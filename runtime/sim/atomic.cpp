// atom and red on shared, global and generic addresses.
#include <atomic>
#include <cstring>

#include "runtime/sim/access.h"
#include "runtime/sim/check/hooks.h"
#include "runtime/sim/numeric.h"

namespace tilewright::runtime::sim {

using ptx::Operand;
using ptx::ScalarType;

namespace {

struct Add { template <class T> static T apply(T a, T b, T) { if constexpr (std::is_integral_v<T>) { return static_cast<T>(std::make_unsigned_t<T>(a) + std::make_unsigned_t<T>(b)); } else { return a + b; } } };
struct Min { template <class T> static T apply(T a, T b, T) { return b < a ? b : a; } };
struct Max { template <class T> static T apply(T a, T b, T) { return b > a ? b : a; } };
struct And { template <class T> static T apply(T a, T b, T) { return a & b; } };
struct Or { template <class T> static T apply(T a, T b, T) { return a | b; } };
struct Xor { template <class T> static T apply(T a, T b, T) { return a ^ b; } };
struct Exchange { template <class T> static T apply(T, T b, T) { return b; } };
struct CompareSwap { template <class T> static T apply(T a, T b, T c) { return a == b ? c : a; } };
struct Inc { template <class T> static T apply(T a, T b, T) { return a >= b ? T{0} : a + 1; } };
struct Dec { template <class T> static T apply(T a, T b, T) { return a == 0 || a > b ? b : a - 1; } };
template <class Type> struct AddPair {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t) {
    const auto half = [&](unsigned s) {
      const double sum = fused(Type::widen(static_cast<std::uint16_t>(a >> s)), 1.0, Type::widen(static_cast<std::uint16_t>(b >> s)));
      return static_cast<std::uint32_t>(Type::narrow(sum)) << s;
    };
    return half(0) | half(16);
  }
};

std::byte* cell_at(Warp& w, const Instruction& i, unsigned bytes, unsigned lane) {
  const std::uint64_t a = lane_address(w, i, 0, i.extra[0], lane);
  switch (i.space) {
    case MemorySpace::shared: return locate<MemorySpace::shared>(w, a, bytes, lane, "atomic");
    case MemorySpace::cluster: return locate<MemorySpace::cluster>(w, a, bytes, lane, "atomic");
    case MemorySpace::global: return locate<MemorySpace::global>(w, a, bytes, lane, "atomic");
    default: return locate<MemorySpace::generic>(w, a, bytes, lane, "atomic");
  }
}

// list: the operands of a vector red, each added by itself
template <class T, class F>
Step reduce_vector(Warp& w, const Instruction& i, LaneMask m) {
  if (w.cta->check) check::note_access(w, i, m, static_cast<unsigned>(sizeof(T)) * i.list_count, check::Use::atomic);
  const Ref* list = w.cta->launch.program->lists.data() + i.list;
  each_lane(m, [&](unsigned l) {
    std::byte* p = cell_at(w, i, static_cast<unsigned>(sizeof(T)) * i.list_count, l);
    for (unsigned n = 0; n < i.list_count; ++n) {
      std::atomic_ref<std::uint32_t> cell(reinterpret_cast<std::uint32_t*>(p)[n]);
      std::uint32_t old = cell.load(), fresh;
      do fresh = std::bit_cast<std::uint32_t>(F::apply(std::bit_cast<T>(old), w.in<T>(list[n])[l], T{}));
      while (!cell.compare_exchange_weak(old, fresh));
    }
  });
  ++w.cta->effects;
  return Step::next;
}

// in[1] operand, in[2] second operand of cas; extra: 0 wide address, 1 has a result
template <class T, class F>
Step atomic(Warp& w, const Instruction& i, LaneMask m) {
  if (w.cta->check) check::note_access(w, i, m, sizeof(T), check::Use::atomic);
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  bool changed = false;
  each_lane(m, [&](unsigned l) {
    std::atomic_ref<Bits> cell(*reinterpret_cast<Bits*>(cell_at(w, i, sizeof(T), l)));
    Bits old = cell.load();
    Bits fresh;
    do fresh = std::bit_cast<Bits>(F::apply(std::bit_cast<T>(old), w.in<T>(i.in[1])[l], w.in<T>(i.in[2])[l]));
    while (!cell.compare_exchange_weak(old, fresh));
    changed |= old != fresh;
    if (i.extra[1]) w.out<Bits>(i.out[0])[l] = old;
  });
  w.cta->effects += changed;
  return Step::next;
}

template <class F>
Execute for_bits(ScalarType t) {
  using enum ScalarType;
  switch (t) {
    case b32: case u32: return atomic<std::uint32_t, F>;
    case s32: return atomic<std::int32_t, F>;
    case b64: case u64: return atomic<std::uint64_t, F>;
    case s64: return atomic<std::int64_t, F>;
    default: return nullptr;
  }
}

Execute executor(std::string_view op, ScalarType t) {
  if (op == "add") {
    if (t == ScalarType::f32) return atomic<float, Add>;
    if (t == ScalarType::f64) return atomic<double, Add>;
    if (t == ScalarType::f16x2) return atomic<std::uint32_t, AddPair<Half>>;
    if (t == ScalarType::bf16x2) return atomic<std::uint32_t, AddPair<Bfloat>>;
    return for_bits<Add>(t);
  }
  if (op == "min") return for_bits<Min>(t);
  if (op == "max") return for_bits<Max>(t);
  if (op == "and") return for_bits<And>(t);
  if (op == "or") return for_bits<Or>(t);
  if (op == "xor") return for_bits<Xor>(t);
  if (op == "exch") return for_bits<Exchange>(t);
  if (op == "cas") return for_bits<CompareSwap>(t);
  if (op == "inc" && t == ScalarType::u32) return atomic<std::uint32_t, Inc>;
  if (op == "dec" && t == ScalarType::u32) return atomic<std::uint32_t, Dec>;
  return nullptr;
}

void decode_atomic(Decode& d) {
  Instruction& i = d.instruction();
  i.group = InstructionClass::atomic;
  const bool has_result = d.statement().parts[0] == "atom";
  take_memory_hints(d);
  i.space = take_space(d);
  const std::string_view op = d.take_any({"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"});
  if (op.empty()) d.unsupported();
  d.take("noftz");
  const std::string_view vector = d.take_any({"v2", "v4"});
  const ScalarType t = d.type();
  if (i.order == MemoryOrder::weak) {   // without one named, atomics are relaxed at gpu scope
    i.order = MemoryOrder::relaxed;
    if (i.scope == MemoryScope::none) i.scope = MemoryScope::gpu;
  }
  note_talk(d);
  if (!vector.empty()) {
    const Execute e = t == ScalarType::f32      ? reduce_vector<float, Add>
                      : t == ScalarType::f16x2  ? reduce_vector<std::uint32_t, AddPair<Half>>
                      : t == ScalarType::bf16x2 ? reduce_vector<std::uint32_t, AddPair<Bfloat>>
                                                : nullptr;
    if (has_result || op != "add" || !e || i.space != MemorySpace::global) d.unsupported();
    d.expect_operands(2, 2);
    const Operand& values = d.operand(1);
    if (values.kind != Operand::Kind::vector || values.elements.size() != static_cast<std::size_t>(vector[1] - '0'))
      d.wrong("expected a vector of " + std::string(vector.substr(1)));
    d.address(d.operand(0), 0, 0);
    std::vector<Ref> refs;
    for (const Operand& o : values.elements) refs.push_back(d.in(o, t));
    d.begin_list();
    for (const Ref r : refs) d.push_list(r);
    i.exec = e;
    return;
  }
  const unsigned first = has_result ? 1 : 0;
  const std::size_t values = op == "cas" ? 2 : 1;
  d.expect_operands(first + 1 + values, first + 2 + values);
  i.out[0] = has_result ? d.out(0, t) : d.builder().scratch(8);
  i.extra[1] = has_result;
  d.address(d.operand(first), 0, 0);
  i.in[1] = d.in(first + 1, t);
  i.in[2] = op == "cas" ? d.in(first + 2, t) : i.in[1];
  const Execute e = executor(op, t);
  if (!e) d.unsupported();
  i.exec = e;
}

}  // namespace

void add_atomic_family(DecoderTable& t) {
  t["atom"] = decode_atomic;
  t["red"] = decode_atomic;
}

}  // namespace tilewright::runtime::sim
