/* rebuild.c - `keel session rebuild`: what is derived of the sessions, made again from their logs.
 */
#include "cli/session/session.h"

#include "session/rebuild.h"

static const struct option options[] = {
    SESSION_OPTIONS,
    {0},
};

static struct err *rebuild_one(struct session_work *w, const struct store_summary *s,
                               size_t *n_changed, size_t *n_records)
{
    struct rebuilt made;

    TRY(session_rebuild(w->store, s, &made));
    *n_changed += made.has_changed_summary;
    *n_records += made.has_record;
    if (!made.n_unreadable)
        return NULL;
    cli_tell("%zu records of session %" STR_FMT " cannot be read; keel session verify says which",
             made.n_unreadable, STR_ARG(s->id));
    w->status = 1;
    return NULL;
}

static struct err *rebuild(struct session_work *w)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct store_summary *items = NULL;
    size_t n = 0, n_changed = 0, n_records = 0;

    TRY(store_rebuild(w->store));
    TRY(store_list(w->store, &(struct store_list_query){0}, &w->arena, &items, &n));
    for (size_t i = 0; i < n; i++)
        TRY(rebuild_one(w, &items[i], &n_changed, &n_records));
    strbuf_addf(&out, "index and search of %zu sessions made again; %zu entries corrected", n,
                n_changed);
    if (n_records)
        strbuf_addf(&out, "; %zu records written", n_records);
    strbuf_add_char(&out, '\n');
    return cli_print(strbuf_str(&out));
}

static struct err *run(const struct args *args, int *ret_status)
{
    TRY(args_count(args, 0, 0, "no operand"));
    return session_work_run(args, rebuild, ret_status);
}

const struct command command_session_rebuild = {
    .name = "session rebuild",
    .usage = "[--store STORE]",
    .summary = "make index, search and records again from the sessions' logs",
    .details = "The logs are the truth; everything else follows from them. This helps when files\n"
               "were copied, restored or edited by hand.\n",
    .options = options,
    .run = run,
};
