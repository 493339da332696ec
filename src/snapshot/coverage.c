/* coverage.c - finds roots, and reads the rules of git in them. */
#include "snapshot/coverage.h"

#include "sys/auto_fd.h"
#include "sys/leftover.h"
#include "sys/open_plain.h"
#include "sys/walk_rules.h"

#include <fcntl.h>
#include <stdlib.h>

/* --- roots --- */

static bool is_below(struct str path, struct str dir)
{
    if (str_is(dir, "/"))
        return path.n > 1;
    return path.n > dir.n && str_starts(path, dir) && path.p[dir.n] == '/';
}

/* A root inside another is covered with it. */
static void add_root(struct coverage *c, const char *path)
{
    AUTO_FREE char *real = path ? realpath(path, NULL) : NULL;
    struct str root = str_of(real);
    size_t n = 0;

    if (!real)
        return;
    for (size_t i = 0; i < c->n_roots; i++)
        if (str_is(root, c->roots[i]) || is_below(root, str_of(c->roots[i])))
            return;
    for (size_t i = 0; i < c->n_roots; i++)
        if (!is_below(str_of(c->roots[i]), root))
            c->roots[n++] = c->roots[i];
    c->roots[n++] = arena_cstr(&c->arena, root);
    c->n_roots = n;
}

void coverage_init(struct coverage *c, const struct snapshot_options *o)
{
    AUTO_FREE char *home = o->home ? realpath(o->home, NULL) : NULL;

    *c = (struct coverage){.own = o->own};
    c->roots = ARENA_ARRAY(&c->arena, o->n_added_dirs + 1, const char *);
    add_root(c, o->workspace);
    for (size_t i = 0; i < o->n_added_dirs; i++)
        add_root(c, o->added_dirs[i]);
    if (o->home)
        c->home = arena_cstr(&c->arena, str_of(home ? home : o->home));
    virtual_places_find(&c->virtual_places, c->roots, c->n_roots);
}

void coverage_done(struct coverage *c)
{
    virtual_places_done(&c->virtual_places);
    arena_done(&c->arena);
    *c = (struct coverage){0};
}

static const char *root_of(const struct coverage *c, struct str path)
{
    for (size_t i = 0; i < c->n_roots; i++)
        if (is_below(path, str_of(c->roots[i])))
            return c->roots[i];
    return NULL;
}

static struct str parent_of(struct str path)
{
    size_t slash = str_rfind_char(path, '/');

    return slash ? str_slice(path, 0, slash) : S("/");
}

static struct str name_of(struct str path)
{
    return str_skip(path, str_rfind_char(path, '/') + 1);
}

/* --- rules --- */

/* The rules of one directory. */
struct rules_here {
    struct walk_rules *rules; /* NULL: none */
    struct str top;           /* rules apply from this directory on */
    bool is_hidden;           /* .git, places of keel, and file systems that store nothing */
    bool is_ignored;
    struct str ignored; /* the topmost ignored directory: this one, or one above it */
};

void covered_rules_init(struct covered_rules *r, const struct coverage *c)
{
    *r = (struct covered_rules){.coverage = c};
}

void covered_rules_done(struct covered_rules *r)
{
    for (size_t i = 0; i < r->dirs.room; i++) {
        struct rules_here *here = r->dirs.slots[i].value;

        if (here)
            walk_rules_unref(here->rules);
        mem_free(here);
    }
    path_table_done(&r->dirs);
}

/* The path in the terms of the rules. */
static struct str below_top(const struct rules_here *here, struct str path)
{
    return str_skip(path, here->top.n + (path.n > here->top.n && !str_is(here->top, "/")));
}

static bool is_hidden(const struct coverage *c, struct str path, bool is_dir)
{
    struct str home = str_of(c->home);

    return str_is(name_of(path), ".git") || leftover_has_name(path) ||
           (home.n && str_eq(path, home)) || virtual_places_has(&c->virtual_places, path) ||
           (c->own && c->own->is_hidden(c->own->self, path, is_dir));
}

