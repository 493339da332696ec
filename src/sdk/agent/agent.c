/* agent.c - puts an agent together from a project and what the caller wants. */
#include "sdk/agent/parts.h"

#include "config/network_rules.h"
#include "port/todos.h"
#include "sdk/prompt/system_prompt.h"
#include "sdk/prompt/todo_reminder.h"
#include "snapshot/snapshot.h"
#include "sys/loop.h"
#include "view/operator_log.h"

#include <stdlib.h>

/* At a time; a model seldom asks for more, and each may be a process. */
#define MAX_CONCURRENT_TOOLS 10

void agent_notice(struct agent *a, enum severity severity, const char *source, struct str text)
{
    if (a->session.conversation.id)
        session_notice(&a->session, severity, source, text);
    else
        event_stream_notice(&a->opening, severity, source, text);
}

/* --- what the model is told --- */

/* Of keel's own lines those about `tools`; NULL: none of them. */
static struct err *write_system_prompt(const struct agent *a, const struct plan_words *words,
                                       const struct tool_set *tools, struct strbuf *text)
{
    system_prompt_write(
        text, &(struct system_prompt){
                  .instead = words->system_prompt,
                  .append = words->append_system_prompt,
                  .tools = tools,
                  .searches_web = a->plan->plan.web_search,
                  .is_summarised = settings_bool(a->project->settings, "compact.enabled", true),
              });
    return strbuf_check(text, "the system prompt");
}

struct err *agent_set_prompt(struct agent *a, const char *instead, const char *append)
{
    struct plan_words *words = plan_words_copy(a->plan->words);
    struct agent_plan *next = agent_plan_copy(a->plan);
    AUTO(strbuf) struct strbuf text = {0};

    if (instead)
        words->system_prompt = arena_cstr(&words->arena, str_of(instead));
    if (append)
        words->append_system_prompt = arena_cstr(&words->arena, str_of(append));
    agent_plan_set_words(next, words);
    agent_swap_plan(a, next);
    a->has_prefix = false;
    return write_system_prompt(a, words, NULL, &text);
}

void agent_swap_plan(struct agent *a, struct agent_plan *take_next)
{
    struct agent_plan *before = a->plan;

    a->plan = take_next;
    agent_plan_unref(before);
}

void agent_set_thinking(struct agent *a, int64_t max_tokens)
{
    struct agent_plan *next = agent_plan_copy(a->plan);

    next->plan.reasoning_budget = MAX(max_tokens, (int64_t)0);
    if (max_tokens <= 0)
        next->plan.effort = max_tokens ? EFFORT_UNSET : EFFORT_NONE;
    agent_swap_plan(a, next);
}

/* --- who answers --- */

static struct err *answer_later(struct asker *asker, const struct ask *ask, struct arena *a,
                                struct answer *ret_answer)
{
    *ret_answer = (struct answer){.kind = ANSWER_LATER};
    return NULL;
}

static struct asker agent_asks_later = {answer_later};

static void set_asker(struct agent *a, struct asker *given)
{
    struct str choice = json_str(settings_get(a->project->settings, "permissions.onAsk"));

    a->asker = !given && str_is(choice, "suspend") ? &agent_asks_later : given;
}

/* --- what tools use --- */

/* A model may read this: it must not think that it has a say. */
static const char sandbox_off[] = "Only a person can let commands run without the sandbox, by "
                                  "\"sandbox\": {\"enabled\": false} in ~/.keel/settings.json";

/* What commands leave there for later is read without a question. */
static void let_read(void *self, const char *tmp_dir)
{
    struct agent *a = self;
    char *real = realpath(tmp_dir, NULL);

    a->tmp_dir = arena_cstr(&a->arena, str_of(real ? real : tmp_dir));
    a->gate.policy.readable = &a->tmp_dir;
    a->gate.policy.n_readable = 1;
    free(real);
}

