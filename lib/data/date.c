#include "data/date.h"

#include <ctype.h>
#include <time.h>

#define SECONDS 86400.0 /* of a day */

const char *const dp_date_parts[] = {NULL, "month", "weekday"};
const char *const dp_date_months[] = {"January", "February",  "March",   "April",    "May",      "June", "July",
                                      "August",  "September", "October", "November", "December", NULL};
const char *const dp_date_weekdays[] = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday", NULL};

/* clang-format off */
const char *const dp_date_formats[DP_DATE_FORMATS] = {
    "%d/%m/%Y", "%d/%m/%Y %H:%M", "%d/%m/%y", "%m/%d/%Y", "%m/%d/%Y %H:%M", "%m/%d/%y",
    "%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%d %H:%M", "%Y/%m/%d",
    "%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%y", "%d-%m-%Y", "%d-%b-%Y", "%d %b %Y", "%H:%M", "%H:%M:%S"};
/* clang-format on */

bool dp_date_read(const char *format, enum dp_date_part part, const char *text, size_t length, double *value)
{
    char date[DP_DATE_TEXT];
    struct tm t = {.tm_mday = 1, .tm_year = 70};
    if (length == 0 || length >= sizeof date)
        return false;
    memcpy(date, text, length);
    date[length] = '\0';
    const char *end = strptime(date, format, &t);
    if (end == NULL || end != date + length || t.tm_year < 1000 - 1900)
        return false;
    int day = t.tm_mday;
    long zone = t.tm_gmtoff;
    double seconds = (double)timegm(&t);
    if (t.tm_mday != day) /* 31 June became 1 July */
        return false;
    *value = (seconds - (double)zone) / SECONDS;
    if (part == DP_DATE_MONTH)
        *value = t.tm_mon + 1;
    else if (part == DP_DATE_WEEKDAY)
        *value = t.tm_wday == 0 ? 7 : t.tm_wday;
    return true;
}

size_t dp_date_find(const char *text, size_t length, double *days)
{
    size_t k = length > 0 && isdigit((unsigned char)*text) ? 0 : DP_DATE_FORMATS; /* each of them begins with a digit */
    while (k < DP_DATE_FORMATS && !dp_date_read(dp_date_formats[k], DP_DATE_DAYS, text, length, days))
        k++;
    return k;
}

const char *dp_date_print(const char *format, double days, char text[DP_DATE_TEXT])
{
    time_t seconds = (time_t)llround(days * SECONDS);
    struct tm t;
    if (gmtime_r(&seconds, &t) == NULL || strftime(text, DP_DATE_TEXT, format, &t) == 0)
        text[0] = '\0';
    return text;
}

static double read_back(const char *format, double days)
{
    double read = NAN;
    char text[DP_DATE_TEXT];
    dp_date_print(format, days, text);
    dp_date_read(format, DP_DATE_DAYS, text, strlen(text), &read);
    return read;
}

#define DAY 11653 /* 27 November 2001 */

bool dp_date_is_time(const char *format)
{
    const double time = 0.6;
    return fabs(read_back(format, DAY + time) - time) < 1. / 24;
}

bool dp_date_format(const char *format)
{
    double read = read_back(format, DAY);
    return (fabs(read - DAY) < 366 - 35 && read <= DAY + 1) || dp_date_is_time(format);
}
