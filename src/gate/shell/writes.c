/* writes.c - the paths that a line obviously writes to. */
#include "gate/shell/split.h"

enum which { ALL, LAST, NOT_FIRST, NAMED };

/* The operands that the program changes or removes. */
static const struct file_writer {
    const char *name;
    enum which which;
    const char *needs;  /* an option that makes it write; NULL: it always does */
    const char *valued; /* short options whose value is the next word */
} writers[] = {
    {"rm", ALL, NULL, ""},
    {"rmdir", ALL, NULL, ""},
    {"unlink", ALL, NULL, ""},
    {"shred", ALL, NULL, "ns"},
    {"touch", ALL, NULL, "drt"},
    {"truncate", ALL, NULL, "rs"},
    {"tee", ALL, NULL, ""},
    {"mv", ALL, NULL, "tS"},
    {"cp", LAST, NULL, "tS"},
    {"ln", LAST, NULL, "tS"},
    {"install", LAST, NULL, "gmotS"},
    {"chmod", NOT_FIRST, NULL, ""},
    {"chown", NOT_FIRST, NULL, ""},
    {"chgrp", NOT_FIRST, NULL, ""},
    {"sed", NOT_FIRST, "-i", "efl"},
    {"dd", NAMED, NULL, ""},
};

struct found {
    struct arena *arena;
    struct str *paths;
    size_t n, room;
};

static void add(struct found *f, struct str path)
{
    if (path.n == 0)
        return;
    for (size_t i = 0; i < f->n; i++)
        if (str_eq(f->paths[i], path))
            return;
    if (f->n == SHELL_MAX_COMMANDS)
        return;
    f->paths = arena_grow(f->arena, f->paths, f->n, &f->room, sizeof *f->paths);
    f->paths[f->n++] = path;
}

static const struct file_writer *find_writer(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(writers); i++)
        if (str_is(name, writers[i].name))
            return &writers[i];
    return NULL;
}

static bool has_option(const struct split_command *c, const char *option)
{
    for (size_t i = c->n_assignments + 1; i < c->n_words; i++)
        if (str_starts(c->words[i].text, str_of(option)))
            return true;
    return false;
}

/* "-t" in "-vt": its value is the next word. */
static bool takes_next(const struct file_writer *w, struct str option)
{
    return option.n > 1 && option.p[1] != '-' && strchr(w->valued, option.p[option.n - 1]) &&
           *w->valued;
}

/* With "cp -t DIR" and "sed -e SCRIPT" no operand is skipped. */
static bool has_all(const struct file_writer *w, const struct split_command *c)
{
    return w->which == ALL || (w->which == LAST && has_option(c, "-t")) ||
           (w->which == NOT_FIRST && w->needs && has_option(c, "-e"));
}

static void add_operands(struct found *f, const struct file_writer *w,
                         const struct split_command *c)
{
    size_t first = f->n, n_seen = 0;
    bool is_operand = false, takes_all = has_all(w, c);

    for (size_t i = c->n_assignments + 1; i < c->n_words; i++) {
        const struct shell_word *word = &c->words[i];

        if (!is_operand && str_starts(word->text, S("-")) && word->text.n > 1) {
            is_operand = str_is(word->text, "--");
            i += takes_next(w, word->text) && !is_operand;
            continue;
        }
        n_seen++;
        if (!word->is_known || (w->which == NOT_FIRST && n_seen == 1 && !takes_all))
            continue;
        if (w->which == LAST && !takes_all)
            f->n = first;
        if (w->which != NAMED)
            add(f, word->text);
        else if (str_starts(word->text, S("of=")))
            add(f, str_skip(word->text, 3));
    }
}

void shell_written_paths(struct arena *a, const struct shell_split *split, struct str **ret_paths,
                         size_t *ret_n)
{
    struct found f = {.arena = a};

    for (size_t i = 0; i < split->n_redirections; i++)
        if (split->redirections[i].writes && split->redirections[i].target.is_known)
            add(&f, split->redirections[i].target.text);
    for (size_t i = 0; i < split->n_commands; i++) {
        const struct split_command *c = &split->commands[i];
        const struct file_writer *w = find_writer(shell_command_name(c));

        if (w && (!w->needs || has_option(c, w->needs)))
            add_operands(&f, w, c);
    }
    *ret_paths = f.paths;
    *ret_n = f.n;
}
