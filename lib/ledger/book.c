#include "ledger/book.h"

#include <sodium.h>

#include "account/account.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/unit.h"
#include "ledger/charge_json.h"
#include "ledger/old.h"
#include "ledger/schema_cost.h"
#include "priv/rdp.h"

#define HASH_KEY ",\"hash\":\""
#define ONCE 3                                            /* from this format on a run is charged once */
enum { TAIL = sizeof HASH_KEY - 1 + DP_LEDGER_HASH + 2 }; /* ,"hash":"…"} */

static const char malformed[] = "it is not a line of a ledger";
static const char newer[] = "it is of a newer format";
static const char closed[] = "its run is not open";
static const char unreserved[] = "its run did not reserve these laps";
static const char uncounted[] = "its laps are not those that its run used";
static const char nonsense[] = "its budget makes no sense";
static const char another[] = "its run is not the one that it resumes";

static void hash_of(const char *bytes, size_t length, char *hash)
{
    unsigned char binary[DP_LEDGER_HASH / 2];
    crypto_generichash(binary, sizeof binary, (const unsigned char *)bytes, length, NULL, 0);
    sodium_bin2hex(hash, DP_LEDGER_HASH + 1, binary, sizeof binary);
}

const char *dp_ledger_book_hash(const struct dp_ledger_book *book)
{
    return book->lines > 0 ? book->hash[book->lines - 1] : DP_LEDGER_ORIGIN;
}

