#include "priv/pld_compose.h"

#include <float.h>
#include <gsl/gsl_fft_halfcomplex.h>
#include <gsl/gsl_fft_real.h>

#include "base/init.h"
#include "base/mem.h"

static const double unit_roundoff = DBL_EPSILON / 2;

static void power(double *re, double *im, int64_t laps)
{
    double a = *re, b = *im, c = 1, d = 0;
    for (int64_t n = laps;;) {
        if (n & 1) {
            double t = c * a - d * b;
            d = c * b + d * a;
            c = t;
        }
        if ((n >>= 1) == 0)
            break;
        double t = a * a - b * b;
        b = 2 * a * b;
        a = t;
    }
    *re = c;
    *im = d;
}

/* |re + i im|. An underflow is too small to count: all transforms are at most about 1. */
static double length(double re, double im)
{
    return sqrt(re * re + im * im);
}

struct product {
    size_t n;
    double *value; /* half-complex: re 0, re 1, im 1, …, re n/2 */
    double *error; /* a bound on |error of value|, per frequency */
    double *next;  /* one lap of one part */
    double *rest;  /* its rare losses, NULL if they are in next, and their mass */
    double rest_mass;
    gsl_fft_real_wavetable *real;
    gsl_fft_halfcomplex_wavetable *half;
    gsl_fft_real_workspace *work;
};

static void product_free(struct product *p)
{
    free(p->value);
    free(p->error);
    free(p->next);
    free(p->rest);
    gsl_fft_real_wavetable_free(p->real);
    gsl_fft_halfcomplex_wavetable_free(p->half);
    gsl_fft_real_workspace_free(p->work);
}

static void product_new(struct product *p, size_t n)
{
    dp_init();
    *p = (struct product){.n = n,
                          .value = dp_new(n, sizeof(double)),
                          .error = dp_new(n / 2 + 1, sizeof(double)),
                          .next = dp_new(n, sizeof(double)),
                          .real = dp_got(gsl_fft_real_wavetable_alloc(n)),
                          .half = dp_got(gsl_fft_halfcomplex_wavetable_alloc(n)),
                          .work = dp_got(gsl_fft_real_workspace_alloc(n))};
}

static double transform_error(const struct product *p)
{
    return 24 * unit_roundoff * log2((double)p->n);
}

static void product_transform(struct product *p)
{
    gsl_fft_real_transform(p->next, 1, p->n, p->real, p->work);
}

/* Multiplies by the T-th power of the transform in next. A |f|^T below 1e-60 is not computed. The 2e-60 also cover the masses
   below e^-200 that are left out. */
static void product_take(struct product *p, int64_t laps, bool first)
{
    double e = transform_error(p), t = (double)laps, least = exp(-138 / t);
    for (size_t f = 0; f <= p->n / 2; f++) {
        size_t at = f == 0 ? 0 : 2 * f - 1;
        bool alone = f == 0 || f == p->n / 2;
        double re = p->next[at], im = alone ? 0 : p->next[at + 1], size = length(re, im) + e;
        double error = 2e-60, bound = 1e-60;
        if (size < least) {
            error += laps == 1 ? size : 0;
            re = im = 0;
        } else {
            double before = laps == 1 ? 1 : exp((t - 1) * log(size));
            bound = before * size;
            error += t * e * before + 8 * t * unit_roundoff * bound;
            power(&re, &im, laps);
        }
        if (!first) {
            double a = p->value[at], b = alone ? 0 : p->value[at + 1], other = length(a, b);
            error = p->error[f] * (bound + error) + other * error + 8 * unit_roundoff * other * bound;
            double c = a * re - b * im;
            im = a * im + b * re;
            re = c;
        }
        p->error[f] = error;
        p->value[at] = re;
        if (!alone)
            p->value[at + 1] = im;
    }
}

