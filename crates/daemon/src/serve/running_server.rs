//! The server as `howdah serve` sees it: started, reloaded, stopped.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use howdah_config::{ExportConfig, ServerConfig};
use howdah_server::admin::MetricsSettings;
use howdah_server::exports::{Exports, UserGroups};
use howdah_server::gss::GssDoor;
use howdah_server::{Server, Service, ServiceOptions, Settings, Transport};

use super::admin_address::LivePage;
use super::exports::{delegation_policy, exports};
use super::file_systems::{DirectoryNews, FileSystems, OpenFileSystem};
use super::groups::UserDatabase;
use super::kerberos::Principals;
use super::opened::OpenedExport;
use super::own_url::refuse_own_exports;
use super::portmapper::Portmapper;
use super::prepared::Prepared;
use super::quotas::require_quotas;
use super::secrets::ServerSecrets;
use super::standing::ExportStanding;
use super::tls::ServedCertificate;
use crate::host::ClientDirectory;

/// How long calls in flight may take when the server is asked to stop: longer than any disk takes that still
/// works, shorter than a service manager waits.
const PATIENCE: Duration = Duration::from_secs(10);

/// Exports whose callers are the users that this host knows, where that is asked for.
fn with_users(
    exports: Exports,
    groups: Option<&Arc<UserGroups>>,
    principals: Option<&Principals>,
) -> Exports {
    let exports = exports.with_groups(groups.cloned());
    match principals {
        Some(principals) => principals.add_to(exports),
        None => exports,
    }
}

/// A server that serves.
pub struct RunningServer {
    server: Server,
    /// Where NFS is served over TCP: what was asked for, with real ports.
    addresses: Vec<SocketAddr>,
    admin: Option<PathBuf>,
    page: Option<LivePage>,
    certificate: Option<ServedCertificate>,
    portmapper: Portmapper,
    directories: FileSystems,
    state: PathBuf,
    secrets: ServerSecrets,
    /// What every call waits for, for an experiment.
    delay: Option<Duration>,
    /// Whether files elsewhere are out of reach.
    files_confined: bool,
    clients: ClientDirectory,
    /// The groups of callers, where this host is asked for them.
    groups: Option<Arc<UserGroups>>,
    /// Users named by client certificates.
    users: Arc<UserGroups>,
    /// Users named by Kerberos, where it is taken.
    principals: Option<Principals>,
}

impl RunningServer {
    /// Starts to serve what was opened.
    pub fn start(config: &ServerConfig, mut prepared: Prepared) -> Result<Self> {
        let admin = prepared.sockets.admin.as_ref().map(|socket| socket.path().to_owned());
        let (state, delay) = (config.state.clone(), config.experiment.delay);
        let users = Arc::new(UserGroups::new(UserDatabase));
        let groups = config.manage_gids.then(|| Arc::clone(&users));
        let principals = Principals::of(config, &users);
        let settings = Settings {
            workers: config.workers,
            tuning: config.tuning.clone(),
            watcher: prepared.watcher,
            metrics: MetricsSettings { clients: config.metrics.clients },
            tls: prepared.certificate.as_ref().map(ServedCertificate::tls),
            caps: config.caps.clone(),
            shares: config.shares.clone(),
            delay,
        };
        let start = || {
            let clients = ClientDirectory::read(&config.exports)?;
            refuse_own_exports(&config.exports, &prepared.addresses, true)?;
            let directories = FileSystems::over(prepared.roots, &config.exports, &state)?;
            require_quotas(&config.exports, &directories, config.quotas)?;
            let exports = exports(&config.exports, &directories, &prepared.secrets, delay, &clients, &users)?;
            let exports = with_users(exports, groups.as_ref(), principals.as_ref());
            let options = ServiceOptions {
                states: prepared.states,
                nfs4: config.nfs4,
                acls: config.acls,
                locks: prepared.portmapper.has_locks(),
                quotas: config.quotas,
                gss: prepared.kerberos.map(|acceptor| GssDoor::new(Box::new(acceptor))),
                ..ServiceOptions::default()
            };
            let service = Service::with_options(exports, options);
            let server =
                Server::start_service(&settings, prepared.sockets, service).context("starting the server")?;
            anyhow::Ok((directories, server, clients))
        };
        match start() {
            Ok((directories, server, clients)) => {
                prepared.portmapper.keep();
                Ok(Self {
                    server,
                    addresses: prepared.addresses,
                    admin,
                    page: prepared.page,
                    certificate: prepared.certificate,
                    portmapper: prepared.portmapper,
                    directories,
                    state,
                    secrets: prepared.secrets,
                    delay,
                    files_confined: prepared.files_confined,
                    clients,
                    groups,
                    users,
                    principals,
                })
            }
            Err(error) => {
                prepared.portmapper.take_back();
                Err(error)
            }
        }
    }

