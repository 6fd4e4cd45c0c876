#include "data/import.h"

#include <sodium.h>

#include "base/cli.h"
#include "base/text.h"
#include "base/mem.h"
#include "base/progress.h"
#include "data/carried.h"
#include "data/crew.h"
#include "data/features.h"
#include "data/image_rows.h"
#include "data/join.h"
#include "data/knots.h"
#include "data/persons.h"
#include "data/turns.h"
#include "math/rng.h"

/* Selection sampling: each of the remaining rows goes to training with probability (still wanted)/(still
   there), so that exactly floor(split × rows) do, in their order. */
struct splitter {
    struct dp_key key;
    struct dp_stream stream;
    size_t wanted, left;
};

static bool goes_to_training(struct splitter *s)
{
    bool takes = dp_stream_below(&s->stream, s->left) < s->wanted;
    s->left--;
    s->wanted -= takes;
    return takes;
}

/* The table as read, before anything is written, unless it is written directly. */
struct table {
    struct dp_import *import;
    struct dp_spool spool;
    size_t first; /* records of the first table */
    bool by_person;
    struct dp_persons persons;   /* by_person */
    struct dp_image_rows images; /* import->map */
};

static void start_split(const struct dp_import *import, struct splitter *splitter, size_t units)
{
    double wanted = import->split * (double)units;
    splitter->left = units;
    /* 0.29 × 100 is 29 */
    splitter->wanted = (size_t)(fabs(wanted - round(wanted)) < 1e-9 * wanted ? round(wanted) : floor(wanted));
    dp_key_derive(&splitter->key, import->seed, "dp-import split", 0);
    dp_stream_start(&splitter->stream, &splitter->key, DP_DRAW_PERMUTATION, 0);
}

/* A row for tests may have a number beyond the largest magnitude, which was measured on the rows for training. */
static void keep_within(const struct dp_features *f, const struct dp_schema *s)
{
    for (size_t i = 0; i < s->columns; i++)
        if (s->column[i].type == DP_COLUMN_NUMERIC && s->column[i].scaling == DP_SCALE_MAX_ABS)
            f->x[f->first[i]] = fmax(-1, fmin(1, f->x[f->first[i]]));
}

static const double *row_of(struct dp_import *import, const struct dp_features *f, const struct dp_parsed *r, double *y)
{
    const double *x = dp_features_row(f, import, r, y);
    if (import->source.tests != NULL)
        keep_within(f, &import->plan.schema);
    return x;
}

static bool keeps_cells(const struct dp_import *import)
{
    return import->writer.storage == DP_STORAGE_CELLS;
}

static int write_row(struct dp_import *import, const struct dp_features *f, const struct dp_parsed *r, struct dp_writer *to,
                     struct dp_err *err)
{
    double y;
    if (keeps_cells(import)) {
        dp_features_cells(f, import, r, f->x, &y);
        return dp_writer_put(to, f->x, &y, 1, err);
    }
    const double *x = row_of(import, f, r, &y);
    return dp_writer_row(to, x, y, err);
}

/* The rows that one thread has made. */
struct made {
    struct dp_features features; /* a copy with DP_SHORTEN_ROWS rows of its own */
    char *rows;                  /* count of them, each of `size` bytes, as dp_writer_put takes them */
    size_t size;
    double *y;
    size_t count, rows_capacity, y_capacity;
};

/* The bytes of a stored row. */
static size_t size_of_row(const struct dp_import *import, const struct dp_features *f)
{
    return keeps_cells(import) ? f->cells * sizeof(double) : f->count * sizeof(float);
}

static void begin_made(struct made *m, const struct dp_import *import, const struct dp_features *f)
{
    m->features = *f;
    m->size = size_of_row(import, f);
    m->features.x = dp_new(DP_SHORTEN_ROWS * f->count, sizeof *m->features.x);
}

static void end_made(struct made *m)
{
    free(m->features.x);
    free(m->rows);
    free(m->y);
}

/* Makes the next rows, of `count` ≤ DP_SHORTEN_ROWS records. If this fails, write_row fails, too, and knows the number of the
 * row. */
