/* broken_test.c - bodies with one thing wrong, and what each judge says about it. */
#include "unit/test.h"

#include "base/mem.h"
#include "strict/strict.h"

/* A body, and what the refusal must hold; NULL: it is taken. */
struct row {
    const char *body, *why;
};

static void judge_all(const struct row *rows, size_t n,
                      bool (*judge)(const struct json *body, struct strbuf *why))
{
    size_t n_wrong = 0;

    for (size_t i = 0; i < n; i++) {
        AUTO(arena) struct arena a = {0};
        AUTO(strbuf) struct strbuf why = {0};
        struct json *body;
        bool is_taken;

        assert_ok(json_parse(&a, str_of(rows[i].body), JSON_UNIQUE_KEYS, &body));
        is_taken = judge(body, &why);
        if (rows[i].why ? !is_taken && strstr(strbuf_cstr(&why), rows[i].why) : is_taken)
            continue;
        print_error("%s\n    want: %s\n    got: %s\n", rows[i].body,
                    rows[i].why ? rows[i].why : "(taken)",
                    is_taken ? "(taken)" : strbuf_cstr(&why));
        n_wrong++;
    }
    assert_int_equal(n_wrong, 0);
}

/* --- anthropic-messages --- */

#define A(messages) "{\"model\":\"m\",\"max_tokens\":2048,\"messages\":[" messages "]}"
#define A_WITH(members, messages)                                                                  \
    "{\"model\":\"m\",\"max_tokens\":2048," members ",\"messages\":[" messages "]}"
#define USER "{\"role\":\"user\",\"content\":\"hi\"}"
#define SAYS(role, blocks) "{\"role\":\"" role "\",\"content\":[" blocks "]}"
#define TEXT(text) "{\"type\":\"text\",\"text\":\"" text "\"}"
#define USE(id) "{\"type\":\"tool_use\",\"id\":\"" id "\",\"name\":\"Read\",\"input\":{}}"
#define RESULT(id) "{\"type\":\"tool_result\",\"tool_use_id\":\"" id "\",\"content\":\"r\"}"
#define THOUGHT "{\"type\":\"thinking\",\"thinking\":\"t\",\"signature\":\"s\"}"
#define SEARCH "{\"type\":\"server_tool_use\",\"id\":\"s1\",\"name\":\"web_search\",\"input\":{}}"
#define FOUND(id) "{\"type\":\"web_search_tool_result\",\"tool_use_id\":\"" id "\",\"content\":[]}"
#define ERROR_RESULT(content)                                                                      \
    "{\"type\":\"tool_result\",\"tool_use_id\":\"c1\",\"is_error\":true,\"content\":[" content "]" \
    "}"
#define PICTURE(mime, data)                                                                        \
    "{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"" mime                   \
    "\",\"data\":\"" data "\"}}"
#define MARKED "{\"type\":\"text\",\"text\":\"x\",\"cache_control\":{\"type\":\"ephemeral\"}}"
#define BUDGET "\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":1024}"
#define TOOL(name) "{\"name\":\"" name "\",\"input_schema\":{\"type\":\"object\"}}"

