/* plugin.h - code that runs along with a run: six hooks, all optional.
 *
 * A hook's error decides: ERR_PLUGIN says that the plugin itself broke, which is reported and
 * changes nothing; any other kind is a refusal, and the run or the call ends with that kind. Only
 * before_run and before_tool may refuse: from the others every error is the plugin's own failure.
 * Hooks never wait. They run by priority, highest first; equal ones in the order they were given.
 */
#ifndef KEEL_PORT_PLUGIN_H
#define KEEL_PORT_PLUGIN_H

#include "port/event.h"

enum plugin_category {
    PLUGIN_MONITORING,
    PLUGIN_LOGGING,
    PLUGIN_STORAGE,
    PLUGIN_NOTIFICATION,
    PLUGIN_SECURITY,
    PLUGIN_LIMITS,
    PLUGIN_ERROR_HANDLING,
    PLUGIN_EVENT_PROCESSING,
    PLUGIN_CUSTOM,
};
const char *plugin_category_name(enum plugin_category c); /* "event_processing", ... */

enum plugin_priority {
    PRIORITY_MINIMAL = 100,
    PRIORITY_LOW = 200,
    PRIORITY_NORMAL = 500,
    PRIORITY_HIGH = 800,
    PRIORITY_CRITICAL = 1000,
};

/* The run as hooks see it. */
struct plugin_run {
    struct str run_id, stream;
    const struct owner *owner;
    unsigned round; /* 0: before the first */
};

struct plugin {
    const char *name;
    enum plugin_category category;
    int priority; /* enum plugin_priority, or between */
    /* The prompt is durable, and hooks have had their say: `input` is what they left. It may be
     * replaced by another text, made in `a`, before the message joins the history. */
    struct err *(*before_run)(struct plugin *p, const struct plugin_run *run, struct arena *a,
                              struct str *input);
    struct err *(*after_run)(struct plugin *p, const struct plugin_run *run,
                             const struct run_result *result);
    struct err *(*on_error)(struct plugin *p, const struct plugin_run *run, const struct err *e);
    struct err *(*on_stream_chunk)(struct plugin *p, const struct plugin_run *run,
                                   const struct delta *d);
    struct err *(*before_tool)(struct plugin *p, const struct plugin_run *run,
                               const struct event_tool *call);
    struct err *(*after_tool)(struct plugin *p, const struct plugin_run *run,
                              const struct event_tool *result);
};

#endif
