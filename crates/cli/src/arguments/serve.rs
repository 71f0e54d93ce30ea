//! `howdah serve`: what was typed. Whatever was not typed stays empty, so that the file or the default can speak.
#![allow(rustdoc::broken_intra_doc_links, reason = "these are help texts for the screen: [::] is an address")]

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::RangedU64ValueParser;
use clap::{ArgGroup, Args};
use howdah_server::exports::TlsPolicy;
use howdah_server::tuning::{parse_congestion, parse_memory_budget, parse_receive_buffer, parse_send_buffer};
use howdah_tune::{Algorithm, Setting};

use super::quantity::{parse_lease, parse_time};
use super::{CachingArguments, LogArguments};
use crate::configuration::{
    ANONYMOUS, AdminListenSaid, AdminSocket, ClientPattern, Datagrams, Delegations, Experiment, ExportName,
    MOST_METRICS_CLIENTS, MOST_WORKERS, MetricsSaid, PrivilegedPorts, Rpcbind, Sandbox, Sizes, Squash,
    TlsSaid, UdpSockets, parse_admin, parse_admin_listen, parse_listen, parse_metrics, parse_tls_policy,
    parse_udp_sockets,
};

/// Serve a directory, memory, another server's export, or all exports of a configuration file
///
/// Prints the exact commands that mount it, then serves until SIGTERM or Ctrl-C, which let calls in progress end
/// (a second one does not wait). SIGHUP reads the configuration file again; no client loses its connection, and
/// if the file is wrong the old configuration stays.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES, group(ArgGroup::new("exports").required(true).args(["what", "config"])))]
pub struct ServeArguments {
    /// What to serve: a directory, memory:SIZE, or nfs://HOST/EXPORT of another server. For several exports, write a file
    /// and pass --config
    ///
    /// memory: alone takes up to half of this host's memory; the files are lost when the server ends. An export of
    /// another server is passed on call by call, unless --cache is given.
    #[arg(value_name = "DIR|memory:SIZE|URL")]
    pub what: Option<OsString>,

    /// Cache what another server exports: reads ahead, writes behind, remembers attributes, names and rights
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
    /// Read server settings and exports from this TOML file; flags of this section win over it
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Listen here; may be given several times [default: [::]:2049, every address of this machine]
    ///
    /// ADDRESS:PORT, or only an address (port 2049), or only a port (every address). Port 0 lets the system
    /// choose; the mount commands printed at start name the port it chose. All programs (NFS, MOUNT, portmap)
    /// answer on this one port, so a client needs no rpcbind.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = parse_listen)]
    pub listen: Vec<SocketAddr>,

    /// Serve TCP only [default: UDP on the same ports too]
    ///
    /// Clients ask portmap and MOUNT over UDP by habit, which costs a server little. Turn it off where a firewall
    /// or a policy wants it off.
    #[arg(long, conflicts_with_all = ["udp_sockets", "udp_per_interface"])]
    pub no_udp: bool,

    /// UDP sockets that share each address, 1 to 16 [default: auto, one for each CPU]
    ///
    /// Each client's datagrams come to one of them, which the kernel chooses by both ends' addresses and ports, so
    /// that clients do not wait in one queue. Any thread answers any socket.
    #[arg(long, value_name = "N", value_parser = parse_udp_sockets)]
    pub udp_sockets: Option<UdpSockets>,

    /// Give each network interface UDP sockets of its own [default: one address, one group of sockets]
    ///
    /// They are made and removed as interfaces and addresses come and go, and replies leave by the interface that the
    /// call came in by. What they do not take, a socket of the address does. For listening at every address; makes no
    /// difference at a single one.
    #[arg(long)]
    pub udp_per_interface: bool,

