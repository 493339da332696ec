/* hard_policy.c - the jail, secret places, and the lists of commands and hosts. */
#include "gate/hard_policy.h"

#include "base/protected_places.h"
#include "gate/command.h"
#include "gate/path.h"
#include "gate/prepared.h"
#include "gate/reason.h"
#include "gate/rulebook.h"
#include "gate/web.h"
#include "gate/wildcard.h"

struct policy_check {
    const struct hard_policy *policy;
    const struct rulebook *rules;
    const struct subject *subject;
    const struct prepared *prepared;
    struct arena *arena;
    struct policy_refusal *refusal;
};

static bool set_refusal(const struct policy_check *c, struct str rule, struct str reason)
{
    *c->refusal = (struct policy_refusal){rule, reason};
    return true;
}

/* --- secrets --- */

static bool refuses_secret(const struct policy_check *c, const struct place *place)
{
    return place->reach == REACH_SECRET &&
           set_refusal(c, S("policy:secret"), reason_secret(c->arena, place->real));
}

/* --- the jail --- */

/* A person has named a place outside: `Edit(//srv)`. */
static bool is_named_by(const struct pattern *p, const struct subject *s)
{
    if (p->is_broken ||
        !(str_is(p->tool, "Edit") || str_is(p->tool, "Write") || str_is(p->tool, s->tool->name)))
        return false;
    return (str_starts(p->argument, S("//")) || str_starts(p->argument, S("~"))) &&
           path_match(p->argument, s, READ_NARROWLY) == MATCH_YES;
}

static bool is_named_by_rules(const struct policy_check *c, const char *real)
{
    struct names names = prepared_own_names(c->prepared, real, c->arena);
    const struct rule_list *allow = &c->rules->lists[RULE_ALLOW];
    struct subject s = *c->subject;

    s.names = &names;
    for (size_t i = 0; i < allow->n; i++)
        if (is_named_by(&allow->patterns[i], &s))
            return true;
    return false;
}

static bool is_in_jail(const struct policy_check *c, const char *real)
{
    if (place_is_in(real, c->prepared->workspace))
        return true;
    for (size_t i = 0; i < c->policy->n_writable; i++)
        if (place_is_in(real, c->policy->writable[i]))
            return true;
    return is_named_by_rules(c, real);
}

static bool refuses_write(const struct policy_check *c, const struct place *place)
{
    if (!is_in_jail(c, place->real))
        return set_refusal(
            c, S("policy:outside"),
            reason_outside(c->arena, c->subject->tool, place->real, c->prepared->workspace));
    if (place->guarded && (place->guarded->how & PLACE_REFUSED))
        return set_refusal(c, S("policy:protected"),
                           reason_protected(c->arena, place->real, place->guarded));
    return place->git && set_refusal(c, S("policy:git"), reason_git(c->arena, place));
}

static bool refuses_place(const struct policy_check *c, const struct place *place, bool writes)
{
    if (!place->real)
        return set_refusal(c, S("policy:links"), reason_leads_nowhere(c->arena, place->given));
    return refuses_secret(c, place) || (writes && refuses_write(c, place));
}

/* --- commands --- */

/* Not a file: the terminal, and open descriptors. */
static bool is_device(const char *path)
{
    struct str s = str_of(path);

    return str_is(s, "/dev/tty") || str_starts(s, S("/dev/fd/")) ||
           str_starts(s, S("/proc/self/fd/"));
}

static bool refuses_redirections(const struct policy_check *c)
{
    struct command_file file;
    size_t at = 0;

    while (command_next_file(c->subject, c->arena, &at, &file))
        if (file.place.given && !is_device(file.place.given) &&
            refuses_place(c, &file.place, file.writes))
            return true;
    return false;
}

static bool is_listed(const struct hard_policy *policy, struct str command)
{
    for (size_t i = 0; i < policy->n_commands; i++)
        if (wildcard_matches(policy->commands[i], command))
            return true;
    return false;
}

static bool is_listed_as_it_stands(const struct hard_policy *policy, struct str line)
{
    for (size_t i = 0; i < policy->n_commands; i++)
        if (wildcard_is_literal(policy->commands[i]) && wildcard_matches(policy->commands[i], line))
            return true;
    return false;
}

/* An unseen word matches only a `*`. An unseen program matches nothing. */
static bool may_run(const struct hard_policy *policy, const struct split_command *c)
{
    return c->n_words && c->n_assignments == 0 && c->words[0].is_known &&
           is_listed(policy, c->source);
}

/* The first command that may not run; the whole line if its commands are unknown. */
static bool find_unlisted(const struct hard_policy *policy, const struct command_line *line,
                          struct str *ret_command)
{
    const struct shell_split *split = &line->split;

    *ret_command = line->line;
    if (!split->is_sure || split->changes_names || split->n_commands == 0)
        return true;
    for (size_t i = 0; i < split->n_commands; i++)
        if (!may_run(policy, &split->commands[i])) {
            *ret_command = split->commands[i].text;
            return true;
        }
    return false;
}

static bool refuses_commands(const struct policy_check *c)
{
    const struct command_line *line = c->subject->command;
    struct str bad;

    return !is_listed_as_it_stands(c->policy, line->line) && find_unlisted(c->policy, line, &bad) &&
           set_refusal(c, S("policy:commands"),
                       reason_unlisted(c->arena, "command", bad, c->policy->commands,
                                       c->policy->n_commands));
}

/* --- hosts --- */

static bool refuses_host(const struct policy_check *c, struct str url)
{
    struct str host = url; /* the text itself, if it is not an address */

    for (size_t i = 0; i < c->policy->n_domains; i++) {
        struct str pattern =
            arena_format(c->arena, "domain:%" STR_FMT, STR_ARG(c->policy->domains[i]));

        if (web_match(pattern, url, READ_NARROWLY) == MATCH_YES)
            return false;
    }
    web_domain(c->arena, url, &host);
    return set_refusal(
        c, S("policy:domains"),
        reason_unlisted(c->arena, "host", host, c->policy->domains, c->policy->n_domains));
}

bool hard_policy_refuses(const struct hard_policy *policy, const struct rulebook *rules,
                         const struct subject *s, struct arena *a,
                         struct policy_refusal *ret_refusal)
{
    struct policy_check c = {policy, rules, s, s->prepared, a, ret_refusal};
    const struct place *path = &s->prepared->path;
    const struct json *url = json_get(s->args, "url");

    if (path->given && refuses_place(&c, path, s->tool->risk == RISK_MODIFY))
        return true;
    if ((s->prepared->searched.given && refuses_place(&c, &s->prepared->searched, false)) ||
        (s->prepared->search_root.given && refuses_place(&c, &s->prepared->search_root, false)))
        return true;
    if (s->command &&
        ((policy->lists_commands && refuses_commands(&c)) || refuses_redirections(&c)))
        return true;
    return policy->lists_domains && str_is(str_of(s->tool->permission_arg), "url") &&
           refuses_host(&c, json_str(url));
}
