#include "data/date.h"

#include <ctype.h>
#include <time.h>

#include "base/number.h"

#define SECONDS 86400.0 /* of a day */

const char *const dp_date_parts[] = {NULL, "month", "weekday"};
const char *const dp_date_months[] = {"January", "February",  "March",   "April",    "May",      "June", "July",
                                      "August",  "September", "October", "November", "December", NULL};
const char *const dp_date_weekdays[] = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday", NULL};

/* clang-format off */
const char *const dp_date_formats[DP_DATE_FORMATS] = {
    "%d/%m/%Y", "%d/%m/%Y %H:%M", "%d/%m/%y", "%d/%m/%Y %H:%M:%S", "%d/%m/%Y %I:%M %p", "%d/%m/%Y %I:%M:%S %p",
    "%m/%d/%Y", "%m/%d/%Y %H:%M", "%m/%d/%y", "%m/%d/%Y %H:%M:%S", "%m/%d/%Y %I:%M %p", "%m/%d/%Y %I:%M:%S %p",
    "%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%d %H:%M", "%Y/%m/%d",
    "%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%y", "%d-%m-%Y", "%d-%b-%Y", "%d %b %Y", "%H:%M", "%H:%M:%S", "%Y%m%d"};
/* clang-format on */

/* Takes the digits behind a second out of the text: 12:30:05.250. Returns their part of a second. */
static double take_fraction(char *text)
{
    double part = 0, digit = 1;
    char *point = strpbrk(text, ":");
    while (point != NULL && !(point[0] == ':' && isdigit((unsigned char)point[1]) && isdigit((unsigned char)point[2]) &&
                              (point[3] == '.' || point[3] == ',') && isdigit((unsigned char)point[4])))
        point = strchr(point + 1, ':');
    if (point == NULL)
        return 0;
    char *end = point + 4;
    for (; isdigit((unsigned char)*end); end++)
        part += (*end - '0') * (digit /= 10);
    memmove(point + 3, end, strlen(end) + 1);
    return part;
}

/* Reads a date of one format. Eight digits are all of such a date: strptime reads fewer. */
static bool read_one(const char *format, enum dp_date_part part, char *date, double *value)
{
    struct tm t = {.tm_mday = 1, .tm_year = 70};
    const double fraction = strstr(format, "%S") != NULL ? take_fraction(date) : 0;
    double serial;
    if (strcmp(format, DP_DATE_SERIAL) == 0) {
        if (!dp_number_cell(date, strlen(date), &serial) || !(serial >= 1 && serial < 2958466)) /* 31 December 9999 */
            return false;
        time_t seconds = (time_t)((serial - 25569) * SECONDS + 0.5);
        if (part == DP_DATE_DAYS || gmtime_r(&seconds, &t) == NULL) {
            *value = serial - 25569;
            return true;
        }
    } else {
        const char *end = strptime(date, format, &t);
        if (end == NULL || *end != '\0' || t.tm_year < 1000 - 1900 || (strcmp(format, "%Y%m%d") == 0 && end != date + 8))
            return false;
    }
    int day = t.tm_mday;
    long zone = t.tm_gmtoff;
    double seconds = (double)timegm(&t) + fraction;
    if (t.tm_mday != day) /* 31 June became 1 July */
        return false;
    *value = (seconds - (double)zone) / SECONDS;
    if (part == DP_DATE_MONTH)
        *value = t.tm_mon + 1;
    else if (part == DP_DATE_WEEKDAY)
        *value = t.tm_wday == 0 ? 7 : t.tm_wday;
    return true;
}

/* The number of `count` digits, or -1. */
static int digits_at(const char *text, int count)
{
    int number = 0;
    for (int i = 0; i < count && number >= 0; i++)
        number = isdigit((unsigned char)text[i]) ? 10 * number + text[i] - '0' : -1;
    return number;
}

/* The days of a date such as 2026-01-31, as read_one finds them: most dates of large tables are written like this, and strptime
 * takes ten times as long. False: read_one has to look. */
static bool read_iso(const char *text, size_t length, double *days)
{
    static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
    if (length != 10 || text[4] != '-' || text[7] != '-')
        return false;
    const int year = digits_at(text, 4), month = digits_at(text + 5, 2), day = digits_at(text + 8, 2);
    if (year < 1000 || month < 1 || month > 12 || day < 1 || day > before[month] - before[month - 1])
        return false;
    const int past = year - (month <= 2), leap = past / 4 - past / 100 + past / 400;
    *days = 365 * (year - 1970) + leap - 477 + before[month - 1] + day - 1; /* 477 leap days before 1970 */
    return true;
}

bool dp_date_read(const char *format, enum dp_date_part part, const char *text, size_t length, double *value)
{
    char date[DP_DATE_TEXT], one[DP_DATE_TEXT];
    if (length == 0 || length >= sizeof date || memchr(text, '\0', length) != NULL)
        return false;
    if (part == DP_DATE_DAYS && strncmp(format, "%Y-%m-%d", 8) == 0 && (format[8] == '\0' || format[8] == '|') &&
        read_iso(text, length, value))
        return true;
    for (size_t end; true; format += end + 1) {
        end = strcspn(format, "|");
        if (end < sizeof one) {
            memcpy(one, format, end);
            one[end] = '\0';
            memcpy(date, text, length);
            date[length] = '\0';
            if (read_one(one, part, date, value))
                return true;
        }
        if (format[end] == '\0')
            return false;
    }
}

size_t dp_date_find(const char *text, size_t length, double *days)
{
    size_t k, digits = 0;
    while (digits < length && isdigit((unsigned char)text[digits]))
        digits++;
    if (digits == 0)
        return DP_DATE_FORMATS;
    for (k = 0; k < DP_DATE_FORMATS; k++) {
        const char after = dp_date_formats[k][2]; /* its first number; a blank is perhaps none */
        if ((after == ' ' || after == (digits < length ? text[digits] : '%')) &&
            dp_date_read(dp_date_formats[k], DP_DATE_DAYS, text, length, days))
            break;
    }
    return k;
}

const char *dp_date_print(const char *format, double days, char text[DP_DATE_TEXT])
{
    time_t seconds = (time_t)llround(days * SECONDS);
    struct tm t;
    char one[DP_DATE_TEXT];
    snprintf(one, sizeof one, "%.*s", (int)strcspn(format, "|"), format);
    if (gmtime_r(&seconds, &t) == NULL || strftime(text, DP_DATE_TEXT, one, &t) == 0)
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
    const char *next = strchr(format, '|');
    return ((fabs(read - DAY) < 366 - 35 && read <= DAY + 1) || dp_date_is_time(format)) &&
           (next == NULL || strcmp(next, "|" DP_DATE_SERIAL) == 0 || dp_date_format(next + 1));
}
