#include "template.h"

#include <time.h>

#include "base/round.h"
#include "plot.h"

enum { TAG = 80 };

struct scope {
    const json_t *json;
    const struct scope *outer;
};

static _Noreturn void fail(const char *tag)
{
    fprintf(stderr, "a template has the tag %.*s\n", TAG, tag);
    abort();
}

static const json_t *find(const struct scope *s, const char *name)
{
    if (strcmp(name, ".") == 0)
        return s->json;
    for (; s != NULL; s = s->outer)
        if (json_object_get(s->json, name) != NULL)
            return json_object_get(s->json, name);
    return NULL;
}

static void print_up(const json_t *value, int digits, FILE *out)
{
    if (json_is_string(value))
        fputs("without bound", out);
    else if (!json_is_number(value))
        fputs("unknown", out);
    else
        fprintf(out, "%g", dp_round_up(json_number_value(value), digits));
}

static void print_day(const json_t *value, FILE *out)
{
    char day[32] = "";
    time_t when = (time_t)json_integer_value(value);
    struct tm parts;
    if (value != NULL && gmtime_r(&when, &parts) != NULL)
        strftime(day, sizeof day, "%Y-%m-%d", &parts);
    fputs(day, out);
}

static void print_value(const json_t *value, const char *how, FILE *out)
{
    const char *text = json_string_value(value);
    char word[TAG];
    int digits;
    if (sscanf(how, "up %d", &digits) == 1)
        print_up(value, digits, out);
    else if (sscanf(how, "to %d", &digits) == 1)
        fprintf(out, "%.*g", digits, json_number_value(value));
    else if (sscanf(how, "first %d", &digits) == 1)
        snprintf(word, sizeof word, "%.*s", digits, text != NULL ? text : ""), plot_text(word, out);
    else if (strcmp(how, "day") == 0)
        print_day(value, out);
    else if (sscanf(how, "count %s", word) == 1)
        fprintf(out, "%lld %s%s", (long long)json_integer_value(value), word, json_integer_value(value) == 1 ? "" : "s");
    else if (how[0] != '\0')
        fail(how);
    else if (json_is_integer(value))
        fprintf(out, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        fprintf(out, "%g", json_real_value(value));
    else
        plot_text(text != NULL ? text : "", out);
}

static bool is_there(const json_t *value)
{
    return json_is_true(value) || json_is_object(value) || json_array_size(value) > 0 || json_string_length(value) > 0 ||
           json_number_value(value) != 0;
}

static void print_part(const char *at, const char *end, const struct scope *scope, FILE *out);

static void print_section(const char *at, const char *end, const json_t *value, const struct scope *scope, FILE *out)
{
    size_t i;
    json_t *item;
    if (!json_is_array(value)) {
        print_part(at, end, json_is_object(value) ? &(struct scope){value, scope} : scope, out);
        return;
    }
    json_array_foreach (value, i, item)
        print_part(at, end, &(struct scope){item, scope}, out);
}

/* Prints the value of a tag, or its section. Returns the text after it. */
static const char *print_tag(const char *tag, const struct scope *scope, FILE *out)
{
    const char *close = strstr(tag, "}}"), kind = *tag;
    char name[TAG], past[TAG + 8], *how;
    if (close == NULL || close - tag >= TAG)
        fail(tag);
    const bool plain = strchr("#^&", kind) == NULL;
    snprintf(name, sizeof name, "%.*s", (int)(close - tag) - !plain, tag + !plain);
    how = name + strcspn(name, " ");
    if (*how != '\0')
        *how++ = '\0';
    const json_t *value = find(scope, name);
    close += 2;
    if (plain)
        print_value(value, how, out);
    if (kind == '&' && json_is_string(value))
        fputs(json_string_value(value), out);
    if (plain || kind == '&')
        return close;
    snprintf(past, sizeof past, "{{/%s}}", name);
    const char *end = strstr(close, past);
    if (end == NULL)
        fail(tag);
    if (is_there(value) == (kind == '#'))
        print_section(close, end, kind == '#' ? value : NULL, scope, out);
    return end + strlen(past);
}

static void print_part(const char *at, const char *end, const struct scope *scope, FILE *out)
{
    while (at < end) {
        const char *tag = strstr(at, "{{"), *stop = tag != NULL && tag < end ? tag : end;
        fwrite(at, 1, (size_t)(stop - at), out);
        at = stop < end ? print_tag(stop + 2, scope, out) : end;
    }
}

void template_print(const char *template, const json_t *json, FILE *out)
{
    print_part(template, template + strlen(template), &(struct scope){json, NULL}, out);
}
