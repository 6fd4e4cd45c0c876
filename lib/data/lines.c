#include "data/lines.h"

#include <ctype.h>
#include <endian.h>
#include <strings.h>

#include "base/mem.h"
#include "base/progress.h"
#include "base/text.h"
#include "data/encoding.h"
#include "data/input.h"

#define LINE_LIMIT ((size_t)1 << 26)
#define CHUNK ((size_t)1 << 16)
#define FIRST ((size_t)1 << 13) /* read before the encoding is known */

/* Whether the text is ASCII without NUL and quotes: then three checks of each line can be left out. */
static bool is_plain(const char *text, size_t length)
{
    unsigned char odd = 0;
    for (size_t i = 0; i < length; i++)
        odd |= (unsigned char)((text[i] & 0x80) | (text[i] == '\0') | (text[i] == '"'));
    return odd == 0;
}

static int next_chunk(struct dp_lines *l, struct dp_err *err)
{
    l->chunk.at = l->chunk.end = 0;
    dp_progress_rows(l->number, 0);
    int rc = l->utf16 != NULL ? dp_utf16_read(l->utf16, l->input, l->chunk.bytes, &l->chunk.end, err)
                              : dp_input_read(l->input, l->chunk.bytes, CHUNK, &l->chunk.end, err);
    l->chunk.plain = rc == DP_OK && is_plain(l->chunk.bytes, l->chunk.end);
    return rc;
}

/* Looks at the first bytes: if they are UTF-16, converts the text. */
static int find_utf16(struct dp_lines *l, struct dp_err *err)
{
    bool little;
    size_t mark;
    if (!dp_utf16_begins(l->chunk.bytes, l->chunk.end, &little, &mark))
        return DP_OK;
    int rc = dp_utf16_open(&l->utf16, little, l->chunk.bytes + mark, l->chunk.end - mark, err);
    return rc ?: next_chunk(l, err);
}

/* Passes over a first line such as sep=; which names the delimiter. */
static void find_separator(struct dp_lines *l)
{
    const char *at = l->chunk.bytes + l->chunk.at, *end = memchr(at, '\n', l->chunk.end - l->chunk.at);
    const size_t length = end == NULL ? 0 : (size_t)(end - at) - (end > at && end[-1] == '\r');
    if (length != strlen("sep=;") || strncasecmp(at, "sep=", 4) != 0)
        return;
    l->separator = at[4];
    l->chunk.at += (size_t)(end - at) + 1;
    l->number++;
}

/* Whether lines end as on an old Macintosh. A CR at the end of the chunk may belong to CR LF. */
static bool has_old_lines(const struct dp_lines *l)
{
    return l->chunk.end > 1 && memchr(l->chunk.bytes, '\r', l->chunk.end - 1) != NULL &&
           memchr(l->chunk.bytes, '\n', l->chunk.end) == NULL;
}

int dp_lines_open_table(struct dp_lines *l, const char *path, const char *sql, struct dp_err *err)
{
    memset(l, 0, sizeof *l);
    int rc = sql != NULL ? dp_input_open_query(&l->input, path, sql, err) : dp_input_open(&l->input, path, err);
    if (rc != DP_OK)
        return rc;
    l->name = dp_input_name(l->input);
    l->chunk.bytes = dp_new(CHUNK, 1);
    rc = dp_input_read(l->input, l->chunk.bytes, FIRST, &l->chunk.end, err);
    rc = rc ?: find_utf16(l, err);
    while (rc == DP_OK && l->chunk.end >= l->chunk.at + 3 && memcmp(l->chunk.bytes + l->chunk.at, "\xef\xbb\xbf", 3) == 0)
        l->chunk.at += 3;
    if (rc == DP_OK)
        find_separator(l);
    if (rc == DP_OK && has_old_lines(l))
        rc = dp_fail(err, DP_E_RUN, "%s: its lines end with CR only: tr '\\r' '\\n' converts it", l->name);
    if (rc != DP_OK)
        dp_lines_close(l);
    return rc;
}

int dp_lines_open(struct dp_lines *l, const char *path, struct dp_err *err)
{
    return dp_lines_open_table(l, path, NULL, err);
}

void dp_lines_close(struct dp_lines *l)
{
    dp_input_close(l->input);
    dp_utf16_close(l->utf16);
    free(l->chunk.bytes);
    free(l->line);
    free(l->buffer);
    free(l->field);
    free(l->head.text);
    memset(l, 0, sizeof *l);
}

/* Notes that the current line has this encoding, and that no other line has the other one: otherwise the row of one person would
   decide how the rows of others are read. */
