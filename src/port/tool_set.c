/* tool_set.c - the registry, its snapshots, and what a run may use of them. */
#include "port/tool_set.h"

struct registered {
    struct tool *tool;
    struct json *pinned;
    unsigned n_refs; /* snapshots that hold it, and the registry itself */
    struct arena arena;
};

struct tool_registry {
    struct registered **items;
    size_t n, room;
    uint64_t version;
    struct tool_set *current; /* NULL: something has changed since */
};

/* A set and, beside it, what keeps its tools alive. */
struct tool_snapshot {
    struct tool_set set;
    struct registered **held;
    struct tool_set *whole; /* of a narrowed set: the one it borrows from */
};

static void registered_unref(struct registered *r)
{
    if (--r->n_refs)
        return;
    if (r->tool->free)
        r->tool->free(r->tool);
    arena_done(&r->arena);
    mem_free(r);
}

/* --- snapshots --- */

struct tool_set *tool_set_ref(struct tool_set *s)
{
    s->n_refs++;
    return s;
}

void tool_set_unref(struct tool_set *s)
{
    struct tool_snapshot *snapshot = (struct tool_snapshot *)s;

    if (!s || --s->n_refs)
        return;
    for (size_t i = 0; i < s->n; i++) {
        schema_unref(s->entries[i].schema);
        if (snapshot->held)
            registered_unref(snapshot->held[i]);
    }
    tool_set_unref(snapshot->whole);
    arena_done(&s->arena);
    mem_free(s);
}

struct tool_entry *tool_set_find(const struct tool_set *s, struct str name)
{
    for (size_t i = 0; i < s->n; i++)
        if (str_is(name, s->entries[i].tool->name))
            return &s->entries[i];
    return NULL;
}

void tool_set_names(const struct tool_set *s, struct strbuf *out)
{
    for (size_t i = 0; i < s->n; i++)
        strbuf_addf(out, "%s%s", i ? ", " : "", s->entries[i].tool->name);
}

/* --- the registry --- */

struct tool_registry *tool_registry_new(void)
{
    return mem_alloc(sizeof(struct tool_registry));
}

static void changed(struct tool_registry *r)
{
    r->version++;
    tool_set_unref(TAKE(r->current));
}

void tool_registry_free(struct tool_registry *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->n; i++)
        registered_unref(r->items[i]);
    tool_set_unref(r->current);
    mem_free(r->items);
    mem_free(r);
}

/* Where the tool of this name is; r->n: nowhere. */
static size_t place_of(const struct tool_registry *r, struct str name)
{
    size_t i = 0;

    while (i < r->n && !str_is(name, r->items[i]->tool->name))
        i++;
    return i;
}

void tool_registry_remove(struct tool_registry *r, struct str name)
{
    size_t i = place_of(r, name);

    if (i == r->n)
        return;
    registered_unref(r->items[i]);
    memmove(&r->items[i], &r->items[i + 1], (--r->n - i) * sizeof *r->items);
    changed(r);
}

bool tool_name_is_valid(struct str name)
{
    if (name.n == 0 || name.n > TOOL_MAX_NAME)
        return false;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_' || c == '-'))
            return false;
    }
    return true;
}

/* A pinned argument that the tool does not have would make every call fail. */
static struct err *check_pinned(const struct tool *t, const struct json *schema,
                                const struct json *pinned)
{
    bool takes_others = json_bool(json_get(schema, "additionalProperties"), true);

    if (pinned && pinned->type != JSON_OBJECT)
        return err_new(ERR_VALIDATION,
                       "the pinned arguments of tool %s must be an object, not %s %s", t->name,
                       pinned->type == JSON_ARRAY ? "an" : "a", json_type_name(pinned->type));
    json_each (value, pinned)
        if (!takes_others && !json_get_str(json_get(schema, "properties"), value->key))
            return err_new(ERR_VALIDATION,
                           "the argument \"%" STR_FMT
                           "\" cannot be pinned: tool %s has no such argument",
                           STR_ARG(value->key), t->name);
    return NULL;
}

static struct err *check_tool(const struct tool *t, const struct json *pinned)
{
    AUTO(arena) struct arena a = {0};
    struct json *schema;
    struct err *e;

