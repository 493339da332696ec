/* verify.c - reads a stream and its children whole, and checks what they refer to. */
#include "archive/verify.h"

#include "base/json_skim.h"
#include "port/stored_result.h"
#include "session/codec/codec.h"
#include "session/codec/load_pack.h"
#include "session/digest.h"
#include "sys/task.h"

#define CHECKED_BITS 16 /* blobs that were found to be fine, as many as have a place */
#define REFERENCE "{\"$blob\":\""
#define MAX_DEPTH 16 /* of child runs */

struct verifying {
    struct store *store;
    struct str stream;
    struct verifier *verifier;
    struct blob_store *blobs;
    tree_reader *read_tree;
    uint64_t *checked; /* a part of the handle, at the place that another part says */
    /* the last list of files, while its call may still need it; empty: it does not */
    char tree[SHA256_HEX_SIZE];
    uint64_t tree_seq;
    struct strbuf tree_call;
    uint64_t seq; /* of the event whose list is looked through */
    /* what the list should say; not known if records cannot be read */
    struct store_summary digest;
    struct arena digest_arena;
    bool is_digest_unsure, is_copy;
    /* what the store says */
    struct arena arena;
    struct str *damages;
    size_t n_damages, damages_room;
};

/* --- blobs --- */

static uint64_t part_of_handle(struct str handle, size_t from)
{
    uint64_t value = 0;

    for (size_t i = from; i < from + 16 && i < handle.n; i++)
        value = value << 4 |
                (unsigned)(handle.p[i] <= '9' ? handle.p[i] - '0' : handle.p[i] - 'a' + 10);
    return value;
}

/* One that has lost its place to another is checked again. */
static uint64_t *place_of(const struct verifying *v, struct str handle)
{
    return &v->checked[part_of_handle(handle, 16) >> (64 - CHECKED_BITS)];
}

static bool was_checked(const struct verifying *v, struct str handle)
{
    return *place_of(v, handle) == part_of_handle(handle, 0);
}

/* Its bytes are right; whether the stream keeps it was not asked yet. */
#define BYTES_ONLY 1

static bool check_blob(struct verifying *v, uint64_t seq, struct str handle, const char *what)
{
    AUTO(err) struct err *e = NULL;
    AUTO_FREE char *text = NULL;
    bool is_kept = true;

    if (was_checked(v, handle))
        return true;
    e = blob_check(v->blobs, handle);
    if (!e)
        e = store_keeps(v->store, v->stream, handle, &is_kept);
    if (!e && is_kept)
        *place_of(v, handle) = part_of_handle(handle, 0);
    if (err_is(e, ERR_CANCELLED))
        return true;
    text = e ? err_message(e) : mem_strdup("the store does not list it as referenced");
    if (e || !is_kept)
        verifier_report(v->verifier, FINDING_INVALID_PAYLOAD, seq, "%s: %s", what, text);
    return !e;
}

/* What the record itself needs to be read. Quotes within texts are escaped, so that only members
 * of objects look like this. */
static bool check_payloads(struct verifying *v, const struct store_record *r)
{
    bool is_fine = true;
    struct str rest = r->body, handle;
    size_t at;

    while ((at = str_find(rest, S(REFERENCE))) != STR_NONE) {
        rest = str_skip(rest, at + strlen(REFERENCE));
        handle = str_slice(rest, 0, MIN(str_find_char(rest, '"'), rest.n));
        is_fine &= check_blob(v, r->seq, handle, "a part of the record");
    }
    return is_fine;
}

static void check_part(struct verifying *v, uint64_t seq, const struct part *p)
{
    if (p->kind == PART_MEDIA && p->media.source == MEDIA_BLOB)
        check_blob(v, seq, p->media.data, "a file of the message");
    for (size_t i = 0; i < p->n_content; i++)
        check_part(v, seq, &p->content[i]);
}

static void check_message(struct verifying *v, uint64_t seq, const struct message *m)
{
    for (size_t i = 0; m && i < m->n_parts; i++)
        check_part(v, seq, &m->parts[i]);
}

static void check_image(struct verifying *v, uint64_t seq, const struct pre_image *image)
{
    char sha256[SHA256_HEX_SIZE];

    if (image->has_bytes) {
        sha256_hex(image->bytes, sha256);
        if (!str_is(image->content, sha256))
            verifier_report(v->verifier, FINDING_INVALID_PAYLOAD, seq,
                            "a file as it was before: its content does not match its hash");
    } else if (image->content.n) {
        check_blob(v, seq, image->content, "a file as it was before");
    }
    if (image->xattrs.n)
        check_blob(v, seq, image->xattrs, "extended attributes as they were before");
}

