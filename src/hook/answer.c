/* answer.c - turns exit codes and JSON into an outcome. */
#include "hook/answer.h"

#include "base/clip.h"
#include "base/utf8.h"

#define MAX_PROBLEM_CHARS 300

/* The state of reading one reply. */
struct reply_reading {
    enum hook_event event;
    const struct hook_event_info *info;
    struct arena *arena;
    struct hook_answer *answer;
};

static struct str shown(struct arena *a, struct str text, size_t max_chars)
{
    AUTO(strbuf) struct strbuf valid = {0}, out = {0};

    utf8_add_repaired(&valid, str_trim(text));
    clip_middle(&out, strbuf_str(&valid), max_chars);
    return arena_str(a, strbuf_str(&out));
}

static struct str first_line(struct arena *a, struct str text)
{
    text = str_trim(text);
    return shown(a, str_slice(text, 0, str_find_char(text, '\n')), MAX_PROBLEM_CHARS);
}

/* Only the first problem is reported. */
static void complain(struct reply_reading *r, struct str problem)
{
    if (r->answer->problem.n == 0)
        r->answer->problem = problem;
}

static void block(struct reply_reading *r)
{
    struct hook_outcome *o = &r->answer->outcome;

    o->is_blocked = o->is_blocked || hook_event_may_block(r->event);
    if (r->info->decides_permission)
        o->permission = HOOK_DENY;
}

/* The answer is unreadable and may have been a denial. */
static void refuse_call(struct reply_reading *r)
{
    if (r->event == HOOK_PRE_TOOL_USE)
        block(r);
}

/* --- members of the answer --- */

/* The names of members that decide something. */
static const char *const deciding[] = {"hookSpecificOutput", "permissionDecision", "decision",
                                       "continue", "updatedInput"};

/* What was decided is not understood. */
static void note_unclear(struct reply_reading *r, const char *key)
{
    for (size_t i = 0; i < ARRAY_LEN(deciding); i++)
        if (strcmp(key, deciding[i]) == 0)
            refuse_call(r);
}

static void wrong_type(struct reply_reading *r, const char *key, const char *wanted)
{
    note_unclear(r, key);
    complain(r, arena_format(r->arena, "its answer is not valid: \"%s\" must be %s", key, wanted));
}

static void unknown_value(struct reply_reading *r, const char *key, struct str value)
{
    note_unclear(r, key);
    complain(r, arena_format(r->arena, "its answer is not valid: \"%s\" cannot be \"%" STR_FMT "\"",
                             key, STR_ARG(first_line(r->arena, value))));
}

/* The member; NULL if it is missing or null. */
static const struct json *member(const struct json *object, const char *key)
{
    const struct json *v = json_get(object, key);

    return json_is(v, JSON_NULL) ? NULL : v;
}

static struct str read_raw(struct reply_reading *r, const struct json *object, const char *key)
{
    const struct json *v = member(object, key);

    if (v && v->type != JSON_STRING)
        wrong_type(r, key, "a string");
    return json_str(v);
}

static struct str read_text(struct reply_reading *r, const struct json *object, const char *key)
{
    return shown(r->arena, read_raw(r, object, key), HOOK_MAX_TEXT_CHARS);
}

static bool read_bool(struct reply_reading *r, const struct json *object, const char *key,
                      bool otherwise)
{
    const struct json *v = member(object, key);

    if (v && v->type != JSON_BOOL)
        wrong_type(r, key, "true or false");
    return json_bool(v, otherwise);
}

/* Keeps the old text if there is no new one. */
static void set_text(struct str *text, struct str said)
{
    if (said.n)
        *text = said;
}

static void permit(struct reply_reading *r, enum hook_permission permission)
{
    if (!r->info->decides_permission)
        return;
    if (permission == HOOK_DENY)
        block(r);
    r->answer->outcome.permission = MAX(r->answer->outcome.permission, permission);
}

static void read_changed_input(struct reply_reading *r, const struct json *object)
{
    const struct json *changed = member(object, "updatedInput");

    if (!changed || !r->info->takes_changed_input)
        return;
    if (changed->type != JSON_OBJECT)
        wrong_type(r, "updatedInput", "an object");
    else if (r->event == HOOK_USER_PROMPT_SUBMIT &&
             !json_is(json_get(changed, "prompt"), JSON_STRING))
        wrong_type(r, "updatedInput", "an object with \"prompt\", a string");
    else
        r->answer->outcome.updated_input = changed;
}

/* --- the forms of a decision --- */

