//! CALLIT of version 3, BCAST and INDIRECT of version 4 (RFC 1833 2.2.1 and 2.2.2): rpcbind calls a program in the
//! caller's place. BCAST does not answer errors; INDIRECT does.

use super::Text;
use crate::limits::CALLIT_MAX;
use crate::portmap::callit;
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// Number of CALLIT and BCAST.
pub const PROCEDURE: u32 = 5;
/// Number of INDIRECT, of version 4 alone.
pub const PROCEDURE_INDIRECT: u32 = 10;

/// Arguments of all three (`rpcb_rmtcallargs`): those of portmap's CALLIT.
pub type Arguments<'a> = callit::Arguments<'a>;

/// Answer of all three (`rpcb_rmtcallres`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply<'a> {
    /// The program's universal address.
    pub address: Text<'a>,
    /// The procedure's result.
    pub result: &'a [u8],
}

impl<'a> Decode<'a> for Reply<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self { address: Text::decode(decoder)?, result: decoder.opaque(CALLIT_MAX, "result")? })
    }
}

impl Encode for Reply<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.address.encode(encoder);
        encoder.opaque(self.result);
    }
}
