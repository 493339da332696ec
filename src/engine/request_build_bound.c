/* request_build_bound.c - a hash of what precedes an answer, as it is sent.
 *
 * Some providers bind their reasoning to it, and refuse a request in which anything of it has
 * changed. The hash is over what is sent, not over what the history holds: one message may be sent
 * to different models in different forms. */
#include "engine/request_build_parts.h"

static void bound_add_text(struct bound *b, struct str bytes)
{
    uint64_t n = bytes.n;

    sha256_add(&b->hash, str_make((const char *)&n, sizeof n));
    sha256_add(&b->hash, bytes);
}

static void bound_add_number(struct bound *b, int64_t number)
{
    sha256_add(&b->hash, str_make((const char *)&number, sizeof number));
}

static void bound_add_tool(struct bound *b, const struct tool_def *t)
{
    AUTO(strbuf) struct strbuf schema = {0};

    if (t->input_schema)
        json_write(&schema, t->input_schema);
    bound_add_text(b, t->name);
    bound_add_text(b, t->description);
    bound_add_text(b, strbuf_str(&schema));
}

void bound_begin(struct bound *b, const struct request_target *t)
{
    *b = (struct bound){.is_wanted = true};
    sha256_init(&b->hash);
    bound_add_text(b, t->model);
    bound_add_text(b, t->authored);
    bound_add_number(b, (int64_t)t->n_tools);
    for (size_t i = 0; i < t->n_tools; i++)
        bound_add_tool(b, t->tools[i]);
}

/* Parts have many texts, most of them empty: to hash each by itself takes longer than to hash them
 * all. */
struct gathered {
    struct sha256 *hash;
    size_t n;
    char bytes[1024];
};

static void flush(struct gathered *g)
{
    sha256_add(g->hash, str_make(g->bytes, g->n));
    g->n = 0;
}

static void gather(struct gathered *g, struct str bytes)
{
    if (bytes.n > sizeof g->bytes - g->n)
        flush(g);
    if (bytes.n > sizeof g->bytes) {
        sha256_add(g->hash, bytes);
        return;
    }
    if (bytes.n)
        memcpy(g->bytes + g->n, bytes.p, bytes.n);
    g->n += bytes.n;
}

static void gather_number(struct gathered *g, int64_t number)
{
    gather(g, str_make((const char *)&number, sizeof number));
}

static void gather_part(struct gathered *g, const struct part *p)
{
    const struct str texts[] = {p->text,      p->id,   p->name,   p->args,       p->bad_args,
                                p->signature, p->data, p->native, p->media.mime, p->media.data};

    gather_number(g, p->kind);
    gather_number(g, p->is_error);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        gather_number(g, (int64_t)texts[i].n);
        gather(g, texts[i]);
    }
    gather_number(g, (int64_t)p->n_content);
    for (size_t i = 0; i < p->n_content; i++)
        gather_part(g, &p->content[i]);
}

void bound_add(struct bound *b, const struct message *m)
{
    struct gathered g;

    if (!b->is_wanted)
        return;
    g.hash = &b->hash;
    g.n = 0;
    gather_number(&g, m->role);
    gather_number(&g, (int64_t)m->n_parts);
    for (size_t i = 0; i < m->n_parts; i++)
        gather_part(&g, &m->parts[i]);
    flush(&g);
}

void bound_format(const struct bound *b, char hex[SHA256_HEX_SIZE])
{
    struct sha256 copy = b->hash;
    unsigned char digest[SHA256_SIZE];

    hex[0] = 0;
    if (!b->is_wanted)
        return;
    sha256_end(&copy, digest);
    sha256_format_hex(digest, hex);
}

bool bound_is_same(const struct bound *a, const struct bound *b)
{
    char of_a[SHA256_HEX_SIZE], of_b[SHA256_HEX_SIZE];

    bound_format(a, of_a);
    bound_format(b, of_b);
    return strcmp(of_a, of_b) == 0;
}
