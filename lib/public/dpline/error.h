/* Shared by all parts of the library's interface: its version, and errors. dpline(3) describes the whole interface.
 *
 * Functions that can fail return 0 or a negative status, and fill the error, which belongs to the caller and may be NULL, with
 * one sentence. The library neither prints nor exits, except where a comment says so. */
#ifndef DPLINE_ERROR_H
#define DPLINE_ERROR_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The number of this interface. It is also the version of libdpline.so, and changes when programs must be compiled again. */
#define DPLINE_API 1

#if defined __GNUC__
#define DPLINE_PUBLIC __attribute__((visibility("default")))
#define DPLINE_FORMAT(string, first) __attribute__((format(printf, string, first)))
#else
#define DPLINE_PUBLIC
#define DPLINE_FORMAT(string, first)
#endif

/* The exit status of a command is the negated value. */
enum dpline_status {
    DPLINE_OK = 0,
    DPLINE_E_RUN = -1,      /* data or run failed */
    DPLINE_E_USAGE = -2,    /* a wrong argument */
    DPLINE_E_BUDGET = -3,   /* the privacy budget has no room */
    DPLINE_E_UPSTREAM = -4, /* the stage before failed, and has printed why */
    DPLINE_E_UNSAFE = -5    /* refused: it would leak, or could not be accounted for */
};

struct dpline_error {
    int status;
    char message[568]; /* one sentence, UTF-8 */
};

/* Fills *error (which may be NULL) and returns status, so that your stage can `return dpline_fail(…)`. */
DPLINE_PUBLIC int dpline_fail(struct dpline_error *error, int status, const char *format, ...) DPLINE_FORMAT(3, 4);

/* The number of the interface that this library has, and its version as text. */
DPLINE_PUBLIC int dpline_api(void);
DPLINE_PUBLIC const char *dpline_version(void);

#ifdef __cplusplus
}
#endif

#endif
