/* vendor_words.h - parts of the rows of vendor_table.c: the words in which APIs and servers say
 * that a prompt is too long, when to ask again, and that they do not accept a file; and the limits
 * that they document for files. Sentences are separated by '|', with '*' for what changes between
 * (vendor.h).
 *
 * A vendor that offers models of others passes on the words of their makers, so its row joins
 * theirs. */
#ifndef KEEL_PROVIDER_VENDOR_WORDS_H
#define KEEL_PROVIDER_VENDOR_WORDS_H

/* --- the prompt is too long --- */

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

/* --- when to ask again --- */

#define OPENAI_DELAY "try again in "
#define AZURE_DELAY "try again in |retry after "
#define MOONSHOT_DELAY "try again after "
#define GEMINI_DELAY "retry in "
#define ROUTER_DELAY "try again in |try again after |retry after |retry in "

/* --- images and documents ---
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

#endif
