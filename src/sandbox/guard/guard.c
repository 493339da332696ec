/* guard.c - baselines of writable directories: taken, shared, compared. */
#include "sandbox/guard/parts.h"

#include "sandbox/guard/baseline.h"
#include "sandbox/guard/claim.h"
#include "sandbox/guard/git_dir.h"
#include "sandbox/guard/git_todo.h"
#include "sandbox/guard/linked.h"
#include "sandbox/guard/mount_points.h"
#include "sandbox/guard/other_repositories.h"
#include "sandbox/guard/scope.h"
#include "sandbox/plan/plan.h"
#include "sys/open_below.h"
#include "sys/unlock.h"
#include "sys/work.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

enum {
    MAX_TRIES = 2000,         /* for a lock: a minute */
    MAX_PRESENCE_TRIES = 100, /* some seconds: commands may take long */
};

/* --- taking turns --- */

static void unlock_first(struct guard *g, size_t n)
{
    while (n-- > 0)
        if (g->roots[n].claim)
            claim_unlock(g->roots[n].claim);
}

/* Directories are sorted, so that two keels wait for each other in one order only. */
static bool try_lock(struct guard *g)
{
    for (size_t i = 0; i < g->n_roots; i++)
        if (g->roots[i].claim && !claim_try_lock(g->roots[i].claim)) {
            unlock_first(g, i);
            return false;
        }
    return g->is_locked = true;
}

bool guard_lock(struct guard *g)
{
    for (unsigned i = 0; !g->is_locked && i < MAX_TRIES; i++)
        if (!try_lock(g) && !work_pause(i))
            break;
    return g->is_locked;
}

void guard_unlock(struct guard *g)
{
    if (g->is_locked)
        unlock_first(g, g->n_roots);
    g->is_locked = false;
}

/* --- which directories --- */

struct guarded_root *guard_find_root(const struct guard *g, const char *path)
{
    for (size_t i = 0; i < g->n_roots; i++)
        if (strcmp(g->roots[i].path, path) == 0)
            return &g->roots[i];
    return NULL;
}

static int root_cmp(const void *a, const void *b)
{
    return strcmp(((const struct guarded_root *)a)->path, ((const struct guarded_root *)b)->path);
}

/* Where no keel can write into keel's home, each is alone. */
static struct err *be_alone(struct guard *g, struct err *take_why)
{
    AUTO_FREE char *text = err_message(take_why);

    if (!err_is(take_why, ERR_STORAGE) || g->is_running)
        return take_why;
    err_free(take_why);
    strbuf_addf(&g->pending,
                "if keel is killed while a command runs, the next keel cannot restore protected "
                "files: %s\n",
                text);
    for (size_t i = 0; i < g->n_roots; i++)
        g->roots[i].claim = NULL;
    claims_free(TAKE(g->claims));
    return NULL;
}

static struct err *add_root(struct guard *g, const char *path)
{
    struct guarded_root root = {.presence = -1};
    struct err *e = NULL;

    if (guard_find_root(g, path))
        return NULL;
    guard_unlock(g); /* there is more to lock */
    if (g->claims)
        e = claims_get(g->claims, path, &root.claim);
    if (e) {
        root.claim = NULL;
        TRY(be_alone(g, e));
    }
    root.path = mem_strdup(path);
    g->roots = mem_resize(g->roots, (g->n_roots + 1) * sizeof *g->roots);
    g->roots[g->n_roots++] = root;
    return NULL;
}

/* Those of the scope, in an order that all keels have in common. */
struct err *guard_choose_roots(struct guard *g)
{
    for (size_t i = 0; i < scope_n(g->scope); i++)
        TRY(add_root(g, scope_survey(g->scope, i)->root));
    if (g->n_roots)
        qsort(g->roots, g->n_roots, sizeof *g->roots, root_cmp);
    return NULL;
}

