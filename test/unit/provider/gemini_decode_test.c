/* gemini_decode_test.c - JSON is written with single quotes here, so that it can be read. */
#include "provider/transcript.h"

static struct strbuf with_double_quotes(const char *text)
{
    struct strbuf out = {0};

    for (; *text; text++)
        strbuf_add_char(&out, *text == '\'' ? '"' : *text);
    return out;
}

static void check(int status, const char *bytes, const char *want, const char *file, int line)
{
    AUTO(strbuf) struct strbuf in = with_double_quotes(bytes), out = with_double_quotes(want);

    assert_reads_(&protocol_gemini, status, BODY(strbuf_cstr(&in)), strbuf_cstr(&out), file, line);
}

static void check_events(const char *want, const char *const *events, const char *file, int line)
{
    AUTO(strbuf) struct strbuf stream = {0};

    for (; *events; events++)
        strbuf_add_cstr(&stream, *events);
    check(200, strbuf_cstr(&stream), want, file, line);
}

/* The events come after what is wanted. */
#define assert_stream(want, ...)                                                                   \
    check_events((want), (const char *const[]){__VA_ARGS__, NULL}, __FILE__, __LINE__)
#define assert_gemini(bytes, want) check(200, (bytes), (want), __FILE__, __LINE__)
#define assert_gemini_fails(status, bytes, want)                                                   \
    check((status), (bytes), (want), __FILE__, __LINE__)

/* One event with these parts; and the event that ends an answer. */
#define PARTS(parts) "data: {'candidates':[{'content':{'parts':[" parts "],'role':'model'}}]}\n\n"
#define FINISH(reason) "data: {'candidates':[{'finishReason':'" reason "','index':0}]}\n\n"

/* A reply that has read the stream, for what the transcript does not tell. */
static struct err *read_stream(struct reply *r, const char *bytes)
{
    AUTO(strbuf) struct strbuf in = with_double_quotes(bytes);
    AUTO(decoder) struct decoder d;

    reply_init(r, (struct delta_sink){0});
    decoder_init(&d, &protocol_gemini, 200, NULL, 0, r);
    return read_in_pieces(&d, strbuf_str(&in), SIZE_MAX);
}

static struct err *classify(int status, const char *body)
{
    AUTO(strbuf) struct strbuf text = with_double_quotes(body);
    AUTO(arena) struct arena a = {0};
    struct json *v;

    assert_ok(json_parse(&a, strbuf_str(&text), 0, &v));
    return protocol_gemini.classify(status, v);
}

/* --- text --- */

TEST(text_of_all_events_is_one_part)
{
    assert_stream(
        "text 'Hello'\n"
        "end STOP\n"
        "usage 4 in, 2 out, 3 cached, 7 reasoning\n",
        "data: {'candidates':[{'content':{'parts':[{'text':'Hel'}],'role':'model'}}],"
        "'usageMetadata':{'promptTokenCount':4,'totalTokenCount':4}}\n\n",
        "data: {'candidates':[{'content':{'parts':[{'text':'lo'},{'text':''}]},"
        "'finishReason':'STOP'}],'usageMetadata':{'promptTokenCount':4,"
        "'candidatesTokenCount':2,'cachedContentTokenCount':3,'thoughtsTokenCount':7}}\n\n");
}

TEST(the_answer_says_its_id_and_model)
{
    AUTO(reply) struct reply r;

    assert_ok(
        read_stream(&r, "data: {'responseId':'r1','modelVersion':'gemini-x'}\n\n" FINISH("STOP")));
    assert_str(r.id, "r1");
    assert_str(r.model, "gemini-x");
}

TEST(thoughts_are_reasoning)
{
    assert_stream("reasoning 'Hmm'\n"
                  "text 'Yes'\n"
                  "end STOP\n",
                  PARTS("{'text':'Hm','thought':true}"),
                  PARTS("{'text':'m','thought':true},"
                        "{'text':'Yes','thought':false}"),
                  FINISH("STOP"));
}

