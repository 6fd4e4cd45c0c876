#include "wire/laps.h"

#include "base/mem.h"

struct reader {
    struct dp_laps *laps; /* while the text is read, `end` of a piece is its length */
    const char *text, *at;
    int depth;
};

static int refuse(const struct reader *r, const char *what, struct dp_err *err)
{
    if (*r->at == '\0')
        return dp_fail(err, DP_E_USAGE, "the plan ends where %s is expected", what);
    return dp_fail(err, DP_E_USAGE, "character %zu of the plan: expected %s, got '%c'", (size_t)(r->at - r->text) + 1, what,
                   *r->at);
}

static void skip_blanks(struct reader *r)
{
    while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n')
        r->at++;
}

static bool in(char c, char from, char to)
{
    return c >= from && c <= to;
}

int dp_laps_find(const struct dp_laps *laps, const char *name)
{
    for (int k = 0; k < laps->kinds; k++)
        if (strcmp(laps->name[k], name) == 0)
            return k;
    return -1;
}

size_t dp_laps_name(const char *text, size_t length)
{
    size_t at = 0;
    while (at < length && (in(text[at], 'a', 'z') || (at > 0 && (in(text[at], '0', '9') || text[at] == '-'))))
        at++;
    return at;
}

/* Reads the name of a kind. A new name is added to the list. */
static int read_kind(struct reader *r, int *kind, struct dp_err *err)
{
    struct dp_laps *laps = r->laps;
    char name[DP_LAPS_NAME] = "";
    size_t length = dp_laps_name(r->at, strnlen(r->at, DP_LAPS_NAME));
    if (length == 0)
        return refuse(r, "a kind of lap", err);
    if (length >= DP_LAPS_NAME)
        return dp_fail(err, DP_E_USAGE, "character %zu of the plan: a kind of lap has at most %d characters",
                       (size_t)(r->at - r->text) + 1, DP_LAPS_NAME - 1);
    memcpy(name, r->at, length);
    *kind = dp_laps_find(laps, name);
    if (*kind < 0 && laps->kinds == DP_LAPS_MOST_KINDS)
        return dp_fail(err, DP_E_USAGE, "a plan has at most %d kinds of laps", DP_LAPS_MOST_KINDS);
    if (*kind < 0)
        memcpy(laps->name[ *kind = laps->kinds++], name, sizeof name);
    r->at += length;
    return DP_OK;
}

/* Reads a whole number; *count = 1 if the text does not continue with a number. */
static int read_count(struct reader *r, int64_t *count, struct dp_err *err)
{
    const char *begin;
    skip_blanks(r);
    *count = 1;
    begin = r->at;
    if (!in(*r->at, '0', '9'))
        return DP_OK;
    for (*count = 0; in(*r->at, '0', '9') && *count <= DP_LAPS_MOST; r->at++)
        *count = 10 * *count + (*r->at - '0');
    if (*count >= 1 && *count <= DP_LAPS_MOST)
        return DP_OK;
    return dp_fail(err, DP_E_USAGE, "character %zu of the plan: expected a count from 1 to %lld", (size_t)(begin - r->text) + 1,
                   (long long)DP_LAPS_MOST);
}

static int too_long(struct dp_err *err)
{
    return dp_fail(err, DP_E_USAGE, "the plan has more than %lld laps", (long long)DP_LAPS_MOST);
}

/* Appends laps of a kind: to the last piece, if it is of the same kind and not before `floor`, or as a new piece. */
static int append(struct dp_laps *laps, size_t floor, int kind, int64_t count, struct dp_err *err)
{
    struct dp_laps_piece *last = laps->pieces > floor ? &laps->piece[laps->pieces - 1] : NULL;
    if (last != NULL && last->kind == kind) {
        if (count > DP_LAPS_MOST - last->end)
            return too_long(err);
        last->end += count;
        return DP_OK;
    }
    if (laps->pieces == DP_LAPS_MOST_PIECES)
        return dp_fail(err, DP_E_USAGE, "the plan changes the kind of its laps more than %d times", DP_LAPS_MOST_PIECES);
    dp_extend(&laps->piece, &laps->capacity, laps->pieces + 1, sizeof *laps->piece);
    laps->piece[laps->pieces++] = (struct dp_laps_piece){count, kind};
    return DP_OK;
}

