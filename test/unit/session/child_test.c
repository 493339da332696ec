/* child_test.c - child runs of a session: their streams, what they spend, and what a crash leaves.
 */
#include "session/stage.h"
#include "sys/in_task.h"

#include "archive/verify.h"
#include "port/runner.h"

#define ID "s"
static const struct session_options fresh = {.start = SESSION_NEW, .id = {ID, 1}},
                                    again = {.start = SESSION_RESUME, .id = {ID, 1}};

/* --- a tool that delegates --- */

struct delegate {
    struct stage *stage;
    const char *allow; /* a tool that its children get; NULL: all */
    unsigned n_calls;
};

static struct err *delegate_run(const struct tool *t, struct tool_context *c,
                                const struct json *args, struct tool_result *r)
{
    struct delegate *d = t->self;
    AUTO(run_result) struct run_result result = {0};
    struct str allow = str_of(d->allow);
    struct child_spec spec = {.agent = S("Helper"),
                              .system = S("You help."),
                              .prompt = json_get_text(args, "task"),
                              .tools = {.allows_all = !d->allow, .allow = &allow, .n_allow = 1}};

    d->n_calls++;
    TRY(c->runner->run(c->runner->self, &spec, &result));
    if (result.n_asks)
        tool_result_wait(r, &result.asks[0]);
    else
        tool_result_addf(r, "%" STR_FMT "%s", STR_ARG(result.text),
                         result.outcome == RUN_DONE ? "" : " (not done)");
    return NULL;
}

static void add_delegate(struct stage *st, struct delegate *d)
{
    static struct tool tool = {.name = "Delegate",
                               .description = "asks another agent",
                               .schema = "{\"type\":\"object\",\"properties\":{\"task\":"
                                         "{\"type\":\"string\"}},\"required\":[\"task\"]}",
                               .risk = RISK_INSPECT,
                               .needs = NEEDS_RUNNER,
                               .delegates = true,
                               .begins_late = true,
                               .run = delegate_run};

    d->stage = st;
    tool.self = d;
    assert_ok(tool_registry_add(st->world.registry, &tool, NULL));
}

static void begin(struct stage *st, struct delegate *d)
{
    stage_open(st, &fresh);
    add_delegate(st, d);
}

/* The parent asks a helper, which looks once, and answers. */
#define WHOLE                                                                                      \
    "turns:\n"                                                                                     \
    " - [{tool: Delegate, id: d, args: {task: look}}, {usage: {input: 100, output: 1}}]\n"         \
    " - [{tool: Echo, id: e, args: {text: x}}, {usage: {input: 10, output: 2}}]\n"                 \
    " - [{text: Found.}, {usage: {input: 20, output: 3}}]\n"                                       \
    " - [{text: Done.}, {usage: {input: 200, output: 4}}]\n"

/* The only child of the session. */
static struct store_summary only_child(struct store *s, struct arena *a)
{
    struct store_summary *items;
    size_t n;

    assert_ok(store_list(s, &(struct store_list_query){.parent = S(ID)}, a, &items, &n));
    assert_int_equal(n, 1);
    return items[0];
}

static void add_types(struct store *s, struct str id, struct strbuf *out)
{
    AUTO(store_page) struct store_page page = {0};

    assert_ok(store_read(s, id, &(struct store_query){0}, &page));
    for (size_t i = 0; i < page.n; i++)
        strbuf_addf(out, "%" STR_FMT "\n", STR_ARG(page.records[i].type));
}

/* --- its stream --- */

