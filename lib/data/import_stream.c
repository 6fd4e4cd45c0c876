/* A table as a stream of rows. Nothing may be measured on the rows, because later rows are not known. */

#include "base/interrupt.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/carried.h"
#include "data/digest.h"
#include "data/features.h"
#include "data/image_rows.h"
#include "data/row_facts.h"

struct stream {
    struct dp_import *import;
    const struct dp_import_rows *to;
    struct dp_features features;
    struct dp_image_rows images; /* import->map */
    float *row;                  /* NULL: no row has come, and the columns may be unknown */
};

/* Refuses a schema that needs measurements, with the words that a data set would note. */
static int refuse_measures(struct dp_schema *schema, struct dp_err *err)
{
    dp_features_note(schema);
    const char *word = json_string_value(json_array_get(schema->private_preprocessing, 0));
    return word == NULL ? DP_OK
                        : dp_fail(err, DP_E_USAGE,
                                  "a stream of rows needs a schema that is public, and '%.60s' is taken from the rows", word);
}

/* Refuses a person column: later rows of the same person are not known. */
static int refuse_persons(const struct dp_schema *schema, struct dp_err *err)
{
    long column = dp_schema_person(schema);
    if (column < 0)
        return DP_OK;
    const char *name = schema->column[column].name;
    return dp_fail(
        err, DP_E_USAGE,
        "--out: a stream cannot keep the rows of one person together: with \"type\": \"ignore\" for column '%s' each row "
        "is taken for one person",
        DP_SHOWN(name));
}

/* Hands a row on, with the bytes that it has in a data set. */
static int pass_row(void *self, const double *x, double y, struct dp_err *err)
{
    struct stream *s = self;
    struct dp_import *import = s->import;
    const struct dp_row_length length = {import->plan.norm, import->plan.divisor, import->plan.features, import->plan.step};
    int rc = dp_row_shorten(&length, x, 1, import->result.rows + 1, s->row, err);
    rc = rc ?: s->to->row(s->to->self, import, s->row, y, err);
    import->result.rows += rc == DP_OK;
    return rc;
}

static int pass_header(void *self, struct dp_err *err)
{
    const struct stream *s = self;
    return s->to->header != NULL ? s->to->header(s->to->self, s->import, err) : DP_OK;
}

static int pass_malformed(void *self, const char *why, struct dp_err *err)
{
    const struct stream *s = self;
    return s->to->malformed(s->to->self, s->import, why, err);
}

static int pause_rows(void *self, struct dp_err *err)
{
    const struct stream *s = self;
    return s->to->pause(s->to->self, err);
}

/* Digest of the description of the rows and of the population: two streams with the same digest count as one data set. */
static void digest_of(const char *text, const char *row_norm, const char *population, size_t cols, char digest[33])
{
    struct dp_hash hash;
    dp_digest_start(&hash, NULL);
    dp_hash_add(&hash, text, strlen(text) + 1);
    dp_hash_add(&hash, row_norm, strlen(row_norm) + 1);
    dp_hash_add(&hash, population, strlen(population) + 1);
    dp_digest_finish(&hash, 0, cols, digest);
}