    if (!tool_name_is_valid(str_of(t->name)))
        return err_hint(
            err_new(ERR_VALIDATION, "\"%s\" is not a valid tool name", t->name ? t->name : ""),
            "a name has 1 to 64 letters, digits, \"_\" or \"-\"");
    e = json_parse(&a, str_of(t->schema), 0, &schema);
    if (e)
        return err_wrap(e, "the schema of tool %s is not JSON", t->name);
    if (!str_is(json_get_text(schema, "type"), "object"))
        return err_new(ERR_VALIDATION, "the schema of tool %s must have \"type\":\"object\"",
                       t->name);
    return check_pinned(t, schema, pinned);
}

static struct registered *registered_new(struct tool *take_tool, const struct json *pinned)
{
    struct registered *item = mem_alloc(sizeof *item);

    *item = (struct registered){.tool = take_tool, .n_refs = 1};
    item->pinned = pinned ? json_copy(&item->arena, pinned) : NULL;
    return item;
}

struct err *tool_registry_add(struct tool_registry *r, struct tool *take_tool,
                              const struct json *pinned)
{
    struct err *e = check_tool(take_tool, pinned);
    size_t place;

    if (e) {
        if (take_tool->free)
            take_tool->free(take_tool);
        return e;
    }
    place = place_of(r, str_of(take_tool->name));
    if (place == r->room) {
        r->room = MAX(r->room * 2, (size_t)16);
        r->items = mem_resize(r->items, r->room * sizeof(struct registered *));
    }
    if (place < r->n)
        registered_unref(r->items[place]);
    else
        r->n++;
    r->items[place] = registered_new(take_tool, pinned);
    changed(r);
    return NULL;
}

/* The schema without the arguments that are hidden or pinned. */
static struct json *visible_schema(struct arena *a, const struct tool *t, const struct json *pinned)
{
    struct json *schema = NULL, *required, *still_required;
    AUTO(err) struct err *e = json_parse(a, str_of(t->schema), 0, &schema);
    struct str hidden = str_of(t->hidden), name;

    BUG_IF(e); /* checked when it was added */
    if (!pinned && !t->hidden)
        return schema;
    schema->raw = (struct str){0};
    while (str_split(&hidden, ' ', &name))
        json_remove(json_get(schema, "properties"), name);
    if (!pinned)
        return schema;
    json_each (value, pinned)
        json_remove(json_get(schema, "properties"), value->key);
    required = json_get(schema, "required");
    still_required = json_new(a, JSON_ARRAY);
    json_each (item, required)
        if (!json_get_str(pinned, item->text))
            json_push(still_required, json_new_str(a, item->text));
    if (still_required->n)
        json_set(a, schema, "required", still_required);
    else
        json_remove(schema, S("required")); /* some APIs refuse an empty list */
    return schema;
}

static struct tool_set *make_snapshot(const struct tool_registry *r)
{
    struct tool_snapshot *s = mem_alloc(sizeof *s);

    s->set = (struct tool_set){.n_refs = 1, .version = r->version, .n = r->n};
    s->set.entries = ARENA_ARRAY(&s->set.arena, r->n, struct tool_entry);
    s->held = ARENA_ARRAY(&s->set.arena, r->n, struct registered *);
    for (size_t i = 0; i < r->n; i++) {
        struct registered *item = r->items[i];

        item->n_refs++;
        s->held[i] = item;
        s->set.entries[i] = (struct tool_entry){
            .tool = item->tool,
            .pinned = item->pinned,
            .def = {.name = str_of(item->tool->name),
                    .description = str_of(item->tool->description),
                    .input_schema = visible_schema(&s->set.arena, item->tool, item->pinned)},
        };
    }
    return &s->set;
}

struct tool_set *tool_registry_snapshot(struct tool_registry *r)
{
    if (!r->current)
        r->current = make_snapshot(r);
    return tool_set_ref(r->current);
}

/* --- filters --- */

static bool is_listed(const struct str *names, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(names[i], name) || str_is(names[i], "*"))
            return true;
    return false;
}

bool tool_filter_has(const struct tool_filter *f, struct str name)
{
    return (f->allows_all || is_listed(f->allow, f->n_allow, name)) &&
           !is_listed(f->deny, f->n_deny, name);
}

