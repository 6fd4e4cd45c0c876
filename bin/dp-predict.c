#include <omp.h>
#include <unistd.h>

#include "arrivals/row_reader.h"
#include "base/cli.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/progress.h"
#include "base/sync.h"
#include "base/text.h"
#include "data/carried.h"
#include "data/dataset.h"
#include "data/format.h"
#include "data/input.h"
#include "data/lines.h"
#include "data/row_facts.h"
#include "data/zip.h"
#include "math/metrics.h"
#include "model/predictor.h"
#include "port/model.h"
#include "wire/model.h"

enum { MOST_WARNINGS = 20 };

struct options {
    const char *data, *rows, *keep, *schema, *delimiter, *comment, *sql;
    int64_t skip_lines;
    double threshold;
    bool scores, probability, no_header;
    struct dp_security security;
    double patience;
};

#define DP_OPTIONS struct options
static const struct dp_option options[] = {
    DP_OPTION_TEXT('d', data, "DIR", "the data set, if it is not the second operand"),
    DP_OPTION_TEXT('K', keep, "NAMES", "copy these columns, separated by commas, in front of the predictions",
                   .only = "a table"),
    DP_OPTION_TEXT(0, schema, "FILE", "the schema of the training set, if the model carries none", .only = "a table"),
    DP_OPTION_TEXT(0, sql, "QUERY", "the SELECT statement whose rows are the table, of an SQLite database", .only = "a table"),
    DP_OPTION_TEXT(0, delimiter, "C", "between fields, instead of the training table's", .only = "a table"),
    DP_OPTION_INT(0, skip_lines, "N", DP_FROM_TO(0, 1e9), "skip the first N lines", .fallback = "0", .only = "a table"),
    DP_OPTION_TEXT(0, comment, "C", "skip lines that begin with C", .only = "a table"),
    DP_OPTION_REAL('t', threshold, "P", DP_ABOVE_BELOW(0, 1),
                   "two classes with probabilities: predict the second one from this probability on (0.5)"),
    DP_OPTION_TEXT('r', rows, "PORT", "port for rows from dp-import --out, each answered at once", .excludes = "data"),
    DP_OPTION_FLAG('s', scores, "also the scores x·w"),
    DP_OPTION_FLAG('p', probability, "logistic models: also the probability of each class"),
    DP_OPTION_FLAG('H', no_header, "leave out the line with the column names"),
    DP_SECURITY_OPTIONS(security),
    DP_PATIENCE_OPTION(patience),
    {.name = NULL},
};

struct predict {
    struct options *options;
    struct dp_frame *frame;
    struct dp_dataset *dataset; /* or */
    struct dp_port *port;       /* port for the rows */
    struct dp_row_reader *reader;
    struct dp_predictor model;
    size_t outputs; /* of the model */
    size_t classes; /* 0 for a regression */
    char **names;   /* of the classes */
    double *scores; /* of a block of rows */
    double *probability;
    /* For a table: */
    struct dp_texts keep;
    size_t *kept;         /* fields of the columns to keep */
    size_t unread, empty; /* rows of a table */
};

static void put_text(const char *prefix, const char *text)
{
    dp_text_csv(prefix, text, strlen(text), stdout);
}

static void put_number(double value)
{
    fputs(DP_NUMBER(value), stdout);
}

/* Class names from the model, else from the data set, else their numbers. */
static int get_names(struct predict *p, struct dp_err *err)
{
    const struct dp_dataset *d = p->dataset;
    char *const *others = d != NULL && d->label.classes == p->classes ? d->label.class_names : NULL;
    return dp_model_class_names(p->frame, "the model", p->classes, others, &p->names, err);
}

static int read_model(struct predict *p, const char *model, struct dp_err *err)
{
    if (dp_is_directory(model))
        return dp_fail(err, DP_E_USAGE, "%s is a directory: first the model, then the data set", model);
    p->frame = dp_frame_new();
    return dp_model_read(p->frame, model, err);
}

