#include "math/metrics.h"

#include "math/vec.h"

size_t dp_metric_class(const double *scores, size_t outputs)
{
    if (outputs == 1)
        return scores[0] > 0;
    size_t best = 0;
    for (size_t k = 1; k < outputs; k++)
        if (scores[k] > scores[best])
            best = k;
    return best;
}

double dp_metric_accuracy(const double *scores, size_t outputs, const double *y, size_t rows)
{
    size_t right = 0;
    for (size_t i = 0; i < rows; i++)
        right += dp_metric_class(scores + i * outputs, outputs) == (size_t)y[i];
    return rows > 0 ? (double)right / (double)rows : (double)NAN;
}

double dp_metric_majority(const double *y, size_t rows, size_t classes, uint64_t *counts)
{
    uint64_t most = 0;
    memset(counts, 0, classes * sizeof *counts);
    for (size_t i = 0; i < rows; i++)
        counts[(size_t)y[i]]++;
    for (size_t k = 0; k < classes; k++)
        most = counts[k] > most ? counts[k] : most;
    return rows > 0 ? (double)most / (double)rows : (double)NAN;
}

void dp_metric_confusion(const double *scores, size_t outputs, const double *y, size_t rows, size_t classes, uint64_t *counts)
{
    memset(counts, 0, classes * classes * sizeof *counts);
    for (size_t i = 0; i < rows; i++)
        counts[(size_t)y[i] * classes + dp_metric_class(scores + i * outputs, outputs)]++;
}

static double rate_of(enum dp_metric_rate rate, const uint64_t *counts, size_t classes, size_t k)
{
    uint64_t predicted = 0, there = 0, right = counts[k * classes + k];
    for (size_t i = 0; i < classes; i++) {
        predicted += counts[i * classes + k];
        there += counts[k * classes + i];
    }
    if (rate == DP_METRIC_F1)
        return 2 * (double)right / (double)(predicted + there);
    return (double)right / (double)(rate == DP_METRIC_PRECISION ? predicted : there);
}

double dp_metric_rate(enum dp_metric_rate rate, const uint64_t *counts, size_t classes)
{
    double sum = 0;
    size_t counted = 0;
    if (classes == 2)
        return rate_of(rate, counts, classes, 1);
    for (size_t k = 0; k < classes; k++) {
        double value = rate_of(rate, counts, classes, k);
        sum += isnan(value) ? 0 : value;
        counted += !isnan(rate_of(DP_METRIC_F1, counts, classes, k));
    }
    return counted > 0 ? sum / (double)counted : (double)NAN;
}