TEST(a_part_with_a_signature_stands_alone_and_keeps_its_bytes)
{
    assert_stream("text 'ab'\n"
                  "text 'c'\n"
                  "  signature 's1'\n"
                  "  native {'text':'c', 'thoughtSignature':'s1'}\n"
                  "text 'd'\n"
                  "text\n"
                  "  signature 's2'\n"
                  "  native {'text':'','thoughtSignature':'s2'}\n"
                  "end STOP\n",
                  PARTS("{'text':'a'}"), PARTS("{'text':'b'}"),
                  PARTS("{'text':'c', 'thoughtSignature':'s1'}"), PARTS("{'text':'d'}"),
                  PARTS("{'text':'','thoughtSignature':'s2'}"), FINISH("STOP"));
}

TEST(a_signature_may_come_without_content)
{
    assert_stream("text\n"
                  "  signature 's'\n"
                  "  native {'thoughtSignature':'s'}\n"
                  "end STOP\n",
                  PARTS("{'thoughtSignature':'s'}"), FINISH("STOP"));
}

TEST(more_text_costs_no_memory_beside_the_text)
{
    AUTO(reply) struct reply r;
    AUTO(decoder) struct decoder d;
    AUTO(strbuf) struct strbuf event = {0};
    size_t used;

    event = with_double_quotes(
        "data: {'candidates':[{'content':{'parts':[{'text':'x'}]},'finishReason':'STOP'}],"
        "'usageMetadata':{'promptTokenCount':4},'responseId':'r','modelVersion':'m'}\n\n");
    reply_init(&r, (struct delta_sink){0});
    decoder_init(&d, &protocol_gemini, 200, NULL, 0, &r);
    assert_ok(decoder_feed(&d, strbuf_str(&event)));
    used = r.arena.used_bytes;
    for (int i = 0; i < 100; i++)
        assert_ok(decoder_feed(&d, strbuf_str(&event)));
    assert_int_equal(r.arena.used_bytes, used);
    assert_int_equal(r.parts[0].text.n, 101);
}

/* --- calls --- */

TEST(a_call_keeps_its_id_arguments_and_signature)
{
    assert_stream("call c1 look {'q':'a b'}\n"
                  "  signature 's'\n"
                  "  native {'functionCall':{'id':'c1','name':'look','args':{'q':'a b'}},"
                  "'thoughtSignature':'s'}\n"
                  "calls STOP\n",
                  PARTS("{'functionCall':{'id':'c1','name':'look','args':{'q':'a b'}},"
                        "'thoughtSignature':'s'}"),
                  FINISH("STOP"));
}

TEST(calls_without_ids_get_different_ones)
{
    AUTO(reply) struct reply r;

    assert_ok(read_stream(&r, PARTS("{'functionCall':{'name':'f','args':{}}},"
                                    "{'functionCall':{'name':'f','args':{}}}") FINISH("STOP")));
    assert_int_equal(r.n_parts, 2);
    assert_true(r.parts[0].part.id.n > 0);
    assert_false(str_eq(r.parts[0].part.id, r.parts[1].part.id));
}

TEST(a_call_may_lack_arguments)
{
    assert_stream("call 1 f {}\n"
                  "  native {'functionCall':{'id':'1','name':'f'}}\n"
                  "call 2 f {}\n"
                  "  native {'functionCall':{'id':'2','name':'f','args':null}}\n"
                  "calls STOP\n",
                  PARTS("{'functionCall':{'id':'1','name':'f'}},"
                        "{'functionCall':{'id':'2','name':'f','args':null}}"),
                  FINISH("STOP"));
}

TEST(arguments_that_are_no_object_are_bad_ones)
{
    assert_stream("call 1 f {}\n"
                  "  bad arguments '[1]'\n"
                  "  native {'functionCall':{'id':'1','name':'f','args':[1]}}\n"
                  "calls STOP\n",
                  PARTS("{'functionCall':{'id':'1','name':'f','args':[1]}}"), FINISH("STOP"));
}

TEST(an_answer_that_was_cut_off_in_a_call_says_so)
{
    assert_stream("call 1 f {}\n"
                  "  bad arguments '(nothing: the answer was cut off)'\n"
                  "  native {'functionCall':{'id':'1','name':'f'}}\n"
                  "cut off MAX_TOKENS\n",
                  PARTS("{'functionCall':{'id':'1','name':'f'}}"), FINISH("MAX_TOKENS"));
}

/* --- arguments in pieces --- */

#define CALL(fields) PARTS("{'functionCall':{" fields "}}")
#define PIECES(pieces) CALL("'partialArgs':[" pieces "],'willContinue':true")

