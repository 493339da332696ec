/* denied_places.c - turns deny rules into places of the file system. */
#include "gate/denied_places.h"

#include "gate/path.h"
#include "gate/wildcard.h"

/* --- the plain head of a pattern --- */

/* Appends the component without its escapes. False: it has a wildcard. */
static bool add_plain(struct strbuf *out, struct str component)
{
    for (size_t i = 0; i < component.n; i++) {
        char c = component.p[i];

        if (strchr("*?[]{}", c) || (c == '\\' && i + 1 == component.n))
            return false;
        if (c == '\\')
            c = component.p[++i];
        strbuf_add_char(out, c);
    }
    return true;
}

/* The components before the first wildcard; *ret_is_all: there is none. */
static const char *plain_head(struct arena *a, struct str pattern, bool *ret_is_all)
{
    AUTO(strbuf) struct strbuf head = {0};
    struct str component;

    *ret_is_all = true;
    while (*ret_is_all && str_split(&pattern, '/', &component)) {
        size_t before = head.n;

        if (component.n == 0)
            continue;
        strbuf_add_char(&head, '/');
        *ret_is_all = add_plain(&head, component);
        if (!*ret_is_all)
            strbuf_cut(&head, before);
    }
    return head.n ? arena_cstr(a, strbuf_str(&head)) : "/";
}

/* --- rules --- */

static bool names_tool(struct str tool, const char *name)
{
    return str_is(tool, name) || wildcard_matches(tool, str_of(name));
}

static bool is_about_paths(struct str tool)
{
    return names_tool(tool, "Read") || names_tool(tool, "Edit") || names_tool(tool, "Write");
}

static void add_reading(struct denied_places *d, struct denied_place place, struct str pattern,
                        struct glob **take_glob)
{
    bool is_all;

    place.path = plain_head(&d->arena, pattern, &is_all);
    if (!is_all) {
        place.glob = TAKE(*take_glob);
        place.pattern = arena_str(&d->arena, pattern);
    }
    d->items = arena_grow(&d->arena, d->items, d->n, &d->room, sizeof *d->items);
    d->items[d->n++] = place;
}

static struct err *unreadable(struct str rule)
{
    return err_hint(
        err_new(ERR_SANDBOX, "the deny rule \"%" STR_FMT "\" is not valid", STR_ARG(rule)),
        "correct it in the settings; commands do not run until then");
}

static struct err *add_rule(struct denied_places *d, struct str rule, bool is_untrusted,
                            const struct subject *s)
{
    AUTO(path_rule) struct path_rule readings = {0};
    struct pattern p;

    if (!is_about_paths(permission_pattern_tool(rule)))
        return NULL;
    if (!pattern_parse(rule, &p))
        return is_untrusted ? NULL : unreadable(rule);
    if (p.argument.n == 0)
        return NULL; /* it denies the tool, not files */
    if (!path_rule_init(&readings, pattern_takes_any(&p) ? S("//") : p.argument, s, READ_WIDELY))
        return is_untrusted ? NULL : unreadable(rule);
    for (size_t i = 0; i < readings.n; i++)
        add_reading(d,
                    (struct denied_place){.rule = rule,
                                          .is_untrusted = is_untrusted,
                                          .hides = names_tool(p.tool, "Read")},
                    str_of(readings.texts[i]), &readings.globs[i]);
    return NULL;
}

struct err *denied_places_init(struct denied_places *d, const struct permission_rules *rules,
                               const struct tool_state *state)
{
    struct subject s = {.state = state, .environment = rules->environment};

    *d = (struct denied_places){0};
    for (size_t i = 0; i < rules->n_deny; i++) {
        bool is_untrusted = rules->deny_is_untrusted && rules->deny_is_untrusted[i];
        struct err *e = add_rule(d, rules->deny[i], is_untrusted, &s);

        if (e) {
            denied_places_done(d);
            return e;
        }
    }
    return NULL;
}

void denied_places_done(struct denied_places *d)
{
    for (size_t i = 0; i < d->n; i++)
        glob_free(d->items[i].glob);
    arena_done(&d->arena);
    *d = (struct denied_places){0};
}
