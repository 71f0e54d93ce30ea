//! SYMLINK.

use howdah_vfs::{Change, FileKind, NewAttributes, Node, Result};
use howdah_wire::nfs3::symlink;

use super::client::Nfs3;
use super::convert::new_attributes;
use super::made::Place;
use super::procedure::Procedure;

const PROCEDURE: Procedure = Procedure::once(symlink::PROCEDURE, "SYMLINK");

impl Nfs3 {
    pub(super) fn create_link(
        &self,
        place: Place<'_>,
        target: &[u8],
        new: &NewAttributes,
        change: &mut Change,
    ) -> Result<Node> {
        let arguments = symlink::Arguments { object: place.object(), new: new_attributes(new)?, target };
        self.make(place, PROCEDURE, &arguments, change, |node| {
            // It points where this one was to point: that is all there is to a link.
            let mut there = Vec::new();
            if node.attributes.kind == FileKind::SymbolicLink {
                self.read_target(place.caller, &node.handle, &mut there)?;
            }
            Ok(there == target)
        })
    }
}
