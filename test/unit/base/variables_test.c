/* variables_test.c - which variables are credentials, addresses, proxies, and which are not. */
#include "test.h"

#include "base/variables.h"

static void are_(const char *const *entries, size_t n, enum variable_kind kind)
{
    static const char *const words[] = {"plain", "secret", "an address", "a proxy"};
    bool is_wrong = false;

    for (size_t i = 0; i < n; i++) {
        struct str entry = str_of(entries[i]);
        size_t equals = str_find_char(entry, '=');
        struct str name = str_slice(entry, 0, equals), value = str_skip(entry, equals + 1);
        enum variable_kind got = variable_kind(name, value);

        if (got != kind) {
            print_error("%s is %s, not %s\n", entries[i], words[got], words[kind]);
            is_wrong = true;
        }
    }
    assert_false(is_wrong);
}
#define are(kind, entries) are_(entries, ARRAY_LEN(entries), kind)

TEST(credentials_are_known_by_their_names)
{
    static const char *const entries[] = {
        "ANTHROPIC_API_KEY=x",
        "GEMINI_API_KEY=x",
        "LM_API_TOKEN=x",
        "GITHUB_TOKEN=x",
        "GH_TOKEN=x",
        "GHTOKEN=x",
        "npm_config__authToken=x",
        "npm_config_//registry.npmjs.org/:_authToken=x",
        "AWS_ACCESS_KEY_ID=x",
        "AWS_SECRET_ACCESS_KEY=x",
        "AWS_SESSION_TOKEN=x",
        "ACTIONS_ID_TOKEN_REQUEST_URL=x",
        "STRIPE_KEY=x",
        "SECRET_KEY_BASE=x",
        "CLIENT_SECRET=x",
        "clientsecret=x",
        "PGPASSWORD=x",
        "MYSQL_PWD=x",
        "LDAP_BIND_PW=x",
        "TOTP_SEED=x",
        "SSHPASS=x",
        "DB_PASS=x",
        "DB_PASSWORD_2=x",
        "REDIS_PASSWD=x",
        "GPG_PASSPHRASE=x",
        "GOOGLE_APPLICATION_CREDENTIALS=/home/me/key.json",
        "SESSION_COOKIE=x",
        "TOKEN=x",
        "PASSWORD=x",
        "OPENAIAPIKEY=x",
        "WALLET_MNEMONIC=abandon ability able about above absent",
        "SEED_PHRASE=abandon ability",
    };

    are(VARIABLE_SECRET, entries);
}

TEST(a_name_that_hints_needs_a_value_that_can_be_one)
{
    static const char *const secret[] = {
        "GITHUB_PAT=0123456789abcdef",
        "DEPLOY_KEY_B64=bm90IGEga2V5IGJ1dA",
        "ENCRYPTION_KEY_V2=9f8a7b6c5d4e3f2a",
        "NPM_AUTH=dXNlcjpwYXNzd29yZA",
        "NPM_CONFIG__AUTH=dXNlcjpwYXNzd29yZA",
        "DOCKER_AUTH_CONFIG={\"auths\":{}} x",
        "HEROKU_AUTH=user:pass",
        "CI_JOB_JWT=abc.def.1234",
        "JWT=abc.def.1234",
        "BEARER=abcdefgh1",
        "ANTHROPIC_CUSTOM_HEADERS=x-key: abcdef",
        "OTEL_EXPORTER_OTLP_HEADERS=x-key=abcdef",
        "SENTRY_DSN=https://sentry.example/1",
        "SLACK_WEBHOOK_URL=https://hooks.slack.com/services/T0/B0/x",
        "AZURE_STORAGE_CONNECTION_STRING=Endpoint=x;Id=y",
        "AOC_SESSION=53616c7465645f5f",
        "MY_SESSION_ID=53616c7465645f5f",
        "COOKIES=a=1; b=2",
    };
    static const char *const plain[] = {
        "KEY_REPEAT=30",
        "APT_KEY_DONT_WARN_ON_DANGEROUS_USAGE=1",
        "KERNEL_HEADERS=/usr/src/linux-headers",
        "AUTH_METHOD=passwordless",
        "NPM_CONFIG_AUTH_TYPE=legacy",
        "JWT_EXPIRES_IN=7d",
        "AUTH_ENABLED=true",
        "SSH_KEY_PATH=/home/me/.ssh/id_ed25519",
        "CACHE_KEY_PREFIX=node-modules",
        "AUTH_DIR=~/auth",
        "WEBHOOK_PORT=8080",
        "DESKTOP_SESSION=plasmawayland",
        "SESSION_MANAGER=local/host:@/tmp/.ICE-unix/1,unix/host:/tmp/.ICE-unix/1",
    };

    are(VARIABLE_SECRET, secret);
    are(VARIABLE_PLAIN, plain);
}

