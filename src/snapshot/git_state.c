/* git_state.c - compares the state of the repository. */
#include "snapshot/snapshotter_internal.h"
#include "sys/fs.h"

#include <errno.h>

static struct stamp stamp_of(struct arena *a, const char *root, const char *name)
{
    struct file_state f = {.path = fs_join(a, root, name)};

    if (!state_look(&f) || f.kind != IMAGE_FILE)
        return (struct stamp){0};
    f.stamp.ctime_ns = 0; /* reading commands may set it */
    return f.stamp;
}

/* A command may have closed the workspace. */
static bool is_there(const char *path)
{
    struct file_state f = {.path = path};

    return fs_exists(path) || (errno == EACCES && state_look(&f) && f.kind != IMAGE_NONE);
}

/* In the sandbox `rm -r .git` removes everything but mounts, so the directory itself proves
 * little. */
struct git_state git_state_look(const struct coverage *c)
{
    static const char *const parts[] = {".git", ".git/HEAD", ".git/objects", ".git/refs"};
    AUTO(arena) struct arena a = {0};
    struct git_state s = {0};

    for (size_t i = 0; c->n_roots && i < ARRAY_LEN(parts); i++)
        if (is_there(fs_join(&a, c->roots[0], parts[i])))
            s.parts |= 1U << i;
    if (s.parts) {
        s.head = stamp_of(&a, c->roots[0], ".git/HEAD");
        s.log = stamp_of(&a, c->roots[0], ".git/logs/HEAD");
    }
    return s;
}

struct str git_state_compare(const struct git_state *before, const struct git_state *now,
                             const struct coverage *c, struct arena *a, bool *ret_is_gone)
{
    *ret_is_gone = (before->parts & ~now->parts) != 0;
    if (*ret_is_gone)
        return arena_format(a, "%s%s/.git was removed, and keel does not save .git",
                            now->parts ? "a part of " : "", c->roots[0]);
    if (!before->parts && now->parts)
        return arena_format(a, "it created %s/.git, which keel does not remove", c->roots[0]);
    if (!stamp_eq(&before->head, &now->head) || !stamp_eq(&before->log, &now->log))
        return S("it moved HEAD, by a commit or a checkout, and keel does not change .git: see git "
                 "reflog");
    return (struct str){0};
}
