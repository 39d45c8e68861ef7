// fp32 values as intervals: [lo, hi] holds whatever a correct compiler may compute. Where every step is exact, lo == hi.
#pragma once
#include <functional>
#include <string>

namespace tilewright::evaluate {

struct Interval {
  float lo = 0, hi = 0;
  bool exact() const { return lo == hi; }
  bool nan() const { return lo != lo; }
  /// A NaN is expected where the interval is one, and nowhere else.
  bool holds(float x) const { return nan() ? x != x : lo <= x && x <= hi; }
};

/// The fp32 numbers around a result that was computed in fp64, and `error` to both sides.
Interval outward(double lo, double hi, double error = 0);
Interval add(Interval a, Interval b);
Interval subtract(Interval a, Interval b);
Interval multiply(Interval a, Interval b);
Interval divide(Interval a, Interval b);
/// As the machine's: a NaN beside a number is ignored.
Interval maximum(Interval a, Interval b);
Interval minimum(Interval a, Interval b);
Interval negate(Interval a);
Interval absolute(Interval a);
/// Both ends through a function that never falls, with a relative error (of the result) to both sides.
Interval monotone(Interval a, const std::function<double(double)>& f, double relative = 0, double absolute = 0);
/// Rounded to what a bf16, f16, tf32 or f32 element holds, to nearest, ties to even.
Interval rounded(Interval a, const std::string& element);
/// Low 13 bits cut off, as products read tf32 in shared memory.
Interval cut_to_tf32(Interval a);
/// The smallest interval that holds both.
Interval hull(Interval a, Interval b);

/// A sum of intervals in any order and grouping. It is exact where all terms are multiples of one power of two, far enough above the
/// last bit of the sum of their magnitudes.
class Sum {
 public:
  void add(Interval x);
  /// Terms that are products of exact factors whose lowest bits are known.
  void add_products(double sum, double magnitude, int lowest_bit);
  /// `bits` of significand; `roundings`: how often the machine may round, each time by 2^-23 of the magnitude.
  Interval value(int bits, double roundings) const;

 private:
  double lo_ = 0, hi_ = 0, magnitude_ = 0;
  int lowest_ = 1000;
  bool exact_ = true;
};

/// Exponent of the lowest set bit of x; 1000 for 0.
int lowest_bit(float x);

}  // namespace tilewright::evaluate
