/* scenario.c - the steps, and the answers of each vendor. */
#include "scenario.h"

#include "session/compact.h"

#include <stdlib.h>

#define LONG_ID                                                                                    \
    "an_id_that_is_longer_than_any_provider_would_take_it_because_somebody_put_a_uuid_in"
#define PLAIN_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
#define HANDLE_TEXT                                                                                \
    "[The whole output has 90000 bytes in 3 lines and is stored; its head ...]\nhead"

static struct str pick(struct scenario *s, const char *const *from, size_t n)
{
    return str_of(from[random_below(s->random, n)]);
}
#define PICK(s, from) pick(s, from, ARRAY_LEN(from))

/* One time in n. */
static bool chance(struct scenario *s, unsigned n)
{
    return random_below(s->random, n) == 0;
}

static void tell(struct scenario *s, const char *step)
{
    strbuf_addf(&s->told, "%s%s", s->told.n ? ", " : "", step);
}

static struct message *push(struct scenario *s, struct message *take_message)
{
    if (s->n == SCENARIO_MAX_MESSAGES) {
        message_unref(take_message);
        return s->list[s->n - 1];
    }
    s->list[s->n++] = take_message;
    return take_message;
}

static void cut_to(struct scenario *s, size_t n)
{
    while (s->n > n)
        message_unref(s->list[--s->n]);
}

/* --- words and files --- */

static const char *const texts[] = {"yes",
                                    "I look at it.",
                                    "W\xC3\xB6rter \xE2\x80\x94 \xF0\x9F\x98\x80",
                                    "two\nlines ",
                                    "",
                                    " \n\t",
                                    "\xC2\xA0\xE3\x80\x80",
                                    "\"quoted\" \\ and {json}"};

static struct str text(struct scenario *s)
{
    return chance(s, 3) ? PICK(s, texts) : S("some words");
}

static struct part random_media(struct scenario *s)
{
    static const char *const mimes[] = {
        "image/png",  "image/png",    "image/jpeg",      "image/gif",
        "image/webp", "image/bmp",    "image/svg+xml",   "application/pdf",
        "audio/wav",  "audio/mpeg",   "audio/ogg",       "video/mp4",
        "text/plain", "text/csv",     "application/zip", "application/json",
        "",           "image/\"odd\""};
    static const char *const urls[] = {"https://a.example/b", "ftp://a.example/b", ""};
    struct part p = {.kind = PART_MEDIA, .media.mime = PICK(s, mimes)};

    if (chance(s, 4)) {
        p.media.source = MEDIA_URL;
        p.media.data = PICK(s, urls);
    } else {
        p.media.data = chance(s, 8) ? S("") : chance(s, 8) ? S("  \n") : S("bytes");
    }
    if (chance(s, 2))
        p.media.name = chance(s, 4) ? S(" ") : S("a file.pdf");
    return p;
}

/* --- what people and programs say --- */

static void say(struct scenario *s, enum role role, struct str words)
{
    message_add_text(push(s, message_new(role, S("m"))), words);
}

static void ask(struct scenario *s)
{
    struct message *m = push(s, message_new(ROLE_USER, S("u")));

    tell(s, "ask");
    for (size_t n = chance(s, 12) ? 0 : 1 + random_below(s->random, 2); n; n--) {
        struct part p = {.kind = PART_TEXT, .text = text(s)};

        if (chance(s, 6))
            p = random_media(s);
        message_add(m, &p);
    }
}

static void inject(struct scenario *s)
{
    tell(s, "inject");
    say(s, chance(s, 3) ? ROLE_SYSTEM : ROLE_USER, text(s));
}

/* --- parts of answers, as the decoders leave them --- */

struct str maker_provider(enum maker m)
{
    static const char *const names[] = {"my-anthropic", "my-chat", "my-openai", "my-gemini",
                                        "my-ollama"};
    return str_of(names[m]);
}

struct str maker_protocol(enum maker m)
{
    static const char *const names[] = {"anthropic-messages", "openai-chat", "openai-responses",
                                        "gemini", "ollama"};
    return str_of(names[m]);
}

static struct message *begin_answer(struct scenario *s)
{
    struct message *m = message_new(ROLE_ASSISTANT, S("a"));

