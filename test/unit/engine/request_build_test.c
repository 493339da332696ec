/* request_build_test.c */
#include "test.h"

#include "engine/request_build.h"
#include "model/message_json.h"
#include "provider/protocol.h"
#include "sys/random.h"

/* --- histories by hand --- */

static struct message *say(enum role role, const char *text)
{
    struct message *m = message_new(role, S("m"));

    if (text)
        message_add_text(m, str_of(text));
    return m;
}

static struct message *with_call(struct message *m, const char *id, const char *name)
{
    message_add(
        m, &(struct part){
               .kind = PART_TOOL_CALL, .id = str_of(id), .name = str_of(name), .args = S("{}")});
    return m;
}

static struct message *result(const char *id, const char *text)
{
    struct message *m = message_new(ROLE_TOOL, S("t"));
    struct part content = {.kind = PART_TEXT, .text = str_of(text)};

    message_add(
        m, &(struct part){
               .kind = PART_TOOL_RESULT, .id = str_of(id), .content = &content, .n_content = 1});
    return m;
}

/* "user(hi) assistant(x call c1) tool(c1: out)" */
static void tell(const struct built_messages *b, struct strbuf *out)
{
    if (b->system.n)
        strbuf_addf(out, "system(%" STR_FMT ") ", STR_ARG(b->system));
    for (size_t i = 0; i < b->n; i++) {
        const struct message *m = b->items[i];

        strbuf_addf(out, "%s%s(", i ? " " : "", role_name(m->role));
        for (size_t k = 0; k < m->n_parts; k++) {
            const struct part *p = &m->parts[k];

            if (k)
                strbuf_add_char(out, ' ');
            if (p->kind == PART_TOOL_CALL)
                strbuf_addf(out, "call %" STR_FMT, STR_ARG(p->id));
            else if (p->kind == PART_TOOL_RESULT)
                strbuf_addf(out, "%" STR_FMT "%s: %" STR_FMT, STR_ARG(p->id),
                            p->is_error ? "!" : "", STR_ARG(p->content[0].text));
            else
                strbuf_add(out, p->text);
        }
        strbuf_add_char(out, ')');
    }
}

static void assert_builds(struct message **take_messages, size_t n,
                          const struct request_target *target, const char *want)
{
    AUTO(built_messages) struct built_messages built;
    AUTO(strbuf) struct strbuf got = {0};

    request_build((const struct message *const *)take_messages, n, target, NULL, 0, &built);
    tell(&built, &got);
    for (size_t i = 0; i < n; i++)
        message_unref(take_messages[i]);
    assert_str(strbuf_str(&got), want);
}

static const struct request_target any = {{"p", 1}, {"x", 1}, NULL};

#define BUILDS(want, ...)                                                                          \
    do {                                                                                           \
        struct message *list_[] = {__VA_ARGS__};                                                   \
        assert_builds(list_, ARRAY_LEN(list_), &any, want);                                        \
    } while (0)

TEST(a_plain_conversation_stays_as_it_is)
{
    BUILDS("system(be kind) user(hi) assistant(hello) user(bye)", say(ROLE_SYSTEM, "be kind"),
           say(ROLE_USER, "hi"), say(ROLE_ASSISTANT, "hello"), say(ROLE_USER, "bye"));
}

TEST(results_follow_their_calls_in_the_order_of_the_calls)
{
    BUILDS("user(go) assistant(ok call a call b) tool(a: A) tool(b: B)", say(ROLE_USER, "go"),
           with_call(with_call(say(ROLE_ASSISTANT, "ok"), "a", "Read"), "b", "Bash"),
           result("b", "B"), result("a", "A"));
}

TEST(a_call_without_a_result_gets_one_and_a_result_without_a_call_goes)
{
    BUILDS("user(go) assistant(call a) tool(a!: The tool call was not executed: the run ended "
           "before its turn came.) user(next)",
           say(ROLE_USER, "go"), with_call(say(ROLE_ASSISTANT, NULL), "a", "Read"),
           result("stray", "?"), say(ROLE_USER, "next"));
}

TEST(a_result_that_came_late_stands_where_it_must)
{
    BUILDS("user(go) assistant(call a) tool(a: A) user(hurry)", say(ROLE_USER, "go"),
           with_call(say(ROLE_ASSISTANT, NULL), "a", "Read"), say(ROLE_USER, "hurry"),
           result("a", "A"));
}