/* (a + ib)^T − 1 for a + ib = 1 + x of a small x. */
static void power_less_one(double x, double y, double t, double *re, double *im)
{
    double real = t * 0.5 * log1p(2 * x + x * x + y * y), angle = t * atan2(y, 1 + x);
    double half = sin(angle / 2);
    *re = expm1(real) * cos(angle) - 2 * half * half;
    *im = exp(real) * sin(angle);
}

/* value = (g + r)^T − g^T, g in next and r in rest, both transformed, with its error: to first order T M^{T−1} e_r from r and T
   (T − 1) |r| M^{T−2} e_g from g. M is a bound on |g| + |r|, errors included, so both are bounds. The rest is rounding: some
   units of T |r/g| M^T, or of T M^T if r is not small against g. */
static void product_take_rare(struct product *p, int64_t laps)
{
    double t = (double)laps, e = transform_error(p), e_rest = e * p->rest_mass * (1 + 1e-9), least = exp(-138 / t);
    for (size_t f = 0; f <= p->n / 2; f++) {
        size_t at = f == 0 ? 0 : 2 * f - 1;
        bool alone = f == 0 || f == p->n / 2;
        double a = p->next[at], b = alone ? 0 : p->next[at + 1], c = p->rest[at], d = alone ? 0 : p->rest[at + 1];
        double size = hypot(a, b), rare = hypot(c, d), all = size + rare + e + e_rest, re = 0, im = 0, error = 4e-60;
        if (all >= least) {
            double log_all = log(all), before = exp((t - 1) * log_all), bound = before * all;
            error += t * before * e_rest + t * (t - 1) * (rare + e_rest) * exp((t - 2) * log_all) * e;
            re = a;
            im = b;
            power(&re, &im, laps);
            if (rare < size / 2) {
                double more, turned, square = size * size;
                power_less_one((c * a + d * b) / square, (d * a - c * b) / square, t, &more, &turned);
                double product = re * more - im * turned;
                im = re * turned + im * more;
                re = product;
                error += 96 * unit_roundoff * t * (rare / size) * bound + 16 * t * unit_roundoff * hypot(re, im);
            } else {
                double x = a + c, y = b + d;
                power(&x, &y, laps);
                re = x - re;
                im = y - im;
                error += 32 * t * unit_roundoff * bound;
            }
        }
        p->error[f] = error;
        p->value[at] = re;
        if (!alone)
            p->value[at + 1] = im;
    }
}

/* Transforms the product back into mass; returns a bound on the error of each of its entries. */
static double product_invert(struct product *p, double *mass)
{
    double e = transform_error(p), total = 0;
    memcpy(mass, p->value, p->n * sizeof *mass);
    for (size_t f = 0; f <= p->n / 2; f++) {
        size_t at = f == 0 ? 0 : 2 * f - 1;
        bool alone = f == 0 || f == p->n / 2;
        double size = length(p->value[at], alone ? 0 : p->value[at + 1]);
        total += (alone ? 1 : 2) * (p->error[f] + e * (size + p->error[f]));
    }
    gsl_fft_halfcomplex_inverse(mass, 1, p->n, p->half, p->work);
    return total / (double)p->n;
}

/* The next 2^k, 5·2^k or 3·2^k. A pass of radix 3 or 5 has a rounding error of about 26 or 37 times 2^-53, less than the
   24·log2 of the radix that transform_error counts. */
static size_t points_for(int64_t wanted)
{
    size_t n = 16;
    while ((int64_t)n < wanted && n < DP_PLD_POINTS_MAX)
        n *= 2;
    if (n > 16 && (int64_t)(n / 8 * 5) >= wanted)
        return n / 8 * 5;
    return n > 16 && (int64_t)(n / 4 * 3) >= wanted ? n / 4 * 3 : n;
}

static size_t slot_of(int64_t j, size_t n)
{
    int64_t rest = j % (int64_t)n;
    return (size_t)(rest < 0 ? rest + (int64_t)n : rest);
}

static size_t slot(const struct dp_pld_composed *c, int64_t j)
{
    return slot_of(j, c->n);
}

