//! SAVEFH and RESTOREFH: the current node and stateid are saved, and made the current ones again.

use howdah_wire::nfs4::Status;
use howdah_wire::xdr::Decoder;

use super::compound::{Compound, Outcome};
use crate::Reply;

/// Answers SAVEFH.
pub fn run(compound: &mut Compound<'_>, _: &mut Decoder<'_>, _: &mut Reply) -> Outcome {
    compound.saved = Some((compound.node_of_any_flavor()?.clone(), compound.stateid));
    Ok(())
}

/// Answers RESTOREFH.
pub fn restore(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, _: &mut Reply) -> Outcome {
    let (node, stateid) = compound.saved.clone().ok_or(Status::NOFILEHANDLE)?;
    compound.put_by_handle(node, arguments)?;
    compound.stateid = stateid;
    Ok(())
}
