/* The border of a site: which fields of every frame pass, in both directions, and which labels. */
#include "unit.h"

#include "shards/strip.h"

/* Fields of a stream, of a key and of rows: no lap frame has them at the border. */
static const char *const never[] = {
    "format",      "software",    "run",          "seed",      "directory",   "stage",       "status", "where", "message",
    "kinds",       "exhausted",   "model_digest", "model_lap", "interrupted", "rows",        "X",      "y",     "updates",
    "person_rows", "multipliers", "gap",          "objective", "members",     "schema_cost", NULL};
/* Fields that the gate states: they come with a model, and no site answers them. */
static const char *const stated[] = {"noise_scale", "untracked", "ledger", "epsilon",     "delta",  "prior_epsilon",
                                     "prior_delta", "adjacency", "trial",  "selected_on", "trials", NULL};
static const char *const place[] = {"shard", "shards", "first_row", NULL};
/* A hello frame of a gather has these only, and an answer to it all but these. */
static const char *const told[] = {"format",  "software",  "run",          "shard",     "shards", "stage", "status", "where",
                                   "message", "exhausted", "model_digest", "model_lap", "kinds",  "laps",  NULL};
static const char *const kept[] = {"seed",      "directory", "rows",      "X",       "y",           "updates", "person_rows",
                                   "elsewhere", "gap",       "objective", "members", "schema_cost", NULL};

static bool is_in(const char *const *list, const char *key)
{
    while (*list != NULL && strcmp(*list, key) != 0)
        list++;
    return *list != NULL;
}

static void set(struct dp_frame *f, enum dp_field field)
{
    double *x;
    switch (dp_fields[field].type) {
    case DP_T_INT:
        dp_frame_set_int(f, field, 1);
        break;
    case DP_T_REAL:
        dp_frame_set_real(f, field, 1);
        break;
    case DP_T_BOOL:
        dp_frame_set_bool(f, field, true);
        break;
    case DP_T_TEXT:
        dp_frame_set_text(f, field, "a", 1);
        break;
    case DP_T_ARRAY:
        assert_int_equal(dp_frame_make_array(f, field, DP_F64, 1, 1, &x, NULL), DP_OK);
        *x = 1;
        break;
    }
}

TEST(a_site_takes_only_what_a_gather_may_say)
{
    static const char run[] = "000102030405060708090a0b0c0d0e0f";
    const struct dp_site site = {.shard = 1, .shards = 1};
    struct dp_frame *f;
    f = dp_frame_new();
    for (int i = 0; i < DP_F_COUNT; i++) {
        const char *key = dp_fields[i].key;
        struct dp_link_header header = {.lap = 1};
        const bool only_here = dp_fields[i].visibility == DP_PAID && dp_fields[i].lifetime == DP_LIFETIME_LAP;
        dp_frame_reset(f, DP_KIND_LAP);
        f->lap = 1;
        f->label = DP_LABEL_RELEASED;
        set(f, DP_F_MODEL);
        set(f, (enum dp_field)i);
        if (dp_shard_check(f, &header, &site, &err) != (is_in(never, key) || only_here ? DP_E_UNSAFE : DP_OK))
            fail_msg("a lap frame with %s: %s", key, err.message);
        dp_frame_reset(f, DP_KIND_HELLO);
        set(f, DP_F_SHARD);
        set(f, DP_F_SHARDS);
        set(f, (enum dp_field)i);
        dp_frame_set_string(f, DP_F_RUN, run);
        assert_true(dp_link_run(header.run, f));
        if (dp_shard_check(f, &header, &site, &err) != (is_in(told, key) ? DP_OK : DP_E_UNSAFE))
            fail_msg("a hello frame with %s: %s", key, err.message);
    }
    dp_frame_free(f);
}

TEST(a_site_takes_released_laps_only)
{
    static const enum dp_label label[] = {DP_LABEL_RAW, DP_LABEL_BOUNDED, DP_LABEL_NOISED, DP_LABEL_RELEASED};
    const struct dp_site site = {.shard = 1, .shards = 1, .allow_seeded = true};
    const struct dp_link_header header = {.lap = 7};
    struct dp_frame *f;
    f = dp_frame_new();
    for (size_t i = 0; i < sizeof label / sizeof *label; i++)
        for (int model = 0; model < 2; model++)
            for (int64_t lap = 6; lap < 9; lap++) {
                dp_frame_reset(f, DP_KIND_LAP);
                f->lap = lap;
                f->label = label[i];
                if (model)
                    set(f, DP_F_MODEL);
                assert_int_equal(dp_shard_check(f, &header, &site, &err),
                                 label[i] == DP_LABEL_RELEASED && lap == 7 ? DP_OK : DP_E_UNSAFE);
            }
    dp_frame_free(f);
}

TEST(a_site_answers_only_what_a_gather_may_see)
{
    static const enum dp_kind kind[] = {DP_KIND_HELLO, DP_KIND_LAP, DP_KIND_END, DP_KIND_ERROR};
    struct dp_frame *f;
    f = dp_frame_new();
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
        dp_frame_reset(f, kind[k]);
        for (int i = 0; i < DP_F_COUNT; i++)
            set(f, (enum dp_field)i);
        dp_shard_strip(f);
        for (int i = 0; i < DP_F_COUNT; i++) {
            const char *key = dp_fields[i].key;
            const bool here = is_in(stated, key) || is_in(place, key),
                       passes = kind[k] == DP_KIND_HELLO ? !here && !is_in(kept, key)
                                : kind[k] == DP_KIND_LAP ? !here && !is_in(never, key)
                                                         : i == DP_F_STATUS;
            if (dp_frame_has(f, (enum dp_field)i) != passes)
                fail_msg("a %s frame with %s", dp_kind_name(kind[k]), key);
        }
    }
    dp_frame_free(f);
}

TESTS(NULL, NULL)
