/* secrets_test.c */
#include "test.h"

#include "base/base64.h"
#include "base/secrets.h"

#define KEY "sk-ant-4711-Hush+Hush/Hush="
#define OTHER "gsk_0815zzYYxx"

static const struct secret_value known[] = {
    {S("ANTHROPIC_API_KEY"), S(KEY)},
    {S("GROQ_API_KEY"), S(OTHER)},
};

static struct secrets *make(void)
{
    return secrets_new(known, ARRAY_LEN(known));
}

static void assert_hidden_by(const struct secrets *s, struct str text, const char *shown)
{
    AUTO(strbuf) struct strbuf out = {0};

    assert_str(secrets_hide(s, text, &out, NULL), shown);
}

static void assert_hidden(const char *text, const char *shown)
{
    AUTO(secrets) struct secrets *s = make();

    assert_hidden_by(s, str_of(text), shown);
}

TEST(a_value_is_hidden_wherever_it_stands)
{
    assert_hidden(KEY, "[REDACTED]");
    assert_hidden("key=" KEY "!", "key=[REDACTED]!");
    assert_hidden(KEY KEY, "[REDACTED][REDACTED]");
    assert_hidden(OTHER " and " KEY " and " OTHER, "[REDACTED] and [REDACTED] and [REDACTED]");
    assert_hidden("sk-ant-4711-Hush+Hus" KEY, "sk-ant-4711-Hush+Hus[REDACTED]");
}

TEST(a_text_without_secrets_is_not_copied)
{
    AUTO(secrets) struct secrets *s = make();
    AUTO(strbuf) struct strbuf out = {0};
    struct str text = S("sk-ant-4711-Hush+Hush/Hush, and other words s");
    uint64_t found = 0;

    assert_ptr_equal(secrets_hide(s, text, &out, &found).p, text.p);
    assert_int_equal(found, 0);
    assert_null(out.p);
}

TEST(what_was_found_is_told_by_name)
{
    AUTO(secrets) struct secrets *s = make();
    AUTO(strbuf) struct strbuf out = {0}, names = {0};
    uint64_t found = 0;

    secrets_hide(s, S("a " OTHER), &out, &found);
    secrets_add_names(s, found, &names);
    assert_str(strbuf_str(&names), "GROQ_API_KEY");
    secrets_hide(s, S("a " KEY), &out, &found);
    strbuf_clear(&names);
    secrets_add_names(s, found, &names);
    assert_str(strbuf_str(&names), "ANTHROPIC_API_KEY, GROQ_API_KEY");
}

TEST(more_names_than_bits_are_told_as_others)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf out = {0}, names = {0};
    struct secret_value many[100];
    uint64_t found = 0;

    for (size_t i = 0; i < ARRAY_LEN(many); i++)
        many[i] = (struct secret_value){arena_format(&a, "N%zu", i),
                                        arena_format(&a, "value-%zu-of-many", i)};
    AUTO(secrets) struct secrets *s = secrets_new(many, ARRAY_LEN(many));

    for (size_t i = 0; i < ARRAY_LEN(many); i++)
        assert_hidden_by(s, many[i].value, "[REDACTED]");
    secrets_hide(s, S("value-62-of-many value-63-of-many value-99-of-many"), &out, &found);
    secrets_add_names(s, found, &names);
    assert_str(strbuf_str(&names), "N62, others");
}

TEST(values_that_could_stand_anywhere_are_not_looked_for)
{
    static const char *const values[] = {"",
                                         "1234567",
                                         "       secret       ",
                                         "aaaaaaaaaaaaaaaa",
                                         "ababababcc",
                                         "undefined",
                                         "PASSWORD",
                                         "Not-Needed"};

    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        struct secret_value v = {S("X"), str_of(values[i])};

        assert_null(secrets_new(&v, 1));
    }
}

