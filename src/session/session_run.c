/* session_run.c - a run in a session: with its journal, its budget, and what a crash has left. */
#include "session/session_parts.h"

#include "engine/open_calls.h"

/* --- what a crash has left --- */

static const struct message *last_message(const struct session *s)
{
    const struct history *h = &s->conversation.history;

    for (size_t i = h->n_messages; i-- > 0;)
        if (!h->messages[i]->is_error)
            return h->messages[i];
    return NULL;
}

/* Was its plan what the run was for? */
static bool is_plan_given(const struct part *p)
{
    return p->kind == PART_TOOL_RESULT && !p->is_error && str_is(p->name, TOOL_EXIT_PLAN_MODE) &&
           p->n_content && str_starts(p->content[0].text, S(TOOL_PLAN_IS_ANSWER));
}

static const struct part *find_call(const struct message *m, struct str id)
{
    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind == PART_TOOL_CALL && str_eq(m->parts[i].id, id))
            return &m->parts[i];
    return NULL;
}

/* The call whose plan is the answer, where the history ends with results; NULL: there is none. */
static const struct part *find_plan(const struct session *s)
{
    const struct history *h = &s->conversation.history;
    struct str id = {0};

    for (size_t i = h->n_messages; i-- > 0;) {
        const struct message *m = h->messages[i];

        if (m->role != ROLE_TOOL)
            return id.n && m->role == ROLE_ASSISTANT ? find_call(m, id) : NULL;
        for (size_t k = 0; k < m->n_parts; k++)
            if (is_plan_given(&m->parts[k]))
                id = m->parts[k].id;
    }
    return NULL;
}

static bool is_answered(const struct session *s)
{
    const struct message *m = last_message(s);

    if (!m || open_calls_find(&s->conversation.history))
        return false;
    return m->role == ROLE_ASSISTANT ? m->state == MESSAGE_COMPLETE : find_plan(s) != NULL;
}

bool session_can_resume(const struct session *s)
{
    return s->loaded.last_run == LAST_RUN_CUT_OFF || s->loaded.last_run == LAST_RUN_SUSPENDED ||
           (last_message(s) && !is_answered(s));
}

bool session_answer(const struct session *s, struct strbuf *ret_text, struct str *ret_stop_reason)
{
    AUTO(arena) struct arena a = {0};
    const struct part *plan = find_plan(s);
    struct json_where where;
    struct json *args;

    if (session_can_resume(s) || !is_answered(s))
        return false;
    *ret_stop_reason = last_message(s)->stop_reason;
    if (!plan)
        message_text(last_message(s), ret_text);
    else if (json_parse_at(&a, plan->args, JSON_REPAIR_UTF8, &args, &where))
        strbuf_add(ret_text, json_get_text(args, "plan"));
    return true;
}

/* The same message with the notice for the model. */
static struct message *with_notice(struct session *s, const struct message *m)
{
    struct message *longer = message_new(ROLE_USER, m->id);

    for (size_t i = 0; i < m->n_parts; i++)
        message_add(longer, &m->parts[i]);
    message_add_context(longer, strbuf_str(&s->notice));
    strbuf_clear(&s->notice);
    return longer;
}

static void commit_notice(struct session *s)
{
    char id[UUID_TEXT_SIZE];
    AUTO(message) struct message *m = NULL;

    if (!s->notice.n || is_answered(s) || open_calls_find(&s->conversation.history))
        return;
    m = message_new(ROLE_USER, session_new_id(s, id));
    message_add_text(m, strbuf_str(&s->notice));
    strbuf_clear(&s->notice);
    session_commit(s, m);
}

/* The prompt of a run: what was given, or one that an earlier process did not come to. NULL: the
 * run continues with the history. */
static struct message *take_prompt(struct session *s, struct message *given)
{
    AUTO(message) struct message *prompt = given ? message_ref(given) : TAKE(s->loaded.prompt);

    if (prompt)
        session_abandon_children(s);
    if (s->loaded.partial)
        session_commit(s, s->loaded.partial);
    message_unref(TAKE(s->loaded.partial));
    if (!prompt)
        commit_notice(s);
    return prompt && s->notice.n ? with_notice(s, prompt) : TAKE(prompt);
}

