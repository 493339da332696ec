/* target.c - the canonical path of a call's file. */
#include "tool/file/target.h"

#include "sys/fs.h"
#include "sys/work.h"
#include "tool/file/shown.h"

#include <sys/stat.h>

struct err *target_resolve(struct arena *a, const char *absolute_path, const char *cwd,
                           const char **ret_target)
{
    const char *target = fs_resolve(a, absolute_path);
    struct stat st;

    if (lstat(target, &st) == 0 && S_ISLNK(st.st_mode))
        return err_hint(err_new(ERR_TOOL_FAILED, "%s is a link to a file that does not exist",
                                path_shown(cwd, absolute_path)),
                        "use the file that it names, or remove the link first");
    *ret_target = target;
    return NULL;
}

struct resolving {
    struct arena *arena;
    const char *path, *cwd, *target;
};

static struct err *resolve_in_worker(void *arg)
{
    struct resolving *job = arg;

    return target_resolve(job->arena, job->path, job->cwd, &job->target);
}

struct err *target_find(const struct tool_context *c, struct tool_result *r,
                        const char *absolute_path, const char **ret_target)
{
    struct resolving job = {&r->arena, absolute_path, tool_state_cwd(c->state), c->target};

    if (!c->target)
        TRY(work_run(resolve_in_worker, &job));
    *ret_target = job.target;
    return NULL;
}
