//! PUTFH: makes the node of a handle the current one.

use howdah_wire::nfs4::pass_arguments;
use howdah_wire::nfs4::putfh::{Arguments, OPERATION};
use howdah_wire::xdr::{Decode, Decoder};

use super::compound::{Compound, Outcome};
use crate::Reply;

/// Answers it.
pub fn run(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, _: &mut Reply) -> Outcome {
    let node = match compound.opening.node.take() {
        Some(node) => pass_arguments(OPERATION, arguments).map(|()| node)?,
        None => Arguments::decode(arguments)?.node,
    };
    let node = compound.open_handle(node)?;
    compound.put_by_handle(node, arguments)?;
    Ok(())
}
