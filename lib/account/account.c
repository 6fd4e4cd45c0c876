#include "account/account.h"

#include "account/claimed.h"
#include "base/mem.h"
#include "priv/compose.h"
#include "account/curve.h"
#include "priv/gdp.h"
#include "priv/joint.h"
#include "account/kinds.h"
#include "account/profile.h"
#include "priv/pure.h"
#include "priv/zcdp.h"

#define NAME(id, name, ...) name,
const char *const dp_accountant_names[DP_ACCOUNTANT_COUNT] = {DP_ACCOUNTANTS(NAME) DP_ACCOUNTANTS_NAMED(NAME)};

#define TITLE(id, name, title, ...) title,
const char *const dp_accountant_titles[] = {DP_ACCOUNTANTS(TITLE)};
_Static_assert(sizeof dp_accountant_titles / sizeof *dp_accountant_titles == DP_ACCOUNTANT_FILTER, "can be asked: first");

static bool sampled(const struct dp_event *event)
{
    return event->sampling == DP_SAMPLING_REPEATED || event->sampling == DP_SAMPLING_TUNED ||
           (event->rate < 1 && event->sampling != DP_SAMPLING_NONE && !dp_event_in_epochs(event));
}

/* --- privacy loss distributions --- */

/* Several queries on one Poisson sample: all Gaussians as one, all other queries as one randomised response, amplified
   together. False if a query is neither. */
static bool joint_part(const struct dp_event *event, struct dp_pld_part *part)
{
    double z[DP_EVENT_MOST_QUERIES];
    size_t gaussians = 0;
    part->epsilon = 0;
    for (int i = 0; i < event->queries; i++) {
        if (dp_kind_is_gaussian(&event->query[i]))
            z[gaussians++] = event->query[i].multiplier;
        else
            part->epsilon += dp_kind_epsilon(&event->query[i]) * (1 + 0x1p-50);
    }
    part->kind = gaussians > 0 ? DP_PLD_JOINT : DP_PLD_PURE;
    part->multiplier = gaussians == 1 ? z[0] : dp_gaussian_joint(z, gaussians);
    return isfinite(part->epsilon);
}

/* Appends one event as parts of a privacy loss distribution to part (room for DP_EVENT_MOST_QUERIES). Returns their number, 0
   if no such parts bound the event. */
static size_t event_parts(const struct dp_event *event, int64_t laps, struct dp_pld_part *part)
{
    bool none = event->sampling == DP_SAMPLING_NONE || dp_event_in_epochs(event);
    bool replaced = dp_event_exchanges(event);
    double z;
    struct dp_pld_part p = {.rate = none ? 1 : event->rate, .laps = dp_event_times(event, laps)};
    if (event->sampling == DP_SAMPLING_REPEATED || event->sampling == DP_SAMPLING_TUNED ||
        (event->sampling == DP_SAMPLING_VISIBLE && event->rate < 1))
        return 0;
    if (dp_event_is_gaussian(event, &z)) {
        p.kind = event->sampling == DP_SAMPLING_COINS ? DP_PLD_GAUSSIAN_COINS
                 : replaced                           ? DP_PLD_GAUSSIAN_REPLACED
                                                      : DP_PLD_GAUSSIAN;
        p.multiplier = z;
        part[0] = p;
        return 1;
    }
    if (event->sampling == DP_SAMPLING_POISSON && event->rate < 1 && event->queries > 1) {
        part[0] = p;
        return joint_part(event, part) ? 1 : 0;
    }
    if (replaced && event->queries > 1) /* no joint distribution is known */
        return 0;
    for (int i = 0; i < event->queries; i++) {
        const struct dp_query *query = &event->query[i];
        if (!dp_kind_has_pair(query))
            return 0;
        part[i] = p;
        part[i].kind = dp_kinds[query->kind].pair;
        if (replaced) {
            /* Exchanging a row moves both distributions away from what they have in common. A pair for adding or removing a row
               does not cover that. Randomised response with the sampled epsilon covers it. */
            part[i].kind = DP_PLD_PURE;
            part[i].epsilon = dp_pure_sampled(event->rate, dp_kind_epsilon(query));
            part[i].rate = 1;
        } else if (part[i].kind == DP_PLD_PURE) {
            part[i].epsilon = dp_kind_epsilon(query);
        } else {
            part[i].multiplier = query->multiplier;
        }
        if (!isfinite(part[i].epsilon))
            return 0;
    }
    return (size_t)event->queries;
}

