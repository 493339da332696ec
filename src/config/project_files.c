/* project_files.c - reads a project's own files, and compares them later. */
#include "config/project_files.h"

#include "config/project_reading.h"
#include "sys/fs.h"

#include <stdlib.h>
#include <sys/stat.h>

/* Files that can make keel do something. A new reader of project files adds its name here. */
static const char *const settings_files[] = {
    ".keel/settings.local.json",
    ".keel/settings.json",
    ".robota/settings.local.json",
    ".robota/settings.json",
    ".claude/settings.local.json",
    ".claude/settings.json",
    ".mcp.json",
};
static const char *const directories[] = {".keel", ".robota"};

const struct project_file *project_files_find(const struct project_files *f, const char *name)
{
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->items[i].name, name) == 0)
            return &f->items[i];
    return NULL;
}

/* --- reading --- */

static bool is_same_file(const struct stat *st, int dir_fd, const char *path)
{
    struct stat other;

    return path && fstatat(dir_fd, path, &other, 0) == 0 && other.st_dev == st->st_dev &&
           other.st_ino == st->st_ino;
}

static bool is_home(const struct project_reading *r)
{
    struct stat project, keel_home;

    return (fstat(r->fd, &project) == 0 && is_same_file(&project, r->fd, r->place->home)) ||
           (r->place->keel_home && stat(r->place->keel_home, &keel_home) == 0 &&
            is_same_file(&keel_home, r->fd, ".keel"));
}

/* In the home directory the person's own settings are in the places of a project's settings. */
static bool is_own(const struct project_reading *r, const char *name)
{
    const char *own = NULL;
    struct stat st;

    if (!str_ends(str_of(name), S("/settings.json")))
        return false;
    if (str_starts(str_of(name), S(".keel/")) && r->place->keel_home)
        own = fs_join(r->arena, r->place->keel_home, "settings.json");
    else if (r->place->home)
        own = fs_join(r->arena, r->place->home, name);
    return own && stat(own, &st) == 0 && is_same_file(&st, r->fd, name);
}

static int compare_names(const void *a, const void *b)
{
    const struct project_file *x = a, *y = b;

    return strcmp(x->name, y->name);
}

static void note_problem(struct project_files *files)
{
    for (size_t i = 0; i < files->n && !files->problem; i++)
        files->problem = files->items[i].problem;
}

void project_files_read(struct arena *a, const struct project_place *place,
                        struct project_files *ret_files)
{
    AUTO(project_reading) struct project_reading r = project_reading_begin(a, place, ret_files);

    if (r.fd < 0)
        return;
    for (size_t i = 0; i < ARRAY_LEN(settings_files); i++)
        if (!is_own(&r, settings_files[i]))
            project_reading_add(&r, settings_files[i], PROJECT_SETTINGS);
    project_words_begin(&r);
    project_words_add_settings(&r);
    for (size_t i = 0; i < ARRAY_LEN(directories) && !is_home(&r); i++)
        project_reading_add_directory(&r, directories[i], 1);
    note_problem(ret_files);
    if (ret_files->n)
        qsort(ret_files->items, ret_files->n, sizeof *ret_files->items, compare_names);
}

/* --- comparing --- */

static struct err *changed(const char *name)
{
    return err_hint(err_new(ERR_TOOL_DENIED, "%s has changed since this project was trusted", name),
                    "read it, then run keel trust");
}

static bool is_same(const struct project_file *a, const struct project_file *b)
{
    return !a->problem && !b->problem && a->is_link == b->is_link &&
           a->is_executable == b->is_executable && strcmp(a->digest, b->digest) == 0;
}

static struct err *check_known(struct project_reading *r, const struct project_files *then)
{
    for (size_t i = 0; i < then->n; i++)
        if (then->items[i].kind != PROJECT_SETTINGS)
            project_reading_add(r, then->items[i].name, then->items[i].kind);
    for (size_t i = 0; i < then->n; i++) {
        const struct project_file *was = &then->items[i],
                                  *now = project_files_find(r->files, was->name);

        if (was->kind != PROJECT_SETTINGS && (!now || !is_same(was, now)))
            return changed(was->name);
    }
    return NULL;
}

struct err *project_files_check(const struct project_files *then, const struct project_place *place,
                                struct str command)
{
    AUTO(arena) struct arena a = {0};
    struct project_files now;
    AUTO(project_reading) struct project_reading r = project_reading_begin(&a, place, &now);
    struct word_list words = {0};

    if (r.fd < 0)
        return changed(place->dir);
    TRY(check_known(&r, then));
    project_words_begin(&r);
    hook_words_add(&words, &a, command);
    project_words_add(&r, &words);
    for (size_t i = 0; i < now.n; i++)
        if (!project_files_find(then, now.items[i].name))
            return changed(now.items[i].name);
    return now.problem ? err_new(ERR_TOOL_DENIED, "%s", now.problem) : NULL;
}
