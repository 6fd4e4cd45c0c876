#include "fit/fit.h"

#include "account/calibrate.h"
#include "base/round.h"
#include "fit/images.h"

/* The most columns of dp-transform. */
#define MOST_COLUMNS 8192

/* Below this reach models of made-up rows were not better than the most frequent class; from twice this reach on they were. */
#define LEAST_REACH 4

/* For numbers: below this reach the median R² of three splits was below 0 on insurance (1,070 rows). */
#define LEAST_REACH_OF_NUMBERS 8

/* Below this reach cosines were worse than lines: by .05 of R² on bicycles (reach 46), by .007 on insurance (reach 47). From
 * this reach on they were better. */
#define LEAST_REACH_OF_CURVES 55

/* N mu for each column of a model with products, and the most columns. With 6 and 10 in place of 16 accuracy was lower by .004
 * and R² by .01 on Adult and bicycles; phoneme gains .015 of AUC by all of its products, at 13. */
#define PERSONS_OF_A_PRODUCT 12
#define MOST_COLUMNS_WITH_PRODUCTS 700

/* Below this reach steps of gradients without a transform are shorter. At the length of other steps noise was larger than what
 * the laps had found: on phoneme at .01 and on costarica at .02 a model that only knows the rates of the classes was better. */
#define REACH_OF_SHORT_STEPS 12

/* For two classes: reach / columns from which cosines were better where lines have no transform, and where they have one. */
#define LEAST_OF_A_CURVE 0.03
#define LEAST_OF_A_CURVE_FOR_MOMENTS 0.2

/* For two classes: reach / √columns and reach / columns from which the moments are far enough above their noise. Below the
 * second one the transform cost .02 of AUC on credit default (at .1), and more on tweets; the first one on eight tables. */
#define LEAST_OF_MOMENTS 4
#define LEAST_OF_A_COLUMN 0.4

/* The least number of persons for each class; with fewer, one person cannot be hidden. */
#define PERSONS_OF_A_CLASS 50

/* Slopes that are clipped at 1/2 make weights too long for probabilities. The best factor was .4 to .6 on four tables. */
#define SCALE_OF_SOFTMAX 0.5

/* Laps of gradients sample about that many persons where that is less than half of them: a lap of all persons costs time and
 * finds nothing more. With samples of 1,700 to 5,300 rows, accuracy, AUC and R² changed by at most .003 on Adult, protein,
 * bicycles, electricity, letters and phoneme. A lap has at least the second number as its multiplier: there amplification by
 * sampling is within 6 % of its limit with 128 laps, and within 15 % with 16. */
#define PERSONS_OF_A_LAP 65536
#define LEAST_MULTIPLIER_OF_A_SAMPLE 4

/* The lap of moments samples four times as many persons: on 2.4 million flights AUC was the same as with all rows. */
#define PERSONS_OF_MOMENTS 262144

/* Behind this reach the noise is far below the differences between samples. So fewer laps do, and smaller multipliers, where
 * amplification is further from its limit: on flights and on two made-up tables AUC fell by at most .0008, and log loss rose by
 * at most .001. */
#define FAR_REACH 16384
#define LEAST_MULTIPLIER_OF_A_FAR_SAMPLE 1
#define LAPS_OF_FAR_REACH 64

/* Laps of softmax that only find the temperature. With them the log loss fell in each of 27 cells of nine tables, by .001 to
 * .27, and on Fashion-MNIST from .49 to .30. */
#define TEMPERATURE_LAPS 4

/* The value after it was printed with that many digits and read back. */
static double decimal(double value, int digits)
{
    char text[40];
    snprintf(text, sizeof text, "%.*g", digits, value);
    return strtod(text, NULL);
}

static double six(double value)
{
    return decimal(value, 6);
}

static double between(double least, double most, double value)
{
    return value < least ? least : value > most ? most : value;
}

/* The multiplier, rounded up, with which that many laps together use that part of the budget. */
static double share(double whole, double part, double laps)
{
    return decimal(whole * sqrt(laps / part) * 1.00000001, 9);
}

int dp_fit_delta_exponent(int64_t persons)
{
    return (int)(1.1 * log((double)persons) / log(10)) + 1;
}

