/* openai_responses_decode_test.c */
#include "provider/transcript.h"

/* --- answers as lines of text --- */

struct answer {
    struct reply reply;
    struct strbuf parts;
    struct err *error;
};

static void answer_done(struct answer *a)
{
    reply_done(&a->reply);
    strbuf_done(&a->parts);
    err_free(a->error);
}
DEFINE_AUTO_VAL(answer, answer_done)

static void add_part(struct strbuf *out, const struct reply *r, size_t i)
{
    const struct part *p = &r->parts[i].part;
    struct str text = reply_part_text(r, i);

    switch (p->kind) {
    case PART_TOOL_CALL:
    case PART_SERVER_TOOL_USE:
        strbuf_addf(out, "%s(%" STR_FMT " %" STR_FMT " %" STR_FMT, part_kind_name(p->kind),
                    STR_ARG(p->id), STR_ARG(p->name),
                    STR_ARG(p->bad_args.n ? p->bad_args : p->args));
        strbuf_add_cstr(out, p->bad_args.n ? " bad" : p->is_free_text ? " text" : "");
        break;
    case PART_SERVER_TOOL_RESULT:
        strbuf_addf(out, "%s(%" STR_FMT " %" STR_FMT, part_kind_name(p->kind), STR_ARG(p->id),
                    STR_ARG(p->name));
        break;
    case PART_CITATION:
        strbuf_addf(out, "cite(%" STR_FMT " %" STR_FMT ")\n", STR_ARG(p->url), STR_ARG(p->title));
        return;
    case PART_MEDIA:
        strbuf_addf(out, "media(%" STR_FMT " %s %" STR_FMT ")\n", STR_ARG(p->media.mime),
                    p->media.source == MEDIA_URL ? "url" : "bytes", STR_ARG(p->media.data));
        return;
    default:
        strbuf_addf(out, "%s(%" STR_FMT, part_kind_name(p->kind), STR_ARG(text));
    }
    strbuf_addf(out, "%s)\n", p->native.n ? " native" : "");
}

static void read_bytes(struct answer *a, int status, struct str bytes, size_t step)
{
    AUTO(decoder) struct decoder decoder;

    *a = (struct answer){0};
    reply_init(&a->reply, (struct delta_sink){0});
    decoder_init(&decoder, &protocol_openai_responses, status, NULL, 0, &a->reply);
    a->error = read_in_pieces(&decoder, bytes, step);
    for (size_t i = 0; i < a->reply.n_parts; i++)
        add_part(&a->parts, &a->reply, i);
    tell_stop(&a->parts, &a->reply);
}

/* The events as a stream, each on its own line of `events`. */
static struct strbuf stream_of(const char *events)
{
    struct strbuf out = {0};
    struct str rest = str_of(events), line;

    while (str_split(&rest, '\n', &line))
        if (line.n)
            strbuf_addf(&out, "data: %" STR_FMT "\n\n", STR_ARG(line));
    return out;
}

static void read_stream(struct answer *a, const char *events)
{
    AUTO(strbuf) struct strbuf bytes = stream_of(events);

    read_bytes(a, 200, strbuf_str(&bytes), SIZE_MAX);
}

static void check(const char *events, const char *want)
{
    static const size_t steps[] = {SIZE_MAX, 7, 1};
    AUTO(strbuf) struct strbuf bytes = stream_of(events);

    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        AUTO(answer) struct answer a;

        read_bytes(&a, 200, strbuf_str(&bytes), steps[i]);
        assert_ok(TAKE(a.error));
        assert_str(strbuf_str(&a.parts), want);
    }
}

static void check_deltas(const char *events, const char *want)
{
    AUTO(strbuf) struct strbuf bytes = stream_of(events);

    assert_deltas(&protocol_openai_responses, BODY(strbuf_cstr(&bytes)), want);
}

static void check_body(const char *body, const char *want)
{
    AUTO(answer) struct answer a;

    read_bytes(&a, 200, str_of(body), SIZE_MAX);
    assert_ok(TAKE(a.error));
    assert_str(strbuf_str(&a.parts), want);
}

static void check_error(int status, const char *bytes, enum err_kind kind)
{
    AUTO(answer) struct answer a;

    read_bytes(&a, status, str_of(bytes), SIZE_MAX);
    assert_err(TAKE(a.error), kind);
}

static void check_stream_error(const char *events, enum err_kind kind)
{
    AUTO(strbuf) struct strbuf bytes = stream_of(events);

    check_error(200, strbuf_cstr(&bytes), kind);
}

#define RESPONSE(type, ...) "{\"type\":\"response." type "\"," __VA_ARGS__ "}\n"
#define ADDED(index, item)                                                                         \
    RESPONSE("output_item.added", "\"output_index\":" index ",\"item\":" item)
#define DONE(index, item) RESPONSE("output_item.done", "\"output_index\":" index ",\"item\":" item)
#define TEXT(index, id, text)                                                                      \
    RESPONSE("output_text.delta", "\"output_index\":" index ",\"item_id\":\"" id                   \
                                  "\",\"content_index\":0,\"delta\":\"" text "\"")
#define MESSAGE(id, content)                                                                       \
    "{\"id\":\"" id "\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[" content "]}"
