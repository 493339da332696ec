/* files_line.c - the envelope first, in a fixed order, then the body unchanged. */
#include "store/files_line.h"

#include "base/ascii.h"
#include "sys/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#define ISO_BYTES 24
#define N_CHECK 16

static const uint64_t fnv_start = 0xcbf29ce484222325u;

static uint64_t fnv(uint64_t sum, struct str bytes)
{
    for (size_t i = 0; i < bytes.n; i++)
        sum = (sum ^ (unsigned char)bytes.p[i]) * 0x100000001b3u;
    return sum;
}

/* --- writing --- */

static const char wrapped[] = "\"$body\":";

/* Can the body be part of the line as it is? */
static bool is_plain(struct str body)
{
    return body.n >= 2 && body.p[0] == '{' && body.p[body.n - 1] == '}' &&
           str_find_char(body, '\n') == STR_NONE && !str_starts(str_skip(body, 1), str_of(wrapped));
}

static void write_members(struct strbuf *out, struct str body)
{
    struct str inner;

    if (!is_plain(body)) {
        strbuf_addf(out, ",%s", wrapped);
        json_write_string(out, body);
        return;
    }
    inner = str_slice(body, 1, body.n - 2);
    if (str_trim(inner).n)
        strbuf_add_char(out, ',');
    strbuf_add(out, inner);
}

static void write_string(struct strbuf *out, const char *key, struct str text)
{
    strbuf_addf(out, ",\"%s\":", key);
    json_write_string(out, text);
}

static void write_number(struct strbuf *out, const char *key, uint64_t value, uint64_t nothing)
{
    if (value != nothing)
        strbuf_addf(out, ",\"%s\":%" PRIu64, key, value);
}

static void write_payloads(struct strbuf *out, const struct store_record *r)
{
    if (r->n_payloads == 0)
        return;
    strbuf_add_cstr(out, ",\"payloads\":[");
    for (size_t i = 0; i < r->n_payloads; i++) {
        if (i)
            strbuf_add_char(out, ',');
        json_write_string(out, r->payloads[i]);
    }
    strbuf_add_char(out, ']');
}

static void write_envelope(struct strbuf *out, struct str id, const struct files_line *l)
{
    const struct store_record *r = &l->record;
    char time[CLOCK_ISO_SIZE];

    clock_format_iso(r->unix_ms, time);
    strbuf_addf(out, "{\"timestamp\":\"%s\"", time);
    write_string(out, "sessionId", id);
    write_string(out, "event", r->type);
    if (l->is_own) {
        strbuf_addf(out, ",\"fence\":%" PRIu64, l->fence);
        return;
    }
    strbuf_addf(out, ",\"seq\":%" PRIu64, r->seq);
    write_number(out, "n", r->n_events, 1);
    if (r->run_id.n)
        write_string(out, "executionId", r->run_id);
    write_number(out, "turn", r->turn, 0);
    write_number(out, "round", r->round, 0);
    write_number(out, "attempt", r->attempt, 0);
    if (r->is_core)
        strbuf_add_cstr(out, ",\"core\":true");
    write_payloads(out, r);
    if (l->n_messages)
        strbuf_addf(out, ",\"messages\":%" PRIu64,
                    l->n_messages == STORE_NO_MESSAGES ? 0 : l->n_messages);
}

void files_line_write(struct strbuf *out, uint64_t base, struct str id, const struct files_line *l)
{
    size_t start = out->n, check, members;
    char digits[N_CHECK + 1];
    uint64_t sum;

    write_envelope(out, id, l);
    strbuf_addf(out, ",\"at\":%" PRIu64, base + start);
    check = out->n;
    strbuf_add_cstr(out, ",\"check\":\"0123456789abcdef\"");
    members = out->n;
    write_members(out, l->record.body);
    strbuf_add_char(out, '}');
    if (strbuf_is_over(out))
        return;
    sum = fnv(fnv_start, str_make(out->p + start, check - start));
    sum = fnv(sum, str_make(out->p + members, out->n - members));
    snprintf(digits, sizeof digits, "%016" PRIx64, sum);
    memcpy(out->p + members - 1 - N_CHECK, digits, N_CHECK);
    strbuf_add_char(out, '\n');
}

