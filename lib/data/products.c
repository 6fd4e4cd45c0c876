#include "data/products.h"

#include "base/mem.h"

enum { COSINES = 2, LEVELS = 60, MOST_OF_A_PAIR = 400 };
#define SHARE 0.3
#define EARLIER_SHARE 0.1

void dp_products_free(struct dp_products *p)
{
    free(p->pair);
    *p = (struct dp_products){0};
}

static bool is_number(const struct dp_column *c)
{
    return c->type == DP_COLUMN_NUMERIC && c->basis.kind == DP_BASIS_COSINES;
}

/* The number of factors of a column. */
static size_t factors(const struct dp_column *c)
{
    if (is_number(c))
        return COSINES;
    const size_t levels = c->type == DP_COLUMN_CATEGORICAL ? c->categories.count - c->drop_first : 0;
    return levels <= LEVELS ? levels : 0;
}

static size_t products_of(const struct dp_pair *pair)
{
    return pair->factors[0] * pair->factors[1];
}

/* In the order of products, then of the schema. */
static int by_size(const void *a, const void *b)
{
    const struct dp_pair *x = a, *y = b;
    if (products_of(x) != products_of(y))
        return products_of(x) < products_of(y) ? -1 : 1;
    if (x->columns[0] != y->columns[0])
        return x->columns[0] < y->columns[0] ? -1 : 1;
    return (x->columns[1] > y->columns[1]) - (x->columns[1] < y->columns[1]);
}

/* The pair of columns a < b of the schema, or none. A number comes before a category. */
static struct dp_pair pair_of(const struct dp_schema *s, const size_t *first, size_t a, size_t b)
{
    const bool turned = !is_number(&s->column[a]) && is_number(&s->column[b]);
    const size_t of[2] = {turned ? b : a, turned ? a : b};
    struct dp_pair pair = {.columns = {a, b}};
    for (int k = 0; k < 2; k++) {
        const struct dp_column *c = &s->column[of[k]];
        pair.number[k] = is_number(c);
        pair.first[k] = first[of[k]] + pair.number[k];
        pair.factors[k] = factors(c);
    }
    return pair;
}

static void make_pairs(struct dp_products *p, const struct dp_schema *s, const size_t *first, bool categories)
{
    size_t room = 0;
    for (size_t a = 0; a < s->columns; a++)
        for (size_t b = a + 1; b < s->columns; b++) {
            const struct dp_pair pair = pair_of(s, first, a, b);
            if (products_of(&pair) == 0 || products_of(&pair) > MOST_OF_A_PAIR || (!categories && !pair.number[1]))
                continue;
            dp_extend(&p->pair, &room, p->pairs + 1, sizeof *p->pair);
            p->pair[p->pairs++] = pair;
        }
    if (p->pairs > 0)
        qsort(p->pair, p->pairs, sizeof *p->pair, by_size);
}

/* q_a q_b */
static double mean_square(const struct dp_pair *pair)
{
    return (pair->number[0] ? 1.25 : 1) * (pair->number[1] ? 1.25 : 1);
}

int dp_products_plan(struct dp_products *p, const struct dp_schema *s, const size_t *first, size_t most, struct dp_err *err)
{
    double others = 1, square = 0; /* mean squares: of the bias and the columns; of the products, for w = 1 */
    size_t taken = 0;
    for (size_t i = 0; i < s->columns; i++)
        others += s->column[i].type == DP_COLUMN_CATEGORICAL ? 1 : is_number(&s->column[i]) ? 1.1 : 0;
    make_pairs(p, s, first, most > 0);
    p->all = p->pairs;
    for (; taken < p->pairs && (most == 0 || p->count + products_of(&p->pair[taken]) <= most); taken++) {
        p->count += products_of(&p->pair[taken]);
        square += mean_square(&p->pair[taken]);
    }
    p->pairs = taken;
    if (p->count > DP_PRODUCTS_COLUMNS)
        return dp_fail(err, DP_E_RUN, "its numbers have %zu products, more than the %d columns that a model may have", p->count,
                       DP_PRODUCTS_COLUMNS);
    const double w = p->count > 0 ? sqrt((most > 0 ? SHARE : EARLIER_SHARE) * others / square) : 0;
    for (size_t k = 0; k < p->pairs; k++) {
        struct dp_pair *pair = &p->pair[k];
        pair->weight = w * sqrt((pair->number[0] ? 2 : 1) * (pair->number[1] ? 2 : 1));
        p->weight = fmax(p->weight, pair->weight);
    }
    return DP_OK;
}

void dp_products_features(const struct dp_products *p, const double *x, double *to)
{
    for (size_t k = 0; k < p->pairs; k++) {
        const struct dp_pair *pair = &p->pair[k];
        for (size_t i = 0; i < pair->factors[0]; i++)
            for (size_t j = 0; j < pair->factors[1]; j++)
                *to++ = pair->weight * x[pair->first[0] + i] * x[pair->first[1] + j];
    }
}

double dp_products_of(const struct dp_products *p, size_t k, size_t of[2])
{
    const struct dp_pair *pair = p->pair;
    for (; k >= products_of(pair); pair++)
        k -= products_of(pair);
    of[0] = pair->first[0] + k / pair->factors[1];
    of[1] = pair->first[1] + k % pair->factors[1];
    return pair->weight;
}

double dp_products_norm2(const struct dp_products *p)
{
    double sum = 0;
    for (size_t k = 0; k < p->pairs; k++) {
        const struct dp_pair *pair = &p->pair[k];
        sum += pair->weight * pair->weight * mean_square(pair); /* at a bound the squares of a number are 1 + 1/4 */
    }
    return sum;
}

void dp_products_names(const struct dp_products *p, json_t *names)
{
    for (size_t k = 0, of[2]; k < p->count; k++) {
        dp_products_of(p, k, of);
        json_array_append_new(names, json_sprintf("%s × %s", json_string_value(json_array_get(names, of[0])),
                                                  json_string_value(json_array_get(names, of[1]))));
    }
}
