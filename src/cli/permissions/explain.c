/* explain.c - `keel permissions explain`: a rule in words, and where it ends. */
#include "cli/permissions/explain.h"

#include "cli/interrupt.h"
#include "cli/output/text.h"
#include "cli/permissions/call.h"
#include "cli/permissions/permissions.h"
#include "gate/look/look.h"
#include "gate/pattern.h"
#include "gate/wildcard.h"

#include <unistd.h>

#define WIDTH 80 /* at most, and where there is no terminal */

static const struct option options[] = {
    {"settings", 0, "FILE|JSON", "more settings; they override all files"},
    {0},
};

static size_t width(void)
{
    size_t n_columns = cli_n_columns();

    return n_columns ? MIN(n_columns, (size_t)WIDTH) : WIDTH;
}

/* --- in words --- */

static struct str command_in_words(struct arena *a, struct str pattern)
{
    struct str head;

    if (rule_command_head(pattern, &head) && wildcard_is_literal(head))
        return arena_format(a, "the command \"%" STR_FMT "\", alone or with anything after it",
                            STR_ARG(head));
    if (wildcard_is_literal(pattern))
        return arena_format(a, "exactly the command \"%" STR_FMT "\"", STR_ARG(pattern));
    return arena_format(a, "commands like \"%" STR_FMT "\", where each * is anything, even nothing",
                        STR_ARG(pattern));
}

static struct str path_in_words(struct arena *a, struct str pattern, const char *root)
{
    const char *stars =
        str_find_char(pattern, '*') == STR_NONE ? "" : ", where * stops at a slash and ** does not";

    if (str_starts(pattern, S("//")))
        return arena_format(a, "the path %" STR_FMT " of the file system%s",
                            STR_ARG(str_skip(pattern, 1)), stars);
    if (str_starts(pattern, S("~")))
        return arena_format(a, "%" STR_FMT " in your home directory%s", STR_ARG(pattern), stars);
    return arena_format(a, "%s/%" STR_FMT "%s", strcmp(root, "/") == 0 ? "" : root,
                        STR_ARG(str_starts(pattern, S("/")) ? str_skip(pattern, 1) : pattern),
                        stars);
}

static struct str url_in_words(struct arena *a, struct str pattern)
{
    struct str host = str_trim(str_skip(pattern, 7));

    if (str_starts(pattern, S("host:")))
        return arena_format(a, "the host %" STR_FMT " alone",
                            STR_ARG(str_trim(str_skip(pattern, 5))));
    if (!str_starts(pattern, S("domain:")))
        return arena_format(a, "URLs like \"%" STR_FMT "\", where *%s is anything",
                            STR_ARG(pattern),
                            str_find(pattern, S("://")) == STR_NONE ? "" : " in the path");
    if (str_starts(host, S("*.")))
        return arena_format(a, "hosts below %" STR_FMT, STR_ARG(str_skip(host, 2)));
    return arena_format(a, "the host %" STR_FMT " and those below it", STR_ARG(host));
}

static struct str argument_in_words(struct arena *a, const struct tool *tool, struct str pattern,
                                    const char *root)
{
    switch (rule_argument_of(tool)) {
    case ARGUMENT_COMMAND:
        return command_in_words(a, pattern);
    case ARGUMENT_PATH:
        return path_in_words(a, pattern, root);
    case ARGUMENT_URL:
        return url_in_words(a, pattern);
    case ARGUMENT_TEXT:
        return arena_format(a, "\"%s\" like \"%" STR_FMT "\", where * is anything",
                            tool->permission_arg, STR_ARG(pattern));
    case ARGUMENT_NONE:
        break;
    }
    return arena_format(a, "\"%" STR_FMT "\" as its argument", STR_ARG(pattern));
}

static const char *how_it_is_read(enum rule_argument argument)
{
    switch (argument) {
    case ARGUMENT_COMMAND:
        return "As an allow rule, it must match every command in the line as written, and files "
               "that the line writes need their own rule. As a deny or ask rule, it applies if it "
               "matches one of them, however that one is spelled.";
    case ARGUMENT_PATH:
        return "As a deny or ask rule, it also covers everything below, a name without a slash "
               "means that name at any depth, and the rule applies to other tools too.";
    default:
        return NULL;
    }
}

