#include "runtime/program/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../error_of.h"
#include "fake_device.h"
#include "runtime/program/binding_plan.h"
#include "runtime/program/tensor_map.h"

namespace tilewright::program {
namespace {

using test::error_of;
using testing::HasSubstr;

constexpr const char* kPtx = ".version 8.7\n.visible .entry scan(\n.param .b64 a)\n{ ret; }\n";

/// Packed q of T tokens, offsets of N sequences, an output, an optional state.
constexpr const char* kSidecar = R"({"name": "scan", "threads": 288, "dynamic_shared_bytes": 65536, "dims": ["T", "N"],
  "grid": [["mul", "N", 4], ["ceildiv", "T", 64], ["min", 1, "sms"]],
  "tensors": [
    {"name": "q", "element": "bf16", "shape": ["T", 4, 128], "role": "in"},
    {"name": "offsets", "element": "i32", "shape": [["add", "N", 1]], "role": "in"},
    {"name": "o", "element": "bf16", "shape": ["T", 4, 128], "role": "out"},
    {"name": "state", "element": "f32", "shape": ["N", 4, 128], "role": "inout", "optional": true, "alignment": 16}],
  "parameters": [
    {"kind": "tensor_map", "tensor": "q", "element": "bf16", "swizzle": "b128", "box": [64, 1, 64, 1, 1], "ragged": true},
    {"kind": "tensor_map", "tensor": "o", "element": "bf16", "swizzle": "b64", "box": [32, 64], "dims": [2, [0, 1]]},
    {"kind": "pointer", "tensor": "offsets"}, {"kind": "pointer", "tensor": "state"},
    {"kind": "i32", "dim": "T"}, {"kind": "f32", "scalar": "scale"}, {"kind": "i64", "scalar": "epoch"},
    {"kind": "stride_i64", "tensor": "q", "axis": 0}, {"kind": "stride_i64", "tensor": "state", "axis": 0}]})";

class ProgramTest : public testing::Test {
 protected:
  Program program = Program::from(kSidecar, kPtx, {1, 2});
  test::FakeDevice device;
  TensorArguments tensors{{"q", {0x1000, {100, 4, 128}, {}, "bf16"}},
                          {"offsets", {0x2004, {3}, {}, "i32"}},
                          {"o", {0x3000, {100, 4, 128}, {}, "bf16"}},
                          {"state", {0x4000, {2, 4, 128}, {}, "f32"}}};
  Scalars scalars{{"scale", 0.5}, {"epoch", std::int64_t{9}}, {"N", std::int64_t{2}}};

  std::string refused() {
    return error_of([&] { BoundProgram(program, device, tensors, scalars); });
  }
};

TEST_F(ProgramTest, ImageCarriesAllThatALoadNeeds) {
  const runtime::KernelImage image = program.image();
  EXPECT_EQ(image.name, "scan");
  EXPECT_EQ(image.ptx, kPtx);
  EXPECT_EQ(image.cubin, (std::vector<std::uint8_t>{1, 2}));
  EXPECT_EQ(image.threads, 288u);
  EXPECT_EQ(image.dynamic_shared_bytes, 65536u);
  EXPECT_EQ(program.sidecar_json(), kSidecar);
}

TEST_F(ProgramTest, PtxMustHoldTheEntry) {
  EXPECT_EQ(error_of([] { Program::from(kSidecar, ".visible .entry scanner() { ret; }"); }),
            "program 'scan': its PTX has no entry of that name");
}

