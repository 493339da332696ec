/* edit.c - the Edit tool: replaces text in a file, in one place or in several. */
#include "tool/builtin.h"
#include "tool/file/edit_file.h"

struct tool tool_edit = {
    .name = "Edit",
    .description =
        "Replaces old_string with new_string in a file, or makes several such edits in order if "
        "you pass edits: all of them or none. The file must have been read with Read in this "
        "session and be unchanged since. Copy old_string exactly as the file has it, without the "
        "line numbers that Read adds. It must occur exactly once: include enough lines around it, "
        "or set replace_all. Different indentation, quotes or line ends are tolerated only where "
        "the place and the new indentation are unambiguous. To remove a line, pass all of it with "
        "an empty new_string. An empty old_string creates a new file. Returns a diff.",
    .schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
              "\"file_path\":{\"type\":\"string\",\"minLength\":1,\"description\":"
              "\"Absolute path, or path relative to the working directory.\"},"
              "\"old_string\":{\"type\":\"string\",\"description\":"
              "\"The text to replace, exactly as in the file. Empty: create a new file.\"},"
              "\"new_string\":{\"type\":\"string\",\"description\":\"The text that replaces it.\"},"
              "\"replace_all\":{\"type\":\"boolean\",\"description\":"
              "\"Replace every occurrence of old_string. Default: false.\"},"
              "\"edits\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":100,\"description\":"
              "\"Several edits, each applied to the result of the one before. Use instead of "
              "old_string, new_string and replace_all.\","
              "\"items\":" EDIT_ITEM_SCHEMA "}},"
              "\"required\":[\"file_path\"]}",
    .aliases = "filePath=file_path absolute_path=file_path path=file_path file=file_path "
               "oldString=old_string "
               "newString=new_string old_str=old_string new_str=new_string oldStr=old_string "
               "newStr=new_string old_text=old_string new_text=new_string oldText=old_string "
               "newText=new_string replaceAll=replace_all",
    .risk = RISK_MODIFY,
    .permission_arg = "file_path",
    .is_barrier = true,
    .max_chars = TOOL_CODING_MAX_CHARS,
    .run = edit_file_run,
};
