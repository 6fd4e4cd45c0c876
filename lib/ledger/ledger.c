#include "ledger/ledger.h"

#include <fcntl.h>
#include <sodium.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/round.h"
#include "base/version.h"
#include "ledger/charge_json.h"
#include "ledger/limit.h"
#include "ledger/sum.h"
#include "priv/rdp.h"

struct dp_ledger {
    char *path;
    int fd;
    struct dp_ledger_book book;
    char run[DP_LEDGER_RUN + 1];
    char mark[DP_LEDGER_MARK];
    char *last; /* the last line of the book, to check that the file still has it */
    size_t last_length, last_capacity;
    struct dp_ledger_costs costs;
    int64_t affords;
    size_t tight; /* number of the budget that affords no more */
    bool broken;  /* the run cannot reserve anything more */
};

/* --- lines to be written ----------------------------------------------------------------------------- */

struct batch {
    char *text;
    size_t length, capacity, last; /* last: offset of the last line */
    size_t seq;
    int64_t format; /* format of the lines so far */
    char prev[DP_LEDGER_HASH + 1];
};

static void batch_start(struct batch *batch, const struct dp_ledger_book *book)
{
    *batch = (struct batch){.seq = book->lines, .format = book->format};
    snprintf(batch->prev, sizeof batch->prev, "%s", dp_ledger_book_hash(book));
}

static int batch_add(struct batch *batch, json_t *members, struct dp_err *err)
{
    char hash[DP_LEDGER_HASH + 1], *text;
    size_t length;
    if (batch->format < DP_LEDGER_FORMAT)
        json_object_set_new(members, "format", json_integer(DP_LEDGER_FORMAT));
    batch->format = DP_LEDGER_FORMAT;
    int rc = dp_ledger_line(members, batch->seq + 1, batch->prev, &text, &length, hash, err);
    if (rc == DP_OK) {
        dp_extend(&batch->text, &batch->capacity, batch->length + length, 1);
        memcpy(batch->text + batch->length, text, length);
        batch->last = batch->length;
        batch->length += length;
        batch->seq++;
        memcpy(batch->prev, hash, sizeof hash);
    }
    free(text);
    return rc;
}

static json_t *charges_line(const char *kind, const char *run, const struct dp_charges *charges)
{
    return json_pack("{s:s, s:s, s:o}", "kind", kind, "run", run, "charges", dp_ledger_charges_json(charges));
}

/* --- the file ----------------------------------------------------------------------------------------------------- */

