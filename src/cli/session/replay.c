/* replay.c - `keel session replay`: a recorded session once more, compared with what it was. */
#include "cli/session/session.h"

#include "sdk/replay/replay.h"

#include <malloc.h>

#define LARGE_BYTES (1 << 20)
#define AROUND 60 /* bytes of a line that are shown on each side of a difference */

static const struct option options[] = {
    {"run", 0, "N", "only this run, from 1"},
    {"verbose", 0, NULL, "show the whole lines where they differ"},
    {"json", 0, NULL, "print one JSON array, an object for each run"},
    SESSION_OPTIONS,
    {0},
};

struct replaying {
    struct session_work *work;
    struct replay_clock *clock;
    struct str child; /* whose runs they are; empty: the session's own */
    size_t n_runs, n_bad;
    struct err *error; /* of printing */
};

static const char *const verdicts[] = {
    [REPLAY_SAME] = "same", [REPLAY_DIFFERENT] = "different", [REPLAY_DAMAGED] = "damaged"};

/* --- in words --- */

/* The line around the place, which is marked below it. */
static void add_excerpt(struct strbuf *out, const char *label, struct str line, size_t at,
                        bool is_whole)
{
    size_t from = is_whole || at < AROUND ? 0 : at - AROUND;
    struct str shown = is_whole ? line : str_slice(line, from, 2 * AROUND);
    AUTO(strbuf) struct strbuf before = {0};

    strbuf_addf(out, "    %s ", label);
    if (!line.n)
        strbuf_add_cstr(out, "(nothing)");
    strbuf_add_cstr(out, from ? "..." : "");
    cli_add_visible(out, shown);
    strbuf_add_cstr(out, from + shown.n < line.n ? "...\n" : "\n");
    if (!line.n)
        return;
    cli_add_visible(&before, str_slice(line, from, at - from));
    strbuf_addf(out, "    %*s^\n", (int)(strlen(label) + 1 + (from ? 3 : 0) + before.n), "");
}

static void add_text(struct strbuf *out, struct str child, const struct replayed_run *r,
                     bool is_verbose)
{
    if (child.n)
        strbuf_addf(out, "child run %" STR_FMT "  ", STR_ARG(child));
    else
        strbuf_addf(out, "run %u  ", r->turn);
    cli_add_tinted(out, r->verdict == REPLAY_SAME ? TINT_GREEN : TINT_RED,
                   str_of(verdicts[r->verdict]));
    strbuf_addf(out, "  %zu of %zu events%s\n", r->n_compared, r->n_recorded,
                r->is_cut && !r->damage.n ? "; the recording was cut off there" : "");
    if (r->verdict == REPLAY_DAMAGED) {
        strbuf_add_cstr(out, "    ");
        cli_add_visible(out, r->damage);
        strbuf_add_char(out, '\n');
    }
    if (r->verdict != REPLAY_DIFFERENT)
        return;
    strbuf_addf(out, "    at event %llu\n", (unsigned long long)r->different_seq);
    add_excerpt(out, "recorded", r->recorded, r->at, is_verbose);
    add_excerpt(out, "replayed", r->replayed, r->at, is_verbose);
}

/* --- as JSON --- */

static void add_json(struct strbuf *out, struct str child, const struct replayed_run *r)
{
    struct json_writer w;

    jw_init(&w, out);
    jw_begin_object(&w);
    if (child.n)
        jw_kv_str(&w, "child", child);
    jw_kv_int(&w, "run", r->turn);
    jw_kv_int(&w, "seq", (int64_t)r->seq);
    jw_kv_str(&w, "verdict", str_of(verdicts[r->verdict]));
    jw_kv_int(&w, "compared", (int64_t)r->n_compared);
    jw_kv_int(&w, "recorded", (int64_t)r->n_recorded);
    jw_kv_bool(&w, "cutOff", r->is_cut && !r->damage.n);
    if (r->damage.n)
        jw_kv_str(&w, "damage", r->damage);
    if (r->verdict == REPLAY_DIFFERENT) {
        jw_key(&w, "difference");
        jw_begin_object(&w);
        jw_kv_int(&w, "seq", (int64_t)r->different_seq);
        jw_kv_int(&w, "at", (int64_t)r->at);
        jw_kv_str(&w, "recorded", r->recorded);
        jw_kv_str(&w, "replayed", r->replayed);
        jw_end_object(&w);
    }
    jw_end_object(&w);
}

