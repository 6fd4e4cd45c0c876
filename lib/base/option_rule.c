#include "option_rule.h"

#define MOST_TEXT 400

/* A condition of a rule. length 0: the values are of the word. values NULL: the option is given. */
struct condition {
    const char *name, *values;
    int length, span;
};

struct rule {
    struct condition condition[12];
    int count;
    const char *why; /* from the colon on */
    int why_length;
};

/* Reads the rule at `at` (NULL: none). only: conditions are values of the word. Returns where the next one begins, or NULL. */
static const char *read_rule(const char *at, bool only, struct rule *rule)
{
    *rule = (struct rule){.why = ""};
    if (at == NULL)
        return NULL;
    for (bool more = true; more;) {
        at += strspn(at, " ");
        int all = (int)strcspn(at, ",;:"), name = only ? 0 : (int)strcspn(at, "=,;:"), to = name + !only;
        rule->condition[rule->count++] = (struct condition){at, to < all ? at + to : NULL, name, all - to};
        at += all;
        more = *at == ',' && rule->count < 12;
        at += more;
    }
    if (*at == ':') {
        rule->why = at;
        rule->why_length = (int)strcspn(at, ";");
        at += rule->why_length;
    }
    return *at == ';' ? at + 1 : NULL;
}

bool dp_option_is_end(const struct dp_option *o)
{
    return o->name == NULL && o->member == NULL;
}

const char *dp_option_name(const struct dp_option *o, char buffer[DP_OPTION_NAME])
{
    if (o->name != NULL)
        return o->name;
    const char *dot = strrchr(o->member, '.');
    snprintf(buffer, DP_OPTION_NAME, "%s", dot != NULL ? dot + 1 : o->member);
    for (char *p = buffer; *p != '\0'; p++)
        if (*p == '_')
            *p = '-';
    return buffer;
}

static int find(const struct dp_option_table *t, const char *name, int length)
{
    char buffer[DP_OPTION_NAME];
    for (int i = 0; i < t->count; i++) {
        const char *own = dp_option_name(t->entry[i], buffer);
        if ((int)strlen(own) == length && memcmp(own, name, (size_t)length) == 0)
            return i;
    }
    return -1;
}

/* The text of a choice's value, or NULL. */
static const char *chosen(const struct dp_option *o, const void *values, int *length)
{
    int index = o->kind == DP_OPT_CHOICE ? *(const int *)(const void *)((const char *)values + o->offset) : -1;
    const char *text = index >= 0 ? o->choices : NULL;
    for (; text != NULL && index > 0; index--)
        text = strchr(text, '|') + 1;
    *length = text != NULL ? (int)strcspn(text, "|") : 0;
    return text;
}

static bool listed(const struct condition *c, const char *text, int length)
{
    for (const char *at = c->values; text != NULL && at < c->values + c->span; at += strcspn(at, "|,;:") + 1)
        if ((int)strcspn(at, "|,;:") == length && memcmp(at, text, (size_t)length) == 0)
            return true;
    return false;
}

static bool holds(const struct dp_option_table *t, const struct condition *c)
{
    if (c->length == 0)
        return t->word != NULL && listed(c, t->word, (int)strlen(t->word));
    int i = find(t, c->name, c->length), length;
    if (i < 0 || c->values == NULL)
        return i >= 0 && dp_option_given(t->entry[i], t->values[i]);
    const char *value = chosen(t->entry[i], t->values[i], &length);
    return listed(c, value, length);
}

static bool any_holds(const struct dp_option_table *t, const struct rule *rule)
{
    for (int i = 0; i < rule->count; i++)
        if (holds(t, &rule->condition[i]))
            return true;
    return false;
}

static void add(char text[MOST_TEXT], const char *before, const char *word, int length)
{
    size_t used = strlen(text);
    snprintf(text + used, MOST_TEXT - used, "%s%.*s", before, length, word);
}

/* Appends "--name", "--name value or value", or values of the word. */
static void add_condition(char text[MOST_TEXT], const struct condition *c, const char *last)
{
    if (c->length > 0)
        add(text, "--", c->name, c->length);
    for (int at = 0; c->values != NULL && at < c->span;) {
        int length = (int)strcspn(c->values + at, "|,;:"), next = at + length + 1;
        add(text, at > 0 ? next < c->span ? ", " : last : c->length > 0 ? " " : "", c->values + at, length);
        at = next;
    }
}

/* Appends "--a, --b or --c". text may begin with some of them. */
static const char *add_rule(char text[MOST_TEXT], const struct rule *rule, const char *last)
{
    for (int i = 0; i < rule->count; i++) {
        add(text, text[0] == '\0' ? "" : i + 1 < rule->count ? ", " : last, "", 0);
        add_condition(text, &rule->condition[i], last);
    }
    return text;
}

/* Appends a condition that holds, with the value that a choice or the word has. */
static void add_holding(char text[MOST_TEXT], const struct dp_option_table *t, const struct rule *rule)
{
    int k = 0;
    while (!holds(t, &rule->condition[k]))
        k++;
    struct condition now = rule->condition[k];
    if (now.values != NULL && now.length > 0) {
        int i = find(t, now.name, now.length);
        now.values = chosen(t->entry[i], t->values[i], &now.span);
    } else if (now.values != NULL) {
        now.values = t->word;
        now.span = (int)strlen(t->word);
    }
    add_condition(text, &now, "");
}

