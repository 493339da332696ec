/* session_open.c - opens a session: new, again, or as a copy of another. */
#include "session/session_parts.h"

#include "port/draft.h"
#include "port/kept_shell.h"
#include "port/stored_result.h"
#include "sys/fs.h"

#define NOTICE_SOURCE "session"
#define LEFT_TEXT                                                                                  \
    "This call was under way in the session that this one was copied from. Its outcome is "        \
    "unknown here, and it was not run again."

static void copy_options(struct session *s, const struct session_options *options)
{
    struct session_options *o = &s->options;
    char id[UUID_TEXT_SIZE];

    *o = *options;
    o->id = arena_str(&s->arena, o->id.n ? o->id : session_new_id(s, id));
    o->source = arena_str(&s->arena, o->source);
    o->cwd = arena_str(&s->arena, o->cwd);
    o->name = arena_str(&s->arena, o->name);
}

static struct err *is_taken(const struct session *s)
{
    return err_hint(
        err_new(ERR_VALIDATION, "session %" STR_FMT " already exists", STR_ARG(s->options.id)),
        "continue it with --resume");
}

/* A child is written under the lease of its root. */
static struct err *open_below(struct session *s, const struct store_summary *create)
{
    struct store_summary found;
    bool exists = true;

    s->lease = (struct store_lease){.fence = s->options.parent->lease.fence, .is_new = create};
    if (create)
        TRY(store_add_child(s->options.store, create, s->lease.fence));
    TRY(store_find(s->options.store, s->options.id, &s->arena, &found, &exists));
    if (!exists)
        return store_no_session(s->options.id);
    s->lease.next_seq = found.next_seq;
    s->is_open = true;
    return NULL;
}

static struct err *take_lease(struct session *s, const struct store_summary *create)
{
    if (s->options.parent)
        return open_below(s, create);
    TRY(store_open(s->options.store, s->options.id, create, &s->arena, &s->lease));
    if (!create || s->lease.is_new) {
        s->is_open = true;
        return NULL;
    }
    store_close(s->options.store, s->options.id, s->lease.fence);
    return is_taken(s);
}

static void start_journal(struct session *s)
{
    s->journal = journal_new(&(struct journal_options){
        .store = s->options.store,
        .stream = s->options.id,
        .fence = s->lease.fence,
        .next_seq = s->lease.next_seq,
        .pack_from = s->options.pack_from,
        .tasks = s->has_tasks ? &s->tasks : s->options.tasks,
        .on_failure = s->options.on_failure,
        .notices = session_notices(s),
    });
    event_stream_open(&s->conversation.stream, s->lease.next_seq, journal_recorder(s->journal));
    conversation_listen(&s->conversation);
}

static struct store_summary summary_of(const struct session *s)
{
    return (struct store_summary){.id = s->options.id,
                                  .parent = s->options.parent ? s->options.parent->options.id
                                                              : (struct str){0},
                                  .cwd = s->options.cwd,
                                  .name = s->options.name,
                                  .preview = s->loaded.summary.preview,
                                  .created_ms = session_now_ms()};
}

static struct err *open_new(struct session *s)
{
    struct store_summary create = summary_of(s);

    TRY(take_lease(s, &create));
    start_journal(s);
    return NULL;
}

/* --- opening again --- */

/* What a process that died had sent is paid for: its successor keeps the account. */
static void settle_lost(struct session *s)
{
    const struct lost_attempt *l = &s->loaded.lost;
    AUTO(err) struct err *died = NULL;
    struct event e = {.round = l->round, .attempt = l->number};
    struct event_attempt *a = &e.body.attempt;

    if (!l->is_there)
        return;
    died = err_new(ERR_CANCELLED, "the process ended before the answer was complete");
    *a = (struct event_attempt){.provider = l->provider,
                                .model = l->model,
                                .is_aside = l->is_aside,
                                .call_id = l->call_id,
                                .is_lost = true,
                                .error = died,
                                .cost_microcents = -1};
    if (l->settled.is_estimated) {
        a->assumed = &l->settled.usage;
        a->assumed_microcents = l->settled.microcents;
    } else {
        a->usage = &l->settled.usage;
        a->cost_microcents = l->settled.microcents;
    }
    session_emit(s, EVENT_ATTEMPT_END, &e);
}

/* Tools work where the session is now, and where the person is: a directory that is gone, or
 * another project's, is neither. */
static void restore_cwd(struct session *s)
{
    struct tool_state *tools = s->conversation.state;

    if (!str_eq(s->loaded.summary.cwd, s->options.cwd) || !fs_is_dir(tool_state_cwd(tools)))
        tool_state_set_cwd(tools, tool_state_workspace(tools));
}

/* Nobody knows what became of them. */
static void restore_shells(struct session *s)
{
    struct kept_shell k;
    size_t at = 0;

    while (kept_shell_next(s->conversation.state, &at, &k)) {
        if (k.state != SHELL_RUNNING)
            continue;
        k.state = SHELL_UNKNOWN;
        strbuf_addf(&s->notice, "%s- %" STR_FMT ": %" STR_FMT "\n",
                    s->notice.n ? ""
                                : "[keel was stopped while these background commands ran. Their "
                                  "outcome is unknown, and their output is lost:\n",
                    STR_ARG(k.id), STR_ARG(k.command));
        kept_shell_set(s->conversation.state, &k);
    }
    if (s->notice.n)
        strbuf_add_cstr(&s->notice, "Check the current state before you start them again.]");
}

