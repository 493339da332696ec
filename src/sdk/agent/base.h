/* base.h - what agents of a project have in common: rules, tools and their configuration,
 * hooks, and what their commands know of the directories.
 *
 * Agents share one if the same rules hold for them: those of the settings are the same for all,
 * flags may add others, and which places are secret is looked up for each agent anew. It is never
 * changed. Counted; its project outlives it. */
#ifndef KEEL_SDK_AGENT_BASE_H
#define KEEL_SDK_AGENT_BASE_H

#include "base/sha256.h"
#include "hook/config.h"
#include "sandbox/proxy/host_rules.h"
#include "sdk/agent/rule_set.h"
#include "sdk/sandbox/checked_launcher.h"

struct agent_base {
    const struct project *project;
    struct rule_set rules;          /* its mode is that of the agent for which it was made */
    const struct str *denied_tools; /* that rules deny altogether */
    size_t n_denied_tools;
    struct net_rules network; /* what commands may speak to */
    struct tool_registry *tools;
    struct tool_config tool_config;
    struct checked_launcher search; /* of a search command that the project has brought */
    struct hook_config *hooks;
    struct str compact_instructions;
    bool fetches_natively; /* with the provider's own fetch, where it may */
    struct agent_limits {
        unsigned max_rounds, max_stop_blocks;
        uint64_t retry_max_ms, tool_timeout_ms;
        const struct json *tool_timeouts;
        size_t tool_response_bytes;
    } limits;
    /* the rest is private */
    struct project *owner;
    struct agent_base *next;
    unsigned char sum[SHA256_SIZE]; /* of the rules */
    struct arena arena;
    unsigned n_refs;
};

/* For an agent with these options. Blocks. The base is there whatever comes of it, with the rules
 * up to an error and their warnings. */
MUST_USE struct err *agent_base_get(struct project *p, const struct agent_options *options,
                                    struct agent_base **ret_base, enum permission_mode *ret_mode);
void agent_base_unref(struct agent_base *b);
DEFINE_AUTO_PTR(agent_base, agent_base_unref)

/* tools.c: the registry, and what the settings say about tools. */
MUST_USE struct err *agent_base_add_tools(struct agent_base *b);

#endif
