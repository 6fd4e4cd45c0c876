/* Rows from released tables: against network.tsv, which tests/vectors/make-network.py makes with NumPy, and properties of
 * drawn and weighted rows. */
#include "unit.h"

#include "rows/rows.h"

enum { COLUMNS = 5, PAIRS = 10, POOL = 20000 };
static const size_t size[COLUMNS] = {2, 3, 4, 2, 5};
static const struct dp_rows_shape shape = {.columns = COLUMNS, .size = size, .rows = 4000, .target = 3};
static struct dp_rows_table pair[PAIRS], network[COLUMNS - 1];
static double projected[PAIRS][20], dependence[PAIRS];
static size_t wanted[COLUMNS - 1][1 + DP_ROWS_DEEPEST];
static double margin[COLUMNS][5], *one[COLUMNS] = {margin[0], margin[1], margin[2], margin[3], margin[4]};

static int read_vectors(void **state)
{
    (void)state;
    char word[20];
    size_t a, b, pairs = 0, tables = 0;
    FILE *in = fopen("tests/vectors/network.tsv", "r");
    assert_non_null(in);
    while (fscanf(in, "%19s %zu", word, &a) == 2) {
        if (strcmp(word, "table") == 0) {
            wanted[tables][0] = a;
            for (size_t k = 0; k < a; k++)
                assert_int_equal(fscanf(in, "%zu", &wanted[tables][1 + k]), 1);
            tables++;
            continue;
        }
        assert_int_equal(fscanf(in, "%zu", &b), 1);
        const size_t cells = size[a] * size[b];
        struct dp_rows_table *t = &pair[pairs];
        double *to = strcmp(word, "projected") == 0 ? projected[pairs] : &dependence[pairs];
        if (strcmp(word, "pair") == 0) {
            *t = (struct dp_rows_table){.columns = 2, .column = {a, b}, .cells = cells, .noise = 9};
            to = t->count = calloc(cells, sizeof *t->count);
        }
        for (size_t k = 0; k < (strcmp(word, "dependence") == 0 ? 1 : cells); k++)
            assert_int_equal(fscanf(in, "%lf", &to[k]), 1);
        pairs += strcmp(word, "dependence") == 0;
    }
    fclose(in);
    assert_int_equal(pairs, PAIRS);
    assert_int_equal(tables, COLUMNS - 1);
    for (size_t j = 0; j < COLUMNS; j++)
        dp_rows_margin(&shape, pair, PAIRS, j, one[j]);
    return 0;
}

static int free_vectors(void **state)
{
    (void)state;
    for (size_t p = 0; p < PAIRS; p++)
        free(pair[p].count);
    return 0;
}

TEST(test_project)
{
    for (size_t p = 0; p < PAIRS; p++) {
        double v[20];
        memcpy(v, pair[p].count, pair[p].cells * sizeof *v);
        dp_rows_project(v, pair[p].cells, shape.rows);
        for (size_t k = 0; k < pair[p].cells; k++)
            assert_true(fabs(v[k] - projected[p][k]) < 1e-5);
    }
}

TEST(test_network)
{
    double w[COLUMNS * COLUMNS];
    dp_rows_dependence(&shape, pair, PAIRS, one, w);
    for (size_t p = 0; p < PAIRS; p++)
        assert_true(fabs(w[pair[p].column[0] * COLUMNS + pair[p].column[1]] - dependence[p]) < 1e-4);
    assert_int_equal(dp_rows_network(&shape, w, 6, network), 3);
    for (size_t k = 0; k + 1 < COLUMNS; k++) {
        assert_int_equal(network[k].columns, wanted[k][0]);
        assert_int_equal(network[k].column[0], wanted[k][1]);
        for (size_t i = 1; i < network[k].columns; i++) { /* parents, in any order */
            bool found = false;
            for (size_t j = 1; j < network[k].columns; j++)
                found |= network[k].column[i] == wanted[k][1 + j];
            assert_true(found);
        }
    }
}

