/* dp-eval: measures released models on a data set. A sink: prints one line per evaluated lap. */
#include <stdarg.h>

#include "base/mem.h"
#include "base/number.h"
#include "data/dataset.h"
#include "math/curves.h"
#include "math/metrics.h"
#include "math/noised_counts.h"
#include "model/predictor.h"
#include "base/round.h"
#include "stages/eval_paid.h"
#include "stages/stages.h"

/* The metrics: X(enumerator, name, the labels it needs, what it does). */
#define METRICS(X)                                                                                                             \
    X(ACCURACY, "accuracy", CLASSES, PAID)                                                                                     \
    X(AUC, "auc", CLASSES, 0)                                                                                                  \
    X(LOG_LOSS, "logloss", CLASSES, CHANCES)                                                                                   \
    X(MSE, "mse", REAL, 0)                                                                                                     \
    X(R2, "r2", REAL, 0)                                                                                                       \
    X(OBJECTIVE, "objective", LABELS, 0)                                                                                       \
    X(CONFUSION, "confusion", CLASSES, COUNTS | PAID)                                                                          \
    X(MAJORITY, "majority", CLASSES, COUNTS | PAID)                                                                            \
    X(PRECISION, "precision", CLASSES, COUNTS | PAID)                                                                          \
    X(RECALL, "recall", CLASSES, COUNTS | PAID)                                                                                \
    X(F1, "f1", CLASSES, COUNTS | PAID)                                                                                        \
    X(BRIER, "brier", CLASSES, CHANCES | PAID)                                                                                 \
    X(CALIBRATION, "calibration", CLASSES, CHANCES)                                                                            \
    X(RMSE, "rmse", REAL, 0)                                                                                                   \
    X(MAE, "mae", REAL, 0)                                                                                                     \
    X(ROC, "roc", CLASSES, 0)                                                                                                  \
    X(DEVIANCE, "deviance", REAL, 0)
#define ENUMERATOR(id, ...) METRIC_##id,
#define ROW(id, name, needs, does) [METRIC_##id] = {name, NEEDS_##needs, does},
#define LISTED(id, name, ...) ", " name

enum metric { METRICS(ENUMERATOR) METRIC_COUNT };
enum needs { NEEDS_CLASSES, NEEDS_REAL, NEEDS_LABELS };
enum does { CHANCES = 1, COUNTS = 2, PAID = 4 }; /* needs probabilities, counts rows by class, has a form with noise */

static const struct {
    const char *name;
    enum needs needs;
    int does;
} metrics[METRIC_COUNT] = {METRICS(ROW)};
#define PAID_METRICS "accuracy, majority, precision, recall, f1, confusion and brier"

enum { CORNERS = 100 }; /* of a ROC curve */

enum format { FORMAT_TSV, FORMAT_JSON };

struct options {
    const char *data, *metrics;
    int64_t every;
    double threshold;
    bool last, private_data, private;
    int format;
    struct dp_eval_paid_options pay;
};

#define DP_OPTIONS struct options
static const struct dp_option options[] = {
    DP_OPTION_TEXT('d', data, "DIR", "data set to evaluate on", .required = true),
    DP_OPTION_TEXT('m', metrics, "LIST", &(METRICS(LISTED) " (default by the labels)")[2]),
    DP_OPTION_REAL('t', threshold, "P", DP_ABOVE_BELOW(0, 1),
                   "two classes with probabilities: predict the second one from this probability on (0.5)"),
    DP_OPTION_INT('n', every, "LAPS", DP_FROM_TO(1, 1e15), "one line per LAPS laps, and one for the last", .fallback = "1"),
    DP_OPTION_FLAG('l', last, "only the last model of the stream", .excludes = "every"),
    DP_OPTION_CHOICE('f', format, "HOW", "tsv|json", "lines as", .fallback = "tsv"),
    DP_OPTION_FLAG('p', private, "the rows are private: pay for measures with noise, of the last model",
                   .excludes = "private-data, every: it pays for measures of the last model"),
    DP_OPTION_REAL('e', pay.epsilon, "E", DP_FROM_TO(1e-6, 1e6), "what the measures cost", .needs = "private",
                   .needed_by = "private"),
    DP_OPTION_REAL(0, pay.delta, "D", DP_ABOVE_BELOW(0, 1), "delta of the ledger (the model's)", .needs = "private"),
    DP_OPTION_CHOICE(0, pay.adjacency, "HOW", "null-record|replace-one", "what one person can change",
                     .fallback = "null-record", .needs = "private"),
    DP_OPTION_TEXT(0, pay.ledger, "FILE", "the ledger, instead of the data set's own", .needs = "private"),
    DP_OPTION_FLAG(0, pay.no_ledger, "write nothing down", .needs = "private", .excludes = "ledger"),
    DP_OPTION_FLAG(0, pay.allow_weak, "also with E above 10 or D not below 1/N", .needs = "private"),
    DP_REGISTRY_OPTIONS(pay.registry, .needs = "private"),
    DP_OPTION_FLAG(0, private_data, "the rows and the printed numbers are private: mark them"),
    {.name = NULL},
};

