#include "data/input.h"

#include <fcntl.h>
#include <lzma.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "data/sqlite.h"

#define MEMORY_MOST ((uint64_t)1 << 28) /* for the dictionary of an xz file; xz -9 needs 65 MB */

enum kind { KIND_PLAIN, KIND_GZIP, KIND_XZ, KIND_ZSTD };

struct dp_input {
    const char *name;
    int fd;
    enum kind kind;
    bool known;          /* kind is known */
    bool at_end, inside; /* the input is at the end of the file; it is inside a compressed stream */
    int (*wait)(void *self, struct dp_err *err);
    void *wait_self;
    z_stream gzip;
    lzma_stream xz;
    ZSTD_DStream *zstd;
    struct dp_sqlite *query; /* read instead of fd; NULL: none */
    struct dp_hash hash;     /* hash of the decompressed bytes */
    size_t at, end;          /* the unused bytes in raw */
    uint64_t taken, size;    /* bytes read, and of the file; 0: not known */
    unsigned char raw[1 << 17];
};

struct magic {
    const char *bytes;
    size_t length;
    const char *what;
};

/* First bytes of formats that are refused, so that they are not read as a table. */
static const struct magic refused[] = {
    {"PK\x03\x04", 4, "is a zip archive or a workbook: unpack it, or save it as CSV"},
    {"\xd0\xcf\x11\xe0", 4, "is a workbook of Excel: save it as CSV"},
    {"BZh91AY&SY", 10, "is compressed by bzip2: unpack it first"},
    {"7z\xbc\xaf\x27\x1c", 6, "is a 7z archive: unpack it first"},
    {"Rar!\x1a\x07", 6, "is a rar archive: unpack it first"},
    {"\x04\x22\x4d\x18", 4, "is compressed by lz4: unpack it first"},
    {"LZIP\x01", 5, "is compressed by lzip: unpack it first"},
    {"\x1f\x9d", 2, "is compressed by compress: unpack it first"},
    {"PAR1\x15", 5, "is a Parquet file: save it as CSV (duckdb -c \"COPY 'FILE.parquet' TO 'FILE.csv'\", or pandas)"},
    {"ARROW1\0", 8, "is an Arrow file: save it as CSV (pandas.read_feather('FILE').to_csv('FILE.csv', index=False))"},
    {"SQLite format 3", 16, "is an SQLite database: dp-import sqlite FILE --sql 'SELECT ...' reads it"},
    {"\x89HDF", 4, "is an HDF5 file: save it as CSV"},
};

/* Calls the callback when the input has no bytes yet. Then waits for some, and looks from time to time whether a signal came,
 * because it may have come to another thread. */
static int before_wait(struct dp_input *in, struct dp_err *err)
{
    struct pollfd item = {in->fd, POLLIN, 0};
    bool none = poll(&item, 1, 0) == 0;
    int rc = none && in->wait != NULL ? in->wait(in->wait_self, err) : DP_OK;
    for (int ready = !none; rc == DP_OK && (ready == 0 || (ready < 0 && errno == EINTR)); ready = poll(&item, 1, 200))
        if (dp_interrupt_pending())
            rc = dp_fail(err, DP_E_RUN, "interrupted");
    return rc;
}

/* Reads more bytes into raw, which has room. */
static int fill(struct dp_input *in, struct dp_err *err)
{
    if (in->at == in->end)
        in->at = in->end = 0;
    while (!in->at_end && in->end < sizeof in->raw) {
        if (dp_interrupt_pending())
            return dp_fail(err, DP_E_RUN, "interrupted");
        int rc = before_wait(in, err);
        if (rc != DP_OK)
            return rc;
        ssize_t got = read(in->fd, in->raw + in->end, sizeof in->raw - in->end);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return dp_fail_errno(err, errno, "cannot read %s", in->name);
        in->at_end = got == 0;
        in->end += (size_t)got;
        in->taken += (uint64_t)got;
        dp_progress_bytes(in->taken, in->size);
        if (in->known || in->end >= 16) /* enough to recognise the format */
            break;
    }
    return DP_OK;
}

static bool begins(const struct dp_input *in, const char *bytes, size_t length)
{
    return in->end - in->at >= length && memcmp(in->raw + in->at, bytes, length) == 0;
}

