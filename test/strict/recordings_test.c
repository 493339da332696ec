/* recordings_test.c - what providers have taken, the judges take too. */
#include "unit/test.h"

#include "base/mem.h"
#include "strict/strict.h"

#include <dirent.h>
#include <unistd.h>

struct folder {
    const char *name;
    bool (*judge)(const struct json *body, struct strbuf *why);
};

static const struct folder folders[] = {
    {"anthropic-messages", strict_anthropic},
    {"openai-chat", strict_openai_chat},
    {"openai-compat", strict_openai_compat},
    {"openai-responses", strict_openai_responses},
    {"responses-compat", strict_responses_compat},
    {"gemini", strict_gemini},
    {"ollama-native", strict_ollama},
};

/* Requests that a provider took, and that we refuse all the same: by how their name begins. */
static const struct {
    const char *name, *reason;
} exceptions[] = {
    {"tool-result-turn--anthropic--anthropic-completion-tools-call-with-tool-result-0",
     "sent by hand with an id of no call, and taken by a version of 2024"},
    {"tool-single--openai--open-ai-function-calls-with-events", "function_call, long deprecated"},
    {"tool-result-turn--openai--tools-streaming-variant-d-1", "an answer without a word"},
    {"max-tokens--huggingface--max-completion-tokens-0", "an empty list of tools, at one vendor"},
    {"text--huggingface--cancel-recorded-provider-stream", "an empty list of tools, at one vendor"},
    {"media-input--mistral--chat-vision-models-mistral-pixtral",
     "a picture as a string, at Mistral"},
    {"text--mistral--asynchronous-streaming-chat-completions",
     "a choice without tools, at Mistral"},
    {"tool-single--mistral--synchronous-streaming-chat-completions",
     "the choice \"any\" of Mistral, which takes \"required\" too"},
    {"text--openai--openai-responses-verbosity-0", "empty instructions: we send none"},
    {"tool-parallel--openai--openai-responses-model-retry-0", "empty instructions: we send none"},
    {"tool-result-turn--openai--openai-responses-stream-1", "empty instructions: we send none"},
    {"tool-single--openai--openai-responses-stream-0", "empty instructions: we send none"},
    {"cached-tokens--deepseek--deepseek-responses-function-tool-stream-1",
     "ids of items in DeepSeek's own form"},
    {"cached-tokens--googleai--web-search-0", "an empty system text: we send none"},
    {"media-input--googleai--upload-2", "an empty system text: we send none"},
    {"thinking--googleai--thinking-level-0", "an empty system text: we send none"},
    {"web-search--googleai--web-fetch-0", "an empty system text: we send none"},
    {"text--ollama--ollama-async-chat-legacy-0", "an empty format"},
    {"text--ollama--ollama-chat-with-events-with-content-0", "an empty format"},
    {"text--ollama--ollama-streaming-chat-legacy-0", "an empty format"},
    {"tool-result-turn--ollama--ollama-chat-tool-calls-with-events", "an empty format"},
    {"text--ollama--ollama-async-generation-legacy-0", "is not of /api/chat"},
    {"text--ollama--ollama-async-streaming-generation", "is not of /api/chat"},
    {"text--ollama--ollama-streaming-time-to-generate", "is not of /api/chat"},
};

static bool is_exception(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(exceptions); i++)
        if (strncmp(name, exceptions[i].name, strlen(exceptions[i].name)) == 0)
            return true;
    return false;
}

static struct json *read_json(struct arena *a, const char *path)
{
    struct strbuf text = read_file(path);
    struct json *v = NULL;

    assert_ok(json_parse(a, arena_str(a, strbuf_str(&text)), 0, &v));
    strbuf_done(&text);
    return v;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

struct tally {
    size_t n, n_excepted, n_failed;
};

static void judge_case(const char *dir, const struct folder *f, const char *name, struct tally *t)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf why = {0};
    struct str request = arena_format(&a, "%s/%s/%s/request.json", dir, f->name, name);
    struct str meta = arena_format(&a, "%s/%s/%s/meta.json", dir, f->name, name);
    struct json *body;
    int64_t status;

