// The C interface as a C caller sees it, on the simulated device.
#include <thread>

#include "gdn_call.h"

namespace {

using testing::HasSubstr;
using namespace tilewright::test;

Handle simulated() { return handle_of(TILEWRIGHT_DEVICE_SIM); }

TEST(CApi, VersionAndFirstError) {
  EXPECT_STREQ(tilewright_version(), "0.1.0");
  std::thread([] { EXPECT_STREQ(tilewright_last_error(), ""); }).join();
}

TEST(CApi, CreateRefusesNonsense) {
  EXPECT_EQ(tilewright_create(TILEWRIGHT_DEVICE_SIM, nullptr), TILEWRIGHT_INVALID_ARGUMENT);
  tilewright_handle* raw = nullptr;
  EXPECT_EQ(tilewright_create(-3, &raw), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_EQ(raw, nullptr);
  EXPECT_THAT(tilewright_last_error(), HasSubstr("device is -3"));
  std::thread([] { EXPECT_STREQ(tilewright_last_error(), ""); }).join();  // messages belong to threads
  EXPECT_EQ(tilewright_create(4711, &raw), TILEWRIGHT_NO_DEVICE);
  tilewright_destroy(nullptr);
}

TEST(CApi, Gemm) {
  const Handle handle = simulated();
  constexpr int M = 64, N = 128, K = 64;
  const auto a = memory<std::uint16_t>(M * K), b = memory<std::uint16_t>(N * K), c = memory<std::uint16_t>(M * N);
  for (int i = 0; i < M; ++i) a[i * K + i] = 0x3f80;                       // the identity
  for (int i = 0; i < N * K; ++i) b[i] = static_cast<std::uint16_t>(0x3f80 + i % 64);
  ASSERT_EQ(tilewright_gemm_bf16(handle.get(), a.get(), b.get(), c.get(), M, N, K, nullptr), TILEWRIGHT_OK) << tilewright_last_error();
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) ASSERT_EQ(c[m * N + n], b[n * K + m]);
  EXPECT_EQ(tilewright_gemm_bf16(handle.get(), a.get(), b.get(), c.get(), M, N, 60, nullptr), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_EQ(tilewright_gemm_bf16(nullptr, a.get(), b.get(), c.get(), M, N, K, nullptr), TILEWRIGHT_INVALID_ARGUMENT);
}

struct Forward {
  static constexpr int T = 65, H = 1, D = 128;
  std::shared_ptr<std::uint16_t[]> q = memory<std::uint16_t>(T * D), k = memory<std::uint16_t>(T * D), v = memory<std::uint16_t>(T * D), o = memory<std::uint16_t>(T * D);
  std::shared_ptr<float[]> g = memory<float>(T), beta = memory<float>(T), final_state = memory<float>(D * D);
  std::shared_ptr<char[]> workspace;
  tilewright_gdn_forward_args args{};

  explicit Forward(const tilewright_handle* handle) {
    // Every key is e_0, beta 1, no decay: the state's row 0 is the last value, and o_t = v_t q_t[0].
    for (int t = 0; t < T; ++t) {
      k[t * D] = q[t * D] = 0x3f80;
      beta[t] = 1;
      for (int i = 0; i < D; ++i) v[t * D + i] = static_cast<std::uint16_t>(0x3f80 + (t + i) % 100);
    }
    args.size = sizeof args;
    args.q.data = q.get(), args.k.data = k.get(), args.v.data = v.get(), args.o.data = o.get();
    args.g = {g.get(), {}, TILEWRIGHT_F32, 0}, args.beta = {beta.get(), {}, TILEWRIGHT_F32, 0};
    args.final_state = {final_state.get(), {}, TILEWRIGHT_F32, 0};
    args.T = T, args.batch = 1, args.hk = args.hv = H, args.dk = args.dv = D, args.scale = 1;
    EXPECT_EQ(tilewright_gdn_forward_workspace(handle, &args, &args.workspace_bytes), TILEWRIGHT_OK) << tilewright_last_error();
    workspace = memory<char>(args.workspace_bytes);
    args.workspace = workspace.get();
  }
};

TEST(CApi, GdnForward) {
  const Handle handle = simulated();
  Forward call(handle.get());
  ASSERT_EQ(tilewright_gdn_forward(handle.get(), &call.args), TILEWRIGHT_OK) << tilewright_last_error();
  for (int t = 0; t < call.T; ++t)
    for (int i = 0; i < call.D; ++i) ASSERT_EQ(call.o[t * call.D + i], call.v[t * call.D + i]) << t << " " << i;
  EXPECT_EQ(call.final_state[0], 1.0f + 64.0f / 128);
}

TEST(CApi, ZeroKeysWithTheNormInFp16) {  // 1 / sqrt(eps) times a value would be infinite, and zero times that no number
  const Handle handle = simulated();
  Forward call(handle.get());
  for (int t = 0; t < call.T; ++t) {
    call.k[t * call.D] = t == 1 ? 0x3c00 : 0;
    call.q[t * call.D] = 0x3c00;
    for (int i = 0; i < call.D; ++i) call.v[t * call.D + i] = 0x5640;  // 100
  }
  for (tilewright_operand* operand : {&call.args.q, &call.args.k, &call.args.v, &call.args.o}) operand->dtype = TILEWRIGHT_F16;
  call.args.l2norm = 1;
  ASSERT_EQ(tilewright_gdn_forward(handle.get(), &call.args), TILEWRIGHT_OK) << tilewright_last_error();
  for (int t = 0; t < call.T; ++t)
    for (int i = 0; i < call.D; ++i) ASSERT_NEAR(call.o[t * call.D + i], t == 0 ? 0 : 0x5640, 1) << t << " " << i;
  EXPECT_NEAR(call.final_state[0], 100, 0.1);
  EXPECT_EQ(call.final_state[call.D], 0);
}

TEST(CApi, NewerStructs) {
  const Handle handle = simulated();
  Forward call(handle.get());
  struct {
    tilewright_gdn_forward_args args;
    std::uint64_t later;
  } newer{call.args, 0};
  newer.args.size = sizeof newer;
  EXPECT_EQ(tilewright_gdn_forward(handle.get(), &newer.args), TILEWRIGHT_OK) << tilewright_last_error();
  newer.later = 1;
  EXPECT_EQ(tilewright_gdn_forward(handle.get(), &newer.args), TILEWRIGHT_UNSUPPORTED);
}

}  // namespace
