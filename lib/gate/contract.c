#include "gate/contract.h"

#include "gate/charge.h"
#include "wire/codec.h"

void dp_contract_free(struct dp_contract *c)
{
    dp_laps_free(&c->laps);
    dp_plan_free(&c->plan);
    dp_frame_free(c->hello);
    dp_frame_free(c->first);
    msgpack_sbuffer_destroy(&c->bytes);
}

/* --- hello */

/* Costs under different adjacencies do not add up. A record without a bound has no adjacency yet. */
static int check_adjacency(const struct dp_frame *hello, struct dp_err *err)
{
    const struct dp_record *first = NULL;
    for (int i = 0; i < hello->records; i++) {
        const struct dp_record *record = &hello->record[i];
        if (!(record->sensitivity > 0))
            continue;
        first = first != NULL ? first : record;
        if (record->adjacency != first->adjacency)
            return dp_fail(err, DP_E_UNSAFE, "laps of kind '%s' and of kind '%s' have different adjacencies", record->on,
                           first->on);
    }
    return DP_OK;
}

/* dp-loop checks the user's plan, so a stage has written an invalid one. */
static int read_laps(struct dp_laps *laps, const char *text, int64_t count, struct dp_err *err)
{
    struct dp_err why = {0};
    int rc = dp_laps_parse(laps, text, &why);
    if (rc == DP_E_USAGE)
        return dp_fail(err, DP_E_UNSAFE, "the hello frame has no plan of laps: %s", why.message);
    if (rc != DP_OK)
        return dp_fail(err, rc, "%s", why.message);
    return laps->laps == count ? DP_OK
                               : dp_fail(err, DP_E_UNSAFE, "the hello frame has a plan of %lld laps for a run of %lld",
                                         (long long)laps->laps, (long long)count);
}

int dp_contract_read(struct dp_contract *c, const struct dp_frame *hello, struct dp_err *err)
{
    const char *text = dp_frame_text(hello, DP_F_KINDS, NULL);
    int64_t count = dp_frame_int(hello, DP_F_LAPS, 0);
    c->named = text != NULL;
    c->hello = dp_frame_new();
    dp_frame_copy(c->hello, hello);
    int rc = DP_OK;
    if (c->named)
        rc = read_laps(&c->laps, text, count, err);
    else if (count > 0)
        rc = dp_laps_plain(&c->laps, count, err);
    return rc == DP_OK && c->named ? check_adjacency(hello, err) : rc;
}

/* Copies the records that `from`, a hello frame or c->first, has for laps of a kind, without what only a hello frame says. All
 * shares of the noise are announced; each lap says which of them came. Returns their number. */
static int terms_of(const struct dp_frame *from, const char *kind, struct dp_record terms[DP_MAX_RECORDS])
{
    int count = 0;
    for (int i = 0; i < from->records; i++) {
        if (strcmp(from->record[i].on, kind) != 0)
            continue;
        terms[count] = from->record[i];
        terms[count].gathered = terms[count].shares;
        terms[count].means = DP_MEANS_NONE;
        terms[count].follows = 0;
        terms[count++].on[0] = '\0';
    }
    return count;
}

int dp_contract_announced(const struct dp_contract *c, const char *kind, struct dp_record terms[DP_MAX_RECORDS])
{
    int count = terms_of(c->hello, kind, terms);
    for (int i = 0; i < count; i++)
        if (terms[i].of == DP_F_NONE || terms[i].query.kind == DP_QUERY_NONE || !(terms[i].sensitivity > 0))
            return 0;
    return count;
}

/* --- the records of a lap */

/* The terms of one lap. */
struct terms {
    const char *kind;        /* "" if laps have no kinds */
    bool announced;          /* whether the records were announced; if not, they are from the first lap of the kind */
    enum dp_field scheduled; /* the field whose noise follows a schedule, or DP_F_NONE */
    int count;
    struct dp_record record[DP_MAX_RECORDS];
};

static int other_mechanism(const struct dp_contract *c, const struct dp_frame *lap, struct dp_err *err)
{
    return c->resumed ? dp_fail(err, DP_E_UNSAFE,
                                "the mechanism of lap %lld is not the mechanism of the run before its "
                                "checkpoint",
                                (long long)lap->lap)
                      : dp_fail(err, DP_E_UNSAFE,
                                "the mechanism of lap %lld is not what was announced: noise that changes needs a schedule or "
                                "--adaptive",
                                (long long)lap->lap);
}

