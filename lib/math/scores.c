#include "math/scores.h"

void dp_scores_add(const double *loss, size_t count, double unit, double bound, double inverse_grid, int64_t *score)
{
    double sum = 0, half = bound / 2, per_unit = 1 / unit;
    for (size_t i = 0; i < count; i++)
        sum += loss[i];
    double mean = sum / (double)count;
    for (size_t i = 0; i < count; i++) {
        double part = (loss[i] - mean) * per_unit;
        part = part > half ? half : part < -half ? -half : part;
        score[i] += (int64_t)(part == part ? part * inverse_grid : 0);
    }
}

double dp_scores_spread(const double *candidates, size_t count, size_t size, double *mean)
{
    double furthest = 0;
    memset(mean, 0, size * sizeof *mean);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < size; j++)
            mean[j] += candidates[i * size + j] / (double)count;
    for (size_t i = 0; i < count; i++) {
        double distance2 = 0;
        for (size_t j = 0; j < size; j++) {
            double d = candidates[i * size + j] - mean[j];
            distance2 += d * d;
        }
        furthest = fmax(furthest, distance2);
    }
    return sqrt(furthest);
}