/* The description of the model's outputs. */
static int get_outputs(struct predict *p, const char *model, struct dp_err *err)
{
    int rc = dp_predictor_take(&p->model, p->frame, err);
    if (rc != DP_OK)
        return rc;
    p->outputs = p->model.form.outputs;
    int64_t classes = dp_frame_int(p->frame, DP_F_CLASSES, -1);
    if (classes < 0 || p->outputs != dp_loss_outputs((size_t)classes) || classes == 1)
        return dp_fail(err, DP_E_RUN, "%s does not say what its %zu outputs stand for", model, p->outputs);
    p->classes = (size_t)classes;
    if (!isnan(p->options->threshold) && (p->classes != 2 || !p->model.known || !dp_metric_has_probability(p->model.loss)))
        return dp_fail(err, DP_E_RUN, "--threshold: only models of two classes with probabilities have one");
    if (p->options->probability && (p->classes == 0 || !p->model.known || !dp_metric_has_probability(p->model.loss)))
        return dp_fail(err, DP_E_RUN, "--probability: only logistic and softmax models give probabilities");
    p->scores = dp_new(p->outputs * DP_FAMILY_ROWS, sizeof *p->scores);
    p->probability = dp_new(p->classes + 1, sizeof *p->probability);
    return rc == DP_OK && p->classes > 0 ? get_names(p, err) : rc;
}

static void put_header(const struct predict *p)
{
    for (size_t k = 0; k < p->keep.count; k++) {
        put_text("", p->keep.text[k]);
        putchar(',');
    }
    fputs("prediction", stdout);
    for (size_t k = 0; p->options->scores && k < p->outputs; k++) {
        putchar(',');
        if (p->classes == 0)
            fputs("score", stdout);
        else
            put_text("score_", p->names[p->outputs == 1 ? 1 : k]);
    }
    for (size_t k = 0; p->options->probability && k < p->classes; k++) {
        putchar(',');
        put_text("probability_", p->names[k]);
    }
    putchar('\n');
}

static size_t class_of(const struct predict *p, const double *scores)
{
    double both[2];
    if (isnan(p->options->threshold))
        return dp_metric_class(scores, p->outputs);
    dp_metric_probability(p->model.loss, scores, p->outputs, both);
    return both[1] >= p->options->threshold;
}

/* The empty cells of a row without a prediction, behind `kept` others. */
static void put_nothing(const struct predict *p, size_t kept)
{
    size_t fields = (p->options->scores ? p->outputs : 0) + (p->options->probability ? p->classes : 0);
    if (kept + fields == 0)
        fputs("\"\"", stdout); /* many readers of CSV leave out an empty line */
    while (fields-- > 0)
        putchar(',');
    putchar('\n');
}

static void put_prediction(const struct predict *p, const double *scores)
{
    const struct dp_predictor *m = &p->model;
    if (p->classes == 0)
        put_number(dp_metric_prediction(m->loss, scores[0], m->label));
    else
        put_text("", p->names[class_of(p, scores)]);
    for (size_t k = 0; p->options->scores && k < p->outputs; k++) {
        putchar(',');
        put_number(scores[k]);
    }
    if (p->options->probability)
        dp_metric_probability(m->loss, scores, p->outputs, p->probability);
    for (size_t k = 0; p->options->probability && k < p->classes; k++) {
        putchar(',');
        put_number(p->probability[k]);
    }
    putchar('\n');
}

static void put_row(const struct predict *p, const struct dp_row *row)
{
    dp_predictor_score_row(&p->model, row, p->scores);
    put_prediction(p, p->scores);
}

