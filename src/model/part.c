/* part.c - names and copies of message parts. */
#include "model/part.h"

const char *part_kind_name(enum part_kind kind)
{
    static const char *const names[] = {
        [PART_TEXT] = "text",
        [PART_MEDIA] = "media",
        [PART_TOOL_CALL] = "tool_call",
        [PART_TOOL_RESULT] = "tool_result",
        [PART_REASONING] = "reasoning",
        [PART_SERVER_TOOL_USE] = "server_tool_use",
        [PART_SERVER_TOOL_RESULT] = "server_tool_result",
        [PART_CITATION] = "citation",
        [PART_REFUSAL] = "refusal",
        [PART_CONTEXT] = "context",
    };
    return names[kind];
}

struct part part_copy(struct arena *a, const struct part *p)
{
    struct part copy = *p;
    struct str *strings[] = {
        &copy.text,       &copy.id,         &copy.name,       &copy.args,  &copy.bad_args,
        &copy.signature,  &copy.data,       &copy.url,        &copy.title, &copy.native,
        &copy.media.mime, &copy.media.data, &copy.media.name,
    };

    for (size_t i = 0; i < ARRAY_LEN(strings); i++)
        if (strings[i]->n)
            *strings[i] = arena_str(a, *strings[i]);
    copy.content = p->n_content ? ARENA_ARRAY(a, p->n_content, struct part) : NULL;
    for (size_t i = 0; i < p->n_content; i++)
        copy.content[i] = part_copy(a, &p->content[i]);
    return copy;
}
