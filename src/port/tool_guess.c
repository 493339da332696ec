/* tool_guess.c - which tool a model means by a name that no tool has. */
#include "port/tool_set.h"

#include "base/alike.h"

/* What other agents call theirs, without "_" and "-" and in lower case. */
static const struct {
    const char *name, *tool;
} habits[] = {
    {"applypatch", "Edit"},
    {"cat", "Read"},
    {"createfile", "Write"},
    {"editfile", "Edit"},
    {"execcommand", "Bash"},
    {"executecommand", "Bash"},
    {"filesearch", "Glob"},
    {"find", "Glob"},
    {"findfiles", "Glob"},
    {"googlewebsearch", "WebSearch"},
    {"grepsearch", "Grep"},
    {"killbash", "KillShell"},
    {"list", "Glob"},
    {"listdirectory", "Glob"},
    {"listfiles", "Glob"},
    {"localshell", "Bash"},
    {"ls", "Glob"},
    {"multiedit", "Edit"},
    {"notebookread", "Read"},
    {"openfile", "Read"},
    {"patch", "Edit"},
    {"readfile", "Read"},
    {"readmanyfiles", "Read"},
    {"replace", "Edit"},
    {"ripgrep", "Grep"},
    {"runcommand", "Bash"},
    {"runshellcommand", "Bash"},
    {"runterminalcmd", "Bash"},
    {"search", "Grep"},
    {"searchfilecontent", "Grep"},
    {"searchreplace", "Edit"},
    {"searchtext", "Grep"},
    {"sh", "Bash"},
    {"shell", "Bash"},
    {"shellcommand", "Bash"},
    {"strreplace", "Edit"},
    {"strreplacebasededittool", "Edit"},
    {"strreplaceeditor", "Edit"},
    {"taskoutput", "BashOutput"},
    {"taskstop", "KillShell"},
    {"terminal", "Bash"},
    {"todo", "TodoWrite"},
    {"updateplan", "TodoWrite"},
    {"view", "Read"},
    {"webfetch", "WebFetch"},
    {"websearch", "WebSearch"},
    {"writefile", "Write"},
    {"writetodos", "TodoWrite"},
};

/* "Read_File", "read-file": "readfile". */
static void add_plain(struct strbuf *out, struct str name)
{
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];

        if (c != '_' && c != '-')
            strbuf_add_char(out, c >= 'A' && c <= 'Z' ? (char)(c + 32) : c);
    }
}

const struct tool_entry *tool_set_guess(const struct tool_set *s, struct str name)
{
    AUTO(strbuf) struct strbuf plain = {.max_bytes = TOOL_MAX_NAME};
    size_t dot = str_rfind_char(name, '.');
    struct alike a;

    if (dot != STR_NONE) /* "functions.Read" */
        name = str_skip(name, dot + 1);
    a = (struct alike){.word = name};
    if (name.n > TOOL_MAX_NAME)
        return NULL;
    add_plain(&plain, name);
    for (size_t i = 0; i < ARRAY_LEN(habits); i++)
        if (str_is(strbuf_str(&plain), habits[i].name))
            return tool_set_find(s, str_of(habits[i].tool));
    for (size_t i = 0; i < s->n; i++)
        alike_try(&a, str_of(s->entries[i].tool->name));
    /* "Beam" is not "Read". */
    return a.best.n && a.distance * 3 <= name.n ? tool_set_find(s, a.best) : NULL;
}

#define MAX_ARGUMENTS 20

void tool_entry_add_arguments(const struct tool_entry *e, struct strbuf *out)
{
    size_t n = 0;

    json_each (property, json_get(e->def.input_schema, "properties")) {
        if (n == MAX_ARGUMENTS) {
            strbuf_add_cstr(out, ", ...");
            return;
        }
        strbuf_addf(out, "%s%" STR_FMT, n++ ? ", " : "", STR_ARG(property->key));
    }
}
