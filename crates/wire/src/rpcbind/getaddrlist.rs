//! GETADDRLIST (RFC 1833 2.2.2, `RPCBPROC_GETADDRLIST`): every address of a program on the networks of the call's
//! family.

use super::{Binding, Text};
use crate::message::{message, newtype};
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// Number of the procedure, of version 4 alone.
pub const PROCEDURE: u32 = 11;
/// The most addresses that are taken from an answer. The protocol sets no limit; a program has one per network.
const ADDRESSES_MAX: u32 = 1024;

newtype! {
    /// How a network carries messages (`r_nc_semantics`, the values of TI-RPC's `netconfig`).
    pub struct Semantics(pub u32), "semantics";
}

impl Semantics {
    /// Datagrams (`NC_TPI_CLTS`).
    pub const DATAGRAMS: Self = Self(1);
    /// A stream that is closed in order (`NC_TPI_COTS_ORD`).
    pub const STREAM: Self = Self(3);
}

message! {
    /// Arguments of GETADDRLIST (`rpcb`).
    pub struct Arguments<'a> {
        /// What is looked for, by program and version.
        pub binding: Binding<'a>,
    }
}

message! {
    /// One address (`rpcb_entry`).
    pub struct Address<'a> {
        /// The universal address.
        pub address: Text<'a>,
        /// The network id.
        pub network: Text<'a>,
        /// How that network carries messages.
        pub semantics: Semantics,
        /// The protocol family: `inet` or `inet6`.
        pub family: Text<'a>,
        /// The protocol: `tcp` or `udp`.
        pub protocol: Text<'a>,
    }
}

/// Answer of GETADDRLIST (`rpcb_entry_list_ptr`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reply<'a> {
    /// The addresses.
    pub addresses: Vec<Address<'a>>,
}

impl<'a> Decode<'a> for Reply<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self { addresses: decoder.list(ADDRESSES_MAX, "addresses")? })
    }
}

impl Encode for Reply<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.list(&self.addresses);
    }
}
