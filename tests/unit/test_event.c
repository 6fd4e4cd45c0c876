/* Events, charges and plans: they read back as written, invalid ones are refused, and buckets never lower the cost. */
#include "ledger/charge_json.h"
#include "unit.h"
#include "repeated_event.h"

#include <jansson.h>

#include "account/event.h"
#include "account/account.h"
#include "priv/gdp.h"
#include "account/meter.h"
#include "account/plan.h"

static struct dp_charge parse(const char *text, int expected, struct dp_err *err)
{
    struct dp_charge charge = {0};
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    *err = (struct dp_err){0};
    assert_int_equal(dp_charge_from_json(json, NULL, &charge, err), expected);
    json_decref(json);
    return charge;
}

TEST(every_kind_reads_back)
{
    struct dp_charge all[] = {
        {dp_event_gaussian(DP_SAMPLING_NONE, 1, 0.1 + 0.2, 0), 1},
        {dp_event_gaussian(DP_SAMPLING_POISSON, 1.0 / 3, 1e-300, 0), 1000000000000},
        {dp_event_gaussian(DP_SAMPLING_SUBSTITUTED, 0.01, 3, 0), 2},
        {dp_event_gaussian(DP_SAMPLING_SHUFFLED, 0.1, 3, 10), 25},
        {dp_event_gaussian(DP_SAMPLING_VISIBLE, 0.01, 7, 0), 3},
        {dp_event_gaussian(DP_SAMPLING_STREAM, 1, 3, 0), 1000000000000},
        {repeated_event(0.01, 1000000, 0.999, 7), 1},
        {repeated_event(0.01, 1000000, 1 / 3.0, 7), 1},
        {repeated_event(0.01, 1000001, 0.999, 7), 1},
        {{.sampling = DP_SAMPLING_POISSON,
          .rate = 0.5,
          .queries = 4,
          .query = {{.kind = DP_QUERY_LAPLACE, .multiplier = 2},
                    {.kind = DP_QUERY_PURE, .epsilon = 0.7},
                    {.kind = DP_QUERY_SPARSE_LAPLACE, .epsilon = 0.5, .query_epsilon = 0.25, .most = 30},
                    {.kind = DP_QUERY_SPARSE_GAUSSIAN, .rho = 0.1, .most = 30}}},
         4},
        {{.sampling = DP_SAMPLING_NONE,
          .rate = 1,
          .queries = 1,
          .query = {{.kind = DP_QUERY_OBJECTIVE, .multiplier = 1e4, .objective = 2.5, .curvature = 0.01, .vertices = 3}}},
         1},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        json_t *json = dp_charge_to_json(&all[i]);
        char *text = json_dumps(json, JSON_REAL_PRECISION(17));
        struct dp_charge back = parse(text, DP_OK, &err);
        assert_true(dp_event_same(&back.event, &all[i].event));
        assert_true(back.laps == all[i].laps);
        for (size_t j = 0; j < sizeof all / sizeof *all; j++)
            assert_true(dp_event_same(&all[i].event, &all[j].event) == (i == j));
        free(text);
        json_decref(json);
    }
}

