#include "runtime/loop.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/version.h"
#include "port/model.h"
#include "port/port.h"
#include "checkpoint/checkpoint.h"
#include "runtime/child.h"
#include "runtime/pipeline.h"
#include "checkpoint/saved.h"
#include "wire/laps.h"
#include "wire/model.h"

#define DP_OPTIONS struct dp_loop_options

const struct dp_option dp_loop_option_table[] = {
    DP_OPTION_INT('n', laps, "T", DP_FROM_TO(1, DP_LAPS_MOST), "number of laps", .required = true, .unless = "plan"),
    DP_OPTION_TEXT(0, plan, "TEXT", "laps of several kinds and their order, instead of --laps: 'moments 1, gradient 200'",
                   .excludes = "laps"),
    DP_OPTION_TEXT('o', model, "FILE", "write the last model there"),
    DP_OPTION_INT(0, model_every, "K", DP_FROM_TO(1, 1099511627775), "also write the model there every K laps, each time whole",
                  .needs = "model"),
    DP_OPTION_TEXT(0, init, "FILE", "start from this model instead of zero"),
    DP_OPTION_INT('s', seed, "SEED", DP_FROM_TO(0, 9007199254740992), "derive every key from SEED: reproducible, not private"),
    DP_OPTION_CHOICE('x', exec, "HOW", "auto|processes|fused", "run the child as processes or in this process",
                     .fallback = "auto"),
    DP_OPTION_TEXT(0, send, "PORT", "no child: send the model to this port", .needs = "receive"),
    DP_OPTION_TEXT(0, receive, "PORT", "no child: receive the model from this port", .needs = "send"),
    DP_SECURITY_OPTIONS(security),
    DP_PATIENCE_OPTION(patience),
    DP_OPTION_TEXT(0, checkpoint, "DIR", "keep checkpoints in this new directory, to resume the run from",
                   .excludes = "send: stages that others start are not told; resume: it keeps its checkpoints where they were"),
    DP_OPTION_INT(0, every, "K", DP_FROM_TO(1, 1099511627775), "laps from one checkpoint to the next",
                  .name = "checkpoint-every", .fallback = "1000"),
    DP_OPTION_TEXT(0, resume, "DIR", "continue from the checkpoint in this directory, and keep the next ones there",
                   .excludes = "send: stages that others start are not told; init: it has the model to continue from"),
    DP_OPTION_FLAG(0, until_spent, "the run is meant to end with the budget: status 0"),
    DP_OPTION_REAL(0, stop_gap, "GAP", DP_ABOVE(0), "non-private runs: stop when the duality gap is at most GAP"),
    DP_OPTION_CHOICE(0, progress, "HOW", DP_PROGRESS_CHOICES, "on standard error", .fallback = "auto"),
    DP_OPTION_FLAG('q', quiet, "no progress"),
    {.name = NULL},
};

struct run {
    struct dp_loop *loop;
    struct dp_progress progress;
    struct dp_child *child;
    struct dp_port *out, *model;
    struct dp_frame *last;     /* the last model that came back */
    struct dp_frame *token;    /* the frame that goes round */
    struct dp_frame *greeting; /* the hello frame that came back, if models are written to a file */
    struct dp_laps laps;       /* the plan */
    int64_t done;
    bool hello; /* the hello frame has come back */
    struct dp_checkpoint checkpoint;
    int64_t kept;                     /* lap of the last checkpoint */
    int64_t shown;                    /* lap of the last model that --model-every has written */
    struct dp_saved saved;            /* the content of dp-loop's own file in the checkpoint */
    char init_model[DP_MODEL_DIGEST]; /* digest of the initial model, and its lap in its own run; 0: no initial model */
    int64_t init_lap;
};

static void warn(const struct dp_loop *loop, const char *sentence)
{
    if (loop->warn.say != NULL)
        loop->warn.say(loop->warn.self, "dp-loop", sentence);
}

static void say_dropped(void *self, const char *sentence)
{
    warn(self, sentence);
}