#define SAYS(text) "{\"type\":\"output_text\",\"text\":\"" text "\",\"annotations\":[]}"
#define COMPLETED(output)                                                                          \
    RESPONSE("completed", "\"response\":{\"status\":\"completed\",\"output\":[" output "]}")

/* --- messages --- */

TEST(text_streams_into_one_part)
{
    const char *events = ADDED("0", MESSAGE("m", "")) TEXT("0", "m", "Hel") TEXT("0", "m", "lo")
        DONE("0", MESSAGE("m", SAYS("Hello"))) COMPLETED(MESSAGE("m", SAYS("Hello")));

    check(events, "text(Hello native)\nend completed\n");
    check_deltas(events, "0 text \"Hel\"\n0 text \"lo\"\n");
}

TEST(final_forms_do_not_repeat_what_streamed)
{
    check_deltas(ADDED("0", MESSAGE("m", "")) TEXT("0", "m", "Hi") RESPONSE(
                     "output_text.done", "\"output_index\":0,\"item_id\":\"m\",\"text\":\"Hi\"")
                     RESPONSE("content_part.done", "\"output_index\":0,\"part\":" SAYS("Hi"))
                         DONE("0", MESSAGE("m", SAYS("Hi"))) DONE("0", MESSAGE("m", SAYS("Hi")))
                             COMPLETED(MESSAGE("m", SAYS("Hi"))),
                 "0 text \"Hi\"\n");
}

TEST(a_final_form_brings_what_deltas_left_out)
{
    check_deltas(
        TEXT("0", "m", "Hi") RESPONSE("output_text.done", "\"output_index\":0,\"text\":\"Hi t\"")
            RESPONSE("content_part.done", "\"output_index\":0,\"part\":" SAYS("Hi th"))
                DONE("0", MESSAGE("m", SAYS("Hi the"))) COMPLETED(MESSAGE("m", SAYS("Hi there"))),
        "0 text \"Hi\"\n0 text \" t\"\n0 text \"h\"\n0 text \"e\"\n0 text \"re\"\n");
}

TEST(an_answer_may_be_its_last_event_alone)
{
    const char *events = COMPLETED(MESSAGE("m", SAYS("Hi")) "," MESSAGE("n", SAYS(" there")));

    check(events, "text(Hi native)\ntext( there native)\nend completed\n");
    check_deltas(events, "0 text \"Hi\"\n1 text \" there\"\n");
}

TEST(a_final_form_that_differs_wins_and_an_empty_one_does_not)
{
    check(TEXT("0", "m", "draft") DONE("0", MESSAGE("m", SAYS("final"))) COMPLETED(""),
          "text(final native)\nend completed\n");
    check(TEXT("0", "m", "kept") DONE("0", MESSAGE("m", "")) COMPLETED(MESSAGE("m", SAYS(""))),
          "text(kept native)\nend completed\n");
}

TEST(deltas_need_no_item_announced)
{
    check("{\"type\":\"response.output_text.delta\",\"delta\":\"a\"}\n"
          "{\"type\":\"response.reasoning_text.delta\",\"delta\":\"hm\"}\n"
          "{\"type\":\"response.output_text.delta\",\"delta\":\"b\"}\n"
          "{\"type\":\"response.completed\",\"response\":{}}",
          "text(ab)\nreasoning(hm)\nend completed\n");
}

TEST(items_are_told_apart_by_number_when_ids_change)
{
    check(ADDED("0", MESSAGE("1", "")) ADDED("1", MESSAGE("2", "")) TEXT("0", "3", "a")
              TEXT("1", "4", "b") TEXT("0", "5", "a") DONE("0", MESSAGE("6", SAYS("aa")))
                  DONE("1", MESSAGE("7", SAYS("b")))
                      COMPLETED(MESSAGE("8", SAYS("aa")) "," MESSAGE("9", SAYS("b"))),
          "text(aa native)\ntext(b native)\nend completed\n");
}

TEST(items_are_told_apart_by_id_when_numbers_are_all_alike_or_absent)
{
    check(ADDED("0", MESSAGE("m", "")) ADDED("0", MESSAGE("n", "")) TEXT("0", "m", "a")
              TEXT("0", "n", "b") DONE("0", MESSAGE("m", SAYS("a")))
                  DONE("0", MESSAGE("n", SAYS("b")))
                      COMPLETED(MESSAGE("m", SAYS("a")) "," MESSAGE("n", SAYS("b"))),
          "text(a native)\ntext(b native)\nend completed\n");
    check("{\"type\":\"response.output_text.delta\",\"item_id\":\"m\",\"delta\":\"a\"}\n"
          "{\"type\":\"response.output_text.delta\",\"item_id\":\"n\",\"delta\":\"b\"}\n"
          "{\"type\":\"response.output_text.delta\",\"item_id\":\"m\",\"delta\":\"a\"}\n" COMPLETED(
              ""),
          "text(aa)\ntext(b)\nend completed\n");
}

TEST(items_of_one_id_are_told_apart_by_number)
{
    check(ADDED("0", MESSAGE("m", "")) ADDED("1", MESSAGE("m", "")) TEXT("0", "m", "a")
              TEXT("1", "m", "b") TEXT("0", "m", "a") COMPLETED(""),
          "text(aa)\ntext(b)\nend completed\n");
}

