/* protected_places.c - the table of names that programs obey. */
#include "base/protected_places.h"

#define REFUSED PLACE_REFUSED
#define BOTH (PLACE_REFUSED | PLACE_KEPT)
#define ASKED PLACE_ASKED
#define OTHER (PLACE_KEPT | PLACE_OF_REPOSITORY)
#define HOME (PLACE_REFUSED | PLACE_KEPT | PLACE_OF_HOME)

const struct protected_place protected_places[] = {
    /* agents: settings, hooks, servers, skills */
    {".agents", BOTH, "agents"},
    {".aider.conf.yml", BOTH, "aider, which runs the commands in it"},
    {".amazonq", BOTH, "Amazon Q"},
    {".amp", BOTH, "Amp"},
    {".augment", BOTH, "Augment"},
    {".claude", BOTH, "Claude Code"},
    {".cline", BOTH, "Cline"},
    {".codex", BOTH, "Codex"},
    {".codebuddy", BOTH, "CodeBuddy"},
    {".continue", BOTH, "Continue"},
    {".copilot", BOTH, "Copilot CLI"},
    {".crush", BOTH, "Crush"},
    {".crush.json", BOTH, "Crush, which starts the servers in it"},
    {".cursor", BOTH, "Cursor"},
    {".factory", BOTH, "Factory"},
    {".gemini", BOTH, "Gemini CLI"},
    {".github/hooks", BOTH, "Copilot, which runs the commands in it"},
    {".goose", BOTH, "Goose"},
    {".grok", BOTH, "Grok CLI"},
    {".iflow", BOTH, "iFlow"},
    {".junie", BOTH, "Junie"},
    {".keel", BOTH, "keel"},
    {".kilocode", BOTH, "Kilo Code"},
    {".kimi", BOTH, "Kimi CLI"},
    {".kiro", BOTH, "Kiro"},
    {".letta", BOTH, "Letta"},
    {".lingma", BOTH, "Lingma"},
    {".mcp.json", BOTH, "agents, which start the servers in it"},
    {".opencode", BOTH, "opencode"},
    {".openhands", BOTH, "OpenHands, which runs the scripts in it"},
    {".pi", BOTH, "pi, which runs the extensions in it"},
    {".qoder", BOTH, "Qoder"},
    {".qwen", BOTH, "Qwen Code"},
    {".robota", BOTH, "keel"},
    {".roo", BOTH, "Roo Code"},
    {".rovodev", BOTH, "Rovo Dev"},
    {".trae", BOTH, "Trae"},
    {".vibe", BOTH, "Mistral Vibe"},
    {".windsurf", BOTH, "Windsurf"},
    {".zed", BOTH, "Zed"},
    {"gptme.toml", BOTH, "gptme, which runs the commands in it"},
    {"crush.json", BOTH, "Crush, which starts the servers in it"},
    {"opencode.json", BOTH, "opencode, which starts the servers in it"},
    {"opencode.jsonc", BOTH, "opencode, which starts the servers in it"},
    {".clinerules", ASKED, "Cline"},
    {".cursorrules", ASKED, "Cursor"},
    {".github/copilot-instructions.md", ASKED, "Copilot"},
    {".windsurfrules", ASKED, "Windsurf"},
    {"AGENTS.md", ASKED, "agents"},
    {"CLAUDE.local.md", ASKED, "Claude Code"},
    {"CLAUDE.md", ASKED, "Claude Code"},
    {"GEMINI.md", ASKED, "Gemini CLI"},

    /* version control: hooks, drivers, where else things are */
    {".git", REFUSED, "git"}, /* the sandbox looks into it: sandbox/guard/places.c */
    {".gitconfig", BOTH, "git"},
    {".gitmodules", REFUSED | PLACE_REPORTED, "git"},
    {".hg", REFUSED, "Mercurial"},
    {".hg/hgrc", OTHER, "Mercurial"},
    {".hg/hgrc-not-shared", OTHER, "Mercurial"},
    {".hg/sharedpath", OTHER, "Mercurial, which obeys the repository there"},
    {".hgrc", BOTH, "Mercurial"},
    {".jj", REFUSED, "Jujutsu"},
    {".jj/repo/config.toml", OTHER, "Jujutsu"},
    {".jj/workspace-config.toml", OTHER, "Jujutsu"},
    {".svn", REFUSED, "Subversion"},
    {".sl", REFUSED, "Sapling"},
    {".sl/config", OTHER, "Sapling"},
    {".sl/sharedpath", OTHER, "Sapling, which obeys the repository there"},
    {".bzr", REFUSED, "Breezy"},
    {".bzr/branch/branch.conf", OTHER, "Breezy, which runs the commands in it"},
    {".bzr/branch/location", OTHER, "Breezy, which obeys the branch there"},
    {".pijul", REFUSED, "Pijul"},
    {".pijul/config", OTHER, "Pijul, which runs the hooks in it"},
    {"_darcs", REFUSED, "Darcs"},
    {"_darcs/prefs/defaults", OTHER, "Darcs, which runs the hooks in it"},
    {"_darcs/prefs/prefs", OTHER, "Darcs, which runs the test in it"},
    {"_MTN", REFUSED, "monotone"},
    {"_MTN/monotonerc", OTHER, "monotone, which runs the program in it"},
    {".repo/repo", OTHER, "repo, which is the program there"},
    {".p4config", BOTH, "Perforce, which starts the editor in it"},
    {".config/git", BOTH, "git"},
    {".config/hg", BOTH, "Mercurial"},
    {".config/jj", BOTH, "Jujutsu"},
    {".gitattributes", ASKED, "git, which runs the filters that it names"},
    {".husky", ASKED, "husky, as hooks of git"},
    {".lefthook.yml", ASKED, "lefthook, as hooks of git"},
    {"lefthook.yml", ASKED, "lefthook, as hooks of git"},
    {".pre-commit-config.yaml", ASKED, "pre-commit, as hooks of git"},

    /* editors: tasks and settings that run programs */
    {".devcontainer", BOTH, "editors, which build and start it"},
    {".devcontainer.json", BOTH, "editors, which build and start it"},
    {".exrc", BOTH, "Vim"},
    {".gvimrc", BOTH, "Vim"},
    {".helix", BOTH, "Helix"},
    {".idea", BOTH, "editors of JetBrains"},
    {".nvim.lua", BOTH, "Neovim"},
    {".nvimrc", BOTH, "Neovim"},
    {".vimrc", BOTH, "Vim"},
    {".vscode", BOTH, "VS Code"},
    {".config/nvim", BOTH, "Neovim"},
    {".theia", BOTH, "Theia"},
    {".vim", BOTH, "Vim"},
    {".emacs", BOTH, "Emacs"},
    {".emacs.d", BOTH, "Emacs"},
    {".dir-locals.el", BOTH, "Emacs"},
    {".dir-locals-2.el", BOTH, "Emacs"},
    {".fleet", BOTH, "Fleet"},

    /* shells, and programs that run because of a file in the directory */
    {".bash_aliases", BOTH, "bash"},
    {".bash_login", BOTH, "bash"},
    {".bash_logout", BOTH, "bash"},
    {".bash_profile", BOTH, "bash"},
    {".bashrc", BOTH, "bash"},
    {".config/direnv", BOTH, "direnv"},
    {".config/fish", BOTH, "fish"},
    {".config/nushell", BOTH, "Nushell"},
    {".config/powershell", BOTH, "PowerShell"},
    {".config/zsh", BOTH, "zsh"},
    {".cshrc", BOTH, "csh"},
    {".envrc", BOTH, "direnv"},
    {".inputrc", BOTH, "readline"},
    {".kshrc", BOTH, "ksh"},
    {".login", BOTH, "csh"},
    {".logout", BOTH, "csh"},
    {".profile", BOTH, "shells"},
    {".tcshrc", BOTH, "tcsh"},
    {".zlogin", BOTH, "zsh"},
    {".zlogout", BOTH, "zsh"},
    {".zprofile", BOTH, "zsh"},
    {".zshenv", BOTH, "zsh"},
    {".zshrc", BOTH, "zsh"},

    /* programs that read a file of commands at their start */
    {".Rprofile", BOTH, "R"},
    {".ghci", BOTH, "GHCi"},
    {".iex.exs", BOTH, "Elixir's shell"},
    {".gdbinit", BOTH, "gdb"},
    {".irbrc", BOTH, "irb"},
    {".lldbinit", BOTH, "lldb"},
    {".lessfilter", BOTH, "less"},
    {".ocamlinit", BOTH, "OCaml"},
    {".octaverc", BOTH, "Octave"},
    {".pdbrc", BOTH, "Python's debugger"},
    {".psqlrc", BOTH, "psql"},
    {".pryrc", BOTH, "pry"},
    {".screenrc", BOTH, "screen"},
    {".sqliterc", BOTH, "sqlite3"},
    {".tmux.conf", BOTH, "tmux"},
    {".config/tmux", BOTH, "tmux"},

    /* desktops and sessions */
    {".config/autostart", BOTH, "desktops"},
    {".config/environment.d", BOTH, "systemd"},
    {".config/plasma-workspace", BOTH, "KDE"},
    {".config/systemd", BOTH, "systemd"},
    {".local/share/applications", BOTH, "desktops"},
    {".local/share/systemd", BOTH, "systemd"},
    {".pam_environment", BOTH, "logins"},
    {".xinitrc", BOTH, "X sessions"},
    {".xprofile", BOTH, "X sessions"},
    {".xsession", BOTH, "X sessions"},
    {".xsessionrc", BOTH, "X sessions"},
    {".local/bin", HOME, "shells, which look for programs there"},
    {"bin", HOME, "shells, which look for programs there"},

    /* builds and continuous integration */
    {".bazelrc", ASKED, "Bazel"},
    {".bundle/config", ASKED, "Bundler"},
    {".cargo/config", ASKED, "cargo"},
    {".cargo/config.toml", ASKED, "cargo"},
    {".circleci", ASKED, "CircleCI"},
    {".github/actions", ASKED, "GitHub"},
    {".github/workflows", ASKED, "GitHub"},
    {".gitlab-ci.yml", ASKED, "GitLab"},
    {".config/mise", ASKED, "mise"},
    {".config/mise.toml", ASKED, "mise"},
    {".mise", ASKED, "mise"},
    {".mvn", ASKED, "Maven"},
    {".mise.toml", ASKED, "mise"},
    {"mise.toml", ASKED, "mise"},
    {".npmrc", ASKED, "npm"},
    {".pnpmfile.cjs", ASKED, "pnpm"},
    {".travis.yml", ASKED, "Travis CI"},
    {".woodpecker", ASKED, "Woodpecker"},
    {".yarn/plugins", ASKED, "Yarn"},
    {".yarn/releases", ASKED, "Yarn, which is the program there"},
    {".yarnrc", ASKED, "Yarn"},
    {".yarnrc.yml", ASKED, "Yarn"},

    /* keys and passwords, by the names that they have everywhere */
    {".ssh", REFUSED, "ssh, and those who log in"},
    {".gnupg", REFUSED, "GnuPG"},
    {".env", REFUSED, "programs that take passwords from it"},
    {".git-credentials", REFUSED, "git"},
    {".netrc", REFUSED, "curl, git and others"},
    {".pgpass", REFUSED, "PostgreSQL"},
    {".pypirc", REFUSED, "PyPI"},
    {".vault-token", REFUSED, "Vault"},
    {"credentials.json", REFUSED, "programs that take keys from it"},
    {"id_dsa", REFUSED, "ssh"},
    {"id_ecdsa", REFUSED, "ssh"},
    {"id_ecdsa_sk", REFUSED, "ssh"},
    {"id_ed25519", REFUSED, "ssh"},
    {"id_ed25519_sk", REFUSED, "ssh"},
    {"id_rsa", REFUSED, "ssh"},
    {0},
};

