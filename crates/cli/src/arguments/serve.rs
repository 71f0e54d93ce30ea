//! `howdah serve`: what was typed. Whatever was not typed stays empty, so that the file or the default can speak.
#![allow(rustdoc::broken_intra_doc_links, reason = "these are help texts for the screen: [::] is an address")]

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::RangedU64ValueParser;
use clap::{ArgGroup, Args};
use howdah_config::quantity::{parse_lease, parse_time};
use howdah_config::{
    ANONYMOUS, AdminListenSaid, AdminSocket, ClientPattern, Datagrams, Delegations, Experiment, ExportLocks,
    ExportName, MOST_METRICS_CLIENTS, MOST_WORKERS, MetricsSaid, PrivilegedPorts, Rpcbind, Sandbox, Sizes,
    Squash, TlsSaid, UdpSockets, parse_admin, parse_admin_listen, parse_flavors, parse_listen, parse_metrics,
    parse_tls_policy, parse_udp_sockets,
};
use howdah_server::caps::CapRule;
use howdah_server::exports::{SecurityFlavors, TlsPolicy};
use howdah_server::tuning::{parse_congestion, parse_memory_budget, parse_receive_buffer, parse_send_buffer};
use howdah_tune::{Algorithm, Setting};

use super::limit::parse_limit;
use super::{CachingArguments, LogArguments};

/// Serve a directory, memory, another server's export, or all exports of a configuration file
///
/// Prints the commands that mount it, then serves until SIGTERM or Ctrl-C. Calls in progress finish first; a second signal stops at
/// once. SIGHUP reloads the configuration file: clients stay connected, and if the file has an error the old configuration stays.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES, group(ArgGroup::new("exports").required(true).args(["what", "config"])))]
pub struct ServeArguments {
    /// What to serve: a directory, memory:SIZE, or nfs://HOST/EXPORT of another server. For several exports, write a file
    /// and pass --config
    ///
    /// memory: alone uses up to half of this host's memory; the files are lost when the server stops. Calls for an export of
    /// another server are forwarded one by one, unless you pass --cache.
    #[arg(value_name = "DIR|memory:SIZE|URL")]
    pub what: Option<OsString>,

    /// Cache another server's export: read ahead, write behind, keep attributes, names and permissions
    ///
    /// `howdah relay URL` is `howdah serve --cache URL`.
    #[arg(long, conflicts_with = "config")]
    pub cache: bool,

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

/// Flags that hold for the server as a whole; each wins over the file's setting of the same name.
#[derive(Debug, Default, Clone, Args)]
#[command(next_help_heading = "Server")]
pub struct ServerArguments {
    /// Read server settings and exports from this TOML file; flags override it
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Listen on this address; may be repeated [default: [::]:2049, every address of this machine]
    ///
    /// ADDRESS:PORT, or only an address (port 2049), or only a port (every address). Port 0 lets the system
    /// choose one, which the printed mount commands contain. A link-local address needs its interface: [fe80::1%eth0]:2049. NFS, MOUNT and portmap share this port, so clients
    /// need no rpcbind.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = parse_listen)]
    pub listen: Vec<SocketAddr>,

    /// Serve TCP only [default: UDP on the same ports too]
    ///
    /// Many clients use UDP for portmap and MOUNT, at little cost to the server. Turn it off if a firewall or a policy
    /// requires it.
    #[arg(long, conflicts_with_all = ["udp_sockets", "udp_per_interface"])]
    pub no_udp: bool,

    /// UDP sockets that share each address, 1 to 16 [default: auto, one for each CPU]
    ///
    /// The kernel assigns each client to one of them by the addresses and ports of both ends, so clients do not share one
    /// queue. Any thread serves any socket.
    #[arg(long, value_name = "N", value_parser = parse_udp_sockets)]
    pub udp_sockets: Option<UdpSockets>,

    /// Give each network interface UDP sockets of its own [default: one address, one group of sockets]
    ///
    /// Sockets follow interfaces and addresses as these appear and disappear. A reply leaves by the interface of its call. The socket of
    /// the address receives everything else. This has no effect if the server listens on a single address.
    #[arg(long)]
    pub udp_per_interface: bool,

