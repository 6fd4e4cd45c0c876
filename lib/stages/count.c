/* dp-count: the counts of a list of tables, and sums of numbers in their cells, over the rows of a lap. Which cell a row belongs
 * to follows from its features, by the schema that its data set carries. */
#include "base/mem.h"
#include "math/grid.h"
#include "stages/row_stage.h"
#include "stages/shared_options.h"
#include "tables/tables.h"

struct options {
    struct dp_row_options row;
    const char *tables, *sums;
    double per_person;
    int64_t at_most;
    int noise;
};

/* The content of a column in a row. */
struct seen {
    size_t cell;         /* SIZE_MAX: no cell */
    double value, whole; /* of a number: its feature; a feature that is 1 before rows are divided by a norm */
    bool missing;
};

/* The meaning of a feature that is not 0: the cell of its column, or one of these. */
#define NUMBER SIZE_MAX
#define MISSING (SIZE_MAX - 1)
struct feature {
    size_t column, cell;
};

struct state {
    struct dp_row_state row;
    struct dp_cells cells;
    struct dp_tables tables;
    char *text;              /* of the list, in the frame */
    struct feature *feature; /* of a row, without its products and its constant */
    size_t features;
    struct seen *seen; /* cells.columns */
    size_t *column;    /* for each table: its columns, then its sums */
    double most;       /* rows that a person counts as, at most */
};

#define DP_OPTIONS struct options

static const struct dp_option options[] = {
    DP_OPTION_TEXT('d', row.data, "DIR", "data set whose rows are counted", .required = true),
    DP_OPTION_TEXT(0, tables, "LIST",
                   "tables, \"ward,sex;age\", or pairs: all tables of two columns (default: the frame's list)"),
    DP_OPTION_TEXT(0, sums, "NAME,...", "numbers to sum in each cell, next to its count", .needs = "tables"),
    DP_OPTION_INT(0, at_most, "T", DP_FROM_TO(1, DP_TABLES_MOST), "the frame's list has at most T tables, without sums",
                  .excludes = "tables"),
    DP_OPTION_REAL(0, per_person, "M", DP_ABOVE_TO(0, 1e6),
                   "all rows of a person count as at most M rows (default: the most rows that a person has)"),
    DP_OPTION_CHOICE(0, noise, "KIND", "gaussian|laplace",
                     "the noise that dp-noise will add: it says in which norm the counts are bounded", .fallback = "gaussian"),
    DP_ADJACENCY_OPTION(row.adjacency),
    {.name = NULL},
};

static void count_close(struct dp_stage *stage)
{
    struct state *s = stage->state;
    dp_tables_free(&s->tables);
    dp_cells_close(&s->cells);
    free(s->text);
    free(s->feature);
    free(s->seen);
    free(s->column);
}

/* --- the list of tables */

/* The meaning of each feature of a column, in the order of data/features.h. */
static void map_features(struct state *s)
{
    const struct dp_cell_column *last = &s->cells.column[s->cells.columns - 1];
    s->features = last->first + last->features;
    s->feature = dp_new(s->features, sizeof *s->feature);
    s->seen = dp_new(s->cells.columns, sizeof *s->seen);
    for (size_t i = 0; i < s->cells.columns; i++) {
        const struct dp_cell_column *c = &s->cells.column[i];
        bool number = c->of->type == DP_COLUMN_NUMERIC;
        for (size_t k = 0; k < c->features; k++) {
            struct feature *f = &s->feature[c->first + k];
            *f = (struct feature){i, !number ? k + c->of->drop_first : k == 0 ? NUMBER : k - 1};
            if (c->of->indicator && k + 1 == c->features)
                f->cell = MISSING;
        }
    }
}

/* A number can be read from its features if one of them is 1 before rows are divided. */
static int check_sum(const struct state *s, const char *name, struct dp_err *err)
{
    const struct dp_cell_column *c = &s->cells.column[dp_cells_find(&s->cells, name)];
    if (c->label || s->cells.plan.bias || c->of->basis.kind == DP_BASIS_BINS)
        return DP_OK;
    return dp_fail(err, DP_E_USAGE,
                   "--sums: column '%.60s' has no bins, and rows have no constant column, so the number cannot be read", name);
}

/* Sets the bound from the most that a row adds. */
static void set_bound(struct state *s, double norm)
{
    const double bound = s->most * norm;
    s->row.bound = fma(s->most, norm, -bound) <= 0 ? bound : nextafter(bound, INFINITY);
}