struct tool_set *tool_set_narrow(struct tool_set *whole, const struct tool_filter *f,
                                 unsigned capabilities)
{
    struct tool_snapshot *s = mem_alloc(sizeof *s);

    s->set = (struct tool_set){.n_refs = 1, .version = whole->version};
    s->set.entries = ARENA_ARRAY(&s->set.arena, whole->n, struct tool_entry);
    s->whole = tool_set_ref(whole);
    for (size_t i = 0; i < whole->n; i++) {
        const struct tool_entry *e = &whole->entries[i];

        if (!tool_filter_has(f, str_of(e->tool->name)) || (e->tool->needs & ~capabilities))
            continue;
        s->set.entries[s->set.n] = *e;
        s->set.entries[s->set.n++].schema = NULL;
    }
    return &s->set;
}

/* --- as a model was told of them --- */

static struct err *say_gone(const struct tool *t, struct tool_context *c, const struct json *args,
                            struct tool_result *r)
{
    tool_result_fail(
        r, "%s is no longer available in this session. Use another tool, or tell the person.",
        t->name);
    return NULL;
}

static struct tool *gone_tool(struct arena *a, struct str name)
{
    struct tool *t = ARENA_NEW(a, struct tool);

    *t = (struct tool){.name = arena_cstr(a, name),
                       .description = "",
                       .schema = "{\"type\":\"object\"}",
                       .risk = RISK_INSPECT,
                       .run = say_gone};
    return t;
}

static struct tool_entry told_entry(struct arena *a, const struct tool_set *now,
                                    const struct json *told)
{
    struct str name = json_get_text(told, "name");
    const struct tool_entry *known = tool_set_find(now, name);
    struct tool_entry e = known ? *known : (struct tool_entry){.tool = gone_tool(a, name)};
    const struct json *schema = json_get(told, "inputSchema");

    e.schema = NULL;
    e.def.name = str_of(e.tool->name);
    e.def.description = arena_str(a, json_get_text(told, "description"));
    e.def.input_schema = schema ? json_copy(a, schema) : NULL;
    return e;
}

struct tool_set *tool_set_as_told(struct tool_set *now, const struct json *told)
{
    struct tool_snapshot *s = mem_alloc(sizeof *s);

    s->set = (struct tool_set){.n_refs = 1, .version = now->version};
    s->set.entries = ARENA_ARRAY(&s->set.arena, told->n, struct tool_entry);
    s->whole = tool_set_ref(now);
    json_each (item, told)
        if (tool_name_is_valid(json_get_text(item, "name")))
            s->set.entries[s->set.n++] = told_entry(&s->set.arena, now, item);
    return &s->set;
}

struct json *tool_set_describe(const struct tool_set *s, struct arena *a)
{
    struct json *list = json_new(a, JSON_ARRAY);

    for (size_t i = 0; i < s->n; i++) {
        const struct tool_def *def = &s->entries[i].def;
        struct json *item = json_new(a, JSON_OBJECT);

        json_set_str(a, item, "name", arena_str(a, def->name));
        json_set_str(a, item, "description", arena_str(a, def->description));
        if (def->input_schema)
            json_set(a, item, "inputSchema", json_copy(a, def->input_schema));
        json_push(list, item);
    }
    return list;
}

static bool allows_all(const struct tool_filter *f)
{
    return f->allows_all || is_listed(f->allow, f->n_allow, S("*"));
}

static struct err *check_grants(const struct tool_filter *parent, const struct tool_filter *child,
                                const struct str *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (tool_filter_has(child, names[i]) && !tool_filter_has(parent, names[i]))
            return err_hint(err_new(ERR_VALIDATION,
                                    "tool %" STR_FMT " is not granted to the parent",
                                    STR_ARG(names[i])),
                            "a child can only have tools that its parent has");
    return NULL;
}

struct err *tool_filter_check(const struct tool_filter *parent, const struct tool_filter *child)
{
    if (allows_all(child) && !allows_all(parent))
        return err_hint(err_new(ERR_VALIDATION, "the tool grant is wider than its parent's"),
                        "list the tools that are needed, all from the parent's list");
    TRY(check_grants(parent, child, child->allow, child->n_allow));
    return check_grants(parent, child, parent->deny, parent->n_deny);
}
