#pragma once
#include <cstdint>

namespace tilewright::runtime::sim {

/// Which lane a lane of shfl reads, and whether that lies in its segment. `mode` is the instruction's extra[0], b and c are the
/// lane's operands of these names.
struct ShuffleSource {
  unsigned lane;
  bool valid;
};
ShuffleSource shuffle_source(int mode, unsigned lane, std::uint32_t b, std::uint32_t c);

}  // namespace tilewright::runtime::sim