static int add_made(struct made *m, struct dp_import *import, const struct dp_parsed *const *records, size_t count,
                    const struct dp_writer *to, struct dp_err *err)
{
    struct dp_features one = m->features;
    int rc = DP_OK;
    dp_extend(&m->rows, &m->rows_capacity, m->count + count, m->size);
    dp_extend(&m->y, &m->y_capacity, m->count + count, sizeof *m->y);
    void *rows = m->rows + m->count * m->size;
    if (keeps_cells(import)) {
        for (size_t i = 0; i < count; i++)
            dp_features_cells(&one, import, records[i], (double *)rows + i * one.cells, &m->y[m->count + i]);
    } else {
        for (size_t i = 0; i < count; i++, one.x += one.count)
            row_of(import, &one, records[i], &m->y[m->count + i]);
        rc = dp_writer_shorten(to, m->features.x, count, 0, rows, err);
    }
    m->count += rc == DP_OK ? count : 0;
    return rc;
}

/* A pass over the rows that are kept, in the order in which they are written: all rows of one person together. */
struct pass {
    struct dp_parsed row;
    struct splitter splitter;
    size_t next;         /* by_person: of persons.row */
    size_t passed;       /* rows */
    bool training, ends; /* ends: the row is the last one of its person */
};

static int start_pass(struct pass *pass, const struct dp_import *import, struct table *table, struct dp_err *err)
{
    *pass = (struct pass){.training = true, .ends = true};
    if (import->test != NULL && import->source.tests == NULL)
        start_split(import, &pass->splitter, table->by_person ? table->persons.count : table->spool.records);
    return dp_spool_rewind(&table->spool, err);
}

/* Returns 1 for each row, then 0. All rows of a person go to the same output. */
static int next_row(struct pass *pass, const struct dp_import *import, struct table *table, struct dp_err *err)
{
    int rc = DP_OK;
    if (table->by_person && pass->next == table->persons.rows)
        return 0;
    if (table->by_person)
        rc = dp_spool_go(&table->spool, table->persons.row[pass->next].place, err);
    rc = rc ?: dp_spool_get(&table->spool, &pass->row, err);
    if (rc == 1 && import->source.tests != NULL)
        pass->training = pass->passed++ < table->first;
    else if (rc == 1 && pass->ends && import->test != NULL)
        pass->training = goes_to_training(&pass->splitter);
    if (rc == 1 && table->by_person)
        pass->ends = dp_persons_ends(&table->persons, pass->next++);
    return rc;
}

/* Several threads write the rows: each takes the next records, makes rows of them, and puts these in its turn. */
struct writing {
    struct dp_import *import;
    struct table *table;
    const struct dp_features *features;
    struct dp_writer *test, *output;
    size_t most; /* records of a lot */
    pthread_mutex_t reading;
    struct pass pass; /* guarded by `reading`, as are the next three */
    struct dp_err read_err;
    int read; /* result of the last read; 1: there is more */
    size_t lots;
    struct dp_turns turns; /* guards the rest */
    struct dp_err *err;
    int rc;
};

#define LOT 256                     /* records at most */
#define LOT_BYTES ((size_t)1 << 18) /* of their rows, if one row is not longer */

struct hand {
    struct writing *writing;
    struct dp_import import; /* a copy: the thread counts for itself */
    struct made made;
    struct taken {
        struct dp_parsed record;
        bool training, ends;
    } taken[LOT];
    size_t count, number;
};

static bool take_lot(struct hand *h)
{
    struct writing *w = h->writing;
    struct pass *pass = &w->pass;
    pthread_mutex_lock(&w->reading);
    const bool more = w->read == 1;
    h->number = w->lots;
    w->lots += more;
    for (h->count = 0; w->read == 1 && h->count < w->most;) {
        struct taken *t = &h->taken[h->count];
        pass->row = t->record;
        w->read = next_row(pass, w->import, w->table, &w->read_err);
        *t = (struct taken){pass->row, pass->training, pass->ends};
        h->count += w->read == 1;
    }
    pthread_mutex_unlock(&w->reading);
    return more;
}

/* Puts rows that go to the same data set together, up to the end of a person; a row that could not be made, by itself. */
static int put_lot(struct hand *h)
{
    struct writing *w = h->writing;
    const struct made *m = &h->made;
    int rc = DP_OK;
    dp_crew_add_counts(w->import, &h->import);
    for (size_t from = 0, to = 0; rc == DP_OK && from < h->count; from = to) {
        const struct taken *t = h->taken;
        struct dp_writer *part = t[from].training ? w->output : w->test;
        for (to = from + 1; to < m->count && t[to].training == t[from].training && !(w->table->by_person && t[to - 1].ends);)
            to++;
        rc = from < m->count ? dp_writer_put(part, m->rows + from * m->size, m->y + from, to - from, w->err)
                             : write_row(w->import, w->features, &t[from].record, part, w->err);
        if (rc == DP_OK && w->table->by_person && t[to - 1].ends)
            rc = dp_writer_person(part, w->err);
    }
    return rc;
}

