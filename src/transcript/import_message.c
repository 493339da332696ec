/* import_message.c - messages, calls, results and images in the forms of other programs. */
#include "transcript/import_parts.h"

#include "base/ascii.h"
#include "base/base64.h"
#include "model/message_json.h"

#include <time.h>

#define MAX_NAME_BYTES ((size_t)2 << 10)
#define MAX_BARE_CALLS 100000 /* more exceed every limit of a message */

/* --- times --- */

static bool read_digits(const char **at, const char *end, int n, int *ret)
{
    *ret = 0;
    for (; n > 0; n--, (*at)++) {
        if (*at == end || **at < '0' || **at > '9')
            return false;
        *ret = *ret * 10 + (**at - '0');
    }
    return true;
}

static bool read_mark(const char **at, const char *end, const char *marks)
{
    if (*at == end || !strchr(marks, **at) || !**at)
        return false;
    (*at)++;
    return true;
}

static int read_fraction(const char **at, const char *end)
{
    int ms = 0, scale = 100;

    while (*at < end && ascii_is_digit(**at)) {
        ms += (**at - '0') * scale;
        scale /= 10;
        (*at)++;
    }
    return ms;
}

/* Minutes east of UTC; no zone means UTC. */
static int read_zone(const char **at, const char *end)
{
    int sign = *at < end && **at == '-' ? -1 : 1, hours, minutes = 0;

    if (!read_mark(at, end, "+-") || !read_digits(at, end, 2, &hours))
        return 0;
    (void)read_mark(at, end, ":");
    (void)read_digits(at, end, 2, &minutes);
    return sign * (hours * 60 + minutes);
}

static int64_t parse_iso(struct str s)
{
    const char *at = s.p, *end = s.p + s.n;
    struct tm t = {0};
    int ms = 0;

    if (!read_digits(&at, end, 4, &t.tm_year) || !read_mark(&at, end, "-") ||
        !read_digits(&at, end, 2, &t.tm_mon) || !read_mark(&at, end, "-") ||
        !read_digits(&at, end, 2, &t.tm_mday) || !read_mark(&at, end, "Tt ") ||
        !read_digits(&at, end, 2, &t.tm_hour) || !read_mark(&at, end, ":") ||
        !read_digits(&at, end, 2, &t.tm_min))
        return 0;
    if (read_mark(&at, end, ":") && !read_digits(&at, end, 2, &t.tm_sec))
        return 0;
    if (read_mark(&at, end, ".,"))
        ms = read_fraction(&at, end);
    t.tm_year -= 1900;
    t.tm_mon--;
    return ((int64_t)timegm(&t) - (int64_t)read_zone(&at, end) * 60) * 1000 + ms;
}

#define MAX_SECONDS 100000000000 /* as milliseconds this is still the last century */
#define MAX_MS 253402300800000   /* the year 10000 */

int64_t import_time(const struct json *v)
{
    int64_t n;
    double d;

    if (json_is(v, JSON_STRING) && v->text.n)
        n = parse_iso(v->text);
    else if (json_int64(v, &n))
        n = n > 0 && n < MAX_SECONDS ? n * 1000 : n;
    else if (json_double(v, &d) && d > 0 && d < MAX_SECONDS)
        n = (int64_t)(d * 1000);
    else
        return 0;
    return n > 0 && n < MAX_MS ? n : 0;
}

/* --- counts --- */

#define MAX_TOKENS ((int64_t)1 << 40) /* of one message; sums must not overflow */

static void limit(int64_t *n)
{
    if (*n < 0 || *n > MAX_TOKENS)
        *n = -1;
}

void import_limit_usage(struct usage *u)
{
    limit(&u->input);
    limit(&u->output);
    limit(&u->cache_read);
    limit(&u->cache_write);
    limit(&u->reasoning);
    limit(&u->tool_input);
    limit(&u->cost_microcents);
    limit(&u->upstream_microcents);
    u->upstream_microcents = MAX(u->upstream_microcents, (int64_t)0);
}

