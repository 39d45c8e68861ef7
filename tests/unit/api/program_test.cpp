// Recording through the C interface, as a front end makes it that goes wrong: no operation may end the process, and none that was
// refused may be missing unnoticed in what is compiled.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tilewright/jit.h"

namespace {

using namespace tilewright;
using testing::HasSubstr;
using testing::StartsWith;

TEST(ProgramApi, MistakesInOperations) {
  tilewright_program* program = nullptr;
  EXPECT_EQ(tilewright_program_create(nullptr, "f.cpp", 1, 1, &program), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_EQ(tilewright_program_create("k", nullptr, 1, 1, &program), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_EQ(tilewright_program_create("k", "f.cpp", 1, 1, nullptr), TILEWRIGHT_INVALID_ARGUMENT);
  ASSERT_EQ(tilewright_program_create("k", "f.cpp", 1, 1, &program), TILEWRIGHT_OK);
  tilewright_operation o{};
  EXPECT_EQ(tilewright_program_record(nullptr, &o), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_EQ(tilewright_program_record(program, nullptr), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_EQ(tilewright_program_record(program, &o), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_THAT(tilewright_program_message(program), HasSubstr("size is 0"));
  o.size = sizeof o, o.name = "levitate", o.file = "f.cpp", o.line = 7;
  EXPECT_EQ(tilewright_program_record(program, &o), TILEWRIGHT_UNSUPPORTED);
  EXPECT_THAT(tilewright_program_message(program), HasSubstr("does not know the operation 'levitate'"));
  o.name = "dim";
  EXPECT_EQ(tilewright_program_record(program, &o), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_THAT(tilewright_program_message(program), HasSubstr("'dim' was given too few texts"));
  const char* texts[] = {"M", "N"};
  std::int32_t results[2];
  o.texts = texts, o.text_count = 2, o.results = results, o.result_count = 1;
  EXPECT_EQ(tilewright_program_record(program, &o), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_THAT(tilewright_program_message(program), HasSubstr("too many texts"));
  o.text_count = 0, o.texts = nullptr, o.text_count = 1;
  EXPECT_EQ(tilewright_program_record(program, &o), TILEWRIGHT_INVALID_ARGUMENT);
  texts[1] = nullptr, o.texts = texts, o.text_count = 2;
  EXPECT_EQ(tilewright_program_record(program, &o), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_THAT(tilewright_program_message(program), HasSubstr("every text"));
  const std::int32_t strange[] = {99};
  o = {}, o.size = sizeof o, o.file = "f.cpp", o.line = 7;
  o.name = "invert", o.values = strange, o.value_count = 1, o.results = results, o.result_count = 1;
  EXPECT_EQ(tilewright_program_record(program, &o), TILEWRIGHT_COMPILE_FAILED);
  EXPECT_THAT(tilewright_program_message(program), StartsWith("f.cpp:7: error: a value of another kernel"));
  tilewright_program_destroy(program);
  tilewright_program_destroy(nullptr);
  EXPECT_STREQ(tilewright_program_message(nullptr), "");
}

TEST(ProgramApi, AnUnfinishedKernelIsRefused) {
  Program unfinished = kernel("unfinished", [](Kernel& k) {
    try {
      k.role("all", warps(1))([] { throw 1; });
    } catch (int) {
    }
  });
  try {
    compile(unfinished);
    FAIL() << "it compiled";
  } catch (const CompileError& error) {
    EXPECT_THAT(error.what(), HasSubstr("the kernel is unfinished"));
  }
}

/// A program with a parameter of each kind, inside a role; records one operation after the other.
struct Recorder {
  tilewright_program* program = nullptr;
  std::int32_t dim, tensor, factor, tile, ring, axis, variable, predicate;

  Recorder() {
    EXPECT_EQ(tilewright_program_create("wrong", "f.cpp", 1, 1, &program), TILEWRIGHT_OK);
    dim = make("dim", {}, {}, {"M"});
    tensor = make("tensor", {}, {static_cast<std::int64_t>(Element::f32), 0}, {"x", "out", "M", "64"});
    factor = make("scalar", {}, {static_cast<std::int64_t>(Element::f32)}, {"factor"});
    tile = make("shared", {}, {static_cast<std::int64_t>(Element::f32), 32, 64, 1, 0}, {"t"});
    EXPECT_EQ(record("role_begin", {}, {1, 0, 0}, {"all"}, 0), TILEWRIGHT_OK) << message();
    axis = make("block_index", {}, {0});
    variable = make("var", {axis});
    predicate = make("compare", {axis, dim}, {2});
  }
  ~Recorder() { tilewright_program_destroy(program); }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  tilewright_status record(const char* name, std::vector<std::int32_t> values, std::vector<std::int64_t> integers, std::vector<const char*> texts, std::size_t results) {
    made.assign(results, -1);
    tilewright_operation o{};
    o.size = sizeof o, o.name = name, o.file = "f.cpp", o.line = 7;
    o.values = values.data(), o.value_count = values.size(), o.integers = integers.data(), o.integer_count = integers.size();
    o.texts = texts.data(), o.text_count = texts.size(), o.results = made.data(), o.result_count = made.size();
    return tilewright_program_record(program, &o);
  }
  std::int32_t make(const char* name, std::vector<std::int32_t> values, std::vector<std::int64_t> integers = {}, std::vector<const char*> texts = {}) {
    EXPECT_EQ(record(name, values, integers, texts, 1), TILEWRIGHT_OK) << name << ": " << message();
    return made[0];
  }
  std::string message() const { return tilewright_program_message(program); }
  tilewright_status compile() {
    tilewright_compile_options options{};
    options.size = sizeof options, options.omit_assembly = 1;
    tilewright_kernel* kernel = nullptr;
    const tilewright_status status = tilewright_compile(program, &options, &kernel);
    EXPECT_EQ(kernel == nullptr, status != TILEWRIGHT_OK);
    tilewright_kernel_destroy(kernel);
    return status;
  }

  std::vector<std::int32_t> made;
};

TEST(ProgramApi, WhatIsRecordedRightCompiles) {
  Recorder r;
  r.make("get", {r.variable});
  ASSERT_EQ(r.record("end", {}, {}, {}, 0), TILEWRIGHT_OK) << r.message();
  EXPECT_EQ(r.compile(), TILEWRIGHT_OK) << tilewright_last_error();
}

TEST(ProgramApi, ValuesOfTheWrongType) {
  struct Wrong {
    const char* name;
    std::function<std::vector<std::int32_t>(const Recorder&)> values;
    std::vector<std::int64_t> integers;
    std::vector<const char*> texts;
    std::size_t results = 1;
  };
  const auto f32 = static_cast<std::int64_t>(Element::f32), i32 = static_cast<std::int64_t>(Element::i32);
  const std::vector<Wrong> wrongs{
      {"get", [](auto& r) { return std::vector{r.axis}; }, {}, {}},
      {"set", [](auto& r) { return std::vector{r.variable, r.factor}; }, {}, {}, 0},
      {"arith", [](auto& r) { return std::vector{r.axis, r.factor}; }, {0}, {}},
      {"arith", [](auto& r) { return std::vector{r.tensor, r.tensor}; }, {0}, {}},
      {"arith", [](auto& r) { return std::vector{r.factor, r.axis}; }, {0}, {}},
      {"compare", [](auto& r) { return std::vector{r.tile, r.tile}; }, {0}, {}},
      {"select", [](auto& r) { return std::vector{r.axis, r.factor, r.factor}; }, {}, {}},
      {"invert", [](auto& r) { return std::vector{r.factor}; }, {}, {}},
      {"uniform", [](auto& r) { return std::vector{r.factor}; }, {}, {}},
      {"unary", [](auto& r) { return std::vector{r.axis}; }, {0}, {}},
      {"for_begin", [](auto& r) { return std::vector{r.axis, r.factor, r.axis}; }, {}, {}},
      {"if_begin", [](auto& r) { return std::vector{r.axis}; }, {0}, {}, 0},
      {"while_do", [](auto& r) { return std::vector{r.axis}; }, {}, {}, 0},
      {"stage_of", [](auto& r) { return std::vector{r.tensor, r.axis}; }, {}, {}},
      {"view", [](auto& r) { return std::vector{r.factor, r.axis, r.axis}; }, {16, 16}, {}},
      {"frag_view", [](auto& r) { return std::vector{r.tile}; }, {0, 16}, {}},
      {"read", [](auto& r) { return std::vector{r.factor, r.axis, r.axis}; }, {2}, {}},
      {"fill", [](auto& r) { return std::vector{r.tile, r.factor}; }, {}, {}, 0},
      {"settle", [](auto& r) { return std::vector{r.axis}; }, {}, {}, 0},
      {"commit", [](auto& r) { return std::vector{r.tile, r.axis}; }, {}, {}, 0},
      {"barrier_of_cluster", [](auto& r) { return std::vector{r.axis}; }, {}, {}, 0},
      {"call", [](auto& r) { return std::vector{r.axis}; }, {}, {}},
      {"load_strong", [](auto& r) { return std::vector{r.axis, r.axis}; }, {1}, {"relaxed", "gpu"}},
      {"remote_read", [](auto& r) { return std::vector{r.tensor, r.axis, r.axis, r.axis}; }, {}, {}},
      {"constant", [](auto&) { return std::vector<std::int32_t>{}; }, {f32, 1}, {}},
      {"constant", [](auto&) { return std::vector<std::int32_t>{}; }, {i32, std::int64_t{1} << 40}, {}},
      {"block_index", [](auto&) { return std::vector<std::int32_t>{}; }, {3}, {}},
      {"store_wait", [](auto&) { return std::vector<std::int32_t>{}; }, {std::int64_t{1} << 32, 0}, {}, 0},
  };
  for (const Wrong& w : wrongs) {
    Recorder r;
    EXPECT_THAT(r.record(w.name, w.values(r), w.integers, w.texts, w.results), testing::AnyOf(TILEWRIGHT_COMPILE_FAILED, TILEWRIGHT_INVALID_ARGUMENT)) << w.name;
    EXPECT_NE(r.message(), "") << w.name;
  }
}

TEST(ProgramApi, NumbersThatNameNothing) {
  for (const std::int64_t number : {std::int64_t{-1}, std::int64_t{77}, std::numeric_limits<std::int64_t>::min()}) {
    EXPECT_EQ(Recorder().record("constant", {}, {number, 0}, {}, 1), TILEWRIGHT_INVALID_ARGUMENT);
    Recorder r;
    EXPECT_EQ(r.record("arith", {r.axis, r.axis}, {number}, {}, 1), TILEWRIGHT_INVALID_ARGUMENT) << r.message();
    EXPECT_EQ(r.record("compare", {r.axis, r.axis}, {number}, {}, 1), TILEWRIGHT_INVALID_ARGUMENT) << r.message();
    EXPECT_EQ(r.record("unary", {r.factor}, {number}, {}, 1), TILEWRIGHT_INVALID_ARGUMENT) << r.message();
  }
  Recorder r;
  EXPECT_EQ(r.record("end", {}, {}, {}, 0), TILEWRIGHT_OK) << r.message();
  EXPECT_EQ(r.record("end", {}, {}, {}, 0), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_EQ(r.record("barrier", {}, {3}, {"b", "all"}, 1), TILEWRIGHT_INVALID_ARGUMENT) << r.message();
}

TEST(ProgramApi, EndsOfSomethingElse) {
  Recorder map;
  const std::int32_t frag = map.make("frag", {}, {static_cast<std::int64_t>(Element::f32), 16, 64}, {""});
  ASSERT_EQ(map.record("map_begin", {frag, frag}, {1, 1}, {}, 3), TILEWRIGHT_OK) << map.message();
  EXPECT_EQ(map.record("end", {}, {}, {}, 0), TILEWRIGHT_INVALID_ARGUMENT) << map.message();
  Recorder loop;
  ASSERT_EQ(loop.record("while_begin", {}, {}, {}, 0), TILEWRIGHT_OK) << loop.message();
  EXPECT_EQ(loop.record("end", {}, {}, {}, 0), TILEWRIGHT_INVALID_ARGUMENT) << loop.message();
  Recorder branch;
  EXPECT_EQ(branch.record("else", {}, {}, {}, 0), TILEWRIGHT_INVALID_ARGUMENT) << branch.message();
}

TEST(ProgramApi, AnOperationThatWasRefusedIsNotLeftOut) {
  Recorder r;
  EXPECT_EQ(r.record("write", {r.factor, r.tensor, r.axis}, {2}, {}, 0), TILEWRIGHT_INVALID_ARGUMENT);
  const std::string mistake = r.message();
  ASSERT_EQ(r.record("end", {}, {}, {}, 0), TILEWRIGHT_OK);
  EXPECT_EQ(r.compile(), TILEWRIGHT_COMPILE_FAILED);
  EXPECT_EQ(tilewright_last_error(), mistake);
}

TEST(ProgramApi, AValueOutsideOfItsLoop) {
  Recorder r;
  const std::int32_t index = r.make("for_begin", {r.axis, r.dim, r.dim});
  ASSERT_EQ(r.record("end", {}, {}, {}, 0), TILEWRIGHT_OK) << r.message();
  ASSERT_EQ(r.record("set", {r.variable, index}, {}, {}, 0), TILEWRIGHT_OK) << r.message();
  ASSERT_EQ(r.record("end", {}, {}, {}, 0), TILEWRIGHT_OK) << r.message();
  EXPECT_EQ(r.compile(), TILEWRIGHT_COMPILE_FAILED);
  EXPECT_THAT(tilewright_last_error(), HasSubstr("f.cpp:7"));
}

}  // namespace