TEST_F(ProgramTest, PacksParametersInOrder) {
  const auto kernel = device.load(program.image());
  int stream = 0;
  launch(device, *kernel, program, tensors, scalars, &stream, true);
  ASSERT_EQ(device.launches, 1u);
  EXPECT_EQ(device.last.grid, (std::array<unsigned, 3>{8, 2, 1}));
  EXPECT_EQ(device.last.stream, &stream);
  EXPECT_TRUE(device.last.programmatic);
  ASSERT_EQ(device.parameters.size(), 9u);
  EXPECT_EQ(device.parameter<runtime::EncodedTensorMap>(0).words[0], 1u);
  EXPECT_EQ(device.parameter<runtime::EncodedTensorMap>(1).words[0], 2u);
  EXPECT_EQ(device.parameter<std::uint64_t>(2), 0x2004u);
  EXPECT_EQ(device.parameter<std::uint64_t>(3), 0x4000u);
  EXPECT_EQ(device.parameter<std::int32_t>(4), 100);
  EXPECT_EQ(device.parameter<float>(5), 0.5f);
  EXPECT_EQ(device.parameter<std::int64_t>(6), 9);
  EXPECT_EQ(device.parameter<std::int64_t>(7), 512);
  EXPECT_EQ(device.parameter<std::int64_t>(8), 512);
}

TEST_F(ProgramTest, BoundProgramOutlivesItsSourcesAndIsCopied) {
  auto bound = std::make_unique<BoundProgram>(program, device, tensors, scalars);
  const BoundProgram copy = *bound;
  bound.reset();
  tensors.clear();
  test::FakeKernel kernel;
  copy.launch(device, kernel);
  copy.launch(device, kernel);
  EXPECT_EQ(device.launches, 2u);
  EXPECT_EQ(device.specs.size(), 2u);
  EXPECT_EQ(device.parameter<std::uint64_t>(3), 0x4000u);
}

TEST_F(ProgramTest, LaunchAtMovesGivenTensors) {
  tensors.erase("state");
  const BoundProgram bound(program, device, tensors, scalars);
  test::FakeKernel kernel;
  bound.launch_at(device, kernel, std::array<runtime::DeviceAddress, 4>{0x5000, 0x6004, 0x3000, 0x7000});
  ASSERT_EQ(device.specs.size(), 3u);  // o stays where it was
  EXPECT_EQ(device.specs[2].address, 0x5000u);
  EXPECT_EQ(device.specs[2].extents, device.specs[0].extents);
  EXPECT_EQ(device.parameter<runtime::EncodedTensorMap>(0).words[0], 3u);
  EXPECT_EQ(device.parameter<runtime::EncodedTensorMap>(1).words[0], 2u);
  EXPECT_EQ(device.parameter<std::uint64_t>(2), 0x6004u);
  EXPECT_EQ(device.parameter<std::uint64_t>(3), 0u);  // absent stays absent
  bound.launch(device, kernel);
  EXPECT_EQ(device.parameter<runtime::EncodedTensorMap>(0).words[0], 1u);  // the bound addresses are as they were
  EXPECT_EQ(device.parameter<std::uint64_t>(2), 0x2004u);
}

TEST_F(ProgramTest, PlansBindFromTablesOfTheCaller) {
  const std::vector<std::string_view> names{"unused", "o", "q", "state", "offsets"}, numbers{"epoch", "N", "scale"};
  const BindingPlan plan(program.sidecar(), names, numbers);
  const std::vector<std::int64_t> shape{100, 4, 128}, strides{1024, 128, 1}, packed{512, 128, 1}, three{3}, one{1};
  const std::vector<TensorView> views{{}, {0x3000, true, shape, packed}, {0x1000, true, shape, strides}, {}, {0x2004, true, three, one}};
  const std::vector<Scalar> values{std::int64_t{9}, std::int64_t{2}, 0.5};
  const BoundProgram bound = plan.bind(device, views, values);
  EXPECT_EQ(bound.grid(), (std::array<unsigned, 3>{8, 2, 1}));
  EXPECT_EQ(device.specs.at(0).strides[2], 2048u);
  test::FakeKernel kernel;
  bound.launch_at(device, kernel, std::array<runtime::DeviceAddress, 5>{1, 0x7000, 0x5000, 2, 0x6004});
  EXPECT_EQ(device.specs.at(2).address, 0x5000u);
  EXPECT_EQ(device.specs.at(3).address, 0x7000u);
  EXPECT_EQ(device.parameter<std::uint64_t>(2), 0x6004u);
  EXPECT_EQ(device.parameter<std::uint64_t>(3), 0u);
  EXPECT_EQ(device.parameter<std::int32_t>(4), 100);
  EXPECT_EQ(device.parameter<float>(5), 0.5f);
  EXPECT_EQ(device.parameter<std::int64_t>(7), 1024);
  EXPECT_EQ(error_of([&] { BindingPlan(program.sidecar(), names, std::vector<std::string_view>{"N", "scale"}); }),
            "program 'scan': missing scalar 'epoch'");
  EXPECT_EQ(error_of([&] { BindingPlan(program.sidecar(), std::vector<std::string_view>{"q"}, numbers); }),
            "program 'scan': missing tensor 'offsets'");
}

