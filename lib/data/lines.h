/* Lines and delimited records of a text file or of standard input (input.h), as UTF-8. A byte order mark at the start is
 * skipped; a NUL byte is an error.
 *
 * UTF-16 is recognised by its mark, or by the zero bytes of its first two letters. A line that is not UTF-8 is read as
 * Windows-1252, if it can be; then it is an error if another line has characters of UTF-8.
 *
 * A first line such as sep=; is taken for the delimiter. Below a header (dp_lines_header) lines that are not rows are skipped
 * and noted: the header again; units, directly below the header; a total, at the end. A line decides only about itself. */
#pragma once

#include "base/err.h"

struct dp_input;
struct dp_utf16;

struct dp_cell {
    const char *text; /* length bytes, unquoted and, if it was not quoted, trimmed of blanks */
    size_t length;
};

/* Oddities of a table that were noted: the number of the first such line, and how many there are. ROW_NAMES: the header has no
 * name for the first column. LAST_EMPTY: rows end with a delimiter. QUOTED: a quoted cell that begins in this line takes in
 * lines that look like rows. */
enum dp_lines_oddity {
    DP_LINES_ROW_NAMES,
    DP_LINES_LAST_EMPTY,
    DP_LINES_HEADER_AGAIN,
    DP_LINES_UNITS,
    DP_LINES_RULER,
    DP_LINES_TOTAL,
    DP_LINES_QUOTED,
    DP_LINES_ODDITIES
};
#define DP_LINES_SENTENCE 200
struct dp_lines_notes {
    size_t line[DP_LINES_ODDITIES], count[DP_LINES_ODDITIES];
};

/* A part of the bytes of a table. */
struct dp_lines_part {
    uint64_t from, to, size; /* starts of lines; bytes of the table */
    int64_t modified;        /* seconds since 1970 */
};

/* Bytes that were read but not used yet, from `at` on. */
struct dp_lines_chunk {
    char *bytes;
    size_t at, end;
    bool plain; /* all bytes are ASCII, and none is a NUL or a quote */
};

struct dp_lines_head {
    char *text; /* or NULL */
    size_t length, columns;
    bool below; /* the next line is directly below the header */
};

struct dp_lines {
    const char *name; /* for messages */
    struct dp_input *input;
    struct dp_lines_chunk chunk;
    struct dp_utf16 *utf16; /* NULL: bytes are read as they are */
    size_t utf8, windows;   /* the first line that is not ASCII in each of the two encodings; 0: none */
    bool arff;              /* records may also be quoted by ' */
    char comment;           /* lines that begin with it are skipped; 0: no lines */
    size_t number;          /* number of the current line, from 1 */
    char *line;             /* without its end */
    size_t length, capacity;
    bool cr;      /* the last line had a CR before its end */
    bool plain;   /* line is ASCII without quotes; false: unknown */
    char *buffer; /* unquoted fields */
    size_t buffer_capacity;
    struct dp_cell *field;
    size_t fields, field_capacity;
    char separator; /* of a first line such as sep=; or 0 */
    struct dp_lines_head head;
    uint64_t begin, end; /* of a part: where the next line begins, and a line of the next part; end 0: no part */
    struct dp_lines_notes notes;
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

/* The next record as the header of the records below it. If all of the next lines have one field more, the header gets an
 * unnamed column: the last one if it is empty in these lines, else the first one, as R writes the names of rows. A line
 * of another shape is an error then, so no row decides how another one is read. */
int dp_lines_header(struct dp_lines *lines, char delimiter, struct dp_err *err);

/* The same for an ARFF table: the fields are the names of its attributes. */
int dp_arff_names(struct dp_lines *lines, struct dp_err *err);

/* The first line was not a header: all lines below it are rows. */
void dp_lines_no_header(struct dp_lines *lines);

/* Goes to part k of n, from 1, of the rest of the file: the lines that begin in the kth of n equal ranges of bytes. Sets all of
 * *part except `to`, which is lines->begin at the end of the part. The part reads as in the whole table if the part before it
 * ends where this part begins. It does not if a quoted cell has line ends there: compare both before you use the rows. The file
 * must not be compressed, and its text must be UTF-8. Lines are counted from 1 again. */
int dp_lines_go(struct dp_lines *lines, size_t k, size_t n, struct dp_lines_part *part, struct dp_err *err);

/* Writes the sentence about an oddity that was noted. */
void dp_lines_sentence(const struct dp_lines_notes *notes, enum dp_lines_oddity which, char text[DP_LINES_SENTENCE]);

/* Hands the sentence about each oddity that was noted to warn. */
void dp_lines_tell(const struct dp_lines_notes *notes, void (*warn)(const char *command, const char *text),
                   const char *command);

/* A possible reason why a record has too many or too few fields: words in parentheses, or "". */
const char *dp_lines_hint(const struct dp_lines *lines);

/* Whether the record is a row. An empty line is not a row. */
bool dp_lines_has_row(const struct dp_lines *lines);

/* "UTF-16" or "Windows-1252" if the text was converted, else NULL. */
const char *dp_lines_converted(const struct dp_lines *lines);

/* The two halves of dp_lines_record: the next record's text into lines->line, and its fields. dp_lines_split needs no input:
 * `lines` may be zeroed except for name, number, line, length, plain and arff. */
int dp_lines_text(struct dp_lines *lines, char delimiter, struct dp_err *err);
void dp_lines_split(struct dp_lines *lines, char delimiter);

/* For lib/data/odd_lines.c, which decides what is a row. dp_lines_any_text: as dp_lines_text, of any line. dp_lines_at_end:
 * passes over blank lines; whether nothing follows. */
int dp_lines_any_text(struct dp_lines *lines, char delimiter, struct dp_err *err);
int dp_lines_at_end(struct dp_lines *lines, bool *end, struct dp_err *err);
