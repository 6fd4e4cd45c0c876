/* dp-rows: the stage; `dp-rows plan`, the noise of its two laps; and `dp-rows draw`, which prints rows that are drawn from the
 * tables of a run. */

#include <omp.h>

#include "base/cli.h"
#include "base/mem.h"
#include "base/round.h"
#include "data/dataset.h"
#include "data/schema.h"
#include "fit/fit.h"
#include "ledger/schema_cost.h"
#include "port/model.h"
#include "port/port.h"
#include "rows/rows.h"
#include "runtime/run.h"
#include "stages/stages.h"
#include "tables/estimate.h"

/* POOL is from a prototype. DP_ROWS_ENOUGH is from bank marketing, telco churn and credit default. On the last one
 * 300 steps gave errors of pairs of .0340, and 200 steps .0348. */
enum { POOL = 100000, STEPS = 200, MOST = 10000000 };
/* Exchanges that are tried for each row: on bank marketing and telco churn, 100 gave no better tables than 30. */
enum { TRIES = 30 };

struct options {
    int64_t rows, seed, threads;
    const char *errors;
};

#define DP_OPTIONS struct options
static const struct dp_option options[] = {
    DP_OPTION_INT('n', rows, "N", DP_FROM_TO(1, MOST), "how many rows (as many as there were)"),
    DP_OPTION_INT('s', seed, "S", DP_FROM_TO(0, 9007199254740992), "of the draws, which are public", .fallback = "1"),
    DP_OPTION_INT('t', threads, "N", DP_FROM_TO(1, 1024), "threads (all cores)"),
    DP_OPTION_TEXT(0, errors, "FILE", "also write there how far rows are from the tables"),
    {.name = NULL},
};
static const struct dp_command command = {"dp-rows draw", "MODEL", "Print rows that are drawn from the tables of a run",
                                          options, NULL};

/* The tables that rows are drawn from, and the key of the draws. */
struct drawing {
    struct dp_rows_source source;
    struct dp_tables list;
    struct dp_rows_table *table, *network;
    size_t pairs, tables;
    double **one;
    struct dp_key key;
};

static int open_drawing(struct drawing *d, const struct dp_frame *frame, const char *path, struct dp_err *err)
{
    const struct dp_array *model = dp_frame_array(frame, DP_F_MODEL);
    const char *text = dp_frame_text(frame, DP_F_TABLES, NULL);
    if (text == NULL || model == NULL || model->dtype != DP_F64)
        return dp_fail(err, DP_E_RUN, "%s has no tables (dpline rows makes such a model)", path);
    int rc =
        dp_rows_open(&d->source, dp_frame_text(frame, DP_F_SCHEMA, NULL), (double)dp_frame_int(frame, DP_F_N, 0), NULL, err);
    rc = rc ?: dp_tables_read(&d->list, text, err);
    const size_t columns = d->source.shape.columns;
    d->pairs = columns * (columns - 1) / 2;
    d->tables = d->pairs + columns - 1;
    if (rc == DP_OK && (d->list.count != d->tables || model->count != d->list.numbers || !(d->source.shape.rows > 0)))
        rc = dp_fail(err, DP_E_RUN, "%s does not have the tables of two laps of dp-rows", path);
    rc = rc ?: dp_rows_take(&d->source, &d->list, model->data, 0, d->tables, &d->table, err);
    if (rc != DP_OK)
        return rc;
    d->one = dp_new(columns, sizeof *d->one);
    for (size_t j = 0; j < columns; j++) {
        d->one[j] = dp_new(d->source.size[j], sizeof *d->one[j]);
        dp_rows_margin(&d->source.shape, d->table, d->pairs, j, d->one[j]);
    }
    rc = dp_rows_take(&d->source, &d->list, model->data, d->pairs, columns - 1, &d->network, err);
    for (size_t k = 0; rc == DP_OK && k + 1 < columns; k++)
        dp_rows_project(d->network[k].count, d->network[k].cells, d->source.shape.rows);
    return rc;
}

