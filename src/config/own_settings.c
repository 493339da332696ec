/* own_settings.c - follows links as the kernel does, and notes them. */
#include "config/own_settings.h"

#include "sys/fs.h"

#include <limits.h>
#include <unistd.h>

enum { MAX_LINKS = 40 }; /* as in the kernel */

static const char *const obeyed[] = {"settings.json", "trust.json"};

/* Adds a name to the path, or takes the last one away. */
static void enter(struct strbuf *at, struct str name)
{
    if (str_is(name, ".."))
        strbuf_cut(at, MIN(at->n, str_rfind_char(strbuf_str(at), '/')));
    else if (name.n && !str_is(name, "."))
        strbuf_addf(at, "/%" STR_FMT, STR_ARG(name));
}

/* `at` has no links in it. */
static void follow(struct path_list *l, const char *path)
{
    struct arena *a = l->arena;
    AUTO(strbuf) struct strbuf at = {0};
    struct str rest = str_of(path), name;
    int n_links = 0;

    while (str_split(&rest, '/', &name)) {
        char target[PATH_MAX];
        ssize_t n;

        enter(&at, name);
        n = at.n ? readlink(strbuf_cstr(&at), target, sizeof target) : -1;
        if (n < 0)
            continue;
        if (n == sizeof target || ++n_links > MAX_LINKS)
            return;
        path_list_add(l, arena_cstr(a, strbuf_str(&at)));
        rest = arena_format(a, "%.*s/%" STR_FMT, (int)n, target, STR_ARG(rest));
        if (target[0] == '/')
            strbuf_clear(&at);
        else
            enter(&at, S(".."));
    }
    path_list_add(l, arena_cstr(a, strbuf_str(&at)));
}

void own_settings_find(struct path_list *l, const char *keel_home)
{
    for (size_t i = 0; i < ARRAY_LEN(obeyed); i++)
        follow(l, fs_join(l->arena, keel_home, obeyed[i]));
}
