/* decode_test.c - what all protocols share when an answer is read: framing, limits, ends. */
#include "provider/transcript.h"

#include "provider/provider_error.h"
#include "provider/vendor.h"

/* How each protocol says "Hi." as a stream: up to the model's last word, and the stream's own. */
struct spoken {
    const struct protocol *protocol;
    struct answer_text text, end, over;
};

#define NOTHING ANSWER("", "", NULL)

static const struct spoken all[] = {
    {&protocol_anthropic_messages,
     SSE("{'type':'message_start','message':{'id':'m'}}",
         "{'type':'content_block_start','index':0,'content_block':{'type':'text','text':'Hi.'}}",
         "{'type':'content_block_stop','index':0}",
         "{'type':'message_delta','delta':{'stop_reason':'end_turn'}}"),
     NOTHING, SSE("{'type':'message_stop'}")},
    {&protocol_openai_chat, SSE("{'choices':[{'delta':{'content':'Hi.'}}]}"),
     SSE("{'choices':[{'delta':{},'finish_reason':'stop'}]}"), SSE("[DONE]")},
    {&protocol_openai_responses,
     SSE("{'type':'response.output_text.delta','item_id':'i','output_index':0,'delta':'Hi.'}"),
     NOTHING, SSE("{'type':'response.completed','response':{'status':'completed'}}")},
    {&protocol_gemini, SSE("{'candidates':[{'content':{'parts':[{'text':'Hi.'}]}}]}"),
     SSE("{'candidates':[{'finishReason':'STOP'}]}"), NOTHING},
    {&protocol_ollama, NDJSON("{'message':{'content':'Hi.'}}", "{'message':{'content':''}}"),
     NOTHING, NDJSON("{'message':{'content':''},'done':true,'done_reason':'stop'}")},
};

struct spoken_reading {
    struct reply reply;
    struct decoder decoder;
};

static void reading_init(struct spoken_reading *r, const struct protocol *protocol, int status)
{
    reply_init(&r->reply, (struct delta_sink){0});
    decoder_init(&r->decoder, protocol, status, NULL, 0, &r->reply);
}

static void spoken_reading_done(struct spoken_reading *r)
{
    decoder_done(&r->decoder);
    reply_done(&r->reply);
}
DEFINE_AUTO_VAL(spoken_reading, spoken_reading_done)

static void feed(struct spoken_reading *r, struct answer_text answer)
{
    AUTO(strbuf) struct strbuf bytes = answer_bytes(answer);

    assert_ok(decoder_feed(&r->decoder, strbuf_str(&bytes)));
}

static struct err *breaks(struct spoken_reading *r)
{
    return decoder_break(&r->decoder, err_new(ERR_TIMEOUT, "silence"));
}

TEST(an_answer_that_breaks_after_its_end_is_whole)
{
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        AUTO(spoken_reading) struct spoken_reading r;

        reading_init(&r, all[i].protocol, 200);
        feed(&r, all[i].text);
        feed(&r, all[i].end);
        feed(&r, all[i].over);
        assert_ok(breaks(&r));
        assert_true(r.reply.is_complete);
        assert_str(reply_part_text(&r.reply, 0), "Hi.");
    }
}

TEST(an_answer_that_breaks_before_its_end_is_not)
{
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        AUTO(spoken_reading) struct spoken_reading r;

        reading_init(&r, all[i].protocol, 200);
        feed(&r, all[i].text);
        assert_err(breaks(&r), ERR_TIMEOUT);
        assert_str(reply_part_text(&r.reply, 0), "Hi.");
    }
}

TEST(only_a_streams_own_mark_says_that_nothing_more_is_to_be_read)
{
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        AUTO(spoken_reading) struct spoken_reading r;

        reading_init(&r, all[i].protocol, 200);
        feed(&r, all[i].text);
        feed(&r, all[i].end);
        assert_false(decoder_is_over(&r.decoder));
        feed(&r, all[i].over);
        assert_int_equal(decoder_is_over(&r.decoder), all[i].over.lines[0] != NULL);
    }
}

