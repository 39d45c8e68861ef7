// Packed sequences on the device: where a sequence begins, and which sequence a chunk belongs to.
//
// Chunks are numbered through the batch: sequence n starts at chunk slot floor(cu[n] / 64) + n. Slots of different sequences never
// meet (ceil(len/64) <= floor(cu[n+1]/64) - floor(cu[n]/64) + 1), so T/64 + N slots are enough and no prefix sum is needed.
#pragma once
#include "kernels/gdn/config.h"

namespace tilewright::gdn {

/// Tokens [first, first + count) and the first chunk slot.
struct Sequence {
  Index first, count, slot;
  Index chunks() const { return (count + (kChunk - 1)) / kChunk; }
};

/// The batch's offsets: cu_seqlens as 32-bit words (`cu_words` words for each offset: 1 for int32, 2 for int64), or, without
/// cu_seqlens, equal sequences of `length` tokens.
struct Offsets {
  Tensor<i32> cu;
  Index cu_words, length;

  explicit Offsets(Kernel& k)
      : cu(k.optional_in<i32>("cu_seqlens", {k.dim("CU")})), cu_words(k.scalar_i32("cu_words")), length(k.scalar_i32("length")) {}

  /// Token at which sequence n begins. Called inside a role.
  Index start(Kernel&, Index n) const {
    Var<Index> at(n * length);
    if_(cu.present(), [&] { at.set(cu.read({n * cu_words})); });
    return at.get();
  }
  Sequence sequence(Kernel& k, Index n) const {
    Index first = start(k, n), end = start(k, n + 1);
    return {first, end - first, first / kChunk + n};
  }
};

/// The sequence that owns the `block`th 64 rows of the batch: the largest n < N with floor(cu[n]/64) <= block, found by all lanes of a
/// warp together, 32 candidates a level. `levels` and `top` = 32^(levels-1) come from the host and cover N, which may be less than the
/// batch has: then only the first N sequences exist, here and below.
inline Index owner_of(Kernel& k, const Offsets& offsets, Index block, Index N, Index levels, Index top) {
  Var<Index> low(k.index(0)), stride(top);
  for_(levels, [&](Index) {
    Index candidate = low.get() + k.lane() * stride.get();
    Index begins = offsets.start(k, min(candidate, N)) / kChunk;
    Index best = select((candidate < N) & (begins <= block), candidate, low.get());
    low.set(k.ptx<Index>("redux.sync.max.s32 #out0, #0, 0xffffffff;", best));
    stride.set(stride.get() >> 5);
  });
  return k.uniform(low.get());
}

/// A chunk slot and its sequence, if a sequence has it.
struct ChunkSlot {
  Index slot, n;
  Pred exists;
};

/// The place-th slot in an order that has those which may be empty at its end: first floor(T/64) slots, one for each 64 rows of the batch, then
/// each sequence's last slot, which nothing fills where the sequence ends at a multiple of 64. Rows before the first and behind the last sequence
/// have no slot.
inline ChunkSlot slot_at(Kernel& k, const Offsets& offsets, Index place, Index T, Index N, Index levels, Index top) {
  Index blocks = T / kChunk, owner = owner_of(k, offsets, place, N, levels, top);
  Pred last = place >= blocks;
  Index n = select(last, place - blocks, owner), begin = offsets.start(k, n) / kChunk, end = offsets.start(k, n + 1) / kChunk;
  return {select(last, end, place) + n, n, (N > n) & (last | ((begin <= place) & (place < end)))};
}

}  // namespace tilewright::gdn