static int put(int fd, const char *text, size_t length, size_t at)
{
    while (length > 0) {
        ssize_t n = pwrite(fd, text, length, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        text += n;
        at += (size_t)n;
        length -= (size_t)n;
    }
    return 0;
}

/* The file at the path must still be the file that is open, with its last known line in its place. */
static int check_unchanged(const struct dp_ledger *l, struct dp_err *err)
{
    struct stat file, named;
    if (fstat(l->fd, &file) != 0)
        return dp_fail_errno(err, errno, "cannot read the ledger %s", l->path);
    if (lstat(l->path, &named) != 0 || named.st_dev != file.st_dev || named.st_ino != file.st_ino)
        return dp_fail(err, DP_E_UNSAFE, "the ledger %s was moved or replaced while a run was writing to it", l->path);
    if ((size_t)file.st_size < l->book.end)
        return dp_fail(err, DP_E_UNSAFE, "the ledger %s was rolled back while a run was writing to it", l->path);
    if (l->last_length == 0)
        return DP_OK;
    int rc = DP_OK;
    char *now = dp_new(l->last_length, 1);
    ssize_t n = pread(l->fd, now, l->last_length, (off_t)(l->book.end - l->last_length));
    if (n < 0)
        rc = dp_fail_errno(err, errno, "cannot read the ledger %s", l->path);
    else if ((size_t)n != l->last_length || memcmp(now, l->last, l->last_length) != 0)
        rc = dp_fail(err, DP_E_UNSAFE, "line %zu of the ledger %s was changed while a run was writing to it", l->book.lines,
                     l->path);
    free(now);
    return rc;
}

static int note_last(struct dp_ledger *l, struct dp_err *err)
{
    size_t length = l->book.last_length;
    dp_extend(&l->last, &l->last_capacity, length, 1);
    if (length > 0 && pread(l->fd, l->last, length, (off_t)(l->book.end - length)) != (ssize_t)length)
        return dp_fail(err, DP_E_RUN, "cannot read the ledger %s", l->path);
    l->last_length = length;
    return DP_OK;
}

/* Locks, and reads what others have written since. */
static int begin(struct dp_ledger *l, struct dp_err *err)
{
    int rc = dp_ledger_lock(l->fd, LOCK_EX, l->path, err);
    rc = rc ?: check_unchanged(l, err);
    rc = rc ?: dp_ledger_book_fill(&l->book, l->fd, err);
    rc = rc ?: note_last(l, err);
    return rc;
}

/* The same, when the file is opened. */
static int begin_anew(struct dp_ledger *l, struct dp_err *err)
{
    int rc = begin(l, err);
    rc = rc ?: dp_ledger_beside_check(&l->book, l->path, err);
    return rc ?: dp_ledger_beside_begin(&l->book, l->path, err);
}

static void end(struct dp_ledger *l)
{
    flock(l->fd, LOCK_UN);
}

/* Checks the lines against all before them. */
static int accept(struct dp_ledger *l, const struct batch *batch, struct dp_err *err)
{
    return dp_ledger_book_take(&l->book, batch->text, batch->length, err);
}

/* Writes and syncs lines that were accepted; at: where the book ended before them. Under the lock. */
static int write_down(struct dp_ledger *l, const struct batch *batch, size_t at, bool torn, struct dp_err *err)
{
    if (torn && ftruncate(l->fd, (off_t)at) != 0)
        return dp_fail_errno(err, errno, "cannot cut an unfinished line off the ledger %s", l->path);
    dp_extend(&l->last, &l->last_capacity, l->book.last_length, 1);
    l->last_length = l->book.last_length;
    memcpy(l->last, batch->text + batch->last, l->last_length);
    if (put(l->fd, batch->text, batch->length, at) != 0) {
        int why = errno;
        if (ftruncate(l->fd, (off_t)at) != 0)
            l->broken = true; /* the next writer cuts it off */
        return dp_fail_errno(err, why, "cannot write to the ledger %s", l->path);
    }
    if (fsync(l->fd) != 0)
        return dp_fail_errno(err, errno, "cannot sync the ledger %s", l->path);
    snprintf(l->mark, sizeof l->mark, "%s:%zu:%s", l->run, l->book.lines, dp_ledger_book_hash(&l->book));
    return DP_OK;
}

static int append(struct dp_ledger *l, const struct batch *batch, struct dp_err *err)
{
    size_t at = l->book.end;
    bool torn = l->book.torn;
    int rc = accept(l, batch, err);
    return rc ?: write_down(l, batch, at, torn, err);
}

/* Appends a line with these members. */
static int append_line(struct dp_ledger *l, json_t *members, struct dp_err *err)
{
    struct batch batch;
    batch_start(&batch, &l->book);
    int rc = batch_add(&batch, members, err);
    rc = rc ?: append(l, &batch, err);
    free(batch.text);
    return rc;
}

static int new_ledger(struct dp_ledger **ledger, const char *path, bool create, struct dp_err *err)
{
    *ledger = NULL;
    if (sodium_init() < 0)
        return dp_fail(err, DP_E_RUN, "cannot initialise libsodium");
    struct dp_ledger *l = dp_new(1, sizeof *l);
    l->fd = -1;
    l->path = dp_got(strdup(path));
    l->book.path = l->path;
    l->affords = INT64_MAX;
    int rc = dp_ledger_open_file(path, O_RDWR | (create ? O_CREAT : 0), err);
    if (rc < 0) {
        dp_ledger_free(l);
        return rc;
    }
    l->fd = rc;
    *ledger = l;
    return DP_OK;
}

void dp_ledger_free(struct dp_ledger *l)
{
    if (l == NULL)
        return;
    if (l->fd >= 0)
        close(l->fd);
    dp_ledger_book_free(&l->book);
    free(l->path);
    free(l->last);
    dp_ledger_costs_free(&l->costs);
    free(l);
}

/* --- opening ------------------------------------------------------------------------------------------------------ */

static int check_run(const struct dp_ledger_run *run, struct dp_err *err)
{
    if (run->data == NULL || run->data[0] == '\0' || run->rows < 1)
        return dp_fail(err, DP_E_UNSAFE, "a run whose data set has no digest or no rows cannot be kept in a ledger");
    if (run->adjacency == NULL || (strcmp(run->adjacency, "null-record") != 0 && strcmp(run->adjacency, "replace-one") != 0))
        return dp_fail(err, DP_E_UNSAFE, "a run without an adjacency cannot be kept in a ledger");
    if (!(run->epsilon > 0 && isfinite(run->epsilon) && run->delta > 0 && run->delta < 1))
        return dp_fail(err, DP_E_RUN, "a run in a ledger needs a finite epsilon above 0 and a delta in (0, 1)");
    if (!(run->init.epsilon >= 0 && isfinite(run->init.epsilon) && run->init.delta >= 0 && run->init.delta <= 1))
        return dp_fail(err, DP_E_RUN, "the model to start from states an impossible cost");
    if (run->laps > 0 && (run->plan == NULL || run->order > 0))
        return dp_fail(err, DP_E_RUN, "a run that knows its laps has to say what they are");
    if (run->order != 0 && !(run->order > 1 && isfinite(run->order)))
        return dp_fail(err, DP_E_RUN, "the filter of a run needs a finite order above 1, got %g", run->order);
    if (run->order != 0 && dp_rdp_penalty(run->order, run->delta) >= run->epsilon)
        return dp_fail(err, DP_E_RUN, "at order %g and delta = %g nothing fits into epsilon = %g", run->order, run->delta,
                       run->epsilon);
    return DP_OK;
}

static json_t *open_line(const struct dp_ledger_run *run, const char *id, bool addition)
{
    bool prior = run->init.epsilon > 0, named = run->population != NULL && run->population[0] != '\0';
    return json_pack("{s:s, s:s, s:s, s:I, s:s, s:f, s:f, s:b, s:s, s:s, s:o*, s:s*, s:s*, s:s*, s:s*, s:s*, s:o*, s:o*, "
                     "s:o*, s:o*, s:o*}",
                     "kind", "open", "run", id, "data", run->data, "rows", (json_int_t)run->rows, "adjacency", run->adjacency,
                     "epsilon", run->epsilon, "delta", run->delta, "seeded", run->seeded, "private_preprocessing",
                     run->preprocessing != NULL ? run->preprocessing : "", "software", "dpline " DP_VERSION, "time",
                     run->time != 0 ? json_integer(run->time) : NULL, "population", named ? run->population : NULL, "unit",
                     run->unit, "public_start", run->public_start, "init", run->init.mark, "resumes", run->resumes,
                     "prior_epsilon", prior ? json_real(run->init.epsilon) : NULL, "prior_delta",
                     prior ? json_real(run->init.delta) : NULL, "order", run->order > 0 ? json_real(run->order) : NULL,
                     "addition", addition ? json_true() : NULL, "with_schema", run->with != NULL ? json_true() : NULL);
}

static const char *population_of(const struct dp_ledger_run *run)
{
    return run->population != NULL && run->population[0] != '\0' ? run->population : run->data;
}

static int check_resumed(const struct dp_ledger *l, const struct dp_ledger_run *run, struct dp_err *err)
{
    struct dp_ledger_entry *from;
    const struct dp_ledger_entry now = {.of.data = run->data,
                                        .of.population = population_of(run),
                                        .of.adjacency = run->adjacency,
                                        .of.unit = run->unit,
                                        .of.rows = run->rows,
                                        .epsilon = run->epsilon,
                                        .delta = run->delta,
                                        .order = run->order,
                                        .seeded = run->seeded};
    int rc = dp_ledger_book_checkpoint(&l->book, run->resumes, run->earlier, &from, err);
    if (rc == DP_OK && !dp_ledger_same_run(from, &now))
        rc = dp_fail(err, DP_E_UNSAFE, "the run differs from the run that it resumes in the ledger %s", l->path);
    return rc;
}

/* Checks the run before its line is in the book: at this point a mistake is the user's, but once the line is in the book, a
 * reader would call it an edit. */
static int check_place(struct dp_ledger *l, const struct dp_ledger_run *run, struct dp_err *err)
{
    struct dp_ledger_entry *from;
    size_t at = 0;
    int rc = DP_OK;
    if (run->resumes != NULL)
        rc = check_resumed(l, run, err);
    if (rc == DP_OK && run->init.mark != NULL)
        rc = dp_ledger_book_mark(&l->book, run->init.mark, &from, err);
    if (rc == DP_OK && run->init.mark != NULL && run->init.model != NULL)
        rc = dp_ledger_book_model(&l->book, run->init.mark, run->init.lap, run->init.model, NULL, err);
    while (rc == DP_OK) {
        const struct dp_ledger_limit *limit = dp_ledger_book_limit(&l->book, population_of(run), run->data, &at);
        if (limit == NULL)
            break;
        if (strcmp(limit->adjacency, run->adjacency) != 0)
            rc = dp_fail(err, DP_E_UNSAFE,
                         "the population has a budget under %s adjacency in the ledger %s, the run is under %s",
                         limit->adjacency, l->path, run->adjacency);
        else if (dp_ledger_limit_persons(&l->book, limit) == (run->unit == NULL))
            rc = dp_fail(
                err, DP_E_UNSAFE,
                "the budget of %.60s in the ledger %s is about %s, and the run is about %s: what they cost does not add up",
                limit->population, l->path, run->unit == NULL ? "persons with several rows" : "rows",
                run->unit == NULL ? "rows" : "persons with several rows");
        else if (run->init.epsilon > 0 && !run->init.elsewhere)
            rc = dp_fail(
                err, DP_E_UNSAFE,
                "the model to start from has cost epsilon = %g, which the budget of %.60s in the ledger %s does not have: it "
                "was trained without that ledger",
                run->init.epsilon, limit->population, l->path);
    }
    return rc;
}

/* The error for a run that does not fit, with the largest run that does. */
static int refuse(struct dp_ledger *l, const struct dp_ledger_limit *limit, const struct dp_ledger_run *run, int64_t affords,
                  struct dp_err *err)
{
    struct dp_ledger_entry *self = dp_ledger_book_find(&l->book, l->run);
    struct dp_ledger_counted counted;
    double fits = 0;
    bool holds = self->holds;
    char what[96];
    self->holds = false; /* the run itself has spent nothing, also not for its schema */
    const size_t number = 1 + (size_t)(self - l->book.entry);
    for (size_t i = 0; i < l->book.entries; i++)
        if (l->book.entry[i].within == number)
            l->book.entry[i].within = 0;
    int rc = dp_ledger_limit_epsilon(&l->book, limit, &l->costs, &counted, err);
    rc = rc ?: dp_ledger_limit_fitting(&l->book, limit, self, run, &fits, err);
    self->holds = holds;
    if (rc != DP_OK)
        return rc;
    if (fits > 0)
        snprintf(what, sizeof what, "%s a run of --epsilon %g fits", holds ? "such" : "and with as many laps", fits);
    else
        snprintf(what, sizeof what, "and no %s fits at delta = %g", holds ? "such run" : "run of as many laps", run->delta);
    if (holds)
        return dp_fail(err, DP_E_UNSAFE,
                       "the budget of epsilon = %g for %.60s in the ledger %s has no room for the whole budget of a run whose "
                       "noise is chosen as it goes; epsilon %.4g of it is spent, %s",
                       limit->epsilon, limit->population, l->path, counted.epsilon, what);
    return dp_fail(
        err, DP_E_UNSAFE,
        "the budget of epsilon = %g for %.60s in the ledger %s affords %lld of the run's %lld laps%s; epsilon %.4g of "
        "it is spent, %s",
        limit->epsilon, limit->population, l->path, (long long)affords, (long long)run->laps,
        affords > 0 ? " (--partial lets it run that far)" : "", counted.epsilon, what);
}

/* *affords: how much of the run the limit has room for. A run that is not of laps fits as a whole or not at all. */
static int room(struct dp_ledger *l, const struct dp_ledger_limit *limit, const struct dp_ledger_run *run, int64_t *affords,
                struct dp_err *err)
{
    const struct dp_ledger_entry *self = dp_ledger_book_find(&l->book, l->run);
    const struct dp_charges none = {0}, *charges = run->charges != NULL ? run->charges : &none;
    bool yes = true;
    int rc = DP_OK;
    if (run->laps > 0)
        return dp_ledger_limit_run(&l->book, limit, &l->costs, self, run, affords, err);
    if (self->holds || run->charges != NULL)
        rc = dp_ledger_limit_admits(&l->book, limit, &l->costs, self, charges, true, &yes, err);
    *affords = yes ? INT64_MAX : 0;
    return rc;
}

int dp_ledger_spent(const struct dp_ledger *l, struct dp_err *err)
{
    const struct dp_ledger_limit *limit = &l->book.limit[l->tight];
    return dp_fail(err, DP_E_BUDGET, "the budget of epsilon = %g for %.60s, over all its runs in the ledger %s, is spent",
                   limit->epsilon, limit->population, l->path);
}

/* *fits: the budgets of the population cover the run; otherwise *err says how much they cover. */
static int check_room(struct dp_ledger *l, const struct dp_ledger_run *run, bool *fits, struct dp_err *err)
{
    const struct dp_ledger_entry *self = dp_ledger_book_find(&l->book, l->run);
    const struct dp_ledger_limit *limit;
    size_t at = 0;
    int rc = DP_OK;
    *fits = true;
    l->affords = INT64_MAX;
    while (rc == DP_OK && (limit = dp_ledger_book_limit(&l->book, self->of.population, self->of.data, &at)) != NULL) {
        int64_t affords;
        rc = room(l, limit, run, &affords, err);
        if (rc != DP_OK || affords >= (run->laps > 0 ? run->laps : 1) || affords >= l->affords)
            continue;
        l->affords = affords;
        l->tight = (size_t)(limit - l->book.limit);
        if (*fits)
            rc = run->charges != NULL ? dp_ledger_spent(l, err) : refuse(l, limit, run, affords, err);
        rc = rc == DP_E_UNSAFE || rc == DP_E_BUDGET ? DP_OK : rc;
        *fits = false;
    }
    return rc;
}

/* Takes the open line of the run into the book, in place of an earlier attempt if there was one; the line is in *batch. */
static int note_open(struct dp_ledger *l, const struct dp_ledger_run *run, bool addition, struct batch *batch,
                     struct dp_err *err)
{
    int rc = DP_OK;
    if (batch->text != NULL) { /* an earlier attempt changed the book: read it from the file again */
        dp_ledger_book_free(&l->book);
        l->book.path = l->path;
        rc = dp_ledger_book_fill(&l->book, l->fd, err);
    }
    free(batch->text);
    batch_start(batch, &l->book);
    rc = rc ?: batch_add(batch, open_line(run, l->run, addition), err);
    rc = rc ?: accept(l, batch, err);
    if (rc != DP_OK || run->with == NULL)
        return rc;
    const char *why = dp_ledger_book_join(&l->book, dp_ledger_book_find(&l->book, l->run), run->with);
    return why == NULL
               ? DP_OK
               : dp_fail(err, DP_E_UNSAFE, "the schema has not cost in the ledger %s what its data set says: %s", l->path, why);
}

/* *fits: the budgets of the population also cover the composition of this run with a later one. */
static int check_later(struct dp_ledger *l, const struct dp_ledger_run *run, bool *fits, struct dp_err *err)
{
    struct dp_ledger_entry *self = dp_ledger_book_find(&l->book, l->run);
    const struct dp_event event = dp_event_gaussian(DP_SAMPLING_NONE, 1, run->later.multiplier, 0);
    const double epsilon = self->epsilon, delta = self->delta;
    const struct dp_ledger_limit *limit;
    struct dp_charges both = {0};
    size_t at = 0;
    *fits = true;
    if (!(run->later.epsilon > 0))
        return DP_OK;
    int rc = dp_charges_add(&both, &event, 1, err);
    self->epsilon = run->later.epsilon;
    self->delta = run->later.delta;
    while (rc == DP_OK && *fits && (limit = dp_ledger_book_limit(&l->book, self->of.population, self->of.data, &at)) != NULL)
        rc = dp_ledger_limit_admits(&l->book, limit, &l->costs, self, &both, true, fits, err);
    self->epsilon = epsilon;
    self->delta = delta;
    dp_charges_free(&both);
    return rc;
}

/* Opens the run in the book, or says why it does not fit. A run that fits in no other way chooses addition only, which a used
 * budget refuses. */
static int admit(struct dp_ledger *l, const struct dp_ledger_run *run, struct batch *batch, struct dp_err *err)
{
    bool fits = false, later = true, adds = false;
    struct dp_err why = {0}, unused = {0};
    int rc = note_open(l, run, false, batch, err);
    rc = rc ?: check_room(l, run, &fits, &why);
    rc = rc ?: fits ? check_later(l, run, &later, err) : DP_OK;
    int64_t affords = l->affords;
    if (rc == DP_OK && !(fits && later) && run->resumes == NULL)
        adds = note_open(l, run, true, batch, &unused) == DP_OK && check_room(l, run, &adds, &unused) == DP_OK && adds &&
               (later || (check_later(l, run, &later, &unused) == DP_OK && later));
    if (rc == DP_OK && fits && !later)
        rc = note_open(l, run, false, batch, err);
    if (rc == DP_OK && !fits && !adds) {
        rc = run->partial && run->laps > 0 ? note_open(l, run, false, batch, err)
             : run->charges != NULL        ? DP_E_BUDGET
                                           : DP_E_UNSAFE;
        l->affords = affords;
    }
    if (rc != DP_OK && why.message[0] != '\0')
        *err = why;
    return rc;
}

/* The caller has counted what the run had released before it was resumed. Since then the process that was resumed may have
 * written another checkpoint, and released more. */
static int check_base(const struct dp_ledger *l, const struct dp_ledger_run *run, struct dp_err *err)
{
    struct dp_charges now = {0};
    if (run->resumes == NULL || run->base == NULL)
        return DP_OK;
    int rc = dp_ledger_entry_base(dp_ledger_book_find(&l->book, l->run), &now, err);
    bool same = now.count == run->base->count;
    for (size_t i = 0; same && i < now.count; i++)
        same = dp_charges_laps(run->base, &now.charge[i].event) == now.charge[i].laps;
    dp_charges_free(&now);
    if (rc == DP_OK && !same)
        rc = dp_fail(err, DP_E_UNSAFE, "the run made another checkpoint in the ledger %s while it was resumed: resume that one",
                     l->path);
    return rc;
}

/* Adds the plan of the run behind its open line: both are one append. */
static int add_plan(struct dp_ledger *l, const struct dp_ledger_run *run, struct batch *batch, struct dp_err *err)
{
    struct dp_charges plan = {0};
    int64_t laps = l->affords < run->laps ? l->affords : run->laps;
    int rc = DP_OK;
    if (run->laps > 0)
        rc = dp_ledger_limit_whole(dp_ledger_book_find(&l->book, l->run), run, laps, &plan, err);
    const struct dp_charges *charges = run->charges != NULL ? run->charges : &plan;
    size_t from = batch->length;
    if (rc == DP_OK && charges->count > 0) {
        rc = batch_add(batch, charges_line("plan", l->run, charges), err);
        rc = rc ?: dp_ledger_book_take(&l->book, batch->text + from, batch->length - from, err);
    }
    dp_charges_free(&plan);
    return rc;
}

static void name_run(struct dp_ledger *l)
{
    unsigned char id[DP_LEDGER_RUN / 2];
    randombytes_buf(id, sizeof id);
    sodium_bin2hex(l->run, sizeof l->run, id, sizeof id);
}

static int open_run(struct dp_ledger *l, const struct dp_ledger_run *run, struct dp_err *err)
{
    struct batch batch = {0};
    int rc = begin_anew(l, err);
    rc = rc ?: check_place(l, run, err);
    if (rc != DP_OK)
        return rc;
    name_run(l);
    size_t at = l->book.end;
    bool torn = l->book.torn;
    rc = admit(l, run, &batch, err);
    rc = rc ?: check_base(l, run, err);
    rc = rc ?: add_plan(l, run, &batch, err);
    rc = rc ?: write_down(l, &batch, at, torn, err);
    rc = rc ?: dp_ledger_beside_write(l->path, l->mark, err);
    free(batch.text);
    end(l);
    return rc;
}

int dp_ledger_open(struct dp_ledger **ledger, const char *path, const struct dp_ledger_run *run, struct dp_err *err)
{
    struct dp_ledger *l;
    *ledger = NULL;
    int rc = check_run(run, err);
    /* A ledger that must have a mark has to exist. */
    rc = rc ?: new_ledger(&l, path, run->init.mark == NULL && run->resumes == NULL, err);
    if (rc != DP_OK)
        return rc;
    rc = open_run(l, run, err);
    if (rc != DP_OK) {
        dp_ledger_free(l);
        return rc;
    }
    *ledger = l;
    return DP_OK;
}

static json_t *stated_line(const struct dp_ledger_run *run, const struct dp_ledger_statement *s, const char *id)
{
    const struct dp_charge charge = {
        {.sampling = DP_SAMPLING_NONE, .rate = 1, .queries = 1, .query = {s->release}},
        1,
    };
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:s, s:f, s:f, s:s, s:o, s:s, s:o*, s:s*}", "kind", "stated", "run", id,
                     "what", s->what, "data", run->data, "population", population_of(run), "rows", (json_int_t)run->rows,
                     "adjacency", run->adjacency, "epsilon", run->epsilon, "delta", run->delta, "accountant",
                     dp_accountant_names[s->by], "charge", dp_charge_to_json(&charge), "software", "dpline " DP_VERSION, "time",
                     run->time != 0 ? json_integer(run->time) : NULL, "unit", run->unit);
}

