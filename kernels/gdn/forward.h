// GDN forward, the chain kernel.
//
// Per chunk of C = 64 tokens of one head, with the state transposed and kept in registers (S^T: [dv, dk]), b the in-chunk
// cumulative decay in log2 units and b_C its last value:
//   U^T  = S^T K^T                      W^T = V^T - 2^b U^T              V'^T = W^T T^T        (T = (I + diag(beta) M)^-1 diag(beta))
//   O^T  = scale 2^b S^T Q^T + V'^T P^T                                   P = tril(scale 2^(b_i - b_j) Q K^T)
//   S^T <- 2^(b_C) S^T + (V'^T 2^(b_C - b)) K
// A warpgroup owns 64 rows of S^T and never talks to another: each product's result, rounded, is the register operand of
// the next.
//
// A CTA has one chain (a sequence and a head), or with segments the works that the planner cut chains into (works.h): some chunks of a work may only
// move the state ("silent": no q, no o), and a state may come from or go to the records of segments (records.h).
#pragma once
#include <optional>
#include <vector>

#include "kernels/gdn/checkpoints.h"
#include "kernels/gdn/norms.h"
#include "kernels/gdn/records.h"
#include "kernels/gdn/works.h"

namespace tilewright::gdn {

template <Half T>
Program forward(ForwardConfig c) {
  return kernel(c.value_columns == c.dv ? "gdn_forward" : "gdn_forward_split", [=](Kernel& k) {
    const int dk = c.dk, dv = c.dv, columns = c.value_columns, splits = dv / columns;
    const bool wide = columns == 128;
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
    Real scale = k.scalar_f32("scale");
    Index query_group = k.scalar_i32("query_group"), key_group = k.scalar_i32("key_group"), value_group = k.scalar_i32("value_group");

    const bool goes_on = Works::goes_on(c);
    auto [cta, unused1, unused2] = k.grid(goes_on ? Extent(k.dim("sms")) : (c.segments ? Extent(k.dim("units")) : N * heads) * Extent(splits));

    auto q = k.staged<T>("q_tile", c.stages, {kChunk, dk}), key = k.staged<T>("k_tile", c.stages, {kChunk, dk});
    auto v = k.staged<T>("v_tile", c.stages, {kChunk, columns}), tm = k.staged<T>("tm_tile", c.stages, {kChunk, kChunk});
    auto b = k.staged<f32>("b_tile", c.stages, {1, kChunk});
    auto p = k.staged<T>("p_tile", 2, {kChunk, kChunk});
    // 2^b, scale 2^b, 2^(b_C - b); with l2norm times the inverse norms of the rows that they scale, then those of k and q, and 2^b alone. With
    // prefixes two rows of Checkpoints.
    auto decay = k.staged<f32>("decay_tile", 2, {decay_rows(c) + (c.prefixes ? 2 : 0), kChunk});
    std::optional<Real> eps;
    if (c.l2norm) eps = k.scalar_f32("l2norm_eps");
    auto o = k.staged<T>("o_tile", 2, {kChunk, columns});

    Role chain = k.role("chain", warpgroups(columns / 64), wide ? 208 : 240), aux = k.role("aux", warpgroups(1), wide ? 72 : 128);
    Role loader = k.role("load", one_thread(), 24), save = k.role("store", one_thread(), 24);
    Ring in = k.ring("in", c.stages, loader, {chain, aux}, q, key, v, tm, b);
    Ring prepared = k.ring("prepared", 2, aux, {chain}, p, decay);
    Ring out = k.ring("out", 2, chain, {save}, o);
    Works works(k, c, offsets, cta, tokens, N, slots, heads, aux, {chain, loader, save});
    std::optional<Records<T>> records;
    if (c.segments) records.emplace(k, c);
    if (goes_on && c.l2norm) k.allow("spills"), k.allow("stack");  // 7 registers

    const auto load_work = [&](const Work& w, auto then) {
      Index query_head = w.head / query_group, key_head = w.head / key_group, value_head = w.head / value_group;
      // What has no reader comes as zeros: q of silent chunks, and v where the state starts as the identity.
      const auto load_rows = [&](Stage at, Index i) {
        Index row = w.row(i);
        in.tma_load(at, key, K.ragged_tile(w.s.first, w.s.count, {row, key_head, 0}, {kChunk, 1, dk}));
        in.tma_load(at, q, Q.ragged_tile(w.s.first, select(i >= w.silent, w.s.count, 0), {row, query_head, 0}, {kChunk, 1, dk}));
        in.tma_load(at, v, V.ragged_tile(w.s.first, select(w.starts(Start::identity), k.index(0), w.s.count), {row, value_head, w.column}, {kChunk, 1, columns}));
      };
      const auto load_prepared = [&](Stage at, Index i) {
        in.tma_load(at, tm, Tm.tile({w.slot(i), w.head, 0, 0}, {1, 1, kChunk, kChunk}));
        in.tma_load(at, b, B.tile({w.slot(i), w.head, 0}, {1, 1, kChunk}));
      };
      if (c.segments)
        records->load(k, w, in, key, q, [&](Stage at) {
          in.tma_load(at, v, V.ragged_tile(w.s.first, k.index(0), {0, value_head, w.column}, {kChunk, 1, columns}));
          load_prepared(at, k.index(0));
        });
      // One chunk more than there are: the chain looks one ahead, past the end it reads zeros.
      Index chunks = select(w.some, w.chunks() + 1, 0);
      std::vector<Var<Stage>> ahead;
      for (int i = 0; i < c.stages; ++i) ahead.emplace_back(Stage{k.index(0)});
      const auto for_first = [&](auto f) {
        for (int i = 0; i < c.stages; ++i) if_(k.index(i) < chunks, [&] { f(ahead[static_cast<std::size_t>(i)], k.index(i)); });
      };
      for_first([&](Var<Stage>& at, Index i) {  // while the prologue still runs
        at.set(in.acquire());
        load_rows(at.get(), i);
      });
      Work checked = then();
      for_first([&](Var<Stage>& at, Index i) { load_prepared(at.get(), i); });
      for_range(k.index(c.stages), select(checked.some, checked.chunks() + 1, 0), 1, [&](Index i) {
        Stage at = in.acquire();
        load_rows(at, i);
        load_prepared(at, i);
      });
    };
    loader([&] { works.follow_early(load_work); });

    const auto prepare_work = [&](const Work& w) {
      if (c.segments) for_(w.hops() * 2, [&](Index) { in.release(in.wait()); });
      auto qk = k.frag<f32>({kChunk, kChunk}, "q k^T");
      auto b_row = k.frag<f32>({kChunk, 1}, "b_i"), q_norm = k.frag<f32>({kChunk, 1}, "1 / |q_i|");
      std::optional<Checkpoints::Position> position;
      if (c.prefixes) position = checkpoints->begin(w.n, k.index(0));
      const auto write_decay = [&](Stage at, Stage to, Index chunk) {
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
          if (c.prefixes) checkpoints->prepare(k, *position, chunk, w.s.count, i, b[at], decay[to], c.l2norm ? std::optional(from_k) : std::nullopt);
        });
        if (c.prefixes) checkpoints->advance(*position);
      };
      if (c.segments)
        for_(w.silent, [&](Index i) {
          Stage at = in.wait();
          Stage to = prepared.acquire();
          write_decay(at, to, i);
          prepared.commit(to);
          in.release(at);
        });
      for_(select(w.some, w.loud + 1, 0), [&](Index i) {
        Stage at = in.wait();
        gemm_zero(qk, q[at], key[at].t());
        Batch product = k.batch();
        Stage to = prepared.acquire();
        write_decay(at, to, i);
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
    };
    aux([&] { works.find([&](auto read) { prepare_work(read()); }); });

    const auto walk = [&](auto read) {
      Work w = read();
      auto St = k.frag<f32>({columns, dk}, "S^T"), Ut = k.frag<f32>({columns, kChunk}, "U^T"), Ot = k.frag<f32>({columns, kChunk}, "O^T");
      auto Sb = k.frag<T>({columns, dk}, "S^T, 16 bit"), Vt = k.frag<T>({columns, kChunk}, "V^T");
      auto e = k.frag<f32>({1, kChunk}, "2^b"), e_out = k.frag<f32>({1, kChunk}, "scale 2^b"), e_rest = k.frag<f32>({1, kChunk}, "2^(b_C - b)");
      fill(St, 0.0);
      if_(S0.present() & w.starts(Start::initial), [&] {
        Index row = read_slots.at(w.n);
        if_(row >= 0, [&] { S0.load(k, St, row, w.head, w.column); });
      });
      if (c.segments) {
        if_(w.starts(Start::identity), [&] { map_to(St, [&](Index row, Index column, Real) { return select(row + w.column == column, 1.0, 0.0); }, St); });
        records->compose(k, w, in, key, q, St, Sb, Ut, Ot);
      }

      std::optional<Checkpoints::Position> position;
      if (checkpoints) position = checkpoints->begin(w.n, w.begin + w.silent);

      Var<Stage> current(Stage{k.index(0)}), ready(Stage{k.index(0)}), previous(Stage{k.index(0)});
      // W^T and V'^T of a chunk whose U^T is there, and what W^T needs.
      const auto read_values = [&](Stage at, Stage d) { load(Vt, v[at].t()), load(e, decay[d].row(0)); };
      const auto start_values = [&](Stage at, Stage d) {
        gemm_zero(Ut, map<T>([](Real v, Real u, Real eb) { return v - eb * u; }, Vt, Ut, e), tm[at].t());
        Batch values = k.batch();
        load(e_rest, decay[d].row(2));
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
        if (c.prefixes) factor = checkpoints->first_decay(decay[d]);
        tilewright::scale(St, wide ? factor : select(i < w.chunks(), factor, 1.0));
      };
      // S^T += (V'^T 2^(b_C - b)) K
      const auto add_values = [&](Stage at) {
        gemm_add(St, map<T>([](Real v, Real ed) { return v * ed; }, Ut, e_rest), key[at]);
        return k.batch();
      };
      // Until U^T is there, and what the chunk's W^T needs. Two warpgroups fill each other's gaps, and reads from shared memory beside products cost them
      // more than the wait. One alone reads and decays the state under U^T and goes on to V'^T, with the first half of S^T Q^T under W^T and the second
      // under the rounding of V'^T.
      const auto look_ahead = [&](Index i, Stage at, Batch u) {
        Stage d = prepared.wait();
        if (!wide) read_values(at, d), decay_state(d, i);
        settle(u);
        if (wide) read_values(at, d);
        if (!wide) settle(start_values(at, d));
        current.set(at);
        ready.set(d);
      };
      // U^T of the next chunk; two warpgroups start S^T Q^T with it, if anybody reads it.
      const auto start_next = [&](Stage next, bool loud) {
        gemm_zero(Ut, Sb, key[next].t());
        if (wide && loud) gemm_zero(Ot, Sb, q[next].t());
        return k.batch();
      };
      const auto silent_chunk = [&](Index i) {
        Stage at = current.get(), d = ready.get();
        if (wide) {
          Batch values = start_values(at, d);
          decay_state(d, i);
          settle(values);
        }
        Batch state = add_values(at);
        Stage next = in.wait();
        settle(state);
        in.release(at);
        prepared.release(d);
        map_to(Sb, [](Real x) { return x; }, St);
        look_ahead(i + 1, next, start_next(next, false));
      };
      const auto loud_chunk = [&](Index i) {
        Stage at = current.get(), d = ready.get();
        std::optional<Batch> second;
        if (wide) {
          Batch values = start_values(at, d);
          decay_state(d, i);
          settle(values);
        } else {
          second = read_out(at, second_half);
        }
        if (c.prefixes) {
          if (second) settle(*second);
          checkpoints->inside(k, *position, i, w.s.count, St, cast<T>(Ut), key[at], decay[d], w.head, w.column);
        }
        Batch state = add_values(at);
        auto Vn = cast<T>(Ut);
        load(e_out, decay[d].row(1));
        if (second && !c.prefixes) settle(*second);
        map_to(Ot, [](Real x, Real es) { return x * es; }, Ot, e_out);
        gemm_add(Ot, Vn, p[d].t());
        Batch pv = k.batch();
        if_(i > 0, [&] { out.commit(previous.get()); });
        Stage next = in.wait();
        Stage to = out.acquire();
        settle(wide ? pv : state);
        std::optional<Frag<T>> On;
        if (wide) On = cast<T>(Ot);
        in.release(at);
        map_to(Sb, [](Real x) { return x; }, St);
        if (checkpoints) checkpoints->pass(*position, (w.begin + w.silent + i + 1) * kChunk <= w.s.count, St, Sb, w.head, w.column);
        Batch u_next = start_next(next, true);
        if (!wide) settle(pv);
        prepared.release(d);
        if (!wide) On = cast<T>(Ot), read_out(next, first_half);
        store(o[to].t(), *On);
        previous.set(to);
        look_ahead(w.silent + i + 1, next, u_next);
      };

      if_(w.some, [&] {
        current.set(in.wait());
        map_to(Sb, [](Real x) { return x; }, St);
        Batch first = start_next(current.get(), !c.segments);
        if (!wide && !c.segments) read_out(current.get(), first_half);
        look_ahead(k.index(0), current.get(), first);
        if (c.segments) {
          for_(w.silent, silent_chunk);
          settle(read_out(current.get(), wide ? all : first_half));
        }
        for_(w.loud, loud_chunk);
        if_(w.loud > 0, [&] { out.commit(previous.get()); });
        if (goes_on) {
          in.release(current.get());
          prepared.release(ready.get());
        }
      });
      w = read();
      if_(Sn.present() & w.finishes(Finish::final_state), [&] {
        Index row = write_slots.at(w.n);
        if_(row >= 0, [&] { Sn.store(St, Sb, row, w.head, w.column); });
      });
      if (c.segments) records->finish(k, w, St);
    };
    chain([&] { works.follow(walk); });

    save([&] {
      works.follow([&](auto read) {
        Work w = read();
        for_(w.loud, [&](Index i) {
          Stage at = out.wait();
          tma_store(O.ragged_tile(w.s.first, w.s.count, {w.row(w.silent + i), w.head, w.column}, {kChunk, 1, columns}), o[at]);
          k.store_wait(0);
          out.release(at);
        });
      });
      k.store_wait_complete();
    });
  });
}

}  // namespace tilewright::gdn
