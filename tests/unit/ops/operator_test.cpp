#include "runtime/ops/operator.h"

#include <gtest/gtest.h>

#include "examples/copy.h"
#include "runtime/ops/gemm.h"
#include "tests/unit/error_of.h"

namespace tilewright::ops {
namespace {

using test::error_of;
using testing::HasSubstr;

const Source kCopy{"copy", [] { return examples::copy({}); }};

TEST(Build, KeepsWhatItBuilt) {
  BuildOptions options;
  options.assemble = false;
  const auto first = build({kCopy, gemm_source(GemmRung::one_role)}, options);
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0]->program.name(), "copy");
  EXPECT_EQ(first[1]->program.name(), "gemm_one_role");
  EXPECT_TRUE(first[0]->stages.tile_ir.empty());
  EXPECT_EQ(build({kCopy}, options)[0], first[0]);
  options.keep_stages = true;
  EXPECT_THAT(build({kCopy}, options)[0]->stages.tile_ir, HasSubstr("tile.kernel"));
}

TEST(Build, NamesTheKernelThatFails) {
  BuildOptions options;
  options.assemble = false;
  const Source wrong{"wrong", [] { return examples::copy({.rows = 512}); }};
  EXPECT_THAT(error_of([&] { build({kCopy, wrong}, options); }), HasSubstr("building wrong: "));
}

TEST(WorkspaceLayout, AlignsItsParts) {
  WorkspaceLayout layout;
  EXPECT_EQ(layout.add(10), 0u);
  EXPECT_EQ(layout.add(0), 256u);
  EXPECT_EQ(layout.add(257), 256u);
  EXPECT_EQ(layout.bytes(), 768u);
}

TEST(CallCache, RemembersTheLastCalls) {
  CallCache<GemmArguments> cache;
  const auto steps = std::make_shared<const Steps>();
  const GemmArguments call{16, 32, 48, 1, 8, 8};
  EXPECT_EQ(cache.find(call), nullptr);
  cache.put(call, steps);
  EXPECT_EQ(cache.find(call), steps);
  for (std::int64_t M = 2; M < 34; ++M) cache.put({16, 32, 48, M, 8, 8}, steps);
  EXPECT_EQ(cache.find(call), nullptr);
}

TEST(GemmErrors, Arguments) {
  const auto device = runtime::make_simulated_device();
  Gemm op(*device);
  const auto refusal = [&](GemmArguments g) { return error_of([&] { op.run(g); }); };
  EXPECT_THAT(refusal({4096, 8192, 16384, 0, 8, 8}), HasSubstr("M is 0"));
  EXPECT_THAT(refusal({4096, 8192, 16384, 8, 8, 12}), HasSubstr("K is 12, expected a multiple of 8"));
  EXPECT_THAT(refusal({0, 8192, 16384, 8, 8, 8}), HasSubstr("a is NULL, expected 128 bytes"));
  EXPECT_THAT(refusal({4096, 8200, 16384, 8, 8, 8}), HasSubstr("b is at address 8200"));
  EXPECT_THAT(refusal({4096, 8192, 8192 + 16, 8, 8, 8}), HasSubstr("c overlaps b"));
}

}  // namespace
}  // namespace tilewright::ops