enum dp_loss dp_fit_loss(int64_t classes)
{
    return classes == 0 ? DP_LOSS_SQUARED : classes > 2 ? DP_LOSS_SOFTMAX : DP_LOSS_LOGISTIC;
}

const char *dp_fit_unit(const struct dp_fit_facts *facts)
{
    return facts->rows_per_person > 0 ? "persons" : "rows";
}

/* Whether the moments of classes would be mostly noise. */
static bool only_gradients(int64_t classes, double reach, double columns)
{
    return classes == 2 ? reach < LEAST_OF_MOMENTS * sqrt(columns) || reach < LEAST_OF_A_COLUMN * columns
                        : classes > 2 && reach < 43;
}

static double all_columns(const struct dp_fit_facts *facts, const struct dp_fit *fit)
{
    return (double)facts->columns + (fit->intercept > 0);
}

bool dp_fit_curves(const struct dp_fit_facts *facts, const struct dp_fit *fit)
{
    const double columns = all_columns(facts, fit), lines = columns - (double)facts->cosines;
    if (fit->reach >= LEAST_REACH_OF_CURVES)
        return true;
    const bool plain = only_gradients(2, fit->reach * sqrt(columns / lines), lines);
    return facts->classes == 2 && facts->cosines > 0 &&
           fit->reach >= (plain ? LEAST_OF_A_CURVE : LEAST_OF_A_CURVE_FOR_MOMENTS) * columns;
}

int64_t dp_fit_products(const struct dp_fit_facts *facts, const struct dp_fit *fit)
{
    const double columns = all_columns(facts, fit), size = fit->reach * sqrt(columns);
    const double products = floor(fmin(size / PERSONS_OF_A_PRODUCT, MOST_COLUMNS_WITH_PRODUCTS) - columns);
    /* with three classes or more accuracy was the same on three tables, and lower by .01 on one */
    return facts->classes <= 2 && products > 0 ? (int64_t)products : 0;
}

double dp_fit_schema_share(double epsilon, int64_t persons)
{
    return persons <= DP_FIT_MOST_COMPOSED ? fmin(fmax(0.1, 0.04 / epsilon), 0.4) : 0.1;
}

/* The charge of one release to which every row contributes. */
static int one_release(struct dp_charges *charges, double multiplier, struct dp_err *err)
{
    struct dp_event event = dp_event_gaussian(DP_SAMPLING_NONE, 1, multiplier, 0);
    return dp_charges_add(charges, &event, 1, err);
}

double dp_fit_delta(double delta, int64_t persons)
{
    char power[16];
    snprintf(power, sizeof power, "1e-%d", dp_fit_delta_exponent(persons));
    return isnan(delta) ? strtod(power, NULL) : delta;
}

int dp_fit_left(struct dp_fit_budget *budget, double epsilon, double delta, const char *path, struct dp_err *err)
{
    if (budget->epsilon <= epsilon || budget->delta <= delta)
        return dp_fail(err, DP_E_BUDGET,
                       "the schema of %s has cost epsilon %g at delta %g: --epsilon and --delta must be above that", path,
                       epsilon, delta);
    if (epsilon <= 0)
        return DP_OK;
    budget->epsilon = dp_round_down(budget->epsilon - epsilon, 9);
    /* Less than the difference by a digit that nobody is shown: the ledger rounds its sum up, and it is not above `delta`. */
    budget->delta = dp_round_down((budget->delta - delta) * (1 - 1e-12), 9);
    return DP_OK;
}

int dp_fit_release(const struct dp_fit_budget *budget, double *multiplier, struct dp_err *err)
{
    struct dp_charges charges = {0};
    int rc = one_release(&charges, 1, err);
    rc =
        rc ?: dp_calibrate_noise(DP_ACCOUNTANT_BEST, &charges, budget->epsilon, budget->delta - budget->named, multiplier, err);
    dp_charges_free(&charges);
    if (rc == DP_OK && budget->before > 0 && !(budget->before * *multiplier < 1))
        rc = dp_fail(err, DP_E_BUDGET, "the schema has cost epsilon %g at delta %g: nothing is left", budget->epsilon,
                     budget->delta);
    if (rc == DP_OK && budget->before > 0) /* the squares of the mu of Gaussians add up, so the run has what the rest leaves */
        *multiplier = share(1 / sqrt(1 / (*multiplier * *multiplier) - budget->before * budget->before), 1, 1);
    return rc;
}

