/* tool_state.c - a small map of JSON values, and the attachments of tools. */
#include "port/tool_state.h"

#include "base/quoted.h"
#include "sys/env.h"

/* A value lives in an arena of its own, so that setting it again gives its memory back. */
struct state_value {
    struct str key; /* on the heap; what a model names may hold a NUL */
    struct arena arena;
    struct json *value; /* NULL: removed; the place is kept for the order */
};

struct attachment {
    const void *owner;
    void *block;
    void (*done)(void *block);
    struct attachment *next;
};

struct tool_state {
    struct tool_state *base; /* of a draft; else NULL */
    bool is_accepted;
    struct tool_state *root; /* keeps what a person says; NULL: this one does */
    struct state_value *values;
    size_t n_values, room;
    char *workspace;
    struct attachment *attachments;
    struct state_listener listener;
    struct group *tasks;
};

struct tool_state *tool_state_new(struct str cwd)
{
    struct tool_state *s = mem_alloc(sizeof *s);

    s->workspace = str_dup(cwd);
    tool_state_set_cwd(s, s->workspace);
    return s;
}

struct tool_state *tool_state_draft(struct tool_state *base)
{
    struct tool_state *s = mem_alloc(sizeof *s);

    *s = (struct tool_state){.base = base, .workspace = str_dup(str_of(base->workspace))};
    return s;
}

void tool_state_free(struct tool_state *s)
{
    if (!s)
        return;
    while (s->attachments) {
        struct attachment *a = s->attachments;

        s->attachments = a->next;
        if (a->done)
            a->done(a->block);
        mem_free(a->block);
        mem_free(a);
    }
    for (size_t i = 0; i < s->n_values; i++) {
        mem_free((char *)s->values[i].key.p);
        arena_done(&s->values[i].arena);
    }
    mem_free(s->values);
    mem_free(s->workspace);
    mem_free(s);
}

void tool_state_set_root(struct tool_state *s, struct tool_state *root)
{
    s->root = root->root ? root->root : root;
}

void tool_state_listen(struct tool_state *s, struct state_listener listener)
{
    s->listener = listener;
}

/* --- the map --- */

static struct state_value *find(const struct tool_state *s, struct str key)
{
    for (size_t i = 0; i < s->n_values; i++)
        if (str_eq(key, s->values[i].key))
            return &s->values[i];
    return NULL;
}

static struct state_value *add(struct tool_state *s, struct str key)
{
    if (s->n_values == s->room) {
        s->room = MAX(s->room * 2, (size_t)8);
        s->values = mem_resize(s->values, s->room * sizeof *s->values);
    }
    s->values[s->n_values] = (struct state_value){.key = str_make(str_dup(key), key.n)};
    return &s->values[s->n_values++];
}

/* The session that keeps what a person says, for such a key; else the session itself. */
static struct tool_state *keeper_of(const struct tool_state *s, struct str key)
{
    const struct tool_state *own = s;

    if (!str_starts(key, S("allow:")) && !str_starts(key, S("typed:")))
        return (struct tool_state *)s;
    while (own->base)
        own = own->base;
    return own->root ? own->root : (struct tool_state *)s;
}

const struct json *tool_state_get(const struct tool_state *s, struct str key)
{
    const struct state_value *v;

    s = keeper_of(s, key);
    v = find(s, key);
    if (!v && s->base)
        return tool_state_get(s->base, key);
    return v ? v->value : NULL;
}

void tool_state_restore(struct tool_state *s, struct str key, const struct json *value)
{
    struct state_value *v = find(s, key);
    struct arena fresh = {0};

    if (!v && !value && !s->base)
        return;
    if (!v)
        v = add(s, key);
    /* Copied first: the new value may be made of the old one. */
    v->value = value ? json_copy(&fresh, value) : NULL;
    arena_done(&v->arena);
    v->arena = fresh;
}

void tool_state_set(struct tool_state *s, struct str key, const struct json *value)
{
    s = keeper_of(s, key);
    if (s->is_accepted) {
        tool_state_set(s->base, key, value);
        return;
    }
    if (!value && !tool_state_get(s, key))
        return;
    if (s->listener.on_change)
        s->listener.on_change(s->listener.self, key, value);
    tool_state_restore(s, key, value);
}

