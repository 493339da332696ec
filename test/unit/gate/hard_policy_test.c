/* hard_policy_test.c - what is refused whatever rules and modes say. */
#include "yard.h"

#include "gate/hard_policy.h"

/* --- the jail --- */

TEST(tools_that_change_files_stay_in_the_workspace)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    auto_by(&edit, "src/a.c", "mode:bypassPermissions/modify");
    auto_by(&write_tool, "@/proj/new/dir/x", "mode:bypassPermissions/modify");
    auto_by(&read_tool, "@/out/secret.txt", "mode:bypassPermissions/inspect");
    denied_by(&edit, "@/out/x", "policy:outside");
    denied_by(&write_tool, "../out/x", "policy:outside");
    denied_by(&write_tool, "src/../../x", "policy:outside");
    denied_by(&write_tool, "@/project/x", "policy:outside");
    denied_by(&edit, "~/notes", "policy:outside");
    assert_int_equal(y.judged.step, 5);
    yard_allow(&y, "Edit");
    denied_by(&edit, "@/out/x", "policy:outside");
}

TEST(a_refusal_says_what_to_do_instead_and_how_it_can_be_allowed)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    assert_str(yard_judge(&y, &edit, "@/out/x")->reason,
               yard_text(&y,
                         "Permission denied: @/out/x is outside the workspace @/proj. Write in the "
                         "workspace instead. The user can add a directory with "
                         "--add-dir @/out or allow it with a rule such as Edit(/@/out/x)."));
    assert_str(yard_judge(&y, &write_tool, "@/out/x")->reason,
               yard_text(&y,
                         "Permission denied: @/out/x is outside the workspace @/proj. Write in the "
                         "workspace instead. The user can add a directory with "
                         "--add-dir @/out or allow it with a rule such as Write(/@/out/x)."));
    assert_str(yard_judge(&y, &edit, ".git/config")->reason,
               yard_text(&y,
                         "Permission denied: @/proj/.git/config is protected: no tool writes to "
                         ".git, because it controls git. Do not change it another way; tell the "
                         "user what to change there by hand."));
}

TEST(an_added_directory_is_in_the_jail)
{
    AUTO(yard) struct yard y;
    const char *added;

    yard_init(&y);
    added = yard_path(&y, "out");
    y.policy.writable = &added;
    y.policy.n_writable = 1;
    auto_by(&edit, "@/out/x", "mode:bypassPermissions/modify");
    denied_by(&edit, "@/out/.git/x", "policy:protected");
    denied_by(&edit, "@/outer", "policy:outside");
}

TEST(a_rule_that_names_a_place_outside_opens_it_for_writing)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    yard_allow(&y, "Edit(/@/out/**)");
    auto_by(&edit, "@/out/x", "Edit(/@/out/**)");
    auto_by(&write_tool, "@/out/x", "mode:bypassPermissions/modify");
    denied_by(&write_tool, "@/home/x", "policy:outside");
    denied_by(&write_tool, "@/out/.ssh/config", "policy:protected");
    yard_allow(&y, "Write(~/notes)");
    auto_by(&edit, "@/home/notes", "mode:bypassPermissions/modify");
    yard_allow(&y, "Read(/@/out/**)");
    denied_by(&edit, "@/out/x", "policy:outside");
    yard_allow(&y, "Edit(**)");
    denied_by(&edit, "@/out/x", "policy:outside");
}

TEST(what_a_command_redirects_to_stays_in_the_jail_as_far_as_it_can_be_told)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    auto_by(&bash, "make > log 2>&1", "mode:bypassPermissions/execute");
    auto_by(&bash, "make > /dev/null 2> /dev/stderr", "mode:bypassPermissions/execute");
    auto_by(&bash, "echo hi > /dev/tty", "mode:bypassPermissions/execute");
    auto_by(&bash, "make > $x", "mode:bypassPermissions/execute");
    auto_by(&bash, "cd /tmp; make > ../x", "mode:bypassPermissions/execute");
    auto_by(&bash, "cat < @/out/secret.txt", "mode:bypassPermissions/execute");
    denied_by(&bash, "make > ../out/x", "policy:outside");
    denied_by(&bash, "make; sh -c 'echo x >> @/out/x'", "policy:outside");
    denied_by(&bash, "echo x > .git/hooks/pre-commit", "policy:protected");
    denied_by(&bash, "cd src && echo x > @/proj/.git/config", "policy:protected");
    denied_by(&bash, "cat < @/keys/id", "policy:secret");
    denied_by(&bash, "echo x > /proc/self/environ", "policy:outside");
}

