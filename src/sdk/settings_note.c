/* settings_note.c - what keel takes from the files of other programs, in words. */
#include "sdk/settings.h"

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

/* The mode, if no layer above it has another, and how many rules. */
static void add_permissions(struct strbuf *out, const struct settings *s, enum layer l,
                            const struct json *permissions)
{
    static const char *const kinds[] = {"allow", "ask", "deny"};
    struct str mode = json_get_text(permissions, "defaultMode");

    if (mode.n && settings_origin(s, "permissions.defaultMode").layer == l)
        add_item(out, "mode %" STR_FMT, STR_ARG(mode));
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const struct json *rules = json_get(permissions, kinds[i]);

        if (rules && rules->n)
            add_item(out, "%u %s rule%s", rules->n, kinds[i], rules->n == 1 ? "" : "s");
    }
}

static void add_hooks(struct strbuf *out, const struct json *hooks)
{
    const char *before = out->n ? ", hooks for " : "hooks for ";

    json_each (event, hooks) {
        strbuf_addf(out, "%s%" STR_FMT, before, STR_ARG(event->key));
        before = " and ";
    }
}

struct str settings_foreign_note(const struct settings *s, enum layer l, struct arena *a)
{
    AUTO(strbuf) struct strbuf taken = {0};
    struct str file, ignored = settings_ignored(s, l);

    if (!layer_is_foreign(l))
        return (struct str){0};
    json_each (member, settings_layer(s, l, &file))
        if (str_is(member->key, "permissions"))
            add_permissions(&taken, s, l, member);
        else if (str_is(member->key, "hooks"))
            add_hooks(&taken, member);
        else
            add_item(&taken, "%" STR_FMT, STR_ARG(member->key));
    if (!taken.n && !ignored.n)
        return (struct str){0};
    return arena_format(a, "%" STR_FMT ", written for another program: keel uses %s%s%" STR_FMT,
                        STR_ARG(file), taken.n ? strbuf_cstr(&taken) : "nothing of it",
                        ignored.n ? "; it ignores " : "", STR_ARG(ignored));
}
