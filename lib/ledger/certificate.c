#include "ledger/certificate.h"

#include "base/unit.h"
#include "base/version.h"
#include "ledger/sum.h"

/* The cost of the runs on one population for the model. */
struct cost {
    struct dp_ledger_sum sum;
    double delta, added_epsilon, added_delta, prior_epsilon, prior_delta;
    int count, seeded;
    const char *unit; /* unit of the runs: for persons, the unit with the most rows; NULL: a row */
    json_t *runs, *preprocessing;
};

static void cost_free(struct cost *cost)
{
    dp_ledger_sum_free(&cost->sum);
    json_decref(cost->runs);
    json_decref(cost->preprocessing);
}

/* Adds a run with its stated cost: everything that it has released, even if the model is of an earlier lap. */
static int add_run(struct cost *cost, const struct dp_ledger_entry *entry, struct dp_err *err)
{
    struct dp_answer answer;
    int rc = dp_ledger_sum_add(&cost->sum, entry, err);
    rc = rc ?: dp_ledger_run_epsilon(entry, &answer, err);
    if (rc != DP_OK)
        return rc;
    cost->added_epsilon = (cost->added_epsilon + answer.upper) * (1 + 0x1p-52);
    cost->added_delta = (cost->added_delta + entry->delta) * (1 + 0x1p-52);
    cost->count++;
    cost->delta = fmax(cost->delta, entry->delta);
    cost->prior_epsilon += entry->start.epsilon;
    cost->prior_delta += entry->start.delta;
    cost->unit = dp_unit_larger(cost->unit, entry->of.unit);
    cost->seeded |= entry->seeded;
    json_array_append_new(cost->runs, json_pack("{s:s, s:s, s:b, s:s, s:I, s:s, s:s, s:s*}", "run", entry->run, "data",
                                                entry->of.data, "closed", entry->close != NULL, "status",
                                                dp_ledger_status(entry), "laps", (json_int_t)dp_ledger_entry_laps(entry),
                                                "stated_at", dp_ledger_basis_names[dp_ledger_basis(entry)], "software",
                                                entry->software, "public_start", entry->start.public_start));
    if (entry->of.preprocessing[0] != '\0')
        dp_ledger_add_text(cost->preprocessing, entry->of.preprocessing);
    return DP_OK;
}

/* "if_planned_together": the cost of all runs if each was planned before the first one began. */
static json_t *together_json(const struct cost *cost, const struct dp_answer *all)
{
    return json_pack("{s:o, s:o, s:f, s:s}", "epsilon", dp_ledger_real_json(cost->prior_epsilon + all->upper), "epsilon_lower",
                     dp_ledger_real_json(all->lower), "delta", cost->delta + cost->prior_delta, "accountant",
                     dp_accountant_names[all->by]);
}

/* A later run may have been planned after its initial model was seen. Adding its epsilon and delta to the model's is sound even
 * then; one list of mechanisms with a single delta is sound only if all of them were planned beforehand. */
static int bound(const struct cost *cost, json_t *members, struct dp_err *err)
{
    struct dp_answer all, added;
    bool chain = cost->count > 1;
    int rc = dp_ledger_sum_epsilon(&cost->sum, cost->delta, &all, err);
    if (rc == DP_OK && chain) {
        json_object_set_new(members, "if_planned_together", together_json(cost, &all));
        /* At the sum of the deltas, the cost of mechanisms that were not chosen adaptively is still a lower bound. */
        rc = dp_ledger_sum_epsilon(&cost->sum, fmin(cost->added_delta, 0.5), &added, err);
    }
    if (rc != DP_OK)
        return rc;
    double sound = chain ? cost->added_epsilon : all.upper;
    if (!chain && cost->prior_epsilon == 0 && cost->prior_delta == 0)
        rc = dp_ledger_sum_curve(&cost->sum, cost->delta, members, err);
    json_object_set_new(members, "epsilon", dp_ledger_real_json(cost->prior_epsilon + sound));
    json_object_set_new(members, "epsilon_lower", dp_ledger_real_json(chain ? added.lower : all.lower));
    json_object_set_new(members, "delta", json_real((chain ? cost->added_delta : cost->delta) + cost->prior_delta));
    json_object_set_new(members, "accountant", json_string(dp_accountant_names[chain ? DP_ACCOUNTANT_ADDED : all.by]));
    if (cost->prior_epsilon > 0 || cost->prior_delta > 0)
        json_object_set_new(members, "not_in_ledger",
                            json_pack("{s:f, s:f}", "epsilon", cost->prior_epsilon, "delta", cost->prior_delta));
    return rc;
}

