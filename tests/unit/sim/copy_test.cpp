// TMA by tensor map and plain bulk copies, cp.async, and the rules of tensor maps.
#include <cstring>
#include <numeric>

#include "tests/unit/sim/kernels.h"

namespace tilewright::test {
namespace {

using runtime::EncodedTensorMap;
using runtime::MapElement;
using runtime::MapSwizzle;
using runtime::TensorMapSpec;
using testing::HasSubstr;

TILEWRIGHT_ON_EACH_DEVICE(Copy);

struct Buffer {
  Device& device;
  DeviceAddress address;
  std::size_t words;
  Buffer(Device& d, const std::vector<std::uint32_t>& v) : device(d), address(d.allocate(v.size() * 4)), words(v.size()) {
    d.copy_to_device(address, v.data(), v.size() * 4);
  }
  ~Buffer() { device.release(address); }
  std::vector<std::uint32_t> read() const {
    std::vector<std::uint32_t> v(words);
    device.copy_to_host(v.data(), address, words * 4);
    return v;
  }
};

template <class T>
runtime::KernelParameter parameter(const T& v) { return std::as_bytes(std::span(&v, 1)); }

// One warp; lane 0 runs `body` with %map the tensor map's address, %s a 1024-byte aligned tile in shared memory, %bar an mbarrier
// (one arrival), and coordinates in %c0.. of the parameters; then all lanes copy `words` words of the tile to out.
void run_map(Device& device, const EncodedTensorMap& map, const std::string& body, DeviceAddress out, unsigned words, std::array<std::int32_t, 5> at = {},
             const std::string& fill = {}) {
  const std::string ptx = R"(.version 8.7
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 tile[];
.visible .entry k(.param .align 64 .b8 m[128], .param .u64 out, .param .align 4 .b8 at[20])
.reqntid 32
{ .reg .pred %p<8>; .reg .b32 %r<32>, %s, %bar, %c<5>, %tx; .reg .b64 %rd<16>, %map; .shared .align 8 .b64 bars;
mov.b64 %rd1, m; cvta.param.u64 %map, %rd1; ld.param.u64 %rd2, [out]; mov.u32 %s, tile; mov.u32 %bar, bars; mov.u32 %tx, %tid.x;
ld.param.b32 %c0, [at]; ld.param.b32 %c1, [at+4]; ld.param.b32 %c2, [at+8]; ld.param.b32 %c3, [at+12]; ld.param.b32 %c4, [at+16];
)" + fill + R"(
setp.ne.u32 %p1, %tx, 0; @%p1 bra DONE;
mbarrier.init.shared::cta.b64 [%bar], 1; fence.mbarrier_init.release.cluster; fence.proxy.async.shared::cta;
)" + body + R"(
DONE: bar.warp.sync -1; mov.b32 %r1, %tx;
COPY: setp.ge.u32 %p2, %r1, )" + std::to_string(words) + R"(; @%p2 bra END; shl.b32 %r2, %r1, 2; add.u32 %r3, %s, %r2; ld.shared.u32 %r4, [%r3];
cvt.u64.u32 %rd3, %r2; add.s64 %rd3, %rd2, %rd3; st.global.u32 [%rd3], %r4; add.u32 %r1, %r1, 32; bra.uni COPY; END: ret; })";
  runtime::KernelImage image;
  image.name = "k";
  image.ptx = ptx;
  image.threads = 32;
  image.dynamic_shared_bytes = 32768;
  const auto kernel = device.load(image);
  const runtime::KernelParameter p[] = {parameter(map), parameter(out), parameter(at)};
  device.launch(*kernel, {}, p);
  device.synchronize();
}

std::string load(unsigned rank, const std::string& bytes) {
  std::string c;
  for (unsigned n = 0; n < rank; ++n) c += (n ? ", %c" : "%c") + std::to_string(n);
  return "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], " + bytes + ";\ncp.async.bulk.tensor." + std::to_string(rank) +
         "d.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%map, {" + c + "}], [%bar];\n"
         "{ .reg .pred q; W: mbarrier.try_wait.parity.shared::cta.b64 q, [%bar], 0; @!q bra W; }";
}

std::vector<std::uint32_t> numbers(std::size_t n) {
  std::vector<std::uint32_t> v(n);
  std::iota(v.begin(), v.end(), 1u);
  return v;
}

TensorMapSpec plane(DeviceAddress a, std::uint64_t columns, std::uint64_t rows, std::uint32_t box_columns, std::uint32_t box_rows, MapSwizzle s = MapSwizzle::none) {
  TensorMapSpec m;
  m.element = MapElement::i32;
  m.rank = 2;
  m.address = a;
  m.extents = {columns, rows};
  m.strides = {0, columns * 4};
  m.box = {box_columns, box_rows};
  m.swizzle = s;
  return m;
}

TEST_P(Copy, LoadsABoxAndZeroesOutside) {
  const Buffer in(device(), numbers(16 * 8)), out(device(), std::vector<std::uint32_t>(32));
  run_map(device(), device().encode(plane(in.address, 16, 8, 8, 4)), load(2, "128"), out.address, 32, {12, 6});
  const auto r = out.read();
  for (unsigned y = 0; y < 4; ++y)
    for (unsigned x = 0; x < 8; ++x) EXPECT_EQ(r[y * 8 + x], x < 4 && y < 2 ? (6 + y) * 16 + 12 + x + 1 : 0u) << x << "," << y;
}

TEST_P(Copy, NegativeCoordinatesAreOutside) {
  const Buffer in(device(), numbers(16 * 8)), out(device(), std::vector<std::uint32_t>(32));
  run_map(device(), device().encode(plane(in.address, 16, 8, 8, 4)), load(2, "128"), out.address, 32, {-4, -1});
  const auto r = out.read();
  EXPECT_EQ(r[4], 0u);
  EXPECT_EQ(r[8 + 3], 0u);
  EXPECT_EQ(r[8 + 4], 1u);
  EXPECT_EQ(r[16 + 7], 16u + 4);
}

class Swizzle : public testing::TestWithParam<std::tuple<std::size_t, MapSwizzle, unsigned>> {};

TEST_P(Swizzle, ExchangesChunksByRow) {
  const auto [number, swizzle, span] = GetParam();
  Device& d = *devices()[number];
  const unsigned columns = span / 4, rows = 32;
  const Buffer in(d, numbers(columns * rows)), out(d, std::vector<std::uint32_t>(columns * rows));
  run_map(d, d.encode(plane(in.address, columns, rows, columns, rows, swizzle)), load(2, std::to_string(span * rows)), out.address, columns * rows);
  const auto r = out.read();
  for (unsigned y = 0; y < rows; ++y)
    for (unsigned x = 0; x < columns; ++x) {
      const unsigned linear = y * span + x * 4;
      const unsigned at = linear ^ ((linear >> 3) & (span - 16));
      ASSERT_EQ(r[at / 4], y * columns + x + 1) << x << "," << y;
    }
}

std::vector<std::tuple<std::size_t, MapSwizzle, unsigned>> swizzles() {
  std::vector<std::tuple<std::size_t, MapSwizzle, unsigned>> v;
  for (const std::size_t n : device_numbers()) {
    v.emplace_back(n, MapSwizzle::b32, 32);
    v.emplace_back(n, MapSwizzle::b64, 64);
    v.emplace_back(n, MapSwizzle::b128, 128);
  }
  return v;
}
INSTANTIATE_TEST_SUITE_P(, Swizzle, testing::ValuesIn(swizzles()));

// Rows of a packed batch cut at a sequence's end: the row coordinate starts so that rows past the end leave the tensor.
TEST_P(Copy, RaggedRankFiveWrapsItsAddress) {
  // Rows of 32 words; the sequence has 5 rows from row 3 on. Dimension 1 holds a row, dimension 2 and 3 undo the shift by 2^30
  // rows: extent 2^30, strides 2^34 - row bytes and row bytes, whose sum is 2^34 and wraps with dimension 4's 2^34.
  const unsigned row_bytes = 128;
  const Buffer in(device(), numbers(32 * 16)), out(device(), std::vector<std::uint32_t>(32 * 8));
  TensorMapSpec m;
  m.element = MapElement::i32;
  m.rank = 5;
  m.address = in.address;
  m.extents = {32, 1ull << 30, 1ull << 30, 1ull << 30, 1ull << 30};
  m.strides = {0, row_bytes, (1ull << 34) - row_bytes, 1ull << 34, 1ull << 34};
  m.box = {32, 8, 1, 1, 1};
  m.swizzle = MapSwizzle::b128;
  // Coordinates: rows from 2^30 - 5 (five rows are inside), 2^30 - 5 times the second stride takes them back, what is left of 2^34
  // multiples wraps: (2^30 - 5) 2^34 + c3 2^34 = 0 mod 2^64 with c3 = 5; the sequence begins at row 3, so both shift by 3.
  const std::int32_t big = 1 << 30;
  run_map(device(), device().encode(m), load(5, "1024"), out.address, 32 * 8, {0, big - 5, big - 5 - 3, 5 + 3, 0});
  const auto r = out.read();
  for (unsigned y = 0; y < 8; ++y)
    for (unsigned x = 0; x < 32; ++x) {
      const unsigned linear = y * 128 + x * 4, at = linear ^ ((linear >> 3) & 0x70);
      ASSERT_EQ(r[at / 4], y < 5 ? (3 + y) * 32 + x + 1 : 0u) << x << "," << y;
    }
}

const std::string fill_tile = "mov.b32 %r5, %tx; F: shl.b32 %r6, %r5, 2; add.u32 %r7, %s, %r6; st.shared.u32 [%r7], %r5; add.u32 %r5, %r5, 32; setp.lt.u32 %p3, %r5, 64; @%p3 bra F; bar.warp.sync -1;";

TEST_P(Copy, StoreLeavesOutsideUntouched) {
  const Buffer target(device(), numbers(16 * 4)), out(device(), std::vector<std::uint32_t>(8));
  run_map(device(), device().encode(plane(target.address, 16, 4, 8, 4)),
          "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%map, {%c0, %c1}], [%s]; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;", out.address, 8, {12, 3}, fill_tile);
  auto expected = numbers(64);
  for (unsigned x = 0; x < 4; ++x) expected[3 * 16 + 12 + x] = x;
  EXPECT_EQ(target.read(), expected);
}

TEST_P(Copy, ReduceAdds) {
  const Buffer target(device(), numbers(32)), out(device(), std::vector<std::uint32_t>(8));
  run_map(device(), device().encode(plane(target.address, 8, 4, 8, 4)),
          "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%map, {%c0, %c1}], [%s]; cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 0;",
          out.address, 8, {}, fill_tile);
  auto expected = numbers(32);
  for (unsigned n = 0; n < 32; ++n) expected[n] += n;
  EXPECT_EQ(target.read(), expected);
}

TEST_P(Copy, BulkBothWays) {
  const auto r = run_words(device(), module_text(R"(
    .shared .align 128 .b8 s[256]; .shared .align 8 .b64 bar; setp.ne.u32 %p1, %r0, 0; @%p1 bra END;
    mov.u32 %r1, s; mov.u32 %r2, bar; mbarrier.init.shared.b64 [%r2], 1; fence.mbarrier_init.release.cluster; mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 64;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd0+16], 64, [%r2];
    W: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0; @!%p2 bra W;
    fence.proxy.async.shared::cta; cp.async.bulk.global.shared::cta.bulk_group [%rd1+32], [%r1+32], 32; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; END: )"),
                           32, 16, numbers(32));
  EXPECT_EQ(r[7], 0u);
  EXPECT_EQ(r[8], 13u);
  EXPECT_EQ(r[15], 20u);
}

