#include "math/bracket.h"

#include "base/c.h"

struct point {
    double x, y;
};

/* The fraction of the way from a to b to try next. c is the point that was dropped last. */
static double next_fraction(struct point a, struct point b, struct point c)
{
    double place = (a.x - b.x) / (c.x - b.x);
    double level = (a.y - b.y) / (c.y - b.y);
    bool safe = level * level < place && (1 - level) * (1 - level) < 1 - place;
    if (!safe)
        return 0.5;
    return a.y / (b.y - a.y) * c.y / (b.y - c.y) + (c.x - a.x) / (b.x - a.x) * a.y / (c.y - a.y) * b.y / (c.y - b.y);
}

double dp_bracket_falling(double (*f)(double x, void *context), void *context, double low, double high, double width)
{
    struct point a = {high, f(high, context)}, b = {low, f(low, context)};
    double fraction = 0.5;
    for (int i = 0; i < 200; i++) {
        double x = a.x + fraction * (b.x - a.x);
        struct point t = {x, f(x, context)}, c;
        if ((t.y > 0) == (a.y > 0)) {
            c = a;
        } else {
            c = b;
            b = a;
        }
        a = t;
        double least = width / 2 / fabs(b.x - a.x);
        if (least > 0.5 || b.x == a.x)
            break;
        fraction = fmin(fmax(next_fraction(a, b, c), least), 1 - least);
    }
    return a.y > 0 ? b.x : a.x;
}

double dp_bracket_smallest(double (*f)(double x, void *context), void *context, double largest)
{
    double low = 0, high = 0.01;
    if (f(0, context) <= 0)
        return 0;
    while (f(high, context) > 0) {
        low = high;
        high *= 4;
        if (high > largest)
            return INFINITY;
    }
    while (low == 0) { /* or far below */
        if (f(high / 4, context) > 0)
            low = high / 4;
        else if ((high /= 4) < 1e-300)
            return high;
    }
    double root = dp_bracket_falling(f, context, low, high, 1e-12 * high);

    int exponent;
    double step = ceil(ldexp(frexp(root, &exponent), 33));
    double unit = ldexp(1, exponent - 33);
    for (int tries = 0; tries < 1000 && f(step * unit, context) > 0; tries++)
        step++;
    if (f(step * unit, context) > 0)
        return high;
    for (int tries = 0; tries < 1000 && step > 1 && f((step - 1) * unit, context) <= 0; tries++)
        step--;
    return step * unit;
}
