// What segments of a chain leave for the later ones: E, the state at a segment's end when it starts from zero, and A, the matrix that takes a state at
// its beginning to its part of the state at the end. With S_0 = E_0 (segment 0 starts from the initial state), S_r = A_r S_(r-1) + E_r.
//
// S and E are fp32. A is the sum of two 16-bit matrices, as the products' operands are, right to 2^-16 or better; S is split likewise, and of the four
// products the smallest is left out.
#pragma once
#include "kernels/gdn/work.h"

namespace tilewright::gdn {

template <Half T>
class Records {
 public:
  Records(Kernel& k, const ForwardConfig& c) : Records(k, c, k.dim("records")) {}

  /// The load role's part of a composition: A^T of every record but the first, its high and then its low half, rows 0..63 in place of k and the others
  /// in place of q. `fill(stage)` loads what else belongs to a stage.
  template <class F>
  void load(Kernel& k, const Work& w, const Ring& in, const Staged<T>& key, const Staged<T>& query, F&& fill) const {
    if_(w.hops() > 0, [&] {
      k.grid_wait();
      await(k, w.base, w.segment);
      k.fence_async_global();
    });
    for_(w.hops(), [&](Index i) {
      for (int half : {0, 1}) {
        Stage at = in.acquire();
        in.tma_load(at, key, rows(w.base + 1 + i, half, 0));
        in.tma_load(at, query, rows(w.base + 1 + i, half, kChunk));
        fill(at);
      }
    });
  }
  /// S^T before a segment, from the records of those before it. Sb: S^T rounded; spare: room for a half of E each.
  void compose(Kernel& k, const Work& w, const Ring& in, const Staged<T>& key, const Staged<T>& query, const Frag<f32>& St, const Frag<T>& Sb,
               const Frag<f32>& spare, const Frag<f32>& spare_too) const {
    if_(w.starts(Start::composed), [&] {
      await(k, w.base, w.segment);
      k.sync();
      load_global(St, ends_, {w.base, w.column, 0}, 1, 2);
    });
    for_(w.hops(), [&](Index i) {
      Index record = w.base + 1 + i;
      map_to(Sb, [](Real x) { return x; }, St);
      auto low = low_part(St, Sb);
      load_global(spare, ends_, {record, w.column, 0}, 1, 2);
      Stage high = in.wait(), rest = in.wait();
      gemm_zero(St, low.columns(0, kChunk), key[high]);
      gemm_add(St, low.columns(kChunk, kChunk), query[high]);
      Batch low_high = k.batch();
      for (const Stage& at : {high, rest}) {
        gemm_add(St, Sb.columns(0, kChunk), key[at]);
        gemm_add(St, Sb.columns(kChunk, kChunk), query[at]);
      }
      Batch others = k.batch();
      settle(low_high);  // its registers take the other half of E
      load_global(spare_too, ends_, {record, w.column, kChunk}, 1, 2);
      settle(others);
      in.release(high);
      in.release(rest);
      St.columns(0, kChunk) += spare;
      St.columns(kChunk, kChunk) += spare_too;
    });
  }
  /// After a segment: S^T as its record's E^T, or as rows of A^T, to which the rows of the identity came.
  void finish(Kernel& k, const Work& w, const Frag<f32>& St) const {
    Index record = w.base + w.segment;
    if_(w.finishes(Finish::end), [&] {
      store_global(ends_, {record, w.column, 0}, St, 1, 2);
      publish(k, record);
    });
    if_(w.finishes(Finish::transition), [&] {
      auto high = cast<T>(St);
      store_global(transitions_, {record, 0, w.column, 0}, high, 2, 3);
      store_global(transitions_, {record, 1, w.column, 0}, low_part(St, high), 2, 3);
      publish(k, record);
    });
  }

 private:
  Records(Kernel& k, const ForwardConfig& c, const Dim& records)
      : ends_(k.inout<f32>("ends", {records, c.dv, c.dk})), transitions_(k.inout<T>("transitions", {records, 2, c.dk, c.dk})),
        ready_(k.inout<i32>("ready", {records})), dk_(c.dk), parts_(c.dv / c.value_columns) {}

  TensorBox<T> rows(Index record, int half, int row) const { return transitions_.tile({record, half, row, 0}, {1, 1, kChunk, dk_}); }
  static Frag<T> low_part(const Frag<f32>& x, const Frag<T>& high) {
    return map<T>([](Real x, Real h) { return x - h; }, x, high);
  }
  /// All that the role has stored of a record is there. Called by every thread of the role.
  void publish(Kernel& k, Index record) const {
    k.sync();
    if_(k.thread() == 0, [&] { red_add(ready_, {record}, 1, Scope::gpu, Order::release); });
  }
  /// Waits for records base .. base + count - 1. Each block of columns gives E, and of each segment but its chain's first, rows of A.
  void await(Kernel& k, Index base, Index count) const {
    for_(count, [&](Index i) {
      Index all = select(i == 0, k.index(parts_), 2 * parts_);
      k.poll_until([&] { return load_acquire(ready_, {base + i}) >= all; });
    });
  }

  Tensor<f32> ends_;
  Tensor<T> transitions_;
  Tensor<i32> ready_;
  int dk_, parts_;
};

}  // namespace tilewright::gdn