/* Doubles as integers in the same order; −0 is 0. */
static uint64_t ordered(double value)
{
    uint64_t bits;
    value += 0.0;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

/* Sorts key[0..count) by bytes, lowest first. A byte that is the same in all keys costs one pass of counting. Returns where the
   sorted keys are: key or spare. */
static const uint64_t *sort_keys(uint64_t *key, uint64_t *spare, size_t count)
{
    for (unsigned shift = 0; shift < 64; shift += 8) {
        size_t start[256] = {0}, sum = 0;
        for (size_t i = 0; i < count; i++)
            start[key[i] >> shift & 255]++;
        if (start[key[0] >> shift & 255] == count)
            continue;
        for (int b = 0; b < 256; b++) {
            size_t here = start[b];
            start[b] = sum;
            sum += here;
        }
        for (size_t i = 0; i < count; i++)
            spare[start[key[i] >> shift & 255]++] = key[i];
        uint64_t *swap = key;
        key = spare;
        spare = swap;
    }
    return key;
}

/* Sorts the rows of the class and the other rows separately. A merge then counts, for each row of the class, the other rows
 * with a lower and with an equal score. */
static double auc_of(const double *scores, size_t outputs, size_t output, size_t class, const double *y, size_t rows,
                     uint64_t *work)
{
    size_t inside = 0, outside = 0;
    for (size_t i = 0; i < rows; i++)
        inside += (size_t)y[i] == class;
    outside = rows - inside;
    if (inside == 0 || outside == 0)
        return (double)NAN;
    uint64_t *in = work, *out = work + inside;
    for (size_t i = 0, a = 0, b = 0; i < rows; i++) {
        uint64_t key = ordered(scores[i * outputs + output]);
        if ((size_t)y[i] == class)
            in[a++] = key;
        else
            out[b++] = key;
    }
    const uint64_t *p = sort_keys(in, work + rows, inside);
    const uint64_t *n = sort_keys(out, work + rows + inside, outside);
    double pairs = 0;
    for (size_t i = 0, below = 0, up_to = 0; i < inside; i++) {
        while (below < outside && n[below] < p[i])
            below++;
        if (up_to < below)
            up_to = below;
        while (up_to < outside && n[up_to] == p[i])
            up_to++;
        pairs += (double)below + 0.5 * (double)(up_to - below);
    }
    return pairs / ((double)inside * (double)outside);
}

double dp_metric_auc(const double *scores, size_t outputs, const double *y, size_t rows, uint64_t *work)
{
    if (outputs == 1)
        return auc_of(scores, 1, 0, 1, y, rows, work);
    double sum = 0;
    size_t counted = 0;
    for (size_t k = 0; k < outputs; k++) {
        double auc = auc_of(scores, outputs, k, k, y, rows, work);
        if (isnan(auc))
            continue;
        sum += auc;
        counted++;
    }
    return counted > 0 ? sum / (double)counted : (double)NAN;
}

/* ln(1/(1 + e^{−u})) */
static double log_sigmoid(double u)
{
    return u > 0 ? -log1p(exp(-u)) : u - log1p(exp(u));
}

/* ln Σ_k 1/(1 + e^{−u_k}) */
static double log_total(const double *scores, size_t outputs)
{
    double top = -(double)INFINITY, sum = 0;
    for (size_t k = 0; k < outputs; k++)
        top = fmax(top, log_sigmoid(scores[k]));
    for (size_t k = 0; k < outputs; k++)
        sum += exp(log_sigmoid(scores[k]) - top);
    return top + log(sum);
}

bool dp_metric_has_probability(enum dp_loss loss)
{
    return dp_losses[loss].link == DP_LOSS_LINK_LOGIT || dp_losses[loss].link == DP_LOSS_LINK_SOFTMAX;
}

void dp_metric_probability(enum dp_loss loss, const double *scores, size_t outputs, double *p)
{
    if (dp_loss_is_joint(loss)) {
        for (size_t k = 0; k < outputs; k++)
            p[k] = exp(-dp_softmax_value(scores, outputs, k));
        return;
    }
    if (outputs == 1) {
        p[0] = exp(log_sigmoid(-scores[0]));
        p[1] = exp(log_sigmoid(scores[0]));
        return;
    }
    double total = log_total(scores, outputs);
    for (size_t k = 0; k < outputs; k++)
        p[k] = exp(log_sigmoid(scores[k]) - total);
}

double dp_metric_log_loss(enum dp_loss loss, const double *scores, size_t outputs, const double *y, size_t rows)
{
    double sum = 0;
    for (size_t i = 0; i < rows; i++) {
        const double *u = scores + i * outputs;
        if (dp_loss_is_joint(loss))
            sum += dp_softmax_value(u, outputs, (size_t)y[i]);
        else if (outputs == 1)
            sum -= log_sigmoid(y[i] > 0 ? u[0] : -u[0]);
        else
            sum -= log_sigmoid(u[(size_t)y[i]]) - log_total(u, outputs);
    }
    return rows > 0 ? sum / (double)rows : (double)NAN;
}

double dp_metric_brier(enum dp_loss loss, const double *scores, size_t outputs, const double *y, size_t rows, double *p)
{
    double sum = 0;
    for (size_t i = 0; i < rows; i++) {
        dp_metric_probability(loss, scores + i * outputs, outputs, p);
        for (size_t k = outputs == 1; k < (outputs == 1 ? 2 : outputs); k++)
            sum += (p[k] - (y[i] == (double)k)) * (p[k] - (y[i] == (double)k));
    }
    return rows > 0 ? sum / (double)rows : (double)NAN;
}

double dp_metric_prediction(enum dp_loss loss, double score, struct dp_affine units)
{
    double value = units.scale * dp_loss_prediction(loss, score) + units.offset;
    if (!(units.low < units.high))
        return value;
    return value < units.low ? units.low : value > units.high ? units.high : value;
}

double dp_metric_mae(enum dp_loss loss, const double *scores, struct dp_affine prediction, const double *y,
                     struct dp_affine truth, size_t rows)
{
    double sum = 0;
    for (size_t i = 0; i < rows; i++)
        sum += fabs(dp_metric_prediction(loss, scores[i], prediction) - (truth.scale * y[i] + truth.offset));
    return rows > 0 ? sum / (double)rows : (double)NAN;
}

static double squared_error(enum dp_loss loss, const double *scores, struct dp_affine prediction, const double *y,
                            struct dp_affine truth, size_t rows)
{
    double sum = 0;
    for (size_t i = 0; i < rows; i++) {
        double error = dp_metric_prediction(loss, scores[i], prediction) - (truth.scale * y[i] + truth.offset);
        sum += error * error;
    }
    return sum;
}

double dp_metric_mse(enum dp_loss loss, const double *scores, struct dp_affine prediction, const double *y,
                     struct dp_affine truth, size_t rows)
{
    return rows > 0 ? squared_error(loss, scores, prediction, y, truth, rows) / (double)rows : (double)NAN;
}

double dp_metric_deviance(enum dp_loss loss, const double *scores, struct dp_affine prediction, const double *y,
                          struct dp_affine truth, size_t rows)
{
    double sum = rows > 0 ? 0 : (double)NAN;
    for (size_t i = 0; i < rows; i++) {
        const double p = dp_metric_prediction(loss, scores[i], prediction), t = truth.scale * y[i] + truth.offset;
        sum += t < 0 || p < 0 ? (double)NAN : (t > 0 ? t * log(t / p) : 0) - t + p;
    }
    return 2 * sum / (double)rows;
}

double dp_metric_r2(enum dp_loss loss, const double *scores, struct dp_affine prediction, const double *y,
                    struct dp_affine truth, size_t rows)
{
    double mean = 0, total = 0;
    for (size_t i = 0; i < rows; i++)
        mean += (y[i] - mean) / (double)(i + 1);
    for (size_t i = 0; i < rows; i++)
        total += (y[i] - mean) * (y[i] - mean);
    total *= truth.scale * truth.scale;
    return total > 0 ? 1.0 - squared_error(loss, scores, prediction, y, truth, rows) / total : (double)NAN;
}

double dp_metric_objective(enum dp_loss loss, double width, double lambda, const double *scores, size_t outputs,
                           const double *y, struct dp_affine label, size_t rows, size_t classes, const double *weights,
                           size_t count)
{
    double sum = 0;
    if (rows == 0)
        return (double)NAN;
    for (size_t i = 0; i < rows; i++) {
        const double *u = scores + i * outputs;
        double truth = classes > 0 ? y[i] : label.scale * y[i] + label.offset;
        if (dp_loss_is_joint(loss))
            sum += dp_softmax_value(u, outputs, (size_t)y[i]);
        for (size_t k = 0; !dp_loss_is_joint(loss) && k < outputs; k++)
            sum += dp_loss_value(loss, width, dp_loss_target(truth, classes, outputs, k), u[k]);
    }
    return sum / (double)rows + 0.5 * lambda * dp_norm2(weights, count);
}