TEST(arguments_in_pieces_are_put_together)
{
    assert_stream(
        "call 1 cook {'list':[{'name':'Egg'},{'n':2.5,'raw':true}],'note':null}\n"
        "  signature 's'\n"
        "  native {'functionCall':{'id':'1','name':'cook','args':"
        "{'list':[{'name':'Egg'},{'n':2.5,'raw':true}],'note':null}},'thoughtSignature':'s'}\n"
        "calls STOP\n",
        PARTS("{'functionCall':{'id':'1','name':'cook','willContinue':true},"
              "'thoughtSignature':'s'}"),
        PIECES("{'jsonPath':'$.list[0].name','stringValue':'Eg','willContinue':true}"),
        PIECES("{'jsonPath':'$.list[0].name','stringValue':'g','willContinue':true}"),
        PIECES("{'jsonPath':'$.list[0].name','stringValue':''}"), CALL("'willContinue':true"),
        PIECES("{'jsonPath':'$.list[1].n','numberValue':2.5},"
               "{'jsonPath':'$.list[1].raw','boolValue':true}"),
        PIECES("{'jsonPath':'$.note','nullValue':'NULL_VALUE'}"), CALL(""), FINISH("STOP"));
}

TEST(calls_in_pieces_follow_each_other)
{
    assert_stream("call 1 f {}\n"
                  "  native {'functionCall':{'id':'1','name':'f'}}\n"
                  "call 2 g {'a':'x'}\n"
                  "  native {'functionCall':{'id':'2','name':'g','args':{'a':'x'}}}\n"
                  "call 3 g {'a':'y'}\n"
                  "  native {'functionCall':{'id':'3','name':'g','args':{'a':'y'}}}\n"
                  "calls STOP\n",
                  CALL("'id':'1','name':'f'"), CALL("'id':'2','name':'g','willContinue':true"),
                  PIECES("{'jsonPath':'$.a','stringValue':'x'}"), CALL(""),
                  CALL("'id':'3','name':'g','willContinue':true"),
                  PIECES("{'jsonPath':'$.a','stringValue':'y'}"), FINISH("STOP"));
}

TEST(a_piece_may_repeat_the_name_of_its_call)
{
    assert_stream("call 1 f {'a':1,'b':2}\n"
                  "  native {'functionCall':{'id':'1','name':'f','args':{'a':1,'b':2}}}\n"
                  "calls STOP\n",
                  CALL("'id':'1','name':'f','args':{'a':1},'willContinue':true"),
                  CALL("'id':'1','name':'f','partialArgs':[{'jsonPath':'$.b','numberValue':2}]"),
                  FINISH("STOP"));
}

TEST(a_call_that_was_cut_off_has_bad_arguments)
{
    assert_stream("call 1 f {}\n"
                  "  bad arguments '{\\'a\\':\\'rm -r\\''\n"
                  "cut off MAX_TOKENS\n",
                  CALL("'id':'1','name':'f','willContinue':true"),
                  PIECES("{'jsonPath':'$.a','stringValue':'rm -r','willContinue':true}"),
                  FINISH("MAX_TOKENS"));
    assert_stream("call 1 f {}\n"
                  "  bad arguments '{'\n"
                  "error network: the stream ended before the answer was complete\n",
                  CALL("'id':'1','name':'f','willContinue':true"));
}

/* --- files --- */

TEST(files_come_as_bytes_or_as_addresses)
{
    assert_stream("text 'a'\n"
                  "media\n"
                  "  image/png '\\u0001\\u0002\\u0003\\u0004'\n"
                  "  signature 's'\n"
                  "media\n"
                  "  video/mp4 at 'gs://b/v'\n"
                  "text 'b'\n"
                  "end STOP\n",
                  PARTS("{'text':'a'},{'inlineData':{'mimeType':'image/png','data':'AQIDBA=='},"
                        "'thoughtSignature':'s'},{'fileData':{'mimeType':'video/mp4',"
                        "'fileUri':'gs://b/v'}},{'text':'b'}"),
                  FINISH("STOP"));
}

TEST(drafts_of_pictures_are_left_out)
{
    assert_stream("end STOP\n",
                  PARTS("{'thought':true,'inlineData':{'mimeType':'image/png','data':'AQID'}}"),
                  FINISH("STOP"));
}

