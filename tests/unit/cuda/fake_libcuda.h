// What the fake driver is told (environment variable FAKE_CUDA) and what it saw.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

/// FAKE_CUDA: "" (an H200), "no_gpu", "empty" (no device listed), "ampere", "full" (allocations fail),
/// "bad_ptx" (the assembler refuses), "bad_map", "fault" (synchronisation reports an illegal address).
struct FakeRecord {
  std::array<unsigned, 3> grid{}, cluster{};
  unsigned threads = 0, dynamic_shared_bytes = 0, attributes = 0;
  int programmatic = 0;
  void* stream = nullptr;
  std::int32_t first_parameter = 0;
  unsigned launches = 0, graph_launches = 0, flushes = 0;
  int max_dynamic_shared = 0;
  std::string module;
  std::vector<std::uint64_t> extents, strides;
  std::vector<std::uint32_t> box;
  int element = -1, swizzle = -1, promotion = -1, fill = -1;
  int live = 0;  // allocations, modules, streams, events and graphs not given back
};
using FakeRecordFunction = FakeRecord* (*)();
