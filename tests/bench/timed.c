/* timed [LAPS] COMMAND [ARGUMENT]…: runs a command with its standard output thrown away, and prints its wall-clock time in
   seconds; the most private memory that it had at any time, in MB; and with LAPS, the number of laps that the command makes,
   the time of a lap in microseconds. Memory counts anonymous pages (RssAnon) of the command without its children, so mapped
   data sets do not count; it is sampled every millisecond. A lap's time excludes work that happens once: a run writes as many
   bytes each lap, so the bytes written so far tell the lap (wchar in /proc/PID/io), and the time is measured from a fifth of
   them to the end. The output goes to /dev/zero, which accepts all writes: dp-loop does not encode frames for /dev/null. */
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

enum { MOST = 1 << 20 };

struct seen {
    double at, bytes;
};

static struct seen seen[MOST];

/* The number after NAME in a file of /proc, or 0. */
static double of_process(pid_t pid, const char *file, const char *name)
{
    char path[128], line[256];
    double value = 0;
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    FILE *f = fopen(path, "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            value = atof(line + strlen(name));
    if (f != NULL)
        fclose(f);
    return value;
}

static double written(pid_t pid)
{
    char file[64];
    snprintf(file, sizeof file, "task/%d/io", (int)pid);
    return of_process(pid, file, "wchar:");
}

static pid_t start_command(char **command, const char *sink)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    int out = open(sink, O_WRONLY);
    dup2(out, STDOUT_FILENO);
    execvp(*command, command);
    perror(*command);
    _exit(127);
}

/* The first moment by which a share of all bytes had been written. */
static const struct seen *moment(const struct seen *at, int n, double share)
{
    int k = 0;
    while (k < n - 1 && at[k].bytes < share * at[n - 1].bytes)
        k++;
    return &at[k];
}

/* Seconds that all bytes take at the pace between a fifth of them and nearly all; 0 if that was not observed, because there are
   too few laps or this program was not scheduled. */
static double pace(const struct seen *at, int n)
{
    const struct seen *from = moment(at, n, 0.2), *to = moment(at, n, 0.99);
    double share = (to->bytes - from->bytes) / at[n - 1].bytes;
    return share > 0.4 ? (to->at - from->at) / share : 0;
}

int main(int argc, char **argv)
{
    long laps = argc > 1 ? atol(argv[1]) : 0;
    char **command = argv + (laps > 0 ? 2 : 1);
    if (argc < 2 || *command == NULL)
        return fprintf(stderr, "timed [LAPS] COMMAND [ARGUMENT]…\n"), 2;
    double most = 0, start = bench_seconds(CLOCK_MONOTONIC), took = 0;
    int n = 0, status;
    siginfo_t ended = {0};
    pid_t pid = start_command(command, laps > 0 ? "/dev/zero" : "/dev/null");
    while (ended.si_pid == 0) {
        if (waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT | WNOHANG) != 0)
            return perror("waitid"), 1;
        took = bench_seconds(CLOCK_MONOTONIC) - start;
        if (laps > 0 && n < MOST) /* a process that has ended still shows how much it wrote */
            seen[n++] = (struct seen){took, written(pid)};
        if (ended.si_pid == 0) {
            double now = of_process(pid, "status", "RssAnon:") * 1024 / 1e6;
            most = now > most ? now : most;
            usleep(1000);
        }
    }
    waitpid(pid, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return fprintf(stderr, "timed: %s ended with status %d\n", *command, WIFEXITED(status) ? WEXITSTATUS(status) : -1), 1;
    printf("%.6f %.3f %.6g\n", took, most, laps > 0 ? 1e6 * pace(seen, n) / (double)laps : 0);
    return 0;
}
