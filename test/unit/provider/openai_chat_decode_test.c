/* openai_chat_decode_test.c */
#include "provider/transcript.h"

static const struct protocol *const chat = &protocol_openai_chat;

/* Chunks without the noise of real ones. */
#define DELTA(members) "{'choices':[{'index':0,'delta':{" members "}}]}"
#define FINISH(reason) "{'choices':[{'index':0,'delta':{},'finish_reason':'" reason "'}]}"

/* --- the answer itself --- */

TEST(text_comes_in_pieces)
{
    assert_reads(chat,
                 SSE("{'id':'c1','model':'m','choices':[{'index':0,'delta':{'role':'assistant',"
                     "'content':''},'finish_reason':null}]}",
                     DELTA("'content':'Hel'"), DELTA("'content':'lo'"), FINISH("stop"),
                     "{'choices':[],'usage':{'prompt_tokens':9,'completion_tokens':2,"
                     "'prompt_tokens_details':{'cached_tokens':4},"
                     "'completion_tokens_details':{'reasoning_tokens':0}}}",
                     "[DONE]"),
                 "text 'Hello'\n"
                 "end stop\n"
                 "usage 9 in, 2 out, 4 cached, 0 reasoning\n");
}

TEST(watchers_see_each_piece_once)
{
    assert_deltas(
        chat,
        SSE(DELTA("'reasoning_content':'Hm.'"), DELTA("'content':'Hel'"), DELTA("'content':'lo'"),
            DELTA("'content':''"),
            DELTA("'tool_calls':[{'index':0,'id':'a','function':{'name':'now','arguments':''}}]"),
            DELTA("'tool_calls':[{'index':0,'function':{'arguments':'{}'}}]"),
            FINISH("tool_calls")),
        "0 reasoning 'Hm.'\n"
        "1 text 'Hel'\n"
        "1 text 'lo'\n"
        "2 call a now\n"
        "2 args '{}'\n");
}

/* --- when a part is whole --- */

#define CALL(index, id, name, args)                                                                \
    "{'index':" index ",'id':'" id "','function':{'name':'" name "','arguments':'" args "'}}"
#define CALLS(list) DELTA("'tool_calls':[" list "]")
#define MORE(index, args) CALLS("{'index':" index ",'function':{'arguments':'" args "'}}")

TEST(a_call_is_whole_when_the_next_one_begins_text_follows_or_the_answer_ends)
{
    assert_ends(chat,
                SSE(DELTA("'reasoning_content':'Hm.'"), DELTA("'content':'So'"),
                    CALLS(CALL("0", "a", "f", "")), MORE("0", "{"), MORE("0", "}"),
                    CALLS(CALL("1", "b", "f", "{}")), DELTA("'content':' then'"),
                    CALLS(CALL("2", "c", "f", "{}") "," CALL("3", "d", "f", "{}")),
                    FINISH("tool_calls"), "[DONE]"),
                "0 reasoning 'Hm.'\n"
                "0 whole\n"
                "1 text 'So'\n"
                "1 whole\n"
                "2 call a f\n"
                "2 args '{'\n"
                "2 args '}'\n"
                "2 whole a {}\n"
                "3 call b f\n"
                "3 args '{}'\n"
                "3 whole b {}\n"
                "4 text ' then'\n"
                "4 whole\n"
                "5 call c f\n"
                "5 args '{}'\n"
                "5 whole c {}\n"
                "6 call d f\n"
                "6 args '{}'\n"
                "6 whole d {}\n");
}

TEST(a_call_of_which_more_may_come_is_not_whole)
{
    /* by turns; without arguments; without an id */
    assert_ends(chat,
                SSE(CALLS(CALL("0", "a", "f", "{")), CALLS(CALL("1", "b", "f", "")), MORE("0", "}"),
                    CALLS(CALL("2", "", "f", "{}")), CALLS(CALL("3", "d", "f", "{}")),
                    DELTA("'content':''"), FINISH("tool_calls")),
                "0 call a f\n"
                "0 args '{'\n"
                "1 call b f\n"
                "0 args '}'\n"
                "2 call f\n"
                "2 args '{}'\n"
                "3 call d f\n"
                "3 args '{}'\n"
                "3 whole d {}\n");
    /* where every chunk has a reason, none of them is the end */
    assert_ends(chat,
                SSE("{'choices':[{'delta':{'tool_calls':[" CALL("0", "a", "f",
                                                                "{}") "]},"
                                                                      "'finish_reason':'stop'}]}"),
                "0 call a f\n"
                "0 args '{}'\n");
}

