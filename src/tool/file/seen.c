/* seen.c - remembers what was read and refuses to change what was not. */
#include "tool/file/seen.h"

static struct str key_of(struct arena *a, const char *path)
{
    return arena_format(a, "file:%s", path);
}

struct file_seen file_seen_find(const struct tool_session *s, const char *path)
{
    AUTO(arena) struct arena a = {0};
    const struct json *state = tool_session_get(s, key_of(&a, path));

    if (!state)
        return (struct file_seen){0};
    return (struct file_seen){
        .is_seen = true,
        .whole = json_bool(json_get(state, "whole"), false),
        .stamp = {.mtime_ns = json_int_or(json_get(state, "mtime_ns"), 0),
                  .size = (uint64_t)json_int_or(json_get(state, "size"), 0),
                  .inode = (uint64_t)json_int_or(json_get(state, "inode"), 0)},
    };
}

void file_seen_remember(struct tool_session *s, const char *path, const struct file_stamp *stamp,
                        bool whole)
{
    AUTO(arena) struct arena a = {0};
    struct json *state = json_new(&a, JSON_OBJECT);

    json_set_int(&a, state, "mtime_ns", stamp->mtime_ns);
    json_set_int(&a, state, "size", (int64_t)stamp->size);
    json_set_int(&a, state, "inode", (int64_t)stamp->inode);
    json_set_bool(&a, state, "whole", whole);
    tool_session_set(s, key_of(&a, path), state);
}

struct err *file_seen_check(const struct file_seen *seen, const struct file_stamp *now,
                            const char *shown_path)
{
    if (!seen->is_seen)
        return err_hint(
            err_new(ERR_TOOL_FAILED, "%s exists and has not been read in this session", shown_path),
            "read it first with Read, then try again");
    if (!file_stamp_eq(&seen->stamp, now))
        return err_hint(err_new(ERR_TOOL_FAILED,
                                "%s has changed since it was read; nothing was written",
                                shown_path),
                        "read it again with Read and base the change on what it holds now");
    return NULL;
}
