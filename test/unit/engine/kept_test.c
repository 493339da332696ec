/* kept_test.c - a request that goes on from the last one is, byte for byte, one that was made from
 * nothing: for all protocols, and whatever happens to the history in between. */
#include "unit/test.h"

#include "engine/ledger.h"
#include "engine/request_build.h"
#include "model/kept_body.h"
#include "model/message_json.h"
#include "provider/protocol.h"
#include "scenario.h"

#define N_SEEDS 100
#define N_SCENARIOS 6 /* whose histories follow each other: their ids repeat */
#define MAX_MESSAGES (N_SCENARIOS * SCENARIO_MAX_MESSAGES)

/* --- a history that changes --- */

struct changing {
    struct seeded_random seeded;
    const struct random *random;
    struct message *list[MAX_MESSAGES]; /* references */
    size_t n;                           /* that are there */
    size_t n_told;                      /* the history so far */
};

static void add(struct changing *c, struct message *m)
{
    c->list[c->n++] = message_ref(m);
}

static void changing_init(struct changing *c, uint64_t seed)
{
    *c = (struct changing){.n = 0};
    seeded_random_init(&c->seeded, seed);
    c->random = &c->seeded.random;
    for (unsigned i = 0; i < N_SCENARIOS; i++) {
        AUTO(scenario) struct scenario s;

        scenario_init(&s, seed * N_SCENARIOS + i);
        for (size_t k = 0; k < s.n; k++)
            add(c, s.list[k]);
    }
}

static void changing_done(struct changing *c)
{
    for (size_t i = 0; i < c->n; i++)
        message_unref(c->list[i]);
}
DEFINE_AUTO_VAL(changing, changing_done)

static void drop(struct changing *c, size_t at)
{
    message_unref(c->list[at]);
    memmove(c->list + at, c->list + at + 1, (--c->n - at) * sizeof *c->list);
}

/* As hiding what is secret does, and a summary: the message is another one. */
static void replace(struct changing *c, size_t at)
{
    const struct message *old = c->list[at];
    struct message *m = message_new(old->role, old->id);

    message_set_origin(m, old->origin);
    m->state = old->state;
    m->is_error = old->is_error;
    for (size_t i = 0; i < old->n_parts; i++)
        message_add(m, &old->parts[i]);
    if (random_below(c->random, 2))
        message_add_text(m, S("[REDACTED]"));
    message_unref(c->list[at]);
    c->list[at] = m;
}

static void say(struct changing *c, enum role role)
{
    AUTO(message) struct message *m = message_new(role, S("said"));

    if (c->n == MAX_MESSAGES)
        return;
    message_add_text(m, S("said meanwhile"));
    memmove(c->list + c->n_told + 1, c->list + c->n_told, (c->n - c->n_told) * sizeof *c->list);
    c->n++;
    c->list[c->n_told] = message_ref(m);
}

/* Mostly it grows by a message or some. */
static void change(struct changing *c)
{
    size_t at = random_below(c->random, (uint32_t)c->n);

    c->n_told += 1 + random_below(c->random, 4);
    c->n_told = MIN(c->n_told, c->n);
    switch (random_below(c->random, 24)) {
    case 0:
        replace(c, at);
        break;
    case 1:
        if (c->n > 1)
            drop(c, at);
        break;
    case 2: /* a rewind */
        c->n_told = 1 + random_below(c->random, (uint32_t)c->n_told);
        break;
    case 3:
        say(c, ROLE_SYSTEM);
        break;
    case 4:
        say(c, ROLE_USER);
        break;
    default:
        break;
    }
    c->n_told = MIN(c->n_told, c->n);
}

/* --- asking about it --- */

struct asked {
    enum maker maker;
    struct built_prefix *prefix;
    struct kept_body body;
};

static const struct tool_def tool = {.name = {"Read", 4}, .description = {"reads", 5}};
static const struct tool_def *const tools[] = {&tool};
static const struct model_info blind = {.capabilities = CAN_TOOLS}, seeing = {.capabilities = ~0u};