/* The sum of the laps so far, and one lap of the part that comes next. */
struct dp_pld_running {
    struct product product;
    struct dp_pld_window window;
    bool add;
    double h, deviations, tail;
    int64_t bottom, top;
    double laps, log_scale, above, below, kappa, shift, infinite, small_scale;
    double least, most;             /* in steps of h */
    const struct dp_pld_part *part; /* product.next has a lap of this part */
    bool transformed;
    bool alone; /* it is the only lap: nothing was multiplied yet */
    struct {
        double log_scale, above, below, kappa, shift, small_scale;
        double least, most;
    } lap;
};

struct dp_pld_running *dp_pld_running_new(const struct dp_pld_part *parts, size_t count, bool add, double deviations, double h,
                                          const struct dp_pld_window *w)
{
    double least = 0, most = 0; /* in steps of h */
    for (size_t i = 0; i < count; i++) {
        struct dp_pld_range r = dp_pld_range(&parts[i], add, deviations);
        least += (double)parts[i].laps * floor((add ? -r.high : r.low) / h);
        most += (double)parts[i].laps * ceil((add ? -r.low : r.high) / h);
    }
    struct dp_pld_running *r = dp_new(1, sizeof *r);
    *r = (struct dp_pld_running){.window = *w, .add = add, .h = h, .deviations = deviations};
    if (count > 1 || parts[0].laps == 1)
        r->window.split = INFINITY;
    r->tail = erfc(deviations / sqrt(2));
    r->bottom = (int64_t)fmax(floor(w->bottom / h), least - 1);
    size_t n = points_for((int64_t)fmin(ceil(w->top / h), most) + 2 - r->bottom);
    r->top = r->bottom + (int64_t)n;
    product_new(&r->product, n);
    if (isfinite(r->window.split))
        r->product.rest = dp_new(n, sizeof(double));
    return r;
}

void dp_pld_running_free(struct dp_pld_running *r)
{
    product_free(&r->product);
    free(r);
}

/* One lap of the part, weighted, into product.next. */
static void load(struct dp_pld_running *r, const struct dp_pld_part *part)
{
    struct product *p = &r->product;
    struct dp_pld_cells cells;
    double s = r->window.s;
    dp_pld_cells_new(&cells, part, r->add, r->deviations, r->h);
    double k = dp_pld_cells_moment(&cells, s);
    double low = dp_pld_cells_loss(&cells, 0), high = dp_pld_cells_loss(&cells, cells.count - 1);
    memset(p->next, 0, p->n * sizeof *p->next);
    if (p->rest != NULL)
        memset(p->rest, 0, p->n * sizeof *p->rest);
    size_t small = 0; /* cells below the split */
    p->rest_mass = 0;
    for (size_t j = 0; j < cells.count; j++) {
        double loss = dp_pld_cells_loss(&cells, j), x = cells.log_mass[j] + s * loss - k;
        bool rare = p->rest != NULL && loss > r->window.split;
        small += !rare;
        if (x > -200) {
            (rare ? p->rest : p->next)[slot_of(cells.first + (int64_t)j, p->n)] += exp(x);
            p->rest_mass += rare ? exp(x) : 0;
        }
    }
    double all = (double)cells.count;
    cells.count = small;
    r->lap.small_scale = p->rest == NULL ? 0 : dp_pld_cells_moment(&cells, r->window.small);
    r->lap.small_scale += 1e-13 + 16 * unit_roundoff * (r->window.small + 1) * fmax(fabs(low), fabs(high));
    cells.count = (size_t)all;
    struct dp_pld_range range = dp_pld_range(part, r->add, r->deviations);
    r->part = part;
    r->transformed = false;
    r->lap.log_scale = k;
    r->lap.above = dp_pld_cells_moment(&cells, r->window.above);
    r->lap.below = dp_pld_cells_moment(&cells, r->window.below);
    r->lap.kappa = 1e-13 + 16 * unit_roundoff * (s + 1) * fmax(fabs(low), fabs(high));
    r->lap.shift = 32 * unit_roundoff * range.rounding;
    r->lap.least = floor((r->add ? -range.high : range.low) / r->h);
    r->lap.most = ceil((r->add ? -range.low : range.high) / r->h);
    dp_pld_cells_free(&cells);
}

