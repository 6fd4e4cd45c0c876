#include "base/number.h"

#include <ctype.h>
#include <float.h>
#include <locale.h>
#include <pthread.h>

#include "base/mem.h"

static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* A decimal as its digits, a whole number, times a power of ten. */
struct scanned {
    uint64_t digits;
    int power;
    bool negative;
    const char *end;
};

/* Moves *p over an exponent, if there is one. False: it has no digits, or more than 4. */
static bool scan_exponent(const char **p, const char *limit, int *power)
{
    const char *e = *p + 1, *first;
    *power = 0;
    if (e >= limit || (**p != 'e' && **p != 'E'))
        return true;
    bool down = *e == '-';
    e += *e == '-' || *e == '+';
    for (first = e; e < limit && e < first + 5 && isdigit((unsigned char)*e); e++)
        *power = 10 * *power + (*e - '0');
    *power = down ? -*power : *power;
    *p = e;
    return e > first && e < first + 5;
}

/* False: there are no digits, or more than 19 after leading zeros, or an exponent of more than 4 digits. */
static bool scan(const char *p, const char *limit, struct scanned *s)
{
    const char *point = NULL, *first, *last;
    uint64_t digits = 0;
    bool negative = p < limit && *p == '-';
    int power;
    p += p < limit && (*p == '+' || *p == '-');
    for (first = p; p < limit; p++) {
        unsigned digit = (unsigned)(unsigned char)*p - '0';
        if (digit < 10)
            digits = 10 * digits + digit;
        else if (*p == '.' && point == NULL)
            point = p;
        else
            break;
    }
    last = p;
    if (last - first - (point != NULL) < 1)
        return false;
    if (last - first > 19) { /* digits may have overflowed */
        while (first < last && (*first == '0' || *first == '.'))
            first++;
        if (last - first - (point != NULL && point > first) > 19)
            return false;
    }
    if (!scan_exponent(&p, limit, &power))
        return false;
    *s = (struct scanned){digits, power - (point != NULL ? (int)(last - point) - 1 : 0), negative, p};
    return true;
}

/* 5^q, or 1 / 5^-q rounded up, as the first 128 bits: exact for 0 ≤ q, and enough for q below. */
#define LEAST_POWER (-27)
#define MOST_POWER 55
static unsigned __int128 fives[MOST_POWER - LEAST_POWER + 1];
static pthread_once_t fives_once = PTHREAD_ONCE_INIT;

static void make_fives(void)
{
    unsigned __int128 five = 1;
    for (int q = 0; q <= MOST_POWER; q++, five *= 5) {
        fives[q - LEAST_POWER] = five;
        while (fives[q - LEAST_POWER] >> 127 == 0)
            fives[q - LEAST_POWER] <<= 1;
    }
    uint64_t divisor = 1;
    for (int q = -1; q >= LEAST_POWER; q--) {
        divisor *= 5;
        /* 2^(127 + bits of the divisor) / divisor, by long division in base 2^64 */
        unsigned __int128 rest = (unsigned __int128)1 << (63 - __builtin_clzll(divisor)), quotient = 0;
        for (int word = 0; word < 2; word++) {
            rest <<= 64;
            quotient = quotient << 64 | (uint64_t)(rest / divisor);
            rest %= divisor;
        }
        fives[q - LEAST_POWER] = quotient + 1;
    }
}

/* digits × 10^power, rounded as strtod rounds, digits > 0, power within the table: the first 64 or 128 bits of the product
 * decide (Lemire, "Number Parsing at a Gigabyte per Second", 2021, algorithm 1; with these powers it never has to give up). */
