/* Streams of frames over ZeroMQ: each frame once and in order, even if the connection breaks and strangers send messages. */
#include "unit.h"
#include "room.h"

#include <errno.h>
#include <msgpack.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "port/port.h"
#include "wire/codec.h"

#define RUN "00112233445566778899aabbccddeeff"
#define OTHER_RUN "ffffffffffffffffffffffffffffffff"

enum { OFFER = 1, ASK, HERE, DATA, TAKEN, BYE }; /* as in lib/port/stream.c */

static const struct dp_port_setting plain = {.security.plaintext = true};

static struct dp_port *open_port(const char *spec, enum dp_direction direction, const struct dp_port_setting *setting)
{
    struct dp_port *port = NULL;
    struct dp_err err = {0};
    if (dp_port_open_with(&port, spec, direction, setting, &err) != DP_OK) {
        fprintf(stderr, "%s\n", err.message);
        abort();
    }
    return port;
}

/* Frame 0 is a hello frame, the last one the end frame; the others are laps with a model of `size` numbers. */
static void make_frame(struct dp_frame *f, int number, int count, size_t size, const char *run)
{
    if (number == 0 || number == count - 1) {
        dp_frame_reset(f, number == 0 ? DP_KIND_HELLO : DP_KIND_END);
        if (number == 0) {
            dp_frame_set_int(f, DP_F_FORMAT, DP_FRAME_FORMAT);
            dp_frame_set_string(f, DP_F_RUN, run);
        }
        return;
    }
    dp_frame_reset(f, DP_KIND_LAP);
    f->lap = number;
    f->label = DP_LABEL_RELEASED;
    double *model;
    assert_int_equal(dp_frame_make_array(f, DP_F_MODEL, DP_F64, 1, size, &model, NULL), 0);
    for (size_t i = 0; i < size; i++)
        model[i] = number + 1e-3 * (double)i + (strcmp(run, RUN) == 0 ? 0 : 0.5);
}

/* A process that writes: argv of the program after its name. */
enum { SPEC = 1, KEYS, COUNT, SIZE, SHARED, ARGUMENTS }; /* KEYS: "" for none; SHARED: a descriptor, or -1 */

static int write_frames(char **argv)
{
    struct dp_port_setting setting = {.security = {.keys = argv[KEYS], .plaintext = argv[KEYS][0] == '\0'}};
    int count = atoi(argv[COUNT]), shared = atoi(argv[SHARED]);
    volatile int *written = shared >= 0 ? mmap(NULL, sizeof *written, PROT_READ | PROT_WRITE, MAP_SHARED, shared, 0) : NULL;
    struct dp_err err = {0};
    struct dp_frame *f;
    struct dp_port *out = open_port(argv[SPEC], DP_OUT, &setting);
    f = dp_frame_new();
    for (int i = 0; i < count; i++) {
        make_frame(f, i, count, (size_t)atoi(argv[SIZE]), RUN);
        if (dp_port_write(out, f, &err) != DP_OK) {
            fprintf(stderr, "%s\n", err.message);
            return 1;
        }
        if (written != NULL)
            *written = i + 1;
    }
    dp_port_close(out);
    dp_frame_free(f);
    return 0;
}

/* A separate program: after fork the locks of libzmq's threads would stay locked. */
static pid_t start_writer(const char *spec, const struct dp_port_setting *setting, int count, size_t size, int shared)
{
    char text[3][16], *argv[] = {"test_stream", (char *)spec, "", text[0], text[1], text[2], NULL};
    if (setting != NULL && setting->security.keys != NULL)
        argv[KEYS] = (char *)setting->security.keys;
    snprintf(text[0], sizeof text[0], "%d", count);
    snprintf(text[1], sizeof text[1], "%zu", size);
    snprintf(text[2], sizeof text[2], "%d", shared);
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(60);
    execv("/proc/self/exe", argv);
    _exit(127);
}

