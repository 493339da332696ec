/* names.c - tools that exist in keel or elsewhere. */
#include "tool/names.h"

#include "base/alike.h"
#include "base/glob.h"
#include "base/strbuf.h"
#include "port/mcp_name.h"
#include "tool/builtin.h"

/* Tools of Claude Code, whose rules and flags keel accepts. One that keel has too counts as its
 * own. */
static const char *const others[] = {
    "Agent",
    "AgentOutput",
    "CronCreate",
    "CronDelete",
    "CronList",
    "EnterPlanMode",
    "EnterWorktree",
    "ExitWorktree",
    "LS",
    "LSP",
    "ListMcpResources",
    "ListMcpResourcesTool",
    "McpCall",
    "Monitor",
    "MultiEdit",
    "NotebookRead",
    "PowerShell",
    "ReadMcpResource",
    "ReadMcpResourceTool",
    "SendMessage",
    "Skill",
    "SlashCommand",
    "StructuredOutput",
    "Task",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TodoRead",
    "ToolSearch",
};

static bool fits_name(struct str pattern, const char *name)
{
    AUTO(glob) struct glob *g = NULL;
    AUTO(err) struct err *e = NULL;

    if (str_is(pattern, name))
        return true;
    if (str_find_char(pattern, '*') == STR_NONE)
        return false;
    e = glob_compile(pattern, 0, &g);
    return !e && glob_matches(g, str_of(name));
}

static bool is_here(struct str name)
{
    for (struct tool *const *t = builtin_tools; *t; t++)
        if (fits_name(name, (*t)->name))
            return true;
    return mcp_name_is(name);
}

bool tool_name_is_absent(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (fits_name(name, others[i]))
            return !is_here(name);
    return false;
}

bool tool_name_is_known(struct str name)
{
    return is_here(name) || tool_name_is_absent(name);
}

const char *tool_name_guess(struct str name)
{
    struct alike a = {.word = name};

    for (struct tool *const *t = builtin_tools; *t; t++)
        alike_try(&a, str_of((*t)->name));
    return a.best.n ? a.best.p : NULL;
}

const struct str *tool_names(struct arena *a, size_t *ret_n, size_t *ret_n_own)
{
    struct str *names;
    size_t n = 0;

    while (builtin_tools[n])
        n++;
    names = ARENA_ARRAY(a, n + ARRAY_LEN(others), struct str);
    for (size_t i = 0; i < n; i++)
        names[i] = str_of(builtin_tools[i]->name);
    *ret_n_own = n;
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (!is_here(str_of(others[i])))
            names[n++] = str_of(others[i]);
    *ret_n = n;
    return names;
}

struct err *tool_name_check(const char *where, struct str name)
{
    AUTO(strbuf) struct strbuf all = {0};
    const char *guess = tool_name_guess(name);
    struct err *e;

    if (tool_name_is_known(name))
        return NULL;
    e = err_new(ERR_VALIDATION, "%s: unknown tool \"%" STR_FMT "\"", where, STR_ARG(name));
    if (guess)
        return err_hint(e, "did you mean %s?", guess);
    for (struct tool *const *t = builtin_tools; *t; t++)
        strbuf_addf(&all, "%s%s", all.n ? ", " : "", (*t)->name);
    return err_hint(e, "one of: %s, or " MCP_NAME_FORM, strbuf_cstr(&all));
}
