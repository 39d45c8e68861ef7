// What a kernel means: runs its tile IR as it was recorded, without any pass. Roles take turns, each op acts on whole fragments and
// tiles; no threads' registers, layouts, barriers in memory or asynchrony. Tests compare it with the compiled kernel.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/evaluate/Interval.h"
#include "tilewright/dsl/kernel.h"

namespace tilewright::evaluate {

/// One element: an interval where it is a float, an integer where it is one.
struct Word {
  union {
    Interval real;
    std::int64_t integer;
  };
  Word() : integer(0) {}
  Word(Interval r) : real(r) {}
  explicit Word(std::int64_t i) : integer(i) {}
};

/// A dense row-major tensor of "f32", "bf16", "f16", "i32" or "i64".
struct Tensor {
  std::string element;
  std::vector<std::int64_t> shape;
  std::vector<Word> values;
};

struct Arguments {
  std::array<std::int64_t, 3> grid{1, 1, 1};
  std::map<std::string, Tensor> tensors;           // by parameter; those that the kernel writes are updated
  std::map<std::string, std::int64_t> integers;    // dims and i32 scalars
  std::map<std::string, float> reals;
};

/// The program does what has no meaning here: an access outside of a tensor or tile, a collective op without all of its threads, roles
/// that wait for each other for ever, a decision on a number that is known only to some bits. The text begins with the author's file:line.
class Undefined : public Error {
 public:
  using Error::Error;
};

/// Runs the kernel once, CTA after CTA. Memory that nobody wrote reads as NaN, or -1. Throws Undefined.
void evaluate(const Program& program, Arguments& arguments);

}  // namespace tilewright::evaluate
