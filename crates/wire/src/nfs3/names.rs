//! What names a node: a handle, or a name in a directory (RFC 1813 2.4, 2.5, 2.6).

use crate::limits::{FILE_NAME_MAX, HANDLE_MAX};
use crate::message::{message, opaque};
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

opaque! {
    /// Names a node (`nfs_fh3`); borrowed, and opaque to all but the server that made it.
    pub struct FileHandle, HANDLE_MAX as u32, "file handle";
}

/// A name in a directory (`diropargs3`). The name is as the client sent it: not checked yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DirectoryName<'a> {
    /// The directory.
    pub directory: FileHandle<'a>,
    /// The name (`filename3`).
    pub name: &'a [u8],
}

impl<'a> Decode<'a> for DirectoryName<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            directory: FileHandle::decode(decoder)?,
            name: decoder.opaque(FILE_NAME_MAX, "file name")?,
        })
    }
}

impl Encode for DirectoryName<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.directory.encode(encoder);
        encoder.opaque(self.name);
    }
}

message! {
    /// Answer of CREATE, MKDIR, SYMLINK and MKNOD when the node was made (`CREATE3resok` and its three twins).
    pub struct Made<'a> {
        /// Handle of the new node (`post_op_fh3`).
        pub node: Option<FileHandle<'a>>,
        /// Its attributes.
        pub attributes: Option<super::Attributes>,
        /// The directory before and after.
        pub directory: super::WeakCacheConsistency,
    }
}
