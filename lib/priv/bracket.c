#include "priv/bracket.h"

#include <math.h>
#include <stdbool.h>

struct point {
    double x, y;
};

/* The fraction of the way from a to b to try next; c is the point dropped last. */
static double next_fraction(struct point a, struct point b, struct point c)
{
    double place = (a.x - b.x) / (c.x - b.x);
    double level = (a.y - b.y) / (c.y - b.y);
    bool safe = level * level < place && (1 - level) * (1 - level) < 1 - place;
    if (!safe)
        return 0.5;
    return a.y / (b.y - a.y) * c.y / (b.y - c.y) +
           (c.x - a.x) / (b.x - a.x) * a.y / (c.y - a.y) * b.y / (c.y - b.y);
}

double dp_bracket_falling(double (*f)(double x, void *context), void *context, double low, double high,
                          double width)
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
