//! RENAME.

use std::time::Instant;

use howdah_vfs::{Caller, Change, FsError, Handle, Name, Result};
use howdah_wire::nfs4::{putfh, rename, restorefh, savefh};

use super::change::{LOOK, changed};
use super::client::Nfs4Client;
use super::compound::Compound;
use super::operation::Operation;
use crate::common::may_be_named_within;

impl Nfs4Client {
    pub(super) fn rename_node(
        &self,
        caller: &Caller,
        from: (&Handle, Name<'_>),
        to: (&Handle, Name<'_>),
        (left, entered): (&mut Change, &mut Change),
    ) -> Result<()> {
        let operations = [
            self.put(from.0)?,
            LOOK,
            Operation::SaveHandle,
            self.put(to.0)?,
            LOOK,
            Operation::Rename { from: from.1.as_bytes(), to: to.1.as_bytes() },
            LOOK,
            Operation::RestoreHandle,
            LOOK,
        ];
        let began = Instant::now();
        let results = self.call(caller, &Compound::change("RENAME", &operations))?;
        let mut reader = results.read()?;
        reader.skip(putfh::OPERATION)?;
        let before_left = reader.look()?;
        *left = Change::none(Some(before_left));
        reader.skip(savefh::OPERATION)?;
        reader.skip(putfh::OPERATION)?;
        let before_entered = reader.look()?;
        *entered = Change::none(Some(before_entered));
        let reply = reader.take::<rename::Success>(rename::OPERATION).map_err(FsError::from);
        if results.repeated && reply == Err(FsError::NotFound) {
            // Its first run may have done it, in a session that ended: the old name is gone, and something has got the new one since.
            let found = self.look_up(caller, to.0, to.1.as_bytes())?;
            return if may_be_named_within(&found, began.elapsed()) {
                Ok(())
            } else {
                Err(FsError::NotFound)
            };
        }
        let reply = reply?;
        *entered = changed(&before_entered, reply.target, reader.look().ok());
        *left = changed(&before_left, reply.source, None);
        if reader.skip(restorefh::OPERATION).is_ok() {
            *left = changed(&before_left, reply.source, reader.look().ok());
        }
        Ok(())
    }
}
