#include "priv/pld_invert.h"

#include <float.h>

#include "base/init.h"
#include "base/mem.h"
#include "math/bracket.h"

static const double unit_roundoff = DBL_EPSILON / 2;

enum { BANDS = 48, LANES = 8, TURNED = 512 };

/* One lap of a part. */
struct law {
    double log_scale, above, below; /* ln E e^{xL} at x = s, and at the x above and below s */
    double kappa, infinite, most;   /* most: the largest |loss| */
    double *size, *angle;           /* ln f(ω_k); with a cut, of g */
    double *bound, *error;          /* ln of a bound on |f|; the error of ln f */
    double spread[BANDS];           /* ln of a bound on |f| in each band */
    double smooth[BANDS + 1];       /* and beyond the start of each band; with a cut, of the rare part */
    double *rare_re, *rare_im;      /* r(ω_k) */
    double rare_error, rare_more;
    double rare_above, rare_below;  /* ln of r/f at the x above and below s */
    double infinite_others, others; /* g(L > most), ln ∫ e^{xL} g of the rest */
};

struct dp_pld_inverse {
    struct dp_pld_contour at;
    double step;
    size_t count;
    struct law *law;
    /* The run: f(ω) / ((s + iω)(s + 1 + iω)), and everything else that does not depend on epsilon */
    double *re, *im;
    double log_scale, above, below, kappa, infinite, others;
    double noise, size; /* of the sum over frequencies: its error, and Σ of its terms */
    double beyond[BANDS + 1];
};

/* --- one lap ----------------------------------------------------------------------------------------------------- */

/* ln E e^{x loss}. */
static double log_moment(const struct dp_pld_panels *panels, double x)
{
    size_t nodes = panels->count * DP_PLD_PANEL;
    double peak = panels->atom > 0 ? 0 : -INFINITY, sum = 0;
    for (size_t j = 0; j < nodes; j++)
        peak = fmax(peak, panels->log_mass[j] + x * panels->loss[j]);
    for (size_t i = 0; i < nodes; i += DP_PLD_PANEL) {
        double part = 0;
        for (size_t j = i; j < i + DP_PLD_PANEL; j++)
            part += exp(panels->log_mass[j] + x * panels->loss[j] - peak);
        sum += part;
    }
    return peak + log(sum + panels->atom * exp(-peak));
}

/* ln of the rare part of E e^{x loss}. */
static double log_rare(const struct dp_pld_panels *panels, double x)
{
    size_t nodes = panels->count * DP_PLD_PANEL;
    double peak = -INFINITY, sum = 0;
    for (size_t j = 0; j < nodes; j++)
        if (panels->rare[j] > 0)
            peak = fmax(peak, panels->log_mass[j] + x * panels->loss[j]);
    for (size_t j = 0; j < nodes; j++)
        sum += panels->rare[j] > 0 ? panels->rare[j] * exp(panels->log_mass[j] + x * panels->loss[j] - peak) : 0;
    return sum > 0 ? peak + log(sum) + 1e-12 : -INFINITY;
}

/* Adds E e^{iω loss} at all frequencies: rotates each node's weight once for each frequency. Sanitizers do not look at it: it
   is nearly all of the time of a price, and they would make it twenty times slower. */
__attribute__((no_sanitize("address", "undefined"))) static void
turn_some(double *sums_re, double *sums_im, const double *loss, const double *weight, size_t nodes, double step, size_t n)
{
    double re[TURNED], im[TURNED], by_re[TURNED], by_im[TURNED];
    for (size_t j = 0; j < nodes; j++) {
        re[j] = weight[j];
        im[j] = 0;
        by_re[j] = cos(step * loss[j]);
        by_im[j] = sin(step * loss[j]);
    }
    for (size_t k = 0; k < n; k++) {
        double sum_re[LANES] = {0}, sum_im[LANES] = {0};
        for (size_t j = 0; j < nodes; j += LANES)
            for (size_t l = 0; l < LANES; l++) {
                double x = re[j + l], y = im[j + l];
                sum_re[l] += x;
                sum_im[l] += y;
                re[j + l] = x * by_re[j + l] - y * by_im[j + l];
                im[j + l] = x * by_im[j + l] + y * by_re[j + l];
            }
        for (size_t l = 0; l < LANES; l++) {
            sums_re[k] += sum_re[l];
            sums_im[k] += sum_im[l];
        }
    }
}

