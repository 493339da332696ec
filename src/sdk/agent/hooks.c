/* hooks.c - which hooks an agent has, and when its session begins and ends for them. */
#include "sdk/agent/parts.h"

#include "hook/executors.h"
#include "hook/run.h"
#include "sdk/sandbox/checked_launcher.h"

struct agent_hooks {
    struct command_hooks commands;
    struct checked_launcher checked; /* for those of the project */
    struct http_hooks http;
    struct hook_executor *executors[2];
    struct hook_runner runner;
    bool has_begun;
    struct str transcript; /* found when it is asked for */
};

/* The session's log, where it is a file of its own; else empty. */
static struct str find_transcript(struct agent *a)
{
    const char *id = a->session.conversation.id;

    if (!a->hooks->transcript.n && a->store && a->store->place &&
        strcmp(a->store->ops->name, "files") == 0)
        a->hooks->transcript = arena_format(&a->arena, "%s/%s.jsonl", a->store->place, id);
    return a->hooks->transcript;
}

static void tell_place(void *self, struct hook_place *ret_place)
{
    struct agent *a = self;

    *ret_place = (struct hook_place){.session_id = str_of(a->session.conversation.id),
                                     .transcript_path = find_transcript(a),
                                     .cwd = tool_state_cwd(a->session.conversation.state),
                                     .permission_mode = permission_mode_name(a->mode)};
}

static void warn(struct agent *a, struct str text)
{
    agent_notice(a, SEVERITY_WARNING, "hook", text);
}

static void on_failure(void *self, enum hook_event event, struct str text)
{
    warn(self, text);
}

void agent_hooks_open(struct agent *a)
{
    const struct hook_config *config = a->base->hooks;
    const struct tool_config *tools = &a->base->tool_config;
    const char *const *environment = host_environment(a->project->host);
    /* A person's own commands run as they are, unless the settings say otherwise. */
    bool is_confined = settings_bool(a->project->settings, "sandbox.hooks", false);
    struct agent_hooks *h;

    for (size_t i = 0; i < hook_config_n_warnings(config); i++)
        warn(a, hook_config_warning(config, i));
    if (hook_config_is_empty(config))
        return;
    a->hooks = h = mem_alloc(sizeof *h);
    command_hooks_init(&h->commands, is_confined ? &a->sandbox.launcher : &launcher_plain,
                       a->project->place.dir, environment);
    h->commands.is_confined = is_confined && tools->is_confined;
    h->commands.secret_variables = tools->secret_variables;
    h->commands.n_secret_variables = tools->n_secret_variables;
    h->commands.secrets = tools->secrets;
    checked_launcher_init(&h->checked, h->commands.launcher, a->project);
    h->commands.project_launcher = &h->checked.launcher;
    http_hooks_init(&h->http, &a->project->http, environment);
    h->executors[0] = &h->commands.executor;
    h->executors[1] = &h->http.executor;
    hook_runner_init(&h->runner);
    h->runner.config = config;
    h->runner.executors = h->executors;
    h->runner.n_executors = ARRAY_LEN(h->executors);
    h->runner.place = tell_place;
    h->runner.notice = on_failure;
    h->runner.self = a;
    a->gate.hooks = agent_hooks_port(a);
}

void agent_hooks_done(struct agent *a)
{
    mem_free(a->hooks);
    a->hooks = NULL;
}

struct hooks *agent_hooks_port(struct agent *a)
{
    return a->hooks ? &a->hooks->runner.hooks : NULL;
}

/* --- the session --- */

static struct err *ask(struct agent *a, enum hook_event event, const char *key, struct str value,
                       struct arena *arena, struct hook_outcome *ret_outcome)
{
    struct json *fields = json_new(arena, JSON_OBJECT);
    struct hook_input input = {.event = event, .matched = value, .fields = fields};

    json_set_str(arena, fields, key, value);
    if (event == HOOK_SESSION_START)
        json_set_str(arena, fields, "model", a->plan->chain->targets[0].model);
    return hooks_run(agent_hooks_port(a), &input, arena, ret_outcome);
}

struct err *agent_hooks_begin(struct agent *a)
{
    AUTO(arena) struct arena scratch = {0};
    bool is_new = a->session.options.start == SESSION_NEW;
    struct str source = is_new ? S("startup") : S("resume");
    struct hook_outcome outcome;

    if (!a->hooks || a->hooks->has_begun)
        return NULL;
    a->hooks->has_begun = true;
    TRY(ask(a, HOOK_SESSION_START, "source", source, &scratch, &outcome));
    if (outcome.system_message.n)
        warn(a, outcome.system_message);
    if (outcome.additional_context.n)
        agent_add_context(a, outcome.additional_context);
    return NULL;
}

void agent_hooks_end(struct agent *a)
{
    AUTO(arena) struct arena scratch = {0};
    struct hook_outcome outcome;
    bool is_interrupted = task_was_cancelled();

    if (!a->hooks || !a->hooks->has_begun)
        return;
    a->hooks->has_begun = false;
    /* What ended the run does not keep it from running; what comes later ends it. */
    if (is_interrupted)
        task_shield_begin();
    err_ignore(ask(a, HOOK_SESSION_END, "reason", S("other"), &scratch, &outcome),
               "the session ends all the same");
    if (is_interrupted)
        task_shield_end();
}
