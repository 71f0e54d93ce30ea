//! Every setting in effect as JSON, for `howdah check --json` and `howdah exports --json`. The keys are those of the configuration file.

use std::iter;
use std::path::Path;

use howdah_layers::CachingOptions;
use howdah_server::ShareRule;
use howdah_server::caps::CapRule;
use howdah_server::tuning::NetworkSizes;
use howdah_tune::{Algorithm, Setting};
use serde_json::{Value, json};

use howdah_config::DiskCacheSettings;
use howdah_config::LogFormat;
use howdah_config::{
    AdminListen, AdminSocket, ClientRuleConfig, ExportConfig, KerberosConfig, PrivilegedPorts, Rpcbind,
    ServerConfig, Source, asks_kerberos,
};
use howdah_daemon::host::admin_token_file;
use howdah_daemon::serve::ExportStanding;

/// The settings of the server and of its exports, in one object. `standings` says how exports turned out; it is empty for a file.
pub fn settings_json(config: &ServerConfig, standings: &[ExportStanding]) -> Value {
    let mut settings = server(config);
    settings["tls_certificate"] = json!(config.tls.as_ref().map(|files| path(&files.certificate)));
    settings["tls_key"] = json!(config.tls.as_ref().map(|files| path(&files.key)));
    settings["tls_client_ca"] =
        config.tls.iter().flat_map(|files| &files.authorities).map(|file| path(file)).collect();
    settings["tls_client_crl"] =
        config.tls.iter().flat_map(|files| &files.revocations).map(|file| path(file)).collect();
    settings["tuning"] = json!(config.tuning.enabled);
    settings["tcp_sndbuf"] = size(config.tuning.send_buffer);
    settings["tcp_rcvbuf"] = size(config.tuning.receive_buffer);
    settings["tcp_congestion"] = congestion(config.tuning.congestion);
    settings["memory_budget"] = size(config.tuning.memory_budget);
    settings["networks"] = config.tuning.networks.iter().map(network).collect();
    let share = |share: &ShareRule| json!({ "clients": share.clients.to_string(), "weight": share.weight });
    settings["shares"] = config.shares.iter().map(share).collect();
    settings["limits"] = config.caps.iter().map(cap).collect();
    let standings = standings.iter().cloned().chain(iter::repeat_with(ExportStanding::default));
    let exports = config.exports.iter().zip(standings);
    settings["exports"] = exports.map(|(one, standing)| export(one, &standing)).collect();
    settings
}

fn server(config: &ServerConfig) -> Value {
    let admin = match &config.admin {
        AdminSocket::Auto => json!("auto"),
        AdminSocket::At(at) => path(at),
        AdminSocket::Off => json!("off"),
    };
    let cluster = config.cluster.as_ref();
    json!({
        "listen": config.listen,
        "udp": config.udp,
        "udp_sockets": config.udp_sockets.sockets.map_or_else(|| json!("auto"), |count| json!(count)),
        "udp_per_interface": config.udp_sockets.per_interface,
        "quic": config.quic,
        "workers": config.workers,
        "state": path(&config.state),
        "rpcbind": match config.rpcbind {
            Rpcbind::Auto => "auto",
            Rpcbind::Off => "off",
        },
        "nfs4": config.nfs4,
        "acls": config.acls,
        "lease": config.lease.as_secs(),
        "manage_gids": config.manage_gids,
        "quotas": config.quotas,
        "sandbox": config.sandbox.as_str(),
        "admin": admin,
        "admin_listen": config.admin_listen.as_ref().map(|listen| live_page(listen, &config.state)),
        "kerberos": asks_kerberos(&config.exports).then(|| kerberos(&config.kerberos)),
        "cluster": cluster.map(|cluster| json!({
            "id": cluster.id,
            "key_file": path(&cluster.key_file),
            "records": cluster.records.as_deref().map(path),
        })),
        "metrics": config.metrics.address,
        "metrics_clients": config.metrics.clients,
        "log": config.log.as_deref().unwrap_or("info"),
        "log_format": match config.log_format {
            LogFormat::Text => "text",
            LogFormat::Json => "json",
        },
    })
}

