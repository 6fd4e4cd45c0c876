#include "runtime/command.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "port/port.h"

static void become_shell(const char *text, int out, int errors)
{
    int none = open("/dev/null", O_RDONLY);
    setpgid(0, 0);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    if (none >= 0 && dup2(none, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 && dup2(errors, STDERR_FILENO) >= 0)
        execl("/bin/sh", "sh", "-c", text, (char *)NULL);
    _exit(127);
}

/* Waits up to `seconds`. */
static bool ended(pid_t pid, double seconds, int *status)
{
    struct timespec pause = {0, 2000000};
    for (double waited = 0;; waited += 0.002) {
        pid_t who = waitpid(pid, status, WNOHANG);
        if (who == pid || (who < 0 && errno != EINTR))
            return true;
        if (waited >= seconds)
            return false;
        nanosleep(&pause, NULL);
    }
}

/* Sends two signals: dp-loop ends at once on the second one. */
static void end_group(pid_t pid)
{
    int status;
    for (int i = 0; i < 2; i++) {
        kill(-pid, SIGTERM);
        if (ended(pid, i == 0 ? 0.6 : 3, &status))
            return;
    }
    kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
}

/* Reads to the end of the stream. */
static int read_all(struct dp_port *port, struct dp_frame *last, struct dp_command_end *end, struct dp_err *err)
{
    struct dp_frame *here = dp_frame_new();
    int rc = DP_OK, more = 1;
    while (rc == DP_OK && (more = dp_port_read(port, here, err)) == 1) {
        if (end->whole)
            rc = dp_fail(err, DP_E_RUN, "the stream continues after its end frame");
        if (here->kind == DP_KIND_LAP)
            dp_frame_copy(last, here);
        end->lap = end->lap || here->kind == DP_KIND_LAP;
        end->whole =
            here->kind == DP_KIND_END && dp_frame_int(here, DP_F_STATUS, 0) == 0 && !dp_frame_bool(here, DP_F_INTERRUPTED);
    }
    dp_frame_free(here);
    return rc == DP_OK && more < 0 ? more : rc;
}

static int start(const char *text, int errors, pid_t *pid, struct dp_port **port, struct dp_err *err)
{
    int up[2];
    if (pipe2(up, O_CLOEXEC) != 0)
        return dp_fail_errno(err, errno, "cannot make a pipe");
    *pid = fork();
    if (*pid == 0)
        become_shell(text, up[1], errors);
    int why = errno;
    close(up[1]);
    if (*pid < 0) {
        close(up[0]);
        return dp_fail_errno(err, why, "cannot start a shell");
    }
    setpgid(*pid, *pid); /* both processes call it, because either may run first */
    dp_port_open_fd(port, up[0], "a run", DP_IN);
    return DP_OK;
}

int dp_command_last(const char *text, int errors, volatile sig_atomic_t *cancel, struct dp_frame *last,
                    struct dp_command_end *end, struct dp_err *err)
{
    struct dp_port *port = NULL;
    pid_t pid = -1;
    int status = 0;
    *end = (struct dp_command_end){0};
    int rc = start(text, errors, &pid, &port, err);
    if (rc == DP_OK) {
        dp_port_cancel(port, cancel);
        rc = read_all(port, last, end, err);
    }
    dp_port_close(port);
    while (rc == DP_OK && !ended(pid, 0.2, &status))
        if (*cancel)
            rc = dp_fail(err, DP_E_RUN, "interrupted");
    if (rc != DP_OK && pid > 0)
        end_group(pid);
    end->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return rc;
}
