/* Preloaded by tests/bats/filesystems.bats: a file system with fewer features. LESS names those that it lacks: "links" (as
 * vfat), "syncs" of directories (as some FUSE), "naming" of a file without a name (as overlays), "shared" maps (as 9p without
 * a cache), "locks" (as NFS without its daemon). */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool lacks(const char *feature, int why)
{
    const char *less = getenv("LESS");
    errno = why;
    return less != NULL && strstr(less, feature) != NULL;
}

#define NEXT(name) __extension__((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int link(const char *from, const char *to)
{
    return lacks("links", EPERM) ? -1 : NEXT(link)(from, to);
}

int linkat(int at, const char *from, int to_at, const char *to, int flags)
{
    return lacks("naming", EPERM) ? -1 : NEXT(linkat)(at, from, to_at, to, flags);
}

int fsync(int fd)
{
    struct stat st;
    bool directory = fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
    return directory && lacks("syncs", EINVAL) ? -1 : NEXT(fsync)(fd);
}

void *mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset)
{
    bool shared = fd >= 0 && (flags & MAP_SHARED) != 0;
    return shared && lacks("shared", ENODEV) ? MAP_FAILED : NEXT(mmap)(at, length, protection, flags, fd, offset);
}

int flock(int fd, int operation)
{
    return lacks("locks", ENOLCK) ? -1 : NEXT(flock)(fd, operation);
}
