/* notebook_test.c - notebooks: how Read shows them, and NotebookEdit. */
#include "calls.h"

#define HEAD "{\n \"cells\": [\n"
#define TAIL                                                                                       \
    "\n ],\n \"metadata\": {\"kernelspec\": {\"language\": \"python\"}},\n \"nbformat\": 4,\n"     \
    " \"nbformat_minor\": 5\n}\n"
#define TEXT_CELL                                                                                  \
    "  {\n   \"cell_type\": \"markdown\",\n   \"id\": \"a1\",\n   \"metadata\": {},\n"             \
    "   \"source\": [\n    \"# Title\\n\",\n    \"text\"\n   ]\n  }"
#define CODE_CELL                                                                                  \
    "  {\n   \"cell_type\": \"code\",\n   \"execution_count\": 3,\n   \"id\": \"b2\",\n"           \
    "   \"metadata\": {\"x\":  1},\n   \"outputs\": [\n    {\"name\": \"stdout\", "                \
    "\"output_type\": \"stream\", \"text\": [\"1\\n\", \"2\\n\"]}\n   ],\n"                        \
    "   \"source\": [\n    \"print(1)\\n\",\n    \"print(2)\"\n   ]\n  }"
#define NOTEBOOK HEAD TEXT_CELL ",\n" CODE_CELL TAIL

#define READ "{\"file_path\":\"n.ipynb\"}"

static void put_notebook(struct tool_fixture *f, const char *text)
{
    put(&f->dir, "n.ipynb", text);
    assert_works(f, &tool_read, READ);
}

TEST(a_notebook_is_shown_by_cells)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "n.ipynb", NOTEBOOK);
    assert_says(&f, &tool_read, READ,
                "n.ipynb: a notebook of 2 cells in python.\n\n"
                "[cell-0, id a1, markdown]\n# Title\ntext\n\n"
                "[cell-1, id b2, code, run as 3]\nprint(1)\nprint(2)\n[output: stdout]\n1\n2\n\n");
    assert_says(&f, &tool_read, "{\"file_path\":\"n.ipynb\",\"limit\":1}",
                "n.ipynb: a notebook of 2 cells in python.\n\n"
                "[cell-0, id a1, markdown]\n# Title\ntext\n\n"
                "[cells 0-0 of 2; to continue, set offset to 2]\n");
    assert_fails(&f, &tool_read, "{\"file_path\":\"n.ipynb\",\"offset\":3}",
                 "n.ipynb has 2 cells: there is none at offset 3");
    put(&f.dir, "n.ipynb", HEAD "{\"cell_type\":\"raw\",\"source\":\"x\"}" TAIL);
    assert_fails(&f, &tool_read, "{\"file_path\":\"n.ipynb\",\"offset\":3}",
                 "n.ipynb has 1 cell: there is none at offset 3");
}

TEST(outputs_are_shortened_and_images_attached)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    AUTO(strbuf) struct strbuf text = {0};

    strbuf_add_cstr(&text, HEAD "{\"cell_type\":\"code\",\"source\":\"plot()\",\"outputs\":["
                                "{\"output_type\":\"display_data\",\"data\":{\"image/png\":"
                                "\"iVBORw0KGgoAAAANSUhEUgAA\\n\",\"text/plain\":[\"<Figure>\"]}},"
                                "{\"output_type\":\"error\",\"ename\":\"E\",\"evalue\":\"v\","
                                "\"traceback\":[\"\\u001b[31mred\\u001b[0m\"]},"
                                "{\"output_type\":\"stream\",\"name\":\"stderr\",\"text\":\"");
    for (int i = 0; i < 5000; i++)
        strbuf_add_char(&text, 'x');
    strbuf_add_cstr(&text, "\"}]}" TAIL);
    put_bytes(&f.dir, "n.ipynb", strbuf_str(&text));
    AUTO(tool_result) struct tool_result r = tool_call(&f, &tool_read, READ);
    assert_false(r.is_error);
    assert_int_equal(r.n_media, 1);
    assert_str(r.media[0].mime, "image/png");
    assert_has(strbuf_str(&r.text),
               "[cell-0, code]\nplot()\n[output: image/png, attached]\n"
               "[output]\n<Figure>\n[error: E: v]\nred\n[output: stderr]\nxxx");
    assert_has(strbuf_str(&r.text), "characters left out");
    assert_true(r.text.n < 3000);
}