TEST(credentials_are_known_by_their_values)
{
    static const char *const entries[] = {
        "DATABASE_URL=postgres://user:hunter2@db.example/app",
        "REDIS_URL=redis://:hunter2@cache:6379/0",
        "MONGO=mongodb+srv://u:p%40ss@cluster.example/?retryWrites=true",
        "HTTPS_PROXY=http://user:PROXYPASS99@127.0.0.1:9",
        "http_proxy=http://u:p@proxy",
        "PIP_INDEX_URL=https://__token__:abc@pypi.example/simple",
        "X=before https://u:p@host/ after",
        "CLONE=https://x0123456789abcdef0123@github.com/a/b",
        "A=ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "A=github_pat_11ABCDEFG0123456789_abcdef",
        "A=gho_0123456789abcdefghij",
        "A=sk-ant-api03-0123456789abcdefghij",
        "A=sk-proj-0123456789abcdefghij",
        "A=xoxb-123456789012-abc",
        "A=AKIAIOSFODNN7EXAMPLE",
        "A=ASIAIOSFODNN7EXAMPLE",
        "A=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
        "A=glpat-0123456789abcdefghij",
        "A=npm_0123456789abcdefghijABCDEFGHIJ012345",
        "A=hf_0123456789abcdefghijABCD",
        "A=AIzaSyA0123456789abcdefghijABCDEFGHIJ01",
        "A=-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl",
        "A=LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVk",
        "CMD=deploy --with ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "LIST=a,glpat-0123456789abcdefghij",
        "JDBC=jdbc:postgresql://db/app?user=me&password=hunter2",
        "ADO=Server=db;User Id=me;Password=hunter2;",
        "STORAGE=DefaultEndpointsProtocol=https;AccountKey=abc==;EndpointSuffix=x",
        "MAVEN_OPTS=-Xmx1g -Dhttps.proxyPassword=hunter2",
        "H=Authorization: token abc",
        "H=Bearer abcdefgh",
        "NOTIFY=https://hooks.slack.com/services/T0000/B0000/XXXXXXXXXXXX",
        "NOTIFY=https://discord.com/api/webhooks/123456789/abcdefghijklmnop",
        "BLOB=https://a.blob.example/c?sv=2020&sig=abcdEFGH1234567890%2B",
        "OBJECT=https://b.s3.example/k?X-Amz-Signature=abcdef0123456789",
        "FLY=fo1_abcdefghijklmnopqrstuvwxyz",
        "H=basic dXNlcjpwYXNz",
        "SA_JSON={\"type\":\"service_account\",\"private_key\":\"x\"}",
        "DOCKER={\"auths\":{\"r.example\":{\"auth\":\"dTpw\"}}}",
        "GIT_CONFIG_VALUE_0=Authorization: Basic dXNlcjpwYXNz",

        /* passwords that should be escaped, addresses without a scheme */
        "DB=postgres://u:p/ss9word@host/db",
        "DB=mysql://u:p?w@h",
        "DB=mongodb://u:p#w@h",
        "DB=root:hunter22x@tcp(127.0.0.1:3306)/db",
        "DB=user:passw0rd@db.example:5432",
        "DB=//user:passw0rd@host/x",
        "DB=http:\\\\u:p4ss@h",
        "DB=jdbc:oracle:thin:scott/tiger99@//h:1521/x",
        "CURL_OPTS=-u me:hunter22@h",
        /* members in other spellings */
        "OPTS=--user root --password hunter22",
        "OPTS=host=db user=me pass=hunter22",
        "OPTS=password: hunter22",
        "OPTS=Password = hunter22",
        "OPTS=db_pwd=hunter22",
        "OPTS=?passphrase=hunter22",
        "OPTS=machine h login u password hunter22",
        "HOOK=https://f.example/api/x?code=abc123def456ghi789==",
        "H=x-api-key: abcdef123456",
        "H=Authorization=Bearer abcdefgh12345",
        "CMD=curl -H \"PRIVATE-TOKEN: abcdef1234567890abcd\" x",
        "J=[{\"token\":\"abcdef123456\"}]",
        "J= {\"password\":\"x1234567\"}",
        "J={\"token\":\"abc123456789\"",
        /* tokens that are known by their shape */
        "A=123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1",
        "A=MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs",
        "A=x.atlasv1.0123456789012345678901234567890123456789",
        "A=glptt-0123456789abcdefghij",
        "A=dapi0123456789abcdef0123456789abcdef",
        "A=dp.st.prd.0123456789abcdefghij",
        "A=ops_eyJzaWduSW5BZGRyZXNzIjoibXkuMXBhc3N3b3JkLmNvbSJ9",
        "A=xoxc-1234567890-abc",
    };

    are(VARIABLE_SECRET, entries);
}

