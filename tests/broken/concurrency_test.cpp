#include "tests/broken/mistake.h"

namespace tilewright::test {
namespace {

TEST(BrokenBarrier, ArriverThatNeverArrives) {
  Mistake([](Kernel& k, int& line) {
    Role a = k.role("a", warps(1)), b = k.role("b", warps(1));
    line = __LINE__;  Barrier ready = k.barrier("ready", {a}, {b});
    a([&] {});
    b([&] { ready.wait(); });
  }).says({"\"ready\": its arriving role \"a\" never arrives, so no phase would complete"});
}
TEST(BrokenBarrier, WaiterThatNeverWaits) {
  Mistake([](Kernel& k, int& line) {
    Role a = k.role("a", warps(1)), b = k.role("b", warps(1));
    line = __LINE__;  Barrier ready = k.barrier("ready", {a}, {b});
    a([&] { ready.arrive(); });
    b([&] {});
  }).says({"\"ready\": its waiting role \"b\" never waits"});
}
TEST(BrokenBarrier, ArrivalOfAStranger) {
  Mistake([](Kernel& k, int& line) {
    Role a = k.role("a", warps(1)), b = k.role("b", warps(1));
    Barrier ready = k.barrier("ready", {a}, {b});
    a([&] { ready.arrive(); });
    b([&] {
      ready.wait();
      line = __LINE__, ready.arrive();
    });
  }).says({"role \"b\" arrives at barrier \"ready\" but is not one of its arriving roles; name it in k.barrier(...)"});
}
TEST(BrokenBarrier, RoleWithoutABody) {
  Mistake([](Kernel& k, int& line) {
    Role a = k.role("a", warps(1)), b = k.role("b", warps(1));
    line = __LINE__;  Barrier ready = k.barrier("ready", {a}, {b});
    a([&] { ready.arrive(); });
  }).says({"its waiting role \"b\" has no body in this kernel"});
}
TEST(BrokenBarrier, NobodyArrives) {
  Mistake([](Kernel& k, int& line) {
    Role b = k.role("b", warps(1));
    line = __LINE__, k.barrier("ready", {}, {b});
  }).says({"\"ready\": nobody arrives; name at least one role"});
}
TEST(BrokenMeeting, RoleThatNeverComes) {
  Mistake([](Kernel& k, int& line) {
    Role a = k.role("a", warps(1)), b = k.role("b", warps(1));
    a([&] { line = __LINE__, k.meet({a, b}); });
    b([&] {});
  }).says({"role \"b\" never comes to this meeting, so the others would wait for ever"});
}
TEST(BrokenMeeting, RoleThatIsNotNamed) {
  Mistake([](Kernel& k, int& line) {
    Role a = k.role("a", warps(1)), b = k.role("b", warps(1)), c = k.role("c", warps(1));
    a([&] { k.meet({a, b}); });
    b([&] { k.meet({a, b}); });
    c([&] { line = __LINE__, k.meet({a, b}); });
  }).says({"role \"c\" is not one of the roles that meet here"});
}
TEST(BrokenMeeting, OneThread) {
  Mistake([](Kernel& k, int& line) {
    Role a = k.role("a", one_thread()), b = k.role("b", warps(1));
    a([&] { line = __LINE__, k.meet({a, b}); });
    b([&] { k.meet({a, b}); });
  }).says({"role \"a\" is one thread; roles that meet are counted in whole warps: give it warps(1), or use k.barrier(...)"});
}
TEST(BrokenMeeting, Alone) {
  Mistake([](Kernel& k, int& line) {
    Role a = k.role("a", warps(1));
    a([&] { line = __LINE__, k.meet({a}); });
  }).says({"takes at least two roles; k.sync() is the rendezvous of one"});
}
TEST(BrokenWhile, ConditionMadeInsideTheBody) {
  Mistake([](Kernel& k, int& line) {
    auto y = k.out<i32>("y", {32});
    k.role("all", warps(1))([&] {
      Index inside;
      Var<Index> n(k.index(0));
      k.while_([&] { return n.get() < 3; }, [&] {
        inside = n.get() + 1;
        n.set(inside);
      });
      line = __LINE__, y.write({k.lane()}, inside);
    });
  }).says({"uses a value that was made inside a loop or branch which has ended; keep it in a Var"});
}
TEST(BrokenAtomic, MaximumOfReals) {
  Mistake([](Kernel& k, int& line) {
    auto y = k.out<f32>("y", {32});
    k.role("all", warps(1))([&] { line = __LINE__, fetch_max(y, {0}, 1.0); });
  }).says({"kind \"max\" of f32: the machine only adds f32; expected an integer element"});
}
TEST(BrokenAtomic, WrongRank) {
  Mistake([](Kernel& k, int& line) {
    auto y = k.out<i32>("y", {32, 4});
    k.role("all", warps(1))([&] { line = __LINE__, fetch_add(y, {0}, 1); });
  }).says({"tensor has rank 2, given 1 coordinates"});
}
TEST(BrokenAtomic, ThreeNeighbours) {
  Mistake([](Kernel& k, int& line) {
    auto y = k.out<f32>("y", {32});
    k.role("all", warps(1))([&] { line = __LINE__, red_add_row(y, {0}, {k.real(1), k.real(2), k.real(3)}); });
  }).says({"3 values, expected 1, 2 or 4"});
}
TEST(BrokenAtomic, OneHalf) {
  Mistake([](Kernel& k, int& line) {
    auto y = k.out<bf16>("y", {32});
    k.role("all", warps(1))([&] { line = __LINE__, red_add_row(y, {0}, {k.real(1)}); });
  }).says({"1 values, kind \"add\": 16-bit elements are added in pairs"});
}
TEST(BrokenFlag, SleepWithoutEnd) {
  Mistake([](Kernel& k, int& line) {
    k.role("all", warps(1))([&] { line = __LINE__, k.sleep(5000000); });
  }).says({"5000000 nanoseconds, expected 1 to 1000000"});
}

}  // namespace
}  // namespace tilewright::test