TEST(white_space_around_a_value_and_the_scheme_of_a_header_do_not_count)
{
    struct secret_value v[] = {{S("A"), S("  12345abcde\n")}, {S("B"), S("Bearer tok-98765")}};
    AUTO(secrets) struct secrets *s = secrets_new(v, ARRAY_LEN(v));

    assert_hidden_by(s, S("<12345abcde>"), "<[REDACTED]>");
    assert_hidden_by(s, S("x: Bearer tok-98765"), "x: [REDACTED]");
    assert_hidden_by(s, S("x: tok-98765"), "x: [REDACTED]");
    assert_hidden_by(s, S("x: Bearer tok"), "x: Bearer tok");
}

TEST(a_set_that_is_not_there_hides_nothing)
{
    AUTO(strbuf) struct strbuf out = {0};
    AUTO(err) struct err *e = err_new(ERR_INTERNAL, "%s", KEY);
    struct secrets_stream stream = {0};

    assert_false(secrets_has(NULL, S(KEY)));
    assert_hidden_by(NULL, S(KEY), KEY);
    assert_str(secrets_stream_add(&stream, S(KEY), &out), KEY);
    assert_str(secrets_stream_end(&stream, &out), "");
    secrets_hide_in_err(NULL, e);
    assert_string_equal(e->text, KEY);
    assert_null(secrets_ref(NULL));
    secrets_unref(NULL);
}

/* --- spellings --- */

TEST(escaped_and_percent_encoded_values_are_found)
{
    struct secret_value v = {S("X"), S("p\"ass\\wo/rd\n1")};
    AUTO(secrets) struct secrets *s = secrets_new(&v, 1);

    assert_hidden_by(s, S("{\"a\":\"p\\\"ass\\\\wo/rd\\n1\"}"), "{\"a\":\"[REDACTED]\"}");
    assert_hidden_by(s, S("?q=p%22ass%5Cwo%2Frd%0A1&"), "?q=[REDACTED]&");
    assert_hidden_by(s, S("?q=p%22ass%5cwo%2frd%0a1&"), "?q=[REDACTED]&");
}

/* Up to two bytes at either end share a letter with what stands beside them. */
static void assert_base64_hidden(const char *before, const char *after)
{
    AUTO(secrets) struct secrets *s = make();
    AUTO(strbuf) struct strbuf text = {0}, standard = {0}, url = {0}, out = {0};
    struct strbuf *both[] = {&standard, &url};

    strbuf_addf(&text, "%s" KEY "%s", before, after);
    base64_add(&standard, strbuf_str(&text));
    base64url_add(&url, strbuf_str(&text));
    for (size_t i = 0; i < ARRAY_LEN(both); i++) {
        struct str shown = secrets_hide(s, strbuf_str(both[i]), &out, NULL);

        assert_true(str_find(shown, S("[REDACTED]")) != STR_NONE);
        assert_true(shown.n <= strlen("[REDACTED]") + (strlen(before) + strlen(after) + 8) * 4 / 3);
    }
}

TEST(base64_of_a_value_is_found_whatever_stands_around_it)
{
    assert_base64_hidden("", "");
    assert_base64_hidden(":", "");
    assert_base64_hidden("", ":");
    assert_base64_hidden("me:", "");
    assert_base64_hidden("user:", "");
    assert_base64_hidden("someone:", "\n");
}

/* --- overlaps --- */

TEST(values_within_and_over_each_other_leave_nothing_behind)
{
    struct secret_value v[] = {{S("A"), S("abcdefghij")},
                               {S("B"), S("ghijklmnop")},
                               {S("C"), S("user:abcdefghij@host")},
                               {S("D"), S("abcdefghijXYZ-long")}};
    AUTO(secrets) struct secrets *s = secrets_new(v, ARRAY_LEN(v));

    assert_hidden_by(s, S("-abcdefghijklmnop-"), "-[REDACTED]-");
    assert_hidden_by(s, S("user:abcdefghij@host"), "[REDACTED]");
    assert_hidden_by(s, S("abcdefghijXYZ-long"), "[REDACTED]");
    assert_hidden_by(s, S("abcdefghijXYZ-lost"), "[REDACTED]XYZ-lost");
    assert_hidden_by(s, S("user abcdefghij@host"), "user [REDACTED]@host");
    /* it may have begun another one, and what that shows of it is not to be seen either */
    assert_hidden_by(s, S("user:abcdefghij@home"), "[REDACTED]@home");
}

