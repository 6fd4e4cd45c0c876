/* dp-rows: chooses, from released tables of all pairs of columns, the tables of the next lap, and makes the tables of both laps
 * the model of the run, from which rows are drawn. Post-processing: it runs after the gate. */

#include "base/mem.h"
#include "rows/rows.h"
#include "stages/announced.h"
#include "stages/counted.h"

struct options {
    const char *target;
};

struct state {
    double multiplier[2]; /* of the noise in each lap */
    double *pairs;        /* the released numbers of lap 1 */
    size_t numbers;
    double scale; /* of their noise */
};

#define DP_OPTIONS struct options

static const struct dp_option options[] = {
    DP_OPTION_TEXT(0, target, "COLUMN", "the column that matters most: tables with it count double"),
    {.name = NULL},
};

static void rows_close(struct dp_stage *stage)
{
    struct state *s = stage->state;
    free(s->pairs);
}

/* Refuses a run that is not two laps of tables, before anything is paid for. */
static int rows_hello(struct dp_stage *stage, struct dp_frame *hello, struct dp_err *err)
{
    struct state *s = stage->state;
    struct dp_record *record;
    char kind[DP_RECORD_ON + 16];
    int laps = 0;
    for (int at = 0; (record = dp_announced_answer(stage, hello, &at)) != NULL; record->means = DP_MEANS_TAKEN, laps++) {
        if (record->means != DP_MEANS_TABLES && record->means != DP_MEANS_NONE)
            return dp_fail(err, DP_E_USAGE, "laps%s release no tables (dp-count makes tables)",
                           dp_announced_kind(record, kind));
        if (laps < 2)
            s->multiplier[laps] = record->query.multiplier;
    }
    if (laps != 2)
        return dp_fail(err, DP_E_USAGE, "rows need two laps, each of its own kind: dp-loop --plan 'pairs 1, cells 1'");
    return DP_OK;
}

/* Lap 1: keeps the numbers, and chooses the tables of lap 2. */
static int choose(struct dp_stage *stage, struct dp_frame *frame, const struct dp_rows_source *source,
                  const struct dp_tables *pairs, const double *numbers, struct dp_err *err)
{
    struct state *s = stage->state;
    const size_t columns = source->shape.columns;
    const double t = (double)columns - 1, scale = pairs->table[0].scale;
    struct dp_rows_table *pair = NULL;
    struct dp_tables list = {0};
    if (pairs->count != columns * (columns - 1) / 2)
        return dp_fail(err, DP_E_RUN, "the tables of lap %lld are not all pairs of columns (dp-count --tables pairs)",
                       (long long)frame->lap);
    int rc = dp_rows_take(source, pairs, numbers, 0, pairs->count, &pair, err);
    if (rc == DP_OK) /* as the noise on lap 1, for tables that are fewer and have another multiplier */
        rc = dp_rows_list(source, pair, pairs->count,
                          scale * s->multiplier[1] / s->multiplier[0] * sqrt(t / (double)pairs->count), &list, err);
    if (rc == DP_OK) {
        dp_counted_list(frame, &list);
        free(s->pairs);
        s->pairs = dp_new(pairs->numbers, sizeof *s->pairs);
        memcpy(s->pairs, numbers, pairs->numbers * sizeof *numbers);
        s->numbers = pairs->numbers;
        s->scale = scale;
    }
    dp_rows_free(pair, pairs->count);
    dp_tables_free(&list);
    return rc;
}

/* Lap 2: the tables of both laps become the model. */
static int finish(struct dp_stage *stage, struct dp_frame *frame, const struct dp_rows_source *source,
                  const struct dp_tables *cells, const double *numbers, struct dp_err *err)
{
    struct state *s = stage->state;
    struct dp_tables all = {0};
    int rc = dp_tables_parse(&all, DP_TABLES_PAIRS, NULL, &source->cells, err);
    if (rc == DP_OK && (s->pairs == NULL || all.numbers != s->numbers))
        rc = dp_fail(err, DP_E_RUN, "the tables of all pairs are missing at lap %lld", (long long)frame->lap);
    for (size_t i = 0; rc == DP_OK && i < all.count; i++)
        all.table[i].scale = s->scale;
    for (size_t i = 0; rc == DP_OK && i < cells->count; i++) {
        size_t column[DP_TABLES_COLUMNS];
        for (size_t k = 0; k < cells->table[i].columns; k++)
            column[k] = (size_t)dp_cells_find(&source->cells, cells->table[i].column[k]);
        rc = dp_tables_add(&all, &source->cells, column, cells->table[i].columns, err);
        if (rc == DP_OK)
            all.table[all.count - 1].scale = cells->table[i].scale;
    }
    if (rc == DP_OK) {
        double *model = dp_new(all.numbers, sizeof *model);
        memcpy(model, s->pairs, s->numbers * sizeof *model);
        memcpy(model + s->numbers, numbers, cells->numbers * sizeof *model);
        dp_frame_set_int(frame, DP_F_N, (int64_t)source->shape.rows);
        rc = dp_counted_model(frame, &all, model, err);
        dp_frame_set_text(frame, DP_F_METHOD, "rows", strlen("rows"));
        free(model);
    }
    dp_tables_free(&all);
    return rc;
}

static int rows_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    const struct options *o = stage->options;
    const struct dp_record *record = dp_frame_record(frame, DP_F_SUM);
    const double persons = record != NULL ? (double)record->rows : 0;
    struct dp_rows_source source = {0};
    struct dp_tables list = {0};
    double *numbers = NULL;
    int rc = dp_frame_has(frame, DP_F_UNIT)
                 ? dp_fail(err, DP_E_USAGE, "a person has several rows, and their number is not public: rows are not made")
                 : DP_OK;
    rc = rc ?: dp_counted_take(frame, &list, &numbers, err);
    rc = rc ?: dp_rows_open(&source, dp_frame_text(frame, DP_F_SCHEMA, NULL), persons, o->target, err);
    rc = rc ?: (stage->turn == 1 ? choose : finish)(stage, frame, &source, &list, numbers, err);
    dp_rows_close(&source);
    dp_tables_free(&list);
    free(numbers);
    return rc ?: out->frame(out, frame, err);
}

static int rows_save(struct dp_stage *stage, struct dp_state *state, struct dp_err *err)
{
    const struct state *s = stage->state;
    (void)err;
    if (s->pairs != NULL) {
        dp_state_put_reals(state, "pairs", s->pairs, s->numbers);
        dp_state_put_real(state, "scale", s->scale);
    }
    return DP_OK;
}

static int rows_restore(struct dp_stage *stage, const struct dp_state *state, struct dp_err *err)
{
    struct state *s = stage->state;
    if (!dp_state_has(state, "pairs"))
        return DP_OK;
    int rc = dp_state_get_reals(state, "pairs", &s->pairs, &s->numbers, err);
    return rc ?: dp_state_get_real(state, "scale", &s->scale, err);
}

const struct dp_stage_class dp_rows_class = {
    .name = "dp-rows",
    .summary = "Choose tables from which rows are drawn, or draw the rows",
    DP_STAGE_STRUCTS,
    .takes = DP_LABEL_RELEASED,
    .gives = DP_LABEL_RELEASED,
    .hello = rows_hello,
    .fire = rows_fire,
    .close = rows_close,
    .save = rows_save,
    .restore = rows_restore,
};
