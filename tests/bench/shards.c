/* Compares a lap on one machine with a lap gathered from workers: the overhead of a small lap for each way from a gather to its
   workers, and the speedup of a large lap on two cores. The ways alternate, so that other load on the machine affects them
   equally; times are wall-clock times. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#include "base/mem.h"
#include "base/version.h"
#include "runtime/child.h"

#define ROWS                                                                                                                   \
    "dp-sample --data %1$s --rate %2$s %3$s | dp-scd-step --data %1$s --loss hinge --lambda 1e-3 --clip 0.1 --threads %4$d"
#define GATE "dp-noise -z 4 | dp-account --epsilon 1e6 --delta 1e-5 --allow-seeded --no-ledger | dp-step"

enum { WORKERS = 4, WARM = 5 };

struct task {
    const char *data, *rate;
    int rows, cols, workers, turns, laps; /* laps of each way in a turn */
};

static const struct task tasks[] = {{"small.dp", "0.025", 4000, 10, 4, 60, 50}, {"large.dp", "0.1", 347786, 90, 2, 12, 30}};

struct way {
    const char *name, *gather, *at, *worker; /* options of dp-gather, NULL on one machine; its address, NULL if its workers are
                                                its children; options of the workers */
    int threads;
};

static const struct way ways[] = {
    {"one machine", NULL, NULL, NULL, 1},
    {"one machine, --threads 2", NULL, NULL, NULL, 2},
    {"--local, fused", "--exec fused", NULL, NULL, 1},
    {"--local, processes", "--exec processes", NULL, NULL, 1},
    {"ipc", "", "ipc://port/gate", "", 1},
    {"tcp, plain", "--insecure-plaintext", "tcp://127.0.0.1:%d", "--insecure-plaintext", 1},
    {"tcp, CURVE", "--keys gate", "tcp://127.0.0.1:%d", "--keys=site", 1},
};
enum { WAYS = sizeof ways / sizeof *ways };

struct line {
    struct dp_child *child;
    struct dp_frame *last, *token;
    double *took;
    int laps;
    pid_t worker[WORKERS];
};

static double seconds(void)
{
    return bench_seconds(CLOCK_MONOTONIC);
}

static int run(const char *command, struct dp_err *err)
{
    return system(command) == 0 ? DP_OK : dp_fail(err, DP_E_RUN, "failed: %.300s", command);
}

static void start_worker(struct line *line, const struct task *task, const struct way *way, const char *at, int k)
{
    char rows[500], own[60], shard[30];
    line->worker[k] = fork();
    if (line->worker[k] != 0)
        return;
    snprintf(shard, sizeof shard, "%d/%d", k + 1, task->workers);
    snprintf(own, sizeof own, "--shard %s", shard);
    snprintf(rows, sizeof rows, ROWS, task->data, task->rate, own, way->threads);
    if (way->worker[0] != '\0')
        execlp("dp-worker", "dp-worker", "--at", at, "--allow-seeded", "--shard", shard, way->worker, "--", rows, (char *)NULL);
    else
        execlp("dp-worker", "dp-worker", "--at", at, "--allow-seeded", "--shard", shard, "--", rows, (char *)NULL);
    _exit(127);
}

/* The pipeline of that way, with its workers, if it has any. */
static int start(struct line *line, const struct task *task, const struct way *way, int port, struct dp_err *err)
{
    char rows[500], at[100], text[1500];
    snprintf(rows, sizeof rows, ROWS, task->data, task->rate, way->gather != NULL ? "--shard %k/%K" : "", way->threads);
    if (way->at != NULL)
        snprintf(at, sizeof at, way->at, port);
    if (way->gather == NULL)
        snprintf(text, sizeof text, "%s | " GATE, rows);
    else if (way->at == NULL)
        snprintf(text, sizeof text, "dp-gather -k %d %s --local '%s' | " GATE, task->workers, way->gather, rows);
    else
        snprintf(text, sizeof text, "dp-gather -k %d %s --at %s | " GATE, task->workers, way->gather, at);
    for (int k = 0; way->at != NULL && k < task->workers; k++)
        start_worker(line, task, way, at, k);
    return dp_child_fused(&line->child, text, NULL, err);
}

static int greet(struct line *line, int laps, struct dp_err *err)
{
    line->last = dp_frame_new();
    line->token = dp_frame_new();
    line->took = dp_new((size_t)laps, sizeof *line->took);
    struct dp_frame *f = line->token;
    dp_frame_reset(f, DP_KIND_HELLO);
    dp_frame_set_int(f, DP_F_FORMAT, DP_FRAME_FORMAT);
    dp_frame_set_int(f, DP_F_STAGE, 0);
    dp_frame_set_int(f, DP_F_LAPS, laps);
    dp_frame_set_int(f, DP_F_SEED, 1);
    dp_frame_set_string(f, DP_F_SOFTWARE, "dpline " DP_VERSION);
    dp_frame_set_string(f, DP_F_RUN, "00000000000000000000000000000001");
    int rc = dp_child_pass(line->child, f, f, err);
    dp_frame_reset(line->last, DP_KIND_LAP);
    return rc;
}

