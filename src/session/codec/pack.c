/* pack.c - messages as bytes, and back. */
#include "session/codec/pack.h"

#include "base/utf8.h"
#include "session/codec/codec.h"

#define MAGIC "keel pack 1\n"
#define MAX_DEPTH 4 /* of contents: results of tools have one */

enum message_flag { /* above two bits for the role and two for the state */
                    FLAG_IS_ERROR = 1 << 4,
                    FLAG_HAS_ORIGIN = 1 << 5,
                    FLAG_HAS_USAGE = 1 << 6,
};

enum part_flag { /* above a bit for each text of part_texts() */
                 FLAG_IS_FREE_TEXT = 1 << 10,
                 FLAG_PART_IS_ERROR = 1 << 11,
                 FLAG_HAS_CONTENT = 1 << 12,
};

#define N_PART_TEXTS 10

static void part_texts(struct part *p, struct str *texts[N_PART_TEXTS])
{
    struct str *all[N_PART_TEXTS] = {&p->text,      &p->id,   &p->name, &p->args,  &p->bad_args,
                                     &p->signature, &p->data, &p->url,  &p->title, &p->native};

    memcpy(texts, all, sizeof all);
}

/* --- writing --- */

static void put_number(struct strbuf *out, uint64_t n)
{
    char bytes[10];
    size_t used = 0;

    for (; n > 0x7f; n >>= 7)
        bytes[used++] = (char)(n | 0x80);
    bytes[used++] = (char)n;
    strbuf_add(out, str_make(bytes, used));
}

/* -1 and more: what a count of tokens can be. */
static void put_count(struct strbuf *out, int64_t n)
{
    put_number(out, (uint64_t)(MAX(n, (int64_t)-1) + 1));
}

static void put_short(struct strbuf *out, struct str text)
{
    put_number(out, (uint64_t)text.n << 1);
    strbuf_add(out, text);
    strbuf_add_char(out, '\0');
}

struct packing {
    struct strbuf *out;
    const struct pack_sink *sink;
    bool has_failed;
};

static void put_bytes(struct packing *p, struct str bytes)
{
    char handle[SHA256_HEX_SIZE];

    if (bytes.n <= CODEC_INLINE_MAX) {
        put_short(p->out, bytes);
        return;
    }
    p->sink->put(p->sink->self, bytes, handle);
    put_number(p->out, (uint64_t)(SHA256_HEX_SIZE - 1) << 1 | 1);
    strbuf_add(p->out, str_make(handle, SHA256_HEX_SIZE));
}

/* A record repairs what is not UTF-8. */
static void put_text(struct packing *p, struct str text)
{
    p->has_failed |= !utf8_is_valid(text);
    put_bytes(p, text);
}

static void put_media(struct packing *p, const struct media *m)
{
    put_number(p->out, m->source);
    put_text(p, m->mime);
    put_text(p, m->name);
    if (m->source == MEDIA_BYTES)
        put_bytes(p, m->data);
    else
        put_text(p, m->data);
}

static void put_part(struct packing *p, const struct part *part, unsigned depth)
{
    struct str *texts[N_PART_TEXTS];
    unsigned flags = (part->is_free_text ? FLAG_IS_FREE_TEXT : 0) |
                     (part->is_error ? FLAG_PART_IS_ERROR : 0) |
                     (part->n_content ? FLAG_HAS_CONTENT : 0);

    p->has_failed |= depth > MAX_DEPTH;
    if (p->has_failed)
        return;
    part_texts((struct part *)part, texts);
    for (size_t i = 0; i < N_PART_TEXTS; i++)
        flags |= texts[i]->n ? 1u << i : 0;
    put_number(p->out, part->kind);
    put_number(p->out, flags);
    for (size_t i = 0; i < N_PART_TEXTS; i++)
        if (texts[i]->n)
            put_text(p, *texts[i]);
    if (part->kind == PART_MEDIA)
        put_media(p, &part->media);
    if (!part->n_content)
        return;
    put_number(p->out, part->n_content);
    for (size_t i = 0; i < part->n_content; i++)
        put_part(p, &part->content[i], depth + 1);
}

