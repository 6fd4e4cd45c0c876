#include "priv/pld_cells.h"

#include <gsl/gsl_integration.h>

#include "base/mem.h"

/* Four and eight Gauss-Legendre points. */
static const double x4[] = {-0.86113631159405258, -0.33998104358485626, 0.33998104358485626, 0.86113631159405258};
static const double w4[] = {0.34785484513745386, 0.65214515486254614, 0.65214515486254614, 0.34785484513745386};
static const double x8[] = {-0.96028985649753623, -0.79666647741362674, -0.52553240991632899, -0.18343464249564980,
                            0.18343464249564980,  0.52553240991632899,  0.79666647741362674,  0.96028985649753623};
static const double w8[] = {0.10122853629037626, 0.22238103445337447, 0.31370664587788729, 0.36268378337836198,
                            0.36268378337836198, 0.31370664587788729, 0.22238103445337447, 0.10122853629037626};

/* The pair of one part, or of one answer of a joint part: a density between `from` and `to` in u, and atoms in v. */
struct pair {
    double q, mu;
    double offset, weight; /* for one answer: the offset of v, and its mass */
    bool gaussian, replaced, coins;
    double from, to; /* equal if there is no density */
    int atoms;
    double v[2], mass[2]; /* of Q */
};

static int answers_of(const struct dp_pld_part *part)
{
    return part->kind == DP_PLD_JOINT ? 2 : 1;
}

static struct pair pair_of(const struct dp_pld_part *part, int answer, bool add, double deviations)
{
    struct pair p = {.q = part->rate, .mu = dp_pld_shift(part), .weight = 1};
    switch (part->kind) {
    case DP_PLD_JOINT:
        p.offset = answer == 0 ? -part->epsilon : part->epsilon;
        p.weight = 1 / (1 + exp(p.offset));
        /* fall through */
    case DP_PLD_GAUSSIAN:
    case DP_PLD_GAUSSIAN_REPLACED:
    case DP_PLD_GAUSSIAN_COINS:
        p.gaussian = true;
        p.coins = part->kind == DP_PLD_GAUSSIAN_COINS;
        p.replaced = p.coins || (part->kind == DP_PLD_GAUSSIAN_REPLACED && p.q < 1);
        p.from = p.coins ? 0 : p.replaced ? p.mu / 2 : -deviations;
        p.to = add && !p.replaced ? deviations : p.mu + deviations; /* B draws from Q only */
        break;
    case DP_PLD_LAPLACE:
        p.to = p.mu;
        p.atoms = 2;
        p.v[0] = -p.mu;
        p.v[1] = p.mu;
        p.mass[0] = 0.5;
        p.mass[1] = exp(-p.mu) / 2;
        break;
    case DP_PLD_PURE:
        p.atoms = 2;
        p.v[0] = -part->epsilon;
        p.v[1] = part->epsilon;
        p.mass[0] = 1 / (1 + exp(-part->epsilon));
        p.mass[1] = 1 / (1 + exp(part->epsilon));
        break;
    }
    return p;
}

/* 1 - 2 Φ(-μ/2), times 1 - q: the mass that neither direction of a replaced row has. */
static double idle_mass(const struct pair *p)
{
    return p->coins ? 0 : (1 - p->q) * erf(p->mu / sqrt(8));
}

static double v_at(const struct pair *p, double u)
{
    return p->gaussian ? u * p->mu - p->mu * p->mu / 2 + p->offset : 2 * u - p->mu;
}

/* Coins: b(u), at u with this v. */
static double other(const struct pair *p, double v)
{
    return (1 - p->q) + p->q * exp(-v - p->mu * p->mu);
}

/* The density of B at u. */
static double density(const struct pair *p, double u)
{
    double normal = p->weight * exp(-u * u / 2) * 0.39894228040143268;
    return !p->gaussian ? exp(-u) / 2 : p->coins ? normal * other(p, v_at(p, u)) : normal;
}

/* dA/dB − 1 */
static double gain(const struct pair *p, double v)
{
    return p->coins ? -p->q * exp(v) * expm1(-2 * v - p->mu * p->mu) / other(p, v) : p->q * expm1(v);
}

static double loss_of(const struct pair *p, double v)
{
    double g = gain(p, v);
    return g < -0.5 ? log((1 - p->q) + p->q * exp(v)) : log1p(g);
}

