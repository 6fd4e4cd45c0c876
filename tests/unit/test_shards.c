/* Pipelines of K shards, whose answers are added, against one pipeline with all rows: the same frames, byte for byte. */
#include "unit.h"

#include <unistd.h>

#include "base/init.h"
#include "data/dataset_write.h"
#include "runtime/child.h"
#include "shards/merge.h"
#include "shards/strip.h"
#include "stages/scd.h"
#include "wire/codec.h"

#define ROWS 9000 /* many chunks of coins, the last one cut */
#define COLS 5
#define MOST 8
#define SEED 11

/* --- data */

/* A number that looks random and does not change. */
static double number(uint64_t at)
{
    at = (at + 1) * 0x9e3779b97f4a7c15;
    at = (at ^ at >> 29) * 0xbf58476d1ce4e5b9;
    return (double)((at ^ at >> 32) & 0xffffff) / 0x800000 - 1;
}

static const char *population = "people";

/* Rows [from, to) of all. classes: 0 for a regression. */
static void write_rows(const char *path, int classes, bool sparse, int64_t from, int64_t to)
{
    struct dp_writer *w;
    struct dp_err err = {0};
    const struct dp_writer_options options = {
        .cols = COLS, .storage = sparse ? DP_STORAGE_CSR : DP_STORAGE_DENSE, .population = population};
    json_t *d = classes > 0
                    ? json_pack("{s:[s,s,s,s,s], s:{s:s, s:s, s:[]}, s:[]}", "names", "a", "b", "c", "d", "e", "label", "kind",
                                "classes", "name", "y", "classes", "private_preprocessing")
                    : json_pack("{s:[s,s,s,s,s], s:{s:s, s:s, s:f, s:f}, s:[]}", "names", "a", "b", "c", "d", "e", "label",
                                "kind", "real", "name", "y", "scale", 2.0, "offset", 0.0, "private_preprocessing");
    static const char *const names[] = {"no", "yes", "perhaps", "never"};
    for (int k = 0; k < classes; k++)
        json_array_append_new(json_object_get(json_object_get(d, "label"), "classes"), json_string(names[k]));
    assert_int_equal(dp_writer_open(&w, path, &options, &err), 0);
    for (int64_t i = from; i < to; i++) {
        double x[COLS], label = 0;
        for (size_t j = 0; j < COLS; j++) {
            x[j] = number((uint64_t)i * COLS + j);
            x[j] = sparse && fabs(x[j]) < 0.5 ? 0 : x[j];
            label += x[j] * (double)(j + 1);
        }
        label = classes > 0 ? fmin(fmax(floor(label / 4 + classes / 2.0), 0), classes - 1) : fmin(fmax(label / 15, -1), 1);
        assert_int_equal(dp_writer_row(w, x, label, &err), 0);
    }
    assert_int_equal(dp_writer_finish(w, d, &err), 0);
    assert_int_equal(dp_writer_commit(w, &err), 0);
    json_decref(d);
}

/* --- pipelines */

/* `text` with the data set in place of each @, and the options for a part in place of each %. */
static char *with(const char *text, const char *data, const char *part)
{
    static char out[4096];
    size_t used = 0;
    for (; *text != '\0'; text++)
        used += (size_t)snprintf(out + used, sizeof out - used, *text == '@' || *text == '%' ? "%s" : "%.1s",
                                 *text == '@'   ? data
                                 : *text == '%' ? part
                                                : text);
    return out;
}

static struct dp_child *child(const char *text)
{
    struct dp_child *c;
    struct dp_err err = {0};
    if (dp_child_fused(&c, text, NULL, &err) != 0)
        fail_msg("%s: %s", text, err.message);
    return c;
}

static struct dp_frame *frame(void)
{
    struct dp_frame *f;
    f = dp_frame_new();
    return f;
}

static void pass(struct dp_child *c, struct dp_frame *f)
{
    struct dp_err err = {0};
    if (dp_child_pass(c, f, f, &err) != 0)
        fail_msg("%s: %s", err.where, err.message);
}

/* The stages left of the gate and right of it, the laps, and the initial model, or NULL. */
struct text {
    const char *before, *after, *plan;
    const msgpack_sbuffer *init;
};