    /// Serve QUIC too, on this UDP port: howdah clients use it with proto=quic [default: off]
    ///
    /// PORT (every address of this machine) or ADDRESS:PORT. QUIC encrypts by TLS, so --tls-certificate and --tls-key are required. Its
    /// port must not be one on which NFS is served over UDP. A client stays connected when its address changes.
    #[arg(long, value_name = "PORT", value_parser = parse_listen)]
    pub quic: Option<SocketAddr>,

    /// Max calls of one export in its storage at the same time, 1 to 1024 [default: 32]
    ///
    /// Further calls of that export are queued; other exports are not affected. Raise it for slow storage with a high queue
    /// depth, not for more CPUs. The server starts threads on demand.
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=MOST_WORKERS))]
    pub workers: Option<usize>,

    /// Directory for state that survives a restart: the key of file handles, and an index of handles where the
    /// kernel's cannot be used
    ///
    /// Default: /var/lib/howdah for root, else $XDG_STATE_HOME/howdah or ~/.local/state/howdah. If it is lost,
    /// clients get "stale file handle" and must mount again.
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,

    /// Whether NFSv3 clients find the port without an option: mount -t nfs -o vers=3 HOST:/ /mnt [default: auto]
    ///
    /// With auto, howdah registers with this host's rpcbind and unregisters at exit. If no rpcbind runs, howdah answers on
    /// port 111 itself, which needs root. NFSv3 clients also find locks through that port.
    #[arg(long, value_name = "WHEN")]
    pub rpcbind: Option<Rpcbind>,

    /// Serve NFSv3 only [default: NFSv3, NFSv4.1 and NFSv4.2]
    #[arg(long)]
    pub no_nfs4: bool,

    /// Show no POSIX ACLs to NFSv3 clients, and let them set none [default: setfacl and getfacl work]
    #[arg(long)]
    pub no_acls: bool,

    /// How long a silent NFSv4 client keeps its opens and locks [default: 90s]
    ///
    /// It is also the grace period after a restart: known clients reclaim their opens and locks, and others wait.
    #[arg(long, value_name = "TIME", value_parser = parse_lease)]
    pub lease: Option<Duration>,

    /// Look up the groups of each caller on this host, for users in more than 16 groups [default: as the client sends them]
    ///
    /// AUTH_SYS carries at most 16 groups. With this the server takes the groups of the caller's user id from its own user
    /// database (files, LDAP, SSSD), as mountd --manage-gids does, and caches them for 10 minutes. For users that this host
    /// does not know, or if the look-up fails, it uses the groups that the client sent.
    #[arg(long)]
    pub manage_gids: bool,

    /// Answer clients that ask for quotas, so that `quota` on a client shows the limits of this host's file systems [default: off]
    ///
    /// Users see their own quotas and those of their groups. The root of a client sees all (rquota, over TCP and UDP). Clients look up the service on port 111. Needs root and Linux 5.14. The file system enforces quotas with or without this.
    #[arg(long)]
    pub quotas: bool,

    /// TLS certificate of this server (PEM, with intermediate certificates), for clients that mount with xprtsec=tls
    ///
    /// It offers TLS to every client (RFC 9289); --tls requires it for an export. The files are reloaded on SIGHUP, and
    /// within a minute after they change. `howdah certificate` creates them.
    #[arg(long, visible_alias = "tls-cert", value_name = "FILE", help_heading = "TLS")]
    pub tls_certificate: Option<PathBuf>,

    /// Key of that certificate (PEM)
    #[arg(long, value_name = "FILE", help_heading = "TLS")]
    pub tls_key: Option<PathBuf>,

    /// CA that issues client certificates (PEM), for xprtsec=mtls; may be repeated
    #[arg(long, visible_alias = "tls-ca", value_name = "FILE", help_heading = "TLS")]
    pub tls_client_ca: Vec<PathBuf>,

    /// Revocation list (CRL, PEM) of such a CA; may be repeated
    ///
    /// `howdah certificate DIR --revoke FILE` creates one. After a reload it applies to new connections.
    #[arg(long, value_name = "FILE", help_heading = "TLS", requires = "tls_certificate")]
    pub tls_client_crl: Vec<PathBuf>,

    /// Keytab with the key of nfs/HOST, for exports with --sec krb5 [default: the system's, /etc/krb5.keytab]
    ///
    /// Users of the host must not be able to read it. Keys that are added to it later need no restart.
    #[arg(long, value_name = "FILE", help_heading = "Kerberos")]
    pub keytab: Option<PathBuf>,

    /// Which rights the server gives up after it has opened its sockets and directories [default: auto]
    ///
    /// Auto keeps only the capabilities that the server needs. Without root it also limits file access by Landlock, if the kernel
    /// supports it: to the exports, the state directory and, read-only, system files, configuration and certificates. The log shows the
    /// result at start. With Landlock, a new directory needs a restart, and a reload that adds one is refused.
    #[arg(long, value_name = "WHAT")]
    pub sandbox: Option<Sandbox>,

    /// Admin socket, for howdah why, get and set: a path, or off [default: auto]
    ///
    /// A Unix socket for this user and root, with HTTP and JSON, one request per connection. With auto it is in the state
    /// directory, where the commands look for it.
    #[arg(long, value_name = "PATH|off", value_parser = parse_admin)]
    pub admin: Option<AdminSocket>,

    /// Serve the live page and the admin interface over TCP: http://ADDRESS:PORT/ [default: off]
    ///
    /// Clients need the token; on a terminal, the printed address contains it. A port alone means 127.0.0.1. An address that
    /// other hosts reach needs a certificate and a key (https). A tunnel works too: ssh -L 9048:127.0.0.1:9048 HOST.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = parse_admin_listen, help_heading = "Monitoring")]
    pub admin_listen: Option<SocketAddr>,

    /// File with that token, readable by this user only [default: admin.token in the state directory]
    ///
    /// It is created at the first start. To change the token, edit or remove the file, and restart.
    #[arg(long, value_name = "FILE", help_heading = "Monitoring")]
    pub admin_token: Option<PathBuf>,

    /// TLS certificate for --admin-listen (PEM, with intermediate certificates)
    #[arg(long, value_name = "FILE", help_heading = "Monitoring")]
    pub admin_certificate: Option<PathBuf>,

    /// Key of that certificate (PEM)
    #[arg(long, value_name = "FILE", help_heading = "Monitoring")]
    pub admin_key: Option<PathBuf>,

    /// Serve metrics for Prometheus: http://ADDRESS:PORT/metrics [default: off]
    ///
    /// Only a loopback address, or a port of 127.0.0.1: every user of this host can read the metrics. For other hosts use
    /// --admin-listen, which serves /metrics with TLS and the token.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = parse_metrics, help_heading = "Monitoring")]
    pub metrics: Option<SocketAddr>,

    /// Number of clients with metrics of their own, the busiest first [default: 0]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(0..=MOST_METRICS_CLIENTS),
          help_heading = "Monitoring")]
    pub metrics_clients: Option<usize>,

    /// Send buffer of each connection [default: auto, sized to its path]
    ///
    /// A fixed size applies to new connections. The minimum is the size of two replies. 0 is auto. Without CAP_NET_ADMIN the max is
    /// net.core.wmem_max.
    #[arg(long, value_name = "SIZE", value_parser = parse_send_buffer, help_heading = "Connections")]
    pub tcp_sndbuf: Option<Setting>,

    /// Receive buffer of each connection [default: auto, sized to its path]
    ///
    /// As --tcp-sndbuf, with the size of three calls as the minimum. Needs CAP_NET_ADMIN.
    #[arg(long, value_name = "SIZE", value_parser = parse_receive_buffer, help_heading = "Connections")]
    pub tcp_rcvbuf: Option<Setting>,

    /// Congestion control of each connection [default: auto]
    ///
    /// Auto is bbr to other hosts, if the kernel has it, and cubic within this host. A name applies to all connections; it must be
    /// one of net.ipv4.tcp_available_congestion_control.
    #[arg(long, value_name = "CC", value_parser = parse_congestion, help_heading = "Connections")]
    pub tcp_congestion: Option<Setting<Algorithm>>,

    /// Max kernel memory of all connections [default: auto, an eighth of this host's memory or less]
    #[arg(long, value_name = "SIZE", value_parser = parse_memory_budget, help_heading = "Connections")]
    pub memory_budget: Option<Setting>,

    /// Limit what all clients together may use: read=20MB/s,write=10MB/s,calls=500/s [default: no limit]
    ///
    /// Calls beyond it are answered later. `per_client` gives each client address these rates for itself; burst=1s lets a client use
    /// at once what it could have had in a second (default 250ms). The configuration file has limits for some clients and exports.
    #[arg(long, value_name = "RATES", value_parser = parse_limit, help_heading = "Connections")]
    pub limit: Option<CapRule>,

    /// Do not size or measure connections, for comparisons
    #[arg(long, help_heading = "Connections", conflicts_with_all = ["tcp_sndbuf", "tcp_rcvbuf", "tcp_congestion", "memory_budget"])]
    pub no_tuning: bool,

    /// Delay every call by this long, as a slow disk would
    #[arg(long, value_name = "TIME", value_parser = parse_time, help_heading = "Experiments")]
    pub delay: Option<Duration>,

    /// Write each sample of a connection and its verdict to this file, one line of JSON each
    ///
    /// An existing file is replaced. Busy connections are sampled every four round trips, at most ten times per second.
    #[arg(long, value_name = "FILE", help_heading = "Experiments", conflicts_with = "no_tuning")]
    pub samples: Option<PathBuf>,
}

