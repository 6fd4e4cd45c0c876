#include "data/zip.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/interrupt.h"
#include "base/mem.h"
#include "base/text.h"

#define RAW ((size_t)1 << 16)
#define END 22        /* bytes of the record at the end, without its comment */
#define COMMENT 65535 /* the longest comment */
#define LOCATOR 20    /* bytes of the zip64 locator, before that record */
#define END64 56      /* bytes of the zip64 record that it points to */
#define ENTRY 46      /* bytes of an entry, without its name, extra fields and comment */
#define LOCAL 30      /* bytes of a local header, likewise */
#define MOST_LIST ((uint64_t)1 << 30)
#define INFLATION 1032 /* the most bytes that one byte of deflate becomes */
enum { STORED = 0, DEFLATED = 8, ENCRYPTED = 1 };

struct dp_zip {
    const char *path;
    int fd;
    uint64_t size;
    unsigned char *list; /* the central directory */
    size_t list_size, count;
    struct dp_zip_member *member;
    /* The member that is read: */
    const struct dp_zip_member *now;
    uint64_t at, left, out; /* next byte in the file, packed bytes left, bytes returned so far */
    uLong crc;
    bool started, ended; /* inflate */
    z_stream z;
    unsigned char raw[RAW];
};

static uint64_t number(const unsigned char *p, int bytes)
{
    uint64_t value = 0;
    while (bytes-- > 0)
        value = value << 8 | p[bytes];
    return value;
}

static int damaged(const struct dp_zip *z, const char *why, struct dp_err *err)
{
    return dp_fail(err, DP_E_RUN, "%s is damaged, or no zip archive: %s", z->path, why);
}

static int bad_member(const struct dp_zip *z, const struct dp_zip_member *m, const char *why, struct dp_err *err)
{
    char shown[DP_TEXT_SHOWN];
    return dp_fail(err, DP_E_RUN, "%s: '%s' %s", z->path, dp_text_show(m->name, m->name_length, shown), why);
}

/* Reads exactly size bytes at a place. */
static int read_at(const struct dp_zip *z, uint64_t at, void *bytes, size_t size, struct dp_err *err)
{
    if (at > z->size || size > z->size - at)
        return damaged(z, "it points beyond its end", err);
    for (size_t had = 0; had < size;) {
        ssize_t got = pread(z->fd, (char *)bytes + had, size - had, (off_t)(at + had));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return dp_fail_errno(err, errno, "cannot read %s", z->path);
        if (got == 0)
            return damaged(z, "it is cut short", err);
        had += (size_t)got;
    }
    return DP_OK;
}

/* Finds the central directory: its place, its size and the number of entries. */
static int find_list(const struct dp_zip *z, uint64_t place[3], struct dp_err *err)
{
    unsigned char tail[END + COMMENT], record[END64];
    size_t length = z->size < sizeof tail ? (size_t)z->size : sizeof tail, end = length;
    int rc = read_at(z, z->size - length, tail, length, err);
    if (rc != DP_OK)
        return rc;
    for (size_t i = END; i <= length && end == length; i++)
        if (memcmp(tail + length - i, "PK\5\6", 4) == 0 && number(tail + length - i + 20, 2) <= i - END)
            end = length - i;
    if (end == length)
        return damaged(z, "it has no list of its members at its end", err);
    place[0] = number(tail + end + 16, 4);
    place[1] = number(tail + end + 12, 4);
    place[2] = number(tail + end + 10, 2);
    uint64_t at = z->size - length + end;
    if (at < LOCATOR || read_at(z, at - LOCATOR, record, LOCATOR, err) != DP_OK || memcmp(record, "PK\6\7", 4) != 0)
        return DP_OK;
    rc = read_at(z, number(record + 8, 8), record, END64, err);
    if (rc == DP_OK && memcmp(record, "PK\6\6", 4) != 0)
        rc = damaged(z, "its zip64 record is not where it should be", err);
    place[0] = number(record + 48, 8);
    place[1] = number(record + 40, 8);
    place[2] = number(record + 32, 8);
    return rc;
}

