/* list.c - `keel session list`: which sessions there are, the newest first. */
#include "cli/session/session.h"

#include "base/uuid.h"
#include "sys/loop.h"

#include <stdio.h>

#define DEFAULT_N 20
#define SHORT_ID 13 /* the time that a UUID of ours begins with: 8 letters are a minute */
#define AGE_WIDTH 16
#define MIN_TEXT 20
#define PLAIN_COLUMNS 100 /* where there is no terminal */

static const struct option options[] = {
    {"all", 'a', NULL, "list the sessions of all directories"},
    {"limit", 'n', "N", "list at most N; 0 lists all (20)"},
    {"before", 0, "ID", "list those older than this session"},
    {"json", 0, NULL, "print one JSON array"},
    SESSION_OPTIONS,
    {0},
};

static struct err *read_query(struct session_work *w, struct store_list_query *ret_query)
{
    const char *before = args_get(w->args, "before");
    struct store_summary last = {0};
    int64_t n_max;

    TRY(args_int(w->args, "limit", 0, INT32_MAX, DEFAULT_N, &n_max));
    *ret_query = (struct store_list_query){.n_max = (size_t)n_max};
    if (!args_has(w->args, "all"))
        ret_query->cwd = str_of(w->runtime.options.cwd);
    if (!before)
        return NULL;
    TRY(shelf_find(w->store, (struct str){0}, str_of(before), &w->arena, &last));
    ret_query->before_ms = last.updated_ms;
    ret_query->before_id = last.id;
    return NULL;
}

static void add_line(struct strbuf *out, const struct store_summary *s, bool with_cwd)
{
    size_t columns = cli_n_columns() ? cli_n_columns() : PLAIN_COLUMNS;
    size_t used = SHORT_ID + AGE_WIDTH + 10;
    AUTO(strbuf) struct strbuf age = {0}, title = {0};

    session_add_age(&age, s->updated_ms, clock_unix_ms(loop_clock(task_loop())));
    cli_add_tinted(out, TINT_GREEN, str_make(s->id.p, MIN(s->id.n, (size_t)SHORT_ID)));
    strbuf_addf(out, "  %-*.*s %4llu%s  ", AGE_WIDTH, (int)age.n, age.p,
                (unsigned long long)s->n_messages, s->is_open ? "*" : " ");
    session_add_line(&title, s->name.n ? s->name : s->preview,
                     columns > used + MIN_TEXT ? columns - used : MIN_TEXT);
    if (s->name.n)
        cli_add_tinted(out, TINT_BOLD, strbuf_str(&title));
    else
        strbuf_add(out, strbuf_str(&title));
    if (with_cwd) {
        strbuf_addf(out, "\n%*s", SHORT_ID + 2, "");
        cli_add_tinted(out, TINT_FAINT, s->cwd);
    }
    strbuf_add_char(out, '\n');
}

/* What was read of the list is printed before the next page is read. */
struct printing {
    struct session_work *work;
    struct strbuf out;
    struct json_writer json;
    bool is_json, with_cwd, any, any_open;
    size_t n_left; /* to print; SIZE_MAX: all */
    bool has_more; /* than were to be printed */
    char last_id[UUID_TEXT_SIZE];
};

static struct err *print_page(void *self, const struct store_summary *items, size_t n)
{
    struct printing *p = self;
    struct err *e;

    if (!p->any && !p->is_json)
        strbuf_addf(&p->out, "%-*s  %-*s %4s\n", SHORT_ID, "id", AGE_WIDTH, "last used", "msgs");
    p->any = true;
    for (size_t i = 0; i < n; i++) {
        if (p->n_left == 0) {
            p->has_more = true;
            break;
        }
        p->n_left -= p->n_left != SIZE_MAX;
        p->any_open |= items[i].is_open;
        snprintf(p->last_id, sizeof p->last_id, "%" STR_FMT, STR_ARG(items[i].id));
        if (!p->is_json) {
            add_line(&p->out, &items[i], p->with_cwd);
            continue;
        }
        jw_begin_object(&p->json);
        session_write_summary(&p->json, &items[i]);
        jw_end_object(&p->json);
    }
    e = cli_print(strbuf_str(&p->out));
    strbuf_clear(&p->out);
    return e;
}

static struct err *print_all(struct printing *p)
{
    struct store_list_query query;

    TRY(read_query(p->work, &query));
    p->n_left = query.n_max ? query.n_max : SIZE_MAX;
    query.n_max += query.n_max ? 1 : 0; /* are there more? */
    p->with_cwd = query.cwd.n == 0;
    jw_init(&p->json, &p->out);
    if (p->is_json)
        jw_begin_array(&p->json);
    TRY(session_work_each(p->work, &query, print_page, p));
    if (p->is_json) {
        jw_end_array(&p->json);
        strbuf_add_char(&p->out, '\n');
    } else if (p->any_open) {
        cli_add_tinted(&p->out, TINT_FAINT, S("* is open in a process now\n"));
    } else if (!p->any) {
        cli_tell(query.cwd.n ? "no session in this directory; --all lists those of others"
                             : "no session");
    }
    TRY(cli_print(strbuf_str(&p->out)));
    if (p->has_more && !p->is_json)
        cli_tell("there are older sessions: --before %s lists the next ones, --limit 0 all",
                 p->last_id);
    return NULL;
}

static struct err *list(struct session_work *w)
{
    struct printing p = {.work = w, .is_json = args_has(w->args, "json")};
    struct err *e = print_all(&p);

    strbuf_done(&p.out);
    return e;
}

static struct err *run(const struct args *args, int *ret_status)
{
    TRY(args_count(args, 0, 0, "no arguments"));
    return session_work_run(args, list, ret_status);
}

const struct command command_session_list = {
    .name = "session list",
    .usage = "[--all] [--limit N] [--before ID] [--json]",
    .summary = "print the sessions of this directory, the newest first",
    .details = "* marks a session that is open now.\n\n"
               "  keel session list --all --limit 50\n"
               "  keel session list --json | jq -r '.[].id'\n",
    .options = options,
    .run = run,
};
