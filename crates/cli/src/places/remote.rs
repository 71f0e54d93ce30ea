//! `nfs://` URLs: the longest start of the path that the server mounts, and the names that are left.

use std::sync::Arc;

use anyhow::{Context, Result};
use howdah_client::connect::ConnectOptions;
use howdah_client::nfs3::Nfs3;
use howdah_client::url::NfsUrl;
use howdah_vfs::Shown;

use super::connecting::connect_to;
use super::follow::follow;
use super::{Following, Place};

/// A mount that further places may lie in.
struct Connected {
    /// The URL of its root.
    root: NfsUrl,
    client: Arc<Nfs3>,
}

/// Servers that are connected, each once.
#[derive(Default)]
pub(super) struct Servers(Vec<Connected>);

impl Servers {
    /// The clients of all of them.
    pub(super) fn clients(&self) -> Vec<Arc<Nfs3>> {
        self.0.iter().map(|connected| Arc::clone(&connected.client)).collect()
    }

    /// Opens the place of a URL, which need not exist but for its last name.
    pub(super) fn open(
        &mut self,
        url: &NfsUrl,
        options: &ConnectOptions,
        following: Following,
    ) -> Result<Place> {
        let known = self.0.iter().find(|connected| connected.holds(url));
        let (client, path) = match known {
            Some(known) => (Arc::clone(&known.client), url.path[known.root.path.len()..].to_vec()),
            None => {
                let client = connect_to(url, options)?;
                let path = client.below_root().to_vec();
                let mounted = url.path[..url.path.len() - path.len()].to_vec();
                self.0.push(Connected { root: url.with_path(mounted), client: Arc::clone(&client) });
                (client, path)
            }
        };
        let port = url.port.map_or(String::new(), |port| format!(":{port}"));
        let realm = format!("nfs://{}{port}", url.host);
        let mounted = &url.path[..url.path.len() - path.len()];
        let label = |url: &NfsUrl| [realm.as_bytes(), &url.path_bytes()].concat();
        let caller = url.caller(options.caller.clone());
        let mut typed = Place {
            file_system: client,
            caller,
            path,
            label: label(url),
            realm: realm.clone(),
            device: None,
            seen_root: None,
        };
        // On an error the next use asks again, and reports it.
        typed.seen_root = typed.root().ok();
        let path = follow(&typed, following).with_context(|| format!("following {}", Shown(&typed.label)))?;
        let meant = url.with_path([mounted, &path].concat());
        Ok(Place { label: label(&meant), path, ..typed })
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
