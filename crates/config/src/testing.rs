//! A configuration for tests.

use std::path::PathBuf;

use super::defaults::LEASE;
use super::{
    AdminSocket, ClientAccess, ClientPattern, ClientRuleConfig, Durability, ExportConfig, Rpcbind, Sandbox,
    ServerConfig, Source,
};
use crate::log::LogFormat;

/// A server with the one export `/data`, every setting at its default.
pub fn one_export() -> ServerConfig {
    ServerConfig {
        listen: Vec::new(),
        udp: true,
        udp_sockets: howdah_server::UdpSettings::default(),
        quic: None,
        workers: 1,
        state: PathBuf::from("/var/lib/howdah"),
        rpcbind: Rpcbind::Auto,
        nfs4: true,
        acls: true,
        lease: LEASE,
        manage_gids: false,
        quotas: false,
        admin: AdminSocket::Auto,
        admin_listen: None,
        metrics: super::Metrics::default(),
        tls: None,
        kerberos: super::KerberosConfig::default(),
        cluster: None,
        sandbox: Sandbox::Auto,
        tuning: howdah_server::Tuning::default(),
        caps: Vec::new(),
        shares: Vec::new(),
        experiment: super::Experiment::default(),
        log: None,
        log_format: LogFormat::Text,
        exports: vec![ExportConfig {
            name: "/data".parse().expect("a name"),
            source: Source::Directory("/srv/data".into()),
            id: 1,
            durability: Durability::Sync,
            cross_mounts: false,
            quota_in_df: false,
            set_id: false,
            tls: Default::default(),
            delegations: super::Delegations::None,
            locks: super::ExportLocks::Local,
            caching: None,
            disk_cache: None,
            shared: false,
            clients: vec![ClientRuleConfig { who: ClientPattern::Everyone, access: ClientAccess::usual() }],
        }],
    }
}
