/* call.c - makes up calls and lets the gate judge them. */
#include "cli/permissions/call.h"

#include "base/alike.h"
#include "tool/builtin.h"

/* Rules about agents are rules about which one is asked. */
static const struct tool agent_tool = {
    .permission_arg = "subagent_type",
    .aliases = "agent=subagent_type subagentType=subagent_type",
};

static const struct tool *find_built_in(struct str name)
{
    for (struct tool *const *t = builtin_tools; *t; t++)
        if (str_is(name, (*t)->name))
            return *t;
    return NULL;
}

bool permission_tool_is_known(struct str name)
{
    return find_built_in(name) != NULL;
}

const struct tool *permission_tool(struct arena *a, struct str name)
{
    const struct tool *known = find_built_in(name);
    struct tool *made;

    if (known)
        return known;
    made = ARENA_NEW(a, struct tool);
    if (str_is(name, "Agent") || str_is(name, "Task"))
        *made = agent_tool;
    made->name = arena_cstr(a, name);
    made->risk = RISK_UNCLASSIFIED;
    return made;
}

struct err *permission_call_parse(struct permission_call *c, struct arena *a, struct str json_text)
{
    struct json *given;
    struct err *e = json_parse(a, json_text, 0, &given);

    if (e)
        return err_wrap(e, "--args");
    if (given->type != JSON_OBJECT)
        return err_hint(err_new(ERR_VALIDATION, "--args must be a JSON object, not %s",
                                json_type_name(given->type)),
                        "such as '{\"command\": \"git push\"}'");
    c->args = tool_rename_arguments(c->tool, given, a);
    return NULL;
}

static struct err *unknown_argument(const struct tool *t, const struct json *known, struct str name)
{
    struct err *e = err_new(ERR_VALIDATION, "--args: %s has no argument \"%" STR_FMT "\"", t->name,
                            STR_ARG(name));
    struct alike near = {.word = name};
    AUTO(strbuf) struct strbuf names = {0};

    json_each (property, known) {
        alike_try(&near, property->key);
        strbuf_addf(&names, "%s%" STR_FMT, names.n ? ", " : "", STR_ARG(property->key));
    }
    return near.best.n ? err_hint(e, "did you mean \"%" STR_FMT "\"?", STR_ARG(near.best))
                       : err_hint(e, "it takes: %s", strbuf_cstr(&names));
}

struct err *permission_call_check(const struct permission_call *c, struct arena *a)
{
    const char *matched = c->tool->permission_arg;
    const struct json *value = matched ? json_get(c->args, matched) : NULL, *known;
    struct json *schema;

    if (!c->tool->schema) /* of a server: keel does not know it here */
        return NULL;
    TRY(json_parse(a, str_of(c->tool->schema), 0, &schema));
    known = json_get(schema, "properties");
    json_each (argument, c->args)
        if (!json_get_str(known, argument->key))
            return unknown_argument(c->tool, known, argument->key);
    if (value && value->type != JSON_STRING)
        return err_new(ERR_VALIDATION, "--args: \"%s\" of %s must be a string, not %s", matched,
                       c->tool->name, json_type_name(value->type));
    return NULL;
}

struct err *permission_call_set(struct permission_call *c, struct arena *a, struct str value)
{
    struct json *args = json_new(a, JSON_OBJECT);

    if (!c->tool->permission_arg)
        return err_hint(err_new(ERR_VALIDATION,
                                "rules match no argument of %s, so \"%" STR_FMT "\" has no meaning",
                                c->tool->name, STR_ARG(value)),
                        "remove it, or give all arguments with --args JSON");
    json_set_str(a, args, c->tool->permission_arg, value);
    c->args = args;
    return NULL;
}

struct err *permission_call_judge(const struct permission_call *c, struct arena *a,
                                  struct judged *ret_judged)
{
    AUTO(tool_state) struct tool_state *session = tool_state_new(str_of(c->cwd));

    return permission_judge(&c->rules, &c->policy, c->mode, c->tool, c->args, session, a,
                            ret_judged);
}

void permission_write_judged(struct json_writer *w, const struct judged *j)
{
    jw_kv_str(w, "decision", str_of(decision_name(j->decision)));
    jw_kv_int(w, "step", j->step);
    jw_key(w, "rule");
    if (j->rule.n)
        jw_str(w, j->rule);
    else
        jw_null(w);
    jw_kv_str(w, "reason", j->reason);
}
