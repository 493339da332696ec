/* show.c - `keel session show`: the conversation, turn by turn. */
#include "cli/session/show.h"

#include "session/codec/codec.h"

static const struct option options[] = {
    {"turn", 0, "N", "only this turn"},
    {"tools", 0, NULL, "also print how tool results begin, and summaries in full"},
    {"full", 0, NULL, "as --tools, with all of each result"},
    {"json", 0, NULL, "print one JSON object"},
    SESSION_OPTIONS,
    {0},
};

struct form {
    struct err *(*header)(struct session_show *s);
    struct err *(*event)(struct session_show *s, const struct event *e);
    struct err *(*end)(struct session_show *s);
};
static const struct form as_text = {session_show_header, session_show_event, session_show_end};
static const struct form as_json = {session_json_header, session_json_event, session_json_end};

const struct turn_entry *session_show_last(const struct session_show *s)
{
    return turn_list_last_run(&s->turns);
}

bool session_show_is_running(const struct session_show *s, const struct turn_entry *t)
{
    return s->summary.is_open && t && t->state == TURN_CUT_OFF && t == session_show_last(s);
}

/* What came before the first turn is what a copy began with. */
static bool is_wanted(const struct session_show *s, const struct event *e)
{
    const struct turn_entry *t = turn_list_find(&s->turns, e->turn);

    if (s->only)
        return e->turn == s->only;
    return !t || t->seq > e->seq || t->is_live || t->is_rewind;
}

/* A record that cannot be read is reported, and the rest is shown. */
static struct err *show_events(struct session_show *s, const struct form *form)
{
    AUTO(codec_reader)
    struct codec_reader *r = codec_reader_new(s->work->store, s->summary.id, 1, CODEC_READ_CORE);
    const struct event *e;

    codec_reader_leave(r, CODEC_PASS);
    for (;;) {
        struct err *failure = codec_read(r, &e);

        if (failure && codec_reader_has_failed(r))
            return failure;
        if (failure) {
            progress_end(&s->progress);
            cli_tell_error(failure);
        }
        err_free(failure);
        if (!failure && !e)
            return NULL;
        if (e)
            progress_part(&s->progress, e->seq, s->summary.next_seq);
        if (e && is_wanted(s, e))
            TRY(form->event(s, e));
    }
}

/* The header has the state of the session, which is known at its end. */
static struct err *show_load(void *arg)
{
    struct session_show *s = arg;
    struct session_work *w = s->work;

    TRY(session_work_find(w, 0, &s->summary));
    TRY(session_look(w->store, s->summary.id, &s->loaded));
    TRY(turn_list_read(w->store, s->summary.id, &w->arena, &s->turns));
    TRY(turn_states_read(w->store, &s->summary, 1, &s->state));
    if (s->only && !turn_list_find(&s->turns, s->only))
        return err_hint(err_new(ERR_VALIDATION, "no turn %u in this session", s->only),
                        "keel session show without --turn prints all turns with their numbers");
    return NULL;
}

static struct err *show_all(struct session_show *s)
{
    const struct form *form = args_has(s->work->args, "json") ? &as_json : &as_text;
    struct err *e;

    TRY(progress_around("reading", show_load, s));
    TRY(form->header(s));
    progress_begin(&s->progress, "showing", /* prints= */ true);
    e = show_events(s, form);
    progress_end(&s->progress);
    TRY(e);
    return form->end(s);
}

static struct err *show(struct session_work *w)
{
    bool is_whole = args_has(w->args, "full");
    struct session_show s = {
        .work = w, .with_tools = is_whole || args_has(w->args, "tools"), .is_whole = is_whole};
    int64_t only;
    struct err *e;

    TRY(args_int(w->args, "turn", 1, UINT32_MAX, 0, &only));
    s.only = (unsigned)only;
    e = show_all(&s);
    loaded_done(&s.loaded);
    strbuf_done(&s.plan);
    arena_done(&s.calls_arena);
    strbuf_done(&s.out);
    err_free(s.show.error);
    return e;
}

static struct err *session_show_run(const struct args *args, int *ret_status)
{
    TRY(args_count(args, 0, 1, "one session"));
    return session_work_run(args, show, ret_status);
}

const struct command command_session_show = {
    .name = "session show",
    .usage = "[ID] [--turn N] [--tools] [--full] [--json]",
    .operands = COMPLETE_SESSIONS,
    .summary = "print a conversation, turn by turn",
    .details = "Omits turns that were undone; --turn N shows them.\n"
               "\n"
               "  keel session show | less\n"
               "  keel session show ID --json | jq -r '.turns[].messages[].content'\n",
    .options = options,
    .run = session_show_run,
};
