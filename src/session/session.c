/* session.c - opens a session, runs in it, ends it. */
#include "session/session.h"

#include "base/uuid.h"
#include "engine/open_calls.h"
#include "sys/fs.h"
#include "sys/loop.h"

#define SHELL_PREFIX "shell:"
#define ALLOW_PREFIX "allow:"
#define LEFT_TEXT                                                                                  \
    "This call was under way in the session that this one is a copy of. What became of it is not " \
    "known here, and it was not run again."

static int64_t now_ms(void)
{
    return clock_unix_ms(loop_clock(task_loop()));
}

static struct str new_id(struct session *s, char id[UUID_TEXT_SIZE])
{
    const struct random *random = s->options.random ? s->options.random : &random_system;
    unsigned char bytes[10];

    random_fill(random, bytes, sizeof bytes);
    uuid_v7(now_ms(), bytes, id);
    return str_of(id);
}

static void tell_person(const struct session *s, struct str text)
{
    if (text.n && s->options.on_notice)
        s->options.on_notice(s->options.self, text);
}

/* --- events outside of runs --- */

static void emit(struct session *s, enum event_type type, struct event *e)
{
    static const struct owner main_agent = {"agent", {"main", 4}, NULL};

    e->type = type;
    e->seq = s->conversation.next_seq++;
    e->unix_ms = now_ms();
    e->stream = str_of(s->conversation.id);
    e->owner = &main_agent;
    e->turn = s->conversation.n_runs;
    recorder_append(journal_recorder(s->journal), e);
}

static void on_state_change(void *self, struct str key, const struct json *value)
{
    struct event e = {.body.state = {.key = key, .value = value}};

    emit(self, EVENT_STATE, &e);
}

/* A run listens itself. */
static void listen(struct session *s)
{
    tool_session_listen(s->conversation.tools, (struct state_listener){on_state_change, s});
}

/* When it was: the history says the same. */
static int64_t tell_history(struct session *s, const struct message *m, size_t index,
                            const char *mutation)
{
    struct event e = {.body.message = {.message = m, .index = index, .mutation = mutation}};

    emit(s, EVENT_HISTORY, &e);
    return e.unix_ms;
}

static void commit(struct session *s, struct message *m)
{
    struct history *h = &s->conversation.history;

    history_add_message(h, m, tell_history(s, m, h->n_messages, "append"));
}

/* --- checkpoints --- */

static struct json *all_state(const struct session *s, struct arena *a)
{
    struct json *state = json_new(a, JSON_OBJECT);
    const struct json *value;
    struct str key;
    size_t at = 0;

    while (tool_session_next(s->conversation.tools, (struct str){0}, &at, &key, &value))
        json_set_key(a, state, arena_str(a, key), json_copy(a, value));
    return state;
}

static void checkpoint(struct session *s)
{
    AUTO(arena) struct arena a = {0};
    const struct spent *spent = &s->budget.spent;
    struct event e = {.body.checkpoint = {.base_seq = journal_base_seq(s->journal),
                                          .state = all_state(s, &a),
                                          .usage = spent->usage,
                                          .cost_microcents = spent->microcents,
                                          .cost_is_known = spent->cost_is_known,
                                          .n_rounds = spent->n_rounds,
                                          .n_tool_calls = spent->n_tool_calls,
                                          .active_ms = spent->active_ms}};

    s->checkpoint_base_seq = e.body.checkpoint.base_seq;
    emit(s, EVENT_CHECKPOINT, &e);
}

static bool needs_checkpoint(const struct session *s)
{
    return journal_n_core(s->journal) > SESSION_CHECKPOINT_EVERY ||
           (s->checkpoint_base_seq && journal_base_seq(s->journal) != s->checkpoint_base_seq);
}

/* --- opening --- */