static int start_child(struct run *r, struct dp_err *err)
{
    const struct dp_loop *l = r->loop;
    const struct dp_loop_options *o = &l->options;
    int rc;
    if (o->send != NULL) {
        struct dp_port_setting setting = {o->security, o->patience, say_dropped, r->loop};
        return dp_child_ports(&r->child, o->send, o->receive, &setting, err);
    }
    if (o->exec == DP_EXEC_PROCESSES) {
        struct dp_pipeline pipeline;
        rc = dp_pipeline_parse(&pipeline, l->pipeline, err);
        dp_pipeline_free(&pipeline);
        if (rc < 0)
            return rc;
        err->message[0] = '\0'; /* the pipeline runs in a shell instead */
        return dp_child_processes(&r->child, l->pipeline, err);
    }
    rc = dp_child_fused(&r->child, l->pipeline, &l->warn, err);
    if (rc == 1 && o->exec == DP_EXEC_AUTO) {
        err->message[0] = '\0';
        return dp_child_processes(&r->child, l->pipeline, err);
    }
    if (rc == 1) {
        char why[DP_ERR_MESSAGE_SIZE];
        memcpy(why, err->message, sizeof why);
        return dp_fail(err, DP_E_USAGE, "--exec=fused: %.400s", why);
    }
    return rc;
}

/* Sends a frame and takes the answer. The signal handler decides whether this wait may be interrupted. */
static int exchange(struct run *r, struct dp_frame *frame, struct dp_err *err)
{
    struct dp_interrupt *i = r->loop->interrupt;
    i->deaf = !dp_child_cancel(r->child, &i->hurry);
    int rc = dp_child_exchange(r->child, frame, frame, err);
    i->deaf = 0;
    return rc;
}

static int write_out(struct run *r, const struct dp_frame *frame, struct dp_err *err)
{
    if (r->out == NULL)
        return DP_OK;
    int rc = dp_port_write(r->out, frame, err);
    if (rc != DP_OK && errno == EPIPE)
        r->loop->reader_gone = true;
    return rc;
}

static int say_hello(struct run *r, struct dp_err *err)
{
    const struct dp_loop_options *o = &r->loop->options;
    struct dp_frame *f = r->token;
    dp_frame_reset(f, DP_KIND_HELLO);
    dp_frame_set_int(f, DP_F_FORMAT, DP_FRAME_FORMAT);
    dp_frame_set_string(f, DP_F_SOFTWARE, "dpline " DP_VERSION);
    dp_frame_set_string(f, DP_F_RUN, r->saved.run);
    dp_frame_set_int(f, DP_F_STAGE, 0);
    dp_frame_set_int(f, DP_F_LAPS, r->laps.laps);
    if (o->plan != NULL)
        dp_frame_set_string(f, DP_F_KINDS, o->plan);
    if (o->seed != DP_OPT_ABSENT_INT)
        dp_frame_set_int(f, DP_F_SEED, o->seed);
    if (r->init_lap > 0) {
        dp_frame_set_string(f, DP_F_MODEL_DIGEST, r->init_model);
        dp_frame_set_int(f, DP_F_MODEL_LAP, r->init_lap);
    }
    int rc = exchange(r, f, err);
    if (rc != DP_OK)
        return rc;
    /* Public texts must come back unchanged; otherwise a stage that sees private rows may have written them. */
    if (strcmp(dp_frame_text(f, DP_F_KINDS, ""), o->plan != NULL ? o->plan : "") != 0)
        return dp_fail(err, DP_E_UNSAFE, "the child pipeline gave back another plan");
    if (strcmp(dp_frame_text(f, DP_F_RUN, ""), r->saved.run) != 0)
        return dp_fail(err, DP_E_UNSAFE, "the child pipeline gave back a frame of another run");
    dp_frame_drop(f, DP_F_RUN);
    dp_frame_drop(f, DP_F_SEED);
    dp_frame_drop(f, DP_F_MODEL_DIGEST);
    dp_frame_drop(f, DP_F_MODEL_LAP);
    f->records = 0;
    r->hello = true;
    r->saved.stages = dp_frame_int(f, DP_F_STAGE, 0);
    rc = write_out(r, f, err);
    if (rc == DP_OK && r->model != NULL)
        rc = dp_port_write(r->model, f, err);
    if (r->model == NULL)
        return rc;
    dp_frame_free(r->greeting);
    r->greeting = r->token;
    r->token = dp_frame_new();
    return rc;
}

