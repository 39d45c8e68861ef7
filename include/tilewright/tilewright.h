/* The C interface of libtilewright.so.
 *
 * Conventions
 *   - Every function that can fail returns a tilewright_status; tilewright_last_error() has the message.
 *   - A struct begins with `size`, which the caller sets to sizeof(the struct): a library that knows more fields reads
 *     the missing ones as zero. Zero the struct first; zero is the default of every optional field.
 *   - Tensors are dense and row major (last dimension contiguous), in the memory of the handle's device: CUDA device
 *     pointers, or host pointers where the handle is a simulated device. Pointers to tensors are aligned to 16 bytes.
 *   - Outputs and workspace belong to the caller. A call enqueues work on `stream` and returns: it neither allocates
 *     device memory nor synchronises, and may be captured into a CUDA graph. Only the first call for a new
 *     configuration of heads, widths and dtype compiles (a second or so, on the host) and must not be captured.
 *   - A handle may be used by several threads. Calls that run at the same time need workspaces of their own.
 */
#ifndef TILEWRIGHT_TILEWRIGHT_H
#define TILEWRIGHT_TILEWRIGHT_H

#include "tilewright/device.h"
#include "tilewright/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Gated Delta Net, forward. For each sequence and value head h, with the key head h / (Hv / Hk) and a state S (dk x
 * dv): S <- exp(g_t) S;   S <- S + beta_t k_t (v_t - S^T k_t)^T;   o_t = scale * S^T q_t
 *
 * Two forms:
 *   packed  cu_seqlens given: batch = 1; T = rows of the tensors; N sequences, sequence n is rows
 *           cu_seqlens[n] .. cu_seqlens[n+1]-1. Offsets are read on the device; they must not decrease and stay in
 *           0..T. Lengths of 0 are allowed. Rows before the first and from the last offset on are neither read into a
 *           result nor written.
 *   batch   cu_seqlens NULL: `batch` sequences of T tokens each; N must be 0 or `batch`.
 */
typedef struct tilewright_gdn_forward_args {
  uint64_t size; /* sizeof(tilewright_gdn_forward_args) */

  const void *q;              /* [batch, T, hk, dk], dtype */
  const void *k;              /* [batch, T, hk, dk], dtype; l2-normalised by the caller for a stable recurrence */
  const void *v;              /* [batch, T, hv, dv], dtype */
  const float *g;             /* [batch, T, hv], natural log of the decay, <= 0; below -80 it counts as -80 */
  const float *beta;          /* [batch, T, hv], write strength, normally in 0..1; below 2^-40 (negative too) it counts as 2^-40 */
  const void *cu_seqlens;     /* [N + 1], int32 or int64, or NULL */
  const float *initial_state; /* [N, hv, dk, dv] ([N, hv, dv, dk] with state_v_first), or NULL for zero */
  void *o;                    /* out: [batch, T, hv, dv], dtype */
  float *final_state;         /* out: shaped as initial_state, or NULL. May be initial_state itself */

  int64_t T;     /* >= 0 */
  int64_t N;     /* number of sequences, >= 0 */
  int64_t batch; /* >= 1; must be 1 with cu_seqlens */
  int32_t hk;    /* query and key heads, >= 1 */
  int32_t hv;    /* value heads, a multiple of hk */
  int32_t dk;    /* width of a query or key head: 128 */
  int32_t dv;    /* width of a value head: 128 */

  int32_t dtype;               /* tilewright_dtype of q, k, v and o */
  float scale;                 /* 0 means dk^-1/2 */
  int32_t cu_seqlens_is_int64; /* 0: int32, 1: int64 */
  int32_t state_v_first;       /* 0: states are [.., dk, dv]; 1: [.., dv, dk] */

  void *workspace;          /* device memory, aligned to 256 bytes; contents before and after a call do not matter */
  uint64_t workspace_bytes; /* at least what tilewright_gdn_forward_workspace says */
  tilewright_stream stream;
} tilewright_gdn_forward_args;

/* Bytes of workspace that a call with these sizes needs, in *bytes. Reads size, T, N, batch, hk, hv, dk, dv, dtype and
 * whether cu_seqlens is NULL; other fields are ignored. Does not touch the device, and does not depend on lengths.
 * Errors: INVALID_ARGUMENT, UNSUPPORTED (head widths). */
TILEWRIGHT_API tilewright_status tilewright_gdn_forward_workspace(const tilewright_handle *handle,
                                                                  const tilewright_gdn_forward_args *args,
                                                                  uint64_t *bytes);

/* Enqueues the forward. o and final_state are fully written for every sequence; two calls with the same arguments
 * give the same bits.
 * Errors: INVALID_ARGUMENT (NULL or misaligned pointer, sizes or dtype that do not fit, workspace too small, outputs
 * that overlap inputs other than initial_state), UNSUPPORTED (head widths), COMPILE_FAILED, DEVICE_ERROR. */
TILEWRIGHT_API tilewright_status tilewright_gdn_forward(tilewright_handle *handle,
                                                        const tilewright_gdn_forward_args *args);

/* Enqueues C = A B^T in bf16 with fp32 accumulation: a is [M, K], b is [N, K], c is [M, N].
 * K and N are multiples of 8 (rows of 16 bytes); M, N, K >= 1. c must not overlap a or b.
 * Errors: INVALID_ARGUMENT, COMPILE_FAILED, DEVICE_ERROR. */
TILEWRIGHT_API tilewright_status tilewright_gemm_bf16(tilewright_handle *handle, const void *a, const void *b, void *c,
                                                      int64_t M, int64_t N, int64_t K, tilewright_stream stream);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TILEWRIGHT_TILEWRIGHT_H */
