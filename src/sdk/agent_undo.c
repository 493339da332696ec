/* agent_undo.c - what an agent saves before its tools change files. */
#include "sdk/agent_parts.h"

#include "sdk/reads_only.h"
#include "snapshot/snapshot.h"

static bool may_write(void *self, const struct snapshot_call *call)
{
    const char *arg = call->tool->permission_arg;

    return !arg || strcmp(arg, "command") != 0 ||
           !command_reads_only(json_get_text(call->args, arg));
}

/* As the state of the session tells: background.h of the tools writes it. */
static bool has_background(void *self)
{
    const struct agent *a = self;
    const struct json *shell;
    struct str key;
    size_t at = 0;

    while (tool_session_next(a->session.conversation.tools, S("shell:"), &at, &key, &shell))
        if (str_is(json_get_text(shell, "state"), "running"))
            return true;
    return false;
}

static struct err *limit(const struct agent *a, const char *path, int64_t *ret_value)
{
    const struct settings *s = a->runtime->settings;
    int64_t value = settings_int(s, path, 0);

    if (value < 0 || (value == 0 && settings_get(s, path)))
        return err_hint(
            err_new(ERR_VALIDATION, "%s must be 1 or more, not %lld", path, (long long)value),
            "\"snapshot\": {\"enabled\": false} saves nothing");
    *ret_value = value;
    return NULL;
}

struct err *agent_add_snapshots(struct agent *a)
{
    int64_t max_files, max_bytes, max_file_bytes;

    TRY(limit(a, "snapshot.maxFiles", &max_files));
    TRY(limit(a, "snapshot.maxBytes", &max_bytes));
    TRY(limit(a, "snapshot.maxFileBytes", &max_file_bytes));
    if (!a->is_kept || !settings_bool(a->runtime->settings, "snapshot.enabled", true))
        return NULL;
    a->snapshotter = snapshotter_new(&(struct snapshot_options){
        .workspace = a->runtime->options.cwd,
        .added_dirs = a->tool_config.added_dirs,
        .n_added_dirs = a->tool_config.n_added_dirs,
        .blobs = a->blobs,
        .home = runtime_home(a->runtime, &a->arena).p,
        .max_files = (size_t)max_files,
        .max_bytes = (uint64_t)max_bytes,
        .max_file_bytes = (uint64_t)max_file_bytes,
        .may_write = may_write,
        .is_busy = has_background,
        .self = a,
    });
    return NULL;
}
