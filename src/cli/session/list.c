/* list.c - `keel session list`: which sessions there are, the newest first. */
#include "cli/session/session.h"

#include "archive/turns.h"
#include "base/uuid.h"
#include "cli/output/text.h"
#include "sys/loop.h"

#define DEFAULT_N 20
#define SHORT_ID 18 /* 13 letters are a millisecond, in which several sessions may begin */
#define AGE_WIDTH 16
#define MIN_TEXT 32 /* on a terminal with less room for it, a session takes several lines */
#define MIN_TAIL 8  /* of a text, however long what precedes it is */
#define INDENT 2

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
        ret_query->cwd = str_of(w->project->place.cwd);
    if (!before)
        return NULL;
    TRY(session_store_find(w->store, (struct str){0}, str_of(before), &w->arena, &last));
    ret_query->before_ms = last.updated_ms;
    ret_query->before_id = last.id;
    return NULL;
}

/* A page of the list, on a terminal of so many columns; SIZE_MAX: on none, where nothing is cut. */
struct list_page {
    const struct store_summary *items;
    const enum turn_state *states;
    size_t n, n_columns;
    bool with_cwd;
};

/* As much of the id as can be given back. */
static struct str id_of(const struct list_page *page, size_t i)
{
    struct str id = page->items[i].id, start = str_slice(id, 0, MIN(id.n, (size_t)SHORT_ID));

    for (size_t k = 0; k < page->n; k++)
        if (k != i && str_starts(page->items[k].id, start))
            return id;
    return page->n_columns == SIZE_MAX ? id : start;
}

static void add_age(struct strbuf *out, const struct store_summary *s)
{
    session_add_age(out, s->updated_ms, clock_unix_ms(loop_clock(task_loop())));
}

static size_t room_behind(const struct list_page *page, size_t indent)
{
    return page->n_columns == SIZE_MAX           ? SIZE_MAX
           : page->n_columns > indent + MIN_TAIL ? page->n_columns - indent
                                                 : MIN_TAIL;
}

/* Its name, or how its first prompt begins. */
static void add_title(struct strbuf *out, const struct list_page *page, size_t i, size_t indent)
{
    const struct store_summary *s = &page->items[i];
    AUTO(strbuf) struct strbuf title = {0};

    session_add_line(&title, s->name.n ? s->name : s->preview, room_behind(page, indent));
    if (s->name.n)
        cli_add_tinted(out, TINT_BOLD, strbuf_str(&title));
    else
        strbuf_add(out, strbuf_str(&title));
}

static void add_cwd(struct strbuf *out, const struct list_page *page, size_t i, size_t indent)
{
    AUTO(strbuf) struct strbuf cwd = {0};

    if (!page->with_cwd)
        return;
    session_add_line(&cwd, page->items[i].cwd, room_behind(page, indent));
    strbuf_addf(out, "\n%*s", (int)indent, "");
    cli_add_tinted(out, TINT_FAINT, strbuf_str(&cwd));
}

static void add_line(struct strbuf *out, const struct list_page *page, size_t i)
{
    const struct store_summary *s = &page->items[i];
    struct str id = id_of(page, i);
    AUTO(strbuf) struct strbuf age = {0}, state = {0};

    add_age(&age, s);
    cli_add_tinted(out, TINT_GREEN, id);
    strbuf_addf(out, "  %-*.*s %4llu%s  ", AGE_WIDTH, (int)age.n, age.p,
                (unsigned long long)s->n_messages, s->is_open ? "*" : " ");
    if (page->states[i] != TURN_DONE)
        strbuf_addf(&state, "(%s)%s", turn_state_text(page->states[i]),
                    s->name.n || s->preview.n ? " " : "");
    cli_add_tinted(out, TINT_YELLOW, strbuf_str(&state));
    add_title(out, page, i, id.n + AGE_WIDTH + 10 + state.n);
    add_cwd(out, page, i, id.n + 2);
    strbuf_add_char(out, '\n');
}

static void add_lines(struct strbuf *out, const struct list_page *page, size_t i)
{
    const struct store_summary *s = &page->items[i];
    AUTO(strbuf) struct strbuf about = {0};

    cli_add_tinted(out, TINT_GREEN, id_of(page, i));
    strbuf_addf(out, "\n%*s", INDENT, "");
    add_age(&about, s);
    strbuf_addf(&about, ", %llu message%s%s", (unsigned long long)s->n_messages,
                s->n_messages == 1 ? "" : "s", s->is_open ? " *" : "");
    if (page->states[i] != TURN_DONE)
        strbuf_addf(&about, ", %s", turn_state_text(page->states[i]));
    text_wrap(out, strbuf_str(&about), INDENT, page->n_columns);
    strbuf_addf(out, "\n%*s", INDENT, "");
    add_title(out, page, i, INDENT);
    add_cwd(out, page, i, INDENT);
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
    struct strbuf last_id;
};

static struct err *print_page(void *self, const struct store_summary *items, size_t n)
{
    struct printing *p = self;
    AUTO(arena) struct arena a = {0};
    enum turn_state *states = ARENA_ARRAY(&a, n, enum turn_state);
    struct list_page page = {.items = items,
                             .states = states,
                             .n = n,
                             .n_columns = cli_n_columns() ? cli_n_columns() : SIZE_MAX,
                             .with_cwd = p->with_cwd};
    bool is_wide = page.n_columns >= SHORT_ID + AGE_WIDTH + 10 + MIN_TEXT;
    struct err *e;

    TRY(turn_states_read(p->work->store, items, n, states));
    if (!p->any && !p->is_json && is_wide)
        strbuf_addf(&p->out, "%-*s  %-*s %4s\n",
                    page.n_columns == SIZE_MAX ? UUID_TEXT_SIZE - 1 : SHORT_ID, "id", AGE_WIDTH,
                    "last used", "msgs");
    p->any = true;
    for (size_t i = 0; i < n; i++) {
        if (p->n_left == 0) {
            p->has_more = true;
            break;
        }
        p->n_left -= p->n_left != SIZE_MAX;
        p->any_open |= items[i].is_open;
        strbuf_clear(&p->last_id);
        strbuf_add(&p->last_id, items[i].id);
        if (!p->is_json) {
            (is_wide ? add_line : add_lines)(&p->out, &page, i);
            continue;
        }
        jw_begin_object(&p->json);
        session_write_summary(&p->json, &items[i]);
        jw_kv_str(&p->json, "state", str_of(turn_state_name(states[i])));
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
                 strbuf_cstr(&p->last_id));
    return NULL;
}

static struct err *list(struct session_work *w)
{
    struct printing p = {.work = w, .is_json = args_has(w->args, "json")};
    struct err *e = print_all(&p);

    strbuf_done(&p.out);
    strbuf_done(&p.last_id);
    return e;
}

static struct err *session_list_run(const struct args *args, int *ret_status)
{
    TRY(args_count(args, 0, 0, "no arguments"));
    return session_work_run(args, list, ret_status);
}

const struct command command_session_list = {
    .name = "session list",
    .usage = "[--all] [--limit N] [--before ID] [--json]",
    .summary = "print the sessions of this directory, the newest first",
    .details = "Prints the state of a session that is not done: (failed), (waits for an answer),\n"
               "(interrupted), (cut off), (running), ... A star marks a session that is open now.\n"
               "The ids can be passed to other commands, also where they are shortened.\n"
               "\n"
               "  keel session list --all --limit 50\n"
               "  keel session list --json | jq -r '.[].id'\n",
    .options = options,
    .run = session_list_run,
};
