// Calls on CUDA devices, over the fake driver: modules, contexts, streams, what a call asks of the driver.
#include <dlfcn.h>

#include <cstring>
#include <thread>

#include "gdn_call.h"
#include "runtime/cuda/cuda_device.h"
#include "tests/fake_cuda/fake_libcuda.h"

namespace tilewright::test {
namespace {

using testing::HasSubstr;

// The library loads the driver once: this is before its first use.
const bool told = (setenv("TILEWRIGHT_LIBCUDA", FAKE_LIBCUDA, 1), setenv("FAKE_CUDA_DEVICES", "2", 1), true);

class CudaCalls : public testing::Test {
 protected:
  CudaCalls()
      : api(cuda::load_driver(FAKE_LIBCUDA)),
        record(*reinterpret_cast<FakeRecordFunction>(dlsym(dlopen(FAKE_LIBCUDA, RTLD_NOW | RTLD_LOCAL), "fake_record"))()), device(api, 0) {
    tell("");
    api.cuCtxSetCurrent(nullptr);
    record = {};
    record.keep_launches = true;
  }
  ~CudaCalls() override {
    tell("");
    api.cuCtxSetCurrent(nullptr);
  }
  static void tell(const char* mode) { setenv("FAKE_CUDA", mode, 1); }

  /// A plain call with all its tensors on a device.
  struct Call {
    cuda::CudaDevice& device;
    tilewright_gdn_forward_args args{};
    std::vector<runtime::DeviceAddress> owned;
    Call(cuda::CudaDevice& on, const Handle& handle, std::int64_t T = 100, std::int64_t N = 3) : device(on) {
      const auto t = static_cast<std::uint64_t>(T), n = static_cast<std::uint64_t>(N);
      args.size = sizeof args;
      args.T = T, args.N = N, args.batch = 1, args.hk = 1, args.hv = 2, args.dk = args.dv = 128;
      args.q.data = give(t * 256), args.k.data = give(t * 256), args.v.data = give(t * 512), args.o.data = give(t * 512);
      args.g = {give(t * 8), {}, TILEWRIGHT_F32, 0}, args.beta = {give(t * 8), {}, TILEWRIGHT_F32, 0};
      args.cu_seqlens = {give((n + 1) * 4), {}, TILEWRIGHT_I32, 0}, args.final_state = {give(n * 2 * 65536), {}, TILEWRIGHT_F32, 0};
      EXPECT_EQ(tilewright_gdn_forward_workspace(handle.get(), &args, &args.workspace_bytes), TILEWRIGHT_OK) << tilewright_last_error();
      args.workspace = give(args.workspace_bytes);
      device.api().cuCtxSetCurrent(nullptr);
    }
    ~Call() {
      for (const auto address : owned) device.release(address);
    }
    void* give(std::uint64_t bytes) {
      owned.push_back(device.allocate(bytes));
      return reinterpret_cast<void*>(owned.back());
    }
  };

