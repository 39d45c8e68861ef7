#include "runtime/program/sidecar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../error_of.h"

namespace tilewright::program {
namespace {

using test::error_of;
using testing::HasSubstr;

/// A sidecar of one tensor [T, 4, 128] with one parameter.
std::string with_parameter(const std::string& parameter) {
  return R"({"name": "k", "threads": 128, "grid": ["T", 1, 1], "dims": ["T"],
    "tensors": [{"name": "q", "element": "bf16", "shape": ["T", 4, 128]}], "parameters": [)" + parameter + "]}";
}

std::string map_with(const std::string& rest) {
  return with_parameter(R"({"kind": "tensor_map", "tensor": "q", "element": "bf16", )" + rest + "}");
}

std::string refused(const std::string& json) {
  return error_of([&] { parse_sidecar(json); });
}

TEST(Expression, EvaluatesAndPrints) {
  const Sidecar sidecar = parse_sidecar(R"({"name": "k", "threads": 32, "parameters": [], "grid": [
    ["max", 1, ["sub", ["ceildiv", "T", 64], ["div", "T", 64]]], ["mul", "T", ["min", "N", 3]], ["add", "N", -1]]})");
  const Bindings bindings{{"T", 130}, {"N", 5}};
  EXPECT_EQ(sidecar.grid[0].evaluate(bindings), 1);
  EXPECT_EQ(sidecar.grid[1].evaluate(bindings), 390);
  EXPECT_EQ(sidecar.grid[2].evaluate(bindings), 4);
  EXPECT_EQ(sidecar.grid[0].text(), "max(1, sub(ceildiv(T, 64), div(T, 64)))");
  const auto divide = [](Expression::Kind kind, std::int64_t a, std::int64_t b) {
    Expression left, right, both;
    left.value = a;
    right.value = b;
    both.kind = kind;
    both.operands = {left, right};
    return both;
  };
  EXPECT_EQ(divide(Expression::Kind::ceildiv, 128, 64).evaluate({}), 2);
  EXPECT_EQ(divide(Expression::Kind::ceildiv, 0, 64).evaluate({}), 0);
  EXPECT_EQ(divide(Expression::Kind::ceildiv, 129, 64).evaluate({}), 3);
  EXPECT_EQ(divide(Expression::Kind::ceildiv, -1, 64).evaluate({}), 0);
  EXPECT_EQ(divide(Expression::Kind::div, -1, 64).evaluate({}), -1);
  EXPECT_EQ(error_of([&] { divide(Expression::Kind::div, 4, 0).evaluate({}); }), "div(4, 0) divides by 0");
  EXPECT_EQ(error_of([&] { divide(Expression::Kind::mul, std::int64_t{1} << 62, 4).evaluate({}); }),
            "mul(4611686018427387904, 4) of 4611686018427387904 and 4 exceeds 64 bits");
  EXPECT_EQ(error_of([&] { sidecar.grid[2].evaluate({}); }),
            "'N' has no value: no tensor has it as an extent, give it as a scalar");
}

TEST(Sidecar, ReadsEveryField) {
  const Sidecar sidecar = parse_sidecar(R"({"name": "gdn_forward", "threads": 416, "dynamic_shared_bytes": 200704,
    "cluster": [2, 1, 1], "grid": ["N", 2, 1], "dims": ["T", "N"],
    "tensors": [{"name": "k", "element": "bf16", "shape": ["T", 16, 128], "role": "in"},
                {"name": "state", "element": "f32", "shape": ["N", 16, 128, 128], "role": "inout", "optional": true,
                 "alignment": 16}],
    "parameters": [{"kind": "tensor_map", "tensor": "k", "element": "bf16", "swizzle": "b128", "box": [64, 1, 64, 1, 1],
                    "ragged": true},
                   {"kind": "pointer", "tensor": "state"}, {"kind": "i32", "dim": "T"},
                   {"kind": "f32", "scalar": "scale"}, {"kind": "stride_i64", "tensor": "state", "axis": 1},
                   {"kind": "i64", "value": ["mul", "T", 128]}],
    "roles": [{"name": "producer", "first_warp": 12, "warps": 1, "registers": 24}],
    "barriers": [{"name": "full"}], "shared": []})");
  EXPECT_EQ(sidecar.name, "gdn_forward");
  EXPECT_EQ(sidecar.threads, 416u);
  EXPECT_EQ(sidecar.dynamic_shared_bytes, 200704u);
  EXPECT_EQ(sidecar.cluster[0], 2u);
  ASSERT_EQ(sidecar.parameters.size(), 6u);
  EXPECT_TRUE(sidecar.parameters[0].map.ragged);
  EXPECT_EQ(sidecar.parameters[0].map.swizzle, runtime::MapSwizzle::b128);
  EXPECT_EQ(sidecar.parameters[0].map.dims, (std::vector<std::vector<unsigned>>{{2}, {1}}));
  EXPECT_EQ(sidecar.parameters[2].value->text(), "T");
  EXPECT_EQ(sidecar.parameters[3].scalar, "scale");
  EXPECT_EQ(sidecar.parameters[4].axis, 1u);
  EXPECT_EQ(sidecar.parameters[5].value->text(), "mul(T, 128)");
  EXPECT_TRUE(sidecar.tensor("state")->optional);
  EXPECT_EQ(sidecar.tensor("state")->alignment, 16u);
  EXPECT_EQ(sidecar.tensor("state")->role, TensorRole::inout);
  EXPECT_EQ(sidecar.roles.at(0).registers, 24u);
  EXPECT_EQ(sidecar.tensor("nothing"), nullptr);
}