/* E e^{iω loss} at all frequencies, a few nodes at a time, so that they stay in the cache. */
static void turn(double *re, double *im, const double *loss, const double *weight, size_t nodes, double step, size_t n)
{
    for (size_t k = 0; k < n; k++)
        re[k] = im[k] = 0;
    for (size_t j = 0; j < nodes; j += TURNED)
        turn_some(re, im, loss + j, weight + j, nodes - j < TURNED ? nodes - j : TURNED, step, n);
}

/* Turns f into its logarithm. The error of the k-th frequency is error + k more. */
static void to_logarithms(struct law *law, size_t n, double atom, double error, double more)
{
    for (size_t k = 0; k < n; k++) {
        double re = law->size[k] + atom, im = law->angle[k], size = fmax(sqrt(re * re + im * im), 1e-150),
               e = error + (double)k * more;
        law->size[k] = log(size);
        law->angle[k] = atan2(im, re);
        law->bound[k] = log(size + e);
        law->error[k] = e / size + 4 * unit_roundoff * (5 + fabs(law->size[k]));
    }
}

/* A set of losses: its bounds, and its share of Σ w, Σ w x and Σ w x², x from `base`. */
struct set {
    double low, high, base, mass, first, second;
};

/* w² v of the set. */
static double pairs_of(const struct set *set)
{
    return fmax(set->mass * set->second * (1 - 1e-12) - set->first * set->first, 0);
}

/* Extends the set to the losses from low to high if its width stays at most `reach`. Otherwise begins a new set and returns w²
   v of the old set. */
static double widen(struct set *set, double low, double high, double reach)
{
    double done = 0;
    if (fmax(set->high, high) - fmin(set->low, low) > reach || set->mass == 0) {
        done = pairs_of(set);
        *set = (struct set){low, high, low, 0, 0, 0};
    }
    set->low = fmin(set->low, low);
    set->high = fmax(set->high, high);
    return done;
}

/* The same for the losses between two nodes that are farther apart than `reach`. density: the least density there. */
static double split(struct set *set, double low, double high, double density, double reach)
{
    double width = high - low, middle, mass = density * width;
    if (width > reach)
        return floor(width / reach) * density * density * reach * reach * reach * reach / 12;
    double done = widen(set, low, high, reach);
    middle = (low + high) / 2 - set->base;
    set->mass += mass;
    set->first += mass * middle;
    set->second += mass * (middle * middle + width * width / 12);
    return done;
}

/* Σ w_I² v_I: each I is a run of panels at most `reach` wide together, or a part of a panel that is wider itself. */
static double spread_of(const struct dp_pld_panels *panels, const double *weight, const double *least, double reach)
{
    struct set set = {INFINITY, -INFINITY, 0, 0, 0, 0};
    double sum = 0;
    for (size_t i = 0; i < panels->count; i++) {
        const double *loss = panels->loss + i * DP_PLD_PANEL, *w = weight + i * DP_PLD_PANEL, *h = least + i * DP_PLD_PANEL;
        double a = fmin(loss[0], loss[DP_PLD_PANEL - 1]), b = fmax(loss[0], loss[DP_PLD_PANEL - 1]);
        double edge = 0.05 * (b - a); /* the panel exceeds its nodes by less than this */
        if (b - a + 2 * edge > reach) {
            for (int j = 0; j + 1 < DP_PLD_PANEL; j++)
                sum += split(&set, fmin(loss[j], loss[j + 1]), fmax(loss[j], loss[j + 1]), fmin(h[j], h[j + 1]), reach);
            continue;
        }
        sum += widen(&set, a - edge, b + edge, reach);
        for (int j = 0; j < DP_PLD_PANEL; j++) {
            double x = loss[j] - set.base;
            set.mass += w[j];
            set.first += w[j] * x;
            set.second += w[j] * x * x;
        }
    }
    return (sum + pairs_of(&set)) * (1 - 1e-6);
}

