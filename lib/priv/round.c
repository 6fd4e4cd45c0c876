#include "priv/round.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

double dp_round_up(double value, int digits)
{
    /* Through text: only the decimal itself says what will be printed. */
    char text[40];
    if (!(value > 0) || !isfinite(value))
        return value;
    snprintf(text, sizeof text, "%.*e", digits - 1, value);
    double rounded;
    char *e = strchr(text, 'e');
    if (!dp_number_real(text, &rounded) || rounded >= value || e == NULL)
        return rounded;
    long exponent = 0;
    long long mantissa = 0;
    sscanf(e + 1, "%ld", &exponent);
    for (const char *p = text; p < e; p++)
        if (*p >= '0' && *p <= '9')
            mantissa = mantissa * 10 + (*p - '0');
    snprintf(text, sizeof text, "%llde%ld", mantissa + 1, exponent - (digits - 1));
    dp_number_real(text, &rounded);
    return rounded;
}

double dp_round_down(double value, int digits)
{
    double up = dp_round_up(value, digits);
    if (up <= value)
        return up;
    /* One unit of the last digit lower is a decimal that rounding up leaves alone. */
    double unit = pow(10, floor(log10(up)) - (digits - 1));
    double down = dp_round_up(up - 1.5 * unit, digits);
    return down <= value ? down : dp_round_up(up - 2.5 * unit, digits);
}
