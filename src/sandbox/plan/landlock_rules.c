/* landlock_rules.c - from places to Landlock rules, split around what is denied. */
#include "sandbox/plan/parts.h"

#include "sandbox/plan/secret_dirs.h"
#include "sys/fs.h"

#include <stdlib.h>

/* A name that is left out of the directory's rules. */
struct exception {
    struct str directory, name;
};

struct exceptions {
    struct arena *arena;
    struct exception *items;
    size_t n, room;
};

static void except(struct exceptions *x, struct str directory, struct str path)
{
    size_t start = directory.n == 1 ? 1 : directory.n + 1;
    struct str name = str_skip(path, start);
    size_t end = str_find_char(name, '/');

    x->items = arena_grow(x->arena, x->items, x->n, &x->room, sizeof *x->items);
    x->items[x->n++] = (struct exception){directory, str_slice(name, 0, end)};
}

static int exception_cmp(const void *a, const void *b)
{
    const struct exception *left = a, *right = b;
    int order = str_cmp(left->directory, right->directory);

    return order ? order : str_cmp(left->name, right->name);
}

/* Every directory on the way to `path`, from the one that is granted, leaves out the next. */
static void split_around(struct exceptions *x, struct str base, struct str path)
{
    struct str directory;
    size_t at = 0;

    except(x, base, path);
    while (next_directory(path, base, &at, &directory))
        except(x, directory, path);
}

static void put_split(struct plan *p, const struct exceptions *x, enum policy_kind kind)
{
    for (size_t i = 0; i < x->n; i++) {
        const struct exception *now = &x->items[i], *before = now - 1;

        if (i == 0 || !str_eq(now->directory, before->directory)) {
            const char *directory = arena_cstr(&p->arena, now->directory);

            plan_put(p, kind, directory, plan_look(p, directory));
        }
        if (i == 0 || exception_cmp(now, before) != 0)
            plan_put_name(p, now->name);
    }
}

/* Would a right over `base` be one over `e`, too? Rights add up: that a nearer place which may be
 * written leaves it out is not enough. */
static bool is_reached_from(const struct entry *e, const struct entry *base)
{
    const struct entry *above = e->above;

    while (above && above != base && above->role != ROLE_HIDDEN)
        above = above->above;
    return above == base;
}

/* What is not there in the workspace needs no exception, and spares the directory. */
static bool is_to_be_left_out(struct plan *p, const struct entry *e, const struct entry *base)
{
    bool is_in_workspace = e->above && e->above->role == ROLE_WRITABLE;

    return e->role == ROLE_HIDDEN && is_reached_from(e, base) &&
           (!is_in_workspace || plan_look(p, e->path).expect != POLICY_ABSENT);
}

/* The nearest place that is granted and holds the directory; NULL: the root. */
static const struct entry *find_base(const struct plan *p, const char *directory)
{
    const struct entry *base = NULL;

    for (const struct entry *e = p->entries; e < p->entries + p->n; e++)
        if (path_is_in(directory, e->path))
            base = e;
    return base;
}

/* What comes to be in a directory that is split has no rule. */
static void leave_out_lacking(struct plan *p, struct exceptions *x, const struct entry *base,
                              const struct secret_dirs *dirs)
{
    for (size_t i = 0; dirs && i < dirs->n; i++) {
        const struct secret_dir *d = &dirs->items[i];

        if (!plan_can_lack(p, d->path) || find_base(p, d->path) != base)
            continue;
        for (size_t j = 0; j < d->n; j++)
            split_around(
                x, str_of(base ? base->path : "/"),
                str_of(fs_join(&p->arena, strcmp(d->path, "/") == 0 ? "" : d->path, d->names[j])));
    }
}

/* Grants `base`, but not what is hidden in it. NULL is the root. */
static void grant(struct plan *p, const struct entry *base, const struct secret_dirs *dirs)
{
    bool is_writable = base && base->role == ROLE_WRITABLE;
    const char *path = base ? base->path : "/";
    struct exceptions x = {.arena = &p->arena};

    for (const struct entry *e = p->entries; e < p->entries + p->n; e++)
        if (is_to_be_left_out(p, e, base))
            split_around(&x, str_of(path), str_of(e->path));
    if (!is_writable)
        leave_out_lacking(p, &x, base, dirs);
    if (x.n == 0) {
        plan_put(p, is_writable ? POLICY_GRANT_WRITE : POLICY_GRANT_READ, path, plan_look(p, path));
        return;
    }
    qsort(x.items, x.n, sizeof *x.items, exception_cmp);
    put_split(p, &x, is_writable ? POLICY_SPLIT_WRITE : POLICY_SPLIT_READ);
}

/* What is read-only in the workspace is not among them: it is put back (guard.h). */
void plan_put_rules(struct plan *p, const struct secret_dirs *dirs)
{
    for (const struct entry *e = p->entries; e < p->entries + p->n; e++)
        if (e->role == ROLE_WRITABLE)
            plan_put_entry(p, POLICY_ROOT, e);
    for (const struct entry *e = p->entries; e < p->entries + p->n; e++)
        if (e->role == ROLE_HIDDEN)
            plan_put_entry(p, POLICY_NEVER, e);
    grant(p, NULL, dirs);
    for (const struct entry *e = p->entries; e < p->entries + p->n; e++)
        if (e->role == ROLE_WRITABLE || e->role == ROLE_VISIBLE || e->role == ROLE_SHOWN)
            grant(p, e, dirs);
}
