/* Networks: their text, and gradients against a plain computation in double, one example after the other, and against
 * differences of the loss, with the kernels of each set of instructions. */
#include "unit.h"

#include "math/loss.h"
#include "nets/pass.h"

#define L (dp_net_kernels()->lanes)
#define MOST DP_NET_MOST_LANES

/* The same network in double, without blocks or vectors. value[l]: input of layer l. */
struct plain {
    const struct dp_net *net;
    const float *w;
    double value[DP_NET_LAYERS + 1][4096], slope[2][4096], kept[DP_NET_LAYERS + 1][4096];
};

/* Index of the input at a row and column, or −1 in the zeros around it. */
static long at(const struct dp_net_layer *y, size_t place_row, size_t place_col, size_t row, size_t col, size_t channel)
{
    long i = (long)(place_row * y->stride + row) - (long)y->pad, j = (long)(place_col * y->stride + col) - (long)y->pad;
    if (i < 0 || j < 0 || i >= (long)y->in.height || j >= (long)y->in.width)
        return -1;
    return (i * (long)y->in.width + j) * (long)y->in.channels + (long)channel;
}

/* Calls of one output: forward with dw NULL; backward adds to dw and dx. */
static void neuron(const struct dp_net_layer *y, const float *w, const double *in, size_t row, size_t col, size_t o, double d,
                   double *out, double *dw, double *dx)
{
    size_t fan_in = dp_net_fan_in(y), k = 0, side = y->kind == DP_NET_FC ? 1 : y->kernel;
    size_t channels = y->kind == DP_NET_FC ? fan_in : y->in.channels;
    double sum = (double)w[y->out.channels * fan_in + o];
    for (size_t r = 0; r < side; r++)
        for (size_t c = 0; c < side; c++)
            for (size_t h = 0; h < channels; h++, k++) {
                long i = y->kind == DP_NET_FC ? (long)h : at(y, row, col, r, c, h);
                if (i < 0)
                    continue;
                sum += (double)w[o * fan_in + k] * in[i];
                if (dw != NULL)
                    dw[o * fan_in + k] += d * in[i];
                if (dx != NULL)
                    dx[i] += d * (double)w[o * fan_in + k];
            }
    if (dw != NULL)
        dw[y->out.channels * fan_in + o] += d;
    if (out != NULL)
        *out = sum;
}

/* The largest or the mean value of a window; backward distributes d to its values. */
static void window(const struct dp_net_layer *y, const double *in, size_t row, size_t col, size_t channel, double d,
                   double *out, double *dx)
{
    long best = -1;
    double sum = 0, size = (double)(y->kernel * y->kernel);
    for (size_t r = 0; r < y->kernel; r++)
        for (size_t c = 0; c < y->kernel; c++) {
            long i = at(y, row, col, r, c, channel);
            best = best < 0 || in[i] > in[best] ? i : best;
            sum += in[i];
            if (dx != NULL && y->kind == DP_NET_MEAN_POOL)
                dx[i] += d / size;
        }
    if (dx != NULL && y->kind == DP_NET_POOL)
        dx[best] += d;
    if (out != NULL)
        *out = y->kind == DP_NET_POOL ? in[best] : sum / size;
}

/* One group of norm; backward, from the formula of its derivative in all pairs of values: dx_i = Σ_j d_j a_j ∂h_j/∂x_i with
   ∂h_j/∂x_i = s (1{i = j} − 1/n − h_i h_j / n). */
static void group(const struct dp_net_layer *y, const float *w, const double *in, size_t g, const double *d, double *out,
                  double *dw, double *dx)
{
    size_t channels = y->in.channels, each = channels / y->groups, size = dp_net_size(y->in);
    double n = (double)(size / y->groups), mean = 0, far = 0;
    for (size_t i = 0; i < size; i++)
        mean += i % channels / each == g ? in[i] / n : 0;
    for (size_t i = 0; i < size; i++)
        far += i % channels / each == g ? (in[i] - mean) * (in[i] - mean) / n : 0;
    double scale = 1 / sqrt(far + (double)1e-5f);
    for (size_t i = 0; i < size; i++) {
        size_t c = i % channels;
        double h = (in[i] - mean) * scale;
        if (c / each != g)
            continue;
        if (out != NULL)
            out[i] = h * (double)w[c] + (double)w[channels + c];
        if (d == NULL)
            continue;
        dw[c] += d[i] * h;
        dw[channels + c] += d[i];
        for (size_t j = 0; j < size; j++)
            if (j % channels / each == g)
                dx[i] += d[j] * (double)w[j % channels] * scale * ((i == j) - 1 / n - h * (in[j] - mean) * scale / n);
    }
}