/* A table of more than two columns may have rows / (4 noise) cells and no more: all columns depend on all, so that the second
 * table has 2 · 3 · 4 cells if these are allowed. */
TEST(test_limit)
{
    static const struct dp_rows_shape three = {.columns = 3, .size = size, .rows = 9600, .target = 0};
    double w[9];
    struct dp_rows_table table[2];
    for (size_t i = 0; i < 9; i++)
        w[i] = 1e6;
    dp_rows_network(&three, w, 100, table);
    assert_int_equal(table[0].columns, 2);
    assert_int_equal(table[1].columns, 3);
    assert_int_equal(table[1].cells, 24);
    dp_rows_network(&three, w, 100.01, table);
    assert_int_equal(table[1].columns, 2);
}

/* Far from the tables of all pairs, before and after weights: F falls, and threads change no byte. */
TEST(test_weigh)
{
    struct dp_key key;
    static uint16_t row[COLUMNS * POOL];
    static uint64_t weight[POOL], again[POOL];
    static uint32_t chosen[4000];
    double w[COLUMNS * COLUMNS];
    dp_rows_dependence(&shape, pair, PAIRS, one, w);
    size_t root = dp_rows_network(&shape, w, 6, network);
    for (size_t k = 0; k + 1 < COLUMNS; k++) { /* independent of the parents: weights have work to do */
        const size_t each = network[k].cells / size[network[k].column[0]];
        network[k].count = calloc(network[k].cells, sizeof *network[k].count);
        for (size_t c = 0; c < network[k].cells; c++)
            network[k].count[c] = one[network[k].column[0]][c / each] / (double)each;
    }
    dp_key_derive(&key, 1, "rows", 1);
    dp_rows_draw(&shape, network, root, one, &key, POOL, row);
    for (size_t j = 0; j < COLUMNS; j++) { /* margins: 6 standard deviations, a false alarm in 10^8 */
        size_t ones = 0;
        for (size_t i = 0; i < POOL; i++)
            ones += row[j * POOL + i] == 1;
        const double p = one[j][1] / shape.rows;
        assert_true(fabs((double)ones - POOL * p) < 6 * sqrt(POOL * p * (1 - p)));
    }
    const double before = dp_rows_weigh(&shape, pair, PAIRS, POOL, row, 1, 0, weight);
    const double after = dp_rows_weigh(&shape, pair, PAIRS, POOL, row, 1, 100, weight), sd = pair[0].noise;
    for (size_t p = 0; p < PAIRS; p++) /* noise that hides the rows: no step follows it */
        pair[p].noise = 100 * sd;
    const double hidden = dp_rows_weigh(&shape, pair, PAIRS, POOL, row, 1, 0, weight);
    assert_true(dp_rows_weigh(&shape, pair, PAIRS, POOL, row, 1, 100, again) == hidden);
    for (size_t p = 0; p < PAIRS; p++)
        pair[p].noise = sd;
    dp_rows_weigh(&shape, pair, PAIRS, POOL, row, 1, 100, weight);
    assert_true(before > 3);
    assert_true(after < 0.7); /* only noise: at most 1/2 for each cell */
    assert_true(dp_rows_weigh(&shape, pair, PAIRS, POOL, row, 3, 100, again) == after);
    assert_memory_equal(weight, again, sizeof weight);
    dp_rows_choose(&key, weight, POOL, 4000, chosen);
    double sum = 0;
    for (size_t i = 0; i < POOL; i++)
        sum += (double)weight[i];
    static size_t times[POOL];
    for (size_t i = 0; i < 4000; i++)
        times[chosen[i]]++;
    for (size_t i = 0; i < POOL; i++)
        assert_true(fabs((double)times[i] - 4000 * (double)weight[i] / sum) < 1);
    for (size_t k = 0; k + 1 < COLUMNS; k++)
        free(network[k].count);
}