/* Takes the list: how tables find their columns, and the bound on what a person adds. */
static int take_list(struct dp_stage *stage, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    const size_t each = 2 * DP_TABLES_COLUMNS, rows = s->row.reader.dataset->rows;
    free(s->column);
    free(s->text);
    s->text = dp_tables_text(&s->tables);
    s->row.numbers = s->tables.numbers;
    s->column = dp_new(s->tables.count * each, sizeof *s->column);
    for (size_t i = 0; i < s->tables.count; i++) {
        const struct dp_table *t = &s->tables.table[i];
        for (size_t k = 0; k < t->columns; k++)
            s->column[i * each + k] = (size_t)dp_cells_find(&s->cells, t->column[k]);
        for (size_t k = 0; k < t->sums; k++)
            s->column[i * each + DP_TABLES_COLUMNS + k] = (size_t)dp_cells_find(&s->cells, t->sum[k]);
        for (size_t k = 0; k < t->sums; k++)
            if (check_sum(s, t->sum[k], err) != DP_OK)
                return DP_E_USAGE;
        if (t->size > rows && stage->shards == 0)
            return dp_fail(err, DP_E_USAGE, "the table of '%.60s'%s has %zu cells, and there are %zu rows: leave out a column",
                           t->column[0], t->columns > 1 ? " and others" : "", t->size, rows);
    }
    if (o->tables != NULL)
        set_bound(s, o->noise == 1 ? dp_tables_norm1(&s->tables) : dp_tables_norm2(&s->tables));
    else if ((int64_t)s->tables.count > o->at_most || s->tables.most_sums > 0)
        return dp_fail(err, DP_E_RUN, "--at-most: the frame's list has %zu tables, and sums of up to %zu numbers",
                       s->tables.count, s->tables.most_sums);
    return DP_OK;
}

/* Reads the schema of the data set, and the list of the option. */
static int count_hello(struct dp_stage *stage, struct dp_frame *hello, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    const struct dp_dataset *d = s->row.reader.dataset;
    (void)hello;
    const double rows = d->rows_per_person > 0 ? (double)d->rows_per_person : 1;
    s->most = isnan(o->per_person) ? rows : fmin(o->per_person, rows);
    int rc = dp_cells_open(&s->cells, d->schema, o->row.data, err);
    if (rc != DP_OK)
        return rc;
    map_features(s);
    if (s->features > d->cols)
        return dp_fail(err, DP_E_RUN, "%s: rows have fewer columns than their schema says", o->row.data);
    if (o->tables == NULL && o->at_most == DP_OPT_ABSENT_INT)
        return dp_fail(err, DP_E_USAGE, "--tables is required, or --at-most for the list of the frame");
    if (o->tables == NULL) {
        const double tables = (double)o->at_most, norm = o->noise == 1 ? tables : sqrt(tables);
        set_bound(s, norm * norm >= tables ? norm : nextafter(norm, INFINITY));
        return DP_OK;
    }
    rc = dp_tables_parse(&s->tables, o->tables, o->sums, &s->cells, err);
    dp_tables_weigh(&s->tables, o->noise == 1);
    return rc ?: take_list(stage, err);
}

/* Without --tables the bound follows from --at-most. */
static void record(const struct dp_stage *stage, struct dp_record *open)
{
    const struct options *o = stage->options;
    open->of = DP_F_SUM;
    if (o->noise == 1)
        open->query = (struct dp_query){.kind = DP_QUERY_LAPLACE_COUNTS}; /* dp-noise sets its multiplier */
}

/* The list of the frame, which a stage after the gate has made from released values. */
static int before(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    const char *text = dp_frame_text(frame, DP_F_TABLES, NULL);
    if (o->tables != NULL || (text != NULL && s->text != NULL && strcmp(text, s->text) == 0))
        return DP_OK;
    if (text == NULL)
        return dp_fail(err, DP_E_USAGE, "--tables is required: the frame of lap %lld has no list of tables",
                       (long long)frame->lap);
    dp_tables_free(&s->tables);
    int rc = dp_tables_read(&s->tables, text, err);
    rc = rc ?: dp_tables_check(&s->tables, &s->cells, err);
    return rc ?: take_list(stage, err);
}

/* --- rows */

/* Sets the cell and the value of the label, a class or a number. */
static void look_at_label(const struct state *s, size_t c, double label)
{
    const struct dp_dataset *d = s->row.reader.dataset;
    const struct dp_cell_column *column = &s->cells.column[c];
    double low, high;
    if (!dp_cells_bounds(&s->cells, c, &low, &high)) {
        if (label >= 0 && label < (double)column->cells)
            s->seen[c].cell = (size_t)label;
        return;
    }
    const double u = fmin(fmax((label * d->label.scale + d->label.offset - low) / (high - low), 0), 1);
    s->seen[c].value = u;
    s->seen[c].cell = u < 1 ? (size_t)(u * DP_CELLS_OF_LABEL) : DP_CELLS_OF_LABEL - 1;
}