int dp_ledger_line(json_t *members, size_t seq, const char *prev, char **text, size_t *length, char *hash, struct dp_err *err)
{
    json_t *line = json_pack("{s:I, s:s}", "seq", (json_int_t)seq, "prev", prev);
    const bool good = members != NULL && json_object_update(line, members) == 0; /* no members: a text was not UTF-8 */
    char *body = dp_json_text(line, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(line);
    json_decref(members);
    *text = NULL;
    if (!good) {
        free(body);
        return dp_fail(err, DP_E_RUN, "a text for the ledger is not UTF-8");
    }
    size_t open = strlen(body) - 1; /* without the brace */
    hash_of(body, open, hash);
    *text = dp_format("%.*s" HASH_KEY "%s\"}\n", (int)open, body, hash);
    free(body);
    *length = strlen(*text);
    return DP_OK;
}

int64_t dp_ledger_entry_laps(const struct dp_ledger_entry *entry)
{
    return dp_charges_all(&entry->paid);
}

bool dp_ledger_entry_spent(const struct dp_ledger_entry *entry)
{
    return entry->holds || dp_ledger_entry_laps(entry) > 0;
}

/* The run that has or had that name. *opening (may be NULL) points to the line that gave the run this name. */
static struct dp_ledger_entry *find_any(const struct dp_ledger_book *book, const char *run,
                                        const struct dp_ledger_opening **opening)
{
    /* Most lookups are for recent runs. */
    for (size_t i = book->entries; i-- > 0;)
        for (size_t k = book->entry[i].opened.count; k-- > 0;)
            if (strcmp(book->entry[i].opened.list[k].run, run) == 0) {
                if (opening != NULL)
                    *opening = &book->entry[i].opened.list[k];
                return &book->entry[i];
            }
    return NULL;
}

struct dp_ledger_entry *dp_ledger_book_find(const struct dp_ledger_book *book, const char *run)
{
    struct dp_ledger_entry *entry = find_any(book, run, NULL);
    return entry != NULL && strcmp(entry->run, run) == 0 ? entry : NULL;
}

bool dp_ledger_book_opened(const struct dp_ledger_book *book, const char *run)
{
    return find_any(book, run, NULL) != NULL;
}

size_t dp_ledger_book_root(const struct dp_ledger_book *book, size_t who)
{
    while (book->name[who].same != who)
        who = book->name[who].same;
    return who;
}

size_t dp_ledger_book_who(const struct dp_ledger_book *book, const char *name)
{
    for (size_t i = 0; i < book->names; i++)
        if (strcmp(book->name[i].name, name) == 0)
            return dp_ledger_book_root(book, i);
    return SIZE_MAX;
}

const struct dp_ledger_limit *dp_ledger_book_limit(const struct dp_ledger_book *book, const char *population, const char *data,
                                                   size_t *from)
{
    while (*from < book->limits) {
        const struct dp_ledger_limit *limit = &book->limit[(*from)++];
        size_t root = dp_ledger_book_root(book, limit->who);
        if (root == dp_ledger_book_who(book, population) || root == dp_ledger_book_who(book, data))
            return limit;
    }
    return NULL;
}

bool dp_ledger_limit_binds(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit,
                           const struct dp_ledger_entry *entry)
{
    return dp_ledger_book_root(book, entry->of.who) == dp_ledger_book_root(book, limit->who) &&
           entry->covered != 1 + (size_t)(limit - book->limit);
}

int dp_ledger_limit_persons(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit)
{
    for (size_t i = 0; i < book->entries; i++)
        if (dp_ledger_book_root(book, book->entry[i].of.who) == dp_ledger_book_root(book, limit->who))
            return book->entry[i].of.unit != NULL;
    return -1;
}

bool dp_ledger_limit_unused(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit)
{
    for (size_t i = 0; i < book->entries; i++)
        if (dp_ledger_limit_binds(book, limit, &book->entry[i]) && dp_ledger_entry_spent(&book->entry[i]))
            return false;
    return true;
}

/* Notes a name; *who: its number. The caller's JSON owns the text. */
static size_t note_name(struct dp_ledger_book *book, const char *name)
{
    size_t who = dp_ledger_book_who(book, name);
    if (who != SIZE_MAX)
        return who;
    dp_extend(&book->name, &book->names_capacity, book->names + 1, sizeof *book->name);
    book->name[book->names] = (struct dp_ledger_name){name, book->names};
    return book->names++;
}

/* Notes that the names are of the same people. */
static size_t note_names(struct dp_ledger_book *book, const char *population, const char *data)
{
    size_t who = note_name(book, population), other = note_name(book, data);
    book->name[dp_ledger_book_root(book, other)].same = dp_ledger_book_root(book, who);
    return who;
}

static bool is_adjacency(const char *text)
{
    return strcmp(text, "null-record") == 0 || strcmp(text, "replace-one") == 0;
}

static bool is_budget(double epsilon, double delta)
{
    return epsilon > 0 && isfinite(epsilon) && delta > 0 && delta < 1;
}

/* Each function below takes one kind of line. It returns NULL, or why the line is not valid at this place. */

static const char *take_orders(json_t *orders, struct dp_ledger_limit *limit)
{
    double sum = limit->before_delta;
    limit->orders = json_array_size(orders);
    if (!json_is_array(orders) || limit->orders > DP_LEDGER_ORDERS)
        return malformed;
    for (size_t i = 0; i < limit->orders; i++) {
        struct dp_ledger_order *order = &limit->order[i];
        if (json_unpack_ex(json_array_get(orders, i), NULL, JSON_STRICT, "{s:F, s:F}", "order", &order->order, "delta",
                           &order->delta) != 0)
            return malformed;
        if (!(order->order > 1 && isfinite(order->order) && order->delta > 0 && order->delta < 1))
            return nonsense;
        sum += order->delta;
    }
    return sum <= limit->delta * (1 + 1e-12) ? NULL : nonsense;
}

/* Notes the runs whose cost the budget begins with. */
static void cover(struct dp_ledger_book *book, size_t limit)
{
    for (size_t i = 0; i < book->entries; i++)
        if (dp_ledger_book_root(book, book->entry[i].of.who) == dp_ledger_book_root(book, book->limit[limit].who))
            book->entry[i].covered = limit + 1;
}

static const char *read_budget(json_t *line, struct dp_ledger_limit *limit, const char **data)
{
    json_t *orders = NULL, *before = NULL;
    *data = NULL;
    /* Lines of former versions have one order, which has all of delta, and a digest instead of a population. */
    if (json_unpack_ex(line, NULL, JSON_STRICT, "{s?s, s?s, s:s, s:F, s:F, s?F, s?o, s?o}", "population", &limit->population,
                       "data", data, "adjacency", &limit->adjacency, "epsilon", &limit->epsilon, "delta", &limit->delta,
                       "order", &limit->order[0].order, "orders", &orders, "before", &before) != 0 ||
        (before != NULL && json_unpack_ex(before, NULL, JSON_STRICT, "{s:F, s:F}", "epsilon", &limit->before_epsilon, "delta",
                                          &limit->before_delta) != 0))
        return malformed;
    limit->population = limit->population != NULL ? limit->population : *data;
    *data = *data != NULL ? *data : limit->population;
    if (limit->population == NULL || (orders != NULL) == (json_object_get(line, "order") != NULL))
        return malformed;
    if (limit->population[0] == '\0' || !is_adjacency(limit->adjacency) || !is_budget(limit->epsilon, limit->delta) ||
        !(limit->before_epsilon >= 0 && limit->before_epsilon < limit->epsilon && limit->before_delta >= 0))
        return nonsense;
    limit->order[0].delta = limit->delta - limit->before_delta;
    limit->orders = 1;
    if (orders != NULL)
        return take_orders(orders, limit);
    return limit->order[0].order > 1 && isfinite(limit->order[0].order) ? NULL : nonsense;
}

static bool same_orders(const struct dp_ledger_limit *a, const struct dp_ledger_limit *b)
{
    for (size_t i = 0; i < a->orders && i < b->orders; i++)
        if (a->order[i].order != b->order[i].order || a->order[i].delta != b->order[i].delta)
            return false;
    return a->orders == b->orders;
}

/* An unused budget may be replaced. In a used budget only epsilon may change, and only downwards: the count of a filter at a
 * fixed order is sound even if epsilon is chosen with knowledge of it, and so is a sum. */
static const char *take_new_budget(struct dp_ledger_book *book, json_t *line, struct dp_ledger_limit *old,
                                   const struct dp_ledger_limit *new, const char *data)
{
    bool unused = dp_ledger_limit_unused(book, old);
    size_t who[2] = {dp_ledger_book_who(book, new->population), dp_ledger_book_who(book, data)};
    if (who[0] != who[1] && who[0] != SIZE_MAX && who[1] != SIZE_MAX)
        return "it is of other people than the budget that it replaces";
    if (strcmp(old->adjacency, new->adjacency) != 0 || old->before_epsilon != new->before_epsilon ||
        old->before_delta != new->before_delta)
        return "it begins with something else than the budget that it replaces";
    if (!unused && !(new->epsilon < old->epsilon))
        return "it raises a budget that runs have used";
    if (!unused && (old->delta != new->delta || !same_orders(old, new)))
        return "it changes a budget that runs have used";
    note_names(book, new->population, data);
    old->epsilon = new->epsilon;
    old->delta = new->delta;
    old->addition = old->addition && !unused;
    memcpy(old->order, new->order, sizeof old->order);
    old->orders = new->orders;
    old->population = new->population;
    json_array_append(old->lines, line);
    return NULL;
}

static const char *take_budget(struct dp_ledger_book *book, json_t *line)
{
    struct dp_ledger_limit limit = {0};
    const char *data;
    size_t from = 0;
    const char *why = read_budget(line, &limit, &data);
    if (why != NULL)
        return why;
    const struct dp_ledger_limit *old = dp_ledger_book_limit(book, limit.population, data, &from);
    if (old != NULL)
        return take_new_budget(book, line, &book->limit[old - book->limit], &limit, data);
    bool first = dp_ledger_book_who(book, limit.population) == SIZE_MAX && dp_ledger_book_who(book, data) == SIZE_MAX;
    if (!first && json_object_get(line, "before") == NULL) /* if the budget has `before`, the runs may be in other ledgers */
        return "it is a budget that comes after a run";
    limit.who = note_names(book, limit.population, data);
    dp_extend(&book->limit, &book->limits_capacity, book->limits + 1, sizeof limit);
    limit.lines = json_pack("[O]", line);
    book->limit[book->limits++] = limit;
    cover(book, book->limits - 1);
    return NULL;
}

static const char *check_people(const struct dp_ledger_people *of)
{
    size_t most;
    if (!dp_unit_read(of->unit, &most) || (of->unit != NULL && most == 0))
        return "its unit of privacy is unknown";
    bool known = of->data[0] != '\0' && of->population[0] != '\0' && is_adjacency(of->adjacency) && of->rows >= 1;
    return known ? NULL : "its people make no sense";
}

static const char *read_open(json_t *line, int64_t format, struct dp_ledger_entry *entry, const char **resumes)
{
    int claimed = 0;
    if (json_unpack_ex(line, NULL, JSON_STRICT,
                       "{s:s, s:s, s?s, s:I, s:s, s:F, s:F, s:b, s?b, s:s, s:s, s?I, s?s, s?s, s?F, s?F, s?F, s?s, s?b, s?s, "
                       "s?b}",
                       "run", &entry->run, "data", &entry->of.data, "population", &entry->of.population, "rows",
                       &entry->of.rows, "adjacency", &entry->of.adjacency, "epsilon", &entry->epsilon, "delta", &entry->delta,
                       "seeded", &entry->seeded, "as_published", &claimed, "private_preprocessing", &entry->of.preprocessing,
                       "software", &entry->software, "time", &entry->time, "unit", &entry->of.unit, "init", &entry->start.init,
                       "prior_epsilon", &entry->start.epsilon, "prior_delta", &entry->start.delta, "order", &entry->order,
                       "resumes", resumes, "addition", &entry->addition, "public_start", &entry->start.public_start,
                       "with_schema", &entry->with_schema) != 0 ||
        (entry->with_schema && format < ONCE))
        return malformed;
    entry->holds = format >= ONCE && entry->order > 0;
    if (entry->of.population == NULL) /* the form of former versions */
        entry->of.population = entry->of.data;
    const char *why = check_people(&entry->of);
    if (why != NULL)
        return why;
    if (!dp_text_is_hex(entry->run, DP_LEDGER_RUN) || !is_budget(entry->epsilon, entry->delta) ||
        !(entry->start.epsilon >= 0) || !(entry->start.delta >= 0) ||
        (entry->order != 0 && !(entry->order > 1 && entry->epsilon > dp_rdp_penalty(entry->order, entry->delta))))
        return "its run makes no sense";
    if (claimed)
        entry->epsilon = (double)INFINITY;
    return NULL;
}

static void add_opening(struct dp_ledger_book *book, struct dp_ledger_entry *entry, json_t *line, const char *run)
{
    dp_extend(&entry->opened.list, &entry->opened.capacity, entry->opened.count + 1, sizeof *entry->opened.list);
    entry->opened.list[entry->opened.count++] =
        (struct dp_ledger_opening){json_incref(line), run, book->lines + 1, book->lines + 1};
    entry->run = run;
}

bool dp_ledger_same_run(const struct dp_ledger_entry *a, const struct dp_ledger_entry *b)
{
    return strcmp(a->of.data, b->of.data) == 0 && strcmp(a->of.population, b->of.population) == 0 &&
           strcmp(a->of.adjacency, b->of.adjacency) == 0 && a->of.rows == b->of.rows && a->epsilon == b->epsilon &&
           a->delta == b->delta && strcmp(a->of.unit != NULL ? a->of.unit : "", b->of.unit != NULL ? b->of.unit : "") == 0 &&
           a->order == b->order && !a->seeded == !b->seeded;
}

/* Makes the list equal to the other one; false: too many laps. */
static bool assign(struct dp_charges *to, const struct dp_charges *from)
{
    dp_charges_clear(to);
    return dp_charges_add_all(to, dp_charges_continue, from, NULL) == DP_OK;
}

bool dp_ledger_entry_resume(struct dp_ledger_entry *entry, size_t seq)
{
    const struct dp_ledger_point *from = entry->stops.newest.seq == seq ? &entry->stops.newest : &entry->stops.before;
    struct dp_charges at = {0};
    bool bounded = entry->close == NULL && entry->stops.bounded;
    /* The laps used at an earlier checkpoint are unknown: all that was paid for stays paid. */
    bool good = (from->seq != seq || assign(&at, &from->used)) &&
                assign(&entry->stops.out, bounded ? &entry->stops.until : &entry->paid) &&
                assign(&entry->paid, &entry->stops.out);
    dp_charges_free(&entry->stops.newest.used);
    entry->stops.newest = (struct dp_ledger_point){.used = at};
    entry->stops.before.seq = 0;
    entry->stops.bounded = entry->planned = false;
    dp_ledger_old_free(entry->old);
    entry->old = NULL;
    return good;
}

int dp_ledger_entry_base(const struct dp_ledger_entry *entry, struct dp_charges *base, struct dp_err *err)
{
    int rc = DP_OK;
    for (size_t i = 0; rc == DP_OK && i < entry->stops.out.count; i++) {
        const struct dp_charge *out = &entry->stops.out.charge[i];
        bool lost = out->laps > dp_charges_laps(&entry->stops.newest.used, &out->event) && !dp_event_repeats_free(&out->event);
        rc = lost ? dp_charges_add_run(base, &out->event, out->laps, err)
                  : dp_charges_continue(base, &out->event, out->laps, err);
    }
    return rc;
}

/* The run continues under another name. Laps that may have been released so far stay paid. */
static const char *take_resumed(struct dp_ledger_book *book, json_t *line, const struct dp_ledger_entry *now, const char *mark)
{
    struct dp_ledger_entry *entry;
    struct dp_ledger_place place;
    if (dp_ledger_place_read(mark, &place, NULL) != DP_OK || dp_ledger_book_checkpoint(book, mark, true, &entry, NULL) != DP_OK)
        return "no run can be resumed from its checkpoint";
    if (!dp_ledger_same_run(entry, now))
        return another;
    add_opening(book, entry, line, now->run);
    if (!dp_ledger_entry_resume(entry, place.seq))
        return malformed;
    json_decref(entry->close);
    entry->close = NULL;
    entry->closed.model = NULL;
    entry->holds = now->holds;
    return NULL;
}

/* Before anything of a budget has been spent, the run that begins chooses how the budget is counted. The choice depends only on
 * public facts: its own budget and its announcements. An earlier run that has spent nothing may have been killed, so its choice
 * is not kept. If that run is still alive, its first lap may find no room; nothing has been released by then. */
static const char *choose_ways(struct dp_ledger_book *book, const struct dp_ledger_entry *run)
{
    bool chosen = false;
    for (size_t i = 0; i < book->limits; i++) {
        struct dp_ledger_limit *limit = &book->limit[i];
        if (!dp_ledger_limit_binds(book, limit, run))
            continue;
        if (dp_ledger_limit_unused(book, limit))
            limit->addition = run->addition;
        chosen = chosen || limit->addition;
    }
    return chosen || !run->addition ? NULL : "it chooses how to count a budget that runs have used";
}

/* The people of a run that begins or of a statement: budgets that bind them have to be about the same. */
static const char *take_people(struct dp_ledger_book *book, struct dp_ledger_entry *entry)
{
    size_t at = 0;
    for (const struct dp_ledger_limit *limit;
         (limit = dp_ledger_book_limit(book, entry->of.population, entry->of.data, &at)) != NULL;) {
        if (strcmp(limit->adjacency, entry->of.adjacency) != 0)
            return "its run has another adjacency than the budget of the population";
        if (dp_ledger_limit_persons(book, limit) == (entry->of.unit == NULL))
            return "its run has another unit of privacy than the runs before it that have the same budget";
    }
    return NULL;
}

static const char *begin_entry(struct dp_ledger_book *book, json_t *line, struct dp_ledger_entry *entry)
{
    entry->of.who = note_names(book, entry->of.population, entry->of.data);
    dp_extend(&book->entry, &book->entries_capacity, book->entries + 1, sizeof *entry);
    const char *why = choose_ways(book, entry);
    if (why != NULL)
        return why;
    add_opening(book, entry, line, entry->run);
    book->entry[book->entries++] = *entry;
    return NULL;
}

static const char *take_open(struct dp_ledger_book *book, json_t *line)
{
    struct dp_ledger_entry entry = {0}, *from;
    const char *resumes = NULL;
    const char *why = read_open(line, book->format, &entry, &resumes);
    if (why != NULL)
        return why;
    if (find_any(book, entry.run, NULL) != NULL)
        return "it opens a run that was opened before";
    if (resumes != NULL)
        return take_resumed(book, line, &entry, resumes);
    if ((why = take_people(book, &entry)) != NULL)
        return why;
    if (entry.start.init != NULL && dp_ledger_book_mark(book, entry.start.init, &from, NULL) != DP_OK)
        return "its run starts from a model of no run before it";
    return begin_entry(book, line, &entry);
}

static void note_line(const struct dp_ledger_book *book, struct dp_ledger_entry *entry)
{
    entry->opened.list[entry->opened.count - 1].last = book->lines + 1;
}

/* The open run of a line. */
static const char *run_of(const struct dp_ledger_book *book, const char *run, struct dp_ledger_entry **entry)
{
    *entry = dp_ledger_book_find(book, run);
    return *entry != NULL && (*entry)->close == NULL ? NULL : closed;
}

static const char *read_charges(const json_t *list, struct dp_charges *charges)
{
    if (!json_is_array(list))
        return malformed;
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct dp_charge charge;
        if (dp_charge_from_json(json_array_get(list, i), NULL, &charge, NULL) != DP_OK)
            return malformed;
        int rc = dp_charges_at_least(charges, &charge.event, charge.laps, NULL);
        dp_event_free(&charge.event);
        if (rc != DP_OK)
            return malformed;
    }
    return NULL;
}