TEST(parts_of_a_message_are_counted_by_their_order_in_the_end)
{
    check(
        ADDED("0", MESSAGE("m", "")) RESPONSE(
            "output_text.delta", "\"output_index\":0,\"content_index\":1,\"delta\":\"a\"")
            RESPONSE("output_text.delta", "\"output_index\":0,\"content_index\":3,\"delta\":\"b\"")
                DONE("0", MESSAGE("m", SAYS("a") "," SAYS("b!") "," SAYS("c"))) COMPLETED(""),
        "text(a native)\ntext(b! native)\ntext(c native)\nend completed\n");
}

TEST(a_text_delta_with_the_number_of_another_kind_of_item_is_text)
{
    check(ADDED("0", "{\"type\":\"reasoning\",\"id\":\"r\"}") TEXT("0", "m", "hi") COMPLETED(""),
          "reasoning()\ntext(hi)\nend completed\n");
}

TEST(bytes_that_are_not_text_are_repaired_before_they_are_kept)
{
    check(COMPLETED(MESSAGE("m\xFF", SAYS("hi"))), "text(hi native)\nend completed\n");
}

TEST(a_refusal_is_not_text)
{
    check(RESPONSE("refusal.delta", "\"output_index\":0,\"delta\":\"I ca\"")
              RESPONSE("refusal.done", "\"output_index\":0,\"refusal\":\"I cannot\"")
                  COMPLETED(MESSAGE("m", "{\"type\":\"refusal\",\"refusal\":\"I cannot\"}")),
          "refusal(I cannot native)\nrefused completed\n");
}

TEST(content_may_be_a_plain_string)
{
    check(COMPLETED("{\"type\":\"message\",\"content\":\"hi\"}"),
          "text(hi native)\nend completed\n");
}

#define CITES                                                                                      \
    "{\"type\":\"url_citation\",\"url\":\"https://a.example\",\"title\":\"A\"},"                   \
    "{\"type\":\"file_citation\",\"filename\":\"b.txt\"}"
#define CITING "{\"type\":\"output_text\",\"text\":\"x\",\"annotations\":[" CITES "]}"

TEST(citations_come_once)
{
    const char *want = "text(x native)\ncite(https://a.example A)\ncite( b.txt)\nend completed\n";

    check(COMPLETED(MESSAGE("m", CITING)), want);
    check(TEXT("0", "m", "x")
              RESPONSE("output_text.annotation.added",
                       "\"output_index\":0,\"annotation\":{\"type\":\"url_citation\","
                       "\"url\":\"https://a.example\",\"title\":\"A\"}")
                  DONE("0", MESSAGE("m", CITING)) COMPLETED(MESSAGE("m", CITING)),
          want);
}

/* --- reasoning --- */

#define REASONING(members) "{\"type\":\"reasoning\",\"id\":\"r\"," members "}"
#define SUMMARY(text) "\"summary\":[{\"type\":\"summary_text\",\"text\":\"" text "\"}]"

TEST(reasoning_is_its_summary_and_its_text)
{
    check(ADDED("0", REASONING("\"summary\":[]"))
              RESPONSE("reasoning_summary_text.delta", "\"output_index\":0,\"delta\":\"sum\"")
                  RESPONSE("reasoning_text.delta", "\"output_index\":0,\"delta\":\"all\"")
                      COMPLETED(""),
          "reasoning(sumall)\nend completed\n");
    check(COMPLETED(REASONING(
              SUMMARY("sum") ",\"content\":[{\"type\":\"reasoning_text\",\"text\":\"all\"}]")),
          "reasoning(sumall native)\nend completed\n");
}

TEST(reasoning_keeps_its_bytes_only_when_it_can_go_back)
{
    check(COMPLETED(REASONING(SUMMARY("s"))), "reasoning(s)\nend completed\n");
    check(COMPLETED(REASONING("\"summary\":[],\"content\":[],\"encrypted_content\":null")),
          "reasoning()\nend completed\n");
    check(COMPLETED(REASONING("\"summary\":[],\"encrypted_content\":\"gAAA\"")),
          "reasoning( native)\nend completed\n");
}

TEST(the_bytes_are_those_of_the_finished_item)
{
    AUTO(answer) struct answer a;

    read_stream(&a, ADDED("0", REASONING("\"encrypted_content\":\"early\""))
                        DONE("0", REASONING("\"encrypted_content\":\"done\""))
                            COMPLETED(REASONING("\"encrypted_content\":\"again\"")));
    assert_ok(TAKE(a.error));
    assert_int_equal(a.reply.n_parts, 1);
    assert_str(reply_part(&a.reply, 0)->data, "done");
    assert_str(reply_part(&a.reply, 0)->native,
               "{\"type\":\"reasoning\",\"id\":\"r\",\"encrypted_content\":\"done\"}");
}

/* --- calls --- */

#define CALL(members) "{\"type\":\"function_call\",\"id\":\"fc\"," members "}"
#define CALL_AB(args) CALL("\"call_id\":\"c1\",\"name\":\"f\",\"arguments\":\"" args "\"")

