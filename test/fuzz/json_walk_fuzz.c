/* json_walk_fuzz.c - what is JSON is walked to its end, piece by piece, and says the same. */
#include "base/json_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct source {
    struct str rest;
    size_t n_step;
};

static struct err *read_some(void *self, struct strbuf *out)
{
    struct source *s = self;

    strbuf_add(out, str_slice(s->rest, 0, MIN(s->n_step, s->rest.n)));
    s->rest = str_skip(s->rest, MIN(s->n_step, s->rest.n));
    return NULL;
}

static struct err *add_text(void *self, struct str text)
{
    strbuf_add(self, text);
    return NULL;
}

#define SHORT_BYTES 8

/* Writes the value as it is walked: a short one as it came, of a longer one what is in it. */
static struct err *copy(struct json_walk *w, struct json_writer *out)
{
    enum json_type type;
    struct str key, raw;
    bool found, fits;

    TRY(json_walk_take_short(w, SHORT_BYTES, &raw, &fits));
    BUG_IF(fits && raw.n > SHORT_BYTES);
    if (fits) {
        jw_raw(out, raw);
        return NULL;
    }
    TRY(json_walk_type(w, &type));
    if (type == JSON_STRING) {
        AUTO(strbuf) struct strbuf text = {0};

        TRY(json_walk_text(w, add_text, &text));
        jw_str(out, strbuf_str(&text));
        return NULL;
    }
    if (type != JSON_OBJECT && type != JSON_ARRAY) {
        TRY(json_walk_take(w, SIZE_MAX, &raw));
        jw_raw(out, raw);
        return NULL;
    }
    TRY(json_walk_enter(w));
    (type == JSON_OBJECT ? jw_begin_object : jw_begin_array)(out);
    for (;;) {
        TRY(json_walk_next(w, &key, &found));
        if (!found)
            break;
        if (type == JSON_OBJECT)
            jw_key_str(out, key);
        TRY(copy(w, out));
    }
    (type == JSON_OBJECT ? jw_end_object : jw_end_array)(out);
    return NULL;
}

static struct err *walk(struct source *s, struct strbuf *out)
{
    AUTO(json_walk) struct json_walk w;
    struct json_writer writer;

    jw_init(&writer, out);
    json_walk_init(&w, read_some, s);
    TRY(copy(&w, &writer));
    return json_walk_end(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_make((const char *)data, size);
    AUTO(arena) struct arena a = {0};
    struct json_where where;
    struct json *want, *got;
    bool is_json = json_parse_at(&a, text, 0, &want, &where);

    for (size_t n_step = 1; n_step < 64; n_step *= 3) {
        AUTO(strbuf) struct strbuf out = {0};
        AUTO(err) struct err *e = walk(&(struct source){text, n_step}, &out);

        BUG_IF(is_json && e);
        if (is_json)
            BUG_IF(!json_parse_at(&a, strbuf_str(&out), 0, &got, &where) || !json_equal(want, got));
    }
    return 0;
}
