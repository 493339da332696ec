/* secret_places.c - the system's places of credentials, and those that variables name. Those of a
 * home are in secret_places_home.c. */
#include "base/secret_places.h"

const struct secret_place secret_places_of_system[] = {
    {"/etc/shadow", "passwords of users"},
    {"/etc/shadow-", "passwords of users"},
    {"/etc/gshadow", "passwords of groups"},
    {"/etc/gshadow-", "passwords of groups"},
    {"/etc/security/opasswd", "old passwords"},
    {"/etc/ssh/ssh_host_dsa_key", "private key of the SSH server"},
    {"/etc/ssh/ssh_host_ecdsa_key", "private key of the SSH server"},
    {"/etc/ssh/ssh_host_ed25519_key", "private key of the SSH server"},
    {"/etc/ssh/ssh_host_rsa_key", "private key of the SSH server"},
    {"/etc/ssl/private", "private keys"},
    {"/etc/pki/tls/private", "private keys"},
    {"/etc/pki/entitlement", "keys of a subscription"},
    {"/etc/pki/consumer", "keys of a subscription"},
    {"/etc/letsencrypt", "private keys, account"},
    {"/etc/dovecot/private", "private keys"},
    {"/etc/krb5.keytab", "keys of Kerberos"},
    {"/etc/sudoers", "rules of sudo"},
    {"/etc/sudoers.d", "rules of sudo"},
    {"/etc/wireguard", "VPN keys"},
    {"/etc/openvpn", "VPN keys"},
    {"/etc/ipsec.secrets", "VPN keys"},
    {"/etc/ipsec.d/private", "VPN keys"},
    {"/etc/swanctl", "VPN keys"},
    {"/etc/ppp/chap-secrets", "passwords of connections"},
    {"/etc/ppp/pap-secrets", "passwords of connections"},
    {"/etc/NetworkManager/system-connections", "passwords of networks"},
    {"/etc/wpa_supplicant", "passwords of networks"},
    {"/etc/netplan", "may hold passwords of networks"},
    {"/etc/apt/auth.conf", "passwords of repositories"},
    {"/etc/apt/auth.conf.d", "passwords of repositories"},
    {"/etc/bind/rndc.key", "key of the name server"},
    {"/etc/rndc.key", "key of the name server"},
    {"/etc/ceph", "keys of Ceph"},
    {"/etc/cloudflared", "keys of Cloudflare Tunnel"},
    {"/etc/consul.d", "may hold tokens"},
    {"/etc/credstore", "credentials of services"},
    {"/etc/credstore.encrypted", "credentials of services"},
    {"/etc/docker/key.json", "key of Docker"},
    {"/etc/gitlab", "secrets of GitLab"},
    {"/etc/gitlab-runner", "token of a runner"},
    {"/etc/kubernetes", "keys of a cluster"},
    {"/etc/munge", "key of a cluster"},
    {"/etc/mysql/debian.cnf", "password of MySQL"},
    {"/etc/nomad.d", "may hold tokens"},
    {"/etc/postfix/sasl_passwd", "password of a mail server"},
    {"/etc/exim4/passwd.client", "password of a mail server"},
    {"/etc/rancher", "keys of a cluster"},
    {"/etc/vault.d", "may hold tokens"},
    {"/boot/grub/user.cfg", "password of the boot loader"},
    {"/dev/mqueue", "messages that programs have for each other"},
    {"/run/credentials", "credentials of services"},
    {"/run/secrets", "secrets of a container"},
    {"/var/backups", "copies of passwords"},
    {"/var/cache/debconf/passwords.dat", "passwords of packages"},
    {"/var/lib/bluetooth", "keys of devices"},
    {"/var/lib/cloud", "secrets of the machine's first start"},
    {"/var/lib/containerd", "data of containers"},
    {"/var/lib/containers", "data of containers"},
    {"/var/lib/docker", "data of containers"},
    {"/var/lib/etcd", "data of a cluster"},
    {"/var/lib/iwd", "passwords of networks"},
    {"/var/lib/jenkins", "secrets of Jenkins"},
    {"/var/lib/kubelet", "keys of a cluster"},
    {"/var/lib/ldap", "passwords"},
    {"/var/lib/mongodb", "a database"},
    {"/var/lib/mysql", "a database"},
    {"/var/lib/pgsql", "a database"},
    {"/var/lib/postgresql", "a database"},
    {"/var/lib/private", "data of services"},
    {"/var/lib/rancher", "keys of a cluster"},
    {"/var/lib/redis", "a database"},
    {"/var/lib/samba/private", "passwords"},
    {"/var/lib/snapd/state.json", "tokens of snapd"},
    {"/var/lib/sss", "passwords"},
    {"/var/lib/systemd/credential.secret", "key of credentials"},
    {"/var/lib/tailscale", "VPN keys"},
    {"/var/mail", "mail"},
    {"/var/spool/cron", "commands of users"},
    {"/var/spool/mail", "mail"},
    {0},
};

