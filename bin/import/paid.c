#include "paid.h"

#include "base/mem.h"
#include "base/number.h"
#include "base/text.h"
#include "data/knots.h"
#include "data/propose.h"
#include "fit/fit.h"

/* How a table does without a payment, or with a smaller one. */
static const char without[] =
    "--classes and a schema of your own need no payment; dpline fit --unpaid-schema pays nothing, and then epsilon does not cover "
    "the schema";

/* Half of delta names texts, half is for the Gaussian. */
#define FOR_NAMES 0.5

static const char not_private[] = "inferred-schema"; /* noise that follows from a seed pays for nothing */

static int release(const struct dp_census *census, const struct payment *p, const struct payment_options *o,
                   const struct identity *identity, double threshold, json_t **schema, struct dp_err *err)
{
    json_t *paid = NULL;
    struct dp_err lack = {0};
    const int64_t unit = (int64_t)(1 / p->grid);
    int64_t *counts = dp_new(census->counts, sizeof *counts);
    dp_census_counts(census, unit, counts);
    int rc = payment_make(p, o, identity, NULL, counts, census->counts, &paid, err);
    if (rc == DP_OK && dp_propose_noised(census, counts, unit, p->scale, threshold, schema, &lack) != DP_OK)
        rc = dp_fail(err, DP_E_UNSAFE, "%s, epsilon %g%s: %s", lack.message, p->epsilon,
                     paid != NULL ? ", which is charged" : "", without);
    if (rc == DP_OK && paid != NULL && census->person >= 0)
        json_object_set_new(paid, "person", json_string(census->column[census->person].name));
    if (rc == DP_OK && paid != NULL)
        json_object_set(*schema, "paid", paid);
    else if (rc == DP_OK)
        json_object_set_new(*schema, "private_preprocessing", json_pack("[s]", not_private));
    json_decref(paid);
    free(counts);
    return rc;
}

/* A text that a quarter of the rows have should be frequent enough to be named. */
static bool affords(const struct dp_census *census, double threshold)
{
    return 4 * threshold <= (double)census->rows;
}

/* Public numbers decide what is paid: the least of epsilon, 1.25 epsilon, 1.25^2 epsilon ... that affords a schema, up to the
   most. A schema that shares a budget with a run has its part of it. */
static struct payment least_payment(const struct dp_census *census, const struct payment_options *o, double *threshold)
{
    struct payment_options next = *o;
    struct payment p;
    if (!isnan(o->of))
        next.epsilon = fmax(o->epsilon, o->of * dp_fit_schema_share(o->of, (int64_t)census->rows));
    next.most = fmax(o->most, next.epsilon);
    do {
        p = payment_choose(&next, census->rows, census->person >= 0, dp_census_sensitivity(census), FOR_NAMES);
        *threshold = dp_census_threshold(census->columns, p.scale, p.named);
        next.epsilon = fmin(1.25 * p.epsilon, next.most);
    } while (!affords(census, *threshold) && p.epsilon < next.most);
    return p;
}

/* The names of the first line are public because the owner says so: the owner should see them. */
static void tell_names(const struct dp_census *census, bool header)
{
    char names[DP_TEXT_LISTED];
    if (header)
        fprintf(stderr, "dp-import: names that are taken to be public: %s\n",
                dp_text_list(dp_census_name, census, census->columns, names));
    else
        fputs("dp-import: the first line is a row: it has a value of its own column, so columns are named column1, column2, "
              "...\n",
              stderr);
}

int paid_schema(const struct dp_census *census, struct dp_import *import, struct identity *identity,
                const struct payment_options *o, json_t **schema, struct dp_err *err)
{
    double threshold = 0;
    *schema = NULL;
    const struct payment p = least_payment(census, o, &threshold);
    if (!affords(census, threshold))
        return dp_fail(err, DP_E_UNSAFE,
                       "--private-schema: %s is too small: noise for epsilon = %g would hide a text of a quarter of the rows; "
                       "nothing was charged: %s",
                       census->input, p.epsilon, without);
    int rc = identity_find(identity, import, err);
    rc = rc ?: release(census, &p, o, identity, threshold, schema, err);
    if (rc != DP_OK || o->quiet)
        return rc;
    tell_names(census, json_is_true(json_object_get(*schema, "header")));
    fprintf(stderr, "dp-import: the schema cost epsilon %g, delta %s: a text is named if about %.0f %s of %zu have it\n",
            p.epsilon, DP_NUMBER(p.delta), threshold, census->person >= 0 ? "persons" : "rows", census->rows);
    return DP_OK;
}

int paid_knots(void *self, struct dp_import *import, struct dp_knots *knots, size_t units, struct dp_err *err)
{
    const struct paid_knots *k = self;
    const size_t rows = import->writer.rows_per_person;
    struct payment p = payment_choose(&k->pay, units, rows, dp_knots_sensitivity(knots->columns, rows), 0);
    /* On a coarser grid a row would count as nothing. */
    const size_t cells = p.grid <= 1 ? dp_knots_choose((double)units, p.scale) : 0;
    const char *what = rows > 0 ? "persons" : "rows";
    json_t *paid = NULL;
    if (cells == 0 && !k->else_even)
        return dp_fail(err, DP_E_BUDGET, "--private-knots: epsilon = %g does not pay for knots of %zu columns and %zu %s",
                       p.epsilon, knots->columns, units, what);
    if (cells == 0 && !k->pay.quiet)
        fprintf(stderr, "dp-import: knots are even: epsilon = %g does not pay for others\n", p.epsilon);
    if (cells == 0)
        return DP_OK;
    dp_knots_merge(knots, cells);
    payment_correlate(&p, cells);
    const double on_sums = p.scale * p.sensitivity / p.bound; /* C is the root of the prefix sums: |c| of the noise of a cell */
    for (size_t i = 0; i < knots->columns * cells; i++)
        knots->count[i] *= (int64_t)(1 / p.grid);
    int rc = payment_make(&p, &k->pay, k->identity, import->plan.schema.paid, knots->count, knots->columns * cells, &paid, err);
    if (rc == DP_OK)
        dp_knots_place(knots, import->plan.basis, 1 / p.grid, (double)units, on_sums, &import->plan.schema);
    if (rc == DP_OK) {
        json_decref(import->plan.schema.paid);
        import->plan.schema.paid = json_incref(paid);
        dp_schema_note_private(&import->plan.schema, DP_TEXT_PAID_SCHEMA);
    }
    if (rc == DP_OK && !k->pay.quiet)
        fprintf(stderr, "dp-import: knots cost epsilon %g, delta %s: noise of %.0f on sums of counts of %zu %s in %zu cells\n",
                p.epsilon, DP_NUMBER(p.delta), on_sums, units, what, cells);
    json_decref(paid);
    return rc;
}
