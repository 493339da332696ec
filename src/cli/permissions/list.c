/* list.c - `keel permissions list`: all rules, and where each comes from. */
#include "cli/permissions/permissions.h"

#include "cli/output/text.h"
#include "tool/names.h"

#define MAX_RULE_WIDTH 40

static const struct option options[] = {PERMISSION_OPTIONS, {0}};

/* --- what the mode decides where no rule matches --- */

struct class_row {
    const char *name;  /* as in a rule "mode:default/NAME" */
    const char *words; /* for people */
    enum decision decision;
};

#define N_CLASSES 7

static void find_classes(enum permission_mode mode, struct class_row rows[N_CLASSES])
{
    bool is_bypass = mode == MODE_BYPASS;
    enum decision modify = permission_mode_decide(mode, RISK_MODIFY);
    struct class_row all[N_CLASSES] = {
        {"inspect", "read files in the workspace and public ones",
         permission_mode_decide(mode, RISK_INSPECT)},
        {"outside", "read other files", is_bypass ? DECISION_AUTO : DECISION_APPROVE},
        {"network", "fetch and search the web, one host at a time",
         permission_mode_decide(mode, RISK_NETWORK)},
        {"modify", "change files in the workspace", modify},
        {"obeyed", "change files that other programs obey, such as AGENTS.md",
         mode == MODE_ACCEPT_EDITS ? DECISION_APPROVE : modify},
        {"execute", "run commands", permission_mode_decide(mode, RISK_EXECUTE)},
        {"unclassified", "call tools of servers", permission_mode_decide(mode, RISK_UNCLASSIFIED)},
    };

    memcpy(rows, all, sizeof all);
}

/* --- for people --- */

static void add_classes(struct strbuf *out, enum permission_mode mode)
{
    static const struct {
        const char *word;
        enum tint tint;
    } words[] = {[DECISION_AUTO] = {"allowed", TINT_GREEN},
                 [DECISION_APPROVE] = {"asks", TINT_YELLOW},
                 [DECISION_DENY] = {"denied", TINT_RED}};
    struct class_row rows[N_CLASSES];

    find_classes(mode, rows);
    for (size_t i = 0; i < N_CLASSES; i++) {
        const char *word = words[rows[i].decision].word;

        strbuf_add_cstr(out, "    ");
        cli_add_tinted(out, words[rows[i].decision].tint, str_of(word));
        strbuf_addf(out, "%*s", 9 - (int)strlen(word), "");
        text_wrap(out, str_of(rows[i].words), 13, cli_n_columns());
        strbuf_add_char(out, '\n');
    }
}

static const char *note_on(const struct rule *r)
{
    if (r->is_class && !r->is_used)
        return "not used: there is no sandbox, a setting is ask, or bash is missing";
    if (r->is_class)
        return str_is(r->text, RULE_LOOKING)
                   ? "commands that only look; keel permissions explain " RULE_LOOKING
                   : "all commands, in the sandbox";
    if (!r->is_used)
        return "not used: the project is not trusted (keel trust)";
    if (!permission_pattern_is_valid(r->text))
        return r->kind == RULE_ALLOW ? "not a valid rule: it never matches"
                                     : "not a valid rule: keel asks about every call of its tool";
    if (!tool_name_is_known(permission_pattern_tool(r->text)))
        return "there is no such tool: it never matches";
    return tool_name_is_absent(permission_pattern_tool(r->text))
               ? "a tool that keel does not have: it never matches"
               : NULL;
}

static size_t rule_width(const struct rule_set *set)
{
    size_t width = 0;

    for (size_t i = 0; i < set->n; i++)
        width = MAX(width, MIN(set->rules[i].text.n, (size_t)MAX_RULE_WIDTH));
    return width;
}

static void add_rule(struct strbuf *out, const struct rule *r, size_t width)
{
    static const enum tint tints[] = {TINT_RED, TINT_YELLOW, TINT_GREEN};
    AUTO(strbuf) struct strbuf source = {0}, remark = {0};
    const char *note = note_on(r);
    size_t used;

    permissions_add_source(&source, &r->source);
    strbuf_add_cstr(out, "  ");
    cli_add_tinted(out, note && !(r->is_class && r->is_used) ? TINT_FAINT : tints[r->kind],
                   r->text);
    strbuf_addf(out, "%*s", (int)(r->text.n < width ? width - r->text.n : 0) + 2, "");
    cli_add_tinted(out, TINT_FAINT, strbuf_str(&source));
    if (note) {
        used = 2 + MAX(r->text.n, width) + 2 + source.n + 2;
        strbuf_add_cstr(out, "  ");
        strbuf_addf(&remark, "(%s)", note);
        text_wrap_from(out, strbuf_str(&remark), used, 4, cli_n_columns());
    }
    strbuf_add_char(out, '\n');
}

static void add_rules(struct strbuf *out, const struct rule_set *set, enum rule_kind kind)
{
    static const char *const titles[] = {"Denied", "Asked about", "Allowed"};
    size_t n = 0;

    strbuf_add_char(out, '\n');
    cli_add_tinted(out, TINT_BOLD, str_of(titles[kind]));
    strbuf_add_char(out, '\n');
    for (size_t i = 0; i < set->n; i++)
        if (set->rules[i].kind == kind) {
            add_rule(out, &set->rules[i], rule_width(set));
            n++;
        }
    if (n == 0)
        strbuf_add_cstr(out, "  no rule\n");
}