TEST(what_is_called_a_notebook_and_is_none_is_read_as_text)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "n.ipynb", "{\"cells\": [\n");
    assert_says(&f, &tool_read, READ, "1\t{\"cells\": [\n");
    assert_works(&f, &tool_edit,
                 "{\"file_path\":\"n.ipynb\",\"old_string\":\"[\",\"new_string\":\"[]}\"}");
}

TEST(a_source_is_replaced_and_all_else_keeps_its_bytes)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_notebook(&f, NOTEBOOK);
    assert_works(
        &f, &tool_notebook_edit,
        "{\"notebook_path\":\"n.ipynb\",\"cell_id\":\"a1\",\"new_source\":\"# \\u00e9\\nb\\n\"}");
    assert_file(
        &f, "n.ipynb",
        HEAD "  {\n   \"cell_type\": \"markdown\",\n   \"id\": \"a1\",\n   \"metadata\": {},\n"
             "   \"source\": [\n    \"# \xC3\xA9\\n\",\n    \"b\\n\"\n   ]\n  },\n" CODE_CELL TAIL);
    /* and again, without another look; of code the outputs go */
    assert_works(&f, &tool_notebook_edit,
                 "{\"notebook_path\":\"n.ipynb\",\"cell_number\":1,\"new_source\":\"x\"}");
    assert_file(&f, "n.ipynb",
                HEAD
                "  {\n   \"cell_type\": \"markdown\",\n   \"id\": \"a1\",\n   \"metadata\": {},\n"
                "   \"source\": [\n    \"# \xC3\xA9\\n\",\n    \"b\\n\"\n   ]\n  },\n"
                "  {\n   \"cell_type\": \"code\",\n   \"execution_count\": null,\n"
                "   \"id\": \"b2\",\n   \"metadata\": {\"x\":  1},\n   \"outputs\": [],\n"
                "   \"source\": [\n    \"x\"\n   ]\n  }" TAIL);
}

TEST(a_cell_is_inserted_behind_another_or_first)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_notebook(&f, HEAD TEXT_CELL "\n ],\n \"metadata\": {},\n \"nbformat\": 4,\n"
                                    " \"nbformat_minor\": 4\n}\n");
    assert_works(&f, &tool_notebook_edit,
                 "{\"notebook_path\":\"n.ipynb\",\"cell_id\":\"cell-0\",\"edit_mode\":\"insert\","
                 "\"cell_type\":\"code\",\"new_source\":\"x\"}");
    assert_works(&f, &tool_notebook_edit,
                 "{\"notebook_path\":\"n.ipynb\",\"edit_mode\":\"insert\",\"cell_type\":\"raw\","
                 "\"new_source\":\"\"}");
    assert_file(
        &f, "n.ipynb",
        HEAD
        "  {\n   \"cell_type\": \"raw\",\n   \"metadata\": {},\n   \"source\": []\n  },\n" TEXT_CELL
        ",\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": null,\n"
        "   \"metadata\": {},\n   \"outputs\": [],\n   \"source\": [\n    \"x\"\n   ]\n"
        "  }\n ],\n \"metadata\": {},\n \"nbformat\": 4,\n \"nbformat_minor\": 4\n}\n");
    assert_fails(&f, &tool_notebook_edit,
                 "{\"notebook_path\":\"n.ipynb\",\"edit_mode\":\"insert\"}",
                 "new_source and cell_type are missing");
}

TEST(cells_are_deleted)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_notebook(&f, NOTEBOOK);
    assert_works(&f, &tool_notebook_edit,
                 "{\"notebook_path\":\"n.ipynb\",\"cell_id\":\"a1\",\"edit_mode\":\"delete\"}");
    assert_file(&f, "n.ipynb", HEAD CODE_CELL TAIL);
    assert_says(
        &f, &tool_notebook_edit,
        "{\"notebook_path\":\"n.ipynb\",\"cell_id\":\"b2\",\"edit_mode\":\"delete\"}",
        "Deleted cell-0 of n.ipynb, which has 0 cells now.\n\n--- n.ipynb\n+++ n.ipynb\n"
        "@@ -1,19 +1,5 @@\n {\n- \"cells\": [\n-  {\n-   \"cell_type\": \"code\",\n"
        "-   \"execution_count\": 3,\n-   \"id\": \"b2\",\n-   \"metadata\": {\"x\":  1},\n"
        "-   \"outputs\": [\n-    {\"name\": \"stdout\", \"output_type\": \"stream\", "
        "\"text\": [\"1\\n\", \"2\\n\"]}\n-   ],\n-   \"source\": [\n-    \"print(1)\\n\",\n"
        "-    \"print(2)\"\n-   ]\n-  }\n- ],\n+ \"cells\": [],\n"
        "  \"metadata\": {\"kernelspec\": {\"language\": \"python\"}},\n"
        "  \"nbformat\": 4,\n  \"nbformat_minor\": 5\n");
    assert_works(
        &f, &tool_notebook_edit,
        "{\"notebook_path\":\"n.ipynb\",\"edit_mode\":\"insert\",\"cell_type\":\"markdown\","
        "\"new_source\":\"x\"}");
    AUTO(tool_result) struct tool_result r = tool_call(&f, &tool_read, READ);
    assert_has(strbuf_str(&r.text), ", markdown]\nx\n");
}

