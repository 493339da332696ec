/* edit.c - the Edit tool: replaces text in a file, in one place or in several. */
#include "tool/builtin.h"
#include "tool/file/edit_file.h"

struct tool tool_edit = {
    .name = "Edit",
    .description =
        "Replaces old_string by new_string in a file, or does several such edits in order if you "
        "give edits instead: all of them or none. The file must have been read with Read in this "
        "session and be unchanged since. old_string must stand in the file exactly once, without "
        "the line numbers that Read puts in front: give enough lines around it, or set replace_all "
        "to replace every one. An indentation, quotes or line ends that differ are forgiven where "
        "the place and the indentation of the new lines are clear. An empty new_string for all of "
        "a "
        "line removes the line. An empty old_string makes a new file. Returns the change as a "
        "diff.",
    .schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
              "\"file_path\":{\"type\":\"string\",\"minLength\":1,\"description\":"
              "\"The file: an absolute path, or one from the working directory.\"},"
              "\"old_string\":{\"type\":\"string\",\"description\":"
              "\"The text to replace, as it is in the file. Empty: make a new file.\"},"
              "\"new_string\":{\"type\":\"string\",\"description\":\"What to put there.\"},"
              "\"replace_all\":{\"type\":\"boolean\",\"description\":"
              "\"Replace every old_string, not just one. Default: false.\"},"
              "\"edits\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":100,\"description\":"
              "\"Several edits, each made in the result of the one before. Instead of old_string, "
              "new_string and replace_all.\","
              "\"items\":" EDIT_ITEM_SCHEMA "}},"
              "\"required\":[\"file_path\"]}",
    .aliases = "filePath=file_path path=file_path file=file_path oldString=old_string "
               "newString=new_string old_str=old_string new_str=new_string oldStr=old_string "
               "newStr=new_string old_text=old_string new_text=new_string oldText=old_string "
               "newText=new_string replaceAll=replace_all",
    .risk = RISK_MODIFY,
    .permission_arg = "file_path",
    .is_barrier = true,
    .max_chars = TOOL_CODING_MAX_CHARS,
    .run = edit_file_run,
};
