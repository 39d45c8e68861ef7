/* Kernels of one's own: from a recorded program to a launch. The C++ form is tilewright/jit.h. */
#ifndef TILEWRIGHT_KERNEL_H
#define TILEWRIGHT_KERNEL_H

#include "tilewright/device.h"
#include "tilewright/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A compiled kernel; belongs to no device. */
typedef struct tilewright_kernel tilewright_kernel;

/* A kernel loaded on a device. */
typedef struct tilewright_function tilewright_function;

/* Where a compilation stands. The strings live until the callback returns. */
typedef struct tilewright_progress {
  uint64_t size;      /* sizeof(tilewright_progress), set by the library */
  const char *kernel; /* its name or configuration */
  const char *step;   /* "program", steps of the compiler, "ptxas"; at the end "done", or "cache" where it was there */
  uint32_t done;      /* steps, of all kernels that are compiled together */
  uint32_t total;
} tilewright_progress;

/* Called as each step begins, by one thread at a time, not always the same. */
typedef void (*tilewright_progress_callback)(void *data, const tilewright_progress *progress);

typedef struct tilewright_compile_options {
  uint64_t size;          /* sizeof(tilewright_compile_options) */
  int32_t keep_stages;    /* 1: keep the text of every stage for tilewright_kernel_text */
  int32_t omit_assembly;  /* 1: PTX only; a CUDA device assembles it when it loads it */
  int32_t break_contract; /* 1: spills, stack frames and ptxas' performance warnings are no errors */
  int32_t reserved;       /* 0 */
  const char *ptxas;      /* path of the assembler; NULL: TILEWRIGHT_PTXAS, then the usual places */
  tilewright_progress_callback progress; /* or NULL */
  void *progress_data;
} tilewright_compile_options;

/* Compiles a finished program for sm_90a. `options` may be NULL. The program is left as it was.
 * Errors: INVALID_ARGUMENT, COMPILE_FAILED (the author's mistake, as file:line: error: ...; ptxas' words). */
TILEWRIGHT_API tilewright_status tilewright_compile(tilewright_program *program,
                                                    const tilewright_compile_options *options,
                                                    tilewright_kernel **out);

/* A text of the kernel, valid while it lives: "name", "ptx", "sidecar" (JSON: parameters, grid, roles, barriers,
 * shared-memory map), "log" (what ptxas said), "assembler" ("ptxas 12.8.93", "driver" where there was none); with
 * keep_stages also "tile", "hopper" and "llvm". NULL for a name that is unknown or was not kept. */
TILEWRIGHT_API const char *tilewright_kernel_text(const tilewright_kernel *kernel, const char *what);

typedef struct tilewright_resources {
  uint64_t size;               /* sizeof(tilewright_resources), set by the caller */
  uint32_t threads;            /* per CTA */
  uint32_t registers;          /* per thread at entry, by ptxas; 0 where the kernel was not assembled */
  uint32_t spill_store_bytes;  /* per thread */
  uint32_t spill_load_bytes;   /* per thread */
  uint32_t stack_bytes;        /* per thread */
  uint32_t shared_bytes;       /* per CTA, static and dynamic */
  uint32_t barriers;           /* named barriers */
  uint32_t performance_losses; /* lines in which ptxas reports one */
} tilewright_resources;

/* Errors: INVALID_ARGUMENT. */
TILEWRIGHT_API tilewright_status tilewright_kernel_resources(const tilewright_kernel *kernel,
                                                             tilewright_resources *resources);

/* NULL is allowed. Functions loaded from the kernel stay. */
TILEWRIGHT_API void tilewright_kernel_destroy(tilewright_kernel *kernel);

/* Loads a kernel on a device.
 * Errors: INVALID_ARGUMENT, DEVICE_ERROR (the kernel needs more than the card has; the driver's words). */
TILEWRIGHT_API tilewright_status tilewright_load(tilewright_handle *handle, const tilewright_kernel *kernel,
                                                 tilewright_function **out);
TILEWRIGHT_API void tilewright_function_destroy(tilewright_function *function); /* NULL is allowed */

/* One argument of a launch: a tensor, or (rank 0 and data NULL) a scalar or a dimension. */
enum { TILEWRIGHT_MAX_RANK = 8 };
typedef struct tilewright_argument {
  uint64_t size;                        /* sizeof(tilewright_argument) */
  const char *name;                     /* as the kernel declares it */
  void *data;                           /* tensor: device memory; NULL: an optional tensor that is absent */
  int32_t dtype;                        /* tensor: tilewright_dtype */
  uint32_t rank;                        /* tensor: axes, 1..8 */
  int64_t shape[TILEWRIGHT_MAX_RANK];   /* tensor: extents, outermost first */
  int64_t strides[TILEWRIGHT_MAX_RANK]; /* tensor: in elements; all 0: contiguous */
  int64_t integer;                      /* value of a dimension or of an integer scalar */
  double real;                          /* value of an fp32 scalar */
} tilewright_argument;

/* Enqueues the function on a stream. Dimensions that tensors' shapes tell need no argument. `programmatic` allows it to
 * start before the kernel before it on the stream ends (the kernel itself waits). On a simulated device the call returns
 * when the kernel has run; tensors may be any host memory there.
 * Errors: INVALID_ARGUMENT (an argument missing, unknown, or of a type or shape other than declared), DEVICE_ERROR. */
TILEWRIGHT_API tilewright_status tilewright_launch(tilewright_function *function, const tilewright_argument *arguments,
                                                   uint64_t count, tilewright_stream stream, int32_t programmatic);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TILEWRIGHT_KERNEL_H */
