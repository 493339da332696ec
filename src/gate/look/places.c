/* places.c - the places that a line which only looks would look at. */
#include "gate/look/look.h"

#include "gate/command.h"
#include "gate/pattern.h"
#include "gate/reach.h"
#include "sys/env.h"
#include "sys/fs.h"

#include <sys/stat.h>
#include <unistd.h>

struct look_walk {
    const struct subject *subject;
    const struct reach_map *map;
    struct arena *arena;
    const char *base; /* the directory of the shell */
};

/* Read would look there without a question. */
static bool is_free(const struct look_walk *w, const char *path)
{
    struct place place = place_find(w->arena, path, path);

    return place.real && reach_of(w->map, place.real, NULL) == REACH_FREE;
}

/* The path as the shell reads it. */
static const char *path_of(const struct look_walk *w, struct str text)
{
    if (str_starts(text, S("/")))
        return arena_cstr(w->arena, text);
    if (str_is(text, "~") || str_starts(text, S("~/")))
        return w->map->home
                   ? arena_format(w->arena, "%s%" STR_FMT, w->map->home, STR_ARG(str_skip(text, 1)))
                         .p
                   : "/";
    return arena_format(w->arena, "%s/%" STR_FMT, w->base, STR_ARG(text)).p;
}

/* --- programs --- */

static bool is_executable(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* Commands and repositories may have put a program there. */
static bool is_writable(const struct look_walk *w, const char *path)
{
    const struct hard_policy *policy = w->map->policy;
    struct place place = place_find(w->arena, path, path);

    if (!place.real || place_is_in(place.real, w->map->workspace))
        return true;
    for (size_t i = 0; i < policy->n_writable; i++)
        if (place_is_in(place.real, policy->writable[i]))
            return true;
    return false;
}

/* The sandbox hides programs elsewhere, and any program in the workspace may be replaced. A program
 * that does not exist is harmless. */
static bool program_is_free(const struct look_walk *w, struct str name)
{
    struct str path = env_get(w->subject->environment, S("PATH")), directory;

    if (str_find_char(name, '/') != STR_NONE || name.n > PATH_MAX_BYTES)
        return false;
    while (str_split(&path, ':', &directory)) {
        const char *file = fs_join(w->arena, path_of(w, directory), arena_cstr(w->arena, name));

        if (is_executable(file))
            return is_free(w, file) && !is_writable(w, file);
    }
    return true;
}

/* --- words --- */

/* "$HOME/x" is "~/x". */
static bool begins_with_home(const struct shell_word *word)
{
    struct str source = word->source;

    if (str_starts(source, S("\"")))
        source = str_skip(source, 1);
    return str_starts(source, S("$HOME")) || str_starts(source, S("${HOME}"));
}

/* An expanded word stands for file names in the directory before it, or is unknown: then the
 * sandbox protects. */
static bool expanded_is_free(const struct look_walk *w, const struct shell_word *word)
{
    size_t known = str_find_char(word->text, SHELL_ANYTHING);
    struct str head = str_slice(word->text, 0, known);
    size_t slash = str_rfind_char(head, '/');

    if (begins_with_home(word))
        return is_free(w, path_of(w, arena_format(w->arena, "~%" STR_FMT,
                                                  STR_ARG(str_skip(word->text, known + 1)))));
    if (str_starts(word->source, S("~"))) /* the home of another user */
        return false;
    if (slash == STR_NONE)
        return true;
    return is_free(w, path_of(w, str_slice(head, 0, slash + 1)));
}

static bool word_is_free(const struct look_walk *w, const struct shell_word *word)
{
    if (word->text.n > PATH_MAX_BYTES)
        return false;
    if (!word->is_known)
        return expanded_is_free(w, word);
    return word->text.n == 0 || is_free(w, path_of(w, word->text));
}

/* "--file=/x". Other options have no path, or one that the sandbox hides. */
static bool option_is_free(const struct look_walk *w, const struct shell_word *word)
{
    size_t equals = str_find_char(word->text, '=');
    struct shell_word value = *word;

    if (equals == STR_NONE)
        return true;
    value.text = value.source = str_skip(word->text, equals + 1);
    return !str_starts(value.text, S("/")) || word_is_free(w, &value);
}

/* --- commands --- */

static bool has_letter(const struct split_command *c, char letter)
{
    for (size_t i = 1; i < c->n_words; i++) {
        struct str text = c->words[i].text;

        if (text.n > 1 && text.p[0] == '-' && text.p[1] != '-' &&
            str_find_char(text, letter) != STR_NONE)
            return true;
    }
    return false;
}

static bool takes_next(const struct look_row *row, struct str option)
{
    return row && row->valued && option.n > 1 && option.p[1] != '-' &&
           strchr(row->valued, option.p[option.n - 1]);
}

static bool operands_are_free(const struct look_walk *w, const struct look_row *row,
                              const struct split_command *c)
{
    bool skips = row && (row->how & LOOK_TEXT_FIRST) && !has_letter(c, 'e') && !has_letter(c, 'f');

    for (size_t i = 1; i < c->n_words; i++) {
        const struct shell_word *word = &c->words[i];

        if (word->is_known && word->text.n > 1 && word->text.p[0] == '-') {
            if (!option_is_free(w, word))
                return false;
            i += takes_next(row, word->text);
        } else if (skips) {
            skips = false;
        } else if (row && row->how & LOOK_NAMES) {
            if (word->is_known && !program_is_free(w, word->text))
                return false;
        } else if (!word_is_free(w, word)) {
            return false;
        }
    }
    return true;
}

/* A `cd` in a subshell moves only the subshell. Then too little is seen here, and the sandbox
 * protects. */
static bool follow_cd(struct look_walk *w, const struct split_command *c)
{
    const struct shell_word *last = &c->words[c->n_words - 1];

    if (c->n_words == 1) /* home */
        return is_free(w, path_of(w, S("~")));
    if (last->is_known && !str_is(last->text, "-"))
        w->base = path_of(w, last->text);
    return true;
}

static bool command_stays_free(struct look_walk *w, const struct split_command *c)
{
    const struct look_row *row = look_row_of(c);

    if ((!row || !(row->how & LOOK_IS_BUILTIN)) && !program_is_free(w, c->words[0].text))
        return false;
    if (row && row->how & LOOK_NO_FILES)
        return true;
    if (!operands_are_free(w, row, c))
        return false;
    return !row || !(row->how & LOOK_MOVES) || follow_cd(w, c);
}

bool look_stays_free(const struct subject *s, const struct reach_map *map, struct arena *a)
{
    const struct shell_split *split = &s->command->split;
    struct look_walk w = {.subject = s, .map = map, .arena = a, .base = tool_state_cwd(s->state)};

    if (!is_free(&w, w.base))
        return false;
    for (size_t i = 0; i < split->n_redirections; i++)
        if (!split->redirections[i].writes && !word_is_free(&w, &split->redirections[i].target))
            return false;
    for (size_t i = 0; i < split->n_commands; i++)
        if (!command_stays_free(&w, &split->commands[i]))
            return false;
    return true;
}