static void copy_options(struct session *s, const struct session_options *options)
{
    struct session_options *o = &s->options;
    char id[UUID_TEXT_SIZE];

    *o = *options;
    o->id = arena_str(&s->arena, o->id.n ? o->id : new_id(s, id));
    o->source = arena_str(&s->arena, o->source);
    o->cwd = arena_str(&s->arena, o->cwd);
    o->name = arena_str(&s->arena, o->name);
}

static struct err *take_lease(struct session *s, const struct store_summary *create)
{
    struct err *e;

    TRY(store_open(s->options.store, s->options.id, create, &s->arena, &s->lease));
    if (!create || s->lease.is_new) {
        s->is_open = true;
        return NULL;
    }
    e = err_hint(
        err_new(ERR_VALIDATION, "there is a session %" STR_FMT " already", STR_ARG(s->options.id)),
        "--resume goes on with it");
    store_close(s->options.store, s->options.id, s->lease.fence);
    return e;
}

static void start_journal(struct session *s)
{
    s->journal = journal_new(&(struct journal_options){
        .store = s->options.store,
        .stream = s->options.id,
        .fence = s->lease.fence,
        .next_seq = s->lease.next_seq,
        .tasks = &s->tasks,
        .on_failure = s->options.on_failure,
        .on_notice = s->options.on_notice,
        .self = s->options.self,
    });
    s->conversation.next_seq = s->lease.next_seq;
    listen(s);
}

static struct store_summary summary_of(const struct session *s)
{
    return (struct store_summary){.id = s->options.id,
                                  .cwd = s->options.cwd,
                                  .name = s->options.name,
                                  .preview = s->loaded.summary.preview,
                                  .created_ms = now_ms()};
}

static struct err *open_new(struct session *s)
{
    struct store_summary create = summary_of(s);

    TRY(take_lease(s, &create));
    start_journal(s);
    return NULL;
}

/* --- opening again --- */

static void restore_spent(struct session *s)
{
    const struct loaded *l = &s->loaded;

    s->budget.spent = (struct spent){.usage = l->usage,
                                     .microcents = l->cost_microcents,
                                     .cost_is_known = l->cost_is_known,
                                     .n_rounds = l->n_rounds,
                                     .n_tool_calls = l->n_tool_calls,
                                     .active_ms = l->active_ms};
}

/* Tools work where the session is now, and where the person is: a directory that is gone, or
 * another project's, is neither. */
static void restore_cwd(struct session *s)
{
    struct tool_session *tools = s->conversation.tools;

    if (!str_eq(s->loaded.summary.cwd, s->options.cwd) || !fs_is_dir(tool_session_cwd(tools)))
        tool_session_set_cwd(tools, tool_session_workspace(tools));
}

/* Nobody knows what became of them. */
static void restore_shells(struct session *s)
{
    AUTO(arena) struct arena a = {0};
    const struct json *value;
    struct str key;
    size_t at = 0;

    while (tool_session_next(s->conversation.tools, S(SHELL_PREFIX), &at, &key, &value)) {
        struct json *now;

        if (!str_is(json_get_text(value, "state"), "running"))
            continue;
        now = json_copy(&a, value);
        json_set_str(&a, now, "state", S("unknown"));
        strbuf_addf(&s->notice, "%s- %" STR_FMT ": %" STR_FMT "\n",
                    s->notice.n ? ""
                                : "[keel was stopped while these background commands ran. It is "
                                  "not known what became of them, and their output is lost:\n",
                    STR_ARG(str_skip(key, strlen(SHELL_PREFIX))),
                    STR_ARG(json_get_text(value, "command")));
        tool_session_set(s->conversation.tools, arena_str(&a, key), now);
    }
    if (s->notice.n)
        strbuf_add_cstr(&s->notice, "Look at the state of things before you start them again.]");
}