static void multiply(struct dp_pld_running *r, int64_t laps, bool first)
{
    struct product *p = &r->product;
    if (!r->transformed)
        product_transform(p);
    r->transformed = true;
    if (p->rest == NULL) {
        product_take(p, laps, first);
        return;
    }
    gsl_fft_real_transform(p->rest, 1, p->n, p->real, p->work);
    product_take_rare(p, laps);
}

void dp_pld_running_take(struct dp_pld_running *r, const struct dp_pld_part *part, int64_t laps)
{
    double t = (double)laps;
    if (laps <= 0)
        return;
    if (r->alone)
        multiply(r, 1, true);
    if (r->part != part)
        load(r, part);
    r->alone = laps == 1 && r->laps == 0;
    if (!r->alone)
        multiply(r, laps, r->laps == 0);
    r->laps += t;
    r->log_scale += t * r->lap.log_scale;
    r->above += t * r->lap.above;
    r->below += t * r->lap.below;
    r->kappa += t * r->lap.kappa;
    r->shift += t * r->lap.shift;
    r->small_scale += t * r->lap.small_scale;
    r->least += t * r->lap.least;
    r->most += t * r->lap.most;
    if (dp_pld_has_gaussian(part))
        r->infinite += t * r->tail * (1 + 1e-9);
}

void dp_pld_running_read(struct dp_pld_running *r, struct dp_pld_composed *c)
{
    double s = r->window.s, above = r->window.above, below = r->window.below, h = r->h;
    *c = (struct dp_pld_composed){.h = h,
                                  .s = s,
                                  .n = r->product.n,
                                  .bottom = r->bottom,
                                  .top = r->top,
                                  .log_scale = r->log_scale,
                                  .shift = r->shift,
                                  .infinite = r->infinite};
    if (r->product.rest != NULL) {
        c->small = r->window.small;
        c->small_scale = r->small_scale;
    }
    c->mass = dp_new(c->n, sizeof *c->mass);
    if (r->alone) { /* nothing to compose, and no rounding error */
        memcpy(c->mass, r->product.next, c->n * sizeof *c->mass);
        c->error = 2e-60;
    } else {
        c->error = product_invert(&r->product, c->mass);
    }
    double top = (double)c->top * h, bottom = (double)c->bottom * h;
    if ((double)c->top <= r->most) {
        c->above = exp(r->above - above * top + r->kappa);
        c->wrapped += exp(r->above - c->log_scale - (above - s) * top + r->kappa);
    }
    c->open = (double)c->bottom > r->least;
    if (c->open)
        c->wrapped += exp(r->below - c->log_scale + (s - below) * bottom + r->kappa);
    c->factor = exp(r->kappa);
    c->deviation = h * sqrt(r->laps) / 2;
    c->drift = r->laps * h * h * exp(h) / 8;
    c->radius = fmin(2 * c->deviation + c->drift, r->laps * h);
    c->covered = c->radius < r->laps * h ? 1 - 2 * exp(-2) : 1;
}

void dp_pld_compose(struct dp_pld_composed *c, const struct dp_pld_part *parts, size_t count, bool add, double deviations,
                    double h, const struct dp_pld_window *w)
{
    struct dp_pld_running *running = dp_pld_running_new(parts, count, add, deviations, h, w);
    for (size_t i = 0; i < count; i++)
        dp_pld_running_take(running, &parts[i], parts[i].laps);
    dp_pld_running_read(running, c);
    dp_pld_running_free(running);
}

void dp_pld_composed_free(struct dp_pld_composed *c)
{
    free(c->mass);
    c->mass = NULL;
}

