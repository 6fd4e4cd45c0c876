#include "data/quantise.h"

#define BITS 15 /* without the sign */
#define LEAST (-126)
#define LARGEST 112

float dp_quantise_step(double most)
{
    int exponent;
    if (!(most > 0))
        return (float)ldexp(1, LEAST);
    if (frexp(most, &exponent) == 0.5) /* most is 2^(exponent − 1) */
        exponent--;
    exponent -= BITS;
    return (float)ldexp(1, exponent < LEAST ? LEAST : exponent > LARGEST ? LARGEST : exponent);
}

bool dp_quantise_good(float step)
{
    int exponent;
    return isfinite(step) && frexpf(step, &exponent) == 0.5f && exponent - 1 >= LEAST && exponent - 1 <= LARGEST;
}

static float steps_of(float step, float value)
{
    return fmaxf(-INT16_MAX, fminf(INT16_MAX, truncf(value / step)));
}

void dp_quantise_row(const float *step, size_t cols, float *row)
{
    for (size_t j = 0; j < cols; j++)
        row[j] = steps_of(step[j], row[j]) * step[j] + 0.0f; /* −0 + 0 is 0 */
}

void dp_quantise_narrow(const float *step, size_t cols, const float *row, int16_t *narrow)
{
    for (size_t j = 0; j < cols; j++)
        narrow[j] = (int16_t)steps_of(step[j], row[j]);
}
