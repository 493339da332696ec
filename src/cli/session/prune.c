/* prune.c - `keel session prune`: removes what the settings no longer keep. */
#include "cli/session/session.h"

#include "sdk/prune.h"

static const struct option options[] = {
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

static struct err *run(const struct args *args, int *ret_status)
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
    .options = options,
    .run = run,
};