/* The bounds on |f| beyond the last frequency. `least` has room for each node. */
static void bound_bands(struct law *law, const struct dp_pld_panels *panels, const double *weight, double *least, double s,
                        double atom, double from)
{
    double most = 0;
    for (size_t j = 0; j < panels->count * DP_PLD_PANEL; j++) {
        least[j] = exp(panels->log_density[j] + s * panels->loss[j] - law->log_scale - 0.25);
        most = fmax(most, least[j]);
    }
    double variation = 4 * panels->pieces * exp(0.5) * most * (1 + 1e-6);
    for (int i = 0; i <= BANDS; i++, from *= M_SQRT2) {
        law->smooth[i] = log(fmin(variation / from + atom * (1 + 1e-6), 1));
        if (i == BANDS)
            break;
        law->spread[i] = law->smooth[i];
        if (law->smooth[i] < -1) /* the other bound is rarely larger */
            continue;
        double spread = -2 * from * from / (M_PI * M_PI) * spread_of(panels, weight, least, M_PI / (M_SQRT2 * from));
        law->spread[i] = fmin(spread, law->spread[i]);
    }
}

/* The least of arg(1 − q + q e^{v + i·turned}) on a panel: at its lower end. For coins q e^v is at least (1 − q)(e^L − 1). */
static double angle_of(const struct dp_pld_panels *panels, size_t panel, const struct dp_pld_part *part, double turned)
{
    double q = part->rate;
    const double *loss = panels->loss + panel * DP_PLD_PANEL;
    double least = loss[0] - 0.05 * (loss[DP_PLD_PANEL - 1] - loss[0]), up = fmax(expm1(least) + q, 0);
    if (part->kind == DP_PLD_GAUSSIAN_COINS)
        up = fmax((1 - q) * expm1(least), 0);
    return fmax(atan2(up * sin(turned), (1 - q) + up * cos(turned)) * (1 - 1e-9) - 1e-15, 0);
}

/* Coins: ln of the largest |b(u + iτ)/b(u)|^{−s} for μτ = turned. */
static double log_other(const struct dp_pld_part *part, double s, double turned)
{
    double q = part->rate, up = q * exp(-pow(dp_pld_shift(part), 2) / 2), share = fmin(up / (1 - q + up), 0.5);
    return part->kind == DP_PLD_GAUSSIAN_COINS ? -s / 2 * log1p(-4 * share * (1 - share) * pow(sin(turned / 2), 2)) : 0;
}

/* An upper bound on |r| from the beginning of each band on: the least over some τ. `rare` has r of each panel, `all` their sum;
   `angle` has room for as many numbers. */
static void bound_rare(struct law *law, const struct dp_pld_panels *panels, const double *rare, double all, double *angle,
                       const struct dp_pld_part *part, const struct dp_pld_contour *at, double from)
{
    enum { SHIFTS = 8 };
    for (int i = 0; i <= BANDS; i++)
        law->smooth[i] = log(all + 1e-60) + 1e-6;
    for (int m = 1; m <= SHIFTS; m++) {
        double turned = 0.9 * M_PI * m / SHIFTS, tau = turned / dp_pld_shift(part), omega = from, sum = INFINITY;
        double grown = tau * tau / 2 + pow(turned / at->cut.width, 2) / 2 + log_other(part, at->s, turned) + 1e-6,
               edge = tau * panels->edge * exp(-law->log_scale) + 1e-60;
        for (size_t j = 0; j < panels->count; j++)
            angle[j] = rare[j] > 0 ? angle_of(panels, j, part, turned) : 0;
        for (int i = 0; i <= BANDS; i++, omega *= M_SQRT2) {
            if (sum > 1.1 * edge) {
                sum = edge;
                for (size_t j = 0; j < panels->count; j++)
                    sum += rare[j] > 0 ? rare[j] * exp(-omega * angle[j]) : 0;
            }
            law->smooth[i] = fmin(law->smooth[i], log(sum) + grown);
        }
    }
}

/* The part of a lap that is not rare, for Chernoff. */
static void bound_others(struct law *law, const struct dp_pld_panels *panels, const struct dp_pld_contour *at, double kappa)
{
    double rest = panels->atom;
    for (size_t i = 0; i < panels->count; i++) {
        const double *loss = panels->loss + i * DP_PLD_PANEL, *log_mass = panels->log_mass + i * DP_PLD_PANEL,
                     *rare = panels->rare + i * DP_PLD_PANEL;
        bool infinite = fmin(loss[0], loss[DP_PLD_PANEL - 1]) > at->most;
        double sum = 0;
        for (int j = 0; j < DP_PLD_PANEL; j++)
            sum += exp(log_mass[j] + (infinite ? 0 : at->x * loss[j])) * (1 + DBL_EPSILON - rare[j]);
        *(infinite ? &law->infinite_others : &rest) += sum;
    }
    law->infinite_others *= 1 + 1e-9;
    law->others = log(rest) + kappa;
}

