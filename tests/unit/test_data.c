/* Data sets: a written set reads back; rows stay within the unit ball as real numbers; files that are truncated, altered or
   made up are refused by name. */
#include "unit.h"
#include "scratch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/carried.h"
#include "data/dataset.h"
#include "data/dataset_write.h"
#include "data/import.h"
#include "data/lines.h"
#include "data/npy.h"
#include "data/row_length.h"

static void put_file(const char *path, const void *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
}

static void put_text(const char *path, const char *text)
{
    put_file(path, text, strlen(text));
}

static size_t get_file(const char *path, char *bytes, size_t size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t length = fread(bytes, 1, size, file);
    fclose(file);
    return length;
}

static json_t *description(bool real)
{
    return real ? json_pack("{s:[s,s,s], s:{s:s, s:s, s:f, s:f}, s:[s]}", "names", "a", "b", "c", "label", "kind", "real",
                            "name", "y", "scale", 2.0, "offset", -1.0, "private_preprocessing", "max-abs")
                : json_pack("{s:[s,s,s], s:{s:s, s:s, s:[s,s]}, s:[]}", "names", "a", "b", "c", "label", "kind", "classes",
                            "name", "y", "classes", "no", "yes", "private_preprocessing");
}

static void finish(struct dp_writer *w, json_t *about)
{
    assert_int_equal(dp_writer_finish(w, about, NULL), 0);
    assert_int_equal(dp_writer_commit(w, NULL), 0);
    json_decref(about);
}

static struct dp_dataset *opened(const char *path)
{
    struct dp_dataset *d;
    assert_int_equal(dp_dataset_open(&d, path, NULL), 0);
    return d;
}

static const double ROWS[4][3] = {{3, 0, 4}, {0, 0, 0}, {0, -1e-200, 0}, {1e300, 1e300, 0}};

static void write_small(const char *path, struct dp_writer_options options, bool real)
{
    struct dp_writer *w;
    options.cols = 3;
    assert_int_equal(dp_writer_open(&w, path, &options, NULL), 0);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(dp_writer_row(w, ROWS[i], (double)(i % 2), NULL), 0);
    assert_int_equal(dp_writer_rows(w), 4);
    finish(w, description(real));
}

static void check_small(const char *path, bool sparse)
{
    struct dp_dataset *d = opened(path);
    assert_int_equal(dp_dataset_verify(d, path, NULL), 0);
    assert_int_equal(d->rows, 4);
    assert_int_equal(d->cols, 3);
    assert_int_equal(d->label.classes, 2);
    assert_string_equal(d->label.class_names[1], "yes");
    assert_string_equal(d->column_names[2], "c");
    assert_string_equal(d->label.name, "y");
    assert_string_equal(d->private_preprocessing, "");
    const double expected[4][3] = {{0.6, 0, 0.8}, {0, 0, 0}, {0, -1, 0}, {M_SQRT1_2, M_SQRT1_2, 0}};
    const size_t stored[4] = {2, 0, 1, 2};
    for (size_t i = 0; i < 4; i++) {
        struct dp_row row = dp_dataset_row(d, i);
        assert_int_equal(row.count, sparse ? stored[i] : 3);
        assert_int_equal(row.columns != NULL, sparse);
        for (size_t j = 0; j < 3; j++)
            assert_near(dp_row_at(row, j), expected[i][j], 1e-6);
        assert_true(d->y[i] == (double)(i % 2));
    }
    dp_dataset_close(d);
}

TEST_IN(written_is_read_back, enter, leave)
{
    write_small("dense.dp", (struct dp_writer_options){0}, false);
    check_small("dense.dp", false);
    write_small("csr.dp/", (struct dp_writer_options){.storage = DP_STORAGE_CSR}, false);
    check_small("csr.dp", true);
    dp_dataset_close(NULL);
}

TEST_IN(real_labels_keep_their_units, enter, leave)
{
    write_small("real.dp", (struct dp_writer_options){0}, true);
    struct dp_dataset *d = opened("real.dp");
    assert_int_equal(d->label.kind, DP_LABEL_REAL);
    assert_int_equal(d->label.classes, 0);
    assert_true(d->label.scale == 2 && d->label.offset == -1);
    assert_string_equal(d->private_preprocessing, "max-abs");
    dp_dataset_close(d);
}

static void digest_of(const char *path, char digest[33])
{
    struct dp_dataset *d = opened(path);
    memcpy(digest, d->digest, 33);
    dp_dataset_close(d);
}

/* A person who guesses the rows cannot confirm the guess from the digest, which models carry. */
TEST_IN(digests_are_salted_unless_public, enter, leave)
{
    char a[33], b[33];
    write_small("a.dp", (struct dp_writer_options){0}, false);
    write_small("b.dp", (struct dp_writer_options){0}, false);
    digest_of("a.dp", a);
    digest_of("b.dp", b);
    assert_string_not_equal(a, b);
    write_small("c.dp", (struct dp_writer_options){.public_rows = true}, false);
    write_small("d.dp", (struct dp_writer_options){.public_rows = true}, false);
    digest_of("c.dp", a);
    digest_of("d.dp", b);
    assert_string_equal(a, b);
}