/* Makes rows of the records that were taken: all of them, or those before some that cannot be made. */
static void make_lot(struct hand *h)
{
    const struct dp_parsed *record[DP_SHORTEN_ROWS];
    struct dp_err ignored;
    int rc = DP_OK;
    h->made.count = 0;
    for (size_t left; rc == DP_OK && (left = h->count - h->made.count) > 0;) {
        const size_t count = left < DP_SHORTEN_ROWS ? left : DP_SHORTEN_ROWS;
        for (size_t i = 0; i < count; i++)
            record[i] = &h->taken[h->made.count + i].record;
        rc = add_made(&h->made, &h->import, record, count, h->writing->output, &ignored);
    }
}

static void write_lots(void *hand)
{
    struct hand *h = hand;
    struct writing *w = h->writing;
    while (take_lot(h)) {
        make_lot(h);
        dp_turns_wait(&w->turns, h->number);
        dp_progress_rows(h->number * w->most, w->table->spool.records);
        w->rc = w->rc ?: put_lot(h);
        if (w->rc != DP_OK) {
            pthread_mutex_lock(&w->reading);
            w->read = w->rc;
            pthread_mutex_unlock(&w->reading);
        }
        dp_turns_pass(&w->turns);
    }
}

static int write_rows(struct dp_import *import, struct table *table, const struct dp_features *f, struct dp_writer *output,
                      struct dp_writer *test, struct dp_err *err)
{
    const size_t threads = import->threads > 1 ? (size_t)import->threads : 1, most = LOT_BYTES / size_of_row(import, f);
    struct writing w = {.import = import,
                        .table = table,
                        .features = f,
                        .test = test,
                        .output = output,
                        .most = most < 1     ? 1
                                : most < LOT ? most
                                             : LOT,
                        .read = 1,
                        .err = err};
    int rc = start_pass(&w.pass, import, table, err);
    if (rc != DP_OK)
        return rc;
    struct hand *hand = dp_new(threads, sizeof *hand);
    pthread_mutex_init(&w.reading, NULL);
    dp_turns_open(&w.turns);
    for (size_t i = 0; i < threads; i++) {
        hand[i].writing = &w;
        dp_crew_copy(&hand[i].import, import);
        begin_made(&hand[i].made, import, f);
    }
    dp_turns_run(write_lots, hand, sizeof *hand, threads);
    if (w.rc == DP_OK && w.read < 0)
        *err = w.read_err;
    dp_progress_over();
    for (size_t i = 0; i < threads; i++) {
        end_made(&hand[i].made);
        free(hand[i].import.plan.clamped);
        for (size_t k = 0; k < LOT; k++)
            dp_parsed_free(&hand[i].taken[k].record);
    }
    free(hand);
    dp_turns_close(&w.turns);
    pthread_mutex_destroy(&w.reading);
    return w.rc ?: w.read;
}

/* The features of images: they are mapped by threads of their own. */
static int write_images(struct dp_import *import, struct table *table, struct dp_writer *output, struct dp_writer *test,
                        struct dp_err *err)
{
    struct pass pass = {0};
    size_t done = 0;
    int rc = start_pass(&pass, import, table, err);
    while (rc >= 0 && (rc = next_row(&pass, import, table, err)) == 1) {
        dp_progress_rows(done++, table->spool.records);
        rc = dp_image_rows_add(&table->images, &pass.row, pass.training ? output : test, err);
    }
    rc = rc ?: dp_image_rows_flush(&table->images, err);
    dp_progress_over();
    dp_parsed_free(&pass.row);
    return rc;
}

/* Counts the numbers of the rows for --output, and has them noised and paid for. */
static int place_knots(struct dp_import *import, struct table *table, struct dp_err *err)
{
    struct dp_knots knots = {0};
    struct pass pass = {0};
    size_t rows = 0, persons = 0;
    dp_knots_open(&knots, &import->plan.schema);
    if (knots.columns == 0) {
        dp_knots_close(&knots);
        return DP_OK;
    }
    int rc = start_pass(&pass, import, table, err);
    while (rc >= 0 && (rc = next_row(&pass, import, table, err)) == 1) {
        rows += pass.training;
        persons += pass.training && pass.ends;
        if (pass.training)
            dp_knots_add(&knots, &pass.row);
    }
    rc = rc ?: import->place_knots(import->place_self, import, &knots, table->by_person ? persons : rows, err);
    dp_parsed_free(&pass.row);
    dp_knots_close(&knots);
    return rc;
}

