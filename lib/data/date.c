#include "data/date.h"

#include <time.h>

#define SECONDS 86400.0 /* of a day */

const char *const dp_date_parts[] = {NULL, "month", "weekday"};
const char *const dp_date_months[] = {"January", "February",  "March",   "April",    "May",      "June", "July",
                                      "August",  "September", "October", "November", "December", NULL};
const char *const dp_date_weekdays[] = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday", NULL};

bool dp_date_read(const char *format, enum dp_date_part part, const char *text, size_t length, double *value)
{
    char date[DP_DATE_TEXT];
    struct tm t = {.tm_mday = 1};
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

const char *dp_date_print(const char *format, double days, char text[DP_DATE_TEXT])
{
    time_t seconds = (time_t)llround(days * SECONDS);
    struct tm t;
    if (gmtime_r(&seconds, &t) == NULL || strftime(text, DP_DATE_TEXT, format, &t) == 0)
        text[0] = '\0';
    return text;
}

bool dp_date_format(const char *format)
{
    const double day = 11653; /* 27 November 2001 */
    double read = NAN;
    char text[DP_DATE_TEXT];
    dp_date_print(format, day, text);
    return dp_date_read(format, DP_DATE_DAYS, text, strlen(text), &read) && fabs(read - day) < 366 - 35 && read <= day + 1;
}
