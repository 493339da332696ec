/* long_texts.c - long texts and files, out of parts and back into them. */
#include "session/codec/long_texts.h"

void long_texts_done(struct long_texts *t)
{
    arena_done(&t->arena);
    *t = (struct long_texts){0};
}

/* --- writing --- */

/* When all that is not long comes to more than MANY_BYTES, what has more than SHORT_BYTES is. */
#define MANY_BYTES ((size_t)1 << 20)
#define SHORT_BYTES ((size_t)1 << 10)

/* What may be long: the text, or the bytes of a file. */
static struct str *bytes_of(struct part *p)
{
    return p->kind == PART_MEDIA && p->media.source == MEDIA_BYTES ? &p->media.data : &p->text;
}

static size_t size_up_to(const struct part *p, size_t max)
{
    size_t n = bytes_of((struct part *)p)->n;

    return n <= max ? n : 0;
}

static size_t find_limit(const struct part *parts, size_t n)
{
    size_t sum = 0;

    for (size_t i = 0; i < n; i++) {
        sum += size_up_to(&parts[i], CODEC_INLINE_MAX);
        for (size_t k = 0; k < parts[i].n_content; k++)
            sum += size_up_to(&parts[i].content[k], CODEC_INLINE_MAX);
    }
    return sum > MANY_BYTES ? SHORT_BYTES : CODEC_INLINE_MAX;
}

static bool is_long(const struct part *p, size_t limit)
{
    for (size_t i = 0; i < p->n_content; i++)
        if (bytes_of(&p->content[i])->n > limit)
            return true;
    return bytes_of((struct part *)p)->n > limit;
}

static void take_bytes(struct long_texts *t, size_t part, int64_t content, size_t limit,
                       struct part *p)
{
    struct str *bytes = bytes_of(p);
    struct long_text *x;

    if (bytes->n <= limit)
        return;
    t->items = arena_grow(&t->arena, t->items, t->n, &t->room, sizeof *t->items);
    x = &t->items[t->n++];
    *x = (struct long_text){.part = part, .content = content, .bytes = *bytes};
    sha256_hex(*bytes, x->handle);
    *bytes = (struct str){0};
}

static void take_part(struct long_texts *t, size_t index, size_t limit, struct part *p)
{
    struct part *content = ARENA_ARRAY(&t->arena, p->n_content, struct part);

    take_bytes(t, index, -1, limit, p);
    for (size_t i = 0; i < p->n_content; i++) {
        content[i] = p->content[i];
        take_bytes(t, index, (int64_t)i, limit, &content[i]);
    }
    p->content = content;
}

const struct part *long_texts_take_out(struct long_texts *t, const struct part *parts, size_t n)
{
    size_t limit = find_limit(parts, n);
    struct part *copy = NULL;

    for (size_t i = 0; i < n; i++) {
        if (!is_long(&parts[i], limit))
            continue;
        if (!copy) {
            copy = ARENA_ARRAY(&t->arena, n, struct part);
            memcpy(copy, parts, n * sizeof *parts);
        }
        take_part(t, i, limit, &copy[i]);
    }
    return copy ? copy : parts;
}

void long_texts_write(struct json_writer *w, const struct long_texts *t)
{
    jw_begin_array(w);
    for (size_t i = 0; i < t->n; i++) {
        jw_begin_array(w);
        jw_int(w, (int64_t)t->items[i].part);
        jw_int(w, t->items[i].content);
        jw_begin_object(w);
        jw_kv_str(w, "$blob", str_of(t->items[i].handle));
        jw_end_object(w);
        jw_end_array(w);
    }
    jw_end_array(w);
}

void codec_put_long_texts(struct encoding *c, const char *key, const struct long_texts *t)
{
    if (t->n == 0)
        return;
    for (size_t i = 0; i < t->n; i++)
        codec_add_blob_as(c, t->items[i].bytes, t->items[i].handle);
    jw_key(&c->json, key);
    long_texts_write(&c->json, t);
}

/* --- reading --- */

static struct part *find_part(const struct json *entry, struct part *parts, size_t n)
{
    int64_t index = json_int_or(json_at(entry, 0), -1);
    int64_t content = json_int_or(json_at(entry, 1), -1);

    if (index < 0 || (uint64_t)index >= n)
        return NULL;
    if (content < 0)
        return &parts[index];
    return (uint64_t)content < parts[index].n_content
               ? (struct part *)&parts[index].content[content]
               : NULL;
}

struct err *codec_get_long_texts(struct decoding *d, const struct json *list, struct arena *a,
                                 struct part *parts, size_t n)
{
    json_each (entry, list) {
        struct part *p = find_part(entry, parts, n);
        struct str handle = json_get_text(json_at(entry, 2), "$blob");

        if (!p || !handle.n)
            return codec_broken(d, "has a text that no field refers to");
        TRY(codec_load_blob(d, handle, a, bytes_of(p)));
    }
    return NULL;
}
