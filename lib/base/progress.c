#include "base/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WIDTH 24

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void dp_progress_start(struct dp_progress *progress, FILE *stream, enum dp_progress_mode mode, int64_t total)
{
    if (mode == DP_PROGRESS_AUTO)
        mode = isatty(fileno(stream)) ? DP_PROGRESS_BAR : DP_PROGRESS_NONE;
    *progress = (struct dp_progress){.stream = stream, .mode = mode, .started = now(), .total = total};
    progress->shown = progress->started;
}

static void print_line(const struct dp_progress *p, int64_t done, double epsilon, double elapsed)
{
    double speed = elapsed > 0 ? (double)done / elapsed : 0;
    double left = speed > 0 ? (double)(p->total - done) / speed : 0;
    fprintf(p->stream, "lap %lld/%lld", (long long)done, (long long)p->total);
    if (epsilon >= 0)
        fprintf(p->stream, "  epsilon %.4g", epsilon);
    fprintf(p->stream, "  %.0f laps/s  %d:%02d left", speed, (int)(left / 60), (int)fmod(left, 60));
}

static void print_bar(const struct dp_progress *p, int64_t done)
{
    const char *no_color = getenv("NO_COLOR");
    int plain = no_color != NULL && no_color[0] != '\0';
    int filled = p->total > 0 ? (int)(done * WIDTH / p->total) : 0;
    fprintf(p->stream, "\r%s[", plain ? "" : "\033[32m");
    for (int i = 0; i < WIDTH; i++)
        fputc(i < filled ? '#' : '.', p->stream);
    fprintf(p->stream, "]%s ", plain ? "" : "\033[0m");
}

void dp_progress_show(struct dp_progress *progress, int64_t done, double epsilon)
{
    struct dp_progress *p = progress;
    if (p->mode == DP_PROGRESS_NONE)
        return;
    double t = now();
    if (done < p->total && t - p->shown < (p->mode == DP_PROGRESS_BAR ? 0.1 : 10.0))
        return;
    p->shown = t;
    if (p->mode == DP_PROGRESS_BAR)
        print_bar(p, done);
    print_line(p, done, epsilon, t - p->started);
    fputs(p->mode == DP_PROGRESS_BAR ? "\033[K" : "\n", p->stream);
    fflush(p->stream);
}

void dp_progress_end(struct dp_progress *progress)
{
    if (progress->mode == DP_PROGRESS_BAR && progress->shown > progress->started) {
        fputc('\n', progress->stream);
        fflush(progress->stream);
    }
    progress->mode = DP_PROGRESS_NONE;
}
