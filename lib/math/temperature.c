#include "math/temperature.h"

/* p_k is the slope, and for the class of the row 1 more. */
static void softmax_pair(size_t class, const double *u, size_t outputs, double *slope, double pair[2])
{
    double mean = 0, variance = 0;
    dp_softmax_slope(u, outputs, class, slope);
    slope[class] += 1;
    for (size_t k = 0; k < outputs; k++)
        mean += slope[k] * (u[k] - u[class]);
    for (size_t k = 0; k < outputs; k++) {
        double from_mean = u[k] - u[class] - mean;
        variance += slope[k] * from_mean * from_mean;
    }
    pair[0] = mean;
    pair[1] = variance;
}

void dp_temperature_row(enum dp_loss loss, double label, size_t classes, const double *u, size_t outputs, double *slope,
                        double pair[2])
{
    if (dp_loss_is_joint(loss)) {
        softmax_pair((size_t)label, u, outputs, slope, pair);
    } else {
        pair[0] = pair[1] = 0;
        for (size_t k = 0; k < outputs; k++) {
            double y = dp_loss_target(label, classes, outputs, k);
            pair[0] += u[k] * dp_loss_slope(loss, 1, y, u[k]);
            pair[1] += u[k] * u[k] * dp_loss_curvature(loss, 1, y, u[k]);
        }
    }
    pair[0] /= DP_TEMPERATURE_UNIT;
    pair[1] /= DP_TEMPERATURE_UNIT * DP_TEMPERATURE_UNIT;
}

double dp_temperature_factor(const double mean[2], double noise, int64_t turn)
{
    double curvature = fmax(fmax(mean[1], 2 * noise), 0.01), part = turn > 2 ? 2 / (double)turn : 1;
    return fmin(fmax(1 - part * mean[0] / curvature / DP_TEMPERATURE_UNIT, 0.5), 2);
}