static void add_list(struct strbuf *out, const char *title, bool is_set, const struct str *items,
                     size_t n)
{
    if (!is_set)
        return;
    strbuf_add_char(out, '\n');
    cli_add_tinted(out, TINT_BOLD, str_of(title));
    strbuf_add_cstr(out, n ? "\n" : "\n  none\n");
    for (size_t i = 0; i < n; i++) {
        strbuf_add_cstr(out, "  ");
        cli_add_visible(out, items[i]);
        strbuf_add_char(out, '\n');
    }
}

static void add_directories(struct strbuf *out, const struct permissions *p)
{
    strbuf_add_char(out, '\n');
    cli_add_tinted(out, TINT_BOLD, S("Files may be changed only in"));
    strbuf_add_cstr(out, "\n  ");
    cli_add_visible(out, str_of(p->project->place.cwd));
    strbuf_add_char(out, '\n');
    for (size_t i = 0; i < p->set.n_added_dirs; i++) {
        strbuf_add_cstr(out, "  ");
        cli_add_visible(out, str_of(p->set.added_dirs[i]));
        strbuf_add_char(out, '\n');
    }
}

static void add_all(struct strbuf *out, const struct permissions *p)
{
    const struct hard_policy *policy = &p->set.policy;
    AUTO(strbuf) struct strbuf source = {0};

    cli_add_tinted(out, TINT_BOLD, S("Mode"));
    permissions_add_source(&source, &p->set.mode_source);
    strbuf_addf(out, "\n  %s  ", permission_mode_name(p->set.mode));
    cli_add_tinted(out, TINT_FAINT, strbuf_str(&source));
    strbuf_add_char(out, '\n');
    add_classes(out, p->set.mode);
    for (int kind = 0; kind < N_RULE_KINDS; kind++)
        add_rules(out, &p->set, (enum rule_kind)kind);
    add_list(out, "Only these commands run", policy->lists_commands, policy->commands,
             policy->n_commands);
    add_list(out, "Only these domains may be fetched", policy->lists_domains, policy->domains,
             policy->n_domains);
    add_directories(out, p);
}

/* --- for programs --- */

static void write_list(struct json_writer *w, const char *name, bool is_set,
                       const struct str *items, size_t n)
{
    jw_key(w, name);
    if (!is_set) {
        jw_null(w);
        return;
    }
    jw_begin_array(w);
    for (size_t i = 0; i < n; i++)
        jw_str(w, items[i]);
    jw_end_array(w);
}

static void write_rules(struct json_writer *w, const struct rule_set *set)
{
    jw_key(w, "rules");
    jw_begin_array(w);
    for (size_t i = 0; i < set->n; i++) {
        const struct rule *r = &set->rules[i];

        jw_begin_object(w);
        jw_kv_str(w, "kind", str_of(rule_kind_name(r->kind)));
        jw_kv_str(w, "rule", r->text);
        permissions_write_source(w, &r->source);
        jw_kv_bool(w, "used", r->is_used);
        jw_kv_bool(w, "valid", r->is_class || permission_pattern_is_valid(r->text));
        jw_end_object(w);
    }
    jw_end_array(w);
}

static void write_classes(struct json_writer *w, enum permission_mode mode)
{
    struct class_row rows[N_CLASSES];

    find_classes(mode, rows);
    jw_key(w, "classes");
    jw_begin_object(w);
    for (size_t i = 0; i < N_CLASSES; i++)
        jw_kv_str(w, rows[i].name, str_of(decision_name(rows[i].decision)));
    jw_end_object(w);
}

static void write_all(struct strbuf *out, const struct permissions *p)
{
    const struct hard_policy *policy = &p->set.policy;
    struct json_writer w;

    jw_init(&w, out);
    jw_begin_object(&w);
    jw_key(&w, "mode");
    jw_begin_object(&w);
    jw_kv_str(&w, "value", str_of(permission_mode_name(p->set.mode)));
    permissions_write_source(&w, &p->set.mode_source);
    jw_end_object(&w);
    write_classes(&w, p->set.mode);
    write_rules(&w, &p->set);
    write_list(&w, "allowedCommands", policy->lists_commands, policy->commands, policy->n_commands);
    write_list(&w, "allowedDomains", policy->lists_domains, policy->domains, policy->n_domains);
    jw_key(&w, "additionalDirectories");
    jw_begin_array(&w);
    for (size_t i = 0; i < p->set.n_added_dirs; i++)
        jw_str(&w, str_of(p->set.added_dirs[i]));
    jw_end_array(&w);
    jw_end_object(&w);
    strbuf_add_char(out, '\n');
}

static struct err *permissions_list_run(const struct args *args, int *ret_status)
{
    AUTO(permissions) struct permissions p = {0};
    AUTO(strbuf) struct strbuf out = {0};

    TRY(args_count(args, 0, 0, "no arguments"));
    TRY(permissions_open(&p, args));
    if (args_has(args, "json"))
        write_all(&out, &p);
    else
        add_all(&out, &p);
    return cli_print(strbuf_str(&out));
}

const struct command command_permissions_list = {
    .name = "permissions list",
    .usage = "[--json] [OPTIONS]",
    .summary = "print every rule and where it comes from",
    .details = "Rules add up over all settings files and flags. Those of a project that you do\n"
               "not trust count only where they deny or ask; the others are marked.\n\n"
               "  keel permissions list --mode acceptEdits\n",
    .options = options,
    .run = permissions_list_run,
};
