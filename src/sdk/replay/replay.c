/* replay.c - all runs of a session, each from where the stream stood when it began. */
#include "sdk/replay/parts.h"

#include "model/message_json.h"
#include "session/load.h"

/* --- blobs --- */

/* The engine puts what is too long there, and never reads it: only its hash counts. */
static struct err *blobs_put(struct blob_store *b, struct str bytes, char handle[SHA256_HEX_SIZE])
{
    sha256_hex(bytes, handle);
    return NULL;
}

static struct err *blobs_get(struct blob_store *b, struct str handle, uint64_t from, size_t n,
                             struct strbuf *out)
{
    return err_new(ERR_STORAGE, "nothing is stored in a replay");
}

static struct err *blobs_size(struct blob_store *b, struct str handle, uint64_t *ret_bytes)
{
    return err_new(ERR_STORAGE, "nothing is stored in a replay");
}

static struct err *blobs_remove(struct blob_store *b, struct str handle)
{
    return NULL;
}

static void blobs_free(struct blob_store *b)
{
}

static const struct blob_ops blob_ops = {.put = blobs_put,
                                         .get = blobs_get,
                                         .size = blobs_size,
                                         .remove = blobs_remove,
                                         .free = blobs_free};

/* --- the clock --- */

static uint64_t monotonic_ms(void *self)
{
    return ((struct replay_clock *)self)->now_ms;
}

static int64_t unix_ms(void *self)
{
    return (int64_t)((struct replay_clock *)self)->now_ms;
}

static void advance_to_ms(void *self, uint64_t now_ms)
{
    struct replay_clock *c = self;

    c->now_ms = MAX(c->now_ms, now_ms);
}

void replay_clock_init(struct replay_clock *c)
{
    *c = (struct replay_clock){.clock = {monotonic_ms, unix_ms, advance_to_ms, c}, .now_ms = 1};
}

/* --- one run --- */

static const struct run_policy *find_policy(const char *name)
{
    static const struct run_policy *const policies[] = {&policy_conversation, &policy_node,
                                                        &policy_report};

    for (size_t i = 0; i < ARRAY_LEN(policies); i++)
        if (strcmp(policies[i]->name, name) == 0)
            return policies[i];
    return &policy_conversation;
}

/* Nothing of such a prompt was stored but why. */
static bool was_too_large(const struct recording *x)
{
    AUTO_FREE char *text = x->error ? err_message(x->error) : NULL;

    return !x->asked && text &&
           str_starts(str_of(text), S("the prompt is larger than a message may be"));
}

/* As long as no message may be, so that the engine refuses it again. */
static struct message *make_too_large(struct arena *a)
{
    struct message *m = message_new(ROLE_USER, S("input"));
    char *text = arena_alloc(a, MESSAGE_MAX_JSON_BYTES);

    memset(text, ' ', MESSAGE_MAX_JSON_BYTES);
    message_add_text(m, str_make(text, MESSAGE_MAX_JSON_BYTES));
    return m;
}

static struct message *make_input(const struct recording *x)
{
    struct message *m;
    AUTO(arena) struct arena a = {0};

    if (x->asked)
        return message_ref(x->asked);
    if (was_too_large(x))
        return make_too_large(&a);
    if (!x->input.n)
        return NULL;
    m = message_new(ROLE_USER, S("input"));
    message_add_text(m, x->input);
    return m;
}

/* Tools that were changed are there when the next round looks. */
static const struct run_plan *plan(void *self)
{
    struct replay *r = self;
    const struct recorded_event *x = replay_peek(r);

    if (x && x->type == EVENT_NOTICE && str_is(x->source, PLAN_NOTE_SOURCE))
        replay_take_note(r, x->text);
    if (x && x->type == EVENT_TOOLS_CHANGED)
        err_ignore(replay_add_tools(r, x->tools), "they were offered, so they are fine");
    return &r->plan;
}

static bool has_system_message(const struct history *h)
{
    for (size_t i = 0; i < h->n_messages; i++)
        if (h->messages[i]->role == ROLE_SYSTEM)
            return true;
    return false;
}

static void init_plan(struct replay *r)
{
    const struct recording *x = r->recording;
    const struct model_request *q = &x->request;

    r->plan.filter.allows_all = true;
    r->plan.system = q->system;
    r->plan.sampling = q->sampling;
    r->plan.effort = q->effort;
    r->plan.reasoning_budget = q->reasoning_budget;
    r->plan.stream = q->stream;
    r->plan.web_search = q->web_search;
    r->plan.web_fetch = q->web_fetch;
    r->plan.cache = q->cache;
    if (has_system_message(&r->conversation.history))
        r->plan.system = x->session_system;
}

static void on_begin(void *self, struct run *run)
{
    ((struct replay *)self)->run = run;
}