#define GATE "dp-account --epsilon 1e6 --delta 1e-5 --allow-seeded"
#define TO_STEP "dp-noise -z 4 | " GATE " | dp-step"
#define LAPS 5

/* A run: the frames that arrive at the gate, as bytes. */
struct told {
    msgpack_sbuffer hello, lap[LAPS], model;
};

static void encode(msgpack_sbuffer *to, const struct dp_frame *f)
{
    struct dp_err err = {0};
    msgpack_sbuffer_init(to);
    assert_int_equal(dp_wire_encode(to, f, &err), 0);
}

static void forget(struct told *t)
{
    msgpack_sbuffer_destroy(&t->hello);
    msgpack_sbuffer_destroy(&t->model);
    for (int i = 0; i < LAPS; i++)
        msgpack_sbuffer_destroy(&t->lap[i]);
}

/* shards: 0 for one pipeline with all rows. parts: of one data set. */
struct way {
    int shards;
    bool parts;
};

struct run {
    struct way way;
    struct dp_child *left[MOST], *right;
    struct dp_merge merge;
    struct dp_frame *token, *answer[MOST];
};

/* Drops the fields that the gate drops from the single pipeline's frame, and a worker from its answer. */
static void drop_private(struct dp_frame *f)
{
    for (int i = 0; i < DP_F_COUNT; i++)
        if ((dp_fields[i].visibility == DP_PRIVATE || dp_fields[i].visibility == DP_TOLD) && i != DP_F_ELSEWHERE &&
            i != DP_F_MULTIPLIERS)
            dp_frame_drop(f, (enum dp_field)i);
}

/* Asks the workers, or the single pipeline. */
static void ask(struct run *r)
{
    struct dp_err err = {0};
    int rc = 0;
    if (r->way.shards == 0) {
        pass(r->left[0], r->token);
        drop_private(r->token);
        return;
    }
    for (int k = 0; k < r->way.shards; k++) {
        if (r->token->kind == DP_KIND_LAP) {
            dp_merge_token(&r->merge, k, r->token, r->answer[k]);
        } else {
            dp_frame_copy(r->answer[k], r->token);
            dp_frame_set_int(r->answer[k], DP_F_SHARD, k + 1);
            dp_frame_set_int(r->answer[k], DP_F_SHARDS, r->way.shards);
        }
        pass(r->left[k], r->answer[k]);
        dp_shard_strip(r->answer[k]);
    }
    const struct dp_frame *const *answers = (const struct dp_frame *const *)r->answer;
    if (r->token->kind == DP_KIND_LAP)
        rc = dp_merge_lap(&r->merge, answers, r->token, r->token, &err);
    else
        rc = dp_merge_hello(&r->merge, r->way.shards, answers, r->token, r->token, &err);
    if (rc != 0)
        fail_msg("%s", err.message);
}

static void hello(struct run *r, const struct text *text)
{
    dp_frame_reset(r->token, DP_KIND_HELLO);
    dp_frame_set_int(r->token, DP_F_FORMAT, DP_FRAME_FORMAT);
    dp_frame_set_int(r->token, DP_F_STAGE, 0);
    dp_frame_set_int(r->token, DP_F_LAPS, LAPS);
    dp_frame_set_string(r->token, DP_F_RUN, "0123456789abcdef0123456789abcdef");
    if (text->plan != NULL)
        dp_frame_set_string(r->token, DP_F_KINDS, text->plan);
    dp_frame_set_int(r->token, DP_F_SEED, SEED);
}

static void begin_lap(struct run *r, const struct text *text, int64_t lap)
{
    dp_frame_begin_lap(r->token, r->token, lap, LAPS, true);
    if (text->plan != NULL) { /* moments 1, descent 4 */
        dp_frame_set_int(r->token, DP_F_TURN, lap > 1 ? lap - 1 : 1);
        dp_frame_set_string(r->token, DP_F_LAP_KIND, lap > 1 ? "descent" : "moments");
    }
}

