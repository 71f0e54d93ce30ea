//! GETATTR.

use howdah_vfs::{Attributes, Caller, Handle, Result};
use howdah_wire::nfs4::putfh;

use super::change::LOOK;
use super::client::Nfs4Client;
use super::compound::Compound;
use crate::channel::Class;

impl Nfs4Client {
    pub(super) fn get_attributes(&self, caller: &Caller, node: &Handle) -> Result<Attributes> {
        let operations = [self.put(node)?, LOOK];
        let results = self.call(caller, &Compound::new("GETATTR", Class::Attributes, &operations))?;
        let mut reader = results.read()?;
        reader.skip(putfh::OPERATION)?;
        reader.look()
    }
}