/* --- names by their form --- */

static bool ends_nocase(struct str name, const char *ending)
{
    size_t n = strlen(ending);

    return name.n > n && str_eq_nocase(str_skip(name, name.n - n), str_of(ending));
}

static bool has_ending(struct str name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (ends_nocase(name, list[i]))
            return true;
    return false;
}

/* .env.local and the like, except for those without values. */
static bool is_dotenv(struct str name)
{
    static const char *const samples[] = {".example", ".sample", ".template", ".dist"};

    return name.n > 5 && str_eq_nocase(str_slice(name, 0, 5), S(".env.")) &&
           !has_ending(name, samples, ARRAY_LEN(samples));
}

static bool is_key_file(struct str name)
{
    static const char *const endings[] = {".pem", ".key", ".p12", ".pfx", ".jks", ".keystore"};

    return has_ending(name, endings, ARRAY_LEN(endings));
}

static const struct protected_place *find_by_form(struct str name)
{
    static const struct protected_place dotenv = {".env.*", REFUSED,
                                                  "programs that take passwords from it"},
                                        key = {"*.pem, *.key", REFUSED,
                                               "programs that take keys from it"};

    return is_dotenv(name) ? &dotenv : is_key_file(name) ? &key : NULL;
}

/* --- paths --- */

/* Do the names of the path begin with those of the row? */
static bool begins_with(struct str path, const char *row)
{
    size_t n = strlen(row);

    return path.n >= n && str_eq_nocase(str_slice(path, 0, n), str_make(row, n)) &&
           (path.n == n || path.p[n] == '/');
}

