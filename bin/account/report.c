/* dp-account report: what ledgers say, and the page of a ledger or a model. */

#include "../info/curves.h"
#include "along.h"
#include "base/json.h"
#include "base/number.h"
#include "base/sync.h"
#include "base/text.h"
#include "data/carried.h"
#include "base/mem.h"
#include "base/version.h"
#include "books.h"
#include "data/dataset.h"
#include "held_out.h"
#include "ledger/report.h"
#include "page.h"
#include "plain.h"
#include "port/port.h"
#include "stated.h"
#include "words.h"

static const struct dp_option report_options[] = {
    DATA("only this data set, its digest or its population; MODEL: the data set that has its ledger"),
    DP_OPTION_REAL('d', q.delta, "D", DP_ABOVE_BELOW(0, 1), "the delta of the totals (the largest delta of the runs)"),
    DP_OPTION_TEXT('o', output, "FILE", "write a page (HTML) to be read by everybody, and nothing else",
                   .excludes = "json, text"),
    DP_OPTION_FLAG(0, text, "print the page as text", .excludes = "json"),
    DP_OPTION_TEXT('m', model, "FILE", "on the page: what this model has cost, and its weights"),
    DP_OPTION_TEXT('t', test, "DIR", "on the page: how good the model is on these held-out rows"),
    JSON,
    DP_REGISTRY_OPTIONS(choice),
    {.name = NULL},
};

/* The weights of a model with one output and the names of the columns, if the data set has names for all of them. */
static int take_weights(struct page_weights *weights, const struct dp_frame *frame, struct dp_dataset *data, struct dp_err *err)
{
    size_t rows, cols;
    int rc = dp_model_shape(frame, &rows, &cols, err);
    if (rc != DP_OK || rows != 1 || data == NULL || data->column_names == NULL || cols < data->cols)
        return rc;
    weights->values = dp_new(cols, sizeof *weights->values);
    rc = rc ?: dp_model_weights(frame, weights->values, err);
    enum dp_row_norm norm = DP_NORM_BOUNDS;
    bool bias, quantised;
    enum dp_basis_kind basis;
    size_t products;
    dp_row_norm_read(data->row_norm, &norm, &bias, &basis, &products, &quantised);
    weights->divides = norm == DP_NORM_UNIT || norm == DP_NORM_CAP;
    weights->names = data->column_names;
    weights->count = rc == DP_OK ? data->cols : 0;
    return rc;
}

static const char *text_of(const void *list, size_t i, size_t *length)
{
    const json_t *text = json_array_get(list, i);
    *length = json_string_length(text);
    return json_string_value(text);
}

/* "a, b and 3 more" of a list of texts in JSON, which may be NULL. The caller frees it. */
static char *listed(const char *json)
{
    char names[DP_TEXT_LISTED] = "";
    json_t *list = NULL;
    if (json != NULL && dp_json_parse(&list, json, strlen(json), NULL, NULL) == DP_OK)
        dp_text_list(text_of, list, json_array_size(list), names);
    json_decref(list);
    return dp_got(strdup(names));
}

/* The errors of rows: of ROWS.model, the lines of the mark ROWS.synthetic (dpline-rows(1)) from the third on; or NULL. The first
 * line has to be the line of a mark that names the model: other files may be private. */
static json_t *errors_json(const char *model)
{
    const char *end = strrchr(model, '.');
    char *path = dp_format("%.*s.synthetic", end != NULL ? (int)(end - model) : 0, model), *line = NULL;
    FILE *in = end != NULL && strcmp(end, ".model") == 0 ? fopen(path, "re") : NULL;
    json_t *errors = json_array();
    size_t size = 0;
    ssize_t length;
    const char *slash = strrchr(model, '/'), *name = slash != NULL ? slash + 1 : model;
    bool marks = true;
    for (int k = 0; in != NULL && marks && (length = getline(&line, &size, in)) > 0; k++)
        if (k == 0)
            marks = strncmp(line, DP_MARK_OF_ROWS, strlen(DP_MARK_OF_ROWS)) == 0 && strstr(line, name) != NULL;
        else if (k > 1)
            json_array_append_new(errors, json_stringn(line, (size_t)length - (line[length - 1] == '\n')));
    json_t *json = json_array_size(errors) > 0 ? json_pack("{s:s, s:O}", "file", path, "line", errors) : NULL;
    if (in != NULL)
        fclose(in);
    json_decref(errors);
    free(line);
    free(path);
    return json;
}

