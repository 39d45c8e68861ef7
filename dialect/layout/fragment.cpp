#include <algorithm>

#include "layout.h"
#include "tilewright/error.h"

namespace tilewright::layout {

void FragmentLayout::check() const {
  std::string what = "fragment layout: " + std::to_string(rows) + " x " + std::to_string(cols) + " over " +
                     std::to_string(warps) + " warps: ";
  if (warps != 1 && (warps <= 0 || warps % 4 != 0))
    throw Error(what + "expected 1 warp or whole warpgroups of 4 warps");
  if (rows != 16 * warps)
    throw Error(what + "expected " + std::to_string(16 * warps) + " rows, 16 for each warp");
  if (cols <= 0 || cols % 8 != 0)
    throw Error(what + "the columns must be a positive multiple of 8");
}

Coord FragmentLayout::coord(int warp, int lane, int index) const {
  return {row_of_warp(warp) + row_of_lane(lane) + row_of_index(index), col_of_lane(lane) + col_of_index(index)};
}

Owner FragmentLayout::owner(int row, int col) const {
  return {row / 16, (row % 8) * 4 + (col % 8) / 2, (col / 8) * 4 + ((row / 8) % 2) * 2 + col % 2};
}

Coord matrix_lane_address(int lane, int r0, int c0, bool transposed) {
  int low = lane & 7, second = (lane >> 3) & 1, third = lane >> 4;
  if (transposed)
    return {c0 + 8 * third + low, r0 + 8 * second};
  return {r0 + low + 8 * second, c0 + 8 * third};
}

int64_t matrix_lane_byte(const SharedLayout &tile, int lane, int r0, int c0, bool transposed) {
  Coord at = matrix_lane_address(lane, r0, c0, transposed);
  return tile.byte_of(at.row, at.col);
}

Coord mma_b_lane_address(int lane, int k0, int n0, bool k_major) {
  int low = lane & 7, second = (lane >> 3) & 1, third = lane >> 4;
  if (k_major)
    return {n0 + low + 8 * third, k0 + 8 * second};
  return {k0 + low + 8 * second, n0 + 8 * third};
}

void WgmmaOperand::check() const {
  tile.check();
  if (tile.kind != SharedLayout::swizzle128 || (tile.element_bytes != 2 && (mn_major || tile.element_bytes != 4)))
    throw Error("wgmma operand: the tile must be swizzle128 with 16-bit elements, or 32-bit ones contiguous along k");
  if (mn_major && tile.rows % 16 != 0)
    throw Error("wgmma operand: " + std::to_string(tile.rows) + " rows along k, expected a multiple of 16");
}

int64_t WgmmaOperand::leading_bytes() const { return mn_major ? tile.panel_bytes() : 16; }

uint32_t WgmmaOperand::high_word() const {
  const uint32_t swizzle_128b = 1u << 30; // bits 63..62 of the descriptor = 1
  return swizzle_128b | uint32_t(stride_bytes() >> 4);
}

uint32_t WgmmaOperand::low_word(uint32_t address) const {
  return ((address & 0x3FFFFu) >> 4) | uint32_t(leading_bytes() >> 4) << 16;
}

int64_t WgmmaOperand::k_step_bytes(int kk) const {
  if (mn_major)
    return int64_t(kk) * 16 * kPanelBytes;
  return (kk * kKStepBytes / kPanelBytes) * tile.panel_bytes() + kk * kKStepBytes % kPanelBytes;
}

int64_t WgmmaOperand::mn_bytes(int mn) const {
  if (mn_major ? mn % 64 != 0 : mn % 8 != 0)
    throw Error("wgmma operand: offset " + std::to_string(mn) + " along M or N, expected a multiple of " +
                (mn_major ? "64 (one panel)" : "8 (one swizzle period)"));
  return mn_major ? (mn / 64) * tile.panel_bytes() : int64_t(mn) * kPanelBytes;
}

int WgmmaOperand::k_steps() const { return (mn_major ? tile.rows : tile.cols) / k_step(); }

std::string picture(const FragmentLayout &f, int max_rows, int max_cols) {
  std::string out = std::to_string(f.rows) + " x " + std::to_string(f.cols) + " fragment, " + std::to_string(f.warps) +
                    " warps, " + std::to_string(f.elements()) + " elements a thread; warp.lane.element\n";
  for (int r = 0; r < std::min(f.rows, max_rows); ++r) {
    for (int c = 0; c < std::min(f.cols, max_cols); ++c) {
      Owner o = f.owner(r, c);
      std::string cell = std::to_string(o.warp) + "." + std::to_string(o.lane) + "." + std::to_string(o.index);
      out += cell + std::string(cell.size() < 9 ? 9 - cell.size() : 1, ' ');
    }
    out.back() = '\n';
  }
  return out;
}

} // namespace tilewright::layout