TEST(a_file_that_is_not_base64_is_an_error)
{
    AUTO(reply) struct reply r;

    assert_err(read_stream(&r, PARTS("{'inlineData':{'mimeType':'image/png','data':'?'}}")),
               ERR_BAD_RESPONSE);
}

/* --- the provider's own tools --- */

TEST(tools_that_the_provider_runs_are_kept_for_going_back)
{
    assert_stream(
        "server call code_execution {'language':'PYTHON','code':'1'}\n"
        "  signature 's'\n"
        "  native {'executableCode':{'language':'PYTHON','code':'1'},'thoughtSignature':'s'}\n"
        "server result code_execution\n"
        "  native {'codeExecutionResult':{'outcome':'OUTCOME_OK','output':'1'}}\n"
        "server call t GOOGLE_SEARCH_WEB {'queries':['q']}\n"
        "  native {'toolCall':{'toolType':'GOOGLE_SEARCH_WEB','args':{'queries':['q']},'id':'t'}}\n"
        "server result t GOOGLE_SEARCH_WEB\n"
        "  native {'toolResponse':{'toolType':'GOOGLE_SEARCH_WEB','id':'t'}}\n"
        "end STOP\n",
        PARTS("{'executableCode':{'language':'PYTHON','code':'1'},'thoughtSignature':'s'},"
              "{'codeExecutionResult':{'outcome':'OUTCOME_OK','output':'1'}},"
              "{'toolCall':{'toolType':'GOOGLE_SEARCH_WEB','args':{'queries':['q']},'id':'t'}},"
              "{'toolResponse':{'toolType':'GOOGLE_SEARCH_WEB','id':'t'}}"),
        FINISH("STOP"));
}

TEST(a_part_of_an_unknown_kind_is_kept_and_an_empty_one_is_not)
{
    assert_stream("server result hologram\n"
                  "  native {'hologram':{'size':3}}\n"
                  "end STOP\n",
                  PARTS("{},{'hologram':{'size':3}},{'thought':true}"), FINISH("STOP"));
}

/* --- sources --- */

TEST(sources_are_cited_once_and_text_goes_on_after_them)
{
    assert_stream(
        "text 'ab'\n"
        "citation http://x\n"
        "  title 'X'\n"
        "  native {'web':{'uri':'http://x','title':'X'}}\n"
        "citation 'said so'\n"
        "  title 'Y'\n"
        "  native {'retrievedContext':{'title':'Y','text':'said so'}}\n"
        "citation http://z\n"
        "  native {'image':{'sourceUri':'http://z'}}\n"
        "end STOP\n",
        "data: {'candidates':[{'content':{'parts':[{'text':'a'}]},'groundingMetadata':"
        "{'groundingChunks':[{'web':{'uri':'http://x','title':'X'}}]}}]}\n\n",
        "data: {'candidates':[{'content':{'parts':[{'text':'b'}]},'finishReason':'STOP',"
        "'groundingMetadata':{'groundingChunks':[{'web':{'uri':'http://x','title':'X'}},"
        "{'retrievedContext':{'title':'Y','text':'said so'}},{'image':{'sourceUri':'http://z'}}]}}"
        "]}\n\n");
}

TEST(recited_works_are_cited_under_both_names)
{
    assert_stream(
        "citation http://v\n"
        "  title 'V'\n"
        "  native {'uri':'http://v','title':'V'}\n"
        "citation http://g\n"
        "  native {'uri':'http://g'}\n"
        "filtered RECITATION\n",
        "data: {'candidates':[{'citationMetadata':{'citations':[{'uri':'http://v',"
        "'title':'V'}]}}]}\n\n",
        "data: {'candidates':[{'citationMetadata':{'citationSources':[{'uri':'http://g'}]},"
        "'finishReason':'RECITATION'}]}\n\n");
}

TEST(fetched_pages_are_told_but_never_go_back)
{
    assert_stream("server call url_context {'retrievedUrl':'http://p'}\n"
                  "end STOP\n",
                  "data: {'candidates':[{'urlContextMetadata':{'urlMetadata':[{'retrievedUrl':"
                  "'http://p'}]}}]}\n\n",
                  "data: {'candidates':[{'urlContextMetadata':{'urlMetadata':[{'retrievedUrl':"
                  "'http://p'}]},'finishReason':'STOP'}]}\n\n");
}

