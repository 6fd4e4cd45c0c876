#include "stages/stage.h"

#include <stdarg.h>
#include <unistd.h>

#include "base/isa.h"
#include "base/mapped.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/unit.h"
#include "base/version.h"
#include "stages/row_stage.h"
#include "wire/laps.h"

#define LAPS_PER_LOOK 64

/* The first one is only for stages whose frames may be private. */
#define DP_OPTIONS struct dp_stage_ports
static const struct dp_option port_options[] = {
    DP_OPTION_FLAG(0, allow_private_output, "write frames that are not released to a terminal"),
    DP_OPTION_TEXT('i', in, "PORT", "source of frames", .fallback = "-"),
    DP_OPTION_TEXT('o', out, "PORT", "destination of frames", .fallback = "-"),
    DP_OPTION_TEXT(0, on, "KIND", "take part only in laps of this kind; see dp-loop --plan"),
    DP_SECURITY_OPTIONS(security),
    DP_PATIENCE_OPTION(patience),
    {.name = NULL},
};

struct dp_command dp_stage_command(const struct dp_stage_class *class)
{
    bool private = (class->gives & ~(unsigned)DP_LABEL_RELEASED) != 0;
    return (struct dp_command){class->name, class->sink ? "[PORT]" : "", class->summary, class->options,
                               private ? port_options : port_options + 1};
}

const struct dp_stage_class *dp_stage_find(const char *name)
{
    for (int i = 0; dp_stage_classes[i] != NULL; i++)
        if (strcmp(dp_stage_classes[i]->name, name) == 0)
            return dp_stage_classes[i];
    return NULL;
}

/* Reads the options. Returns DP_PARSE_RUN; or what to print, or an error. */
static int read_options(struct dp_stage *s, int argc, char **argv, struct dp_stage_ports *ports, struct dp_err *err)
{
    const struct dp_stage_class *class = s->class;
    struct dp_stage_ports own, *common = ports != NULL ? ports : &own;
    struct dp_command command = dp_stage_command(class);
    int operand = 0;
    int rc = dp_option_parse(&command, s->options, common, argc, argv, &operand, err);
    /* A stage that ends a pipeline can also take a file by name. */
    if (rc == DP_PARSE_RUN && class->sink && ports != NULL && operand + 1 == argc && strcmp(ports->in, "-") == 0)
        ports->in = argv[operand++];
    if (rc == DP_PARSE_RUN && operand < argc)
        rc = dp_fail(err, DP_E_USAGE, "unexpected argument '%.80s'", argv[operand]);
    if (rc == DP_PARSE_RUN && ports == NULL && (strcmp(own.in, "-") != 0 || strcmp(own.out, "-") != 0))
        rc = dp_fail(err, DP_E_USAGE, "--in and --out have no place in a fused pipeline");
    if (rc == DP_PARSE_RUN && class->gate && common->on != NULL)
        rc = dp_fail(err, DP_E_USAGE, "--on: every lap has to be paid for, of whichever kind");
    if (rc != DP_PARSE_RUN)
        return rc;
    s->on = common->on;
    s->runtime.security = common->security;
    s->runtime.in = ports != NULL ? ports->in : NULL;
    return DP_PARSE_RUN;
}

int dp_stage_new(struct dp_stage **stage, const struct dp_stage_class *class, int argc, char **argv,
                 struct dp_stage_ports *ports, struct dp_err *err)
{
    struct dp_stage *s = dp_new(1, sizeof *s);
    s->class = class;
    s->options = dp_new(1, class->options_size);
    s->state = dp_new(1, class->state_size);
    int rc = read_options(s, argc, argv, ports, err);
    rc = rc ?: dp_checkpoint_told(&s->checkpoint, err);
    rc = rc ?: dp_isa_check(err);
    if (rc == DP_PARSE_RUN) {
        dp_key_fresh(&s->key);
        s->runtime.terminal = isatty(STDOUT_FILENO) == 1;
        if (class->rows != NULL)
            rc = dp_row_stage_open(s, err);
        else if (class->open != NULL)
            rc = class->open(s, err);
    }
    if (rc != DP_OK) {
        dp_err_at(err, class->name);
        dp_stage_free(s);
        return rc;
    }
    *stage = s;
    return DP_OK;
}

