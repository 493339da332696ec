/* stream_json.h - a run as the lines of `--output-format stream-json`, in Claude Code's format.
 *
 * Its SDK and its scripts read them, so every field that the SDK's types require is present. A run
 * has `system/init` when it begins, one `assistant` line for each block of each message when the
 * block is complete, at the latest when the message is committed (a `system` line of the subtype
 * assistant_dropped says that it will not be), one `user` line for each result of a tool, and
 * `result` at its end; with include_partial also the streamed pieces, as `stream_event` lines. A
 * command in the background has `system/task_started` and `system/task_notification`. Child runs
 * have neither init nor result; parent_tool_use_id in their lines names the call that started them.
 *
 * Beside the reference's fields a `result` that failed has error_code and perhaps hint; the result
 * of a forced last turn has forced_final_reason. */
#ifndef KEEL_VIEW_STREAM_JSON_H
#define KEEL_VIEW_STREAM_JSON_H

#include "port/event.h"

/* Borrowed until the view is freed. NULL texts are written as empty ones. */
struct stream_json_options {
    const char *session_id;
    const char *cwd;
    const char *model;
    const char *permission_mode; /* "default", "plan", ... */
    const char *version;         /* shown as claude_code_version */
    const char *api_key_source;  /* "ANTHROPIC_API_KEY", "none", ... */
    const char *const *tools;    /* their names */
    size_t n_tools;
    bool include_partial;
    bool replay_user; /* writes a `user` line with isReplay for every accepted prompt */
};

struct stream_json;

struct stream_json *stream_json_new(const struct stream_json_options *options) MUST_USE;
void stream_json_free(struct stream_json *s);
DEFINE_AUTO_PTR(stream_json, stream_json_free)

/* The mode in the next run's init line; one of permission_mode_name(). */
void stream_json_set_mode(struct stream_json *s, const char *permission_mode);

/* Appends zero or more complete lines to `out`. A delta needs no allocation once `out` is warm. */
void stream_json_event(struct stream_json *s, const struct event *e, struct strbuf *out);

#endif