TEST(a_call_streams_its_arguments_and_is_known_by_its_call_id)
{
    const char *events = ADDED("0", CALL_AB(""))
        RESPONSE("function_call_arguments.delta", "\"output_index\":0,\"delta\":\"{\\\"a\\\"\"")
            RESPONSE("function_call_arguments.delta", "\"output_index\":0,\"delta\":\":1}\"")
                RESPONSE("function_call_arguments.done",
                         "\"output_index\":0,\"arguments\":\"{\\\"a\\\":1}\"")
                    DONE("0", CALL_AB("{\\\"a\\\":1}")) COMPLETED(CALL_AB("{\\\"a\\\":1}"));

    check(events, "tool_call(c1 f {\"a\":1} native)\ncalls completed\n");
    check_deltas(events, "0 call c1 f\n0 args \"{\\\"a\\\"\"\n0 args \":1}\"\n");
}

TEST(calls_may_interleave)
{
    check(ADDED("0", CALL("\"call_id\":\"c1\",\"name\":\"f\""))
              ADDED("1", CALL("\"call_id\":\"c2\",\"name\":\"g\""))
                  RESPONSE("function_call_arguments.delta", "\"output_index\":1,\"delta\":\"{}\"")
                      RESPONSE("function_call_arguments.delta",
                               "\"output_index\":0,\"delta\":\"{\\\"a\\\":1}\"") COMPLETED(""),
          "tool_call(c1 f {\"a\":1})\ntool_call(c2 g {})\ncalls completed\n");
}

TEST(arguments_may_come_before_their_call_and_without_deltas)
{
    check(RESPONSE("function_call_arguments.delta", "\"output_index\":0,\"delta\":\"{}\"")
              COMPLETED(CALL_AB("{}")),
          "tool_call(c1 f {} native)\ncalls completed\n");
    check(ADDED("0", CALL_AB("{\\\"a\\\":1}"))
              RESPONSE("function_call_arguments.done",
                       "\"output_index\":0,\"arguments\":\"{\\\"a\\\":1}\"") COMPLETED(""),
          "tool_call(c1 f {\"a\":1})\ncalls completed\n");
}

TEST(arguments_of_another_kind_of_item_make_no_call)
{
    check(ADDED("0", "{\"type\":\"web_search_call\",\"id\":\"ws\"}")
              RESPONSE("function_call_arguments.delta", "\"output_index\":0,\"delta\":\"{\"")
                  COMPLETED(
                      "{\"type\":\"web_search_call\",\"id\":\"ws\",\"action\":{\"query\":\"q\"}}"),
          "server_tool_use(ws web_search {\"query\":\"q\"} native)\nend completed\n");
}

TEST(arguments_may_be_an_object_or_nothing)
{
    check(COMPLETED(CALL("\"call_id\":\"c1\",\"name\":\"f\",\"arguments\":{\"a\":1}")),
          "tool_call(c1 f {\"a\":1})\ncalls completed\n");
    check(COMPLETED(CALL_AB("")), "tool_call(c1 f {})\ncalls completed\n");
    check(COMPLETED(CALL("\"call_id\":\"c1\",\"name\":\"f\",\"arguments\":null")),
          "tool_call(c1 f {})\ncalls completed\n");
    check(COMPLETED(CALL("\"call_id\":\"c1\",\"name\":\"f\",\"arguments\":[1]")),
          "tool_call(c1 f [1] bad)\ncalls completed\n");
}

TEST(a_call_that_cannot_go_back_as_it_is_keeps_no_bytes)
{
    check(COMPLETED(CALL_AB("{\\\"a\\\":")), "tool_call(c1 f {\"a\": bad)\ncalls completed\n");
    check(COMPLETED(CALL("\"call_id\":\"c.1\",\"name\":\"f\",\"arguments\":\"{}\"")),
          "tool_call(c.1 f {})\ncalls completed\n");
    check(COMPLETED(CALL("\"name\":\"f\",\"arguments\":\"{}\"")),
          "tool_call(fc f {})\ncalls completed\n");
}

#define CUSTOM(input)                                                                              \
    "{\"type\":\"custom_tool_call\",\"id\":\"ctc\",\"call_id\":\"c1\",\"name\":\"sql\","           \
    "\"input\":\"" input "\"}"

TEST(a_custom_tool_takes_text)
{
    const char *events = ADDED("0", CUSTOM(""))
        RESPONSE("custom_tool_call_input.delta", "\"output_index\":0,\"delta\":\"SELECT\"")
            RESPONSE("custom_tool_call_input.done", "\"output_index\":0,\"input\":\"SELECT 1\"")
                DONE("0", CUSTOM("SELECT 1")) COMPLETED(CUSTOM("SELECT 1"));

    check(events, "tool_call(c1 sql SELECT 1 text native)\ncalls completed\n");
    check_deltas(events, "0 call c1 sql\n0 args \"SELECT\"\n0 args \" 1\"\n");
}

/* --- the provider's own tools --- */