    message_set_origin(
        m, (struct origin){maker_provider(s->maker), maker_protocol(s->maker), S("model")});
    return push(s, m);
}

static struct str quote(struct scenario *s, struct str words)
{
    AUTO(strbuf) struct strbuf out = {0};

    json_write_string(&out, words);
    return arena_str(&s->arena, strbuf_str(&out));
}

#define FORMAT(s, ...) arena_format(&(s)->arena, __VA_ARGS__)

/* Not closed: it came in part, so there is neither a signature nor the provider's block. */
static void add_reasoning(struct scenario *s, struct message *m, bool is_whole)
{
    unsigned id = ++s->n_ids;
    struct part p = {.kind = PART_REASONING, .text = text(s)};
    struct str quoted;

    if (!chance(s, 4))
        p.text = FORMAT(s, THOUGHT_OF "%d", s->maker);
    quoted = quote(s, p.text);
    if (is_whole)
        switch (s->maker) {
        case BY_ANTHROPIC:
            if (chance(s, 5)) {
                p.data = S("encrypted");
                p.text = (struct str){0};
                p.native = S("{\"type\":\"redacted_thinking\",\"data\":\"encrypted\"}");
                break;
            }
            p.signature = S("c2ln");
            p.native = FORMAT(
                s, "{\"type\":\"thinking\",\"thinking\":%" STR_FMT ",\"signature\":\"c2ln\"}",
                STR_ARG(quoted));
            break;
        case BY_RESPONSES:
            p.data = S("encrypted");
            p.native = FORMAT(s,
                              "{\"type\":\"reasoning\",\"id\":\"rs_%u\",\"summary\":[],"
                              "\"encrypted_content\":\"encrypted\"}",
                              id);
            break;
        case BY_GEMINI:
            if (chance(s, 2)) {
                p.signature = S("c2ln");
                p.native = FORMAT(
                    s, "{\"text\":%" STR_FMT ",\"thought\":true,\"thoughtSignature\":\"c2ln\"}",
                    STR_ARG(quoted));
            }
            break;
        case BY_CHAT:
        case BY_OLLAMA:
        case N_MAKERS:
            break;
        }
    message_add(m, &p);
}

/* Reasoning that the items after it belong to: "rs_7" and then "msg_9_of_7"; 0: none. */
static unsigned reasoning_before(const struct scenario *s, const struct message *m)
{
    unsigned id = 0;

    for (size_t i = 0; i < m->n_parts && s->maker == BY_RESPONSES; i++)
        if (m->parts[i].kind == PART_REASONING && m->parts[i].native.n)
            id = (unsigned)atoi(strstr(m->parts[i].native.p, "rs_") + 3);
    return id;
}

static void add_text(struct scenario *s, struct message *m, bool is_whole)
{
    struct part p = {.kind = chance(s, 20) ? PART_REFUSAL : PART_TEXT, .text = text(s)};
    struct str quoted = quote(s, p.text);

    if (is_whole && s->maker == BY_RESPONSES && p.kind == PART_TEXT)
        p.native = FORMAT(s,
                          "{\"type\":\"message\",\"id\":\"msg_%u_of_%u\",\"role\":\"assistant\","
                          "\"status\":\"completed\",\"content\":[{\"type\":\"output_text\","
                          "\"annotations\":[],\"text\":%" STR_FMT "}]}",
                          ++s->n_ids, reasoning_before(s, m), STR_ARG(quoted));
    if (is_whole && s->maker == BY_GEMINI && p.kind == PART_TEXT && chance(s, 4)) {
        p.signature = S("c2ln");
        p.native =
            FORMAT(s, "{\"text\":%" STR_FMT ",\"thoughtSignature\":\"c2ln\"}", STR_ARG(quoted));
    }
    message_add(m, &p);
}

static struct str call_id(struct scenario *s)
{
    static const char *const odd[] = {"call_0",      "call_0",   "call_0_2", "",
                                      "weird id|fc", "\xC3\xBC", LONG_ID,    "functions.Bash:0"};

    return chance(s, 4) ? PICK(s, odd) : FORMAT(s, "call_x%u", ++s->n_ids);
}

static struct str tool_name(struct scenario *s)
{
    static const char *const odd[] = {"Teleport", "",      "a b.c\n", "Gr\xC3\xBC\xC3\x9F",
                                      "1st",      "-dash", "a:b.c",   LONG_ID LONG_ID};