static void open_sandbox(struct agent *a)
{
    const struct project *p = a->project;
    const struct agent_base *b = a->base;
    const char *const *environment = host_environment(p->host);

    agent_sandbox_init(&a->sandbox,
                       &(struct agent_sandbox_options){
                           .source = {.workspace = p->place.cwd,
                                      .added_dirs = b->rules.added_dirs,
                                      .n_added_dirs = b->rules.n_added_dirs,
                                      .rules = &b->rules.gate_rules,
                                      .home = p->place.home,
                                      .keel_home = p->place.keel_home,
                                      .store_place = a->store->place,
                                      .environment = environment},
                           .notices = &a->session.conversation.stream,
                           .on_tmp_dir = let_read,
                           .tmp_self = a,
                           .remedy = sandbox_off,
                           .network = &b->network,
                           .environment = environment,
                           .tasks = &a->background,
                           .is_off = !b->tool_config.is_confined,
                           .require_full = settings_bool(p->settings, "sandbox.requireFull", false),
                       });
    agent_sandbox_recover(&a->sandbox);
}

/* The person may have chosen another mode with their answer. */
static const char *leave_plan_mode(void *self, bool accepts_edits)
{
    struct agent *a = self;

    if (a->mode == MODE_PLAN)
        a->mode = accepts_edits ? MODE_ACCEPT_EDITS : MODE_DEFAULT;
    agent_note_mode(a);
    return permission_mode_name(a->mode);
}

static void describe_new_mode(void *self, struct strbuf *out)
{
    agent_tell_surroundings(self, out);
}

/* --- who hears of it --- */

static void subscribe(struct agent *a, const struct agent_options *options)
{
    struct log *log = host_log(a->project->host);

    a->log_writer = (struct event_subscriber){.on_event = operator_log_event, .self = log};
    if (log)
        a->subscribers[a->n_subscribers++] = &a->log_writer;
    if (options->subscriber)
        a->subscribers[a->n_subscribers++] = options->subscriber;
    BUG_IF(a->n_subscribers > ARRAY_LEN(a->subscribers));
    for (size_t i = 0; i < a->n_subscribers; i++)
        event_stream_subscribe(&a->opening, a->subscribers[i]);
}

/* --- all together --- */

static struct err *put_together(struct agent *a, const struct agent_options *options)
{
    struct project *project = a->project;

    if (!project->place.cwd)
        return err_hint(err_new(ERR_VALIDATION, "the working directory no longer exists"),
                        "start keel in a directory that exists, or add --cwd DIR");
    subscribe(a, options);
    set_asker(a, options->asker);
    log_hide(host_log(project->host), project_secrets(project, options->session.store));
    TRY(agent_add_targets(a, options));
    TRY(agent_set_rules(a, options));
    TRY(agent_set_prompt(a, options->system_prompt, options->append_system_prompt));
    TRY(agent_open_session(a, options));
    agent_choose_native(a);
    open_sandbox(a);
    TRY(agent_add_snapshots(a));
    a->plan_mode = (struct plan_mode){leave_plan_mode, describe_new_mode, a};
    a->plan->plan.stream = !options->no_stream;
    a->plan->plan.effort = options->effort;
    a->plan->plan.reasoning_budget = options->reasoning_budget;
    a->wait_background_ms = options->wait_background_ms;
    a->stops_background = options->stops_background;
    agent_hooks_open(a);
    return NULL;
}

void agent_close(struct agent *a)
{
    if (!a)
        return;
    if (a->has_tasks) {
        agent_end_lookups(a);
        group_cancel(&a->background);
        err_ignore(group_end(&a->background), "nobody waits for what they would have said");
        agent_news_end(a);
    }
    host_take_warm(&a->warm);
    agent_close_session(a);
    event_stream_done(&a->opening);
    agent_hooks_done(a);
    agent_sandbox_done(&a->sandbox);
    denied_paths_free(a->denied);
    permission_gate_done(&a->gate);
    snapshotter_free(a->snapshotter);
    host_close_store(a->project->host, a->store);
    strbuf_done(&a->context);
    strbuf_done(&a->typed);
    agent_plan_unref(a->plan);
    model_choice_unref(a->model);
    agent_base_unref(a->base);
    arena_done(&a->arena);
    project_unref(a->project);
    mem_free(a);
}

struct err *agent_open(struct project *project, const struct agent_options *options,
                       struct agent **ret_agent)
{
    AUTO(agent) struct agent *a = mem_alloc(sizeof *a);

    *a = (struct agent){.project = project_ref(project), .plan = agent_plan_new()};
    TRY(put_together(a, options));
    *ret_agent = TAKE(a);
    return NULL;
}

struct session *agent_get_session(struct agent *a)
{
    return &a->session;
}

