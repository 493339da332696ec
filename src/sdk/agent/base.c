/* base.c - makes what agents have in common, once for all for whom the same rules hold. */
#include "sdk/agent/base.h"

#include "config/network_rules.h"
#include "config/settings_hooks.h"
#include "sdk/agent/parts.h"

/* --- which rules --- */

static void add_text(struct sha256 *h, struct str text)
{
    sha256_add(h, str_make((const char *)&text.n, sizeof text.n));
    sha256_add(h, text);
}

static void add_number(struct sha256 *h, uint64_t n)
{
    sha256_add(h, str_make((const char *)&n, sizeof n));
}

static void add_paths(struct sha256 *h, const char *const *paths, size_t n)
{
    add_number(h, n);
    for (size_t i = 0; i < n; i++)
        add_text(h, str_of(paths[i]));
}

static void add_texts(struct sha256 *h, const struct str *texts, size_t n)
{
    add_number(h, n);
    for (size_t i = 0; i < n; i++)
        add_text(h, texts[i]);
}

/* All of a set but its mode, and what follows from the project alone. */
static void add_up(const struct rule_set *s, unsigned char sum[SHA256_SIZE])
{
    const struct hard_policy *p = &s->policy;
    struct sha256 h;

    sha256_init(&h);
    add_number(&h, s->n);
    for (size_t i = 0; i < s->n; i++) {
        const struct rule *r = &s->rules[i];

        add_text(&h, r->text);
        add_text(&h, str_of(r->source.layer));
        add_text(&h, r->source.where);
        add_number(&h,
                   (uint64_t)r->kind << 3 | r->is_untrusted << 2 | r->is_used << 1 | r->is_class);
    }
    add_number(&h, s->gate_rules.looks_freely << 2 | s->gate_rules.commands_run_freely << 1 |
                       s->gate_rules.other_shell);
    add_paths(&h, (const char *[]){p->workspace, p->real_workspace}, 2);
    add_paths(&h, p->secret, p->n_secret);
    add_paths(&h, s->added_dirs, s->n_added_dirs);
    add_text(&h, str_of(s->shell));
    add_texts(&h, s->warnings, s->n_warnings);
    sha256_end(&h, sum);
}

/* --- what follows from them --- */

/* What is forbidden altogether need not be shown either. */
static void find_denied_tools(struct agent_base *b)
{
    const struct permission_rules *rules = &b->rules.gate_rules;
    struct texts bare = {0};

    for (size_t i = 0; i < rules->n_deny; i++)
        if (str_find_char(rules->deny[i], '(') == STR_NONE)
            texts_add(&bare, &b->arena, rules->deny[i]);
    b->denied_tools = bare.items;
    b->n_denied_tools = bare.n;
}

static struct err *complete(struct agent_base *b, struct project *p)
{
    const struct settings *s = p->settings;

    find_denied_tools(b);
    b->tool_config.added_dirs = b->rules.added_dirs;
    b->tool_config.n_added_dirs = b->rules.n_added_dirs;
    b->tool_config.shell = str_of(b->rules.shell);
    b->tool_config.secrets = project_secrets(p, NULL);
    b->tool_config.is_confined = settings_bool(s, "sandbox.enabled", true);
    b->compact_instructions = settings_text(s, "compact.instructions", &b->arena);
    TRY(agent_base_add_tools(b));
    TRY(network_rules_from_settings(&b->arena, s, &b->rules.gate_rules, &b->network));
    return settings_hooks(s, &b->hooks);
}

/* --- its life --- */

static void agent_base_free(struct agent_base *b)
{
    hook_config_free(b->hooks);
    tool_registry_free(b->tools);
    arena_done(&b->arena);
    mem_free(b);
}

static struct agent_base *find(const struct project *p, const unsigned char sum[SHA256_SIZE])
{
    struct agent_base *b = p->bases;

    while (b && memcmp(b->sum, sum, SHA256_SIZE) != 0)
        b = b->next;
    return b;
}

static void enter(struct agent_base *b, struct project *p)
{
    b->owner = p;
    b->next = p->bases;
    p->bases = b;
}

struct err *agent_base_get(struct project *p, const struct agent_options *options,
                           struct agent_base **ret_base, enum permission_mode *ret_mode)
{
    struct agent_base *b = mem_alloc(sizeof *b), *known;

    *b = (struct agent_base){.project = p, .n_refs = 1};
    *ret_base = b;
    TRY(rule_set_init(&b->rules, &b->arena, p, options));
    *ret_mode = b->rules.mode;
    add_up(&b->rules, b->sum);
    known = find(p, b->sum);
    if (known) {
        agent_base_free(b);
        known->n_refs++;
        *ret_base = known;
        return NULL;
    }
    TRY(complete(b, p));
    enter(b, p);
    return NULL;
}

void agent_base_unref(struct agent_base *b)
{
    struct agent_base **at;

    if (!b || --b->n_refs)
        return;
    if (b->owner) {
        for (at = &b->owner->bases; *at != b;)
            at = &(*at)->next;
        *at = b->next;
    }
    agent_base_free(b);
}