TEST(nonsense_is_refused)
{
    static const char *const bad[][2] = {
        {"[]", "a charge must be a JSON object"},
        {"{\"laps\": 1}", "a charge needs a known 'sampling', got ''"},
        {"{\"laps\": 1, \"sampling\": \"dice\"}", "a charge needs a known 'sampling', got 'dice'"},
        {"{\"laps\": 0, \"sampling\": \"none\"}", "a charge needs laps between 1 and 1000000000000"},
        {"{\"laps\": 1.5, \"sampling\": \"none\"}", "a charge needs laps between 1 and 1000000000000"},
        {"{\"laps\": 1, \"sampling\": \"none\"}", "a charge needs 1 to 4 queries"},
        {"{\"laps\": 1, \"sampling\": \"none\", \"noise\": 3}", "a charge has an unknown key 'noise'"},
        {"{\"laps\": 1, \"sampling\": \"poisson\", \"queries\": [{\"noise\": \"gaussian\", \"multiplier\": 1}]}",
         "an event needs a sampling rate in (0, 1], got nan"},
        {"{\"laps\": 1, \"sampling\": \"none\", \"rate\": 0.5, \"queries\": [{\"noise\": \"gaussian\", \"multiplier\": 1}]}",
         "an event of every row has a sampling rate of 0.5"},
        {"{\"laps\": 1, \"sampling\": \"none\", \"queries\": [{\"noise\": \"gaussian\", \"multiplier\": 0}]}",
         "the multiplier of a query of kind gaussian must be positive and finite, got 0"},
        {"{\"laps\": 1, \"sampling\": \"none\", \"queries\": [{\"noise\": \"gaussian\"}]}",
         "the multiplier of a query of kind gaussian must be positive and finite, got nan"},
        {"{\"laps\": 1, \"sampling\": \"none\", \"queries\": [{\"noise\": \"pure\", \"multiplier\": 1}]}",
         "a charge has an unknown key 'multiplier'"},
        {"{\"laps\": 1, \"sampling\": \"none\", \"queries\": [{\"noise\": \"sparse-vector-gaussian\", \"rho\": 1}]}",
         "the most of a query of kind sparse-vector-gaussian must be at least 1, got 0"},
        {"{\"laps\": 1, \"sampling\": \"none\", \"queries\": [{\"noise\": \"objective\", \"multiplier\": 0, \"objective\": 1, "
         "\"curvature\": 1, \"vertices\": 1}]}",
         "the multiplier of a query of kind objective must be positive and finite, got 0"},
        {"{\"laps\": 1, \"sampling\": \"shuffled\", \"rate\": 0.1, \"queries\": [{\"noise\": \"gaussian\", \"multiplier\": 1}]}",
         "an event has epochs of 0 laps"},
#define DRAWN(more, noise)                                                                                                     \
    "{\"laps\": 1, \"sampling\": \"repeated\", \"rate\": 0.1, " more " \"queries\": [{\"noise\": \"" noise                     \
    "\", \"multiplier\": 1}]}"
        {DRAWN("", "gaussian"), "an event has laps of 0 draws"},
        {DRAWN("\"draws\": -1, \"contraction\": 0.5,", "gaussian"), "an event has laps of -1 draws"},
        {DRAWN("\"draws\": 5,", "gaussian"), "an event has draws that contract by 0"},
        {DRAWN("\"draws\": 5, \"contraction\": 1.5,", "gaussian"), "an event has draws that contract by 1.5"},
        {DRAWN("\"draws\": 5, \"contraction\": 0.5,", "gamma"),
         "only Gaussian noise has an accountant where a lap draws many batches, not gamma"},
        {"{\"laps\": 1, \"sampling\": \"none\", \"draws\": 5, \"queries\": [{\"noise\": \"gaussian\", \"multiplier\": 1}]}",
         "an event has laps of 5 draws"},
        {"{\"laps\": 1, \"sampling\": \"none\", \"contraction\": 1, \"queries\": [{\"noise\": \"gaussian\", \"multiplier\": 1}]}",
         "an event has draws that contract by 1"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        parse(bad[i][0], DP_E_RUN, &err);
        assert_string_equal(err.message, bad[i][1]);
    }
}

TEST(charges_add_up)
{
    struct dp_charges charges = {0};
    struct dp_event a = dp_event_gaussian(DP_SAMPLING_POISSON, 0.1, 1, 0), b = dp_event_gaussian(DP_SAMPLING_NONE, 1, 1, 0);
    struct dp_event epochs = dp_event_gaussian(DP_SAMPLING_SHUFFLED, 0.1, 1, 10);
    for (int i = 0; i < 30; i++)
        assert_int_equal(dp_charges_add(&charges, i % 3 ? &a : &b, 1, &err), DP_OK);
    assert_int_equal(charges.count, 2);
    assert_true(charges.charge[0].laps == 10 && charges.charge[1].laps == 20);
    assert_true(dp_charges_laps(&charges, &b) == 10 && dp_charges_laps(&charges, &a) == 20);
    assert_true(dp_charges_laps(&charges, &epochs) == 0);
    assert_int_equal(dp_charges_add(&charges, &a, 1000000000000, &err), DP_E_RUN);
    /* two runs of 5 laps: each has begun an epoch */
    assert_int_equal(dp_charges_add(&charges, &epochs, 5, &err), DP_OK);
    assert_int_equal(dp_charges_add(&charges, &epochs, 5, &err), DP_OK);
    assert_int_equal(charges.count, 4);
    assert_true(dp_charges_laps(&charges, &epochs) == 10);
    assert_true(dp_event_times(&epochs, 5) == 1 && dp_event_times(&epochs, 10) == 1 && dp_event_times(&epochs, 11) == 2);
    assert_true(dp_event_times(&a, 11) == 11 && dp_event_times(&epochs, 0) == 0);
    dp_charges_free(&charges);
}

/* Each lap is charged with at most its own multiplier, and at most 1.1 % less. */
TEST(buckets)
{
    enum { LAPS = 5000 };
    double z[LAPS], twice[LAPS];
    struct dp_event first = dp_event_gaussian(DP_SAMPLING_POISSON, 0.01, 1, 0);
    for (int t = 0; t < LAPS; t++) {
        z[t] = 3 * pow(20 + t, -0.25);
        twice[t] = 2.3 * z[t];
    }
    struct dp_plan plan = {0}, scaled = {0};
    assert_int_equal(dp_plan_add_scheduled(&plan, &first, z, LAPS, &err), DP_OK);
    assert_int_equal(dp_plan_add_scheduled(&scaled, &first, twice, LAPS, &err), DP_OK);
    assert_true(plan.events < 140 && plan.events == scaled.events);
    for (int t = 0; t < LAPS; t++) {
        double charged = dp_plan_event(&plan, t + 1)->query[0].multiplier;
        assert_true(charged <= z[t] && charged >= z[t] / 1.011);
        assert_true(dp_plan_at(&plan, t + 1)->event == dp_plan_at(&scaled, t + 1)->event);
    }
    struct dp_charges charges = {0};
    assert_int_equal(dp_plan_charges(&plan, LAPS - 7, &charges, &err), DP_OK);
    int64_t laps = 0;
    for (size_t i = 0; i < charges.count; i++)
        laps += charges.charge[i].laps;
    assert_int_equal(laps, LAPS - 7);
    dp_charges_free(&charges);
    dp_plan_free(&plan);
    dp_plan_free(&scaled);

    for (int t = 0; t < LAPS; t++)
        z[t] = 1.7;
    assert_int_equal(dp_plan_add_scheduled(&plan, &first, z, LAPS, &err), DP_OK);
    assert_true(plan.events == 1 && plan.spans == 1 && plan.event[0].query[0].multiplier == 1.7);
    dp_plan_free(&plan);
    z[17] = -1;
    assert_fails(dp_plan_add_scheduled(&plan, &first, z, LAPS, &err), DP_E_RUN,
                 "the noise planned for lap 18 has a multiplier of -1");
    dp_plan_free(&plan);
    z[17] = 1e-300;
    assert_fails(dp_plan_add_scheduled(&plan, &first, z, LAPS, &err), DP_E_RUN, "the noise of a plan goes from 1e-300 to 1.7");
    dp_plan_free(&plan);
}

/* Epsilon at delta 1e-5 of a planned run. */
static double cost_of_plan(enum dp_sampling sampling, const double *z, int64_t laps, int64_t epoch_laps)
{
    struct dp_event first = dp_event_gaussian(sampling, 1.0 / (double)epoch_laps, z[0], epoch_laps);
    struct dp_plan plan = {0};
    struct dp_charges charges = {0};
    struct dp_answer answer;
    assert_int_equal(dp_plan_add_scheduled(&plan, &first, z, laps, NULL), DP_OK);
    assert_int_equal(dp_plan_charges(&plan, laps, &charges, NULL), DP_OK);
    assert_int_equal(dp_account_epsilon(DP_ACCOUNTANT_BEST, &charges, 1e-5, &answer, NULL), DP_OK);
    dp_charges_free(&charges);
    dp_plan_free(&plan);
    return answer.upper;
}

/* A person is in one lap of an epoch, which may be the one with little noise each time. A lower bound on the truth: all rows
   but one contribute zero, and the laps with much noise reveal nothing, so that an epoch is (1 - q) N(0) + q N(1) on its quiet
   lap. */
TEST(shuffled_epochs_have_one_quiet_lap)
{
    static const struct {
        double z;
        int64_t epoch_laps, laps;
        double truth;
    } cases[] = {{0.3, 10, 100, 35.6604}, {0.3, 2, 4, 27.5948}, {0.3, 2, 100, 225}, {1, 2, 4, 4.8538}};
    double z[100];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int64_t quiet = 0; quiet < cases[i].epoch_laps; quiet++) {
            for (int64_t t = 0; t < cases[i].laps; t++)
                z[t] = t % cases[i].epoch_laps == quiet ? cases[i].z : 1e6 * cases[i].z;
            double stated = cost_of_plan(DP_SAMPLING_SHUFFLED, z, cases[i].laps, cases[i].epoch_laps);
            assert_true(stated >= cases[i].truth);
            for (int64_t t = 0; t < cases[i].laps; t++)
                z[t] = cases[i].z;
            assert_true(stated <= cost_of_plan(DP_SAMPLING_SHUFFLED, z, cases[i].laps, cases[i].epoch_laps));
        }
}

