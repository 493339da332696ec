/* verify.c - `keel session verify`: is what was kept of a session whole? */
#include "cli/session/session.h"

#include "archive/verify.h"
#include "snapshot/manifest.h"

#define AT_ONCE 500 /* sessions of a list */

static const struct option options[] = {
    {"all", 'a', NULL, "every session of the store"},
    {"json", 0, NULL, "print one JSON array, an object for each session"},
    SESSION_OPTIONS,
    {0},
};

/* One session's answer, while its findings come. */
struct verify_report {
    struct strbuf lines, array;
    struct json_writer json;
    struct str session;
};

static void add_line(struct verify_report *r, const struct finding *f)
{
    strbuf_add_cstr(&r->lines, "  ");
    if (!str_eq(f->stream, r->session))
        strbuf_addf(&r->lines, "%" STR_FMT " ", STR_ARG(f->stream));
    if (f->seq)
        strbuf_addf(&r->lines, "%6llu  ", (unsigned long long)f->seq);
    else
        strbuf_add_cstr(&r->lines, "     -  ");
    cli_add_tinted(&r->lines, finding_is_problem(f->kind) ? TINT_RED : TINT_FAINT,
                   str_of(finding_name(f->kind)));
    strbuf_add_cstr(&r->lines, "  ");
    cli_add_visible(&r->lines, f->text);
    strbuf_add_char(&r->lines, '\n');
}

static void on_finding(void *self, const struct finding *f)
{
    struct verify_report *r = self;

    add_line(r, f);
    jw_begin_object(&r->json);
    jw_kv_str(&r->json, "kind", str_of(finding_name(f->kind)));
    jw_kv_bool(&r->json, "problem", finding_is_problem(f->kind));
    jw_kv_str(&r->json, "stream", f->stream);
    jw_kv_int(&r->json, "seq", (int64_t)f->seq);
    jw_kv_str(&r->json, "text", f->text);
    jw_end_object(&r->json);
}

static void add_count(struct strbuf *out, const char *before, uint64_t n, const char *of)
{
    strbuf_addf(out, "%s%llu %s%s", before, (unsigned long long)n, of, n == 1 ? "" : "s");
}

static void write_text(struct strbuf *out, const struct verify_report *r, const struct verified *v)
{
    bool is_whole = v->n_problems == 0;

    cli_add_tinted(out, TINT_GREEN, r->session);
    strbuf_add_cstr(out, "  ");
    if (is_whole)
        strbuf_add_cstr(out, "whole");
    else
        add_count(out, "", v->n_problems, "problem");
    add_count(out, ": ", v->n_events, "event");
    add_count(out, ", ", v->n_runs, "run");
    add_count(out, ", ", v->n_attempts, "attempt");
    add_count(out, ", ", v->n_calls, "tool call");
    strbuf_add_char(out, '\n');
    strbuf_add(out, strbuf_str(&r->lines));
}

static void write_json(struct strbuf *out, const struct verify_report *r, const struct verified *v)
{
    struct json_writer w;

    jw_init(&w, out);
    jw_begin_object(&w);
    jw_kv_str(&w, "id", r->session);
    jw_kv_bool(&w, "whole", v->n_problems == 0);
    jw_kv_int(&w, "streams", (int64_t)v->n_streams);
    jw_kv_int(&w, "events", (int64_t)v->n_events);
    jw_kv_int(&w, "runs", (int64_t)v->n_runs);
    jw_kv_int(&w, "attempts", (int64_t)v->n_attempts);
    jw_kv_int(&w, "toolCalls", (int64_t)v->n_calls);
    jw_kv_raw(&w, "findings", strbuf_str(&r->array));
    jw_end_object(&w);
}

/* What was removed while it was read has no findings. */
static bool is_gone(struct session_work *w, struct str id)
{
    AUTO(arena) struct arena a = {0};
    AUTO(err) struct err *e = NULL;
    struct store_summary now;
    bool found = true;

    e = store_find(w->store, id, &a, &now, &found);
    return !e && !found;
}

static struct err *verify_one(struct session_work *w, const struct store_summary *s, bool *is_first)
{
    bool is_json = args_has(w->args, "json"), is_all = args_has(w->args, "all");
    struct verify_report r = {.session = s->id};
    AUTO(strbuf) struct strbuf out = {0};
    struct verified totals;
    struct err *e;

