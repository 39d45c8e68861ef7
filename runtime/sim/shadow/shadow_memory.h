// Numbers in fp64 beside the numbers that registers and memory hold.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace tilewright::runtime::sim {

/// What one number would be without rounding. It is found by the number's host address and holds as long as the number's bits are
/// those it was made for: whatever else writes there, integer operations on the bits of a float among it, drops the shadow.
struct ShadowCell {
  double value = 0;
  std::uint32_t bits = 0;   // of the number; of a wider one a digest
  std::uint8_t bytes = 0;   // of the number: 2, 4 or 8; 0: no shadow
};

class ShadowMemory {
 public:
  /// The shadow of the number of `bytes` bytes at p, which is a multiple of two; null where it has none.
  const double* find(const std::byte* p, unsigned bytes);
  /// The number at p, as it is now, has this shadow.
  void set(std::byte* p, unsigned bytes, double value);
  /// [p, p + bytes) has no shadows any more.
  void forget(const std::byte* p, std::size_t bytes);
  /// The cell of the two bytes at p: what a copy carries.
  ShadowCell cell(const std::byte* p) {
    const ShadowCell* c = place(p, false);
    return c ? *c : ShadowCell{};
  }
  void put(const std::byte* p, const ShadowCell& c) {
    if (ShadowCell* to = place(p, c.bytes != 0)) *to = c;
  }
  /// `bytes` bytes at `to` are a copy of those at `from`.
  void copy(std::byte* to, const std::byte* from, std::size_t bytes);

 private:
  static constexpr std::uintptr_t page_bytes = 4096;
  using Page = std::array<ShadowCell, page_bytes / 2>;
  struct Recent {
    std::uintptr_t number = ~std::uintptr_t{0};
    Page* page = nullptr;
  };
  ShadowCell* place(const std::byte* p, bool make);

  std::unordered_map<std::uintptr_t, std::unique_ptr<Page>> pages_;
  std::array<Recent, 256> recent_;
};

}  // namespace tilewright::runtime::sim