/* Puts the nodes of panels that have a weight into `loss` and `kept`; returns their number. */
static size_t keep(const struct dp_pld_panels *panels, const double *weight, double *loss, double *kept)
{
    size_t n = 0;
    for (size_t i = 0; i < panels->count * DP_PLD_PANEL; i += DP_PLD_PANEL) {
        double most = 0;
        for (size_t j = i; j < i + DP_PLD_PANEL; j++)
            most = fmax(most, weight[j]);
        for (size_t j = i; most > 0 && j < i + DP_PLD_PANEL; j++, n++) {
            loss[n] = panels->loss[j];
            kept[n] = weight[j];
        }
    }
    return n;
}

/* Computes r at all frequencies and beyond, and leaves g in `weight`. `room` has three times as many numbers as there are
   nodes. */
static void take_apart(struct law *law, const struct dp_pld_panels *panels, double *weight, const struct dp_pld_part *part,
                       const struct dp_pld_contour *at, double step, double *room)
{
    size_t nodes = panels->count * DP_PLD_PANEL, n = at->frequencies;
    double *rare = room, *loss = rare + nodes, *kept = loss + nodes, all = 0, fraction = law->rare_error;
    for (size_t j = 0; j < nodes; j++) {
        rare[j] = weight[j] * panels->rare[j];
        weight[j] *= 1 - panels->rare[j];
    }
    size_t count = keep(panels, rare, loss, kept);
    turn(law->rare_re, law->rare_im, loss, kept, count, step, n);
    for (size_t i = 0; i < panels->count; i++) {
        double sum = 0;
        for (size_t j = i * DP_PLD_PANEL; j < (i + 1) * DP_PLD_PANEL; j++)
            sum += rare[j];
        rare[i] = sum;
        all += sum;
    }
    law->rare_error = fraction * all;
    law->rare_more *= all;
    law->rare_above = log_rare(panels, at->above) - law->above;
    law->rare_below = log_rare(panels, at->below) - law->below;
    bound_rare(law, panels, rare, all, loss, part, at, step * (double)n);
    bound_others(law, panels, at, 1e-13 + 16 * unit_roundoff * (at->x + 1) * law->most);
}

/* False if a lap would take too many panels. */
static bool law_new(struct law *law, const struct dp_pld_part *part, bool add, double deviations,
                    const struct dp_pld_contour *at, double step)
{
    struct dp_pld_panels panels;
    struct dp_pld_range range = dp_pld_range(part, add, deviations);
    size_t n = at->frequencies;
    dp_pld_panels_new(&panels, part, add, deviations, at->s, at->above, step * (double)n, at->cut);
    if (panels.count == 0)
        return false;
    size_t nodes = panels.count * DP_PLD_PANEL;
    double *weight = dp_new(4 * nodes, sizeof *weight), *loss = weight + nodes, *kept = loss + nodes;
    law->size = dp_new(6 * n, sizeof *law->size);
    law->angle = law->size + n;
    law->bound = law->angle + n;
    law->error = law->bound + n;
    law->rare_re = law->error + n;
    law->rare_im = law->rare_re + n;
    law->most = fmax(fabs(range.low), fabs(range.high));
    law->log_scale = log_moment(&panels, at->s);
    law->above = log_moment(&panels, at->above);
    law->below = log_moment(&panels, at->below);
    law->kappa = 1e-13 + 16 * unit_roundoff * (at->above + 1) * law->most;
    law->infinite = erfc(deviations / sqrt(2)) * (1 + 1e-9);
    law->rare_error = 2 * law->kappa + (double)(nodes / LANES + 2 * LANES) * unit_roundoff;
    law->rare_more = (8 + step * law->most + 16 * step * range.rounding) * unit_roundoff;
    for (size_t j = 0; j < nodes; j++)
        weight[j] = exp(panels.log_mass[j] + at->s * panels.loss[j] - law->log_scale);
    double atom = panels.atom * exp(-law->log_scale), error = law->rare_error, more = law->rare_more;
    if (at->cut.level > 0)
        take_apart(law, &panels, weight, part, at, step, loss);
    else
        bound_bands(law, &panels, weight, loss, at->s, atom, step * (double)n);
    size_t count = keep(&panels, weight, loss, kept);
    turn(law->size, law->angle, loss, kept, count, step, n);
    to_logarithms(law, n, atom, error, more);
    free(weight);
    dp_pld_panels_free(&panels);
    return true;
}

