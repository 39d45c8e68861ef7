/* Status codes of the C interface. */
#ifndef TILEWRIGHT_STATUS_H
#define TILEWRIGHT_STATUS_H

#include <stdint.h>

#define TILEWRIGHT_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tilewright_status {
  TILEWRIGHT_OK = 0,
  TILEWRIGHT_INVALID_ARGUMENT = 1, /* a field or argument is wrong; the message names it, what was given and expected */
  TILEWRIGHT_UNSUPPORTED = 2,      /* well formed, but this library has no kernel for it */
  TILEWRIGHT_NO_DEVICE = 3,        /* no driver, no such device, or a device other than sm_90 */
  TILEWRIGHT_COMPILE_FAILED = 4,   /* a kernel could not be compiled or assembled, or missed its resource contract */
  TILEWRIGHT_DEVICE_ERROR = 5,     /* the driver or the simulator reported an error */
  TILEWRIGHT_INTERNAL = 6          /* a broken invariant: please report it */
} tilewright_status;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TILEWRIGHT_STATUS_H */
