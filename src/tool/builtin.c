/* builtin.c - the table of keel's own tools. */
#include "tool/builtin.h"

struct tool *const builtin_tools[] = {
#define X(name) &name,
    BUILTIN_TOOLS(X)
#undef X
        NULL,
};
