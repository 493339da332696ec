/* seen.c - remembers what the model has read, and refuses changes of what it has not. */
#include "tool/file/seen.h"

/* --- spans --- */

void file_seen_add_lines(struct file_seen *seen, size_t from, size_t to)
{
    struct seen_span *spans = seen->spans;
    size_t at = 0, n_joined = 0;

    while (at < seen->n_spans && spans[at].to + 1 < from)
        at++;
    while (at + n_joined < seen->n_spans && spans[at + n_joined].from <= to + 1) {
        from = MIN(from, spans[at + n_joined].from);
        to = MAX(to, spans[at + n_joined].to);
        n_joined++;
    }
    if (n_joined == 0 && seen->n_spans == SEEN_MAX_SPANS)
        return;
    memmove(&spans[at + 1], &spans[at + n_joined], (seen->n_spans - at - n_joined) * sizeof *spans);
    spans[at] = (struct seen_span){from, to};
    seen->n_spans = seen->n_spans + 1 - n_joined;
}

static struct seen_cut *find_cut(struct file_seen *seen, size_t line)
{
    for (size_t i = 0; i < seen->n_cuts; i++)
        if (seen->cuts[i].line == line)
            return &seen->cuts[i];
    if (seen->n_cuts == SEEN_MAX_CUTS)
        return NULL;
    seen->cuts[seen->n_cuts] = (struct seen_cut){.line = line};
    return &seen->cuts[seen->n_cuts++];
}

void file_seen_add_part(struct file_seen *seen, const struct seen_part *part)
{
    struct seen_cut *cut = part->line ? find_cut(seen, part->line) : NULL;

    if (!cut || part->from > cut->n_chars + 1)
        return;
    cut->n_chars = MAX(cut->n_chars, part->to);
    if (part->is_end)
        file_seen_add_lines(seen, part->line, part->line);
}

static bool is_same_content(const struct file_seen *a, const struct file_seen *b)
{
    return a->sha256[0] ? strcmp(a->sha256, b->sha256) == 0 : file_stamp_eq(&a->stamp, &b->stamp);
}

void file_seen_add_earlier(struct file_seen *seen, const struct file_seen *earlier)
{
    if (!earlier->is_seen || !is_same_content(seen, earlier))
        return;
    for (size_t i = 0; i < earlier->n_spans; i++)
        file_seen_add_lines(seen, earlier->spans[i].from, earlier->spans[i].to);
    for (size_t i = 0; i < earlier->n_cuts; i++)
        file_seen_add_part(seen, &(struct seen_part){.line = earlier->cuts[i].line,
                                                     .from = 1,
                                                     .to = earlier->cuts[i].n_chars});
    if (!seen->n_lines)
        seen->n_lines = earlier->n_lines;
    seen->whole |= earlier->whole;
}

void file_seen_settle(struct file_seen *seen)
{
    seen->whole |= seen->n_lines && seen->n_spans == 1 && seen->spans[0].from <= 1 &&
                   seen->spans[0].to >= seen->n_lines;
    if (!seen->whole)
        return;
    seen->n_spans = seen->n_cuts = 0;
}

/* --- in the state --- */

static size_t number_at(const struct json *pair, size_t index)
{
    return (size_t)MAX(json_int_or(json_at(pair, index), 0), (int64_t)0);
}

struct file_seen file_seen_find(const struct tool_state *s, const char *path)
{
    const struct json *state = tool_state_get(s, STATE_FILE, str_of(path));
    struct str sha256 = json_get_text(state, "sha256");
    struct file_seen seen = {0};

