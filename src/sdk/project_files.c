/* project_files.c - reads a project's own files, and those that its commands name. */
#include "sdk/project_files.h"

#include "base/glob.h"
#include "base/json.h"
#include "base/utf8.h"
#include "hook/words.h"
#include "sys/auto_fd.h"
#include "sys/fs.h"
#include "sys/open_below.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

/* What can make keel do something. Who adds a reader of project files adds its name here. */
static const char *const settings_files[] = {
    ".keel/settings.local.json",
    ".keel/settings.json",
    ".robota/settings.local.json",
    ".robota/settings.json",
    ".claude/settings.local.json",
    ".claude/settings.json",
    ".mcp.json",
};
static const char *const directories[] = {".keel", ".robota"};
/* What another program writes while it works. */
static const char *const not_read[] = {".robota/sessions"};

enum {
    MAX_DEPTH = 16,
    MAX_BASES = 16,
    MAX_ENTRIES = 100000, /* looked at for patterns and in directories whose files are run */
};

struct project_reading {
    struct arena *arena;
    const struct project_place *place;
    struct project_files *files;
    int fd;              /* of the project */
    const char *dirs[2]; /* its path as it was given, and without links */
    uint64_t n_bytes;
    /* Where relative names may begin: "" is the project itself. */
    const char *bases[MAX_BASES];
    size_t n_bases, n_own_bases; /* the first ones are not named by a command */
    size_t n_entries;
};

static const char *join(struct arena *a, const char *dir, const char *name)
{
    return *dir ? fs_join(a, dir, name) : name;
}

static void refuse(struct project_reading *r, const char *problem)
{
    if (!r->files->problem)
        r->files->problem = problem;
}

/* --- one file --- */

static struct err *digest_fd(int fd, const char *name, char hex[SHA256_HEX_SIZE])
{
    unsigned char digest[SHA256_SIZE];
    char buffer[1 << 16];
    struct sha256 h;
    ssize_t n;

    sha256_init(&h);
    while ((n = read(fd, buffer, sizeof buffer)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(ERR_STORAGE, errno, "cannot read %s", name);
        if (h.n_bytes > PROJECT_MAX_BYTES)
            return err_new(ERR_VALIDATION, "%s grew while keel read it", name);
        sha256_add(&h, str_make(buffer, (size_t)n));
    }
    sha256_end(&h, digest);
    sha256_format_hex(digest, hex);
    return NULL;
}

/* What is digested is what was read, not the file that is there afterwards. */
static struct err *read_content(struct arena *a, int fd, struct project_file *f, size_t max_bytes)
{
    AUTO(strbuf) struct strbuf text;

    strbuf_init(&text, max_bytes);
    TRY(fs_read_fd(fd, f->name, &text));
    f->content = arena_str(a, strbuf_str(&text));
    f->n_bytes = f->content.n;
    sha256_hex(f->content, f->digest);
    return NULL;
}

static struct err *read_fd(struct project_reading *r, int fd, struct project_file *f)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return err_errno(ERR_STORAGE, errno, "cannot read %s", f->name);
    f->is_executable = st.st_mode & S_IXUSR;
    if (f->kind == PROJECT_SETTINGS)
        return read_content(r->arena, fd, f, PROJECT_MAX_SETTINGS_BYTES);
    if (!S_ISREG(st.st_mode) || st.st_size <= (off_t)PROJECT_MAX_KEPT_BYTES)
        return read_content(r->arena, fd, f, PROJECT_MAX_KEPT_BYTES);
    f->n_bytes = (uint64_t)st.st_size;
    if (r->n_bytes + f->n_bytes > PROJECT_MAX_BYTES)
        return err_new(ERR_VALIDATION, "%s is too large to check", f->name);
    return digest_fd(fd, f->name, f->digest);
}

static struct err *open_error(int error, const char *name)
{
    if (error == EXDEV || error == ELOOP)
        return err_new(ERR_STORAGE, "cannot read %s: it is a link to a place outside the project",
                       name);
    return fs_open_error(error, name);
}

/* The part of a path that is a link out of the project, and where that leads. */
static bool read_link_out(struct project_reading *r, struct project_file *f)
{
    char *name = arena_cstr(r->arena, str_of(f->name));
    size_t n = strlen(name);

    for (size_t i = 1; i <= n; i++) {
        char was = name[i], target[PATH_MAX];
        AUTO_FD link = -1;
        ssize_t size;

        if (was && was != '/')
            continue;
        name[i] = 0;
        link = open_inside(r->fd, name, O_PATH);
        if (link >= 0 || errno != EXDEV) {
            name[i] = was;
            continue;
        }
        size = readlinkat(r->fd, name, target, sizeof target);
        if (size <= 0)
            return false;
        f->name = name;
        f->is_link = true;
        f->content = arena_str(r->arena, str_make(target, (size_t)size));
        f->n_bytes = f->content.n;
        sha256_hex(f->content, f->digest);
        return true;
    }
    return false;
}

