//! Every setting that holds, as `howdah check` and `howdah exports` show it.

use std::fmt::Write;
use std::iter;
use std::path::{Path, PathBuf};
use std::time::Duration;

use howdah_layers::CachingOptions;
use howdah_server::caps::{CapRule, show_bytes, show_calls};
use howdah_server::exports::{PrincipalSettings, SecurityFlavor, SecurityFlavors, TlsPolicy};
use howdah_server::{Tuning, UdpSettings};
use howdah_tls::ServerFiles;
use howdah_tune::{Algorithm, Own, Setting};
use howdah_units::power_of_two;

use howdah_config::DiskCacheSettings;
use howdah_config::LogFormat;
use howdah_config::{
    AdminListen, ClientAccess, ExportConfig, ExportLocks, KerberosConfig, Metrics, PrivilegedPorts, Rpcbind,
    ServerConfig, Source, Squash, asks_kerberos,
};
use howdah_daemon::host::admin_token_file;
use howdah_daemon::serve::{ExportStanding, OpenedExport};

/// The settings of the server, a line each.
pub fn server(config: &ServerConfig) -> String {
    let listen = config.listen.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:<20}{value}");
    };
    line("listen", &format!("{listen} ({})", if config.udp { "TCP and UDP" } else { "TCP" }));
    if config.udp {
        line("UDP", &datagrams(&config.udp_sockets));
    }
    if let Some(quic) = config.quic {
        line("QUIC", &quic.to_string());
    }
    line("workers", &config.workers.to_string());
    line("state", &config.state.display().to_string());
    line(
        "rpcbind",
        match config.rpcbind {
            Rpcbind::Auto => "auto: register, or answer in its place",
            Rpcbind::Off => "off",
        },
    );
    line("versions", if config.nfs4 { "3, 4.1, 4.2" } else { "3" });
    if config.nfs4 {
        line("lease", &format!("{} s", config.lease.as_secs()));
    }
    if !config.acls {
        line("ACLs", "off");
    }
    if config.manage_gids {
        line("groups", "of each caller, looked up on this host");
    }
    if config.quotas {
        line("quotas", "shown to clients that ask");
    }
    line("sandbox", config.sandbox.as_str());
    line("admin", &config.admin.to_string());
    if let Some(listen) = &config.admin_listen {
        line("live page", &live_page(listen, &config.state));
    }
    if let Some(files) = &config.tls {
        line("TLS", &tls(files));
    }
    if asks_kerberos(&config.exports) {
        line("Kerberos", &kerberos(&config.kerberos));
    }
    if let Some(cluster) = &config.cluster {
        line("cluster", &format!("{}, by the key in {}", cluster.id, cluster.key_file.display()));
        if let Some(records) = &cluster.records {
            line("", &format!("with records of clients for all heads in {}", records.display()));
        }
    }
    line("metrics", &metrics(&config.metrics));
    line("connections", &connections(&config.tuning));
    for network in &config.tuning.networks {
        line("", &format!("of {}: {}", network.clients, own(&network.own)));
    }
    for (rule, key) in config.caps.iter().zip(iter::once("limits").chain(iter::repeat(""))) {
        line(key, &cap(rule));
    }
    for (share, key) in config.shares.iter().zip(iter::once("shares").chain(iter::repeat(""))) {
        line(key, &format!("{}: weight {}", share.clients, share.weight));
    }
    line(
        "log",
        &format!(
            "{}, {}",
            config.log.as_deref().unwrap_or("info"),
            match config.log_format {
                LogFormat::Text => "text",
                LogFormat::Json => "json",
            }
        ),
    );
    text
}