/* Reads the initial model from a file, if there is one. */
static int first_model(struct run *r, struct dp_err *err)
{
    const struct dp_loop_options *o = &r->loop->options;
    dp_frame_reset(r->last, DP_KIND_LAP);
    if (o->init == NULL)
        return DP_OK;
    int rc = dp_model_read(r->last, o->init, err);
    rc = rc ?: dp_model_digest(r->last, r->init_model, err);
    r->init_lap = r->last->lap;
    bool costs =
        dp_frame_has(r->last, DP_F_EPSILON) || dp_frame_has(r->last, DP_F_TRIAL) || dp_frame_bool(r->last, DP_F_NON_PRIVATE);
    if (rc == DP_OK && dp_frame_bool(r->last, DP_F_PUBLIC) && !costs) {
        dp_frame_begin_public(r->last, r->init_model);
        return DP_OK;
    }
    dp_frame_begin_run(r->last);
    return rc;
}

static bool gap_reached(const struct run *r)
{
    double limit = r->loop->options.stop_gap;
    return !isnan(limit) && dp_frame_has(r->last, DP_F_GAP) && dp_frame_real(r->last, DP_F_GAP, 0) <= limit;
}

/* Makes the lap that came back the checkpoint, after all stages have saved it. */
static int keep(struct run *r, struct dp_err *err)
{
    const char *directory = r->checkpoint.directory;
    int rc = dp_checkpoint_complete(directory, 1, r->saved.stages, r->done, err);
    rc = rc ?: dp_saved_write(directory, &r->saved, r->last, err);
    if (rc == DP_OK)
        dp_checkpoint_clean(directory, r->done, 0);
    r->kept = rc == DP_OK ? r->done : r->kept;
    return rc;
}

/* Whether the lap has moved the model: false if there is no model yet, if a gradient is held, or if a search has found no
   step. */
static bool moves(const struct dp_frame *lap)
{
    if (!dp_frame_has(lap, DP_F_MODEL))
        return false;
    return dp_frame_has(lap, DP_F_STEP_SIZE) ? dp_frame_real(lap, DP_F_STEP_SIZE, 0) > 0 : !dp_frame_has(lap, DP_F_DIRECTION);
}

/* Makes the token of a lap: the last model and the number of the lap. */
static void begin_lap(struct run *r, int64_t lap)
{
    const struct dp_loop_options *o = &r->loop->options;
    struct dp_frame *f = r->token;
    dp_frame_begin_lap(f, r->last, lap, r->laps.laps, o->seed != DP_OPT_ABSENT_INT);
    if (o->plan == NULL)
        return;
    int kind = dp_laps_kind(&r->laps, lap);
    dp_frame_set_int(f, DP_F_TURN, ++r->saved.turn[kind]);
    dp_frame_set_string(f, DP_F_LAP_KIND, r->laps.name[kind]);
}

/* Whether there has been a lap of each kind: if none of them has made a model, no later lap will. */
static bool all_kinds_been(const struct run *r)
{
    for (int kind = 0; r->loop->options.plan != NULL && kind < r->laps.kinds; kind++)
        if (r->saved.turn[kind] == 0)
            return false;
    return true;
}

/* Does one lap. If the frame was sent with a model, the answer must have one. */
static int one_lap(struct run *r, int64_t lap, struct dp_err *err)
{
    begin_lap(r, lap);
    int rc = exchange(r, r->token, err);
    if (rc == DP_OK && !dp_frame_has(r->token, DP_F_MODEL) && (dp_frame_has(r->last, DP_F_MODEL) || all_kinds_been(r)))
        rc = dp_fail(err, DP_E_RUN, "the child pipeline gave back no model");
    return rc;
}

/* Exit reason of a run that did not fail. BUDGET: the budget was spent too early. SPENT: the budget is spent, as --until-spent
 * asks. EXHAUSTED: no more rows arrive. */
enum ending { DONE, BUDGET, SPENT, EXHAUSTED, INTERRUPTED };

static void make_end(struct run *r, enum ending how)
{
    dp_frame_reset(r->token, DP_KIND_END);
    if (how == BUDGET)
        dp_frame_set_int(r->token, DP_F_STATUS, 3);
    if (how == INTERRUPTED)
        dp_frame_set_bool(r->token, DP_F_INTERRUPTED, true);
}

