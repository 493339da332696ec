/* tls_test.c - https, with a certificate authority made for the test. */
#include "test.h"

#include "net/curl.h"
#include "sys/loop.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

/* openssl s_server behind a certificate for 127.0.0.1, signed by our own authority. */
struct tls_server {
    char dir[64];
    pid_t pid;
    FILE *output;
    int port;
};

extern char **environ;

static bool has_openssl(void)
{
    return system("openssl version > /dev/null 2>&1") == 0;
}

static void run(const char *dir, const char *command)
{
    AUTO_FREE char *line = NULL;

    assert_true(asprintf(&line, "cd %s && %s > log 2>&1", dir, command) > 0);
    if (system(line) != 0)
        fail_msg("failed: %s", command);
}

static void make_certificates(const char *dir)
{
    run(dir, "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 "
             "-subj '/CN=keel test authority' -keyout ca.key -out ca.pem");
    run(dir, "openssl req -x509 -CA ca.pem -CAkey ca.key -newkey ec "
             "-pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=server "
             "-addext subjectAltName=IP:127.0.0.1 -addext basicConstraints=critical,CA:FALSE "
             "-keyout server.key -out server.pem");
    run(dir, "mkdir hashed && cp ca.pem hashed/ && openssl rehash hashed");
}

/* It says "ACCEPT 127.0.0.1:PORT" once it listens. */
static int read_port(FILE *output)
{
    char line[256];
    int port = 0;

    while (!port && fgets(line, sizeof line, output))
        sscanf(line, "ACCEPT 127.0.0.1:%d", &port);
    return port;
}

static void tls_server_start(struct tls_server *s)
{
    /* `timeout`, so that a test that fails leaves no server behind */
    static const char *const argv[] = {"timeout", "60",          "openssl", "s_server",
                                       "-accept", "127.0.0.1:0", "-cert",   "server.pem",
                                       "-key",    "server.key",  "-www",    NULL};
    posix_spawn_file_actions_t actions;
    int ends[2];

    snprintf(s->dir, sizeof s->dir, "/tmp/keel-tls-test-XXXXXX");
    assert_non_null(mkdtemp(s->dir));
    make_certificates(s->dir);
    assert_int_equal(pipe(ends), 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, s->dir);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    assert_int_equal(posix_spawnp(&s->pid, argv[0], &actions, NULL, (char *const *)argv, environ),
                     0);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    s->output = fdopen(ends[0], "r");
    s->port = read_port(s->output);
    assert_int_not_equal(s->port, 0);
}

static void tls_server_stop(struct tls_server *s)
{
    char command[128];

    if (!s->pid)
        return;
    kill(s->pid, SIGTERM);
    waitpid(s->pid, NULL, 0);
    fclose(s->output);
    snprintf(command, sizeof command, "rm -r %s", s->dir);
    assert_int_equal(system(command), 0);
}
DEFINE_AUTO_VAL(tls_server, tls_server_stop)

struct visit {
    const char *environment[2];
    const char *host;
    int port;
    int status;
};

static struct err *visit(void *arg)
{
    struct visit *v = arg;
    const struct curl_options options = {.environment = v->environment};
    AUTO(http_client) struct http_client *client = NULL;
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf body = {0};
    struct http_request request = {.url = arena_format(&a, "https://%s:%d/", v->host, v->port)};
    struct http_response response;

    TRY(curl_client_new(&options, &client));
    TRY(http_fetch(client, &request, &a, &response, &body));
    v->status = response.status;
    return NULL;
}

static struct err *visit_trusting(const struct tls_server *s, const char *host,
                                  const char *variable, const char *file)
{
    char value[128];
    struct visit v = {.host = host, .port = s->port};
    struct err *e;

    snprintf(value, sizeof value, "%s=%s/%s", variable, s->dir, file);
    v.environment[0] = value;
    e = loop_run_once(visit, &v);
    if (!e)
        assert_int_equal(v.status, 200);
    return e;
}

TEST(an_authority_of_ones_own_is_trusted_when_the_environment_names_it)
{
    AUTO(tls_server) struct tls_server s = {0};

    if (!has_openssl())
        skip();
    tls_server_start(&s);
    assert_ok(visit_trusting(&s, "127.0.0.1", "SSL_CERT_FILE", "ca.pem"));
    assert_ok(visit_trusting(&s, "127.0.0.1", "SSL_CERT_DIR", "hashed"));
}

TEST(what_is_wrong_with_a_certificate_is_said)
{
    AUTO(tls_server) struct tls_server s = {0};
    AUTO(err) struct err *unknown = NULL, *other_host = NULL, *missing = NULL;

    if (!has_openssl())
        skip();
    tls_server_start(&s);
    unknown = visit_trusting(&s, "127.0.0.1", "KEEL_TEST", "nothing");
    assert_true(err_is(unknown, ERR_NETWORK));
    assert_non_null(strstr(unknown->text, "unknown authority"));
    assert_non_null(strstr(unknown->hint, "SSL_CERT_FILE"));
    other_host = visit_trusting(&s, "localhost", "SSL_CERT_FILE", "ca.pem");
    assert_true(err_is(other_host, ERR_NETWORK));
    assert_non_null(strstr(other_host->text, "localhost"));
    missing = visit_trusting(&s, "127.0.0.1", "SSL_CERT_FILE", "missing.pem");
    assert_true(err_is(missing, ERR_CONFIGURATION));
    assert_non_null(strstr(missing->text, "missing.pem"));
}

RUN_TESTS(UNIT(an_authority_of_ones_own_is_trusted_when_the_environment_names_it),
          UNIT(what_is_wrong_with_a_certificate_is_said))