/// A rule of `[[limit]]`.
fn cap(rule: &CapRule) -> String {
    let clients = rule.clients.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let clients = if clients.is_empty() { "all clients".to_owned() } else { clients };
    let each = if rule.per_client { ", each address by itself" } else { "" };
    let exports =
        if rule.exports.is_empty() { String::new() } else { format!(" on {}", rule.exports.join(", ")) };
    let rates = [
        rule.read.map(|rate| format!("read {}", show_bytes(Some(rate)))),
        rule.write.map(|rate| format!("write {}", show_bytes(Some(rate)))),
        rule.calls.map(|rate| format!("calls {}", show_calls(Some(rate)))),
    ];
    let rates: Vec<String> = rates.into_iter().flatten().collect();
    let rates = if rates.is_empty() { "no cap".to_owned() } else { rates.join(", ") };
    format!("{}: {clients}{each}{exports}: {rates}, burst {:?}", rule.name, rule.burst)
}

/// Where a browser may ask, in words.
fn live_page(listen: &AdminListen, state: &Path) -> String {
    let scheme = if listen.tls.is_some() { "https" } else { "http" };
    let token = admin_token_file(state, listen.token.as_deref());
    format!("{scheme}://{}/, with the token in {}", listen.address, token.display())
}

fn joined(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// What proves the server, in words.
fn tls(files: &ServerFiles) -> String {
    let clients = match files.authorities.as_slice() {
        [] => "no client certificates".to_owned(),
        authorities => {
            let revoked = match files.revocations.as_slice() {
                [] => String::new(),
                lists => format!(", except those revoked by {}", joined(lists)),
            };
            format!("requests client certificates of {}{revoked}", joined(authorities))
        }
    };
    format!("certificate {}, key {}; {clients}", files.certificate.display(), files.key.display())
}

/// The keys of the server, and who is who, in words.
fn kerberos(config: &KerberosConfig) -> String {
    let PrincipalSettings { table, realms, .. } = &config.principals;
    let realms = match realms.as_slice() {
        [] => "users of the keytab's realm".to_owned(),
        realms => format!("users of {}", realms.join(", ")),
    };
    let named = match table.len() {
        0 => String::new(),
        1 => ", 1 principal named".to_owned(),
        count => format!(", {count} principals named"),
    };
    format!("keytab {}; {realms}{named}", config.keytab().display())
}

/// What monitors are offered, in words.
fn metrics(metrics: &Metrics) -> String {
    let place = metrics
        .address
        .map_or_else(|| "on the admin socket".to_owned(), |address| format!("http://{address}/metrics"));
    match metrics.clients {
        0 => place,
        clients => format!("{place}, with the {clients} busiest clients"),
    }
}

/// What UDP is served with, in words.
fn datagrams(udp: &UdpSettings) -> String {
    let count = match udp.sockets {
        None => "as many sockets as there are CPUs".to_owned(),
        Some(1) => "one socket".to_owned(),
        Some(count) => format!("{count} sockets"),
    };
    let of =
        if udp.per_interface { "for each interface, and one for each address" } else { "for each address" };
    format!("{count} {of}")
}

/// How connections are sized, in words.
fn connections(tuning: &Tuning) -> String {
    if !tuning.enabled {
        return "kernel defaults".to_owned();
    }
    format!(
        "send buffer {}, receive buffer {}, congestion control {}, memory of all {}",
        size(tuning.send_buffer),
        size(tuning.receive_buffer),
        congestion(tuning.congestion),
        size(tuning.memory_budget)
    )
}

/// What holds for some connections instead.
fn own(own: &Own) -> String {
    let parts = [
        own.send_buffer.map(|setting| format!("send buffer {}", size(setting))),
        own.receive_buffer.map(|setting| format!("receive buffer {}", size(setting))),
        own.congestion.map(|setting| format!("congestion control {}", congestion(setting))),
    ];
    let said: Vec<String> = parts.into_iter().flatten().collect();
    if said.is_empty() { "as the others".to_owned() } else { said.join(", ") }
}

fn size(setting: Setting) -> String {
    match setting {
        Setting::Auto => "auto".to_owned(),
        Setting::Fixed(bytes) => format!("{bytes} bytes"),
    }
}

fn congestion(setting: Setting<Algorithm>) -> String {
    match setting {
        Setting::Auto => "auto".to_owned(),
        Setting::Fixed(name) => name.to_string(),
    }
}

/// The settings of each export, a paragraph each, with how it turned out; nothing is known of that for a file.
pub fn exports(exports: &[ExportConfig], standings: &[ExportStanding]) -> String {
    let standings = standings.iter().cloned().chain(std::iter::repeat_with(ExportStanding::default));
    let paragraphs = exports.iter().zip(standings).map(|(one, standing)| export(one, &standing));
    paragraphs.collect::<Vec<_>>().join("\n")
}

fn export(export: &ExportConfig, standing: &ExportStanding) -> String {
    let mut text = format!("export {}\n", export.name);
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "  {name:<18}{value}");
    };
    let from = match export.source {
        Source::Directory(_) => "directory",
        Source::Memory(_) => "files",
        Source::Server(_) => "server",
    };
    line(from, &export.source.to_string());
    if let Some(why) = &standing.gone {
        line("GONE", why);
    }
    line("id", &export.id.to_string());
    line("durability", &export.durability.to_string());
    if let Source::Server(_) = export.source {
        line("caches", &caches(export.caching.as_ref()));
        if let Some(DiskCacheSettings { directory, size }) = &export.disk_cache {
            line("cache on disk", &format!("{}, at most {}", directory.display(), power_of_two(*size)));
        }
    }
    if export.tls != TlsPolicy::Offered {
        line("TLS", export.tls.name());
    }
    match &standing.undelegated {
        Some(why) => line("delegations", &format!("none: {why}")),
        None => line("delegations", &export.delegations.to_string()),
    }
    if export.locks == ExportLocks::Refuse {
        line("locks", "refused");
    }
    line("set-ID bits", if export.set_id { "clients may set them" } else { "dropped" });
    line("cross mounts", if export.cross_mounts { "yes" } else { "no" });
    if export.quota_in_df {
        line("space", "as the caller's quotas leave it");
    }
    for (index, rule) in export.clients.iter().enumerate() {
        let title = if index == 0 { "clients" } else { "" };
        line(title, &format!("{}: {}", rule.who, access(&rule.access, OpenedExport::AS_ROOT)));
    }
    text
}

