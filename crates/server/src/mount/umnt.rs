//! UMNT and UMNTALL: forget mounts of the caller (RFC 1813 5.2.3 and 5.2.4). Its handles stay good all the same.

use howdah_wire::mount::umnt::Arguments;
use howdah_wire::xdr::Decode;

use crate::program::Refusal;
use crate::service::Service;
use crate::{Reply, Request};

/// Answers UMNT.
pub fn run(service: &Service, request: &mut Request<'_, '_>, _: &mut Reply) -> Result<(), Refusal> {
    let Arguments { path } = Arguments::decode(&mut request.arguments)?;
    service.mounts.remove(request.peer.client.ip(), path.0);
    Ok(())
}

/// Answers UMNTALL.
pub fn run_all(service: &Service, request: &mut Request<'_, '_>, _: &mut Reply) -> Result<(), Refusal> {
    service.mounts.remove_all(request.peer.client.ip());
    Ok(())
}
