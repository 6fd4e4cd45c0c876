/* hops PROCESSES BYTES [ROUNDS]: how long a message of BYTES bytes takes around a ring of processes over bare pipes. Each
   process reads it and writes it. This is the cost of a lap of PROCESSES processes that do no work. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

enum { MOST = 64 };

static int hop(int in, int out, char *bytes, size_t size)
{
    for (size_t had = 0; had < size;) {
        ssize_t got = read(in, bytes + had, size - had);
        if (got <= 0)
            return -1;
        had += (size_t)got;
    }
    for (size_t gone = 0; gone < size;) {
        ssize_t put = write(out, bytes + gone, size - gone);
        if (put <= 0)
            return -1;
        gone += (size_t)put;
    }
    return 0;
}

/* Process k of the ring reads pipe k and writes pipe k + 1; this one writes pipe 0. */
static void ring(int pipes[][2], int k, char *bytes, size_t size)
{
    for (int i = 0; i < MOST; i++) {
        if (i != k && pipes[i][0] > 0)
            close(pipes[i][0]);
        if (i != k + 1 && pipes[i][1] > 0)
            close(pipes[i][1]);
    }
    while (hop(pipes[k][0], pipes[k + 1][1], bytes, size) == 0)
        ;
    _exit(0);
}

int main(int argc, char **argv)
{
    int n = argc > 2 ? atoi(argv[1]) : 0, pipes[MOST][2] = {{0}}, rounds = argc > 3 ? atoi(argv[3]) : 10000;
    size_t size = argc > 2 ? (size_t)atol(argv[2]) : 0;
    char *bytes = calloc(size + 1, 1), what[80];
    double *took = calloc((size_t)(rounds > 0 ? rounds : 1), sizeof *took);
    if (n < 2 || n >= MOST || size == 0 || rounds < 1 || bytes == NULL || took == NULL)
        return fprintf(stderr, "hops PROCESSES BYTES [ROUNDS]\n"), 2;
    for (int i = 0; i < n; i++)
        if (pipe(pipes[i]) != 0)
            return perror("pipe"), 1;
    for (int k = 0; k < n - 1; k++)
        if (fork() == 0)
            ring(pipes, k, bytes, size);
    for (int i = 0; i < n; i++) {
        if (i != n - 1)
            close(pipes[i][0]);
        if (i != 0)
            close(pipes[i][1]);
    }
    for (int round = 0; round < rounds; round++) {
        double start = bench_seconds(CLOCK_MONOTONIC);
        for (size_t gone = 0; gone < size;) {
            ssize_t put = write(pipes[0][1], bytes, size - gone > 65536 ? 65536 : size - gone);
            if (put <= 0)
                return perror("write"), 1;
            gone += (size_t)put;
        }
        for (size_t had = 0; had < size;) {
            ssize_t got = read(pipes[n - 1][0], bytes, size);
            if (got <= 0)
                return perror("read"), 1;
            had += (size_t)got;
        }
        took[round] = bench_seconds(CLOCK_MONOTONIC) - start;
    }
    close(pipes[0][1]);
    while (wait(NULL) > 0)
        ;
    snprintf(what, sizeof what, "%d bare hops of %zu bytes", n, size);
    bench_line(what, "µs a lap", 1e6 * bench_median(took, (size_t)rounds));
    return 0;
}