/// What is cached of another server's export, in words.
fn caches(caching: Option<&CachingOptions>) -> String {
    let Some(CachingOptions { memory_budget, attributes, .. }) = caching else {
        return "none: every call is forwarded".to_owned();
    };
    let times = |min: Duration, max: Duration| match min == max {
        true => format!("{} s", min.as_secs_f64()),
        false => format!("{} to {} s", min.as_secs_f64(), max.as_secs_f64()),
    };
    format!(
        "{} MiB of data; attributes of files for {}, of directories for {}",
        memory_budget >> 20,
        times(attributes.file_min, attributes.file_max),
        times(attributes.directory_min, attributes.directory_max)
    )
}

/// What clients may do, in words. Squashing and ports appear only if they have an effect.
pub fn access(access: &ClientAccess, opened: OpenedExport) -> String {
    let writing = if access.read_only { "read only" } else { "read and write" };
    let anonymous = format!("{}:{}", access.anonymous_user, access.anonymous_group);
    let squash = match access.squash {
        _ if !opened.acts_as_caller => String::new(),
        Squash::Root => format!(", root acts as {anonymous}"),
        Squash::All => format!(", everyone acts as {anonymous}"),
        Squash::None => ", root acts as root".to_owned(),
        Squash::Certificate => {
            format!(", everyone acts as the user of the client's certificate, or as {anonymous}")
        }
    };
    let ports = match access.privileged_ports {
        // Calls by Kerberos may come from any.
        _ if !access.sec.contains(SecurityFlavor::Sys) => "any port",
        PrivilegedPorts::Always => "ports below 1024",
        PrivilegedPorts::Local if opened.guards_far => "ports below 1024",
        PrivilegedPorts::Local if opened.guards_host => "any port (from this host: below 1024)",
        PrivilegedPorts::Local | PrivilegedPorts::Never => "any port",
    };
    let flavors = match access.sec {
        SecurityFlavors::SYS => String::new(),
        flavors => format!(", sec={flavors}"),
    };
    format!("{writing}{squash}, {ports}{flavors}")
}