IN_TASK(a_child_run_has_a_stream_of_its_own)
{
    AUTO(stage) struct stage st = {0};
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf types = {0};
    struct delegate d = {0};
    struct store_summary child;

    begin(&st, &d);
    stage_run(&st, WHOLE, "go");
    assert_str(st.world.result.text, "Done.");
    assert_int_equal(st.session.conversation.history.n_messages, 4);
    child = only_child(st.store, &a);
    assert_str(child.name, "Helper");
    stage_close(&st);
    add_types(st.store, S(ID), &types);
    assert_non_null(strstr(strbuf_cstr(&types), "tool_begin\nchild_begin\nchild_end\ntool_end\n"));
    strbuf_clear(&types);
    add_types(st.store, child.id, &types);
    assert_non_null(strstr(strbuf_cstr(&types), "user_input\n"));
    assert_non_null(strstr(strbuf_cstr(&types), "tool_begin\n"));
    assert_non_null(strstr(strbuf_cstr(&types), "run_end\n"));
    assert_int_equal(st.notices.n, 0);
}

IN_TASK(its_parent_pays_also_when_it_is_opened_again)
{
    AUTO(stage) struct stage st = {0};
    struct delegate d = {0};

    begin(&st, &d);
    stage_run(&st, WHOLE, "go");
    assert_int_equal(usage_total(&st.session.budget.spent.usage), 340);
    assert_int_equal(st.session.budget.spent.n_rounds, 4);
    assert_int_equal(st.session.budget.spent.n_tool_calls, 2);
    assert_int_equal(usage_total(&st.world.result.usage), 305);
    assert_int_equal(usage_total(&st.world.result.child_usage), 35);
    stage_close(&st);
    stage_open(&st, &again);
    assert_int_equal(usage_total(&st.session.budget.spent.usage), 340);
    assert_int_equal(st.session.budget.spent.n_rounds, 4);
    assert_int_equal(st.session.budget.spent.n_tool_calls, 2);
    stage_close(&st);
}

IN_TASK(it_gets_no_tool_that_its_parent_has_not)
{
    AUTO(stage) struct stage st = {0};
    AUTO(arena) struct arena a = {0};
    struct delegate d = {.allow = "Echo"};
    struct str own[] = {S("Delegate"), S("Big")};
    struct store_summary *items;
    size_t n;

    begin(&st, &d);
    st.world.filter = (struct tool_filter){.allow = own, .n_allow = ARRAY_LEN(own)};
    stage_run(&st, "turns:\n - {tool: Delegate, id: d, args: {task: look}}\n - {text: Done.}\n",
              "go");
    assert_non_null(strstr(strbuf_cstr(&st.world.log), "tool: d! \"tool Echo is not granted"));
    assert_str(st.world.result.text, "Done.");
    assert_ok(store_list(st.store, &(struct store_list_query){.parent = S(ID)}, &a, &items, &n));
    assert_int_equal(n, 0);
    stage_close(&st);
}

/* --- limits --- */

IN_TASK(a_limit_counts_what_children_take)
{
    AUTO(stage) struct stage st = {0};
    struct delegate d = {0};
    struct session_options limited = fresh;

    limited.budget.rounds = 2;
    stage_open(&st, &limited);
    add_delegate(&st, &d);
    stage_run(&st, WHOLE, "go");
    assert_int_equal(st.world.result.outcome, RUN_FAILED);
    assert_true(err_is(st.world.result.error, ERR_BUDGET_EXCEEDED));
    assert_int_equal(st.session.budget.spent.n_rounds, 2);
    stage_close(&st);
}

/* Each request takes 1,300 tokens and more with the answer that it may get, and then a few. */
IN_TASK(children_side_by_side_do_not_pass_a_limit_together)
{
    AUTO(stage) struct stage st = {0};
    struct delegate d = {0};
    struct session_options limited = fresh;

    limited.budget.tokens = 2500;
    stage_open(&st, &limited);
    add_delegate(&st, &d);
    stage_run(&st,
              "turns:\n"
              " - [{tool: Delegate, id: d, args: {task: look}}, {tool: Delegate, id: e, args: "
              "{task: look}}, {usage: {input: 100, output: 1}}]\n"
              " - [{text: Found.}, {usage: {input: 20, output: 3}}]\n"
              " - [{text: Done.}, {usage: {input: 200, output: 4}}]\n",
              "go");
    assert_non_null(strstr(strbuf_cstr(&st.world.log), " \"Found.\"\n"));
    assert_non_null(strstr(strbuf_cstr(&st.world.log), " \" (not done)\"\n"));
    assert_str(st.world.result.text, "Done.");
    assert_int_equal(usage_total(&st.session.budget.spent.usage), 101 + 23 + 204);
    stage_close(&st);
}