static double wide_decimal(uint64_t digits, int power)
{
    pthread_once(&fives_once, make_fives);
    const unsigned __int128 five = fives[power - LEAST_POWER];
    int shift = __builtin_clzll(digits);
    digits <<= shift;
    unsigned __int128 product = (unsigned __int128)digits * (uint64_t)(five >> 64);
    if (((uint64_t)(product >> 64) & 0x1ff) == 0x1ff)
        product += (unsigned __int128)digits * (uint64_t)five >> 64;
    uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
    int top = (int)(high >> 63), drop = top + 64 - 52 - 3;
    uint64_t mantissa = high >> drop;
    if (low <= 1 && power >= -4 && power <= 23 && (mantissa & 3) == 1 && mantissa << drop == high)
        mantissa &= ~(uint64_t)1; /* halfway: to even */
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    int exponent = ((152170 + 65536) * power >> 16) + 63 + top - shift + 1023;
    if (mantissa == (uint64_t)1 << 53) {
        mantissa >>= 1;
        exponent++;
    }
    uint64_t bits = (mantissa & (((uint64_t)1 << 52) - 1)) | (uint64_t)exponent << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Decimals of up to 19 digits. If the digits and the power of ten are exact doubles, their product or quotient is rounded once,
 * as strtod rounds (Clinger, 1990). False: strtod has to read the number. */
static bool short_decimal(const char *text, const char *limit, double *value, const char **end)
{
    static const double tens[] = {1,    1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    struct scanned s;
    if (FLT_EVAL_METHOD != 0 || !scan(text, limit, &s))
        return false;
    if (s.digits == 0)
        *value = 0;
    else if (s.digits <= (uint64_t)1 << 53 && s.power >= -22 && s.power <= 22)
        *value = s.power < 0 ? (double)s.digits / tens[-s.power] : (double)s.digits * tens[s.power];
    else if (s.power >= LEAST_POWER && s.power <= MOST_POWER)
        *value = wide_decimal(s.digits, s.power);
    else
        return false;
    *value = s.negative ? -*value : *value;
    *end = s.end;
    return true;
}

/* strtod in the C locale, without its hexadecimal, "inf" and "nan" forms. */
static bool decimal(const char *text, double *value, const char **end)
{
    if (short_decimal(text, text + strlen(text), value, end) && (**end == '\0' || **end == '/'))
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

/* Digits with at most one point, as short_decimal reads them: most cells of most tables. */
static bool plain_decimal(const char *text, size_t length, double *value)
{
    static const double tens[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const char *p = text, *limit = text + length, *point = limit;
    uint64_t digits = 0;
    bool negative = length > 0 && *p == '-';
    unsigned digit;
    p += negative;
    if (FLT_EVAL_METHOD != 0 || limit - p < 1 || limit - p > 15 || (limit - p == 1 && *p == '.'))
        return false;
    for (; p < limit && (digit = (unsigned)(unsigned char)*p - '0') < 10; p++)
        digits = 10 * digits + digit;
    if (p < limit && *p == '.')
        for (point = ++p; p < limit && (digit = (unsigned)(unsigned char)*p - '0') < 10; p++)
            digits = 10 * digits + digit;
    if (p < limit)
        return false;
    *value = point < limit ? (double)digits / tens[limit - point] : (double)digits;
    *value = negative ? -*value : *value;
    return true;
}

/* A sign, a stroke or a colon between two digits is in dates and codes, and in no number. */
static bool is_divided(const char *text, size_t length)
{
    for (size_t i = 1; i + 1 < length; i++)
        if ((text[i] == '-' || text[i] == '/' || text[i] == ':') && isdigit((unsigned char)text[i - 1]) &&
            isdigit((unsigned char)text[i + 1]))
            return true;
    return false;
}

bool dp_number_cell(const char *text, unsigned long length, double *value)
{
    char buffer[64];
    const char *end;
    if (plain_decimal(text, length, value))
        return true;
    if (is_divided(text, length))
        return false;
    while (length > 0 && isspace((unsigned char)text[0])) {
        text++;
        length--;
    }
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        length--;
    if (length == 0 || length >= sizeof buffer)
        return false;
    if (short_decimal(text, text + length, value, &end) && end == text + length)
        return true;
    if (memchr(text, '\0', length) != NULL)
        return false;
    memcpy(buffer, text, length);
    buffer[length] = '\0';
    return decimal(buffer, value, &end) && *end == '\0';
}

bool dp_number_is_infinite(const char *text, unsigned long length)
{
    char buffer[64], *copy = buffer, *end;
    const bool sign = length > 0 && (text[0] == '-' || text[0] == '+');
    if (length <= sign || (tolower((unsigned char)text[sign]) != 'i' && length <= DBL_MAX_10_EXP &&
                           memchr(text, 'e', length) == NULL && memchr(text, 'E', length) == NULL))
        return false;
    for (unsigned long i = 0; length >= sizeof buffer && i < length; i++)
        if (text[i] == '\0' || strchr("0123456789.+-eE", text[i]) == NULL)
            return false;
    if (length >= sizeof buffer)
        copy = dp_new(length + 1, 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    pthread_once(&c_locale_once, make_c_locale);
    const bool infinite = isinf(strtod_l(copy, &end, c_locale)) && end == copy + length && end[-1] != ' ';
    if (copy != buffer)
        free(copy);
    return infinite;
}

/* Whether a group of digits may end here: a group that is neither the first nor the last one has three digits, or, as in India,
 * all such groups have two. *inner: how many the first of them has, or 0 before it. */
static bool may_end(size_t digits, bool last, size_t *inner)
{
    *inner = !last && *inner == 0 && digits == 2 ? 2 : *inner == 0 ? 3 : *inner;
    return digits == (last ? 3 : *inner);
}

/* With a decimal comma, and points between groups of digits. */
static bool with_comma(const char *text, size_t length, double *value)
{
    char plain[64];
    size_t used = 0, digits = 0, inner = 0;
    bool grouped = false, comma = false;
    for (size_t i = 0; i < length; i++) {
        bool point = text[i] == '.', end_of_group = (grouped || point) && !comma && !isdigit((unsigned char)text[i]);
        if (used + 1 >= sizeof plain || (end_of_group && grouped && !may_end(digits, !point, &inner)) ||
            (point && (comma || digits == 0 || digits > 3 || (digits == 1 && !grouped && text[i - 1] == '0'))) ||
            (text[i] == ',' && comma))
            return false;
        digits = isdigit((unsigned char)text[i]) ? digits + 1 : 0;
        grouped |= point;
        comma |= text[i] == ',';
        if (!point)
            plain[used++] = text[i] == ',' ? '.' : text[i];
    }
    return !(grouped && !comma && digits != 3) && dp_number_cell(plain, used, value);
}

/* Leaves out the mark of a number, and the blanks next to it. */
static void leave_mark_out(char *text)
{
    static const char *const marks[] = {"$", "£", "¥", "€", "₹", "%", NULL};
    char *start = text + strspn(text, " \t"), *mark = NULL;
    size_t length = 0;
    if (strpbrk(start, "$%\xc2\xe2") == NULL) /* their first bytes */
        return;
    for (int k = 0; marks[k] != NULL && mark == NULL; k++) {
        mark = strstr(start, marks[k]);
        length = strlen(marks[k]);
    }
    if (mark == NULL)
        return;
    char *after = mark + length + strspn(mark + length, " \t");
    bool first = mark == start || (mark == start + 1 && *start == '-');
    if (*after == '\0') {
        while (mark > start && strchr(" \t", mark[-1]) != NULL)
            mark--;
        *mark = '\0';
    }
    const char *number = after + (mark == start && *after == '-');
    if (*number != '\0' && first && *mark != '%' && (isdigit((unsigned char)*number) || *number == '.'))
        memmove(mark, after, strlen(after) + 1);
}

/* Moves *first over what makes a number a text in a spreadsheet, '5 or ="5", and *last before the quote, and before a flag of a
 * laboratory or a bank. Whether it is a debit, which is negative. With rupees, L and Cr may be 10^5 and 10^7. */
static bool leave_flags_out(char **first, char **last)
{
    static const char *const flags[] = {"*", " HH", " LL", " H", " L", "CR", "Cr", "DR", "Dr", NULL};
    const bool formula = *last > *first + 3 && **first == '=' && (*first)[1] == '"' && (*last)[-1] == '"';
    *first += formula ? 2 : **first == '\'';
    *last -= formula;
    for (const char *const *flag = flags; *flag != NULL; flag++) {
        const size_t length = strlen(*flag);
        if (*last <= *first + length || memcmp(*last - length, *flag, length) != 0)
            continue;
        if (strstr(*first, "₹") != NULL && strpbrk(*flag, "LC") != NULL)
            return false;
        *last -= length;
        return **flag == 'D';
    }
    return false;
}

/* Moves the end of a text before the blanks there. */
static void drop_blanks(const char *first, char **last)
{
    while (*last > first && strchr(" \t", (*last)[-1]) != NULL)
        --*last;
}

/* Copies a number to plain. (5), (-5), 5-, 5 DR and U+2212 5 become -5, the limit <5 and the laboratory's 5 H become 5, 1D+03
 * becomes 1e+03. Blanks and apostrophes become ASCII. */
static void plain_signs(const char *text, size_t length, char plain[65])
{
    static const char *const signs[] = {"-\xe2\x88\x92", " \xc2\xa0",     " \xe2\x80\xaf", " \xe2\x80\x89",
                                        "'\xe2\x80\x99", "<\xe2\x89\xa4", ">\xe2\x89\xa5", NULL};
    char copy[64], *first = copy, *last = copy;
    for (const char *end = text + length; text < end; last++) {
        int k = 0;
        while (signs[k] != NULL && (*text != signs[k][1] || strncmp(text, signs[k] + 1, strlen(signs[k] + 1)) != 0))
            k++;
        *last = signs[k] != NULL ? *signs[k] : *text;
        text += signs[k] != NULL ? strlen(signs[k] + 1) : 1;
    }
    *last = '\0';
    first += strspn(first, " \t");
    if (*first == '<' || *first == '>')
        first += 1 + strspn(first + 1, "= \t");
    drop_blanks(first, &last);
    const bool debit = leave_flags_out(&first, &last);
    drop_blanks(first, &last);
    const bool brackets = last > first + 1 && *first == '(' && last[-1] == ')',
               minus = last > first && *first != '-' && last[-1] == '-', negative = debit || brackets || minus;
    first += brackets;
    last -= brackets || minus;
    first += brackets ? strspn(first, " \t") : 0;
    drop_blanks(first, &last);
    *last = '\0';
    char *power = strpbrk(first, "Dd");
    if (power != NULL && (power[1] == '+' || power[1] == '-'))
        *power = 'e';
    plain[0] = '-';
    memcpy(plain + (negative && *first != '-'), first, (size_t)(last - first) + 1);
}

bool dp_number_written(const char *text, unsigned long length, bool comma, double *value)
{
    char whole[64], plain[sizeof whole + 1];
    if (comma ? with_comma(text, length, value) : dp_number_cell(text, length, value))
        return true;
    if (is_divided(text, length))
        return false;
    if (length >= sizeof whole || memchr(text, '\0', length) != NULL)
        return false;
    memcpy(whole, text, length);
    whole[length] = '\0';
    if (strpbrk(whole, "0123456789") == NULL ||
        strpbrk(whole, "$%,()<>-' CDd*=\xc2\xe2") == NULL) /* the first bytes of all signs that are not ASCII */
        return false;
    plain_signs(whole, length, plain);
    leave_mark_out(plain);
    if (!comma && dp_number_cell(plain, strlen(plain), value))
        return true;
    for (char *p = plain; *p != '\0'; p++) {
        bool group = p > plain && (*p == ' ' || *p == '\'') && isdigit((unsigned char)p[-1]) && isdigit((unsigned char)p[1]);
        *p = group ? '.' : comma ? *p : *p == '.' ? ',' : *p == ',' ? '.' : *p;
    }
    return with_comma(plain, strlen(plain), value);
}

bool dp_number_of(const char *text, unsigned long length, const char *units, bool comma, double *value)
{
    const char *all = units;
    bool good = dp_number_written(text, length, comma, value);
    for (unsigned long n; !good && units != NULL && *units != '\0'; units += n + (units[n] == '|')) {
        n = strcspn(units, "|");
        if (length <= n)
            continue;
        if (memcmp(text + length - n, units, n) == 0)
            good = dp_number_written(text, length - n, comma, value);
        if (!good && memcmp(text, units, n) == 0)
            good = dp_number_written(text + n, length - n, comma, value);
    }
    return good || (comma && dp_number_of(text, length, all, false, value));
}

const char *dp_number_print(double value, char *buffer, unsigned long size)
{
    if (value == floor(value) && fabs(value) < 1e15) {
        snprintf(buffer, size, "%.0f", value);
        return buffer;
    }
    /* A double holds any decimal of up to 15 digits, but a subnormal one has too few bits. */
    for (int digits = fabs(value) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
        snprintf(buffer, size, "%.*g", digits, value);
        if (strtod(buffer, NULL) == value)
            break;
    }
    return buffer;
}
