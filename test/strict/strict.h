/* strict.h - are these the bytes that a provider would take? Judges of request bodies, for tests.
 *
 * Written from the providers' documentation and from what their servers are known to refuse, and
 * stricter than they where they are vague: unknown members are refused, and what is accepted only
 * by chance is too. They share no code with the encoders they judge. `why` gets a sentence that
 * begins with the place: "messages[3].content[0].text: must not be blank". */
#ifndef KEEL_TEST_STRICT_H
#define KEEL_TEST_STRICT_H

#include "base/json.h"

bool strict_anthropic(const struct json *body, struct strbuf *why);
bool strict_openai_chat(const struct json *body, struct strbuf *why);
/* The same conversation rules, and the members that other vendors of this protocol know. */
bool strict_openai_compat(const struct json *body, struct strbuf *why);
bool strict_openai_responses(const struct json *body, struct strbuf *why);
bool strict_responses_compat(const struct json *body, struct strbuf *why);
bool strict_gemini(const struct json *body, struct strbuf *why);
/* Models of the third generation demand signatures. */
bool strict_gemini_3(const struct json *body, struct strbuf *why);
bool strict_ollama(const struct json *body, struct strbuf *why);

#endif