static enum coverage_verdict judge(const struct coverage *c, const struct rules_here *in,
                                   struct str path, bool is_dir)
{
    if (in->is_hidden || (!in->is_ignored && is_hidden(c, path, is_dir)))
        return COVERAGE_NONE;
    return in->is_ignored || walk_rules_check(in->rules, below_top(in, path), is_dir) == IGNORE_YES
               ? COVERAGE_IGNORED
               : COVERAGE_FULL;
}

static struct rules_here *read_rules(struct covered_rules *r, struct str dir,
                                     const struct rules_here *above)
{
    struct rules_here *here = mem_alloc(sizeof *here);
    AUTO_FREE char *path = str_dup(dir);
    AUTO_FD fd = open_plain(path, O_PATH | O_DIRECTORY);
    enum coverage_verdict verdict;

    here->top = above->top;
    verdict = judge(r->coverage, above, dir, /* is_dir= */ true);
    here->is_hidden = verdict == COVERAGE_NONE;
    here->is_ignored = verdict == COVERAGE_IGNORED;
    if (here->is_ignored)
        here->ignored = above->is_ignored ? above->ignored : arena_str(&r->dirs.arena, dir);
    if (verdict == COVERAGE_FULL)
        here->rules = fd < 0 ? walk_rules_ref(above->rules)
                             : walk_rules_enter(above->rules, fd, below_top(above, dir));
    return here;
}

static struct rules_here *read_root(struct covered_rules *r, const char *root)
{
    AUTO(strbuf) struct strbuf prefix = {0};
    struct walk_rules *above = walk_rules_above(root, /* is_canonical= */ true, &prefix);
    struct rules_here *here = mem_alloc(sizeof *here);
    AUTO_FD fd = open_plain(root, O_PATH | O_DIRECTORY);
    size_t n = prefix.n ? strlen(root) - prefix.n : strlen(root); /* "a/b/" of "/top/a/b" */

    here->top = str_make(root, MAX(n, (size_t)1));
    here->is_hidden = virtual_places_has(&r->coverage->virtual_places, str_of(root));
    here->rules =
        fd < 0 ? walk_rules_ref(above) : walk_rules_enter(above, fd, below_top(here, str_of(root)));
    walk_rules_unref(above);
    return here;
}

/* From the root down. */
static const struct rules_here *rules_of(struct covered_rules *r, const char *root, struct str dir)
{
    struct path_slot *slot = path_table_find(&r->dirs, dir);
    struct rules_here *here;

    if (slot)
        return slot->value;
    here = str_is(dir, root) ? read_root(r, root)
                             : read_rules(r, dir, rules_of(r, root, parent_of(dir)));
    path_table_put(&r->dirs, dir)->value = here;
    return here;
}

/* --- verdicts --- */

enum coverage_verdict coverage_judge(struct covered_rules *r, struct str path, bool is_dir,
                                     struct str *ret_ignored)
{
    const char *root = root_of(r->coverage, path);
    const struct rules_here *in = root ? rules_of(r, root, parent_of(path)) : NULL;
    enum coverage_verdict verdict = in ? judge(r->coverage, in, path, is_dir) : COVERAGE_NONE;

    *ret_ignored = (struct str){0};
    if (verdict == COVERAGE_IGNORED)
        *ret_ignored = in->is_ignored ? in->ignored : path;
    return verdict;
}

bool coverage_has(struct covered_rules *r, struct str path, bool is_dir)
{
    struct str ignored;

    return coverage_judge(r, path, is_dir, &ignored) == COVERAGE_FULL;
}

bool coverage_is_root(const struct coverage *c, struct str path)
{
    for (size_t i = 0; i < c->n_roots; i++)
        if (str_is(path, c->roots[i]))
            return true;
    return false;
}

bool coverage_has_rules(struct covered_rules *r, struct str path)
{
    const char *root = root_of(r->coverage, path);

    const struct rules_here *in = root ? rules_of(r, root, parent_of(path)) : NULL;

    return in && !in->is_ignored && !in->is_hidden;
}

bool coverage_is_rules(struct str path)
{
    struct str name = name_of(path);

    return str_is(name, ".gitignore") || str_is(name, ".ignore");
}
