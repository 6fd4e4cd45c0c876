#include "data/knots.h"

#include "base/mem.h"

enum { COSINES = 16, HATS = 8, LEAST_BINS = 4, MOST_BINS = 16, PARTS = 64, DIGITS = 6 };
#define EVEN 0.2 /* rows that are added for the knots of cosines, as a part of all */

void dp_knots_close(struct dp_knots *k)
{
    free(k->column);
    free(k->edge);
    free(k->value);
    free(k->of);
    free(k->count);
    *k = (struct dp_knots){0};
}

/* False if the bounds are so close that edges coincide. */
static bool divide(double *edge, double low, double high)
{
    for (size_t i = 0; i <= DP_KNOTS_CELLS; i++) {
        edge[i] = dp_basis_spread(low, high, i, DP_KNOTS_CELLS);
        if (i > 0 && !(edge[i] > edge[i - 1]))
            return false;
    }
    return true;
}

void dp_knots_open(struct dp_knots *k, const struct dp_schema *s)
{
    k->cells = DP_KNOTS_CELLS;
    k->column = dp_new(s->columns, sizeof *k->column);
    k->of = dp_new(s->columns, sizeof *k->of);
    k->edge = dp_new(s->columns * (DP_KNOTS_CELLS + 1), sizeof *k->edge);
    k->value = dp_new(s->columns, sizeof *k->value);
    k->count = dp_new(s->columns * DP_KNOTS_CELLS, sizeof *k->count);
    for (size_t i = 0; i < s->columns; i++) {
        const struct dp_column *c = &s->column[i];
        bool taken = c->type == DP_COLUMN_NUMERIC && c->bounded && c->basis.kind == DP_BASIS_NONE &&
                     divide(k->edge + k->columns * (DP_KNOTS_CELLS + 1), c->low, c->high);
        k->of[i] = taken ? k->columns : SIZE_MAX;
        if (taken)
            k->column[k->columns++] = i;
    }
}

/* The last cell that begins at the number or below. */
static size_t cell_of(const double *edge, double value)
{
    size_t first = 0, last = DP_KNOTS_CELLS - 1;
    while (first < last) {
        size_t middle = (first + last + 1) / 2;
        if (value >= edge[middle])
            first = middle;
        else
            last = middle - 1;
    }
    return first;
}

void dp_knots_add(struct dp_knots *k, const struct dp_parsed *r)
{
    if (r->null)
        return;
    for (size_t j = 0; j < k->columns; j++)
        k->value[j] = 0; /* records leave zeros out */
    for (uint32_t i = 0; i < r->count; i++)
        if (k->of[r->column[i]] < k->columns)
            k->value[k->of[r->column[i]]] = r->value[i];
    for (size_t j = 0; j < k->columns; j++)
        if (!isnan(k->value[j]))
            k->count[j * DP_KNOTS_CELLS + cell_of(k->edge + j * (DP_KNOTS_CELLS + 1), k->value[j])]++;
}

double dp_knots_sensitivity(size_t columns, size_t rows_per_person)
{
    return nextafter((double)(rows_per_person > 0 ? rows_per_person : 1) * nextafter(sqrt((double)columns), INFINITY),
                     INFINITY);
}

size_t dp_knots_choose(double rows, double noise)
{
    size_t cells = DP_KNOTS_LEAST;
    if (!(rows / noise >= DP_KNOTS_LEAST / 2))
        return 0;
    while (cells < DP_KNOTS_CELLS && (double)cells <= rows / noise)
        cells *= 2;
    return cells;
}

void dp_knots_merge(struct dp_knots *k, size_t cells)
{
    size_t each = k->cells / cells;
    for (size_t i = 0; i < k->columns * cells; i++) {
        int64_t sum = 0;
        for (size_t l = 0; l < each; l++)
            sum += k->count[i * each + l];
        k->count[i] = sum;
    }
    k->cells = cells;
}

/* --- after the noise -------------------------------------------------------------------------------------------------- */

