/* The workers of shards, a worker's standing, and the frames that leave its site: messages in any order, no sockets. */
#include "unit.h"

#include "shards/roster.h"
#include "shards/standing.h"
#include "shards/strip.h"

#define SHARDS 3
#define FIRST 77

static const unsigned char run[DP_LINK_ID] = {1, 2, 3}, other_run[DP_LINK_ID] = {9};
static char why[DP_ERR_MESSAGE_SIZE];
static struct dp_roster roster;

static int close_roster(void **state)
{
    (void)state;
    dp_roster_close(&roster);
    return 0;
}
#define TEST_OF_ROSTER(name) TEST_IN(name, NULL, close_roster)

static void begin(int64_t resumed)
{
    close_roster(NULL);
    dp_roster_open(&roster, SHARDS, FIRST, resumed);
    memcpy(roster.run, run, sizeof run);
    dp_roster_ask(&roster, DP_KIND_HELLO, resumed, 0);
}

static enum dp_verdict joins(int peer, const char *name, int shard, const unsigned char *id, int64_t lap)
{
    struct dp_link_header header = {.type = DP_SHARD_JOIN, .shard = shard, .shards = SHARDS, .lap = lap};
    if (id != NULL)
        memcpy(header.run, id, sizeof header.run);
    return dp_roster_join(&roster, peer, name, &header, 0, why);
}

static enum dp_verdict answers(int peer, int shard, uint64_t sequence, int64_t lap, enum dp_kind kind)
{
    struct dp_link_header header = {.type = DP_SHARD_FRAME, .shard = shard, .shards = SHARDS, .sequence = sequence, .lap = lap};
    memcpy(header.run, run, sizeof header.run);
    return dp_roster_answer(&roster, peer, &header, kind, why);
}

/* Peers 11, 12, 13 have shards 1, 2, 3 and have answered the hello frame. */
static void seat_all(void)
{
    begin(0);
    for (int k = 1; k <= SHARDS; k++) {
        assert_int_equal(joins(10 + k, "", k, NULL, 0), DP_VERDICT_TAKEN);
        assert_int_equal(answers(10 + k, k, FIRST, 0, DP_KIND_HELLO), DP_VERDICT_TAKEN);
    }
    assert_int_equal(dp_roster_waits(&roster, 1), 0);
}

/* A worker keeps its roster of masks, and the gather does not wait for a shard that takes no part in them. */
TEST_OF_ROSTER(masks_have_one_roster)
{
    seat_all();
    roster.seat[1].tag = 5;
    assert_int_equal(joins(12, "", 2, run, 0), DP_VERDICT_REFUSED);
    assert_string_equal(why, "it has another roster of masks than when the run began");
    dp_roster_ask(&roster, DP_KIND_LAP, 1, 0);
    roster.seat[1].absent = true;
    for (int k = 1; k <= SHARDS; k += 2)
        assert_int_equal(answers(10 + k, k, roster.sequence, 1, DP_KIND_LAP), DP_VERDICT_TAKEN);
    assert_int_equal(dp_roster_waits(&roster, 1), 0);
    dp_roster_ask(&roster, DP_KIND_LAP, 2, 0);
    assert_int_equal(dp_roster_waits(&roster, 2), 2);
}

/* All have answered that lap. */
static void count(int64_t lap)
{
    dp_roster_ask(&roster, DP_KIND_LAP, lap, 0);
    for (int k = 1; k <= SHARDS; k++)
        assert_int_equal(answers(10 + k, k, roster.sequence, lap, DP_KIND_LAP), DP_VERDICT_TAKEN);
    assert_int_equal(dp_roster_waits(&roster, 1), 0);
}

