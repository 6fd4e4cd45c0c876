#include "data/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/mem.h"

#define BUFFER ((size_t)1 << 18)
#define NULL_RECORD UINT32_MAX /* in place of the number of values */

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
    spool->file = NULL;
    spool->buffer = NULL;
}

int dp_spool_put(struct dp_spool *spool, const struct dp_parsed *r, struct dp_err *err)
{
    const uint32_t count = r->null ? NULL_RECORD : r->count;
    size_t n = r->null ? 0 : r->count;
    if (dp_interrupt_pending())
        return dp_fail(err, DP_E_RUN, "interrupted");
    if (fwrite(&r->label, sizeof r->label, 1, spool->file) != 1 || fwrite(&count, sizeof count, 1, spool->file) != 1 ||
        (n > 0 && (fwrite(r->column, sizeof *r->column, n, spool->file) != n ||
                   fwrite(r->value, sizeof *r->value, n, spool->file) != n)))
        return dp_fail_errno(err, errno, "cannot write a temporary file");
    spool->records++;
    return DP_OK;
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

int dp_spool_get(struct dp_spool *spool, struct dp_parsed *r, struct dp_err *err)
{
    uint32_t count;
    if (fread(&r->label, sizeof r->label, 1, spool->file) != 1)
        return feof(spool->file) ? 0 : dp_fail_errno(err, errno, "cannot read a temporary file");
    if (fread(&count, sizeof count, 1, spool->file) != 1)
        return dp_fail(err, DP_E_RUN, "a temporary file is cut short");
    r->null = count == NULL_RECORD;
    count = r->null ? 0 : count;
    int rc = reserve(r, count, err);
    if (rc != DP_OK)
        return rc;
    r->count = count;
    if (count > 0 && (fread(r->column, sizeof *r->column, count, spool->file) != count ||
                      fread(r->value, sizeof *r->value, count, spool->file) != count))
        return dp_fail(err, DP_E_RUN, "a temporary file is cut short");
    return 1;
}

int dp_parsed_add(struct dp_parsed *r, uint32_t column, double value, struct dp_err *err)
{
    if (value == 0)
        return DP_OK;
    int rc = reserve(r, r->count + 1, err);
    if (rc != DP_OK)
        return rc;
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
