/* tls_test.c - https, with a certificate authority made for the test. */
#include "test.h"

#include "net/http1.h"
#include "net/server.h"
#include "sys/loop.h"

#include <netinet/in.h>
#include <poll.h>
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

static void need_openssl(void)
{
    if (system("openssl version > /dev/null 2>&1") != 0) {
        print_message("[ SKIPPED because openssl cannot be run ]\n");
        skip();
    }
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
    int n_times; /* one after the other, by one client; 0: once */
    int status;
    struct strbuf *body; /* of the last; or NULL */
};

static struct err *visit(void *arg)
{
    struct visit *v = arg;
    const struct http1_options options = {.ca.environment = v->environment};
    AUTO(http_client) struct http_client *client = NULL;
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf body = {0};
    struct http_request request = {.url = arena_format(&a, "https://%s:%d/", v->host, v->port)};
    struct http_response response;

    client = http1_client_new(&options);
    for (int i = 0; i < MAX(v->n_times, 1); i++) {
        strbuf_clear(&body);
        TRY(http_fetch(client, &request, &a, &response, &body));
        v->status = response.status;
    }
    if (v->body)
        strbuf_add(v->body, strbuf_str(&body));
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

    need_openssl();
    tls_server_start(&s);
    assert_ok(visit_trusting(&s, "127.0.0.1", "SSL_CERT_FILE", "ca.pem"));
    assert_ok(visit_trusting(&s, "127.0.0.1", "SSL_CERT_DIR", "hashed"));
}

TEST(what_is_wrong_with_a_certificate_is_said)
{
    AUTO(tls_server) struct tls_server s = {0};
    AUTO(err) struct err *unknown = NULL, *other_host = NULL, *missing = NULL;

    need_openssl();
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

TEST(a_certificate_for_a_name_is_no_certificate_for_another)
{
    AUTO(tls_server) struct tls_server s = {0};
    AUTO(err) struct err *e = NULL;

    need_openssl();
    tls_server_start(&s);
    e = visit_trusting(&s, "localhost", "SSL_CERT_FILE", "ca.pem");
    assert_true(err_is(e, ERR_NETWORK) && e->is_final);
    assert_non_null(strstr(e->text, "not valid for this host name"));
}

TEST(the_next_connection_resumes_the_session)
{
    AUTO(tls_server) struct tls_server s = {0};
    AUTO(strbuf) struct strbuf body = {0};
    char value[128];
    struct visit v = {.host = "127.0.0.1", .n_times = 2, .body = &body};

    need_openssl();
    tls_server_start(&s);
    v.port = s.port;
    snprintf(value, sizeof value, "SSL_CERT_FILE=%s/ca.pem", s.dir);
    v.environment[0] = value;
    assert_ok(loop_run_once(visit, &v));
    assert_non_null(strstr(strbuf_cstr(&body), "Reused, TLS"));
}

/* --- a connection that is cut --- */

enum { RECORD_HEAD_BYTES = 5, ALERT_BYTES = 2 + 1 + 16, APPLICATION_DATA = 23 };

/* Passes records on, but for the alert of TLS 1.3 that says that this is the end. False: all is
 * done. */
static bool pass_records(struct server_connection *c, struct strbuf *input)
{
    for (;;) {
        const unsigned char *p = (const unsigned char *)input->p;
        size_t n = input->n < RECORD_HEAD_BYTES ? 0 : (size_t)p[3] << 8 | p[4];
        size_t n_record = RECORD_HEAD_BYTES + n;

        if (input->n < RECORD_HEAD_BYTES || input->n < n_record)
            return true;
        if (p[0] == APPLICATION_DATA && n == ALERT_BYTES)
            return false;
        if (!server_send(c, str_make(input->p, n_record), 0))
            return false;
        strbuf_drop_front(input, n_record);
    }
}

static bool copy_up(int from, int to)
{
    char bytes[4096];
    ssize_t n = recv(from, bytes, sizeof bytes, 0);

    return n > 0 && send(to, bytes, (size_t)n, MSG_NOSIGNAL) == n;
}

static void relay_until_the_alert(struct server_connection *c, void *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)*(int *)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    AUTO(strbuf) struct strbuf input = {0};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct pollfd both[] = {{.fd = fd, .events = POLLIN}, {.fd = server_fd(c), .events = POLLIN}};
    bool goes_on = connect(fd, (struct sockaddr *)&address, sizeof address) == 0;

    while (goes_on && poll(both, 2, -1) > 0) {
        if (both[1].revents)
            goes_on = copy_up(both[1].fd, fd);
        if (goes_on && both[0].revents) {
            char *room = strbuf_reserve(&input, 4096);
            ssize_t n = recv(fd, room, 4096, 0);

            if (n > 0)
                strbuf_grew(&input, (size_t)n);
            goes_on = n > 0 && pass_records(c, &input);
        }
    }
    close(fd);
}

TEST(an_answer_that_is_cut_before_tls_has_ended_it_is_not_taken_for_whole)
{
    AUTO(tls_server) struct tls_server s = {0};
    AUTO(server) struct server *relay = NULL;
    AUTO(err) struct err *e = NULL;
    struct tls_server behind;

    need_openssl();
    tls_server_start(&s);
    assert_ok(visit_trusting(&s, "127.0.0.1", "SSL_CERT_FILE", "ca.pem"));
    relay = server_start(relay_until_the_alert, &s.port);
    behind = s;
    behind.port = server_port(relay);
    e = visit_trusting(&behind, "127.0.0.1", "SSL_CERT_FILE", "ca.pem");
    assert_true(err_is(e, ERR_NETWORK));
    assert_non_null(strstr(e->text, "closed without a TLS close notification"));
}

RUN_TESTS(UNIT(an_authority_of_ones_own_is_trusted_when_the_environment_names_it),
          UNIT(what_is_wrong_with_a_certificate_is_said),
          UNIT(a_certificate_for_a_name_is_no_certificate_for_another),
          UNIT(the_next_connection_resumes_the_session),
          UNIT(an_answer_that_is_cut_before_tls_has_ended_it_is_not_taken_for_whole))