static int describe(const struct cost *cost, const struct dp_ledger_entry *first, json_t *into, struct dp_err *err)
{
    json_t *members = json_pack("{s:s, s:s, s:I, s:s, s:s, s:O, s:o, s:O, s:b}", "population", first->of.population, "data",
                                first->of.data, "rows", first->of.rows, "unit", dp_unit_name(cost->unit), "adjacency",
                                first->of.adjacency, "runs", cost->runs, "mechanisms", dp_ledger_charges_json(&cost->sum.all),
                                "private_preprocessing", cost->preprocessing, "seeded", cost->seeded);
    int rc = bound(cost, members, err);
    json_object_update(into, members);
    json_decref(members);
    return rc;
}

/* Sets the members about one population, for the runs from `newest` back. */
static int state(const struct dp_ledger_book *book, const struct dp_ledger_entry *newest, size_t who, json_t *into,
                 struct dp_err *err)
{
    struct cost cost = {.runs = json_array(), .preprocessing = json_array()};
    const struct dp_ledger_entry *first = NULL;
    int rc = DP_OK;
    for (const struct dp_ledger_entry *e = newest; rc == DP_OK && e != NULL; e = dp_ledger_book_parent(book, e)) {
        if (dp_ledger_book_root(book, e->of.who) != who)
            continue;
        if (first == NULL)
            first = e;
        if (strcmp(e->of.adjacency, first->of.adjacency) != 0)
            rc = dp_fail(err, DP_E_UNSAFE, "the runs %s and %s have different adjacencies: their costs do not compose",
                         first->run, e->run);
        else if ((e->of.unit != NULL) != (first->of.unit != NULL))
            rc = dp_fail(err, DP_E_UNSAFE, "the runs %s and %s have different units of privacy: their costs do not compose",
                         first->run, e->run);
        else
            rc = add_run(&cost, e, err);
    }
    rc = rc ?: describe(&cost, first, into, err);
    cost_free(&cost);
    return rc;
}

/* Adds the releases of other tools about the people of the model, as their tools state them, and the sum of all costs that add
 * up: those under another adjacency or with another unit are apart. */
static int add_releases(const struct dp_ledger_book *book, const struct dp_ledger_entry *own, json_t *made, struct dp_err *err)
{
    json_t *releases = json_array(), *others = json_array();
    const json_t *cost = json_object_get(made, "epsilon");
    double epsilon = json_is_number(cost) ? json_number_value(cost) : (double)INFINITY,
           delta = json_number_value(json_object_get(made, "delta"));
    int rc = DP_OK;
    for (size_t i = 0; rc == DP_OK && i < book->entries; i++) {
        const struct dp_ledger_entry *e = &book->entry[i];
        struct dp_answer answer;
        if (e->stated == NULL || dp_ledger_book_root(book, e->of.who) != dp_ledger_book_root(book, own->of.who))
            continue;
        rc = dp_ledger_run_epsilon(e, &answer, err);
        bool apart = strcmp(e->of.adjacency, own->of.adjacency) != 0 || (e->of.unit != NULL) != (own->of.unit != NULL);
        json_t *release =
            json_pack("{s:s, s:s, s:o, s:o, s:f}", "run", e->run, "what", e->stated, "mechanisms",
                      dp_ledger_charges_json(&e->paid), "epsilon", dp_ledger_real_json(answer.upper), "delta", e->delta);
        json_array_append_new(apart ? others : releases, release);
        if (apart) {
            json_object_set_new(release, "adjacency", json_string(e->of.adjacency));
            json_object_set_new(release, "unit", json_string(dp_unit_name(e->of.unit)));
            continue;
        }
        epsilon = (epsilon + answer.upper) * (1 + 0x1p-52);
        delta = (delta + e->delta) * (1 + 0x1p-52);
    }
    if (json_array_size(releases) > 0) {
        json_object_set(made, "stated_releases", releases);
        json_object_set_new(made, "with_stated_releases",
                            json_pack("{s:o, s:f}", "epsilon", dp_ledger_real_json(epsilon), "delta", delta));
    }
    if (json_array_size(others) > 0)
        json_object_set(made, "stated_apart", others);
    json_decref(others);
    json_decref(releases);
    return rc;
}

