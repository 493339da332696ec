/* trust.c - digests of a project's own files, and a small list of those that a person has seen. */
#include "sdk/trust.h"

#include "sys/clock.h"
#include "sys/fs.h"

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

static struct err *digest_files(struct arena *a, const char *project_dir, struct trust_state *state)
{
    const char **files = ARENA_ARRAY(a, ARRAY_LEN(watched), const char *);
    unsigned char digest[SHA256_SIZE];
    struct sha256 h;

    sha256_init(&h);
    for (size_t i = 0; i < ARRAY_LEN(watched); i++) {
        AUTO(strbuf) struct strbuf content = {0};
        bool exists;

        strbuf_init(&content, MAX_FILE_BYTES);
        TRY(fs_read(fs_join(a, project_dir, watched[i]), &content, &exists));
        if (!exists)
            continue;
        add_file(&h, watched[i], strbuf_str(&content));
        files[state->n_files++] = watched[i];
    }
    sha256_end(&h, digest);
    sha256_format_hex(digest, state->digest);
    state->files = files;
    return NULL;
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

/* --- asking and saying --- */

struct err *trust_check(struct arena *a, struct str keel_home, const char *project_dir,
                        struct trust_state *ret_state)
{
    struct json *list;
    struct str given;

    *ret_state = (struct trust_state){.trust = TRUST_NOT_NEEDED};
    if (!project_dir)
        return NULL;
    TRY(digest_files(a, project_dir, ret_state));
    if (ret_state->n_files == 0)
        return NULL;
    TRY(trust_list(a, keel_home, &list));
    given = json_get_text(json_get_str(list, str_of(project_dir)), "digest");
    ret_state->trust = given.n == 0                       ? TRUST_NONE
                       : str_is(given, ret_state->digest) ? TRUST_GIVEN
                                                          : TRUST_CHANGED;
    return NULL;
}

struct err *trust_give(struct str keel_home, const char *project_dir,
                       const struct trust_state *state)
{
    AUTO(arena) struct arena a = {0};
    struct json *list, *entry = json_new(&a, JSON_OBJECT);
    char time[CLOCK_ISO_SIZE];

    if (keel_home.n == 0)
        return err_hint(err_new(ERR_CONFIGURATION, "there is no place to remember trust in"),
                        "set HOME or KEEL_HOME");
    TRY(trust_list(&a, keel_home, &list));
    clock_format_iso(clock_unix_ms(&clock_system), time);
    json_set_str(&a, entry, "digest", str_of(state->digest));
    json_set_str(&a, entry, "time", str_of(time));
    json_set_key(&a, list, str_of(project_dir), entry);
    return write_list(&a, keel_home, list);
}

struct err *trust_revoke(struct str keel_home, const char *project_dir, bool *ret_was_given)
{
    AUTO(arena) struct arena a = {0};
    struct json *list;

    TRY(trust_list(&a, keel_home, &list));
    *ret_was_given = json_remove(list, str_of(project_dir));
    return *ret_was_given ? write_list(&a, keel_home, list) : NULL;
}