TEST(arguments_that_come_again_when_they_are_whole_are_a_repetition)
{
    assert_reads(chat,
                 SSE(CALLS(CALL("0", "a", "f", "{")), MORE("0", "}"), MORE("0", ""),
                     CALLS(CALL("0", "a", "f", "{}")), MORE("0", " {} "), FINISH("tool_calls")),
                 "call a f {}\n"
                 "calls tool_calls\n");
    assert_reads(chat,
                 SSE(CALLS(CALL("0", "a", "f", "{\\'b\\':")), MORE("0", "{\\'b\\':"),
                     MORE("0", "1}}"), FINISH("tool_calls")),
                 "call a f {'b':{'b':1}}\n"
                 "calls tool_calls\n");
}

/* --- whole answers, and choices --- */

TEST(a_whole_answer_reads_like_a_stream)
{
    assert_reads(
        chat,
        BODY("{'id':'c1','object':'chat.completion','choices':[{'index':0,"
             "'message':{'role':'assistant','content':'Hi','refusal':null,'reasoning':'Hm.',"
             "'tool_calls':[{'id':'a','type':'function','function':{'name':'now',"
             "'arguments':'{}'}},{'id':'a','type':'function','function':{'name':'now',"
             "'arguments':'{\\'z\\':1}'}}]},'finish_reason':'tool_calls'}],"
             "'usage':{'prompt_tokens':1,'completion_tokens':2,'total_tokens':3}}"),
        "reasoning 'Hm.'\n"
        "text 'Hi'\n"
        "call a now {}\n"
        "call a now {'z':1}\n"
        "calls tool_calls\n"
        "usage 1 in, 2 out\n");
}

TEST(only_the_first_choice_counts)
{
    assert_reads(chat,
                 SSE("{'choices':[{'index':1,'delta':{'content':'B'},'finish_reason':'length'}]}",
                     DELTA("'content':'A'"),
                     "{'choices':[{'index':0,'delta':{},'finish_reason':'stop'},{'index':1,"
                     "'delta':{'content':'C'}}]}"),
                 "text 'A'\n"
                 "end stop\n");
}

TEST(a_message_beside_the_delta_is_a_repetition)
{
    assert_reads(chat,
                 SSE("{'choices':[{'index':0,'delta':{'content':'A'},'message':{'content':'A'}}]}",
                     "{'choices':[{'index':0,'delta':{'content':'B'},'message':{'content':'AB'},"
                     "'finish_reason':'stop'}]}"),
                 "text 'AB'\n"
                 "end stop\n");
}

TEST(a_whole_answer_may_come_as_one_event)
{
    assert_reads(chat,
                 SSE("{'choices':[{'index':0,'message':{'content':'Hi'},'finish_reason':'stop'}]}",
                     "[DONE]"),
                 "text 'Hi'\n"
                 "end stop\n");
}

TEST(content_may_be_a_list_of_parts)
{
    assert_reads(
        chat,
        SSE(DELTA("'content':[{'type':'thinking','thinking':[{'type':'text','text':'Let '}]}]"),
            DELTA("'content':[{'type':'thinking','thinking':'me see.'}]"),
            DELTA("'content':[{'type':'text','text':'Done'},' so',{'type':'reference',"
                  "'reference_ids':[1]},{'type':'refusal','refusal':'No.'}]"),
            FINISH("stop")),
        "reasoning 'Let me see.'\n"
        "text 'Done so'\n"
        "refusal 'No.'\n"
        "refused stop\n");
}

TEST(think_tags_stay_text)
{
    assert_reads(chat, SSE(DELTA("'content':'<think>Hm</think>Yes'"), FINISH("stop")),
                 "text '<think>Hm</think>Yes'\n"
                 "end stop\n");
}

TEST(a_refusal_is_not_text)
{
    assert_reads(
        chat,
        SSE(DELTA("'content':null,'refusal':'I '"), DELTA("'refusal':'refuse.'"), FINISH("stop")),
        "refusal 'I refuse.'\n"
        "refused stop\n");
}

TEST(nulls_and_empty_members_say_nothing)
{
    assert_reads(
        chat,
        SSE("{'id':null,'error':null,'choices':null,'usage':null}", "{'choices':[{'delta':null}]}",
            "{'choices':[]}", "7",
            DELTA("'content':null,'reasoning':null,'refusal':'','tool_calls':null,"
                  "'function_call':{'name':''},'audio':{'id':'','data':''},'annotations':[]"),
            DELTA("'content':'A'"), FINISH(""), FINISH("stop")),
        "text 'A'\n"
        "end stop\n");
}