TEST(a_cancelled_reading_stays_cancelled)
{
    AUTO(spoken_reading) struct spoken_reading r;

    reading_init(&r, all[0].protocol, 200);
    feed(&r, all[0].text);
    feed(&r, all[0].over);
    assert_err(decoder_break(&r.decoder, err_new(ERR_CANCELLED, "stop")), ERR_CANCELLED);
}

TEST(a_json_value_that_came_whole_is_an_answer_though_more_was_announced)
{
    AUTO(spoken_reading) struct spoken_reading whole, half;

    reading_init(&whole, &protocol_ollama, 200);
    feed(&whole, BODY("{'message':{'content':'Hi.'},'done':true}"));
    assert_ok(breaks(&whole));
    reading_init(&half, &protocol_ollama, 200);
    feed(&half, BODY("{'message':{'content':'Hi.'},'done':"));
    assert_err(breaks(&half), ERR_TIMEOUT);
}

TEST(a_refusal_that_breaks_off_is_still_a_refusal)
{
    AUTO(spoken_reading) struct spoken_reading r;

    reading_init(&r, &protocol_gemini, 401);
    feed(&r, BODY("{'error':{'mess"));
    assert_err(breaks(&r), ERR_PROVIDER_AUTH);
}

/* Reading it again with every piece would take minutes. */
static void feed_much(struct spoken_reading *r, const char *piece, size_t n_bytes)
{
    struct str bytes = str_of(piece);

    for (size_t n = 0; n < n_bytes; n += bytes.n)
        assert_ok(decoder_feed(&r->decoder, bytes));
}

TEST(white_space_before_an_answer_is_read_once)
{
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        AUTO(spoken_reading) struct spoken_reading r;

        reading_init(&r, all[i].protocol, 200);
        feed_much(&r, "\t\n \r\n", (size_t)1 << 20);
        feed(&r, all[i].text);
        feed(&r, all[i].end);
        feed(&r, all[i].over);
        assert_ok(decoder_end(&r.decoder));
        assert_str(reply_part_text(&r.reply, 0), "Hi.");
    }
}

TEST(the_first_line_of_an_answer_is_searched_for_its_end_once)
{
    AUTO(spoken_reading) struct spoken_reading r;

    reading_init(&r, &protocol_ollama, 200);
    feed(&r, BODY("{'message':{'content':'"));
    feed_much(&r, "xxxxxxx", (size_t)4 << 20);
    feed(&r, BODY("'},'done':true}\n"));
    feed_much(&r, "\n  \n", (size_t)1 << 20);
    assert_ok(decoder_end(&r.decoder));
    assert_true(reply_part_text(&r.reply, 0).n >= (size_t)4 << 20);
}

TEST(events_have_a_limit)
{
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        AUTO(spoken_reading) struct spoken_reading r;
        AUTO(strbuf) struct strbuf bytes = answer_bytes(all[i].text);
        AUTO(err) struct err *e = NULL;

        reading_init(&r, all[i].protocol, 200);
        decoder_limit(&r.decoder, DECODE_MAX_EVENT, 100);
        for (int n = 0; n < 101 && !e; n++)
            e = decoder_feed(&r.decoder, i == 4 ? S("{}\n") : S("data: {}\n\n"));
        assert_true(err_is(e, ERR_BAD_RESPONSE));
        assert_non_null(strstr(e->text, "limit of 100"));
    }
}

TEST(an_event_has_a_limit)
{
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        AUTO(spoken_reading) struct spoken_reading r;
        struct err *e = NULL;

        reading_init(&r, all[i].protocol, 200);
        decoder_limit(&r.decoder, 200, 100);
        feed(&r, i == 4 ? NDJSON("{}", "{}") : SSE("{}"));
        for (int n = 0; n < 100 && !e; n++)
            e = decoder_feed(&r.decoder, S("data: {\"x\": ["));
        assert_err(e, ERR_BAD_RESPONSE);
    }
}