/* The u with this loss; -infinity below its range. */
static double place_of(const struct pair *p, double loss)
{
    double v;
    if (p->coins) /* of a(u)/b(u) = e^loss */
        return (loss / 2 + asinh((1 - p->q) / p->q * exp(p->mu * p->mu / 2) * sinh(loss / 2))) / p->mu;
    if (loss < -1) {
        double ratio = (exp(loss) - (1 - p->q)) / p->q;
        v = ratio <= 0 ? -INFINITY : log(ratio);
    } else {
        v = expm1(loss) / p->q;
        v = v <= -1 ? -INFINITY : log1p(v);
    }
    return p->gaussian ? (v - p->offset + p->mu * p->mu / 2) / p->mu : (v + p->mu) / 2;
}

bool dp_pld_has_gaussian(const struct dp_pld_part *part)
{
    return part->kind != DP_PLD_LAPLACE && part->kind != DP_PLD_PURE;
}

bool dp_pld_symmetric(const struct dp_pld_part *part)
{
    return part->rate == 1 || dp_pld_exchanges(part);
}

bool dp_pld_exchanges(const struct dp_pld_part *part)
{
    return part->kind == DP_PLD_GAUSSIAN_REPLACED || part->kind == DP_PLD_GAUSSIAN_COINS;
}

double dp_pld_shift(const struct dp_pld_part *part)
{
    return (part->kind == DP_PLD_GAUSSIAN_COINS ? 0.5 : 1) / part->multiplier;
}

/* dL/du over μ, which grows with v; for coins it grows or falls. */
static double slope_of(const struct pair *p, double v)
{
    double up = p->q * exp(v);
    return up / ((1 - p->q) + up) + (p->coins ? 1 - (1 - p->q) / other(p, v) : 0);
}

struct dp_pld_range dp_pld_range(const struct dp_pld_part *part, bool add, double deviations)
{
    struct pair first = pair_of(part, 0, add, deviations), p = pair_of(part, answers_of(part) - 1, add, deviations);
    double least = p.atoms > 0 ? p.v[0] : v_at(&first, p.from), most = p.atoms > 0 ? p.v[1] : v_at(&p, p.to);
    struct dp_pld_range r = {loss_of(&p, least), loss_of(&p, most), 0};
    if (p.replaced)
        r.low = -r.high;
    /* v is rounded too, and dL/dv is largest at an end. */
    double reach = p.gaussian ? p.to * p.mu + p.mu * p.mu / 2 + p.offset : 2 * p.mu;
    r.rounding = fmax(-r.low, r.high);
    if (p.coins)
        r.rounding += fmax(slope_of(&p, least), slope_of(&p, most)) * reach;
    else if (part->kind != DP_PLD_PURE)
        r.rounding += exp(log(p.q) + most - r.high) * reach;
    return r;
}

void dp_pld_nodes_new(struct dp_pld_nodes *nodes, const struct dp_pld_part *part, double deviations)
{
    struct pair p = pair_of(part, 0, false, deviations);
    double width = p.gaussian ? 0.5 / fmax(1, p.mu / 2) : 0.25;
    size_t panels = p.to > p.from ? (size_t)ceil((p.to - p.from) / width) : 0, n = 0;
    size_t room = 2 * (8 * panels + 2); /* twice: for answers, or for replaced rows */
    *nodes = (struct dp_pld_nodes){.loss = dp_new(room, sizeof(double)), .log_mass = dp_new(room, sizeof(double))};
    width = (p.to - p.from) / (double)panels;
    for (int answer = 0; answer < answers_of(part); answer++) {
        p = pair_of(part, answer, false, deviations);
        for (size_t i = 0; i < panels; i++)
            for (int j = 0; j < 8; j++, n++) {
                double u = p.from + width * ((double)i + (1 + x8[j]) / 2);
                nodes->loss[n] = loss_of(&p, v_at(&p, u));
                nodes->log_mass[n] = log(width / 2 * w8[j] * density(&p, u)) + nodes->loss[n];
            }
    }
    for (int i = 0; i < p.atoms; i++, n++) {
        nodes->loss[n] = loss_of(&p, p.v[i]);
        nodes->log_mass[n] = log(p.mass[i]) + nodes->loss[n];
    }
    nodes->count = n;
    if (p.replaced) {
        for (size_t i = 0; i < n; i++) {
            nodes->loss[n + i] = -nodes->loss[i];
            nodes->log_mass[n + i] = nodes->log_mass[i] - nodes->loss[i];
        }
        nodes->loss[2 * n] = 0;
        nodes->log_mass[2 * n] = log(idle_mass(&p));
        nodes->count = 2 * n + 1;
    }
    for (size_t k = 0; k < nodes->count; k++) {
        nodes->all[false] += exp(nodes->log_mass[k]);
        nodes->all[true] += exp(nodes->log_mass[k] - nodes->loss[k]);
    }
}

