//! Extended attributes (RFC 8276): names with values that users attach to files and directories.

use std::fmt;
use std::hash::Hasher;
use std::ops::ControlFlow;

use siphasher::sip::SipHasher13;

use crate::{Caller, Change, FsError, Handle, Result, Shown};

/// The extended attributes of a file system's nodes, asked for by [`FileSystem::xattrs`](crate::FileSystem::xattrs). Only
/// those of users: Linux keeps them as `user.NAME`. Regular files and directories have them; other nodes have none, and none
/// can be set. To read them takes the right to read the node, to change them the right to write it; in a directory with the
/// sticky bit only its owner changes them.
pub trait ExtendedAttributes: Send + Sync {
    /// Appends the value of an attribute to `value` (GETXATTR). [`FsError::NoXattr`] if there is none of that name.
    fn get_xattr(
        &self,
        caller: &Caller,
        node: &Handle,
        name: XattrName<'_>,
        value: &mut Vec<u8>,
    ) -> Result<()>;

    /// Sets an attribute (SETXATTR). [`FsError::XattrTooBig`] if its value is longer than [`XattrName::VALUE_MAX`].
    fn set_xattr(&self, caller: &Caller, set: SetXattr<'_>, change: &mut Change) -> Result<()>;

    /// Gives the names of all attributes from just after `cookie` (0: from the start) to the sink, each with the cookie that
    /// goes on after it, until the sink breaks off (LISTXATTRS). The name on which it breaks counts as not given. Says
    /// whether the last name given was the last of all. A name that exists during the whole of a listing is given once.
    fn list_xattrs(
        &self,
        caller: &Caller,
        node: &Handle,
        cookie: u64,
        sink: &mut dyn FnMut(XattrName<'_>, u64) -> ControlFlow<()>,
    ) -> Result<bool>;

    /// Removes an attribute (REMOVEXATTR). [`FsError::NoXattr`] if there is none of that name.
    fn remove_xattr(
        &self,
        caller: &Caller,
        node: &Handle,
        name: XattrName<'_>,
        change: &mut Change,
    ) -> Result<()>;
}

/// An extended attribute to set (SETXATTR).
#[derive(Debug, Clone, Copy)]
pub struct SetXattr<'a> {
    /// Of which node.
    pub node: &'a Handle,
    /// Its name.
    pub name: XattrName<'a>,
    /// Its value.
    pub value: &'a [u8],
    /// Whether it must exist, or must not.
    pub mode: SetXattrMode,
}

impl<'a> SetXattr<'a> {
    /// The request with its fields in this order.
    pub fn new(node: &'a Handle, name: XattrName<'a>, value: &'a [u8], mode: SetXattrMode) -> Self {
        Self { node, name, value, mode }
    }
}

/// How an extended attribute is set (`setxattr_option4`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetXattrMode {
    /// Whether it exists or not.
    Either,
    /// Refused with [`FsError::Exists`] if it exists.
    Create,
    /// Refused with [`FsError::NoXattr`] if it does not exist.
    Replace,
}

/// The name of an extended attribute, without the namespace: 1 to 250 bytes without NUL.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct XattrName<'a>(&'a [u8]);

impl<'a> XattrName<'a> {
    /// The longest name, in bytes: that of Linux without `user.`.
    pub const MAX: usize = 250;
    /// The longest value, in bytes (`XATTR_SIZE_MAX` of Linux).
    pub const VALUE_MAX: usize = 64 << 10;

    /// The name in these bytes.
    ///
    /// # Errors
    /// [`FsError::Invalid`] for none and for a NUL, [`FsError::NameTooLong`].
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        match bytes {
            b"" => Err(FsError::Invalid),
            _ if bytes.len() > Self::MAX => Err(FsError::NameTooLong),
            _ if bytes.contains(&0) => Err(FsError::Invalid),
            _ => Ok(Self(bytes)),
        }
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &'a [u8] {
        self.0
    }

    /// Its place in a listing, which depends on no other name: so a listing that is continued misses none that stays.
    fn cookie(&self) -> u64 {
        let mut hasher = SipHasher13::new();
        hasher.write(self.0);
        hasher.finish().max(1)
    }

    /// Gives names to a sink in the order of their cookies: see [`ExtendedAttributes::list_xattrs`].
    pub fn list(
        names: impl Iterator<Item = XattrName<'a>>,
        cookie: u64,
        sink: &mut dyn FnMut(XattrName<'_>, u64) -> ControlFlow<()>,
    ) -> bool {
        let mut left: Vec<_> =
            names.map(|name| (name.cookie(), name)).filter(|(at, _)| *at > cookie).collect();
        left.sort_unstable();
        !left.into_iter().any(|(at, name)| sink(name, at).is_break())
    }
}

impl fmt::Debug for XattrName<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "\"{}\"", Shown(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_name_is_refused() {
        assert_eq!(XattrName::parse(b""), Err(FsError::Invalid));
        assert_eq!(XattrName::parse(b"a\0b"), Err(FsError::Invalid));
        assert_eq!(XattrName::parse(&[b'x'; 251]), Err(FsError::NameTooLong));
        for name in [&b"a"[..], b"user.a/b", b"\xff", &[b'x'; 250]] {
            assert_eq!(XattrName::parse(name).map(|name| name.as_bytes()), Ok(name));
        }
    }
}