/* Adds the names of the columns that make no feature. */
static void put_left_out(const struct dp_schema *schema, json_t *description)
{
    json_t *names = json_array();
    for (size_t i = 0; i < schema->columns; i++)
        if (schema->column[i].type == DP_COLUMN_IGNORE && schema->column[i].name != NULL)
            json_array_append_new(names, json_string(schema->column[i].name));
    json_object_set_new(description, "left_out", names);
}

/* Adds the schema to the description, if it is public. */
static void put_schema(const struct dp_import *import, json_t *description)
{
    json_t *schema = NULL;
    if (import->source.format <= DP_IMPORT_TSV)
        dp_carried_make(&import->plan, import->source.format == DP_IMPORT_TSV, &schema);
    if (schema != NULL)
        json_object_set_new(description, "schema", schema);
}

/* Which part of the table the rows are: dp_join_open reads it. */
static void put_part(const struct dp_import *import, json_t *description)
{
    const struct dp_lines_part *span = &import->result.span;
    json_object_set_new(description, "part",
                        json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "number", (json_int_t)import->source.part, "of",
                                  (json_int_t)import->source.parts, "from", (json_int_t)span->from, "to", (json_int_t)span->to,
                                  "size", (json_int_t)span->size, "modified", (json_int_t)span->modified, "malformed",
                                  (json_int_t)import->result.malformed));
}

/* The data sets that are written. */
struct parts {
    struct dp_writer *output, *test;
};

/* Whether a row may have no label: known without the rows. */
static bool may_have_nulls(const struct dp_import *import)
{
    const struct dp_schema *s = &import->plan.schema;
    return import->source.skip_bad > 0 || (s->label >= 0 && s->column[s->label].unknown_zero);
}

#define LARGE ((size_t)1 << 28) /* bytes: such rows are not worth writing, if they can be made of cells when they are read */

/* Decides whether the data set has cells. rows: how many at most will be written; 0: nobody knows. */
static int choose_storage(struct dp_import *import, const struct dp_features *f, size_t rows, struct dp_err *err)
{
    const char *why = dp_features_no_cells(&import->plan);
    if (why == NULL && import->source.format > DP_IMPORT_TSV)
        why = "the table has no schema";
    if (keeps_cells(import) && why != NULL)
        return dp_fail(err, DP_E_USAGE, "--storage cells: %s", why);
    if (import->wide && why == NULL && rows > LARGE / (f->count * sizeof(float)) && f->count > 2 * f->cells)
        import->writer.storage = DP_STORAGE_CELLS;
    import->writer.cells = f->cells;
    return DP_OK;
}

static int open_parts(struct parts *p, struct dp_import *import, struct dp_features *f, size_t rows, struct dp_err *err)
{
    int rc = dp_features_plan(f, &import->plan, err);
    rc = rc ?: choose_storage(import, f, rows, err);
    import->writer.cols = f->count;
    import->writer.norm = import->plan.norm;
    import->writer.divisor = import->plan.divisor;
    import->writer.step = import->plan.step;
    import->writer.nulls = may_have_nulls(import);
    rc = rc ?: dp_writer_open(&p->output, import->output, &import->writer, err);
    if (rc == DP_OK && import->test != NULL) {
        struct dp_writer_options held_out = import->writer;
        held_out.held_out = true;
        rc = dp_writer_open(&p->test, import->test, &held_out, err);
    }
    return rc;
}

static json_t *description_of(const struct dp_import *import, const struct dp_features *f)
{
    json_t *description = NULL;
    dp_features_describe(f, &import->plan, &description);
    put_schema(import, description);
    if (import->source.format <= DP_IMPORT_TSV)
        put_left_out(&import->plan.schema, description);
    if (import->source.parts > 0)
        put_part(import, description);
    return description;
}