TEST(comments_and_pings_are_no_progress)
{
    AUTO(spoken_reading) struct spoken_reading r;
    size_t progress;

    reading_init(&r, &protocol_anthropic_messages, 200);
    feed(&r, all[0].text);
    progress = decoder_progress(&r.decoder);
    feed(&r, ANSWER("", "\n\n", ": still here", "", "event: ping\ndata: {'type':'ping'}"));
    assert_int_equal(decoder_progress(&r.decoder), progress);
    feed(&r, SSE("{'type':'content_block_start','index':1,'content_block':{'type':'text'}}",
                 "{'type':'content_block_delta','index':1,'delta':{'type':'text_delta',"
                 "'text':'more'}}"));
    assert_true(decoder_progress(&r.decoder) > progress);
}

/* --- what is whole and no answer --- */

static enum err_kind end_of(const struct protocol *protocol, const char *text)
{
    AUTO(spoken_reading) struct spoken_reading r;
    AUTO(err) struct err *e = NULL;

    reading_init(&r, protocol, 200);
    for (const char *p = text; *p && !e; p++) /* in the smallest pieces */
        e = decoder_feed(&r.decoder, str_make(p, 1));
    if (!e)
        e = decoder_end(&r.decoder);
    if (!e)
        fail_msg("%s: %s is an answer", protocol->name, text);
    return e->kind;
}