struct question {
    struct request_target target;
    struct dialect dialect;
    struct str overlay;
    size_t n_overlays;
    struct model_request settings;
};

/* The same most of the time. */
static struct question choose(const struct random *r, enum maker maker)
{
    bool is_other = random_below(r, 16) == 0;
    struct question q = {.overlay = S("Sum up."), .n_overlays = random_below(r, 6) == 0};

    q.target = (struct request_target){.provider = maker_provider(maker),
                                       .protocol = maker_protocol(maker),
                                       .form = protocol_form(maker_protocol(maker)),
                                       .info = &seeing,
                                       .model = S("model"),
                                       .authored = S("Be kind."),
                                       .tools = tools,
                                       .n_tools = 1};
    q.settings.cache = PROMPT_CACHE_SHORT;
    if (!is_other)
        return q;
    switch (random_below(r, 6)) {
    case 0:
        q.target.info = random_below(r, 2) ? &blind : NULL;
        break;
    case 1:
        q.target.provider = S("somebody else");
        break;
    case 2:
        q.target.model = S("gemini-3-pro");
        break;
    case 3:
        q.target.authored = S("Be brief.");
        break;
    case 4:
        q.target.n_tools = 0;
        break;
    default:
        q.dialect.answer_after_tools = q.dialect.tool_images = q.dialect.short_call_ids = true;
        q.dialect.no_custom_tools = true;
        break;
    }
    return q;
}

static void tell_built(const struct built_messages *b, struct strbuf *out)
{
    struct json_writer w;

    strbuf_addf(out, "%s %lld %" STR_FMT "\n", b->bound, (long long)b->tokens, STR_ARG(b->system));
    for (size_t i = 0; i < b->n; i++) {
        jw_init(&w, out);
        message_write(&w, b->items[i]);
    }
}

static void encode(const struct question *q, const struct built_messages *b, struct kept_body *kept,
                   struct strbuf *out)
{
    struct model_request r = q->settings;

    r.provider = q->target.provider;
    r.protocol = q->target.protocol;
    r.model = q->target.model;
    r.system = q->target.authored;
    r.tools = q->target.tools;
    r.n_tools = q->target.n_tools;
    r.info = q->target.info;
    r.messages = (const struct message *const *)b->items;
    r.n_messages = b->n;
    r.stream = true;
    r.n_settled = b->n_settled;
    r.last_user = b->last_user;
    r.kept = kept;
    assert_ok(protocol_find(r.protocol)->encode(&r, &q->dialect, out));
}

static void assert_same(const struct strbuf *got, const struct strbuf *want)
{
    if (!str_eq(strbuf_str(got), strbuf_str(want)))
        print_error("want %s\n got %s\n", strbuf_cstr(want), strbuf_cstr(got));
    assert_true(str_eq(strbuf_str(got), strbuf_str(want)));
}

static void compare(const struct changing *c, struct asked *a)
{
    struct question q = choose(c->random, a->maker);
    const struct message *const *messages = (const struct message *const *)c->list;
    AUTO(built_messages) struct built_messages kept, fresh;
    AUTO(strbuf) struct strbuf told = {0}, want = {0}, body = {0}, want_body = {0};
    char hash[SHA256_HEX_SIZE], want_hash[SHA256_HEX_SIZE];

    request_build_on(a->prefix, messages, c->n_told, &q.target, &q.overlay, q.n_overlays, &kept);
    request_build(messages, c->n_told, &q.target, &q.overlay, q.n_overlays, &fresh);
    tell_built(&kept, &told);
    tell_built(&fresh, &want);
    assert_same(&told, &want);
    encode(&q, &kept, &a->body, &body);
    encode(&q, &fresh, NULL, &want_body);
    assert_same(&body, &want_body);
    kept_body_hash(&a->body, &body, hash);
    sha256_hex(strbuf_str(&want_body), want_hash);
    assert_string_equal(hash, want_hash);
    if (random_below(c->random, 16)) /* a body may be lost */
        kept_body_take(&a->body, &body);
}