/* The rows of the data set, in blocks: a network takes several at once. */
static void put_rows(const struct predict *p)
{
    /* Without a reader the program stops; dp_cli_finish reports the error. */
    for (size_t from = 0, count; from < p->dataset->rows && !ferror(stdout); from += count) {
        count = p->dataset->rows - from < DP_FAMILY_ROWS ? p->dataset->rows - from : DP_FAMILY_ROWS;
        dp_progress_rows(from, p->dataset->rows);
        dp_predictor_score(&p->model, p->dataset, from, count, p->scores);
        for (size_t i = 0; i < count; i++) {
            if (dp_dataset_is_null(p->dataset, from + i))
                put_nothing(p, 0); /* its features are gone, too */
            else
                put_prediction(p, p->scores + i * p->outputs);
        }
    }
    dp_progress_over();
    if (p->dataset->nulls.count > 0)
        fprintf(stderr,
                "dp-predict: %zu of %zu rows have no label, and no features in a data set: their predictions are empty\n",
                p->dataset->nulls.count, p->dataset->rows);
}

/* Answers rows that arrive: prints a line for each before it waits for the next ones. */
static int predict_arrivals(struct predict *p, const char *model, struct dp_err *err)
{
    struct dp_rows rows;
    bool first = true;
    const struct dp_port_setting setting = {p->options->security, p->options->patience, dp_cli_hear, "dp-predict"};
    int rc = dp_port_open_with(&p->port, p->options->rows, DP_IN, &setting, err);
    if (rc == DP_OK)
        dp_row_reader_open(&p->reader, p->port, p->options->rows);
    while (rc == DP_OK && (rc = dp_row_reader_next(p->reader, &rows, err)) == 1) {
        rc = DP_OK;
        if (first) {
            rc = dp_predictor_open_for(&p->model, p->frame, dp_row_reader_facts(p->reader), p->options->rows, err);
            rc = rc ?: get_outputs(p, model, err);
            if (rc == DP_OK && !p->options->no_header)
                put_header(p);
        }
        first = false;
        for (size_t i = 0; rc == DP_OK && i < rows.count; i++) {
            const struct dp_row row = dp_row_dense(rows.x + i * rows.cols, rows.cols);
            if (isnan(rows.y[i]))
                put_nothing(p, 0);
            else
                put_row(p, &row);
        }
        if (fflush(stdout) != 0) /* dp_cli_finish reports it */
            return rc;
    }
    return rc;
}

static bool is_data_set(const char *path)
{
    char description[4200];
    return snprintf(description, sizeof description, "%s/dataset.json", path) < (int)sizeof description &&
           access(description, F_OK) == 0;
}

static enum dp_map_kind map_of(const struct predict *p)
{
    return dp_map_named(dp_frame_text(p->frame, DP_F_ROW_NORM, ""));
}

/* --- a table --------------------------------------------------------------------------------------------------------- */

struct table {
    struct predict *p;
    const char *model, *name;
    bool headed; /* the table has a header: its names come before ours */
};

static int begin_table(void *self, const struct dp_row_facts *facts, struct dp_err *err)
{
    struct table *t = self;
    int rc = dp_predictor_open_for(&t->p->model, t->p->frame, facts, t->name, err);
    rc = rc ?: get_outputs(t->p, t->model, err);
    if (rc == DP_OK && !t->headed && !t->p->options->no_header)
        put_header(t->p);
    return rc;
}

/* Finds the columns to keep, and prints the header. */
static int head_table(void *self, const struct dp_import *import, struct dp_err *err)
{
    const struct table *t = self;
    struct predict *p = t->p;
    const struct dp_lines *lines = import->reader.lines;
    p->kept = dp_new(p->keep.count + 1, sizeof *p->kept);
    int rc = DP_OK;
    for (size_t k = 0; rc == DP_OK && k < p->keep.count; k++) {
        const char *name = p->keep.text[k];
        size_t f = 0;
        while (f < lines->fields &&
               !(strlen(name) == lines->field[f].length && memcmp(name, lines->field[f].text, strlen(name)) == 0))
            f++;
        p->kept[k] = f;
        if (f == lines->fields)
            rc = dp_fail(err, DP_E_RUN, "--keep: %s has no column '%.80s'", t->name, name);
    }
    if (rc == DP_OK && !p->options->no_header)
        put_header(p);
    return rc;
}