/* --- protected places --- */

TEST(some_names_are_nobodys_to_write_wherever_they_stand)
{
    static const char *const bad[] = {
        ".git/config",
        "src/.git",
        ".GIT/hooks/x",
        ".ssh/authorized_keys",
        ".keel/x",
        ".claude/x",
        ".robota/x",
        ".codex/config.toml",
        ".gemini/settings.json",
        ".cursor/mcp.json",
        ".agents/skills/x",
        ".mcp.json",
        "sub/.mcp.json",
        ".vscode/tasks.json",
        "sub/.idea/x",
        ".github/hooks/x.json",
        ".copilot/x",
        ".ghci",
        ".devcontainer/devcontainer.json",
        ".gitmodules",
        ".hg/hgrc",
        ".jj/repo/config.toml",
        ".svn/x",
        ".bashrc",
        "x/.zshrc",
        ".profile",
        ".vimrc",
        ".exrc",
        ".tmux.conf",
        ".gdbinit",
        ".helix/languages.toml",
        ".roo/mcp.json",
        ".aider.conf.yml",
        "opencode.json",
        "sub/crush.json",
        ".xinitrc",
        ".xsession",
        ".pam_environment",
        ".config/environment.d/x.conf",
        ".config/nvim/init.lua",
        "dotfiles/.config/autostart/x",
        ".config/systemd/user/x",
        ".config/git/config",
        ".config/fish/config.fish",
        ".xprofile",
        ".env",
        ".env.local",
        ".ENV.production",
        "api/.env",
        "id_rsa",
        "id_ed25519",
        "server.pem",
        "tls/server.key",
        ".netrc",
        ".pypirc",
        ".git-credentials",
        ".envrc",
        ".gitconfig",
        "credentials.json",
        "store.p12",
    };
    static const char *const good[] = {
        ".env.example", ".env.local.sample", ".env.template", ".env.dist", ".gitignore",
        ".github/x",    "environment",       "id_rsa.pub",    "keys.c",    "src/key",
        ".key",         "credentials.c",     ".envoy",        "git/x",     ".eslintrc",
        "bin/run",      ".local/bin/x",      ".config/x",     "config",    "hooks/x",
        "HEAD",         "vscode/x",          "objects/x",     "AGENTS.md", ".npmrc",
    };
    AUTO(yard) struct yard y;

    yard_init(&y);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        denied_by(&write_tool, bad[i], "policy:protected");
        auto_by(&read_tool, bad[i], "mode:bypassPermissions/inspect");
    }
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        auto_by(&write_tool, good[i], "mode:bypassPermissions/modify");
}

TEST(what_is_ordinary_work_but_obeyed_later_asks_in_accept_edits)
{
    static const char *const asked[] = {
        "AGENTS.md",
        "sub/CLAUDE.md",
        ".github/workflows/ci.yml",
        ".npmrc",
        ".gitattributes",
        ".husky/pre-commit",
        ".pre-commit-config.yaml",
        ".cargo/config.toml",
        ".gitlab-ci.yml",
        ".yarnrc.yml",
        "agents.md",
    };
    AUTO(yard) struct yard y;

    yard_init(&y);
    for (size_t i = 0; i < ARRAY_LEN(asked); i++) {
        y.mode = MODE_ACCEPT_EDITS;
        asks_by(&write_tool, asked[i], "mode:acceptEdits/obeyed");
        y.mode = MODE_DEFAULT;
        asks_by(&edit, asked[i], "mode:default/modify");
        y.mode = MODE_PLAN;
        denied_by(&edit, asked[i], "mode:plan/modify");
        y.mode = MODE_BYPASS;
        auto_by(&edit, asked[i], "mode:bypassPermissions/modify");
    }
    y.mode = MODE_ACCEPT_EDITS;
    auto_by(&edit, "README.md", "mode:acceptEdits/modify");
    asks_by(&bash, "echo x > AGENTS.md", "mode:acceptEdits/execute");
    assert_str(yard_judge(&y, &edit, "AGENTS.md")->reason,
               "acceptEdits mode asks before Edit changes AGENTS.md, because it controls agents.");
    yard_allow(&y, "Edit(AGENTS.md)");
    auto_by(&edit, "AGENTS.md", "Edit(AGENTS.md)");
}