struct dp_pld_inverse *dp_pld_inverse_new(const struct dp_pld_part *parts, size_t count, bool add, double deviations,
                                          const struct dp_pld_contour *contour)
{
    dp_init();
    struct dp_pld_inverse *v = dp_new(1, sizeof *v);
    *v = (struct dp_pld_inverse){.at = *contour, .step = 2 * M_PI / contour->period, .count = count};
    v->law = dp_new(count, sizeof *v->law);
    v->re = dp_new(2 * contour->frequencies, sizeof *v->re);
    v->im = v->re + contour->frequencies;
    for (size_t i = 0; i < count; i++)
        if (!law_new(&v->law[i], &parts[i], add, fmax(deviations, contour->deviations), contour, v->step)) {
            dp_pld_inverse_free(v);
            return NULL;
        }
    return v;
}

void dp_pld_inverse_free(struct dp_pld_inverse *v)
{
    if (v == NULL)
        return;
    for (size_t i = 0; i < v->count; i++)
        free(v->law[i].size);
    free(v->law);
    free(v->re);
    free(v);
}

/* --- all laps ---------------------------------------------------------------------------------------------------- */

/* f of all laps at the k-th frequency, and its error. Below 1e-60 it is not computed. */
static double take(const struct dp_pld_inverse *v, const struct dp_pld_part *parts, size_t k, double *re, double *im)
{
    double size = 0, angle = 0, bound = 0, error = 0;
    for (size_t p = 0; p < v->count; p++) {
        double t = (double)parts[p].laps;
        size += t * v->law[p].size[k];
        angle += t * v->law[p].angle[k];
        bound += t * v->law[p].bound[k];
        error += t * v->law[p].error[k];
    }
    *re = *im = 0;
    if (bound < -138)
        return 1e-59;
    size = exp(size);
    *re = size * cos(angle);
    *im = size * sin(angle);
    return fmin(size * expm1(error), size + exp(bound) * (1 + error)) + 1e-59;
}

struct complex {
    double re, im;
};

/* ln(1 + r/g) of one lap at the k-th frequency, and its error: infinite where it is not computed. */
static struct complex log_ratio(const struct law *law, size_t k, double *error)
{
    double turned = exp(-law->size[k]), c = turned * cos(law->angle[k]), d = -turned * sin(law->angle[k]);
    double x = law->rare_re[k] * c - law->rare_im[k] * d, y = law->rare_re[k] * d + law->rare_im[k] * c;
    double ratio = sqrt(x * x + y * y), square = x * x + y * y + 2 * x, left = sqrt(fmax(1 + square, 0));
    double off = (law->rare_error + (double)k * law->rare_more) * turned + ratio * (law->error[k] + 16 * unit_roundoff);
    if (!(off < 1e-3 * left && law->error[k] < 1e-3)) {
        *error = INFINITY;
        return (struct complex){0, 0};
    }
    struct complex z = {0.5 * log1p(square), atan2(y, 1 + x)};
    *error = 1.01 * off / left + 8 * unit_roundoff * ratio / (left * left) + 4 * unit_roundoff * (fabs(z.re) + fabs(z.im));
    return z;
}

/* The same for f^T − g^T of all laps. */
static double take_rare(const struct dp_pld_inverse *v, const struct dp_pld_part *parts, size_t k, double *re, double *im)
{
    double size = 0, angle = 0, error = 0, rare_error = 0, most = 0;
    struct complex sum = {0, 0};
    *re = *im = 0;
    for (size_t p = 0; p < v->count; p++) {
        const struct law *law = &v->law[p];
        double t = (double)parts[p].laps, off;
        struct complex z = log_ratio(law, k, &off);
        size += t * law->size[k];
        angle += t * law->angle[k];
        error += t * law->error[k];
        sum.re += t * z.re;
        sum.im += t * z.im;
        rare_error += t * off;
        most += t * (hypot(law->rare_re[k], law->rare_im[k]) + law->rare_error + (double)k * law->rare_more);
    }
    double left = exp(size), grown = exp(sum.re), half = sin(sum.im / 2);
    double x = left * (expm1(sum.re) - 2 * grown * half * half), y = left * grown * sin(sum.im), c = cos(angle), d = sin(angle);
    double value = sqrt(x * x + y * y);
    error = value * (expm1(error) + 16 * unit_roundoff) +
            left * exp(error) * grown * (expm1(rare_error) + 8 * unit_roundoff * (fabs(sum.re) + fabs(sum.im)));
    if (!(error < most)) /* nothing better is known */
        return most + 1e-59;
    *re = x * c - y * d;
    *im = x * d + y * c;
    return error + 1e-59;
}