/* {"permissionDecision": "deny", "permissionDecisionReason": "..."} */
static void read_permission(struct reply_reading *r, const struct json *specific)
{
    static const struct {
        const char *name;
        enum hook_permission permission;
    } decisions[] = {
        {"allow", HOOK_ALLOW}, {"deny", HOOK_DENY}, {"ask", HOOK_ASK}, {"defer", HOOK_ASK}};
    struct str said = read_raw(r, specific, "permissionDecision");

    set_text(&r->answer->outcome.reason, read_text(r, specific, "permissionDecisionReason"));
    if (said.n == 0)
        return;
    for (size_t i = 0; i < ARRAY_LEN(decisions); i++)
        if (str_is(said, decisions[i].name)) {
            permit(r, decisions[i].permission);
            return;
        }
    unknown_value(r, "permissionDecision", said);
}

/* For PermissionRequest: {"decision": {"behavior": "allow", "updatedInput": {}, "message":
 * "..."}} */
static void read_behavior(struct reply_reading *r, const struct json *specific)
{
    const struct json *decision = member(specific, "decision");
    struct str behavior;

    if (!decision || r->event != HOOK_PERMISSION_REQUEST)
        return;
    if (decision->type != JSON_OBJECT) {
        wrong_type(r, "decision", "an object");
        return;
    }
    behavior = read_raw(r, decision, "behavior");
    set_text(&r->answer->outcome.reason, read_text(r, decision, "message"));
    read_changed_input(r, decision);
    if (str_is(behavior, "allow")) {
        permit(r, HOOK_ALLOW);
    } else if (str_is(behavior, "deny")) {
        permit(r, HOOK_DENY);
        r->answer->outcome.stops_run |= read_bool(r, decision, "interrupt", false);
    } else {
        unknown_value(r, "behavior", behavior);
    }
}