/* --- reading --- */

struct line_parser {
    struct str rest;
    struct arena *arena;
    bool failed;
};

static bool accept(struct line_parser *c, const char *literal)
{
    struct str want = str_of(literal);

    if (!str_starts(c->rest, want))
        return false;
    c->rest = str_skip(c->rest, want.n);
    return true;
}

static void expect(struct line_parser *c, const char *literal)
{
    if (!accept(c, literal))
        c->failed = true;
}

static uint64_t expect_number(struct line_parser *c, uint64_t max)
{
    uint64_t value = 0;
    size_t n = 0;

    for (; n < c->rest.n && ascii_is_digit(c->rest.p[n]); n++) {
        unsigned digit = (unsigned)(c->rest.p[n] - '0');

        if (value > (max - digit) / 10)
            c->failed = true;
        value = value * 10 + digit;
    }
    if (n == 0)
        c->failed = true;
    c->rest = str_skip(c->rest, n);
    return value;
}

static struct str decode(struct line_parser *c, struct str token)
{
    struct json_where where;
    struct json *v;

    if (json_parse_at(c->arena, token, JSON_REPAIR_UTF8, &v, &where) && json_is(v, JSON_STRING))
        return v->text;
    c->failed = true;
    return (struct str){0};
}

static struct str expect_string(struct line_parser *c)
{
    bool has_escape = false;
    size_t n = 1;
    struct str token;

    if (c->rest.n == 0 || c->rest.p[0] != '"') {
        c->failed = true;
        return (struct str){0};
    }
    for (; n < c->rest.n && c->rest.p[n] != '"'; n++)
        if (c->rest.p[n] == '\\') {
            has_escape = true;
            n++;
        }
    token = str_slice(c->rest, 0, n + 1);
    c->rest = str_skip(c->rest, n + 1);
    return has_escape ? decode(c, token) : str_slice(token, 1, token.n >= 2 ? token.n - 2 : 0);
}

static int digits(const char *p, int n)
{
    int value = 0;

    while (n-- > 0)
        value = value * 10 + (*p++ - '0');
    return value;
}

/* "2026-01-02T03:04:05.678Z" */
static int64_t expect_time(struct line_parser *c)
{
    static const char form[] = "dddd-dd-ddTdd:dd:dd.dddZ";
    const char *p = c->rest.p;
    struct tm t;

    if (c->rest.n < ISO_BYTES) {
        c->failed = true;
        return 0;
    }
    for (size_t i = 0; i < ISO_BYTES; i++)
        if (form[i] == 'd' ? !ascii_is_digit(p[i]) : p[i] != form[i]) {
            c->failed = true;
            return 0;
        }
    t = (struct tm){.tm_year = digits(p, 4) - 1900,
                    .tm_mon = digits(p + 5, 2) - 1,
                    .tm_mday = digits(p + 8, 2),
                    .tm_hour = digits(p + 11, 2),
                    .tm_min = digits(p + 14, 2),
                    .tm_sec = digits(p + 17, 2)};
    c->rest = str_skip(c->rest, ISO_BYTES);
    return (int64_t)timegm(&t) * 1000 + digits(p + 20, 3);
}

