//! EXPORT: what a server exports, to be named when a mount is refused.

use howdah_wire::mount::export;
use howdah_wire::xdr::Decode;

use super::service::Service;
use crate::channel::CallError;

/// The paths that a server exports.
pub(super) fn exports(service: &Service) -> Result<Vec<Vec<u8>>, CallError> {
    service.call(export::PROCEDURE, &(), |decoder| {
        let reply = export::Reply::decode(decoder)?;
        Ok(reply.exports.iter().map(|export| export.path.0.to_vec()).collect())
    })
}
