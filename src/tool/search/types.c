/* types.c - the table of file types, named as in ripgrep. */
#include "tool/search/types.h"

#include "base/glob.h"
#include "tool/search/engine.h"

struct type {
    const char *name;
    const char *globs; /* separated by spaces */
};

/* In alphabetical order, which error texts keep. */
static const struct type types[] = {
    {"asciidoc", "*.adoc *.asc *.asciidoc"},
    {"asm", "*.asm *.s *.S"},
    {"awk", "*.awk"},
    {"bazel", "*.bazel *.bazelrc *.BUILD *.bzl BUILD MODULE.bazel WORKSPACE WORKSPACE.bazel"},
    {"c", "*.[chH] *.[chH].in *.cats"},
    {"clojure", "*.clj *.cljc *.cljs *.cljx"},
    {"cmake", "*.cmake CMakeLists.txt"},
    {"coffeescript", "*.coffee"},
    {"config", "*.cfg *.conf *.config *.ini"},
    {"cpp", "*.[ChH] *.cc *.cpp *.cxx *.c++ *.hh *.hpp *.hxx *.inl *.[ChH].in *.cc.in *.cpp.in "
            "*.hh.in *.hpp.in"},
    {"crystal", "*.cr *.ecr Projectfile shard.yml"},
    {"cs", "*.cs"},
    {"csharp", "*.cs"},
    {"cshtml", "*.cshtml"},
    {"css", "*.css *.scss"},
    {"csv", "*.csv"},
    {"cuda", "*.cu *.cuh"},
    {"cython", "*.pyx *.pxd *.pxi"},
    {"d", "*.d"},
    {"dart", "*.dart"},
    {"diff", "*.diff *.patch"},
    {"docker", "*Dockerfile*"},
    {"elixir", "*.eex *.ex *.exs *.heex *.leex *.livemd"},
    {"elm", "*.elm"},
    {"erb", "*.erb"},
    {"erlang", "*.erl *.hrl"},
    {"fish", "*.fish"},
    {"fortran", "*.f *.F *.f77 *.F77 *.f90 *.F90 *.f95 *.F95 *.pfo"},
    {"fsharp", "*.fs *.fsi *.fsx"},
    {"go", "*.go"},
    {"gradle", "*.gradle *.gradle.kts gradle-wrapper.* gradle.properties gradlew*"},
    {"graphql", "*.graphql *.graphqls"},
    {"groovy", "*.gradle *.groovy"},
    {"h", "*.h *.hh *.hpp"},
    {"haml", "*.haml"},
    {"haskell", "*.c2hs *.cpphs *.hs *.hsc *.lhs"},
    {"hs", "*.hs *.lhs"},
    {"html", "*.ejs *.htm *.html"},
    {"java", "*.java *.jsp *.jspx *.properties"},
    {"jinja", "*.j2 *.jinja *.jinja2"},
    {"jl", "*.jl"},
    {"js", "*.cjs *.js *.jsx *.mjs *.vue"},
    {"json", "*.json *.sarif composer.lock"},
    {"jsonl", "*.jsonl"},
    {"julia", "*.jl"},
    {"jupyter", "*.ipynb *.jpynb"},
    {"kotlin", "*.kt *.kts"},
    {"less", "*.less"},
    {"lisp", "*.el *.jl *.lisp *.lsp *.sc *.scm"},
    {"log", "*.log"},
    {"lua", "*.lua"},
    {"make", "[Gg][Nn][Uu]makefile [Mm]akefile [Gg][Nn][Uu]makefile.am [Mm]akefile.am "
             "[Gg][Nn][Uu]makefile.in [Mm]akefile.in *.mak *.mk"},
    {"man", "*.[0-9lnpx] *.[0-9][cEFMmpSx]"},
    {"markdown", "*.markdown *.md *.mdown *.mdwn *.mdx *.mkd *.mkdn"},
    {"matlab", "*.m"},
    {"md", "*.markdown *.md *.mdown *.mdwn *.mdx *.mkd *.mkdn"},
    {"meson", "meson.build meson_options.txt"},
    {"nim", "*.nim *.nimble *.nimf *.nims"},
    {"nix", "*.nix"},
    {"objc", "*.h *.m"},
    {"objcpp", "*.h *.mm"},
    {"ocaml", "*.ml *.mli *.mll *.mly"},
    {"org", "*.org *.org_archive"},
    {"perl", "*.PL *.perl *.pl *.plh *.plx *.pm *.t"},
    {"php", "*.php *.php3 *.php4 *.php5 *.php7 *.php8 *.pht *.phtml"},
    {"protobuf", "*.proto"},
    {"ps", "*.cdxml *.ps1 *.ps1xml *.psd1 *.psm1"},
    {"purs", "*.purs"},
    {"py", "*.py *.pyi"},
    {"python", "*.py *.pyi"},
    {"qml", "*.qml"},
    {"r", "*.R *.Rmd *.Rnw *.r"},
    {"rst", "*.rst"},
    {"ruby", "*.gemspec *.rb *.rbw .irbrc Gemfile Rakefile config.ru"},
    {"rust", "*.rs"},
    {"sass", "*.sass *.scss"},
    {"scala", "*.sbt *.scala"},
    {"sh", "*.bash *.bashrc *.csh *.cshrc *.ksh *.kshrc *.sh *.tcsh *.zsh .bash_login .bash_logout "
           ".bash_profile .bashrc .cshrc .kshrc .login .logout .profile .tcshrc .zlogin .zlogout "
           ".zprofile .zshenv .zshrc bash_login bash_logout bash_profile bashrc profile zlogin "
           "zlogout zprofile zshenv zshrc"},
    {"sql", "*.psql *.sql"},
    {"svelte", "*.svelte"},
    {"svg", "*.svg"},
    {"swift", "*.swift"},
    {"systemd", "*.automount *.conf *.device *.link *.mount *.path *.scope *.service *.slice "
                "*.socket *.swap *.target *.timer"},
    {"tcl", "*.tcl"},
    {"tex", "*.bib *.cls *.dtx *.ins *.ltx *.sty *.tex"},
    {"tf", "*.tf *.tf.json *.tfvars *.tfvars.json *.tfrc *.terraformrc terraform.rc"},
    {"toml", "*.toml Cargo.lock"},
    {"ts", "*.cts *.mts *.ts *.tsx"},
    {"txt", "*.txt"},
    {"typescript", "*.cts *.mts *.ts *.tsx"},
    {"vala", "*.vala"},
    {"verilog", "*.sv *.svh *.v *.vh"},
    {"vhdl", "*.vhd *.vhdl"},
    {"vim", "*.vim .gvimrc .vimrc _gvimrc _vimrc gvimrc vimrc"},
    {"vue", "*.vue"},
    {"xml", "*.dtd *.rng *.sch *.xhtml *.xjb *.xml *.xml.dist *.xsd *.xsl *.xslt"},
    {"yaml", "*.yaml *.yml"},
    {"zig", "*.zig"},
    {"zsh", "*.zsh .zlogin .zlogout .zprofile .zshenv .zshrc zlogin zlogout zprofile zshenv zshrc"},
};