/* --- tool calls --- */

TEST(calls_are_told_apart_by_index)
{
    assert_reads(chat,
                 SSE(CALLS("{'index':0,'id':'a','type':'function','function':{'name':'one',"
                           "'arguments':''}}"),
                     CALLS("{'index':0,'function':{'arguments':'{\\'x\\''}}"),
                     CALLS("{'index':1,'id':'b','function':{'name':'two','arguments':null}}"),
                     CALLS("{'index':1,'function':{'arguments':'{}'}},{'index':0,"
                           "'function':{'arguments':':1}'}}"),
                     FINISH("tool_calls")),
                 "call a one {'x':1}\n"
                 "call b two {}\n"
                 "calls tool_calls\n");
}

TEST(ids_and_names_may_be_repeated_on_every_piece)
{
    assert_reads(
        chat,
        SSE(CALLS("{'index':0,'id':'a','function':{'name':'one','arguments':'{\\'x\\':\\'}'}}"),
            CALLS("{'index':0,'id':'a','function':{'name':'one','arguments':'{\\'}'}}"),
            FINISH("tool_calls")),
        "call a one {'x':'}{'}\n"
        "calls tool_calls\n");
}

TEST(ids_may_change_on_pieces_without_a_name)
{
    assert_reads(chat,
                 SSE(CALLS("{'index':0,'id':'a','function':{'name':'one'}}"),
                     CALLS("{'index':0,'id':'b','function':{'arguments':'{}'}}"),
                     FINISH("tool_calls")),
                 "call a one {}\n"
                 "calls tool_calls\n");
}

TEST(names_may_come_in_pieces_or_late)
{
    assert_reads(chat,
                 SSE(CALLS("{'index':0,'id':'a','function':{'name':'get_'}}"),
                     CALLS("{'index':0,'function':{'name':'weather'}}"),
                     CALLS("{'index':1,'id':'b','function':{'name':'get_'}}"),
                     CALLS("{'index':1,'function':{'name':'get_time'}}"),
                     CALLS("{'index':2,'function':{'arguments':'{'}}"),
                     CALLS("{'index':2,'id':'c','function':{'name':'late','arguments':'}'}}"),
                     FINISH("tool_calls")),
                 "call a get_weather {}\n"
                 "call b get_time {}\n"
                 "call c late {}\n"
                 "calls tool_calls\n");
}

TEST(a_new_id_with_a_name_is_a_new_call_though_the_index_is_the_same)
{
    assert_reads(chat,
                 SSE(CALLS("{'index':0,'id':'a','function':{'name':'one','arguments':'{}'}}"),
                     CALLS("{'index':0,'id':'b','function':{'name':'one','arguments':''}}"),
                     CALLS("{'index':0,'function':{'arguments':'{\\'y\\':2}'}}"),
                     FINISH("tool_calls")),
                 "call a one {}\n"
                 "call b one {'y':2}\n"
                 "calls tool_calls\n");
}

TEST(whole_calls_without_id_and_with_the_same_index_are_told_apart)
{
    assert_reads(
        chat,
        SSE("{'id':'r'}",
            CALLS("{'index':0,'id':'','function':{'name':'one','arguments':'{\\'x\\':1}'}}"),
            CALLS("{'index':0,'id':'','function':{'name':'one','arguments':'{\\'x\\':2}'}}"),
            FINISH("stop")),
        "call made_id one {'x':1}\n"
        "call made_id one {'x':2}\n"
        "calls stop\n");
}

TEST(calls_without_index_are_told_apart_by_id_or_name)
{
    assert_reads(chat,
                 SSE(CALLS("{'id':'a','function':{'name':'one','arguments':'{'}},{'id':'b',"
                           "'function':{'name':'two','arguments':'{'}}"),
                     CALLS("{'id':'a','function':{'arguments':'}'}}"),
                     CALLS("{'id':'b','function':{'arguments':'\\'y\\''}}"),
                     CALLS("{'function':{'arguments':':2}'}}"), FINISH("tool_calls")),
                 "call a one {}\n"
                 "call b two {'y':2}\n"
                 "calls tool_calls\n");
}

TEST(arguments_may_be_an_object)
{
    assert_reads(
        chat,
        SSE(CALLS("{'index':0,'id':'a','function':{'name':'one','arguments':{'x': 1.50}}}"),
            FINISH("tool_calls")),
        "call a one {'x': 1.50}\n"
        "calls tool_calls\n");
}

