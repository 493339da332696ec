/* anthropic_decode_test.c */
#include "provider/transcript.h"

static const struct protocol *const anthropic = &protocol_anthropic_messages;

#define START                                                                                      \
    "{'type':'message_start','message':{'id':'msg_1','model':'m','content':[],"                    \
    "'stop_reason':null,'usage':{'input_tokens':9,'cache_read_input_tokens':4,"                    \
    "'cache_creation_input_tokens':3,'output_tokens':1}}}"
#define BLOCK(index, block)                                                                        \
    "{'type':'content_block_start','index':" index ",'content_block':{" block "}}"
#define DELTA(index, type, members)                                                                \
    "{'type':'content_block_delta','index':" index ",'delta':{'type':'" type "'," members "}}"
#define STOP(index) "{'type':'content_block_stop','index':" index "}"
#define END(reason)                                                                                \
    "{'type':'message_delta','delta':{'stop_reason':'" reason "','stop_sequence':null},"           \
    "'usage':{'output_tokens':5}}",                                                                \
        "{'type':'message_stop'}"
#define END_TOLD(line) line "usage 9 in, 5 out, 4 cached, 3 written\n"

/* --- blocks --- */

TEST(text_comes_in_pieces)
{
    assert_reads(anthropic,
                 SSE(START, BLOCK("0", "'type':'text','text':''"),
                     DELTA("0", "text_delta", "'text':'Hel'"), "{'type':'ping'}",
                     DELTA("0", "text_delta", "'text':'lo'"), STOP("0"), END("end_turn")),
                 "text 'Hello'\n" END_TOLD("end end_turn\n"));
}

TEST(watchers_see_each_piece_once)
{
    assert_deltas(anthropic,
                  SSE(START, BLOCK("0", "'type':'thinking','thinking':'','signature':''"),
                      DELTA("0", "thinking_delta", "'thinking':'Hm.'"),
                      DELTA("0", "signature_delta", "'signature':'c2ln'"), STOP("0"),
                      BLOCK("1", "'type':'tool_use','id':'a','name':'now','input':{}"),
                      DELTA("1", "input_json_delta", "'partial_json':''"),
                      DELTA("1", "input_json_delta", "'partial_json':'{}'"), STOP("1"),
                      END("tool_use")),
                  "0 reasoning 'Hm.'\n"
                  "1 call a now\n"
                  "1 args '{}'\n");
}

TEST(a_whole_answer_reads_like_a_stream)
{
    assert_reads(anthropic,
                 BODY("{'id':'msg_1','type':'message','model':'m','content':["
                      "{'type':'thinking','thinking':'Hm.','signature':'c2ln'},"
                      "{'type':'text','text':'Hi'},"
                      "{'type':'tool_use','id':'a','name':'one','input':{'x': 1}}],"
                      "'stop_reason':'tool_use','usage':{'input_tokens':1,'output_tokens':2}}"),
                 "reasoning 'Hm.'\n"
                 "  signature 'c2ln'\n"
                 "  native {'type':'thinking','thinking':'Hm.','signature':'c2ln'}\n"
                 "text 'Hi'\n"
                 "call a one {'x': 1}\n"
                 "calls tool_use\n"
                 "usage 1 in, 2 out\n");
}

TEST(thinking_is_put_together_for_going_back)
{
    assert_reads(
        anthropic,
        SSE(START, BLOCK("0", "'type':'thinking','thinking':'','signature':''"),
            DELTA("0", "thinking_delta", "'thinking':'Let '"),
            DELTA("0", "thinking_delta", "'thinking':'me.'"),
            DELTA("0", "signature_delta", "'signature':'c2'"),
            DELTA("0", "signature_delta", "'signature':'ln'"), STOP("0"),
            BLOCK("1", "'type':'redacted_thinking', 'data':'ZGF0YQ=='"), STOP("1"),
            END("end_turn")),
        "reasoning 'Let me.'\n"
        "  signature 'c2ln'\n"
        "  native {'type':'thinking','thinking':'Let me.','signature':'c2ln'}\n"
        "reasoning\n"
        "  data 'ZGF0YQ=='\n"
        "  native {'type':'redacted_thinking', 'data':'ZGF0YQ=='}\n" END_TOLD("end end_turn\n"));
}

