/* plan.c - from places to mounts, or to Landlock rules split around what is denied. */
#include "sandbox/plan.h"

#include "exec/policy.h"

#include <stdlib.h>
#include <sys/stat.h>

enum { MAX_ENTRIES = 200000 };

/* Of two for the same path the greater one counts. */
enum role {
    ROLE_ANCHOR,
    ROLE_READ_ONLY,
    ROLE_VISIBLE,
    ROLE_HIDDEN,
    ROLE_WRITABLE,
};

struct entry {
    const char *path;
    enum role role;
    bool is_dropped;
    bool is_holder;      /* hidden, with something in it that is not */
    struct entry *above; /* the nearest one that it lies in and that is not dropped */
};

struct plan {
    struct arena arena;
    struct entry *entries;
    size_t n, room;
};

static void plan_done(struct plan *p)
{
    arena_done(&p->arena);
}
DEFINE_AUTO_VAL(plan, plan_done)

/* --- paths --- */

/* The slash is less than any other byte. */
int path_cmp(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    if (*a == *b)
        return 0;
    if (!*a || !*b)
        return *a ? 1 : -1;
    if (*a == '/' || *b == '/')
        return *a == '/' ? -1 : 1;
    return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
}

bool path_is_in(const char *path, const char *directory)
{
    size_t n = strlen(directory);

    if (n == 1)
        return path[0] == '/';
    return strncmp(path, directory, n) == 0 && (path[n] == 0 || path[n] == '/');
}

/* Gives each directory from below `from` down to above `path`: start with *at = 0. */
static bool next_directory(struct str path, struct str from, size_t *at, struct str *ret_directory)
{
    size_t start = *at ? *at + 1 : from.n == 1 ? 1 : from.n + 1;
    size_t n = start < path.n ? str_find_char(str_skip(path, start), '/') : STR_NONE;

    if (n == STR_NONE)
        return false;
    *at = start + n;
    *ret_directory = str_slice(path, 0, *at);
    return true;
}

/* --- entries --- */

static void add(struct plan *p, const char *path, enum role role)
{
    p->entries = arena_grow(&p->arena, p->entries, p->n, &p->room, sizeof *p->entries);
    p->entries[p->n++] = (struct entry){.path = path, .role = role};
}

static int entry_cmp(const void *a, const void *b)
{
    const struct entry *left = a, *right = b;
    int order = path_cmp(left->path, right->path);

    return order ? order : (int)right->role - (int)left->role;
}

/* Sorts, and keeps one entry a path. */
static void sort(struct plan *p)
{
    size_t n = 0;

    if (p->n)
        qsort(p->entries, p->n, sizeof *p->entries, entry_cmp);
    for (size_t i = 0; i < p->n; i++)
        if (n == 0 || strcmp(p->entries[n - 1].path, p->entries[i].path) != 0)
            p->entries[n++] = p->entries[i];
    p->n = n;
}

/* Does it change anything where it lies? */
static bool has_effect(const struct entry *e)
{
    bool is_writable = e->above && e->above->role == ROLE_WRITABLE;
    bool is_hidden = e->above && e->above->role == ROLE_HIDDEN;

    switch (e->role) {
    case ROLE_WRITABLE:
        return !is_writable;
    case ROLE_HIDDEN:
        return !is_hidden;
    case ROLE_VISIBLE:
        return is_hidden;
    case ROLE_READ_ONLY:
    case ROLE_ANCHOR:
        return is_writable || (e->above && e->above->role == ROLE_ANCHOR);
    }
    return false;
}

/* Entries are sorted, so those that hold the next one are the last ones that hold anything. */
static void nest(struct plan *p)
{
    struct entry *above = NULL;

    for (struct entry *e = p->entries; e < p->entries + p->n; e++) {
        while (above && !path_is_in(e->path, above->path))
            above = above->above;
        e->above = above;
        e->is_dropped = !has_effect(e);
        if (e->is_dropped)
            continue;
        if (above && above->role == ROLE_HIDDEN)
            above->is_holder = true;
        above = e;
    }
}

static void drop_dropped(struct plan *p)
{
    size_t n = 0;

    for (size_t i = 0; i < p->n; i++)
        if (!p->entries[i].is_dropped)
            p->entries[n++] = p->entries[i];
    p->n = n;
}

