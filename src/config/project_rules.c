/* project_rules.c - adds rules to a project's own settings, and lets its trust follow. */
#include "config/project_rules.h"

#include "config/settings.h"
#include "config/trust.h"
#include "sys/auto_fd.h"
#include "sys/fs.h"
#include "sys/spot.h"

#include <errno.h>

#define DIRECTORY ".keel"
#define NAME "settings.local.json"

/* --- the file --- */

/* A repository can bring links along, and a rule must not end up in another project's settings, or
 * in those for all projects. */
static struct err *link_error(const char *path)
{
    return err_hint(
        err_new(ERR_STORAGE, "%s is a symbolic link", path),
        "keel saves rules only inside the project: replace the link by a file or directory");
}

/* Held open: the file that is read is the one that is replaced. */
static struct err *open_directory(struct arena *a, const char *project_dir, struct spot *ret_spot)
{
    const char *directory = fs_join(a, project_dir, DIRECTORY);
    AUTO_FD project = open(project_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd;

    if (project < 0)
        return err_errno(ERR_STORAGE, errno, "cannot open %s", project_dir);
    if (mkdirat(project, DIRECTORY, 0755) < 0 && errno != EEXIST)
        return err_errno(ERR_STORAGE, errno, "cannot create the directory %s", directory);
    fd = openat(project, DIRECTORY, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOTDIR || errno == ELOOP
                   ? link_error(directory)
                   : err_errno(ERR_STORAGE, errno, "cannot open %s", directory);
    *ret_spot = (struct spot){.shown = fs_join(a, directory, NAME), .name = NAME, .dir_fd = fd};
    return NULL;
}

static struct err *read_tree(struct arena *a, const struct spot *p, struct trust_edit *edit,
                             struct json **ret_tree)
{
    AUTO(strbuf) struct strbuf text;
    AUTO_FD fd = openat(p->dir_fd, p->name, FS_READ_FLAGS | O_NOFOLLOW);

    strbuf_init(&text, PROJECT_MAX_SETTINGS_BYTES);
    edit->existed = fd >= 0;
    if (fd < 0 && errno == ELOOP)
        return link_error(p->shown);
    if (fd < 0 && errno != ENOENT)
        return fs_open_error(errno, p->shown);
    if (fd >= 0)
        TRY(fs_read_fd(fd, p->shown, &text));
    edit->before = arena_str(a, strbuf_str(&text));
    if (edit->existed)
        return settings_parse_file(a, edit->before, p->shown, ret_tree);
    *ret_tree = json_new(a, JSON_OBJECT);
    return NULL;
}

static struct json *member(struct arena *a, struct json *object, const char *name,
                           enum json_type type)
{
    if (!json_has(object, name))
        json_set(a, object, name, json_new(a, type));
    return json_get(object, name);
}

static bool has_text(const struct json *list, struct str text)
{
    json_each (element, list)
        if (str_eq(json_str(element), text))
            return true;
    return false;
}

static struct err *write_tree(struct arena *a, const struct spot *p, const struct json *tree,
                              struct trust_edit *edit)
{
    AUTO(strbuf) struct strbuf text;

    strbuf_init(&text, PROJECT_MAX_SETTINGS_BYTES);
    json_write_pretty(&text, tree);
    strbuf_add_char(&text, '\n');
    TRY(strbuf_check(&text, p->shown));
    edit->after = arena_str(a, strbuf_str(&text));
    return fs_write_atomic_at(p, edit->after, 0600);
}

/* --- all of it --- */

/* Under the lock. */
static struct err *add(struct arena *a, const struct project_place *place, struct str rule,
                       struct kept_rule *ret_kept)
{
    AUTO(spot) struct spot spot = SPOT_NONE;
    struct str keel_home = str_of(place->keel_home);
    struct trust_edit edit = {.file = DIRECTORY "/" NAME};
    struct project_files files;
    struct trust_state state;
    struct json *tree, *allow;
    bool is_there;

    TRY(open_directory(a, place->dir, &spot));
    TRY(read_tree(a, &spot, &edit, &tree));
    allow = member(a, member(a, tree, "permissions", JSON_OBJECT), "allow", JSON_ARRAY);
    is_there = has_text(allow, rule);
    if (!is_there) {
        json_push(allow, json_new_str(a, rule));
        TRY(write_tree(a, &spot, tree, &edit));
    }
    project_files_read(a, place, &files);
    if (!is_there)
        return trust_follow(keel_home, place->dir, &edit, &files, &ret_kept->is_used);
    TRY(trust_check(a, keel_home, place->dir, &files, &state));
    ret_kept->is_used = state.trust == TRUST_GIVEN;
    return NULL;
}

struct err *project_rules_allow(struct arena *a, const struct project_place *place, struct str rule,
                                struct kept_rule *ret_kept)
{
    AUTO(trust_lock) struct trust_lock lock = {0};
    struct err *e;

    *ret_kept = (struct kept_rule){.file = str_of(fs_join(a, place->dir, DIRECTORY "/" NAME))};
    TRY(trust_lock_take(&lock, str_of(place->keel_home)));
    e = add(a, place, rule, ret_kept);
    return e ? err_wrap(e, "cannot save the rule %" STR_FMT " for the project", STR_ARG(rule))
             : NULL;
}
