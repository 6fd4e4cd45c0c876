#include "data/image_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/input.h"
#include "data/zip.h"
#include "images/decode.h"

#define FILE_MOST ((size_t)1 << 28) /* bytes of a file */

struct file {
    char *name; /* name of the file, with the name of its class and a slash before it if it has a class */
    size_t class;
    const struct dp_zip_member *member; /* of an archive */
};

struct dp_image_folder {
    char *path;  /* path of the directory or the archive, without a slash at its end */
    char *in;    /* folder in the archive with a slash at its end, or "" */
    char *outer; /* the same, if no user has named it, or NULL */
    bool unlabelled;
    struct dp_zip *zip;
    struct dp_texts classes;
    struct file *file;
    size_t files, capacity, next;
    struct dp_image_shape shape; /* of the first image */
    char *name;                  /* of the image at hand */
    unsigned char *bytes, *pixels;
    size_t bytes_capacity;
    struct dp_hash hash;
};

static bool is_hidden(const char *name, size_t length)
{
    return name[0] == '.' || (length == 8 && memcmp(name, "__MACOSX", 8) == 0);
}

static int add_class(struct dp_image_folder *f, const char *name, size_t length, size_t *class, struct dp_err *err)
{
    char shown[DP_TEXT_SHOWN];
    long known = dp_texts_find(&f->classes, name, length);
    *class = known >= 0 ? (size_t)known : f->classes.count;
    if (known >= 0)
        return DP_OK;
    if (dp_text_valid(name, length) < length)
        return dp_fail(err, DP_E_RUN, "%s: the name of the folder '%s' is not UTF-8", f->path,
                       dp_text_show(name, length, shown));
    if (f->classes.count == 1000)
        return dp_fail(err, DP_E_RUN, "%s has more than 1000 folders, and each is a class", f->path);
    dp_texts_add(&f->classes, name, length);
    return DP_OK;
}

/* name: "CLASS/FILE", or "FILE" in the folder itself. */
static int add_file(struct dp_image_folder *f, const char *name, size_t length, const struct dp_zip_member *member,
                    struct dp_err *err)
{
    const char *slash = memchr(name, '/', length);
    char shown[DP_TEXT_SHOWN];
    size_t class = 0;
    int rc = DP_OK;
    if (slash == NULL && !f->unlabelled)
        return dp_fail(err, DP_E_RUN, "%s: '%s' is in no folder of a class: images are read as FOLDER/CLASS/FILE", f->path,
                       dp_text_show(name, length, shown));
    if (slash != NULL)
        rc = add_class(f, name, (size_t)(slash - name), &class, err);
    if (rc != DP_OK)
        return rc;
    dp_extend(&f->file, &f->capacity, f->files + 1, sizeof *f->file);
    f->file[f->files++] = (struct file){dp_got(strndup(name, length)), class, member};
    return DP_OK;
}

static int too_deep(const struct dp_image_folder *f, const char *name, size_t length, struct dp_err *err)
{
    char shown[DP_TEXT_SHOWN];
    size_t first = strcspn(name, "/");
    return dp_fail(err, DP_E_RUN,
                   "%s: '%s' is a folder in a folder, and images are read as FOLDER/CLASS/FILE (is the folder %s/%s%.*s?)",
                   f->path, dp_text_show(name, length, shown), f->path, f->in, (int)first, name);
}

/* --- directories ------------------------------------------------------------------------------------------------------- */

static int list_directory(struct dp_image_folder *f, const char *class, struct dp_err *err);

static int add_entry(struct dp_image_folder *f, const char *class, const char *entry, struct dp_err *err)
{
    char *name = dp_format("%s%s%s", class, class[0] != '\0' ? "/" : "", entry), *path = dp_format("%s/%s", f->path, name);
    struct stat st;
    int rc = DP_OK;
    if (stat(path, &st) != 0)
        rc = dp_fail_errno(err, errno, "cannot open %s", path);
    else if (S_ISDIR(st.st_mode))
        rc = class[0] != '\0' ? too_deep(f, name, strlen(name), err) : list_directory(f, entry, err);
    else if (!S_ISREG(st.st_mode))
        rc = dp_fail(err, DP_E_RUN, "%s is not a regular file", path);
    else
        rc = add_file(f, name, strlen(name), NULL, err);
    free(name);
    free(path);
    return rc;
}