static bool has_origin(const struct message *m)
{
    return m->origin.provider.n || m->origin.protocol.n || m->origin.model.n || m->origin.bound.n ||
           m->stop_reason.n || *stop_name(m->stop);
}

static void put_origin(struct packing *p, const struct message *m)
{
    put_text(p, m->origin.provider);
    put_text(p, m->origin.protocol);
    put_text(p, m->origin.model);
    put_text(p, m->origin.bound);
    put_text(p, m->stop_reason);
    put_text(p, str_of(stop_name(m->stop)));
}

#define HAS_UPSTREAM 4u /* flag of a usage: the cost follows */

static void put_usage(struct packing *p, const struct usage *u)
{
    put_count(p->out, u->input);
    put_count(p->out, u->output);
    put_count(p->out, u->cache_read);
    put_count(p->out, u->cache_write);
    put_count(p->out, u->reasoning);
    put_count(p->out, u->tool_input);
    put_count(p->out, u->cost_microcents);
    put_number(p->out, (uint64_t)MAX(u->web_searches, (int64_t)0));
    put_number(p->out, u->input_includes_cache | (unsigned)u->output_lacks_reasoning << 1 |
                           (u->upstream_microcents > 0 ? HAS_UPSTREAM : 0u));
    if (u->upstream_microcents > 0)
        put_count(p->out, u->upstream_microcents);
    put_text(p, u->routed_provider);
    put_text(p, u->routed_model);
}

size_t pack_count_parts(const struct part *parts, size_t n)
{
    size_t n_all = n;

    for (size_t i = 0; i < n; i++)
        n_all += pack_count_parts(parts[i].content, parts[i].n_content);
    return n_all;
}

void pack_write_head(struct strbuf *out, const struct pack_head *head)
{
    strbuf_add(out, S(MAGIC));
    put_number(out, head->base_seq);
    put_number(out, head->seq);
    put_number(out, head->first);
    put_number(out, head->n);
    put_number(out, head->n_parts);
    strbuf_add(out, str_make((const char *)head->hash.bytes, SHA256_SIZE));
    put_short(out, head->previous);
    put_short(out, head->run_id);
    put_short(out, head->provider);
    put_short(out, head->model);
}

bool pack_write_message(struct strbuf *out, const struct message *m, int64_t unix_ms,
                        const struct pack_sink *sink)
{
    struct packing p = {.out = out, .sink = sink};
    bool is_told = has_origin(m), is_counted = usage_is_known(&m->usage);

    put_number(out, m->role | (unsigned)m->state << 2 | (m->is_error ? FLAG_IS_ERROR : 0) |
                        (is_told ? FLAG_HAS_ORIGIN : 0) | (is_counted ? FLAG_HAS_USAGE : 0));
    put_number(out, (uint64_t)unix_ms);
    put_text(&p, m->id);
    if (is_told)
        put_origin(&p, m);
    if (is_counted)
        put_usage(&p, &m->usage);
    put_number(out, m->n_parts);
    for (size_t i = 0; i < m->n_parts; i++)
        put_part(&p, &m->parts[i], 0);
    return !p.has_failed && out->n <= PACK_MAX_BYTES;
}

/* --- reading --- */

struct unpacking {
    struct str rest;
    const struct pack_source *source;
    struct message *holder;
};

static struct err *is_broken(const char *what)
{
    return err_new(ERR_STORAGE, "a pack of messages is damaged: %s", what);
}

static struct err *get_number(struct unpacking *u, uint64_t *ret_n)
{
    uint64_t n = 0;

    for (size_t i = 0; i < u->rest.n && i < 10; i++) {
        unsigned char byte = (unsigned char)u->rest.p[i];

        n |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte <= 0x7f) {
            u->rest = str_skip(u->rest, i + 1);
            *ret_n = n;
            return NULL;
        }
    }
    return is_broken("a number has no end");
}

/* What has that number of values takes as many bytes at least. */
static struct err *get_length(struct unpacking *u, size_t *ret_n)
{
    uint64_t n;

    TRY(get_number(u, &n));
    if (n > u->rest.n)
        return is_broken("it is truncated");
    *ret_n = (size_t)n;
    return NULL;
}

