/* read_rules.c - makes Landlock rules for the entries of directories. */
#include "sandbox/plan/read_rules.h"

#include "base/strbuf.h"
#include "sandbox/plan/plan.h"
#include "sandbox/plan/secret_dirs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    PATH_BENEATH = 1,
    MAX_ENTRIES = 4000, /* each takes 0.3 us at every command */
    /* Each leaves a rule for its own /proc behind. */
    MAX_COMMANDS = 100,
};
#define READ_FILE (1ull << 2)
#define REFER (1ull << 13) /* what no rule grants cannot be moved to another directory */

struct read_file_rule {
    uint64_t rights;
    int32_t fd;
} __attribute__((packed));

static bool grant_at(int rules, int dir, const char *name, uint64_t rights)
{
    int fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct read_file_rule rule = {rights, fd};
    bool done = fd >= 0 && syscall(SYS_landlock_add_rule, rules, PATH_BENEATH, &rule, 0) == 0;

    if (fd >= 0)
        close(fd);
    return done;
}

/* --- directories, entry by entry --- */

struct read_splitting {
    const struct secret_dirs *dirs;
    int rules;
    size_t n_entries;
};

static bool is_above(const struct secret_dir *dir, const char *name, const struct secret_dir *other)
{
    size_t n_dir = strcmp(dir->path, "/") == 0 ? 0 : strlen(dir->path), n_name = strlen(name);

    return strncmp(other->path, dir->path, n_dir) == 0 && other->path[n_dir] == '/' &&
           strncmp(other->path + n_dir + 1, name, n_name) == 0 &&
           (!other->path[n_dir + 1 + n_name] || other->path[n_dir + 1 + n_name] == '/');
}

/* It is split itself, or must not be read. */
static bool is_left_out(const struct read_splitting *s, const struct secret_dir *dir,
                        const char *name)
{
    for (size_t i = 0; i < dir->n; i++)
        if (strcmp(dir->names[i], name) == 0)
            return true;
    for (size_t i = 0; i < dir->n_present; i++)
        if (strcmp(dir->present[i], name) == 0)
            return true;
    for (size_t i = 0; i < s->dirs->n; i++)
        if (s->dirs->items[i].is_split && is_above(dir, name, &s->dirs->items[i]))
            return true;
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static void grant_entries(struct read_splitting *s, const struct secret_dir *dir)
{
    DIR *d = opendir(dir->path);
    const struct dirent *entry;

    while (d && s->n_entries <= MAX_ENTRIES && (entry = readdir(d)))
        if (entry->d_type != DT_LNK && !is_left_out(s, dir, entry->d_name)) {
            grant_at(s->rules, dirfd(d), entry->d_name, READ_FILE);
            s->n_entries++;
        }
    if (d)
        closedir(d);
}

/* --- what the policy names --- */

static bool is_granted(const struct read_rules *r, const char *path)
{
    for (size_t i = 0; i < r->granted.n; i++)
        if (strcmp(r->granted.paths[i], path) == 0)
            return true;
    return false;
}

static void grant_place(struct read_rules *r, const char *path)
{
    if (is_granted(r, path))
        return;
    r->granted.arena = &r->arena;
    path_list_add(&r->granted, arena_cstr(&r->arena, str_of(path)));
    /* The first version of Landlock knows no second right, and moves nothing. */
    if (!grant_at(r->fd, AT_FDCWD, path, READ_FILE | REFER))
        grant_at(r->fd, AT_FDCWD, path, READ_FILE);
}

static void grant_places(struct read_rules *r, const struct sandbox_policy *policy)
{
    grant_place(r, policy->workspace);
    if (policy->tmp_dir)
        grant_place(r, policy->tmp_dir);
    for (size_t i = 0; i < policy->n_writable; i++)
        grant_place(r, policy->writable[i]);
    for (size_t i = 0; i < policy->n_visible; i++)
        grant_place(r, policy->visible[i]);
}

/* --- all of it --- */

/* In the workspace all may be read, whenever it came. */
static bool is_of_use(const struct sandbox_policy *policy)
{
    const char *home = policy->home;

    if (policy->nothing_is_writable || !policy->secret_dirs || !home || strcmp(home, "/") == 0 ||
        path_is_in(home, policy->workspace))
        return false;
    for (size_t i = 0; i < policy->n_writable; i++)
        if (path_is_in(home, policy->writable[i]))
            return false;
    for (size_t i = 0; i < policy->n_visible; i++)
        if (path_is_in(home, policy->visible[i]))
            return false;
    return true;
}

void read_rules_done(struct read_rules *r)
{
    if (r->is_made && r->fd >= 0)
        close(r->fd);
    arena_done(&r->arena);
    *r = (struct read_rules){0};
}

/* Where there are too many entries, mounts alone have to do. */
static void make_rules(struct read_rules *r, const struct secret_dirs *dirs)
{
    struct read_splitting s = {.dirs = dirs};
    uint64_t handled = sandbox_landlock_version() > 1 ? READ_FILE | REFER : READ_FILE;

    r->is_made = true;
    r->fd = s.rules = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0);
    for (size_t i = 0; r->fd >= 0 && i < dirs->n; i++)
        if (dirs->items[i].is_split)
            grant_entries(&s, &dirs->items[i]);
    if (s.n_entries > MAX_ENTRIES) {
        close(r->fd);
        r->fd = -1;
    }
}

int read_rules_get(struct read_rules *r, const struct sandbox_policy *policy,
                   uint64_t mounts_version)
{
    const struct secret_dirs *dirs = policy->secret_dirs;

    if (!is_of_use(policy))
        return -1;
    if (!r->is_made || r->dirs_version != dirs->version || r->mounts_version != mounts_version ||
        r->n_commands++ == MAX_COMMANDS) {
        read_rules_done(r);
        r->dirs_version = dirs->version;
        r->mounts_version = mounts_version;
        make_rules(r, dirs);
    }
    if (r->fd >= 0)
        grant_places(r, policy);
    return r->fd;
}
