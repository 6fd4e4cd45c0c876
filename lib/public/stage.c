/* Turns a program that uses the library into a stage: a stage class of the library calls its functions. */
#include <dpline/stage.h>

#include "base/cli.h"
#include "base/mem.h"
#include "convert.h"
#include "frame.h"
#include "runtime/run.h"
#include "stages/announced.h"
#include "stages/stage.h"

/* Our state; the user's state follows it in memory. */
struct state {
    struct dp_out *out; /* while fire or drain runs */
    max_align_t theirs[];
};

struct own_class {
    struct dp_stage_class base;
    const struct dpline_stage_class *theirs;
};

static const struct dpline_stage_class *class_of(const struct dp_stage *stage)
{
    return ((const struct own_class *)stage->class)->theirs;
}

static struct dpline_stage *public_stage(struct dp_stage *stage)
{
    return (struct dpline_stage *)stage;
}

static struct state *state_of(struct dpline_stage *stage)
{
    return ((struct dp_stage *)stage)->state;
}

static int own_open(struct dp_stage *stage, struct dp_err *err)
{
    struct dpline_error error = {0};
    const struct dpline_stage_class *c = class_of(stage);
    return c->open != NULL ? dp_public_taken(err, c->open(public_stage(stage), &error), &error) : DP_OK;
}

/* Only the stage knows whether a stage after the gate uses its sum. */
static void take_answers(struct dp_stage *stage, struct dp_frame *hello)
{
    struct dp_record *record;
    for (int at = 0; stage->class->takes == DP_LABEL_RELEASED && (record = dp_announced_answer(stage, hello, &at)) != NULL;)
        record->means = DP_MEANS_TAKEN;
}

static int own_hello(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    struct dpline_error error = {0};
    const struct dpline_stage_class *c = class_of(stage);
    if (stage->checkpoint.directory != NULL && !c->ephemeral)
        return dp_fail(err, DP_E_USAGE, "this stage keeps a state that no checkpoint holds: run without --checkpoint");
    take_answers(stage, frame);
    return c->hello != NULL ? dp_public_taken(err, c->hello(public_stage(stage), dp_public_frame_out(frame), &error), &error)
                            : DP_OK;
}

static int own_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    struct dpline_error error = {0};
    struct state *s = stage->state;
    s->out = out;
    int rc = dp_public_taken(err, class_of(stage)->fire(public_stage(stage), dp_public_frame_out(frame), &error), &error);
    s->out = NULL;
    return rc;
}

static int own_drain(struct dp_stage *stage, struct dp_out *out, struct dp_err *err)
{
    struct dpline_error error = {0};
    struct state *s = stage->state;
    const struct dpline_stage_class *c = class_of(stage);
    s->out = out;
    int rc = c->drain != NULL ? dp_public_taken(err, c->drain(public_stage(stage), &error), &error) : DP_OK;
    s->out = NULL;
    return rc;
}

static void own_close(struct dp_stage *stage)
{
    if (class_of(stage)->close != NULL)
        class_of(stage)->close(public_stage(stage));
}

static void make_options(struct dp_option **options, const struct dpline_option *table)
{
    size_t count = 0;
    while (table != NULL && table[count].name != NULL)
        count++;
    *options = dp_new(count + 1, sizeof **options);
    for (size_t i = 0; i < count; i++) {
        const struct dpline_option *o = &table[i];
        (*options)[i] = (struct dp_option){.name = o->name,
                                           .letter = o->letter,
                                           .kind = (enum dp_option_kind)o->kind,
                                           .offset = o->offset,
                                           .metavar = o->metavar,
                                           .help = o->help,
                                           .fallback = o->fallback,
                                           .choices = o->choices,
                                           .min = o->min,
                                           .max = o->max,
                                           .open_min = (o->flags & DPLINE_OPTION_OPEN_MIN) != 0,
                                           .open_max = (o->flags & DPLINE_OPTION_OPEN_MAX) != 0,
                                           .required = (o->flags & DPLINE_OPTION_REQUIRED) != 0};
    }
}

_Static_assert((int)DPLINE_OPTION_FLAG == (int)DP_OPT_FLAG && (int)DPLINE_OPTION_TEXT == (int)DP_OPT_TEXT &&
                   (int)DPLINE_OPTION_REAL == (int)DP_OPT_REAL && (int)DPLINE_OPTION_INT == (int)DP_OPT_INT &&
                   (int)DPLINE_OPTION_CHOICE == (int)DP_OPT_CHOICE,
               "options pass as they are");

