/* notes.c - what was put right after a command, in a result. */
#include "tool/shell/notes.h"

void notes_add(struct str notes, struct tool_result *result)
{
    struct json *list;
    struct str line;

    if (notes.n == 0)
        return;
    if (result->text.n > 0 && !str_ends(strbuf_str(&result->text), S("\n")))
        tool_result_addf(result, "\n");
    tool_result_addf(result,
                     "The sandbox checked what the command changed, and told the person:\n");
    list = json_new(&result->arena, JSON_ARRAY);
    while (str_split(&notes, '\n', &line)) {
        if (line.n == 0)
            continue;
        tool_result_addf(result, "- %" STR_FMT "\n", STR_ARG(line));
        json_push(list, json_new_str(&result->arena, arena_str(&result->arena, line)));
    }
    json_set(&result->arena, tool_result_details(result), "sandboxNotes", list);
}