  cuda::DriverApi api;
  FakeRecord& record;
  cuda::CudaDevice device;
};

#define EXPECT_OK(call) EXPECT_EQ(call, TILEWRIGHT_OK) << tilewright_last_error()

TEST_F(CudaCalls, KernelsAreLoadedOnceOnEachDevice) {
  cuda::CudaDevice other(api, 1);
  const Handle first = handle_of(0), again = handle_of(0), second = handle_of(1);
  Call a(device, first), b(device, again), c(other, second);
  EXPECT_OK(tilewright_gdn_forward(first.get(), &a.args));
  EXPECT_EQ(record.modules, 2u);
  EXPECT_OK(tilewright_gdn_forward(again.get(), &b.args));
  EXPECT_EQ(record.modules, 2u);
  EXPECT_OK(tilewright_gdn_forward(second.get(), &c.args));
  EXPECT_EQ(record.modules, 4u);
  ASSERT_EQ(record.all.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(record.all[i].context, fake_context(i < 4 ? 0 : 1)) << i;
  EXPECT_EQ(record.all[0].function, record.all[2].function);
}

TEST_F(CudaCalls, GridsDependOnTAndNOnly) {
  const Handle handle = handle_of(0);
  Call call(device, handle, 1000, 5);
  int stream = 0;
  call.args.stream = &stream;
  EXPECT_OK(tilewright_gdn_forward(handle.get(), &call.args));
  ASSERT_EQ(record.all.size(), 2u);
  EXPECT_EQ(record.all[0].grid, (std::array<unsigned, 3>{1000 / 64 + 5, 1, 1}));  // chunk slots x key heads
  EXPECT_EQ(record.all[1].grid, (std::array<unsigned, 3>{5 * 2 * 2, 1, 1}));      // sequences x heads x halves of V
  EXPECT_FALSE(record.all[0].programmatic);
  EXPECT_TRUE(record.all[1].programmatic);
  for (const FakeLaunch& launch : record.all) EXPECT_EQ(launch.stream, &stream);
}

TEST_F(CudaCalls, NewPointersAskNothingOfTheDriverButTheLaunch) {
  const Handle handle = handle_of(0);
  Call first(device, handle), second(device, handle);
  EXPECT_OK(tilewright_gdn_forward(handle.get(), &first.args));
  const FakeRecord before = record;
  for (int i = 0; i < 10; ++i) EXPECT_OK(tilewright_gdn_forward(handle.get(), i % 2 == 0 ? &second.args : &first.args));
  EXPECT_EQ(record.launches, before.launches + 20);
  EXPECT_EQ(record.encoded_maps, before.encoded_maps);
  EXPECT_EQ(record.allocations, before.allocations);
  EXPECT_EQ(record.synchronisations, before.synchronisations);
  EXPECT_EQ(record.modules, before.modules);
  second.args.T -= 1;  // another shape: maps are encoded, nothing is loaded
  EXPECT_OK(tilewright_gdn_forward(handle.get(), &second.args));
  EXPECT_GT(record.encoded_maps, before.encoded_maps);
  EXPECT_EQ(record.modules, before.modules);
}

TEST_F(CudaCalls, TheThreadsContextStaysWhatItWas) {
  const Handle handle = handle_of(0);
  Call call(device, handle);
  cuda::Context current = nullptr;
  for (void* mine : {static_cast<void*>(nullptr), fake_context(1), static_cast<void*>(&current)}) {
    api.cuCtxSetCurrent(static_cast<cuda::Context>(mine));
    EXPECT_OK(tilewright_gdn_forward(handle.get(), &call.args));
    api.cuCtxGetCurrent(&current);
    EXPECT_EQ(current, mine);
  }
  for (const FakeLaunch& launch : record.all) EXPECT_EQ(launch.context, fake_context(0));
}

TEST_F(CudaCalls, ThreadsShareAHandle) {
  const Handle handle = handle_of(0);
  Call call(device, handle);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      tilewright_gdn_forward_args args = call.args;
      for (int i = 0; i < 100; ++i) {
        args.T = 100 - (i + t) % 7;
        EXPECT_OK(tilewright_gdn_forward(handle.get(), &args));
      }
    });
  threads.clear();
  EXPECT_EQ(record.launches, 800u);
  EXPECT_EQ(record.modules, 2u);
}

TEST_F(CudaCalls, MemoryOfOtherPlacesIsNamed) {
  cuda::CudaDevice other(api, 1);
  const Handle handle = handle_of(0);
  Call call(device, handle), elsewhere(other, handle);
  std::vector<std::uint16_t> host(100 * 256);
  tilewright_gdn_forward_args args = call.args;
  args.q.data = memory<std::uint16_t>(100 * 256).get();
  EXPECT_EQ(tilewright_gdn_forward(handle.get(), &args), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_THAT(tilewright_last_error(), HasSubstr("gdn_forward: q is not CUDA memory, expected memory of CUDA device 0"));
  args = call.args, args.v.data = elsewhere.args.v.data;
  EXPECT_EQ(tilewright_gdn_forward(handle.get(), &args), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_THAT(tilewright_last_error(), HasSubstr("gdn_forward: v is memory of CUDA device 1, expected memory of CUDA device 0"));
  EXPECT_OK(tilewright_gdn_forward(handle.get(), &call.args));
  args.flags = TILEWRIGHT_GDN_CHECK_POINTERS;  // later calls are checked when asked to
  EXPECT_EQ(tilewright_gdn_forward(handle.get(), &args), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_THAT(tilewright_last_error(), HasSubstr("v is memory of CUDA device 1"));
}

TEST_F(CudaCalls, FullCardsAndKernelsTooBigAreNamed) {
  const Handle handle = handle_of(0);
  Call call(device, handle);
  tell("full");
  EXPECT_EQ(tilewright_gdn_forward(handle.get(), &call.args), TILEWRIGHT_DEVICE_ERROR);
  EXPECT_THAT(tilewright_last_error(), HasSubstr("CUDA_ERROR_OUT_OF_MEMORY"));
  EXPECT_THAT(tilewright_last_error(), HasSubstr("kernel 'gdn_prologue'"));
  EXPECT_THAT(tilewright_last_error(), HasSubstr("the card's memory is full"));
  tell("too_big");
  EXPECT_EQ(tilewright_gdn_forward(handle.get(), &call.args), TILEWRIGHT_DEVICE_ERROR);
  EXPECT_THAT(tilewright_last_error(), HasSubstr("kernel 'gdn_prologue', grid [4, 1, 1], 128 threads"));
  tell("");
  EXPECT_OK(tilewright_gdn_forward(handle.get(), &call.args));
}

TEST_F(CudaCalls, BadOffsetsAreReportedByTheNextCallOfTheStream) {
  const Handle handle = handle_of(0);
  Call call(device, handle);
  std::vector<int> handles(4);
  void *const on = &handles[0], *const other = &handles[1], *const third = &handles[2], *const captured = &handles[3];
  const auto calls = [&](void* stream) {
    call.args.stream = stream;
    return tilewright_gdn_forward(handle.get(), &call.args);
  };
  // What a kernel would have written, into the record of every stream.
  const auto report = [&](std::int32_t index, std::int64_t value) {
    auto* words = static_cast<std::int32_t*>(record.mapped);
    for (std::size_t i = 0; i < 256 * 16; i += 16) {
      std::memcpy(words + i + 1, &value, 8);
      words[i + 3] = 64, words[i + 4] = 100, words[i] = index + 1;
    }
  };
  EXPECT_OK(calls(on));
  EXPECT_OK(tilewright_gdn_forward_check(handle.get(), on));
  report(2, 17);
  const unsigned launches = record.launches;
  EXPECT_EQ(calls(on), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_STREQ(tilewright_last_error(), "gdn_forward: cu_seqlens[2] of an earlier call on this stream is 17, expected 64 to T = 100: offsets must not decrease; "
                                        "sequences from 1 on have no results");
  EXPECT_EQ(record.launches, launches);  // nothing was enqueued
  EXPECT_OK(calls(on));
  EXPECT_EQ(tilewright_gdn_forward_check(handle.get(), other), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_THAT(tilewright_last_error(), HasSubstr("cu_seqlens[2] of an earlier call on this stream is 17"));
  EXPECT_OK(tilewright_gdn_forward_check(handle.get(), other));
  EXPECT_OK(calls(other));
  report(0, -(std::int64_t{1} << 40));
  EXPECT_EQ(calls(third), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_THAT(tilewright_last_error(), HasSubstr("cu_seqlens[0] of an earlier call on this stream is -1099511627776, expected "));
  // A stream that is new asks the driver for nothing: it may be in capture.
  report(-1, 0);
  const int live = record.live;
  EXPECT_OK(calls(captured));
  EXPECT_EQ(record.live, live);
}

TEST_F(CudaCalls, DevicesThatAreNotThere) {
  tilewright_handle* raw = nullptr;
  EXPECT_EQ(tilewright_create(2, &raw), TILEWRIGHT_NO_DEVICE);
  EXPECT_THAT(tilewright_last_error(), HasSubstr("no CUDA device 2: the driver lists 2 devices"));
  tell("ampere");
  EXPECT_EQ(tilewright_create(1, &raw), TILEWRIGHT_NO_DEVICE);
  EXPECT_THAT(tilewright_last_error(), HasSubstr("wrong card: NVIDIA A100"));
  EXPECT_EQ(raw, nullptr);
}

}  // namespace
}  // namespace tilewright::test