static struct err *open_again(struct session *s)
{
    TRY(take_lease(s, NULL));
    TRY(session_load(s->options.store, s->options.id, 0, &s->conversation, &s->loaded));
    start_journal(s);
    journal_continue(s->journal, s->loaded.base_seq, &s->conversation.history);
    s->checkpoint_base_seq = s->loaded.base_seq;
    tell_person(s, s->lease.notice);
    tell_person(s, s->loaded.notice);
    restore_spent(s);
    restore_cwd(s);
    restore_shells(s);
    return NULL;
}

/* --- opening a copy --- */

static void copy_history(struct session *s)
{
    const struct history *h = &s->conversation.history;
    size_t index = 0;

    for (size_t i = 0; i < h->n; i++)
        if (h->entries[i].message)
            tell_history(s, h->entries[i].message, index++, "fork-base");
}

static const struct part *find_result(const struct session *s, const struct open_call *c)
{
    const struct loaded *l = &s->loaded;

    for (size_t i = 0; i < l->n_outcomes; i++)
        if (l->outcomes[i].index == c->index && str_eq(l->outcomes[i].call_id, c->part->id))
            return l->outcomes[i].result;
    return NULL;
}

static void close_call(struct session *s, const struct open_call *c)
{
    struct part text = {.kind = PART_TEXT, .text = S(LEFT_TEXT)};
    struct part left = {.kind = PART_TOOL_RESULT,
                        .id = c->part->id,
                        .name = c->part->name,
                        .is_error = true,
                        .content = &text,
                        .n_content = 1};
    const struct part *known = find_result(s, c);
    char id[UUID_TEXT_SIZE];
    AUTO(message) struct message *m = message_new(ROLE_TOOL, new_id(s, id));

    message_add(m, known ? known : &left);
    commit(s, m);
}

static void close_calls(struct session *s)
{
    const struct history *h = &s->conversation.history;
    const struct message *answer = open_calls_find(h);
    AUTO(arena) struct arena a = {0};
    struct open_call *calls;
    size_t n = answer ? open_calls_of(h, answer, &a, &calls) : 0;

    for (size_t i = 0; i < n; i++)
        close_call(s, &calls[i]);
}

/* The source may still be at work: what it was about to do is its own, and not done here too. */
static void leave_to_source(struct session *s)
{
    struct loaded *l = &s->loaded;

    if (l->last_run != LAST_RUN_CUT_OFF)
        return;
    close_calls(s);
    message_unref(TAKE(l->prompt));
    message_unref(TAKE(l->partial));
    l->n_outcomes = 0;
    l->last_run = LAST_RUN_ENDED;
}

static struct err *open_copy(struct session *s)
{
    struct store_summary create;

    TRY(session_load(s->options.store, s->options.source, s->options.source_seq, &s->conversation,
                     &s->loaded));
    create = summary_of(s);
    TRY(take_lease(s, &create));
    start_journal(s);
    tell_person(s, s->loaded.notice);
    copy_history(s);
    leave_to_source(s);
    restore_cwd(s);
    restore_shells(s);
    checkpoint(s);
    return journal_sync(s->journal);
}

struct err *session_open(struct session *s, const struct session_options *options)
{
    *s = (struct session){0};
    copy_options(s, options);
    group_begin(&s->tasks, 0, GROUP_KEEP_GOING);
    s->has_tasks = true;
    conversation_init(&s->conversation, s->options.id, s->options.cwd);
    compaction_init(&s->compaction, &s->options.compact, &s->conversation, NULL);
    budget_init(&s->budget, &s->options.budget);
    s->budget.state = s->conversation.tools;
    s->budget.on_notice = s->options.on_notice;
    s->budget.self = s->options.self;
    switch (s->options.start) {
    case SESSION_NEW:
        return open_new(s);
    case SESSION_RESUME:
        return open_again(s);
    case SESSION_FORK:
        return open_copy(s);
    }
    BUG("a session starts in no known way");
}

void session_begin(struct session *s, const struct event_session *how)
{
    struct event e = {.body.session = *how};

    if (s->has_begun)
        return;
    s->has_begun = true;
    if (s->options.store->ops->save_record) /* only some keep a record beside the log */
        s->start = record_start_of(&s->arena, how);
    emit(s, EVENT_SESSION_BEGIN, &e);
}

