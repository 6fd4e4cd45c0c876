/* Optimisers against tests/vectors/optimisers.tsv (made by make-optimisers.py). */
#include "unit.h"

#include "math/optimiser.h"

static const struct {
    const char *name;
    double eta, variance;
    struct dp_optimiser optimiser;
} cases[] = {
    {"sgd", 0.2, 0, {.kind = DP_OPTIMISER_SGD}},
    {"momentum", 0.1, 0, {.kind = DP_OPTIMISER_SGD, .momentum = 0.9}},
    {"adagrad-norm", 1.5, 0, {.kind = DP_OPTIMISER_ADAGRAD_NORM, .b2 = 0.25, .beta = 1, .floor = 1e-6}},
    {"adagrad-norm-noisy",
     1.5,
     0.3,
     {.kind = DP_OPTIMISER_ADAGRAD_NORM, .b2 = 0.25, .beta = 0.25, .floor = 0.125, .momentum = 0.5}},
    {"adam", 0.1, 0, {.kind = DP_OPTIMISER_ADAM, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8}},
    {"adam-other", 0.3, 0, {.kind = DP_OPTIMISER_ADAM, .beta1 = 0.5, .beta2 = 0.9, .epsilon = 1e-2}},
};
enum { CASES = sizeof cases / sizeof *cases, STEPS = 12 };

static void gradient(const double *w, int t, double *g)
{
    static const double a[4][4] = {{2, 0.3, 0, -0.1}, {0.3, 1, 0.2, 0}, {0, 0.2, 0.5, 0.1}, {-0.1, 0, 0.1, 3}};
    static const double b[4] = {1, -2, 0.5, 0.25};
    for (int i = 0; i < 4; i++) {
        g[i] = 0.1 * cos(t * (i + 1)) - b[i];
        for (int j = 0; j < 4; j++)
            g[i] += a[i][j] * w[j];
    }
}

TEST(steps_are_those_of_the_formulas)
{
    FILE *file = fopen("tests/vectors/optimisers.tsv", "r");
    assert_non_null(file);
    int lines = 0;
    for (int c = 0; c < CASES; c++) {
        struct dp_optimiser o = cases[c].optimiser;
        double w[4] = {0}, g[4], expected[4];
        dp_optimiser_open(&o, 4);
        for (int t = 1; t <= STEPS; t++, lines++) {
            char name[40];
            int at;
            assert_int_equal(
                fscanf(file, "%39s %d %lf %lf %lf %lf", name, &at, &expected[0], &expected[1], &expected[2], &expected[3]), 6);
            assert_string_equal(name, cases[c].name);
            assert_int_equal(at, t);
            gradient(w, t, g);
            dp_optimiser_step(&o, cases[c].eta, cases[c].variance, g, w);
            for (int i = 0; i < 4; i++)
                assert_near(w[i], expected[i], 1e-12);
        }
        dp_optimiser_close(&o);
    }
    assert_int_equal(lines, CASES * STEPS);
    fclose(file);
}

/* For pure noise ‖g‖² of d coordinates with variance s² has mean d s², which is subtracted; never less than floor. */
TEST(the_share_of_the_noise_is_taken_away)
{
    struct dp_optimiser o = {.kind = DP_OPTIMISER_ADAGRAD_NORM, .b2 = 1, .beta = 1, .floor = 0.5};
    double w[4] = {0}, g[4] = {2, -2, 2, -2};
    dp_optimiser_open(&o, 4);
    dp_optimiser_step(&o, 1, 4, g, w); /* 16 − 4·4 = 0 < floor */
    assert_near(o.b2, 1.5, 1e-15);
    dp_optimiser_step(&o, 1, 1, g, w); /* 16 − 4 */
    assert_near(o.b2, 13.5, 1e-15);
    assert_near(w[0], -2 / sqrt(1.5) - 2 / sqrt(13.5), 1e-15);
    dp_optimiser_close(&o);
}

/* The b of ADP-SGD with its beta of each epoch, against tests/vectors/adp-sgd.tsv (made by make-adp-sgd.py). */
TEST(beta_begins_again_with_each_epoch)
{
    FILE *file = fopen("tests/vectors/adp-sgd.tsv", "r");
    assert_non_null(file);
    struct dp_optimiser o;
    double w[3], g[3], expected[3], beta, b2;
    char text[400];
    int epoch, t, lines = 0;
    while (fgets(text, sizeof text, file) != NULL) {
        if (sscanf(text, "step %lf %d %d %lf %lf %lf %lf", &beta, &epoch, &t, &b2, &expected[0], &expected[1], &expected[2]) !=
            7)
            continue;
        if (t == 0) {
            o = (struct dp_optimiser){.kind = DP_OPTIMISER_ADAGRAD_NORM, .b2 = 20, .beta = beta, .epoch = epoch, .floor = 1e-5};
            dp_optimiser_open(&o, 3);
            w[0] = w[1] = w[2] = 0;
        }
        for (int i = 0; i < 3; i++)
            g[i] = w[i] - (const double[]){1, -2, 0.5}[i] + 0.1 * cos((t + 1) * (i + 1));
        dp_optimiser_step(&o, 2, 0.25 * 0.25, g, w);
        assert_near(o.b2, b2, 1e-9);
        for (int i = 0; i < 3; i++)
            assert_near(w[i], expected[i], 1e-12);
        lines++;
        if (t == 11)
            dp_optimiser_close(&o);
    }
    assert_int_equal(lines, 36);
    fclose(file);
}

TEST(projection)
{
    double w[2] = {3, 4};
    dp_project_ball(10, w, 2);
    assert_true(w[0] == 3 && w[1] == 4);
    dp_project_ball(1, w, 2);
    assert_near(w[0], 0.6, 1e-15);
    assert_near(w[1], 0.8, 1e-15);
}

TESTS(NULL, NULL)