    return chance(s, 5) ? PICK(s, odd) : chance(s, 2) ? S("Read") : S("Bash");
}

/* The decoder keeps no block of a call whose id the API would not take back. */
static bool keeps_block(const struct scenario *s, const struct part *p)
{
    return s->maker == BY_GEMINI || (s->maker == BY_RESPONSES && p->id.n && p->id.n <= 64 &&
                                     strspn(p->id.p, PLAIN_LETTERS) == p->id.n);
}

static void set_native_call(struct scenario *s, const struct message *m, struct part *p)
{
    struct str id = quote(s, p->id), name = quote(s, p->name), args = quote(s, p->args);
    unsigned before = reasoning_before(s, m);
    bool has_id = p->id.n && !chance(s, 3); /* not all models give ids, and then one is made */

    if (!keeps_block(s, p))
        return;
    if (s->maker == BY_RESPONSES && p->is_free_text)
        p->native = FORMAT(s,
                           "{\"type\":\"custom_tool_call\",\"id\":\"ctc_%u_of_%u\",\"call_id\":"
                           "%" STR_FMT ",\"name\":%" STR_FMT ",\"input\":%" STR_FMT "}",
                           ++s->n_ids, before, STR_ARG(id), STR_ARG(name), STR_ARG(args));
    else if (s->maker == BY_RESPONSES)
        p->native = FORMAT(s,
                           "{\"type\":\"function_call\",\"id\":\"fc_%u_of_%u\",\"call_id\":"
                           "%" STR_FMT ",\"name\":%" STR_FMT ",\"arguments\":%" STR_FMT
                           ",\"status\":\"completed\"}",
                           ++s->n_ids, before, STR_ARG(id), STR_ARG(name), STR_ARG(args));
    if (s->maker != BY_GEMINI)
        return;
    p->signature = chance(s, 2) ? S("c2ln") : (struct str){0};
    p->native = FORMAT(
        s, "{\"functionCall\":{%s%" STR_FMT "%s\"name\":%" STR_FMT ",\"args\":%" STR_FMT "}%s}",
        has_id ? "\"id\":" : "", STR_ARG(has_id ? id : (struct str){0}), has_id ? "," : "",
        STR_ARG(name), STR_ARG(p->args), p->signature.n ? ",\"thoughtSignature\":\"c2ln\"" : "");
}

static void add_call(struct scenario *s, struct message *m, bool is_whole)
{
    static const char *const args[] = {"{}", "{\"file_path\":\"a.txt\"}",
                                       "{\"n\":[1,{\"x\":null}]}"};
    struct part p = {.kind = PART_TOOL_CALL, .id = call_id(s), .name = tool_name(s)};

    p.args = PICK(s, args);
    if (!is_whole || chance(s, 12)) {
        p.args = S("{}");
        p.bad_args = is_whole ? S("[1") : S("{\"file_pa");
    } else if (s->maker == BY_RESPONSES && chance(s, 6)) {
        p.is_free_text = true;
        p.args = text(s);
    }
    if (is_whole && (p.bad_args.n == 0 || s->maker == BY_GEMINI))
        set_native_call(s, m, &p);
    message_add(m, &p);
}

/* What the provider ran itself. Of one that was cut off there is no result. */
static void add_server_tool(struct scenario *s, struct message *m, bool is_whole)
{
    struct str id = FORMAT(s, "srv_%u", ++s->n_ids);
    struct part use = {.kind = PART_SERVER_TOOL_USE, .id = id, .name = S("web_search")};
    struct part result = {.kind = PART_SERVER_TOOL_RESULT, .id = id, .name = S("web_search")};

    use.args = S("{}");
    switch (s->maker) {
    case BY_ANTHROPIC:
        use.native = FORMAT(s,
                            "{\"type\":\"server_tool_use\",\"id\":\"%" STR_FMT
                            "\",\"name\":\"web_search\",\"input\":{}}",
                            STR_ARG(id));
        result.native = FORMAT(s,
                               "{\"type\":\"web_search_tool_result\",\"tool_use_id\":\"%" STR_FMT
                               "\",\"content\":[]}",
                               STR_ARG(id));
        break;
    case BY_RESPONSES:
        use.native = FORMAT(s,
                            "{\"type\":\"web_search_call\",\"id\":\"ws_%u_of_%u\",\"status\":"
                            "\"completed\",\"action\":{}}",
                            ++s->n_ids, reasoning_before(s, m));
        break;
    case BY_GEMINI:
        use.native = S("{\"executableCode\":{\"language\":\"PYTHON\",\"code\":\"1\"}}");
        result.native = S("{\"codeExecutionResult\":{\"outcome\":\"OUTCOME_OK\"}}");
        break;
    case BY_CHAT:
    case BY_OLLAMA:
    case N_MAKERS:
        break;
    }
    message_add(m, &use);
    if (is_whole && s->maker != BY_RESPONSES)
        message_add(m, &result);
}

