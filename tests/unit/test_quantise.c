/* Values of 16 bits: steps, rounding, and the data sets that store them. */
#include "unit.h"

#include <sys/stat.h>
#include <unistd.h>

#include "data/dataset_write.h"
#include "data/import.h"
#include "data/quantise.h"

static unsigned seed = 1;

static double uniform(void)
{
    return rand_r(&seed) / ((double)RAND_MAX + 1);
}

/* A step is a power of two; twice as small, it would not reach. */
TEST(steps_are_the_smallest_that_reach)
{
    for (int i = -2000; i <= 2000; i++) {
        double most = i % 4 == 0 ? ldexp(1, i / 20) : ldexp(0.5 + uniform() / 2, i / 20), step = (double)dp_quantise_step(most);
        int exponent;
        assert_true(dp_quantise_good((float)step) && frexp(step, &exponent) == 0.5);
        assert_true(32768 * step >= most);
        assert_true(16384 * step < most || step == 0x1p-126);
    }
    assert_true(dp_quantise_step(1) == 0x1p-15f);
    assert_true(dp_quantise_step(0) == 0x1p-126f && dp_quantise_step(1e-300) == 0x1p-126f);
    assert_true(dp_quantise_step(1e300) == 0x1p112f);
}

TEST(steps_that_are_none)
{
    static const float bad[] = {0, -0.5f, 3, 0.75f, 0x1p-127f, 0x1p-149f, 0x1p113f, INFINITY, -INFINITY, NAN};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(dp_quantise_good(bad[i]));
    assert_true(dp_quantise_good(0x1p-126f) && dp_quantise_good(0x1p112f) && dp_quantise_good(1));
    for (int q = INT16_MIN; q <= INT16_MAX; q++) /* both ends are exact */
        assert_true((double)((float)q * 0x1p-126f) == ldexp(q, -126) && (double)((float)q * 0x1p112f) == ldexp(q, 112));
}

TEST(values_are_rounded_toward_zero)
{
    enum { COLS = 64 };
    float step[COLS], row[COLS], was[COLS];
    int16_t narrow[COLS];
    for (int trial = 0; trial < 500; trial++) {
        for (size_t j = 0; j < COLS; j++) {
            step[j] = (float)ldexp(1, -(int)(j % 20) - 10);
            row[j] = was[j] = (float)((2 * uniform() - 1) * 32768 * (double)step[j] * (j % 3 == 0 ? 1e-5 : 1));
        }
        row[0] = was[0] = -0.0f;
        row[1] = was[1] = 32768 * step[1]; /* one more than there are */
        row[2] = was[2] = -32768 * step[2];
        dp_quantise_row(step, COLS, row);
        dp_quantise_narrow(step, COLS, row, narrow);
        for (size_t j = 0; j < COLS; j++) {
            double off = fabs((double)was[j]) - fabs((double)row[j]);
            assert_true(off >= 0 && (j < 3 ? off <= (double)step[j] : off < (double)step[j]));
            assert_true(row[j] * was[j] >= 0 && !(row[j] == 0 && signbit(row[j])));
            assert_true((float)narrow[j] * step[j] == row[j] && abs(narrow[j]) <= INT16_MAX);
        }
        assert_int_equal(narrow[1], INT16_MAX);
        assert_int_equal(narrow[2], -INT16_MAX);
    }
}

/* Writes random rows; the same rows for the same seed. */
static void write_rows(const char *path, struct dp_writer_options options, size_t rows, double decay)
{
    struct dp_writer *w;
    double *x = calloc(options.cols, sizeof *x);
    options.public_rows = options.force = true;
    seed = 5;
    assert_int_equal(dp_writer_open(&w, path, &options, NULL), 0);
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < options.cols; j++)
            x[j] = (2 * uniform() - 1) * pow((double)j + 1, -decay) * (options.norm == DP_NORM_NONE ? 1e-3 : 1);
        assert_int_equal(dp_writer_row(w, x, (double)(i % 2), NULL), 0);
    }
    json_t *d = json_pack("{s:{s:s, s:[s,s]}}", "label", "kind", "classes", "classes", "no", "yes");
    assert_int_equal(dp_writer_finish(w, d, NULL), 0);
    assert_int_equal(dp_writer_commit(w, NULL), 0);
    json_decref(d);
    free(x);
}

static struct dp_dataset *opened(const char *path, enum dp_storage storage)
{
    struct dp_dataset *d = NULL;
    assert_int_equal(dp_dataset_open(&d, path, NULL), 0);
    assert_int_equal(dp_dataset_verify(d, path, NULL), 0);
    assert_int_equal(d->storage, storage);
    return d;
}

