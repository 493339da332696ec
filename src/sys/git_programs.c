/* git_programs.c - finds the files that git's configuration makes git run. */
#include "sys/git_programs.h"

#include "base/git_config.h"
#include "sys/fs.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

enum {
    MAX_BYTES = 1 << 20, /* of one file */
    MAX_FILES = 65536,
    MAX_INCLUDED = 8, /* within each other */
    MAX_LEAD_BYTES = 4096,
    MAX_DIRECTORIES = 4, /* in one line of a command */
    MAX_HOOKS = 4096,    /* entries of a directory of them */
};

/* --- reading --- */

static struct git_stamp stamp_of(const char *path)
{
    struct git_stamp stamp = {.path = path};
    struct stat st;

    if (stat(path, &st) == 0) {
        stamp.inode = st.st_ino;
        stamp.size = st.st_size;
        stamp.changed = st.st_ctim;
    }
    return stamp;
}

bool git_stamps_are_good(const struct git_stamp *stamps, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct git_stamp now = stamp_of(stamps[i].path);

        if (now.inode != stamps[i].inode || now.size != stamps[i].size ||
            now.changed.tv_sec != stamps[i].changed.tv_sec ||
            now.changed.tv_nsec != stamps[i].changed.tv_nsec)
            return false;
    }
    return true;
}

/* ~/x, or x beside `beside`. */
static const char *expand(const struct git_settings *s, const char *beside, const char *value)
{
    if (value[0] == '/')
        return value;
    if (value[0] == '~' && value[1] == '/')
        return s->home ? fs_join(s->arena, s->home, value + 2) : NULL;
    return fs_join(s->arena, beside, value);
}

static const char *directory_of(const struct git_settings *s, const char *path)
{
    size_t n = str_rfind_char(str_of(path), '/');

    return arena_cstr(s->arena, str_make(path, n == STR_NONE ? 0 : n));
}

static void read_one(struct git_settings *s, const char *path, int depth);

static void note_setting(struct git_settings *s, const struct git_setting *setting,
                         const char *path, int depth)
{
    enum git_use use = git_setting_use(setting);
    const char *value = arena_cstr(s->arena, setting->value), *included;

    if (use == GIT_USE_NONE || setting->value.n == 0)
        return;
    s->items = arena_grow(s->arena, s->items, s->n, &s->room, sizeof s->items[0]);
    s->items[s->n++] = (struct git_named){use, value, path};
    if (use == GIT_USE_CONFIG && depth < MAX_INCLUDED) {
        included = expand(s, directory_of(s, path), value);
        if (included)
            read_one(s, included, depth + 1);
    }
}

static void read_one(struct git_settings *s, const char *path, int depth)
{
    AUTO(strbuf) struct strbuf text = {0};
    struct git_setting setting;
    struct git_reader r;
    bool exists = false;
    struct err *e;

    if (s->n_stamps >= MAX_FILES)
        return;
    s->stamps = arena_grow(s->arena, s->stamps, s->n_stamps, &s->stamp_room, sizeof s->stamps[0]);
    s->stamps[s->n_stamps++] = stamp_of(path);
    strbuf_init(&text, MAX_BYTES);
    e = fs_read(path, &text, &exists);
    if (e) {
        err_ignore(e, "git, which is the same user, cannot read it either");
        return;
    }
    r = (struct git_reader){.rest = strbuf_str(&text), .arena = s->arena};
    if (str_starts(r.rest, S("\xef\xbb\xbf")))
        r.rest = str_skip(r.rest, 3);
    while (git_config_next(&r, &setting))
        note_setting(s, &setting, path, depth);
}

void git_settings_read(struct git_settings *s, const char *path)
{
    read_one(s, path, 0);
}

/* --- directories --- */

/* Reads the one line of a file such as "commondir", as a path; NULL: there is none. */
static const char *read_lead(struct arena *a, const char *directory, const char *name,
                             struct str prefix)
{
    AUTO(strbuf) struct strbuf text = {0};
    bool exists = false;
    struct str path;
    struct err *e;

    strbuf_init(&text, MAX_LEAD_BYTES);
    e = fs_read(fs_join(a, directory, name), &text, &exists);
    path = str_trim(strbuf_str(&text));
    if (e || !exists || !str_starts(path, prefix)) {
        err_ignore(e, "git cannot read it either");
        return NULL;
    }
    path = str_trim(str_skip(path, prefix.n));
    if (path.n == 0 || str_find_char(path, '\0') != STR_NONE)
        return NULL;
    return path.p[0] == '/' ? arena_cstr(a, path) : fs_join(a, directory, arena_cstr(a, path));
}

void git_settings_read_dir(struct git_settings *s, const char *git_dir)
{
    const char *common = read_lead(s->arena, git_dir, "commondir", S(""));

    git_settings_read(s, fs_join(s->arena, git_dir, "config"));
    git_settings_read(s, fs_join(s->arena, git_dir, "config.worktree"));
    if (common)
        git_settings_read(s, fs_join(s->arena, common, "config"));
}

