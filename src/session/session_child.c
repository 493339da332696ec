/* session_child.c - child runs of a session: each has a session of its own, below its parent's.
 *
 * A child's stream is written under the lease of the root, and what it spends counts up to there.
 * Its parent's stream says when it began, and what it took when it has ended. A child that has not
 * ended when a process dies is continued with the call that began it, or given up with it. */
#include "session/session_parts.h"

static struct session *session_of(struct child_keeper *k)
{
    return (struct session *)((char *)k - offsetof(struct session, children));
}

/* --- opening --- */

static struct err *open_child(struct session *s, const struct event_child *child,
                              struct session *ret_child)
{
    AUTO(arena) struct arena a = {0};
    struct tool_state *tools = s->conversation.state;
    struct session_options o = s->options;
    struct store_summary found;
    bool exists;

    TRY(store_find(o.store, child->id, &a, &found, &exists));
    o.start = exists ? SESSION_RESUME : SESSION_NEW;
    o.id = child->id;
    o.name = child->agent;
    o.cwd = str_of(tool_state_workspace(tools));
    o.parent = s;
    o.tasks = s->has_tasks ? &s->tasks : s->options.tasks;
    TRY(session_open(ret_child, &o));
    tool_state_set_root(ret_child->conversation.state, tools);
    if (!exists)
        tool_state_set_cwd(ret_child->conversation.state, tool_state_cwd(tools));
    return NULL;
}

/* What its log begins with. */
static void begin_child(struct session *c, const struct run_kit *kit, const struct run *parent)
{
    const struct run_plan *plan = kit->plan(kit->plan_self);
    AUTO(tool_set) struct tool_set *tools = run_tools(kit, plan, parent);

    session_begin(c, &(struct event_session){.cwd = c->options.cwd,
                                             .provider = plan->targets[0].provider->id,
                                             .model = plan->targets[0].model,
                                             .system = plan->system,
                                             .tools = tools});
}

/* --- running --- */

/* It had ended, and its parent's call had not. */
static void give_again(const struct session *c, struct run_result *ret_result)
{
    const struct history *h = &c->conversation.history;
    const struct message *last = h->n_messages ? h->messages[h->n_messages - 1] : NULL;
    AUTO(strbuf) struct strbuf text = {0};

    *ret_result = (struct run_result){
        .usage = USAGE_UNKNOWN, .child_usage = USAGE_UNKNOWN, .cost_is_known = true};
    if (last)
        message_text(last, &text);
    ret_result->text = arena_str(&ret_result->arena, strbuf_str(&text));
    if (last && last->role == ROLE_ASSISTANT && !last->is_error)
        return;
    ret_result->outcome = RUN_FAILED;
    ret_result->error = err_new(ERR_TOOL_FAILED, "%s",
                                text.n ? strbuf_cstr(&text) : "it has ended without an answer");
}

static void run_in(struct session *c, const struct run_input *input, const struct run_kit *kit,
                   struct run_result *ret_result)
{
    struct run_input own = *input;
    struct run_kit own_kit = *kit;

    if (c->loaded.last_run == LAST_RUN_ENDED) {
        give_again(c, ret_result);
        return;
    }
    if (c->loaded.last_run != LAST_RUN_NONE)
        own.prompt = NULL; /* it continues */
    own_kit.blobs = store_blobs(c->options.store, c->options.id);
    begin_child(c, &own_kit, input->parent);
    session_run(c, &own, &own_kit, ret_result);
}

static void fill_spent(const struct spent *x, struct event_child *child)
{
    child->usage = x->usage;
    child->cost_microcents = x->microcents;
    child->is_estimated = x->is_estimated;
    child->is_unpriced = x->is_unpriced;
    child->n_rounds = x->n_rounds;
    child->n_tool_calls = x->n_tool_calls;
}

static void note_begin(struct session *s, const struct event_child *child)
{
    size_t before = s->loaded.children.n;

    child_list_add(&s->loaded.children, child);
    s->n_open_children += s->loaded.children.n - before;
}

static void note_end(struct session *s, struct listed_child *child)
{
    s->n_open_children -= !child->has_ended;
    child->has_ended = true;
}

