/* places.c - what is kept from commands wherever they run: secrets, and files whose content others
 * execute. */
#include "sandbox/sandbox.h"

#include "sandbox/plan.h"
#include "sys/fs.h"
#include "sys/walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_DEPTH = 32 };

void path_list_add(struct path_list *l, const char *path)
{
    l->paths = arena_grow(l->arena, l->paths, l->n, &l->room, sizeof *l->paths);
    l->paths[l->n++] = path;
}

struct list {
    struct arena *arena;
    const char *workspace; /* for protected places */
    struct path_list *out;
};

static void add(struct list *l, const char *path)
{
    path_list_add(l->out, path);
}

/* --- secrets --- */

static const char *const secrets_in_home[] = {
    ".ssh",
    ".aws",
    ".gnupg",
    ".kube",
    ".docker",
    ".azure",
    ".config/gh",
    ".config/gcloud",
    ".netrc",
    ".npmrc",
    ".git-credentials",
    /* and those of other programs */
    ".boto",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".config/git/credentials",
    ".config/glab-cli",
    ".config/hub",
    ".config/op",
    ".gem/credentials",
    ".local/share/keyrings",
    ".m2/settings-security.xml",
    ".my.cnf",
    ".password-store",
    ".pgpass",
    ".pypirc",
    ".s3cfg",
    ".terraform.d/credentials.tfrc.json",
    ".vault-token",
};

/* What only root could read. */
static const char *const secrets_of_system[] = {
    "/etc/gshadow", "/etc/gshadow-", "/etc/shadow", "/etc/shadow-", "/etc/ssl/private",
};

/* Mounts and rules are for the place itself, not for the links that lead to it. */
static void add_real(struct list *l, const char *path)
{
    char real[PATH_MAX];

    add(l, realpath(path, real) ? arena_cstr(l->arena, str_of(real)) : path);
}

const char *const *sandbox_secret_places(struct arena *a, const char *home, const char *keel_home,
                                         size_t *ret_n)
{
    struct path_list out = {.arena = a};
    struct list l = {.arena = a, .out = &out};

    for (size_t i = 0; home && i < ARRAY_LEN(secrets_in_home); i++)
        add_real(&l, fs_join(a, home, secrets_in_home[i]));
    for (size_t i = 0; geteuid() == 0 && i < ARRAY_LEN(secrets_of_system); i++)
        add_real(&l, secrets_of_system[i]);
    if (keel_home)
        add_real(&l, keel_home);
    /* One's own home in them stays visible. */
    if (!home || strcmp(home, "/root") != 0)
        add_real(&l, "/root");
    if (!home || strcmp(home, "/home") != 0)
        add_real(&l, "/home");
    *ret_n = out.n;
    return out.paths;
}

/* --- what others execute --- */

static const char *const protected_names[] = {
    /* keel and its like read them, and run what they name */
    ".claude",
    ".keel",
    ".mcp.json",
    ".robota",
    /* shells do when they start */
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".config/fish",
    ".cshrc",
    ".inputrc",
    ".kshrc",
    ".login",
    ".logout",
    ".profile",
    ".tcshrc",
    ".xprofile",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    /* desktops and git do, in a workspace that is somebody's home */
    ".config/autostart",
    ".config/git",
    ".config/systemd",
    ".gitconfig",
};

/* Of a git directory. The last two say where the others are to be found. */
static const char *const git_names[] = {"config", "config.worktree", "hooks", "commondir",
                                        "gitdir"};

static bool exists_as(const char *path, mode_t type)
{
    struct stat st;

    return lstat(path, &st) == 0 && (st.st_mode & S_IFMT) == type;
}

/* A link is protected, and so is what it leads to in the workspace; but never all of that. */
static void protect(struct list *l, const char *directory, const char *name)
{
    const char *path = fs_join(l->arena, directory, name);
    char real[PATH_MAX];

    add(l, path);
    if (realpath(path, real) && strcmp(real, path) != 0 && path_is_in(real, l->workspace) &&
        strcmp(real, l->workspace) != 0 && !path_is_in(path, real))
        add(l, arena_cstr(l->arena, str_of(real)));
}

