//! CREATE (RFC 8881 18.4): makes a node that is not a regular file, and makes it the current one.

use super::attributes::Values;
use super::{Bitmap, ChangeInfo, Device, FileType, LinkTarget, Name};
use crate::message::message;
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// Number of the operation.
pub const OPERATION: u32 = 6;

/// What to make (`createtype4`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewNode<'a> {
    /// A directory.
    Directory,
    /// A block device.
    BlockDevice(Device),
    /// A character device.
    CharacterDevice(Device),
    /// A symbolic link.
    SymbolicLink(LinkTarget<'a>),
    /// A socket.
    Socket,
    /// A fifo.
    Fifo,
    /// Another kind, or none: the answer is NFS4ERR_BADTYPE.
    Other(u32),
}

message! {
    /// Arguments of CREATE (`CREATE4args`).
    pub struct Arguments<'a> {
        /// What to make.
        pub node: NewNode<'a>,
        /// Its name in the current directory.
        pub name: Name<'a>,
        /// Its attributes.
        pub attributes: Values<'a>,
    }
}

message! {
    /// Result of a CREATE that went well (`CREATE4resok`).
    pub struct Success {
        /// The directory before and after.
        pub directory: ChangeInfo,
        /// The attributes that were set.
        pub attributes_set: Bitmap,
    }
}

impl NewNode<'_> {
    fn number(&self) -> u32 {
        match self {
            Self::Directory => FileType::Directory as u32,
            Self::BlockDevice(_) => FileType::BlockDevice as u32,
            Self::CharacterDevice(_) => FileType::CharacterDevice as u32,
            Self::SymbolicLink(_) => FileType::SymbolicLink as u32,
            Self::Socket => FileType::Socket as u32,
            Self::Fifo => FileType::Fifo as u32,
            Self::Other(number) => *number,
        }
    }
}

impl<'a> Decode<'a> for NewNode<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(match decoder.u32("file type")? {
            2 => Self::Directory,
            3 => Self::BlockDevice(Device::decode(decoder)?),
            4 => Self::CharacterDevice(Device::decode(decoder)?),
            5 => Self::SymbolicLink(LinkTarget::decode(decoder)?),
            6 => Self::Socket,
            7 => Self::Fifo,
            other => Self::Other(other),
        })
    }
}

impl Encode for NewNode<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.u32(self.number());
        match self {
            Self::BlockDevice(device) | Self::CharacterDevice(device) => device.encode(encoder),
            Self::SymbolicLink(target) => target.encode(encoder),
            _ => {}
        }
    }
}