static void parse_record(struct line_parser *c, struct files_line *l)
{
    struct store_record *r = &l->record;
    struct str *handles = NULL;
    size_t room = 0;

    r->seq = expect_number(c, INT64_MAX);
    r->n_events = accept(c, ",\"n\":") ? (uint32_t)expect_number(c, UINT32_MAX) : 1;
    if (accept(c, ",\"executionId\":"))
        r->run_id = expect_string(c);
    if (accept(c, ",\"turn\":"))
        r->turn = (uint32_t)expect_number(c, UINT32_MAX);
    if (accept(c, ",\"round\":"))
        r->round = (uint32_t)expect_number(c, UINT32_MAX);
    if (accept(c, ",\"attempt\":"))
        r->attempt = (uint32_t)expect_number(c, UINT32_MAX);
    r->is_core = accept(c, ",\"core\":true");
    if (accept(c, ",\"payloads\":[")) {
        do {
            handles = arena_grow(c->arena, handles, r->n_payloads, &room, sizeof *handles);
            handles[r->n_payloads++] = expect_string(c);
        } while (!c->failed && accept(c, ","));
        expect(c, "]");
        r->payloads = handles;
    }
    if (accept(c, ",\"messages\":")) {
        l->n_messages = expect_number(c, INT64_MAX);
        l->n_messages = l->n_messages ? l->n_messages : STORE_NO_MESSAGES;
    }
}

/* The sum covers what is before and after it. */
static bool check_sum(struct str line, struct line_parser *c)
{
    struct str before = str_slice(line, 0, line.n - c->rest.n), stands;
    char want[N_CHECK + 1];

    expect(c, ",\"check\":\"");
    stands = str_slice(c->rest, 0, N_CHECK);
    c->rest = str_skip(c->rest, N_CHECK);
    expect(c, "\"");
    if (c->failed)
        return false;
    snprintf(want, sizeof want, "%016" PRIx64, fnv(fnv(fnv_start, before), c->rest));
    return str_is(stands, want);
}

bool files_line_is_torn(struct str bytes, struct str id)
{
    static const char before[] = "{\"timestamp\":\"", time[] = "0000-00-00T00:00:00.000Z";
    AUTO(strbuf) struct strbuf start = {0};
    size_t n_zeros = 0, i;

    while (n_zeros < bytes.n && bytes.p[n_zeros] == '\0')
        n_zeros++;
    if (n_zeros == bytes.n)
        return true;
    strbuf_addf(&start, "%s%s\",\"sessionId\":\"%" STR_FMT "\",\"event\":\"", before, time,
                STR_ARG(id));
    for (i = 0; i < MIN(bytes.n, start.n); i++) {
        bool is_digit = start.p[i] == '0' && i - strlen(before) < strlen(time);

        if (is_digit ? !ascii_is_digit(bytes.p[i]) : bytes.p[i] != start.p[i])
            return false;
    }
    return true;
}

bool files_line_parse(struct str line, struct arena *a, struct files_line *ret_line)
{
    struct line_parser c = {.rest = line, .arena = a};
    struct files_line l = {0};

    expect(&c, "{\"timestamp\":\"");
    l.record.unix_ms = expect_time(&c);
    expect(&c, "\",\"sessionId\":");
    l.id = expect_string(&c);
    expect(&c, ",\"event\":");
    l.record.type = expect_string(&c);
    l.is_own = accept(&c, ",\"fence\":");
    if (l.is_own) {
        l.fence = expect_number(&c, INT64_MAX);
    } else {
        expect(&c, ",\"seq\":");
        parse_record(&c, &l);
        c.failed |= l.record.seq == 0 || l.record.n_events == 0;
    }
    l.at = accept(&c, ",\"at\":") ? expect_number(&c, INT64_MAX) : FILES_LINE_NOWHERE;
    if (c.failed || !check_sum(line, &c) || c.rest.n == 0)
        return false;
    l.members = str_slice(c.rest, 0, c.rest.n - 1);
    if (str_starts(l.members, S(",")))
        l.members = str_skip(l.members, 1);
    l.is_wrapped = str_starts(l.members, str_of(wrapped));
    *ret_line = l;
    return true;
}

struct str files_line_body(const struct files_line *l, struct arena *a)
{
    struct line_parser c = {.rest = l->members, .arena = a};
    size_t n = l->members.n;
    char *body;

    if (l->is_wrapped && accept(&c, wrapped))
        return arena_str(a, expect_string(&c));
    body = arena_alloc(a, n + 3);
    body[0] = '{';
    memcpy(body + 1, l->members.p, n);
    body[n + 1] = '}';
    return str_make(body, n + 2);
}
