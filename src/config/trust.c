/* trust.c - a small list of the projects that a person has seen, with a digest of each file. */
#include "config/trust.h"

#include "sys/clock.h"
#include "sys/fs.h"
#include "sys/work.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

/* --- the list --- */

static const char *list_path(struct arena *a, struct str keel_home)
{
    return fs_join(a, arena_cstr(a, keel_home), "trust.json");
}

struct err *trust_list(struct arena *a, struct str keel_home, struct json **ret_list)
{
    AUTO(strbuf) struct strbuf text = {0};
    const char *path;
    bool exists;
    struct err *e;

    *ret_list = json_new(a, JSON_OBJECT);
    if (keel_home.n == 0)
        return NULL;
    path = list_path(a, keel_home);
    TRY(fs_read(path, &text, &exists));
    if (!exists)
        return NULL;
    e = json_parse(a, arena_str(a, strbuf_str(&text)), 0, ret_list);
    if (!e && !json_is(*ret_list, JSON_OBJECT))
        e = err_new(ERR_VALIDATION, "must be a JSON object");
    if (e)
        return err_hint(err_wrap(e, "%s", path),
                        "remove the file, and trust your projects again: keel trust");
    return NULL;
}

static struct err *write_list(struct arena *a, struct str keel_home, const struct json *list)
{
    AUTO(strbuf) struct strbuf text = {0};

    json_write_pretty(&text, list);
    strbuf_add_char(&text, '\n');
    TRY(fs_make_dirs(arena_cstr(a, keel_home), 0700));
    return fs_write_atomic(list_path(a, keel_home), strbuf_str(&text), 0600);
}

/* --- one writer at a time --- */

#define LOCK_TRIES 1200
#define LOCK_PAUSE_MS 25

/* Held for the time of a few writes; one who holds it longer is stuck. */
static bool lock_fd(int fd)
{
    const struct timespec pause = {.tv_nsec = LOCK_PAUSE_MS * 1000000L};

    for (int i = 0; i < LOCK_TRIES && !work_cancelled(); i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return true;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return true; /* a file system without locks: as good as it gets there */
        nanosleep(&pause, NULL);
    }
    return false;
}

void trust_lock_done(struct trust_lock *l)
{
    if (l->is_held)
        close(l->fd);
    l->is_held = false;
}

struct err *trust_lock_take(struct trust_lock *l, struct str keel_home)
{
    AUTO(arena) struct arena a = {0};
    const char *dir = arena_cstr(&a, keel_home);

    if (keel_home.n == 0)
        return err_hint(err_new(ERR_CONFIGURATION, "cannot save trust: no home directory"),
                        "set HOME or KEEL_HOME");
    TRY(fs_make_dirs(dir, 0700));
    l->fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (l->fd < 0)
        return err_errno(ERR_STORAGE, errno, "cannot open %s", dir);
    l->is_held = true;
    if (lock_fd(l->fd))
        return NULL;
    trust_lock_done(l);
    return err_hint(err_new(ERR_STORAGE, "%s is locked by another program", dir),
                    "try again; if a keel process hangs, kill it");
}

/* --- comparing --- */

/* What the list says of a file: whether it can be run and where a link leads count as well. */
static struct str mark_of(struct arena *a, const struct project_file *f)
{
    return arena_format(a, "%s%s", f->is_link ? "link " : f->is_executable ? "x " : "", f->digest);
}

enum trust_change trust_change_of(const struct trust_state *state, const struct project_file *f)
{
    AUTO(arena) struct arena a = {0};
    struct str was = json_get_text(state->was, f->name);

    if (was.n == 0)
        return TRUST_NEW;
    return str_eq(was, mark_of(&a, f)) ? TRUST_SAME : TRUST_DIFFERENT;
}

static struct str change_reason(struct arena *a, const char *name, enum trust_change change)
{
    static const char *const words[] = {
        [TRUST_NEW] = "is new",
        [TRUST_DIFFERENT] = "has changed",
        [TRUST_GONE] = "was removed",
    };

    return arena_format(a, "%s %s since this project was trusted", name, words[change]);
}

static struct str find_change(struct arena *a, const struct project_files *files,
                              const struct trust_state *state)
{
    for (size_t i = 0; i < files->n; i++) {
        enum trust_change change = trust_change_of(state, &files->items[i]);

        if (change != TRUST_SAME)
            return change_reason(a, files->items[i].name, change);
    }
    json_each (file, state->was) {
        const char *name = arena_cstr(a, file->key);

        if (!project_files_find(files, name))
            return change_reason(a, name, TRUST_GONE);
    }
    return (struct str){0};
}