struct dp_pld_part *dp_account_pld_parts(const struct dp_charges *charges, size_t *count)
{
    struct dp_pld_part *part = dp_new(charges->count * DP_EVENT_MOST_QUERIES + 1, sizeof *part);
    *count = 0;
    for (size_t i = 0; i < charges->count; i++) {
        size_t more = event_parts(&charges->charge[i].event, charges->charge[i].laps, part + *count);
        if (more == 0) {
            free(part);
            return NULL;
        }
        *count += more;
    }
    return part;
}

/* Whether a query is charged as another mechanism that costs more: then its lower bound is not a lower bound on the true cost.
 * On one sample, and if a row is exchanged, all queries except Gaussians are charged as randomised response. */
static bool stands_in(const struct dp_event *event)
{
    bool joint = event->queries > 1 && event->sampling == DP_SAMPLING_POISSON && event->rate < 1;
    bool response = joint || dp_event_exchanges(event);
    int others = 0;
    for (int i = 0; i < event->queries; i++) {
        const struct dp_kind_cost *kind = &dp_kinds[event->query[i].kind];
        if (!kind->exact || (response && kind->pair != DP_PLD_GAUSSIAN && kind->pair != DP_PLD_PURE))
            return true;
        others += kind->pair != DP_PLD_GAUSSIAN;
    }
    return joint && others > 1;
}

static struct dp_answer answer_of(const struct dp_charges *charges, const struct dp_pld_answer *pld)
{
    struct dp_answer answer = {pld->upper, pld->lower, pld->tight, DP_ACCOUNTANT_PLD};
    for (size_t i = 0; i < charges->count; i++)
        if (stands_in(&charges->charge[i].event))
            answer.lower = 0;
    answer.tight = answer.tight && answer.upper - answer.lower <= 0.01 * answer.upper;
    return answer;
}

/* Epsilon at delta = given, or δ at epsilon = given. */
static int ask_pld(int (*pld_of)(const struct dp_pld_part *, size_t, double, struct dp_pld_answer *, struct dp_err *),
                   const struct dp_charges *charges, double given, struct dp_answer *answer, struct dp_err *err)
{
    struct dp_pld_answer pld = {.upper = (double)INFINITY};
    size_t count;
    struct dp_pld_part *part = dp_account_pld_parts(charges, &count);
    if (part == NULL)
        return dp_fail(err, DP_E_RUN, "privacy loss distributions do not cover these mechanisms");
    int rc = pld_of(part, count, given, &pld, err);
    free(part);
    *answer = answer_of(charges, &pld);
    return rc;
}

static int by_pld(const struct dp_charges *charges, double delta, struct dp_answer *answer, struct dp_err *err)
{
    return ask_pld(dp_pld_epsilon, charges, delta, answer, err);
}

int dp_account_pld_delta(const struct dp_charges *charges, double epsilon, struct dp_answer *answer, struct dp_err *err)
{
    return ask_pld(dp_pld_delta, charges, epsilon, answer, err);
}

/* --- Rényi DP --- */

/* The laps of the charge, as consecutive laps for a meter: an epoch that the charge has begun counts whole, and no other charge
   fills it. */
static int64_t whole_epochs(const struct dp_charge *charge)
{
    const struct dp_event *event = &charge->event;
    return dp_event_in_epochs(event) ? dp_event_times(event, charge->laps) * dp_event_epoch(event) : charge->laps;
}

static int charge_all(struct dp_meter *meter, const struct dp_charges *charges, struct dp_err *err)
{
    int rc = DP_OK;
    for (size_t i = 0; rc == DP_OK && i < charges->count; i++)
        rc = dp_meter_charge(meter, &charges->charge[i].event, whole_epochs(&charges->charge[i]), err);
    return rc;
}

static int by_rdp(const struct dp_charges *charges, double delta, struct dp_answer *answer, struct dp_err *err)
{
    struct dp_meter *meter = NULL;
    int rc = dp_meter_new(&meter, delta, err);
    rc = rc ?: charge_all(meter, charges, err);
    if (rc == DP_OK)
        *answer = (struct dp_answer){.upper = dp_meter_epsilon(meter), .by = DP_ACCOUNTANT_RDP};
    dp_meter_free(meter);
    return rc;
}