/* --- what a crash has left --- */

static const struct message *last_message(const struct session *s)
{
    const struct history *h = &s->conversation.history;

    for (size_t i = h->n; i-- > 0;)
        if (h->entries[i].message && !h->entries[i].message->is_error)
            return h->entries[i].message;
    return NULL;
}

static bool is_answered(const struct session *s)
{
    const struct message *m = last_message(s);

    return m && m->role == ROLE_ASSISTANT && m->state == MESSAGE_COMPLETE &&
           !open_calls_find(&s->conversation.history);
}

bool session_can_go_on(const struct session *s)
{
    return s->loaded.last_run == LAST_RUN_CUT_OFF || s->loaded.last_run == LAST_RUN_SUSPENDED ||
           (last_message(s) && !is_answered(s));
}

/* The same message with what the model is still to be told. */
static struct message *with_notice(struct session *s, const struct message *m)
{
    struct message *longer = message_new(ROLE_USER, m->id);

    for (size_t i = 0; i < m->n_parts; i++)
        message_add(longer, &m->parts[i]);
    message_add_text(longer, strbuf_str(&s->notice));
    strbuf_clear(&s->notice);
    return longer;
}

static void commit_notice(struct session *s)
{
    char id[UUID_TEXT_SIZE];
    AUTO(message) struct message *m = NULL;

    if (!s->notice.n || is_answered(s) || open_calls_find(&s->conversation.history))
        return;
    m = message_new(ROLE_USER, new_id(s, id));
    message_add_text(m, strbuf_str(&s->notice));
    strbuf_clear(&s->notice);
    commit(s, m);
}

/* The input of a run; NULL: it goes on with the history. */
static struct message *find_input(struct session *s, struct message *given)
{
    AUTO(message) struct message *input = given ? message_ref(given) : TAKE(s->loaded.prompt);

    if (s->loaded.partial)
        commit(s, s->loaded.partial);
    message_unref(TAKE(s->loaded.partial));
    if (!input)
        commit_notice(s);
    return input && s->notice.n ? with_notice(s, input) : TAKE(input);
}

/* --- runs --- */

static void take_budget_answers(struct session *s, const struct run_options *o)
{
    for (size_t i = 0; i < o->n_answers; i++) {
        enum answer_kind kind = o->answers[i].answer.kind;

        if (o->answers[i].call_id.n)
            continue;
        if (kind == ANSWER_NO)
            s->budget.limits.on_exceed = BUDGET_FAILS;
        budget_grant(&s->budget, kind);
    }
}

static void add_plugin(struct session *s, struct arena *a, struct run_options *o)
{
    struct plugin **plugins = ARENA_ARRAY(a, o->n_plugins + 1, struct plugin *);

    for (size_t i = 0; i < o->n_plugins; i++)
        plugins[i] = o->plugins[i];
    plugins[o->n_plugins++] = budget_plugin(&s->budget);
    o->plugins = plugins;
}

static void end_run(struct session *s, const struct run_result *r)
{
    struct loaded *l = &s->loaded;

    budget_end_run(&s->budget);
    listen(s);
    message_unref(TAKE(l->prompt));
    l->n_outcomes = l->n_asks = 0;
    l->last_run = r->outcome == RUN_SUSPENDED ? LAST_RUN_SUSPENDED : LAST_RUN_ENDED;
    if (needs_checkpoint(s))
        checkpoint(s);
    task_shield_begin();
    err_ignore(journal_sync(s->journal), "the journal has told it to the person");
    task_shield_end();
}

void session_run(struct session *s, const struct run_options *options,
                 struct run_result *ret_result)
{
    AUTO(arena) struct arena a = {0};
    AUTO(message) struct message *input = NULL;
    struct run_options o = *options;