fn kerberos(config: &KerberosConfig) -> Value {
    json!({
        "keytab": path(config.keytab()),
        "realms": config.principals.realms,
        "principals": config.principals.table,
        "id_domain": config.principals.id_domain,
    })
}

/// A path as text: bytes that are not UTF-8 are replaced.
fn path(path: &Path) -> Value {
    json!(path.to_string_lossy())
}

fn live_page(listen: &AdminListen, state: &Path) -> Value {
    json!({
        "address": listen.address,
        "token": path(&admin_token_file(state, listen.token.as_deref())),
        "certificate": listen.tls.as_ref().map(|files| path(&files.certificate)),
        "key": listen.tls.as_ref().map(|files| path(&files.key)),
    })
}

fn network(network: &NetworkSizes) -> Value {
    let own = &network.own;
    json!({
        "clients": network.clients.to_string(),
        "tcp_sndbuf": own.send_buffer.map(size),
        "tcp_rcvbuf": own.receive_buffer.map(size),
        "tcp_congestion": own.congestion.map(congestion),
    })
}

fn cap(rule: &CapRule) -> Value {
    json!({
        "name": rule.name,
        "clients": rule.clients.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "exports": rule.exports,
        "per_client": rule.per_client,
        "read": rule.read,
        "write": rule.write,
        "calls": rule.calls,
        "burst_seconds": rule.burst.as_secs_f64(),
    })
}

fn size(setting: Setting) -> Value {
    match setting {
        Setting::Auto => json!("auto"),
        Setting::Fixed(bytes) => json!(bytes),
    }
}

fn congestion(setting: Setting<Algorithm>) -> Value {
    match setting {
        Setting::Auto => json!("auto"),
        Setting::Fixed(name) => json!(name.to_string()),
    }
}

fn export(export: &ExportConfig, standing: &ExportStanding) -> Value {
    let (directory, memory, url) = match &export.source {
        Source::Directory(directory) => (path(directory), Value::Null, Value::Null),
        Source::Memory(bytes) => (Value::Null, json!(bytes), Value::Null),
        source @ Source::Server(_) => (Value::Null, Value::Null, json!(source.to_string())),
    };
    json!({
        "name": export.name.to_string(),
        "path": directory,
        "memory": memory,
        "url": url,
        "gone": standing.gone,
        "id": export.id,
        "durability": export.durability.to_string(),
        "cross_mounts": export.cross_mounts,
        "quota_in_df": export.quota_in_df,
        "set_id": export.set_id,
        "tls": export.tls.name(),
        "delegations": export.delegations.to_string(),
        "undelegated": standing.undelegated,
        "locks": export.locks.to_string(),
        "cache": export.caching.as_ref().map(|options| cache(options, export.disk_cache.as_ref())),
        "clients": export.clients.iter().map(client).collect::<Vec<_>>(),
    })
}

fn cache(options: &CachingOptions, disk: Option<&DiskCacheSettings>) -> Value {
    let times = &options.attributes;
    json!({
        "cache_memory": options.memory_budget,
        "cache_dir": disk.map(|disk| &disk.directory),
        "cache_size": disk.map(|disk| disk.size),
        "acregmin": times.file_min.as_secs_f64(),
        "acregmax": times.file_max.as_secs_f64(),
        "acdirmin": times.directory_min.as_secs_f64(),
        "acdirmax": times.directory_max.as_secs_f64(),
    })
}

fn client(rule: &ClientRuleConfig) -> Value {
    let access = &rule.access;
    json!({
        "allow": rule.who.to_string(),
        "read_only": access.read_only,
        "privileged_ports": match access.privileged_ports {
            PrivilegedPorts::Always => json!(true),
            PrivilegedPorts::Local => json!("local"),
            PrivilegedPorts::Never => json!(false),
        },
        "squash": access.squash.to_string(),
        "sec": access.sec.as_slice().iter().map(|flavor| flavor.name()).collect::<Vec<_>>(),
        "anonymous_user": access.anonymous_user,
        "anonymous_group": access.anonymous_group,
    })
}