/* Says so if a budget of these people is spent by more than all of it. */
static int note_over(struct dp_ledger *l, const struct dp_ledger_run *run, char over[DP_ERR_MESSAGE_SIZE], struct dp_err *err)
{
    const struct dp_ledger_limit *limit;
    size_t at = 0;
    int rc = DP_OK;
    over[0] = '\0';
    while (rc == DP_OK && (limit = dp_ledger_book_limit(&l->book, population_of(run), run->data, &at)) != NULL) {
        struct dp_ledger_counted counted;
        rc = dp_ledger_limit_epsilon(&l->book, limit, &l->costs, &counted, err);
        if (rc == DP_OK && counted.epsilon > limit->epsilon * (1 + 0x1p-40))
            snprintf(
                over, DP_ERR_MESSAGE_SIZE,
                "with this release the budget of epsilon = %g for %.60s in the ledger %.200s is spent, and more than that: "
                "it has room for no run",
                limit->epsilon, limit->population, l->path);
    }
    return rc;
}

/* Nothing takes a line back, so the same release is not written twice by mistake. */
static int check_new(const struct dp_ledger *l, const struct dp_ledger_run *run, const char *what, struct dp_err *err)
{
    size_t who = dp_ledger_book_who(&l->book, population_of(run));
    for (size_t i = 0; i < l->book.entries; i++) {
        const struct dp_ledger_entry *e = &l->book.entry[i];
        if (e->stated != NULL && strcmp(e->stated, what) == 0 && dp_ledger_book_root(&l->book, e->of.who) == who)
            return dp_fail(err, DP_E_RUN,
                           "the ledger %s has a release of these people by this name already; another one needs "
                           "another name",
                           l->path);
    }
    return DP_OK;
}