TEST(blocks_of_a_whole_answer_keep_their_bytes)
{
    assert_reads(anthropic,
                 BODY("{'content':[{'type':'thinking', 'thinking':'Hm.', 'signature':'c2ln'},"
                      "{'type':'server_tool_use', 'id':'s','name':'w','input':{'q': 1}}],"
                      "'stop_reason':'pause_turn'}"),
                 "reasoning 'Hm.'\n"
                 "  signature 'c2ln'\n"
                 "  native {'type':'thinking', 'thinking':'Hm.', 'signature':'c2ln'}\n"
                 "server call s w {'q': 1}\n"
                 "  native {'type':'server_tool_use', 'id':'s','name':'w','input':{'q': 1}}\n"
                 "paused pause_turn\n");
}

TEST(blocks_may_be_mixed)
{
    assert_reads(anthropic,
                 SSE(START, BLOCK("0", "'type':'tool_use','id':'a','name':'one','input':{}"),
                     BLOCK("1", "'type':'tool_use','id':'b','name':'two','input':{}"),
                     DELTA("1", "input_json_delta", "'partial_json':'{\\'y\\':2}'"),
                     DELTA("0", "input_json_delta", "'partial_json':'{\\'x\\':1}'"), STOP("1"),
                     STOP("0"), END("tool_use")),
                 "call a one {'x':1}\n"
                 "call b two {'y':2}\n" END_TOLD("calls tool_use\n"));
}

TEST(a_call_without_arguments_has_an_empty_object)
{
    assert_reads(anthropic,
                 SSE(START, BLOCK("0", "'type':'tool_use','id':'a','name':'now','input':{}"),
                     DELTA("0", "input_json_delta", "'partial_json':''"), STOP("0"),
                     END("tool_use")),
                 "call a now {}\n" END_TOLD("calls tool_use\n"));
}

TEST(arguments_that_were_cut_off_are_kept_apart)
{
    assert_reads(anthropic,
                 SSE(START, BLOCK("0", "'type':'tool_use','id':'a','name':'one','input':{}"),
                     DELTA("0", "input_json_delta", "'partial_json':'{\\'x\\':'"), STOP("0"),
                     END("max_tokens")),
                 "call a one {}\n"
                 "  bad arguments '{\\'x\\':'\n" END_TOLD("cut off max_tokens\n"));
}

TEST(tools_of_the_provider_are_not_ours_to_run)
{
    assert_reads(
        anthropic,
        SSE(START, BLOCK("0", "'type':'server_tool_use','id':'s','name':'web_search','input':{}"),
            DELTA("0", "input_json_delta", "'partial_json':'{\\'query\\':\\'keel\\'}'"), STOP("0"),
            BLOCK("1", "'type':'web_search_tool_result', 'tool_use_id':'s','content':[]"),
            STOP("1"), END("pause_turn")),
        "server call s web_search {'query':'keel'}\n"
        "  native {'type':'server_tool_use','id':'s','name':'web_search',"
        "'input':{'query':'keel'}}\n"
        "server result s web_search_tool_result\n"
        "  native {'type':'web_search_tool_result', 'tool_use_id':'s','content':[]}\n" END_TOLD(
            "paused pause_turn\n"));
}

TEST(a_provider_tool_that_was_cut_off_does_not_spoil_the_answer)
{
    assert_reads(anthropic,
                 SSE(START,
                     BLOCK("0", "'type':'server_tool_use','id':'s','name':'web_search','input':{}"),
                     DELTA("0", "input_json_delta", "'partial_json':'{\\'query\\':'"), STOP("0"),
                     END("max_tokens")),
                 "server call s web_search {}\n"
                 "  bad arguments '{\\'query\\':'\n" END_TOLD("cut off max_tokens\n"));
}

