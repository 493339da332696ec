/* rewind.c - `keel session rewind`: takes turns back, with what they did to files. */
#include "cli/session/session.h"

#include "sdk/rewind.h"
#include "sdk/rule_set.h"

static const struct option options[] = {
    {"to", 0, "TURN", "to before this turn; else before the last one"},
    {"files-only", 0, NULL, "leave the conversation as it is"},
    {"conversation-only", 0, NULL, "leave files as they are"},
    {"force", 0, NULL, "also files that somebody else has changed since"},
    {"add-dir", 0, "DIR", "files in this directory, too, as with keel -p"},
    {"dry-run", 0, NULL, "only say what would be done"},
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
    o->workspace = w->runtime.options.cwd;
    if (o->keeps_messages && o->keeps_files)
        return err_new(ERR_VALIDATION, "--files-only and --conversation-only do not go together");
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
        dirs[agent.n_added_dirs++] = dir;
    agent.added_dirs = dirs;
    TRY(rule_set_init(&rules, &w->arena, &w->runtime, &agent));
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
                        "end that keel first");
    if (o->keeps_files || str_is(s->cwd, w->runtime.options.cwd))
        return NULL;
    return err_hint(
        err_new(ERR_VALIDATION, "the files of this session are in %" STR_FMT, STR_ARG(s->cwd)),
        "go there first, or take only the conversation back: --conversation-only");
}

/* --- what it is --- */

static void add_turns(struct strbuf *out, const struct rewind *r, const struct rewind_options *o)
{
    AUTO(strbuf) struct strbuf prompt = {0};

    if (r->turn->is_rewind)
        strbuf_addf(&prompt, "(taken back to before turn %u)", r->turn->to_turn);
    else
        session_add_line(&prompt, r->turn->has_prompt ? r->turn->prompt : S("(goes on)"), 60);
    strbuf_addf(out, "to before turn %u: ", r->turn->number);
    cli_add_tinted(out, TINT_BOLD, strbuf_str(&prompt));
    strbuf_add_char(out, '\n');
    if (!o->keeps_messages && !r->turn->is_rewind)
        strbuf_addf(out, "%zu turn%s of the conversation\n", r->n_turns,
                    r->n_turns == 1 ? "" : "s");
}

static const char *action_of(const struct restore_item *item)
{
    switch (item->outcome) {
    case RESTORE_PLANNED:
    case RESTORE_DONE:
        return item->aim.kind == IMAGE_NONE ? "remove" : "restore";
    case RESTORE_CONFLICT:
        return "leave";
    default:
        return "cannot";
    }
}

static enum tint tint_of(const struct restore_item *item)
{
    if (item->outcome == RESTORE_CONFLICT)
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
    return path;
}

static void add_files(struct strbuf *out, const struct rewind *r, const char *workspace)
{
    for (size_t i = 0; i < r->plan.n; i++) {
        const struct restore_item *item = &r->plan.items[i];
        AUTO(strbuf) struct strbuf action = {0};

        if (item->outcome == RESTORE_NOT_NEEDED)
            continue;
        strbuf_addf(&action, "%-8s", action_of(item));
        strbuf_add_cstr(out, "  ");
        cli_add_tinted(out, tint_of(item), strbuf_str(&action));
        strbuf_add_char(out, ' ');
        cli_add_visible(out, short_path(item->aim.path, workspace));
        if (item->why.n)
            strbuf_addf(out, ": %" STR_FMT, STR_ARG(item->why));
        strbuf_add_char(out, '\n');
    }
}

static size_t count(const struct rewind *r, enum restore_outcome outcome)
{
    size_t n = 0;

    for (size_t i = 0; i < r->plan.n; i++)
        n += r->plan.items[i].outcome == outcome;
    return n;
}

/* --- doing it --- */

static void tell(void *self, struct str text)
{
    cli_tell("%" STR_FMT, STR_ARG(text));
}

static struct err *confirm(struct session_work *w, bool *ret_yes)
{
    *ret_yes = true;
    if (args_has(w->args, "yes"))
        return NULL;
    return cli_confirm("Take it back?", "--yes does it without asking, --dry-run only says what",
                       ret_yes);
}

