/* state_keys.c - the table of the keys of the tools' state. */
#include "port/state_keys.h"

static const struct {
    struct str text;
    unsigned flags;
} keys[] = {
#define STATE_KEY_ROW(name, text, flags) [STATE_##name] = {S(text), flags},
    STATE_KEYS(STATE_KEY_ROW)
#undef STATE_KEY_ROW
};

static bool has_names(enum state_key kind)
{
    return str_ends(keys[kind].text, S(":"));
}

unsigned state_key_flags(enum state_key kind)
{
    return kind < STATE_N_KEYS ? keys[kind].flags : 0;
}

struct str state_key_text(struct arena *a, enum state_key kind, struct str name)
{
    AUTO(strbuf) struct strbuf key = {0};

    BUG_IF(kind >= STATE_N_KEYS || (!has_names(kind) && name.n));
    strbuf_add(&key, keys[kind].text);
    strbuf_add(&key, name); /* it may hold a NUL */
    return arena_str(a, strbuf_str(&key));
}

bool state_key_is(struct str key, enum state_key kind, struct str *ret_name)
{
    struct str text = keys[kind].text;

    if (has_names(kind) ? !str_starts(key, text) : !str_eq(key, text))
        return false;
    if (ret_name)
        *ret_name = str_skip(key, text.n);
    return true;
}

enum state_key state_key_find(struct str key, struct str *ret_name)
{
    for (enum state_key kind = 0; kind < STATE_N_KEYS; kind++)
        if (state_key_is(key, kind, ret_name))
            return kind;
    *ret_name = (struct str){0};
    return STATE_N_KEYS;
}
