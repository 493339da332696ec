/* change.c - `keel session rename` and `keel session delete`. */
#include "cli/session/session.h"

#include "cli/flags/session.h"
#include "session/record.h"
#include "sys/loop.h"

static const struct option rename_options[] = {SESSION_OPTIONS, {0}};

static const struct option delete_options[] = {
    {"yes", 'y', NULL, "do not ask"},
    SESSION_OPTIONS,
    {0},
};

/* --- rename --- */

/* The name is in the store; the record is made from it at any time. */
static struct err *save_record(struct session_work *w, struct str id)
{
    AUTO(err) struct err *e = session_record_save(w->store, id);

    if (!e || err_is(e, ERR_CANCELLED))
        return TAKE(e);
    e = err_wrap(e, "the session is renamed, but");
    cli_tell_error(e);
    return NULL;
}

static struct err *rename_session(struct session_work *w)
{
    struct str name = str_trim(str_of(w->args->operands[1]));
    struct store_summary s = {0};

    TRY(session_name_check(w->args->operands[1]));
    TRY(session_work_find(w, 0, &s));
    TRY(store_update(w->store, &(struct store_summary){.id = s.id, .name = name}));
    return save_record(w, s.id);
}

static struct err *run_rename(const struct args *args, int *ret_status)
{
    if (args->n_operands == 1)
        return err_hint(
            err_new(ERR_VALIDATION, "which session should be named \"%s\"?", args->operands[0]),
            "keel session rename ID NAME; keel session list shows the ids");
    TRY(args_count(args, 2, 2, "a session and its new name"));
    return session_work_run(args, rename_session, ret_status);
}

const struct command command_session_rename = {
    .name = "session rename",
    .usage = "ID NAME",
    .operands = COMPLETE_SESSIONS,
    .summary = "give a session a name",
    .details = "A name can be used where an id can. Sessions with one are never pruned.\n"
               "\n"
               "  keel session rename 019a8bf3-0d2e \"release 2.0\"\n",
    .options = rename_options,
    .run = run_rename,
};

/* --- delete --- */

/* What is not there is told, and is no failure: it is gone, as was wanted. */
static struct err *find_all(struct session_work *w, struct store_summary *items, size_t *ret_n)
{
    for (size_t i = 0; i < w->args->n_operands; i++) {
        struct store_summary s = {0};
        bool found;

        TRY(session_work_look(w, i, &s, &found));
        if (!found)
            cli_tell("session \"%s\" not found: nothing to delete", w->args->operands[i]);
        else if (s.is_open)
            return err_hint(err_new(ERR_STORAGE, "session %" STR_FMT " is open in %" STR_FMT,
                                    STR_ARG(s.id), STR_ARG(s.holder)),
                            "stop that process first; nothing was deleted");
        else
            items[(*ret_n)++] = s;
    }
    return NULL;
}

static struct err *confirm(struct session_work *w, const struct store_summary *items, size_t n,
                           bool *ret_yes)
{
    AUTO(strbuf) struct strbuf question = {0};

    *ret_yes = true;
    if (args_has(w->args, "yes"))
        return NULL;
    for (size_t i = 0; i < n; i++) {
        strbuf_addf(&question, "%" STR_FMT "  ", STR_ARG(items[i].id));
        session_add_line(&question, items[i].name.n ? items[i].name : items[i].preview, 40);
        strbuf_add_char(&question, '\n');
    }
    strbuf_addf(&question, "Delete %s for good?", n == 1 ? "this session" : "these sessions");
    return cli_confirm(strbuf_cstr(&question), "--yes deletes without asking", ret_yes);
}

static struct err *delete_sessions(struct session_work *w)
{
    struct store_summary *items = ARENA_ARRAY(&w->arena, w->args->n_operands, struct store_summary);
    bool is_sure;
    size_t n = 0;

    TRY(find_all(w, items, &n));
    if (!n)
        return store_sweep(w->store); /* it may have been killed before, on its way */
    TRY(confirm(w, items, n, &is_sure));
    for (size_t i = 0; is_sure && i < n; i++)
        TRY(store_remove(w->store, items[i].id));
    if (!is_sure)
        w->status = 4;
    return NULL;
}

static struct err *run_delete(const struct args *args, int *ret_status)
{
    TRY(args_count(args, 1, 1000, "one session or more"));
    return session_work_run(args, delete_sessions, ret_status);
}

const struct command command_session_delete = {
    .name = "session delete",
    .usage = "ID... [--yes]",
    .operands = COMPLETE_SESSIONS,
    .summary = "delete sessions and everything they own",
    .details = "Asks first; without a terminal, --yes is required. Does not delete a session\n"
               "that is open. Reports a session that does not exist, and still exits 0.\n\n"
               "  keel session delete 019a8bf3-0d2e --yes\n",
    .options = delete_options,
    .run = run_delete,
};