/* The member of the record breaks the terms. */
static int refuse(const struct dp_contract *c, const struct terms *terms, const struct dp_frame *lap, int member,
                  struct dp_err *err)
{
    const unsigned mechanism = dp_record_changes(DP_CHANGE_PLANNED) | dp_record_changes(DP_CHANGE_UP);
    long long number = (long long)lap->lap;
    if (terms->announced && (dp_record_alike(DP_ALIKE_RUN) >> member & 1))
        return dp_fail(err, DP_E_UNSAFE, "lap %lld is of other rows, or under another adjacency, than were announced", number);
    if (terms->announced || (mechanism >> member & 1))
        return other_mechanism(c, lap, err);
    return dp_fail(err, DP_E_UNSAFE, "lap %lld records another '%s' than the first lap%s", number, dp_record_key(member),
                   terms->kind[0] != '\0' ? " of its kind" : "");
}

/* The record of a field. Records have no order. */
static struct dp_record *term_of(struct terms *terms, enum dp_field of)
{
    for (int i = 0; i < terms->count; i++)
        if (terms->record[i].of == of)
            return &terms->record[i];
    return NULL;
}

/* The columns of the table whose members may change in a record of this lap. */
static unsigned loose_columns(const struct dp_contract *c, struct terms *terms, const struct dp_frame *lap, enum dp_field of)
{
    unsigned loose = of == terms->scheduled ? 1u << DP_CHANGE_UP : 0;
    if (c->adaptive)
        loose |= 1u << DP_CHANGE_PLANNED | 1u << DP_CHANGE_UP;
    if (c->adaptive ? dp_paid[of].noised != DP_NOISED_COUNT
                    : dp_paid[of].noised == DP_NOISED_MAIN && dp_frame_has(lap, DP_F_WITHIN))
        loose |= 1u << DP_CHANGE_FOLLOWS;
    if (term_of(terms, of)->query.kind == DP_QUERY_CORRELATED) /* the noise of a lap is for the bound of earlier ones, too */
        loose = 0;
    if (terms->announced) /* bounds may be missing there */
        loose |= 1u << DP_CHANGE_FOLLOWS | 1u << DP_CHANGE_WITH_BOUND;
    return loose;
}

/* Writes the planned multiplier of the lap into its terms: into the first query, in the order of fields (dp_charge_event). An
   adaptive run accepts every multiplier. */
static void set_multipliers(const struct dp_contract *c, struct terms *terms, int64_t lap)
{
    struct dp_record *first = terms->record;
    terms->scheduled = DP_F_NONE;
    for (int i = 0; i < terms->count; i++) {
        if (c->adaptive)
            terms->record[i].query.multiplier = 0;
        if (terms->record[i].of < first->of)
            first = &terms->record[i];
    }
    if (c->adaptive)
        return;
    const struct dp_plan_span *span = dp_plan_at(&c->plan, lap);
    first->query.multiplier = c->plan.event[span->event].query[0].multiplier;
    if (span->rounded) /* more noise than charged is allowed */
        terms->scheduled = first->of;
}

/* Holds the records of a lap to the terms. */
static int hold(const struct dp_contract *c, struct terms *terms, const struct dp_frame *lap, struct dp_err *err)
{
    const char *of_kind = terms->kind[0] != '\0' ? " of its kind" : "";
    long long number = (long long)lap->lap;
    if (lap->records != terms->count)
        return terms->announced
                   ? other_mechanism(c, lap, err)
                   : dp_fail(err, DP_E_UNSAFE, "lap %lld has another number of records than the first lap%s", number, of_kind);
    set_multipliers(c, terms, lap->lap);
    for (int i = 0; i < lap->records; i++) {
        const struct dp_record *now = &lap->record[i];
        struct dp_record *then = term_of(terms, now->of);
        if (then == NULL)
            return terms->announced ? other_mechanism(c, lap, err)
                                    : dp_fail(err, DP_E_UNSAFE, "lap %lld has a record of '%s', and the first lap%s has none",
                                              number, dp_fields[now->of].key, of_kind);
        if (terms->announced && c->site)
            then->rows = now->rows;
        int member = dp_record_breaks(then, now, loose_columns(c, terms, lap, now->of));
        if (member == DP_RECORD_OWN_COUNT + DP_QUERY_multiplier && now->of == terms->scheduled)
            return dp_fail(err, DP_E_UNSAFE, "lap %lld has a noise multiplier of %g, but %g was planned", number,
                           now->query.multiplier, then->query.multiplier);
        if (member != DP_RECORD_MEMBER_COUNT)
            return refuse(c, terms, lap, member, err);
    }
    return DP_OK;
}

