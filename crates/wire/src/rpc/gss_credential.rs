//! The credential of RPCSEC_GSS, version 1 (RFC 2203 5).

use crate::limits::GSS_HANDLE_MAX;
use crate::xdr::{Decode, DecodeError, DecodeProblem, Decoder, Encode, Encoder};

/// The version that is spoken (`RPCSEC_GSS_VERS_1`).
pub const GSS_VERSION: u32 = 1;

/// What a call is to a context (`rpc_gss_proc_t`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GssProcedure {
    /// A call of the program (`RPCSEC_GSS_DATA`).
    Data,
    /// The first token of a new context (`RPCSEC_GSS_INIT`).
    Init,
    /// A further token (`RPCSEC_GSS_CONTINUE_INIT`).
    ContinueInit,
    /// The end of a context (`RPCSEC_GSS_DESTROY`).
    Destroy,
}

/// How arguments and results are protected (`rpc_gss_service_t`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GssService {
    /// Not at all: only the header is signed (`krb5`).
    None,
    /// They are signed (`krb5i`).
    Integrity,
    /// They are encrypted (`krb5p`).
    Privacy,
}

/// The body of the credential (`rpc_gss_cred_vers_1_t`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GssCredential<'a> {
    /// What the call is to the context.
    pub procedure: GssProcedure,
    /// Number of the call in its context. Without meaning while the context is made.
    pub sequence: u32,
    /// How arguments and results of this call are protected.
    pub service: GssService,
    /// The server's name of the context; empty in the first call.
    pub handle: &'a [u8],
}

impl<'a> Decode<'a> for GssCredential<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let unknown = |decoder: &Decoder<'a>, what, value| {
            Err(decoder.refuse(what, 4, DecodeProblem::UnknownValue(value)))
        };
        match decoder.u32("RPCSEC_GSS version")? {
            GSS_VERSION => {}
            other => return unknown(decoder, "RPCSEC_GSS version", other),
        }
        let procedure = match decoder.u32("RPCSEC_GSS procedure")? {
            0 => GssProcedure::Data,
            1 => GssProcedure::Init,
            2 => GssProcedure::ContinueInit,
            3 => GssProcedure::Destroy,
            other => return unknown(decoder, "RPCSEC_GSS procedure", other),
        };
        let sequence = decoder.u32("sequence number")?;
        let service = match decoder.u32("RPCSEC_GSS service")? {
            1 => GssService::None,
            2 => GssService::Integrity,
            3 => GssService::Privacy,
            other => return unknown(decoder, "RPCSEC_GSS service", other),
        };
        let handle = decoder.opaque(GSS_HANDLE_MAX, "context handle")?;
        Ok(Self { procedure, sequence, service, handle })
    }
}

impl<'a> GssCredential<'a> {
    /// The credential whose body this is.
    ///
    /// # Errors
    /// It is malformed, has bytes behind it, or names a context where there is none yet.
    pub fn from_body(body: &'a [u8]) -> Result<Self, DecodeError> {
        let mut decoder = Decoder::new(body);
        let credential = Self::decode(&mut decoder)?;
        if credential.procedure == GssProcedure::Init && !credential.handle.is_empty() {
            let trailing = DecodeProblem::Trailing(credential.handle.len());
            return Err(decoder.refuse("context handle", credential.handle.len(), trailing));
        }
        decoder.finish("RPCSEC_GSS credential")?;
        Ok(credential)
    }
}

impl Encode for GssCredential<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.u32(GSS_VERSION);
        encoder.u32(match self.procedure {
            GssProcedure::Data => 0,
            GssProcedure::Init => 1,
            GssProcedure::ContinueInit => 2,
            GssProcedure::Destroy => 3,
        });
        encoder.u32(self.sequence);
        encoder.u32(match self.service {
            GssService::None => 1,
            GssService::Integrity => 2,
            GssService::Privacy => 3,
        });
        encoder.opaque(self.handle);
    }
}