TEST(arguments_that_are_no_object_are_kept_apart)
{
    assert_reads(
        chat,
        SSE(CALLS("{'index':0,'id':'a','function':{'name':'one','arguments':'{\\'x\\':'}}"),
            FINISH("length")),
        "call a one {}\n"
        "  bad arguments '{\\'x\\':'\n"
        "cut off length\n");
}

TEST(custom_tools_take_free_text)
{
    assert_reads(
        chat,
        SSE(CALLS("{'index':0,'id':'a','type':'custom','custom':{'name':'run','input':'1 '}}"),
            CALLS("{'index':0,'custom':{'input':'+ 1'}}"), FINISH("tool_calls")),
        "call a run 1 + 1 (free text)\n"
        "calls tool_calls\n");
}

TEST(what_a_vendor_attaches_to_a_call_is_kept)
{
    assert_reads(
        chat,
        SSE(CALLS("{'index':0,'id':'a','extra_content':{'google': {'thought_signature':'c2ln'}},"
                  "'function':{'name':'one','arguments':'{}'}}"),
            FINISH("tool_calls")),
        "call a one {}\n"
        "  native {'google': {'thought_signature':'c2ln'}}\n"
        "calls tool_calls\n");
}

TEST(a_legacy_function_call_is_no_tool_call)
{
    assert_reads(chat,
                 BODY("{'choices':[{'index':0,'message':{'content':null,"
                      "'function_call':{'name':'one','arguments':'{}'}},"
                      "'finish_reason':'function_call'}]}"),
                 "stopped function_call\n");
}

/* --- reasoning --- */

TEST(reasoning_has_many_names)
{
    assert_reads(chat,
                 SSE(DELTA("'reasoning_content':'a'"), DELTA("'reasoning':'b'"),
                     DELTA("'reasoning_text':'c'"),
                     DELTA("'reasoning_content':'d','reasoning':'d'"), FINISH("stop")),
                 "reasoning 'abcd'\n"
                 "end stop\n");
}

#define DETAILS(list) "'reasoning_details':[" list "]"

TEST(reasoning_details_are_not_counted_twice_and_are_put_together)
{
    assert_reads(
        chat,
        SSE(DELTA("'reasoning':'Let '," DETAILS("{'type':'reasoning.text','text':'Let ',"
                                                "'format':'f','index':0}")),
            DELTA("'reasoning':'me.'," DETAILS("{'type':'reasoning.text','text':'me.',"
                                               "'format':'f','index':0}")),
            DELTA(DETAILS("{'type':'reasoning.text','signature':'c2ln','index':0}")),
            DELTA("'content':'Done'"),
            DELTA(DETAILS("{'type':'reasoning.encrypted', 'data':'ZGF0YQ==','index':1}")),
            FINISH("stop")),
        "reasoning 'Let me.'\n"
        "  native [{'type':'reasoning.text','text':'Let me.','format':'f','index':0,"
        "'signature':'c2ln'},{'type':'reasoning.encrypted', 'data':'ZGF0YQ==','index':1}]\n"
        "text 'Done'\n"
        "end stop\n");
}

TEST(reasoning_details_alone_give_the_text)
{
    assert_reads(
        chat,
        SSE(DELTA(DETAILS("{'type':'reasoning.summary','summary':'Short.'}")), FINISH("stop")),
        "reasoning 'Short.'\n"
        "  native [{'type':'reasoning.summary','summary':'Short.'}]\n"
        "end stop\n");
}

TEST(a_signature_ends_a_thought)
{
    assert_reads(chat,
                 SSE(DELTA(DETAILS("{'type':'t','text':'a','signature':'1'}")),
                     DELTA(DETAILS("{'type':'t','text':'b'}")),
                     DELTA(DETAILS("{'type':'t','text':'c','signature':'2'}")), FINISH("stop")),
                 "reasoning 'abc'\n"
                 "  native [{'type':'t','text':'a','signature':'1'},{'type':'t','text':'bc',"
                 "'signature':'2'}]\n"
                 "end stop\n");
}

TEST(details_of_a_whole_answer_keep_their_bytes)
{
    assert_reads(chat,
                 BODY("{'choices':[{'message':{'content':'Done','reasoning':'ab',"
                      "'reasoning_details':[{'type':'t', 'text':'a'},{'type':'t', 'text':'b'}]},"
                      "'finish_reason':'stop'}]}"),
                 "reasoning 'ab'\n"
                 "  native [{'type':'t', 'text':'a'},{'type':'t', 'text':'b'}]\n"
                 "text 'Done'\n"
                 "end stop\n");
}

/* --- media, sources, hosted tools --- */