void dp_pld_nodes_free(struct dp_pld_nodes *nodes)
{
    free(nodes->loss);
    free(nodes->log_mass);
    *nodes = (struct dp_pld_nodes){0};
}

double dp_pld_nodes_moment(const struct dp_pld_nodes *nodes, bool add, double s, double *mean, double *variance)
{
    /* In the add direction the run is drawn from B, and its loss is −L: E_B e^{−sL} = E_A e^{(−s−1)L}. */
    double t = add ? -s - 1 : s, peak = -INFINITY;
    for (size_t k = 0; k < nodes->count; k++)
        peak = fmax(peak, nodes->log_mass[k] + t * nodes->loss[k]);
    double sum = 0, first = 0, second = 0;
    for (size_t k = 0; k < nodes->count; k++) {
        double loss = nodes->loss[k], x = nodes->log_mass[k] + t * loss - peak;
        if (x < -40)
            continue;
        double w = exp(x);
        sum += w;
        first += w * loss;
        second += w * loss * loss;
    }
    double middle = first / sum;
    if (mean != NULL)
        *mean = add ? -middle : middle;
    if (variance != NULL)
        *variance = fmax(second / sum - middle * middle, 0);
    return peak + log(sum / nodes->all[add]);
}

static const double NEGLIGIBLE = -50; /* as a logarithm */
static const double CUT_REACH = 10;
static const double CUT_LEFT = 1e-23; /* a little more than Φ(−10) */

/* The integrands that a panel serves. */
struct integrand {
    double s, power, frequency;
    bool add, cut;
    double v, width; /* of the cut */
};

/* ln of the density in u, times e^{s loss}. */
static double log_weight(const struct pair *p, const struct integrand *f, double u)
{
    return log(density(p, u)) + (f->add && !p->replaced ? -f->s : f->s + 1) * loss_of(p, v_at(p, u));
}

/* The rare part of the density at v. */
static double rare_at(const struct integrand *f, double v)
{
    double x = (v - f->v) / f->width;
    return x < -CUT_REACH ? 0 : x > CUT_REACH ? 1 : erfc(-x * M_SQRT1_2) / 2;
}

/* The conditions of the cut on a panel that begins at u: |d ln Φ/du| on it, its largest width, and where it must end. */
static double cut_rate(const struct pair *p, const struct integrand *f, double u, double *widest, double *last)
{
    double w = f->width / p->mu, x = (v_at(p, u) - f->v) / f->width;
    if (!f->cut || x > CUT_REACH)
        return 0;
    if (x < -CUT_REACH - 1e-9) {
        *last = fmin(*last, u - (x + CUT_REACH) * w);
        return 0;
    }
    *widest = fmin(*widest, w / 4);
    return (fabs(x) + 2.4) / w;
}

static double panel_end(const struct pair *p, const struct integrand *f, double u)
{
    double slope = p->mu * fmin(p->coins ? 2 * M_SQRT2 : M_SQRT2, 4 * slope_of(p, v_at(p, u))),
           widest = fmin(0.5, 0.33 / p->mu), last = p->to;
    double rate = fabs(u) + 1.6 + cut_rate(p, f, u, &widest, &last), size = 4 / (rate + (f->power + 1) * slope);
    double end = fmin(u + 2 * fmin(widest, size), last);
    if (fmax(log_weight(p, f, u), log_weight(p, f, end)) < NEGLIGIBLE)
        return end;
    return fmin(u + 2 * fmin(widest, fmin(size, 18 / (rate + hypot(f->power + 1, f->frequency) * slope))), last);
}

/* One panel at index n. For a replaced row also the mirrored panel, which draws from B and is negated like all of add. */
static void fill_panel(struct dp_pld_panels *panels, const struct pair *p, const struct integrand *f,
                       const gsl_integration_glfixed_table *rule, double from, double to, bool negated)
{
    size_t n = panels->count++ * DP_PLD_PANEL;
    for (size_t j = 0; j < DP_PLD_PANEL; j++, n++) {
        double u, weight;
        gsl_integration_glfixed_point(from, to, j, &u, &weight, rule);
        double v = v_at(p, u), loss = loss_of(p, v), log_density = log(density(p, u)) + (negated ? 0 : loss);
        panels->loss[n] = negated ? -loss : loss;
        panels->log_mass[n] = log_density + log(weight);
        panels->log_density[n] = log_density - log(p->mu * slope_of(p, v));
        panels->rare[n] = f->cut && !negated ? rare_at(f, v) : 0;
    }
}

