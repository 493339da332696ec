/* rewind.c - `keel session rewind`: undoes turns, with what they did to files. */
#include "cli/session/session.h"

#include "base/quoted.h"
#include "cli/flags/agent.h"
#include "cli/output/progress.h"
#include "cli/output/text.h"
#include "sdk/agent/rule_set.h"
#include "sdk/rewind/own_files.h"
#include "sdk/rewind/rewind.h"
#include "sys/unlock.h"
#include "view/session_log_fields.h"

#include <unistd.h>

static const struct option options[] = {
    {"to", 0, "TURN", "go back to before this turn (default: before the last prompt)"},
    {"files-only", 0, NULL, "leave the conversation as it is"},
    {"conversation-only", 0, NULL, "leave files as they are"},
    {"force", 0, NULL, "also restore files that someone else changed, or that are too large"},
    {"add-dir", 0, "DIR", "also restore files in this directory; repeatable"},
    {"dry-run", 0, NULL, "only list what would be done"},
    {"json", 0, NULL, "print the result as one JSON object"},
    {"yes", 'y', NULL, "do not ask"},
    SESSION_OPTIONS,
    {0},
};

/* --- what is wanted --- */

static struct err *read_options(struct session_work *w, struct rewind_options *o)
{
    int64_t turn;

    TRY(args_int(w->args, "to", 1, UINT32_MAX, 0, &turn));
    o->turn = (unsigned)turn;
    o->keeps_messages = args_has(w->args, "files-only");
    o->keeps_files = args_has(w->args, "conversation-only");
    o->force = args_has(w->args, "force");
    o->workspace = w->project->place.cwd;
    o->home = w->project->place.keel_home;
    o->person_home = w->project->place.home;
    if (o->keeps_messages && o->keeps_files)
        return err_new(ERR_VALIDATION, "--files-only and --conversation-only cannot be combined");
    return NULL;
}

/* Where the session may change files: as flags and settings say it for the agent. */
static struct err *find_directories(struct session_work *w, struct rewind_options *o)
{
    struct agent_options agent = {0};
    const char **dirs = ARENA_ARRAY(&w->arena, w->args->n_given, const char *);
    struct rule_set rules;
    const char *dir;
    size_t at = 0;

    while ((dir = args_next(w->args, "add-dir", &at)))
        TRY(agent_flags_directory("add-dir", dir, &w->arena, &dirs[agent.n_added_dirs++]));
    agent.added_dirs = dirs;
    TRY(rule_set_init(&rules, &w->arena, w->project, &agent));
    o->added_dirs = rules.added_dirs;
    o->n_added_dirs = rules.n_added_dirs;
    return NULL;
}

static struct err *check_place(struct session_work *w, const struct store_summary *s,
                               const struct rewind_options *o)
{
    if (s->is_open)
        return err_hint(err_new(ERR_STORAGE, "session %" STR_FMT " is open in %" STR_FMT,
                                STR_ARG(s->id), STR_ARG(s->holder)),
                        "stop that process first");
    if (o->keeps_files || str_is(s->cwd, w->project->place.cwd))
        return NULL;
    return err_hint(
        err_new(ERR_VALIDATION, "the files of this session are in %" STR_FMT, STR_ARG(s->cwd)),
        "run keel there, or rewind only the conversation: --conversation-only");
}

/* --- what it is --- */

#define MAX_UNSAVED 20 /* lines of them */

static void add_turns(struct strbuf *out, const struct rewind *r, const struct rewind_options *o)
{
    AUTO(strbuf) struct strbuf prompt = {0};

    if (r->turn->is_rewind)
        strbuf_addf(&prompt, "(rewound to before turn %u)", r->turn->to_turn);
    else
        session_add_line(&prompt, r->turn->has_prompt ? r->turn->prompt : S("(continued)"), 60);
    strbuf_addf(out, "back to before turn %u: ", r->turn->number);
    cli_add_tinted(out, TINT_BOLD, strbuf_str(&prompt));
    strbuf_add_char(out, '\n');
    if (!o->keeps_messages && (!r->turn->is_rewind || r->n_turns))
        strbuf_addf(out, "%zu turn%s of the conversation\n", r->n_turns,
                    r->n_turns == 1 ? "" : "s");
}

static const char *action_of(const struct restore_item *item)
{
    switch (item->outcome) {
    case RESTORE_PLANNED:
    case RESTORE_DONE:
    case RESTORE_PARTLY:
        if (item->aim.kind == IMAGE_NONE)
            return item->moves ? "move" : "remove";
        return "restore";
    case RESTORE_CONFLICT:
    case RESTORE_LEFT:
        return "leave";
    default:
        return "cannot";
    }
}

