/* surroundings.c - blocks of lines about where the model works, and what they leave out. */
#include "sdk/surroundings.h"

#define BEGIN "<environment>\n"
#define END "</environment>"
#define CHANGED "This has changed:\n"
#define NOTHING "none" /* any more */

void surroundings_add(struct surroundings *s, const char *name, struct str value)
{
    BUG_IF(s->n == SURROUNDINGS_MAX);
    s->lines[s->n].name = name;
    s->lines[s->n++].value = value;
}

/* --- what was told --- */

/* The value of a line of this name in a block. */
static bool find_in_block(struct str block, const char *name, struct str *ret_value)
{
    struct str line;
    bool found = false;

    while (str_split(&block, '\n', &line)) {
        size_t n = strlen(name);

        if (str_starts(line, S("- ")) && str_starts(str_skip(line, 2), str_make(name, n)) &&
            str_starts(str_skip(line, 2 + n), S(": "))) {
            *ret_value = str_skip(line, 4 + n);
            found = true;
        }
    }
    return found;
}

/* In the newest message that says it. One that was put back after a summary holds it as text. */
static bool find_told(const struct history *h, const char *name, struct str *ret_value)
{
    for (size_t i = h->n; i-- > 0;) {
        const struct message *m = h->entries[i].message;

        for (size_t k = m && m->role == ROLE_USER ? m->n_parts : 0; k-- > 0;) {
            bool is_told = m->parts[k].kind == PART_CONTEXT || k > 0;

            if (is_told && str_starts(m->parts[k].text, S(BEGIN)) &&
                find_in_block(m->parts[k].text, name, ret_value))
                return true;
        }
    }
    return false;
}

/* --- what is told --- */

/* A directory may have any name. */
static void add_value(struct strbuf *out, struct str value)
{
    for (size_t i = 0; i < value.n; i++)
        strbuf_add_char(out, value.p[i] == '\n' ? ' ' : value.p[i]);
}

static void add_line(struct strbuf *out, const char *name, struct str value)
{
    strbuf_addf(out, "- %s: ", name);
    add_value(out, value);
    strbuf_add_char(out, '\n');
}

static bool is_told(const struct history *h, const char *name, struct str value, bool *any)
{
    AUTO(strbuf) struct strbuf line = {0};
    struct str told;

    if (!find_told(h, name, &told))
        return value.n == 0;
    *any = true;
    add_value(&line, value.n ? value : S(NOTHING));
    return str_eq(told, strbuf_str(&line));
}

void surroundings_tell(const struct surroundings *now, const struct history *told,
                       struct strbuf *out)
{
    AUTO(strbuf) struct strbuf lines = {0};
    bool any = false;

    for (size_t i = 0; i < now->n; i++)
        if (!is_told(told, now->lines[i].name, now->lines[i].value, &any))
            add_line(&lines, now->lines[i].name,
                     now->lines[i].value.n ? now->lines[i].value : S(NOTHING));
    if (lines.n)
        strbuf_addf(out, BEGIN "%s%s" END, any ? CHANGED : "", strbuf_cstr(&lines));
}
