/* secret_places.c - the system's places of credentials, and those that variables name.
 * secret_places_home.c has those of a home. */
#include "base/secret_places.h"

const struct secret_place secret_places_of_system[] = {
    {"/etc/shadow", "user passwords"},
    {"/etc/shadow-", "user passwords"},
    {"/etc/gshadow", "group passwords"},
    {"/etc/gshadow-", "group passwords"},
    {"/etc/security/opasswd", "old passwords"},
    {"/etc/ssh/ssh_host_dsa_key", "private key of the SSH server"},
    {"/etc/ssh/ssh_host_ecdsa_key", "private key of the SSH server"},
    {"/etc/ssh/ssh_host_ed25519_key", "private key of the SSH server"},
    {"/etc/ssh/ssh_host_rsa_key", "private key of the SSH server"},
    {"/etc/ssl/private", "private keys"},
    {"/etc/pki/tls/private", "private keys"},
    {"/etc/pki/entitlement", "subscription keys"},
    {"/etc/pki/consumer", "subscription keys"},
    {"/etc/letsencrypt", "private keys, account"},
    {"/etc/dovecot/private", "private keys"},
    {"/etc/krb5.keytab", "Kerberos keys"},
    {"/etc/sudoers", "sudo rules"},
    {"/etc/sudoers.d", "sudo rules"},
    {"/etc/wireguard", "VPN keys"},
    {"/etc/openvpn", "VPN keys"},
    {"/etc/ipsec.secrets", "VPN keys"},
    {"/etc/ipsec.d/private", "VPN keys"},
    {"/etc/swanctl", "VPN keys"},
    {"/etc/ppp/chap-secrets", "connection passwords"},
    {"/etc/ppp/pap-secrets", "connection passwords"},
    {"/etc/NetworkManager/system-connections", "network passwords"},
    {"/etc/wpa_supplicant", "network passwords"},
    {"/etc/netplan", "may hold network passwords"},
    {"/etc/apt/auth.conf", "repository passwords"},
    {"/etc/apt/auth.conf.d", "repository passwords"},
    {"/etc/bind/rndc.key", "name server key"},
    {"/etc/rndc.key", "name server key"},
    {"/etc/ceph", "Ceph keys"},
    {"/etc/cloudflared", "Cloudflare Tunnel keys"},
    {"/etc/consul.d", "may hold tokens"},
    {"/etc/credstore", "service credentials"},
    {"/etc/credstore.encrypted", "service credentials"},
    {"/etc/docker/key.json", "Docker key"},
    {"/etc/gitlab", "GitLab secrets"},
    {"/etc/gitlab-runner", "runner token"},
    {"/etc/kubernetes", "cluster keys"},
    {"/etc/munge", "cluster key"},
    {"/etc/mysql/debian.cnf", "MySQL password"},
    {"/etc/nomad.d", "may hold tokens"},
    {"/etc/postfix/sasl_passwd", "mail server password"},
    {"/etc/exim4/passwd.client", "mail server password"},
    {"/etc/rancher", "cluster keys"},
    {"/etc/vault.d", "may hold tokens"},
    {"/boot/grub/user.cfg", "boot loader password"},
    {"/dev/mqueue", "message queues of programs"},
    {"/run/credentials", "service credentials"},
    {"/run/secrets", "container secrets"},
    {"/var/backups", "password backups"},
    {"/var/cache/debconf/passwords.dat", "package passwords"},
    {"/var/lib/bluetooth", "device keys"},
    {"/var/lib/cloud", "secrets of the machine's first start"},
    {"/var/lib/containerd", "container data"},
    {"/var/lib/containers", "container data"},
    {"/var/lib/docker", "container data"},
    {"/var/lib/etcd", "cluster data"},
    {"/var/lib/iwd", "network passwords"},
    {"/var/lib/jenkins", "Jenkins secrets"},
    {"/var/lib/kubelet", "cluster keys"},
    {"/var/lib/ldap", "passwords"},
    {"/var/lib/mongodb", "a database"},
    {"/var/lib/mysql", "a database"},
    {"/var/lib/pgsql", "a database"},
    {"/var/lib/postgresql", "a database"},
    {"/var/lib/private", "service data"},
    {"/var/lib/rancher", "cluster keys"},
    {"/var/lib/redis", "a database"},
    {"/var/lib/samba/private", "passwords"},
    {"/var/lib/snapd/state.json", "snapd tokens"},
    {"/var/lib/sss", "passwords"},
    {"/var/lib/systemd/credential.secret", "key for credentials"},
    {"/var/lib/tailscale", "VPN keys"},
    {"/var/mail", "mail"},
    {"/var/spool/cron", "user crontabs"},
    {"/var/spool/mail", "mail"},
    {0},
};