void dp_stage_free(struct dp_stage *stage)
{
    if (stage == NULL)
        return;
    if (stage->class->rows != NULL && stage->state != NULL)
        dp_row_stage_close(stage);
    else if (stage->class->close != NULL && stage->state != NULL)
        stage->class->close(stage);
    free(stage->checkpoint.directory);
    free(stage->state);
    free(stage->options);
    free(stage);
}

/* The name of a run consists only of random digits: no text can hide in it. */
static bool names_run(const struct dp_frame *hello)
{
    return dp_text_is_hex(dp_frame_text(hello, DP_F_RUN, ""), DP_RUN_DIGITS);
}

/* Stages after the gate are also told what laps will release: the field, its noise and its receiver. So they can refuse before
 * anything is paid for. The sampling and the number of rows are left out. A kind that is not in the plan could be a hidden
 * text, so its record is left out, too. */
static int bare_records(struct dp_frame *hello, struct dp_err *err)
{
    const char *text = dp_frame_text(hello, DP_F_KINDS, NULL);
    struct dp_laps laps = {0};
    int kept = 0, rc = text != NULL ? dp_laps_parse(&laps, text, err) : DP_OK;
    for (int i = 0; rc == DP_OK && i < hello->records; i++) {
        const struct dp_record *from = &hello->record[i];
        bool known = text != NULL ? dp_laps_find(&laps, from->on) >= 0 : from->on[0] == '\0';
        struct dp_record to = {.of = from->of,
                               .means = from->means,
                               .adjacency = from->adjacency,
                               .bound = from->bound,
                               .follows = from->follows & DP_FOLLOWS_ALL,
                               .query = from->query};
        memcpy(to.on, from->on, sizeof to.on);
        if (known && from->of != DP_F_NONE && from->means != DP_MEANS_NONE)
            hello->record[kept++] = to;
    }
    hello->records = kept;
    dp_laps_free(&laps);
    return rc;
}

int dp_stage_bare(struct dp_frame *frame, struct dp_err *err)
{
    static const char software[] = "dpline " DP_VERSION;
    int64_t ordinal = dp_frame_int(frame, DP_F_STAGE, 0), laps = dp_frame_int(frame, DP_F_LAPS, 0),
            status = dp_frame_int(frame, DP_F_STATUS, 0);
    bool exhausted = frame->kind == DP_KIND_END && dp_frame_bool(frame, DP_F_EXHAUSTED);
    bool kinds = frame->kind == DP_KIND_HELLO && dp_frame_has(frame, DP_F_KINDS), run = names_run(frame);
    int rc = frame->kind == DP_KIND_HELLO ? bare_records(frame, err) : DP_OK,
        records = frame->kind == DP_KIND_HELLO ? frame->records : 0;
    if (rc != DP_OK)
        return rc;
    dp_frame_reset(frame, frame->kind);
    frame->records = records; /* they are still there */
    if (frame->kind != DP_KIND_HELLO) {
        if (exhausted)
            dp_frame_set_bool(frame, DP_F_EXHAUSTED, true);
        if (status != 0)
            dp_frame_set_int(frame, DP_F_STATUS, status > 0 && status <= -DP_E_UNSAFE ? status : -DP_E_RUN);
        return DP_OK;
    }
    dp_frame_set_int(frame, DP_F_FORMAT, DP_FRAME_FORMAT);
    dp_frame_set_int(frame, DP_F_STAGE, ordinal);
    if (laps > 0)
        dp_frame_set_int(frame, DP_F_LAPS, laps);
    frame->value[DP_F_KINDS].present = kinds; /* the text is still there */
    frame->value[DP_F_RUN].present = run;
    dp_frame_set_string(frame, DP_F_SOFTWARE, software);
    return DP_OK;
}

