//! LOOKUP, of a name and of the parent, and READLINK.

use super::node::Body;
use super::number::Number;
use super::permissions::{self, EXECUTE};
use super::tables::Tables;
use crate::{Attributes, Caller, Found, FsError, Name, Result};

impl Tables {
    /// What a name in a directory leads to, for a caller who may search it.
    pub(super) fn entry(&self, caller: &Caller, directory: Number, name: Name<'_>) -> Result<Option<Number>> {
        let node = self.node(directory)?;
        let entries = &node.directory()?.entries;
        permissions::require(caller, node, EXECUTE)?;
        Ok(entries.get(name.as_bytes()))
    }

    pub(super) fn lookup(&self, caller: &Caller, directory: Number, name: Name<'_>) -> Result<Found> {
        let number = self.entry(caller, directory, name)?.ok_or(FsError::NotFound)?;
        self.found(number, directory)
    }

    pub(super) fn parent(&self, caller: &Caller, directory: Number) -> Result<Found> {
        let node = self.node(directory)?;
        let parent = node.directory()?.parent;
        permissions::require(caller, node, EXECUTE)?;
        self.found(parent, directory)
    }

    fn found(&self, number: Number, directory: Number) -> Result<Found> {
        Ok(Found { node: self.as_node(number)?, directory: Some(self.attributes(directory)?) })
    }

    pub(super) fn read_link(&self, number: Number, target: &mut Vec<u8>) -> Result<Attributes> {
        let Body::Link(bytes) = &self.node(number)?.body else { return Err(FsError::Invalid) };
        target.extend_from_slice(bytes);
        self.attributes(number)
    }
}
