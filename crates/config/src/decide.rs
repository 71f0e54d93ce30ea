//! Decides every setting: one that is missing gets its default, and settings that contradict each other are refused.

use std::net::SocketAddr;

use anyhow::{Context, Result, anyhow, bail};
use howdah_server::Tuning;

use super::ServerConfig;
use super::defaults::{LEASE, state_directory};
use super::file::FileSettings;
use super::limit_table::check_limits;
use super::listen::default_listen;
use super::refused_locks::check_locks;
use super::shared_files::check_delegations;
use super::taken::Taken;
use super::tls::check_policies;

impl FileSettings {
    /// Decides every setting.
    pub fn decide(self) -> Result<ServerConfig> {
        let mut config = ServerConfig {
            listen: self.listen.unwrap_or_else(default_listen),
            udp: self.udp.unwrap_or(true),
            udp_sockets: self.datagrams.decide(),
            quic: self.quic,
            workers: self.workers.unwrap_or(howdah_server::limits::WORKERS),
            state: self.state.or_else(state_directory).context(
                "choosing a state directory: this user has no home; name a directory with --state DIR",
            )?,
            rpcbind: self.rpcbind.unwrap_or_default(),
            nfs4: self.nfs4.unwrap_or(true),
            acls: self.acls.unwrap_or(true),
            lease: self.lease.unwrap_or(LEASE),
            manage_gids: self.manage_gids.unwrap_or(false),
            quotas: self.quotas.unwrap_or(false),
            admin: self.admin.unwrap_or_default(),
            admin_listen: self.admin_listen.decide().map_err(|why| anyhow!(why))?,
            sandbox: self.sandbox.unwrap_or_default(),
            tuning: Tuning { networks: self.networks, ..self.sizes.decide() },
            tls: self.tls.decide().map_err(|why| anyhow!(why))?,
            kerberos: self.kerberos,
            caps: self.caps,
            shares: self.shares,
            cluster: self.cluster,
            metrics: self.metrics.decide(),
            experiment: self.experiment,
            log: self.log,
            log_format: self.log_format.unwrap_or_default(),
            exports: self.exports,
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