static int begin(struct stream *s, struct dp_err *err)
{
    const struct dp_import *import = s->import;
    const struct dp_schema *schema = &import->plan.schema;
    const char *map = import->plan.features_name;
    char digest[33], scaling[DP_ROW_NORM_TEXT], row_norm[sizeof import->plan.features_name + 2 + DP_ROW_NORM_TEXT];
    json_t *description = NULL, *carried = NULL;
    dp_features_describe(&s->features, &import->plan, &description);
    if (import->source.format <= DP_IMPORT_TSV)
        dp_carried_make(&import->plan, import->source.format == DP_IMPORT_TSV, &carried);
    dp_row_norm_text(dp_row_norms[import->plan.norm], import->plan.divisor, import->plan.bias, import->plan.basis,
                     import->plan.products, import->plan.quantise, scaling);
    snprintf(row_norm, sizeof row_norm, "%s%s%s", map, map[0] != '\0' ? ", " : "", scaling);
    const json_t *classes = json_object_get(json_object_get(description, "label"), "classes");
    char *schema_text = carried != NULL ? dp_json_text(carried, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    char *labels = classes != NULL ? dp_json_text(classes, JSON_COMPACT) : NULL;
    char *text = dp_json_text(description, JSON_COMPACT | JSON_SORT_KEYS);
    const char *population = import->writer.population != NULL ? import->writer.population : "";
    digest_of(text, row_norm, population, import->plan.features, digest);
    struct dp_row_facts facts = {.cols = import->plan.features,
                                 .data = digest,
                                 .population = population[0] != '\0' ? population : digest,
                                 .preprocessing = "",
                                 .row_norm = row_norm,
                                 .schema = schema_text,
                                 .labels = labels,
                                 .classes = schema->real_label ? 0 : schema->classes,
                                 .label_scale = s->features.label_scale,
                                 .label_offset = s->features.label_offset};
    int rc = s->to->begin(s->to->self, &facts, err);
    free(text);
    free(labels);
    free(schema_text);
    json_decref(carried);
    json_decref(description);
    return rc;
}

/* Once the columns are known: by a schema, or with the first row. */
static int start(struct stream *s, struct dp_err *err)
{
    struct dp_row_plan *plan = &s->import->plan;
    int rc = DP_OK;
    if (s->import->map != DP_MAP_NONE) {
        rc = dp_image_rows_start(&s->images, s->import->map, plan->shape, err);
        s->images.put = pass_row;
        if (rc == DP_OK)
            dp_image_rows_open(&s->images, plan);
    }
    rc = rc ?: dp_features_plan(&s->features, plan, err);
    if (rc == DP_OK)
        s->row = dp_new(plan->features, sizeof *s->row);
    return rc ?: begin(s, err);
}

static int put(void *self, const struct dp_parsed *record, struct dp_err *err)
{
    struct stream *s = self;
    double y;
    int rc = dp_interrupt_pending() ? dp_fail(err, DP_E_RUN, "interrupted") : DP_OK;
    if (rc == DP_OK && s->row == NULL)
        rc = start(s, err);
    if (rc != DP_OK)
        return rc;
    if (s->import->map != DP_MAP_NONE)
        return dp_image_rows_add(&s->images, record, s, err);
    const double *x = dp_features_row(&s->features, s->import, record, &y);
    return pass_row(s, x, y, err);
}

static int stream(struct dp_import *import, const struct dp_import_rows *to, struct dp_err *err)
{
    struct stream s = {.import = import, .to = to};
    const struct dp_import_sink sink = {
        &s, pass_header, to->malformed != NULL ? pass_malformed : NULL, put, to->pause != NULL ? pause_rows : NULL, NULL};
    int rc = dp_writer_check_population(import->writer.population, err);
    rc = rc ?: refuse_persons(&import->plan.schema, err);
    rc = rc ?: refuse_measures(&import->plan.schema, err);
    if (rc == DP_OK && import->plan.schema.columns > 0)
        rc = start(&s, err);
    rc = rc ?: dp_read_table(import, &sink, err);
    if (rc == DP_OK && s.row != NULL && import->map != DP_MAP_NONE)
        rc = dp_image_rows_flush(&s.images, err);
    rc = rc ?: dp_import_check_rows(import, import->result.rows + import->result.malformed, err);
    dp_features_free(&s.features, &import->plan.schema);
    dp_image_rows_close(&s.images);
    free(s.row);
    return rc;
}

int dp_import_stream(struct dp_import *import, const struct dp_import_rows *to, struct dp_err *err)
{
    int rc = DP_OK;
#pragma omp parallel if (import->map != DP_MAP_NONE) num_threads(import->threads) /* that map images */
#pragma omp master
    rc = stream(import, to, err);
    return rc;
}