static void play(const struct text *text, struct way way, const char *const *data, struct told *told)
{
    struct run r = {.way = way, .right = child(text->after), .token = frame()};
    struct dp_err err = {0};
    char part[64] = "";
    for (int k = 0; k < (way.shards > 0 ? way.shards : 1); k++) {
        if (way.parts)
            snprintf(part, sizeof part, " --shard %d/%d", k + 1, way.shards);
        r.left[k] = child(with(text->before, data[way.parts ? 0 : k], part));
        r.answer[k] = frame();
    }
    hello(&r, text);
    ask(&r);
    dp_frame_drop(r.token, DP_F_SEED); /* the single pipeline's seed is dropped */
    encode(&told->hello, r.token);
    dp_frame_set_int(r.token, DP_F_SEED, SEED);
    pass(r.right, r.token);
    dp_frame_reset(r.token, DP_KIND_LAP);
    if (text->init != NULL)
        assert_int_equal(dp_wire_read(r.token, text->init->data, text->init->size, &err), 0);
    dp_frame_begin_run(r.token);
    for (int64_t lap = 1; lap <= LAPS; lap++) {
        begin_lap(&r, text, lap);
        ask(&r);
        encode(&told->lap[lap - 1], r.token);
        pass(r.right, r.token);
    }
    encode(&told->model, r.token);
    dp_frame_reset(r.token, DP_KIND_END);
    for (int k = 0; k < MOST; k++) {
        if (r.left[k] == NULL)
            continue;
        pass(r.left[k], r.token);
        assert_int_equal(dp_child_finish(r.left[k], &err), 0);
        dp_frame_free(r.answer[k]);
    }
    dp_child_kill(r.right);
    dp_merge_close(&r.merge);
    dp_frame_free(r.token);
}

/* Compares two frames, which may differ in the names of their data. */
static void compare(const char *what, const msgpack_sbuffer *one, const msgpack_sbuffer *other, bool sites)
{
    struct dp_frame *a = frame(), *b = frame();
    struct dp_err err = {0};
    assert_int_equal(dp_wire_read(a, one->data, one->size, &err), 0);
    assert_int_equal(dp_wire_read(b, other->data, other->size, &err), 0);
    for (int i = 0; i < DP_F_COUNT; i++)
        if (!dp_frame_same_field(a, b, (enum dp_field)i) && !(sites && i == DP_F_DATA))
            fail_msg("%s: '%s' differs", what, dp_fields[i].key);
    if (!sites && (one->size != other->size || memcmp(one->data, other->data, one->size) != 0))
        fail_msg("%s: bytes differ", what);
    if (a->records != b->records || a->label != b->label)
        fail_msg("%s: records or labels differ", what);
    for (int i = 0; i < a->records; i++)
        for (int m = 0; m < DP_RECORD_MEMBER_COUNT; m++)
            if (!dp_record_same_member(&a->record[i], &b->record[i], m))
                fail_msg("%s: '%s' of record %d differs", what, dp_record_key(m), i + 1);
    dp_frame_free(a);
    dp_frame_free(b);
}

static void compare_runs(const char *what, const struct told *one, const struct told *other, bool sites)
{
    char text[200];
    snprintf(text, sizeof text, "%.150s, hello", what);
    compare(text, &one->hello, &other->hello, false);
    for (int i = 0; i < LAPS; i++) {
        snprintf(text, sizeof text, "%.150s, lap %d", what, i + 1);
        compare(text, &one->lap[i], &other->lap[i], sites);
    }
    snprintf(text, sizeof text, "%.150s, model", what);
    compare(text, &one->model, &other->model, sites);
}

/* --- the splits */

/* Where sites begin: K sites, of similar or different sizes. */
static const int64_t split[][MOST + 1] = {
    {0, ROWS},
    {0, 4500, ROWS},
    {0, 2250, 4500, 6750, ROWS},
    {0, 1125, 2250, 3375, 4500, 5625, 6750, 7875, ROWS},
    {0, 1, ROWS},                /* a shard of one row */
    {0, 4096, 4097, ROWS},       /* a site that ends between chunks of coins, and a site that ends one row after */
    {0, 4095, 4097, 8999, ROWS}, /* within chunks */
    {0, 5, 17, 4100, 4101, 8191, ROWS},
};
#define SPLITS (sizeof split / sizeof *split)

