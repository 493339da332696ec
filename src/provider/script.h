/* script.h - a model that plays a script: for tests and for `keel demo`.
 *
 * The script is YAML or JSON: {turns: [...]}; every request takes the next turn. A turn is a list
 * of steps in order, or one step:
 *
 *     - text: "Let me look."          also: reasoning, refusal
 *       split: 4                      bytes a delta (whole by default)
 *       delay_ms: 20                  before each delta
 *     - tool: Bash
 *       args: {command: ls}           or args_text: '{"broken'
 *       id: call_1                    generated if absent
 *     - error: provider_rate_limit    a code of the error table
 *       message: slow down
 *       retry_after_ms: 100
 *       status: 400                   the HTTP status that a provider would have sent
 *     - cut: true                     the stream ends here, too early
 *     - stop: length                  end, tool_calls, length, filtered, refused, paused
 *     - usage: {input: 10, output: 5}
 *
 * A request beyond the last turn is an error that says so. */
#ifndef KEEL_PROVIDER_SCRIPT_H
#define KEEL_PROVIDER_SCRIPT_H

#include "port/provider.h"

/* Copies the script. Errors name the turn and the step. */
MUST_USE struct err *script_provider_new(struct str id, struct str script,
                                         struct provider **ret_provider);
/* For a provider of script_provider_new(). */
size_t script_provider_n_turns(const struct provider *p);
bool script_provider_is_over(const struct provider *p); /* has every turn been played? */

#endif
