/* Names on disk. */
#pragma once

/* Syncs a directory: only then are the names in it on disk. Some file systems cannot do that; there it is no error. 0, or -1 and
 * errno. */
int dp_sync_directory(const char *path);

/* The same for the directory that a file is in. */
int dp_sync_directory_of(const char *file);