/* --- examples --- */

struct explain {
    struct permissions *permissions;
    struct pattern pattern;
    struct str text;
    const struct tool *tool;
    struct strbuf out;
};

static const char *as_deny(const struct explain *x, const struct permission_call *c,
                           const struct tool_state *session)
{
    struct permission_rules rules = c->rules;
    AUTO(rulebook) struct rulebook *book = NULL;
    struct decided d;

    rules.deny = &x->text;
    rules.n_deny = 1;
    rules.n_allow = 0;
    book = rulebook_new(&rules);
    d = permission_decide(book, MODE_DEFAULT, c->tool, c->args, session, NULL);
    return d.by == DECIDED_BY_DENY ? "denies" : d.by == DECIDED_BY_UNCLEAR_DENY ? "asks" : "-";
}

/* What the hard policy refuses, no rule can allow. */
static struct err *is_refused(const struct explain *x, struct permission_call c, struct arena *a,
                              bool *ret_is_refused)
{
    struct judged judged;

    c.rules.allow = &x->text;
    c.rules.n_allow = 1;
    TRY(permission_call_judge(&c, a, &judged));
    *ret_is_refused = judged.decision == DECISION_DENY && judged.step == GATE_STEP_POLICY;
    return NULL;
}

static struct err *add_example(struct explain *x, struct str value)
{
    AUTO(arena) struct arena a = {0};
    struct permission_call c = {
        .tool = x->tool,
        .cwd = x->permissions->project->place.cwd,
        .policy = x->permissions->set.policy,
        .mode = MODE_BYPASS,
    };
    AUTO(tool_state) struct tool_state *session = tool_state_new(str_of(c.cwd));
    bool allows, refused = false;

    TRY(permission_call_set(&c, &a, value));
    allows = permission_pattern_matches(x->text, c.tool, c.args, session);
    if (allows)
        TRY(is_refused(x, c, &a, &refused));
    strbuf_addf(&x->out, "  %-9s %-9s ",
                refused  ? "refused"
                : allows ? "allows"
                         : "-",
                as_deny(x, &c, session));
    cli_add_visible(&x->out, value);
    strbuf_add_char(&x->out, '\n');
    return NULL;
}

static struct err *add_examples(struct explain *x)
{
    struct examples examples;

    if (pattern_takes_any(&x->pattern))
        return NULL;
    examples_make(&examples, &x->permissions->arena, x->tool, x->pattern.argument);
    if (examples.n == 0)
        return NULL;
    strbuf_add_char(&x->out, '\n');
    cli_add_tinted(&x->out, TINT_FAINT, S("  as allow  as deny   a call with"));
    strbuf_add_char(&x->out, '\n');
    for (size_t i = 0; i < examples.n; i++)
        TRY(add_example(x, examples.items[i]));
    return NULL;
}

/* --- all of it --- */

static void add_paragraph(struct explain *x, struct str text)
{
    AUTO(strbuf) struct strbuf visible = {0};

    cli_add_visible(&visible, text);
    strbuf_add_cstr(&x->out, "  ");
    text_wrap(&x->out, strbuf_str(&visible), 2, width());
    strbuf_add_char(&x->out, '\n');
}

static void add_meaning(struct explain *x)
{
    struct arena *a = &x->permissions->arena;
    struct str name = x->pattern.tool;
    bool is_many = str_find_char(name, '*') != STR_NONE;
    const char *more = how_it_is_read(rule_argument_of(x->tool));

    if (pattern_takes_any(&x->pattern)) {
        add_paragraph(x, is_many ? arena_format(a,
                                                "Every call of every tool whose name is like "
                                                "%" STR_FMT ".",
                                                STR_ARG(name))
                                 : arena_format(a, "Every call of %" STR_FMT " (%s).",
                                                STR_ARG(name), risk_name(x->tool->risk)));
        return;
    }
    add_paragraph(x, arena_format(a, "Calls of %" STR_FMT " with %" STR_FMT ".", STR_ARG(name),
                                  STR_ARG(argument_in_words(a, x->tool, x->pattern.argument,
                                                            x->permissions->project->place.cwd))));
    if (more)
        add_paragraph(x, str_of(more));
}

