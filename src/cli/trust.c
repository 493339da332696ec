/* trust.c - `keel trust`: use the settings that come with a project, or stop doing so. */
#include "cli/commands.h"

#include "sdk/project.h"
#include "sys/fs.h"

#define EXIT_BY_PERSON 4

static const struct option options[] = {
    {"revoke", 0, NULL, .help = "stop trusting it"},
    {"list", 0, NULL, .help = "list trusted projects"},
    {"yes", 'y', NULL, .help = "do not ask"},
    {0},
};

/* Why the trust does not hold any more; empty: it does. */
static struct err *find_end(const struct project *p, const char *dir, struct arena *a,
                            struct str *ret_reason)
{
    struct project_place place = {
        .dir = dir, .cwd = dir, .home = p->place.home, .keel_home = p->place.keel_home};
    struct project_files files = {0};
    struct trust_state state;

    *ret_reason = (struct str){0};
    if (!fs_is_dir(dir)) {
        *ret_reason = S("the directory is gone");
        return NULL;
    }
    project_files_read(a, &place, &files);
    TRY(trust_check(a, str_of(p->place.keel_home), dir, &files, &state));
    *ret_reason =
        state.trust == TRUST_NOT_NEEDED ? S("it has no project settings now") : state.reason;
    return NULL;
}

static struct err *print_list(const struct project *p)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf out = {0};
    struct json *list;

    TRY(trust_list(&a, str_of(p->place.keel_home), &list));
    json_each (entry, list) {
        struct str reason;

        TRY(find_end(p, arena_cstr(&a, entry->key), &a, &reason));
        strbuf_addf(&out, "%" STR_FMT "  since %" STR_FMT "%s%" STR_FMT "\n", STR_ARG(entry->key),
                    STR_ARG(json_get_text(entry, "time")), reason.n ? "; ended: " : "",
                    STR_ARG(reason));
    }
    if (out.n == 0)
        cli_tell("no project is trusted");
    return cli_print_visible(strbuf_str(&out));
}

static struct err *revoke(const struct project *p, const char *dir)
{
    AUTO(arena) struct arena a = {0};
    bool was_given;

    TRY(trust_revoke(str_of(p->place.keel_home), dir, &was_given));
    cli_tell(was_given ? "%s is no longer trusted" : "%s was not trusted", dir);
    return NULL;
}

/* --- what comes with a project --- */

#define MAX_SHOWN_BYTES ((size_t)64 << 10) /* of one file */

/* "--- .keel/check.sh (120 bytes, executable, run by a hook, changed)" */
static void show_head(const struct trust_state *state, const struct project_file *f)
{
    static const char *const changes[] = {[TRUST_NEW] = ", new", [TRUST_DIFFERENT] = ", changed"};
    const char *change = state->was ? changes[trust_change_of(state, f)] : NULL;

    cli_tell("--- %s (%llu bytes%s%s%s)", f->name, (unsigned long long)f->n_bytes,
             f->is_executable ? ", executable" : "",
             f->kind == PROJECT_NAMED ? ", named by a command in the settings" : "",
             change ? change : "");
}

/* The bytes that are trusted if the answer is yes. */
static struct err *show_file(const char *dir, const struct trust_state *state,
                             const struct project_file *f)
{
    show_head(state, f);
    if (f->is_link)
        cli_tell("a link to %" STR_FMT ", outside the project", STR_ARG(f->content));
    else if (f->n_bytes > MAX_SHOWN_BYTES || !cli_is_text(f->content))
        cli_tell("%s, SHA-256 %s; read it in %s",
                 f->n_bytes > MAX_SHOWN_BYTES ? "too long to show" : "not text", f->digest, dir);
    else
        return cli_print_visible(f->content);
    return NULL;
}

/* A person must see what it is about: the settings first, then what they run. */
static struct err *show_files(const struct project *p)
{
    const char *dir = p->place.dir;

    cli_tell("%s comes with these files:", dir);
    for (int kind = PROJECT_SETTINGS; kind <= PROJECT_OTHER; kind++)
        for (size_t i = 0; i < p->files.n; i++)
            if (p->files.items[i].kind == (enum project_file_kind)kind)
                TRY(show_file(dir, &p->trust, &p->files.items[i]));
    return NULL;
}

/* What is shown, digested and trusted are the same bytes: nothing is read again. */
static struct err *give(const struct project *p, bool is_sure, int *ret_status)
{
    AUTO(arena) struct arena a = {0};
    const char *dir = p->place.dir;
    enum trust trust = p->trust.trust;
    bool yes = is_sure;

    if (trust == TRUST_NOT_NEEDED || trust == TRUST_GIVEN) {
        cli_tell(trust == TRUST_GIVEN ? "%s is trusted already"
                                      : "%s has no project settings; nothing to trust",
                 dir);
        return NULL;
    }
    if (trust == TRUST_CHANGED)
        cli_tell("%" STR_FMT, STR_ARG(p->trust.reason));
    if (!yes && !p->files.problem) {
        TRY(show_files(p));
        TRY(cli_confirm("\nUse these settings until one of the files changes?",
                        "read the files, then run keel trust --yes", &yes));
        if (!yes) {
            *ret_status = EXIT_BY_PERSON;
            return NULL;
        }
    }
    TRY(trust_give(str_of(p->place.keel_home), dir, &p->files));
    cli_tell("%s is trusted until one of these files changes", dir);
    for (size_t i = 0; i < p->files.n && is_sure; i++)
        cli_tell("  %s  %llu bytes", p->files.items[i].name,
                 (unsigned long long)p->files.items[i].n_bytes);
    return NULL;
}

static struct err *trust_run(const struct args *args, int *ret_status)
{
    AUTO(project) struct project *p = NULL;

    TRY(args_count(args, 0, 0, "no arguments: it is about the project of the working directory"));
    if (args_has(args, "list") + args_has(args, "revoke") + args_has(args, "yes") > 1)
        return err_new(ERR_VALIDATION, "--list, --revoke and --yes cannot be combined");
    TRY(project_open(NULL, &(struct project_options){0}, &p));
    if (args_has(args, "list"))
        return print_list(p);
    if (args_has(args, "revoke"))
        return revoke(p, p->place.dir);
    return give(p, args_has(args, "yes"), ret_status);
}

const struct command command_trust = {
    .name = "trust",
    .usage = "[--yes]\n--revoke\n--list",
    .group = "Set up",
    .summary = "use the settings that come with this project",
    .details = "A repository's own settings (in .keel/, .robota/ and .claude/, and .mcp.json)\n"
               "can allow tools, start hooks and name providers. keel uses them only after you\n"
               "trust them. The trust ends when one of them changes, or another file in .keel/\n"
               "or .robota/, or a file that one of their commands names. Deny rules always\n"
               "apply.\n\n"
               "  keel trust\n"
               "  keel trust --list\n",
    .options = options,
    .run = trust_run,
};
