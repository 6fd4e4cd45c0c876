#include "base/round.h"

#include "base/number.h"

/* The decimal of `digits` significant digits that is nearest to value, as mantissa × 10^exponent and as the double that the
 * text reads back as. The double does not determine the printed decimal. */
static double nearest(double value, int digits, long long *mantissa, long *exponent)
{
    char text[48];
    double rounded = value;
    snprintf(text, sizeof text, "%.*e", digits - 1, value);
    dp_number_real(text, &rounded);
    *mantissa = 0;
    *exponent = 0;
    const char *p = text;
    for (; *p != '\0' && *p != 'e'; p++)
        if (*p >= '0' && *p <= '9')
            *mantissa = *mantissa * 10 + (*p - '0');
    if (*p == 'e')
        sscanf(p + 1, "%ld", exponent);
    *exponent -= digits - 1;
    return rounded;
}

static double decimal(long long mantissa, long exponent)
{
    char text[48];
    double value = 0;
    snprintf(text, sizeof text, "%llde%ld", mantissa, exponent);
    dp_number_real(text, &value);
    return value;
}

double dp_round_up(double value, int digits)
{
    long long mantissa;
    long exponent;
    if (!(value > 0) || !isfinite(value))
        return value;
    double rounded = nearest(value, digits, &mantissa, &exponent);
    return rounded >= value ? rounded : decimal(mantissa + 1, exponent);
}

double dp_round_down(double value, int digits)
{
    long long mantissa;
    long exponent;
    if (!(value > 0) || !isfinite(value))
        return value;
    double rounded = nearest(value, digits, &mantissa, &exponent);
    if (rounded <= value)
        return rounded;
    /* Just below a power of ten, the same number of digits gives steps that are ten times smaller. */
    bool power = mantissa == llround(pow(10, digits - 1));
    return power ? decimal(mantissa * 10 - 1, exponent - 1) : decimal(mantissa - 1, exponent);
}

double dp_round_up_bits(double value)
{
    int exponent;
    double part = frexp(value, &exponent);
    return ldexp(ceil(ldexp(part, 32)), exponent - 32);
}