/* A word of a command can be longer than any name. */
static bool is_absence(int error)
{
    return error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG;
}

/* Nothing is there, also where a link out of the project would lead. */
static bool is_absent(const struct project_reading *r, const char *name, int error)
{
    struct stat st;

    return is_absence(error) ||
           (error == EXDEV && fstatat(r->fd, name, &st, 0) < 0 && is_absence(errno));
}

/* False: there is none. */
static bool read_one(struct project_reading *r, struct project_file *f)
{
    AUTO_FD fd = open_inside(r->fd, f->name, FS_READ_FLAGS);
    int error = errno;
    struct err *e = NULL;

    if (fd < 0 && is_absent(r, f->name, error))
        return false;
    if (fd < 0) {
        if (f->kind == PROJECT_NAMED && error == EXDEV && read_link_out(r, f))
            return true;
        e = open_error(error, f->name);
    } else {
        e = read_fd(r, fd, f);
    }
    if (e) {
        AUTO_FREE char *text = err_message(e);

        f->problem = arena_cstr(r->arena, str_of(text));
        err_free(e);
    }
    return true;
}

/* --- all of them --- */

const struct project_file *project_files_find(const struct project_files *f, const char *name)
{
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->items[i].name, name) == 0)
            return &f->items[i];
    return NULL;
}

static void add_file(struct project_reading *r, const char *name, enum project_file_kind kind)
{
    struct project_files *files = r->files;
    struct project_file f = {.name = name, .kind = kind};

    if (files->problem || project_files_find(files, name) || !read_one(r, &f) ||
        project_files_find(files, f.name))
        return;
    r->n_bytes += f.problem ? 0 : f.n_bytes;
    files->items = arena_grow(r->arena, files->items, files->n, &files->room, sizeof *files->items);
    files->items[files->n++] = f;
    if (files->n > PROJECT_MAX_FILES)
        refuse(r,
               arena_format(r->arena, "it has more than %d files to review", PROJECT_MAX_FILES).p);
    else if (r->n_bytes > PROJECT_MAX_BYTES)
        refuse(r, arena_format(r->arena, "its files to review hold more than %zu MiB",
                               PROJECT_MAX_BYTES >> 20)
                      .p);
}

static bool is_not_read(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(not_read); i++)
        if (strcmp(name, not_read[i]) == 0)
            return true;
    return false;
}

/* A link to a directory counts as one. */
static bool is_directory(const struct project_reading *r, const char *name)
{
    AUTO_FD fd = open_inside(r->fd, name, O_PATH | O_DIRECTORY);

    return fd >= 0;
}

static void add_directory(struct project_reading *r, const char *name, int depth);

static void add_entry(struct project_reading *r, const char *name, int depth)
{
    if (!utf8_is_valid(str_of(name)))
        refuse(r, arena_format(r->arena, "the name of %s is not UTF-8", name).p);
    else if (!is_directory(r, name))
        add_file(r, name, PROJECT_OTHER);
    else if (depth == MAX_DEPTH)
        refuse(r, arena_format(r->arena, "%s is nested too deeply", name).p);
    else if (!is_not_read(name))
        add_directory(r, name, depth + 1);
}

