#include "base/option.h"

#include <getopt.h>

#include "base/mem.h"
#include "base/number.h"
#include "option_rule.h"

static const char *range_text(const struct dp_option *o, char *buffer, size_t size)
{
    const char *low = DP_NUMBER(o->min), *high = DP_NUMBER(o->max);
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
    char range[96], buffer[DP_OPTION_NAME];
    const char *name = dp_option_name(o, buffer);
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
        if (o->single && real > 0 && (float)real == 0)
            return dp_fail(err, DP_E_USAGE, "--%s: %g is too small", name, real);
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

/* Sets the default. */
static int set_default(const struct dp_option *o, void *values, struct dp_err *err)
{
    clear(o, values);
    return o->fallback != NULL ? assign(o, values, o->fallback, err) : DP_OK;
}

bool dp_option_given(const struct dp_option *o, const void *values)
{
    static const size_t sizes[] = {sizeof(bool), sizeof(char *), sizeof(double), sizeof(int64_t), sizeof(int)};
    _Alignas(8) char usual[8] = {0};
    struct dp_option alone = *o;
    struct dp_err err;
    alone.offset = 0;
    set_default(&alone, usual, &err);
    const void *member = (const char *)values + o->offset;
    if (o->kind == DP_OPT_TEXT && o->fallback != NULL)
        return strcmp(o->fallback, *(const char *const *)member) != 0;
    if (o->kind == DP_OPT_REAL && *(const double *)(const void *)usual == *(const double *)member) /* −0 is 0 */
        return false;
    return memcmp(usual, member, sizes[o->kind]) != 0;
}

static int table_add(struct dp_option_table *t, const struct dp_option *options, void *values, struct dp_err *err)
{
    for (const struct dp_option *o = options; o != NULL && !dp_option_is_end(o); o++) {
        if (t->count == DP_OPTION_MOST)
            return dp_fail(err, DP_E_USAGE, "more than %d options in a table", DP_OPTION_MOST);
        t->entry[t->count] = o;
        t->values[t->count++] = values;
    }
    return DP_OK;
}

static int table_of(struct dp_option_table *t, const struct dp_command *command, void *values, void *common, struct dp_err *err)
{
    *t = (struct dp_option_table){.count = 0};
    int rc = table_add(t, command->options, values, err);
    return rc ?: table_add(t, command->common, common, err);
}

int dp_option_operand(const struct dp_command *command, void *values, void *common, const char *word, struct dp_err *err)
{
    struct dp_option_table t;
    int rc = table_of(&t, command, values, common, err);
    t.word = word;
    rc = rc ?: dp_option_rules(&t, false, err);
    return rc ?: dp_option_rules(&t, true, err);
}

enum { CODE = 1000, HELP = 2000, VERSION = 2001 };

/* Arguments of getopt_long. */
struct syntax {
    struct option longs[DP_OPTION_MOST + 3];
    char name[DP_OPTION_MOST][DP_OPTION_NAME];
    char shorts[2 * DP_OPTION_MOST + 4];
};

static void describe(const struct dp_option_table *t, struct syntax *s)
{
    size_t used = 2;
    int n = 0;
    memcpy(s->shorts, ":h", used);
    for (; n < t->count; n++) {
        const struct dp_option *o = t->entry[n];
        bool takes = o->kind != DP_OPT_FLAG;
        s->longs[n] = (struct option){dp_option_name(o, s->name[n]), takes ? required_argument : no_argument, NULL, CODE + n};
        if (o->letter != 0) {
            s->shorts[used++] = o->letter;
            if (takes)
                s->shorts[used++] = ':';
        }
    }
    s->shorts[used] = '\0';
    s->longs[n++] = (struct option){"help", no_argument, NULL, HELP};
    s->longs[n++] = (struct option){"version", no_argument, NULL, VERSION};
    s->longs[n] = (struct option){NULL, 0, NULL, 0};
}

/* How many letters to insert, leave out, change or swap with the next one make b of a; `most` if they are that many or more. */
static size_t edits(const char *a, const char *b, size_t most)
{
    if (*a == '\0' || *b == '\0')
        return strlen(a) + strlen(b) < most ? strlen(a) + strlen(b) : most;
    if (*a == *b)
        return edits(a + 1, b + 1, most);
    if (most < 2)
        return most;
    size_t best = 1 + edits(a + 1, b + 1, most - 1), other = 1 + edits(a + 1, b, most - 1);
    best = other < best ? other : best;
    other = 1 + edits(a, b + 1, most - 1);
    best = other < best ? other : best;
    other = a[0] == b[1] && a[1] == b[0] ? 1 + edits(a + 2, b + 2, most - 1) : most;
    return other < best ? other : best;
}

/* An option that begins with the word, or is one edit away from it, or two from a word of six letters or more. */
static const char *alike(const struct syntax *s, const char *word)
{
    const size_t length = strcspn(word, "=");
    char *given = dp_got(strndup(word, length));
    const char *best = NULL;
    size_t least = length < 6 ? 2 : 3;
    for (const struct option *o = s->longs; length > 3 && o->name != NULL; o++) {
        const size_t here = strncmp(o->name, given, length) == 0 ? 1 : edits(given, o->name, least);
        best = here < least ? o->name : best;
        least = here < least ? here : least;
    }
    free(given);
    return best;
}

/* Says what getopt_long could not read. code: ':' if a value is missing, else '?'. at: where it began to read. */
static int refuse(const struct dp_option_table *t, const struct syntax *s, int code, int at, int argc, char **argv,
                  struct dp_err *err)
{
    const char *word = at < argc ? argv[at] : "";
    if (optopt >= CODE && optopt < CODE + t->count)
        return dp_fail(err, DP_E_USAGE, code == ':' ? "--%s: needs a value" : "--%s: takes no value",
                       s->longs[optopt - CODE].name);
    if (code == ':')
        return dp_fail(err, DP_E_USAGE, "-%c: needs a value", optopt);
    if (optopt != 0 && word[0] == '-' && word[1] != '-')
        return dp_fail(err, DP_E_USAGE, "unknown option '-%c' (try --help)", optopt);
    const char *last = optind > 0 && optind <= argc ? argv[optind - 1] : word;
    const char *meant = alike(s, last + strspn(last, "-"));
    return meant != NULL ? dp_fail(err, DP_E_USAGE, "unknown option '%.80s' (did you mean --%s?)", last, meant)
                         : dp_fail(err, DP_E_USAGE, "unknown option '%.80s' (try --help)", last);
}

/* The place in the table of what getopt_long has read. */
static int place_of(const struct dp_option_table *t, int code)
{
    int i = code >= CODE ? code - CODE : 0;
    while (code < CODE && t->entry[i]->letter != code)
        i++;
    return i;
}

int dp_option_parse(const struct dp_command *command, void *values, void *common, int argc, char **argv, int *first_operand,
                    struct dp_err *err)
{
    struct dp_option_table t;
    struct syntax syntax;
    bool given[DP_OPTION_MOST] = {false};
    int rc = table_of(&t, command, values, common, err);
    for (int i = 0; rc == DP_OK && i < t.count; i++)
        rc = set_default(t.entry[i], t.values[i], err);
    if (rc != DP_OK)
        return rc;
    describe(&t, &syntax);
    optind = 0; /* glibc: restart getopt, because several stages parse in one process */
    opterr = 0;
    for (;;) {
        int at = optind > 0 ? optind : 1;
        int code = getopt_long(argc, argv, syntax.shorts, syntax.longs, NULL);
        if (code == -1)
            break;
        if (code == HELP || code == 'h')
            return DP_PARSE_HELP;
        if (code == VERSION)
            return DP_PARSE_VERSION;
        if (code == ':' || code == '?')
            return refuse(&t, &syntax, code, at, argc, argv, err);
        const int i = place_of(&t, code);
        rc = assign(t.entry[i], t.values[i], optarg, err);
        if (rc != DP_OK)
            return rc;
        given[i] = true;
    }
    rc = dp_option_rules(&t, false, err);
    for (int i = 0; rc == DP_OK && i < t.count; i++)
        if (t.entry[i]->required && !given[i])
            rc = dp_option_missing(&t, i, err);
    rc = rc ?: dp_option_rules(&t, true, err);
    *first_operand = optind;
    return rc ?: DP_PARSE_RUN;
}

static void help_line(const struct dp_option_table *t, const struct dp_option *o, FILE *stream)
{
    char left[80], letter[8] = "    ", buffer[DP_OPTION_NAME];
    if (o->letter != 0)
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    snprintf(left, sizeof left, "%s--%s%s%s", letter, dp_option_name(o, buffer), o->metavar ? " " : "",
             o->metavar ? o->metavar : "");
    fprintf(stream, "  %-32s ", left);
    dp_option_print_needs(o, stream);
    fputs(o->help, stream);
    if (o->choices != NULL)
        fprintf(stream, ": %s", o->choices);
    dp_option_print_excludes(t, o, stream);
    if (o->fallback != NULL)
        fprintf(stream, " (default %s)", o->fallback);
    dp_option_print_required(o, stream);
    fputc('\n', stream);
}

void dp_option_help(const struct dp_command *command, FILE *stream)
{
    struct dp_option_table t;
    table_of(&t, command, NULL, NULL, NULL);
    fprintf(stream, "Usage: %s [options]%s%s\n%s.\n\nOptions:\n", command->name, command->operands[0] ? " " : "",
            command->operands, command->summary);
    for (int i = 0; i < t.count; i++)
        help_line(&t, t.entry[i], stream);
    fprintf(stream, "  %-32s %s\n  %-32s %s\n\nThe manual: man %.*s\n", "-h, --help", "this page", "    --version",
            "the version", (int)strcspn(command->name, " "), command->name); /* a subcommand is on the page of its command */
}

int dp_option_part(const char *option, const char *text, int64_t most, int64_t *k, int64_t *n, struct dp_err *err)
{
    char first[24];
    const char *slash = strchr(text, '/');
    const size_t length = slash != NULL ? (size_t)(slash - text) : 0;
    snprintf(first, sizeof first, "%.*s", (int)(length < sizeof first ? length : 0), text);
    if (!dp_number_int(first, k) || !dp_number_int(slash + 1, n))
        return dp_fail(err, DP_E_USAGE, "--%s: '%.40s' is not K/N", option, text);
    if (*k < 1 || *k > *n || *n > most)
        return dp_fail(err, DP_E_USAGE, "--%s: %s, but K is from 1 to N, and N at most %lld", option, text, (long long)most);
    return DP_OK;
}
