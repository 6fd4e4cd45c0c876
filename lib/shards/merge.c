#include "shards/merge.h"

#include <sodium.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "math/coins.h"
#include "shards/reach.h"

#define DIGEST 16 /* bytes, like the digest of a data set */

void dp_merge_close(struct dp_merge *merge)
{
    for (int k = 0; merge->shard != NULL && k < merge->shards; k++) {
        free(merge->shard[k].data);
        free(merge->shard[k].population);
        free(merge->shard[k].split);
    }
    free(merge->shard);
    free(merge->data);
    free(merge->population);
    *merge = (struct dp_merge){0};
}

static const char *own_text(const struct dp_frame *frame, enum dp_field field)
{
    return dp_frame_text(frame, field, "");
}

/* --- what two shards must have in common */

#define SHOWN (DP_TEXT_SHOWN + 2) /* with quotes */

/* The value of a field as text for a message. */
static const char *show(const struct dp_frame *frame, enum dp_field field, char text[SHOWN])
{
    char shown[DP_TEXT_SHOWN];
    const struct dp_value *v = &frame->value[field];
    if (!v->present)
        return "nothing";
    switch (dp_fields[field].type) {
    case DP_T_TEXT:
        snprintf(text, SHOWN, "'%s'", dp_text_show(v->text, strlen(v->text), shown));
        return text;
    case DP_T_INT:
        snprintf(text, SHOWN, "%lld", (long long)v->u.whole);
        return text;
    case DP_T_REAL:
        snprintf(text, SHOWN, "%.17g", v->u.real);
        return text;
    case DP_T_BOOL:
        return v->u.flag ? "true" : "false";
    case DP_T_ARRAY:
        break;
    }
    return "other numbers";
}

static int differ(int k, const struct dp_frame *a, int first, const struct dp_frame *b, enum dp_field field, struct dp_err *err)
{
    char left[SHOWN], right[SHOWN];
    if (field == DP_F_SCHEMA)
        return dp_fail(err, DP_E_UNSAFE, "shards %d and %d were imported by different schemas", first + 1, k + 1);
    return dp_fail(err, DP_E_UNSAFE, "shards %d and %d differ in '%s': %s and %s", first + 1, k + 1, dp_fields[field].key,
                   show(b, field, right), show(a, field, left));
}

/* Whether shards may differ in the field, because it names their data. */
static bool is_own(enum dp_field field)
{
    return field == DP_F_DATA || field == DP_F_POPULATION || field == DP_F_SPLIT;
}

/* Compares the public fields that are the same in every lap and, with `moving`, the fields that are computed from released
 * values. */
static int check_fields(const struct dp_merge *m, int k, const struct dp_frame *a, int first, const struct dp_frame *b,
                        bool moving, struct dp_err *err)
{
    for (int i = 0; i < DP_F_COUNT; i++) {
        enum dp_field field = (enum dp_field)i;
        enum dp_visibility v = dp_fields[i].visibility;
        if ((v != DP_FIXED && !(moving && v == DP_MOVING)) || (is_own(field) && !m->parts))
            continue;
        if (!dp_frame_same_field(a, b, field))
            return differ(k, a, first, b, field, err);
    }
    return DP_OK;
}

/* Compares records. rows: whether `rows` must be the same, too. */
static int check_records(int k, const struct dp_frame *a, int first, const struct dp_frame *b, bool rows, struct dp_err *err)
{
    if (a->records != b->records)
        return dp_fail(err, DP_E_UNSAFE, "shards %d and %d differ in their number of records: %d and %d", first + 1, k + 1,
                       b->records, a->records);
    for (int i = 0; i < a->records; i++) {
        int member = dp_record_differs(&a->record[i], &b->record[i], rows ? ~0u : ~(1u << DP_RECORD_rows));
        if (member != DP_RECORD_MEMBER_COUNT)
            return dp_fail(err, DP_E_UNSAFE, "shards %d and %d differ in '%s' of a record", first + 1, k + 1,
                           dp_record_key(member));
    }
    return DP_OK;
}

