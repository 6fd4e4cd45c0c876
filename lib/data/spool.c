#include "data/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/mem.h"

#define BUFFER ((size_t)1 << 18)

/* The part of a record after its head. Pixels are bytes: they take a twelfth of the space of pairs. */
enum kind { PAIRS, NOTHING, BYTES };

struct head {
    double label;
    uint32_t count; /* of pairs, or of bytes */
    uint32_t kind;
};

int dp_spool_open(struct dp_spool *spool, const char *beside, struct dp_err *err)
{
    char directory[4096];
    size_t end = strlen(beside);
    spool->records = 0;
    while (end > 0 && beside[end - 1] == '/')
        end--;
    while (end > 0 && beside[end - 1] != '/')
        end--;
    snprintf(directory, sizeof directory, "%.*s", (int)(end < 4000 ? end : 0), beside);
    int fd = open(end > 0 ? directory : ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    spool->file = fd >= 0 ? fdopen(fd, "w+b") : tmpfile();
    if (spool->file == NULL && fd >= 0)
        close(fd);
    if (spool->file == NULL)
        return dp_fail_errno(err, errno, "cannot create a temporary file");
    int rc = dp_alloc(&spool->buffer, BUFFER, 1, err);
    if (rc == DP_OK)
        setvbuf(spool->file, spool->buffer, _IOFBF, BUFFER);
    else
        dp_spool_close(spool);
    return rc;
}

void dp_spool_close(struct dp_spool *spool)
{
    if (spool->file != NULL)
        fclose(spool->file);
    free(spool->buffer);
    free(spool->bytes);
    spool->file = NULL;
    spool->buffer = NULL;
    spool->bytes = NULL;
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

static int make_bytes(struct dp_spool *spool, uint32_t count, struct dp_err *err)
{
    int rc = dp_grow(&spool->bytes, &spool->bytes_capacity, count, 1, err);
    if (rc == DP_OK)
        memset(spool->bytes, 0, count);
    return rc;
}

static bool put(struct dp_spool *spool, const void *data, size_t size)
{
    return size == 0 || fwrite(data, 1, size, spool->file) == size;
}

int dp_spool_put(struct dp_spool *spool, const struct dp_parsed *r, struct dp_err *err)
{
    struct head head = {r->label, r->null ? 0 : r->count, r->null ? NOTHING : are_bytes(r) ? BYTES : PAIRS};
    if (dp_interrupt_pending())
        return dp_fail(err, DP_E_RUN, "interrupted");
    if (head.kind == BYTES) {
        head.count = r->column[r->count - 1] + 1;
        int rc = make_bytes(spool, head.count, err);
        if (rc != DP_OK)
            return rc;
        for (uint32_t k = 0; k < r->count; k++)
            spool->bytes[r->column[k]] = (uint8_t)r->value[k];
    }
    bool good = put(spool, &head, sizeof head);
    if (head.kind == BYTES)
        good = good && put(spool, spool->bytes, head.count);
    else
        good = good && put(spool, r->column, head.count * sizeof *r->column) &&
               put(spool, r->value, head.count * sizeof *r->value);
    spool->records++;
    return good ? DP_OK : dp_fail_errno(err, errno, "cannot write a temporary file");
}

int dp_spool_rewind(struct dp_spool *spool, struct dp_err *err)
{
    if (fflush(spool->file) != 0 || fseek(spool->file, 0, SEEK_SET) != 0)
        return dp_fail_errno(err, errno, "cannot write a temporary file");
    return DP_OK;
}

int dp_spool_tell(const struct dp_spool *spool, size_t *place, struct dp_err *err)
{
    off_t at = ftello(spool->file);
    *place = at >= 0 ? (size_t)at : 0;
    return at >= 0 ? DP_OK : dp_fail_errno(err, errno, "cannot write a temporary file");
}

int dp_spool_go(struct dp_spool *spool, size_t place, struct dp_err *err)
{
    off_t at = ftello(spool->file);
    if (at >= 0 && (size_t)at == place) /* a seek would read the buffer again */
        return DP_OK;
    return fseeko(spool->file, (off_t)place, SEEK_SET) == 0 ? DP_OK : dp_fail_errno(err, errno, "cannot read a temporary file");
}

static int reserve(struct dp_parsed *r, uint32_t count, struct dp_err *err)
{
    if (count <= r->capacity)
        return DP_OK;
    uint32_t wanted = count < 64 ? 64 : 2 * count;
    uint32_t *column = reallocarray(r->column, wanted, sizeof *column);
    if (column != NULL)
        r->column = column;
    double *value = reallocarray(r->value, wanted, sizeof *value);
    if (value != NULL)
        r->value = value;
    if (column == NULL || value == NULL)
        return dp_fail(err, DP_E_RUN, "out of memory");
    r->capacity = wanted;
    return DP_OK;
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
    int rc = reserve(r, head.count, err);
    if (rc == DP_OK && head.kind == BYTES)
        rc = make_bytes(spool, head.count, err);
    if (rc != DP_OK)
        return rc;
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

int dp_parsed_add(struct dp_parsed *r, uint32_t column, double value, struct dp_err *err)
{
    if (value == 0)
        return DP_OK;
    if (r->count == r->capacity && reserve(r, r->count + 1, err) != DP_OK)
        return DP_E_RUN;
    r->column[r->count] = column;
    r->value[r->count++] = value;
    return DP_OK;
}

void dp_parsed_free(struct dp_parsed *r)
{
    free(r->column);
    free(r->value);
    *r = (struct dp_parsed){0};
}