static void add_git_names(struct list *l, const char *git_dir)
{
    for (size_t i = 0; i < ARRAY_LEN(git_names); i++)
        protect(l, git_dir, git_names[i]);
}

static void add_git_dirs(struct list *l, const char *directory, int depth);

/* The git directory of a submodule or of a further working tree, or a part of such a one's name. */
static void add_inner_git_dir(struct list *l, const char *path, int depth)
{
    if (!exists_as(fs_join(l->arena, path, "HEAD"), S_IFREG)) {
        add_git_dirs(l, path, depth + 1);
        return;
    }
    add_git_names(l, path);
    add_git_dirs(l, fs_join(l->arena, path, "modules"), depth + 1);
}

static void add_git_dirs(struct list *l, const char *directory, int depth)
{
    DIR *d = depth < MAX_DEPTH ? opendir(directory) : NULL;
    const struct dirent *entry;

    while (d && (entry = readdir(d))) {
        const char *path = fs_join(l->arena, directory, entry->d_name);

        if (entry->d_name[0] != '.' && exists_as(path, S_IFDIR))
            add_inner_git_dir(l, path, depth);
    }
    if (d)
        closedir(d);
}

static void add_repository(struct list *l, const char *directory)
{
    const char *git = fs_join(l->arena, directory, ".git");

    for (size_t i = 0; i < ARRAY_LEN(protected_names); i++)
        protect(l, directory, protected_names[i]);
    /* A directory with a HEAD and a few others is a git directory by itself. */
    if (!fs_exists(fs_join(l->arena, directory, "HEAD")))
        add(l, fs_join(l->arena, directory, "HEAD"));
    else if (fs_is_dir(fs_join(l->arena, directory, "objects")))
        add_git_names(l, directory);
    if (exists_as(git, S_IFREG) || exists_as(git, S_IFLNK))
        add(l, git); /* it names the git directory */
    add_git_names(l, git);
    add_git_dirs(l, fs_join(l->arena, git, "modules"), 0);
    add_git_dirs(l, fs_join(l->arena, git, "worktrees"), 0);
}

void sandbox_protect_directory(struct path_list *l, const char *workspace, const char *directory)
{
    add_repository(&(struct list){l->arena, workspace, l}, directory);
}

/* --- repositories in the workspace --- */

struct search {
    pthread_mutex_t lock; /* for the list: the walk has several threads */
    const char *workspace;
    struct list *list;
};

static bool visit(void *self, void *thread, const struct walk_entry *entry)
{
    struct search *s = self;
    char git[NAME_MAX + sizeof "/.git"];
    struct stat st;

    if (!entry->is_dir || strlen(entry->name) > NAME_MAX)
        return true;
    stpcpy(stpcpy(git, entry->name), "/.git");
    if (fstatat(entry->dir_fd, git, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return true;
    pthread_mutex_lock(&s->lock);
    add_repository(s->list, fs_join(s->list->arena, s->workspace, entry->path.p));
    pthread_mutex_unlock(&s->lock);
    return true;
}

struct err *sandbox_protected_places(struct arena *a, const char *workspace,
                                     const char *const **ret_paths, size_t *ret_n)
{
    struct path_list out = {.arena = a};
    struct list l = {.arena = a, .workspace = workspace, .out = &out};
    struct search s = {PTHREAD_MUTEX_INITIALIZER, workspace, &l};
    struct walk_options options = {.root = workspace, .hidden = true, .no_ignore = true};
    struct walk_visitor visitor = {.visit = visit, .self = &s};
    struct walk_report report;

    add_repository(&l, workspace);
    TRY(walk_run(&options, &visitor, &report));
    if (report.was_cancelled)
        return err_new(ERR_CANCELLED, "interrupted");
    *ret_paths = out.paths;
    *ret_n = out.n;
    return NULL;
}