/* --- hello */

/* Checks an answer to the hello frame and what it says about its shard. */
static int check_hello(const struct dp_merge *m, int k, const struct dp_frame *answer, const struct dp_frame *sent,
                       struct dp_err *err)
{
    static const enum dp_field same[] = {DP_F_FORMAT, DP_F_RUN, DP_F_LAPS, DP_F_KINDS};
    if (answer->kind != DP_KIND_HELLO)
        return dp_fail(err, DP_E_UNSAFE, "shard %d answers hello with a frame of kind '%s'", k + 1, dp_kind_name(answer->kind));
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (!dp_frame_same_field(answer, sent, same[i]))
            return dp_fail(err, DP_E_UNSAFE, "shard %d gives back another '%s' than it was sent", k + 1,
                           dp_fields[same[i]].key);
    if (!dp_frame_has(answer, DP_F_DATA) || !dp_frame_has(answer, DP_F_POPULATION) || answer->records == 0)
        return dp_fail(err, DP_E_UNSAFE, "shard %d does not say which data it has", k + 1);
    for (int i = 0; i < answer->records; i++)
        if (answer->record[i].rows < 1 || answer->record[i].rows != answer->record[0].rows)
            return dp_fail(err, DP_E_UNSAFE, "shard %d does not say how many rows it has", k + 1);
    if (dp_frame_has(answer, DP_F_N) != m->parts)
        return dp_fail(err, DP_E_UNSAFE,
                       "shards 1 and %d are of different kinds: one has a part of a data set, the other a whole data set",
                       k + 1);
    if (m->parts && dp_frame_int(answer, DP_F_N, 0) != answer->record[0].rows)
        return dp_fail(err, DP_E_UNSAFE, "shard %d does not say how many rows it has", k + 1);
    return DP_OK;
}

/* Checks that a shard's pipeline and data match the first shard's. */
static int check_fit(const struct dp_merge *m, int k, const struct dp_frame *answer, const struct dp_frame *first,
                     struct dp_err *err)
{
    int rc = check_fields(m, k, answer, 0, first, false, err);
    if (rc == DP_OK && !dp_frame_same_field(answer, first, DP_F_STAGE))
        rc = differ(k, answer, 0, first, DP_F_STAGE, err);
    if (rc == DP_OK && !dp_frame_same_field(answer, first, DP_F_MULTIPLIERS))
        rc = differ(k, answer, 0, first, DP_F_MULTIPLIERS, err);
    return rc ?: check_records(k, answer, 0, first, m->parts, err);
}

static void keep_text(char **kept, const char *text)
{
    free(*kept);
    *kept = dp_got(strdup(text));
}

/* Notes the place of the shard's rows among all rows, and the names of its data. */
static int place(struct dp_merge *m, int k, const struct dp_frame *answer, struct dp_err *err)
{
    struct dp_merge_shard *shard = &m->shard[k];
    int64_t rows = answer->record[0].rows;
    shard->rows = rows;
    shard->first_row = m->parts ? 0 : m->rows;
    if (rows > DP_COINS_ROWS)
        return dp_fail(err, DP_E_UNSAFE, "shard %d announces %lld rows, and batches are drawn from at most %lld", k + 1,
                       (long long)rows, (long long)DP_COINS_ROWS);
    m->rows = m->parts ? rows : m->rows + rows;
    if (m->rows > DP_COINS_ROWS)
        return dp_fail(err, DP_E_UNSAFE, "the shards announce %lld rows together, and batches are drawn from at most %lld",
                       (long long)m->rows, (long long)DP_COINS_ROWS);
    keep_text(&shard->data, own_text(answer, DP_F_DATA));
    keep_text(&shard->population, own_text(answer, DP_F_POPULATION));
    keep_text(&shard->split, own_text(answer, DP_F_SPLIT));
    int rc = DP_OK;
    if (!m->parts && m->shards > 1 && strstr(own_text(answer, DP_F_PREPROCESSING), "max-abs") != NULL)
        rc = dp_fail(err, DP_E_UNSAFE,
                     "shard %d has divided a column by its own largest magnitude (max-abs): the column means something else at "
                     "another site, and needs public bounds",
                     k + 1);
    /* Two sites must not have the same data set, because each site would add the parts of the same people. */
    for (int other = 0; rc == DP_OK && !m->parts && other < k; other++)
        if (strcmp(m->shard[other].data, shard->data) == 0)
            rc = dp_fail(
                err, DP_E_UNSAFE,
                "shards %d and %d have the same data set, whose people would count twice (dp-sample --shard divides one)",
                other + 1, k + 1);
    return rc;
}

