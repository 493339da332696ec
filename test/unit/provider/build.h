/* build.h - for tests of encoders: builds requests in a few words, and compares the body that a
 * protocol makes of them with a golden file.
 *
 *     AUTO(build) struct build b;
 *
 *     build_init(&b);
 *     user_says(&b, "Look it up.");
 *     m = assistant_says(&b, NULL);
 *     add_call(m, "call_1", "search", "{\"q\":\"keel\"}");
 *     tool_answers(&b, "call_1", "search", "A ship's backbone.");
 *     assert_golden(&b, &protocol_openai_chat, "openai-chat/tool-round");
 *
 * Everything else of the request is set directly: b.request.effort = EFFORT_LOW.
 *
 * A golden file is test/wire/NAME.request.json, laid out for reading. The body itself must be
 * compact; its members, their order and their bytes are compared. To write the files anew after a
 * wanted change, run the test with KEEL_WRITE_GOLDEN=1 and read the diff. */
#ifndef KEEL_TEST_UNIT_PROVIDER_BUILD_H
#define KEEL_TEST_UNIT_PROVIDER_BUILD_H

#include "test.h"

#include "provider/protocol.h"

#define BUILD_MAX 32

/* The profile that requests go to. Assistant messages are its own unless from_elsewhere(). */
#define BUILD_PROVIDER S("here")

struct build {
    struct arena arena;
    struct model_request request;
    struct dialect dialect;
    struct model_info info; /* the request's, once can() was called */
    struct message *messages[BUILD_MAX];
    struct tool_def tool_defs[BUILD_MAX];
    const struct tool_def *tools[BUILD_MAX];
};

static inline void build_init(struct build *b)
{
    *b = (struct build){0};
    b->request.provider = BUILD_PROVIDER;
    b->request.model = S("a-model");
    b->request.messages = (const struct message *const *)b->messages;
    b->request.tools = b->tools;
}

static inline void build_done(struct build *b)
{
    for (size_t i = 0; i < b->request.n_messages; i++)
        message_unref(b->messages[i]);
    arena_done(&b->arena);
}
DEFINE_AUTO_VAL(build, build_done)

/* --- messages --- */

static inline struct message *add_message(struct build *b, enum role role)
{
    struct message *m = message_new(role, S("00000000-0000-8000-8000-000000000000"));

    assert_true(b->request.n_messages < BUILD_MAX);
    if (role == ROLE_ASSISTANT)
        message_set_origin(m, (struct origin){.provider = BUILD_PROVIDER});
    b->messages[b->request.n_messages++] = m;
    return m;
}

static inline struct message *user_says(struct build *b, const char *text)
{
    struct message *m = add_message(b, ROLE_USER);

    if (text)
        message_add_text(m, str_of(text));
    return m;
}

static inline struct message *assistant_says(struct build *b, const char *text)
{
    struct message *m = add_message(b, ROLE_ASSISTANT);

    if (text)
        message_add_text(m, str_of(text));
    return m;
}

/* Another provider made this message: its native parts must stay away from ours. */
static inline void from_elsewhere(struct message *m)
{
    message_set_origin(m, (struct origin){.provider = S("elsewhere")});
}

static inline struct part *add_call(struct message *m, const char *id, const char *name,
                                    const char *args)
{
    return message_add(m, &(struct part){.kind = PART_TOOL_CALL,
                                         .id = str_of(id),
                                         .name = str_of(name),
                                         .args = str_of(args)});
}

/* The last two may be NULL. */
static inline struct part *add_reasoning(struct message *m, const char *text, const char *signature,
                                         const char *native)
{
    return message_add(m, &(struct part){.kind = PART_REASONING,
                                         .text = str_of(text),
                                         .signature = str_of(signature),
                                         .native = str_of(native)});
}

/* A block that only its maker understands: PART_SERVER_TOOL_USE, PART_CITATION, ... */
static inline struct part *add_native(struct message *m, enum part_kind kind, const char *native)
{
    return message_add(m, &(struct part){.kind = kind, .native = str_of(native)});
}