/* Contents of files as they were before a command. Once it is known what the command changed they
 * are needed no more, and may go with another session; but they are never changed. */
static void check_content(void *self, struct str handle)
{
    struct verifying *v = self;
    AUTO(err) struct err *e = NULL;
    AUTO_FREE char *text = NULL;
    uint64_t n_bytes;

    if (was_checked(v, handle) || *place_of(v, handle) == (part_of_handle(handle, 0) ^ BYTES_ONLY))
        return;
    e = blob_size(v->blobs, handle, &n_bytes);
    if (e && !v->tree[0])
        return;
    if (!e)
        e = blob_check(v->blobs, handle);
    if (!e)
        *place_of(v, handle) = part_of_handle(handle, 0) ^ BYTES_ONLY;
    if (!e || err_is(e, ERR_CANCELLED))
        return;
    text = err_message(e);
    verifier_report(v->verifier, FINDING_INVALID_PAYLOAD, v->seq,
                    "a file as it was before a command: %s", text);
}

static void check_contents(struct verifying *v, uint64_t seq, struct str tree)
{
    AUTO(err) struct err *e = NULL;
    AUTO_FREE char *text = NULL;

    v->seq = seq;
    e = v->read_tree ? v->read_tree(v->blobs, tree, check_content, v) : NULL;
    if (!e || err_is(e, ERR_CANCELLED))
        return;
    text = err_message(e);
    verifier_report(v->verifier, FINDING_INVALID_PAYLOAD, seq, "a list of files: %s", text);
}

static void check_tree(struct verifying *v, uint64_t seq, struct str tree)
{
    bool is_known = was_checked(v, tree);

    if (tree.n && check_blob(v, seq, tree, "a list of files") && !is_known)
        check_contents(v, seq, tree);
}

static void forget_tree(struct verifying *v)
{
    v->tree[0] = '\0';
    strbuf_clear(&v->tree_call);
}

static void check_snapshot(struct verifying *v, const struct event *e)
{
    const struct snapshot_record *r = e->body.snapshot.record;

    if (r->has_file)
        check_image(v, e->seq, &r->file);
    check_tree(v, e->seq, r->tree);
    if (!blob_handle_is_valid(r->tree))
        return;
    forget_tree(v);
    memcpy(v->tree, r->tree.p, SHA256_HEX_SIZE - 1);
    v->tree_seq = e->seq;
    strbuf_add(&v->tree_call, e->body.snapshot.call_id);
}

/* What the event names: it is read later, if at all. */
static void check_references(struct verifying *v, const struct event *e)
{
    const struct event_state *state = &e->body.state;
    struct stored_result stored;

    switch (e->type) {
    case EVENT_HISTORY:
        check_message(v, e->seq, e->body.message.message);
        break;
    case EVENT_STATE:
        if (stored_result_read(state->key, state->value, &stored))
            check_blob(v, e->seq, stored.sha256, "a stored tool result");
        break;
    case EVENT_SNAPSHOT:
        check_snapshot(v, e);
        break;
    case EVENT_PRE_IMAGE:
        check_image(v, e->seq, e->body.image.image);
        break;
    case EVENT_TOOL_END:
        if (str_eq(e->body.tool.call_id, strbuf_str(&v->tree_call)))
            forget_tree(v);
        break;
    default:
        break;
    }
}

/* --- packs --- */

/* The hash of all messages up to its last one, as the pack itself has them. */
static struct err *hash_pack(struct verifying *v, const struct pack *p, char hex[SHA256_HEX_SIZE])
{
    AUTO(pack) struct pack before = {0};
    struct history_hash hash = {0};

    if (p->head.previous.n) {
        TRY(pack_load(v->blobs, p->head.previous, &before));
        hash = before.head.hash;
    }
    for (size_t i = 0; i < p->head.n; i++)
        history_hash_add(&hash, p->items[i].message);
    sha256_format_hex(hash.bytes, hex);
    return NULL;
}

static struct err *compare_pack(struct verifying *v, const struct codec_reader *r,
                                struct str handle)
{
    AUTO(pack) struct pack pack = {0};
    char own[SHA256_HEX_SIZE], told[SHA256_HEX_SIZE];
    struct codec_range now;

