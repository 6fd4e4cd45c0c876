/* The gate and its ledger: before a frame leaves, the line that pays for it is on disk. */
#include "changed.h"

#include <fcntl.h>
#include <jansson.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "math/grid.h"
#include "stages/stage.h"

#define LAPS 100

static struct {
    char path[64];
    int64_t paid; /* laps in the ledger at the last fsync */
    int syncs;
} disk;

/* Laps reserved in the present ledger. */
static int64_t laps_written(void)
{
    char line[4096];
    int64_t laps = 0;
    FILE *f = fopen(disk.path, "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        json_t *entry = json_loads(line, 0, NULL);
        const char *kind = json_string_value(json_object_get(entry, "kind"));
        const json_t *charge = json_array_get(json_object_get(entry, "charges"), 0);
        if (kind != NULL && strcmp(kind, "plan") == 0)
            laps += json_integer_value(json_object_get(charge, "laps"));
        json_decref(entry);
    }
    if (f != NULL)
        fclose(f);
    return laps;
}

/* Replaces the C library's fsync: after a power cut at this moment, the disk would have what was written before. */
int fsync(int fd)
{
    struct stat file, ledger;
    if (fstat(fd, &file) == 0 && stat(disk.path, &ledger) == 0 && file.st_ino == ledger.st_ino) {
        disk.paid = laps_written();
        disk.syncs++;
    }
    return (int)syscall(SYS_fsync, fd);
}

static int released(struct dp_out *out, struct dp_frame *frame, struct dp_err *err)
{
    (void)err;
    if (frame->kind == DP_KIND_LAP) {
        assert_int_equal(frame->label, DP_LABEL_RELEASED);
        assert_true(frame->lap <= disk.paid);
        ++*(int *)out->self;
    }
    return DP_OK;
}

/* A noised sum of three numbers, as from dp-noise. */
static void fill(struct dp_frame *frame, int64_t lap)
{
    static const char digest[] = "0123456789abcdef0123456789abcdef";
    int64_t *sum;
    dp_frame_reset(frame, DP_KIND_LAP);
    frame->label = DP_LABEL_NOISED;
    frame->lap = lap;
    frame->records = 1;
    *frame->record = noised_sum(0.1, 1000, 1, 2);
    dp_frame_set_int(frame, DP_F_LAPS, LAPS);
    dp_frame_set_int(frame, DP_F_N, 1000);
    dp_frame_set_real(frame, DP_F_BOUND, 1);
    dp_frame_set_real(frame, DP_F_GRID, dp_grid_for(1));
    dp_frame_set_string(frame, DP_F_DATA, digest);
    assert_int_equal(dp_frame_make_array(frame, DP_F_SUM, DP_I64, 1, 3, &sum, NULL), 0);
    memset(sum, 0, 3 * sizeof *sum);
}

TEST(nothing_leaves_before_its_line_is_on_the_disk)
{
    char *argv[] = {"dp-account", "--epsilon", "5", "--delta", "1e-5", "--ledger", disk.path, NULL};
    struct dp_stage *gate;
    struct dp_frame *frame;
    int out_of_gate = 0;
    struct dp_out out = {.frame = released, .self = &out_of_gate};
    char directory[] = "/tmp/dpline-test-XXXXXX", command[80];
    assert_non_null(mkdtemp(directory));
    snprintf(disk.path, sizeof disk.path, "%s/ledger", directory);
    assert_int_equal(dp_stage_new(&gate, dp_stage_find("dp-account"), 7, argv, NULL, &err), 0);
    frame = dp_frame_new();
    dp_frame_reset(frame, DP_KIND_HELLO);
    dp_frame_set_int(frame, DP_F_FORMAT, DP_FRAME_FORMAT);
    assert_int_equal(dp_stage_take(gate, frame, &out, &err), 0);
    for (int64_t lap = 1; lap <= LAPS; lap++) {
        fill(frame, lap);
        if (dp_stage_take(gate, frame, &out, &err) != 0)
            fail_msg("lap %d: %s", (int)lap, err.message);
    }
    dp_frame_reset(frame, DP_KIND_END);
    assert_int_equal(dp_stage_take(gate, frame, &out, &err), 0);
    assert_int_equal(out_of_gate, LAPS);
    assert_int_equal(disk.paid, LAPS);
    assert_int_equal(disk.syncs, 2); /* when it begins and when it ends */
    dp_stage_free(gate);
    dp_frame_free(frame);
    snprintf(command, sizeof command, "rm -r %s", directory);
    assert_int_equal(system(command), 0);
}

TESTS(NULL, NULL)
