//! What a compound returns of the node that it changes.

use howdah_vfs::{Attributes, Before, Change, Result};
use howdah_wire::nfs4::{Bitmap, ChangeInfo, getattr};

use super::convert::{self, OF_NODE};
use super::operation::Operation;
use super::results::ResultReader;

/// Asks for all that there is to say of a node.
pub(super) const LOOK: Operation<'static> = Operation::GetAttributes(OF_NODE);

impl ResultReader<'_> {
    /// The attributes in the reply to the next GETATTR.
    pub(super) fn look(&mut self) -> Result<Attributes> {
        let reply = self.take::<getattr::Success<'_>>(getattr::OPERATION)?;
        convert::attributes(&reply.attributes)
    }
}

/// A directory that was looked at before and after a change: before it only if nothing else changed it between the two looks.
pub(super) fn changed(before: &Attributes, info: ChangeInfo, after: Option<Attributes>) -> Change {
    let is_alone = info.atomic
        && info.before == before.change
        && after.as_ref().is_some_and(|after| after.change == info.after);
    Change { before: is_alone.then(|| Before::from(before)), after }
}

/// Attributes that are only asked for.
pub(super) fn get(wanted: Bitmap) -> Operation<'static> {
    Operation::GetAttributes(wanted)
}