/* norm and add, before the activation. */
static void all_outputs(struct plain *p, size_t l, const double *d, double *dw, double *dx)
{
    const struct dp_net_layer *y = &p->net->layer[l];
    for (size_t g = 0; y->kind == DP_NET_NORM && g < y->groups; g++)
        group(y, p->w + y->first, p->value[l], g, d, d == NULL ? p->value[l + 1] : NULL, dw, dx);
    for (size_t i = 0; y->kind == DP_NET_ADD && i < dp_net_size(y->in); i++) {
        if (d == NULL) {
            p->value[l + 1][i] = p->value[l][i] + p->value[y->kept][i];
        } else {
            dx[i] += d[i];
            p->kept[y->kept][i] += d[i];
        }
    }
}

static void each_output(struct plain *p, size_t l, const double *d, double *dw, double *dx)
{
    const struct dp_net_layer *y = &p->net->layer[l];
    size_t n = 0;
    all_outputs(p, l, d, dw, dx);
    for (size_t row = 0; row < y->out.height; row++)
        for (size_t col = 0; col < y->out.width; col++)
            for (size_t o = 0; o < y->out.channels; o++, n++) {
                double *out = d == NULL ? &p->value[l + 1][n] : NULL, slope = d != NULL ? d[n] : 0;
                if (dp_net_has_weights(y))
                    neuron(y, p->w + y->first, p->value[l], row, col, o, slope, out, dw, dx);
                else if (y->kind == DP_NET_POOL || y->kind == DP_NET_MEAN_POOL)
                    window(y, p->value[l], row, col, o, slope, out, dx);
                if (out != NULL && y->activation == DP_NET_TANH)
                    *out = tanh(*out);
                if (out != NULL && y->activation == DP_NET_RELU)
                    *out = fmax(*out, 0);
            }
}

static double *plain_forward(struct plain *p, const float *x)
{
    for (size_t j = 0; j < p->net->inputs; j++)
        p->value[0][j] = (double)(p->net->factor * x[j] - p->net->centre);
    for (size_t l = 0; l < p->net->layers; l++)
        each_output(p, l, NULL, NULL, NULL);
    return p->value[p->net->layers];
}

/* g: gradient of the softmax loss of one example. */
static void plain_gradient(struct plain *p, const float *x, size_t class, double *g)
{
    double *now = p->slope[0], *next = p->slope[1], *u = plain_forward(p, x);
    memset(g, 0, p->net->parameters * sizeof *g);
    memset(p->kept, 0, sizeof p->kept);
    dp_softmax_slope(u, p->net->outputs, class, now);
    for (size_t l = p->net->layers; l-- > 0;) {
        const struct dp_net_layer *y = &p->net->layer[l];
        for (size_t n = 0; n < dp_net_size(y->out); n++) {
            double v = p->value[l + 1][n];
            now[n] += p->kept[l + 1][n];
            now[n] *= y->activation == DP_NET_TANH ? 1 - v * v : y->activation == DP_NET_RELU ? v > 0 : 1;
        }
        memset(next, 0, dp_net_size(y->in) * sizeof *next);
        each_output(p, l, now, g + y->first, next);
        double *swap = now;
        now = next;
        next = swap;
    }
}

/* One network with weights and `count` examples. */
struct trial {
    struct dp_net net;
    struct dp_net_pass pass;
    struct plain plain;
    float *w, *x;
    double *p, *g;
    int64_t *sum;
    _Alignas(64) float slope[64 * MOST];
    double squares[MOST];
};

static double uneven(size_t i)
{
    return sin(12.9898 * (double)i + 3) * 0.9;
}

