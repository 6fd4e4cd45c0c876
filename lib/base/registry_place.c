#include "base/registry_place.h"

const struct dp_registry_place *dp_registry_default(void)
{
    static struct dp_registry_place place;
    static char path[4096];
    const char *named = getenv("DPLINE_REGISTRY"), *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (place.directory != NULL)
        return &place;
    bool has_state = state != NULL && state[0] == '/';
    int length = 0;
    if (named != NULL && named[0] != '\0')
        place = (struct dp_registry_place){.directory = named, .named = true};
    else if (has_state)
        length = snprintf(path, sizeof path, "%s/dpline", state);
    else if (home != NULL && home[0] == '/')
        length = snprintf(path, sizeof path, "%s/.local/state/dpline", home);
    if (length > 0 && (size_t)length < sizeof path)
        place.directory = path;
    return &place;
}

struct dp_registry_place dp_registry_chosen(const struct dp_registry_choice *choice, const struct dp_registry_place *otherwise)
{
    if (choice->none || (choice->directory == NULL && otherwise == NULL))
        return (struct dp_registry_place){.none = true};
    if (choice->directory != NULL)
        return (struct dp_registry_place){.directory = choice->directory, .named = true};
    return *otherwise;
}
