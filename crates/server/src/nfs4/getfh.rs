//! GETFH: the handle of the current node.

use howdah_wire::nfs4::FileHandle;
use howdah_wire::nfs4::getfh::Success;
use howdah_wire::xdr::Decoder;

use super::compound::{Compound, Outcome};
use crate::Reply;

/// Answers it.
pub fn run(compound: &mut Compound<'_>, _: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let sealed = compound.seal(compound.looked_at()?);
    reply.write(&Success { node: FileHandle(sealed.as_wire().0) });
    Ok(())
}
