/* Instruction sets that kernels are written for. All give the same bits, because a product and a sum are never contracted. */
#pragma once

#include "base/err.h"

enum dp_isa { DP_ISA_PORTABLE, DP_ISA_AVX2, DP_ISA_AVX512, DP_ISA_COUNT };

extern const char *const dp_isa_names[DP_ISA_COUNT];

/* The instruction set that the environment variable DPLINE_ISA names when this is first called, otherwise the widest that
 * the CPU has. A set that the CPU does not have is ignored here; dp_isa_check refuses it. */
enum dp_isa dp_isa_used(void);

/* Whether dp_isa_used has been called. */
bool dp_isa_is_chosen(void);

/* DP_E_USAGE: DPLINE_ISA names no instruction set, or one that this CPU does not have. */
int dp_isa_check(struct dp_err *err);

/* DP_KERNEL(type, name, (parameters), (arguments)) { body }: a static function with a copy for each instruction set; a call
 * runs the copy for dp_isa_used. DP_TARGET_…: attributes of a function that is written for one set, where DP_ISA_X86. */
#ifdef __x86_64__
#define DP_ISA_X86
#define DP_TARGET_AVX2 __attribute__((target("avx2")))
#ifdef __clang__ /* clang has no such preference */
#define DP_TARGET_AVX512 __attribute__((target("avx512f")))
#else
#define DP_TARGET_AVX512 __attribute__((target("avx512f,prefer-vector-width=512")))
#endif
#define DP_KERNEL(type, name, parameters, arguments)                                                                           \
    static inline __attribute__((always_inline)) type name##_body parameters;                                                  \
    static type name##_portable parameters                                                                                     \
    {                                                                                                                          \
        return name##_body arguments;                                                                                          \
    }                                                                                                                          \
    DP_TARGET_AVX2 static type name##_avx2 parameters                                                                          \
    {                                                                                                                          \
        return name##_body arguments;                                                                                          \
    }                                                                                                                          \
    DP_TARGET_AVX512 static type name##_avx512 parameters                                                                      \
    {                                                                                                                          \
        return name##_body arguments;                                                                                          \
    }                                                                                                                          \
    static type name parameters                                                                                                \
    {                                                                                                                          \
        switch (dp_isa_used()) {                                                                                               \
        case DP_ISA_AVX512:                                                                                                    \
            return name##_avx512 arguments;                                                                                    \
        case DP_ISA_AVX2:                                                                                                      \
            return name##_avx2 arguments;                                                                                      \
        default:                                                                                                               \
            return name##_portable arguments;                                                                                  \
        }                                                                                                                      \
    }                                                                                                                          \
    static inline type name##_body parameters
#else
#define DP_KERNEL(type, name, parameters, arguments) static type name parameters
#endif
