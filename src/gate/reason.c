/* reason.c - the gate's sentences. Text from a model is cut and repaired first. */
#include "gate/reason.h"

#include "base/clip.h"
#include "base/protected_places.h"
#include "base/secret_places.h"
#include "base/utf8.h"
#include "gate/place.h"
#include "gate/web.h"

#define MAX_RULE_CHARS 300
#define MAX_ARGS_CHARS 1000
#define MAX_SAID_CHARS 2000
#define MAX_HOOK_CHARS 10000

static struct str shown(struct arena *a, struct str text, size_t max_chars)
{
    AUTO(strbuf) struct strbuf valid = {0}, out = {0};

    utf8_add_repaired(&valid, text);
    clip_middle(&out, strbuf_str(&valid), max_chars);
    return arena_str(a, strbuf_str(&out));
}

static struct str shown_path(struct arena *a, const char *path)
{
    return shown(a, str_of(path), MAX_RULE_CHARS);
}

/* --- calls that cannot be judged --- */

struct str reason_not_json(struct arena *a, const struct tool *tool, struct str given)
{
    AUTO(arena) struct arena scratch = {0};
    struct json_where where;
    struct json *value = NULL;
    struct str came = shown(a, given, MAX_ARGS_CHARS);
    bool is_json = json_parse_at(&scratch, given, JSON_REPAIR_UTF8, &value, &where);

    if (is_json && value->type == JSON_OBJECT) /* it was refused because of the calls before it */
        return arena_format(a,
                            "Error: The calls of one answer have more values in their arguments "
                            "than the limit of %zu. This call of %s was not executed. Make fewer "
                            "calls at a time. Received: %" STR_FMT,
                            JSON_MAX_VALUES, tool->name, STR_ARG(came));
    if (is_json)
        return arena_format(
            a,
            "Error: The arguments of %s must be a JSON object, not %s. The call was "
            "not executed. Received: %" STR_FMT,
            tool->name, json_type_name(value->type), STR_ARG(came));
    return arena_format(a,
                        "Error: The arguments of %s are not valid JSON: %s at line %zu, column "
                        "%zu. The call was not executed. Send one JSON object. Received: %" STR_FMT,
                        tool->name, where.reason, where.line, where.column, STR_ARG(came));
}

struct str reason_bad_arguments(struct arena *a, const struct err *e, struct str given)
{
    AUTO_FREE char *text = err_message(e);

    return arena_format(a, "Error: The call was not executed: %s. Received: %" STR_FMT, text,
                        STR_ARG(shown(a, given, MAX_ARGS_CHARS)));
}

/* --- calls that are not allowed --- */

/* Why a deny rule may apply; not a complete sentence. */
static struct str in_doubt(struct arena *a, const struct decided *d)
{
    struct str rule = shown(a, d->rule, MAX_RULE_CHARS);

    if (d->starts_others)
        return arena_format(a,
                            "the rule %" STR_FMT " denies some commands, and a program in this "
                            "line can start any command",
                            STR_ARG(rule));
    return arena_format(a, "keel cannot tell whether the rule %" STR_FMT " denies this call",
                        STR_ARG(rule));
}

struct str reason_denied(struct arena *a, const struct decided *d, enum permission_mode mode)
{
    struct str rule = shown(a, d->rule, MAX_RULE_CHARS);

    switch (d->by) {
    case DECIDED_BY_UNCLEAR_DENY:
        return arena_format(a, "Permission denied: %" STR_FMT "; %s mode does not ask.",
                            STR_ARG(in_doubt(a, d)), permission_mode_name(mode));
    case DECIDED_BY_MODE:
        return arena_format(a,
                            "Permission denied: %s mode allows no changes. Look and plan with "
                            "tools that only read; do not try another way to make the change. It "
                            "becomes possible when the user leaves this mode.",
                            permission_mode_name(mode));
    default:
        return arena_format(a,
                            "Permission denied by the rule %" STR_FMT
                            ". Do not try another way to the same effect; if you need it, ask the "
                            "user to change the rule.",
                            STR_ARG(rule));
    }
}