/* Joins the texts of all shards, which are at `offset` in each, into one text. */
static void join(const struct dp_merge *m, size_t offset, char **all)
{
    struct dp_hash hash;
    unsigned char bytes[DIGEST];
    char digest[2 * DIGEST + 1];
    bool same = true;
    const char *first = NULL;
    dp_hash_start(&hash, NULL, 0, sizeof bytes);
    for (int k = 0; k < m->shards; k++) {
        const char *text;
        memcpy(&text, (const char *)&m->shard[k] + offset, sizeof text);
        first = first != NULL ? first : text;
        same &= strcmp(text, first) == 0;
        dp_hash_add(&hash, text, strlen(text) + 1);
    }
    dp_hash_end(&hash, bytes, sizeof bytes);
    sodium_bin2hex(digest, sizeof digest, bytes, sizeof bytes);
    keep_text(all, same ? first : digest);
}

static void make_hello(struct dp_merge *m, const struct dp_frame *answer, const struct dp_frame *sent, struct dp_frame *out)
{
    if (out != sent)
        dp_frame_copy(out, sent);
    dp_frame_drop(out, DP_F_SHARD);
    dp_frame_drop(out, DP_F_SHARDS);
    dp_frame_copy_field(out, answer, DP_F_STAGE);
    dp_frame_copy_field(out, answer, DP_F_MULTIPLIERS);
    dp_frame_copy_field(out, answer, DP_F_UNIT);
    out->records = answer->records;
    for (int i = 0; i < answer->records; i++) {
        out->record[i] = answer->record[i];
        out->record[i].rows = m->rows;
        if (answer->record[i].means == DP_MEANS_MOMENTS) {
            m->has_moments = true;
            memcpy(m->moments, answer->record[i].on, sizeof m->moments);
        }
    }
}

int dp_merge_hello(struct dp_merge *m, int shards, const struct dp_frame *const answer[], const struct dp_frame *sent,
                   struct dp_frame *out, struct dp_err *err)
{
    m->shard = dp_new((size_t)shards, sizeof *m->shard);
    int rc = DP_OK;
    m->shards = shards;
    m->parts = dp_frame_has(answer[0], DP_F_N);
    for (int k = 0; rc == DP_OK && k < shards; k++) {
        rc = check_hello(m, k, answer[k], sent, err);
        rc = rc ?: check_fit(m, k, answer[k], answer[0], err);
        rc = rc ?: place(m, k, answer[k], err);
    }
    if (rc == DP_OK) {
        join(m, offsetof(struct dp_merge_shard, data), &m->data);
        join(m, offsetof(struct dp_merge_shard, population), &m->population);
        make_hello(m, answer[0], sent, out);
    }
    return rc;
}

bool dp_merge_same_people(const struct dp_merge *m, int *one, int *other)
{
    for (*other = 1; *other < m->shards; ++*other)
        for (*one = 0; *one < *other; ++*one)
            if (strcmp(m->shard[*one].population, m->shard[*other].population) == 0)
                return true;
    return false;
}

