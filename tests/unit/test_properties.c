/* Properties of every accountant and every kind of event: more laps, a larger sample and less noise cost more, the order of
   charges does not matter, a plan costs at least as much as its laps, and no lower bound is above an upper one. Events of every
   kind in the table are drawn from a fixed seed. */
#include "unit.h"

#include "account/account.h"
#include "account/curve.h"
#include "account/kinds.h"
#include "account/plan.h"
#include "priv/rdp.h"

static uint64_t seed;

static double uniform(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) * 0x1p-53;
}

static double between(double low, double high)
{
    return low * pow(high / low, uniform());
}

static int one_of(int count)
{
    return (int)(uniform() * count);
}

static struct dp_query draw_query(bool gaussian)
{
    struct dp_query query = {.kind = DP_QUERY_GAUSSIAN};
    while (!gaussian && (query.kind = (enum dp_query_kind)one_of(DP_QUERY_KIND_COUNT)) == DP_QUERY_NONE)
        ;
    query.multiplier = dp_kind_is_gaussian(&query) ? between(0.6, 20) : between(2, 50);
    query.epsilon = between(0.01, 0.5);
    query.query_epsilon = between(0.01, 0.5);
    query.rho = between(0.001, 0.1);
    query.most = 1 + one_of(20);
    query.correlated = 1;
    query.named_delta = query.delta = 1e-14;
    if (query.kind == DP_QUERY_OBJECTIVE) {
        query.objective = between(0.6, 20);
        query.curvature = between(1e-4, 0.2);
        query.vertices = 1 + one_of(4);
    }
    return query;
}

/* replaced: under replace-one adjacency, else null-record. */
static struct dp_event draw_event(bool replaced)
{
    static const enum dp_sampling added[] = {DP_SAMPLING_POISSON, DP_SAMPLING_POISSON,  DP_SAMPLING_NONE,  DP_SAMPLING_SHUFFLED,
                                             DP_SAMPLING_VISIBLE, DP_SAMPLING_REPEATED, DP_SAMPLING_STREAM};
    static const enum dp_sampling exchanged[] = {DP_SAMPLING_SUBSTITUTED, DP_SAMPLING_COINS,    DP_SAMPLING_NONE,
                                                 DP_SAMPLING_SHUFFLED,    DP_SAMPLING_REPEATED, DP_SAMPLING_STREAM};
    struct dp_event event = {
        .sampling = replaced ? exchanged[one_of(6)] : added[one_of(7)], .rate = between(1e-3, 0.5), .queries = 1};
    bool gaussian =
        event.sampling == DP_SAMPLING_VISIBLE || dp_event_exchanges(&event) || event.sampling == DP_SAMPLING_REPEATED;
    if (event.sampling == DP_SAMPLING_REPEATED) {
        event.draws = 1 + one_of(1000);
        event.contraction = between(0.5, 1);
    }
    if (event.sampling == DP_SAMPLING_NONE || event.sampling == DP_SAMPLING_STREAM)
        event.rate = 1;
    if (event.sampling == DP_SAMPLING_SHUFFLED)
        event.epoch_laps = 1 + one_of(20);
    if (!dp_event_exchanges(&event))
        event.queries = 1 + one_of(2);
    for (int i = 0; i < event.queries; i++) {
        do
            event.query[i] = draw_query(gaussian);
        while ((dp_query_is_statement(event.query[i].kind) && event.sampling != DP_SAMPLING_NONE) ||
               (event.query[i].kind == DP_QUERY_CORRELATED && !dp_event_in_epochs(&event)));
        if (dp_query_is_statement(event.query[i].kind)) { /* an event has no other query then */
            event.query[0] = event.query[i];
            event.queries = 1;
        }
    }
    return event;
}

enum { CHARGES = 2 };

struct run {
    struct dp_charge charge[CHARGES];
    size_t count;
    double delta;
};

static struct run draw_run(void)
{
    struct run run = {.count = 1 + (size_t)one_of(CHARGES), .delta = between(1e-10, 1e-4)};
    bool replaced = one_of(4) == 0;
    for (size_t i = 0; i < run.count; i++)
        run.charge[i] = (struct dp_charge){draw_event(replaced), 1 + one_of(200)};
    return run;
}

