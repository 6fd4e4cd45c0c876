/* The filter at one order: its order, its arithmetic, and adversaries whose δ is computed exactly. */
#include "random.h"
#include "unit.h"

#include "priv/filter.h"
#include "priv/rdp.h"

/* A mechanism with two outputs: on one data set the first has probability p and loss l = ln(p/q) > 0. */
struct coin {
    double p, l;
};

/* the loss of the second output */
static double other_loss(struct coin c)
{
    return log1p(-c.p) - log1p(-c.p * exp(-c.l));
}

/* r(α) of the coin, the larger direction */
static double coin_rdp(struct coin c, double order)
{
    double m = other_loss(c), q = c.p * exp(-c.l);
    double forward = log(c.p * exp((order - 1) * c.l) + (1 - c.p) * exp((order - 1) * m));
    double backward = log(q * exp(-(order - 1) * c.l) + (1 - q) * exp(-(order - 1) * m));
    return fmax(forward, backward) / (order - 1);
}

/* E[(1 − e^{ε−L})+], where L is `before` plus the loss of the coin */
static double coin_delta(struct coin c, double before, double epsilon)
{
    return c.p * fmax(0, -expm1(epsilon - before - c.l)) + (1 - c.p) * fmax(0, -expm1(epsilon - before - other_loss(c)));
}

TEST(the_order_has_the_most_room)
{
    const double budgets[][2] = {{0.1, 1e-3}, {1, 1e-5}, {8, 1e-6}, {0.01, 1e-12}, {50, 0.5}};
    for (size_t k = 0; k < sizeof budgets / sizeof budgets[0]; k++) {
        double epsilon = budgets[k][0], delta = budgets[k][1];
        double order = dp_filter_order(epsilon, delta), rho = (epsilon - dp_rdp_penalty(order, delta)) / order;
        struct dp_filter f = dp_filter_new(epsilon, delta);
        assert_true(f.order == order && f.spent == 0);
        assert_true(f.allowance <= epsilon - dp_rdp_penalty(order, delta));
        assert_near(f.allowance, rho * order, 1e-13);
        /* no other order admits a Gaussian of less noise */
        for (int i = 0; i < DP_RDP_ORDER_COUNT; i++)
            assert_true(epsilon - dp_rdp_penalty(dp_rdp_orders[i], delta) <= dp_rdp_orders[i] * rho * (1 + 1e-14));
        /* spent on a Gaussian, it is the budget */
        double z = sqrt(1 / (2 * rho)), r[DP_RDP_ORDER_COUNT];
        dp_rdp_gaussian(z, dp_rdp_orders, DP_RDP_ORDER_COUNT, r);
        assert_near(dp_rdp_epsilon(dp_rdp_orders, r, DP_RDP_ORDER_COUNT, delta, NULL), epsilon, 1e-12);
    }
    assert_true(isnan(dp_filter_order(1e-6, 1e-12)) && isnan(dp_filter_order(NAN, 1e-5)));
    assert_true(isnan(dp_filter_order(1, 0)) && isnan(dp_filter_order(1, NAN)) && isnan(dp_filter_order(-1, 0.9)));
}

TEST(spending)
{
    struct dp_filter f = dp_filter_new(1, 1e-5);
    double share = f.allowance / 1000;
    int times = 0;
    while (dp_filter_spend(&f, share))
        times++;
    assert_true(times == 999 || times == 1000);
    assert_true(f.spent <= f.allowance && f.spent >= times * share * (1 - 1e-15));
    double left = f.spent;
    assert_false(dp_filter_can_spend(&f, share));
    assert_false(dp_filter_spend(&f, 2 * share));
    assert_false(dp_filter_spend(&f, -1) || dp_filter_spend(&f, NAN) || dp_filter_spend(&f, INFINITY));
    assert_true(f.spent == left);
    assert_true(dp_filter_spend(&f, 0) && f.spent == left);

    /* no rounding lets a little more than the whole through */
    struct dp_filter g = dp_filter_new(1, 1e-5);
    long double sum = 0;
    while (dp_filter_spend(&g, g.allowance * 1e-5 / 3))
        sum += (long double)(g.allowance * 1e-5 / 3);
    assert_true(sum <= (long double)g.allowance && g.spent >= sum);

    struct dp_filter none = dp_filter_new(1e-6, 1e-12);
    assert_false(dp_filter_can_spend(&none, 0) || dp_filter_can_spend(&none, 1e-9));
}

/* Orders that are watched at once, each with a delta: a mechanism that fits at one of them may run. */
struct watched {
    int count;
    const double *order, *delta;
};

/* The largest p of a coin of loss l that the rule admits after `first`. */
static double largest_coin(struct coin first, double l, double epsilon, struct watched w)
{
    double low = 1e-12, high = 1;
    for (int i = 0; i < 100; i++) {
        double p = sqrt(low * high), best = INFINITY;
        for (int k = 0; k < w.count; k++)
            best = fmin(best, coin_rdp(first, w.order[k]) + coin_rdp((struct coin){p, l}, w.order[k]) +
                                  dp_rdp_penalty(w.order[k], w.delta[k]));
        if (best <= epsilon)
            low = p;
        else
            high = p;
    }
    return low;
}

/* Tosses a coin. After the rare output it tosses a second coin, which is tight at a high order; after the common output one
   that is tight at a low order. Returns the true δ. */
