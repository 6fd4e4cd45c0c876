#include "base/mapped.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

/* The handler walks the list while other threads may change it. Nodes are therefore never freed, only used again; `begin` is
 * set last and cleared first. */
struct dp_mapped {
    _Atomic uintptr_t begin; /* 0: nothing is mapped */
    size_t size, shares;     /* shares: the number of opens without a close, under the lock */
    int fd;
    dev_t device;
    ino_t inode;
    struct timespec modified;
    atomic_bool used;
    struct dp_mapped *next;
    char path[400];
};

static struct dp_mapped *_Atomic first;
static struct dp_mapped *_Atomic lost; /* its node is never used again, because dp_mapped_check prints its name */
static struct sigaction before;
static uintptr_t page_size = 4096;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held while a file is opened or closed */

/* Whether it is the same, unchanged file as when it was mapped. The file is open, so no other file can have its inode. */
static bool same(const struct dp_mapped *m, const struct stat *st)
{
    return atomic_load(&m->begin) != 0 && m->device == st->st_dev && m->inode == st->st_ino && m->size == (size_t)st->st_size &&
           m->modified.tv_sec == st->st_mtim.tv_sec && m->modified.tv_nsec == st->st_mtim.tv_nsec;
}

/* The existing mapping of the file, with one more share; NULL if there is no mapping. */
static struct dp_mapped *share(const struct stat *st)
{
    struct dp_mapped *m = atomic_load(&first);
    while (m != NULL && !same(m, st))
        m = m->next;
    if (m == NULL)
        return NULL;
    m->shares++;
    return m;
}

static struct dp_mapped *take_node(void)
{
    for (struct dp_mapped *m = atomic_load(&first); m != NULL; m = m->next)
        if (!atomic_exchange(&m->used, true))
            return m;
    struct dp_mapped *m = dp_new(1, sizeof *m);
    atomic_store(&m->used, true);
    m->next = atomic_load(&first);
    while (!atomic_compare_exchange_weak(&first, &m->next, m))
        ;
    return m;
}

/* Keeps the end of a long path, which says more than its beginning. UTF-8 is not cut within a character. */
static void keep_path(char *kept, size_t size, const char *path)
{
    size_t length = strlen(path);
    if (length < size) {
        memcpy(kept, path, length + 1);
        return;
    }
    const char *from = path + length - (size - 4);
    while (((unsigned char)*from & 0xc0) == 0x80)
        from++;
    memcpy(kept, "…", 3);
    memcpy(kept + 3, from, (size_t)(path + length - from) + 1);
}

/* Maps the open file, or fails and leaves it open. */
static int map(struct dp_mapped **file, int fd, const struct stat *st, const char *path, struct dp_err *err)
{
    void *bytes = mmap(NULL, (size_t)st->st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return dp_fail_errno(err, errno, "cannot map %s", path);
    struct dp_mapped *m = take_node();
    keep_path(m->path, sizeof m->path, path);
    m->size = (size_t)st->st_size;
    m->shares = 1;
    m->fd = fd;
    m->device = st->st_dev;
    m->inode = st->st_ino;
    m->modified = st->st_mtim;
    atomic_store(&m->begin, (uintptr_t)bytes);
    *file = m;
    return DP_OK;
}

int dp_mapped_open(struct dp_mapped **file, int at, const char *name, const char *path, struct dp_err *err)
{
    struct stat st;
    /* O_NONBLOCK: so that the code below refuses a pipe of that name, instead of waiting for its writer here. */
    int fd = openat(at, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return dp_fail_errno(err, errno, "cannot open %s", path);
    struct dp_mapped *shared = NULL;
    int rc = DP_OK;
    pthread_mutex_lock(&lock);
    if (fstat(fd, &st) != 0)
        rc = dp_fail_errno(err, errno, "cannot read %s", path);
    else if (!S_ISREG(st.st_mode))
        rc = dp_fail(err, DP_E_RUN, "%s is not a file", path);
    else if (st.st_size == 0)
        rc = dp_fail(err, DP_E_RUN, "%s is empty", path);
    else if ((shared = share(&st)) == NULL)
        rc = map(file, fd, &st, path, err);
    pthread_mutex_unlock(&lock);
    if (shared != NULL)
        *file = shared;
    if (rc != DP_OK || shared != NULL)
        close(fd);
    return rc;
}

static void unmap(struct dp_mapped *file)
{
    void *bytes = (void *)atomic_exchange(&file->begin, (uintptr_t)0);
    munmap(bytes, file->size);
    close(file->fd);
    if (file != atomic_load(&lost))
        atomic_store(&file->used, false);
}

void dp_mapped_close(struct dp_mapped *file)
{
    if (file == NULL)
        return;
    pthread_mutex_lock(&lock);
    if (--file->shares == 0)
        unmap(file);
    pthread_mutex_unlock(&lock);
}

const void *dp_mapped_bytes(const struct dp_mapped *file)
{
    return (const void *)atomic_load(&file->begin);
}

size_t dp_mapped_size(const struct dp_mapped *file)
{
    return file->size;
}

int dp_mapped_check(bool look, struct dp_err *err)
{
    struct stat st;
    struct dp_mapped *m = atomic_load_explicit(&lost, memory_order_acquire);
    if (m != NULL)
        return dp_fail(err, DP_E_RUN, "%s was cut short while it was read, or its disk fails", m->path);
    for (m = look ? atomic_load(&first) : NULL; m != NULL; m = m->next) {
        if (atomic_load(&m->begin) == 0)
            continue;
        if (fstat(m->fd, &st) != 0)
            return dp_fail_errno(err, errno, "cannot read %s", m->path);
        if ((size_t)st.st_size != m->size || st.st_mtim.tv_sec != m->modified.tv_sec ||
            st.st_mtim.tv_nsec != m->modified.tv_nsec)
            return dp_fail(err, DP_E_RUN, "%s was changed while it was read", m->path);
    }
    return DP_OK;
}

/* Maps zeros over the lost pages, from the page that was read to the end of the file. mmap is a plain system call, so a handler
 * may call it. */
static void on_bus_error(int number, siginfo_t *info, void *context)
{
    (void)context;
    int saved = errno;
    uintptr_t at = (uintptr_t)info->si_addr;
    for (struct dp_mapped *m = atomic_load(&first); m != NULL; m = m->next) {
        uintptr_t begin = atomic_load(&m->begin);
        if (begin == 0 || at < begin || at - begin >= m->size)
            continue;
        uintptr_t page = at - at % page_size;
        if (mmap((void *)page, begin + m->size - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
            break;
        struct dp_mapped *none = NULL;
        atomic_compare_exchange_strong(&lost, &none, m);
        errno = saved;
        return;
    }
    /* Not a registered file: the instruction runs again and the previous handler gets the signal. */
    sigaction(number, &before, NULL);
    errno = saved;
}

void dp_mapped_guard(void)
{
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};
    long size = sysconf(_SC_PAGESIZE);
    page_size = size > 0 ? (uintptr_t)size : page_size;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &before);
}