TEST(built_in_tools_say_what_they_were_asked)
{
    check(
        COMPLETED(
            "{\"type\":\"web_search_call\",\"id\":\"1\",\"action\":{\"type\":\"search\"}},"
            "{\"type\":\"file_search_call\",\"id\":\"2\",\"queries\":[\"q\"],\"results\":null},"
            "{\"type\":\"code_interpreter_call\",\"id\":\"3\",\"code\":\"1+1\"},"
            "{\"type\":\"mcp_call\",\"id\":\"4\",\"name\":\"ask\",\"arguments\":\"{\\\"q\\\":1}\"},"
            "{\"type\":\"tool_search_call\",\"id\":\"5\",\"execution\":\"server\",\"arguments\":{}"
            "}"),
        "server_tool_use(1 web_search {\"type\":\"search\"} native)\n"
        "server_tool_use(2 file_search {\"queries\":[\"q\"]} native)\n"
        "server_tool_use(3 code_interpreter {\"code\":\"1+1\"} native)\n"
        "server_tool_use(4 ask {\"q\":1} native)\n"
        "server_tool_use(5 tool_search {} native)\n"
        "end completed\n");
}

TEST(built_in_tools_are_announced_when_they_begin)
{
    check_deltas(ADDED("0", "{\"type\":\"web_search_call\",\"id\":\"1\"}")
                     RESPONSE("web_search_call.searching", "\"output_index\":0")
                         DONE("0", "{\"type\":\"web_search_call\",\"id\":\"1\"}") COMPLETED(""),
                 "0 server call 1 web_search\n");
}

TEST(arguments_of_an_mcp_call_stream_without_being_a_call)
{
    check(ADDED("0", "{\"type\":\"mcp_call\",\"id\":\"1\",\"name\":\"ask\"}")
              RESPONSE("mcp_call_arguments.delta", "\"output_index\":0,\"delta\":\"{\\\"q\\\":1}\"")
                  RESPONSE("mcp_call.completed", "\"output_index\":0") COMPLETED(""),
          "server_tool_use(1 ask {\"q\":1})\nend completed\n");
}

TEST(what_a_client_would_have_to_run_keeps_no_bytes)
{
    check(
        COMPLETED("{\"type\":\"local_shell_call\",\"id\":\"i\",\"call_id\":\"1\",\"action\":{"
                  "\"command\":[]}},"
                  "{\"type\":\"computer_call\",\"id\":\"i\",\"call_id\":\"2\",\"action\":{\"type\":"
                  "\"wait\"}},"
                  "{\"type\":\"apply_patch_call\",\"id\":\"i\",\"call_id\":\"3\",\"operation\":{}},"
                  "{\"type\":\"shell_call\",\"id\":\"i\",\"call_id\":\"4\",\"action\":{}},"
                  "{\"type\":\"tool_search_call\",\"id\":\"i\",\"call_id\":\"5\",\"execution\":"
                  "\"client\"},"
                  "{\"type\":\"mcp_approval_request\",\"id\":\"6\",\"name\":\"ask\",\"arguments\":"
                  "\"{}\"}"),
        "server_tool_use(1 local_shell {\"command\":[]})\n"
        "server_tool_use(2 computer {\"type\":\"wait\"})\n"
        "server_tool_use(3 apply_patch {})\n"
        "server_tool_use(4 shell {})\n"
        "server_tool_use(5 tool_search {})\n"
        "server_tool_use(6 ask {})\n"
        "end completed\n");
}

TEST(outputs_lists_and_unknown_items_are_kept_for_going_back)
{
    check(COMPLETED("{\"type\":\"shell_call\",\"id\":\"1\",\"environment\":{\"type\":\"container_"
                    "reference\"}},"
                    "{\"type\":\"shell_call_output\",\"id\":\"2\",\"call_id\":\"c\",\"output\":[]},"
                    "{\"type\":\"mcp_list_tools\",\"id\":\"3\",\"tools\":[]},"
                    "{\"type\":\"compaction\",\"id\":\"4\",\"encrypted_content\":\"x\"},"
                    "{\"type\":\"from_the_future\",\"id\":\"5\"}"),
          "server_tool_use(1 shell {} native)\n"
          "server_tool_result(c shell_call_output native)\n"
          "server_tool_result(3 mcp_list_tools native)\n"
          "server_tool_result(4 compaction native)\n"
          "server_tool_result(5 from_the_future native)\n"
          "end completed\n");
}

TEST(a_generated_image_is_media_once)
{
    const char *image = "{\"type\":\"image_generation_call\",\"id\":\"i\",\"status\":\"completed\","
                        "\"output_format\":\"webp\",\"result\":\"cGl4ZWxz\",\"size\":\"1x1\"}";
    AUTO(strbuf) struct strbuf events = {0};
    AUTO(answer) struct answer a;

    strbuf_addf(&events,
                RESPONSE("image_generation_call.partial_image", "\"partial_image_b64\":\"eA==\"")
                    DONE("0", "%s") COMPLETED("%s"),
                image, image);
    read_stream(&a, strbuf_cstr(&events));
    assert_ok(TAKE(a.error));
    assert_str(strbuf_str(&a.parts), "server_tool_use(i image_generation {} native)\n"
                                     "media(image/webp bytes pixels)\nend completed\n");
    assert_str(reply_part(&a.reply, 0)->native,
               "{\"type\":\"image_generation_call\",\"id\":\"i\",\"status\":\"completed\","
               "\"result\":\"cGl4ZWxz\"}");
}

