/* Programs: a kernel is recorded operation by operation. Authors write C++ against tilewright/dsl.h, which calls this;
 * another language's front end would call it in the same way.
 *
 * An operation is named by a text and takes values, integers and texts; which ones is documented beside the method of the
 * same name in tilewright/dsl/builder.h. Values are small integers that the operations hand out. The set of operations grows
 * without new functions: a library that does not know a name says so.
 */
#ifndef TILEWRIGHT_PROGRAM_H
#define TILEWRIGHT_PROGRAM_H

#include "tilewright/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A kernel under construction. Not for use by two threads at once. */
typedef struct tilewright_program tilewright_program;

typedef struct tilewright_operation {
  uint64_t size;    /* sizeof(tilewright_operation) */
  const char *name; /* "gemm", "for_begin", ... */
  const char *file; /* the author's place, which messages name */
  uint32_t line;
  uint32_t column;
  const int32_t *values; /* operands; -1 where an optional one is absent */
  uint64_t value_count;
  const int64_t *integers;
  uint64_t integer_count;
  const char *const *texts;
  uint64_t text_count;
  double real;
  int32_t *results; /* out: the values that the operation makes */
  uint64_t result_count;
} tilewright_operation;

/* Begins a kernel `name`, written at file:line:column. Free it with tilewright_program_destroy.
 * Errors: INVALID_ARGUMENT (a NULL pointer), INTERNAL. */
TILEWRIGHT_API tilewright_status tilewright_program_create(const char *name, const char *file, uint32_t line,
                                                           uint32_t column, tilewright_program **out);

/* Appends an operation. After an error the program is of no use but for its message.
 * Errors: COMPILE_FAILED (the author's mistake: the message begins with file:line), UNSUPPORTED (unknown operation),
 * INVALID_ARGUMENT (the operation's counts are not what the library expects), INTERNAL. */
TILEWRIGHT_API tilewright_status tilewright_program_record(tilewright_program *program,
                                                           const tilewright_operation *operation);

/* Message of the program's last error, "" if there was none; valid until the next call with this program. */
TILEWRIGHT_API const char *tilewright_program_message(const tilewright_program *program);

/* NULL is allowed. */
TILEWRIGHT_API void tilewright_program_destroy(tilewright_program *program);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TILEWRIGHT_PROGRAM_H */
