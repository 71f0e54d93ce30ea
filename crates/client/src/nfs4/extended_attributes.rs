//! Extended attributes (RFC 8276): only in minor version 2, and not on every file system.

use std::ops::ControlFlow;

use howdah_vfs::{
    Caller, Change, ExtendedAttributes, FsError, Handle, Node, Result, SetXattr, SetXattrMode, XattrName,
};
use howdah_wire::nfs4::attributes as wire;
use howdah_wire::nfs4::{Bitmap, Name, XattrValue, getxattr, listxattrs, putfh, removexattr, setxattr};

use super::change::{LOOK, changed};
use super::client::Nfs4Client;
use super::compound::Compound;
use super::operation::Operation;
use crate::channel::Class;

/// The longest list of names that one call asks for, in bytes: that of Linux (`XATTR_LIST_MAX`).
const LIST_MAX: u32 = 64 << 10;
/// The most calls for the names of one node.
const CALLS_MAX: usize = 64;

impl ExtendedAttributes for Nfs4Client {
    fn get_xattr(
        &self,
        caller: &Caller,
        node: &Handle,
        name: XattrName<'_>,
        value: &mut Vec<u8>,
    ) -> Result<()> {
        let operations = [self.put(node)?, Operation::GetXattr(name.as_bytes())];
        let results = self.call(caller, &Compound::new("GETXATTR", Class::Lookup, &operations))?;
        let mut reader = results.read()?;
        reader.skip(putfh::OPERATION)?;
        let reply = reader.take::<getxattr::Success<'_>>(getxattr::OPERATION)?;
        value.extend_from_slice(reply.value.0);
        Ok(())
    }

    fn set_xattr(&self, caller: &Caller, set: SetXattr<'_>, change: &mut Change) -> Result<()> {
        if set.value.len() > XattrName::VALUE_MAX {
            return Err(FsError::XattrTooBig);
        }
        let how = match set.mode {
            SetXattrMode::Either => setxattr::EITHER,
            SetXattrMode::Create => setxattr::CREATE,
            SetXattrMode::Replace => setxattr::REPLACE,
        };
        let (name, value) = (Name(set.name.as_bytes()), XattrValue(set.value));
        let operation = Operation::SetXattr(setxattr::Arguments { how, name, value });
        let operations = [self.put(set.node)?, LOOK, operation, LOOK];
        let results = self.call(caller, &Compound::change("SETXATTR", &operations))?;
        let mut reader = results.read()?;
        reader.skip(putfh::OPERATION)?;
        let before = reader.look()?;
        *change = Change::none(Some(before));
        let reply = reader.take::<setxattr::Success>(setxattr::OPERATION).map_err(FsError::from);
        if results.repeated && set.mode == SetXattrMode::Create && reply == Err(FsError::Exists) {
            // Its first run may have set it, in a session that ended.
            let mut value = Vec::new();
            self.get_xattr(caller, set.node, set.name, &mut value)?;
            return if value == set.value { Ok(()) } else { Err(FsError::Exists) };
        }
        *change = changed(&before, reply?.node, reader.look().ok());
        Ok(())
    }

    fn list_xattrs(
        &self,
        caller: &Caller,
        node: &Handle,
        cookie: u64,
        sink: &mut dyn FnMut(XattrName<'_>, u64) -> ControlFlow<()>,
    ) -> Result<bool> {
        // A server sends one cookie for many names: so all are asked for, and put in an order of our own.
        let mut names = Vec::new();
        let mut at = 0;
        for _ in 0..CALLS_MAX {
            let arguments = listxattrs::Arguments { cookie: at, count: LIST_MAX };
            let operations = [self.put(node)?, Operation::ListXattrs(arguments)];
            let results = self.call(caller, &Compound::new("LISTXATTRS", Class::Lookup, &operations))?;
            let mut reader = results.read()?;
            reader.skip(putfh::OPERATION)?;
            let reply = reader.take::<listxattrs::Success<'_>>(listxattrs::OPERATION)?;
            names.extend(reply.names.iter().map(|name| name.0.to_vec()));
            if reply.end {
                let known = names.iter().filter_map(|name| XattrName::parse(name).ok());
                return Ok(XattrName::list(known, cookie, sink));
            }
            at = reply.cookie;
        }
        tracing::warn!("the server's list of extended attributes has no end");
        Err(FsError::ServerFault)
    }

    fn remove_xattr(
        &self,
        caller: &Caller,
        node: &Handle,
        name: XattrName<'_>,
        change: &mut Change,
    ) -> Result<()> {
        let remove = Operation::RemoveXattr(name.as_bytes());
        let operations = [self.put(node)?, LOOK, remove, LOOK];
        let results = self.call(caller, &Compound::change("REMOVEXATTR", &operations))?;
        let mut reader = results.read()?;
        reader.skip(putfh::OPERATION)?;
        let before = reader.look()?;
        *change = Change::none(Some(before));
        let reply = reader.take::<removexattr::Success>(removexattr::OPERATION).map_err(FsError::from);
        if results.repeated && reply == Err(FsError::NoXattr) {
            // Its first run removed it, in a session that ended.
            return Ok(());
        }
        *change = changed(&before, reply?.node, reader.look().ok());
        Ok(())
    }
}

impl Nfs4Client {
    /// Its extended attributes, if the minor version and a file system have them.
    pub(super) fn extended_attributes(&self) -> Option<&dyn ExtendedAttributes> {
        let may = self.calls.session.minor_version() >= 2
            && self.xattr_support.is_there(|node| self.has_xattrs(node));
        may.then_some(self as _)
    }

    fn has_xattrs(&self, node: &Handle) -> Option<bool> {
        if *node == self.root.handle && !self.facts.attributes.contains(wire::XATTR_SUPPORT) {
            return Some(false);
        }
        let wanted = Bitmap::of(&[wire::XATTR_SUPPORT]);
        let said = |reply: &wire::Attributes<'_>| reply.support.extended_attributes.unwrap_or(false);
        self.with_values(&Caller::ROOT, node, wanted, said).ok()
    }

    /// Notes the file system of a node.
    pub(super) fn met(&self, node: Node) -> Node {
        self.xattr_support.meet(node.handle, node.attributes.file_system);
        node
    }
}