const struct secret_variable secret_variables[] = {
    {"ANSIBLE_VAULT_PASSWORD_FILE", NULL, "password of Ansible Vault"},
    {"AWS_CONFIG_FILE", NULL, "may hold keys of AWS"},
    {"AWS_SHARED_CREDENTIALS_FILE", NULL, "keys of AWS"},
    {"AWS_WEB_IDENTITY_TOKEN_FILE", NULL, "token of AWS"},
    {"AZURE_CONFIG_DIR", NULL, "tokens of Azure"},
    {"AZURE_FEDERATED_TOKEN_FILE", NULL, "token of Azure"},
    {"BORG_KEY_FILE", NULL, "key of backups (Borg)"},
    {"BORG_KEYS_DIR", NULL, "keys of backups (Borg)"},
    {"BOTO_CONFIG", NULL, "keys of gsutil and boto"},
    {"CARGO_HOME", "credentials", "token of crates.io"},
    {"CARGO_HOME", "credentials.toml", "token of crates.io"},
    {"CLAUDE_CONFIG_DIR", ".credentials.json", "token of Claude Code"},
    {"CLOUDSDK_CONFIG", NULL, "tokens of Google Cloud"},
    {"CODEX_HOME", "auth.json", "token of Codex"},
    {"COMPOSER_HOME", "auth.json", "tokens of Composer"},
    {"DATABRICKS_CONFIG_FILE", NULL, "token of Databricks"},
    {"DOCKER_CONFIG", NULL, "passwords of registries"},
    {"GH_CONFIG_DIR", NULL, "token of GitHub CLI"},
    {"GLAB_CONFIG_DIR", NULL, "token of GitLab CLI"},
    {"GNUPGHOME", NULL, "private keys of GnuPG"},
    {"GOOGLE_APPLICATION_CREDENTIALS", NULL, "key of Google Cloud"},
    {"GRADLE_USER_HOME", "gradle.properties", "passwords of Gradle"},
    {"HEX_HOME", "hex.config", "key of Hex"},
    {"HF_HOME", "stored_tokens", "tokens of Hugging Face"},
    {"HF_HOME", "token", "token of Hugging Face"},
    {"HF_TOKEN_PATH", NULL, "token of Hugging Face"},
    {"HISTFILE", NULL, "history of a shell"},
    {"KRB5_KTNAME", NULL, "keys of Kerberos"},
    {"KUBECONFIG", NULL, "keys and tokens of clusters"},
    {"MYSQL_HISTFILE", NULL, "history of mysql"},
    {"NETRC", NULL, "passwords of curl and others"},
    {"NODE_REPL_HISTORY", NULL, "history of Node"},
    {"NPM_CONFIG_USERCONFIG", NULL, "token of npm"},
    {"OCI_CLI_CONFIG_FILE", NULL, "keys of Oracle Cloud"},
    {"PASSWORD_STORE_DIR", NULL, "pass"},
    {"PGPASSFILE", NULL, "passwords of PostgreSQL"},
    {"PGSERVICEFILE", NULL, "may hold passwords of PostgreSQL"},
    {"PSQL_HISTORY", NULL, "history of psql"},
    {"PULUMI_HOME", "credentials.json", "token of Pulumi"},
    {"PYTHON_HISTORY", NULL, "history of Python"},
    {"RCLONE_CONFIG", NULL, "tokens of rclone"},
    {"REDISCLI_HISTFILE", NULL, "history of redis-cli"},
    {"RESTIC_PASSWORD_FILE", NULL, "password of backups (restic)"},
    {"SNOWFLAKE_HOME", NULL, "passwords of Snowflake"},
    {"SOPS_AGE_KEY_FILE", NULL, "age keys of SOPS"},
    {"SQLITE_HISTORY", NULL, "history of sqlite3"},
    {"TALOSCONFIG", NULL, "keys of Talos clusters"},
    {"TF_CLI_CONFIG_FILE", NULL, "may hold tokens of Terraform"},
    {"WGETRC", NULL, "may hold passwords"},
    {"npm_config_userconfig", NULL, "token of npm"},
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

/* Cuts the home off that a path lies in. */
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
