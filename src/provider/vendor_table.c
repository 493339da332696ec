/* vendor_table.c - the vendors: one row each, no code.
 *
 * If nothing is configured, keel looks for keys, and then for addresses of local servers, in this
 * order. A row describes the dialect that the vendor documents; what is not documented is not sent.
 */
#include "provider/catalogue.h"
#include "provider/vendor.h"

static const struct catalogue no_models;
/* The levels of Kimi K3 and GLM 5.3; their older models ignore levels. */
#define LOW_HIGH_MAX (EFFORT_BIT(EFFORT_LOW) | EFFORT_BIT(EFFORT_HIGH) | EFFORT_BIT(EFFORT_MAX))

/* --- words ---
 *
 * In which APIs and servers say that a prompt is too long, when to ask again, and that they do not
 * accept a file. Sentences are separated by '|', with '*' for what changes between (vendor.h). A
 * vendor that offers models of others passes on the words of their makers, so its row joins
 * theirs. */

/* The prompt is too long. */

#define ANTHROPIC_TOO_LONG "prompt is too long|exceed context limit"
/* Amazon checks it, too, before the model is asked. */
#define BEDROCK_TOO_LONG ANTHROPIC_TOO_LONG "|input is too long for requested model"
#define OPENAI_TOO_LONG                                                                            \
    "exceeds the context window|maximum context length is|input tokens exceed the configured "     \
    "limit"
/* The second sentence is from Vertex AI. */
#define GEMINI_TOO_LONG                                                                            \
    "input token count*exceeds the maximum|input token count is*only supports up to"
#define XAI_TOO_LONG "maximum prompt length is"
#define MISTRAL_TOO_LONG "too large for model with*maximum context length"
#define GROQ_TOO_LONG "reduce the length of the messages"
#define MOONSHOT_TOO_LONG "exceeded model token limit"
#define ZAI_TOO_LONG "prompt exceeds max length"
#define DASHSCOPE_TOO_LONG "range of input length should be"
#define COPILOT_TOO_LONG "prompt token count of*exceeds the limit of"
#define TGI_TOO_LONG "tokens + `max_new_tokens` must be"
#define TOGETHER_TOO_LONG TGI_TOO_LONG "|longer than the model's context length"
#define FIREWORKS_TOO_LONG "prompt is too long|maximum context length"
/* The last sentence: less than nothing of the window is left for the answer. */
#define VLLM_TOO_LONG                                                                              \
    "maximum context length is|exceeds the model's maximum context length|"                        \
    "model's context length is only|longer than the maximum model length|"                         \
    "is longer than the model's context|maximum input length of|max_tokens must be at least 1, "   \
    "got -"
#define LLAMA_CPP_TOO_LONG                                                                         \
    "exceeds the available context size|exceeds context size|context size has been exceeded"
#define LMSTUDIO_TOO_LONG                                                                          \
    "greater than the context length|context the overflows|context overflow|"                      \
    "loaded with context length of only|exceeds the available context size|reached context length"
#define OLLAMA_TOO_LONG                                                                            \
    "exceeds the context length|exceeded max context length|exceeds the available context size|"   \
    "exceeds maximum context length"
/* For a router, which may ask any of them. */
#define ROUTER_TOO_LONG                                                                            \
    BEDROCK_TOO_LONG "|" OPENAI_TOO_LONG "|" GEMINI_TOO_LONG "|" XAI_TOO_LONG "|" MISTRAL_TOO_LONG \
                     "|" GROQ_TOO_LONG "|" MOONSHOT_TOO_LONG "|" ZAI_TOO_LONG                      \
                     "|" DASHSCOPE_TOO_LONG "|" TOGETHER_TOO_LONG "|" VLLM_TOO_LONG                \
                     "|maximum allowed input length|context window exceeds limit"
#define ANY_TOO_LONG                                                                               \
    ROUTER_TOO_LONG "|" LLAMA_CPP_TOO_LONG "|" LMSTUDIO_TOO_LONG "|" OLLAMA_TOO_LONG

/* When to ask again. */

#define OPENAI_DELAY "try again in "
#define AZURE_DELAY "try again in |retry after "
#define MOONSHOT_DELAY "try again after "
#define GEMINI_DELAY "retry in "
#define ROUTER_DELAY "try again in |try again after |retry after |retry in "

/* Images and documents: what refuses them, and the limits that are documented.
 *
 * Anthropic names the block ("messages.5.content.1.image.source.base64.data: ..."). Its limits
 * (platform.claude.com/docs, vision and pdf-support): 8000 px, but 2000 px in a request with more
 * than 20 images, and an image stays in all later requests; 5 MB of base64; 32 MB a request; 100
 * pages a request with a window of 200,000 tokens and 600 with a larger one, where 100 pages fill
 * enough of it already. OpenAI says in its refusals that images must be below 20 MB, and documents
 * no pixels; files 50 MB (guides/file-inputs), but keel's messages hold less. Gemini: 100 MB a
 * request with inline data, 50 MB a PDF, 1000 pages, no GIF (ai.google.dev/gemini-api/docs,
 * file-input-methods and document-processing). */

