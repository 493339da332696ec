/* args.c - reads a command line against a table of options. */
#include "cli/args.h"

static const struct option *find_long(const struct option *options, struct str name)
{
    for (const struct option *o = options; o->name; o++)
        if (str_is(name, o->name))
            return o;
    return NULL;
}

static const struct option *find_letter(const struct option *options, char letter)
{
    for (const struct option *o = options; o->name; o++)
        if (o->letter && o->letter == letter)
            return o;
    return NULL;
}

/* Levenshtein distance, for names of sane length. */
static size_t distance(struct str a, struct str b)
{
    size_t row[64];

    if (a.n >= ARRAY_LEN(row) || b.n >= ARRAY_LEN(row))
        return SIZE_MAX;
    for (size_t i = 0; i <= b.n; i++)
        row[i] = i;
    for (size_t k = 1; k <= a.n; k++) {
        size_t diagonal = row[0];

        row[0] = k;
        for (size_t i = 1; i <= b.n; i++) {
            size_t change = diagonal + (a.p[k - 1] != b.p[i - 1]);

            diagonal = row[i];
            row[i] = MIN(MIN(row[i] + 1, row[i - 1] + 1), change);
        }
    }
    return row[b.n];
}

static struct err *unknown_option(const struct args *a, struct str name)
{
    const struct option *best = NULL;
    size_t least = 3;
    const char *who = a->command[0] ? a->command : "keel";
    struct err *e = err_new(ERR_VALIDATION, "%s has no option --%" STR_FMT, who, STR_ARG(name));

    for (const struct option *o = a->options; o->name; o++) {
        size_t d = distance(name, str_of(o->name));
        if (d < least) {
            least = d;
            best = o;
        }
    }
    if (best)
        return err_hint(e, "did you mean --%s?", best->name);
    return err_hint(e, "see keel %s%s--help", a->command, a->command[0] ? " " : "");
}

static void add_given(struct args *a, const struct option *o, const char *value)
{
    a->given = mem_resize(a->given, (a->n_given + 1) * sizeof *a->given);
    a->given[a->n_given++] = (struct arg){o, value};
}

static struct err *take_option(struct args *a, const struct option *o, const char *inline_value,
                               char **argv, int argc, int *at)
{
    if (!o->value_name) {
        if (inline_value)
            return err_new(ERR_VALIDATION, "--%s takes no value", o->name);
        add_given(a, o, "");
        return NULL;
    }
    if (!inline_value) {
        if (*at + 1 >= argc)
            return err_new(ERR_VALIDATION, "--%s needs a value: %s", o->name, o->value_name);
        inline_value = argv[++*at];
    }
    add_given(a, o, inline_value);
    return NULL;
}

static struct err *take_word(struct args *a, char **argv, int argc, int *at)
{
    const char *word = argv[*at], *equals = strchr(word, '=');
    const struct option *o;

    if (str_starts(str_of(word), S("--"))) {
        struct str name =
            str_make(word + 2, equals ? (size_t)(equals - word - 2) : strlen(word + 2));

        o = find_long(a->options, name);
        if (!o)
            return unknown_option(a, name);
        return take_option(a, o, equals ? equals + 1 : NULL, argv, argc, at);
    }
    o = find_letter(a->options, word[1]);
    if (!o || (word[2] && !o->value_name))
        return unknown_option(a, str_of(word + 1));
    return take_option(a, o, word[2] ? word + 2 : NULL, argv, argc, at);
}

struct err *args_parse(struct args *a, const char *command, const struct option *options, int argc,
                       char **argv)
{
    bool only_operands = false;

    *a = (struct args){.options = options, .command = command};
    a->operands = mem_alloc(((size_t)argc + 1) * sizeof *a->operands);
    for (int i = 0; i < argc; i++) {
        bool is_option = !only_operands && argv[i][0] == '-' && argv[i][1];

        if (is_option && strcmp(argv[i], "--") == 0)
            only_operands = true;
        else if (is_option)
            TRY(take_word(a, argv, argc, &i));
        else
            a->operands[a->n_operands++] = argv[i];
    }
    return NULL;
}

void args_done(struct args *a)
{
    mem_free(a->given);
    mem_free(a->operands);
    *a = (struct args){0};
}

const char *args_next(const struct args *a, const char *name, size_t *at)
{
    while (*at < a->n_given) {
        const struct arg *g = &a->given[(*at)++];
        if (strcmp(g->option->name, name) == 0)
            return g->value;
    }
    return NULL;
}

const char *args_get(const struct args *a, const char *name)
{
    const char *value = NULL, *next;
    size_t at = 0;

    while ((next = args_next(a, name, &at)))
        value = next;
    return value;
}

bool args_has(const struct args *a, const char *name)
{
    return args_get(a, name) != NULL;
}

struct err *args_int(const struct args *a, const char *name, int64_t least, int64_t most,
                     int64_t otherwise, int64_t *ret_value)
{
    const char *text = args_get(a, name);
    int64_t value = otherwise;

    if (text && (!str_to_int64(str_of(text), &value) || value < least || value > most))
        return err_new(ERR_VALIDATION, "--%s takes a number from %lld to %lld, not \"%s\"", name,
                       (long long)least, (long long)most, text);
    *ret_value = value;
    return NULL;
}

struct err *args_count(const struct args *a, size_t least, size_t most, const char *usage)
{
    if (a->n_operands >= least && a->n_operands <= most)
        return NULL;
    return err_hint(err_new(ERR_VALIDATION, "%s takes %s", a->command, usage),
                    "see keel %s --help", a->command);
}