/* The places are moved when they are sorted; `above` is set anew by nest(). */
static void settle(struct plan *p)
{
    sort(p);
    nest(p);
    drop_dropped(p);
    nest(p);
}

static bool is_there(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

static void add_all(struct plan *p, const char *const *paths, size_t n, enum role role)
{
    for (size_t i = 0; i < n; i++)
        add(p, paths[i], role);
}

/* Sockets and other people's files; what is needed of them is writable or visible. */
static const char *const always_hidden[] = {"/tmp", "/run", "/var/run"};

static void add_policy(struct plan *p, const struct sandbox_policy *policy, bool namespaces)
{
    add(p, policy->workspace, policy->workspace_is_read_only ? ROLE_VISIBLE : ROLE_WRITABLE);
    if (policy->tmp_dir)
        add(p, policy->tmp_dir, ROLE_WRITABLE);
    add_all(p, policy->writable, policy->n_writable, ROLE_WRITABLE);
    add_all(p, policy->visible, policy->n_visible, ROLE_VISIBLE);
    add_all(p, policy->hidden, policy->n_hidden, ROLE_HIDDEN);
    add_all(p, always_hidden, ARRAY_LEN(always_hidden), ROLE_HIDDEN);
    if (policy->home)
        add(p, policy->home, ROLE_VISIBLE);
    if (namespaces)
        add_all(p, policy->read_only, policy->n_read_only, ROLE_READ_ONLY);
    else
        add(p, "/dev", ROLE_HIDDEN); /* keel-exec grants the devices that all may use */
}

/* --- items --- */

static void put_item(struct strbuf *out, enum policy_kind kind, struct str text)
{
    static const char zeros[4] = "";
    size_t n_padding = 4 - text.n % 4; /* at least the NUL */
    struct policy_item head = {kind, (uint32_t)(sizeof head + text.n + n_padding)};

    strbuf_add(out, str_make((const char *)&head, sizeof head));
    strbuf_add(out, text);
    strbuf_add(out, str_make(zeros, n_padding));
}

static size_t item_size(struct str plan, size_t at)
{
    return ((const struct policy_item *)(plan.p + at))->n_bytes;
}

const char *plan_item_text(struct str plan, unsigned index)
{
    size_t at = sizeof(struct policy_header);

    for (; at < plan.n; at += item_size(plan, at))
        if (index-- == 0)
            return plan.p + at + sizeof(struct policy_item);
    return NULL;
}

static void put_header(struct strbuf *out, uint32_t flags)
{
    struct policy_header header = {.version = POLICY_VERSION, .flags = flags};

    strbuf_add(out, str_make((const char *)&header, sizeof header));
}

/* Fills in what is known at the end. */
static void close_header(struct strbuf *out)
{
    struct policy_header *header = (struct policy_header *)out->p;
    struct str plan = strbuf_str(out);

    header->n_bytes = (uint32_t)plan.n;
    for (size_t at = sizeof *header; at < plan.n; at += item_size(plan, at))
        header->n_items++;
}

/* --- with namespaces: mounts --- */

/* Directories above what is protected or hidden in a writable place. Entries that grow into a new
 * array leave the old one behind in the arena, so `above` stays good. */
static void add_anchors(struct plan *p)
{
    size_t n = p->n;

    for (size_t i = 0; i < n; i++) {
        const struct entry *e = &p->entries[i];
        struct str path = str_of(e->path), directory;
        size_t at = 0;

        if (e->role == ROLE_WRITABLE || !e->above || e->above->role != ROLE_WRITABLE)
            continue;
        while (next_directory(path, str_of(e->above->path), &at, &directory))
            add(p, arena_cstr(&p->arena, directory), ROLE_ANCHOR);
    }
}

static enum policy_kind kind_of(const struct entry *e)
{
    switch (e->role) {
    case ROLE_WRITABLE:
        return POLICY_WRITABLE;
    case ROLE_VISIBLE:
        return POLICY_VISIBLE;
    case ROLE_HIDDEN:
        return e->is_holder ? POLICY_HOLDER : POLICY_HIDDEN;
    case ROLE_READ_ONLY:
        return POLICY_READ_ONLY;
    case ROLE_ANCHOR:
        break;
    }
    return POLICY_ANCHOR;
}

static void put_mounts(struct plan *p, struct strbuf *out)
{
    add_anchors(p);
    settle(p);
    for (size_t i = 0; i < p->n; i++)
        put_item(out, kind_of(&p->entries[i]), str_of(p->entries[i].path));
}

/* --- without: Landlock rules --- */

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

static void put_split(const struct exceptions *x, enum policy_kind kind, struct strbuf *out)
{
    for (size_t i = 0; i < x->n; i++) {
        const struct exception *now = &x->items[i], *before = now - 1;

        if (i == 0 || !str_eq(now->directory, before->directory))
            put_item(out, kind, now->directory);
        if (i == 0 || exception_cmp(now, before) != 0)
            put_item(out, POLICY_EXCEPT, now->name);
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
static bool is_to_be_left_out(const struct entry *e, const struct entry *base)
{
    bool is_in_workspace = e->above && e->above->role == ROLE_WRITABLE;

    return e->role == ROLE_HIDDEN && is_reached_from(e, base) &&
           (!is_in_workspace || is_there(e->path));
}

/* Grants `base`, but not what is hidden in it. NULL is the root. */
static void grant(struct plan *p, const struct entry *base, struct strbuf *out)
{
    bool is_writable = base && base->role == ROLE_WRITABLE;
    struct str path = base ? str_of(base->path) : S("/");
    struct exceptions x = {.arena = &p->arena};

    for (const struct entry *e = p->entries; e < p->entries + p->n; e++)
        if (is_to_be_left_out(e, base))
            split_around(&x, path, str_of(e->path));
    if (x.n == 0) {
        put_item(out, is_writable ? POLICY_GRANT_WRITE : POLICY_GRANT_READ, path);
        return;
    }
    qsort(x.items, x.n, sizeof *x.items, exception_cmp);
    put_split(&x, is_writable ? POLICY_SPLIT_WRITE : POLICY_SPLIT_READ, out);
}

/* What is read-only in the workspace is not among them: it is put back (guard.h). */
static void put_rules(struct plan *p, struct strbuf *out)
{
    grant(p, NULL, out);
    for (const struct entry *e = p->entries; e < p->entries + p->n; e++)
        if (e->role == ROLE_WRITABLE || e->role == ROLE_VISIBLE)
            grant(p, e, out);
}

/* --- all of it --- */

static uint32_t flags_of(const struct sandbox_policy *policy, bool namespaces)
{
    uint32_t flags = namespaces ? POLICY_NAMESPACES : 0;

    if (policy->network == SANDBOX_NETWORK)
        flags |= POLICY_NETWORK;
    if (policy->network == SANDBOX_PROXY_ONLY)
        flags |= POLICY_PROXY;
    return flags;
}

struct err *plan_check(const struct sandbox_policy *policy)
{
    if (policy->workspace[0] != '/')
        return err_new(ERR_SANDBOX, "the workspace \"%s\" is no absolute path", policy->workspace);
    if (strcmp(policy->workspace, "/") == 0)
        return err_hint(err_new(ERR_SANDBOX, "the workspace is the whole file system"),
                        "start keel in a directory of its own");
    for (size_t i = 0; i < policy->n_writable; i++)
        if (strcmp(policy->writable[i], "/") == 0)
            return err_hint(err_new(ERR_SANDBOX, "the whole file system was added as writable"),
                            "add only the directories that commands are to change");
    return NULL;
}

struct err *plan_write(const struct sandbox_policy *policy, bool namespaces, struct strbuf *out)
{
    AUTO(plan) struct plan p = {0};

    BUG_IF(out->n);
    TRY(plan_check(policy));
    if (policy->n_hidden + policy->n_read_only + policy->n_writable + policy->n_visible >
        MAX_ENTRIES)
        return err_new(ERR_SANDBOX, "the sandbox has more than %d rules", MAX_ENTRIES);
    add_policy(&p, policy, namespaces);
    settle(&p);
    put_header(out, flags_of(policy, namespaces));
    if (namespaces)
        put_mounts(&p, out);
    else
        put_rules(&p, out);
    TRY(strbuf_check(out, "the policy of the sandbox"));
    close_header(out);
    return NULL;
}