static int finish_parts(struct parts *p, struct dp_import *import, const struct dp_features *f, struct dp_err *err)
{
    json_t *description = description_of(import, f);
    import->result.rows = dp_writer_rows(p->output);
    import->result.persons = dp_writer_persons(p->output);
    int rc = dp_writer_finish(p->output, description, err);
    if (rc == DP_OK && p->test != NULL) {
        import->result.test_rows = dp_writer_rows(p->test);
        import->result.test_persons = dp_writer_persons(p->test);
        rc = dp_writer_finish(p->test, description, err);
    }
    /* Both data sets are complete now: only a rename can still fail. */
    if (rc == DP_OK && p->test != NULL) {
        rc = dp_writer_commit(p->test, err);
        p->test = NULL;
    }
    if (rc == DP_OK) {
        rc = dp_writer_commit(p->output, err);
        p->output = NULL;
    }
    json_decref(description);
    return rc;
}

static void abort_parts(struct parts *p)
{
    dp_writer_abort(p->output);
    dp_writer_abort(p->test);
}

static int write_out(struct dp_import *import, struct table *table, struct dp_features *f, struct dp_err *err)
{
    struct parts p = {0};
    int rc = open_parts(&p, import, f, import->map == DP_MAP_NONE ? table->spool.records : 0, err);
    if (import->map != DP_MAP_NONE)
        rc = rc ?: write_images(import, table, p.output, p.test, err);
    else
        rc = rc ?: write_rows(import, table, f, p.output, p.test, err);
    rc = rc ?: finish_parts(&p, import, f, err);
    abort_parts(&p);
    return rc;
}

/* Computes the identity of the division: imports that divide the same rows in the same way have the same identity. */
static int identify(struct dp_import *import, size_t units, struct dp_err *err)
{
    char text[200];
    int length =
        snprintf(text, sizeof text, "%a %lld %zu %zu %d %d %ld", import->split, import->seed, units, import->source.skip_lines,
                 (int)import->source.format, dp_import_delimiter(import), dp_schema_person(&import->plan.schema));
    if (import->source.comment != 0)
        length += sprintf(text + length, " %d", import->source.comment);
    unsigned char tables[2 * DP_INPUT_DIGEST];
    memcpy(tables, import->result.table, DP_INPUT_DIGEST);
    memcpy(tables + DP_INPUT_DIGEST, import->result.tests, DP_INPUT_DIGEST);
    if (import->test != NULL)
        crypto_generichash(import->result.division, sizeof import->result.division, (const unsigned char *)text, (size_t)length,
                           tables, import->source.tests != NULL ? sizeof tables : DP_INPUT_DIGEST);
    return import->identify != NULL ? import->identify(import->identify_self, import, err) : DP_OK;
}

static int put_in_table(void *self, const struct dp_parsed *record, struct dp_err *err)
{
    struct table *table = self;
    size_t place = 0;
    int rc = table->by_person ? dp_spool_tell(&table->spool, &place, err) : DP_OK;
    if (rc == DP_OK && table->import->map != DP_MAP_NONE && table->spool.records == 0)
        rc = dp_image_rows_start(&table->images, table->import->map, table->import->plan.shape, err);
    if (rc == DP_OK && table->by_person)
        dp_persons_add(&table->persons, record->person, record->person_length, place);
    return rc ?: dp_spool_put(&table->spool, record, err);
}

/* The records that one thread has read. */
struct read {
    struct dp_encoded records;
    bool by_person;
    struct named {
        size_t place, name, length; /* of the record in records, and of its person in names */
    } * named;
    char *names;
    size_t count, named_capacity, used, names_capacity;
};

static void *open_read(void *self)
{
    const struct table *table = self;
    struct read *m = dp_new(1, sizeof *m);
    m->by_person = table->by_person;
    return m;
}

static void close_read(void *maker)
{
    struct read *m = maker;
    free(m->records.bytes);
    free(m->named);
    free(m->names);
    free(m);
}

static int keep_record(void *self, void *maker, struct dp_import *import, const struct dp_parsed *r, struct dp_err *err)
{
    struct read *m = maker;
    (void)self;
    (void)import;
    (void)err;
    if (m->by_person) {
        dp_extend(&m->named, &m->named_capacity, m->count + 1, sizeof *m->named);
        dp_extend(&m->names, &m->names_capacity, m->used + r->person_length + 1, 1);
        m->named[m->count] = (struct named){m->records.used, m->used, r->person_length};
        memcpy(m->names + m->used, r->person, r->person_length);
    }
    dp_spool_encode(&m->records, r);
    if (m->by_person) {
        m->count++;
        m->used += r->person_length;
    }
    return DP_OK;
}