/* Whether `more` has at least the laps of the other list. */
static bool contains(const struct dp_charges *more, const struct dp_charges *less)
{
    for (size_t i = 0; i < less->count; i++)
        if (dp_charges_laps(more, &less->charge[i].event) < less->charge[i].laps)
            return false;
    return true;
}

bool dp_ledger_entry_ended(const struct dp_ledger_entry *entry)
{
    return entry->close != NULL && strcmp(entry->closed.status, "interrupted") != 0 && contains(&entry->paid, &entry->plan);
}

static const char *take_charge(struct dp_ledger_book *book, json_t *line, const char *kind)
{
    struct dp_charge charge;
    const char *run;
    json_t *json;
    struct dp_ledger_entry *entry;
    if (json_unpack_ex(line, NULL, JSON_STRICT, "{s:s, s:o}", "run", &run, "charge", &json) != 0 ||
        dp_charge_from_json(json, NULL, &charge, NULL) != DP_OK)
        return malformed;
    const char *why = run_of(book, run, &entry);
    if (why == NULL && strcmp(kind, "reserve") == 0)
        why = dp_ledger_old_reserve(entry, &charge);
    else if (why == NULL)
        why = book->format < ONCE ? dp_ledger_old_give_back(entry, &charge, strcmp(kind, "charge") == 0) : unreserved;
    dp_event_free(&charge.event);
    if (why == NULL)
        note_line(book, entry);
    return why;
}

