/* dp-table is the stage that takes released tables. With the word print it prints the tables of a run, with the word plan the
 * noise that suits tables. */

#include "base/cli.h"
#include "base/mem.h"
#include "base/round.h"
#include "base/terminal.h"
#include "base/text.h"
#include "data/dataset.h"
#include "fit/fit.h"
#include "ledger/schema_cost.h"
#include "port/model.h"
#include "runtime/run.h"
#include "stages/stages.h"
#include "tables/estimate.h"
#include "tables/picture.h"

struct options {
    int to;
};

#define DP_OPTIONS struct options
static const struct dp_option options[] = {
    DP_OPTION_CHOICE(0, to, "FORMAT", "csv|svg|text", "all tables, a picture of the first one, or counts with sums",
                     .fallback = "csv"),
    {.name = NULL},
};

static void put(const char *text)
{
    dp_text_csv("", text, strlen(text), stdout);
}

static void put_number(double value, const char *after)
{
    char text[40];
    snprintf(text, sizeof text, "%.6g", value);
    printf("%s%s", strcmp(text, "-0") == 0 ? "0" : text, after);
}

/* The columns of all tables, in the order in which they come first. */
static size_t all_columns(const struct dp_tables *tables, const char **name)
{
    size_t count = 0;
    for (size_t i = 0; i < tables->count; i++)
        for (size_t k = 0; k < tables->table[i].columns; k++) {
            bool known = false;
            for (size_t j = 0; j < count; j++)
                known |= strcmp(name[j], tables->table[i].column[k]) == 0;
            if (!known)
                name[count++] = tables->table[i].column[k];
        }
    return count;
}

/* The word of each column for a cell of the table; a column that the table does not have has no word but (all). */
static void put_words(const struct dp_cells *cells, const struct dp_table *t, size_t cell, const char **name, size_t names)
{
    char word[DP_CELLS_WORD];
    for (size_t j = 0; j < names; j++) {
        size_t rest = cell, at = SIZE_MAX;
        for (size_t k = t->columns; k-- > 0; rest /= t->cells[k])
            if (strcmp(t->column[k], name[j]) == 0)
                at = rest % t->cells[k];
        put(at == SIZE_MAX ? "(all)" : dp_cells_word(cells, (size_t)dp_cells_find(cells, name[j]), at, word));
        putchar(',');
    }
}

/* The mean in units of the number. No interval: its place has the reason. */
static void put_mean(const struct dp_cells *cells, const struct dp_table *t, size_t k, size_t cell, const double *value)
{
    struct dp_estimate_mean mean;
    double low = 0, high = 0, count = value[t->may_be_missing[k] ? dp_table_present(t, k) + cell : t->offset + cell];
    const size_t column = (size_t)dp_cells_find(cells, t->sum[k]);
    const struct dp_column *of = cells->column[column].of;
    dp_cells_bounds(cells, column, &low, &high);
    const double middle = 0.5 * (low + high), range = high - low;
    if (!dp_estimate_mean(t, value[dp_table_sum(t, k) + cell], count, &mean)) {
        printf(",too few,,");
        return;
    }
    const double said[] = {mean.mean, mean.low, mean.high};
    for (size_t e = 0; e < 3; e++) {
        char text[DP_DATE_TEXT];
        putchar(',');
        if (of->date != NULL)
            put(dp_cells_number(of, middle + range * said[e], text, sizeof text));
        else
            put_number(middle + range * said[e], "");
    }
}

static void put_header(const struct dp_tables *tables, const char **name, size_t names)
{
    const struct dp_table *first = &tables->table[0]; /* all tables of a list have the same sums */
    for (size_t j = 0; j < names; j++) {
        put(name[j]);
        putchar(',');
    }
    printf("count,count_low,count_high");
    for (size_t k = 0; k < first->sums; k++) {
        static const char *const ends[] = {"", "_low", "_high"};
        for (size_t e = 0; e < 3; e++) {
            char *text = dp_format("mean_%s%s", first->sum[k], ends[e]);
            putchar(',');
            put(text);
            free(text);
        }
    }
    putchar('\n');
}

static void print_csv(const struct dp_cells *cells, const struct dp_tables *tables, const double *value)
{
    const char **name = dp_new(tables->count * DP_TABLES_COLUMNS, sizeof *name);
    size_t names = all_columns(tables, name);
    put_header(tables, name, names);
    for (size_t i = 0; i < tables->count; i++) {
        const struct dp_table *t = &tables->table[i];
        const double width = dp_estimate_width(t);
        for (size_t cell = 0; cell < t->size; cell++) {
            const double count = value[t->offset + cell];
            put_words(cells, t, cell, name, names);
            put_number(count, ",");
            put_number(count - width, ",");
            put_number(count + width, "");
            for (size_t k = 0; k < t->sums; k++)
                put_mean(cells, t, k, cell, value);
            putchar('\n');
        }
    }
    free(name);
}