static void put_kept(const struct predict *p, const struct dp_lines *lines)
{
    for (size_t k = 0; k < p->keep.count; k++) {
        size_t f = p->kept[k];
        if (f < lines->fields)
            dp_text_csv("", lines->field[f].text, lines->field[f].length, stdout);
        putchar(',');
    }
}

/* Whether no feature has a cell, whatever other columns have. */
static bool is_empty(const struct dp_import *import)
{
    const struct dp_lines *lines = import->reader.lines;
    const struct dp_schema *s = &import->plan.schema;
    bool filled = lines == NULL;
    for (size_t i = 0; i < s->columns && !filled; i++) {
        const size_t field = import->reader.field == NULL ? i : import->reader.field[i];
        const enum dp_column_type type = s->column[i].type;
        filled = type != DP_COLUMN_LABEL && type != DP_COLUMN_IGNORE && type != DP_COLUMN_PERSON && field < lines->fields &&
                 lines->field[field].length > 0;
    }
    return !filled;
}

static int put_table_row(void *self, const struct dp_import *import, const float *x, double y, struct dp_err *err)
{
    const struct table *t = self;
    const struct dp_row row = dp_row_dense(x, import->plan.features);
    (void)y;
    if (import->plan.shape.height > 0) /* images, of which no lines are counted */
        dp_progress_rows(import->result.rows + 1, 0);
    t->p->empty += is_empty(import);
    put_kept(t->p, import->reader.lines);
    put_row(t->p, &row);
    return ferror(stdout) ? dp_fail(err, DP_E_UPSTREAM, "%s", "") : DP_OK;
}

/* A row that cannot be read has no prediction. */
static int put_unread(void *self, const struct dp_import *import, const char *why, struct dp_err *err)
{
    const struct table *t = self;
    struct predict *p = t->p;
    (void)err;
    if (p->unread++ < MOST_WARNINGS)
        dp_cli_warn("dp-predict", why);
    put_kept(p, import->reader.lines);
    put_nothing(p, p->keep.count);
    return DP_OK;
}

static int pause_table(void *self, struct dp_err *err)
{
    (void)self, (void)err;
    fflush(stdout); /* dp_cli_finish reports an error */
    return DP_OK;
}

static void take_keep(struct predict *p)
{
    for (const char *at = p->options->keep; at != NULL; at = *at == ',' ? at + 1 : NULL) {
        size_t length = strcspn(at, ",");
        dp_texts_add(&p->keep, at, length);
        at += length;
    }
}

/* The schema of a file. It may hold values that a proposal took from the rows. A schema that must still
 * be measured is refused later. */
static int take_schema(const struct predict *p, const char *model, struct dp_import *import, struct dp_err *err)
{
    const char *norm = dp_frame_text(p->frame, DP_F_ROW_NORM, "");
    int rc = dp_schema_load(&import->plan.schema, p->options->schema, err);
    if (rc == DP_OK && !dp_row_norm_read(norm, &import->plan.norm, &import->plan.bias, &import->plan.basis,
                                         &import->plan.products, &import->plan.quantise))
        rc = dp_fail(err, DP_E_RUN, "%s does not say how rows are scaled", model);
    if (rc == DP_OK && import->plan.schema.paid == NULL &&
        strstr(dp_frame_text(p->frame, DP_F_PREPROCESSING, ""), "paid-schema"))
        rc = dp_fail(err, DP_E_RUN,
                     "%s has knots that were paid for, and %s lacks them: import the rows without --private-knots", model,
                     p->options->schema);
    json_decref(import->plan.schema.private_preprocessing);
    import->plan.schema.private_preprocessing = NULL;
    return rc;
}

