#include "math/loss.h"

#define NAME(id, name, ...) name,
const char *const dp_loss_names[DP_LOSS_COUNT] = {DP_LOSSES(NAME)};

#define INFO(id, name, of, link, width, ...) {DP_LOSS_OF_##of, DP_LOSS_LINK_##link, width},
const struct dp_loss_info dp_losses[DP_LOSS_COUNT] = {DP_LOSSES(INFO)};

int dp_loss_parse(const char *name, enum dp_loss *loss)
{
    for (int i = 0; i < DP_LOSS_COUNT; i++) {
        if (strcmp(name, dp_loss_names[i]) == 0) {
            *loss = (enum dp_loss)i;
            return 0;
        }
    }
    return -1;
}

bool dp_loss_takes(enum dp_loss loss, double y)
{
    switch (dp_losses[loss].of) {
    case DP_LOSS_OF_MARGIN:
        return fabs(y) == 1;
    case DP_LOSS_OF_RESIDUAL:
        return isfinite(y);
    case DP_LOSS_OF_COUNT:
        return y >= 0 && isfinite(y);
    case DP_LOSS_OF_CLASS:
        break;
    }
    return y >= 0 && floor(y) == y;
}

static double clamp(double x, double low, double high)
{
    double least = x < low ? low : x;
    return least > high ? high : least;
}

static double logistic_curvature(double u)
{
    double e = exp(-fabs(u));
    return e / ((1 + e) * (1 + e));
}

/* A function for each column of formulas in the table. */
#define VALUE(id, name, of, link, width, value, ...)                                                                           \
    case DP_LOSS_##id:                                                                                                         \
        return value;
#define SLOPE(id, name, of, link, width, value, slope, ...)                                                                    \
    case DP_LOSS_##id:                                                                                                         \
        return slope;
#define CURVATURE(id, name, of, link, width, value, slope, curvature, ...)                                                     \
    case DP_LOSS_##id:                                                                                                         \
        return curvature;
#define LARGEST(id, name, of, link, width, value, slope, curvature, largest, ...)                                              \
    case DP_LOSS_##id:                                                                                                         \
        return largest;
#define STEEPEST(id, name, of, link, width, value, slope, curvature, largest, steepest, ...)                                   \
    case DP_LOSS_##id:                                                                                                         \
        return steepest;
#define ROUNDING(id, name, of, link, width, value, slope, curvature, largest, steepest, rounding)                              \
    case DP_LOSS_##id:                                                                                                         \
        return rounding;
#define FUNCTION(function, column)                                                                                             \
    function(enum dp_loss loss, double g, double y, double u)                                                                  \
    {                                                                                                                          \
        const double m = y * u, t = 1.0 - m, r = u - y;                                                                        \
        (void)g, (void)m, (void)t, (void)r;                                                                                    \
        switch (loss) {                                                                                                        \
            DP_LOSSES(column)                                                                                                  \
        case DP_LOSS_COUNT:                                                                                                    \
            break;                                                                                                             \
        }                                                                                                                      \
        return (double)NAN;                                                                                                    \
    }
FUNCTION(double dp_loss_value, VALUE)
FUNCTION(double dp_loss_slope, SLOPE)
FUNCTION(double dp_loss_curvature, CURVATURE)
FUNCTION(static double largest_slope, LARGEST)
FUNCTION(static double largest_curvature, STEEPEST)
FUNCTION(static double slope_rounding, ROUNDING)

bool dp_loss_has_slope(enum dp_loss loss)
{
    return dp_loss_is_joint(loss) || !isnan(dp_loss_curvature(loss, 1, 1, 0));
}

double dp_loss_prediction(enum dp_loss loss, double u)
{
    return dp_losses[loss].link == DP_LOSS_LINK_LOG ? exp(u) : u;
}

static double largest(const double *u, size_t count)
{
    double top = u[0];
    for (size_t k = 1; k < count; k++)
        top = fmax(top, u[k]);
    return top;
}

double dp_softmax_value(const double *u, size_t outputs, size_t class)
{
    double top = largest(u, outputs), sum = 0;
    for (size_t k = 0; k < outputs; k++)
        sum += exp(u[k] - top);
    return log(sum) + (top - u[class]);
}

void dp_softmax_slope(const double *u, size_t outputs, size_t class, double *slope)
{
    double top = largest(u, outputs), sum = 0;
    for (size_t k = 0; k < outputs; k++)
        sum += slope[k] = exp(u[k] - top);
    for (size_t k = 0; k < outputs; k++)
        slope[k] /= sum;
    slope[class] -= 1;
}

double dp_loss_row_value(enum dp_loss loss, double width, double label, size_t classes, const double *u, size_t outputs)
{
    double sum = 0;
    if (dp_loss_is_joint(loss))
        return dp_softmax_value(u, outputs, (size_t)label);
    for (size_t k = 0; k < outputs; k++)
        sum += dp_loss_value(loss, width, dp_loss_target(label, classes, outputs, k), u[k]);
    return sum;
}

void dp_loss_row_slope(enum dp_loss loss, double width, double label, size_t classes, const double *u, size_t outputs,
                       double *slope)
{
    if (dp_loss_is_joint(loss)) {
        dp_softmax_slope(u, outputs, (size_t)label, slope);
        return;
    }
    for (size_t k = 0; k < outputs; k++)
        slope[k] = dp_loss_slope(loss, width, dp_loss_target(label, classes, outputs, k), u[k]);
}

double dp_loss_lipschitz(enum dp_loss loss, double width, size_t outputs)
{
    double one = largest_slope(loss, width, 0, 0);
    return dp_loss_is_joint(loss) ? one : one * sqrt((double)outputs);
}

double dp_loss_smoothness(enum dp_loss loss, double width)
{
    return largest_curvature(loss, width, 0, 0);
}

double dp_loss_slope_rounding(enum dp_loss loss, double width, size_t outputs)
{
    const double u = 0x1p-53;
    if (dp_loss_is_joint(loss))
        return u * (4 * (double)outputs + 16);
    return u * slope_rounding(loss, width, 0, 0) * dp_loss_lipschitz(loss, width, outputs);
}