/* Adds the ends of the rare part of one answer. */
static void add_edges(struct dp_pld_panels *panels, const struct pair *p, const struct integrand *f)
{
    double ends[2] = {fmax(p->from, p->from + (f->v - CUT_REACH * f->width - v_at(p, p->from)) / p->mu), p->to};
    for (int i = 0; i < 2; i++)
        panels->edge += exp(log_weight(p, f, ends[i])) * fmax(rare_at(f, v_at(p, ends[i])), CUT_LEFT);
}

void dp_pld_panels_new(struct dp_pld_panels *panels, const struct dp_pld_part *part, bool add, double deviations, double s,
                       double power, double frequency, struct dp_pld_cut cut)
{
    struct integrand f = {s, power, frequency, add, cut.level > 0, log1p(expm1(cut.level) / part->rate), cut.width};
    size_t room = 0;
    *panels = (struct dp_pld_panels){0};
    for (int answer = 0; answer < answers_of(part); answer++) {
        struct pair p = pair_of(part, answer, add, deviations);
        for (double u = p.from; u < p.to && room <= DP_PLD_PANELS_MAX; u = panel_end(&p, &f, u))
            room += p.replaced ? 2 : 1;
    }
    if (room > DP_PLD_PANELS_MAX)
        return;
    gsl_integration_glfixed_table *rule = dp_got(gsl_integration_glfixed_table_alloc(DP_PLD_PANEL));
    size_t nodes = room * DP_PLD_PANEL;
    *panels = (struct dp_pld_panels){.loss = dp_new(4 * nodes, sizeof(double))};
    panels->log_mass = panels->loss + nodes;
    panels->log_density = panels->log_mass + nodes;
    panels->rare = panels->log_density + nodes;
    for (int answer = 0; answer < answers_of(part); answer++) {
        struct pair p = pair_of(part, answer, add, deviations);
        for (double u = p.from, to; u < p.to; u = to) {
            to = panel_end(&p, &f, u);
            fill_panel(panels, &p, &f, rule, u, to, add && !p.replaced);
            if (p.replaced)
                fill_panel(panels, &p, &f, rule, u, to, true);
        }
        if (f.cut)
            add_edges(panels, &p, &f);
        panels->atom = p.replaced ? idle_mass(&p) : 0;
        panels->pieces += p.coins ? 3 : p.replaced ? 2 : 1;
    }
    gsl_integration_glfixed_table_free(rule);
}

void dp_pld_panels_free(struct dp_pld_panels *panels)
{
    free(panels->loss);
    *panels = (struct dp_pld_panels){0};
}

/* Adds the A mass of [left, right] to *mass, and this mass less e^{floor} times the B mass to *up. floor_ratio is e^{floor} if
 * `deep`, else e^{floor} - 1. Eight points on a quarter, or four on a hundredth, of a standard deviation are exact to rounding
 * up to twelve standard deviations from the centres; farther out masses are below 1e-30 of all. */
static void integrate(const struct pair *p, double left, double right, bool deep, double floor_ratio, double *mass, double *up)
{
    double width = right - left;
    int panels = width <= 0.25 ? 1 : (int)ceil(width * 4), points = width <= 0.01 ? 4 : 8;
    const double *x = points == 4 ? x4 : x8, *w = points == 4 ? w4 : w8;
    double from = left;
    for (int i = 1; i <= panels; i++) {
        double to = i == panels ? right : left + width * i / panels;
        double middle = (from + to) / 2, half = (to - from) / 2;
        for (int j = 0; j < points; j++) {
            double u = middle + half * x[j], v = v_at(p, u), base = half * w[j] * density(p, u);
            if (deep) { /* 1 + g may be tiny: keep its digits */
                double ratio = (1 - p->q) + p->q * exp(v);
                *mass += base * ratio;
                *up += base * (ratio - floor_ratio);
            } else {
                double g = gain(p, v);
                *mass += base * (1 + g);
                *up += base * (g - floor_ratio);
            }
        }
        from = to;
    }
}