TEST(an_allowed_command_does_not_write_unasked_what_others_obey)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    y.mode = MODE_ACCEPT_EDITS;
    yard_allow(&y, "Bash(echo *)");
    auto_by(&bash, "echo x > notes", "Bash(echo *)");
    asks_by(&bash, "echo x > AGENTS.md", "mode:acceptEdits/execute");
}

TEST(in_a_home_some_more_names_are_obeyed)
{
    AUTO(yard) struct yard y;
    const char *home;

    yard_init(&y);
    home = yard_path(&y, "home");
    y.policy.writable = &home;
    y.policy.n_writable = 1;
    denied_by(&write_tool, "~/bin/ls", "policy:protected");
    denied_by(&write_tool, "~/.local/bin/ls", "policy:protected");
    auto_by(&write_tool, "~/src/bin/ls", "mode:bypassPermissions/modify");
    auto_by(&write_tool, "bin/ls", "mode:bypassPermissions/modify");
}

TEST(a_workspace_in_a_directory_of_settings_does_not_open_the_others)
{
    AUTO(yard) struct yard y;
    const char *config, *nvim;

    yard_init(&y);
    put(&y.dir, "home/.config/nvim/init.lua", "");
    config = yard_path(&y, "home/.config");
    nvim = yard_path(&y, "home/.config/nvim");
    y.policy.writable = &config;
    y.policy.n_writable = 1;
    denied_by(&edit, "~/.config/nvim/init.lua", "policy:protected");
    denied_by(&edit, "~/.config/autostart/x", "policy:protected");
    auto_by(&edit, "~/.config/other", "mode:bypassPermissions/modify");
    y.policy.writable = &nvim;
    auto_by(&edit, "~/.config/nvim/init.lua", "mode:bypassPermissions/modify");
}

/* --- git --- */

