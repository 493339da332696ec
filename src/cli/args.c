/* args.c - reads a command line against a table of options. */
#include "cli/args.h"

#include "cli/advice.h"

static const struct option *find_long(const struct option *options, struct str name)
{
    for (const struct option *o = options; o->name; o++)
        if (str_is(name, o->name) || (o->alias && str_is(name, o->alias)))
            return o;
    return NULL;
}

static const struct option *find_letter(const struct option *options, char letter)
{
    for (const struct option *o = options; o->name; o++)
        if (letter && (o->letter == letter || o->other_letter == letter))
            return o;
    return NULL;
}

static void add_given(struct args *a, const struct option *o, const char *value)
{
    a->given = mem_resize(a->given, (a->n_given + 1) * sizeof *a->given);
    a->given[a->n_given++] = (struct arg){o, value};
}

static struct err *missing_value(const struct option *o)
{
    struct err *e = err_new(ERR_VALIDATION, "--%s needs a value: %s", o->name, o->value_name);

    if (o->words && strcmp(o->words, COMPLETE_SESSIONS) == 0)
        return err_hint(e, "keel session list prints the sessions; --continue takes the newest");
    if (o->words && strcmp(o->words, COMPLETE_MODELS) == 0)
        return err_hint(e, "keel models lists the known models");
    return o->words ? err_hint(e, "one of: %s", o->words) : e;
}

/* --model --verbose: the value was forgotten. */
static struct err *swallowed_option(const struct option *o, const char *next)
{
    return err_hint(err_new(ERR_VALIDATION, "--%s needs a value: %s, not the option %s", o->name,
                            o->value_name, next),
                    "for a value with this name: --%s=%s", o->name, next);
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
        const char *next = *at + 1 < argc ? argv[*at + 1] : NULL;

        if (!next || strcmp(next, "--") == 0)
            return missing_value(o);
        if (str_starts(str_of(next), S("--")) && find_long(a->options, str_of(next + 2)))
            return swallowed_option(o, next);
        inline_value = argv[++*at];
    }
    add_given(a, o, inline_value);
    return NULL;
}

/* -cp, -cm MODEL, -mMODEL: switches share a dash, and the last letter may take a value. A long name
 * behind one dash is none of this: -print is not -p -r int. */
static struct err *take_letters(struct args *a, char **argv, int argc, int *at)
{
    const char *word = argv[*at];
    struct str name = str_make(word + 1, strcspn(word + 1, "="));

    if (name.n > 1 && find_long(a->options, name))
        return advice_option(a, str_make(word, name.n + 1));
    for (const char *letter = word + 1; *letter; letter++) {
        const struct option *o = find_letter(a->options, *letter);
        bool has_inline_value = o && o->value_name && letter[1];

        if (!o || (has_inline_value && letter > word + 1))
            return advice_option(a, str_of(word));
        TRY(take_option(a, o, has_inline_value ? letter + 1 : NULL, argv, argc, at));
        if (o->value_name)
            break;
    }
    return NULL;
}

static struct err *take_word(struct args *a, char **argv, int argc, int *at)
{
    const char *word = argv[*at], *equals = strchr(word, '=');
    struct str given = str_make(word, equals ? (size_t)(equals - word) : strlen(word));
    const struct option *o;

    if (!str_starts(given, S("--")))
        return take_letters(a, argv, argc, at);
    o = find_long(a->options, str_skip(given, 2));
    if (!o)
        return advice_option(a, given);
    return take_option(a, o, equals ? equals + 1 : NULL, argv, argc, at);
}

static struct err *parse(struct args *a, const char *command, const struct option *options,
                         int argc, char **argv, bool first_operand_ends)
{
    bool only_operands = false;
    const struct option *list = NULL; /* which may take further words */

    *a = (struct args){.options = options, .command = command};
    a->operands = mem_alloc(((size_t)argc + 1) * sizeof *a->operands);
    for (int i = 0; i < argc; i++) {
        bool is_option = !only_operands && argv[i][0] == '-' && argv[i][1];

        if (is_option && strcmp(argv[i], "--") == 0) {
            only_operands = true;
            list = NULL;
        } else if (is_option) {
            TRY(take_word(a, argv, argc, &i));
            list = a->n_given ? a->given[a->n_given - 1].option : NULL;
            list = list && list->is_item ? list : NULL;
        } else if (list && (a->n_operands || list->is_item(str_of(argv[i])))) {
            add_given(a, list, argv[i]);
        } else {
            a->operands[a->n_operands++] = argv[i];
            list = NULL;
            only_operands = only_operands || first_operand_ends;
        }
    }
    return NULL;
}

struct err *args_parse(struct args *a, const char *command, const struct option *options, int argc,
                       char **argv)
{
    return parse(a, command, options, argc, argv, /* first_operand_ends= */ false);
}

struct err *args_parse_command(struct args *a, const char *command, const struct option *options,
                               int argc, char **argv)
{
    return parse(a, command, options, argc, argv, /* first_operand_ends= */ true);
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
    return err_hint(err_new(ERR_VALIDATION, "%s takes %s", a->command, usage), "see keel %s --help",
                    a->command);
}
