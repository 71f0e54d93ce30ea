//! READLINK: where the current symbolic link points.

use howdah_vfs::{FileKind, FileSystem, FsError};
use howdah_wire::nfs4::LinkTarget;
use howdah_wire::nfs4::Status;
use howdah_wire::nfs4::readlink::Success;
use howdah_wire::xdr::Decoder;

use super::compound::{Compound, Outcome};
use super::lookup::kind;
use crate::Reply;

/// Answers it.
pub fn run(compound: &mut Compound<'_>, _: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let link = compound.object(Status::WRONG_TYPE)?;
    let mut target = Vec::new();
    match link.file_system.read_link(&link.caller, &link.handle, &mut target) {
        Ok(_) => {}
        // RFC 8881 18.24.3: what is no link has a status of its own.
        Err(FsError::Invalid) if kind(link)? != FileKind::SymbolicLink => {
            return Err(Status::WRONG_TYPE.into());
        }
        Err(error) => return Err(error.into()),
    }
    reply.write(&Success { target: LinkTarget(&target) });
    Ok(())
}
