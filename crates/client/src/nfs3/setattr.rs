//! SETATTR.

use howdah_vfs::{Caller, Change, FsError, Guard, Handle, NewAttributes, Result};
use howdah_wire::nfs3::setattr;

use super::client::Nfs3;
use super::convert::{file_handle, new_attributes, time};
use super::exchange::success;
use super::procedure::Procedure;
use crate::common::has_been_set;

const PROCEDURE: Procedure = Procedure::once(setattr::PROCEDURE, "SETATTR");

impl Nfs3 {
    pub(super) fn set(
        &self,
        caller: &Caller,
        node: &Handle,
        new: &NewAttributes,
        guard: Option<Guard>,
        change: &mut Change,
    ) -> Result<()> {
        let arguments = setattr::Arguments {
            node: file_handle(node),
            new: new_attributes(new)?,
            guard: guard.map(|guard| time(guard.changed)).transpose()?,
        };
        let results = self.call(caller, PROCEDURE, &arguments)?;
        let done = success(results.decode::<setattr::Reply>(PROCEDURE)?, |reply| results.note(change, reply));
        let done = self.judge(&results, done, FsError::NotSynchronised, || {
            // The first run changed the time that the guard names. Nothing else is so sure to look like this one.
            Ok(has_been_set(&self.get_attributes(caller, node)?, new)
                .then_some(setattr::Success { node: howdah_wire::nfs3::WeakCacheConsistency::default() }))
        })?;
        results.note(change, &done.node);
        Ok(())
    }
}