TEST(pictures_come_as_data_or_addresses)
{
    assert_reads(
        chat,
        SSE(DELTA("'images':[{'type':'image_url','image_url':{'url':'data:image/png;base64,"
                  "UE5H'}},{'type':'image_url','image_url':'https://example.com/a.png'}]"),
            FINISH("stop")),
        "media\n"
        "  image/png 'PNG'\n"
        "media\n"
        "  image/* at 'https://example.com/a.png'\n"
        "end stop\n");
}

TEST(a_picture_that_cannot_be_read_is_an_error)
{
    assert_reads(chat, SSE(DELTA("'images':[{'image_url':{'url':'data:image/png;base64,U?'}}]")),
                 "error bad_response: cannot decode an image that the provider sent: base64: byte "
                 "2 is not a base64 character\n");
    assert_reads(chat, SSE(DELTA("'images':[{'image_url':{'url':'data:image/svg+xml,x'}}]")),
                 "error bad_response: cannot decode an image that the provider sent: not base64\n");
}

TEST(speech_comes_with_its_words)
{
    assert_reads(chat,
                 SSE(DELTA("'audio':{'id':'audio_1','transcript':'Hel'}"),
                     DELTA("'audio':{'transcript':'lo','data':'UklG'}"),
                     DELTA("'audio':{'data':'Rg==','expires_at':1}"), FINISH("stop")),
                 "media audio_1 'Hello'\n"
                 "  audio/wav 'RIFF'\n"
                 "end stop\n");
}

TEST(citations_do_not_cut_the_text)
{
    assert_reads(
        chat,
        SSE(DELTA("'content':'It '"),
            DELTA("'annotations':[{'type':'url_citation',"
                  "'url_citation':{'url':'https://a.example','title':'A','content':'said'}},"
                  "{'type':'file','file':{}}]"),
            DELTA("'content':'is.'"), FINISH("stop")),
        "text 'It is.'\n"
        "citation https://a.example 'said'\n"
        "  title 'A'\n"
        "  native {'type':'url_citation','url_citation':{'url':'https://a.example',"
        "'title':'A','content':'said'}}\n"
        "end stop\n");
}

TEST(sources_that_every_chunk_lists_are_taken_once)
{
    assert_reads(chat,
                 SSE("{'citations':['https://a.example'],'choices':[{'delta':{'content':'It '}}]}",
                     "{'citations':['https://a.example'],'choices':[{'delta':{'content':'is.'},"
                     "'finish_reason':'stop'}]}"),
                 "text 'It is.'\n"
                 "citation https://a.example\n"
                 "  native 'https://a.example'\n"
                 "end stop\n");
    assert_reads(chat,
                 BODY("{'citations':['https://a.example'],"
                      "'search_results':[{'url':'https://a.example','title':'A'}],"
                      "'choices':[{'message':{'content':'Yes'},'finish_reason':'stop'}]}"),
                 "text 'Yes'\n"
                 "citation https://a.example\n"
                 "  title 'A'\n"
                 "  native {'url':'https://a.example','title':'A'}\n"
                 "end stop\n");
}

TEST(tools_that_the_provider_ran_are_told)
{
    assert_reads(
        chat,
        SSE(DELTA("'executed_tools':[{'index':0,'type':'search','arguments':'{}'}]"),
            DELTA(
                "'executed_tools':[{'index':0,'type':'search','arguments':'{}','output':'found'}]"),
            DELTA("'content':'Yes'"), FINISH("stop")),
        "server call executed_0 search {}\n"
        "server result executed_0 search 'found'\n"
        "  native {'index':0,'type':'search','arguments':'{}','output':'found'}\n"
        "text 'Yes'\n"
        "end stop\n");
}

/* --- stop --- */

TEST(stop_reasons_have_one_meaning)
{
    assert_reads(chat, SSE(DELTA("'content':'A'"), FINISH("length")),
                 "text 'A'\n"
                 "cut off length\n");
    assert_reads(chat, SSE(FINISH("content_filter")), "filtered content_filter\n");
    assert_reads(chat, SSE(FINISH("something_new")), "stopped something_new\n");
}

TEST(what_the_provider_behind_says_is_a_detail)
{
    assert_reads(chat,
                 SSE("{'choices':[{'delta':{},'finish_reason':'stop',"
                     "'native_finish_reason':'STOP'}]}"),
                 "end stop (STOP)\n");
    assert_reads(chat, SSE("{'choices':[{'delta':{},'finish_reason':'stop','stop_reason':'###'}]}"),
                 "end stop (###)\n");
}