TEST(a_file_that_would_complete_a_git_directory_is_not_written)
{
    static const struct {
        const char *files[3];
        const char *last;
    } rows[] = {
        {{"sub/HEAD", "sub/objects/x"}, "sub/refs/x"},
        {{"sub/HEAD", "sub/refs/x"}, "sub/objects/ab/cd"},
        {{"sub/refs/x", "sub/objects/x"}, "sub/HEAD"},
        {{"sub/refs/x", "sub/objects/x"}, "sub/head"},
        {{"sub/HEAD"}, "sub/commondir"},
        {{"sub/commondir"}, "sub/HEAD"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(yard) struct yard y;
        AUTO(strbuf) struct strbuf name = {0}, command = {0};

        yard_init(&y);
        for (size_t k = 0; k < 3 && rows[i].files[k]; k++) {
            auto_by(&write_tool, rows[i].files[k], "mode:bypassPermissions/modify");
            strbuf_clear(&name);
            strbuf_addf(&name, "proj/%s", rows[i].files[k]);
            put(&y.dir, strbuf_cstr(&name), "");
        }
        denied_by(&write_tool, rows[i].last, "policy:git");
        denied_by(&edit, rows[i].last, "policy:git");
        strbuf_addf(&command, "echo x > %s", rows[i].last);
        denied_by(&bash, strbuf_cstr(&command), "policy:git");
        auto_by(&write_tool, "sub/other", "mode:bypassPermissions/modify");
    }
}

TEST(what_git_obeys_in_a_git_directory_is_not_written_whatever_it_is_called)
{
    static const char *const bad[] = {"config",
                                      "CONFIG",
                                      "hooks/pre-commit",
                                      "info/attributes",
                                      "HEAD",
                                      "modules/x/config",
                                      "worktrees/x/gitdir",
                                      "rebase-merge/git-rebase-todo",
                                      "sequencer/todo",
                                      "objects/info/alternates",
                                      "commondir"};
    static const char *const dirs[] = {"", "store.git/", "deep/er/bare/"};

    for (size_t d = 0; d < ARRAY_LEN(dirs); d++) {
        AUTO(yard) struct yard y;
        AUTO(strbuf) struct strbuf name = {0};

        yard_init(&y);
        for (size_t i = 0; i < 3; i++) {
            static const char *const files[] = {"HEAD", "objects/x", "refs/x"};

            strbuf_clear(&name);
            strbuf_addf(&name, "proj/%s%s", dirs[d], files[i]);
            put(&y.dir, strbuf_cstr(&name), "");
        }
        for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
            strbuf_clear(&name);
            strbuf_addf(&name, "%s%s", dirs[d], bad[i]);
            denied_by(&write_tool, strbuf_cstr(&name), "policy:git");
        }
        strbuf_clear(&name);
        strbuf_addf(&name, "%sREADME", dirs[d]);
        auto_by(&write_tool, strbuf_cstr(&name), "mode:bypassPermissions/modify");
    }
}

TEST(what_gits_configuration_names_in_the_workspace_is_not_written)
{
    static const char config[] = "[core]\n\thooksPath = .githooks/_\n\tpager = ./tools/pager -x\n"
                                 "[filter \"x\"]\n\tclean = sh tools/clean.sh %f\n"
                                 "[include]\n\tpath = ../shared.cfg\n"
                                 "[alias]\n\tz = !./scripts/new.sh\n";
    AUTO(yard) struct yard y;

    yard_init(&y);
    put(&y.dir, "proj/.git/config", config);
    put(&y.dir, "proj/tools/clean.sh", "");
    denied_by(&edit, ".githooks/pre-commit", "policy:git");
    denied_by(&write_tool, ".githooks/_/pre-commit", "policy:git");
    denied_by(&edit, "tools/clean.sh", "policy:git");
    denied_by(&write_tool, "tools/pager", "policy:git"); /* which is not there yet */
    denied_by(&write_tool, "scripts/new.sh", "policy:git");
    denied_by(&edit, "shared.cfg", "policy:git");
    denied_by(&bash, "echo x > .githooks/pre-commit", "policy:git");
    auto_by(&edit, "tools/other.sh", "mode:bypassPermissions/modify");
    auto_by(&edit, "src/a.c", "mode:bypassPermissions/modify");
    auto_by(&write_tool, "sh", "mode:bypassPermissions/modify");
}

TEST(a_working_tree_whose_git_directory_is_elsewhere_is_known)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    put(&y.dir, "main.git/HEAD", "");
    put(&y.dir, "main.git/config", "[core]\n\thooksPath = .husky\n");
    put(&y.dir, "main.git/worktrees/w/HEAD", "");
    put(&y.dir, "main.git/worktrees/w/commondir", "../..\n");
    put(&y.dir, "proj/tree/.git", "gitdir: ../../main.git/worktrees/w\n");
    denied_by(&edit, "tree/.husky/pre-commit", "policy:git");
    auto_by(&edit, "tree/x", "mode:bypassPermissions/modify");
    denied_by(&edit, "tree/.git", "policy:protected");
}

TEST(hooks_for_all_repositories_are_not_written_where_none_is)
{
    AUTO(yard) struct yard y;
    const char *added;

    yard_init(&y);
    added = yard_path(&y, "out");
    y.policy.writable = &added;
    y.policy.n_writable = 1;
    put(&y.dir, "home/.gitconfig", yard_text(&y, "[core]\n\thooksPath = @/out/hooks\n"));
    denied_by(&write_tool, "@/out/hooks/pre-commit", "policy:git");
    auto_by(&write_tool, "@/out/other", "mode:bypassPermissions/modify");
}