/* Frames first … last - 1 of `count`. */
static void expect_frames(struct dp_port *in, int first, int last, int count, size_t size)
{
    struct dp_frame *f;
    struct dp_err err = {0};
    f = dp_frame_new();
    for (int i = first; i < last; i++) {
        int rc = dp_port_read(in, f, &err);
        if (rc != 1)
            fail_msg("frame %d: %d %s", i, rc, err.message);
        enum dp_kind kind = i == 0 ? DP_KIND_HELLO : i == count - 1 ? DP_KIND_END : DP_KIND_LAP;
        assert_int_equal(f->kind, kind);
        if (kind != DP_KIND_LAP)
            continue;
        const double *model = f->value[DP_F_MODEL].array.data;
        assert_int_equal(f->lap, i);
        assert_true(model[size - 1] == i + 1e-3 * (double)(size - 1));
    }
    dp_frame_free(f);
}

static void expect_end(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST_IN(frames_arrive_in_order, make_room, clear_room)
{
    struct room *r = *state;
    const struct dp_port_setting binds = {.security.keys = r->gate}, connects = {.security.keys = r->site};
    char tcp[64], bound[80], back[80];
    snprintf(tcp, sizeof tcp, "tcp://127.0.0.1:%d", free_port());
    snprintf(bound, sizeof bound, "@%s", tcp);
    snprintf(back, sizeof back, ">%s", tcp);
    const struct {
        const char *in, *out;
        const struct dp_port_setting *reads, *writes;
    } way[] = {{r->ipc, r->ipc, NULL, NULL},
               {tcp, tcp, &plain, &plain},
               {tcp, tcp, &binds, &connects},
               {back, bound, &connects, &binds}};
    for (size_t i = 0; i < sizeof way / sizeof way[0]; i++) {
        pid_t pid = start_writer(way[i].out, way[i].writes, 300, 1000, -1);
        struct dp_port *in = open_port(way[i].in, DP_IN, way[i].reads);
        assert_int_equal(dp_port_exposure(in), DP_EXPOSED_NO);
        expect_frames(in, 0, 300, 300, 1000);
        dp_port_close(in);
        expect_end(pid);
    }
}

/* Forwards connections from one port to another one, and breaks each after `most` bytes. */
static pid_t start_breaker(int from, int to, size_t most)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                            .sin_port = htons((uint16_t)from)},
                       b = a;
    int yes = 1, server = socket(AF_INET, SOCK_STREAM, 0);
    b.sin_port = htons((uint16_t)to);
    setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    assert_int_equal(bind(server, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(server, 8), 0);
    pid_t pid = fork();
    if (pid != 0) {
        close(server);
        return pid;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN);
    alarm(120);
    for (;;) {
        static char bytes[4096];
        int one = accept(server, NULL, NULL), two = socket(AF_INET, SOCK_STREAM, 0);
        size_t passed = 0;
        if (connect(two, (struct sockaddr *)&b, sizeof b) == 0) {
            struct pollfd items[2] = {{one, POLLIN, 0}, {two, POLLIN, 0}};
            while (passed < most && poll(items, 2, -1) > 0) {
                int i = items[0].revents != 0 ? 0 : 1;
                ssize_t got = read(items[i].fd, bytes, sizeof bytes);
                if (got <= 0 || write(items[1 - i].fd, bytes, (size_t)got) != got)
                    break;
                passed += (size_t)got;
            }
        }
        close(one);
        close(two);
    }
}

/* Over a network (0.0.0.0 is not a loopback address for us) a connection may break and come back, in either direction. */
TEST_IN(a_connection_that_breaks_is_mended, make_room, clear_room)
{
    struct room *r = *state;
    const struct dp_port_setting binds = {.security.keys = r->gate}, connects = {.security.keys = r->site};
    for (int way = 0; way < 2; way++) {
        int from = free_port(), to = free_port();
        char bound[64], connected[64];
        snprintf(bound, sizeof bound, "@tcp://0.0.0.0:%d", to);
        snprintf(connected, sizeof connected, ">tcp://0.0.0.0:%d", from);
        pid_t breaker = start_breaker(from, to, 150000);
        pid_t pid = start_writer(way == 0 ? connected : bound, way == 0 ? &connects : &binds, 60, 2000, -1);
        struct dp_port *in = open_port(way == 0 ? bound : connected, DP_IN, way == 0 ? &binds : &connects);
        expect_frames(in, 0, 60, 60, 2000); /* 1 MB: seven connections */
        dp_port_close(in);
        expect_end(pid);
        kill(breaker, SIGKILL);
        waitpid(breaker, NULL, 0);
    }
}

