//! From what was typed, and the file that it names, to a configuration. Flags win over the file.

use std::ffi::OsStr;
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow, bail};
use howdah_config::{
    ClientAccess, ClientPattern, ClientRuleConfig, Durability, ExportConfig, FileSettings, KerberosConfig,
    ServerConfig, Source, check_log_filter, identifier, read_file,
};

use super::{LogArguments, ServeArguments, ServerArguments};

/// What these arguments mean; reads the file that they name, again at every call.
pub fn load_arguments(arguments: &ServeArguments) -> Result<ServerConfig> {
    let server = &arguments.server;
    let mut file = match &server.config {
        Some(path) => read_file(path, &server.admin_listen())?,
        None => FileSettings::default(),
    };
    if let Some(what) = &arguments.what {
        file.exports = vec![the_one_export(what, arguments)?];
    }
    over(server, &arguments.log, file)?.decide()
}

/// What flags say, and where they say nothing, the file.
fn over(server: &ServerArguments, log: &LogArguments, file: FileSettings) -> Result<FileSettings> {
    if let Some(filter) = &log.log {
        check_log_filter(filter).map_err(|what| anyhow!("--log {filter}: {what}"))?;
    }
    let absolute = |flag: &str, typed: &Option<PathBuf>| {
        let typed = typed.as_ref();
        typed
            .map(|path| std::path::absolute(path).with_context(|| format!("{flag} {}", path.display())))
            .transpose()
    };
    Ok(FileSettings {
        listen: Some(server.listen.clone()).filter(|listen| !listen.is_empty()).or(file.listen),
        udp: server.no_udp.then_some(false).or(file.udp),
        datagrams: server.datagrams().or(file.datagrams),
        quic: server.quic.or(file.quic),
        workers: server.workers.or(file.workers),
        state: absolute("--state", &server.state)?.or(file.state),
        rpcbind: server.rpcbind.or(file.rpcbind),
        nfs4: server.no_nfs4.then_some(false).or(file.nfs4),
        acls: server.no_acls.then_some(false).or(file.acls),
        lease: server.lease.or(file.lease),
        manage_gids: server.manage_gids.then_some(true).or(file.manage_gids),
        quotas: server.quotas.then_some(true).or(file.quotas),
        admin: server.admin.clone().or(file.admin),
        admin_listen: server.admin_listen().or(file.admin_listen),
        sandbox: server.sandbox.or(file.sandbox),
        sizes: server.sizes().or(file.sizes),
        tls: server.tls().or(file.tls),
        kerberos: KerberosConfig {
            keytab: absolute("--keytab", &server.keytab)?.or(file.kerberos.keytab),
            ..file.kerberos
        },
        caps: file.caps.into_iter().chain(server.limit.clone()).collect(),
        metrics: server.metrics().or(file.metrics),
        experiment: server.experiment(),
        log: log.log.clone().or(file.log),
        log_format: log.log_format.or(file.log_format),
        ..file
    })
}

/// The export that flags describe.
fn the_one_export(typed: &OsStr, arguments: &ServeArguments) -> Result<ExportConfig> {
    let flags = &arguments.export;
    let source = Source::parse(typed).map_err(|what| anyhow!("cannot serve this: {what}"))?;
    let caching = arguments
        .caching
        .options(arguments.cache, &source)
        .map_err(|what| anyhow!("cannot cache this: {what}"))?;
    for (flag, id) in
        [("--anonymous-user", flags.anonymous_user), ("--anonymous-group", flags.anonymous_group)]
    {
        if id == u32::MAX {
            bail!("{flag} {id}: expected a number from 0 to {}", u32::MAX - 1);
        }
    }
    let access = ClientAccess {
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
        disk_cache: arguments.caching.disk(),
        caching,
        shared: false,
        clients: allowed.iter().map(|who| ClientRuleConfig { who: who.clone(), access }).collect(),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use clap::Parser;
    use howdah_config::{LogFormat, PrivilegedPorts, Rpcbind, Squash};

    use super::*;
    use crate::arguments::{Command, Howdah};

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
        let everyone = ClientRuleConfig { who: ClientPattern::Everyone, access: ClientAccess::usual() };
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
        let access = ClientAccess {
            read_only: true,
            privileged_ports: PrivilegedPorts::Always,
            squash: Squash::All,
            anonymous_user: 7,
            anonymous_group: howdah_config::ANONYMOUS,
            sec: howdah_config::parse_flavors("krb5i:sys").expect("two"),
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
