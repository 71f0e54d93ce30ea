//! The configuration file as a whole: server settings, then `[[export]]` after `[[export]]`.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use howdah_server::ShareRule;
use howdah_server::caps::CapRule;
use howdah_server::tuning::{
    NetworkSizes, parse_congestion, parse_memory_budget, parse_receive_buffer, parse_send_buffer,
};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::admin::admin_in_file;
use super::cluster::cluster;
use super::datagrams::{Datagrams, parse_udp_sockets};
use super::defaults::{LONGEST_LEASE, SHORTEST_LEASE};
use super::export_table::export;
use super::kerberos::kerberos;
use super::known_exports::KnownExports;
use super::limit_table::limits;
use super::network_table::network;
use super::section::{Section, absolute, kind, number, size, text, truth};
use super::share_table::shares;
use super::sizes::Sizes;
use super::taken::Taken;
use super::{
    AdminListenSaid, AdminSocket, ClusterConfig, Experiment, ExportConfig, KerberosConfig,
    MOST_METRICS_CLIENTS, MOST_WORKERS, MetricsSaid, Problem, Rpcbind, Sandbox, TlsSaid, parse_admin_listen,
    parse_listen, parse_metrics,
};
use crate::log::{LogFormat, check_log_filter};

const NOTHING_TO_SERVE: &str = "no [[export]]: there is nothing to serve";

/// What a file says, or a command line; what it does not say is empty.
#[derive(Debug, Default)]
pub struct FileSettings {
    /// Where to listen.
    pub listen: Option<Vec<SocketAddr>>,
    /// Whether UDP is served beside TCP.
    pub udp: Option<bool>,
    /// How many sockets UDP has.
    pub datagrams: Datagrams,
    /// Calls of one export in its storage at the same time.
    pub workers: Option<usize>,
    /// What survives a restart.
    pub state: Option<PathBuf>,
    /// How clients find the port.
    pub rpcbind: Option<Rpcbind>,
    /// Whether NFSv4 is served.
    pub nfs4: Option<bool>,
    /// Whether NFSv3 clients see POSIX ACLs.
    pub acls: Option<bool>,
    /// How long a silent client keeps its state.
    pub lease: Option<Duration>,
    /// Whether groups come from this host's database.
    pub manage_gids: Option<bool>,
    /// Whether clients may ask for quotas.
    pub quotas: Option<bool>,
    /// What the server gives up of its rights.
    pub sandbox: Option<Sandbox>,
    /// The admin socket.
    pub admin: Option<AdminSocket>,
    /// The admin interface over TCP.
    pub admin_listen: AdminListenSaid,
    /// Certificates.
    pub tls: TlsSaid,
    /// Keys and names of Kerberos.
    pub kerberos: KerberosConfig,
    /// What is shared with other servers.
    pub cluster: Option<ClusterConfig>,
    /// What monitors are offered.
    pub metrics: MetricsSaid,
    /// Where QUIC is served.
    pub quic: Option<SocketAddr>,
    /// Sizes of connections.
    pub sizes: Sizes,
    /// The same for some networks.
    pub networks: Vec<NetworkSizes>,
    /// What some clients may have at most.
    pub caps: Vec<CapRule>,
    /// How much clients get of what is short.
    pub shares: Vec<ShareRule>,
    /// What to log.
    pub log: Option<String>,
    /// In which form.
    pub log_format: Option<LogFormat>,
    /// Said by flags alone.
    pub experiment: Experiment,
    /// What is served.
    pub exports: Vec<ExportConfig>,
}

/// Reads the text of a file: all of its settings, or all of its problems. Flags may say the rest of what the file says of the
/// admin interface.
pub fn read(file: &str, flags: &AdminListenSaid) -> Result<FileSettings, Vec<Problem>> {
    let (table, errors) = DeTable::parse_recoverable(file);
    if !errors.is_empty() {
        // What follows a slip in the syntax is often misread: further problems would mislead.
        let start = |error: &&toml::de::Error| error.span().map(|place| place.start);
        return Err(errors.iter().min_by_key(start).map(|error| syntax(file, error)).into_iter().collect());
    }
    let mut problems = Vec::new();
    let settings = settings(table.get_ref(), flags, &mut problems);
    if problems.is_empty() { Ok(settings) } else { Err(problems) }
}

fn syntax(file: &str, error: &toml::de::Error) -> Problem {
    let (place, message) = (error.span(), error.message());
    // What is missing at the end of a line is found on the next.
    let is_below =
        place.as_ref().and_then(|place| file.get(..place.start)).is_some_and(|before| before.contains('\n'));
    let may_be_above = is_below && !message.starts_with("duplicate key");
    let help = may_be_above.then(|| "what is wrong may be at the end of the line before".to_owned());
    Problem { place, what: format!("not TOML: {message}"), help }
}

