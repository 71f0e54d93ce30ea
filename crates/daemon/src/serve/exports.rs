//! From an export's configuration to what the server knows of it.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use howdah_config::{ClientPattern, Delegations, ExportConfig, ExportLocks, delegations_obstacle};
use howdah_server::exports::{
    Anonymous, ClientRule, Clients, DelegationPolicy, Export, Exports, PrivilegedPorts, Squash, UserGroups,
};
use howdah_vfs::FileSystem;
use howdah_vfs::layer::{Delayed, WithinQuota, WithoutSetId};

use super::file_systems::FileSystems;
use super::opened::OpenedExport;
use super::secrets::ServerSecrets;
use crate::host::ClientDirectory;

/// These exports over these file systems, which stand in the same order; every call waits for `delay` first.
pub fn exports(
    configs: &[ExportConfig],
    file_systems: &FileSystems,
    secrets: &ServerSecrets,
    delay: Option<Duration>,
    clients: &ClientDirectory,
    accounts: &Arc<UserGroups>,
) -> Result<Exports> {
    let list = configs.iter().zip(file_systems.iter()).map(|(config, open)| {
        let (opened, acts_as_caller) = (open.opened, open.opened.acts_as_caller);
        let rules = config.clients.iter().map(|written| rule(written, clients, opened)).collect();
        let file_system = delayed(open.file_system(), delay);
        // All files are the server's own user's otherwise: whoever may run one would be that user.
        let keeps_set_id = config.set_id && acts_as_caller;
        if config.set_id && !acts_as_caller {
            tracing::warn!(export = %config.name, "set_id has no effect: it needs a server that acts as its callers (root)");
        }
        let file_system =
            if keeps_set_id { file_system } else { Arc::new(WithoutSetId::around(file_system)) };
        let file_system = within_quota(file_system, config.quota_in_df);
        Export::new(config.name.as_str(), config.id, file_system, rules)
            .with_uplink(open.uplink.clone())
            .with_root_file_system(open.root_file_system)
            .with_gone(open.gone.clone())
            .with_tls(config.tls)
            .with_accounts(Some(Arc::clone(accounts)))
            .with_host_names(Some(clients.hosts()))
            .with_delegations(delegation_policy(config, configs, open.unnoticed).unwrap_or_default())
            .with_locks_refused(config.locks == ExportLocks::Refuse)
    });
    let exports = Exports::new(list.collect(), secrets.handles).context("putting the exports together")?;
    Ok(exports.with_own_secret(secrets.own))
}

/// Which delegations an export gives.
///
/// # Errors
/// None: why, if the configuration leaves that to the server.
pub fn delegation_policy(
    config: &ExportConfig,
    all: &[ExportConfig],
    unnoticed: Option<&str>,
) -> Result<DelegationPolicy, Option<String>> {
    match config.delegations {
        Delegations::None => Err(None),
        Delegations::Read => Ok(DelegationPolicy::Always),
        Delegations::Auto => match delegations_obstacle(config, all).or(unnoticed.map(str::to_owned)) {
            Some(why) => Err(Some(why)),
            None => Ok(DelegationPolicy::WhereNoticed),
        },
    }
}

fn within_quota(file_system: Arc<dyn FileSystem>, is_shown: bool) -> Arc<dyn FileSystem> {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    if is_shown { Arc::new(WithinQuota::around(file_system, now)) } else { file_system }
}

fn delayed(file_system: Arc<dyn FileSystem>, delay: Option<Duration>) -> Arc<dyn FileSystem> {
    match delay {
        Some(delay) => Arc::new(Delayed::around(file_system, delay, Arc::new(std::thread::sleep))),
        None => file_system,
    }
}

fn rule(
    written: &howdah_config::ClientRuleConfig,
    clients: &ClientDirectory,
    opened: OpenedExport,
) -> ClientRule {
    let access = &written.access;
    ClientRule {
        clients: match &written.who {
            ClientPattern::Everyone => Clients::Any,
            ClientPattern::Network(network) => {
                Clients::Network { address: network.addr(), prefix: network.prefix_len() }
            }
            ClientPattern::Host(name) => Clients::Addresses(clients.names.of(name).to_vec()),
            ClientPattern::Hosts(pattern) => Clients::Hosts(pattern.clone()),
            ClientPattern::Netgroup(name) => Clients::Netgroup(Arc::new(clients.netgroup(name))),
            ClientPattern::Certificate(pattern) => Clients::Certificate(pattern.clone()),
        },
        read_only: access.read_only,
        sec: access.sec,
        squash: match access.squash {
            howdah_config::Squash::Root => Squash::Root,
            howdah_config::Squash::All => Squash::All,
            howdah_config::Squash::None => Squash::None,
            howdah_config::Squash::Certificate => Squash::Certificate,
        },
        anonymous: Anonymous { user: access.anonymous_user, group: access.anonymous_group },
        privileged_ports: match access.privileged_ports {
            howdah_config::PrivilegedPorts::Always => PrivilegedPorts::Always,
            // Without privilege nobody gets more rights than the server has, whatever user is claimed.
            howdah_config::PrivilegedPorts::Local if opened.guards_far => PrivilegedPorts::Always,
            howdah_config::PrivilegedPorts::Local if opened.guards_host => PrivilegedPorts::Local,
            howdah_config::PrivilegedPorts::Local | howdah_config::PrivilegedPorts::Never => {
                PrivilegedPorts::Never
            }
        },
    }
}