/* More noise in later epochs never costs more than the first epoch's noise in all of them. */
TEST(growing_noise_is_not_dearer)
{
    double z[95], constant[95];
    for (int t = 0; t < 95; t++) {
        z[t] = sqrt(1 + t);
        constant[t] = 1;
    }
    double grows = cost_of_plan(DP_SAMPLING_SHUFFLED, z, 95, 10), stays = cost_of_plan(DP_SAMPLING_SHUFFLED, constant, 95, 10);
    assert_true(stays > 17 && stays < 17.86 && grows < 0.6 * stays);
    /* the epochs cost as much as ten Gaussians, one for the first lap of each epoch */
    double mu = 0;
    for (int e = 0; e < 10; e++)
        mu += 1 / (1 + 10.0 * e);
    double exact = dp_gaussian_epsilon(sqrt(mu), 1e-5);
    assert_true(grows >= exact && grows <= 1.02 * exact);
}

TEST(epochs_are_shared_by_one_event)
{
    struct dp_event a = dp_event_gaussian(DP_SAMPLING_SHUFFLED, 0.1, 1, 10),
                    b = dp_event_gaussian(DP_SAMPLING_SHUFFLED, 0.1, 2, 10);
    struct dp_event longer = dp_event_gaussian(DP_SAMPLING_SHUFFLED, 0.05, 1, 20),
                    coins = dp_event_gaussian(DP_SAMPLING_POISSON, 0.1, 1, 0);
    struct dp_event more = dp_event_gaussian(DP_SAMPLING_POISSON, 0.1, 2, 0);
    assert_true(dp_event_may_follow(&a, &a, 7) && dp_event_may_follow(&b, &a, 20) && dp_event_may_follow(&more, &coins, 7));
    assert_true(dp_event_may_follow(&longer, &a, 20) && dp_event_may_follow(&coins, &a, 20) &&
                dp_event_may_follow(&a, &coins, 7));
    assert_false(dp_event_may_follow(&b, &a, 7) || dp_event_may_follow(&longer, &a, 19) || dp_event_may_follow(&coins, &a, 21));
}

