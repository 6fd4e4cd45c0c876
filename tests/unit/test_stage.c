/* Pipelines cut at their bars, labels checked, frames through ports, and the check of a child's answer. */
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "port/port.h"
#include "runtime/child.h"
#include "runtime/pipeline.h"
#include "stages/stage.h"

TEST(pipelines_split_as_a_shell_does)
{
    struct dp_pipeline p;
    assert_int_equal(dp_pipeline_parse(&p, "dp-sample --data 'a b' --rate \"0.5\" |\n dp-noise -z\\ 1 --multi''plier=2 ", &err),
                     0);
    assert_int_equal(p.stages, 2);
    assert_int_equal(p.stage[0].argc, 5);
    assert_string_equal(p.stage[0].argv[2], "a b");
    assert_string_equal(p.stage[0].argv[4], "0.5");
    assert_null(p.stage[0].argv[5]);
    assert_string_equal(p.stage[1].argv[1], "-z 1");
    assert_string_equal(p.stage[1].argv[2], "--multiplier=2");
    dp_pipeline_free(&p);
    assert_int_equal(dp_pipeline_parse(&p, "dp-sample --data d \\\n    --rate 1 \\\n  | dp-noise -z\\\n 1\\\n2 \\\n", &err), 0);
    assert_int_equal(p.stages, 2);
    assert_int_equal(p.stage[0].argc, 5);
    assert_string_equal(p.stage[0].argv[3], "--rate");
    assert_int_equal(p.stage[1].argc, 3);
    assert_string_equal(p.stage[1].argv[2], "12");
    dp_pipeline_free(&p);
}

TEST(what_needs_a_shell)
{
    const char *texts = "dp-noise $x^dp-noise `x`^dp-noise; dp-noise^dp-noise > f | dp-step^dp-noise 2> f^dp-noise 2>&1^"
                        "dp-noise 2>>f^dp-noise >&1^dp-noise <>f^dp-noise >|f | dp-step^dp-noise \"$x\"^dp-noise & ^"
                        "cat | dp-noise^dp-noise --inline --in f^dp-noise --in f^dp-noise -o f | dp-step^"
                        "dp-noise --out=f | dp-step^^dp-noise | | dp-step^dp-noise\n-z 1^dp-noise 'x^dp-noise *^dp-noise # x^"
                        "dp-noise ~/x^dp-noise \\^(dp-noise)";
    for (const char *text; (text = next_of(&texts, '^')) != NULL;) {
        struct dp_pipeline p;
        err = (struct dp_err){0};
        if (dp_pipeline_parse(&p, text, &err) != 1 || err.message[0] == '\0')
            fail_msg("'%s'", text);
        dp_pipeline_free(&p);
    }
    struct dp_pipeline p;
    assert_int_equal(dp_pipeline_parse(&p, "dp-step | dp-eval --data x", NULL), DP_E_USAGE);
    dp_pipeline_free(&p);
    const char *const to_file[] = {">f",       ">>f",          " 1>f",   ">|f",           " >& f",   " 1>&2",
                                   " >f 2>&1", " --step .5>f", " 2>e>f", " </dev/null>f", " \"2\">f"};
    for (size_t i = 0; i < sizeof to_file / sizeof to_file[0]; i++) {
        char text[64] = "dp-noise | dp-step";
        if (dp_pipeline_parse(&p, strcat(text, to_file[i]), NULL) != DP_E_USAGE)
            fail_msg("'%s'", to_file[i]);
        dp_pipeline_free(&p);
    }
    assert_int_equal(dp_pipeline_parse(&p, "dp-step \\>& ", NULL), 1);
    dp_pipeline_free(&p);
    assert_int_equal(dp_pipeline_parse(&p, "dp-noise | dp-step '>f'", NULL), 0);
    dp_pipeline_free(&p);
    assert_int_equal(dp_pipeline_parse(&p, "dp-sample --inline | dp-noise '$x' \"a|b;c\"", NULL), 0);
    assert_string_equal(p.stage[1].argv[2], "a|b;c");
    dp_pipeline_free(&p);
}

static int keep(struct dp_out *out, struct dp_frame *frame, struct dp_err *err)
{
    (void)err;
    dp_frame_copy(out->self, frame);
    return DP_OK;
}

/* The unchanged text of each stage, for programs between stages. */
TEST(pipelines_are_cut_at_their_bars)
{
    struct dp_pipeline p;
    assert_int_equal(dp_pipeline_cut(&p, " dp-sample {} 'a|b' |\n ./own \"$x|\" <f\\|g |dp-step ", NULL), 0);
    assert_int_equal(p.stages, 3);
    const char *const stage[] = {"dp-sample {} 'a|b'", "./own \"$x|\" <f\\|g", "dp-step"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(p.stage[i].to - p.stage[i].from, strlen(stage[i]));
        assert_memory_equal(p.text + p.stage[i].from, stage[i], strlen(stage[i]));
    }
    assert_int_equal(dp_pipeline_find(&p, "dp-step"), 2);
    assert_int_equal(dp_pipeline_find(&p, "dp-noise"), 3);
    dp_pipeline_free(&p);
    const char *const other[] = {"a; b",       "a & b",          "a || b", "a |& b",  "(a | b)", "a `b | c`",
                                 "a $(b | c)", "a \"$(b | c)\"", "a |",    "a # b|c", "a\nb",    "a $'\\'|b'",
                                 "a ${x|y}",   "a \"`b|c`\"",    "a 'b",   "a \\"};
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++) {
        if (dp_pipeline_cut(&p, other[i], NULL) != 1)
            fail_msg("'%s'", other[i]);
        dp_pipeline_free(&p);
    }
}

