/* tool_def.h - a tool as the model sees it. Values are borrowed; the owner of the list keeps them
 * alive. */
#ifndef KEEL_MODEL_TOOL_DEF_H
#define KEEL_MODEL_TOOL_DEF_H

#include "base/json.h"

struct tool_def {
    struct str name, description;
    const struct json *input_schema; /* an object schema; NULL: no arguments */
    bool strict;                     /* the API enforces the schema, if it can */
    bool takes_free_text;            /* plain text instead of JSON, if the API supports it */
};

enum tool_choice_kind { TOOL_CHOICE_AUTO, TOOL_CHOICE_NONE, TOOL_CHOICE_ANY, TOOL_CHOICE_NAMED };

struct tool_choice {
    enum tool_choice_kind kind;
    struct str name;    /* for TOOL_CHOICE_NAMED */
    bool one_at_a_time; /* no parallel calls */
};

#endif