    if (access(request.p, R_OK) != 0)
        return;
    status = json_int_or(json_get(json_get(read_json(&a, meta.p), "http"), "status"), 0);
    body = read_json(&a, request.p);
    if (status < 200 || status > 299 || body->type != JSON_OBJECT)
        return;
    t->n++;
    if (f->judge(body, &why))
        return;
    if (is_exception(name)) {
        t->n_excepted++;
        return;
    }
    print_error("%s/%s\n    %s\n", f->name, name, strbuf_cstr(&why));
    t->n_failed++;
}

TEST(requests_that_providers_took_are_taken)
{
    const char *manifest = shared_path("wire/manifest.json");
    struct tally t = {0};
    char dir[4096];

    if (!manifest)
        return;
    snprintf(dir, sizeof dir, "%.*s", (int)(strlen(manifest) - strlen("/manifest.json")), manifest);
    for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
        struct dirent **cases;
        char path[8192];
        int n;

        snprintf(path, sizeof path, "%s/%s", dir, folders[i].name);
        n = scandir(path, &cases, NULL, by_name);
        assert_true(n > 0);
        for (int k = 0; k < n; k++) {
            judge_case(dir, &folders[i], cases[k]->d_name, &t);
            free(cases[k]);
        }
        free(cases);
    }
    print_message("%zu requests, %zu excepted\n", t.n, t.n_excepted);
    assert_true(t.n > 600);
    assert_int_equal(t.n_failed, 0);
    assert_int_equal(t.n_excepted, ARRAY_LEN(exceptions));
}

/* What our encoders write, by hand-made conversations: test/wire. */
static const struct folder golden[] = {
    {"anthropic-messages", strict_anthropic},
    {"openai-chat", strict_openai_compat},
    {"openai-responses", strict_openai_responses},
    {"gemini", strict_gemini},
    {"ollama", strict_ollama},
};

static const char *const golden_exceptions[] = {
    "options.request.json",              /* with a made-up member, to show that it goes along */
    "replay-parts.request.json",         /* thinking parts are Mistral's */
    "tool-pictures-inside.request.json", /* pictures in results are some vendors' */
};

static bool is_golden_exception(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(golden_exceptions); i++)
        if (strcmp(name, golden_exceptions[i]) == 0)
            return true;
    return false;
}

static void judge_golden(const char *dir, const struct folder *f, const char *name, struct tally *t)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf why = {0};
    struct str path = arena_format(&a, "%s/%s", dir, name);

    if (name[0] == '.')
        return;
    t->n++;
    if (f->judge(read_json(&a, path.p), &why) || is_golden_exception(name))
        return;
    print_error("%s/%s\n    %s\n", f->name, name, strbuf_cstr(&why));
    t->n_failed++;
}

TEST(golden_requests_are_taken)
{
    const char *source = getenv("KEEL_SOURCE");
    struct tally t = {0};

    if (!source) {
        print_message("[ SKIPPED because KEEL_SOURCE is not set ]\n");
        skip();
    }
    for (size_t i = 0; i < ARRAY_LEN(golden); i++) {
        struct dirent **files;
        char dir[8192];
        int n;

        snprintf(dir, sizeof dir, "%s/test/wire/%s", source, golden[i].name);
        n = scandir(dir, &files, NULL, by_name);
        assert_true(n > 0);
        for (int k = 0; k < n; k++) {
            judge_golden(dir, &golden[i], files[k]->d_name, &t);
            free(files[k]);
        }
        free(files);
    }
    print_message("%zu requests\n", t.n);
    assert_int_equal(t.n_failed, 0);
}

RUN_TESTS(UNIT(requests_that_providers_took_are_taken), UNIT(golden_requests_are_taken))