TEST(images_may_be_addresses_or_missing)
{
    check(
        COMPLETED(
            "{\"type\":\"image_generation_call\",\"id\":\"1\",\"result\":null},"
            "{\"type\":\"image_generation_call\",\"id\":\"2\",\"result\":\"***\"},"
            "{\"type\":\"image_generation_call\",\"id\":\"3\","
            "\"result\":\"data:image/png;base64,cGl4\"},"
            "{\"type\":\"image_generation_call\",\"id\":\"4\","
            "\"result\":\"https://a.example/i\"},"
            "{\"type\":\"code_interpreter_call\",\"id\":\"5\",\"code\":\"x\",\"outputs\":["
            "{\"type\":\"logs\",\"logs\":\"l\"},{\"type\":\"image\",\"url\":\"https://b\"}]}"),
        "server_tool_use(1 image_generation {})\n"
        "server_tool_use(2 image_generation {} native)\n"
        "server_tool_use(3 image_generation {} native)\nmedia(image/png bytes pix)\n"
        "server_tool_use(4 image_generation {} native)\nmedia(image/png url https://a.example/i)\n"
        "server_tool_use(5 code_interpreter {\"code\":\"x\"} native)\nmedia(image/png url "
        "https://b)\n"
        "end completed\n");
}

/* --- the end --- */

TEST(an_answer_that_was_cut_short_says_why)
{
    check(RESPONSE("incomplete",
                   "\"response\":{\"status\":\"incomplete\",\"incomplete_details\":{"
                   "\"reason\":\"max_output_tokens\"},\"output\":[" CALL_AB("{") "]}"),
          "tool_call(c1 f { bad)\ncut off incomplete (max_output_tokens)\n");
    check(RESPONSE("incomplete",
                   "\"response\":{\"incomplete_details\":{\"reason\":\"content_filter\"}}"),
          "filtered incomplete (content_filter)\n");
    check(RESPONSE("incomplete", "\"response\":{}"), "stopped incomplete\n");
}

TEST(the_last_event_counts_more_than_a_status_that_was_not_changed)
{
    check(RESPONSE("completed", "\"response\":{\"status\":\"in_progress\"}"), "end completed\n");
    check(RESPONSE("completed", "\"response\":{\"status\":\"incomplete\"}"),
          "stopped incomplete\n");
}

TEST(nothing_but_a_final_event_ends_a_stream)
{
    check_stream_error(TEXT("0", "m", "hi"), ERR_NETWORK);
    check_stream_error(TEXT("0", "m", "hi") "[DONE]\n", ERR_NETWORK);
    check_stream_error(DONE("0", MESSAGE("m", SAYS("hi"))), ERR_NETWORK);
    check(COMPLETED("") "[DONE]\n", "end completed\n");
}

TEST(what_follows_the_end_is_not_read_except_a_price)
{
    AUTO(answer) struct answer a;

    read_stream(&a, COMPLETED(MESSAGE("m", SAYS("hi")))
                        TEXT("0", "m", "!") "{\"type\":\"ping\",\"cost\":\"0.00120000\"}\n");
    assert_ok(TAKE(a.error));
    assert_str(strbuf_str(&a.parts), "text(hi native)\nend completed\n");
    assert_int_equal(a.reply.usage.cost_microcents, 120000);
}

TEST(a_second_response_in_one_stream_is_refused)
{
    check_stream_error(TEXT("0", "m", "one") RESPONSE("created", "\"response\":{\"id\":\"2\"}"),
                       ERR_BAD_RESPONSE);
    check(COMPLETED("") RESPONSE("created", "\"response\":{\"id\":\"2\"}"), "end completed\n");
    check(RESPONSE("created", "\"response\":{}") RESPONSE("created", "\"response\":{}")
              COMPLETED(""),
          "end completed\n");
}

TEST(a_partial_answer_survives_its_failure)
{
    AUTO(answer) struct answer a;

    read_stream(&a, TEXT("0", "m", "so far") RESPONSE(
                        "failed", "\"response\":{\"status\":\"failed\",\"usage\":{"
                                  "\"input_tokens\":3},\"error\":{\"code\":\"server_error\","
                                  "\"message\":\"sorry\"}}"));
    assert_str(strbuf_str(&a.parts), "text(so far)\n");
    assert_int_equal(a.reply.usage.input, 3);
    assert_string_equal(a.error->text, "sorry");
    assert_err(TAKE(a.error), ERR_PROVIDER_UNAVAILABLE);
}

TEST(too_many_items_are_refused)
{
    AUTO(strbuf) struct strbuf events = {0};

    for (int i = 0; i <= REPLY_MAX_PARTS; i++)
        strbuf_addf(&events, ADDED("%d", MESSAGE("m", "")), i);
    check_stream_error(strbuf_cstr(&events), ERR_BAD_RESPONSE);
}

/* --- whole answers --- */