/* The kept lap, until it is known whether it is the last one. */
struct lap {
    int64_t number;
    double epsilon, delta, lambda;
    bool seeded, non_private;
};

struct state {
    struct dp_dataset *dataset;
    enum metric metric[METRIC_COUNT];
    int count;
    bool rounded;         /* lines for a reader: six digits, with epsilon rounded up */
    bool started, header; /* shapes are known; the first TSV line is written */
    bool pending;         /* the lap has not been evaluated */
    bool said;            /* the warnings about rows */
    struct lap lap;
    struct dp_eval_paid_options pay;
    struct dp_eval_paid paid; /* --private */
    struct dp_answer cost;    /* of that */
    struct dp_predictor model;
    struct dp_affine data_label;
    struct dp_scored measured;
    double *decided;  /* --threshold: rows, 1 where class 1 is predicted, else −1; otherwise the scores */
    uint64_t *work;   /* for auc */
    uint64_t *counts; /* classes × classes, for metrics that count */
    double *chance;   /* 2 × rows and the outputs, for metrics of probabilities */
    char *text;       /* one line */
    size_t text_size, used;
};

static void eval_close(struct dp_stage *stage)
{
    struct state *s = stage->state;
    dp_dataset_close(s->dataset);
    dp_predictor_close(&s->model);
    dp_eval_paid_close(&s->paid);
    if (s->decided != s->measured.scores)
        free(s->decided);
    dp_scored_close(&s->measured);
    free(s->work);
    free(s->counts);
    free(s->chance);
    free(s->text);
}

static bool has_metric(const struct state *s, enum metric metric)
{
    for (int i = 0; i < s->count; i++)
        if (s->metric[i] == metric)
            return true;
    return false;
}

static int parse_metrics(struct state *s, const char *list, struct dp_err *err)
{
    bool classes = s->dataset->label.kind == DP_LABEL_CLASSES;
    for (const char *p = list;; p++) {
        size_t length = strcspn(p, ",");
        int m = 0;
        while (m < METRIC_COUNT && !(strlen(metrics[m].name) == length && memcmp(p, metrics[m].name, length) == 0))
            m++;
        if (m == METRIC_COUNT)
            return dp_fail(err, DP_E_USAGE, "--metrics: '%.*s' is not one of %s", (int)(length < 80 ? length : 80), p,
                           &(METRICS(LISTED))[2]);
        if (has_metric(s, (enum metric)m))
            return dp_fail(err, DP_E_USAGE, "--metrics: '%s' is there twice", metrics[m].name);
        if (metrics[m].needs != NEEDS_LABELS && (metrics[m].needs == NEEDS_CLASSES) != classes)
            return dp_fail(err, DP_E_USAGE, "--metrics: %s is for labels that are %s, those of this data set are %s",
                           metrics[m].name, classes ? "numbers" : "classes", classes ? "classes" : "numbers");
        s->metric[s->count++] = (enum metric)m;
        p += length;
        if (*p == '\0')
            return DP_OK;
    }
}

static int check_paid_metrics(const struct state *s, struct dp_err *err)
{
    if (s->dataset->label.kind != DP_LABEL_CLASSES)
        return dp_fail(err, DP_E_USAGE, "--private: only rows with classes have measures with noise, the labels are numbers");
    for (int i = 0; i < s->count; i++)
        if (!(metrics[s->metric[i]].does & PAID))
            return dp_fail(err, DP_E_USAGE, "--private: %s has no form with noise; " PAID_METRICS " have",
                           metrics[s->metric[i]].name);
    return DP_OK;
}

