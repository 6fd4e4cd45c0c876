#include "ledger/schema_cost.h"

#include "account/account.h"
#include "ledger/charge_json.h"

static bool read_cost(struct dp_schema_cost *cost, const json_t *paid)
{
    const json_t *of = json_object_get(paid, "of"), *list = json_object_get(paid, "charges");
    double mu, named;
    cost->epsilon = json_number_value(json_object_get(of, "epsilon"));
    cost->delta = json_number_value(json_object_get(of, "delta"));
    if (!(cost->epsilon > 0 && cost->delta > 0 && cost->delta < 1) || json_array_size(list) == 0)
        return false;
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct dp_charge charge;
        if (dp_charge_from_json(json_array_get(list, i), NULL, &charge, NULL) != DP_OK)
            return false;
        int rc = dp_charges_add_run(&cost->charges, &charge.event, charge.laps, NULL);
        dp_event_free(&charge.event);
        if (rc != DP_OK)
            return false;
    }
    return dp_schema_cost_mu(&cost->charges, &mu, &named);
}

bool dp_schema_cost_parse(struct dp_schema_cost *cost, const char *text)
{
    json_t *paid = text != NULL ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;
    bool good = read_cost(cost, paid);
    json_decref(paid);
    return good;
}

void dp_schema_cost_add(json_t *paid, const json_t *prior, const struct dp_event *event, double epsilon, double delta)
{
    json_t *list = prior != NULL ? json_deep_copy(json_object_get(prior, "charges")) : json_array();
    json_t *of = prior != NULL ? json_deep_copy(json_object_get(prior, "of"))
                 : epsilon > 0 ? json_pack("{s:f, s:f}", "epsilon", epsilon, "delta", delta)
                               : NULL;
    if (list != NULL && of != NULL) {
        json_array_append_new(list, dp_charge_to_json(&(struct dp_charge){*event, 1}));
        json_object_set(paid, "of", of);
        json_object_set(paid, "charges", list);
    }
    json_decref(list);
    json_decref(of);
}

bool dp_schema_cost_mu(const struct dp_charges *charges, double *mu, double *named)
{
    struct dp_charges plain = {0};
    bool good = dp_charges_without_delta(charges, &plain, named, NULL) == DP_OK && dp_account_gaussian_mu(&plain, mu);
    dp_charges_free(&plain);
    return good;
}

bool dp_schema_cost_joins(const char *text, double epsilon, double *delta, double *mu, double *named)
{
    struct dp_schema_cost cost = {0};
    const bool joins = dp_schema_cost_parse(&cost, text) && cost.epsilon == epsilon &&
                       (isnan(*delta) || cost.delta == *delta) && dp_schema_cost_mu(&cost.charges, mu, named);
    if (joins)
        *delta = cost.delta;
    else
        *mu = *named = 0;
    dp_charges_free(&cost.charges);
    return joins;
}
