/* Images in files, one folder for each class: FOLDER/CLASS/FILE, in a directory or in a zip archive.
 *
 * A path that continues after the name of an archive is a folder in it: pictures.zip/train. Files whose names begin with '.',
 * and the folder __MACOSX of archives, are not images. Images come in the order of their classes, then of their names (as
 * bytes). */
#pragma once

#include "base/err.h"
#include "data/schema.h"
#include "images/image.h"

struct dp_image_folder;

/* One image. Everything is borrowed until the next call. */
struct dp_folder_image {
    struct dp_image_shape shape;
    const unsigned char *pixels; /* dp_image_bytes(shape) */
    size_t class;                /* index in the classes of the folder */
    const char *name;            /* for messages */
};

/* Lists the files, and opens none. unlabelled: images may also be in the folder itself; their class is then 0. */
int dp_image_folder_open(struct dp_image_folder **folder, const char *path, bool unlabelled, struct dp_err *err);

/* folder may be NULL. */
void dp_image_folder_close(struct dp_image_folder *folder);

/* The names of the folders of classes, ascending; also of empty ones. */
const struct dp_texts *dp_image_folder_classes(const struct dp_image_folder *folder);

/* 1 with the next image, 0 after the last one. All images have the shape of the first one, except that grey ones among coloured
 * ones get three equal channels; any other shape is an error. */
int dp_image_folder_next(struct dp_image_folder *folder, struct dp_folder_image *image, struct dp_err *err);

/* BLAKE2b of the bytes of all files so far: DP_INPUT_DIGEST bytes. */
void dp_image_folder_digest(const struct dp_image_folder *folder, unsigned char *digest);
