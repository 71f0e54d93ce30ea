//! UMNT and UMNTALL: forget mounts of the caller (RFC 1813 5.2.3 and 5.2.4). Its handles stay good all the same.

use howdah_wire::mount::umnt::Arguments;
use howdah_wire::xdr::Decode;

use super::MountProtocol;
use crate::program::Refusal;
use crate::{Reply, Request};

/// Answers UMNT.
pub fn run(mount: &MountProtocol, request: &mut Request<'_, '_>, _: &mut Reply) -> Result<(), Refusal> {
    let Arguments { path } = Arguments::decode(&mut request.arguments)?;
    mount.mounts.remove(request.peer.ends.client.ip(), path.0);
    Ok(())
}

/// Answers UMNTALL.
pub fn run_all(mount: &MountProtocol, request: &mut Request<'_, '_>, _: &mut Reply) -> Result<(), Refusal> {
    mount.mounts.remove_all(request.peer.ends.client.ip());
    Ok(())
}