static enum tint tint_of(const struct restore_item *item)
{
    if (item->outcome == RESTORE_CONFLICT || item->outcome == RESTORE_PARTLY ||
        item->outcome == RESTORE_LEFT)
        return TINT_YELLOW;
    if (item->outcome == RESTORE_FAILED || item->outcome == RESTORE_IMPOSSIBLE)
        return TINT_RED;
    return item->aim.kind == IMAGE_NONE ? TINT_FAINT : TINT_GREEN;
}

/* As short as it can be said from here. */
static struct str short_path(struct str path, const char *workspace)
{
    struct str dir = str_of(workspace);

    if (path.n > dir.n + 1 && str_starts(path, dir) && path.p[dir.n] == '/')
        return str_skip(path, dir.n + 1);
    return str_eq(path, dir) ? S(".") : path;
}

static void add_action(struct strbuf *out, const char *name, enum tint tint)
{
    AUTO(strbuf) struct strbuf action = {0};

    strbuf_addf(&action, "%-8s", name);
    strbuf_add_cstr(out, "  ");
    cli_add_tinted(out, tint, strbuf_str(&action));
    strbuf_add_char(out, ' ');
}

static void add_files(struct strbuf *out, const struct rewind *r, const char *workspace)
{
    for (size_t i = 0; i < r->plan.n; i++) {
        const struct restore_item *item = &r->plan.items[i];

        if (item->outcome == RESTORE_NOT_NEEDED)
            continue;
        add_action(out, action_of(item), tint_of(item));
        quoted_add(out, short_path(item->aim.path, workspace));
        if (item->why.n) {
            strbuf_add_cstr(out, ": ");
            cli_add_visible(out, item->why);
        }
        strbuf_add_char(out, '\n');
    }
}

/* What these calls changed is unknown; which calls they were is not. */
static void add_unsaved(struct strbuf *out, const struct rewind *r)
{
    for (size_t i = 0; i < MIN(r->n_unsaved, (size_t)MAX_UNSAVED); i++) {
        const struct rewind_unsaved *u = &r->unsaved[i];

        add_action(out, "cannot", TINT_RED);
        strbuf_add_cstr(out, "undo ");
        cli_add_visible(out, u->tool.n ? u->tool : S("background commands"));
        if (u->what.n) {
            strbuf_add_cstr(out, ": ");
            session_add_line(out, u->what, 60);
        }
        strbuf_add_cstr(out, ": not all changes were saved (");
        cli_add_visible(out, u->why);
        strbuf_add_cstr(out, ")\n");
    }
    if (r->n_unsaved > MAX_UNSAVED)
        strbuf_addf(out, "           and %zu more calls\n", r->n_unsaved - MAX_UNSAVED);
}

static size_t count(const struct rewind *r, enum restore_outcome outcome)
{
    size_t n = 0;

    for (size_t i = 0; i < r->plan.n; i++)
        n += r->plan.items[i].outcome == outcome;
    return n;
}

/* Is everything undone, or would it be? */
static bool is_complete(const struct rewind *r)
{
    return !r->n_unsaved && !r->notes.n && !count(r, RESTORE_CONFLICT) &&
           !count(r, RESTORE_FAILED) && !count(r, RESTORE_IMPOSSIBLE) &&
           !count(r, RESTORE_PARTLY) && !count(r, RESTORE_LEFT);
}

/* --- for programs --- */

static void write_files(struct json_writer *j, const struct rewind *r)
{
    jw_key(j, "files");
    jw_begin_array(j);
    for (size_t i = 0; i < r->plan.n; i++) {
        const struct restore_item *item = &r->plan.items[i];

        if (item->outcome == RESTORE_NOT_NEEDED)
            continue;
        jw_begin_object(j);
        session_log_path(j, item->aim.path);
        jw_kv_str(j, "action", str_of(action_of(item)));
        jw_kv_str(j, "outcome", str_of(restore_outcome_name(item->outcome)));
        if (item->why.n)
            jw_kv_str(j, "why", item->why);
        jw_end_object(j);
    }
    jw_end_array(j);
}

static void write_unsaved(struct json_writer *j, const struct rewind *r)
{
    jw_key(j, "notSaved");
    jw_begin_array(j);
    for (size_t i = 0; i < r->n_unsaved; i++) {
        const struct rewind_unsaved *u = &r->unsaved[i];

        jw_begin_object(j);
        jw_kv_str(j, "toolCallId", u->call_id);
        jw_kv_str(j, "tool", u->tool);
        jw_kv_str(j, "what", u->what);
        jw_kv_str(j, "why", u->why);
        jw_end_object(j);
    }
    jw_end_array(j);
}