/* For any accountant: runs that stop within an epoch have each begun an epoch. */
TEST(runs_share_no_epoch)
{
    struct dp_event epochs = dp_event_gaussian(DP_SAMPLING_SHUFFLED, 0.1, 2, 10);
    struct dp_event every = dp_event_gaussian(DP_SAMPLING_NONE, 1, 2, 0);
    struct dp_charges runs = {0}, laps = {0};
    struct dp_answer a, b;
    for (int i = 0; i < 3; i++)
        assert_int_equal(dp_charges_add(&runs, &epochs, 15, &err), DP_OK);
    assert_int_equal(dp_charges_add(&laps, &every, 6, &err), DP_OK);
    for (int accountant = DP_ACCOUNTANT_BEST; accountant <= DP_ACCOUNTANT_GDP; accountant++) {
        assert_int_equal(dp_account_epsilon((enum dp_accountant)accountant, &runs, 1e-5, &a, &err), DP_OK);
        assert_int_equal(dp_account_epsilon((enum dp_accountant)accountant, &laps, 1e-5, &b, &err), DP_OK);
        assert_true(fabs(a.upper - b.upper) < 1e-3 * b.upper);
    }
    dp_charges_free(&runs);
    dp_charges_free(&laps);
}

/* A person is in only one lap of a stream, so all laps together cost as much as one lap over every row. Two runs over streams
   are two such laps, because their rows may be the same. */
