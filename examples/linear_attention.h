// Causal linear attention in chunks. It teaches: three roles joined by two rings; a state that stays in registers over the whole
// sequence; an accumulator that becomes the operand of the next product; batches that overlap.
//
//   S_t = S_{t-1} + k_t v_t^T,  o_t = scale S_t^T q_t
// and for a chunk of 64 tokens, with the rows of Q, K, V its tokens and S the state before it:
//   O = scale (Q S + tril(Q K^T) V),  S <- S + K^T V
#pragma once
#include "tilewright/dsl.h"

namespace tilewright::examples {

struct LinearAttentionConfig {
  int heads = 4, dk = 128, dv = 128;  ///< dk and dv are multiples of 64
  int stages = 2;
};

/// o[B, T, heads, dv] of q, k [B, T, heads, dk] and v [B, T, heads, dv]. A CTA owns 64 columns of v of one head of one sequence.
template <Half T>
Program linear_attention(LinearAttentionConfig c) {
  return kernel("linear_attention", [=](Kernel& k) {
    const int chunk = 64, width = 64, splits = c.dv / width;
    Dim B = k.dim("B"), tokens = k.dim("T");
    auto Q = k.in<T>("q", {B, tokens, c.heads, c.dk}), K = k.in<T>("k", {B, tokens, c.heads, c.dk});
    auto V = k.in<T>("v", {B, tokens, c.heads, c.dv});
    auto O = k.out<T>("o", {B, tokens, c.heads, c.dv});
    Real scale = k.scalar_f32("scale");
    auto [x, b, unused] = k.grid(c.heads * splits, B);
    Index head = x / splits, column = (x % splits) * width;
    Index chunks = ceil_div(tokens.index(), chunk);

    auto q = k.staged<T>("q_tile", c.stages, {chunk, c.dk}), key = k.staged<T>("k_tile", c.stages, {chunk, c.dk});
    auto v = k.staged<T>("v_tile", c.stages, {chunk, width}), o = k.staged<T>("o_tile", 2, {chunk, width});
    auto state = k.shared<T>("state", {c.dk, width});  // S rounded: the B operand of Q S
    Role load = k.role("load", one_thread()), math = k.role("math", warpgroups(1)), save = k.role("save", one_thread());
    Ring in = k.ring("in", c.stages, load, {math}, q, key, v);
    Ring out = k.ring("out", 2, math, {save}, o);

    load([&] {
      for_(chunks, [&](Index i) {  // tokens past the end read as zero and leave the state as it is
        Stage s = in.acquire();
        in.tma_load(s, q, Q.tile({b, i * chunk, head, 0}, {1, chunk, 1, c.dk}));
        in.tma_load(s, key, K.tile({b, i * chunk, head, 0}, {1, chunk, 1, c.dk}));
        in.tma_load(s, v, V.tile({b, i * chunk, head, column}, {1, chunk, 1, width}));
      });
    });

    math([&] {
      std::vector<Frag<f32>> S;  // 64 rows each: the rows of a warpgroup
      for (int row = 0; row < c.dk; row += 64) S.push_back(k.frag<f32>({64, width}, "S"));
      for (auto& part : S) fill(part, 0.0);
      auto P = k.frag<f32>({chunk, chunk}, "Q K^T"), acc = k.frag<f32>({chunk, width}, "O");

      for_(chunks, [&](Index) {
        for (int i = 0; i < c.dk / 64; ++i) store(state.view(64 * i, 0, {64, width}), cast<T>(S[i]));
        k.sync();
        Stage s = in.wait();
        gemm_zero(P, q[s], key[s].t());
        Batch scores = k.batch();
        gemm_zero(acc, q[s], state);
        k.batch();
        settle(scores);  // the mask is applied while Q S runs
        auto masked = map<T>([](Index i, Index j, Real p) { return select(i >= j, p, 0.0); }, P);
        gemm_add(acc, masked, v[s]);
        for (int i = 0; i < c.dk / 64; ++i) gemm_add(S[i], key[s].view(0, 64 * i, {chunk, 64}).t(), v[s]);
        settle(k.batch());
        in.release(s);

        Stage to = out.acquire();
        store(o[to], map<T>([&](Real a) { return a * scale; }, acc));
        out.commit(to);
        k.sync();  // every warp is done with `state`
      });
    });

    save([&] {
      for_(chunks, [&](Index i) {
        Stage s = out.wait();
        tma_store(O.tile({b, i * chunk, head, column}, {1, chunk, 1, width}), o[s]);
        k.store_wait(0);
        out.release(s);
      });
      k.store_wait_complete();
    });
  });
}

}  // namespace tilewright::examples