TEST(done_is_an_end_even_without_a_reason)
{
    assert_reads(chat, SSE(DELTA("'content':'A'"), "[DONE]"), "text 'A'\n");
}

TEST(a_cut_stream_is_an_error)
{
    assert_reads(chat, SSE(DELTA("'content':'A'")),
                 "text 'A'\n"
                 "error network: the stream ended before the answer was complete\n");
}

TEST(an_answer_without_choices_is_an_error)
{
    assert_reads(chat, BODY("{'id':'c1','choices':[]}"),
                 "error bad_response: the answer has no choices\n");
    assert_reads(chat, SSE("{'choices':[]}", "[DONE]"),
                 "error bad_response: the answer has no choices\n");
}

/* --- usage --- */

#define USAGE(members) "{'choices':[{'delta':{}}],'usage':{" members "}}"

TEST(the_last_usage_wins)
{
    assert_reads(chat,
                 SSE(USAGE("'prompt_tokens':1,'completion_tokens':1"),
                     USAGE("'prompt_tokens':1,'completion_tokens':2"), FINISH("stop"),
                     "{'x_groq':{'usage':{'prompt_tokens':1,'completion_tokens':3}}}"),
                 "end stop\n"
                 "usage 1 in, 3 out\n");
}

TEST(usage_may_stand_in_the_choice)
{
    assert_reads(chat,
                 SSE("{'choices':[{'index':0,'delta':{},'finish_reason':'stop',"
                     "'usage':{'prompt_tokens':'5','completion_tokens':2,'cached_tokens':1}}]}"),
                 "end stop\n"
                 "usage 5 in, 2 out, 1 cached\n");
}

TEST(caches_are_counted_under_many_names)
{
    assert_reads(chat, SSE(USAGE("'prompt_tokens':9,'prompt_cache_hit_tokens':4"), "[DONE]"),
                 "usage 9 in, 4 cached\n");
    assert_reads(chat,
                 SSE(USAGE("'prompt_tokens':9,'prompt_tokens_details':{'cached_tokens':4,"
                           "'cache_write_tokens':3}"),
                     "[DONE]"),
                 "usage 9 in, 4 cached, 3 written\n");
    assert_reads(
        chat,
        SSE(USAGE("'prompt_tokens':9,'cache_read_input_tokens':4,'cache_creation_input_tokens':3"),
            "[DONE]"),
        "usage 9 in, 4 cached, 3 written\n");
}

TEST(counts_that_make_no_sense_are_left_out)
{
    assert_reads(chat, SSE(USAGE("'prompt_tokens':-1,'completion_tokens':1.5,'cost':-2"), "[DONE]"),
                 "");
}

TEST(the_cost_is_taken_in_microcents)
{
    assert_reads(chat, SSE(USAGE("'cost':0.000123"), "[DONE]"), "usage 12300 microcents\n");
    assert_reads(chat, SSE(USAGE("'cost':{'request_cost':1,'total_cost':0.006}"), "[DONE]"),
                 "usage 600000 microcents\n");
    assert_reads(chat, SSE(USAGE("'cost_in_usd_ticks':37756000"), "[DONE]"),
                 "usage 377560 microcents\n");
    assert_reads(
        chat,
        SSE(USAGE("'is_byok':true,'cost':0.01,'cost_details':{'upstream_inference_cost':0.2}"),
            "[DONE]"),
        "usage 21000000 microcents, 20000000 of them upstream\n");
    assert_reads(chat,
                 SSE(USAGE("'cost':0.2,'cost_details':{'upstream_inference_cost':0.19}"), "[DONE]"),
                 "usage 20000000 microcents, 19000000 of them upstream\n");
    assert_reads(chat,
                 SSE(USAGE("'cost':0.2,'cost_details':{'upstream_inference_cost':-1}"), "[DONE]"),
                 "usage 20000000 microcents\n");
    assert_reads(chat,
                 SSE(USAGE("'cost':0.2,'cost_details':{'upstream_inference_cost':null}"), "[DONE]"),
                 "usage 20000000 microcents\n");
}

static int64_t total_of(struct answer_text answer)
{
    AUTO(strbuf) struct strbuf bytes = answer_bytes(answer);
    AUTO(reply) struct reply reply;
    AUTO(decoder) struct decoder decoder;

    reply_init(&reply, (struct delta_sink){0});
    decoder_init(&decoder, chat, 200, NULL, 0, &reply);
    assert_ok(read_in_pieces(&decoder, strbuf_str(&bytes), SIZE_MAX));
    return usage_total(&reply.usage);
}

