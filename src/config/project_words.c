/* project_words.c - finds the files that the words of commands name.
 *
 * A word may be a file, a directory, a pattern, or a program that finds its files by itself. Files
 * may name further commands: scripts of package.json, includes of makefiles. */
#include "config/project_reading.h"

#include "base/glob.h"
#include "base/json.h"
#include "sys/auto_fd.h"
#include "sys/fs.h"
#include "sys/open_below.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { MAX_ENTRIES = 100000 }; /* checked for patterns and in directories whose files are run */

/* --- names --- */

static void add_base(struct project_reading *r, const char *name)
{
    for (size_t i = 0; i < r->n_bases; i++)
        if (strcmp(r->bases[i], name) == 0)
            return;
    if (r->n_bases == PROJECT_MAX_BASES)
        project_reading_refuse(r, "its commands name too many directories");
    else
        r->bases[r->n_bases++] = name;
}

/* The name of `path` in the project; NULL: it is elsewhere. */
static const char *name_in_project(const struct project_reading *r, const char *path)
{
    for (size_t i = 0; i < ARRAY_LEN(r->dirs); i++) {
        size_t n = strlen(r->dirs[i]);

        if (strncmp(path, r->dirs[i], n) != 0 || (path[n] != '/' && path[n]))
            continue;
        while (path[n] == '/')
            n++;
        return path + n;
    }
    return NULL;
}

/* A name relative to the project or one of the other bases; NULL: an option or nothing. */
static const char *relative_name(struct project_reading *r, struct str word, bool *ret_is_exact)
{
    const char *path = word.p, *name;

    *ret_is_exact = false;
    if (str_starts(word, S("~/")) && r->place->home)
        path = fs_join(r->arena, r->place->home, path + 2);
    name = *path == '/' ? name_in_project(r, path) : NULL;
    *ret_is_exact = name != NULL;
    if (!name)
        for (name = path; *name == '/';)
            name++;
    while (name[0] == '.' && name[1] == '/')
        for (name += 2; *name == '/';)
            name++;
    if (!*name || *name == '-' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
        strlen(name) >= PATH_MAX)
        return NULL;
    return name;
}

/* Endings that interpreters try. */
static const char *const endings[] = {"",    ".js",       ".cjs",         ".mjs",
                                      ".py", "/index.js", "/__main__.py", "/__init__.py"};

static void add_named_at(struct project_reading *r, const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(endings) && !r->files->problem; i++) {
        const char *full = *endings[i] ? arena_format(r->arena, "%s%s", name, endings[i]).p : name;

        if (!project_reading_has_directory(r, full))
            project_reading_add(r, full, PROJECT_NAMED);
    }
}

/* python -m package.module */
static const char *module_name(struct arena *a, const char *name)
{
    char *path = arena_cstr(a, str_of(name));

    if (strchr(path, '/') || !strchr(path, '.') || *path == '.')
        return NULL;
    for (char *c = path; *c; c++)
        if (*c == '.')
            *c = '/';
    return path;
}

static void add_named(struct project_reading *r, struct str word)
{
    bool is_exact;
    const char *name = relative_name(r, word, &is_exact),
               *module = name ? module_name(r->arena, name) : NULL;

    for (size_t i = 0; name && i < (is_exact ? 1 : r->n_bases); i++) {
        add_named_at(r, project_join(r->arena, r->bases[i], name));
        if (module)
            add_named_at(r, project_join(r->arena, r->bases[i], module));
    }
}

/* Programs that run a file of the project that they find by themselves. */
enum { MAX_FOUND = 5 };
static const struct {
    const char *program;
    const char *files[MAX_FOUND];
} finders[] = {
    {"bun", {"package.json", "bunfig.toml"}},
    {"bundle", {"Gemfile"}},
    {"bunx", {"package.json", "bunfig.toml"}},
    {"cargo", {"Cargo.toml", "build.rs", ".cargo/config.toml"}},
    {"composer", {"composer.json"}},
    {"deno", {"deno.json", "deno.jsonc"}},
    {"gmake", {"GNUmakefile", "makefile", "Makefile"}},
    {"gradle", {"build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"}},
    {"just", {"justfile", "Justfile", ".justfile"}},
    {"lefthook", {"lefthook.yml", ".lefthook.yml"}},
    {"make", {"GNUmakefile", "makefile", "Makefile"}},
    {"mvn", {"pom.xml"}},
    {"ninja", {"build.ninja"}},
    {"nox", {"noxfile.py"}},
    {"npm", {"package.json", ".npmrc"}},
    {"npx", {"package.json", ".npmrc"}},
    {"pnpm", {"package.json", ".npmrc", ".pnpmfile.cjs", "pnpm-workspace.yaml"}},
    {"pre-commit", {".pre-commit-config.yaml"}},
    {"pytest", {"conftest.py", "pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg"}},
    {"rake", {"Rakefile", "rakefile", "Rakefile.rb", "rakefile.rb"}},
    {"task", {"Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml"}},
    {"tox", {"tox.ini", "pyproject.toml", "setup.cfg"}},
    {"yarn", {"package.json", ".yarnrc.yml", ".yarnrc"}},
};