/* What the model thinks is bound to what it answered to. */
static void bind_answers(struct changing *c)
{
    for (size_t i = 0; i < c->n; i++) {
        struct question q = {.n_overlays = 0};
        AUTO(built_messages) struct built_messages b;
        struct origin origin = c->list[i]->origin;

        if (c->list[i]->role != ROLE_ASSISTANT ||
            !str_eq(origin.provider, maker_provider(BY_ANTHROPIC)))
            continue;
        q = choose(c->random, BY_ANTHROPIC);
        request_build((const struct message *const *)c->list, i, &q.target, NULL, 0, &b);
        origin.bound = str_of(b.bound);
        message_set_origin(c->list[i], origin);
    }
}

TEST(a_request_that_goes_on_from_the_last_is_one_made_from_nothing)
{
    for (uint64_t seed = 0; seed < N_SEEDS; seed++) {
        AUTO(changing) struct changing c;
        struct asked asked[N_MAKERS] = {0};

        changing_init(&c, seed);
        bind_answers(&c);
        for (int m = 0; m < N_MAKERS; m++)
            asked[m] = (struct asked){.maker = (enum maker)m, .prefix = built_prefix_new()};
        for (int round = 0; round < 60; round++) {
            change(&c);
            compare(&c, &asked[random_below(c.random, 3) ? BY_ANTHROPIC + round % N_MAKERS
                                                         : (int)random_below(c.random, N_MAKERS)]);
        }
        for (int m = 0; m < N_MAKERS; m++) {
            built_prefix_free(asked[m].prefix);
            kept_body_done(&asked[m].body);
        }
    }
}

/* --- that it goes on at all --- */

static struct message *answer(const char *id)
{
    struct message *m = message_new(ROLE_ASSISTANT, str_of(id));

    message_add(m,
                &(struct part){
                    .kind = PART_TOOL_CALL, .id = str_of(id), .name = S("Read"), .args = S("{}")});
    return m;
}

static struct message *result(const char *id)
{
    struct message *m = message_new(ROLE_TOOL, str_of(id));
    struct part content = {.kind = PART_TEXT, .text = S("done")};

    message_add(m, &(struct part){.kind = PART_TOOL_RESULT,
                                  .id = str_of(id),
                                  .name = S("Read"),
                                  .content = &content,
                                  .n_content = 1});
    return m;
}

static void tell_history(struct changing *c)
{
    struct message *prompt = message_new(ROLE_USER, S("prompt"));
    struct message *all[] = {prompt,      answer("a"), result("a"), answer("b"),
                             result("b"), answer("c"), result("c")};

    *c = (struct changing){.n = 0};
    message_add_text(prompt, S("go"));
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        c->list[c->n++] = all[i];
}

static struct question ask_plainly(enum maker maker)
{
    return (struct question){.target = {.provider = maker_provider(maker),
                                        .protocol = maker_protocol(maker),
                                        .form = protocol_form(maker_protocol(maker)),
                                        .model = S("m")}};
}

TEST(what_was_built_before_the_last_answer_is_not_built_again)
{
    AUTO(changing) struct changing c;
    struct question q = ask_plainly(BY_ANTHROPIC);
    struct built_prefix *prefix = built_prefix_new();
    const struct message *const *messages = (const struct message *const *)c.list;
    struct built_messages first, second;
    struct message *of_first[5];

    tell_history(&c);
    request_build_on(prefix, messages, 5, &q.target, NULL, 0, &first);
    memcpy(of_first, first.items, sizeof of_first);
    built_messages_done(&first);
    request_build_on(prefix, messages, 7, &q.target, NULL, 0, &second);
    assert_int_equal(second.n, 7);
    assert_memory_equal(second.items, of_first, 3 * sizeof *of_first);
    built_messages_done(&second);
    built_prefix_free(prefix);
}