/* Repeats the pieces from `floor` on `count` times. A single piece becomes longer. Two or more pieces are copied, which soon
 * reaches the limit. */
static int repeat(struct dp_laps *laps, size_t floor, int64_t count, struct dp_err *err)
{
    size_t end = laps->pieces;
    int rc = DP_OK;
    if (end == floor + 1) {
        struct dp_laps_piece *only = &laps->piece[floor];
        if (only->end > DP_LAPS_MOST / count)
            return too_long(err);
        only->end *= count;
        return DP_OK;
    }
    /* If the pattern ends with the kind that it begins with, its last piece and the first piece of its repetition merge. */
    for (int64_t n = 1; rc == DP_OK && n < count; n++)
        for (size_t i = floor; rc == DP_OK && i < end; i++)
            rc = append(laps, end, laps->piece[i].kind, laps->piece[i].end, err);
    return rc;
}

static int read_plan(struct reader *r, size_t floor, struct dp_err *err);

static int read_part(struct reader *r, size_t floor, struct dp_err *err)
{
    struct dp_laps *laps = r->laps;
    size_t inner = laps->pieces;
    int64_t count = 1;
    int kind = 0, rc;
    skip_blanks(r);
    if (*r->at != '(') {
        rc = read_kind(r, &kind, err);
        rc = rc ?: read_count(r, &count, err);
        return rc ?: append(laps, floor, kind, count, err);
    }
    if (r->depth == DP_LAPS_MOST_DEPTH)
        return dp_fail(err, DP_E_USAGE, "the plan has more than %d parentheses in each other", DP_LAPS_MOST_DEPTH);
    r->at++;
    r->depth++;
    rc = read_plan(r, inner, err);
    r->depth--;
    if (rc == DP_OK && *r->at != ')')
        rc = refuse(r, "',' or ')'", err);
    if (rc != DP_OK)
        return rc;
    r->at++;
    rc = read_count(r, &count, err);
    return rc ?: repeat(laps, inner, count, err);
}

static int read_plan(struct reader *r, size_t floor, struct dp_err *err)
{
    for (;;) {
        int rc = read_part(r, floor, err);
        if (rc != DP_OK)
            return rc;
        skip_blanks(r);
        if (*r->at != ',')
            return DP_OK;
        r->at++;
    }
}

/* Turns lengths into ends, and joins neighbours of the same kind. */
static int add_up(struct dp_laps *laps, struct dp_err *err)
{
    size_t pieces = 0;
    for (size_t i = 0; i < laps->pieces; i++) {
        struct dp_laps_piece piece = laps->piece[i];
        if (piece.end > DP_LAPS_MOST - laps->laps)
            return too_long(err);
        laps->laps += piece.end;
        laps->turns[piece.kind] += piece.end;
        if (pieces == 0 || laps->piece[pieces - 1].kind != piece.kind)
            pieces++;
        laps->piece[pieces - 1] = (struct dp_laps_piece){laps->laps, piece.kind};
    }
    laps->pieces = pieces;
    return DP_OK;
}

int dp_laps_parse(struct dp_laps *laps, const char *text, struct dp_err *err)
{
    struct reader r = {.laps = laps, .text = text, .at = text};
    int rc = read_plan(&r, 0, err);
    if (rc == DP_OK && *r.at != '\0')
        rc = refuse(&r, "','", err);
    return rc ?: add_up(laps, err);
}

int dp_laps_plain(struct dp_laps *laps, int64_t count, struct dp_err *err)
{
    int rc = append(laps, 0, 0, count, err);
    laps->kinds = 1;
    laps->name[0][0] = '\0';
    return rc ?: add_up(laps, err);
}

void dp_laps_free(struct dp_laps *laps)
{
    free(laps->piece);
    *laps = (struct dp_laps){0};
}

int dp_laps_kind(const struct dp_laps *laps, int64_t lap)
{
    size_t low = 0, high = laps->pieces - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (laps->piece[middle].end < lap)
            low = middle + 1;
        else
            high = middle;
    }
    return laps->piece[low].kind;
}
