/* ledger.c - estimates tokens that no provider has counted yet. */
#include "engine/ledger.h"

#include "base/utf8.h"
#include "model/catalogue.h"

#define CHARS_PER_TOKEN 4
#define RESULT_CHARS_PER_TOKEN 2
#define MESSAGE_TOKENS 4            /* role and framing */
#define RESERVE_BUFFER 256          /* the instruction of a last turn, and what counts are off by */
#define IMAGE_TOKENS 1600           /* a large image in most APIs */
#define DOCUMENT_BYTES_PER_TOKEN 30 /* a page of a PDF is about 50 KB and 1,600 tokens */

static int64_t in_tokens(size_t n_chars, int64_t chars_per_token)
{
    return ((int64_t)n_chars + chars_per_token - 1) / chars_per_token;
}

static int64_t media_tokens(const struct media *m)
{
    if (m->source != MEDIA_BYTES || str_starts(m->mime, S("image/")))
        return IMAGE_TOKENS;
    return MAX((int64_t)m->data.n / DOCUMENT_BYTES_PER_TOKEN, (int64_t)IMAGE_TOKENS);
}

static int64_t part_tokens(const struct part *p)
{
    size_t n_chars = utf8_count(p->text) + utf8_count(p->args) + p->name.n + p->id.n + p->data.n +
                     p->signature.n;
    int64_t tokens = in_tokens(n_chars, CHARS_PER_TOKEN);

    if (p->kind == PART_MEDIA)
        tokens += media_tokens(&p->media);
    if (p->kind == PART_SERVER_TOOL_RESULT)
        tokens += in_tokens(p->native.n, CHARS_PER_TOKEN);
    for (size_t i = 0; i < p->n_content; i++)
        tokens += part_tokens(&p->content[i]);
    return tokens;
}

int64_t ledger_message_tokens(const struct message *m)
{
    int64_t tokens = MESSAGE_TOKENS;

    for (size_t i = 0; i < m->n_parts; i++)
        tokens += part_tokens(&m->parts[i]);
    return tokens;
}

int64_t ledger_result_tokens(struct str text)
{
    return in_tokens(utf8_count(text), RESULT_CHARS_PER_TOKEN);
}

int64_t ledger_head_tokens(struct str system, const struct tool_def *const *tools, size_t n_tools)
{
    AUTO(strbuf) struct strbuf schema = {0};
    size_t n_chars = utf8_count(system);

    for (size_t i = 0; i < n_tools; i++) {
        strbuf_clear(&schema);
        if (tools[i]->input_schema)
            json_write(&schema, tools[i]->input_schema);
        n_chars += tools[i]->name.n + utf8_count(tools[i]->description) + schema.n;
    }
    return in_tokens(n_chars, CHARS_PER_TOKEN);
}

/* A count says what all before it takes, and itself. */
static void add_to_tally(struct history_tally *t, const struct message *m)
{
    int64_t tokens = ledger_message_tokens(m);

    t->n++;
    t->tokens += tokens;
    t->is_exact = m->role == ROLE_ASSISTANT && usage_is_known(&m->usage);
    t->has_count |= t->is_exact;
    t->counted = t->is_exact ? usage_total(&m->usage) : t->counted + tokens;
}

static struct token_estimate estimate(const struct history_tally *t, int64_t head, int64_t floor)
{
    struct token_estimate e = {.serialized = head + t->tokens,
                               .counted = t->has_count ? t->counted : 0,
                               .floor = MAX(floor, (int64_t)0),
                               .is_exact = t->is_exact};

    e.used = e.is_exact ? e.counted : MAX(MAX(e.serialized, e.counted), e.floor);
    return e;
}

struct token_estimate ledger_estimate(const struct message *const *messages, size_t n_messages,
                                      int64_t head, int64_t floor)
{
    struct history_tally tally = {0};

    while (tally.n < n_messages)
        add_to_tally(&tally, messages[tally.n]);
    return estimate(&tally, head, floor);
}

struct token_estimate ledger_estimate_history(struct history *h, int64_t head, int64_t floor)
{
    while (h->tally.n < h->n_messages)
        add_to_tally(&h->tally, h->messages[h->tally.n]);
    return estimate(&h->tally, head, floor);
}

int64_t ledger_reserve(int64_t window, int64_t max_output, int per_mille)
{
    int64_t wanted = (max_output > 0 ? max_output : MODEL_DEFAULT_MAX_OUTPUT) + RESERVE_BUFFER;

    return MIN(wanted, (int64_t)((__int128)window * per_mille / 1000));
}

bool ledger_is_over(int64_t used, int64_t window, int per_mille)
{
    return window > 0 && (__int128)used * 1000 > (__int128)window * per_mille;
}

void ledger_explain_guard(const struct token_estimate *e, int64_t window, bool is_first,
                          struct strbuf *out)
{
    int64_t limit = (int64_t)((__int128)window * LEDGER_GUARD_PER_MILLE / 1000);

    strbuf_addf(
        out,
        "The prompt was not sent: %s takes about %lld tokens, and the model's context window "
        "is %lld (the limit is %lld, 95 %%). Estimated from the messages: %lld; from the "
        "provider's last count: %lld. Send less%s.",
        is_first ? "it" : "the conversation", (long long)e->used, (long long)window,
        (long long)limit, (long long)e->serialized, (long long)MAX(e->counted, e->floor),
        is_first ? ", or use a model with a larger window: keel models lists them"
                 : ", compact the conversation with keel session compact, or start a new "
                   "one");
}
