// The names of a program's arguments, looked up once: a caller with a fixed table of arguments binds without names.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/program/program.h"

namespace tilewright::program {

/// One entry of a caller's table of tensors. Shape and strides (elements) have one entry for each axis.
struct TensorView {
  runtime::DeviceAddress address = 0;
  bool given = false;  // an optional tensor may be absent
  std::span<const std::int64_t> shape, strides;
};

/// How the parameters of one program follow from a caller's tables of tensors and scalars.
class BindingPlan {
 public:
  /// `tensors` and `scalars` are the names of the tables' entries, in order; the program may use some of them only. Throws
  /// Error for a tensor or scalar of the program that is in neither table.
  BindingPlan(const Sidecar&, std::span<const std::string_view> tensors, std::span<const std::string_view> scalars);

  /// Evaluates the grid, encodes the tensor maps and packs the parameters. Names, element types, ranks and extents are the
  /// caller's responsibility (check_arguments checks them); addresses and strides of tensor maps, the grid's limits and the
  /// range of integers are checked. Throws Error.
  BoundProgram bind(runtime::Device&, std::span<const TensorView> tensors, std::span<const Scalar> scalars) const;

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  struct Source {  // of a named value
    std::string name;
    std::size_t scalar = kNone;
    struct Axis {
      std::size_t tensor;
      unsigned axis;
    };
    std::vector<Axis> axes;  // tensors that have it as an extent
    bool sms = false;
  };
  struct Parameter {
    ParameterDescription description;
    std::size_t tensor = kNone, scalar = kNone;
  };
  std::size_t place_of(const std::string& name);

  std::string who_;
  std::array<Expression, 3> grid_;
  std::array<unsigned, 3> cluster_{1, 1, 1};
  std::vector<TensorDescription> descriptions_;
  std::vector<std::size_t> places_;  // of descriptions_ in the caller's table
  std::vector<std::string_view> scalar_names_;
  std::vector<Source> sources_;
  std::vector<Parameter> parameters_;
};

}  // namespace tilewright::program
