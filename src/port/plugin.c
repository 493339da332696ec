/* plugin.c - the names of plugins' categories. */
#include "port/plugin.h"

const char *plugin_category_name(enum plugin_category c)
{
    static const char *const names[] = {
        "monitoring", "logging",        "storage",          "notification", "security",
        "limits",     "error_handling", "event_processing", "custom",
    };
    return names[c];
}