/* The density, as linear masses on the grid. */
static void spread(const struct pair *p, const struct dp_pld_cells *cells, double *mass)
{
    double left = p->from, share = -expm1(-cells->h);
    int64_t k = (int64_t)floor(loss_of(p, v_at(p, left)) / cells->h) - cells->first;
    for (k = k < 0 ? 0 : k; left < p->to && k + 1 < (int64_t)cells->count; k++) {
        double floor_loss = (double)(cells->first + k) * cells->h, edge = (double)(cells->first + k + 1) * cells->h;
        bool deep = floor_loss < -1;
        double right = k + 2 == (int64_t)cells->count ? p->to : fmin(fmax(place_of(p, edge), left), p->to);
        double here = 0, up = 0;
        integrate(p, left, right, deep, deep ? exp(floor_loss) : expm1(floor_loss), &here, &up);
        up = fmin(fmax(up / share, 0), here);
        mass[k] += here - up;
        mass[k + 1] += up;
        left = right;
    }
}

static void place_atom(const struct dp_pld_cells *cells, double loss, double of_b, double *mass)
{
    int64_t k = (int64_t)floor(loss / cells->h) - cells->first;
    k = k < 0 ? 0 : k > (int64_t)cells->count - 2 ? (int64_t)cells->count - 2 : k;
    double floor_loss = (double)(cells->first + k) * cells->h, here = of_b * exp(loss);
    double up = fmin(fmax(here * expm1(floor_loss - loss) / expm1(-cells->h), 0), here);
    mass[k] += here - up;
    mass[k + 1] += up;
}

/* Turns the remove direction into the add direction: masses of B, and negated losses. */
static void mirror(struct dp_pld_cells *cells)
{
    for (size_t k = 0; k < cells->count; k++)
        cells->log_mass[k] -= dp_pld_cells_loss(cells, k);
    for (size_t i = 0, j = cells->count - 1; i < j; i++, j--) {
        double swap = cells->log_mass[i];
        cells->log_mass[i] = cells->log_mass[j];
        cells->log_mass[j] = swap;
    }
    cells->first = -(cells->first + (int64_t)cells->count - 1);
}

void dp_pld_cells_new(struct dp_pld_cells *cells, const struct dp_pld_part *part, bool add, double deviations, double h)
{
    struct pair p = pair_of(part, 0, add, deviations);
    struct dp_pld_range range = dp_pld_range(part, add, deviations);
    int64_t first = (int64_t)floor(range.low / h), last = (int64_t)ceil(range.high / h);
    if (p.replaced)
        first = -last; /* its own mirror on the grid too */
    if (last == first)
        last++;
    *cells = (struct dp_pld_cells){h, first, (size_t)(last - first) + 1, NULL};
    double *mass = dp_new(cells->count, sizeof *mass);
    for (int answer = 0; p.to > p.from && answer < answers_of(part); answer++) {
        p = pair_of(part, answer, add, deviations);
        spread(&p, cells, mass);
    }
    for (int i = 0; i < p.atoms; i++)
        place_atom(cells, loss_of(&p, p.v[i]), p.mass[i], mass);
    if (p.replaced) {
        mass[-first] += mass[-first] + idle_mass(&p);
        for (int64_t k = 1; k <= last; k++)
            mass[-first - k] = mass[-first + k] * exp(-(double)k * h);
    }
    for (size_t k = 0; k < cells->count; k++)
        mass[k] = log(mass[k]);
    cells->log_mass = mass;
    if (add)
        mirror(cells);
}

void dp_pld_cells_free(struct dp_pld_cells *cells)
{
    free(cells->log_mass);
    cells->log_mass = NULL;
}

double dp_pld_cells_loss(const struct dp_pld_cells *cells, size_t k)
{
    return (double)(cells->first + (int64_t)k) * cells->h;
}

double dp_pld_cells_moment(const struct dp_pld_cells *cells, double s)
{
    double peak = -INFINITY;
    for (size_t k = 0; k < cells->count; k++)
        peak = fmax(peak, cells->log_mass[k] + s * dp_pld_cells_loss(cells, k));
    double sum = 0, lost = 0; /* Kahan's sum, because the error of the result counts T times */
    for (size_t k = 0; k < cells->count; k++) {
        double w = cells->log_mass[k] + s * dp_pld_cells_loss(cells, k) - peak;
        if (w < -100)
            continue;
        double y = exp(w) - lost, t = sum + y;
        lost = (t - sum) - y;
        sum = t;
    }
    return peak + log(sum);
}