static inline struct part *add_refusal(struct message *m, const char *text)
{
    return message_add(m, &(struct part){.kind = PART_REFUSAL, .text = str_of(text)});
}

/* --- media --- */

/* `data` are the bytes, as text. `name` may be NULL. */
static inline struct part media_part(const char *mime, const char *data, const char *name)
{
    return (struct part){.kind = PART_MEDIA,
                         .media = {.mime = str_of(mime),
                                   .source = MEDIA_BYTES,
                                   .data = str_of(data),
                                   .name = str_of(name)}};
}

static inline struct part media_url_part(const char *mime, const char *url)
{
    struct part p = media_part(mime, url, NULL);

    p.media.source = MEDIA_URL;
    return p;
}

static inline void add_media(struct message *m, const char *mime, const char *data,
                             const char *name)
{
    struct part p = media_part(mime, data, name);

    message_add(m, &p);
}

static inline void add_media_url(struct message *m, const char *mime, const char *url)
{
    struct part p = media_url_part(mime, url);

    message_add(m, &p);
}

static struct err *load_blob(void *self, struct str handle, struct strbuf *out)
    __attribute__((unused));
static struct err *load_blob(void *self, struct str handle, struct strbuf *out)
{
    strbuf_addf(out, "blob %" STR_FMT, STR_ARG(handle));
    return NULL;
}

/* A file in the blob store: its bytes are "blob HANDLE". */
static inline void add_blob(struct build *b, struct message *m, const char *mime,
                            const char *handle)
{
    static const struct media_loader loader = {.load = load_blob};
    struct part p = media_part(mime, handle, NULL);

    p.media.source = MEDIA_BLOB;
    message_add(m, &p);
    b->request.media = &loader;
}

/* --- tool results --- */

static inline struct part *add_result(struct message *m, const char *id, const char *name,
                                      const struct part *content, size_t n_content)
{
    return message_add(m, &(struct part){.kind = PART_TOOL_RESULT,
                                         .id = str_of(id),
                                         .name = str_of(name),
                                         .content = (struct part *)content,
                                         .n_content = n_content});
}

static inline struct message *tool_answers(struct build *b, const char *id, const char *name,
                                           const char *text)
{
    struct part content = {.kind = PART_TEXT, .text = str_of(text)};
    struct message *m = add_message(b, ROLE_TOOL);

    add_result(m, id, name, &content, 1);
    return m;
}

static inline void tool_fails(struct build *b, const char *id, const char *name, const char *text)
{
    tool_answers(b, id, name, text)->parts[0].is_error = true;
}

/* A text and one picture. */
static inline void tool_shows(struct build *b, const char *id, const char *name, const char *text,
                              const char *mime, const char *data)
{
    struct part content[] = {{.kind = PART_TEXT, .text = str_of(text)},
                             media_part(mime, data, NULL)};

    add_result(add_message(b, ROLE_TOOL), id, name, content, ARRAY_LEN(content));
}

/* --- settings --- */

static inline struct json *parse_json(struct build *b, const char *text)
{
    struct json *v;

    assert_ok(json_parse(&b->arena, str_of(text), 0, &v));
    return v;
}

/* `schema` may be NULL: no arguments. */
static inline struct tool_def *add_tool(struct build *b, const char *name, const char *description,
                                        const char *schema)
{
    size_t i = b->request.n_tools++;

    assert_true(i < BUILD_MAX);
    b->tool_defs[i] = (struct tool_def){.name = str_of(name),
                                        .description = str_of(description),
                                        .input_schema = schema ? parse_json(b, schema) : NULL};
    b->tools[i] = &b->tool_defs[i];
    return &b->tool_defs[i];
}

static inline struct maybe_double just(double value)
{
    return (struct maybe_double){true, value};
}

/* The model is known, and this is what it can do. */
static inline void can(struct build *b, unsigned capabilities)
{
    b->info.capabilities = capabilities;
    b->request.info = &b->info;
}

/* --- golden files --- */