/* Adds the other populations of the runs that the model started from, each once, with its newest run. */
static int add_others(const struct dp_ledger_book *book, const struct dp_ledger_entry *own, json_t *others, struct dp_err *err)
{
    int rc = DP_OK;
    for (const struct dp_ledger_entry *e = dp_ledger_book_parent(book, own); rc == DP_OK && e != NULL;
         e = dp_ledger_book_parent(book, e)) {
        size_t who = dp_ledger_book_root(book, e->of.who);
        bool known = who == dp_ledger_book_root(book, own->of.who);
        for (const struct dp_ledger_entry *f = dp_ledger_book_parent(book, own); !known && f != e;
             f = dp_ledger_book_parent(book, f))
            known = dp_ledger_book_root(book, f->of.who) == who;
        if (known)
            continue;
        json_t *other = json_object();
        rc = state(book, own, who, other, err);
        rc = rc ?: add_releases(book, e, other, err);
        json_array_append_new(others, other);
    }
    return rc;
}

/* The cost of the laps up to the model's, if this number of laps had been fixed beforehand. The lap number
 * does not tell how many laps a resumed run had released before, nor, with several events, to which events they belong. */
static int add_fixed_lap(const struct dp_ledger_entry *entry, int64_t lap, json_t *made, struct dp_err *err)
{
    struct dp_charges laps = {0};
    struct dp_answer answer;
    if (entry->opened.count > 1 || entry->order > 0 || entry->paid.count != 1 || lap >= dp_ledger_entry_laps(entry))
        return DP_OK;
    int rc = dp_charges_add(&laps, &entry->paid.charge[0].event, lap, err);
    rc = rc ?: dp_account_epsilon(DP_ACCOUNTANT_BEST, &laps, entry->delta, &answer, err);
    dp_charges_free(&laps);
    if (rc == DP_OK)
        json_object_set_new(made, "if_the_lap_was_fixed",
                            json_pack("{s:I, s:o, s:o, s:f, s:s}", "laps", (json_int_t)lap, "epsilon",
                                      dp_ledger_real_json(answer.upper), "epsilon_lower", dp_ledger_real_json(answer.lower),
                                      "delta", entry->delta, "accountant", dp_accountant_names[answer.by]));
    return rc;
}

/* Describes the model and its run, and whether the model is the run's. */
static int describe_model(const struct dp_ledger_book *book, const struct dp_ledger_entry *entry,
                          const struct dp_certified *what, json_t *made, struct dp_err *err)
{
    bool bound = false;
    if (!entry->holds && what->lap > dp_ledger_entry_laps(entry))
        return dp_fail(err, DP_E_UNSAFE, "the model is of lap %lld and its run has paid for %lld", (long long)what->lap,
                       (long long)dp_ledger_entry_laps(entry));
    int rc = dp_ledger_book_model(book, what->mark, what->lap, what->model, &bound, err);
    json_object_set_new(made, "model_in_ledger", json_boolean(bound));
    json_object_set_new(made, "status", json_string(dp_ledger_status(entry)));
    return rc ?: add_fixed_lap(entry, what->lap, made, err);
}