/* --- the end --- */

TEST(finish_reasons_have_our_words)
{
    assert_gemini(FINISH("STOP"), "end STOP\n");
    assert_gemini(FINISH("MAX_TOKENS"), "cut off MAX_TOKENS\n");
    assert_gemini(FINISH("SAFETY"), "filtered SAFETY\n");
    assert_gemini(FINISH("PROHIBITED_CONTENT"), "filtered PROHIBITED_CONTENT\n");
    assert_gemini(FINISH("IMAGE_SAFETY"), "filtered IMAGE_SAFETY\n");
    assert_gemini(FINISH("MALFORMED_FUNCTION_CALL"), "unread MALFORMED_FUNCTION_CALL\n");
    assert_gemini(FINISH("UNEXPECTED_TOOL_CALL"), "unread UNEXPECTED_TOOL_CALL\n");
    assert_gemini(FINISH("YOUNGER_THAN_US"), "stopped YOUNGER_THAN_US\n");
}

TEST(a_finish_reason_may_be_a_number_and_may_be_explained)
{
    assert_gemini("data: {'candidates':[{'finishReason':2,'finishMessage':'too long'}]}\n\n",
                  "cut off 2 (too long)\n");
}

TEST(the_last_finish_reason_holds)
{
    assert_stream("text 'a'\n"
                  "filtered SAFETY\n",
                  "data: {'candidates':[{'content':{'parts':[{'text':'a'}]},'finishReason':'STOP'}]"
                  "}\n\n",
                  FINISH("SAFETY"));
}

TEST(a_stream_without_a_finish_reason_was_cut)
{
    static const char *const ends[] = {
        "",
        "data: {'candidates':[{'finishReason':null}]}\n\n",
        "data: {'candidates':[{'finishReason':'FINISH_REASON_UNSPECIFIED'}]}\n\n",
        "data: {'candidates':[{'finishReason':0}]}\n\n",
        "data: [DONE]\n\n",
        "data: {'candidates':[{'finishReason':'ST",
    };

    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        AUTO(strbuf) struct strbuf stream = {0};

        strbuf_addf(&stream, "%s%s", PARTS("{'text':'a'}"), ends[i]);
        assert_gemini(strbuf_cstr(&stream),
                      "text 'a'\n"
                      "error network: the stream ended before the answer was complete\n");
    }
}

TEST(a_blocked_prompt_is_a_filtered_answer)
{
    AUTO(reply) struct reply r;

    assert_ok(read_stream(&r, "{'promptFeedback':{'blockReason':'SAFETY'},"
                              "'usageMetadata':{'promptTokenCount':4}}"));
    assert_int_equal(r.stop, STOP_FILTERED);
    assert_str(r.stop_reason, "");
    assert_str(r.stop_detail, "SAFETY");
    assert_int_equal(r.usage.input, 4);
}

TEST(only_the_first_candidate_is_read)
{
    assert_stream("text 'yes'\n"
                  "end STOP\n",
                  "data: {'candidates':[{'index':1,'content':{'parts':[{'text':'no'}]},"
                  "'finishReason':'SAFETY'},{'index':0,'content':{'parts':[{'text':'yes'}]}}]}\n\n",
                  "data: {'candidates':[{'index':1,'content':{'parts':[{'text':'no'}]}}]}\n\n",
                  FINISH("STOP"));
}

/* --- usage --- */

TEST(counts_may_be_strings_and_nonsense_is_no_count)
{
    assert_stream("end STOP\n"
                  "usage 12 in\n",
                  "data: {'usageMetadata':{'promptTokenCount':'12','candidatesTokenCount':null,"
                  "'thoughtsTokenCount':-3,'cachedContentTokenCount':9223372036854775807}}\n\n",
                  "data: {'usageMetadata':{}}\n\n", FINISH("STOP"));
}

TEST(the_total_is_the_one_that_google_counts)
{
    AUTO(reply) struct reply r;

    assert_ok(read_stream(&r, "{'candidates':[{'finishReason':'STOP'}],'usageMetadata':{"
                              "'promptTokenCount':427,'candidatesTokenCount':122,"
                              "'cachedContentTokenCount':27,'toolUsePromptTokenCount':771,"
                              "'thoughtsTokenCount':447,'totalTokenCount':1767}}"));
    assert_int_equal(usage_total(&r.usage), 1767);
    assert_int_equal(usage_fresh_input(&r.usage), 400 + 771);
    assert_int_equal(usage_completion(&r.usage), 122 + 447);
}

