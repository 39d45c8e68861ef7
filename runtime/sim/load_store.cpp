// ld and st in every state space, scalar and vector.
#include <atomic>
#include <cstring>

#include "runtime/sim/access.h"
#include "runtime/sim/check/hooks.h"
#include "runtime/sim/copy.h"

namespace tilewright::runtime::sim {

using ptx::Operand;
using ptx::ScalarType;

std::byte* param_at(Warp& w, std::uint64_t address, std::uint64_t bytes, std::uint64_t align, int lane, const char* what) {
  const std::uint64_t a = (address & window_mask) == param_window ? address & ~window_mask : address;
  const auto& params = w.cta->launch.params;
  if (a > params.size() || bytes > params.size() - a)
    throw Fault{std::string(what) + " of " + std::to_string(bytes) + " bytes at parameter offset " + std::to_string(a) + " is out of bounds: the kernel has " +
                    std::to_string(params.size()) + " bytes of parameters", lane};
  if (a & (align - 1)) throw Fault{std::string(what) + " of " + std::to_string(bytes) + " bytes at parameter offset " + std::to_string(a) + " is misaligned", lane};
  return const_cast<std::byte*>(params.data() + a);
}

std::byte* local_at(Warp& w, std::uint64_t address, std::uint64_t bytes, std::uint64_t align, unsigned lane, const char* what) {
  const std::uint64_t a = (address & window_mask) == local_window ? address & ~window_mask : address;
  const std::uint64_t size = w.cta->launch.program->local_bytes;
  if (a < w.cta->launch.program->local_base || a > size || bytes > size - a)
    throw Fault{std::string(what) + " of " + std::to_string(bytes) + " bytes at local address " + hex(a) + " is out of bounds", static_cast<int>(lane)};
  if (a & (align - 1)) throw Fault{std::string(what) + " of " + std::to_string(bytes) + " bytes at local address " + hex(a) + " is misaligned", static_cast<int>(lane)};
  return w.local.data() + lane * size + a;
}

std::byte* generic_at(Warp& w, std::uint64_t address, std::uint64_t bytes, std::uint64_t align, unsigned lane, const char* what) {
  const int l = static_cast<int>(lane);
  switch (address & window_mask) {
    case shared_window: {
      std::uint64_t a = address & ~window_mask;
      return w.cta->owner(a, l).shared_at(a, bytes, align, l, what);
    }
    case local_window: return local_at(w, address, bytes, align, lane, what);
    case param_window: return param_at(w, address, bytes, align, l, what);
    default: return w.cta->global(address, bytes, align, l, what);
  }
}

MemorySpace take_space(Decode& d) {
  const std::string_view s = d.take_any({"global", "shared::cta", "shared::cluster", "shared", "local", "param::entry", "param", "const"});
  if (s.empty()) return MemorySpace::generic;
  if (s == "global" || s == "const") return MemorySpace::global;
  if (s == "local") return MemorySpace::local;
  if (s == "shared::cluster") return MemorySpace::cluster;
  return s.starts_with("param") ? MemorySpace::param : MemorySpace::shared;
}

MemoryOrder take_memory_order(Decode& d) {
  const std::string_view order = d.take_any({"weak", "relaxed", "acquire", "release", "acq_rel", "volatile", "mmio"});
  return order.empty() || order == "weak" ? MemoryOrder::weak : order == "acquire" ? MemoryOrder::acquire : order == "release" ? MemoryOrder::release
         : order == "acq_rel" ? MemoryOrder::acq_rel : MemoryOrder::relaxed;
}

MemoryScope take_memory_scope(Decode& d) {
  const std::string_view scope = d.take_any({"cta", "cluster", "gpu", "sys"});
  return scope == "cta" ? MemoryScope::cta : scope == "cluster" ? MemoryScope::cluster : scope == "gpu" ? MemoryScope::gpu : scope == "sys" ? MemoryScope::sys
         : MemoryScope::none;
}

void note_talk(Decode& d) {
  const Instruction& i = d.instruction();
  if (i.order != MemoryOrder::weak && i.space != MemorySpace::shared && i.space != MemorySpace::cluster) d.builder().program().ordered = true;
}

bool take_memory_hints(Decode& d) {
  d.instruction().order = take_memory_order(d);
  d.instruction().scope = take_memory_scope(d);
  if (d.instruction().order != MemoryOrder::weak && d.instruction().scope == MemoryScope::none) d.instruction().scope = MemoryScope::sys;   // volatile
  d.take_any({"ca", "cg", "cs", "lu", "cv", "wb", "wt"});
  d.take("nc");
  d.take_any({"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate"});
  d.take_any({"L2::evict_normal", "L2::evict_first", "L2::evict_last"});
  d.take("L2::cache_hint");
  d.take_any({"L2::64B", "L2::128B", "L2::256B"});
  return d.instruction().order != MemoryOrder::weak;
}

InstructionClass class_of(MemorySpace s, bool load) {
  using enum InstructionClass;
  if (s == MemorySpace::shared || s == MemorySpace::cluster) return load ? shared_load : shared_store;
  return s == MemorySpace::local ? local_memory : s == MemorySpace::param ? move : load ? global_load : global_store;
}

namespace {

// list: the elements' registers; bytes: of an element in memory; extra: 0 wide address, 1 register width, 2 sign extension
template <MemorySpace space, class T>
Step load(Warp& w, const Instruction& i, LaneMask m) {
  if (w.cta->check) check::note_access(w, i, m, sizeof(T) * i.elements, check::Use::load);
  const Ref* list = w.cta->launch.program->lists.data() + i.list;
  const unsigned elements = i.elements;
  const auto width = static_cast<unsigned>(i.extra[1]);
  const std::uint64_t total = sizeof(T) * elements;
  if (width == sizeof(T)) {
    T* d[8];
    for (unsigned e = 0; e < elements; ++e) d[e] = w.out<T>(list[e]);
    each_lane(m, [&](unsigned l) {
      const std::byte* p = locate<space>(w, lane_address(w, i, 0, i.extra[0], l), total, l, "load");
      for (unsigned e = 0; e < elements; ++e) std::memcpy(&d[e][l], p + e * sizeof(T), sizeof(T));
    });
    return Step::next;
  }
  each_lane(m, [&](unsigned l) {
    const std::byte* p = locate<space>(w, lane_address(w, i, 0, i.extra[0], l), total, l, "load");
    for (unsigned e = 0; e < elements; ++e) {
      T v;
      std::memcpy(&v, p + e * sizeof(T), sizeof(T));
      const std::uint64_t x = i.extra[2] ? static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::make_signed_t<T>>(v))) : std::uint64_t{v};
      std::memcpy(w.out<std::byte>(list[e]) + l * width, &x, width);
    }
  });
  return Step::next;
}