impl ServerArguments {
    /// What was said of UDP's sockets.
    pub fn datagrams(&self) -> Datagrams {
        Datagrams { sockets: self.udp_sockets, per_interface: self.udp_per_interface.then_some(true) }
    }

    /// What is for experiments.
    pub fn experiment(&self) -> Experiment {
        Experiment { delay: self.delay, samples: self.samples.clone() }
    }

    /// What was said of the admin interface over TCP.
    pub fn admin_listen(&self) -> AdminListenSaid {
        AdminListenSaid {
            address: self.admin_listen,
            token: self.admin_token.clone(),
            certificate: self.admin_certificate.clone(),
            key: self.admin_key.clone(),
        }
    }

    /// TLS options.
    pub fn tls(&self) -> TlsSaid {
        TlsSaid {
            certificate: self.tls_certificate.clone(),
            key: self.tls_key.clone(),
            client_ca: self.tls_client_ca.clone(),
            client_crl: self.tls_client_crl.clone(),
        }
    }

    /// What was said of metrics.
    pub fn metrics(&self) -> MetricsSaid {
        MetricsSaid { address: self.metrics, clients: self.metrics_clients }
    }

    /// What was said of sizes.
    pub fn sizes(&self) -> Sizes {
        Sizes {
            tcp_sndbuf: self.tcp_sndbuf,
            tcp_rcvbuf: self.tcp_rcvbuf,
            tcp_congestion: self.tcp_congestion,
            memory_budget: self.memory_budget,
            tuning: self.no_tuning.then_some(false),
        }
    }
}