#define ANTHROPIC_WORDS                                                                            \
    ".image.source|.pdf.source|.document.source|could not process image|"                          \
    "image dimensions exceed|image exceeds*maximum|PDF pages may be provided|"                     \
    "could not process PDF|PDF specified|too many images|unable to download the file"
#define OPENAI_WORDS                                                                               \
    "unsupported image|image data you provided|image_url|.file_data|input_image|input_file|"       \
    "while downloading|invalid base64|could not parse*image|failed to parse*PDF|"                  \
    "does not support image"
#define GEMINI_WORDS                                                                               \
    "process input image|provided image is not valid|inline_data|inlineData|document has no "      \
    "pages|unsupported MIME type|supported page limit|fetch content from the provided URL"
#define LOCAL_WORDS                                                                                \
    "image input is not supported|failed to load image|failed to process image|"                   \
    "cannot identify image file|is not a multimodal model|may be provided in one prompt|"          \
    "invalid image|illegal base64 data|image: unknown format|for image input|"                     \
    "support image input|does not support images|failed to decode image"
/* image_mib: of base64, which is a third larger than the bytes. */
#define FILES(words, edge, image_mib, pdf_mib, pages, gif_too)                                     \
    .media_words = words,                                                                          \
    .media = {(edge), (image_mib) * 768 * 1024, (size_t)(pdf_mib) << 20, (pages), !(gif_too)}
#define ANTHROPIC_FILES FILES(ANTHROPIC_WORDS, 2000, 5, 20, 100, true)
#define OPENAI_FILES FILES(OPENAI_WORDS, 16000, 20, 20, 0, true)
#define GEMINI_FILES FILES(GEMINI_WORDS, 0, 19, 20, 1000, false)
#define OLLAMA_FILES FILES(LOCAL_WORDS, 0, 0, 0, 0, false)
#define CHAT_FILES .media_words = OPENAI_WORDS "|" LOCAL_WORDS
#define ROUTER_FILES                                                                               \
    .media_words = ANTHROPIC_WORDS "|" OPENAI_WORDS "|" GEMINI_WORDS "|" LOCAL_WORDS

/* --- the rows --- */