/* --- pieces --- */

static void feed(struct secrets_stream *stream, struct str piece, struct strbuf *all)
{
    AUTO(strbuf) struct strbuf out = {0};

    strbuf_add(all, secrets_stream_add(stream, piece, &out));
}

static void feed_end(struct secrets_stream *stream, struct strbuf *all)
{
    AUTO(strbuf) struct strbuf out = {0};

    strbuf_add(all, secrets_stream_end(stream, &out));
}

TEST(a_value_split_over_pieces_is_found)
{
    AUTO(secrets) struct secrets *s = make();

    for (size_t at = 1; at < strlen(KEY); at++) {
        struct secrets_stream stream = {.set = s};
        AUTO(strbuf) struct strbuf all = {0};

        feed(&stream, S("the key is "), &all);
        feed(&stream, str_slice(S(KEY), 0, at), &all);
        assert_str(strbuf_str(&all), "the key is ");
        feed(&stream, str_skip(S(KEY), at), &all);
        feed(&stream, S("."), &all);
        feed_end(&stream, &all);
        assert_str(strbuf_str(&all), "the key is [REDACTED].");
        assert_int_equal(stream.found, 1);
    }
}

TEST(what_turns_out_to_be_none_is_given_out_with_the_next_piece)
{
    AUTO(secrets) struct secrets *s = make();
    struct secrets_stream stream = {.set = s};
    AUTO(strbuf) struct strbuf out = {0};

    assert_str(secrets_stream_add(&stream, S("this is"), &out), "this i");
    assert_str(secrets_stream_add(&stream, S("k"), &out), "");
    assert_str(secrets_stream_add(&stream, S("-"), &out), "");
    assert_str(secrets_stream_add(&stream, S("it"), &out), "sk-it");
    assert_str(secrets_stream_add(&stream, S("s"), &out), "");
    assert_str(secrets_stream_end(&stream, &out), "s");
    assert_str(secrets_stream_end(&stream, &out), "");
    assert_int_equal(stream.found, 0);
}

TEST(a_piece_in_which_nothing_begins_is_not_copied)
{
    AUTO(secrets) struct secrets *s = make();
    struct secrets_stream stream = {.set = s};
    AUTO(strbuf) struct strbuf out = {0};
    struct str piece = S("Hello, world");

    assert_ptr_equal(secrets_stream_add(&stream, piece, &out).p, piece.p);
    assert_null(out.p);
}

/* --- anything --- */

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static size_t below(uint64_t *state, size_t n)
{
    return (size_t)(next_random(state) % n);
}

#define MAX_VALUES 6

/* Of few letters, so that they hold each other's pieces. */
static struct str random_text(uint64_t *state, struct arena *a, size_t n)
{
    char *p = arena_alloc(a, n + 1);

    for (size_t i = 0; i < n; i++)
        p[i] = "abcde"[below(state, 5)];
    return str_make(p, n);
}

static size_t random_values(uint64_t *state, struct arena *a, struct secret_value *values)
{
    size_t n = 1 + below(state, MAX_VALUES);

    for (size_t i = 0; i < n; i++)
        values[i] = (struct secret_value){S("X"), random_text(state, a, 8 + below(state, 8))};
    return n;
}

static void add_random(uint64_t *state, struct arena *a, const struct secret_value *values,
                       size_t n_values, struct strbuf *text)
{
    for (size_t i = below(state, 12); i > 0; i--) {
        struct str value = values[below(state, n_values)].value;
        size_t from = below(state, 3) ? 0 : below(state, value.n);

        strbuf_add(text, random_text(state, a, below(state, 20)));
        strbuf_add(text, str_slice(value, from, 1 + below(state, value.n)));
        strbuf_add(text, below(state, 2) ? value : (struct str){0});
    }
}

static void stream_in_pieces(uint64_t *state, const struct secrets *s, struct str text,
                             struct strbuf *all)
{
    struct secrets_stream stream = {.set = s};