void tool_state_accept(struct tool_state *draft)
{
    for (size_t i = 0; i < draft->n_values; i++) {
        tool_state_set(draft->base, draft->values[i].key, draft->values[i].value);
        mem_free((char *)draft->values[i].key.p);
        arena_done(&draft->values[i].arena);
    }
    draft->n_values = 0;
    draft->is_accepted = true;
}

/* Of a draft those of its base come first. */
static const struct state_value *value_at(const struct tool_state *s, size_t at)
{
    static const struct state_value none;
    size_t n_base = s->base ? s->base->n_values : 0;

    if (at >= n_base)
        return at - n_base < s->n_values ? &s->values[at - n_base] : NULL;
    return find(s, s->base->values[at].key) ? &none : &s->base->values[at];
}

bool tool_state_next(const struct tool_state *s, struct str prefix, size_t *at, struct str *ret_key,
                     const struct json **ret_value)
{
    const struct state_value *v;

    s = keeper_of(s, prefix);
    for (; (v = value_at(s, *at)); (*at)++) {
        if (!v->value || !str_starts(v->key, prefix))
            continue;
        *ret_key = v->key;
        *ret_value = v->value;
        (*at)++;
        return true;
    }
    return false;
}

/* --- paths --- */

const char *tool_state_cwd(const struct tool_state *s)
{
    struct str cwd = json_str(tool_state_get(s, S("cwd")));

    return str_starts(cwd, S("/")) ? cwd.p : s->workspace; /* a log may say anything */
}

const char *tool_state_workspace(const struct tool_state *s)
{
    return s->workspace;
}

void tool_state_set_cwd(struct tool_state *s, const char *absolute_path)
{
    AUTO(arena) struct arena a = {0};

    tool_state_set(s, S("cwd"), json_new_str(&a, str_of(absolute_path)));
}

/* Appends the components of `path` to `out`, which holds "" or "/a/b". */
static void add_components(struct strbuf *out, struct str path)
{
    struct str part;

    while (str_split(&path, '/', &part)) {
        if (part.n == 0 || str_is(part, "."))
            continue;
        if (str_is(part, "..")) {
            size_t slash = str_rfind_char(strbuf_str(out), '/');

            strbuf_cut(out, slash == STR_NONE ? 0 : slash);
            continue;
        }
        strbuf_add_char(out, '/');
        strbuf_add(out, part);
    }
}

const char *tool_state_path(const struct tool_state *s, struct arena *a,
                            const char *const *environment, struct str given)
{
    AUTO(strbuf) struct strbuf path = {0};
    struct str home = env_get(environment, S("HOME"));

    if (home.n && (str_is(given, "~") || str_starts(given, S("~/")))) {
        add_components(&path, home);
        given = str_skip(given, 1);
    } else if (!str_starts(given, S("/"))) {
        add_components(&path, str_of(tool_state_cwd(s)));
    }
    add_components(&path, given);
    return path.n ? arena_cstr(a, strbuf_str(&path)) : "/";
}

const char *tool_state_named(const struct tool_state *s, struct arena *a,
                             const char *const *environment, struct str text)
{
    AUTO(strbuf) struct strbuf path = {0};

    return tool_state_path(s, a, environment, quoted_read(&path, text) ? strbuf_str(&path) : text);
}

/* --- what hangs on it --- */

void *tool_state_attachment(struct tool_state *s, const void *owner, size_t size,
                            void (*done)(void *block))
{
    struct attachment *a;

    if (s->base)
        return tool_state_attachment(s->base, owner, size, done);
    for (a = s->attachments; a; a = a->next)
        if (a->owner == owner)
            return a->block;
    a = mem_alloc(sizeof *a);
    *a = (struct attachment){
        .owner = owner, .block = mem_alloc(size), .done = done, .next = s->attachments};
    s->attachments = a;
    return a->block;
}

void tool_state_set_tasks(struct tool_state *s, struct group *tasks)
{
    s->tasks = tasks;
}

struct group *tool_state_tasks(const struct tool_state *s)
{
    return s->tasks;
}
