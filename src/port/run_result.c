/* run_result.c - names of endings, and the exit code they stand for. */
#include "port/run_result.h"

const char *run_outcome_name(enum run_outcome o)
{
    static const char *const names[] = {"done", "failed", "suspended", "interrupted"};
    return NAME_IN(names, o);
}

const char *final_reason_name(enum final_reason r)
{
    static const char *const names[] = {
        "",       "turn_limit", "unknown_tools", "corrections", "token_limit",
        "report", "router",     "stopped",
    };
    return NAME_IN(names, r);
}

enum err_kind final_reason_kind(enum final_reason r)
{
    switch (r) {
    case FINAL_UNKNOWN_TOOLS:
        return ERR_UNKNOWN_TOOL;
    case FINAL_CORRECTIONS:
        return ERR_TOOL_FAILED;
    case FINAL_TOKEN_LIMIT:
        return ERR_CONTEXT_OVERFLOW;
    default:
        return ERR_TURN_LIMIT;
    }
}

void run_result_done(struct run_result *r)
{
    err_free(r->error);
    mem_free(r->accounting);
    arena_done(&r->arena);
    *r = (struct run_result){0};
}

int64_t run_result_microcents(const struct run_result *r)
{
    return MAX(r->cost_microcents, (int64_t)0) + r->child_microcents;
}

bool run_result_cost_is_known(const struct run_result *r)
{
    return r->cost_is_known && !r->child_cost_is_unknown;
}

int run_result_exit_code(const struct run_result *r)
{
    if (r->outcome == RUN_SUSPENDED)
        return 3;
    if (r->error)
        return err_exit_code(r->error);
    return r->is_fallback ? err_exit_code(&(struct err){.kind = ERR_TURN_LIMIT}) : 0;
}
