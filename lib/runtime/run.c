#include "runtime/run.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/progress.h"
#include "port/port.h"

struct run {
    struct dp_stage *stage;
    struct dp_port *in, *out;
    const char *in_name;
    bool line_begins; /* the output is at the beginning of a line of text */
    bool allow_private_output;
    bool hello_out, end_out;
    bool unread; /* the reader of our output is gone */
};

static int put_frame(struct dp_out *out, struct dp_frame *frame, struct dp_err *err)
{
    struct run *r = out->self;
    if (frame->kind == DP_KIND_LAP) {
        int rc = dp_port_admits(dp_port_exposure(r->out), frame->label, r->allow_private_output, err);
        if (rc != DP_OK)
            return rc;
    }
    r->hello_out |= frame->kind == DP_KIND_HELLO;
    r->end_out |= frame->kind == DP_KIND_END;
    int rc = dp_port_write(r->out, frame, err);
    if (rc == DP_OK || errno != EPIPE || !r->stage->class->waits)
        return rc;
    r->unread = r->end_out = true;
    err->message[0] = '\0';
    return err->status = DP_E_UPSTREAM;
}

static int put_text(struct dp_out *out, const char *text, size_t length, struct dp_err *err)
{
    struct run *r = out->self;
    if (r->line_begins)
        dp_progress_clear(STDOUT_FILENO);
    r->line_begins = length > 0 && text[length - 1] == '\n';
    if (fwrite(text, 1, length, stdout) != length || fflush(stdout) != 0)
        return dp_fail_errno(err, errno, "cannot write standard output");
    return DP_OK;
}

static void put_warning(struct dp_out *out, const char *stage, const char *sentence)
{
    (void)out;
    dp_cli_warn(stage, sentence);
}

static bool is_unread(struct dp_out *out)
{
    const struct run *r = out->self;
    return r->out != NULL && dp_port_unread(r->out);
}

/* The stage has ended the run: reads and drops all further frames, so that no stage upstream writes to a closed pipe. */
static int discard(struct run *r, struct dp_frame *frame, int how, struct dp_err *err)
{
    int rc;
    dp_port_watch(r->in, NULL); /* the reader of our output may have finished */
    while ((rc = dp_port_read(r->in, frame, err)) == 1)
        if (frame->kind == DP_KIND_END || frame->kind == DP_KIND_ERROR)
            break;
    return rc < 0 ? rc : how;
}

static int take_all(struct run *r, struct dp_frame *frame, struct dp_err *err)
{
    struct dp_out out = {put_frame, put_text, r, put_warning, is_unread};
    bool hello = false, none = true;
    for (;; none = false) {
        int rc = dp_port_read(r->in, frame, err);
        if (rc < 0)
            return rc;
        if (rc == DP_PORT_UNREAD) {
            r->unread = r->end_out = true;
            err->message[0] = '\0';
            return err->status = DP_E_UPSTREAM;
        }
        if (rc == 0)
            return dp_fail(err, DP_E_UPSTREAM,
                           none ? "the input has no frame: dp-loop runs a pipeline"
                                : "the input ended before its end frame: an upstream stage is gone");
        if (frame->kind == DP_KIND_ERROR) {
            err->status = DP_E_UPSTREAM;
            err->message[0] = '\0'; /* the stage that failed has printed a message, unless that was long ago */
            if (dp_port_stored(r->in) && r->stage->class->sink)
                dp_fail(err, DP_E_UPSTREAM, "%s ends with the failure of a run",
                        strcmp(r->in_name, "-") == 0 ? "standard input" : r->in_name);
            if (r->stage->class->gate)
                dp_stage_bare(frame, NULL); /* cannot fail: an error frame has no text to copy */
            if (r->out != NULL)
                dp_port_write(r->out, frame, NULL);
            r->end_out = true;
            return DP_E_UPSTREAM;
        }
        if ((frame->kind == DP_KIND_HELLO) == hello)
            return hello ? dp_fail(err, DP_E_RUN, "a second hello frame in one stream")
                         : dp_fail(err, DP_E_RUN, "the stream does not begin with a hello frame");
        hello = true;
        bool end = frame->kind == DP_KIND_END;
        rc = dp_stage_take(r->stage, frame, &out, err);
        if (rc == DP_STAGE_STOP) {
            /* fire has replaced the frame by the end frame that says why */
            bool spent = dp_frame_int(frame, DP_F_STATUS, 0) == -DP_E_BUDGET;
            rc = put_frame(&out, frame, err);
            return rc != DP_OK ? rc : discard(r, frame, spent ? DP_E_BUDGET : DP_OK, err);
        }
        if (rc != DP_OK || end)
            return rc;
    }
}

