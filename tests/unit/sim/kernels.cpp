#include "tests/unit/sim/kernels.h"

#include <bit>

#include "tilewright/error.h"

namespace tilewright::test {

const std::vector<std::shared_ptr<Device>>& devices() {
  static const std::vector<std::shared_ptr<Device>> all = [] {
    std::vector<std::shared_ptr<Device>> d;
    d.push_back(runtime::make_simulated_device());
    try {
      d.push_back(runtime::make_cuda_device(0));
    } catch (const Error&) {   // no card here
    }
    return d;
  }();
  return all;
}

std::string module_text(const std::string& body, unsigned threads, const std::string& before) {
  return ".version 8.7\n.target sm_90a\n.address_size 64\n" + before + "\n.visible .entry k(.param .u64 in, .param .u64 out)\n.reqntid " +
         std::to_string(threads) + "\n{\n.reg .pred %p<16>;\n.reg .b16 %h<32>;\n.reg .b32 %r<128>;\n.reg .f32 %f<300>;\n.reg .b64 %rd<64>;\n.reg .f64 %fd<32>;\n" +
         "ld.param.u64 %rd0, [in];\nld.param.u64 %rd1, [out];\nmov.u32 %r0, %tid.x;\n" + body + "\nret;\n}\n";
}

std::string lane_module(const std::string& body) {
  std::string start = ".reg .b64 %wa, %wb, %wc, %wd, %wide;\n.reg .b32 %a, %b, %c, %d, %lane, %out;\n.reg .f32 %fa, %fb, %fc, %fd;\n.reg .b16 %ha, %hb, %hc, %hd;\n"
                      "mov.u32 %lane, %laneid;\nmul.wide.u32 %rd2, %r0, 32;\nadd.s64 %rd2, %rd0, %rd2;\n";
  int offset = 0;
  for (const char* n : {"a", "b", "c", "d"}) {
    const std::string s(n);
    start += "ld.global.u64 %w" + s + ", [%rd2+" + std::to_string(offset) + "];\ncvt.u32.u64 %" + s + ", %w" + s + ";\nmov.b32 %f" + s + ", %" + s +
             ";\ncvt.u16.u64 %h" + s + ", %w" + s + ";\n";
    offset += 8;
  }
  const std::string end = body.find("%wide") == std::string::npos ? "cvt.u64.u32 %wide, %out;\n" : "";
  return module_text(start + "mov.b32 %out, 0;\nmov.b64 %wide, 0;\n" + body + "\n" + end + "mul.wide.u32 %rd3, %r0, 8;\nadd.s64 %rd3, %rd1, %rd3;\nst.global.u64 [%rd3], %wide;\n");
}

namespace {

template <class T>
runtime::KernelParameter parameter(const T& v) { return std::as_bytes(std::span(&v, 1)); }

void launch(Device& device, const std::string& module, unsigned threads, unsigned dynamic_shared, unsigned grid, DeviceAddress in, DeviceAddress out) {
  runtime::KernelImage image;
  image.name = "k";
  image.ptx = module;
  image.threads = threads;
  image.dynamic_shared_bytes = dynamic_shared;
  const auto kernel = device.load(image);
  const runtime::KernelParameter parameters[] = {parameter(in), parameter(out)};
  runtime::LaunchGeometry geometry;
  geometry.grid = {grid, 1, 1};
  device.launch(*kernel, geometry, parameters);
  device.synchronize();
}

struct Memory {   // released also when a launch throws
  Device& device;
  DeviceAddress address;
  Memory(Device& d, std::size_t bytes) : device(d), address(d.allocate(bytes)) {}
  ~Memory() { device.release(address); }
};

}  // namespace

std::vector<std::uint64_t> run_lanes(Device& device, const std::string& body, const Inputs& inputs) {
  std::vector<std::uint64_t> words(32 * 4), result(32);
  const std::vector<std::uint64_t>* columns[] = {&inputs.a, &inputs.b, &inputs.c, &inputs.d};
  for (std::size_t lane = 0; lane < 32; ++lane)
    for (std::size_t n = 0; n < 4; ++n)
      if (!columns[n]->empty()) words[lane * 4 + n] = (*columns[n])[lane % columns[n]->size()];
  const Memory in(device, words.size() * 8), out(device, result.size() * 8);
  device.copy_to_device(in.address, words.data(), words.size() * 8);
  launch(device, lane_module(body), 32, 0, 1, in.address, out.address);
  device.copy_to_host(result.data(), out.address, result.size() * 8);
  return result;
}

std::vector<std::uint32_t> run_words(Device& device, const std::string& module, unsigned threads, std::size_t count, const std::vector<std::uint32_t>& input,
                                     unsigned dynamic_shared, unsigned grid) {
  std::vector<std::uint32_t> result(count);
  const Memory in(device, input.size() * 4 + 4), out(device, count * 4);
  if (!input.empty()) device.copy_to_device(in.address, input.data(), input.size() * 4);
  device.fill(out.address, 0, count * 4);
  launch(device, module, threads, dynamic_shared, grid, in.address, out.address);
  device.copy_to_host(result.data(), out.address, count * 4);
  return result;
}

std::uint32_t bits(float f) { return std::bit_cast<std::uint32_t>(f); }
float as_float(std::uint32_t b) { return std::bit_cast<float>(b); }

}  // namespace tilewright::test