const struct run_plan *agent_get_plan(const struct agent *a)
{
    return &a->plan->plan;
}

const struct model_choice *agent_get_model(const struct agent *a)
{
    return a->model;
}

enum permission_mode agent_get_mode(const struct agent *a)
{
    return a->mode;
}

bool agent_is_kept(const struct agent *a)
{
    return a->is_kept;
}

/* --- what a run is given --- */

static void remind(void *self, const struct history *h, struct strbuf *out)
{
    const struct agent *a = self;

    todo_reminder_write(h, todos_get(a->session.conversation.state), out);
}

static const struct run_plan *plan_of(void *self)
{
    struct agent *a = self;

    agent_use_learned(a);
    return &a->plan->plan;
}

static struct run_kit kit_of(struct agent *a, struct asker *asker)
{
    const struct agent_limits *limits = &a->base->limits;

    return (struct run_kit){
        .plan = plan_of,
        .plan_self = a,
        .gate = &a->gate.gate,
        .call = a->model ? project_provider_call(a->project, &a->model->profile)
                         : (struct provider_call){0},
        .hooks = agent_hooks_port(a),
        .tool_config = &a->base->tool_config,
        .launcher = &a->sandbox.launcher,
        .looker = &a->sandbox.looker.launcher,
        .http = &a->project->http,
        .blobs = a->blobs,
        .snapshotter = a->snapshotter,
        .news = &a->news,
        .asker = asker,
        .plan_mode = &a->plan_mode,
        .remind = remind,
        .remind_self = a,
        .secrets = a->project->secrets,
        .hidden = a->denied ? &a->hidden : NULL,
        .max_rounds = limits->max_rounds,
        .max_stop_blocks = limits->max_stop_blocks,
        .retry_max_ms = a->retry_max_ms,
        .tool_timeout_ms = limits->tool_timeout_ms,
        .tool_timeouts = limits->tool_timeouts,
        .tool_response_bytes = limits->tool_response_bytes,
        .max_concurrency = MAX_CONCURRENT_TOOLS,
    };
}

/* Anew for each run: relative rules count from where the session stands. */
static void hide_denied_paths(struct agent *a)
{
    denied_paths_free(a->denied);
    a->denied = denied_paths_new(&a->gate.rules, a->session.conversation.state);
    denied_paths_hide_secrets(a->denied, &a->gate.policy);
    a->hidden = denied_paths_filter(a->denied);
}

static void hide_in(const struct agent *a, struct arena *arena, const char **text)
{
    AUTO(strbuf) struct strbuf shown = {0};
    struct str known = str_of(*text);
    struct str hidden = secrets_hide(a->project->secrets, known, &shown, NULL);

    if (hidden.p != known.p)
        *text = arena_cstr(arena, hidden);
}

/* What all requests begin with, if the session has it and the person wants nothing else; else NULL.
 * The plan has all that they want then. */
static struct prefix *find_prefix(struct agent *a, struct prefix_wishes *ret_wishes)
{
    struct plan_words *words = plan_words_copy(a->plan->words);
    struct agent_plan *next = agent_plan_copy(a->plan);
    struct prefix_wishes wishes = {
        .names_tools = a->names_tools, .search = a->search_wish, .fetch = a->fetch_wish};
    struct prefix *found;

    hide_in(a, &words->arena, &words->system_prompt);
    hide_in(a, &words->arena, &words->append_system_prompt);
    wishes.system_prompt = words->system_prompt;
    wishes.append_system_prompt = words->append_system_prompt;
    wishes.filter = words->filter;
    found =
        prefix_find(&a->project->prefixes, a->session.conversation.state, &wishes, &words->arena);
    words->system_prompt = wishes.system_prompt;
    words->append_system_prompt = wishes.append_system_prompt;
    words->filter = wishes.filter;
    agent_plan_set_words(next, words);
    if (found)
        agent_plan_set_prefix(next, found);
    next->plan.web_search = wishes.search == NATIVE_WANTED;
    next->plan.web_fetch = wishes.fetch == NATIVE_WANTED;
    agent_swap_plan(a, next);
    a->tells_surroundings = !wishes.system_prompt;
    *ret_wishes = wishes;
    return found;
}

static void use_prefix(struct agent *a, struct prefix *take_prefix)
{
    struct agent_plan *next = agent_plan_copy(a->plan);

    agent_plan_set_prefix(next, take_prefix);
    agent_swap_plan(a, next);
}