static struct trial *open_trial(const char *text, size_t count)
{
    struct trial *t = aligned_alloc(_Alignof(struct trial), sizeof *t);
    struct dp_row rows[MOST] = {{0}};
    memset(t, 0, sizeof *t);
    assert_int_equal(dp_net_parse(&t->net, text, NULL), 0);
    dp_net_pass_open(&t->pass, &t->net, 1);
    size_t P = t->net.parameters, D = t->net.inputs;
    t->p = calloc(P, sizeof *t->p);
    t->g = calloc(P, sizeof *t->g);
    t->w = calloc(P, sizeof *t->w);
    t->x = calloc(D * L, sizeof *t->x);
    t->sum = calloc(P, sizeof *t->sum);
    dp_net_start(&t->net, t->p);
    for (size_t i = 0; i < P; i++)
        t->w[i] = (float)(t->p[i] + 0.05 * uneven(i));
    for (size_t i = 0; i < D * L; i++)
        t->x[i] = (float)uneven(7 * i + 1);
    for (size_t l = 0; l < count; l++)
        rows[l] = dp_row_dense(t->x + l * D, D);
    t->plain = (struct plain){.net = &t->net, .w = t->w};
    dp_net_load(&t->pass, rows, NULL, count);
    return t;
}

static void close_trial(struct trial *t)
{
    dp_net_pass_close(&t->pass);
    free(t->p);
    free(t->g);
    free(t->w);
    free(t->x);
    free(t->sum);
    free(t);
}

static void gradients(struct trial *t, size_t count)
{
    double u[64];
    dp_net_forward(&t->pass, t->w);
    memset(t->slope, 0, sizeof t->slope);
    for (size_t l = 0; l < count; l++) {
        for (size_t k = 0; k < t->net.outputs; k++)
            u[k] = dp_net_output(&t->pass, k, l);
        dp_softmax_slope(u, t->net.outputs, l % t->net.outputs, u);
        for (size_t k = 0; k < t->net.outputs; k++)
            t->slope[k * L + l] = (float)u[k];
    }
    dp_net_backward(&t->pass, t->w, t->slope, 0);
    dp_net_squares(&t->pass, t->squares);
}

static const char *const networks[] = {
    "6x6x1 * 1.5; conv 5 3x3 tanh; pool 2/1; conv 6 2x2/1 pad 1 relu; mean-pool 2; fc 7 tanh; fc 3",
    "9x7x2; conv 3 5x5/2 pad 2 relu; conv 9 3x3 pad 1; pool 3/2; fc 4",
    "10; fc 13 tanh; fc 5 relu; fc 3",
    "4; fc 3; seed 9",
    "5x4x2 - 0.1; conv 6 3x3 pad 1; norm 3 tanh; save; conv 6 3x3 pad 1; norm 2 relu; conv 6 3x3 pad 1; add relu; mean-pool 2; fc 3",
    "8; fc 8 tanh; save; add; norm 2; fc 3",
    "8; save; fc 8 tanh; norm 1; add tanh; save; fc 8; add; norm 2 relu; fc 3",
};

/* Each example's part of the sum, unclipped, is its plain gradient; its norm too. */
TEST(gradients_are_those_of_a_plain_computation)
{
    for (size_t n = 0; n < sizeof networks / sizeof *networks; n++) {
        for (size_t l = 0; l < L; l += 3) {
            struct trial *t = open_trial(networks[n], L);
            gradients(t, L);
            double others[MOST];
            for (size_t i = 0; i < L; i++)
                others[i] = i == l ? t->squares[i] : (double)NAN; /* no other one counts */
            dp_net_add(&t->pass, others, 0x1p10, 0x1p-20, t->sum);
            plain_gradient(&t->plain, t->x + l * t->net.inputs, l % t->net.outputs, t->g);
            double norm2 = 0;
            for (size_t j = 0; j < t->net.parameters; j++) {
                assert_true(fabs(ldexp((double)t->sum[j], -20) + t->g[j]) < 4e-6);
                norm2 += t->g[j] * t->g[j];
            }
            assert_true(fabs(t->squares[l] / norm2 - 1) < 1e-5);
            close_trial(t);
        }
    }
}