/* Squares of floats have 48 bits and the values here are not tiny: their sum is exact in 113 bits. */
static void check_within(const char *path, size_t count, size_t rows)
{
    struct dp_dataset *d = opened(path);
    assert_int_equal(d->rows, rows);
    for (size_t i = 0; i < d->rows; i++) {
        struct dp_row row = dp_dataset_row(d, i);
        assert_int_equal(row.count, count);
        quad sum = 0;
        for (size_t j = 0; j < count; j++)
            sum += (quad)row.values[j] * row.values[j];
        assert_true(sum <= 1);
        assert_true(sum > 1 - 1e-6);
    }
    dp_dataset_close(d);
}

TEST_IN(rows_never_leave_the_unit_ball, enter, leave)
{
    const size_t cols[] = {1, 2, 3, 10, 784, 5000};
    for (int norm = DP_NORM_UNIT; norm <= DP_NORM_CAP; norm++) {
        for (size_t c = 0; c < sizeof cols / sizeof cols[0]; c++) {
            struct dp_writer_options options = {.cols = cols[c], .norm = (enum dp_row_norm)norm, .force = true};
            struct dp_writer *w;
            double *x = calloc(cols[c], sizeof *x);
            unsigned seed = 1;
            assert_int_equal(dp_writer_open(&w, "ball.dp", &options, NULL), 0);
            for (size_t i = 0; i < 60; i++) {
                /* tests also powers of ten from 1e-320 (subnormal) to 1e300, and rows of a norm slightly above 1 */
                double size = norm == DP_NORM_CAP ? 1 + 1e-9 * (double)i : pow(10, -320 + 10.5 * (double)i);
                double sum = 0;
                for (size_t j = 0; j < cols[c]; j++) {
                    x[j] = 0.5 + rand_r(&seed) / (double)RAND_MAX;
                    sum += x[j] * x[j];
                }
                for (size_t j = 0; j < cols[c]; j++)
                    x[j] *= norm == DP_NORM_CAP ? size / sqrt(sum) : size;
                assert_int_equal(dp_writer_row(w, x, 0, NULL), 0);
            }
            finish(w, json_pack("{s:{s:s}}", "label", "kind", "real"));
            check_within("ball.dp", cols[c], 60);
            free(x);
        }
    }
}

TEST_IN(cap_leaves_short_rows_and_none_refuses_long_ones, enter, leave)
{
    struct dp_writer_options options = {.cols = 2, .norm = DP_NORM_CAP};
    struct dp_writer *w;
    assert_int_equal(dp_writer_open(&w, "cap.dp", &options, &err), 0);
    assert_int_equal(dp_writer_row(w, (double[]){0.25, 0.5}, 0, &err), 0);
    assert_int_equal(dp_writer_row(w, (double[]){30, 40}, 0, &err), 0);
    finish(w, json_pack("{s:{s:s}}", "label", "kind", "real"));
    struct dp_dataset *d = opened("cap.dp");
    assert_true(dp_dataset_row(d, 0).values[0] == 0.25f && dp_dataset_row(d, 0).values[1] == 0.5f);
    assert_near(dp_dataset_row(d, 1).values[1], 0.8, 1e-6);
    dp_dataset_close(d);

    options.norm = DP_NORM_NONE;
    assert_int_equal(dp_writer_open(&w, "none.dp", &options, &err), 0);
    assert_int_equal(dp_writer_row(w, (double[]){0.6, 0.8}, 0, &err), 0);
    assert_int_equal(dp_writer_row(w, (double[]){0.6, 0.9}, 0, &err), DP_E_RUN);
    assert_non_null(strstr(err.message, "row 2 has norm"));
    assert_fails(dp_writer_row(w, (double[]){0.6, NAN}, 0, &err), DP_E_RUN, "row 2 is not finite");
    assert_int_equal(dp_writer_row(w, (double[]){INFINITY, 0}, 0, &err), DP_E_RUN);
    dp_writer_abort(w);
    assert_int_equal(access("none.dp", F_OK), -1);
}

TEST_IN(only_data_sets_are_replaced, enter, leave)
{
    struct dp_writer_options options = {.cols = 3};
    struct dp_writer *w;
    write_small("here.dp", options, false);
    assert_fails(dp_writer_open(&w, "here.dp", &options, &err), DP_E_RUN, "here.dp exists (--force replaces it)");
    options.force = true;
    write_small("here.dp", options, false);
    check_small("here.dp", false);
    options.storage = DP_STORAGE_CSR;
    write_small("here.dp", options, false);
    check_small("here.dp", true);
    assert_int_equal(access("here.dp/X.npy", F_OK), -1);
    assert_int_equal(mkdir("precious", 0755), 0);
    put_text("precious/letter", "dear");
    assert_fails(dp_writer_open(&w, "precious", &options, &err), DP_E_RUN,
                 "precious is not a data set: it will not be replaced");
    assert_int_equal(dp_writer_open(&w, "nowhere/x.dp", &options, &err), DP_E_RUN);
    assert_int_equal(dp_writer_open(&w, "", &options, &err), DP_E_USAGE);
    assert_int_equal(system("test $(ls -d *.dp* precious | wc -l) = 2"), 0); /* nothing temporary is left */
}