TEST(repeated_ids_are_told_apart_within_a_message_and_over_messages)
{
    BUILDS("user(go) assistant(call c call c_2) tool(c: 1) tool(c_2: 2) assistant(call c_3) "
           "tool(c_3: 3)",
           say(ROLE_USER, "go"),
           with_call(with_call(say(ROLE_ASSISTANT, NULL), "c", "Read"), "c", "Read"),
           result("c", "1"), result("c", "2"), with_call(say(ROLE_ASSISTANT, NULL), "c", "Read"),
           result("c", "3"));
}

TEST(an_interrupted_answer_says_so)
{
    struct message *cut = say(ROLE_ASSISTANT, "I was about"), *silent = say(ROLE_ASSISTANT, NULL);

    cut->state = silent->state = MESSAGE_INTERRUPTED;
    BUILDS("user(a) assistant(I was about\n\n" INTERRUPTED_NOTE
           ") user(b) assistant(" INTERRUPTED_NOTE ") user(c)",
           say(ROLE_USER, "a"), cut, say(ROLE_USER, "b"), silent, say(ROLE_USER, "c"));
}

TEST(errors_for_people_and_empty_messages_are_left_out)
{
    struct message *diagnosis = say(ROLE_ASSISTANT, "the provider is down");

    diagnosis->is_error = true;
    BUILDS("user(a) user(b)", say(ROLE_USER, "a"), diagnosis, say(ROLE_ASSISTANT, "  "),
           say(ROLE_USER, ""), say(ROLE_USER, "b"));
}

TEST(a_summary_at_the_start_and_an_answer_at_the_end_are_framed)
{
    BUILDS("user([The conversation continues from here.]) assistant(summary) user(Continue.)",
           say(ROLE_ASSISTANT, "summary"));
}

TEST(reasoning_goes_back_only_to_its_provider)
{
    struct message *list[2];

    for (int own = 0; own < 2; own++) {
        list[0] = say(ROLE_USER, "q");
        list[1] = say(ROLE_ASSISTANT, "a");
        message_add(list[1], &(struct part){.kind = PART_REASONING, .text = S("hm")});
        message_set_origin(list[1], (struct origin){own ? S("p") : S("other"), S("x"), S("m")});
        assert_builds(list, 2, &any,
                      own ? "user(q) assistant(a hm) user(Continue.)"
                          : "user(q) assistant(a) user(Continue.)");
    }
}

TEST(media_that_a_model_cannot_take_are_named)
{
    static const struct model_info blind = {.id = "blind", .capabilities = CAN_TOOLS};
    struct request_target target = {{"p", 1}, {"x", 1}, &blind};
    struct message *m = say(ROLE_USER, "look");

    message_add(
        m, &(struct part){.kind = PART_MEDIA,
                          .media = {.mime = S("image/png"), .data = S("png"), .name = S("a.png")}});
    assert_builds(&m, 1, &target,
                  "user(look [A file of type image/png (a.png) was left out: this model cannot "
                  "read it.])");
}

/* A file that one provider took, and the next one cannot: its conversation goes on. */
TEST(media_that_a_protocol_cannot_take_are_named)
{
    static const struct {
        const char *protocol, *mime, *data, *want;
        enum media_source source;
    } rows[] = {
        {"anthropic-messages", "audio/wav", "x", "was left out"},
        {"anthropic-messages", "image/bmp", "x", "was left out"},
        {"anthropic-messages", "image/png", "", "is empty"},
        {"anthropic-messages", "image/png", "ftp://a", "was left out", MEDIA_URL},
        {"anthropic-messages", "Image/JPG; q=1", "x", ""},
        {"openai-chat", "application/pdf", "https://a", "accepts documents only as bytes",
         MEDIA_URL},
        {"openai-chat", "audio/x-wav", "x", ""},
        {"openai-responses", "video/mp4", "x", "was left out"},
        {"gemini", "image/gif", "x", "was left out"},
        {"gemini", "", "https://a", "", MEDIA_URL},
        {"ollama", "application/pdf", "x", "was left out"},
        {"ollama", "image/png", "https://a", "accepts images only as bytes", MEDIA_URL},
        {"some-other", "audio/wav", "x", ""},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct request_target target = {.provider = S("p"),
                                        .protocol = str_of(rows[i].protocol),
                                        .form = protocol_form(str_of(rows[i].protocol))};
        struct part file = {.kind = PART_MEDIA,
                            .media = {.mime = str_of(rows[i].mime),
                                      .source = rows[i].source,
                                      .data = str_of(rows[i].data)}};
        AUTO(message) struct message *m = message_new(ROLE_USER, S("u"));
        const struct message *list[] = {m};
        AUTO(built_messages) struct built_messages built;

        message_add(m, &file);
        request_build(list, 1, &target, NULL, 0, &built);
        assert_int_equal(built.items[0]->parts[0].kind, rows[i].want[0] ? PART_TEXT : PART_MEDIA);
        assert_true(str_find(built.items[0]->parts[0].text, str_of(rows[i].want)) != STR_NONE);
    }
}

