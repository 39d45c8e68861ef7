/* The C interface of libtilewright.so.
 *
 * Conventions
 *   - Every function that can fail returns a tilewright_status; tilewright_last_error() has the message.
 *   - A struct begins with `size`, which the caller sets to sizeof(the struct): a library that knows more fields reads
 *     the missing ones as zero. Zero the struct first; zero is the default of every optional field.
 *   - Tensors lie in the memory of the handle's device: CUDA device pointers, or host pointers where the handle is a
 *     simulated device. Pointers to tensors are aligned to 16 bytes. Dense and row major unless strides say otherwise.
 *   - Outputs and workspace belong to the caller. A call enqueues work on `stream` and returns: it neither allocates
 *     device memory nor synchronises, and may be captured into a CUDA graph. Only the first call for a new
 *     configuration of heads, widths and dtype compiles (a second or so, on the host) and must not be captured.
 *   - A handle may be used by several threads. Calls that run at the same time need workspaces of their own.
 */
#ifndef TILEWRIGHT_TILEWRIGHT_H
#define TILEWRIGHT_TILEWRIGHT_H

#include "tilewright/device.h"
#include "tilewright/gdn.h"
#include "tilewright/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Enqueues C = A B^T in bf16 with fp32 accumulation: a is [M, K], b is [N, K], c is [M, N].
 * K and N are multiples of 8 (rows of 16 bytes); M, N, K >= 1. c must not overlap a or b.
 * Errors: INVALID_ARGUMENT, COMPILE_FAILED, DEVICE_ERROR. */
TILEWRIGHT_API tilewright_status tilewright_gemm_bf16(tilewright_handle *handle, const void *a, const void *b, void *c,
                                                      int64_t M, int64_t N, int64_t K, tilewright_stream stream);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TILEWRIGHT_TILEWRIGHT_H */
