#include "data/import.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/features.h"
#include "math/rng.h"

/* Selection sampling: each of the remaining rows goes to training with probability (still wanted)/(still
   there), so that exactly floor(split × rows) do, in their order. */
struct splitter {
    struct dp_key key;
    struct dp_stream stream;
    size_t wanted, left;
};

static bool goes_to_training(struct splitter *s)
{
    bool takes = dp_stream_below(&s->stream, s->left) < s->wanted;
    s->left--;
    s->wanted -= takes;
    return takes;
}

static int write_rows(struct dp_import *import, struct dp_spool *spool, const struct dp_features *f, struct dp_writer *output,
                      struct dp_writer *test, struct dp_err *err)
{
    struct dp_parsed r = {0};
    struct splitter splitter = {.left = spool->records};
    int rc = dp_spool_rewind(spool, err);
    if (test != NULL) {
        double wanted = import->split * (double)spool->records;
        /* 0.29 × 100 is 29 */
        splitter.wanted = (size_t)(fabs(wanted - round(wanted)) < 1e-9 * wanted ? round(wanted) : floor(wanted));
        dp_key_derive(&splitter.key, import->seed, "dp-import split", 0);
        dp_stream_start(&splitter.stream, &splitter.key, DP_DRAW_PERMUTATION, 0);
    }
    while (rc >= 0 && (rc = dp_spool_get(spool, &r, err)) == 1) {
        double y;
        const double *x = dp_features_row(f, import, &r, &y);
        struct dp_writer *to = test == NULL || goes_to_training(&splitter) ? output : test;
        rc = dp_writer_row(to, x, y, err);
        if (rc < 0)
            break;
    }
    dp_parsed_free(&r);
    return rc;
}

static int write_out(struct dp_import *import, struct dp_spool *spool, struct dp_features *f, struct dp_err *err)
{
    struct dp_writer *output = NULL, *test = NULL;
    json_t *description = NULL;
    int rc = dp_features_plan(f, import, err);
    if (rc == DP_OK)
        rc = dp_writer_open(&output, import->output, &import->writer, err);
    if (rc == DP_OK && import->test != NULL) {
        struct dp_writer_options held_out = import->writer;
        held_out.held_out = true;
        rc = dp_writer_open(&test, import->test, &held_out, err);
    }
    if (rc == DP_OK)
        rc = write_rows(import, spool, f, output, test, err);
    if (rc == DP_OK)
        rc = dp_features_describe(f, import, &description, err);
    if (rc == DP_OK) {
        import->rows = dp_writer_rows(output);
        rc = dp_writer_finish(output, description, err);
    }
    if (rc == DP_OK && test != NULL) {
        import->test_rows = dp_writer_rows(test);
        rc = dp_writer_finish(test, description, err);
    }
    /* Both are whole by now: what can still fail is a rename. */
    if (rc == DP_OK && test != NULL) {
        rc = dp_writer_commit(test, err);
        test = NULL;
    }
    if (rc == DP_OK) {
        rc = dp_writer_commit(output, err);
        output = NULL;
    }
    json_decref(description);
    dp_writer_abort(output);
    dp_writer_abort(test);
    return rc;
}

static int put_in_spool(void *self, const struct dp_parsed *record, struct dp_err *err)
{
    return dp_spool_put(self, record, err);
}

int dp_import_run(struct dp_import *import, struct dp_err *err)
{
    static int (*const readers[])(struct dp_import *, const struct dp_import_sink *, struct dp_err *) = {
        dp_read_delimited, dp_read_delimited, dp_read_libsvm, dp_read_arff, dp_read_idx};
    struct dp_spool spool = {0};
    const struct dp_import_sink to = {&spool, put_in_spool, NULL};
    struct dp_features f = {0};
    int rc = dp_spool_open(&spool, import->output, err);
    if (rc == DP_OK)
        rc = readers[import->format](import, &to, err);
    if (rc == DP_OK && spool.records == 0)
        rc = dp_fail(err, DP_E_RUN, "%s: no rows", strcmp(import->input, "-") == 0 ? "standard input" : import->input);
    if (rc == DP_OK)
        rc = dp_features_measure(&f, import, &spool, err);
    if (rc == DP_OK)
        rc = dp_features_note(&import->schema, err);
    if (rc == DP_OK)
        rc = write_out(import, &spool, &f, err);
    dp_features_free(&f, &import->schema);
    dp_spool_close(&spool);
    return rc;
}

void dp_import_free(struct dp_import *import)
{
    dp_schema_free(&import->schema);
    free(import->clamped);
    import->clamped = NULL;
}