/* The prediction of the model in words (page.h). model: its file. */
static json_t *predicts_json(const struct dp_frame *frame, const char *model, const struct dp_dataset *data)
{
    const char *carried = dp_frame_text(frame, DP_F_SCHEMA, "{}"), *name = data != NULL ? data->label.name : NULL;
    double low = 0, high = 0;
    json_t *schema = NULL, *column, *json = json_object();
    size_t i;
    const char *release = books_release(frame);
    if (release != NULL) {
        json_object_set_new(json, "release", json_string(release));
        const bool rows = strcmp(release, DP_MARK_OF_ROWS) == 0;
        json_object_set_new(json, "synthetic", json_boolean(rows));
        json_t *errors = rows ? errors_json(model) : NULL;
        if (errors != NULL)
            json_object_set_new(json, "errors", errors);
        return json;
    }
    dp_json_parse(&schema, carried, strlen(carried), NULL, NULL);
    json_array_foreach (json_object_get(schema, "columns"), i, column)
        if (strcmp(json_string_value(json_object_get(column, "type")), "label") == 0)
            name = json_string_value(json_object_get(column, "name"));
    char *classes = listed(dp_frame_text(frame, DP_F_LABELS, NULL));
    dp_carried_label(carried, &low, &high);
    if (name != NULL)
        json_object_set_new(json, "name", json_string(name));
    json_object_set_new(json, "classes", json_string(classes));
    if (low < high)
        json_object_set_new(json, "bounds", json_pack("{s:f, s:f}", "low", low, "high", high));
    free(classes);
    json_decref(schema);
    return json;
}

/* The day of the page: SOURCE_DATE_EPOCH, for pages of the same bytes, or today. */
static time_t now(void)
{
    const char *set = getenv("SOURCE_DATE_EPOCH");
    int64_t seconds;
    return set != NULL && dp_number_int(set, &seconds) ? (time_t)seconds : time(NULL);
}

/* The page as text, on standard output. */
static void print_plain(struct page *page)
{
    char *html = NULL;
    size_t size;
    FILE *memory = dp_got(open_memstream(&html, &size));
    page->plain = true;
    page_print(page, memory);
    dp_close_text(memory);
    plain_print(html, stdout);
    free(html);
}

static int write_page(const struct books *b, struct page *page, struct dp_err *err)
{
    if (b->text) {
        print_plain(page);
        return DP_OK;
    }
    struct dp_output output;
    int rc = dp_output_open(&output, b->output, false, err);
    if (rc != DP_OK)
        return rc;
    page_print(page, output.stream);
    return dp_output_close(&output, rc, err);
}

/* The model of a page. */
struct subject {
    struct dp_frame *frame;
    char digest[DP_MODEL_DIGEST];
};

/* Collects the parts of the page that are about the model. data: of its data set, or NULL. */
static int show_model(const struct books *b, const struct subject *s, struct dp_dataset *data, struct page *page,
                      struct dp_err *err)
{
    if (!dp_frame_has(s->frame, DP_F_SCHEMA))
        return take_weights(&page->weights, s->frame, data, err);
    /* networks have neither */
    info_coefficients_json(s->frame, b->model, &page->coefficients, NULL);
    info_curves_json(s->frame, b->model, &page->curves, NULL);
    return DP_OK;
}

/* The data set of the page: it is at that place, or next to the ledger, and has the rows of the certificate. Or NULL. */
static struct dp_dataset *find_data(const struct books *b, const char *directory, const json_t *certificate)
{
    struct dp_dataset *data = NULL;
    const char *slash = b->ledger != NULL ? strrchr(b->ledger, '/') : NULL;
    char *place = directory != NULL && dp_is_directory(directory) ? dp_format("%s", directory)
                  : slash != NULL                                 ? dp_format("%.*s", (int)(slash - b->ledger), b->ledger)
                                                                  : dp_format(".");
    dp_dataset_open(&data, place, NULL);
    free(place);
    if (data == NULL || certificate == NULL ||
        strcmp(data->digest, json_string_value(json_object_get(certificate, "data"))) == 0)
        return data;
    dp_dataset_close(data);
    return NULL;
}

