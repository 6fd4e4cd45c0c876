#include "math/tally.h"

#include "base/mem.h"
#include "math/kernels.h"

#define MOST_ROWS 1024

static size_t columns(const struct dp_tally *t)
{
    return t->features + (t->constant != 0 ? 1 : 0);
}

void dp_tally_begin(struct dp_tally *t, size_t outputs, size_t features, float constant, double grid)
{
    t->outputs = outputs;
    t->features = features;
    t->constant = constant;
    t->inverse_grid = 1 / grid;
    t->stride = (columns(t) + LANES - 1) / LANES * LANES;
    size_t size = outputs * t->stride;
    dp_extend(&t->block, &t->block_capacity, size + LANES, sizeof *t->block);
    dp_extend(&t->total, &t->total_capacity, size, sizeof *t->total);
    dp_extend(&t->scaled, &t->scaled_capacity, DP_ROWS * outputs, sizeof *t->scaled);
    t->lane = (int32_t *)(((uintptr_t)t->block + 63) & ~(uintptr_t)63);
    memset(t->lane, 0, size * sizeof *t->lane);
    t->room = MOST_ROWS;
    t->spilled = false;
}

void dp_tally_close(struct dp_tally *t)
{
    free(t->block);
    free(t->total);
    free(t->scaled);
}

/* Zeroes the total on its first use. */
static void need_total(struct dp_tally *t)
{
    if (!t->spilled)
        memset(t->total, 0, t->outputs * t->stride * sizeof *t->total);
    t->spilled = true;
}

static void spill(struct dp_tally *t)
{
    need_total(t);
    for (size_t at = 0; at < t->outputs * t->stride; at++)
        t->total[at] += t->lane[at];
    memset(t->lane, 0, t->outputs * t->stride * sizeof *t->lane);
    t->room = MOST_ROWS;
}

/* One term. a x is exact in double, and so is its product with a power of two. */
static int32_t term(const struct dp_tally *t, float a, float x)
{
    return (int32_t)((double)a * (double)x * t->inverse_grid);
}

static void add_sparse(struct dp_tally *t, const float *a, struct dp_row row)
{
    for (size_t k = 0; k < t->outputs; k++) {
        int32_t *lane = t->lane + k * t->stride;
        for (size_t j = 0; a[k] != 0 && j < row.count; j++)
            lane[row.columns[j]] += term(t, a[k], row.values[j]);
    }
}

/* Adds a dense row whose coefficients, divided by the grid, are not all floats. */
static void add_unscaled(struct dp_tally *t, const float *a, struct dp_row row)
{
    for (size_t k = 0; k < t->outputs; k++) {
        int32_t *lane = t->lane + k * t->stride;
        for (size_t j = 0; a[k] != 0 && j < row.count; j++)
            lane[j] += term(t, a[k], row.values[j]);
    }
}

/* a / grid as floats. Exact because the grid is a power of two; false if a quotient is too large for a float. */
static bool scale(const struct dp_tally *t, const float *a, float *scaled)
{
    bool exact = true;
    for (size_t k = 0; k < t->outputs; k++) {
        scaled[k] = (float)((double)a[k] * t->inverse_grid);
        exact &= (double)scaled[k] == (double)a[k] * t->inverse_grid;
    }
    return exact;
}

static bool moves(const struct dp_tally *t, const float *a)
{
    for (size_t k = 0; k < t->outputs; k++)
        if (a[k] != 0)
            return true;
    return false;
}

void dp_tally_add(struct dp_tally *t, const float *a, const struct dp_row *rows, size_t count)
{
    const float *dense[DP_ROWS];
    size_t blocked = 0;
    if (t->room < count)
        spill(t);
    t->room -= count;
    for (size_t i = 0; i < count; i++, a += t->outputs) {
        if (!moves(t, a))
            continue;
        for (size_t k = 0; t->constant != 0 && k < t->outputs; k++)
            t->lane[k * t->stride + t->features] += term(t, a[k], t->constant);
        if (rows[i].columns != NULL)
            add_sparse(t, a, rows[i]);
        else if (!scale(t, a, t->scaled + blocked * t->outputs))
            add_unscaled(t, a, rows[i]);
        else
            dense[blocked++] = rows[i].values;
    }
    if (blocked > 0)
        dp_kernels()->add(t->scaled, t->outputs, dense, blocked, t->features, t->lane, t->stride);
}

void dp_tally_end(const struct dp_tally *t, int64_t *sum)
{
    for (size_t k = 0; k < t->outputs; k++, sum += columns(t))
        for (size_t j = 0; j < columns(t); j++)
            sum[j] += t->lane[k * t->stride + j] + (t->spilled ? t->total[k * t->stride + j] : 0);
}