TEST(citations_follow_their_text)
{
    assert_reads(anthropic,
                 SSE(START, BLOCK("0", "'type':'text','text':'','citations':[]"),
                     DELTA("0", "citations_delta",
                           "'citation':{'cited_text':'said','url':'https://a.example',"
                           "'title':'A'}"),
                     DELTA("0", "text_delta", "'text':'It is.'"), STOP("0"), END("end_turn")),
                 "text 'It is.'\n"
                 "  native {'type':'text','text':'It is.','citations':[{'cited_text':'said',"
                 "'url':'https://a.example','title':'A'}]}\n"
                 "citation https://a.example 'said'\n"
                 "  title 'A'\n"
                 "  native {'cited_text':'said','url':'https://a.example','title':'A'}\n" END_TOLD(
                     "end end_turn\n"));
    assert_reads(anthropic,
                 BODY("{'content':[{'type':'text','text':'It is.','citations':[{'cited_text':"
                      "'said','document_title':'D'}]}],'stop_reason':'end_turn'}"),
                 "text 'It is.'\n"
                 "  native {'type':'text','text':'It is.','citations':[{'cited_text':'said',"
                 "'document_title':'D'}]}\n"
                 "citation 'said'\n"
                 "  title 'D'\n"
                 "  native {'cited_text':'said','document_title':'D'}\n"
                 "end end_turn\n");
}

TEST(blocks_younger_than_this_code_are_kept)
{
    assert_reads(
        anthropic,
        SSE(START, BLOCK("0", "'type':'compaction', 'content':''"),
            DELTA("0", "compaction_delta", "'content':'In short.'"), STOP("0"),
            "{'type':'something_new'}", END("end_turn")),
        "server result compaction 'In short.'\n"
        "  native {'type':'compaction','content':'In short.'}\n" END_TOLD("end end_turn\n"));
}

/* --- the end --- */

TEST(stop_reasons_have_one_meaning)
{
    assert_reads(anthropic, SSE(START, END("refusal")), END_TOLD("refused refusal\n"));
    assert_reads(anthropic, SSE(START, END("model_context_window_exceeded")),
                 END_TOLD("window full model_context_window_exceeded\n"));
    assert_reads(anthropic, SSE(START, END("something_new")), END_TOLD("stopped something_new\n"));
}

TEST(the_stop_sequence_is_a_detail)
{
    assert_reads(anthropic,
                 BODY("{'content':[],'stop_reason':'stop_sequence','stop_sequence':'###'}"),
                 "end stop_sequence (###)\n");
}

TEST(a_cut_stream_is_an_error)
{
    assert_reads(
        anthropic,
        SSE(START, BLOCK("0", "'type':'text','text':''"), DELTA("0", "text_delta", "'text':'Hel'")),
        "text 'Hel'\n"
        "usage 9 in, 1 out, 4 cached, 3 written\n"
        "error network: the stream ended before the answer was complete\n");
}

TEST(an_answer_without_content_is_an_error)
{
    assert_reads(anthropic, BODY("{'type':'message'}"),
                 "error bad_response: the answer has no content\n");
}

/* --- nonsense --- */

TEST(deltas_for_blocks_that_are_not_open_are_refused)
{
    static const char *const deltas[] = {
        DELTA("0", "text_delta", "'text':'x'"),
        DELTA("-1", "text_delta", "'text':'x'"),
        DELTA("null", "text_delta", "'text':'x'"),
        STOP("9"),
    };

    for (size_t i = 0; i < ARRAY_LEN(deltas); i++)
        assert_reads(anthropic, SSE(deltas[i]),
                     "error bad_response: the provider sent a delta for a block that is not "
                     "open\n");
}