    TRY(pack_load(v->blobs, handle, &pack));
    if (pack.head.seq != codec_reader_record(r)->seq)
        return NULL; /* it was made with an earlier one */
    TRY(hash_pack(v, &pack, own));
    sha256_format_hex(pack.head.hash.bytes, told);
    codec_reader_range(r, &now);
    if (pack.head.base_seq == now.base_seq && pack.head.first + pack.head.n == now.n &&
        strcmp(own, now.sha256) == 0 && strcmp(told, now.sha256) == 0)
        return NULL;
    return err_new(ERR_STORAGE, "its packed messages differ from the records before it");
}

/* What resuming reads instead of the records. A damaged blob was reported by now. */
static void check_pack(struct verifying *v, const struct codec_reader *r, const struct event *e)
{
    struct json_wanted pack = {.key = S("pack")};
    AUTO(err) struct err *damage = NULL, *failure = NULL;
    AUTO_FREE char *text = NULL;
    struct str handle;

    if (e->type != EVENT_CHECKPOINT || v->is_digest_unsure ||
        !json_skim(codec_reader_record(r)->body, &pack, 1) || !str_starts(pack.raw, S(REFERENCE)))
        return;
    handle = str_slice(pack.raw, strlen(REFERENCE), SHA256_HEX_SIZE - 1);
    damage = was_checked(v, handle) ? NULL : blob_check(v->blobs, handle);
    failure = damage ? NULL : compare_pack(v, r, handle);
    if (!failure || err_is(failure, ERR_CANCELLED))
        return;
    text = err_message(failure);
    verifier_report(v->verifier, FINDING_HISTORY_MISMATCH, e->seq, "%s", text);
}

/* --- the list --- */

/* Texts of the last run only. */
static void digest(struct verifying *v, const struct event *e)
{
    struct arena before = {0};

    if (e->type == EVENT_RUN_BEGIN) {
        before = v->digest_arena;
        v->digest_arena = (struct arena){0};
        v->digest.preview = arena_str(&v->digest_arena, v->digest.preview);
    }
    digest_event(&v->digest, &v->digest_arena, e, &v->is_copy);
    arena_done(&before);
}

static void compare_text(struct verifying *v, const char *what, struct str listed, struct str told)
{
    if (told.n && !str_eq(listed, told))
        verifier_report(v->verifier, FINDING_STALE_INDEX, 0,
                        "the list has a different %s than the records: \"%" STR_FMT
                        "\" instead of \"%" STR_FMT "\"",
                        what, STR_ARG(listed), STR_ARG(told));
}

static void compare_listed(struct verifying *v, const struct store_summary *listed)
{
    const struct store_summary *told = &v->digest;

    if (v->is_digest_unsure)
        return;
    compare_text(v, "provider", listed->provider, told->provider);
    compare_text(v, "model", listed->model, told->model);
    compare_text(v, "preview", listed->preview, told->preview);
    if (told->n_messages && listed->n_messages != digest_n_messages(told))
        verifier_report(
            v->verifier, FINDING_STALE_INDEX, 0, "the list counts %llu messages, the records %llu",
            (unsigned long long)listed->n_messages, (unsigned long long)digest_n_messages(told));
}

/* --- one stream --- */

/* The damage is reported for what it hits: a blob, or the record. */
static void report_unreadable(struct verifying *v, const struct codec_reader *r,
                              const struct err *e)
{
    const struct store_record *record = codec_reader_record(r);
    AUTO_FREE char *text = err_message(e);

    v->is_digest_unsure = true;
    verifier_skip(v->verifier, record);
    if (!record || check_payloads(v, record))
        verifier_report(v->verifier,
                        codec_reader_has_other_history(r) ? FINDING_HISTORY_MISMATCH
                                                          : FINDING_UNREADABLE_RECORD,
                        codec_reader_broken_seq(r), "%s", text);
}

static struct err *read_stream(struct verifying *v, struct codec_reader *r)
{
    const struct event *e;

    for (;;) {
        AUTO(err) struct err *failure = NULL;

        TRY(task_check());
        failure = codec_read(r, &e);
        if (codec_reader_has_failed(r))
            return TAKE(failure);
        if (failure) {
            report_unreadable(v, r, failure);
            continue;
        }
        if (!e)
            return NULL;
        if (e->seq == codec_reader_record(r)->seq) /* the first event of the record */
            check_payloads(v, codec_reader_record(r));
        check_references(v, e);
        check_pack(v, r, e);
        digest(v, e);
        verifier_take(v->verifier, e);
    }
}

/* --- how it is kept --- */