TEST(a_whole_answer_reads_like_its_stream)
{
    check_body(
        "{\"id\":\"resp\",\"object\":\"response\",\"status\":\"completed\",\"output\":[" REASONING(
            "\"encrypted_content\":\"x\"") "," MESSAGE("m", SAYS("hi")) "," CALL_AB("{}") "]}",
        "reasoning( native)\ntext(hi native)\ntool_call(c1 f {} native)\n"
        "calls completed\n");
    check_body("{\"output\":[" MESSAGE("m", SAYS("hi")) "]}", "text(hi native)\n");
}

TEST(a_whole_answer_may_be_a_failure)
{
    check_error(
        200, "{\"status\":\"failed\",\"output\":[],\"error\":{\"code\":\"rate_limit_exceeded\"}}",
        ERR_PROVIDER_RATE_LIMIT);
    check_error(200, "{\"error\":{\"message\":\"no\",\"code\":502}}", ERR_PROVIDER_UNAVAILABLE);
    check_error(200, "{\"error\":\"no\"}", ERR_PROVIDER_ERROR);
    check_error(200, "{\"status\":\"queued\",\"output\":[]}", ERR_PROVIDER_ERROR);
    check_error(200, "{\"status\":\"cancelled\",\"output\":[]}", ERR_PROVIDER_ERROR);
    check_error(200, "{\"hello\":1}", ERR_BAD_RESPONSE);
}

/* --- usage --- */

static struct usage usage_of(const char *usage)
{
    AUTO(strbuf) struct strbuf body = {0};
    AUTO(answer) struct answer a;

    strbuf_addf(&body, "{\"status\":\"completed\",\"output\":[],\"usage\":%s}", usage);
    read_bytes(&a, 200, strbuf_str(&body), SIZE_MAX);
    assert_ok(TAKE(a.error));
    return a.reply.usage;
}

TEST(usage_is_what_the_provider_counted)
{
    struct usage u = usage_of("{\"input_tokens\":10,\"input_tokens_details\":{\"cached_tokens\":4,"
                              "\"cache_write_tokens\":2},\"output_tokens\":\"7\","
                              "\"output_tokens_details\":{\"reasoning_tokens\":5}}");

    assert_int_equal(u.input, 10);
    assert_int_equal(u.cache_read, 4);
    assert_int_equal(u.cache_write, 2);
    assert_int_equal(u.output, 7);
    assert_int_equal(u.reasoning, 5);
    assert_int_equal(u.cost_microcents, -1);
    assert_int_equal(usage_total(&u), 17);
}

TEST(usage_that_was_not_told_stays_unknown)
{
    struct usage u = usage_of("null");

    assert_false(usage_is_known(&u));
    u = usage_of("{\"input_tokens\":3,\"input_tokens_details\":null}");
    assert_int_equal(u.input, 3);
    assert_int_equal(u.output, -1);
    assert_int_equal(u.cache_read, -1);
}

TEST(a_price_is_read_in_every_spelling)
{
    assert_int_equal(usage_of("{\"cost\":0.025265}").cost_microcents, 2526500);
    assert_int_equal(usage_of("{\"cost\":{\"total_cost\":0.5}}").cost_microcents, 50000000);
    assert_int_equal(usage_of("{\"cost_in_usd_ticks\":5884000}").cost_microcents, 58840);
    assert_int_equal(usage_of("{\"cost\":null}").cost_microcents, -1);
    assert_int_equal(usage_of("{\"cost\":-1}").cost_microcents, -1);
}

/* --- errors --- */