/* --- laps */

void dp_merge_token(const struct dp_merge *m, int shard, const struct dp_frame *token, struct dp_frame *out)
{
    const struct dp_merge_shard *own = &m->shard[shard];
    bool ours =
        strcmp(own_text(token, DP_F_DATA), m->data) == 0 && strcmp(own_text(token, DP_F_POPULATION), m->population) == 0;
    dp_frame_copy(out, token);
    dp_frame_set_int(out, DP_F_N, m->rows);
    if (!m->parts)
        dp_frame_set_int(out, DP_F_FIRST_ROW, own->first_row);
    if (!ours)
        return;
    dp_frame_set_string(out, DP_F_DATA, own->data);
    dp_frame_set_string(out, DP_F_POPULATION, own->population);
    dp_frame_drop(out, DP_F_SPLIT);
    if (own->split[0] != '\0')
        dp_frame_set_string(out, DP_F_SPLIT, own->split);
}

static bool is_paid(int field)
{
    return dp_paid[field].noised != DP_NOISED_NOT;
}

/* Checks that each array that will be charged consists of whole numbers and has a record about all rows, and that no other
 * field has a record. */
static int check_paid(const struct dp_merge *m, int k, const struct dp_frame *answer, struct dp_err *err)
{
    for (int i = 0; i < DP_F_COUNT; i++) {
        if (is_paid(i) && !dp_paid[i].adds && dp_frame_has(answer, (enum dp_field)i))
            return dp_fail(err, DP_E_UNSAFE, "shard %d gives a '%s', and %ss do not add up", k + 1, dp_fields[i].key,
                           dp_fields[i].key);
        const struct dp_array *a = is_paid(i) ? dp_frame_array(answer, (enum dp_field)i) : NULL;
        if (a != NULL && a->dtype != DP_I64)
            return dp_fail(err, DP_E_UNSAFE, "shard %d gives a '%s' that is not of whole numbers", k + 1, dp_fields[i].key);
        if (a != NULL && dp_frame_record(answer, (enum dp_field)i) == NULL)
            return dp_fail(err, DP_E_UNSAFE, "shard %d gives a '%s' without a record", k + 1, dp_fields[i].key);
    }
    for (int i = 0; i < answer->records; i++) {
        const struct dp_record *r = &answer->record[i];
        if (r->of == DP_F_NONE || !is_paid((int)r->of) || !dp_frame_has(answer, r->of))
            return dp_fail(err, DP_E_UNSAFE, "shard %d gives a record of a field that it does not give", k + 1);
        if (r->shares > 0 && (r->shares != m->shards || r->gathered != 0))
            return dp_fail(err, DP_E_UNSAFE, "shard %d gives noise that is not one share of %d", k + 1, m->shards);
        if (r->rows != m->rows)
            return dp_fail(err, DP_E_UNSAFE, "shard %d records %lld rows, and all shards have %lld", k + 1, (long long)r->rows,
                           (long long)m->rows);
    }
    return DP_OK;
}

static int check_answer(const struct dp_merge *m, int k, const struct dp_frame *answer, const struct dp_frame *token,
                        struct dp_err *err)
{
    if (answer->kind != DP_KIND_LAP || answer->lap != token->lap)
        return dp_fail(err, DP_E_UNSAFE, "shard %d does not answer lap %lld", k + 1, (long long)token->lap);
    if (answer->label != DP_LABEL_BOUNDED && answer->label != DP_LABEL_NOISED)
        return dp_fail(err, DP_E_UNSAFE, "shard %d gives a %s frame, which has no place here", k + 1,
                       dp_label_name(answer->label));
    if (strcmp(own_text(answer, DP_F_DATA), m->shard[k].data) != 0 ||
        strcmp(own_text(answer, DP_F_POPULATION), m->shard[k].population) != 0)
        return dp_fail(err, DP_E_UNSAFE, "shard %d has other data than it announced", k + 1);
    int rc = check_paid(m, k, answer, err);
    return rc != DP_OK || m->masked ? rc : dp_reach_check(answer, m->shard[k].rows, 1, k + 1, err);
}

