/* upkeep.c - `keel session rename`, `delete`, `prune`, `rebuild`: stored sessions in order. */
#include "cli/session/session.h"

#include "archive/rebuild.h"
#include "cli/flags/session.h"
#include "cli/output/progress.h"
#include "sdk/prune.h"
#include "session/session_record.h"
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

static struct err *session_rename_run(const struct args *args, int *ret_status)
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
    .run = session_rename_run,
};

/* --- delete --- */

/* A session that does not exist is reported, and does not fail the command: it is gone. */
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

static struct err *session_delete_run(const struct args *args, int *ret_status)
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
    .run = session_delete_run,
};

/* --- prune --- */

static const struct option prune_options[] = {
    {"dry-run", 0, NULL, "only list what would be removed"},
    {"trust-clock", 0, NULL, "trust the date, although it is far ahead of the last use"},
    SESSION_OPTIONS,
    {0},
};

static struct err *print_session(void *self, const struct store_summary *s)
{
    AUTO(strbuf) struct strbuf line = {0};

    cli_add_tinted(&line, TINT_GREEN, s->id);
    strbuf_add_cstr(&line, "  ");
    session_add_time(&line, s->updated_ms);
    strbuf_add_cstr(&line, "  ");
    session_add_line(&line, s->preview, 40);
    strbuf_add_char(&line, '\n');
    return cli_print(strbuf_str(&line));
}

static struct err *print_report(const struct prune_report *r, bool is_dry)
{
    AUTO(strbuf) struct strbuf out = {0};

    for (size_t i = 0; r->items && i < r->n; i++)
        TRY(print_session(NULL, &r->items[i]));
    prune_describe(r, &out);
    strbuf_add_cstr(&out, is_dry ? " would be removed\n" : " removed\n");
    if (r->n_held) {
        prune_describe_held(r, &out);
        strbuf_add_char(&out, '\n');
    }
    return cli_print(strbuf_str(&out));
}

static struct err *prune(struct session_work *w)
{
    bool is_dry = args_has(w->args, "dry-run");
    AUTO(err) struct err *failure = NULL;
    struct prune_limits limits = prune_limits(w->project->settings);
    struct prune_report report;
    struct prune_clock clock;

    TRY(prune_clock_read(w->store, (struct str){0}, &w->arena, &clock));
    clock.is_right = args_has(w->args, "trust-clock") || prune_clock_is_likely(&clock);
    if (is_dry)
        TRY(prune_visit(w->store, &limits, &clock, print_session, NULL, &report));
    else
        failure = prune_by_clock(w->store, &limits, (struct str){0}, &clock, &w->arena, &report);
    TRY(print_report(&report, is_dry));
    if (report.is_unnoted)
        cli_tell("cannot write to keel's home: the next run prunes again");
    return TAKE(failure);
}

static struct err *session_prune_run(const struct args *args, int *ret_status)
{
    TRY(args_count(args, 0, 0, "no arguments"));
    return session_work_run(args, prune, ret_status);
}

const struct command command_session_prune = {
    .name = "session prune",
    .usage = "[--dry-run] [--trust-clock]",
    .summary = "remove old sessions, and the oldest when there are too many",
    .details = "The settings sessions.retentionDays (90) and sessions.maxBytes (8 GiB) decide.\n"
               "keel does this by itself once a day. It keeps sessions with a name and those\n"
               "that are open. It does not trust a clock that is far ahead of the last use,\n"
               "unless --trust-clock is given.\n\n"
               "  keel session prune --dry-run\n",
    .options = prune_options,
    .run = session_prune_run,
};

/* --- rebuild --- */

static const struct option rebuild_options[] = {
    SESSION_OPTIONS,
    {0},
};

struct rebuilding_all {
    struct session_work *work;
    struct progress progress;
    size_t n, n_changed, n_records;
};

static struct err *rebuild_one(struct rebuilding_all *r, const struct store_summary *s)
{
    struct rebuilt made;

    TRY(session_rebuild(r->work->store, s, &made));
    r->n++;
    r->n_changed += made.has_changed_summary;
    r->n_records += made.has_record;
    if (!made.n_unreadable)
        return NULL;
    progress_end(&r->progress);
    cli_tell("%zu record%s of session %" STR_FMT " cannot be read; keel session verify says which",
             made.n_unreadable, made.n_unreadable == 1 ? "" : "s", STR_ARG(s->id));
    r->work->status = 1;
    return NULL;
}

static struct err *rebuild_page(void *self, const struct store_summary *items, size_t n)
{
    struct rebuilding_all *r = self;

    for (size_t i = 0; i < n; i++) {
        TRY(rebuild_one(r, &items[i]));
        progress_count(&r->progress, r->n, "sessions");
    }
    return NULL;
}

static struct err *rebuild(struct session_work *w)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct rebuilding_all r = {.work = w};
    struct err *e;

    progress_begin(&r.progress, "rebuilding", /* prints= */ false);
    e = store_rebuild(w->store);
    if (!e)
        e = session_work_each(w, &(struct store_list_query){0}, rebuild_page, &r);
    progress_end(&r.progress);
    TRY(e);
    strbuf_addf(&out, "rebuilt index and search of %zu session%s; %zu entr%s corrected", r.n,
                r.n == 1 ? "" : "s", r.n_changed, r.n_changed == 1 ? "y" : "ies");
    if (r.n_records)
        strbuf_addf(&out, "; %zu record%s written", r.n_records, r.n_records == 1 ? "" : "s");
    strbuf_add_char(&out, '\n');
    return cli_print(strbuf_str(&out));
}

static struct err *session_rebuild_run(const struct args *args, int *ret_status)
{
    TRY(args_count(args, 0, 0, "no arguments"));
    return session_work_run(args, rebuild, ret_status);
}

const struct command command_session_rebuild = {
    .name = "session rebuild",
    .usage = "[--store STORE]",
    .summary = "rebuild index, search and records from the logs",
    .details = "The logs are the source of everything else. Use this after files were copied,\n"
               "restored or edited by hand.\n\n"
               "  keel session rebuild --store files:backup\n",
    .options = rebuild_options,
    .run = session_rebuild_run,
};