/* *band: ln of a bound on f in band i. *rest: the same for band i and all bands after it. */
static void decay(const struct dp_pld_inverse *v, const struct dp_pld_part *parts, int i, double *band, double *rest)
{
    *band = *rest = 0;
    for (size_t p = 0; v->at.cut.level == 0 && p < v->count; p++) {
        *rest += (double)parts[p].laps * v->law[p].smooth[i];
        *band += (double)parts[p].laps * (i < BANDS ? v->law[p].spread[i] : v->law[p].smooth[i]);
    }
    if (v->at.cut.level > 0) {
        for (size_t p = 0; p < v->count; p++)
            *rest += (double)parts[p].laps * exp(v->law[p].smooth[i]);
        *band = *rest = log(*rest);
    }
}

/* For each band: an upper bound on the sum over all frequencies in that band and in the bands after it. */
static void bound_rest(struct dp_pld_inverse *v, const struct dp_pld_part *parts)
{
    double begin = v->step * (double)v->at.frequencies, band, rest;
    for (int i = BANDS; i >= 0; i--) {
        double from = begin * pow(2, 0.5 * i) - v->step;
        decay(v, parts, i, &band, &rest);
        v->beyond[i] = exp(rest) / (M_PI * from);
        if (i < BANDS)
            v->beyond[i] = fmin(v->beyond[i], v->beyond[i + 1] + exp(band) / (M_PI * from));
    }
}

size_t dp_pld_inverse_needs(const struct dp_pld_inverse *v, double error)
{
    if (v->noise - v->beyond[0] * (1 + 1e-6) > 0.8 * error)
        return SIZE_MAX;
    for (int i = 0; i <= BANDS; i++)
        if (v->beyond[i] <= 0.2 * error)
            return (size_t)ceil((double)v->at.frequencies * pow(2, 0.5 * i));
    return SIZE_MAX;
}

void dp_pld_inverse_take(struct dp_pld_inverse *v, const struct dp_pld_part *parts)
{
    double s = v->at.s;
    bool cut = v->at.cut.level > 0;
    v->log_scale = v->above = v->below = v->kappa = v->infinite = v->others = v->noise = v->size = 0;
    for (size_t p = 0; p < v->count; p++) {
        double t = (double)parts[p].laps;
        v->log_scale += t * v->law[p].log_scale;
        v->above += t * v->law[p].above;
        v->below += t * v->law[p].below;
        v->kappa += t * v->law[p].kappa;
        v->infinite += t * (v->law[p].infinite + v->law[p].infinite_others);
        v->others += t * v->law[p].others;
    }
    for (size_t k = 0; k < v->at.frequencies; k++) {
        double re, im, omega = v->step * (double)k, error = (cut ? take_rare : take)(v, parts, k, &re, &im);
        double c = s * (s + 1) - omega * omega, d = omega * (2 * s + 1), square = c * c + d * d,
               share = (k == 0 ? 1 : 2) / square;
        v->re[k] = (re * c + im * d) * share;
        v->im[k] = (im * c - re * d) * share;
        v->noise += error * share * sqrt(square);
        v->size += sqrt(re * re + im * im) * share * sqrt(square);
    }
    if (cut) { /* E e^{xS} of the runs with a rare lap: 1 − (1 − r/f)^T <= T r/f */
        double above = 0, below = 0;
        for (size_t p = 0; p < v->count; p++) {
            above += (double)parts[p].laps * exp(v->law[p].rare_above);
            below += (double)parts[p].laps * exp(v->law[p].rare_below);
        }
        v->above += log(fmin(above, 1));
        v->below += log(fmin(below, 1));
    }
    double scale = v->step / (2 * M_PI);
    bound_rest(v, parts);
    v->noise = (v->noise * scale + v->beyond[0]) * (1 + 1e-6);
    v->size *= scale;
}