static void on_run(void *self, const struct replayed_run *r)
{
    struct replaying *x = self;
    const struct args *args = x->work->args;
    AUTO(strbuf) struct strbuf out = {0};

    if (args_has(args, "json")) {
        strbuf_add_cstr(&out, x->n_runs ? ",\n" : "");
        add_json(&out, x->child, r);
    } else {
        add_text(&out, x->child, r, args_has(args, "verbose"));
    }
    x->n_runs++;
    x->n_bad += r->verdict != REPLAY_SAME;
    if (!x->error)
        x->error = cli_print(strbuf_str(&out));
}

/* --- all of it --- */

#define MAX_DEPTH 16 /* of child runs */

static struct err *replay_stream(struct replaying *x, struct str session, unsigned only_turn)
{
    struct session_work *w = x->work;
    struct replay_options how = {
        .project = w->project,
        .store = w->store,
        .session = session,
        .only_turn = only_turn,
        .tool_response_bytes =
            (size_t)MAX(settings_int(w->project->settings, "toolResponseMaxBytes", 0), (int64_t)0),
        .clock = x->clock,
        .on_run = on_run,
        .self = x,
    };

    TRY(session_replay(&how));
    return TAKE(x->error);
}

static struct err *replay_children(struct replaying *x, struct str session, int depth)
{
    AUTO(arena) struct arena a = {0};
    struct store_summary *children;
    size_t n;

    TRY(store_list(x->work->store, &(struct store_list_query){.parent = session}, &a, &children,
                   &n));
    while (n-- > 0 && depth < MAX_DEPTH) { /* the oldest first */
        x->child = children[n].id;
        TRY(replay_stream(x, children[n].id, 0));
        TRY(replay_children(x, children[n].id, depth + 1));
    }
    return NULL;
}

static struct err *replay(struct session_work *w)
{
    struct replaying x = {.work = w, .clock = w->self};
    bool is_json = args_has(w->args, "json");
    struct store_summary session;
    int64_t run;

    TRY(args_int(w->args, "run", 1, INT32_MAX, 0, &run));
    TRY(session_work_find(w, 0, &session));
    if (is_json)
        TRY(cli_print(S("[")));
    TRY(replay_stream(&x, session.id, (unsigned)run));
    if (!run)
        TRY(replay_children(&x, session.id, 0));
    if (is_json)
        TRY(cli_print(S("]\n")));
    if (!x.n_runs && run)
        return err_hint(err_new(ERR_VALIDATION, "the session has no run %lld", (long long)run),
                        "without --run all of them are replayed, with their numbers");
    if (!x.n_runs)
        cli_tell("the session has no runs to replay: those before it was copied or imported are "
                 "not in it");
    w->status = x.n_bad ? 1 : 0;
    return NULL;
}

static struct err *session_replay_run(const struct args *args, int *ret_status)
{
    struct replay_clock clock;

    /* Outputs of tools come one after the other, and each is gone before the next: its memory goes
     * back at once instead of staying in the heap in ever larger pieces. */
    mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
    TRY(args_count(args, 0, 1, "one ID at most"));
    replay_clock_init(&clock);
    return session_work_run_at(args, &clock.clock, replay, &clock, ret_status);
}

const struct command command_session_replay = {
    .name = "session replay",
    .usage = "[ID] [--run N] [--verbose] [--json]",
    .operands = COMPLETE_SESSIONS,
    .summary = "run a session again from its recording and compare",
    .details = "Sends nothing and runs no tool: recorded answers and results go through the\n"
               "engine once more. Requests, answers and events must be the same as before. Child\n"
               "runs follow, unless --run is given. Exits 0 if all runs are the same; otherwise\n"
               "shows the first difference and exits 1.\n\n"
               "  keel session replay --verbose\n",
    .options = options,
    .run = session_replay_run,
};
