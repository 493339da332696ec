/* command_files.c - the files that a line redirects to or obviously changes. */
#include "gate/command.h"

#include "gate/path.h"
#include "gate/prepared.h"

static bool keeps_nothing(struct str path)
{
    return str_is(path, "/dev/null") || str_is(path, "/dev/stdout") || str_is(path, "/dev/stderr");
}

static bool is_file(const struct shell_redirection *r)
{
    return !(r->target.is_known && keeps_nothing(r->target.text));
}

bool command_writes(const struct command_line *c)
{
    for (size_t i = 0; i < c->split.n_redirections; i++) {
        const struct shell_redirection *r = &c->split.redirections[i];

        if (r->writes && !r->is_inner && is_file(r))
            return true;
    }
    return false;
}

/* A quoted tilde is a plain name, but the session would expand it. */
bool command_is_path(const struct shell_word *target)
{
    return target->is_known && target->text.n && target->text.n <= PATH_MAX_BYTES &&
           str_find_char(target->text, '\0') == STR_NONE &&
           !(target->text.p[0] == '~' && target->source.p[0] != '~');
}

static struct place place_at(const struct subject *s, struct arena *a, size_t i)
{
    const struct shell_word *target = &s->command->split.redirections[i].target;

    if (s->prepared)
        return s->prepared->redirected[i];
    if (!command_is_path(target))
        return (struct place){0};
    return place_unseen(tool_state_path(s->state, a, s->environment, target->text));
}

bool command_next_file(const struct subject *s, struct arena *a, size_t *at,
                       struct command_file *ret_file)
{
    const struct shell_split *split = &s->command->split;

    while (*at < split->n_redirections) {
        size_t i = (*at)++;
        const struct shell_redirection *r = &split->redirections[i];
        bool is_elsewhere = r->is_moved && !str_starts(r->target.text, S("/"));

        if (!is_file(r))
            continue;
        *ret_file = (struct command_file){.writes = r->writes, .is_inner = r->is_inner};
        if (!is_elsewhere)
            ret_file->place = place_at(s, a, i);
        return true;
    }
    return false;
}

static bool matches_place(const struct path_rule *rule, const struct subject *s,
                          const struct place *place, struct arena *a)
{
    struct names names = prepared_wide_names(s->prepared, place, a);

    for (size_t i = 0; i < names.n; i++)
        if (!keeps_nothing(str_of(names.paths[i])) &&
            path_rule_matches(rule, str_of(names.paths[i])))
            return true;
    return false;
}

/* Treats redirections after a `cd` as if there were none: for a wide match that is good enough. */
static bool matches_redirections(const struct path_rule *rule, const struct subject *s,
                                 bool writes_only, struct arena *a)
{
    const struct shell_split *split = &s->command->split;

    for (size_t i = 0; i < split->n_redirections; i++) {
        struct place place = place_at(s, a, i);

        if ((split->redirections[i].writes || !writes_only) && matches_place(rule, s, &place, a))
            return true;
    }
    return false;
}

/* The operands that the line changes, if they were not looked up. */
static const struct place *find_written(const struct subject *s, struct arena *a, size_t *ret_n)
{
    struct place *places;
    struct str *paths;

    if (s->prepared) {
        *ret_n = s->prepared->n_written;
        return s->prepared->written;
    }
    shell_written_paths(a, &s->command->split, &paths, ret_n);
    places = ARENA_ARRAY(a, *ret_n, struct place);
    for (size_t i = 0; i < *ret_n; i++)
        if (str_find_char(paths[i], '\0') == STR_NONE)
            places[i] = place_unseen(tool_state_path(s->state, a, s->environment, paths[i]));
    return places;
}

enum match command_match_files(struct str pattern, const struct subject *s, bool writes_only)
{
    AUTO(path_rule) struct path_rule rule = {0};
    AUTO(arena) struct arena a = {0};
    size_t n_written;
    const struct place *written = find_written(s, &a, &n_written);

    if (s->command->split.n_redirections == 0 && n_written == 0)
        return MATCH_NO;
    if (!path_rule_init(&rule, pattern, s, READ_WIDELY))
        return MATCH_UNCLEAR;
    for (size_t i = 0; i < n_written; i++)
        if (matches_place(&rule, s, &written[i], &a))
            return MATCH_YES;
    return matches_redirections(&rule, s, writes_only, &a) ? MATCH_YES : MATCH_NO;
}
