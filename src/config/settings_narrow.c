/* settings_narrow.c - lists of what is allowed: a project that nobody trusts can only shorten them.
 *
 * What is left is on both lists. An entry stays when the other list has one that covers it; two
 * that merely overlap are both dropped, since neither of them is allowed by both. */
#include "config/settings_check.h"

#include "gate/wildcard.h"

#define MAX_LIST_BYTES                                                                             \
    ((size_t)16 << 10) /* of a list that nobody trusts; a longer one allows nothing */

/* `git *` covers `git log *`: what a star takes may hold a star. A star that is meant as one does
 * not cover one that stands for anything. */
static bool command_covers(struct str wide, struct str entry)
{
    return str_eq(wide, entry) ||
           (str_find_char(wide, '\\') == STR_NONE && str_find_char(entry, '\\') == STR_NONE &&
            wildcard_matches(wide, entry));
}

/* `*.example.com` is what is below it, and not itself. */
static bool domain_covers(struct str wide, struct str entry)
{
    struct str parent = str_starts(wide, S("*.")) ? str_skip(wide, 2) : wide;
    size_t n = entry.n > parent.n ? entry.n - parent.n : 0;

    return str_eq_nocase(wide, entry) || str_is(wide, "*") ||
           (parent.n && n && entry.p[n - 1] == '.' && str_eq_nocase(str_skip(entry, n), parent));
}

static const struct list_key {
    const char *name;
    bool (*covers)(struct str wide, struct str entry);
} lists[] = {
    {"allowedCommands", command_covers},
    {"allowedDomains", domain_covers},
};

static bool is_covered(const struct list_key *key, const struct json *list, struct str entry)
{
    json_each (wide, list)
        if (key->covers(json_str(wide), entry))
            return true;
    return false;
}

static void add_covered(const struct list_key *key, struct arena *a, const struct json *entries,
                        const struct json *by, struct json *out)
{
    json_each (entry, entries)
        if (is_covered(key, by, json_str(entry)))
            json_push(out, json_new_str(a, json_str(entry)));
}

/* Comparing takes as long as the product of both; nobody writes that much by hand. */
static bool is_too_long(const struct json *list)
{
    size_t n_bytes = 0;

    json_each (entry, list)
        n_bytes += json_str(entry).n + 1;
    return n_bytes > MAX_LIST_BYTES;
}

void settings_narrow(struct arena *a, const struct json *under, struct json *over)
{
    const struct json *allowed = json_get(under, "permissions");
    struct json *wanted = json_get(over, "permissions");

    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        const struct json *old = json_get(allowed, lists[i].name),
                          *new = json_get(wanted, lists[i].name);
        struct json *both;

        if (!old || !new)
            continue;
        both = json_new(a, JSON_ARRAY);
        if (!is_too_long(new)) {
            add_covered(&lists[i], a, new, old, both);
            add_covered(&lists[i], a, old, new, both);
        }
        json_set(a, wanted, lists[i].name, both);
    }
}