/* opens path and expects a message that contains text */
static void refused(const char *path, const char *text)
{
    struct dp_dataset *d = NULL;
    struct dp_err err = {0};
    int rc = dp_dataset_open(&d, path, &err);
    if (rc == 0) {
        rc = dp_dataset_verify(d, path, &err);
        dp_dataset_close(d);
    }
    if (rc != DP_E_RUN || strstr(err.message, text) == NULL)
        fail_msg("status %d, '%s', expected '%s'", rc, err.message, text);
}

/* every prefix of every file is refused, with the name of the file */
static void open_rows(struct dp_writer **w, enum dp_storage storage, bool nulls)
{
    static const float step[3] = {0x1p-10F, 0x1p-10F, 0x1p-10F};
    struct dp_err err = {0};
    const struct dp_writer_options options = {.cols = 3,
                                              .storage = storage,
                                              .step = storage == DP_STORAGE_INT16 ? step : NULL,
                                              .norm = DP_NORM_UNIT,
                                              .nulls = nulls,
                                              .force = true};
    assert_ok(dp_writer_open(w, "nulls.dp", &options, &err));
}

/* The file is there if there may be null rows, whether there are any or not. */
TEST_IN(null_rows_have_no_label_in_any_storage, enter, leave)
{
    static const enum dp_storage storages[] = {DP_STORAGE_DENSE, DP_STORAGE_CSR, DP_STORAGE_INT16}; /* cells: cells.bats */
    for (size_t k = 0; k < sizeof storages / sizeof *storages; k++)
        for (int last = 0; last < 2; last++) {
            const double labels[5] = {1, NAN, 0, NAN, last ? 1 : NAN};
            err = (struct dp_err){0};
            struct dp_writer *w;
            open_rows(&w, storages[k], true);
            for (size_t i = 0; i < 5; i++)
                assert_int_equal(dp_writer_row(w, isnan(labels[i]) ? (double[]){0, 0, 0} : ROWS[0], labels[i], &err), 0);
            finish(w, description(false));
            struct dp_dataset *d = opened("nulls.dp");
            assert_int_equal(dp_dataset_verify(d, "nulls.dp", &err), 0);
            assert_int_equal(d->nulls.count, last ? 2 : 3);
            double y[5], values[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
            assert_int_equal(dp_dataset_labels(d, y), last ? 3 : 2);
            assert_true(y[0] == 1 && y[1] == 0 && (!last || y[2] == 1));
            dp_dataset_keep_labelled(d, values, 2);
            assert_true(values[0] == 1 && values[1] == 2 && values[2] == 5 && values[3] == 6 && (!last || values[4] == 9));
            for (size_t i = 0; i < 5; i++)
                assert_int_equal(dp_dataset_is_null(d, i), isnan(labels[i]));
            dp_dataset_close(d);
        }
    char bytes[256];
    size_t length = get_file("nulls.dp/nulls.npy", bytes, sizeof bytes);
    bytes[128] = 0; /* the number of another row */
    put_file("nulls.dp/nulls.npy", bytes, length);
    refused("nulls.dp", "its contents are not those that dp-import wrote: the digest differs");
    bytes[128] = 5;
    put_file("nulls.dp/nulls.npy", bytes, length);
    refused("nulls.dp", "nulls.dp/nulls.npy: not the numbers of rows, in their order");
    unlink("nulls.dp/nulls.npy");
    refused("nulls.dp", "cannot open nulls.dp/nulls.npy");
}

TEST_IN(data_without_null_rows_says_that_there_could_be, enter, leave)
{
    struct dp_writer *w;
    open_rows(&w, DP_STORAGE_DENSE, true);
    assert_int_equal(dp_writer_row(w, ROWS[0], 1, &err), 0);
    finish(w, description(false));
    struct dp_dataset *d = opened("nulls.dp");
    assert_int_equal(dp_dataset_verify(d, "nulls.dp", &err), 0);
    assert_int_equal(d->nulls.count, 0);
    assert_non_null(d->nulls.row);
    dp_dataset_close(d);
}

TEST_IN(truncated_files_are_refused, enter, leave)
{
    const char *const files[] = {"X_data.npy", "X_indices.npy", "X_indptr.npy", "y.npy", "dataset.json"};
    write_small("cut.dp", (struct dp_writer_options){.storage = DP_STORAGE_CSR}, false);
    for (size_t f = 0; f < sizeof files / sizeof files[0]; f++) {
        char path[64], bytes[4096];
        snprintf(path, sizeof path, "cut.dp/%s", files[f]);
        size_t length = get_file(path, bytes, sizeof bytes);
        for (size_t cut = 0; cut < length; cut++) {
            if (f == 4 && cut == length - 1 && bytes[cut] == '\n')
                continue;
            put_file(path, bytes, cut);
            refused("cut.dp", path);
        }
        bytes[length] = 0;
        put_file(path, bytes, length + 1);
        refused("cut.dp", path);
        unlink(path);
        refused("cut.dp", path);
        put_file(path, bytes, length);
    }
    check_small("cut.dp", true);
}

TEST_IN(altered_files_are_refused, enter, leave)
{
    char bytes[4096];
    write_small("bad.dp", (struct dp_writer_options){.storage = DP_STORAGE_CSR}, false);
    const struct {
        const char *file;
        size_t at;
        unsigned char byte;
        const char *text;
    } cases[] = {
        {"X_indices.npy", 128, 7, "bad.dp: its CSR arrays do not fit one another"},                /* column 7 of 3 */
        {"X_indices.npy", 128, 2, "bad.dp: its CSR arrays do not fit one another"},                /* column 2 twice */
        {"X_indices.npy", 131, 0xff, "bad.dp: its CSR arrays do not fit one another"},             /* negative */
        {"X_indptr.npy", 136, 9, "bad.dp: its CSR arrays do not fit one another"},                 /* descending */
        {"X_indptr.npy", 128, 1, "bad.dp: its CSR arrays do not fit one another"},                 /* starts at 1 */
        {"y.npy", 128 + 7, 0x40, "bad.dp/y.npy: a label is not one of the classes or not finite"}, /* 2.0 */
        {"X_data.npy", 128 + 3, 0x40, "bad.dp: row 1 has norm"},
        {"X_data.npy", 128 + 3, 0x7f, "bad.dp: row 1"},
        {"X_data.npy", 128, 0x55, "bad.dp: its contents are not those that dp-import wrote: the digest differs"},
        {"X_data.npy", 0, 'x', "bad.dp/X_data.npy: not a .npy file"},
        {"X_data.npy", 22, '>', "bad.dp/X_data.npy: expected <f4 in C order"},
        {"X_data.npy", 24, '8', "bad.dp/X_data.npy: expected <f4 in C order"},
        {"X_data.npy", 9, 0xff, "bad.dp/X_data.npy: its header is cut short or too long"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[64];
        snprintf(path, sizeof path, "bad.dp/%s", cases[i].file);
        size_t length = get_file(path, bytes, sizeof bytes);
        char was = bytes[cases[i].at];
        bytes[cases[i].at] = (char)cases[i].byte;
        put_file(path, bytes, length);
        refused("bad.dp", cases[i].text);
        bytes[cases[i].at] = was;
        put_file(path, bytes, length);
    }
    check_small("bad.dp", true);

#define DIGEST "'rows':4,'cols':3,'digest':'00000000000000000000000000000000',"
#define HEAD "{'format':1," DIGEST
    const char *const jsons[][2] = {
        {"{", "line 1: "},
        {"{}", "\"format\" is missing or wrong"},
        {"{'format':'1'}", "\"format\" is missing or wrong"},
        {"{'format':5}", "bad.dp/dataset.json is of format 5; 4 is the newest that this version knows"},
        {HEAD "'storage':'csr','persons':4,'rows_per_person':1}", "rows belong to persons from format 2 on"},
        {"{'format':2," DIGEST "'storage':'csr','nulls':true}", "\"nulls\" is not true or false, from format 3 on"},
        {"{'format':2," DIGEST "'storage':'csr','persons':5,'rows_per_person':1}",
         "persons or rows_per_person is missing or wrong"},
        {"{'format':2," DIGEST "'storage':'csr','persons':2}", "persons or rows_per_person is missing or wrong"},
        {"{'format':1}", "rows, cols or digest is missing or wrong"},
        {"{'format':1,'rows':5,'cols':3,'storage':'csr','label':{'kind':'real'},'digest':'00000000000000000000000000000000'}",
         "bad.dp: its arrays do not have the shape that dataset.json states"},
        {HEAD "'storage':'csr','label':{'kind':'real'},'names':['a']}", "names 1 columns, the data set has 3"},
        {HEAD "'storage':'csr','label':{'kind':'klasses'}}", "\"kind\" is 'klasses', which is unknown"},
        {HEAD "'storage':'csr'}", "\"kind\" is missing"},
        {HEAD "'storage':'sparse'}", "\"storage\" is 'sparse', which is unknown"},
        {HEAD "'storage':'csr','label':{'kind':'classes','classes':[]}}", "\"classes\" lists none"},
        {HEAD "'storage':'csr','label':{'kind':'classes','classes':['a',1]}}", "a name of the classes is not a text"},
        {HEAD "'storage':'csr','label':{'kind':'real'},'row_norm':'long'}", "\"row_norm\" is 'long', which is unknown"},
        {HEAD "'storage':'csr','label':{'kind':'real'},'held_out':1}",
         "\"population\" or \"split\" is not a text or \"held_out\" not true or false"},
        {HEAD "'storage':'csr','private_preprocessing':'mode'}", "\"private_preprocessing\" is not a list"},
        {HEAD "'storage':'csr','private_preprocessing':[1]}", "\"private_preprocessing\" holds something else than texts"},
        {HEAD "'storage':'csr','label':{'kind':'real'},'salt':'zz'}", "\"salt\" is not 64 hexadecimal digits"},
        {HEAD "'storage':'csr','label':{'kind':'real'},'digest_of':'all'}", "\"digest_of\" is 'all', which is unknown"},
    };
    for (size_t i = 0; i < sizeof jsons / sizeof jsons[0]; i++) {
        char message[200];
        snprintf(message, sizeof message, "%s%s",
                 strncmp(jsons[i][1], "bad.dp", 6) == 0 ? "" : "bad.dp/dataset.json: ", jsons[i][1]);
        put_text("bad.dp/dataset.json", json_of(jsons[i][0]));
        refused("bad.dp", message);
    }
}

/* a second open of a data set uses the same mapping, as long as its files are the same */
TEST_IN(what_is_open_is_mapped_once, enter, leave)
{
    struct dp_dataset *a, *b, *c;
    char bytes[4096];
    write_small("once.dp", (struct dp_writer_options){.storage = DP_STORAGE_DENSE, .force = true}, false);
    assert_int_equal(dp_dataset_open(&a, "once.dp", &err), 0);
    assert_int_equal(dp_dataset_open(&b, "./once.dp", &err), 0);
    assert_ptr_equal(a->y, b->y);
    double first = a->y[0];
    /* another file with the same name is not the mapped one */
    size_t length = get_file("once.dp/y.npy", bytes, sizeof bytes);
    put_file("once.dp/y.new", bytes, length);
    assert_int_equal(rename("once.dp/y.new", "once.dp/y.npy"), 0);
    assert_int_equal(dp_dataset_open(&c, "once.dp", &err), 0);
    assert_ptr_not_equal(a->y, c->y);
    /* the last close unmaps it */
    dp_dataset_close(a);
    assert_true(b->y[0] == first && c->y[0] == first);
    dp_dataset_close(b);
    dp_dataset_close(c);
}

/* Random bounds and scalings, rows at the corners of the bounds and beyond: no norm exceeds 1 as a real number (dense and CSR;
   dp_dataset_verify allows for its own rounding, long double need not), the longest row that the bounds permit comes close to
   1, and each value is the table's value times one number. */
TEST_IN(divided_rows_stay_in_the_unit_ball, enter, leave)
{
    enum { COLS = 6, CORNERS = 1 << COLS };
    unsigned seed = 1;
    for (int trial = 0; trial < 60; trial++) {
        double bound[COLS][2];
        bool scaled[COLS];
        char schema[4096] = "{\"columns\":[";
        for (int j = 0; j < COLS; j++) {
            double size = pow(10, (double)(rand_r(&seed) % 9) - 4) * (1 + rand_r(&seed) % 1000 / 999.0);
            bound[j][0] = rand_r(&seed) % 3 == 0 ? 0 : -size * (rand_r(&seed) % 100) / 99.0;
            bound[j][1] = bound[j][0] + size;
            scaled[j] = rand_r(&seed) % 2 == 0;
            size_t used = strlen(schema);
            snprintf(schema + used, sizeof schema - used,
                     "{\"name\":\"c%d\",\"type\":\"numeric\",\"bounds\":[%.17g,%.17g],\"scale\":\"%s\"},", j, bound[j][0],
                     bound[j][1], scaled[j] ? "bounds" : "none");
        }
        strcat(schema, "{\"name\":\"k\",\"type\":\"categorical\",\"categories\":[\"a\",\"b\"]},"
                       "{\"name\":\"y\",\"type\":\"label\",\"classes\":[\"0\",\"1\"]}]}");
        put_text("s.json", schema);
        FILE *table = fopen("t.csv", "w");
        for (int i = 0; i < CORNERS; i++) {
            for (int j = 0; j < COLS; j++)
                fprintf(table, "%.17g,", (i % 2 ? 1.0 : 1 + 1e9) * bound[j][i >> j & 1]);
            fprintf(table, "%c,%d\n", i % 2 ? 'a' : 'b', i % 2);
        }
        fclose(table);
        struct dp_import import = {.source.format = DP_IMPORT_CSV,
                                   .source.input = "t.csv",
                                   .output = "t.dp",
                                   .plan.choose_norm = true,
                                   .plan.bias = trial % 2,
                                   .split = NAN,
                                   .writer = {.force = true, .storage = trial % 3 == 0 ? DP_STORAGE_CSR : DP_STORAGE_DENSE}};
        assert_int_equal(dp_schema_load(&import.plan.schema, "s.json", &err), 0);
        assert_int_equal(dp_import_run(&import, &err), 0);
        assert_int_equal(import.plan.norm, DP_NORM_BOUNDS);
        struct dp_dataset *d = opened("t.dp");
        assert_int_equal(dp_dataset_verify(d, "t.dp", &err), 0);
        long double most = 0;
        for (size_t i = 0; i < CORNERS; i++) {
            struct dp_row row = dp_dataset_row(d, i);
            long double sum = 0;
            for (size_t k = 0; k < row.count; k++)
                sum += (long double)row.values[k] * (long double)row.values[k];
            assert_true(sum <= 1);
            most = sum > most ? sum : most;
            for (size_t j = 0; j < COLS && i % 2; j++) {
                double v = bound[j][i >> j & 1], size = bound[j][1] - bound[j][0];
                assert_near(dp_row_at(row, j), (scaled[j] ? (v - bound[j][0]) / size : v) / import.plan.divisor, 1e-6);
            }
        }
        assert_true(most > 1 - 1e-6L);
        dp_dataset_close(d);
        dp_import_free(&import);
    }
}

/* headers that NumPy writes, and invalid ones */
TEST_IN(npy_headers, enter, leave)
{
    struct dp_npy npy;
    const struct {
        const char *header, *dtype;
        int ndim;
        size_t bytes;
        bool good;
    } cases[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", "<f4", 2, 24, true},
        {"{'shape': (2,3), 'fortran_order': False, 'descr': '<f4'}", "<f4", 2, 24, true},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", "<f8", 1, 24, true},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (0,), }", "<f8", 1, 0, true},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", "<f4", 1, 24, false},
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", "<f4", 2, 24, false},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, 1), }", "<f4", 2, 24, false},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }", "<f4", 2, 24, false},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3", "<f4", 2, 24, false},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2, -3)}", "<f4", 2, 24, false},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967302)}", "<f4", 2, 24, false},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 1)}", "<f4", 2, 24, false},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,)}", "<f4", 1, 24, false},
        {"{'descr':", "<f4", 2, 24, false},
        {"", "<f4", 2, 24, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char file[256] = "\x93NUMPY\x01";
        size_t length = strlen(cases[i].header), padded = (10 + length + 15) / 16 * 16 - 10;
        file[8] = (char)padded;
        memset(file + 10, ' ', padded);
        memcpy(file + 10, cases[i].header, length);
        memset(file + 10 + padded, 0, cases[i].bytes);
        put_file("a.npy", file, 10 + padded + cases[i].bytes);
        int rc = dp_npy_open(&npy, AT_FDCWD, ".", "a.npy", cases[i].dtype, cases[i].ndim, &err);
        if ((rc == 0) != cases[i].good)
            fail_msg("%s: %d", cases[i].header, rc);
        dp_npy_close(&npy);
    }
    /* data that begin at an odd address cannot be read in place */
    char file[256] = "\x93NUMPY\x01";
    const char *header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}";
    file[8] = (char)strlen(header);
    memcpy(file + 10, header, strlen(header));
    put_file("a.npy", file, 10 + strlen(header) + 8);
    assert_fails(dp_npy_open(&npy, AT_FDCWD, ".", "a.npy", "<f8", 1, &err), DP_E_RUN, "./a.npy: its data are not aligned");
}