const struct vendor vendors[] = {
    {
        .name = "anthropic",
        .display_name = "Anthropic",
        .aliases = "claude",
        .protocol = &protocol_anthropic_messages,
        .base_url = "https://api.anthropic.com",
        .base_url_env = "ANTHROPIC_BASE_URL",
        .key_env = "ANTHROPIC_API_KEY",
        .token_env = "ANTHROPIC_AUTH_TOKEN",
        .model_env = "ANTHROPIC_MODEL",
        .headers_env = "ANTHROPIC_CUSTOM_HEADERS",
        .takes_helper = true,
        .auth = AUTH_X_API_KEY,
        .default_model = "claude-sonnet-5-5",
        .families = "fable opus sonnet haiku",
        .overflow_words = ANTHROPIC_TOO_LONG,
        .has_web_search = true,
        .has_web_fetch = true,
        ANTHROPIC_FILES,
        .models_path = "/v1/models?limit=1000",
        .api_key_url = "https://platform.claude.com/settings/keys",
        .console_url = "https://platform.claude.com",
        .official_url = "https://platform.claude.com/docs",
        .setup_prompt = "Paste your Anthropic API key",
        .catalogue = &catalogue_anthropic,
    },
    {
        .name = "openai",
        .display_name = "OpenAI",
        .aliases = "",
        .protocol = &protocol_openai_responses,
        .base_url = "https://api.openai.com/v1",
        .base_url_env = "OPENAI_BASE_URL",
        .key_env = "OPENAI_API_KEY",
        .default_model = "gpt-6.1-sol",
        .dialect = {.thoughts_if_asked = true},
        .overflow_words = OPENAI_TOO_LONG,
        .delay_words = OPENAI_DELAY,
        .has_web_search = true,
        OPENAI_FILES,
        .models_path = "/models",
        .api_key_url = "https://platform.openai.com/api-keys",
        .console_url = "https://platform.openai.com",
        .official_url = "https://developers.openai.com/api/docs",
        .setup_prompt = "Paste your OpenAI API key",
        .catalogue = &catalogue_openai,
    },
    {
        .name = "gemini",
        .display_name = "Google Gemini",
        .aliases = "google",
        .protocol = &protocol_gemini,
        .base_url = "https://generativelanguage.googleapis.com",
        .base_url_env = "GOOGLE_GEMINI_BASE_URL",
        .key_env = "GEMINI_API_KEY GOOGLE_API_KEY",
        .auth = AUTH_X_GOOG_API_KEY,
        .default_model = "gemini-3.8-flash",
        .overflow_words = GEMINI_TOO_LONG,
        .delay_words = GEMINI_DELAY,
        .has_web_search = true,
        .has_web_fetch = true,
        GEMINI_FILES,
        .models_path = "/v1beta/models?pageSize=1000",
        .api_key_url = "https://aistudio.google.com/apikey",
        .console_url = "https://aistudio.google.com",
        .official_url = "https://ai.google.dev/gemini-api/docs",
        .setup_prompt = "Paste your Gemini API key",
        .catalogue = &catalogue_gemini,
    },
    {
        .name = "deepseek",
        .display_name = "DeepSeek",
        .aliases = "",
        .protocol = &protocol_openai_chat,
        .base_url = "https://api.deepseek.com",
        .base_url_env = "DEEPSEEK_BASE_URL",
        .key_env = "DEEPSEEK_API_KEY",
        .default_model = "deepseek-flash",
        .dialect =
            {
                .max_tokens_old_name = true,
                .no_parallel_switch = true,
                .no_json_schema = true,
                .no_strict_tools = true, /* only below /beta */
                .no_custom_tools = true,
                .reasoning_style = REASONING_THINKING_TYPE,
                .reasoning_replay = REPLAY_REASONING_CONTENT, /* required after tool calls */
            },
        .overflow_words = OPENAI_TOO_LONG,
        .models_path = "/models",
        .api_key_url = "https://platform.deepseek.com/api_keys",
        .console_url = "https://platform.deepseek.com",
        .official_url = "https://api-docs.deepseek.com",
        .setup_prompt = "Paste your DeepSeek API key",
        .catalogue = &catalogue_deepseek,
    },
    {
        .name = "openrouter",
        .display_name = "OpenRouter",
        .aliases = "",
        .protocol = &protocol_openai_chat,
        .base_url = "https://openrouter.ai/api/v1",
        .base_url_env = "OPENROUTER_BASE_URL",
        .key_env = "OPENROUTER_API_KEY",
        .default_model = "openrouter/auto", /* the router chooses */
        .dialect =
            {
                .max_tokens_old_name = true,
                .no_custom_tools = true,
                .file_urls = true,
                .takes_top_k = true,
                .reasoning_style = REASONING_OBJECT,
                .reasoning_replay = REPLAY_REASONING_DETAILS,
                .cache_marks = true,
                .reports_cost = true,
            },
        .overflow_words = ROUTER_TOO_LONG,
        .delay_words = ROUTER_DELAY,
        ROUTER_FILES,
        .models_path = "/models",
        .api_key_url = "https://openrouter.ai/settings/keys",
        .console_url = "https://openrouter.ai",
        .official_url = "https://openrouter.ai/docs",
        .setup_prompt = "Paste your OpenRouter API key",
        .catalogue = &no_models,
    },
    {
        .name = "groq",
        .display_name = "Groq",
        .aliases = "",
        .protocol = &protocol_openai_chat,
        .base_url = "https://api.groq.com/openai/v1",
        .base_url_env = "GROQ_BASE_URL",
        .key_env = "GROQ_API_KEY",
        .default_model = "openai/gpt-oss-120b",
        .dialect = {.no_strict_tools = true,
                    .no_custom_tools = true,
                    .least_effort = EFFORT_LOW,
                    .most_effort = EFFORT_HIGH},
        .overflow_words = GROQ_TOO_LONG,
        .delay_words = OPENAI_DELAY,
        CHAT_FILES,
        .models_path = "/models",
        .api_key_url = "https://console.groq.com/keys",
        .console_url = "https://console.groq.com",
        .official_url = "https://console.groq.com/docs",
        .setup_prompt = "Paste your Groq API key",
        .catalogue = &catalogue_groq,
    },
    {
        .name = "mistral",
        .display_name = "Mistral",
        .aliases = "",
        .protocol = &protocol_openai_chat,
        .base_url = "https://api.mistral.ai/v1",
        .base_url_env = "MISTRAL_BASE_URL",
        .key_env = "MISTRAL_API_KEY",
        .default_model = "mistral-medium-3.5",
        .dialect =
            {
                .max_tokens_old_name = true,
                .no_stream_usage = true, /* the last event has it anyway */
                .no_custom_tools = true,
                .short_call_ids = true,
                .least_effort = EFFORT_HIGH, /* none or high */
                .most_effort = EFFORT_HIGH,
                .answer_after_tools = true,
                .reasoning_replay = REPLAY_THINKING_PARTS,
            },
        .overflow_words = MISTRAL_TOO_LONG,
        CHAT_FILES,
        .models_path = "/models",
        .api_key_url = "https://console.mistral.ai/api-keys",
        .console_url = "https://console.mistral.ai",
        .official_url = "https://docs.mistral.ai",
        .setup_prompt = "Paste your Mistral API key",
        .catalogue = &catalogue_mistral,
    },
    {
        /* It also speaks Chat Completions, which it calls legacy. */
        .name = "xai",
        .display_name = "xAI",
        .aliases = "grok",
        .protocol = &protocol_openai_responses,
        .base_url = "https://api.x.ai/v1",
        .base_url_env = "XAI_BASE_URL",
        .key_env = "XAI_API_KEY",
        .default_model = "grok-4.7",
        .dialect = {.no_custom_tools = true,
                    .no_cache_retention = true,
                    .least_effort = EFFORT_LOW,
                    .blocked_domains = "excluded_domains",
                    .max_search_domains = 5},
        .overflow_words = XAI_TOO_LONG,
        .has_web_search = true,
        OPENAI_FILES,
        .models_path = "/models",
        .api_key_url = "https://console.x.ai/team/default/api-keys",
        .console_url = "https://console.x.ai",
        .official_url = "https://docs.x.ai",
        .setup_prompt = "Paste your xAI API key",
        .catalogue = &catalogue_xai,
    },
    {
        .name = "together",
        .display_name = "Together AI",
        .aliases = "",
        .protocol = &protocol_openai_chat,
        .base_url = "https://api.together.xyz/v1",
        .base_url_env = "TOGETHER_BASE_URL",
        .key_env = "TOGETHER_API_KEY",
        .default_model = "openai/gpt-oss-120b",
        .dialect =
            {
                .max_tokens_old_name = true,
                .no_parallel_switch = true,
                .no_strict_tools = true,
                .no_custom_tools = true,
                .takes_top_k = true,
            },
        .overflow_words = TOGETHER_TOO_LONG "|" VLLM_TOO_LONG,
        CHAT_FILES,
        .models_path = "/models",
        .api_key_url = "https://api.together.ai/settings/api-keys",
        .console_url = "https://api.together.ai",
        .official_url = "https://docs.together.ai",
        .setup_prompt = "Paste your Together API key",
        .catalogue = &no_models,
    },
    {
        .name = "fireworks",
        .display_name = "Fireworks AI",
        .aliases = "",
        .protocol = &protocol_openai_chat,
        .base_url = "https://api.fireworks.ai/inference/v1",
        .base_url_env = "FIREWORKS_BASE_URL",
        .key_env = "FIREWORKS_API_KEY",
        .default_model = "accounts/fireworks/models/gpt-oss-120b",
        .dialect =
            {
                .max_tokens_old_name = true,
                .no_strict_tools = true,
                .no_custom_tools = true,
                .takes_top_k = true,
                .reasoning_replay = REPLAY_REASONING_CONTENT,
            },
        .overflow_words = FIREWORKS_TOO_LONG,
        CHAT_FILES,
        .models_path = "/models",
        .api_key_url = "https://app.fireworks.ai/settings/users/api-keys",
        .console_url = "https://app.fireworks.ai",
        .official_url = "https://docs.fireworks.ai",
        .setup_prompt = "Paste your Fireworks API key",
        .catalogue = &no_models,
    },
    {
        .name = "cerebras",
        .display_name = "Cerebras",
        .aliases = "",
        .protocol = &protocol_openai_chat,
        .base_url = "https://api.cerebras.ai/v1",
        .base_url_env = "CEREBRAS_BASE_URL",
        .key_env = "CEREBRAS_API_KEY",
        .dialect = {.no_custom_tools = true,
                    .no_strict_tools = true,
                    .no_parallel_switch = true,
                    .least_effort = EFFORT_LOW, /* gpt-oss refuses others */
                    .most_effort = EFFORT_HIGH},
        .overflow_words = GROQ_TOO_LONG,
        CHAT_FILES,
        .models_path = "/models",
        .console_url = "https://cloud.cerebras.ai",
        .official_url = "https://inference-docs.cerebras.ai",
        .setup_prompt = "Paste your Cerebras API key",
        .catalogue = &no_models,
    },
    {
        .name = "moonshot",
        .display_name = "Moonshot AI",
        .aliases = "kimi",
        .protocol = &protocol_openai_chat,
        .base_url = "https://api.moonshot.ai/v1",
        .base_url_env = "MOONSHOT_BASE_URL",
        .key_env = "MOONSHOT_API_KEY",
        .dialect =
            {
                .no_parallel_switch = true,
                .no_json_schema = true,
                .no_strict_tools = true,
                .no_custom_tools = true,
                .reasoning_style = REASONING_THINKING_TYPE,
                .efforts = LOW_HIGH_MAX,
                .keeping = KEEPS_ALL,
                .keeping_models = "kimi-k2.6", /* older ones refuse it, later ones always keep */
                .reasoning_replay = REPLAY_REASONING_CONTENT, /* required within a turn */
            },
        .overflow_words = MOONSHOT_TOO_LONG,
        .delay_words = MOONSHOT_DELAY,
        CHAT_FILES,
        .models_path = "/models",
        .api_key_url = "https://platform.moonshot.ai/console/api-keys",
        .console_url = "https://platform.moonshot.ai",
        .official_url = "https://platform.moonshot.ai/docs",
        .setup_prompt = "Paste your Moonshot API key",
        .catalogue = &no_models,
    },
    {
        .name = "zai",
        .display_name = "Z.ai",
        .aliases = "z.ai glm",
        .protocol = &protocol_openai_chat,
        .base_url = "https://api.z.ai/api/paas/v4",
        .base_url_env = "ZAI_BASE_URL",
        .key_env = "ZAI_API_KEY",
        .dialect =
            {
                .max_tokens_old_name = true,
                .no_parallel_switch = true,
                .no_json_schema = true,
                .no_strict_tools = true,
                .no_custom_tools = true,
                .reasoning_style = REASONING_THINKING_TYPE,
                .efforts = LOW_HIGH_MAX,
                .keeping = KEEPS_CLEAR_THINKING,
                .tool_stream = true, /* otherwise a long call means minutes of silence */
                .reasoning_replay = REPLAY_REASONING_CONTENT,
            },
        .overflow_words = ZAI_TOO_LONG,
        CHAT_FILES,
        .api_key_url = "https://z.ai/manage-apikey/apikey-list",
        .console_url = "https://z.ai",
        .official_url = "https://docs.z.ai",
        .setup_prompt = "Paste your Z.ai API key",
        .catalogue = &no_models,
    },
    {
        /* Not "qwen", which is a name of models elsewhere. This is the international service; other
         * regions have other base URLs. */
        .name = "dashscope",
        .display_name = "Qwen (DashScope)",
        .aliases = "",
        .protocol = &protocol_openai_chat,
        .base_url = "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        .base_url_env = "DASHSCOPE_BASE_URL",
        .key_env = "DASHSCOPE_API_KEY",
        .dialect =
            {
                .max_tokens_old_name = true,
                .no_json_schema = true,
                .no_strict_tools = true,
                .no_custom_tools = true,
                .takes_top_k = true,
                .reasoning_style = REASONING_ENABLE_THINKING,
                .keeping = KEEPS_PRESERVE_THINKING,
                .reasoning_replay = REPLAY_REASONING_CONTENT,
            },
        .overflow_words = DASHSCOPE_TOO_LONG,
        CHAT_FILES,
        .models_path = "/models",
        .console_url = "https://modelstudio.console.alibabacloud.com",
        .official_url = "https://www.alibabacloud.com/help/en/model-studio/",
        .setup_prompt = "Paste your DashScope API key",
        .catalogue = &no_models,
    },
    {
        .name = "vercel",
        .display_name = "Vercel AI Gateway",
        .aliases = "ai-gateway",
        .protocol = &protocol_openai_chat,
        .base_url = "https://ai-gateway.vercel.sh/v1",
        .base_url_env = "AI_GATEWAY_BASE_URL",
        .key_env = "AI_GATEWAY_API_KEY",
        .dialect =
            {
                .max_tokens_old_name = true,
                .no_parallel_switch = true,
                .no_strict_tools = true,
                .no_custom_tools = true,
                .reasoning_style = REASONING_OBJECT,
                .reasoning_replay = REPLAY_REASONING_DETAILS,
            },
        .overflow_words = ROUTER_TOO_LONG,
        .delay_words = ROUTER_DELAY,
        ROUTER_FILES,
        .models_path = "/models",
        .console_url = "https://vercel.com/ai-gateway",
        .official_url = "https://vercel.com/docs/ai-gateway",
        .setup_prompt = "Paste your Vercel AI Gateway key",
        .catalogue = &no_models,
    },
    {
        /* Models are called ORGANISATION/MODEL, with an optional :PROVIDER at the end. */
        .name = "huggingface",
        .display_name = "Hugging Face",
        .aliases = "hf",
        .protocol = &protocol_openai_chat,
        .base_url = "https://router.huggingface.co/v1",
        .base_url_env = "HF_BASE_URL",
        .key_env = "HF_TOKEN",
        .dialect =
            {
                .max_tokens_old_name = true,
                .no_parallel_switch = true,
                .no_strict_tools = true,
                .no_custom_tools = true,
            },
        .overflow_words = ROUTER_TOO_LONG,
        .delay_words = ROUTER_DELAY,
        CHAT_FILES,
        .models_path = "/models",
        .api_key_url = "https://huggingface.co/settings/tokens",
        .console_url = "https://huggingface.co",
        .official_url = "https://huggingface.co/docs/inference-providers",
        .setup_prompt = "Paste your Hugging Face token",
        .catalogue = &no_models,
    },
    {
        /* Needs a token of the person. Headers that name an editor are not sent; a profile can add
         * them. */
        .name = "github-copilot",
        .display_name = "GitHub Copilot",
        .aliases = "copilot",
        .protocol = &protocol_openai_chat,
        .base_url = "https://api.githubcopilot.com",
        .base_url_env = "GITHUB_COPILOT_BASE_URL",
        .key_env = "COPILOT_GITHUB_TOKEN",
        .dialect =
            {
                .max_tokens_old_name = true,
                .no_parallel_switch = true,
                .no_strict_tools = true,
                .no_custom_tools = true,
            },
        .overflow_words =
            COPILOT_TOO_LONG "|" OPENAI_TOO_LONG "|" ANTHROPIC_TOO_LONG "|" GEMINI_TOO_LONG,
        .delay_words = OPENAI_DELAY,
        OPENAI_FILES,
        .models_path = "/models",
        .console_url = "https://github.com/settings/copilot",
        .official_url = "https://docs.github.com/copilot",
        .setup_prompt = "Paste a token for the Copilot API",
        .catalogue = &no_models,
    },
    {
        /* Anthropic's models. The keys come from AWS's variables, files and credential_process; a
         * bearer token wins. */
        .name = "bedrock",
        .display_name = "Amazon Bedrock",
        .aliases = "amazon-bedrock aws",
        .protocol = &protocol_anthropic_messages,
        .base_url = "https://bedrock-runtime.{region}.amazonaws.com",
        .base_url_env = "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
        .places = {{"region", "AWS_REGION AWS_DEFAULT_REGION", NULL}},
        .key_env = "AWS_BEARER_TOKEN_BEDROCK",
        .model_env = "ANTHROPIC_MODEL",
        .auth = AUTH_AWS,
        .dialect = {.bedrock = true, .no_top_level_cache = true},
        .overflow_words = BEDROCK_TOO_LONG,
        ANTHROPIC_FILES,
        .console_url = "https://console.aws.amazon.com/bedrock",
        .official_url = "https://docs.aws.amazon.com/bedrock/",
        .setup_prompt = "Set AWS_REGION, and credentials as for the AWS CLI",
        .models_of = "anthropic",
        .catalogue = &no_models,
    },
    {
        .name = "vertex",
        .display_name = "Gemini on Vertex AI",
        .aliases = "vertex-gemini google-vertex",
        .protocol = &protocol_gemini,
        .base_url = "https://{location}-aiplatform.googleapis.com/v1",
        .base_url_env = "GOOGLE_VERTEX_BASE_URL",
        .base_path = "/projects/{project}/locations/{location}",
        .places = {{"project", "GOOGLE_CLOUD_PROJECT", NULL},
                   {"location", "GOOGLE_CLOUD_LOCATION", "global"}},
        .key_env = "",
        .auth = AUTH_GOOGLE,
        .dialect = {.vertex = true},
        .overflow_words = GEMINI_TOO_LONG,
        .delay_words = GEMINI_DELAY,
        .has_web_search = true,
        GEMINI_FILES,
        .console_url = "https://console.cloud.google.com/vertex-ai",
        .official_url = "https://cloud.google.com/vertex-ai/generative-ai/docs",
        .setup_prompt = "Set GOOGLE_APPLICATION_CREDENTIALS and GOOGLE_CLOUD_PROJECT",
        .models_of = "gemini",
        .catalogue = &no_models,
    },
    {
        .name = "vertex-anthropic",
        .display_name = "Claude on Vertex AI",
        .aliases = "vertex-claude anthropic-vertex",
        .protocol = &protocol_anthropic_messages,
        .base_url = "https://{location}-aiplatform.googleapis.com/v1",
        .base_url_env = "ANTHROPIC_VERTEX_BASE_URL",
        .base_path = "/projects/{project}/locations/{location}",
        .places = {{"project", "ANTHROPIC_VERTEX_PROJECT_ID GOOGLE_CLOUD_PROJECT", NULL},
                   {"location", "CLOUD_ML_REGION GOOGLE_CLOUD_LOCATION", "global"}},
        .key_env = "",
        .model_env = "ANTHROPIC_MODEL",
        .auth = AUTH_GOOGLE,
        .dialect = {.vertex = true, .no_top_level_cache = true},
        .overflow_words = ANTHROPIC_TOO_LONG,
        ANTHROPIC_FILES,
        .console_url = "https://console.cloud.google.com/vertex-ai",
        .official_url = "https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models",
        .setup_prompt = "Set GOOGLE_APPLICATION_CREDENTIALS and GOOGLE_CLOUD_PROJECT",
        .models_of = "anthropic",
        .catalogue = &no_models,
    },
    {
        /* The v1 API. The name of a model is the name of a deployment. */
        .name = "azure-openai",
        .display_name = "Azure OpenAI",
        .aliases = "azure",
        .protocol = &protocol_openai_responses,
        .base_url_env = "AZURE_OPENAI_BASE_URL",
        .endpoint_env = "AZURE_OPENAI_ENDPOINT",
        .base_path = "/openai/v1",
        .path_if_none = true,
        .key_env = "AZURE_OPENAI_API_KEY",
        .token_env = "AZURE_OPENAI_AD_TOKEN",
        .auth = AUTH_API_KEY,
        .overflow_words = OPENAI_TOO_LONG,
        .delay_words = AZURE_DELAY,
        OPENAI_FILES,
        .models_path = "/models",
        .console_url = "https://portal.azure.com",
        .official_url = "https://learn.microsoft.com/azure/ai-foundry/openai/",
        .setup_prompt = "Paste your Azure OpenAI key, and set AZURE_OPENAI_ENDPOINT to "
                        "https://RESOURCE.openai.azure.com",
        .catalogue = &no_models,
    },
    {
        /* The older API: one path per deployment, and a dated version. */
        .name = "azure-deployments",
        .display_name = "Azure OpenAI deployments",
        .aliases = "azure-chat",
        .protocol = &protocol_openai_chat,
        .base_url_env = "AZURE_OPENAI_BASE_URL",
        .endpoint_env = "AZURE_OPENAI_ENDPOINT",
        .base_path = "/openai",
        .base_query = "api-version={apiVersion}",
        .path_if_none = true,
        .places = {{"apiVersion", "OPENAI_API_VERSION", NULL}},
        .key_env = "AZURE_OPENAI_API_KEY",
        .token_env = "AZURE_OPENAI_AD_TOKEN",
        .auth = AUTH_API_KEY,
        .dialect = {.deployments = true, .no_custom_tools = true},
        .overflow_words = OPENAI_TOO_LONG,
        .delay_words = AZURE_DELAY,
        OPENAI_FILES,
        .console_url = "https://portal.azure.com",
        .official_url = "https://learn.microsoft.com/azure/ai-foundry/openai/",
        .setup_prompt = "Paste your Azure OpenAI key, and set AZURE_OPENAI_ENDPOINT and "
                        "OPENAI_API_VERSION",
        .catalogue = &no_models,
    },
    {
        .name = "foundry",
        .display_name = "Claude in Microsoft Foundry",
        .aliases = "microsoft-foundry",
        .protocol = &protocol_anthropic_messages,
        .base_url = "https://{resource}.services.ai.azure.com/anthropic",
        .base_url_env = "ANTHROPIC_FOUNDRY_BASE_URL",
        .places = {{"resource", "ANTHROPIC_FOUNDRY_RESOURCE", NULL}},
        .key_env = "ANTHROPIC_FOUNDRY_API_KEY",
        .model_env = "ANTHROPIC_MODEL",
        .auth = AUTH_X_API_KEY,
        .overflow_words = ANTHROPIC_TOO_LONG,
        .delay_words = AZURE_DELAY,
        ANTHROPIC_FILES,
        .console_url = "https://ai.azure.com",
        .official_url = "https://learn.microsoft.com/azure/ai-foundry/",
        .setup_prompt =
            "Paste the key of your Foundry resource, and set ANTHROPIC_FOUNDRY_RESOURCE",
        .models_of = "anthropic",
        .catalogue = &no_models,
    },
    {
        .name = "ollama",
        .display_name = "Ollama",
        .aliases = "",
        .protocol = &protocol_ollama,
        .base_url = "http://127.0.0.1:11434",
        .base_url_env = "OLLAMA_HOST",
        .key_env = "OLLAMA_API_KEY", /* for https://ollama.com */
        .key_need = KEY_OPTIONAL,
        .dialect = {.inline_tags = true},
        .overflow_words = OLLAMA_TOO_LONG,
        OLLAMA_FILES,
        .models_path = "/api/tags",
        .api_key_url = "https://ollama.com/settings/keys",
        .console_url = "https://ollama.com",
        .official_url = "https://docs.ollama.com",
        .setup_prompt = "Start ollama, and pull a model",
        .catalogue = &no_models,
    },
    {
        .name = "llama.cpp",
        .display_name = "llama.cpp",
        .aliases = "llamacpp",
        .protocol = &protocol_openai_chat,
        .base_url = "http://127.0.0.1:8080/v1",
        .base_url_env = "LLAMACPP_BASE_URL",
        .key_env = "LLAMA_API_KEY",
        .key_need = KEY_OPTIONAL,
        .dialect =
            {
                .inline_tags = true,
                .max_tokens_old_name = true,
                .no_strict_tools = true,
                .no_custom_tools = true,
                .takes_top_k = true,
                .reasoning_replay = REPLAY_REASONING_CONTENT,
            },
        .overflow_words = LLAMA_CPP_TOO_LONG,
        CHAT_FILES,
        .models_path = "/models",
        .has_any_name = true,
        .official_url = "https://github.com/ggml-org/llama.cpp",
        .setup_prompt = "Start llama-server with --jinja and a model",
        .catalogue = &no_models,
    },
    {
        .name = "vllm",
        .display_name = "vLLM",
        .aliases = "",
        .protocol = &protocol_openai_chat,
        .base_url = "http://127.0.0.1:8000/v1",
        .base_url_env = "VLLM_BASE_URL",
        .key_env = "VLLM_API_KEY",
        .key_need = KEY_OPTIONAL,
        .dialect =
            {
                .inline_tags = true,
                .no_strict_tools = true,
                .no_custom_tools = true,
                .takes_top_k = true,
                .reasoning_replay = REPLAY_REASONING_FIELD,
            },
        .overflow_words = VLLM_TOO_LONG,
        CHAT_FILES,
        .models_path = "/models",
        .official_url = "https://docs.vllm.ai",
        .setup_prompt = "Start vllm serve with a model and --enable-auto-tool-choice",
        .catalogue = &no_models,
    },
    {
        .name = "lmstudio",
        .display_name = "LM Studio",
        .aliases = "lm-studio",
        .protocol = &protocol_openai_chat,
        .base_url = "http://127.0.0.1:1234/v1",
        .base_url_env = "LMSTUDIO_BASE_URL",
        .key_env = "LM_API_TOKEN",
        .key_need = KEY_OPTIONAL,
        .dialect =
            {
                .inline_tags = true,
                .max_tokens_old_name = true,
                .no_parallel_switch = true,
                .no_strict_tools = true,
                .no_custom_tools = true,
                .takes_top_k = true,
            },
        .overflow_words = LMSTUDIO_TOO_LONG,
        CHAT_FILES,
        .models_path = "/models",
        .about_path = "/api/v0/models", /* the list in OpenAI's shape has only names */
        .official_url = "https://lmstudio.ai/docs",
        .setup_prompt = "Start the LM Studio server, and load a model",
        .catalogue = &no_models,
    },
    {
        .name = "litellm",
        .display_name = "LiteLLM",
        .aliases = "",
        .protocol = &protocol_openai_chat,
        .base_url = "http://127.0.0.1:4000",
        .base_url_env = "LITELLM_PROXY_API_BASE",
        .key_env = "LITELLM_PROXY_API_KEY",
        .key_need = KEY_OPTIONAL,
        .dialect =
            {
                .max_tokens_old_name = true,
                .no_parallel_switch = true,
                .no_strict_tools = true,
                .no_custom_tools = true,
            },
        .overflow_words = ANY_TOO_LONG,
        .delay_words = ROUTER_DELAY,
        ROUTER_FILES,
        .models_path = "/models",
        .about_path = "/model_group/info",
        .official_url = "https://docs.litellm.ai",
        .setup_prompt = "Set LITELLM_PROXY_API_BASE to the URL of the gateway",
        .catalogue = &no_models,
    },
    {
        /* Any server that speaks Chat Completions. Only what all of them accept is sent. */
        .name = "custom",
        .display_name = "Custom server",
        .aliases = "",
        .protocol = &protocol_openai_chat,
        .base_url_env = "KEEL_BASE_URL",
        .key_env = "KEEL_API_KEY",
        .key_need = KEY_OPTIONAL,
        .dialect =
            {
                .inline_tags = true,
                .max_tokens_old_name = true,
                .no_parallel_switch = true,
                .no_strict_tools = true,
                .no_custom_tools = true,
            },
        .overflow_words = ANY_TOO_LONG,
        .delay_words = ROUTER_DELAY,
        ROUTER_FILES,
        .models_path = "/models",
        .has_any_name = true,
        .setup_prompt = "Set KEEL_BASE_URL to the URL of the server, including /v1",
        .catalogue = &no_models,
    },
    {0},
};
