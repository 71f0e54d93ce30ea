//! LINK.

use howdah_vfs::{AddLink, Attributes, Caller, Change, FsError, Result};
use howdah_wire::nfs4::{link, putfh, restorefh, savefh};

use super::change::{LOOK, changed};
use super::client::Nfs4Client;
use super::compound::Compound;
use super::operation::Operation;

impl Nfs4Client {
    pub(super) fn link_node(
        &self,
        caller: &Caller,
        AddLink { node, directory, name }: AddLink<'_>,
        change: &mut Change,
    ) -> Result<Attributes> {
        let operations = [
            self.put(directory)?,
            LOOK,
            self.put(node)?,
            Operation::SaveHandle,
            self.put(directory)?,
            Operation::Link(name.as_bytes()),
            LOOK,
            Operation::RestoreHandle,
            LOOK,
        ];
        let results = self.call(caller, &Compound::change("LINK", &operations))?;
        let mut reader = results.read()?;
        reader.skip(putfh::OPERATION)?;
        let before = reader.look()?;
        *change = Change::none(Some(before));
        reader.skip(putfh::OPERATION)?;
        reader.skip(savefh::OPERATION)?;
        reader.skip(putfh::OPERATION)?;
        let reply = reader.take::<link::Success>(link::OPERATION).map_err(FsError::from);
        if results.repeated && reply == Err(FsError::Exists) {
            // Its first run may have done it, in a session that ended.
            let there = self.look_up(caller, directory, name.as_bytes())?.node;
            return if there.handle == *node { Ok(there.attributes) } else { Err(FsError::Exists) };
        }
        *change = changed(&before, reply?.directory, reader.look().ok());
        let linked = reader.skip(restorefh::OPERATION).map_err(FsError::from).and_then(|()| reader.look());
        match linked {
            // It is done.
            Err(FsError::Delay) => self.get_attributes(caller, node),
            linked => linked,
        }
    }
}
