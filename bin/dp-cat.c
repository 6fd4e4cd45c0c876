#include <unistd.h>

#include "base/cli.h"
#include "base/terminal.h"
#include "port/port.h"
#include "wire/json.h"
#include "wire/model.h"

enum { ANY = -1 };

struct options {
    int kind, label;
    int64_t lap;
    bool last, full, frames, allow_private_output;
    const char *out;
    struct dp_security security;
    double patience;
};

#define DP_OPTIONS struct options

static const struct dp_option options[] = {
    DP_OPTION_CHOICE('k', kind, "KIND", "hello|lap|end|error", "only frames of this kind"),
    DP_OPTION_CHOICE('L', label, "LABEL", "raw|bounded|noised|released", "only lap frames with this label"),
    DP_OPTION_INT('n', lap, "N", DP_FROM_TO(0, 1e15), "only the frames of lap N"),
    DP_OPTION_FLAG('l', last, "only the last of the selected lap frames", .excludes = "kind=hello, kind=end, kind=error"),
    DP_OPTION_FLAG('F', full, "arrays with all their values", .excludes = "frames: these are always whole"),
    DP_OPTION_FLAG('f', frames, "write the lap frames as a frame stream instead of JSON",
                   .excludes = "kind=hello, kind=end, kind=error"),
    DP_OPTION_TEXT('o', out, "PORT", "where the frames go to (default -)", .needs = "frames"),
    DP_OPTION_FLAG(0, allow_private_output, "show frames that are not released on a terminal"),
    DP_SECURITY_OPTIONS(security),
    DP_PATIENCE_OPTION(patience),
    {.name = NULL},
};

struct cat {
    struct options options;
    struct dp_port *out;    /* with --frames */
    struct dp_frame *frame; /* the one that was read */
    struct dp_frame *kept;  /* --last: the last lap frame so far */
    bool has_kept, hello_out;
    bool broken;      /* the stream broke off, and what came before was shown */
    bool interrupted; /* the stream broke off, or its end frame states that the run was interrupted */
    int64_t status;   /* of the end frame */
    bool whole;       /* the newest lap was selected, so that the end frame may name its model */
    char digest[DP_MODEL_DIGEST];
    size_t shown;
};

static bool selected(const struct cat *c, const struct dp_frame *f)
{
    const struct options *o = &c->options;
    bool lap = f->kind == DP_KIND_LAP;
    if (o->kind != ANY && (int)f->kind != o->kind)
        return false;
    if (!lap)
        return !o->frames && !o->last && o->label == ANY && o->lap == DP_OPT_ABSENT_INT;
    return (o->label == ANY || f->label == (enum dp_label)(1 << o->label)) && (o->lap == DP_OPT_ABSENT_INT || f->lap == o->lap);
}

/* Refuses lap frames that may not be written to a terminal or to such a port. */
static int refuse_exposure(const struct cat *c, const struct dp_frame *f, struct dp_err *err)
{
    enum dp_exposure exposure = isatty(STDOUT_FILENO) ? DP_EXPOSED_TERMINAL : DP_EXPOSED_NO;
    if (c->out != NULL)
        exposure = dp_port_exposure(c->out);
    return f->kind == DP_KIND_LAP ? dp_port_admits(exposure, f->label, c->options.allow_private_output, err) : DP_OK;
}

static int show(struct cat *c, const struct dp_frame *f, struct dp_err *err)
{
    int rc = refuse_exposure(c, f, err);
    c->shown++;
    if (rc != DP_OK)
        return rc;
    if (c->out != NULL)
        return dp_port_write(c->out, f, err);
    json_t *root = dp_json_frame(f, c->options.full);
    dp_json_print(root, 0, stdout);
    json_decref(root);
    return DP_OK;
}

static void keep(struct cat *c)
{
    struct dp_frame *swap = c->kept;
    c->kept = c->frame;
    c->frame = swap;
    c->has_kept = true;
}

/* With --frames the hello of the first stream opens the new one. */
static int take(struct cat *c, struct dp_err *err)
{
    if (c->frame->kind == DP_KIND_HELLO && c->out != NULL && !c->hello_out) {
        c->hello_out = true;
        return dp_port_write(c->out, c->frame, err);
    }
    if (c->frame->kind == DP_KIND_END) {
        c->status = dp_frame_int(c->frame, DP_F_STATUS, 0);
        c->interrupted = dp_frame_bool(c->frame, DP_F_INTERRUPTED);
        snprintf(c->digest, sizeof c->digest, "%s", c->whole ? dp_frame_text(c->frame, DP_F_MODEL_DIGEST, "") : "");
    }
    if (c->frame->kind == DP_KIND_LAP)
        c->whole = selected(c, c->frame);
    if (!selected(c, c->frame))
        return DP_OK;
    if (!c->options.last)
        return show(c, c->frame, err);
    keep(c);
    return DP_OK;
}

static int upstream_failed(const struct dp_frame *f, struct dp_err *err)
{
    const char *where = dp_frame_text(f, DP_F_WHERE, "");
    return dp_fail(err, DP_E_UPSTREAM, "the stream ends with a failure: %.40s%s%.400s", where, where[0] != '\0' ? ": " : "",
                   dp_frame_text(f, DP_F_MESSAGE, "without a message"));
}

static struct dp_port_setting port_setting(const struct options *o)
{
    return (struct dp_port_setting){o->security, o->patience, dp_cli_hear, "dp-cat"};
}

