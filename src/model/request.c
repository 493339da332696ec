/* request.c - what follows from a request's settings. */
#include "model/request.h"

static const char *const effort_names[] = {
    [EFFORT_UNSET] = "",      [EFFORT_NONE] = "none",     [EFFORT_MINIMAL] = "minimal",
    [EFFORT_LOW] = "low",     [EFFORT_MEDIUM] = "medium", [EFFORT_HIGH] = "high",
    [EFFORT_XHIGH] = "xhigh", [EFFORT_MAX] = "max",
};

const char *effort_name(enum effort e)
{
    return effort_names[e];
}

bool effort_find(struct str name, enum effort *ret_effort)
{
    if (str_is(name, "off")) {
        *ret_effort = EFFORT_NONE;
        return true;
    }
    for (int e = EFFORT_NONE; e <= EFFORT_MAX; e++)
        if (str_is(name, effort_names[e])) {
            *ret_effort = (enum effort)e;
            return true;
        }
    return false;
}

int64_t request_max_output(const struct model_request *r)
{
    if (r->max_output > 0)
        return r->max_output;
    if (r->info && r->info->max_output > 0)
        return r->info->max_output;
    return MODEL_DEFAULT_MAX_OUTPUT;
}

int64_t request_reasoning_budget(const struct model_request *r)
{
    static const int percent[] = {
        [EFFORT_LOW] = 20,   [EFFORT_MEDIUM] = 50, [EFFORT_HIGH] = 80,
        [EFFORT_XHIGH] = 90, [EFFORT_MAX] = 95,
    };

    if (r->reasoning_budget > 0)
        return r->reasoning_budget;
    if (r->effort <= EFFORT_NONE)
        return 0;
    if (r->effort == EFFORT_MINIMAL)
        return 1024;
    return MAX(request_max_output(r) * percent[r->effort] / 100, (int64_t)1024);
}
