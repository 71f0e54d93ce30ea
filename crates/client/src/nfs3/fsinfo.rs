//! FSINFO.

use howdah_vfs::{Caller, Handle, Result};
use howdah_wire::nfs3::fsinfo;

use super::client::Nfs3;
use super::convert::file_handle;
use super::exchange::{Results, success};
use super::procedure::Procedure;
use crate::channel::Class;

const PROCEDURE: Procedure = Procedure::idempotent(fsinfo::PROCEDURE, "FSINFO", Class::Attributes);

impl Nfs3 {
    /// Asks while `beside` asks something else: far away, that saves a round trip.
    pub(super) fn information<T>(
        &self,
        caller: &Caller,
        node: &Handle,
        beside: impl FnOnce() -> T,
    ) -> Result<(fsinfo::Success, T)> {
        let arguments = fsinfo::Arguments { node: file_handle(node) };
        let request = || self.request(caller, PROCEDURE, &arguments, None, None);
        let started = self.channel.start(request());
        let other = beside();
        let results = Results::from(self.insist(PROCEDURE, Some(started), request)?);
        let reply = success(results.decode::<fsinfo::Reply>(PROCEDURE)?, |_| {});
        Ok((self.note_root(node, reply)?, other))
    }
}
