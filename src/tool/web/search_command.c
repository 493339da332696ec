/* search_command.c - a command of the operator's that searches. */
#include "base/utf8.h"
#include "sys/clean_env.h"
#include "tool/html/markdown_text.h"
#include "tool/web/service.h"

#define MAX_OUTPUT_BYTES ((size_t)1 << 20)
#define MAX_ERROR_BYTES 1024

static struct err *check_end(const struct proc_output *o)
{
    AUTO(strbuf) struct strbuf complaint = {0};

    markdown_add_plain(&complaint, utf8_truncate(strbuf_str(&o->err), MAX_ERROR_BYTES));
    if (o->timed_out)
        return err_new(ERR_TOOL_FAILED, "the search command took longer than %d s",
                       WEB_SEARCH_MS / 1000);
    if (!o->status.exited)
        return err_new(ERR_TOOL_FAILED, "the search command was killed by signal %d",
                       o->status.signal);
    if (o->status.exit_code != 0)
        return err_new(ERR_TOOL_FAILED, "the search command exited with code %d%s%s",
                       o->status.exit_code, complaint.n ? ": " : "", strbuf_cstr(&complaint));
    if (o->n_out_bytes > MAX_OUTPUT_BYTES)
        return err_new(ERR_TOOL_FAILED, "the search command printed more than 1 MB");
    return NULL;
}

static struct launcher *launcher_of(const struct tool_context *c)
{
    return c->config->search.launcher ? c->config->search.launcher : c->launcher;
}

/* The query is an argument, never a part of the script. */
static struct err *run(struct tool_context *c, struct arena *a, struct str query,
                       struct proc_output *output)
{
    AUTO(proc) struct proc *p = NULL;
    struct str script = arena_format(a, "%" STR_FMT " \"$1\"", STR_ARG(c->config->search.command));
    const char *argv[] = {"sh", "-c", script.p, "sh", arena_cstr(a, query), NULL};
    struct proc_spec spec = {
        .argv = argv,
        .environment = environment_without(a, c->config->environment, c->config->secrets,
                                           c->config->search.key_variable),
        .cwd = tool_state_workspace(c->state),
    };

    TRY(launcher_start(launcher_of(c), &spec, &p));
    return proc_collect(p, WEB_SEARCH_MS, output);
}

struct err *web_search_command(struct tool_context *c, struct web_hits *hits)
{
    AUTO(proc_output) struct proc_output output = {0};

    if (c->config->search.command.n == 0)
        return err_hint(err_new(ERR_CONFIGURATION, "no search command is configured"),
                        "set webSearch.command in the settings");
    if (!launcher_of(c))
        return err_new(ERR_TOOL_UNAVAILABLE,
                       "the search service is a command, and commands are not available here");
    if (str_find_char(hits->query->text, 0) != STR_NONE)
        return err_new(ERR_VALIDATION, "the query contains a NUL character");
    strbuf_init(&output.out, MAX_OUTPUT_BYTES);
    strbuf_init(&output.err, MAX_ERROR_BYTES);
    TRY(run(c, hits->arena, hits->query->text, &output));
    TRY(check_end(&output));
    web_hits_add_output(hits, arena_str(hits->arena, strbuf_str(&output.out)));
    if (hits->n == 0 && hits->n_unusable)
        return err_new(ERR_TOOL_FAILED, "the search command printed no result with an address");
    return NULL;
}