static double plain_loss(struct plain *p, const float *x, size_t class)
{
    double *u = plain_forward(p, x);
    return dp_softmax_value(u, p->net->outputs, class);
}

TEST(the_plain_computation_is_the_derivative)
{
    for (size_t n = 0; n < sizeof networks / sizeof *networks; n++) {
        struct trial *t = open_trial(networks[n], L);
        plain_gradient(&t->plain, t->x, 1, t->g);
        for (size_t j = 0; j < t->net.parameters; j += 1 + t->net.parameters / 97) {
            const float old = t->w[j], step = 0x1p-12f;
            t->w[j] = old + step;
            double up = plain_loss(&t->plain, t->x, 1), high = (double)t->w[j];
            t->w[j] = old - step;
            double down = plain_loss(&t->plain, t->x, 1), slope = (up - down) / (high - (double)t->w[j]);
            t->w[j] = old;
            assert_true(fabs(slope - t->g[j]) < 1e-4);
        }
        close_trial(t);
    }
}

/* Clipped and rounded, the part of one example has norm at most the bound, as exact whole numbers; and nearly the bound. */
TEST(no_example_adds_more_than_the_bound)
{
    for (size_t n = 0; n < sizeof networks / sizeof *networks; n++)
        for (double bound = 0.01; bound < 1; bound *= 3) {
            struct trial *t = open_trial(networks[n], 1);
            gradients(t, 1);
            int exponent;
            frexp(bound, &exponent);
            double grid = ldexp(1, exponent - 21);
            dp_net_add(&t->pass, t->squares, bound, grid, t->sum);
            long double norm2 = 0, most = (long double)bound / (long double)grid;
            for (size_t j = 0; j < t->net.parameters; j++)
                norm2 += (long double)t->sum[j] * (long double)t->sum[j];
            assert_true(norm2 <= most * most);
            if (sqrt(t->squares[0]) > bound)
                assert_true(norm2 > 0.999L * most * most);
            close_trial(t);
        }
}

/* A gradient of one coordinate, just below a whole number when clipped: products of floats must not round it up. */
LONG_TEST(a_rounded_product_stays_in_the_bound)
{
    const double grid = 0x1p-24;
    for (size_t i = 0; i < 1000; i++) {
        struct trial *t = open_trial("1; fc 1", 1);
        double bound = grid * (0x1p20 + (double)(i % 7) + 0.95);
        t->pass.memory[0] = 0; /* only the bias has a slope */
        t->slope[0] = (float)(1 + fabs(uneven(i)));
        dp_net_forward(&t->pass, t->w);
        dp_net_backward(&t->pass, t->w, t->slope, 0);
        dp_net_squares(&t->pass, t->squares);
        dp_net_add(&t->pass, t->squares, bound, grid, t->sum);
        assert_true(t->sum[0] == 0 && (double)-t->sum[1] <= bound / grid && (double)-t->sum[1] > bound / grid - 3);
        close_trial(t);
    }
}

/* An example has the same part, whichever others share its block; one that is not finite has no part. */
TEST(examples_do_not_depend_on_each_other)
{
    for (size_t n = 0; n < sizeof networks / sizeof *networks; n++) {
        struct trial *all = open_trial(networks[n], L), *few = open_trial(networks[n], 1);
        struct dp_row rows[MOST];
        for (size_t l = 0; l < L; l++)
            rows[l] = dp_row_dense(all->x + l * all->net.inputs, all->net.inputs);
        for (size_t j = 0; j < all->net.inputs; j++)
            all->x[all->net.inputs + j] = NAN;
        all->x[2 * all->net.inputs] = 3e38f;
        all->x[3 * all->net.inputs] = -INFINITY;
        dp_net_load(&all->pass, rows, NULL, L);
        gradients(all, L);
        gradients(few, 1);
        assert_false(isfinite(all->squares[1]));
        for (size_t l = 0; l < L; l++) {
            if (l == 0)
                assert_true(all->squares[l] == few->squares[l]);
            else
                all->squares[l] = (double)INFINITY;
        }
        dp_net_add(&all->pass, all->squares, 0.1, 0x1p-24, all->sum);
        dp_net_add(&few->pass, few->squares, 0.1, 0x1p-24, few->sum);
        assert_memory_equal(all->sum, few->sum, all->net.parameters * sizeof *all->sum);
        close_trial(all);
        close_trial(few);
    }
}

