/* checked_launcher.c - looks at a project's files again before a command of its settings starts. */
#include "sdk/sandbox/checked_launcher.h"

#include "sys/work.h"

struct file_check {
    const struct project_files *files;
    struct project_place place;
    struct str line;
};

static struct err *check_files(void *arg)
{
    const struct file_check *c = arg;

    return project_files_check(c->files, &c->place, c->line);
}

static struct err *checked_launcher_start(struct launcher *l, const struct proc_spec *spec,
                                          struct proc **ret_proc)
{
    const struct checked_launcher *c = (const struct checked_launcher *)l;
    struct file_check check = {
        .files = &c->project->files, .place = c->project->place, .line = str_of(spec->argv[2])};

    if (spec->cwd)
        check.place.cwd = spec->cwd;
    TRY(work_run(check_files, &check));
    return launcher_start(c->inner, spec, ret_proc);
}

static struct err *checked_launcher_ended(struct launcher *l, struct strbuf *notes)
{
    return launcher_ended(((struct checked_launcher *)l)->inner, notes);
}

static void checked_launcher_advise(struct launcher *l, const struct command_ending *e,
                                    struct strbuf *out)
{
    launcher_advise(((struct checked_launcher *)l)->inner, e, out);
}

void checked_launcher_init(struct checked_launcher *c, struct launcher *inner,
                           const struct project *project)
{
    *c = (struct checked_launcher){.launcher = {.start = checked_launcher_start,
                                                .ended = checked_launcher_ended,
                                                .advise = checked_launcher_advise},
                                   .inner = inner,
                                   .project = project};
}