static struct err *get_below(struct unpacking *u, unsigned end, unsigned *ret_n)
{
    uint64_t n;

    TRY(get_number(u, &n));
    if (n >= end)
        return is_broken("a value is unknown");
    *ret_n = (unsigned)n;
    return NULL;
}

static struct err *get_count(struct unpacking *u, int64_t *ret_n)
{
    uint64_t n;

    TRY(get_number(u, &n));
    if (n > INT64_MAX)
        return is_broken("a count is too large");
    *ret_n = (int64_t)n - 1;
    return NULL;
}

static struct err *get_text(struct unpacking *u, struct str *ret_text)
{
    uint64_t n;
    struct str text;

    TRY(get_number(u, &n));
    if (n >> 1 >= u->rest.n || u->rest.p[n >> 1] != '\0')
        return is_broken("a text does not end where it should");
    text = str_make(u->rest.p, (size_t)(n >> 1));
    u->rest = str_skip(u->rest, text.n + 1);
    if (n & 1)
        return u->source->get(u->source->self, text, &u->holder->arena, ret_text);
    *ret_text = text;
    return NULL;
}

static struct err *get_media(struct unpacking *u, struct media *m)
{
    unsigned source;

    TRY(get_below(u, MEDIA_BLOB + 1, &source));
    m->source = (enum media_source)source;
    TRY(get_text(u, &m->mime));
    TRY(get_text(u, &m->name));
    return get_text(u, &m->data);
}

static struct err *get_parts(struct unpacking *u, unsigned depth, struct part **ret_parts,
                             size_t *ret_n);

static struct err *get_part(struct unpacking *u, unsigned depth, struct part *part)
{
    struct str *texts[N_PART_TEXTS];
    unsigned kind, flags;

    TRY(get_below(u, N_PART_KINDS, &kind));
    TRY(get_below(u, FLAG_HAS_CONTENT << 1, &flags));
    part->kind = (enum part_kind)kind;
    part->is_free_text = flags & FLAG_IS_FREE_TEXT;
    part->is_error = flags & FLAG_PART_IS_ERROR;
    part_texts(part, texts);
    for (size_t i = 0; i < N_PART_TEXTS; i++)
        if (flags & 1u << i)
            TRY(get_text(u, texts[i]));
    if (part->kind == PART_MEDIA)
        TRY(get_media(u, &part->media));
    return flags & FLAG_HAS_CONTENT ? get_parts(u, depth + 1, &part->content, &part->n_content)
                                    : NULL;
}

static struct err *get_parts(struct unpacking *u, unsigned depth, struct part **ret_parts,
                             size_t *ret_n)
{
    struct part *parts;
    size_t n;

    if (depth > MAX_DEPTH)
        return is_broken("its contents are nested too deeply");
    TRY(get_length(u, &n));
    parts = ARENA_ARRAY(&u->holder->arena, n, struct part);
    for (size_t i = 0; i < n; i++)
        TRY(get_part(u, depth, &parts[i]));
    *ret_parts = parts;
    *ret_n = n;
    return NULL;
}

static struct err *get_origin(struct unpacking *u, struct message *m)
{
    struct str stop;

    TRY(get_text(u, &m->origin.provider));
    TRY(get_text(u, &m->origin.protocol));
    TRY(get_text(u, &m->origin.model));
    TRY(get_text(u, &m->origin.bound));
    TRY(get_text(u, &m->stop_reason));
    TRY(get_text(u, &stop));
    m->stop = stop_find(stop);
    return NULL;
}

static struct err *get_usage(struct unpacking *u, struct usage *usage)
{
    unsigned flags;
    int64_t searches;

    TRY(get_count(u, &usage->input));
    TRY(get_count(u, &usage->output));
    TRY(get_count(u, &usage->cache_read));
    TRY(get_count(u, &usage->cache_write));
    TRY(get_count(u, &usage->reasoning));
    TRY(get_count(u, &usage->tool_input));
    TRY(get_count(u, &usage->cost_microcents));
    TRY(get_count(u, &searches));
    TRY(get_below(u, 2 * HAS_UPSTREAM, &flags));
    if (flags & HAS_UPSTREAM)
        TRY(get_count(u, &usage->upstream_microcents));
    usage->web_searches = searches + 1;
    usage->input_includes_cache = flags & 1;
    usage->output_lacks_reasoning = flags & 2;
    TRY(get_text(u, &usage->routed_provider));
    return get_text(u, &usage->routed_model);
}

