/* gate.c - the names of permission modes, and the door to the gate. */
#include "port/gate.h"

#include "base/clip.h"
#include "base/utf8.h"

static const char *const mode_names[] = {"plan", "default", "acceptEdits", "bypassPermissions"};
_Static_assert(ARRAY_LEN(mode_names) == MODE_BYPASS + 1, "each mode has a name");
static const struct {
    const char *trust;
    enum permission_mode mode;
} trusts[] = {{"safe", MODE_PLAN}, {"moderate", MODE_DEFAULT}, {"full", MODE_ACCEPT_EDITS}};

const char *permission_mode_name(enum permission_mode m)
{
    return mode_names[m];
}

bool permission_mode_find(struct str name, enum permission_mode *ret_mode)
{
    for (size_t i = 0; i < ARRAY_LEN(mode_names); i++)
        if (str_is(name, mode_names[i])) {
            *ret_mode = (enum permission_mode)i;
            return true;
        }
    for (size_t i = 0; i < ARRAY_LEN(trusts); i++)
        if (str_is(name, trusts[i].trust)) {
            *ret_mode = trusts[i].mode;
            return true;
        }
    return false;
}

#define MAX_NAME_CHARS 100

struct str gate_unknown_tool(struct arena *a, const struct tool_set *tools, struct str name)
{
    AUTO(strbuf) struct strbuf text = {0}, valid = {0};
    const struct tool_entry *guess = tool_set_guess(tools, name);

    utf8_add_repaired(&valid, name);
    strbuf_add_cstr(&text, "Error: Tool \"");
    clip_line(&text, strbuf_str(&valid), MAX_NAME_CHARS);
    strbuf_add_cstr(&text, "\" is not registered, so the tool call was not executed. ");
    if (guess) {
        strbuf_addf(&text, "Use %s (", guess->tool->name);
        tool_entry_add_arguments(guess, &text);
        strbuf_add_cstr(&text, "). ");
    }
    strbuf_add_cstr(&text, tools->n ? "Available tools: " : "No tools are available");
    tool_set_names(tools, &text);
    strbuf_add_char(&text, '.');
    return arena_str(a, strbuf_str(&text));
}

static void refuse_all(const struct gate_call *call, struct arena *a, struct verdict *v)
{
    bool is_known = tool_set_find(call->tools, call->call->name) != NULL;

    v->kind = is_known ? VERDICT_DENY : VERDICT_UNKNOWN_TOOL;
    v->step = is_known ? 7 : 2;
    v->reason = is_known ? S("Permission denied: this run may not use tools.")
                         : gate_unknown_tool(a, call->tools, call->call->name);
}

enum risk verdict_class(const struct verdict *v)
{
    return v->risk.is_trusted ? v->risk.risk : v->entry->tool->risk;
}

/* A gate that does not look at calls has only the tools' classes. */
static void complete_risk(struct verdict *v)
{
    if (v->entry && v->risk.risk == RISK_UNCLASSIFIED)
        v->risk = (struct call_risk){v->entry->tool->risk, .is_trusted = true};
}

struct err *gate_judge(struct gate *g, const struct gate_call *call, struct arena *a,
                       struct verdict *ret_verdict)
{
    *ret_verdict = (struct verdict){.kind = VERDICT_DENY};
    if (g)
        TRY(g->judge(g, call, a, ret_verdict));
    else
        refuse_all(call, a, ret_verdict);
    complete_risk(ret_verdict);
    return NULL;
}

struct err *gate_foresee(struct gate *g, const struct gate_call *call, struct arena *a,
                         struct verdict *ret_verdict, bool *ret_runs)
{
    *ret_runs = false;
    if (!g || !g->foresee)
        return NULL;
    TRY(g->foresee(g, call, a, ret_verdict, ret_runs));
    complete_risk(ret_verdict);
    return NULL;
}