TEST(errors_are_told_by_their_code_before_their_status)
{
    static const struct {
        int status;
        const char *body;
        enum err_kind kind;
    } cases[] = {
        {401, "{\"error\":{\"code\":\"invalid_api_key\"}}", ERR_PROVIDER_AUTH},
        {429, "{\"error\":{\"code\":\"insufficient_quota\"}}", ERR_PROVIDER_AUTH},
        {429, "{\"error\":{\"type\":\"insufficient_quota\",\"code\":null}}", ERR_PROVIDER_AUTH},
        {429, "{\"error\":{\"type\":\"tokens\",\"code\":\"rate_limit_exceeded\"}}",
         ERR_PROVIDER_RATE_LIMIT},
        {429, "{\"error\":{\"message\":\"slow\"}}", ERR_PROVIDER_RATE_LIMIT},
        {400, "{\"error\":{\"code\":\"model_not_found\"}}", ERR_MODEL_NOT_AVAILABLE},
        {400, "{\"error\":{\"code\":\"context_length_exceeded\"}}", ERR_CONTEXT_OVERFLOW},
        {400, "{\"error\":{\"code\":\"content_filter\"}}", ERR_CONTENT_FILTER},
        {400, "{\"error\":{\"type\":\"invalid_request_error\",\"code\":null}}", ERR_PROVIDER_ERROR},
        {503, "{\"error\":{\"type\":\"server_error\"}}", ERR_PROVIDER_UNAVAILABLE},
        {503, "{\"detail\":\"down\"}", ERR_PROVIDER_UNAVAILABLE},
        {403, "[]", ERR_PROVIDER_AUTH},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check_error(cases[i].status, cases[i].body, cases[i].kind);
}

TEST(an_error_event_may_be_flat_or_nested)
{
    check_stream_error("{\"type\":\"error\",\"code\":\"server_error\",\"message\":\"m\"}",
                       ERR_PROVIDER_UNAVAILABLE);
    check_stream_error("{\"type\":\"error\",\"error\":{\"type\":\"insufficient_quota\"}}",
                       ERR_PROVIDER_AUTH);
    check_stream_error("{\"type\":\"error\",\"code\":\"429\"}", ERR_PROVIDER_RATE_LIMIT);
    check_stream_error("{\"type\":\"error\",\"code\":null,\"message\":null}", ERR_PROVIDER_ERROR);
    check_stream_error(RESPONSE("failed", "\"response\":{\"error\":{\"code\":\"invalid_prompt\"}}"),
                       ERR_CONTENT_FILTER);
    check_stream_error(RESPONSE("failed", "\"response\":null"), ERR_PROVIDER_ERROR);
}

TEST(an_error_says_what_the_provider_said)
{
    AUTO(answer) struct answer a;

    read_bytes(&a, 400, S("{\"error\":{\"message\":\"no such thing\"}}"), SIZE_MAX);
    assert_string_equal(a.error->text, "HTTP 400: no such thing");
}

/* --- anything at all --- */

TEST(values_of_the_wrong_type_are_as_good_as_absent)
{
    check("{\"type\":\"response.output_item.added\",\"item\":null}\n"
          "{\"type\":\"response.output_item.done\",\"item\":\"x\"}\n"
          "{\"type\":\"response.output_item.added\",\"item\":{\"type\":7}}\n"
          "{\"type\":\"response.output_text.delta\",\"delta\":null,\"output_index\":\"0\"}\n"
          "{\"type\":\"response.output_text.delta\",\"delta\":{\"a\":1}}\n"
          "{\"type\":\"response.output_text.annotation.added\",\"annotation\":[]}\n"
          "{\"type\":\"response.content_part.done\",\"part\":null}\n"
          "{\"type\":\"response.nobody.knows\"}\n"
          "7\n[]\nnull\n"
          "{\"type\":\"response.completed\",\"response\":{\"output\":{\"a\":{}},\"usage\":[],"
          "\"status\":null}}",
          "end completed\n");
}

RUN_TESTS(UNIT(text_streams_into_one_part), UNIT(final_forms_do_not_repeat_what_streamed),
          UNIT(a_final_form_brings_what_deltas_left_out),
          UNIT(an_answer_may_be_its_last_event_alone),
          UNIT(a_final_form_that_differs_wins_and_an_empty_one_does_not),
          UNIT(deltas_need_no_item_announced), UNIT(items_are_told_apart_by_number_when_ids_change),
          UNIT(items_are_told_apart_by_id_when_numbers_are_all_alike_or_absent),
          UNIT(items_of_one_id_are_told_apart_by_number),
          UNIT(parts_of_a_message_are_counted_by_their_order_in_the_end),
          UNIT(a_text_delta_with_the_number_of_another_kind_of_item_is_text),
          UNIT(bytes_that_are_not_text_are_repaired_before_they_are_kept),
          UNIT(a_refusal_is_not_text), UNIT(content_may_be_a_plain_string),
          UNIT(citations_come_once), UNIT(reasoning_is_its_summary_and_its_text),
          UNIT(reasoning_keeps_its_bytes_only_when_it_can_go_back),
          UNIT(the_bytes_are_those_of_the_finished_item),
          UNIT(a_call_streams_its_arguments_and_is_known_by_its_call_id),
          UNIT(calls_may_interleave), UNIT(arguments_may_come_before_their_call_and_without_deltas),
          UNIT(arguments_of_another_kind_of_item_make_no_call),
          UNIT(arguments_may_be_an_object_or_nothing),
          UNIT(a_call_that_cannot_go_back_as_it_is_keeps_no_bytes), UNIT(a_custom_tool_takes_text),
          UNIT(built_in_tools_say_what_they_were_asked),
          UNIT(built_in_tools_are_announced_when_they_begin),
          UNIT(arguments_of_an_mcp_call_stream_without_being_a_call),
          UNIT(what_a_client_would_have_to_run_keeps_no_bytes),
          UNIT(outputs_lists_and_unknown_items_are_kept_for_going_back),
          UNIT(a_generated_image_is_media_once), UNIT(images_may_be_addresses_or_missing),
          UNIT(an_answer_that_was_cut_short_says_why),
          UNIT(the_last_event_counts_more_than_a_status_that_was_not_changed),
          UNIT(nothing_but_a_final_event_ends_a_stream),
          UNIT(what_follows_the_end_is_not_read_except_a_price),
          UNIT(a_second_response_in_one_stream_is_refused),
          UNIT(a_partial_answer_survives_its_failure), UNIT(too_many_items_are_refused),
          UNIT(a_whole_answer_reads_like_its_stream), UNIT(a_whole_answer_may_be_a_failure),
          UNIT(usage_is_what_the_provider_counted), UNIT(usage_that_was_not_told_stays_unknown),
          UNIT(a_price_is_read_in_every_spelling),
          UNIT(errors_are_told_by_their_code_before_their_status),
          UNIT(an_error_event_may_be_flat_or_nested), UNIT(an_error_says_what_the_provider_said),
          UNIT(values_of_the_wrong_type_are_as_good_as_absent))
