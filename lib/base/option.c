#include "base/option.h"

#include <getopt.h>

#include "base/number.h"

#define MAX_OPTIONS 64
#define MAX_NAME 40

static bool is_end(const struct dp_option *o)
{
    return o->name == NULL && o->member == NULL;
}

/* "pay.no_ledger": no-ledger. */
static const char *long_name(const struct dp_option *o, char buffer[MAX_NAME])
{
    if (o->name != NULL)
        return o->name;
    const char *dot = strrchr(o->member, '.');
    snprintf(buffer, MAX_NAME, "%s", dot != NULL ? dot + 1 : o->member);
    for (char *p = buffer; *p != '\0'; p++)
        if (*p == '_')
            *p = '-';
    return buffer;
}

static const char *range_text(const struct dp_option *o, char *buffer, size_t size)
{
    char low[32], high[32];
    dp_number_print(o->min, low, sizeof low);
    dp_number_print(o->max, high, sizeof high);
    const char *above = o->open_min ? ">" : ">=";
    const char *below = o->open_max ? "<" : "<=";
    if (isinf(o->max))
        snprintf(buffer, size, "must be %s %s", above, low);
    else if (o->open_min || o->open_max)
        snprintf(buffer, size, "must be %s %s and %s %s", above, low, below, high);
    else
        snprintf(buffer, size, "must be between %s and %s", low, high);
    return buffer;
}

static bool in_range(const struct dp_option *o, double value)
{
    if (o->min == 0 && o->max == 0)
        return true;
    bool above = o->open_min ? value > o->min : value >= o->min;
    bool below = o->open_max ? value < o->max : value <= o->max;
    return above && below;
}

static int choice_index(const char *choices, const char *text)
{
    size_t length = strlen(text);
    int index = 0;
    for (const char *p = choices; *p != '\0'; index++) {
        size_t span = strcspn(p, "|");
        if (span == length && memcmp(p, text, span) == 0)
            return index;
        p += span;
        if (*p == '|')
            p++;
    }
    return -1;
}

/* Parses the text into the option's member of the struct `values`. DP_E_USAGE: it is not a valid value. */
static int assign(const struct dp_option *o, void *values, const char *text, struct dp_err *err)
{
    char *member = (char *)values + o->offset;
    char range[96], buffer[MAX_NAME];
    const char *name = long_name(o, buffer);
    double real;
    int64_t whole;
    int choice;
    switch (o->kind) {
    case DP_OPT_FLAG:
        *(bool *)(void *)member = true;
        return DP_OK;
    case DP_OPT_TEXT:
        *(const char **)(void *)member = text;
        return DP_OK;
    case DP_OPT_REAL:
        if (!dp_number_real(text, &real))
            return dp_fail(err, DP_E_USAGE, "--%s: must be a finite number, got '%.80s'", name, text);
        if (!in_range(o, real))
            return dp_fail(err, DP_E_USAGE, "--%s: %s, got %.80s", name, range_text(o, range, sizeof range), text);
        *(double *)(void *)member = real;
        return DP_OK;
    case DP_OPT_INT:
        if (o->choices != NULL && strcmp(text, o->choices) == 0) /* left to the command */
            return DP_OK;
        if (!dp_number_int(text, &whole))
            return dp_fail(err, DP_E_USAGE, "--%s: must be a whole number, got '%.80s'", name, text);
        if (!in_range(o, (double)whole))
            return dp_fail(err, DP_E_USAGE, "--%s: %s, got %.80s", name, range_text(o, range, sizeof range), text);
        *(int64_t *)(void *)member = whole;
        return DP_OK;
    case DP_OPT_CHOICE:
        choice = choice_index(o->choices, text);
        if (choice < 0)
            return dp_fail(err, DP_E_USAGE, "--%s: must be one of %s, got '%.80s'", name, o->choices, text);
        *(int *)(void *)member = choice;
        return DP_OK;
    }
    return dp_fail(err, DP_E_USAGE, "--%s: unknown kind", name);
}

static void clear(const struct dp_option *o, void *values)
{
    char *member = (char *)values + o->offset;
    switch (o->kind) {
    case DP_OPT_FLAG:
        *(bool *)(void *)member = false;
        break;
    case DP_OPT_TEXT:
        *(const char **)(void *)member = NULL;
        break;
    case DP_OPT_REAL:
        *(double *)(void *)member = NAN;
        break;
    case DP_OPT_INT:
        *(int64_t *)(void *)member = DP_OPT_ABSENT_INT;
        break;
    case DP_OPT_CHOICE:
        *(int *)(void *)member = -1;
        break;
    }
}

struct table {
    const struct dp_option *entry[MAX_OPTIONS];
    void *values[MAX_OPTIONS];
    bool given[MAX_OPTIONS];
    int count;
};

static int table_add(struct table *t, const struct dp_option *options, void *values, struct dp_err *err)
{
    for (const struct dp_option *o = options; o != NULL && !is_end(o); o++) {
        if (t->count == MAX_OPTIONS)
            return dp_fail(err, DP_E_USAGE, "more than %d options in a table", MAX_OPTIONS);
        t->entry[t->count] = o;
        t->values[t->count] = values;
        t->count++;
        clear(o, values);
        if (o->fallback != NULL) {
            int rc = assign(o, values, o->fallback, err);
            if (rc != DP_OK)
                return rc;
        }
    }
    return DP_OK;
}