/* --- questions --- */

IN_TASK(a_question_of_a_child_suspends_its_parent_and_the_answer_reaches_it)
{
    AUTO(stage) struct stage st = {0};
    AUTO(arena) struct arena a = {0};
    struct delegate d = {0};
    struct given_answer green = {.call_id = S("q"), .answer = {.kind = ANSWER_VALUE}};

    for (int elsewhere = 0; elsewhere < 2; elsewhere++) {
        AUTO(stage) struct stage one = {0};

        begin(&one, &d);
        stage_run(
            &one,
            "turns:\n - {tool: Delegate, id: d, args: {task: look}}\n - {tool: Wait, id: q}\n",
            "go");
        assert_int_equal(one.world.result.outcome, RUN_SUSPENDED);
        assert_str(one.world.result.asks[0].text, "which?");
        if (elsewhere) {
            stage_close(&one);
            stage_open(&one, &again);
        }
        green.answer.value = json_new_str(&a, S("green"));
        one.world.input.answers = &green;
        one.world.input.n_answers = 1;
        stage_run(&one, "turns:\n - {text: Green.}\n - {text: Done.}\n", NULL);
        assert_str(one.world.result.text, "Done.");
        only_child(one.store, &a);
        stage_close(&one);
    }
}

/* --- killed anywhere --- */

/* What is left of a tree: so many records of the parent, so many of its child. */
static struct store *cut_tree(struct store *from, struct str child, size_t n, size_t n_child)
{
    struct store *to = stage_cut(from, ID, n);
    AUTO(store_page) struct store_page page = {0};
    AUTO(arena) struct arena a = {0};
    struct store_lease lease = {0};
    struct store_summary summary;
    bool found;

    if (!n_child)
        return to;
    assert_ok(store_find(from, child, &a, &summary, &found));
    assert_ok(store_read(from, child, &(struct store_query){0}, &page));
    assert_ok(store_open(to, S(ID), NULL, &a, &lease));
    assert_ok(store_add_child(to, &summary, lease.fence));
    for (size_t i = 0; i + 1 < n_child; i++) /* one: it was made, and holds nothing */
        assert_ok(
            store_append(to, child, page.records[i].seq, lease.fence, &page.records[i], 1, NULL));
    store_close(to, S(ID), lease.fence);
    return to;
}

static size_t find_type(const struct store_page *page, const char *type)
{
    for (size_t i = 0; i < page->n; i++)
        if (str_is(page->records[i].type, type))
            return i;
    return page->n;
}

/* --- a model that knows by what it is told what it has to say --- */

static bool has_result(const struct model_request *q)
{
    for (size_t i = 0; i < q->n_messages; i++)
        if (q->messages[i]->role == ROLE_TOOL)
            return true;
    return false;
}

static struct err *knowing_ask(const struct provider *p, const struct model_request *q,
                               const struct provider_call *call, struct reply *reply)
{
    AUTO(provider) struct provider *script = NULL;
    const char *text = str_is(q->system, "You help.")
                           ? has_result(q) ? "turns: [{text: Found.}]"
                                           : "turns: [{tool: Echo, id: e, args: {text: x}}]"
                       : has_result(q) ? "turns: [{text: Done.}]"
                                       : "turns: [{tool: Delegate, id: d, args: {task: look}}]";

    TRY(script_provider_new(p->id, str_of(text), &script));
    return provider_ask(script, q, call, reply);
}

static void knowing_free(struct provider *p)
{
}

static const struct provider_ops knowing_ops = {.ask = knowing_ask, .free = knowing_free};
static const struct provider knowing = {
    .ops = &knowing_ops, .id = {"m1", 2}, .protocol = {"script", 6}};