static int one_lap(struct line *line, int laps, struct dp_err *err)
{
    double begin = seconds();
    dp_frame_begin_lap(line->token, line->last, line->laps + 1, laps, true);
    int rc = dp_child_pass(line->child, line->token, line->token, err);
    struct dp_frame *swap = line->last;
    line->last = line->token;
    line->token = swap;
    line->took[line->laps++] = seconds() - begin;
    return rc;
}

static void end(struct line *line, bool well, struct dp_err *err)
{
    if (well) {
        dp_frame_reset(line->token, DP_KIND_END);
        dp_child_pass(line->child, line->token, line->token, err);
    }
    dp_child_kill(line->child);
    for (int k = 0; k < WORKERS; k++)
        if (line->worker[k] > 0) {
            if (!well)
                kill(line->worker[k], SIGTERM);
            waitpid(line->worker[k], NULL, 0);
        }
    dp_frame_free(line->last);
    dp_frame_free(line->token);
    free(line->took);
}

/* The median of the laps after the warm-up, in microseconds. */
static double middle(const struct line *line)
{
    return 1e6 * bench_median(line->took + WARM, (size_t)(line->laps - WARM));
}

static void print(const struct task *task, struct line *line)
{
    double one = middle(&line[0]);
    char what[120];
    for (int i = 0; i < WAYS; i++) {
        double us = i == 0 ? one : middle(&line[i]);
        snprintf(what, sizeof what, "%d × %d, %s%s", task->rows, task->cols, ways[i].name,
                 i < 2                ? ""
                 : task->workers == 2 ? ", 2 workers"
                                      : ", 4 workers");
        bench_line(what, "µs a lap", us);
        if (i >= 2 && task->workers > 2)
            bench_line(what, "µs beyond one machine", us - one);
        bench_line(what, "times the laps of one", one / us);
    }
}

static int measure(const struct task *task, struct dp_err *err)
{
    struct line line[WAYS] = {{0}};
    int laps = WARM + task->turns * task->laps, rc = DP_OK;
    for (int i = 0; rc == DP_OK && i < WAYS; i++) {
        rc = start(&line[i], task, &ways[i], 20000 + (int)(getpid() % 20000) + i, err);
        if (rc == DP_OK)
            rc = greet(&line[i], laps, err);
    }
    for (int turn = 0; rc == DP_OK && turn <= task->turns; turn++)
        for (int i = 0; i < WAYS; i++)
            for (int lap = 0; rc == DP_OK && lap < (turn == 0 ? WARM : task->laps); lap++)
                rc = one_lap(&line[i], laps, err);
    if (rc == DP_OK)
        print(task, line);
    for (int i = 0; i < WAYS; i++)
        end(&line[i], rc == DP_OK, err);
    return rc;
}

static int prepare(const struct task *task, struct dp_err *err)
{
    char command[200];
    snprintf(command, sizeof command, "dp-synth classification --rows %d --cols %d --seed 2 -o %s -q", task->rows, task->cols,
             task->data);
    return run(command, err);
}

/* Finds the commands that were built with this program. */
static int find_commands(struct dp_err *err)
{
    char path[8000];
    char *place = realpath("/proc/self/exe", NULL), *name = place != NULL ? strrchr(place, '/') : NULL;
    if (name == NULL)
        return dp_fail(err, DP_E_RUN, "cannot find its own place");
    snprintf(path, sizeof path, "%.*s/../bin:%s", (int)(name - place), place, getenv("PATH"));
    free(place);
    return setenv("PATH", path, 1) == 0 ? DP_OK : dp_fail(err, DP_E_RUN, "no memory");
}

int main(int argc, char **argv)
{
    const char *parent = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp";
    char place[2048], command[2100];
    struct dp_err err = {0};
    signal(SIGPIPE, SIG_IGN);
    int rc = find_commands(&err);
    snprintf(place, sizeof place, "%s/dpline-bench-XXXXXX", parent);
    if (mkdtemp(place) == NULL || chdir(place) != 0)
        return perror(place), 1;
    if (rc == DP_OK)
        rc = run("mkdir -m 700 port && dp-key new gate > key.gate && dp-key new site > key.site && "
                 "dp-key trust gate site \"$(cat key.site)\" && dp-key trust site gate \"$(cat key.gate)\"",
                 &err);
    for (size_t i = 0; rc == DP_OK && i < sizeof tasks / sizeof *tasks; i++) {
        if (argc > 1 && strcmp(tasks[i].data, argv[1]) != 0)
            continue;
        rc = prepare(&tasks[i], &err);
        if (rc == DP_OK)
            rc = measure(&tasks[i], &err);
    }
    snprintf(command, sizeof command, "rm -rf '%s'", place);
    if (system(command) != 0)
        fprintf(stderr, "shards: cannot remove %s\n", place);
    if (rc != DP_OK)
        fprintf(stderr, "shards: %s\n", err.message);
    return rc != DP_OK;
}
