#include "plain.h"

#include "base/mem.h"

enum { WIDE = 78, COLUMNS = 12 };
enum { ROW = 1, LEFT, RIGHT }; /* places in the text of a table: before a row, and before a cell */

struct plain {
    FILE *out;
    char *text; /* the text of the paragraph or table, with room for the whole page */
    size_t used;
    bool table, item;
};

/* The number of terminal columns that UTF-8 text takes, one for each character. */
static size_t width_of(const char *text, size_t length)
{
    size_t width = 0;
    for (size_t i = 0; i < length; i++)
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
    return width;
}

/* Prints the paragraph, and begins another one. */
static void end_paragraph(struct plain *p)
{
    size_t column = 0;
    const char *lead = p->item ? "  - " : "";
    p->text[p->used] = '\0';
    for (const char *word = p->text + strspn(p->text, " "); *word != '\0'; word += strspn(word, " ")) {
        size_t length = strcspn(word, " "), width = width_of(word, length);
        if (column > 0 && column + 1 + width > WIDE) {
            fprintf(p->out, "\n%*s", (int)strlen(lead), "");
            column = strlen(lead);
        } else if (column == 0) {
            fputs(lead, p->out);
            column = strlen(lead);
        } else {
            fputc(' ', p->out);
            column++;
        }
        fwrite(word, 1, length, p->out);
        column += width;
        word += length;
    }
    if (column > 0)
        fputs(p->item ? "\n" : "\n\n", p->out);
    p->used = 0;
}

/* Prints a table that is too wide: each row is an item, "first cell: second | third". */
static void end_wide_table(struct plain *p)
{
    char *table = dp_format("%s", p->text), *row = table, *last;
    p->table = false;
    p->item = true;
    for (row = strtok_r(table, "\1", &last); row != NULL; row = strtok_r(NULL, "\1", &last)) {
        int cells = 0;
        p->used = 0;
        for (const char *at = row; *at != '\0'; at++)
            if (*at == LEFT || *at == RIGHT)
                p->used += (size_t)sprintf(p->text + p->used, "%s", cells++ == 0 ? "" : cells == 2 ? ": " : " | ");
            else
                p->text[p->used++] = *at;
        end_paragraph(p);
    }
    fputc('\n', p->out);
    p->item = false;
    free(table);
}

static void end_table(struct plain *p)
{
    size_t widest[COLUMNS] = {0}, column = 0, wide = 0;
    p->text[p->used] = '\0';
    for (int print = 0; print < 2; print++) {
        for (size_t i = 0; print && i < COLUMNS; i++)
            wide += widest[i] + 2;
        if (wide > WIDE + 2 * COLUMNS) {
            end_wide_table(p);
            return;
        }
        for (const char *at = p->text; *at != '\0';) {
            char kind = *at++;
            size_t length = strcspn(at, "\1\2\3"), width = width_of(at, length);
            if (kind == ROW && print && at > p->text + 1)
                fputc('\n', p->out);
            if (kind == ROW) {
                column = 0;
            } else if (column < COLUMNS) {
                int fill = widest[column] > width ? (int)(widest[column] - width) : 0;
                if (print)
                    fprintf(p->out, "  %*s%.*s%*s", kind == RIGHT ? fill : 0, "", (int)length, at, kind == RIGHT ? 0 : fill,
                            "");
                widest[column] = width > widest[column] ? width : widest[column];
                column++;
            }
            at += length;
        }
    }
    fputs("\n\n", p->out);
    p->used = 0;
    p->table = false;
}

/* Whether the tag, after its "<", has this name. */
static bool is(const char *tag, const char *name)
{
    size_t length = strlen(name);
    return strncmp(tag, name, length) == 0 && (tag[length] == ' ' || tag[length] == '>');
}

static void take_tag(struct plain *p, const char *tag)
{
    static const char *const blocks[] = {"h1", "/h1", "h2", "/h2", "p", "/p", "div", "/div", "ul", "/ul", "li", "/li"};
    bool right = strncmp(tag + 2, " class=\"n\"", 10) == 0;
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        if (is(tag, blocks[i]))
            end_paragraph(p);
    if (is(tag, "h2"))
        fputc('\n', p->out);
    if (is(tag, "/ul"))
        fputc('\n', p->out);
    p->item = is(tag, "li") || (p->item && !is(tag, "/li"));
    if (is(tag, "table")) {
        end_paragraph(p);
        p->table = true;
    }
    if (p->table && is(tag, "tr"))
        p->text[p->used++] = ROW;
    if (p->table && (is(tag, "td") || is(tag, "th")))
        p->text[p->used++] = right ? RIGHT : LEFT;
    if (is(tag, "/table"))
        end_table(p);
    if (is(tag, "sup"))
        p->text[p->used++] = '^';
}

/* The character of an entity; *length: of its text. */
static char entity(const char *at, size_t *length)
{
    static const struct {
        const char *text;
        char character;
    } entities[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&#39;", '\''}};
    for (size_t i = 0; i < sizeof entities / sizeof entities[0]; i++) {
        *length = strlen(entities[i].text);
        if (strncmp(at, entities[i].text, *length) == 0)
            return entities[i].character;
    }
    *length = 1;
    return *at;
}

/* The end of an element that has no text to show; NULL: the tag begins an element of another kind. */
static const char *skip(const char *tag)
{
    static const char *const names[] = {"style", "title", "svg"}, *const ends[] = {"</style>", "</title>", "</svg>"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (is(tag, names[i]))
            return strstr(tag, ends[i]);
    return NULL;
}

void plain_print(const char *html, FILE *out)
{
    struct plain p = {.out = out};
    p.text = dp_new(strlen(html) + 1, 1);
    for (const char *at = html; *at != '\0';) {
        size_t length = 1;
        if (*at == '<') {
            const char *after = skip(at + 1);
            take_tag(&p, at + 1);
            at = after != NULL ? after : at;
            at += strcspn(at, ">") + (at[strcspn(at, ">")] != '\0');
            continue;
        }
        char c = entity(at, &length);
        at += length;
        bool control = (unsigned char)c < ' ' || c == 127;
        if (!control || !p.table)
            p.text[p.used++] = control ? ' ' : c;
    }
    end_paragraph(&p);
    free(p.text);
}
