/* mcp_name.c - one prefix, one mark between server and tool. */
#include "port/mcp_name.h"

#define PREFIX S("mcp__")
#define BETWEEN S("__")

bool mcp_name_is(struct str name)
{
    return str_starts(name, PREFIX);
}

bool mcp_name_is_in(struct str text)
{
    return str_find(text, PREFIX) != STR_NONE;
}

bool mcp_name_has_tool(struct str name, struct str tool)
{
    return mcp_name_is(name) && str_find(str_skip(name, PREFIX.n), BETWEEN) == STR_NONE &&
           str_starts(tool, name) && str_starts(str_skip(tool, name.n), BETWEEN);
}

struct str mcp_name_on_server(struct str tool, struct str server)
{
    struct str rest = str_skip(tool, MIN(PREFIX.n, tool.n));

    if (!mcp_name_is(tool) || !str_starts(rest, server) ||
        !str_starts(str_skip(rest, server.n), BETWEEN))
        return tool;
    return str_skip(rest, server.n + BETWEEN.n);
}
