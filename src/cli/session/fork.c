/* fork.c - `keel session fork`: a copy that goes its own way. */
#include "cli/session/session.h"

#include "archive/turns.h"
#include "cli/flags/session.h"
#include "session/session.h"

#include <stdlib.h>

static const struct option options[] = {
    {"at", 0, "turn:N|EVENT", "as it was before this turn, or before the event of this number"},
    {"name", 0, "NAME", "name of the copy"},
    SESSION_OPTIONS,
    {0},
};

static struct err *bad_place(const char *given)
{
    return err_hint(err_new(ERR_VALIDATION, "--at: \"%s\" is not a place in this session", given),
                    "turn:3 is before turn 3, and 120 before event 120; keel session show prints "
                    "the turns");
}

static struct err *find_turn(struct session_work *w, const char *given, struct str id,
                             unsigned long number, uint64_t *ret_seq)
{
    struct turn_list turns;
    const struct turn_entry *t;

    TRY(turn_list_read(w->store, id, &w->arena, &turns));
    t = number && number <= UINT32_MAX ? turn_list_find(&turns, (unsigned)number) : NULL;
    if (!t)
        return bad_place(given);
    *ret_seq = t->seq;
    return NULL;
}

static struct err *find_place(struct session_work *w, const struct store_summary *s,
                              uint64_t *ret_seq)
{
    const char *given = args_get(w->args, "at");
    bool is_turn = given && str_starts(str_of(given), S("turn:"));
    const char *digits = is_turn ? given + strlen("turn:") : given;
    unsigned long number;
    char *end;

    *ret_seq = 0;
    if (!given)
        return NULL;
    number = strtoul(digits, &end, 10);
    if (*digits < '0' || *digits > '9' || *end || number > s->next_seq)
        return bad_place(given);
    if (is_turn)
        return find_turn(w, given, s->id, number, ret_seq);
    *ret_seq = number;
    return number ? NULL : bad_place(given);
}

/* The copy was whole before: what its end lacks a resume makes up for. */
static void end_copy(struct session *copy)
{
    AUTO(err) struct err *e = session_shutdown(copy, "other");

    if (e) {
        e = err_wrap(e, "the copy is complete, but closing it failed");
        cli_tell_error(e);
    }
}

static struct err *fork_session(struct session_work *w)
{
    AUTO(session) struct session copy = {0};
    struct session_options o = {.store = w->store,
                                .start = SESSION_FORK,
                                .subscribers = w->subscribers,
                                .n_subscribers = ARRAY_LEN(w->subscribers)};
    struct store_summary source = {0};
    AUTO(strbuf) struct strbuf out = {0};

    TRY(session_name_check(args_get(w->args, "name")));
    TRY(session_work_find(w, 0, &source));
    TRY(find_place(w, &source, &o.source_seq));
    o.source = source.id;
    o.cwd = source.cwd;
    o.name = str_of(args_get(w->args, "name"));
    TRY(session_open(&copy, &o));
    end_copy(&copy);
    strbuf_addf(&out, "%s\n", copy.conversation.id);
    return cli_print(strbuf_str(&out));
}

static struct err *session_fork_run(const struct args *args, int *ret_status)
{
    TRY(args_count(args, 0, 1, "one session"));
    return session_work_run(args, fork_session, ret_status);
}

const struct command command_session_fork = {
    .name = "session fork",
    .usage = "[ID] [--at turn:N|EVENT] [--name NAME]",
    .operands = COMPLETE_SESSIONS,
    .summary = "copy a session and print the id of the copy",
    .details = "Copies history, tool state and stored results; leaves files alone. The copy has\n"
               "a new budget. The session may be open elsewhere, and even be running.\n"
               "\n"
               "  keel -p -r $(keel session fork --at turn:3) \"try it another way\"\n",
    .options = options,
    .run = session_fork_run,
};