/* Takes sizes and place from the zip64 field where the entry itself has no room for them. */
static void take_wide(struct dp_zip_member *m, const unsigned char *extra, size_t length)
{
    while (length >= 4) {
        size_t size = (size_t)number(extra + 2, 2), at = 4;
        if (size > length - 4)
            return;
        uint64_t *const wide[] = {&m->size, &m->packed, &m->at};
        for (size_t k = 0; number(extra, 2) == 1 && k < 3; k++)
            if (*wide[k] == UINT32_MAX && at + 8 <= size + 4) {
                *wide[k] = number(extra + at, 8);
                at += 8;
            }
        extra += 4 + size;
        length -= 4 + size;
    }
}

static int read_entries(struct dp_zip *z, struct dp_err *err)
{
    size_t at = 0;
    for (size_t i = 0; i < z->count; i++) {
        const unsigned char *p = z->list + at;
        if (z->list_size - at < ENTRY || memcmp(p, "PK\1\2", 4) != 0)
            return damaged(z, "its list of members is cut short", err);
        size_t name = (size_t)number(p + 28, 2), extra = (size_t)number(p + 30, 2), comment = (size_t)number(p + 32, 2);
        if (z->list_size - at - ENTRY < name + extra + comment)
            return damaged(z, "its list of members is cut short", err);
        z->member[i] = (struct dp_zip_member){.name = (const char *)p + ENTRY,
                                              .name_length = name,
                                              .size = number(p + 24, 4),
                                              .packed = number(p + 20, 4),
                                              .at = number(p + 42, 4),
                                              .crc = (uint32_t)number(p + 16, 4),
                                              .method = (unsigned)number(p + 10, 2),
                                              .flags = (unsigned)number(p + 8, 2)};
        take_wide(&z->member[i], p + ENTRY + name, extra);
        at += ENTRY + name + extra + comment;
    }
    return DP_OK;
}

bool dp_zip_is(const char *path)
{
    char head[4];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is = fd >= 0 && pread(fd, head, 4, 0) == 4 && (memcmp(head, "PK\3\4", 4) == 0 || memcmp(head, "PK\5\6", 4) == 0);
    if (fd >= 0)
        close(fd);
    return is;
}

int dp_zip_open(struct dp_zip **zip, const char *path, struct dp_err *err)
{
    struct stat st;
    uint64_t place[3];
    struct dp_zip *z = dp_new(1, sizeof *z);
    int rc = DP_OK;
    z->path = path;
    z->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (z->fd < 0 || fstat(z->fd, &st) != 0)
        rc = dp_fail_errno(err, errno, "cannot open %s", path);
    else if (!S_ISREG(st.st_mode))
        rc = dp_fail(err, DP_E_RUN, "%s is not a file: a zip archive cannot come from a pipe", path);
    z->size = rc == DP_OK ? (uint64_t)st.st_size : 0;
    rc = rc ?: find_list(z, place, err);
    if (rc == DP_OK && (place[1] > MOST_LIST || place[2] > place[1] / ENTRY))
        rc = damaged(z, "its list of members is cut short", err);
    if (rc == DP_OK) {
        z->list_size = (size_t)place[1];
        z->count = (size_t)place[2];
        if (place[0] > z->size || z->list_size > z->size - place[0])
            rc = damaged(z, "it points beyond its end", err);
    }
    if (rc == DP_OK) {
        z->list = dp_new(z->list_size + 1, 1);
        z->member = dp_new(z->count + 1, sizeof *z->member);
    }
    rc = rc ?: read_at(z, place[0], z->list, z->list_size, err);
    rc = rc ?: read_entries(z, err);
    if (rc != DP_OK) {
        dp_zip_close(z);
        return rc;
    }
    *zip = z;
    return DP_OK;
}

static void end_member(struct dp_zip *z)
{
    if (z->started)
        inflateEnd(&z->z);
    z->started = false;
    z->now = NULL;
}

void dp_zip_close(struct dp_zip *z)
{
    if (z == NULL)
        return;
    end_member(z);
    if (z->fd >= 0)
        close(z->fd);
    free(z->member);
    free(z->list);
    free(z);
}

const struct dp_zip_member *dp_zip_members(const struct dp_zip *z, size_t *count)
{
    *count = z->count;
    return z->member;
}