/* Reads the tables and their numbers from the frame of a model. The caller frees *value. */
static int take(const struct dp_frame *frame, const char *path, struct dp_cells *cells, struct dp_tables *tables,
                double **value, struct dp_err *err)
{
    const struct dp_array *model;
    const char *text = dp_frame_text(frame, DP_F_TABLES, NULL);
    if (text == NULL || strcmp(dp_frame_text(frame, DP_F_FAMILY, ""), "tables") != 0)
        return dp_fail(err, DP_E_RUN, "%s has no tables: it is a model of another run", path);
    int rc = dp_frame_need_array(frame, DP_F_MODEL, DP_F64, 2, &model, err);
    rc = rc ?: dp_cells_open(cells, dp_frame_text(frame, DP_F_SCHEMA, NULL), path, err);
    rc = rc ?: dp_tables_read(tables, text, err);
    rc = rc ?: dp_tables_check(tables, cells, err);
    for (size_t i = 0; rc == DP_OK && i < tables->count; i++)
        if (!(tables->table[i].scale > 0) || tables->table[i].sums != tables->table[0].sums)
            rc = dp_fail(err, DP_E_RUN, "%s: its tables do not say what their noise is, or have different sums", path);
    if (rc == DP_OK && model->count != tables->numbers)
        rc = dp_fail(err, DP_E_RUN, "%s: its tables have %zu numbers, and the model has %zu", path, tables->numbers,
                     (size_t)model->count);
    if (rc == DP_OK)
        *value = memcpy(dp_new(model->count, sizeof **value), model->data, model->count * sizeof **value);
    return rc;
}

static int print(const struct options *o, const char *path, struct dp_err *err)
{
    struct dp_frame *frame = dp_frame_new();
    struct dp_cells cells = {0};
    struct dp_tables tables = {0};
    double *value = NULL;
    int rc = dp_model_read(frame, path, err);
    rc = rc ?: take(frame, path, &cells, &tables, &value, err);
    if (rc == DP_OK) {
        dp_estimate_agree(&tables, value);
        if (o->to == 0)
            print_csv(&cells, &tables, value);
        else if (o->to == 1)
            dp_picture_print(&cells, &tables.table[0], value, stdout);
        for (size_t i = 0; o->to == 2 && i < tables.count; i++) {
            fputs(i > 0 ? "\n" : "", stdout);
            dp_picture_text(&cells, &tables.table[i], value, dp_estimate_width(&tables.table[i]), stdout);
        }
    }
    free(value);
    dp_tables_free(&tables);
    dp_cells_close(&cells);
    dp_frame_free(frame);
    return rc;
}

/* --- dp-table plan */

struct plan_options {
    const char *tables, *sums;
    double epsilon, delta;
    bool no_ledger;
};
#undef DP_OPTIONS
#define DP_OPTIONS struct plan_options
static const struct dp_option plan_options[] = {
    DP_OPTION_TEXT(0, tables, "LIST", "as for dp-count", .required = true),
    DP_OPTION_TEXT(0, sums, "NAME,...", "as for dp-count"),
    DP_OPTION_REAL('e', epsilon, "E", DP_ABOVE(0), "the budget, with what the schema has cost", .fallback = "1"),
    DP_OPTION_REAL('d', delta, "D", DP_ABOVE_BELOW(0, 1), "the same (the largest power of ten below 1 / rows^1.1)"),
    DP_OPTION_FLAG(0, no_ledger, "the run is charged in no ledger"),
    {.name = NULL},
};

/* Sets the multiplier, and for each table its noise: the kind that leaves the smaller deviation. left: for Laplace noise. */
static int choose(struct dp_tables *tables, double most, const struct dp_fit_budget *budget, const struct dp_fit_budget *left,
                  double *multiplier, struct dp_err *err)
{
    double gaussian = 0;
    const int rc = dp_fit_release(budget, &gaussian, err);
    const double laplace = dp_round_up(1 / left->epsilon, 9);
    const bool wins = dp_estimate_laplace(tables, laplace, gaussian);
    *multiplier = wins ? laplace : gaussian;
    for (size_t i = 0; i < tables->count; i++) {
        tables->table[i].laplace = wins;
        tables->table[i].scale = *multiplier * most * (wins ? dp_tables_norm1(tables) : dp_tables_norm2(tables));
    }
    return rc;
}

