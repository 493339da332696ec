/* trust.c - digests of a project's own files, and a small list of those that a person has seen. */
#include "sdk/trust.h"

#include "sys/clock.h"
#include "sys/fs.h"
#include "sys/work.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

/* What can make keel do something. Whoever adds a reader of project files adds its name here. */
static const char *const watched[] = {
    ".keel/settings.json",         ".keel/settings.local.json", ".robota/settings.json",
    ".robota/settings.local.json", ".claude/settings.json",     ".mcp.json",
};

#define MAX_FILE_BYTES ((size_t)4 << 20)

/* --- digests --- */

static void add_number(struct sha256 *h, uint64_t n)
{
    sha256_add(h, str_make((const char *)&n, sizeof n));
}

/* Name and length go along, so that no two sets of files have the same digest. */
static void add_file(struct sha256 *h, const char *name, struct str content)
{
    add_number(h, strlen(name));
    sha256_add(h, str_of(name));
    add_number(h, content.n);
    sha256_add(h, content);
}

/* What a watched file holds, or that there is none. */
struct held {
    bool exists;
    struct str content;
};

static struct err *read_files(struct arena *a, const char *project_dir,
                              struct held files[ARRAY_LEN(watched)])
{
    for (size_t i = 0; i < ARRAY_LEN(watched); i++) {
        AUTO(strbuf) struct strbuf content = {0};

        strbuf_init(&content, MAX_FILE_BYTES);
        TRY(fs_read(fs_join(a, project_dir, watched[i]), &content, &files[i].exists));
        files[i].content = arena_str(a, strbuf_str(&content));
    }
    return NULL;
}

static void digest_files(struct arena *a, const struct held files[ARRAY_LEN(watched)],
                         struct trust_state *state)
{
    const char **names = ARENA_ARRAY(a, ARRAY_LEN(watched), const char *);
    unsigned char digest[SHA256_SIZE];
    struct sha256 h;

    sha256_init(&h);
    for (size_t i = 0; i < ARRAY_LEN(watched); i++) {
        if (!files[i].exists)
            continue;
        add_file(&h, watched[i], files[i].content);
        names[state->n_files++] = watched[i];
    }
    sha256_end(&h, digest);
    sha256_format_hex(digest, state->digest);
    state->files = names;
}

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
        e = err_new(ERR_VALIDATION, "it must hold an object");
    if (e)
        return err_hint(err_wrap(e, "%s", path), "remove the file, and trust your projects again");
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
        return err_hint(err_new(ERR_CONFIGURATION, "there is no place to remember trust in"),
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
                    "try again; if a keel hangs, end it");
}

/* --- asking and saying --- */

/* What was said about files with this digest. */
static struct err *find_trust(struct arena *a, struct str keel_home, const char *project_dir,
                              struct trust_state *state)
{
    struct json *list;
    struct str given;

    if (state->n_files == 0) {
        state->trust = TRUST_NOT_NEEDED;
        return NULL;
    }
    TRY(trust_list(a, keel_home, &list));
    given = json_get_text(json_get_str(list, str_of(project_dir)), "digest");
    state->trust = given.n == 0                   ? TRUST_NONE
                   : str_is(given, state->digest) ? TRUST_GIVEN
                                                  : TRUST_CHANGED;
    return NULL;
}

struct err *trust_check(struct arena *a, struct str keel_home, const char *project_dir,
                        struct trust_state *ret_state)
{
    struct held files[ARRAY_LEN(watched)];

    *ret_state = (struct trust_state){.trust = TRUST_NOT_NEEDED};
    if (!project_dir)
        return NULL;
    TRY(read_files(a, project_dir, files));
    digest_files(a, files, ret_state);
    return find_trust(a, keel_home, project_dir, ret_state);
}

static struct err *give(struct str keel_home, const char *project_dir,
                        const struct trust_state *state)
{
    AUTO(arena) struct arena a = {0};
    struct json *list, *entry = json_new(&a, JSON_OBJECT);
    char time[CLOCK_ISO_SIZE];

    TRY(trust_list(&a, keel_home, &list));
    clock_format_iso(clock_unix_ms(&clock_system), time);
    json_set_str(&a, entry, "digest", str_of(state->digest));
    json_set_str(&a, entry, "time", str_of(time));
    json_set_key(&a, list, str_of(project_dir), entry);
    return write_list(&a, keel_home, list);
}

struct err *trust_give(struct str keel_home, const char *project_dir,
                       const struct trust_state *state)
{
    AUTO(trust_lock) struct trust_lock lock = {0};

    TRY(trust_lock_take(&lock, keel_home));
    return give(keel_home, project_dir, state);
}

/* Puts back what an edit has changed. False: the file holds something else by now. */
static bool undo(struct held files[ARRAY_LEN(watched)], const struct trust_edit *edit)
{
    for (size_t i = 0; i < ARRAY_LEN(watched); i++) {
        if (strcmp(watched[i], edit->file) != 0)
            continue;
        if (!files[i].exists || !str_eq(files[i].content, edit->after))
            return false;
        files[i] = (struct held){edit->existed, edit->before};
        return true;
    }
    BUG("a file that trust does not depend on");
}

/* All files are read once: what is trusted is what was compared. */
struct err *trust_follow(struct str keel_home, const char *project_dir,
                         const struct trust_edit *edit, bool *ret_is_trusted)
{
    AUTO(arena) struct arena a = {0};
    struct trust_state before = {0}, after = {0};
    struct held files[ARRAY_LEN(watched)];

    *ret_is_trusted = false;
    TRY(read_files(&a, project_dir, files));
    digest_files(&a, files, &after);
    if (!undo(files, edit))
        return NULL;
    digest_files(&a, files, &before);
    TRY(find_trust(&a, keel_home, project_dir, &before));
    if (before.trust != TRUST_GIVEN && before.trust != TRUST_NOT_NEEDED)
        return NULL;
    TRY(give(keel_home, project_dir, &after));
    *ret_is_trusted = true;
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
