#include "runtime/cuda/timing.h"
#include "tests/unit/cuda/cuda_test.h"

namespace tilewright::cuda {
namespace {

TEST_F(CudaTest, NoDriverLibraryIsNamed) {
  const std::string text = error_of([] { load_driver("libcuda-that-is-not-there.so.1"); });
  EXPECT_HAS(text, "no CUDA driver: libcuda-that-is-not-there.so.1");
  EXPECT_HAS(text, "install the NVIDIA driver, set TILEWRIGHT_LIBCUDA to its libcuda.so.1, or use --device sim");
}

TEST_F(CudaTest, LibraryWithoutEntryPointIsTooOld) {
  EXPECT_HAS(error_of([] { load_driver("libm.so.6"); }), "libm.so.6 has no cuInit: it is older than CUDA 12.0");
}

TEST_F(CudaTest, NoGpuIsNotNoDriver) {
  tell("no_gpu");
  EXPECT_HAS(error_of([] { load_driver(FAKE_LIBCUDA); }),
             "no GPU: the CUDA driver is installed but cuInit reports CUDA_ERROR_NO_DEVICE; check nvidia-smi");
  tell("empty");
  EXPECT_HAS(error_of([] { load_driver(FAKE_LIBCUDA); }), "no GPU: the CUDA driver lists no device");
}

TEST_F(CudaTest, WrongCardIsNamed) {
  const DriverApi api = load_driver(FAKE_LIBCUDA);
  tell("ampere");
  EXPECT_HAS(error_of([&] { CudaDevice device(api, 0); }),
             "wrong card: NVIDIA A100 has compute capability 8.0, Tilewright's kernels need 9.0");
}

TEST_F(CudaTest, OrdinalOutOfRange) {
  const DriverApi api = load_driver(FAKE_LIBCUDA);
  EXPECT_EQ(error_of([&] { CudaDevice device(api, 3); }),
            "no CUDA device 3: the driver lists 1 device, numbered from 0");
}

TEST_F(CudaTest, MemoryRoundTripAndDescription) {
  const DriverApi api = load_driver(FAKE_LIBCUDA);
  {
    CudaDevice device(api, 0);
    EXPECT_EQ(device.kind(), "cuda");
    EXPECT_EQ(device.description(), "NVIDIA H200, 114 SMs, driver for CUDA 12.8");
    EXPECT_EQ(device.multiprocessors(), 114u);
    const auto address = device.allocate(8);
    const std::uint64_t in = 0x0123456789abcdef;
    std::uint64_t out = 0;
    device.copy_to_device(address, &in, 8);
    device.copy_to_host(&out, address, 8);
    EXPECT_EQ(out, in);
    device.fill(address, 0xff, 4);
    device.copy_to_host(&out, address, 8);
    EXPECT_EQ(out, 0x01234567ffffffffu);
    device.release(address);
    device.release(0);
  }
  EXPECT_EQ(record->live, 0);
}

TEST_F(CudaTest, FullCardNamesCallSizeAndRemedy) {
  const DriverApi api = load_driver(FAKE_LIBCUDA);
  CudaDevice device(api, 0);
  tell("full");
  const std::string text = error_of([&] { device.allocate(1 << 20); });
  EXPECT_HAS(text, "cuMemAlloc failed: CUDA_ERROR_OUT_OF_MEMORY (words of the driver), asked for 1048576 bytes");
  EXPECT_HAS(text, "the card's memory is full");
}

TEST_F(CudaTest, EncodesTensorMaps) {
  const DriverApi api = load_driver(FAKE_LIBCUDA);
  CudaDevice device(api, 0);
  runtime::TensorMapSpec spec;
  spec.rank = 3;
  spec.address = 256;
  spec.extents = {128, 16, 4096};
  spec.strides = {0, 256, 4096};
  spec.box = {64, 1, 64};
  spec.swizzle = runtime::MapSwizzle::b128;
  const auto map = device.encode(spec);
  EXPECT_EQ(map.words[0], 0x5a5a5a5a5a5a5a5au);
  EXPECT_EQ(map.words[15], 0x5a5a5a5a5a5a5a5au);
  EXPECT_EQ(record->extents, (std::vector<std::uint64_t>{128, 16, 4096}));
  EXPECT_EQ(record->strides, (std::vector<std::uint64_t>{256, 4096}));
  EXPECT_EQ(record->box, (std::vector<std::uint32_t>{64, 1, 64}));
  EXPECT_EQ(record->element, kMapBfloat16);
  EXPECT_EQ(record->swizzle, 3);
  EXPECT_EQ(record->promotion, 3);
  EXPECT_EQ(record->fill, 0);
  tell("bad_map");
  const std::string text = error_of([&] { device.encode(spec); });
  EXPECT_HAS(text, "cuTensorMapEncodeTiled failed: CUDA_ERROR_INVALID_VALUE");
  EXPECT_HAS(text, "extents [128, 16, 4096], byte strides [0, 256, 4096], box [64, 1, 64]");
  spec.rank = 6;
  EXPECT_EQ(error_of([&] { device.encode(spec); }), "tensor map of rank 6: expected 1 to 5");
}

TEST_F(CudaTest, LaunchCarriesGeometryAndAttributes) {
  const DriverApi api = load_driver(FAKE_LIBCUDA);
  {
    CudaDevice device(api, 0);
    auto description = image();
    description.dynamic_shared_bytes = 200000;
    description.cluster = {2, 1, 1};
    const auto kernel = device.load(description);
    EXPECT_EQ(record->module, ".version 8.7");
    EXPECT_EQ(record->max_dynamic_shared, 200000);
    const std::int32_t value = 42;
    const runtime::KernelParameter parameter = std::as_bytes(std::span(&value, 1));
    runtime::LaunchGeometry geometry;
    geometry.grid = {4, 3, 2};
    geometry.programmatic = true;
    geometry.stream = &geometry;
    device.launch(*kernel, geometry, std::span(&parameter, 1));
    EXPECT_EQ(record->grid, (std::array<unsigned, 3>{4, 3, 2}));
    EXPECT_EQ(record->cluster, (std::array<unsigned, 3>{2, 1, 1}));
    EXPECT_EQ(record->programmatic, 1);
    EXPECT_EQ(record->attributes, 2u);
    EXPECT_EQ(record->threads, 256u);
    EXPECT_EQ(record->dynamic_shared_bytes, 200000u);
    EXPECT_EQ(record->stream, &geometry);
    EXPECT_EQ(record->first_parameter, 42);
    geometry.grid = {3, 1, 1};
    EXPECT_EQ(error_of([&] { device.launch(*kernel, geometry, std::span(&parameter, 1)); }),
              "kernel 'copy' launched with grid [3, 1, 1]: expected multiples of its cluster [2, 1, 1]");
    geometry.grid = {2, 65536, 1};
    EXPECT_HAS(error_of([&] { device.launch(*kernel, geometry, std::span(&parameter, 1)); }),
               "kernel 'copy' launched with grid [2, 65536, 1]: expected 1 to 2147483647 CTAs along x");
  }
  EXPECT_EQ(record->live, 0);
}

TEST_F(CudaTest, LoadErrorsCarryTheDriversLog) {
  const DriverApi api = load_driver(FAKE_LIBCUDA);
  CudaDevice device(api, 0);
  auto big = image();
  big.dynamic_shared_bytes = 240000;
  EXPECT_EQ(error_of([&] { device.load(big); }),
            "kernel 'copy' asks for 240000 bytes of dynamic shared memory, the card offers 232448");
  auto empty = image();
  empty.ptx.clear();
  EXPECT_EQ(error_of([&] { device.load(empty); }), "kernel 'copy' has neither a cubin nor PTX to load");
  tell("bad_ptx");
  const std::string text = error_of([&] { device.load(image()); });
  EXPECT_HAS(text, "cuModuleLoadDataEx failed: CUDA_ERROR_INVALID_PTX");
  EXPECT_HAS(text, "kernel 'copy' from PTX, log of the driver:\nline 7; unknown instruction");
}

TEST_F(CudaTest, VariablesOfAKernelHaveAnAddress) {
  const DriverApi api = load_driver(FAKE_LIBCUDA);
  CudaDevice device(api, 0);
  const auto kernel = device.load(image());
  const runtime::DeviceVariable stamps = device.variable(*kernel, "stamps");
  EXPECT_EQ(stamps.address, 0x3000u);
  EXPECT_EQ(stamps.bytes, 64u);
  EXPECT_HAS(error_of([&] { device.variable(*kernel, "other"); }), "variable 'other' of kernel 'copy'");
}

TEST_F(CudaTest, KernelsTooBigForTheCardAreNamed) {
  const DriverApi api = load_driver(FAKE_LIBCUDA);
  CudaDevice device(api, 0);
  const auto kernel = device.load(image());
  tell("too_big");
  const runtime::KernelParameter none = std::as_bytes(std::span(&record->first_parameter, 1));
  const std::string text = error_of([&] { device.launch(*kernel, {}, std::span(&none, 1)); });
  EXPECT_HAS(text, "cuLaunchKernelEx failed: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES");
  EXPECT_HAS(text, "kernel 'copy', grid [1, 1, 1], 256 threads");
  EXPECT_HAS(text, "more registers, threads or shared memory than an SM has");
  tell("full");
  const std::string full = error_of([&] { device.load(image()); });
  EXPECT_HAS(full, "cuModuleLoadDataEx failed: CUDA_ERROR_OUT_OF_MEMORY");
  EXPECT_HAS(full, "kernel 'copy'");
}

TEST_F(CudaTest, FaultSaysWhereToLook) {
  const DriverApi api = load_driver(FAKE_LIBCUDA);
  CudaDevice device(api, 0);
  tell("fault");
  const std::string text = error_of([&] { device.synchronize(); });
  EXPECT_HAS(text, "cuCtxSynchronize failed: CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_HAS(text, "run the same program with --device sim");
}

TEST_F(CudaTest, TimesAreMediansAfterFlushes) {
  const DriverApi api = load_driver(FAKE_LIBCUDA);
  {
    CudaDevice device(api, 0);
    unsigned calls = 0;
    TimingOptions options;
    options.warmups = 1;
    options.runs = 4;
    options.flush_bytes = 1024;
    const auto enqueue = [&](void* stream) { calls += stream != nullptr; };
    EXPECT_DOUBLE_EQ(time_launches_ms(device, enqueue, options), 2.5);
    EXPECT_EQ(calls, 5u);
    EXPECT_EQ(record->flushes, 5u);
    options.graph = true;
    EXPECT_DOUBLE_EQ(time_launches_ms(device, enqueue, options), 2.5);
    EXPECT_EQ(calls, 6u);
    EXPECT_EQ(record->graph_launches, 5u);
    options.runs = 0;
    EXPECT_EQ(error_of([&] { time_launches_ms(device, enqueue, options); }),
              "a measurement of 0 runs: expected at least 1");
    options.runs = 1;
    EXPECT_EQ(error_of([&] { time_launches_ms(device, [](void*) { throw Error("mine"); }, options); }), "mine");
  }
  EXPECT_EQ(record->live, 0);
}

}  // namespace
}  // namespace tilewright::cuda