/* The gradient of an example with several views is the mean of their gradients. */
TEST(views_are_averaged)
{
    enum { VIEWS = 3 };
    for (size_t n = 0; n < sizeof networks / sizeof *networks; n++) {
        struct trial *t = open_trial(networks[n], 1);
        size_t D = t->net.inputs, P = t->net.parameters;
        double *mean = calloc(P, sizeof *mean), u[64], norm2 = 0;
        dp_net_pass_close(&t->pass);
        dp_net_pass_open(&t->pass, &t->net, VIEWS);
        for (int round = 0; round < 2; round++) /* new examples begin at 0 */
            for (size_t view = 0; view < VIEWS; view++) {
                const struct dp_row row = dp_row_dense(t->x + view * D, D);
                dp_net_load(&t->pass, &row, NULL, 1);
                dp_net_forward(&t->pass, t->w);
                for (size_t k = 0; k < t->net.outputs; k++)
                    u[k] = dp_net_output(&t->pass, k, 0);
                dp_softmax_slope(u, t->net.outputs, 1, u);
                for (size_t k = 0; k < t->net.outputs; k++)
                    t->slope[k * L] = (float)(u[k] / VIEWS);
                dp_net_backward(&t->pass, t->w, t->slope, view);
            }
        dp_net_squares(&t->pass, t->squares);
        dp_net_add(&t->pass, t->squares, 0x1p10, 0x1p-20, t->sum);
        for (size_t view = 0; view < VIEWS; view++) {
            plain_gradient(&t->plain, t->x + view * D, 1, t->g);
            for (size_t j = 0; j < P; j++)
                mean[j] += t->g[j] / VIEWS;
        }
        for (size_t j = 0; j < P; j++) {
            assert_true(fabs(ldexp((double)t->sum[j], -20) + mean[j]) < 4e-6);
            norm2 += mean[j] * mean[j];
        }
        assert_true(fabs(t->squares[0] / norm2 - 1) < 1e-5);
        free(mean);
        close_trial(t);
    }
}

/* A view of an image of 3 × 2 pixels with 2 channels. */
TEST(a_view_moves_and_mirrors)
{
    static const struct {
        struct dp_net_view view;
        float of[6]; /* channel 0 is the number of the pixel */
    } cases[] = {
        {{0, 0, false}, {0, 1, 2, 3, 4, 5}},  {{1, 0, false}, {2, 3, 4, 5, 4, 5}}, {{0, 1, false}, {1, 1, 3, 3, 5, 5}},
        {{-2, 0, false}, {0, 1, 0, 1, 0, 1}}, {{0, 0, true}, {1, 0, 3, 2, 5, 4}},  {{0, 1, true}, {1, 1, 3, 3, 5, 5}},
        {{0, -1, true}, {0, 0, 2, 2, 4, 4}},
    };
    struct trial *t = open_trial("3x2x2 * 2 - 1; fc 3", 1);
    for (size_t j = 0; j < 12; j++)
        t->x[j] = (float)(j / 2) + (j % 2 ? 10 : 0);
    const struct dp_row row = dp_row_dense(t->x, 12);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dp_net_load(&t->pass, &row, &cases[i].view, 1);
        for (size_t j = 0; j < 12; j++)
            assert_true(t->pass.memory[j * L] == 2 * (cases[i].of[j / 2] + (j % 2 ? 10 : 0)) - 1);
    }
    close_trial(t);
}