static int state(struct dp_ledger *l, const struct dp_ledger_run *run, const struct dp_ledger_statement *s,
                 char over[DP_ERR_MESSAGE_SIZE], struct dp_err *err)
{
    int rc = begin_anew(l, err);
    rc = rc ?: check_place(l, run, err);
    rc = rc ?: check_new(l, run, s->what, err);
    if (rc != DP_OK)
        return rc;
    name_run(l);
    rc = append_line(l, stated_line(run, s, l->run), err);
    rc = rc ?: dp_ledger_beside_write(l->path, l->mark, err);
    rc = rc ?: note_over(l, run, over, err);
    end(l);
    return rc;
}

int dp_ledger_state(struct dp_ledger **ledger, const char *path, const struct dp_ledger_run *run,
                    const struct dp_ledger_statement *statement, char over[DP_ERR_MESSAGE_SIZE], struct dp_err *err)
{
    struct dp_ledger *l;
    *ledger = NULL;
    int rc = new_ledger(&l, path, true, err);
    if (rc != DP_OK)
        return rc;
    rc = state(l, run, statement, over, err);
    l->broken = true; /* it reserves nothing */
    if (rc == DP_OK)
        *ledger = l;
    else
        dp_ledger_free(l);
    return rc;
}

int64_t dp_ledger_affords(const struct dp_ledger *ledger)
{
    return ledger->affords;
}

