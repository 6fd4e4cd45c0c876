#include "data/products.h"

#include "base/mem.h"

/* The most columns of dp-transform. */
#define MOST 8192

void dp_products_free(struct dp_products *p)
{
    free(p->at);
    *p = (struct dp_products){0};
}

size_t dp_products_count(size_t numbers)
{
    return numbers < 2 ? 0 : DP_PRODUCTS_OF_A_PAIR * (numbers * (numbers - 1) / 2);
}

static double pairs(const struct dp_products *p)
{
    return (double)dp_products_count(p->numbers) / DP_PRODUCTS_OF_A_PAIR;
}

int dp_products_plan(struct dp_products *p, const struct dp_schema *s, const size_t *first, struct dp_err *err)
{
    double others = 1; /* mean squares: of the bias, and of the columns */
    p->at = dp_new(s->columns, sizeof *p->at);
    for (size_t i = 0; i < s->columns; i++) {
        others += s->column[i].type == DP_COLUMN_CATEGORICAL;
        if (s->column[i].type != DP_COLUMN_NUMERIC || s->column[i].basis.kind != DP_BASIS_COSINES)
            continue;
        others += 1.1;
        p->at[p->numbers++] = first[i] + 1;
    }
    if (p->numbers > MOST || dp_products_count(p->numbers) > MOST)
        return dp_fail(err, DP_E_RUN,
                       "%zu numbers have more products than the %d columns that a model may have; 64 have as many", p->numbers,
                       MOST);
    p->count = dp_products_count(p->numbers);
    p->weight = p->count > 0 ? sqrt(0.1 * others / (25.0 / 64 * pairs(p))) : 0;
    return DP_OK;
}

void dp_products_features(const struct dp_products *p, const double *x, double *to)
{
    for (size_t a = 0; a < p->numbers; a++)
        for (size_t b = a + 1; b < p->numbers; b++)
            for (size_t ik = 0; ik < DP_PRODUCTS_OF_A_PAIR; ik++)
                *to++ = p->weight * x[p->at[a] + ik / 2] * x[p->at[b] + ik % 2];
}

void dp_products_of(const struct dp_products *p, size_t k, size_t of[2])
{
    size_t a = 0, pair = k / DP_PRODUCTS_OF_A_PAIR, ik = k % DP_PRODUCTS_OF_A_PAIR;
    for (; pair >= p->numbers - 1 - a; a++)
        pair -= p->numbers - 1 - a;
    of[0] = p->at[a] + ik / 2;
    of[1] = p->at[a + 1 + pair] + ik % 2;
}

double dp_products_norm2(const struct dp_products *p)
{
    return p->weight * p->weight * pairs(p) * 1.5625;
}

void dp_products_names(const struct dp_products *p, json_t *names)
{
    for (size_t k = 0, of[2]; k < p->count; k++) {
        dp_products_of(p, k, of);
        json_array_append_new(names, json_sprintf("%s × %s", json_string_value(json_array_get(names, of[0])),
                                                  json_string_value(json_array_get(names, of[1]))));
    }
}