    if (!state)
        return seen;
    seen = (struct file_seen){
        .is_seen = true,
        .whole = json_bool(json_get(state, "whole"), false),
        .stamp = file_stamp_read(state),
        .n_lines = (size_t)MAX(json_int_or(json_get(state, "lines"), 0), (int64_t)0),
    };
    if (sha256.n == SHA256_HEX_SIZE - 1)
        memcpy(seen.sha256, sha256.p, sha256.n);
    json_each (pair, json_get(state, "seen"))
        file_seen_add_lines(&seen, number_at(pair, 0), number_at(pair, 1));
    json_each (pair, json_get(state, "cut"))
        if (seen.n_cuts < SEEN_MAX_CUTS)
            seen.cuts[seen.n_cuts++] = (struct seen_cut){number_at(pair, 0), number_at(pair, 1)};
    return seen;
}

static void push_pair(struct arena *a, struct json *list, size_t x, size_t y)
{
    struct json *pair = json_new(a, JSON_ARRAY);

    json_push(pair, json_new_int(a, (int64_t)x));
    json_push(pair, json_new_int(a, (int64_t)y));
    json_push(list, pair);
}

static void set_parts(struct arena *a, struct json *state, const struct file_seen *seen)
{
    struct json *spans = json_new(a, JSON_ARRAY), *cuts = json_new(a, JSON_ARRAY);

    for (size_t i = 0; i < seen->n_spans; i++)
        push_pair(a, spans, seen->spans[i].from, seen->spans[i].to);
    for (size_t i = 0; i < seen->n_cuts; i++)
        push_pair(a, cuts, seen->cuts[i].line, seen->cuts[i].n_chars);
    if (spans->n)
        json_set(a, state, "seen", spans);
    if (cuts->n)
        json_set(a, state, "cut", cuts);
}

void file_seen_remember(struct tool_state *s, const char *path, const struct file_seen *seen)
{
    AUTO(arena) struct arena a = {0};
    struct json *state = json_new(&a, JSON_OBJECT);

    file_stamp_write(seen->stamp, &a, state);
    json_set_bool(&a, state, "whole", seen->whole);
    if (seen->sha256[0])
        json_set_str(&a, state, "sha256", str_of(seen->sha256));
    if (seen->n_lines && !seen->whole)
        json_set_int(&a, state, "lines", (int64_t)seen->n_lines);
    set_parts(&a, state, seen);
    tool_state_set(s, STATE_FILE, str_of(path), state);
}

/* --- may it be changed? --- */

static bool is_unchanged(const struct file_seen *seen, const struct file_stamp *now,
                         const struct str *bytes)
{
    char sha256[SHA256_HEX_SIZE];

    if (file_stamp_eq(&seen->stamp, now))
        return true;
    if (!seen->sha256[0] || !bytes || bytes->n != seen->stamp.size)
        return false;
    sha256_hex(*bytes, sha256);
    return strcmp(sha256, seen->sha256) == 0;
}

struct err *file_seen_check(const struct file_seen *seen, const struct file_stamp *now,
                            const struct str *bytes, const char *shown_path)
{
    if (!seen->is_seen)
        return err_hint(
            err_new(ERR_TOOL_FAILED, "%s exists and has not been read in this session", shown_path),
            "read it with Read, then try again");
    if (!is_unchanged(seen, now, bytes))
        return err_hint(err_new(ERR_TOOL_FAILED,
                                "%s has changed since it was read; nothing was written",
                                shown_path),
                        "read it again with Read and base the change on its current content");
    return NULL;
}

struct err *file_seen_check_whole(const struct file_seen *seen, const char *shown_path)
{
    /* the first line that was not shown completely */
    size_t gap = seen->n_spans && seen->spans[0].from <= 1 ? seen->spans[0].to + 1 : 1;
    struct err *e;

    if (seen->whole)
        return NULL;
    e = err_new(ERR_TOOL_FAILED,
                "only a part of %s has been read, and Write would replace all of it; nothing was "
                "written",
                shown_path);
    for (size_t i = 0; i < seen->n_cuts; i++)
        if (seen->cuts[i].line == gap)
            return err_hint(e, "read the rest with Read (offset %zu, column %zu), or use Edit", gap,
                            seen->cuts[i].n_chars + 1);
    return err_hint(e, "read the rest with Read (from offset %zu on), or use Edit", gap);
}
