/* Members of a zip archive, stored or deflated, also of more than 4 GB (zip64). The archive's own sizes are checked: a member
 * never gives more bytes than its entry says, and its checksum is verified at its end.
 *
 * Format: PKWARE, "APPNOTE.TXT - .ZIP File Format Specification", version 6.3. */
#pragma once

#include "base/err.h"

struct dp_zip;

struct dp_zip_member {
    const char *name; /* name_length bytes without a NUL; the name of a folder ends with '/' */
    size_t name_length;
    uint64_t size, packed, at; /* at: where its local header begins */
    uint32_t crc;
    unsigned method, flags;
};

/* Whether the file begins as a zip archive; false if it cannot be read. */
bool dp_zip_is(const char *path);

/* Reads the list of members. path is borrowed. */
int dp_zip_open(struct dp_zip **zip, const char *path, struct dp_err *err);

/* zip may be NULL. */
void dp_zip_close(struct dp_zip *zip);

/* The members in the order of the archive's list, borrowed. */
const struct dp_zip_member *dp_zip_members(const struct dp_zip *zip, size_t *count);

/* Begins to read a member. */
int dp_zip_begin(struct dp_zip *zip, const struct dp_zip_member *member, struct dp_err *err);

/* Reads up to size bytes of the member; *got is 0 only at its end, after its size and its checksum have been checked. */
int dp_zip_read(struct dp_zip *zip, void *bytes, size_t size, size_t *got, struct dp_err *err);
