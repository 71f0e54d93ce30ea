//! Everything that takes rights which a server does not keep: sockets, directories, registrations. No thread is started.

use std::fs::DirBuilder;
use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt;

use anyhow::{Context, Result};
use howdah_config::DiskCacheSettings;
use howdah_config::ServerConfig;
use howdah_net::Listener;
use howdah_server::states::{HeadSettings, OwnRights, StateOptions};
use howdah_server::{Sockets, Watcher};
use howdah_store::local::{Root, with_server_rights};

use super::acceptor::KerberosAcceptor;
use super::admin::{admin_socket, metrics_socket};
use super::admin_address::{LivePage, admin_address, admin_listener};
use super::file_systems::root;
use super::kerberos::{check_keytab, helper_settings};
use super::portmapper::Portmapper;
use super::samples::samples;
use super::secrets::ServerSecrets;
use super::sockets::{bind_quic, sockets};
use super::tls::ServedCertificate;
use crate::host::{RunningFile, prepare_state, warn_of_copy, warn_of_unwritable};

/// What a server starts with.
pub struct Prepared {
    pub(super) sockets: Sockets,
    /// Where NFS is served over TCP: what was asked for, with real ports.
    pub(super) addresses: Vec<SocketAddr>,
    pub(super) page: Option<LivePage>,
    pub(super) certificate: Option<ServedCertificate>,
    /// What accepts tickets of Kerberos.
    pub(super) kerberos: Option<KerberosAcceptor>,
    pub(super) secrets: ServerSecrets,
    /// The directories, in the order of the exports; `None` for those that serve none.
    pub(super) roots: Vec<Option<Root>>,
    /// What clients had when the last run ended: opens and locks.
    pub(super) states: StateOptions,
    pub(super) watcher: Option<Watcher>,
    pub(super) portmapper: Portmapper,
    /// Whether files elsewhere are out of reach.
    pub(super) files_confined: bool,
    /// Whether the state directory cannot be written. The log has the reason.
    is_unwritable: bool,
}

impl Prepared {
    /// Opens everything; also the place where the server is found by those who ask.
    pub fn open(config: &ServerConfig) -> Result<(Self, RunningFile)> {
        // Sockets first: a port that is taken is the likeliest failure, and must leave nothing behind.
        let mut sockets = sockets(config)?;
        let addresses = sockets.tcp.iter().map(Listener::address).collect();
        sockets.metrics = config.metrics.address.map(metrics_socket).transpose()?;
        let listener = config.admin_listen.as_ref().map(admin_listener).transpose()?;
        prepare_state(&config.state)?;
        warn_of_copy(&config.state);
        let file = RunningFile::new(&config.state)?;
        sockets.admin = admin_socket(&config.admin, &file)?;
        let address = config.admin_listen.as_ref().zip(listener);
        let address = address.map(|(listen, listener)| admin_address(listen, listener, &config.state));
        let (address, page) = address.transpose()?.flatten().unzip();
        sockets.admin_address = address;
        let certificate = config.tls.as_ref().map(ServedCertificate::read).transpose()?;
        if let Some((quic, certificate)) = config.quic.zip(certificate.as_ref()) {
            bind_quic(&mut sockets, quic, &certificate.tls())?;
        }
        let kerberos = helper_settings(config)?;
        let kerberos = kerberos.as_ref().map(KerberosAcceptor::start).transpose()?;
        check_keytab(config)?;
        let secrets = ServerSecrets::read(config)?;
        let states = states(config, &secrets)?;
        let written = states.log.look();
        if let Err(why) = &written {
            warn_of_unwritable(&config.state, why);
        }
        config.exports.iter().filter_map(|export| export.disk_cache.as_ref()).for_each(make_cache);
        let roots = config.exports.iter().map(root).collect::<Result<_>>()?;
        let watcher = config.experiment.samples.as_deref().map(samples).transpose()?;
        let portmapper = Portmapper::find(config, &mut sockets);
        let prepared = Self {
            sockets,
            addresses,
            page,
            certificate,
            kerberos,
            secrets,
            roots,
            states,
            watcher,
            portmapper,
            files_confined: false,
            is_unwritable: written.is_err(),
        };
        Ok((prepared, file))
    }

    /// Whether the state directory cannot be written. The log has the reason.
    pub fn is_unwritable(&self) -> bool {
        self.is_unwritable
    }
}

/// Makes the directory of a cache. Where it cannot be made, the cache is done without.
fn make_cache(cache: &DiskCacheSettings) {
    if let Err(error) = DirBuilder::new().recursive(true).mode(0o700).create(&cache.directory) {
        tracing::warn!("making the directory {} of a cache: {error}", cache.directory.display());
    }
}

fn states(config: &ServerConfig, secrets: &ServerSecrets) -> Result<StateOptions> {
    let shared = config.cluster.as_ref().and_then(|cluster| cluster.records.as_ref());
    let directory = shared.unwrap_or(&config.state);
    let rights = OwnRights::by(|work| with_server_rights(work).map_err(std::io::Error::other));
    let reading = || format!("reading the records of clients in {}", directory.display());
    if let Some(directory) = shared {
        let exports = config.exports.iter().map(|export| (export.id, export.name.to_string())).collect();
        let addresses = config.cluster.iter().flat_map(|cluster| cluster.addresses.iter().copied()).collect();
        let settings = HeadSettings { scope: secrets.cluster_name(), exports, addresses };
        return StateOptions::in_cluster(directory, rights, secrets.head(), &settings, config.lease)
            .with_context(|| {
                format!("sharing records of clients with other heads in {}", directory.display())
            });
    }
    let options = StateOptions::in_directory(directory, rights).with_context(reading)?;
    let options = if config.cluster.is_some() { options.of_head(secrets.head()) } else { options };
    Ok(options.with_lease(config.lease))
}
