/* notices.c - what a person must know before a run begins. */
#include "cli/print/print.h"

#include "sdk/once.h"
#include "sdk/project.h"
#include "sys/env.h"
#include "sys/proc.h"

/* Without a home there is no place for sessions; where one was chosen, or none is wanted, that is
 * no loss. */
static bool lacks_home(const struct args *args, const struct project *p)
{
    return !args_has(args, "no-session-persistence") && !args_has(args, "store") &&
           !env_find(host_environment(p->host), "KEEL_STORE") && !p->place.keel_home;
}

/* Again only when the file says something else. */
static void tell_foreign(const struct project *p, enum layer l)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf all = {0};
    struct str file, note = settings_foreign_note(p->settings, l, &a);

    if (note.n == 0)
        return;
    strbuf_add(&all, note);
    json_write(&all, settings_layer(p->settings, l, &file));
    if (once_begin(str_of(p->place.keel_home), strbuf_str(&all)))
        cli_tell("%" STR_FMT "\nkeel says this once; keel config show --origin prints the "
                 "settings in force",
                 STR_ARG(note));
}

void print_tell_settings(const struct project *p)
{
    for (size_t i = 0; i < settings_n_warnings(p->settings); i++)
        cli_tell("%" STR_FMT, STR_ARG(settings_warning(p->settings, i)));
    for (int l = 0; l < N_LAYERS; l++)
        tell_foreign(p, (enum layer)l);
}

void print_tell_missing(const struct args *args, const struct project *p, bool is_kept)
{
    char path[4096];
    AUTO(err) struct err *e = proc_find_supervisor(path);

    if (!is_kept && lacks_home(args, p))
        cli_tell("this session is not stored: HOME and KEEL_HOME are not set to a directory\n"
                 "set one of them, or choose a place with --store");
    if (e)
        cli_tell("commands cannot run: %s\n%s", e->text, e->hint ? e->hint : "");
}
