#include "math/eigen.h"

#include "base/mem.h"

/* All loops over a whole matrix go along its rows. The matrix is scaled to entries of at most 1, so numbers below this one are
   zero next to it, and no square underflows. */
#define NOTHING 0x1p-200

static void add(double factor, const double *restrict x, double *restrict y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] += factor * x[i];
}

static void exchange(double *x, double *y)
{
    double value = *x;
    *x = *y;
    *y = value;
}

/* x ← (1 − u uᵀ / h) x would map `row` to (0, …, 0, the result). Turns row into u, which is zero if row is. */
static double reflector(double *row, size_t n, double *h)
{
    double squares = 0, last = row[n - 1];
    for (size_t i = 0; i < n; i++)
        squares += row[i] * row[i];
    double norm = sqrt(squares), image = last > 0 ? -norm : norm;
    *h = squares - last * image;
    row[n - 1] = last - image;
    if (norm > NOTHING)
        return image;
    memset(row, 0, n * sizeof *row);
    *h = 1;
    return 0;
}

/* One step for each row, from the last: with u and p = M u / h, q = p − (u·p / 2h) u, and M ← M − u qᵀ − q uᵀ above that row.
   Each pass over M subtracts what the step before left to subtract, and multiplies by the next u. Row i keeps its u. space: 2 n
   zeros. */
static void tridiagonal(double *m, size_t n, double *diagonal, double *off_diagonal, double *h, double *space)
{
    double *q = space, *p = space + n;
    for (size_t i = n; i-- > 0;) {
        double *row = m + i * n, *u = i + 1 < n ? row + n : q, along = 0;
        add(-u[i], q, row, i + 1);
        add(-q[i], u, row, i + 1);
        diagonal[i] = row[i];
        if (i == 0)
            return;
        off_diagonal[i - 1] = reflector(row, i, &h[i]);
        memset(p, 0, i * sizeof *p);
        for (size_t k = 0; k < i; k++) {
            add(-u[k], q, m + k * n, i);
            add(-q[k], u, m + k * n, i);
            add(row[k] / h[i], m + k * n, p, i);
        }
        for (size_t k = 0; k < i; k++)
            along += row[k] * p[k];
        add(-along / (2 * h[i]), row, p, i);
        double *done = q;
        q = p;
        p = done;
    }
}

/* Multiplies the reflectors, whose u are in the rows of m, and leaves the transpose of the product. */
static void multiply(double *m, size_t n, const double *h, double *product)
{
    for (size_t i = 0; i < n; i++) {
        double *u = m + i * n;
        memset(product, 0, i * sizeof *product);
        for (size_t k = 0; k < i; k++)
            add(u[k] / h[i], m + k * n, product, i);
        for (size_t k = 0; k < i; k++)
            add(-u[k], product, m + k * n, i);
        for (size_t k = 0; k < i; k++)
            u[k] = m[k * n + i] = 0;
        u[i] = 1;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            exchange(&m[i * n + j], &m[j * n + i]);
}

static void rotate(double *restrict x, double *restrict y, size_t n, double c, double s)
{
    for (size_t i = 0; i < n; i++) {
        double first = c * x[i] + s * y[i];
        y[i] = c * y[i] - s * x[i];
        x[i] = first;
    }
}

static double length(double x, double z)
{
    double larger = fmax(fabs(x), fabs(z)), part = fmin(fabs(x), fabs(z)) / larger;
    return larger > 0 ? larger * sqrt(1 + part * part) : 0;
}

/* A QR step on rows first..last of the tridiagonal matrix; the rotations turn the rows of m, too. */
static void step(double *m, size_t n, double *diagonal, double *off_diagonal, size_t first, size_t last)
{
    double half = (diagonal[last - 1] - diagonal[last]) / 2, b = off_diagonal[last - 1], root = length(half, b);
    double x = diagonal[first] - (diagonal[last] - b / (half + (half < 0 ? -root : root)) * b), z = off_diagonal[first];
    for (size_t k = first; k < last; k++) {
        double r = length(x, z), c = r > 0 ? x / r : 1, s = r > 0 ? z / r : 0;
        double upper = diagonal[k], lower = diagonal[k + 1], between = off_diagonal[k],
               shift = s * (lower - upper) + 2 * c * between;
        diagonal[k] = upper + s * shift;
        diagonal[k + 1] = lower - s * shift;
        off_diagonal[k] = c * shift - between;
        if (k > first)
            off_diagonal[k - 1] = r;
        x = off_diagonal[k];
        if (k + 1 < last) {
            z = s * off_diagonal[k + 1];
            off_diagonal[k + 1] *= c;
        }
        rotate(m + k * n, m + (k + 1) * n, n, c, s);
    }
}

static bool small(const double *diagonal, const double *off_diagonal, size_t k)
{
    return fabs(off_diagonal[k]) <= fmax(NOTHING, 0x1p-53 * (fabs(diagonal[k]) + fabs(diagonal[k + 1])));
}

static void sort(double *m, size_t n, double *values)
{
    for (size_t i = 0; i < n; i++) {
        size_t largest = i;
        for (size_t k = i + 1; k < n; k++)
            largest = values[k] > values[largest] ? k : largest;
        exchange(&values[i], &values[largest]);
        for (size_t j = 0; largest != i && j < n; j++)
            exchange(&m[i * n + j], &m[largest * n + j]);
    }
}

int dp_eigen(double *m, size_t n, double *values, struct dp_err *err)
{
    double *space, most = 0;
    int exponent;
    space = dp_new(n, 4 * sizeof *space);
    for (size_t i = 0; i < n * n; i++)
        most = fmax(most, fabs(m[i]));
    frexp(most, &exponent);
    for (size_t i = 0; i < n * n; i++)
        m[i] = ldexp(m[i], -exponent);
    double *off_diagonal = space + 2 * n, *h = space + 3 * n;
    tridiagonal(m, n, values, off_diagonal, h, space);
    multiply(m, n, h, space);
    size_t steps = 0, last = n - 1; /* rows after `last` are done */
    for (; last > 0 && steps < 60 * n; steps++) {
        size_t first = last;
        while (first > 0 && !small(values, off_diagonal, first - 1))
            first--;
        if (first == last)
            last--;
        else
            step(m, n, values, off_diagonal, first, last);
    }
    sort(m, n, values);
    for (size_t i = 0; i < n; i++)
        values[i] = ldexp(values[i], exponent);
    free(space);
    return last == 0 ? DP_OK : dp_fail(err, DP_E_RUN, "the eigenvalues of %zu columns were not found", n);
}
