/* inline_tags_test.c - reasoning and calls in the text of models whose server reads neither. */
#include "provider/transcript.h"

#include "provider/vendor.h"

/* What a local server says, told part by part; read whole, and in pieces of every size. */
static void assert_said_(const char *text, const char *want, const char *file, int line)
{
    AUTO(strbuf) struct strbuf wanted = {0};

    add_quoted(&wanted, want);
    for (size_t piece = 1; piece <= strlen(text); piece++) {
        AUTO(reply) struct reply reply;
        AUTO(decoder) struct decoder decoder;
        AUTO(strbuf) struct strbuf got = {0};

        reply_init(&reply, (struct delta_sink){0});
        decoder_init(&decoder, &protocol_openai_chat, 200, NULL, 0, &reply);
        decoder_set_vendor(&decoder, vendor_find(S("vllm")));
        for (size_t at = 0; at < strlen(text); at += piece) {
            AUTO(strbuf) struct strbuf event = {0};

            strbuf_add_cstr(&event, "data: {\"choices\":[{\"delta\":{\"content\":");
            json_write_string(&event, str_slice(str_of(text), at, piece));
            strbuf_add_cstr(&event, "}}]}\n\n");
            assert_ok_(decoder_feed(&decoder, strbuf_str(&event)), file, line);
        }
        assert_ok_(decoder_feed(&decoder, S("data: [DONE]\n\n")), file, line);
        assert_ok_(decoder_end(&decoder), file, line);
        for (size_t i = 0; i < reply.n_parts; i++)
            tell_part(&got, &reply.parts[i]);
        assert_str_(strbuf_str(&got), strbuf_cstr(&wanted), file, line);
    }
}
#define assert_said(text, want) assert_said_((text), (want), __FILE__, __LINE__)

TEST(what_is_thought_between_tags_is_reasoning)
{
    assert_said("<think>\nLet me see.</think>\n\nFour.", "reasoning 'Let me see.'\ntext 'Four.'\n");
    assert_said("\n<thinking>Hm < 3.</thinking>Four.", "reasoning 'Hm < 3.'\ntext 'Four.'\n");
    assert_said("<think>\n\n</think>\n\nFour.", "text 'Four.'\n");
    assert_said("<think>Cut off", "reasoning 'Cut off'\n");
}

TEST(a_call_between_tags_is_a_call)
{
    assert_said("I look.\n<tool_call>\n{\"name\": \"ls\", \"arguments\": {\"p\": 1}}\n</tool_call>",
                "text 'I look.\\n'\ncall made_id ls {'p': 1}\n");
    assert_said("<tool_call>{\"name\":\"a\",\"arguments\":\"{\\\"x\\\":1}\"}</tool_call>"
                "<tool_call>{\"name\":\"b\"}</tool_call>",
                "call made_id a {'x':1}\ncall made_id b {}\n");
    assert_said("<tool_call>{\"name\":\"a\",\"parameters\":{}}", "call made_id a {}\n");
}

TEST(an_end_of_thoughts_without_a_beginning_ends_them)
{
    assert_said("Hm, let me see.</think>Four.", "reasoning 'Hm, let me see.'\ntext 'Four.'\n");
    assert_said("Hm.\n</think>\n\nFour. </think>", "reasoning 'Hm.\\n'\ntext 'Four. </think>'\n");
    assert_said("Hm.</think>\n<tool_call>{\"name\":\"a\"}</tool_call>",
                "reasoning 'Hm.'\ncall made_id a {}\n");
    assert_said("It ends with `</think>`.", "text 'It ends with `</think>`.'\n");
    assert_said("<think>Hm.</think>So </think>", "reasoning 'Hm.'\ntext 'So </think>'\n");
    assert_said("```\n</think>\n```", "text '```\\n</think>\\n```'\n");
    assert_said("</think>Four.", "text '</think>Four.'\n");
}

TEST(a_call_may_be_written_in_tags)
{
    assert_said(
        "I look.\n<tool_call>\n<function=Bash>\n<parameter=command>\nls -la\n\n</parameter>\n"
        "<parameter=timeout>\n5000\n</parameter>\n</function>\n</tool_call>",
        "text 'I look.\\n'\ncall made_id Bash {'command':'ls -la\\n','timeout':'5000'}\n");
    assert_said("<tool_call><function=a></function></tool_call>", "call made_id a {}\n");
    assert_said("<tool_call><function=w><parameter=t>a </parameter> b</parameter></function>"
                "<function=v></function></tool_call>",
                "call made_id w {'t':'a </parameter> b'}\ncall made_id v {}\n");
    assert_said("<tool_call><function=a><parameter=x>1</tool_call>",
                "text '<tool_call><function=a><parameter=x>1</tool_call>'\n");
}

