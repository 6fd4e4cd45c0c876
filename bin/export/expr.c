#include "expr.h"

#include "base/mem.h"

static struct expr *all;

struct expr *expr_new(enum op op, const struct expr *const arg[3])
{
    struct expr *e = dp_new(1, sizeof *e);
    *e = (struct expr){.op = op, .arg = {arg[0], arg[1], arg[2]}, .next = all};
    return all = e;
}

struct expr *expr_at(enum op op, const struct expr *a, size_t at)
{
    struct expr *e = expr(op, a);
    e->at = at;
    return e;
}

const struct expr *expr_number(double value)
{
    struct expr *e = expr(OP_NUMBER, NULL);
    e->number = value;
    return e;
}

void expr_entry(struct expr *table, const char *word, double key, double value)
{
    if (table->op == OP_STEPS && table->count > 0 && table->entry[table->count - 1].value == value)
        return;
    dp_extend(&table->entry, &table->room, table->count + 1, sizeof *table->entry);
    table->entry[table->count++] = (struct expr_entry){word, key, value};
}

const struct expr *expr_sum(const struct expr **term, size_t count)
{
    size_t half = count / 2;
    if (count < 2)
        return count == 0 ? expr_number(0) : term[0];
    return expr(OP_ADD, expr_sum(term, half), expr_sum(term + half, count - half));
}

void expr_free(void)
{
    for (struct expr *next; all != NULL; all = next) {
        next = all->next;
        free(all->entry);
        free(all);
    }
}

/* The state of expr_print_as: where in the form, and at which entry. */
struct writer {
    const struct syntax *syntax;
    void *self;
    const struct expr *x;
    size_t entry;
    FILE *out;
};

static void put_entry(const struct writer *w, char letter)
{
    const struct expr_entry *e = &w->x->entry[w->entry];
    if (letter == 'w')
        w->syntax->word(w->self, e->word);
    else
        w->syntax->number(w->self, w->x->count == 0 ? w->x->number
                                   : letter == 'v'  ? e->value
                                   : letter == 'k'  ? e->key
                                   : letter == 'K'  ? e[1].key
                                   : letter == 'W'  ? e[1].key - e->key
                                                    : e[1].value - e->value);
}

static void put_letter(const struct writer *w, char letter)
{
    switch (letter) {
    case 'a':
    case 'b':
    case 'c':
        expr_print(w->syntax, w->self, w->x->arg[letter - 'a'], w->out);
        break;
    case 's':
    case 'f':
        w->syntax->name(w->self, letter == 's' ? w->x : w->x->arg[0]);
        break;
    case 'i':
    case 'n':
        fprintf(w->out, "%zu", letter == 'i' ? w->x->at + 1 : w->x->count);
        break;
    case '%':
        fputc('%', w->out);
        break;
    default:
        if (strchr("wkvKWV", letter) != NULL)
            put_entry(w, letter);
        else
            w->syntax->other(w->self, letter, w->x);
    }
}

static void put_form(struct writer *w, const char *form, const char *end)
{
    for (; form < end; form++) {
        bool entries = form[0] == '%' && form[1] == '(', intervals = form[0] == '%' && form[1] == '[';
        if (entries || intervals) {
            const char *close = strstr(form, entries ? "%)" : "%]");
            size_t count = w->x->count - (entries ? 0 : w->x->op == OP_LINES ? 2 : 1);
            for (w->entry = 0; w->entry < count; w->entry++)
                put_form(w, form + 2, close);
            form = close + 1;
        } else if (form[0] == '%') {
            put_letter(w, *++form);
        } else {
            fputc(*form, w->out);
        }
    }
}

void expr_print_as(const struct syntax *syntax, void *self, const char *form, const struct expr *x, FILE *out)
{
    put_form(&(struct writer){syntax, self, x, 0, out}, form, form + strlen(form));
}

void expr_print(const struct syntax *syntax, void *self, const struct expr *x, FILE *out)
{
    expr_print_as(syntax, self, syntax->form[x->op], x, out);
}