static bool is_complete(const struct guard *g, const struct sandbox_policy *policy)
{
    const char *path;

    for (size_t i = 0; (path = scope_root_of(policy, i)); i++) {
        const struct guarded_root *root = guard_find_root(g, path);

        if (!root || !root->baseline)
            return false;
    }
    return true;
}

/* --- looking --- */

struct err *guard_read_stored(struct guarded_root *root, struct baseline **ret_baseline)
{
    AUTO(strbuf) struct strbuf bytes = {0};
    bool exists = false;
    struct err *e;

    TRY(claim_read_baseline(root->claim, &bytes, &exists));
    if (!exists)
        return err_new(ERR_STORAGE, "the record is missing");
    e = baseline_parse(strbuf_str(&bytes), ret_baseline);
    if (!e && strcmp((*ret_baseline)->root, root->path) != 0) {
        baseline_free(TAKE(*ret_baseline));
        e = err_new(ERR_STORAGE, "the record belongs to another directory");
    }
    return e;
}

/* Puts right what is not as it was; the survey has looked already. */
struct err *guard_put_right(struct baseline *b, struct survey *s, struct unlocks *unlocks,
                            struct strbuf *notes)
{
    struct dir_unlocker unlocker = unlocks_for_watch(unlocks);
    size_t before = notes->n;
    struct err *e = NULL;

    s->unlocks = unlocks;
    baseline_check(b, s, notes);
    if (notes->n > before)
        e = survey_look(s, &unlocker);
    if (!e) {
        git_dirs_check_new(s, notes);
        other_repositories_check_new(s, notes);
        git_todos_check(b, s, notes);
    }
    s->unlocks = NULL;
    return e;
}

struct survey *guard_survey_of(const struct guard *g, const struct guarded_root *root)
{
    for (size_t i = 0; i < scope_n(g->scope); i++)
        if (strcmp(scope_survey(g->scope, i)->root, root->path) == 0)
            return scope_survey(g->scope, i);
    return NULL;
}

/* --- mount points --- */

void guard_adopt_mount_points(struct guarded_root *root, const struct baseline *b)
{
    for (size_t i = 0; i < b->n_mount_points; i++)
        mount_points_add(&root->made, b->mount_points[i]);
}

/* For the caller that removes them. */
static void list_mount_points(const struct guarded_root *root, struct baseline *b)
{
    b->n_mount_points = 0;
    for (size_t i = 0; i < root->made.n; i++)
        baseline_add_mount_point(b, root->made.paths[i]);
}

struct need {
    struct guard *guard;
    const char *path; /* absolute */
    bool is_needed;
};

static void need_running(void *self, const char *path)
{
    struct need *n = self;
    struct claim *claim = NULL;

    if (n->is_needed || !path_is_in(n->path, path))
        return;
    err_ignore(claims_get(n->guard->claims, path, &claim), "then no command runs there");
    n->is_needed = claim && claim_is_run_by_others(claim);
}

struct needs {
    struct guard *guard;
    const struct guarded_root *root;
};

/* Commands of another keel have mounts on it, which would go with it. That keel knows of it. */
static bool is_mount_point_needed(void *self, const char *path)
{
    struct needs *n = self;
    AUTO(strbuf) struct strbuf full = {0};
    struct need need = {.guard = n->guard};

    strbuf_addf(&full, "%s/%s", n->root->path, path);
    need.path = strbuf_cstr(&full);
    if (n->guard->claims)
        claims_each_root(n->guard->claims, need_running, &need);
    return need.is_needed;
}

