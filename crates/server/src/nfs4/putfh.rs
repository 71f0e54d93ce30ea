//! PUTFH: makes the node of a handle the current one.

use howdah_wire::nfs4::putfh::Arguments;
use howdah_wire::xdr::{Decode, Decoder};

use super::compound::{Compound, Outcome};
use crate::Reply;

/// Answers it.
pub fn run(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, _: &mut Reply) -> Outcome {
    let Arguments { node } = Arguments::decode(arguments)?;
    let node = compound.open_handle(node)?;
    compound.put(node);
    Ok(())
}
