#include "deployment.h"

#include "account/account.h"
#include "base/mem.h"
#include "base/round.h"
#include "base/unit.h"
#include "members.h"

static double up(const json_t *json, const char *key)
{
    return dp_round_up(number(json, key), 6);
}

/* A text to which sentences are added, and the JSON string of all of them. */
struct sentences {
    char *all;
    size_t size;
    FILE *out;
};

static FILE *begin(struct sentences *s)
{
    s->out = dp_got(open_memstream(&s->all, &s->size));
    return s->out;
}

static json_t *end(struct sentences *s)
{
    dp_close_text(s->out);
    json_t *json = json_string(s->all);
    free(s->all);
    return json;
}

/* Members that a ledger cannot know: under these paths, null and a sentence. */
static const struct {
    const char *part, *member, *why;
} unknown[] = {
    {"product", "name", "the ledger has no name of the model"},
    {"product", "data_curators", "the ledger does not say who publishes the model"},
    {"product", "description", "what the model is of is not in the ledger: dp-account report --model says what it predicts"},
    {"product", "intended_use", "no program knows what the model is for"},
    {"product", "data_product_region", "the ledger does not say where the people live"},
    {"product", "data_product_sector", "the ledger does not say who publishes the model"},
    {"product", "publication_date", "the ledger knows when a run began, not when its model is published"},
    {"model", "model_name", "the ledger does not say whether the rows were at one place or at several sites"},
    {"model", "model_name_description", "the ledger does not say whether the rows were at one place or at several sites"},
    {"model", "actors", "the ledger does not say who sees data, pipeline and model"},
    {"model", "release_type", "the ledger does not say whether more models will be released"},
    {"model", "release_type_description", "the ledger does not say whether more models will be released"},
    {"model", "data_source_type", "the ledger does not say whether rows are added to the table later"},
    {"model", "data_source_type_description", "the ledger does not say whether rows are added to the table later"},
    {"implementation", "justification", "the ledger does not say why the numbers were chosen"},
};

/* Notes why a member is null. */
static void lack(json_t *entry, const char *part, const char *member, const char *why)
{
    char *path = dp_format("%s.%s", part, member);
    json_object_set_new(json_object_get(json_object_get(entry, "deployment"), part), member, json_null());
    json_object_set_new(json_object_get(entry, "unknown"), path, json_string(why));
    free(path);
}

static json_t *flavour(const json_t *c, bool replace, bool persons)
{
    struct sentences measure, bound, domain, unprotected;
    size_t i;
    json_t *what, *other;
    const char *unit = persons ? "person" : "row";
    fprintf(begin(&measure), "hockey-stick divergence at e^epsilon, in both directions");
    fprintf(begin(&bound), "%.6g at epsilon = %.6g", up(c, "delta"), up(c, "epsilon"));
    fprintf(begin(&domain), "tables of %lld %ss of the population %s", (long long)json_integer_value(get(c, "rows")), unit,
            text(c, "population"));
    json_array_foreach (get(c, "other_data"), i, other)
        fprintf(domain.out, ", and tables of %lld of the population %s, which have a cost of their own",
                (long long)json_integer_value(get(other, "rows")), text(other, "population"));
    fprintf(begin(&unprotected), "the number of %ss, and the schema of the table: its columns, bounds and names", unit);
    json_array_foreach (get(c, "private_preprocessing"), i, what)
        fprintf(unprotected.out, "; read from the rows: %s", json_string_value(what));
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "name", number(c, "delta") == 0 ? "Pure DP" : "Approximate DP",
                     "input_metric",
                     replace ? "number of units that differ, among tables of the same number of units"
                             : "number of units that are there in one table, and contribute nothing in the other",
                     "bound_on_input_distance", "1", "output_measure", end(&measure), "bound_on_output_distance", end(&bound),
                     "data_domain", end(&domain), "unprotected_quantities", end(&unprotected));
}

