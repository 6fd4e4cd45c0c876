#include "base/progress.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define WIDTH 24    /* of the bar, where there is room */
#define NARROW 5    /* less is no bar */
#define MANY 100000 /* laps, whose plan takes a while */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A terminal that moves no cursor but to the start of the line, and knows no colours. */
static bool dumb(void)
{
    const char *term = getenv("TERM");
    return term == NULL || term[0] == '\0' || strcmp(term, "dumb") == 0;
}

/* Columns of the terminal that may be written to: the last one makes some of them scroll. */
static int columns(FILE *stream)
{
    struct winsize size;
    return ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1 : 79;
}

static void print_bar(const struct dp_progress *p, int width)
{
    const char *no_color = getenv("NO_COLOR");
    bool plain = dumb() || (no_color != NULL && no_color[0] != '\0');
    int64_t filled = p->total > 0 ? p->done * width / p->total : 0;
    fputs(plain ? "[" : "\033[32m[", p->stream);
    for (int i = 0; i < width; i++)
        fputc(i < filled ? '#' : '.', p->stream);
    fputs(plain ? "] " : "]\033[0m ", p->stream);
}

/* On a terminal in the place of what was there, with as much of a bar as there is room for; else as a line. */
__attribute__((format(printf, 2, 3))) static void print_text(const struct dp_progress *p, const char *format, ...)
{
    char text[160];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (p->mode == DP_PROGRESS_PLAIN) {
        fprintf(p->stream, "%s\n", text);
        fflush(p->stream);
        return;
    }
    int room = columns(p->stream), length = (int)strlen(text);
    int bar = room - length - 3 < WIDTH ? room - length - 3 : WIDTH;
    fputc('\r', p->stream);
    if (bar >= NARROW)
        print_bar(p, bar);
    int left = room - (bar >= NARROW ? bar + 3 : 0);
    if (dumb())
        fprintf(p->stream, "%-*.*s", left, left, text);
    else
        fprintf(p->stream, "%.*s\033[K", left, text);
    fflush(p->stream);
}

void dp_progress_start(struct dp_progress *progress, FILE *stream, enum dp_progress_mode mode, int64_t from, int64_t total)
{
    if (mode == DP_PROGRESS_AUTO)
        mode = isatty(fileno(stream)) ? DP_PROGRESS_BAR : DP_PROGRESS_NONE;
    *progress =
        (struct dp_progress){.stream = stream, .mode = mode, .started = now(), .from = from, .total = total, .epsilon = -1};
    progress->shown = progress->started;
    if (mode == DP_PROGRESS_BAR || (mode == DP_PROGRESS_PLAIN && total >= MANY))
        print_text(progress, "lap %lld/%lld  planning", (long long)from, (long long)total);
}

static void print_line(const struct dp_progress *p, double elapsed, bool last)
{
    double speed = elapsed > 0 ? (double)(p->done - p->from) / elapsed : 0;
    double time = last ? elapsed : speed > 0 ? (double)(p->total - p->done) / speed : 0;
    char epsilon[40] = "";
    if (p->epsilon >= 0)
        snprintf(epsilon, sizeof epsilon, "  epsilon %.4g", p->epsilon);
    print_text(p, "lap %lld/%lld%s  %.0f laps/s  %s%d:%02d%s", (long long)p->done, (long long)p->total, epsilon, speed,
               last ? "took " : "", (int)(time / 60), (int)fmod(time, 60), last ? "" : " left");
}

void dp_progress_show(struct dp_progress *progress, int64_t done, double epsilon)
{
    struct dp_progress *p = progress;
    if (p->mode == DP_PROGRESS_NONE)
        return;
    double t = now();
    p->done = done;
    p->epsilon = epsilon;
    if (t - p->shown < (p->mode == DP_PROGRESS_BAR ? 0.1 : 10.0))
        return;
    p->shown = t;
    print_line(p, t - p->started, false);
}

void dp_progress_end(struct dp_progress *progress)
{
    struct dp_progress *p = progress;
    if (p->mode != DP_PROGRESS_NONE && p->done > 0)
        print_line(p, now() - p->started, true);
    if (p->mode == DP_PROGRESS_BAR) {
        fputc('\n', p->stream);
        fflush(p->stream);
    }
    p->mode = DP_PROGRESS_NONE;
}

const char *dp_progress_clear(FILE *stream)
{
    return isatty(fileno(stream)) && isatty(STDERR_FILENO) && !dumb() ? "\r\033[K" : "";
}
