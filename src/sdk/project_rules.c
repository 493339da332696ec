/* project_rules.c - adds rules to a project's own settings, and lets its trust follow. */
#include "sdk/project_rules.h"

#include "sdk/settings.h"
#include "sdk/trust.h"
#include "sys/fs.h"

#include <sys/stat.h>

#define DIRECTORY ".keel"
#define FILE_NAME DIRECTORY "/settings.local.json"
#define MAX_FILE_BYTES ((size_t)4 << 20) /* what settings and trust read */

/* --- the file --- */

/* A repository can bring links along, and a rule must not end up in another project's settings, or
 * in those for all projects. */
static struct err *refuse_link(const char *path)
{
    struct stat st;

    if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
        return err_hint(err_new(ERR_STORAGE, "%s is a link", path),
                        "rules are written to a file in the project itself: replace the link");
    return NULL;
}

static struct err *read_tree(struct arena *a, const char *path, struct trust_edit *edit,
                             struct json **ret_tree)
{
    AUTO(strbuf) struct strbuf text;

    strbuf_init(&text, MAX_FILE_BYTES);
    TRY(fs_read(path, &text, &edit->existed));
    edit->before = arena_str(a, strbuf_str(&text));
    if (edit->existed)
        return settings_parse_file(a, edit->before, path, ret_tree);
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

static struct err *write_tree(struct arena *a, const char *path, const struct json *tree,
                              struct trust_edit *edit)
{
    AUTO(strbuf) struct strbuf text;

    strbuf_init(&text, MAX_FILE_BYTES);
    json_write_pretty(&text, tree);
    strbuf_add_char(&text, '\n');
    TRY(strbuf_check(&text, path));
    edit->after = arena_str(a, strbuf_str(&text));
    return fs_write_atomic(path, edit->after, 0600);
}

/* --- all of it --- */

/* Under the lock. */
static struct err *add(struct arena *a, struct str keel_home, const char *project_dir,
                       struct str rule, struct kept_rule *ret_kept)
{
    const char *path = ret_kept->file.p;
    struct trust_edit edit = {.file = FILE_NAME};
    struct trust_state state;
    struct json *tree, *allow;

    TRY(read_tree(a, path, &edit, &tree));
    allow = member(a, member(a, tree, "permissions", JSON_OBJECT), "allow", JSON_ARRAY);
    if (has_text(allow, rule)) {
        TRY(trust_check(a, keel_home, project_dir, &state));
        ret_kept->is_used = state.trust == TRUST_GIVEN;
        return NULL;
    }
    json_push(allow, json_new_str(a, rule));
    TRY(write_tree(a, path, tree, &edit));
    return trust_follow(keel_home, project_dir, &edit, &ret_kept->is_used);
}

struct err *project_rules_allow(struct arena *a, struct str keel_home, const char *project_dir,
                                struct str rule, struct kept_rule *ret_kept)
{
    const char *directory = fs_join(a, project_dir, DIRECTORY);
    AUTO(trust_lock) struct trust_lock lock = {0};
    struct err *e;

    *ret_kept = (struct kept_rule){.file = str_of(fs_join(a, project_dir, FILE_NAME))};
    TRY(refuse_link(directory));
    TRY(refuse_link(ret_kept->file.p));
    TRY(trust_lock_take(&lock, keel_home));
    TRY(fs_make_dirs(directory, 0755));
    e = add(a, keel_home, project_dir, rule, ret_kept);
    return e ? err_wrap(e, "the rule %" STR_FMT " was not kept for the project", STR_ARG(rule))
             : NULL;
}
