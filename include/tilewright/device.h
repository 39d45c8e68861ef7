/* Devices: handles, their memory, and messages of failed calls. */
#ifndef TILEWRIGHT_DEVICE_H
#define TILEWRIGHT_DEVICE_H

#include "tilewright/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Element types of tensors. */
typedef enum tilewright_dtype {
  TILEWRIGHT_BF16 = 0,
  TILEWRIGHT_F16 = 1,
  TILEWRIGHT_F32 = 2,
  TILEWRIGHT_I32 = 3,
  TILEWRIGHT_I64 = 4
} tilewright_dtype;

/* Devices that tilewright_create takes beside CUDA ordinals 0, 1, ... */
enum {
  TILEWRIGHT_DEVICE_SIM = -1, /* a simulated Hopper on the CPU */
  TILEWRIGHT_DEVICE_AUTO = -2 /* the thread's current CUDA device if it is an sm_90, else the simulated one */
};

/* A device with the kernels loaded on it. */
typedef struct tilewright_handle tilewright_handle;

/* A CUDA stream (CUstream, cudaStream_t). NULL is the legacy default stream. Ignored by a simulated device. */
typedef void *tilewright_stream;

/* Version of the library as "major.minor.patch"; never NULL. */
TILEWRIGHT_API const char *tilewright_version(void);

/* Message of the last failed call of this thread, "" if none failed; valid until the thread's next call. */
TILEWRIGHT_API const char *tilewright_last_error(void);

/* Makes a handle for `device` (a CUDA ordinal or TILEWRIGHT_DEVICE_*) and puts it in *out. The CUDA device's primary
 * context is used; the thread's current context is left as it was.
 * Errors: INVALID_ARGUMENT (out NULL, device < -2), NO_DEVICE. */
TILEWRIGHT_API tilewright_status tilewright_create(int32_t device, tilewright_handle **out);

/* Unloads the handle's kernels and frees it; no work of it may still be running. NULL is allowed. */
TILEWRIGHT_API void tilewright_destroy(tilewright_handle *handle);

/* "cuda" or "sim"; "" for NULL. */
TILEWRIGHT_API const char *tilewright_device_kind(const tilewright_handle *handle);

/* The device for people: card, driver; "" for NULL. Valid while the handle lives. */
TILEWRIGHT_API const char *tilewright_device_description(const tilewright_handle *handle);

/* Memory for programs that bring no CUDA runtime of their own. Addresses are those that cudaMalloc would give; on a
 * simulated device they are host memory. Copies and synchronisation wait for all work of the device.
 * Errors: INVALID_ARGUMENT (handle, out or a pointer NULL, bytes 0), DEVICE_ERROR (out of memory, with the bytes asked
 * for; an address that is not the device's). */
TILEWRIGHT_API tilewright_status tilewright_allocate(tilewright_handle *handle, uint64_t bytes, void **out);
TILEWRIGHT_API tilewright_status tilewright_free(tilewright_handle *handle, void *memory); /* NULL is allowed */
TILEWRIGHT_API tilewright_status tilewright_copy_to_device(tilewright_handle *handle, void *to, const void *from,
                                                           uint64_t bytes);
TILEWRIGHT_API tilewright_status tilewright_copy_to_host(tilewright_handle *handle, void *to, const void *from,
                                                         uint64_t bytes);
TILEWRIGHT_API tilewright_status tilewright_synchronize(tilewright_handle *handle);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TILEWRIGHT_DEVICE_H */