/* --- calls that the hard policy refuses --- */

struct str reason_outside(struct arena *a, const struct tool *tool, const char *path,
                          const char *workspace)
{
    const char *writer = tool->risk == RISK_MODIFY ? tool->name : "Edit";
    struct str directory = str_of(path);
    size_t slash = str_rfind_char(directory, '/');

    directory = shown(a, str_slice(directory, 0, slash ? slash : 1), MAX_RULE_CHARS);
    return arena_format(a,
                        "Permission denied: %" STR_FMT " is outside the workspace %" STR_FMT
                        ". Write in the workspace instead%s. The user can add a directory with "
                        "--add-dir %" STR_FMT " or allow it with a rule such as %s(/%" STR_FMT ").",
                        STR_ARG(shown_path(a, path)), STR_ARG(shown_path(a, workspace)),
                        tool->risk == RISK_MODIFY ? "" : ", or temporary files to \"$TMPDIR\"",
                        STR_ARG(directory), writer, STR_ARG(shown_path(a, path)));
}

struct str reason_protected(struct arena *a, const char *path, const struct protected_place *p)
{
    return arena_format(a,
                        "Permission denied: %" STR_FMT
                        " is protected: no tool writes to %s, because it controls %s. Do not "
                        "change it another way; tell the user what to change there by hand.",
                        STR_ARG(shown_path(a, path)), p->path, p->why);
}

struct str reason_git(struct arena *a, const struct place *place)
{
    static const char *const why[] = {
        [GIT_PLACE_INSIDE] = "it belongs to the git directory",
        [GIT_PLACE_COMPLETES] = "it would complete the git directory",
        [GIT_PLACE_NAMED] = "git's configuration makes git use it in",
    };

    return arena_format(a,
                        "Permission denied: %" STR_FMT " is protected: %s %" STR_FMT
                        ", and it controls what git does. Do not change it another way; tell the "
                        "user what to change there by hand.",
                        STR_ARG(shown_path(a, place->real)), why[place->git],
                        STR_ARG(shown_path(a, place->git_dir)));
}

struct str reason_secret(struct arena *a, const char *path)
{
    const struct secret_place *place = secret_place_find(str_of(path));

    return arena_format(a,
                        "Permission denied: %" STR_FMT
                        " is in a place for secrets%s%s%s, which no tool reads or writes. Continue "
                        "without it, or ask the user for what you need.",
                        STR_ARG(shown_path(a, path)), place ? " (" : "", place ? place->what : "",
                        place ? ")" : "");
}

struct str reason_leads_nowhere(struct arena *a, const char *path)
{
    return arena_format(a,
                        "Permission denied: %" STR_FMT " leads nowhere: its links form a loop, "
                        "or it is too long. Name the file itself.",
                        STR_ARG(shown_path(a, path)));
}

struct str reason_unlisted(struct arena *a, const char *what, struct str given,
                           const struct str *list, size_t n)
{
    AUTO(strbuf) struct strbuf all = {0};
    const char *setting = strcmp(what, "host") == 0 ? "allowedDomains" : "allowedCommands";

    for (size_t i = 0; i < n && all.n < MAX_ARGS_CHARS; i++)
        strbuf_addf(&all, "%s%" STR_FMT, i ? ", " : "", STR_ARG(list[i]));
    return arena_format(
        a,
        "Permission denied: the %s %" STR_FMT " is not on the list of allowed ones (%" STR_FMT
        "). The user can add it to permissions.%s.",
        what, STR_ARG(shown(a, given, MAX_RULE_CHARS)),
        STR_ARG(shown(a, n ? strbuf_str(&all) : S("none"), MAX_ARGS_CHARS)), setting);
}

/* --- answers --- */

struct str reason_refused(struct arena *a, struct str said)
{
    struct str refused = S("Permission denied. The user did not approve this action.");

