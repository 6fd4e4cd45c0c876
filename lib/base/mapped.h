/* Files that are mapped for reading. A mapped file can lose pages, when somebody truncates it or its disk fails; then a read of
 * such a page kills the process by SIGBUS. Mappings are therefore registered here. A command that has called dp_mapped_guard
 * reads zeros from the lost pages until the next dp_mapped_check, which names the file. */
#pragma once

#include "base/err.h"

struct dp_mapped;

/* Maps the regular file `name` in the open directory `at`, read-only and shared; messages call it path. A file is mapped only
 * once in a process, and stays mapped until each dp_mapped_open of it has its dp_mapped_close. */
int dp_mapped_open(struct dp_mapped **file, int at, const char *name, const char *path, struct dp_err *err);

/* file may be NULL. */
void dp_mapped_close(struct dp_mapped *file);

const void *dp_mapped_bytes(const struct dp_mapped *file);
size_t dp_mapped_size(const struct dp_mapped *file);

/* Checks all files mapped in this process. Fails if one of them lost pages that were read and, when `look` is set, if one has
 * another size or modification time than when it was opened. The first check is a load from memory, the second one fstat for
 * each file. If this fails, do not use anything computed from the file since the check before. */
int dp_mapped_check(bool look, struct dp_err *err);

/* Handles SIGBUS in this process from now on; only main programs call this. A SIGBUS that is not about a registered file goes
 * to the previous handler. */
void dp_mapped_guard(void);