TEST(a_stage_takes_its_labels_only)
{
    char *argv[] = {"dp-noise", "-z", "1", NULL};
    struct dp_stage *stage;
    struct dp_frame *frame, *got;
    assert_int_equal(dp_stage_new(&stage, dp_stage_find("dp-noise"), 3, argv, NULL, &err), 0);
    frame = dp_frame_new();
    got = dp_frame_new();
    struct dp_out out = {.frame = keep, .self = got};
    const enum dp_label labels[] = {DP_LABEL_RAW, DP_LABEL_NOISED, DP_LABEL_RELEASED};
    for (int i = 0; i < 3; i++) {
        dp_frame_reset(frame, DP_KIND_LAP);
        frame->label = labels[i];
        assert_int_equal(dp_stage_take(stage, frame, &out, &err), DP_E_UNSAFE);
        assert_string_equal(err.where, "dp-noise");
    }
    dp_frame_reset(frame, DP_KIND_HELLO);
    dp_frame_set_int(frame, DP_F_FORMAT, DP_FRAME_FORMAT);
    assert_int_equal(dp_stage_take(stage, frame, &out, &err), 0);
    assert_int_equal(dp_frame_int(got, DP_F_STAGE, -1), 1);
    dp_stage_free(stage);
    dp_frame_free(frame);
    dp_frame_free(got);
}

/* A frame with many kinds of fields. */
static void fill(struct dp_frame *f)
{
    double *model;
    dp_frame_reset(f, DP_KIND_LAP);
    f->lap = 3;
    f->label = DP_LABEL_NOISED;
    f->records = 1;
    *f->record = (struct dp_record){.of = DP_F_NONE, .sampler = DP_SAMPLER_POISSON, .rate = 0.25, .rows = 9};
    assert_int_equal(dp_frame_make_array(f, DP_F_MODEL, DP_F64, 2, 3, &model, NULL), 0);
    for (int i = 0; i < 6; i++)
        model[i] = i - 2.5;
    dp_frame_set_real(f, DP_F_EPSILON, 0.125);
    dp_frame_set_text(f, DP_F_LOSS, "hinge", 5);
    dp_frame_set_bool(f, DP_F_SEEDED, true);
}

static void assert_same(const struct dp_frame *a, const struct dp_frame *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->label, b->label);
    assert_int_equal(a->lap, b->lap);
    assert_int_equal(a->records, b->records);
    assert_true(a->record->rate == b->record->rate && a->record->rows == b->record->rows);
    assert_memory_equal(a->value[DP_F_MODEL].array.data, b->value[DP_F_MODEL].array.data, 6 * sizeof(double));
    assert_true(dp_frame_real(a, DP_F_EPSILON, 0) == dp_frame_real(b, DP_F_EPSILON, 1));
    assert_string_equal(dp_frame_text(a, DP_F_LOSS, ""), dp_frame_text(b, DP_F_LOSS, "x"));
    assert_true(dp_frame_bool(b, DP_F_SEEDED) && !dp_frame_has(b, DP_F_GAP));
}

TEST(frames_go_through_every_port)
{
    struct dp_frame *f, *g;
    struct dp_port *in, *out;
    char directory[] = "/tmp/dp-port-XXXXXX", path[64], socket[80];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/frames", directory);
    snprintf(socket, sizeof socket, "ipc://%s/socket", directory);
    f = dp_frame_new();
    g = dp_frame_new();
    fill(f);

    assert_int_equal(dp_port_open(&out, path, DP_OUT, &err), 0);
    assert_int_equal(dp_port_write(out, f, &err), 0);
    assert_int_equal(dp_port_write(out, f, &err), 0);
    assert_int_not_equal(access(path, F_OK), 0); /* the file is not under its name before it is complete */
    assert_int_equal(dp_port_commit(out, &err), 0);
    dp_port_close(out);
    assert_int_equal(dp_port_open(&in, path, DP_IN, &err), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(dp_port_read(in, g, &err), 1);
        assert_same(f, g);
    }
    assert_int_equal(dp_port_read(in, g, &err), 0);
    dp_port_close(in);

    assert_int_equal(dp_port_open(&out, path, DP_OUT, &err), 0); /* if it is not committed, the old file stays, and no other
                                                                  * file */
    dp_port_close(out);
    assert_int_equal(dp_port_open(&in, socket, DP_IN, &err), 0);
    assert_int_equal(dp_port_open(&out, socket, DP_OUT, &err), 0);
    assert_int_equal(dp_port_exposure(out), DP_EXPOSED_NO); /* only we use the directory */
    dp_port_close(in);
    dp_port_abandon(out);
    unlink(path);
    assert_int_equal(rmdir(directory), 0);
    dp_frame_free(f);
    dp_frame_free(g);
}