bool dp_ledger_names(const struct dp_event *event)
{
    for (int i = 0; i < event->queries; i++)
        if (event->query[i].kind == DP_QUERY_GAUSSIAN_THRESHOLD)
            return true;
    return false;
}

/* Whether the costs of `before` and of a later run can be one composition. */
static bool may_join(const struct dp_ledger_book *book, const struct dp_ledger_entry *before, const struct dp_ledger_entry *run)
{
    return dp_ledger_entry_ended(before) && before->opened.count == 1 && before->order == 0 && before->stated == NULL &&
           !before->whole && before->start.epsilon == 0 &&
           dp_ledger_book_root(book, before->of.who) == dp_ledger_book_root(book, run->of.who) &&
           strcmp(before->of.adjacency, run->of.adjacency) == 0 && (before->of.unit == NULL) == (run->of.unit == NULL);
}

const char *dp_ledger_book_join(struct dp_ledger_book *book, struct dp_ledger_entry *run, const struct dp_charges *charges)
{
    struct dp_charges before = {0};
    struct dp_ledger_entry *e = run;
    double mu, named;
    bool good = run->order == 0 && run->start.init != NULL && dp_schema_cost_mu(charges, &mu, &named);
    while (good && e->start.init != NULL && dp_ledger_book_mark(book, e->start.init, &e, NULL) == DP_OK) {
        good = may_join(book, e, run);
        for (size_t i = 0; good && i < e->paid.count; i++)
            good = dp_charges_add_run(&before, &e->paid.charge[i].event, e->paid.charge[i].laps, NULL) == DP_OK;
        if (good && e->within == 0)
            e->within = 1 + (size_t)(run - book->entry);
    }
    good = good && contains(charges, &before);
    dp_charges_free(&before);
    run->whole = run->whole || good;
    return good ? NULL : "its charges are not one composition with what its schema has cost";
}

