//! SECINFO (RFC 8881 18.29): which flavors of security a name in the current directory is served with. The current node is gone
//! after.

use super::{Name, Opaque};
use crate::limits::ITEMS4_MAX;
use crate::message::message;
use crate::rpc::AuthFlavor;
use crate::xdr::{Array, Decode, DecodeError, Decoder, Encode, Encoder};

/// Number of the operation.
pub const OPERATION: u32 = 33;

message! {
    /// A mechanism of RPCSEC_GSS (`rpcsec_gss_info`).
    pub struct Mechanism<'a> {
        /// Its object identifier.
        pub identifier: Opaque<'a>,
        /// Quality of protection.
        pub quality: u32,
        /// The service (`rpc_gss_svc_t`).
        pub service: u32,
    }
}

/// A flavor (`secinfo4`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavor<'a> {
    /// One that the number says all of.
    Plain(AuthFlavor),
    /// RPCSEC_GSS.
    Gss(Mechanism<'a>),
}

message! {
    /// Arguments of SECINFO (`SECINFO4args`).
    pub struct Arguments<'a> {
        /// The name.
        pub name: Name<'a>,
    }
}

message! {
    /// Result of a SECINFO or SECINFO_NO_NAME that went well (`SECINFO4resok`).
    pub struct Success<'a> {
        /// The flavors, the one that the server likes most first.
        pub flavors: Array<'a, Flavor<'a>, ITEMS4_MAX>,
    }
}

impl<'a> Decode<'a> for Flavor<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(match AuthFlavor(decoder.u32("flavor")?) {
            AuthFlavor::GSS => Self::Gss(Mechanism::decode(decoder)?),
            other => Self::Plain(other),
        })
    }
}

impl Encode for Flavor<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        match self {
            Self::Plain(flavor) => encoder.u32(flavor.0),
            Self::Gss(mechanism) => {
                encoder.u32(AuthFlavor::GSS.0);
                mechanism.encode(encoder);
            }
        }
    }
}
