/* git_programs.c - from git's configuration to the files that git runs. */
#include "sys/git_programs.h"

#include "base/git_config.h"
#include "sys/fs.h"

#include <limits.h>

enum {
    MAX_BYTES = 1 << 20, /* of one file */
    MAX_FILES = 65536,
    MAX_INCLUDED = 8, /* in each other */
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

static void add_stamp(struct git_settings *s, const char *path)
{
    s->stamps = arena_grow(s->arena, s->stamps, s->n_stamps, &s->stamp_room, sizeof s->stamps[0]);
    s->stamps[s->n_stamps++] = stamp_of(path);
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
    add_stamp(s, path);
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

void git_settings_read_global(struct git_settings *s)
{
    read_one(s, "/etc/gitconfig", 0);
    if (s->home) {
        read_one(s, fs_join(s->arena, s->home, ".config/git/config"), 0);
        read_one(s, fs_join(s->arena, s->home, ".gitconfig"), 0);
    }
}

/* --- what is named --- */

struct finder {
    const struct git_settings *settings;
    const char *top;
    void (*add)(void *self, const char *path);
    void *self;
};

/* Between words of a shell, as far as paths go. */
static bool is_between(char c)
{
    return strchr(" \t\n\"'`;&|()<>=!$", c) != NULL;
}

/* Every word that is the name of a file. */
static void find_in_command(const struct finder *f, const char *line)
{
    while (*line) {
        size_t n = 0;
        const char *path;
        struct stat st;

        while (line[n] && !is_between(line[n]))
            n++;
        if (n > 0 && n < PATH_MAX) {
            path = expand(f->settings, f->top, arena_cstr(f->settings->arena, str_make(line, n)));
            if (path &&
                (stat(path, &st) == 0 ? S_ISREG(st.st_mode)
                                      : f->settings->takes_missing && memchr(line, '/', n) != NULL))
                f->add(f->self, path);
        }
        line += n + (line[n] != 0);
    }
}

/* husky has its hooks in a directory "_", which run those above. */
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

void git_settings_each_path(const struct git_settings *s, size_t first, const char *top,
                            void (*add)(void *self, const char *path), void *self)
{
    struct finder f = {s, top, add, self};
    const char *path;

    for (size_t i = first; i < s->n; i++) {
        const struct git_named *named = &s->items[i];

        switch ((enum git_use)named->use) {
        case GIT_USE_HOOKS:
            find_hooks(&f, named->value);
            break;
        case GIT_USE_CONFIG:
            path = expand(s, directory_of(s, named->config_path), named->value);
            if (path)
                add(self, path);
            break;
        case GIT_USE_COMMAND:
            find_in_command(&f, named->value);
            break;
        case GIT_USE_NONE:
            break;
        }
    }
}