TEST_P(Copy, SmallCopiesWithGroups) {
  const auto r = run_words(device(), module_text(R"(
    .shared .align 16 .b8 s[1024]; mov.u32 %r1, s; shl.b32 %r2, %r0, 4; add.u32 %r3, %r1, %r2; cvt.u64.u32 %rd5, %r2; add.s64 %rd6, %rd0, %rd5;
    cp.async.cg.shared.global [%r3], [%rd6], 16; cp.async.commit_group; cp.async.ca.shared.global [%r3+512], [%rd6], 8, 4; cp.async.commit_group;
    cp.async.wait_group 1; ld.shared.u32 %r4, [%r3+8]; cp.async.wait_all; ld.shared.v2.u32 {%r5, %r6}, [%r3+512];
    mul.wide.u32 %rd2, %r0, 12; add.s64 %rd2, %rd1, %rd2; st.global.u32 [%rd2], %r4; st.global.u32 [%rd2+4], %r5; st.global.u32 [%rd2+8], %r6;)"),
                           32, 96, numbers(128));
  EXPECT_EQ(r[3], 7u);
  EXPECT_EQ(r[4], 5u);
  EXPECT_EQ(r[5], 0u);
}

TEST_P(Copy, SmallCopiesArriveWhenTheyAreComplete) {
  // Warp 0 copies, its 32 lanes are the arrivals of one barrier; at the other the instruction counts its own arrivals and one thread adds the one expected.
  const auto r = run_words(device(), module_text(R"(
    .shared .align 16 .b8 s[512]; .shared .align 8 .b8 bars[16]; mov.u32 %r1, s; setp.ne.u32 %p1, %r0, 0; @%p1 bra READY;
    mbarrier.init.shared::cta.b64 [bars], 32; mbarrier.init.shared::cta.b64 [bars+8], 1; READY: bar.sync 0; setp.ge.u32 %p2, %r0, 32; @%p2 bra USE;
    shl.b32 %r2, %r0, 4; add.u32 %r3, %r1, %r2; cvt.u64.u32 %rd5, %r2; add.s64 %rd6, %rd0, %rd5; setp.ge.u32 %p3, %r0, 16; selp.b32 %r4, 0, 16, %p3;
    cp.async.cg.shared.global [%r3], [%rd6], 16, %r4; cp.async.mbarrier.arrive.noinc.shared::cta.b64 [bars]; cp.async.mbarrier.arrive.shared::cta.b64 [bars+8];
    @!%p1 mbarrier.arrive.shared::cta.b64 _, [bars+8]; ret;
    USE: mbarrier.try_wait.parity.shared::cta.b64 %p4, [bars], 0; @!%p4 bra USE; MORE: mbarrier.try_wait.parity.shared::cta.b64 %p4, [bars+8], 0; @!%p4 bra MORE;
    sub.u32 %r5, %r0, 32; shl.b32 %r6, %r5, 4; add.u32 %r6, %r1, %r6; ld.shared.u32 %r7, [%r6+4]; mul.wide.u32 %rd2, %r5, 4; add.s64 %rd2, %rd1, %rd2; st.global.u32 [%rd2], %r7;)", 64),
                           64, 32, numbers(128));
  for (unsigned n = 0; n < 32; ++n) ASSERT_EQ(r[n], n < 16 ? 4 * n + 2 : 0u);
}