static void add_directory(struct project_reading *r, const char *name, int depth)
{
    int fd = open_inside(r->fd, name, O_RDONLY | O_DIRECTORY);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;

    if (!dir && is_absence(errno))
        return;
    if (!dir) {
        AUTO(err) struct err *e = open_error(errno, name);
        AUTO_FREE char *text = err_message(e);

        refuse(r, arena_cstr(r->arena, str_of(text)));
        close_fd(&fd);
        return;
    }
    while (!r->files->problem && (entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            add_entry(r, arena_format(r->arena, "%s/%s", name, entry->d_name).p, depth);
    closedir(dir);
}

/* --- what commands name --- */

static void add_base(struct project_reading *r, const char *name)
{
    for (size_t i = 0; i < r->n_bases; i++)
        if (strcmp(r->bases[i], name) == 0)
            return;
    if (r->n_bases == MAX_BASES)
        refuse(r, "its commands name too many directories");
    else
        r->bases[r->n_bases++] = name;
}

/* `path` as it is called in the project; NULL: it lies elsewhere. */
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

/* A name that counts from the project or one of the other bases; NULL: an option or nothing. */
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

/* What interpreters try besides the name itself. */
static const char *const endings[] = {"",    ".js",       ".cjs",         ".mjs",
                                      ".py", "/index.js", "/__main__.py", "/__init__.py"};

static void add_named_at(struct project_reading *r, const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(endings) && !r->files->problem; i++) {
        const char *full = *endings[i] ? arena_format(r->arena, "%s%s", name, endings[i]).p : name;

        if (!is_directory(r, full))
            add_file(r, full, PROJECT_NAMED);
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
        add_named_at(r, join(r->arena, r->bases[i], name));
        if (module)
            add_named_at(r, join(r->arena, r->bases[i], module));
    }
}

/* Programs that run what a file of the project says, and find it by themselves. */
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

/* Commands may go into a directory that they name, or look for programs there. */
static void add_named_base(struct project_reading *r, struct str word)
{
    bool is_exact;
    const char *name = relative_name(r, word, &is_exact);

    for (size_t i = 0; name && i < (is_exact ? 1 : MIN(r->n_bases, (size_t)2)); i++) {
        const char *full = join(r->arena, r->bases[i], name);

        if (is_directory(r, full))
            add_base(r, full);
    }
}

static void begin_bases(struct project_reading *r)
{
    const char *cwd =
        r->place->cwd ? name_in_project(r, fs_resolve(r->arena, r->place->cwd)) : NULL;

    add_base(r, "");
    if (cwd && *cwd)
        add_base(r, cwd);
    r->n_own_bases = r->n_bases;
}

/* --- what patterns match, and what is run for being in a directory --- */

/* Of what a pattern matches, these: the others are what a formatter or a linter gets, and the agent
 * edits them all the time. */
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

/* Those below `dir`, or those of them whose name from there on matches. */
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
        const char *name = join(r->arena, dir, arena_cstr(r->arena, str_of(entry->d_name)));
        const char *rest = name + (*base ? strlen(base) + 1 : 0);

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            strcmp(entry->d_name, ".git") == 0 || strcmp(entry->d_name, "node_modules") == 0)
            continue;
        if (++r->n_entries > MAX_ENTRIES)
            refuse(r, "its commands run files in directories with too many entries");
        else if (depth > 1 && is_directory(r, name))
            add_runnable(r, name, base, pattern, depth - 1);
        else if ((!pattern || glob_matches(pattern, str_of(rest))) && is_runnable(r, name))
            add_file(r, name, PROJECT_NAMED);
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
    for (size_t i = 0; pattern && depth <= MAX_DEPTH && i < (is_exact ? 1 : r->n_bases); i++)
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

/* npm run lint: what package.json calls so, and what runs before and after it. */
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

static void add_words(struct project_reading *r, struct word_list *words)
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
        refuse(r, "its commands have too many words");
    for (size_t i = r->n_own_bases; i < r->n_bases && runs_what_it_finds(words); i++)
        add_runnable(r, r->bases[i], r->bases[i], NULL, MAX_DEPTH);
}

/* Whatever stands there as a text: a command, a variable's value. */
static void collect_words(struct word_list *words, struct arena *a, const struct json *v)
{
    if (json_is(v, JSON_STRING))
        hook_words_add(words, a, v->text);
    json_each (child, v)
        collect_words(words, a, child);
}

/* A file that cannot be parsed is not used either. */
static void collect_from(struct word_list *words, struct arena *a, struct str text)
{
    struct json *tree = NULL;
    struct json_where where;

    if (!json_parse_at(a, text, 0, &tree, &where))
        return;
    collect_words(words, a, json_get(tree, "hooks"));
    collect_words(words, a, json_get(tree, "webSearch"));
}

static void add_what_settings_name(struct project_reading *r)
{
    AUTO(arena) struct arena scratch = {0};
    struct word_list words = {0};

    for (size_t i = 0; i < r->files->n; i++)
        if (r->files->items[i].kind == PROJECT_SETTINGS)
            collect_from(&words, &scratch, r->files->items[i].content);
    add_words(r, &words);
    for (size_t i = 0; i < r->files->n; i++) /* names may point into the scratch arena */
        r->files->items[i].name = arena_cstr(r->arena, str_of(r->files->items[i].name));
}

/* --- reading --- */

