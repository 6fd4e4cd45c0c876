#include "data/spool.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/mem.h"

#define BUFFER ((size_t)1 << 18)
#define PAGE ((size_t)4096) /* a read behind a seek fills the buffer, mostly with records that are not next */

/* The part of a record after its head. Pixels are bytes: they take a twelfth of the space of pairs. */
enum kind { PAIRS, NOTHING, BYTES };

struct head {
    double label;
    uint32_t count; /* of pairs, or of bytes */
    uint32_t kind;
};

int dp_spool_open(struct dp_spool *spool, const char *beside, bool scattered, struct dp_err *err)
{
    size_t end = strlen(beside);
    spool->records = 0;
    while (end > 0 && beside[end - 1] == '/')
        end--;
    while (end > 0 && beside[end - 1] != '/')
        end--;
    snprintf(spool->where, sizeof spool->where, "%.*s", end > 0 && end < 4000 ? (int)end : 1, end > 0 ? beside : ".");
    int fd = open(spool->where, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    spool->file = fd >= 0 ? fdopen(fd, "w+b") : tmpfile();
    if (fd < 0)
        snprintf(spool->where, sizeof spool->where, "%s", P_tmpdir);
    if (spool->file == NULL && fd >= 0)
        close(fd);
    if (spool->file == NULL)
        return dp_fail_errno(err, errno, "cannot create a temporary file in %s", spool->where);
    const size_t size = scattered ? PAGE : BUFFER;
    spool->buffer = dp_new(size, 1);
    setvbuf(spool->file, spool->buffer, _IOFBF, size);
    return DP_OK;
}

void dp_spool_close(struct dp_spool *spool)
{
    if (spool->file != NULL)
        fclose(spool->file);
    free(spool->buffer);
    free(spool->one.bytes);
    free(spool->bytes);
    spool->file = NULL;
    spool->buffer = NULL;
    spool->bytes = NULL;
    spool->one = (struct dp_encoded){0};
}

/* Whether all values are bytes, and a byte for each column up to the last value takes less space than pairs. */
static bool are_bytes(const struct dp_parsed *r)
{
    bool good = r->count > 0 && r->column[r->count - 1] / sizeof(uint64_t) < r->count;
    for (uint32_t k = 0; good && k < r->count; k++)
        good = r->value[k] >= 0 && r->value[k] <= 255 && r->value[k] == (double)(uint8_t)r->value[k] &&
               (k == 0 || r->column[k] > r->column[k - 1]);
    return good;
}

static void make_bytes(struct dp_spool *spool, uint32_t count)
{
    dp_extend(&spool->bytes, &spool->bytes_capacity, count, 1);
    memset(spool->bytes, 0, count);
}

void dp_spool_encode(struct dp_encoded *to, const struct dp_parsed *r)
{
    struct head head = {r->label, r->null ? 0 : r->count, r->null ? NOTHING : are_bytes(r) ? BYTES : PAIRS};
    if (head.kind == BYTES)
        head.count = r->column[r->count - 1] + 1;
    size_t columns = head.count * sizeof *r->column, values = head.count * sizeof *r->value;
    size_t size = head.kind == BYTES ? head.count : columns + values;
    dp_extend(&to->bytes, &to->capacity, to->used + sizeof head + size, 1);
    char *at = to->bytes + to->used;
    memcpy(at, &head, sizeof head);
    at += sizeof head;
    if (head.kind == BYTES) {
        memset(at, 0, head.count);
        for (uint32_t k = 0; k < r->count; k++)
            at[r->column[k]] = (char)(uint8_t)r->value[k];
    } else if (head.count > 0) {
        memcpy(at, r->column, columns);
        memcpy(at + columns, r->value, values);
    }
    to->used += sizeof head + size;
    to->records++;
}

int dp_spool_append(struct dp_spool *spool, struct dp_encoded *from, struct dp_err *err)
{
    if (dp_interrupt_pending())
        return dp_fail(err, DP_E_RUN, "interrupted");
    if (from->used > 0 && fwrite(from->bytes, 1, from->used, spool->file) != from->used)
        return dp_fail_errno(err, errno, "cannot write a temporary file in %s", spool->where);
    spool->records += from->records;
    from->used = from->records = 0;
    return DP_OK;
}

int dp_spool_put(struct dp_spool *spool, const struct dp_parsed *r, struct dp_err *err)
{
    dp_spool_encode(&spool->one, r);
    return dp_spool_append(spool, &spool->one, err);
}

int dp_spool_rewind(struct dp_spool *spool, struct dp_err *err)
{
    if (fflush(spool->file) != 0 || fseek(spool->file, 0, SEEK_SET) != 0)
        return dp_fail_errno(err, errno, "cannot write a temporary file in %s", spool->where);
    return DP_OK;
}

int dp_spool_tell(const struct dp_spool *spool, size_t *place, struct dp_err *err)
{
    off_t at = ftello(spool->file);
    *place = at >= 0 ? (size_t)at : 0;
    return at >= 0 ? DP_OK : dp_fail_errno(err, errno, "cannot write a temporary file in %s", spool->where);
}

int dp_spool_go(struct dp_spool *spool, size_t place, struct dp_err *err)
{
    off_t at = ftello(spool->file);
    if (at >= 0 && (size_t)at == place) /* a seek would read the buffer again */
        return DP_OK;
    return fseeko(spool->file, (off_t)place, SEEK_SET) == 0 ? DP_OK : dp_fail_errno(err, errno, "cannot read a temporary file");
}

void dp_parsed_reserve(struct dp_parsed *r, uint32_t count)
{
    if (count <= r->capacity)
        return;
    uint32_t wanted = count < 64 ? 64 : 2 * count;
    r->column = dp_got(reallocarray(r->column, wanted, sizeof *r->column));
    r->value = dp_got(reallocarray(r->value, wanted, sizeof *r->value));
    r->capacity = wanted;
}

static bool get(struct dp_spool *spool, void *data, size_t size)
{
    return size == 0 || fread(data, 1, size, spool->file) == size;
}

int dp_spool_get(struct dp_spool *spool, struct dp_parsed *r, struct dp_err *err)
{
    struct head head;
    if (!get(spool, &head, sizeof head))
        return feof(spool->file) ? 0 : dp_fail_errno(err, errno, "cannot read a temporary file");
    r->label = head.label;
    r->null = head.kind == NOTHING;
    r->count = 0;
    dp_parsed_reserve(r, head.count);
    if (head.kind == BYTES)
        make_bytes(spool, head.count);
    bool good = head.kind == BYTES ? get(spool, spool->bytes, head.count)
                                   : get(spool, r->column, head.count * sizeof *r->column) &&
                                         get(spool, r->value, head.count * sizeof *r->value);
    for (uint32_t j = 0; good && head.kind == BYTES && j < head.count; j++)
        if (spool->bytes[j] != 0) {
            r->column[r->count] = j;
            r->value[r->count++] = spool->bytes[j];
        }
    r->count = head.kind == BYTES ? r->count : head.count;
    return good ? 1 : dp_fail(err, DP_E_RUN, "a temporary file is cut short");
}

void dp_parsed_free(struct dp_parsed *r)
{
    free(r->column);
    free(r->value);
    *r = (struct dp_parsed){0};
}