template <MemorySpace space, class T>
Step store(Warp& w, const Instruction& i, LaneMask m) {
  if (w.cta->check) check::note_access(w, i, m, sizeof(T) * i.elements, check::Use::store);
  const Ref* list = w.cta->launch.program->lists.data() + i.list;
  const unsigned elements = i.elements;
  const auto width = static_cast<unsigned>(i.extra[1]);
  const std::uint64_t total = sizeof(T) * elements;
  const std::byte* s[8];
  for (unsigned e = 0; e < elements; ++e) s[e] = w.in<std::byte>(list[e]);
  each_lane(m, [&](unsigned l) {
    std::byte* p = locate<space>(w, lane_address(w, i, 0, i.extra[0], l), total, l, "store");
    for (unsigned e = 0; e < elements; ++e) std::memcpy(p + e * sizeof(T), s[e] + l * width, sizeof(T));
  });
  if constexpr (space != MemorySpace::local) ++w.cta->effects;
  return Step::next;
}

// One element that several threads may access at once: an indivisible access that orders the host's threads as the card's
// acquire and release do.
template <MemorySpace space, class T>
Step load_strong(Warp& w, const Instruction& i, LaneMask m) {
  if (w.cta->check) check::note_access(w, i, m, sizeof(T), check::Use::load);
  T* d = w.out<T>(w.cta->launch.program->lists[i.list]);
  each_lane(m, [&](unsigned l) {
    std::byte* p = locate<space>(w, lane_address(w, i, 0, i.extra[0], l), sizeof(T), l, "load");
    d[l] = std::atomic_ref<T>(*reinterpret_cast<T*>(p)).load();
  });
  return Step::next;
}

template <MemorySpace space, class T>
Step store_strong(Warp& w, const Instruction& i, LaneMask m) {
  if (w.cta->check) check::note_access(w, i, m, sizeof(T), check::Use::store);
  const T* s = w.in<T>(w.cta->launch.program->lists[i.list]);
  each_lane(m, [&](unsigned l) {
    std::byte* p = locate<space>(w, lane_address(w, i, 0, i.extra[0], l), sizeof(T), l, "store");
    std::atomic_ref<T>(*reinterpret_cast<T*>(p)).store(s[l]);
  });
  ++w.cta->effects;
  return Step::next;
}

