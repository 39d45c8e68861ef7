#include "runtime/ops/gdn_forward_check.h"

#include <cmath>
#include <cstring>
#include <vector>

namespace tilewright::ops {
namespace {

using runtime::DeviceAddress;
const std::string kWho = "gdn_forward: ";

[[noreturn]] void refuse(const std::string& what) { throw ArgumentError(kWho + what); }

bool overlap(const MemoryRegion& a, const MemoryRegion& b) {
  return a.address != 0 && b.address != 0 && a.bytes != 0 && b.bytes != 0 && a.address < b.address + b.bytes &&
         b.address < a.address + a.bytes;
}

void check_overlaps(const GdnForwardArguments& a, const std::vector<MemoryRegion>& regions) {
  for (const MemoryRegion& out : regions) {
    if (!out.output) continue;
    for (const MemoryRegion& other : regions) {
      if (&other == &out || (other.output && &other > &out) || !overlap(out, other)) continue;
      const bool in_place = std::strcmp(out.name, "final_state") == 0 && std::strcmp(other.name, "initial_state") == 0 &&
                            a.final_state == a.initial_state;
      if (!in_place) refuse(std::string(out.name) + " overlaps " + other.name + ", expected memory of its own");
    }
  }
}

}  // namespace

std::vector<MemoryRegion> gdn_forward_regions(const GdnForwardArguments& a) {
  const auto tokens = static_cast<std::uint64_t>(a.tokens()), sequences = static_cast<std::uint64_t>(a.sequences());
  const std::uint64_t qk = tokens * static_cast<std::uint64_t>(a.hk) * static_cast<std::uint64_t>(a.dk) * 2;
  const std::uint64_t v = tokens * static_cast<std::uint64_t>(a.hv) * static_cast<std::uint64_t>(a.dv) * 2;
  const std::uint64_t gate = tokens * static_cast<std::uint64_t>(a.hv) * 4;
  const std::uint64_t state = sequences * static_cast<std::uint64_t>(a.hv) * static_cast<std::uint64_t>(a.dk) *
                              static_cast<std::uint64_t>(a.dv) * 4;
  const std::uint64_t offsets = (sequences + 1) * (a.cu_seqlens_is_int64 ? 8 : 4);
  return {{"q", a.q, qk, false},
          {"k", a.k, qk, false},
          {"v", a.v, v, false},
          {"g", a.g, gate, false},
          {"beta", a.beta, gate, false},
          {"cu_seqlens", a.cu_seqlens, offsets, false},
          {"initial_state", a.initial_state, state, false},
          {"o", a.o, v, true},
          {"final_state", a.final_state, state, true},
          {"workspace", a.workspace, a.workspace_bytes, true}};
}

void check_gdn_forward_sizes(const GdnForwardArguments& a) {
  // Byte counts of every tensor stay below 2^63 within these limits.
  constexpr std::int64_t most_tokens = (std::int64_t{1} << 30) - 1;
  constexpr int most_heads = 65535;
  if (a.dtype != gdn::DType::bf16 && a.dtype != gdn::DType::f16)
    refuse("dtype is " + std::to_string(static_cast<int>(a.dtype)) + ", expected bf16 (0) or f16 (1)");
  if (a.hk < 1) refuse("hk is " + std::to_string(a.hk) + ", expected at least 1 key head");
  if (a.hv < 1 || a.hv % a.hk != 0)
    refuse("hv is " + std::to_string(a.hv) + ", expected a positive multiple of hk = " + std::to_string(a.hk));
  if (a.hv > most_heads) refuse("hv is " + std::to_string(a.hv) + ", expected at most " + std::to_string(most_heads) + " value heads");
  if (a.dk != 128 || a.dv != 128)
    throw UnsupportedError(kWho + "head widths dk = " + std::to_string(a.dk) + ", dv = " + std::to_string(a.dv) +
                           " are not supported, expected 128 and 128");
  if (a.T < 0) refuse("T is " + std::to_string(a.T) + ", expected 0 or more");
  if (a.N < 0) refuse("N is " + std::to_string(a.N) + ", expected 0 or more");
  if (a.batch < 1) refuse("batch is " + std::to_string(a.batch) + ", expected at least 1");
  if (a.cu_seqlens != 0 && a.batch != 1)
    refuse("batch is " + std::to_string(a.batch) + " with cu_seqlens, expected 1: packed sequences share one row axis");
  if (a.cu_seqlens == 0 && a.N != 0 && a.N != a.batch)
    refuse("N is " + std::to_string(a.N) + " without cu_seqlens, expected 0 or batch = " + std::to_string(a.batch));
  if (a.T > most_tokens / a.batch)
    refuse("batch x T is " + std::to_string(a.batch) + " x " + std::to_string(a.T) + " tokens, expected fewer than 2^30");
  if (a.sequences() > most_tokens)
    refuse(std::string(a.cu_seqlens != 0 ? "N" : "batch") + " is " + std::to_string(a.sequences()) + ", expected fewer than 2^30 sequences");
}

void check_gdn_forward(const GdnForwardArguments& a, std::uint64_t workspace_bytes) {
  check_gdn_forward_sizes(a);
  if (!std::isfinite(a.scale)) refuse("scale is " + std::to_string(a.scale) + ", expected a finite number (0: dk^-1/2)");
  const std::vector<MemoryRegion> regions = gdn_forward_regions(a);
  for (const MemoryRegion& r : regions) {
    const std::string name = r.name;
    const bool optional = name == "cu_seqlens" || name == "initial_state" || name == "final_state";
    if (name == "workspace") continue;
    if (r.address == 0 && r.bytes != 0 && !optional) refuse(name + " is NULL, expected " + std::to_string(r.bytes) + " bytes of device memory");
    if (r.address % 16 != 0) refuse(name + " is at address " + std::to_string(r.address) + ", expected a multiple of 16 bytes");
  }
  if (a.workspace_bytes < workspace_bytes)
    refuse("workspace_bytes is " + std::to_string(a.workspace_bytes) + ", expected at least " + std::to_string(workspace_bytes));
  if (a.workspace == 0 && workspace_bytes != 0)
    refuse("workspace is NULL, expected " + std::to_string(workspace_bytes) + " bytes of device memory");
  if (a.workspace % WorkspaceLayout::kAlignment != 0)
    refuse("workspace is at address " + std::to_string(a.workspace) + ", expected a multiple of 256 bytes");
  check_overlaps(a, regions);
}

void check_host_offsets(const GdnForwardArguments& a) {
  if (a.cu_seqlens == 0) return;
  const auto at = [&](std::int64_t n) -> std::int64_t {
    if (a.cu_seqlens_is_int64) return reinterpret_cast<const std::int64_t*>(a.cu_seqlens)[n];
    return reinterpret_cast<const std::int32_t*>(a.cu_seqlens)[n];
  };
  std::int64_t previous = 0;
  for (std::int64_t n = 0; n <= a.N; ++n) {
    const std::int64_t offset = at(n);
    if (offset < previous || offset > a.T)
      refuse("cu_seqlens[" + std::to_string(n) + "] is " + std::to_string(offset) + ", expected " + std::to_string(previous) +
             " to T = " + std::to_string(a.T) + ": offsets must not decrease");
    previous = offset;
  }
}

}  // namespace tilewright::ops