static void add_other(struct scenario *s, struct message *m, bool is_whole)
{
    struct part p = {.kind = PART_CITATION, .text = S("cited"), .url = S("https://a.example")};

    if (chance(s, 2))
        add_server_tool(s, m, is_whole);
    else if (chance(s, 2))
        message_add(m, &p);
    else {
        p = random_media(s);
        p.signature = chance(s, 2) ? S("c2ln") : (struct str){0};
        message_add(m, &p);
    }
}

/* Reasoning, text, calls, and now and then the rest. */
static struct message *answer(struct scenario *s, size_t n_calls, bool is_whole)
{
    struct message *m = begin_answer(s);

    if (chance(s, 2))
        add_reasoning(s, m, /* is_whole= */ true);
    if (chance(s, 8))
        add_other(s, m, /* is_whole= */ true);
    if (!chance(s, 3))
        add_text(s, m, is_whole || n_calls);
    for (size_t i = 0; i < n_calls; i++) {
        add_call(s, m, is_whole || i + 1 < n_calls);
        if (chance(s, 16))
            add_reasoning(s, m, is_whole);
    }
    if (chance(s, 10))
        add_text(s, m, is_whole);
    return m;
}

/* --- results --- */

static void add_result(struct scenario *s, const struct part *call)
{
    static const char *const said[] = {
        "done",
        "Permission denied: the user said no.",
        "Error: unknown tool.",
        "Error: the arguments do not fit: file_path is missing.",
        "The run was cut off while this call was under way. Its outcome is unknown.",
        "The run was cut off before this call began.",
        "Error: Context window near capacity. Tool execution result skipped.",
        HANDLE_TEXT,
        "",
        " \n",
        ("a long result that is clipped, a long result that is clipped, a long result that is "
         "clipped, a long result that is clipped, a long result that is clipped, and so on")};
    struct part content[2] = {{.kind = PART_TEXT, .text = PICK(s, said)}};
    struct part result = {.kind = PART_TOOL_RESULT,
                          .id = call->id,
                          .name = call->name,
                          .is_error = chance(s, 3),
                          .content = content,
                          .n_content = 1};
    struct message *m = push(s, message_new(ROLE_TOOL, S("t")));

    if (chance(s, 5))
        content[result.n_content++] = random_media(s);
    if (chance(s, 20))
        result.n_content = 0;
    message_add(m, &result);
}

/* One for each call, but for those that `skipped` (one in so many; 0: none) leaves out. */
static void add_results(struct scenario *s, const struct message *m, unsigned skipped)
{
    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind == PART_TOOL_CALL && !(skipped && chance(s, skipped)))
            add_result(s, &m->parts[i]);
}

/* --- steps --- */

static void reply(struct scenario *s)
{
    tell(s, "reply");
    answer(s, 0, /* is_whole= */ true);
}

static void round_of_tools(struct scenario *s)
{
    tell(s, "tools");
    add_results(s, answer(s, 1 + random_below(s->random, 3), /* is_whole= */ true), 0);
}

/* The person interrupts: a part of an answer, calls that nobody ran. */
static void interrupt(struct scenario *s)
{
    struct message *m;

    tell(s, "interrupt");
    m = chance(s, 4) ? begin_answer(s) : answer(s, random_below(s->random, 3), chance(s, 2));
    if (chance(s, 2))
        add_reasoning(s, m, chance(s, 2));
    if (chance(s, 8))
        add_server_tool(s, m, /* is_whole= */ false);
    m->state = MESSAGE_INTERRUPTED;
    add_results(s, m, 2);
}