/* Makes the certificate from the first `lines` lines of the ledger. */
static int make(const struct dp_ledger_book *book, size_t lines, const struct dp_certified *what, json_t **certificate,
                struct dp_err *err)
{
    struct dp_ledger_entry *entry;
    *certificate = NULL;
    if (what->lap < 1)
        return dp_fail(err, DP_E_RUN, "there is nothing to certify in a model of lap %lld", (long long)what->lap);
    int rc = dp_ledger_book_mark(book, what->mark, &entry, err);
    if (rc != DP_OK)
        return rc;
    json_t *others = json_array();
    json_t *made = json_pack("{s:i, s:s, s:s, s:I, s:s, s:{s:I, s:s}}", "certificate", DP_CERTIFICATE_FORMAT, "software",
                             "dpline " DP_VERSION, "model", what->model, "lap", (json_int_t)what->lap, "mark", what->mark,
                             "ledger", "lines", (json_int_t)lines, "hash", book->hash[lines - 1]);
    if (what->release != NULL)
        json_object_set_new(made, "release", json_string(what->release));
    rc = describe_model(book, entry, what, made, err);
    rc = rc ?: state(book, entry, dp_ledger_book_root(book, entry->of.who), made, err);
    rc = rc ?: add_releases(book, entry, made, err);
    rc = rc ?: add_others(book, entry, others, err);
    if (json_array_size(others) > 0)
        json_object_set(made, "other_data", others);
    json_decref(others);
    if (rc != DP_OK) {
        json_decref(made);
        return rc;
    }
    *certificate = made;
    return *certificate != NULL ? DP_OK : dp_fail(err, DP_E_RUN, "a text of the certificate is not UTF-8");
}

int dp_certificate_make(const char *path, const struct dp_certified *what, json_t **certificate, struct dp_err *err)
{
    struct dp_ledger_book book = {0};
    *certificate = NULL;
    int rc = dp_ledger_book_read(&book, path, err);
    rc = rc ?: make(&book, book.lines, what, certificate, err);
    dp_ledger_book_free(&book);
    return rc;
}

static bool same_member(const json_t *made, const json_t *certificate, const char *key);

static bool same(const json_t *a, const json_t *b)
{
    const char *key;
    json_t *value;
    size_t i;
    if (json_is_number(a) && json_is_number(b)) {
        double x = json_number_value(a), y = json_number_value(b);
        return json_is_integer(a) ? json_equal(a, b) : fabs(x - y) <= 1e-6 * fabs(y);
    }
    if (json_is_array(a) && json_is_array(b)) {
        if (json_array_size(a) != json_array_size(b))
            return false;
        json_array_foreach (a, i, value)
            if (!same(value, json_array_get(b, i)))
                return false;
        return true;
    }
    if (json_is_object(a) && json_is_object(b)) {
        if (json_object_size(a) != json_object_size(b))
            return false;
        json_object_foreach ((json_t *)a, key, value)
            if (!same_member(a, b, key))
                return false;
        return true;
    }
    return json_equal(a, b);
}

/* Another version's lower bound may be better or worse. It must not contradict the claim. */
static bool same_member(const json_t *made, const json_t *certificate, const char *key)
{
    const json_t *value = json_object_get(certificate, key), *upper = json_object_get(made, "epsilon");
    if (strcmp(key, "epsilon_lower") == 0 && json_is_number(value) && json_is_number(upper))
        return json_number_value(value) >= 0 && json_number_value(value) <= json_number_value(upper) * (1 + 1e-6);
    return same(json_object_get(made, key), value);
}

/* Members that earlier certificates do not have are not compared: the first ones had neither the population nor the data set of
 * each run, and later ones did not say how runs ended. */
static const struct {
    const char *has, *member[3], *of_run[3];
} later[] = {
    {"population", {"population"}, {"data"}},
    {"status", {"status", "model_in_ledger", "if_the_lap_was_fixed"}, {"status", "laps", "stated_at"}},
    {"curve", {"curve", "mu", "mu_delta"}, {NULL}},
};

static void leave_out(json_t *from, const char *const members[3])
{
    for (int m = 0; m < 3 && members[m] != NULL; m++)
        json_object_del(from, members[m]);
}

/* Certificates had no unit before persons were supported, and said whether a run was kept within what a paper claims, which is
   ignored. */
static void as_earlier(json_t *made, const json_t *certificate)
{
    json_t *claimed = json_object_get(certificate, "as_published");
    if (claimed != NULL)
        json_object_set(made, "as_published", claimed);
    const char *unit = json_string_value(json_object_get(made, "unit"));
    if (unit != NULL && strcmp(unit, dp_unit_name(NULL)) == 0 && json_object_get(certificate, "unit") == NULL)
        json_object_del(made, "unit");
}

