/* settings.c - loads the layers, merges them, remembers who said what. */
#include "config/settings.h"

#include "config/project_files.h"
#include "config/settings_check.h"
#include "sandbox/guard/guard.h"
#include "sys/env.h"
#include "sys/fs.h"

#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILE PROJECT_MAX_SETTINGS_BYTES

struct settings {
    struct arena arena;
    const char *const *environment;
    struct json *layers[N_LAYERS]; /* NULL: nothing was said */
    struct str files[N_LAYERS];
    struct json *untrusted[N_LAYERS]; /* all of a layer of which only a part may be used */
    struct str ignored[N_LAYERS];
    struct json *merged;
    struct str *warnings;
    size_t n_warnings, warnings_room;
};

static const struct {
    const char *name;
    const char *file; /* below its directory */
    enum { IN_PROJECT, IN_HOME, IN_KEEL_HOME } where;
    bool is_foreign; /* written for another program: its mistakes are not ours to judge */
} layers[] = {
    [LAYER_FLAGS] = {"command line"},
    [LAYER_LOCAL] = {"project, local", ".keel/settings.local.json", IN_PROJECT},
    [LAYER_PROJECT] = {"project", ".keel/settings.json", IN_PROJECT},
    [LAYER_ROBOTA_LOCAL] = {"project, local (robota)", ".robota/settings.local.json", IN_PROJECT,
                            true},
    [LAYER_ROBOTA] = {"project (robota)", ".robota/settings.json", IN_PROJECT, true},
    [LAYER_CLAUDE_LOCAL] = {"project, local (claude)", ".claude/settings.local.json", IN_PROJECT,
                            true},
    [LAYER_CLAUDE] = {"project (claude)", ".claude/settings.json", IN_PROJECT, true},
    [LAYER_USER] = {"user", "settings.json", IN_KEEL_HOME},
    [LAYER_ROBOTA_USER] = {"user (robota)", ".robota/settings.json", IN_HOME, true},
    [LAYER_CLAUDE_USER] = {"user (claude)", ".claude/settings.json", IN_HOME, true},
};

const char *layer_name(enum layer l)
{
    return layers[l].name;
}

bool layer_is_foreign(enum layer l)
{
    return layers[l].is_foreign;
}

bool layer_is_robota(enum layer l)
{
    return l == LAYER_ROBOTA_LOCAL || l == LAYER_ROBOTA || l == LAYER_ROBOTA_USER;
}

bool layer_is_project(enum layer l)
{
    return l != LAYER_FLAGS && layers[l].where == IN_PROJECT;
}

static void warn(struct settings *s, struct str text)
{
    s->warnings =
        arena_grow(&s->arena, s->warnings, s->n_warnings, &s->warnings_room, sizeof *s->warnings);
    s->warnings[s->n_warnings++] = text;
}

/* --- merging --- */

static bool adds_up(const char *path)
{
    const struct setting_key *key = setting_key_find(str_of(path));

    return key && key->merge == MERGE_ADD;
}

static struct json *merge_at(struct arena *a, struct json *under, const struct json *over,
                             const char *path)
{
    if (!under)
        return json_copy(a, over);
    if (under->type == JSON_OBJECT && over->type == JSON_OBJECT) {
        json_each (member, over) {
            struct str below =
                arena_format(a, "%s%s%" STR_FMT, path, *path ? "." : "", STR_ARG(member->key));
            struct json *old = json_get_str(under, member->key);
            struct json *merged = merge_at(a, old, member, below.p);

            if (merged != old)
                json_set_key(a, under, member->key, merged);
        }
        return under;
    }
    if (under->type == JSON_ARRAY && over->type == JSON_ARRAY && adds_up(path)) {
        json_each (element, over)
            json_push(under, json_copy(a, element));
        return under;
    }
    return json_copy(a, over);
}

struct json *settings_merge(struct arena *a, struct json *under, const struct json *over)
{
    return merge_at(a, under, over, "");
}

/* --- loading --- */

static struct err *parse(struct arena *a, struct str text, const char *file,
                         enum settings_origin origin, struct json **ret_tree)
{
    struct err *e = json_parse(a, arena_str(a, text), JSON_UNIQUE_KEYS, ret_tree);

    if (e)
        return err_hint(err_wrap(e, "%s", file),
                        strcmp(file, "--settings") == 0
                            ? "pass a JSON object, or the path of a file"
                            : "correct the file, or move it out of the way");
    return settings_check(*ret_tree, file, origin);
}

struct err *settings_parse_file(struct arena *a, struct str text, const char *file,
                                struct json **ret_tree)
{
    return parse(a, text, file, SETTINGS_OWN, ret_tree);
}