/* --- images --- */

static struct part named(struct arena *a, const char *what, struct str mime)
{
    return (struct part){.kind = PART_TEXT,
                         .text = arena_format(a, "[%s, %" STR_FMT "]", what, STR_ARG(mime))};
}

static bool add_bytes(struct arena *a, struct str mime, struct str base64, struct part *ret_part)
{
    AUTO(strbuf) struct strbuf bytes = {0};
    AUTO(err) struct err *e = base64_decode(&bytes, base64);

    if (e || bytes.n == 0 || mime.n == 0 || mime.n > 100)
        return false;
    *ret_part = (struct part){.kind = PART_MEDIA,
                              .media = {.mime = arena_str(a, mime),
                                        .source = MEDIA_BYTES,
                                        .data = arena_str(a, strbuf_str(&bytes))}};
    return true;
}

/* data:image/png;base64,... */
static bool add_url(struct arena *a, struct str url, struct part *ret_part)
{
    size_t comma = str_find(url, S(";base64,"));

    if (str_starts(url, S("data:")) && comma != STR_NONE)
        return add_bytes(a, str_slice(url, 5, comma - 5), str_skip(url, comma + 8), ret_part);
    if (!str_starts(url, S("https://")) && !str_starts(url, S("http://")))
        return false;
    *ret_part = (struct part){
        .kind = PART_MEDIA,
        .media = {.mime = S("image/png"), .source = MEDIA_URL, .data = arena_str(a, url)}};
    return true;
}

bool import_image(struct arena *a, const struct json *source, struct part *ret_part)
{
    if (json_is(source, JSON_STRING))
        return add_url(a, source->text, ret_part);
    if (json_is(json_get(source, "url"), JSON_STRING))
        return add_url(a, json_get_text(source, "url"), ret_part);
    return add_bytes(a, json_get_text(source, "media_type"), json_get_text(source, "data"),
                     ret_part);
}

/* --- calls and results --- */

static bool is_object(struct str text)
{
    AUTO(arena) struct arena a = {0};
    AUTO(err) struct err *e = NULL;
    struct json *v = NULL;

    e = json_parse(&a, text, 0, &v);
    return !e && json_is(v, JSON_OBJECT);
}

/* Invalid arguments go where invalid arguments from a model go. */
static void repair_args(struct part *p)
{
    if (p->is_free_text || is_object(p->args))
        return;
    if (p->bad_args.n == 0)
        p->bad_args = p->args;
    p->args = S("{}");
}

/* A call without usable arguments stays, so that its result has one. */
void import_add_part(struct importing *x, struct message *m, const struct part *p)
{
    struct part bare = {.kind = p->kind, .id = p->id, .name = p->name, .args = S("{}")};
    size_t n_bytes = p->text.n + p->id.n + p->name.n + p->args.n + p->bad_args.n + p->signature.n +
                     p->data.n + p->native.n + p->media.data.n;

    if (m->arena.used_bytes + n_bytes <= JSON_MAX_BYTES) {
        message_add(m, p);
        return;
    }
    import_leave_out(x, S("parts of messages that are too large"));
    if (p->kind == PART_TOOL_CALL && p->id.n + p->name.n < MAX_NAME_BYTES &&
        m->n_parts < MAX_BARE_CALLS)
        message_add(m, &bare);
}

void import_add_call(struct importing *x, struct message *m, struct str id, struct str name,
                     struct str args)
{
    struct part p = {.kind = PART_TOOL_CALL, .id = id, .name = name, .args = args};

    repair_args(&p);
    import_add_part(x, m, &p);
}

static bool content_part(struct arena *a, const struct json *v, struct part *ret_part)
{
    struct str text = json_get_text(v, "text");
    const struct json *source = json_get(v, "source");

    if (json_is(v, JSON_STRING))
        text = v->text;
    *ret_part = (struct part){.kind = PART_TEXT, .text = text};
    if (text.n)
        return true;
    if (!source)
        source = json_get(v, "image_url");
    return source && import_image(a, source, ret_part);
}