static void compare(struct arena *a, const struct project_files *files, const struct json *entry,
                    struct trust_state *state)
{
    state->was = json_get(entry, "files");
    if (files->problem) {
        state->trust = TRUST_IMPOSSIBLE;
        state->reason = arena_format(a, "this project cannot be trusted: %s", files->problem);
    } else if (files->n == 0) {
        state->trust = TRUST_NOT_NEEDED;
    } else if (!entry) {
        state->trust = TRUST_NONE;
    } else {
        state->reason = find_change(a, files, state);
        state->trust = state->reason.n ? TRUST_CHANGED : TRUST_GIVEN;
    }
}

struct err *trust_check(struct arena *a, struct str keel_home, const char *project_dir,
                        const struct project_files *files, struct trust_state *ret_state)
{
    struct json *list = NULL;

    *ret_state = (struct trust_state){.trust = TRUST_NOT_NEEDED};
    if (!project_dir)
        return NULL;
    if (files->n)
        TRY(trust_list(a, keel_home, &list));
    compare(a, files, json_get_str(list, str_of(project_dir)), ret_state);
    return NULL;
}

/* --- saying --- */

static struct json *new_entry(struct arena *a, struct json *list, const char *project_dir)
{
    struct json *entry = json_new(a, JSON_OBJECT);
    char time[CLOCK_ISO_SIZE];

    clock_format_iso(clock_unix_ms(&clock_system), time);
    json_set_str(a, entry, "time", str_of(time));
    json_set(a, entry, "files", json_new(a, JSON_OBJECT));
    json_set_key(a, list, str_of(project_dir), entry);
    return entry;
}

struct err *trust_give(struct str keel_home, const char *project_dir,
                       const struct project_files *files)
{
    AUTO(arena) struct arena a = {0};
    AUTO(trust_lock) struct trust_lock lock = {0};
    struct json *list, *trusted;

    if (files->problem)
        return err_new(ERR_VALIDATION, "%s cannot be trusted: %s", project_dir, files->problem);
    TRY(trust_lock_take(&lock, keel_home));
    TRY(trust_list(&a, keel_home, &list));
    trusted = json_get(new_entry(&a, list, project_dir), "files");
    for (size_t i = 0; i < files->n; i++)
        json_set_str(&a, trusted, files->items[i].name, mark_of(&a, &files->items[i]));
    return write_list(&a, keel_home, list);
}

/* Was the file trusted as it was before the edit? */
static bool was_trusted(const struct json *trusted, const struct trust_edit *edit)
{
    struct str mark = json_get_text(trusted, edit->file);
    char digest[SHA256_HEX_SIZE];

    if (!edit->existed)
        return mark.n == 0;
    sha256_hex(edit->before, digest);
    return str_ends(mark, str_of(digest));
}

static bool is_first_file(const struct project_files *files, const struct trust_edit *edit)
{
    return !edit->existed && files->n == 1 && strcmp(files->items[0].name, edit->file) == 0;
}

struct err *trust_follow(struct str keel_home, const char *project_dir,
                         const struct trust_edit *edit, const struct project_files *files,
                         bool *ret_is_trusted)
{
    AUTO(arena) struct arena a = {0};
    const struct project_file *now = project_files_find(files, edit->file);
    struct project_file written = {.is_executable = now && now->is_executable};
    struct trust_state after = {0};
    struct json *list, *entry, *trusted;

    *ret_is_trusted = false;
    TRY(trust_list(&a, keel_home, &list));
    entry = json_get_str(list, str_of(project_dir));
    if (is_first_file(files, edit))
        entry = new_entry(&a, list, project_dir);
    trusted = json_get(entry, "files");
    if (!trusted || (!is_first_file(files, edit) && !was_trusted(trusted, edit)))
        return NULL;
    sha256_hex(edit->after, written.digest);
    json_set_str(&a, trusted, edit->file, mark_of(&a, &written));
    TRY(write_list(&a, keel_home, list));
    compare(&a, files, entry, &after);
    *ret_is_trusted = after.trust == TRUST_GIVEN;
    return NULL;
}

struct err *trust_revoke(struct str keel_home, const char *project_dir, bool *ret_was_given)
{
    AUTO(arena) struct arena a = {0};
    AUTO(trust_lock) struct trust_lock lock = {0};
    struct json *list;

    *ret_was_given = false;
    if (keel_home.n == 0)
        return NULL;
    TRY(trust_lock_take(&lock, keel_home));
    TRY(trust_list(&a, keel_home, &list));
    *ret_was_given = json_remove(list, str_of(project_dir));
    return *ret_was_given ? write_list(&a, keel_home, list) : NULL;
}