int dp_ledger_resumed(const char *path, const char *mark, bool earlier, struct dp_charges *used, struct dp_charges *base,
                      struct dp_err *err)
{
    struct dp_ledger_book book = {0};
    struct dp_ledger_entry *entry;
    struct dp_ledger_place place;
    int rc = dp_ledger_book_read(&book, path, err);
    rc = rc ?: dp_ledger_place_read(mark, &place, err);
    rc = rc ?: dp_ledger_book_checkpoint(&book, mark, earlier, &entry, err);
    if (rc == DP_OK && !dp_ledger_entry_resume(entry, place.seq))
        rc = dp_fail(err, DP_E_RUN, "the run has too many laps to account for");
    rc = rc ?: dp_charges_add_all(used, dp_charges_continue, &entry->stops.newest.used, err);
    rc = rc ?: dp_ledger_entry_base(entry, base, err);
    dp_ledger_book_free(&book);
    return rc;
}

static void add_up(double *sum, double more)
{
    if (more > 0)
        *sum = *sum > 0 ? (*sum + more) * (1 + 0x1p-52) : more;
}

int dp_ledger_prior(const struct dp_ledger *l, double *epsilon, double *delta, struct dp_err *err)
{
    const struct dp_ledger_entry *e = dp_ledger_book_find(&l->book, l->run);
    int rc = DP_OK;
    *epsilon = *delta = 0;
    while (rc == DP_OK && (e = dp_ledger_book_parent(&l->book, e)) != NULL) {
        struct dp_answer answer;
        rc = dp_ledger_run_epsilon(e, &answer, err);
        add_up(epsilon, answer.upper);
        add_up(epsilon, e->start.epsilon);
        add_up(delta, e->delta);
        add_up(delta, e->start.delta);
    }
    return rc;
}

const char *dp_ledger_mark(const struct dp_ledger *ledger)
{
    return ledger->mark;
}

const char *dp_ledger_run_id(const struct dp_ledger *ledger)
{
    return ledger->run;
}

/* --- paying ------------------------------------------------------------------------------------------------------- */

/* Checks that the run still belongs to this process. */
static int check_own(const struct dp_ledger *l, struct dp_err *err)
{
    const struct dp_ledger_entry *self = dp_ledger_book_find(&l->book, l->run);
    return self != NULL && self->close == NULL
               ? DP_OK
               : dp_fail(err, DP_E_UNSAFE, "the run was resumed by another process, by the ledger %s", l->path);
}

/* Checks that the budgets have room for further laps of the run. */
static int check_more(struct dp_ledger *l, const struct dp_event *event, int64_t laps, struct dp_err *err)
{
    const struct dp_ledger_entry *self = dp_ledger_book_find(&l->book, l->run);
    const struct dp_ledger_limit *limit;
    struct dp_charges all = {0};
    size_t at = 0;
    bool yes = true;
    int rc = DP_OK;
    for (size_t i = 0; rc == DP_OK && i < self->paid.count; i++) {
        const struct dp_charge *paid = &self->paid.charge[i];
        rc = dp_event_may_follow(event, &paid->event, paid->laps)
                 ? dp_charges_continue(&all, &paid->event, paid->laps, err)
                 : dp_fail(err, DP_E_UNSAFE, "a run with shuffled epochs must not change its mechanism within an epoch");
    }
    rc = rc ?: dp_charges_continue(&all, event, laps, err);
    while (rc == DP_OK && yes && (limit = dp_ledger_book_limit(&l->book, self->of.population, self->of.data, &at)) != NULL) {
        rc = dp_ledger_limit_admits(&l->book, limit, &l->costs, self, &all, false, &yes, err);
        if (rc == DP_OK && !yes)
            rc = dp_fail(
                err, DP_E_BUDGET,
                "the budget of epsilon = %g for %.60s, over all its runs in the ledger %s, affords fewer than %lld laps "
                "more",
                limit->epsilon, limit->population, l->path, (long long)laps);
    }
    dp_charges_free(&all);
    return rc;
}