static void say_rows(size_t some, size_t all, const char *what)
{
    char sentence[120];
    snprintf(sentence, sizeof sentence, "%zu of %zu rows %s", some, all, what);
    if (some > 0)
        dp_cli_warn("dp-predict", sentence);
}

/* The bounds of a column, as its cells are written. */
static const char *show_bounds(const struct dp_column *c, char text[3 * DP_DATE_TEXT])
{
    char low[DP_DATE_TEXT], high[DP_DATE_TEXT];
    if (c->date == NULL)
        snprintf(text, 3 * DP_DATE_TEXT, "[%.6g, %.6g]", c->low, c->high);
    else
        snprintf(text, 3 * DP_DATE_TEXT, "[%s, %s]", dp_date_print(c->date, c->low, low),
                 dp_date_print(c->date, c->high, high));
    return text;
}

/* A line per column whose cells the model has no meaning for. Bounds that were paid for cut up to half of the cells, so numbers
 * are strange only if a tenth of them is far beyond, or most are beyond. *changed: most cells of a column have no meaning. */
static void say_strange(const struct dp_import *import, bool *changed)
{
    const size_t rows = import->result.rows;
    for (size_t i = 0; i < import->plan.schema.columns; i++) {
        const struct dp_column *c = &import->plan.schema.column[i];
        const struct dp_beyond beyond = import->plan.clamped[i];
        const char *what = c->type == DP_COLUMN_CATEGORICAL ? "have no category of the model"
                           : c->date != NULL                ? "cannot be read as dates, and count as missing"
                                                            : "cannot be read as numbers, and count as missing";
        char sentence[DP_TEXT_SHOWN + 3 * DP_DATE_TEXT + 120], bounds[3 * DP_DATE_TEXT];
        const char *shown = DP_SHOWN(c->name);
        snprintf(sentence, sizeof sentence, "column '%s': %zu of %zu cells %s", shown, import->strange[i], rows, what);
        if (import->strange[i] > 0)
            dp_cli_warn("dp-predict", sentence);
        *changed |= import->strange[i] > rows / 2;
        if (c->type != DP_COLUMN_NUMERIC || dp_column_is_one_number(c) || (beyond.far <= rows / 10 && beyond.all <= rows / 2))
            continue;
        snprintf(sentence, sizeof sentence, "column '%s': %zu of %zu cells are beyond %s, and count as these bounds", shown,
                 beyond.all, rows, show_bounds(c, bounds));
        dp_cli_warn("dp-predict", sentence);
        *changed |= beyond.far > rows / 2;
    }
}

/* The schema of the columns, for a table that has names or lines of cells. */
static int take_columns(struct predict *p, const char *model, struct dp_import *import, struct dp_err *err)
{
    const struct options *o = p->options;
    const char *schema = dp_frame_text(p->frame, DP_F_SCHEMA, NULL);
    if (schema == NULL && o->schema == NULL)
        return dp_fail(err, DP_E_RUN, "%s carries no public schema: --schema names the schema of the training set", model);
    take_keep(p);
    int rc = o->schema != NULL ? take_schema(p, model, import, err) : dp_carried_take(&import->plan, schema, model, err);
    if (rc == DP_OK && !import->plan.schema.header && p->keep.count > 0)
        rc = dp_fail(err, DP_E_USAGE, "--keep: the tables of this model have no header");
    if (rc == DP_OK && ((o->delimiter != NULL && strlen(o->delimiter) != 1) || (o->comment != NULL && strlen(o->comment) != 1)))
        rc = dp_fail(err, DP_E_USAGE, "--%s: must be one character", o->delimiter != NULL ? "delimiter" : "comment");
    if (o->sql != NULL || import->source.arff)
        import->plan.schema.delimiter = ',';
    else if (o->delimiter != NULL)
        import->plan.schema.delimiter = o->delimiter[0];
    import->strange = dp_new(import->plan.schema.columns + 1, sizeof *import->strange);
    return rc;
}

