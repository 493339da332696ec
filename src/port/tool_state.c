/* tool_state.c - a small map of JSON values, and the attachments of tools. */
#include "port/tool_state.h"

#include "base/quoted.h"
#include "sys/env.h"

/* A value lives in an arena of its own, so that setting it again gives its memory back; or others
 * hold it, too. */
struct state_value {
    enum state_key kind;
    struct str key;  /* on the heap; what a model names may hold a NUL */
    struct str name; /* in the key */
    struct arena arena;
    struct shared_json *shared; /* NULL: the arena has the value */
    const struct json *value;   /* NULL: removed; the place is kept for the order */
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

static void forget_value(struct state_value *v)
{
    shared_json_unref(v->shared);
    arena_done(&v->arena);
    v->shared = NULL;
    v->value = NULL;
}

static void state_value_done(struct state_value *v)
{
    forget_value(v);
    mem_free((char *)v->key.p);
}

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
    for (size_t i = 0; i < s->n_values; i++)
        state_value_done(&s->values[i]);
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

static struct state_value *find(const struct tool_state *s, enum state_key kind, struct str name)
{
    for (size_t i = 0; i < s->n_values; i++)
        if (s->values[i].kind == kind && str_eq(name, s->values[i].name))
            return &s->values[i];
    return NULL;
}

/* The name of a key that is not in the table is all of it, so that there is one of each, too. */
static enum state_key read_key(struct str key, struct str *ret_name)
{
    enum state_key kind = state_key_find(key, ret_name);

    if (kind == STATE_N_KEYS)
        *ret_name = key;
    return kind;
}

static struct state_value *add(struct tool_state *s, struct str key)
{
    struct state_value v = {.key = str_make(str_dup(key), key.n)};

    v.kind = read_key(v.key, &v.name);
    if (s->n_values == s->room) {
        s->room = MAX(s->room * 2, (size_t)8);
        s->values = mem_resize(s->values, s->room * sizeof *s->values);
    }
    s->values[s->n_values] = v;
    return &s->values[s->n_values++];
}

/* The root's for what a person says; else the state itself. */
static struct tool_state *keeper_of(const struct tool_state *s, enum state_key kind)
{
    const struct tool_state *own = s;

    if (!(state_key_flags(kind) & STATE_OF_PERSON))
        return (struct tool_state *)s;
    while (own->base)
        own = own->base;
    return own->root ? own->root : (struct tool_state *)s;
}

const struct json *tool_state_get(const struct tool_state *s, enum state_key kind, struct str name)
{
    const struct state_value *v;

    s = keeper_of(s, kind);
    v = find(s, kind, name);
    if (!v && s->base)
        return tool_state_get(s->base, kind, name);
    return v ? v->value : NULL;
}

/* Copied first: the new value may be made of the old one. `shared` NULL: only this state holds it.
 */
static void apply(struct tool_state *s, struct str key, const struct json *value,
                  struct shared_json *shared)
{
    struct str name;
    enum state_key kind = read_key(key, &name);
    struct state_value *v = find(s, kind, name);
    struct arena fresh = {0};
    struct shared_json *held = shared ? shared_json_ref(shared) : NULL;
    const struct json *now = held ? held->value : value ? json_copy(&fresh, value) : NULL;

    if (!v && !value && !s->base)
        return;
    if (!v)
        v = add(s, key);
    forget_value(v);
    v->arena = fresh;
    v->shared = held;
    v->value = now;
}

void tool_state_restore(struct tool_state *s, struct str key, const struct json *value)
{
    apply(s, key, value, NULL);
}

static void set(struct tool_state *s, enum state_key kind, struct str key, struct str name,
                const struct json *value, struct shared_json *shared)
{
    s = keeper_of(s, kind);
    if (s->is_accepted) {
        set(s->base, kind, key, name, value, shared);
        return;
    }
    if (!value && !tool_state_get(s, kind, name))
        return;
    if (s->listener.on_change)
        s->listener.on_change(s->listener.self, key, value);
    apply(s, key, value, shared);
}

void tool_state_set(struct tool_state *s, enum state_key kind, struct str name,
                    const struct json *value)
{
    AUTO(arena) struct arena a = {0};

    set(s, kind, state_key_text(&a, kind, name), name, value, NULL);
}

void tool_state_share(struct tool_state *s, enum state_key kind, struct str name,
                      struct shared_json *value)
{
    AUTO(arena) struct arena a = {0};
    struct str key = state_key_text(&a, kind, name);
    const struct json *now = tool_state_get(s, kind, name);