TEST_OF_ROSTER(a_lap_is_answered_once_by_each)
{
    seat_all();
    count(1);
    dp_roster_ask(&roster, DP_KIND_LAP, 2, 0);
    assert_int_equal(answers(11, 1, roster.sequence, 2, DP_KIND_LAP), DP_VERDICT_TAKEN);
    assert_int_equal(answers(11, 1, roster.sequence, 2, DP_KIND_LAP), DP_VERDICT_DROPPED);
    assert_string_equal(why, "which answers once more");
    assert_int_equal(answers(12, 2, roster.sequence - 1, 1, DP_KIND_LAP), DP_VERDICT_DROPPED);
    assert_string_equal(why, "which answers a lap that is over");
    assert_int_equal(answers(12, 2, roster.sequence, 1, DP_KIND_LAP), DP_VERDICT_DROPPED);
    /* another gather of the same run has another sequence */
    assert_int_equal(answers(12, 2, 123456, 2, DP_KIND_LAP), DP_VERDICT_DROPPED);
    assert_int_equal(answers(12, 2, FIRST, 2, DP_KIND_HELLO), DP_VERDICT_DROPPED);
    assert_int_equal(answers(12, 2, roster.sequence, 2, DP_KIND_HELLO), DP_VERDICT_DROPPED);
    assert_int_equal(answers(11, 2, roster.sequence, 2, DP_KIND_LAP), DP_VERDICT_AGAIN); /* not its shard */
    assert_int_equal(answers(99, 2, roster.sequence, 2, DP_KIND_LAP), DP_VERDICT_AGAIN);
    assert_int_equal(answers(12, 0, roster.sequence, 2, DP_KIND_LAP), DP_VERDICT_AGAIN);
    assert_int_equal(answers(12, SHARDS + 1, roster.sequence, 2, DP_KIND_LAP), DP_VERDICT_AGAIN);
    assert_int_equal(dp_roster_waits(&roster, 1), 2);
    assert_int_equal(answers(12, 2, roster.sequence, 2, DP_KIND_ERROR), DP_VERDICT_TAKEN);
    assert_int_equal(roster.seat[1].counted, 1); /* no answer to lap 2 was counted */
    assert_int_equal(dp_roster_waits(&roster, 1), 3);
}

TEST_OF_ROSTER(an_answer_of_another_run_is_dropped)
{
    seat_all();
    dp_roster_ask(&roster, DP_KIND_LAP, 1, 0);
    struct dp_link_header header = {
        .type = DP_SHARD_FRAME, .shard = 1, .shards = SHARDS, .sequence = roster.sequence, .lap = 1};
    assert_int_equal(dp_roster_answer(&roster, 11, &header, DP_KIND_LAP, why), DP_VERDICT_DROPPED);
    memcpy(header.run, other_run, sizeof other_run);
    assert_int_equal(dp_roster_answer(&roster, 11, &header, DP_KIND_LAP, why), DP_VERDICT_DROPPED);
    assert_string_equal(why, "of another run");
    assert_false(roster.seat[0].answered);
}

TEST_OF_ROSTER(who_may_join)
{
    begin(0);
    assert_int_equal(joins(5, "ann", 0, NULL, 0), DP_VERDICT_REFUSED);
    assert_int_equal(joins(5, "ann", 4, NULL, 0), DP_VERDICT_REFUSED);
    assert_string_equal(why, "it is shard 4 of 3, and the run has 3");
    assert_int_equal(joins(5, "ann", 2, other_run, 0), DP_VERDICT_REFUSED);
    assert_string_equal(why, "it is in the middle of another run");
    assert_int_equal(joins(5, "ann", 2, NULL, -2), DP_VERDICT_DROPPED);
    assert_int_equal(joins(5, "ann", 2, NULL, 0), DP_VERDICT_TAKEN);
    assert_int_equal(joins(6, "ann", 2, NULL, 0), DP_VERDICT_AGAIN);
    assert_string_equal(why, "its shard has a worker already");
    assert_int_equal(joins(6, "bob", 2, NULL, 0), DP_VERDICT_REFUSED);
    dp_roster_gone(&roster, 5);
    assert_int_equal(joins(6, "bob", 2, NULL, 0), DP_VERDICT_REFUSED); /* the first worker keeps it */
    assert_string_equal(why, "its shard belongs to another worker");
    assert_int_equal(joins(7, "ann", 2, NULL, 0), DP_VERDICT_TAKEN);
    assert_int_equal(joins(7, "ann", 3, NULL, 0), DP_VERDICT_TAKEN); /* a worker has only one seat */
    assert_int_equal(roster.seat[1].peer, 0);
    roster.seat[0].over = true;
    assert_int_equal(joins(8, "eve", 1, NULL, 0), DP_VERDICT_REFUSED);
}

