// Views of fragments, sums over rows, warps and roles, running sums.
#include <cmath>

#include "tests/device/launch.h"

namespace tilewright::test {
namespace {

double merge(const std::string& kind, double a, double b) { return kind == "max" ? std::max(a, b) : kind == "min" ? std::min(a, b) : a + b; }
/// The identity, as `bounded` lets it out of the kernel.
double identity(const std::string& kind) { return kind == "add" ? 0.0 : kind == "max" ? -1000 : 1000; }
Frag<f32> bounded(const Frag<f32>& x) {
  return map<f32>([](Real v) { return max(min(v, 1000.0), -1000.0); }, x);
}

TEST(View, ColumnsOfAFragment) {
  auto program = kernel("columns", [](Kernel& k) {
    auto x = k.in<f32>("x", {64, 64});
    auto y = k.out<f32>("y", {64, 64});
    k.role("all", warpgroups(1))([&] {
      auto f = k.frag<f32>({64, 64});
      load_global(f, x, {0, 0}, 0, 1);
      auto scale = k.frag<f32>({1, 64});
      fill(scale, 2.0);
      fill(scale.columns(48, 16), 3.0);
      auto right = f.columns(32, 32);
      map_to(right, [](Index, Index c, Real v, Real s) { return v * s + to_real(c); }, right, scale.columns(32, 32));
      right.columns(8, 8) += scale.columns(0, 8);
      store_global(y, {0, 0}, f, 0, 1);
    });
  });
  auto x = noise("f32", {64, 64}, 11);
  Launch run(program);
  run.in("x", x).out("y", "f32", {64, 64}).run();
  expect_matrix(run["y"], 1e-5, [&](auto r, auto c) {
    if (c < 32) return x.at(r, c);
    return x.at(r, c) * (c < 48 ? 2.0 : 3.0) + double(c - 32) + (c >= 40 && c < 48 ? 2.0 : 0.0);  // columns count in the view
  });
}

/// acc [64, 128] as two accumulators of 64 columns that settle one after the other; the first is then an operand.
TEST(View, AccumulatorsAndOperands) {
  auto program = kernel("parts", [](Kernel& k) {
    auto x = k.in<bf16>("x", {64, 128});
    auto y = k.out<f32>("y", {64, 64}), both = k.out<f32>("both", {64, 128});
    auto tile = k.staged<bf16>("tile", 1, {64, 128});
    Role all = k.role("all", warpgroups(1));
    Ring ring = k.ring("ring", 1, all, {all}, tile);
    all([&] {
      Stage s = ring.acquire();
      ring.tma_load(s, tile, x.tile({0, 0}, {64, 128}));
      s = ring.wait();
      auto acc = k.frag<f32>({64, 128}, "acc"), out = k.frag<f32>({64, 64});
      auto A = k.frag<bf16>({64, 128});
      load(A, tile[s]);
      auto left = acc.columns(0, 64), right = acc.columns(64, 64);
      auto t = tile[s].view(0, 0, {64, 64});
      gemm_zero(left, A.columns(0, 64), t);          // x0 x0
      Batch first = k.batch();
      gemm_zero(right, A.columns(64, 64), t);        // x1 x0
      Batch second = k.batch();
      settle(first);
      scale(left, k.real(0.125));                    // `right` is in flight
      auto L = cast<bf16>(left);
      settle(second);
      gemm_zero(out, L, t);
      settle(k.batch());
      ring.release(s);
      store_global(y, {0, 0}, out, 0, 1);
      store_global(both, {0, 0}, acc, 0, 1);
    });
  });
  auto x = noise("bf16", {64, 128}, 1);
  Launch run(program);
  run.in("x", x).out("y", "f32", {64, 64}).out("both", "f32", {64, 128}).run();
  auto x0 = [&](auto i, auto j) { return x.at(i, j); };
  auto x1 = [&](auto i, auto j) { return x.at(i, 64 + j); };
  expect_matrix(run["both"], 1e-4, [&](auto r, auto c) { return c < 64 ? 0.125 * dot(64, x0, x0, r, c) : dot(64, x1, x0, r, c - 64); });
  expect_matrix(run["y"], 0.02, [&](auto r, auto c) {
    return dot(64, [&](auto i, auto j) { return rounded("bf16", 0.125 * dot(64, x0, x0, i, j)); }, x0, r, c);
  });
}

TEST(Reduce, ColumnsOverAllWarps) {
  for (const std::string kind : {"add", "max", "min"})
    for (int groups : {1, 2}) {
      SCOPED_TRACE(kind + " over " + std::to_string(groups) + " warpgroups");
      const int rows = 64 * groups;
      auto program = kernel("column_sums", [=](Kernel& k) {
        auto x = k.in<f32>("x", {rows, 40});
        auto y = k.out<f32>("y", {2, 40});
        auto scratch = k.shared<f32>("scratch", {4 * groups, 40});
        k.role("all", warpgroups(groups))([&] {
          auto f = k.frag<f32>({rows, 40});
          load_global(f, x, {0, 0}, 0, 1);
          auto all = reduce_columns(f, scratch, kind);
          auto again = reduce_columns(f, scratch, kind);  // the scratch tile may be used again at once
          if_(k.warp() == 4 * groups - 1, [&] { store_global(y, {0, 0}, all, 0, 1); });
          if_(k.warp() == 0, [&] { store_global(y, {1, 0}, again, 0, 1); });
        });
      });
      auto x = noise("f32", {rows, 40}, 2);
      Launch run(program);
      run.in("x", x).out("y", "f32", {2, 40}).run();
      expect_matrix(run["y"], 1e-4, [&](auto, auto c) {
        double all = identity(kind);
        for (int r = 0; r < rows; ++r) all = merge(kind, all, x.at(r, c));
        return all;
      });
    }
}

TEST(Reduce, RowMinimumAndColumnsOfAWarp) {
  auto program = kernel("warp_sums", [](Kernel& k) {
    auto x = k.in<f32>("x", {64, 16});
    auto y = k.out<f32>("y", {4, 16}), low = k.out<f32>("low", {64, 8});
    k.role("all", warpgroups(1))([&] {
      auto f = k.frag<f32>({64, 16});
      load_global(f, x, {0, 0}, 0, 1);
      k.each_warp([&](int w) { store_global(y, {w, 0}, warp_reduce_columns(f, "add"), 0, 1); });
      auto m = k.frag<f32>({64, 8});
      map_to(m, [](Real v) { return v; }, row_min(f));
      store_global(low, {0, 0}, m, 0, 1);
    });
  });
  auto x = noise("f32", {64, 16}, 3);
  Launch run(program);
  run.in("x", x).out("y", "f32", {4, 16}).out("low", "f32", {64, 8}).run();
  expect_matrix(run["y"], 1e-5, [&](auto w, auto c) {
    double sum = 0;
    for (int r = 0; r < 16; ++r) sum += x.at(16 * w + r, c);
    return sum;
  });
  expect_matrix(run["low"], 0, [&](auto r, auto) {
    double low = 2;
    for (int c = 0; c < 16; ++c) low = std::min(low, x.at(r, c));
    return low;
  });
}

// Each role sums its half of the rows; the second adds what the first passed through a ring.
TEST(Reduce, OverRoles) {
  auto program = kernel("role_sums", [](Kernel& k) {
    auto x = k.in<f32>("x", {128, 32});
    auto y = k.out<f32>("y", {1, 32});
    auto part = k.staged<f32>("part", 1, {1, 32});
    auto scratch_a = k.shared<f32>("scratch_a", {4, 32}), scratch_b = k.shared<f32>("scratch_b", {4, 32});
    Role first = k.role("first", warpgroups(1)), second = k.role("second", warpgroups(1));
    Ring ring = k.ring("ring", 1, first, {second}, part);
    auto sum_of = [&](int row, const Shared<f32>& scratch) {
      auto f = k.frag<f32>({64, 32});
      load_global(f, x, {row, 0}, 0, 1);
      return column_sum(f, scratch);
    };
    first([&] {
      auto sum = sum_of(0, scratch_a);
      Stage s = ring.acquire();
      if_(k.warp() == 0, [&] { store(part[s], sum); });
      ring.commit(s);
    });
    second([&] {
      auto sum = sum_of(64, scratch_b);
      Stage s = ring.wait();
      map_to(sum, [](Real a, Real b) { return a + b; }, sum, part[s]);
      ring.release(s);
      if_(k.warp() == 0, [&] { store_global(y, {0, 0}, sum, 0, 1); });
    });
  });
  auto x = noise("f32", {128, 32}, 4);
  Launch run(program);
  run.in("x", x).out("y", "f32", {1, 32}).run();
  expect_matrix(run["y"], 1e-4, [&](auto, auto c) {
    double sum = 0;
    for (int r = 0; r < 128; ++r) sum += x.at(r, c);
    return sum;
  });
}

/// Running sums of a line of n elements as the form says.
std::vector<double> running(const std::vector<double>& line, const std::string& kind, ScanForm form) {
  const int n = static_cast<int>(line.size());
  std::vector<double> out(line.size());
  double sum = identity(kind);
  for (int i = 0; i < n; ++i) {
    const int at = form.reverse ? n - 1 - i : i;
    const double with = merge(kind, sum, line[at]);
    out[at] = form.exclusive ? sum : with;
    sum = with;
  }
  return out;
}

constexpr ScanForm forms[] = {{}, {.exclusive = true}, {.reverse = true}, {.exclusive = true, .reverse = true}};

TEST(Scan, AlongRowsAndColumns) {
  for (const std::string kind : {"add", "max", "min"})
    for (ScanForm form : forms) {
      SCOPED_TRACE(kind + (form.exclusive ? " exclusive" : "") + (form.reverse ? " reverse" : ""));
      auto program = kernel("scans", [=](Kernel& k) {
        auto x = k.in<f32>("x", {128, 40});
        auto y = k.out<f32>("y", {3, 128, 40}), line = k.out<f32>("line", {1, 40});
        auto scratch = k.shared<f32>("scratch", {8, 40});
        k.role("all", warpgroups(2))([&] {
          auto f = k.frag<f32>({128, 40});
          load_global(f, x, {0, 0}, 0, 1);
          store_global(y, {0, 0, 0}, bounded(row_scan(f, kind, form)), 1, 2);
          store_global(y, {1, 0, 0}, bounded(warp_column_scan(f, kind, form)), 1, 2);
          store_global(y, {2, 0, 0}, bounded(column_scan(f, scratch, kind, form)), 1, 2);
          auto v = k.frag<f32>({1, 40});
          load_global(v, x, {0, 0}, 0, 1);
          auto sums = bounded(row_scan(v, kind, form));
          if_(k.warp() == 0, [&] { store_global(line, {0, 0}, sums, 0, 1); });
        });
      });
      auto x = noise("f32", {128, 40}, 5);
      Launch run(program);
      run.in("x", x).out("y", "f32", {3, 128, 40}).out("line", "f32", {1, 40}).run();
      auto expected = [&](auto row, auto c) -> double {
        const int r = static_cast<int>(row % 128);
        std::vector<double> line;
        if (row < 128) {
          for (int j = 0; j < 40; ++j) line.push_back(x.at(r, j));
          return running(line, kind, form)[c];
        }
        const int first = row < 256 ? r / 16 * 16 : 0, count = row < 256 ? 16 : 128;
        for (int j = 0; j < count; ++j) line.push_back(x.at(first + j, c));
        return running(line, kind, form)[r - first];
      };
      expect_matrix(run["y"], 1e-4, expected);
      expect_matrix(run["line"], 1e-4, expected);
    }
}

// A vector down the rows, and one that lies in shared memory.
TEST(Scan, Vectors) {
  auto program = kernel("scan_vectors", [](Kernel& k) {
    auto x = k.in<f32>("x", {1, 64});
    auto y = k.out<f32>("y", {2, 64});
    auto v = k.shared<f32>("v", {1, 64}), rows = k.shared<f32>("rows", {1, 64});
    k.role("all", warpgroups(1))([&] {
      if_(k.thread() < 64, [&] { v.write(0, k.thread(), x.read({0, k.thread()})); });
      k.sync();
      auto c = k.frag<f32>({64, 1});
      load(c, v.t());
      store(rows.t(), warp_column_scan(c, "add"));
      auto line = k.frag<f32>({1, 64});
      load(line, v);
      k.sync();
      store(v, row_scan(line, "add"));
      k.sync();
      if_(k.thread() < 64, [&] {
        y.write({0, k.thread()}, v.read(0, k.thread()));
        y.write({1, k.thread()}, rows.read(0, k.thread()));
      });
    });
  });
  auto x = noise("f32", {1, 64}, 6);
  Launch run(program);
  run.in("x", x).out("y", "f32", {2, 64}).run();
  expect_matrix(run["y"], 1e-5, [&](auto r, auto c) {
    double sum = 0;
    for (auto i = r == 0 ? 0 : c / 16 * 16; i <= c; ++i) sum += x.at(0, i);
    return sum;
  });
}

// A line for each warp, in place in shared memory.
TEST(Scan, LinesInSharedMemory) {
  auto program = kernel("scan_lines", [](Kernel& k) {
    auto x = k.in<f32>("x", {4, 64});
    auto y = k.out<f32>("y", {4, 64});
    auto lines = k.shared<f32>("lines", {4, 64});
    k.role("all", warpgroups(1))([&] {
      for_range(k.thread(), k.index(256), 128, [&](Index i) { lines.write(i / 64, i % 64, x.read({i / 64, i % 64})); });
      k.sync();
      k.each_warp([&](int w) { row_scan(lines.row(w), "add", {.exclusive = w % 2 == 1, .reverse = w >= 2}); });
      k.sync();
      for_range(k.thread(), k.index(256), 128, [&](Index i) { y.write({i / 64, i % 64}, lines.read(i / 64, i % 64)); });
    });
  });
  auto x = noise("f32", {4, 64}, 10);
  Launch run(program);
  run.in("x", x).out("y", "f32", {4, 64}).run();
  expect_matrix(run["y"], 1e-5, [&](auto w, auto c) {
    std::vector<double> line;
    for (int i = 0; i < 64; ++i) line.push_back(x.at(w, i));
    return running(line, "add", {.exclusive = w % 2 == 1, .reverse = w >= 2})[c];
  });
}

// x / |x| for each row of 16-bit numbers: a sum of squares and a root.
TEST(Reduce, NormalisesRows) {
  auto program = kernel("l2norm", [](Kernel& k) {
    auto x = k.in<bf16>("x", {64, 128});
    auto y = k.out<f32>("y", {64, 128});
    k.role("all", warpgroups(1))([&] {
      auto f = k.frag<bf16>({64, 128});
      load_global(f, x, {0, 0}, 0, 1);
      auto length = row_sum(map<f32>([](Real v) { return v * v; }, f));
      store_global(y, {0, 0}, map<f32>([](Real v, Real sum) { return v * rsqrt(sum + 1e-6); }, f, length), 0, 1);
    });
  });
  auto x = noise("bf16", {64, 128}, 12);
  Launch run(program);
  run.in("x", x).out("y", "f32", {64, 128}).run();
  expect_matrix(run["y"], 1e-6, [&](auto r, auto c) {
    double sum = 1e-6;
    for (int i = 0; i < 128; ++i) sum += x.at(r, i) * x.at(r, i);
    return x.at(r, c) / std::sqrt(sum);
  });
}

// Decay along K: S^T [dv, dk] times a vector over dk (from registers, and from shared memory), and a transposing load with scaled rows.
TEST(Scale, ColumnsOfTheStateAndRowsOfALoad) {
  auto program = kernel("decay", [](Kernel& k) {
    auto s = k.in<f32>("s", {64, 128}), g = k.in<f32>("g", {1, 128});
    auto x = k.in<bf16>("x", {64, 128});
    auto y = k.out<f32>("y", {64, 128});
    auto turned = k.out<bf16>("turned", {2, 128, 64});
    auto decay = k.shared<f32>("decay", {1, 128});
    auto tile = k.shared<bf16>("tile", {64, 128});
    k.role("all", warpgroups(2))([&] {
      if_(k.thread() < 128, [&] { decay.write(0, k.thread(), g.read({0, k.thread()})); });
      auto in = k.frag<bf16>({16, 64});
      k.each_warp([&](int w) {  // eight pieces of the tile
        load_global(in, x, {w % 4 * 16, w / 4 * 64}, 0, 1);
        store(tile.view(w % 4 * 16, w / 4 * 64, {16, 64}), in);
      });
      k.sync();
      auto rows = k.frag<f32>({128, 1});
      load(rows, decay.t());
      auto f = k.frag<bf16>({128, 64});
      load_scaled(f, tile.t(), rows);                                   // K^T with a factor for each row of it
      store_global(turned, {0, 0, 0}, f, 1, 2);
      load_scaled(f, tile.t(), decay.view(0, 64, {1, 64}));             // and for each column
      store_global(turned, {1, 0, 0}, f, 1, 2);
      k.each_warp([&](int w) {
        if (w >= 4) return;
        auto St = k.frag<f32>({16, 128});
        auto e = k.frag<f32>({1, 128});
        load(e, decay);
        load_global(St, s, {16 * w, 0}, 0, 1);
        if (w % 2) St *= e;
        else map_to(St, [](Real a, Real b) { return a * b; }, St, decay);
        store_global(y, {16 * w, 0}, St, 0, 1);
      });
    });
  });
  auto s = noise("f32", {64, 128}, 7), g = noise("f32", {1, 128}, 8), x = noise("bf16", {64, 128}, 9);
  Launch run(program);
  run.in("s", s).in("g", g).in("x", x).out("y", "f32", {64, 128}).out("turned", "bf16", {2, 128, 64}).run();
  expect_matrix(run["y"], 1e-6, [&](auto r, auto c) { return s.at(r, c) * g.at(0, c); });
  expect_matrix(run["turned"], 0x1p-9, [&](auto r, auto c) { return x.at(c, r % 128) * (r < 128 ? g.at(0, r) : g.at(0, 64 + c)); });
}

}  // namespace
}  // namespace tilewright::test