/* --- pure differential privacy --- */

/* a + b, and laps * b, rounded up only if they round: 1 + 2 is 3. */
static double sum_up(double a, double b)
{
    double sum = a + b, part = sum - a, lost = (a - (sum - part)) + (b - part);
    return lost > 0 ? nextafter(sum, (double)INFINITY) : sum;
}

static double times_up(int64_t laps, double b)
{
    double product = (double)laps * b;
    return fma((double)laps, b, -product) > 0 ? nextafter(product, (double)INFINITY) : product;
}

/* The epsilon of one lap (of one epoch), infinite if it is not pure. On a sample the sum of its queries is amplified; where a
   row is exchanged, only one query. */
static double pure_of(const struct dp_event *event)
{
    double sum = 0;
    if (event->sampling == DP_SAMPLING_TUNED || event->sampling == DP_SAMPLING_REPEATED)
        return (double)INFINITY;
    for (int i = 0; i < event->queries; i++)
        sum = sum_up(sum, dp_kind_epsilon(&event->query[i]));
    bool amplified = event->sampling == DP_SAMPLING_POISSON || (dp_event_exchanges(event) && event->queries == 1);
    return amplified ? dp_pure_sampled(event->rate, sum) : sum;
}

static bool all_pure(const struct dp_charges *charges)
{
    for (size_t i = 0; i < charges->count; i++)
        if (!isfinite(pure_of(&charges->charge[i].event)))
            return false;
    return true;
}

/* Σ ε, at any delta. */
static int by_pure(const struct dp_charges *charges, double delta, struct dp_answer *answer, struct dp_err *err)
{
    double sum = 0;
    bool exact = delta == 0;
    (void)err;
    for (size_t i = 0; i < charges->count; i++) {
        const struct dp_event *event = &charges->charge[i].event;
        sum = sum_up(sum, times_up(dp_event_times(event, charges->charge[i].laps), pure_of(event)));
        exact = exact && !stands_in(event);
    }
    double lower = exact ? sum * (1 - 1e-9) : 0;
    *answer = (struct dp_answer){sum, lower, exact, DP_ACCOUNTANT_PURE};
    return DP_OK;
}

/* --- without sampling: Gaussian and zero-concentrated DP --- */

static bool nothing_sampled(const struct dp_charges *charges)
{
    for (size_t i = 0; i < charges->count; i++)
        if (sampled(&charges->charge[i].event))
            return false;
    return true;
}

/* False for a selection: only its curve is known. */
static bool every_query(const struct dp_charges *charges, bool (*holds)(const struct dp_query *query))
{
    for (size_t i = 0; i < charges->count; i++) {
        const struct dp_event *event = &charges->charge[i].event;
        for (int j = 0; j < event->queries; j++)
            if (!holds(&event->query[j]))
                return false;
        if (event->sampling == DP_SAMPLING_TUNED)
            return false;
    }
    return true;
}

static bool unsampled_gaussians(const struct dp_charges *charges)
{
    return nothing_sampled(charges) && every_query(charges, dp_kind_is_gaussian);
}

bool dp_account_gaussian_mu(const struct dp_charges *charges, double *mu)
{
    if (!unsampled_gaussians(charges))
        return false;
    double square = 0;
    for (size_t i = 0; i < charges->count; i++) {
        double z, one;
        int64_t times = dp_event_times(&charges->charge[i].event, charges->charge[i].laps);
        dp_event_is_gaussian(&charges->charge[i].event, &z);
        one = dp_gaussian_mu(&z, &times, 1);
        square += one * one;
    }
    *mu = sqrt(square) * (1 + 1e-15 * (double)(charges->count + 4));
    return true;
}

static int by_gdp(const struct dp_charges *charges, double delta, struct dp_answer *answer, struct dp_err *err)
{
    double mu = (double)INFINITY;
    (void)err;
    dp_account_gaussian_mu(charges, &mu);
    /* The epsilon is exact up to the grid of the search, except that an epoch may cost less than one Gaussian. */
    *answer = (struct dp_answer){dp_gaussian_epsilon(mu, delta), 0, true, DP_ACCOUNTANT_GDP};
    answer->lower = answer->upper * (1 - 1e-9);
    for (size_t i = 0; i < charges->count; i++)
        if (dp_event_in_epochs(&charges->charge[i].event))
            answer->lower = 0;
    answer->tight = answer->lower > 0;
    return DP_OK;
}

