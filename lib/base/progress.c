#include "base/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"

#define WIDTH 24    /* width of the bar, if there is room */
#define NARROW 5    /* a narrower bar is left out */
#define MANY 100000 /* planning this many laps takes a while */
#define SHORT 2     /* seconds; a part that takes no longer is not shown */

/* A terminal that can move the cursor only to the start of the line, and has no colours. */
static bool dumb(void)
{
    const char *term = getenv("TERM");
    return term == NULL || term[0] == '\0' || strcmp(term, "dumb") == 0;
}

/* Columns of the terminal that may be written to; a character in the last column makes some terminals scroll. */
static int columns(int fd)
{
    struct winsize size;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1 : 79;
}

/* On a terminal, replaces the line, with a bar that takes the free width. Elsewhere, prints a line. Prints everything in one
 * call, which makes one write even if the stream is not buffered, so that no other process prints in between. */
static void print_text(const struct dp_progress *p, const char *text, bool last)
{
    static const char full[] = "########################", empty[] = "........................";
    _Static_assert(sizeof full == WIDTH + 1 && sizeof empty == WIDTH + 1, "of one width");
    if (p->mode == DP_PROGRESS_PLAIN) {
        dprintf(p->fd, "%s\n", text);
        return;
    }
    const char *no_color = getenv("NO_COLOR");
    bool plain = dumb() || (no_color != NULL && no_color[0] != '\0');
    int room = columns(p->fd), length = (int)strlen(text);
    int bar = room - length - 3 < WIDTH ? room - length - 3 : WIDTH;
    const char *begin = plain ? "[" : "\033[32m[", *end = plain ? "] " : "]\033[0m ";
    if (bar < NARROW || p->total <= 0) {
        bar = 0;
        begin = end = "";
    }
    int filled = p->total > 0 ? (int)(p->done * bar / p->total) : 0;
    int left = room - (bar > 0 ? bar + 3 : 0);
    dprintf(p->fd, "\r%s%.*s%.*s%s%-*.*s%s%s", begin, filled, full, bar - filled, empty, end, dumb() ? left : 0, left, text,
            dumb() ? "" : "\033[K", last ? "\n" : "");
}

static enum dp_progress_mode decided(enum dp_progress_mode mode, int fd)
{
    return mode != DP_PROGRESS_AUTO ? mode : isatty(fd) ? DP_PROGRESS_BAR : DP_PROGRESS_NONE;
}

void dp_progress_start(struct dp_progress *progress, int fd, enum dp_progress_mode mode, int64_t from, int64_t total)
{
    mode = decided(mode, fd);
    *progress =
        (struct dp_progress){.fd = fd, .mode = mode, .started = dp_clock_now(), .from = from, .total = total, .epsilon = -1};
    progress->shown = progress->started;
    char text[80];
    snprintf(text, sizeof text, "lap %lld/%lld  planning", (long long)from, (long long)total);
    if (mode == DP_PROGRESS_BAR || (mode == DP_PROGRESS_PLAIN && total >= MANY))
        print_text(progress, text, false);
}

static void print_line(const struct dp_progress *p, double elapsed, bool last)
{
    double speed = elapsed > 0 ? (double)(p->done - p->from) / elapsed : 0;
    double time = last ? elapsed : speed > 0 ? (double)(p->total - p->done) / speed : 0;
    char epsilon[40] = "", text[160];
    if (p->epsilon >= 0)
        snprintf(epsilon, sizeof epsilon, "  epsilon %.4g", p->epsilon);
    snprintf(text, sizeof text, "lap %lld/%lld%s  %.0f laps/s  %s%d:%02d%s", (long long)p->done, (long long)p->total, epsilon,
             speed, last ? "took " : "", (int)(time / 60), (int)fmod(time, 60), last ? "" : " left");
    print_text(p, text, last);
}

void dp_progress_show(struct dp_progress *progress, int64_t done, double epsilon)
{
    struct dp_progress *p = progress;
    if (p->mode == DP_PROGRESS_NONE)
        return;
    double t = dp_clock_now();
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
        print_line(p, dp_clock_now() - p->started, true);
    else if (p->mode == DP_PROGRESS_BAR)
        dprintf(p->fd, "\n");
    p->mode = DP_PROGRESS_NONE;
}

void dp_progress_clear(int fd)
{
    if (isatty(fd) && isatty(STDERR_FILENO) && !dumb())
        dprintf(fd, "\r\033[K");
}

static struct watched {
    struct dp_progress line;
    const char *prefix;
    uint64_t rows, rows_total, bytes, bytes_total;
    bool begun;
} watched = {.line.mode = DP_PROGRESS_NONE};

void dp_progress_watch(const char *prefix, bool quiet)
{
    enum dp_progress_mode mode = decided(quiet ? DP_PROGRESS_NONE : DP_PROGRESS_AUTO, STDERR_FILENO);
    watched = (struct watched){.line = {.fd = STDERR_FILENO, .mode = mode}, .prefix = prefix};
}

/* "1200 rows", "45 of 137 MB", or nothing. */
static void print_amount(char *text, size_t size, uint64_t done, uint64_t total, double unit, const char *name)
{
    text[0] = '\0';
    if (done == 0)
        return;
    int length = snprintf(text, size, "%.0f", (double)done / unit);
    if (total > 0)
        length += snprintf(text + length, size - (size_t)length, " of %.0f", (double)total / unit);
    snprintf(text + length, size - (size_t)length, " %s, ", name);
}

static void show_watched(void)
{
    struct watched *w = &watched;
    struct dp_progress *p = &w->line;
    double now = dp_clock_now();
    if (!w->begun)
        p->started = p->shown = now;
    w->begun = true;
    if (now - p->started < SHORT || now - p->shown < .1)
        return;
    char rows[60], bytes[60], left[60] = "", text[240];
    double unit = fmax((double)w->bytes_total, (double)w->bytes) < 1e10 ? 1e6 : 1e9;
    p->shown = now;
    p->total = (int64_t)(w->bytes_total > 0 ? w->bytes_total : w->rows_total);
    p->done = (int64_t)(w->bytes_total > 0 ? w->bytes : w->rows);
    print_amount(rows, sizeof rows, w->rows, w->rows_total, 1, "rows");
    print_amount(bytes, sizeof bytes, w->bytes, w->bytes_total, unit, unit < 1e9 ? "MB" : "GB");
    double seconds = p->done > 0 ? (double)(p->total - p->done) / (double)p->done * (now - p->started) : 0;
    if (p->done > 0 && p->total >= p->done)
        snprintf(left, sizeof left, "%d:%02d left", (int)(seconds / 60), (int)fmod(seconds, 60));
    else
        snprintf(left, sizeof left, "%d:%02d so far", (int)((now - p->started) / 60), (int)fmod(now - p->started, 60));
    snprintf(text, sizeof text, "%s%s%s%s", w->prefix, rows, bytes, left);
    print_text(p, text, false);
}

void dp_progress_rows(uint64_t done, uint64_t total)
{
    watched.rows = done;
    watched.rows_total = total;
    if (watched.line.mode != DP_PROGRESS_NONE)
        show_watched();
}

void dp_progress_bytes(uint64_t done, uint64_t total)
{
    watched.bytes = done;
    watched.bytes_total = total;
    if (watched.line.mode != DP_PROGRESS_NONE)
        show_watched();
}

void dp_progress_over(void)
{
    if (watched.begun && watched.line.shown > watched.line.started)
        dprintf(STDERR_FILENO, dumb() ? "\n" : "\r\033[K");
    watched.rows = watched.rows_total = watched.bytes = watched.bytes_total = 0;
    watched.begun = false;
}
