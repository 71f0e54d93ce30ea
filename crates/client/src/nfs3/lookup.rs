//! LOOKUP.

use howdah_vfs::{Caller, Found, Handle, Node, Result};
use howdah_wire::nfs3::{DirectoryName, lookup};

use super::client::Nfs3;
use super::convert::{attributes, file_handle, handle};
use super::exchange::success;
use super::procedure::Procedure;
use crate::channel::Class;

const PROCEDURE: Procedure = Procedure::idempotent(lookup::PROCEDURE, "LOOKUP", Class::Lookup);

impl Nfs3 {
    /// The node of a name, which may be `..` too.
    pub(super) fn look_up(&self, caller: &Caller, directory: &Handle, name: &[u8]) -> Result<Found> {
        let object = DirectoryName { directory: file_handle(directory), name };
        let results = self.call(caller, PROCEDURE, &lookup::Arguments { object })?;
        let found = success(results.decode::<lookup::Reply<'_>>(PROCEDURE)?, |_| {})?;
        let handle = handle(found.node)?;
        let node = Node { handle, attributes: self.told(caller, &handle, found.attributes.as_ref())? };
        Ok(Found { node, directory: found.directory.as_ref().map(attributes) })
    }

    /// The directory that holds this one. What lies above the root is not asked for: it may be a directory of an export
    /// of which only a part was mounted.
    pub(super) fn look_up_parent(&self, caller: &Caller, directory: &Handle) -> Result<Found> {
        if *directory != self.root {
            return self.look_up(caller, directory, b"..");
        }
        let attributes = self.get_attributes(caller, directory)?;
        let node = Node { handle: *directory, attributes };
        Ok(Found { node, directory: Some(attributes) })
    }
}
