/* The child pipeline inside this process. */
#include <time.h>

#include "base/mem.h"
#include "runtime/child.h"
#include "runtime/pipeline.h"
#include "stages/stage.h"

struct fused;

struct link {
    struct dp_stage *stage;
    struct dp_out out; /* feeds the next link */
    struct fused *fused;
    int at;
};

struct fused {
    struct dp_child base;
    struct dp_pipeline pipeline;
    struct link link[DP_MAX_STAGES];
    struct dp_warn warn;
    struct dp_frame *sent;   /* the frame for the first link */
    struct dp_frame *answer; /* gets the frame of the last link */
    int answers;
    int stopped; /* a stage ended the run: later frames are dropped */
    bool waits;  /* a stage waits for other processes */
    volatile sig_atomic_t *cancel;
};

static int feed(struct fused *f, int at, struct dp_frame *frame, struct dp_err *err);

static int emit(struct dp_out *out, struct dp_frame *frame, struct dp_err *err)
{
    struct link *link = out->self;
    return feed(link->fused, link->at + 1, frame, err);
}

static void warn(struct dp_out *out, const char *stage, const char *sentence)
{
    struct link *link = out->self;
    const struct dp_warn *to = &link->fused->warn;
    if (to->say != NULL)
        to->say(to->self, stage, sentence);
}

static int no_text(struct dp_out *out, const char *text, size_t length, struct dp_err *err)
{
    (void)out;
    (void)text;
    (void)length;
    return dp_fail(err, DP_E_RUN, "text has no place in a fused pipeline");
}

/* Passes the frame to stage `at`, or out of the pipeline after the last stage. */
static int feed(struct fused *f, int at, struct dp_frame *frame, struct dp_err *err)
{
    if (at == f->pipeline.stages) {
        f->answers++;
        if (frame != f->answer)
            dp_frame_copy(f->answer, frame);
        return DP_OK;
    }
    if (f->waits && f->cancel != NULL && *f->cancel)
        return dp_fail(err, DP_E_RUN, "interrupted");
    struct link *link = &f->link[at];
    int rc = dp_stage_take(link->stage, frame, &link->out, err);
    if (rc != DP_STAGE_STOP)
        return rc;
    f->stopped = 1; /* the frame is now the end frame that says why; the following stages get it, too */
    return feed(f, at + 1, frame, err);
}

static void fused_send(struct dp_child *child, struct dp_frame *frame)
{
    ((struct fused *)child)->sent = frame;
}

static int fused_receive(struct dp_child *child, struct dp_frame *answer, struct dp_err *err)
{
    struct fused *f = (struct fused *)child;
    f->answer = answer;
    f->answers = 0;
    if (f->stopped)
        return DP_OK;
    int rc = feed(f, 0, f->sent, err);
    if (rc == DP_OK && f->answers != 1)
        rc = dp_fail(err, DP_E_RUN, "the child pipeline gave back %d frames for one", f->answers);
    return rc;
}

static int fused_finish(struct dp_child *child, struct dp_err *err)
{
    struct fused *f = (struct fused *)child;
    int rc = DP_OK;
    for (int i = 0; i < f->pipeline.stages; i++) {
        struct dp_err later = {0};
        int ended = dp_stage_after(f->link[i].stage, &f->link[i].out, rc == DP_OK ? err : &later);
        rc = rc ?: ended;
    }
    return rc;
}

static void fused_free(struct dp_child *child)
{
    struct fused *f = (struct fused *)child;
    for (int i = 0; i < f->pipeline.stages; i++)
        dp_stage_free(f->link[i].stage);
    dp_pipeline_free(&f->pipeline);
    free(f);
}

static bool fused_cancel(struct dp_child *child, volatile sig_atomic_t *flag)
{
    struct fused *f = (struct fused *)child;
    f->cancel = flag;
    for (int i = 0; i < f->pipeline.stages; i++)
        f->link[i].stage->runtime.cancel = flag;
    return f->waits;
}

static const struct dp_child_ops fused_ops = {
    .send = fused_send, .receive = fused_receive, .finish = fused_finish, .free = fused_free, .cancel = fused_cancel};

int dp_child_fused(struct dp_child **child, const char *text, const struct dp_warn *warning, struct dp_err *err)
{
    struct fused *f = dp_new(1, sizeof *f);
    f->base.ops = &fused_ops;
    if (warning != NULL)
        f->warn = *warning;
    int rc = dp_pipeline_parse(&f->pipeline, text, err);
    for (int i = 0; rc == DP_OK && i < f->pipeline.stages; i++) {
        f->link[i] =
            (struct link){.fused = f, .at = i, .out = {.frame = emit, .text = no_text, .self = &f->link[i], .warn = warn}};
        struct dp_pipeline_stage *stage = &f->pipeline.stage[i];
        rc = dp_stage_new(&f->link[i].stage, dp_stage_find(stage->argv[0]), stage->argc, stage->argv, NULL, err);
        if (rc > 0)
            rc = dp_fail(err, DP_E_USAGE, "--help and --version have no place in a child pipeline");
        if (rc != DP_OK)
            break;
        f->link[i].stage->runtime.started = (int64_t)time(NULL);
        f->link[i].stage->runtime.registry = dp_registry_default();
        f->link[i].stage->runtime.second = i > 0;
        f->waits = f->waits || f->link[i].stage->class->waits;
    }
    if (rc != DP_OK) {
        fused_free(&f->base);
        return rc;
    }
    *child = &f->base;
    return DP_OK;
}
