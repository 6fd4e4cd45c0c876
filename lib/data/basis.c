#include "data/basis.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/number.h"

#define INTERVALS 8
#define DECADES3 1000

const char *const dp_bases[] = {NULL, "line", "hats", "bins", "cosines", "products"};

void dp_basis_free(struct dp_basis *b)
{
    free(b->edge);
    free(b->place);
    free(b->share);
    *b = (struct dp_basis){0};
}

static double bent(double x)
{
    return copysign(log1p(fabs(x)), x);
}

double dp_basis_spread(double low, double high, size_t i, size_t intervals)
{
    double part = (double)i / (double)intervals;
    if (i == 0 || i == intervals)
        return i == 0 ? low : high;
    if (low > 0 && high / low >= DECADES3)
        return low * pow(high / low, part);
    if (low <= 0 && fmax(-low, high) >= DECADES3) {
        double at = bent(low) + part * (bent(high) - bent(low));
        return copysign(expm1(fabs(at)), at);
    }
    return low + part * (high - low);
}

/* --- schemas ---------------------------------------------------------------------------------------------------------- */

enum dp_basis_kind dp_basis_of(const char *text)
{
    int kind = text == NULL ? DP_BASIS_NONE : DP_BASIS_PRODUCTS;
    while (kind > DP_BASIS_NONE && strcmp(text, dp_bases[kind]) != 0)
        kind--;
    return (enum dp_basis_kind)kind;
}

/* Edges from a number of intervals. False if the bounds are so close that edges coincide. */
static bool spread(struct dp_basis *b, size_t intervals, double low, double high)
{
    b->intervals = intervals;
    for (size_t i = 0; i <= intervals; i++) {
        b->edge[i] = dp_basis_spread(low, high, i, intervals);
        if (i > 0 && !(b->edge[i] > b->edge[i - 1]))
            return false;
    }
    return true;
}

void dp_basis_default(struct dp_basis *b, enum dp_basis_kind kind, double low, double high)
{
    b->edge = dp_new(INTERVALS + 1, sizeof *b->edge);
    if (kind == DP_BASIS_PRODUCTS)
        kind = DP_BASIS_COSINES;
    b->kind = spread(b, INTERVALS, low, high) ? kind : DP_BASIS_LINE;
}

/* Edges from a list, to which the bounds are added. */
static int listed(struct dp_basis *b, const json_t *list, double low, double high, struct dp_err *err)
{
    size_t count = 0;
    b->edge[count++] = low;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *knot = json_array_get(list, i);
        double value = json_number_value(knot);
        if (!json_is_number(knot))
            return dp_fail(err, DP_E_RUN, "a knot is not a number");
        if (!(value >= low && value <= high))
            return dp_fail(err, DP_E_RUN, "the knot %g is outside the bounds, %g and %g", value, low, high);
        if (i == 0 && value == low)
            continue;
        if (!(value > b->edge[count - 1]))
            return dp_fail(err, DP_E_RUN, "the knots do not ascend: %g follows %g", value, b->edge[count - 1]);
        b->edge[count++] = value;
    }
    if (b->edge[count - 1] < high)
        b->edge[count++] = high;
    b->intervals = count - 1;
    return DP_OK;
}

/* Reads "parts" and "shares" of bins. */
static int read_parts(struct dp_basis *b, const json_t *column, double low, double high, struct dp_err *err)
{
    const json_t *parts = json_object_get(column, "parts"), *shares = json_object_get(column, "shares");
    const size_t count = json_array_size(shares);
    bool good = b->kind == DP_BASIS_BINS && count > 0 && count <= DP_BASIS_MOST && json_array_size(parts) == count + 1;
    if (parts == NULL && shares == NULL)
        return DP_OK;
    b->place = dp_new(count + 1, sizeof *b->place);
    b->share = dp_new(count + 1, sizeof *b->share);
    for (size_t i = 0; good && i <= count; i++) {
        const json_t *place = json_array_get(parts, i), *share = json_array_get(shares, i < count ? i : 0);
        b->place[i] = json_number_value(place);
        b->share[i] = i < count ? json_number_value(share) : 0;
        good = json_is_number(place) && json_is_number(share) && b->share[i] >= 0 && b->share[i] <= 1 &&
               b->place[i] >= (i > 0 ? b->place[i - 1] : low) && b->place[i] <= high;
    }
    if (!good || b->place[0] > low || b->place[count] < high)
        return dp_fail(err, DP_E_RUN,
                       "bins may have \"parts\", numbers that ascend from bound to bound, and a share from 0 to 1 for each two "
                       "of them in \"shares\"");
    b->parts = count;
    return DP_OK;
}