static int start(struct dp_input *in, struct dp_err *err)
{
    bool good = true;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (begins(in, refused[i].bytes, refused[i].length))
            return dp_fail(err, DP_E_RUN, "%s %s", in->name, refused[i].what);
    if (begins(in, "\x1f\x8b", 2)) {
        in->kind = KIND_GZIP;
        good = inflateInit2(&in->gzip, 15 + 16) == Z_OK;
    } else if (begins(in,
                      "\xfd"
                      "7zXZ\0",
                      6)) {
        in->kind = KIND_XZ;
        good = lzma_stream_decoder(&in->xz, MEMORY_MOST, LZMA_CONCATENATED) == LZMA_OK;
    } else if (begins(in, "\x28\xb5\x2f\xfd", 4)) {
        in->kind = KIND_ZSTD;
        good = (in->zstd = ZSTD_createDStream()) != NULL;
    }
    in->known = true;
    if (!good)
        dp_mem_out(0, 0);
    return DP_OK;
}

void dp_input_before_wait(struct dp_input *in, int (*wait)(void *self, struct dp_err *err), void *self)
{
    in->wait = wait;
    in->wait_self = self;
}

int dp_input_open(struct dp_input **input, const char *path, struct dp_err *err)
{
    struct stat st;
    struct dp_input *in = dp_new(1, sizeof *in);
    int rc = DP_OK;
    bool standard = strcmp(path, "-") == 0;
    in->xz = (lzma_stream)LZMA_STREAM_INIT;
    dp_hash_start(&in->hash, NULL, 0, DP_INPUT_DIGEST);
    in->name = standard ? "standard input" : path;
    in->fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (in->fd < 0)
        rc = dp_fail_errno(err, errno, "cannot open %s", in->name);
    else if (fstat(in->fd, &st) == 0 && S_ISDIR(st.st_mode))
        rc = dp_fail(err, DP_E_RUN, "%s is a directory", in->name);
    in->size = rc == DP_OK && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
    rc = rc ?: fill(in, err);
    rc = rc ?: start(in, err);
    if (rc != DP_OK) {
        dp_input_close(in);
        return rc;
    }
    *input = in;
    return DP_OK;
}

int dp_input_open_query(struct dp_input **input, const char *path, const char *sql, struct dp_err *err)
{
    struct dp_input *in = dp_new(1, sizeof *in);
    in->xz = (lzma_stream)LZMA_STREAM_INIT;
    dp_hash_start(&in->hash, NULL, 0, DP_INPUT_DIGEST);
    in->name = path;
    in->fd = -1;
    int rc = dp_sqlite_open(&in->query, path, sql, err);
    if (rc == DP_OK)
        *input = in;
    else
        dp_input_close(in);
    return rc;
}

void dp_input_close(struct dp_input *in)
{
    if (in == NULL)
        return;
    dp_progress_over();
    if (in->kind == KIND_GZIP)
        inflateEnd(&in->gzip);
    lzma_end(&in->xz);
    ZSTD_freeDStream(in->zstd);
    dp_sqlite_close(in->query);
    if (in->fd > STDERR_FILENO)
        close(in->fd);
    free(in);
}

int dp_input_file(const struct dp_input *in, uint64_t *size, int64_t *modified, struct dp_err *err)
{
    struct stat st;
    if (in->kind != KIND_PLAIN || in->query != NULL || fstat(in->fd, &st) != 0 || !S_ISREG(st.st_mode))
        return dp_fail(err, DP_E_USAGE, "%s: only a file that is not compressed can be imported in parts", in->name);
    *size = (uint64_t)st.st_size;
    *modified = (int64_t)st.st_mtime;
    return DP_OK;
}

uint64_t dp_input_at(const struct dp_input *in)
{
    return in->taken - (in->end - in->at);
}

int dp_input_go(struct dp_input *in, uint64_t offset, struct dp_err *err)
{
    if (lseek(in->fd, (off_t)offset, SEEK_SET) < 0)
        return dp_fail_errno(err, errno, "cannot read %s", in->name);
    in->at = in->end = 0;
    in->taken = offset;
    in->at_end = false;
    return DP_OK;
}

const char *dp_input_name(const struct dp_input *in)
{
    return in->name;
}

static int damaged(const struct dp_input *in, const char *format, const char *why, struct dp_err *err)
{
    return dp_fail(err, DP_E_RUN, "%s is damaged, or no %s file: %s", in->name, format, why);
}