TEST_F(ProgramTest, RaggedMapWrapsToTheRowsOfASequence) {
  BoundProgram(program, device, tensors, scalars);
  const runtime::TensorMapSpec& spec = device.specs.at(0);
  const std::uint64_t stride = 4 * 128 * 2;
  ASSERT_EQ(spec.rank, 5u);
  EXPECT_EQ(spec.address, 0x1000u);
  EXPECT_EQ(spec.extents, (std::array<std::uint64_t, 5>{128, 4, 1u << 30, 0x7fff0000, 0x7fff0000}));
  EXPECT_EQ(spec.strides, (std::array<std::uint64_t, 5>{2, 256, stride, stride, (1ull << 34) - stride}));
  EXPECT_EQ(spec.box, (std::array<std::uint32_t, 5>{64, 1, 64, 1, 1}));
  const std::uint64_t offset = 37, length = 20, row = 3;
  const std::array<std::uint64_t, 5> coordinates{64, 2, (1u << 30) - length + row, offset + length, 1u << 30};
  std::uint64_t address = spec.address;
  for (unsigned i = 0; i < 5; ++i) address += coordinates[i] * spec.strides[i];
  EXPECT_EQ(address, 0x1000 + ((offset + row) * 4 * 128 + 2 * 128 + 64) * 2);
  EXPECT_GE(coordinates[2] - row + length, spec.extents[2]);  // the first row past the sequence is out of bounds
}

TEST_F(ProgramTest, MergedAxesAreOneDimension) {
  BoundProgram(program, device, tensors, scalars);
  const runtime::TensorMapSpec& spec = device.specs.at(1);
  EXPECT_EQ(spec.rank, 2u);
  EXPECT_EQ(spec.extents[0], 128u);
  EXPECT_EQ(spec.extents[1], 400u);
  EXPECT_EQ(spec.strides[1], 256u);
  EXPECT_EQ(spec.swizzle, runtime::MapSwizzle::b64);
  tensors["o"].strides = {1024, 128, 1};
  EXPECT_EQ(refused(), "program 'scan': tensor 'o': axes 0 and 1 are one dimension of the tensor map; expected stride 512 of axis 0, given 1024");
}

TEST_F(ProgramTest, StridedViewsAreAccepted) {
  tensors["q"].strides = {3 * 512, 128, 1};
  BoundProgram(program, device, tensors, scalars);
  EXPECT_EQ(device.specs.at(0).strides[2], 3072u);
}

TEST_F(ProgramTest, OptionalTensorMayBeAbsent) {
  tensors.erase("state");
  test::FakeKernel kernel;
  launch(device, kernel, program, tensors, scalars);
  EXPECT_EQ(device.parameter<std::uint64_t>(3), 0u);
  EXPECT_EQ(device.parameter<std::int64_t>(8), 0);
  tensors["state"] = {};
  launch(device, kernel, program, tensors, scalars);
  tensors["state"] = {0, {2, 4, 128}, {}, "f32"};
  launch(device, kernel, program, tensors, scalars);
  EXPECT_EQ(device.launches, 3u);
}

