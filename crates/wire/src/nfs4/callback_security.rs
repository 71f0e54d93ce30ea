//! How a server proves itself in callbacks (RFC 8881 18.33, `callback_sec_parms4`).

use super::Opaque;
use crate::message::message;
use crate::rpc::{AuthFlavor, AuthSys};
use crate::xdr::{Decode, DecodeError, DecodeProblem, Decoder, Encode, Encoder};

message! {
    /// Contexts of RPCSEC_GSS (`gss_cb_handles4`).
    pub struct GssHandles<'a> {
        /// The service (`rpc_gss_svc_t`).
        pub service: u32,
        /// The handle that the server got.
        pub server: Opaque<'a>,
        /// The handle that the client got.
        pub client: Opaque<'a>,
    }
}

/// Credentials for callbacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallbackSecurity<'a> {
    /// AUTH_NONE.
    None,
    /// AUTH_SYS, with these credentials.
    Sys(AuthSys<'a>),
    /// RPCSEC_GSS.
    Gss(GssHandles<'a>),
}

impl<'a> Decode<'a> for CallbackSecurity<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(match AuthFlavor(decoder.u32("flavor")?) {
            AuthFlavor::NONE => Self::None,
            AuthFlavor::SYS => Self::Sys(AuthSys::decode(decoder)?),
            AuthFlavor::GSS => Self::Gss(GssHandles::decode(decoder)?),
            AuthFlavor(other) => return Err(decoder.refuse("flavor", 4, DecodeProblem::UnknownValue(other))),
        })
    }
}

impl Encode for CallbackSecurity<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        match self {
            Self::None => encoder.u32(AuthFlavor::NONE.0),
            Self::Sys(credentials) => {
                encoder.u32(AuthFlavor::SYS.0);
                credentials.encode(encoder);
            }
            Self::Gss(handles) => {
                encoder.u32(AuthFlavor::GSS.0);
                handles.encode(encoder);
            }
        }
    }
}