static int note_encoding(struct dp_lines *l, size_t *first, struct dp_err *err)
{
    *first = *first > 0 ? *first : l->number;
    return l->utf8 == 0 || l->windows == 0
               ? DP_OK
               : dp_fail(err, DP_E_RUN,
                         "%s: line %zu is UTF-8, and line %zu is Windows-1252 or Latin-1: one encoding is expected", l->name,
                         l->utf8, l->windows);
}

/* Notes that the next line of a part begins here. */
static void note_begin(struct dp_lines *l)
{
    if (l->end > 0)
        l->begin = dp_input_at(l->input) - (l->chunk.end - l->chunk.at);
}

/* Passes over the rest of the current line. */
static int leave_line(struct dp_lines *l, struct dp_err *err)
{
    const char *end = NULL;
    int rc = DP_OK;
    while (rc == DP_OK && end == NULL && (rc = next_chunk(l, err)) == DP_OK && l->chunk.end > 0)
        end = memchr(l->chunk.bytes, '\n', l->chunk.end);
    l->chunk.at = end != NULL ? (size_t)(end - l->chunk.bytes) + 1 : l->chunk.end;
    return rc;
}

int dp_lines_go(struct dp_lines *l, size_t k, size_t n, struct dp_lines_part *part, struct dp_err *err)
{
    int rc = dp_input_file(l->input, &part->size, &part->modified, err);
    if (rc == DP_OK && l->utf16 != NULL)
        rc = dp_fail(err, DP_E_USAGE, "%s: only UTF-8 can be imported in parts, and this is UTF-16", l->name);
    const uint64_t first = dp_input_at(l->input) - (l->chunk.end - l->chunk.at);
    const uint64_t bytes = rc == DP_OK && part->size > first ? (part->size - first) / n : 0;
    if (rc == DP_OK && bytes == 0)
        rc = dp_fail(err, DP_E_USAGE, "%s: has fewer than %zu bytes of rows, which cannot be %zu parts", l->name, n, n);
    if (rc != DP_OK)
        return rc;
    l->begin = 0;
    l->end = k == n ? part->size : first + k * bytes;
    if (k > 1) {
        l->number = 0;
        l->head.below = false;
        rc = dp_input_go(l->input, first + (k - 1) * bytes - 1, err);
        rc = rc ?: leave_line(l, err);
    }
    note_begin(l);
    part->from = l->begin;
    return rc;
}

/* Makes UTF-8 of the line that begins at `before` in l->line. */
static int recode(struct dp_lines *l, size_t before, struct dp_err *err)
{
    size_t length = l->length - before;
    if (dp_text_valid(l->line + before, length) == length)
        return note_encoding(l, &l->utf8, err);
    /* The bytes move to the end of the buffer, and are converted from there. */
    dp_extend(&l->line, &l->capacity, before + 4 * length + 1, 1);
    char *from = l->line + before + 3 * length;
    memcpy(from, l->line + before, length);
    size_t used = dp_windows_1252(from, length, l->line + before);
    if (used == 0) { /* no text in this encoding, either: the reader says what is wrong */
        memcpy(l->line + before, from, length);
        return DP_OK;
    }
    l->length = before + used;
    return note_encoding(l, &l->windows, err);
}

/* Appends one physical line to l->line (with its '\n' dropped). 1, or 0 at end of file. */
static int append_line(struct dp_lines *l, struct dp_err *err)
{
    size_t before = l->length;
    l->plain = true;
    for (bool whole = false; !whole;) {
        int rc = l->chunk.at == l->chunk.end ? next_chunk(l, err) : DP_OK;
        if (rc != DP_OK)
            return rc;
        if (l->chunk.end == 0 && l->length == before)
            return 0;
        const char *from = l->chunk.bytes + l->chunk.at;
        size_t left = l->chunk.end - l->chunk.at;
        const char *end = left > 0 ? memchr(from, '\n', left) : NULL;
        size_t length = end != NULL ? (size_t)(end - from) : left;
        whole = end != NULL || l->chunk.end == 0;
        dp_extend(&l->line, &l->capacity, l->length + length + 1, 1);
        l->plain = l->plain && l->chunk.plain;
        if (!l->chunk.plain && length > 0 && memchr(from, '\0', length) != NULL)
            return dp_fail(err, DP_E_RUN, "%s: line %zu: holds a NUL byte, so this is not text in UTF-8", l->name,
                           l->number + 1);
        memcpy(l->line + l->length, from, length);
        l->chunk.at += length + (end != NULL);
        l->length += length;
        if (l->length > LINE_LIMIT)
            return dp_fail(err, DP_E_RUN, "%s: line %zu is longer than %zu bytes", l->name, l->number + 1, LINE_LIMIT);
    }
    l->number++;
    note_begin(l);
    int rc = !l->plain && dp_text_is_wide(l->line + before, l->length - before) ? recode(l, before, err) : DP_OK;
    return rc ?: 1;
}

