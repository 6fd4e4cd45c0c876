/* Parsed records in an unnamed temporary file, so that a table is read once (also from a pipe) and memory does not grow with
   it. A record is a label and the values of the columns that are not zero; NAN is a missing value. */
#pragma once

#include "base/err.h"

struct dp_parsed {
    double label;
    bool labelled;      /* the label has been read; not spooled */
    bool null;          /* a malformed record, or one of no class: a row of zeros with this label */
    const char *person; /* person_length bytes: the text that identifies the person, or NULL; not spooled */
    size_t person_length;
    uint32_t count, capacity;
    uint32_t *column; /* count entries */
    double *value;
};

/* Records as the spool has them. Starts zeroed; its bytes are freed by the owner. */
struct dp_encoded {
    char *bytes;
    size_t used, capacity, records;
};

struct dp_spool {
    FILE *file;
    char *buffer;     /* buffer of the file: reading page by page would take a third of the time of an import */
    char where[4096]; /* the directory of the file, for messages */
    size_t records;
    struct dp_encoded one; /* the record that is put */
    uint8_t *bytes;        /* values of a record that are bytes */
    size_t bytes_capacity;
};

/* Opens an empty spool. Its file is unnamed and in the directory of the file `beside`, so that private rows stay on the disk of
 * the data set. If that directory takes no unnamed files, tmpfile() chooses the place. scattered: the records are not read in
 * the order in which they were written (dp_spool_go). */
int dp_spool_open(struct dp_spool *spool, const char *beside, bool scattered, struct dp_err *err);
void dp_spool_close(struct dp_spool *spool);
int dp_spool_put(struct dp_spool *spool, const struct dp_parsed *record, struct dp_err *err);

/* dp_spool_put in two steps: the first needs no spool, and appends to *to; the second appends all records to the spool, and
 * empties *from. */
void dp_spool_encode(struct dp_encoded *to, const struct dp_parsed *record);
int dp_spool_append(struct dp_spool *spool, struct dp_encoded *from, struct dp_err *err);

/* dp_spool_rewind goes back to the first record; dp_spool_get then returns 1 for each record, and 0 after the last. */
int dp_spool_rewind(struct dp_spool *spool, struct dp_err *err);
int dp_spool_get(struct dp_spool *spool, struct dp_parsed *record, struct dp_err *err);

/* dp_spool_tell: the place of the next record that will be written. dp_spool_go: the next dp_spool_get reads the record at that
 * place. */
int dp_spool_tell(const struct dp_spool *spool, size_t *place, struct dp_err *err);
int dp_spool_go(struct dp_spool *spool, size_t place, struct dp_err *err);

/* Makes room for count values. */
void dp_parsed_reserve(struct dp_parsed *record, uint32_t count);

/* Appends a value; zeros are left out. */
static inline void dp_parsed_add(struct dp_parsed *record, uint32_t column, double value)
{
    if (value == 0)
        return;
    if (record->count == record->capacity)
        dp_parsed_reserve(record, record->count + 1);
    record->column[record->count] = column;
    record->value[record->count++] = value;
}
void dp_parsed_free(struct dp_parsed *record);