static void leave_out_later(json_t *made, const json_t *certificate)
{
    json_t *other, *run;
    size_t i, k;
    as_earlier(made, certificate);
    json_array_foreach (json_object_get(made, "other_data"), i, other) {
        as_earlier(other, json_array_get(json_object_get(certificate, "other_data"), i));
    }
    for (size_t l = 0; l < sizeof later / sizeof *later; l++) {
        if (json_object_get(certificate, later[l].has) != NULL)
            continue;
        leave_out(made, later[l].member);
        json_array_foreach (json_object_get(made, "runs"), k, run) {
            leave_out(run, later[l].of_run);
        }
        json_array_foreach (json_object_get(made, "other_data"), i, other) {
            json_array_foreach (json_object_get(other, "runs"), k, run) {
                leave_out(run, later[l].of_run);
            }
        }
    }
}

static int compare(const json_t *certificate, const json_t *made, const char *path, struct dp_err *err)
{
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)made, key, value)
        if (strcmp(key, "software") != 0 && !same_member(made, certificate, key))
            return dp_fail(err, DP_E_UNSAFE, "the certificate is not what the ledger %s says: '%s' differs", path, key);
    json_object_foreach ((json_t *)certificate, key, value)
        if (json_object_get(made, key) == NULL)
            return dp_fail(err, DP_E_UNSAFE, "the certificate is not what the ledger %s says: it has '%.40s' as well", path,
                           key);
    return DP_OK;
}

/* Checks that the given model is the certified one and, according to the present ledger, the model of its run. */
static int check_model(const struct dp_certified *what, const struct dp_certified *model, const char *path, bool *bound,
                       struct dp_err *err)
{
    struct dp_ledger_book book = {0};
    if (strcmp(model->model, what->model) != 0)
        return dp_fail(err, DP_E_UNSAFE, "the certificate is for another model");
    if (strcmp(model->release ?: "", what->release ?: "") != 0)
        return dp_fail(err, DP_E_UNSAFE, "the certificate says that the model is of %s, and it is of %s",
                       what->release ?: "predictions", model->release ?: "predictions");
    if (strcmp(model->mark, what->mark) != 0 || model->lap != what->lap)
        return dp_fail(err, DP_E_UNSAFE,
                       "the certificate is for lap %lld of the run %.32s, and the model is of lap %lld of the run %.32s",
                       (long long)what->lap, what->mark, (long long)model->lap, model->mark);
    int rc = dp_ledger_book_read(&book, path, err);
    rc = rc ?: dp_ledger_book_model(&book, model->mark, model->lap, model->model, bound, err);
    dp_ledger_book_free(&book);
    return rc;
}

int dp_certificate_verify(const json_t *certificate, const char *path, const struct dp_certified *model, bool *bound,
                          struct dp_err *err)
{
    struct dp_ledger_book book = {0};
    struct dp_certified what;
    const char *software, *hash;
    json_int_t lines, lap;
    json_t *made;
    json_int_t format = json_integer_value(json_object_get(certificate, "certificate"));
    if (format > DP_CERTIFICATE_FORMAT)
        return dp_fail(err, DP_E_RUN, "the certificate is of format %lld; %d is the newest that this version knows",
                       (long long)format, DP_CERTIFICATE_FORMAT);
    if (json_unpack((json_t *)certificate, "{s:s, s:s, s:I, s:s, s:{s:I, s:s}}", "software", &software, "model", &what.model,
                    "lap", &lap, "mark", &what.mark, "ledger", "lines", &lines, "hash", &hash) != 0 ||
        format < 1 || lines < 1)
        return dp_fail(err, DP_E_RUN, "not a certificate");
    what.lap = lap;
    what.release = json_string_value(json_object_get(certificate, "release"));
    book.most = (size_t)lines;
    int rc = model != NULL ? check_model(&what, model, path, bound, err) : DP_OK;
    rc = rc ?: dp_ledger_book_read(&book, path, err);
    if (rc == DP_OK && ((size_t)lines > book.lines || strcmp(book.hash[lines - 1], hash) != 0))
        rc = dp_fail(err, DP_E_UNSAFE,
                     "the ledger %s does not hold line %lld of the certificate: rolled back to an older state, or "
                     "another ledger",
                     path, (long long)lines);
    rc = rc ?: make(&book, (size_t)lines, &what, &made, err);
    dp_ledger_book_free(&book);
    if (rc != DP_OK)
        return rc;
    leave_out_later(made, certificate);
    rc = compare(certificate, made, path, err);
    json_decref(made);
    return rc;
}