static bool is_same_file(const struct stat *st, int dir_fd, const char *path)
{
    struct stat other;

    return path && fstatat(dir_fd, path, &other, 0) == 0 && other.st_dev == st->st_dev &&
           other.st_ino == st->st_ino;
}

static bool is_home(const struct project_reading *r)
{
    struct stat project, keel_home;

    return (fstat(r->fd, &project) == 0 && is_same_file(&project, r->fd, r->place->home)) ||
           (r->place->keel_home && stat(r->place->keel_home, &keel_home) == 0 &&
            is_same_file(&keel_home, r->fd, ".keel"));
}

/* In the home directory the person's own settings are at the places of a project's. */
static bool is_own(const struct project_reading *r, const char *name)
{
    const char *own = NULL;
    struct stat st;

    if (!str_ends(str_of(name), S("/settings.json")))
        return false;
    if (str_starts(str_of(name), S(".keel/")) && r->place->keel_home)
        own = fs_join(r->arena, r->place->keel_home, "settings.json");
    else if (r->place->home)
        own = fs_join(r->arena, r->place->home, name);
    return own && stat(own, &st) == 0 && is_same_file(&st, r->fd, name);
}

static int compare_names(const void *a, const void *b)
{
    const struct project_file *x = a, *y = b;

    return strcmp(x->name, y->name);
}

static void note_problem(struct project_files *files)
{
    for (size_t i = 0; i < files->n && !files->problem; i++)
        files->problem = files->items[i].problem;
}

static struct project_reading begin_reading(struct arena *a, const struct project_place *place,
                                            struct project_files *files)
{
    int fd = place->dir ? open(place->dir, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    struct project_reading r = {.arena = a, .place = place, .files = files, .fd = fd};

    *files = (struct project_files){0};
    r.dirs[0] = place->dir;
    r.dirs[1] = fd < 0 ? NULL : fs_resolve(a, place->dir);
    return r;
}

static void project_reading_done(struct project_reading *r)
{
    close_fd(&r->fd);
}
DEFINE_AUTO_VAL(project_reading, project_reading_done)

void project_files_read(struct arena *a, const struct project_place *place,
                        struct project_files *ret_files)
{
    AUTO(project_reading) struct project_reading r = begin_reading(a, place, ret_files);

    if (r.fd < 0)
        return;
    for (size_t i = 0; i < ARRAY_LEN(settings_files); i++)
        if (!is_own(&r, settings_files[i]))
            add_file(&r, settings_files[i], PROJECT_SETTINGS);
    begin_bases(&r);
    add_what_settings_name(&r);
    for (size_t i = 0; i < ARRAY_LEN(directories) && !is_home(&r); i++)
        add_directory(&r, directories[i], 1);
    note_problem(ret_files);
    if (ret_files->n)
        qsort(ret_files->items, ret_files->n, sizeof *ret_files->items, compare_names);
}

/* --- looking again --- */

static struct err *changed(const char *name)
{
    return err_hint(err_new(ERR_TOOL_DENIED, "%s has changed since this project was trusted", name),
                    "read it, then run keel trust");
}

static bool is_same(const struct project_file *a, const struct project_file *b)
{
    return !a->problem && !b->problem && a->is_link == b->is_link &&
           a->is_executable == b->is_executable && strcmp(a->digest, b->digest) == 0;
}

static struct err *check_known(struct project_reading *r, const struct project_files *then)
{
    for (size_t i = 0; i < then->n; i++)
        if (then->items[i].kind != PROJECT_SETTINGS)
            add_file(r, then->items[i].name, then->items[i].kind);
    for (size_t i = 0; i < then->n; i++) {
        const struct project_file *was = &then->items[i],
                                  *now = project_files_find(r->files, was->name);

        if (was->kind != PROJECT_SETTINGS && (!now || !is_same(was, now)))
            return changed(was->name);
    }
    return NULL;
}

struct err *project_files_check(const struct project_files *then, const struct project_place *place,
                                struct str command)
{
    AUTO(arena) struct arena a = {0};
    struct project_files now;
    AUTO(project_reading) struct project_reading r = begin_reading(&a, place, &now);
    struct word_list words = {0};

    if (r.fd < 0)
        return changed(place->dir);
    TRY(check_known(&r, then));
    begin_bases(&r);
    hook_words_add(&words, &a, command);
    add_words(&r, &words);
    for (size_t i = 0; i < now.n; i++)
        if (!project_files_find(then, now.items[i].name))
            return changed(now.items[i].name);
    return now.problem ? err_new(ERR_TOOL_DENIED, "%s", now.problem) : NULL;
}