static void close_drawing(struct drawing *d)
{
    for (size_t j = 0; d->one != NULL && j < d->source.shape.columns; j++)
        free(d->one[j]);
    free(d->one);
    dp_rows_free(d->table, d->tables);
    dp_rows_free(d->network, d->source.shape.columns > 0 ? d->source.shape.columns - 1 : 0);
    dp_tables_free(&d->list);
    dp_rows_close(&d->source);
}

/* The order in which columns can be drawn: each table of the network begins with a column whose parents have been drawn. The
 * root is the first parent of the first table. */
static int check_order(const struct drawing *d, size_t root, struct dp_err *err)
{
    const size_t columns = d->source.shape.columns;
    bool drawn[columns];
    memset(drawn, 0, sizeof drawn);
    drawn[root] = true;
    for (size_t k = 0; k + 1 < columns; k++) {
        const struct dp_rows_table *t = &d->network[k];
        bool fits = !drawn[t->column[0]];
        for (size_t i = 1; i < t->columns; i++)
            fits &= drawn[t->column[i]];
        if (!fits)
            return dp_fail(err, DP_E_RUN, "the tables of the second lap are in no order in which columns can be drawn");
        drawn[t->column[0]] = true;
    }
    return DP_OK;
}

/* Says how far the rows are from the tables, here and in the file that --errors names. */
static int say(const struct drawing *d, const struct options *o, const uint16_t *row, const uint32_t *chosen, size_t count,
               struct dp_err *err)
{
    struct dp_rows_errors errors[DP_ROWS_DEEPEST - 1];
    const double width = dp_estimate_width(&d->list.table[0]);
    struct dp_output output;
    for (size_t k = 0; k < DP_ROWS_DEEPEST - 1; k++)
        dp_rows_errors(&d->source.shape, d->table, d->tables, 2 + k, POOL, row, chosen, count, &errors[k]);
    dp_rows_say(&d->source, errors, width, "dp-rows draw: ", stderr);
    dp_rows_warn(&d->source, command.name);
    int rc = o->errors != NULL ? dp_output_open(&output, o->errors, false, err) : DP_OK;
    if (rc != DP_OK || o->errors == NULL)
        return rc;
    dp_rows_say(&d->source, errors, width, "", output.stream);
    return dp_output_close(&output, DP_OK, err);
}

static int draw(struct drawing *d, const struct options *o, struct dp_err *err)
{
    const struct dp_rows_shape *shape = &d->source.shape;
    const size_t count = o->rows != DP_OPT_ABSENT_INT ? (size_t)o->rows : (size_t)shape->rows, root = d->network[0].column[1];
    const int threads = o->threads != DP_OPT_ABSENT_INT ? (int)o->threads : omp_get_num_procs();
    int rc = check_order(d, root, err);
    if (rc != DP_OK)
        return rc;
    uint16_t *row = dp_new(shape->columns * POOL, sizeof *row);
    uint64_t *weight = dp_new(POOL, sizeof *weight);
    uint32_t *chosen = dp_new(count, sizeof *chosen);
    dp_key_derive(&d->key, o->seed, "dp-rows", 1);
    dp_rows_draw(shape, d->network, root, d->one, &d->key, POOL, row);
    dp_rows_weigh(shape, d->table, d->tables, POOL, row, threads, STEPS, weight);
    dp_rows_choose(&d->key, weight, POOL, count, chosen);
    dp_rows_exchange(shape, d->table, d->tables, &d->key, weight, POOL, row, TRIES * (count < POOL ? count : POOL), chosen,
                     count);
    rc = say(d, o, row, chosen, count, err);
    if (rc == DP_OK)
        dp_rows_print(&d->source, &d->key, row, POOL, chosen, count, stdout);
    free(row);
    free(weight);
    free(chosen);
    return rc;
}

static int run_draw(int argc, char **argv)
{
    struct options o;
    struct dp_err err = {0};
    struct drawing d = {0};
    int operand, status;
    if (!dp_cli_start(&command, &o, NULL, argc, argv, &operand, &status))
        return status;
    struct dp_frame *frame = dp_frame_new();
    int rc = argc - operand == 1 ? DP_OK : dp_fail(&err, DP_E_USAGE, "expected one model of dp-rows");
    rc = rc ?: dp_model_read(frame, argv[operand], &err);
    rc = rc ?: open_drawing(&d, frame, argv[operand], &err);
    rc = rc ?: draw(&d, &o, &err);
    close_drawing(&d);
    dp_frame_free(frame);
    return dp_cli_finish(command.name, rc, &err);
}

