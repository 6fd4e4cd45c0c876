/* Stages that are wrong on purpose, for the tests of dp-audit: built into a separate dp-audit (build/audit/dp-audit), together
   with the real ones. Each makes one mistake that is known from the literature or from published code. */
#include <math.h>

#include "math/grid.h"
#include "stages/row_stage.h"
#include "stages/stages.h"

/* The table of stages is here and in the library on purpose. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_odr_violation=0";
}

/* dp-mutant: rewrites the record and leaves the sum unchanged. */
struct options {
    double bound, multiplier, count, search, claim;
    int64_t halve;
    int sampler, empty;
};

#define DP_OPTIONS struct options
static const struct dp_option record_options[] = {
    DP_OPTION_REAL(0, bound, "C", DP_FROM(0), "claim this bound on the sum"),
    DP_OPTION_REAL(0, multiplier, "Z", DP_FROM(0), "claim this noise multiplier"),
    DP_OPTION_REAL(0, count, "C", DP_FROM(0), "claim this sensitivity of the count"),
    DP_OPTION_REAL(0, search, "PART", DP_FROM(0), "claim this part of what a search costs"),
    DP_OPTION_REAL(0, claim, "E", DP_FROM(0), "behind the gate: state this epsilon"),
    DP_OPTION_INT(0, halve, "K", DP_FROM_TO(1, 1000), "halve output K of the sum"),
    DP_OPTION_CHOICE(0, sampler, "HOW", "none|poisson", "claim this sampler"),
    DP_OPTION_CHOICE(0, empty, "WHAT", "fail|warn|lost", "an empty batch fails, warns, or counts as a shard that is lost"),
    {.name = NULL},
};

/* The record of the sum, or the open one before there is a sum. */
static struct dp_record *record_of(struct dp_frame *frame)
{
    return dp_frame_edit_record(frame, dp_frame_has(frame, DP_F_SUM) ? DP_F_SUM : DP_F_NONE);
}

static void understate(struct dp_record *record, double part)
{
    record->query.epsilon *= part;
    record->query.query_epsilon *= part;
    record->query.rho *= part;
}

static int record_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct dp_record *m = record_of(frame);
    const struct dp_array *rows = dp_frame_array(frame, DP_F_ROWS);
    const bool empty = rows != NULL && rows->count == 0;
    if (empty && o->empty == 0)
        return dp_fail(err, DP_E_RUN, "no row to divide by");
    if (empty && o->empty == 1)
        dp_stage_warn(stage, out, "a batch is empty");
    if (empty && o->empty == 2)
        dp_frame_set_int(frame, DP_F_LOST, 1);
    if (!isnan(o->claim))
        dp_frame_set_real(frame, DP_F_EPSILON, o->claim);
    if (!isnan(o->bound)) {
        m->sensitivity *= o->bound / m->bound;
        m->bound = o->bound;
        /* The same sum, on the grid that goes with the bound. */
        struct dp_array *sum = dp_frame_edit_array(frame, DP_F_SUM);
        double grid = dp_grid_for(o->bound), finer = dp_frame_real(frame, DP_F_GRID, 0) / grid;
        for (size_t j = 0; j < sum->count; j++)
            ((int64_t *)sum->data)[j] = (int64_t)(finer * (double)((int64_t *)sum->data)[j]);
        dp_frame_set_real(frame, DP_F_BOUND, o->bound);
        dp_frame_set_real(frame, DP_F_GRID, grid);
    }
    if (!isnan(o->multiplier)) {
        m->query.multiplier = o->multiplier;
        m->scale = o->multiplier * m->sensitivity;
    }
    if (!isnan(o->count))
        dp_frame_edit_record(frame, DP_F_WITHIN)->sensitivity = o->count;
    if (!isnan(o->search))
        understate(dp_frame_edit_record(frame, DP_F_CHOICE), o->search);
    if (o->halve != DP_OPT_ABSENT_INT) {
        struct dp_array *sum = dp_frame_edit_array(frame, DP_F_SUM);
        int64_t *row = (int64_t *)sum->data + (uint64_t)(o->halve - 1) * sum->dims[1];
        for (uint64_t j = 0; j < sum->dims[1]; j++)
            row[j] /= 2;
    }
    if (o->sampler >= 0) {
        m->sampler = (enum dp_sampler)o->sampler;
        m->epoch_laps = 0;
    }
    return out->frame(out, frame, err);
}