int dp_ledger_reserve(struct dp_ledger *l, const struct dp_event *event, int64_t laps, struct dp_err *err)
{
    const struct dp_charge more = {*event, laps};
    if (l->broken)
        return dp_fail(err, DP_E_RUN, "the run has ended in the ledger %s", l->path);
    if (laps < 1)
        return dp_fail(err, DP_E_RUN, "cannot reserve %lld laps", (long long)laps);
    int rc = dp_event_check(event, err);
    rc = rc ?: begin(l, err);
    rc = rc ?: check_own(l, err);
    rc = rc ?: check_more(l, event, laps, err);
    rc = rc
             ?: append_line(
                    l, json_pack("{s:s, s:s, s:o}", "kind", "reserve", "run", l->run, "charge", dp_charge_to_json(&more)), err);
    end(l);
    l->broken = rc != DP_OK && rc != DP_E_BUDGET;
    return rc;
}

/* --- closing ------------------------------------------------------------------------------------------------------ */

/* Adds what the run has used, with all that may have been released before it was resumed. */
static int used_of(const struct dp_ledger *l, const struct dp_charges *used, struct dp_charges *all, struct dp_err *err)
{
    const struct dp_ledger_entry *self = dp_ledger_book_find(&l->book, l->run);
    int rc = DP_OK;
    for (size_t i = 0; rc == DP_OK && i < used->count; i++)
        if (used->charge[i].laps > 0)
            rc = dp_charges_continue(all, &used->charge[i].event, used->charge[i].laps, err);
    rc = rc ?: dp_charges_add_all(all, dp_charges_at_least, &self->stops.out, err);
    for (size_t i = 0; rc == DP_OK && !self->holds && i < all->count; i++) {
        int64_t paid = dp_charges_laps(&self->paid, &all->charge[i].event);
        if (all->charge[i].laps > paid)
            rc = paid == 0 ? dp_fail(err, DP_E_UNSAFE, "the run has used laps of an event that it did not reserve")
                           : dp_fail(err, DP_E_UNSAFE, "the run has used %lld laps and reserved %lld",
                                     (long long)all->charge[i].laps, (long long)paid);
    }
    return rc;
}

/* The run as its readers will see it after its close line; the caller frees ended->paid. */
static int ended_of(const struct dp_ledger *l, const struct dp_charges *used, const char *status, struct dp_ledger_entry *ended,
                    struct dp_err *err)
{
    int rc = check_own(l, err);
    *ended = rc == DP_OK ? *dp_ledger_book_find(&l->book, l->run) : (struct dp_ledger_entry){0};
    if (rc != DP_OK)
        return rc;
    ended->paid = (struct dp_charges){0};
    ended->close = ended->opened.list->line;
    ended->closed.status = status;
    ended->holds = false;
    return used_of(l, used, &ended->paid, err);
}

int dp_ledger_cost(const struct dp_ledger *l, const struct dp_charges *used, const char *status, struct dp_answer *cost,
                   struct dp_err *err)
{
    struct dp_ledger_entry ended;
    int rc = ended_of(l, used, status, &ended, err);
    rc = rc ?: dp_ledger_run_epsilon(&ended, cost, err);
    dp_charges_free(&ended.paid);
    return rc;
}

/* The law of the ledger: the cost that a run states is the cost that every reader of the book computes. Computed before anything
 * is written; without the lock, because it may take a second. */
static int check_law(const struct dp_ledger *l, const struct dp_ledger_end *how, struct dp_err *err)
{
    struct dp_ledger_entry ended;
    struct dp_ledger_recorded recorded = {0};
    int rc = ended_of(l, how->used, how->status, &ended, err);
    ended.closed.accountant = how->accountant;
    ended.closed.epsilon = how->epsilon;
    ended.closed.delta = how->delta;
    rc = rc ?: dp_ledger_run_check(&ended, &recorded, err);
    dp_charges_free(&ended.paid);
    if (rc == DP_OK && recorded.compared && !recorded.agrees)
        rc = dp_fail(err, DP_E_UNSAFE,
                     "the run says that it has cost epsilon = %.9g at delta = %g, and by the ledger %s it has cost %.9g: all "
                     "that it reserved stays spent",
                     how->epsilon, how->delta, l->path, recorded.recomputed);
    return rc;
}

/* The members of the close line; `model` only if there is one. */
static json_t *close_line(const struct dp_ledger *l, const struct dp_ledger_end *how, const struct dp_charges *used)
{
    json_t *model =
        how->model != NULL ? json_pack("{s:I, s:s}", "lap", (json_int_t)how->model_lap, "digest", how->model) : NULL;
    json_t *line = charges_line("close", l->run, used);
    json_object_update_missing_new(line, json_pack("{s:I, s:f, s:f, s:s, s:s, s:o*}", "laps", (json_int_t)dp_charges_all(used),
                                                   "epsilon", how->epsilon, "delta", how->delta, "accountant", how->accountant,
                                                   "status", how->status, "model", model));
    return line;
}

static json_t *checkpoint_line(const struct dp_ledger *l, const struct dp_charges *used, const struct dp_charges *until)
{
    json_t *line = charges_line("checkpoint", l->run, used);
    json_object_set_new(line, "laps", json_integer((json_int_t)dp_charges_all(used)));
    if (until != NULL)
        json_object_set_new(line, "until", dp_ledger_charges_json(until));
    return line;
}

/* Writes a line about what the run has used, a close line or, if `how` is NULL, a checkpoint, and its mark to PATH.mark. */
static int settle_run(struct dp_ledger *l, const struct dp_charges *used, const struct dp_charges *until,
                      const struct dp_ledger_end *how, struct dp_err *err)
{
    struct dp_charges all = {0};
    int rc = begin(l, err);
    rc = rc ?: check_own(l, err);
    rc = rc ?: used_of(l, used, &all, err);
    rc = rc ?: append_line(l, how != NULL ? close_line(l, how, &all) : checkpoint_line(l, &all, until), err);
    rc = rc ?: dp_ledger_beside_write(l->path, l->mark, err);
    end(l);
    dp_charges_free(&all);
    return rc;
}

