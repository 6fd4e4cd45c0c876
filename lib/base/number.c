#include "base/number.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* Numbers of at most 15 digits, without an exponent: the digits and the power of ten are exact doubles, so their quotient is
 * rounded once, as strtod rounds (Clinger, 1990). False: strtod has to read the number. */
static bool short_decimal(const char *text, double *value, const char **end)
{
    static const double power[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const char *p = text;
    int64_t whole = 0;
    int digits = 0, after = 0;
    bool negative = *p == '-';
    if (*p == '+' || *p == '-')
        p++;
    for (bool point = false; digits <= 15; p++) {
        if (isdigit((unsigned char)*p)) {
            whole = 10 * whole + (*p - '0');
            digits++;
            after += point;
        } else if (*p == '.' && !point) {
            point = true;
        } else {
            break;
        }
    }
    if (FLT_EVAL_METHOD != 0 || digits == 0 || digits > 15 || (*p != '\0' && *p != '/'))
        return false;
    *value = (double)whole / power[after];
    if (negative)
        *value = -*value;
    *end = p;
    return true;
}

/* strtod in the C locale, without its hexadecimal, "inf" and "nan" forms. */
static bool decimal(const char *text, double *value, const char **end)
{
    if (short_decimal(text, value, end))
        return true;
    const char *p = text;
    if (*p == '+' || *p == '-')
        p++;
    if (!isdigit((unsigned char)*p) && !(*p == '.' && isdigit((unsigned char)p[1])))
        return false;
    if (*p == '0' && (p[1] == 'x' || p[1] == 'X'))
        return false;
    pthread_once(&c_locale_once, make_c_locale);
    char *stop;
    *value = strtod_l(text, &stop, c_locale);
    *end = stop;
    return isfinite(*value);
}

bool dp_number_real(const char *text, double *value)
{
    const char *end;
    if (!decimal(text, value, &end))
        return false;
    if (*end == '/') {
        double divisor;
        if (!decimal(end + 1, &divisor, &end) || divisor == 0.0)
            return false;
        *value /= divisor;
    }
    return *end == '\0' && isfinite(*value);
}

bool dp_number_int(const char *text, int64_t *value)
{
    const char *p = text;
    if (*p == '+' || *p == '-')
        p++;
    if (!isdigit((unsigned char)*p))
        return false;
    char *end;
    errno = 0;
    long long parsed = strtoll(text, &end, 10);
    if (errno != 0 || *end != '\0')
        return false;
    *value = parsed;
    return true;
}

bool dp_number_cell(const char *text, unsigned long length, double *value)
{
    char buffer[64];
    while (length > 0 && isspace((unsigned char)text[0])) {
        text++;
        length--;
    }
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        length--;
    if (length == 0 || length >= sizeof buffer || memchr(text, '\0', length) != NULL)
        return false;
    memcpy(buffer, text, length);
    buffer[length] = '\0';
    const char *end;
    return decimal(buffer, value, &end) && *end == '\0';
}

bool dp_number_comma(const char *text, unsigned long length, double *value)
{
    char plain[64];
    size_t used = 0, digits = 0;
    bool grouped = false, comma = false;
    for (size_t i = 0; i < length; i++) {
        bool point = text[i] == '.', end_of_group = (grouped || point) && !comma && !isdigit((unsigned char)text[i]);
        if (used + 1 >= sizeof plain || (end_of_group && grouped && digits != 3) ||
            (point && (comma || digits == 0 || digits > 3)) || (text[i] == ',' && comma))
            return false;
        digits = isdigit((unsigned char)text[i]) ? digits + 1 : 0;
        grouped |= point;
        comma |= text[i] == ',';
        if (!point)
            plain[used++] = text[i] == ',' ? '.' : text[i];
    }
    return !(grouped && !comma && digits != 3) && dp_number_cell(plain, used, value);
}

const char *dp_number_print(double value, char *buffer, unsigned long size)
{
    if (value == floor(value) && fabs(value) < 1e15) {
        snprintf(buffer, size, "%.0f", value);
        return buffer;
    }
    /* A double keeps a decimal of up to 15 digits, but the few bits of a subnormal do not. */
    for (int digits = fabs(value) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
        snprintf(buffer, size, "%.*g", digits, value);
        if (strtod(buffer, NULL) == value)
            break;
    }
    return buffer;
}
