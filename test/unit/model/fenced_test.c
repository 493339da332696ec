/* fenced_test.c - JSON is found in the one block that a model has put it into. */
#include "test.h"

#include "model/fenced.h"

#define assert_finds(text, want) assert_str(fenced_json(S(text)), want)

TEST(a_block_alone_is_opened)
{
    assert_finds("```json\n{\"a\":1}\n```", "{\"a\":1}");
    assert_finds("\n```\n[1,\n2]\n```\n", "[1,\n2]");
    assert_finds("~~~JSON\r\n{}\r\n~~~", "{}");
    assert_finds("````json\n\"```\"\n````", "\"```\"");
}

TEST(words_around_a_block_are_for_people)
{
    assert_finds("Here it is:\n\n```json\n{\"a\":1}\n```\n\nDone.", "{\"a\":1}");
    assert_finds("1. So:\n   ```json\n   {}\n   ```", "{}");
}

TEST(what_is_not_one_block_of_json_stays_as_it_is)
{
    assert_finds(" {\"text\":\"```json\\n1\\n```\"} ", "{\"text\":\"```json\\n1\\n```\"}");
    assert_finds("```json\n1\n```\n```json\n2\n```", "```json\n1\n```\n```json\n2\n```");
    assert_finds("```python\nprint(1)\n```", "```python\nprint(1)\n```");
    assert_finds("```json\n{\"a\":", "```json\n{\"a\":");
    assert_finds("```", "```");
    assert_finds("  plain  ", "plain");
    assert_finds("", "");
}

RUN_TESTS(UNIT(a_block_alone_is_opened), UNIT(words_around_a_block_are_for_people),
          UNIT(what_is_not_one_block_of_json_stays_as_it_is))