static const struct protected_place *stricter(const struct protected_place *a,
                                              const struct protected_place *b)
{
    return !a || (b && (b->how & PLACE_REFUSED) && !(a->how & PLACE_REFUSED)) ? b : a;
}

static const struct protected_place *find_at(struct str path, bool is_home)
{
    const struct protected_place *found = NULL;

    for (const struct protected_place *p = protected_places; p->path; p++)
        if ((p->how & (PLACE_REFUSED | PLACE_ASKED)) && (is_home || !(p->how & PLACE_OF_HOME)) &&
            begins_with(path, p->path))
            found = stricter(found, p);
    return found;
}

/* Cuts the directory off the path; "" is the root. False: the path is not below it. */
static bool cut_directory(struct str *path, const char *directory)
{
    size_t n = strcmp(directory, "/") == 0 ? 0 : strlen(directory);

    if (path->n <= n || memcmp(path->p, directory, n) != 0 || path->p[n] != '/')
        return false;
    *path = str_skip(*path, n + 1);
    return true;
}

/* What the path is in the home, unless the root is in the same place of it. */
static const struct protected_place *find_in_home(struct str path, const char *root,
                                                  const char *home)
{
    struct str below = str_of(root);
    const struct protected_place *p;

    if (!home || !cut_directory(&path, home))
        return NULL;
    p = find_at(path, /* is_home= */ true);
    return p && cut_directory(&below, home) && begins_with(below, p->path) ? NULL : p;
}

const struct protected_place *protected_place_find(const char *path, const char *root,
                                                   const char *home)
{
    struct str rest = str_of(path), name;
    const struct protected_place *found = find_in_home(rest, root, home);

    if (!cut_directory(&rest, root))
        return found;
    for (struct str from = rest; str_split(&rest, '/', &name); from = rest) {
        found = stricter(found, find_at(from, /* is_home= */ false));
        found = stricter(found, find_by_form(name));
    }
    return found;
}
