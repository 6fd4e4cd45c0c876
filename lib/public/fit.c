#include <dpline/fit.h>

#include "base/init.h"
#include "convert.h"
#include "fit/fit.h"

double dpline_fit_delta(int64_t persons)
{
    char text[24];
    snprintf(text, sizeof text, "1e-%d", dp_fit_delta_exponent(persons));
    return strtod(text, NULL);
}

/* *Sets *loss if the rules are for a loss of that name. */
static int take_loss(const char *name, enum dp_loss *loss, struct dp_err *err)
{
    size_t length = strlen(name);
    for (const char *at = DP_FIT_LOSSES; *at != '\0'; at += strcspn(at, "|"), at += *at == '|')
        if (strcspn(at, "|") == length && strncmp(at, name, length) == 0)
            return dp_loss_parse(name, loss);
    return dp_fail(err, DP_E_USAGE, "the loss must be one of " DP_FIT_LOSSES ", got '%.40s'", name);
}

int dpline_fit_choose(const struct dpline_fit_facts *facts, double epsilon, double delta, int replace_one, const char *loss,
                      struct dpline_fit *fit, struct dpline_error *error)
{
    struct dp_err err = {0};
    struct dp_fit chosen;
    enum dp_loss used = dp_fit_loss(facts->classes);
    const struct dp_fit_facts known = {.persons = facts->persons,
                                       .columns = facts->columns,
                                       .classes = facts->classes,
                                       .rows_per_person = facts->rows_per_person,
                                       .constant = facts->constant != 0,
                                       .images = facts->images != 0};
    const struct dp_fit_budget budget = {.epsilon = epsilon,
                                         .delta = delta != 0 || facts->persons < 1 ? delta : dpline_fit_delta(facts->persons),
                                         .replace_one = replace_one != 0};
    dp_init();
    int rc = loss != NULL ? take_loss(loss, &used, &err) : DP_OK;
    rc = rc ?: dp_fit_choose(&known, &budget, used, &chosen, &err);
    if (rc != DP_OK)
        return dp_public_result(error, rc, &err);
    *fit = (struct dpline_fit){.run = (enum dpline_fit_run)chosen.run,
                               .loss = dp_loss_names[chosen.loss],
                               .delta = budget.delta,
                               .intercept = chosen.intercept,
                               .reach = chosen.reach,
                               .laps = chosen.laps,
                               .moments = chosen.moments,
                               .gradient = chosen.gradient,
                               .counts = chosen.counts,
                               .clip = chosen.clip,
                               .scale = chosen.scale,
                               .step = chosen.step,
                               .floor = chosen.floor,
                               .radius = chosen.radius,
                               .unit = chosen.unit,
                               .late = chosen.late,
                               .quantile = chosen.quantile,
                               .quantile_rate = chosen.quantile_rate,
                               .tail = chosen.tail,
                               .temperature = chosen.temperature};
    return dp_public_result(error, DP_OK, &err);
}