/* --- framings and spellings --- */

TEST(a_stream_may_be_one_array)
{
    assert_gemini("[{'candidates':[{'content':{'parts':[{'text':'a'}]}}]}\n,\r\n"
                  "{'candidates':[{'content':{'parts':[{'text':'b'}]},'finishReason':'STOP'}]}\n]",
                  "text 'ab'\n"
                  "end STOP\n");
}

TEST(an_array_that_was_cut_is_no_answer)
{
    AUTO(reply) struct reply r;

    assert_err(read_stream(&r, "[{'candidates':[{'content':{'parts':[{'text':'a'}]},"
                               "'finishReason':'STOP'}]}\n,\r\n"),
               ERR_NETWORK);
}

TEST(a_whole_answer_is_read_like_a_stream)
{
    assert_gemini("{'candidates':[{'content':{'parts':[{'text':'a'},{'functionCall':{'id':'1',"
                  "'name':'f','args':{}}}]},'finishReason':'STOP'}],"
                  "'usageMetadata':{'promptTokenCount':1,'candidatesTokenCount':2}}",
                  "text 'a'\n"
                  "call 1 f {}\n"
                  "  native {'functionCall':{'id':'1','name':'f','args':{}}}\n"
                  "calls STOP\n"
                  "usage 1 in, 2 out\n");
}

TEST(a_whole_answer_needs_content_or_a_reason)
{
    assert_gemini("{'candidates':[{'content':{'parts':[{'text':'a'}]}}]}", "text 'a'\n");
    assert_gemini("{'usageMetadata':{}}", "error bad_response: the answer has no candidates\n");
    assert_gemini("{'candidates':[]}",
                  "error network: the stream ended before the answer was complete\n");
}

TEST(fields_may_be_spelled_with_underscores)
{
    assert_gemini("data: {'candidates':[{'content':{'parts':[{'text':'c','thought_signature':'s'},"
                  "{'inline_data':{'mime_type':'image/png','data':'QQ=='}},"
                  "{'function_call':{'id':'1','name':'f','args':{'a':1}}}]},"
                  "'finish_reason':'STOP'}],'usage_metadata':{'prompt_token_count':1,"
                  "'candidates_token_count':2}}\n\n",
                  "text 'c'\n"
                  "  signature 's'\n"
                  "  native {'text':'c','thought_signature':'s'}\n"
                  "media\n"
                  "  image/png 'A'\n"
                  "call 1 f {'a':1}\n"
                  "  native {'function_call':{'id':'1','name':'f','args':{'a':1}}}\n"
                  "calls STOP\n"
                  "usage 1 in, 2 out\n");
}

TEST(an_answer_may_be_wrapped)
{
    assert_gemini("data: {'response':{'candidates':[{'content':{'parts':[{'text':'a'}]},"
                  "'finishReason':'STOP'}]},'traceId':'t'}\n\n",
                  "text 'a'\n"
                  "end STOP\n");
}

TEST(values_of_the_wrong_type_are_passed_over)
{
    assert_stream("end STOP\n", "data: {'candidates':{},'usageMetadata':[],'promptFeedback':3}\n\n",
                  "data: {'candidates':[1,null,{'content':[],'groundingMetadata':'x'}]}\n\n",
                  "data: {'candidates':[{'content':{'parts':[0,null,'x',[],{'text':7}]}}]}\n\n",
                  "data: 5\n\n", FINISH("STOP"));
}

TEST(an_answer_cannot_fill_the_memory)
{
    AUTO(strbuf) struct strbuf event = {0};
    AUTO(reply) struct reply r;
    AUTO(decoder) struct decoder d;
    AUTO(err) struct err *e = NULL;
    AUTO(strbuf) struct strbuf big = {0};

    for (int i = 0; i < 8 << 20; i++)
        strbuf_add_char(&big, 'x');
    strbuf_addf(&event,
                "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"\","
                "\"thoughtSignature\":\"%s\"}]}}]}\n\n",
                strbuf_cstr(&big));
    reply_init(&r, (struct delta_sink){0});
    decoder_init(&d, &protocol_gemini, 200, NULL, 0, &r);
    for (int i = 0; i < 10 && !e; i++)
        e = decoder_feed(&d, strbuf_str(&event));
    assert_err(TAKE(e), ERR_BAD_RESPONSE);
}

