#include "tables/estimate.h"

#include "base/mem.h"

#define NORMAL_975 1.9599639845400545

/* t such that noise on sum − r count is within ±t with the confidence. Gaussian: σ √(1/w² + r²). Laplace of scales a ≥ b, which
 * are 1/w and |r| of that scale: P(beyond t) = (a² e^(−t/a) − b² e^(−t/b)) / (a² − b²), which falls in t; for equal scales
 * (1 + t/2a) e^(−t/a). */
static double within(const struct dp_table *table, double r)
{
    const double w = 1 / table->weight, a = fmax(w, fabs(r)), b = fmin(w, fabs(r));
    if (!table->laplace)
        return NORMAL_975 * table->scale * sqrt(w * w + r * r);
    double low = 0, high = 10 * a;
    for (int i = 0; i < 40; i++) {
        double t = 0.5 * (low + high), small = b > 0 ? b * b * exp(-t / b) : 0;
        double beyond = a - b > 1e-6 * a ? (a * a * exp(-t / a) - small) / (a * a - b * b) : (1 + t / (2 * a)) * exp(-t / a);
        if (beyond > 1 - DP_ESTIMATE_CONFIDENCE)
            low = t;
        else
            high = t;
    }
    return high * table->scale;
}

bool dp_estimate_laplace(struct dp_tables *tables, double laplace, double gaussian)
{
    double error[2];
    for (int kind = 0; kind < 2; kind++) {
        dp_tables_weigh(tables, kind == 1);
        const double noise = kind == 1 ? M_SQRT2 * laplace * dp_tables_norm1(tables) : gaussian * dp_tables_norm2(tables);
        const double w = tables->table[0].weight;
        error[kind] = noise * (tables->most_sums > 0 ? sqrt(1 / (w * w) + 1.0 / 12) : 1);
    }
    dp_tables_weigh(tables, error[1] < error[0]);
    return error[1] < error[0];
}

double dp_estimate_width(const struct dp_table *table)
{
    return table->laplace ? -log(1 - DP_ESTIMATE_CONFIDENCE) * table->scale : NORMAL_975 * table->scale;
}

/* The end of the interval between r, which is in it, and end. */
static double edge(const struct dp_table *table, double sum, double count, double r, double end)
{
    if (fabs(sum - end * count) <= within(table, end))
        return end;
    for (int i = 0; i < 40; i++) {
        double middle = 0.5 * (r + end);
        if (fabs(sum - middle * count) <= within(table, middle))
            r = middle;
        else
            end = middle;
    }
    return end;
}

bool dp_estimate_mean(const struct dp_table *table, double sum, double count, struct dp_estimate_mean *mean)
{
    if (!(count > dp_estimate_width(table)))
        return false;
    const double r = fmin(fmax(sum / count, -0.5), 0.5);
    mean->mean = r;
    if (fabs(sum - r * count) > within(table, r)) /* the sum is beyond what any mean explains */
        return false;
    mean->low = edge(table, sum, count, r, -0.5);
    mean->high = edge(table, sum, count, r, 0.5);
    return mean->low > -0.5 || mean->high < 0.5;
}

/* --- tables that agree */

/* The cell of the margin to which a cell of the table belongs. */
static size_t margin_of(const struct dp_table *t, const size_t *stride, size_t cell)
{
    size_t at = 0;
    for (size_t k = t->columns; k-- > 0; cell /= t->cells[k])
        at += stride[k] * (cell % t->cells[k]);
    return at;
}

/* Strides of the table's columns in the margin of the set, 0 for other columns. Returns the number of cells of the margin; 0:
 * the table does not have all of the set. */
static size_t strides(const struct dp_table *t, const char *const *set, size_t count, size_t *stride)
{
    size_t cells = 1, found = 0;
    memset(stride, 0, DP_TABLES_COLUMNS * sizeof *stride);
    for (size_t i = count; i-- > 0;)
        for (size_t k = 0; k < t->columns; k++)
            if (strcmp(t->column[k], set[i]) == 0) {
                stride[k] = cells;
                cells *= t->cells[k];
                found++;
            }
    return found == count ? cells : 0;
}

static void agree_on(const struct dp_tables *tables, const char *const *set, size_t count, double *value)
{
    size_t cells = 0, stride[DP_TABLES_COLUMNS];
    for (size_t i = 0; i < tables->count && cells == 0; i++)
        cells = strides(&tables->table[i], set, count, stride);
    double *mean = dp_new(cells, sizeof *mean), weights = 0;
    double *margin = dp_new(cells, sizeof *margin);
    for (size_t i = 0; i < tables->count; i++) {
        const struct dp_table *t = &tables->table[i];
        if (strides(t, set, count, stride) == 0)
            continue;
        double weight = (double)cells / ((double)t->size * t->scale * t->scale);
        weights += weight;
        for (size_t c = 0; c < t->size; c++)
            mean[margin_of(t, stride, c)] += weight * value[t->offset + c];
    }
    for (size_t i = 0; i < tables->count; i++) {
        const struct dp_table *t = &tables->table[i];
        if (strides(t, set, count, stride) == 0)
            continue;
        memset(margin, 0, cells * sizeof *margin);
        for (size_t c = 0; c < t->size; c++)
            margin[margin_of(t, stride, c)] += value[t->offset + c];
        for (size_t c = 0; c < t->size; c++) {
            size_t m = margin_of(t, stride, c);
            value[t->offset + c] += (mean[m] / weights - margin[m]) * ((double)cells / (double)t->size);
        }
    }
    free(mean);
    free(margin);
}

/* A set of columns, in the order of the first of two tables that share them. */
struct shared {
    const char *name[DP_TABLES_COLUMNS];
    size_t count;
};

static struct shared share(const struct dp_table *a, const struct dp_table *b)
{
    struct shared s = {.count = 0};
    for (size_t i = 0; i < a->columns; i++)
        for (size_t k = 0; k < b->columns; k++)
            if (strcmp(a->column[i], b->column[k]) == 0)
                s.name[s.count++] = a->column[i];
    return s;
}

static bool same(const struct shared *a, const struct shared *b)
{
    size_t found = 0;
    for (size_t i = 0; i < a->count; i++)
        for (size_t k = 0; k < b->count; k++)
            found += strcmp(a->name[i], b->name[k]) == 0;
    return a->count == b->count && found == a->count;
}

void dp_estimate_agree(const struct dp_tables *tables, double *value)
{
    struct shared *done = NULL;
    size_t count = 0, capacity = 0;
    for (size_t size = 0; size < DP_TABLES_COLUMNS; size++)
        for (size_t i = 0; i < tables->count; i++)
            for (size_t j = i + 1; j < tables->count; j++) {
                const struct shared s = share(&tables->table[i], &tables->table[j]);
                bool again = s.count != size;
                for (size_t k = 0; k < count && !again; k++)
                    again = same(&done[k], &s);
                if (again)
                    continue;
                dp_extend(&done, &capacity, count + 1, sizeof *done);
                done[count++] = s;
                agree_on(tables, s.name, s.count, value);
            }
    free(done);
}
