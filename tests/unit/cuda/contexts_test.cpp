// Contexts, devices, threads and tensor maps that move.
#include <thread>

#include "tests/unit/cuda/cuda_test.h"

namespace tilewright::cuda {
namespace {

runtime::TensorMapSpec rows(runtime::DeviceAddress address) {
  runtime::TensorMapSpec spec;
  spec.address = address;
  spec.extents = {64, 100};
  spec.strides = {2, 128};
  spec.box = {64, 8};
  return spec;
}

TEST_F(CudaTest, MapsMoveWithoutTheDriver) {
  const DriverApi api = load_driver(FAKE_LIBCUDA);
  CudaDevice device(api, 0);
  EXPECT_TRUE(device.moves_maps());
  runtime::EncodedTensorMap map = device.encode(rows(0x1000));
  const unsigned before = record->encoded_maps;
  device.move_map(map, rows(0x1000), 0x2000);
  EXPECT_EQ(record->encoded_maps, before);
  EXPECT_EQ(map.words, device.encode(rows(0x2000)).words);
}

TEST_F(CudaTest, MapsOfAnUnknownFormAreEncodedAnew) {
  const DriverApi api = load_driver(FAKE_LIBCUDA);
  tell("opaque_map");
  CudaDevice device(api, 0);
  EXPECT_FALSE(device.moves_maps());
  runtime::EncodedTensorMap map = device.encode(rows(0x1000));
  const unsigned before = record->encoded_maps;
  device.move_map(map, rows(0x1000), 0x2000);
  EXPECT_EQ(record->encoded_maps, before + 1);
  EXPECT_EQ(map.words, device.encode(rows(0x2000)).words);
}

TEST_F(CudaTest, EveryDeviceLaunchesInItsOwnContextFromAnyThread) {
  setenv("FAKE_CUDA_DEVICES", "2", 1);
  const DriverApi api = load_driver(FAKE_LIBCUDA);
  record->keep_launches = true;
  {
    CudaDevice first(api, 0), second(api, 1);
    const auto a = first.load(image()), b = second.load(image());
    std::array<std::uint64_t, 16> value{};
    const runtime::KernelParameter parameter = std::as_bytes(std::span(value));
    std::thread([&] {  // no context is current here
      second.launch(*b, {}, std::span(&parameter, 1));
      first.launch(*a, {}, std::span(&parameter, 1));
    }).join();
    api.cuCtxSetCurrent(static_cast<Context>(fake_context(1)));  // another device's
    first.launch(*a, {}, std::span(&parameter, 1));
    EXPECT_HAS(error_of([&] { first.launch(*b, {}, std::span(&parameter, 1)); }), "loaded by another device");
  }
  ASSERT_EQ(record->all.size(), 3u);
  EXPECT_EQ(record->all[0].context, fake_context(1));
  EXPECT_EQ(record->all[1].context, fake_context(0));
  EXPECT_EQ(record->all[2].context, fake_context(0));
  EXPECT_NE(record->all[0].function, record->all[1].function);
  EXPECT_EQ(record->modules, 2u);
  EXPECT_EQ(record->live, 0);
}

TEST_F(CudaTest, MemoryOfOtherPlacesIsTold) {
  setenv("FAKE_CUDA_DEVICES", "2", 1);
  const DriverApi api = load_driver(FAKE_LIBCUDA);
  CudaDevice first(api, 0), second(api, 1);
  const auto mine = first.allocate(64), other = second.allocate(64);
  int host = 0;
  EXPECT_EQ(first.why_not_addressable(mine + 63), "");
  EXPECT_EQ(first.why_not_addressable(other), "is memory of CUDA device 1, expected memory of CUDA device 0");
  EXPECT_EQ(first.why_not_addressable(reinterpret_cast<runtime::DeviceAddress>(&host)),
            "is not CUDA memory, expected memory of CUDA device 0");
  tell("pageable");  // a machine whose kernels read host memory
  CudaDevice coherent(api, 0);
  EXPECT_EQ(coherent.why_not_addressable(reinterpret_cast<runtime::DeviceAddress>(&host)), "");
  first.release(mine);
  second.release(other);
}

}  // namespace
}  // namespace tilewright::cuda
