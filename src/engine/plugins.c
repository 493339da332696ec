/* plugins.c - plugins around a run, in order of their priority. Their failures never end it. */
#include "engine/run_state.h"

/* A few items, and equal ones keep their order. */
void plugins_sort(struct run *r)
{
    size_t n = r->kit->n_plugins;

    r->plugins = ARENA_ARRAY(&r->arena, n, struct plugin *);
    for (size_t i = 0; i < n; i++) {
        size_t at = i;

        for (; at > 0 && r->plugins[at - 1]->priority < r->kit->plugins[i]->priority; at--)
            r->plugins[at] = r->plugins[at - 1];
        r->plugins[at] = r->kit->plugins[i];
    }
}

static struct plugin_run run_view(const struct run *r)
{
    return (struct plugin_run){.run_id = str_of(r->id),
                               .stream = str_of(r->conversation->id),
                               .owner = &r->execution,
                               .round = r->place.round};
}

static void report_failure(struct run *r, const struct plugin *p, struct err *take_error)
{
    AUTO(err) struct err *e = take_error;
    AUTO_FREE char *text = e ? err_message(e) : NULL;

    if (e)
        run_notice(r, SEVERITY_WARNING, arena_format(&r->arena, "plugin:%s", p->name).p,
                   str_of(text));
}

/* NULL, or the refusal; the plugin's own failure is only reported. */
static struct err *refusal(struct run *r, const struct plugin *p, struct err *take_error)
{
    if (take_error && take_error->kind != ERR_PLUGIN)
        return err_wrap(take_error, "plugin %s", p->name);
    report_failure(r, p, take_error);
    return NULL;
}

struct err *plugins_before_run(struct run *r, struct message **prompt)
{
    struct plugin_run run = run_view(r);
    AUTO(strbuf) struct strbuf text = {0};
    uint64_t found = 0;
    struct str input;

    message_text(*prompt, &text);
    input = strbuf_str(&text);
    for (size_t i = 0; i < r->kit->n_plugins; i++) {
        struct plugin *p = r->plugins[i];

        if (p->before_run)
            TRY(refusal(r, p, p->before_run(p, &run, &r->arena, &input)));
    }
    if (input.p == strbuf_str(&text).p)
        return NULL;
    run_replace_prompt(r, prompt, input);
    hide_in_message(r->secrets, prompt, &found);
    run_report_hidden(r, found, S("what a plugin made of the prompt"));
    return NULL;
}

struct err *plugins_before_tool(struct run *r, const struct event_tool *call)
{
    const struct budget_keeper *budget = &r->keeper->budget;
    struct plugin_run run = run_view(r);

    for (size_t i = 0; i < r->kit->n_plugins; i++) {
        struct plugin *p = r->plugins[i];

        if (p->before_tool)
            TRY(refusal(r, p, p->before_tool(p, &run, call)));
    }
    return budget->take_call ? budget->take_call(budget->self, call) : NULL;
}

/* Hooks that only watch: their errors are only reported. */
#define EACH(r, hook, ...)                                                                         \
    do {                                                                                           \
        for (size_t i_ = 0; i_ < (r)->kit->n_plugins; i_++) {                                      \
            struct plugin *p_ = (r)->plugins[i_];                                                  \
                                                                                                   \
            if (p_->hook) {                                                                        \
                struct plugin_run run_ = run_view(r);                                              \
                                                                                                   \
                report_failure(r, p_, p_->hook(p_, &run_, __VA_ARGS__));                           \
            }                                                                                      \
        }                                                                                          \
    } while (0)

void plugins_after_run(struct run *r)
{
    EACH(r, after_run, r->result);
}

void plugins_on_error(struct run *r, const struct err *e)
{
    EACH(r, on_error, e);
}

void plugins_on_chunk(struct run *r, const struct delta *d)
{
    EACH(r, on_stream_chunk, d);
}

void plugins_after_tool(struct run *r, const struct event_tool *result)
{
    EACH(r, after_tool, result);
}