/* As int16, as float32 and as CSR the values are the same, their norms are at most 1 as real numbers, and each is below the
   unquantised value by less than a step. The digest is computed from the values. */
TEST(one_set_of_values)
{
    static const size_t cols_of[] = {1, 2, 17, 90, 784};
    for (int norm = DP_NORM_UNIT; norm <= DP_NORM_NONE; norm++)
        for (size_t c = 0; c < sizeof cols_of / sizeof *cols_of; c++) {
            size_t cols = cols_of[c], rows = 40;
            float *step = calloc(cols, sizeof *step);
            for (size_t j = 0; j < cols; j++)
                step[j] = dp_quantise_step(norm == DP_NORM_NONE ? 1e-3 : 1);
            struct dp_writer_options options = {.cols = cols, .norm = (enum dp_row_norm)norm};
            write_rows("whole.dp", options, rows, 0.5);
            options.step = step;
            write_rows("wide.dp", options, rows, 0.5);
            options.storage = DP_STORAGE_CSR;
            write_rows("csr.dp", options, rows, 0.5);
            options.storage = DP_STORAGE_INT16;
            write_rows("narrow.dp", options, rows, 0.5);
            struct dp_dataset *whole = opened("whole.dp", DP_STORAGE_DENSE), *wide = opened("wide.dp", DP_STORAGE_DENSE),
                              *csr = opened("csr.dp", DP_STORAGE_CSR), *narrow = opened("narrow.dp", DP_STORAGE_INT16);
            assert_true(wide->quantised && csr->quantised && narrow->quantised && !whole->quantised);
            assert_string_equal(narrow->digest, wide->digest);
            assert_string_equal(narrow->row_norm, wide->row_norm);
            assert_string_not_equal(narrow->digest, whole->digest);
            for (size_t i = 0; i < rows; i++) {
                struct dp_row a = dp_dataset_row(narrow, i), b = dp_dataset_row(wide, i), from = dp_dataset_row(whole, i);
                quad sum = 0;
                assert_true(a.narrow != NULL && a.values == NULL && a.count == cols);
                for (size_t j = 0; j < cols; j++) {
                    float x = dp_row_value(&a, j);
                    sum += (quad)x * x;
                    assert_memory_equal(&x, &b.values[j], sizeof x);
                    assert_true(dp_row_at(dp_dataset_row(csr, i), j) == (double)x);
                    assert_true(fabsf(x) <= fabsf(from.values[j]) && fabsf(x) >= fabsf(from.values[j]) - step[j]);
                }
                assert_true(sum <= 1);
            }
            dp_dataset_close(whole);
            dp_dataset_close(wide);
            dp_dataset_close(csr);
            dp_dataset_close(narrow);
            free(step);
        }
}