/* The first lap of a kind is held to what was announced; later laps are held to this first lap. The data set is the same for
   the whole run. */
static int begin_kind(struct dp_contract *c, struct terms *terms, const struct dp_frame *lap, struct dp_err *err)
{
    enum dp_sampling sampling;
    c->first = c->first ?: dp_frame_new();
    if (c->first->records == 0)
        dp_frame_reset(c->first, lap->kind);
    for (int i = 0; i < lap->records && c->first->records > 0; i++) {
        int member = dp_record_differs(c->first->record, &lap->record[i], dp_record_alike(DP_ALIKE_RUN));
        if (member != DP_RECORD_MEMBER_COUNT)
            return dp_fail(err, DP_E_UNSAFE, "lap %lld records another '%s' than the first lap", (long long)lap->lap,
                           dp_record_key(member));
    }
    int rc = dp_charge_sampling(lap->record, &sampling, err); /* some accountant must cover it */
    terms->announced = true;
    terms->count = c->adaptive ? 0 : dp_contract_announced(c, terms->kind, terms->record);
    if (rc == DP_OK && terms->count > 0)
        rc = hold(c, terms, lap, err);
    for (int i = 0; rc == DP_OK && i < lap->records; i++) {
        struct dp_record record = lap->record[i];
        snprintf(record.on, sizeof record.on, "%s", terms->kind);
        rc = dp_frame_add_record(c->first, &record, err);
    }
    for (int i = 0; rc == DP_OK && i < DP_F_COUNT; i++)
        if (dp_fields[i].visibility == DP_FIXED && !dp_frame_has(c->first, (enum dp_field)i))
            dp_frame_copy_field(c->first, lap, (enum dp_field)i);
    return rc;
}

/* --- a lap */

/* Whether the records are, bit by bit, the records of the first lap of the kind. These were checked and held to the contract. */
static bool all_as_first(const struct dp_contract *c, const struct terms *terms, const struct dp_frame *lap)
{
    bool same = !c->scheduled && terms->count > 0 && terms->count == lap->records;
    for (int i = 0; same && i < terms->count; i++)
        same = dp_record_differs(&terms->record[i], &lap->record[i], ~0u) == DP_RECORD_MEMBER_COUNT;
    return same;
}

/* The lap is the next one. Epochs and plans number their laps from 1. */
static int check_number(struct dp_contract *c, const struct dp_frame *lap, struct dp_err *err)
{
    long long number = (long long)lap->lap, last = (long long)c->last;
    if (number <= last)
        return dp_fail(err, DP_E_UNSAFE, "lap %lld came after lap %lld: noise must not be used twice", number, last);
    if (number != last + 1 && !c->site)
        return dp_fail(err, DP_E_UNSAFE, "lap %lld came after lap %lld: laps are missing", number, last);
    /* The turns of the laps that this site was not asked for. */
    for (int64_t t = c->last + 1; c->named && t < lap->lap && t <= c->laps.laps; t++)
        c->turn[dp_laps_kind(&c->laps, t)]++;
    return DP_OK;
}

/* The lap is of the announced kind, and has the number that follows in its kind. */
static int check_kind(struct dp_contract *c, const struct dp_frame *lap, struct dp_err *err)
{
    const char *name = dp_frame_text(lap, DP_F_LAP_KIND, NULL);
    int64_t laps = c->adaptive ? c->laps.laps : c->plan.laps, turn = dp_frame_int(lap, DP_F_TURN, 0);
    long long number = (long long)lap->lap;
    c->kind = 0;
    if (!c->named && (name != NULL || dp_frame_has(lap, DP_F_TURN)))
        return dp_fail(err, DP_E_UNSAFE, "lap %lld is of a kind, and no kinds were announced", number);
    if (c->named)
        c->kind = name != NULL ? dp_laps_find(&c->laps, name) : -1;
    if (c->kind < 0)
        return dp_fail(err, DP_E_UNSAFE, "lap %lld is of no kind that was announced", number);
    /* The cost of a run is known beforehand only if its length is. */
    if (laps > 0 && lap->lap > laps)
        return dp_fail(err, DP_E_UNSAFE, "lap %lld is beyond the %lld laps that were planned", number, (long long)laps);
    if (!c->named)
        return DP_OK;
    int planned = dp_laps_kind(&c->laps, lap->lap);
    if (planned != c->kind)
        return dp_fail(err, DP_E_UNSAFE, "lap %lld is of kind '%s', the plan has '%s' there", number, name,
                       c->laps.name[planned]);
    if (turn != c->turn[c->kind] + 1)
        return dp_fail(err, DP_E_UNSAFE, "lap %lld says that it is number %lld of its kind, and it is number %lld", number,
                       (long long)turn, (long long)c->turn[c->kind] + 1);
    return DP_OK;
}