int dp_ledger_checkpoint(struct dp_ledger *l, const struct dp_charges *used, const struct dp_charges *until, struct dp_err *err)
{
    if (l->broken)
        return dp_fail(err, DP_E_RUN, "the run has ended in the ledger %s", l->path);
    int rc = settle_run(l, used, until, NULL, err);
    l->broken = rc != DP_OK;
    return rc;
}

int dp_ledger_close(struct dp_ledger *l, const struct dp_ledger_end *how, struct dp_err *err)
{
    if (l->broken)
        return dp_fail(err, DP_E_RUN, "the run has ended in the ledger %s", l->path);
    l->broken = true;
    if (!(how->epsilon >= 0 && isfinite(how->epsilon) && how->delta >= 0 && how->delta < 1))
        return dp_fail(err, DP_E_RUN, "a run cannot end with epsilon = %g and delta = %g", how->epsilon, how->delta);
    int rc = check_own(l, err);
    rc = rc ?: check_law(l, how, err);
    return rc ?: settle_run(l, how->used, NULL, how, err);
}

/* --- the rest ----------------------------------------------------------------------------------------------------- */

/* The existing budget, or NULL. */
static const struct dp_ledger_limit *budget_of(const struct dp_ledger_book *book, const struct dp_ledger_budget *b)
{
    size_t at = 0;
    return dp_ledger_book_limit(book, b->population, b->data != NULL ? b->data : b->population, &at);
}

int dp_ledger_entry_cost(const struct dp_ledger_book *book, const struct dp_ledger_entry *e, const char *adjacency,
                         struct dp_ledger_before *before, struct dp_err *err)
{
    bool ended = e->close != NULL && strcmp(e->closed.status, "interrupted") != 0;
    struct dp_answer own = {.upper = e->epsilon};
    if (e->within) /* the run that has its charges counts */
        return DP_OK;
    if (strcmp(e->of.adjacency, adjacency) != 0)
        return dp_fail(err, DP_E_UNSAFE, "the run %s in the ledger %s is under %s adjacency, the budget is not", e->run,
                       book->path, e->of.adjacency);
    if (!ended && !isfinite(e->epsilon))
        return dp_fail(err, DP_E_UNSAFE, "no bound is known of the run %s in the ledger %s, which has not ended", e->run,
                       book->path);
    int rc = ended ? dp_ledger_run_epsilon(e, &own, err) : DP_OK;
    if (rc != DP_OK)
        return rc;
    bool sum = e->start.epsilon > 0 || e->start.delta > 0;
    dp_ledger_before_add(before, (own.upper + e->start.epsilon) * (sum ? 1 + 0x1p-52 : 1),
                         (e->delta + e->start.delta) * (sum ? 1 + 0x1p-52 : 1));
    return DP_OK;
}

void dp_ledger_before_add(struct dp_ledger_before *before, double epsilon, double delta)
{
    double up = before->runs > 0 ? 1 + 0x1p-52 : 1; /* the first number is not rounded up */
    before->runs++;
    before->epsilon = (before->epsilon + epsilon) * up;
    before->delta = (before->delta + delta) * up;
}

static int cost_before(const struct dp_ledger_book *book, const struct dp_ledger_budget *b, struct dp_ledger_before *before,
                       struct dp_err *err)
{
    size_t who[2] = {dp_ledger_book_who(book, b->population), b->data != NULL ? dp_ledger_book_who(book, b->data) : SIZE_MAX};
    const struct dp_ledger_limit *old = budget_of(book, b);
    int rc = DP_OK;
    *before = b->elsewhere;
    if (old != NULL) { /* the budget that replaces it begins with the same cost */
        *before = (struct dp_ledger_before){.epsilon = old->before_epsilon,
                                            .delta = old->before_delta,
                                            .again = true,
                                            .used = dp_ledger_limit_added(book, old, NULL).runs > 0};
        for (size_t i = 0; i < book->entries; i++)
            before->runs += book->entry[i].covered == 1 + (size_t)(old - book->limit);
        return DP_OK;
    }
    const struct dp_ledger_entry *first = NULL;
    for (size_t i = 0; rc == DP_OK && i < book->entries; i++) {
        const struct dp_ledger_entry *e = &book->entry[i];
        size_t root = dp_ledger_book_root(book, e->of.who);
        if (root != who[0] && root != who[1])
            continue;
        first = first != NULL ? first : e;
        if ((e->of.unit != NULL) != (first->of.unit != NULL))
            return dp_fail(err, DP_E_UNSAFE,
                           "of the runs %s and %s in the ledger %s one is about rows and one about persons with several rows: "
                           "what they cost does not add up to a budget",
                           first->run, e->run, book->path);
        rc = dp_ledger_entry_cost(book, e, b->adjacency, before, err);
    }
    return rc;
}

static int check_rest(const char *path, const struct dp_ledger_budget *b, const struct dp_ledger_before *before,
                      struct dp_err *err)
{
    return before->epsilon < b->epsilon && before->delta < b->delta
               ? DP_OK
               : dp_fail(err, DP_E_RUN, "the runs in the ledger %s have cost epsilon = %g and delta = %g already", path,
                         before->epsilon, before->delta);
}

int dp_ledger_cost_before(const char *path, const struct dp_ledger_budget *budget, struct dp_ledger_before *before,
                          struct dp_err *err)
{
    struct dp_ledger_book book = {0};
    struct stat st;
    int rc = DP_OK;
    *before = (struct dp_ledger_before){0};
    if (lstat(path, &st) == 0 || errno != ENOENT) /* otherwise the cost is 0; setting the budget reports a lost ledger */
        rc = dp_ledger_book_read(&book, path, err);
    rc = rc ?: cost_before(&book, budget, before, err);
    if (rc == DP_OK && budget->after_runs && !before->used)
        rc = check_rest(path, budget, before, err);
    dp_ledger_book_free(&book);
    return rc;
}

/* If there are orders, checks that one of them has room, with the numbers of the line that will be written. */
static int check_orders(const struct dp_ledger_budget *b, double epsilon, double delta, double deltas[DP_LEDGER_ORDERS],
                        struct dp_err *err)
{
    double least = (double)INFINITY;
    for (size_t i = 0; i < b->orders; i++) {
        deltas[i] = b->order[i].delta * delta * (1 - 0x1p-50);
        least = fmin(least, dp_rdp_penalty(b->order[i].order, deltas[i]));
    }
    return b->orders == 0 || least < epsilon
               ? DP_OK
               : dp_fail(err, DP_E_RUN,
                         "at delta = %g nothing fits into epsilon = %g: the conversion to it costs %g at "
                         "the orders of the budget",
                         delta, epsilon, least);
}

