/* Which tables rows are drawn from: the dependence of pairs, and a greedy network. All of it from released counts. */

#include <math.h>

#include "rows/rows.h"

#define ROOT_TWO_OVER_PI 0.79788456080286541 /* E|x| of a standard normal x */

void dp_rows_dependence(const struct dp_rows_shape *shape, const struct dp_rows_table *pair, size_t pairs, double *const *one,
                        double *dependence)
{
    memset(dependence, 0, shape->columns * shape->columns * sizeof *dependence);
    for (size_t p = 0; p < pairs; p++) {
        size_t i = pair[p].column[0], j = pair[p].column[1], b = shape->size[j];
        double far = 0;
        for (size_t c = 0; c < pair[p].cells; c++)
            far += fabs(pair[p].count[c] - one[i][c / b] * one[j][c % b] / shape->rows);
        far -= ROOT_TWO_OVER_PI * pair[p].noise * (double)pair[p].cells;
        dependence[i * shape->columns + j] = dependence[j * shape->columns + i] = far;
    }
}

/* The search for the next column. */
struct search {
    const struct dp_rows_shape *shape;
    const double *dependence;
    double noise, best;
    struct dp_rows_table *table; /* the best one so far */
};

/* Offers a column with these parents. */
static void offer(struct search *s, size_t column, const size_t *parent, size_t parents)
{
    struct dp_rows_table t = {.columns = 1 + parents, .column = {column}};
    double sum = 0, largest = -INFINITY;
    for (size_t k = 0; k < parents; k++) {
        double w = s->dependence[column * s->shape->columns + parent[k]] * ((long)parent[k] == s->shape->target ? 2 : 1);
        t.column[1 + k] = parent[k];
        sum += w;
        largest = fmax(largest, w);
    }
    t.cells = dp_rows_cells(s->shape, t.column, t.columns);
    if (parents > 1 && (double)t.cells > s->shape->rows / (4 * s->noise))
        return;
    double score = largest + 0.4 * (sum - largest) - 0.5 * ROOT_TWO_OVER_PI * s->noise * (double)t.cells;
    if (score > s->best) {
        s->best = score;
        *s->table = t;
    }
}

/* Offers a column with all sets of parents: the target, or none, and up to two of the `others`. */
static void offer_all(struct search *s, size_t column, const size_t *other, size_t others)
{
    size_t target = (size_t)s->shape->target;
    bool with = s->shape->target >= 0;
    if (with)
        offer(s, column, &target, 1);
    for (size_t a = 0; a < others; a++) {
        size_t parent[3] = {other[a], target};
        offer(s, column, parent, 1);
        if (with)
            offer(s, column, parent, 2);
        for (size_t b = a + 1; b < others; b++) {
            size_t two[3] = {other[a], other[b], target};
            offer(s, column, two, 2);
            if (with)
                offer(s, column, two, 3);
        }
    }
}

static size_t root_of(const struct dp_rows_shape *shape, const double *dependence)
{
    size_t root = 0;
    double most = -INFINITY;
    if (shape->target >= 0)
        return (size_t)shape->target;
    for (size_t i = 0; i < shape->columns; i++) {
        double sum = 0;
        for (size_t j = 0; j < shape->columns; j++)
            sum += fmax(dependence[i * shape->columns + j], 0);
        if (sum > most) {
            most = sum;
            root = i;
        }
    }
    return root;
}

size_t dp_rows_network(const struct dp_rows_shape *shape, const double *dependence, double noise, struct dp_rows_table *table)
{
    size_t root = root_of(shape, dependence), others = 0, other[shape->columns];
    bool in[shape->columns];
    memset(in, 0, sizeof in);
    in[root] = true;
    if (shape->target < 0)
        other[others++] = root;
    for (size_t k = 0; k + 1 < shape->columns; k++) {
        struct search s = {.shape = shape, .dependence = dependence, .noise = noise, .best = -INFINITY, .table = &table[k]};
        for (size_t j = 0; j < shape->columns; j++)
            if (!in[j])
                offer_all(&s, j, other, others);
        in[table[k].column[0]] = true;
        other[others++] = table[k].column[0];
    }
    return root;
}
