/* tool_args_fuzz.c - arguments of the file tools that a model made up: checked against the schema,
 * then read. The input: which tool, then the arguments as JSON. */
#include "port/tool_set.h"
#include "tool/builtin.h"
#include "tool/file/args.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct tool_set *make_set(void)
{
    static struct tool *const tools[] = {&tool_read, &tool_write, &tool_edit, &tool_glob,
                                         &tool_grep};
    AUTO(tool_registry) struct tool_registry *r = tool_registry_new();

    for (size_t i = 0; i < ARRAY_LEN(tools); i++) {
        struct err *e = tool_registry_add(r, tools[i], NULL);

        BUG_IF(e);
    }
    return tool_registry_snapshot(r);
}

static bool has_nul(struct str s)
{
    return str_find_char(s, '\0') != STR_NONE;
}

static struct err *read_edits(const struct json *args, struct arena *a)
{
    struct edit_args edit;

    TRY(edit_args_parse(args, a, &edit));
    BUG_IF(has_nul(edit.path) || edit.n_edits == 0 || edit.n_edits > EDIT_MAX_EDITS);
    return NULL;
}

static struct err *read_glob(const struct json *args)
{
    struct glob_args g;

    TRY(glob_args_parse(args, &g));
    BUG_IF(has_nul(g.path) || has_nul(g.dir) || g.pattern.n == 0);
    BUG_IF(g.dir.n + g.pattern.n + str_ends(json_get_text(args, "pattern"), S("/")) !=
           json_get_text(args, "pattern").n);
    return NULL;
}

static struct err *read_grep(const struct json *args)
{
    AUTO(grep_args) struct grep_args g = {0};

    TRY(grep_args_parse(args, &g));
    BUG_IF(has_nul(g.path) || g.query.pattern.n == 0 || g.query.n_globs != g.n_globs);
    return NULL;
}

static struct err *read_args(const struct tool *t, const struct json *args, struct arena *a)
{
    struct read_args read;
    struct write_args write;

    if (t == &tool_read) {
        TRY(read_args_parse(args, &read));
        BUG_IF(has_nul(read.path) || read.path.n == 0 || read.offset == 0 || read.limit == 0);
        return NULL;
    }
    if (t == &tool_write)
        return write_args_parse(args, &write);
    if (t == &tool_glob)
        return read_glob(args);
    return t == &tool_grep ? read_grep(args) : read_edits(args, a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct tool_set *set; /* its schemas are compiled once */
    AUTO(arena) struct arena a = {0};
    AUTO(err) struct err *e = NULL;
    struct json *given, *args;
    struct tool_entry *entry;

    if (size == 0)
        return 0;
    if (!set)
        set = make_set();
    entry = &set->entries[data[0] % set->n];
    e = json_parse(&a, str_make((const char *)data + 1, size - 1), 0, &given);
    if (!e)
        e = tool_entry_arguments(entry, given, &a, &args);
    if (!e)
        e = read_args(entry->tool, args, &a);
    return 0;
}