struct err *settings_parse_flag(struct arena *a, struct str text, const char *file,
                                struct json **ret_tree)
{
    return parse(a, text, file, SETTINGS_FLAGS, ret_tree);
}

static const char *directory_of(struct arena *a, const struct settings_sources *sources,
                                enum layer l)
{
    switch (layers[l].where) {
    case IN_PROJECT:
        return sources->project_dir;
    case IN_HOME:
        return sources->home;
    case IN_KEEL_HOME:
        if (sources->keel_home || !sources->home)
            return sources->keel_home;
        return fs_join(a, sources->home, ".keel");
    }
    BUG("where");
}

static unsigned source_of(enum layer l)
{
    return (layer_is_project(l) ? FROM_PROJECT : 0) | (layer_is_foreign(l) ? FROM_OTHERS : 0) |
           (layer_is_foreign(l) && !layer_is_robota(l) ? FROM_CLAUDE : 0);
}

/* What is for another program, or not for a file of this kind to say, counts for nobody. */
static struct err *keep_settable(struct settings *s, enum layer l, const char *file)
{
    AUTO(strbuf) struct strbuf ignored = {0};

    s->layers[l] = settings_part(&s->arena, s->layers[l], source_of(l), &ignored);
    s->ignored[l] = arena_str(&s->arena, strbuf_str(&ignored));
    if (layer_is_foreign(l))
        return settings_check(s->layers[l], file, SETTINGS_OWN);
    if (ignored.n)
        warn(s, arena_format(&s->arena,
                             "%s: these settings are ignored, because only your own files can "
                             "set them: %s",
                             file, strbuf_cstr(&ignored)));
    return NULL;
}

/* A project's files are the words of whoever wrote the repository. */
static void keep_trusted(struct settings *s, enum layer l, const char *file)
{
    AUTO(strbuf) struct strbuf left_out = {0};

    s->untrusted[l] = s->layers[l];
    s->layers[l] = settings_part(&s->arena, s->layers[l], FROM_UNTRUSTED, &left_out);
    if (left_out.n)
        warn(
            s,
            arena_format(
                &s->arena,
                "%s: this directory is not trusted (keel trust), so these settings are ignored: %s",
                file, strbuf_cstr(&left_out)));
}

/* A command in a sandbox that starts keel does not see the person's settings. */
static struct err *hint_at_home(struct err *take_error, const struct settings_sources *sources)
{
    if (!env_find(sources->environment, GUARD_NESTED))
        return err_hint(take_error, "make it a file that you can read, or move it out of the way");
    return err_hint(take_error, "keel runs in a sandbox that hides the settings: set KEEL_HOME to "
                                "a directory in the workspace");
}

/* Of a project's file the bytes that its trust was decided by. */
static struct err *read_layer(const struct settings_sources *sources, enum layer l,
                              const char *file, struct strbuf *text, bool *ret_exists)
{
    const struct project_file *f;

    if (!layer_is_project(l)) {
        struct err *e = fs_read(file, text, ret_exists);

        return e ? hint_at_home(e, sources) : NULL;
    }
    f = sources->project ? project_files_find(sources->project, layers[l].file) : NULL;
    *ret_exists = f != NULL;
    if (f && f->problem)
        return err_hint(err_new(ERR_VALIDATION, "%s: %s", sources->project_dir, f->problem),
                        "make it a file that you can read, or remove it");
    if (f)
        strbuf_add(text, f->content);
    return NULL;
}

static struct err *load_layer(struct settings *s, const struct settings_sources *sources,
                              enum layer l)
{
    AUTO(strbuf) struct strbuf text;
    const char *dir = directory_of(&s->arena, sources, l), *file;
    bool exists = false;
    struct err *e;

    strbuf_init(&text, MAX_FILE);
    if (!dir)
        return NULL;
    file = fs_join(&s->arena, dir, layers[l].file);
    e = read_layer(sources, l, file, &text, &exists);
    if (!e && !exists)
        return NULL;
    if (e)
        e->kind = ERR_VALIDATION; /* a directory, or not to be read: the file is at fault */
    else
        e = parse(&s->arena, strbuf_str(&text), file,
                  layers[l].is_foreign ? SETTINGS_FOREIGN : SETTINGS_OWN, &s->layers[l]);
    if (!e)
        e = keep_settable(s, l, file);
    if (e && layers[l].is_foreign) {
        AUTO_FREE char *message = err_message(e);

        warn(s, arena_format(&s->arena, "%s (file ignored)", message));
        s->layers[l] = NULL;
        err_ignore(e, "told as a warning");
        return NULL;
    }
    if (e && sources->on_broken) {
        sources->on_broken(sources->self, e);
        s->layers[l] = NULL;
        err_ignore(e, "it was told");
        return NULL;
    }
    if (e)
        return e;
    s->files[l] = str_of(file);
    if (layer_is_project(l) && !sources->project_is_trusted)
        keep_trusted(s, l, file);
    return NULL;
}

