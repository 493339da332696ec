/* mcp_name_test.c */
#include "test.h"

#include "port/mcp_name.h"

TEST(names_of_servers_tools_and_patterns_begin_alike)
{
    assert_true(mcp_name_is(S("mcp__db__query")));
    assert_true(mcp_name_is(S("mcp__db")));
    assert_true(mcp_name_is(S("mcp__*")));
    assert_false(mcp_name_is(S("mcp_db")));
    assert_false(mcp_name_is(S("Bash")));
    assert_false(mcp_name_is(S("my_mcp__db")));
    assert_true(mcp_name_is_in(S("Bash|mcp__db__.*")));
    assert_false(mcp_name_is_in(S("Bash|Edit")));
}

TEST(a_server_has_its_own_tools_and_no_others)
{
    assert_true(mcp_name_has_tool(S("mcp__db"), S("mcp__db__query")));
    assert_false(mcp_name_has_tool(S("mcp__db"), S("mcp__dbase__query")));
    assert_false(mcp_name_has_tool(S("mcp__db"), S("mcp__db")));
    assert_false(mcp_name_has_tool(S("mcp__db__query"), S("mcp__db__query__more")));
    assert_false(mcp_name_has_tool(S("db"), S("db__query")));
}

TEST(a_tool_has_its_own_name_on_its_server)
{
    assert_str(mcp_name_on_server(S("mcp__db__query"), S("db")), "query");
    assert_str(mcp_name_on_server(S("mcp__my__db__query"), S("my__db")), "query");
    assert_str(mcp_name_on_server(S("mcp__db__query"), S("d")), "mcp__db__query");
    assert_str(mcp_name_on_server(S("query"), S("db")), "query");
    assert_str(mcp_name_on_server(S("mc"), S("db")), "mc");
}

RUN_TESTS(UNIT(names_of_servers_tools_and_patterns_begin_alike),
          UNIT(a_server_has_its_own_tools_and_no_others),
          UNIT(a_tool_has_its_own_name_on_its_server))