static void on_damage(void *self, struct str text)
{
    struct verifying *v = self;

    v->damages =
        arena_grow(&v->arena, v->damages, v->n_damages, &v->damages_room, sizeof *v->damages);
    v->damages[v->n_damages++] = arena_str(&v->arena, text);
}

/* Another process may have opened it while it was read, written to it, even closed it again. */
static struct err *find_moving(struct verifying *v, const struct store_summary *session,
                               bool *ret_is_moving)
{
    AUTO(arena) struct arena a = {0};
    struct store_summary now;
    bool found;

    TRY(store_find(v->store, session->id, &a, &now, &found));
    *ret_is_moving = session->is_open || !found || now.is_open || now.next_seq != session->next_seq;
    return NULL;
}

/* While another process writes, the end may be on its way. */
static struct err *check_all(struct verifying *v, const struct store_summary *session,
                             bool *ret_is_moving)
{
    AUTO(codec_reader)
    struct codec_reader *r = codec_reader_new(v->store, session->id, 1, CODEC_READ_ALL);

    codec_reader_leave(r, CODEC_PASS | CODEC_LEAVE_RESULTS);
    TRY(read_stream(v, r));
    TRY(store_check(v->store, session->id, (struct store_damage_sink){on_damage, v}));
    TRY(find_moving(v, session, ret_is_moving));
    if (*ret_is_moving)
        return NULL;
    for (size_t i = 0; i < v->n_damages; i++)
        verifier_report(v->verifier, FINDING_DAMAGED_STORE, 0, "%" STR_FMT, STR_ARG(v->damages[i]));
    if (v->tree[0])
        check_contents(v, v->tree_seq, str_of(v->tree));
    compare_listed(v, session);
    return NULL;
}

/* What keeps one stream from being read is a finding of it, as long as the store answers: the
 * others are checked all the same. One that was removed meanwhile is found out by the caller. */
static struct err *report_broken_store(struct verifying *v, struct err *take_error)
{
    AUTO(err) struct err *e = take_error, *unanswered = NULL;
    AUTO(arena) struct arena a = {0};
    AUTO_FREE char *text = NULL;
    struct store_summary *items;
    size_t n;

    if (!e || err_is(e, ERR_CANCELLED))
        return TAKE(e);
    unanswered = store_list(v->store, &(struct store_list_query){.n_max = 1}, &a, &items, &n);
    if (unanswered)
        return TAKE(e);
    text = err_message(e);
    verifier_report(v->verifier, FINDING_DAMAGED_STORE, 0, "%s", text);
    return NULL;
}

static struct err *verify_stream(struct store *s, const struct store_summary *session,
                                 tree_reader *read_tree, struct finding_sink sink,
                                 struct verified *totals)
{
    AUTO(verifier) struct verifier *verifier = verifier_new(session->id, sink);
    struct verifying v = {.store = s,
                          .stream = session->id,
                          .verifier = verifier,
                          .blobs = store_blobs(s, session->id),
                          .read_tree = read_tree,
                          .checked = mem_alloc(sizeof *v.checked << CHECKED_BITS)};
    bool is_moving = true;
    struct err *e = check_all(&v, session, &is_moving);

    e = report_broken_store(&v, e);
    mem_free(v.checked);
    strbuf_done(&v.tree_call);
    arena_done(&v.digest_arena);
    arena_done(&v.arena);
    if (!e)
        verifier_end(verifier, session->next_seq, is_moving, totals);
    return e;
}

/* --- and those below it --- */

static struct err *verify_below(struct store *s, const struct store_summary *session,
                                tree_reader *read_tree, struct finding_sink sink, unsigned depth,
                                struct verified *totals)
{
    AUTO(arena) struct arena a = {0};
    struct store_list_query below = {.parent = session->id};
    struct store_summary *children = NULL;
    size_t n = 0;

    TRY(verify_stream(s, session, read_tree, sink, totals));
    if (depth == MAX_DEPTH)
        return NULL;
    TRY(store_list(s, &below, &a, &children, &n));
    for (size_t i = 0; i < n; i++)
        TRY(verify_below(s, &children[i], read_tree, sink, depth + 1, totals));
    return NULL;
}

struct err *session_verify(struct store *s, const struct store_summary *session,
                           tree_reader *read_tree, struct finding_sink sink,
                           struct verified *ret_totals)
{
    *ret_totals = (struct verified){0};
    return verify_below(s, session, read_tree, sink, 0, ret_totals);
}
