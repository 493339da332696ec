/* event_frames_test.c */
#include "test.h"

#include "base/crc32.h"
#include "net/event_frames.h"

#define FRAME(text) str_make(text, sizeof text - 1)
#define MAX_BYTES 4096

/* AWS's own examples: nothing in it, a payload, a payload with a header. */
static const char empty[] = "\0\0\0\x10\0\0\0\0\x05\xc2\x48\xeb\x7d\x98\xc8\xff";
static const char payload[] = "\0\0\0\x1d\0\0\0\0\xfd\x52\x8c\x5a{'foo':'bar'}\xc3\x65\x39\x36";
static const char header[] = "\0\0\0\x3d\0\0\0\x20\x07\xfd\x83\x96\x0c"
                             "content-type\x07\0\x10"
                             "application/json{'foo':'bar'}\x8d\x9c\x08\xb1";

static void add_number(struct strbuf *out, uint32_t n)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        strbuf_add_char(out, (char)(n >> shift));
}

/* A frame with these headers, whatever they are, and right sums. */
static void add_frame(struct strbuf *out, struct str headers, struct str body)
{
    size_t start = out->n;

    add_number(out, (uint32_t)(16 + headers.n + body.n));
    add_number(out, (uint32_t)headers.n);
    add_number(out, crc32_add(0, str_skip(strbuf_str(out), start)));
    strbuf_add(out, headers);
    strbuf_add(out, body);
    add_number(out, crc32_add(0, str_skip(strbuf_str(out), start)));
}

static struct err *read_all(struct str bytes, size_t step, struct strbuf *out)
{
    AUTO(event_frame_reader) struct event_frame_reader r;

    event_frames_init(&r, MAX_BYTES);
    for (; bytes.n; bytes = str_skip(bytes, step)) {
        bool has_frame = true;

        event_frames_feed(&r, str_slice(bytes, 0, step));
        while (has_frame) {
            struct event_frame f;

            TRY(event_frames_next(&r, &f, &has_frame));
            if (has_frame)
                strbuf_addf(out, "%" STR_FMT "|%" STR_FMT "\n",
                            STR_ARG(event_frame_get(&f, "content-type")), STR_ARG(f.payload));
        }
    }
    return NULL;
}

TEST(the_published_examples_are_read_whole_and_in_pieces)
{
    AUTO(strbuf) struct strbuf stream = {0};

    strbuf_add(&stream, FRAME(empty));
    strbuf_add(&stream, FRAME(payload));
    strbuf_add(&stream, FRAME(header));
    for (size_t step = 1; step <= stream.n; step++) {
        AUTO(strbuf) struct strbuf out = {0};

        assert_ok(read_all(strbuf_str(&stream), step, &out));
        assert_str(strbuf_str(&out), "|\n|{'foo':'bar'}\napplication/json|{'foo':'bar'}\n");
    }
}

TEST(every_changed_byte_is_noticed)
{
    for (size_t i = 0; i < sizeof header - 1; i++) {
        char damaged[sizeof header];
        AUTO(strbuf) struct strbuf out = {0};

        memcpy(damaged, header, sizeof header);
        damaged[i] ^= 0x10;
        assert_err(read_all(FRAME(damaged), SIZE_MAX, &out), ERR_VALIDATION);
        assert_int_equal(out.n, 0);
    }
}

TEST(a_frame_over_the_cap_is_refused_before_it_has_come)
{
    AUTO(strbuf) struct strbuf stream = {0}, out = {0};
    AUTO(err) struct err *e = NULL;

    add_number(&stream, MAX_BYTES + 1);
    add_number(&stream, 0);
    add_number(&stream, crc32_add(0, strbuf_str(&stream)));
    e = read_all(strbuf_str(&stream), SIZE_MAX, &out);
    assert_non_null(e);
    assert_non_null(strstr(e->text, "limit of 4096"));
}

TEST(lengths_that_do_not_fit_are_refused)
{
    static const uint32_t lengths[][2] = {{15, 0}, {0, 0}, {20, 5}, {16, UINT32_MAX}};

    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        AUTO(strbuf) struct strbuf stream = {0}, out = {0};

        add_number(&stream, lengths[i][0]);
        add_number(&stream, lengths[i][1]);
        add_number(&stream, crc32_add(0, strbuf_str(&stream)));
        assert_err(read_all(strbuf_str(&stream), SIZE_MAX, &out), ERR_VALIDATION);
    }
}

TEST(headers_of_other_types_are_passed_over)
{
    static const char others[] = "\1a\0"         /* true */
                                 "\1b\2x"        /* a byte */
                                 "\1c\4\0\0\0\1" /* a number */
                                 "\1d\6\0\2xy"   /* bytes */
                                 "\1e\x09"
                                 "0123456789abcdef" /* a UUID */
                                 "\x0c"
                                 "content-type\7\0\2ok"; /* what is looked for */
    AUTO(strbuf) struct strbuf stream = {0}, out = {0};

    add_frame(&stream, FRAME(others), S("p"));
    assert_ok(read_all(strbuf_str(&stream), SIZE_MAX, &out));
    assert_str(strbuf_str(&out), "ok|p\n");
}

TEST(headers_that_are_cut_or_unknown_give_nothing)
{
    static const char *const heads[] = {"\x0c",
                                        "\x0c"
                                        "content-type",
                                        "\x0c"
                                        "content-type\7",
                                        "\x0c"
                                        "content-type\7\x7f\x7f"
                                        "x",
                                        "\1a\x20\x0c"
                                        "content-type\7"};

    for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
        AUTO(strbuf) struct strbuf stream = {0}, out = {0};

        add_frame(&stream, str_of(heads[i]), S("p"));
        assert_ok(read_all(strbuf_str(&stream), SIZE_MAX, &out));
        assert_str(strbuf_str(&out), "|p\n");
    }
}

RUN_TESTS(UNIT(the_published_examples_are_read_whole_and_in_pieces),
          UNIT(every_changed_byte_is_noticed),
          UNIT(a_frame_over_the_cap_is_refused_before_it_has_come),
          UNIT(lengths_that_do_not_fit_are_refused), UNIT(headers_of_other_types_are_passed_over),
          UNIT(headers_that_are_cut_or_unknown_give_nothing))