TEST(the_type_of_a_cell_can_change)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_notebook(&f, "{\"cells\":[{\"cell_type\":\"code\",\"id\":\"b\",\"metadata\":{\"y\":2},"
                     "\"outputs\":[],\"execution_count\":1,\"source\":\"a\"}],\"nbformat\":4}");
    assert_works(&f, &tool_notebook_edit,
                 "{\"notebook_path\":\"n.ipynb\",\"cell_id\":\"b\",\"cell_type\":\"markdown\"}");
    assert_file(&f, "n.ipynb",
                "{\"cells\":[{\"cell_type\":\"markdown\",\"id\":\"b\","
                "\"metadata\":{\"y\":2},\"source\":\"a\"}],\"nbformat\":4}");
}

TEST(a_cell_that_is_not_there_is_told)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_notebook(&f, NOTEBOOK);
    assert_fails(&f, &tool_notebook_edit,
                 "{\"notebook_path\":\"n.ipynb\",\"cell_id\":\"zz\",\"new_source\":\"x\"}",
                 "n.ipynb was not changed: there is no cell zz\nHint: the notebook has 2 cells");
    assert_fails(&f, &tool_notebook_edit,
                 "{\"notebook_path\":\"n.ipynb\",\"cell_number\":2,\"new_source\":\"x\"}",
                 "there is no cell number 2");
    assert_fails(&f, &tool_notebook_edit, "{\"notebook_path\":\"n.ipynb\",\"new_source\":\"x\"}",
                 "cell_id or cell_number is missing");
    assert_fails(&f, &tool_notebook_edit, "{\"notebook_path\":\"n.ipynb\",\"cell_id\":\"a1\"}",
                 "new_source is missing");
    assert_fails(&f, &tool_notebook_edit,
                 "{\"notebook_path\":\"gone.ipynb\",\"cell_id\":\"a1\",\"new_source\":\"x\"}",
                 "there is no file");
    assert_file(&f, "n.ipynb", NOTEBOOK);
}

TEST(edit_and_write_send_the_model_to_this_tool)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "n.ipynb", NOTEBOOK);
    assert_fails(&f, &tool_notebook_edit,
                 "{\"notebook_path\":\"n.ipynb\",\"cell_id\":\"a1\",\"new_source\":\"x\"}",
                 "has not been read in this session");
    assert_works(&f, &tool_read, READ);
    assert_fails(&f, &tool_edit,
                 "{\"file_path\":\"n.ipynb\",\"old_string\":\"text\",\"new_string\":\"x\"}",
                 "n.ipynb is a notebook\nHint: change its cells with NotebookEdit");
    assert_fails(&f, &tool_write, "{\"file_path\":\"n.ipynb\",\"content\":\"{}\"}",
                 "Hint: change its cells with NotebookEdit");
}

TEST(a_notebook_edit_changes_files_and_runs_alone)
{
    assert_int_equal(tool_notebook_edit.risk, RISK_MODIFY);
    assert_true(tool_notebook_edit.is_barrier);
    assert_string_equal(tool_notebook_edit.permission_arg, "notebook_path");
}

RUN_TESTS(UNIT(a_notebook_is_shown_by_cells), UNIT(outputs_are_shortened_and_images_attached),
          UNIT(what_is_called_a_notebook_and_is_none_is_read_as_text),
          UNIT(a_source_is_replaced_and_all_else_keeps_its_bytes),
          UNIT(a_cell_is_inserted_behind_another_or_first), UNIT(cells_are_deleted),
          UNIT(the_type_of_a_cell_can_change), UNIT(a_cell_that_is_not_there_is_told),
          UNIT(edit_and_write_send_the_model_to_this_tool),
          UNIT(a_notebook_edit_changes_files_and_runs_alone))
