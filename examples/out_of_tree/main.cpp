// Compiles, inspects, launches and checks a kernel that Tilewright does not know.
#include <tilewright/half.h>
#include <tilewright/jit.h>

#include <cmath>
#include <cstdio>
#include <vector>

#include "rms_norm.h"

namespace tw = tilewright;

namespace {

constexpr int kRows = 100, kColumns = 128;  // two CTAs, the second one with a ragged end
constexpr double kEps = 1e-5;

std::vector<std::uint16_t> input() {
  std::vector<std::uint16_t> x(kRows * kColumns);
  std::uint32_t state = 1;
  for (auto& v : x) {
    state = state * 1664525u + 1013904223u;
    v = tw::bf16_from_float(static_cast<float>(state >> 8) / (1 << 23) - 1.0f);
  }
  return x;
}

/// Largest difference to the formula in fp64, in units of bf16's rounding of the value.
double error_of(const std::vector<std::uint16_t>& x, const std::vector<std::uint16_t>& y) {
  double worst = 0;
  for (int i = 0; i < kRows; ++i) {
    double sum = 0;
    for (int j = 0; j < kColumns; ++j) sum += std::pow(tw::float_from_bf16(x[i * kColumns + j]), 2);
    for (int j = 0; j < kColumns; ++j) {
      const double expected = tw::float_from_bf16(x[i * kColumns + j]) / std::sqrt(sum / kColumns + kEps);
      const double given = tw::float_from_bf16(y[i * kColumns + j]);
      worst = std::max(worst, std::abs(given - expected) / (std::abs(expected) * 0x1p-8 + 1e-6));
    }
  }
  return worst;
}

/// A mistake arrives as a CompileError with this file's line.
bool mistake_is_reported() {
  try {
    tw::kernel("mistake", [](tw::Kernel& k) { k.shared<tw::bf16>("tile", {0, 8}); });
  } catch (const tw::CompileError& error) {
    std::printf("a mistake is reported: %s\n", error.what());
    return std::string(error.what()).find("main.cpp:") != std::string::npos;
  }
  return false;
}

int run() {
  const tw::CompiledKernel kernel = tw::compile(rms_norm(), {.progress = [](const char*, const char* step, unsigned done, unsigned total) {
                                                  std::printf("%u/%u %s\n", done, total, step);
                                                }});
  if (kernel.ptx().find("cp.async.bulk.tensor") == std::string::npos) return std::puts("the PTX has no TMA"), 1;
  const tw::Resources r = kernel.resources();
  std::printf("%s: %u threads, %u registers, %u bytes of shared memory (%s)\n", kernel.name().c_str(), r.threads, r.registers,
              r.shared_bytes, kernel.text("assembler").c_str());

  tw::Device device;
  std::printf("on %s\n", device.description().c_str());
  const auto x = input();
  std::vector<std::uint16_t> y(x.size());
  tw::Memory dx = device.allocate(x.size() * 2), dy = device.allocate(y.size() * 2);
  dx.write(x.data());
  const tw::Function rms_norm = device.load(kernel);
  rms_norm({tw::Argument::tensor<tw::bf16>("x", dx.data(), {kRows, kColumns}),
            tw::Argument::tensor<tw::bf16>("y", dy.data(), {kRows, kColumns}), tw::Argument::real("eps", kEps)});
  device.synchronize();
  dy.read(y.data());

  const double error = error_of(x, y);
  std::printf("largest error: %.3f of bf16's rounding\n", error);
  return error <= 1.05 && mistake_is_reported() ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
