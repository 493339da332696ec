/* verify.c - reads a stream and its children whole, and checks what they refer to. */
#include "session/verify.h"

#include "session/codec.h"
#include "sys/task.h"

#define N_CHECKED 32 /* blobs that were found to be fine a moment ago */
#define HANDLE_PREFIX "handle:"
#define REFERENCE "{\"$blob\":\""
#define MAX_DEPTH 16 /* of child runs */

struct verifying {
    struct store *store;
    struct verifier *verifier;
    struct blob_store *blobs;
    char checked[N_CHECKED][SHA256_HEX_SIZE];
    size_t n_checked;
};

/* --- blobs --- */

static bool was_checked(const struct verifying *v, struct str handle)
{
    for (size_t i = 0; i < N_CHECKED; i++)
        if (str_is(handle, v->checked[i]))
            return true;
    return false;
}

/* Reading a blob compares it with its hash. */
static bool check_blob(struct verifying *v, uint64_t seq, struct str handle, const char *what)
{
    AUTO(strbuf) struct strbuf bytes = {0};
    AUTO(err) struct err *e = NULL;
    AUTO_FREE char *text = NULL;

    if (was_checked(v, handle))
        return true;
    e = blob_get(v->blobs, handle, &bytes);
    if (!e)
        memcpy(v->checked[v->n_checked++ % N_CHECKED], handle.p, SHA256_HEX_SIZE - 1);
    if (!e || err_is(e, ERR_CANCELLED))
        return true;
    text = err_message(e);
    verifier_tell(v->verifier, FINDING_INVALID_PAYLOAD, seq, "%s: %s", what, text);
    return false;
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
    if (image->content.n)
        check_blob(v, seq, image->content, "a file as it was before");
}

/* What the event tells of: it is read later, if at all. */
static void check_references(struct verifying *v, const struct event *e)
{
    const struct event_state *state = &e->body.state;

    switch (e->type) {
    case EVENT_HISTORY:
        check_message(v, e->seq, e->body.message.message);
        break;
    case EVENT_STATE:
        if (state->value && str_starts(state->key, S(HANDLE_PREFIX)))
            check_blob(v, e->seq, str_skip(state->key, strlen(HANDLE_PREFIX)),
                       "a stored tool result");
        break;
    case EVENT_SNAPSHOT:
        if (e->body.snapshot.record->has_file)
            check_image(v, e->seq, &e->body.snapshot.record->file);
        break;
    case EVENT_PRE_IMAGE:
        check_image(v, e->seq, e->body.image.image);
        break;
    default:
        break;
    }
}

/* --- one stream --- */

/* The damage is told by what it hits: a blob, or the record. */
static void tell_unreadable(struct verifying *v, const struct codec_reader *r, const struct err *e)
{
    const struct store_record *record = codec_reader_record(r);
    AUTO_FREE char *text = err_message(e);

    verifier_skip(v->verifier, record);
    if (!record || check_payloads(v, record))
        verifier_tell(v->verifier,
                      codec_reader_has_other_history(r) ? FINDING_HISTORY_MISMATCH
                                                        : FINDING_UNREADABLE_RECORD,
                      record ? record->seq : 0, "%s", text);
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
            tell_unreadable(v, r, failure);
            continue;
        }
        if (!e)
            return NULL;
        if (e->seq == codec_reader_record(r)->seq) /* the first event of the record */
            check_payloads(v, codec_reader_record(r));
        check_references(v, e);
        verifier_take(v->verifier, e);
    }
}

static struct err *verify_stream(struct store *s, const struct store_summary *session,
                                 struct finding_sink sink, struct verified *totals)
{
    AUTO(verifier) struct verifier *verifier = verifier_new(session->id, sink);
    AUTO(codec_reader)
    struct codec_reader *r = codec_reader_new(s, session->id, 1, CODEC_READ_ALL);
    struct verifying v = {.store = s, .verifier = verifier, .blobs = store_blobs(s, session->id)};
    AUTO(arena) struct arena a = {0};
    struct store_summary now;
    bool found;

    TRY(read_stream(&v, r));
    /* Another process may have opened it while it was read, written to it, even closed it again. */
    TRY(store_find(s, session->id, &a, &now, &found));
    verifier_end(verifier, session->next_seq,
                 session->is_open || !found || now.is_open || now.next_seq != session->next_seq,
                 totals);
    return NULL;
}

/* --- and those below it --- */

static struct err *verify_tree(struct store *s, const struct store_summary *session,
                               struct finding_sink sink, unsigned depth, struct verified *totals)
{
    AUTO(arena) struct arena a = {0};
    struct store_list_query below = {.parent = session->id};
    struct store_summary *children = NULL;
    size_t n = 0;

    TRY(verify_stream(s, session, sink, totals));
    if (depth == MAX_DEPTH)
        return NULL;
    TRY(store_list(s, &below, &a, &children, &n));
    for (size_t i = 0; i < n; i++)
        TRY(verify_tree(s, &children[i], sink, depth + 1, totals));
    return NULL;
}

struct err *session_verify(struct store *s, const struct store_summary *session,
                           struct finding_sink sink, struct verified *ret_totals)
{
    *ret_totals = (struct verified){0};
    return verify_tree(s, session, sink, 0, ret_totals);
}