/* Is any file of the project wanted? */
static bool uses_project(const struct settings_sources *sources)
{
    for (int l = 0; l < N_LAYERS; l++)
        if (layer_is_project((enum layer)l) && !(sources->skipped & 1u << l))
            return true;
    return false;
}

static void load_flags(struct settings *s, const struct json *flags)
{
    AUTO(strbuf) struct strbuf unknown = {0};

    s->layers[LAYER_FLAGS] = settings_part(&s->arena, flags, 0, &unknown);
    if (unknown.n)
        warn(s, arena_format(&s->arena, "--settings: unknown settings ignored: %s",
                             strbuf_cstr(&unknown)));
}

static struct err *load(struct settings *s, const struct settings_sources *sources)
{
    s->merged = json_new(&s->arena, JSON_OBJECT);
    if (sources->trust_note.n && uses_project(sources))
        warn(s, arena_str(&s->arena, sources->trust_note));
    if (sources->flags)
        load_flags(s, sources->flags);
    for (int l = LAYER_LOCAL; l < N_LAYERS; l++)
        if (!(sources->skipped & 1u << l))
            TRY(load_layer(s, sources, (enum layer)l));
    for (int l = N_LAYERS - 1; l >= 0; l--) {
        if (s->untrusted[l])
            settings_narrow(&s->arena, s->merged, s->layers[l]);
        if (s->layers[l])
            s->merged = settings_merge(&s->arena, s->merged, s->layers[l]);
    }
    return NULL;
}

struct err *settings_load(const struct settings_sources *sources, struct settings **ret_settings)
{
    AUTO(settings) struct settings *s = mem_alloc(sizeof *s);

    s->environment = sources->environment ? sources->environment : (const char *const *)environ;
    TRY(load(s, sources));
    *ret_settings = TAKE(s);
    return NULL;
}

void settings_free(struct settings *s)
{
    if (!s)
        return;
    arena_done(&s->arena);
    mem_free(s);
}

/* --- reading --- */

/* Cuts the next name off a path, without its quotes. */
static bool next_name(struct str *rest, struct str *ret_name)
{
    if (!str_starts(*rest, S("\"")))
        return str_split(rest, '.', ret_name);
    *rest = str_skip(*rest, 1);
    str_split(rest, '"', ret_name);
    *rest = rest->n ? str_skip(*rest, 1) : (struct str){0};
    return true;
}

static const struct json *walk(const struct json *at, const char *path)
{
    struct str rest = str_of(path), name;

    while (at && next_name(&rest, &name))
        at = json_get_str(at, name);
    return at;
}

const struct json *settings_root(const struct settings *s)
{
    return s->merged;
}

const struct json *settings_get(const struct settings *s, const char *path)
{
    return walk(s->merged, path);
}

struct str settings_text(const struct settings *s, const char *path, struct arena *a)
{
    struct str text = json_str(settings_get(s, path));

    if (env_is_reference(text))
        text = env_resolve(text, s->environment);
    return text.n ? arena_str(a, text) : (struct str){0};
}

int64_t settings_int(const struct settings *s, const char *path, int64_t otherwise)
{
    return json_int_or(settings_get(s, path), otherwise);
}

bool settings_bool(const struct settings *s, const char *path, bool otherwise)
{
    return json_bool(settings_get(s, path), otherwise);
}

const struct json *settings_layer(const struct settings *s, enum layer l, struct str *ret_file)
{
    *ret_file = s->files[l].n ? s->files[l] : str_of(layers[l].name);
    return s->layers[l];
}

struct str settings_ignored(const struct settings *s, enum layer l)
{
    return s->ignored[l];
}

const struct json *settings_untrusted(const struct settings *s, enum layer l)
{
    return s->untrusted[l];
}

bool settings_next_origin(const struct settings *s, const char *path, size_t *at,
                          struct setting_origin *ret_origin)
{
    while (*at < N_LAYERS) {
        enum layer l = (enum layer)(*at)++;

        if (walk(s->layers[l], path)) {
            *ret_origin = (struct setting_origin){l, s->files[l], true};
            return true;
        }
    }
    return false;
}

struct setting_origin settings_origin(const struct settings *s, const char *path)
{
    struct setting_origin origin = {0};
    size_t at = 0;

    settings_next_origin(s, path, &at, &origin);
    return origin;
}

size_t settings_n_warnings(const struct settings *s)
{
    return s->n_warnings;
}

struct str settings_warning(const struct settings *s, size_t index)
{
    return s->warnings[index];
}
