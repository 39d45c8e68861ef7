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

TEST(PlanCache, RemembersTheLastShapes) {
  PlanCache<int> cache;
  const auto shape = [](std::int64_t M) {
    Shape s;
    for (const std::int64_t size : {M, std::int64_t{8}, std::int64_t{8}}) s.add(size);
    return s;
  };
  EXPECT_EQ(cache.find(shape(1)), nullptr);
  cache.put(shape(1), std::make_shared<const int>(1));
  EXPECT_EQ(*cache.find(shape(1)), 1);
  Shape longer = shape(1);
  longer.add(std::int64_t{0});
  EXPECT_EQ(cache.find(longer), nullptr);
  for (int M = 2; M < 66; ++M) cache.put(shape(M), std::make_shared<const int>(M));
  EXPECT_EQ(cache.find(shape(1)), nullptr);
  for (int M = 2; M < 66; ++M) EXPECT_EQ(*cache.find(shape(M)), M);
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
