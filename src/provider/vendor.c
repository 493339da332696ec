/* vendor.c - finds vendors and their models. */
#include "provider/vendor.h"

#include "base/alike.h"
#include "base/ascii.h"

static bool has_word(const char *words, struct str name)
{
    struct str rest = str_of(words), word;

    while (words && str_split(&rest, ' ', &word))
        if (word.n && str_eq_nocase(name, word))
            return true;
    return false;
}

const struct vendor *vendor_find(struct str name_or_alias)
{
    for (const struct vendor *v = vendors; v->name; v++)
        if (str_eq_nocase(name_or_alias, str_of(v->name)) || has_word(v->aliases, name_or_alias))
            return v;
    return NULL;
}

void vendor_list_names(struct strbuf *out)
{
    for (const struct vendor *v = vendors; v->name; v++) {
        strbuf_addf(out, "%s%s", v == vendors ? "" : ", ", v->name);
        if (v->aliases[0])
            strbuf_addf(out, " (%s)", v->aliases);
    }
}

const struct vendor *vendor_for_words(const struct vendor *v, const struct protocol *p)
{
    if (!v && p == &protocol_openai_chat)
        v = vendor_find(S("custom"));
    for (const struct vendor *first = vendors; !v; first++)
        if (!first->name || first->protocol == p)
            v = first; /* the end of the table has no words */
    return v;
}

const char *vendor_setup_link(const struct vendor *v)
{
    if (v->api_key_url)
        return v->api_key_url;
    return v->console_url ? v->console_url : v->official_url;
}

static bool has_form(struct str s, const char *form)
{
    if (s.n != strlen(form))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (form[i] == '0' ? !ascii_is_digit(s.p[i]) : s.p[i] != form[i])
            return false;
    return true;
}

static struct str without_date(struct str id)
{
    static const char *const forms[] = {"-00000000", "-0000-00-00"};

    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        size_t n = strlen(forms[i]);

        if (id.n > n && has_form(str_skip(id, id.n - n), forms[i]))
            return str_slice(id, 0, id.n - n);
    }
    return id;
}

static const struct model_info *find_exactly(const struct vendor *v, struct str id)
{
    for (size_t i = 0; i < v->catalogue->n; i++)
        if (str_is(id, v->catalogue->models[i].id))
            return &v->catalogue->models[i];
    return NULL;
}

/* The maker's name, "claude-x", of "us.anthropic.claude-x-20250929-v1:0", also at the end of an
 * ARN, and of "claude-x@20250929". */
static struct str makers_name(struct str id)
{
    static const struct str maker = S("anthropic.");
    size_t at = str_rfind_char(id, '/'), version;

    id = at == STR_NONE ? id : str_skip(id, at + 1);
    id = str_slice(id, 0, str_find_char(id, '@'));
    at = str_find(id, maker);
    if (at != STR_NONE)
        id = str_skip(id, at + maker.n);
    id = str_slice(id, 0, str_find_char(id, ':'));
    version = str_rfind_char(id, '-');
    if (version != STR_NONE && has_form(str_skip(id, version), "-v0"))
        id = str_slice(id, 0, version);
    return id;
}

const struct model_info *vendor_find_model(const struct vendor *v, struct str id)
{
    const struct model_info *model = find_exactly(v, id);

    if (v->models_of)
        return vendor_find_model(vendor_find(str_of(v->models_of)), makers_name(id));
    return model ? model : find_exactly(v, without_date(id));
}

/* --- short and misspelled names --- */

/* "claude-sonnet" for "claude-sonnet-4-5": numbers are the version. */
static struct str family_of(struct str id, char buffer[64])
{
    size_t n = 0;

    for (size_t i = 0; i < id.n && n < 63; i++) {
        bool is_version = ascii_is_digit(id.p[i]) || id.p[i] == '.';
        bool is_second_dash = id.p[i] == '-' && (n == 0 || buffer[n - 1] == '-');

        if (!is_version && !is_second_dash)
            buffer[n++] = id.p[i];
    }
    while (n > 0 && buffer[n - 1] == '-')
        n--;
    return str_make(buffer, n);
}

/* Is the word a part of "claude-sonnet"? */
static bool names_family(struct str word, struct str family)
{
    struct str part;

    while (str_split(&family, '-', &part))
        if (str_eq_nocase(word, part))
            return true;
    return false;
}

struct str vendor_resolve_model(const struct vendor *v, struct str name)
{
    struct str long_window = S("[1m]");
    char buffer[64];

    if (name.n > long_window.n &&
        str_eq_nocase(str_skip(name, name.n - long_window.n), long_window))
        name = str_slice(name, 0, name.n - long_window.n);
    if (!has_word(v->families, name))
        return name;
    for (size_t i = 0; i < v->catalogue->n; i++)
        if (v->catalogue->models[i].lifecycle == LIFECYCLE_ACTIVE &&
            names_family(name, family_of(str_of(v->catalogue->models[i].id), buffer)))
            return str_of(v->catalogue->models[i].id);
    return name;
}

/* Longer names may have more wrong letters. */
static bool is_misspelling(struct str name, struct str known)
{
    size_t distance = text_distance(name, known);

    return str_eq_nocase(name, known) || (distance <= TEXT_ALIKE && distance * 4 <= name.n);
}

/* A single word may be a part of a name, or a misspelled part. */
static bool is_part(struct str name, struct str family)
{
    struct str part;

    if (name.n < 4 || str_find_char(name, '-') != STR_NONE)
        return false;
    while (str_split(&family, '-', &part))
        if (part.n >= 4 && (str_eq_nocase(name, part) || text_distance(name, part) <= TEXT_ALIKE))
            return true;
    return false;
}

/* The first match wins: the newest models come first. */
const struct model_info *vendor_guess_model(const struct vendor *v, struct str name)
{
    char name_buffer[64], buffer[64];
    struct str family = family_of(name, name_buffer);
    const struct model_info *guess = NULL;

    for (size_t i = 0; i < v->catalogue->n; i++) {
        struct str known = family_of(str_of(v->catalogue->models[i].id), buffer);

        if (str_eq(family, known))
            return &v->catalogue->models[i];
        if (!guess && (is_misspelling(family, known) || is_part(name, known)))
            guess = &v->catalogue->models[i];
    }
    return guess;
}

struct str vendor_guess_family(const struct vendor *v, struct str name)
{
    struct str rest = str_of(v->families), word;

    while (rest.n && str_split(&rest, ' ', &word))
        if (is_misspelling(name, word))
            return word;
    return (struct str){0};
}