/* Each of these functions consumes bytes of raw and writes the output that it has, perhaps nothing. */

static int gunzip(struct dp_input *in, void *bytes, size_t size, size_t *got, struct dp_err *err)
{
    z_stream *z = &in->gzip;
    z->next_in = in->raw + in->at;
    z->avail_in = (uInt)(in->end - in->at);
    z->next_out = bytes;
    z->avail_out = (uInt)size;
    int rc = inflate(z, Z_NO_FLUSH);
    in->at = in->end - z->avail_in;
    *got = size - z->avail_out;
    in->inside = rc != Z_STREAM_END;
    if (rc == Z_STREAM_END)
        return inflateReset(z) == Z_OK ? DP_OK : damaged(in, "gzip", "its state is lost", err);
    if (rc == Z_MEM_ERROR)
        dp_mem_out(0, 0);
    return rc == Z_OK || rc == Z_BUF_ERROR ? DP_OK
                                           : damaged(in, "gzip", z->msg != NULL ? z->msg : "its data make no sense", err);
}

static int unxz(struct dp_input *in, void *bytes, size_t size, size_t *got, struct dp_err *err)
{
    lzma_stream *x = &in->xz;
    x->next_in = in->raw + in->at;
    x->avail_in = in->end - in->at;
    x->next_out = bytes;
    x->avail_out = size;
    lzma_ret rc = lzma_code(x, in->at_end ? LZMA_FINISH : LZMA_RUN);
    in->at = in->end - x->avail_in;
    *got = size - x->avail_out;
    in->inside = rc != LZMA_STREAM_END;
    if (rc == LZMA_MEM_ERROR)
        dp_mem_out(0, 0);
    if (rc == LZMA_MEMLIMIT_ERROR)
        return damaged(in, "xz", "it asks for more than 256 MB of memory", err);
    return rc == LZMA_OK || rc == LZMA_STREAM_END || rc == LZMA_BUF_ERROR ? DP_OK
                                                                          : damaged(in, "xz", "its data make no sense", err);
}

static int unzstd(struct dp_input *in, void *bytes, size_t size, size_t *got, struct dp_err *err)
{
    ZSTD_inBuffer from = {in->raw + in->at, in->end - in->at, 0};
    ZSTD_outBuffer to = {bytes, size, 0};
    size_t rc = ZSTD_decompressStream(in->zstd, &to, &from);
    in->at += from.pos;
    *got = to.pos;
    in->inside = rc != 0;
    return ZSTD_isError(rc) ? damaged(in, "zstd", ZSTD_getErrorName(rc), err) : DP_OK;
}

static int read_some(struct dp_input *in, void *bytes, size_t size, size_t *got, struct dp_err *err)
{
    static int (*const decoders[])(struct dp_input *, void *, size_t, size_t *,
                                   struct dp_err *) = {[KIND_GZIP] = gunzip, [KIND_XZ] = unxz, [KIND_ZSTD] = unzstd};
    size_t most = (size_t)1 << 30;
    int rc = DP_OK;
    *got = 0;
    if (size > most)
        size = most;
    while (rc == DP_OK && *got == 0) {
        if (in->at == in->end && !in->at_end)
            rc = fill(in, err);
        bool last = in->at == in->end && in->at_end;
        if (rc != DP_OK || (last && (in->kind == KIND_PLAIN || !in->inside)))
            break;
        if (in->kind == KIND_PLAIN) {
            *got = in->end - in->at < size ? in->end - in->at : size;
            memcpy(bytes, in->raw + in->at, *got);
            in->at += *got;
            break;
        }
        rc = decoders[in->kind](in, bytes, size, got, err);
        if (rc == DP_OK && last && *got == 0 && in->inside)
            return dp_fail(err, DP_E_RUN, "%s ends in the middle of its compressed data", in->name);
    }
    return rc;
}

int dp_input_read(struct dp_input *in, void *bytes, size_t size, size_t *got, struct dp_err *err)
{
    int rc = in->query != NULL ? dp_sqlite_read(in->query, bytes, size, got, err) : read_some(in, bytes, size, got, err);
    if (rc == DP_OK)
        dp_hash_add(&in->hash, bytes, *got);
    return rc;
}

void dp_input_digest(struct dp_input *in, unsigned char digest[DP_INPUT_DIGEST])
{
    dp_hash_end(&in->hash, digest, DP_INPUT_DIGEST);
}
