/* ini.c - searches for one value; the files are short, and few values are read of each. */
#include "base/ini.h"

struct ini_line {
    bool is_section; /* `name` is the text in the brackets then */
    struct str name, value;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* False: a comment, a blank or indented line, or one without a value. */
static bool parse_line(struct str line, struct ini_line *ret)
{
    bool is_indented = line.n && is_blank(line.p[0]);
    struct str rest = str_trim(line);
    size_t at;

    if (rest.n == 0 || rest.p[0] == '#' || rest.p[0] == ';')
        return false;
    if (rest.p[0] == '[') {
        at = str_find_char(rest, ']');
        *ret = (struct ini_line){.is_section = true};
        if (at != STR_NONE)
            ret->name = str_trim(str_slice(rest, 1, at - 1));
        return true;
    }
    at = str_find_char(rest, '=');
    if (is_indented || at == STR_NONE)
        return false;
    *ret = (struct ini_line){.name = str_trim(str_slice(rest, 0, at)),
                             .value = str_trim(str_skip(rest, at + 1))};
    return true;
}

/* "profile x" and "profile x" with more blanks are one section. */
static bool is_section(struct str name, struct str wanted)
{
    struct str name_part = {0}, wanted_part = {0};

    for (;;) {
        name = str_trim(name);
        wanted = str_trim(wanted);
        if (name.n == 0 || wanted.n == 0)
            return name.n == wanted.n;
        str_split(&name, ' ', &name_part);
        str_split(&wanted, ' ', &wanted_part);
        if (!str_eq(name_part, wanted_part))
            return false;
    }
}

static bool look_up(struct str text, struct str section, struct str name, struct str *ret_value)
{
    struct str line_text;
    bool is_inside = false, is_found = false;

    if (text.n > INI_MAX_BYTES)
        return false;
    if (str_starts(text, S("\xEF\xBB\xBF")))
        text = str_skip(text, 3);
    while (str_split(&text, '\n', &line_text)) {
        struct ini_line line;

        if (!parse_line(line_text, &line))
            continue;
        if (line.is_section)
            is_inside = is_section(line.name, section);
        if (is_inside && line.is_section && name.n == 0)
            return true;
        if (is_inside && !line.is_section && str_eq_nocase(line.name, name) && name.n) {
            *ret_value = line.value;
            is_found = true;
        }
    }
    return is_found;
}

bool ini_has_section(struct str text, struct str section)
{
    struct str none;

    return look_up(text, section, (struct str){0}, &none);
}

struct str ini_get(struct str text, struct str section, struct str name)
{
    struct str value = {0};

    return look_up(text, section, name, &value) ? value : (struct str){0};
}
