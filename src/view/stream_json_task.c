/* stream_json_task.c - commands in the background: that one has started, and how it ended. */
#include "view/stream_json_line.h"

#include <inttypes.h>

#define KEY_PREFIX "shell:"

static struct str end_status(struct str state, int64_t exit_code)
{
    if (!str_is(state, "ended"))
        return S("stopped");
    return exit_code == 0 ? S("completed") : S("failed");
}

static void write_started(struct stream_json *s, const struct event *e, struct str id,
                          struct strbuf *out)
{
    const struct json *value = e->body.state.value;
    struct json_writer w;

    line_begin(&w, out, "system");
    jw_kv_str(&w, "subtype", S("task_started"));
    jw_kv_str(&w, "task_id", id);
    jw_kv_str(&w, "tool_use_id", json_get_text(value, "call"));
    jw_kv_str(&w, "description", json_get_text(value, "command"));
    jw_kv_str(&w, "task_type", S("local_bash"));
    line_end(s, &w, e);
}

static void write_ended(struct stream_json *s, const struct event *e, struct str id,
                        struct strbuf *out)
{
    const struct json *value = e->body.state.value;
    struct str state = json_get_text(value, "state"), command = json_get_text(value, "command");
    int64_t exit_code = json_int_or(json_get(value, "exitCode"), 0);
    AUTO(strbuf) struct strbuf summary = {0};
    struct json_writer w;

    strbuf_addf(&summary, "\"%" STR_FMT "\" ", STR_ARG(command));
    if (str_is(state, "ended"))
        strbuf_addf(&summary, "ended with exit code %" PRId64, exit_code);
    else
        strbuf_add_cstr(&summary, "was stopped");
    line_begin(&w, out, "system");
    jw_kv_str(&w, "subtype", S("task_notification"));
    jw_kv_str(&w, "task_id", id);
    jw_kv_str(&w, "tool_use_id", json_get_text(value, "call"));
    jw_kv_str(&w, "status", end_status(state, exit_code));
    jw_kv_str(&w, "output_file", S("")); /* there is none: the session keeps the output */
    jw_kv_str(&w, "summary", strbuf_str(&summary));
    line_end(s, &w, e);
}

/* What changes later is whether the model has seen it, and where its output is stored. */
void write_task(struct stream_json *s, const struct event *e, struct strbuf *out)
{
    const struct json *value = e->body.state.value;
    struct str id = e->body.state.key;

    if (!str_starts(id, S(KEY_PREFIX)) || json_bool(json_get(value, "seen"), true) ||
        json_has(value, "output"))
        return;
    id = str_skip(id, strlen(KEY_PREFIX));
    if (str_is(json_get_text(value, "state"), "running"))
        write_started(s, e, id, out);
    else
        write_ended(s, e, id, out);
}