static void write_notes(struct json_writer *j, struct str notes)
{
    struct str line;

    jw_key(j, "notes");
    jw_begin_array(j);
    while (str_split(&notes, '\n', &line))
        if (line.n)
            jw_str(j, line);
    jw_end_array(j);
}

/* `number` is that of the rewind itself; 0: nothing was changed. */
static struct err *print_json(const struct rewind *r, const struct rewind_options *o, struct str id,
                              unsigned number)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct json_writer j;

    jw_init(&j, &out);
    jw_begin_object(&j);
    jw_kv_str(&j, "session", id);
    jw_kv_int(&j, "turn", r->turn->number);
    jw_kv_int(&j, "turns", o->keeps_messages ? 0 : (int64_t)r->n_turns);
    jw_kv_bool(&j, "done", number > 0);
    if (number)
        jw_kv_int(&j, "rewindTurn", number);
    jw_kv_bool(&j, "complete", is_complete(r));
    write_files(&j, r);
    write_unsaved(&j, r);
    write_notes(&j, r->notes);
    jw_end_object(&j);
    strbuf_add_char(&out, '\n');
    return cli_print(strbuf_str(&out));
}

/* --- doing it --- */

static struct err *confirm(struct session_work *w, bool *ret_yes)
{
    *ret_yes = true;
    if (args_has(w->args, "yes"))
        return NULL;
    return cli_confirm("Undo this?", "--yes does it without asking, --dry-run only lists it",
                       ret_yes);
}

/* The command that also restores what was left alone: with this turn, because the conversation now
 * ends before it, and with the other options as they were given. */
static void add_forced(struct strbuf *out, const struct session_work *w, const struct rewind *r,
                       const char *id)
{
    static const char *const own[] = {"to", "force", "yes", "json", "dry-run"};

    strbuf_addf(out, "keel session rewind %s --to %u --force", id, r->turn->number);
    for (size_t i = 0; i < w->args->n_given; i++) {
        const struct arg *given = &w->args->given[i];
        bool is_own = false;

        for (size_t k = 0; k < ARRAY_LEN(own); k++)
            is_own |= strcmp(given->option->name, own[k]) == 0;
        if (is_own)
            continue;
        strbuf_addf(out, " --%s", given->option->name);
        if (given->option->value_name) {
            strbuf_add_char(out, ' ');
            text_add_shell_word(out, str_of(given->value));
        }
    }
}

static void tell_left(const struct session_work *w, const struct rewind *r, const char *id)
{
    size_t n = count(r, RESTORE_CONFLICT);
    AUTO(strbuf) struct strbuf command = {0};

    if (!n)
        return;
    add_forced(&command, w, r, id);
    cli_tell("%zu file%s left alone, for the reason listed above; to restore %s as well:\n  %s", n,
             n == 1 ? " was" : "s were", n == 1 ? "it" : "them", strbuf_cstr(&command));
}

/* Files that keel put aside because programs obey them. */
static void tell_aside(struct str notes)
{
    struct str line;

    if (notes.n)
        cli_tell("not restored, because other programs obey it and a command wrote it:");
    while (str_split(&notes, '\n', &line))
        if (line.n)
            cli_tell("%" STR_FMT, STR_ARG(line));
}

/* What was not undone, also where there was nothing else to do. */
static void report(struct session_work *w, const struct rewind *r, const char *id)
{
    size_t n_failed = count(r, RESTORE_FAILED) + count(r, RESTORE_IMPOSSIBLE);
    size_t n_left = count(r, RESTORE_LEFT), n_partly = count(r, RESTORE_PARTLY);

    for (size_t i = 0; i < r->plan.n; i++)
        if (r->plan.items[i].outcome == RESTORE_FAILED ||
            r->plan.items[i].outcome == RESTORE_PARTLY)
            cli_tell("%" STR_FMT ": %" STR_FMT,
                     STR_ARG(quoted(&w->arena, r->plan.items[i].aim.path)),
                     STR_ARG(r->plan.items[i].why));
    tell_aside(r->notes);
    tell_left(w, r, id);
    if (n_left)
        cli_tell("%zu path%s left alone: keel did not save %s content", n_left,
                 n_left == 1 ? " was" : "s were", n_left == 1 ? "its" : "their");
    if (n_failed)
        cli_tell("%zu file%s could not be restored", n_failed, n_failed == 1 ? "" : "s");
    if (n_partly)
        cli_tell("%zu file%s restored in part", n_partly, n_partly == 1 ? " was" : "s were");
    if (r->n_unsaved)
        cli_tell("the changes of %zu call%s were not saved and could not be undone: check "
                 "the files",
                 r->n_unsaved, r->n_unsaved == 1 ? "" : "s");
    w->status = is_complete(r) ? 0 : 1;
}