/* Draws depend only on their address, are within the shift, and take each value. */
TEST(views_are_drawn)
{
    struct dp_net_views views = {.count = 4, .shift = 2, .flip = true};
    int down[5] = {0}, right[5] = {0}, mirrored = 0, same = 0, later = 0;
    dp_key_derive(&views.key, 1, "views", 0);
    for (int64_t i = 0; i < 4000; i++) {
        struct dp_net_view a = dp_net_view_draw(&views, 1 + i % 5, i / 20, i / 5 % 4),
                           b = dp_net_view_draw(&views, 1 + i % 5, i / 20, (i / 5 + 1) % 4),
                           c = dp_net_view_draw(&views, 6 + i % 5, i / 20, i / 5 % 4);
        assert_true(a.down >= -2 && a.down <= 2 && a.right >= -2 && a.right <= 2);
        down[a.down + 2]++;
        right[a.right + 2]++;
        mirrored += a.mirrored;
        same += a.down == b.down && a.right == b.right && a.mirrored == b.mirrored;
        later += a.down == c.down && a.right == c.right && a.mirrored == c.mirrored;
    }
    for (int i = 0; i < 5; i++)
        assert_true(abs(down[i] - 800) < 127 && abs(right[i] - 800) < 127); /* five standard deviations */
    assert_true(abs(mirrored - 2000) < 159 && abs(same - 80) < 45 && abs(later - 80) < 45);
    views.flip = false;
    for (int64_t i = 0; i < 100; i++)
        assert_false(dp_net_view_draw(&views, 1, i, 0).mirrored);
}

TEST(sparse_and_narrow_rows_are_the_dense_row)
{
    const float dense[10] = {0, 0.5f, 0, 0, -1, 0, 0, 0.25f, 0, 0}, values[] = {0.5f, -1, 0.25f},
                scale[10] = {0.25f, 0.25f, 0.25f, 0.25f, 0.25f, 0.25f, 0.25f, 0.25f, 0.25f, 0.25f};
    const int32_t columns[] = {1, 4, 7};
    const int16_t narrow[10] = {0, 2, 0, 0, -4, 0, 0, 1, 0, 0};
    const struct dp_row rows[] = {dp_row_dense(dense, 10), dp_row_sparse(values, columns, 3), dp_row_narrow(narrow, scale, 10)};
    double output[3];
    for (int i = 0; i < 3; i++) {
        struct trial *t = open_trial(networks[2], L);
        dp_net_load(&t->pass, &rows[i], NULL, 1);
        dp_net_forward(&t->pass, t->w);
        output[i] = dp_net_output(&t->pass, 1, 0);
        close_trial(t);
    }
    assert_true(output[0] == output[1] && output[0] == output[2]);
}