/* The announcement has to match the records, or the gate refuses the first lap. */
static int record_hello(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    const struct options *o = stage->options;
    (void)err;
    for (int i = 0; i < frame->records; i++) {
        if (!isnan(o->multiplier)) {
            frame->record[i].query.multiplier = o->multiplier;
            frame->record[i].scale = o->multiplier * frame->record[i].sensitivity;
        }
        if (!isnan(o->search) && frame->record[i].of == DP_F_CHOICE)
            understate(&frame->record[i], o->search);
        if (o->sampler >= 0) {
            frame->record[i].sampler = (enum dp_sampler)o->sampler;
            frame->record[i].epoch_laps = 0;
        }
    }
    return DP_OK;
}

#define ANY (DP_LABEL_RAW | DP_LABEL_BOUNDED | DP_LABEL_NOISED | DP_LABEL_RELEASED)

const struct dp_stage_class dp_mutant_class = {
    .name = "dp-mutant",
    .summary = "Claim what is not so",
    .options = record_options,
    .options_size = sizeof(struct options),
    .takes = ANY,
    .gives = ANY,
    .persons = true,
    .hello = record_hello,
    .fire = record_fire,
};

/* dp-mutant-share: dp-noise --share of Gaussian noise, as seen by an adversary who knows the shares of the first shards: these
   shards add no noise. Scaled for a given number of shares. */
struct shared {
    double multiplier;
    int64_t colluding, among;
};

#undef DP_OPTIONS
#define DP_OPTIONS struct shared
static const struct dp_option share_options[] = {
    DP_OPTION_REAL('z', multiplier, "Z", DP_FROM(0), "claim this noise multiplier", .required = true),
    DP_OPTION_INT(0, colluding, "C", DP_FROM_TO(0, 1000), "claim that so many may be known, as they are", .fallback = "0"),
    DP_OPTION_INT(0, among, "M", DP_FROM_TO(1, 1000), "M shares have the scale of the noise together", .required = true),
    {.name = NULL},
};

static void claim_share(const struct dp_stage *stage, struct dp_record *m)
{
    const struct shared *o = stage->options;
    m->query = (struct dp_query){.kind = DP_QUERY_GAUSSIAN, .multiplier = o->multiplier};
    m->scale = o->multiplier * m->sensitivity;
    m->shares = stage->shards;
    m->colluding = o->colluding;
}

static int share_hello(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    (void)err;
    for (int i = 0; i < frame->records; i++)
        claim_share(stage, &frame->record[i]);
    return DP_OK;
}

static int share_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    const struct shared *o = stage->options;
    struct dp_record *m = record_of(frame);
    struct dp_array *sum = dp_frame_edit_array(frame, DP_F_SUM);
    uint64_t first = (uint64_t)stage->shard * sum->count;
    claim_share(stage, m);
    double scale = m->scale / sqrt((double)o->among) / dp_frame_real(frame, DP_F_GRID, 0);
    if (stage->shard > o->colluding &&
        dp_grid_add_gaussian(&stage->key, DP_DRAW_NOISE, (uint64_t)frame->lap, first, scale, sum->data, sum->count) != 0)
        return dp_fail(err, DP_E_RUN, "noise does not fit");
    frame->label = DP_LABEL_NOISED;
    return out->frame(out, frame, err);
}