/* Rows of numbers and images have no names: the model has their scaling. */
static int take_scaling(const struct predict *p, const char *model, struct dp_import *import, struct dp_err *err)
{
    struct dp_row_plan *plan = &import->plan;
    struct dp_form form;
    if (import->map != DP_MAP_NONE)
        return DP_OK;
    int rc = dp_form_read(&form, p->frame, err);
    if (rc == DP_OK && !dp_row_norm_read(dp_frame_text(p->frame, DP_F_ROW_NORM, ""), &plan->norm, &plan->bias, &plan->basis,
                                         &plan->products, &plan->quantise))
        rc = dp_fail(err, DP_E_RUN, "%s does not say how rows are scaled", model);
    if (rc == DP_OK && strstr(dp_frame_text(p->frame, DP_F_PREPROCESSING, ""), "max-abs") != NULL)
        rc = dp_fail(err, DP_E_RUN,
                     "%s does not have the magnitudes by which --scale max-abs divided its rows: only a data set that was "
                     "imported with them (--split) can be scored",
                     model);
    if (rc == DP_OK)
        import->source.cols = form.features - plan->bias;
    return rc;
}

/* IDX has no usual end of a name. */
static bool is_idx(const char *path)
{
    unsigned char head[4] = {1};
    struct dp_input *in = NULL;
    size_t got = 0;
    bool is = dp_input_open(&in, path, NULL) == DP_OK && dp_input_read(in, head, sizeof head, &got, NULL) == DP_OK;
    dp_input_close(in);
    return is && got == sizeof head && memcmp(head, "\0\0\x08", 3) == 0;
}

/* The format of a file or folder. A model with a schema reads lines of cells. */
static enum dp_import_format format_of(const struct predict *p, const char *path)
{
    const bool images = map_of(p) != DP_MAP_NONE;
    const int named = dp_format_of(path);
    if (!images && (p->options->schema != NULL || dp_frame_has(p->frame, DP_F_SCHEMA)))
        return DP_IMPORT_CSV;
    if (named == DP_IMPORT_NPY || named == DP_IMPORT_NPZ || named == DP_IMPORT_IMAGES || (named == DP_IMPORT_LIBSVM && !images))
        return (enum dp_import_format)named;
    if (strcmp(path, "-") != 0 && ((access(path, F_OK) != 0 && errno == ENOTDIR) || dp_zip_is(path))) /* also a folder in it */
        return DP_IMPORT_IMAGES;
    return images || (strcmp(path, "-") != 0 && is_idx(path)) ? DP_IMPORT_IDX : DP_IMPORT_CSV;
}

static const struct dp_command command;

static int predict_table(struct predict *p, const char *model, const char *path, struct dp_err *err)
{
    struct table t = {p, model, strcmp(path, "-") == 0 ? "standard input" : path, false};
    const struct dp_import_rows to = {&t, head_table, put_unread, begin_table, put_table_row, pause_table};
    const struct options *o = p->options;
    struct dp_import import = {.source.format = format_of(p, path),
                               .source.input = path,
                               .source.member = {"X"},
                               .source.sql = o->sql,
                               .source.arff = dp_format_of(path) == DP_IMPORT_ARFF,
                               .source.skip_lines = (size_t)o->skip_lines,
                               .source.comment = o->comment != NULL ? o->comment[0] : '\0',
                               .map = map_of(p),
                               .threads = omp_get_max_threads(),
                               .unlabelled = true};
    const bool cells = import.source.format == DP_IMPORT_CSV;
    int rc = cells ? take_columns(p, model, &import, err)
                   : dp_option_operand(&command, p->options, NULL, dp_format_names[import.source.format], err)
                         ?: take_scaling(p, model, &import, err);
    t.headed = import.plan.schema.header;
    rc = rc ?: dp_import_stream(&import, &to, err);
    dp_progress_over();
    if (rc == DP_OK)
        say_rows(p->unread, p->unread + import.result.rows, "could not be read, and have no prediction");
    if (rc == DP_OK)
        say_rows(p->empty, import.result.rows, "are empty: their prediction is of missing cells only");
    bool changed = false;
    dp_lines_tell(&import.result.notes, dp_cli_warn, "dp-predict");
    if (rc == DP_OK && cells)
        say_strange(&import, &changed);
    if (rc == DP_OK && p->empty > import.result.rows / 2)
        rc = dp_fail(err, DP_E_RUN, "%s: most rows are empty", t.name);
    else if (changed)
        rc = dp_fail(err, DP_E_RUN,
                     "most cells of a column of %s have no meaning: it is written otherwise than the training table, or a "
                     "schema that was paid for could not name its words",
                     t.name);
    free(import.strange);
    dp_import_free(&import);
    return rc;
}