static double two_branches(double epsilon, struct watched w)
{
    const struct coin first = {1e-3, 0.3};
    const double high = 60, low = 14; /* loss = ε + ln(α/(α−1)) is where the conversion at α is tight */
    double after_rare = epsilon + log(high / (high - 1)) - first.l;
    double after_common = epsilon + log(low / (low - 1)) - other_loss(first);
    struct coin rare = {largest_coin(first, after_rare, epsilon, w), after_rare};
    struct coin common = {largest_coin(first, after_common, epsilon, w), after_common};
    return first.p * coin_delta(rare, first.l, epsilon) + (1 - first.p) * coin_delta(common, other_loss(first), epsilon);
}

TEST(two_branches_break_the_rule_of_all_orders)
{
    const double epsilon = 1, delta = 1e-5;
    double deltas[DP_RDP_ORDER_COUNT], order = dp_filter_order(epsilon, delta);
    for (int i = 0; i < DP_RDP_ORDER_COUNT; i++)
        deltas[i] = delta;
    double any = two_branches(epsilon, (struct watched){DP_RDP_ORDER_COUNT, dp_rdp_orders, deltas});
    double one = two_branches(epsilon, (struct watched){1, &order, &delta});
    if (!(any > 1.9 * delta))
        fail_msg("watching all orders: δ = %g", any);
    if (!(one <= delta))
        fail_msg("at one order: δ = %g", one);
}

/* As in the budget of a ledger, several orders are watched, and share delta. If each had all of delta, the same adversary, with
   one order for each branch, would exceed it. */
TEST(orders_that_share_delta_hold)
{
    const double epsilon = 1, delta = 1e-5, orders[] = {14, 60}, all[] = {delta, delta};
    double both = two_branches(epsilon, (struct watched){2, orders, all});
    if (!(both > 1.5 * delta))
        fail_msg("two orders with all of delta: δ = %g", both);
    for (double share = 0.05; share < 1; share += 0.05) {
        const double shared[] = {share * delta, (1 - share) * delta};
        double reached = two_branches(epsilon, (struct watched){2, orders, shared});
        if (!(reached <= delta))
            fail_msg("a share of %g: δ = %g", share, reached);
    }
    const double half[] = {delta / 2, delta / 2};
    double reached = two_branches(epsilon, (struct watched){2, orders, half});
    assert_true(reached > 0.5 * delta); /* something fits */
}

/* Filters at several orders: a mechanism that one of them admits runs, and all of them have spent it. */
struct filters {
    int count;
    struct dp_filter filter[3];
};

static bool admits(const struct filters *f, struct coin c)
{
    for (int i = 0; i < f->count; i++)
        if (dp_filter_can_spend(&f->filter[i], coin_rdp(c, f->filter[i].order)))
            return true;
    return false;
}

static void spend_all(struct filters *f, struct coin c)
{
    for (int i = 0; i < f->count; i++)
        f->filter[i].spent = nextafter(f->filter[i].spent + coin_rdp(c, f->filter[i].order), INFINITY);
}

/* A random adversary: coins chosen at random after every output, run when the filters admit them. */
static double play(gsl_rng *rng, struct filters filters, int depth, double before, double epsilon)
{
    struct coin c = {exp(log(1e-9) * gsl_rng_uniform(rng)), 2.5 * epsilon * gsl_rng_uniform(rng)};
    c.p = fmin(c.p, 0.99);
    if (gsl_rng_uniform_int(rng, 3) == 0) /* p such that the coin spends exactly the rest of the budget, if a coin of this loss
                                           * can do that */
        for (int i = 0; i < 60 && !admits(&filters, c); i++)
            c.p *= 0.7;
    if (depth == 0 || !admits(&filters, c))
        return fmax(0, -expm1(epsilon - before));
    spend_all(&filters, c);
    return c.p * play(rng, filters, depth - 1, before + c.l, epsilon) +
           (1 - c.p) * play(rng, filters, depth - 1, before + other_loss(c), epsilon);
}

static struct filters filters_at(double epsilon, double delta, int count)
{
    struct filters f = {.count = count};
    double order = dp_filter_order(epsilon, delta);
    for (int i = 0; i < count; i++) {
        double a = 1 + (order - 1) * (i == 0 ? 1 : i == 1 ? 0.7 : 1.5);
        f.filter[i] = (struct dp_filter){.order = a, .allowance = fmax(0, epsilon - dp_rdp_penalty(a, delta / count))};
    }
    return f;
}

TEST(no_adversary_passes_the_filter)
{
    gsl_rng *rng = random_numbers();
    for (int count = 1; count <= 3; count += 2) {
        double worst = 0;
        for (int i = 0; i < 5000; i++) {
            double epsilon = 0.2 + 3 * gsl_rng_uniform(rng), delta = exp(log(1e-6) * (0.3 + 0.7 * gsl_rng_uniform(rng)));
            struct filters f = filters_at(epsilon, delta, count);
            if (count == 1)
                f.filter[0] = dp_filter_new(epsilon, delta);
            double reached = play(rng, f, 6, 0, epsilon);
            if (!(reached <= delta))
                fail_msg("%d orders, epsilon %g: δ = %g of %g", count, epsilon, reached, delta);
            worst = fmax(worst, reached / delta);
        }
        assert_true(worst > 0.1); /* the adversaries come close */
    }
}

TESTS(NULL, NULL)
