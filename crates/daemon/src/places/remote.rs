//! `nfs://` URLs: the longest start of the path that the server mounts, and the names that are left.

use std::sync::{Arc, OnceLock};

use anyhow::{Context, Result};
use howdah_client::Remote;
use howdah_client::connect::ConnectOptions;
use howdah_client::url::NfsUrl;
use howdah_vfs::{FsError, Node, Shown};
use parking_lot::Mutex;

use super::connecting::connect_to;
use super::follow::follow;
use super::{Following, Place, spelled};

/// A mount that further places may lie in.
struct Connected {
    /// The URL of its root.
    root: NfsUrl,
    client: Arc<dyn Remote>,
    /// The root, as it was when it was first looked at.
    seen_root: Arc<OnceLock<Node>>,
}

/// What a place is opened in.
struct Opened {
    client: Arc<dyn Remote>,
    /// The names below its root.
    path: Vec<Vec<u8>>,
    root: Arc<OnceLock<Node>>,
    /// What the first of the names leads to, if the server has just answered that.
    first: Option<Result<Node, FsError>>,
}

/// Servers that are connected, each once.
#[derive(Default)]
pub(super) struct Servers(Mutex<Vec<Connected>>);

impl Servers {
    /// The clients of all of them.
    pub(super) fn clients(&self) -> Vec<Arc<dyn Remote>> {
        self.0.lock().iter().map(|connected| Arc::clone(&connected.client)).collect()
    }

    /// Opens the place of a URL, which need not exist but for its last name.
    pub(super) fn open(&self, url: &NfsUrl, options: &ConnectOptions, following: Following) -> Result<Place> {
        let Opened { client, path, root, first } = self.connected(url, options)?;
        let realm = url.authority();
        let mounted = &url.path[..url.path.len() - path.len()];
        let label = |url: &NfsUrl| [realm.as_bytes(), &url.path_bytes()].concat();
        let caller = url.caller(options.caller.clone());
        let copying_server = client.ranges().and_then(|_| client.server_identity()).map(str::to_owned);
        let mut typed = Place {
            file_system: client,
            copying_server,
            caller,
            path,
            label: label(url),
            realm: realm.clone(),
            device: None,
            seen_root: None,
            seen: None,
        };
        // On an error the next use asks again, and reports it.
        typed.seen_root = root.get().copied().or_else(|| {
            let seen = typed.root().ok()?;
            Some(*root.get_or_init(|| seen))
        });
        let way = follow(&typed, first, following)
            .with_context(|| format!("following {}", Shown(&spelled(&typed.label))))?;
        let meant = url.with_path([mounted, &way.path].concat());
        Ok(Place { label: label(&meant), path: way.path, seen: way.end, ..typed })
    }

    /// The client for a URL, the names below its root, and where that root is kept. One server is connected at a time, so that it
    /// is connected once.
    fn connected(&self, url: &NfsUrl, options: &ConnectOptions) -> Result<Opened> {
        let mut all = self.0.lock();
        if let Some(known) = all.iter().find(|connected| connected.holds(url)) {
            let path = url.path[known.root.path.len()..].to_vec();
            let (client, root) = (Arc::clone(&known.client), Arc::clone(&known.seen_root));
            return Ok(Opened { client, path, root, first: None });
        }
        let client = connect_to(url, options)?;
        let path = client.below_root().to_vec();
        let mounted = url.path[..url.path.len() - path.len()].to_vec();
        let root_at_connect = client.root_at_connect().map(OnceLock::from).unwrap_or_default();
        let (root, seen_root) = (url.with_path(mounted), Arc::new(root_at_connect));
        all.push(Connected { root, client: Arc::clone(&client), seen_root: Arc::clone(&seen_root) });
        let first = client.first_below_at_connect();
        Ok(Opened { client, path, root: seen_root, first })
    }
}

impl Connected {
    /// Whether a URL leads to the same server in the same way, into what is mounted: one more name at most, for else a
    /// mount of its own may lead to another file system.
    fn holds(&self, url: &NfsUrl) -> bool {
        let parent = &url.path[..url.path.len().saturating_sub(1)];
        url.with_path(self.root.path.clone()) == self.root
            && (parent == self.root.path || url.path == self.root.path)
    }
}