TEST(reasoning_beside_the_output_is_noticed_by_the_total)
{
    assert_int_equal(
        total_of(SSE(USAGE("'prompt_tokens':10,'completion_tokens':5,'total_tokens':22,"
                           "'completion_tokens_details':{'reasoning_tokens':7}"),
                     "[DONE]")),
        22);
    assert_int_equal(
        total_of(SSE(USAGE("'prompt_tokens':10,'completion_tokens':12,'total_tokens':22,"
                           "'completion_tokens_details':{'reasoning_tokens':7}"),
                     "[DONE]")),
        22);
}

TEST(routers_say_who_answered)
{
    assert_reads(chat,
                 SSE("{'provider':'Fireworks','model':'kimi','choices':[{'delta':{},"
                     "'finish_reason':'stop'}]}"),
                 "end stop\n"
                 "answered by Fireworks kimi\n");
    assert_reads(chat,
                 SSE(DELTA("'provider_metadata':{'gateway':{'routing':{'finalProvider':'vertex',"
                           "'resolvedProviderApiModelId':'gemini'}}}"),
                     FINISH("stop")),
                 "end stop\n"
                 "answered by vertex gemini\n");
}

/* --- errors --- */

TEST(an_error_in_mid_stream_ends_the_answer)
{
    assert_reads(chat,
                 SSE(DELTA("'content':'A'"),
                     "{'error':{'message':'Sorry.','type':'server_error','code':null}}"),
                 "text 'A'\n"
                 "error provider_unavailable: Sorry.\n");
    assert_reads(chat,
                 SSE(DELTA("'content':'A'"),
                     "{'error':{'code':502,'message':'Gone.'},'choices':[{'index':0,'delta':{},"
                     "'finish_reason':'error'}]}"),
                 "text 'A'\n"
                 "error provider_unavailable: Gone.\n");
    assert_reads(chat,
                 SSE("{'choices':[{'error':{'code':429,'message':'Slow down.'},"
                     "'finish_reason':'error'}]}"),
                 "error provider_rate_limit: Slow down.\n");
    assert_reads(chat, SSE(FINISH("error")),
                 "error provider_unavailable: the provider aborted the answer: error\n");
    assert_reads(chat, EVENT("error", "{'message':'Gone.'}"), "error provider_error: Gone.\n");
}

TEST(an_error_in_an_answer_of_status_200_is_an_error)
{
    assert_reads(chat, BODY("{'error':{'message':'No.','code':'insufficient_quota'}}"),
                 "error provider_auth: No.\n");
    assert_reads(chat, BODY("[{'error':{'code':400,'message':'No.'}}]"),
                 "error provider_error: No.\n");
    assert_reads(chat, BODY("{'base_resp':{'status_code':1004,'status_msg':'Who?'}}"),
                 "error provider_error: Who?\n");
}

TEST(errors_are_classified_by_their_words)
{
    static const struct {
        int status;
        const char *body, *want;
    } errors[] = {
        {401, "{'error':{'message':'m','code':'invalid_api_key'}}", "provider_auth"},
        {429, "{'error':{'message':'m','code':'insufficient_quota'}}", "provider_auth"},
        {429, "{'error':{'message':'m','type':'tokens','code':'rate_limit_exceeded'}}",
         "provider_rate_limit"},
        {404, "{'error':{'message':'m','code':'model_not_found'}}", "model_not_available"},
        {400, "{'error':{'message':'m','code':'context_length_exceeded'}}", "context_overflow"},
        {413, "{'error':{'message':'m','code':'rate_limit_exceeded'}}", "context_overflow"},
        {400,
         "{'error':{'message':'m','code':'content_filter','innererror':"
         "{'code':'ResponsibleAIPolicyViolation'}}}",
         "content_filter"},
        {403, "{'error':{'message':'m','code':403,'metadata':{'reasons':['x']}}}",
         "content_filter"},
        {400, "{'error':{'message':'m','type':'invalid_request_error'}}", "provider_error"},
        {400,
         "[{'error':{'message':'m','status':'INVALID_ARGUMENT','details':"
         "[{'reason':'API_KEY_INVALID'}]}}]",
         "provider_auth"},
        {503, "{'error':'m'}", "provider_unavailable"},
        {402, "{'message':'m'}", "provider_auth"},
        {401, "{'detail':'m'}", "provider_auth"},
        {422, "{'detail':[{'loc':['body'],'msg':'m'}]}", "provider_error"},
        {400, "{'object':'error','message':'m','type':'invalid_model'}", "model_not_available"},
        {400, "{'error':{'message':'m','code':'401'}}", "provider_error"},
    };

    for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
        AUTO(strbuf) struct strbuf want = {0};

        strbuf_addf(&want, "error %s: HTTP %d: m\n", errors[i].want, errors[i].status);
        assert_reads_failure(chat, errors[i].status, BODY(errors[i].body), strbuf_cstr(&want));
    }
}

