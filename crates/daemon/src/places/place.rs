//! An open place.

use std::sync::Arc;

use howdah_copy::Side;
use howdah_vfs::{Caller, FileSystem, FsError, Name, Node};

use super::special::{refuse_unsized, special_at_the_end};

/// The realm of this machine.
pub const LOCAL: &str = "local";

/// A file system, who acts in it, and the way from its root to the node that was named.
#[derive(Clone)]
pub struct Place {
    /// The file system.
    pub file_system: Arc<dyn FileSystem>,
    /// The user of every call.
    pub caller: Caller,
    /// The names from the root to the node; none if it is the root itself. Only the last may be missing yet.
    pub path: Vec<Vec<u8>>,
    /// The name of the machine and file system: two places of one realm may be the same files.
    pub realm: String,
    /// The server, if it may be able to copy its files: its handles are the same in all its places.
    pub copying_server: Option<String>,
    /// The device that the root lies on, of a local place: copies of a file system, such as snapshots, have all other numbers alike.
    pub device: Option<u64>,
    /// How the place is written: the same however it was typed. What partial files are called follows from it.
    pub label: Vec<u8>,
    /// The root, if it was looked at a moment ago.
    pub(super) seen_root: Option<Node>,
    /// What the path leads to, if that was looked up a moment ago.
    pub(super) seen: Option<Result<Node, FsError>>,
}

impl Place {
    /// It as a side of a copy.
    pub fn side(&self) -> Side {
        let side = Side::new(Arc::clone(&self.file_system), self.caller.clone());
        let side = side.in_realm(&self.realm_of_files());
        match &self.copying_server {
            Some(server) => side.at_server(server),
            None => side,
        }
    }

    /// Refuses a local place whose files cannot be read by their size.
    pub fn refuse_unsized(&self) -> anyhow::Result<()> {
        if self.realm == LOCAL { refuse_unsized(&self.label) } else { Ok(()) }
    }

    /// Whether it is a local link to a device or the like.
    pub fn leads_to_special(&self) -> bool {
        self.realm == LOCAL && special_at_the_end(&self.label)
    }

    /// The realm within which numbers of files are unique.
    pub(super) fn realm_of_files(&self) -> String {
        match self.device {
            Some(device) => format!("{}:{device}", self.realm),
            None => self.realm.clone(),
        }
    }

    /// The directory that the last name is in, and that name; the root has none.
    pub fn parent(&self) -> Result<(Node, Option<&[u8]>), FsError> {
        match self.path.split_last() {
            None => Ok((self.root()?, None)),
            Some((last, above)) => Ok((self.walk(above)?, Some(last))),
        }
    }

    /// The node.
    pub fn node(&self) -> Result<Node, FsError> {
        self.seen.unwrap_or_else(|| self.walk(&self.path))
    }

    /// The root.
    pub(super) fn root(&self) -> Result<Node, FsError> {
        if let Some(root) = self.seen_root {
            return Ok(root);
        }
        let handle = self.file_system.root();
        let attributes = self.file_system.attributes(&self.caller, &handle)?;
        Ok(Node { handle, attributes })
    }

    fn walk(&self, names: &[Vec<u8>]) -> Result<Node, FsError> {
        names.iter().try_fold(self.root()?, |node, name| {
            let name = Name::parse(name).map_err(|error| error.refusal())?;
            Ok(self.file_system.lookup(&self.caller, &node.handle, name)?.node)
        })
    }
}