TEST(blocks_need_an_index_within_bounds)
{
    assert_reads(anthropic, SSE(BLOCK("4096", "'type':'text'")),
                 "error bad_response: the provider began a block without a valid index\n");
    assert_reads(anthropic, SSE("{'type':'content_block_start','index':0}"),
                 "error bad_response: the provider began a block without a valid index\n");
}

TEST(a_second_message_is_refused)
{
    assert_reads(anthropic, SSE(START, START),
                 "usage 9 in, 1 out, 4 cached, 3 written\n"
                 "error bad_response: the provider began a second message in one stream\n");
}

TEST(content_that_is_no_block_is_left_out)
{
    assert_reads(anthropic, BODY("{'content':[7,null,'x'],'stop_reason':'end_turn'}"),
                 "end end_turn\n");
}

/* --- errors --- */

TEST(an_error_in_mid_stream_ends_the_answer)
{
    assert_reads(anthropic,
                 SSE(START, "{'type':'error','error':{'type':'overloaded_error',"
                            "'message':'Overloaded'}}"),
                 "usage 9 in, 1 out, 4 cached, 3 written\n"
                 "error provider_unavailable: Overloaded\n");
}

TEST(an_error_in_an_answer_of_status_200_is_an_error)
{
    assert_reads(anthropic,
                 BODY("{'type':'error','error':{'type':'billing_error','message':'No money.'}}"),
                 "error provider_auth: No money.\n");
}

TEST(errors_are_classified_by_their_type)
{
    static const struct {
        int status;
        const char *type, *want;
    } errors[] = {
        {401, "authentication_error", "provider_auth"},
        {403, "permission_error", "provider_auth"},
        {404, "not_found_error", "model_not_available"},
        {413, "request_too_large", "context_overflow"},
        {429, "rate_limit_error", "provider_rate_limit"},
        {400, "invalid_request_error", "provider_error"},
        {500, "api_error", "provider_unavailable"},
        {529, "overloaded_error", "provider_unavailable"},
        {504, "timeout_error", "timeout"},
        {503, "something_new", "provider_unavailable"},
    };

    for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
        AUTO(strbuf) struct strbuf body = {0}, want = {0};

        strbuf_addf(&body, "{'type':'error','error':{'type':'%s','message':'m'}}", errors[i].type);
        strbuf_addf(&want, "error %s: HTTP %d: m\n", errors[i].want, errors[i].status);
        assert_reads_failure(anthropic, errors[i].status, BODY(strbuf_cstr(&body)),
                             strbuf_cstr(&want));
    }
}

RUN_TESTS(UNIT(text_comes_in_pieces), UNIT(watchers_see_each_piece_once),
          UNIT(a_whole_answer_reads_like_a_stream), UNIT(thinking_is_put_together_for_going_back),
          UNIT(blocks_of_a_whole_answer_keep_their_bytes), UNIT(blocks_may_be_mixed),
          UNIT(a_call_without_arguments_has_an_empty_object),
          UNIT(arguments_that_were_cut_off_are_kept_apart),
          UNIT(tools_of_the_provider_are_not_ours_to_run),
          UNIT(a_provider_tool_that_was_cut_off_does_not_spoil_the_answer),
          UNIT(citations_follow_their_text), UNIT(blocks_younger_than_this_code_are_kept),
          UNIT(stop_reasons_have_one_meaning), UNIT(the_stop_sequence_is_a_detail),
          UNIT(a_cut_stream_is_an_error), UNIT(an_answer_without_content_is_an_error),
          UNIT(deltas_for_blocks_that_are_not_open_are_refused),
          UNIT(blocks_need_an_index_within_bounds), UNIT(a_second_message_is_refused),
          UNIT(content_that_is_no_block_is_left_out), UNIT(an_error_in_mid_stream_ends_the_answer),
          UNIT(an_error_in_an_answer_of_status_200_is_an_error),
          UNIT(errors_are_classified_by_their_type))