/* Computes fit->whole and fit->reach. */
static int measure(const struct dp_fit_facts *facts, const struct dp_fit_budget *budget, struct dp_fit *fit, struct dp_err *err)
{
    int rc = dp_fit_release(budget, &fit->whole, err);
    if (rc == DP_OK)
        fit->reach = six((double)facts->persons / ((budget->replace_one ? 2 : 1) * fit->whole * sqrt(all_columns(facts, fit))));
    return rc;
}

/* x rounded up to two digits; a millionth above such a number counts as this number. */
static double up(double x)
{
    double d = pow(10, (int)(log(x) / log(10) + 1000) - 1001);
    return six(((int)(x / d * 0.999999) + 1) * d);
}

/* Refuses a budget that does not pay for one useful lap. */
static int check_reach(const struct dp_fit_facts *facts, const struct dp_fit_budget *budget, const struct dp_fit *fit,
                       struct dp_err *err)
{
    struct dp_charges charges = {0};
    struct dp_answer answer;
    const double least = facts->classes == 0 ? LEAST_REACH_OF_NUMBERS : LEAST_REACH;
    if (fit->reach >= least)
        return DP_OK;
    const double mu = least / (fit->whole * fit->reach);
    int rc = one_release(&charges, six(1 / sqrt(mu * mu + budget->before * budget->before)), err);
    rc = rc ?: dp_account_epsilon(DP_ACCOUNTANT_BEST, &charges, budget->delta - budget->named, &answer, err);
    dp_charges_free(&charges);
    if (rc != DP_OK)
        return rc;
    return dp_fail(err, DP_E_BUDGET,
                   "epsilon %g at delta %g does not pay for one useful lap over %lld %s of %lld columns; epsilon %g would, and "
                   "so would %.0f %s",
                   budget->epsilon, budget->delta, (long long)facts->persons,
                   facts->rows_per_person > 0 ? "persons with rows" : "rows", (long long)facts->columns,
                   up(dp_round_up(answer.upper, 6)), up((double)facts->persons * least / fit->reach), dp_fit_unit(facts));
}

static int check_facts(const struct dp_fit_facts *facts, const struct dp_fit_budget *budget, struct dp_err *err)
{
    if (!(budget->epsilon > 0) || !isfinite(budget->epsilon))
        return dp_fail(err, DP_E_USAGE, "epsilon must be > 0, got %g", budget->epsilon);
    if (!(budget->delta > 0 && budget->delta < 1))
        return dp_fail(err, DP_E_USAGE, "delta must be > 0 and < 1, got %g", budget->delta);
    if (facts->persons < 1 || facts->columns < 1 || facts->classes < 0 || facts->rows_per_person < 0)
        return dp_fail(err, DP_E_USAGE, "a table has at least one row and one column");
    if (facts->classes == 1)
        return dp_fail(err, DP_E_RUN, "the label has one class only: there is nothing to learn");
    int64_t least = PERSONS_OF_A_CLASS * (facts->classes > 2 ? facts->classes : 2);
    if (facts->persons >= least)
        return DP_OK;
    char label[40] = "a number";
    if (facts->classes > 0)
        snprintf(label, sizeof label, "%lld classes", (long long)facts->classes);
    return dp_fail(err, DP_E_RUN, "%lld %s are too few to hide one of them: for %s there must be %lld",
                   (long long)facts->persons, dp_fit_unit(facts), label, (long long)least);
}

/* Gradients of the rows without a transform. The step grows with the budget, as the noise falls. For classes the last model has
 * the gradients of all laps with the same weight, and so less noise than a mean of models; a small clip keeps the slopes of rows
 * that are right already. Found on Phishing, wine, tweets, telephone customers, spambase, German credit and web pages; with
 * softmax on costarica, income, run times of jobs, marital status, storms, diamonds, letters and satellite images. */