    said = str_trim(said);
    if (said.n == 0)
        return refused;
    return arena_format(a, "%" STR_FMT " The user said: %" STR_FMT, STR_ARG(refused),
                        STR_ARG(shown(a, said, MAX_SAID_CHARS)));
}

struct str reason_bad_change(struct arena *a, const struct err *e)
{
    AUTO_FREE char *text = err_message(e);

    return arena_format(
        a,
        "Permission denied. The user approved changed arguments that the tool does not accept: %s",
        text);
}

struct str reason_blocked(struct arena *a, struct str said)
{
    return arena_format(a, "Blocked by hook: %" STR_FMT, STR_ARG(shown(a, said, MAX_HOOK_CHARS)));
}

struct str reason_bad_hook_change(struct arena *a, const struct err *e)
{
    AUTO_FREE char *text = err_message(e);

    return arena_format(
        a, "Blocked by hook: it changed the arguments to ones that the tool does not accept: %s",
        text);
}

/* ": " and the hook's reason, if it gave one. */
static struct str after_colon(struct arena *a, struct str said)
{
    if (said.n == 0)
        return S(".");
    return arena_format(a, ": %" STR_FMT, STR_ARG(shown(a, said, MAX_SAID_CHARS)));
}

/* A rule that a person can add to allow the call. */
static bool rule_to_add(const struct subject *s, struct arena *a, struct str *ret_rule)
{
    struct str domain;

    if (s->tool->risk != RISK_NETWORK || !web_domain(a, json_get_text(s->args, "url"), &domain))
        return pattern_of_call(s, a, ret_rule);
    *ret_rule = arena_format(a, "%s(domain:%" STR_FMT ")", s->tool->name, STR_ARG(domain));
    return true;
}

/* Names the file and its directory. */
static struct str reason_unattended_outside(struct arena *a, const char *intro,
                                            const struct place *place)
{
    struct str path = str_of(place->real);
    size_t slash = str_rfind_char(path, '/');
    const char *above = arena_cstr(a, str_slice(path, 0, slash));
    AUTO(strbuf) struct strbuf rule = {0}, all = {0};

    pattern_add_look(&rule, place);
    if (!place->is_dir && slash > 0) {
        strbuf_add_cstr(&all, ", its directory with ");
        pattern_add_look(&all, &(struct place){.real = above, .is_dir = true});
        strbuf_add_cstr(&all, ",");
    }
    return arena_format(a,
                        "%s %" STR_FMT " is outside the workspace. The user can allow reading it "
                        "with the rule %" STR_FMT "%" STR_FMT " or with --add-dir %s.",
                        intro, STR_ARG(shown_path(a, place->real)),
                        STR_ARG(shown(a, strbuf_str(&rule), MAX_RULE_CHARS)),
                        STR_ARG(shown(a, strbuf_str(&all), MAX_RULE_CHARS)),
                        place->is_dir ? place->real
                        : slash > 0   ? above
                                      : "/");
}

/* What to do: add a rule for this line, or write the line differently. */
static struct str reason_unattended_in_doubt(struct arena *a, const char *intro,
                                             const struct decided *d, const struct subject *s)
{
    struct str doubt = in_doubt(a, d), rule;

    if (d->starts_others && pattern_of_call(s, a, &rule))
        return arena_format(a,
                            "%s Approval is needed because %" STR_FMT
                            ". The user can allow it with the rule %" STR_FMT ".",
                            intro, STR_ARG(doubt), STR_ARG(shown(a, rule, MAX_RULE_CHARS)));
    return arena_format(a, "%s Approval is needed because %" STR_FMT ".%s", intro, STR_ARG(doubt),
                        s->tool->risk == RISK_EXECUTE ? " Write out every command in the line."
                                                      : "");
}

struct str reason_unattended(struct arena *a, const struct decided *d, const struct subject *s)
{
    static const char intro[] = "Permission denied. No user is available to approve this action.";
    struct str rule = shown(a, d->rule, MAX_RULE_CHARS), exact;
    enum permission_mode needed = s->tool->risk == RISK_MODIFY ? MODE_ACCEPT_EDITS : MODE_BYPASS;

