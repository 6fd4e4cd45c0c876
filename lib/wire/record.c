#include "wire/record.h"

#include "base/alias.h"
#include "wire/laps.h"

#define DP_SAMPLER_NAME(id, name) name,
const char *const dp_sampler_names[DP_SAMPLER_COUNT] = {DP_SAMPLERS(DP_SAMPLER_NAME)};
const char *const dp_adjacency_names[DP_ADJACENCY_COUNT] = {"none", "null-record", "replace-one"};
const char *const dp_release_names[DP_RELEASE_COUNT] = {"none", "sum", "sum-of-secret-state", "sum-and-state"};

/* How a member is stored: fields, names and kinds of queries are stored as numbers. */
enum storage { STORED_FIELD, STORED_NAME, STORED_KIND, STORED_REAL, STORED_INT, STORED_TEXT };
_Static_assert(sizeof(enum dp_field) == sizeof(unsigned) && sizeof(enum dp_sampler) == sizeof(unsigned) &&
                   sizeof(enum dp_adjacency) == sizeof(unsigned) && sizeof(enum dp_release) == sizeof(unsigned) &&
                   sizeof(enum dp_meaning) == sizeof(unsigned) && sizeof(enum dp_query_kind) == sizeof(unsigned),
               "what has a name is numbered by an unsigned");
_Static_assert(offsetof(struct dp_query, kind) == 0, "a query begins with its kind");

struct member {
    const char *key;
    size_t length; /* of the key */
    enum storage storage;
    size_t offset; /* in struct dp_record */
    const char *const *names;
    int count;
    enum dp_record_alike alike;
    enum dp_record_change change;
};