static struct err *run_child(struct child_keeper *k, struct event_child *child,
                             const struct run_input *input, const struct run_kit *kit,
                             struct run_result *ret_result)
{
    struct session *s = session_of(k);
    AUTO(session) struct session c = {0};

    note_begin(s, child);
    TRY(open_child(s, child, &c));
    run_in(&c, input, kit, ret_result);
    fill_spent(&c.budget.spent, child);
    if (ret_result->outcome != RUN_SUSPENDED)
        note_end(s, child_list_find(&s->loaded.children, child->id));
    return session_shutdown(&c, "other");
}

void session_link(struct session *s)
{
    struct session *parent = s->options.parent;

    if (!parent)
        return;
    s->next_sibling = parent->live_children;
    parent->live_children = s;
}

void session_unlink(struct session *s)
{
    struct session **at = s->options.parent ? &s->options.parent->live_children : NULL;

    while (at && *at && *at != s)
        at = &(*at)->next_sibling;
    if (at && *at)
        *at = s->next_sibling;
}

void session_init_children(struct session *s)
{
    s->children.run = run_child;
    if (s->options.parent)
        s->budget.parent = &s->options.parent->budget;
}

/* --- of earlier processes --- */

/* Its own children are looked at, too: they may be open as well. */
static struct err *add_open(struct store *store, struct str id, struct spent *x)
{
    AUTO(loaded) struct loaded l = {0};
    struct event_child took = {0};
    AUTO(arena) struct arena a = {0};
    struct store_summary found;
    bool exists;

    TRY(store_find(store, id, &a, &found, &exists));
    if (!exists)
        return NULL; /* it had not come to that */
    TRY(session_look(store, id, &l));
    fill_spent(&l.spent, &took);
    spent_add_child(x, &took);
    for (size_t i = 0; i < l.children.n; i++)
        if (!l.children.items[i].has_ended)
            TRY(add_open(store, l.children.items[i].id, x));
    return NULL;
}

struct err *session_count_children(struct session *s)
{
    const struct child_list *l = &s->loaded.children;

    for (size_t i = 0; i < l->n; i++) {
        if (l->items[i].has_ended)
            continue;
        s->n_open_children++;
        TRY(add_open(s->options.store, l->items[i].id, &s->budget.spent));
    }
    return NULL;
}

static void abandon(struct session *s, struct listed_child *child)
{
    struct spent spent = {.usage = USAGE_UNKNOWN};
    struct event e = {.body.child = {.id = child->id,
                                     .call_id = child->call_id,
                                     .index = child->index,
                                     .agent = child->agent,
                                     .outcome = CHILD_ABANDONED}};

    err_ignore(add_open(s->options.store, child->id, &spent), "the rest counts");
    fill_spent(&spent, &e.body.child);
    session_emit(s, EVENT_CHILD_END, &e);
    note_end(s, child);
}

void session_abandon_children(struct session *s)
{
    struct child_list *l = &s->loaded.children;

    for (size_t i = 0; i < l->n; i++)
        if (!l->items[i].has_ended)
            abandon(s, &l->items[i]);
    child_list_clear(l);
}

/* --- a run that waits --- */

static bool is_known(const struct loaded *l, const struct listed_child *child)
{
    for (size_t i = 0; i < l->n_outcomes; i++)
        if (l->outcomes[i].index == child->index && str_eq(l->outcomes[i].call_id, child->call_id))
            return true;
    return false;
}

void session_keep_children(struct session *s)
{
    struct loaded *l = &s->loaded;
    const struct child_list *children = &l->children;

    l->outcomes = ARENA_ARRAY(&l->arena, children->n, struct given_outcome);
    l->n_outcomes = 0;
    for (size_t i = 0; i < children->n; i++) {
        const struct listed_child *child = &children->items[i];
        struct given_outcome *o = &l->outcomes[l->n_outcomes];

        if (is_known(l, child))
            continue;
        *o = (struct given_outcome){.call_id = arena_str(&l->arena, child->call_id),
                                    .index = child->index,
                                    .outcome = CALL_NEVER_STARTED};
        child_list_give(children, &l->arena, o);
        l->n_outcomes++;
    }
}
