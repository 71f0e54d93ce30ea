//! LINK.

use howdah_vfs::{Attributes, Caller, Change, FsError, Handle, Name, Result};
use howdah_wire::nfs3::{DirectoryName, link};

use super::client::Nfs3;
use super::convert::file_handle;
use super::exchange::success;
use super::procedure::Procedure;

const PROCEDURE: Procedure = Procedure::once(link::PROCEDURE, "LINK");

impl Nfs3 {
    pub(super) fn link_node(
        &self,
        caller: &Caller,
        node: &Handle,
        directory: &Handle,
        name: Name<'_>,
        change: &mut Change,
    ) -> Result<Attributes> {
        let link = DirectoryName { directory: file_handle(directory), name: name.as_bytes() };
        let results = self.call(caller, PROCEDURE, &link::Arguments { node: file_handle(node), link })?;
        let mut on_refusal = link::Linked::default();
        let done = success(results.decode::<link::Reply>(PROCEDURE)?, |seen| on_refusal = *seen);
        // The name is there and names this very node: nobody else's LINK of another node could look so.
        let done = self.judge(&results, done, FsError::Exists, || {
            let found = self.look_up(caller, directory, name.as_bytes())?.node.attributes;
            let node = self.get_attributes(caller, node)?;
            let same = (found.file_system, found.file) == (node.file_system, node.file);
            Ok(same.then_some(link::Linked { node: None, ..on_refusal }))
        });
        results.note(change, &done.as_ref().unwrap_or(&on_refusal).directory);
        self.told(caller, node, done?.node.as_ref())
    }
}
