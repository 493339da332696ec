/* log_test.c */
#include "test.h"

#include "sys/log.h"

static void collect(void *self, enum log_level level, struct str line)
{
    strbuf_add(self, line);
}

static struct log *make(struct strbuf *out, enum log_format format, const struct clock *clock)
{
    return log_new(LOG_INFO, format, clock, (struct log_sink){collect, out});
}

TEST(an_event_is_one_line_whatever_it_holds)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct virtual_clock clock;
    virtual_clock_init(&clock, 0);
    AUTO(log) struct log *l = make(&out, LOG_TEXT, &clock.clock);

    LOG_EVENT(l, LOG_WARN, "two\nlines", {"plain", S("x")}, {"odd", S("a b\n\"")},
              {"empty", S("")});
    LOG_EVENT(l, LOG_DEBUG, "too detailed", {"k", S("v")});
    assert_str(strbuf_str(&out),
               "1970-01-01T00:00:00.000Z warn  two lines plain=x odd=\"a b\\n\\\"\" empty=\"\"\n");
}

TEST(secrets_never_appear)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct virtual_clock clock;
    virtual_clock_init(&clock, 0);
    struct secret_value key = {S("KEY"), S("sk-verysecret")};
    AUTO(secrets) struct secrets *secrets = secrets_new(&key, 1);
    AUTO(log) struct log *l = make(&out, LOG_JSON, &clock.clock);

    log_hide(l, secrets);
    LOG_EVENT(l, LOG_INFO, "key sk-verysecret twice sk-verysecret", {"apiKey", S("anything")},
              {"X-Api-Key", S("other")}, {"url", S("http://h/?k=sk-verysecret&x")},
              {"max_tokens", S("5")});
    assert_str(strbuf_str(&out),
               "{\"time\":\"1970-01-01T00:00:00.000Z\",\"level\":\"info\",\"message\":\"key "
               "[REDACTED] twice [REDACTED]\",\"apiKey\":\"[REDACTED]\",\"X-Api-Key\":"
               "\"[REDACTED]\",\"url\":\"http://h/?k=[REDACTED]&x\",\"max_tokens\":\"5\"}\n");
}

TEST(an_event_that_is_too_large_is_told_instead_of_cut)
{
    AUTO(strbuf) struct strbuf out = {0}, big = {0};
    AUTO(log) struct log *l = make(&out, LOG_JSON, NULL);

    for (int i = 0; i < 100000; i++)
        strbuf_add_char(&big, 'x');
    LOG_EVENT(l, LOG_INFO, "m", {"big", strbuf_str(&big)});
    assert_true(str_find(strbuf_str(&out), S("too large for the log")) != STR_NONE);
    assert_true(str_ends(strbuf_str(&out), S("\"}\n")));
    log_printf(NULL, LOG_ERROR, "nobody listens");
}

TEST(levels_have_names)
{
    enum log_level level;

    assert_true(log_level_find(S("WARN"), &level) && level == LOG_WARN);
    assert_false(log_level_find(S("loud"), &level));
}

RUN_TESTS(UNIT(an_event_is_one_line_whatever_it_holds), UNIT(secrets_never_appear),
          UNIT(an_event_that_is_too_large_is_told_instead_of_cut), UNIT(levels_have_names))
