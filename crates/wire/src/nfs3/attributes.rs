//! What a node is like, and was like before a call (RFC 1813 2.5 and 2.6).

use crate::message::{enumeration, message};
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

message! {
    /// A point in time (`nfstime3`): unsigned seconds since 1970, so until 2106.
    #[derive(PartialOrd, Ord, Default)]
    pub struct Time {
        /// Seconds since 1970.
        pub seconds: u32,
        /// Nanoseconds within the second.
        pub nanoseconds: u32,
    }
}

enumeration! {
    /// What kind of node (`ftype3`).
    pub enum FileType, "file type" {
        /// `NF3REG`.
        Regular = 1,
        /// `NF3DIR`.
        Directory = 2,
        /// `NF3BLK`.
        BlockDevice = 3,
        /// `NF3CHR`.
        CharacterDevice = 4,
        /// `NF3LNK`.
        SymbolicLink = 5,
        /// `NF3SOCK`.
        Socket = 6,
        /// `NF3FIFO`.
        Fifo = 7,
    }
}

message! {
    /// A device number (`specdata3`).
    #[derive(Default)]
    pub struct Device {
        /// `specdata1`.
        pub major: u32,
        /// `specdata2`.
        pub minor: u32,
    }
}

/// All attributes of a node (`fattr3`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attributes {
    /// Kind of node.
    pub kind: FileType,
    /// Permission bits.
    pub mode: u32,
    /// Hard links.
    pub links: u32,
    /// Owner.
    pub user: u32,
    /// Group.
    pub group: u32,
    /// Size in bytes.
    pub size: u64,
    /// Bytes of storage in use.
    pub used: u64,
    /// Device number, for device nodes.
    pub device: Device,
    /// Identifies the file system (`fsid`).
    pub file_system: u64,
    /// Identifies the node within it (`fileid`).
    pub file: u64,
    /// Last access.
    pub accessed: Time,
    /// Last change of data.
    pub modified: Time,
    /// Last change of attributes or data.
    pub changed: Time,
}

message! {
    /// A node before a call (`wcc_attr`).
    pub struct BeforeAttributes {
        /// Size in bytes.
        pub size: u64,
        /// Last change of data.
        pub modified: Time,
        /// Last change of attributes or data.
        pub changed: Time,
    }
}

message! {
    /// A node before and after a call (`wcc_data`).
    #[derive(Default)]
    pub struct WeakCacheConsistency {
        /// Before (`pre_op_attr`).
        pub before: Option<BeforeAttributes>,
        /// After (`post_op_attr`).
        pub after: Option<Attributes>,
    }
}

impl Attributes {
    /// Length on the wire in bytes.
    pub const SIZE: usize = 84;

    /// The bytes on the wire. In one piece, because every reply holds some: one length check instead of 21.
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let [size, used] = [self.size, self.used].map(halves);
        let [file_system, file] = [self.file_system, self.file].map(halves);
        let words: [u32; Self::SIZE / 4] = [
            self.kind as u32,
            self.mode,
            self.links,
            self.user,
            self.group,
            size[0],
            size[1],
            used[0],
            used[1],
            self.device.major,
            self.device.minor,
            file_system[0],
            file_system[1],
            file[0],
            file[1],
            self.accessed.seconds,
            self.accessed.nanoseconds,
            self.modified.seconds,
            self.modified.nanoseconds,
            self.changed.seconds,
            self.changed.nanoseconds,
        ];
        let mut bytes = [0; Self::SIZE];
        for (place, word) in bytes.chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_be_bytes());
        }
        bytes
    }
}

/// The high and the low half of a hyper.
fn halves(value: u64) -> [u32; 2] {
    [(value >> 32) as u32, value as u32]
}

impl Encode for Attributes {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.fixed(&self.to_bytes());
    }
}

impl Decode<'_> for Attributes {
    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            kind: FileType::decode(decoder)?,
            mode: decoder.u32("mode")?,
            links: decoder.u32("links")?,
            user: decoder.u32("user id")?,
            group: decoder.u32("group id")?,
            size: decoder.u64("size")?,
            used: decoder.u64("bytes used")?,
            device: Device::decode(decoder)?,
            file_system: decoder.u64("file system id")?,
            file: decoder.u64("file id")?,
            accessed: Time::decode(decoder)?,
            modified: Time::decode(decoder)?,
            changed: Time::decode(decoder)?,
        })
    }
}
