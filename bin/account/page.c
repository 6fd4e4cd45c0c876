#include "page.h"

#include <time.h>

#include "base/text.h"
#include "base/round.h"
#include "base/unit.h"
#include "account/solve.h"
#include "data/row_length.h"
#include "plot.h"
#include "priv/gdp.h"

enum { WEIGHTS = 25, CURVES = 12, CLASSES = 10 };
#define NOTHING "<td class=\"n\">–</td>"

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\"><title>Privacy report</title>\n<style>\n"
    ":root { color-scheme: light dark; --ink: #1c2430; --soft: #5c6878; --line: #c9d0d9; --ground: #fff; --blue: #2563a8; "
    "--warm: #b3541e; --box: #f3f6f9 }\n"
    "@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ee; --soft: #9aa6b5; --line: #3c4654; --ground: #14181e; "
    "--blue: #6aa9ea; --warm: #e8935a; --box: #1d232b } }\n"
    "body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--ground); max-width: 46rem; "
    "margin: 2rem auto; padding: 0 1rem }\n"
    "h1 { font-size: 1.7em; margin: 0 0 .3em } h2 { font-size: 1.15em; margin: 1.6em 0 .4em }\n"
    "p, ul { margin: .4em 0 } table { border-collapse: collapse; margin: .6em 0; font-variant-numeric: tabular-nums }\n"
    "td, th { text-align: left; padding: .2em 1.2em .2em 0; border-bottom: 1px solid var(--line); font-weight: normal }\n"
    "th { color: var(--soft) } td.n, th.n { text-align: right }\n"
    ".box { background: var(--box); border-left: 4px solid var(--blue); padding: .6em 1em; margin: 1em 0 }\n"
    ".warn { border-color: var(--warm) } .big { font-size: 1.6em } .soft { color: var(--soft) }\n"
    "code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere }\n"
    "svg { max-width: 100%; height: auto; display: inline-block; vertical-align: top } svg text { font-size: 11px; fill: "
    "var(--ink) }\n"
    ".axis { fill: none; stroke: var(--line) } .chance { stroke: var(--soft); stroke-dasharray: 4 4 }\n"
    ".o { fill: none; stroke: var(--warm); stroke-width: 1.5; stroke-dasharray: 6 3 } .b { fill: var(--blue); opacity: .25 } .p { fill: none; stroke: var(--blue); stroke-width: 2 } .q { fill: var(--blue) } .r { fill: var(--warm) }\n"
    "@page { margin: 13mm } @media print { :root { --ink: #000; --ground: #fff; --box: #fff } body { font-size: 8pt; margin: 0; "
    "line-height: 1.3; max-width: none } h2 { break-after: avoid; margin-top: .9em } svg { max-height: 4.4cm } td, th { padding: 0 1.2em 0 0; line-height: 1.25 } .big { font-size: 1.3em } "
    "table, svg, .box { break-inside: avoid } }\n"
    "</style></head><body>\n";

static const json_t *get(const json_t *json, const char *name)
{
    return json_object_get(json, name);
}

