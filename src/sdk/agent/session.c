/* session.c - which session an agent works in, and where it is kept. */
#include "sdk/agent/parts.h"

#include "config/settings_keys.h"
#include "sdk/process_log.h"
#include "sdk/prune.h"
#include "sdk/session_store.h"
#include "snapshot/snapshot.h"

#define NOTICE_SOURCE "session"

const struct setting_key session_settings[] = {
    {"compact", SETTING_OBJECT, .help = "when to summarize a long history"},
    {"compact.enabled", SETTING_BOOL, .help = "false: never automatically (true)"},
    {"compact.results", SETTING_BOOL,
     .help = "false: do not drop old tool results before summarizing (true)"},
    {"compact.threshold", SETTING_SHARE,
     .help = "the share of the window that triggers it (0.835)"},
    {"compact.models", SETTING_OBJECT,
     .help = "the same for single models: {\"provider/model\": 0.6}"},
    {"compact.models.*", SETTING_SHARE, .help = "the threshold of one model"},
    {"compact.instructions", SETTING_STRING, .help = "what the summary must keep"},
    {"budget", SETTING_OBJECT, .help = "limits of a session, over all its runs"},
    {"budget.usd", SETTING_USD, .least = 1, .help = "dollars, as with --max-budget-usd"},
    {"budget.tokens", SETTING_INTEGER, .least = 1,
     .help = "tokens in and out, as with --max-tokens-total"},
    {"budget.turns", SETTING_INTEGER, .least = 1, .help = "requests to the model"},
    {"budget.toolCalls", SETTING_INTEGER, .least = 1, .help = "tool calls"},
    {"budget.seconds", SETTING_INTEGER, .least = 1, .most = 1000000000,
     .help = "seconds of active time"},
    {"budget.onExceed", SETTING_STRING, .words = "fail, ask, warn",
     .help = "fail (no further request), ask (suspend the run), or warn (once)"},
    {0},
};

/* --- which session --- */

static struct err *find_session(const struct agent *a, const struct agent_session *wanted,
                                struct arena *scratch, struct session_options *o)
{
    struct store_summary found = {0};

    if (wanted->resume)
        TRY(session_store_find(a->store, o->cwd, str_of(wanted->resume), scratch, &found));
    else if (wanted->continues)
        TRY(session_store_find_newest(a->store, o->cwd, scratch, &found));
    o->id = str_of(wanted->id);
    if (!found.id.n)
        return NULL;
    o->start = wanted->forks ? SESSION_FORK : SESSION_RESUME;
    if (wanted->forks)
        o->source = found.id;
    else
        o->id = found.id;
    return NULL;
}

/* --- its length --- */

static void read_compaction(struct agent *a, struct compact_options *ret)
{
    const struct settings *s = a->project->settings;
    const struct json *threshold = settings_get(s, "compact.threshold");
    double share;

    agent_choose_reattachers(a, ret);
    ret->instructions = a->base->compact_instructions;
    ret->keeps_results = !settings_bool(s, "compact.results", true);
    if (json_double(threshold, &share))
        ret->threshold_per_mille = MAX((int)(share * 1000), 1);
    if (!settings_bool(s, "compact.enabled", true))
        ret->threshold_per_mille = -1;
}

/* --- its budget --- */

static void read_limit(const struct settings *s, const char *path, uint64_t *limit)
{
    if (!*limit)
        *limit = (uint64_t)settings_int(s, path, 0);
}

static void read_budget(const struct settings *s, struct budget_limits *limits)
{
    uint64_t seconds = 0;
    int64_t microcents;

    if (!limits->microcents && money_from_usd(settings_get(s, "budget.usd"), &microcents)) {
        limits->microcents = microcents;
        limits->money_set_by = "the setting budget.usd";
    }
    if (!limits->tokens)
        limits->tokens_set_by = "the setting budget.tokens";
    read_limit(s, "budget.tokens", &limits->tokens);
    read_limit(s, "budget.turns", &limits->rounds);
    read_limit(s, "budget.toolCalls", &limits->tool_calls);
    read_limit(s, "budget.seconds", &seconds);
    limits->active_ms = seconds * 1000;
    budget_action_find(json_str(settings_get(s, "budget.onExceed")), &limits->on_exceed);
}

/* --- what comes back with it --- */

/* What was allowed without asking then is asked again now, unless it is said again. */
static void restore_mode(struct agent *a, const struct agent_options *options)
{
    struct str kept = tool_state_text(a->session.conversation.state, STATE_MODE);
    enum permission_mode mode;

    if (!options->mode && permission_mode_find(kept, &mode) && mode != MODE_BYPASS)
        a->mode = mode;
}

void agent_note_mode(struct agent *a)
{
    struct tool_state *tools = a->session.conversation.state;
    struct str now = str_of(permission_mode_name(a->mode));

    if (!str_eq(tool_state_text(tools, STATE_MODE), now))
        tool_state_set_text(tools, STATE_MODE, now);
}

/* Before the first run there is nothing to tell: it begins with the mode of then. */
void agent_set_mode(struct agent *a, enum permission_mode mode)
{
    a->mode = mode;
    if (a->session.has_begun)
        agent_note_mode(a);
}

