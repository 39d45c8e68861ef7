// A device that records what the runtime asks of it.
#pragma once
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "runtime/device/device.h"

namespace tilewright::test {

class FakeKernel final : public runtime::LoadedKernel {};

class FakeDevice final : public runtime::Device {
 public:
  std::string_view kind() const override { return "fake"; }
  std::string description() const override { return "records calls"; }
  unsigned multiprocessors() const override { return 7; }
  runtime::DeviceAddress allocate(std::size_t) override { return 0; }
  void release(runtime::DeviceAddress) override {}
  void copy_to_device(runtime::DeviceAddress, const void*, std::size_t) override {}
  void copy_to_host(void*, runtime::DeviceAddress, std::size_t) override {}
  void fill(runtime::DeviceAddress, std::uint8_t, std::size_t) override {}
  runtime::EncodedTensorMap encode(const runtime::TensorMapSpec& spec) override {
    specs.push_back(spec);
    runtime::EncodedTensorMap map;
    map.words[0] = specs.size();  // tells the maps apart
    return map;
  }
  std::unique_ptr<runtime::LoadedKernel> load(const runtime::KernelImage& image) override {
    images.push_back(image);
    return std::make_unique<FakeKernel>();
  }
  void launch(runtime::LoadedKernel&, const runtime::LaunchGeometry& geometry,
              std::span<const runtime::KernelParameter> given) override {
    ++launches;
    last = geometry;
    parameters.clear();
    for (const runtime::KernelParameter& parameter : given) parameters.emplace_back(parameter.begin(), parameter.end());
  }
  void synchronize() override {}

  /// One parameter of the last launch, as a value of its size.
  template <class Value>
  Value parameter(std::size_t index) const {
    Value value{};
    if (parameters.at(index).size() == sizeof value) std::memcpy(&value, parameters[index].data(), sizeof value);
    return value;
  }

  std::vector<runtime::TensorMapSpec> specs;
  std::vector<runtime::KernelImage> images;
  unsigned launches = 0;
  runtime::LaunchGeometry last;
  std::vector<std::vector<std::byte>> parameters;
};

}  // namespace tilewright::test