static char without_case(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* Equal but for case and the signs between words: permission_decision. */
static bool is_other_spelling(struct str key, struct str name)
{
    size_t k = 0, n = 0;

    if (str_eq(key, name))
        return false;
    for (;; k++, n++) {
        while (k < key.n && strchr("_- ", key.p[k]))
            k++;
        if (k == key.n || n == name.n)
            return k == key.n && n == name.n;
        if (without_case(key.p[k]) != without_case(name.p[n]))
            return false;
    }
}

/* Finds decisions under names that would be ignored. */
static void check_names(struct reply_reading *r, const struct json *object)
{
    json_each (v, object)
        for (size_t i = 0; i < ARRAY_LEN(deciding); i++)
            if (is_other_spelling(v->key, str_of(deciding[i]))) {
                complain(r, arena_format(r->arena,
                                         "its answer is not valid: \"%" STR_FMT
                                         "\" must be spelled \"%s\"",
                                         STR_ARG(first_line(r->arena, v->key)), deciding[i]));
                refuse_call(r);
            }
}

static void read_specific(struct reply_reading *r, const struct json *answer)
{
    const struct json *specific = member(answer, "hookSpecificOutput");
    struct str name;

    if (!specific)
        return;
    if (specific->type != JSON_OBJECT) {
        wrong_type(r, "hookSpecificOutput", "an object");
        return;
    }
    check_names(r, specific);
    name = read_raw(r, specific, "hookEventName");
    if (name.n && !str_is(name, hook_event_name(r->event)))
        unknown_value(r, "hookEventName", name);
    read_permission(r, specific);
    read_behavior(r, specific);
    read_changed_input(r, specific);
    set_text(&r->answer->outcome.additional_context, read_text(r, specific, "additionalContext"));
}

/* {"decision": "block", "reason": "..."}; for permissions also "approve". */
static void read_decision(struct reply_reading *r, const struct json *answer)
{
    struct str said = read_raw(r, answer, "decision");

    set_text(&r->answer->outcome.reason, read_text(r, answer, "reason"));
    if (str_is(said, "block") || str_is(said, "deny"))
        block(r);
    else if (str_is(said, "approve") || str_is(said, "allow"))
        permit(r, HOOK_ALLOW);
    else if (str_is(said, "ask"))
        permit(r, HOOK_ASK);
    else if (said.n)
        unknown_value(r, "decision", said);
}

static void read_continue(struct reply_reading *r, const struct json *answer)
{
    struct hook_outcome *o = &r->answer->outcome;

    if (read_bool(r, answer, "continue", true))
        return;
    o->stops_run = true;
    o->stop_reason = read_text(r, answer, "stopReason");
    block(r);
    if (o->reason.n == 0)
        o->reason = o->stop_reason;
}

/* Finds decisions in the wrong place, which would be ignored. */
static void check_places(struct reply_reading *r, const struct json *answer)
{
    static const char *const specific[] = {"permissionDecision", "updatedInput"};

    for (size_t i = 0; i < ARRAY_LEN(specific); i++)
        if (member(answer, specific[i])) {
            complain(
                r, arena_format(
                       r->arena,
                       "its answer is not valid: \"%s\" must be a member of \"hookSpecificOutput\"",
                       specific[i]));
            refuse_call(r);
        }
}

/* suppressOutput is known and needs no code: the output of hooks is never shown. */
static void read_answer(struct reply_reading *r, const struct json *answer)
{
    struct hook_outcome *o = &r->answer->outcome;

    check_places(r, answer);
    check_names(r, answer);
    read_decision(r, answer);
    o->additional_context = read_text(r, answer, "additionalContext");
    o->system_message = read_text(r, answer, "systemMessage");
    read_specific(r, answer);
    read_continue(r, answer);
    if (r->answer->problem.n) {
        o->updated_input = NULL;
        if (o->permission == HOOK_ALLOW)
            o->permission = HOOK_NO_OPINION;
    }
}

/* --- replies --- */

static bool looks_like_json(struct str text)
{
    return text.n && text.p[0] == '{';
}

static bool has_byte_order_mark(struct str text)
{
    return str_starts(text, S("\xFE\xFF")) || str_starts(text, S("\xFF\xFE")) ||
           (str_starts(text, S("\xEF\xBB\xBF")) && looks_like_json(str_trim(str_skip(text, 3))));
}

/* Is this the name of a member: in quotes, escaped in any way, and followed by a colon? */
static bool is_member_name(struct str text, size_t at, size_t n)
{
    struct str rest = str_skip(text, at + n);

    if (at == 0 || (text.p[at - 1] != '"' && text.p[at - 1] != '\''))
        return false;
    while (str_starts(rest, S("\\")))
        rest = str_skip(rest, 1);
    if (!str_starts(rest, S("\"")) && !str_starts(rest, S("'")))
        return false;
    return str_starts(str_trim(str_skip(rest, 1)), S(":"));
}

/* Does a text that is not an answer contain one? Any name that could decide something counts,
 * complete or not. */
static bool holds_answer(struct str text)
{
    for (size_t i = 0; i < ARRAY_LEN(deciding); i++) {
        struct str name = str_of(deciding[i]);
        size_t from = 0, at;

        while ((at = str_find(str_skip(text, from), name)) != STR_NONE) {
            if (is_member_name(text, from + at, name.n))
                return true;
            from += at + name.n;
        }
    }
    return false;
}

static const struct json *parse_answer(struct reply_reading *r, const struct hook_reply *reply,
                                       struct str text, struct str *ret_problem)
{
    struct json_where where = {0};
    struct json *value = NULL;

    if (reply->is_cut)
        *ret_problem =
            arena_format(r->arena, "its answer is longer than %zu bytes", (size_t)HOOK_MAX_OUTPUT);
    else if (!json_parse_at(r->arena, arena_str(r->arena, text),
                            JSON_REPAIR_UTF8 | JSON_UNIQUE_KEYS, &value, &where))
        *ret_problem =
            arena_format(r->arena, "its answer is not valid JSON: %s at line %zu, column %zu",
                         where.reason, where.line, where.column);
    else
        return value;
    return NULL;
}

static void read_text_answer(struct reply_reading *r, const struct hook_reply *reply,
                             struct str text)
{
    if (r->info->stdout_is_context)
        r->answer->outcome.additional_context = shown(r->arena, text, HOOK_MAX_TEXT_CHARS);
    if (has_byte_order_mark(text))
        complain(r, S("its answer begins with a byte order mark, so it is not valid JSON"));
    else if (holds_answer(text))
        complain(r, S("it printed other text before its answer, so the answer is ignored"));
    else if (reply->is_cut) /* what was cut off may be its answer */
        complain(r,
                 arena_format(r->arena, "it printed more than %zu bytes", (size_t)HOOK_MAX_OUTPUT));
    else
        return;
    refuse_call(r);
}

static void read_success(struct reply_reading *r, const struct hook_reply *reply)
{
    struct str text = str_trim(strbuf_str(&reply->out)), problem = {0};
    const struct json *answer;

    if (!looks_like_json(text)) {
        read_text_answer(r, reply, text);
        return;
    }
    answer = parse_answer(r, reply, text, &problem);
    if (answer) {
        read_answer(r, answer);
        return;
    }
    complain(r, problem);
    refuse_call(r);
}

/* A hook that failed may still have asked to end the run. */
static void read_last_words(struct reply_reading *r, const struct hook_reply *reply)
{
    struct str text = str_trim(strbuf_str(&reply->out)), ignored;
    const struct json *answer =
        looks_like_json(text) ? parse_answer(r, reply, text, &ignored) : NULL;

    if (answer)
        read_continue(r, answer);
}

static void read_block(struct reply_reading *r, const struct hook_reply *reply)
{
    struct hook_outcome *o = &r->answer->outcome;
    struct str said = shown(r->arena, strbuf_str(&reply->err), HOOK_MAX_TEXT_CHARS);

    read_last_words(r, reply);
    if (!hook_event_may_block(r->event)) {
        complain(r, arena_format(r->arena, "it reported: %" STR_FMT,
                                 STR_ARG(first_line(r->arena, strbuf_str(&reply->err)))));
        return;
    }
    block(r);
    set_text(&o->reason, said.n ? said : S("no reason given"));
}

static void read_failure(struct reply_reading *r, const struct hook_reply *reply)
{
    struct str said = first_line(r->arena, strbuf_str(&reply->err));

    read_last_words(r, reply);
    complain(r, arena_format(r->arena, "it exited with code %d%s%" STR_FMT, reply->exit_code,
                             said.n ? ": " : "", STR_ARG(said)));
}

struct hook_answer hook_answer_read(enum hook_event event, const struct hook_reply *reply,
                                    struct arena *a)
{
    struct hook_answer answer = {0};
    struct reply_reading r = {
        .event = event, .info = hook_event_info(event), .arena = a, .answer = &answer};

    if (reply->exit_code == 0)
        read_success(&r, reply);
    else if (reply->exit_code == 2)
        read_block(&r, reply);
    else
        read_failure(&r, reply);
    return answer;
}

/* --- all of them --- */

static void add_line(struct strbuf *lines, struct str line)
{
    if (line.n && lines->n)
        strbuf_add_char(lines, '\n');
    strbuf_add(lines, line);
}

/* Blocking is the strongest opinion, also for events that have no other. */
static int strength(const struct hook_outcome *o)
{
    return o->is_blocked ? HOOK_DENY : (int)o->permission;
}

static int find_strongest(const struct hook_answer *answers, size_t n)
{
    int strongest = HOOK_NO_OPINION;

    for (size_t i = 0; i < n; i++)
        strongest = MAX(strongest, strength(&answers[i].outcome));
    return strongest;
}

/* A blocked input is not changed. */
static const struct hook_outcome *find_changer(const struct hook_answer *answers, size_t n,
                                               int strongest)
{
    for (int s = strongest; strongest < HOOK_DENY && s >= HOOK_NO_OPINION; s--)
        for (size_t i = 0; i < n; i++)
            if (strength(&answers[i].outcome) == s && answers[i].outcome.updated_input)
                return &answers[i].outcome;
    return NULL;
}

struct hook_outcome hook_answers_merge(enum hook_event event, const struct hook_answer *answers,
                                       size_t n, struct arena *a)
{
    AUTO(strbuf) struct strbuf reasons = {0}, contexts = {0}, messages = {0};
    int strongest = find_strongest(answers, n);
    const struct hook_outcome *changer = find_changer(answers, n, strongest);
    struct hook_outcome all = {0};

    for (size_t i = 0; i < n; i++) {
        const struct hook_outcome *o = &answers[i].outcome;

        all.is_blocked |= o->is_blocked;
        if (o->permission > all.permission)
            all.permission = o->permission;
        if (o->stops_run && !all.stops_run)
            all.stop_reason = o->stop_reason;
        all.stops_run |= o->stops_run;
        if (strength(o) == strongest)
            add_line(&reasons, o->reason);
        add_line(&contexts, o->additional_context);
        add_line(&messages, o->system_message);
    }
    if (all.stops_run && hook_event_info(event)->block_goes_on)
        all.is_blocked = false;
    if (changer)
        all.updated_input = changer->updated_input;
    if (changer && all.permission == HOOK_ALLOW && changer->permission != HOOK_ALLOW)
        all.permission = HOOK_NO_OPINION;
    all.reason = arena_str(a, strbuf_str(&reasons));
    all.additional_context = arena_str(a, strbuf_str(&contexts));
    all.system_message = arena_str(a, strbuf_str(&messages));
    return all;
}
