//! From what was typed to a place that workloads run in.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use howdah_client::Remote;
use howdah_client::channel::Transport;
use howdah_client::connect::ConnectOptions;
use howdah_client::url::{NfsUrl, NfsVersion, url_of};
use howdah_daemon::places::{Following, Location, connect_to, open};
use howdah_vfs::memory::{MemoryFileSystem, MemoryOptions};
use howdah_vfs::{Caller, FileKind, FileSystem, Handle, Name, Timestamp};
use howdah_workload::counters::CallCounters;
use howdah_workload::{Place, PlaceKind};

use super::ClientCalls;
use super::channel::describe;

/// What stands for memory where a place is asked for.
const MEMORY: &str = "memory:";

/// An open place.
pub struct Opened {
    /// The place.
    pub place: Place,
    /// How messages travel, where there are any.
    pub transport: Option<Transport>,
    client: Option<Arc<dyn Remote>>,
}

impl Opened {
    /// The version of NFS, where there is one.
    pub fn protocol(&self) -> Option<&'static str> {
        self.client.as_ref().map(|client| client.protocol())
    }

    /// What the client says of itself, a line each; nothing where there is none.
    pub fn channel(&self) -> Vec<String> {
        self.client.iter().flat_map(|client| describe(&client.channel().report())).collect()
    }
}

/// Whether a word means a place at a server.
pub fn is_at_server(typed: &str) -> Result<bool> {
    Ok(typed != MEMORY && url_of(typed)?.is_some())
}

/// Opens a place. Over NFS by this transport, unless the URL says, or asks for NFSv4, which has no UDP.
pub fn open_place(typed: &str, transport: Transport) -> Result<Opened> {
    if typed == MEMORY {
        return Ok(Opened { place: memory(), transport: None, client: None });
    }
    if let Some(url) = url_of(typed)? {
        return nfs(&url, transport);
    }
    let location = Location::Local(PathBuf::from(typed));
    let opened = open(&location, Following::Links)?;
    let node = opened.node().with_context(|| format!("cannot find {typed}"))?;
    ensure!(node.attributes.kind == FileKind::Directory, "{typed} is not a directory; name one");
    let (kind, directory) = (PlaceKind::Directory, node.handle);
    let (file_system, caller) = (opened.file_system, opened.caller);
    let place = Place { name: typed.to_owned(), kind, file_system, caller, directory, counters: None };
    Ok(Opened { place, transport: None, client: None })
}

fn memory() -> Place {
    let options = MemoryOptions { clock: Arc::new(now), ..MemoryOptions::default() };
    let file_system = Arc::new(MemoryFileSystem::with_options(options));
    let directory = file_system.root();
    let (name, kind, caller) = (MEMORY.to_owned(), PlaceKind::Memory, Caller::ROOT);
    Place { name, kind, file_system, caller, directory, counters: None }
}

fn now() -> Timestamp {
    let now = jiff::Timestamp::now();
    Timestamp { seconds: now.as_second(), nanoseconds: now.subsec_nanosecond().unsigned_abs() }
}

fn nfs(typed: &str, transport: Transport) -> Result<Opened> {
    let url: NfsUrl = typed.parse().with_context(|| format!("reading {typed}"))?;
    let is_version_4 = matches!(url.options.version, Some(NfsVersion::V4(_)));
    let transport = if is_version_4 { Transport::Tcp } else { transport };
    let options = ConnectOptions { transport, ..ConnectOptions::default() };
    let client = connect_to(&url, &options)?;
    let caller = url.caller(options.caller);
    let directory = walk(&*client, &caller).with_context(|| format!("cannot find {typed}"))?;
    let counters: Arc<dyn CallCounters> = Arc::new(ClientCalls(Arc::clone(&client)));
    let place = Place {
        name: typed.to_owned(),
        kind: PlaceKind::Nfs,
        file_system: Arc::clone(&client) as Arc<dyn FileSystem>,
        caller,
        directory,
        counters: Some(counters),
    };
    let transport = Some(url.options.transport.unwrap_or(transport));
    Ok(Opened { place, transport, client: Some(client) })
}

/// The directory that the URL named, below what was mounted.
fn walk(client: &dyn Remote, caller: &Caller) -> howdah_vfs::Result<Handle> {
    client.below_root().iter().try_fold(client.root(), |directory, name| {
        let name = Name::parse(name).map_err(|error| error.refusal())?;
        client.lookup(caller, &directory, name).map(|found| found.node.handle)
    })
}
