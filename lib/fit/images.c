#include "fit/images.h"

void dp_fit_images(struct dp_fit *fit)
{
    char step[40];
    double way = 36000 * pow(fit->reach / 415, 0.7);
    fit->run = DP_FIT_DECAYED;
    fit->laps = 128;
    fit->clip = 0.02;
    fit->scale = 1;
    snprintf(step, sizeof step, "%.6g", 2 * (1 - DP_FIT_MOMENTUM) * way / ((double)fit->laps * fit->clip));
    fit->step = strtod(step, NULL);
}