/* sup (1 − e^{−y}) e^{−xy}, rounded up. */
static double peak_of(double x)
{
    return exp(-x * log1p(1 / x)) / (x + 1) * (1 + 1e-9);
}

double dp_pld_chernoff(const struct dp_pld_part *parts, size_t count, bool add, double deviations, double s, double epsilon)
{
    double sum = 0, infinite = 0;
    for (size_t p = 0; p < count; p++) {
        struct dp_pld_panels panels;
        struct dp_pld_range range = dp_pld_range(&parts[p], add, deviations);
        dp_pld_panels_new(&panels, &parts[p], add, deviations, s, s, 0, (struct dp_pld_cut){0, 0});
        if (panels.count == 0)
            return INFINITY;
        double kappa = 1e-13 + 16 * unit_roundoff * (s + 1) * fmax(fabs(range.low), fabs(range.high));
        sum += (double)parts[p].laps * (log_moment(&panels, s) + kappa);
        infinite += (double)parts[p].laps * erfc(deviations / sqrt(2)) * (1 + 1e-9);
        dp_pld_panels_free(&panels);
    }
    return exp(sum - s * epsilon) * peak_of(s) + infinite;
}

void dp_pld_inverse_delta(const struct dp_pld_inverse *v, double epsilon, double *upper, double *lower)
{
    double s = v->at.s, sum = 0, up = v->at.above - s, down = s - v->at.below;
    for (size_t k = 0; k < v->at.frequencies; k++) {
        double angle = v->step * (double)k * epsilon;
        sum += v->re[k] * cos(angle) + v->im[k] * sin(angle);
    }
    sum *= v->step / (2 * M_PI);
    double last = v->step * (double)v->at.frequencies * epsilon;
    double noise = v->noise + v->size * (16 + 4 * last + (double)v->at.frequencies) * unit_roundoff;
    double scale = exp(v->log_scale - s * epsilon) * (1 + 1e-12), factor = exp(v->kappa);
    *upper = factor * scale * (sum + noise) + v->infinite;
    if (v->at.cut.level > 0)
        *upper += exp(v->others - v->at.x * epsilon) * peak_of(v->at.x);
    double again = exp(v->above - v->at.above * epsilon - up * v->at.period) / -expm1(-up * v->at.period) +
                   exp(v->below - v->at.below * epsilon - down * v->at.period) / -expm1(-down * v->at.period);
    *lower = (scale * (1 - 2e-12) * (sum - noise)) / factor - again * factor;
    if (isnan(*lower)) /* scale is beyond the range of a double */
        *lower = 0;
}

struct question {
    const struct dp_pld_inverse *inverse;
    double delta;
    bool lower;
};

/* ln of a bound over delta, limited if it is far off. */
static double excess(double epsilon, void *context)
{
    const struct question *q = context;
    double bounds[2];
    dp_pld_inverse_delta(q->inverse, epsilon, &bounds[0], &bounds[1]);
    double y = log(fmin(fmax(bounds[q->lower] / q->delta, 1e-12), 1e12));
    return isnan(y) ? 30 : y;
}

void dp_pld_inverse_epsilon(const struct dp_pld_inverse *v, double delta, double guess, double *upper, double *lower)
{
    struct question q = {v, delta, false};
    double reach = 1e-3 * guess, low, high;
    *upper = INFINITY;
    *lower = 0;
    for (high = guess; excess(high, &q) > 0; high += reach, reach *= 4)
        if (reach > 1e3 * guess)
            return;
    for (low = high; low > 0 && excess(low, &q) <= 0; reach *= 4)
        low = fmax(low - reach, 0);
    bool none = excess(low, &q) <= 0; /* at 0 */
    *upper = none ? low : dp_bracket_falling(excess, &q, low, high, 1e-10 * high);
    q.lower = true;
    /* If the lower bound is above delta, so is the truth. */
    reach = 1e-9 * *upper;
    for (low = *upper; low > 0 && !(excess(low, &q) > 0); low = fmax(low - reach, 0), reach *= 4)
        if (reach > 1e-2 * *upper)
            return;
    *lower = excess(low, &q) > 0 ? low : 0;
}