int dp_zip_begin(struct dp_zip *z, const struct dp_zip_member *m, struct dp_err *err)
{
    unsigned char local[LOCAL];
    end_member(z);
    if (m->flags & ENCRYPTED)
        return bad_member(z, m, "is encrypted", err);
    if (m->method != STORED && m->method != DEFLATED)
        return bad_member(z, m, "is compressed by a method other than deflate", err);
    if ((m->method == STORED && m->size != m->packed) || (m->method == DEFLATED && m->size / INFLATION > m->packed))
        return bad_member(z, m, "has another size than the archive says", err);
    int rc = read_at(z, m->at, local, LOCAL, err);
    if (rc == DP_OK && memcmp(local, "PK\3\4", 4) != 0)
        rc = bad_member(z, m, "is not where the archive says", err);
    if (rc != DP_OK)
        return rc;
    z->at = m->at + LOCAL + number(local + 26, 2) + number(local + 28, 2);
    z->left = m->packed;
    if (z->at > z->size || z->left > z->size - z->at)
        return bad_member(z, m, "is cut short", err);
    z->out = 0;
    z->crc = crc32(0, NULL, 0);
    z->ended = false;
    z->z = (z_stream){0};
    if (m->method == DEFLATED && inflateInit2(&z->z, -15) != Z_OK)
        dp_mem_out(0, 0);
    z->started = m->method == DEFLATED;
    z->now = m;
    return DP_OK;
}

static int read_stored(struct dp_zip *z, void *bytes, size_t size, size_t *got, struct dp_err *err)
{
    *got = z->left < size ? (size_t)z->left : size;
    int rc = read_at(z, z->at, bytes, *got, err);
    z->at += *got;
    z->left -= *got;
    return rc;
}

static int read_deflated(struct dp_zip *z, void *bytes, size_t size, size_t *got, struct dp_err *err)
{
    const struct dp_zip_member *m = z->now;
    z->z.next_out = bytes;
    z->z.avail_out = (uInt)size;
    while (!z->ended && z->z.avail_out == size) {
        if (z->z.avail_in == 0 && z->left > 0) {
            size_t take = z->left < RAW ? (size_t)z->left : RAW;
            int rc = read_at(z, z->at, z->raw, take, err);
            if (rc != DP_OK)
                return rc;
            z->at += take;
            z->left -= take;
            z->z.next_in = z->raw;
            z->z.avail_in = (uInt)take;
        }
        bool starved = z->z.avail_in == 0;
        int rc = inflate(&z->z, Z_NO_FLUSH);
        z->ended = rc == Z_STREAM_END;
        if (rc == Z_MEM_ERROR)
            dp_mem_out(0, 0);
        if ((rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR) || (starved && !z->ended && z->z.avail_out == size))
            return bad_member(z, m, "is damaged: its compressed data make no sense", err);
    }
    *got = size - z->z.avail_out;
    return DP_OK;
}

int dp_zip_read(struct dp_zip *z, void *bytes, size_t size, size_t *got, struct dp_err *err)
{
    const struct dp_zip_member *m = z->now;
    unsigned char more;
    size_t extra = 0;
    *got = 0;
    if (dp_interrupt_pending())
        return dp_fail(err, DP_E_RUN, "interrupted");
    uint64_t wanted = m->size - z->out;
    size = size < wanted ? size : (size_t)wanted;
    size = size < (1u << 30) ? size : 1u << 30;
    int (*const from)(struct dp_zip *, void *, size_t, size_t *, struct dp_err *) =
        m->method == DEFLATED ? read_deflated : read_stored;
    int rc = size > 0 ? from(z, bytes, size, got, err) : DP_OK;
    if (rc != DP_OK)
        return rc;
    if (size > 0 && *got == 0)
        return bad_member(z, m, "has another size than the archive says", err);
    z->crc = crc32(z->crc, bytes, (uInt)*got);
    z->out += *got;
    if (z->out < m->size || *got > 0)
        return DP_OK;
    if (m->method == DEFLATED && !z->ended)
        rc = read_deflated(z, &more, 1, &extra, err);
    if (rc == DP_OK && (extra > 0 || z->left > 0 || (m->method == DEFLATED && !z->ended)))
        rc = bad_member(z, m, "has another size than the archive says", err);
    if (rc == DP_OK && z->crc != m->crc)
        rc = bad_member(z, m, "is damaged: its checksum is wrong", err);
    return rc;
}
