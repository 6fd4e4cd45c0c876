#include "priv/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/version.h"
#include "priv/ledger_book.h"
#include "priv/rdp.h"

/* r of an event at the order of the budget */
struct cost {
    struct dp_event event;
    double r;
};

struct dp_ledger {
    char *path;
    int fd;
    struct dp_ledger_book book;
    struct dp_ledger_hooks hooks;
    char run[DP_LEDGER_RUN + 1];
    char mark[DP_LEDGER_MARK];
    char *last; /* the last line of the book, to be found unchanged */
    size_t last_length, last_capacity;
    struct cost *cost;
    size_t costs, costs_capacity;
    bool broken; /* nothing more can be paid for */
};

/* --- lines on their way into the file ----------------------------------------------------------------------------- */

struct batch {
    char *text;
    size_t length, capacity, last; /* last: where the last line begins */
    size_t seq;
    char prev[DP_LEDGER_HASH + 1];
};

static void batch_start(struct batch *batch, const struct dp_ledger_book *book)
{
    *batch = (struct batch){.seq = book->lines};
    snprintf(batch->prev, sizeof batch->prev, "%s", dp_ledger_book_hash(book));
}

static int batch_add(struct batch *batch, json_t *members, struct dp_err *err)
{
    char hash[DP_LEDGER_HASH + 1], *text;
    size_t length;
    int rc = dp_ledger_line(members, batch->seq + 1, batch->prev, &text, &length, hash, err);
    if (rc == DP_OK)
        rc = dp_grow(&batch->text, &batch->capacity, batch->length + length, 1, err);
    if (rc == DP_OK) {
        memcpy(batch->text + batch->length, text, length);
        batch->last = batch->length;
        batch->length += length;
        batch->seq++;
        memcpy(batch->prev, hash, sizeof hash);
    }
    free(text);
    return rc;
}

