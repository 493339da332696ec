/* remember.c - remembers answers, and which arguments were asked about. */
#include "gate/parts.h"

#include "gate/path.h"
#include "gate/prepared.h"

void gate_add_line(struct arena *a, struct str *text, struct str line)
{
    if (line.n == 0)
        return;
    *text =
        text->n ? arena_format(a, "%" STR_FMT "\n%" STR_FMT, STR_ARG(*text), STR_ARG(line)) : line;
}

/* --- answers that hold for longer --- */

static bool is_elsewhere(const struct prepared *p, struct arena *a)
{
    struct names given;

    if (!p->path.given || !p->path.real)
        return false;
    given = prepared_own_names(p, p->path.given, a);
    for (size_t i = 0; i < given.n; i++)
        if (strcmp(given.paths[i], p->path.real) == 0)
            return false;
    return true;
}

static void save_rule(const struct rule_keeper *keeper, struct str pattern, struct arena *a,
                      struct verdict *verdict)
{
    AUTO(err) struct err *e = keeper->keep ? keeper->keep(keeper->self, pattern) : NULL;
    AUTO_FREE char *text = e ? err_message(e) : NULL;

    if (e)
        gate_add_line(
            a, &verdict->hook_message,
            arena_format(a,
                         "The rule %" STR_FMT
                         " could not be saved for the project, but applies to this session: %s",
                         STR_ARG(pattern), text));
}

static void remember_pattern(const struct rule_keeper *keeper, enum answer_kind kind,
                             struct str pattern, struct tool_state *state, struct arena *a,
                             struct verdict *verdict)
{
    tool_state_set_flag(state, STATE_ALLOWED, pattern);
    if (kind == ANSWER_PROJECT)
        save_rule(keeper, pattern, a, verdict);
}

struct str gate_rule_of(const struct subject *s, const struct decided *d, struct arena *a)
{
    AUTO(strbuf) struct strbuf look = {0};
    struct str pattern;

    if (!d->outside)
        return pattern_of_call(s, a, &pattern) ? pattern : (struct str){0};
    pattern_add_look(&look, d->outside);
    return arena_str(a, strbuf_str(&look));
}

void gate_remember(const struct rule_keeper *keeper, enum answer_kind kind, const struct subject *s,
                   const struct decided *d, struct tool_state *state, struct arena *a,
                   struct verdict *verdict)
{
    AUTO(strbuf) struct strbuf target = {0};
    struct str pattern = gate_rule_of(s, d, a);

    if (!pattern.n)
        return;
    remember_pattern(keeper, kind, pattern, state, a, verdict);
    verdict->rule = pattern;
    if (d->outside || !subject_takes_path(s) || !is_elsewhere(s->prepared, a))
        return;
    strbuf_addf(&target, "%s(", s->tool->name);
    path_add_exact(&target, str_of(s->prepared->path.real));
    strbuf_add_char(&target, ')');
    remember_pattern(keeper, kind, arena_str(a, strbuf_str(&target)), state, a, verdict);
}

void gate_add_target(const struct prepared *p, struct arena *a, struct str *text)
{
    if (is_elsewhere(p, a))
        *text = arena_format(a, "%" STR_FMT " %s leads to %s.", STR_ARG(*text), p->path.given,
                             p->path.real);
}

/* --- answers that come later --- */

void gate_note_asked(const struct gate_call *call, const struct json *own_args,
                     const struct verdict *verdict, struct arena *a)
{
    if (!json_equal(own_args, verdict->args))
        tool_state_set(call->state, STATE_ASKED, call->call->id, verdict->args);
}

bool gate_is_answered(const struct gate_call *call, const struct json *own_args,
                      const struct verdict *verdict, struct arena *a)
{
    const struct json *asked;
    bool is_same;

    if (!call->answer)
        return false;
    asked = tool_state_get(call->state, STATE_ASKED, call->call->id);
    is_same = json_equal(asked ? asked : own_args, verdict->args);
    tool_state_set(call->state, STATE_ASKED, call->call->id, NULL);
    /* A denial applies to whatever the call has become. So do changed arguments, which the person
     * has seen. */
    return is_same || call->answer->args || call->answer->kind == ANSWER_NO;
}
