/* plan.c - from places to mounts; what lies in what, and how it is said to keel-exec. */
#include "sandbox/plan/parts.h"

#include "base/mount_table.h"
#include "sandbox/plan/secret_dirs.h"

#include <stdlib.h>

enum { MAX_ENTRIES = 200000 };

static void plan_done(struct plan *p)
{
    if (p->roots)
        held_roots_forget(p->roots);
    arena_done(&p->arena);
}
DEFINE_AUTO_VAL(plan, plan_done)

/* --- paths --- */

/* How many bytes are the same: paths that are compared have most in common. */
static size_t common_bytes(const char *a, const char *b)
{
    size_t n = MIN(strlen(a), strlen(b)), i = 0;

    while (i + 8 <= n && memcmp(a + i, b + i, 8) == 0)
        i += 8;
    while (i < n && a[i] == b[i])
        i++;
    return i;
}

/* The slash is less than any other byte. */
int path_cmp(const char *a, const char *b)
{
    size_t n = common_bytes(a, b);

    a += n;
    b += n;
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

bool next_directory(struct str path, struct str from, size_t *at, struct str *ret_directory)
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

static void add(struct plan *p, const char *path, enum plan_role role)
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

static bool is_writable(const struct entry *e)
{
    return e && (e->role == ROLE_WRITABLE || e->role == ROLE_OPEN);
}

/* Does it change anything where it lies? With namespaces a command has a /dev/shm of its own, which
 * is empty. */
static bool has_effect(const struct entry *e)
{
    bool is_hidden = e->above ? e->above->role == ROLE_HIDDEN : path_is_in(e->path, "/dev/shm");

    switch (e->role) {
    case ROLE_WRITABLE:
        return !is_writable(e->above);
    case ROLE_HIDDEN:
        return !is_hidden;
    case ROLE_VISIBLE:
    case ROLE_SHOWN:
        return is_hidden;
    case ROLE_OPEN:
        return e->above && e->above->role == ROLE_SEALED;
    case ROLE_READ_ONLY:
    case ROLE_SEALED:
    case ROLE_ANCHOR:
        return is_writable(e->above) || (e->above && e->above->role == ROLE_ANCHOR);
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

static void add_all(struct plan *p, const char *const *paths, size_t n, enum plan_role role)
{
    for (size_t i = 0; i < n; i++)
        add(p, paths[i], role);
}

/* Sockets and other people's files; what is needed of them is writable or visible. */
static const char *const always_hidden[] = {"/tmp", "/run", "/var/run"};

/* Without namespaces keel-exec grants the devices that all may use, and of /proc what programs
 * need. */
static const char *const granted_in_part[] = {"/dev", "/proc"};

static void add_policy(struct plan *p, const struct sandbox_policy *policy, bool namespaces)
{
    bool is_shown = policy->nothing_is_writable;
    enum plan_role writable = is_shown ? ROLE_SHOWN : ROLE_WRITABLE;

    add(p, policy->workspace,
        policy->workspace_is_read_only && !is_shown ? ROLE_VISIBLE : writable);
    if (policy->tmp_dir)
        add(p, policy->tmp_dir, writable);
    add_all(p, policy->writable, policy->n_writable, writable);
    add_all(p, policy->visible, policy->n_visible, is_shown ? ROLE_SHOWN : ROLE_VISIBLE);
    add_all(p, policy->hidden, policy->n_hidden, ROLE_HIDDEN);
    add_all(p, policy->own, policy->n_own, ROLE_HIDDEN);
    add_all(p, always_hidden, ARRAY_LEN(always_hidden), ROLE_HIDDEN);
    if (policy->home)
        add(p, policy->home, ROLE_VISIBLE);
    if (!namespaces) {
        add_all(p, granted_in_part, ARRAY_LEN(granted_in_part), ROLE_HIDDEN);
        return;
    }
    if (is_shown) /* so is all that is in them */
        return;
    add_all(p, policy->read_only, policy->n_read_only, ROLE_READ_ONLY);
    add_all(p, policy->sealed, policy->n_sealed, ROLE_SEALED);
    add_all(p, policy->open, policy->n_open, ROLE_OPEN);
}

/* --- other paths to what is hidden --- */

struct alias_of {
    struct plan *plan;
    const struct entry *entry;
};

static const struct entry *find_nearest(const struct plan *p, const char *path)
{
    const struct entry *nearest = NULL;

    for (const struct entry *e = p->entries; e < p->entries + p->n; e++)
        if (path_is_in(path, e->path))
            nearest = e;
    return nearest;
}

/* What all processes share is hidden for its sockets; a file of it that is mounted elsewhere, as
 * /etc/resolv.conf may be, is meant to be seen there. */
static bool is_shared_by_all(const char *path)
{
    for (size_t i = 0; i < ARRAY_LEN(always_hidden); i++)
        if (strcmp(path, always_hidden[i]) == 0)
            return true;
    return false;
}

/* Of a hidden directory, some parts are to be seen. */
static void add_alias(void *self, const char *alias, const char *shows)
{
    const struct alias_of *of = self;
    struct plan *p = of->plan;
    bool is_part = strcmp(shows, of->entry->path) != 0;

    if (is_part && (is_shared_by_all(of->entry->path) || find_nearest(p, shows) != of->entry))
        return;
    p->aliases =
        arena_grow(&p->arena, p->aliases, p->n_aliases, &p->alias_room, sizeof *p->aliases);
    p->aliases[p->n_aliases++] = alias;
}

/* The entries are settled, and are so again afterwards. */
static void add_aliases(struct plan *p, const struct mount_table *mounts)
{
    for (const struct entry *e = p->entries; e < p->entries + p->n; e++)
        if (e->role == ROLE_HIDDEN)
            mount_table_each_alias(mounts, &p->arena, e->path, add_alias, &(struct alias_of){p, e});
    for (size_t i = 0; i < p->n_aliases; i++)
        add(p, p->aliases[i], ROLE_HIDDEN);
    if (p->n_aliases)
        settle(p);
}

/* What is closed has no other paths, but what is hidden in it has: so it comes after those were
 * found, and to all that the policy names. */
static void add_closed(struct plan *p, const struct sandbox_policy *policy, bool namespaces)
{
    p->n = 0;
    add_policy(p, policy, namespaces);
    add_all(p, policy->closed, policy->n_closed, ROLE_HIDDEN);
    add_all(p, p->aliases, p->n_aliases, ROLE_HIDDEN);
    settle(p);
}

/* --- what the kernel makes up --- */

/* keel-exec knows what of these a command may have. */
static const char *const usual_places[] = {"/proc", "/sys", "/dev"};

static bool is_usual_place(const char *path)
{
    for (size_t i = 0; i < ARRAY_LEN(usual_places); i++)
        if (path_is_in(path, usual_places[i]))
            return true;
    return false;
}

/* A second /proc shows other processes, and where commands can write, its settings and those of
 * /sys are the machine's. They are hidden for what they are, so their other paths are no matter. */
static void add_virtual(struct plan *p, const struct mount_table *mounts)
{
    for (size_t i = 0; i < mounts->n; i++) {
        const struct mount_entry *e = &mounts->entries[i];
        const struct entry *nearest;
        const char *path;

        if (!mount_entry_is_virtual(e) || mount_table_find(mounts, e->place) != e)
            continue;
        path = arena_cstr(&p->arena, e->place);
        nearest = find_nearest(p, path);
        if (!is_usual_place(path) || (nearest && nearest->role != ROLE_HIDDEN))
            add(p, path, ROLE_HIDDEN);
    }
    settle(p);
}

/* --- items --- */

struct sighting plan_look(struct plan *p, const char *path)
{
    return p->roots ? held_roots_look(p->roots, path) : (struct sighting){POLICY_ANY, 0, 0};
}

static void put_item(struct plan *p, struct policy_item head, struct str text)
{
    static const char zeros[8] = "";
    size_t n_padding = 8 - text.n % 8; /* at least the NUL */

    head.n_bytes = (uint32_t)(sizeof head + text.n + n_padding);
    strbuf_add(p->out, str_make((const char *)&head, sizeof head));
    strbuf_add(p->out, text);
    strbuf_add(p->out, str_make(zeros, n_padding));
}

/* The number of the nearest root that the path lies in, counted from 1; 0: none. Those that come
 * later lie deeper. */
static unsigned find_root(const struct plan *p, const char *path)
{
    unsigned n = MIN(p->n_roots, POLICY_MAX_ROOTS);

    while (n > 0 && !path_is_in(path, p->item_roots[n - 1]->path))
        n--;
    return n;
}

/* The text begins with the path. */
static void put_text(struct plan *p, enum policy_kind kind, const char *path, struct str text,
                     struct sighting seen)
{
    unsigned root = find_root(p, path);
    size_t at = root ? strlen(p->item_roots[root - 1]->path) + 1 : 1;

    put_item(p,
             (struct policy_item){.kind = kind,
                                  .root = root,
                                  .at = (uint32_t)MIN(at, strlen(path)),
                                  .expect = seen.expect,
                                  .device = seen.device,
                                  .inode = seen.inode},
             text);
}

void plan_put(struct plan *p, enum policy_kind kind, const char *path, struct sighting seen)
{
    put_text(p, kind, path, str_of(path), seen);
}

void plan_put_entry(struct plan *p, enum policy_kind kind, const struct entry *e)
{
    plan_put(p, kind, e->path, plan_look(p, e->path));
    if (!policy_is_root(kind))
        return;
    if (p->n_roots < POLICY_MAX_ROOTS)
        p->item_roots[p->n_roots] = e;
    p->n_roots++;
}

void plan_put_name(struct plan *p, struct str name)
{
    put_item(p, (struct policy_item){.kind = POLICY_EXCEPT}, name);
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

/* POLICY_CWD is the last. */
static struct str walls_of(struct str plan)
{
    size_t at = sizeof(struct policy_header);

    while (at < plan.n && ((const struct policy_item *)(plan.p + at))->kind != POLICY_CWD)
        at += item_size(plan, at);
    return str_slice(plan, sizeof(struct policy_header), at - sizeof(struct policy_header));
}

bool plan_is_same(struct str a, struct str b)
{
    return a.n && b.n &&
           ((const struct policy_header *)a.p)->flags ==
               ((const struct policy_header *)b.p)->flags &&
           str_eq(walls_of(a), walls_of(b));
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

        if (e->role == ROLE_WRITABLE || !is_writable(e->above))
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
    case ROLE_SHOWN:
        return POLICY_VISIBLE;
    case ROLE_HIDDEN:
        return e->is_holder ? POLICY_HOLDER : POLICY_HIDDEN;
    case ROLE_READ_ONLY:
    case ROLE_SEALED:
        return POLICY_READ_ONLY;
    case ROLE_OPEN:
        return POLICY_OPEN;
    case ROLE_ANCHOR:
        break;
    }
    return POLICY_ANCHOR;
}

static void put_mounts(struct plan *p)
{
    add_anchors(p);
    settle(p);
    for (const struct entry *e = p->entries; e < p->entries + p->n; e++)
        plan_put_entry(p, kind_of(e), e);
}

/* In a writable place it would be the command's own. */
bool plan_can_lack(const struct plan *p, const char *directory)
{
    const struct entry *nearest = find_nearest(p, directory);

    return !nearest || (!is_writable(nearest) && nearest->role != ROLE_HIDDEN);
}

struct lacking {
    struct plan *plan;
    const struct secret_dir *dir;
};

/* `path` leads to the directory, or to all that a layer or a snapshot of it shows. */
static void put_lacking_at(void *self, const char *path, const char *shows)
{
    const struct lacking *l = self;
    AUTO(strbuf) struct strbuf text = {0};

    if (strcmp(shows, l->dir->path) != 0 || !plan_can_lack(l->plan, path))
        return;
    strbuf_add_cstr(&text, path);
    for (size_t i = 0; i < l->dir->n; i++) {
        strbuf_add_char(&text, 0);
        strbuf_add_cstr(&text, l->dir->names[i]);
    }
    put_text(l->plan, POLICY_LACKS, path, strbuf_str(&text), (struct sighting){POLICY_ANY, 0, 0});
}

/* Under all the paths that mounts give it. */
static void put_lacking(struct plan *p, const struct secret_dirs *dirs,
                        const struct mount_table *mounts)
{
    for (size_t i = 0; dirs && i < dirs->n; i++) {
        struct lacking l = {p, &dirs->items[i]};

        if (l.dir->n == 0)
            continue;
        put_lacking_at(&l, l.dir->path, l.dir->path);
        if (mounts)
            mount_table_each_alias(mounts, &p->arena, l.dir->path, put_lacking_at, &l);
    }
}

/* The mounts say what is shown in a hidden place; without them nothing is. */
static struct err *put_cwd(struct plan *p, const char *cwd, bool namespaces)
{
    struct sighting seen = plan_look(p, cwd);
    bool is_hidden = false;

    for (const struct entry *e = p->entries; e < p->entries + p->n; e++)
        if (path_is_in(cwd, e->path))
            is_hidden = e->role == ROLE_HIDDEN || (is_hidden && e->role < ROLE_VISIBLE);
    if (is_hidden && !namespaces)
        return err_hint(err_new(ERR_SANDBOX, "the sandbox cannot be built: %s",
                                sandbox_step_text(EXEC_STEP_CWD)),
                        "run it in the workspace, or add the directory with --add-dir");
    if (is_hidden)
        seen.expect = POLICY_ANY;
    else if (seen.expect == POLICY_ABSENT)
        seen.expect = POLICY_THIS; /* it was there just now: this is none that there could be */
    plan_put(p, POLICY_CWD, cwd, seen);
    return NULL;
}

/* --- all of it --- */

static uint32_t flags_of(const struct sandbox_policy *policy, bool namespaces)
{
    uint32_t flags = namespaces ? POLICY_NAMESPACES : 0;

    if (policy->network == SANDBOX_NETWORK)
        flags |= POLICY_NETWORK;
    if (policy->network == SANDBOX_PROXY_ONLY)
        flags |= POLICY_PROXY;
    if (policy->require_full)
        flags |= POLICY_FULL;
    return flags;
}

static bool is_own(const struct sandbox_policy *policy, const char *path)
{
    for (size_t i = 0; i < policy->n_own && !policy->nothing_is_writable; i++)
        if (strcmp(policy->own[i], path) == 0)
            return true;
    return false;
}

struct err *plan_check(const struct sandbox_policy *policy)
{
    if (policy->workspace[0] != '/')
        return err_new(ERR_SANDBOX, "the workspace \"%s\" is not an absolute path",
                       policy->workspace);
    if (strcmp(policy->workspace, "/") == 0)
        return err_hint(err_new(ERR_SANDBOX, "the workspace is the whole file system"),
                        "start keel in a project directory");
    if (is_own(policy, policy->workspace))
        return err_hint(
            err_new(ERR_SANDBOX, "the workspace is keel's own directory, %s", policy->workspace),
            "start keel in a project directory");
    for (size_t i = 0; i < policy->n_writable; i++) {
        if (strcmp(policy->writable[i], "/") == 0)
            return err_hint(err_new(ERR_SANDBOX, "the whole file system was added as writable"),
                            "add only the directories that commands need to change");
        if (is_own(policy, policy->writable[i]))
            return err_hint(err_new(ERR_SANDBOX, "keel's own directory, %s, was added as writable",
                                    policy->writable[i]),
                            "remove it from --add-dir and permissions.additionalDirectories");
    }
    return NULL;
}

static struct err *check_place(const char *path, const struct mount_table *mounts)
{
    const struct mount_entry *e = mount_table_find(mounts, str_of(path));

    if (strcmp(path, "/dev/shm") == 0)
        return err_hint(err_new(ERR_SANDBOX, "/dev/shm is shared by all programs"),
                        "start keel in a directory of your own in it");
    if (!e || !mount_entry_is_virtual(e))
        return NULL;
    return err_hint(err_new(ERR_SANDBOX,
                            "%s is on a file system of the kernel (%" STR_FMT
                            "), where commands could change the machine",
                            path, STR_ARG(e->type)),
                    "start keel in a project directory");
}

struct err *plan_check_places(const struct sandbox_policy *policy, const struct mount_table *mounts)
{
    TRY(check_place(policy->workspace, mounts));
    for (size_t i = 0; i < policy->n_writable; i++)
        TRY(check_place(policy->writable[i], mounts));
    return NULL;
}

struct err *plan_write(const struct plan_input *input, struct strbuf *out)
{
    AUTO(plan) struct plan p = {.roots = input->roots, .out = out};
    const struct sandbox_policy *policy = input->policy;

    BUG_IF(out->n);
    TRY(plan_check(policy));
    if (policy->n_hidden + policy->n_read_only + policy->n_sealed + policy->n_open +
            policy->n_writable + policy->n_visible + policy->n_closed >
        MAX_ENTRIES)
        return err_new(ERR_SANDBOX, "the sandbox has more than %d rules", MAX_ENTRIES);
    add_policy(&p, policy, input->namespaces);
    settle(&p);
    if (input->mounts)
        add_aliases(&p, input->mounts);
    if (policy->n_closed)
        add_closed(&p, policy, input->namespaces);
    if (input->mounts)
        add_virtual(&p, input->mounts);
    put_header(out, flags_of(policy, input->namespaces));
    if (input->namespaces) {
        put_mounts(&p);
        put_lacking(&p, policy->secret_dirs, input->mounts);
    } else {
        plan_put_rules(&p, policy->secret_dirs);
    }
    if (p.n_roots > POLICY_MAX_ROOTS)
        return err_new(ERR_SANDBOX, "the sandbox has more than %d writable and visible directories",
                       POLICY_MAX_ROOTS);
    TRY(put_cwd(&p, input->cwd, input->namespaces));
    TRY(strbuf_check(out, "the policy of the sandbox"));
    close_header(out);
    return NULL;
}
