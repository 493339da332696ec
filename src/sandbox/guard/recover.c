/* recover.c - what keels that ended while commands ran, or between two of them, have left. */
#include "sandbox/guard/parts.h"

#include "sandbox/plan/plan.h"
#include "sys/unlock.h"
#include "sys/work.h"

enum {
    MAX_DYING_TRIES = 200, /* until the commands of a keel that died are gone */
    MAX_RECOVERED = 64,    /* directories */
};

/* --- after a crash --- */

static void tell_lost(const struct guarded_root *root, const struct err *why, struct strbuf *notes)
{
    AUTO_FREE char *text = err_message(why);

    strbuf_addf(
        notes,
        "an earlier keel died while a command ran in %s, and its record of protected files is lost "
        "(%s): check .git/hooks, .git/config and settings there before you use them\n",
        root->path, text);
}

static struct err *look_after_crash(struct guard *g, struct guarded_root *root,
                                    struct baseline *stored, struct strbuf *notes)
{
    AUTO(unlocks) struct unlocks unlocks = {0};
    struct dir_unlocker unlocker = unlocks_for_watch(&unlocks);
    struct survey *s = guard_survey_of(g, root);
    AUTO(strbuf) struct strbuf found = {0};

    TRY(survey_look(s, &unlocker));
    survey_recall(s, stored->directories, stored->n_directories, stored->time_ns);
    TRY(guard_put_right(stored, s, &unlocks, &found));
    if (found.n)
        strbuf_addf(notes,
                    "an earlier keel died while a command ran in %s; keel restored the protected "
                    "files that changed since, including changes by others:\n%s",
                    root->path, strbuf_cstr(&found));
    return NULL;
}

/* Locked, and no command runs there. */
struct err *guard_recover_root(struct guard *g, struct guarded_root *root, struct strbuf *notes)
{
    AUTO(baseline) struct baseline *stored = NULL;
    AUTO(err) struct err *e = guard_read_stored(root, &stored);

    if (stored)
        guard_adopt_mount_points(root, stored);
    guard_remove_mount_points(g, root);
    if (e)
        tell_lost(root, e, notes);
    else
        TRY(look_after_crash(g, root, stored, notes));
    return claim_mend(root->claim);
}

/* Locked, and the keel that has ended there did so between two commands. */
static struct err *clear_deserted(struct guard *g, struct guarded_root *root)
{
    AUTO(baseline) struct baseline *stored = NULL;

    err_ignore(guard_read_stored(root, &stored), "what it has made is empty, and stays");
    if (stored)
        guard_adopt_mount_points(root, stored);
    guard_remove_mount_points(g, root);
    return claim_mend(root->claim);
}

/* --- recovering --- */

struct left_roots {
    const char *const *near; /* directories that this keel is about */
    size_t n_near;
    char *paths[MAX_RECOVERED];
    size_t n;
};

static void note_left(void *self, const char *path)
{
    struct left_roots *r = self;

    for (size_t i = 0; i < r->n_near && r->n < MAX_RECOVERED; i++)
        if (path_is_in(path, r->near[i]) || path_is_in(r->near[i], path)) {
            r->paths[r->n++] = mem_strdup(path);
            return;
        }
}

/* Supervisors end the commands of a keel that is gone; this takes them a moment. */
static bool wait_for_dying(struct claim *c)
{
    for (unsigned i = 0; i < MAX_DYING_TRIES; i++) {
        if (!claim_is_run_by_others(c))
            return true;
        if (claim_is_used_by_others(c) || !work_pause(i))
            break;
    }
    return false;
}

static struct err *recover_one(const char *dir, const char *path, const char *home,
                               struct strbuf *notes)
{
    AUTO(guard) struct guard *g = guard_new(dir);
    struct sandbox_policy policy = {.workspace = path, .home = home};
    struct guarded_root *root;
    struct err *e = NULL;

    TRY(scope_choose(g->scope, &policy, /* keeps_others= */ false));
    TRY(guard_choose_roots(g));
    root = guard_find_root(g, path);
    if ((!claim_is_broken(root->claim) && !claim_is_deserted(root->claim)) || !guard_lock(g))
        return NULL; /* another keel is there, and looks */
    if (claim_is_deserted(root->claim) && !claim_is_broken(root->claim)) {
        e = clear_deserted(g, root);
    } else if (claim_is_broken(root->claim)) {
        if (wait_for_dying(root->claim))
            e = guard_recover_root(g, root, notes);
        else if (!claim_is_used_by_others(root->claim))
            strbuf_addf(notes, "commands of an earlier keel are still running in %s\n", path);
    }
    guard_unlock(g);
    return e;
}

struct err *guard_recover(const char *dir, const char *const *roots, size_t n_roots,
                          const char *home, struct strbuf *notes)
{
    AUTO(claims) struct claims *all = claims_new(dir);
    struct left_roots left = {.near = roots, .n_near = n_roots};
    struct err *e = NULL;

    claims_each_used_root(all, note_left, &left);
    for (size_t i = 0; i < left.n; i++) {
        if (!e)
            e = recover_one(dir, left.paths[i], home, notes);
        mem_free(left.paths[i]);
    }
    return e;
}
