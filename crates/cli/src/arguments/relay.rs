//! `howdah relay`.

use std::ffi::OsString;

use clap::Args;
use clap::builder::RangedU64ValueParser;

use super::{CachingArguments, ExportArguments, LogArguments, ServeArguments, ServerArguments};

/// Serve a far server's export to nearby clients, with caches
///
/// Clients mount this host as if it were the far server. The relay reads ahead and writes behind over connections that size
/// themselves to the path, and caches attributes, names and permissions. After fsync or close, data is safe on the far server.
///
/// The same as `howdah serve --cache URL`. For several exports, write a file with `url = "nfs://…"` and `cache = true`,
/// and pass it to `howdah serve --config`.
///
/// With --pass-through, it forwards calls unchanged, without caches: this works with every version of NFS, and with Kerberos.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct RelayArguments {
    /// The far server's export: nfs://HOST/EXPORT; with --pass-through the server: nfs://HOST[:PORT]
    #[arg(value_name = "URL", conflicts_with = "config")]
    pub url: OsString,

    /// Forward calls and replies unchanged, over connections that size themselves to the path
    ///
    /// Each client connection gets its own connection to the far server. Calls are neither cached nor inspected, so every NFS version
    /// works, with Kerberos and NFSv4 locks. The far server sees the address of this host: export to it. With xprtsec=tls or mtls in
    /// the URL, the far connections use TLS.
    #[arg(long, conflicts_with_all = NOT_WITH_PASS_THROUGH)]
    pub pass_through: bool,

    /// With --pass-through: max client connections, 1 to 65536 [default: 4096]
    #[arg(long, value_name = "N", requires = "pass_through",
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=MOST_CONNECTIONS))]
    pub max_connections: Option<usize>,

    /// Settings of the caches.
    #[command(flatten)]
    pub caching: CachingArguments,

    /// Settings of the server.
    #[command(flatten)]
    pub server: ServerArguments,

    /// Settings of the one export.
    #[command(flatten)]
    pub export: ExportArguments,

    /// What is logged and how.
    #[command(flatten)]
    pub log: LogArguments,
}

impl RelayArguments {
    /// The `howdah serve` that it stands for.
    pub fn into_serve(self) -> ServeArguments {
        let Self { url, caching, server, export, log, .. } = self;
        ServeArguments { what: Some(url), cache: true, caching, server, export, log }
    }
}

/// More descriptors than a process usually may have are needed for more.
const MOST_CONNECTIONS: u64 = 1 << 16;

/// The flags that --pass-through accepts. It refuses all other flags of a server.
#[cfg(test)]
const WITH_PASS_THROUGH: [&str; 9] =
    ["url", "pass_through", "max_connections", "listen", "state", "admin", "metrics", "log", "log_format"];

/// What is not.
const NOT_WITH_PASS_THROUGH: [&str; 55] = [
    "cache_memory",
    "cache_dir",
    "cache_size",
    "actimeo",
    "acregmin",
    "acregmax",
    "acdirmin",
    "acdirmax",
    "config",
    "no_udp",
    "udp_sockets",
    "udp_per_interface",
    "quic",
    "workers",
    "rpcbind",
    "no_nfs4",
    "no_acls",
    "lease",
    "manage_gids",
    "quotas",
    "tls_certificate",
    "tls_key",
    "tls_client_ca",
    "tls_client_crl",
    "keytab",
    "sandbox",
    "admin_listen",
    "admin_token",
    "admin_certificate",
    "admin_key",
    "metrics_clients",
    "tcp_sndbuf",
    "tcp_rcvbuf",
    "tcp_congestion",
    "memory_budget",
    "limit",
    "no_tuning",
    "delay",
    "samples",
    "name",
    "read_only",
    "allow",
    "squash",
    "anonymous_user",
    "anonymous_group",
    "privileged_ports",
    "tls",
    "sec",
    "set_id",
    "sync",
    "answer_early",
    "cross_mounts",
    "quota_in_df",
    "delegations",
    "locks",
];

const EXAMPLES: &str = "\
Examples:
  howdah relay nfs://far.example.org/export
      Nearby clients mount this host's \"/\".
  howdah relay nfs://far.example.org/export --squash none --cache-memory 2G
      A client's root is root on the far server, if that server trusts this host; four times the default memory.
  howdah relay nfs://far.example.org/export --actimeo 0
      Cache no attributes: changes on the far server are visible at once, but each look-up takes a round trip.
  howdah relay --pass-through nfs://far.example.org
      All exports of the far server, unchanged: clients mount this host's /export.
  howdah relay --pass-through 'nfs://far.example.org?xprtsec=mtls&tlscert=relay.pem&tlskey=relay.key&tlsca=ca.pem'
      The same, with TLS to the far server.

Exit code: 0 stopped by a signal, 1 could not start or continue, 2 wrong arguments or configuration.
";

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::{Command, FromArgMatches};

    use super::*;

    fn command() -> Command {
        RelayArguments::augment_args(Command::new("relay"))
    }

    #[test]
    fn each_flag_is_for_a_pass_through_relay_or_refused_with_it() {
        let all: BTreeSet<String> = command().get_arguments().map(|flag| flag.get_id().to_string()).collect();
        let known: BTreeSet<String> =
            WITH_PASS_THROUGH.iter().chain(&NOT_WITH_PASS_THROUGH).map(|id| (*id).to_owned()).collect();
        assert_eq!(all.symmetric_difference(&known).collect::<Vec<_>>(), Vec::<&String>::new());
    }

    #[test]
    fn caches_are_none_of_it() {
        let parse = |line: &str| command().try_get_matches_from(line.split(' '));
        let parsed = parse("relay --pass-through nfs://far --listen 3049").expect("right");
        let arguments = RelayArguments::from_arg_matches(&parsed).expect("right");
        assert!(arguments.pass_through && arguments.max_connections.is_none());
        assert!(parse("relay --pass-through nfs://far --actimeo 0").is_err());
        assert!(parse("relay --pass-through nfs://far --squash none").is_err());
        assert!(parse("relay nfs://far --max-connections 7").is_err());
    }
}