/* Lists a folder of a class, or the folder itself ("") with the folders of its classes. */
static int list_directory(struct dp_image_folder *f, const char *class, struct dp_err *err)
{
    int rc = DP_OK;
    char *path = dp_format("%s/%s", f->path, class);
    DIR *directory = opendir(path);
    if (directory == NULL)
        rc = dp_fail_errno(err, errno, "cannot open %s", path);
    for (const struct dirent *entry; rc == DP_OK && (entry = readdir(directory)) != NULL;)
        if (!is_hidden(entry->d_name, strlen(entry->d_name)))
            rc = add_entry(f, class, entry->d_name, err);
    if (directory != NULL)
        closedir(directory);
    free(path);
    return rc;
}

static int read_file(struct dp_image_folder *f, const struct file *file, size_t *size, struct dp_err *err)
{
    int fd = open(f->name, O_RDONLY | O_CLOEXEC), rc = DP_OK;
    struct stat st;
    (void)file;
    if (fd < 0 || fstat(fd, &st) != 0)
        rc = dp_fail_errno(err, errno, "cannot open %s", f->name);
    else if ((size_t)st.st_size > FILE_MOST)
        rc = dp_fail(err, DP_E_RUN, "%s is longer than %zu bytes", f->name, FILE_MOST);
    else
        dp_extend(&f->bytes, &f->bytes_capacity, (size_t)st.st_size + 1, 1);
    for (ssize_t got = 1; rc == DP_OK && got != 0 && *size<f->bytes_capacity; *size += got> 0 ? (size_t)got : 0) {
        got = read(fd, f->bytes + *size, f->bytes_capacity - *size);
        if (got < 0 && errno != EINTR)
            rc = dp_fail_errno(err, errno, "cannot read %s", f->name);
    }
    if (fd >= 0)
        close(fd);
    return rc;
}

/* --- archives ---------------------------------------------------------------------------------------------------------- */

static bool any_hidden(const char *name, size_t length)
{
    for (size_t at = 0; at < length;) {
        const char *slash = memchr(name + at, '/', length - at);
        size_t part = slash != NULL ? (size_t)(slash - name) - at : length - at;
        if (is_hidden(name + at, part))
            return true;
        at += part + 1;
    }
    return false;
}

static int add_member(struct dp_image_folder *f, const struct dp_zip_member *m, struct dp_err *err)
{
    size_t in = strlen(f->in);
    if (m->name_length <= in || memcmp(m->name, f->in, in) != 0)
        return DP_OK;
    const char *name = m->name + in;
    size_t length = m->name_length - in;
    if (memchr(name, '\0', length) != NULL)
        return dp_fail(err, DP_E_RUN, "%s: the name of a member has a NUL byte", f->path);
    if (any_hidden(name, length))
        return DP_OK;
    const char *slash = memchr(name, '/', length);
    bool folder = name[length - 1] == '/';
    if (slash != NULL && memchr(slash + 1, '/', length - (size_t)(slash + 1 - name)) != NULL)
        return too_deep(f, name, length, err);
    return folder ? DP_OK : add_file(f, name, length, m, err);
}