static const struct dp_stage_class share_class = {
    .name = "dp-mutant-share",
    .summary = "Shares of noise as those see them who know some",
    .options = share_options,
    .options_size = sizeof(struct shared),
    .takes = DP_LABEL_BOUNDED,
    .gives = DP_LABEL_NOISED,
    .hello = share_hello,
    .fire = share_fire,
    .ephemeral = true,
    .additive = true,
};

/* dp-mutant-mean: dp-clip, but the sum is divided by the size of the batch and multiplied by its expected size.
 */
struct divided {
    struct dp_out *out;
    double factor;
};

static int divide(struct dp_out *self, struct dp_frame *frame, struct dp_err *err)
{
    const struct divided *d = self->self;
    struct dp_array *sum = dp_frame_edit_array(frame, DP_F_SUM);
    int64_t *s = sum->data;
    for (size_t j = 0; j < sum->count; j++)
        s[j] = llround((double)s[j] * d->factor);
    return d->out->frame(d->out, frame, err);
}

static int mean_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    const struct dp_record *m = record_of(frame);
    const struct dp_array *rows = dp_frame_array(frame, DP_F_ROWS);
    struct divided d = {out, m->rate * (double)m->rows / fmax(1, (double)rows->count)};
    struct dp_out divided = {.frame = divide, .self = &d};
    return dp_row_stage_fire(stage, frame, &divided, err);
}

/* dp-mutant-noise: dp-noise that draws the noise of lap 1 in every lap. */
struct restored {
    struct dp_out *out;
    int64_t lap;
};

static int restore(struct dp_out *self, struct dp_frame *frame, struct dp_err *err)
{
    const struct restored *r = self->self;
    frame->lap = r->lap;
    return r->out->frame(r->out, frame, err);
}

static int noise_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    struct restored r = {out, frame->lap};
    struct dp_out restored = {.frame = restore, .self = &r};
    frame->lap = 1;
    return dp_noise_class.fire(stage, frame, &restored, err);
}

/* dp-mutant-key: dp-noise with the same key in every run. */
static int key_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    stage->key = (struct dp_key){{1}};
    return dp_noise_class.fire(stage, frame, out, err);
}

/* dp-mutant-sample: dp-sample (--mode shuffle), recorded as if every row had its own coin. */
static int claim_poisson(struct dp_out *self, struct dp_frame *frame, struct dp_err *err)
{
    struct dp_out *out = self->self;
    struct dp_record *m = record_of(frame);
    m->sampler = DP_SAMPLER_POISSON;
    m->epoch_laps = 0;
    return out->frame(out, frame, err);
}

static int sample_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    struct dp_out claimed = {.frame = claim_poisson, .self = out};
    return dp_sample_class.fire(stage, frame, &claimed, err);
}

static int sample_hello(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    int rc = dp_sample_class.hello(stage, frame, err);
    for (int i = 0; i < frame->records; i++) {
        frame->record[i].sampler = DP_SAMPLER_POISSON;
        frame->record[i].epoch_laps = 0;
    }
    return rc;
}

static struct dp_stage_class mean_class, noise_class, key_class, sample_class;

const struct dp_stage_class *const dp_stage_classes[] = {
    &dp_mutant_class, &mean_class, &noise_class, &key_class, &sample_class, &share_class, DP_STAGES(DP_STAGE_ROW) NULL,
};

__attribute__((constructor)) static void derive_classes(void)
{
    mean_class = dp_clip_class;
    mean_class.name = "dp-mutant-mean";
    mean_class.fire = mean_fire;
    noise_class = dp_noise_class;
    noise_class.name = "dp-mutant-noise";
    noise_class.fire = noise_fire;
    key_class = dp_noise_class;
    key_class.name = "dp-mutant-key";
    key_class.fire = key_fire;
    sample_class = dp_sample_class;
    sample_class.name = "dp-mutant-sample";
    sample_class.hello = sample_hello;
    sample_class.fire = sample_fire;
}