static struct err *get_message(struct unpacking *u, struct packed_message *ret)
{
    AUTO(message) struct message *m = NULL;
    unsigned flags;
    uint64_t unix_ms;

    TRY(get_below(u, FLAG_HAS_USAGE << 1, &flags));
    TRY(get_number(u, &unix_ms));
    if ((flags >> 2 & 3) > MESSAGE_BROKEN)
        return is_broken("a value is unknown");
    m = message_new_in((enum role)(flags & 3), u->holder);
    m->state = (enum message_state)(flags >> 2 & 3);
    m->is_error = flags & FLAG_IS_ERROR;
    TRY(get_text(u, &m->id));
    if (flags & FLAG_HAS_ORIGIN)
        TRY(get_origin(u, m));
    if (flags & FLAG_HAS_USAGE)
        TRY(get_usage(u, &m->usage));
    TRY(get_parts(u, 0, &m->parts, &m->n_parts));
    m->parts_room = m->n_parts;
    *ret = (struct packed_message){.message = TAKE(m), .unix_ms = (int64_t)unix_ms};
    return NULL;
}

static struct err *get_head(struct unpacking *u, struct pack_head *head)
{
    uint64_t first;

    if (!str_starts(u->rest, S(MAGIC)))
        return is_broken("it is of another version");
    u->rest = str_skip(u->rest, strlen(MAGIC));
    TRY(get_number(u, &head->base_seq));
    TRY(get_number(u, &head->seq));
    TRY(get_number(u, &first));
    TRY(get_length(u, &head->n));
    TRY(get_length(u, &head->n_parts));
    head->first = (size_t)first;
    if (u->rest.n < SHA256_SIZE)
        return is_broken("it is truncated");
    memcpy(head->hash.bytes, u->rest.p, SHA256_SIZE);
    u->rest = str_skip(u->rest, SHA256_SIZE);
    TRY(get_text(u, &head->previous));
    TRY(get_text(u, &head->run_id));
    TRY(get_text(u, &head->provider));
    return get_text(u, &head->model);
}

/* What its messages take in memory, if the head is right. */
static size_t estimate_bytes(const struct pack_head *head, size_t n_bytes)
{
    size_t n = head->n_parts * sizeof(struct part) +
               head->n * (sizeof(struct message) + sizeof(struct packed_message) + 64);

    return MIN(n, 16 * n_bytes);
}

static struct err *get_all(struct unpacking *u, struct pack *p)
{
    size_t n_bytes = u->rest.n;

    TRY(get_head(u, &p->head));
    arena_reserve_large(&u->holder->arena, estimate_bytes(&p->head, n_bytes));
    p->items = ARENA_ARRAY(&u->holder->arena, p->head.n, struct packed_message);
    for (size_t i = 0; i < p->head.n; i++)
        TRY(get_message(u, &p->items[i]));
    return u->rest.n ? is_broken("data follows its end") : NULL;
}

struct err *pack_read(struct strbuf *bytes, const struct pack_source *source, struct pack *ret_pack)
{
    AUTO(pack) struct pack p = {.holder = message_new(ROLE_SYSTEM, (struct str){0})};
    struct unpacking u = {.rest = strbuf_str(bytes), .source = source, .holder = p.holder};
    struct err *e;

    if (u.rest.n > PACK_MAX_BYTES)
        e = is_broken("it is too large");
    else
        e = get_all(&u, &p);
    arena_own(&p.holder->arena, strbuf_take(bytes));
    if (e)
        return e;
    *ret_pack = p;
    p = (struct pack){0};
    return NULL;
}

void pack_done(struct pack *p)
{
    for (size_t i = 0; p->items && i < p->head.n; i++)
        message_unref(p->items[i].message);
    message_unref(p->holder);
    *p = (struct pack){0};
}