struct message *import_result(struct importing *x, struct str call_id, const struct json *content,
                              bool is_error)
{
    struct arena *a = &x->scratch;
    struct message *m = message_new(ROLE_TOOL, (struct str){0});
    struct part result = {.kind = PART_TOOL_RESULT, .id = call_id, .is_error = is_error};
    size_t n = json_is(content, JSON_ARRAY) ? content->n : 1;

    result.content = ARENA_ARRAY(a, n, struct part);
    if (json_is(content, JSON_ARRAY)) {
        json_each (v, content)
            if (content_part(a, v, &result.content[result.n_content]))
                result.n_content++;
    } else {
        result.content[result.n_content++] =
            (struct part){.kind = PART_TEXT, .text = json_str(content)};
    }
    message_add(m, &result);
    return m;
}

/* --- messages in keel's own form --- */

static bool is_json(struct str text)
{
    AUTO(arena) struct arena a = {0};
    AUTO(err) struct err *e = NULL;
    struct json *v;

    e = json_parse(&a, text, 0, &v);
    return !e;
}

/* A provider judges its own bytes. But they go into a request, so they must be JSON. */
static void clean_part(struct arena *a, struct part *p)
{
    size_t n = 0;

    if (p->kind == PART_MEDIA && (p->media.source == MEDIA_BLOB || p->media.data.n == 0)) {
        *p = named(a, "an attachment that is not in the file", p->media.mime);
        return;
    }
    if (p->native.n && !is_json(p->native))
        p->native = (struct str){0};
    if (p->kind == PART_TOOL_CALL || p->kind == PART_SERVER_TOOL_USE)
        repair_args(p);
    for (size_t i = 0; p->kind == PART_TOOL_RESULT && i < p->n_content; i++)
        if (p->content[i].kind == PART_TEXT || p->content[i].kind == PART_MEDIA) {
            p->content[n] = p->content[i];
            clean_part(a, &p->content[n++]);
        }
    p->n_content = n;
    if (n == 0)
        p->content = NULL;
}

/* May a message of this role have such a part? */
static bool fits(enum role role, enum part_kind kind)
{
    switch (role) {
    case ROLE_SYSTEM:
        return kind == PART_TEXT;
    case ROLE_USER:
        return kind == PART_TEXT || kind == PART_MEDIA || kind == PART_CONTEXT;
    case ROLE_TOOL:
        return kind == PART_TOOL_RESULT;
    case ROLE_ASSISTANT:
        return kind != PART_TOOL_RESULT && kind != PART_CONTEXT;
    }
    return false;
}

/* Other programs have a list of blocks where keel has a text and parts. */
static void add_blocks(struct importing *x, const struct json *v, struct message *m)
{
    const struct json *content = json_has(v, "parts") ? NULL : json_get(v, "content");

    if (json_is(content, JSON_ARRAY) && m->role != ROLE_TOOL) {
        json_each (block, content) {
            struct str type = json_get_text(block, "type");
            struct part p;

            if (content_part(&x->scratch, block, &p) && fits(m->role, p.kind))
                message_add(m, &p);
            else
                import_leave_out(x, type.n ? type : S("content of an unknown kind"));
        }
    } else if (content && !json_is(content, JSON_STRING) && !json_is(content, JSON_NULL)) {
        import_leave_out(x, S("content of an unknown kind"));
    }
}

struct err *import_message(struct importing *x, const struct json *v, struct message **ret_message)
{
    struct message *m;
    size_t n = 0;

    TRY(message_read(v, &m));
    if (m->role != ROLE_ASSISTANT) {
        m->state = MESSAGE_COMPLETE;
        m->is_error = false;
    }
    for (size_t i = 0; i < m->n_parts; i++) {
        m->parts[n] = m->parts[i];
        clean_part(&m->arena, &m->parts[n]);
        n += fits(m->role, m->parts[n].kind);
    }
    m->n_parts = n;
    add_blocks(x, v, m);
    *ret_message = m;
    return NULL;
}
