/* floor X.npy COLS [BATCH…]: how fast a program that only reads gets the rows of a data set of float32 from memory: all rows in
   order, by one thread and by two; and, by one thread, rows of batches, each of BATCH rows on average, ascending, as laps of
   Poisson batches read them, with a prefetch of the next rows. */
#include <fcntl.h>
#include <omp.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"

enum { AHEAD = 8, LINE = 64 };
#define AT_LEAST 0.3 /* seconds of each measurement */

struct table {
    const char *rows;
    size_t size, width, count; /* bytes of all rows, bytes of a row, number of rows */
};

static volatile uint64_t sink;

/* All bytes, in whole numbers of 8. */
static uint64_t read_bytes(const char *bytes, size_t size)
{
    uint64_t sum[8] = {0};
    size_t i = 0;
    for (; i + sizeof sum <= size; i += sizeof sum)
        for (size_t k = 0; k < 8; k++) {
            uint64_t word;
            memcpy(&word, bytes + i + 8 * k, sizeof word);
            sum[k] ^= word;
        }
    for (; i < size; i++)
        sum[0] ^= (unsigned char)bytes[i];
    for (size_t k = 1; k < 8; k++)
        sum[0] ^= sum[k];
    return sum[0];
}

static int open_table(struct table *t, const char *path, size_t cols)
{
    struct stat about;
    unsigned char *all;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &about) != 0)
        return -1;
    all = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (all == MAP_FAILED || memcmp(all, "\x93NUMPY\x01", 7) != 0)
        return -1;
    size_t head = 10 + (size_t)all[8] + 256 * (size_t)all[9];
    t->rows = (const char *)all + head;
    t->width = cols * sizeof(float);
    t->count = ((size_t)about.st_size - head) / t->width;
    t->size = t->count * t->width;
    return t->count > 0 ? 0 : -1;
}

static void in_order(const struct table *t, int threads)
{
    char what[64];
    double start = bench_seconds(CLOCK_MONOTONIC), took;
    size_t passes = 0;
    do {
#pragma omp parallel num_threads(threads)
        {
            size_t k = (size_t)omp_get_thread_num(), n = (size_t)omp_get_num_threads();
            size_t from = t->size / n * k, to = k + 1 == n ? t->size : t->size / n * (k + 1);
            sink = read_bytes(t->rows + from, to - from);
        }
        passes++;
        took = bench_seconds(CLOCK_MONOTONIC) - start;
    } while (took < AT_LEAST);
    snprintf(what, sizeof what, "all rows in order, %s", threads == 1 ? "one thread" : "two threads");
    bench_line(what, "GB/s", (double)(t->size * passes) / took / 1e9);
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Numbers of rows, lap after lap, ascending in each: gaps are uniform up to twice their mean. */
static size_t choose(const struct table *t, size_t batch, size_t *id, size_t most)
{
    uint64_t state = 88172645463325252u, gap = 2 * (t->count / batch);
    size_t n = 0, at = 0;
    for (; n < most; n++) {
        at += gap > 1 ? 1 + next_random(&state) % gap : 1;
        if (at >= t->count)
            at = next_random(&state) % (gap + 1);
        id[n] = at < t->count ? at : 0;
    }
    return n;
}

static int batches(const struct table *t, size_t batch)
{
    size_t most = 4000000;
    size_t *id = malloc(most * sizeof *id);
    char what[64];
    if (id == NULL)
        return -1;
    size_t n = choose(t, batch, id, most), done = 0;
    double start = bench_seconds(CLOCK_MONOTONIC), took;
    uint64_t sum = 0;
    do {
        for (size_t k = 0; k < 100000; k++, done++) {
            const char *ahead = t->rows + id[(done + AHEAD) % n] * t->width;
            for (size_t b = 0; b < t->width; b += LINE)
                __builtin_prefetch(ahead + b);
            sum ^= read_bytes(t->rows + id[done % n] * t->width, t->width);
        }
        took = bench_seconds(CLOCK_MONOTONIC) - start;
    } while (took < AT_LEAST);
    sink = sum;
    free(id);
    snprintf(what, sizeof what, "rows of batches of %zu", batch);
    bench_line(what, "M rows/s", (double)done / took / 1e6);
    return 0;
}

int main(int argc, char **argv)
{
    struct table t;
    if (argc < 3 || atoi(argv[2]) < 1 || open_table(&t, argv[1], (size_t)atoi(argv[2])) != 0)
        return fprintf(stderr, "floor X.npy COLS [BATCH…]: cannot read %s\n", argc > 1 ? argv[1] : "nothing"), 1;
    sink = read_bytes(t.rows, t.size); /* into memory */
    in_order(&t, 1);
    in_order(&t, 2);
    for (int i = 3; i < argc; i++)
        if (atol(argv[i]) < 1 || batches(&t, (size_t)atol(argv[i])) != 0)
            return fprintf(stderr, "floor: cannot read batches of %s\n", argv[i]), 1;
    return 0;
}
