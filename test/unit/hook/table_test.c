/* table_test.c */
#include "test.h"

#include "hook/table.h"

static bool has_word(const char *words, const char *word)
{
    struct str rest = str_of(words), next;

    while (str_split(&rest, ' ', &next))
        if (str_is(next, word))
            return true;
    return false;
}

TEST(every_event_says_when_it_fires_and_what_it_tells)
{
    for (int e = 0; e < HOOK_N_EVENTS; e++) {
        const struct hook_event_info *info = hook_event_info((enum hook_event)e);

        if (!info->fires || !*info->fires || !info->fields || !*info->fields)
            fail_msg("%s has no row", hook_event_name((enum hook_event)e));
    }
}

TEST(what_matchers_look_at_is_one_of_the_event_s_fields)
{
    for (int e = 0; e < HOOK_N_EVENTS; e++) {
        const struct hook_event_info *info = hook_event_info((enum hook_event)e);

        if (info->match_field && !has_word(info->fields, info->match_field))
            fail_msg("%s: %s is not told", hook_event_name((enum hook_event)e), info->match_field);
    }
}

TEST(events_that_nobody_fires_yet_are_marked)
{
    AUTO(strbuf) struct strbuf names = {0};

    for (int e = 0; e < HOOK_N_EVENTS; e++)
        if (!hook_event_info((enum hook_event)e)->owner)
            strbuf_addf(&names, "%s ", hook_event_name((enum hook_event)e));
    assert_str(strbuf_str(&names), "SubagentStart SubagentStop WorktreeCreate WorktreeRemove "
                                   "Notification ");
}

TEST(only_what_can_be_blocked_can_be_denied_or_made_to_go_on)
{
    for (int e = 0; e < HOOK_N_EVENTS; e++) {
        const struct hook_event_info *info = hook_event_info((enum hook_event)e);

        if (info->decides_permission || info->block_goes_on)
            assert_true(hook_event_may_block((enum hook_event)e));
    }
}

TEST(names_and_events_are_the_same_both_ways)
{
    enum hook_event found;

    for (int e = 0; e < HOOK_N_EVENTS; e++) {
        assert_true(hook_event_find(str_of(hook_event_name((enum hook_event)e)), &found));
        assert_int_equal(found, e);
    }
    assert_false(hook_event_find(S("preToolUse"), &found));
    assert_false(hook_event_find(S(""), &found));
}

RUN_TESTS(UNIT(every_event_says_when_it_fires_and_what_it_tells),
          UNIT(what_matchers_look_at_is_one_of_the_event_s_fields),
          UNIT(events_that_nobody_fires_yet_are_marked),
          UNIT(only_what_can_be_blocked_can_be_denied_or_made_to_go_on),
          UNIT(names_and_events_are_the_same_both_ways))