static void add_found(struct project_reading *r, struct str word)
{
    struct str program = str_skip(word, str_rfind_char(word, '/') + 1); /* STR_NONE + 1 is 0 */

    for (size_t i = 0; i < ARRAY_LEN(finders); i++)
        for (size_t j = 0; str_is(program, finders[i].program) && j < MAX_FOUND; j++)
            if (finders[i].files[j])
                add_named(r, str_of(finders[i].files[j]));
}

/* Commands may change to a directory that they name, or look for programs there. */
static void add_named_base(struct project_reading *r, struct str word)
{
    bool is_exact;
    const char *name = relative_name(r, word, &is_exact);

    for (size_t i = 0; name && i < (is_exact ? 1 : MIN(r->n_bases, (size_t)2)); i++) {
        const char *full = project_join(r->arena, r->bases[i], name);

        if (project_reading_has_directory(r, full))
            add_base(r, full);
    }
}

void project_words_begin(struct project_reading *r)
{
    const char *cwd =
        r->place->cwd ? name_in_project(r, fs_resolve(r->arena, r->place->cwd)) : NULL;

    add_base(r, "");
    if (cwd && *cwd)
        add_base(r, cwd);
    r->n_own_bases = r->n_bases;
}

/* --- patterns, and directories whose files are run --- */

/* Only these of the files that match a pattern: the others are input of a formatter or a linter,
 * and the agent edits them all the time. */
static bool is_runnable(const struct project_reading *r, const char *name)
{
    static const char *const script_endings[] = {".sh", ".bash", ".zsh", ".ksh"};
    AUTO_FD fd = open_inside(r->fd, name, O_PATH);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(script_endings); i++)
        if (str_ends(str_of(name), str_of(script_endings[i])))
            return true;
    return st.st_mode & S_IXUSR;
}

/* Adds the runnable files below `dir`, or those whose name from there on matches. */
static void add_runnable(struct project_reading *r, const char *dir, const char *base,
                         const struct glob *pattern, int depth)
{
    int fd = open_inside(r->fd, *dir ? dir : ".", O_RDONLY | O_DIRECTORY);
    DIR *entries = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;

    if (!entries) {
        close_fd(&fd);
        return;
    }
    while (!r->files->problem && (entry = readdir(entries))) {
        const char *name = project_join(r->arena, dir, arena_cstr(r->arena, str_of(entry->d_name)));
        const char *rest = name + (*base ? strlen(base) + 1 : 0);

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            strcmp(entry->d_name, ".git") == 0 || strcmp(entry->d_name, "node_modules") == 0)
            continue;
        if (++r->n_entries > MAX_ENTRIES)
            project_reading_refuse(r,
                                   "its commands run files in directories with too many entries");
        else if (depth > 1 && project_reading_has_directory(r, name))
            add_runnable(r, name, base, pattern, depth - 1);
        else if ((!pattern || glob_matches(pattern, str_of(rest))) && is_runnable(r, name))
            project_reading_add(r, name, PROJECT_NAMED);
    }
    closedir(entries);
}

/* hooks/[0-9]*.sh, tools/{a,b}.sh. As in bash, two stars are one. */
static void add_matching(struct project_reading *r, struct str word)
{
    AUTO(glob) struct glob *pattern = NULL;
    bool is_exact;
    const char *name = relative_name(r, word, &is_exact), *c;
    int depth = 1;

    if (!name || !strpbrk(name, "*?[{"))
        return;
    err_free(glob_compile(str_of(name), GLOB_LITERAL_SEPARATOR, &pattern));
    for (c = name; *c; c++)
        depth += *c == '/';
    for (size_t i = 0; pattern && depth <= PROJECT_MAX_DEPTH && i < (is_exact ? 1 : r->n_bases);
         i++)
        add_runnable(r, r->bases[i], r->bases[i], pattern, depth);
}