const struct secret_variable secret_variables[] = {
    {"ANSIBLE_VAULT_PASSWORD_FILE", NULL, "Ansible Vault password"},
    {"AWS_CONFIG_FILE", NULL, "may hold AWS keys"},
    {"AWS_SHARED_CREDENTIALS_FILE", NULL, "AWS keys"},
    {"AWS_WEB_IDENTITY_TOKEN_FILE", NULL, "AWS token"},
    {"AZD_CONFIG_DIR", NULL, "Azure Developer CLI tokens"},
    {"AZURE_CONFIG_DIR", NULL, "Azure tokens"},
    {"AZURE_FEDERATED_TOKEN_FILE", NULL, "Azure token"},
    {"BORG_KEY_FILE", NULL, "Borg backup key"},
    {"BORG_KEYS_DIR", NULL, "Borg backup keys"},
    {"BOTO_CONFIG", NULL, "gsutil and boto keys"},
    {"BUNDLE_USER_CONFIG", NULL, "Bundler passwords"},
    {"CARGO_HOME", "credentials", "crates.io token"},
    {"CARGO_HOME", "credentials.toml", "crates.io token"},
    {"CF_HOME", ".cf", "Cloud Foundry tokens"},
    {"CLAUDE_CONFIG_DIR", ".claude.json", "Claude Code account and servers"},
    {"CLAUDE_CONFIG_DIR", ".credentials.json", "Claude Code token"},
    {"CLAUDE_CONFIG_DIR", "history.jsonl", "prompts to Claude Code"},
    {"CLAUDE_CONFIG_DIR", "projects", "Claude Code conversations"},
    {"CLOUDSDK_CONFIG", NULL, "Google Cloud tokens"},
    {"CODEX_HOME", "auth.json", "Codex token"},
    {"CODEX_HOME", "history.jsonl", "prompts to Codex"},
    {"CODEX_HOME", "sessions", "Codex conversations"},
    {"COMPOSER_HOME", "auth.json", "Composer tokens"},
    {"CURL_HOME", ".curlrc", "may hold a proxy's user and password"},
    {"DATABRICKS_CONFIG_FILE", NULL, "Databricks token"},
    {"DOCKER_CONFIG", NULL, "registry passwords"},
    {"FLY_CONFIG_DIR", NULL, "Fly.io token"},
    {"GH_CONFIG_DIR", NULL, "GitHub CLI token"},
    {"GLAB_CONFIG_DIR", NULL, "GitLab CLI token"},
    {"GNUPGHOME", NULL, "GnuPG private keys"},
    {"GOOGLE_APPLICATION_CREDENTIALS", NULL, "Google Cloud key"},
    {"GRADLE_USER_HOME", "gradle.properties", "Gradle passwords"},
    {"HELM_REGISTRY_CONFIG", NULL, "registry passwords (Helm)"},
    {"HEX_HOME", "hex.config", "Hex key"},
    {"HF_HOME", "stored_tokens", "Hugging Face tokens"},
    {"HF_HOME", "token", "Hugging Face token"},
    {"HF_TOKEN_PATH", NULL, "Hugging Face token"},
    {"HISTFILE", NULL, "shell history"},
    {"KAGGLE_CONFIG_DIR", NULL, "Kaggle key"},
    {"KRB5_KTNAME", NULL, "Kerberos keys"},
    {"KUBECONFIG", NULL, "cluster keys and tokens"},
    {"LESSHISTFILE", NULL, "less history"},
    {"MC_CONFIG_DIR", NULL, "MinIO keys"},
    {"MODAL_CONFIG_PATH", NULL, "Modal token"},
    {"MYSQL_HISTFILE", NULL, "mysql history"},
    {"MYSQL_TEST_LOGIN_FILE", NULL, "MySQL passwords"},
    {"NETRC", NULL, "passwords of curl and others"},
    {"NODE_REPL_HISTORY", NULL, "Node history"},
    {"NPM_CONFIG_USERCONFIG", NULL, "npm token"},
    {"OCI_CLI_CONFIG_FILE", NULL, "Oracle Cloud keys"},
    {"OS_CLIENT_CONFIG_FILE", NULL, "OpenStack passwords"},
    {"PASSWORD_STORE_DIR", NULL, "pass"},
    {"PGPASSFILE", NULL, "PostgreSQL passwords"},
    {"PGSERVICEFILE", NULL, "may hold PostgreSQL passwords"},
    {"PSQL_HISTORY", NULL, "psql history"},
    {"PULUMI_HOME", "credentials.json", "Pulumi token"},
    {"PYTHON_HISTORY", NULL, "Python history"},
    {"RCLONE_CONFIG", NULL, "rclone tokens"},
    {"REDISCLI_HISTFILE", NULL, "redis-cli history"},
    {"REDISCLI_RCFILE", NULL, "may hold a Redis password"},
    {"REGISTRY_AUTH_FILE", NULL, "registry passwords (Podman)"},
    {"RESTIC_PASSWORD_FILE", NULL, "restic backup password"},
    {"SCW_CONFIG_PATH", NULL, "Scaleway keys"},
    {"SNOWFLAKE_HOME", NULL, "Snowflake passwords"},
    {"SOPS_AGE_KEY_FILE", NULL, "SOPS age keys"},
    {"SQLITE_HISTORY", NULL, "sqlite3 history"},
    {"STEPPATH", NULL, "certificate authority keys (step)"},
    {"TALOSCONFIG", NULL, "Talos cluster keys"},
    {"TELEPORT_HOME", NULL, "Teleport certificates"},
    {"TF_CLI_CONFIG_FILE", NULL, "may hold Terraform tokens"},
    {"UV_CREDENTIALS_DIR", NULL, "uv passwords"},
    {"WAKATIME_HOME", ".wakatime.cfg", "WakaTime key"},
    {"WGETRC", NULL, "may hold passwords"},
    {"XAUTHORITY", NULL, "display cookie"},
    {"npm_config_userconfig", NULL, "npm token"},
    {0},
};

static bool is_in(struct str path, const char *place)
{
    size_t n = strlen(place);

    return str_starts(path, str_make(place, n)) && (path.n == n || path.p[n] == '/');
}

static const struct secret_place *find_in(const struct secret_place *rows, struct str path)
{
    for (; rows->path; rows++)
        if (is_in(path, rows->path))
            return rows;
    return NULL;
}

/* Cuts the home off a path in it. */
static bool cut_home(struct str *path)
{
    static const struct str homes[] = {S("/home/"), S("/var/home/"), S("/Users/")};
    struct str rest = *path, user;

    if (str_starts(rest, S("~/")) || str_starts(rest, S("/root/"))) {
        *path = str_skip(rest, str_find_char(str_skip(rest, 1), '/') + 2);
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(homes); i++)
        if (str_starts(rest, homes[i])) {
            rest = str_skip(rest, homes[i].n);
            if (!str_split(&rest, '/', &user) || user.n == 0)
                return false;
            *path = rest;
            return true;
        }
    return false;
}

const struct secret_place *secret_place_find(struct str path)
{
    const struct secret_place *found = find_in(secret_places_of_system, path);

    if (!found && cut_home(&path))
        found = find_in(secret_places_in_home, path);
    return found;
}
