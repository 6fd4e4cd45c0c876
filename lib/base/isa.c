#include "base/isa.h"

#define VARIABLE "DPLINE_ISA"

const char *const dp_isa_names[DP_ISA_COUNT] = {"portable", "avx2", "avx512"};

static bool has(enum dp_isa isa)
{
#if defined(__x86_64__) || defined(__i386__)
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

enum dp_isa dp_isa_used(void)
{
    const char *text = getenv(VARIABLE);
    int isa = text != NULL ? (int)named(text) : DP_ISA_COUNT;
    if (isa == DP_ISA_COUNT || !has((enum dp_isa)isa))
        for (isa = DP_ISA_COUNT - 1; !has((enum dp_isa)isa);)
            isa--;
    return (enum dp_isa)isa;
}

int dp_isa_check(struct dp_err *err)
{
    const char *text = getenv(VARIABLE);
    enum dp_isa isa = text != NULL ? named(text) : DP_ISA_PORTABLE;
    if (isa == DP_ISA_COUNT)
        return dp_fail(err, DP_E_USAGE, VARIABLE ": '%s' is not portable, avx2 or avx512", text);
    return has(isa) ? DP_OK : dp_fail(err, DP_E_USAGE, VARIABLE ": this CPU has no %s", text);
}