static void patch(const char *path, long at, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void refused(const char *says)
{
    struct dp_dataset *d;
    struct dp_err err = {0};
    assert_fails(dp_dataset_open(&d, "bad.dp", &err), DP_E_RUN, says);
}

/* Scales that are not powers of two are refused when the data set is opened, other values when it is verified. */
TEST(damage_is_found)
{
    static const float bad[] = {0, 3, -0.5f, 0x1p-127f, 0x1p113f, INFINITY, NAN};
    const float step[] = {0x1p-15f, 0x1p-14f, 0x1p-15f}, other = 0x1p-13f;
    const struct dp_writer_options options = {.cols = 3, .storage = DP_STORAGE_INT16, .step = step};
    struct dp_dataset *d;
    write_rows("bad.dp", options, 4, 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        patch("bad.dp/scales.npy", 132, &bad[i], sizeof *bad);
        refused("bad.dp/scales.npy: the scale of column 2 is not a power of two from 2^-126 to 2^112");
    }
    patch("bad.dp/scales.npy", 132, &other, sizeof other);
    assert_int_equal(dp_dataset_open(&d, "bad.dp", &err), 0);
    assert_int_equal(dp_dataset_verify(d, "bad.dp", &err), DP_E_RUN); /* of another digest, or too long */
    dp_dataset_close(d);
    patch("bad.dp/scales.npy", 132, &step[1], sizeof *step);
    dp_dataset_close(opened("bad.dp", DP_STORAGE_INT16));
    int16_t value = 0;
    patch("bad.dp/X_i16.npy", 128, &value, sizeof value);
    assert_int_equal(dp_dataset_open(&d, "bad.dp", &err), 0);
    assert_fails(dp_dataset_verify(d, "bad.dp", &err), DP_E_RUN,
                 "bad.dp: its contents are not those that dp-import wrote: the digest differs");
    dp_dataset_close(d);
    const int16_t least[] = {INT16_MIN, INT16_MIN};
    patch("bad.dp/X_i16.npy", 128, least, sizeof least);
    assert_int_equal(dp_dataset_open(&d, "bad.dp", &err), 0);
    assert_int_equal(dp_dataset_verify(d, "bad.dp", &err), DP_E_RUN);
    assert_non_null(strstr(err.message, "bad.dp: row 1 has norm 2."));
    dp_dataset_close(d);
    assert_int_equal(truncate("bad.dp/X_i16.npy", 128 + 2 * 12 - 1), 0);
    refused("bad.dp/X_i16.npy: holds 23 bytes of data, its shape needs 24");
    write_rows("bad.dp", options, 4, 0);
    assert_int_equal(truncate("bad.dp/scales.npy", 128 + 8), 0);
    refused("bad.dp/scales.npy: holds 8 bytes of data, its shape needs 12");
    assert_int_equal(unlink("bad.dp/scales.npy"), 0);
    refused("cannot open bad.dp/scales.npy: No such file or directory");
    write_rows("two.dp", (struct dp_writer_options){.cols = 2, .storage = DP_STORAGE_INT16, .step = step}, 4, 0);
    assert_int_equal(system("cp two.dp/scales.npy bad.dp/"), 0);
    refused("bad.dp: its arrays do not have the shape that dataset.json states");
    /* a data set of another storage takes the name: no file of the old one remains */
    write_rows("bad.dp", (struct dp_writer_options){.cols = 3}, 4, 0);
    dp_dataset_close(opened("bad.dp", DP_STORAGE_DENSE));
    assert_int_equal(access("bad.dp/scales.npy", F_OK), -1);
    assert_int_equal(system("sh -c 'test $(ls -d bad.dp* | wc -l) = 1'"), 0);
    assert_int_equal(
        system("cp two.dp/scales.npy two.dp/X_i16.npy bad.dp/ && sed -i 's/\"dense\"/\"int16\"/' bad.dp/dataset.json"), 0);
    refused("bad.dp: its arrays do not have the shape that dataset.json states");
}

/* The steps of an import come from the bounds of columns, and not from the rows. */
TEST(steps_are_public)
{
    float scale[2][5];
    for (int which = 0; which < 2; which++) {
        FILE *file = fopen("s.json", "w");
        fputs("{\"columns\":[{\"name\":\"a\",\"type\":\"numeric\",\"bounds\":[-40,3],\"scale\":\"none\"},"
              "{\"name\":\"b\",\"type\":\"numeric\",\"bounds\":[0,0.01],\"scale\":\"none\"},"
              "{\"name\":\"c\",\"type\":\"categorical\",\"categories\":[\"x\",\"y\"]},"
              "{\"name\":\"l\",\"type\":\"label\",\"classes\":[\"0\",\"1\"]}]}",
              file);
        fclose(file);
        file = fopen("t.csv", "w");
        fputs(which == 0 ? "0,0,x,0\n0,0.001,y,1\n" : "-40,0.01,x,0\n3,0.01,y,1\n", file);
        fclose(file);
        struct dp_import import = {.source.format = DP_IMPORT_CSV,
                                   .source.input = "t.csv",
                                   .output = "t.dp",
                                   .plan.choose_norm = true,
                                   .plan.bias = true,
                                   .plan.quantise = true,
                                   .split = NAN,
                                   .writer = {.force = true, .storage = DP_STORAGE_INT16}};
        err = (struct dp_err){0};
        assert_int_equal(dp_schema_load(&import.plan.schema, "s.json", &err), 0);
        assert_int_equal(dp_import_run(&import, &err), 0);
        struct dp_dataset *d = opened("t.dp", DP_STORAGE_INT16);
        memcpy(scale[which], dp_dataset_row(d, 0).scale, sizeof *scale);
        dp_dataset_close(d);
        dp_import_free(&import);
    }
    assert_memory_equal(scale[0], scale[1], sizeof *scale);
    /* every row is divided by sqrt(1602.0001) and a little: bounds of 0.9994, 0.00025 and 0.025 */
    const float expected[] = {0x1p-15f, 0x1p-26f, 0x1p-20f, 0x1p-20f, 0x1p-20f};
    assert_memory_equal(scale[0], expected, sizeof *scale);
}

static int enter(void **state)
{
    static char path[] = "/tmp/test_quantise.XXXXXX";
    *state = mkdtemp(path);
    return *state == NULL || chdir(path) != 0;
}

static int leave(void **state)
{
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", (const char *)*state);
    return chdir("/") != 0 || system(command) != 0;
}

TESTS(enter, leave)
