#include "math/optimiser.h"

#include "base/mem.h"
#include "math/power.h"
#include "math/vec.h"

void dp_optimiser_open(struct dp_optimiser *o, size_t size)
{
    o->size = size;
    o->steps = 0;
    if (o->kind == DP_OPTIMISER_ADAM || o->momentum > 0)
        o->first = dp_new(size, sizeof *o->first);
    if (o->kind == DP_OPTIMISER_ADAM)
        o->second = dp_new(size, sizeof *o->second);
}

void dp_optimiser_close(struct dp_optimiser *o)
{
    free(o->first);
    free(o->second);
    o->first = o->second = NULL;
}

static void step_adam(struct dp_optimiser *o, double eta, const double *g, double *w)
{
    double unbias1 = 1 - dp_power(o->beta1, o->steps), unbias2 = 1 - dp_power(o->beta2, o->steps);
    for (size_t i = 0; i < o->size; i++) {
        o->first[i] = o->beta1 * o->first[i] + (1 - o->beta1) * g[i];
        o->second[i] = o->beta2 * o->second[i] + (1 - o->beta2) * g[i] * g[i];
        w[i] -= eta * (o->first[i] / unbias1) / (sqrt(o->second[i] / unbias2) + o->epsilon);
    }
}

void dp_optimiser_step(struct dp_optimiser *o, double eta, double variance, const double *gradient, double *w)
{
    const double *direction = gradient;
    o->steps++;
    if (o->kind == DP_OPTIMISER_ADAM) {
        step_adam(o, eta, gradient, w);
        return;
    }
    if (o->kind == DP_OPTIMISER_ADAGRAD_NORM) {
        double beta = o->epoch > 0 ? fmax(o->beta / (double)((o->steps - 1) % o->epoch + 1), 1) : o->beta;
        o->b2 += fmax(beta * (dp_norm2(gradient, o->size) - (double)o->size * variance), o->floor);
        eta /= sqrt(o->b2);
    }
    if (o->first != NULL) {
        for (size_t i = 0; i < o->size; i++)
            o->first[i] = o->momentum * o->first[i] + gradient[i];
        direction = o->first;
    }
    for (size_t i = 0; i < o->size; i++)
        w[i] -= eta * direction[i];
}

void dp_project_ball(double radius, double *w, size_t size)
{
    double norm = sqrt(dp_norm2(w, size));
    for (size_t i = 0; norm > radius && i < size; i++)
        w[i] *= radius / norm;
}