const char *git_dir_find(struct arena *a, const char *top)
{
    const char *git = fs_join(a, top, ".git");

    return fs_is_dir(git) ? git : read_lead(a, top, ".git", S("gitdir:"));
}

void git_settings_read_global(struct git_settings *s)
{
    read_one(s, "/etc/gitconfig", 0);
    if (s->home) {
        read_one(s, fs_join(s->arena, s->home, ".config/git/config"), 0);
        read_one(s, fs_join(s->arena, s->home, ".gitconfig"), 0);
    }
}

/* --- the files --- */

struct finder {
    const struct git_settings *settings;
    const char *top;
    void (*add)(void *self, const char *path);
    void *self;
};

/* Does it separate words of a shell, as far as paths are concerned? */
static bool is_between(char c)
{
    return strchr(" \t\n\"'`;&|()<>=!$", c) != NULL;
}

/* Is a word of a command, below a directory, a file? A missing file counts only in the first
 * directory. */
static void try_word(const struct finder *f, const char *below, struct str word)
{
    const char *path = expand(f->settings, below, arena_cstr(f->settings->arena, word));
    bool takes_missing = f->settings->takes_missing && below == f->top &&
                         memchr(word.p, '/', word.n) && !memchr(word.p, ' ', word.n);
    struct stat st;

    if (path && (stat(path, &st) == 0 ? S_ISREG(st.st_mode) : takes_missing))
        f->add(f->self, path);
}

/* Directories that a line changes to first: "cd tools && ./run". */
struct line_dirs {
    const char *paths[MAX_DIRECTORIES];
    size_t n;
};

static void look_at_word(const struct finder *f, struct line_dirs *dirs, struct str word)
{
    const char *path;

    if (word.n == 0 || word.n >= PATH_MAX)
        return;
    try_word(f, f->top, word);
    for (size_t i = 0; i < dirs->n; i++)
        try_word(f, dirs->paths[i], word);
    path = expand(f->settings, f->top, arena_cstr(f->settings->arena, word));
    if (dirs->n < MAX_DIRECTORIES && path && fs_is_dir(path))
        dirs->paths[dirs->n++] = path;
}

/* Finds every word that is the name of a file; of a quoted text also the whole. */
static void find_in_command(const struct finder *f, const char *line)
{
    struct line_dirs dirs = {.n = 0};

    while (*line) {
        const char *end = *line == '"' || *line == '\'' ? strchr(line + 1, *line) : NULL;
        size_t n = 0;

        if (end)
            look_at_word(f, &dirs, str_make(line + 1, (size_t)(end - line) - 1));
        while (line[n] && !is_between(line[n]))
            n++;
        look_at_word(f, &dirs, str_make(line, n));
        line += n + (line[n] != 0);
    }
}

/* husky has its hooks in a directory "_"; they run those above. */
static void find_hooks(const struct finder *f, const char *value)
{
    const char *path = expand(f->settings, f->top, value);
    struct str hooks;

    if (!path)
        return;
    hooks = str_of(path);
    while (str_ends(hooks, S("/")))
        hooks.n--;
    if (str_ends(hooks, S("/_")))
        hooks.n -= 2;
    f->add(f->self, arena_cstr(f->settings->arena, hooks));
}

static void find_named(const struct finder *f, const struct git_named *named)
{
    const char *path;

    switch ((enum git_use)named->use) {
    case GIT_USE_HOOKS:
        find_hooks(f, named->value);
        break;
    case GIT_USE_CONFIG:
        path = expand(f->settings, directory_of(f->settings, named->config_path), named->value);
        if (path)
            f->add(f->self, path);
        break;
    case GIT_USE_COMMAND:
        find_in_command(f, named->value);
        break;
    case GIT_USE_TREE:
    case GIT_USE_NONE:
        break;
    }
}

void git_settings_each_path(const struct git_settings *s, size_t first, const char *top,
                            void (*add)(void *self, const char *path), void *self)
{
    struct finder f = {s, top, add, self};
    const struct git_named *tree = NULL; /* the last one counts */

    for (size_t i = first; i < s->n; i++) {
        find_named(&f, &s->items[i]);
        if (s->items[i].use == GIT_USE_TREE)
            tree = &s->items[i];
    }
    f.top = tree ? expand(s, directory_of(s, tree->config_path), tree->value) : NULL;
    for (size_t i = first; f.top && i < s->n; i++)
        find_named(&f, &s->items[i]);
}

/* --- hooks --- */

void git_hooks_each_link(struct arena *a, const char *directory,
                         void (*add)(void *self, const char *path), void *self)
{
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    char target[1];

    if (fd >= 0 && !d)
        close(fd);
    for (unsigned n = 0; d && n < MAX_HOOKS && (entry = readdir(d)); n++)
        if (entry->d_type == DT_LNK || (entry->d_type == DT_UNKNOWN &&
                                        readlinkat(fd, entry->d_name, target, sizeof target) > 0))
            add(self, fs_join(a, directory, entry->d_name));
    if (d)
        closedir(d);
}
