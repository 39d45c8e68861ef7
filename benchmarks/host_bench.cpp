// What a call of the C interface costs the host: tilewright_gdn_forward and tilewright_gemm_bf16, eager, in microseconds.
//
//   host_bench [--heads 16x64] [--tokens 2048] [--calls 2000]
//
// TILEWRIGHT_LIBCUDA may name a stand-in for the driver (tests/fake_cuda): then only our own part is measured.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernels/gdn/inputs.h"
#include "runtime/cuda/cuda_device.h"
#include "tilewright/error.h"
#include "tilewright/tilewright.h"

namespace {

using namespace tilewright;
using Clock = std::chrono::steady_clock;

void ok(tilewright_status status) {
  if (status != TILEWRIGHT_OK) throw Error(tilewright_last_error());
}

/// Median, and the value that one call in a hundred exceeds.
struct Times {
  double median, p99;
};

/// `call(i)` for i in 0..count-1; the device works off what was enqueued every 200 calls, outside of the measured time.
Times measure(cuda::CudaDevice& device, int count, const std::function<void(int)>& call) {
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    if (i % 200 == 0) device.synchronize();
    const auto begin = Clock::now();
    call(i);
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }
  device.synchronize();
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times[times.size() * 99 / 100]};
}

/// A tensor that is `copies` tensors in a row, so that calls can have addresses of their own.
struct Copies {
  char* base = nullptr;
  std::uint64_t bytes = 0;
  Copies(cuda::CudaDevice& device, std::uint64_t size, int copies) : bytes((size + 255) / 256 * 256) {
    base = reinterpret_cast<char*>(device.allocate(bytes * static_cast<std::uint64_t>(copies)));
    device.fill(reinterpret_cast<runtime::DeviceAddress>(base), 0, bytes * static_cast<std::uint64_t>(copies));
  }
  void* at(int copy) const { return base + bytes * static_cast<std::uint64_t>(copy); }
};

nlohmann::ordered_json run(const std::string& heads, std::int64_t tokens, int calls) {
  constexpr int kCopies = 8, kSequences = 4, D = 128;
  const gdn::HeadCounts h = gdn::parse_heads(heads);
  cuda::CudaDevice device(cuda::driver(), 0);
  tilewright_handle* handle = nullptr;
  ok(tilewright_create(0, &handle));
  const std::uint64_t T = static_cast<std::uint64_t>(tokens), hk = static_cast<std::uint64_t>(h.hk), hv = static_cast<std::uint64_t>(h.hv);
  const Copies q(device, T * hk * D * 2, kCopies), k(device, T * hk * D * 2, kCopies), v(device, T * hv * D * 2, kCopies), o(device, T * hv * D * 2, kCopies);
  const Copies g(device, T * hv * 4, kCopies), beta(device, T * hv * 4, kCopies), cu(device, (kSequences + 1) * 4, kCopies);
  const Copies initial(device, kSequences * hv * D * D * 4, kCopies), final(device, kSequences * hv * D * D * 4, kCopies);

  tilewright_gdn_forward_args args{};
  args.size = sizeof args;
  args.T = tokens, args.N = kSequences, args.batch = 1, args.hk = h.hk, args.hv = h.hv, args.dk = args.dv = D;
  const auto place = [&](int copy) {
    args.q.data = q.at(copy), args.k.data = k.at(copy), args.v.data = v.at(copy), args.o.data = o.at(copy);
    args.g = {g.at(copy), {}, TILEWRIGHT_F32, 0}, args.beta = {beta.at(copy), {}, TILEWRIGHT_F32, 0};
    args.cu_seqlens = {cu.at(copy), {}, TILEWRIGHT_I32, 0};
    args.initial_state = {initial.at(copy), {}, TILEWRIGHT_F32, 0}, args.final_state = {final.at(copy), {}, TILEWRIGHT_F32, 0};
  };
  place(0);
  ok(tilewright_gdn_forward_workspace(handle, &args, &args.workspace_bytes));
  const Copies workspace(device, args.workspace_bytes, 1);
  args.workspace = workspace.at(0);
  ok(tilewright_gdn_forward(handle, &args));  // compiles

  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  const auto row = [&](const char* name, const std::function<void(int)>& call) {
    const Times t = measure(device, calls, call);
    rows.push_back({{"case", name}, {"median_us", t.median}, {"p99_us", t.p99}});
  };
  row("gdn_forward, same pointers", [&](int) { ok(tilewright_gdn_forward(handle, &args)); });
  row("gdn_forward, new pointers", [&](int i) { place(i % kCopies), ok(tilewright_gdn_forward(handle, &args)); });
  row("gdn_forward, new pointers, one of 16 T", [&](int i) {
    place(i % kCopies);
    args.T = tokens - i % 16;
    ok(tilewright_gdn_forward(handle, &args));
  });
  row("gdn_forward, new pointers, new T", [&](int i) {  // more than are remembered
    place(i % kCopies);
    args.T = tokens - 16 - i % std::min<std::int64_t>(1000, tokens - 16);
    ok(tilewright_gdn_forward(handle, &args));
  });
  row("gdn_forward, new pointers, pointers checked", [&](int i) {
    place(i % kCopies);
    args.T = tokens, args.flags = TILEWRIGHT_GDN_CHECK_POINTERS;
    ok(tilewright_gdn_forward(handle, &args));
  });
  const auto M = static_cast<std::int64_t>(std::min<std::uint64_t>(T, 1024));
  const auto product = [&](int copy) { ok(tilewright_gemm_bf16(handle, q.at(copy), k.at(copy), o.at(copy), M, 128, 128, nullptr)); };
  product(0);
  row("gemm_bf16, same pointers", [&](int) { product(0); });
  row("gemm_bf16, new pointers", [&](int i) { product(i % kCopies); });
  nlohmann::ordered_json result{{"device", device.description()}, {"heads", heads}, {"tokens", tokens}, {"calls", calls}, {"rows", rows}};
  tilewright_destroy(handle);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  std::string heads = "16x64";
  std::int64_t tokens = 2048;
  int calls = 2000;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--heads") == 0) heads = argv[i + 1];
    else if (std::strcmp(argv[i], "--tokens") == 0) tokens = std::max(32, std::atoi(argv[i + 1]));
    else if (std::strcmp(argv[i], "--calls") == 0) calls = std::max(1, std::atoi(argv[i + 1]));
  }
  try {
    std::cout << run(heads, tokens, calls).dump(2) << "\n";
  } catch (const Error& error) {
    std::cerr << "host_bench: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