    switch (d->by) {
    case DECIDED_BY_UNCLEAR_DENY:
        return reason_unattended_in_doubt(a, intro, d, s);
    case DECIDED_BY_ASK:
        return arena_format(a, "%s The rule %" STR_FMT " asks each time.", intro, STR_ARG(rule));
    case DECIDED_BY_HOOK:
        return arena_format(a, "%s A hook asks for approval%" STR_FMT, intro,
                            STR_ARG(after_colon(a, d->said)));
    default:
        break;
    }
    if (d->outside)
        return reason_unattended_outside(a, intro, d->outside);
    if (!rule_to_add(s, a, &exact))
        exact = str_of(s->tool->name);
    return arena_format(
        a, "%s The user can allow it with the rule %" STR_FMT " or with the permission mode %s.",
        intro, STR_ARG(shown(a, exact, MAX_RULE_CHARS)), permission_mode_name(needed));
}

/* --- questions, and why no one is asked --- */

struct str reason_allowed(struct arena *a, const struct decided *d, enum permission_mode mode,
                          const struct tool *tool)
{
    if (d->by == DECIDED_BY_ALLOW)
        return arena_format(a, "The rule %" STR_FMT " allows it.",
                            STR_ARG(shown(a, d->rule, MAX_RULE_CHARS)));
    if (d->by == DECIDED_BY_LOOKING)
        return S("Every command in the line only looks, so it runs without asking, in a sandbox "
                 "where nothing can be changed.");
    if (d->by == DECIDED_BY_SANDBOXED)
        return S("The setting permissions.sandboxedCommands lets commands run without asking, in "
                 "the sandbox.");
    if (d->by == DECIDED_BY_PERSON)
        return arena_format(a, "It was typed in a prompt of this session (%" STR_FMT ").",
                            STR_ARG(shown(a, d->rule, MAX_RULE_CHARS)));
    return arena_format(a, "%s mode lets %s run without asking (%s).", permission_mode_name(mode),
                        tool->name, risk_name(tool->risk));
}

struct str reason_ask(struct arena *a, const struct decided *d, enum permission_mode mode,
                      const struct subject *s)
{
    struct str rule = shown(a, d->rule, MAX_RULE_CHARS), host;
    const struct tool *tool = s->tool;

    switch (d->by) {
    case DECIDED_BY_UNCLEAR_DENY:
        return arena_format(a, "%s mode asks, because %" STR_FMT ".", permission_mode_name(mode),
                            STR_ARG(in_doubt(a, d)));
    case DECIDED_BY_ASK:
        return arena_format(a, "The rule %" STR_FMT " asks each time.", STR_ARG(rule));
    case DECIDED_BY_HOOK:
        return arena_format(a, "A hook asks before %s runs%" STR_FMT, tool->name,
                            STR_ARG(after_colon(a, d->said)));
    default:
        break;
    }
    if (d->outside)
        return arena_format(
            a, "%s mode asks before %s reads %" STR_FMT ", which is outside the workspace.",
            permission_mode_name(mode), tool->name, STR_ARG(shown_path(a, d->outside->real)));
    if (d->obeyed)
        return arena_format(a, "%s mode asks before %s changes %s, because it controls %s.",
                            permission_mode_name(mode), tool->name, d->obeyed->path,
                            d->obeyed->why);
    if (tool->risk == RISK_NETWORK && web_host(a, json_get_text(s->args, "url"), &host))
        return arena_format(a, "%s mode asks before %s sends a request to %" STR_FMT " (%s).",
                            permission_mode_name(mode), tool->name, STR_ARG(host),
                            risk_name(tool->risk));
    return arena_format(a, "%s mode asks before %s runs (%s).", permission_mode_name(mode),
                        tool->name, risk_name(tool->risk));
}
