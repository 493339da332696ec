/* place.c - decides which directory is kept, and says so. */
#include "tool/shell/place.h"

#include "base/quoted.h"
#include "base/utf8.h"
#include "sys/fs.h"

/* Both without links. */
static bool is_below(const char *real, const char *dir, struct arena *a)
{
    struct str top = str_of(fs_resolve(a, dir)), path = str_of(real);

    return str_is(top, "/") || str_eq(path, top) || (str_starts(path, top) && path.p[top.n] == '/');
}

static bool is_workplace(const struct tool_context *c, const char *place, struct arena *a)
{
    const char *real = fs_resolve(a, place), *workspace = tool_state_workspace(c->state);
    bool is_inside = is_below(real, workspace, a);

    for (size_t i = 0; !is_inside && i < c->config->n_added_dirs; i++) {
        const char *dir = c->config->added_dirs[i];

        is_inside = is_below(real, *dir == '/' ? dir : fs_join(a, workspace, dir), a);
    }
    return is_inside;
}

/* `why`, with the directory in front, or nothing: it is a change. */
static void say(struct strbuf *out, const char *place, const char *other, const char *why)
{
    strbuf_addf(out, "The working directory is %s", why ? "" : "now ");
    quoted_add(out, str_of(place));
    if (why) {
        strbuf_add_cstr(out, " again: ");
        quoted_add(out, str_of(other));
        strbuf_add_cstr(out, why);
    }
    strbuf_add_cstr(out, ".\n");
}

/* A call that did not move does not take back where another one went meanwhile. */
static void follow(const struct tool_context *c, const char *before, const char *place,
                   struct strbuf *out)
{
    AUTO(arena) struct arena a = {0};

    if (!place || strcmp(place, before) == 0 || !utf8_is_valid(str_of(place)))
        return;
    if (!is_workplace(c, place, &a)) {
        say(out, tool_state_cwd(c->state), place, " is outside the workspace");
        return;
    }
    tool_state_set_cwd(c->state, place);
    say(out, place, NULL, NULL);
}

void place_follow(const struct tool_context *c, const char *before, const char *place,
                  struct strbuf *out)
{
    const char *workspace = tool_state_workspace(c->state), *kept;

    follow(c, before, place, out);
    kept = tool_state_cwd(c->state);
    if (fs_is_dir(kept) || strcmp(kept, workspace) == 0)
        return;
    say(out, workspace, kept, " no longer exists");
    tool_state_set_cwd(c->state, workspace);
}
