#include "data/crew.h"

#include <stdatomic.h>

#include "base/mem.h"
#include "data/lines.h"
#include "data/turns.h"

#define BATCH ((size_t)1 << 18) /* bytes of text */
#define ROWS ((size_t)1 << 21)  /* bytes of rows, if one row is not longer */

struct crew {
    struct dp_import *import;
    const struct dp_import_sink *to;
    struct dp_err *err;
    struct dp_lines *lines; /* guarded by `reading`, as are the next two */
    pthread_mutex_t reading;
    size_t read; /* batches */
    bool ended;
    struct dp_turns turns; /* guards the rest */
    int rc;
    atomic_bool failed;
};

struct record {
    size_t at, length, number; /* in the text; the line */
    bool plain;
};

struct worker {
    struct crew *crew;
    struct dp_import import; /* a copy: the thread counts for itself */
    void *maker;
    struct dp_lines lines; /* splits the records of the batch */
    struct dp_parsed parsed;
    /* The batch. */
    size_t number;
    char *text;
    size_t capacity, records, record_capacity, made;
    struct record *record;
    int last; /* result of the read after the last record; 1: there is more */
    struct dp_err err;
};

/* Takes the next records from the file. */
static void read_batch(struct worker *w)
{
    struct crew *crew = w->crew;
    struct dp_lines *l = crew->lines;
    size_t used = 0, most = ROWS / crew->to->makers->row;
    w->records = w->made = 0;
    w->last = 1;
    while (w->last == 1 && used < BATCH && (w->records == 0 || w->records < most)) {
        w->last = dp_lines_text(l, dp_import_delimiter(&w->import), &w->err);
        if (w->last != 1)
            break;
        dp_extend(&w->text, &w->capacity, used + l->length + 1, 1);
        dp_extend(&w->record, &w->record_capacity, w->records + 1, sizeof *w->record);
        memcpy(w->text + used, l->line, l->length + 1);
        w->record[w->records++] = (struct record){used, l->length, l->number, l->plain};
        used += l->length + 1;
    }
}

static void split(struct worker *w, size_t i)
{
    const struct record *r = &w->record[i];
    w->lines.line = w->text + r->at;
    w->lines.length = r->length;
    w->lines.number = r->number;
    w->lines.plain = r->plain;
    dp_lines_split(&w->lines, dp_import_delimiter(&w->import));
}

/* Makes rows, up to the first record that cannot be made into one. */
static void make_rows(struct worker *w)
{
    const struct dp_import_sink *to = w->crew->to;
    struct dp_err ignored;
    for (int rc = DP_OK; rc == DP_OK && w->made < w->records && !atomic_load(&w->crew->failed); w->made += rc == DP_OK) {
        size_t bad_cells = w->import.result.bad_cells;
        split(w, w->made);
        if (dp_lines_has_row(&w->lines))
            rc = dp_read_record(&w->import, &w->lines, &w->parsed, &ignored);
        if (rc == DP_OK && dp_lines_has_row(&w->lines))
            rc = to->makers->make(to->self, w->maker, &w->import, &w->parsed, &ignored);
        if (rc != DP_OK)
            w->import.result.bad_cells = bad_cells;
    }
}

void dp_crew_copy(struct dp_import *own, const struct dp_import *import)
{
    *own = *import;
    own->result.bad_cells = 0;
    if (import->plan.clamped != NULL)
        own->plan.clamped = dp_new(import->plan.schema.columns, sizeof *import->plan.clamped);
}

void dp_crew_add_counts(struct dp_import *all, struct dp_import *own)
{
    for (size_t i = 0; all->plan.clamped != NULL && i < all->plan.schema.columns; i++) {
        all->plan.clamped[i].all += own->plan.clamped[i].all;
        all->plan.clamped[i].far += own->plan.clamped[i].far;
        own->plan.clamped[i] = (struct dp_beyond){0};
    }
    all->result.bad_cells += own->result.bad_cells;
    own->result.bad_cells = 0;
}

/* Called when it is the turn of the batch: passes on its rows, then its other records one by one, then the way its reading
 * ended. */
static int pass_on(struct worker *w, struct dp_err *err)
{
    const struct dp_import_sink *to = w->crew->to;
    struct dp_import *all = w->crew->import;
    int rc = to->makers->take(to->self, w->maker, err);
    dp_crew_add_counts(all, &w->import);
    for (size_t i = w->made; rc == DP_OK && i < w->records; i++) {
        split(w, i);
        if (dp_lines_has_row(&w->lines))
            rc = dp_import_put(all, to, dp_read_record(all, &w->lines, &w->parsed, err), &w->parsed, err);
    }
    if (rc == DP_OK && w->last < 0) {
        *err = w->err;
        rc = w->last;
    }
    return rc;
}

static void work(void *worker)
{
    struct worker *w = worker;
    struct crew *crew = w->crew;
    for (;;) {
        pthread_mutex_lock(&crew->reading);
        bool more = !crew->ended && !atomic_load(&crew->failed);
        if (more) {
            w->number = crew->read++;
            read_batch(w);
            crew->ended = w->last != 1;
        }
        pthread_mutex_unlock(&crew->reading);
        if (!more)
            return;
        make_rows(w);
        dp_turns_wait(&crew->turns, w->number);
        if (crew->rc == DP_OK)
            crew->rc = pass_on(w, crew->err);
        if (crew->rc != DP_OK)
            atomic_store(&crew->failed, true);
        dp_turns_pass(&crew->turns);
    }
}

static void open_worker(struct worker *w, struct crew *crew)
{
    const struct dp_import *import = crew->import;
    w->crew = crew;
    dp_crew_copy(&w->import, import);
    w->lines.name = crew->lines->name;
    w->maker = crew->to->makers->open(crew->to->self);
}

static void close_worker(struct worker *w)
{
    w->crew->to->makers->close(w->maker);
    free(w->import.plan.clamped);
    free(w->text);
    free(w->record);
    free(w->lines.buffer);
    free(w->lines.field);
    dp_parsed_free(&w->parsed);
}

int dp_crew_read(struct dp_import *import, struct dp_lines *lines, const struct dp_import_sink *to, struct dp_err *err)
{
    struct crew crew = {.import = import, .to = to, .err = err, .lines = lines};
    size_t count = import->threads > 1 ? (size_t)import->threads : 1;
    struct worker *worker = dp_new(count, sizeof *worker);
    pthread_mutex_init(&crew.reading, NULL);
    dp_turns_open(&crew.turns);
    for (size_t i = 0; i < count; i++)
        open_worker(&worker[i], &crew);
    dp_turns_run(work, worker, sizeof *worker, count);
    for (size_t i = 0; i < count; i++)
        close_worker(&worker[i]);
    free(worker);
    dp_turns_close(&crew.turns);
    pthread_mutex_destroy(&crew.reading);
    return crew.rc;
}
