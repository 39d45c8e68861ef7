#include "tests/broken/mistake.h"

namespace tilewright::test {
namespace {

TEST(BrokenMap, ShapesThatDoNotBroadcast) {
  Mistake([](Kernel& k, int& line) {
    k.role("all", warpgroups(1))([&] {
      auto a = k.frag<f32>({64, 64}), b = k.frag<f32>({64, 32});
      line = __LINE__, map_to(a, [](Real x, Real y) { return x + y; }, a, b);
    });
  }).says({"map: input [64, 32] cannot be broadcast to [64, 64]"});
}
TEST(BrokenMap, CompoundOperatorOfAnotherShape) {
  Mistake([](Kernel& k, int& line) {
    k.role("all", warpgroups(1))([&] {
      auto a = k.frag<f32>({64, 64}), b = k.frag<f32>({1, 32});
      line = __LINE__, a *= b;
    });
  }).says({"input [1, 32] cannot be broadcast to [64, 64]"});
}
TEST(BrokenMap, FunctionOfOtherArity) {
  Mistake([](Kernel& k, int& line) {
    k.role("all", warpgroups(1))([&] {
      auto a = k.frag<f32>({64, 64});
      line = __LINE__, map_to(a, [](Real x, Real y) { return x + y; }, a);
    });
  }).says({"the map's function takes 2 values", "given 1 fragments"});
}
TEST(BrokenMap, OneResultForTwo) {
  Mistake([](Kernel& k, int& line) {
    k.role("all", warpgroups(1))([&] {
      auto a = k.frag<f32>({64, 64});
      line = __LINE__, map2<bf16, bf16>([](Real x) { return x; }, a);
    });
  }).says({"yields one value for each output"});
}
TEST(BrokenReduce, IntoAnotherShape) {
  Mistake([](Kernel& k, int& line) {
    k.role("all", warpgroups(1))([&] {
      auto a = k.frag<f32>({64, 64}), out = k.frag<f32>({1, 32});
      k.warp_sync();
      line = __LINE__, k.warp_sync(), a.builder->reduce(a.id, out.id, "add");
    });
  }).says({"reduces [64, 64] into [64, 1] or [1, 64], given [1, 32]"});
}
TEST(BrokenReduce, UnknownKind) {
  Mistake([](Kernel& k, int& line) {
    k.role("all", warpgroups(1))([&] {
      auto a = k.frag<f32>({64, 64});
      line = __LINE__, reduce(a, "product");
    });
  }).says({"kind \"product\": expected add, max or min"});
}

// What does not compile in C++. A requires-expression is false where the text is ill-formed.
template <class P>
concept UsedAsCondition = requires(P p) { p ? 1 : 0; };
template <class P>
concept ConvertedToBool = requires(P p) { static_cast<bool>(p); };
static_assert(!UsedAsCondition<Pred> && !ConvertedToBool<Pred>, "a run-time truth value is no C++ condition: use if_ or select");
static_assert(!UsedAsCondition<Index> && !UsedAsCondition<Real>, "run-time numbers neither");

template <class A, class B>
concept Multiplied = requires(Frag<f32> acc, A a, B b) { gemm_zero(acc, a, b); };
static_assert(Multiplied<Shared<bf16>, Shared<bf16>> && Multiplied<Frag<f16>, Transposed<f16>> && Multiplied<Transposed<f16>, Shared<f16>>);
static_assert(!Multiplied<Shared<i32>, Shared<i32>>, "products take floating-point operands");
static_assert(!Multiplied<Frag<f32>, Shared<bf16>>, "an accumulator is cast before it is an operand");
static_assert(!Multiplied<Shared<bf16>, Shared<f16>>, "both operands hold one type");
static_assert(!Multiplied<Shared<bf16>, Frag<bf16>>, "B lies in shared memory");
template <class Acc>
concept Accumulated = requires(Acc acc, Shared<bf16> a) { gemm_add(acc, a, a); };
static_assert(Accumulated<Frag<f32>> && !Accumulated<Frag<bf16>>, "products are accumulated in f32");

template <class F, class S>
concept Loaded = requires(F f, S s) { load(f, s); };
static_assert(Loaded<Frag<bf16>, Shared<bf16>> && !Loaded<Frag<f32>, Shared<bf16>>, "a load keeps the element type");

template <class T>
concept StagedUsedWhole = requires(Frag<T> f, Staged<T> s) { load(f, s); };
static_assert(!StagedUsedWhole<bf16>, "a staged tile is used by its stage");

}  // namespace
}  // namespace tilewright::test