    jw_init(&r.json, &r.array);
    jw_begin_array(&r.json);
    e = session_verify(w->store, s, manifest_each_content, (struct finding_sink){on_finding, &r},
                       &totals);
    jw_end_array(&r.json);
    if (is_all && (e || totals.n_problems) && is_gone(w, s->id)) {
        err_free(TAKE(e));
    } else if (!e) {
        if (is_json && !*is_first)
            strbuf_add(&out, S(",\n"));
        *is_first = false;
        if (is_json)
            write_json(&out, &r, &totals);
        else
            write_text(&out, &r, &totals);
        if (totals.n_problems)
            w->status = 1;
    }
    strbuf_done(&r.lines);
    strbuf_done(&r.array);
    return e ? e : cli_print(strbuf_str(&out));
}

/* --- what belongs to no session --- */

struct stray_report {
    struct verify_report report;
    struct verified totals;
};

static void on_stray(void *self, struct str text)
{
    struct stray_report *s = self;

    s->totals.n_problems++;
    on_finding(&s->report, &(struct finding){.kind = FINDING_DAMAGED_STORE, .text = text});
}

static struct err *verify_store(struct session_work *w, const bool *is_first)
{
    bool is_json = args_has(w->args, "json");
    struct stray_report s = {0};
    AUTO(strbuf) struct strbuf out = {0};
    struct err *e;

    jw_init(&s.report.json, &s.report.array);
    jw_begin_array(&s.report.json);
    e = store_check_all(w->store, (struct store_damage_sink){on_stray, &s});
    if (e && !err_is(e, ERR_CANCELLED)) {
        AUTO(err) struct err *failure = TAKE(e);
        AUTO_FREE char *text = err_message(failure);

        on_stray(&s, str_of(text));
    }
    jw_end_array(&s.report.json);
    if (!e && s.totals.n_problems) {
        w->status = 1;
        if (is_json && !*is_first)
            strbuf_add(&out, S(",\n"));
        if (is_json) {
            write_json(&out, &s.report, &s.totals);
        } else {
            add_count(&out, "outside of these sessions: ", s.totals.n_problems, "problem");
            strbuf_add_char(&out, '\n');
            strbuf_add(&out, strbuf_str(&s.report.lines));
        }
    }
    strbuf_done(&s.report.lines);
    strbuf_done(&s.report.array);
    return e ? e : cli_print(strbuf_str(&out));
}

/* A store may have more sessions than fit into memory. */
static struct err *verify_all(struct session_work *w, bool *is_first)
{
    AUTO(arena) struct arena last = {0};
    struct store_list_query q = {.n_max = AT_ONCE};
    size_t n = AT_ONCE;

    while (n == AT_ONCE) {
        AUTO(arena) struct arena a = {0};
        struct store_summary *items;

        TRY(store_list(w->store, &q, &a, &items, &n));
        for (size_t i = 0; i < n; i++)
            TRY(verify_one(w, &items[i], is_first));
        if (n == 0)
            break;
        arena_clear(&last);
        q.before_ms = items[n - 1].updated_ms;
        q.before_id = arena_str(&last, items[n - 1].id);
    }
    return verify_store(w, is_first);
}

static struct err *verify(struct session_work *w)
{
    bool is_json = args_has(w->args, "json"), is_all = args_has(w->args, "all"), is_first = true;
    struct store_summary one;
    struct err *e;

    if (!is_all)
        TRY(session_work_find(w, 0, &one));
    if (!is_json)
        return is_all ? verify_all(w, &is_first) : verify_one(w, &one, &is_first);
    TRY(cli_print(S("[")));
    e = is_all ? verify_all(w, &is_first) : verify_one(w, &one, &is_first);
    if (e) {
        err_ignore(cli_print(S("]\n")), "the first failure is reported");
        return e;
    }
    return cli_print(S("]\n"));
}

static struct err *session_verify_run(const struct args *args, int *ret_status)
{
    TRY(args_count(args, 0, 1, "one session at most"));
    if (args_has(args, "all") && args->n_operands)
        return err_new(ERR_VALIDATION, "--all and a session cannot be combined");
    return session_work_run(args, verify, ret_status);
}

const struct command command_session_verify = {
    .name = "session verify",
    .usage = "[ID] [--all] [--json]",
    .operands = COMPLETE_SESSIONS,
    .summary = "check that a session is complete and undamaged",
    .details = "Reads all of it, with its child runs, and prints what is missing or damaged.\n"
               "Exits 0 if nothing is, 1 otherwise. Reports what a crash has cut off, which is\n"
               "not a problem.\n"
               "\n"
               "  keel session verify --all --json | jq '.[] | select(.whole | not)'\n",
    .options = options,
    .run = session_verify_run,
};
