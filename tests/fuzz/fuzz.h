/* The interface of the fuzz targets. Each target is one file, NAME.c, that defines LLVMFuzzerTestOneInput: it is linked with
 * libFuzzer by `make fuzz`, and with replay.c, which feeds files, for `make check`.
 *
 * A target that reads several files takes them as one input: a line "%% NAME" begins the file NAME, so that most inputs can be
 * read and written with an editor. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The path of a file in a scratch directory of this process, which is removed when the process ends. The string stays valid. */
const char *fuzz_path(const char *name);

/* Writes a file in the scratch directory and returns its path; aborts when it cannot. */
const char *fuzz_file(const char *name, const void *bytes, size_t size);

/* Removes a file or a directory with its content, if it exists. */
void fuzz_remove(const char *path);

/* Splits the input and writes the files whose names are in the list (NULL at the end); a file that the input lacks is written
   empty. Bytes before the first "%% NAME" belong to the first name of the list. */
void fuzz_unpack(const uint8_t *data, size_t size, const char *const *names);

/* A copy of the input with a NUL at its end, in a block of exactly that size. The caller frees it. */
char *fuzz_text(const uint8_t *data, size_t size);

/* The environment variable's value; aborts when it is not set. */
const char *fuzz_need(const char *variable);

/* Aborts unless a failure has a sentence about its cause, and the status that was returned. */
void fuzz_said(int rc, const struct dp_err *err);

/* A violated property ends the process, as a fault would. */
#define fuzz_assert(condition) ((condition) ? (void)0 : fuzz_fail(#condition, __FILE__, __LINE__))
void fuzz_fail(const char *what, const char *file, int line) __attribute__((noreturn));