    while (text.n) {
        size_t n = 1 + below(state, 12);

        feed(&stream, str_slice(text, 0, n), all);
        text = str_skip(text, n);
    }
    feed_end(&stream, all);
}

/* Slow and plain: is a byte of the text in any value that stands there? */
static size_t count_hidden(const struct secret_value *values, size_t n_values, struct str text)
{
    AUTO_FREE bool *is_hidden = mem_alloc(text.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < n_values; i++)
        for (size_t at = 0; at < text.n; at++)
            if (str_starts(str_skip(text, at), values[i].value))
                memset(is_hidden + at, true, values[i].value.n);
    for (size_t at = 0; at < text.n; at++)
        n += is_hidden[at];
    return n;
}

static size_t count_shown(struct str shown)
{
    size_t n = shown.n, at;

    while ((at = str_find(shown, S("[REDACTED]"))) != STR_NONE) {
        shown = str_skip(shown, at + strlen("[REDACTED]"));
        n -= strlen("[REDACTED]");
    }
    return n;
}

TEST(no_value_is_left_in_any_text_however_it_is_cut)
{
    uint64_t seed = 4711;

    for (int round = 0; round < 4000; round++) {
        AUTO(arena) struct arena a = {0};
        AUTO(strbuf) struct strbuf text = {0}, out = {0}, pieces = {0};
        struct secret_value values[MAX_VALUES];
        size_t n_values = random_values(&seed, &a, values);
        AUTO(secrets) struct secrets *s = secrets_new(values, n_values);
        size_t n_hidden;
        struct str shown;

        add_random(&seed, &a, values, n_values, &text);
        for (size_t i = 0; i < n_values; i++) /* what is not worth hiding is not hidden */
            if (!secrets_has(s, values[i].value))
                values[i].value = S("no such text");
        shown = secrets_hide(s, strbuf_str(&text), &out, NULL);
        n_hidden = count_hidden(values, n_values, strbuf_str(&text));
        for (size_t i = 0; i < n_values; i++)
            assert_true(str_find(shown, values[i].value) == STR_NONE);
        if (n_hidden == 0)
            assert_true(str_eq(shown, strbuf_str(&text)));
        /* the begin of a value before another one goes with it */
        assert_true(count_shown(shown) <= text.n - n_hidden);
        stream_in_pieces(&seed, s, strbuf_str(&text), &pieces);
        assert_str(strbuf_str(&pieces), strbuf_cstr(n_hidden ? &out : &text));
    }
}

/* --- errors and JSON --- */

TEST(errors_are_told_without_secrets)
{
    AUTO(secrets) struct secrets *s = make();
    AUTO(err)
    struct err *e = err_wrap(
        err_hint(err_new(ERR_PROVIDER_AUTH, "Incorrect API key: %s", KEY), "is %s right?", OTHER),
        "groq");
    AUTO_FREE char *text = NULL;

    secrets_hide_in_err(s, e);
    text = err_message(e);
    assert_string_equal(text, "groq: Incorrect API key: [REDACTED]");
    assert_string_equal(err_find_hint(e), "is [REDACTED] right?");
}

static const char *hidden_json(struct arena *a, const struct secrets *s, const char *text)
{
    AUTO(strbuf) struct strbuf out = {0};
    uint64_t found = 0;

    return arena_cstr(a, secrets_hide_in_json_text(s, str_of(text), &out, &found));
}

TEST(json_stays_json)
{
    struct secret_value v[] = {
        {S("A"), S("nabcdefgh")}, {S("B"), S("1234509876")}, {S("C"), S("{\"type\":\"account\"}")}};
    AUTO(secrets) struct secrets *s = secrets_new(v, ARRAY_LEN(v));
    AUTO(arena) struct arena a = {0};

    assert_string_equal(hidden_json(&a, s, "{\"x\":\"\\nabcdefgh\"}"), "{\"x\":\"\\nabcdefgh\"}");
    assert_string_equal(hidden_json(&a, s, "{\"x\":[\"-nabcdefgh\",{\"nabcdefgh\":0}]}"),
                        "{\"x\":[\"-[REDACTED]\",{\"[REDACTED]\":0}]}");
    assert_string_equal(hidden_json(&a, s, "{\"id\":1234509876,\"t\":\"1234509876\"}"),
                        "{\"id\":1234509876,\"t\":\"[REDACTED]\"}");
    assert_string_equal(hidden_json(&a, s, "[{\"type\":\"account\"}]"), "[{\"type\":\"account\"}]");
    assert_string_equal(hidden_json(&a, s, "no json: nabcdefgh"), "no json: [REDACTED]");
}