TEST_OF_ROSTER(an_older_checkpoint_is_refused)
{
    seat_all();
    for (int lap = 1; lap <= 9; lap++)
        count(lap);
    dp_roster_gone(&roster, 12);
    assert_int_equal(joins(20, "", 2, run, 5), DP_VERDICT_REFUSED);
    assert_string_equal(why, "its checkpoint is of lap 5, and lap 9 of it has been counted");
    assert_int_equal(joins(20, "", 2, NULL, 0), DP_VERDICT_REFUSED);
    assert_string_equal(why, "it has no checkpoint, and lap 9 of it has been counted");
    assert_int_equal(joins(20, "", 2, run, 9), DP_VERDICT_TAKEN);
    dp_roster_gone(&roster, 20);
    assert_int_equal(joins(21, "", 2, run, 10), DP_VERDICT_TAKEN); /* its answer to lap 10 was lost */
    dp_roster_gone(&roster, 21);
    assert_int_equal(joins(22, "", 2, NULL, DP_SHARD_ANY), DP_VERDICT_TAKEN);
    /* at the end no question needs a state */
    dp_roster_gone(&roster, 22);
    dp_roster_ask(&roster, DP_KIND_END, 9, 6);
    assert_int_equal(joins(24, "", 2, NULL, 0), DP_VERDICT_TAKEN);
    begin(40); /* resumed */
    assert_int_equal(joins(1, "", 1, run, 39), DP_VERDICT_REFUSED);
    assert_int_equal(joins(1, "", 1, run, 47), DP_VERDICT_TAKEN); /* the worker has to go back */
}

TEST_OF_ROSTER(one_that_comes_back_is_greeted_first)
{
    seat_all();
    count(1);
    dp_roster_ask(&roster, DP_KIND_LAP, 2, 0);
    dp_roster_gone(&roster, 12);
    assert_int_equal(answers(12, 2, roster.sequence, 2, DP_KIND_LAP), DP_VERDICT_AGAIN);
    assert_int_equal(joins(12, "", 2, run, 1), DP_VERDICT_TAKEN);
    assert_int_equal(answers(12, 2, roster.sequence, 2, DP_KIND_LAP), DP_VERDICT_DROPPED);
    assert_string_equal(why, "which answers before the hello frame");
    assert_int_equal(answers(12, 2, FIRST, 1, DP_KIND_LAP), DP_VERDICT_DROPPED);
    assert_int_equal(answers(12, 2, FIRST, 1, DP_KIND_HELLO), DP_VERDICT_GREETED);
    assert_int_equal(answers(12, 2, roster.sequence, 2, DP_KIND_LAP), DP_VERDICT_TAKEN);
}

