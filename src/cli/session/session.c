/* session.c - `keel session`: stored sessions: list, show, copy, export, verify. */
#include "cli/session/session.h"

#include "base/width.h"
#include "cli/commands.h"
#include "cli/flags/agent.h"
#include "cli/interrupt.h"
#include "cli/output/display.h"
#include "view/field.h"

#include <time.h>

#define MINUTE_MS ((int64_t)60 * 1000)
#define HOUR_MS (60 * MINUTE_MS)
#define DAY_MS (24 * HOUR_MS)
#define PAGE_SESSIONS 5000

struct job {
    struct session_work work;
    struct err *(*fn)(struct session_work *w);
    bool makes_store;
};

/* The store is the task's: closing it may wait. */
static struct err *run_job(void *arg)
{
    struct job *job = arg;
    struct session_work *w = &job->work;
    struct str name = session_store_name(w->project, args_get(w->args, "store"), &w->arena);
    struct err *e;
    bool is_kept;

    TRY((job->makes_store ? session_store_open : session_store_open_existing)(w->project, name,
                                                                              &w->store, &is_kept));
    w->printer.on_event = display_notices;
    w->subscribers[0] = &w->printer;
    e = job->fn(w);
    host_close_store(w->project->host, w->store);
    return e;
}

static struct err *run_with(struct job *job, const struct clock *clock, int *ret_status)
{
    struct err *e = agent_flags_project(job->work.args, &job->work.project);

    if (!e)
        e = cli_run_task(clock, run_job, job);
    *ret_status = job->work.status;
    project_unref(job->work.project);
    arena_done(&job->work.arena);
    return e;
}

struct err *session_work_run_at(const struct args *args, const struct clock *clock,
                                struct err *(*work)(struct session_work *w), void *self,
                                int *ret_status)
{
    struct job job = {.work = {.args = args, .self = self}, .fn = work};

    return run_with(&job, clock, ret_status);
}

struct err *session_work_store(const struct args *args, struct err *(*work)(struct session_work *w),
                               int *ret_status)
{
    struct job job = {.work = {.args = args}, .fn = work, .makes_store = true};

    return run_with(&job, NULL, ret_status);
}

struct err *session_work_run(const struct args *args, struct err *(*work)(struct session_work *w),
                             int *ret_status)
{
    return session_work_run_at(args, NULL, work, NULL, ret_status);
}

struct err *session_work_find(struct session_work *w, size_t operand,
                              struct store_summary *ret_summary)
{
    struct str cwd = str_of(w->project->place.cwd);

    if (operand < w->args->n_operands)
        return session_store_find(w->store, cwd, str_of(w->args->operands[operand]), &w->arena,
                                  ret_summary);
    return session_store_find_newest(w->store, cwd, &w->arena, ret_summary);
}

struct err *session_work_look(struct session_work *w, size_t operand,
                              struct store_summary *ret_summary, bool *ret_found)
{
    return session_store_look(w->store, str_of(w->project->place.cwd),
                              str_of(w->args->operands[operand]), &w->arena, ret_summary,
                              ret_found);
}

struct err *session_work_each(struct session_work *w, const struct store_list_query *query,
                              struct err *(*each)(void *self, const struct store_summary *items,
                                                  size_t n),
                              void *self)
{
    AUTO(strbuf) struct strbuf last_id = {0};
    struct store_list_query q = *query;
    size_t n_left = query->n_max ? query->n_max : SIZE_MAX;

    while (n_left) {
        AUTO(arena) struct arena a = {0};
        struct store_summary *items = NULL;
        size_t n = 0;

        q.n_max = MIN(n_left, (size_t)PAGE_SESSIONS);
        TRY(store_list(w->store, &q, &a, &items, &n));
        if (n)
            TRY(each(self, items, n));
        if (n < q.n_max)
            return NULL;
        n_left -= n;
        strbuf_clear(&last_id);
        strbuf_add(&last_id, items[n - 1].id);
        q.before_id = strbuf_str(&last_id);
        q.before_ms = items[n - 1].updated_ms;
    }
    return NULL;
}

/* --- how a session is printed --- */

void session_write_summary(struct json_writer *w, const struct store_summary *s)
{
    jw_kv_str(w, "id", s->id);
    if (s->parent.n)
        jw_kv_str(w, "parent", s->parent);
    jw_kv_str(w, "name", s->name);
    jw_kv_str(w, "cwd", s->cwd);
    jw_kv_str(w, "provider", s->provider);
    jw_kv_str(w, "model", s->model);
    jw_kv_str(w, "preview", s->preview);
    field_time(w, "createdAt", s->created_ms);
    field_time(w, "updatedAt", s->updated_ms);
    jw_kv_int(w, "events", s->next_seq ? (int64_t)s->next_seq - 1 : 0);
    jw_kv_int(w, "messages", (int64_t)s->n_messages);
    jw_kv_int(w, "bytes", (int64_t)s->n_bytes);
    jw_kv_bool(w, "open", s->is_open);
}

void session_add_line(struct strbuf *out, struct str text, size_t n_columns)
{
    AUTO(strbuf) struct strbuf visible = {0};
    struct str rest = str_trim(text), line = {0}, kept;

    str_split(&rest, '\n', &line);
    cli_add_visible(&visible, str_trim(line));
    for (size_t i = 0; i < visible.n; i++)
        if (visible.p[i] == '\t')
            visible.p[i] = ' ';
    kept = strbuf_str(&visible);
    if (width_of(kept) > n_columns || rest.n)
        kept = width_truncate(kept, n_columns > 4 ? n_columns - 4 : 0);
    strbuf_add(out, kept);
    if (kept.n < visible.n || rest.n)
        strbuf_add_cstr(out, " ...");
}

void session_add_time(struct strbuf *out, int64_t unix_ms)
{
    time_t seconds = (time_t)(unix_ms / 1000);
    struct tm parts;
    char text[32];

    if (localtime_r(&seconds, &parts) && strftime(text, sizeof text, "%Y-%m-%d %H:%M", &parts))
        strbuf_add_cstr(out, text);
}

void session_add_age(struct strbuf *out, int64_t unix_ms, int64_t now_ms)
{
    int64_t age = now_ms - unix_ms;

    if (age < 0 || age >= 7 * DAY_MS)
        session_add_time(out, unix_ms);
    else if (age < MINUTE_MS)
        strbuf_add_cstr(out, "just now");
    else if (age < HOUR_MS)
        strbuf_addf(out, "%lld min ago", (long long)(age / MINUTE_MS));
    else if (age < DAY_MS)
        strbuf_addf(out, "%lld h ago", (long long)(age / HOUR_MS));
    else
        strbuf_addf(out, "%lld d ago", (long long)(age / DAY_MS));
}

static const struct command *const children[] = {
    &command_session_list,    &command_session_show,    &command_session_search,
    &command_session_rename,  &command_session_fork,    &command_session_rewind,
    &command_session_compact, &command_session_export,  &command_session_import,
    &command_session_delete,  &command_session_prune,   &command_session_verify,
    &command_session_replay,  &command_session_rebuild, NULL,
};

const struct command command_session = {
    .name = "session",
    .usage = "COMMAND [ARGUMENTS]",
    .group = "Use",
    .summary = "stored sessions: list, show, fork, rewind, verify",
    .details = "ID is a session's id, its first 8 or more characters, or its name. Without an\n"
               "ID, a command uses the newest session of this directory.\n",
    .children = children,
};