TEST(a_stream_costs_one_lap)
{
    struct dp_event stream = dp_event_gaussian(DP_SAMPLING_STREAM, 1, 2, 0), louder = stream;
    struct dp_event every = dp_event_gaussian(DP_SAMPLING_NONE, 1, 2, 0);
    struct dp_charges one = {0}, twice = {0}, runs = {0};
    struct dp_plan plan = {0};
    struct dp_answer a, b;
    const double z[] = {3, 2, 4, 2.5}, delta = 1e-5;
    for (int64_t laps = 1; laps <= 1000000000000; laps *= 10)
        assert_int_equal(dp_event_times(&stream, laps), 1);
    assert_int_equal(dp_event_times(&stream, 0), 0);
    for (int accountant = DP_ACCOUNTANT_BEST; accountant <= DP_ACCOUNTANT_GDP; accountant++) {
        dp_charges_clear(&one);
        dp_charges_clear(&runs);
        assert_int_equal(dp_charges_add(&runs, &stream, 1000000, &err), DP_OK);
        assert_int_equal(dp_charges_add(&one, &every, 1, &err), DP_OK);
        assert_int_equal(dp_account_epsilon((enum dp_accountant)accountant, &runs, delta, &a, &err), DP_OK);
        assert_int_equal(dp_account_epsilon((enum dp_accountant)accountant, &one, delta, &b, &err), DP_OK);
        assert_true(a.upper == b.upper);
        assert_int_equal(dp_charges_add(&runs, &stream, 10, &err), DP_OK);
        dp_charges_clear(&twice);
        assert_int_equal(dp_charges_add(&twice, &every, 2, &err), DP_OK);
        assert_int_equal(dp_account_epsilon((enum dp_accountant)accountant, &runs, delta, &a, &err), DP_OK);
        assert_int_equal(dp_account_epsilon((enum dp_accountant)accountant, &twice, delta, &b, &err), DP_OK);
        assert_true(runs.count == 2 && fabs(a.upper - b.upper) < 1e-3 * b.upper);
    }
    /* The lap of a person is known, and may be the one with the least noise. */
    assert_int_equal(dp_plan_add_scheduled(&plan, &stream, z, 4, &err), DP_OK);
    dp_charges_clear(&runs);
    assert_int_equal(dp_plan_charges(&plan, 4, &runs, &err), DP_OK);
    assert_true(runs.count == 1 && runs.charge[0].laps == 4 && runs.charge[0].event.query[0].multiplier == 2);
    louder.query[0].multiplier = 5;
    assert_false(dp_event_may_follow(&louder, &stream, 1000) || dp_event_may_follow(&every, &stream, 1));
    assert_true(dp_event_may_follow(&stream, &stream, 1000) && dp_event_may_follow(&stream, &every, 7));
    assert_fails(dp_plan_add(&plan, &every, 1, &err), DP_E_UNSAFE, "lap 5 has another mechanism in the middle of a stream");
    stream.rate = 0.5;
    assert_fails(dp_event_check(&stream, &err), DP_E_RUN, "an event of every row has a sampling rate of 0.5");
    dp_charges_free(&one);
    dp_charges_free(&twice);
    dp_charges_free(&runs);
    dp_plan_free(&plan);
}