/* records of RFC 4180 and of common tables */
TEST_IN(records, enter, leave)
{
    const struct {
        const char *text;
        const char *fields; /* joined by | */
    } cases[] = {
        {"a,b,c\n", "a|b|c"},
        {"a, b ,\tc", "a|b|c"},
        {"a,,\r\n", "a||"},
        {"\"a,b\",\"say \"\"hi\"\"\",c\n", "a,b|say \"hi\"|c"},
        {"\" a \", \"b\" ,c\n", " a |b|c"},
        {"\"two\nlines\",b\r\n", "two\nlines|b"},
        {"a,\"b\r\nc\r\n\r\n\",d\r\n", "a|b\r\nc\r\n\r\n|d"},
        {"\"\",b\n", "|b"},
        {"5\" pipe,b\n", "5\" pipe|b"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct dp_lines lines;
        char joined[100] = "";
        put_text("t.csv", cases[i].text);
        assert_int_equal(dp_lines_open(&lines, "t.csv", &err), 0);
        assert_int_equal(dp_lines_record(&lines, ',', &err), 1);
        for (size_t f = 0; f < lines.fields; f++) {
            if (f > 0)
                strcat(joined, "|");
            strncat(joined, lines.field[f].text, lines.field[f].length);
        }
        assert_string_equal(joined, cases[i].fields);
        assert_int_equal(dp_lines_record(&lines, ',', &err), 0);
        dp_lines_close(&lines);
    }
    struct dp_lines lines;
    put_text("t.csv", "a,b\nc,\"d\n");
    assert_int_equal(dp_lines_open(&lines, "t.csv", &err), 0);
    assert_int_equal(dp_lines_record(&lines, ',', &err), 1);
    assert_fails(dp_lines_record(&lines, ',', &err), DP_E_RUN, "t.csv: line 2: a quote is not closed");
    dp_lines_close(&lines);
    assert_fails(dp_lines_open(&lines, "gone.csv", &err), DP_E_RUN, "cannot open gone.csv: No such file or directory");
}

TEST_IN(schema_mistakes_are_named, enter, leave)
{
#define LABEL "{'name':'y','type':'label'}"
    const char *const cases[][2] = {
        {"{\n'columns':[\n}", "line 3: not JSON: unexpected token near '}'"},
        {"{}", "\"columns\" must be a list"},
        {"{'columns':[{'type':'numeric'}]}", "column 1 needs \"name\" and \"type\""},
        {"{'columns':[{'name':'a','type':'real'}]}",
         "column 'a': \"type\" is numeric, categorical, text, label, person or ignore"},
        {"{'columns':[{'name':'a','type':'numeric'}]}", "column 'a' needs \"bounds\", or \"scale\": \"max-abs\" or \"none\""},
        {"{'columns':[{'name':'a','type':'numeric','bounds':[1,1]}]}", "column 'a': the lower bound is not below the upper"},
        {"{'columns':[{'name':'a','type':'numeric','bounds':[1]}]}", "column 'a': \"bounds\" must be [low, high]"},
        {"{'columns':[{'name':'a','type':'numeric','scale':'maxabs'}]}", "column 'a': \"scale\" is bounds, max-abs or none"},
        {"{'columns':[{'name':'a','type':'numeric','bound':[0,1]}]}", "column 'a': unknown entry \"bound\""},
        {"{'columns':[{'name':'a','type':'categorical'}]}", "column 'a': \"categories\": expected a text or a list of texts"},
        {"{'columns':[{'name':'a','type':'categorical','categories':['x'],'fill':'z'}]}",
         "column 'a': \"fill\" is not one of its categories"},
        {"{'columns':[{'name':'a','type':'numeric','scale':'none','fill':'mode'}]}",
         "column 'a': \"fill\" does not fit its type"},
        {"{'columns':[{'name':'a','type':'categorical','categories':['x'],'drop':'last'}]}",
         "column 'a': \"drop\" can only be first"},
        {"{'columns':[{'name':'a','type':'categorical','categories':['x'],'unknown':0}]}",
         "column 'a': \"unknown\" can only be zero"},
        {"{'columns':[{'name':'a','type':'categorical','categories':[]}]}", "column 'a': \"categories\" is empty"},
        {"{'heade':true}", "unknown entry \"heade\""},
        {"{'delimiter':''}", "\"delimiter\" must be one character"},
        {"{'delimiter':3}", "\"delimiter\" must be one character"},
        {"{'columns':[{'name':'a','type':'numeric','bounds':[0,1],'scale':3}]}",
         "column 'a': \"scale\" is bounds, max-abs or none"},
        {"{'columns':[{'name':'y','type':'label','scale':3}]}", "column 'y': \"scale\" of a label is \"count\""},
        {"{'columns':[" LABEL "," LABEL "]}", "a second label column, 'y'"},
        {"{'columns':[" LABEL "]}", "no column is a feature"},
        {"{'columns':[{'name':'a','type':'numeric','scale':'none'}]}", "no column has \"type\": \"label\""},
        {"{'columns':[{'name':'y','type':'label','classes':['a']}]}", "column 'y': \"classes\" must list two or more"},
        {"{'a':1,'a':2}", "line 1: not JSON: duplicate object key near '\"a\"'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct dp_schema s;
        char message[200];
        err = (struct dp_err){0};
        snprintf(message, sizeof message, "s.json: %s", cases[i][1]);
        put_text("s.json", json_of(cases[i][0]));
        assert_fails(dp_schema_load(&s, "s.json", &err), DP_E_RUN, message);
        dp_schema_free(&s);
    }
}

TEST_IN(class_lists, enter, leave)
{
    struct dp_schema s = {.label = -1};
    assert_int_equal(dp_schema_classes(&s, "-1,+1", &err), 0);
    assert_int_equal(s.classes, 2);
    assert_string_equal(s.class[1].text[0], "+1");
    assert_int_equal(dp_schema_class_of(&s, 1), 1);
    assert_int_equal(dp_schema_class_of(&s, -1), 0);
    assert_int_equal(dp_schema_class_of(&s, 0), -1);
    dp_schema_free(&s);
    assert_int_equal(dp_schema_classes(&s, "3", &err), 0);
    assert_int_equal(s.classes, 3);
    assert_string_equal(s.class[2].text[0], "2");
    dp_schema_free(&s);
    const char *const bad[] = {"1", "x", "a,a", "a,", ",", "", "1001"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(dp_schema_classes(&s, bad[i], &err), DP_E_USAGE);
        dp_schema_free(&s);
    }
}

/* The training part has floor(split × rows) rows, for a split written in decimal. */
TEST_IN(splits_are_exact, enter, leave)
{
    FILE *file = fopen("n.svm", "w");
    for (int i = 0; i < 100; i++)
        fprintf(file, "%d 1:%d\n", i % 2, i + 1);
    fclose(file);
    for (int percent = 1; percent < 100; percent++) {
        struct dp_import import = {.source.format = DP_IMPORT_LIBSVM,
                                   .source.input = "n.svm",
                                   .output = "n.dp",
                                   .test = "nt.dp",
                                   .split = percent / 100.0,
                                   .seed = percent,
                                   .writer = {.force = true}};
        assert_int_equal(dp_import_run(&import, NULL), 0);
        assert_int_equal(import.result.rows, percent);
        assert_int_equal(import.result.test_rows, 100 - percent);
        dp_import_free(&import);
    }
}

/* Rows of all lengths, of zeros, and of numbers whose squares overflow or vanish. */
TEST(rows_are_scaled_alone_as_with_others)
{
    enum { COLS = 37 };
    double x[DP_SHORTEN_ROWS * COLS];
    float together[DP_SHORTEN_ROWS * COLS], alone[COLS];
    const double sizes[] = {1, 1e-3, 0, 1e200, 1e-200, 0.1};
    struct dp_row_length length = {.cols = COLS};
    unsigned seed = 3;
    for (size_t trial = 0; trial < 400; trial++) {
        const size_t count = 1 + trial % DP_SHORTEN_ROWS;
        length.norm = trial % 3 == 0 ? DP_NORM_CAP : DP_NORM_UNIT;
        for (size_t j = 0; j < count * COLS; j++)
            x[j] = sizes[(trial / 4 + j / COLS) % 6] * (2. * rand_r(&seed) / RAND_MAX - 1);
        assert_int_equal(dp_row_shorten(&length, x, count, 1, together, &err), 0);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(dp_row_shorten(&length, x + i * COLS, 1, 1, alone, &err), 0);
            assert_memory_equal(together + i * COLS, alone, sizeof alone);
        }
    }
    x[2 * COLS + 5] = NAN;
    assert_fails(dp_row_shorten(&length, x, DP_SHORTEN_ROWS, 11, together, &err), DP_E_RUN, "row 13 is not finite");
}

TEST(schemas_of_other_versions_are_refused)
{
    static const struct {
        const char *more, *message;
    } known[] = {
        {"\"bias\": true", NULL},
        {"\"bias\": true, \"bad_cells\": \"missing\"", NULL},
        {"\"bias\": true, \"bad_cells\": \"zero\"", "m: its schema says of bad cells what this version does not know"},
        {"\"bias\": true, \"bad_cells\": true", "m: its schema says of bad cells what this version does not know"},
        {"\"bias\": true, \"basis\": \"waves\"", "m: its schema has a basis that this version does not know"},
        {"\"bias\": 1", "m: its schema does not say how rows are scaled"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct dp_import import = {0};
        err = (struct dp_err){0};
        char text[400];
        snprintf(
            text, sizeof text,
            "{\"columns\": [{\"name\": \"a\", \"type\": \"numeric\", \"bounds\": [2, 4]}, {\"name\": \"y\", \"type\": \"label\", "
            "\"classes\": [\"0\", \"1\"]}], \"row_norm\": \"unit\", \"quantised\": false, %s}",
            known[i].more);
        assert_int_equal(dp_carried_take(&import.plan, text, "m", &err), known[i].message == NULL ? DP_OK : DP_E_RUN);
        assert_string_equal(err.message, known[i].message == NULL ? "" : known[i].message);
        if (known[i].message == NULL) {
            assert_true(import.plan.bad_missing == (i == 1));
            assert_int_equal(import.plan.schema.column[0].fill, i == 1 ? DP_FILL_VALUE : DP_FILL_REFUSE);
            assert_true(i == 0 || import.plan.schema.column[0].fill_value == 3);
        }
        dp_import_free(&import);
    }
}

/* Missing pages read as zeros, and the file is named; a change of size or time is found by a check. Last: a lost page is never
   forgotten. */
TEST_IN(files_that_change_while_mapped, enter, leave)
{
    struct dp_dataset *d;
    char bytes[4096];
    dp_mapped_guard();
    for (int sparse = 0; sparse < 2; sparse++) {
        write_small("edit.dp", (struct dp_writer_options){.storage = sparse ? DP_STORAGE_CSR : DP_STORAGE_DENSE, .force = true},
                    false);
        d = opened("edit.dp");
        assert_int_equal(dp_mapped_check(true, &err), 0);
        size_t length = get_file("edit.dp/y.npy", bytes, sizeof bytes);
        put_file("edit.dp/y.npy", bytes, length);
        assert_int_equal(dp_mapped_check(false, &err), 0);
        assert_fails(dp_mapped_check(true, &err), DP_E_RUN, "edit.dp/y.npy was changed while it was read");
        dp_dataset_close(d);
        assert_int_equal(dp_mapped_check(true, &err), 0);
    }
    d = opened("edit.dp");
    assert_int_equal(truncate("edit.dp/X_indptr.npy", 0), 0);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(dp_dataset_row(d, i).count, 0);
    dp_dataset_close(d);
    assert_fails(dp_mapped_check(false, &err), DP_E_RUN,
                 "edit.dp/X_indptr.npy was cut short while it was read, or its disk fails");
}

TESTS(NULL, NULL)