fn settings(table: &DeTable<'_>, flags: &AdminListenSaid, problems: &mut Vec<Problem>) -> FileSettings {
    let mut section = Section::new("the file", table, 0..0, problems);
    let mut taken = Taken::default();
    let settings = FileSettings {
        listen: listen(&mut section, &mut taken),
        udp: section.setting("udp", truth).map(Spanned::into_inner),
        datagrams: datagrams(&mut section),
        quic: section.setting("quic", size(parse_listen)).map(Spanned::into_inner),
        workers: section
            .setting("workers", number(1..=MOST_WORKERS))
            .and_then(|workers| usize::try_from(workers.into_inner()).ok()),
        state: section.setting("state", absolute).map(Spanned::into_inner),
        rpcbind: section.setting("rpcbind", rpcbind).map(Spanned::into_inner),
        nfs4: section.setting("nfs4", truth).map(Spanned::into_inner),
        acls: section.setting("acls", truth).map(Spanned::into_inner),
        lease: section.setting("lease", lease).map(Spanned::into_inner),
        manage_gids: section.setting("manage_gids", truth).map(Spanned::into_inner),
        quotas: section.setting("quotas", truth).map(Spanned::into_inner),
        sandbox: section.setting("sandbox", sandbox).map(Spanned::into_inner),
        admin: section.setting("admin", |value| admin_in_file(text(value)?)).map(Spanned::into_inner),
        admin_listen: admin_listen(&mut section, flags, &mut taken),
        tls: tls(&mut section),
        kerberos: kerberos(&mut section),
        cluster: cluster(&mut section, there),
        metrics: metrics(&mut section, &mut taken),
        sizes: sizes(&mut section),
        networks: networks(&mut section),
        caps: limits(&mut section),
        shares: shares(&mut section),
        log: section.setting("log", log).map(Spanned::into_inner),
        log_format: section.setting("log_format", log_format).map(Spanned::into_inner),
        experiment: Experiment::default(),
        exports: exports(&mut section),
    };
    section.finish();
    settings
}

fn lease(value: &DeValue<'_>) -> Result<Duration, String> {
    number(SHORTEST_LEASE..=LONGEST_LEASE)(value).map(Duration::from_secs)
}

fn admin_listen(
    section: &mut Section<'_, '_>,
    flags: &AdminListenSaid,
    taken: &mut Taken,
) -> AdminListenSaid {
    let before = section.problems().len();
    let address = section.setting("admin_listen", size(parse_admin_listen));
    // One that a flag takes the place of need not be there.
    let pem = |flag: &Option<PathBuf>| if flag.is_some() { absolute } else { there };
    let certificate = section.setting("admin_certificate", pem(&flags.certificate));
    let key = section.setting("admin_key", pem(&flags.key));
    // What is wrong already, and what flags say of it, may be what would be missed.
    let is_all = section.problems().len() == before && *flags == AdminListenSaid::default();
    let token = section.setting("admin_token", absolute);
    take(section, taken, "admin_listen", address.as_ref());
    let files = [&token, &certificate, &key].into_iter().flatten().map(Spanned::span);
    let place = address.iter().map(Spanned::span).chain(files).next();
    let said = AdminListenSaid {
        address: address.map(Spanned::into_inner),
        token: token.map(Spanned::into_inner),
        certificate: certificate.map(Spanned::into_inner),
        key: key.map(Spanned::into_inner),
    };
    if let (true, Some(place), Err(what)) = (is_all, place, said.clone().decide()) {
        section.problem(place, what);
    }
    said
}

fn tls(section: &mut Section<'_, '_>) -> TlsSaid {
    TlsSaid {
        certificate: section.setting("tls_certificate", absolute).map(Spanned::into_inner),
        key: section.setting("tls_key", absolute).map(Spanned::into_inner),
        client_ca: section.setting("tls_client_ca", paths).map(Spanned::into_inner).unwrap_or_default(),
        client_crl: section.setting("tls_client_crl", paths).map(Spanned::into_inner).unwrap_or_default(),
    }
}

/// One path, or a list of them.
fn paths(value: &DeValue<'_>) -> Result<Vec<PathBuf>, String> {
    match value {
        DeValue::Array(items) => items.iter().map(|item| absolute(item.get_ref())).collect(),
        value => absolute(value).map(|path| vec![path]),
    }
}

/// Notes if the server has this address for something else.
fn take(
    section: &mut Section<'_, '_>,
    taken: &mut Taken,
    key: &'static str,
    address: Option<&Spanned<SocketAddr>>,
) {
    if let Some(address) = address
        && let Err(what) = taken.take(key, *address.get_ref())
    {
        section.problem(address.span(), format!("`{key}`: {what}"));
    }
}