static int take_records(void *self, void *maker, struct dp_err *err)
{
    struct table *table = self;
    struct read *m = maker;
    size_t place = 0;
    int rc = m->by_person ? dp_spool_tell(&table->spool, &place, err) : DP_OK;
    for (size_t i = 0; rc == DP_OK && i < m->count; i++)
        dp_persons_add(&table->persons, m->names + m->named[i].name, m->named[i].length, place + m->named[i].place);
    m->count = m->used = 0;
    return rc ?: dp_spool_append(&table->spool, &m->records, err);
}

/* Only tables with a schema have a column of persons. */
static int check_persons(struct dp_import *import, struct dp_err *err)
{
    const struct dp_schema *s = &import->plan.schema;
    long column = dp_schema_person(s);
    const char *paid_by = json_string_value(json_object_get(s->paid, "person"));
    if (import->writer.rows_per_person == 0)
        import->writer.rows_per_person = s->rows_per_person;
    if (paid_by != NULL && (column < 0 || strcmp(s->column[column].name, paid_by) != 0))
        return dp_fail(err, DP_E_UNSAFE,
                       "the schema was paid for with one row of each person: its column of persons must be '%s'",
                       DP_SHOWN(paid_by));
    if (column >= 0 && s->paid != NULL && paid_by == NULL)
        return dp_fail(
            err, DP_E_UNSAFE,
            "the schema was paid for with one row as one person: it cannot have a column of persons, whose rows have "
            "moved the counts together");
    if (column < 0 && import->writer.rows_per_person > 0)
        return dp_fail(err, DP_E_USAGE, "--rows-per-person: no column of the schema has \"type\": \"person\"");
    if (column >= 0 && import->writer.rows_per_person == 0)
        return dp_fail(
            err, DP_E_USAGE,
            "--rows-per-person is required: column '%s' says whose row it is, and how many rows of one person are kept "
            "at most is a public number that you choose",
            DP_SHOWN(s->column[column].name));
    return DP_OK;
}

/* Groups the rows by person, and drops the rows of a person beyond rows_per_person. */
static void arrange(struct dp_import *import, struct table *table)
{
    size_t before = table->persons.rows;
    dp_persons_arrange(&table->persons, import->writer.rows_per_person);
    import->result.left_out = before - table->persons.rows;
}

int dp_read_table(struct dp_import *import, const struct dp_import_sink *to, struct dp_err *err)
{
    static int (*const readers[])(struct dp_import *, const struct dp_import_sink *,
                                  struct dp_err *) = {dp_read_delimited, dp_read_delimited, dp_read_libsvm, dp_read_arff,
                                                      dp_read_idx,       dp_read_images,    dp_read_arrays, dp_read_arrays};
    return readers[import->source.format](import, to, err);
}

int dp_import_check_rows(const struct dp_import *import, size_t rows, struct dp_err *err)
{
    const char *name = strcmp(import->source.input, "-") == 0 ? "standard input" : import->source.input;
    if (rows > 0)
        return DP_OK;
    return import->source.parts > 0 ? dp_fail(err, DP_E_RUN, "%s: no line begins in part %zu/%zu: make fewer parts", name,
                                              import->source.part, import->source.parts)
                                    : dp_fail(err, DP_E_RUN, "%s: no rows", name);
}

/* Says of which of two tables the notes are. */
static void tell_notes(struct dp_import *import)
{
    char whose[300];
    snprintf(whose, sizeof whose, "dp-import: %.250s", import->source.input);
    dp_lines_tell(&import->result.notes, dp_cli_warn, whose);
    import->result.notes = (struct dp_lines_notes){0};
}

/* Reads the second table, if there is one, after the first. */
static int read_tests(struct dp_import *import, struct table *table, const struct dp_import_sink *to, struct dp_err *err)
{
    const char *input = import->source.input, *encoding = import->result.encoding;
    unsigned char digest[DP_INPUT_DIGEST];
    if (import->source.tests == NULL)
        return DP_OK;
    table->first = table->spool.records;
    if (table->by_person)
        return dp_fail(err, DP_E_USAGE, "%s: a table for tests may have rows of the same persons: --split keeps them apart",
                       import->source.tests);
    tell_notes(import);
    memcpy(digest, import->result.table, sizeof digest);
    free(import->reader.field);
    import->reader.field = NULL;
    import->source.input = import->source.tests;
    int rc = dp_read_table(import, to, err);
    rc = rc ?: dp_import_check_rows(import, table->spool.records - table->first, err);
    tell_notes(import);
    if (rc == DP_OK && memcmp(import->result.table, digest, sizeof digest) == 0)
        rc = dp_fail(err, DP_E_USAGE, "%s: the tests table is the training table (--split keeps a part of it for tests)",
                     import->source.tests);
    import->result.encoding = encoding ?: import->result.encoding;
    memcpy(import->result.tests, import->result.table, sizeof digest);
    memcpy(import->result.table, digest, sizeof digest);
    import->source.input = input;
    return rc;
}

