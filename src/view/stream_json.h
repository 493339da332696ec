/* stream_json.h - a run as the lines of `--output-format stream-json`, in Claude Code's words.
 *
 * Its SDK and its scripts read them, so every field that the SDK's types demand is there. A run
 * gives `system/init` when it begins, one `assistant` line for each block of each message when the
 * block has come whole, and at the latest when the message is committed (a `system` line of the
 * subtype assistant_dropped says that it will not be), one `user` line for each tool's result, and
 * `result` at its end; with include_partial also the pieces as they stream in, as `stream_event`
 * lines. A command in the background gives `system/task_started` and
 * `system/task_notification`. Child runs have no init and no result of their own; their lines name
 * the call that started them in parent_tool_use_id.
 *
 * Besides the reference's fields a `result` that failed has error_code and, where there is one,
 * hint; one that came from a forced last turn has forced_final_reason. */
#ifndef KEEL_VIEW_STREAM_JSON_H
#define KEEL_VIEW_STREAM_JSON_H

#include "port/event.h"

/* Borrowed until the view is freed. NULL texts are written as empty ones. */
struct stream_json_options {
    const char *session_id;
    const char *cwd;
    const char *model;
    const char *permission_mode; /* "default", "plan", ... */
    const char *version;         /* what readers see as claude_code_version */
    const char *api_key_source;  /* "ANTHROPIC_API_KEY", "none", ... */
    const char *const *tools;    /* their names */
    size_t n_tools;
    bool include_partial;
    bool replay_user; /* a `user` line with isReplay for every prompt that is taken */
};

struct stream_json;

struct stream_json *stream_json_new(const struct stream_json_options *options) MUST_USE;
void stream_json_free(struct stream_json *s);
DEFINE_AUTO_PTR(stream_json, stream_json_free)

/* The mode that the next run's init line tells; one of permission_mode_name()'s. */
void stream_json_set_mode(struct stream_json *s, const char *permission_mode);

/* Appends zero or more whole lines to `out`. A delta costs no allocation once `out` is warm. */
void stream_json_event(struct stream_json *s, const struct event *e, struct strbuf *out);

#endif