    take_budget_answers(s, &o);
    o.input = input = find_input(s, options->input);
    o.recorder = journal_recorder(s->journal);
    o.budget = budget_hooks(&s->budget);
    o.outcomes = s->loaded.outcomes;
    o.n_outcomes = s->loaded.n_outcomes;
    o.compactor = &s->compaction.compactor;
    s->compaction.hooks = o.hooks;
    add_plugin(s, &a, &o);
    budget_begin_run(&s->budget);
    run_start(&s->conversation, &o, ret_result);
    end_run(s, ret_result);
}

/* --- changes by hand --- */

struct err *session_inject(struct session *s, enum role role, struct str text)
{
    char id[UUID_TEXT_SIZE];
    AUTO(message) struct message *m = message_new(role, new_id(s, id));

    message_add_text(m, text);
    commit(s, m);
    return journal_sync(s->journal);
}

struct err *session_clear(struct session *s)
{
    history_done(&s->conversation.history);
    s->loaded.n_outcomes = 0;
    message_unref(TAKE(s->loaded.prompt));
    message_unref(TAKE(s->loaded.partial));
    s->loaded.last_run = LAST_RUN_ENDED;
    tell_history(s, NULL, 0, "clear");
    checkpoint(s);
    return journal_sync(s->journal);
}

struct err *session_rename(struct session *s, struct str name)
{
    return store_update(
        s->options.store,
        &(struct store_summary){.id = s->options.id, .name = name, .updated_ms = now_ms()});
}

size_t session_allowed(const struct session *s, struct arena *a, struct str **ret_patterns)
{
    const struct json *value;
    size_t at = 0, n = 0, room = 0;
    struct str key;

    *ret_patterns = NULL;
    while (tool_session_next(s->conversation.tools, S(ALLOW_PREFIX), &at, &key, &value)) {
        *ret_patterns = arena_grow(a, *ret_patterns, n, &room, sizeof **ret_patterns);
        (*ret_patterns)[n++] = arena_str(a, str_skip(key, strlen(ALLOW_PREFIX)));
    }
    return n;
}

void session_clear_allowed(struct session *s)
{
    const struct json *value;
    struct str key;
    size_t at = 0;

    while (tool_session_next(s->conversation.tools, S(ALLOW_PREFIX), &at, &key, &value))
        tool_session_set(s->conversation.tools, key, NULL);
}

/* --- the end --- */

static bool is_untouched(const struct session *s)
{
    return s->lease.is_new && s->conversation.next_seq == s->lease.next_seq;
}

static struct err *write_end(struct session *s, const char *reason)
{
    struct event e = {.body.session.reason = reason};

    if (journal_n_core(s->journal))
        checkpoint(s);
    emit(s, EVENT_SESSION_END, &e);
    return journal_sync(s->journal);
}

struct err *session_shutdown(struct session *s, const char *reason)
{
    struct err *e = NULL;

    if (!s->is_open || s->is_shut_down)
        return NULL;
    s->is_shut_down = true;
    task_shield_begin();
    if (s->journal && !is_untouched(s))
        e = write_end(s, reason);
    if (!e && s->journal && !is_untouched(s))
        e = session_record_save(s->options.store, s->options.id, &s->conversation.history,
                                &s->start);
    store_close(s->options.store, s->options.id, s->lease.fence);
    if (s->journal && is_untouched(s))
        e = store_remove(s->options.store, s->options.id);
    task_shield_end();
    return e;
}

void session_done(struct session *s)
{
    err_ignore(session_shutdown(s, "other"), "whoever wants to know has shut it down himself");
    if (s->has_tasks)
        err_ignore(group_end(&s->tasks), "the journal's task tells its failures itself");
    journal_free(s->journal);
    loaded_done(&s->loaded);
    budget_done(&s->budget);
    compaction_done(&s->compaction);
    conversation_done(&s->conversation);
    strbuf_done(&s->notice);
    arena_done(&s->arena);
    *s = (struct session){0};
}
