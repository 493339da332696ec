/* denied_paths.c - what searches must not show: the paths denied to Read. */
#include "gate/gate.h"

#include "gate/path.h"

struct denied_paths {
    struct path_rule *rules;
    size_t n;
};

struct denied_paths *denied_paths_new(const struct permission_rules *rules,
                                      const struct tool_session *session)
{
    struct denied_paths *d = mem_alloc(sizeof *d);
    struct subject s = {.session = session, .environment = rules->environment};

    d->rules = mem_alloc(MAX(rules->n_deny, (size_t)1) * sizeof *d->rules);
    for (size_t i = 0; i < rules->n_deny; i++) {
        struct pattern p;

        if (!pattern_parse(rules->deny[i], &p) || !str_is(p.tool, "Read") || p.argument.n == 0)
            continue;
        /* One that cannot be read makes the gate ask before the search starts. */
        d->n += path_rule_init(&d->rules[d->n], pattern_takes_any(&p) ? S("//") : p.argument, &s,
                               READ_WIDELY);
    }
    return d;
}

void denied_paths_free(struct denied_paths *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->n; i++)
        path_rule_done(&d->rules[i]);
    mem_free(d->rules);
    mem_free(d);
}

static bool is_hidden(const void *self, struct str absolute_path, bool is_dir)
{
    const struct denied_paths *d = self;

    for (size_t i = 0; i < d->n; i++)
        if (path_rule_matches(&d->rules[i], absolute_path))
            return true;
    return false;
}

struct path_filter denied_paths_filter(const struct denied_paths *d)
{
    return (struct path_filter){.is_hidden = is_hidden, .self = d};
}
