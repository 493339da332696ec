/* prefix.c - the beginning of a session's requests, kept with the session and held once. */
#include "sdk/prompt/prefix.h"

#include "base/shared_json.h"

/* --- what the person wants --- */

static struct json *list_of(struct arena *a, const struct str *names, size_t n)
{
    struct json *list = json_new(a, JSON_ARRAY);

    for (size_t i = 0; i < n; i++)
        json_push(list, json_new_str(a, names[i]));
    return list;
}

static struct json *describe(const struct prefix_wishes *w, struct arena *a)
{
    struct json *wishes = json_new(a, JSON_OBJECT);

    if (w->system_prompt)
        json_set_str(a, wishes, "systemPrompt", str_of(w->system_prompt));
    if (w->append_system_prompt)
        json_set_str(a, wishes, "appendSystemPrompt", str_of(w->append_system_prompt));
    if (!w->filter.allows_all)
        json_set(a, wishes, "tools", list_of(a, w->filter.allow, w->filter.n_allow));
    if (w->filter.n_deny)
        json_set(a, wishes, "deniedTools", list_of(a, w->filter.deny, w->filter.n_deny));
    json_set_bool(a, wishes, "searchesWeb", w->search == NATIVE_WANTED);
    if (w->fetch == NATIVE_WANTED)
        json_set_bool(a, wishes, "fetchesWeb", true);
    return wishes;
}

/* --- and what it has wanted --- */

static void complete_text(const char **text, const struct json *kept, struct arena *a)
{
    if (!*text && json_is(kept, JSON_STRING))
        *text = arena_cstr(a, json_str(kept));
}

static bool has_name(const struct json *list, struct str name)
{
    json_each (item, list)
        if (str_eq(json_str(item), name))
            return true;
    return false;
}

/* All names of the list, and of the others those that are not in it. */
static const struct str *join_names(const struct json *list, const struct str *others,
                                    size_t n_others, struct arena *a, size_t *ret_n)
{
    struct str *names = ARENA_ARRAY(a, (list ? list->n : 0) + n_others, struct str);
    size_t n = 0;

    json_each (item, list)
        names[n++] = arena_str(a, json_str(item));
    for (size_t i = 0; i < n_others; i++)
        if (!has_name(list, others[i]))
            names[n++] = others[i];
    *ret_n = n;
    return names;
}

static void complete_filter(struct tool_filter *f, const struct json *kept, struct arena *a)
{
    const struct json *allowed = json_get(kept, "tools");

    f->allows_all = !json_is(allowed, JSON_ARRAY);
    if (!f->allows_all)
        f->allow = join_names(allowed, NULL, 0, a, &f->n_allow);
    f->deny = join_names(json_get(kept, "deniedTools"), f->deny, f->n_deny, a, &f->n_deny);
}

/* A session that began without it has a tool of keel's own instead, which asks. */
static void complete_search(enum native_wish *wish, bool was_wanted)
{
    if (!was_wanted)
        *wish = NATIVE_REFUSED;
    else if (*wish == NATIVE_UNSAID)
        *wish = NATIVE_WANTED;
}

/* --- what sessions have in common --- */

void prefix_unref(struct prefix *p)
{
    struct prefix **at;

    if (!p || --p->n_refs)
        return;
    for (at = &p->of->first; *at != p;)
        at = &(*at)->next;
    *at = p->next;
    shared_json_unref(p->kept);
    mem_free(p);
}

struct prefix *prefix_ref(struct prefix *p)
{
    p->n_refs++;
    return p;
}

static struct prefix *add(struct prefixes *all, const struct json *kept)
{
    struct prefix *p = mem_alloc(sizeof *p);

    *p = (struct prefix){.kept = shared_json_new(kept), .of = all, .next = all->first, .n_refs = 1};
    p->system = json_get_text(p->kept->value, "system");
    p->tools = json_get(p->kept->value, "tools");
    all->first = p;
    return p;
}

static struct prefix *find_kept(struct prefixes *all, const struct json *kept)
{
    struct prefix *p = all->first;

    while (p && !json_equal(p->kept->value, kept))
        p = p->next;
    return p ? prefix_ref(p) : add(all, kept);
}

static bool tells(const struct json *told, const struct tool_set *tools)
{
    size_t i = 0;

    if (told->n != tools->n)
        return false;
    json_each (item, told) {
        const struct tool_def *def = &tools->entries[i++].def;
        const struct json *schema = json_get(item, "inputSchema");

        if (!str_eq(json_get_text(item, "name"), def->name) ||
            !str_eq(json_get_text(item, "description"), def->description) ||
            !schema != !def->input_schema || (schema && !json_equal(schema, def->input_schema)))
            return false;
    }
    return true;
}

static struct prefix *find_made(struct prefixes *all, const struct json *wishes, struct str system,
                                const struct tool_set *tools)
{
    for (struct prefix *p = all->first; p; p = p->next)
        if (json_equal(json_get(p->kept->value, "wishes"), wishes) && str_eq(p->system, system) &&
            tells(p->tools, tools))
            return prefix_ref(p);
    return NULL;
}

/* --- keeping it --- */

static void share(struct tool_state *s, const struct prefix *p)
{
    tool_state_share(s, STATE_PREFIX, STATE_UNNAMED, p->kept);
}

struct prefix *prefix_find(struct prefixes *all, struct tool_state *s, struct prefix_wishes *wishes,
                           struct arena *a)
{
    const struct json *prefix = tool_state_get(s, STATE_PREFIX, STATE_UNNAMED),
                      *kept = json_get(prefix, "wishes");
    struct prefix *found;

    if (!json_is(json_get(prefix, "tools"), JSON_ARRAY))
        return NULL;
    complete_text(&wishes->system_prompt, json_get(kept, "systemPrompt"), a);
    complete_text(&wishes->append_system_prompt, json_get(kept, "appendSystemPrompt"), a);
    if (!wishes->names_tools)
        complete_filter(&wishes->filter, kept, a);
    complete_search(&wishes->search, json_bool(json_get(kept, "searchesWeb"), false));
    if (!json_equal(describe(wishes, a), kept))
        return NULL;
    found = find_kept(all, prefix);
    share(s, found);
    return found;
}

struct prefix *prefix_keep(struct prefixes *all, struct tool_state *s,
                           const struct prefix_wishes *wishes, struct str system,
                           const struct tool_set *tools)
{
    AUTO(arena) struct arena a = {0};
    struct json *described = describe(wishes, &a), *kept;
    struct prefix *p = find_made(all, described, system, tools);

    if (!p) {
        kept = json_new(&a, JSON_OBJECT);
        json_set(&a, kept, "wishes", described);
        json_set_str(&a, kept, "system", system);
        json_set(&a, kept, "tools", tool_set_describe(tools, &a));
        p = add(all, kept);
    }
    share(s, p);
    return p;
}