/// Flags of the one export; with a file, they are said in the file.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Export (without --config)")]
pub struct ExportArguments {
    /// Name under which clients mount the directory: HOST:NAME
    #[arg(long, default_value = "/", conflicts_with = "config")]
    pub name: ExportName,

    /// Refuse every change
    #[arg(long, conflicts_with = "config")]
    pub read_only: bool,

    /// Clients that may mount: an address, a network, a host name, *.DOMAIN, @NETGROUP, or * for everyone; may be repeated
    /// [default: *]
    ///
    /// Host names are resolved, and /etc/netgroup is read, at start and on SIGHUP. For *.DOMAIN and netgroups, the server looks up the
    /// name of each client, which must lead back to its address. With AUTH_SYS the client alone decides which users its calls are from:
    /// allow only hosts that you trust.
    #[arg(long, value_name = "CLIENTS", conflicts_with = "config")]
    pub allow: Vec<ClientPattern>,

    /// Which users act as the anonymous user
    ///
    /// As with other servers, a client's root is not root here unless you choose none.
    #[arg(long, default_value = "root", conflicts_with = "config")]
    pub squash: Squash,

    /// User id of the anonymous user
    #[arg(long, value_name = "N", default_value_t = ANONYMOUS, conflicts_with = "config")]
    pub anonymous_user: u32,

    /// Group id of the anonymous user
    #[arg(long, value_name = "N", default_value_t = ANONYMOUS, conflicts_with = "config")]
    pub anonymous_group: u32,