    /// Where QUIC is served, with its real port.
    pub fn quic(&self) -> Option<SocketAddr> {
        let addresses = self.server.addresses();
        addresses.into_iter().find(|(transport, _)| *transport == Transport::Quic).map(|(_, address)| address)
    }

    /// Serves these exports from now on, and proves itself by the certificate that is there now; on failure all stays as it was.
    pub fn reload(&mut self, config: &ServerConfig) -> Result<()> {
        let configs = &config.exports;
        if let Some(new) = self.directories.first_new(configs).filter(|_| self.files_confined) {
            bail!(
                "export {}: a server that gave up the right to other directories when it started (Landlock) cannot open {}; \
                 restart howdah, through which clients wait, or start it with --sandbox no-landlock for reloads to add exports",
                new.name,
                new.source
            );
        }
        // A server of names that does not answer must not hold up who reloads.
        refuse_own_exports(configs, &self.addresses, false)?;
        let directories = self.directories.for_exports(configs, &self.state)?;
        require_quotas(configs, &directories, false)?;
        let clients = self.clients.read_again(configs)?;
        let exports = exports(configs, &directories, &self.secrets, self.delay, &clients, &self.users)?;
        let principals = self.principals.clone();
        let principals = principals.map(|principals| principals.with(&config.kerberos.principals));
        let exports = with_users(exports, self.groups.as_ref(), principals.as_ref());
        self.page.as_ref().map_or(Ok(()), LivePage::renew_certificate)?;
        self.certificate.as_mut().map_or(Ok(()), ServedCertificate::renew)?;
        self.server.reload(exports);
        self.server.set_caps(&config.caps).context("starting the thread that holds replies of [[limit]]")?;
        self.server.set_shares(config.shares.clone());
        std::mem::replace(&mut self.directories, directories).let_go();
        self.clients = clients;
        self.principals = principals;
        Ok(())
    }

    /// Serves clients whose names are answered for now; these exports are served already.
    pub fn take_late_names(&mut self, configs: &[ExportConfig]) -> Result<()> {
        if self.clients.names.are_open() && self.clients.names.take_late() {
            self.serve_again(configs)?;
        }
        Ok(())
    }

    /// Reads the certificate of TLS again if its files changed, and tells if it ends soon.
    pub fn look_at_certificate(&mut self) {
        self.certificate.iter_mut().for_each(ServedCertificate::look);
    }

    fn serve_again(&self, configs: &[ExportConfig]) -> Result<()> {
        let exports =
            exports(configs, &self.directories, &self.secrets, self.delay, &self.clients, &self.users)?;
        self.server.reload(with_users(exports, self.groups.as_ref(), self.principals.as_ref()));
        Ok(())
    }

    /// Looks whether the directories of these exports, which are served already, are still where they were: those that are gone
    /// or back since the last look.
    pub fn follow_directories(&mut self, configs: &[ExportConfig]) -> Result<Vec<DirectoryNews>> {
        let news = self.directories.follow(configs, &self.state, self.files_confined);
        if !news.is_empty() {
            self.serve_again(configs)?;
        }
        Ok(news)
    }

    /// How these exports, which are served, turned out.
    pub fn standings(&self, configs: &[ExportConfig]) -> Vec<ExportStanding> {
        let both = configs.iter().zip(self.directories.iter());
        let standing = |(config, directory): (&ExportConfig, &OpenFileSystem)| ExportStanding {
            gone: directory.gone.clone(),
            undelegated: delegation_policy(config, configs, directory.unnoticed).err().flatten(),
        };
        both.map(standing).collect()
    }

    /// How each export turned out, in the order of the exports.
    pub fn opened(&self) -> Vec<OpenedExport> {
        self.directories.iter().map(|directory| directory.opened).collect()
    }

    /// Whether clients find our port by themselves.
    pub fn answered_by(&self) -> Option<&'static str> {
        self.portmapper.answered_by()
    }

    /// The TCP addresses served, with real ports.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Where it may be asked what it does.
    pub fn admin(&self) -> Option<&Path> {
        self.admin.as_deref()
    }

    /// Where its live page is.
    pub fn page(&self) -> Option<&LivePage> {
        self.page.as_ref()
    }

    /// Stops after the calls in flight; whether all of them ended, and their replies arrived.
    pub fn stop(self) -> bool {
        self.portmapper.take_back();
        let has_ended = self.server.stop(PATIENCE);
        if !self.directories.flush(PATIENCE) {
            tracing::warn!(
                "uncommitted writes are not safe on the other server: clients send them again when a server is back"
            );
            // Dropped, it would wait for that server.
            std::mem::forget(self.directories);
        }
        has_ended
    }
}
