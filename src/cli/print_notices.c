/* print_notices.c - what a person must know before a run begins. */
#include "cli/print.h"

#include "sdk/once.h"
#include "sdk/runtime.h"
#include "sys/env.h"
#include "sys/proc.h"

/* Without a home there is no place for sessions; where one was chosen, or none is wanted, that is
 * no loss. */
static bool lacks_home(const struct args *args, const struct runtime *r)
{
    AUTO(arena) struct arena a = {0};

    return !args_has(args, "no-session-persistence") && !args_has(args, "store") &&
           !env_find(r->options.environment, "KEEL_STORE") && !runtime_home(r, &a).n;
}

/* Again only when the file says something else. */
static void tell_foreign(const struct runtime *r, enum layer l)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf all = {0};
    struct str file, note = settings_foreign_note(r->settings, l, &a);

    if (note.n == 0)
        return;
    strbuf_add(&all, note);
    json_write(&all, settings_layer(r->settings, l, &file));
    if (once_begin(runtime_home(r, &a), strbuf_str(&all)))
        cli_tell("%" STR_FMT "\nkeel says this once; keel config show --origin prints the "
                 "settings in force",
                 STR_ARG(note));
}

void print_tell_settings(const struct runtime *r)
{
    for (size_t i = 0; i < settings_n_warnings(r->settings); i++)
        cli_tell("%" STR_FMT, STR_ARG(settings_warning(r->settings, i)));
    for (int l = 0; l < N_LAYERS; l++)
        tell_foreign(r, (enum layer)l);
}

void print_tell_missing(const struct args *args, const struct runtime *r, bool is_kept)
{
    char path[4096];
    AUTO(err) struct err *e = proc_find_supervisor(path);

    if (!is_kept && lacks_home(args, r))
        cli_tell("this session is not stored: HOME and KEEL_HOME are not set to a directory\n"
                 "set one of them, or choose a place with --store");
    if (e)
        cli_tell("commands cannot run: %s\n%s", e->text, e->hint ? e->hint : "");
}
