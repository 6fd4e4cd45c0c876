#include "page.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/unit.h"
#include "account/solve.h"
#include "data/row_length.h"
#include "ledger/report.h"
#include "members.h"
#include "plot.h"
#include "priv/gdp.h"
#include "template.h"

enum { WEIGHTS = 25, COLUMNS = 12, CURVES = 12, LEVELS = 60, CLASSES = 10 };

static const char template[] =
#include "account/page.inc"
    ;

static void set(json_t *json, const char *name, json_t *value)
{
    json_object_set_new(json, name, value);
}

static json_t *format_json(double value, const char *format)
{
    char digits[64];
    snprintf(digits, sizeof digits, format, value);
    return json_string(digits);
}

/* A number to be read: of 1,000 or more, whole. */
static json_t *readable_json(double value, const char *format)
{
    return format_json(value, fabs(value) >= 1000 && fabs(value) < 1e9 ? "%.0f" : format);
}

/* A drawing, which becomes a member of the page. */
struct drawing {
    FILE *out;
    char *svg;
    size_t size;
};

static FILE *draw(struct drawing *d)
{
    return d->out = dp_got(open_memstream(&d->svg, &d->size));
}

static void drawn(struct drawing *d, json_t *json, const char *name)
{
    dp_close_text(d->out);
    set(json, name, json_stringn(d->svg, d->size));
    free(d->svg);
}

