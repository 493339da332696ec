/* rebuild.c - `keel session rebuild`: what is derived of the sessions, made again from their logs.
 */
#include "cli/output/progress.h"
#include "cli/session/session.h"

#include "archive/rebuild.h"

static const struct option options[] = {
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

static struct err *run(const struct args *args, int *ret_status)
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
    .options = options,
    .run = run,
};