static const struct row of_anthropic[] = {
    {A(USER), NULL},
    {A(USER "," SAYS("assistant", THOUGHT "," USE("c1")) "," SAYS("user", RESULT("c1"))), NULL},
    {A(USER "," SAYS("assistant", SEARCH "," FOUND("s1") "," TEXT("x")) "," USER), NULL},
    {A(SAYS("user", PICTURE("image/png", "AAAA"))), NULL},
    {A(""), "messages: must not be empty"},
    {"{\"model\":\"m\",\"messages\":[" USER "]}", "has no \"max_tokens\""},
    {"{\"model\":\"m\",\"max_tokens\":0,\"messages\":[" USER "]}",
     "max_tokens: must be at least 1"},
    {A_WITH("\"top_q\":1", USER), "top_q: is not a member"},
    {A_WITH("\"stream\":\"yes\"", USER), "stream: must not be string"},
    {A(SAYS("assistant", TEXT("x")) "," USER), "the first message must be the user's"},
    {A("{\"role\":\"system\",\"content\":\"x\"}"), "role: \"system\" is none of"},
    {A(SAYS("user", TEXT(" \\n"))), "messages[0].content[0].text: must not be blank"},
    {A(SAYS("user", TEXT("\xC2\xA0"))), "must not be blank"},
    {A(SAYS("user", "")), "messages[0].content: must not be empty"},
    {A(USER "," SAYS("assistant", USE("c1"))), "call \"c1\" is not answered"},
    {A(USER "," SAYS("assistant", USE("c1")) "," USER), "call \"c1\" is not answered here"},
    {A(USER "," SAYS("assistant", USE("c1")) "," SAYS("assistant", TEXT("x"))),
     "call \"c1\" is not answered here"},
    {A(USER "," SAYS("user", RESULT("c1"))), "result \"c1\" without a call"},
    {A(USER "," SAYS("assistant", USE("c1")) "," SAYS("user", RESULT("c1") "," RESULT("c1"))),
     "result \"c1\" without a call"},
    {A(USER "," SAYS("assistant", USE("c1")) "," SAYS("user", TEXT("x") "," RESULT("c1"))),
     "results must stand before everything else"},
    {A(USER "," SAYS("assistant", USE("c1") "," USE("c1")) "," SAYS("user", RESULT("c1"))),
     "call id \"c1\" is not unique"},
    {A(USER "," SAYS("assistant", USE("c1")) "," SAYS("user", RESULT("c1")) "," SAYS(
         "assistant", USE("c1")) "," SAYS("user", RESULT("c1"))),
     "call id \"c1\" is not unique"},
    {A(USER "," SAYS("assistant", USE("c|1")) "," SAYS("user", RESULT("c|1"))),
     "id: is no id of a call"},
    {A(SAYS("user", USE("c1"))), "type \"tool_use\" may not stand here"},
    {A(USER "," SAYS("assistant", "{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"Read\","
                                  "\"input\":\"{}\"}") "," SAYS("user", RESULT("c1"))),
     "input: must not be string"},
    {A(USER "," SAYS("assistant", "{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"a b\","
                                  "\"input\":{}}") "," SAYS("user", RESULT("c1"))),
     "is no name of a tool"},
    {A(USER "," SAYS("assistant", USE("c1")) "," SAYS("user", ERROR_RESULT(""))),
     "a result that is an error must not be empty"},
    {A(USER "," SAYS("assistant", USE("c1")) "," SAYS("user",
                                                      ERROR_RESULT(PICTURE("image/png", "AAAA")))),
     "a result that is an error must be all text"},
    {A(USER "," SAYS("assistant", TEXT("x") "," THOUGHT) "," USER), "must not end with thinking"},
    {A(USER
       "," SAYS("assistant", "{\"type\":\"thinking\",\"thinking\":\"t\"}," TEXT("x")) "," USER),
     "has no \"signature\""},
    {A(USER "," SAYS(
         "assistant",
         "{\"type\":\"thinking\",\"thinking\":\"t\",\"signature\":\"\"}," TEXT("x")) "," USER),
     "signature: must not be blank"},
    {A(USER "," SAYS("assistant", SEARCH "," TEXT("x")) "," USER), "of a server tool without"},
    {A(USER "," SAYS("assistant", FOUND("s1") "," TEXT("x")) "," USER),
     "without a use of a server tool"},
    {A(SAYS("user", PICTURE("image/bmp", "AAAA"))), "\"image/bmp\" is none of"},
    {A(SAYS("user", PICTURE("image/png", ""))), "must be base64"},
    {A(SAYS("user", MARKED "," MARKED "," MARKED "," MARKED "," MARKED)),
     "more than 4 cache marks"},
    {A(USER "," SAYS("assistant", TEXT("x "))), "must not end in white space"},
    {A_WITH(BUDGET, USER "," SAYS("assistant", USE("c1")) "," SAYS("user", RESULT("c1"))),
     "the turn did not begin with thinking"},
    {A_WITH(BUDGET,
            USER "," SAYS("assistant", THOUGHT "," USE("c1")) "," SAYS("user", RESULT("c1"))),
     NULL},
    {A_WITH(BUDGET ",\"temperature\":0.5", USER), "thinking takes no temperature"},
    {A_WITH("\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":2048}", USER), "the budget must"},
    {A_WITH(BUDGET ",\"tools\":[" TOOL("Read") "],\"tool_choice\":{\"type\":\"any\"}", USER),
     "thinking and a forced tool"},
    {A_WITH("\"tool_choice\":{\"type\":\"auto\"}", USER), "no tools to choose from"},
    {A_WITH("\"tools\":[" TOOL("Read") "," TOOL("Read") "]", USER), "two tools are named"},
    {A_WITH("\"tools\":[{\"name\":\"x\",\"input_schema\":{}}]", USER), "the schema of an object"},
};

TEST(anthropic_messages)
{
    judge_all(of_anthropic, ARRAY_LEN(of_anthropic), strict_anthropic);
}

/* --- openai-chat --- */

#define C(messages) "{\"model\":\"m\",\"messages\":[" messages "]}"
#define C_WITH(members, messages) "{\"model\":\"m\"," members ",\"messages\":[" messages "]}"
#define CALLS(calls) "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[" calls "]}"
#define CALL(id, name, args)                                                                       \
    "{\"id\":\"" id "\",\"type\":\"function\",\"function\":{\"name\":\"" name                      \
    "\",\"arguments\":\"" args "\"}}"
#define C1 CALL("c1", "Read", "{}")
#define TELLS(id) "{\"role\":\"tool\",\"tool_call_id\":\"" id "\",\"content\":\"r\"}"
#define FORTY_ONE "12345678901234567890123456789012345678901"

static const struct row of_chat[] = {
    {C(USER), NULL},
    {C(USER "," CALLS(C1) "," TELLS("c1") "," USER), NULL},
    {C(""), "messages: must not be empty"},
    {"{\"messages\":[" USER "]}", "has no \"model\""},
    {C_WITH("\"thinking\":true", USER), "thinking: is not a member"},
    {C_WITH("\"temperature\":3", USER), "must be from 0 to 2"},
    {C_WITH("\"max_tokens\":1,\"max_completion_tokens\":1", USER), "two names for one limit"},
    {C_WITH("\"stream_options\":{}", USER), "is only for streams"},
    {C_WITH("\"tool_choice\":\"auto\"", USER), "no tools to choose from"},
    {C_WITH("\"tools\":[]", USER), "tools: must not be empty"},
    {C_WITH("\"reasoning_effort\":\"max\"", USER), "\"max\" is none of"},
    {C("{\"role\":\"function\",\"content\":\"x\"}"), "\"function\" is none of"},
    {C("{\"role\":\"user\",\"content\":\"\"}"), "content: must not be blank"},
    {C("{\"role\":\"user\"}"), "has no \"content\""},
    {C(USER ",{\"role\":\"assistant\",\"content\":null}"), "says nothing"},
    {C(USER "," CALLS("")), "tool_calls: must not be empty"},
    {C(USER "," CALLS(C1)), "call \"c1\" is not answered"},
    {C(USER "," CALLS(C1) "," USER "," TELLS("c1")), "call \"c1\" is not answered here"},
    {C(USER "," CALLS(C1 "," CALL("c2", "Read", "{}")) "," TELLS("c1") "," USER),
     "call \"c2\" is not answered here"},
    {C(USER "," TELLS("c1")), "result \"c1\" without a call"},
    {C(USER "," CALLS(C1) "," TELLS("c1") "," TELLS("c1")), "result \"c1\" without a call"},
    {C(USER "," CALLS(C1 "," C1) "," TELLS("c1")), "call id \"c1\" is not unique"},
    {C(USER "," CALLS(CALL("", "Read", "{}")) "," TELLS("")), "must have 1 to 40 bytes"},
    {C(USER "," CALLS(CALL(FORTY_ONE, "Read", "{}")) "," TELLS(FORTY_ONE)), "must have 1 to 40"},
    {C(USER "," CALLS(CALL("c1", "a.b", "{}")) "," TELLS("c1")), "is no name of a tool"},
    {C(USER "," CALLS(CALL("c1", "Read", "{")) "," TELLS("c1")), "arguments: must be JSON"},
    {C(USER "," CALLS(CALL("c1", "Read", "[]")) "," TELLS("c1")), "must be a JSON object"},
    {C(USER "," CALLS("{\"id\":\"c1\",\"type\":\"custom\",\"function\":{\"name\":\"a\","
                      "\"arguments\":\"{}\"}}") "," TELLS("c1")),
     "has no member of its type"},
    {C("{\"role\":\"user\",\"content\":[]}"), "content: must not be empty"},
    {C("{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":"
       "\"data:image/bmp;base64,AAAA\"}}]}"),
     "no type of picture"},
    {C("{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":"
       "\"data:image/png;base64,\"}}]}"),
     "must be base64"},
    {C("{\"role\":\"user\",\"content\":[{\"type\":\"input_audio\",\"input_audio\":{\"data\":"
       "\"AAAA\",\"format\":\"ogg\"}}]}"),
     "\"ogg\" is none of"},
    {C("{\"role\":\"user\",\"content\":[{\"type\":\"file\",\"file\":{\"file_data\":"
       "\"data:application/pdf;base64,AAAA\"}}]}"),
     "without a \"filename\""},
    {C(USER "," CALLS(C1) ",{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":[{\"type\":"
                          "\"image_url\",\"image_url\":{\"url\":\"https://a/b\"}}]}"),
     "may not stand here"},
};

TEST(openai_chat)
{
    judge_all(of_chat, ARRAY_LEN(of_chat), strict_openai_chat);
}

/* --- openai-responses --- */

#define R(items) "{\"model\":\"m\",\"store\":false,\"input\":[" items "]}"
#define R_WITH(members, items) "{\"model\":\"m\"," members ",\"input\":[" items "]}"
#define R_CALL(more) "{\"type\":\"function_call\",\"name\":\"Read\",\"arguments\":\"{}\"," more "}"
#define R_C1 R_CALL("\"call_id\":\"c1\"")
#define R_OUT(id) "{\"type\":\"function_call_output\",\"call_id\":\"" id "\",\"output\":\"r\"}"
#define R_THINKS(id)                                                                               \
    "{\"type\":\"reasoning\",\"id\":\"" id "\",\"summary\":[],\"encrypted_content\":\"x\"}"

static const struct row of_responses[] = {
    {R(USER), NULL},
    {R(USER "," R_THINKS("rs_1") "," R_C1 "," R_OUT("c1")), NULL},
    {R(""), "input: must not be empty"},
    {"{\"model\":\"m\"}", "has no \"input\""},
    {R_WITH("\"messages\":[]", USER), "messages: is not a member"},
    {R_WITH("\"include\":[\"all\"]", USER), "nothing that can be included"},
    {R_WITH("\"tool_choice\":\"required\"", USER), "no tools to choose from"},
    {R_WITH("\"tools\":[{\"type\":\"function\",\"function\":{}}]", USER), "is not a member"},
    {R("{\"type\":\"text\",\"text\":\"x\"}"), "type \"text\" is not known"},
    {R("{\"role\":\"user\",\"content\":\" \"}"), "must not be blank"},
    {R("{\"role\":\"tool\",\"content\":\"x\"}"), "\"tool\" is none of"},
    {R("{\"role\":\"user\",\"content\":[{\"type\":\"output_text\",\"text\":\"x\"}]}"),
     "type \"output_text\" may not stand here"},
    {R("{\"role\":\"assistant\",\"content\":[{\"type\":\"input_text\",\"text\":\"x\"}]}"),
     "type \"input_text\" may not stand here"},
    {R(USER "," R_C1), "a call is not answered"},
    {R(USER "," R_C1 "," USER "," R_OUT("c1")), "a call is not answered here"},
    {R(USER "," R_OUT("c1")), "output \"c1\" without a call"},
    {R(USER "," R_C1 "," R_OUT("c1") "," R_OUT("c1")), "output \"c1\" without a call"},
    {R(USER "," R_C1 "," R_C1 "," R_OUT("c1")), "call id \"c1\" is not unique"},
    {R(USER "," R_C1 ",{\"type\":\"custom_tool_call_output\",\"call_id\":\"c1\",\"output\":\"\"}"),
     "without a call of its kind"},
    {R(USER "," R_CALL("\"call_id\":\"\"")), "must have 1 to 64 bytes"},
    {R(USER "," R_CALL("\"call_id\":\"c1\",\"id\":\"call_1\"") "," R_OUT("c1")),
     "begins with \"fc\""},
    {R(USER ",{\"type\":\"function_call\",\"name\":\"Read\",\"arguments\":\"\",\"call_id\":\"c1\"}"
            "," R_OUT("c1")),
     "arguments: must be JSON"},
    {R(USER "," R_THINKS("rs_1")), "reasoning without the item"},
    {R(USER "," R_THINKS("rs_1") "," USER), "reasoning without the item"},
    {R(USER "," R_THINKS("x_1") "," R_C1 "," R_OUT("c1")), "begins with \"rs\""},
    {R(USER ",{\"type\":\"reasoning\",\"id\":\"rs_1\",\"summary\":[]}," R_C1 "," R_OUT("c1")),
     "must bring its encrypted content"},
    {R(USER ",{\"type\":\"reasoning\",\"encrypted_content\":\"x\"}," R_C1 "," R_OUT("c1")),
     "has no \"summary\""},
    {R(USER "," R_THINKS("rs_1") "," R_THINKS("rs_1") "," R_C1 "," R_OUT("c1")),
     "item id \"rs_1\" is not unique"},
    {R("{\"role\":\"user\",\"content\":[{\"type\":\"input_file\",\"file_data\":"
       "\"data:application/pdf;base64,AAAA\"}]}"),
     "belong together"},
    {R("{\"role\":\"user\",\"content\":[{\"type\":\"input_image\"}]}"), "has no picture"},
    {R("{\"role\":\"user\",\"content\":[{\"type\":\"input_image\",\"image_url\":"
       "\"data:image/svg+xml;base64,AAAA\"}]}"),
     "no type of picture"},
};

TEST(openai_responses)
{
    judge_all(of_responses, ARRAY_LEN(of_responses), strict_openai_responses);
}

/* --- gemini --- */

#define G(contents) "{\"contents\":[" contents "]}"
#define G_WITH(members, contents) "{" members ",\"contents\":[" contents "]}"
#define TURN(role, parts) "{\"role\":\"" role "\",\"parts\":[" parts "]}"
#define ASK TURN("user", "{\"text\":\"hi\"}")
#define F(name) "{\"functionCall\":{\"name\":\"" name "\",\"args\":{}}}"
#define FR(name) "{\"functionResponse\":{\"name\":\"" name "\",\"response\":{}}}"

static const struct row of_gemini[] = {
    {G(ASK), NULL},
    {G(ASK "," TURN("model", "{\"text\":\"x\"}," F("a") "," F("b")) "," TURN("user",
                                                                             FR("a") "," FR("b"))),
     NULL},
    {G(ASK "," TURN("model", "{\"text\":\"\",\"thoughtSignature\":\"AAAA\"}") "," ASK), NULL},
    {G(""), "contents: must not be empty"},
    {"{}", "has no \"contents\""},
    {G_WITH("\"messages\":[]", ASK), "messages: is not a member"},
    {G(TURN("assistant", "{\"text\":\"x\"}")), "\"assistant\" is none of"},
    {G(TURN("user", "")), "parts: must not be empty"},
    {G(TURN("user", "{\"text\":\"\"}")), "text: must not be blank"},
    {G(TURN("user", "{}")), "must hold one thing"},
    {G(TURN("user",
            "{\"text\":\"x\",\"inlineData\":{\"mimeType\":\"image/png\",\"data\":\"AAAA\"}}")),
     "must hold one thing"},
    {G(TURN("model", "{\"text\":\"x\"}") "," ASK), "the first turn must be the user's"},
    {G(ASK "," TURN("model", "{\"text\":\"x\"}")), "the last turn must be the user's"},
    {G(ASK
       "," TURN("model", "{\"text\":\"x\"}") "," TURN("model", F("a")) "," TURN("user", FR("a"))),
     "two turns in a row"},
    {G(ASK "," TURN("model", F("a")) "," ASK), "1 calls before it, but 0 responses"},
    {G(ASK "," TURN("model", F("a") "," F("b")) "," TURN("user", FR("a"))),
     "2 calls before it, but 1 responses"},
    {G(ASK "," TURN("user", FR("a"))), "0 calls before it, but 1 responses"},
    {G(ASK "," TURN("model", F("a")) "," TURN("user", FR("b"))), "the next response is that of a"},
    {G(ASK "," TURN("model", F("a")) "," TURN("user", FR("a") ",{\"text\":\"x\"}")),
     "must not stand with anything else"},
    {G(ASK "," TURN("model", "{\"functionCall\":{\"name\":\"a\",\"id\":\"1\"}}") "," TURN("user",
                                                                                          FR("a"))),
     "the next response is that of a \"1\""},
    {G(ASK "," TURN("model", F("1a")) "," TURN("user", FR("1a"))), "is no name of a function"},
    {G(ASK "," TURN("model", "{\"functionCall\":{\"name\":\"a\",\"args\":\"{}\"}}") "," TURN(
         "user", FR("a"))),
     "args: must not be string"},
    {G(ASK "," TURN("model", F("a")) "," TURN(
         "user", "{\"functionResponse\":{\"name\":\"a\",\"response\":\"r\"}}")),
     "response: must not be string"},
    {G(TURN("user", F("a"))), "only the model calls functions"},
    {G(TURN("user", "{\"text\":\"x\",\"thoughtSignature\":\"AAAA\"}")), "only the model signs"},
    {G(ASK "," TURN("model", "{\"text\":\"x\",\"thoughtSignature\":\"\"}") "," ASK),
     "thoughtSignature: must be base64"},
    {G(TURN("user", "{\"inlineData\":{\"mimeType\":\"image/gif\",\"data\":\"AAAA\"}}")),
     "\"image/gif\" is none of"},
    {G(TURN("user", "{\"inlineData\":{\"mimeType\":\"image/png\",\"data\":\"\"}}")),
     "must be base64"},
    {G(TURN("user", "{\"inlineData\":{\"data\":\"AAAA\"}}")), "has no \"mimeType\""},
    {G_WITH("\"generationConfig\":{\"thinkingConfig\":{\"thinkingBudget\":1,\"thinkingLevel\":"
            "\"low\"}}",
            ASK),
     "exclude each other"},
    {G_WITH("\"cachedContent\":\"c\",\"tools\":[]", ASK), "excludes system text and tools"},
    {G_WITH("\"toolConfig\":{\"functionCallingConfig\":{\"mode\":\"AUTO\","
            "\"allowedFunctionNames\":[\"a\"]}}",
            ASK),
     "names are for the modes"},
};

TEST(gemini)
{
    judge_all(of_gemini, ARRAY_LEN(of_gemini), strict_gemini);
}

static const struct row of_gemini_3[] = {
    {G(ASK "," TURN("model", F("a")) "," TURN("user", FR("a"))), "must have a signature"},
    {G(ASK "," TURN("model", "{\"functionCall\":{\"name\":\"a\"},\"thoughtSignature\":\"AAAA\"}," F(
                                 "a")) "," TURN("user", FR("a") "," FR("a"))),
     NULL},
};

TEST(gemini_of_the_third_generation)
{
    judge_all(of_gemini_3, ARRAY_LEN(of_gemini_3), strict_gemini_3);
}

/* --- ollama --- */

#define O_CALL(id, name, args)                                                                     \
    "{\"id\":\"" id "\",\"function\":{\"name\":\"" name "\",\"arguments\":" args "}}"
#define O_CALLS(calls) "{\"role\":\"assistant\",\"tool_calls\":[" calls "]}"
#define O_TELLS(id, name)                                                                          \
    "{\"role\":\"tool\",\"tool_name\":\"" name "\",\"tool_call_id\":\"" id "\",\"content\":\"r\"}"

static const struct row of_ollama[] = {
    {C(USER), NULL},
    {C(USER "," O_CALLS(O_CALL("1", "a", "{}") "," O_CALL("2", "b", "{}")) "," O_TELLS(
         "1", "a") "," O_TELLS("2", "b")),
     NULL},
    {C(""), "messages: must not be empty"},
    {"{\"messages\":[" USER "]}", "has no \"model\""},
    {C_WITH("\"max_tokens\":1", USER), "max_tokens: is not a member"},
    {C_WITH("\"options\":{\"heat\":1}", USER), "options.heat: is not a member"},
    {C_WITH("\"think\":\"max\"", USER), "\"max\" is none of"},
    {C_WITH("\"format\":\"xml\"", USER), "\"xml\" is none of"},
    {C("{\"role\":\"bot\",\"content\":\"x\"}"), "\"bot\" is none of"},
    {C("{\"role\":\"user\",\"content\":\" \"}"), "must not be blank"},
    {C("{\"role\":\"user\"}"), "says nothing"},
    {C(USER ",{\"role\":\"assistant\",\"content\":\"\"}"), "says nothing"},
    {C("{\"role\":\"user\",\"content\":[]}"), "content: must not be array"},
    {C("{\"role\":\"user\",\"images\":[\"\"]}"), "must be base64"},
    {C("{\"role\":\"user\",\"images\":[]}"), "images: must not be empty"},
    {C(USER "," O_CALLS("")), "tool_calls: must not be empty"},
    {C(USER "," O_CALLS(O_CALL("1", "a", "\"{}\""))), "arguments: must not be string"},
    {C(USER "," O_CALLS(O_CALL("1", "a b", "{}"))), "is no name of a tool"},
    {C(USER "," O_CALLS(O_CALL("1", "a", "{}"))), "1 calls are not answered"},
    {C(USER "," O_CALLS(O_CALL("1", "a", "{}")) "," USER), "1 calls are not answered here"},
    {C(USER "," O_TELLS("1", "a")), "result without a call"},
    {C(USER "," O_CALLS(O_CALL("1", "a", "{}")) "," O_TELLS("1", "b")), "that of \"a\""},
    {C(USER "," O_CALLS(O_CALL("1", "a", "{}")) "," O_TELLS("2", "a")), "that of call \"1\""},
    {C(USER "," O_CALLS(O_CALL("1", "a", "{}")) ",{\"role\":\"tool\",\"content\":\"\"}"),
     "content: must not be blank"},
    {C_WITH("\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"a\"}}]", USER),
     "has no \"parameters\""},
};

TEST(ollama)
{
    judge_all(of_ollama, ARRAY_LEN(of_ollama), strict_ollama);
}

RUN_TESTS(UNIT(anthropic_messages), UNIT(openai_chat), UNIT(openai_responses), UNIT(gemini),
          UNIT(gemini_of_the_third_generation), UNIT(ollama))
