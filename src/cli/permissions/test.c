/* test.c - `keel permissions test`: what would become of a call, here and now. */
#include "cli/permissions/permissions.h"

#include "cli/interrupt.h"
#include "cli/output/text.h"
#include "cli/permissions/call.h"
#include "tool/names.h"

static const struct option options[] = {
    {"args", 0, "JSON", "all arguments of the call, instead of ARG"},
    PERMISSION_OPTIONS,
    {0},
};

struct
try {
    const struct args *args;
    struct permissions *permissions;
    struct permission_call call;
};

/* --- for people --- */

static void add_call(struct strbuf *out, const struct permission_call *c)
{
    const struct json *value =
        c->tool->permission_arg ? json_get(c->args, c->tool->permission_arg) : NULL;

    cli_add_visible(out, str_of(c->tool->name));
    if (!json_is(value, JSON_STRING))
        return;
    strbuf_add_char(out, '(');
    cli_add_visible(out, value->text);
    strbuf_add_char(out, ')');
}

static const struct rule *find_rule(const struct try *t, struct str text)
{
    const struct rule *found = NULL;

    for (int kind = 0; kind < N_RULE_KINDS && !found; kind++)
        found = rule_set_find(&t->permissions->set, (enum rule_kind)kind, text);
    return found;
}

static void add_row(struct strbuf *out, const char *name, struct str text)
{
    AUTO(strbuf) struct strbuf visible = {0};

    cli_add_visible(&visible, text);
    strbuf_addf(out, "  %-6s ", name);
    text_wrap(out, strbuf_str(&visible), 9, cli_n_columns());
    strbuf_add_char(out, '\n');
}

static void add_rule(struct strbuf *out, const struct try *t, struct str text)
{
    const struct rule *rule = find_rule(t, text);
    AUTO(strbuf) struct strbuf row = {0};

    if (text.n == 0)
        return;
    strbuf_add(&row, text);
    if (rule) {
        strbuf_addf(&row, "  (%s, ", rule_kind_name(rule->kind));
        permissions_add_source(&row, &rule->source);
        strbuf_add_char(&row, ')');
    }
    add_row(out, "rule", strbuf_str(&row));
}

/* The reason of a refusal is what the model reads: its first sentence says why, the others what the
 * model should do. */
static void add_reason(struct strbuf *out, const struct judged *j)
{
    size_t end = j->decision == DECISION_DENY ? str_find(j->reason, S(". ")) : STR_NONE;
    AUTO(strbuf) struct strbuf advice = {0};

    if (end == STR_NONE) {
        add_row(out, "why", j->reason);
        return;
    }
    add_row(out, "why", str_slice(j->reason, 0, end + 1));
    strbuf_addf(&advice, "reads: %" STR_FMT, STR_ARG(str_skip(j->reason, end + 2)));
    add_row(out, "model", strbuf_str(&advice));
}

static void add_judged(struct strbuf *out, const struct try *t, const struct judged *j)
{
    static const struct {
        const char *word;
        enum tint tint;
    } words[] = {[DECISION_AUTO] = {"allowed", TINT_GREEN},
                 [DECISION_APPROVE] = {"asks", TINT_YELLOW},
                 [DECISION_DENY] = {"denied", TINT_RED}};

    cli_add_tinted(out, words[j->decision].tint, str_of(words[j->decision].word));
    strbuf_add_cstr(out, "  ");
    add_call(out, &t->call);
    strbuf_add_char(out, '\n');
    add_reason(out, j);
    add_rule(out, t, j->rule);
    if (j->decision == DECISION_APPROVE)
        add_row(out, "so", S("keel asks you; print mode (keel -p) cannot ask and denies the call"));
    if (json_has(settings_get(t->permissions->project->settings, "hooks"), "PreToolUse"))
        add_row(out, "but",
                S("PreToolUse hooks are set and may decide otherwise; they were not run"));
}

/* --- for programs --- */

static void write_judged(struct strbuf *out, const struct try *t, const struct judged *j)
{
    const struct rule *rule = find_rule(t, j->rule);
    struct json_writer w;

    jw_init(&w, out);
    jw_begin_object(&w);
    permission_write_judged(&w, j);
    jw_kv_str(&w, "mode", str_of(permission_mode_name(t->call.mode)));
    jw_kv_str(&w, "tool", str_of(t->call.tool->name));
    jw_kv_json(&w, "args", t->call.args);
    if (rule) {
        jw_kv_str(&w, "kind", str_of(rule_kind_name(rule->kind)));
        permissions_write_source(&w, &rule->source);
    }
    jw_end_object(&w);
    strbuf_add_char(out, '\n');
}

/* --- the call --- */

static struct err *read_call(struct try *t)
{
    struct permissions *p = t->permissions;
    const struct args *args = t->args;
    const char *json = args_get(args, "args");

    TRY(tool_name_check("permissions test", str_of(args->operands[0])));
    t->call = (struct permission_call){
        .tool = permission_tool(&p->arena, str_of(args->operands[0])),
        .cwd = p->project->place.cwd,
        .rules = p->set.gate_rules,
        .policy = p->set.policy,
        .mode = p->set.mode,
    };
    if (!t->call.cwd)
        return err_hint(err_new(ERR_VALIDATION, "the working directory is gone"),
                        "start keel in a directory that exists");
    if (json && args->n_operands > 1)
        return err_new(ERR_VALIDATION, "ARG and --args cannot be combined");
    if (args->n_operands > 1)
        return permission_call_set(&t->call, &p->arena, str_of(args->operands[1]));
    TRY(permission_call_parse(&t->call, &p->arena, json ? str_of(json) : S("{}")));
    return permission_call_check(&t->call, &p->arena);
}

static struct err *judge_and_print(void *arg)
{
    const struct try *t = arg;
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf out = {0};
    struct judged judged;

    TRY(permission_call_judge(&t->call, &a, &judged));
    if (args_has(t->args, "json"))
        write_judged(&out, t, &judged);
    else
        add_judged(&out, t, &judged);
    return cli_print(strbuf_str(&out));
}

static struct err *permissions_test_run(const struct args *args, int *ret_status)
{
    AUTO(permissions) struct permissions p = {0};
    struct try t = {.args = args, .permissions = &p};

    TRY(args_count(args, 1, 2,
                   "a TOOL, and in quotes what rules match: a command, a path or a URL"));
    TRY(permissions_open(&p, args));
    TRY(read_call(&t));
    return cli_run_task(NULL, judge_and_print, &t);
}

const struct command command_permissions_test = {
    .name = "permissions test",
    .usage = "TOOL [ARG] [--mode MODE] [--json] [OPTIONS]\nTOOL --args JSON [OPTIONS]",
    .operands = COMPLETE_TOOLS,
    .summary = "show whether a call would be allowed here",
    .details = "ARG is what rules match: a command, a path, a URL. Uses the settings, trust and\n"
               "directory that a call would meet; runs nothing, not even hooks. Exits 0 whatever\n"
               "the decision is.\n\n"
               "  keel permissions test Bash 'git push'\n"
               "  keel permissions test Read .env\n"
               "  keel permissions test Edit --args '{\"file_path\": \"a.c\"}' --mode acceptEdits\n"
               "  keel permissions test WebFetch https://example.com/ --json\n",
    .options = options,
    .run = permissions_test_run,
};
