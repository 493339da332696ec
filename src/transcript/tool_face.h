/* tool_face.h - how a document shows a tool call: one line, and the arguments that are worth
 * showing. It goes by the names of the arguments, so that calls of other programs' tools look as
 * good as those of keel's. Pure. */
#ifndef KEEL_TRANSCRIPT_TOOL_FACE_H
#define KEEL_TRANSCRIPT_TOOL_FACE_H

#include "transcript/story.h"

struct tool_face {
    struct str headline;      /* one line; may be empty */
    struct str code;          /* a command of several lines, a file, a diff; may be empty */
    const char *language;     /* of the code: "sh", "diff", "" */
    bool has_result;          /* the code includes the result */
    struct str plan;          /* Markdown: the purpose of the call; may be empty */
    const struct json *todos; /* a list of objects with `content` or `step`, and `status` */
};

/* Texts live in `a` or in the item. Paths below `cwd`, which may be empty, are shortened. */
struct tool_face tool_face_of(struct arena *a, const struct story_item *item, struct str cwd);

/* "[x]", "[~]" or "[ ]" and the text of an entry of a todo list. */
enum todo_state { TODO_OPEN, TODO_ACTIVE, TODO_DONE };
enum todo_state todo_state_of(const struct json *todo);
struct str todo_text(const struct json *todo);

#endif
