#include "base/sync.h"

#include <fcntl.h>
#include <libgen.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

int dp_sync_directory(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = fd >= 0 ? fsync(fd) : -1, why = errno;
    if (fd >= 0)
        close(fd);
    errno = why;
    return rc != 0 && fd >= 0 && (why == EINVAL || why == EOPNOTSUPP) ? 0 : rc;
}

int dp_sync_directory_of(const char *file)
{
    char *copy = dp_got(strdup(file));
    int rc = dp_sync_directory(dirname(copy)), why = errno;
    free(copy);
    errno = why;
    return rc;
}

bool dp_is_directory(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}