static json_t *loss(const json_t *c, bool replace, bool persons)
{
    struct sentences unit, more;
    const json_t *with = get(c, "with_stated_releases"), *together = get(c, "if_planned_together");
    json_t *other;
    size_t most = 1, i;
    dp_unit_read(persons ? text(c, "unit") : NULL, &most);
    begin(&unit);
    if (persons)
        fprintf(unit.out, "all rows of one person, at most %zu, ", most);
    else
        fprintf(unit.out, "one row, which is taken for one person, ");
    fprintf(unit.out, replace ? "exchanged for others (replace-one)" : "present or contributing nothing (null-record)");
    fprintf(begin(&more), "epsilon is rounded up, and the truth is at least %.6g.",
            dp_round_down(number(c, "epsilon_lower"), 6));
    if (get(c, "mu") != NULL)
        fprintf(more.out, " Gaussian DP: mu = %.6g, except with probability %.6g.", up(c, "mu"), up(c, "mu_delta"));
    if (together != NULL)
        fprintf(more.out, " If its runs had been planned together: epsilon = %.6g at delta = %.6g.", up(together, "epsilon"),
                up(together, "delta"));
    if (with != NULL)
        fprintf(more.out,
                " With what other tools state that they have released about the same people: epsilon = %.6g at delta = %.6g.",
                up(with, "epsilon"), up(with, "delta"));
    json_array_foreach (get(c, "stated_apart"), i, other)
        fprintf(more.out, "%s epsilon = %.6g at delta = %.6g under %s adjacency, about %s",
                i > 0
                    ? ";"
                    : " In no sum above, because costs under another adjacency or with another unit do not add up with these:",
                up(other, "epsilon"), up(other, "delta"), text(other, "adjacency"),
                strcmp(text(other, "unit"), dp_unit_name(NULL)) != 0 ? "all rows of a person" : "one row");
    fputs(i > 0 ? "." : "", more.out);
    return json_pack("{s:s, s:o, s:{s:f, s:f}, s:o}", "privacy_unit", persons ? "person-level" : "row-level",
                     "privacy_unit_description", end(&unit), "privacy_parameters", "epsilon",
                     isfinite(up(c, "epsilon")) ? up(c, "epsilon") : 0, "delta", up(c, "delta"),
                     "privacy_parameters_description", end(&more));
}

static json_t *accounting(const json_t *c)
{
    struct sentences s;
    const char *by = text(c, "accountant");
    size_t runs = json_array_size(get(c, "runs"));
    begin(&s);
    if (strcmp(by, dp_accountant_names[DP_ACCOUNTANT_ADDED]) == 0)
        fprintf(s.out, "the epsilons and deltas of %zu runs are added", runs);
    else
        fprintf(s.out, "composition of all laps, by %s", by);
    for (int a = 0; a < DP_ACCOUNTANT_FILTER; a++)
        if (strcmp(by, dp_accountant_names[a]) == 0)
            fprintf(s.out, " (%s)", dp_accountant_titles[a]);
    return json_pack("{s:s, s:o}", "post_processing",
                     "what is computed from released values costs nothing more; the rules are not in the ledger", "composition",
                     end(&s));
}

/* One charge of the ledger, in words. */
static void describe(const json_t *charge, FILE *out)
{
    const char *key;
    json_t *query, *value;
    size_t i;
    fprintf(out, "%lld laps, sampling %s,", (long long)json_integer_value(get(charge, "laps")), text(charge, "sampling"));
    json_object_foreach ((json_t *)charge, key, value)
        if (json_is_number(value) && strcmp(key, "laps") != 0)
            fprintf(out, " %s %.6g", key, json_number_value(value));
    json_array_foreach (get(charge, "queries"), i, query) {
        fprintf(out, "%s%s", i == 0 ? " " : " and ", text(query, "noise"));
        json_object_foreach (query, key, value)
            if (json_is_number(value))
                fprintf(out, " %s %.6g", key, json_number_value(value));
    }
}

static json_t *implementation(const json_t *c)
{
    struct sentences how, before;
    json_t *charge;
    size_t i;
    bool tuned = false;
    begin(&how);
    json_array_foreach (get(c, "mechanisms"), i, charge) {
        fputs(i > 0 ? "; " : "", how.out);
        describe(charge, how.out);
        tuned = tuned || strcmp(text(charge, "sampling"), "tuned") == 0;
    }
    fprintf(how.out, ". By %s", text(c, "software"));
    begin(&before);
    fputs(tuned ? "settings were chosen on private rows, and the choice is charged" : "no choice of settings was charged",
          before.out);
    if (json_array_size(get(c, "private_preprocessing")) > 0)
        fputs("; see unprotected_quantities for what was read from the rows before", before.out);
    fputs("; the ledger does not know what was done without it", before.out);
    return json_pack("{s:o, s:o}", "pre_processing_eda_hyperparameter_tuning", end(&before), "mechanisms", end(&how));
}

json_t *deployment_entry(const json_t *c)
{
    bool replace = strcmp(text(c, "adjacency"), "replace-one") == 0, persons = strcmp(text(c, "unit"), dp_unit_name(NULL)) != 0;
    json_t *entry = json_pack("{s:{s:{s:s}, s:o, s:o, s:{s:s, s:s}, s:o, s:o}, s:{}}", "deployment", "product",
                              "data_product_type", "Machine learning model", "dp_flavor", flavour(c, replace, persons),
                              "privacy_loss", loss(c, replace, persons), "model", "access_type", "Non-interactive",
                              "access_type_description", "the model is released; nobody asks the rows", "accounting",
                              accounting(c), "implementation", implementation(c), "unknown");
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        lack(entry, unknown[i].part, unknown[i].member, unknown[i].why);
    if (json_is_true(get(c, "seeded")))
        lack(entry, "privacy_loss", "privacy_parameters", "the run had a seed, so it is not private");
    else if (!isfinite(number(c, "epsilon")))
        lack(entry, "privacy_loss", "privacy_parameters", "no accountant bounds the cost");
    return entry;
}