/* Writes the state after stage->lap. For the other stages that this stage represents it writes only its own name. */
static int save(struct dp_stage *stage, struct dp_err *err)
{
    struct dp_state state = {0}, other = {0};
    dp_state_put_text(&state, "stage", stage->class->name);
    dp_state_put_text(&other, "stage", stage->class->name);
    dp_state_put_text(&state, "of_run", stage->run);
    int rc = stage->class->save != NULL ? stage->class->save(stage, &state, err) : DP_OK;
    rc = rc ?: dp_checkpoint_write(stage->checkpoint.directory, stage->ordinal, stage->lap, &state, err);
    for (int64_t i = 1; rc == DP_OK && i < stage->stands_for; i++)
        rc = dp_checkpoint_write(stage->checkpoint.directory, stage->ordinal + i, stage->lap, &other, err);
    stage->saved = stage->lap;
    return rc;
}

static int restore(struct dp_stage *stage, struct dp_err *err)
{
    struct dp_state state = {0};
    char *text, name[DP_STATE_NAME], run[DP_RUN_DIGITS + 1];
    int64_t lap = stage->checkpoint.resumed;
    int rc = dp_checkpoint_read(stage->checkpoint.directory, stage->ordinal, lap, &state, &text, err);
    rc = rc ?: dp_state_get_text(&state, "stage", name, sizeof name, err);
    if (rc == DP_OK && strcmp(name, stage->class->name) != 0)
        rc = dp_fail(err, DP_E_RUN, "stage %lld of the checkpoint %s is %s", (long long)stage->ordinal,
                     stage->checkpoint.directory, name);
    rc = rc ?: dp_state_get_text(&state, "of_run", run, sizeof run, err);
    if (rc == DP_OK && strcmp(run, stage->run) != 0)
        rc = dp_fail(err, DP_E_RUN, "stage %lld of the checkpoint %s is of another run", (long long)stage->ordinal,
                     stage->checkpoint.directory);
    if (rc == DP_OK && stage->class->restore != NULL)
        rc = stage->class->restore(stage, &state, err);
    stage->lap = stage->saved = lap;
    free(text);
    return rc;
}

/* Counts the laps of the kind that the stage works on. */
static int count_turns(struct dp_stage *stage, const struct dp_frame *frame, struct dp_err *err)
{
    struct dp_laps laps = {0};
    int rc = dp_laps_parse(&laps, dp_frame_text(frame, DP_F_KINDS, ""), err);
    int kind = rc == DP_OK ? dp_laps_find(&laps, stage->on) : -1;
    if (kind >= 0)
        stage->turns = laps.turns[kind];
    else if (rc == DP_OK || !dp_frame_has(frame, DP_F_KINDS))
        rc = dp_fail(err, DP_E_USAGE, "--on: the run has no laps of a kind '%.40s'", stage->on);
    dp_laps_free(&laps);
    return rc;
}

int dp_stage_whole(const struct dp_stage *stage, const char *what, struct dp_err *err)
{
    return stage->shards == 0 ? DP_OK : dp_fail(err, DP_E_USAGE, "%s needs all rows at once: it has no place in a shard", what);
}

/* Notes the pipeline's part of the rows, if there are parts. */
static int take_shard(struct dp_stage *stage, const struct dp_frame *hello, struct dp_err *err)
{
    stage->shard = dp_frame_int(hello, DP_F_SHARD, 0);
    stage->shards = dp_frame_int(hello, DP_F_SHARDS, 0);
    if (stage->shard == 0 && stage->shards == 0)
        return DP_OK;
    if (stage->shard < 1 || stage->shard > stage->shards || stage->shards > DP_MAX_SHARDS)
        return dp_fail(err, DP_E_RUN, "there is no shard %lld of %lld", (long long)stage->shard, (long long)stage->shards);
    return stage->class->additive ? DP_OK : dp_fail(err, DP_E_USAGE, "needs all rows at once: it has no place in a shard");
}

/* A stage that bounds single rows cannot be used if a person may have several rows. */
static int check_unit(const struct dp_stage *stage, const struct dp_frame *hello, struct dp_err *err)
{
    size_t rows;
    const struct dp_stage_class *class = stage->class;
    if (!dp_unit_read(dp_frame_text(hello, DP_F_UNIT, NULL), &rows))
        return dp_fail(err, DP_E_RUN, "the stream has a unit of privacy that this version does not know");
    if (rows <= 1 || class->persons || class->gate || (class->takes & DP_LABEL_RAW) == 0)
        return DP_OK;
    return dp_fail(err, DP_E_USAGE,
                   "the data set has up to %zu rows of a person, and this stage bounds single rows: import it with "
                   "--rows-per-person 1",
                   rows);
}

