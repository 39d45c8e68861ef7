// TMA copies of a packed tensor [T, H, 128] in tiles of 64 rows: through a plain map of rank 3 and through a ragged map of
// rank 5 (runtime/program/tensor_map.h). Same tiles, same bytes; only the maps differ.
#include "benchmarks/machine/bench.h"
#include "kernels/gdn/parallel.h"
#include "runtime/cuda/timing.h"

namespace tilewright::machine {
namespace {

constexpr int kWidth = 128, kRows = 64, kTiles = 8, kStages = 4;

/// Copies sequences of x to y. With `keep`, what arrived in shared memory goes to `raw` [N * L, H, 128] too.
Program copy(bool ragged, bool keep) {
  return kernel(ragged ? keep ? "copy_ragged_kept" : "copy_ragged" : "copy_plain", [=](Kernel& k) {
    Dim T = k.dim("T"), H = k.dim("H"), N = k.dim("N"), L = k.dim("L");
    auto x = k.in<bf16>("x", {T, H, kWidth});
    auto y = k.out<bf16>("y", {T, H, kWidth});
    auto raw = k.optional_out<bf16>("raw", {N * L, H, kWidth});
    auto firsts = k.in<i32>("firsts", {N}), counts = k.in<i32>("counts", {N});
    auto [block, head, n] = k.grid(ceil_div(L, kRows * kTiles), H, N);
    auto tile = k.staged<bf16>("tile", kStages, {kRows, kWidth});
    Role in = k.role("load", one_thread()), out = k.role("store", one_thread());
    Ring ring = k.ring("ring", kStages, in, {out}, tile);
    Index begin = block * (kRows * kTiles);
    Index first = firsts.read({n}), count = counts.read({n});
    Index tiles = min(ceil_div(max(count - begin, 0), kRows), kTiles);
    auto box = [&](const Tensor<bf16>& t, Index row) {
      return ragged ? t.ragged_tile(first, count, {row, head, 0}, {kRows, 1, kWidth}) : t.tile({first + row, head, 0}, {kRows, 1, kWidth});
    };
    in([&] {
      for_(tiles, [&](Index i) {
        Stage s = ring.acquire();
        ring.tma_load(s, tile, box(x, begin + i * kRows));
      });
    });
    out([&] {
      for_(tiles, [&](Index i) {
        Stage s = ring.wait();
        tma_store(box(y, begin + i * kRows), tile[s]);
        if (keep) tma_store(raw.tile({n * L.index() + begin + i * kRows, head, 0}, {kRows, 1, kWidth}), tile[s]);
        k.store_wait(0);
        ring.release(s);
      });
      k.store_wait_complete();
    });
  });
}

struct Sequences {
  std::vector<std::int32_t> firsts, counts;
  std::int64_t tokens = 0;
  std::int64_t longest() const { return *std::max_element(counts.begin(), counts.end()); }
  void add(std::int32_t count, std::int32_t gap = 0) {
    firsts.push_back(std::int32_t(tokens));
    counts.push_back(count);
    tokens += count + gap;
  }
};

std::vector<std::uint16_t> random_bits(std::size_t count, std::uint64_t seed) {
  std::vector<std::uint16_t> out(count);
  const Random random{seed};
  constexpr std::size_t kBlock = 1 << 16;
  gdn::parallel_for(std::int64_t((count + kBlock - 1) / kBlock), 0, [&](std::int64_t block) {
    for (std::size_t i = std::size_t(block) * kBlock; i < std::min(count, std::size_t(block + 1) * kBlock); ++i)
      out[i] = std::uint16_t(random.bits(i) & 0xbfff);  // any finite number below 2
  });
  return out;
}

class Copy {
 public:
  Copy(Setup& setup, bool ragged, bool keep)
      : setup_(setup), loaded_(load(setup.target_programs, ragged ? keep ? "copy kept" : "copy ragged" : "copy plain", [=] { return copy(ragged, keep); })) {}
  program::BoundProgram bind(const Sequences& s, std::int64_t heads, const Buffer& x, const Buffer& y, const Buffer* raw, const Buffer& firsts, const Buffer& counts) const {
    const std::int64_t n = std::int64_t(s.counts.size()), longest = (s.longest() + kRows - 1) / kRows * kRows;
    program::TensorArguments tensors{{"x", ops::tensor(x.address(), {s.tokens, heads, kWidth}, "bf16")},
                                     {"y", ops::tensor(y.address(), {s.tokens, heads, kWidth}, "bf16")},
                                     {"firsts", ops::tensor(firsts.address(), {n}, "i32")},
                                     {"counts", ops::tensor(counts.address(), {n}, "i32")}};
    if (raw) tensors["raw"] = ops::tensor(raw->address(), {n * longest, heads, kWidth}, "bf16");
    return {loaded_->built->program, setup_.target, tensors, {{"T", s.tokens}, {"H", heads}, {"N", n}, {"L", longest}}};
  }
  runtime::LoadedKernel& kernel() const { return *loaded_->kernel; }