TEST(a_result_behind_a_message_about_an_error_is_found)
{
    struct message *diagnosis = say(ROLE_ASSISTANT, "the provider is down");

    diagnosis->is_error = true;
    BUILDS("user(go) assistant(call a) tool(a: A) user(next)", say(ROLE_USER, "go"),
           with_call(say(ROLE_ASSISTANT, NULL), "a", "Read"), diagnosis, result("a", "A"),
           say(ROLE_USER, "next"));
}

TEST(a_result_that_says_nothing_says_so)
{
    BUILDS("user(go) assistant(call a) tool(a: (no output))", say(ROLE_USER, "go"),
           with_call(say(ROLE_ASSISTANT, NULL), "a", "Read"), result("a", " \xC2\xA0"));
}

/* --- what the Messages API of Anthropic wants --- */

static const struct request_target anthropic = {.provider = {"p", 1},
                                                .protocol = {"anthropic-messages", 18},
                                                .form = &protocol_anthropic_messages.form};

static struct message *by_anthropic(struct message *m)
{
    message_set_origin(m, (struct origin){S("p"), S("anthropic-messages"), S("m")});
    return m;
}

static struct message *with_part(struct message *m, enum part_kind kind, const char *text)
{
    message_add(m, &(struct part){.kind = kind,
                                  .id = S("s1"),
                                  .text = str_of(text),
                                  .signature = S("sig"),
                                  .native = S("{}")});
    return m;
}

#define BUILDS_FOR_ANTHROPIC(want, ...)                                                            \
    do {                                                                                           \
        struct message *list_[] = {__VA_ARGS__};                                                   \
        assert_builds(list_, ARRAY_LEN(list_), &anthropic, want);                                  \
    } while (0)

/* As if it had answered to these messages. */
static void bind(struct message *m, struct message *const *before, size_t n,
                 const struct request_target *target)
{
    AUTO(built_messages) struct built_messages built;

    request_build((const struct message *const *)before, n, target, NULL, 0, &built);
    m->origin.bound = arena_str(&m->arena, str_of(built.bound));
}

static const struct tool_def look = {.name = {"Look", 4}}, leap = {.name = {"Leap", 4}};

TEST(thinking_stays_where_nothing_before_it_has_changed)
{
    const struct tool_def *tools[] = {&look}, *others[] = {&look, &leap};
    struct request_target here = anthropic;
    struct message *q = say(ROLE_USER, "q"), *other = say(ROLE_USER, "r");
    struct message *a =
        by_anthropic(with_part(message_new(ROLE_ASSISTANT, S("m")), PART_REASONING, "hm"));

    here.model = S("m");
    here.authored = S("Be kind.");
    here.tools = tools;
    here.n_tools = 1;
    message_add_text(a, S("a"));
    bind(a, &q, 1, &here);
#define BUILDS_HERE(want, first)                                                                   \
    assert_builds((struct message *[]){message_ref(first), message_ref(a), message_ref(q)}, 3,     \
                  &here, want)
    BUILDS_HERE("user(q) assistant(hm a) user(q)", q);
    BUILDS_HERE("user(r) assistant(a) user(q)", other);
    here.authored = S("Be quick.");
    BUILDS_HERE("user(q) assistant(a) user(q)", q);
    here.authored = S("Be kind.");
    here.tools = others;
    here.n_tools = 2;
    BUILDS_HERE("user(q) assistant(a) user(q)", q);
    here.tools = tools;
    here.n_tools = 1;
    here.model = S("m2");
    BUILDS_HERE("user(q) assistant(a) user(q)", q);
    here.model = S("m");
    BUILDS_HERE("user(q) assistant(hm a) user(q)", q);
    a->origin.bound = (struct str){0}; /* an older version has kept nothing */
    BUILDS_HERE("user(q) assistant(a) user(q)", q);
    message_unref(q);
    message_unref(other);
    message_unref(a);
}

