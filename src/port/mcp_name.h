/* mcp_name.h - the names of tools that MCP servers offer: "mcp__SERVER__TOOL". Pure.
 *
 * Rules, flags and matchers of hooks use the same names, and patterns of them ("mcp__db__*"), also
 * for servers that are not there. */
#ifndef KEEL_PORT_MCP_NAME_H
#define KEEL_PORT_MCP_NAME_H

#include "base/str.h"

#define MCP_NAME_FORM "mcp__SERVER__TOOL"

/* Is it such a name, a server's, or a pattern of them? */
bool mcp_name_is(struct str name);
bool mcp_name_is_in(struct str text); /* of a regular expression: may it be about such names? */
/* Does `name` name the server ("mcp__db"), and is `tool` a tool of it ("mcp__db__query")? */
bool mcp_name_has_tool(struct str name, struct str tool);
/* The tool's name on its server: "query" of "mcp__db__query" and "db"; the whole name, if it is not
 * one of that server. */
struct str mcp_name_on_server(struct str tool, struct str server);

#endif
