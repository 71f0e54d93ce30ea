//! READ (RFC 1813 3.3.6): data of a file.

use super::{Attributes, DATA_MAX, FileHandle, Refused, message::message, status};
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// Number of the procedure.
pub const PROCEDURE: u32 = 6;

message! {
    /// Arguments of READ (`READ3args`).
    pub struct Arguments<'a> {
        /// The file.
        pub node: FileHandle<'a>,
        /// Where to start, in bytes.
        pub offset: u64,
        /// How many bytes.
        pub count: u32,
    }
}

/// Answer of a READ that went well (`READ3resok`). Its `count` is the length of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Success<'a> {
    /// The file's attributes.
    pub attributes: Option<Attributes>,
    /// Whether the data reaches the end of the file.
    pub end: bool,
    /// The data.
    pub data: &'a [u8],
}

/// Answer of a READ (`READ3res`).
pub type Reply<'a> = Result<Success<'a>, Refused<Option<Attributes>>>;

/// A reply that went well, up to where its data starts: for a server whose data goes beside the reply. It has always
/// the same length, so that room can be left for it while the data, or its length, is not known yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The file's attributes.
    pub attributes: Attributes,
    /// Whether the data reaches the end of the file.
    pub end: bool,
    /// Length of the data in bytes, without the padding that follows it.
    pub length: u32,
}

impl Head {
    /// Length in bytes: status, attributes and their flag, count, end, length of the data.
    pub const SIZE: usize = 4 + 4 + Attributes::SIZE + 4 + 4 + 4;

    /// Its bytes.
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        const AFTER: usize = 8 + Attributes::SIZE;
        let mut bytes = [0; Self::SIZE];
        bytes[..4].copy_from_slice(&status::OK.to_be_bytes());
        bytes[4..8].copy_from_slice(&1_u32.to_be_bytes());
        bytes[8..AFTER].copy_from_slice(&self.attributes.to_bytes());
        bytes[AFTER..AFTER + 4].copy_from_slice(&self.length.to_be_bytes());
        bytes[AFTER + 4..AFTER + 8].copy_from_slice(&u32::from(self.end).to_be_bytes());
        bytes[AFTER + 8..].copy_from_slice(&self.length.to_be_bytes());
        bytes
    }
}

impl<'a> Decode<'a> for Success<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let attributes = Option::decode(decoder)?;
        let count = decoder.length(DATA_MAX, "count")?;
        let end = decoder.bool("end of file")?;
        let data = decoder.opaque(DATA_MAX, "data")?;
        // A server that says one count and sends another is believed in what it sends, but not beyond the count.
        Ok(Self { attributes, end, data: &data[..count.min(data.len())] })
    }
}

impl Encode for Success<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.attributes.encode(encoder);
        encoder.u32(u32::try_from(self.data.len()).expect("messages are far below 4 GiB"));
        encoder.bool(self.end);
        encoder.opaque(self.data);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nfs3::{Device, FileType, Time};

    #[test]
    fn the_head_is_the_reply_without_its_data() {
        let (zero, device) = (Time::default(), Device::default());
        let attributes = Attributes {
            kind: FileType::Regular,
            mode: 0o644,
            links: 1,
            user: 1000,
            group: 100,
            size: u64::from(u32::MAX) + 5,
            used: 4096,
            device,
            file_system: 7,
            file: 1 << 40,
            accessed: zero,
            modified: zero,
            changed: Time { seconds: 1, nanoseconds: 2 },
        };
        let data = b"howdy";
        let whole = Encoder::to_vec(&Reply::Ok(Success { attributes: Some(attributes), end: true, data }));
        let head = Head { attributes, end: true, length: 5 }.to_bytes();
        assert_eq!(whole[..Head::SIZE], head);
        assert_eq!(&whole[Head::SIZE..], b"howdy\0\0\0");
    }
}