/* The ascending sequence that is nearest to f in least squares: neighbours that descend become their mean. */
static void make_ascending(double *f, size_t n)
{
    double mean[DP_KNOTS_CELLS + 1];
    size_t length[DP_KNOTS_CELLS + 1], blocks = 0;
    for (size_t i = 0; i < n; i++) {
        mean[blocks] = f[i];
        length[blocks++] = 1;
        for (; blocks > 1 && mean[blocks - 2] > mean[blocks - 1]; blocks--) {
            size_t together = length[blocks - 2] + length[blocks - 1];
            mean[blocks - 2] = (mean[blocks - 2] * (double)length[blocks - 2] + mean[blocks - 1] * (double)length[blocks - 1]) /
                               (double)together;
            length[blocks - 2] = together;
        }
    }
    for (size_t b = 0, i = 0; b < blocks; b++)
        for (size_t l = 0; l < length[b]; l++)
            f[i++] = mean[b];
}

/* Knots are short decimals, so that a person can read them: of DIGITS digits, and as many more as the bounds of the column have
 * in common, which say nothing. */
static int digits_of(double low, double high)
{
    return DIGITS + (int)fmin(fmax(floor(log10(fmax(fabs(low), fabs(high)) / (high - low))), 0), 17 - DIGITS);
}

static double shortened(double value, int digits)
{
    char text[320];
    snprintf(text, sizeof text, "%.*g", digits, value);
    return strtod(text, NULL);
}

/* Adds a part of all rows to the sums, evenly along the bounds. Quantiles have few knots where few rows are, so that no cosine
 * changes there: without this, electricity has .016 less of R², because its extremes of temperature are there. */
static void add_even(const struct dp_knots *k, size_t j, double *f)
{
    const double *edge = k->edge + j * (DP_KNOTS_CELLS + 1), all = f[k->cells], low = edge[0];
    const size_t each = DP_KNOTS_CELLS / k->cells;
    for (size_t i = 0; i <= k->cells; i++)
        f[i] += EVEN * all * (edge[i * each] - low) / (edge[DP_KNOTS_CELLS] - low);
}

static void append(struct dp_basis *b, double value, double high)
{
    if (value > b->edge[b->intervals] && value < high)
        b->edge[++b->intervals] = value;
}

/* f: cells + 1 ascending sums from the left, of which the first is 0. */
static void quantiles(const struct dp_knots *k, size_t j, const double *f, size_t intervals, struct dp_basis *b, double high)
{
    const double *edge = k->edge + j * (DP_KNOTS_CELLS + 1), step = f[k->cells] / (double)intervals;
    const size_t each = DP_KNOTS_CELLS / k->cells;
    const int digits = digits_of(edge[0], high);
    for (size_t i = 0; i < k->cells; i++) {
        const double low = edge[i * each], up = edge[(i + 1) * each];
        size_t before = (size_t)(f[i] / step), after = (size_t)(f[i + 1] / step); /* places up to here */
        after = after < intervals ? after : intervals - 1;
        if (after > before + 1)
            append(b, shortened(up, digits), high);
        else if (after == before + 1)
            append(b, shortened(low + (up - low) * ((double)after * step - f[i]) / (f[i + 1] - f[i]), digits), high);
    }
}

/* Marks the cells that are bins: each has more than its part of the rows that the other bins have, and more than noise. Returns
 * how many rows each other bin has. */
static double choose_own(const struct dp_knots *k, const double *f, double places, double noise, bool *own)
{
    double rest = f[k->cells];
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < k->cells && places > 1; i++)
            if (!own[i] && f[i + 1] - f[i] > fmax(rest / places, 2 * noise)) {
                own[i] = more = true;
                rest -= f[i + 1] - f[i];
                places--;
            }
    }
    return fmax(rest / places, 4 * noise);
}

/* Marks the cells before which a bin begins: cells of frequent numbers, `own`, and quantiles of the other numbers. */
static void divide_rows(const struct dp_knots *k, const double *f, double noise, double places, bool *own, bool *begins)
{
    const double step = choose_own(k, f, places, noise, own);
    double since = 0;
    for (size_t i = 0; i < k->cells; i++) {
        since = own[i] ? 0 : since + f[i + 1] - f[i];
        begins[i] |= own[i];
        if (own[i] || since >= step) {
            begins[i + 1] = true;
            since = 0;
        }
    }
}