static int eval_open(struct dp_stage *stage, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    const char *usual;
    int rc = dp_dataset_open(&s->dataset, o->data, err);
    if (rc != DP_OK)
        return rc;
    bool classes = s->dataset->label.kind == DP_LABEL_CLASSES;
    s->rounded = stage->runtime.terminal && o->format == FORMAT_TSV;
    usual = o->private ? "accuracy,precision,recall,f1,confusion" : classes ? "accuracy,auc,objective" : "mse,r2,objective";
    s->pay = o->pay;
    rc = !o->private || classes ? DP_OK : check_paid_metrics(s, err);
    rc = rc ?: parse_metrics(s, o->metrics != NULL ? o->metrics : usual, err);
    return rc == DP_OK && o->private ? check_paid_metrics(s, err) : rc;
}

static int check_private(const struct options *o, const struct dp_dataset *d, const struct dp_frame *frame, struct dp_err *err)
{
    return o->private_data ? DP_OK : dp_predictor_check_unseen(frame, d, o->data, " (--private-data if that is meant)", err);
}

static int check_against_data(struct dp_stage *stage, const struct dp_frame *frame, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    const struct dp_dataset *d = s->dataset;
    int rc = check_private(o, d, frame, err);
    rc = rc ?: dp_predictor_open(&s->model, frame, d, o->data, err);
    return rc ?: dp_predictor_match(&s->model, frame, d, o->data, err);
}

static bool has_any(const struct state *s, enum does what)
{
    int all = 0;
    for (int i = 0; i < s->count; i++)
        all |= metrics[s->metric[i]].does;
    return (all & (int)what) != 0;
}

/* Checks that the model has a threshold, and the data set a ROC curve. */
static int check_two_classes(const struct options *o, const struct state *s, struct dp_err *err)
{
    const struct dp_predictor *m = &s->model;
    if (has_metric(s, METRIC_ROC) && s->dataset->label.classes != 2)
        return dp_fail(err, DP_E_RUN, "roc: only two classes have one curve");
    if (!isnan(o->threshold) && (s->dataset->label.classes != 2 || !m->known || !dp_metric_has_probability(m->loss)))
        return dp_fail(err, DP_E_RUN, "--threshold: only models of two classes with probabilities have one");
    return DP_OK;
}

/* Checks that the requested metrics exist for such a model. */
static int check_metrics(struct state *s, const struct dp_frame *frame, struct dp_err *err)
{
    const struct dp_dataset *d = s->dataset;
    const struct dp_predictor *m = &s->model;
    const char *name = dp_frame_text(frame, DP_F_LOSS, "");
    s->data_label = (struct dp_affine){.scale = d->label.scale, .offset = d->label.offset};
    if (has_metric(s, METRIC_OBJECTIVE) &&
        (!m->known || !dp_frame_has(frame, DP_F_LAMBDA) || !(m->width > 0) || m->label.scale == 0))
        return dp_fail(err, DP_E_RUN, "objective: the model does not say which loss and lambda it minimises");
    if (has_metric(s, METRIC_OBJECTIVE) && d->label.classes == 0 && dp_loss_is_classification(m->loss))
        return dp_fail(err, DP_E_RUN, "objective: the model's %s loss is for classes", name);
    for (int i = 0; i < s->count; i++)
        if (metrics[s->metric[i]].does & CHANCES && !(m->known && dp_metric_has_probability(m->loss)))
            return dp_fail(err, DP_E_RUN, "%s: only logistic and softmax models give probabilities; this one has %s loss",
                           metrics[s->metric[i]].name, m->known ? name : "an unnamed");
    return DP_OK;
}

static int start_paid(struct state *s, const struct dp_frame *frame, struct dp_err *err)
{
    s->paid.data = s->dataset;
    s->paid.model = &s->model;
    s->paid.brier = has_metric(s, METRIC_BRIER);
    if (isnan(s->pay.delta))
        s->pay.delta = dp_frame_real(frame, DP_F_DELTA, (double)NAN);
    if (!(s->pay.delta > 0 && s->pay.delta < 1))
        return dp_fail(err, DP_E_USAGE, "--delta is required: the model states none");
    dp_eval_paid_open(&s->paid);
    return DP_OK;
}