/* The process dies between calls; session/load tells what is known of each. */
static void crash(struct scenario *s)
{
    struct message *m;

    tell(s, "crash");
    m = answer(s, 1 + random_below(s->random, 4), /* is_whole= */ true);
    add_results(s, m, 2);
    if (chance(s, 3)) { /* and a part of the next answer was on disk */
        m = answer(s, random_below(s->random, 2), /* is_whole= */ false);
        m->state = MESSAGE_INTERRUPTED;
    }
}

static void late_result(struct scenario *s)
{
    struct part stray = {.kind = PART_TOOL_CALL, .id = call_id(s), .name = S("Read")};
    struct message *m;

    tell(s, "late result");
    m = answer(s, 1 + random_below(s->random, 2), /* is_whole= */ true);
    say(s, ROLE_USER, S("hurry up"));
    add_results(s, m, 3);
    if (chance(s, 3))
        add_result(s, &stray);
}

static void compact(struct scenario *s)
{
    tell(s, "compact");
    cut_to(s, 0);
    if (chance(s, 4))
        say(s, ROLE_SYSTEM, S("be kind"));
    say(s, ROLE_ASSISTANT, S(COMPACT_SUMMARY_PREFIX "so far, so good. "));
    if (chance(s, 2)) {
        struct message *m = push(s, message_new(ROLE_USER, S("r")));

        message_add_text(m, S(REATTACH_NOTE));
        message_add_text(m, S(REATTACH_REQUEST "go on"));
    }
}

static void fork_history(struct scenario *s)
{
    tell(s, "fork");
    cut_to(s, random_below(s->random, s->n + 1));
}

static void clear_history(struct scenario *s)
{
    tell(s, "clear");
    cut_to(s, 0);
}

static void switch_model(struct scenario *s)
{
    s->maker = (enum maker)random_below(s->random, N_MAKERS);
    strbuf_addf(&s->told, ", switch to %" STR_FMT, STR_ARG(maker_provider(s->maker)));
}

static void diagnose(struct scenario *s)
{
    tell(s, "diagnosis");
    say(s, ROLE_ASSISTANT, S("The provider is down."));
    s->list[s->n - 1]->is_error = true;
}

/* A last turn without tools: its calls are left out, its text is kept. */
static void forced_end(struct scenario *s)
{
    struct message *m = begin_answer(s);

    tell(s, "forced end");
    add_reasoning(s, m, /* is_whole= */ true);
    if (chance(s, 2))
        add_text(s, m, /* is_whole= */ true);
    if (chance(s, 4))
        add_reasoning(s, m, /* is_whole= */ true);
}

static void pause_answer(struct scenario *s)
{
    struct message *m = begin_answer(s);

    tell(s, "pause");
    add_text(s, m, /* is_whole= */ true);
    add_server_tool(s, m, /* is_whole= */ true);
    if (s->maker == BY_ANTHROPIC) {
        add_server_tool(s, m, /* is_whole= */ false);
        m->stop = STOP_PAUSED;
    }
}

void scenario_init(struct scenario *s, uint64_t seed)
{
    static void (*const steps[])(struct scenario *s) = {
        ask,          ask,          ask,          round_of_tools, round_of_tools, round_of_tools,
        reply,        interrupt,    interrupt,    crash,          late_result,    switch_model,
        diagnose,     forced_end,   pause_answer, inject,         switch_model,   compact,
        fork_history, clear_history};

    *s = (struct scenario){.n_ids = 0};
    seeded_random_init(&s->seeded, seed);
    s->random = &s->seeded.random;
    s->maker = (enum maker)random_below(s->random, N_MAKERS);
    strbuf_addf(&s->told, "with %" STR_FMT, STR_ARG(maker_provider(s->maker)));
    if (!chance(s, 8))
        ask(s);
    for (size_t n = 1 + random_below(s->random, chance(s, 8) ? 12 : 4); n; n--)
        steps[random_below(s->random, ARRAY_LEN(steps) - (chance(s, 2) ? 3 : 0))](s);
}

void scenario_done(struct scenario *s)
{
    cut_to(s, 0);
    arena_done(&s->arena);
    strbuf_done(&s->told);
}
