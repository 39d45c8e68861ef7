// A kernel with one mistake that no compiler can see: what the simulated device reports, and at which of the author's lines.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "runtime/program/program.h"
#include "runtime/sim/simulator.h"

namespace tilewright::test {

class BrokenRun {
 public:
  /// Builds and compiles a kernel of `body`, which notes the line of its mistake: `line = __LINE__, the_mistake();`.
  explicit BrokenRun(const std::function<void(Kernel&, int& line)>& body, Where here = Where::current());

  /// A tensor of zeros; a kernel may read and write it.
  BrokenRun& tensor(const std::string& name, const std::string& element, std::vector<std::int64_t> shape);
  BrokenRun& scalar(const std::string& name, std::int64_t value);
  /// Changes the PTX before it is loaded. Fails the test when `from` is not there.
  BrokenRun& replace(const std::string& from, const std::string& to);
  /// Runs under schedules, the plain one first, until one ends with an error, which contains the mistake's line and every part.
  void reports(std::initializer_list<std::string> parts, Where here = Where::current());
  /// Runs under all of the schedules without an error.
  void passes(Where here = Where::current());

 private:
  /// The error of the first schedule that has one; empty when all pass.
  std::string error();

  compiler::Compiled kernel_;
  struct Tensor {
    std::string element;
    std::vector<std::int64_t> shape;
  };
  std::map<std::string, Tensor> tensors_;
  program::Scalars scalars_;
  std::string file_;
  int line_ = 0;
};

}  // namespace tilewright::test