static int take_hello(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    int64_t format = dp_frame_int(frame, DP_F_FORMAT, 0);
    if (format < 1 || format > DP_FRAME_FORMAT)
        return dp_fail(err, DP_E_RUN, "the stream has frame format %lld, and the newest known is %d", (long long)format,
                       DP_FRAME_FORMAT);
    int64_t ordinal = dp_frame_int(frame, DP_F_STAGE, 0);
    if (dp_frame_has(frame, DP_F_SEED)) {
        stage->seeded = true;
        dp_key_derive(&stage->key, dp_frame_int(frame, DP_F_SEED, 0), stage->class->name, ordinal);
    }
    snprintf(stage->run, sizeof stage->run, "%s", dp_frame_text(frame, DP_F_RUN, ""));
    dp_frame_set_int(frame, DP_F_STAGE, ordinal + 1);
    stage->ordinal = ordinal + 1;
    int rc = take_shard(stage, frame, err);
    rc = rc ?: check_unit(stage, frame, err);
    if (rc == DP_OK && stage->on != NULL)
        rc = count_turns(stage, frame, err);
    if (rc == DP_OK && stage->class->rows != NULL)
        rc = dp_row_stage_hello(stage, frame, err);
    else if (rc == DP_OK && stage->class->hello != NULL)
        rc = stage->class->hello(stage, frame, err);
    if (rc == DP_OK && stage->checkpoint.resumed > 0 && !stage->class->sink)
        rc = restore(stage, err);
    if (rc == DP_OK && stage->class->gate)
        rc = dp_stage_bare(frame, err);
    return rc != DP_OK || stage->class->sink ? rc : out->frame(out, frame, err);
}

/* Checks that a stage gives only labels that it declares, and that no pages of the data were lost while it computed. */
struct checked_out {
    struct dp_out *next;
    struct dp_stage *stage;
};

static int pass_frame(struct checked_out *c, struct dp_frame *frame, struct dp_err *err)
{
    struct dp_stage *stage = c->stage;
    int rc = dp_mapped_check(false, err);
    stage->lap = frame->lap;
    stage->may_save = dp_checkpoint_possible(frame) && frame->lap < dp_frame_int(frame, DP_F_LAPS, 0);
    if (rc == DP_OK && dp_checkpoint_due(&stage->checkpoint, frame))
        rc = save(stage, err);
    return rc ?: c->next->frame(c->next, frame, err);
}

static int check_frame(struct dp_out *out, struct dp_frame *frame, struct dp_err *err)
{
    struct checked_out *c = out->self;
    if ((frame->label & c->stage->class->gives) == 0)
        return dp_fail(err, DP_E_UNSAFE, "made a %s frame, which it must not", dp_label_name(frame->label));
    return pass_frame(c, frame, err);
}

static int pass_text(struct dp_out *out, const char *text, size_t length, struct dp_err *err)
{
    struct checked_out *c = out->self;
    int rc = dp_mapped_check(false, err);
    return rc ?: c->next->text(c->next, text, length, err);
}

static void pass_warning(struct dp_out *out, const char *stage, const char *sentence)
{
    struct checked_out *c = out->self;
    if (c->next->warn != NULL)
        c->next->warn(c->next, stage, sentence);
}

void dp_stage_warn(const struct dp_stage *stage, struct dp_out *out, const char *format, ...)
{
    char sentence[DP_ERR_MESSAGE_SIZE];
    va_list arguments;
    if (out->warn == NULL)
        return;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    out->warn(out, stage->class->name, sentence);
}

static void label_set(unsigned labels, char *buffer, size_t size)
{
    buffer[0] = '\0';
    for (unsigned bit = 1; bit <= DP_LABEL_RELEASED; bit <<= 1) {
        if ((labels & bit) == 0)
            continue;
        size_t used = strlen(buffer);
        snprintf(buffer + used, size - used, "%s%s", used > 0 ? " or " : "", dp_label_name((enum dp_label)bit));
    }
}

