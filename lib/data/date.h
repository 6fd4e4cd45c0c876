/* Dates of a table as numbers. A format is one of strftime(3), with a year, or with a time of the day only: "%d.%m.%Y" or
 * "%H:%M". Behind the seconds of a text may be a fraction of them. Several formats, divided by |, are tried in order; behind
 * the first may be DP_DATE_SERIAL, the days since 30 December 1899 that spreadsheets count. */
#pragma once

#include "base/c.h"

#define DP_DATE_TEXT 64 /* a date and one format are shorter */
#define DP_DATE_SERIAL "serial"
#define DP_DATE_NEVER 2932532 /* 1 January 9999 */

/* A column has the number of days since 1 January 1970, with a fraction if there is a time of the day, or a category. A time
 * without a date is a fraction of a day. */
enum dp_date_part { DP_DATE_DAYS, DP_DATE_MONTH, DP_DATE_WEEKDAY, DP_DATE_PARTS };
extern const char *const dp_date_parts[];    /* names; the first is NULL */
extern const char *const dp_date_months[];   /* January is first; ends with NULL */
extern const char *const dp_date_weekdays[]; /* Monday is first; ends with NULL */

/* Formats that are tried on cells of unknown meaning. A date that has two of them has the one that is first in the list, with
 * the day before the month. The one with the month first is DP_DATE_MONTH_FIRST places behind it. The one without signs,
 * which is a number, too, is DP_DATE_COMPACT. */
enum { DP_DATE_MONTH_FIRST = 6, DP_DATE_COMPACT = 26, DP_DATE_FORMATS = 27 };
extern const char *const dp_date_formats[DP_DATE_FORMATS];

/* The number of the first of these formats that the text has, and its days, or DP_DATE_FORMATS. */
size_t dp_date_find(const char *text, size_t length, double *days);

/* Whether strptime reads what strftime writes. */
bool dp_date_format(const char *format);
bool dp_date_is_time(const char *format); /* of the day, without a date */

/* Reads a date: *value becomes its days, or the number of its category (from 1), by `part`. False: the text is not such a
 * date, there is no such day, or its year is before 1000. */
bool dp_date_read(const char *format, enum dp_date_part part, const char *text, size_t length, double *value);

/* The text of that many days. Returns the text. */
const char *dp_date_print(const char *format, double days, char text[DP_DATE_TEXT]);
