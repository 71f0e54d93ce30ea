//! What CREATE, MKDIR, SYMLINK and MKNOD have in common: their answer, and what it may leave out.

use howdah_vfs::{Caller, Change, FsError, Handle, Name, Node, Result};
use howdah_wire::nfs3::{DirectoryName, Made, Refused, WeakCacheConsistency};
use howdah_wire::xdr::Encode;

use super::client::Nfs3;
use super::convert::{file_handle, handle};
use super::exchange::success;
use super::procedure::Procedure;

/// The place of a new node, and its maker.
#[derive(Clone, Copy)]
pub(super) struct Place<'p> {
    pub(super) caller: &'p Caller,
    pub(super) directory: &'p Handle,
    pub(super) name: Name<'p>,
}

impl<'p> Place<'p> {
    /// As arguments have it.
    pub(super) fn object(&self) -> DirectoryName<'p> {
        DirectoryName { directory: file_handle(self.directory), name: self.name.as_bytes() }
    }
}

type Reply<'a> = std::result::Result<Made<'a>, Refused<WeakCacheConsistency>>;

impl Nfs3 {
    /// Makes a node. `is_ours` judges the node that is there when a call that was sent twice is refused because there is one.
    pub(super) fn make(
        &self,
        place: Place<'_>,
        procedure: Procedure,
        arguments: &dyn Encode,
        change: &mut Change,
        is_ours: impl FnOnce(&Node) -> Result<bool>,
    ) -> Result<Node> {
        let results = self.call(place.caller, procedure, arguments)?;
        let made = success(results.decode::<Reply<'_>>(procedure)?, |reply| results.note(change, reply));
        let made = made.and_then(|made| {
            results.note(change, &made.directory);
            self.made_node(place, &made)
        });
        self.judge(&results, made, FsError::Exists, || {
            let node = self.look_up(place.caller, place.directory, place.name.as_bytes())?.node;
            Ok(is_ours(&node)?.then_some(node))
        })
    }

    /// The node that was made, asked for where the answer does not have it.
    fn made_node(&self, place: Place<'_>, made: &Made<'_>) -> Result<Node> {
        let Some(node) = made.node else {
            return Ok(self.look_up(place.caller, place.directory, place.name.as_bytes())?.node);
        };
        let handle = handle(node)?;
        Ok(Node { handle, attributes: self.told(place.caller, &handle, made.attributes.as_ref())? })
    }
}
