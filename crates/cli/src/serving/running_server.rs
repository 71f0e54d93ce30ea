//! The server as `howdah serve` sees it: started, reloaded, stopped.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use howdah_net::Listener;
use howdah_server::admin::MetricsSettings;
use howdah_server::{Server, Settings};

use super::admin::{admin_socket, metrics_socket};
use super::admin_address::{LivePage, admin_address};
use super::exports::exports;
use super::file_systems::FileSystems;
use super::portmapper::Portmapper;
use super::samples::samples;
use super::sockets::sockets;
use crate::configuration::{ExportConfig, ServerConfig};
use crate::report::Opened;
use crate::running::{HANDLE_KEY_SIZE, RunningFile, handle_key};

/// How long calls in flight may take when the server is asked to stop: longer than any disk takes that still
/// works, shorter than a service manager waits.
const PATIENCE: Duration = Duration::from_secs(10);

/// A server that serves.
pub struct RunningServer {
    server: Server,
    /// Where NFS is served over TCP: what was asked for, with real ports.
    addresses: Vec<SocketAddr>,
    admin: Option<PathBuf>,
    page: Option<LivePage>,
    portmapper: Portmapper,
    directories: FileSystems,
    state: PathBuf,
    key: [u8; HANDLE_KEY_SIZE],
    /// What every call waits for, for an experiment.
    delay: Option<Duration>,
}

impl RunningServer {
    /// Opens everything and starts to serve; with the place where it is found by those who ask.
    pub fn start(config: &ServerConfig, file: &RunningFile) -> Result<Self> {
        // Sockets first: a port that is taken is the likeliest failure, and must leave nothing behind.
        let mut sockets = sockets(config)?;
        let addresses = sockets.tcp.iter().map(Listener::address).collect();
        sockets.admin = admin_socket(&config.admin, file)?;
        sockets.metrics = config.metrics.address.map(metrics_socket).transpose()?;
        let admin = sockets.admin.as_ref().map(|socket| socket.path().to_owned());
        let address =
            config.admin_listen.as_ref().map(|listen| admin_address(listen, &config.state)).transpose()?;
        let (address, page) = address.unzip();
        sockets.admin_address = address;
        let key = handle_key(&config.state)?;
        let directories = FileSystems::default().for_exports(&config.exports, &config.state)?;
        let exports = exports(&config.exports, &directories, &key, config.experiment.delay)?;
        let watcher = config.experiment.samples.as_deref().map(samples).transpose()?;
        let settings = Settings {
            workers: config.workers,
            tuning: config.tuning.clone(),
            watcher,
            metrics: MetricsSettings { clients: config.metrics.clients },
        };
        let portmapper = Portmapper::find(config, &mut sockets);
        let server = Server::start(&settings, sockets, exports).context("starting the server")?;
        let (state, delay) = (config.state.clone(), config.experiment.delay);
        Ok(Self { server, addresses, admin, page, portmapper, directories, state, key, delay })
    }

    /// Serves these exports from now on; on failure all stays as it was.
    pub fn reload(&mut self, configs: &[ExportConfig]) -> Result<()> {
        let directories = self.directories.for_exports(configs, &self.state)?;
        self.server.reload(exports(configs, &directories, &self.key, self.delay)?);
        self.directories = directories;
        Ok(())
    }

    /// How each export turned out, in the order of the exports.
    pub fn opened(&self) -> Vec<Opened> {
        self.directories.iter().map(|directory| directory.opened).collect()
    }

    /// Whether clients find our port by themselves.
    pub fn known_to_portmapper(&self) -> bool {
        self.portmapper.knows_us()
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

    /// Stops after the calls in flight; whether all of them ended.
    pub fn stop(self) -> bool {
        self.portmapper.take_back();
        self.server.stop(PATIENCE)
    }
}
