/* compact.c - `keel session compact`: a long history becomes a summary of it. */
#include "cli/session/session.h"

#include "cli/output/display.h"
#include "sdk/agent/agent.h"
#include "sdk/process_log.h"

static const struct option options[] = {
    {"instructions", 0, "TEXT", "what the summary must keep"},
    {"model", 'm', "MODEL", "the model that writes it (default: the session's)",
     .words = COMPLETE_MODELS},
    SESSION_OPTIONS,
    {0},
};

struct compact_command {
    struct session_work *work;
    struct event_compact sizes;
    bool is_done;
    struct event_subscriber subscriber;
};

static void compact_event(void *self, const struct event *e)
{
    struct compact_command *c = self;
    bool is_told = e->type == EVENT_NOTICE && strcmp(e->body.notice.source, "compaction") == 0;

    if (!is_told) /* the command fails with it */
        display_notices(NULL, e);
    if (e->type != EVENT_COMPACTED)
        return;
    c->sizes = e->body.compact;
    c->is_done = true;
}

static struct err *open_and_compact(struct compact_command *c, struct str id)
{
    struct session_work *w = c->work;
    const char *model = args_get(w->args, "model");
    struct agent_options o = {.session = {.store = args_get(w->args, "store"),
                                          .resume = arena_cstr(&w->arena, id),
                                          .keeps_model = !model},
                              .subscriber = &c->subscriber};
    AUTO(model_choice) struct model_choice *chosen = NULL;
    AUTO(agent) struct agent *agent = NULL;
    AUTO(run_result) struct run_result result = {0};
    AUTO(strbuf) struct strbuf out = {0};

    c->subscriber = (struct event_subscriber){.on_event = compact_event, .self = c};
    TRY(project_choose_model(w->project, model, &chosen));
    o.model = chosen;
    TRY(agent_open(w->project, &o, &agent));
    TRY(agent_compact(agent, str_of(args_get(w->args, "instructions")), &result));
    if (!c->is_done)
        return err_new(ERR_INTERNAL, "the history was not summarized");
    strbuf_addf(&out, "about %lld tokens instead of %lld\n", (long long)c->sizes.after.used,
                (long long)c->sizes.before.used);
    return cli_print(strbuf_str(&out));
}

static struct err *compact(struct session_work *w)
{
    struct compact_command c = {.work = w};
    struct store_summary s = {0};
    struct err *e;

    TRY(process_log_open(w->project, &(struct log_flags){0}, "session compact", KEEL_VERSION));
    TRY(session_work_find(w, 0, &s));
    e = open_and_compact(&c, s.id);
    process_log_end(host_log(w->project->host), e ? err_exit_code(e) : 0, e);
    return e;
}

static struct err *session_compact_run(const struct args *args, int *ret_status)
{
    TRY(args_count(args, 0, 1, "one session"));
    return session_work_run(args, compact, ret_status);
}

const struct command command_session_compact = {
    .name = "session compact",
    .usage = "[ID] [--instructions TEXT] [--model MODEL]",
    .operands = COMPLETE_SESSIONS,
    .summary = "summarize a long history",
    .details = "Asks the model for the summary. keel does this by itself when the context is\n"
               "nearly full; nothing is lost. keel session show prints it as a turn. To undo it,\n"
               "use keel session rewind --to TURN; without --to, it also undoes the last prompt.\n"
               "\n"
               "  keel session compact --instructions \"keep all measurements\"\n",
    .options = options,
    .run = session_compact_run,
};
