/* Included by every unit test before cmocka. */
#ifndef DP_TESTS_UNIT_H
#define DP_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/isa.h"

/* 113 bits of precision, in the words of gcc and of clang. */
#ifdef DP_ISA_X86
typedef __float128 quad;
#else
typedef long double quad;
#endif

/* Tells tests/unit/each which kernels the program has called, if it has called any. */
__attribute__((destructor)) static void tell_of_kernels(void)
{
    const char *path = getenv("KERNELS_USED");
    FILE *file = path != NULL && dp_isa_is_chosen() ? fopen(path, "w") : NULL;
    if (file != NULL) {
        fputs(dp_isa_names[dp_isa_used()], file);
        fclose(file);
    }
}

/* |a − b| ≤ tolerance × max(1, |b|); a failure prints the numbers. */
#define assert_near(a, b, tolerance)                                                                                           \
    do {                                                                                                                       \
        double near_a = (a), near_b = (b);                                                                                     \
        if (!(fabs(near_a - near_b) <= (tolerance)*fmax(1.0, fabs(near_b))))                                                   \
            fail_msg("%s = %.17g, expected %.17g", #a, near_a, near_b);                                                        \
    } while (0)

#endif