int dp_option_parse(const struct dp_command *command, void *values, void *common, int argc, char **argv, int *first_operand,
                    struct dp_err *err)
{
    struct table t = {.count = 0};
    int rc = table_add(&t, command->options, values, err);
    rc = rc ?: table_add(&t, command->common, common, err);
    if (rc != DP_OK)
        return rc;

    enum { CODE = 1000, HELP = 2000, VERSION = 2001 };
    struct option longs[MAX_OPTIONS + 3];
    char buffer[MAX_OPTIONS][MAX_NAME];
    char shorts[2 * MAX_OPTIONS + 4] = ":h";
    size_t used = 2;
    int n = 0;
    for (; n < t.count; n++) {
        const struct dp_option *o = t.entry[n];
        bool takes = o->kind != DP_OPT_FLAG;
        longs[n] = (struct option){long_name(o, buffer[n]), takes ? required_argument : no_argument, NULL, CODE + n};
        if (o->letter != 0) {
            shorts[used++] = o->letter;
            if (takes)
                shorts[used++] = ':';
        }
    }
    shorts[used] = '\0';
    longs[n++] = (struct option){"help", no_argument, NULL, HELP};
    longs[n++] = (struct option){"version", no_argument, NULL, VERSION};
    longs[n] = (struct option){NULL, 0, NULL, 0};

    optind = 0; /* glibc: restart getopt, because several stages parse in one process */
    opterr = 0;
    for (;;) {
        int at = optind > 0 ? optind : 1;
        int code = getopt_long(argc, argv, shorts, longs, NULL);
        if (code == -1)
            break;
        if (code == HELP || code == 'h')
            return DP_PARSE_HELP;
        if (code == VERSION)
            return DP_PARSE_VERSION;
        if (code == ':' || code == '?') {
            const char *word = at < argc ? argv[at] : "";
            if (optopt >= CODE && optopt < CODE + t.count)
                return code == ':' ? dp_fail(err, DP_E_USAGE, "--%s: needs a value", longs[optopt - CODE].name)
                                   : dp_fail(err, DP_E_USAGE, "--%s: takes no value", longs[optopt - CODE].name);
            if (code == ':')
                return dp_fail(err, DP_E_USAGE, "-%c: needs a value", optopt);
            if (optopt != 0 && word[0] == '-' && word[1] != '-')
                return dp_fail(err, DP_E_USAGE, "unknown option '-%c' (try --help)", optopt);
            const char *last = optind > 0 && optind <= argc ? argv[optind - 1] : word;
            return dp_fail(err, DP_E_USAGE, "unknown option '%.80s' (try --help)", last);
        }
        int index = -1;
        if (code >= CODE)
            index = code - CODE;
        for (int i = 0; index < 0 && i < t.count; i++)
            if (t.entry[i]->letter == code)
                index = i;
        if (index < 0)
            return dp_fail(err, DP_E_USAGE, "unknown option (try --help)");
        rc = assign(t.entry[index], t.values[index], optarg, err);
        if (rc != DP_OK)
            return rc;
        t.given[index] = true;
    }
    for (int i = 0; i < t.count; i++)
        if (t.entry[i]->required && !t.given[i])
            return dp_fail(err, DP_E_USAGE, "--%s is required%s%s", longs[i].name, t.entry[i]->choices != NULL ? ": " : "",
                           t.entry[i]->choices != NULL ? t.entry[i]->choices : "");
    *first_operand = optind;
    return DP_PARSE_RUN;
}

static void help_line(const struct dp_option *o, FILE *stream)
{
    char left[80];
    char letter[8] = "    ", buffer[MAX_NAME];
    if (o->letter != 0)
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    snprintf(left, sizeof left, "%s--%s%s%s", letter, long_name(o, buffer), o->metavar ? " " : "",
             o->metavar ? o->metavar : "");
    fprintf(stream, "  %-32s %s", left, o->help);
    if (o->choices != NULL)
        fprintf(stream, ": %s", o->choices);
    if (o->fallback != NULL)
        fprintf(stream, " (default %s)", o->fallback);
    if (o->required)
        fputs(" (required)", stream);
    fputc('\n', stream);
}

void dp_option_help(const struct dp_command *command, FILE *stream)
{
    fprintf(stream, "Usage: %s [options]%s%s\n%s.\n\nOptions:\n", command->name, command->operands[0] ? " " : "",
            command->operands, command->summary);
    for (const struct dp_option *o = command->options; o != NULL && !is_end(o); o++)
        help_line(o, stream);
    for (const struct dp_option *o = command->common; o != NULL && !is_end(o); o++)
        help_line(o, stream);
    fprintf(stream, "  %-32s %s\n  %-32s %s\n\nThe manual: man %.*s\n", "-h, --help", "this page", "    --version",
            "the version", (int)strcspn(command->name, " "), command->name); /* a subcommand is on the page of its command */
}