TEST(what_a_start_up_file_links_to_is_not_written_whatever_it_is_called)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    put(&y.dir, "proj/dot/bashrc", "");
    put(&y.dir, "proj/dot/nvim/init.lua", "");
    put(&y.dir, "home/.config/x", "");
    yard_link(&y, "home/.bashrc", "@proj/dot/bashrc");
    yard_link(&y, "home/.config/nvim", "@proj/dot/nvim");
    denied_by(&edit, "dot/bashrc", "policy:protected");
    denied_by(&write_tool, "dot/nvim/lua/new.lua", "policy:protected");
    auto_by(&edit, "dot/zshrc", "mode:bypassPermissions/modify");
}

TEST(a_repository_above_the_workspace_counts_too)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    put(&y.dir, ".git/HEAD", "");
    put(&y.dir, ".git/config", "[core]\n\thooksPath = proj/hooks\n");
    denied_by(&edit, "hooks/pre-commit", "policy:git");
    auto_by(&edit, "src/a.c", "mode:bypassPermissions/modify");
}

TEST(a_jail_may_itself_have_a_protected_name)
{
    AUTO(yard) struct yard y;
    AUTO(tool_state) struct tool_state *first = NULL;

    yard_init(&y);
    put(&y.dir, "home/.keel/trees/x/", "");
    first = y.state;
    y.state = tool_state_new(str_of(yard_path(&y, "home/.keel/trees/x")));
    auto_by(&write_tool, "a.c", "mode:bypassPermissions/modify");
    denied_by(&write_tool, ".keel/a.c", "policy:protected");
}

/* --- secrets --- */

TEST(secret_places_are_neither_read_nor_written)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    yard_allow(&y, "Read(/@/keys/**)");
    denied_by(&read_tool, "@/keys/id", "policy:secret");
    denied_by(&read_tool, "@/keys", "policy:secret");
    denied_by(&grep, "@/proj/../keys", "policy:secret");
    denied_by(&edit, "@/keys/id", "policy:secret");
    auto_by(&read_tool, "@/keyset", "mode:bypassPermissions/inspect");
}

TEST(the_innermost_place_decides_what_is_secret)
{
    AUTO(yard) struct yard y;
    const char *secret[3];

    yard_init(&y);
    secret[0] = y.dir.path; /* as /home is: all homes, and so one's own */
    secret[1] = yard_path(&y, "home/.keel");
    secret[2] = yard_path(&y, "proj/vault");
    y.policy.secret = secret;
    y.policy.n_secret = 3;
    auto_by(&read_tool, "src/a.c", "mode:bypassPermissions/inspect");
    auto_by(&read_tool, "~/notes", "mode:bypassPermissions/inspect");
    denied_by(&read_tool, "@/out/secret.txt", "policy:secret");
    denied_by(&read_tool, "~/.keel/keel.db", "policy:secret");
    denied_by(&read_tool, "vault/x", "policy:secret");
}

TEST(what_processes_were_started_with_is_secret)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    denied_by(&read_tool, "/proc/self/environ", "policy:secret");
    denied_by(&read_tool, "/proc/1/environ", "policy:secret");
    denied_by(&read_tool, "/proc/1/task/1/mem", "policy:secret");
    auto_by(&read_tool, "/proc/meminfo", "mode:bypassPermissions/inspect");
    auto_by(&read_tool, "/proc/1/status", "mode:bypassPermissions/inspect");
}

/* --- lists --- */

