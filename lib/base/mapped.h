/* Files that are mapped for reading. Such a file can lose pages while it is mapped, when somebody writes over
   it or its disk fails, and then a mere read kills the process by SIGBUS. Mappings are therefore registered
   here, and a command that has called dp_mapped_guard goes on reading zeros from the lost pages until the
   next dp_mapped_check, which names the file. */
#ifndef DP_BASE_MAPPED_H
#define DP_BASE_MAPPED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct dp_mapped;

/* Maps the regular file `name` in the open directory `at`, read-only and shared; path is what messages call
 * it. A file that this process has mapped already is mapped once, and stays until the last who opened it closes it. */
int dp_mapped_open(struct dp_mapped **file, int at, const char *name, const char *path, struct dp_err *err);

/* file may be NULL. */
void dp_mapped_close(struct dp_mapped *file);

const void *dp_mapped_bytes(const struct dp_mapped *file);
size_t dp_mapped_size(const struct dp_mapped *file);

/* Of all files mapped in this process: fails if one of them lost pages that were read, and, when `look` is
   set, if one has another size or time of modification than when it was opened. The first is a load from
   memory, the second one fstat per file. What was computed from a file since the check before must not be
   used if this fails. */
int dp_mapped_check(bool look, struct dp_err *err);

/* Handles SIGBUS in this process from now on: for main programs. A SIGBUS that is not about a registered file
   goes where it went before. */
void dp_mapped_guard(void);

#endif