/* Sums that are added must have the same shape and the same columns. */
static int check_shapes(int k, const struct dp_frame *a, int first, const struct dp_frame *b, struct dp_err *err)
{
    for (int i = 0; i < DP_F_COUNT; i++) {
        const struct dp_array *v = is_paid(i) ? dp_frame_array(a, (enum dp_field)i) : NULL;
        const struct dp_array *w = is_paid(i) ? dp_frame_array(b, (enum dp_field)i) : NULL;
        if ((v == NULL) != (w == NULL))
            return differ(k, a, first, b, (enum dp_field)i, err);
        if (v != NULL && (v->ndim != w->ndim || memcmp(v->dims, w->dims, (size_t)v->ndim * sizeof *v->dims) != 0))
            return dp_fail(
                err, DP_E_UNSAFE,
                "shards %d and %d differ in the shape of '%s', %llu × %llu and %llu × %llu: their rows have other columns",
                first + 1, k + 1, dp_fields[i].key, (unsigned long long)w->dims[0],
                (unsigned long long)(w->ndim > 1 ? w->dims[1] : 1), (unsigned long long)v->dims[0],
                (unsigned long long)(v->ndim > 1 ? v->dims[1] : 1));
    }
    return DP_OK;
}

static int check_lap(const struct dp_merge *m, int k, const struct dp_frame *a, int first, const struct dp_frame *b,
                     struct dp_err *err)
{
    if (a->label != b->label)
        return dp_fail(err, DP_E_UNSAFE, "shards %d and %d differ in what they give: a %s and a %s frame", first + 1, k + 1,
                       dp_label_name(b->label), dp_label_name(a->label));
    int rc = check_shapes(k, a, first, b, err);
    rc = rc ?: check_fields(m, k, a, first, b, true, err);
    return rc ?: check_records(k, a, first, b, true, err);
}

/* Takes the fields that pass the gate from the answer; fields that the gate itself states stay as in the token. */
static void take_public(const struct dp_merge *m, const struct dp_frame *answer, int gathered, struct dp_frame *out)
{
    for (int i = 0; i < DP_F_COUNT; i++) {
        enum dp_visibility v = dp_fields[i].visibility;
        if (v == DP_FIXED || v == DP_MOVING || v == DP_PAID)
            dp_frame_copy_field(out, answer, (enum dp_field)i);
    }
    dp_frame_set_string(out, DP_F_DATA, m->data);
    dp_frame_set_string(out, DP_F_POPULATION, m->population);
    out->label = answer->label;
    out->records = answer->records;
    for (int i = 0; i < answer->records; i++) {
        out->record[i] = answer->record[i];
        out->record[i].gathered = answer->record[i].shares > 0 ? gathered : 0;
    }
}

static int add(const struct dp_merge *m, const struct dp_frame *answer, struct dp_frame *out, struct dp_err *err)
{
    for (int i = 0; i < DP_F_COUNT; i++) {
        struct dp_array *sum = is_paid(i) ? dp_frame_edit_array(out, (enum dp_field)i) : NULL;
        if (sum == NULL)
            continue;
        const int64_t *from = dp_frame_array(answer, (enum dp_field)i)->data;
        int64_t *to = sum->data;
        for (size_t j = 0; j < sum->count; j++)
            if (m->masked) /* masks wrap around, and so must their sum */
                to[j] = (int64_t)((uint64_t)to[j] + (uint64_t)from[j]);
            else if (__builtin_add_overflow(to[j], from[j], &to[j]))
                return dp_fail(err, DP_E_RUN, "the '%s' of all shards in lap %lld overflows", dp_fields[i].key,
                               (long long)out->lap);
    }
    return DP_OK;
}