TEST(the_error_behind_a_router_is_told_and_counts)
{
    assert_reads_failure(
        chat, 400,
        BODY("{'error':{'message':'Provider returned error','code':400,'metadata':{'raw':"
             "'{\\'error\\':{\\'message\\':\\'Too long.\\',"
             "\\'code\\':\\'context_length_exceeded\\'}}'}}}"),
        "error context_overflow: HTTP 400: Provider returned error: Too long.\n");
    assert_reads_failure(chat, 502,
                         BODY("{'error':{'message':'Provider returned "
                              "error','code':502,'metadata':{'raw':'ERROR'}}}"),
                         "error provider_unavailable: HTTP 502: Provider returned error\n");
}

TEST(an_error_without_words_is_known_by_its_status)
{
    assert_reads_failure(chat, 503, BODY(""),
                         "error provider_unavailable: HTTP 503: the provider gave no reason\n");
    assert_reads_failure(chat, 429, BODY("{}"),
                         "error provider_rate_limit: HTTP 429: the provider gave no reason\n");
}

RUN_TESTS(UNIT(text_comes_in_pieces), UNIT(watchers_see_each_piece_once),
          UNIT(a_call_is_whole_when_the_next_one_begins_text_follows_or_the_answer_ends),
          UNIT(a_call_of_which_more_may_come_is_not_whole),
          UNIT(arguments_that_come_again_when_they_are_whole_are_a_repetition),
          UNIT(a_whole_answer_reads_like_a_stream), UNIT(only_the_first_choice_counts),
          UNIT(a_message_beside_the_delta_is_a_repetition),
          UNIT(a_whole_answer_may_come_as_one_event), UNIT(content_may_be_a_list_of_parts),
          UNIT(think_tags_stay_text), UNIT(a_refusal_is_not_text),
          UNIT(nulls_and_empty_members_say_nothing), UNIT(calls_are_told_apart_by_index),
          UNIT(ids_and_names_may_be_repeated_on_every_piece),
          UNIT(ids_may_change_on_pieces_without_a_name), UNIT(names_may_come_in_pieces_or_late),
          UNIT(a_new_id_with_a_name_is_a_new_call_though_the_index_is_the_same),
          UNIT(whole_calls_without_id_and_with_the_same_index_are_told_apart),
          UNIT(calls_without_index_are_told_apart_by_id_or_name), UNIT(arguments_may_be_an_object),
          UNIT(arguments_that_are_no_object_are_kept_apart), UNIT(custom_tools_take_free_text),
          UNIT(what_a_vendor_attaches_to_a_call_is_kept),
          UNIT(a_legacy_function_call_is_no_tool_call), UNIT(reasoning_has_many_names),
          UNIT(reasoning_details_are_not_counted_twice_and_are_put_together),
          UNIT(reasoning_details_alone_give_the_text), UNIT(a_signature_ends_a_thought),
          UNIT(details_of_a_whole_answer_keep_their_bytes),
          UNIT(pictures_come_as_data_or_addresses), UNIT(a_picture_that_cannot_be_read_is_an_error),
          UNIT(speech_comes_with_its_words), UNIT(citations_do_not_cut_the_text),
          UNIT(sources_that_every_chunk_lists_are_taken_once),
          UNIT(tools_that_the_provider_ran_are_told), UNIT(stop_reasons_have_one_meaning),
          UNIT(what_the_provider_behind_says_is_a_detail),
          UNIT(done_is_an_end_even_without_a_reason), UNIT(a_cut_stream_is_an_error),
          UNIT(an_answer_without_choices_is_an_error), UNIT(the_last_usage_wins),
          UNIT(usage_may_stand_in_the_choice), UNIT(caches_are_counted_under_many_names),
          UNIT(counts_that_make_no_sense_are_left_out), UNIT(the_cost_is_taken_in_microcents),
          UNIT(reasoning_beside_the_output_is_noticed_by_the_total), UNIT(routers_say_who_answered),
          UNIT(an_error_in_mid_stream_ends_the_answer),
          UNIT(an_error_in_an_answer_of_status_200_is_an_error),
          UNIT(errors_are_classified_by_their_words),
          UNIT(the_error_behind_a_router_is_told_and_counts),
          UNIT(an_error_without_words_is_known_by_its_status))