static const char *site(const char *kind, size_t s, int k)
{
    static char path[MOST][64];
    snprintf(path[k], sizeof path[k], "%s-%zu-%d", kind, s, k);
    return path[k];
}

static void prepare_data(const char *kind, int classes, bool sparse)
{
    write_rows(kind, classes, sparse, 0, ROWS);
    for (size_t s = 0; s < SPLITS; s++)
        for (int k = 0; split[s][k] < ROWS; k++)
            write_rows(site(kind, s, k), classes, sparse, split[s][k], split[s][k + 1]);
}

static int shards_of(size_t s)
{
    int k = 0;
    while (split[s][k] < ROWS)
        k++;
    return k;
}

static void same(const char *kind, const struct text *text)
{
    struct told all, part;
    const char *data[MOST] = {kind};
    play(text, (struct way){0, false}, data, &all);
    for (int shards = 1; shards <= MOST; shards *= 2) {
        play(text, (struct way){shards, true}, data, &part);
        compare_runs(text->before, &all, &part, false);
        forget(&part);
    }
    for (size_t s = 0; s < SPLITS; s++) {
        const char *sites[MOST];
        for (int k = 0; k < shards_of(s); k++)
            sites[k] = site(kind, s, k);
        play(text, (struct way){shards_of(s), false}, sites, &part);
        compare_runs(text->before, &all, &part, true);
        forget(&part);
    }
    forget(&all);
}

#define SAMPLE "dp-sample --data @% --rate 0.05"

TEST(coordinate_descent)
{
    static const char *const texts[] = {
        SAMPLE " | dp-scd-step --data @ --lambda 1e-3 --loss hinge --clip 0.1",
        SAMPLE " | dp-scd-step --data @ --lambda 1e-3 --loss logistic --clip 0.1 --threads 2",
        SAMPLE " | dp-scd-step --data @ --lambda 1e-3 --loss logistic --clip 0.1 --release-alpha",
        SAMPLE " --inline | dp-scd-step --lambda 1e-3 --loss squared --clip 0.1",
        SAMPLE " | dp-scd-step --data @ --lambda 1e-3 --loss squared | dp-clip --data @ --clip 0.1",
        "dp-sample --data @% --mode full | dp-scd-step --data @ --lambda 1e-3 --loss smooth-hinge --clip 0.1",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct text text = {.before = texts[i], .after = TO_STEP};
        same(i % 2 == 0 ? "two" : "four", &text);
    }
    const struct text real = {SAMPLE " | dp-scd-step --data @ --lambda 1e-3 --loss huber --clip 0.1 --release-alpha", TO_STEP,
                              NULL, NULL};
    same("real", &real);
}

