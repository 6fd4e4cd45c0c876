#include "base/isa.h"

#include <stdatomic.h>

#define VARIABLE "DPLINE_ISA"

const char *const dp_isa_names[DP_ISA_COUNT] = {"portable", "avx2", "avx512"};

static bool has(enum dp_isa isa)
{
#ifdef DP_ISA_X86
    __builtin_cpu_init();
    if (isa == DP_ISA_AVX512)
        return __builtin_cpu_supports("avx512f");
    if (isa == DP_ISA_AVX2)
        return __builtin_cpu_supports("avx2");
#endif
    return isa == DP_ISA_PORTABLE;
}

/* The instruction set that the variable names, or DP_ISA_COUNT. */
static enum dp_isa named(const char *text)
{
    int isa = 0;
    while (isa < DP_ISA_COUNT && strcmp(text, dp_isa_names[isa]) != 0)
        isa++;
    return (enum dp_isa)isa;
}

static enum dp_isa choose(void)
{
    const char *text = getenv(VARIABLE);
    int isa = text != NULL ? (int)named(text) : DP_ISA_COUNT;
    if (isa == DP_ISA_COUNT || !has((enum dp_isa)isa))
        for (isa = DP_ISA_COUNT - 1; !has((enum dp_isa)isa);)
            isa--;
    return (enum dp_isa)isa;
}

#define UNKNOWN DP_ISA_COUNT
static _Atomic int chosen = UNKNOWN; /* several threads may set it: all to the same value */

enum dp_isa dp_isa_used(void)
{
    int isa = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (isa == UNKNOWN) {
        isa = (int)choose();
        atomic_store_explicit(&chosen, isa, memory_order_relaxed);
    }
    return (enum dp_isa)isa;
}

bool dp_isa_is_chosen(void)
{
    return atomic_load_explicit(&chosen, memory_order_relaxed) != UNKNOWN;
}

int dp_isa_check(struct dp_err *err)
{
    const char *text = getenv(VARIABLE);
    enum dp_isa isa = text != NULL ? named(text) : DP_ISA_PORTABLE;
    if (isa == DP_ISA_COUNT)
        return dp_fail(err, DP_E_USAGE, VARIABLE ": '%s' is not portable, avx2 or avx512", text);
    return has(isa) ? DP_OK : dp_fail(err, DP_E_USAGE, VARIABLE ": this CPU has no %s", text);
}