/* The table of pair p of the rows that are chosen, or of all rows by weight, with a sum of 1. */
static void table_of(const uint16_t *row, const uint64_t *weight, const uint32_t *chosen, size_t count, size_t p, double *share)
{
    double sum = 0;
    memset(share, 0, 20 * sizeof *share);
    for (size_t k = 0; k < count; k++) {
        const size_t i = chosen != NULL ? chosen[k] : k;
        const double w = chosen != NULL ? 1 : (double)weight[k];
        share[row[pair[p].column[0] * POOL + i] * size[pair[p].column[1]] + row[pair[p].column[1] * POOL + i]] += w;
        sum += w;
    }
    for (size_t c = 0; c < 20; c++)
        share[c] /= sum;
}

static double distance(const uint16_t *row, const uint64_t *weight, const uint32_t *chosen, size_t count)
{
    double a[20], b[20], sum = 0;
    for (size_t p = 0; p < PAIRS; p++) {
        table_of(row, weight, NULL, POOL, p, a);
        table_of(row, weight, chosen, count, p, b);
        for (size_t c = 0; c < 20; c++)
            sum += fabs(a[c] - b[c]) / 2 / PAIRS;
    }
    return sum;
}

/* Exchanged rows have tables that are closer to the tables of all rows by weight; a row without weight stays out. */
TEST(test_exchange)
{
    static uint16_t row[COLUMNS * POOL];
    static uint64_t weight[POOL];
    static uint32_t chosen[4000], again[4000];
    struct dp_key key;
    dp_key_derive(&key, 1, "rows", 1);
    uint64_t x = 1;
    for (size_t i = 0; i < POOL; i++) {
        for (size_t j = 0; j < COLUMNS; j++) {
            x = x * 6364136223846793005 + 1442695040888963407;
            row[j * POOL + i] = (uint16_t)((x >> 40) % size[j]);
        }
        weight[i] = i % 2 == 0 ? 0 : (uint64_t)1 << 30 << (row[i] == row[3 * POOL + i]);
    }
    dp_rows_choose(&key, weight, POOL, 4000, chosen);
    memcpy(again, chosen, sizeof chosen);
    const double before = distance(row, weight, chosen, 4000);
    dp_rows_exchange(&shape, pair, PAIRS, &key, weight, POOL, row, 120000, chosen, 4000);
    assert_true(before > 0.01); /* with 4,000 rows */
    assert_true(distance(row, weight, chosen, 4000) < before / 4);
    for (size_t k = 0; k < 4000; k++)
        assert_int_equal(chosen[k] % 2, 1);
    dp_rows_exchange(&shape, pair, PAIRS, &key, weight, POOL, row, 120000, again, 4000);
    assert_memory_equal(chosen, again, sizeof chosen);
}

/* Ten rows by hand: tables of .2 .2 .3 .3 and of .4 .1 .2 .3 are .2 apart. */
TEST(test_errors)
{
    static const size_t two[] = {2, 2};
    static const struct dp_rows_shape small = {.columns = 2, .size = two, .rows = 10, .target = -1};
    static const uint16_t row[] = {0, 0, 1, 1, 0, 1, 0, 1};
    static const uint32_t chosen[] = {0, 0, 1, 1, 2, 2, 2, 3, 3, 3};
    double near[] = {2, 2, 3, 3}, far[] = {4, 1, 2, 3};
    const struct dp_rows_table table[] = {
        {.columns = 2, .column = {0, 1}, .cells = 4, .noise = 1, .count = near},
        {.columns = 2, .column = {0, 1}, .cells = 4, .noise = 3, .count = far},
    };
    struct dp_rows_errors e;
    dp_rows_errors(&small, table, 2, 2, 4, row, chosen, 10, &e);
    assert_int_equal(e.tables, 2);
    assert_true(e.of == &table[1]);
    assert_true(fabs(e.far - 0.1) < 1e-12 && fabs(e.largest - 0.2) < 1e-12);
    assert_true(fabs(e.noise - 2 * 0.159576912160573) < 1e-12 && fabs(e.largest_noise - 3 * 0.159576912160573) < 1e-12);
    dp_rows_errors(&small, table, 2, 3, 4, row, chosen, 10, &e);
    assert_true(e.tables == 0 && e.of == NULL);
}

TESTS(read_vectors, free_vectors)