struct grep_types {
    size_t n_globs;
    struct glob *globs[];
};

void grep_type_names(struct strbuf *out)
{
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        strbuf_addf(out, "%s%s", i ? ", " : "", types[i].name);
}

static struct grep_types *compile_type(const struct type *type)
{
    struct str rest = str_of(type->globs), part;
    struct grep_types *t;
    size_t n = 1;

    for (const char *p = type->globs; *p; p++)
        n += *p == ' ';
    t = mem_alloc(sizeof *t + n * sizeof t->globs[0]);
    while (str_split(&rest, ' ', &part)) {
        struct err *e = glob_compile(part, 0, &t->globs[t->n_globs]);

        BUG_IF(e); /* all patterns of the table are valid */
        t->n_globs++;
    }
    return t;
}

struct err *grep_types_find(struct str name, struct grep_types **ret_types)
{
    AUTO(strbuf) struct strbuf names = {0};

    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (str_is(name, types[i].name)) {
            *ret_types = compile_type(&types[i]);
            return NULL;
        }
    grep_type_names(&names);
    return err_hint(err_new(ERR_VALIDATION, "there is no file type \"%" STR_FMT "\"",
                            STR_ARG(str_slice(name, 0, 100))),
                    "the types are: %s", strbuf_cstr(&names));
}

void grep_types_free(struct grep_types *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->n_globs; i++)
        glob_free(t->globs[i]);
    mem_free(t);
}

bool grep_types_match(const struct grep_types *t, const char *name)
{
    if (!t)
        return true;
    for (size_t i = 0; i < t->n_globs; i++)
        if (glob_matches(t->globs[i], str_of(name)))
            return true;
    return false;
}