static bool runs_what_it_finds(const struct word_list *words)
{
    static const char *const runners[] = {"run-parts", "xargs", "parallel", "-exec", "-execdir"};

    for (size_t i = 0; i < words->n; i++)
        for (size_t j = 0; j < ARRAY_LEN(runners); j++)
            if (str_is(words->items[i], runners[j]))
                return true;
    return false;
}

/* --- commands in files that are found --- */

static bool has_word(const struct word_list *words, struct str word)
{
    for (size_t i = 0; i < words->n; i++)
        if (str_eq(words->items[i], word))
            return true;
    return false;
}

/* For "npm run lint": the script of this name in package.json, and those that run before and after
 * it. */
static void add_scripts(struct project_reading *r, struct word_list *words, struct str text)
{
    struct json *tree = NULL;
    struct json_where where;

    if (!json_parse_at(r->arena, text, 0, &tree, &where))
        return;
    json_each (script, json_get(tree, "scripts")) {
        struct str name = script->key;

        if (script->type == JSON_STRING &&
            (has_word(words, name) ||
             (str_starts(name, S("pre")) && has_word(words, str_skip(name, 3))) ||
             (str_starts(name, S("post")) && has_word(words, str_skip(name, 4)))))
            hook_words_add(words, r->arena, script->text);
    }
}

static void add_includes(struct project_reading *r, struct word_list *words, struct str text)
{
    static const struct str includes[] = {S("include "), S("-include "), S("sinclude ")};
    struct str line;

    while (str_split(&text, '\n', &line))
        for (size_t i = 0; i < ARRAY_LEN(includes); i++)
            if (str_starts(line, includes[i]))
                hook_words_add(words, r->arena, str_skip(line, includes[i].n));
}

static void add_words_of_files(struct project_reading *r, struct word_list *words)
{
    for (size_t i = 0; i < r->files->n; i++) {
        const struct project_file *f = &r->files->items[i];
        const char *slash = strrchr(f->name, '/'), *name = slash ? slash + 1 : f->name;

        if (f->kind != PROJECT_NAMED || f->is_link)
            continue;
        if (strcmp(name, "package.json") == 0)
            add_scripts(r, words, f->content);
        else if (strcmp(name, "Makefile") == 0 || strcmp(name, "makefile") == 0 ||
                 strcmp(name, "GNUmakefile") == 0 || str_ends(str_of(name), S(".mk")))
            add_includes(r, words, f->content);
    }
}

void project_words_add(struct project_reading *r, struct word_list *words)
{
    size_t from = 0;

    do {
        size_t n = words->n;

        for (size_t i = from; i < n; i++)
            add_named_base(r, words->items[i]);
        for (size_t i = from; i < n && !r->files->problem; i++) {
            add_named(r, words->items[i]);
            add_found(r, words->items[i]);
            add_matching(r, words->items[i]);
        }
        from = n;
        add_words_of_files(r, words);
    } while (words->n > from && !r->files->problem);
    if (words->is_full)
        project_reading_refuse(r, "its commands have too many words");
    for (size_t i = r->n_own_bases; i < r->n_bases && runs_what_it_finds(words); i++)
        add_runnable(r, r->bases[i], r->bases[i], NULL, PROJECT_MAX_DEPTH);
}

/* Collects all texts: commands, values of variables. */
static void collect_words(struct word_list *words, struct arena *a, const struct json *v)
{
    if (json_is(v, JSON_STRING))
        hook_words_add(words, a, v->text);
    json_each (child, v)
        collect_words(words, a, child);
}

/* A file that cannot be parsed is not used. */
static void collect_from(struct word_list *words, struct arena *a, struct str text)
{
    struct json *tree = NULL;
    struct json_where where;

    if (!json_parse_at(a, text, 0, &tree, &where))
        return;
    collect_words(words, a, json_get(tree, "hooks"));
    collect_words(words, a, json_get(tree, "webSearch"));
}

void project_words_add_settings(struct project_reading *r)
{
    AUTO(arena) struct arena scratch = {0};
    struct word_list words = {0};

    for (size_t i = 0; i < r->files->n; i++)
        if (r->files->items[i].kind == PROJECT_SETTINGS)
            collect_from(&words, &scratch, r->files->items[i].content);
    project_words_add(r, &words);
    for (size_t i = 0; i < r->files->n; i++) /* names may point into the scratch arena */
        r->files->items[i].name = arena_cstr(r->arena, str_of(r->files->items[i].name));
}
