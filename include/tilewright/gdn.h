/* Gated Delta Net in the C interface. Included by tilewright.h, whose conventions hold here too.
 *
 * What is well formed but has no kernel yet is refused by name: TILEWRIGHT_UNSUPPORTED, with the field and its value.
 */
#ifndef TILEWRIGHT_GDN_H
#define TILEWRIGHT_GDN_H

#include "tilewright/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A tensor in device memory; its shape stands beside the field. Aligned to 16 bytes; g, beta, A_log, dt_bias,
 * offsets and slots to their element. */
typedef struct tilewright_operand {
  void *data;         /* NULL: not given. Inputs are not written */
  int64_t strides[4]; /* in elements, outermost axis first, one for each axis of the shape; all zero: contiguous */
  int32_t dtype;      /* tilewright_dtype */
  int32_t reserved;   /* 0 */
} tilewright_operand;

/* What g holds. The decay of a token is exp(g) in the end, and below exp(-80) counts as exp(-80). */
typedef enum tilewright_gate_domain {
  TILEWRIGHT_GATE_LOG = 0,    /* natural log of the decay, <= 0 */
  TILEWRIGHT_GATE_LINEAR = 1, /* the decay itself, in 0..1 */
  TILEWRIGHT_GATE_RAW = 2     /* a logit x: log of the decay = -exp(A_log) softplus(x + dt_bias) */
} tilewright_gate_domain;

/* What beta holds. Below 2^-40 (negative too) the write strength counts as 2^-40. */
typedef enum tilewright_beta_domain {
  TILEWRIGHT_BETA_VALUE = 0, /* the write strength, normally in 0..1 */
  TILEWRIGHT_BETA_LOGIT = 1  /* a logit x: write strength = beta_scale sigmoid(x), in fp32 */
} tilewright_beta_domain;

/* Values of cp, beside a number of segments. Sequences are cut so that few long ones fill the device. What a segment starts from is the state before it, less what the
 * decays in between have brought to 2^-32 of itself: results are as exact as those of whole sequences, but do not have the same bits, nor does a NaN
 * reach what lies behind such decays.
 *   AUTO  cut where the sizes let expect a gain, as costs, lengths and gates say on the device. Never with TILEWRIGHT_GDN_BATCH_INVARIANT, with checkpoints and
 *         prefix_lens, nor for heads of other widths than 128 and 128, or more than 128 of them.
 *   OFF   whole sequences
 *   n     every sequence of two chunks of 64 tokens or more in n segments, or one for each chunk; in fewer where there is no room, or none for more
 *         than 256 such sequences x H (with final_state in the place of initial_state: sequences of any length x H). UNSUPPORTED or INVALID_ARGUMENT where AUTO never cuts. */
enum { TILEWRIGHT_CP_AUTO = 0, TILEWRIGHT_CP_OFF = 1 };

/* Bits of flags. */
enum {
  /* The bits of a sequence's results (o, final state, checkpoints) depend on its own inputs, the numbers of heads and which tensors are given, in
   * which dtypes, but not on what else is in the batch, where the sequence lies in it, and whether it is packed. The form of the kernels is then that
   * of a batch of four sequences, whatever there is. */
  TILEWRIGHT_GDN_BATCH_INVARIANT = 1,
  /* Every call asks the driver whether each pointer is memory of the handle's device (some microseconds); without it only the first
   * call of each set of sizes does. */
  TILEWRIGHT_GDN_CHECK_POINTERS = 2
};

