/* live_session.c - answers prompts one after another, in a task that lives while there are some. */
#include "sdk/live_session.h"

#include "sdk/host.h"

#define MAX_QUEUED 256
#define MAX_QUEUED_BYTES ((size_t)64 << 20)

struct queued_prompt {
    struct live_prompt prompt; /* first: the faces' view of it; its next is another one's */
    struct strbuf typed;
    size_t n_bytes;
};

struct live_submitter {
    struct live_submitter *next;
    struct waker waker;
};

/* --- prompts that wait --- */

static void queue_push(struct live_session *l, struct message *take_message, struct str typed)
{
    struct queued_prompt *q = mem_alloc(sizeof *q);

    *q = (struct queued_prompt){.prompt.message = take_message};
    strbuf_add(&q->typed, typed);
    q->n_bytes = typed.n + (take_message ? take_message->arena.used_bytes : 0);
    if (l->last)
        l->last->prompt.next = &q->prompt;
    else
        l->first = q;
    l->last = q;
    l->n_queued++;
    l->n_queued_bytes += q->n_bytes;
}

/* The first one, which is the caller's; NULL: none waits. */
static struct queued_prompt *queue_pop(struct live_session *l)
{
    struct queued_prompt *q = l->first;

    if (!q)
        return NULL;
    l->first = (struct queued_prompt *)q->prompt.next;
    if (!l->first)
        l->last = NULL;
    l->n_queued--;
    l->n_queued_bytes -= q->n_bytes;
    return q;
}

static void queued_prompt_free(struct queued_prompt *q)
{
    message_unref(q->prompt.message);
    strbuf_done(&q->typed);
    mem_free(q);
}

const struct live_prompt *live_session_queue(const struct live_session *l)
{
    return l->first ? &l->first->prompt : NULL;
}

/* --- room for them --- */

static bool has_room(const struct live_session *l)
{
    return l->n_queued == 0 || (l->n_queued < MAX_QUEUED && l->n_queued_bytes < MAX_QUEUED_BYTES);
}

static void wake_submitter(struct live_session *l)
{
    if (l->submitters)
        waker_wake(&l->submitters->waker);
}

static struct err *wait_for_room(struct live_session *l)
{
    struct live_submitter me = {0}, **at = &l->submitters;
    struct err *e = NULL;

    while (*at)
        at = &(*at)->next;
    *at = &me;
    while (!e && !l->is_finishing && (l->submitters != &me || !has_room(l))) {
        waker_init(&me.waker);
        e = waker_park(&me.waker);
    }
    for (at = &l->submitters; *at != &me;)
        at = &(*at)->next;
    *at = me.next;
    wake_submitter(l); /* it is the first one now */
    return e;
}

/* --- runs --- */

struct prompt_run {
    struct live_session *live;
    const struct queued_prompt *prompt;
};

static struct err *prompt_run_task(void *arg)
{
    const struct prompt_run *x = arg;
    struct live_session *l = x->live;
    AUTO(run_result) struct run_result result = {0};
    struct run_input input = l->input;
    struct err *e;

    input.prompt = x->prompt->prompt.message;
    if (x->prompt->typed.n)
        agent_note_typed(l->agent, strbuf_str(&x->prompt->typed));
    if (l->face.on_begin)
        l->face.on_begin(l->face.self);
    e = agent_run(l->agent, &input, &result);
    if (e) { /* it did not begin */
        result.outcome = err_is(e, ERR_CANCELLED) ? RUN_INTERRUPTED : RUN_FAILED;
        result.usage = result.child_usage = USAGE_UNKNOWN;
        result.error = e;
    }
    if (l->face.on_end)
        l->face.on_end(l->face.self, &result);
    return NULL;
}

/* A run is a task of its own, so that it can be cancelled alone. */
static void answer_prompt(struct live_session *l, const struct queued_prompt *q)
{
    struct prompt_run x = {l, q};
    struct group g;

    group_begin(&g, 1, 0);
    l->run = &g;
    group_spawn(&g, "answers a prompt", prompt_run_task, &x);
    err_ignore(group_end(&g), "the face has heard how it ended");
    l->run = NULL;
}

/* Does not begin another run when the whole session is cancelled, and not only the run. */
static struct err *answer_prompts_task(void *arg)
{
    struct live_session *l = arg;
    struct queued_prompt *q;
    struct err *e = NULL;

    while (!e && (q = queue_pop(l))) {
        wake_submitter(l);
        answer_prompt(l, q);
        queued_prompt_free(q);
        e = task_check();
    }
    l->is_answering = false;
    err_ignore(e, "who has cancelled it knows");
    return NULL;
}

struct err *live_session_submit(struct live_session *l, struct message *take_message,
                                struct str typed)
{
    AUTO(message) struct message *m = take_message;

    TRY(wait_for_room(l));
    if (l->is_finishing)
        return err_new(ERR_VALIDATION, "the session takes no more prompts: it is finishing");
    queue_push(l, TAKE(m), typed);
    if (!l->is_answering)
        group_spawn(&l->tasks, "answers prompts", answer_prompts_task, l);
    l->is_answering = true;
    return NULL;
}

void live_session_interrupt(struct live_session *l)
{
    if (l->run)
        group_cancel(l->run);
}

/* --- questions, and what may change --- */

bool live_session_answer(struct live_session *l, struct str question_id, const struct json *said)
{
    return question_board_answer(&l->board, question_id, said);
}

struct err *live_session_set_mode(struct live_session *l, struct str name)
{
    enum permission_mode mode;

    if (!permission_mode_find(name, &mode))
        return err_new(ERR_VALIDATION, "unknown mode \"%" STR_FMT "\": one of " PERMISSION_MODES,
                       STR_ARG(name));
    if (mode == MODE_BYPASS && !l->allows_bypass)
        return err_new(ERR_VALIDATION, "keel was not started with "
                                       "--allow-dangerously-skip-permissions");
    agent_set_mode(l->agent, mode);
    return NULL;
}

/* --- beginning and end --- */

struct err *live_session_open(struct live_session *l, struct project *project,
                              const struct live_options *options)
{
    struct agent_options o = options->agent;

    *l = (struct live_session){.face = options->face};
    if (options->questions) {
        question_board_init(&l->board, *options->questions);
        o.asker = &l->board.asker;
    }
    TRY(agent_open(project, &o, &l->agent));
    group_begin_in(&l->tasks, host_tasks(project->host));
    l->has_tasks = true;
    l->allows_bypass = options->allows_bypass || agent_get_mode(l->agent) == MODE_BYPASS;
    return NULL;
}

struct err *live_session_finish(struct live_session *l)
{
    struct err *e;

    l->is_finishing = true;
    wake_submitter(l);
    question_board_close(&l->board);
    e = group_join(&l->tasks);
    if (!e)
        return NULL;
    group_cancel(&l->tasks);
    task_shield_begin();
    err_ignore(group_join(&l->tasks), "nothing interrupts a shielded wait");
    task_shield_end();
    return e;
}

void live_session_done(struct live_session *l)
{
    struct queued_prompt *q;

    if (l->has_tasks) {
        group_cancel(&l->tasks);
        err_ignore(group_end(&l->tasks), "it was cancelled");
    }
    while ((q = queue_pop(l)))
        queued_prompt_free(q);
    agent_close(l->agent);
    *l = (struct live_session){0};
}