fn metrics(section: &mut Section<'_, '_>, taken: &mut Taken) -> MetricsSaid {
    let address = section.setting("metrics", size(parse_metrics));
    take(section, taken, "metrics", address.as_ref());
    MetricsSaid {
        address: address.map(Spanned::into_inner),
        clients: section
            .setting("metrics_clients", number(0..=MOST_METRICS_CLIENTS))
            .and_then(|clients| usize::try_from(clients.into_inner()).ok()),
    }
}

fn datagrams(section: &mut Section<'_, '_>) -> Datagrams {
    Datagrams {
        sockets: section.setting("udp_sockets", size(parse_udp_sockets)).map(Spanned::into_inner),
        per_interface: section.setting("udp_per_interface", truth).map(Spanned::into_inner),
    }
}

fn sizes(section: &mut Section<'_, '_>) -> Sizes {
    Sizes {
        tcp_sndbuf: section.setting("tcp_sndbuf", size(parse_send_buffer)).map(Spanned::into_inner),
        tcp_rcvbuf: section.setting("tcp_rcvbuf", size(parse_receive_buffer)).map(Spanned::into_inner),
        tcp_congestion: section
            .setting("tcp_congestion", |value| parse_congestion(text(value)?))
            .map(Spanned::into_inner),
        memory_budget: section.setting("memory_budget", size(parse_memory_budget)).map(Spanned::into_inner),
        tuning: section.setting("tuning", truth).map(Spanned::into_inner),
    }
}

fn networks(section: &mut Section<'_, '_>) -> Vec<NetworkSizes> {
    let Some(value) = section.raw("network") else { return Vec::new() };
    let DeValue::Array(items) = value.get_ref() else {
        let what =
            format!("`network`: expected [[network]] in double brackets, found {}", kind(value.get_ref()));
        section.problem(value.span(), what);
        return Vec::new();
    };
    items.iter().flat_map(|item| network(item, section.problems())).collect()
}

fn listen(section: &mut Section<'_, '_>, taken: &mut Taken) -> Option<Vec<SocketAddr>> {
    let value = section.raw("listen")?;
    let items = match value.get_ref() {
        DeValue::Array(items) => items.iter().collect(),
        _ => vec![value],
    };
    if items.is_empty() {
        section.problem(value.span(), "`listen`: an empty list; leave it out for the default".to_owned());
    }
    let mut addresses = Vec::new();
    for item in items {
        match text(item.get_ref()).and_then(parse_listen) {
            Ok(address) => {
                take(section, taken, "listen", Some(&Spanned::new(item.span(), address)));
                addresses.push(address);
            }
            Err(what) => section.problem(item.span(), format!("`listen`: {what}")),
        }
    }
    Some(addresses)
}

fn exports(section: &mut Section<'_, '_>) -> Vec<ExportConfig> {
    let Some(value) = section.raw("export") else {
        section.problem_of_all(NOTHING_TO_SERVE.to_owned());
        return Vec::new();
    };
    let DeValue::Array(items) = value.get_ref() else {
        let what =
            format!("`export`: expected [[export]] in double brackets, found {}", kind(value.get_ref()));
        section.problem(value.span(), what);
        return Vec::new();
    };
    if items.is_empty() {
        section.problem(value.span(), NOTHING_TO_SERVE.to_owned());
    }
    let mut known = KnownExports::default();
    items.iter().filter_map(|item| export(item, &mut known, section.problems())).collect()
}

/// A file that must be there. Whether it may be read is another matter: whoever checks may be another user than who serves.
fn there(value: &DeValue<'_>) -> Result<PathBuf, String> {
    let path = absolute(value)?;
    match path.metadata() {
        Err(error) if is_absent(&error) => {
            Err(format!("{} cannot be read: there is no such file", path.display()))
        }
        Ok(file) if file.is_dir() => Err(format!("{} cannot be read: it is a directory", path.display())),
        _ => Ok(path),
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn rpcbind(value: &DeValue<'_>) -> Result<Rpcbind, String> {
    match text(value)? {
        "auto" => Ok(Rpcbind::Auto),
        "off" => Ok(Rpcbind::Off),
        _ => Err("expected \"auto\" or \"off\"".to_owned()),
    }
}

fn sandbox(value: &DeValue<'_>) -> Result<Sandbox, String> {
    let written = text(value)?;
    let known = [Sandbox::Auto, Sandbox::Seccomp, Sandbox::Strict, Sandbox::NoLandlock, Sandbox::Off];
    known.into_iter().find(|sandbox| sandbox.as_str() == written).ok_or_else(|| {
        let names = known.map(|sandbox| format!("\"{}\"", sandbox.as_str()));
        format!("expected one of {}", names.join(", "))
    })
}

fn log(value: &DeValue<'_>) -> Result<String, String> {
    let filter = text(value)?;
    check_log_filter(filter)?;
    Ok(filter.to_owned())
}

fn log_format(value: &DeValue<'_>) -> Result<LogFormat, String> {
    match text(value)? {
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        _ => Err("expected \"text\" or \"json\"".to_owned()),
    }
}