/* Writes the model of the last lap to a port that has the hello frame, and ends its stream. */
static int write_model(struct run *r, struct dp_port *port, enum ending how, struct dp_err *err)
{
    int rc = dp_port_write(port, r->last, err);
    make_end(r, how == INTERRUPTED ? how : DONE);
    rc = rc ?: dp_port_write(port, r->token, err);
    return rc ?: dp_port_commit(port, err);
}

/* The file that was named took no model, such as on a full disk: writes it to the first directory that takes it, because it was
 * paid for. Nobody pays for a trial or an exact model, and a pipe or a socket had its reader. */
static void save_elsewhere(struct run *r, enum ending how)
{
    const char *temporary = getenv("TMPDIR") ?: "", *places[] = {".", temporary[0] != '\0' ? temporary : "/tmp", "/dev/shm"};
    struct dp_err unused;
    bool saved = r->greeting == NULL || !dp_port_stored(r->model) || dp_frame_has(r->last, DP_F_TRIAL) ||
                 dp_frame_bool(r->last, DP_F_NON_PRIVATE);
    for (size_t i = 0; i < sizeof places / sizeof places[0] && !saved; i++) {
        struct dp_port *port = NULL;
        char *path = dp_format("%s/dpline-XXXXXX.model", places[i]);
        const int fd = mkostemps(path, strlen(".model"), O_CLOEXEC); /* a name that nobody foresees, and that is not there */
        int rc = fd >= 0 && close(fd) == 0 ? dp_port_open_file(&port, path, DP_OUT, &unused) : DP_E_RUN;
        rc = rc ?: dp_port_write(port, r->greeting, &unused);
        saved = (rc ?: write_model(r, port, how, &unused)) == DP_OK;
        dp_port_close(port);
        char *sentence = dp_format("the model is in %s", path);
        if (saved)
            warn(r->loop, sentence);
        else if (fd >= 0)
            unlink(path);
        free(sentence);
        free(path);
    }
}

/* Writes the model of the last lap, and begins the file of the next one. A reader of the file has a whole model at any time. */
static int show_model(struct run *r, struct dp_err *err)
{
    const struct dp_loop_options *o = &r->loop->options;
    if (o->model_every == DP_OPT_ABSENT_INT || r->done % o->model_every != 0 || r->done == r->laps.laps ||
        !dp_frame_has(r->last, DP_F_MODEL))
        return DP_OK;
    int rc = write_model(r, r->model, DONE, err);
    if (rc != DP_OK)
        save_elsewhere(r, INTERRUPTED);
    r->shown = rc == DP_OK ? r->done : r->shown;
    dp_port_close(r->model);
    r->model = NULL;
    rc = rc ?: dp_port_open(&r->model, o->model, DP_OUT, err);
    return rc ?: dp_port_write(r->model, r->greeting, err);
}

/* The token is the model of that lap from now on. With a checkpoint in each lap, --model-every writes a model after its lap
 * is in the checkpoint. */
static int take_lap(struct run *r, int64_t lap, struct dp_err *err)
{
    struct dp_frame *swap = r->last;
    r->last = r->token;
    r->token = swap;
    r->done = lap;
    r->saved.moved = r->saved.moved || moves(r->last);
    dp_progress_show(&r->progress, lap, dp_frame_real(r->last, DP_F_EPSILON, -1));
    int rc = write_out(r, r->last, err);
    if (rc == DP_OK && dp_checkpoint_due(&r->checkpoint, r->last))
        rc = keep(r, err);
    return rc ?: show_model(r, err);
}

/* The hello frame and all laps, until the last one or a signal. */
static int go_round(struct run *r, struct dp_err *err)
{
    const struct dp_interrupt *interrupt = r->loop->interrupt;
    int rc = interrupt->stop ? DP_OK : say_hello(r, err);
    bool more = r->done < r->laps.laps;
    while (rc == DP_OK && more && !interrupt->stop) {
        rc = one_lap(r, r->done + 1, err);
        rc = rc ?: take_lap(r, r->done + 1, err);
        more = r->done < r->laps.laps && !gap_reached(r);
    }
    if (rc == DP_OK && !dp_frame_has(r->last, DP_F_MODEL) && !interrupt->stop)
        rc = dp_fail(err, DP_E_RUN, "no lap of the run made a model");
    return rc;
}