TEST_OF_ROSTER(waits_end)
{
    int shard;
    seat_all();
    dp_roster_ask(&roster, DP_KIND_LAP, 1, 100);
    assert_near(dp_roster_due(&roster, 60, 110, &shard), 50, 0);
    assert_int_equal(answers(11, 1, roster.sequence, 1, DP_KIND_LAP), DP_VERDICT_TAKEN);
    assert_near(dp_roster_due(&roster, 60, 170, &shard), 0, 0);
    assert_int_equal(shard, 2);
    dp_roster_unseat(&roster, 2, 170); /* the gather still waits for it, and another worker may take the seat */
    assert_near(dp_roster_due(&roster, 60, 170, &shard), 0, 0);
    assert_int_equal(shard, 3);
    assert_int_equal(joins(44, "", 2, run, 0), DP_VERDICT_TAKEN);
    dp_roster_lose(&roster, 2, 170);
    dp_roster_lose(&roster, 3, 170);
    assert_int_equal(dp_roster_waits(&roster, 1), 0);
    assert_true(isinf(dp_roster_due(&roster, 60, 500, &shard)) && shard == 0);
    dp_roster_ask(&roster, DP_KIND_LAP, 2, 200); /* the gather does not wait for lost shards */
    assert_int_equal(dp_roster_waits(&roster, 2), 0);
    assert_int_equal(answers(13, 3, roster.sequence, 2, DP_KIND_LAP), DP_VERDICT_AGAIN);
    assert_int_equal(joins(13, "", 3, run, 1), DP_VERDICT_TAKEN); /* until the worker returns */
    assert_int_equal(dp_roster_waits(&roster, 2), 3);
}

static const unsigned char one[DP_LINK_ID] = {5}, two[DP_LINK_ID] = {6};

static enum dp_welcome greets(struct dp_standing *s, const unsigned char *session, int64_t lap, bool seeded)
{
    struct dp_link_header header = {.type = DP_SHARD_FRAME, .lap = lap};
    memcpy(header.run, run, sizeof run);
    memcpy(header.session, session, sizeof header.session);
    enum dp_welcome welcome = dp_standing_hello(s, &header, seeded, NULL);
    if (welcome == DP_WELCOME_STARTS)
        s->alive = true;
    return welcome;
}

static enum dp_welcome hello(struct dp_standing *s, const unsigned char *session, int64_t lap)
{
    return greets(s, session, lap, false);
}

static enum dp_task asks(const struct dp_standing *s, const unsigned char *session, int64_t lap)
{
    struct dp_link_header header = {.type = DP_SHARD_FRAME, .lap = lap};
    memcpy(header.run, run, sizeof run);
    memcpy(header.session, session, sizeof header.session);
    return dp_standing_lap(s, &header);
}

TEST(a_worker_answers_each_lap_once)
{
    struct dp_standing s = {0};
    assert_int_equal(dp_standing_joins(&s), 0);
    assert_int_equal(asks(&s, one, 1), DP_TASK_DROP); /* no hello frame has come */
    assert_int_equal(hello(&s, one, 0), DP_WELCOME_STARTS);
    assert_int_equal(asks(&s, one, 1), DP_TASK_WORK);
    s.lap = 1;
    s.answer = true;
    assert_int_equal(asks(&s, one, 1), DP_TASK_REPEAT);
    assert_int_equal(hello(&s, one, 0), DP_WELCOME_STAYS); /* after a reconnection */
    assert_int_equal(asks(&s, one, 1), DP_TASK_REPEAT);
    assert_int_equal(asks(&s, one, 2), DP_TASK_WORK);
    assert_int_equal(asks(&s, one, 7), DP_TASK_WORK); /* the question was lost in between */
    assert_int_equal(asks(&s, one, 0), DP_TASK_DROP);
    assert_int_equal(asks(&s, two, 2), DP_TASK_DROP);
}

TEST(restarted_it_goes_on_where_it_was)
{
    struct dp_standing s = {.lap = 23, .kept = 20, .answer = true};
    memcpy(s.run, run, sizeof run);
    memcpy(s.session, one, sizeof one);
    assert_int_equal(dp_standing_joins(&s), 23);
    assert_int_equal(hello(&s, one, 22), DP_WELCOME_STARTS);
    assert_int_equal(s.lap, 23);
    assert_int_equal(asks(&s, one, 23), DP_TASK_REPEAT);
}