#define OWN(member, key, type, names, count, alike, change)                                                                    \
    {key,   sizeof(key) - 1, STORED_##type,    offsetof(struct dp_record, member),                                             \
     names, count,           DP_ALIKE_##alike, DP_CHANGE_##change},
#define OF_QUERY(name, type, change)                                                                                           \
    {#name, sizeof(#name) - 1, STORED_##type,     offsetof(struct dp_record, query.name), NULL,                                \
     0,     DP_ALIKE_FIELD,    DP_CHANGE_##change},
static const struct member members[DP_RECORD_MEMBER_COUNT] = {DP_RECORD_MEMBERS(OWN) DP_QUERY_MEMBERS(OF_QUERY)};
#undef OWN
#undef OF_QUERY

const char *dp_record_key(int member)
{
    return members[member].key;
}

enum dp_type dp_record_type(int member)
{
    enum storage storage = members[member].storage;
    return storage == STORED_REAL ? DP_T_REAL : storage == STORED_INT ? DP_T_INT : DP_T_TEXT;
}

static bool is(const char *name, const char *text, size_t length)
{
    return length > 0 && name[0] == text[0] && strlen(name) == length && memcmp(name, text, length) == 0;
}

int dp_record_find_from(int first, const char *key, size_t length)
{
    for (int i = 0, m = first; i < DP_RECORD_MEMBER_COUNT; i++, m = m + 1 < DP_RECORD_MEMBER_COUNT ? m + 1 : 0)
        if (members[m].length == length && memcmp(members[m].key, key, length) == 0)
            return m;
    return DP_RECORD_MEMBER_COUNT;
}

int dp_record_find(const char *key, size_t length)
{
    return dp_record_find_from(0, key, length);
}

unsigned dp_record_members(const struct dp_record *record)
{
    unsigned set = (1u << DP_RECORD_OWN_COUNT) - 1;
    if (record->of == DP_F_NONE)
        set &= ~(1u << DP_RECORD_of);
    if (record->on[0] == '\0')
        set &= ~(1u << DP_RECORD_on);
    if (record->means == DP_MEANS_NONE)
        set &= ~(1u << DP_RECORD_means);
    if (record->follows == 0)
        set &= ~(1u << DP_RECORD_follows);
    if (record->sampler != DP_SAMPLER_REPEATED)
        set &= ~(1u << DP_RECORD_draws | 1u << DP_RECORD_contraction);
    if (record->shares == 0)
        set &= ~(1u << DP_RECORD_shares | 1u << DP_RECORD_colluding | 1u << DP_RECORD_gathered);
    if (record->promised == 0)
        set &= ~(1u << DP_RECORD_promised);
    return set | dp_query_kinds[record->query.kind].members << DP_RECORD_OWN_COUNT;
}

bool dp_record_has(const struct dp_record *record, int member)
{
    return dp_record_members(record) >> member & 1;
}

struct dp_record_value dp_record_get(const struct dp_record *record, int member)
{
    const struct member m = members[member];
    const void *at = (const char *)record + m.offset;
    struct dp_record_value value = {.type = dp_record_type(member)};
    if (m.storage == STORED_REAL)
        value.real = *(const double *)at;
    else if (m.storage == STORED_INT)
        value.whole = *(const int64_t *)at;
    else if (m.storage == STORED_TEXT)
        value.text = at;
    else if (m.storage == STORED_FIELD)
        value.text = dp_fields[*(const unsigned *)at].key;
    else
        value.text = m.storage == STORED_KIND ? dp_query_kinds[*(const unsigned *)at].name : m.names[*(const unsigned *)at];
    value.length = value.text != NULL ? strlen(value.text) : 0;
    return value;
}

unsigned dp_record_alike(enum dp_record_alike alike)
{
    unsigned set = 0;
    for (int m = 0; m < DP_RECORD_MEMBER_COUNT; m++)
        set |= members[m].alike == alike ? 1u << m : 0;
    return set;
}

unsigned dp_record_changes(enum dp_record_change change)
{
    unsigned set = 0;
    for (int m = 0; m < DP_RECORD_MEMBER_COUNT; m++)
        set |= members[m].change == change ? 1u << m : 0;
    return set;
}

static bool same_value(const struct dp_record *a, const struct dp_record *b, int member)
{
    const void *v = (const char *)a + members[member].offset, *w = (const char *)b + members[member].offset;
    switch (members[member].storage) {
    case STORED_REAL:
        return memcmp(v, w, sizeof(double)) == 0;
    case STORED_INT:
        return memcmp(v, w, sizeof(int64_t)) == 0;
    case STORED_TEXT:
        return strcmp(v, w) == 0;
    default:
        return memcmp(v, w, sizeof(unsigned)) == 0;
    }
}

/* Whether both have the member with the same value, or neither has it. one, other: the members that a and b have. */
static bool same_member(const struct dp_record *a, const struct dp_record *b, unsigned one, unsigned other, int member)
{
    return !((one ^ other) >> member & 1) && (!(one >> member & 1) || same_value(a, b, member));
}

int dp_record_differs(const struct dp_record *a, const struct dp_record *b, unsigned set)
{
    unsigned one = dp_record_members(a), other = dp_record_members(b);
    int m = 0;
    while (m < DP_RECORD_MEMBER_COUNT && (!(set >> m & 1) || same_member(a, b, one, other, m)))
        m++;
    return m;
}

bool dp_record_same_member(const struct dp_record *a, const struct dp_record *b, int member)
{
    return dp_record_differs(a, b, 1u << member) == DP_RECORD_MEMBER_COUNT;
}

static double real_of(const struct dp_record *record, int member)
{
    return *(const double *)((const char *)record + members[member].offset);
}

int dp_record_breaks(const struct dp_record *terms, const struct dp_record *record, unsigned loose)
{
    const unsigned free = 1u << DP_CHANGE_EACH_LAP | 1u << DP_CHANGE_HELLO | (loose & ~(1u << DP_CHANGE_UP));
    unsigned one = dp_record_members(terms), other = dp_record_members(record);
    int m = 0;
    for (bool kept = true; kept && m < DP_RECORD_MEMBER_COUNT; m += kept) {
        enum dp_record_change change = members[m].change;
        if (free >> change & 1)
            continue;
        kept = same_member(terms, record, one, other, m);
        if (change == DP_CHANGE_UP && (loose >> DP_CHANGE_UP & 1))
            kept = real_of(record, m) >= real_of(terms, m);
        if (change == DP_CHANGE_WITH_BOUND) {
            double same = record->bound * (real_of(terms, m) / terms->bound);
            kept = fabs(real_of(record, m) - same) <= 1e-12 * same;
        }
    }
    return m;
}

/* Replaces an old name by today's, in the same storage. */
static bool set_renamed(struct dp_record *record, int member, const struct dp_record_value *value)
{
    bool field = members[member].storage == STORED_FIELD;
    const char *today = field || member == DP_RECORD_sampler
                            ? dp_alias_of(field ? DP_ALIAS_FIELD : DP_ALIAS_SAMPLER, value->text, value->length)
                            : NULL;
    return today != NULL &&
           dp_record_set(record, member, &(struct dp_record_value){.type = DP_T_TEXT, .text = today, .length = strlen(today)});
}

bool dp_record_set(struct dp_record *record, int member, const struct dp_record_value *value)
{
    const struct member m = members[member];
    void *at = (char *)record + m.offset;
    unsigned number = 0, count = (unsigned)m.count;
    if (m.storage == STORED_REAL) {
        *(double *)at = value->real;
        return true;
    }
    if (m.storage == STORED_INT) {
        *(int64_t *)at = value->whole;
        return true;
    }
    if (m.storage == STORED_TEXT) {
        if (value->length >= DP_RECORD_ON || dp_laps_name(value->text, value->length) < value->length)
            return false;
        memset(at, 0, DP_RECORD_ON);
        if (value->length > 0) /* a member that is removed has no text */
            memcpy(at, value->text, value->length);
        return true;
    }
    if (m.storage == STORED_FIELD) {
        count = DP_F_COUNT;
        number = dp_field_find(value->text, value->length);
    } else if (m.storage == STORED_KIND) {
        count = DP_QUERY_KIND_COUNT;
        number = dp_query_find(value->text, value->length);
    } else {
        while (number < count && !is(m.names[number], value->text, value->length))
            number++;
    }
    if (number >= count)
        return set_renamed(record, member, value);
    *(unsigned *)at = number;
    return true;
}

void dp_record_tidy(struct dp_record *record)
{
    unsigned has = dp_record_members(record);
    for (int m = 0; m < DP_RECORD_MEMBER_COUNT; m++)
        if (!(has >> m & 1))
            dp_record_set(record, m, &(struct dp_record_value){0});
}

void dp_record_of_format_1(struct dp_record *record, int i)
{
    record->of = i == 0 ? DP_F_SUM : i == 1 ? DP_F_WITHIN : DP_F_NONE;
    if (record->query.kind == DP_QUERY_LAPLACE)
        record->query.kind = DP_QUERY_DISCRETE_LAPLACE;
    dp_record_tidy(record);
}

int64_t dp_record_epoch_laps(int64_t rows, double rate)
{
    double batch = fmax(round(rate * (double)rows), 1);
    return batch < (double)rows ? (rows - 1) / (int64_t)batch + 1 : 1;
}

double dp_record_implied(const struct dp_record *record)
{
    /* A replaced row removes its part and adds another: twice the bound. A released state changes by as much as the sum. */
    return record->bound * (record->adjacency == DP_ADJACENCY_REPLACE_ONE ? 2.0 : 1.0) *
           (record->release == DP_RELEASE_SUM_AND_STATE ? M_SQRT2 : 1.0);
}

void dp_record_bound(struct dp_record *record, enum dp_field of, enum dp_adjacency adjacency, double bound)
{
    record->of = of;
    record->adjacency = adjacency;
    record->bound = bound;
    record->sensitivity = dp_record_implied(record);
}
