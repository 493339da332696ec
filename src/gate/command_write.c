/* command_write.c - the files that the redirections of a line open. */
#include "gate/command.h"

#include "gate/path.h"

static bool keeps_nothing(struct str path)
{
    return str_is(path, "/dev/null") || str_is(path, "/dev/stdout") || str_is(path, "/dev/stderr");
}

static bool is_file_write(const struct shell_redirection *r)
{
    return r->writes && !r->is_inner && !(r->target.is_known && keeps_nothing(r->target.text));
}

bool command_writes(const struct command *c)
{
    for (size_t i = 0; i < c->split.n_redirections; i++)
        if (is_file_write(&c->split.redirections[i]))
            return true;
    return false;
}

/* A quoted tilde is a plain name, but the session would take it for a home. */
static bool is_plain_path(const struct shell_word *target)
{
    return target->is_known && target->text.n && target->text.n <= PATH_MAX_BYTES &&
           !(target->text.p[0] == '~' && target->source.p[0] != '~');
}

static const char *path_of(const struct subject *s, struct arena *a, const struct shell_word *t)
{
    return is_plain_path(t) ? tool_session_path(s->session, a, s->environment, t->text) : NULL;
}

bool command_next_write(const struct subject *s, struct arena *a, size_t *at, const char **ret_path)
{
    const struct shell_split *split = &s->command->split;

    while (*at < split->n_redirections) {
        const struct shell_redirection *r = &split->redirections[(*at)++];
        bool is_elsewhere = r->is_moved && !str_starts(r->target.text, S("/"));

        if (!is_file_write(r))
            continue;
        *ret_path = is_elsewhere ? NULL : path_of(s, a, &r->target);
        return true;
    }
    return false;
}

enum match command_match_files(struct str pattern, const struct subject *s, bool writes_only)
{
    const struct shell_split *split = &s->command->split;
    AUTO(path_rule) struct path_rule rule = {0};
    AUTO(arena) struct arena a = {0};

    if (split->n_redirections == 0)
        return MATCH_NO;
    if (!path_rule_init(&rule, pattern, s, READ_WIDELY))
        return MATCH_UNCLEAR;
    for (size_t i = 0; i < split->n_redirections; i++) {
        const struct shell_redirection *r = &split->redirections[i];
        const char *path = path_of(s, &a, &r->target);

        if (path && (r->writes || !writes_only) && !keeps_nothing(str_of(path)) &&
            path_rule_matches(&rule, str_of(path)))
            return MATCH_YES;
    }
    return MATCH_NO;
}