/* A model that cannot be asked any more is no reason not to go on. */
static void restore_model(struct agent *a, const struct agent_options *options)
{
    const struct loaded *l = &a->session.loaded;
    const struct target *first = &a->plan->chain->targets[0];
    AUTO(arena) struct arena scratch = {0};
    AUTO(err) struct err *e = NULL;
    AUTO_FREE char *text = NULL;

    if (!options->session.keeps_model || !l->model.n || !a->model ||
        (str_eq(l->model, first->model) && str_eq(l->provider, first->provider->id)))
        return;
    e = agent_set_model(
        a, arena_format(&scratch, "%" STR_FMT "/%" STR_FMT, STR_ARG(l->provider), STR_ARG(l->model))
               .p);
    text = e ? err_message(e) : NULL;
    if (e)
        agent_notice(a, SEVERITY_WARNING, "model",
                     arena_format(&scratch,
                                  "the session's model %" STR_FMT "/%" STR_FMT
                                  " is unavailable: %s; using %" STR_FMT,
                                  STR_ARG(l->provider), STR_ARG(l->model), text,
                                  STR_ARG(first->model)));
}

/* --- opening and closing --- */

/* Where nothing can be written and nobody has asked for it, a new session is not worth failing. */
static struct err *do_without(struct agent *a, const struct session_options *o,
                              struct err *take_error)
{
    AUTO(err) struct err *e = take_error;
    AUTO_FREE char *text = err_message(e);
    AUTO(arena) struct arena scratch = {0};
    struct session_options private = *o;
    const char *hint = err_find_hint(e);

    session_done(&a->session);
    host_close_store(a->project->host, TAKE(a->store));
    TRY(host_open_store(a->project->host, S("memory:"), 0, &a->store, &a->is_kept));
    private.store = a->store;
    TRY(session_open(&a->session, &private));
    agent_notice(a, SEVERITY_WARNING, "store",
                 arena_format(&scratch, "this session is not stored: %s%s%s", text,
                              hint ? "; " : "", hint ? hint : ""));
    return NULL;
}

struct err *agent_open_session(struct agent *a, const struct agent_options *options)
{
    AUTO(arena) struct arena scratch = {0};
    struct str name = options->session.is_private
                          ? S("memory:")
                          : session_store_name(a->project, options->session.store, &scratch);
    struct session_options o = {.cwd = str_of(a->project->place.cwd),
                                .name = str_of(options->session.name),
                                .must_be_whole = true,
                                .budget = options->budget,
                                .subscribers = a->subscribers,
                                .n_subscribers = a->n_subscribers,
                                .secrets = a->project->secrets,
                                .tasks = host_tasks(a->project->host)};
    bool is_resumed = options->session.resume || options->session.continues;
    struct err *e;

    read_budget(a->project->settings, &o.budget);
    read_compaction(a, &o.compact);
    TRY((is_resumed ? session_store_open_existing : session_store_open)(a->project, name, &a->store,
                                                                        &a->is_kept));
    TRY(find_session(a, &options->session, &scratch, &o));
    o.store = a->store;
    event_stream_done(&a->opening);
    e = session_open(&a->session, &o);
    if (err_is(e, ERR_STORAGE) && !name.n && o.start == SESSION_NEW)
        e = do_without(a, &o, e);
    if (e)
        return e;
    process_log_session(host_log(a->project->host), "session_open", a->session.conversation.id,
                        session_start_name(o.start), a->is_kept);
    group_begin_in(&a->background, o.tasks);
    group_begin_in(&a->lookup, o.tasks);
    a->has_tasks = true;
    tool_state_set_tasks(a->session.conversation.state, &a->background);
    a->blobs = store_blobs(a->store, str_of(a->session.conversation.id));
    restore_mode(a, options);
    restore_model(a, options);
    return o.start == SESSION_RESUME && o.name.n ? session_rename(&a->session, o.name) : NULL;
}

/* When everything else is done, and nobody waits for an answer any more. */
static void prune(struct agent *a)
{
    AUTO(arena) struct arena scratch = {0};
    struct prune_report report;
    AUTO(strbuf) struct strbuf text = {0};
    AUTO(err) struct err *e = NULL;

    if (!a->is_kept || !a->session.has_begun || a->session.loaded.last_run == LAST_RUN_NONE)
        return;
    e = prune_daily(a->project, a->store, str_of(a->session.conversation.id), &scratch, &report);
    if (report.n) {
        strbuf_add_cstr(&text, "removed ");
        prune_describe(&report, &text);
        strbuf_add_cstr(&text, ", unused for too long (sessions.retentionDays) or over the limit "
                               "(sessions.maxBytes)");
        agent_notice(a, SEVERITY_INFO, NOTICE_SOURCE, strbuf_str(&text));
    }
    if (report.n_held) {
        strbuf_clear(&text);
        prune_describe_held(&report, &text);
        agent_notice(a, SEVERITY_WARNING, NOTICE_SOURCE, strbuf_str(&text));
    }
}

void agent_close_session(struct agent *a)
{
    AUTO(err) struct err *e = NULL;
    AUTO_FREE char *text = NULL;

    agent_settle_snapshots(a);
    e = session_shutdown(&a->session, "other");
    if (a->session.is_open)
        process_log_session(host_log(a->project->host), "session_close", a->session.conversation.id,
                            NULL, a->is_kept);
    text = e ? err_message(e) : NULL;
    if (!e)
        snapshotter_forget_logs(a->snapshotter);
    if (e && !(a->session.journal && journal_has_warned(a->session.journal)))
        agent_notice(a, SEVERITY_ERROR, "store", str_of(text));
    agent_hooks_end(a);
    prune(a);
    session_done(&a->session);
}