TEST(gradients)
{
    const struct text texts[] = {
        {SAMPLE " | dp-grad --data @ --loss logistic --clip 1 --intercept 1", TO_STEP " --step 1", NULL, NULL},
        {SAMPLE " | dp-grad --data @ --loss softmax | dp-clip --data @ --clip 1", TO_STEP " --step 1 --optimizer adam", NULL,
         NULL},
        {SAMPLE " --inline | dp-grad --loss huberised-hinge | dp-clip --clip 1 --adaptive 0.5",
         "dp-noise -z 4 --count-multiplier 9 | " GATE " | dp-step --step 1", NULL, NULL},
        {SAMPLE " | dp-grad --data @ --loss logistic | dp-clip --data @ --clip 1 --adaptive 0.5",
         "dp-noise -z 4 --count-multiplier 9 | " GATE " | dp-step --step 1", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        same(i == 0 ? "two" : "four", &texts[i]);
}

TEST(moments_and_what_is_behind_them)
{
    const struct text text = {
        .before = "dp-sample --data @% --mode full --on moments | dp-moments --data @ --intercept 0.5 --on moments | "
                  "dp-sample --data @% --rate 0.05 --on descent | "
                  "dp-grad --data @ --loss logistic --clip 1 --intercept 0.5 --on descent",
        .after = "dp-noise --on moments -z 3 | dp-noise --on descent -z 4 | " GATE
                 " | dp-transform --on moments | dp-step --step 1 --on descent",
        .plan = "moments 1, descent 4",
    };
    same("two", &text);
    same("four", &text);
}

static bool starts_elsewhere(const struct told *told)
{
    struct dp_frame *f = frame();
    assert_int_equal(dp_wire_read(f, told->lap[0].data, told->lap[0].size, NULL), 0);
    bool elsewhere = dp_frame_bool(f, DP_F_ELSEWHERE);
    dp_frame_free(f);
    return elsewhere;
}

/* All sites together own the model that they trained together; a model of other sites is not theirs. */
TEST(a_run_starts_from_a_model)
{
    struct text text = {SAMPLE " | dp-grad --data @ --loss logistic --clip 1", TO_STEP " --step 1", NULL, NULL};
    struct told of_all, of_sites, more_of_all, more_of_sites, others;
    const char *all[MOST] = {"two"}, *sites[MOST], *other[MOST] = {"strange"};
    for (int k = 0; k < 4; k++)
        sites[k] = site("two", 2, k);
    play(&text, (struct way){0, false}, all, &of_all);
    play(&text, (struct way){4, false}, sites, &of_sites);
    text.init = &of_all.model;
    play(&text, (struct way){0, false}, all, &more_of_all);
    text.init = &of_sites.model;
    play(&text, (struct way){4, false}, sites, &more_of_sites);
    compare_runs("from a model", &more_of_all, &more_of_sites, true);
    assert_false(starts_elsewhere(&more_of_sites));
    forget(&more_of_sites);
    text.init = &of_all.model; /* a model of the same population; nothing else has to be the same */
    play(&text, (struct way){4, false}, sites, &more_of_sites);
    compare_runs("from a model of the whole", &more_of_all, &more_of_sites, true);
    assert_false(starts_elsewhere(&more_of_sites));
    population = "others";
    write_rows("strange", 2, false, ROWS, 2 * ROWS);
    population = "people";
    text.init = NULL;
    play(&text, (struct way){0, false}, other, &others);
    forget(&more_of_sites);
    text.init = &others.model;
    play(&text, (struct way){4, false}, sites, &more_of_sites);
    assert_true(starts_elsewhere(&more_of_sites));
    struct told *const told[] = {&of_all, &of_sites, &more_of_all, &more_of_sites, &others};
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        forget(told[i]);
}

/* Noised sums are added, too. */
TEST(noise_in_the_shards)
{
    const struct text text = {SAMPLE " | dp-grad --data @ --loss logistic --clip 1 | dp-noise -z 4", GATE " | dp-step --step 1",
                              NULL, NULL};
    struct told all, part;
    const char *data[MOST] = {"two"};
    play(&text, (struct way){0, false}, data, &all);
    play(&text, (struct way){1, true}, data, &part);
    compare_runs("one shard with noise", &all, &part, false);
    forget(&part);
    forget(&all);
}

/* The first frame of a run, to a worker's stages. */
static struct dp_child *greeted(const char *text, int64_t shard, int64_t shards, struct dp_frame *f, int *rc,
                                struct dp_err *err)
{
    struct dp_child *c = child(text);
    dp_frame_reset(f, DP_KIND_HELLO);
    dp_frame_set_int(f, DP_F_FORMAT, DP_FRAME_FORMAT);
    dp_frame_set_int(f, DP_F_LAPS, LAPS);
    dp_frame_set_int(f, DP_F_SHARD, shard);
    dp_frame_set_int(f, DP_F_SHARDS, shards);
    *rc = dp_child_pass(c, f, f, err);
    return c;
}

static void refused_in_a_shard(const char *text, int64_t shard, int64_t shards, enum dp_status status, const char *message)
{
    struct dp_frame *f = frame();
    struct dp_err err = {0};
    int rc;
    char said[DP_ERR_MESSAGE_SIZE + 40];
    struct dp_child *c = greeted(text, shard, shards, f, &rc, &err);
    if (rc != (int)status || strcmp(dp_err_text(&err, said, sizeof said), message) != 0)
        fail_msg("%s: %d, '%s', expected %d, '%s'", text, rc, dp_err_text(&err, said, sizeof said), status, message);
    dp_child_kill(c);
    dp_frame_free(f);
}

TEST(what_needs_all_rows_is_refused)
{
#define WHOLE " needs all rows at once: it has no place in a shard"
    refused_in_a_shard("dp-account --epsilon 1 --delta 1e-5 --no-ledger", 1, 2, DP_E_USAGE, "dp-account:" WHOLE);
    refused_in_a_shard("dp-step", 1, 2, DP_E_USAGE, "dp-step:" WHOLE);
    refused_in_a_shard("dp-transform", 1, 2, DP_E_USAGE, "dp-transform:" WHOLE);
    refused_in_a_shard("dp-sample --data two --mode shuffle --rate 0.1", 1, 2, DP_E_USAGE,
                       "dp-sample: --mode fixed, shuffle or cyclic" WHOLE);
    refused_in_a_shard("dp-sample --data two --mode fixed --rate 0.1", 1, 2, DP_E_USAGE,
                       "dp-sample: --mode fixed, shuffle or cyclic" WHOLE);
    refused_in_a_shard("dp-sample --data two --mode full --columns 2", 1, 2, DP_E_USAGE, "dp-sample: --columns" WHOLE);
    refused_in_a_shard("dp-sample --data two | dp-grad --data two --loss logistic --non-private", 1, 2, DP_E_USAGE,
                       "dp-grad: --non-private" WHOLE);
    static const char *const variants[] = {"sequential --clip 1", "primal --clip 1", "non-private"};
    for (size_t i = 0; i < 3; i++) {
        char text[200];
        snprintf(text, sizeof text, "dp-sample --data two | dp-scd-step --data two --loss squared --lambda 1 --variant %s",
                 variants[i]);
        refused_in_a_shard(text, 1, 2, DP_E_USAGE, "dp-scd-step: this --variant" WHOLE);
    }
    refused_in_a_shard("dp-sample --data two --shard 1/3", 1, 2, DP_E_USAGE,
                       "dp-sample: --shard: 1/3, but the pipeline has shard 1 of 2");
    refused_in_a_shard("dp-sample --data two --shard 2/2", 1, 2, DP_E_USAGE,
                       "dp-sample: --shard: 2/2, but the pipeline has shard 1 of 2");
    refused_in_a_shard("dp-sample --data two", 3, 2, DP_E_RUN, "dp-sample: there is no shard 3 of 2");
    refused_in_a_shard("dp-sample --data two", 0, 2, DP_E_RUN, "dp-sample: there is no shard 0 of 2");
    refused_in_a_shard("dp-sample --data two", 1, 1025, DP_E_RUN, "dp-sample: there is no shard 1 of 1025");
}

static void lap_of_site(struct dp_frame *f, int64_t lap, int64_t n, int64_t first_row)
{
    dp_frame_reset(f, DP_KIND_LAP);
    f->lap = lap;
    dp_frame_set_int(f, DP_F_LAPS, LAPS);
    dp_frame_set_int(f, DP_F_N, n);
    dp_frame_set_int(f, DP_F_FIRST_ROW, first_row);
}

#define SITE "dp-sample --data two --rate 0.01 | dp-grad --data two --loss logistic --clip 1 | dp-noise -z 1"

/* If one lap has the same noise on two sums, their difference is known. */
TEST(a_lap_is_drawn_once)
{
    struct dp_frame *f = frame();
    int rc;
    struct dp_child *c = greeted(SITE, 1, 2, f, &rc, &err);
    assert_int_equal(rc, 0);
    lap_of_site(f, 2, ROWS + 1, 0);
    assert_int_equal(dp_child_pass(c, f, f, &err), 0);
    for (int64_t lap = 2; lap > 0; lap--) {
        lap_of_site(f, lap, ROWS + 1, 0);
        assert_int_equal(dp_child_pass(c, f, f, &err), DP_E_UNSAFE);
        assert_non_null(strstr(err.message, "comes after lap 2: in a shard what is drawn for a lap is drawn once"));
        dp_child_kill(c);
        c = greeted(SITE, 1, 2, f, &rc, &err);
        lap_of_site(f, 2, ROWS + 1, 0);
        assert_int_equal(dp_child_pass(c, f, f, &err), 0);
    }
    dp_child_kill(c);
    dp_frame_free(f);
}

TEST(a_site_knows_its_rows_among_all)
{
    static const int64_t wrong[][2] = {
        {ROWS - 1, 0}, {ROWS, 1}, {ROWS, -1}, {0, 0}, {INT64_MAX, INT64_MAX}, {((int64_t)1 << 48) + 1, 0}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct dp_frame *f = frame();
        err = (struct dp_err){0};
        int rc;
        struct dp_child *c = greeted(SITE, 1, 2, f, &rc, &err);
        lap_of_site(f, 1, wrong[i][0], wrong[i][1]);
        assert_fails(dp_child_pass(c, f, f, &err), DP_E_RUN,
                     "the frame of lap 1 does not say which of the rows of all shards these are");
        dp_child_kill(c);
        dp_frame_free(f);
    }
}

/* If the next stage has the data set too, each row number of the frame must be in the data set, and there are at most as many
 * as the record says. */
TEST(rows_are_those_of_the_data_set)
{
    static const struct {
        int64_t rows, first_row;
    } wrong[] = {{ROWS - 1, 0}, {ROWS, 1}, {ROWS + 1, 2}, {ROWS + 1, -1}, {ROWS + 1, INT64_MAX}};
    for (size_t i = 0; i <= sizeof wrong / sizeof *wrong; i++) {
        struct dp_frame *f = frame();
        err = (struct dp_err){0};
        int rc;
        struct dp_child *sample = greeted("dp-sample --data two --rate 0.01", 1, 2, f, &rc, &err);
        struct dp_child *grad = greeted("dp-grad --data two --loss logistic --clip 1", 1, 2, f, &rc, &err);
        lap_of_site(f, 1, ROWS + 1, 1);
        pass(sample, f);
        if (i == sizeof wrong / sizeof *wrong) {
            pass(grad, f);
        } else {
            f->record[0].rows = wrong[i].rows;
            dp_frame_set_int(f, DP_F_FIRST_ROW, wrong[i].first_row);
            assert_fails(dp_child_pass(grad, f, f, &err), DP_E_RUN,
                         "the rows were sampled from another data set than --data names");
        }
        dp_child_kill(sample);
        dp_child_kill(grad);
        dp_frame_free(f);
    }
}

static int prepare(void **state)
{
    (void)state;
    char directory[] = "/tmp/test_shards-XXXXXX";
    dp_init();
    if (mkdtemp(directory) == NULL || chdir(directory) != 0)
        return -1;
    prepare_data("two", 2, false);
    prepare_data("four", 4, true);
    prepare_data("real", 0, false);
    return 0;
}

static int tidy(void **state)
{
    (void)state;
    return system("rm -rf \"$PWD\"") == 0 ? 0 : -1;
}

/* The noise on released alpha differs between any two rows, and between laps 1 and 2^k + 1. */
TEST(released_alpha_has_noise_of_its_own)
{
    enum { TIMES = 41, TAKEN = 3 };
    const struct dp_scd_options options = {.clip = 1};
    double alpha[TAKEN], seen[TIMES * TAKEN];
    int64_t id[TAKEN] = {0, 1, 2};
    struct dp_scd scd = {.options = &options, .outputs = 1, .alpha = alpha, .last_id = id};
    struct dp_stage stage = {.state = &scd};
    struct dp_frame *f;
    dp_key_derive(&stage.key, SEED, "dp-scd-step", 2);
    f = dp_frame_new();
    dp_frame_reset(f, DP_KIND_LAP);
    dp_frame_set_real(f, DP_F_NOISE_SCALE, 1);
    for (size_t lap = 0; lap < TIMES; lap++) {
        memset(alpha, 0, sizeof alpha);
        scd.last_count = TAKEN;
        scd.last_lap = lap == 0 ? 1 : ((int64_t)1 << (lap - 1)) + 1;
        assert_int_equal(dp_scd_noise_alpha(&stage, f, &err), DP_OK);
        for (size_t i = 0; i < TAKEN; i++) {
            seen[lap * TAKEN + i] = alpha[i];
            for (size_t j = 0; j < lap * TAKEN + i; j++)
                assert_true(seen[j] != alpha[i]);
        }
    }
    dp_frame_free(f);
}

TESTS(prepare, tidy)