int dpline_stage_main(const struct dpline_stage_class *theirs, int argc, char **argv)
{
    struct dp_err err = {0};
    struct dp_option *options = NULL;
    make_options(&options, theirs->options);
    int rc = DP_OK;
    if ((theirs->name == NULL || theirs->summary == NULL || theirs->fire == NULL))
        rc = dp_fail(&err, DP_E_USAGE, "a stage needs a name, a summary and the function fire");
    for (size_t i = 0; rc == DP_OK && i < sizeof theirs->unused / sizeof theirs->unused[0]; i++)
        if (theirs->unused[i] != NULL)
            rc = dp_fail(&err, DP_E_USAGE, "the class has a member that this version does not know");
    if (rc != DP_OK) {
        free(options);
        return dp_cli_finish(theirs->name != NULL ? theirs->name : argv[0], rc, &err);
    }
    const struct own_class own = {.base = {.name = theirs->name,
                                           .summary = theirs->summary,
                                           .options = options,
                                           .options_size = theirs->options_size > 0 ? theirs->options_size : 1,
                                           .state_size = offsetof(struct state, theirs) + theirs->state_size,
                                           .takes = theirs->takes,
                                           .gives = theirs->gives,
                                           .sink = theirs->gives == 0,
                                           .open = own_open,
                                           .hello = own_hello,
                                           .fire = own_fire,
                                           .drain = own_drain,
                                           .close = own_close,
                                           .ephemeral = theirs->ephemeral != 0},
                                  .theirs = theirs};
    int status = dp_stage_main(&own.base, argc, argv);
    free(options);
    return status;
}

const void *dpline_stage_options(const struct dpline_stage *stage)
{
    return ((const struct dp_stage *)stage)->options;
}

void *dpline_stage_state(struct dpline_stage *stage)
{
    return state_of(stage)->theirs;
}

int dpline_stage_announce(struct dpline_stage *stage, struct dpline_frame *hello, const char *means, double bound,
                          int replace_one, struct dpline_error *error)
{
    struct dp_frame *f = dp_public_frame(hello);
    enum dp_meaning meaning = dp_meaning_find(means, DP_F_SUM);
    struct dp_record *open;
    if (f->kind != DP_KIND_HELLO || meaning == DP_MEANS_NONE)
        return dpline_fail(error, DPLINE_E_USAGE, "a stage announces gradient, move or moments in the hello frame, not %.40s",
                           means);
    if (!(bound > 0) || !isfinite(bound))
        return dpline_fail(error, DPLINE_E_USAGE, "a bound is positive and finite, not %g", bound);
    for (int at = 0; (open = dp_announced((struct dp_stage *)stage, f, DP_F_NONE, &at)) != NULL;) {
        open->release = DP_RELEASE_SUM;
        open->means = meaning;
        dp_record_bound(open, DP_F_SUM, replace_one ? DP_ADJACENCY_REPLACE_ONE : DP_ADJACENCY_NULL_RECORD, bound);
    }
    return DPLINE_OK;
}

int dpline_stage_emit(struct dpline_stage *stage, struct dpline_frame *frame, struct dpline_error *error)
{
    struct dp_err err = {0};
    struct dp_out *out = state_of(stage)->out;
    if (out == NULL)
        return dpline_fail(error, DPLINE_E_USAGE, "a stage emits frames in fire and drain");
    return dp_public_result(error, out->frame(out, dp_public_frame(frame), &err), &err);
}

int dpline_stage_print(struct dpline_stage *stage, const char *text, size_t size, struct dpline_error *error)
{
    struct dp_err err = {0};
    struct dp_out *out = state_of(stage)->out;
    if (out == NULL || ((struct dp_stage *)stage)->class->gives != 0)
        return dpline_fail(error, DPLINE_E_USAGE, "a stage that gives no frames prints text, in fire and drain");
    return dp_public_result(error, out->text(out, text, size, &err), &err);
}

void dpline_stage_warn(struct dpline_stage *stage, const char *sentence)
{
    struct dp_out *out = state_of(stage)->out;
    if (out != NULL)
        dp_stage_warn((struct dp_stage *)stage, out, "%s", sentence);
}