TEST_F(ProgramTest, EmptyGridLaunchesNothing) {
  for (const char* name : {"q", "o"}) tensors[name] = {0, {0, 4, 128}, {}, "bf16"};
  test::FakeKernel kernel;
  launch(device, kernel, program, tensors, scalars);
  EXPECT_EQ(device.launches, 0u);
  EXPECT_TRUE(device.specs.empty());
}

TEST_F(ProgramTest, EmptyTensorOfARunningProgramHasALegalMap) {
  std::string json = kSidecar;
  json.replace(json.find(R"(["ceildiv", "T", 64])"), 20, "1");
  program = Program::from(json, kPtx);
  for (const char* name : {"q", "o"}) tensors[name] = {0, {0, 4, 128}, {}, "bf16"};
  BoundProgram(program, device, tensors, scalars);
  EXPECT_EQ(device.specs.at(0).address, 0x4000u);
  EXPECT_EQ(device.specs.at(1).extents[1], 1u);
  EXPECT_EQ(device.specs.at(1).strides[1], 16u);
}

TEST_F(ProgramTest, NamesAreChecked) {
  scalars["sclae"] = 1.0;
  EXPECT_EQ(refused(), "program 'scan': unknown scalar 'sclae', expected some of: N, T, epoch, scale");
  scalars.erase("sclae");
  scalars.erase("epoch");
  EXPECT_EQ(refused(), "program 'scan': missing scalar 'epoch'");
  scalars["epoch"] = 1.5;
  EXPECT_EQ(refused(), "program 'scan': scalar 'epoch' given as 1.500000, expected an integer");
  scalars["epoch"] = std::int64_t{1};
  scalars["N"] = 2.0;
  EXPECT_EQ(refused(), "program 'scan': dimension 'N' given as 2.000000, expected an integer of 0 or more");
  scalars["N"] = std::int64_t{2};
  tensors["Q"] = {};
  EXPECT_EQ(refused(), "program 'scan': unknown tensor 'Q', expected: o, offsets, q, state");
  tensors.erase("Q");
  tensors.erase("o");
  EXPECT_EQ(refused(), "program 'scan': missing tensor 'o'");
}

TEST_F(ProgramTest, DimensionsMustHaveAValue) {
  scalars.erase("N");
  BoundProgram(program, device, tensors, scalars);  // from the state
  tensors.erase("state");
  EXPECT_EQ(refused(), "program 'scan': dimension 'N' has no value: no given tensor has it as an extent, give it as a scalar");
}

TEST_F(ProgramTest, ShapesAreChecked) {
  tensors["o"].shape = {99, 4, 128};
  EXPECT_EQ(refused(), "program 'scan': tensor 'o': given shape [99, 4, 128], expected [T, 4, 128] with extent 100 at axis 0 "
                       "(T, from axis 0 of tensor 'q')");
  tensors["o"].shape = {100, 8, 128};
  EXPECT_EQ(refused(), "program 'scan': tensor 'o': given shape [100, 8, 128], expected [T, 4, 128] with extent 4 at axis 1");
  tensors["o"].shape = {100, 512};
  EXPECT_EQ(refused(), "program 'scan': tensor 'o': given shape [100, 512], expected rank 3: [T, 4, 128]");
  tensors["o"].shape = {100, 4, -1};
  EXPECT_EQ(refused(), "program 'scan': tensor 'o': given shape [100, 4, -1], expected no negative extent");
  tensors["o"].shape = {100, 4, 128};
  tensors["offsets"].shape = {4};
  EXPECT_EQ(refused(), "program 'scan': tensor 'offsets': given shape [4], expected [add(N, 1)] with extent 3 at axis 0 "
                       "(add(N, 1))");
  scalars["N"] = std::int64_t{3};
  EXPECT_EQ(refused(), "program 'scan': tensor 'state': given shape [2, 4, 128], expected [N, 4, 128] with extent 3 at axis 0 "
                       "(N, given as a scalar)");
}

