/* The rows of an SQLite query, as the text of a CSV table. The first line has the names of the query's columns. NULL is an empty
 * cell; a real number has as many digits as tell it from others. */
#pragma once

#include "base/err.h"

struct dp_sqlite;

/* Reads the database, and never writes to it. DP_E_RUN: it cannot be read, has changes outside the file, or the SQL is not one
 * statement that only reads. The caller frees *query with dp_sqlite_close. */
int dp_sqlite_open(struct dp_sqlite **query, const char *path, const char *sql, struct dp_err *err);

/* Up to size bytes; *got is 0 only at the end. DP_E_RUN: a cell is a blob, the query fails, or a signal is pending. */
int dp_sqlite_read(struct dp_sqlite *query, void *bytes, size_t size, size_t *got, struct dp_err *err);

/* query may be NULL. */
void dp_sqlite_close(struct dp_sqlite *query);