/* Gated Delta Net, forward. H = max(hq, hk, hv) heads have a state S (dk x dv) each. Head h uses query head h / (H / hq), key head
 * h / (H / hk) and value head h / (H / hv) (grouped values: hv = H; grouped queries: hq = H). For each token of a sequence
 *   S <- exp(g_t) S;   S <- S + beta_t k_t (v_t - S^T k_t)^T;   o_t = scale * S^T q_t
 *
 * Two forms:
 *   packed  cu_seqlens given: batch = 1; T = rows of the tensors; N sequences, sequence n is rows
 *           cu_seqlens[n] .. cu_seqlens[n+1]-1. Offsets are read on the device; they must not decrease and stay in
 *           0..T. Lengths of 0 are allowed: then the final state is the initial one. Rows before the first and from the last offset
 *           on are neither read into a result nor written. The kernels find an offset that breaks the rule: every sequence whose two
 *           offsets come before the first bad one gets its results, nothing is written for the others, nothing outside of the tensors is
 *           read or written, and the next call on the stream says which offset it was, see tilewright_gdn_forward_check.
 *   batch   cu_seqlens not given: `batch` sequences of T tokens each; N must be 0 or `batch`.
 *
 * Strides. q, k, v, o: the last axis is contiguous, the others positive multiples of 16 bytes. g, beta: any. States and checkpoints:
 * a row is contiguous, rows lie a multiple of the last axis (dv, or dk with state_v_first) apart. All others: contiguous. In the batch form strides[0] is T strides[1]
 * (slices of heads or columns are; slices of time are not).
 */
typedef struct tilewright_gdn_forward_args {
  uint64_t size;  /* sizeof(tilewright_gdn_forward_args) */
  uint64_t flags; /* TILEWRIGHT_GDN_*, or'ed */

  int64_t T;     /* tokens of a sequence (batch) or of all (packed), >= 0 */
  int64_t N;     /* number of sequences, >= 0 */
  int64_t batch; /* >= 1; must be 1 with cu_seqlens */
  int32_t hq;    /* query heads; 0: hk. hq, hk and hv divide the largest of them, H */
  int32_t hk;    /* key heads, >= 1 */
  int32_t hv;    /* value heads, >= 1 */
  int32_t dk;    /* width of a query or key head: 64 or 128 */
  int32_t dv;    /* width of a value head: 64 or 128 */
  float scale;   /* 0: dk^-1/2 */

  tilewright_operand q;    /* [batch, T, hq, dk] bf16 or f16 */
  tilewright_operand k;    /* [batch, T, hk, dk] as q; of l2 norm 1 for a stable recurrence: by the caller, or see l2norm */
  tilewright_operand v;    /* [batch, T, hv, dv] as q */
  tilewright_operand g;    /* [batch, T, H] f32, bf16 or f16, see gate_domain. Not given: no decay */
  tilewright_operand beta; /* [batch, T, H] f32, bf16 or f16, see beta_domain. Not given: 1 */

  int32_t gate_domain; /* tilewright_gate_domain */
  int32_t beta_domain; /* tilewright_beta_domain */
  float beta_scale;    /* of a logit; 0: 1. 2 admits negative eigenvalues */
  int32_t l2norm;      /* 1: each row of q and k is divided by sqrt(sum of squares + l2norm_eps), in fp32 */
  float l2norm_eps;    /* 0: 1e-6 */
  int32_t cp;          /* segments of a sequence: TILEWRIGHT_CP_AUTO, TILEWRIGHT_CP_OFF, or a number */

  tilewright_operand A_log;   /* [H] f32, bf16 or f16; with the raw gate only, which needs it */
  tilewright_operand dt_bias; /* [H] f32, bf16 or f16; with the raw gate only; not given: 0 */

  tilewright_operand cu_seqlens;  /* [N + 1] i32 or i64 */
  tilewright_operand prefix_lens; /* [N] i32 or i64, 0 to 2^31 - 1: tokens of the sequence before this call. Not given: 0. Moves checkpoints only */

  /* States, [rows, H, dk, dv], or [rows, H, dv, dk] with state_v_first; f32, bf16 or f16 each. Without slots row n belongs to sequence
   * n; with slots ([N] i32 or i64, read on the device) row slots[n] does, and -1 means a start from zero, or that nothing is written.
   * Two sequences do not write one row, nor does one write what another reads. */
  tilewright_operand initial_state; /* not given: zero */
  tilewright_operand read_slots;    /* with initial_state only */
  tilewright_operand final_state;   /* out; not given: not wanted. May be initial_state itself, of the same dtype and strides */
  tilewright_operand write_slots;   /* with final_state only */
  int64_t initial_rows;             /* rows of initial_state; 0: N. Without slots at least N */
  int64_t final_rows;               /* rows of final_state; likewise */

  /* Checkpoints: the state after the tokens of this call at whose end prefix_lens[n] + tokens so far is a multiple of checkpoint_every, as
   * rows of the form of a state. Sequence n has floor((prefix + length) / checkpoint_every) - floor(prefix / checkpoint_every) of them. The j-th, from 0,
   * is number checkpoint_starts[n] + j; it goes to the row of that number, or with checkpoint_slots to the row that they name (-1: not
   * written). Any prefix will do; behind one that is no multiple of 64 a checkpoint takes a little longer. */
  tilewright_operand checkpoints;       /* out, [checkpoint_rows, H, dk, dv] or v-first; f32, or the dtype of q */
  tilewright_operand checkpoint_starts; /* [N] i32 or i64; with checkpoints only, which need it */
  tilewright_operand checkpoint_slots;  /* [checkpoint_count] i32 or i64 */
  int64_t checkpoint_rows;
  int64_t checkpoint_count; /* entries of checkpoint_slots */
  int64_t checkpoint_every; /* a positive multiple of 64; 0 without checkpoints */

  int32_t state_v_first; /* 0: states and checkpoints are [.., dk, dv]; 1: [.., dv, dk] */
  int32_t reserved;      /* 0 */

  tilewright_operand o; /* out: [batch, T, H, dv] as q */

  /* What the backward reads, with S = batch T / 64 (rounded down) + number of sequences; sequence n has the rows from
   * floor(offset / 64) + n on, one for each 64 tokens. Not given: kept in the workspace. */
  tilewright_operand save_T; /* out: [S, H, 64, 64] as q: (I + diag(beta) M)^-1 diag(beta), M_ij = decay(j..i) k_i.k_j for i > j */
  tilewright_operand save_b; /* out: [S, H, 64] f32: log2 of the decay from the chunk's first token on, inclusive */

  void *workspace;          /* device memory, aligned to 256 bytes; contents before and after a call do not matter */
  uint64_t workspace_bytes; /* at least what tilewright_gdn_forward_workspace says */
  tilewright_stream stream;
} tilewright_gdn_forward_args;