    /// Which calls must come from a port below 1024, which only root on the client can use
    ///
    /// By default those from this host: otherwise its ordinary users could act as any user. Other clients may use any port, as
    /// macOS and user-space clients do. It applies only to a server that runs as root.
    #[arg(
        long,
        value_name = "WHICH",
        num_args = 0..=1,
        require_equals = true,
        default_value = "local",
        default_missing_value = "always",
        conflicts_with = "config"
    )]
    pub privileged_ports: PrivilegedPorts,

    /// Whether calls need TLS: off, offered, required, or client-certificate [default: offered]
    ///
    /// required accepts calls over TLS only; client-certificate accepts only clients with a certificate of --tls-client-ca. Other calls
    /// are refused (AUTH_TOOWEAK; NFSv4: NFS4ERR_WRONGSEC). MOUNT is always answered.
    #[arg(long, value_name = "WHEN", value_parser = parse_tls_policy, conflicts_with = "config", help_heading = "TLS")]
    pub tls: Option<TlsPolicy>,

    /// How callers prove who they are: sys, krb5, krb5i, krb5p, or several as krb5:krb5p [default: sys]
    ///
    /// With sys, clients say which user calls. With krb5, users prove it by a Kerberos ticket; krb5i also signs all data, and krb5p
    /// encrypts it. Clients that name no flavor use the first one that they can. Other calls are refused (AUTH_TOOWEAK; NFSv4:
    /// NFS4ERR_WRONGSEC).
    #[arg(long, value_name = "FLAVORS", value_parser = parse_flavors, default_value = "sys", hide_default_value = true,
          conflicts_with = "config", help_heading = "Kerberos")]
    pub sec: SecurityFlavors,

    /// Which delegations NFSv4 clients get: none, auto, or read [default: none]
    ///
    /// With a delegation, a client uses a cached file or directory without calls to the server, until somebody else changes it. With auto,
    /// clients get delegations where the server notices every change, by clients and by programs of this host: on ext4, XFS, Btrfs and
    /// tmpfs, with Linux 5.13 or newer, and not for files that another export has too. With read, clients get them on any file system:
    /// use it only where no other host changes the files.
    #[arg(
        long,
        value_name = "KIND",
        default_value = "none",
        hide_default_value = true,
        conflicts_with = "config"
    )]
    pub delegations: Delegations,

    /// For an export of another server: grant locks among clients of this server (local), or refuse them [default: local]
    ///
    /// The other server does not see these locks: its own clients can lock the same files. With refuse, a program that locks a file
    /// gets an error at once (NFSv3: ENOLCK, NFSv4: EINVAL).
    #[arg(
        long,
        value_name = "HOW",
        default_value = "local",
        hide_default_value = true,
        conflicts_with = "config"
    )]
    pub locks: ExportLocks,

    /// Let clients set the set-user-ID and set-group-ID bits of files [default: these bits are dropped]
    ///
    /// Then a client can create a program that runs as another user on this host. Mount the exported file system with nosuid.
    #[arg(long, conflicts_with = "config")]
    pub set_id: bool,

    /// Reply to a change when it is safe on disk (the default)
    #[arg(long, conflicts_with_all = ["config", "answer_early"])]
    pub sync: bool,

    /// Reply to a change before it is safe on disk: faster, but a crash of this host loses changes that clients
    /// consider safe, and no client notices
    #[arg(long = "async", conflicts_with = "config")]
    pub answer_early: bool,

    /// Export file systems that are mounted below the directory, too [default: they look empty]
    #[arg(long, conflicts_with = "config")]
    pub cross_mounts: bool,

    /// Show each user in df no more space than their quotas leave [default: the whole file system]
    ///
    /// The quotas are those of the server's file system, for the user and group of the caller. Needs root and Linux 5.14.
    #[arg(long, conflicts_with = "config")]
    pub quota_in_df: bool,
}

const EXAMPLES: &str = "\
Examples:
  howdah serve /srv/data
      Everyone may mount HOST:/ and read and write; a client's root acts as nobody.
  howdah serve /srv/iso --read-only --allow 10.0.0.0/8 --allow backup.example.org
      Read only, for one network and one host.
  howdah serve memory:4G
      Files in memory, 4 GiB at most, for a trial or for scratch data.
  howdah serve nfs://server/export
      Another server's export, forwarded as its callers; with --cache, or as howdah relay, cached.
  howdah serve . --listen 127.0.0.1:0
      For this host only, on a port that the system chooses.
  howdah serve --config /etc/howdah.toml
      Several exports, with settings of their own; `howdah check` explains the file.

Exit code: 0 stopped by a signal, 1 could not start or continue, 2 wrong arguments or configuration.
";
