/* stream_json_task.c - writes the start and the end of commands in the background. */
#include "port/kept_shell.h"
#include "view/stream_json_line.h"

static struct str end_status(const struct kept_shell *k)
{
    if (k->state != SHELL_ENDED)
        return S("stopped");
    return k->exit_code == 0 ? S("completed") : S("failed");
}

static void write_started(struct stream_json *s, const struct event *e, const struct kept_shell *k,
                          struct strbuf *out)
{
    struct json_writer w;

    line_begin(&w, out, "system");
    jw_kv_str(&w, "subtype", S("task_started"));
    jw_kv_str(&w, "task_id", k->id);
    jw_kv_str(&w, "tool_use_id", k->call_id);
    jw_kv_str(&w, "description", k->command);
    jw_kv_str(&w, "task_type", S("local_bash"));
    line_end(s, &w, e);
}

static void write_ended(struct stream_json *s, const struct event *e, const struct kept_shell *k,
                        struct strbuf *out)
{
    AUTO(strbuf) struct strbuf summary = {0};
    struct json_writer w;

    strbuf_addf(&summary, "\"%" STR_FMT "\" ", STR_ARG(k->command));
    if (k->state == SHELL_ENDED)
        strbuf_addf(&summary, "ended with exit code %d", k->exit_code);
    else
        strbuf_add_cstr(&summary, "was stopped");
    line_begin(&w, out, "system");
    jw_kv_str(&w, "subtype", S("task_notification"));
    jw_kv_str(&w, "task_id", k->id);
    jw_kv_str(&w, "tool_use_id", k->call_id);
    jw_kv_str(&w, "status", end_status(k));
    jw_kv_str(&w, "output_file", S("")); /* none: the session keeps the output */
    jw_kv_str(&w, "summary", strbuf_str(&summary));
    line_end(s, &w, e);
}

/* Later changes are whether the model has seen it, and where its output is stored. */
void write_task(struct stream_json *s, const struct event *e, struct strbuf *out)
{
    struct kept_shell k;

    if (!kept_shell_read(e->body.state.key, e->body.state.value, &k) || k.is_seen || k.output.n)
        return;
    if (k.state == SHELL_RUNNING)
        write_started(s, e, &k, out);
    else
        write_ended(s, e, &k, out);
}
