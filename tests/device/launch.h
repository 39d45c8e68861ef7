// Compiles a program of the language, runs it once on a device and hands back what it wrote.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tilewright/dsl.h"

namespace tilewright::test {

/// A dense tensor on the host. `values` are in the order of memory; they are rounded to `element` on the way to the device.
struct Array {
  std::string element;
  std::vector<std::int64_t> shape;
  std::vector<double> values;

  std::int64_t count() const;
  /// Value at (row, column) of a matrix.
  double at(std::int64_t row, std::int64_t column) const { return values.at(row * shape.back() + column); }
};

/// Values of f(flat index), rounded to the element type, so that a reference computes with what the device gets.
Array array(std::string element, std::vector<std::int64_t> shape, const std::function<double(std::int64_t)>& f);
/// Reproducible values in [-1, 1).
Array noise(std::string element, std::vector<std::int64_t> shape, unsigned seed);
/// `value` rounded to the element type.
double rounded(const std::string& element, double value);

/// One launch. Every tensor lies between guards; after run() the guards and the inputs must be as they were.
class Launch {
 public:
  explicit Launch(const Program& program);
  Launch& in(const std::string& name, Array data);
  /// An output, filled with a pattern that reads as NaN (-1 for integers).
  Launch& out(const std::string& name, std::string element, std::vector<std::int64_t> shape);
  /// A tensor that the kernel reads and writes.
  Launch& inout(const std::string& name, Array data);
  Launch& scalar(const std::string& name, std::int64_t value);
  Launch& scalar(const std::string& name, double value);
  /// Fails the test where memory outside the outputs changed. Throws Error where the program could not be run.
  Launch& run();
  const Array& operator[](const std::string& name) const { return tensors_.at(name).data; }

 private:
  struct Tensor {
    Array data;
    bool output;
    bool begins_empty = false;
  };
  const Program& program_;
  std::map<std::string, Tensor> tensors_;
  std::map<std::string, std::int64_t> integers_;
  std::map<std::string, double> reals_;
};

/// Whether the tests run on the simulated device.
bool simulated();

/// Every element within `tolerance` of f(row, column); a NaN is never close. Names the first element that is not.
void expect_matrix(const Array& actual, double tolerance, const std::function<double(std::int64_t, std::int64_t)>& f);
/// No element of rows [from, to) was written.
void expect_unwritten(const Array& actual, std::int64_t from, std::int64_t to);

/// C += A B in fp64 for dense [M, K] and [K, N] given by element.
using Element2 = std::function<double(std::int64_t, std::int64_t)>;
double dot(std::int64_t k, const Element2& a, const Element2& b, std::int64_t row, std::int64_t column);

}  // namespace tilewright::test