/* report: NULL without a ledger. s: NULL without a model. directory: of the data set whose ledger this is, or NULL. */
static int print_page(const struct books *b, const struct subject *s, const json_t *report, const char *directory,
                      struct dp_err *err)
{
    struct page page = {.report = report,
                        .alone = b->ledger == NULL,
                        .ledger = b->ledger,
                        .model = b->model,
                        .software = "dpline " DP_VERSION,
                        .made = now()};
    json_t *certificate = NULL, *held_out = NULL, *along = NULL, *predicts = NULL;
    int rc = s == NULL           ? DP_OK
             : b->ledger != NULL ? books_make_certificate(b, s->frame, s->digest, &certificate, err)
                                 : stated_by_model(s->frame, b->model, &certificate, err);
    struct dp_dataset *data = rc == DP_OK ? find_data(b, directory, certificate) : NULL;
    char *left_out = data != NULL && data->left_out != NULL ? listed(data->left_out) : NULL;
    page.certificate = certificate;
    page.left_out = left_out;
    if (rc == DP_OK && s != NULL)
        rc = show_model(b, s, data, &page, err);
    if (rc == DP_OK && s != NULL)
        page.predicts = predicts = predicts_json(s->frame, b->model, data);
    if (rc == DP_OK && b->test != NULL)
        rc = held_out_measure(s->frame, b->test, &held_out, err);
    if (rc == DP_OK && s != NULL)
        rc = along_measure(b->model, b->test, &along, err);
    page.held_out = held_out;
    page.along = along;
    rc = rc ?: write_page(b, &page, err);
    free(page.weights.values);
    json_decref(page.coefficients);
    json_decref(page.curves);
    json_decref(certificate);
    json_decref(predicts);
    free(left_out);
    json_decref(held_out);
    json_decref(along);
    dp_dataset_close(data);
    return rc;
}

static int check_page(const struct books *b, bool model, struct dp_err *err)
{
    bool page = b->output != NULL || b->text || model;
    if (!page && (b->model != NULL || b->test != NULL))
        return dp_fail(err, DP_E_USAGE, "%s is for a page: -o FILE or --text", b->model != NULL ? "--model" : "--test");
    return b->test == NULL || b->model != NULL ? DP_OK : dp_fail(err, DP_E_USAGE, "--test goes with --model");
}

/* Whether a file is a stream of frames: a ledger and a table begin with a character of ASCII. */
static bool is_model(const char *path)
{
    FILE *file = dp_is_directory(path) ? NULL : fopen(path, "re");
    int first = file != NULL ? getc(file) : EOF;
    if (file != NULL)
        fclose(file);
    return first > 127;
}

/* The page of a model, with what its ledger has if that is found. */
static int report_model(struct books *b, struct dp_err *err)
{
    struct subject s = {0};
    json_t *json = NULL;
    b->text = b->output == NULL;
    int rc = books_read_model(b->model, &s.frame, s.digest, err);
    rc = rc ?: books_find_run(b, s.frame, err);
    if (rc == DP_OK && b->ledger != NULL)
        rc = dp_ledger_report_people(b->ledger, &b->people, b->population, b->q.delta, &json, err);
    rc = rc ?: print_page(b, &s, json, b->data, err);
    json_decref(json);
    dp_frame_free(s.frame);
    return rc;
}

static int report_ledger(struct books *b, struct dp_err *err)
{
    struct subject s = {0};
    json_t *json;
    const char *operand = b->ledger;
    int rc = books_find_ledger(b, "a file, a data set that has one, or a model", err);
    if (rc == DP_OK && b->data != NULL)
        rc = books_find_population(b, true, err);
    rc = rc ?: books_find_people(b, operand, false, err);
    rc = rc
             ?: dp_ledger_report_people(b->ledger, b->people.ledger != NULL ? &b->people : NULL,
                                        b->data != NULL ? b->population : NULL, b->q.delta, &json, err);
    if (rc == DP_OK && b->model == NULL && (b->output != NULL || b->text || b->q.json))
        rc = dp_ledger_report_curves(b->ledger, json, err);
    if (rc != DP_OK)
        return rc;
    if (b->model != NULL)
        rc = books_read_model(b->model, &s.frame, s.digest, err);
    if (rc == DP_OK && (b->output != NULL || b->text))
        rc = print_page(b, b->model != NULL ? &s : NULL, json, b->data != NULL ? b->data : operand, err);
    else if (rc == DP_OK && b->q.json)
        dp_json_print(json, 2, stdout);
    else if (rc == DP_OK)
        dp_ledger_report_print(json, stdout);
    json_decref(json);
    dp_frame_free(s.frame);
    return rc;
}

static int report(struct books *b, struct dp_err *err)
{
    bool model = b->ledger != NULL && is_model(b->ledger);
    if (model && b->model != NULL)
        return dp_fail(err, DP_E_USAGE, "%s is a model, and --model names another", b->ledger);
    if (model && b->q.json)
        return dp_fail(err, DP_E_USAGE, "--json is for ledgers: %s is a model", b->ledger);
    if (model && b->data != NULL && !dp_is_directory(b->data))
        return dp_fail(err, DP_E_USAGE, "of a model, --data is the directory of its data set");
    if (model) {
        b->model = b->ledger;
        b->ledger = NULL;
    }
    int rc = check_page(b, model, err);
    return rc != DP_OK ? rc : model ? report_model(b, err) : report_ledger(b, err);
}

const struct word word_report = {
    .command = {"dp-account report", "[LEDGER|DIR|MODEL]", "Say what has been spent on data sets", report_options, NULL},
    .run = books_run,
    .books = report};
