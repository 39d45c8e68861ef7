// tilewright cache
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/cli/ptx_histogram.h"
#include "tests/unit/cli/started.h"

namespace tilewright::cli {
namespace {

using test::Shell;
using test::Started;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

TEST(PtxHistogram, CountsInstructions) {
  const auto counts = ptx_histogram(R"(// a comment; with a semicolon
.version 8.7
.target sm_90a
.address_size 64
.file 1 "a;b.h"
.extern .shared .align 1024 .b8 smem[];
.visible .entry k(.param .u64 .ptr .align 1 p, .param .u32 n)
.reqntid 128
{
  .reg .b32 %r<3>;  /* mov.u32 %r1, 1; */
  .loc 1 3 5
  mov.u32 %r1, %tid.x;
  @%p1 bra LABEL;
$L__BB0_1: add.s32 %r1, %r1, 1; add.s32 %r1, %r1, 2;
	{
.reg .pred done;
WAIT_0:
mbarrier.try_wait.parity.shared::cta.b64 done, [%r1], %r2;
@!done bra WAIT_0;
}
  ret;
}
)");
  const std::map<std::string, unsigned> expected{{"mov.u32", 1}, {"bra", 2}, {"add.s32", 2}, {"mbarrier.try_wait.parity.shared::cta.b64", 1}, {"ret", 1}};
  EXPECT_EQ(counts, expected);
  EXPECT_TRUE(ptx_histogram("").empty());
  EXPECT_TRUE(ptx_histogram("ret").empty());
  EXPECT_TRUE(ptx_histogram("/* never closed").empty());
}

TEST(CacheCommand, ListsWhatWasMade) {
  Shell shell;
  EXPECT_THAT(shell.run("cache list").out, HasSubstr("0 kernels, 0 B of at most 1.0 GiB in " + shell.cache().string() + " (TILEWRIGHT_CACHE_DIR)"));
  const Started first = shell.run("inspect copy --stage ptx"), second = shell.run("inspect copy --stage ptx");
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(second.out, first.out);
  ASSERT_EQ(shell.run("inspect softmax --stage resources").status, 0);
  const auto kernels = shell.run("cache list --json").json()["kernels"];
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0]["configuration"], "softmax");
  EXPECT_GT(kernels[0]["resources"]["registers"], 0);
  EXPECT_GT(kernels[0]["milliseconds"]["ptxas"], 0);
  EXPECT_EQ(kernels[1]["kernel"], "copy");
  EXPECT_EQ(kernels[1]["uses"], 1);
  EXPECT_TRUE(kernels[1]["resources"].is_null());
  for (const char* step : {"program", "tile passes", "hopper passes", "code generation"}) EXPECT_GT(kernels[1]["milliseconds"][step], 0) << step;
  const std::string text = shell.run("cache list").out;
  EXPECT_THAT(text, HasSubstr(kernels[1]["entry"].get<std::string>().substr(0, 12) + "  copy "));
  EXPECT_THAT(text, HasSubstr("2 kernels, "));
}

TEST(CacheCommand, DifferenceOfTwo) {
  Shell shell;
  for (const char* kernel : {"copy", "gemm-one-role"}) ASSERT_EQ(shell.run(std::string("inspect --stage ptx ") + kernel).status, 0);
  const auto json = shell.run("cache diff copy gemm_one_role --json").json();
  EXPECT_EQ(json["a"]["configuration"], "copy");
  EXPECT_EQ(json["b"]["configuration"], "gemm_one_role");
  bool products = false;
  for (const auto& [opcode, counts] : json["instructions"].items()) products = products || (opcode.starts_with("wgmma.mma_async") && counts[0] == 0 && counts[1] > 0);
  EXPECT_TRUE(products);
  const std::string text = shell.run("cache diff copy gemm_one_role").out;
  EXPECT_THAT(text, HasSubstr("PTX instructions that do not occur equally often in both:"));
  EXPECT_THAT(text, HasSubstr("wgmma.mma_async"));
  const std::string entry = json["a"]["entry"];
  EXPECT_THAT(shell.run("cache diff copy " + entry.substr(0, 12)).out, HasSubstr("every PTX instruction occurs equally often in both"));
  const Started wrong = shell.run("cache diff copy other");
  EXPECT_EQ(wrong.status, 1);
  EXPECT_THAT(wrong.err, HasSubstr("the cache has no kernel 'other'; expected the beginning of an entry or a configuration"));
}

TEST(CacheCommand, VerifyAndClear) {
  Shell shell;
  for (const char* kernel : {"copy", "softmax"}) ASSERT_EQ(shell.run(std::string("inspect --stage ptx ") + kernel).status, 0);
  EXPECT_THAT(shell.run("cache verify").out, HasSubstr("2 of 2 entries sound in "));
  fs::path entry;
  for (const auto& file : fs::directory_iterator(shell.cache() / "v1"))
    if (file.path().extension() == ".entry") entry = file.path();
  std::string bytes = assemble::read_file(entry);
  bytes[bytes.size() / 2] ^= 4;
  assemble::write_file(entry, bytes);
  const Started damaged = shell.run("cache verify");
  EXPECT_EQ(damaged.status, 1);
  EXPECT_THAT(damaged.out, HasSubstr("1 of 2 entries sound"));
  EXPECT_THAT(damaged.err, HasSubstr("the entry " + entry.string() + " is damaged: its checksum differs"));
  EXPECT_EQ(shell.run("cache verify").status, 0);
  EXPECT_THAT(shell.run("cache clear").out, HasSubstr("1 entry removed from"));
  EXPECT_TRUE(shell.run("cache list --json").json()["kernels"].empty());
}

TEST(CacheCommand, WrongUse) {
  Shell shell;
  for (const char* line : {"cache", "cache wine", "cache diff", "cache diff copy", "cache list more", "doctor more"}) EXPECT_EQ(shell.run(line).status, 2) << line;
  shell.set("TILEWRIGHT_CACHE_DIR=off");
  const Started off = shell.run("cache list");
  EXPECT_EQ(off.status, 1);
  EXPECT_THAT(off.err, HasSubstr("there is no cache: TILEWRIGHT_CACHE_DIR switches it off"));
}

TEST(CacheCommand, ACacheThatIsAFileIsSaidOnce) {
  Shell shell;
  assemble::write_file(shell.cache(), "a file");
  const Started r = shell.run("run gdn-forward --heads 1x1 --lens 20 --device sim --check");
  EXPECT_EQ(r.status, 0) << r.out;
  EXPECT_THAT(r.err, HasSubstr("tilewright: warning: cache: " + shell.cache().string() + " is a file, expected a folder"));
  EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
}

TEST(CacheCommand, StagesAreMadeAfresh) {
  Shell shell;
  for (int i = 0; i < 2; ++i) EXPECT_THAT(shell.run("inspect copy --stage tile").out, HasSubstr("tile.kernel"));
  EXPECT_EQ(shell.run("cache list --json").json()["kernels"].size(), 1u);
  EXPECT_EQ(shell.run({"compile", "copy", "--out", (shell.folder() / "out").string()}).status, 0);
  EXPECT_GT(fs::file_size(shell.folder() / "out" / "copy.tile.mlir"), 0u);
}

}  // namespace
}  // namespace tilewright::cli