/* Waits for that many frames, for 20 s at most. */
static void expect_written(volatile int *written, int least)
{
    for (int i = 0; i < 2000 && *written < least; i++)
        usleep(10000);
    assert_true(*written >= least);
}

TEST_IN(a_writer_waits_for_its_reader, make_room, clear_room)
{
    struct room *r = *state;
    int shared = memfd_create("written", 0);
    assert_int_equal(ftruncate(shared, sizeof(int)), 0);
    volatile int *written = mmap(NULL, sizeof *written, PROT_READ | PROT_WRITE, MAP_SHARED, shared, 0);
    struct dp_port *in = open_port(r->ipc, DP_IN, NULL);
    pid_t pid = start_writer(r->ipc, NULL, 200, 100, shared);
    expect_written(written, 1);
    usleep(300000);
    assert_int_equal(*written, 1); /* no reader has asked */
    expect_frames(in, 0, 1, 200, 100);
    expect_written(written, 2);
    usleep(300000);
    assert_in_range(*written, 2, 10);
    expect_frames(in, 1, 200, 200, 100);
    dp_port_close(in);
    expect_end(pid);
    munmap((void *)written, sizeof *written);
    close(shared);
}

TEST_IN(patience_ends, make_room, clear_room)
{
    struct room *r = *state;
    struct dp_port_setting short_of = {.patience = 0.2};
    struct dp_frame *f;
    struct dp_port *out = open_port(r->ipc, DP_OUT, &short_of);
    f = dp_frame_new();
    make_frame(f, 0, 9, 1, RUN);
    assert_int_equal(dp_port_write(out, f, &err), 0);
    make_frame(f, 1, 9, 1, RUN);
    assert_int_equal(dp_port_write(out, f, &err), DP_E_RUN);
    assert_non_null(strstr(err.message, "nobody has come to read ipc://"));
    dp_port_close(out);
    dp_frame_free(f);
}

/* A reader that leaves early, and a writer: on this machine noticed at once, over a network when they say so. */
TEST_IN(who_goes_is_not_waited_for, make_room, clear_room)
{
    char spec[64];
    int port = free_port();
    struct dp_frame *f;
    f = dp_frame_new();
    for (int far = 0; far < 2; far++) {
        snprintf(spec, sizeof spec, "tcp://%s:%d", far ? "0.0.0.0" : "127.0.0.1", port);
        struct dp_port *in = open_port(spec, DP_IN, &plain);
        pid_t pid = start_writer(spec, &plain, 100000, 10, -1);
        expect_frames(in, 0, 5, 100000, 10);
        dp_port_close(in);
        expect_end(pid); /* it continued to write, without a reader */
        in = open_port(spec, DP_IN, &plain);
        pid = start_writer(spec, &plain, 5, 10, -1);
        expect_frames(in, 0, 5, 5, 10);
        assert_int_equal(dp_port_read(in, f, &err), 0);
        dp_port_close(in);
        expect_end(pid);
    }
    dp_frame_free(f);
}

/* --- strangers ----------------------------------------------------------------------------------------------------- */

struct stranger {
    struct dp_link *link;
};

static struct stranger come(const char *spec, const struct dp_port_setting *setting)
{
    struct stranger s;
    struct dp_link_event e;
    assert_int_equal(dp_link_open(&s.link, spec, false, &setting->security, NULL, NULL, NULL), 0);
    do
        assert_int_equal(dp_link_next(s.link, &e, 5, NULL, NULL), 0);
    while (e.kind != DP_LINK_CAME);
    return s;
}

