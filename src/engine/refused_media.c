/* refused_media.c - omits files that a provider refuses, so that the turn continues.
 *
 * A file stays in the history for good, so a provider that refuses it would refuse every later
 * request of the session. What was refused is state of the session (STATE_REFUSED): the next
 * request says in the file's place why it is missing, and so do all that follow, after a restart or
 * in a fork too. Every refusal omits at least one more file, in growing steps, so that the
 * requests come to an end.
 *
 * Many providers refuse a file without an error that keel knows. So after a refusal that explains
 * nothing, files that no answer of the model has followed are suspects: the request is tried once
 * without them, and they count as refused only if that succeeds. Until then the change is a draft.
 */
#include "engine/refused_media.h"

#include "base/quoted.h"
#include "base/utf8.h"
#include "engine/run_state.h"

#include <string.h>

#define MAX_NAMED 8 /* files that a provider may refuse one by one in one ask */
#define MAX_REASON_BYTES 300
/* A request that is refused for its length is so because of files if these take most of it. */
#define LONG_MEDIA_BYTES ((size_t)12 << 20)

/* --- what was refused --- */

static void hash_media(const struct media *m, char hex[SHA256_HEX_SIZE])
{
    if (m->source == MEDIA_BLOB && m->data.n == SHA256_HEX_SIZE - 1) {
        memcpy(hex, m->data.p, m->data.n);
        hex[m->data.n] = 0;
    } else {
        sha256_hex(m->data, hex);
    }
}

/* The size is compared first: hashing all files for every request would take its time. */
const struct json *refused_media_find(const struct tool_state *s, struct str provider,
                                      const struct media *m)
{
    char hex[SHA256_HEX_SIZE] = "";
    struct state_entry x;

    for (size_t at = 0; s && tool_state_next(s, STATE_REFUSED, &at, &x);) {
        if (json_int_or(json_get(x.value, "bytes"), -1) != (int64_t)m->data.n ||
            !str_eq(json_get_text(x.value, "provider"), provider))
            continue;
        if (!*hex)
            hash_media(m, hex);
        if (str_eq(x.name, str_of(hex)))
            return x.value;
    }
    return NULL;
}

uint64_t refused_media_mark(const struct tool_state *s)
{
    uint64_t mark = 0;
    struct state_entry x;

    for (size_t at = 0; s && tool_state_next(s, STATE_REFUSED, &at, &x);)
        mark += str_hash(x.name) ^ str_hash(json_get_text(x.value, "provider"));
    return mark;
}

/* One line. */
static struct str short_reason(struct arena *a, const struct err *e)
{
    AUTO_FREE char *text = err_message(e);
    struct str reason = arena_str(a, utf8_truncate(str_of(text), MAX_REASON_BYTES));

    for (char *p = (char *)reason.p; p < reason.p + reason.n; p++)
        if ((unsigned char)*p < ' ')
            *p = ' ';
    return reason;
}

/* --- the files of a request --- */

struct sent_file {
    const struct media *media;
    size_t message; /* by its place in the request */
};

struct sent_files {
    struct arena arena;
    struct sent_file *items;
    size_t n, room;
};

static void collect_files(struct sent_files *files, const struct part *parts, size_t n,
                          size_t message)
{
    for (size_t i = 0; i < n; i++) {
        if (parts[i].kind == PART_TOOL_RESULT)
            collect_files(files, parts[i].content, parts[i].n_content, message);
        if (parts[i].kind != PART_MEDIA)
            continue;
        files->items =
            arena_grow(&files->arena, files->items, files->n, &files->room, sizeof *files->items);
        files->items[files->n++] = (struct sent_file){&parts[i].media, message};
    }
}

static size_t total_bytes(const struct sent_files *files)
{
    size_t n = 0;

    for (size_t i = 0; i < files->n; i++)
        n += files->items[i].media->source == MEDIA_URL ? 0 : files->items[i].media->data.n;
    return n;
}

/* The first of the files that came last together: in a prompt, or in the results of one batch. */
static size_t newest_group(const struct built_messages *built, const struct sent_files *files)
{
    size_t first = files->n - 1;
    enum role role = built->items[files->items[first].message]->role;
    size_t message = files->items[first].message;

    while (message > 0 && built->items[message - 1]->role == role && role == ROLE_TOOL)
        message--;
    while (first > 0 && files->items[first - 1].message >= message)
        first--;
    return first;
}