/* A model that lacks a part of the conversation gives wrong answers, for no visible reason. A copy
 * is the person's own decision, and leaves what is damaged to be repaired. */
static struct err *check_whole(const struct session *s)
{
    const struct loaded *l = &s->loaded;

    if (!l->is_damaged || !s->options.must_be_whole)
        return NULL;
    return err_hint(
        err_new(ERR_STORAGE,
                "session %" STR_FMT
                " is damaged, and part of its conversation is unreadable: %" STR_FMT,
                STR_ARG(s->options.id), STR_ARG(l->notice)),
        "keel session verify lists the damage; --fork-session continues in a copy without it");
}

static void continue_journal(struct session *s)
{
    const struct loaded *l = &s->loaded;
    struct codec_position at = {.base_seq = l->base_seq,
                                .n_messages = s->conversation.history.n_messages,
                                .hash = l->hash,
                                .packs = l->packs,
                                .n_packs = l->n_packs};

    if (l->run_id.n) { /* else they are the list's */
        at.run_id = l->run_id;
        at.provider = l->provider;
        at.model = l->model;
    }
    journal_continue(s->journal, &at);
}

static struct err *open_again(struct session *s)
{
    TRY(take_lease(s, NULL));
    TRY(session_load_to_resume(s->options.store, s->options.id, &s->conversation, &s->loaded));
    TRY(check_whole(s));
    start_journal(s);
    continue_journal(s);
    s->checkpoint_base_seq = s->loaded.base_seq;
    session_notice(s, SEVERITY_WARNING, NOTICE_SOURCE, s->lease.notice);
    session_notice(s, SEVERITY_WARNING, NOTICE_SOURCE, s->loaded.notice);
    s->budget.spent = s->loaded.spent;
    TRY(session_count_children(s));
    settle_lost(s);
    restore_cwd(s);
    restore_shells(s);
    return NULL;
}

/* --- opening a copy --- */

static void copy_history(struct session *s)
{
    const struct history *h = &s->conversation.history;

    for (size_t i = 0; i < h->n_messages; i++)
        h->unix_ms[i] = session_emit_history(s, h->messages[i], i, "fork-base");
}

/* Results that were stored for the model, where each session has payloads of its own. One that
 * cannot be read is lost to the original, too, and the journal reports it. */
static struct err *copy_stored_results(struct session *s)
{
    struct blob_store *from = store_blobs(s->options.store, s->options.source);
    struct blob_store *to = store_blobs(s->options.store, s->options.id);
    struct stored_result stored;
    size_t at = 0;

    if (from == to)
        return NULL;
    while (stored_result_next(s->conversation.state, &at, &stored)) {
        AUTO(strbuf) struct strbuf bytes = {0};
        char hash[SHA256_HEX_SIZE];
        struct err *e = NULL;

        strbuf_init(&bytes, BLOB_DEFAULT_MAX);
        e = blob_get(from, stored.sha256, &bytes);
        if (err_is(e, ERR_CANCELLED))
            return e;
        if (e)
            err_ignore(e, "the journal reports what is not there");
        else
            TRY(blob_put_soon(to, strbuf_str(&bytes), hash));
    }
    return NULL;
}

/* Before a note says that the session is being made, and may be removed. */
static struct err *check_free(struct session *s)
{
    struct store_summary other;
    bool found;

    TRY(store_find(s->options.store, s->options.id, &s->arena, &other, &found));
    return found ? is_taken(s) : NULL;
}

static struct err *open_copy(struct session *s)
{
    AUTO(draft) struct draft draft = DRAFT_NONE;
    struct store_summary create;

    TRY(session_load(s->options.store, s->options.source, s->options.source_seq, &s->conversation,
                     &s->loaded));
    child_list_clear(&s->loaded.children); /* they stay with the source */
    create = summary_of(s);
    TRY(check_free(s));
    TRY(draft_begin(&draft, s->options.store, s->options.id, create.created_ms));
    TRY(take_lease(s, &create));
    start_journal(s);
    session_notice(s, SEVERITY_WARNING, NOTICE_SOURCE, s->loaded.notice);
    copy_history(s);
    TRY(copy_stored_results(s));
    session_abandon_calls(s, S(LEFT_TEXT)); /* the source may still be at work */
    restore_cwd(s);
    restore_shells(s);
    session_checkpoint(s);
    TRY(journal_sync(s->journal));
    draft_end(&draft);
    return NULL;
}

static void init_conversation(struct session *s)
{
    struct event_stream *stream = &s->conversation.stream;

    conversation_init(&s->conversation, s->options.id, s->options.cwd);
    stream->next_seq = 0; /* until the session has its lease */
    stream->parent = s->options.parent ? &s->options.parent->conversation.stream : NULL;
    stream->secrets = s->options.secrets;
    for (size_t i = 0; i < s->options.n_subscribers; i++)
        event_stream_subscribe(stream, s->options.subscribers[i]);
    session_link(s);
    s->options.n_subscribers = 0; /* a child's is not theirs: they hear it from its parent */
}

struct err *session_open(struct session *s, const struct session_options *options)
{
    *s = (struct session){0};
    copy_options(s, options);
    s->has_tasks = !s->options.tasks;
    if (s->has_tasks)
        group_begin(&s->tasks, 0, GROUP_KEEP_GOING);
    init_conversation(s);
    compaction_init(&s->compaction, &s->options.compact, &s->conversation);
    budget_init(&s->budget, &s->options.budget);
    s->budget.state = s->conversation.state;
    session_init_children(s);
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