/* Bytes of workspace that a call with these sizes needs, in *bytes. Reads sizes, numbers and which of cu_seqlens, save_T and save_b are
 * given; the other tensors need not be there yet. Does not touch the device, and does not depend on lengths. The answer is for this device in this
 * process: which kernels a call has follows from the planner's costs (TILEWRIGHT_PLANNER_COSTS, docs/kernels/gdn_plan.md), read at the first call.
 * Errors: INVALID_ARGUMENT (also for a file of costs that cannot be used), UNSUPPORTED. */
TILEWRIGHT_API tilewright_status tilewright_gdn_forward_workspace(const tilewright_handle *handle,
                                                                  const tilewright_gdn_forward_args *args,
                                                                  uint64_t *bytes);

/* Enqueues the forward. o and the final states are fully written for every sequence; two calls with the same arguments
 * give the same bits.
 * Errors: INVALID_ARGUMENT (NULL or misaligned pointer, sizes, dtypes or strides that do not fit, memory of another device, workspace too
 * small, an output that overlaps another argument; offsets of an earlier call), UNSUPPORTED (no kernel for it), COMPILE_FAILED,
 * DEVICE_ERROR. */
TILEWRIGHT_API tilewright_status tilewright_gdn_forward(tilewright_handle *handle,
                                                        const tilewright_gdn_forward_args *args);

/* Whether kernels that have run on the stream met bad offsets in cu_seqlens: INVALID_ARGUMENT, once, with a message such as
 * "gdn_forward: cu_seqlens[3] of an earlier call on this stream is 70, expected 100 to T = 512: ...". tilewright_gdn_forward asks the same
 * first, and enqueues nothing then; this is for the last call and for graphs, whose replays are no calls: a graph reports to the stream that
 * it was captured on. Costs a load; does not wait, so synchronise the stream first where kernels may still run. A simulated device
 * reports at the end of the call itself.
 * Errors: INVALID_ARGUMENT (handle NULL; bad offsets). */
TILEWRIGHT_API tilewright_status tilewright_gdn_forward_check(tilewright_handle *handle, tilewright_stream stream);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TILEWRIGHT_GDN_H */
