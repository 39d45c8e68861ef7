// GDN forward, the chain kernel.
//
// Per chunk of C = 64 tokens of one head, with the state transposed and kept in registers (S^T: [dv, dk]), b the in-chunk
// cumulative decay in log2 units and b_C its last value:
//   U^T  = S^T K^T                      W^T = V^T - 2^b U^T              V'^T = W^T T^T        (T = (I + diag(beta) M)^-1 diag(beta))
//   O^T  = scale 2^b S^T Q^T + V'^T P^T                                   P = tril(scale 2^(b_i - b_j) Q K^T)
//   S^T <- 2^(b_C) S^T + (V'^T 2^(b_C - b)) K
// A warpgroup owns 64 rows of S^T and never talks to another: each product's result, rounded to 16 bits, is the register operand of
// the next.
#pragma once
#include <optional>

#include "kernels/gdn/checkpoints.h"
#include "kernels/gdn/norms.h"
#include "kernels/gdn/offset_check.h"

namespace tilewright::gdn {

template <Half T>
Program forward(ForwardConfig c) {
  return kernel(c.value_columns == c.dv ? "gdn_forward" : "gdn_forward_split", [=](Kernel& k) {
    const int dk = c.dk, dv = c.dv, columns = c.value_columns, splits = dv / columns;
    Dim tokens = k.dim("T"), N = k.dim("N"), slots = k.dim("slots"), heads = k.dim("heads");
    auto Q = k.in<T>("q", {tokens, k.dim("hq"), dk}), K = k.in<T>("k", {tokens, k.dim("hk"), dk}), V = k.in<T>("v", {tokens, k.dim("hv"), dv});
    auto Tm = k.in<T>("tm", {slots, heads, kChunk, kChunk});
    auto B = k.in<f32>("b", {slots, heads, kChunk});
    auto O = k.out<T>("o", {tokens, heads, dv});
    States S0(k, "initial_state", States::Use::in, c.states.initial, c), Sn(k, "final_state", States::Use::out, c.states.final, c);
    Numbering read_slots(k, "read_slots"), write_slots(k, "write_slots");
    std::optional<Checkpoints> checkpoints;
    if (c.checkpoints) checkpoints.emplace(k, c);
    Offsets offsets(k);
    CheckedSequence sequence(k, offsets, tokens, c.stages);
    Real scale = k.scalar_f32("scale");
    Index query_group = k.scalar_i32("query_group"), key_group = k.scalar_i32("key_group"), value_group = k.scalar_i32("value_group");

    auto [x, unused1, unused2] = k.grid(N * heads * Extent(splits));
    Index chain_of = x / splits, n = chain_of / heads, head = chain_of - n * heads, column = (x % splits) * columns;

    auto q = k.staged<T>("q_tile", c.stages, {kChunk, dk}), key = k.staged<T>("k_tile", c.stages, {kChunk, dk});
    auto v = k.staged<T>("v_tile", c.stages, {kChunk, columns}), tm = k.staged<T>("tm_tile", c.stages, {kChunk, kChunk});
    auto b = k.staged<f32>("b_tile", c.stages, {1, kChunk});
    auto p = k.staged<T>("p_tile", 2, {kChunk, kChunk});
    // 2^b, scale 2^b, 2^(b_C - b); with l2norm times the inverse norms of the rows that they scale, then those of k and q, and 2^b alone.
    auto decay = k.staged<f32>("decay_tile", 2, {c.l2norm ? 6 : 3, kChunk});
    std::optional<Real> eps;
    if (c.l2norm) eps = k.scalar_f32("l2norm_eps");
    auto o = k.staged<T>("o_tile", 2, {kChunk, columns});

    const bool wide = columns == 128;
    Role chain = k.role("chain", warpgroups(columns / 64), wide ? 208 : 240), aux = k.role("aux", warpgroups(1), wide ? 72 : 128);
    Role loader = k.role("load", one_thread(), 24), save = k.role("store", one_thread(), 24);
    Ring in = k.ring("in", c.stages, loader, {chain, aux}, q, key, v, tm, b);
    Ring prepared = k.ring("prepared", 2, aux, {chain}, p, decay);
    Ring out = k.ring("out", 2, chain, {save}, o);

    loader([&] {
      Sequence s = sequence.within(k, n);
      Index query_head = head / query_group, key_head = head / key_group, value_head = head / value_group;
      const auto load_rows = [&](Stage at, Index i) {
        Index row = i * kChunk;
        in.tma_load(at, key, K.ragged_tile(s.first, s.count, {row, key_head, 0}, {kChunk, 1, dk}));
        in.tma_load(at, q, Q.ragged_tile(s.first, s.count, {row, query_head, 0}, {kChunk, 1, dk}));
        in.tma_load(at, v, V.ragged_tile(s.first, s.count, {row, value_head, column}, {kChunk, 1, columns}));
      };
      const auto load_prepared = [&](Stage at, Index i) {
        in.tma_load(at, tm, Tm.tile({s.slot + i, head, 0, 0}, {1, 1, kChunk, kChunk}));
        in.tma_load(at, b, B.tile({s.slot + i, head, 0}, {1, 1, kChunk}));
      };
      // One chunk more than there are: the chain looks one chunk ahead, past the end it reads zeros.
      Index ahead = min(s.chunks() + 1, c.stages);
      for_(ahead, [&](Index i) { load_rows(in.acquire(), i); });  // while the prologue still runs
      k.grid_wait();
      for_(ahead, [&](Index i) { load_prepared(Stage{i}, i); });
      for_range(ahead, sequence.walk(s, n).chunks + 1, 1, [&](Index i) {
        Stage at = in.acquire();
        load_rows(at, i);
        load_prepared(at, i);
      });
    });

    aux([&] {
      Index chunks = sequence.walk(k, n).chunks;
      auto qk = k.frag<f32>({kChunk, kChunk}, "q k^T");
      auto b_row = k.frag<f32>({kChunk, 1}, "b_i"), q_norm = k.frag<f32>({kChunk, 1}, "1 / |q_i|");
      for_(chunks + 1, [&](Index) {
        Stage at = in.wait();
        gemm_zero(qk, q[at], key[at].t());
        Batch product = k.batch();
        Stage to = prepared.acquire();
        if (c.l2norm) {
          inverse_norms(k, key[at], dk, *eps, decay[to].row(3));
          inverse_norms(k, q[at], dk, *eps, decay[to].row(4));
          k.sync();
        }
        if_(k.thread() < kChunk, [&] {
          Index i = k.thread();
          Real bi = b[at].read(0, i), bC = b[at].read(0, kChunk - 1), e = exp2(bi), rest = exp2(bC - bi);
          Real from_k = c.l2norm ? decay[to].read(3, i) : e, from_q = c.l2norm ? decay[to].read(4, i) : e;
          decay[to].write(0, i, c.l2norm ? e * from_k : e);
          decay[to].write(1, i, c.l2norm ? scale * e * from_q : scale * e);
          decay[to].write(2, i, c.l2norm ? rest * from_k : rest);
          if (c.l2norm) decay[to].write(5, i, e);
        });
        load(b_row, b[at].t());
        if (c.l2norm) load(q_norm, decay[to].row(4).t());
        settle(product);
        const auto score = [&](Index i, Index j, Real x, Real bi, Real bj) { return select(i >= j, x * scale * exp2(bi - bj), 0.0); };
        auto P = c.l2norm ? map<T>([&](Index i, Index j, Real x, Real bi, Real bj, Real qi, Real kj) { return score(i, j, x * qi * kj, bi, bj); },
                                   qk, b_row, b[at], q_norm, decay[to].row(3))
                          : map<T>([&](Index i, Index j, Real x, Real bi, Real bj) { return score(i, j, x, bi, bj); }, qk, b_row, b[at]);
        store(p[to], P);
        prepared.commit(to);
        in.release(at);
      });
    });

    chain([&] {
      auto St = k.frag<f32>({columns, dk}, "S^T"), Ut = k.frag<f32>({columns, kChunk}, "U^T"), Ot = k.frag<f32>({columns, kChunk}, "O^T");
      auto Sb = k.frag<T>({columns, dk}, "S^T, 16 bit"), Vt = k.frag<T>({columns, kChunk}, "V^T");
      auto e = k.frag<f32>({1, kChunk}, "2^b"), e_out = k.frag<f32>({1, kChunk}, "scale 2^b"), e_rest = k.frag<f32>({1, kChunk}, "2^(b_C - b)");
      fill(St, 0.0);
      if_(S0.present(), [&] {
        Index row = read_slots.at(n);
        if_(row >= 0, [&] { S0.load(k, St, row, head, column); });
      });
      const auto [good, chunks, s] = sequence.walk(k, n);

      std::optional<Checkpoints::Position> position;
      if (checkpoints) position = checkpoints->begin(n);

      Var<Stage> current(in.wait()), ready(Stage{k.index(0)}), previous(Stage{k.index(0)});
      // W^T and V'^T of a chunk whose U^T is there.
      const auto start_values = [&](Stage at, Stage d) {
        gemm_zero(Ut, map<T>([](Real v, Real u, Real eb) { return v - eb * u; }, Vt, Ut, e), tm[at].t());
        Batch values = k.batch();
        if (!wide) load(e_rest, decay[d].row(2));
        return values;
      };
      // S^T Q^T, or a half of dk of it.
      enum Part { all, first_half, second_half };
      const auto read_out = [&](Stage at, Part part) {
        const int from = part == second_half ? dk / 2 : 0, width = part == all ? dk : dk / 2;
        auto S_part = Sb.columns(from, width);
        auto Q_part = q[at].view(0, from, {kChunk, width}).t();
        part == second_half ? gemm_add(Ot, S_part, Q_part) : gemm_zero(Ot, S_part, Q_part);
        return k.batch();
      };
      const auto decay_state = [&](Stage d, Index i) {  // past the last chunk nothing is used, and S^T stays
        Real factor = decay[d].read(c.l2norm ? 5 : 0, kChunk - 1);
        tilewright::scale(St, wide ? factor : select(i < chunks, factor, 1.0));
      };
      // Under U^T: what the chunk's W^T needs. One warpgroup alone goes on to V'^T, with the first half of S^T Q^T under W^T and the second under the
      // rounding of V'^T; two fill each other's gaps, and have no registers for it.
      const auto look_ahead = [&](Index i, Stage at, Batch u) {
        load(Vt, v[at].t());
        Stage d = prepared.wait();
        load(e, decay[d].row(0));
        if (!wide) decay_state(d, i);
        settle(u);
        if (!wide) settle(start_values(at, d));
        current.set(at);
        ready.set(d);
      };
      map_to(Sb, [](Real x) { return x; }, St);
      gemm_zero(Ut, Sb, key[current.get()].t());
      Batch first = k.batch();
      if (!wide) read_out(current.get(), first_half);
      look_ahead(k.index(0), current.get(), first);

      for_(chunks, [&](Index i) {
        Stage at = current.get(), d = ready.get();
        std::optional<Batch> values;
        if (wide) values = start_values(at, d);
        Batch sq = read_out(at, wide ? all : second_half);
        if (wide) decay_state(d, i), settle(*values);
        auto Vn = cast<T>(Ut);
        const auto rest = [](Real v, Real ed) { return v * ed; };
        gemm_add(St, wide ? map<T>(rest, Vn, decay[d].row(2)) : map<T>(rest, Vn, e_rest), key[at]);
        Batch state = k.batch();
        if (!wide) load(e_out, decay[d].row(1));
        settle(sq);
        const auto scaled = [](Real x, Real es) { return x * es; };
        wide ? map_to(Ot, scaled, Ot, decay[d].row(1)) : map_to(Ot, scaled, Ot, e_out);
        gemm_add(Ot, Vn, p[d].t());
        Batch pv = k.batch();
        if_(i > 0, [&] { out.commit(previous.get()); });
        Stage next = in.wait();
        Stage to = out.acquire();
        settle(state);
        in.release(at);
        map_to(Sb, [](Real x) { return x; }, St);
        if (checkpoints) checkpoints->pass(*position, (i + 1) * kChunk <= s.count, St, Sb, head, column);
        gemm_zero(Ut, Sb, key[next].t());
        Batch u_next = k.batch();
        settle(pv);
        prepared.release(d);
        auto On = cast<T>(Ot);
        if (!wide) read_out(next, first_half);
        store(o[to].t(), On);
        previous.set(to);
        look_ahead(i + 1, next, u_next);
      });
      if_(chunks > 0, [&] { out.commit(previous.get()); });
      if_(Sn.present(), [&] {
        Index row = write_slots.at(n);
        if_(good & (row >= 0), [&] { Sn.store(St, Sb, row, head, column); });
      });
    });

    save([&] {
      const auto [good, chunks, s] = sequence.walk(k, n);
      for_(chunks, [&](Index i) {
        Stage at = out.wait();
        tma_store(O.ragged_tile(s.first, s.count, {i * kChunk, head, column}, {kChunk, 1, columns}), o[at]);
        k.store_wait(0);
        out.release(at);
      });
      k.store_wait_complete();
    });
  });
}

}  // namespace tilewright::gdn
