#pragma once
#include <optional>
#include <string>
#include <string_view>

/// The machine as plain tables: what Hopper's (sm_90a) instructions accept.
namespace tilewright::target {

/// Element types of wgmma operands that Tilewright uses. Accumulators are always f32.
enum class WgmmaElement { bf16, f16, tf32 };

/// "bf16", "f16" or "tf32"; nothing for any other text.
std::optional<WgmmaElement> parseWgmmaElement(std::string_view name);

/// The name PTX gives the element type.
std::string_view wgmmaElementName(WgmmaElement element);

/// Rows of every wgmma.
inline constexpr int kWgmmaM = 64;
/// Columns of the narrowest and the widest wgmma; n is a multiple of the narrowest.
inline constexpr int kWgmmaMinN = 8;
inline constexpr int kWgmmaMaxN = 256;

/// Depth (k) of one wgmma in elements: 32 bytes of the operand type, so 16 for bf16 and f16, 8 for tf32.
/// Source: PTX ISA, "Asynchronous warpgroup level matrix shape".
int wgmmaK(WgmmaElement element);

/// Whether an operand in shared memory may be MN-major (transposed): 16-bit types only.
/// Source: PTX ISA, wgmma.mma_async, imm-trans-a and imm-trans-b.
bool wgmmaAllowsTranspose(WgmmaElement element);

/// f32 accumulator registers a thread holds for m64 x n: 64 * n / 128.
constexpr int wgmmaAccumulatorRegisters(int n) { return n / 2; }

/// 32-bit registers a thread holds for an A operand in registers, whatever the type.
inline constexpr int kWgmmaARegisters = 4;

/// The widest n of one wgmma in a CTA of `threads` threads, a multiple of 16: 256 up to 384 threads, 192 at 512.
/// ptxas wants n/2 + 26 registers within what a thread has at entry, even where setmaxnreg raises it later, and ends
/// with error C7602 otherwise (ptxas 12.8 and 13.0, A from shared memory; the rounding leaves room for A in registers).
/// `threads` is in 128..1024.
int wgmmaMaxN(int threads);

/// One wgmma as a program asks for it.
struct WgmmaForm {
  int n = 0;
  WgmmaElement element = WgmmaElement::bf16;
  bool aFromRegisters = false;
  bool transA = false; ///< A is M-major in shared memory.
  bool transB = false; ///< B is N-major in shared memory.
};

/// What makes `form` impossible, in words with the given and the expected value; nothing when it is legal.
std::optional<std::string> wgmmaProblem(const WgmmaForm &form);

} // namespace tilewright::target
