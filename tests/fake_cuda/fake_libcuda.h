// What the fake driver is told (environment variables FAKE_CUDA, FAKE_CUDA_DEVICES) and what it saw.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

/// One launch: where it went.
struct FakeLaunch {
  void* context = nullptr;   // current on the calling thread
  void* function = nullptr;
  void* stream = nullptr;
  std::array<unsigned, 3> grid{}, cluster{};
  bool programmatic = false;
};

/// FAKE_CUDA: "" (an H200), "no_gpu", "empty" (no device listed), "ampere", "full" (allocations and modules fail),
/// "bad_ptx" (the assembler refuses), "bad_map", "opaque_map" (the address is no plain word of a map), "fault" (synchronisation
/// reports an illegal address), "too_big" (launches lack resources), "pageable" (kernels may use host memory).
/// FAKE_CUDA_DEVICES: how many cards, 1 by default. FAKE_CUDA_TIMES: a file of milliseconds, one for each time that is asked for.
struct FakeRecord {
  std::array<unsigned, 3> grid{}, cluster{};
  unsigned threads = 0, dynamic_shared_bytes = 0, attributes = 0;
  int programmatic = 0;
  void* stream = nullptr;
  std::int32_t first_parameter = 0;
  unsigned launches = 0, graph_launches = 0, flushes = 0, encoded_maps = 0, modules = 0, synchronisations = 0, allocations = 0;
  bool keep_launches = false;     // put every launch into `all`
  std::vector<FakeLaunch> all;
  int max_dynamic_shared = 0;
  std::string module;
  std::vector<std::uint64_t> extents, strides;
  std::vector<std::uint32_t> box;
  int element = -1, swizzle = -1, promotion = -1, fill = -1;
  void* mapped = nullptr;  // the last memory of the host that kernels see, too
  int live = 0;  // allocations, modules, streams, events and graphs not given back
};
using FakeRecordFunction = FakeRecord* (*)();

/// The primary context of a fake device.
inline void* fake_context(int device) { return reinterpret_cast<void*>(std::uintptr_t{0x1000} + static_cast<unsigned>(device)); }