TEST(where_commands_are_listed_each_one_of_a_line_must_be)
{
    static const struct str list[] = {S("git status"), S("make *"), S("env *"), S("a; b")};
    AUTO(yard) struct yard y;

    yard_init(&y);
    y.policy.lists_commands = true;
    y.policy.commands = list;
    y.policy.n_commands = ARRAY_LEN(list);
    auto_by(&bash, "git status", "mode:bypassPermissions/execute");
    auto_by(&bash, "make check && git status", "mode:bypassPermissions/execute");
    auto_by(&bash, "make $x", "mode:bypassPermissions/execute");
    auto_by(&bash, "env make check", "mode:bypassPermissions/execute");
    auto_by(&bash, "a; b", "mode:bypassPermissions/execute");
    denied_by(&bash, "a", "policy:commands");
    denied_by(&bash, "git status --short", "policy:commands");
    denied_by(&bash, "make check; rm -rf x", "policy:commands");
    denied_by(&bash, "make check $(rm x)", "policy:commands");
    denied_by(&bash, "env rm x", "policy:commands");
    denied_by(&bash, "$x check", "policy:commands");
    denied_by(&bash, "PATH=/tmp make check", "policy:commands");
    denied_by(&bash, "make() { rm x; }; make check", "policy:commands");
    denied_by(&bash, "make 'check", "policy:commands");
    denied_by(&bash, "", "policy:commands");
    y.policy.n_commands = 0;
    denied_by(&bash, "git status", "policy:commands");
}

TEST(where_hosts_are_listed_others_are_refused)
{
    static const struct str list[] = {S("example.com"), S("*.test.org")};
    AUTO(yard) struct yard y;

    yard_init(&y);
    y.policy.lists_domains = true;
    y.policy.domains = list;
    y.policy.n_domains = ARRAY_LEN(list);
    auto_by(&fetch, "https://example.com/x", "mode:bypassPermissions/network");
    auto_by(&fetch, "https://a.Example.com./", "mode:bypassPermissions/network");
    auto_by(&fetch, "https://a.test.org/", "mode:bypassPermissions/network");
    denied_by(&fetch, "https://test.org/", "policy:domains");
    denied_by(&fetch, "https://example.com.evil.org/", "policy:domains");
    denied_by(&fetch, "https://evil.org/example.com", "policy:domains");
    denied_by(&fetch, "https://example.com%2eevil.org/", "policy:domains");
    denied_by(&fetch, "no url", "policy:domains");
    denied_by(&fetch, NULL, "policy:domains");
    auto_by(&bash, "make", "mode:bypassPermissions/execute");
}

RUN_TESTS(UNIT(tools_that_change_files_stay_in_the_workspace),
          UNIT(a_refusal_says_what_to_do_instead_and_how_it_can_be_allowed),
          UNIT(an_added_directory_is_in_the_jail),
          UNIT(a_rule_that_names_a_place_outside_opens_it_for_writing),
          UNIT(what_a_command_redirects_to_stays_in_the_jail_as_far_as_it_can_be_told),
          UNIT(some_names_are_nobodys_to_write_wherever_they_stand),
          UNIT(what_is_ordinary_work_but_obeyed_later_asks_in_accept_edits),
          UNIT(an_allowed_command_does_not_write_unasked_what_others_obey),
          UNIT(in_a_home_some_more_names_are_obeyed),
          UNIT(a_workspace_in_a_directory_of_settings_does_not_open_the_others),
          UNIT(a_file_that_would_complete_a_git_directory_is_not_written),
          UNIT(what_git_obeys_in_a_git_directory_is_not_written_whatever_it_is_called),
          UNIT(what_gits_configuration_names_in_the_workspace_is_not_written),
          UNIT(a_working_tree_whose_git_directory_is_elsewhere_is_known),
          UNIT(hooks_for_all_repositories_are_not_written_where_none_is),
          UNIT(what_a_start_up_file_links_to_is_not_written_whatever_it_is_called),
          UNIT(a_repository_above_the_workspace_counts_too),
          UNIT(a_jail_may_itself_have_a_protected_name),
          UNIT(secret_places_are_neither_read_nor_written),
          UNIT(the_innermost_place_decides_what_is_secret),
          UNIT(what_processes_were_started_with_is_secret),
          UNIT(where_commands_are_listed_each_one_of_a_line_must_be),
          UNIT(where_hosts_are_listed_others_are_refused))
