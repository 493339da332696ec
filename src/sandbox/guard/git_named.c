/* git_named.c - from settings that were there to files of a working tree that was not. */
#include "sandbox/guard/git_named.h"

#include "base/git_config.h"
#include "base/strbuf.h"
#include "sandbox/guard/git_dir.h"
#include "sandbox/plan/plan.h"
#include "sys/fs.h"
#include "sys/git_programs.h"

#include <string.h>

struct named_search {
    const struct survey *survey;
    const char *top; /* absolute */
    void (*found)(void *self, const char *path);
    void *self;
};

static const char *absolute(struct arena *a, const struct survey *s, const char *path)
{
    return *path ? fs_join(a, s->root, path) : s->root;
}

/* A path that leads out of the tree again begins in it. */
static void note_named(void *self, const char *path)
{
    const struct named_search *n = self;

    if (path_is_in(path, n->top) && strcmp(path, n->top) != 0)
        n->found(n->self, path + strlen(n->survey->root) + 1);
}

static void note_any(void *self, const char *path)
{
    *(bool *)self = true;
}

static void read_settings(struct git_settings *settings, const struct survey *s,
                          const char *git_dir)
{
    const char *path = absolute(settings->arena, s, git_dir);

    git_settings_read(settings, fs_join(settings->arena, path, "config"));
    git_settings_read(settings, fs_join(settings->arena, path, "config.worktree"));
}

bool git_dir_names_any_in(const struct survey *s, const char *git_dir, const char *top)
{
    AUTO(arena) struct arena arena = {0};
    AUTO_FREE char *common = git_dir_resolve(s, git_dir, "commondir");
    struct git_settings settings = {.arena = &arena, .takes_missing = true};
    bool has_any = false;
    struct named_search n = {s, absolute(&arena, s, top), note_any, &has_any};

    read_settings(&settings, s, git_dir);
    if (common)
        read_settings(&settings, s, common);
    git_settings_each_path(&settings, 0, n.top, note_named, &n);
    return has_any;
}

/* An alias such as "co = checkout" is no file of that name. */
static void keep_paths(struct git_settings *settings)
{
    size_t n = 0;

    for (size_t i = 0; i < settings->n; i++)
        if (settings->items[i].use == GIT_USE_HOOKS || strchr(settings->items[i].value, '/'))
            settings->items[n++] = settings->items[i];
    settings->n = n;
}

void git_global_each_in(const struct survey *s, const char *top,
                        void (*found)(void *self, const char *path), void *self)
{
    AUTO(arena) struct arena arena = {0};
    struct git_settings settings = {.arena = &arena, .home = s->home};
    struct named_search n = {s, absolute(&arena, s, top), found, self};

    git_settings_read_global(&settings);
    keep_paths(&settings);
    git_settings_each_path(&settings, 0, n.top, note_named, &n);
}