/* Sends the reader an error frame that says why there are no more frames. */
static void pass_error(struct run *r, int rc, const struct dp_err *err)
{
    struct dp_err unused;
    if (r->end_out)
        return;
    if (r->out == NULL && (isatty(STDOUT_FILENO) || dp_port_open(&r->out, "-", DP_OUT, &unused) != DP_OK))
        return;
    struct dp_frame *frame = dp_frame_new();
    dp_frame_reset(frame, DP_KIND_ERROR);
    dp_frame_set_int(frame, DP_F_STATUS, dp_exit_status(rc));
    dp_frame_set_string(frame, DP_F_WHERE, err->where);
    dp_frame_set_string(frame, DP_F_MESSAGE, err->message);
    if (dp_port_exposure(r->out) != DP_EXPOSED_TERMINAL)
        dp_port_write(r->out, frame, &unused);
    dp_frame_free(frame);
}

/* Refuses before a frame is written: then no other stage gets a frame or waits for one. */
static int refuse(struct run *r, enum dp_label label, struct dp_err *err)
{
    int rc = dp_port_admits(dp_port_exposure(r->out), label, r->allow_private_output, err);
    if (rc != DP_OK) {
        dp_port_abandon(r->out);
        r->out = NULL;
        r->end_out = true;
    }
    return rc;
}

/* dp-loop closes its end when it has written the end of the run, or has died. */
static int end_after_loop(struct run *r, struct dp_frame *frame, struct dp_err *err)
{
    struct dp_out out = {.self = r, .warn = put_warning}; /* our reader may have ended by now */
    struct dp_err unused;
    dp_port_watch(r->in, NULL);
    while (r->stage->checkpoint.directory != NULL && dp_port_read(r->in, frame, &unused) == 1)
        ;
    return dp_stage_after(r->stage, &out, err);
}

static int run(struct run *r, const struct dp_stage_ports *ports, struct dp_err *err)
{
    struct dp_frame *frame = NULL;
    bool sink = r->stage->class->sink;
    struct dp_port_setting setting = {ports->security, ports->patience, dp_cli_hear, (void *)r->stage->class->name};
    int rc = dp_port_open_with(&r->in, ports->in, DP_IN, &setting, err);
    if (rc == DP_OK && sink && strcmp(ports->out, "-") != 0)
        rc = dp_fail(err, DP_E_USAGE, "--out: this command prints text; redirect its standard output");
    if (rc == DP_OK && !sink)
        rc = dp_port_open_with(&r->out, ports->out, DP_OUT, &setting, err);
    /* Checked before the hello frame: no frame of a refused stream is written. */
    unsigned gives = r->stage->class->gives;
    if (rc == DP_OK && !sink)
        rc = refuse(r, (enum dp_label)(gives & -gives), err);
    if (rc == DP_OK && !sink)
        dp_port_watch(r->in, r->out);
    r->stage->runtime.output = r->out;
    if (rc == DP_OK)
        frame = dp_frame_new();
    rc = rc ?: take_all(r, frame, err);
    if ((rc == DP_OK || rc == DP_E_BUDGET) && r->out != NULL) {
        int committed = dp_port_commit(r->out, err);
        if (committed != DP_OK)
            rc = committed;
    }
    if ((rc == DP_OK || rc == DP_E_BUDGET) && r->stage->class->after != NULL) {
        int after = end_after_loop(r, frame, err);
        rc = after != DP_OK ? after : rc;
    }
    dp_frame_free(frame);
    return rc;
}

int dp_stage_main(const struct dp_stage_class *class, int argc, char **argv)
{
    struct run r = {0};
    struct dp_err err = {0};
    struct dp_stage_ports ports = {.in = "-", .out = "-"};
    dp_cli_guard();
    int rc = dp_stage_new(&r.stage, class, argc, argv, &ports, &err);
    if (rc > 0) {
        struct dp_command command = dp_stage_command(class);
        return dp_cli_answer(&command, rc);
    }
    r.allow_private_output = ports.allow_private_output;
    r.in_name = ports.in;
    r.line_begins = true;
    if (class->waits) /* a process that it started may die; its output is handled above */
        signal(SIGPIPE, SIG_IGN);
    if (class->sink) /* text is written with one write, so that no progress bar of dp-loop comes in between */
        setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    if (rc == DP_OK) {
        r.stage->runtime.started = (int64_t)time(NULL);
        r.stage->runtime.registry = dp_registry_default();
        rc = run(&r, &ports, &err);
    }
    if (rc < 0)
        dp_err_at(&err, class->name);
    /* Before the error is passed on: dp-loop then soon ends all stages. */
    const int status = rc < 0 && !r.unread ? dp_cli_finish(class->name, rc, &err) : 0;
    if (rc < 0 && rc != DP_E_BUDGET && !class->sink) /* a reader of text cannot use a frame */
        pass_error(&r, rc, &err);
    dp_port_close(r.in);
    dp_port_close(r.out);
    dp_stage_free(r.stage);
    if (r.unread) {
        /* End as if a write had failed: the stage downstream has printed why, if it could. */
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    return rc < 0 ? status : dp_cli_finish(class->name, rc, &err);
}
