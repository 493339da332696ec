/* surroundings.c - blocks of lines about where the model works, and what they leave out. */
#include "sdk/prompt/surroundings.h"

#include "port/tool.h"

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

/* The block in the result of the call that ended plan mode, or "". Other tools print what they
 * want. */
static struct str block_in_result(const struct part *result)
{
    struct str text, block;
    size_t at;

    if (result->kind != PART_TOOL_RESULT || !str_is(result->name, TOOL_EXIT_PLAN_MODE) ||
        result->is_error || result->n_content == 0)
        return (struct str){0};
    text = result->content[0].text;
    at = str_find(text, S(BEGIN));
    block = at == STR_NONE ? (struct str){0} : str_skip(text, at);
    at = str_find(block, S(END)); /* behind it the person's own version of the plan may follow */
    return at == STR_NONE ? block : str_slice(block, 0, at);
}

/* A message that was put back after a summary holds its block as text. */
static struct str find_block(const struct message *m, size_t part)
{
    const struct part *p = &m->parts[part];

    if (m->role == ROLE_TOOL)
        return block_in_result(p);
    if (m->role == ROLE_USER && (p->kind == PART_CONTEXT || part > 0) &&
        str_starts(p->text, S(BEGIN)))
        return p->text;
    return (struct str){0};
}

/* In the newest message that says it. */
static bool find_told(const struct history *h, const char *name, struct str *ret_value)
{
    for (size_t i = h->n_messages; i-- > 0;) {
        const struct message *m = h->messages[i];

        for (size_t k = m->n_parts; k-- > 0;)
            if (find_in_block(find_block(m, k), name, ret_value))
                return true;
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
