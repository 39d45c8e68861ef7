#include <algorithm>

#include "layout.h"

#include "tilewright/error.h"

namespace tilewright::layout {

namespace {

std::string describe(const SharedLayout &s) {
  return std::to_string(s.rows) + " x " + std::to_string(s.cols) + " tile of " + std::to_string(s.element_bytes) +
         "-byte elements, " + (s.kind == SharedLayout::swizzle128 ? "swizzle128" : "row major");
}

} // namespace

void SharedLayout::check() const {
  if (rows <= 0 || cols <= 0)
    throw Error("shared layout: " + describe(*this) + ": both extents must be positive");
  if (element_bytes != 1 && element_bytes != 2 && element_bytes != 4 && element_bytes != 8 && element_bytes != 16)
    throw Error("shared layout: " + describe(*this) + ": an element must have 1, 2, 4, 8 or 16 bytes");
  if (row_pad_bytes < 0 || row_pad_bytes % element_bytes != 0)
    throw Error("shared layout: " + describe(*this) + ": row padding of " + std::to_string(row_pad_bytes) +
                " bytes, expected a non-negative multiple of the element");
  if (kind != swizzle128)
    return;
  if (rows % 8 != 0)
    throw Error("shared layout: " + describe(*this) + ": the swizzle needs a multiple of 8 rows");
  if (cols * element_bytes % kPanelBytes != 0)
    throw Error("shared layout: " + describe(*this) + ": a row has " + std::to_string(cols * element_bytes) +
                " bytes, the swizzle needs a multiple of 128");
  if (row_pad_bytes != 0)
    throw Error("shared layout: " + describe(*this) + ": a swizzled tile has no row padding");
}

int SharedLayout::row_bytes() const { return kind == swizzle128 ? kPanelBytes : cols * element_bytes + row_pad_bytes; }

int SharedLayout::panels() const { return kind == swizzle128 ? cols * element_bytes / kPanelBytes : 1; }

int64_t SharedLayout::panel_bytes() const { return int64_t(rows) * row_bytes(); }

int64_t SharedLayout::size_bytes() const { return panels() * panel_bytes(); }

bool SharedLayout::tma_able() const {
  return kind == swizzle128 || (row_pad_bytes == 0 && cols * element_bytes % kChunkBytes == 0);
}

int SharedLayout::alignment() const {
  if (kind == swizzle128)
    return 1024;
  return tma_able() ? 128 : 16;
}

int64_t SharedLayout::byte_of(int r, int c) const {
  int in_row = c * element_bytes;
  if (kind == row_major)
    return int64_t(r) * row_bytes() + in_row;
  int panel = in_row / kPanelBytes;
  int chunk = in_row % kPanelBytes / kChunkBytes;
  return panel * panel_bytes() + int64_t(r) * kPanelBytes + ((chunk ^ (r & 7)) * kChunkBytes) + in_row % kChunkBytes;
}

Coord SharedLayout::at_byte(int64_t byte) const {
  const Coord none{-1, -1};
  if (byte < 0 || byte >= size_bytes() || byte % element_bytes != 0)
    return none;
  int64_t in_panel = byte % panel_bytes();
  int r = int(in_panel / row_bytes());
  int in_row = int(in_panel % row_bytes());
  if (kind == row_major)
    return in_row < cols * element_bytes ? Coord{r, in_row / element_bytes} : none;
  int chunk = (in_row / kChunkBytes) ^ (r & 7);
  int panel = int(byte / panel_bytes());
  return {r, (panel * kPanelBytes + chunk * kChunkBytes + in_row % kChunkBytes) / element_bytes};
}

int bank_conflicts(std::span<const int64_t> lane_bytes, int access_bytes) {
  if (access_bytes != 1 && access_bytes != 2 && access_bytes != 4 && access_bytes != 8 && access_bytes != 16)
    throw Error("bank_conflicts: access of " + std::to_string(access_bytes) + " bytes, expected 1, 2, 4, 8 or 16");
  const int words = access_bytes <= 4 ? 1 : access_bytes / 4;
  const size_t lanes_a_pass = size_t(kLanes / words);
  int extra = 0;
  for (size_t first = 0; first < lane_bytes.size(); first += lanes_a_pass) {
    std::array<std::vector<int64_t>, kBanks> seen; // distinct words of each bank
    size_t worst = 0;
    for (size_t l = first; l < std::min(first + lanes_a_pass, lane_bytes.size()); ++l) {
      if (lane_bytes[l] < 0)
        continue;
      for (int w = 0; w < words; ++w) {
        int64_t word = lane_bytes[l] / 4 + w;
        auto &bank = seen[size_t(word % kBanks)];
        bool known = false;
        for (int64_t other : bank)
          known |= other == word;
        if (!known)
          bank.push_back(word);
        worst = std::max(worst, bank.size());
      }
    }
    if (worst > 1)
      extra += int(worst) - 1;
  }
  return extra;
}

std::string picture(const SharedLayout &s, int max_rows, int max_cols) {
  std::string out = describe(s) + ", " + std::to_string(s.size_bytes()) + " bytes; byte offset:first bank\n";
  for (int r = 0; r < std::min(s.rows, max_rows); ++r) {
    for (int c = 0; c < std::min(s.cols, max_cols); ++c) {
      int64_t byte = s.byte_of(r, c);
      std::string cell = std::to_string(byte) + ":" + std::to_string(byte / 4 % kBanks);
      out += cell + std::string(cell.size() < 9 ? 9 - cell.size() : 1, ' ');
    }
    out.back() = '\n';
  }
  return out;
}

} // namespace tilewright::layout
