/* lines_test.c */
#include "test.h"

#include "net/lines.h"

static const size_t steps[] = {1, 2, 3, SIZE_MAX};

/* The lines in brackets; an unterminated last one in parentheses. */
static struct err *read_lines(struct str body, size_t max_line_bytes, size_t step,
                              struct strbuf *out)
{
    AUTO(line_reader) struct line_reader r;
    struct str line;

    lines_init(&r, max_line_bytes);
    for (; body.n; body = str_skip(body, step)) {
        bool has_line = true;

        lines_feed(&r, str_slice(body, 0, step));
        while (has_line) {
            TRY(lines_next(&r, &line, &has_line));
            if (has_line)
                strbuf_addf(out, "[%" STR_FMT "]", STR_ARG(line));
        }
    }
    if (lines_end(&r, &line))
        strbuf_addf(out, "(%" STR_FMT ")", STR_ARG(line));
    assert_false(lines_end(&r, &line));
    return NULL;
}

static void check(struct str body, const char *want)
{
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        AUTO(strbuf) struct strbuf got = {0};
        assert_ok(read_lines(body, 100, steps[i], &got));
        assert_str(strbuf_str(&got), want);
    }
}

TEST(lines_are_the_same_however_the_bytes_are_cut)
{
    check(S("{\"a\":1}\n{\"b\":2}\r\n\n\r\nlast\n"), "[{\"a\":1}][{\"b\":2}][][][last]");
}

TEST(a_last_line_without_its_end_is_handed_out)
{
    check(S("one\ntwo"), "[one](two)");
    check(S("one\ntwo\r"), "[one](two)");
    check(S("one\n"), "[one]");
}

TEST(a_cr_inside_a_line_belongs_to_it)
{
    check(S("a\rb\r\r\n"), "[a\rb\r]");
}

TEST(a_line_may_reach_the_cap_but_not_pass_it)
{
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        AUTO(strbuf) struct strbuf got = {0};
        assert_ok(read_lines(S("1234\r\n1234\n"), 4, steps[i], &got));
        assert_str(strbuf_str(&got), "[1234][1234]");
        assert_err(read_lines(S("12345\n"), 4, steps[i], &got), ERR_VALIDATION);
        assert_err(read_lines(S("12345"), 4, steps[i], &got), ERR_VALIDATION);
    }
}

RUN_TESTS(UNIT(lines_are_the_same_however_the_bytes_are_cut),
          UNIT(a_last_line_without_its_end_is_handed_out), UNIT(a_cr_inside_a_line_belongs_to_it),
          UNIT(a_line_may_reach_the_cap_but_not_pass_it))
