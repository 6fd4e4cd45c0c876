/* Names on disk. */
#pragma once

#include <stdbool.h>

/* Syncs a directory: only then are the names in it on disk. Returns 0 as well if the file system cannot do that. -1 and errno
 * after an error. */
int dp_sync_directory(const char *path);

/* The same for the directory that a file is in. */
int dp_sync_directory_of(const char *file);

/* Whether the path names a directory. */
bool dp_is_directory(const char *path);