    /// Calls of one export that may wait for its storage at once, 1 to 1024 [default: 32]
    ///
    /// Others of that export wait in line, and hold up no other export. Slow storage that does many things at once
    /// wants more; more CPUs do not. The server starts threads as calls wait.
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=MOST_WORKERS))]
    pub workers: Option<usize>,

    /// Directory for what must survive a restart: the key of file handles, and the index of handles where the
    /// kernel's cannot be used
    ///
    /// Default: /var/lib/howdah for root, else $XDG_STATE_HOME/howdah or ~/.local/state/howdah. If it is lost,
    /// clients get "stale file handle" and must mount again.
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,

    /// Whether clients may find the port by themselves: mount -t nfs -o vers=3 HOST:/ /mnt [default: auto]
    ///
    /// With auto, howdah registers with the rpcbind of this machine, and takes that back at exit. If none runs it
    /// answers in its place, on port 111, where it may: that needs root. NFSv3 clients find locks by that port.
    #[arg(long, value_name = "WHEN")]
    pub rpcbind: Option<Rpcbind>,

    /// Serve NFSv3 only [default: NFSv3, NFSv4.1 and NFSv4.2]
    #[arg(long)]
    pub no_nfs4: bool,

    /// How long an NFSv4 client keeps its opens and locks without a word from it [default: 90s]
    ///
    /// After a restart, clients of the run before have as long to reclaim what they had, and others wait.
    #[arg(long, value_name = "TIME", value_parser = parse_lease)]
    pub lease: Option<Duration>,

    /// Look up the groups of each caller on this host, for users in more than 16 groups [default: as the client sends them]
    ///
    /// AUTH_SYS carries at most 16 groups. With this the server takes the groups of the caller's user id from its own user
    /// database (files, LDAP, SSSD), as mountd --manage-gids does, and remembers them for 10 minutes. A user that this host
    /// does not know, or a failed look-up, leaves the groups that the client sent.
    #[arg(long)]
    pub manage_gids: bool,

    /// The certificate that proves this server to clients that mount with xprtsec=tls: PEM, with intermediate certificates
    ///
    /// With it, TLS is offered to every client (RFC 9289); --tls says whether an export requires it. The files are read
    /// again at SIGHUP, and within a minute after they change. `howdah certificate` makes some.
    #[arg(long, visible_alias = "tls-cert", value_name = "FILE", help_heading = "TLS")]
    pub tls_certificate: Option<PathBuf>,

    /// The key of that certificate: PEM
    #[arg(long, value_name = "FILE", help_heading = "TLS")]
    pub tls_key: Option<PathBuf>,

    /// An authority that issues certificates of clients (xprtsec=mtls): PEM; may be given several times
    #[arg(long, visible_alias = "tls-ca", value_name = "FILE", help_heading = "TLS")]
    pub tls_client_ca: Vec<PathBuf>,

    /// Certificates of clients that are no longer good: a revocation list of such an authority (CRL, PEM); may be given several
    /// times
    ///
    /// `howdah certificate DIR --revoke FILE` makes one. It holds for new connections, once it is read again.
    #[arg(long, value_name = "FILE", help_heading = "TLS", requires = "tls_certificate")]
    pub tls_client_crl: Vec<PathBuf>,

    /// What the server gives up of its rights once its sockets and directories are open [default: auto]
    ///
    /// Auto leaves it the capabilities that it needs and, without privilege, nothing but its exports, its state directory and, to
    /// read, the system's files and where configuration and certificate lie (Landlock), where the kernel has it: a line at start
    /// tells. With Landlock, exporting another directory takes a restart, and a reload that would is refused.
    #[arg(long, value_name = "WHAT")]
    pub sandbox: Option<Sandbox>,

    /// Where this server may be asked what limits its clients, and told other sizes: a path, or off [default: auto]
    ///
    /// A Unix socket for this user and root, of which `howdah why`, `get` and `set` make use: HTTP and JSON, one
    /// question a connection. With auto it is in the state directory, where those commands look for it.
    #[arg(long, value_name = "PATH|off", value_parser = parse_admin)]
    pub admin: Option<AdminSocket>,

    /// Where a browser finds the live page, and programs the same answers over TCP: http://ADDRESS:PORT/ [default: nowhere]
    ///
    /// A client must know the token; on a terminal the address is printed with it. A port alone is one of 127.0.0.1. An
    /// address that other hosts reach takes a certificate and its key: then it is https. From elsewhere a tunnel does as well:
    /// ssh -L 9048:127.0.0.1:9048 HOST.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = parse_admin_listen, help_heading = "Monitoring")]
    pub admin_listen: Option<SocketAddr>,

    /// The file of that token, which nobody else may read [default: admin.token in the state directory]
    ///
    /// It is made at the first start. To take another token, write it there, or remove the file, and restart.
    #[arg(long, value_name = "FILE", help_heading = "Monitoring")]
    pub admin_token: Option<PathBuf>,

    /// The certificate for --admin-listen: PEM, with intermediate certificates
    #[arg(long, value_name = "FILE", help_heading = "Monitoring")]
    pub admin_certificate: Option<PathBuf>,

    /// The key of that certificate: PEM
    #[arg(long, value_name = "FILE", help_heading = "Monitoring")]
    pub admin_key: Option<PathBuf>,

    /// Where monitors such as Prometheus may ask for figures: http://ADDRESS:PORT/metrics [default: nowhere]
    ///
    /// An address of loopback, or a port of 127.0.0.1: anybody on this host may ask, and nothing but figures. An address
    /// that other hosts reach is refused, since they would go in the clear: there, --admin-listen answers /metrics too, with
    /// TLS and the token.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = parse_metrics, help_heading = "Monitoring")]
    pub metrics: Option<SocketAddr>,

    /// Give so many clients figures of their own in /metrics, those that moved most [default: 0]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(0..=MOST_METRICS_CLIENTS),
          help_heading = "Monitoring")]
    pub metrics_clients: Option<usize>,

    /// Size of each connection's send buffer [default: auto, what its path needs]
    ///
    /// A fixed size holds for new connections, whatever their path; it is bounded below by what two replies take.
    /// 0 is auto. Without CAP_NET_ADMIN the kernel bounds it by net.core.wmem_max.
    #[arg(long, value_name = "SIZE", value_parser = parse_send_buffer, help_heading = "Connections")]
    pub tcp_sndbuf: Option<Setting>,

    /// Size of each connection's receive buffer [default: auto, what its path needs]
    ///
    /// As above, bounded below by what three calls take. Needs CAP_NET_ADMIN.
    #[arg(long, value_name = "SIZE", value_parser = parse_receive_buffer, help_heading = "Connections")]
    pub tcp_rcvbuf: Option<Setting>,

    /// Congestion control of each connection [default: auto, what suits its peer]
    ///
    /// Auto is bbr to peers on other hosts where this one has it, and cubic to peers on this host. A name holds for
    /// all; it is one of net.ipv4.tcp_available_congestion_control.
    #[arg(long, value_name = "CC", value_parser = parse_congestion, help_heading = "Connections")]
    pub tcp_congestion: Option<Setting<Algorithm>>,

    /// What all connections together may hold in the kernel [default: auto, an eighth of the memory or less]
    #[arg(long, value_name = "SIZE", value_parser = parse_memory_budget, help_heading = "Connections")]
    pub memory_budget: Option<Setting>,

    /// Leave sockets as the kernel makes them, and do not look at them: for comparing
    #[arg(long, help_heading = "Connections", conflicts_with_all = ["tcp_sndbuf", "tcp_rcvbuf", "tcp_congestion", "memory_budget"])]
    pub no_tuning: bool,

    /// Make every call wait so long before it is carried out, as a slow disk would
    #[arg(long, value_name = "TIME", value_parser = parse_time, help_heading = "Experiments")]
    pub delay: Option<Duration>,

    /// Write every look at a connection to this file: what was seen, and what limits it, a line of JSON each
    ///
    /// An older file is replaced. A connection that moves something is looked at every four round trips, and at most ten
    /// times a second.
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

    /// Who may mount: an address, a network, a host name, or * for everyone; may be given several times
    /// [default: *]
    ///
    /// Host names are looked up at start and at SIGHUP. AUTH_SYS credentials are the client's word: whom you
    /// allow, you trust to say who its users are.
    #[arg(long, value_name = "CLIENTS", conflicts_with = "config")]
    pub allow: Vec<ClientPattern>,

    /// Whose calls act as the anonymous user: root's, everybody's, or nobody's
    ///
    /// As in other servers, a client's root is not this machine's root unless you say so.
    #[arg(long, default_value = "root", conflicts_with = "config")]
    pub squash: Squash,

    /// User id of the anonymous user
    #[arg(long, value_name = "N", default_value_t = ANONYMOUS, conflicts_with = "config")]
    pub anonymous_user: u32,

    /// Group id of the anonymous user
    #[arg(long, value_name = "N", default_value_t = ANONYMOUS, conflicts_with = "config")]
    pub anonymous_group: u32,

    /// Which calls must come from a port below 1024, which only root can use on the client
    ///
    /// By default those from this host: its ordinary users could otherwise call as any other user. Clients elsewhere may use
    /// any port, as macOS and user-space clients do. The rule needs a server that acts as its callers (root).
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

    /// What must protect calls: off, offered, required, or client-certificate [default: offered]
    ///
    /// required takes only calls over TLS, client-certificate only those of clients that prove who they are by a certificate
    /// of --tls-client-ca. Others are refused (AUTH_TOOWEAK; NFSv4: NFS4ERR_WRONGSEC). MOUNT is answered in any case.
    #[arg(long, value_name = "WHEN", value_parser = parse_tls_policy, conflicts_with = "config", help_heading = "TLS")]
    pub tls: Option<TlsPolicy>,

    /// Which delegations NFSv4 clients get: none, or read [default: none]
    ///
    /// A client that has a read delegation of a file opens it and reads what it has cached without asking the server, until another
    /// client is about to change the file. Only changes through this server are noticed: do not use it for files that processes
    /// of this host change, or that another server exports, too.
    #[arg(
        long,
        value_name = "KIND",
        default_value = "none",
        hide_default_value = true,
        conflicts_with = "config"
    )]
    pub delegations: Delegations,

    /// Let clients set the set-user-ID and set-group-ID bits of files [default: these bits are left out]
    ///
    /// With it, a client can make a program that runs as another user on this host. Mount the exported file system with
    /// nosuid then.
    #[arg(long, conflicts_with = "config")]
    pub set_id: bool,

    /// Answer a change when it is safe on disk (the default; said to be explicit)
    #[arg(long, conflicts_with_all = ["config", "answer_early"])]
    pub sync: bool,

    /// Answer a change before it is safe on disk: faster, but a crash of this machine loses changes that clients
    /// believe to be safe, without their noticing
    #[arg(long = "async", conflicts_with = "config")]
    pub answer_early: bool,

    /// Let clients walk into other file systems mounted below the directory [default: those look empty]
    #[arg(long, conflicts_with = "config")]
    pub cross_mounts: bool,
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
      What another server exports, passed on as its callers; with --cache, or as howdah relay, cached.
  howdah serve . --listen 127.0.0.1:0
      For this machine alone, on a port that the system chooses.
  howdah serve --config /etc/howdah.toml
      Several exports, with settings of their own; `howdah check` explains the file.

Exit code: 0 ended as asked, 1 could not start or continue, 2 wrong arguments or configuration.
";
