#include "checkpoint/checkpoint.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sync.h"

#define VARIABLE "DPLINE_CHECKPOINT" /* "EVERY:RESUMED:LAST:DIRECTORY" */
#define OWN "loop"
#define STAGE "stage-"
#define SHARD "shard-"
#define FRESH ".new" /* suffix of a file that is not complete yet */

int dp_checkpoint_tell(const struct dp_checkpoint *c, struct dp_err *err)
{
    if (c == NULL)
        return unsetenv(VARIABLE) == 0 ? DP_OK : dp_fail_errno(err, errno, "cannot clear " VARIABLE);
    char *text = dp_format("%lld:%lld:%d:%s", (long long)c->every, (long long)c->resumed, c->last, c->directory);
    int rc = setenv(VARIABLE, text, 1) == 0 ? DP_OK : dp_fail_errno(err, errno, "cannot set " VARIABLE);
    free(text);
    return rc;
}

int dp_checkpoint_told(struct dp_checkpoint *c, struct dp_err *err)
{
    const char *text = getenv(VARIABLE);
    long long every, resumed;
    int at = 0, last;
    *c = (struct dp_checkpoint){0};
    if (text == NULL)
        return DP_OK;
    if (sscanf(text, "%lld:%lld:%d:%n", &every, &resumed, &last, &at) != 3 || at == 0 || every < 1 || resumed < 0 ||
        text[at] == '\0')
        return dp_fail(err, DP_E_RUN, "the environment's " VARIABLE " is not dp-loop's");
    c->directory = dp_got(strdup(text + at));
    c->every = every;
    c->resumed = resumed;
    c->last = last != 0;
    return DP_OK;
}

/* Laps between states that can be a checkpoint. */
static int64_t step(const struct dp_frame *frame)
{
    int64_t laps = 1;
    for (int i = 0; i < frame->records && !dp_frame_bool(frame, DP_F_SEEDED); i++)
        if (frame->record[i].sampler == DP_SAMPLER_SHUFFLE && frame->record[i].epoch_laps > laps)
            laps = frame->record[i].epoch_laps;
    return laps;
}

bool dp_checkpoint_possible(const struct dp_frame *frame)
{
    return dp_frame_int(frame, DP_F_TURN, frame->lap) % step(frame) == 0;
}

bool dp_checkpoint_due(const struct dp_checkpoint *c, const struct dp_frame *frame)
{
    int64_t lap = frame->lap, laps = step(frame), before = lap - laps;
    if (c->directory == NULL || !dp_checkpoint_possible(frame))
        return false;
    if (lap >= dp_frame_int(frame, DP_F_LAPS, 0))
        return c->last;
    return lap / c->every > before / c->every || (c->resumed > 0 && before <= c->resumed && lap > c->resumed);
}

static char *name_of(const char *directory, int64_t ordinal, int64_t lap)
{
    return ordinal == 0 ? dp_format("%s/" OWN, directory)
                        : dp_format("%s/" STAGE "%lld.lap-%lld", directory, (long long)ordinal, (long long)lap);
}

int dp_checkpoint_own(const char *directory, struct dp_err *err)
{
    struct stat st;
    if (mkdir(directory, 0700) == 0)
        return DP_OK;
    if (errno != EEXIST || lstat(directory, &st) != 0)
        return dp_fail_errno(err, errno, "cannot make %s", directory);
    if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077) != 0)
        return dp_fail(err, DP_E_UNSAFE, "%s: what a checkpoint holds is private: it needs a directory of your own, mode 0700",
                       directory);
    return DP_OK;
}

int dp_checkpoint_lock(const char *directory, int *fd, struct dp_err *err)
{
    const struct timespec pause = {0, 20000000};
    *fd = open(directory, O_RDONLY | O_DIRECTORY); /* child processes inherit the descriptor */
    if (*fd < 0)
        return dp_fail_errno(err, errno, "cannot open %s", directory);
    for (int waits = 0; flock(*fd, LOCK_EX | LOCK_NB) != 0; waits++) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return dp_fail_errno(err, errno, "cannot lock %s", directory);
        if (waits == 500)
            return dp_fail(err, DP_E_RUN, "another process has the checkpoint %s", directory);
        nanosleep(&pause, NULL);
    }
    return DP_OK;
}

bool dp_checkpoint_there(const char *directory)
{
    char *own = name_of(directory, 0, 0);
    bool there = access(own, F_OK) == 0;
    free(own);
    return there;
}

int dp_checkpoint_make(const char *directory, struct dp_err *err)
{
    int rc = dp_checkpoint_own(directory, err);
    if (rc == DP_OK && dp_checkpoint_there(directory))
        rc = dp_fail(err, DP_E_USAGE, "%s holds a checkpoint: --resume continues from it", directory);
    return rc;
}

static int write_whole(int fd, const char *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t put = write(fd, bytes + done, size - done);
        if (put < 0 && errno != EINTR)
            return -1;
        done += put > 0 ? (size_t)put : 0;
    }
    return fsync(fd);
}