static const struct run_plan *knowing_plan(void *self)
{
    struct world *w = self;

    w->targets[0].provider = &knowing;
    return &w->plan;
}

static void run_knowing(struct stage *st, const char *prompt)
{
    st->world.kit.plan = knowing_plan;
    stage_run(st, "turns: []", prompt);
}

static size_t count_in(const struct history *h, const char *text)
{
    size_t n = 0;

    for (size_t i = 0; i < h->n_messages; i++) {
        AUTO(strbuf) struct strbuf all = {0};

        for (size_t k = 0; k < h->messages[i]->n_parts; k++)
            if (h->messages[i]->parts[k].n_content)
                strbuf_add(&all, h->messages[i]->parts[k].content[0].text);
        n += strstr(strbuf_cstr(&all), text) != NULL;
    }
    return n;
}

static void resume_tree(struct store *take_store, struct str child, size_t n, size_t n_child)
{
    AUTO(stage) struct stage st = {.store = take_store};
    struct delegate d = {0};
    const struct history *h;

    stage_open(&st, &again);
    add_delegate(&st, &d);
    h = &st.session.conversation.history;
    if (!h->n_messages && !st.session.loaded.prompt) /* it was not stored */
        run_knowing(&st, "go");
    else if (session_can_resume(&st.session))
        run_knowing(&st, NULL);
    print_message("%zu, %zu: %zu messages\n", n, n_child, h->n_messages);
    assert_true(h->n_messages >=
                4); /* an answer that was cut off is continued in another message */
    assert_int_equal(h->messages[h->n_messages - 1]->role, ROLE_ASSISTANT);
    assert_int_equal(h->messages[h->n_messages - 1]->state, MESSAGE_COMPLETE);
    /* What is known is used, and what is not is told. */
    assert_int_equal(count_in(h, "Found.") + count_in(h, "It is not known whether"), 1);
    assert_int_equal(st.session.n_open_children, 0);
    stage_close(&st);
    stage_open(&st, &again);
    assert_false(session_can_resume(&st.session));
    assert_int_equal(st.session.n_open_children, 0);
    /* Four questions, and one more for each process that died over one. */
    assert_in_range(st.session.budget.spent.n_rounds, 4, 5);
    stage_close(&st);
}

IN_TASK(a_tree_that_was_killed_anywhere_resumes)
{
    AUTO(stage) struct stage st = {0};
    AUTO(arena) struct arena a = {0};
    AUTO(store_page) struct store_page own = {0}, below = {0};
    struct delegate d = {0};
    struct store_summary child;
    size_t begin_at, end_at, n_tried = 0;

    begin(&st, &d);
    stage_run(&st, WHOLE, "go");
    stage_close(&st);
    child = only_child(st.store, &a);
    assert_ok(store_read(st.store, S(ID), &(struct store_query){0}, &own));
    assert_ok(store_read(st.store, child.id, &(struct store_query){0}, &below));
    begin_at = find_type(&own, "child_begin");
    end_at = find_type(&own, "child_end");
    assert_true(begin_at < end_at && end_at < own.n);
    for (size_t n = 1; n <= own.n; n++)
        for (size_t k = 0; k <= below.n + 1; k++) {
            /* The child begins when that is durable, and ends before its end is told. */
            if ((k && n <= begin_at) || (k <= below.n && n > end_at))
                continue;
            resume_tree(cut_tree(st.store, child.id, n, k), child.id, n, k);
            n_tried++;
        }
    print_message("%zu ways to die\n", n_tried);
}

RUN_TESTS(UNIT(a_child_run_has_a_stream_of_its_own),
          UNIT(its_parent_pays_also_when_it_is_opened_again),
          UNIT(it_gets_no_tool_that_its_parent_has_not), UNIT(a_limit_counts_what_children_take),
          UNIT(children_side_by_side_do_not_pass_a_limit_together),
          UNIT(a_question_of_a_child_suspends_its_parent_and_the_answer_reaches_it),
          UNIT(a_tree_that_was_killed_anywhere_resumes))