/* --- errors --- */

TEST(errors_have_kinds_from_their_status)
{
    static const struct {
        int http;
        const char *status;
        enum err_kind kind;
    } cases[] = {
        {400, "INVALID_ARGUMENT", ERR_PROVIDER_ERROR},
        {400, "FAILED_PRECONDITION", ERR_PROVIDER_AUTH},
        {401, "UNAUTHENTICATED", ERR_PROVIDER_AUTH},
        {402, "RESOURCE_EXHAUSTED", ERR_PROVIDER_AUTH},
        {403, "PERMISSION_DENIED", ERR_PROVIDER_AUTH},
        {404, "NOT_FOUND", ERR_MODEL_NOT_AVAILABLE},
        {429, "RESOURCE_EXHAUSTED", ERR_PROVIDER_RATE_LIMIT},
        {499, "CANCELLED", ERR_PROVIDER_UNAVAILABLE},
        {500, "INTERNAL", ERR_PROVIDER_UNAVAILABLE},
        {503, "UNAVAILABLE", ERR_PROVIDER_UNAVAILABLE},
        {504, "DEADLINE_EXCEEDED", ERR_TIMEOUT},
        {418, "YOUNGER_THAN_US", ERR_PROVIDER_ERROR},
        {503, "YOUNGER_THAN_US", ERR_PROVIDER_UNAVAILABLE},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(strbuf) struct strbuf body = {0};

        strbuf_addf(&body, "{'error':{'code':%d,'message':'m','status':'%s'}}", cases[i].http,
                    cases[i].status);
        assert_err(classify(cases[i].http, strbuf_cstr(&body)), cases[i].kind);
        assert_err(classify(0, strbuf_cstr(&body)), cases[i].kind);
    }
}

TEST(a_bad_key_is_told_from_a_bad_request)
{
    assert_err(classify(400, "{'error':{'code':400,'message':'API key not valid.',"
                             "'status':'INVALID_ARGUMENT','details':[{'@type':"
                             "'type.googleapis.com/google.rpc.ErrorInfo',"
                             "'reason':'API_KEY_INVALID'}]}}"),
               ERR_PROVIDER_AUTH);
}

static int64_t retry_after(const char *delay)
{
    AUTO(strbuf) struct strbuf body = {0};
    AUTO(err) struct err *e = NULL;

    strbuf_addf(&body,
                "{'error':{'code':429,'status':'RESOURCE_EXHAUSTED','details':[{'@type':'x'},"
                "{'@type':'type.googleapis.com/google.rpc.RetryInfo','retryDelay':'%s'}]}}",
                delay);
    e = classify(429, strbuf_cstr(&body));
    return e->retry_after_ms;
}

TEST(the_provider_says_when_to_come_back)
{
    assert_int_equal(retry_after("12s"), 12000);
    assert_int_equal(retry_after("34.0745s"), 34075);
    assert_int_equal(retry_after("0s"), 0);
    assert_int_equal(retry_after("1e300s"), 86400000);
    assert_int_equal(retry_after("-1s"), -1);
    assert_int_equal(retry_after("soon"), -1);
    assert_int_equal(retry_after(""), -1);
}

TEST(an_error_may_come_in_an_array_or_as_a_word)
{
    assert_gemini_fails(503,
                        "[{'error':{'code':503,'message':'Overloaded.','status':'UNAVAILABLE'}}]",
                        "error provider_unavailable: HTTP 503: Overloaded.\n");
    assert_gemini_fails(400, "{'error':'invalid_grant'}",
                        "error provider_error: HTTP 400: invalid_grant\n");
    assert_gemini_fails(500, "{}",
                        "error provider_unavailable: HTTP 500: the provider gave no reason\n");
}

TEST(an_error_in_the_middle_keeps_what_came_before)
{
    assert_stream("text 'a'\n"
                  "error provider_unavailable: Overloaded.\n",
                  PARTS("{'text':'a'}"),
                  "data: {'error':{'code':503,'message':'Overloaded.',"
                  "'status':'UNAVAILABLE'}}\n\n");
    assert_gemini("{'error':{'code':429,'message':'Slow down.'}}",
                  "error provider_rate_limit: Slow down.\n");
}