template <bool is_load>
Execute strong(MemorySpace space, unsigned bytes) {
  const bool wide = bytes == 8;
  if (space == MemorySpace::global) {
    if (is_load) return wide ? load_strong<MemorySpace::global, std::uint64_t> : load_strong<MemorySpace::global, std::uint32_t>;
    return wide ? store_strong<MemorySpace::global, std::uint64_t> : store_strong<MemorySpace::global, std::uint32_t>;
  }
  if (is_load) return wide ? load_strong<MemorySpace::generic, std::uint64_t> : load_strong<MemorySpace::generic, std::uint32_t>;
  return wide ? store_strong<MemorySpace::generic, std::uint64_t> : store_strong<MemorySpace::generic, std::uint32_t>;
}

template <MemorySpace space, bool is_load>
Execute for_size(unsigned bytes) {
  switch (bytes) {
    case 1: return is_load ? load<space, std::uint8_t> : store<space, std::uint8_t>;
    case 2: return is_load ? load<space, std::uint16_t> : store<space, std::uint16_t>;
    case 4: return is_load ? load<space, std::uint32_t> : store<space, std::uint32_t>;
    case 8: return is_load ? load<space, std::uint64_t> : store<space, std::uint64_t>;
    default: return nullptr;
  }
}

template <bool is_load>
Execute for_space(MemorySpace s, unsigned bytes) {
  switch (s) {
    case MemorySpace::global: return for_size<MemorySpace::global, is_load>(bytes);
    case MemorySpace::shared: return for_size<MemorySpace::shared, is_load>(bytes);
    case MemorySpace::cluster: return for_size<MemorySpace::cluster, is_load>(bytes);
    case MemorySpace::local: return for_size<MemorySpace::local, is_load>(bytes);
    case MemorySpace::param: return is_load ? for_size<MemorySpace::param, true>(bytes) : nullptr;
    case MemorySpace::generic: return for_size<MemorySpace::generic, is_load>(bytes);
  }
  return nullptr;
}

template <bool is_load>
void decode_memory(Decode& d) {
  Instruction& i = d.instruction();
  const bool is_strong = take_memory_hints(d);
  i.space = take_space(d);
  if (!is_load && d.statement().parts[1] == "async") return decode_remote_store(d);
  const Operand& where = d.operand(is_load ? 1 : 0);
  if (i.space == MemorySpace::param && where.kind == Operand::Kind::address && d.builder().is_call_parameter(where.elements[0]))
    i.space = MemorySpace::local;
  note_talk(d);
  i.group = class_of(i.space, is_load);
  const std::string_view vector = d.take_any({"v2", "v4", "v8"});
  i.elements = vector == "v2" ? 2 : vector == "v4" ? 4 : vector == "v8" ? 8 : 1;
  const ScalarType t = d.type();
  i.bytes = static_cast<std::uint8_t>(ptx::bytes_of(t));
  if (i.bytes == 0 || i.bytes * i.elements > 32) d.unsupported();
  d.expect_operands(2, 3);
  const Operand& value = d.operand(is_load ? 0 : 1);
  d.address(where, 0, 0);
  i.extra[2] = ptx::is_signed(t);
  std::vector<Ref> refs;
  unsigned width = 0;
  const auto one = [&](const Operand& o) {
    unsigned w = 0;
    refs.push_back(is_load ? d.out_any(o, t, w) : d.in_any(o, t, w));
    if (width && w != width && !(is_load && o.kind == Operand::Kind::sink)) d.unsupported("elements in registers of different widths");
    if (o.kind != Operand::Kind::sink || width == 0) width = w;
  };
  if (i.elements > 1) {
    if (value.kind != Operand::Kind::vector || value.elements.size() != i.elements) d.wrong("expected a vector of " + std::to_string(i.elements));
    for (const Operand& o : value.elements) one(o);
  } else {
    one(value);
  }
  if (width < i.bytes) d.wrong("a register is narrower than the type");
  d.begin_list();
  for (const Ref r : refs) d.push_list(r);
  i.extra[1] = static_cast<int>(width);
  const bool indivisible = is_strong && i.elements == 1 && width == i.bytes && (i.bytes == 4 || i.bytes == 8) &&
                           (i.space == MemorySpace::global || i.space == MemorySpace::generic);
  const Execute e = indivisible ? strong<is_load>(i.space, i.bytes) : for_space<is_load>(i.space, i.bytes);
  if (!e) d.unsupported();
  i.exec = e;
}

}  // namespace

void add_memory_family(DecoderTable& t) {
  t["ld"] = decode_memory<true>;
  t["ldu"] = decode_memory<true>;
  t["st"] = decode_memory<false>;
}

}  // namespace tilewright::runtime::sim