static void plain(struct dp_fit *fit, double columns)
{
    const double size = fit->reach * sqrt(columns) / 100;
    const bool logistic = fit->loss == DP_LOSS_LOGISTIC;
    fit->run = DP_FIT_PLAIN;
    fit->laps = 64;
    fit->last = logistic || fit->loss == DP_LOSS_SOFTMAX;
    fit->clip = logistic ? 0.3 : fit->loss == DP_LOSS_SOFTMAX ? 0.35 : 0.5;
    const double near = fmin(1, pow(fit->reach / REACH_OF_SHORT_STEPS, 2));
    fit->step = fit->loss == DP_LOSS_SQUARED ? 2 : six(fmin(64, near * (logistic ? 1.6 * pow(size, 0.7) : pow(size, 0.8))));
    fit->scale = logistic ? 0.6 : fit->loss == DP_LOSS_SOFTMAX ? SCALE_OF_SOFTMAX : 1;
    fit->gradient = share(fit->whole, 1, (double)(fit->laps + fit->temperature));
}

/* Gives moments that part of the budget, gradients the rest. */
static void split(struct dp_fit *fit, double moments)
{
    fit->moments = share(fit->whole, moments, 1);
    fit->gradient = share(fit->whole, 1 - moments, (double)(fit->laps + fit->temperature));
}

/* Where the moments are far above their noise (reach / columns), more laps come closer to the minimum. Elsewhere the last
 * directions that they reach are mostly noise: on Adult with cosines 128 laps had .005 of AUC less than 37. Very far above the
 * noise 64 laps do nearly as much as 128. */
static int64_t laps_behind_moments(const struct dp_fit *fit, double columns, double least)
{
    const double most = between(LAPS_OF_FAR_REACH, 128, floor(LAPS_OF_FAR_REACH * FAR_REACH / fit->reach));
    return (int64_t)between(least, most, floor(9 * fit->reach / columns + 0.5));
}

/* Slopes of the logistic loss are clipped at 1/2, where a row is on the wrong side. From there on the loss grows linearly, as a
 * hinge does; weights are about 1 / scale times as long as for probabilities. The step is 4 / the largest curvature. Far above
 * the noise the radius is larger, which cuts rows less. Found on Adult, Phishing, wine and made-up rows; above 1 on made-up
 * claims: rows of a rare class are long, and a radius of 1 cost .016 of AUC. Where samples differ by more than the noise, better
 * moments are worth more: with .15 of the budget in place of .3 log loss was .0005 to .0015 higher on three large tables. */
static void two_classes(struct dp_fit *fit, double columns)
{
    fit->run = DP_FIT_TRANSFORMED;
    fit->laps = laps_behind_moments(fit, columns, 16);
    fit->floor = 0.5;
    fit->radius = six(between(0.7, 2, 0.7 * pow(fit->reach / 150, 0.25)));
    fit->clip = 1;
    fit->step = 4;
    fit->scale = 1;
    if (fit->loss == DP_LOSS_LOGISTIC) {
        fit->clip = 0.5;
        fit->step = 16;
        fit->scale = six(0.62 * pow(fmin(fit->radius, 1) / 0.7, 0.4));
    }
    split(fit, between(0.15, 0.3, 0.3 * fit->reach / FAR_REACH));
}

/* The length of a row does not affect which score is the largest, so rows are scaled to norm 1. Found on Fashion-MNIST; laps
 * and scale also on letters, wine and households. */
static void many_classes(struct dp_fit *fit, double columns)
{
    fit->run = DP_FIT_TRANSFORMED;
    fit->laps = laps_behind_moments(fit, columns, 32);
    fit->floor = 0.5;
    fit->radius = 0.5;
    fit->unit = true;
    fit->clip = 0.5;
    fit->scale = fit->loss == DP_LOSS_SOFTMAX ? SCALE_OF_SOFTMAX : 1;
    fit->step = six(between(0, 24, fit->reach / 6));
    split(fit, 0.15);
}

