/* grapheme_test.c - clusters against the files that Unicode publishes, in Debian's unicode-data. */
#include "test.h"

#include "base/grapheme.h"
#include "base/utf8.h"
#include "base/width.h"

#include <stdlib.h>

#define FOLDER "/usr/share/unicode/"

static struct strbuf read_published(const char *path)
{
    FILE *file = fopen(path, "r");

    if (!file) {
        print_message("[ SKIPPED because %s is not there: install unicode-data ]\n", path);
        skip();
    }
    fclose(file);
    return read_file(path);
}

static void add_char(struct strbuf *out, struct str hex)
{
    AUTO_FREE char *digits = str_dup(hex);
    char bytes[4];

    strbuf_add(out, str_make(bytes, utf8_encode((uint32_t)strtoul(digits, NULL, 16), bytes)));
}

/* "÷ 0020 × 0308 ÷": the text in `all`, and in `marked` a bar after each cluster. */
static void read_case(struct str line, struct strbuf *all, struct strbuf *marked)
{
    struct str word;

    while (str_split(&line, ' ', &word)) {
        if (str_is(word, "÷") && all->n)
            strbuf_add_char(marked, '|');
        else if (word.n && !str_is(word, "÷") && !str_is(word, "×")) {
            add_char(all, word);
            add_char(marked, word);
        }
    }
}

static void mark_clusters(struct str text, struct strbuf *out)
{
    while (text.n) {
        unsigned columns;
        size_t n = grapheme_first(text, &columns);

        assert_in_range(n, 1, text.n);
        assert_in_range(columns, 0, 2);
        strbuf_add(out, str_slice(text, 0, n));
        strbuf_add_char(out, '|');
        text = str_skip(text, n);
    }
}

TEST(the_published_breaks_are_found)
{
    AUTO(strbuf) struct strbuf file = read_published(FOLDER "auxiliary/GraphemeBreakTest.txt");
    struct str rest = strbuf_str(&file), line;
    size_t n = 0;

    while (str_split(&rest, '\n', &line)) {
        AUTO(strbuf) struct strbuf all = {0}, want = {0}, got = {0};

        line = str_trim(str_slice(line, 0, MIN(str_find_char(line, '#'), line.n)));
        if (!line.n)
            continue;
        read_case(line, &all, &want);
        mark_clusters(strbuf_str(&all), &got);
        if (!str_eq(strbuf_str(&got), strbuf_str(&want)))
            fail_msg("%.*s", (int)line.n, line.p);
        n++;
    }
    assert_in_range(n, 600, 100000);
}

/* "1F44D 1F3FD ; fully-qualified # ..." */
TEST(every_published_emoji_is_one_cluster_of_two_columns)
{
    AUTO(strbuf) struct strbuf file = read_published(FOLDER "emoji/emoji-test.txt");
    struct str rest = strbuf_str(&file), line;
    size_t n = 0;

    while (str_split(&rest, '\n', &line)) {
        AUTO(strbuf) struct strbuf text = {0};
        struct str codes, word;
        unsigned columns;

        if (str_find(line, S("; fully-qualified")) == STR_NONE)
            continue;
        codes = str_trim(str_slice(line, 0, str_find_char(line, ';')));
        while (str_split(&codes, ' ', &word))
            add_char(&text, word);
        if (grapheme_first(strbuf_str(&text), &columns) != text.n || columns != 2)
            fail_msg("%.*s: %u columns", (int)line.n, line.p, columns);
        n++;
    }
    assert_in_range(n, 3000, 100000);
}

TEST(consonants_join_over_a_virama)
{
    AUTO(strbuf) struct strbuf got = {0};

    mark_clusters(S("\u0915\u094D\u0924"), &got);
    strbuf_add_char(&got, ' ');
    mark_clusters(S("\u0915\u094D\u200D\u0924"), &got);
    strbuf_add_char(&got, ' ');
    mark_clusters(S("\u0915\u094Da"), &got);
    strbuf_add_char(&got, ' ');
    mark_clusters(S("\u0915\u0924"), &got);
    assert_str(strbuf_str(&got), "\u0915\u094D\u0924| \u0915\u094D\u200D\u0924| \u0915\u094D|a| "
                                 "\u0915|\u0924|");
}

TEST(bytes_that_are_no_text_stand_alone)
{
    AUTO(strbuf) struct strbuf got = {0};
    unsigned columns;

    mark_clusters(S("\xFF\u0301\xE2\x80"), &got);
    assert_str(strbuf_str(&got), "\xFF|\u0301|\xE2|\x80|");
    assert_int_equal(grapheme_first(S(""), &columns), 0);
    assert_int_equal(columns, 0);
}

RUN_TESTS(UNIT(the_published_breaks_are_found),
          UNIT(every_published_emoji_is_one_cluster_of_two_columns),
          UNIT(consonants_join_over_a_virama), UNIT(bytes_that_are_no_text_stand_alone))