void guard_remove_mount_points(struct guard *g, struct guarded_root *root)
{
    AUTO(unlocks) struct unlocks unlocks = {0};
    struct needs needs = {g, root};
    int top = root->made.n ? open("/", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    int fd = top >= 0 ? open_below(top, root->path + 1, O_PATH | O_DIRECTORY) : -1;

    if (fd >= 0) {
        if (faccessat(fd, ".", X_OK, AT_EACCESS) < 0 && errno == EACCES)
            unlocks_add(&unlocks, fd); /* a command has closed the workspace */
        mount_points_remove(&root->made, fd, is_mount_point_needed, &needs);
        close(fd);
    }
    if (top >= 0)
        close(top);
}

/* --- before a command --- */

/* Commands of others run: their baseline counts. */
static struct err *recall_others(struct guarded_root *root, struct baseline **fresh)
{
    struct baseline *stored = NULL;
    struct err *e = guard_read_stored(root, &stored);

    if (e)
        return err_hint(err_wrap(e,
                                 "another keel runs commands in %s, and its record of protected "
                                 "files cannot be read",
                                 root->path),
                        "wait until its commands end");
    *fresh = baseline_merge(stored, *fresh);
    return NULL;
}

/* The same for commands that run in a directory above or below. */
struct overlap {
    struct guard *guard;
    struct guarded_root *root;
    struct baseline **fresh;
    bool has_any;
};

static void recall_overlap(void *self, const char *path)
{
    struct overlap *o = self;
    struct guarded_root other = {.path = (char *)(uintptr_t)path};
    AUTO(baseline) struct baseline *stored = NULL;
    struct baseline *part;
    struct err *e;

    if (strcmp(path, o->root->path) == 0 ||
        (!path_is_in(path, o->root->path) && !path_is_in(o->root->path, path)) ||
        guard_find_root(o->guard, path))
        return;
    e = claims_get(o->guard->claims, path, &other.claim);
    if (!e && (claim_is_run_by_others(other.claim) || claim_is_used_by_others(other.claim)))
        e = guard_read_stored(&other, &stored);
    err_ignore(e, "what lies there is looked at by the keel that runs there");
    part = stored ? baseline_part(stored, o->root->path) : NULL;
    if (!part)
        return;
    guard_adopt_mount_points(o->root, part);
    o->has_any |= claim_is_run_by_others(other.claim);
    if (claim_is_run_by_others(other.claim))
        *o->fresh = baseline_merge(part, *o->fresh);
    else
        baseline_free(part);
}

static bool is_run_by_others(const struct guarded_root *root)
{
    return root->claim && claim_is_run_by_others(root->claim);
}

/* --- keels with another home --- */

/* Claims lie in keel's home. A keel that has another one, or that runs in a container with this
 * directory in it, does not see them. So each that runs commands holds a shared lock on the
 * directory itself. Without namespaces what is there before a command is put back after it, which
 * must not be what a command of such a keel has just made: the first one of a home to begin has to
 * be alone for a moment. */
static bool try_presence(int fd, bool must_be_alone)
{
    if (must_be_alone && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
        return false;
    return flock(fd, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

static void leave(struct guarded_root *root)
{
    if (root->presence >= 0)
        close(root->presence);
    root->presence = -1;
}

/* The keel around a sandbox waits for the command that this one is. It looks at what is left. */
static bool is_nested(void)
{
    return secure_getenv(GUARD_NESTED);
}

/* The look at the directory reports one that cannot be opened. */
static bool try_be_present(struct guard *g, struct guarded_root *root)
{
    bool must_be_alone = !g->has_namespaces && !is_run_by_others(root) && !is_nested();

    if (root->presence >= 0)
        return true;
    root->presence = open(root->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (root->presence < 0 || try_presence(root->presence, must_be_alone))
        return true;
    leave(root);
    return false;
}

static struct err *be_present(struct guard *g, struct guarded_root *root)
{
    for (unsigned i = 0; !try_be_present(g, root); i++)
        if (i == MAX_PRESENCE_TRIES || !work_pause(i))
            return err_hint(err_new(ERR_SANDBOX,
                                    "a keel with another KEEL_HOME runs commands in %s, and "
                                    "without namespaces the two cannot tell their changes apart",
                                    root->path),
                            "wait until its commands end, or use the same KEEL_HOME");
    return NULL;
}

static struct err *be_present_everywhere(struct guard *g)
{
    for (size_t i = 0; i < g->n_roots; i++)
        if (!g->roots[i].baseline)
            TRY(be_present(g, &g->roots[i]));
    return NULL;
}

/* --- beginning --- */

static struct err *store(struct guarded_root *root)
{
    AUTO(strbuf) struct strbuf bytes = {0};
    AUTO(baseline) struct baseline *stored = NULL;

    if (!root->claim)
        return NULL;
    if (!root->is_stored || claim_has_new_baseline(root->claim))
        err_ignore(guard_read_stored(root, &stored), "then it is written");
    else if (root->last && baseline_eq(root->last, root->baseline))
        return NULL;
    if (stored && baseline_eq(stored, root->baseline))
        return NULL;
    baseline_write(root->baseline, &bytes);
    TRY(strbuf_check(&bytes, "what is protected"));
    return claim_write_baseline(root->claim, strbuf_str(&bytes));
}

/* Those of a keel that lives, but runs nothing at the moment. */
static void adopt_from_idle(struct guarded_root *root)
{
    AUTO(baseline) struct baseline *stored = NULL;

    if (!root->claim || !claim_is_used_by_others(root->claim))
        return;
    err_ignore(guard_read_stored(root, &stored), "then it has made nothing that is known");
    if (stored)
        guard_adopt_mount_points(root, stored);
}

static struct err *take_root(struct guard *g, struct guarded_root *root,
                             const struct sandbox_policy *policy)
{
    struct survey *s = guard_survey_of(g, root);
    struct baseline *fresh = NULL;
    struct overlap overlap = {g, root, &fresh, is_run_by_others(root)};
    struct err *e = NULL;

    TRY(baseline_take(s, policy, g->has_namespaces, root->last, &fresh));
    if (overlap.has_any)
        e = recall_others(root, &fresh);
    if (!e && g->claims)
        claims_each_root(g->claims, recall_overlap, &overlap);
    if (!e && overlap.has_any)
        survey_recall(s, fresh->directories, fresh->n_directories, fresh->time_ns);
    else if (!e)
        survey_accept(s);
    adopt_from_idle(root);
    list_mount_points(root, fresh);
    root->baseline = fresh;
    if (!g->is_for_own_change)
        linked_files_look(&root->linked, s);
    if (!e)
        e = store(root);
    if (!e && root->claim)
        e = claim_begin(root->claim);
    root->is_stored = !e;
    return e;
}

static void rest(struct guarded_root *root)
{
    leave(root);
    if (!root->baseline)
        return;
    if (root->claim)
        claim_end(root->claim);
    baseline_free(root->last);
    root->last = TAKE(root->baseline);
}

static struct err *recover_broken(struct guard *g)
{
    for (size_t i = 0; i < g->n_roots; i++) {
        struct guarded_root *root = &g->roots[i];

        if (!root->baseline && root->claim && !claim_is_run_by_others(root->claim) &&
            claim_is_broken(root->claim))
            TRY(guard_recover_root(g, root, &g->pending));
    }
    return NULL;
}

/* Repositories where commands run may be theirs. Where nothing has changed since, all are there. */
static void make_mount_points(struct guard *g)
{
    for (size_t i = 0; i < g->n_roots; i++) {
        struct guarded_root *root = &g->roots[i];
        const struct survey *s = root->baseline ? NULL : guard_survey_of(g, root);

        if (!s || s->version == root->made_version || is_run_by_others(root))
            continue;
        mount_points_make(&root->made, s);
        root->made_version = s->version;
    }
}

/* With rules, somebody has looked a moment ago. Where others run commands, a moment is long. */
static struct err *look_before(struct guard *g, const struct sandbox_policy *policy)
{
    bool is_fresh = policy->is_fresh && g->pending.n == 0;

    for (size_t i = 0; i < g->n_roots; i++)
        is_fresh &= !is_run_by_others(&g->roots[i]);
    for (size_t i = 0; i < scope_n(g->scope); i++)
        is_fresh &= dir_watch_is_whole(scope_survey(g->scope, i)->watch);
    for (size_t i = 0; i < scope_n(g->scope) && is_fresh; i++)
        scope_survey(g->scope, i)->time_ns = identity_now_ns();
    return is_fresh ? scope_read(g->scope) : scope_look(g->scope, NULL);
}

static struct err *take_roots(struct guard *g, const struct sandbox_policy *policy)
{
    struct sandbox_policy all;

    TRY(be_present_everywhere(g));
    TRY(recover_broken(g));
    TRY(look_before(g, policy));
    scope_find_places(g->scope);
    if (g->has_namespaces && !policy->workspace_is_read_only && !g->is_for_own_change)
        make_mount_points(g);
    all = scope_policy(g->scope, policy);
    for (size_t i = 0; i < g->n_roots; i++)
        if (!g->roots[i].baseline && guard_survey_of(g, &g->roots[i]))
            TRY(take_root(g, &g->roots[i], &all));
    return NULL;
}

static struct err *begin(struct guard *g, const struct sandbox_policy *policy)
{
    struct err *e;

    TRY(scope_choose(g->scope, policy, /* keeps_others= */ g->is_running));
    TRY(guard_choose_roots(g));
    if (!guard_lock(g))
        return err_hint(err_new(ERR_SANDBOX, "another keel is busy in %s", policy->workspace),
                        "it may be suspended: resume it with fg, or kill it");
    e = take_roots(g, policy);
    if (e && !g->is_running)
        for (size_t i = 0; i < g->n_roots; i++)
            rest(&g->roots[i]);
    guard_unlock(g);
    g->is_running |= !e;
    return e;
}

struct err *guard_begin(struct guard *g, const struct sandbox_policy *policy, bool has_namespaces)
{
    struct err *e = NULL;

    /* A baseline that was taken for another way is of no use: none has gone that way. */
    if (g->is_running && g->has_namespaces && !has_namespaces)
        guard_end(g);
    if (!g->is_running)
        g->has_namespaces = has_namespaces;
    if (!g->is_running || !is_complete(g, policy))
        e = begin(g, policy);
    guard_unlock(g);
    return e;
}

struct sandbox_policy guard_policy(struct guard *g, const struct sandbox_policy *policy)
{
    return scope_policy(g->scope, policy);
}

int guard_held_fd(const struct guard *g)
{
    return g->claims ? claims_running_fd(g->claims) : -1;
}

/* --- after a command --- */

/* Another keel began meanwhile, and has put what it knows besides into the file. */
static void reload(struct guarded_root *root, struct survey *s)
{
    struct baseline *stored = NULL;

    if (!root->claim || !claim_has_new_baseline(root->claim))
        return;
    err_ignore(guard_read_stored(root, &stored), "what is known here still holds");
    if (!stored)
        return;
    baseline_free(root->baseline);
    root->baseline = stored;
    if (s->before_ns)
        survey_recall(s, stored->directories, stored->n_directories, stored->time_ns);
}

/* A command may have moved the directory away, or put a link in its place: then there is nothing to
 * put right here, and the others are looked at all the same. */
static struct err *check_root(struct guard *g, struct guarded_root *root, struct unlocks *unlocks,
                              struct strbuf *notes)
{
    struct dir_unlocker unlocker = unlocks_for_watch(unlocks);
    struct survey *s = guard_survey_of(g, root);
    struct err *e = scope_look_at(g->scope, s, &unlocker);

    if (e && s->fd < 0) {
        err_ignore(e, "reported here");
        strbuf_addf(notes,
                    "%s was removed or replaced by a link: check its hooks and settings before you "
                    "use it again\n",
                    root->path);
        return NULL;
    }
    TRY(e);
    reload(root, s);
    TRY(guard_put_right(root->baseline, s, unlocks, notes));
    s->unlocks = unlocks;
    if (!g->is_for_own_change)
        linked_files_check(&root->linked, s, notes);
    s->unlocks = NULL;
    return NULL;
}

/* In the order of their paths: one that lies in another may be back in its place by then. */
static struct err *check(struct guard *g, struct strbuf *notes)
{
    AUTO(unlocks) struct unlocks unlocks = {0};

    for (size_t i = 0; i < g->n_roots; i++)
        if (g->roots[i].baseline && guard_survey_of(g, &g->roots[i]))
            TRY(check_root(g, &g->roots[i], &unlocks, notes));
    if (unlocks.n_left_open)
        strbuf_addf(notes, "keel made %zu director%s readable to check %s\n", unlocks.n_left_open,
                    unlocks.n_left_open == 1 ? "y" : "ies",
                    unlocks.n_left_open == 1 ? "it" : "them");
    return NULL;
}

bool guard_check_replaced(struct guard *g)
{
    AUTO(unlocks) struct unlocks unlocks = {0};
    size_t before = g->pending.n;

    guard_lock(g); /* as below */
    for (size_t i = 0; i < g->n_roots; i++) {
        struct survey *s = g->roots[i].baseline ? guard_survey_of(g, &g->roots[i]) : NULL;

        if (!s)
            continue;
        reload(&g->roots[i], s);
        s->unlocks = &unlocks;
        baseline_check_replaced(g->roots[i].baseline, s, &g->pending);
        s->unlocks = NULL;
    }
    guard_unlock(g);
    return g->pending.n == before;
}

struct err *guard_check(struct guard *g, struct strbuf *notes)
{
    struct err *e;

    guard_lock(g); /* and if another keel holds it until the end of this one: without */
    strbuf_add(notes, strbuf_str(&g->pending));
    strbuf_clear(&g->pending);
    e = check(g, notes);
    if (!e)
        scope_find_places(g->scope);
    guard_unlock(g);
    return e;
}

void guard_end(struct guard *g)
{
    if (!g->is_running)
        return;
    guard_lock(g);
    for (size_t i = 0; i < g->n_roots; i++)
        rest(&g->roots[i]);
    guard_unlock(g);
    g->is_running = false;
}

void guard_settle(struct guard *g)
{
    scope_settle(g->scope);
}

void guard_wait(struct guard *g)
{
    for (size_t i = 0; i < scope_n(g->scope); i++)
        dir_watch_wait(scope_survey(g->scope, i)->watch);
}

/* The first call opens files and waits for the disk. */
bool guard_is_quick(struct guard *g)
{
    if (!g->n_roots || !scope_is_quick(g->scope) || !try_lock(g))
        return false;
    for (size_t i = 0; i < g->n_roots; i++)
        if (!try_be_present(g, &g->roots[i])) {
            guard_unlock(g);
            return false;
        }
    return true;
}

/* --- its life --- */

struct guard *guard_new(const char *dir)
{
    struct guard *g = mem_alloc(sizeof *g);

    g->scope = scope_new();
    if (dir)
        g->claims = claims_new(dir);
    return g;
}

void guard_expect_own_change(struct guard *g)
{
    g->is_for_own_change = true;
}

static void drop_root(struct guarded_root *root)
{
    leave(root);
    baseline_free(root->baseline);
    baseline_free(root->last);
    linked_files_done(&root->linked);
    mount_points_done(&root->made);
    mem_free(root->path);
}

void guard_free(struct guard *g)
{
    if (!g)
        return;
    guard_end(g);
    if (guard_lock(g))
        for (size_t i = 0; i < g->n_roots; i++) {
            guard_remove_mount_points(g, &g->roots[i]);
            if (g->roots[i].claim)
                claim_leave(g->roots[i].claim);
        }
    guard_unlock(g);
    for (size_t i = 0; i < g->n_roots; i++)
        drop_root(&g->roots[i]);
    mem_free(g->roots);
    scope_free(g->scope);
    claims_free(g->claims);
    strbuf_done(&g->pending);
    mem_free(g);
}