/* The plan of a run, written before its first lap, or before the first lap after it was resumed. */
static const char *take_plan(struct dp_ledger_book *book, json_t *line)
{
    const char *run;
    json_t *charges;
    struct dp_ledger_entry *entry;
    if (json_unpack_ex(line, NULL, JSON_STRICT, "{s:s, s:o}", "run", &run, "charges", &charges) != 0)
        return malformed;
    const char *why = run_of(book, run, &entry);
    if (why != NULL)
        return why;
    if (entry->planned || !contains(&entry->stops.out, &entry->paid))
        return "its run has reserved laps before it said what it would do";
    struct dp_charges plan = {0};
    why = read_charges(charges, &plan);
    if (why == NULL && book->format >= ONCE) {
        if (entry->holds || !contains(&plan, &entry->stops.out))
            why = "its plan is not all that its run may release";
        /* A plan that was interrupted still counts: what had been released may have decided the new one. */
        else if (!assign(&entry->paid, &plan) || dp_charges_add_all(&plan, dp_charges_at_least, &entry->plan, NULL) != DP_OK)
            why = malformed;
        entry->planned = true;
    }
    if (why == NULL && entry->with_schema)
        why = dp_ledger_book_join(book, entry, &plan);
    dp_charges_free(&entry->plan);
    entry->plan = plan;
    note_line(book, entry);
    return why;
}

static const char *take_checkpoint(struct dp_ledger_book *book, json_t *line)
{
    const char *run;
    json_int_t laps;
    json_t *charges, *until = NULL;
    struct dp_ledger_entry *entry;
    struct dp_charges used = {0};
    if (json_unpack_ex(line, NULL, JSON_STRICT, "{s:s, s:I, s:o, s?o}", "run", &run, "laps", &laps, "charges", &charges,
                       "until", &until) != 0)
        return malformed;
    const char *why = run_of(book, run, &entry);
    why = why != NULL ? why : read_charges(charges, &used);
    if (why == NULL) {
        dp_charges_clear(&entry->stops.until);
        entry->stops.bounded = until != NULL;
        why = until != NULL ? read_charges(until, &entry->stops.until) : NULL;
    }
    if (why == NULL && (entry->holds ? until != NULL : !contains(&entry->paid, &used)))
        why = unreserved;
    if (why == NULL && until != NULL && !(contains(&entry->paid, &entry->stops.until) && contains(&entry->stops.until, &used)))
        why = unreserved;
    if (why == NULL && book->format < ONCE)
        why = dp_ledger_old_checkpoint(entry, &used);
    if (why == NULL && dp_charges_all(&used) != laps)
        why = uncounted;
    if (why != NULL) {
        dp_charges_free(&used);
        return why;
    }
    note_line(book, entry);
    if (until == NULL && entry->planned) { /* its next checkpoint is late: nothing is known but its plan */
        dp_charges_free(&used);
        return NULL;
    }
    dp_charges_free(&entry->stops.before.used);
    entry->stops.before = entry->stops.newest;
    entry->stops.newest = (struct dp_ledger_point){book->lines + 1, used};
    return NULL;
}