static int by_zcdp(const struct dp_charges *charges, double delta, struct dp_answer *answer, struct dp_err *err)
{
    double rho = 0;
    (void)err;
    for (size_t i = 0; i < charges->count; i++) {
        const struct dp_event *event = &charges->charge[i].event;
        double one = 0;
        for (int j = 0; j < event->queries; j++)
            one += dp_kind_rho(&event->query[j]);
        rho += one * (double)dp_event_times(event, charges->charge[i].laps);
    }
    /* A margin larger than the rounding error of products and sums. */
    rho *= 1 + 1e-15 * (double)(charges->count + DP_EVENT_MOST_QUERIES);
    *answer = (struct dp_answer){.upper = dp_zcdp_epsilon(rho, delta), .by = DP_ACCOUNTANT_ZCDP};
    return DP_OK;
}

/* --- one lap with a formula --- */

static bool has_profile(const struct dp_charges *charges)
{
    return dp_profile_event(charges) != NULL;
}

/* The formula bounds every mechanism with these numbers, so no lower bound is known. */
static int by_profile(const struct dp_charges *charges, double delta, struct dp_answer *answer, struct dp_err *err)
{
    (void)err;
    *answer = (struct dp_answer){.upper = dp_profile_epsilon(dp_profile_event(charges), delta), .by = DP_ACCOUNTANT_PROFILE};
    return DP_OK;
}

int dp_account_profile_delta(const struct dp_charges *charges, double epsilon, struct dp_answer *answer, struct dp_err *err)
{
    if (!has_profile(charges))
        return dp_fail(err, DP_E_RUN, "no formula gives the profile of these mechanisms");
    *answer = (struct dp_answer){.upper = dp_profile_delta(dp_profile_event(charges), epsilon), .by = DP_ACCOUNTANT_PROFILE};
    return DP_OK;
}

/* --- composition lap by lap --- */

/* (ε, δ) of one lap. Pure queries have their ε, others the ε that leaves them `share` of delta, amplified if the batch is a
   sample (Balle, Barthe and Gaboardi 2018). The result of repeated draws has the ε of its profile at that share of delta. */
static struct dp_guarantee lap_guarantee(const struct dp_charge *charge, double share)
{
    const struct dp_event *event = &charge->event;
    struct dp_guarantee lap = {.times = dp_event_times(event, charge->laps)};
    if (event->sampling == DP_SAMPLING_REPEATED) {
        lap.epsilon = dp_profile_epsilon(event, share);
        lap.delta = share;
        return lap;
    }
    double q = sampled(event) && event->sampling != DP_SAMPLING_VISIBLE ? event->rate : 1;
    for (int j = 0; j < event->queries; j++) {
        const struct dp_query *query = &event->query[j];
        double each = fmin(share / q / event->queries, 0.5);
        if (dp_kind_is_gaussian(query)) {
            lap.epsilon += dp_gaussian_epsilon(dp_gaussian_mu(&query->multiplier, &(int64_t){1}, 1), each);
            lap.delta += each;
        } else if (dp_kinds[query->kind].delta != NULL) {
            lap.epsilon += dp_profile_query_epsilon(query, each);
            lap.delta += each;
        } else {
            lap.epsilon += dp_kind_epsilon(query);
        }
    }
    lap.epsilon = dp_pure_sampled(q, lap.epsilon * (1 + 1e-15));
    lap.delta = fmin(q * lap.delta * (1 + 1e-15), share);
    return lap;
}

/* Half of delta for the laps themselves, half for the composition. */
static int by_advanced(const struct dp_charges *charges, double delta, struct dp_answer *answer, struct dp_err *err)
{
    (void)err;
    int64_t laps = 0;
    struct dp_guarantee *step = dp_new(charges->count + 1, sizeof *step);
    for (size_t i = 0; i < charges->count; i++)
        laps += dp_event_times(&charges->charge[i].event, charges->charge[i].laps);
    for (size_t i = 0; i < charges->count; i++)
        step[i] = lap_guarantee(&charges->charge[i], 0.5 * delta / (double)laps);
    *answer = (struct dp_answer){.upper = dp_compose_advanced(step, charges->count, delta), .by = DP_ACCOUNTANT_ADVANCED};
    free(step);
    return DP_OK;
}

