// Every argument of tilewright_gemm_bf16 wrong in turn.
#include <functional>

#include "gdn_call.h"

namespace tilewright::test {
namespace {

struct Product {
  const void *a, *b;
  void* c;
  std::int64_t M = 64, N = 128, K = 64;
};

struct Wrong {
  const char* name;
  std::function<void(Product&)> change;
  const char* message;
};

const void* shifted(const void* pointer, std::ptrdiff_t bytes) { return static_cast<const char*>(pointer) + bytes; }

const std::vector<Wrong> wrongs = {
    {"a_null", [](Product& p) { p.a = nullptr; }, "a is NULL, expected 8192 bytes of device memory"},
    {"a_misaligned", [](Product& p) { p.a = shifted(p.a, 8); }, "a is at address"},
    {"b_null", [](Product& p) { p.b = nullptr; }, "b is NULL, expected 16384 bytes"},
    {"b_misaligned", [](Product& p) { p.b = shifted(p.b, 2); }, "b is at address"},
    {"c_null", [](Product& p) { p.c = nullptr; }, "c is NULL, expected 16384 bytes"},
    {"c_misaligned", [](Product& p) { p.c = static_cast<char*>(p.c) + 4; }, "c is at address"},
    {"b_wraps", [](Product& p) { p.b = reinterpret_cast<void*>(~std::uintptr_t{0xfff}); }, "b is at address 18446744073709547520, expected 16384 bytes there"},
    {"c_is_a", [](Product& p) { p.c = const_cast<void*>(p.a); }, "c overlaps a"},
    {"c_over_b", [](Product& p) { p.c = const_cast<void*>(shifted(p.b, 16)); }, "c overlaps b"},
    {"M_zero", [](Product& p) { p.M = 0; }, "M is 0, expected 1 to 2^31 - 1"},
    {"M_negative", [](Product& p) { p.M = -64; }, "M is -64, expected 1 to 2^31 - 1"},
    {"M_large", [](Product& p) { p.M = std::int64_t{1} << 31; }, "M is 2147483648, expected 1 to 2^31 - 1"},
    {"N_negative", [](Product& p) { p.N = -1; }, "N is -1, expected 1 to 2^31 - 1"},
    {"N_uneven", [](Product& p) { p.N = 100; }, "N is 100, expected a multiple of 8 (rows of 16 bytes)"},
    {"K_zero", [](Product& p) { p.K = 0; }, "K is 0, expected 1 to 2^31 - 1"},
    {"K_uneven", [](Product& p) { p.K = 60; }, "K is 60, expected a multiple of 8 (rows of 16 bytes)"},
};

class GemmRefusals : public testing::TestWithParam<Wrong> {};

TEST_P(GemmRefusals, NameArgumentGivenAndExpected) {
  const Handle handle = handle_of(TILEWRIGHT_DEVICE_SIM);
  const auto a = memory<std::uint16_t>(64 * 64), b = memory<std::uint16_t>(128 * 64), c = memory<std::uint16_t>(64 * 128);
  Product p{a.get(), b.get(), c.get()};
  GetParam().change(p);
  EXPECT_EQ(tilewright_gemm_bf16(handle.get(), p.a, p.b, p.c, p.M, p.N, p.K, nullptr), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_THAT(tilewright_last_error(), testing::StartsWith("gemm: "));
  EXPECT_THAT(tilewright_last_error(), testing::HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(Arguments, GemmRefusals, testing::ValuesIn(wrongs), [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tilewright::test