/* --- dp-rows plan */

/* Part of mu^2 that the lap of pairs gets: of .15, .3 and .5 the best on bank marketing and telco churn. */
#define PAIRS 0.5
/* Fewest rows for each unit of noise on a cell of the second lap, and how many are enough to learn from: classifiers of
 * the rows had .91 of the AUC of `dpline fit` from 350 on, on two tables, and .96 from 118 on, on a third. */
#define LEAST 64
#define FEW 200

struct plan_options {
    int64_t rows, columns;
    double epsilon, delta;
    const char *target, *schema;
    bool no_ledger;
};
#undef DP_OPTIONS
#define DP_OPTIONS struct plan_options
static const struct dp_option plan_options[] = {
    DP_OPTION_REAL('e', epsilon, "E", DP_ABOVE(0), "the budget, with what the schema has cost", .fallback = "1"),
    DP_OPTION_REAL('d', delta, "D", DP_ABOVE_BELOW(0, 1), "the same (the largest power of ten below 1 / rows^1.1)"),
    DP_OPTION_TEXT(0, target, "COLUMN", "as for the stage: refused here if the column is not there"),
    DP_OPTION_INT('n', rows, "N", DP_FROM_TO(1, 1e15), "no DATA: check before a schema is paid for if N rows can do",
                  .needs = "columns"),
    DP_OPTION_INT(0, columns, "C", DP_FROM_TO(1, 1e7), "the columns of these rows", .needs = "rows", .excludes = "target"),
    DP_OPTION_TEXT('S', schema, "FILE", "no DATA: check before bins are paid for if columns can have cells",
                   .excludes = "rows, columns"),
    DP_OPTION_FLAG(0, no_ledger, "the run is charged in no ledger"),
    {.name = NULL},
};
static const struct dp_command plan_command = {"dp-rows plan", "[DATA]",
                                               "Print the noise of the two laps that rows are made from", plan_options, NULL};

/* multiplier: of one sum, for the whole budget. *each: for lap 2. Refuses too few rows. */
static int check_rows(const struct dp_fit_budget *budget, size_t rows, size_t columns, double *multiplier, double *each,
                      struct dp_err *err)
{
    int rc = dp_fit_release(budget, multiplier, err);
    *each = *multiplier / sqrt(1 - PAIRS);
    const double needed = ceil(LEAST * *each * sqrt((double)columns - 1));
    const double fit = 1 + floor(pow((double)rows / (LEAST * *each), 2));
    if (rc != DP_OK || (double)rows >= needed)
        return rc;
    if (fit < 2)
        return dp_fail(err, DP_E_BUDGET, "epsilon %g does not pay for tables of %zu columns and %zu rows: %.0f rows would do",
                       budget->epsilon, columns, rows, needed);
    return dp_fail(err, DP_E_BUDGET,
                   "epsilon %g does not pay for tables of %zu columns and %zu rows: %.0f rows, or %.0f columns, would do",
                   budget->epsilon, columns, rows, needed, fit);
}

/* All columns but those that are ignored must have cells. */
static int check_columns(const struct dp_rows_source *source, struct dp_err *err)
{
    int rc = DP_OK;
    for (size_t i = 0; rc == DP_OK && i < source->cells.columns; i++)
        if (source->cells.column[i].of->type != DP_COLUMN_IGNORE)
            rc = dp_cells_check(&source->cells, i, err);
    return rc;
}

