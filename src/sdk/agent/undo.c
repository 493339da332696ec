/* undo.c - what an agent saves before its tools change files. */
#include "sdk/agent/parts.h"

#include "config/settings_keys.h"
#include "gate/look/look.h"
#include "sdk/rewind/own_files.h"
#include "sdk/rewind/rewind.h"
#include "snapshot/snapshot.h"

#define NOTICE_SOURCE "snapshot"

const struct setting_key snapshot_settings[] = {
    {"snapshot", SETTING_OBJECT, .help = "what is saved before tools change files"},
    {"snapshot.enabled", SETTING_BOOL, .help = "false: nothing can be undone (true)"},
    {"snapshot.maxBytes", SETTING_INTEGER, .least = 1,
     .help = "bytes saved per command; further files are not saved (268435456)"},
    {"snapshot.maxFileBytes", SETTING_INTEGER, .least = 1,
     .help = "larger files are not saved (10485760)"},
    {0},
};

/* What another shell makes of a line is not known. */
static bool may_write(void *self, const struct snapshot_call *call)
{
    const struct agent *a = self;
    const char *arg = call->tool->permission_arg;

    return !arg || strcmp(arg, "command") != 0 || a->gate.rules.other_shell ||
           !line_only_looks(json_get_text(call->args, arg));
}

struct snapshot_options undo_options(const struct project *p)
{
    return (struct snapshot_options){
        .workspace = p->place.cwd,
        .home = p->place.keel_home,
        .max_bytes = (uint64_t)settings_int(p->settings, "snapshot.maxBytes", 0),
        .max_file_bytes = (uint64_t)settings_int(p->settings, "snapshot.maxFileBytes", 0),
    };
}

/* That it cannot be found out is no reason not to go on. */
static void recover(struct agent *a, const struct snapshot_options *o)
{
    AUTO(arena) struct arena scratch = {0};
    AUTO(err) struct err *e = rewind_recover(&a->session, o);
    AUTO_FREE char *text = e ? err_message(e) : NULL;

    if (e)
        agent_notice(a, SEVERITY_WARNING, NOTICE_SOURCE,
                     arena_format(&scratch, "cannot undo the changes of the last call: %s", text));
}

static void emit_notes(struct agent *a, struct str notes)
{
    struct str line;

    while (str_split(&notes, '\n', &line))
        if (line.n)
            agent_notice(a, SEVERITY_WARNING, NOTICE_SOURCE, line);
}

/* The conversation that is resumed is that of files which were not all restored yet. */
static void finish_rewind(struct agent *a, const struct snapshot_options *o)
{
    const struct rewind_options options = {.workspace = o->workspace,
                                           .added_dirs = o->added_dirs,
                                           .n_added_dirs = o->n_added_dirs,
                                           .home = o->home,
                                           .person_home = a->project->place.home};
    AUTO(arena) struct arena scratch = {0};
    struct finished_rewind done;
    AUTO(err) struct err *e = rewind_finish(&a->session, &options, &scratch, &done);
    AUTO_FREE char *text = e ? err_message(e) : NULL;
    const struct restore_report *report = &done.report;

    if (e)
        agent_notice(a, SEVERITY_WARNING, NOTICE_SOURCE,
                     arena_format(&scratch, "cannot finish the interrupted rewind: %s", text));
    else if (done.turn)
        agent_notice(a, SEVERITY_INFO, NOTICE_SOURCE,
                     arena_format(&scratch,
                                  "finished the interrupted rewind to before turn %u: %zu file%s "
                                  "restored, %zu not restored",
                                  done.turn, report->n_restored, report->n_restored == 1 ? "" : "s",
                                  report->n_conflicts + report->n_failed + report->n_left));
    emit_notes(a, done.notes);
}

struct err *agent_add_snapshots(struct agent *a)
{
    struct snapshot_options o = undo_options(a->project);

    if (!a->is_kept)
        return NULL;
    o.is_off = !settings_bool(a->project->settings, "snapshot.enabled", true);
    o.added_dirs = a->base->tool_config.added_dirs;
    o.n_added_dirs = a->base->tool_config.n_added_dirs;
    o.own = own_files(a->store, o.workspace, o.added_dirs, o.n_added_dirs, &a->arena);
    o.blobs = a->blobs;
    o.may_write = may_write;
    o.watches = agent_sandbox_watches(&a->sandbox);
    o.self = a;
    if (!o.is_off)
        recover(a, &o);
    finish_rewind(a, &o);
    a->snapshotter = snapshotter_new(&o);
    return NULL;
}

/* What commands in the background did until they were ended with the session. */
void agent_settle_snapshots(struct agent *a)
{
    AUTO(arena) struct arena scratch = {0};
    struct snapshot_changes changes;
    struct err *e = snapshot_settle(a->snapshotter, &scratch, &changes);

    err_ignore(e, "the undo log has it, for the process that opens the session next");
    session_emit_images(&a->session, changes.images.items, changes.images.n);
    if (changes.unsaved.n)
        session_emit_unsaved(&a->session, (struct str){0}, changes.unsaved);
}