/* Takes the one folder that all members are in, if its files are in folders. */
static void enter_folder(struct dp_image_folder *f, const struct dp_zip_member *member, size_t count)
{
    const char *first = NULL;
    size_t length = 0;
    bool deep = false;
    for (size_t i = 0; i < count; i++) {
        const struct dp_zip_member *m = &member[i];
        if (any_hidden(m->name, m->name_length))
            continue;
        const char *slash = memchr(m->name, '/', m->name_length);
        const size_t own = slash != NULL ? (size_t)(slash + 1 - m->name) : 0;
        if (own == 0 || (first != NULL && (own != length || memcmp(first, m->name, own) != 0)))
            return;
        first = m->name;
        length = own;
        slash = memchr(m->name + own, '/', m->name_length - own);
        deep |= slash != NULL && slash + 1 < m->name + m->name_length;
    }
    if (deep)
        f->in = f->outer = dp_got(strndup(first, length));
}

static int list_archive(struct dp_image_folder *f, struct dp_err *err)
{
    size_t count = 0;
    int rc = dp_zip_open(&f->zip, f->path, err);
    const struct dp_zip_member *member = rc == DP_OK ? dp_zip_members(f->zip, &count) : NULL;
    if (f->in[0] == '\0')
        enter_folder(f, member, count);
    for (size_t i = 0; rc == DP_OK && i < count; i++)
        rc = add_member(f, &member[i], err);
    return rc;
}

static int read_member(struct dp_image_folder *f, const struct file *file, size_t *size, struct dp_err *err)
{
    const struct dp_zip_member *m = file->member;
    size_t got = 1;
    if (m->size > FILE_MOST)
        return dp_fail(err, DP_E_RUN, "%s is longer than %zu bytes", f->name, FILE_MOST);
    dp_extend(&f->bytes, &f->bytes_capacity, (size_t)m->size + 1, 1);
    int rc = dp_zip_begin(f->zip, m, err);
    while (rc == DP_OK && got > 0) {
        rc = dp_zip_read(f->zip, f->bytes + *size, (size_t)m->size - *size + 1, &got, err);
        *size += got;
    }
    return rc;
}

/* ----------------------------------------------------------------------------------------------------------------------- */