 private:
  Setup& setup_;
  std::shared_ptr<const ops::Loaded> loaded_;
};

/// Sequences of every length from 1 to 128, with rows of NaN between them that must neither be read nor written.
Json check_tails(Setup& setup) {
  constexpr std::int64_t kHeads = 3, kLongest = 2 * kRows;
  Sequences s;
  for (int count = 1; count <= kLongest; ++count) s.add(count, 1 + count % 3);
  std::vector<std::uint16_t> x = random_bits(std::size_t(s.tokens * kHeads * kWidth), setup.seed);
  std::vector<bool> inside(std::size_t(s.tokens), false);
  for (std::size_t n = 0; n < s.counts.size(); ++n)
    for (int r = 0; r < s.counts[n]; ++r) inside[std::size_t(s.firsts[n] + r)] = true;
  const std::int64_t row = kHeads * kWidth;
  for (std::int64_t i = 0; i < std::int64_t(x.size()); ++i)
    if (!inside[std::size_t(i / row)]) x[std::size_t(i)] = 0x7fff;
  const Buffer in(setup.target, x), firsts(setup.target, s.firsts), counts(setup.target, s.counts);
  Buffer out(setup.target, in.bytes()), raw(setup.target, s.counts.size() * std::size_t(kLongest * row) * 2);
  out.poison();
  raw.poison();
  const Copy ragged(setup, true, true);
  ragged.bind(s, kHeads, in, out, &raw, firsts, counts).launch(setup.target, ragged.kernel());
  setup.target.synchronize();

  std::int64_t wrong = 0, written_outside = 0, nonzero_past_end = 0, wrong_in_tile = 0;
  const auto y = out.host<std::uint16_t>(), tiles = raw.host<std::uint16_t>();
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (inside[i / std::size_t(row)]) wrong += y[i] != x[i];
    else written_outside += y[i] != 0xffff;
  }
  for (std::size_t n = 0; n < s.counts.size(); ++n)
    for (int r = 0; r < (s.counts[n] + kRows - 1) / kRows * kRows; ++r)
      for (std::int64_t c = 0; c < row; ++c) {
        const std::uint16_t got = tiles[(n * std::size_t(kLongest) + std::size_t(r)) * std::size_t(row) + std::size_t(c)];
        if (r >= s.counts[n]) nonzero_past_end += got != 0;
        else wrong_in_tile += got != x[std::size_t((s.firsts[n] + r) * row + c)];
      }
  return {{"lengths", "1..128"}, {"wrong", wrong}, {"wrong_in_tile", wrong_in_tile}, {"nonzero_past_end", nonzero_past_end}, {"written_outside", written_outside},
          {"pass", wrong + written_outside + nonzero_past_end + wrong_in_tile == 0}};
}

}  // namespace

Json ragged_copies(Setup& setup) {
  const std::int64_t heads = setup.small ? 2 : 16, tokens = setup.small ? 1024 : 65536;
  Json rows = Json::array(), tails = check_tails(setup);
  bool passed = tails["pass"];
  struct Case { const char* name; bool ragged; int sequences; bool uneven; };
  for (Case c : {Case{"plain rank 3, one sequence", false, 1, false}, Case{"ragged rank 5, one sequence", true, 1, false},
                 Case{"plain rank 3, 16 equal sequences", false, 16, false}, Case{"ragged rank 5, 16 equal sequences", true, 16, false},
                 Case{"ragged rank 5, 16 sequences with tails", true, 16, true}, Case{"plain rank 3, one sequence (again)", false, 1, false},
                 Case{"ragged rank 5, one sequence (again)", true, 1, false}}) {
    Sequences s;
    for (int n = 0; n < c.sequences; ++n) s.add(std::int32_t(tokens / c.sequences - (c.uneven ? 1 + (n * 37) % 63 : 0)));
    const auto x = random_bits(std::size_t(s.tokens * heads * kWidth), setup.seed + rows.size() + 1);
    const Buffer in(setup.target, x), firsts(setup.target, s.firsts), counts(setup.target, s.counts);
    Buffer out(setup.target, in.bytes());
    out.poison();
    const Copy copy(setup, c.ragged, false);
    const auto bound = copy.bind(s, heads, in, out, nullptr, firsts, counts);
    bound.launch(setup.target, copy.kernel());
    setup.target.synchronize();
    const bool equal = out.host<std::uint16_t>() == x;
    passed = passed && equal;
    Json row{{"map", c.name}, {"bytes_read_and_written", 2 * in.bytes()}, {"equal", equal}};
    if (setup.card) {
      const auto times = cuda::time_each_launch_ms(setup.target, [&](void* stream) { bound.launch(setup.target, copy.kernel(), stream); }, {.warmups = 5, .runs = 60});
      row.update(spread_us(times));
      row["gbytes_per_s"] = 2e-3 * double(in.bytes()) / row["median_us"].get<double>();
    }
    rows.push_back(row);
  }
  return {{"pass", passed}, {"shape", {{"T", tokens}, {"H", heads}, {"D", kWidth}}}, {"tails", tails}, {"rows", rows}};
}

}  // namespace tilewright::machine