/* sleep(1) neither reads nor answers: the small frame waits for the answer, the large one for a reader. */
TEST(a_child_that_hangs_is_given_up)
{
    volatile sig_atomic_t stop = 1;
    struct dp_frame *f;
    double *model;
    f = dp_frame_new();
    for (size_t cols = 10; cols <= 1000000; cols *= 100000) {
        struct dp_child *child;
        dp_frame_reset(f, DP_KIND_LAP);
        assert_int_equal(dp_frame_make_array(f, DP_F_MODEL, DP_F64, 1, cols, &model, &err), 0);
        memset(model, 0, cols * sizeof *model);
        assert_int_equal(dp_child_processes(&child, "exec sleep 60", &err), 0);
        dp_child_limit(child, 0.1);
        assert_fails(dp_child_pass(child, f, f, &err), DP_E_RUN, "the child pipeline gave no answer within 0.1 s");
        dp_child_cancel(child, &stop);
        assert_fails(dp_child_pass(child, f, f, &err), DP_E_RUN, "interrupted");
        dp_child_kill(child);
    }
    dp_frame_free(f);
}

static volatile sig_atomic_t interruptions, cancelled;
static void interruption(int number)
{
    (void)number;
    interruptions = interruptions + 1;
}

/* Reads from fd until its end, after the writer had to wait; the exit status says whether all `bytes` came. */
static pid_t slow_reader(const int fd[2], size_t bytes)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    static char buffer[65536];
    size_t got = 0;
    close(fd[1]);
    usleep(100000);
    for (ssize_t n; (n = read(fd[0], buffer, sizeof buffer)) > 0;)
        got += (size_t)n;
    _exit(got < bytes);
}

/* Signals that are not for the port: a frame that waits for its reader arrives complete. With a flag set it does not. */
TEST(signals_do_not_cut_a_frame)
{
    struct dp_frame *f;
    double *model;
    struct sigaction on_alarm = {.sa_handler = interruption}; /* without SA_RESTART */
    struct itimerval often = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};
    f = dp_frame_new();
    fill(f);
    assert_int_equal(dp_frame_make_array(f, DP_F_MODEL, DP_F64, 1, 200000, &model, &err), 0);
    memset(model, 0, 200000 * sizeof *model);
    sigaction(SIGALRM, &on_alarm, NULL);
    for (int cancel = 0; cancel < 2; cancel++) {
        struct dp_port *out;
        int fd[2], status;
        assert_int_equal(pipe(fd), 0);
        pid_t reader = slow_reader(fd, 200000 * sizeof *model);
        assert_true(reader > 0);
        close(fd[0]);
        dp_port_open_fd(&out, fd[1], "pipe", DP_OUT);
        cancelled = cancel;
        dp_port_cancel(out, &cancelled);
        interruptions = 0;
        setitimer(ITIMER_REAL, &often, NULL);
        assert_int_equal(dp_port_write(out, f, &err), cancel ? DP_E_RUN : DP_OK);
        setitimer(ITIMER_REAL, &never, NULL);
        assert_true(interruptions > 0);
        dp_port_close(out);
        while (waitpid(reader, &status, 0) < 0)
            assert_int_equal(errno, EINTR);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == cancel);
    }
    signal(SIGALRM, SIG_DFL);
    dp_frame_free(f);
}

TEST(the_judge)
{
    struct dp_frame *f;
    f = dp_frame_new();
    fill(f);
    assert_int_equal(dp_child_judge(DP_KIND_LAP, 3, f, &err), DP_E_UNSAFE); /* noised */
    f->label = DP_LABEL_RELEASED;
    assert_int_equal(dp_child_judge(DP_KIND_LAP, 3, f, &err), DP_OK);
    assert_int_equal(dp_child_judge(DP_KIND_LAP, 4, f, &err), DP_E_RUN);
    assert_int_equal(dp_child_judge(DP_KIND_END, 0, f, &err), DP_E_RUN);
    dp_frame_drop(f, DP_F_MODEL); /* dp-loop decides whether there must be one */
    assert_int_equal(dp_child_judge(DP_KIND_LAP, 3, f, &err), DP_OK);
    dp_frame_reset(f, DP_KIND_END);
    dp_frame_set_int(f, DP_F_STATUS, 3);
    assert_int_equal(dp_child_judge(DP_KIND_LAP, 3, f, &err), DP_E_BUDGET);
    dp_frame_reset(f, DP_KIND_ERROR);
    dp_frame_set_int(f, DP_F_STATUS, 5);
    assert_fails(dp_child_judge(DP_KIND_LAP, 3, f, &err), DP_E_UNSAFE, "");
    dp_frame_free(f);
}

TESTS(NULL, NULL)
