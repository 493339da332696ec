/* place.c - follows links. */
#include "gate/place.h"

#include "base/strbuf.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_REST_BYTES ((size_t)4 * PATH_MAX_BYTES) /* of the text that links prepend */

/* --- what was seen --- */

struct seen_path {
    struct str path; /* empty: a free slot */
    bool is_there;
};

/* The slot of the path, or a free one for it. */
static struct seen_path *slot_of(const struct seen_paths *s, struct str path)
{
    size_t i = str_hash(path) & (s->n_slots - 1);

    while (s->slots[i].path.n && !str_eq(s->slots[i].path, path))
        i = (i + 1) & (s->n_slots - 1);
    return &s->slots[i];
}

static void make_room(struct seen_paths *s)
{
    struct seen_paths bigger = {.n_slots = MAX(s->n_slots * 2, (size_t)64)};

    if (s->n * 2 < s->n_slots)
        return;
    bigger.slots = ARENA_ARRAY(s->arena, bigger.n_slots, struct seen_path);
    for (size_t i = 0; i < s->n_slots; i++)
        if (s->slots[i].path.n)
            *slot_of(&bigger, s->slots[i].path) = s->slots[i];
    s->slots = bigger.slots;
    s->n_slots = bigger.n_slots;
}

static void note_seen(struct seen_paths *s, struct str path, bool is_there)
{
    if (!s)
        return;
    make_room(s);
    *slot_of(s, path) = (struct seen_path){arena_str(s->arena, path), is_there};
    s->n++;
}

static const struct seen_path *find_seen(const struct seen_paths *s, struct str path)
{
    const struct seen_path *slot = s && s->n ? slot_of(s, path) : NULL;

    return slot && slot->path.n ? slot : NULL;
}

/* --- the search --- */

struct link_walk {
    struct arena *arena;
    struct seen_paths *seen; /* NULL: do not remember */
    struct strbuf done;      /* "" or "/a/b": without links */
    struct str rest;         /* still to follow */
    struct place *place;
    size_t room, n_links;
    bool is_lost;
    bool is_nowhere; /* `done` does not exist, so nothing below it does */
};

/* Remembers the path before the link at the end of `done` is followed. */
static void note_name(struct link_walk *s)
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

/* Replaces the last component of `done`, a link, with its text. */
static void follow_link(struct link_walk *s, struct str link)
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

/* Looks at `done`. */
static void look_at(struct link_walk *s)
{
    const struct seen_path *seen = find_seen(s->seen, strbuf_str(&s->done));
    char link[PATH_MAX];
    struct stat st;
    ssize_t n = -1;

    if (seen) {
        s->is_nowhere = !seen->is_there;
        return;
    }
    if (lstat(strbuf_cstr(&s->done), &st) < 0)
        s->is_nowhere = errno == ENOENT || errno == ENOTDIR;
    else if (S_ISLNK(st.st_mode))
        n = readlink(strbuf_cstr(&s->done), link, sizeof link);
    if (n >= 0)
        follow_link(s, str_make(link, (size_t)n));
    else
        note_seen(s->seen, strbuf_str(&s->done), !s->is_nowhere);
}

static void step_into(struct link_walk *s, struct str name)
{
    strbuf_add_char(&s->done, '/');
    strbuf_add(&s->done, name);
    if (s->done.n > PATH_MAX_BYTES)
        s->is_lost = true;
    else if (!s->is_nowhere)
        look_at(s);
}

static void step_up(struct link_walk *s)
{
    cut_component(&s->done);
    s->is_nowhere = false;
}

struct place place_find(struct arena *a, const char *given, const char *path)
{
    return place_find_again(a, given, path, NULL);
}

struct place place_find_again(struct arena *a, const char *given, const char *path,
                              struct seen_paths *seen)
{
    struct place p = {.given = given};
    struct link_walk s = {.arena = a, .seen = seen, .place = &p, .rest = str_of(path)};
    struct str name;

    s.is_lost = s.rest.n > PATH_MAX_BYTES;
    while (!s.is_lost && str_split(&s.rest, '/', &name)) {
        if (name.n == 0 || str_is(name, "."))
            continue;
        if (str_is(name, ".."))
            step_up(&s);
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
