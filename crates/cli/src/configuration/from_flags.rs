//! From what was typed and what the file says to what it means. Flags win over the file, the file over defaults.

use std::ffi::OsStr;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use howdah_server::Tuning;

use super::caching;
use super::defaults::{LEASE, state_directory};
use super::file::FileSettings;
use super::identifier::identifier;
use super::limit_table::check_limits;
use super::listen::default_listen;
use super::refused_locks::check_locks;
use super::shared_files::check_delegations;
use super::taken::Taken;
use super::tls::check_policies;
use super::{
    Access, ClientPattern, ClientRule, Durability, ExportConfig, KerberosConfig, ServerConfig, Source,
};
use crate::arguments::{LogArguments, ServeArguments, ServerArguments};
use crate::running::check_log_filter;

/// Decides every setting; `file` brings the exports, wherever they were said.
pub fn decide(server: &ServerArguments, log: &LogArguments, file: FileSettings) -> Result<ServerConfig> {
    if let Some(filter) = &log.log {
        check_log_filter(filter).map_err(|what| anyhow!("--log {filter}: {what}"))?;
    }
    let mut config = ServerConfig {
        listen: Some(server.listen.clone())
            .filter(|listen| !listen.is_empty())
            .or(file.listen)
            .unwrap_or_else(default_listen),
        udp: !server.no_udp && file.udp.unwrap_or(true),
        udp_sockets: server.datagrams().or(file.datagrams).decide(),
        quic: server.quic.or(file.quic),
        workers: server.workers.or(file.workers).unwrap_or(howdah_server::limits::WORKERS),
        state: state(server.state.as_deref(), file.state)?,
        rpcbind: server.rpcbind.or(file.rpcbind).unwrap_or_default(),
        nfs4: !server.no_nfs4 && file.nfs4.unwrap_or(true),
        acls: !server.no_acls && file.acls.unwrap_or(true),
        lease: server.lease.or(file.lease).unwrap_or(LEASE),
        manage_gids: server.manage_gids || file.manage_gids.unwrap_or(false),
        quotas: server.quotas || file.quotas.unwrap_or(false),
        admin: server.admin.clone().or(file.admin).unwrap_or_default(),
        admin_listen: server.admin_listen().or(file.admin_listen).decide().map_err(|why| anyhow!(why))?,
        sandbox: server.sandbox.or(file.sandbox).unwrap_or_default(),
        tuning: Tuning { networks: file.networks, ..server.sizes().or(file.sizes).decide() },
        tls: server.tls().or(file.tls).decide().map_err(|why| anyhow!(why))?,
        kerberos: KerberosConfig {
            keytab: server.keytab.clone().map_or(Ok(file.kerberos.keytab), |typed| {
                std::path::absolute(&typed).map(Some).with_context(|| format!("--keytab {}", typed.display()))
            })?,
            ..file.kerberos
        },
        caps: file.caps.into_iter().chain(server.limit.clone()).collect(),
        shares: file.shares,
        cluster: file.cluster,
        metrics: server.metrics().or(file.metrics).decide(),
        experiment: server.experiment(),
        log: log.log.clone().or(file.log),
        log_format: log.log_format.or(file.log_format).unwrap_or_default(),
        exports: file.exports,
    };
    if let Some(cluster) = &config.cluster {
        cluster.share(&mut config.exports).map_err(|why| anyhow!(why))?;
    }
    each_address_once(&config)?;
    check_quic(&config)?;
    check_policies(config.tls.as_ref(), &config.exports).map_err(|why| anyhow!(why))?;
    check_delegations(&config.exports).map_err(|why| anyhow!(why))?;
    check_limits(&config.caps, &config.exports).map_err(|why| anyhow!(why))?;
    check_locks(&config.exports).map_err(|why| anyhow!(why))?;
    Ok(config)
}

