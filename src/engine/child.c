/* child.c - runs inside of a run: a call describes one, and gets its result.
 *
 * A child asks the same models through the same gate, sandbox and budget as its parent. What it
 * does not share: history, system text, the state of its tools, and its stream of events, which the
 * parent's names at the child's begin and end. */
#include "engine/run_state.h"

struct child {
    struct call *call;
    const struct child_spec *spec;
    struct run_plan plan; /* the parent's of now, with what the child has of its own */
    const struct run_plan *base, *earlier_base; /* of it, and of the one before; NULL: none */
    struct event_child event;
    char id[UUID_TEXT_SIZE];
};

struct run *run_root(struct run *r)
{
    while (r->input->parent)
        r = r->input->parent;
    return r;
}

bool can_delegate_below(const struct run *parent)
{
    unsigned depth = 1;

    for (; parent; parent = parent->input->parent)
        depth++;
    return depth < RUNNER_MAX_DEPTH;
}

bool run_can_delegate(const struct run *r)
{
    return can_delegate_below(r->input->parent);
}

/* --- what it runs with --- */

/* The run compares each plan with the one before, which lives until the next is read. */
static const struct run_plan *child_plan(void *self)
{
    struct child *c = self;
    const struct run_kit *kit = c->call->run->kit;

    run_plan_unref(c->earlier_base);
    c->earlier_base = c->base;
    c->base = run_plan_ref(kit->plan(kit->plan_self));
    c->plan = *c->base;
    c->plan.free = NULL;
    c->plan.filter = c->spec->tools;
    c->plan.system = c->spec->system;
    c->plan.told_tools = NULL;
    c->plan.note = (struct str){0};
    return &c->plan;
}

/* The parent's, without what is about its own conversation. */
static struct run_kit child_kit(struct child *c)
{
    struct run_kit kit = *c->call->run->kit;

    kit.plan = child_plan;
    kit.plan_self = c;
    kit.plan_mode = NULL;
    kit.plugins = NULL;
    kit.n_plugins = 0;
    kit.news = NULL;
    kit.remind = NULL;
    kit.known_delay = NULL;
    kit.context_floor = kit.known_head = 0;
    kit.max_rounds = kit.max_stop_blocks = 0;
    return kit;
}

/* --- its life --- */

/* One that an earlier process had begun keeps its stream. */
static void choose_stream(struct child *c)
{
    struct call *call = c->call;
    const struct given_outcome *before = call->outcome;
    size_t index = call->n_children++;

    c->event = (struct event_child){.call_id = call->part->id,
                                    .index = call->index,
                                    .agent = c->spec->agent,
                                    .usage = USAGE_UNKNOWN};
    if (before && index < before->n_children)
        c->event.id = before->children[index];
    else
        c->event.id = run_new_id(call->run, c->id);
}

static void emit_child(struct child *c, enum event_type type)
{
    struct event e = {.owner = &c->call->owner, .body.child = c->event};

    run_emit(c->call->run, type, &e);
}

/* Without a keeper: nothing of it outlives the call. */
static void run_unkept(struct child *c, const struct run_input *input, const struct run_kit *kit,
                       struct run_result *ret_result)
{
    const struct run_keeper keeper = {.budget = c->call->run->keeper->budget};
    struct tool_state *above = c->call->run->conversation->state;
    AUTO(conversation) struct conversation conversation;

    conversation_init(&conversation, c->event.id, str_of(tool_state_workspace(above)));
    tool_state_set_root(conversation.state, above);
    tool_state_set_cwd(conversation.state, tool_state_cwd(above));
    run_start(&conversation, input, kit, &keeper, ret_result);
    c->event.usage = ret_result->usage;
    c->event.cost_microcents = run_result_microcents(ret_result);
    c->event.is_unpriced = !run_result_cost_is_known(ret_result);
    c->event.n_rounds = ret_result->n_rounds;
    c->event.n_tool_calls = ret_result->n_tools_executed;
}

static struct err *run_child(struct child *c, struct run_result *ret_result)
{
    struct run *parent = c->call->run;
    AUTO(message) struct message *prompt = run_new_message(parent, ROLE_USER);
    struct child_keeper *keeper = parent->keeper->children;
    const struct run_kit kit = child_kit(c);
    const struct run_input input = {
        .prompt = prompt,
        .answers = parent->input->answers,
        .n_answers = parent->input->n_answers,
        .max_rounds = c->spec->max_rounds ? c->spec->max_rounds : RUN_UNLIMITED,
        .agent = arena_cstr(&c->call->arena, c->spec->agent),
        .parent = parent,
        .call_id = c->call->part->id,
    };

    message_add_text(prompt, c->spec->prompt);
    if (keeper)
        return keeper->run(keeper, &c->event, &input, &kit, ret_result);
    run_unkept(c, &input, &kit, ret_result);
    return NULL;
}

struct err *call_run_child(void *self, const struct child_spec *spec, struct run_result *ret_result)
{
    struct call *call = self;
    struct child c = {.call = call, .spec = spec};
    struct err *e;

    *ret_result = (struct run_result){.usage = USAGE_UNKNOWN, .child_usage = USAGE_UNKNOWN};
    TRY(tool_filter_check(&call->run->plan->filter, &spec->tools));
    choose_stream(&c);
    emit_child(&c, EVENT_CHILD_BEGIN);
    TRY(run_sync(call->run));
    e = run_child(&c, ret_result);
    run_plan_unref(c.base);
    run_plan_unref(c.earlier_base);
    TRY(e);
    account_child(call->run, ret_result);
    if (ret_result->outcome == RUN_SUSPENDED)
        return NULL; /* it has not ended */
    if (!c.event.outcome)
        c.event.outcome = run_outcome_name(ret_result->outcome);
    emit_child(&c, EVENT_CHILD_END);
    return NULL;
}
