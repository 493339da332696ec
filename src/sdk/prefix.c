/* prefix.c - the beginning of a session's requests, kept with the session. */
#include "sdk/prefix.h"

#include "base/sha256.h"

#define KEY S("prefix")

/* --- what the person wants --- */

static void note(struct json *wishes, struct arena *a, const char *name, struct str text)
{
    char hash[SHA256_HEX_SIZE];

    sha256_hex(text, hash);
    json_set_str(a, wishes, name, arena_str(a, str_of(hash)));
}

static void add_names(struct strbuf *out, char mark, const struct str *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        strbuf_addf(out, "%c%" STR_FMT "\n", mark, STR_ARG(names[i]));
}

/* By their hashes: prompts may be long. */
static struct json *describe(const struct prefix_wishes *w, struct arena *a)
{
    struct json *wishes = json_new(a, JSON_OBJECT);
    AUTO(strbuf) struct strbuf names = {0};

    if (w->system_prompt)
        note(wishes, a, "systemPrompt", str_of(w->system_prompt));
    if (w->append_system_prompt)
        note(wishes, a, "appendSystemPrompt", str_of(w->append_system_prompt));
    if (!w->filter->allows_all)
        add_names(&names, '+', w->filter->allow, w->filter->n_allow);
    add_names(&names, '-', w->filter->deny, w->filter->n_deny);
    if (!w->filter->allows_all || w->filter->n_deny)
        note(wishes, a, "tools", strbuf_str(&names));
    json_set_bool(a, wishes, "searchesWeb", w->searches_web);
    if (w->fetches_web)
        json_set_bool(a, wishes, "fetchesWeb", true);
    return wishes;
}

static bool are_met(const struct json *wishes, const struct json *kept)
{
    json_each (wish, wishes)
        if (!json_get_str(kept, wish->key) || !json_equal(wish, json_get_str(kept, wish->key)))
            return false;
    return true;
}

/* --- keeping it --- */

bool prefix_find(const struct tool_session *s, const struct prefix_wishes *wishes, struct arena *a,
                 struct prefix *ret_prefix)
{
    const struct json *kept = tool_session_get(s, KEY);
    bool fetched = json_bool(json_get(json_get(kept, "wishes"), "fetchesWeb"), false);

    if (!json_is(json_get(kept, "tools"), JSON_ARRAY) || fetched != wishes->fetches_web ||
        !are_met(describe(wishes, a), json_get(kept, "wishes")))
        return false;
    *ret_prefix = (struct prefix){.system = arena_str(a, json_get_text(kept, "system")),
                                  .tools = json_copy(a, json_get(kept, "tools")),
                                  .is_own = !json_has(json_get(kept, "wishes"), "systemPrompt")};
    return true;
}

void prefix_keep(struct tool_session *s, const struct prefix_wishes *wishes, struct str system,
                 const struct tool_set *tools)
{
    AUTO(arena) struct arena a = {0};
    struct json *kept = json_new(&a, JSON_OBJECT);

    json_set(&a, kept, "wishes", describe(wishes, &a));
    json_set_str(&a, kept, "system", system);
    json_set(&a, kept, "tools", tool_set_describe(tools, &a));
    tool_session_set(s, KEY, kept);
}