static bool is_below(const struct dp_option_table *t, int i)
{
    const struct dp_option *o = t->entry[i];
    int other = o->at_least != NULL ? find(t, o->at_least, (int)strlen(o->at_least)) : -1;
    if (other < 0)
        return false;
    const void *own = (const char *)t->values[i] + o->offset, *least = (const char *)t->values[other] + t->entry[other]->offset;
    return o->kind == DP_OPT_REAL
               ? *(const double *)own < *(const double *)least
               : *(const int64_t *)own != DP_OPT_ABSENT_INT && *(const int64_t *)own < *(const int64_t *)least;
}

/* EXCLUDES: a rule for each condition. */
enum kind { EXCLUDES, NEEDS, ONLY, NEEDED_BY, KINDS };

static int check_rule(const struct dp_option_table *t, int i, enum kind kind, const struct rule *rule, struct dp_err *err)
{
    char buffer[DP_OPTION_NAME], own[MOST_TEXT] = "--", text[MOST_TEXT] = "";
    struct rule unless;
    if (any_holds(t, rule) == (kind == NEEDS || kind == ONLY) || (kind == ONLY && t->word == NULL))
        return DP_OK;
    strcat(own, dp_option_name(t->entry[i], buffer));
    switch (kind) {
    case EXCLUDES:
        add_holding(text, t, rule);
        return dp_fail(err, DP_E_USAGE, "%s and %s exclude each other%.*s", own, text, rule->why_length, rule->why);
    case NEEDED_BY:
        read_rule(t->entry[i]->unless, false, &unless);
        if (any_holds(t, &unless))
            return DP_OK;
        add_rule(own, &unless, " or ");
        add_holding(text, t, rule);
        return dp_fail(err, DP_E_USAGE, "%s needs %s%.*s", text, own, rule->why_length, rule->why);
    default:
        add_rule(text, rule, kind == ONLY ? " and " : " or ");
        return dp_fail(err, DP_E_USAGE, "%s %s %s%.*s", own, kind == ONLY ? "is for" : "needs", text, rule->why_length,
                       rule->why);
    }
}

int dp_option_missing(const struct dp_option_table *t, int i, struct dp_err *err)
{
    char buffer[DP_OPTION_NAME], own[MOST_TEXT] = "--";
    const struct dp_option *o = t->entry[i];
    struct rule unless;
    read_rule(o->unless, false, &unless);
    if (any_holds(t, &unless))
        return DP_OK;
    strcat(own, dp_option_name(o, buffer));
    return dp_fail(err, DP_E_USAGE, "%s is required%s%s", add_rule(own, &unless, " or "), o->choices != NULL ? ": " : "",
                   o->choices != NULL ? o->choices : "");
}

int dp_option_rules(const struct dp_option_table *t, bool needed, struct dp_err *err)
{
    char buffer[DP_OPTION_NAME];
    struct rule rule;
    int rc = DP_OK;
    for (enum kind kind = needed ? NEEDED_BY : 0; kind < (needed ? KINDS : NEEDED_BY); kind++)
        for (int i = 0; i < t->count; i++) {
            const struct dp_option *o = t->entry[i];
            const char *const rules[KINDS] = {o->excludes, o->needs, o->only, o->needed_by};
            if (dp_option_given(o, t->values[i]) == (kind == NEEDED_BY))
                continue;
            for (const char *at = rules[kind]; rc == DP_OK && at != NULL;) {
                at = read_rule(at, kind == ONLY, &rule);
                rc = check_rule(t, i, kind, &rule, err);
            }
        }
    for (int i = 0; rc == DP_OK && i < t->count; i++)
        if (is_below(t, i))
            rc = dp_fail(err, DP_E_USAGE, "--%s: must be at least --%s", dp_option_name(t->entry[i], buffer),
                         t->entry[i]->at_least);
    return rc;
}

void dp_option_print_needs(const struct dp_option *o, FILE *stream)
{
    const char *const rules[] = {o->only, o->needs};
    struct rule rule;
    for (int k = 0; k < 2; k++)
        for (const char *at = rules[k]; at != NULL;) {
            char text[MOST_TEXT] = "";
            at = read_rule(at, k == 0, &rule);
            fprintf(stream, "%s%s", add_rule(text, &rule, k == 0 ? ", " : " or "), at != NULL ? " and " : ": ");
        }
}

void dp_option_print_excludes(const struct dp_option_table *t, const struct dp_option *o, FILE *stream)
{
    struct rule rule;
    for (const char *at = o->excludes; at != NULL;) {
        char text[MOST_TEXT] = "";
        int all = 0;
        at = read_rule(at, false, &rule);
        for (int i = 0; i < rule.count; i++)
            if (rule.condition[i].length == 0 || find(t, rule.condition[i].name, rule.condition[i].length) >= 0)
                rule.condition[all++] = rule.condition[i];
        rule.count = all;
        if (all > 0)
            fprintf(stream, " (not with %s)", add_rule(text, &rule, " or "));
    }
}

/* " without --a or --b" */
static void print_unless(const struct dp_option *o, FILE *stream)
{
    struct rule unless;
    char text[MOST_TEXT] = "";
    read_rule(o->unless, false, &unless);
    fprintf(stream, "%s%s)", unless.count > 0 ? " without " : "", add_rule(text, &unless, " or "));
}

void dp_option_print_required(const struct dp_option *o, FILE *stream)
{
    struct rule rule;
    if (o->required) {
        fputs(" (required", stream);
        print_unless(o, stream);
    }
    for (const char *at = o->needed_by; at != NULL;) {
        char text[MOST_TEXT] = "";
        at = read_rule(at, false, &rule);
        fprintf(stream, " (required with %s", add_rule(text, &rule, " or "));
        print_unless(o, stream);
    }
}
