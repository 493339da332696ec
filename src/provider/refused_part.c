/* refused_part.c - looks up the place that an error names in the body. */
#include "provider/refused_part.h"

#include "base/ascii.h"
#include "base/base64.h"
#include "base/json.h"

#define MAX_STEPS 16
#define MAX_DEPTH 8

/* --- the place --- */

/* Cuts the next name or number off a path such as ".content[0].image"; empty: the path has
 * ended. */
static struct str take_step(struct str *path)
{
    size_t n = 0, start = 0;

    while (start < path->n && start < 2 && strchr(".[]", path->p[start]))
        start++;
    *path = str_skip(*path, start);
    while (start && n < path->n && (ascii_is_alnum(path->p[n]) || path->p[n] == '_'))
        n++;
    *path = str_skip(*path, n);
    return str_make(path->p - n, n);
}

/* Skips names that are not members: the API's words for what is there ("image", "tool_result"). */
static const struct json *walk(const struct json *at, struct str path)
{
    unsigned n_indexes = 0;

    for (unsigned i = 0; i < MAX_STEPS && at; i++) {
        struct str step = take_step(&path);
        const struct json *member = json_get_str(at, step);
        int64_t index;

        if (step.n == 0)
            break;
        if (str_to_int64(step, &index) && index >= 0) {
            at = json_at(at, (size_t)index);
            n_indexes++;
        } else if (member) {
            at = member;
        }
    }
    return n_indexes ? at : NULL;
}

static const struct json *find_place(const struct json *body, struct str text)
{
    static const char *const roots[] = {"messages", "input", "contents"};

    for (size_t i = 0; i < ARRAY_LEN(roots); i++) {
        struct str rest = text, root = str_of(roots[i]);
        size_t at;

        while ((at = str_find(rest, root)) != STR_NONE) {
            const struct json *place;

            rest = str_skip(rest, at + root.n);
            place = walk(json_get_str(body, root), rest);
            if (place)
                return place;
        }
    }
    return NULL;
}

/* --- the file at it --- */

struct found_file {
    unsigned n;
    struct str text; /* of the last one */
};

static void find_files(const struct json *v, unsigned depth, struct found_file *found)
{
    static const char *const names[] = {"data",     "url",     "image_url", "file_data",
                                        "file_url", "fileUri", "file_uri"};

    if (depth > MAX_DEPTH)
        return;
    for (size_t i = 0; json_str(v).n && i < ARRAY_LEN(names); i++)
        if (str_is(v->key, names[i])) {
            found->n++;
            found->text = v->text;
        }
    json_each (child, v)
        find_files(child, depth + 1, found);
}

void refused_part_find(struct str body, struct str text, char hex[SHA256_HEX_SIZE])
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf bytes = {.max_bytes = JSON_MAX_BYTES};
    struct found_file found = {0};
    struct json_where where;
    struct json *root;
    size_t comma;

    hex[0] = 0;
    if (!json_parse_at(&a, body, 0, &root, &where))
        return;
    find_files(find_place(root, text), 0, &found);
    if (found.n != 1)
        return;
    comma = str_starts(found.text, S("data:")) ? str_find_char(found.text, ',') : STR_NONE;
    if (comma != STR_NONE)
        found.text = str_skip(found.text, comma + 1);
    if (str_find(str_slice(found.text, 0, 16), S("://")) == STR_NONE) {
        AUTO(err) struct err *e = base64_decode(&bytes, found.text);

        if (e)
            return;
        found.text = strbuf_str(&bytes);
    }
    sha256_hex(found.text, hex);
}