/* Whether to save at an end before the last lap: yes, if a signal was the cause. Stages after the gate are not told the cause,
 * so they save; dp-loop knows it. */
static bool end_saves(const struct dp_stage *stage)
{
    return stage->checkpoint.directory != NULL && stage->may_save && stage->saved != stage->lap && !stage->class->sink &&
           (stage->interrupted || (!stage->class->gate && (stage->class->takes & DP_LABEL_RELEASED) != 0));
}

/* Checks the digest of an end frame: only hexadecimal digits. */
static void note_model(struct dp_stage *stage, const struct dp_frame *end)
{
    const char *digest = dp_frame_text(end, DP_F_MODEL_DIGEST, "");
    snprintf(stage->model, sizeof stage->model, "%s", dp_text_is_hex(digest, DP_MODEL_DIGEST - 1) ? digest : "");
}

/* Processes a lap of the stage, or passes it on. */
static int take_lap(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *wrapped, struct dp_err *err)
{
    char takes[64];
    /* The sender may be on another machine, and could learn more from two different answers than from one. */
    if (stage->shards > 0 && frame->lap <= stage->lap)
        return dp_fail(err, DP_E_UNSAFE, "lap %lld comes after lap %lld: in a shard what is drawn for a lap is drawn once",
                       (long long)frame->lap, (long long)stage->lap);
    if (stage->on != NULL && strcmp(dp_frame_text(frame, DP_F_LAP_KIND, ""), stage->on) != 0)
        return stage->class->sink ? DP_OK : pass_frame(wrapped->self, frame, err);
    if ((frame->label & stage->class->takes) == 0) {
        label_set(stage->class->takes, takes, sizeof takes);
        return dp_fail(err, DP_E_UNSAFE, "takes %s frames and got a %s one: a stage is missing or out of place", takes,
                       dp_label_name(frame->label));
    }
    stage->turn = stage->on != NULL ? dp_frame_int(frame, DP_F_TURN, 0) : frame->lap;
    if (stage->on == NULL)
        stage->turns = dp_frame_int(frame, DP_F_LAPS, 0);
    if (stage->on != NULL && stage->turn < 1)
        return dp_fail(err, DP_E_RUN, "lap %lld does not say which of its kind it is", (long long)frame->lap);
    return (stage->class->fire != NULL ? stage->class->fire : dp_row_stage_fire)(stage, frame, wrapped, err);
}

int dp_stage_take(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    struct checked_out checked = {out, stage};
    struct dp_out wrapped = {.frame = check_frame, .text = pass_text, .self = &checked, .warn = pass_warning};
    /* The check that the data are unchanged is made rarely: it costs a system call per file. */
    bool look = frame->kind == DP_KIND_END || (frame->kind == DP_KIND_LAP && frame->lap % LAPS_PER_LOOK == 0);
    int rc = look && !stage->runtime.second ? dp_mapped_check(true, err) : DP_OK;
    stage->out = out;
    if (rc != DP_OK) {
        dp_err_at(err, stage->class->name);
        return rc;
    }
    switch (frame->kind) {
    case DP_KIND_HELLO:
        rc = take_hello(stage, frame, out, err);
        break;
    case DP_KIND_LAP:
        rc = take_lap(stage, frame, &wrapped, err);
        break;
    case DP_KIND_END:
        stage->interrupted = dp_frame_bool(frame, DP_F_INTERRUPTED);
        note_model(stage, frame);
        if (end_saves(stage))
            rc = save(stage, err);
        if (rc == DP_OK && stage->class->drain != NULL)
            rc = stage->class->drain(stage, &wrapped, err);
        if (rc == DP_OK && stage->class->gate)
            rc = dp_stage_bare(frame, err);
        if (rc == DP_OK && !stage->class->sink)
            rc = out->frame(out, frame, err);
        break;
    case DP_KIND_ERROR:
        break;
    }
    if (rc < 0)
        dp_err_at(err, stage->class->name);
    return rc;
}

int dp_stage_after(struct dp_stage *stage, struct dp_out *out, struct dp_err *err)
{
    stage->out = out;
    int rc = stage->class->after != NULL ? stage->class->after(stage, err) : DP_OK;
    if (rc < 0)
        dp_err_at(err, stage->class->name);
    return rc;
}
