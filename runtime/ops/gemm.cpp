#include "runtime/ops/gemm.h"

#include "kernels/gemm/gemm.h"

namespace tilewright::ops {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw ArgumentError("gemm: " + what); }

void check(const GemmArguments& g) {
  constexpr std::int64_t most = (std::int64_t{1} << 31) - 1;
  const std::pair<const char*, std::int64_t> sizes[]{{"M", g.M}, {"N", g.N}, {"K", g.K}};
  for (const auto& [name, size] : sizes)
    if (size < 1 || size > most) refuse(std::string(name) + " is " + std::to_string(size) + ", expected 1 to 2^31 - 1");
  for (const auto& [name, size] : {sizes[1], sizes[2]})
    if (size % 8 != 0) refuse(std::string(name) + " is " + std::to_string(size) + ", expected a multiple of 8 (rows of 16 bytes)");
  const std::tuple<const char*, runtime::DeviceAddress, std::uint64_t> tensors[]{
      {"a", g.a, std::uint64_t(g.M) * std::uint64_t(g.K) * 2}, {"b", g.b, std::uint64_t(g.N) * std::uint64_t(g.K) * 2},
      {"c", g.c, std::uint64_t(g.M) * std::uint64_t(g.N) * 2}};
  for (const auto& [name, address, bytes] : tensors) {
    if (address == 0) refuse(std::string(name) + " is NULL, expected " + std::to_string(bytes) + " bytes of device memory");
    if (address + bytes < address) refuse(std::string(name) + " is at address " + std::to_string(address) + ", expected " + std::to_string(bytes) + " bytes there: they go beyond the last address");
    if (address % 16 != 0) refuse(std::string(name) + " is at address " + std::to_string(address) + ", expected a multiple of 16 bytes");
  }
  const std::uint64_t c_bytes = std::get<2>(tensors[2]);
  for (const auto& [name, address, bytes] : {tensors[0], tensors[1]})
    if (address < g.c + c_bytes && g.c < address + bytes) refuse(std::string("c overlaps ") + name);
}

}  // namespace

Source gemm_source(GemmRung rung) {
  switch (rung) {
    case GemmRung::one_role: return {"gemm_one_role", [] { return gemm::gemm_one_role<bf16>({}); }};
    case GemmRung::two_roles: return {"gemm_two_roles", [] { return gemm::gemm_two_roles<bf16>({}); }};
    case GemmRung::fast: break;
  }
  return {"gemm", [] { return gemm::gemm<bf16>({}); }};
}

Gemm::Gemm(runtime::Device& device, GemmRung rung, BuildOptions options)
    : source_(gemm_source(rung)), programs_(device, std::move(options)) {}

Steps Gemm::prepare(const GemmArguments& g) {
  check(g);
  Steps steps;
  steps.push_back(bind_step(programs_.device(), programs_.get({source_})[0],
                            {{"a", tensor(g.a, {g.M, g.K}, "bf16")}, {"b", tensor(g.b, {g.N, g.K}, "bf16")}, {"c", tensor(g.c, {g.M, g.N}, "bf16")}},
                            {}));
  return steps;
}

void Gemm::run(const GemmArguments& g, void* stream) {
  Shape shape;
  for (const std::int64_t size : {g.M, g.N, g.K}) shape.add(size);
  std::shared_ptr<const Steps> steps = plans_.find(shape);
  if (steps) {
    check(g);
  } else {
    auto made = std::make_shared<const Steps>(prepare(g));
    plans_.put(shape, made);
    steps = std::move(made);
  }
  // The kernels declare a, b and c in this order.
  launch_steps_at(programs_.device(), *steps, std::array{g.a, g.b, g.c}, stream);
}

}  // namespace tilewright::ops
