//! A howdah server in this process, over memory or a local directory, and clients of it.

#![allow(dead_code, reason = "each test program uses some of it")]

use std::net::SocketAddr;
use std::sync::Arc;

use howdah_client::Remote;
use howdah_client::channel::Transport;
use howdah_client::connect::{ConnectOptions, connect};
use howdah_client::url::NfsUrl;
use howdah_server::exports::{ClientRule, DelegationPolicy, Export, Exports, Squash};
use howdah_server::states::StateOptions;
use howdah_server::{Server, Service, Settings, Sockets};
use howdah_store::local::{LocalFileSystem, Options, SyncMode};
use howdah_vfs::conformance::{Abilities, ActsAs, Subject};
use howdah_vfs::memory::{MemoryFileSystem, MemoryOptions};
use howdah_vfs::{Caller, FileSystem};
use tempfile::TempDir;

/// What the server exports.
pub const EXPORT: &str = "/export";

/// Entries of a large directory: enough for many pages.
const MANY: usize = 2_000;

/// A server that runs as long as this lives.
pub struct Served {
    pub address: SocketAddr,
    pub abilities: Abilities,
    _server: Server,
    _directory: Option<TempDir>,
}

/// A way to a server.
#[derive(Debug, Clone, Copy)]
pub struct Way {
    pub transport: Transport,
    pub lanes: usize,
    pub version: &'static str,
}

/// Serves at an address; port 0 is a free one.
pub fn serve_at(
    address: SocketAddr,
    fs: Arc<dyn FileSystem>,
    abilities: Abilities,
    directory: Option<TempDir>,
) -> Served {
    serve_with(address, fs, StateOptions::forgetful(), (abilities, directory))
}

/// The same with these opens and locks.
pub fn serve_with(
    address: SocketAddr,
    fs: Arc<dyn FileSystem>,
    states: StateOptions,
    kept: (Abilities, Option<TempDir>),
) -> Served {
    let rule = ClientRule { squash: Squash::None, ..ClientRule::default() };
    serve_export(address, Export::new(EXPORT, 1, fs, vec![rule]), states, kept)
}

/// A server that gives delegations.
pub fn serve_delegating(fs: Arc<dyn FileSystem>) -> Served {
    serve_with_policy(fs, DelegationPolicy::Always)
}

/// A server that gives delegations as the policy says.
pub fn serve_with_policy(fs: Arc<dyn FileSystem>, policy: DelegationPolicy) -> Served {
    let rule = ClientRule { squash: Squash::None, ..ClientRule::default() };
    let export = Export::new(EXPORT, 1, fs, vec![rule]).with_delegations(policy);
    let any = "127.0.0.1:0".parse().expect("an address");
    serve_export(any, export, StateOptions::forgetful(), Default::default())
}

fn serve_export(
    address: SocketAddr,
    export: Export,
    states: StateOptions,
    (abilities, directory): (Abilities, Option<TempDir>),
) -> Served {
    let exports = Exports::new(vec![export], [7; 16]).expect("one export");
    let sockets = Sockets::bind(&[address], true).expect("a free port");
    let service = Service::with(exports, Some(states), Vec::new());
    let settings = Settings { workers: 4, ..Settings::default() };
    let server = Server::start_service(&settings, sockets, service).expect("a server");
    let address = server.addresses()[0].1;
    Served { address, abilities, _server: server, _directory: directory }
}

pub fn serve(fs: Arc<dyn FileSystem>) -> Served {
    let any = "127.0.0.1:0".parse().expect("an address");
    serve_at(any, fs, Abilities { many_entries: MANY, ..Abilities::default() }, None)
}

pub fn memory() -> Arc<MemoryFileSystem> {
    let options = MemoryOptions { root_mode: 0o777, ..MemoryOptions::default() };
    Arc::new(MemoryFileSystem::with_options(options))
}

pub fn serve_memory() -> Served {
    serve(memory())
}

pub fn serve_local() -> Served {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let [export, state] = ["export", "state"].map(|name| directory.path().join(name));
    [&export, &state].into_iter().for_each(|path| std::fs::create_dir(path).expect("a directory"));
    let options = Options { state: Some(state), sync: SyncMode::Async, ..Options::default() };
    let fs = LocalFileSystem::open(&export, options).expect("a local directory");
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    let acts_as = if user.is_root() {
        ActsAs::Caller
    } else {
        ActsAs::Always(Caller::new(user.as_raw(), group.as_raw()))
    };
    let abilities = Abilities { acts_as, many_entries: MANY, ..Abilities::default() };
    serve_at("127.0.0.1:0".parse().expect("an address"), Arc::new(fs), abilities, Some(directory))
}

impl Served {
    /// The URL of a path of the server.
    pub fn url(&self, path: &str, query: &str) -> NfsUrl {
        let text = format!("nfs://{}{path}?{query}", self.address);
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    /// A client of the export.
    pub fn client(&self, query: &str) -> Arc<dyn Remote> {
        let url = self.url(EXPORT, query);
        connect(&url, &ConnectOptions::default()).unwrap_or_else(|error| panic!("{error}"))
    }

    /// A client to be judged.
    pub fn subject(&self, way: Way) -> Subject {
        let transport = if way.transport == Transport::Udp { "udp" } else { "tcp" };
        let client = self.client(&format!("lanes={}&proto={transport}&version={}", way.lanes, way.version));
        Subject::new(client, self.abilities.clone())
    }
}
