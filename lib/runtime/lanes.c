/* Runs side by side in this process, a lap of each in turn, on one core or several. A run by itself is one lane. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/progress.h"
#include "runtime/lane_table.h"
#include "runtime/lap.h"

struct lane {
    struct dp_loop loop; /* its own */
    struct dp_run *run;
    struct dp_err err;
    int rc;
    size_t number; /* from 1; 0 where there is no table */
    bool going;    /* laps are to come */
    const struct lanes *all;
};

struct lanes {
    struct dp_loop *loop; /* what was asked for */
    struct lane *lane;
    size_t count, open; /* lanes that have not ended */
    struct dp_progress progress;
    int64_t done;         /* laps of all lanes */
    pthread_mutex_t lock; /* of these three */
};

/* The lanes of a thread. */
struct share {
    struct lanes *all;
    size_t from, to;
    pthread_t thread;
    bool started;
};

static void warn(void *self, const char *stage, const char *sentence)
{
    const struct lane *lane = self;
    const struct dp_warn *to = &lane->all->loop->warn;
    char text[DP_ERR_MESSAGE_SIZE + 40];
    snprintf(text, sizeof text, "lane %zu: %s", lane->number, sentence);
    if (to->say != NULL)
        to->say(to->self, stage, text);
}

/* What one lane has failed by is said at once: the others go on. */
static void tell(const struct lane *lane)
{
    struct dp_err err = lane->err;
    int cut = (int)(sizeof err.message - 40);
    if (lane->number == 0 || lane->rc == DP_OK || lane->all->loop->failed == NULL)
        return;
    snprintf(err.message, sizeof err.message, "lane %zu: %.*s", lane->number, cut, lane->err.message);
    lane->all->loop->failed(&err);
}

/* The last step of the lane has returned rc. */
static void end(struct lanes *l, struct lane *lane, int rc)
{
    lane->going = false;
    pthread_mutex_lock(&l->lock);
    if (--l->open == 0)
        dp_progress_end(&l->progress);
    pthread_mutex_unlock(&l->lock);
    lane->rc = dp_run_end(lane->run, rc, &lane->err);
    lane->run = NULL;
    tell(lane);
}

/* The laps of all lanes together; epsilon is that of a lane, so that it stands there where there is one. */
static void count_lap(struct lanes *l, const struct lane *lane)
{
    pthread_mutex_lock(&l->lock);
    l->done++;
    dp_progress_show(&l->progress, l->done, lane->number == 0 ? dp_run_epsilon(lane->run) : -1);
    pthread_mutex_unlock(&l->lock);
}

static void lap(struct lanes *l, struct lane *lane)
{
    int64_t before = dp_run_done(lane->run);
    int rc = dp_run_lap(lane->run, &lane->err);
    if (dp_run_done(lane->run) > before)
        count_lap(l, lane);
    if (rc != DP_RUN_MORE)
        end(l, lane, rc);
}

static void *drive(void *self)
{
    const struct share *s = self;
    struct lanes *l = s->all;
    bool more = false;
    for (size_t i = s->from; i < s->to; i++) {
        struct lane *lane = &l->lane[i];
        if (!lane->going)
            continue;
        int rc = dp_run_hello(lane->run, &lane->err);
        if (rc != DP_OK)
            end(l, lane, rc);
        more = more || lane->going;
    }
    while (more) {
        more = false;
        for (size_t i = s->from; i < s->to; i++) {
            if (l->lane[i].going)
                lap(l, &l->lane[i]);
            more = more || l->lane[i].going;
        }
    }
    return NULL;
}

static void start_progress(struct lanes *l)
{
    const struct dp_loop_options *o = &l->loop->options;
    int64_t total = 0;
    for (size_t i = 0; i < l->count; i++) {
        l->done += l->lane[i].going ? dp_run_done(l->lane[i].run) : 0;
        total += l->lane[i].going ? dp_run_laps(l->lane[i].run) : 0;
    }
    if (l->open > 0)
        dp_progress_start(&l->progress, l->loop->progress, o->quiet ? DP_PROGRESS_NONE : (enum dp_progress_mode)o->progress,
                          l->done, total);
}

/* Opens all lanes, and drives them to their ends: neighbours in one thread, since they may be those whose batches agree. */
static int drive_all(struct lanes *l, size_t threads, struct dp_err *err)
{
    struct share *share;
    threads = threads < l->count ? threads : l->count;
    int rc = dp_alloc(&share, threads, sizeof *share, err);
    if (rc != DP_OK)
        return rc;
    l->open = l->count;
    for (size_t i = 0; i < l->count; i++) {
        struct lane *lane = &l->lane[i];
        rc = dp_run_open(&lane->run, &lane->loop, &lane->err);
        lane->going = rc == DP_OK;
        if (rc != DP_OK)
            end(l, lane, rc);
    }
    start_progress(l);
    for (size_t t = 0; t < threads; t++) {
        struct share *s = &share[t];
        *s = (struct share){.all = l, .from = l->count * t / threads, .to = l->count * (t + 1) / threads};
        s->started = t > 0 && pthread_create(&s->thread, NULL, drive, s) == 0;
    }
    for (size_t t = 0; t < threads; t++)
        if (!share[t].started)
            drive(&share[t]);
    for (size_t t = 0; t < threads; t++)
        if (share[t].started)
            pthread_join(share[t].thread, NULL);
    free(share);
    return DP_OK;
}

/* The worst that happened to a lane. */
static int sum_up(const struct lanes *l, struct dp_err *err)
{
    size_t failed = 0;
    int worst = DP_OK;
    for (size_t i = 0; i < l->count; i++) {
        const struct lane *lane = &l->lane[i];
        l->loop->interrupted = l->loop->interrupted || lane->loop.interrupted;
        l->loop->reader_gone = l->loop->reader_gone || lane->loop.reader_gone;
        failed += lane->rc != DP_OK;
        worst = lane->rc < worst ? lane->rc : worst;
    }
    if (l->lane[0].number == 0) {
        *err = l->lane[0].err;
        return l->lane[0].rc;
    }
    return worst == DP_OK ? DP_OK
                          : dp_fail(err, (enum dp_status)worst, "%zu of %zu lanes did not come to their end", failed, l->count);
}

int dp_loop_run(struct dp_loop *loop, struct dp_err *err)
{
    const struct dp_loop_options *o = &loop->options;
    struct lanes l = {.loop = loop, .count = 1, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct dp_lane_table table = {0};
    int rc = DP_OK;
    if (o->lanes != NULL)
        rc = dp_lane_table_open(&table, loop, err);
    else if (o->threads != DP_OPT_ABSENT_INT)
        rc = dp_fail(err, DP_E_USAGE, "--threads is for --lanes");
    if (rc == DP_OK && o->lanes != NULL)
        l.count = table.rows.count;
    if (rc == DP_OK)
        rc = dp_alloc(&l.lane, l.count, sizeof *l.lane, err);
    for (size_t i = 0; rc == DP_OK && i < l.count; i++) {
        struct lane *lane = &l.lane[i];
        lane->all = &l;
        lane->loop = *loop;
        if (o->lanes == NULL)
            continue;
        lane->number = i + 1;
        dp_lane_table_take(&table, i, &lane->loop);
        lane->loop.warn = (struct dp_warn){warn, lane};
    }
    if (rc == DP_OK)
        rc = drive_all(&l, o->threads != DP_OPT_ABSENT_INT ? (size_t)o->threads : 1, err);
    if (rc == DP_OK)
        rc = sum_up(&l, err);
    free(l.lane);
    dp_lane_table_close(&table);
    return rc;
}