TEST(behind_another_gather_it_goes_back)
{
    for (int alive = 0; alive < 2; alive++) {
        struct dp_standing s = {.lap = 23, .kept = 20, .answer = true, .alive = alive};
        memcpy(s.run, run, sizeof run);
        memcpy(s.session, one, sizeof one);
        struct dp_standing t = s, u = s, w = s;
        assert_int_equal(hello(&s, two, 20), DP_WELCOME_STARTS);
        assert_int_equal(s.lap, 20);
        assert_int_equal(asks(&s, two, 21), DP_TASK_WORK);
        assert_int_equal(hello(&t, two, 23), alive ? DP_WELCOME_STAYS : DP_WELCOME_STARTS);
        assert_int_equal(asks(&t, two, 23), DP_TASK_DROP);
        /* it has that answer, and must not send it again: the run draws that lap again */
        assert_int_equal(hello(&u, two, 22), DP_WELCOME_REFUSES);
        w.any = true;
        assert_int_equal(hello(&w, two, 22), DP_WELCOME_STARTS);
        assert_int_equal(asks(&w, two, 23), DP_TASK_WORK);
    }
}

/* A pipeline that starts again has an empty account. */
TEST(a_run_does_not_begin_again)
{
    for (int alive = 0; alive < 2; alive++)
        for (int any = 0; any < 2; any++)
            for (int64_t kept = 0; kept < 2; kept++)
                for (int64_t from = -1; from < 1; from++) {
                    struct dp_standing s = {.lap = 1, .kept = kept, .answer = true, .alive = alive, .any = any}, t;
                    memcpy(s.run, run, sizeof run);
                    memcpy(s.session, one, sizeof one);
                    t = s;
                    assert_int_equal(hello(&s, two, from), DP_WELCOME_REFUSES);
                    assert_int_equal(greets(&t, two, from, true), from == 0 || any ? DP_WELCOME_STARTS : DP_WELCOME_REFUSES);
                }
    struct dp_standing s = {0};
    assert_int_equal(hello(&s, one, 0), DP_WELCOME_STARTS);
    assert_int_equal(hello(&s, two, 0), DP_WELCOME_STAYS); /* it has answered no lap */
}

TEST(another_run_is_refused)
{
    struct dp_standing s = {.lap = 3, .alive = true, .answer = true};
    struct dp_link_header header = {.lap = 3};
    memcpy(s.run, other_run, sizeof other_run);
    memcpy(header.run, run, sizeof run);
    assert_int_equal(dp_standing_hello(&s, &header, false, &err), DP_WELCOME_REFUSES);
    assert_int_equal(dp_standing_lap(&s, &header), DP_TASK_DROP);
}

TEST(one_without_a_state_joins_anywhere)
{
    struct dp_standing s = {.any = true};
    assert_int_equal(dp_standing_joins(&s), DP_SHARD_ANY);
    assert_int_equal(hello(&s, one, 8), DP_WELCOME_STARTS);
    assert_int_equal(asks(&s, one, 8), DP_TASK_DROP);
    assert_int_equal(asks(&s, one, 9), DP_TASK_WORK);
}

/* A frame with every field. */
static struct dp_frame *full(enum dp_kind kind)
{
    struct dp_frame *f;
    void *data;
    f = dp_frame_new();
    dp_frame_reset(f, kind);
    for (int i = 0; i < DP_F_COUNT; i++) {
        if (dp_fields[i].type == DP_T_TEXT)
            dp_frame_set_text(f, (enum dp_field)i, "x", 1);
        else if (dp_fields[i].type == DP_T_ARRAY)
            assert_int_equal(dp_frame_make_array(f, (enum dp_field)i, DP_I64, 1, 1, &data, NULL), 0);
        f->value[i].present = true;
    }
    return f;
}