/* --- the choice of an accountant --- */

static bool any(const struct dp_charges *charges)
{
    (void)charges;
    return true;
}

/* Whether the batch of each lap is one draw of the rows. The paper treats such a batch as a Poisson sample. */
static bool batches(const struct dp_charges *charges)
{
    for (size_t i = 0; i < charges->count; i++) {
        enum dp_sampling sampling = charges->charge[i].event.sampling;
        if (sampling == DP_SAMPLING_REPEATED || sampling == DP_SAMPLING_TUNED || sampling == DP_SAMPLING_STREAM)
            return false;
    }
    return true;
}

static bool sampled_gaussians(const struct dp_charges *charges)
{
    for (size_t i = 0; i < charges->count; i++) {
        const struct dp_event *event = &charges->charge[i].event;
        if ((event->sampling != DP_SAMPLING_POISSON && !dp_event_exchanges(event)) || event->queries != 1)
            return false;
    }
    return every_query(charges, dp_kind_is_gaussian);
}

static bool have_parts(const struct dp_charges *charges)
{
    struct dp_pld_part part[DP_EVENT_MOST_QUERIES];
    for (size_t i = 0; i < charges->count; i++)
        if (event_parts(&charges->charge[i].event, charges->charge[i].laps, part) == 0)
            return false;
    return true;
}

static bool unsampled_rho(const struct dp_charges *charges)
{
    return nothing_sampled(charges) && every_query(charges, dp_kind_has_rho);
}

static bool have_guarantees(const struct dp_charges *charges)
{
    return every_query(charges, dp_kind_has_guarantee);
}

static int best(const struct dp_charges *charges, double delta, struct dp_answer *answer, struct dp_err *err);

#define ROW(id, name, title, covers, answer) {covers, answer},
static const struct {
    bool (*covers)(const struct dp_charges *charges);
    int (*answer)(const struct dp_charges *charges, double delta, struct dp_answer *answer, struct dp_err *err);
} rows[] = {DP_ACCOUNTANTS(ROW)};

bool dp_account_covers(enum dp_accountant accountant, const struct dp_charges *charges)
{
    return rows[accountant].covers(charges);
}

/* GDP is exact if it covers the charges. Otherwise the smallest bound of the accountants that cover them; zCDP is never below
   RDP. If one fails, the answer is a failure. */
static int best(const struct dp_charges *charges, double delta, struct dp_answer *answer, struct dp_err *err)
{
    static const enum dp_accountant candidates[] = {DP_ACCOUNTANT_PROFILE, DP_ACCOUNTANT_PLD, DP_ACCOUNTANT_PURE,
                                                    DP_ACCOUNTANT_ADVANCED, DP_ACCOUNTANT_RDP};
    if (unsampled_gaussians(charges))
        return by_gdp(charges, delta, answer, err);
    *answer = (struct dp_answer){.upper = (double)INFINITY, .by = DP_ACCOUNTANT_RDP};
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        struct dp_answer one;
        if (candidates[i] == DP_ACCOUNTANT_RDP && isfinite(answer->upper) &&
            answer->upper - answer->lower <= 0.01 * answer->upper)
            break; /* within 1 %: more would only cost time */
        if (!rows[candidates[i]].covers(charges))
            continue;
        int rc = rows[candidates[i]].answer(charges, delta, &one, err);
        if (rc != DP_OK)
            return rc;
        double lower = fmax(answer->lower, one.lower);
        if (one.upper < answer->upper)
            *answer = one;
        answer->lower = fmin(lower, answer->upper);
    }
    answer->tight = answer->upper - answer->lower <= 0.01 * answer->upper;
    return DP_OK;
}

/* Which adjacencies the charges state. */
static void note_adjacency(const struct dp_charges *charges, bool *replaced, bool *null_record)
{
    for (size_t i = 0; i < charges->count; i++) {
        const struct dp_event *event = &charges->charge[i].event;
        *replaced |= event->rate < 1 && dp_event_exchanges(event);
        *null_record |= event->rate < 1 && (event->sampling == DP_SAMPLING_POISSON || event->sampling == DP_SAMPLING_VISIBLE);
        for (size_t k = 0; event->tuning != NULL && k < event->tuning->settings; k++)
            note_adjacency(&event->tuning->setting[k].charges, replaced, null_record);
    }
}