/* Whether something is measured on the rows, because the schema does not state it. */
static bool is_measured(const struct dp_schema *s)
{
    bool measured = s->real_label && s->label_center;
    for (size_t i = 0; !measured && i < s->columns; i++)
        measured = s->column[i].scaling == DP_SCALE_MAX_ABS || s->column[i].fill == DP_FILL_MODE;
    return measured;
}

/* Whether rows can be written as they are read: the schema is known, nothing is measured, and no number of rows is needed. */
static bool is_direct(const struct dp_import *import)
{
    return import->source.format <= DP_IMPORT_TSV && import->test == NULL && import->place_knots == NULL &&
           dp_schema_person(&import->plan.schema) < 0 && !is_measured(&import->plan.schema);
}

struct direct {
    struct dp_import *import;
    struct dp_features features;
    struct parts parts;
};

static int put_directly(void *self, const struct dp_parsed *record, struct dp_err *err)
{
    struct direct *d = self;
    return write_row(d->import, &d->features, record, d->parts.output, err);
}

static void *open_made(void *self)
{
    const struct direct *d = self;
    struct made *m = dp_new(1, sizeof *m);
    begin_made(m, d->import, &d->features);
    return m;
}

static void close_made(void *maker)
{
    end_made(maker);
    free(maker);
}

static int make_row(void *self, void *maker, struct dp_import *import, const struct dp_parsed *r, struct dp_err *err)
{
    const struct direct *d = self;
    return add_made(maker, import, &r, 1, d->parts.output, err);
}

static int take_rows(void *self, void *maker, struct dp_err *err)
{
    const struct direct *d = self;
    struct made *m = maker;
    int rc = dp_writer_put(d->parts.output, m->rows, m->y, m->count, err);
    m->count = 0;
    return rc;
}

static int run_directly(struct dp_import *import, struct dp_err *err)
{
    struct direct d = {.import = import};
    struct dp_import_makers makers = {.open = open_made, .make = make_row, .take = take_rows, .close = close_made};
    const struct dp_import_sink to = {.self = &d, .put = put_directly, .makers = &makers};
    int rc = open_parts(&d.parts, import, &d.features, 0, err);
    makers.row = size_of_row(import, &d.features) + sizeof(double);
    rc = rc ?: dp_read_table(import, &to, err);
    size_t rows = rc == DP_OK ? dp_writer_rows(d.parts.output) : 0;
    rc = rc ?: dp_import_check_rows(import, rows, err);
    rc = rc ?: identify(import, rows, err);
    rc = rc ?: dp_writer_belong(d.parts.output, import->writer.population, err);
    rc = rc ?: finish_parts(&d.parts, import, &d.features, err);
    abort_parts(&d.parts);
    dp_features_free(&d.features, &import->plan.schema);
    return rc;
}

struct joining {
    const struct dp_import *import;
    struct parts parts;
    struct splitter splitter;
};

/* Puts rows that go to the same data set together. */
static int put_joined(void *self, const float *rows, const double *y, size_t count, struct dp_err *err)
{
    struct joining *j = self;
    const size_t cols = j->import->writer.cols;
    const bool splits = j->parts.test != NULL;
    bool next = !splits || goes_to_training(&j->splitter);
    int rc = DP_OK;
    for (size_t from = 0, to = 0; rc == DP_OK && from < count; from = to) {
        const bool training = next;
        for (to = from + 1; to < count && (next = !splits || goes_to_training(&j->splitter)) == training; to++)
            ;
        rc = dp_writer_put(training ? j->parts.output : j->parts.test, rows + from * cols, y + from, to - from, err);
    }
    return rc;
}