/* The text of the pipeline does not determine its mechanism, so a resumed run must also have the plan that it had. */
static int make_plan(struct dp_contract *c, const struct dp_frame *lap, struct dp_err *err)
{
    unsigned char plan[DP_PLAN_DIGEST];
    int rc = dp_contract_plan(c, lap, err);
    if (rc != DP_OK || !c->resumed)
        return rc;
    dp_plan_digest(&c->plan, plan);
    return memcmp(plan, c->planned, sizeof plan) == 0 ? DP_OK : other_mechanism(c, lap, err);
}

int dp_contract_lap(struct dp_contract *c, const struct dp_frame *lap, struct dp_err *err)
{
    struct terms terms;
    terms.kind = dp_frame_text(lap, DP_F_LAP_KIND, "");
    terms.announced = false;
    terms.count = c->first != NULL ? terms_of(c->first, terms.kind, terms.record) : 0;
    bool known = terms.count > 0, same = all_as_first(c, &terms, lap);
    int rc = same ? DP_OK : dp_charge_check_records(lap->record, lap->records, lap->lap, err);
    rc = rc ?: dp_charge_check_fields(lap, err);
    rc = rc ?: check_number(c, lap, err);
    if (rc == DP_OK && !c->adaptive && c->plan.laps == 0)
        rc = make_plan(c, lap, err);
    rc = rc ?: check_kind(c, lap, err);
    if (rc == DP_OK && !same)
        rc = known ? hold(c, &terms, lap, err) : begin_kind(c, &terms, lap, err);
    c->resumed = false;
    for (int i = 0; rc == DP_OK && i < DP_F_COUNT; i++)
        if (dp_fields[i].visibility == DP_FIXED && !dp_frame_same_field(c->first, lap, (enum dp_field)i))
            rc = dp_fail(err, DP_E_UNSAFE, "lap %lld has another '%s' than the first lap", (long long)lap->lap,
                         dp_fields[i].key);
    return rc;
}

void dp_contract_passed(struct dp_contract *c, const struct dp_frame *lap)
{
    c->last = lap->lap;
    c->turn[c->kind]++;
}

/* --- checkpoints */

int dp_contract_save(struct dp_contract *c, struct dp_state *state, struct dp_err *err)
{
    msgpack_sbuffer_clear(&c->bytes);
    int rc = dp_wire_encode(&c->bytes, c->first, err);
    dp_state_put_bytes(state, "first", c->bytes.data, c->bytes.size);
    dp_state_put_int(state, "lap", c->last);
    dp_state_put_bytes(state, "turn", c->turn, sizeof c->turn);
    dp_plan_digest(&c->plan, c->planned);
    dp_state_put_bytes(state, "plan", c->planned, sizeof c->planned);
    return rc;
}

int dp_contract_restore(struct dp_contract *c, const struct dp_state *state, struct dp_err *err)
{
    const void *first, *turn, *plan;
    size_t of_first, of_turn, of_plan;
    c->resumed = true;
    int rc = dp_state_get_int(state, "lap", 1, INT64_MAX, &c->last, err);
    rc = rc ?: dp_state_get_bytes(state, "turn", &turn, &of_turn, err);
    rc = rc ?: dp_state_get_bytes(state, "plan", &plan, &of_plan, err);
    rc = rc ?: dp_state_get_bytes(state, "first", &first, &of_first, err);
    if (rc == DP_OK && of_turn != sizeof c->turn)
        rc = dp_fail(err, DP_E_RUN, "'turn' of the checkpoint does not have a number for each kind of lap");
    if (rc == DP_OK && of_plan != sizeof c->planned)
        rc = dp_fail(err, DP_E_RUN, "'plan' of the checkpoint is not a digest");
    if (rc != DP_OK)
        return rc;
    c->first = dp_frame_new();
    memcpy(c->turn, turn, of_turn);
    memcpy(c->planned, plan, of_plan);
    return dp_wire_read(c->first, first, of_first, err);
}