TEST(private_fields_stay_at_the_site)
{
    for (enum dp_kind kind = DP_KIND_HELLO; kind <= DP_KIND_ERROR; kind++) {
        struct dp_frame *f = full(kind);
        dp_shard_strip(f);
        for (int i = 0; i < DP_F_COUNT; i++) {
            bool here = dp_frame_has(f, (enum dp_field)i),
                 private = dp_fields[i].visibility == DP_PRIVATE || dp_fields[i].visibility == DP_TOLD;
            if (private)
                assert_int_equal(here, (kind == DP_KIND_LAP && i == DP_F_ELSEWHERE) ||
                                           (kind == DP_KIND_HELLO && i == DP_F_MULTIPLIERS));
            if (kind == DP_KIND_END || kind == DP_KIND_ERROR)
                assert_int_equal(here, i == DP_F_STATUS);
        }
        if (kind == DP_KIND_LAP)
            assert_true(dp_frame_has(f, DP_F_SUM) && dp_frame_has(f, DP_F_MODEL) && dp_frame_has(f, DP_F_DATA));
        if (kind == DP_KIND_HELLO)
            assert_true(dp_frame_has(f, DP_F_STAGE) && dp_frame_has(f, DP_F_DATA) && !dp_frame_has(f, DP_F_DIRECTORY));
        dp_frame_free(f);
    }
}

/* The operator of the gather may be an adversary of the site. */
static const char run_digits[] = "01020300000000000000000000000000";

static int check(const struct dp_frame *f, int shard, bool allow_seeded, struct dp_err *err)
{
    const struct dp_site site = {shard, 3, allow_seeded};
    struct dp_link_header header = {.lap = 3};
    memcpy(header.run, run, sizeof run);
    return dp_shard_check(f, &header, &site, err);
}

static struct dp_frame *greeting(int64_t shard, int64_t shards)
{
    struct dp_frame *f;
    f = dp_frame_new();
    dp_frame_reset(f, DP_KIND_HELLO);
    dp_frame_set_int(f, DP_F_SHARD, shard);
    dp_frame_set_int(f, DP_F_SHARDS, shards);
    dp_frame_set_string(f, DP_F_RUN, run_digits);
    return f;
}

TEST(hello_frames_from_a_gather_that_lies)
{
    const struct dp_record record = {.of = DP_F_SUM, .rows = 7};
    struct dp_frame *f = greeting(2, 1024);
    assert_fails(check(f, 2, false, &err), DP_E_UNSAFE, "the gather addresses shard 2 of 1024, and this is shard 2 of 3");
    dp_frame_set_int(f, DP_F_SHARDS, 3);
    assert_int_equal(check(f, 2, false, &err), DP_OK);
    assert_int_equal(check(f, 1, false, &err), DP_E_UNSAFE);
    dp_frame_set_int(f, DP_F_LAPS, 1LL << 30);
    assert_int_equal(check(f, 2, false, &err), DP_OK);
    dp_frame_set_int(f, DP_F_LAPS, (1LL << 30) + 1);
    assert_fails(check(f, 2, false, &err), DP_E_UNSAFE,
                 "the gather plans 1073741825 laps, and a site accounts for at most 1073741824");
    dp_frame_drop(f, DP_F_LAPS);
    dp_frame_drop(f, DP_F_SHARD); /* it is in no shard */
    assert_int_equal(check(f, 2, false, &err), DP_E_UNSAFE);
    dp_frame_set_int(f, DP_F_SHARD, 2);
    dp_frame_set_int(f, DP_F_SEED, 7);
    assert_int_equal(check(f, 2, false, &err), DP_E_UNSAFE);
    assert_int_equal(check(f, 2, true, &err), DP_OK);
    dp_frame_drop(f, DP_F_SEED);
    assert_int_equal(dp_frame_add_record(f, &record, &err), 0);
    assert_fails(check(f, 2, false, &err), DP_E_UNSAFE,
                 "the hello frame has records, and only this site may announce what happens to its rows");
    f->records = 0;
    dp_frame_set_text(f, DP_F_RUN, "07", 2);
    assert_fails(check(f, 2, false, &err), DP_E_UNSAFE, "the gather sends a hello frame of another run than its header says");
    dp_frame_free(f);
}