TEST(a_call_may_stand_behind_a_mark_at_the_end)
{
    assert_said("[TOOL_CALLS][{\"name\":\"a\",\"arguments\":{\"x\":1}},{\"name\":\"b\"}]",
                "call made_id a {'x':1}\ncall made_id b {}\n");
    assert_said("I look.\n[TOOL_CALLS]a[ARGS]{\"x\":1}[TOOL_CALLS]b{}",
                "text 'I look.\\n'\ncall made_id a {'x':1}\ncall made_id b {}\n");
    assert_said("<|python_tag|>{\"name\":\"a\",\"parameters\":{\"x\":1}}",
                "call made_id a {'x':1}\n");
    assert_said("<|python_tag|>print(1)", "text '<|python_tag|>print(1)'\n");
    assert_said("See [TOOL_CALLS] there, and [this](x).",
                "text 'See [TOOL_CALLS] there, and [this](x).'\n");
}

TEST(what_is_no_call_stays_text)
{
    assert_said("<tool_call>so {\"a\":1}</tool_call>",
                "text '<tool_call>so {\\'a\\':1}</tool_call>'\n");
    assert_said("<tool_call>nonsense</tool_call> so.",
                "text '<tool_call>nonsense</tool_call> so.'\n");
    assert_said("<tool_call>{\"name\":\"a\",\"argu",
                "text '<tool_call>{\\'name\\':\\'a\\',\\'argu'\n");
    assert_said("<tool_call>{\"name\":3}</tool_call>",
                "text '<tool_call>{\\'name\\':3}</tool_call>'\n");
    assert_said("a < b <tool_cal", "text 'a < b <tool_cal'\n");
    assert_said("see <think> tags", "text 'see <think> tags'\n");
    assert_said("</think>", "text '</think>'\n");
}

TEST(nothing_inside_of_a_code_fence_is_a_tag)
{
    assert_said(
        "```\n<think>no</think>\n<tool_call>{\"name\":\"a\"}</tool_call>\n```",
        "text '```\\n<think>no</think>\\n<tool_call>{\\'name\\':\\'a\\'}</tool_call>\\n```'\n");
    assert_said("~~~\n```\n<think>\n~~~\n<think>yes",
                "text '~~~\\n```\\n<think>\\n~~~\\n'\nreasoning 'yes'\n");
}

TEST(only_servers_that_may_leave_tags_are_read_so)
{
    struct answer_text answer = SSE(
        "{'choices':[{'delta':{'content':'<think>a</think>b'},'finish_reason':'stop'}]}", "[DONE]");

    assert_reads(&protocol_openai_chat, answer, "text '<think>a</think>b'\nend stop\n");
}

TEST(ollama_is_read_so_and_a_call_is_why_it_stopped)
{
    AUTO(reply) struct reply reply;
    AUTO(decoder) struct decoder decoder;

    reply_init(&reply, (struct delta_sink){0});
    decoder_init(&decoder, &protocol_ollama, 200, NULL, 0, &reply);
    decoder_set_vendor(&decoder, vendor_find(S("ollama")));
    assert_ok(decoder_feed(&decoder, S("{\"message\":{\"content\":\"<think>a</th\"}}\n"
                                       "{\"message\":{\"content\":\"ink><tool_call>{\\\"name\\\":"
                                       "\\\"ls\\\"}\"}}\n"
                                       "{\"message\":{\"content\":\"\"},\"done\":true,"
                                       "\"done_reason\":\"stop\"}\n")));
    assert_ok(decoder_end(&decoder));
    assert_int_equal(reply.n_parts, 2);
    assert_str(reply_part_text(&reply, 0), "a");
    assert_str(reply_part(&reply, 1)->name, "ls");
    assert_int_equal(reply.stop, STOP_TOOL_CALLS);
}

TEST(a_call_without_end_is_text_at_last)
{
    AUTO(reply) struct reply reply;
    AUTO(decoder) struct decoder decoder;
    AUTO(strbuf) struct strbuf event = {0};

    reply_init(&reply, (struct delta_sink){0});
    decoder_init(&decoder, &protocol_ollama, 200, NULL, 0, &reply);
    decoder_set_vendor(&decoder, vendor_find(S("ollama")));
    assert_ok(decoder_feed(&decoder, S("{\"message\":{\"content\":\"<tool_call>\"}}\n")));
    strbuf_add_cstr(&event, "{\"message\":{\"content\":\"");
    for (int i = 0; i < 100000; i++)
        strbuf_add_cstr(&event, "0123456789");
    strbuf_add_cstr(&event, "\"}}\n");
    for (int i = 0; i < 3; i++)
        assert_ok(decoder_feed(&decoder, strbuf_str(&event)));
    assert_int_equal(reply.n_parts, 1);
    assert_int_equal(reply_part_text(&reply, 0).n, strlen("<tool_call>") + 3000000);
}

RUN_TESTS(UNIT(what_is_thought_between_tags_is_reasoning), UNIT(a_call_between_tags_is_a_call),
          UNIT(an_end_of_thoughts_without_a_beginning_ends_them),
          UNIT(a_call_may_be_written_in_tags), UNIT(a_call_may_stand_behind_a_mark_at_the_end),
          UNIT(what_is_no_call_stays_text), UNIT(nothing_inside_of_a_code_fence_is_a_tag),
          UNIT(only_servers_that_may_leave_tags_are_read_so),
          UNIT(ollama_is_read_so_and_a_call_is_why_it_stopped),
          UNIT(a_call_without_end_is_text_at_last))
