/* tool_face.c - picks what says most about a call. */
#include "transcript/tool_face.h"

#include "base/diff.h"
#include "base/utf8.h"

#define HEADLINE_BYTES 160
#define DIFF_CONTEXT 3

static struct str first_line(struct str text)
{
    size_t end;

    text = str_trim(text);
    end = str_find_char(text, '\n');
    return end == STR_NONE ? text : str_slice(text, 0, end);
}

static struct str headline(struct arena *a, struct str text)
{
    struct str line = first_line(text);
    struct str start = utf8_truncate(line, HEADLINE_BYTES);

    if (start.n == line.n)
        return line;
    return arena_format(a, "%" STR_FMT " ...", STR_ARG(start));
}

/* --- changes --- */

static struct str either(const struct json *v, const char *name, const char *other)
{
    struct str text = json_get_text(v, name);

    return text.n ? text : json_get_text(v, other);
}

static void add_change(struct strbuf *out, const struct json *edit)
{
    diff_unified(out, (struct str){0}, either(edit, "old_string", "oldString"), (struct str){0},
                 either(edit, "new_string", "newString"), DIFF_CONTEXT, NULL);
}

/* Without line numbers: they count within the replaced piece. */
static struct str without_numbers(struct arena *a, struct str diff)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct str line;

    while (str_split(&diff, '\n', &line)) {
        if (str_starts(line, S("@@")))
            strbuf_add_cstr(&out, out.n ? "@@\n" : "");
        else if (line.n && line.p[0] != '\\')
            strbuf_addf(&out, "%" STR_FMT "\n", STR_ARG(line));
    }
    return arena_str(a, strbuf_str(&out));
}

/* keel's own tools report a change with the lines around it. */
static struct str find_diff(const struct story_item *item)
{
    size_t at = item->is_error ? STR_NONE : str_find(item->text, S("\n@@ -"));

    return at == STR_NONE ? (struct str){0} : str_skip(item->text, at + 1);
}

static bool show_change(struct arena *a, const struct json *args, struct tool_face *f)
{
    const struct json *edits = json_get(args, "edits");
    AUTO(strbuf) struct strbuf diff = {0};

    if (!json_is(edits, JSON_ARRAY) && !json_has(args, "new_string") &&
        !json_has(args, "newString"))
        return false;
    if (json_is(edits, JSON_ARRAY)) {
        json_each (edit, edits)
            add_change(&diff, edit);
    } else {
        add_change(&diff, args);
    }
    f->code = without_numbers(a, strbuf_str(&diff));
    f->language = "diff";
    return true;
}

/* --- commands --- */

/* ["bash", "-lc", "make"] means its last element. */
static struct str join_command(struct arena *a, const struct json *words)
{
    AUTO(strbuf) struct strbuf out = {0};

    if (words->n == 3 && str_starts(json_str(json_at(words, 1)), S("-")) &&
        str_ends(json_str(json_at(words, 1)), S("c")))
        return json_str(words->last);
    json_each (word, words)
        strbuf_addf(&out, "%s%" STR_FMT, out.n ? " " : "", STR_ARG(json_str(word)));
    return arena_str(a, strbuf_str(&out));
}

static bool show_command(struct arena *a, const struct json *args, struct tool_face *f)
{
    const struct json *command = json_get(args, "command");
    struct str text, line;

    if (!command)
        command = json_get(args, "cmd");
    if (!json_is(command, JSON_STRING) && !json_is(command, JSON_ARRAY))
        return false;
    text = str_trim(command->type == JSON_ARRAY ? join_command(a, command) : command->text);
    line = headline(a, text);
    f->headline = line;
    if (line.n == text.n)
        return true;
    if (json_get_text(args, "description").n)
        f->headline = headline(a, json_get_text(args, "description"));
    f->code = text;
    f->language = "sh";
    return true;
}

/* --- anything else --- */

static struct str below(struct str path, struct str cwd)
{
    if (!cwd.n || path.n <= cwd.n + 1 || !str_starts(path, cwd) || path.p[cwd.n] != '/')
        return path;
    return str_skip(path, cwd.n + 1);
}

static struct str find_headline(struct arena *a, const struct json *args, struct str cwd)
{
    struct str text = tool_main_argument(args), path = json_get_text(args, "path");

    if (path.n && str_eq(text, json_get_text(args, "pattern")))
        return arena_format(a, "%" STR_FMT " in %" STR_FMT, STR_ARG(headline(a, text)),
                            STR_ARG(headline(a, below(path, cwd))));
    return headline(a, below(text, cwd));
}

static void show_rest(struct arena *a, const struct json *args, struct tool_face *f)
{
    AUTO(strbuf) struct strbuf json = {0};

    if (args->n == 0)
        return;
    json_write(&json, args);
    f->headline = headline(a, strbuf_str(&json));
    f->headline = arena_str(a, f->headline);
    if (f->headline.n == json.n)
        return;
    strbuf_clear(&json);
    json_write_pretty(&json, args);
    f->code = arena_str(a, strbuf_str(&json));
    f->language = "json";
}

static const struct json *find_todos(const struct json *args)
{
    const struct json *list = json_get(args, "todos");

    if (!list)
        list = json_get(args, "plan");
    return json_is(list, JSON_ARRAY) && json_is(list->first, JSON_OBJECT) ? list : NULL;
}

static struct tool_face text_face(struct arena *a, struct str text)
{
    struct str line = headline(a, text);
    bool is_patch = str_find(text, S("*** Begin Patch")) != STR_NONE;

    return (struct tool_face){.headline = is_patch ? (struct str){0} : line,
                              .code = is_patch || line.n != text.n ? text : (struct str){0},
                              .language = is_patch ? "diff" : ""};
}

struct tool_face tool_face_of(struct arena *a, const struct story_item *item, struct str cwd)
{
    struct tool_face f = {.language = ""};
    const struct json *args = item->args;

    if (!args)
        return text_face(a, item->free_args);
    f.todos = find_todos(args);
    if (f.todos || show_command(a, args, &f))
        return f;
    f.plan = str_trim(json_get_text(args, "plan"));
    if (f.plan.n)
        return f;
    f.headline = find_headline(a, args, cwd);
    if (show_change(a, args, &f)) {
        struct str diff = find_diff(item);

        f.has_result = diff.n > 0;
        f.code = diff.n ? diff : f.code;
        return f;
    }
    if (f.headline.n)
        f.code = json_get_text(args, "content");
    else
        show_rest(a, args, &f);
    return f;
}

/* --- todo lists --- */

enum todo_state todo_state_of(const struct json *todo)
{
    struct str status = json_get_text(todo, "status");

    return str_is(status, "completed")     ? TODO_DONE
           : str_is(status, "in_progress") ? TODO_ACTIVE
                                           : TODO_OPEN;
}

struct str todo_text(const struct json *todo)
{
    return either(todo, "content", "step");
}
