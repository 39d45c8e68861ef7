// Every field of tilewright_gdn_forward_args wrong in turn: the message names the field, what was given and what was expected.
#include <limits>

#include "gdn_call.h"

namespace tilewright::test {
namespace {

using testing::HasSubstr;
using Args = tilewright_gdn_forward_args;

struct Wrong {
  const char* name;
  std::function<void(Args&)> change;
  const char* message;
  tilewright_status status = TILEWRIGHT_INVALID_ARGUMENT;
};

void* shifted(void* pointer, std::ptrdiff_t bytes) { return static_cast<char*>(pointer) + bytes; }
constexpr tilewright_status kUnsupported = TILEWRIGHT_UNSUPPORTED;

const std::vector<Wrong> wrongs = {
    {"size_of_an_older_header", [](Args& a) { a.size = 120; }, "size is 120, expected sizeof(tilewright_gdn_forward_args) = "},
    {"size_of_nothing", [](Args& a) { a.size = 0; }, "size is 0"},
    {"size_huge", [](Args& a) { a.size = std::uint64_t{1} << 40; }, "size is 1099511627776"},
    {"flags_unknown", [](Args& a) { a.flags = 8; }, "flags is 8, this library knows the bits of 3", kUnsupported},

    {"T_negative", [](Args& a) { a.T = -1; }, "T is -1, expected 0 or more"},
    {"T_large", [](Args& a) { a.T = std::int64_t{1} << 31; }, "batch x T is 1 x 2147483648 tokens, expected fewer than 2^30"},
    {"N_negative", [](Args& a) { a.N = -2; }, "N is -2, expected 0 or more"},
    {"N_large", [](Args& a) { a.N = std::int64_t{1} << 40; }, "N is 1099511627776, expected fewer than 2^30 sequences"},
    {"N_without_offsets", [](Args& a) { a.cu_seqlens.data = nullptr, a.N = 7; }, "N is 7 without cu_seqlens, expected 0 or batch = 1"},
    {"batch_zero", [](Args& a) { a.batch = 0; }, "batch is 0, expected at least 1"},
    {"batch_packed", [](Args& a) { a.batch = 2; }, "batch is 2 with cu_seqlens, expected 1"},
    {"batch_large", [](Args& a) { a.cu_seqlens.data = nullptr, a.N = a.T = 0, a.batch = std::int64_t{1} << 62; }, "batch is 4611686018427387904, expected fewer than 2^30 sequences"},
    {"T_by_key_heads", [](Args& a) { a.T = (std::int64_t{1} << 30) - 1, a.hk = a.hv = a.hq = 128; }, "16777217 chunks (batch x T / 64 + sequences) of 128 key heads, expected a product below 2^31"},
    {"hq_negative", [](Args& a) { a.hq = -1; }, "hq is -1, expected 1 to 65535 heads"},
    {"hq_no_divisor", [](Args& a) { a.hq = 3; }, "hv is 2, expected a divisor of the largest number of heads, 3"},
    {"hk_zero", [](Args& a) { a.hk = 0; }, "hk is 0, expected 1 to 65535 heads"},
    {"hk_no_divisor", [](Args& a) { a.hk = 2, a.hq = 2, a.hv = 5; }, "hq is 2, expected a divisor of the largest number of heads, 5"},
    {"hv_zero", [](Args& a) { a.hv = 0; }, "hv is 0, expected 1 to 65535 heads"},
    {"hv_large", [](Args& a) { a.hv = 65536; }, "hv is 65536, expected 1 to 65535 heads"},
    {"dk_96", [](Args& a) { a.dk = 96; }, "dk is 96, expected 64 or 128: heads of another width have no kernel", kUnsupported},
    {"dk_192", [](Args& a) { a.dk = 192, a.dv = 64; }, "dk is 192, expected 64 or 128", kUnsupported},
    {"dk_256", [](Args& a) { a.dk = a.dv = 256; }, "dk is 256, expected 64 or 128", kUnsupported},
    {"dk_zero", [](Args& a) { a.dk = 0; }, "dk is 0, expected 64 or 128"},
    {"dv_96", [](Args& a) { a.dv = 96; }, "dv is 96, expected 64 or 128: heads of another width have no kernel", kUnsupported},
    {"dv_192", [](Args& a) { a.dk = 64, a.dv = 192; }, "dv is 192, expected 64 or 128", kUnsupported},
    {"dv_256", [](Args& a) { a.dv = 256; }, "dv is 256, expected 64 or 128", kUnsupported},
    {"dv_negative", [](Args& a) { a.dv = -64; }, "dv is -64, expected 64 or 128"},
    {"dk_of_other_tensors", [](Args& a) { a.dk = 64, a.q.strides[1] = 132, a.q.strides[2] = 64, a.q.strides[3] = 1; }, "q.strides[1] is 132, expected a positive multiple of 8"},
    {"dv_of_states", [](Args& a) { a.dv = 64, a.initial_state.strides[0] = 2 * 128 * 64 + 32, a.initial_state.strides[1] = 128 * 64, a.initial_state.strides[2] = 64, a.initial_state.strides[3] = 1; },
     "initial_state.strides[0] is 16416, expected a multiple of 64 elements, at least a row of 16384"},
    {"dk_of_v_first_states", [](Args& a) { a.dv = 64, a.state_v_first = 1, a.initial_state.strides[0] = 2 * 128 * 64 + 64, a.initial_state.strides[1] = 128 * 64, a.initial_state.strides[2] = 128, a.initial_state.strides[3] = 1; },
     "initial_state.strides[0] is 16448, expected a multiple of 128 elements, at least a row of 16384"},
    {"scale", [](Args& a) { a.scale = std::numeric_limits<float>::infinity(); }, "scale is inf, expected a finite number"},

    {"q_null", [](Args& a) { a.q.data = nullptr; }, "q is NULL, expected [1, 70, 2, 128] of bf16 or f16 in device memory"},
    {"q_misaligned", [](Args& a) { a.q.data = shifted(a.q.data, 8); }, "q is at address"},
    {"q_dtype", [](Args& a) { a.q.dtype = TILEWRIGHT_F32; }, "q.dtype is 2 (f32), expected bf16 or f16"},
    {"q_dtype_unknown", [](Args& a) { a.q.dtype = 77; }, "q.dtype is 77 (unknown), expected bf16 or f16"},
    {"q_reserved", [](Args& a) { a.q.reserved = 1; }, "q.reserved is 1, expected 0"},
    {"q_stride_negative", [](Args& a) { a.q.strides[1] = -256, a.q.strides[2] = 128, a.q.strides[3] = 1; }, "q.strides[1] is -256, expected 0 or more elements"},
    {"q_stride_uneven", [](Args& a) { a.q.strides[1] = 260, a.q.strides[2] = 128, a.q.strides[3] = 1; }, "q.strides[1] is 260, expected a positive multiple of 8 elements (16 bytes)"},
    {"q_stride_zero", [](Args& a) { a.q.strides[1] = 256, a.q.strides[3] = 1; }, "q.strides[2] is 0, expected a positive multiple of 8 elements"},
    {"q_stride_large", [](Args& a) { a.q.strides[1] = std::int64_t{1} << 33, a.q.strides[2] = 128, a.q.strides[3] = 1; }, "q.strides[1] is 8589934592, expected less than 2^34 bytes"},
    {"q_columns_strided", [](Args& a) { a.q.strides[1] = 512, a.q.strides[2] = 256, a.q.strides[3] = 2; }, "q.strides[3] is 2, expected 1: the last axis is contiguous"},
    {"q_batch_stride", [](Args& a) { a.cu_seqlens.data = nullptr, a.N = 2, a.batch = 2, a.T = 35, a.q.strides[0] = 40 * 256, a.q.strides[1] = 256, a.q.strides[2] = 128, a.q.strides[3] = 1; },
     "q.strides[0] is 10240, expected T strides[1] = 8960: no kernel has a batch axis of its own stride", kUnsupported},
    {"q_wraps", [](Args& a) { a.q.data = reinterpret_cast<void*>(~std::uintptr_t{0xfff}); }, "q is at address 18446744073709547520, expected 35840 bytes there: they go beyond the last address"},
    {"k_null", [](Args& a) { a.k.data = nullptr; }, "k is NULL, expected [1, 70, 1, 128]"},
    {"k_dtype_differs", [](Args& a) { a.k.dtype = TILEWRIGHT_F16; }, "k.dtype is f16, expected bf16 as q"},
    {"v_null", [](Args& a) { a.v.data = nullptr; }, "v is NULL, expected [1, 70, 2, 128]"},
    {"v_misaligned", [](Args& a) { a.v.data = shifted(a.v.data, 2); }, "v is at address"},
    {"v_dtype_differs", [](Args& a) { a.v.dtype = TILEWRIGHT_F16; }, "v.dtype is f16, expected bf16 as q"},
    {"g_null", [](Args& a) { a.g.data = nullptr; }, "g is NULL with gate_domain 2, expected a gate"},
    {"g_dtype", [](Args& a) { a.g.dtype = TILEWRIGHT_I32; }, "g.dtype is 3 (i32), expected f32, bf16 or f16"},
    {"g_rank", [](Args& a) { a.g.strides[1] = 2, a.g.strides[2] = 1, a.g.strides[3] = 1; }, "g.strides[3] is 1, expected 0: the tensor is [1, 70, 2]"},
    {"g_stride_large", [](Args& a) { a.g.strides[1] = std::int64_t{1} << 31, a.g.strides[2] = 1; }, "g.strides[1] is 2147483648, expected less than 2^31"},
    {"g_heads_far_apart", [](Args& a) { a.hv = 4, a.g.strides[1] = 1, a.g.strides[2] = std::int64_t{1} << 30; },
     "g.strides[2] is 1073741824 for 4 heads, expected the last head less than 2^31 elements behind the first"},
    {"beta_null", [](Args& a) { a.beta.data = nullptr; }, "beta is NULL with beta_domain 1 (logit), expected logits"},
    {"beta_dtype", [](Args& a) { a.beta.dtype = TILEWRIGHT_I64; }, "beta.dtype is 4 (i64), expected f32, bf16 or f16"},
    {"beta_stride", [](Args& a) { a.beta.strides[1] = 2, a.beta.strides[2] = -1; }, "beta.strides[2] is -1, expected 0 or more elements"},
    {"gate_domain", [](Args& a) { a.gate_domain = 3; }, "gate_domain is 3, expected 0 (log), 1 (linear) or 2 (raw)"},
    {"gate_domain_negative", [](Args& a) { a.gate_domain = -1; }, "gate_domain is -1"},
    {"beta_domain", [](Args& a) { a.beta_domain = 2; }, "beta_domain is 2, expected 0 (value) or 1 (logit)"},
    {"beta_scale", [](Args& a) { a.beta_scale = -1; }, "beta_scale is -1.000000, expected a positive number (0: 1)"},
    {"beta_scale_of_values", [](Args& a) { a.beta_domain = 0; }, "beta_scale is 2.000000 with beta_domain 0 (value), expected 0"},
    {"l2norm_value", [](Args& a) { a.l2norm = 2; }, "l2norm is 2, expected 0 or 1"},
    {"l2norm_eps", [](Args& a) { a.l2norm_eps = -1e-6f; }, "l2norm_eps is -0.000001, expected a positive number (0: 1e-6)"},
    {"cp_batch_invariant", [](Args& a) { a.cp = 4, a.flags = TILEWRIGHT_GDN_BATCH_INVARIANT; }, "cp is 4 with the batch-invariant flag"},
    {"cp_negative", [](Args& a) { a.cp = -1; }, "cp is -1, expected 0 (automatic), 1 (off) or a number of segments"},
    {"A_log_null", [](Args& a) { a.A_log.data = nullptr; }, "A_log is NULL, expected [2] of f32, bf16 or f16"},
    {"A_log_without_raw", [](Args& a) { a.gate_domain = 0; }, "A_log is given, expected NULL without the raw gate (gate_domain 2)"},
    {"A_log_strided", [](Args& a) { a.A_log.strides[0] = 2; }, "A_log.strides[0] is 2, expected 1: this tensor is contiguous"},
    {"dt_bias_dtype", [](Args& a) { a.dt_bias.dtype = TILEWRIGHT_I32; }, "dt_bias.dtype is 3 (i32), expected f32, bf16 or f16"},
    {"dt_bias_without_raw", [](Args& a) { a.gate_domain = 1, a.A_log.data = nullptr; }, "dt_bias is given, expected NULL without the raw gate"},
    {"cu_seqlens_dtype", [](Args& a) { a.cu_seqlens.dtype = TILEWRIGHT_F32; }, "cu_seqlens.dtype is 2 (f32), expected i32 or i64"},
    {"cu_seqlens_misaligned", [](Args& a) { a.cu_seqlens.data = shifted(a.cu_seqlens.data, 2); }, "cu_seqlens is at address"},
    {"cu_seqlens_decrease", [](Args& a) { static_cast<std::int32_t*>(a.cu_seqlens.data)[1] = 71; }, "cu_seqlens[1] is 71, expected 0 to T = 70: offsets must not decrease; sequences from 0 on have no results"},
    {"prefix_lens_dtype", [](Args& a) { a.prefix_lens = a.cu_seqlens, a.prefix_lens.dtype = TILEWRIGHT_F32; }, "prefix_lens.dtype is 2 (f32), expected i32 or i64"},
    {"prefix_lens_misaligned", [](Args& a) { a.prefix_lens = a.cu_seqlens, a.prefix_lens.data = shifted(a.prefix_lens.data, 2); }, "prefix_lens is at address"},

    {"initial_state_dtype", [](Args& a) { a.initial_state.dtype = TILEWRIGHT_I32; }, "initial_state.dtype is 3 (i32), expected f32, bf16 or f16"},
    {"initial_state_misaligned", [](Args& a) { a.initial_state.data = shifted(a.initial_state.data, 4); }, "initial_state is at address"},
    {"initial_state_pitch", [](Args& a) { a.initial_state.strides[0] = 2 * 128 * 128 + 64, a.initial_state.strides[1] = 128 * 128, a.initial_state.strides[2] = 128, a.initial_state.strides[3] = 1; },
     "initial_state.strides[0] is 32832, expected a multiple of 128 elements, at least a row of 32768"},
    {"initial_state_rows_strided", [](Args& a) { a.initial_state.strides[0] = 65536, a.initial_state.strides[1] = 32768, a.initial_state.strides[2] = 128, a.initial_state.strides[3] = 1; },
     "initial_state.strides[1] is 32768, expected 16384: a row is contiguous"},
    {"initial_state_beyond_bytes", [](Args& a) { a.initial_rows = (std::int64_t{1} << 31) - 1, a.initial_state.strides[0] = std::int64_t{1} << 37, a.initial_state.strides[1] = 16384, a.initial_state.strides[2] = 128, a.initial_state.strides[3] = 1; },
     "initial_state is [2147483647, 2, 128, 128] with strides [137438953472, 16384, 128, 1], expected a tensor of less than 2^62 bytes"},
    {"states_in_place_crosswise", [](Args& a) { a.final_state = a.initial_state, static_cast<std::int32_t*>(a.write_slots.data)[0] = 1, static_cast<std::int64_t*>(a.read_slots.data)[0] = 0; },
     "read_slots[0] is 0, expected a row of its own: sequence 1 writes it and sequence 0 reads it, in place"},
    {"states_in_place_crosswise_without_read_slots", [](Args& a) { a.final_state = a.initial_state, a.read_slots.data = nullptr; },
     "write_slots[1] is 0, expected a row of its own: sequence 1 writes it and sequence 0 reads it, in place"},
    {"read_slots_alone", [](Args& a) { a.initial_state.data = nullptr; }, "read_slots is given, expected NULL without initial_state"},
    {"read_slots_dtype", [](Args& a) { a.read_slots.dtype = TILEWRIGHT_F32; }, "read_slots.dtype is 2 (f32), expected i32 or i64"},
    {"read_slots_beyond", [](Args& a) { static_cast<std::int64_t*>(a.read_slots.data)[0] = 3; }, "read_slots[0] is 3, expected -1 to 2, a row of initial_state"},
    {"initial_rows_negative", [](Args& a) { a.initial_rows = -1; }, "initial_rows is -1, expected 0 to 2^31 - 1"},
    {"initial_rows_missing", [](Args& a) { a.initial_rows = 0; }, "initial_rows is 0 with slots, expected the rows of the pool"},
    {"initial_rows_few", [](Args& a) { a.read_slots.data = nullptr, a.initial_rows = 1; }, "initial_rows is 1 without slots, expected 0 or at least 2 sequences"},
    {"final_state_dtype", [](Args& a) { a.final_state.dtype = 9; }, "final_state.dtype is 9 (unknown), expected f32, bf16 or f16"},
    {"final_state_over_q", [](Args& a) { a.final_state.data = a.q.data; }, "final_state overlaps q, expected memory of its own"},
    {"final_state_over_part_of_initial", [](Args& a) { a.final_state.data = shifted(a.initial_state.data, 256); }, "final_state overlaps initial_state, expected memory of its own"},
    {"final_state_in_place_of_another_dtype", [](Args& a) { a.final_state.data = a.initial_state.data, a.final_state.dtype = TILEWRIGHT_BF16; },
     "final_state overlaps initial_state, expected memory of its own or the same dtype and strides"},
    {"write_slots_alone", [](Args& a) { a.final_state.data = nullptr; }, "write_slots is given, expected NULL without final_state"},
    {"write_slots_twice", [](Args& a) { static_cast<std::int32_t*>(a.write_slots.data)[0] = 0; }, "write_slots[1] is 0, expected a row that no other sequence writes"},
    {"final_rows_missing", [](Args& a) { a.final_rows = 0; }, "final_rows is 0 with slots, expected the rows of the pool"},
    {"final_rows_large", [](Args& a) { a.final_rows = std::int64_t{1} << 31; }, "final_rows is 2147483648, expected 0 to 2^31 - 1"},

    {"checkpoints_dtype", [](Args& a) { a.checkpoints.dtype = TILEWRIGHT_I64; }, "checkpoints.dtype is 4 (i64), expected f32, bf16 or f16"},
    {"checkpoints_dtype_differs", [](Args& a) { a.checkpoints.dtype = TILEWRIGHT_F16; }, "checkpoints.dtype is f16: kernels write f32 or, as q, bf16", kUnsupported},
    {"checkpoints_over_o", [](Args& a) { a.checkpoints.data = a.o.data; }, "overlaps"},
    {"checkpoint_starts_null", [](Args& a) { a.checkpoint_starts.data = nullptr; }, "checkpoint_starts is NULL, expected [2] of i32 or i64"},
    {"checkpoint_starts_alone", [](Args& a) { a.checkpoints.data = nullptr; }, "checkpoint_starts is given, expected NULL without checkpoints"},
    {"checkpoint_starts_beyond", [](Args& a) { static_cast<std::int32_t*>(a.checkpoint_starts.data)[0] = 1; }, "checkpoint_starts[0] is 1, expected 0 to 0: the sequence has 1 checkpoints"},
    {"checkpoint_slots_beyond", [](Args& a) { static_cast<std::int32_t*>(a.checkpoint_slots.data)[0] = -2; }, "checkpoint_slots[0] is -2, expected -1 to 2, a row of checkpoints"},
    {"checkpoint_rows_negative", [](Args& a) { a.checkpoint_rows = -5; }, "checkpoint_rows is -5, expected 0 to 2^31 - 1"},
    {"checkpoint_count_negative", [](Args& a) { a.checkpoint_count = -5; }, "checkpoint_count is -5, expected 0 to 2^31 - 1"},
    {"checkpoint_count_of_i64", [](Args& a) { a.checkpoint_count = std::int64_t{1} << 30, a.checkpoint_slots.dtype = TILEWRIGHT_I64; }, "checkpoint_count is 1073741824 of i64, expected less than 2^30"},
    {"checkpoint_every_uneven", [](Args& a) { a.checkpoint_every = 100; }, "checkpoint_every is 100, expected a positive multiple of 64 tokens"},
    {"checkpoint_every_zero", [](Args& a) { a.checkpoint_every = 0; }, "checkpoint_every is 0, expected a positive multiple of 64 tokens"},
    {"checkpoint_every_alone", [](Args& a) { a.checkpoints.data = a.checkpoint_starts.data = a.checkpoint_slots.data = nullptr; }, "checkpoint_every is 64, expected 0 without checkpoints"},
    {"state_v_first", [](Args& a) { a.state_v_first = 2; }, "state_v_first is 2, expected 0 or 1"},
    {"reserved", [](Args& a) { a.reserved = 1; }, "reserved is 1, expected 0"},

    {"o_null", [](Args& a) { a.o.data = nullptr; }, "o is NULL, expected [1, 70, 2, 128]"},
    {"o_dtype_differs", [](Args& a) { a.o.dtype = TILEWRIGHT_F16; }, "o.dtype is f16, expected bf16 as q"},
    {"o_over_v", [](Args& a) { a.o.data = a.v.data; }, "o overlaps v, expected memory of its own"},
    {"o_over_g", [](Args& a) { a.o.data = a.g.data; }, "o overlaps "},
    {"o_over_itself", [](Args& a) { a.o.strides[1] = 128, a.o.strides[2] = 128, a.o.strides[3] = 1; }, "expected at least"},
    {"save_T_dtype", [](Args& a) { a.save_T = a.save_b; }, "save_T.dtype is 2 (f32), expected bf16 or f16"},
    {"save_b_dtype", [](Args& a) { a.save_b.dtype = TILEWRIGHT_BF16; }, "save_b.dtype is 0 (bf16), expected f32"},
    {"save_b_over_beta", [](Args& a) { a.save_b.data = a.beta.data; }, "save_b overlaps beta, expected memory of its own"},
    {"workspace_null", [](Args& a) { a.workspace = nullptr; }, "workspace is NULL, expected 49408 bytes of device memory"},
    {"workspace_misaligned", [](Args& a) { a.workspace = shifted(a.workspace, 16); }, ", expected 49408 bytes at a multiple of 256"},
    {"workspace_small", [](Args& a) { a.workspace_bytes -= 1; }, "workspace_bytes is 49407, expected at least 49408"},
    // Which of the tensors it meets first depends on where the heap put them.
    {"workspace_over_k", [](Args& a) { a.workspace = reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(a.k.data) + 255) / 256 * 256); },
     "workspace overlaps "},
};

