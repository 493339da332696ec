/* search.c - `keel session search`: finds words in stored sessions. */
#include "cli/session/session.h"

#include "base/width.h"
#include "sys/loop.h"
#include "view/field.h"

#include <ctype.h>

#define DEFAULT_N 20

static const struct option options[] = {
    {"limit", 'n', "N", "print at most N matches (20)"},
    {"json", 0, NULL, "print one JSON array"},
    SESSION_OPTIONS,
    {0},
};

static struct str join_words(struct session_work *w)
{
    AUTO(strbuf) struct strbuf words = {0};

    for (size_t i = 0; i < w->args->n_operands; i++)
        strbuf_addf(&words, "%s%s", i ? " " : "", w->args->operands[i]);
    return arena_str(&w->arena, strbuf_str(&words));
}

/* --- the words in it --- */

/* How much of the text begins with one of the words; 0: none. */
static size_t match(struct str text, struct str words)
{
    size_t longest = 0;
    struct str word;

    while (str_split(&words, ' ', &word))
        if (word.n > longest && str_eq_nocase(str_slice(text, 0, word.n), word))
            longest = word.n;
    return longest;
}

static void add_marked(struct strbuf *out, struct str text, struct str words)
{
    size_t plain = 0, i = 0;

    while (i < text.n) {
        size_t n = match(str_skip(text, i), words);

        if (!n) {
            i++;
            continue;
        }
        cli_add_visible(out, str_slice(text, plain, i - plain));
        cli_add_tinted(out, TINT_BOLD, str_slice(text, i, n));
        plain = i += n;
    }
    cli_add_visible(out, str_skip(text, plain));
}

/* As much of a line as fits, with the first of the words in it. */
static void add_line(struct strbuf *out, struct str line, struct str words, size_t columns)
{
    struct str omitted = S("... ");
    size_t at = 0, from, n = 0;

    while (at < line.n && !(n = match(str_skip(line, at), words)))
        at++;
    if (at == line.n || width_of(str_slice(line, 0, at + n)) <= columns) {
        add_marked(out, width_truncate(line, columns), words);
        return;
    }
    for (from = at; from && width_of(str_slice(line, from - 1, at - from + 1)) <= columns / 2;)
        from--;
    while (from < at && line.p[from] != ' ') /* from a whole word on, or from this one */
        from++;
    strbuf_add(out, omitted);
    add_marked(out, width_truncate(str_trim(str_skip(line, from)), columns - omitted.n), words);
}

/* --- what was found --- */

/* A prompt is in the stream twice, as it came and as the history has it, mostly the same. */
static bool was_told(const struct store_hit *hits, size_t n, const struct store_hit *hit)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(hits[i].session.id, hit->session.id) && str_eq(hits[i].excerpt, hit->excerpt))
            return true;
    return false;
}

static size_t drop_repeated(struct store_hit *hits, size_t n)
{
    size_t n_kept = 0;

    for (size_t i = 0; i < n; i++)
        if (!was_told(hits, n_kept, &hits[i]))
            hits[n_kept++] = hits[i];
    return n_kept;
}

static void add_hit(struct strbuf *out, const struct store_hit *hit, struct str words)
{
    size_t columns = cli_n_columns() ? cli_n_columns() : SIZE_MAX;
    struct str rest = str_trim(hit->excerpt), line;

    cli_add_tinted(out, TINT_GREEN, hit->session.id);
    strbuf_add_cstr(out, "  ");
    session_add_age(out, hit->session.updated_ms, clock_unix_ms(loop_clock(task_loop())));
    if (hit->session.name.n) {
        strbuf_add_cstr(out, "  ");
        cli_add_tinted(out, TINT_BOLD, hit->session.name);
    }
    while (str_split(&rest, '\n', &line)) {
        if (str_trim(line).n == 0)
            continue;
        strbuf_add_cstr(out, "\n    ");
        add_line(out, line, words, columns > 24 ? columns - 4 : 20);
    }
    strbuf_add_char(out, '\n');
}

static void write_hits(struct strbuf *out, const struct store_hit *hits, size_t n)
{
    struct json_writer w;

    jw_init(&w, out);
    jw_begin_array(&w);
    for (size_t i = 0; i < n; i++) {
        jw_begin_object(&w);
        session_write_summary(&w, &hits[i].session);
        jw_kv_int(&w, "seq", (int64_t)hits[i].seq);
        jw_kv_str(&w, "excerpt", hits[i].excerpt);
        jw_end_object(&w);
    }
    jw_end_array(&w);
    strbuf_add_char(out, '\n');
}

static struct err *search(struct session_work *w)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct str words = join_words(w);
    struct store_hit *hits = NULL;
    size_t n = 0;
    int64_t n_max;

    TRY(args_int(w->args, "limit", 1, 10000, DEFAULT_N, &n_max));
    TRY(store_search(w->store, words, (size_t)n_max, &w->arena, &hits, &n));
    n = drop_repeated(hits, n);
    if (args_has(w->args, "json"))
        write_hits(&out, hits, n);
    else
        for (size_t i = 0; i < n; i++)
            add_hit(&out, &hits[i], words);
    if (!n) {
        cli_tell("nothing found");
        w->status = 1;
    }
    return cli_print(strbuf_str(&out));
}

static struct err *session_search_run(const struct args *args, int *ret_status)
{
    size_t n_words = 0;

    TRY(args_count(args, 1, 64, "words to look for"));
    for (size_t i = 0; i < args->n_operands; i++)
        n_words += str_trim(str_of(args->operands[i])).n > 0;
    if (!n_words)
        return err_new(ERR_VALIDATION, "session search: the words to look for are empty");
    return session_work_run(args, search, ret_status);
}

const struct command command_session_search = {
    .name = "session search",
    .usage = "WORD... [--limit N] [--json]",
    .summary = "find what was said, in sessions of all directories",
    .details = "Finds messages that contain all the words. Exits 1 if nothing is found.\n"
               "\n"
               "  keel session search flaky test\n",
    .options = options,
    .run = session_search_run,
};