static void say(struct stranger *s, uint8_t type, uint64_t sequence, const char *run, const void *body, size_t size)
{
    struct dp_link_header header = {.type = type, .sequence = sequence, .credit = 1000};
    for (int i = 0; i < 32; i += 2) {
        unsigned byte;
        sscanf(run + i, "%2x", &byte);
        header.run[i / 2] = (unsigned char)byte;
    }
    assert_int_equal(dp_link_send(s->link, 0, &header, body, size, NULL), 0);
}

static void say_frame(struct stranger *s, uint64_t sequence, const char *run, const struct dp_frame *f)
{
    msgpack_sbuffer b;
    msgpack_sbuffer_init(&b);
    assert_int_equal(dp_wire_encode(&b, f, NULL), 0);
    say(s, DATA, sequence, run, b.data, b.size);
    msgpack_sbuffer_destroy(&b);
}

/* Everything that a stranger who can reach the port may send: before the stream, and while it is read. */
static void speak_ill(struct stranger *s, bool late)
{
    struct dp_frame *f;
    char garbage[300];
    f = dp_frame_new();
    memset(garbage, 0xc1, sizeof garbage);
    say(s, DATA, 1, RUN, garbage, sizeof garbage);
    say(s, DATA, 1, RUN, NULL, 0);
    say(s, DATA, 0, RUN, garbage, 1);
    for (int type = 0; type < 256; type++)
        if (type != OFFER || late)
            say(s, (uint8_t)type, 1, RUN, garbage, 3);
    make_frame(f, 1, 9, 4, RUN); /* a lap without a hello frame */
    say_frame(s, 1, RUN, f);
    say_frame(s, 2, RUN, f);
    make_frame(f, 8, 9, 4, RUN); /* the end */
    for (uint64_t sequence = 0; sequence < 45; sequence++)
        say_frame(s, sequence, RUN, f);
    if (late) {
        make_frame(f, 0, 9, 4, RUN);
        say_frame(s, 1, RUN, f);
        make_frame(f, 0, 9, 4, OTHER_RUN);
        say_frame(s, 1, OTHER_RUN, f);
        dp_frame_reset(f, DP_KIND_ERROR);
        dp_frame_set_int(f, DP_F_STATUS, 1);
        for (uint64_t sequence = 0; sequence < 45; sequence++)
            say_frame(s, sequence, RUN, f);
    }
    dp_frame_free(f);
}

TEST_IN(strangers_change_nothing, make_room, clear_room)
{
    char spec[64];
    int lines = 0;
    snprintf(spec, sizeof spec, "tcp://127.0.0.1:%d", free_port());
    struct dp_port_setting heard = plain;
    heard.log = count_lines;
    heard.log_self = &lines;
    struct dp_port *in = open_port(spec, DP_IN, &heard);
    struct stranger s = come(spec, &plain);
    speak_ill(&s, false);
    usleep(100000);
    pid_t pid = start_writer(spec, &plain, 40, 4, -1);
    expect_frames(in, 0, 20, 40, 4);
    speak_ill(&s, true);
    struct stranger t = come(spec, &plain);
    speak_ill(&t, true);
    usleep(100000);
    expect_frames(in, 20, 40, 40, 4);
    assert_in_range(lines, 1, 3);
    dp_port_close(in);
    expect_end(pid);
    dp_link_close(s.link, 0);
    dp_link_close(t.link, 0);
}

/* A writer that repeats messages, and sends some out of order. */
TEST_IN(each_frame_counts_once, make_room, clear_room)
{
    struct room *r = *state;
    const int said[] = {0, 1, 1, 3, 0, 2, 1, 3, 8, 4, 4};
    struct dp_port *in = open_port(r->ipc, DP_IN, NULL);
    struct stranger s = come(r->ipc, &plain);
    struct dp_frame *f;
    f = dp_frame_new();
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        make_frame(f, said[i], 5, 4, RUN);
        say_frame(&s, (uint64_t)said[i] + 1, RUN, f);
    }
    expect_frames(in, 0, 5, 5, 4);
    dp_port_close(in);
    dp_link_close(s.link, 0);
    dp_frame_free(f);
}