/* Puts the digest of the last model into the child's end frame; the gate writes it to the ledger. */
static void name_model(struct run *r)
{
    char digest[DP_MODEL_DIGEST];
    struct dp_err unused;
    if (r->done > 0 && dp_frame_has(r->last, DP_F_MODEL) && dp_model_digest(r->last, digest, &unused) == DP_OK)
        dp_frame_set_string(r->token, DP_F_MODEL_DIGEST, digest);
}

/* Sends the end frame through the child and to the readers. If the budget or the rows have ended the run, the child has sent
 * its own end frame already. */
static int send_end(struct run *r, enum ending how, struct dp_err *err)
{
    struct dp_err unused = {0};
    bool ended = how == BUDGET || how == SPENT || how == EXHAUSTED;
    make_end(r, ended ? DONE : how);
    name_model(r);
    int rc = exchange(r, r->token, ended ? &unused : err);
    return ended ? DP_OK : rc;
}

static int finish_child(struct run *r, struct dp_err *err)
{
    int rc = r->child != NULL ? dp_child_finish(r->child, err) : DP_OK;
    r->child = NULL;
    return rc;
}

static int end_stream(struct run *r, enum ending how, struct dp_err *err)
{
    make_end(r, how);
    int rc = write_out(r, r->token, err);
    if (rc == DP_OK && r->out != NULL)
        rc = dp_port_commit(r->out, err);
    dp_port_close(r->out);
    r->out = NULL;
    return rc;
}

/* If the run paid for no lap, renames an existing model file: otherwise the user would take the old model for the result of
 * this run. */
static int put_aside(const char *path, struct dp_err *err)
{
    struct stat st;
    int rc = DP_OK;
    if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return DP_OK;
    char *old = dp_format("%s~", path);
    if (rename(path, old) != 0)
        rc = dp_fail_errno(err, errno, "cannot rename %s to %s", path, old);
    free(old);
    return rc;
}

static int put_model(struct run *r, enum ending how, struct dp_err *err)
{
    if (r->model == NULL || r->done == 0 || !dp_frame_has(r->last, DP_F_MODEL))
        return r->model != NULL && how == BUDGET ? put_aside(r->loop->options.model, err) : DP_OK;
    if (how == INTERRUPTED)
        dp_frame_set_bool(r->last, DP_F_INTERRUPTED, true);
    int rc = write_model(r, r->model, how, err);
    if (rc != DP_OK)
        save_elsewhere(r, how);
    return rc;
}

/* Writes the model that was paid for, even after other errors. Reports the first error. For the order, see loop.h. */
static int finish(struct run *r, enum ending how, struct dp_err *err)
{
    struct dp_err later = {0};
    bool resumable = r->checkpoint.directory != NULL;
    int rc = r->child != NULL ? send_end(r, how, err) : DP_OK;
    if (rc == DP_OK && !resumable)
        rc = finish_child(r, err);
    rc = rc ?: end_stream(r, how, err);
    if (rc == DP_OK && r->done > 0 && !r->saved.moved && how != INTERRUPTED)
        warn(r->loop, "no step was taken: the model is the one that the run began with");
    int put = put_model(r, how, rc == DP_OK ? err : &later);
    rc = rc ?: put;
    if (rc == DP_OK && how != INTERRUPTED && how != EXHAUSTED && resumable)
        dp_checkpoint_clean(r->checkpoint.directory, 0, 0); /* the run has ended: nothing can be resumed */
    return rc ?: finish_child(r, err);
}

/* The budget allows no further lap; *err says why. A run without a model has failed, with any options. */
static int finish_spent(struct run *r, struct dp_err *err)
{
    struct dp_err spent = *err;
    bool wanted = r->loop->options.until_spent && r->done > 0 && dp_frame_has(r->last, DP_F_MODEL);
    int rc = finish(r, wanted ? SPENT : BUDGET, err);
    if (rc != DP_OK)
        return rc;
    *err = wanted ? (struct dp_err){0} : spent;
    return wanted ? DP_OK : DP_E_BUDGET;
}

/* No more rows arrive: the lap before is the last one of the run. */
static int finish_exhausted(struct run *r, struct dp_err *err)
{
    char sentence[120];
    snprintf(sentence, sizeof sentence, "the rows came to their end after lap %lld of %lld", (long long)r->done,
             (long long)r->laps.laps);
    if (!r->loop->options.quiet)
        warn(r->loop, sentence);
    if (!dp_frame_has(r->last, DP_F_MODEL))
        return dp_fail(err, DP_E_RUN, "no lap of the run made a model");
    return finish(r, EXHAUSTED, err);
}

