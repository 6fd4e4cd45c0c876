#include "gate/trial.h"

#include <fcntl.h>
#include <jansson.h>
#include <sodium.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "ledger/charge_json.h"
#include "ledger/sum.h"

static const char *const words[] = {[DP_TRIAL_PLAN] = "plan", [DP_TRIAL_LAPS] = "laps"};
static const char *const files[] = {"trial", "plan", "charged", "taken", "new"};
enum { FILE_TRIAL, FILE_PLAN, FILE_CHARGED, FILE_TAKEN, FILE_NEW, FILES };
#define TEXT 64 /* bytes that hold the name and a word */

static char *path_of(const char *directory, int file)
{
    return dp_format("%s/%s", directory, files[file]);
}

static int open_in(const char *directory, int file, int flags, struct dp_err *err)
{
    char *path = path_of(directory, file);
    int rc = DP_OK;
    int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        rc = dp_fail_errno(err, errno, "cannot open %s", path);
    free(path);
    return fd < 0 ? rc : fd;
}

static bool is_private(const char *directory)
{
    struct stat st;
    return stat(directory, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() && (st.st_mode & 077) == 0;
}

static int move(const char *directory, int from, int to, struct dp_err *err)
{
    char *old = path_of(directory, from), *new = path_of(directory, to);
    int rc = DP_OK;
    if (rename(old, new) != 0)
        rc = dp_fail_errno(err, errno, "cannot write %.300s", new);
    free(old);
    free(new);
    return rc;
}

/* --- plans as files ----------------------------------------------------------------------------------------------- */

static int write_plan(const char *directory, int file, const struct dp_trial_plan *plan, struct dp_err *err)
{
    json_t *json =
        json_pack("{s:o, s:s, s:I, s:b, s:o}", "directory", dp_json_string(plan->directory), "adjacency", plan->adjacency,
                  "rows", (json_int_t)plan->rows, "seeded", plan->seeded, "charges", dp_ledger_charges_json(&plan->charges));
    int fd = open_in(directory, FILE_NEW, O_WRONLY | O_CREAT | O_TRUNC, err), rc = fd < 0 ? fd : DP_OK;
    FILE *stream = rc == DP_OK ? fdopen(fd, "w") : NULL;
    if (rc == DP_OK && stream == NULL) {
        close(fd);
        rc = dp_fail_errno(err, errno, "cannot write to %.300s", directory);
    }
    if (rc == DP_OK)
        dp_json_print(json, 0, stream);
    if (stream != NULL && fclose(stream) != 0 && rc == DP_OK)
        rc = dp_fail_errno(err, errno, "cannot write to %.300s", directory);
    json_decref(json);
    return rc ?: move(directory, FILE_NEW, file, err);
}

static int plan_from_json(const json_t *json, struct dp_trial_plan *plan, struct dp_err *err)
{
    const char *directory = NULL, *adjacency;
    json_t *charges;
    json_int_t rows;
    int seeded, rc = DP_OK;
    if (json_unpack((json_t *)json, "{s:s, s:s, s:I, s:b, s:o}", "directory", &directory, "adjacency", &adjacency, "rows",
                    &rows, "seeded", &seeded, "charges", &charges) != 0)
        return dp_fail(err, DP_E_RUN, "the plan of a trial is malformed");
    plan->rows = rows;
    plan->seeded = seeded;
    plan->directory = dp_got(strdup(directory));
    plan->adjacency = dp_got(strdup(adjacency));
    for (size_t i = 0; rc == DP_OK && i < json_array_size(charges); i++) {
        struct dp_charge charge;
        rc = dp_charge_from_json(json_array_get(charges, i), NULL, &charge, err);
        rc = rc ?: dp_charges_add(&plan->charges, &charge.event, charge.laps, err);
        if (rc == DP_OK)
            dp_event_free(&charge.event);
    }
    return rc;
}

/* 1: there is no such file. */
static int read_plan(const char *directory, int file, struct dp_trial_plan *plan, struct dp_err *err)
{
    json_t *json = NULL;
    char *path = path_of(directory, file);
    int rc = DP_OK;
    if (access(path, F_OK) != 0)
        rc = 1;
    rc = rc ?: dp_json_load(&json, path, err);
    rc = rc ?: plan_from_json(json, plan, err);
    json_decref(json);
    free(path);
    return rc;
}

/* --- the gate's side ---------------------------------------------------------------------------------------------- */

static int read_ask(struct dp_trial *trial, int fd, struct dp_err *err)
{
    char text[TEXT] = "", word[8] = "";
    ssize_t length = pread(fd, text, sizeof text - 1, 0);
    if (length > 0 && sscanf(text, "%32[0-9a-f] %7[a-z]", trial->name, word) == 2)
        for (int i = 0; i < 2; i++)
            if (strcmp(word, words[i]) == 0 && strlen(trial->name) == DP_TRIAL_NAME) {
                trial->ask = (enum dp_trial_ask)i;
                return DP_OK;
            }
    return dp_fail(err, DP_E_UNSAFE, "--trial: %.300s is not a directory of dp-tune", trial->directory);
}

int dp_trial_open(struct dp_trial *trial, const char *directory, struct dp_err *err)
{
    struct dp_err unused;
    trial->directory = dp_got(strdup(directory));
    int fd = is_private(directory) ? open_in(directory, FILE_TRIAL, O_RDONLY, &unused) : -1;
    if (fd < 0)
        return dp_fail(err, DP_E_UNSAFE, "--trial: %.300s is not a directory of dp-tune: a run of its own needs a budget",
                       directory);
    int rc = DP_OK;
    if (flock(fd, LOCK_SH | LOCK_NB) == 0)
        rc = dp_fail(err, DP_E_UNSAFE, "--trial: the dp-tune that made %.300s is gone, and nobody else charges for the run",
                     directory);
    else
        rc = read_ask(trial, fd, err);
    close(fd);
    return rc;
}

void dp_trial_close(struct dp_trial *trial)
{
    free(trial->directory);
    trial->directory = NULL;
}

int dp_trial_write(const struct dp_trial *trial, const struct dp_trial_plan *plan, struct dp_err *err)
{
    return write_plan(trial->directory, FILE_PLAN, plan, err);
}

int dp_trial_take(const struct dp_trial *trial, const struct dp_trial_plan *plan, struct dp_err *err)
{
    struct dp_trial_plan charged = {0};
    struct dp_err unused;
    if (move(trial->directory, FILE_CHARGED, FILE_TAKEN, &unused) != DP_OK)
        return dp_fail(err, DP_E_UNSAFE, "--trial: dp-tune has charged for no other run than the one before");
    int rc = read_plan(trial->directory, FILE_TAKEN, &charged, err);
    if (rc == 1 || (rc == DP_OK && !dp_trial_plan_same(&charged, plan)))
        rc = dp_fail(err, DP_E_UNSAFE, "--trial: the stages announce something else than what dp-tune has charged for");
    dp_trial_plan_free(&charged);
    return rc;
}

/* --- dp-tune's side ----------------------------------------------------------------------------------------------- */

int dp_trial_room_open(struct dp_trial_room *room, const char *parent, struct dp_err *err)
{
    unsigned char name[DP_TRIAL_NAME / 2];
    room->lock = -1;
    if (sodium_init() < 0)
        return dp_fail(err, DP_E_RUN, "cannot initialise libsodium");
    randombytes_buf(name, sizeof name);
    sodium_bin2hex(room->name, sizeof room->name, name, sizeof name);
    room->directory = dp_format("%s/dp-tune.XXXXXX", parent);
    if (mkdtemp(room->directory) == NULL) {
        int why = errno;
        free(room->directory);
        room->directory = NULL;
        return dp_fail_errno(err, why, "cannot make a directory for trials in %s", parent);
    }
    int fd = open_in(room->directory, FILE_TRIAL, O_RDWR | O_CREAT | O_EXCL, err);
    if (fd < 0)
        return fd;
    room->lock = fd;
    return flock(fd, LOCK_EX | LOCK_NB) == 0 ? DP_OK : dp_fail_errno(err, errno, "cannot lock a file in %s", room->directory);
}

int dp_trial_room_ask(const struct dp_trial_room *room, const struct dp_trial_plan *charged, struct dp_err *err)
{
    static const int old[] = {FILE_PLAN, FILE_CHARGED, FILE_TAKEN};
    char text[TEXT];
    int rc = DP_OK;
    for (size_t i = 0; rc == DP_OK && i < sizeof old / sizeof *old; i++) {
        char *path = path_of(room->directory, old[i]);
        if (unlink(path) != 0 && errno != ENOENT)
            rc = dp_fail_errno(err, errno, "cannot remove %s", path);
        free(path);
    }
    if (rc == DP_OK && charged != NULL)
        rc = write_plan(room->directory, FILE_CHARGED, charged, err);
    int length = snprintf(text, sizeof text, "%s %s\n", room->name, words[charged != NULL ? DP_TRIAL_LAPS : DP_TRIAL_PLAN]);
    if (rc == DP_OK && pwrite(room->lock, text, (size_t)length, 0) != length)
        rc = dp_fail_errno(err, errno, "cannot write to %s", room->directory);
    return rc;
}

int dp_trial_room_read(const struct dp_trial_room *room, struct dp_trial_plan *plan, struct dp_err *err)
{
    return read_plan(room->directory, FILE_PLAN, plan, err);
}

void dp_trial_plan_free(struct dp_trial_plan *plan)
{
    free(plan->directory);
    free(plan->adjacency);
    dp_charges_free(&plan->charges);
    *plan = (struct dp_trial_plan){0};
}

bool dp_trial_plan_same(const struct dp_trial_plan *a, const struct dp_trial_plan *b)
{
    return strcmp(a->directory, b->directory) == 0 && strcmp(a->adjacency, b->adjacency) == 0 && a->rows == b->rows &&
           a->seeded == b->seeded && dp_charges_same(&a->charges, &b->charges);
}

void dp_trial_room_close(struct dp_trial_room *room)
{
    if (room->directory == NULL)
        return;
    for (int i = 0; i < FILES; i++) {
        char *path = path_of(room->directory, i);
        unlink(path);
        free(path);
    }
    rmdir(room->directory);
    if (room->lock >= 0)
        close(room->lock);
    free(room->directory);
    room->directory = NULL;
}
