#include "stages/eval_paid.h"

#include "base/mem.h"
#include "base/round.h"
#include "base/unit.h"
#include "gate/weak.h"
#include "math/laplace.h"

void dp_eval_paid_open(struct dp_eval_paid *e)
{
    size_t classes = e->data->label.classes;
    e->size = classes * classes + (e->brier ? 1 : 0);
    e->noised = dp_new(e->size, sizeof *e->noised);
    e->sum = dp_new(e->size, sizeof *e->sum);
    e->noise = dp_new(e->size, sizeof *e->noise);
    e->p = dp_new(e->model->form.outputs + 1, sizeof *e->p);
}

void dp_eval_paid_close(struct dp_eval_paid *e)
{
    free(e->noised);
    free(e->sum);
    free(e->noise);
    free(e->p);
}

/* In 0 … 1. */
static double squared_error(const struct dp_eval_paid *e, double label, const double *scores)
{
    size_t outputs = e->model->form.outputs;
    double error = dp_metric_brier(e->model->loss, scores, outputs, &label, 1, e->p) / (outputs == 1 ? 1 : 2);
    return error > 0 ? fmin(error, 1) : 0; /* also 0 if the error is not a number */
}

void dp_eval_paid_sum(struct dp_eval_paid *e, const double *decided, const double *scores)
{
    const struct dp_dataset *d = e->data;
    size_t outputs = e->model->form.outputs, first, k = 0;
    memset(e->sum, 0, e->size * sizeof *e->sum);
    for (size_t person = 0; person < d->persons; person++) {
        size_t rows = dp_dataset_person(d, person, &first);
        size_t labelled = 0;
        for (size_t i = first; i < first + rows; i++)
            labelled += !dp_dataset_is_null(d, i);
        double worth = floor(DP_EVAL_PAID_ONE / (double)labelled);
        for (size_t i = first; i < first + rows; i++) {
            if (dp_dataset_is_null(d, i))
                continue;
            e->sum[(size_t)d->y[i] * d->label.classes + dp_metric_class(decided + k * outputs, outputs)] += (int64_t)worth;
            if (e->brier)
                e->sum[e->size - 1] += (int64_t)(worth * squared_error(e, d->y[i], scores + k * outputs));
            k++;
        }
    }
}

/* How much one person changes the numbers in L1. Null-record: at most 1 in the cells, and 1 in the squared errors.
 * Replace-one: at most 2 in the cells, since the person leaves one cell and enters another; the squared error still changes by
 * at most 1. */
static double sensitivity_of(bool brier, enum dp_adjacency adjacency)
{
    return (adjacency == DP_ADJACENCY_REPLACE_ONE ? 2 : 1) + (brier ? 1 : 0);
}

double dp_eval_paid_unlabelled(const struct dp_eval_paid *e, double *noise)
{
    const size_t cells = e->data->label.classes * e->data->label.classes;
    double labelled = 0;
    for (size_t k = 0; k < cells; k++)
        labelled += e->noised[k];
    *noise = e->scale * sqrt(2 * (double)cells);
    return (double)e->data->persons - labelled;
}

static int pay(const struct dp_eval_paid *e, const struct dp_eval_paid_options *o, const char *directory,
               const struct dp_registry_place *place, const struct dp_charges *charges, int64_t started,
               struct dp_ledger **ledger, char *warning, struct dp_err *err)
{
    const struct dp_dataset *d = e->data;
    char unit[DP_UNIT_TEXT];
    const struct dp_ledger_run run = {.data = d->digest,
                                      .population = d->population,
                                      .unit = dp_unit_text(d->rows_per_person, unit),
                                      .rows = (int64_t)d->persons,
                                      .adjacency = dp_adjacency_names[dp_adjacency_chosen(o->adjacency)],
                                      .epsilon = o->epsilon,
                                      .delta = o->delta,
                                      .preprocessing = d->private_preprocessing,
                                      .time = started};
    const struct dp_where_query query = {
        .ledger = o->ledger, .directory = directory, .registry = dp_registry_chosen(&o->registry, place)};
    int rc = dp_weak_check(o->epsilon, o->delta, run.rows, o->allow_weak, NULL, NULL, err);
    if (rc != DP_OK || o->no_ledger)
        return rc ?: dp_where_note_outside(&query.registry, &run, DP_REGISTRY_NO_LEDGER, err);
    rc = dp_once_open(ledger, &query, &run, charges, warning, err);
    return rc == DP_E_BUDGET
               ? dp_fail(err, DP_E_BUDGET, "the rest of the data set's budget does not pay for measures of epsilon = %.6g",
                         dp_round_up(o->epsilon, 6))
               : rc;
}

/* scale: in units of 1 / ONE, rounded up. */
static int add_noise(struct dp_eval_paid *e, double scale, struct dp_err *err)
{
    struct dp_key key;
    dp_key_fresh(&key);
    if (dp_laplace_draw(&key, DP_DRAW_MEASURES, 1, 0, scale, e->noise, e->size) != 0)
        return dp_fail(err, DP_E_RUN, "the noise cannot be drawn");
    for (size_t i = 0; i < e->size; i++)
        e->noised[i] = (double)(e->sum[i] + e->noise[i]) / DP_EVAL_PAID_ONE;
    return DP_OK;
}

int dp_eval_paid_release(struct dp_eval_paid *e, const struct dp_eval_paid_options *o, const char *directory,
                         const struct dp_registry_place *place, int64_t started, const double *decided, const double *scores,
                         struct dp_answer *cost, char warning[DP_ERR_MESSAGE_SIZE], struct dp_err *err)
{
    struct dp_event event = {
        .sampling = DP_SAMPLING_NONE, .rate = 1, .queries = 1, .query = {{.kind = DP_QUERY_COUNTS, .epsilon = o->epsilon}}};
    double sensitivity = sensitivity_of(e->brier, dp_adjacency_chosen(o->adjacency));
    double scale = nextafter(sensitivity * DP_EVAL_PAID_ONE / o->epsilon, INFINITY);
    struct dp_charges charges = {0};
    struct dp_ledger *ledger = NULL;
    int rc = dp_charges_add(&charges, &event, 1, err);
    e->scale = scale / DP_EVAL_PAID_ONE;
    rc = rc ?: dp_account_epsilon(DP_ACCOUNTANT_BEST, &charges, o->delta, cost, err);
    rc = rc ?: pay(e, o, directory, place, &charges, started, &ledger, warning, err);
    if (rc == DP_OK) {
        dp_eval_paid_sum(e, decided, scores);
        rc = add_noise(e, scale, err);
    }
    rc = rc ?: dp_once_close(&ledger, &charges, cost, o->delta, "done", NULL, 0, err);
    dp_ledger_free(ledger);
    dp_charges_free(&charges);
    return rc;
}