static void add_warnings(struct explain *x)
{
    struct rule_warnings warnings;

    rule_warnings_find(&warnings, &x->permissions->arena, &x->pattern, x->tool,
                       x->permissions->project->place.cwd);
    for (size_t i = 0; i < warnings.n; i++) {
        AUTO(strbuf) struct strbuf visible = {0};

        cli_add_visible(&visible, warnings.items[i]);
        strbuf_add_cstr(&x->out, i ? "  " : "\n  ");
        cli_add_tinted(&x->out, TINT_YELLOW, S("note"));
        strbuf_add_cstr(&x->out, "  ");
        text_wrap(&x->out, strbuf_str(&visible), 8, width());
        strbuf_add_char(&x->out, '\n');
    }
}

static struct err *explain_rule(void *arg)
{
    struct explain *x = arg;

    cli_add_tinted(&x->out, TINT_BOLD, x->text);
    strbuf_add_char(&x->out, '\n');
    add_meaning(x);
    TRY(add_examples(x));
    add_warnings(x);
    return NULL;
}

/* --- the table of commands that only look --- */

static struct err *explain_looking(void)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf out = {0};
    size_t n;
    const struct look_program *all = look_programs(&a, &n);

    cli_add_tinted(&out, TINT_BOLD, S(RULE_LOOKING));
    strbuf_add_cstr(&out, "\n  ");
    text_wrap(&out,
              S("Bash lines in which every command only looks. They run without asking, in a "
                "sandbox that has no network, where they can change nothing and see only what "
                "Read shows without asking. keel asks about a line that names another path. Deny "
                "and ask rules win. The table includes sed and awk programs that only print, git "
                "commands that list and show, and --version of common programs."),
              2, width());
    strbuf_add_cstr(&out, "\n\n");
    for (size_t i = 0; i < n; i++)
        if (all[i].but)
            strbuf_addf(&out, "  %-10s without %s\n", all[i].name, all[i].but);
        else
            strbuf_addf(&out, "  %s\n", all[i].name);
    return cli_print(strbuf_str(&out));
}

static struct err *permissions_explain_run(const struct args *args, int *ret_status)
{
    AUTO(permissions) struct permissions p = {0};
    struct explain x = {.permissions = &p};
    struct err *e;

    TRY(args_count(args, 1, 1, "a RULE, in quotes"));
    x.text = str_of(args->operands[0]);
    if (str_is(x.text, RULE_LOOKING))
        return explain_looking();
    if (str_starts(x.text, S("built-in:")))
        return err_hint(err_new(ERR_VALIDATION, "keel has no rule \"%s\"", args->operands[0]),
                        "did you mean " RULE_LOOKING "?");
    if (!pattern_parse(x.text, &x.pattern))
        return err_hint(err_new(ERR_VALIDATION, "\"%s\" is not a valid rule", args->operands[0]),
                        "%s; as a deny rule in the settings, this text makes keel ask about every "
                        "call of its tool",
                        permission_pattern_hint(&p.arena, x.text));
    TRY(permissions_open(&p, args));
    if (!p.project->place.cwd)
        return err_new(ERR_VALIDATION, "the working directory is gone");
    x.tool = permission_tool(&p.arena, x.pattern.tool);
    e = cli_run_task(NULL, explain_rule, &x);
    if (!e)
        e = cli_print(strbuf_str(&x.out));
    strbuf_done(&x.out);
    return e;
}

const struct command command_permissions_explain = {
    .name = "permissions explain",
    .usage = "RULE",
    .summary = "explain what a rule matches",
    .details = "Prints examples with what keel decides about each, for an allow rule and for a\n"
               "deny rule: allow rules are read narrowly, deny rules widely. \"refused\" means\n"
               "that the hard policy denies the call whatever the rules say.\n\n"
               "  keel permissions explain 'Bash(git log:*)'\n"
               "  keel permissions explain 'Edit(/docs/**)'\n"
               "  keel permissions explain 'WebFetch(domain:example.com)'\n"
               "  keel permissions explain " RULE_LOOKING "\n",
    .options = options,
    .run = permissions_explain_run,
};
