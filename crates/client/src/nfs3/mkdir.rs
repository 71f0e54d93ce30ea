//! MKDIR.

use howdah_vfs::{Change, FileKind, NewAttributes, Node, Result};
use howdah_wire::nfs3::mkdir;

use super::client::Nfs3;
use super::convert::new_attributes;
use super::made::Place;
use super::procedure::Procedure;

const PROCEDURE: Procedure = Procedure::once(mkdir::PROCEDURE, "MKDIR");

impl Nfs3 {
    pub(super) fn create_directory(
        &self,
        place: Place<'_>,
        new: &NewAttributes,
        change: &mut Change,
    ) -> Result<Node> {
        let arguments = mkdir::Arguments { object: place.object(), new: new_attributes(new)? };
        self.make(place, PROCEDURE, &arguments, change, |node| {
            Ok(node.attributes.kind == FileKind::Directory && self.is_just_made(place, node)?)
        })
    }
}