static size_t find_named(const struct sent_files *files, const char *sha256)
{
    char hex[SHA256_HEX_SIZE];

    for (size_t i = 0; i < files->n; i++) {
        hash_media(files->items[i].media, hex);
        if (strcmp(hex, sha256) == 0)
            return i;
    }
    return files->n;
}

/* --- omitting --- */

static void add_refused(struct tool_state *s, const struct sent_file *f, struct str provider,
                        struct str reason)
{
    AUTO(arena) struct arena a = {0};
    struct json *value = json_new(&a, JSON_OBJECT);
    char hex[SHA256_HEX_SIZE];

    hash_media(f->media, hex);
    json_set_str(&a, value, "provider", provider);
    json_set_int(&a, value, "bytes", (int64_t)f->media->data.n);
    json_set_str(&a, value, "reason", reason);
    tool_state_set(s, STATE_REFUSED, str_of(hex), value);
}

static struct str name_of(struct arena *a, const struct sent_file *f)
{
    return f->media->name.n ? quoted(a, f->media->name) : f->media->mime;
}

static void omit_file(struct run *r, const struct sent_file *f, struct str provider,
                      struct str reason)
{
    AUTO(arena) struct arena a = {0};

    add_refused(r->conversation->state, f, provider, reason);
    run_notice(r, SEVERITY_WARNING, "llm",
               arena_format(&a,
                            "the provider refused a file (%" STR_FMT "); keel sends this session's "
                            "requests without it: %" STR_FMT,
                            STR_ARG(name_of(&a, f)), STR_ARG(reason)));
}

/* Which of the files to leave out now: from *ret_from on, *ret_n of them; none: give up. */
static void choose_files(const struct built_messages *built, const struct sent_files *files,
                         const struct err *e, struct refusals *refusals, size_t *ret_from,
                         size_t *ret_n)
{
    size_t group = newest_group(built, files);
    size_t named =
        e->refused_media && *e->refused_media ? find_named(files, e->refused_media) : files->n;

    *ret_from = 0;
    *ret_n = files->n;
    if (!e->refused_media && group > 0) { /* too long: what the model has seen goes first */
        *ret_n = group;
    } else if (named < files->n && refusals->n_named++ < MAX_NAMED) {
        *ret_from = named;
        *ret_n = 1;
    } else if (e->refused_media && refusals->step < REFUSAL_ALL) {
        *ret_from = refusals->step++ == REFUSAL_NEWEST ? files->n - 1 : group;
        *ret_n = files->n - *ret_from;
    }
}

static bool is_refusal(const struct err *e, const struct sent_files *files)
{
    bool is_too_long = err_is(e, ERR_CONTEXT_OVERFLOW) && e->peer_status == 413 &&
                       total_bytes(files) > LONG_MEDIA_BYTES;

    return files->n && (e->refused_media || is_too_long);
}

bool refused_media_leave_out(struct run *r, const struct built_messages *built, struct str provider,
                             const struct err *e, struct refusals *refusals)
{
    struct sent_files files = {0};
    size_t from = 0, n = 0;

    for (size_t i = 0; i < built->n; i++)
        collect_files(&files, built->items[i]->parts, built->items[i]->n_parts, i);
    if (is_refusal(e, &files)) {
        struct str reason = short_reason(&files.arena, e);

        choose_files(built, &files, e, refusals, &from, &n);
        for (size_t i = from; i < from + n; i++)
            omit_file(r, &files.items[i], provider, reason);
    }
    arena_done(&files.arena);
    return n > 0;
}

/* --- on trial --- */

/* Statuses that speak of keys, limits and waiting, whatever else the error says. */
static bool is_about_sender(int status)
{
    static const int statuses[] = {401, 402, 403, 407, 408, 409, 425, 429};

    for (size_t i = 0; i < ARRAY_LEN(statuses); i++)
        if (status == statuses[i])
            return true;
    return status > 502; /* overload, or a gateway */
}

/* A refusal of the request that nothing explains. A server that breaks down counts if it never says
 * anything else. */
static bool is_unexplained(const struct err *e, bool is_last)
{
    bool is_broken = e->peer_status >= 500;

    if (e->peer_status < 400 || is_about_sender(e->peer_status))
        return false;
    if (is_broken && err_is(e, ERR_PROVIDER_UNAVAILABLE))
        return is_last;
    return err_is(e, ERR_PROVIDER_ERROR) || (!is_broken && err_is(e, ERR_MODEL_NOT_AVAILABLE));
}