static int replace(const char *directory, const char *path, const char *bytes, size_t size, struct dp_err *err)
{
    char *fresh = dp_format("%s" FRESH, path);
    int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600), rc = DP_OK;
    bool bad = fd < 0 || write_whole(fd, bytes, size) != 0;
    if (bad || rename(fresh, path) != 0 || dp_sync_directory(directory) != 0)
        rc = dp_fail_errno(err, errno, "cannot write %s", path);
    if (fd >= 0)
        close(fd);
    if (rc != DP_OK)
        unlink(fresh);
    free(fresh);
    return rc;
}

int dp_checkpoint_write(const char *directory, int64_t ordinal, int64_t lap, const struct dp_state *state, struct dp_err *err)
{
    msgpack_sbuffer buffer;
    char *path = name_of(directory, ordinal, lap);
    msgpack_sbuffer_init(&buffer);
    int rc = dp_state_encode(state, &buffer, err);
    rc = rc ?: replace(directory, path, buffer.data, buffer.size, err);
    free(path);
    msgpack_sbuffer_destroy(&buffer);
    return rc;
}

static int read_whole(const char *path, char **text, size_t *size, struct dp_err *err)
{
    struct stat st;
    size_t done = 0;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), rc = DP_OK;
    if (fd < 0 || fstat(fd, &st) != 0)
        rc = dp_fail_errno(err, errno, "cannot open %s", path);
    else if (!S_ISREG(st.st_mode))
        rc = dp_fail(err, DP_E_RUN, "%s is not a file", path);
    *size = rc == DP_OK ? (size_t)st.st_size : 0;
    if (rc == DP_OK)
        *text = dp_new(*size + 1, 1);
    while (rc == DP_OK && done < *size) {
        ssize_t got = read(fd, *text + done, *size - done);
        if (got == 0 || (got < 0 && errno != EINTR))
            rc = dp_fail_errno(err, got == 0 ? EIO : errno, "cannot read %s", path);
        done += got > 0 ? (size_t)got : 0;
    }
    if (fd >= 0)
        close(fd);
    return rc;
}

int dp_checkpoint_read(const char *directory, int64_t ordinal, int64_t lap, struct dp_state *state, char **text,
                       struct dp_err *err)
{
    char *path = name_of(directory, ordinal, lap);
    size_t size;
    struct dp_err why = {0};
    *text = NULL;
    int rc = read_whole(path, text, &size, err);
    if (rc == DP_OK && dp_state_decode(state, *text, size, &why) != DP_OK)
        rc = dp_fail(err, DP_E_RUN, "%s: %s", path, why.message);
    free(path);
    return rc;
}

int dp_checkpoint_complete(const char *directory, int64_t first, int64_t last, int64_t lap, struct dp_err *err)
{
    for (int64_t i = first; i <= last; i++) {
        char *path = name_of(directory, i, lap);
        int rc = DP_OK;
        if (access(path, R_OK) != 0)
            rc = dp_fail(err, DP_E_RUN, "stage %lld has not saved its state in %s: does its environment have " VARIABLE "?",
                         (long long)i, directory);
        free(path);
        if (rc != DP_OK)
            return rc;
    }
    return DP_OK;
}

int dp_checkpoint_shard(const char *directory, int shard, char **path, struct dp_err *err)
{
    *path = dp_format("%s/" SHARD "%d", directory, shard);
    return dp_checkpoint_own(*path, err);
}

/* Whether a file of that name belongs to the lap. */
static bool is_of(const char *name, int64_t lap)
{
    char end[40];
    size_t length = (size_t)snprintf(end, sizeof end, ".lap-%lld", (long long)lap), size = strlen(name);
    return size > length && strcmp(name + size - length, end) == 0;
}

static void clean_shard(const char *directory, const char *name, int64_t lap, int64_t other)
{
    char *path = dp_format("%s/%s", directory, name);
    dp_checkpoint_clean(path, lap, other);
    free(path);
}

void dp_checkpoint_clean(const char *directory, int64_t lap, int64_t other)
{
    const struct dirent *entry;
    DIR *dir = opendir(directory);
    if (dir == NULL)
        return;
    if (lap == 0) /* removed first: while this file exists, dp-loop resumes the run and needs the files of the stages */
        unlinkat(dirfd(dir), OWN, 0);
    while ((entry = readdir(dir)) != NULL) {
        const char *name = entry->d_name;
        bool stage = strncmp(name, STAGE, strlen(STAGE)) == 0;
        bool own = strcmp(name, OWN) == 0 || strcmp(name, OWN FRESH) == 0;
        bool kept = lap > 0 && (own || is_of(name, lap) || is_of(name, other));
        if (strncmp(name, SHARD, strlen(SHARD)) == 0)
            clean_shard(directory, name, lap, other);
        else if ((stage || own) && !kept)
            unlinkat(dirfd(dir), name, 0);
    }
    closedir(dir);
    if (lap == 0)
        rmdir(directory);
}
