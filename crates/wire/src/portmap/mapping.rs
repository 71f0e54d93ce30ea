//! A mapping: the type that procedures share (RFC 1833 3.1, `mapping`).

use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// How a program is reached: a protocol number of IP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Protocol(pub u32);

impl Protocol {
    /// `IPPROTO_TCP`
    pub const TCP: Self = Self(6);
    /// `IPPROTO_UDP`
    pub const UDP: Self = Self(17);
}

/// Where a version of a program listens (`mapping`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mapping {
    /// The program.
    pub program: u32,
    /// Its version.
    pub version: u32,
    /// How it is reached.
    pub protocol: Protocol,
    /// Its port; as wide as on the wire, so that what does not fit a port is still shown as it came.
    pub port: u32,
}

impl Decode<'_> for Mapping {
    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            program: decoder.u32("program")?,
            version: decoder.u32("version")?,
            protocol: Protocol(decoder.u32("protocol")?),
            port: decoder.u32("port")?,
        })
    }
}

impl Encode for Mapping {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        for word in [self.program, self.version, self.protocol.0, self.port] {
            encoder.u32(word);
        }
    }
}
