/* permissions.c - `keel permissions`: which rules hold here, and what they mean. */
#include "cli/permissions/permissions.h"

#include "cli/commands.h"
#include "cli/flags/agent.h"

struct err *permissions_open(struct permissions *p, const struct args *args)
{
    struct agent_options options;
    enum permission_mode known;
    struct err *e;

    TRY(agent_flags_read(args, &p->arena, &options));
    options.mode = args_get(args, "mode");
    if (options.mode)
        TRY(agent_find_mode("--mode", str_of(options.mode), &known));
    TRY(agent_flags_project(args, &p->project));
    e = rule_set_init(&p->set, &p->arena, p->project, &options);
    for (size_t i = 0; i < p->set.n_warnings; i++)
        cli_tell("%" STR_FMT, STR_ARG(p->set.warnings[i]));
    return e;
}

void permissions_done(struct permissions *p)
{
    project_unref(p->project);
    arena_done(&p->arena);
    *p = (struct permissions){0};
}

void permissions_add_source(struct strbuf *out, const struct rule_source *s)
{
    strbuf_addf(out, "%s%s%" STR_FMT, s->layer, s->where.n ? ": " : "", STR_ARG(s->where));
}

void permissions_write_source(struct json_writer *w, const struct rule_source *s)
{
    jw_kv_str(w, "layer", str_of(s->layer));
    if (s->where.n)
        jw_kv_str(w, "where", s->where);
}

static const struct command *const children[] = {
    &command_permissions_list,
    &command_permissions_test,
    &command_permissions_explain,
    NULL,
};

const struct command command_permissions = {
    .name = "permissions",
    .usage = "list|test|explain",
    .group = "Set up",
    .summary = "what the agent may do here, and why",
    .details = "A call of a tool passes the hard policy (paths, commands, domains), then the\n"
               "rules: deny before ask before allow; where none matches, the mode decides.\n\n"
               "  keel permissions list                      every rule and where it comes from\n"
               "  keel permissions test Bash 'git push'      what would happen\n"
               "  keel permissions explain 'Edit(src/**)'    what a rule matches\n\n"
               "Rules are in settings files, under permissions.allow, ask and deny:\n"
               "  {\"permissions\": {\"allow\": [\"Bash(make *)\"], \"deny\": [\"Read(.env)\"]}}\n",
    .children = children,
};
