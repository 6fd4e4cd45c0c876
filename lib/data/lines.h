/* Lines and delimited records of a text file or of standard input (input.h), as UTF-8. A byte order mark at the start is
 * skipped; a NUL byte is an error.
 *
 * UTF-16 is recognised by its mark. A line that is not UTF-8 is read as Windows-1252, if it can be; then it is an error if
 * another line has characters of UTF-8. */
#pragma once

#include "base/err.h"

struct dp_input;
struct dp_utf16;

struct dp_cell {
    const char *text; /* length bytes, unquoted and, if it was not quoted, trimmed of blanks */
    size_t length;
};

struct dp_lines {
    const char *name; /* for messages */
    struct dp_input *input;
    char *chunk; /* bytes that were read but not used yet */
    size_t chunk_at, chunk_end;
    bool chunk_plain;       /* all bytes of the chunk are ASCII, and none is a NUL or a quote */
    struct dp_utf16 *utf16; /* NULL: bytes are read as they are */
    size_t utf8, windows;   /* the first line that is not ASCII in each of the two encodings; 0: none */
    bool arff;              /* records may also be quoted by ', and lines that begin with % are comments */
    size_t number;          /* number of the current line, from 1 */
    char *line;             /* without its end */
    size_t length, capacity;
    bool cr;      /* the last line had a CR before its end */
    bool plain;   /* line is ASCII without quotes; false: unknown */
    char *buffer; /* unquoted fields */
    size_t buffer_capacity;
    struct dp_cell *field;
    size_t fields, field_capacity;
};

/* After a failure there is nothing to close. dp_lines_open_table: sql is a query of an SQLite database, or NULL for a text. */
int dp_lines_open(struct dp_lines *lines, const char *path, struct dp_err *err);
int dp_lines_open_table(struct dp_lines *lines, const char *path, const char *sql, struct dp_err *err);
void dp_lines_close(struct dp_lines *lines);

/* The next line: 1, or 0 at the end. */
int dp_lines_next(struct dp_lines *lines, struct dp_err *err);

/* The next record, split at the delimiter (RFC 4180: quoted fields may hold delimiters, doubled quotes and
   line ends). 1, or 0 at the end; an unclosed quote is an error. */
int dp_lines_record(struct dp_lines *lines, char delimiter, struct dp_err *err);

/* Whether the record is a row. An empty line is not a row. */
bool dp_lines_has_row(const struct dp_lines *lines);

/* "UTF-16" or "Windows-1252" if the text was converted, else NULL. */
const char *dp_lines_converted(const struct dp_lines *lines);

/* The two halves of dp_lines_record: the next record's text into lines->line, and its fields. dp_lines_split needs no input:
 * `lines` may be zeroed except for name, number, line, length, plain and arff. */
int dp_lines_text(struct dp_lines *lines, char delimiter, struct dp_err *err);
void dp_lines_split(struct dp_lines *lines, char delimiter);