/* Cutting a row changes its residual. So rows keep their length, and residuals are clipped instead. The size of residuals is
 * not public. So the bound begins at 1 and follows a quantile, which comes from counts with 5 % of the budget of the gradients.
 * The early laps only find this bound and the constant; otherwise wide bounds of the label made R² fall below 0. Closer to the
 * noise, the quantile is lower and the step is shorter. On insurance at a reach of 8.5 the lower quartile of R² was below 0.02
 * with a step of 1, and above 0.4 with a step of 0.25. Found on protein, bicycles and wine, the step also on insurance. */
static void numbers(const struct dp_fit_facts *facts, struct dp_fit *fit)
{
    const double moments = 0.1, rest = 1 - moments, late = 32;
    fit->run = DP_FIT_UNCUT;
    fit->late = (int64_t)late;
    fit->laps = fit->late + (fit->reach / 4 > 45 ? 64 : 32);
    fit->floor = 0.4;
    fit->radius = 0.7;
    fit->step = six(between(0.25, 1, pow(fit->reach / 20, 2)));
    double laps = (double)fit->laps;
    fit->tail = six((laps - late) / (2 * laps));
    fit->moments = share(fit->whole, moments, 1);
    fit->counts = share(fit->whole, 0.05 * rest, laps);
    fit->gradient = share(fit->whole, 0.95 * rest, DP_FIT_EARLY * (laps - late + late / DP_FIT_EARLY));
    fit->quantile = six(1 - six(between(0.01, 0.4, 10 / fit->reach)));
    double most = six(between(0, 10, 0.4 * (double)facts->persons / fit->counts));
    fit->quantile_rate = six(between(0, most, 0.15 / (1 - fit->quantile)));
}

/* The multiplier of a lap of gradients with the counts on the same batch: two Gaussian releases are one. */
static double with_counts(double gradient, double counts)
{
    return counts > 0 ? 1 / sqrt(1 / (gradient * gradient) + 1 / (counts * counts)) : gradient;
}

static int charge(struct dp_charges *charges, double rate, double multiplier, int64_t laps, struct dp_err *err)
{
    const struct dp_event event = dp_event_gaussian(rate < 1 ? DP_SAMPLING_POISSON : DP_SAMPLING_NONE, rate, multiplier, 0);
    return laps > 0 ? dp_charges_add(charges, &event, laps, err) : DP_OK;
}

/* The rate of a lap that samples about that many persons, or more so that its multiplier is not too small; 1 from 1/2 on. */
static double rate_of(const struct dp_fit_facts *facts, const struct dp_fit *fit, double persons, double multiplier)
{
    const double least = between(LEAST_MULTIPLIER_OF_A_FAR_SAMPLE, LEAST_MULTIPLIER_OF_A_SAMPLE, FAR_REACH / fit->reach);
    const double rate = six(fmax(persons / (double)facts->persons, least / multiplier));
    return rate < 0.5 ? rate : 1;
}

/* Makes laps of a large table laps of samples: noise and sums both shrink by the rate, so a mean has the noise that it had. */
static int sample(const struct dp_fit_facts *facts, const struct dp_fit_budget *budget, struct dp_fit *fit, struct dp_err *err)
{
    struct dp_charges charges = {0};
    const double first = with_counts(fit->gradient, fit->counts),
                 late = with_counts(fit->run == DP_FIT_UNCUT ? fit->gradient / sqrt(DP_FIT_EARLY) : fit->gradient, fit->counts),
                 rate = rate_of(facts, fit, PERSONS_OF_A_LAP, late);
    double factor;
    if (!facts->here || budget->replace_one || budget->before > 0 || rate == 1)
        return DP_OK;
    fit->rate = rate;
    if (fit->moments > 0)
        fit->moments_rate = rate_of(facts, fit, PERSONS_OF_MOMENTS, fit->moments);
    int rc = charge(&charges, fit->moments_rate, fit->moments_rate * fit->moments, fit->moments > 0, err);
    rc = rc ?: charge(&charges, rate, rate * first, fit->late, err);
    rc = rc ?: charge(&charges, rate, rate * late, fit->laps - fit->late + fit->temperature, err);
    rc = rc ?: dp_calibrate_noise(DP_ACCOUNTANT_BEST, &charges, budget->epsilon, budget->delta, &factor, err);
    dp_charges_free(&charges);
    if (rc != DP_OK)
        return rc;
    fit->moments = share(fit->moments_rate * fit->moments * factor, 1, 1);
    fit->gradient = share(rate * fit->gradient * factor, 1, 1);
    fit->counts = share(rate * fit->counts * factor, 1, 1);
    return DP_OK;
}

