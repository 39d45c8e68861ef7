// Statements on whole fragments and tiles.
#include <algorithm>

#include <fmt/format.h>

#include "tests/fuzz/emit.h"
#include "tests/fuzz/expression.h"

namespace tilewright::fuzz {

Value& Emitter::make(const Statement& s) {
  Value v;
  v.type = s.type;
  v.shape = {rows_of(s.type, p_.roles[index_].warps), cols_of(s.type)};
  v.name = fmt::format("v{}", s.id);
  v.id = b_.frag(v.name, element_of(s.type.element), v.shape.rows, v.shape.cols);
  line(fmt::format("auto {} = k.frag<{}>({{{}, {}}}, \"{}\");", v.name, s.type.element, v.shape.rows, v.shape.cols, v.name));
  return values_[s.id] = v;
}

/// Settles what a statement must not meet in flight.
void Emitter::settle_before(const std::vector<int>& reads, const std::vector<int>& writes, const std::vector<int>& tiles) {
  const auto meets = [](const std::vector<int>& a, const std::vector<int>& b) {
    return std::any_of(a.begin(), a.end(), [&](int x) { return std::find(b.begin(), b.end(), x) != b.end(); });
  };
  for (std::size_t i = pending_.size(); i-- > 0;) {
    const Pending& q = pending_[i];
    if (!meets(q.accumulators, reads) && !meets(q.accumulators, writes) && !meets(q.operands, writes) && !meets(q.tiles, tiles)) continue;
    line(fmt::format("settle({});", q.name));
    b_.settle(q.batch);
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    return;
  }
}
void Emitter::settle_all() {
  if (pending_.empty()) return;
  line("k.settle_pending(0);");
  b_.settle_pending(0);
  pending_.clear();
}

void Emitter::map(const Statement& s, Index, Index i) {
  const bool update = s.op == "update";
  std::vector<int> reads = s.in, writes;
  if (update) writes = {s.in[0]};
  settle_before(reads, writes, {});
  dsl::Ids inputs;
  std::string names, lambda = "[&](Index r, Index c";
  Value out = update ? value(s.in[0]) : make(s);
  if (update && s.n[1] > 0) {
    out.name = fmt::format("{}.columns({}, {})", out.name, s.n[0], s.n[1]);
    out.id = b_.frag_view(out.id, s.n[0], s.n[1]);
  }
  for (std::size_t j = 0; j < s.in.size(); ++j) {
    Value in = value(s.in[j]);
    if (update && j == 0) in = out;
    else if (update && s.n[1] > 0 && in.type.kind == 1) {
      in.name = fmt::format("{}.columns({}, {})", in.name, s.n[0], s.n[1]);
      in.id = b_.frag_view(in.id, s.n[0], s.n[1]);
    }
    inputs.push_back(in.id);
    names += ", " + in.name;
  }
  for (std::size_t j = 0; j < s.tiles.size(); ++j) {  // vectors in shared memory
    wait_for_tile(s.tiles[j]);
    const Tile& tile = p_.tiles[s.tiles[j]];
    const std::int64_t rows = s.n[2] ? 1 : out.shape.rows, cols = s.n[2] ? out.shape.cols : 1;
    const bool whole = rows == tile.rows && cols == tile.cols;
    inputs.push_back(whole ? tile_id(s.tiles[j]) : b_.view(tile_id(s.tiles[j]), k_.index(s.n[0]).id, k_.index(s.n[1]).id, rows, cols));
    names += ", " + tile_name(s.tiles[j]) + (whole ? "" : fmt::format(".view({}, {}, {{{}, {}}})", s.n[0], s.n[1], rows, cols));
  }
  for (std::size_t j = 0; j < inputs.size(); ++j) lambda += fmt::format(", Real x{}", j);
  std::string body;
  b_.map(inputs, {out.id}, [&](dsl::Id row, dsl::Id col, const dsl::Ids& values) -> dsl::Ids {
    Scope scope{{}, {{"r", Index{{&b_, row}}}, {"c", Index{{&b_, col}}}, {"i", i}}, &k_};
    for (dsl::Id v : values) scope.inputs.push_back(Real{{&b_, v}});
    return {real_expression(s.text, scope, body).id};
  });
  line(fmt::format("map_to({}, {}) {{ return {}; }}{});", out.name, lambda, body, names));
}

void Emitter::wait_for_tile(int t) {
  if (p_.tiles[t].ring >= 0) wait_for(p_.tiles[t].ring);
}

/// Products: n = transposed A, transposed B, mode (0 zero, 1 add, 2 add_if i > 0, 3 add_if i % 2 == 0), A's origin, B's origin, K, deferred,
/// N, the accumulator's first column, the first column of a fragment A.
void Emitter::product(const Statement& s, Index i) {
  const bool warp = s.op == "mma", a_in_registers = s.in.size() > 1;
  const int a_tile = a_in_registers ? -1 : s.tiles[0], b_tile = s.tiles.back(), acc_id = s.in[0], K = s.n[7], warps = p_.roles[index_].warps;
  const bool ta = s.n[0], tb = s.n[1];
  for (int t : s.tiles) wait_for_tile(t);
  if (warp) settle_before(a_in_registers ? std::vector<int>{s.in[1]} : std::vector<int>{}, {acc_id}, {});
  else if (a_in_registers) settle_before({s.in[1]}, {}, {});
  // an accumulator that is an operand in flight
  for (const Pending& q : std::vector<Pending>(pending_))
    if (std::find(q.operands.begin(), q.operands.end(), acc_id) != q.operands.end()) settle_all();
  const auto columns = [&](Value v, int first, int count) {
    if (first == 0 && count == v.shape.cols) return v;
    v.id = b_.frag_view(v.id, first, count);
    v.name = fmt::format("{}.columns({}, {})", v.name, first, count);
    v.shape.cols = count;
    return v;
  };
  // products on some of the same columns that have not the same shape and columns
  const std::vector<int> shape{s.n[10], s.n[9], p_.tiles[b_tile].element == "f32"};
  const auto disordered = [&](const Pending& q) {
    return q.accumulators[0] == acc_id && q.shape != shape && q.shape[0] < shape[0] + shape[1] && shape[0] < q.shape[0] + q.shape[1];
  };
  if (!warp && std::any_of(pending_.begin(), pending_.end(), disordered)) settle_before({acc_id}, {}, {});
  const Value acc = columns(value(acc_id), s.n[10], s.n[9]);
  const auto view = [&](int t, int r0, int c0, int rows, int cols, bool of_warp, bool transposed, std::string& name) {
    const Tile& tile = p_.tiles[t];
    name = tile_name(t);
    if (r0 == 0 && c0 == 0 && rows == tile.rows && cols == tile.cols && !of_warp) return tile_id(t);
    Index row = k_.index(r0), col = k_.index(c0);
    std::string rt = std::to_string(r0), ct = std::to_string(c0);
    if (of_warp) (transposed ? col : row) = (transposed ? c0 : r0) + warp_rows(), (transposed ? ct : rt) = fmt::format("{} + k.warp() * 16", transposed ? c0 : r0);
    name += fmt::format(".view({}, {}, {{{}, {}}})", rt, ct, rows, cols);
    return b_.view(tile_id(t), row.id, col.id, rows, cols);
  };
  std::string a_name, b_name;
  const int M = warp ? 16 : 16 * warps, N = static_cast<int>(acc.shape.cols);
  dsl::Id a, b;
  if (a_in_registers) {
    const Value part = columns(value(s.in[1]), s.n[11], K);
    a = part.id, a_name = part.name;
  }
  if (!a_in_registers) a = view(a_tile, s.n[3], s.n[4], ta ? K : M, ta ? M : K, warp && warps > 1, ta, a_name);
  b = view(b_tile, s.n[5], s.n[6], tb ? N : K, tb ? K : N, false, tb, b_name);
  if (ta) a_name += ".t()";
  if (tb) b_name += ".t()";
  if (warp) {
    line(fmt::format("mma({}, {}, {});", acc.name, a_name, b_name));
    b_.mma(acc.id, a, ta, b, tb);
    return;
  }
  const int mode = s.n[2];
  dsl::Id accumulate = -1;
  std::string call = mode == 0 ? "gemm_zero(" : "gemm_add(";
  if (mode >= 2) {
    const Pred p = mode == 2 ? i > 0 : i % 2 == 0;
    accumulate = p.id;
    call = mode == 2 ? "gemm_add_if(i > 0, " : "gemm_add_if(i % 2 == 0, ";
  }
  line(fmt::format("{}{}, {}, {});", call, acc.name, a_name, b_name));
  b_.gemm(acc.id, a, ta, b, tb, mode == 0, accumulate);
  Pending q{b_.batch(), fmt::format("b{}", batches_++), {acc_id}, {}, s.tiles, shape};
  line(fmt::format("Batch {} = k.batch();", q.name));
  if (a_in_registers) q.operands = {s.in[1]};
  pending_.push_back(q);
  if (s.n[8] == 0) settle_before({acc_id}, {}, {});
}

/// reduce: n = axis (0 rows, 1 columns of a warp, 2 all columns). scan: n = axis (0 along rows, 1 down a warp, 2 down all), exclusive, reverse.
void Emitter::sums(const Statement& s) {
  settle_before({s.in[0]}, {}, {});
  const Value in = value(s.in[0]);
  const Frag<f32> x(&b_, in.id, in.shape);
  Value out;
  out.type = s.type;
  out.shape = {rows_of(s.type, p_.roles[index_].warps), cols_of(s.type)};
  out.name = fmt::format("v{}", s.id);
  const std::string scratch = fmt::format("scratch{}", s.id);
  const auto shared = [&] { return Shared<f32>(&b_, scratch_ids_.at(scratch), {p_.roles[index_].warps, s.type.cols}); };
  std::string text;
  if (s.op == "reduce") {
    if (s.n[0] == 0) out.id = reduce(x, s.text).id, text = fmt::format("reduce({}, \"{}\")", in.name, s.text);
    else if (s.n[0] == 1) out.id = warp_reduce_columns(x, s.text).id, text = fmt::format("warp_reduce_columns({}, \"{}\")", in.name, s.text);
    else out.id = reduce_columns(x, shared(), s.text).id, text = fmt::format("reduce_columns({}, {}, \"{}\")", in.name, scratch, s.text);
  } else {
    const ScanForm form{s.n[1] != 0, s.n[2] != 0};
    const std::string form_text = fmt::format("{{.exclusive = {}, .reverse = {}}}", s.n[1] != 0, s.n[2] != 0);
    if (s.n[0] == 0) out.id = row_scan(x, s.text, form).id, text = fmt::format("row_scan({}, \"{}\", {})", in.name, s.text, form_text);
    else if (s.n[0] == 1) out.id = warp_column_scan(x, s.text, form).id, text = fmt::format("warp_column_scan({}, \"{}\", {})", in.name, s.text, form_text);
    else out.id = column_scan(x, shared(), s.text, form).id, text = fmt::format("column_scan({}, {}, \"{}\", {})", in.name, scratch, s.text, form_text);
  }
  line(fmt::format("auto {} = {};", out.name, text));
  values_[s.id] = out;
  if (s.op == "reduce" || s.text == "add" || !s.n[1]) return;
  const Frag<f32> f(&b_, out.id, out.shape);  // an exclusive one lets infinities out
  map_to(f, [](Real v) { return max(min(v, 1000.0), -1000.0); }, f);
  line(fmt::format("map_to({0}, [](Real v) {{ return max(min(v, 1000.0), -1000.0); }}, {0});", out.name));
}

/// load_global, store_global: n = swapped axes, columns that the tensor has more, first column.
void Emitter::global(const Statement& s, Index item, Index i, bool store) {
  const Value v = store ? value(s.in[0]) : make(s);
  if (store) settle_before({s.in[0]}, {}, {});
  const std::string name = fmt::format("{}{}", store ? "y" : "x", s.id);
  const dsl::Id t = tensor_ids_.at(name);
  const bool swapped = s.n[0], in_loop = s.phase == kLoop;
  Index row = v.type.warp || (v.type.kind == 1 && v.type.varies && store) ? (v.type.kind == 1 ? k_.warp() : warp_rows()) : k_.index(0), col = k_.index(s.n[2]);
  std::string row_text = v.type.warp ? "k.warp() * 16" : v.type.kind == 1 && v.type.varies && store ? "k.warp()" : "0", col_text = std::to_string(s.n[2]);
  if (swapped) std::swap(row, col), std::swap(row_text, col_text);
  const Index slot = store ? i : (item + i) % 2;
  const std::string i_text = in_loop ? "i" : "0";
  if (store) {
    const auto write = [&] {
      b_.store_global(v.id, t, {item.id, slot.id, row.id, col.id}, swapped ? 3 : 2, swapped ? 2 : 3);
      line(fmt::format("store_global({}, {{item, {}, {}, {}}}, {}, {}, {});", name, i_text, row_text, col_text, v.name, swapped ? 3 : 2, swapped ? 2 : 3));
    };
    if (v.type.kind != 1 || v.type.varies || p_.roles[index_].warps == 1) return write();
    block("if_(k.warp() == 0, [&] {", "});", [&] { if_(k_.warp() == 0, write); });
    return;
  }
  b_.load_global(t, {slot.id, row.id, col.id}, v.id, swapped ? 2 : 1, swapped ? 1 : 2);
  line(fmt::format("load_global({}, {}, {{(item + {}) % 2, {}, {}}}, {}, {});", v.name, name, i_text, row_text, col_text, swapped ? 2 : 1, swapped ? 1 : 2));
}

/// load, put, made: n = transposed, the view's origin.
void Emitter::tile_move(const Statement& s, bool store) {
  const int t = s.tiles[0];
  const Tile& tile = p_.tiles[t];
  const bool own = tile.ring < 0, transposed = s.n[0];
  if (!store) wait_for_tile(t);
  settle_before(store ? s.in : std::vector<int>{}, {}, store ? s.tiles : std::vector<int>{});
  if (own && store) b_.sync(), line("k.sync();");
  const Value v = store ? value(s.in[0]) : make(s);
  std::int64_t rows = v.shape.rows, cols = v.shape.cols;
  if (transposed) std::swap(rows, cols);
  const bool of_warp = v.type.warp && v.type.kind != 1 && p_.roles[index_].warps > 1;
  Index r = k_.index(s.n[1]), c = k_.index(s.n[2]);
  std::string rt = std::to_string(s.n[1]), ct = std::to_string(s.n[2]);
  if (of_warp) (transposed ? c : r) = s.n[transposed ? 2 : 1] + warp_rows(), (transposed ? ct : rt) = fmt::format("{} + k.warp() * 16", s.n[transposed ? 2 : 1]);
  dsl::Id at = tile_id(t);
  std::string name = tile_name(t);
  if (of_warp || s.n[1] || s.n[2] || rows != tile.rows || cols != tile.cols) {
    at = b_.view(at, r.id, c.id, rows, cols);
    name += fmt::format(".view({}, {}, {{{}, {}}})", rt, ct, rows, cols);
  }
  const auto move = [&] {
    if (store) b_.store(v.id, at, transposed);
    else b_.load(at, v.id, transposed);
    line(store ? fmt::format("store({}{}, {});", name, transposed ? ".t()" : "", v.name) : fmt::format("load({}, {}{});", v.name, name, transposed ? ".t()" : ""));
  };
  if (store && v.type.kind == 1 && p_.roles[index_].warps > 1) {
    block("if_(k.warp() == 0, [&] {", "});", [&] { if_(k_.warp() == 0, move); });
  } else {
    move();
  }
  if (own && store) b_.sync(), line("k.sync();");
}

/// A tile that the role has written goes to a tensor: tma, reduce, bulk or copy. n = the tensor's rows and columns, the box's origin.
void Emitter::tile_out(const Statement& s, Index item, Index i) {
  const int t = s.tiles[0];
  const Tile& tile = p_.tiles[t];
  const std::string name = fmt::format("y{}", s.id), i_text = s.phase == kLoop ? "i" : "0";
  wait_for_tile(t);
  with_any_element(tile.element, [&](auto tag) {
    using T = decltype(tag);
    const Tensor<T> to(&b_, tensor_ids_.at(name));
    const Shared<T> from(&b_, tile_id(t), {tile.rows, tile.cols});
    const std::string box_text = fmt::format("{}.tile({{item, {}, {}, {}}}, {{1, 1, {}, {}}})", name, i_text, s.n[2], s.n[3], tile.rows, tile.cols);
    if (s.text == "copy") {
      copy_out(to.tile({item, i, s.n[2], s.n[3]}, {1, 1, tile.rows, tile.cols}), from);
      line(fmt::format("copy_out({}, {});", box_text, tile_name(t)));
    } else {
      block("if_(k.thread() == 0, [&] {", "});", [&] {
        if_(k_.thread() == 0, [&] {
          if (s.text == "bulk") {
            bulk_store(to, {item, i, 0}, from);
            line(fmt::format("bulk_store({}, {{item, {}, 0}}, {});", name, i_text, tile_name(t)));
          } else if (s.text == "reduce") {
            tma_reduce_add(to.tile({s.n[2], s.n[3]}, {tile.rows, tile.cols}), from);
            line(fmt::format("tma_reduce_add({}.tile({{{}, {}}}, {{{}, {}}}), {});", name, s.n[2], s.n[3], tile.rows, tile.cols, tile_name(t)));
          } else {
            tma_store(to.tile({item, i, s.n[2], s.n[3]}, {1, 1, tile.rows, tile.cols}), from);
            line(fmt::format("tma_store({}, {});", box_text, tile_name(t)));
          }
          b_.store_wait(0, s.id % 2 == 0);
          line(s.id % 2 == 0 ? "k.store_wait_complete();" : "k.store_wait(0);");
        });
      });
    }
  });
  b_.sync(), line("k.sync();");
}

void Emitter::fragment_statement(const Statement& s, Index item, Index i) {
  if (s.op == "fill") {
    const Value v = make(s);
    fill(Frag<f32>(&b_, v.id, v.shape), std::stod(s.text));
    line(fmt::format("fill({}, {});", v.name, s.text));
  } else if (s.op == "map" || s.op == "update") {
    map(s, item, i);
  } else if (s.op == "gemm" || s.op == "mma") {
    product(s, i);
  } else if (s.op == "reduce" || s.op == "scan") {
    sums(s);
  } else if (s.op == "load_global" || s.op == "store_global") {
    global(s, item, i, s.op == "store_global");
  } else if (s.op == "load" || s.op == "put" || s.op == "made") {
    tile_move(s, s.op != "load");
  } else if (s.op == "tile_out") {
    tile_out(s, item, i);
  } else {
    thread_statement(s, item, i);
  }
}
void Emitter::statement(const Statement& s, Index item, Index i) { fragment_statement(s, item, i); }

}  // namespace tilewright::fuzz