/* Sets what the row says of each column. False for a null row. */
static bool look(const struct state *s, const struct dp_batch *batch, size_t i)
{
    const double label = dp_batch_label(batch, i);
    if (isnan(label))
        return false;
    const struct dp_row row = dp_batch_row(batch, i);
    double constant = 0;
    for (size_t c = 0; c < s->cells.columns; c++) {
        const struct dp_cell_column *column = &s->cells.column[c];
        s->seen[c] = (struct seen){.cell = column->of->drop_first ? 0 : column->other};
        if (column->label)
            look_at_label(s, c, label);
    }
    for (size_t k = 0; k < row.count; k++) {
        const size_t j = row.columns != NULL ? (size_t)row.columns[k] : k;
        const double x = (double)dp_row_value(&row, k);
        if (x == 0)
            continue;
        if (j >= s->features) {
            constant = s->cells.plan.bias && j + 1 == batch->features ? x : 0;
            continue;
        }
        const struct feature f = s->feature[j];
        struct seen *seen = &s->seen[f.column];
        if (f.cell == NUMBER) {
            seen->value = x;
        } else if (f.cell == MISSING) {
            seen->missing = true;
        } else {
            seen->cell = f.cell;
            seen->whole = x;
        }
    }
    for (size_t c = 0; c < s->cells.columns; c++) {
        if (constant != 0)
            s->seen[c].whole = constant;
        if (s->seen[c].missing) /* its features have the fill */
            s->seen[c].cell = s->cells.column[c].missing;
    }
    return true;
}

/* (v − middle) / range, from −1/2 to 1/2. */
static double centred(const struct state *s, size_t c)
{
    const struct dp_column *of = s->cells.column[c].of;
    const struct seen seen = s->seen[c];
    if (s->cells.column[c].label)
        return seen.value - 0.5;
    double u = seen.whole > 0 ? seen.value / seen.whole : 0.5;
    if (of->scaling == DP_SCALE_NONE)
        u = (u - of->low) / (of->high - of->low);
    return fmin(fmax(u - 0.5, -0.5), 0.5);
}

/* Adds `unit` to one cell of each table, and that part of each number by its weight, truncated towards 0. */
static void add_row(const struct state *s, int64_t unit, int64_t *sum)
{
    for (size_t i = 0; i < s->tables.count; i++) {
        const struct dp_table *t = &s->tables.table[i];
        const size_t *column = s->column + i * 2 * DP_TABLES_COLUMNS;
        size_t cell = 0;
        bool has = true;
        for (size_t k = 0; k < t->columns; k++) {
            has &= s->seen[column[k]].cell < t->cells[k];
            cell = cell * t->cells[k] + s->seen[column[k]].cell;
        }
        if (!has)
            continue;
        sum[t->offset + cell] += unit;
        for (size_t k = 0; k < t->sums; k++) {
            const size_t c = column[DP_TABLES_COLUMNS + k];
            if (s->seen[c].missing)
                continue;
            sum[dp_table_sum(t, k) + cell] += (int64_t)(centred(s, c) * t->weight * (double)unit);
            if (t->may_be_missing[k])
                sum[dp_table_present(t, k) + cell] += unit;
        }
    }
}

static int add(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, int64_t *sum, struct dp_err *err)
{
    const struct state *s = stage->state;
    const double grid = dp_grid_for(s->row.bound);
    (void)err;
    for (size_t p = 0; p < batch->persons; p++) {
        const size_t from = batch->start != NULL ? batch->start[p] : p, to = batch->start != NULL ? batch->start[p + 1] : p + 1;
        /* In steps of the grid, a power of two; rounded towards 0, so that the rows of a person count as at most `most` rows. */
        const int64_t unit = (int64_t)(fmin(1, s->most / (double)(to - from)) / grid);
        for (size_t i = from; i < to; i++)
            if (look(s, batch, i))
                add_row(s, unit, sum);
    }
    record(stage, dp_frame_edit_record(frame, DP_F_SUM));
    dp_frame_set_text(frame, DP_F_TABLES, s->text, strlen(s->text));
    dp_frame_set_text(frame, DP_F_METHOD, "tables", strlen("tables"));
    dp_frame_set_text(frame, DP_F_FAMILY, "tables", strlen("tables"));
    return DP_OK;
}

const struct dp_stage_class dp_count_class = {
    .name = "dp-count",
    .summary = "Count the rows in the cells of tables",
    DP_STAGE_STRUCTS,
    .takes = DP_LABEL_RAW,
    .gives = DP_LABEL_BOUNDED,
    .rows =
        &(const struct dp_row_stage){
            .transform = DP_TRANSFORM_IGNORED, .means = DP_MEANS_TABLES, .record = record, .before = before, .add = add},
    .hello = count_hello,
    .close = count_close,
    .ephemeral = true,
    .additive = true,
    .persons = true,
};