static int read_knots(struct dp_basis *b, const json_t *column, double low, double high, struct dp_err *err)
{
    const json_t *basis = json_object_get(column, "basis"), *knots = json_object_get(column, "knots");
    double intervals = knots == NULL ? INTERVALS : json_is_array(knots) ? (double)json_array_size(knots) : 0;
    if (json_is_integer(knots))
        intervals = json_number_value(knots);
    if (basis == NULL)
        return knots == NULL ? DP_OK : dp_fail(err, DP_E_RUN, "\"knots\" is for a \"basis\"");
    b->kind = dp_basis_of(json_string_value(basis));
    if (b->kind == DP_BASIS_NONE || b->kind == DP_BASIS_PRODUCTS)
        return dp_fail(err, DP_E_RUN, "\"basis\" is line, hats, bins or cosines");
    if (b->kind == DP_BASIS_LINE)
        return knots == NULL ? DP_OK : dp_fail(err, DP_E_RUN, "a line has no \"knots\"");
    if (!(low < high))
        return dp_fail(err, DP_E_RUN, "a \"basis\" needs \"bounds\"");
    if (!(intervals >= 1 && intervals <= DP_BASIS_MOST))
        return dp_fail(err, DP_E_RUN, "\"knots\" is a whole number from 1 to %d, or a list of that many", DP_BASIS_MOST);
    b->edge = dp_new((size_t)intervals + 2, sizeof *b->edge);
    if (json_is_array(knots))
        return listed(b, knots, low, high, err);
    return spread(b, (size_t)intervals, low, high)
               ? DP_OK
               : dp_fail(err, DP_E_RUN, "the bounds are too close for %d knots", (int)intervals);
}

int dp_basis_read(struct dp_basis *b, const json_t *column, double low, double high, struct dp_err *err)
{
    return read_knots(b, column, low, high, err) ?: read_parts(b, column, low, high, err);
}

static json_t *numbers(const double *v, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, dp_json_number(v[i]));
    return list;
}

void dp_basis_put(const struct dp_basis *b, json_t *column)
{
    if (b->kind == DP_BASIS_NONE)
        return;
    json_object_set_new(column, "basis", json_string(dp_bases[b->kind]));
    if (b->kind == DP_BASIS_LINE)
        return;
    json_object_set_new(column, "knots", numbers(b->edge, b->intervals + 1));
    if (b->parts == 0)
        return;
    json_object_set_new(column, "parts", numbers(b->place, b->parts + 1));
    json_object_set_new(column, "shares", numbers(b->share, b->parts));
}

/* --- features --------------------------------------------------------------------------------------------------------- */

size_t dp_basis_count(const struct dp_basis *b)
{
    switch (b->kind) {
    case DP_BASIS_HATS:
        return b->intervals + 1;
    case DP_BASIS_BINS:
        return b->intervals;
    case DP_BASIS_COSINES:
        return DP_BASIS_COSINE_COUNT;
    default:
        return 0;
    }
}

/* The last interval whose lower edge is not above the number. */
static size_t interval_of(const struct dp_basis *b, double value)
{
    size_t first = 0, last = b->intervals - 1;
    while (first < last) {
        size_t middle = (first + last + 1) / 2;
        if (value >= b->edge[middle])
            first = middle;
        else
            last = middle - 1;
    }
    return first;
}

/* cos(π k u) / k by cos((k + 1) t) = 2 cos t cos k t − cos((k − 1) t). */
static void cosines(double u, double *x)
{
    double first = cos(3.14159265358979323846 * u), before = 1, now = first;
    for (int k = 1; k <= DP_BASIS_COSINE_COUNT; k++) {
        double after = 2 * first * now - before;
        x[k - 1] = now / k;
        before = now;
        now = after;
    }
}

void dp_basis_features(const struct dp_basis *b, double value, double *x)
{
    if (dp_basis_count(b) == 0)
        return;
    size_t i = interval_of(b, value);
    double part = (value - b->edge[i]) / (b->edge[i + 1] - b->edge[i]);
    memset(x, 0, dp_basis_count(b) * sizeof *x);
    if (b->kind == DP_BASIS_HATS) {
        x[i] = 1 - part;
        x[i + 1] = part;
    } else if (b->kind == DP_BASIS_BINS) {
        x[i] = 1;
    } else {
        cosines(((double)i + part) / (double)b->intervals, x);
    }
}

double dp_basis_norm2(const struct dp_basis *b)
{
    double sum = b->kind == DP_BASIS_HATS || b->kind == DP_BASIS_BINS;
    for (int k = 1; b->kind == DP_BASIS_COSINES && k <= DP_BASIS_COSINE_COUNT; k++)
        sum += 1.0 / k / k;
    return sum;
}

double dp_basis_norm2_of(const struct dp_basis *b, double value)
{
    double x[DP_BASIS_MOST + 2], sum = 0;
    dp_basis_features(b, value, x);
    for (size_t k = 0; k < dp_basis_count(b); k++)
        sum += x[k] * x[k];
    return sum;
}

const char *dp_basis_name(const struct dp_basis *b, size_t k, char text[DP_BASIS_NAME])
{
    if (b->kind == DP_BASIS_HATS)
        snprintf(text, DP_BASIS_NAME, " at %s", DP_NUMBER(b->edge[k]));
    else if (b->kind == DP_BASIS_BINS)
        snprintf(text, DP_BASIS_NAME, " from %s to %s", DP_NUMBER(b->edge[k]), DP_NUMBER(b->edge[k + 1]));
    else
        snprintf(text, DP_BASIS_NAME, " cosine %zu", k + 1);
    return text;
}