TEST(TensorMap, RulesOfTheDriver) {
  Device& d = simulator();
  const TensorMapSpec good = plane(1024, 16, 8, 8, 4);
  const auto text = [&](auto change) {
    TensorMapSpec m = good;
    change(m);
    return error_of([&] { d.encode(m); });
  };
  EXPECT_EQ(text([](auto&) {}), "no error");
  EXPECT_THAT(text([](auto& m) { m.address = 1032; }), HasSubstr("address 0x408; expected a multiple of 16"));
  EXPECT_THAT(text([](auto& m) { m.strides[1] = 72; }), HasSubstr("stride of 72 bytes of dimension 1; expected a multiple of 16"));
  EXPECT_THAT(text([](auto& m) { m.box[1] = 257; }), HasSubstr("box of 257 elements of dimension 1; expected 1 to 256"));
  EXPECT_THAT(text([](auto& m) { m.box[0] = 6; }), HasSubstr("inner box of 24 bytes; expected a multiple of 16"));
  EXPECT_THAT(text([](auto& m) { m.box[0] = 16; m.swizzle = MapSwizzle::b32; }), HasSubstr("inner box of 64 bytes with a swizzle of 32 bytes"));
  EXPECT_THAT(text([](auto& m) { m.rank = 6; }), HasSubstr("rank 6; expected 1 to 5"));
  EXPECT_THAT(text([](auto& m) { m.extents[1] = 0; }), HasSubstr("extent 0 of dimension 1"));
}