/* Allocates everything at the first model. */
static int start(struct dp_stage *stage, const struct dp_frame *frame, struct dp_err *err)
{
    struct state *s = stage->state;
    const struct dp_dataset *d = s->dataset;
    int rc = check_against_data(stage, frame, err);
    rc = rc ?: check_metrics(s, frame, err);
    rc = rc ?: check_two_classes(stage->options, s, err);
    if (rc == DP_OK)
        dp_scored_open(&s->measured, &s->model, d);
    s->decided = s->measured.scores;
    if (rc == DP_OK && !isnan(((const struct options *)stage->options)->threshold))
        s->decided = dp_new(d->rows + 1, sizeof *s->decided);
    if (rc == DP_OK && has_metric(s, METRIC_AUC))
        s->work = dp_new(DP_METRIC_AUC_WORK(d->rows) + 1, sizeof *s->work);
    s->text_size = 2048 + (has_metric(s, METRIC_ROC) ? (CORNERS + 2) * 60 : 0);
    if (has_metric(s, METRIC_CONFUSION))
        s->text_size += d->label.classes * (d->label.classes * 25 + 3);
    if (rc == DP_OK && ((const struct options *)stage->options)->private)
        rc = start_paid(s, frame, err);
    if (rc == DP_OK && has_any(s, COUNTS))
        s->counts = dp_new(d->label.classes * d->label.classes, sizeof *s->counts);
    if (rc == DP_OK && has_any(s, CHANCES))
        s->chance = dp_new(2 * d->rows + s->model.form.outputs + 2, sizeof *s->chance);
    if (rc == DP_OK)
        s->text = dp_new(s->text_size, 1);
    s->started = rc == DP_OK;
    return rc;
}

/* Precision, recall or F1. */
static double measure_rate(const struct state *s, enum dp_metric_rate rate)
{
    const struct dp_dataset *d = s->dataset;
    dp_metric_confusion(s->decided, s->model.form.outputs, s->measured.y, s->measured.rows, d->label.classes, s->counts);
    return dp_metric_rate(rate, s->counts, d->label.classes);
}

static double measure_calibration(const struct state *s)
{
    double *probability = s->chance, *hit = s->chance + s->measured.rows;
    dp_scored_calibration(&s->measured, &s->model, probability, hit);
    return dp_curve_calibration_error(probability, hit, s->measured.rows);
}

static double measure(const struct state *s, enum metric metric)
{
    const struct dp_dataset *d = s->dataset;
    const struct dp_predictor *m = &s->model;
    size_t outputs = m->form.outputs;
    struct dp_affine label = {.scale = 1};
    switch (metric) {
    case METRIC_ACCURACY:
        return dp_metric_accuracy(s->decided, outputs, s->measured.y, s->measured.rows);
    case METRIC_AUC:
        return dp_metric_auc(s->measured.scores, outputs, s->measured.y, s->measured.rows, s->work);
    case METRIC_LOG_LOSS:
        return dp_metric_log_loss(m->loss, s->measured.scores, outputs, s->measured.y, s->measured.rows);
    case METRIC_MSE:
        return dp_metric_mse(m->loss, s->measured.scores, m->label, s->measured.y, s->data_label, s->measured.rows);
    case METRIC_R2:
        return dp_metric_r2(m->loss, s->measured.scores, m->label, s->measured.y, s->data_label, s->measured.rows);
    case METRIC_OBJECTIVE:
        /* The model's loss uses the units of its training labels. */
        if (s->data_label.scale != m->label.scale || s->data_label.offset != m->label.offset)
            label = (struct dp_affine){.scale = s->data_label.scale / m->label.scale,
                                       .offset = (s->data_label.offset - m->label.offset) / m->label.scale};
        return dp_metric_objective(m->loss, m->width, s->lap.lambda, s->measured.scores, outputs, s->measured.y, label,
                                   s->measured.rows, d->label.classes, m->parameters, m->form.rows * m->form.cols);
    case METRIC_MAJORITY:
        return dp_metric_majority(s->measured.y, s->measured.rows, d->label.classes, s->counts);
    case METRIC_PRECISION:
        return measure_rate(s, DP_METRIC_PRECISION);
    case METRIC_RECALL:
        return measure_rate(s, DP_METRIC_RECALL);
    case METRIC_F1:
        return measure_rate(s, DP_METRIC_F1);
    case METRIC_BRIER:
        return dp_metric_brier(m->loss, s->measured.scores, outputs, s->measured.y, s->measured.rows, s->chance);
    case METRIC_CALIBRATION:
        return measure_calibration(s);
    case METRIC_RMSE:
        return sqrt(dp_metric_mse(m->loss, s->measured.scores, m->label, s->measured.y, s->data_label, s->measured.rows));
    case METRIC_MAE:
        return dp_metric_mae(m->loss, s->measured.scores, m->label, s->measured.y, s->data_label, s->measured.rows);
    case METRIC_DEVIANCE:
        return dp_metric_deviance(m->loss, s->measured.scores, m->label, s->measured.y, s->data_label, s->measured.rows);
    case METRIC_CONFUSION:
    case METRIC_ROC:
    case METRIC_COUNT:
        break;
    }
    return (double)NAN;
}