static struct dp_answer ask(enum dp_accountant accountant, const struct run *run)
{
    struct dp_charge charge[CHARGES];
    struct dp_charges charges = {run->count, CHARGES, charge};
    struct dp_answer answer;
    memcpy(charge, run->charge, sizeof charge);
    if (!dp_account_covers(accountant, &charges) ||
        (accountant != DP_ACCOUNTANT_BEST && dp_account_epsilon(accountant, &charges, run->delta, &answer, NULL) != DP_OK))
        return (struct dp_answer){.upper = (double)INFINITY};
    if (accountant == DP_ACCOUNTANT_BEST)
        assert_int_equal(dp_account_epsilon(accountant, &charges, run->delta, &answer, NULL), DP_OK);
    return answer;
}

/* One charge made worse in some way. */
static struct run worse(const struct run *run, int way)
{
    struct run other = *run;
    struct dp_charge *c = &other.charge[one_of((int)run->count)];
    switch (way) {
    case 0:
        c->laps += 1 + one_of((int)c->laps);
        break;
    case 1:
        if (c->event.sampling == DP_SAMPLING_NONE || c->event.sampling == DP_SAMPLING_SHUFFLED)
            c->laps *= 2;
        else
            c->event.rate = fmin(1, c->event.rate * (1 + uniform()));
        break;
    default:
        for (int i = 0; i < c->event.queries; i++) {
            struct dp_query *q = &c->event.query[i];
            double more = 1 + uniform();
            q->multiplier /= more;
            q->epsilon *= more;
            q->query_epsilon *= more;
            q->rho *= more;
            q->objective /= more;
            q->curvature *= more;
        }
    }
    return other;
}

static const enum dp_accountant sound[] = {DP_ACCOUNTANT_BEST, DP_ACCOUNTANT_PLD,     DP_ACCOUNTANT_RDP,     DP_ACCOUNTANT_ZCDP,
                                           DP_ACCOUNTANT_GDP,  DP_ACCOUNTANT_PROFILE, DP_ACCOUNTANT_ADVANCED};
enum { SOUND = sizeof sound / sizeof *sound };

/* No answer's lower bound is above any upper bound, of the same run or of a worse one. */
LONG_TEST(bounds_do_not_cross)
{
    seed = 1;
    for (int i = 0; i < 16; i++) {
        struct run run = draw_run(), more = worse(&run, i % 3);
        double lower = 0;
        for (int a = 0; a < SOUND; a++) {
            struct dp_answer answer = ask(sound[a], &run);
            assert_true(answer.lower <= answer.upper);
            lower = fmax(lower, answer.lower);
        }
        for (int a = 0; a < SOUND; a++)
            assert_true(lower <= ask(sound[a], &run).upper && lower <= ask(sound[a], &more).upper);
    }
}

/* Rényi DP and advanced composition have no grid: more costs more, to the last digits. */
LONG_TEST(more_costs_more)
{
    static const enum dp_accountant smooth[] = {DP_ACCOUNTANT_RDP, DP_ACCOUNTANT_ZCDP, DP_ACCOUNTANT_GDP,
                                                DP_ACCOUNTANT_ADVANCED};
    seed = 2;
    for (int i = 0; i < 120; i++) {
        struct run run = draw_run(), more = worse(&run, i % 3);
        for (size_t a = 0; a < sizeof smooth / sizeof *smooth; a++) {
            double less = ask(smooth[a], &run).upper, cost = ask(smooth[a], &more).upper;
            assert_true(isinf(less) || less <= cost * (1 + 1e-9));
        }
    }
}

LONG_TEST(the_order_of_charges_does_not_matter)
{
    seed = 3;
    for (int i = 0; i < 24; i++) {
        struct run run = draw_run(), turned = run;
        if (run.count < CHARGES)
            continue;
        turned.charge[0] = run.charge[1];
        turned.charge[1] = run.charge[0];
        for (int a = 0; a < SOUND; a++) {
            double one = ask(sound[a], &run).upper, other = ask(sound[a], &turned).upper;
            assert_true(one == other || fabs(one - other) <= 1e-9 * one);
        }
    }
}

/* A charge of each kind of sampling before and after a charge of each other kind: together they cost the same in both orders,
   and at least as much as either of them. By the accountants without a grid. */