/* One half of it, with its progress. */
struct rewind_work {
    struct session_work *work;
    struct session *session; /* NULL: it is only planned */
    struct str id;
    struct rewind *rewind;
    const struct rewind_options *options;
};

static struct err *rewind_work_plan(void *arg)
{
    const struct rewind_work *x = arg;

    return rewind_plan(x->work->store, x->id, x->options, &x->work->arena, x->rewind);
}

static struct err *rewind_work_apply(void *arg)
{
    const struct rewind_work *x = arg;

    return rewind_apply(x->rewind, x->session, x->options, &x->work->arena);
}

static struct err *plan(struct session_work *w, struct str id, const struct rewind_options *o,
                        struct rewind *ret_rewind)
{
    struct rewind_work x = {.work = w, .id = id, .rewind = ret_rewind, .options = o};

    return progress_around("looking at files", rewind_work_plan, &x);
}

static struct err *undo_turns(struct session_work *w, struct session *s, struct rewind *r,
                              const struct rewind_options *o)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct rewind_work x = {.work = w, .session = s, .rewind = r, .options = o};
    unsigned number;
    bool is_sure;

    TRY(confirm(w, &is_sure));
    if (!is_sure) {
        w->status = 4;
        return NULL;
    }
    TRY(progress_around("restoring files", rewind_work_apply, &x));
    number = s->conversation.stream.turn;
    report(w, r, s->conversation.id);
    if (args_has(w->args, "json"))
        return print_json(r, o, str_of(s->conversation.id), number);
    strbuf_addf(&out, "%s; keel session rewind %s --to %u undoes this\n",
                is_complete(r) ? "done" : "done, but not all is undone", s->conversation.id,
                number);
    return cli_print(strbuf_str(&out));
}

static struct err *show_plan(struct session_work *w, const struct rewind *r,
                             const struct rewind_options *o)
{
    AUTO(strbuf) struct strbuf out = {0};

    if (args_has(w->args, "json"))
        return NULL;
    add_turns(&out, r, o);
    add_files(&out, r, w->project->place.cwd);
    add_unsaved(&out, r);
    return cli_print(strbuf_str(&out));
}

/* --- one that was interrupted --- */

/* What is not as it was before the turn, the process that died has not told. */
static struct err *print_finished(struct session_work *w, struct str id,
                                  const struct finished_rewind *finished,
                                  const struct rewind_options *o)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct rewind_options again = *o;
    struct rewind r;
    bool is_whole;
    struct json_writer j;

    again.turn = finished->turn;
    TRY(plan(w, id, &again, &r));
    r.notes = finished->notes;
    is_whole = is_complete(&r) && !finished->report.n_partly;
    tell_aside(r.notes);
    w->status = is_whole ? 0 : 1;
    if (!args_has(w->args, "json")) {
        strbuf_addf(&out, "finished the rewind to before turn %u, which was interrupted\n",
                    finished->turn);
        add_files(&out, &r, w->project->place.cwd);
        add_unsaved(&out, &r);
        return cli_print(strbuf_str(&out));
    }
    jw_init(&j, &out);
    jw_begin_object(&j);
    jw_kv_str(&j, "session", id);
    jw_kv_int(&j, "turn", finished->turn);
    jw_kv_bool(&j, "done", true);
    jw_kv_bool(&j, "finished", true);
    jw_kv_bool(&j, "complete", is_whole);
    write_files(&j, &r);
    write_unsaved(&j, &r);
    write_notes(&j, r.notes);
    jw_end_object(&j);
    strbuf_add_char(&out, '\n');
    return cli_print(strbuf_str(&out));
}

/* Tells what a crash has left untold, which the plan needs, and ends what it has interrupted. Is
 * that what was asked for? */
static struct err *repair(struct session_work *w, struct session *s, const struct rewind_options *o,
                          bool *ret_done)
{
    struct snapshot_options files = undo_options(w->project);
    struct finished_rewind finished;

    *ret_done = false;
    files.added_dirs = o->added_dirs;
    files.n_added_dirs = o->n_added_dirs;
    files.blobs = store_blobs(w->store, s->options.id);
    files.own =
        own_files(w->store, files.workspace, files.added_dirs, files.n_added_dirs, &w->arena);
    if (!o->keeps_files)
        TRY(rewind_recover(s, &files));
    TRY(rewind_finish(s, o, &w->arena, &finished));
    TRY(journal_sync(s->journal));
    *ret_done = finished.turn && (!o->turn || o->turn == finished.turn);
    return *ret_done ? print_finished(w, s->options.id, &finished, o) : NULL;
}

