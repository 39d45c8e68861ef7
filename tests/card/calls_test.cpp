// The C interface on a card: graphs replayed with other lengths, streams, threads, contexts, devices, tensor maps that move.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "kernels/gdn/reference.h"
#include "runtime/cuda/cuda_device.h"
#include "tilewright/error.h"
#include "tilewright/tilewright.h"

namespace tilewright::test {
namespace {

#define ASSERT_OK(call) ASSERT_EQ(call, TILEWRIGHT_OK) << tilewright_last_error()
#define EXPECT_OK(call) EXPECT_EQ(call, TILEWRIGHT_OK) << tilewright_last_error()

struct Destroy {
  void operator()(tilewright_handle* handle) const { tilewright_destroy(handle); }
};
using Handle = std::unique_ptr<tilewright_handle, Destroy>;

Handle handle_of(int device) {
  tilewright_handle* raw = nullptr;
  EXPECT_OK(tilewright_create(device, &raw));
  return Handle(raw);
}

/// A call with its memory on a device, and what the reference says of it. T and N stay; the lengths may change.
struct Call {
  cuda::CudaDevice& device;
  gdn::Inputs in;
  tilewright_gdn_forward_args args{};
  std::vector<runtime::DeviceAddress> owned;

  Call(cuda::CudaDevice& on, const Handle& handle, std::vector<std::int64_t> lens, std::uint64_t seed = 1) : device(on) {
    gdn::InputShape shape;
    shape.lens = std::move(lens), shape.hk = 2, shape.hv = 4;
    in = gdn::generate(shape, gdn::Kind::ordinary, seed);
    args.size = sizeof args;
    args.T = in.tokens(), args.N = in.sequences(), args.batch = 1, args.hk = in.hk, args.hv = in.hv, args.dk = in.dk, args.dv = in.dv;
    args.q.data = put(in.q), args.k.data = put(in.k), args.v.data = put(in.v), args.o.data = put(in.v);
    args.g = {put(in.g), {}, TILEWRIGHT_F32, 0}, args.beta = {put(in.beta), {}, TILEWRIGHT_F32, 0};
    args.cu_seqlens = {put(std::vector<std::int32_t>(in.lens.size() + 1)), {}, TILEWRIGHT_I32, 0};
    args.initial_state = {put(in.initial_state), {}, TILEWRIGHT_F32, 0}, args.final_state = {put(in.initial_state), {}, TILEWRIGHT_F32, 0};
    set_lengths(in.lens);
    EXPECT_OK(tilewright_gdn_forward_workspace(handle.get(), &args, &args.workspace_bytes));
    args.workspace = put(std::vector<char>(args.workspace_bytes));
  }
  ~Call() {
    for (const auto address : owned) device.release(address);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  template <class Value>
  void* put(const std::vector<Value>& values) {
    owned.push_back(device.allocate(values.size() * sizeof(Value)));
    device.copy_to_device(owned.back(), values.data(), values.size() * sizeof(Value));
    return reinterpret_cast<void*>(owned.back());
  }
  void set_lengths(std::vector<std::int64_t> lens) {
    in.lens = std::move(lens);
    const auto offsets = in.offsets();
    const std::vector<std::int32_t> narrow(offsets.begin(), offsets.end());
    device.copy_to_device(reinterpret_cast<runtime::DeviceAddress>(args.cu_seqlens.data), narrow.data(), narrow.size() * 4);
  }
  void poison() { device.fill(reinterpret_cast<runtime::DeviceAddress>(args.o.data), 0xff, in.v.size() * 2); }
  std::vector<std::uint16_t> o() {
    std::vector<std::uint16_t> bits(in.v.size());
    device.copy_to_host(bits.data(), reinterpret_cast<runtime::DeviceAddress>(args.o.data), bits.size() * 2);
    return bits;
  }
  void expect_right() {
    device.synchronize();
    std::vector<float> state(in.initial_state.size());
    device.copy_to_host(state.data(), reinterpret_cast<runtime::DeviceAddress>(args.final_state.data), state.size() * 4);
    const gdn::Outputs expected = gdn::chunked(in);
    // Roundings of a state that nothing erases add up.
    const double bar = 4e-3 * std::sqrt(std::max(1.0, double(*std::max_element(in.lens.begin(), in.lens.end())) / 4096));
    EXPECT_LT(gdn::rms_ratio(o(), gdn::DType::bf16, expected.o), bar);
    EXPECT_LT(gdn::rms_ratio(state, expected.final_state), bar);
  }
};

class CardCalls : public testing::Test {
 protected:
  void SetUp() override {
    try {
      api = &cuda::driver();
      device = std::make_unique<cuda::CudaDevice>(*api, 0);
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
    api->cuCtxSetCurrent(nullptr);
  }
  cuda::Stream stream(unsigned flags) {
    device->make_current();
    cuda::Stream made = nullptr;
    api->check(api->cuStreamCreate(&made, flags), "cuStreamCreate");
    return made;
  }
  const cuda::DriverApi* api = nullptr;
  std::unique_ptr<cuda::CudaDevice> device;
};

TEST_F(CardCalls, GraphsAreReplayedWithOtherLengths) {
  const Handle handle = handle_of(0);
  Call call(*device, handle, {700, 64, 0, 260});
  const cuda::Stream on = stream(cuda::kStreamNonBlocking);
  call.args.stream = on;
  ASSERT_OK(tilewright_gdn_forward(handle.get(), &call.args));  // compiles
  device->make_current();
  cuda::Graph graph = nullptr;
  cuda::GraphExec exec = nullptr;
  api->check(api->cuStreamBeginCapture_v2(on, cuda::kCaptureThreadLocal), "cuStreamBeginCapture");
  ASSERT_OK(tilewright_gdn_forward(handle.get(), &call.args));
  api->check(api->cuStreamEndCapture(on, &graph), "cuStreamEndCapture");
  api->check(api->cuGraphInstantiateWithFlags(&exec, graph, 0), "cuGraphInstantiate");
  for (const std::vector<std::int64_t>& lens : {std::vector<std::int64_t>{700, 64, 0, 260}, {1024, 0, 0, 0}, {1, 63, 65, 895}, {256, 256, 256, 256}}) {
    call.set_lengths(lens);
    call.poison();
    device->synchronize();
    api->check(api->cuGraphLaunch(exec, on), "cuGraphLaunch");
    call.expect_right();
  }
  api->cuGraphExecDestroy(exec);
  api->cuGraphDestroy(graph);
  api->cuStreamDestroy_v2(on);
}

TEST_F(CardCalls, BadOffsetsAreReportedAndGoodSequencesAreRight) {
  const Handle handle = handle_of(0);
  Call call(*device, handle, {700, 64, 0, 260});
  ASSERT_OK(tilewright_gdn_forward(handle.get(), &call.args));
  call.expect_right();
  const auto right = call.o();
  const std::size_t row = right.size() / 1024;
  const auto offsets = reinterpret_cast<runtime::DeviceAddress>(call.args.cu_seqlens.data);
  const auto spoil = [&] {  // offset 3 of 0, 700, 764, 764, 1024
    const std::int32_t wrong = -7;
    device->copy_to_device(offsets + 12, &wrong, 4);
    call.poison();
    device->synchronize();
  };
  const auto expect_spoilt = [&] {
    device->synchronize();
    const auto o = call.o();
    EXPECT_TRUE(std::equal(o.begin(), o.begin() + std::ptrdiff_t(764 * row), right.begin()));
    EXPECT_EQ(std::count(o.begin() + std::ptrdiff_t(764 * row), o.end(), 0xffff), std::ptrdiff_t(260 * row));
  };
  const char* const message = "gdn_forward: cu_seqlens[3] of an earlier call on this stream is -7, expected 764 to T = 1024: ";
  spoil();
  ASSERT_OK(tilewright_gdn_forward(handle.get(), &call.args));
  expect_spoilt();
  EXPECT_EQ(tilewright_gdn_forward(handle.get(), &call.args), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_THAT(tilewright_last_error(), testing::StartsWith(message));
  call.set_lengths({700, 64, 0, 260});
  ASSERT_OK(tilewright_gdn_forward(handle.get(), &call.args));
  call.expect_right();

  // A graph, captured in the strictest mode on a stream that no call has seen, with an allocation of the library's kind in between.
  const cuda::Stream on = stream(cuda::kStreamNonBlocking);
  call.args.stream = on;
  device->make_current();
  cuda::Graph graph = nullptr;
  cuda::GraphExec exec = nullptr;
  api->check(api->cuStreamBeginCapture_v2(on, cuda::kCaptureGlobal), "cuStreamBeginCapture");
  ASSERT_OK(tilewright_gdn_forward(handle.get(), &call.args));
  const runtime::MappedMemory mapped = device->allocate_mapped(4096);
  api->check(api->cuStreamEndCapture(on, &graph), "cuStreamEndCapture");
  device->release_mapped(mapped);
  api->check(api->cuGraphInstantiateWithFlags(&exec, graph, 0), "cuGraphInstantiate");
  for (int round = 0; round < 3; ++round) {
    spoil();
    api->check(api->cuGraphLaunch(exec, on), "cuGraphLaunch");
    expect_spoilt();
    EXPECT_EQ(tilewright_gdn_forward_check(handle.get(), on), TILEWRIGHT_INVALID_ARGUMENT);
    EXPECT_THAT(tilewright_last_error(), testing::StartsWith(message));
    call.set_lengths({700, 64, 0, 260});
    device->synchronize();
    api->check(api->cuGraphLaunch(exec, on), "cuGraphLaunch");
    call.expect_right();
    EXPECT_OK(tilewright_gdn_forward_check(handle.get(), on));
  }
  api->cuGraphExecDestroy(exec);
  api->cuGraphDestroy(graph);
  api->cuStreamDestroy_v2(on);
}

TEST_F(CardCalls, StatesInPlaceAreCutToTheSameBits) {
  const Handle handle = handle_of(0);
  for (const std::vector<std::int64_t>& lens : {std::vector<std::int64_t>{16384}, {9000, 64, 0, 2000}}) {
    Call call(*device, handle, lens);
    const auto address = [](const tilewright_operand& x) { return reinterpret_cast<runtime::DeviceAddress>(x.data); };
    const tilewright_operand apart = call.args.final_state;
    const auto left = [&] {
      device->synchronize();
      std::vector<float> state(call.in.initial_state.size());
      device->copy_to_host(state.data(), address(call.args.final_state), state.size() * 4);
      return std::pair(call.o(), state);
    };
    for (const int cp : {0, 2, 16}) {
      call.args.cp = cp, call.args.final_state = apart;
      ASSERT_OK(tilewright_gdn_forward_workspace(handle.get(), &call.args, &call.args.workspace_bytes));
      call.args.workspace = call.put(std::vector<char>(call.args.workspace_bytes));
      ASSERT_OK(tilewright_gdn_forward(handle.get(), &call.args));
      call.expect_right();
      const auto expected = left();
      call.args.final_state = call.args.initial_state;
      for (int round = 0; round < 20; ++round) {
        call.poison();
        ASSERT_OK(tilewright_gdn_forward(handle.get(), &call.args));
        ASSERT_EQ(left(), expected) << cp << " round " << round;
        device->copy_to_device(address(call.args.initial_state), call.in.initial_state.data(), call.in.initial_state.size() * 4);
      }
      // Calls one behind the other, each with the states that the last one left: as through two pools.
      for (int i = 0; i < 4; ++i) EXPECT_OK(tilewright_gdn_forward(handle.get(), &call.args));
      const auto in_place = left();
      device->copy_to_device(address(call.args.initial_state), call.in.initial_state.data(), call.in.initial_state.size() * 4);
      call.args.final_state = apart;
      for (int i = 0; i < 4; ++i) {
        EXPECT_OK(tilewright_gdn_forward(handle.get(), &call.args));
        std::swap(call.args.initial_state, call.args.final_state);
      }
      std::swap(call.args.initial_state, call.args.final_state);  // the last output again
      EXPECT_EQ(left(), in_place) << cp;
      std::swap(call.args.initial_state, call.args.final_state);
      device->copy_to_device(address(call.args.initial_state), call.in.initial_state.data(), call.in.initial_state.size() * 4);
    }
  }
}

TEST_F(CardCalls, EveryKindOfStream) {
  const Handle handle = handle_of(0);
  Call call(*device, handle, {130, 64});
  const auto special = [](std::uintptr_t number) { return reinterpret_cast<void*>(number); };
  const cuda::Stream blocking = stream(0), free = stream(cuda::kStreamNonBlocking);
  for (void* on : {special(0), special(1) /* legacy */, special(2) /* per thread */, static_cast<void*>(blocking), static_cast<void*>(free)}) {
    call.poison();
    device->synchronize();
    call.args.stream = on;
    EXPECT_OK(tilewright_gdn_forward(handle.get(), &call.args));
    call.expect_right();
  }
  api->cuStreamDestroy_v2(blocking);
  api->cuStreamDestroy_v2(free);
}

TEST_F(CardCalls, TwoStreamsAtOnce) {
  const Handle handle = handle_of(0);
  Call first(*device, handle, {700, 64, 260}, 1), second(*device, handle, {512, 500, 12}, 2);
  EXPECT_OK(tilewright_gdn_forward(handle.get(), &first.args));
  EXPECT_OK(tilewright_gdn_forward(handle.get(), &second.args));
  first.expect_right(), second.expect_right();
  const auto bits_first = first.o(), bits_second = second.o();
  first.args.stream = stream(cuda::kStreamNonBlocking), second.args.stream = stream(cuda::kStreamNonBlocking);
  for (int round = 0; round < 20; ++round) {
    first.poison(), second.poison();
    device->synchronize();
    for (int i = 0; i < 10; ++i) {
      EXPECT_OK(tilewright_gdn_forward(handle.get(), &first.args));
      EXPECT_OK(tilewright_gdn_forward(handle.get(), &second.args));
    }
    device->synchronize();
    ASSERT_EQ(first.o(), bits_first);
    ASSERT_EQ(second.o(), bits_second);
  }
}

TEST_F(CardCalls, ThreadsShareAHandle) {
  const Handle handle = handle_of(0);
  std::vector<std::unique_ptr<Call>> calls;
  std::vector<std::vector<std::uint16_t>> bits;
  for (std::uint64_t t = 0; t < 4; ++t) {
    calls.push_back(std::make_unique<Call>(*device, handle, std::vector<std::int64_t>{300 + std::int64_t(t), 64, 5}, t));
    EXPECT_OK(tilewright_gdn_forward(handle.get(), &calls.back()->args));
    calls.back()->expect_right();
    bits.push_back(calls.back()->o());
    calls.back()->args.stream = stream(cuda::kStreamNonBlocking);
    calls.back()->poison();
  }
  device->synchronize();
  std::vector<std::jthread> threads;
  for (auto& call : calls)
    threads.emplace_back([&] {
      api->cuCtxSetCurrent(nullptr);
      for (int i = 0; i < 200; ++i) EXPECT_OK(tilewright_gdn_forward(handle.get(), &call->args));
      cuda::Context current = nullptr;
      api->cuCtxGetCurrent(&current);
      EXPECT_EQ(current, nullptr);
    });
  threads.clear();
  device->synchronize();
  for (std::size_t t = 0; t < calls.size(); ++t) EXPECT_EQ(calls[t]->o(), bits[t]) << t;
}

TEST_F(CardCalls, ContextsOfTheCaller) {
  const Handle handle = handle_of(0);
  Call call(*device, handle, {130, 64});
  using Create = cuda::Result (*)(cuda::Context*, unsigned, cuda::DeviceOrdinal);
  using Drop = cuda::Result (*)(cuda::Context);
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  const auto create = reinterpret_cast<Create>(dlsym(library, "cuCtxCreate_v2"));
  const auto drop = reinterpret_cast<Drop>(dlsym(library, "cuCtxDestroy_v2"));
  ASSERT_NE(create, nullptr);
  cuda::Context mine = nullptr, current = nullptr;
  api->check(create(&mine, 0, 0), "cuCtxCreate");  // a second context of the device, current on this thread
  call.poison();
  api->cuCtxSetCurrent(mine);
  EXPECT_OK(tilewright_gdn_forward(handle.get(), &call.args));
  api->cuCtxGetCurrent(&current);
  EXPECT_EQ(current, mine);
  call.expect_right();
  drop(mine);
}

TEST_F(CardCalls, TwoDevicesFromOneThread) {
  int count = 0;
  api->cuDeviceGetCount(&count);
  if (count < 2) GTEST_SKIP() << "one device";
  cuda::CudaDevice other(*api, 1);
  const Handle first = handle_of(0), second = handle_of(1);
  Call a(*device, first, {700, 64, 260}), b(other, second, {700, 64, 260});
  for (int i = 0; i < 10; ++i) {
    EXPECT_OK(tilewright_gdn_forward(first.get(), &a.args));
    EXPECT_OK(tilewright_gdn_forward(second.get(), &b.args));
  }
  a.expect_right(), b.expect_right();
  EXPECT_EQ(a.o(), b.o());
  a.args.q.data = b.args.q.data, a.args.flags = TILEWRIGHT_GDN_CHECK_POINTERS;
  EXPECT_EQ(tilewright_gdn_forward(first.get(), &a.args), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_THAT(tilewright_last_error(), testing::HasSubstr("q is memory of CUDA device 1, expected memory of CUDA device 0"));
}

TEST_F(CardCalls, HostMemoryIsRefused) {
  const Handle handle = handle_of(0);
  Call call(*device, handle, {65});
  const std::unique_ptr<void, void (*)(void*)> host(std::aligned_alloc(256, 1 << 20), std::free);
  if (device->why_not_addressable(reinterpret_cast<runtime::DeviceAddress>(host.get())).empty()) GTEST_SKIP() << "kernels read host memory here";
  call.args.k.data = host.get();
  EXPECT_EQ(tilewright_gdn_forward(handle.get(), &call.args), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_THAT(tilewright_last_error(), testing::HasSubstr("k is not CUDA memory"));
}

TEST_F(CardCalls, MapsThatMoveAreThoseThatTheDriverEncodes) {
  using runtime::MapElement, runtime::MapSwizzle;
  const auto base = device->allocate(std::size_t{1} << 24);
  for (const MapElement element : {MapElement::f32, MapElement::bf16, MapElement::f16, MapElement::i32, MapElement::u8})
    for (const MapSwizzle swizzle : {MapSwizzle::none, MapSwizzle::b32, MapSwizzle::b64, MapSwizzle::b128})
      for (const unsigned rank : {2u, 3u, 5u}) {
        const std::uint64_t row = 1024;
        runtime::TensorMapSpec spec;
        spec.element = element, spec.swizzle = swizzle, spec.rank = rank, spec.address = base;
        spec.box = {16u * (1u << static_cast<unsigned>(swizzle)) / runtime::size_of(element), 8, 1, 1, 1};
        spec.extents = {row / runtime::size_of(element), 64, 4, 0x7fff0000, 0x7fff0000};
        spec.strides = {0, row, row * 64, row * 64, (1ull << 34) - row * 64};
        runtime::EncodedTensorMap moved = device->encode(spec);
        spec.address = base + (std::uint64_t{1} << 20) + 16;
        device->move_map(moved, [&] { auto at_base = spec; at_base.address = base; return at_base; }(), spec.address);
        EXPECT_EQ(moved.words, device->encode(spec).words) << int(element) << " " << int(swizzle) << " " << rank;
      }
  device->release(base);
  EXPECT_TRUE(device->moves_maps()) << "the driver keeps the address in another form: every new pointer costs a call";
}

}  // namespace
}  // namespace tilewright::test
