/* json.c - `keel inspect json`: is it JSON, and what does it say? */
#include "cli/inspect/inspect.h"

#include "base/json.h"

static struct err *run(const struct args *args, int *ret_status)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf text = {0}, out = {0};
    struct json_where where;
    struct json *value;

    TRY(args_count(args, 1, 1, "one FILE"));
    TRY(cli_read_file(args->operands[0], &text));
    if (!json_parse_at(&a, strbuf_str(&text), 0, &value, &where)) {
        cli_add_visible(&out, str_of(args->operands[0]));
        strbuf_addf(&out, ":%zu:%zu: %s\n", where.line, where.column, where.reason);
        cli_print_error(strbuf_str(&out));
        *ret_status = 1;
        return NULL;
    }
    json_write(&out, value);
    strbuf_add_char(&out, '\n');
    TRY(strbuf_check(&out, "the output"));
    return cli_print(strbuf_str(&out));
}

const struct command command_inspect_json = {
    .name = "inspect json",
    .usage = "FILE",
    .summary = "check JSON and print its canonical form",
    .details = "Prints the value in one line, members in their order, and exits 0; or prints\n"
               "line, column and reason and exits 1. \"-\" reads standard input.\n\n"
               "  keel inspect json answer.json\n",
    .run = run,
};
