/* settings_note.c - what keel takes from the files of other programs, in words. */
#include "config/settings.h"

#include "port/gate.h"
#include "port/hook.h"
#include "port/mcp_name.h"
#include "tool/names.h"

static void add_item(struct strbuf *out, const char *format, ...) PRINTF_LIKE(2, 3);

static void add_item(struct strbuf *out, const char *format, ...)
{
    va_list args;

    if (out->n)
        strbuf_add_cstr(out, ", ");
    va_start(args, format);
    strbuf_vaddf(out, format, args);
    va_end(args);
}

/* "a", "a and b", "a, b and c": the n-th of `of` names. */
static void add_name(struct strbuf *out, struct str name, size_t n, size_t of)
{
    strbuf_addf(out, "%s%" STR_FMT, n == 0 ? "" : n + 1 == of ? " and " : ", ", STR_ARG(name));
}

/* The tool that a rule is about. keel has no servers yet, so that theirs are nobody's. */
static struct str tool_of(struct str rule)
{
    size_t n = str_find_char(rule, '(');

    return str_trim(n == STR_NONE ? rule : str_slice(rule, 0, n));
}

static bool is_about_nothing(struct str rule)
{
    struct str tool = tool_of(rule);

    return tool_name_is_absent(tool) || mcp_name_is(tool);
}

struct foreign_note {
    struct strbuf taken, ignored;
    struct strbuf tools; /* whose rules are about nothing */
    size_t n_tools;
};

/* Each tool once. */
static void note_absent(struct foreign_note *n, struct str tool)
{
    AUTO(strbuf) struct strbuf key = {0};

    strbuf_addf(&key, ", %" STR_FMT ",", STR_ARG(tool));
    if (n->tools.n == 0)
        strbuf_add_cstr(&n->tools, ",");
    if (str_find(strbuf_str(&n->tools), strbuf_str(&key)) != STR_NONE)
        return;
    strbuf_addf(&n->tools, " %" STR_FMT ",", STR_ARG(tool));
    n->n_tools++;
}

static void add_rules(struct foreign_note *n, const char *kind, const struct json *rules)
{
    size_t n_used = 0;

    json_each (rule, rules) {
        struct str text = json_str(rule);

        if (is_about_nothing(text))
            note_absent(n, tool_of(text));
        else
            n_used++;
    }
    if (n_used)
        add_item(&n->taken, "%zu %s rule%s", n_used, kind, n_used == 1 ? "" : "s");
}

/* The mode, if no layer above it has another, and how many rules. */
static void add_permissions(struct foreign_note *n, const struct settings *s, enum layer l,
                            const struct json *permissions)
{
    static const char *const kinds[] = {"allow", "ask", "deny"};
    struct str mode = json_get_text(permissions, "defaultMode");
    enum permission_mode known;

    if (mode.n && !permission_mode_find(mode, &known))
        add_item(&n->ignored, "mode %" STR_FMT, STR_ARG(mode));
    else if (mode.n && settings_origin(s, "permissions.defaultMode").layer == l)
        add_item(&n->taken, "mode %" STR_FMT, STR_ARG(mode));
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        add_rules(n, kinds[i], json_get(permissions, kinds[i]));
    if (!n->n_tools)
        return;
    strbuf_cut(&n->tools, n->tools.n - 1);
    add_item(&n->ignored, "rules for %s, which keel does not have", strbuf_cstr(&n->tools) + 2);
}

static void add_hooks(struct strbuf *out, const struct json *hooks, bool are_known)
{
    enum hook_event event;
    size_t n = 0, i = 0;

    json_each (groups, hooks)
        n += hook_event_find(groups->key, &event) == are_known;
    if (n)
        add_item(out, "hooks for ");
    json_each (groups, hooks)
        if (hook_event_find(groups->key, &event) == are_known)
            add_name(out, groups->key, i++, n);
}

static void add_members(struct foreign_note *n, const struct settings *s, enum layer l,
                        const struct json *members)
{
    json_each (member, members)
        if (str_is(member->key, "permissions")) {
            add_permissions(n, s, l, member);
        } else if (str_is(member->key, "hooks")) {
            add_hooks(&n->taken, member, true);
            add_hooks(&n->ignored, member, false);
        } else {
            add_item(&n->taken, "%" STR_FMT, STR_ARG(member->key));
        }
}

struct str settings_foreign_note(const struct settings *s, enum layer l, struct arena *a)
{
    struct foreign_note n = {0};
    struct str file, note = {0};

    if (!layer_is_foreign(l))
        return note;
    strbuf_add(&n.ignored, settings_ignored(s, l));
    add_members(&n, s, l, settings_layer(s, l, &file));
    if (n.taken.n || n.ignored.n)
        note = arena_format(a, "%" STR_FMT ", written for another program: keel uses %s%s%s",
                            STR_ARG(file), n.taken.n ? strbuf_cstr(&n.taken) : "nothing of it",
                            n.ignored.n ? "; it ignores " : "", strbuf_cstr(&n.ignored));
    strbuf_done(&n.taken);
    strbuf_done(&n.ignored);
    strbuf_done(&n.tools);
    return note;
}