TEST(texts_of_the_history_are_not_copied)
{
    AUTO(changing) struct changing c;
    struct question q = ask_plainly(BY_CHAT);
    AUTO(built_messages) struct built_messages b;

    tell_history(&c);
    request_build((const struct message *const *)c.list, c.n, &q.target, NULL, 0, &b);
    assert_ptr_equal(b.items[0]->parts[0].text.p, c.list[0]->parts[0].text.p);
    assert_ptr_equal(b.items[1]->parts[0].args.p, c.list[1]->parts[0].args.p);
    assert_ptr_equal(b.items[2]->parts[0].content, c.list[2]->parts[0].content);
}

TEST(two_requests_at_once_do_not_share_what_is_kept)
{
    AUTO(changing) struct changing c;
    struct question q = ask_plainly(BY_ANTHROPIC);
    struct built_prefix *prefix = built_prefix_new();
    const struct message *const *messages = (const struct message *const *)c.list;
    struct built_messages first, second;
    AUTO(kept_body) struct kept_body kept = {0};
    AUTO(strbuf) struct strbuf a = {0}, b = {0};

    tell_history(&c);
    request_build_on(prefix, messages, 7, &q.target, NULL, 0, &first);
    request_build_on(prefix, messages, 5, &q.target, NULL, 0, &second);
    assert_ptr_equal(first.prefix, prefix);
    assert_null(second.prefix);
    encode(&q, &first, &kept, &a);
    encode(&q, &second, &kept, &b);
    kept_body_take(&kept, &a); /* what is kept is of the second by now */
    assert_true(a.n > 0);
    kept_body_take(&kept, &b);
    assert_int_equal(b.n, 0);
    built_messages_done(&second);
    built_messages_done(&first);
    built_prefix_free(prefix);
}

/* Whoever writes it again writes it without. */
static void mark_prompt(struct kept_body *k, const char *found)
{
    char *prompt = strstr(k->bytes.p, found);

    assert_non_null(prompt);
    prompt[1] = 'G';
}

TEST(what_was_written_before_the_last_answer_is_not_written_again)
{
    for (int maker = 0; maker < N_MAKERS; maker++) {
        AUTO(changing) struct changing c;
        struct question q = ask_plainly((enum maker)maker);
        struct built_prefix *prefix = built_prefix_new();
        const struct message *const *messages = (const struct message *const *)c.list;
        AUTO(kept_body) struct kept_body kept = {0};
        AUTO(strbuf) struct strbuf body = {0};

        tell_history(&c);
        for (size_t n = 5; n <= 7; n += 2) {
            AUTO(built_messages) struct built_messages b;

            request_build_on(prefix, messages, n, &q.target, NULL, 0, &b);
            encode(&q, &b, &kept, &body);
            assert_int_equal(kept.messages.n, n - 2);
            kept_body_take(&kept, &body);
            assert_int_equal(kept.bytes.n, kept.n_bytes);
            mark_prompt(&kept, n == 5 ? "\"go\"" : "\"Go\"");
        }
        built_prefix_free(prefix);
    }
}

/* Requests of the first n messages as they are, one after the other: all but the last are settled.
 */
static void assert_encodes_alike(struct question *q, const struct changing *c, size_t from)
{
    AUTO(kept_body) struct kept_body kept = {0};

    for (size_t n = from; n <= c->n; n++) {
        struct built_messages b = {.items = (struct message **)c->list, .n = n, .n_settled = n - 1};
        AUTO(strbuf) struct strbuf body = {0}, want = {0};

        encode(q, &b, &kept, &body);
        encode(q, &b, NULL, &want);
        assert_same(&body, &want);
        kept_body_take(&kept, &body);
        assert_true(n == 1 || kept.n_bytes > 0);
    }
}