static void __attribute__((format(printf, 2, 3))) put(struct state *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(s->text + s->used, s->text_size - s->used, format, args);
    va_end(args);
    if (length > 0)
        s->used += (size_t)length < s->text_size - s->used ? (size_t)length : s->text_size - s->used - 1;
}

static void put_number(struct state *s, double value, bool json)
{
    char text[40];
    if (isfinite(value) && s->rounded)
        put(s, "%.6g", value);
    else if (isfinite(value))
        put(s, "%s", dp_number_print(value, text, sizeof text));
    else
        put(s, "%s", json ? "null" : isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

static void put_epsilon(struct state *s, double epsilon)
{
    put_number(s, s->rounded ? dp_round_up(epsilon, 6) : epsilon, false);
}

/* [[…], …], a row per true class; the same text in both formats. */
static void put_confusion(struct state *s)
{
    const struct dp_dataset *d = s->dataset;
    dp_metric_confusion(s->decided, s->model.form.outputs, s->measured.y, s->measured.rows, d->label.classes, s->counts);
    for (size_t i = 0; i < d->label.classes; i++) {
        put(s, i == 0 ? "[[" : ",[");
        for (size_t j = 0; j < d->label.classes; j++)
            put(s, j == 0 ? "%llu" : ",%llu", (unsigned long long)s->counts[i * d->label.classes + j]);
        put(s, "]");
    }
    put(s, "]");
}

/* [[part of class 0, part of class 1], …] with a score of at least a threshold that falls. */
static void put_roc(struct state *s)
{
    struct dp_curve_point point[CORNERS + 2];
    size_t count = 0;
    if (dp_curve_roc(s->measured.scores, s->measured.y, s->measured.rows, CORNERS, point, &count, NULL) != DP_OK)
        count = 0; /* rows of one class have no curve */
    put(s, "[");
    for (size_t i = 0; i < count; i++) {
        put(s, i > 0 ? ",[" : "[");
        put_number(s, point[i].x, true);
        put(s, ",");
        put_number(s, point[i].y, true);
        put(s, "]");
    }
    put(s, "]");
}

static struct dp_estimate paid_measure(const struct state *s, enum metric metric)
{
    const struct dp_eval_paid *e = &s->paid;
    size_t classes = s->dataset->label.classes;
    /* How many have a label is private if there may be rows without one. */
    double persons = s->dataset->nulls.row != NULL ? (double)NAN : (double)s->dataset->persons;
    struct dp_estimate m;
    switch (metric) {
    case METRIC_ACCURACY:
        return dp_noised_accuracy(e->noised, classes, persons, e->scale);
    case METRIC_MAJORITY:
        return dp_noised_majority(e->noised, classes, persons, e->scale);
    case METRIC_PRECISION:
        return dp_noised_rate(DP_METRIC_PRECISION, e->noised, classes, e->scale);
    case METRIC_RECALL:
        return dp_noised_rate(DP_METRIC_RECALL, e->noised, classes, e->scale);
    case METRIC_F1:
        return dp_noised_rate(DP_METRIC_F1, e->noised, classes, e->scale);
    default:
        m = dp_noised_mean(e->noised[e->size - 1], e->noised, classes, persons, e->scale);
        if (classes == 2)
            return m;
        return (struct dp_estimate){2 * m.value, 2 * m.low, 2 * m.high}; /* errors are summed halved */
    }
}

/* Prints noised counts, with one digit after the point, and how far the noise may have moved each of them. */
static void put_paid_confusion(struct state *s, bool json)
{
    size_t classes = s->dataset->label.classes;
    for (size_t i = 0; i < classes; i++) {
        put(s, i == 0 ? "[[" : ",[");
        for (size_t j = 0; j < classes; j++)
            put(s, j == 0 ? "%.1f" : ",%.1f", s->paid.noised[i * classes + j]);
        put(s, "]");
    }
    put(s, json ? "],\"confusion_within\":" : "]\t");
    put_number(s, dp_noised_within(1, s->paid.scale), json);
}

/* The value and the ends of its interval. */
static void put_paid(struct state *s, enum metric metric, bool json)
{
    if (metric == METRIC_CONFUSION) {
        put_paid_confusion(s, json);
        return;
    }
    struct dp_estimate m = paid_measure(s, metric);
    put_number(s, m.value, json);
    put(s, json ? ",\"%s_low\":" : "\t", metrics[metric].name);
    put_number(s, m.low, json);
    put(s, json ? ",\"%s_high\":" : "\t", metrics[metric].name);
    put_number(s, m.high, json);
}

/* Prints a metric: a number, or JSON in both formats if the metric is not a number. */
static void put_metric(struct state *s, enum metric metric, bool json)
{
    if (s->paid.size > 0)
        put_paid(s, metric, json);
    else if (metric == METRIC_CONFUSION)
        put_confusion(s);
    else if (metric == METRIC_ROC)
        put_roc(s);
    else
        put_number(s, measure(s, metric), json);
}

static void put_header(struct state *s, const struct options *o)
{
    put(s, "lap\tepsilon");
    for (int i = 0; i < s->count; i++) {
        const char *name = metrics[s->metric[i]].name;
        put(s, "\t%s", name);
        if (o->private && s->metric[i] == METRIC_CONFUSION)
            put(s, "\t%s_within", name);
        else if (o->private)
            put(s, "\t%s_low\t%s_high", name, name);
    }
    put(s, "%s%s\n", o->private_data ? "\tprivate_data" : "", o->private ? "\tpaid_epsilon" : "");
}

static void put_tsv(struct state *s, const struct options *o)
{
    if (!s->header)
        put_header(s, o);
    s->header = true;
    put(s, "%lld\t", (long long)s->lap.number);
    put_epsilon(s, s->lap.epsilon);
    for (int i = 0; i < s->count; i++) {
        put(s, "\t");
        put_metric(s, s->metric[i], false);
    }
    if (o->private) {
        put(s, "\t");
        put_epsilon(s, s->cost.upper);
    }
    put(s, "%s\n", o->private_data ? "\tyes" : "");
}

static void put_json(struct state *s, const struct options *o)
{
    put(s, "{\"lap\":%lld,\"epsilon\":", (long long)s->lap.number);
    put_number(s, s->lap.epsilon, true);
    put(s, ",\"delta\":");
    put_number(s, s->lap.delta, true);
    for (int i = 0; i < s->count; i++) {
        put(s, ",\"%s\":", metrics[s->metric[i]].name);
        put_metric(s, s->metric[i], true);
    }
    /* With --private, nothing here may depend on rows but the noised counts: how many rows persons have is not public. */
    if (!o->private || s->dataset->person == NULL)
        put(s, ",\"rows\":%zu", o->private ? s->dataset->rows : s->measured.rows);
    else
        put(s, ",\"persons\":%zu", s->dataset->persons);
    if (o->private) {
        put(s, ",\"paid_epsilon\":");
        put_number(s, s->cost.upper, true);
        put(s, ",\"paid_delta\":");
        put_number(s, s->pay.delta, true);
    }
    put(s, "%s%s%s}\n", s->lap.seeded ? ",\"seeded\":true" : "", s->lap.non_private ? ",\"non_private\":true" : "",
        o->private_data ? ",\"private_data\":true" : "");
}

/* Rows without a label: as many as there are, or, of private rows, persons by the counts that were paid for, above three
 * deviations of their noise. */
static void warn_unlabelled(struct dp_stage *stage, struct dp_out *out)
{
    const struct options *o = stage->options;
    const struct state *s = stage->state;
    double noise, lost = o->private ? dp_eval_paid_unlabelled(&s->paid, &noise) : 0;
    if (o->private && lost >= fmax(3 * noise, 0.5))
        dp_stage_warn(stage, out, "about %.0f of %zu %s, give or take %.0f, have no label, and are left out", lost,
                      s->dataset->persons, s->dataset->person == NULL ? "rows" : "persons", 2 * noise);
    if (!o->private && s->measured.rows < s->dataset->rows && !s->said)
        dp_stage_warn(stage, out, "%zu of %zu rows have no label, and are left out", s->dataset->nulls.count, s->dataset->rows);
}

static int evaluate(struct dp_stage *stage, struct dp_out *out, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    dp_scored_take(&s->measured, &s->model);
    for (size_t i = 0; s->decided != s->measured.scores && i < s->measured.rows; i++) {
        double both[2];
        dp_metric_probability(s->model.loss, s->measured.scores + i, 1, both);
        s->decided[i] = both[1] >= o->threshold ? 1 : -1;
    }
    if (!s->said && strncmp(s->dataset->population, DP_POPULATION_ROWS, strlen(DP_POPULATION_ROWS)) == 0)
        dp_stage_warn(stage, out, "the rows of %s are synthetic, and these measures are not measures on people", o->data);
    if (o->private) {
        char warning[DP_ERR_MESSAGE_SIZE] = "";
        int rc = dp_eval_paid_release(&s->paid, &s->pay, o->data, stage->runtime.registry, stage->runtime.started, s->decided,
                                      s->measured.scores, &s->cost, warning, err);
        if (rc == DP_OK && warning[0] != '\0')
            dp_stage_warn(stage, out, "%s", warning);
        if (rc != DP_OK)
            return rc;
    }
    warn_unlabelled(stage, out);
    s->said = true;
    s->used = 0;
    if (o->format == FORMAT_JSON)
        put_json(s, o);
    else
        put_tsv(s, o);
    s->pending = false;
    return out->text(out, s->text, s->used, err);
}

static int eval_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    if (!dp_frame_has(frame, DP_F_MODEL)) /* a lap of another kind, before the first lap that made a model */
        return DP_OK;
    int rc = s->started ? DP_OK : start(stage, frame, err);
    rc = rc ?: dp_predictor_take(&s->model, frame, err);
    if (rc != DP_OK)
        return rc;
    bool non_private = dp_frame_bool(frame, DP_F_NON_PRIVATE);
    double unknown = non_private ? (double)INFINITY : (double)NAN;
    s->lap = (struct lap){.number = frame->lap,
                          .epsilon = dp_frame_real(frame, DP_F_EPSILON, unknown),
                          .delta = dp_frame_real(frame, DP_F_DELTA, (double)NAN),
                          .lambda = dp_frame_real(frame, DP_F_LAMBDA, 0),
                          .seeded = dp_frame_bool(frame, DP_F_SEEDED),
                          .non_private = non_private};
    s->pending = true;
    return !o->last && !o->private && frame->lap % o->every == 0 ? evaluate(stage, out, err) : DP_OK;
}

static int eval_drain(struct dp_stage *stage, struct dp_out *out, struct dp_err *err)
{
    struct state *s = stage->state;
    if (!s->started)
        return dp_fail(err, DP_E_RUN, "the stream holds no model");
    return s->pending ? evaluate(stage, out, err) : DP_OK;
}

const struct dp_stage_class dp_eval_class = {
    .name = "dp-eval",
    .summary = "Measure released models on a data set",
    DP_STAGE_STRUCTS,
    .takes = DP_LABEL_RELEASED,
    .gives = 0,
    .sink = true,
    .open = eval_open,
    .fire = eval_fire,
    .drain = eval_drain,
    .close = eval_close,
    .ephemeral = true,
};
