//! MKNOD (RFC 1813 3.3.11): makes a device, a socket or a pipe.

use super::{
    Device, DirectoryName, FileType, Made, NewAttributes, Refused, WeakCacheConsistency, message::message,
};
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// Number of the procedure.
pub const PROCEDURE: u32 = 11;

/// What is made (`mknoddata3`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// `NF3CHR`.
    CharacterDevice(NewAttributes, Device),
    /// `NF3BLK`.
    BlockDevice(NewAttributes, Device),
    /// `NF3SOCK`.
    Socket(NewAttributes),
    /// `NF3FIFO`.
    Fifo(NewAttributes),
    /// `NF3REG`, `NF3DIR` or `NF3LNK`, which have procedures of their own: to be refused with NFS3ERR_BADTYPE.
    Other(FileType),
}

message! {
    /// Arguments of MKNOD (`MKNOD3args`).
    pub struct Arguments<'a> {
        /// What to call it, and where.
        pub object: DirectoryName<'a>,
        /// What to make.
        pub what: What,
    }
}

/// Answer of a MKNOD (`MKNOD3res`); a refusal has attributes of the directory too (`MKNOD3resfail`).
pub type Reply<'a> = Result<Made<'a>, Refused<WeakCacheConsistency>>;

impl Decode<'_> for What {
    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(match FileType::decode(decoder)? {
            FileType::CharacterDevice => {
                Self::CharacterDevice(NewAttributes::decode(decoder)?, Device::decode(decoder)?)
            }
            FileType::BlockDevice => {
                Self::BlockDevice(NewAttributes::decode(decoder)?, Device::decode(decoder)?)
            }
            FileType::Socket => Self::Socket(NewAttributes::decode(decoder)?),
            FileType::Fifo => Self::Fifo(NewAttributes::decode(decoder)?),
            other => Self::Other(other),
        })
    }
}

impl Encode for What {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        let (kind, new, device) = match self {
            Self::CharacterDevice(new, device) => (FileType::CharacterDevice, Some(new), Some(device)),
            Self::BlockDevice(new, device) => (FileType::BlockDevice, Some(new), Some(device)),
            Self::Socket(new) => (FileType::Socket, Some(new), None),
            Self::Fifo(new) => (FileType::Fifo, Some(new), None),
            Self::Other(kind) => (*kind, None, None),
        };
        kind.encode(encoder);
        new.into_iter().for_each(|new| new.encode(encoder));
        device.into_iter().for_each(|device| device.encode(encoder));
    }
}