static json_t *charge_line(const char *kind, const char *run, const struct dp_event *event, int64_t laps)
{
    struct dp_charge charge = {*event, laps};
    json_t *json = dp_charge_to_json(&charge);
    return json != NULL ? json_pack("{s:s, s:s, s:o}", "kind", kind, "run", run, "charge", json) : NULL;
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

static int sync_directory(const char *path, struct dp_err *err)
{
    char *copy = strdup(path), *slash = copy != NULL ? strrchr(copy, '/') : NULL;
    if (copy == NULL)
        return dp_fail(err, DP_E_RUN, "out of memory");
    if (slash != NULL)
        slash[slash == copy] = '\0'; /* "/" itself stays */
    int fd = open(slash != NULL ? copy : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* Some file systems cannot sync a directory and say EINVAL. */
    int bad = fd < 0 || (fsync(fd) != 0 && errno != EINVAL) ? errno : 0;
    if (fd >= 0)
        close(fd);
    free(copy);
    return bad == 0 ? DP_OK : dp_fail_errno(err, bad, "cannot sync the directory of the ledger %s", path);
}

/* The file at the path must still be the open one, with its last known line in its place. */
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
    char *now;
    int rc = dp_alloc(&now, l->last_length, 1, err);
    if (rc != DP_OK)
        return rc;
    ssize_t n = pread(l->fd, now, l->last_length, (off_t)(l->book.end - l->last_length));
    if (n < 0)
        rc = dp_fail_errno(err, errno, "cannot read the ledger %s", l->path);
    else if ((size_t)n != l->last_length || memcmp(now, l->last, l->last_length) != 0)
        rc = dp_fail(err, DP_E_UNSAFE, "line %zu of the ledger %s was changed while a run was writing to it",
                     l->book.lines, l->path);
    free(now);
    return rc;
}

/* Remembers the book's last line. */
static int note_last(struct dp_ledger *l, struct dp_err *err)
{
    size_t length = l->book.last_length;
    int rc = dp_grow(&l->last, &l->last_capacity, length, 1, err);
    if (rc != DP_OK)
        return rc;
    if (length > 0 && pread(l->fd, l->last, length, (off_t)(l->book.end - length)) != (ssize_t)length)
        return dp_fail(err, DP_E_RUN, "cannot read the ledger %s", l->path);
    l->last_length = length;
    return DP_OK;
}

/* Locks, and reads what others have written since. */
static int begin(struct dp_ledger *l, struct dp_err *err)
{
    int rc = dp_ledger_lock(l->fd, LOCK_EX, l->path, err);
    if (rc == DP_OK)
        rc = check_unchanged(l, err);
    if (rc == DP_OK)
        rc = dp_ledger_book_fill(&l->book, l->fd, err);
    if (rc == DP_OK)
        rc = note_last(l, err);
    return rc;
}

static void end(struct dp_ledger *l)
{
    flock(l->fd, LOCK_UN);
}

/* Checks the lines against all before them, then appends and syncs them. Under the lock. */
static int append(struct dp_ledger *l, const struct batch *batch, struct dp_err *err)
{
    size_t at = l->book.end;
    if (l->book.torn && ftruncate(l->fd, (off_t)at) != 0)
        return dp_fail_errno(err, errno, "cannot cut an unfinished line off the ledger %s", l->path);
    int rc = dp_ledger_book_take(&l->book, batch->text, batch->length, err);
    if (rc == DP_OK)
        rc = dp_grow(&l->last, &l->last_capacity, l->book.last_length, 1, err);
    if (rc != DP_OK)
        return rc;
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

static int new_ledger(struct dp_ledger **ledger, const char *path, bool create, struct dp_err *err)
{
    struct dp_ledger *l;
    *ledger = NULL;
    if (sodium_init() < 0)
        return dp_fail(err, DP_E_RUN, "cannot initialise libsodium");
    int rc = dp_alloc(&l, 1, sizeof *l, err);
    if (rc != DP_OK)
        return rc;
    l->fd = -1;
    l->path = strdup(path);
    l->book.path = l->path;
    rc = l->path != NULL ? dp_ledger_open_file(path, O_RDWR | (create ? O_CREAT : 0), err)
                         : dp_fail(err, DP_E_RUN, "out of memory");
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
    free(l->cost);
    free(l);
}

/* --- opening ------------------------------------------------------------------------------------------------------ */

static int check_run(const struct dp_ledger_run *run, struct dp_err *err)
{
    if (run->data == NULL || run->data[0] == '\0' || run->rows < 1)
        return dp_fail(err, DP_E_UNSAFE, "a run whose data set has no digest or no rows cannot be kept in a ledger");
    if (run->adjacency == NULL ||
        (strcmp(run->adjacency, "null-record") != 0 && strcmp(run->adjacency, "replace-one") != 0))
        return dp_fail(err, DP_E_UNSAFE, "a run without an adjacency cannot be kept in a ledger");
    if (!(run->epsilon > 0 && isfinite(run->epsilon) && run->delta > 0 && run->delta < 1))
        return dp_fail(err, DP_E_RUN, "a run in a ledger needs a finite epsilon above 0 and a delta in (0, 1)");
    if (!(run->prior_epsilon >= 0 && isfinite(run->prior_epsilon) && run->prior_delta >= 0 && run->prior_delta <= 1))
        return dp_fail(err, DP_E_RUN, "the model to start from states an impossible cost");
    if (run->order != 0 && !(run->order > 1 && isfinite(run->order)))
        return dp_fail(err, DP_E_RUN, "the filter of a run needs a finite order above 1, got %g", run->order);
    if (run->order != 0 && dp_rdp_penalty(run->order, run->delta) >= run->epsilon)
        return dp_fail(err, DP_E_RUN, "at order %g and delta = %g nothing fits into epsilon = %g", run->order, run->delta,
                       run->epsilon);
    return DP_OK;
}

static json_t *open_line(const struct dp_ledger_run *run, const char *id)
{
    json_t *line = json_pack("{s:s, s:s, s:s, s:I, s:s, s:f, s:f, s:b, s:b, s:s, s:s}", "kind", "open", "run", id,
                             "data", run->data, "rows", (json_int_t)run->rows, "adjacency", run->adjacency, "epsilon",
                             run->epsilon, "delta", run->delta, "seeded", run->seeded, "as_published",
                             run->as_published, "private_preprocessing",
                             run->preprocessing != NULL ? run->preprocessing : "", "software", "dpline " DP_VERSION);
    int bad = line == NULL;
    if (run->time != 0)
        bad |= json_object_set_new(line, "time", json_integer((json_int_t)run->time));
    if (run->init != NULL)
        bad |= json_object_set_new(line, "init", json_string(run->init));
    if (run->prior_epsilon > 0) {
        bad |= json_object_set_new(line, "prior_epsilon", json_real(run->prior_epsilon));
        bad |= json_object_set_new(line, "prior_delta", json_real(run->prior_delta));
    }
    if (run->order > 0)
        bad |= json_object_set_new(line, "order", json_real(run->order));
    if (bad) {
        json_decref(line);
        return NULL;
    }
    return line;
}

static int open_run(struct dp_ledger *l, const struct dp_ledger_run *run, struct dp_err *err)
{
    unsigned char id[DP_LEDGER_RUN / 2];
    struct dp_ledger_entry *from;
    struct batch batch = {0};
    int rc = begin(l, err);
    if (rc == DP_OK && run->init != NULL)
        rc = dp_ledger_book_mark(&l->book, run->init, &from, err);
    if (rc != DP_OK)
        return rc;
    const struct dp_ledger_limit *limit = dp_ledger_book_limit(&l->book, run->data);
    if (limit != NULL && strcmp(limit->adjacency, run->adjacency) != 0)
        return dp_fail(err, DP_E_UNSAFE,
                       "the data set has a budget under %s adjacency in the ledger %s, the run is under %s",
                       limit->adjacency, l->path, run->adjacency);
    if (limit != NULL && l->hooks.rdp == NULL)
        return dp_fail(err, DP_E_RUN, "a data set with a budget needs an accountant");
    randombytes_buf(id, sizeof id);
    sodium_bin2hex(l->run, sizeof l->run, id, sizeof id);
    batch_start(&batch, &l->book);
    rc = batch_add(&batch, open_line(run, l->run), err);
    if (rc == DP_OK)
        rc = append(l, &batch, err);
    if (rc == DP_OK)
        rc = sync_directory(l->path, err);
    free(batch.text);
    return rc;
}

int dp_ledger_open(struct dp_ledger **ledger, const char *path, const struct dp_ledger_run *run,
                   const struct dp_ledger_hooks *hooks, struct dp_err *err)
{
    struct dp_ledger *l;
    *ledger = NULL;
    int rc = check_run(run, err);
    /* A ledger that has to hold a mark exists. */
    if (rc == DP_OK)
        rc = new_ledger(&l, path, run->init == NULL, err);
    if (rc != DP_OK)
        return rc;
    l->hooks = *hooks;
    rc = open_run(l, run, err);
    end(l);
    if (rc != DP_OK) {
        dp_ledger_free(l);
        return rc;
    }
    *ledger = l;
    return DP_OK;
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

/* r of one time of the event at the budget's order */
static int cost_of(struct dp_ledger *l, const struct dp_event *event, double order, double *r, struct dp_err *err)
{
    for (size_t i = 0; i < l->costs; i++)
        if (dp_event_same(&l->cost[i].event, event)) {
            *r = l->cost[i].r;
            return DP_OK;
        }
    int rc = dp_grow(&l->cost, &l->costs_capacity, l->costs + 1, sizeof *l->cost, err);
    if (rc == DP_OK)
        rc = l->hooks.rdp(event, order, r, err);
    if (rc == DP_OK && !(*r >= 0))
        rc = dp_fail(err, DP_E_RUN, "an accountant gave no bound");
    if (rc == DP_OK)
        l->cost[l->costs++] = (struct cost){*event, *r};
    return rc;
}

/* What all runs on a data set have spent at the order of its budget, rounded up; *own of it for the event in the
   running run, *own_laps laps. */
static int spent_on(struct dp_ledger *l, const struct dp_ledger_limit *limit, const struct dp_event *event,
                    double *others, int64_t *own_laps, struct dp_err *err)
{
    size_t terms = 0;
    *others = 0;
    *own_laps = 0;
    for (size_t i = 0; i < l->book.entries; i++) {
        const struct dp_ledger_entry *entry = &l->book.entry[i];
        if (strcmp(entry->data, limit->data) != 0)
            continue;
        bool own = strcmp(entry->run, l->run) == 0;
        for (size_t e = 0; e < entry->events; e++, terms++) {
            const struct dp_ledger_laps *laps = &entry->event[e];
            double r;
            if (own && dp_event_same(&laps->event, event)) {
                *own_laps = dp_ledger_laps_spent(laps);
                continue;
            }
            int rc = cost_of(l, &laps->event, limit->order, &r, err);
            if (rc != DP_OK)
                return rc;
            int64_t times = dp_event_times(&laps->event, dp_ledger_laps_spent(laps));
            *others += times > 0 ? (double)times * r : 0;
        }
    }
    *others *= 1 + (double)(terms + 4) * 0x1p-52;
    return DP_OK;
}

/* *granted: how many of the laps the budget of the data set has room for. */
static int room(struct dp_ledger *l, const struct dp_event *event, int64_t laps, int64_t *granted, struct dp_err *err)
{
    const struct dp_ledger_entry *self = dp_ledger_book_find(&l->book, l->run);
    const struct dp_ledger_limit *limit = dp_ledger_book_limit(&l->book, self->data);
    double r, others;
    int64_t own, none = 0, all = laps + 1;
    *granted = laps;
    if (limit == NULL)
        return DP_OK;
    int rc = cost_of(l, event, limit->order, &r, err);
    if (rc == DP_OK)
        rc = spent_on(l, limit, event, &others, &own, err);
    if (rc != DP_OK)
        return rc;
    double left = limit->epsilon - dp_rdp_penalty(limit->order, limit->delta);
    while (all - none > 1) { /* `none` laps have room, `all` have not */
        int64_t middle = none + (all - none) / 2;
        double cost = (others + (double)dp_event_times(event, own + middle) * r) * (1 + 0x1p-50);
        if (cost <= left)
            none = middle;
        else
            all = middle;
    }
    *granted = none;
    if (none > 0)
        return DP_OK;
    return dp_fail(err, DP_E_BUDGET,
                   "the budget of the data set over all its runs, epsilon = %g in the ledger %s, is spent",
                   limit->epsilon, l->path);
}

static int check_epochs(const struct dp_ledger *l, const struct dp_event *event, struct dp_err *err)
{
    const struct dp_ledger_entry *self = dp_ledger_book_find(&l->book, l->run);
    for (size_t i = 0; i < self->events; i++)
        if (!dp_event_may_follow(event, &self->event[i].event, self->event[i].reserved))
            return dp_fail(err, DP_E_UNSAFE, "a run with shuffled epochs must not change its mechanism within an epoch");
    return DP_OK;
}

int dp_ledger_reserve(struct dp_ledger *l, const struct dp_event *event, int64_t laps, int64_t *granted,
                      struct dp_err *err)
{
    struct batch batch = {0};
    int64_t most = 0;
    *granted = 0;
    if (l->broken)
        return dp_fail(err, DP_E_RUN, "the run has ended in the ledger %s", l->path);
    if (laps < 1)
        return dp_fail(err, DP_E_RUN, "cannot reserve %lld laps", (long long)laps);
    int rc = dp_event_check(event, err);
    if (rc == DP_OK)
        rc = begin(l, err);
    if (rc == DP_OK)
        rc = check_epochs(l, event, err);
    if (rc == DP_OK)
        rc = room(l, event, laps, &most, err);
    if (rc == DP_OK) {
        batch_start(&batch, &l->book);
        rc = batch_add(&batch, charge_line("reserve", l->run, event, most), err);
    }
    if (rc == DP_OK)
        rc = append(l, &batch, err);
    end(l);
    free(batch.text);
    l->broken = rc != DP_OK && rc != DP_E_BUDGET;
    if (rc == DP_OK)
        *granted = most;
    return rc;
}

/* --- closing ------------------------------------------------------------------------------------------------------ */

static int64_t used_of(const struct dp_charges *used, const struct dp_event *event)
{
    int64_t laps = 0;
    for (size_t i = 0; i < used->count; i++)
        laps += dp_event_same(&used->charge[i].event, event) ? used->charge[i].laps : 0;
    return laps;
}

static int add_ends(struct dp_ledger *l, struct batch *batch, const struct dp_ledger_end *how, struct dp_err *err)
{
    const struct dp_ledger_entry *self = dp_ledger_book_find(&l->book, l->run);
    int64_t total = 0, found = 0;
    int rc = DP_OK;
    for (size_t i = 0; i < how->used->count; i++)
        total += how->used->charge[i].laps;
    for (size_t i = 0; rc == DP_OK && i < self->events; i++) {
        const struct dp_ledger_laps *laps = &self->event[i];
        int64_t used = used_of(how->used, &laps->event);
        found += used;
        if (used < 0 || used > laps->reserved)
            return dp_fail(err, DP_E_UNSAFE, "the run has used %lld laps and reserved %lld", (long long)used,
                           (long long)laps->reserved);
        if (used > 0)
            rc = batch_add(batch, charge_line("charge", l->run, &laps->event, used), err);
        if (rc == DP_OK && used < laps->reserved)
            rc = batch_add(batch, charge_line("refund", l->run, &laps->event, laps->reserved - used), err);
    }
    if (rc == DP_OK && found != total)
        return dp_fail(err, DP_E_UNSAFE, "the run has used laps of an event that it did not reserve");
    if (rc != DP_OK)
        return rc;
    return batch_add(batch,
                     json_pack("{s:s, s:s, s:I, s:f, s:f, s:s, s:s}", "kind", "close", "run", l->run, "laps",
                               (json_int_t)total, "epsilon", how->epsilon, "delta", how->delta, "accountant",
                               how->accountant, "status", how->status),
                     err);
}

int dp_ledger_close(struct dp_ledger *l, const struct dp_ledger_end *how, struct dp_err *err)
{
    struct batch batch = {0};
    if (l->broken)
        return dp_fail(err, DP_E_RUN, "the run has ended in the ledger %s", l->path);
    l->broken = true;
    if (!(how->epsilon >= 0 && isfinite(how->epsilon) && how->delta >= 0 && how->delta < 1))
        return dp_fail(err, DP_E_RUN, "a run cannot end with epsilon = %g and delta = %g", how->epsilon, how->delta);
    int rc = begin(l, err);
    if (rc == DP_OK) {
        batch_start(&batch, &l->book);
        rc = add_ends(l, &batch, how, err);
    }
    if (rc == DP_OK)
        rc = append(l, &batch, err);
    end(l);
    free(batch.text);
    return rc;
}

/* --- the rest ----------------------------------------------------------------------------------------------------- */

static int add_budget(struct dp_ledger *l, const struct dp_ledger_budget *b, struct dp_err *err)
{
    struct batch batch = {0};
    int rc = begin(l, err);
    if (rc != DP_OK)
        return rc;
    if (dp_ledger_book_limit(&l->book, b->data) != NULL)
        return dp_fail(err, DP_E_UNSAFE, "the data set has a budget in the ledger %s already", l->path);
    for (size_t i = 0; i < l->book.entries; i++)
        if (strcmp(l->book.entry[i].data, b->data) == 0)
            return dp_fail(err, DP_E_UNSAFE,
                           "the data set has runs in the ledger %s already: a budget comes before them", l->path);
    batch_start(&batch, &l->book);
    rc = batch_add(&batch,
                   json_pack("{s:s, s:s, s:s, s:f, s:f, s:f}", "kind", "budget", "data", b->data, "adjacency",
                             b->adjacency, "epsilon", b->epsilon, "delta", b->delta, "order", b->order),
                   err);
    if (rc == DP_OK)
        rc = append(l, &batch, err);
    if (rc == DP_OK)
        rc = sync_directory(l->path, err);
    free(batch.text);
    return rc;
}

int dp_ledger_set_budget(const char *path, const struct dp_ledger_budget *b, struct dp_err *err)
{
    struct dp_ledger *l;
    if (b->data == NULL || b->data[0] == '\0' || b->adjacency == NULL ||
        (strcmp(b->adjacency, "null-record") != 0 && strcmp(b->adjacency, "replace-one") != 0))
        return dp_fail(err, DP_E_RUN, "a budget needs a data set and an adjacency");
    if (!(b->epsilon > 0 && isfinite(b->epsilon) && b->delta > 0 && b->delta < 1 && b->order > 1 && isfinite(b->order)))
        return dp_fail(err, DP_E_RUN,
                       "a budget needs a finite epsilon above 0, a delta in (0, 1) and a finite order above 1");
    if (dp_rdp_penalty(b->order, b->delta) >= b->epsilon)
        return dp_fail(err, DP_E_RUN,
                       "at order %g and delta = %g nothing fits into epsilon = %g: converting alone costs %g", b->order,
                       b->delta, b->epsilon, dp_rdp_penalty(b->order, b->delta));
    int rc = new_ledger(&l, path, true, err);
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
    if (rc == DP_OK)
        rc = dp_ledger_book_mark(&book, mark, &entry, err);
    dp_ledger_book_free(&book);
    return rc;
}