/* What is read from bytes that were hidden must be what was hidden after it was read. */
TEST(json_keeps_its_white_space_and_its_numbers)
{
    struct secret_value v[] = {{S("A"), S("nabcdefgh")}, {S("B"), S("one\", \"two2")}};
    AUTO(secrets) struct secrets *s = secrets_new(v, ARRAY_LEN(v));
    AUTO(arena) struct arena a = {0};

    assert_string_equal(hidden_json(&a, s, "{ \"x\": \"a nabcdefgh\",\n \"n\": 1.50e1 }"),
                        "{ \"x\": \"a [REDACTED]\",\n \"n\": 1.50e1 }");
    /* a value that would take the end of a string along */
    assert_string_equal(hidden_json(&a, s, "[\"one\", \"two2\", \"-nabcdefgh\"]"),
                        "[\"one\",\"two2\",\"-[REDACTED]\"]");
}

TEST(names_of_credentials_are_known_in_all_their_spellings)
{
    static const char *const secret[] = {
        "apiKey",
        "api_key",
        "API-KEY",
        "xApiKey",
        "x-api-key",
        "X-Api-Key",
        "authorization",
        "Authorization",
        "accessToken",
        "access_token",
        "refresh-token",
        "secret",
        "SECRET",
        "client_secret",
        "clientSecret",
        "password",
        "Proxy-Authorization",
        "Set-Cookie",
        "private_key",
        "passphrase",
        "api_token",
        "webhook_secret",
    };
    static const char *const harmless[] = {
        "",
        "tokens",
        "maxTokens",
        "max_tokens",
        "secretary",
        "passwordless",
        "key",
        "keys",
        "apiKeySource",
        "authorized",
        "token_count",
        "secrets",
        "cookieJar",
        "passwords_changed",
        "input_tokens",
        "is_secret",
        "monkey",
        "an_api_key_that_is_longer_than_any_name_of_the_list_could_ever_be_at_all",
    };

    for (size_t i = 0; i < ARRAY_LEN(secret); i++)
        if (!key_is_secret(str_of(secret[i])))
            fail_msg("%s is a secret's name", secret[i]);
    for (size_t i = 0; i < ARRAY_LEN(harmless); i++)
        if (key_is_secret(str_of(harmless[i])))
            fail_msg("%s is no secret's name", harmless[i]);
}

static void assert_keys_hidden(const char *text, const char *shown)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf out = {0};
    struct json *v;

    assert_ok(json_parse(&a, str_of(text), 0, &v));
    json_write(&out, json_hide_secret_keys(&a, v));
    assert_str(strbuf_str(&out), shown);
}

TEST(what_stands_under_such_a_name_is_hidden_at_any_depth)
{
    assert_keys_hidden(
        "{\"a\":[{\"headers\":{\"Authorization\":\"Bearer x\",\"Accept\":\"y\"}}]}",
        "{\"a\":[{\"headers\":{\"Authorization\":\"[REDACTED]\",\"Accept\":\"y\"}}]}");
    assert_keys_hidden("{\"password\":1234,\"secret\":true,\"token\":null}",
                       "{\"password\":\"[REDACTED]\",\"secret\":\"[REDACTED]\",\"token\":null}");
    assert_keys_hidden("{\"apiKey\":[\"a\",[\"b\"],{\"name\":\"c\"}]}",
                       "{\"apiKey\":[\"[REDACTED]\",[\"[REDACTED]\"],{\"name\":\"c\"}]}");
    assert_keys_hidden("{\"credentials\":{\"user\":\"u\",\"password\":\"p\"}}",
                       "{\"credentials\":{\"user\":\"u\",\"password\":\"[REDACTED]\"}}");
    assert_keys_hidden("[\"secret\",{\"maxTokens\":5}]", "[\"secret\",{\"maxTokens\":5}]");
}