static const char *check_statement(const struct dp_ledger_entry *e, struct dp_charge *release)
{
    const struct dp_charges one = {.count = 1, .charge = release};
    const struct dp_event *event = &release->event;
    struct dp_answer answer;
    enum dp_query_kind kind = event->query[0].kind;
    const char *why = check_people(&e->of);
    if (why != NULL)
        return why;
    bool known = release->laps == 1 && event->sampling == DP_SAMPLING_NONE && event->queries == 1 &&
                 (dp_query_is_statement(kind) || kind == DP_QUERY_PURE);
    bool cost = e->epsilon > 0 && isfinite(e->epsilon) && e->delta >= 0 && e->delta < 1;
    if (!known || !cost || !dp_text_is_hex(e->run, DP_LEDGER_RUN) || e->stated[0] == '\0')
        return "its statement makes no sense";
    /* sums of budgets count the epsilon, other sums count the charge */
    bool agree = dp_account_epsilon(DP_ACCOUNTANT_BEST, &one, e->delta, &answer, NULL) == DP_OK &&
                 fabs(e->epsilon - answer.upper) <= 1e-6 * answer.upper;
    return agree ? NULL : "its epsilon is not the cost of its release";
}

/* The statement of another tool: a run of one lap that has ended. */
static const char *take_stated(struct dp_ledger_book *book, json_t *line)
{
    struct dp_ledger_entry entry = {.of.preprocessing = "", .closed.status = "stated", .planned = true, .closed.laps = 1};
    struct dp_charge release;
    json_t *charge;
    if (json_unpack_ex(line, NULL, JSON_STRICT, "{s:s, s:s, s:s, s:s, s:I, s:s, s:F, s:F, s:s, s:o, s:s, s?I, s?s}", "run",
                       &entry.run, "what", &entry.stated, "data", &entry.of.data, "population", &entry.of.population, "rows",
                       &entry.of.rows, "adjacency", &entry.of.adjacency, "epsilon", &entry.epsilon, "delta", &entry.delta,
                       "accountant", &entry.closed.accountant, "charge", &charge, "software", &entry.software, "time",
                       &entry.time, "unit", &entry.of.unit) != 0 ||
        dp_charge_from_json(charge, NULL, &release, NULL) != DP_OK)
        return malformed;
    entry.closed.epsilon = entry.epsilon;
    entry.closed.delta = entry.delta;
    const struct dp_charges one = {.count = 1, .charge = &release};
    const char *why = check_statement(&entry, &release);
    if (why == NULL && find_any(book, entry.run, NULL) != NULL)
        why = "it opens a run that was opened before";
    why = why != NULL ? why : take_people(book, &entry);
    if (why == NULL && !(assign(&entry.plan, &one) && assign(&entry.paid, &one)))
        why = malformed;
    dp_event_free(&release.event);
    if (why == NULL && (why = begin_entry(book, line, &entry)) == NULL) {
        book->entry[book->entries - 1].close = json_incref(line);
        return NULL;
    }
    dp_charges_free(&entry.plan);
    dp_charges_free(&entry.paid);
    return why;
}

/* A run that has reserved its plan or budget says what it has used of it; until then it counts with all of that. */
static const char *take_used(struct dp_ledger_entry *entry, const json_t *charges, int64_t laps)
{
    struct dp_charges used = {0};
    const char *why = read_charges(charges, &used);
    if (why == NULL && dp_charges_all(&used) != laps)
        why = uncounted;
    if (why == NULL && !(contains(&used, &entry->stops.out) && (entry->holds || contains(&entry->paid, &used))))
        why = unreserved;
    if (why == NULL && !assign(&entry->paid, &used))
        why = malformed;
    dp_charges_free(&used);
    return why;
}

static const char *take_close(struct dp_ledger_book *book, json_t *line)
{
    struct dp_ledger_closing end = {.model = NULL};
    const char *run;
    json_t *model = NULL, *charges = NULL;
    struct dp_ledger_entry *entry;
    if (json_unpack_ex(line, NULL, JSON_STRICT, "{s:s, s:I, s:F, s:F, s:s, s:s, s?o, s?o}", "run", &run, "laps", &end.laps,
                       "epsilon", &end.epsilon, "delta", &end.delta, "accountant", &end.accountant, "status", &end.status,
                       "model", &model, "charges", &charges) != 0 ||
        (charges != NULL) != (book->format >= ONCE) ||
        (model != NULL &&
         (json_unpack_ex(model, NULL, JSON_STRICT, "{s:I, s:s}", "lap", &end.model_lap, "digest", &end.model) != 0 ||
          end.model_lap < 1)))
        return malformed;
    const char *why = run_of(book, run, &entry);
    if (why == NULL)
        why = charges != NULL ? take_used(entry, charges, end.laps) : dp_ledger_old_close(entry, end.laps);
    if (why == NULL && entry->whole)
        why = dp_ledger_book_join(book, entry, &entry->paid);
    if (why != NULL)
        return why;
    entry->close = json_incref(line);
    note_line(book, entry);
    entry->holds = false;
    entry->closed = end;
    return NULL;
}

