/* import_handles.c - the results and commands that an imported history names. */
#include "transcript/import_handles.h"

#include "base/ascii.h"
#include "engine/hide.h"
#include "port/kept_shell.h"
#include "port/state_keys.h"
#include "port/stored_result.h"

#include <inttypes.h>

#define MIN_RESULT_BYTES 512 /* shorter ones are stored with their message */
#define MAX_RESULTS 1000000
#define MAX_NAMES 10000
#define MAX_TOOL_BYTES 100
#define RESULT_MENTION "handle \"" STORED_RESULT_NAME
#define NOT_HERE                                                                                   \
    "What was stored here is not in the file that this session was imported from. Run the tool "   \
    "again if you need it.\n"

/* The number at the start; 0: none, or not a valid one. */
static uint32_t read_number(struct str text)
{
    uint32_t number = 0;
    size_t n = 0;

    while (n < text.n && ascii_is_digit(text.p[n]))
        n++;
    for (size_t i = 0; n <= 9 && i < n; i++)
        number = number * 10 + (uint32_t)(text.p[i] - '0');
    return number;
}

/* --- reading --- */

void import_keep_result(struct importing *x, struct imported *s, struct str text)
{
    struct import_text *t;
    struct sha256 hash;

    if (text.n < MIN_RESULT_BYTES || text.n > UINT32_MAX || s->n_results == MAX_RESULTS)
        return;
    s->results = mem_grow(s->results, s->n_results, &s->results_room, sizeof *s->results);
    t = &s->results[s->n_results++];
    *t = (struct import_text){.at = import_put_text(x, text), .n_bytes = (uint32_t)text.n};
    sha256_init(&hash);
    sha256_add(&hash, text);
    sha256_end(&hash, t->digest);
}

void import_take_state(struct importing *x, struct imported *s, struct str key,
                       const struct json *value)
{
    struct arena *a = &x->out->arena;
    struct stored_result stored;
    uint32_t number;

    if (!stored_result_read(key, value, &stored) || s->n_handles == MAX_NAMES ||
        !str_starts(stored.name, S(STORED_RESULT_NAME)))
        return;
    number = read_number(str_skip(stored.name, strlen(STORED_RESULT_NAME)));
    for (size_t i = 0; i < s->n_handles; i++)
        if (s->handles[i].number == number)
            return;
    s->handles = arena_grow(a, s->handles, s->n_handles, &s->handles_room, sizeof *s->handles);
    s->handles[s->n_handles++] = (struct imported_handle){
        .number = number,
        .sha256 = arena_str(a, stored.sha256),
        .tool = arena_str(a, str_slice(json_get_text(value, "tool"), 0, MAX_TOOL_BYTES))};
}

/* --- names in messages --- */

void import_names_done(struct import_names *n)
{
    mem_free(n->results);
    *n = (struct import_names){0};
}

static void note_result(struct import_names *n, uint32_t number)
{
    for (size_t i = 0; i < n->n_results; i++)
        if (n->results[i] == number)
            return;
    if (number == 0 || n->n_results == MAX_NAMES)
        return;
    n->results = mem_grow(n->results, n->n_results, &n->room, sizeof *n->results);
    n->results[n->n_results++] = number;
}

static void note_text(struct import_names *n, struct str text)
{
    size_t at;

    for (struct str rest = text; (at = str_find(rest, S(RESULT_MENTION))) != STR_NONE;) {
        rest = str_skip(rest, at + strlen(RESULT_MENTION));
        note_result(n, read_number(rest));
    }
    for (struct str rest = text; (at = str_find(rest, S(SHELL_ID))) != STR_NONE;) {
        rest = str_skip(rest, at + strlen(SHELL_ID));
        n->last_command = MAX(n->last_command, read_number(rest));
    }
}

void import_names_note(struct import_names *n, const struct message *m)
{
    for (size_t i = 0; i < m->n_parts; i++) {
        const struct part *p = &m->parts[i];

        if (p->kind == PART_CONTEXT)
            note_text(n, p->text);
        for (size_t k = 0; k < p->n_content && p->kind == PART_TOOL_RESULT; k++)
            note_text(n, p->content[k].text);
    }
}

/* --- saving --- */

static const struct imported_handle *find_handle(const struct imported *s, uint32_t number)
{
    for (size_t i = 0; i < s->n_handles; i++)
        if (s->handles[i].number == number)
            return &s->handles[i];
    return NULL;
}

/* The text behind a name; it lives in `a`. */
static struct err *find_text(const struct import_state *from, const struct imported_handle *h,
                             struct arena *a, struct str *ret_text)
{
    const struct imported *s = from->session;
    char hash[SHA256_HEX_SIZE];
    struct str text;

    *ret_text = S(NOT_HERE);
    for (size_t i = 0; h && i < s->n_results; i++) {
        sha256_format_hex(s->results[i].digest, hash);
        if (!str_is(h->sha256, hash))
            continue;
        TRY(import_fetch_text(from->import, s->results[i].at, s->results[i].n_bytes, &text));
        *ret_text = hide_in_str(from->secrets, a, arena_str(a, text), from->found);
        break;
    }
    return NULL;
}

static int64_t count_lines(struct str text)
{
    struct str line;
    int64_t n = 0;

    while (str_split(&text, '\n', &line))
        n++;
    return n;
}

static struct err *add_result(const struct import_state *from, uint32_t number, struct arena *a,
                              struct json *state)
{
    const struct imported_handle *h = find_handle(from->session, number);
    struct json *value = json_new(a, JSON_OBJECT);
    AUTO(arena) struct arena scratch = {0};
    char hash[SHA256_HEX_SIZE];
    struct str text;

    TRY(find_text(from, h, &scratch, &text));
    TRY(blob_put_soon(from->blobs, text, hash));
    json_set_str(a, value, "sha256", arena_str(a, str_of(hash)));
    json_set_str(a, value, "tool", h ? h->tool : (struct str){0});
    json_set_int(a, value, "bytes", (int64_t)text.n);
    json_set_int(a, value, "lines", count_lines(text));
    json_set_key(
        a, state,
        state_key_text(a, STATE_RESULT, arena_format(a, STORED_RESULT_NAME "%" PRIu32, number)),
        value);
    return NULL;
}

/* The last number is enough: the next command gets another one. */
static void add_command(const struct import_names *n, struct arena *a, struct json *state)
{
    struct kept_shell k = {
        .command = S("(before the import)"), .state = SHELL_KILLED, .is_seen = true};

    if (!n->last_command)
        return;
    k.id = arena_format(a, SHELL_ID "%" PRIu32, n->last_command);
    json_set_key(a, state, state_key_text(a, STATE_SHELL, k.id), kept_shell_value(&k, a));
}

struct err *import_state_add(const struct import_state *from, struct arena *a, struct json *state)
{
    const struct imported *s = from->session;
    struct import_names all = {0};
    struct err *e = NULL;

    for (size_t i = 0; i < s->n_handles; i++)
        note_result(&all, s->handles[i].number);
    for (size_t i = 0; i < from->names->n_results; i++)
        note_result(&all, from->names->results[i]);
    for (size_t i = 0; i < all.n_results && !e; i++)
        e = add_result(from, all.results[i], a, state);
    import_names_done(&all);
    add_command(from->names, a, state);
    return e;
}
