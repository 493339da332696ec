/* vendor_table.c - the vendors: a row each, no code.
 *
 * The order is that in which keel looks for keys, and then for the addresses of local servers, when
 * nothing else is said. What a row says about a dialect is what the vendor documents; what is not
 * documented is not sent. */
#include "provider/catalogue.h"
#include "provider/vendor.h"

#define MODELS(table)                                                                              \
    .models = (table), .n_models = ARRAY_LEN(table), .catalogue_status = CATALOGUE_FALLBACK
#define NO_MODELS .catalogue_status = CATALOGUE_UNAVAILABLE

const struct vendor vendors[] = {
    {
        .name = "anthropic",
        .display_name = "Anthropic",
        .aliases = "claude",
        .protocol = &protocol_anthropic_messages,
        .base_url = "https://api.anthropic.com",
        .base_url_env = "ANTHROPIC_BASE_URL",
        .key_env = "ANTHROPIC_API_KEY",
        .auth = AUTH_X_API_KEY,
        .default_model = "claude-sonnet-5-5",
        .families = "fable opus sonnet haiku",
        .overflow_words = "prompt is too long|exceed context limit",
        .has_web_search = true,
        .has_web_fetch = true,
        .models_path = "/v1/models?limit=1000",
        .api_key_url = "https://platform.claude.com/settings/keys",
        .console_url = "https://platform.claude.com",
        .official_url = "https://platform.claude.com/docs",
        .setup_prompt = "Paste your Anthropic API key",
        MODELS(catalogue_anthropic),
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
        .overflow_words = "exceeds the context window|maximum context length is",
        .delay_words = "try again in ",
        .has_web_search = true,
        .models_path = "/models",
        .api_key_url = "https://platform.openai.com/api-keys",
        .console_url = "https://platform.openai.com",
        .official_url = "https://developers.openai.com/api/docs",
        .setup_prompt = "Paste your OpenAI API key",
        MODELS(catalogue_openai),
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
        .overflow_words = "input token count*exceeds the maximum",
        .has_web_search = true,
        .has_web_fetch = true,
        .models_path = "/v1beta/models?pageSize=1000",
        .api_key_url = "https://aistudio.google.com/apikey",
        .console_url = "https://aistudio.google.com",
        .official_url = "https://ai.google.dev/gemini-api/docs",
        .setup_prompt = "Paste your Gemini API key",
        MODELS(catalogue_gemini),
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
                .reasoning_replay = REPLAY_REASONING_CONTENT, /* demanded behind tool calls */
            },
        .overflow_words = "maximum context length is",
        .models_path = "/models",
        .api_key_url = "https://platform.deepseek.com/api_keys",
        .console_url = "https://platform.deepseek.com",
        .official_url = "https://api-docs.deepseek.com",
        .setup_prompt = "Paste your DeepSeek API key",
        MODELS(catalogue_deepseek),
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
        .overflow_words = "maximum context length is|prompt is too long|"
                          "exceeds the context window|"
                          "input token count*exceeds the maximum|maximum prompt length is",
        .delay_words = "try again in ",
        .models_path = "/models",
        .api_key_url = "https://openrouter.ai/settings/keys",
        .console_url = "https://openrouter.ai",
        .official_url = "https://openrouter.ai/docs",
        .setup_prompt = "Paste your OpenRouter API key",
        NO_MODELS,
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
        .overflow_words = "reduce the length of the messages",
        .delay_words = "try again in ",
        .models_path = "/models",
        .api_key_url = "https://console.groq.com/keys",
        .console_url = "https://console.groq.com",
        .official_url = "https://console.groq.com/docs",
        .setup_prompt = "Paste your Groq API key",
        MODELS(catalogue_groq),
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
        .overflow_words = "too large for model with*maximum context length",
        .models_path = "/models",
        .api_key_url = "https://console.mistral.ai/api-keys",
        .console_url = "https://console.mistral.ai",
        .official_url = "https://docs.mistral.ai",
        .setup_prompt = "Paste your Mistral API key",
        MODELS(catalogue_mistral),
    },
    {
        /* It speaks Chat Completions too, and calls that its old way. */
        .name = "xai",
        .display_name = "xAI",
        .aliases = "grok",
        .protocol = &protocol_openai_responses,
        .base_url = "https://api.x.ai/v1",
        .base_url_env = "XAI_BASE_URL",
        .key_env = "XAI_API_KEY",
        .default_model = "grok-4.7",
        .dialect = {.no_custom_tools = true,
                    .least_effort = EFFORT_LOW,
                    .blocked_domains = "excluded_domains",
                    .max_search_domains = 5},
        .overflow_words = "maximum prompt length is",
        .has_web_search = true,
        .models_path = "/models",
        .api_key_url = "https://console.x.ai/team/default/api-keys",
        .console_url = "https://console.x.ai",
        .official_url = "https://docs.x.ai",
        .setup_prompt = "Paste your xAI API key",
        MODELS(catalogue_xai),
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
        .overflow_words = "tokens + `max_new_tokens` must be|maximum context length is|"
                          "longer than the model's context length",
        .models_path = "/models",
        .api_key_url = "https://api.together.ai/settings/api-keys",
        .console_url = "https://api.together.ai",
        .official_url = "https://docs.together.ai",
        .setup_prompt = "Paste your Together API key",
        NO_MODELS,
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
        .overflow_words = "prompt is too long|maximum context length",
        .models_path = "/models",
        .api_key_url = "https://app.fireworks.ai/settings/users/api-keys",
        .console_url = "https://app.fireworks.ai",
        .official_url = "https://docs.fireworks.ai",
        .setup_prompt = "Paste your Fireworks API key",
        NO_MODELS,
    },
    {
        /* The v1 API. Its base URL is that of the resource with /openai/v1 behind it; what Azure's
         * own libraries read from AZURE_OPENAI_ENDPOINT lacks that path, so that variable is not
         * read. A model's name is that of a deployment. */
        .name = "azure-openai",
        .display_name = "Azure OpenAI",
        .aliases = "azure",
        .protocol = &protocol_openai_responses,
        .base_url_env = "AZURE_OPENAI_BASE_URL",
        .key_env = "AZURE_OPENAI_API_KEY",
        .auth = AUTH_API_KEY,
        .overflow_words = "exceeds the context window|maximum context length is",
        .delay_words = "try again in ",
        .models_path = "/models",
        .console_url = "https://portal.azure.com",
        .official_url = "https://learn.microsoft.com/azure/ai-foundry/openai/",
        .setup_prompt = "Paste your Azure OpenAI key, and set AZURE_OPENAI_BASE_URL to "
                        "https://RESOURCE.openai.azure.com/openai/v1",
        NO_MODELS,
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
        .overflow_words = "exceeds the context length|exceeded max context length|"
                          "exceeds the available context size|"
                          "exceeds maximum context length",
        .models_path = "/api/tags",
        .api_key_url = "https://ollama.com/settings/keys",
        .console_url = "https://ollama.com",
        .official_url = "https://docs.ollama.com",
        .setup_prompt = "Start ollama, and pull a model",
        NO_MODELS,
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
        .overflow_words = "exceeds the available context size|exceeds context size|"
                          "context size has been exceeded",
        .models_path = "/models",
        .official_url = "https://github.com/ggml-org/llama.cpp",
        .setup_prompt = "Start llama-server with --jinja and a model",
        NO_MODELS,
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
        .overflow_words = "maximum context length is|"
                          "longer than the maximum model length|"
                          "is longer than the model's context|maximum input length of",
        .models_path = "/models",
        .official_url = "https://docs.vllm.ai",
        .setup_prompt = "Start vllm serve with a model and --enable-auto-tool-choice",
        NO_MODELS,
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
        .overflow_words = "greater than the context length|context the overflows|"
                          "context overflow|loaded with context length of only|"
                          "exceeds the available context size|reached context length",
        .models_path = "/models",
        .official_url = "https://lmstudio.ai/docs",
        .setup_prompt = "Start the server of LM Studio, and load a model",
        NO_MODELS,
    },
    {
        /* Any server that speaks Chat Completions; only what all of them take is sent. */
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
        .overflow_words = "maximum context length is|"
                          "longer than the maximum model length|"
                          "is longer than the model's context|maximum input length of|"
                          "exceeds the available context size|exceeds context size|"
                          "context size has been exceeded|"
                          "greater than the context length|context the overflows|"
                          "context overflow|loaded with context length of only|"
                          "reached context length|exceeds the context length|"
                          "exceeded max context length|exceeds maximum context length|"
                          "prompt is too long|exceeds the context window|"
                          "input token count*exceeds the maximum|"
                          "maximum prompt length is|tokens + `max_new_tokens` must be|"
                          "longer than the model's context length",
        .delay_words = "try again in ",
        .models_path = "/models",
        .setup_prompt = "Set KEEL_BASE_URL to the address of the server, with its /v1",
        NO_MODELS,
    },
    {0},
};