class Refusals : public testing::TestWithParam<Wrong> {};

TEST_P(Refusals, NameFieldGivenAndExpected) {
  const Handle handle = handle_of(TILEWRIGHT_DEVICE_SIM);
  FullCall call;
  GetParam().change(call.args);
  EXPECT_EQ(tilewright_gdn_forward(handle.get(), &call.args), GetParam().status);
  EXPECT_THAT(tilewright_last_error(), testing::StartsWith("gdn_forward: "));
  EXPECT_THAT(tilewright_last_error(), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(Fields, Refusals, testing::ValuesIn(wrongs), [](const auto& info) { return std::string(info.param.name); });

TEST(Refusals, TheCallIsRightAsItStands) {
  const Handle handle = handle_of(TILEWRIGHT_DEVICE_SIM);
  FullCall call;
  std::uint64_t bytes = 0;
  ASSERT_EQ(tilewright_gdn_forward_workspace(handle.get(), &call.args, &bytes), TILEWRIGHT_OK) << tilewright_last_error();
  EXPECT_EQ(bytes, call.args.workspace_bytes);
  EXPECT_EQ(tilewright_gdn_forward(handle.get(), &call.args), TILEWRIGHT_OK) << tilewright_last_error();
  EXPECT_EQ(tilewright_gdn_forward(handle.get(), &call.args), TILEWRIGHT_OK) << tilewright_last_error();
}

TEST(Refusals, StridesOfAxesWithoutASecondElement) {  // are anything: no element lies there
  const Handle handle = handle_of(TILEWRIGHT_DEVICE_SIM);
  FullCall call;
  Args& a = call.args;
  static_cast<std::int32_t*>(a.cu_seqlens.data)[1] = static_cast<std::int32_t*>(a.cu_seqlens.data)[2] = 0;
  a.T = 0;
  for (tilewright_operand* operand : {&a.q, &a.k, &a.v, &a.o, &a.g, &a.beta}) operand->strides[1] = 3, operand->strides[2] = -7;
  EXPECT_EQ(tilewright_gdn_forward(handle.get(), &a), TILEWRIGHT_OK) << tilewright_last_error();
  // A pool of one row is read in place with whatever pitch.
  static_cast<std::int64_t*>(a.read_slots.data)[0] = -1;
  a.final_state = a.initial_state, a.initial_rows = 1, a.final_rows = 1;
  a.initial_state.strides[0] = 5, a.initial_state.strides[1] = 16384, a.initial_state.strides[2] = 128, a.initial_state.strides[3] = 1;
  EXPECT_EQ(tilewright_gdn_forward(handle.get(), &a), TILEWRIGHT_OK) << tilewright_last_error();
}

TEST(Refusals, AWorkspaceMayBeSaidToBeOfAnySize) {
  const Handle handle = handle_of(TILEWRIGHT_DEVICE_SIM);
  FullCall call;
  call.args.workspace_bytes = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(tilewright_gdn_forward(handle.get(), &call.args), TILEWRIGHT_OK) << tilewright_last_error();
}

TEST(Refusals, EveryCallIsChecked) {  // not the first of its sizes only
  const Handle handle = handle_of(TILEWRIGHT_DEVICE_SIM);
  FullCall call;
  ASSERT_EQ(tilewright_gdn_forward(handle.get(), &call.args), TILEWRIGHT_OK) << tilewright_last_error();
  call.args.o.data = call.args.v.data;
  EXPECT_EQ(tilewright_gdn_forward(handle.get(), &call.args), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_THAT(tilewright_last_error(), HasSubstr("o overlaps v"));
}

TEST(Refusals, NullHandlesAndStructs) {
  const Handle handle = handle_of(TILEWRIGHT_DEVICE_SIM);
  FullCall call;
  std::uint64_t bytes = 0;
  EXPECT_EQ(tilewright_gdn_forward(nullptr, &call.args), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_THAT(tilewright_last_error(), HasSubstr("handle is NULL"));
  EXPECT_EQ(tilewright_gdn_forward(handle.get(), nullptr), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_THAT(tilewright_last_error(), HasSubstr("args is NULL"));
  EXPECT_EQ(tilewright_gdn_forward_workspace(nullptr, &call.args, &bytes), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_EQ(tilewright_gdn_forward_workspace(handle.get(), nullptr, &bytes), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_EQ(tilewright_gdn_forward_workspace(handle.get(), &call.args, nullptr), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_THAT(tilewright_last_error(), HasSubstr("bytes is NULL"));
  EXPECT_EQ(tilewright_gdn_forward_check(nullptr, nullptr), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_THAT(tilewright_last_error(), HasSubstr("gdn_forward_check: handle is NULL"));
}

TEST(Refusals, BadOffsetsAreReportedOnce) {  // by a simulated device at the end of the call
  const Handle handle = handle_of(TILEWRIGHT_DEVICE_SIM);
  FullCall call;
  auto* offsets = static_cast<std::int32_t*>(call.args.cu_seqlens.data);
  offsets[2] = 63;
  EXPECT_EQ(tilewright_gdn_forward(handle.get(), &call.args), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_THAT(tilewright_last_error(), HasSubstr("cu_seqlens[2] is 63, expected 64 to T = 70: offsets must not decrease; sequences from 1 on have no results"));
  EXPECT_EQ(tilewright_gdn_forward_check(handle.get(), nullptr), TILEWRIGHT_OK);
  offsets[2] = 70;
  EXPECT_EQ(tilewright_gdn_forward(handle.get(), &call.args), TILEWRIGHT_OK) << tilewright_last_error();
}

}  // namespace
}  // namespace tilewright::test