TEST_F(ProgramTest, ElementsStridesAndAddressesAreChecked) {
  const std::string q = "program 'scan': tensor 'q': ", o = "program 'scan': tensor 'o': ";
  tensors["q"].element = "f16";
  EXPECT_EQ(refused(), q + "given elements f16, expected bf16");
  tensors["q"].element = "";
  EXPECT_EQ(refused(), q + "given elements of no type, expected bf16");
  tensors["q"].element = "bf16";
  tensors["q"].strides = {128, 1};
  EXPECT_EQ(refused(), q + "given 2 strides for 3 axes");
  tensors["q"].strides = {516, 128, 1};
  EXPECT_EQ(refused(), q + "axis 0 has a stride of 516 elements of 2 bytes; TMA expects a positive multiple of 16 bytes below 2^34");
  tensors["q"].strides = {std::int64_t{1} << 33, 128, 1};
  EXPECT_THAT(refused(), HasSubstr("axis 0 has a stride of 8589934592 elements"));
  tensors["q"].strides = {512, 0, 1};
  EXPECT_THAT(refused(), HasSubstr("axis 1 has a stride of 0 elements of 2 bytes; TMA expects a positive multiple of 16 bytes below 2^40"));
  tensors["q"].strides = {512, 1, 4};
  EXPECT_EQ(refused(), q + "the innermost axis 2 has a stride of 4 elements; TMA expects 1, pass a contiguous tensor");
  tensors["q"].strides = {};
  tensors["q"].address = 0x1008;
  EXPECT_EQ(refused(), q + "address 4104 is not a multiple of 16 bytes, as TMA expects");
  tensors["q"].address = 0x1001;
  EXPECT_EQ(refused(), q + "given address 4097, expected a multiple of 2 bytes");
  tensors["q"].address = 0;
  EXPECT_EQ(refused(), q + "given a null address, expected device memory of shape [100, 4, 128] (this tensor is not optional)");
  tensors["q"].address = 0x1000;
  tensors["o"].strides = {0, 128, 1};
  EXPECT_EQ(refused(), o + "axis 0 has stride 0; the program writes this tensor, expected elements of its own");
  tensors["o"].strides = {};
  tensors["state"].address = 0x4008;
  EXPECT_EQ(refused(), "program 'scan': tensor 'state': given address 16392, expected a multiple of 16 bytes");
}

TEST_F(ProgramTest, GridAndIntegersMustFit) {
  for (const char* name : {"q", "o"}) tensors[name].shape = {64 * 65536, 4, 128};
  EXPECT_EQ(refused(), "program 'scan': a grid of 65536 CTAs along axis 1 (ceildiv(T, 64)), expected 0 to 65535");
  std::string json = kSidecar;
  json.replace(json.find(R"({"kind": "i32", "dim": "T"})"), 27, R"({"kind": "i32", "value": ["mul", "T", 100000000]})");
  json.replace(json.find(R"("threads": 288)"), 14, R"("threads": 288, "cluster": [3, 1, 1])");
  program = Program::from(json, kPtx);
  for (const char* name : {"q", "o"}) tensors[name].shape = {100, 4, 128};
  EXPECT_EQ(refused(), "program 'scan': a grid of 8 CTAs along axis 0, expected a multiple of the cluster's 3");
  json.replace(json.find("[3, 1, 1]"), 9, "[2, 1, 1]");
  program = Program::from(json, kPtx);
  EXPECT_EQ(refused(), "program 'scan': 'mul(T, 100000000)' is 10000000000, expected a value of 32 bits");
  tensors["q"].shape = tensors["o"].shape = {std::int64_t{1} << 30, 4, 128};
  std::string flat = kSidecar;
  flat.replace(flat.find(R"(["ceildiv", "T", 64])"), 20, "1");
  program = Program::from(flat, kPtx);
  EXPECT_EQ(refused(), "program 'scan': tensor 'q': 1073741824 rows, expected fewer than 2^30");
}

}  // namespace
}  // namespace tilewright::program