/* Laps of several kinds, in turns: each is found again, neighbours share a span, and the first laps are counted. */
TEST(a_plan_of_several_events)
{
    struct dp_plan plan = {0}, other = {0};
    struct dp_charges charges = {0};
    struct dp_event moments = dp_event_gaussian(DP_SAMPLING_NONE, 1, 40, 0),
                    coins = dp_event_gaussian(DP_SAMPLING_POISSON, 0.1, 2, 0),
                    epochs = dp_event_gaussian(DP_SAMPLING_SHUFFLED, 0.1, 3, 10);
    const struct dp_event *of[] = {&moments, &coins, &coins, &moments, &coins};
    unsigned char digest[DP_PLAN_DIGEST], again[DP_PLAN_DIGEST];
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(dp_plan_add(&plan, of[i], i == 1 ? 6 : 1, &err), DP_OK);
    assert_true(plan.laps == 10 && plan.events == 2 && plan.spans == 4);
    for (int64_t lap = 1; lap <= 10; lap++)
        assert_true(dp_event_same(dp_plan_event(&plan, lap), lap == 1 || lap == 9 ? &moments : &coins));
    for (int64_t laps = 0; laps <= 10; laps++) {
        int64_t count[2];
        dp_plan_count(&plan, laps, count);
        assert_true(count[0] == (laps >= 1) + (laps >= 9) && count[0] + count[1] == laps);
    }
    assert_int_equal(dp_plan_charges(&plan, 10, &charges, &err), DP_OK);
    assert_true(charges.count == 2 && charges.charge[0].laps == 2 && charges.charge[1].laps == 8);
    dp_plan_digest(&plan, digest);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(dp_plan_add(&other, of[i], i == 2 ? 6 : 1, &err), DP_OK);
    dp_plan_digest(&other, again);
    assert_memory_equal(digest, again, sizeof digest);
    dp_plan_add(&other, &coins, 1, &err);
    dp_plan_digest(&other, again);
    assert_memory_not_equal(digest, again, sizeof digest);

    assert_int_equal(dp_plan_add(&plan, &epochs, 20, &err), DP_OK);
    assert_int_equal(dp_plan_add(&plan, &coins, 1, &err), DP_OK);
    assert_int_equal(dp_plan_add(&plan, &epochs, 15, &err), DP_OK);
    assert_fails(dp_plan_add(&plan, &coins, 1, &err), DP_E_UNSAFE,
                 "lap 47 has another mechanism in the middle of a shuffled epoch");
    assert_int_equal(dp_plan_add(&plan, &epochs, 0, &err), DP_E_RUN);
    assert_int_equal(dp_plan_add(&plan, &epochs, DP_PLAN_OPEN, &err), DP_OK);
    assert_true(dp_event_same(dp_plan_event(&plan, 1000000000000), &epochs));
    assert_int_equal(dp_plan_add(&plan, &epochs, 1, &err), DP_E_RUN);
    dp_charges_free(&charges);
    dp_plan_free(&plan);
    dp_plan_free(&other);
}

TEST(no_laps_are_negative)
{
    struct dp_event event = dp_event_gaussian(DP_SAMPLING_POISSON, 0.01, 1, 0);
    struct dp_charge charge = {event, -5};
    struct dp_charges charges = {0}, by_hand = {.count = 1, .capacity = 1, .charge = &charge};
    struct dp_answer answer;
    struct dp_meter *meter;
    assert_fails(dp_charges_add(&charges, &event, -5, &err), DP_E_RUN, "cannot account for -5 laps");
    assert_int_equal(charges.count, 0);
    for (int i = DP_ACCOUNTANT_BEST; i < DP_ACCOUNTANT_FILTER; i++)
        assert_int_equal(dp_account_epsilon((enum dp_accountant)i, &by_hand, 1e-5, &answer, &err), DP_E_RUN);
    assert_int_equal(dp_meter_new(&meter, 1e-5, &err), DP_OK);
    assert_int_equal(dp_meter_charge(meter, &event, -1, &err), DP_E_RUN);
    assert_true(dp_meter_epsilon(meter) == 0);
    dp_meter_free(meter);
    dp_charges_free(&charges);
}

TESTS(NULL, NULL)