TEST(an_answer_does_not_end_with_thinking)
{
    struct message *q = say(ROLE_USER, "q");
    struct message *whole = by_anthropic(with_part(say(ROLE_ASSISTANT, "a"), PART_REASONING, "hm"));
    struct message *cut = by_anthropic(with_part(say(ROLE_ASSISTANT, "b"), PART_REASONING, "hm"));

    cut->state = MESSAGE_INTERRUPTED;
    bind(whole, &q, 1, &anthropic);
    bind(cut, (struct message *[]){q, whole, q}, 3, &anthropic);
    BUILDS_FOR_ANTHROPIC("user(q) assistant(a) user(q) assistant(b hm " INTERRUPTED_NOTE
                         ") user(q)",
                         q, whole, say(ROLE_USER, "q"), cut, say(ROLE_USER, "q"));
}

TEST(a_use_of_a_server_tool_goes_with_its_result_or_not_at_all)
{
    struct message *pair = by_anthropic(say(ROLE_ASSISTANT, "a")),
                   *cut = by_anthropic(say(ROLE_ASSISTANT, "b"));

    with_part(with_part(pair, PART_SERVER_TOOL_USE, "use"), PART_SERVER_TOOL_RESULT, "result");
    with_part(cut, PART_SERVER_TOOL_USE, "use");
    BUILDS_FOR_ANTHROPIC("user(q) assistant(a use result) user(q) assistant(b) user(q)",
                         say(ROLE_USER, "q"), pair, say(ROLE_USER, "q"), cut, say(ROLE_USER, "q"));
}

TEST(a_paused_answer_goes_back_as_it_is_and_stays_so)
{
    struct message *paused = by_anthropic(say(ROLE_ASSISTANT, "a")),
                   *next = by_anthropic(message_new(ROLE_ASSISTANT, S("m")));

    with_part(paused, PART_SERVER_TOOL_USE, "use");
    paused->stop = STOP_PAUSED;
    with_part(next, PART_SERVER_TOOL_RESULT, "result");
    BUILDS_FOR_ANTHROPIC("user(q) assistant(a use)", say(ROLE_USER, "q"), message_ref(paused));
    BUILDS_FOR_ANTHROPIC("user(q) assistant(a use) assistant(result) user(q)", say(ROLE_USER, "q"),
                         paused, next, say(ROLE_USER, "q"));
}

TEST(a_result_that_is_an_error_is_all_text)
{
    struct part picture = {.kind = PART_MEDIA, .media = {.mime = S("image/png"), .data = S("x")}};
    struct part failed = {.kind = PART_TOOL_RESULT,
                          .id = S("a"),
                          .is_error = true,
                          .content = &picture,
                          .n_content = 1};
    struct message *m = message_new(ROLE_TOOL, S("t"));

    message_add(m, &failed);
    BUILDS_FOR_ANTHROPIC("user(q) assistant(call a) tool(a!: [A file of type image/png (without a "
                         "name) was left out: this model cannot read it.])",
                         say(ROLE_USER, "q"),
                         with_call(message_new(ROLE_ASSISTANT, S("m")), "a", "R"), m);
}

TEST(a_name_that_no_tool_could_have_is_made_one_in_call_and_result)
{
    static const char *const invented[][2] = {{"", "_"},
                                              {"a b.c\n", "a_b_c_"},
                                              {"Gr\xC3\xBC", "Gr__"},
                                              {"functions.Bash", "functions_Bash"}};

    for (size_t i = 0; i < ARRAY_LEN(invented); i++) {
        AUTO(built_messages) struct built_messages built;
        AUTO(message) struct message *q = say(ROLE_USER, "q");
        AUTO(message)
        struct message *a = with_call(message_new(ROLE_ASSISTANT, S("a")), "c", invented[i][0]);
        const struct message *list[] = {q, a};

        request_build(list, 2, &any, NULL, 0, &built);
        assert_str(built.items[1]->parts[0].name, invented[i][1]);
        assert_str(built.items[2]->parts[0].name, invented[i][1]);
    }
}

