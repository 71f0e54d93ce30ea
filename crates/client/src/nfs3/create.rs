//! CREATE.

use howdah_vfs::{Attributes, Change, Create, FileKind, FsError, NewAttributes, Node, Result};
use howdah_wire::nfs3::create;

use super::client::Nfs3;
use super::convert::new_attributes;
use super::made::Place;
use super::procedure::Procedure;
use super::remove::REMOVE;

const PROCEDURE: Procedure = Procedure::once(create::PROCEDURE, "CREATE");

impl Nfs3 {
    /// Makes a file. A refusal of a guarded CREATE stays one even if the call was sent twice: two clients must never both
    /// believe that they made it. An exclusive one knows its own first run by the verifier, on the server.
    pub(super) fn create_file(&self, place: Place<'_>, how: &Create, change: &mut Change) -> Result<Node> {
        if let Create::ExclusiveWith(verifier, new) = how {
            return self.create_exclusively(place, *verifier, new, change);
        }
        let is_exclusive = matches!(how, Create::Exclusive(_));
        let how = match how {
            Create::Unchecked(new) => create::How::Unchecked(new_attributes(new)?),
            Create::Guarded(new) => create::How::Guarded(new_attributes(new)?),
            Create::Exclusive(verifier) | Create::ExclusiveWith(verifier, _) => {
                create::How::Exclusive(*verifier)
            }
        };
        let arguments = create::Arguments { object: place.object(), how };
        let made = self.make(place, PROCEDURE, &arguments, change, |_| Ok(false));
        match made {
            // Linux takes a directory that is there for the file, and NFS-Ganesha has a word of its own for a symbolic link.
            Ok(node) if node.attributes.kind != FileKind::Regular => Err(FsError::Exists),
            Err(FsError::BadType) => Err(FsError::Exists),
            // Servers keep the verifier in the times until they are set.
            Ok(Node { handle, attributes }) if is_exclusive => {
                let changed = attributes.changed;
                let attributes = Attributes { accessed: changed, modified: changed, ..attributes };
                Ok(Node { handle, attributes })
            }
            made => made,
        }
    }

    /// The protocol's exclusive CREATE has no room for attributes: they are set next, and a file that cannot have them is removed.
    fn create_exclusively(
        &self,
        place: Place<'_>,
        verifier: [u8; 8],
        new: &NewAttributes,
        change: &mut Change,
    ) -> Result<Node> {
        let made = self.create_file(place, &Create::Exclusive(verifier), change)?;
        if *new == NewAttributes::default() {
            return Ok(made);
        }
        let mut set = Change::default();
        if let Err(error) = self.set(place.caller, &made.handle, new, None, &mut set) {
            // Best effort: the refusal is reported in any case.
            let _ = self.remove_by(REMOVE, place.caller, place.directory, place.name, &mut Change::default());
            return Err(error);
        }
        Ok(Node { attributes: set.after.unwrap_or(made.attributes), ..made })
    }
}