/* The number of messages up to the last answer of this model: it has taken those. */
static size_t count_taken(const struct built_messages *built, const struct target *t)
{
    for (size_t n = built->n; n > 0; n--) {
        const struct message *m = built->items[n - 1];

        if (m->role == ROLE_ASSISTANT && m->n_parts &&
            str_eq(m->origin.provider, t->provider->id) && str_eq(m->origin.model, t->model))
            return n;
    }
    return 0;
}

static void draft_without(struct run *r, const struct sent_files *files, const struct target *t,
                          const struct err *e, struct refusals *refusals)
{
    AUTO(arena) struct arena a = {0};
    struct str reason = short_reason(&a, e);

    if (files->n > 1)
        reason = arena_format(&a, "%" STR_FMT " (about this or another of %zu new files)",
                              STR_ARG(reason), files->n);
    refusals->draft = tool_state_draft(r->conversation->state);
    refusals->reason = err_copy(e);
    refusals->n_files = files->n;
    for (size_t i = 0; i < files->n; i++) {
        struct str name = name_of(&a, &files->items[i]);

        add_refused(refusals->draft, &files->items[i], t->provider->id, reason);
        strbuf_addf(&refusals->names, "%s%" STR_FMT, i ? ", " : "", STR_ARG(name));
    }
}

bool refused_media_try_without(struct run *r, const struct built_messages *built,
                               const struct target *t, const struct err *e, bool is_last,
                               struct refusals *refusals)
{
    struct sent_files files = {0};

    if (refusals->was_tried || !is_unexplained(e, is_last))
        return false;
    for (size_t i = count_taken(built, t); i < built->n; i++)
        collect_files(&files, built->items[i]->parts, built->items[i]->n_parts, i);
    if (files.n) {
        refusals->was_tried = true;
        draft_without(r, &files, t, e, refusals);
    }
    arena_done(&files.arena);
    return refusals->was_tried;
}

const struct tool_state *refusals_state(const struct refusals *refusals,
                                        const struct tool_state *session)
{
    return refusals->draft ? refusals->draft : session;
}

void refusals_drop(struct refusals *refusals)
{
    tool_state_free(refusals->draft);
    err_free(refusals->reason);
    strbuf_done(&refusals->names);
    *refusals = (struct refusals){.step = refusals->step, .n_named = refusals->n_named};
}

static void accept_trial(struct run *r, struct refusals *refusals)
{
    AUTO(arena) struct arena a = {0};
    bool is_one = refusals->n_files == 1;

    tool_state_accept(refusals->draft);
    run_notice(r, SEVERITY_WARNING, "llm",
               arena_format(&a,
                            "the provider refused %s (%" STR_FMT ")%s; keel sends this session's "
                            "requests without %s: %" STR_FMT,
                            is_one ? "a file" : "files", STR_ARG(strbuf_str(&refusals->names)),
                            is_one ? "" : " without saying which", is_one ? "it" : "them",
                            STR_ARG(short_reason(&a, refusals->reason))));
}

struct err *refusals_end(struct run *r, struct refusals *refusals, struct err *take_error)
{
    if (refusals->draft && !take_error) {
        accept_trial(r, refusals);
    } else if (refusals->draft && is_unexplained(take_error, /* is_last= */ true)) {
        err_free(take_error);
        take_error = TAKE(refusals->reason);
    }
    refusals_drop(refusals);
    return take_error;
}

/* --- before they are sent --- */

struct media_limits run_media_limits(const struct run_plan *plan)
{
    const struct target *first = &plan->targets[0];

    return provider_capabilities(first->provider, first->info).media;
}

struct err *run_fit_result(const struct run_plan *plan, struct tool_result *result)
{
    const struct media_limits limits = run_media_limits(plan);
    size_t n_kept = 0;

    for (size_t i = 0; i < result->n_media; i++) {
        AUTO(strbuf) struct strbuf note = {0};
        bool is_fine;

        TRY(media_fit(&limits, &result->media[i], &result->arena, &note, &is_fine));
        if (note.n)
            tool_result_addf(result, "\n%" STR_FMT, STR_ARG(str_trim(strbuf_str(&note))));
        if (is_fine)
            result->media[n_kept++] = result->media[i];
    }
    result->n_media = n_kept;
    return NULL;
}