/* The rows of parts that other imports have made. */
static int run_joined(struct dp_import *import, struct dp_err *err)
{
    struct joining j = {.import = import};
    struct dp_features f = {0};
    struct dp_join *join = NULL;
    int rc = dp_join_open(&join, import, err);
    rc = rc ?: identify(import, dp_join_rows(join), err);
    rc = rc ?: open_parts(&j.parts, import, &f, 0, err);
    if (rc == DP_OK) {
        json_t *description = description_of(import, &f), *facts;
        dp_writer_describe(j.parts.output, description, &facts);
        rc = dp_join_check(join, facts, err);
        json_decref(facts);
        json_decref(description);
    }
    if (rc == DP_OK && import->test != NULL)
        start_split(import, &j.splitter, dp_join_rows(join));
    rc = rc ?: dp_join_each(join, put_joined, &j, err);
    rc = rc ?: finish_parts(&j.parts, import, &f, err);
    abort_parts(&j.parts);
    dp_features_free(&f, &import->plan.schema);
    dp_join_close(join);
    return rc;
}

/* The rows of a part, or of parts, must not depend on other rows. */
static int check_part(const struct dp_import *import, struct dp_err *err)
{
    const struct dp_schema *s = &import->plan.schema;
    if (dp_schema_person(s) < 0 && !is_measured(s))
        return DP_OK;
    return dp_fail(err, DP_E_USAGE, "--%s: %s, which needs all rows at once", import->joined > 0 ? "join" : "part",
                   is_measured(s) ? "the schema measures something on the rows" : "the schema has a column of persons");
}

/* All other imports: all records are read before a row is written. */
static int run_spooled(struct dp_import *import, struct dp_err *err)
{
    struct table table = {.import = import, .by_person = dp_schema_person(&import->plan.schema) >= 0};
    const struct dp_import_makers makers = {.row = (import->plan.schema.columns + 2) * (sizeof(double) + sizeof(uint32_t)),
                                            .open = open_read,
                                            .make = keep_record,
                                            .take = take_records,
                                            .close = close_read};
    const struct dp_import_sink to = {
        .self = &table, .put = put_in_table, .makers = import->source.format <= DP_IMPORT_TSV ? &makers : NULL};
    struct dp_features f = {0};
    int rc = dp_spool_open(&table.spool, import->output, table.by_person, err);
    if (table.by_person)
        dp_persons_open(&table.persons);
    rc = rc ?: dp_read_table(import, &to, err);
    rc = rc ?: dp_import_check_rows(import, table.spool.records, err);
    if (rc == DP_OK && import->map != DP_MAP_NONE)
        dp_image_rows_open(&table.images, &import->plan);
    else if (rc == DP_OK && is_measured(&import->plan.schema))
        rc = dp_features_measure(&f, &import->plan, &table.spool, err);
    rc = rc ?: read_tests(import, &table, &to, err); /* rows that nothing is measured on */
    if (rc == DP_OK)
        dp_features_note(&import->plan.schema);
    if (rc == DP_OK && table.by_person)
        arrange(import, &table);
    rc = rc ?: identify(import, table.by_person ? table.persons.count : table.spool.records, err);
    if (rc == DP_OK && import->place_knots != NULL)
        rc = place_knots(import, &table, err);
    rc = rc ?: write_out(import, &table, &f, err);
    dp_features_free(&f, &import->plan.schema);
    dp_persons_close(&table.persons);
    dp_image_rows_close(&table.images);
    dp_spool_close(&table.spool);
    return rc;
}

static int run(struct dp_import *import, struct dp_err *err)
{
    int rc = check_persons(import, err);
    if (import->plan.bad_missing)
        dp_schema_accept_missing(&import->plan.schema);
    /* Before knots are paid for. */
    rc = rc ?: dp_writer_check_target(import->output, import->writer.force, err);
    if (rc == DP_OK && import->test != NULL)
        rc = dp_writer_check_target(import->test, import->writer.force, err);
    if (rc == DP_OK && (import->joined > 0 || import->source.parts > 0))
        rc = check_part(import, err);
    if (rc != DP_OK)
        return rc;
    return (import->joined > 0 ? run_joined : is_direct(import) ? run_directly : run_spooled)(import, err);
}

int dp_import_run(struct dp_import *import, struct dp_err *err)
{
    int rc = DP_OK;
#pragma omp parallel if (import->map != DP_MAP_NONE) num_threads(import->threads) /* that map images */
#pragma omp master
    rc = run(import, err);
    return rc;
}

void dp_import_free(struct dp_import *import)
{
    dp_row_plan_free(&import->plan);
    dp_texts_free(&import->result.extra);
    free(import->reader.field);
    import->reader.field = NULL;
}