/* The total that the page shows: the one that covers the certificate, else the first. Without both, the model states it. */
static const json_t *total_of(const struct page *p)
{
    const json_t *totals = get(p->report, "populations");
    size_t i;
    json_t *total;
    if (p->alone)
        return p->certificate;
    json_array_foreach (totals, i, total)
        if (p->certificate == NULL || dp_ledger_report_covers(total, p->certificate))
            return total;
    return json_array_get(totals, 0);
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

static json_t *attack_json(const struct page *p, const json_t *of)
{
    static const double alarms[] = {.01, .05, .1, .25};
    double epsilon = number(of, "epsilon");
    struct dp_tradeoff t = tradeoff_of(of), pair = dp_tradeoff_of_pair(epsilon, number(of, "delta"));
    json_t *points = json_array();
    for (size_t i = 0; i < sizeof alarms / sizeof *alarms; i++)
        json_array_append_new(
            points, json_pack("{s:f, s:f}", "alarms", 100 * alarms[i], "found", 100 * dp_tradeoff_found(&t, alarms[i])));
    json_t *json = json_pack("{s:b, s:o, s:f, s:f}", "exact", t.count > 1, "points", points, "even", 100 * dp_tradeoff_even(&t),
                             "odds", exp(epsilon));
    struct drawing d;
    if (!p->plain) {
        plot_tradeoff(&t, t.count > 1 ? &pair : NULL, draw(&d));
        drawn(&d, json, "drawing");
    }
    return json;
}

/* The epsilon of k persons at delta: of one Gaussian, else the best of the pairs, or k epsilon at a larger delta. */
static json_t *group_json(const struct dp_tradeoff *t, int k, double delta)
{
    double best = (double)INFINITY, larger = 0;
    json_t *json = json_pack("{s:i, s:b}", "size", k, "first", k == 2);
    if (isfinite(t->mu) && t->but == 0 && delta > 0) {
        set(json, "at_most", json_real(dp_gaussian_epsilon(k * t->mu * (1 + 1e-15), delta)));
        return json;
    }
    for (size_t i = 0; i < t->count; i++) {
        double x = t->epsilon[i], grown = t->delta[i] * exp(dp_group_growth(x, k));
        if (grown <= delta)
            best = fmin(best, k * x);
        larger = grown;
    }
    if (isfinite(best)) {
        set(json, "at_most", json_real(best));
    } else if (larger < 1) {
        set(json, "at_most", json_real(k * t->epsilon[t->count - 1]));
        set(json, "larger", json_real(larger));
    }
    return json;
}

static void add_cost(const struct page *p, const json_t *of, const json_t *total, json_t *json)
{
    struct dp_tradeoff t = tradeoff_of(of);
    const json_t *composed = get(total, "composed");
    double delta = number(of, "delta");
    set(json, "earlier", json_boolean(number(of, "lap") < number(of, "laps")));
    set(json, "chain", json_boolean(json_array_size(get(of, "runs")) > 1));
    if (composed != NULL && number(composed, "epsilon") < number(total, "epsilon"))
        set(json, "together", json_pack("O", composed));
    if (number(of, "epsilon") < (double)INFINITY && !json_is_true(get(of, "seeded")))
        set(json, "attack", attack_json(p, of));
    set(json, "groups", json_pack("[o, o]", group_json(&t, 2, delta), group_json(&t, 4, delta)));
}

/* The changes that one person can make: the adjacency and the unit. */
static void add_change(const json_t *total, json_t *json)
{
    size_t rows = 1;
    bool persons = strcmp(text(total, "unit"), "row") != 0 && dp_unit_read(text(total, "unit"), &rows);
    set(json, "replace_one", json_boolean(strcmp(text(total, "adjacency"), "replace-one") == 0));
    set(json, "person_rows", persons ? json_integer((json_int_t)rows) : json_null());
}

/* The people, and the things that were taken from their data before training. */
static void add_people(const json_t *of, const json_t *total, json_t *json)
{
    char unpaid[200];
    json_t *what, *all = json_array();
    size_t i;
    bool paid, any = false;
    add_change(total, json);
    json_array_foreach (get(of, "private_preprocessing"), i, what) {
        dp_text_unpaid(json_string_value(what), &paid, unpaid, sizeof unpaid);
        any = any || paid;
        if (unpaid[0] != '\0')
            json_array_append_new(all, json_pack("{s:s, s:b}", "what", unpaid, "later", json_array_size(all) > 0));
    }
    set(json, "unpaid", json_array_size(all) > 0 ? json_pack("{s:O}", "all", all) : json_null());
    set(json, "prepared", json_boolean(any));
    json_decref(all);
}

/* A total with its runs and its budget. null: a member that the page itself may have, of another total. */
static json_t *sum_json(const struct page *p, const json_t *total)
{
    const json_t *budget = get(total, "budget"), *stated = get(budget, "stated");
    json_t *own = json_array(), *run, *json = json_pack("{s:n, s:n, s:n}", "budget", "untracked", "budget_drawing");
    struct drawing d;
    size_t i;
    json_object_update(json, (json_t *)total);
    json_array_foreach (get(p->report, "runs"), i, run)
        if (dp_ledger_report_covers(total, run))
            json_array_append(own, run);
    set(json, "all_runs", own);
    add_change(total, json);
    if (stated != NULL && number(stated, "epsilon") < number(total, "epsilon"))
        set(json, "counted", json_pack("O", stated));
    if (budget != NULL && !p->plain) {
        plot_budget(number(total, "epsilon"), number(budget, "epsilon"), draw(&d));
        drawn(&d, json, "budget_drawing");
    }
    return json;
}

/* All totals of the people, the page's own first: costs under different adjacencies, or of rows and persons, do not add up. */
static void add_sums(const struct page *p, const json_t *total, json_t *json)
{
    json_t *sums = json_pack("[o]", sum_json(p, total)), *others = json_array(), *other;
    size_t i;
    json_array_foreach (get(p->report, "populations"), i, other) {
        if (other == total || number(other, "epsilon") == 0 || !json_equal(get(other, "people"), get(total, "people")))
            continue;
        json_t *sum = sum_json(p, other);
        set(sum, "later", json_boolean(json_array_size(others) > 0));
        json_array_append(others, sum);
        json_array_append_new(sums, sum);
    }
    set(json, "sums", sums);
    set(json, "others", others);
    set(json, "divided", json_boolean(json_array_size(others) > 0));
    set(json, "known", json_boolean(get(total, "ledgers") != NULL)); /* by the registry */
    set(json, "one_unbounded", json_boolean(number(total, "unbounded") == 1));
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

static void add_areas(const json_t *curves, size_t shown, json_t *json)
{
    json_t *list = json_array();
    for (size_t i = 0; i < shown; i++)
        json_array_append_new(list, json_pack("{s:s, s:o}", "class", text(json_array_get(curves, i), "class"), "area",
                                              format_json(number(json_array_get(curves, i), "auc"), "%.3f")));
    set(json, "areas", json_pack("{s:o}", "classes", list));
}

static void add_roc(const struct page *p, json_t *json)
{
    json_t *curves = sorted_curves(get(p->held_out, "curves"));
    size_t count = json_array_size(curves), shown = count < CLASSES ? count : CLASSES;
    struct drawing d;
    set(json, "several", json_boolean(count > 1));
    if (shown < count) {
        set(json, "shown", json_integer((json_int_t)shown));
        set(json, "part_of", json_integer((json_int_t)count));
    }
    if (p->plain && count > 1)
        add_areas(curves, shown, json);
    if (!p->plain && count > 0) {
        plot_roc(curves, CLASSES, draw(&d));
        drawn(&d, json, "roc_drawing");
    }
    if (!p->plain && get(p->held_out, "calibration") != NULL) {
        plot_dots(get(p->held_out, "calibration"), "probability predicted", "part that has the class", "calibration", draw(&d));
        drawn(&d, json, "calibration_drawing");
    }
    if (!p->plain && count == 1)
        json_object_set(json, "only_class", get(json_array_get(curves, 0), "class"));
    json_decref(curves);
}

static json_t *held_out_json(const struct page *p, const json_t *total)
{
    static const char *const names[] = {"accuracy", "majority", "auc",        "log_loss",
                                        "r2",       "rmse",     "mean_label", "mean_predicted"};
    bool own = strcmp(text(p->held_out, "population"), text(total, "population")) == 0;
    json_t *list = json_array(), *json = json_pack("{s:O, s:O*, s:b, s:O, s:o}", "rows", get(p->held_out, "rows"),
                                                   "rows_without_label", get(p->held_out, "rows_without_label"), "own", own,
                                                   "whose", get(p->held_out, "population"), "measures", list);
    if (get(p->held_out, "confusion") != NULL) /* once for the heads of the columns, and once for the rows */
        set(json, "confused",
            json_pack("{s:O, s:O}", "confusion", get(p->held_out, "confusion"), "confusion_rows",
                      get(p->held_out, "confusion")));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (get(p->held_out, names[i]) != NULL)
            json_array_append_new(list, json_pack("{s:b, s:O}", names[i], true, "value", get(p->held_out, names[i])));
    add_roc(p, json);
    return json;
}

/* The laps of a run, from the first to the last: one sentence, and two drawings. */
static json_t *along_json(const struct page *p)
{
    const json_t *points = get(p->along, "points"), *first = json_array_get(points, 0),
                 *last = json_array_get(points, json_array_size(points) - 1);
    bool classes = get(p->held_out, "accuracy") != NULL, value = get(first, "value") != NULL && get(last, "value") != NULL;
    json_t *json = json_pack("{s:O, s:O, s:b}", "first", get(first, "lap"), "last", get(last, "lap"), "classes", classes);
    struct drawing d;
    if (value)
        set(json, "value", json_pack("{s:O, s:O}", "from", get(first, "value"), "to", get(last, "value")));
    if (get(last, "epsilon") != NULL)
        set(json, "grows", json_pack("{s:O*, s:O}", "from", get(first, "epsilon"), "to", get(last, "epsilon")));
    if (!p->plain && value) {
        plot_along(points, "value", classes ? number(p->held_out, "majority") : 0, false, classes ? "accuracy" : "R²",
                   draw(&d));
        drawn(&d, json, "value_drawing");
    }
    if (!p->plain && get(last, "epsilon") != NULL) {
        plot_along(points, "epsilon", (double)NAN, true, "ε", draw(&d));
        drawn(&d, json, "epsilon_drawing");
    }
    return json;
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

/* The largest numbers, with their names: lines of a table, and bars. unit: "" or " %". */
static json_t *bars_json(const struct page *p, struct page_weights *w, size_t most, const char *unit, const char *title)
{
    size_t count = sort_weights(w, most);
    json_t *lines = json_array(), *json = json_pack("{s:o, s:b}", "lines", lines, "divides", w->divides);
    struct drawing d;
    for (size_t j = 0; j < count; j++)
        json_array_append_new(lines, json_pack("{s:o, s:f}", "name", dp_json_string(w->names[j]), "weight", w->values[j]));
    if (count < w->count) {
        set(json, "shown", json_integer((json_int_t)count));
        set(json, "part_of", json_integer((json_int_t)w->count));
    }
    if (!p->plain) {
        plot_bars(w->names, w->values, count, unit, title, draw(&d));
        drawn(&d, json, "drawing");
    }
    return json;
}

/* Each column's share of what moves the score, in percent. */
static json_t *importance_json(const struct page *p)
{
    const json_t *list = get(p->coefficients, "importance");
    struct page_weights w = {.count = json_array_size(list)};
    json_t *column;
    size_t i;
    w.names = dp_new(w.count, sizeof *w.names);
    w.values = dp_new(w.count, sizeof *w.values);
    json_array_foreach (list, i, column) {
        w.names[i] = (char *)text(column, "column");
        w.values[i] = 100 * number(column, "share");
    }
    json_t *json = bars_json(p, &w, COLUMNS, " %", "importance");
    free(w.names);
    free(w.values);
    return json;
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

/* If rows are divided by their norms, the page shows the numbers of a row of average length. */
struct contributions {
    bool usual;
    double norm;          /* divisor of the numbers of the model */
    const char *ratio;    /* name of their exponentials, or NULL */
    const json_t *scores; /* of an average row, per class */
};

static struct contributions contributions_of(const struct page *p, bool divides)
{
    const json_t *usual = divides ? get(p->coefficients, "usual") : NULL;
    return (struct contributions){usual != NULL, usual != NULL ? number(usual, "norm") : 1,
                                  json_string_value(get(usual != NULL ? usual : p->coefficients, "ratio")),
                                  get(usual, "scores")};
}

/* class: the number of its class. */
static json_t *line_json(const json_t *line, const struct contributions *c, size_t class)
{
    const bool average = c->usual && strcmp(text(line, "name"), "(intercept)") == 0;
    json_t *json = json_pack("{s:s, s:s, s:s, s:s}", "class", text(line, "class"), "name",
                             average ? "(an average row)" : text(line, "name"), "ratio", "–", "interval", "–");
    double value = average ? json_number_value(json_array_get(c->scores, class)) : number(line, "coefficient") / c->norm;
    if (json_is_true(get(line, "reference"))) {
        set(json, "coefficient", json_string("(compared with)"));
        return json;
    }
    set(json, "coefficient", readable_json(value, c->usual ? "%.3g" : "%.4g"));
    if (c->ratio != NULL && strcmp(text(line, "name"), "(intercept)") != 0)
        set(json, "ratio", format_json(exp(value), c->usual ? "%.3g" : "%.4g"));
    if (get(line, "low") != NULL && !average) {
        char interval[64];
        snprintf(interval, sizeof interval, "%.4g … %.4g", number(line, "low") / c->norm, number(line, "high") / c->norm);
        set(json, "interval", json_string(interval));
    }
    return json;
}

/* The lines of the table, as many as two sheets have room for. */
static void add_lines(const struct page *p, const struct contributions *c, json_t *json)
{
    const json_t *all = get(p->coefficients, "coefficients");
    const char *first = text(json_array_get(all, 0), "class");
    json_t *lines = json_array(), *line;
    size_t i, class = 0;
    json_int_t more = 0;
    set(json, "with_class", json_boolean(strcmp(first, text(json_array_get(all, json_array_size(all) - 1), "class")) != 0));
    set(json, "with_interval", json_boolean(get(p->coefficients, "intervals") != NULL));
    json_array_foreach (all, i, line) {
        class += i > 0 && strcmp(text(line, "class"), text(json_array_get(all, i - 1), "class")) != 0;
        if (is_drawn(p, text(line, "name")))
            continue;
        if (json_array_size(lines) >= WEIGHTS) {
            more++;
            continue;
        }
        json_array_append_new(lines, line_json(line, c, class));
        if (json_is_true(get(line, "bucket")))
            set(json, "bucket", json_true());
    }
    set(json, "lines", lines);
    set(json, "many", json_boolean(json_array_size(lines) > 10));
    set(json, "more", json_integer(more));
}

/* Divides what the curves add. */
static void divide(const json_t *curves, double norm)
{
    static const char *const members[] = {"effect", "low", "high"};
    size_t i, k;
    json_t *curve, *point;
    json_array_foreach (curves, i, curve)
        json_array_foreach (get(curve, "points"), k, point)
            for (size_t m = 0; m < sizeof members / sizeof *members; m++)
                if (get(point, members[m]) != NULL)
                    set(point, members[m], json_real(number(point, members[m]) / norm));
}

static json_t *curves_json(const struct page *p, double norm)
{
    const json_t *curves = get(p->curves, "curves");
    json_t *json = json_pack("{s:O*}", "products", get(p->curves, "products")), *curve;
    double low, high;
    struct drawing d;
    size_t i, means = 0;
    json_array_foreach (curves, i, curve)
        means += get(curve, "where") == NULL;
    if (p->plain || means > CURVES)
        return json;
    const json_t *last = json_array_get(curves, json_array_size(curves) - 1);
    const bool classes = strcmp(text(json_array_get(curves, 0), "class"), text(last, "class")) != 0;
    divide(curves, norm);
    plot_range(curves, &low, &high);
    draw(&d);
    json_array_foreach (curves, i, curve) {
        if (get(curve, "where") != NULL && json_array_size(curves) > LEVELS)
            continue;
        json_t *named = json_copy(curve);
        if (classes)
            set(named, "column", json_sprintf("%s: %s", text(curve, "class"), text(curve, "column")));
        plot_curve(named, low, high, 0, 0, d.out);
        json_decref(named);
    }
    drawn(&d, json, "drawing");
    if (json_array_size(curves) > LEVELS && means < json_array_size(curves))
        set(json, "not_drawn", json_integer((json_int_t)(json_array_size(curves) - means)));
    return json;
}

static json_t *model_json(const struct page *p)
{
    const char *norm = text(p->coefficients, "row_norm");
    bool divides = strcmp(norm, dp_row_norms[DP_NORM_UNIT]) == 0 || strcmp(norm, dp_row_norms[DP_NORM_CAP]) == 0;
    const struct contributions c = contributions_of(p, divides);
    json_t *json = json_pack("{s:b, s:b, s:O*, s:s*}", "divides", divides, "average", c.usual, "no_intervals",
                             get(p->coefficients, "no_intervals"), "ratio_name", c.ratio);
    if (json_array_size(get(p->coefficients, "importance")) > 1) {
        set(json, "importance", importance_json(p));
        set(json, "released", json_boolean(json_is_true(get(get(p->coefficients, "usual"), "released"))));
    }
    const json_t *lines = get(p->coefficients, "coefficients");
    const char *class = text(json_array_get(lines, 0), "class");
    if (strcmp(class, text(json_array_get(lines, json_array_size(lines) - 1), "class")) == 0 && class[0] != '\0')
        set(json, "towards", json_string(class));
    set(json, "rates", json_boolean(class[0] == '\0' && c.ratio != NULL));
    if (p->curves != NULL)
        set(json, "curves", curves_json(p, c.norm));
    add_lines(p, &c, json);
    return json;
}

/* The members that the template names, and the members of the certificate or of the total. */
static json_t *page_json(struct page *p)
{
    const json_t *total = total_of(p), *of = p->certificate != NULL ? p->certificate : total;
    json_t *json = json_pack("{s:O, s:b, s:b, s:b, s:s*, s:s*, s:s, s:O*, s:s*, s:b, s:I}", "total", total, "alone", p->alone,
                             "certified", !p->alone && p->certificate != NULL, "of_ledger", p->certificate == NULL,
                             "model_file", p->model, "ledger_file", p->ledger, "software", p->software, "predicts", p->predicts,
                             "left_out", p->left_out, "all_columns", p->left_out != NULL, "made", (json_int_t)p->made);
    const char *population = text(total, "population");
    if (dp_text_is_hex(population, 32)) /* nobody named them */
        set(json, "unnamed", json_string(population));
    add_cost(p, of, total, json);
    add_people(of, total, json);
    if (!p->alone)
        add_sums(p, total, json);
    if (p->held_out != NULL)
        set(json, "held_out", held_out_json(p, total));
    if (p->along != NULL)
        set(json, "along", along_json(p));
    set(json, "last_only", json_boolean(p->held_out != NULL && p->along == NULL));
    if (p->coefficients != NULL)
        set(json, "model_table", model_json(p));
    else if (p->weights.count > 0)
        set(json, "weights", bars_json(p, &p->weights, WEIGHTS, "", "weights"));
    set(json, "of", json_pack("O", of));
    json_object_update_missing(json, get(json, "of"));
    json_object_update_missing(json, get(json, "total"));
    return json;
}

void page_print(struct page *p, FILE *out)
{
    json_t *json = page_json(p);
    template_print(template, json, out);
    json_decref(json);
}