TEST(what_is_whole_and_of_another_protocol_is_not_asked_for_again)
{
    static const char *const texts[] = {
        "this is not json",
        "hello there",
        "data is missing here\n",
        "\xEF\xBB\xBFOK",
        "{}",
        "[]",
        "[{\"foo\":1}]",
        "data: {\"foo\":1}\n\n",
        "data: {\"foo\":1}\n\ndata: [DONE]\n\n",
        "data: [DONE]\n\n",
        "{\"foo\":1}\n{\"foo\":2}\n",
        "event: hello\ndata: {\"type\":\"hello\"}\n\n",
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        for (const struct protocol *const *p = protocols; *p; p++)
            if (end_of(*p, texts[i]) != ERR_BAD_RESPONSE)
                fail_msg("%s: %s", (*p)->name, texts[i]);
}

TEST(what_is_cut_off_is_asked_for_again)
{
    static const char *const texts[] = {
        "", "  \n", "dat", "event: mess", "data: {\"a\":", ": still here\n\n", "{\"a\": [1,", "[",
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        for (const struct protocol *const *p = protocols; *p; p++)
            if (end_of(*p, texts[i]) != ERR_NETWORK)
                fail_msg("%s: %s", (*p)->name, texts[i]);
    assert_int_equal(end_of(&protocol_anthropic_messages, "data: {\"type\":\"ping\"}\n\n"),
                     ERR_NETWORK);
    assert_int_equal(end_of(&protocol_openai_responses,
                            "data: {\"type\":\"response.created\",\"response\":{}}\n\n"),
                     ERR_NETWORK);
    assert_int_equal(end_of(&protocol_openai_chat, "data: {\"choices\":[]}\n\n"), ERR_NETWORK);
    assert_int_equal(end_of(&protocol_gemini, "data: {\"usageMetadata\":{}}\n\n"), ERR_NETWORK);
    assert_int_equal(end_of(&protocol_ollama, "{\"message\":{}}\n"), ERR_NETWORK);
}

/* --- a prompt that is too long, in the words of those who have no field for it --- */

static struct err *refusal_of(const char *vendor, int status, const char *body)
{
    const struct vendor *v = vendor_find(str_of(vendor));
    const struct protocol *protocol = v ? v->protocol : protocol_find(str_of(vendor));
    AUTO(spoken_reading) struct spoken_reading r;
    AUTO(strbuf) struct strbuf bytes = {0};

    add_quoted(&bytes, body);
    reading_init(&r, protocol, status);
    decoder_set_vendor(&r.decoder, vendor_for_words(v, protocol));
    assert_ok(decoder_feed(&r.decoder, strbuf_str(&bytes)));
    return decoder_end(&r.decoder);
}

static const struct {
    const char *vendor;
    int status;
    const char *body;
} overflows[] = {
    {"anthropic", 400,
     "{'type':'error','error':{'type':'invalid_request_error','message':"
     "'prompt is too long: 208310 tokens > 200000 maximum'}}"},
    {"anthropic", 400,
     "{'type':'error','error':{'type':'invalid_request_error','message':'input length and "
     "`max_tokens` exceed context limit: 188240 + 21333 > 200000'}}"},
    {"anthropic-messages", 400,
     "{'error':{'type':'invalid_request_error','message':'Prompt is too long: 2 > 1'}}"},
    {"openai", 400, "{'error':{'message':'too long','code':'context_length_exceeded'}}"},
    {"gemini", 400,
     "{'error':{'code':400,'status':'INVALID_ARGUMENT','message':'The input token count "
     "(1196265) exceeds the maximum number of tokens allowed (1048575).'}}"},
    {"openrouter", 400,
     "{'error':{'code':400,'message':'This endpoint\\u0027s maximum context length is 131072 "
     "tokens. However, you requested about 132463 tokens'}}"},
    {"deepseek", 400,
     "{'error':{'type':'invalid_request_error','message':'This model\\u0027s maximum context "
     "length is 1000000 tokens. However, you requested 1000001 tokens'}}"},
    {"mistral", 400,
     "{'object':'error','message':'Prompt contains 40000 tokens','type':"
     "'invalid_request_error','code':'3051'}"},
    {"mistral", 400, "{'message':'Prompt contains 40000 tokens','code':3051}"},
    {"mistral", 400,
     "{'message':'Prompt contains 40000 tokens and 0 draft tokens, too large for model with "
     "32768 maximum context length'}"},
    {"together", 422,
     "{'error':{'message':'Input validation error: `inputs` tokens + `max_new_tokens` must be "
     "<= 8193. Given: 9000','type':'invalid_request_error'}}"},
    {"fireworks", 400,
     "{'error':{'message':'The prompt is too long: 131073, model maximum context length: "
     "131071','code':'invalid_request_error'}}"},
    {"vllm", 400,
     "{'message':'This model\\u0027s maximum context length is 4096 tokens. However, you "
     "requested 5000 tokens','type':'BadRequestError','code':400}"},
    {"vllm", 400,
     "{'error':{'message':'The decoder prompt (length 5000) is longer than the maximum model "
     "length of 4096.','type':'BadRequestError','code':400}}"},
    {"vllm", 400,
     "{'error':{'message':'max_tokens must be at least 1, got -904.','type':'BadRequestError',"
     "'code':400}}"},
    {"lmstudio", 400,
     "{'error':'The number of tokens to keep from the initial prompt is greater than the context "
     "length. Try to load the model with a larger context length'}"},
    {"lmstudio", 400,
     "{'error':'Trying to keep the first 5000 tokens when context the overflows. However, the "
     "model is loaded with context length of only 4096 tokens'}"},
    {"xai", 400,
     "{'code':'Client specified an invalid argument','error':'This model\\u0027s maximum prompt "
     "length is 131072 but the request contains 537812 tokens.'}"},
    {"groq", 400,
     "{'error':{'message':'Please reduce the length of the messages or completion.','type':"
     "'invalid_request_error','param':'messages','code':'context_length_exceeded'}}"},
    {"ollama", 400, "{'error':'prompt too long; exceeded max context length by 4 tokens'}"},
    {"ollama", 400, "{'error':'the input length exceeds the context length'}"},
    {"llama.cpp", 400,
     "{'error':{'code':400,'message':'the request exceeds the available context size','type':"
     "'exceed_context_size_error','n_prompt_tokens':5000,'n_ctx':4096}}"},
    {"llama.cpp", 500,
     "{'error':{'code':500,'message':'Context size has been exceeded.','type':'server_error'}}"},
    {"vllm", 400,
     "{'error':{'message':'You passed 5000 input tokens and requested 100 output tokens. However, "
     "the model\\u0027s context length is only 4096 tokens','type':'BadRequestError','code':400}}"},
    {"cerebras", 400,
     "{'message':'Please reduce the length of the messages or completion. Current length is 9000 "
     "while limit is 8192','type':'invalid_request_error','param':'messages'}"},
    {"moonshot", 400,
     "{'error':{'message':'Invalid request: Your request exceeded model token limit: 131072',"
     "'type':'invalid_request_error'}}"},
    {"zai", 400, "{'error':{'code':'1261','message':'too long'}}"},
    {"zai", 400, "{'error':{'code':'400','message':'Prompt exceeds max length'}}"},
    {"dashscope", 400,
     "{'error':{'code':'invalid_parameter_error','message':'<400> InternalError.Algo."
     "InvalidParameter: Range of input length should be [1, 129024]','type':"
     "'invalid_request_error'}}"},
    {"github-copilot", 400,
     "{'error':{'message':'prompt token count of 140000 exceeds the limit of 128000'}}"},
    {"huggingface", 422,
     "{'error':'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. "
     "Given: 9000','error_type':'validation'}"},
    {"litellm", 400,
     "{'error':{'message':'litellm.ContextWindowExceededError: litellm.BadRequestError: "
     "AnthropicError - prompt is too long: 9 tokens > 8 maximum','type':null,'code':'400'}}"},
    {"vercel", 400,
     "{'error':{'message':'prompt is too long: 210000 tokens > 200000 maximum','type':"
     "'invalid_request_error'}}"},
    {"bedrock", 400, "{'message':'Input is too long for requested model.'}"},
    {"bedrock", 400, "{'message':'prompt is too long: 210000 tokens > 200000 maximum'}"},
    {"vertex", 400,
     "{'error':{'code':400,'status':'INVALID_ARGUMENT','message':'Unable to submit request because "
     "the input token count is 1200000 but model only supports up to 1048576.'}}"},
    {"vertex-anthropic", 400,
     "{'type':'error','error':{'type':'invalid_request_error','message':"
     "'prompt is too long: 208310 tokens > 200000 maximum'}}"},
    {"foundry", 400,
     "{'type':'error','error':{'type':'invalid_request_error','message':"
     "'prompt is too long: 208310 tokens > 200000 maximum'}}"},
    {"azure-openai", 400,
     "{'error':{'message':'This model\\u0027s maximum context length is 128000 tokens.'}}"},
    {"azure-deployments", 400,
     "{'error':{'message':'This model\\u0027s maximum context length is 128000 tokens.'}}"},
    {"custom", 400, "{'error':{'message':'Your input exceeds the context window of this model'}}"},
    {"custom", 400,
     "{'message':'Requested token count exceeds the model\\u0027s maximum context length of 8192 "
     "tokens.'}"},
    {"custom", 400, "{'error':{'message':'Input is too long for requested model.'}}"},
    {"openai-chat", 400,
     "{'error':{'message':'This model\\u0027s maximum context length is 4096 tokens'}}"},
};

TEST(a_prompt_that_is_too_long_is_recognised_in_the_words_of_every_vendor)
{
    for (size_t i = 0; i < ARRAY_LEN(overflows); i++) {
        AUTO(err)
        struct err *e = refusal_of(overflows[i].vendor, overflows[i].status, overflows[i].body);

        if (!err_is(e, ERR_CONTEXT_OVERFLOW))
            fail_msg("%s: %s", overflows[i].vendor, e ? e->text : "no error");
    }
}

static bool has_overflow(const char *vendor)
{
    for (size_t i = 0; i < ARRAY_LEN(overflows); i++)
        if (strcmp(overflows[i].vendor, vendor) == 0)
            return true;
    return false;
}

TEST(no_vendor_is_without_a_way_to_say_that_a_prompt_is_too_long)
{
    for (const struct vendor *v = vendors; v->name; v++)
        if (!v->overflow_words || !has_overflow(v->name))
            fail_msg("%s has no words, or no sentence here", v->name);
}

static const struct {
    const char *vendor;
    int status;
    bool is_about_file;
    const char *body;
} file_refusals[] = {
    {"anthropic", 400, true,
     "{'type':'error','error':{'type':'invalid_request_error','message':'messages.108.content.3."
     "image.source.base64.data: At least one of the image dimensions exceed max allowed size for "
     "many-image requests: 2000 pixels'}}"},
    {"anthropic", 400, true,
     "{'error':{'type':'invalid_request_error','message':'messages.38.content.0.pdf.source.base64."
     "data: A maximum of 100 PDF pages may be provided.'}}"},
    {"bedrock", 400, true, "{'message':'Could not process image'}"},
    {"openai", 400, true,
     "{'error':{'message':'You uploaded an unsupported image.','type':'invalid_request_error',"
     "'param':null,'code':'invalid_image_format'}}"},
    {"openai", 400, true,
     "{'error':{'message':'It is "
     "wrong.','param':'input[0].content[1]','code':'image_parse_error'}}"},
    {"gemini", 400, true,
     "{'error':{'code':400,'status':'INVALID_ARGUMENT','message':'Unable to process input image. "
     "Please retry or report.'}}"},
    {"vllm", 400, true,
     "{'error':{'message':'At most 1 image(s) may be provided in one prompt.','code':400}}"},
    {"llama.cpp", 500, true,
     "{'error':{'code':500,'message':'image input is not supported - hint: you may need to provide "
     "the mmproj','type':'server_error'}}"},
    {"openrouter", 404, true,
     "{'error':{'code':404,'message':'No endpoints found that support image input'}}"},
    {"anthropic", 400, false,
     "{'error':{'type':'invalid_request_error','message':'messages.1.content.0: thinking blocks "
     "cannot be modified'}}"},
    {"anthropic", 400, false,
     "{'error':{'type':'invalid_request_error','message':'max_tokens: 200000 > 64000'}}"},
    {"anthropic", 429, false,
     "{'error':{'type':'rate_limit_error','message':'messages.0.content.1.image.source'}}"},
    {"anthropic", 401, false,
     "{'error':{'type':'authentication_error','message':'Could not process image'}}"},
    {"openai", 400, false,
     "{'error':{'message':'It shows what it must not.','code':'image_content_policy_violation'}}"},
    {"gemini", 400, false,
     "{'error':{'code':400,'status':'INVALID_ARGUMENT','message':'Request contains an invalid "
     "argument.'}}"},
};

TEST(a_refused_file_is_recognised_in_the_words_of_its_vendor_and_nothing_else_is)
{
    for (size_t i = 0; i < ARRAY_LEN(file_refusals); i++) {
        AUTO(err)
        struct err *e =
            refusal_of(file_refusals[i].vendor, file_refusals[i].status, file_refusals[i].body);

        if (!e || (e->refused_media != NULL) != file_refusals[i].is_about_file)
            fail_msg("%s: %s", file_refusals[i].vendor, e ? e->text : "no error");
    }
}

TEST(words_of_a_vendor_are_looked_for_in_its_own_refusals_only)
{
    static const char prompt[] = "{'error':{'message':'the prompt is too long'}}";
    AUTO(err) struct err *groq = refusal_of("groq", 400, prompt);
    AUTO(err) struct err *deepseek = refusal_of("deepseek", 400, prompt);

    assert_true(err_is(groq, ERR_PROVIDER_ERROR));
    assert_true(err_is(deepseek, ERR_PROVIDER_ERROR));
}

TEST(what_a_field_says_wins_over_words)
{
    AUTO(err)
    struct err *limit = refusal_of("anthropic", 429,
                                   "{'error':{'type':'rate_limit_error','message':"
                                   "'prompt is too long for this minute'}}");
    AUTO(err)
    struct err *key =
        refusal_of("vllm", 401, "{'error':{'message':'maximum context length is a secret'}}");
    AUTO(err)
    struct err *output = refusal_of("anthropic", 400,
                                    "{'error':{'type':'invalid_request_error','message':"
                                    "'max_tokens: 100000 > 64000, which is the maximum'}}");

    assert_true(err_is(limit, ERR_PROVIDER_RATE_LIMIT));
    assert_true(err_is(key, ERR_PROVIDER_AUTH));
    assert_true(err_is(output, ERR_PROVIDER_ERROR));
}

TEST(a_prompt_that_is_too_long_is_recognised_in_the_middle_of_a_stream)
{
    AUTO(spoken_reading) struct spoken_reading r;
    AUTO(strbuf)
    struct strbuf bytes = answer_bytes(SSE("{'error':{'message':'Prompt is too long: 2 > 1'}}"));

    reading_init(&r, &protocol_anthropic_messages, 200);
    decoder_set_vendor(&r.decoder, vendor_find(S("anthropic")));
    assert_err(decoder_feed(&r.decoder, strbuf_str(&bytes)), ERR_CONTEXT_OVERFLOW);
}

TEST(sentences_have_gaps_and_no_case)
{
    assert_true(error_text_has(S("The Prompt (9) is TOO long"), "nothing|prompt*too long"));
    assert_false(error_text_has(S("too long a prompt"), "prompt*too long"));
    assert_false(error_text_has(S("prompt"), "prompt*prompt"));
    assert_false(error_text_has(S("anything"), "|"));
    assert_false(error_text_has(S("anything"), NULL));
    assert_false(error_text_has((struct str){0}, "x"));
}

/* --- what else is told in words, or by both --- */

TEST(an_error_that_calls_itself_the_servers_is_final_when_the_status_says_so)
{
    static const char no_tools[] =
        "{'error':{'type':'api_error','message':'registry/m:1b does not support tools'}}";
    AUTO(err) struct err *chat = refusal_of("openai-chat", 400, no_tools);
    AUTO(err) struct err *messages = refusal_of("anthropic-messages", 400, no_tools);
    AUTO(err) struct err *passing = refusal_of("openai-chat", 500, no_tools);
    AUTO(err) struct err *busy = refusal_of("anthropic-messages", 500, no_tools);

    assert_true(err_is(chat, ERR_PROVIDER_ERROR));
    assert_true(err_is(messages, ERR_PROVIDER_ERROR));
    assert_true(err_is(passing, ERR_PROVIDER_UNAVAILABLE));
    assert_true(err_is(busy, ERR_PROVIDER_UNAVAILABLE));
}

TEST(a_response_that_failed_says_when_to_ask_again)
{
    AUTO(spoken_reading) struct spoken_reading r;
    AUTO(err) struct err *e = NULL;
    AUTO(strbuf)
    struct strbuf bytes =
        answer_bytes(SSE("{'type':'response.failed','response':{'status':'failed','error':{'code':"
                         "'rate_limit_exceeded','message':'Rate limit reached. Please try again in "
                         "11.054s.'}}}"));

    reading_init(&r, &protocol_openai_responses, 200);
    decoder_set_vendor(&r.decoder, vendor_find(S("openai")));
    e = decoder_feed(&r.decoder, strbuf_str(&bytes));
    assert_true(err_is(e, ERR_PROVIDER_RATE_LIMIT));
    assert_int_equal(e->retry_after_ms, 11054);
}

TEST(a_delay_in_words_has_units)
{
    static const char words[] = "nothing|try again in ";

    assert_int_equal(error_text_delay_ms(S("Try again in 20ms."), words), 20);
    assert_int_equal(error_text_delay_ms(S("please try again in 1m2.5s"), words), 62500);
    assert_int_equal(error_text_delay_ms(S("try again in 6m0s"), words), 360000);
    assert_int_equal(error_text_delay_ms(S("try again in 99999h"), words), 86400000);
    assert_int_equal(error_text_delay_ms(S("try again in 26 seconds."), words), 26000);
    assert_int_equal(error_text_delay_ms(S("try again in 5 milliseconds"), words), 5);
    assert_int_equal(error_text_delay_ms(S("try again in 2 minutes"), words), 120000);
    assert_int_equal(error_text_delay_ms(S("try again in a moment"), words), -1);
    assert_int_equal(error_text_delay_ms(S("try again in 5"), words), -1);
    assert_int_equal(error_text_delay_ms(S("try again in 1.2.3s"), words), -1);
    assert_int_equal(error_text_delay_ms(S("in 5s"), words), -1);
    assert_int_equal(error_text_delay_ms(S("try again in 5s"), NULL), -1);
}

static const char *const errors_of_others[] = {
    "{'error':'so it goes'}",
    "{'error':{'message':'so it goes'}}",
    "{'error':{'detail':'so it goes'}}",
    "{'error':{'errors':[{'message':'so it goes'}]}}",
    "{'message':'so it goes'}",
    "{'error':'Bad Request','message':'so it goes'}",
    "{'detail':'so it goes'}",
    "{'detail':[{'loc':['body'],'msg':'so it goes'}]}",
    "{'errors':['so it goes']}",
    "{'errors':[{'detail':'so it goes'}]}",
    "[{'error':{'message':'so it goes'}}]",
    "[{'error':'so it goes'}]",
};

TEST(errors_in_the_shapes_of_others_are_read_in_every_protocol)
{
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        for (size_t k = 0; k < ARRAY_LEN(errors_of_others); k++) {
            assert_reads_failure(all[i].protocol, 400, BODY(errors_of_others[k]),
                                 "error provider_error: HTTP 400: so it goes\n");
            if (all[i].protocol == &protocol_ollama)
                assert_reads(all[i].protocol, NDJSON("{'model':'m'}", errors_of_others[k]),
                             "error provider_error: so it goes\n");
            else
                assert_reads(all[i].protocol, SSE(errors_of_others[k]),
                             "error provider_error: so it goes\n");
        }
}

TEST(no_error_is_made_of_null_or_nothing)
{
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        AUTO(spoken_reading) struct spoken_reading r;
        bool is_lines = all[i].protocol == &protocol_ollama;

        reading_init(&r, all[i].protocol, 200);
        feed(&r, is_lines ? NDJSON("{'error':null}", "{'message':{'content':''}}")
                          : SSE("{'error':null}", "{'message':''}", "{'detail':[]}", "{}"));
        feed(&r, all[i].text);
        feed(&r, all[i].end);
        feed(&r, all[i].over);
        assert_ok(decoder_end(&r.decoder));
    }
}

RUN_TESTS(UNIT(an_answer_that_breaks_after_its_end_is_whole),
          UNIT(an_answer_that_breaks_before_its_end_is_not),
          UNIT(only_a_streams_own_mark_says_that_nothing_more_is_to_be_read),
          UNIT(a_cancelled_reading_stays_cancelled),
          UNIT(a_json_value_that_came_whole_is_an_answer_though_more_was_announced),
          UNIT(a_refusal_that_breaks_off_is_still_a_refusal),
          UNIT(white_space_before_an_answer_is_read_once),
          UNIT(the_first_line_of_an_answer_is_searched_for_its_end_once), UNIT(events_have_a_limit),
          UNIT(an_event_has_a_limit), UNIT(comments_and_pings_are_no_progress),
          UNIT(errors_in_the_shapes_of_others_are_read_in_every_protocol),
          UNIT(a_prompt_that_is_too_long_is_recognised_in_the_words_of_every_vendor),
          UNIT(a_refused_file_is_recognised_in_the_words_of_its_vendor_and_nothing_else_is),
          UNIT(words_of_a_vendor_are_looked_for_in_its_own_refusals_only),
          UNIT(what_a_field_says_wins_over_words),
          UNIT(a_prompt_that_is_too_long_is_recognised_in_the_middle_of_a_stream),
          UNIT(sentences_have_gaps_and_no_case),
          UNIT(an_error_that_calls_itself_the_servers_is_final_when_the_status_says_so),
          UNIT(what_is_whole_and_of_another_protocol_is_not_asked_for_again),
          UNIT(what_is_cut_off_is_asked_for_again),
          UNIT(no_vendor_is_without_a_way_to_say_that_a_prompt_is_too_long),
          UNIT(a_response_that_failed_says_when_to_ask_again), UNIT(a_delay_in_words_has_units),
          UNIT(no_error_is_made_of_null_or_nothing))