LONG_TEST(every_sampling_adds_up)
{
    seed = 6;
    int seen = 0, pairs = 0;
    for (int i = 0; i < 20000 && pairs < 6 * 6 + 5 * 5; i++) {
        static bool done[2][16][16];
        bool replaced = i % 2;
        struct run run = {.count = 2, .delta = 1e-5};
        for (int k = 0; k < 2; k++)
            run.charge[k] = (struct dp_charge){draw_event(replaced), 1 + one_of(1000)};
        bool *did = &done[replaced][run.charge[0].event.sampling][run.charge[1].event.sampling];
        if (*did)
            continue;
        *did = true;
        pairs++;
        struct run turned = run, one = run, other = run;
        turned.charge[0] = other.charge[0] = run.charge[1];
        turned.charge[1] = run.charge[0];
        one.count = other.count = 1;
        static const enum dp_accountant smooth[] = {DP_ACCOUNTANT_RDP, DP_ACCOUNTANT_ZCDP, DP_ACCOUNTANT_GDP,
                                                    DP_ACCOUNTANT_ADVANCED};
        for (size_t a = 0; a < sizeof smooth / sizeof *smooth; a++) {
            double both = ask(smooth[a], &run).upper, back = ask(smooth[a], &turned).upper;
            if (isinf(both) && isinf(back))
                continue;
            assert_true(fabs(both - back) <= 1e-9 * both);
            assert_true(both >= ask(smooth[a], &one).upper * (1 - 1e-9) && both >= ask(smooth[a], &other).upper * (1 - 1e-9));
            seen++;
        }
    }
    assert_int_equal(pairs, 6 * 6 + 5 * 5);
    assert_true(seen > 60);
}

/* Two queries on one batch cost at least as much as either of them, at every order. */
LONG_TEST(another_query_costs_more)
{
    int seen = 0;
    seed = 4;
    for (int i = 0; i < 200; i++) {
        struct dp_event event = draw_event(false), one = event;
        double both[DP_RDP_ORDER_COUNT], alone[DP_RDP_ORDER_COUNT];
        err = (struct dp_err){0};
        one.queries = 1;
        one.query[0] = event.query[i % 2];
        if (event.queries < 2)
            continue;
        assert_int_equal(dp_event_curve(&event, dp_rdp_orders, DP_RDP_ORDER_COUNT, both, &err), DP_OK);
        assert_int_equal(dp_event_curve(&one, dp_rdp_orders, DP_RDP_ORDER_COUNT, alone, &err), DP_OK);
        for (int k = 0; k < DP_RDP_ORDER_COUNT; k++)
            assert_true(alone[k] > 0 && (isinf(both[k]) || both[k] >= alone[k] * (1 - 1e-9)));
        seen++;
    }
    assert_true(seen > 40);
}

/* A plan costs at least as much as its laps one by one, and only a little more. */
TEST(a_plan_costs_what_its_laps_do)
{
    enum { LAPS = 30 };
    seed = 5;
    for (int i = 0; i < 8; i++) {
        int64_t epoch = i % 2 ? 1 + one_of(10) : 0;
        struct dp_event first =
            dp_event_gaussian(epoch ? DP_SAMPLING_SHUFFLED : DP_SAMPLING_POISSON, between(0.01, 0.3), 1, epoch);
        struct dp_plan plan = {0};
        struct dp_charges planned = {0}, laps = {0};
        struct dp_answer charged, truth;
        err = (struct dp_err){0};
        double z[LAPS], most = i % 3 ? 4 : 1000;
        for (int t = 0; t < LAPS; t++)
            z[t] = between(0.8, most);
        assert_int_equal(dp_plan_add_scheduled(&plan, &first, z, LAPS, &err), DP_OK);
        assert_int_equal(dp_plan_charges(&plan, LAPS, &planned, &err), DP_OK);
        for (int64_t t = 0; t < LAPS; t += epoch ? epoch : 1) { /* an epoch counts as a lap of its least noise */
            struct dp_event lap = first;
            lap.query[0].multiplier = z[t];
            for (int64_t u = t; u < LAPS && u < t + epoch; u++)
                lap.query[0].multiplier = fmin(lap.query[0].multiplier, z[u]);
            assert_int_equal(dp_charges_add(&laps, &lap, 1, &err), DP_OK);
        }
        assert_int_equal(dp_account_epsilon(DP_ACCOUNTANT_BEST, &planned, 1e-6, &charged, &err), DP_OK);
        assert_int_equal(dp_account_epsilon(DP_ACCOUNTANT_BEST, &laps, 1e-6, &truth, &err), DP_OK);
        double wide = i % 3 ? 1.02 : 1.05;
        assert_true(charged.upper >= truth.lower && charged.upper >= truth.upper * (1 - 1e-3) &&
                    charged.upper <= wide * truth.upper);
        dp_charges_free(&planned);
        dp_charges_free(&laps);
        dp_plan_free(&plan);
    }
}

TESTS(NULL, NULL)