/* Each of them looks for an id that is free: that must not take time by their square, or cube. */
TEST(thousands_of_calls_with_one_id_get_ids_of_their_own)
{
    AUTO(built_messages) struct built_messages built;
    AUTO(message) struct message *q = say(ROLE_USER, "q");
    AUTO(message) struct message *a = message_new(ROLE_ASSISTANT, S("a"));
    const struct message *list[] = {q, a};
    size_t n = 4000;

    for (size_t i = 0; i < n; i++)
        a = with_call(a, i == 7 ? "c_3" : "c", "Read");
    request_build(list, 2, &any, NULL, 0, &built);
    assert_int_equal(built.n, 2 + n);
    assert_str(built.items[1]->parts[0].id, "c");
    assert_str(built.items[1]->parts[1].id, "c_2");
    assert_str(built.items[1]->parts[2].id, "c_4"); /* the provider has given c_3 away */
    assert_str(built.items[1]->parts[7].id, "c_3");
    assert_str(built.items[1 + n]->parts[0].id, "c_4000");
}

TEST(overlays_stand_at_the_end_of_one_request)
{
    AUTO(built_messages) struct built_messages built;
    AUTO(strbuf) struct strbuf got = {0};
    AUTO(message) struct message *m = say(ROLE_USER, "hi");
    const struct message *list[] = {m};

    request_build(list, 1, &any, &S("Sum up now."), 1, &built);
    tell(&built, &got);
    assert_str(strbuf_str(&got), "user(hi) user(Sum up now.)");
}

/* --- histories by chance --- */

static const char *const words[] = {"", " ", "yes", "a longer text", "\xF0\x9F\x98\x80"};
static const char *const ids[] = {"call_0", "call_0_2", "toolu_x", "weird id|fc"};

static struct part random_part(const struct random *r, enum role role)
{
    static const enum part_kind of_assistant[] = {PART_TEXT,      PART_TEXT,      PART_TOOL_CALL,
                                                  PART_TOOL_CALL, PART_REASONING, PART_REFUSAL,
                                                  PART_CITATION,  PART_MEDIA};
    struct str text = str_of(words[random_below(r, ARRAY_LEN(words))]);
    enum part_kind kind = role == ROLE_ASSISTANT
                              ? of_assistant[random_below(r, ARRAY_LEN(of_assistant))]
                              : (random_below(r, 5) ? PART_TEXT : PART_MEDIA);

    return (struct part){
        .kind = kind,
        .text = text,
        .id = str_of(ids[random_below(r, ARRAY_LEN(ids))]),
        .name = S("Read"),
        .args = S("{\"a\":1}"),
        .media = {.mime = S("image/png"), .data = S("png")},
    };
}

static struct message *random_message(const struct random *r)
{
    enum role role = (enum role)random_below(r, 4);
    struct message *m;

    if (role == ROLE_TOOL)
        return result(ids[random_below(r, ARRAY_LEN(ids))],
                      words[random_below(r, ARRAY_LEN(words))]);
    m = message_new(role, S("m"));
    m->is_error = role == ROLE_ASSISTANT && random_below(r, 10) == 0;
    if (role == ROLE_ASSISTANT && random_below(r, 6) == 0)
        m->state = MESSAGE_INTERRUPTED;
    message_set_origin(m, (struct origin){random_below(r, 2) ? S("p") : S("q"), S("x"), S("m")});
    for (size_t n = random_below(r, 5); n > 0; n--) {
        struct part p = random_part(r, role);
        message_add(m, &p);
    }
    return m;
}

/* Every call of `m` is answered by the messages right behind it, in order, with ids of its own. */
static size_t assert_answered(const struct built_messages *b, size_t at)
{
    const struct message *m = b->items[at];
    size_t next = at + 1;

    for (size_t i = 0; i < m->n_parts; i++) {
        if (m->parts[i].kind != PART_TOOL_CALL)
            continue;
        assert_true(next < b->n);
        assert_int_equal(b->items[next]->role, ROLE_TOOL);
        assert_int_equal(b->items[next]->n_parts, 1);
        assert_true(str_eq(b->items[next]->parts[0].id, m->parts[i].id));
        for (size_t k = 0; k < i; k++)
            if (m->parts[k].kind == PART_TOOL_CALL)
                assert_false(str_eq(m->parts[k].id, m->parts[i].id));
        next++;
    }
    return next;
}

static void assert_valid(const struct built_messages *b)
{
    assert_true(b->n > 0);
    assert_int_equal(b->items[0]->role, ROLE_USER);
    assert_int_not_equal(b->items[b->n - 1]->role, ROLE_ASSISTANT);
    for (size_t i = 0; i < b->n;) {
        assert_true(b->items[i]->n_parts > 0);
        assert_int_not_equal(b->items[i]->role, ROLE_TOOL); /* those are passed over below */
        assert_int_not_equal(b->items[i]->role, ROLE_SYSTEM);
        i = b->items[i]->role == ROLE_ASSISTANT ? assert_answered(b, i) : i + 1;
    }
}

