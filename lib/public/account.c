#include <dpline/account.h>

#include "base/init.h"
#include "base/mem.h"
#include "convert.h"
#include "account/calibrate.h"
#include "account/solve.h"

/* A kind of query, or a member, that is only in query/query.h is not public yet: adding it here is a promise. */
static const enum dp_query_kind kinds[] = {
    [DPLINE_GAUSSIAN] = DP_QUERY_GAUSSIAN,
    [DPLINE_LAPLACE] = DP_QUERY_LAPLACE,
    [DPLINE_PURE] = DP_QUERY_PURE,
    [DPLINE_SPARSE_LAPLACE] = DP_QUERY_SPARSE_LAPLACE,
    [DPLINE_SPARSE_GAUSSIAN] = DP_QUERY_SPARSE_GAUSSIAN,
    [DPLINE_DISCRETE_LAPLACE] = DP_QUERY_DISCRETE_LAPLACE,
    [DPLINE_GAMMA] = DP_QUERY_GAMMA,
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static const enum dp_sampling samplings[] = {
    [DPLINE_SAMPLING_NONE] = DP_SAMPLING_NONE,
    [DPLINE_SAMPLING_POISSON] = DP_SAMPLING_POISSON,
    [DPLINE_SAMPLING_SUBSTITUTED] = DP_SAMPLING_SUBSTITUTED,
    [DPLINE_SAMPLING_SHUFFLED] = DP_SAMPLING_SHUFFLED,
    [DPLINE_SAMPLING_VISIBLE] = DP_SAMPLING_VISIBLE,
    [DPLINE_SAMPLING_COINS] = DP_SAMPLING_COINS,
};
enum { SAMPLINGS = sizeof samplings / sizeof samplings[0] };
_Static_assert((int)DPLINE_MOST_QUERIES == DP_EVENT_MOST_QUERIES, "all queries of a lap fit");

static bool zeros(const double *unused, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (unused[i] != 0)
            return false;
    return true;
}

static int take_query(struct dp_query *to, const struct dpline_query *from, struct dp_err *err)
{
    if ((int)from->kind <= 0 || (int)from->kind >= KINDS || !zeros(from->unused, 4))
        return dp_fail(err, DP_E_USAGE, "a query of a kind that this version does not know");
    *to = (struct dp_query){
        .kind = kinds[from->kind],
        .multiplier = from->multiplier,
        .epsilon = from->epsilon,
        .query_epsilon = from->query_epsilon,
        .rho = from->rho,
        .most = from->most,
    };
    /* A member that the kind does not have must be 0. */
    const struct {
        enum dp_query_member member;
        double value;
    } given[] = {{DP_QUERY_multiplier, to->multiplier},
                 {DP_QUERY_epsilon, to->epsilon},
                 {DP_QUERY_query_epsilon, to->query_epsilon},
                 {DP_QUERY_rho, to->rho},
                 {DP_QUERY_most, (double)to->most}};
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++)
        if (given[i].value != 0 && !dp_query_has(to->kind, given[i].member))
            return dp_fail(err, DP_E_USAGE, "a query of kind %s has no member %s", dp_query_kinds[to->kind].name,
                           dp_query_members[given[i].member].key);
    return DP_OK;
}

int dp_public_event(struct dp_event *event, int64_t *laps, const struct dpline_charge *charge, struct dp_err *err)
{
    if ((int)charge->sampling < 0 || (int)charge->sampling >= SAMPLINGS || !zeros(charge->unused, 4))
        return dp_fail(err, DP_E_USAGE, "a charge with a sampling that this version does not know");
    if (charge->queries < 1 || charge->queries > DPLINE_MOST_QUERIES)
        return dp_fail(err, DP_E_USAGE, "a charge has 1 to %d queries", DPLINE_MOST_QUERIES);
    if (charge->laps < 0 || charge->laps > DP_EVENT_MOST_LAPS)
        return dp_fail(err, DP_E_USAGE, "a charge has 0 to 10^12 laps");
    *event = (struct dp_event){.sampling = samplings[charge->sampling],
                               .rate = charge->rate,
                               .epoch_laps = charge->epoch_laps,
                               .queries = (int)charge->queries};
    *laps = charge->laps;
    int rc = DP_OK;
    for (size_t i = 0; rc == DP_OK && i < charge->queries; i++)
        rc = take_query(&event->query[i], &charge->query[i], err);
    if (rc == DP_OK && dp_event_check(event, err) != DP_OK)
        rc = DP_E_USAGE;
    return rc;
}

int dpline_account_new(struct dpline_account **account, struct dpline_error *error)
{
    (void)error;
    dp_init();
    *account = dp_new(1, sizeof **account);
    return DPLINE_OK;
}

void dpline_account_free(struct dpline_account *account)
{
    if (account == NULL)
        return;
    dp_charges_free(&account->charges);
    free(account);
}

int dpline_account_add(struct dpline_account *account, const struct dpline_charge *charge, struct dpline_error *error)
{
    struct dp_err err = {0};
    struct dp_event event;
    int64_t laps;
    int rc = dp_public_event(&event, &laps, charge, &err);
    rc = rc ?: dp_charges_add(&account->charges, &event, laps, &err);
    return dp_public_result(error, rc, &err);
}

int dpline_account_epsilon(const struct dpline_account *account, double delta, struct dpline_bounds *epsilon,
                           struct dpline_error *error)
{
    struct dp_err err = {0};
    struct dp_answer answer;
    int rc = dp_account_epsilon(DP_ACCOUNTANT_BEST, &account->charges, delta, &answer, &err);
    if (rc == DP_OK)
        *epsilon = (struct dpline_bounds){answer.lower, answer.upper};
    return dp_public_result(error, rc, &err);
}

int dpline_account_delta(const struct dpline_account *account, double epsilon, struct dpline_bounds *delta,
                         struct dpline_error *error)
{
    struct dp_err err = {0};
    struct dp_answer answer = {0};
    int rc = account->charges.count > 0 ? dp_solve_delta(DP_ACCOUNTANT_BEST, &account->charges, epsilon, &answer, &err) : DP_OK;
    if (rc == DP_OK)
        *delta = (struct dpline_bounds){answer.lower, answer.upper};
    return dp_public_result(error, rc, &err);
}

int dpline_account_stretch(const struct dpline_account *account, double epsilon, double delta, double *factor,
                           struct dpline_error *error)
{
    struct dp_err err = {0};
    int rc = dp_calibrate_noise(DP_ACCOUNTANT_BEST, &account->charges, epsilon, delta, factor, &err);
    return dp_public_result(error, rc, &err);
}

int dpline_laps_within(const struct dpline_charge *charge, double epsilon, double delta, int64_t *laps,
                       struct dpline_error *error)
{
    struct dp_err err = {0};
    struct dpline_charge one = *charge;
    struct dp_event event;
    int64_t unused;
    dp_init();
    one.laps = 1;
    int rc = dp_public_event(&event, &unused, &one, &err);
    rc = rc ?: dp_solve_laps(DP_ACCOUNTANT_BEST, &event, epsilon, delta, laps, &err);
    return dp_public_result(error, rc, &err);
}