TEST(what_builds_need_is_plain)
{
    static const char *const entries[] = {
        "PATH=/opt/sk-learn-experiments-2024x0/bin:/usr/bin",
        "HOME=/home/key",
        "PWD=/work/token",
        "SHELL=/bin/bash",
        "LANG=C.UTF-8",
        "LC_ALL=de_DE.UTF-8",
        "MAX_TOKENS=100",
        "KEYMAP=de",
        "KEYBOARD=x",
        "TOKENIZERS_PARALLELISM=false",
        "PASSAGE=x",
        "MONKEY=x",
        "COMPASS=x",
        "AUTHOR=Anna Key",
        "GIT_AUTHOR_NAME=Anna Key",
        "GIT_AUTHOR_EMAIL=anna@example.com",
        "GIT_COMMITTER_EMAIL=anna@example.com",
        "EMAIL=Anna <anna@example.com>",
        "LS_COLORS=rs=0:di=01;34:*.pwd=01;31",
        "AWS_PROFILE=dev",
        "AWS_REGION=eu-central-1",
        "PYTHON_PATH=/x",
        "PYTHONPATH=src:lib",
        "CFLAGS=-O2 -DNAME=value -I/usr/include",
        "LDFLAGS=-Wl,-rpath=/opt/lib",
        "RUSTFLAGS=-C target-cpu=native",
        "GOFLAGS=-mod=mod",
        "JAVA_HOME=/usr/lib/jvm/java-17",
        "NODE_OPTIONS=--max-old-space-size=4096",
        "npm_config_user_agent=npm/9.2.0 node/v18 linux x64 workspaces/false",
        "npm_config_cache=/root/.npm",
        "npm_config_registry=https://registry.npmjs.org/",
        "npm_lifecycle_event=test",
        "CARGO_HOME=/root/.cargo",
        "VIRTUAL_ENV=/work/.venv",
        "CONDA_DEFAULT_ENV=sk-learn",
        "CI=true",
        "GITHUB_REPOSITORY=a/b",
        "GITHUB_SHA=0123456789abcdef0123456789abcdef01234567",
        "DATABASE_URL=sqlite:///work/dev.db",
        "DATABASE_URL=postgres://localhost/dev",
        "GIT_SSH_COMMAND=ssh -i /home/me/.ssh/id_rsa",
        "REMOTE=ssh://git@github.com/a/b",
        "ORIGIN=git@github.com:a/b.git",
        "GIT_CONFIG_COUNT=1",
        "GIT_CONFIG_KEY_0=user.name",
        "GIT_CONFIG_VALUE_0=Anna",
        "XDG_SESSION_ID=3",
        "XDG_SESSION_TYPE=wayland",
        "TERM_SESSION_ID=w0t0p0:3C2A9F0B-1111",
        "COLORTERM=truecolor",
        "EDITOR=vim",
        "TZ=Europe/Berlin",
        "SOURCE_DATE_EPOCH=1700000000",
        "JSON={\"a\":1}",
        "HTML=<a href='https://example.com/?q=a@b'>",
        "MIRROR=https://registry.example:8080/@scope/x",
        "MIRROR=http://[::1]:80/@x",
        "ALIAS=npm:left-pad@1.3.0",
        "IMAGE=registry.example/app:v1@sha256:0123456789abcdef",
        "INFOPATH=/opt/brew/bin:/opt/brew/opt/python@3.11/bin",
        "LIST=a:b:c@d",
        "MAIL=mailto:anna@example.com",
        "PROMPT=Enter password: ",
        "HELP=the token counts",
        "BYPASS=bypass=1",
        "PAGE=https://example.com/?key=a&code=b",
        "VERSION=12345678:1.2.3",
        "DOMAIN=MyOwnVeryLongHostNameOfTen.example.com",
        "=",
        "_=/usr/bin/env",
    };

    are(VARIABLE_PLAIN, entries);
}

TEST(addresses_and_proxies_are_told_apart)
{
    static const char *const addresses[] = {
        "SSH_AUTH_SOCK=/tmp/ssh-x/agent.1",
        "SSH_ASKPASS=/usr/bin/x",
        "TMUX=/tmp/tmux-0/d,1,0",
        "STY=1.pts",
        "XAUTHORITY=/home/me/.Xauthority",
        "KUBECONFIG=/home/me/.kube/config",
        "DISPLAY=:0",
        "DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/0/bus",
        "DOCKER_HOST=unix:///run/docker.sock",
        "VSCODE_IPC_HOOK_CLI=/run/x.sock",
    };
    static const char *const proxies[] = {"HTTPS_PROXY=http://proxy:3128",
                                          "http_proxy=http://proxy:3128", "no_proxy=localhost",
                                          "npm_config_https_proxy=http://proxy:3128"};

    are(VARIABLE_ADDRESS, addresses);
    are(VARIABLE_PROXY, proxies);
}

RUN_TESTS(UNIT(credentials_are_known_by_their_names),
          UNIT(a_name_that_hints_needs_a_value_that_can_be_one),
          UNIT(credentials_are_known_by_their_values), UNIT(what_builds_need_is_plain),
          UNIT(addresses_and_proxies_are_told_apart))