struct run_call {
    struct replay *replay;
    const struct loaded *loaded;
};

static struct err *run_again(void *arg)
{
    struct run_call *c = arg;
    struct replay *r = c->replay;
    const struct recording *x = r->recording;
    struct plugin *plugins[] = {&r->plugin};
    AUTO(message) struct message *prompt = make_input(x);
    struct turn_progress before = prompt ? (struct turn_progress){0} : c->loaded->turn;
    AUTO(run_result) struct run_result result;
    const struct run_input input = {
        .policy = find_policy(x->policy),
        .prompt = prompt,
        .only_compacts = x->only_compacts,
        .output_schema = x->request.output_schema,
        .max_rounds = x->has_turn_limit ? before.n_rounds + x->max_rounds : RUN_UNLIMITED,
        .drop_text = replay_drops_text,
        .drop_self = r,
        .on_begin = on_begin,
        .begin_self = r,
    };
    const struct run_kit kit = {
        .plan = plan,
        .plan_self = r,
        .gate = &r->gate,
        .blobs = &r->blobs,
        .hooks = &r->hooks,
        .plugins = plugins,
        .n_plugins = ARRAY_LEN(plugins),
        .news = &r->news,
        .random = &r->random,
        .max_stop_blocks = RUN_UNLIMITED, /* as often as was recorded */
        .retry_max_ms = x->retry_max_ms,
        .tool_response_bytes =
            x->has_limits ? x->tool_response_bytes : r->options->tool_response_bytes,
        .max_concurrency = x->max_concurrency,
        .known_head = x->head_tokens,
        .context_floor = x->context_floor,
        .known_delay = replay_known_delay,
        .delay_self = r,
    };
    const struct run_keeper keeper = {
        .budget = replay_budget(r),
        .compactor = &r->compactor,
        .outcomes = c->loaded->outcomes,
        .n_outcomes = c->loaded->n_outcomes,
        .before = before,
    };

    run_start(&r->conversation, &input, &kit, &keeper, &result);
    r->run = NULL;
    return NULL;
}

/* The run's task can be cancelled without ours. */
static struct err *run_in_group(struct replay *r, const struct loaded *loaded)
{
    struct run_call call = {r, loaded};
    struct group g;

    group_begin(&g, 0, GROUP_KEEP_GOING);
    r->tasks = &g;
    group_spawn(&g, "replay", run_again, &call);
    err_ignore(group_end(&g), "the run gives its result as events");
    r->tasks = NULL;
    replay_compare_end(r);
    replay_load_difference(r);
    return task_check();
}

static struct err *prepare(struct replay *r, struct loaded *loaded)
{
    const struct replay_options *o = r->options;

    conversation_init(&r->conversation, o->session, S("/"));
    r->blobs = (struct blob_store){.ops = &blob_ops};
    replay_compare_init(r);
    replay_ports_init(r);
    TRY(session_load(o->store, o->session, r->recording->seq, &r->conversation, loaded));
    event_stream_open(&r->conversation.stream, r->conversation.stream.next_seq, &r->recorder);
    TRY(recording_load(r->recording));
    init_plan(r);
    TRY(replay_add_targets(r));
    return replay_add_tools(r, r->recording->tools);
}

static void replay_done(struct replay *r)
{
    message_unref(r->summary.reattached);
    compaction_done(&r->compaction);
    conversation_done(&r->conversation);
    tool_registry_free(r->tools);
    replay_compare_done(r);
    arena_done(&r->arena);
}

static struct err *replay_run(const struct replay_options *options, struct recording *x)
{
    struct replay r = {.options = options, .recording = x};
    AUTO(loaded) struct loaded loaded = {0};
    struct err *e;

    r.result = (struct replayed_run){.seq = x->seq,
                                     .turn = x->turn,
                                     .n_recorded = x->n_events,
                                     .is_cut = x->is_cut,
                                     .damage = x->damage};
    e = prepare(&r, &loaded);
    if (!e)
        e = run_in_group(&r, &loaded);
    if (!e && r.result.verdict == REPLAY_SAME && x->damage.n)
        r.result.verdict = REPLAY_DAMAGED;
    if (!e)
        options->on_run(options->self, &r.result);
    replay_done(&r);
    return e;
}

/* --- all runs --- */

struct err *session_replay(const struct replay_options *options)
{
    AUTO(recording_reader)
    struct recording_reader *reader = recording_reader_new(options->store, options->session);

    for (;;) {
        AUTO(recording) struct recording x = {0};
        bool found;

        TRY(recording_read(reader, &x, &found));
        if (!found)
            return NULL;
        if (!options->only_turn || options->only_turn == x.turn)
            TRY(replay_run(options, &x));
    }
}