/* Prints the multipliers of both laps, epsilon, delta, and the number of tables of the second lap. */
static int plan(const struct plan_options *o, const struct dp_dataset *d, const char *path, struct dp_err *err)
{
    struct dp_rows_source source = {0};
    struct dp_fit_budget budget = {.epsilon = o->epsilon, .delta = o->delta};
    const bool with = (o->no_ledger || dp_dataset_paid_mark(d) != NULL) &&
                      dp_schema_cost_joins(d->paid.cost, o->epsilon, &budget.delta, &budget.before, &budget.named);
    double multiplier = 0, each = 0;
    int rc = DP_OK;
    budget.delta = dp_fit_delta(budget.delta, (int64_t)d->persons);
    if (d->rows_per_person > 0)
        rc = dp_fail(err, DP_E_USAGE, "persons of %s have several rows, and the number of rows is not public", path);
    if (!with)
        rc = rc ?: dp_fit_left(&budget, d->paid.epsilon, d->paid.delta, path, err);
    rc = rc ?: dp_rows_open(&source, d->schema, (double)d->persons, o->target, err);
    rc = rc ?: check_columns(&source, err);
    rc = rc ?: check_rows(&budget, d->persons, source.shape.columns, &multiplier, &each, err);
    if (rc == DP_OK && (double)d->persons < FEW * each * sqrt((double)source.shape.columns - 1))
        fprintf(stderr,
                "%s: few rows for this budget: %.0f for each unit of noise. Rows with fewer than %d may teach a model badly\n",
                plan_command.name, (double)d->persons / (each * sqrt((double)source.shape.columns - 1)), FEW);
    if (rc == DP_OK)
        printf("%.9g %.9g %.9g %.9g %.0f%s\n", dp_round_up(multiplier / sqrt(PAIRS) * (1 + 1e-9), 9),
               dp_round_up(each * (1 + 1e-9), 9), budget.epsilon, budget.delta, (double)source.shape.columns - 1,
               with ? " --with-schema" : "");
    dp_rows_close(&source);
    return rc;
}

/* Refuses a schema of which a data set would be refused: with persons of several rows, with columns without cells, or without
 * the target. */
static int check_schema(const char *path, const char *target, struct dp_err *err)
{
    struct dp_schema schema;
    const char *would;
    int rc = dp_schema_load(&schema, path, err);
    bool found = target == NULL;
    for (size_t i = 0; rc == DP_OK && i < schema.columns; i++) {
        const struct dp_column *c = &schema.column[i];
        const char *why = dp_cells_none(&schema, c, true, &would);
        found |= target != NULL && why == NULL && strcmp(c->name, target) == 0;
        if (c->type == DP_COLUMN_PERSON)
            rc =
                dp_fail(err, DP_E_USAGE,
                        "persons of %.150s have several rows, and the number of rows is not public; nothing was charged", path);
        else if (why != NULL && c->type != DP_COLUMN_IGNORE)
            rc =
                dp_fail(err, DP_E_USAGE, "column '%.60s' of %.150s is %s, so it has no cells to count: %s; nothing was charged",
                        c->name, path, why, would);
    }
    if (rc == DP_OK && !found)
        rc = dp_fail(err, DP_E_USAGE, "--target: there is no column '%.60s' in %.150s", target, path);
    dp_schema_free(&schema);
    return rc;
}

static int run_plan(int argc, char **argv)
{
    struct plan_options o;
    struct dp_err err = {0};
    struct dp_dataset *d = NULL;
    int operand, status;
    if (!dp_cli_start(&plan_command, &o, NULL, argc, argv, &operand, &status))
        return status;
    double multiplier, each;
    const bool early = o.rows != DP_OPT_ABSENT_INT;
    int rc = argc - operand == (early || o.schema != NULL ? 0 : 1)
                 ? DP_OK
                 : dp_fail(&err, DP_E_USAGE, "expected one data set, --schema, or --rows and --columns (try --help)");
    if (rc == DP_OK && o.schema != NULL)
        rc = check_schema(o.schema, o.target, &err);
    if (rc == DP_OK && early)
        rc = check_rows(&(struct dp_fit_budget){.epsilon = o.epsilon, .delta = dp_fit_delta(o.delta, o.rows)}, (size_t)o.rows,
                        (size_t)o.columns, &multiplier, &each, &err);
    if (rc == DP_OK && !early && o.schema == NULL)
        rc = dp_dataset_open(&d, argv[operand], &err) ?: plan(&o, d, argv[operand], &err);
    dp_dataset_close(d);
    return dp_cli_finish(plan_command.name, rc, &err);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "draw") == 0)
        return run_draw(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "plan") == 0)
        return run_plan(argc - 1, argv + 1);
    return dp_stage_main(&dp_rows_class, argc, argv);
}