static void assert_encodes(const struct built_messages *b)
{
    static const struct dialect plain;

    for (size_t i = 0; protocols[i]; i++) {
        AUTO(arena) struct arena a = {0};
        AUTO(strbuf) struct strbuf body = {0};
        struct model_request r = {.provider = S("p"),
                                  .protocol = S("x"),
                                  .model = S("m"),
                                  .system = b->system,
                                  .messages = (const struct message *const *)b->items,
                                  .n_messages = b->n};
        struct json *v;

        assert_ok(protocols[i]->encode(&r, &plain, &body));
        assert_ok(json_parse(&a, strbuf_str(&body), JSON_UNIQUE_KEYS, &v));
    }
}

/* What a shorter history gave stands at the beginning of what a longer one gives. */
static void assert_extends(const struct built_messages *shorter,
                           const struct built_messages *longer)
{
    size_t n = shorter->n;

    if (str_is(shorter->items[n - 1]->id, "continue"))
        n--;
    assert_true(n <= longer->n);
    for (size_t i = 0; i < n; i++) {
        AUTO(strbuf) struct strbuf a = {0}, b = {0};
        struct json_writer w;

        jw_init(&w, &a);
        message_write(&w, shorter->items[i]);
        jw_init(&w, &b);
        message_write(&w, longer->items[i]);
        assert_str(strbuf_str(&a), strbuf_cstr(&b));
    }
}

TEST(any_history_gives_a_request_that_strict_providers_take)
{
    struct seeded_random seeded;
    struct message *list[12];

    seeded_random_init(&seeded, 20261115);
    for (int round = 0; round < 4000; round++) {
        size_t n = 1 + random_below(&seeded.random, ARRAY_LEN(list));
        AUTO(built_messages) struct built_messages whole, half;
        size_t cut = 0;

        for (size_t i = 0; i < n; i++) {
            list[i] = random_message(&seeded.random);
            if (i && list[i]->role == ROLE_ASSISTANT && !list[i]->is_error &&
                list[i - 1]->role != ROLE_SYSTEM)
                cut = i; /* before it all results of the round before are there */
        }
        request_build((const struct message *const *)list, n, &any, NULL, 0, &whole);
        request_build((const struct message *const *)list, cut, &any, NULL, 0, &half);
        assert_valid(&whole);
        assert_valid(&half);
        assert_encodes(&whole);
        assert_extends(&half, &whole);
        for (size_t i = 0; i < n; i++)
            message_unref(list[i]);
    }
}

RUN_TESTS(UNIT(a_plain_conversation_stays_as_it_is),
          UNIT(results_follow_their_calls_in_the_order_of_the_calls),
          UNIT(a_call_without_a_result_gets_one_and_a_result_without_a_call_goes),
          UNIT(a_result_that_came_late_stands_where_it_must),
          UNIT(repeated_ids_are_told_apart_within_a_message_and_over_messages),
          UNIT(an_interrupted_answer_says_so),
          UNIT(errors_for_people_and_empty_messages_are_left_out),
          UNIT(a_summary_at_the_start_and_an_answer_at_the_end_are_framed),
          UNIT(reasoning_goes_back_only_to_its_provider),
          UNIT(media_that_a_model_cannot_take_are_named),
          UNIT(media_that_a_protocol_cannot_take_are_named),
          UNIT(a_result_behind_a_message_about_an_error_is_found),
          UNIT(a_result_that_says_nothing_says_so),
          UNIT(thinking_stays_where_nothing_before_it_has_changed),
          UNIT(an_answer_does_not_end_with_thinking),
          UNIT(a_use_of_a_server_tool_goes_with_its_result_or_not_at_all),
          UNIT(a_paused_answer_goes_back_as_it_is_and_stays_so),
          UNIT(a_result_that_is_an_error_is_all_text),
          UNIT(a_name_that_no_tool_could_have_is_made_one_in_call_and_result),
          UNIT(thousands_of_calls_with_one_id_get_ids_of_their_own),
          UNIT(overlays_stand_at_the_end_of_one_request),
          UNIT(any_history_gives_a_request_that_strict_providers_take))