/* The format of this line and of the lines after it, if it states one. */
static const char *take_format(struct dp_ledger_book *book, const json_t *format)
{
    if (format == NULL)
        return NULL;
    if (json_integer_value(format) > DP_LEDGER_FORMAT)
        return newer;
    if (json_integer_value(format) <= (book->format > 0 ? book->format : 1))
        return "its format is not above the format of the lines before it";
    book->format = json_integer_value(format);
    return NULL;
}

static const char *take_members(struct dp_ledger_book *book, json_t *line)
{
    json_t *seq = json_object_get(line, "seq");
    const char *prev = json_string_value(json_object_get(line, "prev"));
    const char *kind = json_string_value(json_object_get(line, "kind"));
    if (!json_is_integer(seq) || prev == NULL || kind == NULL)
        return malformed;
    if (json_integer_value(seq) != (json_int_t)book->lines + 1 || strcmp(prev, dp_ledger_book_hash(book)) != 0)
        return "it does not follow the line before it";
    const char *why = take_format(book, json_object_get(line, "format"));
    if (why != NULL)
        return why;
    if (book->most > 0 && book->lines >= book->most)
        return NULL;
    static const char *const kinds[] = {"budget", "open",       "reserve", "charge", "refund",
                                        "close",  "checkpoint", "plan",    "stated"};
    size_t k = 0;
    while (k < sizeof kinds / sizeof *kinds && strcmp(kind, kinds[k]) != 0)
        k++;
    json_object_del(line, "seq");
    json_object_del(line, "prev");
    json_object_del(line, "format");
    json_object_del(line, "hash");
    json_object_del(line, "kind"); /* do not use kind from here on */
    switch (k) {
    case 0:
        return take_budget(book, line);
    case 1:
        return take_open(book, line);
    case 2:
    case 3:
    case 4:
        return take_charge(book, line, kinds[k]);
    case 5:
        return take_close(book, line);
    case 6:
        return take_checkpoint(book, line);
    case 7:
        return take_plan(book, line);
    case 8:
        return take_stated(book, line);
    default:
        return "it is of no kind that this version knows";
    }
}

static const char *take_line(struct dp_ledger_book *book, const char *bytes, size_t length)
{
    char hash[DP_LEDGER_HASH + 1];
    if (length <= TAIL || memcmp(bytes + length - TAIL, HASH_KEY, sizeof HASH_KEY - 1) != 0 ||
        memcmp(bytes + length - 2, "\"}", 2) != 0)
        return malformed;
    hash_of(bytes, length - TAIL, hash);
    if (memcmp(bytes + length - 2 - DP_LEDGER_HASH, hash, DP_LEDGER_HASH) != 0)
        return "its hash does not fit";
    json_t *line;
    if (dp_json_parse(&line, bytes, length, "", NULL) != DP_OK)
        return malformed;
    const char *why = json_is_object(line) ? take_members(book, line) : malformed;
    json_decref(line);
    if (why == NULL) {
        dp_extend(&book->hash, &book->lines_capacity, book->lines + 1, sizeof *book->hash);
        memcpy(book->hash[book->lines++], hash, sizeof hash);
        book->end += length + 1;
        book->last_length = length + 1;
    }
    return why;
}

/* Whether the bytes can be the beginning of the next line, whose write was cut short. Storage that lost power may have zeros in
 * place of a write. Anything else at the end must not be cut off. */
static bool is_torn(const struct dp_ledger_book *book, const char *bytes, size_t length)
{
    char start[64 + DP_LEDGER_HASH];
    int known = snprintf(start, sizeof start, "{\"seq\":%zu,\"prev\":\"%s\"", book->lines + 1, dp_ledger_book_hash(book));
    for (size_t i = 0; i < length && i < (size_t)known; i++) {
        if (bytes[i] == start[i])
            continue;
        while (i < length && bytes[i] == '\0')
            i++;
        return i == length;
    }
    return true;
}

/* start: of the line. */
static int damaged(const struct dp_ledger_book *book, const char *start, const char *why, struct dp_err *err)
{
    bool other = book->lines == 0 && start[0] != '{';
    return dp_fail(err, DP_E_UNSAFE, "line %zu of the ledger %s was edited or damaged: %s%s", book->lines + 1, book->path, why,
                   other ? " (is this file a ledger?)" : "");
}

int dp_ledger_book_take(struct dp_ledger_book *book, const char *bytes, size_t length, struct dp_err *err)
{
    const char *end;
    for (; length > 0 && (end = memchr(bytes, '\n', length)) != NULL; bytes = end + 1) {
        const char *why = take_line(book, bytes, (size_t)(end - bytes));
        if (why == newer)
            return dp_fail(err, DP_E_UNSAFE,
                           "line %zu of the ledger %s is of a newer format than %d, the newest that this version knows",
                           book->lines + 1, book->path, DP_LEDGER_FORMAT);
        if (why != NULL)
            return damaged(book, bytes, why, err);
        length -= (size_t)(end - bytes) + 1;
    }
    book->torn = length > 0;
    if (length > 0 && !is_torn(book, bytes, length))
        return damaged(book, bytes, malformed, err);
    return DP_OK;
}