int dp_lines_next(struct dp_lines *l, struct dp_err *err)
{
    l->length = 0;
    int rc = l->end > 0 && l->begin >= l->end ? 0 : append_line(l, err);
    l->cr = rc == 1 && l->length > 0 && l->line[l->length - 1] == '\r';
    l->length -= l->cr;
    if (rc == 1)
        l->line[l->length] = '\0';
    return rc;
}

/* isspace of the C locale, without a call for each cell. */
static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void add_field(struct dp_lines *l, size_t start, size_t end, bool quoted)
{
    dp_extend(&l->field, &l->field_capacity, l->fields + 1, sizeof *l->field);
    while (!quoted && start < end && is_blank(l->buffer[start]))
        start++;
    while (!quoted && end > start && is_blank(l->buffer[end - 1]))
        end--;
    /* An offset into buffer, which may still move. */
    l->field[l->fields++] = (struct dp_cell){(const char *)start, end - start};
}

/* Sets the highest bit of each byte of the word that equals the repeated byte. Bit 0 belongs to the first byte of the text. */
static uint64_t equal_bytes(const char *text, size_t length, uint64_t repeated)
{
    const uint64_t low = 0x7f7f7f7f7f7f7f7fu;
    uint64_t word = 0;
    memcpy(&word, text, length);
    word = le64toh(word) ^ repeated;
    return ~(((word & low) + low) | word | low);
}

static void add_plain(struct dp_lines *l, const char *from, const char *to)
{
    while (from < to && is_blank(*from))
        from++;
    while (to > from && is_blank(to[-1]))
        to--;
    if (l->fields == l->field_capacity)
        dp_extend(&l->field, &l->field_capacity, l->fields + 1, sizeof *l->field);
    l->field[l->fields++] = (struct dp_cell){from, (size_t)(to - from)};
}

/* Splits a line without quotes where it is, eight bytes at a time. */
static void split_plain(struct dp_lines *l, char delimiter)
{
    const char *field = l->line, *end = l->line + l->length;
    const uint64_t repeated = 0x0101010101010101u * (unsigned char)delimiter;
    l->fields = 0;
    for (const char *at = l->line; at < end; at += 8) {
        uint64_t found = end - at >= 8 ? equal_bytes(at, 8, repeated) : equal_bytes(at, (size_t)(end - at), repeated);
        for (; found != 0; found &= found - 1) {
            const char *stop = at + __builtin_ctzll(found) / 8;
            add_plain(l, field, stop);
            field = stop + 1;
        }
    }
    add_plain(l, field, end);
}

/* Where a walk through a record is. */
struct quoting {
    char quote;
    bool inside, quoted, blank; /* inside quotes; the field is quoted; it has only blanks so far */
};

/* Walks through text that is followed by a NUL, by the rules of split_quoted. */
static void walk(struct quoting *q, const struct dp_lines *l, size_t from, char delimiter)
{
    for (size_t i = from; i < l->length; i++) {
        char c = l->line[i];
        if (q->inside && c == q->quote && l->line[i + 1] == c)
            i++;
        else if (q->inside)
            q->inside = c != q->quote;
        else if (c == delimiter)
            *q = (struct quoting){.blank = true};
        else if (q->blank && !q->quoted && (c == '"' || (l->arff && c == '\'')))
            *q = (struct quoting){.quote = c, .inside = true, .quoted = true};
        else
            q->blank = q->blank && (c == ' ' || c == '\t');
    }
}

/* Notes a quoted cell that took in lines which look like rows, if there is little doubt: three of four lines have as many
 * delimiters as the header, and together at least twelve. */
static void note_quoted(struct dp_lines *l, size_t first, size_t rows)
{
    size_t *line = &l->notes.line[DP_LINES_QUOTED];
    if (rows * (l->head.columns - 1) < 12 || 4 * rows < 3 * (l->number - first))
        return;
    *line = *line > 0 ? *line : first;
    l->notes.count[DP_LINES_QUOTED] += rows;
}

static bool looks_like_row(const struct dp_lines *l, size_t from, char delimiter)
{
    size_t count = 0;
    for (size_t i = from; l->head.columns > 1 && i < l->length; i++)
        count += l->line[i] == delimiter;
    return l->head.columns > 1 && count == l->head.columns - 1;
}

