// Statements of single threads: elements, scalars, atomics.
#include <fmt/format.h>

#include "tests/fuzz/emit.h"
#include "tests/fuzz/expression.h"

namespace tilewright::fuzz {

/// A running sum or maximum of the tile's elements of one row, a thread each, or of four neighbouring columns. n = the row or the first column.
void Emitter::tally(const Statement& s) {
  vars_[s.id] = b_.var(k_.real(0.0).id);
  line(fmt::format("Var<Real> sum{}(k.real(0.0));", s.id));
}
void Emitter::tally_out(const Statement& s, Index item) {
  Tensor<f32>(&b_, tensor_ids_.at(fmt::format("y{}", s.id))).write({item, k_.thread()}, Real{{&b_, b_.get(vars_.at(s.id))}});
  line(fmt::format("y{0}.write({{item, k.thread()}}, sum{0}.get());", s.id));
}

void Emitter::thread_statement(const Statement& s, Index item, Index i) {
  const int threads = p_.roles[index_].single ? 1 : 32 * p_.roles[index_].warps;
  const std::string i_text = s.phase == kLoop ? "i" : "0";
  if (s.op == "tally") {
    const int t = s.tiles[0];
    const Tile& tile = p_.tiles[t];
    if (tile.ring >= 0) wait_for(tile.ring);
    with_element(tile.element, [&](auto tag) {
      const Shared<decltype(tag)> from(&b_, tile_id(t), {tile.rows, tile.cols});
      const Real sum{{&b_, b_.get(vars_.at(s.id))}};
      if (s.text == "columns") {
        Real next = sum;
        std::string text = fmt::format("sum{}.get()", s.id);
        const Index row = k_.thread() % tile.rows;
        for (int c = 0; c < 4; ++c) {
          next = next + from.read(row, s.n[0] + c) * (c + 1.0);
          text += fmt::format(" + {}.read(k.thread() % {}, {}) * {}.0", tile_name(t), tile.rows, s.n[0] + c, c + 1);
        }
        b_.set(vars_.at(s.id), next.id);
        line(fmt::format("sum{}.set({});", s.id, text));
        return;
      }
      const Real element = from.read(s.n[0], k_.thread() % tile.cols);
      const Real next = s.text == "max" ? max(sum, element) : sum * 0.5 + element + to_real(i);
      b_.set(vars_.at(s.id), next.id);
      const std::string read = fmt::format("{}.read({}, k.thread() % {})", tile_name(t), s.n[0], tile.cols);
      line(s.text == "max" ? fmt::format("sum{0}.set(max(sum{0}.get(), {1}));", s.id, read) : fmt::format("sum{0}.set(sum{0}.get() * 0.5 + {1} + to_real(i));", s.id, read));
    });
  } else if (s.op == "fill_tile" || s.op == "dump_tile") {
    const int t = s.tiles[0];
    const Tile& tile = p_.tiles[t];
    const bool fill = s.op == "fill_tile";
    if (tile.ring >= 0) wait_for(tile.ring);
    settle_before({}, {}, fill ? s.tiles : std::vector<int>{});
    if (tile.ring < 0) b_.sync(), line("k.sync();");
    with_any_element(tile.element, [&](auto tag) {
      using T = decltype(tag);
      const Shared<T> shared(&b_, tile_id(t), {tile.rows, tile.cols});
      const std::string name = fmt::format("{}{}", fill ? "x" : "y", s.id);
      const Tensor<T> tensor(&b_, tensor_ids_.at(name));
      block(fmt::format("for_range(k.thread(), k.index({}), {}, [&](Index e) {{", tile.rows * tile.cols, threads), "});", [&] {
        for_range(k_.thread(), k_.index(tile.rows * tile.cols), threads, [&](Index e) {
          const Index r = e / tile.cols, c = e % tile.cols;
          if (fill) shared.write(r, c, tensor.read({r, c}));
          else tensor.write({item, i, r, c}, shared.read(r, c));
          const std::string rc = fmt::format("e / {0}, e % {0}", tile.cols);
          line(fill ? fmt::format("{}.write({}, {}.read({{{}}}));", tile_name(t), rc, name, rc) : fmt::format("{}.write({{item, {}, {}}}, {}.read({}));", name, i_text, rc, tile_name(t), rc));
        });
      });
    });
    if (tile.ring < 0) b_.sync(), line("k.sync();");
  } else if (s.op == "scalar") {
    std::string text;
    const Scope scope{{}, {{"t", k_.thread()}, {"w", k_.warp()}, {"l", k_.lane()}, {"i", i}, {"item", item}, {"n", n_}}, &k_};
    block("{", "}", [&] {
      line("Index t = k.thread(), w = k.warp(), l = k.lane();");
      const Index x = index_expression(s.text, scope, text);
      Tensor<i32>(&b_, tensor_ids_.at(fmt::format("y{}", s.id))).write({item, i, k_.thread()}, x);
      line(fmt::format("y{}.write({{item, {}, t}}, {});", s.id, i_text, text));
    });
  } else if (s.op == "atomic") {  // n = elements, a factor
    const std::string y = fmt::format("y{}", s.id), z = fmt::format("z{}", s.id);
    const Index at = (k_.thread() * s.n[1] + i) % s.n[0], value = k_.thread() % 3 + i;
    const std::string at_text = fmt::format("(k.thread() * {} + {}) % {}", s.n[1], i_text, s.n[0]), value_text = fmt::format("k.thread() % 3 + {}", i_text);
    const auto apply = [&](auto tag, auto v, const std::string& v_text) {
      using T = decltype(tag);
      const Tensor<T> to(&b_, tensor_ids_.at(y));
      if (s.text == "ticket") {
        const Tensor<T> counter(&b_, tensor_ids_.at(z));
        if constexpr (!std::is_same_v<T, f32>) red_add(to, {0}, fetch_add(counter, {0}, 1));  // the tickets' sum does not depend on the order
        line(fmt::format("red_add({}, {{0}}, fetch_add({}, {{0}}, 1));", y, z));
        return;
      }
      if constexpr (std::is_same_v<T, f32>) {
        red_add(to, {at}, v);
      } else {
        if (s.text == "max") red_max(to, {at}, v);
        else if (s.text == "min") red_min(to, {at}, v);
        else red_add(to, {at}, v);
      }
      line(fmt::format("red_{}({}, {{{}}}, {});", s.text, y, at_text, v_text));
    };
    if (s.type.element == "f32") apply(f32{}, to_real(value), fmt::format("to_real({})", value_text));
    else if (s.type.element == "i64") apply(i64{}, to_long(value), fmt::format("to_long({})", value_text));
    else apply(i32{}, value, value_text);
  } else {
    throw Error("fuzz: no statement '" + s.op + "'");
  }
}

}  // namespace tilewright::fuzz