/* The number that a cell is taken for: its middle or its lower edge, if these are rounded to few digits and still in the cell.
 * False: its neighbours have too many rows. */
static bool one_number(const struct dp_knots *k, const double *f, size_t i, double low, double up, int digits, double *number)
{
    const double neighbours = (i > 0 ? f[i] - f[i - 1] : 0) + (i + 1 < k->cells ? f[i + 2] - f[i + 1] : 0);
    if (!(f[i + 1] - f[i] > 2 * neighbours))
        return false;
    *number = 0;
    for (int t = 2; t < 2 * digits + 2 && !(*number >= low && *number < up); t++)
        *number = shortened(t % 2 == 0 ? low + (up - low) / 2 : low, t / 2);
    return *number >= low && *number < up;
}

/* Adds the part that ends with the number `to`. */
static void add_part(struct dp_basis *b, double to, double share)
{
    if (!(to >= b->place[b->parts]))
        return;
    b->share[b->parts++] = round(share * 1e5) / 1e5;
    b->place[b->parts] = to;
}

/* Bins and their parts. */
static void bins(const struct dp_knots *k, size_t j, const double *f, double noise, double places, struct dp_column *c)
{
    const double *edge = k->edge + j * (DP_KNOTS_CELLS + 1);
    const size_t each = DP_KNOTS_CELLS / k->cells;
    const int digits = digits_of(c->low, c->high);
    bool own[DP_KNOTS_CELLS] = {false}, begins[DP_KNOTS_CELLS + 1] = {false}, frequent[DP_KNOTS_CELLS] = {false};
    struct dp_basis *b = &c->basis;
    double number, before = 0;
    divide_rows(k, f, noise, places, own, begins);
    for (size_t i = 0; i < k->cells; i++)
        if (begins[i])
            append(b, shortened(edge[i * each], digits), c->high);
    divide_rows(k, f, noise, PARTS, frequent, begins);
    b->place = dp_new(3 * k->cells + 1, sizeof *b->place);
    b->share = dp_new(3 * k->cells, sizeof *b->share);
    b->place[0] = c->low;
    for (size_t i = 0; i < k->cells; i++) {
        const double low = b->place[b->parts], up = i + 1 < k->cells ? shortened(edge[(i + 1) * each], digits) : c->high,
                     share = (f[i + 1] - before) / f[k->cells];
        if (!begins[i + 1] && i + 1 < k->cells)
            continue;
        before = f[i + 1];
        if (!frequent[i] || c->date != NULL || !one_number(k, f, i, low, up, digits, &number)) {
            add_part(b, up, share);
            continue;
        }
        if (number > low)
            add_part(b, number, 0);
        add_part(b, number, share);
        add_part(b, up, 0);
    }
}

void dp_knots_place(const struct dp_knots *k, enum dp_basis_kind kind, double unit, double rows, double noise,
                    struct dp_schema *s)
{
    kind = kind == DP_BASIS_PRODUCTS ? DP_BASIS_COSINES : kind;
    const double places = floor(fmin(fmax(sqrt(rows / noise), LEAST_BINS), MOST_BINS));
    for (size_t j = 0; j < k->columns; j++) {
        struct dp_column *c = &s->column[k->column[j]];
        double f[DP_KNOTS_CELLS + 1] = {0};
        for (size_t i = 0; i < k->cells; i++)
            f[i + 1] = f[i] + (double)k->count[j * k->cells + i] / unit + 2 * noise / (double)k->cells;
        make_ascending(f, k->cells + 1);
        for (size_t i = k->cells + 1; i-- > 0;)
            f[i] -= f[0];
        if (!(f[k->cells] > 0))
            continue; /* even knots: nothing is known */
        c->basis.edge = dp_new(DP_KNOTS_CELLS + 2, sizeof *c->basis.edge);
        c->basis.kind = kind;
        c->basis.edge[0] = c->low;
        if (kind == DP_BASIS_COSINES)
            add_even(k, j, f);
        if (kind == DP_BASIS_BINS)
            bins(k, j, f, noise, places, c);
        else
            quantiles(k, j, f, kind == DP_BASIS_COSINES ? COSINES : HATS, &c->basis, c->high);
        c->basis.edge[++c->basis.intervals] = c->high;
    }
}