static int read_stream(struct cat *c, const char *spec, struct dp_err *err)
{
    struct dp_port *in;
    const char *name = strcmp(spec, "-") == 0 ? "standard input" : spec;
    bool hello = false, end = false;
    struct dp_port_setting setting = port_setting(&c->options);
    int rc = dp_port_open_with(&in, spec, DP_IN, &setting, err);
    if (rc != DP_OK)
        return rc;
    while (rc == DP_OK && !end) {
        rc = dp_port_read(in, c->frame, err);
        if (rc < 0) {
            dp_err_in(err, name);
            break;
        }
        if (rc == 0) {
            rc = dp_fail(err, DP_E_UPSTREAM, "%s ends before its end frame", name);
            break;
        }
        enum dp_kind kind = c->frame->kind;
        rc = DP_OK;
        /* A stage that fails early writes only an error frame. */
        if ((kind == DP_KIND_HELLO) == hello && kind != DP_KIND_ERROR)
            rc = hello ? dp_fail(err, DP_E_RUN, "%s: a second hello frame in one stream", name)
                       : dp_fail(err, DP_E_RUN, "%s does not begin with a hello frame", name);
        hello = true;
        end = kind == DP_KIND_END;
        if (rc == DP_OK && kind == DP_KIND_ERROR) {
            int failed = upstream_failed(c->frame, err);
            struct dp_err why = *err;
            rc = take(c, err);
            if (rc == DP_OK) {
                *err = why;
                rc = failed;
            }
            break;
        }
        rc = rc ?: take(c, err);
    }
    dp_port_close(in);
    return rc;
}

static int end_frames(struct cat *c, struct dp_err *err)
{
    if (c->shown == 0)
        return dp_fail(err, DP_E_RUN, "there is no such lap frame");
    dp_frame_reset(c->frame, DP_KIND_END);
    if (c->status != 0)
        dp_frame_set_int(c->frame, DP_F_STATUS, c->status);
    if (c->interrupted)
        dp_frame_set_bool(c->frame, DP_F_INTERRUPTED, true);
    if (c->digest[0] != '\0')
        dp_frame_set_string(c->frame, DP_F_MODEL_DIGEST, c->digest);
    int rc = dp_port_write(c->out, c->frame, err);
    return rc ?: dp_port_commit(c->out, err);
}

/* Tells the reader of --frames that no more frames will come. */
static void pass_error(struct cat *c, int rc, const struct dp_err *err)
{
    struct dp_err unused;
    if (dp_port_exposure(c->out) == DP_EXPOSED_TERMINAL)
        return;
    dp_frame_reset(c->frame, DP_KIND_ERROR);
    dp_frame_set_int(c->frame, DP_F_STATUS, dp_exit_status(rc));
    dp_frame_set_string(c->frame, DP_F_WHERE, "dp-cat");
    dp_frame_set_string(c->frame, DP_F_MESSAGE, err->message);
    dp_port_write(c->out, c->frame, &unused);
}

/* Shows the kept frame, and ends the frames that go out. After a break the frames before it are whole, so the last of them
   counts; the result is the break. */
static int finish(struct cat *c, int rc, struct dp_err *err)
{
    struct dp_err shown = *err;
    bool broken = rc == DP_E_UPSTREAM && c->has_kept;
    if (rc != DP_OK && !broken)
        return rc;
    if (c->has_kept && (c->interrupted || broken) && c->out != NULL)
        dp_frame_set_bool(c->kept, DP_F_INTERRUPTED, true);
    c->interrupted |= broken;
    int ended = c->has_kept ? show(c, c->kept, &shown) : DP_OK;
    if (ended == DP_OK && c->out != NULL)
        ended = end_frames(c, &shown);
    c->broken = broken && ended == DP_OK;
    if (ended != DP_OK)
        *err = shown;
    return ended ?: rc;
}

static int run(struct cat *c, int files, char **file, struct dp_err *err)
{
    const struct options *o = &c->options;
    struct dp_port_setting setting = port_setting(o);
    char *standard[] = {"-"};
    int rc = DP_OK;
    c->frame = dp_frame_new();
    c->kept = dp_frame_new();
    if (o->frames)
        rc = dp_port_open_with(&c->out, o->out != NULL ? o->out : "-", DP_OUT, &setting, err);
    if (files == 0) {
        files = 1;
        file = standard;
    }
    for (int i = 0; rc == DP_OK && i < files; i++)
        rc = read_stream(c, file[i], err);
    rc = finish(c, rc, err);
    if (rc != DP_OK && !c->broken && c->out != NULL)
        pass_error(c, rc, err);
    return rc;
}

int main(int argc, char **argv)
{
    const struct dp_command command = {"dp-cat", "[PORT …]", "Show frames as lines of JSON, or cut some out of a stream",
                                       options, NULL};
    struct cat c = {0};
    struct dp_err err = {0};
    int operand, status;
    if (!dp_cli_start(&command, &c.options, NULL, argc, argv, &operand, &status))
        return status;
    dp_terminal_people();
    setvbuf(stdout, NULL, _IOLBF, 1 << 16);
    int rc = run(&c, argc - operand, argv + operand, &err);
    rc == DP_OK ? dp_port_close(c.out) : dp_port_abandon(c.out);
    dp_frame_free(c.frame);
    dp_frame_free(c.kept);
    return dp_cli_finish("dp-cat", rc, &err);
}