int dp_lines_any_text(struct dp_lines *l, char delimiter, struct dp_err *err)
{
    struct quoting q = {.blank = true};
    int rc;
    do
        rc = dp_lines_next(l, err);
    while (rc == 1 && l->comment != 0 && l->line[0] == l->comment);
    if (rc != 1 || (!l->arff && (l->plain || memchr(l->line, '"', l->length) == NULL)))
        return rc;
    l->plain = false;
    walk(&q, l, 0, delimiter);
    if (q.inside && l->cr) /* dp_lines_next has dropped it */
        l->line[l->length++] = '\r';
    const size_t first = l->number;
    size_t rows = 0;
    while (q.inside) { /* the record continues on the next line */
        l->line[l->length++] = '\n';
        const size_t from = l->length;
        rc = append_line(l, err);
        l->plain = false;
        if (rc == 0)
            return dp_fail(err, DP_E_RUN, "%s: line %zu: a quote is not closed", l->name, first);
        if (rc < 0)
            return rc;
        l->line[l->length] = '\0';
        rows += looks_like_row(l, from, delimiter);
        walk(&q, l, from, delimiter);
    }
    if (rows > 0)
        note_quoted(l, first, rows);
    return 1;
}

int dp_lines_at_end(struct dp_lines *l, bool *end, struct dp_err *err)
{
    int rc = DP_OK;
    while (rc == DP_OK) {
        while (l->chunk.at < l->chunk.end && is_blank(l->chunk.bytes[l->chunk.at]))
            if (l->chunk.bytes[l->chunk.at++] == '\n') {
                l->number++;
                if (l->begin < l->end) /* blank lines of the next part are its own */
                    note_begin(l);
            }
        if (l->chunk.at < l->chunk.end)
            break;
        rc = next_chunk(l, err);
        if (l->chunk.end == 0)
            break;
    }
    *end = l->chunk.at == l->chunk.end;
    return rc;
}

/* The field at line[*i], without its quotes, at the end of the buffer. *i is then at the delimiter after it. */
static void quoted_field(struct dp_lines *l, char delimiter, size_t *i, size_t *used)
{
    const size_t start = *used;
    char quote = '\0'; /* in quotes: which */
    bool quoted = false;
    for (; *i < l->length && (quote != '\0' || l->line[*i] != delimiter); ++*i) {
        const char c = l->line[*i];
        bool opens = !quoted && (c == '"' || (l->arff && c == '\'')) && strspn(l->buffer + start, " \t") >= *used - start;
        if (opens) {
            quote = c;
            quoted = true;
            *used = start;
        } else if (quote != '\0' && c == quote && (*i + 1 == l->length || l->line[*i + 1] != quote)) {
            quote = '\0';
        } else if (quote != '\0' || !quoted || !isspace((unsigned char)c)) {
            *i += quote != '\0' && c == quote; /* a double quote is one */
            l->buffer[(*used)++] = c;
        }
        l->buffer[*used] = '\0';
    }
    add_field(l, start, *used, quoted);
}

static void split_quoted(struct dp_lines *l, char delimiter)
{
    size_t used = 0;
    dp_extend(&l->buffer, &l->buffer_capacity, l->length + 2, 1);
    l->fields = 0;
    for (size_t i = 0; i <= l->length; i++) {
        while (delimiter == ' ' && i < l->length && l->line[i] == ' ') /* several blanks are one delimiter */
            i++;
        if (delimiter == ' ' && i == l->length && l->fields > 0) /* blanks at the end */
            break;
        l->buffer[used] = '\0';
        quoted_field(l, delimiter, &i, &used);
    }
    for (size_t k = 0; k < l->fields; k++)
        l->field[k].text = l->buffer + (size_t)l->field[k].text;
}

void dp_lines_split(struct dp_lines *l, char delimiter)
{
    bool quotes = !l->plain && memchr(l->line, '"', l->length) != NULL;
    bool plain = delimiter != ' ' && !quotes && (!l->arff || memchr(l->line, '\'', l->length) == NULL);
    if (plain)
        split_plain(l, delimiter);
    else
        split_quoted(l, delimiter);
}

const char *dp_lines_converted(const struct dp_lines *l)
{
    return l->utf16 != NULL ? "UTF-16" : l->windows > 0 ? "Windows-1252" : NULL;
}

bool dp_lines_has_row(const struct dp_lines *l)
{
    return l->fields != 1 || l->field[0].length > 0;
}
