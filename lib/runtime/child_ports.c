/* A child pipeline that is reached over two ports. A pipeline of processes is `sh -c` with a pair of pipes. */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "port/port.h"
#include "runtime/child.h"

struct remote {
    struct dp_child base;
    struct dp_port *out, *in;
    bool finished; /* the end frame came back */
    pid_t pid;     /* process id of the shell, the leader of a process group; 0: no shell */
    const volatile sig_atomic_t *cancel;
    int written; /* result of the last write */
    struct dp_err write_err;
};

/* Waits up to `seconds` for the shell to end, without reaping it: until then no other process can get its id. */
static bool ended(pid_t pid, double seconds, siginfo_t *how)
{
    struct timespec pause = {0, 2000000};
    for (double waited = 0;; waited += 0.002) {
        how->si_pid = 0;
        int rc = waitid(P_PID, (id_t)pid, how, WEXITED | WNOHANG | WNOWAIT);
        if ((rc == 0 && how->si_pid == pid) || (rc != 0 && errno != EINTR))
            return true;
        if (waited >= seconds)
            return false;
        nanosleep(&pause, NULL);
    }
}

static void reap(struct remote *r)
{
    while (waitpid(r->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    r->pid = 0;
}

/* The error for a child that has ended. A shell's status above 128 is the signal that killed its last stage, which could not
 * print a message. */
static int gone(struct remote *r, struct dp_err *err)
{
    siginfo_t how = {0};
    const char *text = "the child pipeline ended before it gave back a frame";
    if (r->pid != 0 && ended(r->pid, 2, &how) && how.si_code == CLD_EXITED && how.si_status > 128)
        return dp_fail(err, DP_E_RUN, "%s: signal %d ended its last stage", text, how.si_status - 128);
    return dp_fail(err, DP_E_RUN, "%s", text);
}

static void remote_send(struct dp_child *child, struct dp_frame *frame)
{
    struct remote *r = (struct remote *)child;
    if (frame->kind == DP_KIND_HELLO)
        dp_port_expect(r->in, frame);
    r->written = dp_port_write(r->out, frame, &r->write_err);
}

static int remote_receive(struct dp_child *child, struct dp_frame *answer, struct dp_err *err)
{
    struct remote *r = (struct remote *)child;
    int rc = dp_port_read(r->in, answer, err);
    if (rc == DP_PORT_UNREAD && child->asked == DP_KIND_END) { /* the reader may have ended after it read the end frame */
        dp_port_watch(r->in, NULL);
        rc = dp_port_read(r->in, answer, err);
    }
    if (rc == 1)
        return DP_OK;
    if (rc == 0 || rc == DP_PORT_UNREAD)
        return gone(r, err);
    /* A child that failed closes its end: its own message is more useful, so a failed write is reported only without one. */
    if (r->written != DP_OK)
        *err = r->write_err;
    return rc;
}

static int remote_finish(struct dp_child *child, struct dp_err *err)
{
    struct remote *r = (struct remote *)child;
    siginfo_t how = {0};
    r->finished = true;
    dp_port_watch(r->in, NULL);
    dp_port_close(r->out);
    r->out = NULL;
    if (r->pid == 0)
        return DP_OK;
    for (int tenths = 0; !ended(r->pid, 0.1, &how); tenths++) {
        if (r->cancel != NULL && *r->cancel)
            return dp_fail(err, DP_E_RUN, "interrupted");
        if (tenths == 150) /* dp-gather may wait 10 s for its workers */
            return dp_fail(err, DP_E_RUN, "the child pipeline does not end");
    }
    reap(r);
    /* A shell that was killed by a signal is not an error: the end frame has passed through all stages. */
    if (how.si_code == CLD_EXITED && how.si_status != 0 && how.si_status != 3)
        return dp_fail(err, DP_E_RUN, "the child pipeline ended with status %d", how.si_status);
    return DP_OK;
}

/* Makes stages that still run end without a message: the stage that failed has printed one. */
static void send_off(struct remote *r)
{
    struct dp_frame *frame = dp_frame_new();
    struct dp_err unused;
    if (r->out != NULL) {
        dp_frame_reset(frame, DP_KIND_ERROR);
        dp_frame_set_int(frame, DP_F_STATUS, -DP_E_UPSTREAM);
        dp_port_limit(r->out, 0.5);
        dp_port_write(r->out, frame, &unused);
    }
    dp_frame_free(frame);
}

static void remote_free(struct dp_child *child)
{
    struct remote *r = (struct remote *)child;
    siginfo_t how;
    if (!r->finished)
        send_off(r);
    if (r->in != NULL)
        dp_port_watch(r->in, NULL);
    dp_port_abandon(r->out);
    if (r->pid != 0) {
        bool left = !ended(r->pid, 0.5, &how);
        kill(-r->pid, SIGTERM); /* this also ends processes that the shell may have left */
        if (left && !ended(r->pid, 2, &how))
            kill(-r->pid, SIGKILL);
        reap(r);
    }
    dp_port_abandon(r->in);
    free(r);
}

static bool remote_cancel(struct dp_child *child, volatile sig_atomic_t *flag)
{
    struct remote *r = (struct remote *)child;
    r->cancel = flag;
    dp_port_cancel(r->out, flag);
    dp_port_cancel(r->in, flag);
    return true;
}

static void remote_limit(struct dp_child *child, double seconds)
{
    struct remote *r = (struct remote *)child;
    dp_port_limit(r->out, seconds);
    dp_port_limit(r->in, seconds);
}

static const struct dp_child_ops remote_ops = {remote_send, remote_receive, remote_finish,
                                               remote_free, remote_cancel,  remote_limit};

int dp_child_ports(struct dp_child **child, const char *out, const char *in, const struct dp_port_setting *setting,
                   struct dp_err *err)
{
    struct remote *r = dp_new(1, sizeof *r);
    r->base.ops = &remote_ops;
    int rc = dp_port_open_with(&r->in, in, DP_IN, setting, err);
    rc = rc ?: dp_port_open_with(&r->out, out, DP_OUT, setting, err);
    if (rc != DP_OK) {
        remote_free(&r->base);
        return rc;
    }
    dp_port_watch(r->in, r->out); /* a reader that is gone ends the wait for an answer */
    *child = &r->base;
    return DP_OK;
}

static void become_shell(const char *text, int in, int out)
{
    setpgid(0, 0);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0)
        execl("/bin/sh", "sh", "-c", text, (char *)NULL);
    _exit(127);
}

int dp_child_processes(struct dp_child **child, const char *text, struct dp_err *err)
{
    int down[2] = {-1, -1}, up[2] = {-1, -1};
    struct remote *r = dp_new(1, sizeof *r);
    int rc = DP_OK;
    r->base.ops = &remote_ops;
    if (pipe2(down, O_CLOEXEC) != 0 || pipe2(up, O_CLOEXEC) != 0)
        rc = dp_fail_errno(err, errno, "cannot make a pipe");
    else
        fcntl(down[1], F_SETFL, O_NONBLOCK); /* set on our end only: a write must be interruptible, and has a time limit */
    if (rc == DP_OK) {
        r->pid = fork();
        if (r->pid == 0)
            become_shell(text, down[0], up[1]);
        if (r->pid < 0) {
            r->pid = 0;
            rc = dp_fail_errno(err, errno, "cannot start a shell");
        } else {
            setpgid(r->pid, r->pid); /* both processes call it, because either may run first */
        }
    }
    if (down[0] >= 0)
        close(down[0]);
    if (up[1] >= 0)
        close(up[1]);
    if (rc == DP_OK) {
        dp_port_open_fd(&r->out, down[1], "the child pipeline", DP_OUT);
        down[1] = -1;
    }
    if (rc == DP_OK) {
        dp_port_open_fd(&r->in, up[0], "the child pipeline", DP_IN);
        up[0] = -1;
    }
    if (down[1] >= 0)
        close(down[1]);
    if (up[0] >= 0)
        close(up[0]);
    if (rc != DP_OK) {
        remote_free(&r->base);
        return rc;
    }
    *child = &r->base;
    return DP_OK;
}