static struct err *open_session(struct session_work *w, struct session *s, struct str id)
{
    return session_open(s, &(struct session_options){.store = w->store,
                                                     .start = SESSION_RESUME,
                                                     .id = id,
                                                     .cwd = str_of(w->project->place.cwd),
                                                     .subscribers = w->subscribers,
                                                     .n_subscribers = ARRAY_LEN(w->subscribers)});
}

/* --- a workspace that a command has closed --- */

/* Open for as long as the rewind takes, which may be what opens it for good. */
struct closed_workspace {
    struct unlocks unlocks;
    bool is_unlocked;
    unsigned mode;
};

static void open_workspace(struct closed_workspace *c)
{
    AUTO_FREE char *cwd = getcwd(NULL, 0);

    c->is_unlocked = cwd && unlocks_open(&c->unlocks, cwd, &c->mode);
}

/* Is its own mode set by now? */
static void note_restored(struct closed_workspace *c, const struct rewind *r,
                          const struct rewind_options *o)
{
    for (size_t i = 0; i < r->plan.n && c->is_unlocked; i++) {
        const struct restore_item *item = &r->plan.items[i];

        if (str_is(item->aim.path, o->workspace) &&
            (item->outcome == RESTORE_DONE || item->outcome == RESTORE_PARTLY))
            unlocks_forget(&c->unlocks);
    }
}

/* --- the command --- */

static struct err *only_show(struct session_work *w, struct str id, const struct rewind_options *o)
{
    struct rewind r;

    TRY(plan(w, id, o, &r));
    TRY(show_plan(w, &r, o));
    w->status = is_complete(&r) ? 0 : 1;
    return args_has(w->args, "json") ? print_json(&r, o, id, 0) : NULL;
}

static struct err *rewind_with(struct session_work *w, struct session *s, struct str id,
                               const struct rewind_options *o)
{
    struct rewind r;
    bool is_done;

    TRY(open_session(w, s, id));
    TRY(repair(w, s, o, &is_done));
    if (is_done)
        return NULL;
    TRY(plan(w, id, o, &r));
    TRY(show_plan(w, &r, o));
    if (!o->keeps_messages || count(&r, RESTORE_PLANNED)) {
        TRY(undo_turns(w, s, &r, o));
        note_restored(w->self, &r, o);
        return NULL;
    }
    cli_tell("no file is to be changed");
    report(w, &r, s->conversation.id);
    return args_has(w->args, "json") ? print_json(&r, o, id, 0) : NULL;
}

static struct err *rewind_session(struct session_work *w)
{
    AUTO(session) struct session s = {0};
    const struct closed_workspace *closed = w->self;
    struct store_summary found = {0};
    struct rewind_options o = {.is_unlocked = closed->is_unlocked, .workspace_mode = closed->mode};

    TRY(session_work_find(w, 0, &found));
    TRY(read_options(w, &o));
    TRY(check_place(w, &found, &o));
    TRY(find_directories(w, &o));
    if (args_has(w->args, "dry-run"))
        return only_show(w, found.id, &o);
    TRY(rewind_with(w, &s, found.id, &o));
    return session_shutdown(&s, "other");
}

static struct err *session_rewind_run(const struct args *args, int *ret_status)
{
    struct closed_workspace closed = {0};
    struct err *e;

    TRY(args_count(args, 0, 1, "one session"));
    open_workspace(&closed);
    e = session_work_run_at(args, NULL, rewind_session, &closed, ret_status);
    unlocks_done(&closed.unlocks);
    return e;
}

const struct command command_session_rewind = {
    .name = "session rewind",
    .usage = "[ID] [--to TURN] [--files-only|--conversation-only] [--dry-run] [--force] [--yes]",
    .operands = COMPLETE_SESSIONS,
    .summary = "undo turns: the conversation, and what was done to files",
    .details = "Goes back to the state before a turn; keel session show prints the numbers.\n"
               "Leaves a file alone that someone else has changed since, or that is too large to\n"
               "save first, unless --force is given. Lists what it cannot undo and exits 1:\n"
               "changes that were too large to save, were made outside the sandbox, or are in\n"
               ".git or in a directory that git ignores. A rewind is a turn itself and can be\n"
               "undone like one.\n"
               "\n"
               "  keel session rewind --dry-run\n"
               "  keel session rewind ID --to 4 --yes && keel -p -r ID \"another way: ...\"\n",
    .options = options,
    .run = session_rewind_run,
};
