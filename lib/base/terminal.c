#include "base/terminal.h"

#include <unistd.h>

#include "base/text.h"

struct shown {
    int fd;
    char begun[4]; /* a character whose other bytes have not come yet */
    size_t bytes;
    bool guarded;
};

static int write_all(int fd, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t put = write(fd, text, size);
        if (put < 0 && errno != EINTR)
            return -1;
        text += put > 0 ? put : 0;
        size -= put > 0 ? (size_t)put : 0;
    }
    return 0;
}

/* A short text is one write, so that no other process prints in between. */
static ssize_t show(void *self, const char *text, size_t size)
{
    struct shown *s = self;
    char out[8192];
    size_t used = 0;
    for (size_t i = 0; i < size; i++) {
        s->begun[s->bytes++] = text[i];
        while (s->bytes > 0 && !dp_text_ends_within(s->begun, s->bytes)) {
            size_t taken = 1, written = 1;
            if (s->begun[0] == '\n' || s->begun[0] == '\t')
                out[used] = s->begun[0];
            else
                taken = dp_text_next(s->begun, s->bytes, out + used, &written);
            used += written;
            s->bytes -= taken;
            memmove(s->begun, s->begun + taken, s->bytes);
        }
        if (used + 4 * DP_TEXT_NEXT > sizeof out) {
            if (write_all(s->fd, out, used) != 0)
                return 0;
            used = 0;
        }
    }
    return write_all(s->fd, out, used) == 0 ? (ssize_t)size : 0;
}

/* If memory is short, the stream stays as it is. */
static void guard(FILE **stream, struct shown *s, int mode)
{
    if (s->guarded)
        return;
    fflush(*stream);
    FILE *shown = fopencookie(s, "w", (cookie_io_functions_t){.write = show});
    if (shown == NULL)
        return;
    setvbuf(shown, NULL, mode, BUFSIZ);
    *stream = shown;
    s->guarded = true;
}

static struct shown output = {.fd = STDOUT_FILENO}, errors = {.fd = STDERR_FILENO};

void dp_terminal_guard(void)
{
    guard(&stderr, &errors, _IONBF);
    if (isatty(STDOUT_FILENO))
        guard(&stdout, &output, _IOLBF);
}

void dp_terminal_people(void)
{
    guard(&stdout, &output, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF);
}
