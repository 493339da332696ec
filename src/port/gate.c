/* gate.c - the names of permission modes, and the door to the gate. */
#include "port/gate.h"

static const char *const names[] = {"plan", "default", "acceptEdits", "bypassPermissions"};
static const struct {
    const char *trust;
    enum permission_mode mode;
} trusts[] = {{"safe", MODE_PLAN}, {"moderate", MODE_DEFAULT}, {"full", MODE_ACCEPT_EDITS}};

const char *permission_mode_name(enum permission_mode m)
{
    return names[m];
}

bool permission_mode_find(struct str name, enum permission_mode *ret_mode)
{
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(name, names[i])) {
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

struct err *gate_judge(struct gate *g, const struct gate_call *call, struct arena *a,
                       struct verdict *ret_verdict)
{
    *ret_verdict = (struct verdict){.kind = VERDICT_DENY};
    return g->judge(g, call, a, ret_verdict);
}