/* Divides a path into an archive and a folder in it. */
static void find_archive(struct dp_image_folder *f)
{
    struct stat st;
    char *slash = f->path + strlen(f->path);
    if (stat(f->path, &st) == 0)
        return;
    while (slash > f->path) {
        char had = *slash;
        *slash = '\0';
        if (stat(f->path, &st) == 0 && S_ISREG(st.st_mode)) {
            f->in = had == '/' ? slash + 1 : slash;
            return;
        }
        *slash = had;
        do
            slash--;
        while (slash > f->path && *slash != '/');
    }
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int compare_files(const void *a, const void *b)
{
    const struct file *x = a, *y = b;
    return x->class != y->class ? (x->class > y->class) - (x->class < y->class) : strcmp(x->name, y->name);
}

/* Puts classes and files into their order. */
static int arrange(struct dp_image_folder *f, struct dp_err *err)
{
    if (f->files == 0)
        return dp_fail(err, DP_E_RUN, "%s%s%s: no images", f->path, f->in[0] != '\0' ? "/" : "", f->in);
    if (f->classes.count > 0)
        qsort(f->classes.text, f->classes.count, sizeof *f->classes.text, compare_texts);
    for (size_t i = 0; i < f->files; i++) {
        const char *slash = strchr(f->file[i].name, '/');
        long class = slash != NULL ? dp_texts_find(&f->classes, f->file[i].name, (size_t)(slash - f->file[i].name)) : 0;
        f->file[i].class = (size_t) class;
    }
    qsort(f->file, f->files, sizeof *f->file, compare_files);
    for (size_t i = 1; i < f->files; i++) {
        const char *name = f->file[i].name;
        if (strcmp(name, f->file[i - 1].name) == 0)
            return dp_fail(err, DP_E_RUN, "%s has '%s' twice", f->path, DP_SHOWN(name));
    }
    return DP_OK;
}

int dp_image_folder_open(struct dp_image_folder **folder, const char *path, bool unlabelled, struct dp_err *err)
{
    struct stat st;
    struct dp_image_folder *f = dp_new(1, sizeof *f);
    int rc = DP_OK;
    f->unlabelled = unlabelled;
    f->path = dp_new(strlen(path) + 2, 1); /* find_archive may need a slash after it */
    strcpy(f->path, path);
    size_t length = strlen(path);
    while (length > 1 && f->path[length - 1] == '/')
        f->path[--length] = '\0';
    f->in = f->path + length;
    dp_hash_start(&f->hash, NULL, 0, DP_INPUT_DIGEST);
    find_archive(f);
    if (f->in[0] != '\0')
        strcat(f->in, "/");
    if (stat(f->path, &st) != 0)
        rc = dp_fail_errno(err, errno, "cannot open %s", f->path);
    else if (S_ISDIR(st.st_mode))
        rc = list_directory(f, "", err);
    else if (dp_zip_is(f->path))
        rc = list_archive(f, err);
    else
        rc = dp_fail(err, DP_E_RUN, "%s is neither a directory nor a zip archive", f->path);
    rc = rc ?: arrange(f, err);
    if (rc != DP_OK) {
        dp_image_folder_close(f);
        return rc;
    }
    *folder = f;
    return DP_OK;
}

void dp_image_folder_close(struct dp_image_folder *f)
{
    if (f == NULL)
        return;
    free(f->outer);
    for (size_t i = 0; i < f->files; i++)
        free(f->file[i].name);
    free(f->file);
    dp_texts_free(&f->classes);
    dp_zip_close(f->zip);
    free(f->name);
    free(f->bytes);
    free(f->pixels);
    free(f->path);
    free(f);
}

const struct dp_texts *dp_image_folder_classes(const struct dp_image_folder *f)
{
    return &f->classes;
}

void dp_image_folder_digest(const struct dp_image_folder *f, unsigned char *digest)
{
    dp_hash_end(&f->hash, digest, DP_INPUT_DIGEST);
}

/* Makes three equal channels of each grey pixel. */
static void spread(struct dp_image_folder *f, struct dp_image_shape *shape)
{
    unsigned char *wide;
    size_t count = shape->height * shape->width;
    wide = dp_new(count, 3);
    for (size_t i = 0; i < 3 * count; i++)
        wide[i] = f->pixels[i / 3];
    free(f->pixels);
    f->pixels = wide;
    shape->channels = 3;
}

static int check_shape(struct dp_image_folder *f, struct dp_image_shape *shape, struct dp_err *err)
{
    const struct dp_image_shape *first = &f->shape;
    if (first->height == 0)
        f->shape = *shape;
    if (first->channels == 3 && shape->channels == 1)
        spread(f, shape);
    if (shape->channels != first->channels)
        return dp_fail(err, DP_E_RUN, "%s is in colour, and the first image is grey", f->name);
    if (shape->height != first->height || shape->width != first->width)
        return dp_fail(err, DP_E_RUN, "%s has %zu x %zu pixels, and the first image has %zu x %zu", f->name, shape->width,
                       shape->height, first->width, first->height);
    return DP_OK;
}

int dp_image_folder_next(struct dp_image_folder *f, struct dp_folder_image *image, struct dp_err *err)
{
    size_t size = 0;
    if (f->next == f->files)
        return 0;
    if (dp_interrupt_pending())
        return dp_fail(err, DP_E_RUN, "interrupted");
    const struct file *file = &f->file[f->next++];
    free(f->name);
    free(f->pixels);
    f->pixels = NULL;
    f->name = dp_format("%s/%s%s", f->path, f->in, file->name);
    int rc = f->zip != NULL ? read_member(f, file, &size, err) : read_file(f, file, &size, err);
    if (rc == DP_OK)
        dp_hash_add(&f->hash, f->bytes, size);
    rc = rc ?: dp_image_decode(f->bytes, size, f->name, &image->shape, &f->pixels, err);
    rc = rc ?: check_shape(f, &image->shape, err);
    image->pixels = f->pixels;
    image->class = file->class;
    image->name = f->name;
    return rc ?: 1;
}