static void tell_begin(struct agent *a, struct str system, const struct tool_set *tools)
{
    const struct target *first = &a->plan->chain->targets[0];

    session_begin(&a->session, &(struct event_session){
                                   .cwd = str_of(a->project->place.cwd),
                                   .provider = first->provider->id,
                                   .model = first->model,
                                   .system = system,
                                   .tools = tools,
                               });
}

/* What the session begins with, as the first run finds it; and what all its requests begin with. */
static void begin_session(struct agent *a)
{
    struct prefix_wishes wishes;
    bool is_known = a->has_prefix || find_prefix(a, &wishes);
    AUTO(tool_set) struct tool_set *tools = NULL;
    AUTO(strbuf) struct strbuf system = {0};

    if (is_known && a->session.has_begun)
        return;
    tools = agent_exposed_tools(a);
    if (is_known) {
        tell_begin(a, a->plan->plan.system, tools);
        return;
    }
    err_ignore(write_system_prompt(a, a->plan->words, tools, &system),
               "its length was checked when it was set");
    tell_begin(a, strbuf_str(&system), tools);
    use_prefix(a, prefix_keep(&a->project->prefixes, a->session.conversation.state, &wishes,
                              strbuf_str(&system), tools));
}

/* --- runs --- */

/* Only what makes the next request and the next command quicker. */
static bool agent_cool(struct host_warm *w)
{
    struct agent *a = (struct agent *)((char *)w - offsetof(struct agent, warm));

    const struct session *s = &a->session;

    if (journal_durable_seq(s->journal) < s->conversation.stream.next_seq ||
        !agent_sandbox_rest(&a->sandbox))
        return false;
    conversation_rest(&a->session.conversation);
    snapshotter_forget_logs(a->snapshotter); /* the journal has all that they are for */
    return true;
}

static void end_run(struct agent *a)
{
    denied_paths_free(TAKE(a->denied));
    if (!a->context.n)
        strbuf_done(&a->context);
    if (!a->typed.n)
        strbuf_done(&a->typed);
    a->warm.cool = agent_cool;
    host_keep_warm(a->project->host, &a->warm);
}

/* What comes before every run. */
static struct err *prepare_run(struct agent *a)
{
    struct err *e;

    host_take_warm(&a->warm);
    hide_denied_paths(a);
    e = agent_hooks_begin(a);
    if (e) {
        end_run(a);
        return e;
    }
    agent_news_begin(a);
    if (a->model)
        profile_credentials_learn(&a->project->credentials,
                                  a->plan->chain->targets[0].provider->id);
    begin_session(a);
    a->has_prefix = true;
    return NULL;
}

/* What a suspended run asked is still asked when it is resumed: silence is not a no. */
static struct asker *find_asker(const struct agent *a, const struct run_input *input)
{
    bool asks_again = !input->prompt && a->session.loaded.last_run == LAST_RUN_SUSPENDED;

    return asks_again && !a->asker ? &agent_asks_later : a->asker;
}

struct err *agent_run(struct agent *a, const struct run_input *input, struct run_result *ret_result)
{
    AUTO(message) struct message *prompt = NULL;
    struct run_input own = *input;
    struct run_kit kit;

    *ret_result = (struct run_result){0};
    TRY(prepare_run(a));
    if (input->prompt)
        own.prompt = prompt = agent_with_context(a, input->prompt);
    agent_note_mode(a);
    agent_remember_typed(a);
    agent_look_up_models(a);
    kit = kit_of(a, find_asker(a, input));
    session_run(&a->session, &own, &kit, ret_result);
    end_run(a);
    return NULL;
}

struct err *agent_compact(struct agent *a, struct str instructions, struct run_result *ret_result)
{
    struct run_kit kit;
    struct err *e;

    *ret_result = (struct run_result){0};
    TRY(prepare_run(a));
    agent_note_mode(a);
    kit = kit_of(a, a->asker);
    e = session_compact(&a->session, &kit, instructions, ret_result);
    end_run(a);
    return e;
}

struct tool_set *agent_exposed_tools(struct agent *a)
{
    const struct run_kit kit = kit_of(a, a->asker);

    return run_tools(&kit, &a->plan->plan, NULL);
}
