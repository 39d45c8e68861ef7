#include "tests/broken/mistake.h"

namespace tilewright::test {
namespace {

TEST(BrokenKernel, NoRoles) { Mistake([](Kernel& k, int&) { k.dim("M"); }).says({"\"broken\" has no role"}); }
TEST(BrokenKernel, ParameterNamedTwice) {
  Mistake([](Kernel& k, int& line) {
    k.in<f32>("x", {64});
    line = __LINE__, k.out<f32>("x", {64});
  }).says({"already has a parameter \"x\""});
}
TEST(BrokenKernel, TensorDeclaredInARole) {
  Mistake([](Kernel& k, int& line) {
    k.role("all", warps(1))([&] { line = __LINE__, k.in<f32>("x", {64}); });
  }).says({"parameter \"x\" is declared in the kernel, not inside a role"});
}
TEST(BrokenKernel, TileDeclaredInARole) {
  Mistake([](Kernel& k, int& line) {
    k.role("all", warps(1))([&] { line = __LINE__, k.shared<f32>("t", {8, 32}); });
  }).says({"shared tile \"t\" is declared in the kernel"});
}
TEST(BrokenKernel, LoopOutsideOfARole) {
  Mistake([](Kernel& k, int& line) { line = __LINE__, for_(k.index(4), [](Index) {}); }).says({"a loop belongs into a role", "role([&] { ... })"});
}
TEST(BrokenKernel, FragmentOutsideOfARole) {
  Mistake([](Kernel& k, int& line) { line = __LINE__, k.frag<f32>({64, 64}); }).says({"a fragment belongs into a role"});
}
TEST(BrokenKernel, TensorWithoutAxes) {
  Mistake([](Kernel& k, int& line) { line = __LINE__, k.in<f32>("x", {}); }).says({"tensor \"x\" has no axes"});
}
TEST(BrokenKernel, UnknownContract) {
  Mistake([](Kernel& k, int& line) { line = __LINE__, k.allow("slowness"); }).says({"allow(\"slowness\")", "\"spills\", \"stack\" or \"performance_loss\""});
}

TEST(BrokenRole, DefinedTwice) {
  Mistake([](Kernel& k, int& line) {
    Role all = k.role("all", warps(1));
    all([] {});
    line = __LINE__, all([] {});
  }).says({"\"all\" is defined twice", "note: the first body"});
}
TEST(BrokenRole, FragmentInARoleOfOneThread) {
  Mistake([](Kernel& k, int& line) {
    k.role("load", one_thread())([&] { line = __LINE__, k.frag<f32>({16, 16}); });
  }).says({"role \"load\" is one thread and holds no fragments", "warps(...) or warpgroups(...)"});
}
TEST(BrokenRole, FragmentOfOtherRows) {
  Mistake([](Kernel& k, int& line) {
    k.role("math", warpgroups(2))([&] { line = __LINE__, k.frag<f32>({64, 64}); });
  }).says({"a fragment of 64 rows in role \"math\" of 8 warps", "expected 128"});
}
TEST(BrokenRole, FragmentOfOddExtents) {
  Mistake([](Kernel& k, int& line) {
    k.role("math", warpgroups(1))([&] { line = __LINE__, k.frag<f32>({64, 20}); });
  }).says({"[64, 20]", "columns of 8"});
}
TEST(BrokenRole, WarpsOfNoWholeWarpgroup) {
  Mistake([](Kernel& k, int& line) { line = __LINE__, k.role("math", warps(6))([] {}); }).says({"6 warps", "one warp or whole warpgroups of 4"});
}
TEST(BrokenRole, ValueOfAnotherRole) {
  Mistake([](Kernel& k, int& line) {
    auto y = k.out<i32>("y", {32});
    Role a = k.role("a", warps(1)), b = k.role("b", warps(1));
    Index of_a;
    a([&] { of_a = k.lane() * 2; });
    b([&] { line = __LINE__, y.write({k.lane()}, of_a); });
  }).says({"role \"b\" uses a value of role \"a\"", "through a ring", "note: made here"});
}
TEST(BrokenRole, ValueOfALoopThatHasEnded) {
  Mistake([](Kernel& k, int& line) {
    auto y = k.out<i32>("y", {32});
    k.role("a", warps(1))([&] {
      Index last;
      for_(k.index(4), [&](Index i) { last = i * 2; });
      line = __LINE__, y.write({k.lane()}, last);
    });
  }).says({"inside a loop or branch which has ended", "Var"});
}

/// Roles of these budgets, in warpgroups.
void budgets(Kernel& k, std::initializer_list<int> registers) {
  int count = 0;
  for (int r : registers) k.role("role" + std::to_string(count++), warpgroups(1), r)([] {});
}
TEST(BrokenBudget, OverThePool) {
  Mistake([](Kernel& k, int&) { budgets(k, {216, 216, 80}); }).says({"216 + 216 + 80 = 512 exceed the pool", "3 warpgroups x 168", "504", "role \"role2\": 4 warps, 80 registers a thread"});
}
TEST(BrokenBudget, NoMultipleOfEight) {
  Mistake([](Kernel& k, int& line) { line = __LINE__, k.role("math", warpgroups(1), 100)([] {}); }).says({"100 registers", "multiple of 8"});
}
TEST(BrokenBudget, TooLarge) {
  Mistake([](Kernel& k, int&) { budgets(k, {264}); }).says({"register budget 264", "24..256"});
}
TEST(BrokenBudget, MissingBesideOthers) {
  Mistake([](Kernel& k, int& line) {
    k.role("math", warpgroups(1), 200)([] {});
    line = __LINE__, k.role("rest", warpgroups(1))([] {});
  }).says({"role: \"rest\" has no register budget, others have one"});
}
TEST(BrokenBudget, MoreThreadsThanACtaHas) {
  Mistake([](Kernel& k, int&) { k.role("math", warpgroups(9))([] {}); }).says({"1152 threads", "32..1024"});
}

}  // namespace
}  // namespace tilewright::test