static json_t *budget_line(const struct dp_ledger_budget *b, const struct dp_ledger_before *before,
                           const double deltas[DP_LEDGER_ORDERS])
{
    json_t *orders = json_array(), *cost = NULL;
    for (size_t i = 0; i < b->orders; i++)
        json_array_append_new(orders, json_pack("{s:f, s:f}", "order", b->order[i].order, "delta", deltas[i]));
    if (before->runs > 0)
        cost = json_pack("{s:f, s:f}", "epsilon", before->epsilon, "delta", before->delta);
    return json_pack("{s:s, s:s, s:s, s:f, s:f, s:s*, s:o, s:o*}", "kind", "budget", "population", b->population, "adjacency",
                     b->adjacency, "epsilon", b->epsilon, "delta", b->delta, "data", b->data, "orders", orders, "before", cost);
}

/* Lowers a used budget: only epsilon may change, downwards, and not below what is spent. Fills in the orders of the budget and
 * their deltas. */
static int lower(struct dp_ledger *l, const struct dp_ledger_limit *old, struct dp_ledger_budget *b,
                 double deltas[DP_LEDGER_ORDERS], struct dp_err *err)
{
    struct dp_ledger_counted counted;
    if (b->delta != old->delta || strcmp(b->adjacency, old->adjacency) != 0)
        return dp_fail(
            err, DP_E_UNSAFE,
            "runs have used the budget of %.60s in the ledger %s: its epsilon can be lowered, but delta = %g under %s "
            "adjacency stays",
            b->population, l->path, old->delta, old->adjacency);
    if (b->epsilon > old->epsilon)
        return dp_fail(err, DP_E_UNSAFE,
                       "runs have used the budget of epsilon = %g for %.60s in the ledger %s: it can be lowered, but what they "
                       "have released must not raise it",
                       old->epsilon, b->population, l->path);
    if (b->epsilon == old->epsilon)
        return dp_fail(err, DP_E_UNSAFE, "the budget of %.60s in the ledger %s is epsilon = %g already", b->population, l->path,
                       old->epsilon);
    int rc = dp_ledger_limit_epsilon(&l->book, old, &l->costs, &counted, err);
    if (rc == DP_OK && !(b->epsilon >= counted.epsilon))
        return dp_fail(err, DP_E_UNSAFE, "the runs on %.60s in the ledger %s have spent epsilon = %.6g of its budget already",
                       b->population, l->path, dp_round_up(counted.epsilon, 6));
    b->orders = old->orders;
    for (size_t i = 0; i < old->orders; i++) {
        b->order[i] = (struct dp_ledger_order){old->order[i].order, old->order[i].delta / (old->delta - old->before_delta)};
        deltas[i] = old->order[i].delta;
    }
    return rc;
}

/* Sets a new budget, or replaces an unused one. */
static int begin_budget(struct dp_ledger *l, const struct dp_ledger_limit *old, const struct dp_ledger_budget *b,
                        const struct dp_ledger_before *before, double deltas[DP_LEDGER_ORDERS], struct dp_err *err)
{
    if (old == NULL && before->runs > 0 && !b->after_runs)
        return dp_fail(
            err, DP_E_UNSAFE,
            "%.60s has runs in the ledger %s%s already: a budget comes before them, or begins with what they have cost "
            "(--after-runs)",
            b->population, l->path, b->elsewhere.runs > 0 ? " or elsewhere" : "");
    if (old != NULL && strcmp(old->adjacency, b->adjacency) != 0)
        return dp_fail(err, DP_E_UNSAFE, "the budget of %.60s in the ledger %s is under %s adjacency", b->population, l->path,
                       old->adjacency);
    int rc = check_rest(l->path, b, before, err);
    return rc ?: check_orders(b, b->epsilon - before->epsilon, b->delta - before->delta, deltas, err);
}

static int add_budget(struct dp_ledger *l, struct dp_ledger_budget *b, struct dp_err *err)
{
    struct dp_ledger_before before = {0};
    double deltas[DP_LEDGER_ORDERS];
    int rc = begin_anew(l, err);
    const struct dp_ledger_limit *old = rc == DP_OK ? budget_of(&l->book, b) : NULL;
    rc = rc ?: cost_before(&l->book, b, &before, err);
    rc = rc ?: before.used ? lower(l, old, b, deltas, err) : begin_budget(l, old, b, &before, deltas, err);
    if (rc != DP_OK)
        return rc;
    memset(l->run, '0', DP_LEDGER_RUN); /* a mark without a run */
    rc = append_line(l, budget_line(b, &before, deltas), err);
    return rc ?: dp_ledger_beside_write(l->path, l->mark, err);
}

static int check_budget(const struct dp_ledger_budget *b, struct dp_err *err)
{
    double shares = 0;
    if (b->population == NULL || b->population[0] == '\0' || b->adjacency == NULL ||
        (strcmp(b->adjacency, "null-record") != 0 && strcmp(b->adjacency, "replace-one") != 0))
        return dp_fail(err, DP_E_RUN, "a budget needs a population and an adjacency");
    if (!(b->epsilon > 0 && isfinite(b->epsilon) && b->delta > 0 && b->delta < 1))
        return dp_fail(err, DP_E_RUN, "a budget needs a finite epsilon above 0 and a delta in (0, 1)");
    if (b->orders > DP_LEDGER_ORDERS)
        return dp_fail(err, DP_E_RUN, "a budget has at most %d orders, got %zu", DP_LEDGER_ORDERS, b->orders);
    for (size_t i = 0; i < b->orders; i++) {
        if (!(b->order[i].order > 1 && isfinite(b->order[i].order) && b->order[i].delta > 0))
            return dp_fail(err, DP_E_RUN, "the orders of a budget are finite and above 1, each with a share of delta");
        shares += b->order[i].delta;
    }
    return shares <= 1 + 1e-12 ? DP_OK : dp_fail(err, DP_E_RUN, "the shares of delta add up to %.17g", shares);
}

int dp_ledger_set_budget(const char *path, struct dp_ledger_budget *b, struct dp_err *err)
{
    struct dp_ledger *l;
    int rc = check_budget(b, err);
    rc = rc ?: new_ledger(&l, path, true, err);
    if (rc != DP_OK)
        return rc;
    rc = add_budget(l, b, err);
    dp_ledger_free(l); /* and unlocks */
    return rc;
}

int dp_ledger_check_mark(const char *path, const char *mark, struct dp_err *err)
{
    struct dp_ledger_book book = {0};
    struct dp_ledger_entry *entry;
    int rc = dp_ledger_book_read(&book, path, err);
    rc = rc ?: dp_ledger_book_mark(&book, mark, &entry, err);
    dp_ledger_book_free(&book);
    return rc;
}
