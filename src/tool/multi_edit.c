/* multi_edit.c - the MultiEdit tool: Edit with a list, under the name that some models know. */
#include "tool/builtin.h"
#include "tool/file/edit_file.h"

struct tool tool_multi_edit = {
    .name = "MultiEdit",
    .description =
        "Makes several edits in one file, in order, each in the result of the one before: all of "
        "them or none. The same rules as for Edit: the file must have been read and be unchanged "
        "since, and each old_string must stand in it exactly once unless replace_all is set. An "
        "empty old_string in the first edit makes a new file.",
    .schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
              "\"file_path\":{\"type\":\"string\",\"minLength\":1,\"description\":"
              "\"The file: an absolute path, or one from the working directory.\"},"
              "\"edits\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":100,\"description\":"
              "\"The edits, in order.\",\"items\":" EDIT_ITEM_SCHEMA "}},"
              "\"required\":[\"file_path\",\"edits\"]}",
    .aliases = "filePath=file_path path=file_path",
    .risk = RISK_MODIFY,
    .permission_arg = "file_path",
    .is_barrier = true,
    .max_chars = TOOL_CODING_MAX_CHARS,
    .run = edit_file_run,
};