TEST(TensorMap, MisuseIsNamed) {
  Device& d = simulator();
  const Buffer in(d, numbers(128)), out(d, std::vector<std::uint32_t>(32));
  const auto map = d.encode(plane(in.address, 16, 8, 8, 4));
  EXPECT_THAT(error_of([&] { run_map(d, map, load(3, "128"), out.address, 32); }), HasSubstr("a tensor map of rank 2 is used with 3 coordinates"));
  EXPECT_THAT(error_of([&] { run_map(d, map, "add.u32 %s, %s, 64;" + load(2, "128"), out.address, 32); }), HasSubstr("is misaligned: expected a multiple of 128"));
  EXPECT_THAT(error_of([&] { run_map(d, EncodedTensorMap{}, load(2, "128"), out.address, 32); }), HasSubstr("does not hold a tensor map"));
  EXPECT_THAT(error_of([&] { run_map(d, map, load(2, "256"), out.address, 32); }), HasSubstr("0 of 1 arrivals pending, 128 bytes pending"));
  const std::string store = "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%map, {%c0, %c1}], [%s]; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;";
  EXPECT_THAT(error_of([&] { run_map(d, map, store, out.address, 32, {0, -1}); }), HasSubstr("a TMA store at coordinate -1 of dimension 1; expected none below 0"));
  EXPECT_THAT(error_of([&] { run_map(d, map, load(2, "128"), out.address, 32, {2, 0}); }),
              HasSubstr("a TMA copy at coordinate 2 of dimension 0, 8 bytes; expected a multiple of 16 bytes"));
  TensorMapSpec wrong = plane(in.address, 16, 64, 8, 4);   // more rows than the memory has
  EXPECT_THAT(error_of([&] { run_map(d, d.encode(wrong), load(2, "128"), out.address, 32, {0, 8}); }), HasSubstr("TMA load of 32 bytes at global address"));
}

}  // namespace
}  // namespace tilewright::test