TEST(Sidecar, NamesWhatIsWrong) {
  EXPECT_THAT(refused("{"), HasSubstr("sidecar is not the JSON expected: "));
  EXPECT_EQ(refused("[]"), "sidecar, program: expected an object, given []");
  EXPECT_EQ(refused("{}"), "sidecar, program: no key 'name'");
  EXPECT_EQ(refused(R"({"name": 3})"), "sidecar, name: expected a string, given 3");
  EXPECT_EQ(refused(R"({"name": "k", "threads": -1})"),
            "sidecar, threads: expected an integer of 0 to 2^32 - 1, given -1");
  EXPECT_EQ(refused(R"({"name": "k", "threads": 2048})"), "sidecar, threads: 2048, expected 1 to 1024");
  EXPECT_EQ(refused(R"({"name": "k", "threads": 32, "grid": [1]})"),
            "sidecar, grid: expected 3 entries, given [1]");
  EXPECT_EQ(refused(R"({"name": "k", "threads": 32, "grid": [["pow", 1, 2], 1, 1]})"),
            "sidecar, grid: 'pow' is none of add, sub, mul, div, ceildiv, min, max");
  EXPECT_EQ(refused(R"({"name": "k", "threads": 32, "grid": [1.5, 1, 1]})"),
            "sidecar, grid: expected an integer, a name or [operator, a, b], given 1.5");
  EXPECT_EQ(refused(R"({"name": "k", "threads": 32, "grid": [1, 1, 1], "cluster": [0, 1, 1]})"),
            "sidecar, cluster: 0 CTAs along axis 0");
  EXPECT_EQ(refused(R"({"name": "k", "threads": 32, "grid": [1, 1, 1], "tensors": [{"name": "q", "element": "f8"}]})"),
            "sidecar, element: 'f8' is none of f64, i64, u64, f32, tf32, i32, u32, bf16, f16, i16, u16, i8, u8");
  EXPECT_EQ(refused(with_parameter(R"({"kind": "texture"})")),
            "sidecar, parameter 0: 'texture' is none of tensor_map, pointer, i32, i64, f32, stride_i64");
  EXPECT_EQ(refused(with_parameter(R"({"kind": "pointer", "tensor": "p"})")),
            "sidecar, parameter 0: unknown tensor 'p'");
  EXPECT_EQ(refused(with_parameter(R"({"kind": "stride_i64", "tensor": "q", "axis": 3})")),
            "sidecar, parameter 0: axis 3 of tensor 'q' of rank 3");
  EXPECT_EQ(refused(with_parameter(R"({"kind": "f32", "dim": "T"})")), "sidecar, parameter 0: no key 'scalar'");
}

TEST(Sidecar, NamesWhatIsWrongWithAMap) {
  const std::string where = "sidecar, parameter 0: ";
  EXPECT_EQ(refused(map_with(R"("swizzle": "b256", "box": [64, 1, 64])")),
            where + "'b256' is none of none, b32, b64, b128");
  EXPECT_EQ(refused(map_with(R"("swizzle": "b128", "box": [64, 64])")), where + "a box of rank 2 for a map of rank 3");
  EXPECT_EQ(refused(map_with(R"("swizzle": "b128", "box": [64, 1, 300])")), where + "a box side of 300, expected 1 to 256");
  EXPECT_EQ(refused(map_with(R"("swizzle": "b128", "box": [128, 1, 64])")),
            where + "an inner box side of 256 bytes, expected a multiple of 16 of at most 128");
  EXPECT_EQ(refused(map_with(R"("swizzle": "none", "box": [4, 1, 64])")),
            where + "an inner box side of 8 bytes, expected a multiple of 16 of at most 1024");
  EXPECT_EQ(refused(map_with(R"("swizzle": "b128", "box": [64, 1], "dims": [2, 5])")),
            where + "axis 5 of a tensor of rank 3");
  EXPECT_EQ(refused(map_with(R"("swizzle": "b128", "box": [64, 1, 1, 1], "dims": [2, 0], "ragged": true)")),
            where + "axis 0 of a tensor of rank 3, axis 0 is the ragged one");
  EXPECT_EQ(refused(map_with(R"("swizzle": "b128", "box": [64], "dims": [[]])")), where + "a dimension of no axis");
  EXPECT_EQ(refused(with_parameter(R"({"kind": "tensor_map", "tensor": "q", "element": "f32", "swizzle": "none"})")),
            where + "a map of f32 over tensor 'q' of bf16");
}

}  // namespace
}  // namespace tilewright::program