    if (now && json_equal(now, value->value))
        apply(keeper_of(s, kind), key, value->value, value);
    else
        set(s, kind, key, name, value->value, value);
}

void tool_state_accept(struct tool_state *draft)
{
    for (size_t i = 0; i < draft->n_values; i++) {
        struct state_value *v = &draft->values[i];

        set(draft->base, v->kind, v->key, v->name, v->value, v->shared);
        state_value_done(v);
    }
    draft->n_values = 0;
    draft->is_accepted = true;
}

/* Of a draft those of its base come first. */
static const struct state_value *value_at(const struct tool_state *s, size_t at)
{
    static const struct state_value none;
    size_t n_base = s->base ? s->base->n_values : 0;
    const struct state_value *v;

    if (at >= n_base)
        return at - n_base < s->n_values ? &s->values[at - n_base] : NULL;
    v = &s->base->values[at];
    return find(s, v->kind, v->name) ? &none : v;
}

static bool next(const struct tool_state *s, enum state_key kind, bool takes_all, size_t *at,
                 struct state_entry *ret_entry)
{
    const struct state_value *v;

    while ((v = value_at(s, *at))) {
        ++*at;
        if (!v->value || (v->kind != kind && !takes_all))
            continue;
        *ret_entry = (struct state_entry){v->kind, v->key, v->name, v->value};
        return true;
    }
    return false;
}

bool tool_state_next(const struct tool_state *s, enum state_key kind, size_t *at,
                     struct state_entry *ret_entry)
{
    return next(keeper_of(s, kind), kind, /* takes_all= */ false, at, ret_entry);
}

bool tool_state_walk(const struct tool_state *s, size_t *at, struct state_entry *ret_entry)
{
    return next(s, STATE_N_KEYS, /* takes_all= */ true, at, ret_entry);
}

void tool_state_clear(struct tool_state *s, enum state_key kind)
{
    struct state_entry x;

    for (size_t at = 0; tool_state_next(s, kind, &at, &x);)
        set(s, kind, x.key, x.name, NULL, NULL);
}

struct str tool_state_text(const struct tool_state *s, enum state_key kind)
{
    return json_str(tool_state_get(s, kind, STATE_UNNAMED));
}

void tool_state_set_text(struct tool_state *s, enum state_key kind, struct str text)
{
    AUTO(arena) struct arena a = {0};

    tool_state_set(s, kind, STATE_UNNAMED, json_new_str(&a, text));
}

bool tool_state_has(const struct tool_state *s, enum state_key kind, struct str name)
{
    return tool_state_get(s, kind, name) != NULL;
}

void tool_state_set_flag(struct tool_state *s, enum state_key kind, struct str name)
{
    AUTO(arena) struct arena a = {0};

    tool_state_set(s, kind, name, json_new_bool(&a, true));
}

void tool_state_rewind(struct tool_state *s, const struct tool_state *then)
{
    struct state_entry x;

    for (size_t at = 0; tool_state_walk(s, &at, &x);)
        if (!(state_key_flags(x.kind) & STATE_STAYS) && !tool_state_get(then, x.kind, x.name))
            set(s, x.kind, x.key, x.name, NULL, NULL);
    for (size_t at = 0; tool_state_walk(then, &at, &x);) {
        const struct json *now = tool_state_get(s, x.kind, x.name);

        if (!(state_key_flags(x.kind) & STATE_STAYS) && !(now && json_equal(now, x.value)))
            set(s, x.kind, x.key, x.name, x.value, NULL);
    }
}

/* --- paths --- */

const char *tool_state_cwd(const struct tool_state *s)
{
    struct str cwd = tool_state_text(s, STATE_CWD);

    return str_starts(cwd, S("/")) ? cwd.p : s->workspace; /* a log may say anything */
}

const char *tool_state_workspace(const struct tool_state *s)
{
    return s->workspace;
}

void tool_state_set_cwd(struct tool_state *s, const char *absolute_path)
{
    tool_state_set_text(s, STATE_CWD, str_of(absolute_path));
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