TEST(json_without_such_names_is_not_copied)
{
    AUTO(arena) struct arena a = {0};
    struct json *v;

    assert_ok(json_parse(&a, S("{\"max_tokens\":5}"), 0, &v));
    assert_ptr_equal(json_hide_secret_keys(&a, v), v);
    assert_null(json_hide_secret_keys(&a, NULL));
}

TEST(what_is_learnt_later_is_hidden_from_then_on)
{
    AUTO(secrets) struct secrets *s = secrets_new_growing(NULL, 0);
    AUTO(strbuf) struct strbuf out = {0}, names = {0};
    uint64_t found = 0;

    assert_non_null(s);
    assert_false(secrets_has(s, S("the first-key-1 and second-key-2")));
    secrets_learn(s, &(struct secret_value){S("first"), S(" first-key-1\n")});
    secrets_learn(s, &(struct secret_value){S("first"), S("first-key-1")});
    secrets_learn(s, &(struct secret_value){S("second"), S("second-key-2")});
    assert_str(secrets_hide(s, S("the first-key-1 and second-key-2"), &out, &found),
               "the [REDACTED] and [REDACTED]");
    secrets_add_names(s, found, &names);
    assert_str(strbuf_str(&names), "first, second");
    secrets_learn(NULL, &(struct secret_value){S("x"), S("third-key-3")});
}

TEST(a_stream_that_has_begun_a_value_ends_it_though_more_is_learnt)
{
    static const struct secret_value first = {S("a"), S("first-key-1")};
    AUTO(secrets) struct secrets *s = secrets_new_growing(&first, 1);
    struct secrets_stream stream = {.set = s};
    AUTO(strbuf) struct strbuf out = {0}, all = {0};

    strbuf_add(&all, secrets_stream_add(&stream, S("x first-"), &out));
    secrets_learn(s, &(struct secret_value){S("b"), S("second-key-2")});
    strbuf_add(&all, secrets_stream_add(&stream, S("key-1 y"), &out));
    strbuf_add(&all, secrets_stream_add(&stream, S(" second-key-2 z"), &out));
    strbuf_add(&all, secrets_stream_end(&stream, &out));
    assert_str(strbuf_str(&all), "x [REDACTED] y [REDACTED] z");
}

RUN_TESTS(UNIT(what_is_learnt_later_is_hidden_from_then_on),
          UNIT(a_stream_that_has_begun_a_value_ends_it_though_more_is_learnt),
          UNIT(a_value_is_hidden_wherever_it_stands), UNIT(a_text_without_secrets_is_not_copied),
          UNIT(what_was_found_is_told_by_name), UNIT(more_names_than_bits_are_told_as_others),
          UNIT(values_that_could_stand_anywhere_are_not_looked_for),
          UNIT(white_space_around_a_value_and_the_scheme_of_a_header_do_not_count),
          UNIT(a_set_that_is_not_there_hides_nothing),
          UNIT(escaped_and_percent_encoded_values_are_found),
          UNIT(base64_of_a_value_is_found_whatever_stands_around_it),
          UNIT(values_within_and_over_each_other_leave_nothing_behind),
          UNIT(a_value_split_over_pieces_is_found),
          UNIT(what_turns_out_to_be_none_is_given_out_with_the_next_piece),
          UNIT(a_piece_in_which_nothing_begins_is_not_copied),
          UNIT(no_value_is_left_in_any_text_however_it_is_cut),
          UNIT(errors_are_told_without_secrets), UNIT(json_stays_json),
          UNIT(json_keeps_its_white_space_and_its_numbers),
          UNIT(names_of_credentials_are_known_in_all_their_spellings),
          UNIT(what_stands_under_such_a_name_is_hidden_at_any_depth),
          UNIT(json_without_such_names_is_not_copied))