/* What a crash has left untold is told first: the plan needs it. */
static struct err *open_session(struct session_work *w, struct session *s, struct str id,
                                const struct rewind_options *o)
{
    struct snapshot_options files;

    TRY(session_open(s, &(struct session_options){.store = w->store,
                                                  .start = SESSION_RESUME,
                                                  .id = id,
                                                  .cwd = str_of(w->runtime.options.cwd),
                                                  .on_notice = tell}));
    if (o->keeps_files)
        return NULL;
    TRY(undo_options_read(&w->runtime, &w->arena, &files));
    files.added_dirs = o->added_dirs;
    files.n_added_dirs = o->n_added_dirs;
    files.blobs = store_blobs(w->store, id);
    TRY(rewind_recover(s, &files));
    return journal_sync(s->journal);
}

/* The plan has said what would be left. */
static void report(struct session_work *w, const struct rewind *r)
{
    size_t n_failed = r->report.n_failed, n_left = r->report.n_conflicts;

    for (size_t i = 0; i < r->plan.n; i++)
        if (r->plan.items[i].outcome == RESTORE_FAILED)
            cli_tell("%" STR_FMT ": %" STR_FMT, STR_ARG(r->plan.items[i].aim.path),
                     STR_ARG(r->plan.items[i].why));
    if (n_left)
        cli_tell("%zu file%s left as somebody else has made %s; --force restores %s, too", n_left,
                 n_left == 1 ? " was" : "s were", n_left == 1 ? "it" : "them",
                 n_left == 1 ? "it" : "them");
    if (n_failed)
        cli_tell("%zu file%s could not be restored", n_failed, n_failed == 1 ? "" : "s");
    w->status = n_failed || n_left ? 1 : 0;
}

static struct err *take_back(struct session_work *w, struct session *s, struct rewind *r,
                             const struct rewind_options *o)
{
    AUTO(strbuf) struct strbuf out = {0};
    unsigned number;
    bool is_sure;

    TRY(confirm(w, &is_sure));
    if (!is_sure) {
        w->status = 4;
        return NULL;
    }
    TRY(rewind_apply(r, s, o, &w->arena));
    number = s->conversation.n_runs;
    report(w, r);
    strbuf_addf(&out, "done; keel session rewind %s --to %u takes this back\n", s->conversation.id,
                number);
    return cli_print(strbuf_str(&out));
}

static struct err *show_plan(struct session_work *w, const struct rewind *r,
                             const struct rewind_options *o)
{
    AUTO(strbuf) struct strbuf out = {0};

    add_turns(&out, r, o);
    add_files(&out, r, w->runtime.options.cwd);
    return cli_print(strbuf_str(&out));
}

static struct err *rewind_with(struct session_work *w, struct session *s, struct str id,
                               const struct rewind_options *o)
{
    bool is_dry = args_has(w->args, "dry-run");
    struct rewind r;

    if (!is_dry)
        TRY(open_session(w, s, id, o));
    TRY(rewind_plan(w->store, id, o, &w->arena, &r));
    TRY(show_plan(w, &r, o));
    if (is_dry)
        return NULL;
    if (o->keeps_messages && !count(&r, RESTORE_PLANNED)) {
        cli_tell("no file is to be changed");
        return NULL;
    }
    return take_back(w, s, &r, o);
}

static struct err *rewind_session(struct session_work *w)
{
    AUTO(session) struct session s = {0};
    struct store_summary found = {0};
    struct rewind_options o = {0};

    TRY(session_work_find(w, 0, &found));
    TRY(read_options(w, &o));
    TRY(check_place(w, &found, &o));
    TRY(find_directories(w, &o));
    TRY(rewind_with(w, &s, found.id, &o));
    return session_shutdown(&s, "other");
}

static struct err *run(const struct args *args, int *ret_status)
{
    TRY(args_count(args, 0, 1, "one session"));
    return session_work_run(args, rewind_session, ret_status);
}

const struct command command_session_rewind = {
    .name = "session rewind",
    .usage = "[ID] [--to TURN] [--files-only|--conversation-only] [--dry-run] [--yes]",
    .summary = "take turns back: the conversation, and what was done to files",
    .details = "Goes back to where the session stood before a turn; keel session show prints\n"
               "the numbers. A file that somebody else has changed since is left alone, unless\n"
               "--force is given. Nothing is lost: a rewind is a turn itself and can be taken\n"
               "back like one.\n"
               "\n"
               "  keel session rewind --dry-run\n"
               "  keel session rewind ID --to 4 --yes && keel -p -r ID \"another way: ...\"\n",
    .options = options,
    .run = run,
};