struct turn_progress session_turn(struct session *s)
{
    AUTO(loaded) struct loaded whole = {0};

    if (s->loaded.lacks_turn) {
        err_ignore(session_look(s->options.store, s->options.id, &whole),
                   "the journal reports a store that does not answer");
        s->loaded.turn = whole.turn;
    }
    s->loaded.lacks_turn = false;
    return s->loaded.turn;
}

/* --- runs --- */

static void end_run(struct session *s, const struct turn_progress *before,
                    const struct run_result *r)
{
    struct loaded *l = &s->loaded;

    l->turn = *before;
    l->lacks_turn = false;
    l->turn.n_rounds += r->n_rounds;
    l->turn.forced = r->forced;
    budget_end_run(&s->budget);
    message_unref(TAKE(l->prompt));
    l->n_outcomes = l->n_asks = 0;
    l->last_run = r->outcome == RUN_SUSPENDED ? LAST_RUN_SUSPENDED : LAST_RUN_ENDED;
    if (l->last_run == LAST_RUN_SUSPENDED)
        session_keep_children(s);
    else
        session_abandon_children(s); /* those that could not be ended */
    if (session_needs_checkpoint(s))
        session_checkpoint(s);
    task_shield_begin();
    err_ignore(journal_sync(s->journal), "the journal has reported it");
    task_shield_end();
}

void session_run(struct session *s, const struct run_input *input, const struct run_kit *kit,
                 struct run_result *ret_result)
{
    AUTO(message) struct message *prompt = take_prompt(s, input->prompt);
    struct run_input own = *input;
    const struct run_keeper keeper = {
        .budget = budget_keeper_of(&s->budget),
        .compactor = &s->compaction.compactor,
        .children = &s->children,
        .outcomes = s->loaded.outcomes,
        .n_outcomes = s->loaded.n_outcomes,
        .before = prompt ? (struct turn_progress){0} : session_turn(s),
    };
    struct group clock;

    own.prompt = prompt;
    budget_begin_run(&s->budget);
    group_begin(&clock, 0, GROUP_KEEP_GOING);
    if (!s->options.parent) /* whose clock runs */
        group_spawn(&clock, "time", budget_keep_time, &s->budget);
    run_start(&s->conversation, &own, kit, &keeper, ret_result);
    group_cancel(&clock);
    err_ignore(group_end(&clock), "it was cancelled");
    end_run(s, &keeper.before, ret_result);
}

/* --- a summary by hand --- */

/* One that only made a summary, and was killed, has left nothing to finish. */
static void leave_finished(struct session *s)
{
    const struct loaded *l = &s->loaded;

    if (l->last_run == LAST_RUN_CUT_OFF && !l->prompt && !l->partial && is_answered(s))
        session_abandon_calls(s, (struct str){0}); /* there are none */
}

/* A summary would lose what is still to be done, and who asked for it. */
static struct err *check_compact(struct session *s)
{
    leave_finished(s);
    if (!last_message(s))
        return err_new(ERR_VALIDATION, "there is nothing to summarize yet");
    if (s->loaded.last_run == LAST_RUN_CUT_OFF || s->loaded.last_run == LAST_RUN_SUSPENDED ||
        open_calls_find(&s->conversation.history))
        return err_hint(err_new(ERR_VALIDATION, "the last turn is unfinished"),
                        "keel -p --resume %s finishes it", s->conversation.id);
    return NULL;
}

static struct err *why_not(struct session *s, const struct run_result *r)
{
    if (s->compaction.failure)
        return TAKE(s->compaction.failure);
    return r->error ? err_copy(r->error) : NULL;
}

struct err *session_compact(struct session *s, const struct run_kit *kit, struct str instructions,
                            struct run_result *ret_result)
{
    const struct run_input input = {.only_compacts = true};

    TRY(check_compact(s));
    compaction_demand(&s->compaction, instructions);
    session_run(s, &input, kit, ret_result);
    return why_not(s, ret_result);
}
