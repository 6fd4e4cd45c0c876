#include "data/row_maker.h"

#include <pthread.h>

#include "base/mem.h"
#include "data/carried.h"
#include "data/features.h"

struct dp_row_maker {
    struct dp_row_plan plan;
    struct dp_features features;
    struct dp_row_length length;
};

/* The rows that a thread has made last. */
struct made {
    struct slot {
        float *row;
        size_t room;
    } slot[DP_ROW_MAKER_KEPT];
    size_t next;
    double *x;
    size_t x_room;
    struct dp_parsed record;
};

static _Thread_local struct made *made_here;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t at_end;
static bool keyed; /* else the rows stay until the process ends */

static void forget(void *own)
{
    struct made *m = own;
    for (size_t i = 0; i < DP_ROW_MAKER_KEPT; i++)
        free(m->slot[i].row);
    free(m->x);
    dp_parsed_free(&m->record);
    free(m);
}

static void make_key(void)
{
    keyed = pthread_key_create(&at_end, forget) == 0;
}

static struct made *made_of_thread(void)
{
    if (made_here == NULL) {
        pthread_once(&once, make_key);
        made_here = dp_new(1, sizeof *made_here);
        if (keyed)
            pthread_setspecific(at_end, made_here);
    }
    return made_here;
}

int dp_row_maker_open(struct dp_row_maker **maker, const char *schema, const char *name, struct dp_err *err)
{
    struct dp_row_maker *c = dp_new(1, sizeof *c);
    int rc = dp_carried_take(&c->plan, schema, name, err);
    if (rc == DP_OK && dp_features_no_cells(&c->plan) != NULL)
        rc = dp_fail(err, DP_E_RUN, "%s: rows are not made of cells: %s", name, dp_features_no_cells(&c->plan));
    rc = rc ?: dp_features_plan(&c->features, &c->plan, err);
    free(c->plan.clamped); /* nothing is counted */
    c->plan.clamped = NULL;
    c->length = (struct dp_row_length){c->plan.norm, c->plan.divisor, c->features.count, NULL};
    if (rc == DP_OK)
        *maker = c;
    else
        dp_row_maker_close(c);
    return rc;
}

void dp_row_maker_close(struct dp_row_maker *maker)
{
    if (maker == NULL)
        return;
    dp_features_free(&maker->features, &maker->plan.schema);
    dp_row_plan_free(&maker->plan);
    free(maker);
}

size_t dp_row_maker_cells(const struct dp_row_maker *maker)
{
    return maker->features.cells;
}

size_t dp_row_maker_cols(const struct dp_row_maker *maker)
{
    return maker->features.count;
}

/* Whether an import can have written it: pages of a file may be gone, or changed by hand. */
static bool can_be(const struct dp_column *c, double value)
{
    if (isnan(value))
        return c->fill != DP_FILL_REFUSE;
    return c->type == DP_COLUMN_NUMERIC ? isfinite(value)
                                        : value >= 0 && value <= (double)c->categories.count && value == floor(value);
}

struct dp_row dp_row_maker_row(const struct dp_row_maker *maker, const double *values)
{
    struct made *m = made_of_thread();
    const struct dp_features *f = &maker->features;
    struct slot *slot = &m->slot[m->next++ % DP_ROW_MAKER_KEPT];
    struct dp_parsed *record = &m->record;
    struct dp_err ignored;
    dp_extend(&slot->row, &slot->room, f->count, sizeof *slot->row);
    dp_extend(&m->x, &m->x_room, f->count, sizeof *m->x);
    record->count = 0;
    record->null = values == NULL;
    for (size_t k = 0; k < f->cells && !record->null; k++) {
        record->null = !can_be(&maker->plan.schema.column[f->cell_of[k]], values[k]);
        dp_parsed_add(record, f->cell_of[k], values[k]);
    }
    record->count = record->null ? 0 : record->count;
    dp_features_make(f, &maker->plan, record, m->x);
    if (dp_row_shorten(&maker->length, m->x, 1, 0, slot->row, &ignored) != DP_OK)
        memset(slot->row, 0, f->count * sizeof *slot->row);
    return dp_row_dense(slot->row, f->count);
}