/* A peer that knows the run and guesses the number of the next frame is still not its writer. */
TEST_IN(a_frame_of_another_writer_is_none, make_room, clear_room)
{
    struct room *r = *state;
    struct dp_port *in = open_port(r->ipc, DP_IN, NULL);
    struct stranger writer = come(r->ipc, &plain), other = come(r->ipc, &plain);
    struct dp_frame *f;
    f = dp_frame_new();
    for (int i = 0; i < 5; i++) {
        if (i > 0) {
            make_frame(f, 4, 5, 4, RUN); /* the end */
            say_frame(&other, (uint64_t)i + 1, RUN, f);
            usleep(20000);
        }
        make_frame(f, i, 5, 4, RUN);
        say_frame(&writer, (uint64_t)i + 1, RUN, f);
        expect_frames(in, i, i + 1, 5, 4);
    }
    dp_port_close(in);
    dp_link_close(writer.link, 0);
    dp_link_close(other.link, 0);
    dp_frame_free(f);
}

/* Messages of a stranger to a writer that binds: there is one reader, the first that asks. */
TEST_IN(a_writer_has_one_reader, make_room, clear_room)
{
    char spec[64], bound[80], connected[80];
    snprintf(spec, sizeof spec, "tcp://127.0.0.1:%d", free_port());
    snprintf(bound, sizeof bound, "@%s", spec);
    snprintf(connected, sizeof connected, ">%s", spec);
    pid_t pid = start_writer(bound, &plain, 40, 4, -1);
    struct dp_port *in = open_port(connected, DP_IN, &plain);
    expect_frames(in, 0, 2, 40, 4);
    struct stranger s = come(spec, &plain);
    struct dp_link_event e;
    for (int type = 0; type < 256; type++)
        for (uint64_t sequence = 0; sequence < 4; sequence++)
            say(&s, (uint8_t)type, sequence, RUN, NULL, 0);
    assert_int_equal(dp_link_next(s.link, &e, 0.5, NULL, &err),
                     0); /* meanwhile the stream waits at a frame that it asked for */
    assert_int_not_equal(e.kind, DP_LINK_MESSAGE);
    expect_frames(in, 2, 40, 40, 4);
    assert_int_equal(dp_link_next(s.link, &e, 0.2, NULL, &err), 0);
    assert_int_not_equal(e.kind, DP_LINK_MESSAGE);
    dp_link_close(s.link, 0);
    dp_port_close(in);
    expect_end(pid);
}

/* A reader that waits for a known run accepts no other run, even a complete and well-formed one. */
TEST_IN(a_stream_of_another_run_is_none, make_room, clear_room)
{
    char spec[64];
    struct dp_frame *f;
    snprintf(spec, sizeof spec, "tcp://127.0.0.1:%d", free_port());
    f = dp_frame_new();
    struct dp_port *in = open_port(spec, DP_IN, &plain);
    make_frame(f, 0, 9, 4, RUN);
    dp_port_expect(in, f);
    struct stranger s = come(spec, &plain);
    for (int lie = 0; lie < 2; lie++) /* the frame and its header are of another run; then the frame only */
        for (int i = 0; i < 9; i++) {
            make_frame(f, i, 9, 4, OTHER_RUN);
            say_frame(&s, (uint64_t)i + 1, lie ? RUN : OTHER_RUN, f);
        }
    dp_frame_reset(f, DP_KIND_ERROR);
    dp_frame_set_int(f, DP_F_STATUS, 1);
    say_frame(&s, 1, OTHER_RUN, f);
    usleep(50000);
    pid_t pid = start_writer(spec, &plain, 9, 4, -1);
    expect_frames(in, 0, 9, 9, 4);
    dp_port_close(in);
    expect_end(pid);
    dp_link_close(s.link, 0);
    dp_frame_free(f);
}

int main(int argc, char **argv)
{
    if (argc == ARGUMENTS)
        return write_frames(argv);
    alarm(100);
    return all_tests(NULL, NULL);
}