TEST(texts)
{
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"", "network, column 1: first comes the number of columns, or HEIGHTxWIDTHxCHANNELS"},
        {" conv 3 3x3; fc 3", "network, column 2, 'conv': first comes the number of columns, or HEIGHTxWIDTHxCHANNELS"},
        {"9;\nfc 3", "network, column 3: a network is one line"},
        {"28x28; fc 3", "network, column 1, '28x28': an image is HEIGHTxWIDTHxCHANNELS"},
        {"0; fc 3", "network, column 1, '0': this number is out of range"},
        {"9000x9000x1; fc 3", "network, column 6, '9000x1': this number is out of range"},
        {"4096x4096x9; fc 3", "network, column 1, '4096x4096x9': this is too large"},
        {"9", "network, column 2: the last layer is fc"},
        {"9; fc 3 tanh", "network, column 13: the last layer has no activation"},
        {"9 fc 3", "network, column 3, 'fc': layers are separated by ';'"},
        {"9; dense 3", "network, column 4, 'dense': a layer is conv, pool, mean-pool, norm, add or fc"},
        {"9; fc 3 sigmoid", "network, column 9, 'sigmoid': this does not belong to the layer"},
        {"9; fc x", "network, column 7, 'x': a whole number belongs here"},
        {"9x9x1; conv 3 3; fc 3", "network, column 16: a filter is KxK"},
        {"9x9x1; conv 3 3x4; fc 3", "network, column 15, '3x4': a filter has as many rows as columns"},
        {"9x9x1; conv 3 3x3/0; fc 3", "network, column 19, '0': this number is out of range"},
        {"9x9x1; pool 10; fc 3", "network, column 8, 'pool': the window is larger than its input"},
        {"9x9x1; conv 3 3x3 pad; fc 3", "network, column 22: a whole number belongs here"},
        {"1000000; fc 1000; fc 3", "network, column 10, 'fc': this layer is too large"},
        {"12000; fc 1000; fc 6000; fc 3", "network, column 24: there are too many parameters"},
        {"9 * 0; fc 3", "network, column 5, '0': the factor of the inputs is a number from 1e-6 to 1e6"},
        {"9 - x; fc 3", "network, column 5, 'x': what is taken off the inputs is a number from 0 to 1e6"},
        {"9; save; save; fc 3", "network, column 10, 'save': the values that were saved before are still to be added"},
        {"9; save; fc 3", "network, column 4, 'save': the saved values are never added"},
        {"9; add; fc 3", "network, column 4, 'add': no values were saved before"},
        {"9; save; fc 4; add; fc 3", "network, column 16, 'add': the saved values have another shape"},
        {"9; norm 2; fc 3", "network, column 9, '2': the channels do not divide into so many groups"},
        {"9; norm 9; fc 3", "network, column 9, '9': a group would have only one value"},
        {"9; norm 10; fc 3", "network, column 9, '10': this number is out of range"},
        {"9; fc 3; seed 4; fc 3", "network, column 16: layers are separated by ';'"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        err = (struct dp_err){0};
        struct dp_net net;
        assert_fails(dp_net_parse(&net, wrong[i].text, &err), DP_E_RUN, wrong[i].message);
    }
    struct dp_net net;
    assert_int_equal(dp_net_parse(&net, "6x6x4; save; conv 4 3x3 pad 1; norm 2 relu; add tanh; fc 2", NULL), 0);
    assert_true(net.layers == 4 && net.layer[1].groups == 2 && net.layer[1].parameters == 8 && net.layer[2].kept == 0);
    assert_true(net.layer[2].activation == DP_NET_TANH && net.parameters == 4 * 37 + 8 + 2 * 145);
}

TEST(shapes)
{
    struct dp_net net;
    assert_int_equal(dp_net_parse(&net,
                                  "28x28x1 * 28 - 0.25; conv 16 8x8/2 pad 2 tanh; pool 2/1; conv 32 4x4/2 tanh; pool 2/1; "
                                  "fc 32 tanh; fc 10; seed 7",
                                  NULL),
                     0);
    assert_true(net.inputs == 784 && net.outputs == 10 && net.parameters == 26010 && net.layers == 6 && net.seed == 7);
    assert_true(net.layer[3].out.height == 4 && net.layer[4].in.channels == 32 && net.factor == 28 && net.centre == 0.25F);
}

/* The variance of the initial weights is g / fan-in; five standard errors. */
TEST(initial_weights)
{
    struct dp_net net, other;
    assert_int_equal(dp_net_parse(&net, "100; fc 200 relu; fc 300", NULL), 0);
    assert_int_equal(dp_net_parse(&other, "100; fc 200 relu; fc 300; seed 2", NULL), 0);
    double *p = calloc(net.parameters, sizeof *p), *q = calloc(net.parameters, sizeof *q), squares[2] = {0};
    dp_net_start(&net, p);
    dp_net_start(&other, q);
    for (size_t i = 0; i < 20000; i++)
        squares[0] += p[i] * p[i];
    for (size_t i = 0; i < 60000; i++)
        squares[1] += p[20200 + i] * p[20200 + i];
    assert_true(fabs(squares[0] / 20000 * 100 / 2 - 1) < 5 * sqrt(0.8 / 20000));
    assert_true(fabs(squares[1] / 60000 * 200 - 1) < 5 * sqrt(0.8 / 60000));
    for (size_t i = 0; i < 200; i++)
        assert_true(p[20000 + i] == 0);
    assert_true(p[0] != q[0] && p[1] != q[1]);
    for (size_t i = 0; i < 20000; i++) /* each layer has draws of its own, of widths sqrt(6 / 100) and sqrt(3 / 200) */
        assert_true(fabs(p[i] / sqrt(6. / 100) - p[20200 + i] / sqrt(3. / 200)) > 1e-12);
    free(p);
    free(q);
}

TESTS(NULL, NULL)