/* At a grid point: δ of the sums and Σ weights, both over the losses above it. Every term is positive, so that
   nothing cancels:  δ(ε − t) = e^{−t} δ(ε) + (1 − e^{−t}) Σ weights  up to the next point. */
struct reading {
    double delta, weights;
};

static double read_below(struct reading r, double t)
{
    return exp(-t) * r.delta - expm1(-t) * r.weights;
}

struct errors {
    double weights; /* sup over ε of Σ (1 − e^{−y}) e^{−sy} over the losses y above ε */
    double peak;    /* sup (1 − e^{−y}) e^{−sy} */
};

static double peak_of(double s)
{
    return s > 0 ? exp(-s * log1p(1 / s)) / (s + 1) : 1;
}

static struct errors errors_of(const struct dp_pld_composed *c)
{
    double n = (double)c->n, s = c->s;
    struct errors e;
    e.peak = fmin(peak_of(s), -expm1(-n * c->h));
    e.weights = fmin(n, s > 0 ? 1 / (c->h * s * (s + 1)) / e.peak + 1 : n) * e.peak;
    return e;
}

/* An upper bound on the share of δ(ε) that the runs without a rare lap have. */
static double without_rare(const struct dp_pld_composed *c, double epsilon)
{
    return c->small > 0 ? peak_of(c->small) * exp(c->small_scale - c->small * epsilon) * (1 + 1e-9) : 0;
}

/* A bound on δ(ε) from the reading; scale = e^{log_scale − s ε}. */
static double bound(const struct dp_pld_composed *c, struct errors e, bool upper, double seen, double scale, double epsilon)
{
    double noise = c->error * e.weights * scale * (1 + 1e-6) + 8 * unit_roundoff * (double)c->n * fabs(seen);
    if (upper)
        return c->factor * (seen + noise) + c->above + c->infinite + without_rare(c, epsilon);
    return (seen - noise - c->wrapped * e.peak * scale) / c->factor;
}

/* The point between a grid point and the next lower one at which the upper bound crosses delta. */
static double crossing(const struct dp_pld_composed *c, struct errors e, double delta, double epsilon, struct reading r)
{
    double near = 0, far = c->h;
    for (int i = 0; i < 40; i++) {
        double t = (near + far) / 2, scale = exp(c->log_scale - c->s * (epsilon - t));
        *(bound(c, e, true, read_below(r, t), scale, epsilon - t) <= delta ? &near : &far) = t;
    }
    return epsilon - near;
}

/* A bound on E[(Ξ − a)₊], Ξ of mean at most m and sub-Gaussian about it with σ: (x)₊ <= e^{λx−1}/λ. */
static double excess(const struct dp_pld_composed *c, double a)
{
    double x = (a - c->drift) / c->deviation, lambda = (x + sqrt(x * x + 4)) / 2;
    double by_variance = 0.5 + fmax(-x, 0);
    return c->deviation * (x < 0 ? by_variance : fmin(exp(-lambda * x + lambda * lambda / 2 - 1) / lambda, by_variance));
}

/* A bound on what discretisation adds to δ at ε: E[G((|S̃ − ε| − r)₊)]/(1 − p). */
static double time_value(const struct dp_pld_composed *c, double epsilon)
{
    double reach = 12 * c->deviation + c->radius + c->drift + c->shift;
    int64_t from = (int64_t)fmax((double)c->bottom, floor((epsilon - reach) / c->h));
    int64_t to = (int64_t)fmin((double)c->top - 1, ceil((epsilon + reach) / c->h));
    double sum = excess(c, 12 * c->deviation + c->drift) + c->above * excess(c, 0);
    if (c->small > 0) /* runs without a rare lap are not in mass; they may be near epsilon */
        sum += excess(c, 0) * exp(fmin(c->small_scale - c->small * (epsilon - reach), 0));
    if (from == c->bottom && c->open) /* all runs that may be below the window */
        sum += excess(c, fmax(epsilon - (double)c->bottom * c->h - c->radius - c->shift, 0));
    /* Adds blocks of points that are much narrower than the deviation: each block at its nearest end, with its largest
       weight. */
    int64_t block = 1 + (int64_t)(c->deviation / c->h / 64);
    for (int64_t j = from; j <= to; j += block) {
        int64_t last = j + block - 1 < to ? j + block - 1 : to;
        double low = (double)j * c->h, high = (double)last * c->h, seen = 0;
        double away = fmax(fmax(low - epsilon, epsilon - high) - c->radius - c->shift, 0);
        for (int64_t i = j; i <= last; i++)
            seen += fabs(c->mass[slot(c, i)]) + c->error;
        sum += exp(c->log_scale - c->s * low) * seen * excess(c, away);
    }
    return c->factor * c->factor * sum / c->covered * (1 + 1e-6);
}