static double number(const json_t *json, const char *name)
{
    const json_t *value = get(json, name);
    return json_is_string(value) ? (double)INFINITY : json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static const char *text(const json_t *json, const char *name)
{
    const char *value = json_string_value(get(json, name));
    return value != NULL ? value : "";
}

static long long whole(const json_t *json, const char *name)
{
    return (long long)json_integer_value(get(json, name));
}

/* "1 run", "2 runs". */
static void put_count(long long count, const char *what, FILE *out)
{
    fprintf(out, "%lld %s%s", count, what, count == 1 ? "" : "s");
}

/* A cost, never below what it is. */
static void put_cost(double value, FILE *out)
{
    if (isnan(value))
        fputs("unknown", out);
    else if (isinf(value))
        fputs("without bound", out);
    else
        fprintf(out, "%g", dp_round_up(value, 4));
}

static void put_named(const char *before, const char *name, const char *after, FILE *out)
{
    fputs(before, out);
    plot_text(name, out);
    fputs(after, out);
}

/* The total that the page shows: of the certificate's population, else of the first population. Without both, the model states
 * it. */
static const json_t *total_of(const struct page *p)
{
    const json_t *totals = get(p->report, "populations");
    size_t i;
    json_t *total;
    if (p->alone)
        return p->certificate;
    json_array_foreach (totals, i, total)
        if (p->certificate == NULL || (strcmp(text(total, "population"), text(p->certificate, "population")) == 0 &&
                                       strcmp(text(total, "adjacency"), text(p->certificate, "adjacency")) == 0))
            return total;
    return json_array_get(totals, 0);
}

static void put_unit(const json_t *total, FILE *out)
{
    size_t rows;
    if (strcmp(text(total, "unit"), "row") == 0 || !dp_unit_read(text(total, "unit"), &rows))
        fputs("One row is taken for one person. <strong>If a person has several rows, that person is protected less than this "
              "page says.</strong>",
              out);
    else
        fprintf(out, "All rows of a person count together, at most %zu of them.", rows);
}

/* of: the model, whose run may be about some of the people, or their total. */
static void put_people(const json_t *total, const json_t *of, FILE *out)
{
    const json_t *counted = get(of, "rows") != NULL ? of : total;
    bool persons = strcmp(text(total, "unit"), "row") != 0;
    fputs("<h2>Whose data</h2>\n<p>", out);
    put_named("The people of <strong>", text(total, "population"), "</strong>: ", out);
    if (get(counted, "rows") != NULL)
        fprintf(out, "%lld %s. ", whole(counted, "rows"), persons ? "persons" : "rows");
    else
        fputs("their number is not known. ", out);
    put_unit(total, out);
    fputs("</p>\n<p>What one person can change: ", out);
    fputs(strcmp(text(total, "adjacency"), "replace-one") == 0
              ? "everything in that person's rows, as if they were somebody else's."
              : "whether that person's rows count at all. Replacing one person by another is two such changes.",
          out);
    fputs("</p>\n", out);
}

/* The trade-off of the statement: of its curve if it has one, else of its epsilon and delta. */
static struct dp_tradeoff tradeoff_of(const json_t *of)
{
    const json_t *curve = get(of, "curve");
    struct dp_tradeoff t = dp_tradeoff_of_pair(number(of, "epsilon"), number(of, "delta"));
    if (json_array_size(curve) == 0 || json_array_size(curve) > DP_TRADEOFF_PAIRS)
        return t;
    for (t.count = 0; t.count < json_array_size(curve); t.count++) {
        const json_t *pair = json_array_get(curve, t.count);
        t.epsilon[t.count] = json_number_value(json_array_get(pair, 0));
        t.delta[t.count] = json_number_value(json_array_get(pair, 1));
    }
    if (get(of, "mu") != NULL)
        t.mu = number(of, "mu");
    t.but = number(of, "mu_delta");
    return t;
}

static void put_table(const struct dp_tradeoff *t, FILE *out)
{
    static const double alarms[] = {.01, .05, .1, .25};
    fputs("<table><tr><th class=\"n\">false alarms</th><th class=\"n\">found at most</th></tr>\n", out);
    for (size_t i = 0; i < sizeof alarms / sizeof alarms[0]; i++)
        fprintf(out, "<tr><td class=\"n\">%g %%</td><td class=\"n\">%.3g %%</td></tr>\n", 100 * alarms[i],
                100 * dp_round_up(dp_tradeoff_found(t, alarms[i]), 3));
    fprintf(out, "</table>\n<p>From even odds, a guess is right at most %.3g %% of the time.</p>\n",
            100 * dp_round_up(dp_tradeoff_even(t), 3));
}

static void put_meaning(const struct page *p, const json_t *of, FILE *out)
{
    double epsilon = number(of, "epsilon"), delta = number(of, "delta");
    struct dp_tradeoff t = tradeoff_of(of), pair = dp_tradeoff_of_pair(epsilon, delta);
    bool curve = t.count > 1;
    fputs("<h2>What an attacker can learn about one person</h2>\n", out);
    if (!(epsilon < (double)INFINITY)) {
        fputs("<p>No bound is known.</p>\n", out);
        return;
    }
    fputs("<p>Suppose somebody sees everything that was released, knows the data of all other people, and wants to find out "
          "whether one person is among them. Whatever method is used, of the tests that raise a false alarm as often as the "
          "first column says, none finds a person who is there more often than the second column says.</p>\n",
          out);
    put_table(&t, out);
    if (!p->plain) {
        plot_tradeoff(&t, curve ? &pair : NULL, out);
        fputs(curve ? "<p class=\"soft\">Line: this run. Long dashes: the bound of only ε and δ. Short dashes: chance.</p>\n"
                    : "<p class=\"soft\">Line: the bound of ε and δ. Dashes: chance.</p>\n",
              out);
    }
    if (!curve)
        fputs(
            "<p>These numbers follow from only ε and δ, because the cost is a budget or a sum over runs, or the ledger is not "
            "known. The results that were released show less.</p>\n",
            out);
    fprintf(out,
            "<p>ε (epsilon) bounds the factor: the odds of a guess change by at most e<sup>ε</sup> = %.4g. δ (delta), %g, "
            "is the probability with which this may fail.",
            dp_round_up(exp(epsilon), 4), dp_round_up(delta, 6));
    if (curve && isfinite(t.mu)) {
        fprintf(
            out,
            " μ (mu) = %.4g: everything together shows at most what one number with noise of 1/μ times a person's share shows",
            dp_round_up(t.mu, 4));
        if (t.but > 0)
            fprintf(out, ", except with probability %.3g", dp_round_up(t.but, 3));
        fputs(".", out);
    }
    fputs("</p>\n", out);
}

/* The epsilon of k persons at delta: of one Gaussian, else the best of the pairs, or k epsilon at a larger delta. */
static void put_household(const struct dp_tradeoff *t, int k, double delta, FILE *out)
{
    double best = (double)INFINITY, larger = 0;
    if (isfinite(t->mu) && t->but == 0 && delta > 0) {
        fprintf(out, "an ε of at most %g", dp_round_up(dp_gaussian_epsilon(k * t->mu * (1 + 1e-15), delta), 4));
        return;
    }
    for (size_t i = 0; i < t->count; i++) {
        double x = t->epsilon[i], grown = t->delta[i] * exp(dp_group_growth(x, k));
        if (grown <= delta)
            best = fmin(best, k * x);
        larger = grown;
    }
    if (isfinite(best))
        fprintf(out, "an ε of at most %g", dp_round_up(best, 4));
    else if (larger < 1)
        fprintf(out, "an ε of at most %g with a δ of %g", dp_round_up(k * t->epsilon[t->count - 1], 4), dp_round_up(larger, 3));
    else
        fputs("no bound", out);
}

static void put_households(const json_t *of, FILE *out)
{
    struct dp_tradeoff t = tradeoff_of(of);
    double delta = number(of, "delta");
    fputs("<li>Groups: the numbers are about one person. All rows of a household of 2 together: ", out);
    put_household(&t, 2, delta, out);
    fputs("; of 4: ", out);
    put_household(&t, 4, delta, out);
    fputs(" (at the same δ if none is named).</li>\n", out);
}

static void put_preparation(const json_t *words, FILE *out)
{
    char unpaid[200];
    size_t i, count = 0;
    json_t *what;
    bool paid, any = false;
    json_array_foreach (words, i, what) {
        dp_text_unpaid(json_string_value(what), &paid, unpaid, sizeof unpaid);
        any = any || paid;
        if (unpaid[0] == '\0')
            continue;
        if (count == 0)
            fputs("<div class=\"box warn\"><p><strong>Not paid for:</strong> the data were looked at before training (", out);
        put_named(count++ > 0 ? ", " : "", unpaid, "", out);
    }
    if (count > 0)
        fputs("). The model has that knowledge, and no number on this page counts it.</p></div>\n", out);
    if (any)
        fputs("<p>The bounds, categories or knots of the columns were taken from the data with noise, and paid for: ε includes "
              "them.</p>\n",
              out);
}

static void put_warnings(const json_t *total, const json_t *certificate, FILE *out)
{
    const json_t *of = certificate != NULL ? certificate : total, *words = get(of, "private_preprocessing");
    put_preparation(words, out);
    if (json_is_true(get(of, "seeded"))) {
        fputs(
            "<div class=\"box warn\"><p><strong>A seed was given:</strong> if somebody knows it, the noise can be taken away and "
            "nothing is protected.</p></div>\n",
            out);
    }
    if (json_is_true(get(of, "as_published"))) {
        fputs(
            "<div class=\"box warn\"><p>The noise of a run was chosen by an accounting that is not sound. The numbers here are the "
            "sound ones.</p></div>\n",
            out);
    }
}

/* The cost that a model states, and the facts that are missing then. */
static void put_stated(const struct page *p, FILE *out)
{
    const json_t *of = p->certificate;
    long long lap = whole(of, "lap"), laps = whole(of, "laps");
    put_named("This is what the model <code>", p->model, "</code> states that it has cost each person, ", out);
    fprintf(out, laps > 0 ? "by lap %lld of %lld. " : "by lap %lld. ", lap, laps);
    if (lap < laps)
        fputs("If its results chose this lap, it has cost what all laps cost, which is not known. ", out);
    if (get(of, "prior_epsilon") != NULL) {
        fputs("The model that it started from has cost ε = ", out);
        put_cost(number(of, "prior_epsilon"), out);
        fputs(" of it. ", out);
    }
    fputs(json_is_true(get(of, "untracked"))
              ? "<strong>No ledger has its run</strong>, because its gate was told to record nothing."
              : "<strong>The ledger of its run was not found</strong>, so nothing confirms this.",
          out);
}

/* The smaller number, and its condition. */
static void put_composed(const json_t *total, FILE *out)
{
    const json_t *composed = get(total, "composed");
    if (composed == NULL || !(number(composed, "epsilon") < number(total, "epsilon")))
        return;
    fputs("<p class=\"soft\">If all of them were planned before the first: ε = ", out);
    put_cost(number(composed, "epsilon"), out);
    fprintf(out, " at δ = %g.</p>", dp_round_up(number(composed, "delta"), 6));
}

static void put_cost_box(const struct page *p, const json_t *total, FILE *out)
{
    const json_t *of = p->certificate != NULL ? p->certificate : total;
    fputs("<div class=\"box\"><p class=\"big\">ε = ", out);
    put_cost(number(of, "epsilon"), out);
    fprintf(out, " at δ = %g</p>\n<p>", dp_round_up(number(of, "delta"), 6));
    if (p->alone) {
        put_stated(p, out);
    } else if (p->certificate != NULL) {
        put_named("This is what the model <code>", p->model, "</code> has cost each person: ", out);
        fprintf(out, "everything that its run released, %s. ",
                json_array_size(get(of, "runs")) > 1 ? "and the runs that it started from" : "in all laps");
        fputs(json_is_true(get(of, "model_in_ledger")) ? "The ledger has the digest of this model."
                                                       : "The ledger has no digest of this model's weights.",
              out);
    } else
        fputs("This is what all runs below have cost each person, also if one was planned after the results of another.", out);
    fputs("</p>", out);
    if (p->certificate == NULL)
        put_composed(total, out);
    fputs("</div>\n", out);
    if (whole(total, "unbounded") > 0) {
        fputs("<div class=\"box warn\"><p><strong>No number covers all runs on these people:</strong> there ", out);
        fprintf(out, whole(total, "unbounded") == 1 ? "was " : "were ");
        put_count(whole(total, "unbounded"), "run", out);
        fputs(" without privacy. Nothing bounds what such a run shows.</p></div>\n", out);
    }
}

static void put_day(const json_t *run, FILE *out)
{
    const json_t *opened = get(run, "opened");
    char day[32] = "";
    time_t when = (time_t)json_integer_value(opened);
    struct tm parts;
    if (opened != NULL && gmtime_r(&when, &parts) != NULL)
        strftime(day, sizeof day, "%Y-%m-%d", &parts);
    fprintf(out, "<td>%s</td>", day);
}

/* A budget may count more than the runs state: the page has to explain this next to the two numbers. */
static void put_counted(const json_t *budget, double counted, FILE *out)
{
    const json_t *stated = get(budget, "stated");
    if (stated != NULL && number(stated, "epsilon") < counted) {
        fputs(
            " The budget counts so that it also holds if one run is planned after the results of another are known. Added up, the runs state ε = ",
            out);
        put_cost(number(stated, "epsilon"), out);
        fprintf(out, " at δ = %g.", dp_round_up(number(stated, "delta"), 6));
    }
    fputs("</p>\n", out);
}

static void put_runs(const struct page *p, const json_t *total, FILE *out)
{
    size_t i;
    json_t *run;
    const json_t *budget = get(total, "budget"), *untracked = get(total, "untracked");
    const bool known = get(total, "ledgers") != NULL; /* by the registry */
    fprintf(out,
            "<h2>All runs %s</h2>\n%s<table><tr><th>run</th><th>begun</th><th>ended</th><th class=\"n\">laps</th><th "
            "class=\"n\">ε</th></tr>\n",
            known ? "on these people" : "in this ledger",
            known ? "" : "<p>No registry says whether there were other runs on these people.</p>\n");
    json_array_foreach (get(p->report, "runs"), i, run)
        if (strcmp(text(run, "population"), text(total, "population")) == 0) {
            fprintf(out, "<tr><td><code>%.8s</code>", text(run, "run"));
            if (get(run, "public_start") != NULL)
                fprintf(out, ", from the public model <code>%.12s</code>", text(run, "public_start"));
            fputs("</td>", out);
            put_day(run, out);
            fprintf(out, "<td>%s</td><td class=\"n\">%lld</td><td class=\"n\">", text(run, "status"), whole(run, "laps"));
            put_cost(number(run, "epsilon"), out);
            fputs("</td></tr>\n", out);
        }
    fputs("</table>\n<p>Together: ε = ", out);
    put_cost(number(total, "epsilon"), out);
    fprintf(out, " at δ = %g", dp_round_up(number(total, "delta"), 6));
    if (budget != NULL) {
        double limit = number(budget, "epsilon");
        fprintf(out, ", of a budget of %g.", limit);
        put_counted(budget, number(total, "epsilon"), out);
        plot_budget(number(total, "epsilon"), limit, out);
    } else
        fputs(". There is no budget: nothing limits what further runs may cost.</p>\n", out);
    if (untracked != NULL) {
        fputs("<p>Of it at most ε = ", out);
        put_cost(number(untracked, "epsilon"), out);
        fputs(" by ", out);
        put_count(whole(untracked, "runs"), "run", out);
        fputs(" in no ledger.</p>\n", out);
    }
}

/* In place of put_runs. */
static void put_no_runs(const struct page *p, FILE *out)
{
    fputs(
        "<h2>All runs on these people</h2>\n<p>Not known: whether there were other runs, what all runs have cost together, and "
        "whether a budget limits them. This is in the ledger of the run",
        out);
    if (get(p->certificate, "run") != NULL)
        put_named(" <code>", text(p->certificate, "run"), "</code>", out);
    fputs(".</p>\n", out);
}

static void put_measure(const json_t *of, const char *name, const char *words, FILE *out)
{
    if (get(of, name) != NULL)
        fprintf(out, "<tr><td>%s</td><td class=\"n\">%.4g</td></tr>\n", words, number(of, name));
}

/* A new list of the curves, sorted by area, the smallest first. */
static json_t *sorted_curves(const json_t *curves)
{
    json_t *list = json_array();
    for (size_t i = 0; i < json_array_size(curves); i++) {
        json_t *curve = json_array_get(curves, i);
        size_t at = 0;
        while (at < json_array_size(list) && number(json_array_get(list, at), "auc") <= number(curve, "auc"))
            at++;
        json_array_insert(list, at, curve);
    }
    return list;
}

static void put_curves_of_classes(const json_t *of, bool plain, FILE *out)
{
    json_t *curves = sorted_curves(get(of, "curves"));
    size_t count = json_array_size(curves), shown = count < CLASSES ? count : CLASSES;
    if (plain && count > 1) {
        fputs("<table><tr><th>class against the others</th><th class=\"n\">area</th></tr>\n", out);
        for (size_t i = 0; i < shown; i++) {
            put_named("<tr><td>", text(json_array_get(curves, i), "class"), "</td>", out);
            fprintf(out, "<td class=\"n\">%.3f</td></tr>\n", number(json_array_get(curves, i), "auc"));
        }
        fputs("</table>\n", out);
    } else if (!plain && count > 0)
        plot_roc(curves, CLASSES, out);
    if (!plain && get(of, "calibration") != NULL)
        plot_dots(get(of, "calibration"), "probability predicted", "part that has the class", "calibration", out);
    if (count == 1 && !plain) {
        put_named("<p class=\"soft\">Left: rows found of class <em>", text(json_array_get(curves, 0), "class"),
                  "</em> against false alarms.", out);
        if (get(of, "calibration") != NULL)
            fputs(" Right: a model that is right about its probabilities has its dots on the dashed line.", out);
        fputs("</p>\n", out);
    } else if (count > 1) {
        fputs("<p class=\"soft\">", out);
        fputs(plain ? "The area under the ROC curve of each class against the others"
                    : "Rows found of each class against false alarms, with the area under the curve",
              out);
        if (shown < count)
            fprintf(out, ": the %zu smallest of %zu classes", shown, count);
        fputs(".</p>\n", out);
    }
    json_decref(curves);
}

/* One sentence, and two drawings. */
static void put_along(const struct page *p, FILE *out)
{
    const json_t *points = get(p->along, "points"), *first = json_array_get(points, 0),
                 *last = json_array_get(points, json_array_size(points) - 1);
    bool classes = get(p->held_out, "accuracy") != NULL, value = get(first, "value") != NULL && get(last, "value") != NULL;
    const char *name = classes ? "accuracy" : "R²";
    fprintf(out, "<h2>Along the run</h2>\n<p>From lap %lld to lap %lld", whole(first, "lap"), whole(last, "lap"));
    if (value)
        fprintf(out, "%s %s goes from %.3g to %.3g", get(last, "epsilon") != NULL ? "," : "", name, number(first, "value"),
                number(last, "value"));
    if (get(last, "epsilon") != NULL) {
        fprintf(out, "%s ε grows from ", value ? " and" : "");
        put_cost(number(first, "epsilon"), out);
        fputs(" to ", out);
        put_cost(number(last, "epsilon"), out);
    }
    fputs(".</p>\n", out);
    if (p->plain)
        return;
    if (value)
        plot_along(points, "value", classes ? number(p->held_out, "majority") : 0, false, name, out);
    if (get(last, "epsilon") != NULL)
        plot_along(points, "epsilon", (double)NAN, true, "ε", out);
    if (value)
        fprintf(out, "<p class=\"soft\">Dashed: %s.</p>\n",
                classes ? "always guessing the most frequent class" : "always predicting the mean");
}

static void put_held_out(const json_t *of, bool plain, FILE *out)
{
    bool several = json_array_size(get(of, "curves")) > 1;
    fputs("<h2>How good the model is</h2>\n", out);
    fprintf(out,
            "<p>Measured on %lld rows that the model was not trained on. These numbers are exact: they are as private as those "
            "rows, and no cost above covers them.</p>\n<table>\n",
            whole(of, "rows"));
    put_measure(of, "accuracy", "accuracy", out);
    put_measure(of, "majority", "accuracy of always guessing the most frequent class", out);
    put_measure(of, "auc",
                several ? "area under the ROC curve, mean of the classes (.5 is chance)"
                        : "area under the ROC curve (.5 is chance)",
                out);
    put_measure(of, "log_loss", "log loss", out);
    put_measure(of, "r2", "R² (0 is the mean)", out);
    put_measure(of, "rmse", "root mean squared error, in units of the label", out);
    fputs("</table>\n", out);
    put_curves_of_classes(of, plain, out);
}

/* The largest `most` weights, in place. Returns how many. */
static size_t sort_weights(struct page_weights *w, size_t most)
{
    size_t count = w->count < most ? w->count : most;
    for (size_t i = 0; i < count; i++) {
        size_t best = i;
        for (size_t k = i + 1; k < w->count; k++)
            if (fabs(w->values[k]) > fabs(w->values[best]))
                best = k;
        double value = w->values[i];
        char *name = w->names[i];
        w->values[i] = w->values[best];
        w->names[i] = w->names[best];
        w->values[best] = value;
        w->names[best] = name;
    }
    return count;
}

static void put_weights(struct page *p, FILE *out)
{
    size_t all = p->weights.count, count = sort_weights(&p->weights, WEIGHTS);
    fputs(
        "<h2>What the model looks at</h2>\n<p>Weights of the columns, the largest first, in the scale in which rows were stored: "
        "each column by its public bounds, then all divided by one number.",
        out);
    if (count < all)
        fprintf(out, " These are %zu of %zu.", count, all);
    fputs("</p>\n", out);
    if (!p->plain) {
        plot_bars(p->weights.names, p->weights.values, count, "weights", out);
        return;
    }
    fputs("<table>", out);
    for (size_t j = 0; j < count; j++) {
        put_named("<tr><td>", p->weights.names[j], "</td>", out);
        fprintf(out, "<td class=\"n\">%.4g</td></tr>", p->weights.values[j]);
    }
    fputs("</table>\n", out);
}

/* Whether the line belongs to a column whose curve is drawn: it is the column's number, or a function of its basis. */
static bool is_drawn(const struct page *p, const char *name)
{
    size_t i;
    json_t *curve;
    json_array_foreach (get(p->curves, "curves"), i, curve) {
        const char *column = text(curve, "column");
        size_t length = strlen(column);
        if (strncmp(name, column, length) == 0 &&
            (name[length] == '\0' || strncmp(name + length, " at ", 4) == 0 || strncmp(name + length, " from ", 6) == 0 ||
             strncmp(name + length, " cosine ", 8) == 0))
            return true;
    }
    return false;
}

static void put_line(const json_t *line, bool classes, bool ratio, bool interval, FILE *out)
{
    fputs("<tr>", out);
    if (classes)
        put_named("<td>", text(line, "class"), "</td>", out);
    put_named("<td>", text(line, "name"), "</td>", out);
    if (json_is_true(get(line, "reference"))) {
        fprintf(out, "<td class=\"n\">(compared with)</td>%s%s</tr>\n", ratio ? NOTHING : "", interval ? NOTHING : "");
        return;
    }
    fprintf(out, "<td class=\"n\">%.4g</td>", number(line, "coefficient"));
    if (ratio && get(line, "ratio") != NULL)
        fprintf(out, "<td class=\"n\">%.4g</td>", number(line, "ratio"));
    else if (ratio)
        fputs(NOTHING, out);
    if (interval)
        fprintf(out, "<td class=\"n\">%.4g … %.4g</td>", number(line, "low"), number(line, "high"));
    fputs("</tr>\n", out);
}

/* Whether lines are of several classes. */
static bool has_classes(const json_t *lines)
{
    const char *first = text(json_array_get(lines, 0), "class");
    return strcmp(first, text(json_array_get(lines, json_array_size(lines) - 1), "class")) != 0;
}

/* The lines of the table, as many as two sheets have room for. */
static void put_coefficients(const struct page *p, FILE *out)
{
    const json_t *of = p->coefficients, *lines = get(of, "coefficients"), *ratio = get(of, "ratio");
    size_t i, count = 0, left = 0;
    bool interval = get(of, "intervals") != NULL, classes = has_classes(lines), bucket = false;
    json_t *line;
    fputs("<table><tr>", out);
    fprintf(out, "%s<th>one unit, or one category, more</th><th class=\"n\">score</th>", classes ? "<th>class</th>" : "");
    if (ratio != NULL)
        put_named("<th class=\"n\">", json_string_value(ratio), "</th>", out);
    fputs(interval ? "<th class=\"n\">95 % interval</th></tr>\n" : "</tr>\n", out);
    json_array_foreach (lines, i, line) {
        if (is_drawn(p, text(line, "name")))
            continue;
        if (count++ >= WEIGHTS) {
            left++;
            continue;
        }
        put_line(line, classes, ratio != NULL, interval, out);
        bucket = bucket || json_is_true(get(line, "bucket"));
    }
    fputs("</table>\n", out);
    if (bucket)
        fputs(
            "<p class=\"soft\">Categories that have no line of their own share the lines (bucket 1), (bucket 2), …: a hash of the name "
            "chooses the line.</p>\n",
            out);
    if (left > 0) {
        fprintf(out, "<p class=\"soft\">%zu more: ", left);
        put_named("<code>dp-info --coefficients ", p->model, "</code></p>\n", out);
    }
}

/* Whether each row is divided by a norm of its own. */
static bool divides(const struct page *p)
{
    const char *norm = text(p->coefficients, "row_norm");
    return strcmp(norm, dp_row_norms[DP_NORM_UNIT]) == 0 || strcmp(norm, dp_row_norms[DP_NORM_CAP]) == 0;
}

static void put_curves(const struct page *p, FILE *out)
{
    const json_t *curves = get(p->curves, "curves");
    double low, high;
    size_t i;
    json_t *curve;
    fputs(json_is_true(get(p->curves, "products"))
              ? "<p>Products of two numbers add to the score, too: how much one number adds depends on the others. Over evenly "
                "spread others products average to 0, and the curves leave them out.</p>\n"
              : "",
          out);
    fprintf(out, "<p>How much each number adds to the score%s, along its bounds: ", divides(p) ? ", before it is divided" : "");
    if (p->plain || json_array_size(curves) > CURVES) {
        put_named("<code>dp-info --curves ", p->model, "</code></p>\n", out);
        return;
    }
    fputs("</p>\n", out);
    plot_range(curves, &low, &high);
    json_array_foreach (curves, i, curve)
        plot_curve(curve, low, high, 0, 0, out);
}

static void put_model(const struct page *p, FILE *out)
{
    const char *why = json_string_value(get(p->coefficients, "no_intervals"));
    fprintf(out,
            "<h2>What the model looks at</h2>\n<p>The model adds up a score from the columns, in the units of the table%s. ",
            divides(p) ? ", and divides it by the norm of the row, so a column counts less in a row with large numbers" : "");
    if (why == NULL)
        fputs(
            "Intervals are of the noise: with probability .95 they have the number that the same run gives without noise. They "
            "do not say what other people would have given.",
            out);
    else
        put_named("There are no intervals: ", why, ".", out);
    fputs("</p>\n", out);
    if (p->curves != NULL)
        put_curves(p, out);
    put_coefficients(p, out);
}

static void put_limits(const json_t *total, const json_t *of, FILE *out)
{
    fputs("<h2>What this does not cover</h2>\n<ul>\n", out);
    if (whole(total, "unbounded") > 0) {
        fputs("<li>", out);
        put_count(whole(total, "unbounded"), "run", out);
        fputs(" without privacy on these people: no bound.</li>\n", out);
    }
    put_households(of, out);
    fputs(
        "<li>What the model says about people in general. If smoking predicts illness, it does so for smokers who were never in "
        "the data.</li>\n"
        "<li>The same people in other data sets, under another name, or in ledgers on other machines.</li>\n"
        "<li>People with access to the rows, to the ledger's machine, or results that were not released through the gate.</li>\n"
        "<li>Whether the model is fair, or right for its purpose.</li>\n</ul>\n",
        out);
}

/* In place of put_check. */
static void put_no_check(const struct page *p, FILE *out)
{
    fputs("<h2>How to check this page</h2>\n<p>", out);
    if (json_is_true(get(p->certificate, "untracked")))
        fputs("Nobody can check its cost: no ledger has the run.</p>\n", out);
    else
        put_named("With the ledger of the run (or the data set that has it), this command checks the model and makes the whole "
                  "page:</p>\n<p><code>dp-account report LEDGER --model ",
                  p->model, " -o report.html</code></p>\n", out);
    fprintf(out, "<p class=\"soft\">%s.</p>\n", p->software);
}

static void put_check(const struct page *p, FILE *out)
{
    fputs(
        "<h2>How to check this page</h2>\n<p>The ledger is a chain of lines: a change in one of them is noticed. This command "
        "checks all lines and computes every epsilon again",
        out);
    fputs(p->certificate != NULL ? "; the second one makes the certificate of the model.</p>\n" : ".</p>\n", out);
    put_named("<p><code>dp-account verify ", p->ledger, "</code></p>\n", out);
    if (p->certificate != NULL) {
        put_named("<p><code>dp-account certify --ledger ", p->ledger, "", out);
        put_named(" --model ", p->model, "</code></p>\n", out);
        fprintf(out, "<p class=\"soft\">Model %.16s…, lap %lld; ledger of %lld lines, %.16s…; %s.</p>\n",
                text(p->certificate, "model"), whole(p->certificate, "lap"), whole(get(p->certificate, "ledger"), "lines"),
                text(get(p->certificate, "ledger"), "hash"), p->software);
    }
}

void page_print(struct page *p, FILE *out)
{
    const json_t *total = total_of(p), *of = p->certificate != NULL ? p->certificate : total;
    fputs(head, out);
    put_named("<h1>Privacy report</h1>\n<p class=\"soft\">", text(total, "population"), "</p>\n", out);
    put_cost_box(p, total, out);
    put_warnings(total, p->certificate, out);
    put_people(total, of, out);
    put_meaning(p, of, out);
    if (p->alone)
        put_no_runs(p, out);
    else
        put_runs(p, total, out);
    if (p->held_out != NULL)
        put_held_out(p->held_out, p->plain, out);
    if (p->along != NULL)
        put_along(p, out);
    else if (p->held_out != NULL)
        fputs(
            "<p class=\"soft\">The file has only the last model of the run, so measures along the run are not shown. (A run without "
            "-o writes the models of all laps to its standard output.)</p>\n",
            out);
    if (p->coefficients != NULL)
        put_model(p, out);
    else if (p->weights.count > 0)
        put_weights(p, out);
    put_limits(total, of, out);
    if (p->alone)
        put_no_check(p, out);
    else
        put_check(p, out);
    fputs("</body></html>\n", out);
}
