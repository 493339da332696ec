/* ollama_decode_test.c */
#include "provider/transcript.h"

static const struct protocol *const ollama = &protocol_ollama;

#define PIECE(members) "{'model':'m','message':{'role':'assistant'," members "},'done':false}"
#define END(reason)                                                                                \
    "{'model':'m','message':{'role':'assistant','content':''},'done':true,'done_reason':'" reason  \
    "','prompt_eval_count':9,'eval_count':2}"

TEST(text_comes_in_lines)
{
    assert_reads(ollama, NDJSON(PIECE("'content':'Hel'"), PIECE("'content':'lo'"), END("stop")),
                 "text 'Hello'\n"
                 "end stop\n"
                 "usage 9 in, 2 out\n");
}

TEST(watchers_see_each_piece_once)
{
    assert_deltas(
        ollama,
        NDJSON(PIECE("'content':'','thinking':'Hm.'"), PIECE("'content':'Yes'"), END("stop")),
        "0 reasoning 'Hm.'\n"
        "1 text 'Yes'\n");
}

TEST(a_call_is_whole_when_it_comes)
{
    assert_ends(ollama,
                NDJSON(PIECE("'content':'','thinking':'Hm.'"), PIECE("'content':'So'"),
                       PIECE("'content':'','tool_calls':[{'function':{'name':'f','arguments':"
                             "{'a':1}}},{'id':'x','function':{'name':'g'}}]"),
                       END("stop")),
                "0 reasoning 'Hm.'\n"
                "0 whole\n"
                "1 text 'So'\n"
                "1 whole\n"
                "2 call f\n"
                "2 args '{\\'a\\':1}'\n"
                "2 whole made_id {'a':1}\n"
                "3 call x g\n"
                "3 whole x\n");
}

TEST(a_whole_answer_is_one_line)
{
    assert_reads(ollama,
                 BODY("{'model':'m','message':{'role':'assistant','content':'Yes',"
                      "'thinking':'Hm.'},'done_reason':'length','done':true,'eval_count':2}"),
                 "reasoning 'Hm.'\n"
                 "text 'Yes'\n"
                 "cut off length\n"
                 "usage 2 out\n");
}

TEST(generated_text_is_text)
{
    assert_reads(ollama,
                 NDJSON("{'model':'m','response':'','thinking':'Hm.','done':false}",
                        "{'model':'m','response':'Yes','done':false}",
                        "{'model':'m','response':'','done':true,'done_reason':'stop',"
                        "'context':[1,2],'eval_count':2}"),
                 "reasoning 'Hm.'\n"
                 "text 'Yes'\n"
                 "end stop\n"
                 "usage 2 out\n");
}

TEST(calls_come_whole_and_stop_the_model)
{
    assert_reads(ollama,
                 NDJSON(PIECE("'content':'','tool_calls':[{'id':'a','function':{'index':0,"
                              "'name':'one','arguments':{'x': 1}}}]"),
                        PIECE("'content':'','tool_calls':[{'function':{'name':'two',"
                              "'arguments':{}}},{'function':{'name':'three',"
                              "'arguments':'{\\'y\\':2}'}}]"),
                        END("stop")),
                 "call a one {'x': 1}\n"
                 "call made_id two {}\n"
                 "call made_id three {'y':2}\n"
                 "calls stop\n"
                 "usage 9 in, 2 out\n");
}

TEST(pictures_are_told_by_their_bytes)
{
    assert_reads(ollama,
                 NDJSON(PIECE("'content':'','images':['/9j/','UElDVFVSRQ==','']"), END("stop")),
                 "media\n"
                 "  image/jpeg '\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD'\n"
                 "media\n"
                 "  image/png 'PICTURE'\n"
                 "end stop\n"
                 "usage 9 in, 2 out\n");
    assert_reads(ollama, NDJSON(PIECE("'content':'','images':['?']"), END("stop")),
                 "error bad_response: cannot decode an image that the provider sent: base64: byte "
                 "1 is not a base64 character\n");
}

TEST(an_old_server_gives_no_reason)
{
    assert_reads(ollama, BODY("{'message':{'content':'Yes'},'done':true}"), "text 'Yes'\n");
}

TEST(loading_a_model_answers_nothing)
{
    assert_reads(ollama, BODY("{'message':{'content':''},'done':true,'done_reason':'load'}"),
                 "stopped load\n");
}

TEST(a_cut_stream_is_an_error)
{
    assert_reads(ollama, NDJSON(PIECE("'content':'Hel'")),
                 "text 'Hel'\n"
                 "error network: the stream ended before the answer was complete\n");
    assert_reads(ollama, NDJSON(PIECE("'content':'Hel'"), PIECE("'content':'lo'")),
                 "text 'Hello'\n"
                 "error network: the stream ended before the answer was complete\n");
}

TEST(nulls_say_nothing)
{
    assert_reads(ollama,
                 NDJSON("{'message':null,'error':null,'done':null}", "7",
                        PIECE("'content':null,'thinking':null,'tool_calls':null,'images':null"),
                        PIECE("'content':'A','tool_calls':[null,{'function':null}]"), END("stop")),
                 "text 'A'\n"
                 "end stop\n"
                 "usage 9 in, 2 out\n");
}

TEST(an_error_in_mid_stream_ends_the_answer)
{
    assert_reads(ollama, NDJSON(PIECE("'content':'A'"), "{'error':'the runner has died'}"),
                 "text 'A'\n"
                 "error provider_error: the runner has died\n");
    assert_reads(ollama, NDJSON(PIECE("'content':'A'"), "{'StatusCode':503,'error':'busy'}"),
                 "text 'A'\n"
                 "error provider_unavailable: HTTP 503: busy\n");
}

TEST(errors_are_classified_by_their_status)
{
    assert_reads_failure(ollama, 404, BODY("{'error':'model not found'}"),
                         "error model_not_available: HTTP 404: model not found\n");
    assert_reads_failure(ollama, 401, BODY("{'error':{'message':'who?'}}"),
                         "error provider_auth: HTTP 401: who?\n");
    assert_reads_failure(ollama, 400, BODY("{'error':'does not support tools'}"),
                         "error provider_error: HTTP 400: does not support tools\n");
    assert_reads_failure(ollama, 500, BODY("{}"),
                         "error provider_unavailable: HTTP 500: the provider gave no reason\n");
}

RUN_TESTS(UNIT(text_comes_in_lines), UNIT(watchers_see_each_piece_once),
          UNIT(a_call_is_whole_when_it_comes), UNIT(a_whole_answer_is_one_line),
          UNIT(generated_text_is_text), UNIT(calls_come_whole_and_stop_the_model),
          UNIT(pictures_are_told_by_their_bytes), UNIT(an_old_server_gives_no_reason),
          UNIT(loading_a_model_answers_nothing), UNIT(a_cut_stream_is_an_error),
          UNIT(nulls_say_nothing), UNIT(an_error_in_mid_stream_ends_the_answer),
          UNIT(errors_are_classified_by_their_status))