/// QUIC needs a certificate, and a port to itself.
fn check_quic(config: &ServerConfig) -> Result<()> {
    let Some(quic) = config.quic else { return Ok(()) };
    if config.tls.is_none() {
        bail!(
            "`quic` (--quic): QUIC encrypts by TLS: set tls_certificate and tls_key (--tls-certificate, --tls-key)"
        );
    }
    let shares = |listen: &&SocketAddr| {
        listen.port() == quic.port()
            && (listen.ip() == quic.ip() || listen.ip().is_unspecified() || quic.ip().is_unspecified())
    };
    if config.udp && quic.port() != 0 && config.listen.iter().any(|listen| shares(&listen)) {
        let port = quic.port();
        bail!(
            "`quic` (--quic): NFS is served over UDP on port {port}: choose another port for QUIC, or serve no NFS over UDP \
             (udp = false, --no-udp)"
        );
    }
    Ok(())
}

/// With what flags say, too.
fn each_address_once(config: &ServerConfig) -> Result<()> {
    let mut taken = Taken::default();
    let listen = config.listen.iter().map(|address| ("listen", *address));
    let admin = config.admin_listen.iter().map(|admin| ("admin_listen", admin.address));
    let metrics = config.metrics.address.map(|address| ("metrics", address));
    listen.chain(admin).chain(metrics).try_for_each(|(setting, address)| {
        taken.take(setting, address).map_err(|what| anyhow!("`{setting}`: {what}"))
    })
}

/// The export that flags describe.
pub fn the_one_export(typed: &OsStr, arguments: &ServeArguments) -> Result<ExportConfig> {
    let flags = &arguments.export;
    let source = Source::parse(typed).map_err(|what| anyhow!("cannot serve this: {what}"))?;
    let caching = caching::from_flags(arguments.cache, &arguments.caching, &source)
        .map_err(|what| anyhow!("cannot cache this: {what}"))?;
    for (flag, id) in
        [("--anonymous-user", flags.anonymous_user), ("--anonymous-group", flags.anonymous_group)]
    {
        if id == u32::MAX {
            bail!("{flag} {id}: expected a number from 0 to {}", u32::MAX - 1);
        }
    }
    let access = Access {
        read_only: flags.read_only,
        privileged_ports: flags.privileged_ports,
        squash: flags.squash,
        anonymous_user: flags.anonymous_user,
        anonymous_group: flags.anonymous_group,
        sec: flags.sec,
    };
    let everyone = [ClientPattern::Everyone];
    let allowed = if flags.allow.is_empty() { &everyone[..] } else { &flags.allow[..] };
    Ok(ExportConfig {
        name: flags.name.clone(),
        id: identifier(&flags.name, &source),
        source,
        durability: if flags.answer_early { Durability::Async } else { Durability::Sync },
        cross_mounts: flags.cross_mounts,
        quota_in_df: flags.quota_in_df,
        set_id: flags.set_id,
        tls: flags.tls.unwrap_or_default(),
        delegations: flags.delegations,
        locks: flags.locks,
        disk_cache: caching::disk_from_flags(&arguments.caching),
        caching,
        shared: false,
        clients: allowed.iter().map(|who| ClientRule { who: who.clone(), access }).collect(),
    })
}