TEST(results_that_join_a_run_are_written_into_it)
{
    for (int maker = 0; maker < N_MAKERS; maker++) {
        AUTO(changing) struct changing c;
        struct question q = ask_plainly((enum maker)maker);

        tell_history(&c);
        c.list[c.n++] = result("d");
        c.list[c.n++] = result("e");
        assert_encodes_alike(&q, &c, 1);
    }
}

TEST(a_run_that_ended_with_another_message_may_go_on_without_it)
{
    for (int maker = 0; maker < N_MAKERS; maker++) {
        AUTO(changing) struct changing c;
        struct question q = ask_plainly((enum maker)maker);
        AUTO(kept_body) struct kept_body kept = {0};

        tell_history(&c);
        for (int round = 0; round < 2; round++) {
            struct built_messages b = {.items = c.list, .n = 4, .n_settled = 3};
            AUTO(strbuf) struct strbuf body = {0}, want = {0};

            encode(&q, &b, &kept, &body);
            encode(&q, &b, NULL, &want);
            assert_same(&body, &want);
            kept_body_take(&kept, &body);
            message_unref(c.list[3]);
            c.list[3] = result("x");
        }
    }
}

TEST(what_a_protocol_remembers_of_the_last_run_is_kept_with_it)
{
    AUTO(changing) struct changing c;
    struct question q = ask_plainly(BY_CHAT);
    struct message *prompt = message_new(ROLE_USER, S("p"));

    tell_history(&c);
    q.dialect.answer_after_tools = true;
    message_add_text(prompt, S("and now?"));
    c.list[c.n++] = prompt;
    c.list[c.n++] = answer("d");
    assert_encodes_alike(&q, &c, 7);
}

/* A pause between a use of the provider's tool and its result. */
TEST(a_use_whose_result_comes_two_answers_later_is_not_settled)
{
    static const enum part_kind kinds[] = {PART_SERVER_TOOL_USE, PART_TEXT,
                                           PART_SERVER_TOOL_RESULT};
    AUTO(changing) struct changing c;
    struct question q = ask_plainly(BY_ANTHROPIC);
    struct built_prefix *prefix = built_prefix_new();
    const struct message *const *messages = (const struct message *const *)c.list;

    tell_history(&c);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct message *m = message_new(ROLE_ASSISTANT, S("m"));

        message_set_origin(
            m, (struct origin){.provider = q.target.provider, .protocol = q.target.protocol});
        message_add_text(m, S("searching"));
        message_add(m, &(struct part){.kind = kinds[i],
                                      .id = S("s"),
                                      .text = S("text"),
                                      .native = S("{\"type\":\"x\"}")});
        c.list[c.n++] = m;
    }
    for (size_t n = 7; n <= c.n; n++) {
        AUTO(built_messages) struct built_messages kept, fresh;
        AUTO(strbuf) struct strbuf told = {0}, want = {0};

        request_build_on(prefix, messages, n, &q.target, NULL, 0, &kept);
        request_build(messages, n, &q.target, NULL, 0, &fresh);
        tell_built(&kept, &told);
        tell_built(&fresh, &want);
        assert_same(&told, &want);
    }
    built_prefix_free(prefix);
}

RUN_TESTS(UNIT(a_request_that_goes_on_from_the_last_is_one_made_from_nothing),
          UNIT(what_was_built_before_the_last_answer_is_not_built_again),
          UNIT(texts_of_the_history_are_not_copied),
          UNIT(two_requests_at_once_do_not_share_what_is_kept),
          UNIT(what_was_written_before_the_last_answer_is_not_written_again),
          UNIT(results_that_join_a_run_are_written_into_it),
          UNIT(a_run_that_ended_with_another_message_may_go_on_without_it),
          UNIT(what_a_protocol_remembers_of_the_last_run_is_kept_with_it),
          UNIT(a_use_whose_result_comes_two_answers_later_is_not_settled))