static const struct dp_command command = {"dp-predict", "MODEL [DIR|TABLE]",
                                          "Predict the labels of a table, of a data set's rows or of rows that arrive, as CSV",
                                          options, NULL};

static int run(struct predict *p, const char *model, const char *data, struct dp_err *err)
{
    int rc = read_model(p, model, err);
    if (rc != DP_OK || data == NULL)
        return rc != DP_OK ? rc : predict_arrivals(p, model, err);
    /* A folder in an archive cannot be accessed. */
    if (strcmp(data, "-") != 0 && access(data, R_OK) != 0 && errno != ENOTDIR)
        return dp_fail_errno(err, errno, "cannot open %s", data);
    if (!dp_is_directory(data) || (!is_data_set(data) && format_of(p, data) == DP_IMPORT_IMAGES))
        return predict_table(p, model, data, err);
    rc = dp_option_operand(&command, p->options, NULL, "a data set", err);
    rc = rc ?: dp_dataset_open(&p->dataset, data, err);
    rc = rc ?: dp_predictor_open(&p->model, p->frame, p->dataset, data, err);
    rc = rc ?: get_outputs(p, model, err);
    if (rc != DP_OK)
        return rc;
    if (!p->options->no_header)
        put_header(p);
    put_rows(p);
    return DP_OK;
}

int main(int argc, char **argv)
{
    struct options o;
    struct predict p = {.options = &o};
    struct dp_err err = {0};
    int operand, status, rc;
    if (!dp_cli_start(&command, &o, NULL, argc, argv, &operand, &status))
        return status;
    int operands = argc - operand;
    dp_progress_watch("dp-predict: ", o.rows != NULL || isatty(STDOUT_FILENO));
    const char *model = operands > 0 ? argv[operand] : "-";
    if (o.rows != NULL && operands > 1)
        rc = dp_fail(&err, DP_E_USAGE, "--rows replaces a data set: there is one too many");
    else if (o.rows != NULL && strcmp(o.rows, "-") == 0 && strcmp(model, "-") == 0)
        rc = dp_fail(&err, DP_E_USAGE, "--rows: standard input is where the model comes from");
    else if (o.rows == NULL && (o.data == NULL ? operands != 2 : operands > 1))
        rc = dp_fail(&err, DP_E_USAGE, "expected a model, and a data set or a table (try --help)");
    else
        rc = run(&p, model, o.rows != NULL ? NULL : o.data != NULL ? o.data : argv[operand + 1], &err);
    dp_model_free_names(p.names, p.classes);
    dp_predictor_close(&p.model);
    free(p.scores);
    free(p.probability);
    dp_texts_free(&p.keep);
    free(p.kept);
    dp_dataset_close(p.dataset);
    dp_row_reader_close(p.reader);
    dp_port_close(p.port);
    dp_frame_free(p.frame);
    return dp_cli_finish("dp-predict", rc, &err);
}