/* Refuses tables in whose cells most of what is read would be noise. */
static int check_size(const struct dp_tables *tables, double rows, double epsilon, struct dp_err *err)
{
    for (size_t i = 0; i < tables->count; i++) {
        const struct dp_table *t = &tables->table[i];
        const double width = dp_estimate_width(t), need = ceil(2 * width * (double)t->size);
        if (need > rows)
            return dp_fail(err, DP_E_USAGE,
                           "table %zu has %zu cells, %.1f of the %.0f rows in each, and epsilon %.4g gives counts ± %.1f: %.0f "
                           "rows would do, or epsilon %.2g, or fewer columns",
                           i + 1, t->size, rows / (double)t->size, rows, epsilon, width, need, epsilon * need / rows);
    }
    return DP_OK;
}

static int plan(const struct plan_options *o, const char *path, struct dp_err *err)
{
    struct dp_dataset *d = NULL;
    struct dp_cells cells = {0};
    struct dp_tables tables = {0};
    struct dp_fit_budget budget = {.epsilon = o->epsilon, .delta = o->delta}, left;
    bool with = false;
    double multiplier = 0;
    int rc = dp_dataset_open(&d, path, err);
    rc = rc ?: dp_cells_open(&cells, d->schema, path, err);
    rc = rc ?: dp_tables_parse(&tables, o->tables, o->sums, &cells, err);
    if (rc == DP_OK) {
        with = (o->no_ledger || dp_dataset_paid_mark(d) != NULL) &&
               dp_schema_cost_joins(d->paid.cost, o->epsilon, &budget.delta, &budget.before, &budget.named);
        budget.delta = dp_fit_delta(budget.delta, (int64_t)d->persons);
        left = (struct dp_fit_budget){.epsilon = budget.epsilon, .delta = budget.delta};
        rc = dp_fit_left(&left, d->paid.epsilon, d->paid.delta, path, err);
    }
    rc = rc
             ?: choose(&tables, d->rows_per_person > 0 ? (double)d->rows_per_person : 1, with ? &budget : &left, &left,
                       &multiplier, err);
    with = with && rc == DP_OK && !tables.table[0].laplace; /* one composition has Gaussian noise only */
    rc = rc ?: check_size(&tables, (double)d->rows, left.epsilon, err);
    if (rc == DP_OK)
        printf("%s %.9g %.9g %.9g %.6g%s\n", tables.table[0].laplace ? "laplace" : "gaussian", multiplier,
               with ? budget.epsilon : left.epsilon, with ? budget.delta : left.delta, dp_estimate_width(&tables.table[0]),
               with ? " --with-schema" : "");
    dp_tables_free(&tables);
    dp_cells_close(&cells);
    dp_dataset_close(d);
    return rc;
}

/* Refuses a list that each data set would refuse. */
static int check_list(const struct plan_options *o, struct dp_err *err)
{
    struct dp_tables tables = {0};
    const int rc = dp_tables_parse(&tables, o->tables, o->sums, NULL, err);
    dp_tables_free(&tables);
    return rc;
}

static const struct dp_command print_command = {"dp-table print", "MODEL", "Print the tables that a run has released", options,
                                                NULL};
static const struct dp_command plan_command = {"dp-table plan", "[DATA]", "Print the noise that suits tables of a data set",
                                               plan_options, NULL};

int main(int argc, char **argv)
{
    union {
        struct options print;
        struct plan_options plan;
    } o;
    struct dp_err err = {0};
    int operand, status;
    const bool planned = argc > 1 && strcmp(argv[1], "plan") == 0;
    if (!planned && (argc < 2 || strcmp(argv[1], "print") != 0))
        return dp_stage_main(&dp_table_class, argc, argv);
    const struct dp_command *command = planned ? &plan_command : &print_command;
    if (!dp_cli_start(command, &o, NULL, argc - 1, argv + 1, &operand, &status))
        return status;
    dp_terminal_people();
    const int operands = argc - 1 - operand;
    int rc = operands > 1 || (operands < 1 && !planned)
                 ? dp_fail(&err, DP_E_USAGE, "expected one %s (try --help)", planned ? "data set" : "model")
             : operands < 1 ? check_list(&o.plan, &err)
             : planned      ? plan(&o.plan, argv[1 + operand], &err)
                            : print(&o.print, argv[1 + operand], &err);
    return dp_cli_finish(command->name, rc, &err);
}
