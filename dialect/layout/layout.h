#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// The closed set of layouts as plain C++: (warp, lane, register) <-> (row, column) <-> byte.
/// Every other room asks here; no other file repeats one of these formulas.
namespace tilewright::layout {

inline constexpr int kLanes = 32;
inline constexpr int kBanks = 32;
/// Width of one 128-byte swizzle row, and of one 16-byte chunk, the unit that the swizzle permutes.
inline constexpr int kPanelBytes = 128;
inline constexpr int kChunkBytes = 16;

/// A place in a tile.
struct Coord {
  int row = 0;
  int col = 0;
  friend bool operator==(const Coord &, const Coord &) = default;
};

// ---------------------------------------------------------------------------------------------- shared memory

/// How a rows x cols tile lies in shared memory.
struct SharedLayout {
  enum Kind {
    row_major,  ///< byte = r * (cols * element_bytes + row_pad_bytes) + c * element_bytes
    swizzle128, ///< panels of 128 bytes of columns, each rows * 128 bytes; 16-byte chunks permuted by chunk ^ (r & 7)
  };
  int rows = 0;
  int cols = 0;
  int element_bytes = 2;
  Kind kind = row_major;
  int row_pad_bytes = 0; ///< row_major only

  /// Throws tilewright::Error when the description is impossible (extent <= 0, element of other than 1, 2, 4, 8 or
  /// 16 bytes, swizzle128 with rows not a multiple of 8, with columns that do not fill panels, or with padding).
  void check() const;

  /// Byte offset of element (r, c) from the start of the tile.
  ///   swizzle128: panel p = c*eb / 128 at p * rows*128; inside r*128 + ((chunk ^ (r & 7)) * 16) + byte in the chunk.
  /// This is what TMA writes with CU_TENSOR_MAP_SWIZZLE_128B and one box of {128 bytes, rows} for each panel.
  int64_t byte_of(int r, int c) const;
  /// The element whose first byte is at `byte`; row -1 when the byte is padding or not the start of an element.
  Coord at_byte(int64_t byte) const;

  /// Bytes from one row to the next: the padded row (row_major), 128 (swizzle128).
  int row_bytes() const;
  /// Number of 128-byte column panels (1 for row_major).
  int panels() const;
  /// Bytes of one panel; the whole tile for row_major.
  int64_t panel_bytes() const;
  int64_t size_bytes() const;
  /// True when TMA can write the tile: always for swizzle128; row_major without padding and with rows of 16-byte
  /// multiples.
  bool tma_able() const;
  /// 1024 for swizzle128 (the pattern repeats every 8 rows of 128 bytes), 128 for a TMA-able row_major tile, else 16.
  int alignment() const;

  friend bool operator==(const SharedLayout &, const SharedLayout &) = default;
};

// ---------------------------------------------------------------------------------------------- fragments

/// The element a thread holds: `warp` counts in the fragment's warps, `index` in the thread's elements.
struct Owner {
  int warp = 0;
  int lane = 0;
  int index = 0;
  friend bool operator==(const Owner &, const Owner &) = default;
};

/// Ownership of a wgmma accumulator (m64nN, one 64-row block for each warpgroup) and, packed to 16 bits, of the A
/// operand of the next product; with warps == 1 and rows == 16 the same for a warp-level mma m16n8k16.
///   row = 64*(warp/4) + 16*(warp%4) + lane/4 + 8*((i>>1)&1)       (warps == 1: without the warp terms)
///   col = 8*(i/4) + 2*(lane%4) + (i&1)
struct FragmentLayout {
  int rows = 0;
  int cols = 0;
  int warps = 4;