/* A failed run also keeps the model of its last lap, which was paid for. A resumed run without a new lap has no model of its
 * own. With --model-every a model that was written is not written again, because another process may have resumed the run and
 * written a newer one; and a model is not seen without its checkpoint. */
static int keep_model(struct run *r, int rc)
{
    struct dp_err unused = {0};
    const bool lost = r->loop->options.model_every != DP_OPT_ABSENT_INT && r->checkpoint.directory != NULL && r->done > r->kept;
    if (r->done > r->checkpoint.resumed && r->done > r->shown && !lost)
        put_model(r, INTERRUPTED, &unused);
    return rc;
}

/* A signal has arrived. If the current lap did not come back, the child is lost, but the models before are kept. */
static int finish_interrupted(struct run *r, bool whole, struct dp_err *err)
{
    const struct dp_loop_options *o = &r->loop->options;
    struct dp_err unused = {0};
    r->loop->interrupted = true;
    bool ended = whole && send_end(r, INTERRUPTED, &unused) == DP_OK && finish_child(r, &unused) == DP_OK;
    int rc = DP_OK;
    if (!ended) {
        dp_child_kill(r->child);
        r->child = NULL;
    }
    if (ended && r->checkpoint.directory != NULL && r->done > r->kept && dp_checkpoint_possible(r->last))
        rc = keep(r, err);
    if (rc != DP_OK)
        return keep_model(r, rc);
    if (r->hello)
        rc = finish(r, INTERRUPTED, err);
    if (rc == DP_OK && r->done > 0 && o->model != NULL && dp_frame_has(r->last, DP_F_MODEL))
        return dp_fail(err, DP_E_RUN, "interrupted after lap %lld of %lld, whose model is in %.300s", (long long)r->done,
                       (long long)r->laps.laps, o->model);
    if (rc == DP_OK)
        return dp_fail(err, DP_E_RUN, "interrupted after lap %lld of %lld", (long long)r->done, (long long)r->laps.laps);
    return rc;
}

/* Whether output goes to the null device, so that frames need not be encoded. Only a writable descriptor
   counts: a standard stream that was closed is replaced by the null device, opened for reading, and a write to it must fail. */
