/* edit_file.h - what Edit does: parts of a file replaced, all or none. */
#ifndef KEEL_TOOL_FILE_EDIT_FILE_H
#define KEEL_TOOL_FILE_EDIT_FILE_H

#include "port/tool.h"

/* One edit of a list. */
#define EDIT_ITEM_SCHEMA                                                                           \
    "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"                         \
    "\"old_string\":{\"type\":\"string\",\"description\":\"The text to replace, exactly as in "    \
    "the file.\"},"                                                                                \
    "\"new_string\":{\"type\":\"string\",\"description\":\"The text that replaces it.\"},"         \
    "\"replace_all\":{\"type\":\"boolean\",\"description\":"                                       \
    "\"Replace every occurrence of old_string. Default: false.\"}},"                               \
    "\"required\":[\"old_string\",\"new_string\"]}"

MUST_USE struct err *edit_file_run(const struct tool *t, struct tool_context *c,
                                   const struct json *args, struct tool_result *result);

#endif