TEST(lap_frames_from_a_gather_that_lies)
{
    struct dp_frame *f;
    const struct dp_record record = {.of = DP_F_SUM, .sensitivity = 1e-9};
    f = dp_frame_new();
    dp_frame_reset(f, DP_KIND_LAP);
    f->label = DP_LABEL_RELEASED;
    f->lap = 3;
    assert_int_equal(check(f, 2, false, &err), DP_OK);
    f->lap = 2;
    assert_fails(check(f, 2, false, &err), DP_E_UNSAFE, "the gather sends lap 2 as lap 3");
    f->lap = 3;
    f->label = DP_LABEL_RAW;
    assert_int_equal(check(f, 2, false, &err), DP_E_UNSAFE);
    f->label = DP_LABEL_RELEASED;
    assert_int_equal(dp_frame_add_record(f, &record, &err), 0);
    assert_int_equal(check(f, 2, false, &err), DP_E_UNSAFE);
    f->records = 0;
    dp_frame_set_real(f, DP_F_PRIOR_EPSILON, 9);
    assert_fails(check(f, 2, false, &err), DP_E_UNSAFE, "lap 3 comes with what a model has cost, and without a model");
    dp_frame_reset(f, DP_KIND_END);
    assert_int_equal(check(f, 2, false, &err), DP_OK);
    dp_frame_free(f);
}

/* One field more in a frame that is otherwise right. */
static int check_with(enum dp_kind kind, enum dp_field field, struct dp_err *err)
{
    struct dp_frame *f = greeting(2, 3);
    if (kind == DP_KIND_LAP) {
        dp_frame_reset(f, kind);
        f->label = DP_LABEL_RELEASED;
        f->lap = 3;
    }
    f->value[field].present = true;
    if (kind == DP_KIND_LAP) /* a cost belongs to a model */
        f->value[DP_F_MODEL].present = true;
    int rc = check(f, 2, false, err);
    dp_frame_free(f);
    return rc;
}

TEST(a_gather_says_what_is_its_own)
{
    static const enum dp_field hello_may[] = {DP_F_FORMAT,    DP_F_SOFTWARE, DP_F_RUN,          DP_F_SHARD,    DP_F_SHARDS,
                                              DP_F_STAGE,     DP_F_LAPS,     DP_F_KINDS,        DP_F_STATUS,   DP_F_MESSAGE,
                                              DP_F_EXHAUSTED, DP_F_WHERE,    DP_F_MODEL_DIGEST, DP_F_MODEL_LAP},
                               lap_may_not[] = {
                                   DP_F_FORMAT,     DP_F_SOFTWARE,    DP_F_RUN,          DP_F_SEED,        DP_F_DIRECTORY,
                                   DP_F_STAGE,      DP_F_STATUS,      DP_F_WHERE,        DP_F_MESSAGE,     DP_F_EXHAUSTED,
                                   DP_F_KINDS,      DP_F_SUM,         DP_F_CHOICE,       DP_F_ROWS,        DP_F_X,
                                   DP_F_Y,          DP_F_UPDATES,     DP_F_PERSON_ROWS,  DP_F_MULTIPLIERS, DP_F_GAP,
                                   DP_F_OBJECTIVE,  DP_F_INTERRUPTED, DP_F_MODEL_DIGEST, DP_F_MODEL_LAP,   DP_F_MEMBERS,
                                   DP_F_SCHEMA_COST};
    for (int i = 0; i < DP_F_COUNT; i++) {
        bool may = false, may_not = false;
        err = (struct dp_err){0};
        for (size_t k = 0; k < sizeof hello_may / sizeof *hello_may; k++)
            may |= (int)hello_may[k] == i;
        for (size_t k = 0; k < sizeof lap_may_not / sizeof *lap_may_not; k++)
            may_not |= (int)lap_may_not[k] == i;
        assert_int_equal(check_with(DP_KIND_HELLO, (enum dp_field)i, &err), may ? DP_OK : DP_E_UNSAFE);
        assert_int_equal(check_with(DP_KIND_LAP, (enum dp_field)i, &err), may_not ? DP_E_UNSAFE : DP_OK);
    }
}

TESTS(NULL, NULL)
