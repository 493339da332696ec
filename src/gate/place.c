/* place.c - following links. */
#include "gate/place.h"

#include "base/strbuf.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_REST_BYTES ((size_t)4 * PATH_MAX_BYTES) /* of what links put before each other */

struct search {
    struct arena *arena;
    struct strbuf done; /* "" or "/a/b": no links in it */
    struct str rest;    /* what is still to be followed */
    struct place *place;
    size_t room, n_links;
    bool is_lost;
};

/* The path, before the link at the end of `done` is followed. */
static void note_name(struct search *s)
{
    struct place *p = s->place;

    if (str_find(s->rest, S("..")) != STR_NONE)
        return;
    p->via = arena_grow(s->arena, p->via, p->n_via, &s->room, sizeof *p->via);
    p->via[p->n_via++] = arena_format(s->arena, "%s%s%" STR_FMT, strbuf_cstr(&s->done),
                                      s->rest.n ? "/" : "", STR_ARG(s->rest))
                             .p;
}

static void cut_component(struct strbuf *path)
{
    size_t slash = str_rfind_char(strbuf_str(path), '/');

    strbuf_cut(path, slash == STR_NONE ? 0 : slash);
}

/* The last component of `done` is a link: what it says takes its place. */
static void follow(struct search *s, struct str link)
{
    s->is_lost = ++s->n_links > PLACE_MAX_LINKS || link.n + s->rest.n > MAX_REST_BYTES;
    if (s->is_lost)
        return;
    note_name(s);
    if (str_starts(link, S("/")))
        strbuf_clear(&s->done);
    else
        cut_component(&s->done);
    s->rest = arena_format(s->arena, "%" STR_FMT "/%" STR_FMT, STR_ARG(link), STR_ARG(s->rest));
}

static void step_into(struct search *s, struct str name)
{
    char link[PATH_MAX];
    struct stat st;
    ssize_t n = -1;

    strbuf_add_char(&s->done, '/');
    strbuf_add(&s->done, name);
    if (s->done.n > PATH_MAX_BYTES)
        s->is_lost = true;
    else if (lstat(strbuf_cstr(&s->done), &st) == 0 && S_ISLNK(st.st_mode))
        n = readlink(strbuf_cstr(&s->done), link, sizeof link);
    if (n >= 0)
        follow(s, str_make(link, (size_t)n));
}

struct place place_find(struct arena *a, const char *given, const char *path)
{
    struct place p = {.given = given};
    struct search s = {.arena = a, .place = &p, .rest = str_of(path)};
    struct str name;

    s.is_lost = s.rest.n > PATH_MAX_BYTES;
    while (!s.is_lost && str_split(&s.rest, '/', &name)) {
        if (name.n == 0 || str_is(name, "."))
            continue;
        if (str_is(name, ".."))
            cut_component(&s.done);
        else
            step_into(&s, name);
    }
    if (!s.is_lost)
        p.real = s.done.n ? arena_cstr(a, strbuf_str(&s.done)) : "/";
    strbuf_done(&s.done);
    return p;
}

struct place place_unseen(const char *given)
{
    return (struct place){.given = given, .real = given};
}

bool place_is_in(const char *path, const char *directory)
{
    size_t n = strlen(directory);

    if (n == 1)
        return path[0] == '/';
    return strncmp(path, directory, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

const char *place_rename(struct arena *a, const char *path, const char *from, const char *to)
{
    const char *below;

    if (!place_is_in(path, from))
        return NULL;
    below = path + (from[1] ? strlen(from) : 0);
    if (strcmp(below, "/") == 0)
        below = "";
    if (strcmp(to, "/") == 0)
        return *below ? below : to;
    return arena_format(a, "%s%s", to, below).p;
}