static inline void print_lines(const char *mark, struct str lines)
{
    struct str line;

    while (lines.n && str_split(&lines, '\n', &line))
        print_error("%s%" STR_FMT "\n", mark, STR_ARG(line));
}

/* What differs, as a diff without context: the lines between the common start and end. */
static inline void print_difference(struct str want, struct str got)
{
    size_t start = 0, line = 1, end = 0;

    for (size_t i = 0; i < want.n && i < got.n && want.p[i] == got.p[i]; i++)
        if (want.p[i] == '\n') {
            start = i + 1;
            line++;
        }
    for (size_t i = 1; i <= MIN(want.n, got.n) - start; i++) {
        if (want.p[want.n - i] != got.p[got.n - i])
            break;
        if (want.p[want.n - i] == '\n')
            end = i - 1;
    }
    print_error("@@ line %zu @@\n", line);
    print_lines("-", str_slice(want, start, want.n - start - end));
    print_lines("+", str_slice(got, start, got.n - start - end));
}

static inline void write_file(const char *path, struct str text)
{
    FILE *file = fopen(path, "wb");

    if (!file || fwrite(text.p, 1, text.n, file) != text.n || fclose(file) != 0)
        fail_msg("cannot write %s", path);
}

static inline void assert_golden_body_(struct str body, const char *name, const char *file,
                                       int line)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf compact = {0}, got = {0}, want = {0};
    const char *source = getenv("KEEL_SOURCE");
    struct json *v;
    char path[4096];

    assert_ok_(json_parse(&a, body, JSON_UNIQUE_KEYS, &v), file, line);
    json_write(&compact, v);
    assert_str_(body, strbuf_cstr(&compact), file, line);

    json_write_pretty(&got, v);
    strbuf_add_char(&got, '\n');
    snprintf(path, sizeof path, "%s/test/wire/%s.request.json", source ? source : ".", name);
    if (getenv("KEEL_WRITE_GOLDEN"))
        write_file(path, strbuf_str(&got));
    want = read_file(path);
    if (!str_eq(strbuf_str(&want), strbuf_str(&got))) {
        print_error("%s\n", path);
        print_difference(strbuf_str(&want), strbuf_str(&got));
        _fail(file, line);
    }
}
/* For bodies that were made in another way. */
#define assert_golden_body(body, name) assert_golden_body_((body), (name), __FILE__, __LINE__)

static inline void assert_golden_(const struct build *b, const struct protocol *protocol,
                                  const char *name, const char *file, int line)
{
    AUTO(strbuf) struct strbuf body = {0};

    assert_ok_(protocol->encode(&b->request, &b->dialect, &body), file, line);
    assert_golden_body_(strbuf_str(&body), name, file, line);
}
#define assert_golden(b, protocol, name) assert_golden_((b), (protocol), (name), __FILE__, __LINE__)

/* For a body without a golden file. `want` is written with ' for ", which C would want escaped. */
static inline void assert_encodes_(const struct build *b, const struct protocol *protocol,
                                   const char *want, const char *file, int line)
{
    AUTO(strbuf) struct strbuf body = {0}, quoted = {0};

    for (; *want; want++)
        strbuf_add_char(&quoted, *want == '\'' ? '"' : *want);
    assert_ok_(protocol->encode(&b->request, &b->dialect, &body), file, line);
    assert_str_(strbuf_str(&body), strbuf_cstr(&quoted), file, line);
}
#define assert_encodes(b, protocol, want)                                                          \
    assert_encodes_((b), (protocol), (want), __FILE__, __LINE__)

/* Fails unless the protocol refuses the request with this kind. */
static inline void assert_not_encoded_(const struct build *b, const struct protocol *protocol,
                                       enum err_kind kind, const char *file, int line)
{
    AUTO(strbuf) struct strbuf body = {0};

    assert_err_(protocol->encode(&b->request, &b->dialect, &body), kind, file, line);
}
#define assert_not_encoded(b, protocol, kind)                                                      \
    assert_not_encoded_((b), (protocol), (kind), __FILE__, __LINE__)

#endif
