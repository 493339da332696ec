/* forms.c - argument lists and directories become command lines. */
#include "tool/shell/forms.h"

#include "base/strbuf.h"

static bool is_plain(struct str word)
{
    for (size_t i = 0; i < word.n; i++) {
        char c = word.p[i];

        if (!(c >= '0' && c <= '9') && !(c >= 'A' && c <= 'Z') && !(c >= 'a' && c <= 'z') &&
            str_find_char(S("_-./:,+@%"), c) == STR_NONE)
            return false;
    }
    return word.n > 0;
}

/* As one word of a command line. */
static void add_word(struct strbuf *out, struct str word)
{
    if (is_plain(word)) {
        strbuf_add(out, word);
        return;
    }
    strbuf_add_char(out, '\'');
    for (size_t i = 0; i < word.n; i++) {
        if (word.p[i] == '\'')
            strbuf_add_cstr(out, "'\\'");
        strbuf_add_char(out, word.p[i]);
    }
    strbuf_add_char(out, '\'');
}

/* ["bash", "-lc", "make && make check"]: the script. Another shell may read it otherwise. */
static struct str script_of(const struct json *list)
{
    struct str shell = json_str(json_at(list, 0)), option = json_str(json_at(list, 1));

    if (list->n != 3 || !(str_is(shell, "bash") || str_is(shell, "/bin/bash")) ||
        !(str_is(option, "-c") || str_is(option, "-lc")))
        return S("");
    return json_str(json_at(list, 2));
}

static bool holds_words(const struct json *list)
{
    json_each (word, list)
        if (!json_is(word, JSON_STRING))
            return false;
    return list->n > 0;
}

static struct str line_of(const struct json *list, struct arena *a)
{
    AUTO(strbuf) struct strbuf line = {0};
    struct str script = script_of(list);

    if (script.n)
        return arena_str(a, script);
    json_each (word, list) {
        if (line.n)
            strbuf_add_char(&line, ' ');
        add_word(&line, json_str(word));
    }
    return arena_str(a, strbuf_str(&line));
}

/* The closing parenthesis has a line of its own: the command may end with a comment or a here
 * document. */
static struct str line_in(struct str directory, struct str command, struct arena *a)
{
    AUTO(strbuf) struct strbuf line = {0};

    strbuf_add_cstr(&line, "(cd -- ");
    add_word(&line, directory);
    strbuf_addf(&line, " || exit\n%" STR_FMT "\n)", STR_ARG(command));
    return arena_str(a, strbuf_str(&line));
}

void shell_adapt_arguments(struct json *args, struct arena *a)
{
    const struct json *command = json_get(args, "command");
    const struct json *directory = json_get(args, "workdir");
    int64_t timeout_ms;

    if (json_is(command, JSON_ARRAY) && holds_words(command))
        json_set_str(a, args, "command", line_of(command, a));
    command = json_get(args, "command");
    if (json_is(command, JSON_STRING) && command->text.n && json_is(directory, JSON_STRING)) {
        if (directory->text.n && !str_is(directory->text, "."))
            json_set_str(a, args, "command", line_in(directory->text, command->text, a));
        json_remove(args, S("workdir"));
    }
    if (json_int64(json_get(args, "timeout"), &timeout_ms) && timeout_ms > SHELL_MAX_TIMEOUT_MS)
        json_set_int(a, args, "timeout", SHELL_MAX_TIMEOUT_MS);
}
