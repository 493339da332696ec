/* vendor_files.h - images and documents in the rows of vendor_table.c: how the makers of an API
 * complain about them, and what they document as their limits.
 *
 * Anthropic names the block ("messages.5.content.1.image.source.base64.data: ..."). Its limits
 * (platform.claude.com/docs, vision and pdf-support): 8000 px, but 2000 px in a request with more
 * than 20 images, and an image stays in all later requests; 5 MB of base64; 32 MB a request; 100
 * pages a request with a window of 200,000 tokens and 600 with a larger one, where 100 pages fill
 * enough of it already. OpenAI says in its refusals that images must be below 20 MB, and documents
 * no pixels; files 50 MB (guides/file-inputs), but keel's messages hold less. Gemini: 100 MB a
 * request with inline data, 50 MB a PDF, 1000 pages, no GIF (ai.google.dev/gemini-api/docs,
 * file-input-methods and document-processing). */
#ifndef KEEL_PROVIDER_VENDOR_FILES_H
#define KEEL_PROVIDER_VENDOR_FILES_H

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