/* Accepts only the form that dp_ledger_mark writes. */
int dp_ledger_place_read(const char *text, struct dp_ledger_place *mark, struct dp_err *err)
{
    char again[DP_LEDGER_MARK];
    if (sscanf(text, "%32[0-9a-f]:%18llu:%64[0-9a-f]", mark->run, &mark->seq, mark->hash) != 3 ||
        snprintf(again, sizeof again, "%s:%llu:%s", mark->run, mark->seq, mark->hash) < 0 || strcmp(again, text) != 0 ||
        !dp_text_is_hex(mark->run, DP_LEDGER_RUN) || !dp_text_is_hex(mark->hash, DP_LEDGER_HASH) || mark->seq == 0)
        return dp_fail(err, DP_E_RUN, "'%.130s' is not a mark of a ledger", text);
    return DP_OK;
}

bool dp_ledger_book_has(const struct dp_ledger_book *book, const struct dp_ledger_place *mark)
{
    return mark->seq <= book->lines && strcmp(book->hash[mark->seq - 1], mark->hash) == 0;
}

int dp_ledger_book_mark(const struct dp_ledger_book *book, const char *text, struct dp_ledger_entry **entry, struct dp_err *err)
{
    const struct dp_ledger_opening *opening = NULL;
    struct dp_ledger_place mark;
    int rc = dp_ledger_place_read(text, &mark, err);
    *entry = NULL;
    if (rc != DP_OK)
        return rc;
    if (dp_ledger_book_has(book, &mark))
        *entry = find_any(book, mark.run, &opening);
    if (*entry == NULL || mark.seq < opening->first || mark.seq > opening->last)
        return dp_fail(err, DP_E_UNSAFE,
                       "the ledger %s does not hold line %llu of the model: rolled back to an older state, or not "
                       "the model's ledger",
                       book->path, mark.seq);
    return DP_OK;
}

const struct dp_ledger_entry *dp_ledger_book_parent(const struct dp_ledger_book *book, const struct dp_ledger_entry *entry)
{
    struct dp_ledger_entry *parent = NULL;
    if (entry->start.init == NULL || entry->whole || dp_ledger_book_mark(book, entry->start.init, &parent, NULL) != DP_OK)
        return NULL;
    return parent;
}

int dp_ledger_book_model(const struct dp_ledger_book *book, const char *mark, int64_t lap, const char *digest, bool *bound,
                         struct dp_err *err)
{
    struct dp_ledger_entry *entry;
    int rc = dp_ledger_book_mark(book, mark, &entry, err);
    if (rc != DP_OK)
        return rc;
    /* A resumed run may have released another model of this lap before, under its earlier name. */
    bool has = entry->closed.model != NULL && entry->closed.model_lap == lap && strncmp(mark, entry->run, DP_LEDGER_RUN) == 0;
    if (bound != NULL)
        *bound = has;
    return !has || strcmp(entry->closed.model, digest) == 0
               ? DP_OK
               : dp_fail(err, DP_E_UNSAFE,
                         "the model of lap %lld is not the one that its run released: the ledger %s has a digest of other "
                         "weights",
                         (long long)lap, book->path);
}

int dp_ledger_book_checkpoint(const struct dp_ledger_book *book, const char *text, bool any, struct dp_ledger_entry **entry,
                              struct dp_err *err)
{
    struct dp_ledger_place mark;
    int rc = dp_ledger_place_read(text, &mark, err);
    *entry = NULL;
    if (rc != DP_OK)
        return rc;
    struct dp_ledger_entry *e = dp_ledger_book_has(book, &mark) ? find_any(book, mark.run, NULL) : NULL;
    if (e == NULL)
        return dp_fail(err, DP_E_UNSAFE,
                       "the ledger %s does not hold line %llu of the checkpoint: rolled back to an older state, or "
                       "not the checkpoint's ledger",
                       book->path, mark.seq);
    if (!any && strcmp(e->run, mark.run) != 0)
        return dp_fail(err, DP_E_UNSAFE, "the run %s was resumed before: by the ledger %s a run is resumed once", mark.run,
                       book->path);
    if (!any && e->stops.newest.seq != mark.seq && e->stops.before.seq != mark.seq)
        return dp_fail(err, DP_E_UNSAFE,
                       e->stops.newest.seq > mark.seq
                           ? "line %llu of the ledger %s is not the newest checkpoint of its run: it has "
                             "gone on since"
                           : "line %llu of the ledger %s is not a checkpoint",
                       mark.seq, book->path);
    if (e->close != NULL && strcmp(e->closed.status, "interrupted") != 0)
        return dp_fail(err, DP_E_UNSAFE, "the run %s has ended by the ledger %s: nothing is left to resume", mark.run,
                       book->path);
    if (e->close == NULL && e->order > 0 && e->holds)
        return dp_fail(
            err, DP_E_UNSAFE,
            "the run %s was killed, and by the ledger %s nobody knows how much of its filter it had used: all of its "
            "budget is spent",
            mark.run, book->path);
    *entry = e;
    return DP_OK;
}

void dp_ledger_book_free(struct dp_ledger_book *book)
{
    for (size_t i = 0; i < book->entries; i++) {
        struct dp_ledger_entry *entry = &book->entry[i];
        for (size_t k = 0; k < entry->opened.count; k++)
            json_decref(entry->opened.list[k].line);
        json_decref(entry->close);
        free(entry->opened.list);
        dp_charges_free(&entry->plan);
        dp_charges_free(&entry->paid);
        dp_charges_free(&entry->stops.out);
        dp_charges_free(&entry->stops.until);
        dp_charges_free(&entry->stops.newest.used);
        dp_charges_free(&entry->stops.before.used);
        dp_ledger_old_free(entry->old);
    }
    for (size_t i = 0; i < book->limits; i++)
        json_decref(book->limit[i].lines);
    free(book->entry);
    free(book->limit);
    free(book->hash);
    free(book->name);
    *book = (struct dp_ledger_book){0};
}
