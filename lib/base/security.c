#include "base/security.h"

#include "base/mem.h"

int dp_security_directory(char **directory, const struct dp_security *security, struct dp_err *err)
{
    const char *named = security->keys != NULL ? security->keys : getenv("DPLINE_KEYS");
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (config != NULL && config[0] != '/') /* a relative path counts as not set, as the XDG specification says */
        config = NULL;
    if (named == NULL && config == NULL && home == NULL)
        return dp_fail(err, DP_E_USAGE, "no directory of keys: neither --keys nor DPLINE_KEYS nor HOME is given");
    *directory = named != NULL    ? dp_format("%s", named)
                 : config != NULL ? dp_format("%s/dpline/keys", config)
                                  : dp_format("%s/.config/dpline/keys", home);
    return DP_OK;
}