int dp_fit_choose(const struct dp_fit_facts *facts, const struct dp_fit_budget *budget, enum dp_loss loss, struct dp_fit *fit,
                  struct dp_err *err)
{
    int rc = check_facts(facts, budget, err);
    /* For numbers the column has to be constant, which bias in rows of norm 1 is not. A longer column makes the noise larger. */
    const double constant = facts->classes == 0 ? 0.1 : facts->constant ? 0 : 0.5;
    *fit = (struct dp_fit){.loss = loss,
                           .rate = 1,
                           .moments_rate = 1,
                           .intercept = constant,
                           .temperature = loss == DP_LOSS_SOFTMAX ? TEMPERATURE_LAPS : 0};
    rc = rc ?: measure(facts, budget, fit, err);
    rc = rc ?: check_reach(facts, budget, fit, err);
    if (rc != DP_OK)
        return rc;
    if (facts->images && facts->classes > 0) {
        dp_fit_images(fit);
        fit->gradient = share(fit->whole, 1, (double)(fit->laps + fit->temperature));
        return sample(facts, budget, fit, err);
    }
    const double columns = all_columns(facts, fit);
    /* Slopes of classes are clipped, but residuals of numbers grow if a direction is steeper than the step allows: without the
       transform R² was below 0 on small tables. */
    if (only_gradients(facts->classes, fit->reach, columns) || columns > MOST_COLUMNS)
        plain(fit, columns);
    else if (facts->classes == 0)
        numbers(facts, fit);
    else if (facts->classes == 2)
        two_classes(fit, columns);
    else
        many_classes(fit, columns);
    /* The rows of a person point in similar directions, so the same step moves a score up to rows_per_person times as far. For
       classes the clip limits this; for numbers the residuals would grow. */
    if (facts->classes == 0 && facts->rows_per_person > 0)
        fit->step = six(fit->step / (double)facts->rows_per_person);
    return sample(facts, budget, fit, err);
}

/* --- rows that arrive once: see dp-fit-rules(7) */

enum { STREAM_WINDOWS = 256, STREAM_BYTES = 1 << 20, STREAM_BANDS = 4096 };
#define STREAM_STEP 30           /* of two classes or more, for STREAM_WINDOWS laps */
#define STREAM_STEP_OF_NUMBERS 1 /* the most */
#define STREAM_REACH 2000        /* rows / whole, from which numbers have the most */

int dp_fit_stream(const struct dp_fit_facts *facts, const struct dp_fit_budget *budget, enum dp_loss loss, struct dp_fit *fit,
                  struct dp_err *err)
{
    const int64_t rows = facts->persons, most = STREAM_BYTES / (4 * facts->columns + 16);
    int rc = check_facts(facts, budget, err);
    *fit = (struct dp_fit){.run = DP_FIT_STREAM, .loss = loss, .rate = 1, .moments_rate = 1, .clip = 1};
    rc = rc ?: measure(facts, budget, fit, err);
    if (rc != DP_OK)
        return rc;
    fit->gradient = share(fit->whole, 1, 1);
    fit->window = rows < 2 * STREAM_WINDOWS ? 1 : rows / STREAM_WINDOWS;
    if (fit->window > most)
        fit->window = most > 0 ? most : 1;
    fit->laps = rows / fit->window;
    fit->bands = fit->laps < STREAM_BANDS ? fit->laps : STREAM_BANDS;
    fit->step = STREAM_STEP;
    if (facts->classes == 0)
        fit->step = fmin(STREAM_STEP_OF_NUMBERS, (double)rows / (STREAM_REACH * fit->whole));
    fit->step = six(fit->step * STREAM_WINDOWS / (double)fit->laps);
    return DP_OK;
}
