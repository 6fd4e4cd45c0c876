/* Options, numbers, memory, errors, progress. */
#include "unit.h"

#include <errno.h>
#include <pthread.h>

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/option.h"
#include "base/progress.h"
#include "base/round.h"
#include "base/text.h"

TEST(reals)
{
    const struct {
        const char *text;
        bool good;
        double value;
    } cases[] = {{"1", true, 1},      {"1e-5", true, 1e-5},  {"-.5", true, -0.5}, {"100/24420", true, 100.0 / 24420},
                 {"+2.", true, 2},    {"", false, 0},        {"nan", false, 0},   {"inf", false, 0},
                 {"1e999", false, 0}, {"0x10", false, 0},    {"1,5", false, 0},   {"1 ", false, 0},
                 {" 1", false, 0},    {"1/0", false, 0},     {"1/2/3", false, 0}, {"1/", false, 0},
                 {"--1", false, 0},   {"1e-999/1", true, 0}, {"-0", true, 0},     {"1e", false, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double value = 7;
        if (dp_number_real(cases[i].text, &value) != cases[i].good)
            fail_msg("'%s'", cases[i].text);
        if (cases[i].good)
            assert_true(value == cases[i].value);
    }
}

/* Texts of up to 20 digits, with or without a point and a sign: the result equals strtod's, to the last bit. */
TEST(reals_are_rounded_once)
{
    uint64_t random = 88172645463325252;
    for (int round = 0; round < 200000; round++) {
        char text[32];
        double value;
        size_t used = 0, digits = 1 + (size_t)(random % 20), point = (size_t)(random >> 32) % 24;
        if (random >> 60 < 4)
            text[used++] = random >> 60 < 2 ? '-' : '+';
        for (size_t i = 0; i < digits; i++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            if (i == point)
                text[used++] = '.';
            text[used++] = (char)('0' + (random >> 40) % 10);
        }
        text[used] = '\0';
        if (!dp_number_real(text, &value) || value != strtod(text, NULL) || signbit(value) != signbit(strtod(text, NULL)))
            fail_msg("'%s' is %.17g", text, value);
    }
}

static void check_cell(const char *text)
{
    double value = (double)NAN;
    char *end;
    double wanted = strtod(text, &end);
    assert_true(*end == '\0');
    if (dp_number_cell(text, strlen(text), &value) != isfinite(wanted) || (isfinite(wanted) && value != wanted))
        fail_msg("'%s' is %.17g, strtod has %.17g", text, value, wanted);
}

/* Numbers as programs write them, with exponents, and numbers halfway between two doubles or next to such a number. */
TEST(long_decimals_are_those_of_strtod)
{
    uint64_t random = 88172645463325252;
    char text[64];
    for (int round = 0; round < 300000; round++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        double value;
        uint64_t bits = (random & (((uint64_t)1 << 52) - 1)) | (uint64_t)(1023 - 100 + (random >> 52) % 200) << 52;
        memcpy(&value, &bits, sizeof value);
        snprintf(text, sizeof text, "%.*g", (int)(14 + random % 7), value);
        check_cell(text);
        uint64_t odd = (uint64_t)1 << 53 | (random >> 11) | 1; /* 2^53 to 2^54: an odd number is halfway */
        for (int power = 0; power < 3; power++) {
            snprintf(text, sizeof text, "%llu", (unsigned long long)(odd << power) + (random & 1) * (power > 0));
            check_cell(text);
        }
        /* halves, quarters and so on of odd numbers of 54 bits have too many digits, so these are shorter numbers times a power
         * of five */
        snprintf(text, sizeof text, "%llue%d", (unsigned long long)odd, (int)(random >> 32) % 24);
        check_cell(text);
    }
    check_cell("1e23");
    check_cell("9007199254740993e-1");
    check_cell("0000000000000000000000.000000000000000000000123456789");
    check_cell("1e309");
}

TEST(wholes)
{
    int64_t value;
    assert_true(dp_number_int("-9223372036854775808", &value) && value == INT64_MIN);
    assert_false(dp_number_int("9223372036854775808", &value));
    assert_false(dp_number_int("1.0", &value));
    assert_false(dp_number_int("", &value));
    assert_false(dp_number_int(" 1", &value));
}

/* known: "TEXT|NUMBER;…"; nan: the text must be refused */
static void check_written(bool comma, const char *known)
{
    for (const char *end; known != NULL; known = end != NULL ? end + 1 : NULL) {
        const char *stroke = strchr(known, '|');
        double value, expected = strtod(stroke + 1, NULL);
        bool is = dp_number_written(known, (size_t)(stroke - known), comma, &value);
        end = strchr(known, ';');
        if (is ? value != expected : !isnan(expected))
            fail_msg("%.*s is %g", (int)strcspn(known, ";"), known, is ? value : (double)NAN);
    }
}

TEST(cells)
{
    double value;
    assert_true(dp_number_cell("  3.5 ,9", 6, &value) && value == 3.5);
    assert_false(dp_number_cell("   ", 3, &value));
    /* texts and their numbers, or nan; Cr: 10^7 rupees, perhaps */
    check_written(false,
                  "$1,234.50|1234.5;-$5|-5;12.5 %|12.5; 7% |7;£ 1,000,000|1e6;3 €|3;1,234|1234;1,23,456|123456;"
                  "12,34,56,789.5|123456789.5;$1e3|1000;12,345,678.9%|12345678.9;(123.45)|-123.45;( $1,234 )|-1234;(-5)|-5;"
                  "123.45-|-123.45;−5.5|-5.5;<2000|2000;>= 9,000.5|9000.5;1 234.56|1234.56;12\u202f345|12345;"
                  "12\u2009345|12345;1'234.56|1234.56;1’234’567|1234567;'234|234;=\"-2.5\"|-2.5;₹5|5;$-1,234.5|-1234.5;"
                  "6.2 H|6.2;140*|140;1,234.00 DR|-1234;5CR|5;-5 Dr|-5;1.5D+03|1500;- $5|nan;%7|nan;7%%|nan;1,5|nan;"
                  "0,123|nan;1,23|nan;1,234,56,789|nan;1,234,56|nan;$|nan;$x|nan;5$5|nan;|nan;¥|nan;$nan|nan;(--5)|nan;"
                  "(-)|nan;(5|nan;()|nan;-5-|nan;-|nan;5--|nan;<|nan;<LOD|nan;5<6|nan;1 23|nan;1 2345|nan;1  234|nan;"
                  "''234|nan;=2.5|nan;$--5|nan;₹2.5 Cr|nan;₹45 L|nan;12H|nan;6.2 HL|nan;DR|nan;2024-09-23|nan;12:30|nan;"
                  "1.5D03|nan;Dd+1|nan");
    check_written(true,
                  "1.234,5 €|1234.5;€0,5|0.5;1,234|1.234;1,5|1.5;-1.234,5|-1234.5;12.000|12000;1.234.567|1234567; 7 |7;"
                  "3,5e2|350;1.234,5 -|-1234.5;−€5|-5;≤0,1|0.1;1\u00a0234\u00a0567,8|1234567.8;1'234,5|1234.5;9,5 LL|9.5;"
                  "1,5d-01|0.15;0.123|nan;1.2345|nan;1234.567|nan;.5|nan;1,2,3|nan;1,234.5|nan;1.23,4|nan;1.234.5|nan;|nan;"
                  "1.000e2|nan;1.234x|nan;1..234|nan;1.5|nan");
    assert_false(dp_number_written("$5\0", 3, false, &value));
    assert_true(dp_number_of("1234.50 kg", 10, "g|kg", true, &value) && value == 1234.5);
    assert_true(dp_number_of("1.234", 5, NULL, true, &value) && value == 1234);
    assert_false(dp_number_of("1234,50", 7, NULL, false, &value));
    assert_false(dp_number_cell("1/2", 3, &value));
    assert_false(dp_number_cell("12\0", 3, &value));
}

TEST(infinite_numbers_are_words)
{
    static const char *const good[] = {"1e400", "-1e400", "+1E309", "inf", "-Inf", "INFINITY"};
    static const char *const bad[] = {"", "-", "1e308", "e400", "1e400x", "info", "indoors", "1e400 ", "nan", "1e-400"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(dp_number_is_infinite(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (dp_number_is_infinite(bad[i], strlen(bad[i])))
            fail_msg("%s", bad[i]);
    /* of any length; 309 digits of 1 are below 2^1024, of 2 are not */
    static const struct {
        char first;
        unsigned digits;
        const char *sign, *end;
        bool infinite;
    } known[] = {{'1', 401, "", "", true},    {'1', 401, "-", ".25", true}, {'2', 309, "+", ".", true},
                 {'1', 309, "", "", false},   {'2', 308, "", "", false},    {'0', 401, "", "", false},
                 {'1', 401, "", "x", false},  {'1', 401, "", ".2.", false}, {'1', 401, "--", "", false},
                 {'1', 70, "", "e300", true}, {'1', 70, "", "e200", false}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char text[500];
        const size_t sign = strlen(known[i].sign), length = sign + known[i].digits + strlen(known[i].end);
        memset(text, '0', sizeof text); /* digits behind it, too, and no NUL */
        memcpy(text, known[i].sign, sign);
        text[sign] = known[i].first;
        memcpy(text + sign + known[i].digits, known[i].end, strlen(known[i].end));
        if (dp_number_is_infinite(text, length) != known[i].infinite)
            fail_msg("%.*s", (int)length, text);
    }
}

TEST(printing_reads_back)
{
    const double values[] = {0.1, 1.0 / 3, 1e-300, 123456789.125, 2.5e17, -0.0625};
    char text[40];
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        assert_true(strtod(dp_number_print(values[i], text, sizeof text), NULL) == values[i]);
    assert_string_equal(dp_number_print(0.1, text, sizeof text), "0.1");
}

struct sample {
    bool flag;
    const char *text;
    double real, open;
    int64_t whole;
    int choice;
    struct {
        bool two_words;
    } group;
    bool lonely, tabled;
    double most;
    int64_t times;
    double zero;
};

#define DP_OPTIONS struct sample
static const struct dp_option table[] = {
    DP_OPTION_FLAG('f', flag, "h"),
    DP_OPTION_TEXT('t', text, "T", "h", .fallback = "none"),
    DP_OPTION_REAL(0, real, "R", DP_FROM_TO(0, 1), "h"),
    DP_OPTION_REAL(0, open, "R", DP_ABOVE_BELOW(0, 1), "h"),
    DP_OPTION_INT(0, whole, "N", DP_FROM_TO(1, 10), "h"),
    DP_OPTION_CHOICE(0, choice, "C", "a|bc|d", "h"),
    DP_OPTION_FLAG(0, group.two_words, "h"),
    DP_OPTION_FLAG(0, lonely, "h", .excludes = "flag: it is; whole, choice=bc|d"),
    DP_OPTION_REAL(0, most, "M", DP_FROM(0), "h", .single = true, .needs = "real; choice=a|d, flag", .at_least = "real"),
    DP_OPTION_INT(0, times, "N", DP_FROM(0), "h", .at_least = "whole", .needed_by = "choice=d: so", .unless = "flag, whole"),
    DP_OPTION_FLAG(0, tabled, "h", .only = "csv|tsv: why"),
    DP_OPTION_REAL(0, zero, "Z", DP_FROM_TO(-1, 1), "h", .fallback = "0", .excludes = "flag"),
    {.name = NULL},
};
static const struct dp_command command = {"test", "", "A test", table, NULL};

/* Parses the words of a line; returns the result of dp_option_parse. */
static int parse(const char *line, struct sample *s, int *operands, char *message)
{
    char buffer[200], *argv[20] = {"test"};
    int argc = 1, first = 0;
    struct dp_err err = {0};
    static char *kept[20]; /* option values point into argv, which is permuted */
    snprintf(buffer, sizeof buffer, "%s", line);
    for (char *word = strtok(buffer, " "); word != NULL; word = strtok(NULL, " ")) {
        free(kept[argc]);
        argv[argc] = kept[argc] = strdup(word);
        argc++;
    }
    int rc = dp_option_parse(&command, s, NULL, argc, argv, &first, &err);
    *operands = argc - first;
    strcpy(message, err.message);
    return rc;
}

TEST(options_parse)
{
    struct sample s;
    int operands;
    char message[DP_ERR_MESSAGE_SIZE];
    assert_int_equal(parse("-f x --real=0.5 --whole 3 y --choice bc", &s, &operands, message), DP_PARSE_RUN);
    assert_true(s.flag && s.real == 0.5 && s.whole == 3 && s.choice == 1 && operands == 2);
    assert_string_equal(s.text, "none");
    assert_true(isnan(s.open));
    assert_int_equal(parse("-- --real 5", &s, &operands, message), DP_PARSE_RUN);
    assert_true(operands == 2 && isnan(s.real) && s.whole == DP_OPT_ABSENT_INT && s.choice == -1);
    assert_int_equal(parse("--help", &s, &operands, message), DP_PARSE_HELP);
    assert_int_equal(parse("--version", &s, &operands, message), DP_PARSE_VERSION);
    assert_int_equal(parse("--whole 3 --whole 4", &s, &operands, message), DP_PARSE_RUN);
    assert_int_equal(s.whole, 4);
    assert_int_equal(parse("--two-words", &s, &operands, message), DP_PARSE_RUN);
    assert_true(s.group.two_words);
    assert_int_equal(parse("--two_words", &s, &operands, message), DP_E_USAGE);
    assert_int_equal(parse("-f --zero=-0", &s, &operands, message), DP_PARSE_RUN); /* the default, with a sign */
    assert_int_equal(parse("-f --zero=0.5", &s, &operands, message), DP_E_USAGE);
}

TEST(options_complain)
{
    const struct {
        const char *line, *message;
    } cases[] = {
        {"--real 1.5", "--real: must be between 0 and 1, got 1.5"},
        {"--open 0", "--open: must be > 0 and < 1, got 0"},
        {"--open 1", "--open: must be > 0 and < 1, got 1"},
        {"--real nan", "--real: must be a finite number, got 'nan'"},
        {"--whole 0", "--whole: must be between 1 and 10, got 0"},
        {"--whole x", "--whole: must be a whole number, got 'x'"},
        {"--choice b", "--choice: must be one of a|bc|d, got 'b'"},
        {"--unknown", "unknown option '--unknown' (try --help)"},
        {"-z", "unknown option '-z' (try --help)"},
        {"--flag=1", "--flag: takes no value"},
        {"--real", "--real: needs a value"},
        {"-t", "-t: needs a value"},
        {"--lonely --flag", "--lonely and --flag exclude each other: it is"},
        {"--lonely --choice d", "--lonely and --choice d exclude each other"},
        {"--most 1", "--most needs --real"},
        {"--most 1 --real 1", "--most needs --choice a or d or --flag"},
        {"--most 0.5 --real 1 --flag", "--most: must be at least --real"},
        {"--most 1e-60", "--most: 1e-60 is too small"},
        {"--whole 3 --times 2", "--times: must be at least --whole"},
        {"--choice d", "--choice d needs --times, --flag or --whole: so"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sample s;
        int operands;
        char message[DP_ERR_MESSAGE_SIZE];
        assert_int_equal(parse(cases[i].line, &s, &operands, message), DP_E_USAGE);
        assert_string_equal(message, cases[i].message);
    }
}

TEST(options_ask_what_the_operand_is)
{
    struct sample s;
    int operands;
    char message[DP_ERR_MESSAGE_SIZE];
    assert_int_equal(parse("--tabled --times 0 --most 0 --real 0 -f --text none", &s, &operands, message), DP_PARSE_RUN);
    assert_int_equal(dp_option_operand(&command, &s, NULL, "tsv", &err), DP_OK);
    assert_fails(dp_option_operand(&command, &s, NULL, "arff", &err), DP_E_USAGE, "--tabled is for csv and tsv: why");
}

static void ask_for_too_many(void)
{
    dp_new(SIZE_MAX / 2, 16);
}

static void grow_too_far(void)
{
    int *numbers = NULL;
    size_t capacity = 0;
    dp_extend(&numbers, &capacity, SIZE_MAX / 8, sizeof *numbers);
}

static void get_nothing(void)
{
    dp_got(NULL);
}

static void *ask(void *unused)
{
    ask_for_too_many();
    return unused;
}

static void ask_in_threads(void)
{
    pthread_t thread[8];
    for (int i = 0; i < 8; i++)
        pthread_create(&thread[i], NULL, ask, NULL);
    for (int i = 0; i < 8; i++)
        pthread_join(thread[i], NULL);
}

/* A process that runs out of memory says one sentence, once, and ends with status 1. */
static void assert_death(void (*cause)(void), const char *bytes)
{
    char said[400] = "", expected[200];
    int errors[2], status;
    assert_int_equal(pipe(errors), 0);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(errors[1], STDERR_FILENO);
        cause();
        _exit(0);
    }
    close(errors[1]);
    for (ssize_t got, used = 0; (got = read(errors[0], said + used, sizeof said - 1 - (size_t)used)) > 0;)
        used += got;
    close(errors[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
    snprintf(expected, sizeof expected, "test_base: out of memory%s\n", bytes);
    assert_string_equal(said, expected);
}

#ifdef __SANITIZE_ADDRESS__ /* its allocator ends the program with words of its own */
#define SANITIZED true
#else
#define SANITIZED false
#endif

TEST(memory_that_runs_out_ends_the_program)
{
    int *numbers = NULL;
    size_t capacity = 0;
    dp_extend(&numbers, &capacity, 10, sizeof *numbers);
    numbers[9] = 5;
    dp_extend(&numbers, &capacity, 11, sizeof *numbers);
    assert_true(capacity >= 20 && numbers[9] == 5);
    free(numbers);
    if (SANITIZED)
        return;
    assert_death(ask_for_too_many, " (9223372036854775807 × 16 bytes)");
    assert_death(grow_too_far, " (2305843009213693951 × 4 bytes)");
    assert_death(get_nothing, "");
    assert_death(ask_in_threads, " (9223372036854775807 × 16 bytes)");
}

TEST(errors_name_their_place_once)
{
    char text[600];
    assert_int_equal(dp_fail(&err, DP_E_UNSAFE, "%d fish", 3), DP_E_UNSAFE);
    assert_string_equal(dp_err_text(&err, text, sizeof text), "3 fish");
    dp_err_at(&err, "dp-a");
    dp_err_at(&err, "dp-b");
    assert_string_equal(dp_err_text(&err, text, sizeof text), "dp-a: 3 fish");
    assert_int_equal(dp_exit_status(DP_E_UNSAFE), 5);
    assert_int_equal(dp_exit_status(DP_OK), 0);
    assert_int_equal(dp_fail(NULL, DP_E_RUN, "nowhere"), DP_E_RUN);
}

TEST(hexadecimal_digits)
{
    assert_true(dp_text_is_hex("0123456789abcdef", 16) && dp_text_is_hex("", 0));
    assert_false(dp_text_is_hex("0123456789abcde", 16) || dp_text_is_hex("0123456789abcdef0", 16));
    assert_false(dp_text_is_hex("0123456789ABCDEF", 16) || dp_text_is_hex("0123456789abcdeg", 16));
}

TEST(texts_from_outside)
{
    const struct {
        const char *text;
        size_t valid;
    } cases[] = {
        {"", 0},
        {"abc", 3},
        {"\xc3\xa9", 2},
        {"a\xe9", 1},
        {"\xc3", 0},
        {"\xc0\xaf", 0},
        {"\xe2\x82\xac", 3},
        {"\xe0\x9f\xbf", 0},
        {"\xed\xa0\x80", 0},
        {"\xf0\x9f\x98\x80", 4},
        {"\xf0\x8f\xbf\xbf", 0},
        {"\xf4\x90\x80\x80", 0},
        {"\xf5\x80\x80\x80", 0},
        {"\x80", 0},
        {"\xe2\x82", 0},
    };
    char shown[DP_TEXT_SHOWN];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(dp_text_valid(cases[i].text, strlen(cases[i].text)), cases[i].valid);
    assert_int_equal(dp_text_cut("a\xc3\xa9z", 4, 2), 1);
    assert_int_equal(dp_text_cut("a\xc3\xa9z", 4, 3), 3);
    assert_int_equal(dp_text_cut("a\xc3\xa9z", 4, 4), 4);
    assert_string_equal(dp_text_show("a\x1b[1m\xff\xc3\xa9", 8, shown), "a\\x1b[1m\\xff\xc3\xa9");
    /* controls and marks of direction at both ends of their ranges, and their neighbours */
    assert_string_equal(dp_text_show("\x7f|\xc2\x80|\xc2\x9f|\xc2\xa0", 10, shown), "\\u007f|\\u0080|\\u009f|\xc2\xa0");
    char hidden[41], long_one[DP_TEXT_SHOWN]; /* what grows most: all six bytes of each, and the mark of the rest */
    memset(hidden, 0x7f, sizeof hidden);
    assert_int_equal(strlen(dp_text_show(hidden, sizeof hidden, long_one)), 40 * 6 + 3);
    assert_string_equal(long_one + 39 * 6, "\\u007f…");
    assert_string_equal(dp_text_show("\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f\xe2\x80\x90", 11, shown),
                        "\\u061c\\u200e\\u200f\xe2\x80\x90");
    assert_string_equal(dp_text_show("\xe2\x80\xa8\xe2\x80\xae\xe2\x80\xaf", 9, shown), "\\u2028\\u202e\xe2\x80\xaf");
    assert_string_equal(dp_text_show("\xe2\x81\xa5\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xaa", 12, shown),
                        "\xe2\x81\xa5\\u2066\\u2069\xe2\x81\xaa");
    assert_string_equal(dp_text_show("\xf0\x9f\x98\x80\xe2\x80", 6, shown), "\xf0\x9f\x98\x80\\xe2\\x80");
    const char *formulas[] = {"=1", "@x", "+a", "-a", "-1-1", "\tx", "\rx", "-"},
               *others[] = {"", "x=1", "-1", "+1.5", "-2,5", "1"};
    for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++)
        assert_true(dp_text_is_formula(formulas[i], strlen(formulas[i])));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(dp_text_is_formula(others[i], strlen(others[i])));
    /* whatever a message quotes */
    struct dp_err quoted = {0};
    dp_fail(&quoted, DP_E_RUN, "no column '%s'", "a\x1b[2J\n\xe2\x80\xae");
    assert_string_equal(quoted.message, "no column 'a\\x1b[2J\\x0a\\u202e'");
    char bytes[60];
    memset(bytes, 0xff, sizeof bytes);
    assert_int_equal(strlen(dp_text_show(bytes, sizeof bytes, shown)), 4 * 40 + strlen("…"));
    /* a message that is too long ends with a whole character */
    for (int lead = 0; lead < 4; lead++) {
        err = (struct dp_err){0};
        char text[600] = "";
        for (int i = 0; i < lead; i++)
            strcat(text, "x");
        while (strlen(text) < 590)
            strcat(text, "€");
        dp_fail(&err, DP_E_RUN, "%s", text);
        assert_int_equal(dp_text_valid(err.message, strlen(err.message)), strlen(err.message));
        assert_true(strlen(err.message) >= sizeof err.message - 4);
        dp_fail_errno(&err, ENOENT, "%.505s", text);
        assert_int_equal(dp_text_valid(err.message, strlen(err.message)) >= 500, true);
    }
}

/* Another command writes to the same terminal: each state of the bar is one write, and the last one ends its line. */
TEST(a_bar_is_one_write)
{
    const char *terms[] = {"xterm", "dumb"};
    for (int i = 0; i < 2; i++) {
        struct dp_progress progress;
        char got[400];
        int fd[2];
        ssize_t size;
        setenv("TERM", terms[i], 1);
        assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fd), 0); /* returns one write at a time */
        dp_progress_start(&progress, fd[1], DP_PROGRESS_BAR, 0, 4);
        size = read(fd[0], got, sizeof got - 1);
        assert_true(size > 0);
        got[size] = '\0';
        assert_ptr_equal(strchr(got, '\r'), got);
        assert_non_null(strstr(got, "[........................"));
        assert_non_null(strstr(got, "lap 0/4  planning"));
        dp_progress_show(&progress, 4, 0.5);
        dp_progress_end(&progress);
        size = read(fd[0], got, sizeof got - 1);
        assert_true(size > 0);
        got[size] = '\0';
        assert_ptr_equal(strchr(got, '\r'), got);
        assert_non_null(strstr(got, "[########################"));
        assert_int_equal(got[size - 1], '\n');
        assert_int_equal(recv(fd[0], got, sizeof got, MSG_DONTWAIT), -1);
        close(fd[1]);
        close(fd[0]);
    }
}

TEST(numbers_of_32_bits)
{
    const double whole[] = {0, 1, 0.5, 3, 4294967295, 4294967296, 0x1.fffffffep-40, 0x1p-1074, 0x1.fffffffep1023};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        assert_true(dp_round_up_bits(whole[i]) == whole[i]);
    assert_true(isinf(dp_round_up_bits(INFINITY)));
    for (double x = 1e-300; x < 1e300; x *= 1.7) {
        double up = dp_round_up_bits(x), below = up - x * 0x1p-31;
        assert_true(up >= x && below < x);
        assert_true(dp_round_up_bits(up) == up && dp_round_up_bits(nextafter(up, INFINITY)) > up);
        int exponent;
        double part = ldexp(frexp(up, &exponent), 32);
        assert_true(part == floor(part));
    }
}

TESTS(NULL, NULL)
