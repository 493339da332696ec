/* hide.h - known credentials are kept out of a run.
 *
 * What comes from outside (a prompt, an answer, a tool's result, a hook's text, an error) is
 * searched once, where it enters. So no message, no event, no request and no hook ever holds one,
 * and no view has to look for them. A notice says that a message of the history had one. */
#ifndef KEEL_ENGINE_HIDE_H
#define KEEL_ENGINE_HIDE_H

#include "base/secrets.h"
#include "model/reply.h"
#include "port/asker.h"

/* The text, or a copy in the arena. `found` may be NULL. */
struct str hide_in_str(const struct secrets *s, struct arena *a, struct str text, uint64_t *found);
void hide_in_strbuf(const struct secrets *s, struct strbuf *text, uint64_t *found);
/* Copies of its texts are made in the arena where something is taken out. */
void hide_in_part(const struct secrets *s, struct arena *a, struct part *p, uint64_t *found);
/* The message, or another one in its place. */
void hide_in_message(const struct secrets *s, struct message **m, uint64_t *found);
void hide_in_reply(const struct secrets *s, struct reply *r, uint64_t *found);
struct ask hide_in_ask(const struct secrets *s, struct arena *a, const struct ask *ask);

#endif