void dp_pld_composed_epsilon(const struct dp_pld_composed *c, double delta, double *upper, double *lower)
{
    struct errors e = errors_of(c);
    struct reading r = {0, 0};
    double stay = exp(-c->h), leave = -expm1(-c->h), mass = 0;
    bool above = true;
    int64_t next = 0, stride = 1 + (int64_t)(c->deviation / c->h / 16);
    *upper = (double)c->bottom * c->h > 0 ? (double)c->bottom * c->h + c->shift : -INFINITY;
    if (lower != NULL)
        *lower = -INFINITY;
    for (int64_t j = c->top - 1; j >= c->bottom; j--) {
        double epsilon = (double)j * c->h, scale = exp(c->log_scale - c->s * epsilon);
        r.weights += mass;
        double delta_here = stay * r.delta + leave * r.weights;
        if (above && !(bound(c, e, true, delta_here, scale, epsilon) <= delta)) {
            *upper = j == c->top - 1 ? INFINITY : crossing(c, e, delta, epsilon + c->h, r) + c->shift;
            above = false;
            next = j;
            if (lower == NULL)
                return;
        }
        if (!above && j <= next) {
            double seen = bound(c, e, false, delta_here, scale, epsilon);
            if (seen > delta && seen - time_value(c, epsilon) > delta) {
                *lower = epsilon - c->shift;
                return;
            }
            next = j - stride;
            stride += stride / 4;
        }
        if (epsilon <= 0)
            return;
        r.delta = delta_here;
        mass = c->mass[slot(c, j)] * scale;
    }
}

void dp_pld_composed_delta(const struct dp_pld_composed *c, double epsilon, double *upper, double *lower)
{
    struct errors e = errors_of(c);
    double stay = exp(-c->h), leave = -expm1(-c->h);
    /* Below the window δ is at least δ at the bottom of the window. */
    double bounds[2], asked[2] = {fmax(epsilon + c->shift, (double)c->bottom * c->h), epsilon - c->shift};
    for (int up = 0; up < 2; up++) {
        struct reading r = {0, 0};
        if (asked[up] >= (double)c->top * c->h) {
            bounds[up] = up ? c->above + c->infinite + without_rare(c, asked[up]) : 0;
            continue;
        }
        if (asked[up] < (double)c->bottom * c->h) {
            bounds[up] = 1;
            continue;
        }
        for (int64_t j = c->top - 1; j >= c->bottom; j--) {
            double loss = (double)j * c->h, scale = exp(c->log_scale - c->s * loss);
            if (loss <= asked[up] || j == c->bottom) {
                double t = fmin(fmax(loss + c->h - asked[up], 0), c->h);
                scale = exp(c->log_scale - c->s * asked[up]);
                bounds[up] = bound(c, e, up, read_below(r, t), scale, asked[up]);
                break;
            }
            r.delta = stay * r.delta + leave * r.weights;
            r.weights += c->mass[slot(c, j)] * scale;
        }
    }
    *upper = bounds[1];
    *lower = bounds[0] > 0 ? bounds[0] - time_value(c, asked[0]) : 0;
}