/* Checks the total of masked answers. The sums of a torn lap are masks only, so the lap adds nothing to the model. */
static int unmask(const struct dp_merge *m, int answers, struct dp_frame *out, struct dp_err *err)
{
    if (!m->torn)
        return dp_reach_check(out, m->rows, answers, 0, err);
    if (m->has_moments && strcmp(dp_frame_text(out, DP_F_LAP_KIND, ""), m->moments) == 0)
        return dp_fail(err, DP_E_RUN, "the moments of lap %lld are lost with the masks of a shard", (long long)out->lap);
    for (int i = 0; i < DP_F_COUNT; i++) {
        struct dp_array *sum = is_paid(i) ? dp_frame_edit_array(out, (enum dp_field)i) : NULL;
        if (sum != NULL)
            memset(sum->data, 0, sum->count * sizeof(int64_t));
    }
    return DP_OK;
}

/* The answers of a lap, together. */
struct answers {
    int first, lost;               /* the first shard that has answered, −1 for none; shards that have not */
    bool elsewhere, here, several; /* models of other rows, of these; several splits */
};

/* Checks each answer by itself and against the first. */
static int check_answers(const struct dp_merge *m, const struct dp_frame *const answer[], const struct dp_frame *token,
                         struct answers *all, struct dp_err *err)
{
    int rc = DP_OK;
    *all = (struct answers){.first = -1};
    for (int k = 0; rc == DP_OK && k < m->shards; k++) {
        all->lost += answer[k] == NULL;
        if (answer[k] == NULL)
            continue;
        rc = check_answer(m, k, answer[k], token, err);
        all->elsewhere |= dp_frame_bool(answer[k], DP_F_ELSEWHERE);
        all->here |= !dp_frame_bool(answer[k], DP_F_ELSEWHERE);
        if (rc == DP_OK && all->first >= 0)
            rc = check_lap(m, k, answer[k], all->first, answer[all->first], err);
        all->several |= rc == DP_OK && all->first >= 0 && !dp_frame_same_field(answer[k], answer[all->first], DP_F_SPLIT);
        all->first = all->first >= 0 ? all->first : k;
    }
    return rc;
}

int dp_merge_lap(const struct dp_merge *m, const struct dp_frame *const answer[], const struct dp_frame *token,
                 struct dp_frame *out, struct dp_err *err)
{
    struct answers all;
    int rc = check_answers(m, answer, token, &all, err), first = all.first;
    if (rc == DP_OK && first < 0)
        rc = dp_fail(err, DP_E_RUN, "no shard has answered lap %lld", (long long)token->lap);
    if (rc == DP_OK && out != token)
        dp_frame_copy(out, token);
    if (rc == DP_OK)
        take_public(m, answer[first], m->shards - all.lost, out);
    if (rc == DP_OK && all.several)
        dp_frame_set_string(out, DP_F_SPLIT, DP_SPLIT_SEVERAL);
    for (int k = first + 1; rc == DP_OK && k < m->shards; k++)
        if (answer[k] != NULL)
            rc = add(m, answer[k], out, err);
    if (rc == DP_OK && m->masked)
        rc = unmask(m, m->shards - all.lost, out, err);
    bool mixed = strcmp(m->population, m->shard[0].population) != 0;
    for (int k = 0; rc == DP_OK && mixed && k < m->shards; k++)
        dp_frame_add_names(out, DP_F_MEMBERS, m->shard[k].population);
    dp_frame_drop(out, DP_F_LOST);
    if (all.lost > 0)
        dp_frame_set_int(out, DP_F_LOST, m->torn ? m->shards : all.lost);
    /* A public model that was made from rows of one shard is of these people. */
    if (all.elsewhere && !(all.here && dp_frame_has(out, DP_F_PUBLIC_START)))
        dp_frame_set_bool(out, DP_F_ELSEWHERE, true);
    return rc;
}