fn state(flag: Option<&Path>, file: Option<PathBuf>) -> Result<PathBuf> {
    match flag {
        Some(typed) => std::path::absolute(typed).with_context(|| format!("--state {}", typed.display())),
        None => file
            .or_else(state_directory)
            .context("choosing a state directory: this user has no home; name a directory with --state DIR"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use clap::Parser;

    use super::*;
    use crate::arguments::{Command, Howdah, LogFormat};
    use crate::configuration::{PrivilegedPorts, Rpcbind, Squash, load_arguments};

    fn meaning(typed: &[&str]) -> Result<ServerConfig> {
        let line = ["howdah", "serve"].iter().chain(typed);
        match Howdah::try_parse_from(line)?.command {
            Command::Serve(arguments) => load_arguments(&arguments),
            other => panic!("{other:?}"),
        }
    }

    fn listening(config: &ServerConfig) -> Vec<String> {
        config.listen.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_directory_alone_means_the_defaults() {
        let config = meaning(&["/usr", "--state", "/nonexistent"]).expect("good");
        assert!(config.listen.len() == 1 && config.listen[0].port() == 2049);
        assert!(config.listen[0].ip().is_unspecified() && config.udp);
        let export = &config.exports[0];
        assert_eq!((export.name.as_str(), export.source.directory()), ("/", Some(Path::new("/usr"))));
        assert_eq!((export.durability, export.cross_mounts), (Durability::Sync, false));
        let everyone = ClientRule { who: ClientPattern::Everyone, access: Access::usual() };
        assert_eq!(export.clients, [everyone]);
    }

    #[test]
    fn quic_needs_a_certificate_and_a_port_of_its_own() {
        let why = |typed: &[&str]| meaning(typed).expect_err("refused").to_string();
        assert!(why(&["/srv", "--quic", "4433"]).contains("--tls-certificate"));
        let tls = ["/srv", "--tls-certificate", "/c", "--tls-key", "/k", "--quic"];
        let with = |port, more: &[&'static str]| [&tls[..], &[port], more].concat();
        assert!(why(&with("2049", &[])).contains("--no-udp"));
        for more in [with("2049", &["--no-udp"]), with("4433", &[]), with("0", &[])] {
            assert!(meaning(&more).expect("good").quic.is_some(), "{more:?}");
        }
    }

    #[test]
    fn flags_describe_the_one_export() {
        let config = meaning(&[
            "/usr",
            "--state",
            "relative",
            "--name",
            "/data",
            "--read-only",
            "--allow",
            "10.0.0.0/8",
            "--allow",
            "::1",
            "--squash",
            "all",
            "--anonymous-user",
            "7",
            "--privileged-ports",
            "--async",
            "--cross-mounts",
            "--no-udp",
            "--sec",
            "krb5i:sys",
            "--keytab",
            "keys",
        ]);
        let config = config.expect("good");
        assert!(config.state.is_absolute() && !config.udp && config.kerberos.keytab().is_absolute());
        let export = &config.exports[0];
        assert_eq!(export.name.as_str(), "/data");
        assert_eq!((export.durability, export.cross_mounts), (Durability::Async, true));
        let who: Vec<String> = export.clients.iter().map(|rule| rule.who.to_string()).collect();
        assert_eq!(who, ["10.0.0.0/8", "::1"]);
        let access = Access {
            read_only: true,
            privileged_ports: PrivilegedPorts::Always,
            squash: Squash::All,
            anonymous_user: 7,
            anonymous_group: super::super::ANONYMOUS,
            sec: crate::configuration::parse_flavors("krb5i:sys").expect("two"),
        };
        assert!(export.clients.iter().all(|rule| rule.access == access));
    }

    #[test]
    fn flags_win_over_the_file_and_the_file_over_defaults() {
        let home = tempfile::tempdir().expect("a directory");
        let file = home.path().join("howdah.toml");
        let text = "listen = '10.0.0.1'\nudp = false\nworkers = 3\nstate = '/nonexistent/file'\nrpcbind = 'off'\n\
                    log = 'warn'\nlog_format = 'json'\n[[export]]\nname = '/usr'\npath = '/usr'\n";
        fs::write(&file, text).expect("written");
        let file = file.to_str().expect("text");

        let config = meaning(&["--config", file]).expect("good");
        assert_eq!(listening(&config), ["10.0.0.1:2049"]);
        assert_eq!((config.udp, config.workers, config.rpcbind), (false, 3, Rpcbind::Off));
        assert_eq!(config.log_format, LogFormat::Json);
        assert_eq!(config.state, PathBuf::from("/nonexistent/file"));

        let flags = ["--listen", "10.0.0.2:1", "--workers", "4", "--rpcbind", "auto", "--log-format", "text"];
        let config = meaning(&[&["--config", file], &flags[..]].concat()).expect("good");
        assert_eq!(listening(&config), ["10.0.0.2:1"]);
        assert_eq!((config.workers, config.rpcbind, config.log_format), (4, Rpcbind::Auto, LogFormat::Text));
    }
}