  /// Throws tilewright::Error unless rows == 16*warps, warps is 1 or a multiple of 4 and cols is a multiple of 8.
  void check() const;
  int warpgroups() const { return (warps + 3) / 4; }
  /// Elements a thread holds: one 32-bit register each at 32 bits.
  int elements() const { return cols / 2; }
  /// 32-bit registers a thread needs for elements of `element_bytes` 4 or 2 (packed in pairs: register p holds 2p and
  /// 2p+1).
  int registers(int element_bytes = 4) const { return elements() * element_bytes / 4; }
  Coord coord(int warp, int lane, int index) const;
  Owner owner(int row, int col) const;
  friend bool operator==(const FragmentLayout &, const FragmentLayout &) = default;
};

/// The parts of FragmentLayout::coord that a code generator needs apart: the row is
/// row_of_warp(warp) + row_of_lane(lane) + row_of_index(i), the column is col_of_lane(lane) + col_of_index(i).
inline constexpr int row_of_warp(int warp) { return 16 * warp; }
inline constexpr int row_of_lane(int lane) { return lane / 4; }
inline constexpr int row_of_index(int i) { return 8 * ((i >> 1) & 1); }
inline constexpr int col_of_lane(int lane) { return 2 * (lane % 4); }
inline constexpr int col_of_index(int i) { return 8 * (i / 4) + (i & 1); }

// ---------------------------------------------------------------------------------------------- ldmatrix, stmatrix

/// Element of the shared tile whose 16-byte row lane `lane` addresses, for ldmatrix/stmatrix .x4 (8x8 blocks of 16-bit
/// elements) of the 16x16 fragment block whose first element is fragment element (r0, c0). Register q of the
/// instruction is then 16-bit register q of the block (elements 2q, 2q+1 of FragmentLayout).
///   transposed == false: the shared tile holds the fragment: row r0 + (l&7) + 8*((l>>3)&1), col c0 + 8*(l>>4).
///   transposed == true (.trans): the shared tile holds its transpose:
///     row (a fragment column) c0 + 8*(l>>4) + (l&7), col (a fragment row) r0 + 8*((l>>3)&1).
Coord matrix_lane_address(int lane, int r0, int c0, bool transposed);
/// The same as bytes of a shared tile of 16-bit elements.
int64_t matrix_lane_byte(const SharedLayout &tile, int lane, int r0, int c0, bool transposed);

/// The B operand of mma.m16n8k16 (col-major, 16 x 8): ldmatrix .x4 brings two neighbouring n8 blocks (registers 0, 1 =
/// k halves of block n0; 2, 3 = of block n0 + 8).
///   k_major == true: the shared tile is [n][k] (K contiguous), plain ldmatrix:  row n0 + (l&7) + 8*(l>>4), col k0 +
///   8*((l>>3)&1). k_major == false: the shared tile is [k][n], ldmatrix .trans:               row k0 + (l&7) +
///   8*((l>>3)&1), col n0 + 8*(l>>4).
Coord mma_b_lane_address(int lane, int k0, int n0, bool k_major);

/// A of a tf32 product in registers: of 8 columns register j holds row lane/4 + 8*(j&1), column lane%4 + 4*(j>>1). An accumulator
/// has columns 2t and 2t+1 in lane t of the four that share a row. Two exchanges move them: in each, with p = tf32_part(t, round),
/// lane t publishes its column 2t+p, reads what lane tf32_source(t, round) publishes, and has column t + 4p.
inline constexpr int tf32_part(int t, int round) { return (t ^ ((t >> 1) + round)) & 1; }
inline constexpr int tf32_source(int t, int round) { return 2 * tf32_part(t, round) + (t >> 1); }

// ---------------------------------------------------------------------------------------------- wgmma descriptors

/// Bytes of K in a k-step: 16 elements, 8 of 32 bits.
inline constexpr int kKStepBytes = 32;

/// Fields of a shared-memory matrix descriptor that do not depend on the address, and the byte advances inside a tile.
/// The tile is swizzle128 with 16-bit elements, or with 32-bit elements (tf32) if K is contiguous.
struct WgmmaOperand {
  SharedLayout tile;
  bool mn_major = false; ///< false: K contiguous (tile is [mn][k]); true: M or N contiguous (tile is [k][mn])

  /// Throws tilewright::Error unless the tile is swizzle128 with 16-bit elements (32-bit ones if not mn_major) and, when
  /// mn_major, a multiple of 16 rows.
  void check() const;
  /// Leading byte offset: K-major: not used by the hardware, 16; MN-major: distance of two 64-wide panels, rows*128.
  int64_t leading_bytes() const;
  /// Stride byte offset: 8 rows of 128 bytes.
  int64_t stride_bytes() const { return 1024; }
  /// Bits 63..32 of the descriptor: 128-byte swizzle, stride byte offset: 0x40000040.
  uint32_t high_word() const;
  /// Bits 31..0 of the descriptor for the shared address `address`: ((address & 0x3FFFF) >> 4) | leading/16 << 16.
  uint32_t low_word(uint32_t address) const;
  /// Elements of K in a k-step: 16, or 8 of 32 bits.
  int k_step() const { return kKStepBytes / tile.element_bytes; }
  /// Bytes from the tile's start to k-step `kk`.
  ///   K-major: kk*32/128 panels and kk*32%128.   MN-major: kk*16*128.
  int64_t k_step_bytes(int kk) const;
  /// Bytes from the tile's start to element `mn` of the M or N side: K-major: multiple of 8, mn*128; MN-major: multiple
  /// of 64, mn/64 panels.
  int64_t mn_bytes(int mn) const;
  /// Number of k-steps of the tile, and its extent along M or N.
  int k_steps() const;
  int mn_extent() const { return mn_major ? tile.cols : tile.rows; }
};

// ---------------------------------------------------------------------------------------------- bank conflicts,
// pictures

/// Passes over shared memory that one warp access takes beyond the least possible for its width: 0 = conflict free.
/// Lanes with byte address < 0 are inactive. Access of 4 (or fewer) bytes: 32 lanes a pass; 8 bytes: half warps; 16
/// bytes: quarter warps (so does each 8x8 matrix of ldmatrix/stmatrix). Lanes that read the same 4-byte word share it.
int bank_conflicts(std::span<const int64_t> lane_bytes, int access_bytes);

/// Text picture of the first rows and columns of a shared tile: for every element its byte offset and first bank.
std::string picture(const SharedLayout &layout, int max_rows = 16, int max_cols = 16);
/// Text picture of a fragment: for every element warp.lane.index of its owner.
std::string picture(const FragmentLayout &layout, int max_rows = 16, int max_cols = 16);

} // namespace tilewright::layout