static bool is_null(int fd)
{
    struct stat st, null;
    bool writes = (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY;
    return writes && fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && stat("/dev/null", &null) == 0 && st.st_rdev == null.st_rdev;
}

static int open_ports(struct run *r, struct dp_err *err)
{
    const struct dp_loop_options *o = &r->loop->options;
    int rc = first_model(r, err);
    if (rc == DP_OK && o->model != NULL)
        rc = dp_port_open(&r->model, o->model, DP_OUT, err);
    if (rc == DP_OK && !isatty(STDOUT_FILENO) && !is_null(STDOUT_FILENO))
        rc = dp_port_open(&r->out, "-", DP_OUT, err);
    if (r->out != NULL)
        dp_port_cancel(r->out, &r->loop->interrupt->hurry);
    return rc;
}

/* Creates a directory for checkpoints, or reads the state of an existing one. */
static int open_checkpoint(struct run *r, struct dp_err *err)
{
    const struct dp_loop_options *o = &r->loop->options;
    const char *directory = o->resume != NULL ? o->resume : o->checkpoint;
    if (directory == NULL)
        return dp_checkpoint_tell(NULL, err);
    int rc = o->checkpoint != NULL ? dp_checkpoint_make(directory, err) : DP_OK;
    if (rc != DP_OK)
        return rc;
    r->checkpoint.directory = realpath(directory, NULL);
    if (r->checkpoint.directory == NULL)
        return dp_fail_errno(err, errno, "cannot use %s", directory);
    r->checkpoint.every = o->every;
    if (o->resume != NULL && !dp_checkpoint_there(directory))
        return dp_fail(err, DP_E_RUN,
                       "cannot open %s/loop: No such file or directory: without a checkpoint begin a new run, and start its "
                       "workers again",
                       directory);
    if (o->resume != NULL)
        rc = dp_saved_read(directory, &r->saved, r->last, err);
    if (rc == DP_OK && o->resume != NULL)
        r->done = r->kept = r->checkpoint.resumed = r->last->lap;
    if (rc == DP_OK) /* files of a lap that did not come back */
        dp_checkpoint_clean(r->checkpoint.directory, o->resume != NULL ? r->kept : INT64_MAX, 0);
    return rc ?: dp_checkpoint_tell(&r->checkpoint, err);
}

static int open_all(struct run *r, struct dp_err *err)
{
    const struct dp_loop_options *o = &r->loop->options;
    int rc = open_ports(r, err);
    dp_saved_of(&r->saved, r->loop->pipeline, o->plan, r->laps.laps, o->seed);
    rc = rc ?: open_checkpoint(r, err);
    return rc ?: start_child(r, err);
}

/* Ends the run according to the result of the last lap or of the hello frame. */
static int settle(struct run *r, int rc, struct dp_err *err)
{
    if (rc == DP_CHILD_EXHAUSTED)
        return finish_exhausted(r, err);
    if (r->loop->interrupt->stop && r->done < r->laps.laps && !r->loop->reader_gone && rc != DP_E_BUDGET)
        return finish_interrupted(r, rc == DP_OK && r->hello, err);
    if (rc == DP_E_BUDGET)
        return finish_spent(r, err);
    return rc == DP_OK ? finish(r, DONE, err) : keep_model(r, rc);
}

/* Sends an error frame, so that readers of the stream know that the run has failed. */
static void pass_error(struct run *r, int rc)
{
    struct dp_err unused;
    if (r->out == NULL || r->loop->reader_gone)
        return;
    dp_frame_reset(r->token, DP_KIND_ERROR);
    dp_frame_set_int(r->token, DP_F_STATUS, dp_exit_status(rc));
    dp_port_write(r->out, r->token, &unused); /* no message: it may be from a private stage */
}

static int read_plan(struct run *r, struct dp_err *err)
{
    const struct dp_loop_options *o = &r->loop->options;
    struct dp_err why = {0};
    if (o->plan == NULL)
        return dp_laps_plain(&r->laps, o->laps, err);
    int rc = dp_laps_parse(&r->laps, o->plan, &why);
    return rc == DP_OK ? rc : dp_fail(err, rc, "--plan: %s", why.message);
}

static int check_options(const struct dp_loop *loop, struct dp_err *err)
{
    const struct dp_loop_options *o = &loop->options;
    if ((o->send == NULL) == (loop->pipeline == NULL))
        return dp_fail(err, DP_E_USAGE,
                       o->send == NULL ? "no child pipeline (try --help)"
                                       : "--send and --receive leave no room for a child pipeline");
    if (o->model == NULL && isatty(STDOUT_FILENO))
        return dp_fail(err, DP_E_USAGE,
                       "standard output is a terminal, which takes no model: name a file with --model, or redirect");
    return DP_OK;
}

static void start_progress(struct run *r)
{
    const struct dp_loop_options *o = &r->loop->options;
    enum dp_progress_mode mode = o->quiet ? DP_PROGRESS_NONE : (enum dp_progress_mode)o->progress;
    dp_progress_start(&r->progress, r->loop->progress, mode, r->done, r->laps.laps);
}

static void close_all(struct run *r)
{
    dp_child_kill(r->child);
    if (r->checkpoint.directory != NULL && r->loop->options.checkpoint != NULL && r->kept == 0)
        dp_checkpoint_clean(r->checkpoint.directory, 0, 0);
    free(r->checkpoint.directory);
    dp_port_close(r->out);
    dp_port_close(r->model);
    dp_frame_free(r->last);
    dp_frame_free(r->token);
    dp_frame_free(r->greeting);
    dp_laps_free(&r->laps);
}

int dp_loop_run(struct dp_loop *loop, struct dp_err *err)
{
    struct run r = {.loop = loop};
    int rc = check_options(loop, err);
    rc = rc ?: read_plan(&r, err);
    if (rc == DP_OK) {
        r.last = dp_frame_new();
        r.token = dp_frame_new();
    }
    rc = rc ?: open_all(&r, err);
    if (rc == DP_OK) {
        start_progress(&r);
        rc = go_round(&r, err);
        dp_progress_end(&r.progress);
        rc = settle(&r, rc, err);
    }
    if (rc < 0 && rc != DP_E_BUDGET && r.token != NULL)
        pass_error(&r, rc);
    close_all(&r);
    return rc;
}
