/* web_hits_fuzz.c - whatever a search service or a model answers or a command prints, what is taken
 * from it can be shown and fetched. The first byte chooses the form. */
#include "tool/web/search_model.h"

#include "base/utf8.h"
#include "net/url.h"
#include "tool/html/markdown_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_line(struct str text, size_t max_bytes)
{
    BUG_IF(text.n > max_bytes + 3);
    while (text.n) {
        uint32_t c;
        unsigned n = utf8_decode(text, &c);

        BUG_IF(n == 0);
        BUG_IF(c < ' ' || markdown_is_dropped(c));
        text = str_skip(text, n);
    }
}

static void check_hit(struct arena *a, const struct web_hit *hit)
{
    struct url u;

    check_line(hit->title, WEB_MAX_HIT_TITLE);
    check_line(hit->description, WEB_MAX_HIT_DESCRIPTION);
    check_line(hit->url, 4 * URL_MAX_BYTES);
    for (size_t i = 0; i < hit->url.n; i++)
        BUG_IF(hit->url.p[i] <= ' ' || hit->url.p[i] >= 0x7F);
    if (hit->url.n <= URL_MAX_BYTES) { /* encoding may make it longer */
        struct err *e = url_parse(a, hit->url, &u);

        BUG_IF(e);
        BUG_IF(u.userinfo.n);
        BUG_IF(str_is(u.host, "evil.example"));
    }
}

static void add_answer(struct web_hits *hits, struct str text, bool is_brave)
{
    struct json_where where;
    struct json *root;

    if (!json_parse_at(hits->arena, text, JSON_REPAIR_UTF8, &root, &where))
        return;
    web_hits_add_json(hits, json_get(is_brave ? json_get(root, "web") : root, "results"),
                      is_brave ? "description" : "content");
}

/* The same bytes as a provider's block and as the model's words. */
static void add_said(struct web_hits *hits, struct str text)
{
    AUTO(message) struct message *m = message_new(ROLE_ASSISTANT, S("m"));
    struct part block = {.kind = PART_SERVER_TOOL_RESULT, .native = text};
    struct part citation = {.kind = PART_CITATION, .url = text, .title = text, .text = text};
    AUTO(err) struct err *e = NULL;

    message_add(m, &block);
    message_add(m, &citation);
    message_add_text(m, text);
    e = web_hits_add_answer(hits, m);
    BUG_IF(hits->summary.n > WEB_MAX_SUMMARY + 3);
    BUG_IF(!utf8_is_valid(hits->summary));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena a = {0};
    struct json *blocked = json_new(&a, JSON_ARRAY);
    const struct web_query query = {.blocked_domains = blocked};
    struct web_hits hits;
    struct str text;

    if (size == 0)
        return 0;
    text = str_make((const char *)data + 1, size - 1);
    json_push(blocked, json_new_str(&a, S("evil.example")));
    web_hits_init(&hits, &a, &query);
    if (data[0] == 'M')
        add_said(&hits, text);
    else if (data[0] % 3 == 0)
        web_hits_add_output(&hits, text);
    else
        add_answer(&hits, text, /* is_brave= */ data[0] % 3 == 1);
    BUG_IF(hits.n > WEB_MAX_HITS);
    for (size_t i = 0; i < hits.n; i++)
        check_hit(&a, &hits.items[i]);
    return 0;
}
