#include "math/angle.h"

/* The largest entry, and the length of v divided by it; false if v has no direction. */
static bool measure(const double *v, size_t count, double *most, double *length)
{
    double sum = 0;
    *most = 0;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(v[i]))
            return false;
        *most = fmax(*most, fabs(v[i]));
    }
    for (size_t i = 0; *most > 0 && i < count; i++)
        sum += (v[i] / *most) * (v[i] / *most);
    *length = sqrt(sum);
    return *most > 0;
}

double dp_angle(const double *a, const double *b, size_t count)
{
    double most_a, most_b, length_a, length_b, apart = 0, together = 0;
    if (!measure(a, count, &most_a, &length_a) || !measure(b, count, &most_b, &length_b))
        return acos(-1) / 2;
    for (size_t i = 0; i < count; i++) {
        double u = a[i] / most_a / length_a, v = b[i] / most_b / length_b;
        apart += (u - v) * (u - v);
        together += (u + v) * (u + v);
    }
    return 2 * atan2(sqrt(apart), sqrt(together));
}