TEST(a_call_is_whole_when_it_comes_and_one_in_pieces_with_its_last)
{
    assert_ends(&protocol_gemini,
                BODY(PARTS("{'text':'Hm.','thought':true}"), PARTS("{'text':'So'}"),
                     CALL("'name':'f','args':{'a':1}"), CALL("'name':'g','willContinue':true"),
                     CALL("'partialArgs':[{'jsonPath':'$.b','numberValue':2}],'willContinue':true"),
                     CALL(""), CALL("'id':'x','name':'h'"), PARTS("{'text':'.'}"), FINISH("STOP")),
                "0 reasoning 'Hm.'\n"
                "0 whole\n"
                "1 text 'So'\n"
                "1 whole\n"
                "2 call f\n"
                "2 args '{\\'a\\':1}'\n"
                "2 whole made_id {'a':1}\n"
                "3 call g\n"
                "3 args '{\\'b\\':2}'\n"
                "3 whole made_id {'b':2}\n"
                "4 call x h\n"
                "4 whole x\n"
                "5 text '.'\n");
}

TEST(a_call_that_was_cut_off_is_never_whole)
{
    assert_ends(&protocol_gemini,
                BODY(CALL("'name':'g','willContinue':true"), FINISH("MAX_TOKENS")),
                "0 call g\n"
                "0 args '{'\n");
}

RUN_TESTS(
    UNIT(a_call_is_whole_when_it_comes_and_one_in_pieces_with_its_last),
    UNIT(a_call_that_was_cut_off_is_never_whole), UNIT(text_of_all_events_is_one_part),
    UNIT(the_answer_says_its_id_and_model), UNIT(thoughts_are_reasoning),
    UNIT(a_part_with_a_signature_stands_alone_and_keeps_its_bytes),
    UNIT(a_signature_may_come_without_content), UNIT(more_text_costs_no_memory_beside_the_text),
    UNIT(a_call_keeps_its_id_arguments_and_signature), UNIT(calls_without_ids_get_different_ones),
    UNIT(a_call_may_lack_arguments), UNIT(arguments_that_are_no_object_are_bad_ones),
    UNIT(an_answer_that_was_cut_off_in_a_call_says_so), UNIT(arguments_in_pieces_are_put_together),
    UNIT(calls_in_pieces_follow_each_other), UNIT(a_piece_may_repeat_the_name_of_its_call),
    UNIT(a_call_that_was_cut_off_has_bad_arguments),

    UNIT(files_come_as_bytes_or_as_addresses), UNIT(drafts_of_pictures_are_left_out),
    UNIT(a_file_that_is_not_base64_is_an_error),
    UNIT(tools_that_the_provider_runs_are_kept_for_going_back),
    UNIT(a_part_of_an_unknown_kind_is_kept_and_an_empty_one_is_not),
    UNIT(sources_are_cited_once_and_text_goes_on_after_them),
    UNIT(recited_works_are_cited_under_both_names), UNIT(fetched_pages_are_told_but_never_go_back),
    UNIT(finish_reasons_have_our_words), UNIT(a_finish_reason_may_be_a_number_and_may_be_explained),
    UNIT(the_last_finish_reason_holds), UNIT(a_stream_without_a_finish_reason_was_cut),
    UNIT(a_blocked_prompt_is_a_filtered_answer), UNIT(only_the_first_candidate_is_read),
    UNIT(counts_may_be_strings_and_nonsense_is_no_count),
    UNIT(the_total_is_the_one_that_google_counts), UNIT(a_stream_may_be_one_array),
    UNIT(an_array_that_was_cut_is_no_answer), UNIT(a_whole_answer_is_read_like_a_stream),
    UNIT(a_whole_answer_needs_content_or_a_reason), UNIT(fields_may_be_spelled_with_underscores),
    UNIT(an_answer_may_be_wrapped), UNIT(values_of_the_wrong_type_are_passed_over),
    UNIT(an_answer_cannot_fill_the_memory), UNIT(errors_have_kinds_from_their_status),
    UNIT(a_bad_key_is_told_from_a_bad_request), UNIT(the_provider_says_when_to_come_back),
    UNIT(an_error_may_come_in_an_array_or_as_a_word),
    UNIT(an_error_in_the_middle_keeps_what_came_before))