static int check_charges(const struct dp_charges *charges, struct dp_err *err)
{
    bool replaced = false, null_record = false;
    for (size_t i = 0; i < charges->count; i++) {
        const struct dp_event *event = &charges->charge[i].event;
        int rc = dp_event_check(event, err);
        if (rc == DP_OK && charges->charge[i].laps < 0)
            rc = dp_fail(err, DP_E_RUN, "cannot account for %lld laps", (long long)charges->charge[i].laps);
        if (rc != DP_OK)
            return rc;
    }
    note_adjacency(charges, &replaced, &null_record);
    /* Charges under different adjacencies have different neighbours, and their sum would bound neither cost. */
    return replaced && null_record
               ? dp_fail(err, DP_E_RUN, "samples under replace-one and under null-record adjacency do not compose")
               : DP_OK;
}

/* Users expect deltas of 1e-6 and 2e-6 to be 3e-6. */
#define DECIMAL 1e-12

/* Whether the query has no delta of its own, which dp_charges_without_delta takes from the delta of all. */
static bool no_delta(const struct dp_query *query)
{
    return query->kind != DP_QUERY_GAUSSIAN_THRESHOLD && query->kind != DP_QUERY_STATED;
}

static int ask(enum dp_accountant accountant, const struct dp_charges *charges, double delta, struct dp_answer *answer,
               struct dp_err *err)
{
    if (!rows[accountant].covers(charges))
        return dp_fail(err, DP_E_RUN, "accountant %s does not cover these mechanisms", dp_accountant_names[accountant]);
    return rows[accountant].answer(charges, delta, answer, err);
}

int dp_account_epsilon(enum dp_accountant accountant, const struct dp_charges *charges, double delta, struct dp_answer *answer,
                       struct dp_err *err)
{
    *answer = (struct dp_answer){.tight = true, .by = accountant};
    if (!(delta >= 0 && delta < 1))
        return dp_fail(err, DP_E_RUN, "the accountant needs 0 <= delta < 1");
    int rc = check_charges(charges, err);
    if (rc != DP_OK || charges->count == 0)
        return rc;
    if (delta == 0 && !all_pure(charges))
        return dp_fail(err, DP_E_RUN,
                       "delta 0 is for pure mechanisms (Laplace or gamma noise, the exponential mechanism, counts), "
                       "and not all of these are pure");
    if (delta == 0 && accountant != DP_ACCOUNTANT_BEST && accountant != DP_ACCOUNTANT_PURE)
        return dp_fail(err, DP_E_RUN, "accountant %s needs a delta above 0", dp_accountant_names[accountant]);
    if (delta == 0)
        return by_pure(charges, 0, answer, err);
    bool only = accountant == DP_ACCOUNTANT_PROFILE || every_query(charges, no_delta);
    if (only || (accountant == DP_ACCOUNTANT_BEST && has_profile(charges)))
        return ask(accountant, charges, delta, answer, err);
    struct dp_charges plain = {0};
    double own, left;
    rc = dp_charges_without_delta(charges, &plain, &own, err);
    left = fabs(delta - own) <= DECIMAL * delta ? 0 : delta - own;
    if (rc == DP_OK && left == 0 && all_pure(&plain) && (accountant == DP_ACCOUNTANT_BEST || accountant == DP_ACCOUNTANT_PURE))
        rc = by_pure(&plain, 0, answer, err);
    else if (rc == DP_OK && left > 0)
        rc = ask(accountant, &plain, left, answer, err);
    else
        answer->upper = (double)INFINITY;
    answer->lower = 0;
    answer->tight = false;
    dp_charges_free(&plain);
    return rc;
}

int dp_account_meter(const struct dp_charges *charges, double delta, struct dp_meter **meter, struct dp_err *err)
{
    *meter = NULL;
    int rc = check_charges(charges, err);
    if (rc != DP_OK || !every_query(charges, no_delta))
        return rc;
    rc = dp_meter_new(meter, delta, err);
    return rc ?: charge_all(*meter, charges, err);
}
